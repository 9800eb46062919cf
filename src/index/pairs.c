#include "index/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/sessions.h"

#define CHUNK 8u /* words of maps that are looked at together: most have no document in common */
#define NO_DOC UINT32_MAX

/* Reads positions of a group's forms, documents ascending. */
struct reader {
	struct postings *forms; /* NULL: not begun */
	size_t n;
	uint32_t *positions;
	size_t npositions;
	uint32_t doc; /* whose positions these are */
};

static void reader_start(
	struct run *r, struct reader *rd, const struct segment *seg, const struct list *l)
{
	rd->forms = run_room(r, (l->nrefs + 1) * sizeof(*rd->forms));
	rd->positions = run_room(r, (l->nrefs + 1) * POSITIONS_MAX * sizeof(*rd->positions));
	rd->n = 0;
	rd->doc = NO_DOC;
	for (size_t i = 0; i < l->nrefs; i++)
		if (l->refs[i].term.has_positions)
			postings_start(&rd->forms[rd->n++], seg, &l->refs[i].term);
}

static void sort_positions(uint32_t *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && p[k - 1] > p[k]; k--) {
			uint32_t t = p[k];
			p[k] = p[k - 1];
			p[k - 1] = t;
		}
}

static void reader_at(struct reader *rd, uint32_t doc)
{
	size_t holders = 0;
	if (rd->doc == doc)
		return;
	rd->doc = doc;
	rd->npositions = 0;
	for (size_t i = 0; i < rd->n; i++) {
		int at = postings_find(&rd->forms[i], doc);
		if (at < 0)
			continue;
		rd->npositions += postings_positions(
			&rd->forms[i], (uint32_t)at, rd->positions + rd->npositions);
		holders++;
	}
	if (holders > 1)
		sort_positions(rd->positions, rd->npositions);
}

/* Occurrences of the one that have the other within the window. */
static unsigned count_near(const struct reader *a, const struct reader *b, uint32_t window)
{
	unsigned n = 0;
	for (size_t i = 0, k = 0; i < a->npositions; i++) {
		while (k < b->npositions && b->positions[k] + window < a->positions[i])
			k++;
		n += k < b->npositions && b->positions[k] <= a->positions[i] + window;
	}
	return n;
}

static uint64_t any_of_both(const uint64_t *a, const uint64_t *b)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < CHUNK; i++)
		any |= a[i] & b[i];
	return any;
}

static uint32_t count_both(const struct run *r, size_t view, const struct pair *p)
{
	const struct list *a = run_list(r, view, p->a), *b = run_list(r, view, p->b);
	const size_t words = a->n && b->n ? view_map_room(&r->snap->views[view]) : 0;
	uint32_t n = 0;
	for (size_t i = 0; i < words; i += CHUNK)
		if (any_of_both(a->map + i, b->map + i))
			for (uint32_t k = 0; k < CHUNK; k++)
				for (uint64_t both = a->map[i + k] & b->map[i + k]; both; both = 0)
					n += bits_count(both);
	return n;
}

/* A pair of one view. */
struct near {
	const uint64_t *maps[2];
	struct reader *readers[2];
	struct pair_list *out;
};

static void take_near(struct near *n, uint32_t doc)
{
	struct pair_list *out = n->out;
	reader_at(n->readers[0], doc);
	reader_at(n->readers[1], doc);
	unsigned times = count_near(n->readers[0], n->readers[1], index_weights.pair_window);
	if (times == 0)
		return;
	out->docs[out->n] = doc;
	out->tf[out->n++] = (float)times;
}

static const uint64_t *near_start(struct run *r, size_t view, uint32_t group, struct reader *rd)
{
	const struct list *l = run_list(r, view, group);
	if (!rd->forms)
		reader_start(r, rd, r->snap->views[view].seg, l);
	return l->map;
}

