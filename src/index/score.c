/*
 * Documents in windows of neighbours. What a window can give at most is known from the bounds of
 * the blocks that reach into it and from the best session in it, so that most windows are passed
 * over and their blocks never unpacked. In the others the rarest words are added first; the common
 * ones only while some document may still enter the answer.
 */

#include "index/score_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/prior.h"

#define BEST_SESSIONS 12 /* whose windows come first */
#define BEST_RANKED 24

uint32_t score_window = 512, score_parted = 2048;

static void fill_scale(const struct run *r, int class, struct scale *s)
{
	const struct class_totals *c = &r->snap->classes[class];
	const double k1 = index_weights.k1, b = index_weights.b;
	double average = c->docs ? (double)c->words / (double)c->docs : 1;
	s->k1 = (float)k1;
	for (int i = 0; i < 256; i++)
		s->norms[i] =
			i < 16 + 8 * 28
				? (float)(k1 *
					  (1 - b + b * length_of((uint8_t)i) / MAX(average, 1.0)))
				: 0;
}

float score_pair_top(const struct pass *p, size_t pair)
{
	return (float)(index_weights.pair * p->r->pairs[pair].idf) * (p->scale->k1 + 1);
}

/* --- Forms. --- */

/* Leaves what lies before `doc` behind; a block is only unpacked when it is the last, short one. */
static void form_seek(struct form *f, uint32_t doc)
{
	struct postings *p = &f->p;
	if (!p->n || p->docs[p->n - 1] < doc) {
		f->at = 0;
		postings_skip(p, doc);
		if (p->next < p->blocks || !postings_next(p))
			return;
	}
	while (f->at < p->n && p->docs[f->at] < doc)
		f->at++;
	if (f->at == p->n)
		p->n = f->at = 0;
}

static uint32_t form_ahead(const struct form *f)
{
	return f->p.n ? f->p.docs[f->at] : postings_ahead(&f->p);
}

/* The rarest of all codes has none of its own; its counts are above all others. */
static float code_most(const struct form *f, const struct word *w, uint8_t code)
{
	return code || w->most < 100 * (float)index_weights.body ? f->counts[code] : w->most;
}

static float block_share(
	const struct pass *p, const struct word *w, const struct form *f, struct block_bound b)
{
	return share_of(code_most(f, w, b.code), p->scale->norms[b.shortest]);
}

/* Of the documents in hand. */
static float hand_share(
	const struct pass *p, const struct word *w, const struct form *f, uint32_t end)
{
	const struct postings *l = &f->p;
	float most = 0;
	if (l->next <= l->blocks)
		return l->docs[f->at] < end ? block_share(p, w, f, postings_bound(l, l->next - 1))
					    : 0;
	for (uint32_t i = f->at; i < l->n && l->docs[i] < end; i++)
		most = MAX(most,
			share_of(f->counts[l->codes[i]], p->scale->norms[p->lengths[l->docs[i]]]));
	return most;
}

/* The most that the form can add, as a share of the word's top, to documents before `end`. */
static float form_share(
	const struct pass *p, const struct word *w, const struct form *f, uint32_t end)
{
	const struct postings *l = &f->p;
	float most = 0;
	uint32_t b = l->next;
	if (l->n) {
		most = hand_share(p, w, f, end);
		if (l->docs[l->n - 1] >= end)
			return most;
	}
	for (; b < l->blocks; b++) {
		struct block_bound bound = postings_bound(l, b);
		if (bound.first >= end)
			return most;
		most = MAX(most, block_share(p, w, f, bound));
	}
	return postings_ahead(l) < end && l->ref.df % POSTING_BLOCK
		       ? MAX(most, share_of(w->most, p->scale->norms[0]))
		       : most;
}

/* Whether documents of [start, end) are in hand, from `at` on. */
static bool form_fill(struct form *f, uint32_t start, uint32_t end)
{
	struct postings *p = &f->p;
	for (;;) {
		while (f->at < p->n && p->docs[f->at] < start)
			f->at++;
		if (f->at < p->n)
			return p->docs[f->at] < end;
		f->at = 0;
		p->n = 0;
		if (postings_ahead(p) >= end || !postings_next(p))
			return false;
	}
}

