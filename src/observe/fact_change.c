/*
 * What an edit changed, in a few words: the line that has to do with an error, or the only one that
 * was changed at all. Diffs are those that the agent told; nothing is read from the disk.
 */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"
#include "observe/fact_table.h"

#define LINES_MAX 60 /* changed lines of one edit that are looked at */
#define LINE_SHOWN_MAX 60
#define EDITS_MAX 40 /* between a failure and its end */
#define WORD_LEAST 4
#define SMALL_CHANGE 2 /* changed lines in all: then they are the fix whatever they say */

struct edit {
	struct str before, after; /* either may be empty */
	const char *path;
	unsigned shared; /* words of the error */
};

struct edits {
	struct edit best;
	size_t lines;
};

/* Words that errors are made of, whatever they are about. */
static bool is_error_word(struct str w)
{
	static const char *const words[] = { "error", "errors", "fatal", "failed", "failure",
		"undefined", "undeclared", "unknown", "cannot", "could", "found", "missing",
		"module", "modules", "package", "import", "imported", "declared", "used", "unused",
		"expected", "type", "types", "typecheck", "value", "argument", "arguments",
		"assignable", "variable", "string", "number", "reference", "name", "named", "from",
		"with", "into", "this", "that", "have", "function", "return", "does", "exist",
		"file", "directory", "such", "required", "invalid", "line" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (w.n == strlen(words[i]) && strncasecmp(w.p, words[i], w.n) == 0)
			return true;
	return false;
}

static bool word_take(struct str *rest, struct str *ret)
{
	while (rest->n && !isalnum((unsigned char)rest->p[0]) && rest->p[0] != '_')
		rest->p++, rest->n--;
	*ret = (struct str){ rest->p, 0 };
	while (rest->n && (isalnum((unsigned char)rest->p[0]) || rest->p[0] == '_'))
		rest->p++, rest->n--, ret->n++;
	return ret->n > 0;
}

static bool holds(struct str line, struct str word)
{
	for (size_t i = 0; i + word.n <= line.n; i++)
		if (strncasecmp(line.p + i, word.p, word.n) == 0)
			return true;
	return false;
}

/* A word of the error in the line, or one of the line in the error: "-lsqlite3", sqlite3_open. */
static unsigned shared_words(struct str line, struct str error)
{
	struct str rest = error, w;
	unsigned n = 0;

	while (word_take(&rest, &w))
		n += w.n >= WORD_LEAST && !is_error_word(w) && holds(line, w);
	rest = line;
	while (!n && word_take(&rest, &w)) {
		struct str short_word =
			w.n > WORD_LEAST && w.p[0] == 'l' && w.p > line.p && w.p[-1] == '-'
				? (struct str){ w.p + 1, w.n - 1 }
				: w;
		n += short_word.n > WORD_LEAST && !is_error_word(short_word) &&
		     holds(error, short_word);
	}
	return n;
}

static bool says_something(struct str line)
{
	size_t letters = 0;

	for (size_t i = 0; i < line.n; i++)
		letters += isalnum((unsigned char)line.p[i]) != 0;
	return letters >= 3;
}

/* A run of lines that were taken out and put in at one place. */
struct run {
	struct str before[LINES_MAX], after[LINES_MAX];
	size_t nbefore, nafter;
};

static void run_end(struct run *r, struct edits *c, const char *path, struct str error)
{
	size_t n = MAX(r->nbefore, r->nafter);

	for (size_t i = 0; i < n; i++) {
		struct edit one = { .path = path,
			.before = i < r->nbefore ? r->before[i] : (struct str){ 0 },
			.after = i < r->nafter ? r->after[i] : (struct str){ 0 } };

		/* Runs of different lengths do not pair up line by line. */
		if (r->nbefore != r->nafter && one.after.n)
			one.before =
				r->nbefore == 1 && r->nafter == 1 ? one.before : (struct str){ 0 };
		one.shared = shared_words(one.after.n ? one.after : one.before, error);
		if ((one.after.n || one.before.n) &&
			(!c->best.path || one.shared >= c->best.shared))
			c->best = one;
	}
	c->lines += n;
	r->nbefore = r->nafter = 0;
}

static void diff_read(struct edits *c, const char *path, struct str diff, struct str error)
{
	struct run r = { .nbefore = 0 };
	struct str line;

	while (str_line(&diff, &line)) {
		bool is_head = line.n >= 3 &&
			       (memcmp(line.p, "---", 3) == 0 || memcmp(line.p, "+++", 3) == 0);
		struct str text = str_trim((struct str){ line.p + 1, line.n ? line.n - 1 : 0 });

		if (is_head || !line.n || !strchr("+-", line.p[0])) {
			run_end(&r, c, path, error);
			continue;
		}
		if (!says_something(text))
			continue;
		if (line.p[0] == '-' && r.nbefore < LINES_MAX)
			r.before[r.nbefore++] = text;
		else if (line.p[0] == '+' && r.nafter < LINES_MAX)
			r.after[r.nafter++] = text;
	}
	run_end(&r, c, path, error);
}

/* Edits between, of the file that the error names when it was edited, else of all. */
static void edits_read(
	struct edits *c, const struct event *const *edits, size_t n, const struct seen_error *error)
{
	bool is_named = false;

	for (size_t i = 0; i < n; i++)
		is_named |= strstr(error->line, path_base(edits[i]->files[0])) != NULL;
	for (size_t i = 0; i < n; i++)
		if (!is_named || strstr(error->line, path_base(edits[i]->files[0])))
			diff_read(c, edits[i]->files[0], str_of(edits[i]->diff),
				str_of(error->signature));
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Of two long lines only the part in which they differ, from the border of a word on. */
static void narrow(struct str *a, struct str *b)
{
	size_t head = 0, tail = 0;

	if (!a->n || !b->n || (a->n <= LINE_SHOWN_MAX && b->n <= LINE_SHOWN_MAX))
		return;
	while (head < a->n && head < b->n && a->p[head] == b->p[head])
		head++;
	while (tail + head < a->n && tail + head < b->n &&
		a->p[a->n - 1 - tail] == b->p[b->n - 1 - tail])
		tail++;
	while (head && is_word_char(a->p[head - 1]))
		head--;
	while (tail && is_word_char(a->p[a->n - tail]))
		tail--;
	if (head + tail >= a->n || head + tail >= b->n)
		return; /* one is the other with something put in */
	*a = str_trim((struct str){ a->p + head, a->n - head - tail });
	*b = str_trim((struct str){ b->p + head, b->n - head - tail });
}

char *change_text(struct turn_view *v, size_t from, size_t to, const struct seen_error *error,
	bool *ret_is_fix)
{
	struct edits c = { 0 };
	const struct event *edits[EDITS_MAX];
	const char *before, *after;
	size_t n = 0;

	for (size_t k = from + 1; k < to && k < v->in->n && n < EDITS_MAX; k++) {
		const struct event *e = &v->in->events[k];

		if (e->kind == EVENT_TOOL && e->writes_files && e->nfiles && e->diff &&
			e->status != STATUS_FAILED && e->status != STATUS_DENIED)
			edits[n++] = e;
	}
	edits_read(&c, edits, n, error);
	*ret_is_fix = c.best.path && (c.best.shared > 0 || c.lines <= SMALL_CHANGE);
	if (!*ret_is_fix)
		return NULL;
	narrow(&c.best.before, &c.best.after);
	before = one_line(v->a, c.best.before, LINE_SHOWN_MAX);
	after = one_line(v->a, c.best.after, LINE_SHOWN_MAX);
	if (c.best.before.n && c.best.after.n)
		return arena_printf(
			v->a, "changing `%s` to `%s` in %s", before, after, path_base(c.best.path));
	if (c.best.after.n)
		return arena_printf(v->a, "adding `%s` to %s", after, path_base(c.best.path));
	return arena_printf(v->a, "removing `%s` from %s", before, path_base(c.best.path));
}