/* The pairs that a document of the view may hold. */
static size_t start_view(struct run *r, size_t view, struct reader *readers, struct near *nears)
{
	size_t n = 0;
	for (size_t p = 0; p < r->npairs; p++) {
		const struct pair *pair = &r->pairs[p];
		const struct list *a = run_list(r, view, pair->a), *b = run_list(r, view, pair->b);
		const size_t most = MIN(MIN(a->n, b->n), pair->both);
		struct near *near = &nears[n];
		if (most == 0)
			continue;
		near->out = run_pair_list(r, view, p);
		near->out->docs = run_room(r, most * sizeof(*near->out->docs));
		near->out->tf = run_room(r, most * sizeof(*near->out->tf));
		near->readers[0] = &readers[pair->a];
		near->readers[1] = &readers[pair->b];
		near->maps[0] = near_start(r, view, pair->a, near->readers[0]);
		near->maps[1] = near_start(r, view, pair->b, near->readers[1]);
		n++;
	}
	return n;
}

/* All pairs of 64 documents, each document at once, so that no word's positions are read twice. */
static void take_word(struct near *const *nears, size_t n, size_t word)
{
	uint64_t any = 0;
	for (size_t k = 0; k < n; k++)
		any |= nears[k]->maps[0][word] & nears[k]->maps[1][word];
	for (; any; any &= any - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(any);
		for (size_t k = 0; k < n; k++)
			if (nears[k]->maps[0][word] & nears[k]->maps[1][word] & any & -any)
				take_near(nears[k], (uint32_t)word * 64 + bit);
	}
}

static void find_pairs(struct run *r, size_t view)
{
	struct reader *readers = ARENA_ARRAY(r->scratch, struct reader, r->ngroups);
	struct near *nears = ARENA_ARRAY(r->scratch, struct near, r->npairs + 1), *here[PAIRS_MAX];
	const size_t n = start_view(r, view, readers, nears);
	const size_t words = n ? view_map_room(&r->snap->views[view]) : 0;
	for (size_t i = 0; i < words; i += CHUNK) {
		size_t nhere = 0;
		for (size_t k = 0; k < n; k++)
			if (any_of_both(nears[k].maps[0] + i, nears[k].maps[1] + i))
				here[nhere++] = &nears[k];
		for (size_t w = i; nhere && w < i + CHUNK; w++)
			take_word(here, nhere, w);
	}
}

