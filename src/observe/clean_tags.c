#include "observe/clean_tags.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

#define PIECE_MIN 8 /* bytes; shorter ones would strike out ordinary words */
#define PIECE_MAX 4096
#define ATTRIBUTES_MAX 400

enum tag_effect { TAG_DROP, TAG_PRIVATE, TAG_UNWRAP };

/*
 * What agents and we put into texts. Names that are prefixes of others stand after them nowhere: a
 * whole name is compared.
 */
static const struct tag_row {
	const char *name;
	enum tag_effect effect;
	bool prompt_only; /* elsewhere it is somebody's text */
	bool to_end;      /* unclosed: to the end of the text */
	const char *mark; /* put in the place of an unwrapped opening tag */
} rows[] = { { "private", TAG_PRIVATE, false, true, NULL },
	{ "remanence-context", TAG_DROP, false, true, NULL },
	{ "system-reminder", TAG_DROP, false, false, NULL },
	{ "system_reminder", TAG_DROP, false, false, NULL },
	{ "local-command-caveat", TAG_DROP, true, true, NULL },
	{ "local-command-stdout", TAG_DROP, true, true, NULL },
	{ "local-command-stderr", TAG_DROP, true, true, NULL },
	{ "command-message", TAG_DROP, true, false, NULL },
	{ "command-contents", TAG_DROP, true, true, NULL },
	{ "command-name", TAG_UNWRAP, true, false, NULL },
	{ "command-args", TAG_UNWRAP, true, false, " " },
	{ "bash-input", TAG_UNWRAP, true, false, "! " },
	{ "bash-stdout", TAG_DROP, true, true, NULL },
	{ "bash-stderr", TAG_DROP, true, true, NULL },
	{ "user-prompt-submit-hook", TAG_DROP, true, true, NULL },
	{ "user-memory-input", TAG_UNWRAP, true, false, "# " },
	{ "task-notification", TAG_DROP, true, true, NULL },
	{ "teammate-message", TAG_DROP, true, true, NULL },
	{ "ide_opened_file", TAG_DROP, true, false, NULL },
	{ "ide_selection", TAG_DROP, true, false, NULL },
	{ "ide_diagnostics", TAG_DROP, true, false, NULL },
	{ "new-diagnostics", TAG_DROP, true, false, NULL },
	{ "environment_context", TAG_DROP, true, true, NULL },
	{ "environment_details", TAG_DROP, true, true, NULL },
	{ "user_instructions", TAG_DROP, true, true, NULL },
	{ "instructions", TAG_DROP, true, false, NULL },
	{ "permissions", TAG_DROP, true, false, NULL },
	{ "collaboration_mode", TAG_DROP, true, false, NULL },
	{ "turn_aborted", TAG_DROP, true, true, NULL },
	{ "subagent_notification", TAG_DROP, true, true, NULL },
	{ "skills_instructions", TAG_DROP, true, false, NULL },
	{ "plugins_instructions", TAG_DROP, true, false, NULL },
	{ "apps_instructions", TAG_DROP, true, false, NULL },
	{ "user_action", TAG_DROP, true, false, NULL },
	{ "user_shell_command", TAG_DROP, true, true, NULL },
	{ "skill", TAG_DROP, true, true, NULL } };
#define ROWS ARRAY_LEN(rows)

struct tag {
	const struct tag_row *row;
	bool is_close;
	const char *start, *end;
};

static const char *skip_any(const char *p, const char *end, const char *const *signs)
{
	for (; *signs; signs++) {
		size_t n = strlen(*signs);

		if ((size_t)(end - p) >= n && strncasecmp(p, *signs, n) == 0)
			return p + n;
	}
	return NULL;
}

static const char *const openers[] = { "<", "&lt;", "\\u003c", "\\\\u003c", "&amp;lt;", "&#60;",
	NULL };
static const char *const closers[] = { ">", "&gt;", "\\u003e", "\\\\u003e", "&amp;gt;", "&#62;",
	NULL };
static const char *const slashes[] = { "/", "\\/", "\\\\/", NULL };

