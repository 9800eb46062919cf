#include "ops/context_build.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ops/suspects.h"
#include "text/hash.h"

/*
 * At the point of action. Before a command: the invocation that works here, when another one of
 * the same tool is about to run. After a command failed, or with a prompt that quotes an error:
 * what was done the last time this error came. Facts name the command or the error in back ticks at the beginning of their title.
 */

#define FACTS_SEEN 200
#define ACTION_GIVEN_MAX 2
#define ERROR_HEAD 8192 /* bytes of an error's output that are looked at, at each end */
#define WORDS_MAX 64
#define WORD_MIN 2
#define HASH_MIN 7   /* letters of a word that may be a hash */
#define SAME_LEAST 2 /* words that an error must have to be known again */
#define SAME_SHARE .8

/* What stands in the first back ticks. */
static struct str named(const char *title)
{
	const char *from = title ? strchr(title, '`') : NULL,
		   *to = from ? strchr(from + 1, '`') : NULL;
	return to ? (struct str){ from + 1, (size_t)(to - from) - 1 } : (struct str){ 0 };
}

/* The error of "`error` (command) was solved by …"; it may hold back ticks of its own. */
static struct str named_error(const char *title)
{
	const char *end = title && title[0] == '`' ? strstr(title, "` (") : NULL;

	return end ? (struct str){ title + 1, (size_t)(end - title) - 1 } : named(title);
}

static int facts_load(struct context_build *b, enum memory_type type, struct memory **ret,
	size_t *ret_n, struct err *err)
{
	struct memory_query q = { .project = b->q->project,
		.kind = KIND_FACT,
		.type = type,
		.status = MEMORY_ACTIVE,
		.origin = -1,
		.max = FACTS_SEEN };
	size_t kept = 0;

	if (store_memory_list(b->call->store, b->call->arena, &q, ret, ret_n, err))
		return -1;
	for (size_t i = 0; i < *ret_n; i++)
		if (!(*ret)[i].valid_to && (*ret)[i].trust > TRUST_OUTSIDE &&
			named((*ret)[i].title).n)
			(*ret)[kept++] = (*ret)[i];
	*ret_n = kept;
	return 0;
}

/* --- Before a command. --- */

static bool is_assignment(struct str w)
{
	const char *equals = memchr(w.p, '=', w.n);
	return equals && equals > w.p;
}

/* The program of a command line: behind `cd x &&` and variables, without its folder. */
static struct str program_of(struct str command)
{
	struct str rest = command, w;
	const char *and = str_find(command, STR("&& "));

	if (str_starts(command.p, "cd ") && and)
		rest = (struct str){ and+3, (size_t)(command.p + command.n - and) - 3 };
	while (str_split(&rest, ' ', &w)) {
		if (!w.n || is_assignment(w) || str_is(w, "sudo") || str_is(w, "time"))
			continue;
		const char *slash = memrchr(w.p, '/', w.n);
		return slash ? (struct str){ slash + 1, (size_t)(w.p + w.n - slash) - 1 } : w;
	}
	return (struct str){ 0 };
}

static bool has_word(struct str text, struct str word)
{
	struct str w;
	while (str_split(&text, ' ', &w))
		if (str_eq(w, word))
			return true;
	return false;
}

int context_command(struct context_build *b, struct err *err)
{
	struct str asked = str_trim(str_of(b->q->command)), program = program_of(asked);
	struct memory *list, *others;
	size_t n, nothers = 0, given = 0;

	if (!b->q->project || program.n < WORD_MIN)
		return 0;
	if (facts_load(b, FACT_TOOL_PATTERN, &list, &n, err))
		return -1;
	others = ARENA_ARRAY(b->call->arena, struct memory, n + 1);
	for (size_t i = 0; i < n; i++) {
		struct str known = named(list[i].title);
		if (str_find(asked, known))
			return 0; /* that one works */
		if (has_word(known, program) && !str_eq(program_of(known), program))
			others[nothers++] = list[i];
	}
	if (context_sift(b, others, &nothers, err))
		return -1;
	frame_section(b->frame, "command", NULL, 1);
	for (size_t i = 0; i < nothers && given < 1; i++)
		given += context_give(b, &others[i]);
	return 0;
}

/* --- After a failure. --- */