/* --- Adding. --- */

static void touch(uint64_t *stripes, uint32_t at)
{
	*stripes |= (uint64_t)1 << (at / STRIPE);
}

/* From the map and the codes alone. */
static void add_mapped(
	struct window *w, const struct pass *p, struct form *f, float top, const uint32_t range[2])
{
	const float *norms = p->scale->norms, *counts = f->counts;
	const uint8_t *lengths = p->lengths;
	uint64_t touched = w->touched;
	struct mapped m = { .from = range[0], .end = range[1] };
	while (postings_mapped(&f->p, &f->coded, &m)) {
		for (; m.bits; m.bits &= m.bits - 1) {
			const uint32_t doc = m.base + (uint32_t)__builtin_ctzll(m.bits);
			const float tf = counts[*m.codes++];
			w->own[doc - range[0]] += top * tf / (tf + norms[lengths[doc]]);
			touch(&touched, doc - range[0]);
		}
	}
	w->touched = touched;
}

static void count_mapped(struct window *w, struct form *f, const uint32_t range[2])
{
	uint64_t forms = w->forms;
	struct mapped m = { .from = range[0], .end = range[1] };
	while (postings_mapped(&f->p, &f->coded, &m)) {
		for (; m.bits; m.bits &= m.bits - 1) {
			const uint32_t at = m.base + (uint32_t)__builtin_ctzll(m.bits) - range[0];
			w->tf[at] += f->counts[*m.codes++];
			touch(&forms, at);
		}
	}
	w->forms = forms;
}

/* What a map does not give: the documents of lists without one, and the tail. */
static bool has_unmapped(const struct form *f)
{
	return !f->p.map || f->p.next >= f->p.blocks;
}

static void add_form(
	struct window *w, const struct pass *p, struct form *f, float top, const uint32_t range[2])
{
	const float *norms = p->scale->norms, *counts = f->counts;
	const uint8_t *lengths = p->lengths;
	add_mapped(w, p, f, top, range);
	while (has_unmapped(f) && form_fill(f, range[0], range[1])) {
		const uint32_t *docs = f->p.docs, n = f->p.n;
		uint64_t touched = w->touched; /* in a register */
		uint32_t i = f->at;
		for (; i < n && docs[i] < range[1]; i++) {
			const uint32_t at = docs[i] - range[0];
			const float tf = counts[f->p.codes[i]];
			w->own[at] += top * tf / (tf + norms[lengths[docs[i]]]);
			touch(&touched, at);
		}
		w->touched = touched;
		f->at = i;
		if (i < n)
			return;
	}
}

static void count_form(struct window *w, struct form *f, const uint32_t range[2])
{
	count_mapped(w, f, range);
	while (has_unmapped(f) && form_fill(f, range[0], range[1])) {
		const uint32_t *docs = f->p.docs, n = f->p.n;
		const float *counts = f->counts;
		uint64_t forms = w->forms;
		uint32_t i = f->at;
		for (; i < n && docs[i] < range[1]; i++) {
			const uint32_t at = docs[i] - range[0];
			w->tf[at] += counts[f->p.codes[i]];
			touch(&forms, at);
		}
		w->forms = forms;
		f->at = i;
		if (i < n)
			return;
	}
}

static void add_word(
	struct window *w, const struct pass *p, struct word *word, const uint32_t range[2])
{
	if (word->n == 1) {
		add_form(w, p, &word->forms[0], word->top, range);
		return;
	}
	for (size_t i = 0; i < word->n; i++)
		count_form(w, &word->forms[i], range);
	w->touched |= w->forms;
	for (; w->forms; w->forms &= w->forms - 1) {
		const uint32_t first = (uint32_t)__builtin_ctzll(w->forms) * STRIPE;
		/* Without a branch: those that hold no form get 0 or, past the segment's end, nothing real. */
		for (uint32_t at = first; at < first + STRIPE; at++) {
			const float tf = w->tf[at];
			const float share =
				word->top * tf / (tf + p->scale->norms[p->lengths[range[0] + at]]);
			w->own[at] += tf > 0 ? share : 0;
		}
		memset(w->tf + first, 0, STRIPE * sizeof(*w->tf));
	}
}

