#include "index/session_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NO_SESSION UINT32_MAX

uint32_t session_list_min = 512, session_list_share = 4;

struct counts {
	uint32_t title, body, rest;
	bool is_touched;
};

struct session_lists {
	const struct doc_row *rows;
	uint32_t *ordinals;    /* per row */
	struct counts *counts; /* per session, of the class in hand */
	uint32_t *touched;     /* ordinals that have any */
	size_t ntouched;
};

uint32_t session_of_doc(const struct doc_columns *c)
{
	return c->flags & DOC_META ? 0 : c->session;
}

static int compare(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

size_t sessions_sort(uint32_t *sessions, size_t n)
{
	size_t kept = 0, last = 0;
	/* Neighbours are mostly the same: few are left to sort. */
	for (size_t i = 0; i < n; i++)
		if (sessions[i] && (kept == 0 || sessions[i] != sessions[kept - 1]))
			sessions[kept++] = sessions[i];
	if (kept == 0)
		return 0;
	qsort(sessions, kept, sizeof(*sessions), compare);
	for (size_t i = 1; i < kept; i++)
		if (sessions[i] != sessions[last])
			sessions[++last] = sessions[i];
	return last + 1;
}

static uint32_t ordinal_of(const uint32_t *sessions, size_t n, uint32_t session)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (sessions[mid] < session)
			lo = mid + 1;
		else
			hi = mid;
	}
	return session ? (uint32_t)lo : NO_SESSION;
}

struct session_lists *session_lists_new(const struct doc_row *rows, size_t n)
{
	struct session_lists *l = mem_alloc(sizeof(*l));
	l->rows = rows;
	if (n < session_list_min)
		return l;
	l->ordinals = mem_alloc(n * sizeof(*l->ordinals));
	uint32_t *sessions = mem_alloc(n * sizeof(*sessions));
	for (size_t i = 0; i < n; i++)
		sessions[i] = session_of_doc(&rows[i].columns);
	size_t nsessions = sessions_sort(sessions, n);
	for (size_t i = 0; i < n; i++)
		l->ordinals[i] = ordinal_of(sessions, nsessions, session_of_doc(&rows[i].columns));
	free(sessions);
	l->counts = mem_alloc((nsessions + 1) * sizeof(*l->counts));
	l->touched = mem_alloc((nsessions + 1) * sizeof(*l->touched));
	return l;
}

void session_lists_free(struct session_lists *l)
{
	free(l->ordinals);
	free(l->counts);
	free(l->touched);
	free(l);
}

/* Counts the postings of one class from `at` on; returns where the next class starts. */
static size_t count_class(
	struct session_lists *l, const struct term_postings *t, size_t at, enum doc_class class)
{
	const struct code_info *codes = code_table();
	for (; at < t->n && DOC_CLASS(l->rows[t->docs[at]].id) == class; at++) {
		const uint32_t ordinal = l->ordinals[t->docs[at]];
		const struct code_info *code = &codes[t->codes[at]];
		if (ordinal == NO_SESSION)
			continue;
		struct counts *c = &l->counts[ordinal];
		if (!c->is_touched)
			l->touched[l->ntouched++] = ordinal;
		c->is_touched = true;
		c->title += code->title;
		c->body += code->body;
		c->rest += code->rest;
	}
	return at;
}

/* Writes what was counted, or only forgets it. */
static void end_class(struct session_lists *l, struct buf *out, bool is_wanted)
{
	uint32_t next = 0;
	if (l->ntouched)
		qsort(l->touched, l->ntouched, sizeof(*l->touched), compare);
	if (is_wanted)
		varint_put(out, l->ntouched);
	for (size_t i = 0; i < l->ntouched; i++) {
		const uint32_t ordinal = l->touched[i];
		struct counts *c = &l->counts[ordinal];
		if (is_wanted) {
			varint_put(out, (uint64_t)(ordinal - next) << 2 |
						(c->title ? SESSION_HAS_TITLE : 0) |
						(c->rest ? SESSION_HAS_REST : 0));
			varint_put(out, c->body);
			if (c->title)
				varint_put(out, c->title);
			if (c->rest)
				varint_put(out, c->rest);
		}
		*c = (struct counts){ 0 };
		next = ordinal + 1;
	}
	l->ntouched = 0;
}

void session_lists_put(struct session_lists *l, const struct term_postings *t, struct buf *out)
{
	const size_t before = out->len, most = t->n / session_list_share;
	size_t at = 0, entries = 0;
	if (t->n < session_list_min)
		return;
	for (int class = 0; class < CLASS_COUNT && entries <= most; class ++) {
		at = count_class(l, t, at, (enum doc_class) class);
		entries += l->ntouched;
		end_class(l, out, entries <= most);
	}
	if (entries > most)
		buf_cut(out, before);
}
