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
	const struct segment_docs *docs;
	uint32_t *ordinals;    /* per document; NULL: too few for any list */
	struct counts *counts; /* per session, of the class in hand */
	uint32_t *touched;     /* ordinals that have any */
	size_t ntouched;
	/* The term in hand. */
	struct buf out;
	bool is_wanted; /* it may still be worth a list */
	size_t most, entries;
	int class;
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

/* The session that each document counts for. */
static uint32_t *sessions_of_docs(const struct segment_docs *d)
{
	uint32_t *sessions = mem_resize(NULL, (d->n + 1) * sizeof(*sessions));
	uint64_t values[COLUMN_PIECE];
	for (size_t at = 0, n; at < d->n; at += n) {
		n = MIN(d->n - at, (size_t)COLUMN_PIECE);
		d->column(d->ctx, COLUMN_SESSION, at, n, values);
		for (size_t i = 0; i < n; i++)
			sessions[at + i] = (uint32_t)values[i];
	}
	for (size_t at = 0, n; at < d->n; at += n) {
		n = MIN(d->n - at, (size_t)COLUMN_PIECE);
		d->column(d->ctx, COLUMN_FLAGS, at, n, values);
		for (size_t i = 0; i < n; i++)
			if (values[i] & DOC_META)
				sessions[at + i] = 0;
	}
	return sessions;
}

/* A copy without neighbours that are the same. */
static uint32_t *neighbours_once(const uint32_t *sessions, size_t n, size_t *ret_n)
{
	uint32_t *once = NULL;
	size_t kept = 0, cap = 0;
	for (size_t i = 0; i < n; i++) {
		if (!sessions[i] || (kept && sessions[i] == once[kept - 1]))
			continue;
		MEM_GROW(once, cap, kept + 1);
		once[kept++] = sessions[i];
	}
	*ret_n = kept;
	return once;
}

struct session_lists *session_lists_new(const struct segment_docs *docs)
{
	struct session_lists *l = mem_alloc(sizeof(*l));
	l->docs = docs;
	l->out.max = SIZE_MAX / 2;
	if (docs->n < session_list_min)
		return l;
	l->ordinals = sessions_of_docs(docs);
	size_t n;
	uint32_t *sessions = neighbours_once(l->ordinals, docs->n, &n);
	n = sessions_sort(sessions, n);
	for (size_t i = 0; i < docs->n; i++)
		l->ordinals[i] = ordinal_of(sessions, n, l->ordinals[i]);
	free(sessions);
	l->counts = mem_alloc((n + 1) * sizeof(*l->counts));
	l->touched = mem_alloc((n + 1) * sizeof(*l->touched));
	return l;
}

void session_lists_free(struct session_lists *l)
{
	buf_done(&l->out);
	free(l->ordinals);
	free(l->counts);
	free(l->touched);
	free(l);
}

static void put_session(struct buf *out, const struct counts *c, uint32_t gap)
{
	varint_put(out, (uint64_t)gap << 2 | (c->title ? SESSION_HAS_TITLE : 0) |
				(c->rest ? SESSION_HAS_REST : 0));
	varint_put(out, c->body);
	if (c->title)
		varint_put(out, c->title);
	if (c->rest)
		varint_put(out, c->rest);
}

/* Writes what was counted of the class in hand, or only forgets it; goes on to the next class. */
static void end_class(struct session_lists *l)
{
	uint32_t next = 0;
	l->entries += l->ntouched;
	l->is_wanted = l->is_wanted && l->entries <= l->most;
	if (l->ntouched && l->is_wanted)
		qsort(l->touched, l->ntouched, sizeof(*l->touched), compare);
	if (l->is_wanted)
		varint_put(&l->out, l->ntouched);
	for (size_t i = 0; i < l->ntouched; i++) {
		const uint32_t ordinal = l->touched[i];
		if (l->is_wanted)
			put_session(&l->out, &l->counts[ordinal], ordinal - next);
		l->counts[ordinal] = (struct counts){ 0 };
		next = ordinal + 1;
	}
	l->ntouched = 0;
	l->class ++;
}

void session_lists_start(struct session_lists *l, size_t n)
{
	l->is_wanted = l->ordinals && n >= session_list_min;
	l->most = n / session_list_share;
	l->entries = 0;
	l->class = 0;
	buf_cut(&l->out, 0);
}

void session_lists_add(struct session_lists *l, uint32_t doc, uint8_t code)
{
	while (l->is_wanted && doc >= l->docs->class_start[l->class + 1])
		end_class(l);
	if (!l->is_wanted)
		return;
	const struct code_info *said = &code_table()[code];
	const uint32_t ordinal = l->ordinals[doc];
	if (ordinal == NO_SESSION)
		return;
	struct counts *c = &l->counts[ordinal];
	if (!c->is_touched)
		l->touched[l->ntouched++] = ordinal;
	c->is_touched = true;
	c->title += said->title;
	c->body += said->body;
	c->rest += said->rest;
}

void session_lists_end(struct session_lists *l, struct buf *out)
{
	while (l->is_wanted && l->class < CLASS_COUNT)
		end_class(l);
	if (l->is_wanted)
		buf_add(out, l->out.data, l->out.len);
}
