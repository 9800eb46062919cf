/*
 * Everything that is held for each document is a few bytes (struct merge, and session_list.h);
 * postings pass through a block at a time, columns a few values at a time.
 */

#include "index/merge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/postings.h"
#include "index/writer.h"

#define GONE UINT32_MAX

/* A source's postings of the term in hand. */
struct feed {
	size_t source;
	struct postings p;
	uint32_t at;  /* in the block in hand */
	uint32_t doc; /* the new number; GONE: there are no more */
};

struct merge {
	const struct merge_source *sources;
	size_t n;
	uint32_t **renumber; /* per source: old number to new, or GONE */
	/* Per new number. */
	uint8_t *source_of;
	uint8_t *lengths, *position_bits;
	struct segment_docs docs;
	uint32_t *walk; /* per source: where the column in hand is */
	struct term_cursor *cursors;
	bool *has_term;
	struct feed *feeds;
	size_t nfeeds;
};

static void take_doc(struct merge *m, size_t source, uint32_t doc)
{
	const struct segment *s = m->sources[source].seg;
	const uint32_t number = (uint32_t)m->docs.n++;
	m->source_of[number] = (uint8_t)source;
	m->lengths[number] = s->lengths[doc];
	m->position_bits[number] = s->position_bits[doc];
	m->renumber[source][doc] = number;
	for (unsigned c = (unsigned)segment_class(s, doc) + 1; c <= CLASS_COUNT; c++)
		m->docs.class_start[c] = number + 1;
}

/* Live documents of all sources in the order of their ids. */
static void number_docs(struct merge *m)
{
	uint32_t *at = mem_alloc((m->n + 1) * sizeof(*at));
	for (;;) {
		size_t best = m->n;
		doc_id best_id = 0;
		for (size_t i = 0; i < m->n; i++) {
			const struct merge_source *s = &m->sources[i];
			while (at[i] < s->seg->t.docs && bit_is_set(s->dead, at[i]))
				m->renumber[i][at[i]++] = GONE;
			if (at[i] == s->seg->t.docs)
				continue;
			doc_id id = segment_id(s->seg, at[i]);
			if (best == m->n || id < best_id) {
				best = i;
				best_id = id;
			}
		}
		if (best == m->n)
			break;
		take_doc(m, best, at[best]++);
	}
	free(at);
}

static void merged_column(void *ctx, enum column c, size_t first, size_t n, uint64_t *values)
{
	struct merge *m = ctx;
	if (first == 0)
		memset(m->walk, 0, m->n * sizeof(*m->walk));
	for (size_t i = 0; i < n; i++) {
		const size_t source = m->source_of[first + i];
		uint32_t doc = m->walk[source];
		while (m->renumber[source][doc] == GONE)
			doc++;
		values[i] = segment_column(m->sources[source].seg, c, doc);
		m->walk[source] = doc + 1;
	}
}

/* To the next document that is left. */
static void feed_next(struct merge *m, struct feed *f)
{
	for (;;) {
		while (f->at < f->p.n) {
			f->doc = m->renumber[f->source][f->p.docs[f->at]];
			if (f->doc != GONE)
				return;
			f->at++;
		}
		f->at = 0;
		if (!postings_next(&f->p))
			break;
	}
	f->doc = GONE;
}

static uint32_t count_live(const struct merge *m, size_t source)
{
	const struct term_ref *ref = &m->cursors[source].ref;
	struct postings p;
	uint32_t live = 0;
	if (!m->sources[source].dead)
		return ref->df;
	postings_start(&p, m->sources[source].seg, ref);
	while (postings_next_docs(&p))
		for (uint32_t i = 0; i < p.n; i++)
			live += m->renumber[source][p.docs[i]] != GONE;
	return live;
}

static void feed_start(struct merge *m, size_t source)
{
	struct feed *f = &m->feeds[m->nfeeds++];
	f->source = source;
	f->at = 0;
	postings_start(&f->p, m->sources[source].seg, &m->cursors[source].ref);
	feed_next(m, f);
}

/* The feed with the lowest document, and how far it goes before another one's turn. */
static struct feed *lowest(struct merge *m, uint32_t *ret_until)
{
	struct feed *best = &m->feeds[0];
	*ret_until = GONE;
	for (size_t i = 1; i < m->nfeeds; i++) {
		struct feed *f = &m->feeds[i];
		if (f->doc < best->doc) {
			*ret_until = best->doc;
			best = f;
		} else {
			*ret_until = MIN(*ret_until, f->doc);
		}
	}
	return best;
}

