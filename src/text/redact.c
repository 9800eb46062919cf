/*
 * Redaction in one pass: every position's three bytes are hashed (case folded) into a bitmap of the
 * anchors of the table; only where an anchor really stands is a compiled pattern tried. Text
 * without secrets costs the pass and nothing else.
 */

#include <string.h>
#include <strings.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/redact.h"
#include "text/redact_table.h"

#define BITMAP_BITS 16
#define ANCHORS_MAX 512
#define CUSTOM_MAX 256     /* user's own patterns */
#define MATCH_LIMIT 200000 /* steps without JIT; a pattern that needs more finds nothing */

struct anchor {
	const char *text;
	unsigned short len, row;
	short next; /* of the same hash; -1 ends */
};

struct redactor {
	unsigned char bitmap[(1u << BITMAP_BITS) / 8];
	short first[1u << BITMAP_BITS];
	struct anchor anchors[ANCHORS_MAX];
	size_t nanchors;
	pcre2_code **codes; /* one per row */
	size_t nrows;
	pcre2_code *custom[CUSTOM_MAX];
	size_t ncustom;
	pcre2_match_context *limits;
};

/* What one call needs; made when the first anchor is met. */
struct run {
	const struct redactor *r;
	struct str text;
	pcre2_match_data *match;
	int pairs; /* of the last match */
	struct buf out;
	size_t done; /* bytes of text already in out */
	uint64_t found;
};

/*
 * Case folding by clearing bit 5 maps some signs onto each other too, which the comparison after it
 * sorts out.
 */
static inline unsigned hash3(const char *p)
{
	uint32_t v = ((uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
			     (uint32_t)(unsigned char)p[2] << 16) &
		     0x00dfdfdfu;

	return (v * 2654435761u) >> (32 - BITMAP_BITS);
}

static void anchor_add(struct redactor *r, const char *text, size_t len, size_t row)
{
	struct anchor *a = &r->anchors[r->nanchors];
	unsigned h;
	short *link;

	if (r->nanchors == ANCHORS_MAX || len < REDACT_ANCHOR_MIN)
		die("redaction table: anchor of '%s' does not fit", redact_rows[row].name);
	h = hash3(text);
	*a = (struct anchor){ text, (unsigned short)len, (unsigned short)row, -1 };
	r->bitmap[h / 8] |= (unsigned char)(1u << h % 8);
	for (link = &r->first[h]; *link >= 0; link = &r->anchors[*link].next)
		;
	*link = (short)r->nanchors++;
}

static void anchors_add(struct redactor *r, size_t row)
{
	struct str rest = str_of(redact_rows[row].anchors), part;

	while (str_split(&rest, ' ', &part))
		anchor_add(r, part.p, part.n, row);
}

/* NULL and the reason in *err when the pattern is bad. */
static pcre2_code *compile(const char *pattern, char why[128], size_t *where)
{
	int code;
	PCRE2_SIZE at;
	pcre2_code *c = pcre2_compile(
		(PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_UTF, &code, &at, NULL);

	if (!c) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why, 128);
		*where = at;
		return NULL;
	}
	pcre2_jit_compile(c, PCRE2_JIT_COMPLETE);
	return c;
}

static int custom_add(struct redactor *r, const char *const *extra, struct err *err)
{
	char why[128];
	size_t where;

	for (; extra && *extra; extra++) {
		if (r->ncustom == CUSTOM_MAX)
			return err_set(err, ERR_TOO_LARGE,
				"more than %d patterns in redact.patterns", CUSTOM_MAX);
		r->custom[r->ncustom] = compile(*extra, why, &where);
		if (!r->custom[r->ncustom]) {
			err_set(err, ERR_USAGE,
				"redact.patterns: '%.200s' is not a regular expression: %s at %zu",
				*extra, why, where);
			return err_hint(
				err, "Correct or remove it: remanence config redact.patterns");
		}
		r->ncustom++;
	}
	return 0;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nrows; i++)
		pcre2_code_free(r->codes[i]);
	for (size_t i = 0; i < r->ncustom; i++)
		pcre2_code_free(r->custom[i]);
	pcre2_match_context_free(r->limits);
	free(r->codes);
	free(r);
}