static void add_pairs(struct window *w, const struct pass *p, const uint32_t range[2])
{
	const float *norms = p->scale->norms;
	for (size_t k = 0; k < p->r->npairs; k++) {
		struct pair_list *l = run_pair_list(p->r, p->view, k);
		const float top = score_pair_top(p, k);
		for (; l->at < l->n && l->docs[l->at] < range[1]; l->at++) {
			const uint32_t at = l->docs[l->at] - range[0];
			const float tf = l->tf[l->at];
			w->pairs[at] += top * tf / (tf + norms[p->lengths[l->docs[l->at]]]);
			touch(&w->touched, at);
		}
	}
}

/* --- Giving. --- */

/* `more`: what may still be added. */
static float base_of(
	const struct pass *p, const struct window *w, uint32_t at, uint32_t slot, float more)
{
	const struct run *r = p->r;
	return r->own_weight * w->own[at] + r->pair_weight * w->pairs[at] +
	       r->session_weight * (slot ? r->session_scores[slot] : 0) + more;
}

/* Four numbers at a time, which every processor can. */
typedef float floats __attribute__((vector_size(16)));
typedef int32_t flags __attribute__((vector_size(16)));

static floats floats_at(const float *p)
{
	floats f;
	memcpy(&f, p, sizeof(f));
	return f;
}

/*
 * Whether all of a stripe miss what they need of words and pairs, without looking at their
 * sessions: those are the window's, at best the best of them. `more` is what may still be added.
 */
static bool stripe_is_low(const struct pass *p, const struct window *w, uint32_t first, float more)
{
	const float own = p->r->own_weight, pair = p->r->pair_weight, missing = p->missing;
	flags reach = { 0 };
	for (uint32_t at = first; at < first + STRIPE; at += 4)
		reach |= floats_at(w->own + at) * own + floats_at(w->pairs + at) * pair + more >=
			 missing;
	return !(reach[0] | reach[1] | reach[2] | reach[3]);
}

void score_give(const struct pass *p, uint32_t doc, float own, float pairs)
{
	struct run *r = p->r;
	const uint32_t slot = p->slots[doc];
	const float session = slot ? r->session_scores[slot] : 0;
	const float base =
		r->own_weight * own + r->pair_weight * pairs + r->session_weight * session;
	if (base * p->prior < r->least || (r->floors && base < r->floors[slot])) {
		r->has_skipped |= base * p->prior < r->least;
		return;
	}
	if (view_is_dead(&r->snap->views[p->view], doc))
		return;
	struct scored s = {
		.view = p->view, .doc = doc, .own = own, .pairs = pairs, .session = session
	};
	p->each(p->ctx, &s);
}

/* Gives what holds a word and reaches the least, unless `is_lost`; the window is empty then. */
static void empty_window(struct window *w, const struct pass *p, uint32_t start, bool is_lost)
{
	for (; w->touched; w->touched &= w->touched - 1) {
		const uint32_t first = (uint32_t)__builtin_ctzll(w->touched) * STRIPE;
		const bool is_low = is_lost || stripe_is_low(p, w, first, 0);
		for (uint32_t at = first; at < first + STRIPE && !is_low; at++)
			if (w->own[at] > 0)
				score_give(p, start + at, w->own[at], w->pairs[at]);
		memset(w->own + first, 0, STRIPE * sizeof(*w->own));
		memset(w->pairs + first, 0, STRIPE * sizeof(*w->pairs));
	}
}