static const struct tag_row *row_find(const char *name, size_t n, bool is_prompt)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == n && strncasecmp(rows[i].name, name, n) == 0)
			return rows[i].prompt_only && !is_prompt ? NULL : &rows[i];
	return NULL;
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* What is looked through: tags are sought from some place in it on. */
struct scan {
	const char *start, *end;
	bool is_prompt;
};

/*
 * In "\\\u003c" the first two are an escaped backslash: an escape begins after an even number of
 * them.
 */
static bool begins_escape(const struct scan *sc, const char *p)
{
	size_t before = 0;

	while (p - before > sc->start && p[-1 - (long)before] == '\\')
		before++;
	return before % 2 == 0;
}

/* Is there a tag of the table at p? */
static bool tag_at(const struct scan *sc, const char *p, struct tag *ret)
{
	const char *end = sc->end;
	const char *at = skip_any(p, end, openers), *name, *after;

	if (!at || (*p == '\\' && !begins_escape(sc, p)))
		return false;
	after = skip_any(at, end, slashes);
	*ret = (struct tag){ .is_close = after != NULL, .start = p };
	at = after ? after : at;
	while (at < end && *at == ' ')
		at++;
	for (name = at; at < end && is_name_byte(*at); at++)
		;
	ret->row = row_find(name, (size_t)(at - name), sc->is_prompt);
	if (!ret->row)
		return false;
	for (const char *limit = at + MIN(end - at, ATTRIBUTES_MAX); at < limit; at++) {
		after = skip_any(at, end, closers);
		if (after) {
			ret->end = after;
			return true;
		}
		if (*at == '<' || *at == '\n')
			return false;
	}
	return false;
}

/* A cheap look at two bytes, since most of these signs open nothing. */
static bool may_open(const char *p, const char *end)
{
	char next = p + 1 < end ? p[1] : '\0';

	switch (*p) {
	case '<':
		return isalpha((unsigned char)next) || next == '/' || next == '\\' || next == ' ';
	case '&':
		return next == 'l' || next == 'L' || next == '#' || next == 'a';
	case '\\':
		return (next == 'u' || next == '\\') && end - p > 6 && (p[2] == '0' || p[2] == 'u');
	default:
		return false;
	}
}

static bool tag_next(const struct scan *sc, const char *p, struct tag *ret)
{
	for (; p < sc->end; p++)
		if ((*p == '<' || *p == '&' || *p == '\\') && may_open(p, sc->end) &&
			tag_at(sc, p, ret))
			return true;
	return false;
}

/*
 * The end of what an opened row holds: after its closing tag. NULL and the depth that is left when
 * it is not closed.
 */
static const char *region_end(
	const struct scan *sc, const char *p, const struct tag_row *row, unsigned *depth)
{
	const struct scan all = { sc->start, sc->end, true };
	struct tag t;

	while (tag_next(&all, p, &t)) {
		p = t.end;
		if (t.row != row)
			continue;
		if (t.is_close && --*depth == 0)
			return t.end;
		if (!t.is_close && row->effect == TAG_PRIVATE)
			++*depth;
	}
	return NULL;
}

/*
 * The next part between any of the borders, trimmed. In JSON a quote or an escape is one: what is
 * struck must not be syntax.
 */
static bool piece_next(struct str *rest, const char *borders, struct str *ret)
{
	size_t n = 0;

	if (!rest->n)
		return false;
	while (n < rest->n && !strchr(borders, rest->p[n]))
		n++;
	*ret = str_trim((struct str){ rest->p, n });
	n = MIN(n + 1, rest->n);
	*rest = (struct str){ rest->p + n, rest->n - n };
	return true;
}

static void pieces_add(struct tag_state *state, const char *p, const char *end)
{
	const struct scan sc = { p, end, false };
	struct str rest = { p, (size_t)(end - p) }, line;
	struct tag t;

	if (tag_next(&sc, p, &t) && t.row->effect == TAG_PRIVATE)
		rest.n = (size_t)(t.start - p);
	state->had_private = true;
	while (piece_next(&rest, state->is_json ? "\n\"\\" : "\n", &line))
		if (line.n >= PIECE_MIN && line.n <= PIECE_MAX &&
			state->npieces < PRIVATE_PIECES_MAX)
			state->pieces[state->npieces++] = line;
}