struct words {
	uint64_t hashes[WORDS_MAX];
	size_t n;
};

/*
 * Words that are the same when an error comes again: no paths, numbers, hashes or places in files.
 */
static bool is_lasting(struct str w)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < w.n; i++) {
		digits += isdigit((unsigned char)w.p[i]) != 0;
		hex += isxdigit((unsigned char)w.p[i]) != 0;
	}
	if (w.n < WORD_MIN || memchr(w.p, '/', w.n) || (digits && memchr(w.p, ':', w.n)))
		return false;
	return isalpha((unsigned char)w.p[0]) && !(w.n >= HASH_MIN && hex == w.n && digits);
}

static void words_read(struct words *words, struct str line)
{
	struct str w;

	words->n = 0;
	while (str_split(&line, ' ', &w) && words->n < WORDS_MAX) {
		char lower[64];
		while (w.n && strchr("'\"`()[]{},;:.!", w.p[w.n - 1]))
			w.n--;
		while (w.n && strchr("'\"`()[]{},;:", w.p[0]))
			w.p++, w.n--;
		if (!is_lasting(w) || w.n > sizeof(lower))
			continue;
		for (size_t i = 0; i < w.n; i++)
			lower[i] = (char)tolower((unsigned char)w.p[i]);
		words->hashes[words->n++] = hash64(lower, w.n);
	}
}

static bool is_same_error(const struct words *known, const struct words *line)
{
	size_t same = 0;

	for (size_t i = 0; i < known->n; i++)
		for (size_t j = 0; j < line->n; j++)
			if (known->hashes[i] == line->hashes[j]) {
				same++;
				break;
			}
	return known->n >= SAME_LEAST && (double)same >= SAME_SHARE * (double)known->n;
}

static bool error_has_line(struct str error, const struct words *known)
{
	struct words line;
	struct str text;

	while (str_line(&error, &text)) {
		words_read(&line, text);
		if (is_same_error(known, &line))
			return true;
	}
	return false;
}

static bool came_again(const char *error, const struct memory *m)
{
	size_t n = strlen(error);
	struct words known;

	words_read(&known, named_error(m->title));
	if (n <= 2 * ERROR_HEAD)
		return error_has_line((struct str){ error, n }, &known);
	return error_has_line((struct str){ error, ERROR_HEAD }, &known) ||
	       error_has_line((struct str){ error + n - ERROR_HEAD, ERROR_HEAD }, &known);
}

/* Most texts are about no error; for them nothing is loaded. */
static bool may_tell_error(const char *text)
{
	static const char *const marks[] = { "rror", "atal", "ailed", "FAIL", "not found", "enied",
		"rejected", "panic", "annot ", "ould not", "undefined", "unbound", "issing",
		"xception", "in use", "no space", "unrecognized", "already allocated" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strstr(text, marks[i]))
			return true;
	return false;
}

int context_errors(struct context_build *b, const char *text, struct err *err)
{
	struct memory *list;
	size_t n, kept = 0, given = 0;

	if (!may_tell_error(text))
		return 0;
	if (facts_load(b, FACT_ERROR_FIX, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (came_again(text, &list[i]))
			list[kept++] = list[i];
	if (context_sift(b, list, &kept, err))
		return -1;
	for (size_t i = 0; i < kept && given < ACTION_GIVEN_MAX; i++)
		given += context_give(b, &list[i]);
	return 0;
}

/* What is shown by looking at a file or a log did not happen now. */
static bool is_look(struct str command)
{
	static const char *const programs[] = { "cat", "nl", "head", "tail", "less", "bat", "sed",
		"grep", "egrep", "rg", "ag", "ls", "find", "tree", "awk", "wc", "jq", "diff",
		"echo", "printf" };
	static const char *const of_git[] = { "git log", "git show", "git diff", "git status",
		"git grep", "git blame" };
	struct str program = program_of(command);

	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (str_is(program, programs[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(of_git); i++)
		if (str_find(command, str_of(of_git[i])))
			return true;
	return false;
}

int context_failure(struct context_build *b, struct err *err)
{
	if (!b->q->project || !b->q->error ||
		is_look(str_trim(str_of(b->q->command ? b->q->command : ""))))
		return 0;
	frame_section(b->frame, "failure", NULL, 1);
	return context_errors(b, b->q->error, err);
}