static void write_postings(struct merge *m, struct segment_writer *w)
{
	uint32_t until, positions[POSITIONS_MAX];
	for (struct feed *f; (f = lowest(m, &until))->doc != GONE;) {
		do {
			size_t n = postings_positions(&f->p, f->at, positions);
			writer_posting(w, f->doc, f->p.codes[f->at], positions, n);
			f->at++;
			feed_next(m, f);
		} while (f->doc < until);
	}
}

static int compare_cursors(const struct term_cursor *a, const struct term_cursor *b)
{
	return key_compare((struct str){ a->stem, a->stem_len },
		(struct str){ a->word, a->word_len }, (struct str){ b->stem, b->stem_len },
		(struct str){ b->word, b->word_len });
}

/* The sources that have the term `first` stands at: their postings, and on to their next terms. */
static void merge_term(struct merge *m, struct segment_writer *w, size_t first)
{
	const struct term_cursor key = m->cursors[first];
	size_t n = 0;
	m->nfeeds = 0;
	for (size_t i = first; i < m->n; i++) {
		if (!m->has_term[i] || compare_cursors(&m->cursors[i], &key) != 0)
			continue;
		n += count_live(m, i);
		feed_start(m, i);
		m->has_term[i] = term_cursor_next(&m->cursors[i]);
	}
	if (!n)
		return;
	writer_term(w, &(struct term_head){ { key.stem, key.stem_len }, { key.word, key.word_len },
			       key.ref.has_positions, n });
	write_postings(m, w);
	writer_term_end(w);
}

static void merge_terms(struct merge *m, struct segment_writer *w)
{
	for (size_t i = 0; i < m->n; i++) {
		term_cursor_start(&m->cursors[i], m->sources[i].seg);
		m->has_term[i] = term_cursor_next(&m->cursors[i]);
	}
	for (;;) {
		size_t first = m->n;
		for (size_t i = 0; i < m->n; i++)
			if (m->has_term[i] && (first == m->n || compare_cursors(&m->cursors[i],
									&m->cursors[first]) < 0))
				first = i;
		if (first == m->n)
			return;
		merge_term(m, w, first);
	}
}

static void merge_start(struct merge *m, const struct merge_source *sources, size_t n)
{
	size_t docs = 0;
	assert(n <= MERGE_SOURCES_MAX);
	*m = (struct merge){ .sources = sources, .n = n };
	m->renumber = mem_alloc((n + 1) * sizeof(*m->renumber));
	for (size_t i = 0; i < n; i++) {
		const size_t own = sources[i].seg->t.docs;
		m->renumber[i] = mem_resize(NULL, (own + 1) * sizeof(**m->renumber));
		docs += own;
	}
	m->source_of = mem_resize(NULL, docs + 1);
	m->lengths = mem_resize(NULL, docs + 1);
	m->position_bits = mem_resize(NULL, docs + 1);
	m->walk = mem_alloc((n + 1) * sizeof(*m->walk));
	m->cursors = mem_alloc((n + 1) * sizeof(*m->cursors));
	m->has_term = mem_alloc(n + 1);
	m->feeds = mem_alloc((n + 1) * sizeof(*m->feeds));
	m->docs.lengths = m->lengths;
	m->docs.position_bits = m->position_bits;
	m->docs.column = merged_column;
	m->docs.ctx = m;
}

static void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->renumber[i]);
	free(m->renumber);
	free(m->source_of);
	free(m->lengths);
	free(m->position_bits);
	free(m->walk);
	free(m->cursors);
	free(m->has_term);
	free(m->feeds);
}

int merge_segments(
	const struct merge_source *sources, size_t n, struct merge_target *target, struct err *err)
{
	AUTO(merge_done) struct merge m;
	merge_start(&m, sources, n);
	number_docs(&m);
	target->docs = (uint32_t)m.docs.n;
	target->len = 0;
	if (!m.docs.n)
		return 0;
	struct segment_writer *w = writer_new(target->fd, target->dir, &m.docs);
	merge_terms(&m, w);
	return writer_end(w, &target->image, &target->len, err);
}