/*
 * Drops [p, end): of JSON the structure stays, with empty strings and zeros. p stands inside a
 * string then.
 */
static void drop(struct buf *out, const char *p, const char *end, bool is_json, bool in_string)
{
	if (!is_json)
		return;
	for (; p < end; p++) {
		if (in_string && *p == '\\' && p + 1 < end)
			p++;
		else if (*p == '"')
			in_string = !in_string, buf_char(out, '"');
		else if (!in_string)
			buf_char(out, isdigit((unsigned char)*p) ? '0' : *p);
	}
}

struct strip {
	struct tag_state *state;
	struct buf out;
	struct scan scan;
	const char *p, *done;
	bool is_unclosed[ROWS]; /* no closing tag further on: not looked for again */
};

static void copy_up_to(struct strip *s, const char *p)
{
	buf_add(&s->out, s->done, (size_t)(p - s->done));
}

/* Drops from `start` to `to`, and goes on there. */
static void strip_region(struct strip *s, const char *start, const char *to, bool in_string)
{
	copy_up_to(s, start);
	drop(&s->out, start, to, s->state->is_json, in_string);
	s->p = s->done = to;
}

/* The field before left a private part open. */
static void strip_carried(struct strip *s)
{
	const char *to = region_end(&s->scan, s->p, &rows[0], &s->state->private_depth);

	pieces_add(s->state, s->p, to ? to : s->scan.end);
	strip_region(s, s->p, to ? to : s->scan.end, false);
}

static void strip_opened(struct strip *s, const struct tag *t)
{
	unsigned depth = 1;
	size_t i = (size_t)(t->row - rows);
	const char *to = s->is_unclosed[i] ? NULL : region_end(&s->scan, t->end, t->row, &depth);

	s->is_unclosed[i] = !to;
	if (!to && !t->row->to_end) {
		s->p = t->end;
		return;
	}
	if (t->row->effect == TAG_PRIVATE) {
		pieces_add(s->state, t->end, to ? to : s->scan.end);
		s->state->private_depth = to ? 0 : depth;
	}
	strip_region(s, t->start, to ? to : s->scan.end, true);
}

struct str tags_strip(struct arena *a, struct str text, struct tag_state *state)
{
	struct strip s = { .state = state,
		.scan = { text.p, text.p + text.n, state->is_prompt },
		.p = text.p,
		.done = text.p };
	struct tag t;
	struct str ret = text;

	if (state->private_depth && text.n)
		strip_carried(&s);
	while (tag_next(&s.scan, s.p, &t)) {
		if (!t.is_close && t.row->effect != TAG_UNWRAP) {
			strip_opened(&s, &t);
			continue;
		}
		copy_up_to(&s, t.start);
		if (!t.is_close && t.row->mark && !state->is_json)
			buf_str(&s.out, t.row->mark);
		s.p = s.done = t.end;
	}
	if (s.done != text.p) {
		copy_up_to(&s, s.scan.end);
		ret = (struct str){ arena_dup(a, buf_cstr(&s.out), s.out.len), s.out.len };
	}
	buf_done(&s.out);
	return ret;
}

/* The next place of the piece that is no part of an escape. */
static const char *piece_find(struct str text, struct str piece)
{
	const char *at = str_find(text, piece);

	while (at && at > text.p && at[-1] == '\\') {
		size_t skipped = (size_t)(at - text.p) + 1;

		at = memmem(text.p + skipped, text.n - skipped, piece.p, piece.n);
	}
	return at;
}

static struct str strike_one(struct arena *a, struct str text, struct str piece)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = text;
	const char *at = piece_find(text, piece);

	if (!at)
		return text;
	for (; at; at = piece_find(rest, piece)) {
		buf_add(&out, rest.p, (size_t)(at - rest.p));
		buf_str(&out, "[private]");
		rest.n -= (size_t)(at - rest.p) + piece.n;
		rest.p = at + piece.n;
	}
	buf_add(&out, rest.p, rest.n);
	return (struct str){ arena_dup(a, out.data, out.len), out.len };
}

struct str tags_strike(struct arena *a, struct str text, const struct tag_state *state)
{
	for (size_t i = 0; i < state->npieces && text.n; i++)
		text = strike_one(a, text, state->pieces[i]);
	return text;
}
