#include "index/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/postings.h"
#include "index/writer.h"

#define GONE UINT32_MAX

struct posting_ref { /* a posting of the term in hand, from some source */
	uint32_t doc;
	uint32_t at, count; /* its positions */
	uint8_t code;
};

struct merge {
	const struct merge_source *sources;
	size_t n;
	uint32_t **renumber; /* per source: old number to new, or GONE */
	struct doc_row *rows;
	uint32_t nrows;
	struct term_cursor *cursors;
	bool *has_term;
	/* The term in hand. */
	struct posting_ref *refs;
	size_t nrefs, refs_cap;
	uint32_t *taken; /* positions as they come */
	size_t ntaken, taken_cap;
	uint32_t *docs, *positions;
	uint8_t *codes;
	uint16_t *counts;
	size_t docs_cap, codes_cap, counts_cap, positions_cap;
};

static void take_row(struct merge *m, size_t source, uint32_t doc)
{
	const struct segment *s = m->sources[source].seg;
	struct doc_row *r = &m->rows[m->nrows];
	r->id = segment_id(s, doc);
	segment_columns(s, doc, &r->columns);
	r->length = s->lengths[doc];
	r->position_bits = s->position_bits[doc];
	m->renumber[source][doc] = m->nrows++;
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
		take_row(m, best, at[best]++);
	}
	free(at);
}

static void take_postings(struct merge *m, size_t source)
{
	struct postings p;
	uint32_t positions[POSITIONS_MAX];
	postings_start(&p, m->sources[source].seg, &m->cursors[source].ref);
	while (postings_next(&p)) {
		for (uint32_t i = 0; i < p.n; i++) {
			uint32_t doc = m->renumber[source][p.docs[i]];
			if (doc == GONE)
				continue;
			size_t count = postings_positions(&p, i, positions);
			MEM_GROW(m->refs, m->refs_cap, m->nrefs + 1);
			m->refs[m->nrefs++] = (struct posting_ref){ doc, (uint32_t)m->ntaken,
				(uint32_t)count, p.codes[i] };
			MEM_GROW(m->taken, m->taken_cap, m->ntaken + count + 1);
			memcpy(m->taken + m->ntaken, positions, count * sizeof(*positions));
			m->ntaken += count;
		}
	}
}

static int compare_refs(const void *x, const void *y)
{
	const struct posting_ref *a = x, *b = y;
	return (a->doc > b->doc) - (a->doc < b->doc);
}

static void write_refs(struct merge *m, struct segment_writer *w, const struct term_cursor *key)
{
	size_t npositions = 0;
	bool is_sorted = true;
	for (size_t i = 1; i < m->nrefs; i++)
		is_sorted &= m->refs[i - 1].doc < m->refs[i].doc;
	if (!is_sorted)
		qsort(m->refs, m->nrefs, sizeof(*m->refs), compare_refs);
	MEM_GROW(m->docs, m->docs_cap, m->nrefs);
	MEM_GROW(m->codes, m->codes_cap, m->nrefs);
	MEM_GROW(m->counts, m->counts_cap, m->nrefs);
	MEM_GROW(m->positions, m->positions_cap, m->ntaken + 1);
	for (size_t i = 0; i < m->nrefs; i++) {
		const struct posting_ref *r = &m->refs[i];
		m->docs[i] = r->doc;
		m->codes[i] = r->code;
		m->counts[i] = (uint16_t)r->count;
		memcpy(m->positions + npositions, m->taken + r->at, r->count * sizeof(*m->taken));
		npositions += r->count;
	}
	writer_add(w, &(struct term_postings){ .stem = { key->stem, key->stem_len },
			      .word = { key->word, key->word_len },
			      .has_positions = key->ref.has_positions,
			      .n = m->nrefs,
			      .docs = m->docs,
			      .codes = m->codes,
			      .counts = m->counts,
			      .positions = m->positions });
}

static int compare_cursors(const struct term_cursor *a, const struct term_cursor *b)
{
	return key_compare((struct str){ a->stem, a->stem_len },
		(struct str){ a->word, a->word_len }, (struct str){ b->stem, b->stem_len },
		(struct str){ b->word, b->word_len });
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
		const struct term_cursor key = m->cursors[first];
		m->nrefs = m->ntaken = 0;
		for (size_t i = 0; i < m->n; i++) {
			if (!m->has_term[i] || compare_cursors(&m->cursors[i], &key) != 0)
				continue;
			take_postings(m, i);
			m->has_term[i] = term_cursor_next(&m->cursors[i]);
		}
		if (m->nrefs)
			write_refs(m, w, &key);
	}
}

static void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->renumber[i]);
	free(m->renumber);
	free(m->rows);
	free(m->cursors);
	free(m->has_term);
	free(m->refs);
	free(m->taken);
	free(m->docs);
	free(m->positions);
	free(m->codes);
	free(m->counts);
}

int merge_segments(
	const struct merge_source *sources, size_t n, struct merge_target *target, struct err *err)
{
	size_t docs = 0;
	struct merge m = { .sources = sources, .n = n };
	m.renumber = mem_alloc((n + 1) * sizeof(*m.renumber));
	for (size_t i = 0; i < n; i++) {
		m.renumber[i] = mem_alloc((sources[i].seg->t.docs + 1u) * sizeof(**m.renumber));
		docs += sources[i].seg->t.docs;
	}
	m.rows = mem_alloc((docs + 1) * sizeof(*m.rows));
	m.cursors = mem_alloc((n + 1) * sizeof(*m.cursors));
	m.has_term = mem_alloc(n + 1);
	number_docs(&m);
	target->docs = m.nrows;
	target->len = 0;
	int result = 0;
	if (m.nrows) {
		struct segment_writer *w = writer_new(target->fd, m.rows, m.nrows);
		merge_terms(&m, w);
		result = writer_end(w, &target->image, &target->len, err);
	}
	merge_done(&m);
	return result;
}