static int compare_pairs(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	if (a->both != b->both)
		return a->both < b->both ? -1 : 1;
	return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

/*
 * Reading positions costs: the pairs that the fewest documents can hold come first, and tell most;
 * the rest is left out.
 */
static void keep_affordable(struct run *r)
{
	uint64_t reads = 0;
	size_t n = 0;
	for (size_t p = 0; p < r->npairs; p++)
		for (size_t v = 0; v < r->snap->n; v++)
			r->pairs[p].both += count_both(r, v, &r->pairs[p]);
	qsort(r->pairs, r->npairs, sizeof(*r->pairs), compare_pairs);
	while (n < r->npairs && reads + r->pairs[n].both <= index_weights.pair_reads)
		reads += r->pairs[n++].both;
	r->npairs = n;
}

/* Distance in the question is counted in words that are looked for. */
static void choose_pairs(struct run *r)
{
	for (uint32_t a = 0; a < r->ngroups; a++) {
		unsigned apart = 0;
		for (uint32_t b = a + 1; b < r->ngroups && !r->groups[a].word->is_whole; b++) {
			if (r->groups[b].word->is_whole)
				continue;
			if (++apart > index_weights.pair_apart || r->npairs == PAIRS_MAX)
				break;
			r->pairs[r->npairs++] = (struct pair){ .a = a, .b = b };
		}
	}
}

static void score_in_sessions(struct run *r)
{
	for (size_t p = 0; p < r->npairs; p++) {
		for (size_t v = 0; v < r->snap->n; v++) {
			sessions_add_pairs(r->sums, r->snap->views[v].seg, run_pair_list(r, v, p));
		}
		r->pairs[p].session_idf = sessions_give(r, r->sums, index_weights.session_pair);
	}
}

void pairs_run(struct run *r)
{
	if (index_weights.pair == 0 && index_weights.session_pair == 0)
		return;
	choose_pairs(r);
	keep_affordable(r);
	r->pair_lists =
		arena_alloc(r->scratch, (r->snap->n * r->npairs + 1) * sizeof(*r->pair_lists));
	for (size_t v = 0; v < r->snap->n; v++) {
		find_pairs(r, v);
		for (size_t p = 0; p < r->npairs; p++)
			r->pairs[p].df += run_pair_list(r, v, p)->n;
	}
	for (size_t p = 0; p < r->npairs; p++)
		r->pairs[p].idf = bm25_idf(r->docs, r->pairs[p].df);
	if (r->sums && index_weights.session_pair > 0)
		score_in_sessions(r);
}

struct phrase_part {
	uint32_t offset;
	bool has_positions;
	struct postings *forms;
	size_t n;
};

struct phrase_check {
	const struct query *q;
	struct phrase_part *parts;
	uint32_t *starts, *positions;
};

struct phrase_check *phrase_check_new(
	struct arena *a, const struct query *q, const struct segment *seg)
{
	struct phrase_check *c = ARENA_NEW(a, struct phrase_check);
	c->q = q;
	c->parts = ARENA_ARRAY(a, struct phrase_part, q->nphrase_words + 1);
	c->starts = ARENA_ARRAY(a, uint32_t, POSITIONS_MAX * WORD_STEMS_MAX);
	c->positions = ARENA_ARRAY(a, uint32_t, POSITIONS_MAX * WORD_STEMS_MAX);
	for (size_t i = 0; i < q->nphrase_words; i++) {
		const struct query_word *w = &q->words[q->phrase_words[i].word];
		struct ref *refs;
		c->parts[i].offset = q->phrase_words[i].offset;
		c->parts[i].has_positions = !w->is_stop;
		c->parts[i].n = match_refs(a, seg, w, true, &refs);
		c->parts[i].forms = ARENA_ARRAY(a, struct postings, c->parts[i].n + 1);
		for (size_t k = 0; k < c->parts[i].n; k++)
			postings_start(&c->parts[i].forms[k], seg, &refs[k].term);
	}
	return c;
}

/* Whether the part is in the document; its positions, when it has such. */
static bool part_at(struct phrase_part *part, uint32_t doc, uint32_t *ret, size_t *ret_n)
{
	bool is_there = false;
	*ret_n = 0;
	for (size_t i = 0; i < part->n; i++) {
		int at = postings_find(&part->forms[i], doc);
		if (at < 0)
			continue;
		is_there = true;
		*ret_n += postings_positions(&part->forms[i], (uint32_t)at, ret + *ret_n);
	}
	return is_there;
}

static bool holds(const uint32_t *positions, size_t n, uint32_t position)
{
	for (size_t i = 0; i < n; i++)
		if (positions[i] == position)
			return true;
	return false;
}

/*
 * Keeps the possible starts that the part allows. Function words have no positions: they need only
 * be there.
 */
static bool phrase_holds(struct phrase_check *c, const struct query_phrase *p, uint32_t doc)
{
	size_t nstarts = 0;
	bool has_starts = false;
	for (size_t i = p->first; i < p->first + p->n; i++) {
		struct phrase_part *part = &c->parts[i];
		size_t n, kept = 0;
		if (!part_at(part, doc, c->positions, &n))
			return false;
		if (!part->has_positions)
			continue;
		if (!has_starts) {
			for (size_t k = 0; k < n; k++)
				if (c->positions[k] >= part->offset)
					c->starts[nstarts++] = c->positions[k] - part->offset;
			has_starts = true;
		} else {
			for (size_t k = 0; k < nstarts; k++)
				if (holds(c->positions, n, c->starts[k] + part->offset))
					c->starts[kept++] = c->starts[k];
			nstarts = kept;
		}
		if (nstarts == 0)
			return false;
	}
	return true;
}

bool phrase_check_passes(struct phrase_check *c, uint32_t doc)
{
	for (size_t i = 0; i < c->q->nphrases; i++)
		if (phrase_holds(c, &c->q->phrases[i], doc) == c->q->phrases[i].is_excluded)
			return false;
	return true;
}
