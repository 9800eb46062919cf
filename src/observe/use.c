/*
 * The words of all replies are one set of hashes, the words of all prompts another; a memory's
 * words are looked up in them, so that a hundred memories cost little more than one. Words count by
 * their folded ASCII letters: an exact comparison of forms, since a use is shown by repeating, not by
 * meaning the same.
 */
#include "observe/use.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "observe/sentence.h"
#include "text/hash.h"

#define WORD_LETTERS_MIN 4  /* shorter ones mean little, unless they are names */
#define WORD_LETTERS_MAX 64 /* longer ones are compared by their beginning */
#define COMMAND_BYTES_MIN 6 /* "ls" is run for any reason */
#define WORDS_NEEDED 3
#define SHARE_NEEDED .6

const char *const use_names[USE_KINDS] = { "file", "command", "words" };

struct word_set {
	uint64_t *slots; /* 0: free */
	size_t n;
};

struct use_turn {
	const struct event *events;
	size_t n;
	struct word_set said, asked; /* in replies; in prompts */
	int64_t said_at;             /* of the last reply */
};

static uint64_t word_hash(struct str word)
{
	char folded[WORD_LETTERS_MAX];
	size_t n = MIN(word.n, sizeof(folded));

	for (size_t i = 0; i < n; i++)
		folded[i] = (char)tolower((unsigned char)word.p[i]);
	uint64_t hash = hash64(folded, n);
	return hash ? hash : 1;
}

static uint64_t *slot_of(const struct word_set *set, uint64_t hash)
{
	size_t i = hash & (USE_TURN_WORDS - 1);

	while (set->slots[i] && set->slots[i] != hash)
		i = (i + 1) & (USE_TURN_WORDS - 1);
	return &set->slots[i];
}

static void words_take(struct word_set *set, const char *text)
{
	struct str rest = str_of(text), word;

	rest.n = MIN(rest.n, (size_t)USE_TEXT_MAX);
	while (set->n < USE_TURN_WORDS / 2 && word_next(&rest, &word)) {
		uint64_t hash = word_hash(word), *slot = slot_of(set, hash);
		set->n += !*slot;
		*slot = hash;
	}
}

struct use_turn *use_turn_make(struct arena *a, const struct event *events, size_t n)
{
	struct use_turn *t = ARENA_NEW(a, struct use_turn);

	t->events = events;
	t->n = n;
	t->said.slots = ARENA_ARRAY(a, uint64_t, USE_TURN_WORDS);
	t->asked.slots = ARENA_ARRAY(a, uint64_t, USE_TURN_WORDS);
	for (size_t i = 0; i < n; i++) {
		const struct event *e = &events[i];
		if (e->kind == EVENT_PROMPT)
			words_take(&t->asked, e->text);
		if (e->kind != EVENT_REPLY || e->subagent)
			continue;
		words_take(&t->said, e->text);
		t->said_at = e->at;
	}
	return t;
}

static bool is_path(const char *path, const char *wanted)
{
	size_t n = strlen(wanted), all = strlen(path);

	return all >= n && strcmp(path + all - n, wanted) == 0 &&
	       (all == n || path[all - n - 1] == '/');
}

static bool touches(const struct event *e, const struct memory *m)
{
	for (size_t i = 0; i < e->nfiles; i++)
		for (size_t k = 0; k < m->nfiles; k++)
			if (is_path(e->files[i], m->files[k].path))
				return true;
	return false;
}

static bool file_is_used(const struct use_turn *t, const struct memory *m, int64_t at, bool is_file)
{
	if (!m->nfiles || m->nfiles > USE_FILES_MAX)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		const struct event *e = &t->events[i];
		if (e->kind == EVENT_TOOL && e->at >= at && (e->writes_files || !is_file) &&
			touches(e, m))
			return true;
	}
	return false;
}

static bool command_is_run(const struct use_turn *t, struct str command, int64_t at)
{
	command = str_trim(command);
	if (command.n < COMMAND_BYTES_MIN || !memchr(command.p, ' ', command.n))
		return false;
	for (size_t i = 0; i < t->n; i++) {
		const struct event *e = &t->events[i];
		if (e->kind == EVENT_TOOL && e->at >= at && !e->writes_files && e->input &&
			str_find(str_of(e->input), command))
			return true;
	}
	return false;
}

/* Commands stand between back quotes in what memories say. */
static bool quoted_is_run(const struct use_turn *t, const char *text, int64_t at)
{
	const char *open = text, *close;

	while (open && (open = strchr(open, '`')) && (close = strchr(open + 1, '`'))) {
		if (command_is_run(t, (struct str){ open + 1, (size_t)(close - open - 1) }, at))
			return true;
		open = close + 1;
	}
	return false;
}

/* Telling words of the title and, when it has few, of the text; without those that prompts hold. */
static size_t telling_words(const struct use_turn *t, const struct memory *m, uint64_t *hashes)
{
	const char *const texts[] = { m->title, m->body };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(texts) && (i == 0 || n < WORDS_NEEDED); i++) {
		struct str rest = str_of(texts[i]), word;
		while (n < USE_WORDS_MAX && word_next(&rest, &word)) {
			uint64_t hash = word_hash(word);
			bool is_told = (word.n >= WORD_LETTERS_MIN || word_is_name(word)) &&
				       !word_is_generic(word) && !*slot_of(&t->asked, hash);
			for (size_t k = 0; k < n && is_told; k++)
				is_told = hashes[k] != hash;
			if (is_told)
				hashes[n++] = hash;
		}
	}
	return n;
}

static bool words_are_repeated(const struct use_turn *t, const struct memory *m, int64_t at)
{
	uint64_t hashes[USE_WORDS_MAX];
	size_t found = 0, n;

	if (t->said_at < at)
		return false;
	n = telling_words(t, m, hashes);
	for (size_t i = 0; i < n; i++)
		found += *slot_of(&t->said, hashes[i]) != 0;
	return n >= WORDS_NEEDED ? found >= WORDS_NEEDED && (double)found >= SHARE_NEEDED * (double)n
				 : n && found == n && n == WORDS_NEEDED - 1;
}

unsigned use_of(const struct use_turn *t, const struct memory *m, int64_t at, bool is_file)
{
	unsigned bits = 0;

	if (file_is_used(t, m, at, is_file))
		bits |= USE_FILE;
	if (quoted_is_run(t, m->title, at) || quoted_is_run(t, m->body, at))
		bits |= USE_COMMAND;
	if (words_are_repeated(t, m, at))
		bits |= USE_WORDS;
	return bits;
}
