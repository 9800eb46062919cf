/*
 * Most documents of a window that cannot be passed over as a whole hold too few of the words to
 * matter: the words' maps say so without unpacking anything. Those that are left are scored one by
 * one, each from the codes of its words alone.
 */

#include "index/score_parts.h"

#include "base/mem.h"
#include "index/reach.h"

#define FEW_SHARE 16u /* of the window's documents; more are quicker together */

static bool map_has(const uint64_t *map, uint32_t doc)
{
	return map[doc / 64] >> doc % 64 & 1;
}

static bool has_map(const struct pass *p, size_t i)
{
	return p->words[i].n > 0;
}

static const uint64_t *map_of(const struct pass *p, size_t i)
{
	return run_list(p->r, p->view, p->order[i])->map;
}

/* The words of the maps that the window lies in. */
struct place {
	uint32_t first, n;
	uint64_t docs[REACH_WORDS];
};

static void cut_to_window(struct place *at, const uint32_t range[2])
{
	const uint32_t last = range[1] % 64;
	at->docs[0] &= ~(uint64_t)0 << range[0] % 64;
	if (last)
		at->docs[at->n - 1] &= ((uint64_t)1 << last) - 1;
}

/* Near pairs add what the words' bounds do not have: their documents are always looked at. */
static void add_pairs(const struct pass *p, struct place *at, uint32_t end)
{
	for (size_t k = 0; k < p->r->npairs; k++) {
		const struct pair_list *l = run_pair_list(p->r, p->view, k);
		for (uint32_t i = l->at; i < l->n && l->docs[i] < end; i++)
			at->docs[l->docs[i] / 64 - at->first] |= (uint64_t)1 << l->docs[i] % 64;
	}
}

static void find_docs(const struct pass *p, struct place *at, const uint32_t range[2])
{
	struct reach_word words[QUERY_TERMS_MAX];
	size_t n = 0;
	at->first = range[0] / 64;
	at->n = (range[1] - 1) / 64 + 1 - at->first;
	for (size_t i = 0; i < p->r->ngroups; i++)
		if (has_map(p, i))
			words[n++] = (struct reach_word){ map_of(p, i),
				reach_share(p->word_bounds[i], p->missing) };
	reach_find(words, n, at->first, at->n, at->docs);
	add_pairs(p, at, range[1]);
	cut_to_window(at, range);
}

static uint32_t count_docs(const struct place *at)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < at->n; i++)
		n += bits_count(at->docs[i]);
	return n;
}

/* Pairs are walked in step with the documents. */
static float take_pairs(const struct pass *p, uint32_t doc)
{
	const float norm = p->scale->norms[p->lengths[doc]];
	float sum = 0;
	for (size_t k = 0; k < p->r->npairs; k++) {
		struct pair_list *l = run_pair_list(p->r, p->view, k);
		while (l->at < l->n && l->docs[l->at] < doc)
			l->at++;
		if (l->at < l->n && l->docs[l->at] == doc)
			sum += score_pair_top(p, k) * share_of(l->tf[l->at], norm);
	}
	return sum;
}

static float count_of(struct word *w, uint32_t doc)
{
	float tf = 0;
	for (size_t k = 0; k < w->n; k++) {
		struct form *f = &w->forms[k];
		const int code = postings_code(&f->p, &f->coded, doc);
		f->at = 0; /* another block may be in hand */
		tf += code < 0 ? 0 : f->counts[code];
	}
	return tf;
}

/* The most that the document's words can add. */
static float most_of(const struct pass *p, uint32_t doc)
{
	float most = 0;
	for (size_t i = 0; i < p->r->ngroups; i++)
		most += has_map(p, i) && map_has(map_of(p, i), doc) ? p->word_bounds[i] : 0;
	return most;
}

static bool is_lost(const struct pass *p, uint32_t slot, float most)
{
	const struct run *r = p->r;
	return most * p->prior < r->least || (r->floors && most < r->floors[slot]);
}

static void score_doc(struct pass *p, uint32_t doc)
{
	const struct run *r = p->r;
	const uint32_t slot = p->slots[doc];
	const float norm = p->scale->norms[p->lengths[doc]], pairs = take_pairs(p, doc);
	const float others =
		r->pair_weight * pairs + r->session_weight * (slot ? r->session_scores[slot] : 0);
	float own = 0, left = most_of(p, doc);
	for (size_t i = 0; i < r->ngroups; i++) {
		if (!has_map(p, i) || !map_has(map_of(p, i), doc))
			continue;
		if (is_lost(p, slot, r->own_weight * own + others + left))
			return;
		const float tf = count_of(&p->words[i], doc);
		own += p->words[i].top * share_of(tf, norm);
		left -= p->word_bounds[i];
	}
	if (own > 0)
		score_give(p, doc, own, pairs);
}

bool score_few(struct pass *p, const uint32_t range[2])
{
	struct place at;
	find_docs(p, &at, range);
	if (count_docs(&at) > (range[1] - range[0]) / FEW_SHARE)
		return false;
	for (uint32_t i = 0; i < at.n; i++)
		for (uint64_t bits = at.docs[i]; bits; bits &= bits - 1) {
			const uint32_t doc = (at.first + i) * 64 + (uint32_t)__builtin_ctzll(bits);
			if (filter_passes(&p->filter, doc))
				score_doc(p, doc);
		}
	return true;
}