/* Whether a document that was touched can still enter the answer. */
static bool has_hope(const struct window *w, const struct pass *p, uint32_t start, float more)
{
	const struct run *r = p->r;
	for (uint64_t left = w->touched; left; left &= left - 1) {
		const uint32_t first = (uint32_t)__builtin_ctzll(left) * STRIPE;
		const bool is_low = stripe_is_low(p, w, first, more);
		for (uint32_t at = first; at < first + STRIPE && !is_low; at++) {
			if (w->own[at] <= 0 && w->pairs[at] <= 0)
				continue;
			const uint32_t slot = p->slots[start + at];
			const float most = base_of(p, w, at, slot, more);
			if (most * p->prior >= r->least && !(r->floors && most < r->floors[slot]))
				return true;
		}
	}
	return false;
}

/* --- Windows. --- */

/* They lie at whole words of the maps, so that the first may be a shorter one. */
static uint32_t windows_start(const uint32_t range[2])
{
	return range[0] - range[0] % MIN(score_window, 64u);
}

static size_t windows_in(const uint32_t range[2])
{
	return (range[1] - windows_start(range) + score_window - 1) / score_window;
}

static float best_session(const struct pass *p, const uint32_t range[2])
{
	const struct segment *seg = p->r->snap->views[p->view].seg;
	const float *scores = p->r->session_scores;
	uint32_t lo = 0, hi = seg->nruns;
	float best = 0;
	while (hi - lo > 1) { /* the run that holds the first */
		const uint32_t mid = lo + (hi - lo) / 2;
		if (seg->runs[mid].first <= range[0])
			lo = mid;
		else
			hi = mid;
	}
	for (; lo < seg->nruns && seg->runs[lo].first < range[1]; lo++)
		if (seg->runs[lo].slot)
			best = MAX(best, scores[seg->runs[lo].slot]);
	return best;
}

/* The same, found once. */
static float session_of(const struct pass *p, const uint32_t range[2])
{
	float *best = &p->best[p->windows + (range[0] - windows_start(p->range)) / score_window];
	if (*best < 0)
		*best = best_session(p, range);
	return *best;
}

/* Places every list at the window and fills the bounds; returns the least document that any of them can have. */
static uint32_t find_bounds(struct pass *p, const uint32_t range[2])
{
	uint32_t first = UINT32_MAX;
	for (size_t i = p->r->ngroups; i-- > 0;) {
		struct word *w = &p->words[i];
		float share = 0;
		for (size_t k = 0; k < w->n; k++) {
			form_seek(&w->forms[k], range[0]);
			share += form_share(p, w, &w->forms[k], range[1]);
			first = MIN(first, form_ahead(&w->forms[k]));
		}
		p->word_bounds[i] = p->r->own_weight * w->top * MIN(share, 1) * ROUNDED;
		p->bounds[i] = p->bounds[i + 1] + p->word_bounds[i];
	}
	return first;
}

/*
 * How many of the words, in order, a document must be looked for in: one that holds none of them
 * misses the least, whatever else it holds.
 */
static size_t essential_words(const struct pass *p, float missing)
{
	size_t n = p->r->ngroups;
	while (n > 0 && p->bounds[n - 1] < missing)
		n--;
	return n;
}

/* The first pair's document from `doc` on. */
static uint32_t seek_pairs(const struct pass *p, uint32_t doc)
{
	uint32_t first = UINT32_MAX;
	for (size_t i = 0; i < p->r->npairs; i++) {
		struct pair_list *l = run_pair_list(p->r, p->view, i);
		while (l->at < l->n && l->docs[l->at] < doc)
			l->at++;
		if (l->at < l->n)
			first = MIN(first, l->docs[l->at]);
	}
	return first;
}

static void score_words(struct pass *p, struct window *w, const uint32_t range[2], bool has_pair)
{
	const size_t essential = essential_words(p, p->missing);
	size_t i = 0;
	if ((essential == 0 && !has_pair) || score_few(p, range))
		return;
	if (has_pair)
		add_pairs(w, p, range);
	for (; i < essential; i++)
		add_word(w, p, &p->words[i], range);
	for (; i < p->r->ngroups && has_hope(w, p, range[0], p->bounds[i]); i++)
		add_word(w, p, &p->words[i], range);
	empty_window(w, p, range[0], i < p->r->ngroups);
}