int redactor_new(const char *const *extra, struct redactor **ret, struct err *err)
{
	struct redactor *r = mem_alloc(sizeof(*r));
	char why[128];
	size_t where;

	memset(r->first, -1, sizeof(r->first));
	for (r->nrows = 0; redact_rows[r->nrows].name; r->nrows++)
		;
	r->codes = mem_alloc(sizeof(*r->codes) * r->nrows);
	for (size_t i = 0; i < r->nrows; i++) {
		r->codes[i] = compile(redact_rows[i].pattern, why, &where);
		if (!r->codes[i])
			die("redaction table: pattern of '%s': %s at %zu", redact_rows[i].name, why,
				where);
		anchors_add(r, i);
	}
	r->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(r->limits, MATCH_LIMIT);
	if (custom_add(r, extra, err) < 0) {
		redactor_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

static bool match_at(struct run *run, const pcre2_code *code, size_t at, uint32_t options)
{
	if (!run->match)
		run->match = pcre2_match_data_create(8, NULL);
	run->pairs = pcre2_match(code, (PCRE2_SPTR)run->text.p, run->text.n, at, options, run->match,
		run->r->limits);
	/* The compiled form has a small stack; the slow one needs none. */
	if (run->pairs == PCRE2_ERROR_JIT_STACKLIMIT)
		run->pairs = pcre2_match(code, (PCRE2_SPTR)run->text.p, run->text.n, at,
			options | PCRE2_NO_JIT, run->match, run->r->limits);
	return run->pairs > 0;
}

/* Group 1 where it took part, else the whole match. */
static struct str match_value(const struct run *run)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(run->match);
	size_t i = run->pairs > 1 && v[3] > v[2] ? 2 : 0;

	return (struct str){ run->text.p + v[i], v[i + 1] - v[i] };
}

static void replace(struct run *run, struct str value, const char *name)
{
	size_t start = (size_t)(value.p - run->text.p);

	buf_add(&run->out, run->text.p + run->done, start - run->done);
	buf_printf(&run->out, "[redacted:%s]", name);
	run->done = start + value.n;
	run->found++;
}

static bool value_is_quoted(struct str text, struct str value)
{
	return value.p > text.p && strchr("\"'`", value.p[-1]) != NULL;
}

/* A value found by the name it is assigned to may tell by itself, and better, what it is. */
static const char *better_name(struct run *run, struct str value, const char *name)
{
	size_t at = (size_t)(value.p - run->text.p);
	unsigned h = value.n < REDACT_ANCHOR_MIN ? 0 : hash3(value.p);

	for (short i = value.n < REDACT_ANCHOR_MIN ? -1 : run->r->first[h]; i >= 0;
		i = run->r->anchors[i].next) {
		const struct anchor *a = &run->r->anchors[i];
		const struct redact_row *row = &redact_rows[a->row];

		if (row->check == VALUE_ANY && row->back == 0 &&
			match_at(run, run->r->codes[a->row], at, PCRE2_ANCHORED))
			return row->name;
	}
	return name;
}

/* Tries the rows whose anchor stands at `at`; `first` is the first of its hash. */
static bool try_anchors(struct run *run, size_t at, short first)
{
	for (short i = first; i >= 0; i = run->r->anchors[i].next) {
		const struct anchor *a = &run->r->anchors[i];
		const struct redact_row *row = &redact_rows[a->row];
		struct str value;

		if (a->len > run->text.n - at ||
			strncasecmp(a->text, run->text.p + at, a->len) != 0 ||
			at < run->done + row->back)
			continue;
		if (!match_at(run, run->r->codes[a->row], at - row->back, PCRE2_ANCHORED))
			continue;
		value = match_value(run);
		if (value.p < run->text.p + run->done)
			continue;
		if (!redact_value_is_secret(row->check, value, value_is_quoted(run->text, value)))
			continue;
		replace(run, value,
			row->check == VALUE_ANY ? row->name : better_name(run, value, row->name));
		return true;
	}
	return false;
}

static void scan(struct run *run)
{
	const struct redactor *r = run->r;
	const char *p = run->text.p;
	size_t end = run->text.n < REDACT_ANCHOR_MIN ? 0 : run->text.n - REDACT_ANCHOR_MIN + 1;

	for (size_t i = 0; i < end; i++) {
		unsigned h = hash3(p + i);

		if (r->bitmap[h / 8] >> h % 8 & 1 && try_anchors(run, i, r->first[h]))
			i = run->done > i ? run->done - 1 : i;
	}
}

/*
 * One result of a pass: what is in `out` and the rest, or the input itself when nothing was found.
 */
static struct str finish(struct run *run, struct arena *a, uint64_t *count)
{
	struct str ret = run->text;

	if (run->found) {
		buf_add(&run->out, run->text.p + run->done, run->text.n - run->done);
		ret = (struct str){ arena_dup(a, run->out.data, run->out.len), run->out.len };
		*count += run->found;
	}
	buf_done(&run->out);
	pcre2_match_data_free(run->match);
	return ret;
}

static struct str redact_custom(const struct redactor *r, const pcre2_code *code, struct arena *a,
	struct str text, uint64_t *count)
{
	struct run run = { .r = r, .text = text };
	size_t at = 0;

	while (at <= text.n && match_at(&run, code, at, PCRE2_NOTEMPTY)) {
		struct str value = match_value(&run);

		if (value.n == 0 || value.p < text.p + run.done)
			break;
		replace(&run, value, "custom");
		at = run.done;
	}
	return finish(&run, a, count);
}

struct str redact(const struct redactor *r, struct arena *a, struct str text, uint64_t *count)
{
	struct run run = { .r = r, .text = text };

	scan(&run);
	text = finish(&run, a, count);
	for (size_t i = 0; i < r->ncustom; i++)
		text = redact_custom(r, r->custom[i], a, text, count);
	return text;
}