/* Returns where to go on. */
static uint32_t score_range(
	struct pass *p, struct window *w, const uint32_t range[2], float session)
{
	struct run *r = p->r;
	const bool is_bounded = r->least > 0;
	p->prior = 1 + (float)prior_most(r->in, r->snap->views[p->view].seg, range[0], range[1]);
	p->missing = is_bounded
			     ? MAX(0, r->least / p->prior - r->session_weight * session) / ROUNDED
			     : 0;
	const uint32_t pair = seek_pairs(p, range[0]);
	r->has_skipped |= p->missing > 0;
	if (p->most < p->missing && pair >= range[1])
		return range[1];
	const uint32_t first = MIN(find_bounds(p, range), pair);
	if (first < range[1])
		score_words(p, w, range, pair < range[1]);
	return MAX(first, range[1]);
}

static bool is_of_part(const struct pass *p, float session)
{
	return p->part == SCORE_ALL || (p->part == SCORE_BEST) == (session >= p->cut);
}

/* Whether the filter leaves any of the documents. */
static bool may_pass(const struct pass *p, const uint32_t range[2])
{
	return filter_may_pass(&p->r->in->filter, p->filter.seg, range[0], range[1]);
}

static void fill_most(struct pass *p)
{
	p->most = 0;
	for (size_t i = 0; i < p->r->ngroups; i++) {
		const struct word *w = &p->words[i];
		if (w->n)
			p->most += p->r->own_weight * w->top *
				   share_of(w->most, p->scale->norms[0]) * ROUNDED;
	}
}

static void score_class(struct pass *p, struct window *w)
{
	for (size_t i = 0; i < p->r->ngroups; i++)
		p->words[i].top = (float)p->r->groups[p->order[i]].idf * (p->scale->k1 + 1);
	fill_most(p);
	const uint32_t base = windows_start(p->range);
	for (uint32_t start = base; start < p->range[1];) {
		const uint32_t range[2] = { MAX(start, p->range[0]),
			MIN(start + score_window, p->range[1]) };
		const float session = session_of(p, range);
		uint32_t next = range[1];
		if (is_of_part(p, session) && may_pass(p, range))
			next = score_range(p, w, range, session);
		if (next >= p->range[1])
			return;
		start = base + (next - base) / score_window * score_window;
	}
}

/* --- Views. --- */

static void order_groups(struct pass *p)
{
	const struct group *groups = p->r->groups;
	for (size_t i = 0; i < p->r->ngroups; i++) {
		size_t k = i;
		for (; k > 0 && groups[p->order[k - 1]].idf < groups[i].idf; k--)
			p->order[k] = p->order[k - 1];
		p->order[k] = i;
	}
}

static void start_words(struct pass *p)
{
	struct run *r = p->r;
	for (size_t i = 0; i < r->ngroups; i++) {
		const struct list *l = run_list(r, p->view, p->order[i]);
		struct word *w = &p->words[i];
		w->n = l->n ? l->nrefs : 0;
		w->most = l->most;
		w->forms = run_room(r, w->n * sizeof(*w->forms));
		for (size_t k = 0; k < w->n; k++) {
			postings_start(
				&w->forms[k].p, r->snap->views[p->view].seg, &l->refs[k].term);
			w->forms[k].at = 0;
			w->forms[k].coded.block = UINT32_MAX;
			w->forms[k].counts = p->counts.of[l->refs[k].is_exact];
		}
	}
	for (size_t k = 0; k < r->npairs; k++)
		run_pair_list(r, p->view, k)->at = 0;
}

static void every_doc(const struct pass *p)
{
	const struct view *v = &p->r->snap->views[p->view];
	for (uint32_t d = p->range[0]; d < p->range[1]; d++) {
		const uint32_t range[2] = { d,
			MIN(d / FILTER_DOCS * FILTER_DOCS + FILTER_DOCS, p->range[1]) };
		for (d = may_pass(p, range) ? d : range[1]; d < range[1]; d++) {
			struct scored s = { .view = p->view, .doc = d };
			if (!view_is_dead(v, d))
				p->each(p->ctx, &s);
		}
		d = range[1] - 1;
	}
}

/* The score of the last of the best sessions. Where sessions rank, more than a page of them. */
static float find_cut(const struct run *r)
{
	float best[BEST_RANKED] = { 0 }; /* the best first */
	const size_t n = r->floors ? BEST_RANKED : BEST_SESSIONS;
	for (uint32_t s = 1; s < r->snap->nslots; s++) {
		const float score = r->session_scores[s];
		size_t k = n - 1;
		if (score <= best[k])
			continue;
		for (; k > 0 && best[k - 1] < score; k--)
			best[k] = best[k - 1];
		best[k] = score;
	}
	return best[n - 1];
}

/* What the first part found out about windows serves the second. */
static void start_windows(struct pass *p)
{
	struct run *r = p->r;
	size_t n = 0;
	for (size_t v = 0; v < r->snap->n; v++)
		for (int c = 0; c < CLASS_COUNT; c++)
			n += windows_in(&r->snap->views[v].seg->t.class_start[c]);
	if (!r->best_sessions || p->part != SCORE_REST) {
		r->best_sessions = run_room(r, (n + 1) * sizeof(float));
		for (size_t i = 0; i < n; i++)
			r->best_sessions[i] = -1;
	}
	p->best = r->best_sessions;
}

bool score_is_parted(const struct run *r)
{
	uint64_t postings = 0;
	for (size_t g = 0; g < r->ngroups; g++)
		postings += r->groups[g].df;
	return postings >= score_parted;
}

void score_docs(struct run *r, uint32_t classes, enum score_part part, scored_fn *each, void *ctx)
{
	struct window *w = ARENA_NEW(r->scratch, struct window);
	struct pass *p = ARENA_NEW(r->scratch, struct pass);
	struct scale scales[CLASS_COUNT];
	*p = (struct pass){ .r = r, .each = each, .ctx = ctx, .part = part };
	p->cut = part == SCORE_ALL ? 0 : find_cut(r);
	start_windows(p);
	code_weights_fill(&p->counts);
	for (int c = 0; c < CLASS_COUNT; c++)
		fill_scale(r, c, &scales[c]);
	order_groups(p);
	for (p->view = 0; p->view < r->snap->n; p->view++) {
		const struct segment *seg = r->snap->views[p->view].seg;
		p->slots = seg->slots;
		p->lengths = seg->lengths;
		filter_start(&p->filter, &r->in->filter, seg);
		start_words(p);
		for (int c = 0; c < CLASS_COUNT; c++) {
			p->range[0] = seg->t.class_start[c];
			p->range[1] = seg->t.class_start[c + 1];
			p->scale = &scales[c];
			if (!(classes >> c & 1) || p->range[0] == p->range[1])
				continue;
			if (r->ngroups)
				score_class(p, w);
			else
				every_doc(p);
			p->windows += windows_in(p->range);
		}
	}
}

/* A word of the maps of all words. */
static uint64_t word_of_any(const struct run *r, size_t view, size_t word)
{
	uint64_t bits = 0;
	for (size_t g = 0; g < r->ngroups; g++) {
		const struct list *l = run_list(r, view, g);
		bits |= l->map ? l->map[word] : 0;
	}
	return bits;
}

void score_count(struct run *r, uint32_t classes, scored_fn *each, void *ctx)
{
	for (size_t v = 0; v < r->snap->n; v++) {
		const struct view *view = &r->snap->views[v];
		for (size_t i = 0, words = view_map_words(view); i < words; i++)
			for (uint64_t bits = word_of_any(r, v, i); bits; bits &= bits - 1) {
				struct scored s = { .view = v,
					.doc = (uint32_t)i * 64 + (uint32_t)__builtin_ctzll(bits) };
				if (classes >> segment_class(view->seg, s.doc) & 1)
					each(ctx, &s);
			}
	}
}
