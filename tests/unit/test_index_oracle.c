/*
 * The index against a brute-force twin that knows nothing of segments: same documents, same scores,
 * whatever was put, removed, flushed and merged in whatever order.
 */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/dates.h"
#include "index/format.h"
#include "index/query_parts.h"
#include "index/score.h"
#include "index/session_list.h"
#include "index/weights.h"
#include "model/names.h"

#define DOCS_MAX 300
#define ENTRIES_MAX 200
#define PLACES_MAX 64
#define SESSIONS 12
#define HITS_MAX 400

struct entry {
	char stem[80], word[80];
	unsigned by_field[FIELD_COUNT], npositions;
	uint32_t positions[PLACES_MAX];
};

struct twin_doc {
	bool is_alive;
	struct doc_columns columns;
	struct entry entries[ENTRIES_MAX];
	size_t nentries;
	uint32_t words, base, last;
	/* While it is analysed. */
	enum field field;
	char word[80], stem[80];
	bool has_word;
	uint32_t position;
};

static struct twin_doc *twins; /* by row, per class */
static struct analyser *an;
static bool is_in_order; /* documents' columns are those of their neighbours */
static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static void add_entry(struct twin_doc *d, const char *stem, const char *word, int64_t position)
{
	size_t i = 0;
	while (i < d->nentries &&
		(strcmp(d->entries[i].stem, stem) || strcmp(d->entries[i].word, word)))
		i++;
	assert_true(i < ENTRIES_MAX);
	struct entry *e = &d->entries[i];
	if (i == d->nentries) {
		*e = (struct entry){ 0 };
		strcpy(e->stem, stem);
		strcpy(e->word, word);
		d->nentries++;
	}
	e->by_field[d->field]++;
	if (position >= 0) {
		assert_true(e->npositions < PLACES_MAX);
		e->positions[e->npositions++] = (uint32_t)position;
	}
}

static void finish_word(struct twin_doc *d)
{
	if (!d->has_word)
		return;
	d->has_word = false;
	bool is_stop = term_is_stop_word(d->word, strlen(d->word));
	add_entry(d, d->stem[0] ? d->stem : d->word, d->word,
		is_stop ? -1 : (int64_t)d->base + d->position);
	if (!is_stop) {
		d->words++;
		d->last = MAX(d->last, d->base + d->position);
	}
}

static void take(void *ctx, const struct term *t)
{
	struct twin_doc *d = ctx;
	char text[80];
	snprintf(text, sizeof(text), "%.*s", t->len, t->text);
	if (t->form == TERM_STEM) {
		strcpy(d->stem, text);
		return;
	}
	finish_word(d);
	if (t->form == TERM_WHOLE) {
		char marked[80];
		snprintf(marked, sizeof(marked), "%c%.70s", WHOLE_MARK, text);
		add_entry(d, marked, marked, -1);
		return;
	}
	strcpy(d->word, text);
	d->stem[0] = '\0';
	d->has_word = true;
	d->position = t->position;
}

static void twin_put(const struct doc *doc)
{
	struct twin_doc *d =
		&twins[(unsigned)DOC_CLASS(doc->id) * DOCS_MAX + (unsigned)DOC_ROW(doc->id)];
	char date[DATE_WORDS_MAX];
	const struct str fields[] = { doc->title, doc->body, doc->rest,
		date_words(doc->columns.at, date) };
	*d = (struct twin_doc){ .is_alive = true, .columns = doc->columns };
	uint32_t words = 0;
	for (int f = 0; f <= FIELD_COUNT; f++) {
		if (fields[f].n == 0)
			continue;
		words = d->words;
		d->field = (enum field)MIN(f, FIELD_COUNT - 1);
		analyser_run_as(an, fields[f], text_language(doc->body.n ? doc->body : doc->title),
			take, d);
		finish_word(d);
		if (d->last + POSITION_GAP > d->base)
			d->base = d->last + POSITION_GAP;
		if (f == FIELD_COUNT)
			d->words = words;
	}
}

static bool is_alive(int i)
{
	return twins[i].is_alive;
}

static double code_weight(const struct entry *e)
{
	bool is_stop = e->word[0] != WHOLE_MARK &&
		       term_is_stop_word(e->word, strlen(e->word)); /* only their presence counts */
	const struct code_info *c =
		&code_table()[is_stop ? 0
				      : code_of(e->by_field[0], e->by_field[1], e->by_field[2])];
	return c->title * index_weights.title + c->body * index_weights.body +
	       c->rest * index_weights.rest;
}

/* 0: no match, 1: another form, 2: the word itself. */
static int entry_matches(const struct entry *e, const struct query_word *w)
{
	if (e->word[0] == WHOLE_MARK)
		return !w->is_part && str_is(w->word, e->word + 1) ? 2 : 0;
	for (size_t i = 0; i < w->nstems && !w->is_whole; i++)
		if (str_is(w->stems[i], e->stem))
			return str_is(w->word, e->word) ? 2 : 1;
	return 0;
}

static double group_tf(const struct twin_doc *d, const struct query_word *w, bool *ret_exact,
	uint32_t *positions, size_t *ret_n)
{
	double tf = 0;
	*ret_exact = false;
	*ret_n = 0;
	for (size_t i = 0; i < d->nentries; i++) {
		int m = entry_matches(&d->entries[i], w);
		if (!m)
			continue;
		tf += code_weight(&d->entries[i]) * (m == 2 ? 1 : index_weights.form);
		*ret_exact |= m == 2;
		for (unsigned k = 0; k < d->entries[i].npositions; k++)
			positions[(*ret_n)++] = d->entries[i].positions[k];
	}
	return tf;
}

static int near_count(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
	int n = 0;
	for (size_t i = 0; i < na; i++) {
		bool is_near = false;
		for (size_t k = 0; k < nb; k++)
			is_near |=
				(uint32_t)abs((int)a[i] - (int)b[k]) <= index_weights.pair_window;
		n += is_near;
	}
	return n;
}

static bool has_phrase(
	const struct twin_doc *d, const struct query *q, const struct query_phrase *p)
{
	for (uint32_t start = 0; start < 400; start++) {
		bool ok = true;
		for (size_t i = p->first; ok && i < p->first + p->n; i++) {
			const struct query_word *w = &q->words[q->phrase_words[i].word];
			bool is_here = false;
			for (size_t e = 0; e < d->nentries; e++) {
				if (d->entries[e].word[0] == WHOLE_MARK ||
					entry_matches(&d->entries[e], w) != 2)
					continue;
				is_here |= w->is_stop;
				for (unsigned k = 0; k < d->entries[e].npositions; k++)
					is_here |= d->entries[e].positions[k] ==
						   start + q->phrase_words[i].offset;
			}
			ok &= is_here;
		}
		if (ok)
			return true;
	}
	return false;
}

static bool passes(const struct twin_doc *d, int class, const struct search *s)
{
	const struct search_filter *f = &s->filter;
	const struct doc_columns *c = &d->columns;
	if (f->classes && !(f->classes >> class & 1))
		return false;
	if (class == DOC_MEMORY) {
		if (!((f->statuses ? f->statuses : 1u) >> c->status & 1) ||
			(f->memory_kinds && !(f->memory_kinds >> c->kind & 1)) ||
			(f->types && !(f->types >> c->type & 1)))
			return false;
	} else if (f->types || (f->memory_kinds && !f->event_kinds) ||
		   (f->event_kinds && (class != DOC_EVENT || !(f->event_kinds >> c->kind & 1)))) {
		return false;
	}
	/* A chunk of no project is there for all of them. */
	bool is_for_all = !c->project && class == DOC_MEMORY && c->kind == KIND_CHUNK;
	if ((f->project && c->project != f->project && !is_for_all) || (f->session && c->session != f->session) ||
		(f->branch && c->branch != f->branch) ||
		(f->agents && !(f->agents >> c->agent & 1)))
		return false;
	if ((f->after && c->at < f->after) || (f->before && c->at >= f->before))
		return false;
	for (size_t i = 0; i < s->query->nphrases; i++)
		if (has_phrase(d, s->query, &s->query->phrases[i]) ==
			s->query->phrases[i].is_excluded)
			return false;
	return true;
}

static double idf(double n, double df)
{
	return log(1 + (n - df + 0.5) / (df + 0.5));
}

struct twin_hit {
	doc_id id;
	double score, at;
	uint32_t session;
};

#define GROUPS 64
#define PAIRS 256
struct twin_run {
	const struct query_word *words[GROUPS];
	size_t ngroups, npairs;
	int pairs[PAIRS][2];
	double *tf; /* [doc][group], then [doc][pair] */
	bool *exact;
	double session_score[SESSIONS + 1];
};

static double bm25(double i, double tf, double k1, double b, double len, double average)
{
	return tf > 0 ? i * (k1 + 1) * tf / (tf + k1 * (1 - b + b * len / MAX(average, 1.0))) : 0;
}

static bool counts_for_session(const struct twin_doc *d)
{
	return d->columns.session && !(d->columns.flags & DOC_META);
}

static double doc_length(const struct twin_doc *d)
{
	return length_of(length_code(d->words));
}

/* What an occurrence in a document of that class counts for its session. */
static double session_share(int class)
{
	return class == DOC_MEMORY    ? index_weights.session_memory
	       : class == DOC_SESSION ? index_weights.session_title
				      : 1;
}

/* Pairs that the fewest documents can hold first, as long as the reads allow. */
static void twin_keep_affordable(struct twin_run *r, const struct query *q)
{
	unsigned both[PAIRS] = { 0 }, reads = 0;
	size_t n = 0;
	for (size_t p = 0; p < r->npairs; p++)
		for (int d = 0; d < 3 * DOCS_MAX; d++) {
			uint32_t positions[ENTRIES_MAX * PLACES_MAX];
			size_t unused;
			bool is_exact;
			both[p] += is_alive(d) &&
				   group_tf(&twins[d], r->words[r->pairs[p][0]], &is_exact,
					   positions, &unused) > 0 &&
				   group_tf(&twins[d], r->words[r->pairs[p][1]], &is_exact,
					   positions, &unused) > 0;
		}
	for (size_t i = 1; i < r->npairs;
		i++) /* stable, as pairs are in the order of their words */
		for (size_t k = i; k > 0 && both[k - 1] > both[k]; k--) {
			unsigned t = both[k];
			int a = r->pairs[k][0], b = r->pairs[k][1];
			both[k] = both[k - 1];
			both[k - 1] = t;
			memcpy(r->pairs[k], r->pairs[k - 1], sizeof(r->pairs[k]));
			r->pairs[k - 1][0] = a;
			r->pairs[k - 1][1] = b;
		}
	while (n < r->npairs && reads + both[n] <= index_weights.pair_reads)
		reads += both[n++];
	r->npairs = n;
}

static void twin_prepare(struct twin_run *r, const struct query *q)
{
	for (size_t i = 0; i < q->nwords; i++)
		if (q->words[i].is_scored)
			r->words[r->ngroups++] = &q->words[i];
	for (size_t a = 0; a < r->ngroups; a++)
		for (size_t b = a + 1; b < r->ngroups; b++) {
			unsigned apart = 0;
			for (size_t g = a; g < b; g++)
				apart += !r->words[g]->is_whole;
			if (apart <= index_weights.pair_apart && !r->words[a]->is_whole &&
				!r->words[b]->is_whole) {
				r->pairs[r->npairs][0] = (int)a;
				r->pairs[r->npairs++][1] = (int)b;
			}
		}
	twin_keep_affordable(r, q);
	size_t width = r->ngroups + r->npairs;
	r->tf = mem_alloc((3 * DOCS_MAX * width + 1) * sizeof(*r->tf));
	r->exact = mem_alloc(3 * DOCS_MAX * width + 1);
	for (int d = 0; d < 3 * DOCS_MAX; d++) {
		uint32_t positions[GROUPS][ENTRIES_MAX * 8];
		size_t n[GROUPS];
		if (!is_alive(d))
			continue;
		for (size_t g = 0; g < r->ngroups; g++)
			r->tf[(size_t)d * width + g] = group_tf(&twins[d], r->words[g],
				&r->exact[(size_t)d * width + g], positions[g], &n[g]);
		for (size_t p = 0; p < r->npairs; p++)
			r->tf[(size_t)d * width + r->ngroups + p] =
				near_count(positions[r->pairs[p][0]], n[r->pairs[p][0]],
					positions[r->pairs[p][1]], n[r->pairs[p][1]]);
	}
}

static void twin_sessions(struct twin_run *r)
{
	size_t width = r->ngroups + r->npairs;
	double words[SESSIONS + 1] = { 0 }, total = 0, sessions = 0;
	bool is_there[SESSIONS + 1] = { 0 };
	for (int d = 0; d < 3 * DOCS_MAX; d++)
		if (is_alive(d) && counts_for_session(&twins[d])) {
			double length = doc_length(&twins[d]);
			length *= d / DOCS_MAX == DOC_MEMORY ? index_weights.session_memory : 1;
			words[twins[d].columns.session] += length;
			total += length;
			is_there[twins[d].columns.session] = true;
		}
	for (int s = 0; s <= SESSIONS; s++)
		sessions += is_there[s];
	for (size_t t = 0; t < width; t++) {
		double tf[SESSIONS + 1] = { 0 }, df = 0;
		for (int d = 0; d < 3 * DOCS_MAX; d++)
			if (is_alive(d) && counts_for_session(&twins[d]))
				tf[twins[d].columns.session] += session_share(d / DOCS_MAX) *
								r->tf[(size_t)d * width + t];
		for (int s = 1; s <= SESSIONS; s++)
			df += tf[s] > 0;
		for (int s = 1; s <= SESSIONS; s++)
			r->session_score[s] +=
				(t < r->ngroups ? 1 : index_weights.session_pair) *
				bm25(idf(sessions, df), tf[s], index_weights.session_k1,
					index_weights.session_b, words[s],
					sessions ? total / sessions : 1);
	}
}

static int compare_hits(const void *x, const void *y)
{
	const struct twin_hit *a = x, *b = y;
	if (fabs(a->score - b->score) > 0)
		return a->score > b->score ? -1 : 1;
	return a->id > b->id ? -1 : a->id < b->id;
}

static double prior_share(const struct twin_doc *d, int class, int64_t now)
{
	const struct weights *w = &index_weights;
	double share = (d->columns.flags & DOC_PINNED ? w->pinned : 0) +
		       (d->columns.flags & DOC_META ? w->meta : 0) +
		       (d->columns.flags & DOC_SUSPECT ? w->suspect : 0);
	if (now)
		share += w->recency * pow(2, -MAX(0.0, (double)(now - d->columns.at)) / 86400000.0 /
						      w->recency_days);
	if (class == DOC_MEMORY)
		share += w->kinds[d->columns.kind] + w->confidence * d->columns.confidence / 255.0;
	return share;
}

static size_t twin_search(const struct search *s, struct twin_hit *hits, enum match_rung *ret_match)
{
	struct twin_run r = { 0 };
	double n = 0, class_n[3] = { 0 }, class_words[3] = { 0 }, df[GROUPS + PAIRS] = { 0 };
	size_t nhits = 0;
	twin_prepare(&r, s->query);
	size_t width = r.ngroups + r.npairs;
	twin_sessions(&r);
	for (int d = 0; d < 3 * DOCS_MAX; d++)
		if (is_alive(d)) {
			n++;
			class_n[d / DOCS_MAX]++;
			class_words[d / DOCS_MAX] += doc_length(&twins[d]);
			for (size_t t = 0; t < width; t++)
				df[t] += r.tf[(size_t)d * width + t] > 0;
		}
	*ret_match = MATCH_NONE;
	for (int d = 0; d < 3 * DOCS_MAX; d++) {
		int class = d / DOCS_MAX;
		const struct weights *w = &index_weights;
		double own = 0, pairs = 0;
		bool has_any = r.ngroups == 0, has_all = true, has_exact = true;
		if (!is_alive(d))
			continue;
		for (size_t t = 0; t < width; t++) {
			double tf = r.tf[(size_t)d * width + t];
			double x = bm25(idf(n, df[t]), tf, w->k1, w->b, doc_length(&twins[d]),
				class_n[class] ? class_words[class] / class_n[class] : 1);
			*(t < r.ngroups ? &own : &pairs) += t < r.ngroups ? x : w->pair * x;
			if (t >= r.ngroups)
				continue;
			has_any |= tf > 0;
			has_all &= tf > 0 || r.words[t]->is_whole;
			has_exact &= r.exact[(size_t)d * width + t] || r.words[t]->is_whole;
		}
		if (!has_any || !passes(&twins[d], class, s))
			continue;
		bool in_session = counts_for_session(&twins[d]);
		if (s->by_session && !in_session)
			continue;
		enum match_rung rung = r.ngroups == 0 || has_exact ? MATCH_EXACT
				       : has_all                   ? MATCH_STEM
								   : MATCH_NEAREST;
		*ret_match = *ret_match == MATCH_NONE ? rung : MIN(*ret_match, rung);
		double session = in_session ? r.session_score[twins[d].columns.session] : 0;
		double base = s->by_session ? w->best * own + session
					    : own + pairs + w->session * session;
		struct twin_hit h = { DOC_ID(class, d % DOCS_MAX),
			base * (1 + prior_share(&twins[d], class, s->now)),
			(double)twins[d].columns.at, twins[d].columns.session };
		if (r.ngroups == 0)
			h.score = h.at;
		hits[nhits++] = h;
	}
	qsort(hits, nhits, sizeof(*hits), compare_hits);
	if (s->by_session) {
		size_t kept = 0;
		bool seen[SESSIONS + 1] = { 0 };
		for (size_t i = 0; i < nhits; i++)
			if (!seen[hits[i].session]) {
				seen[hits[i].session] = true;
				hits[kept++] = hits[i];
			}
		nhits = kept;
	}
	free(r.tf);
	free(r.exact);
	return nhits;
}

static const char *const vocabulary[] = {
	"parser",
	"parse",
	"parsing",
	"test",
	"tests",
	"cache",
	"caching",
	"token",
	"tokens",
	"the",
	"of",
	"and",
	"getUserName",
	"user_name",
	"src/lex/item.c",
	"item.c",
	"connexion",
	"erreur",
	"la",
	"les",
	"une",
	"migration",
	"migrations",
	"数据库",
	"C++",
	"utf8",
	"flaky",
	"fix",
	"fixed",
	"rotate",
	"rotation",
	"1.2.3",
	"session",
	"sessions",
	"index",
	"store",
	"queue",
	"worker",
	"retry",
	"timeout",
	"socket",
	"daemon",
	"hook",
	"spool",
	"utilisée",
	"utilise",
	"étude",
	"build",
	"is",
	"when",
};

static void make_text(char *out, size_t words)
{
	out[0] = '\0';
	for (size_t i = 0; i < words; i++) {
		uint32_t r = rnd((uint32_t)ARRAY_LEN(vocabulary));
		strcat(out, vocabulary[rnd(2) ? r : r / 4]);
		strcat(out, rnd(9) ? " " : ". ");
	}
}

/* As in a real store: neighbours are alike, so that a filter leaves whole stretches out. */
static void put_in_order(struct doc *d)
{
	const uint32_t row = (uint32_t)DOC_ROW(d->id), kinds = DOC_CLASS(d->id) == DOC_MEMORY
								      ? MEMORY_KIND_COUNT
								      : EVENT_KIND_COUNT;
	d->columns.at = 1 + (int64_t)row / 3 * 86400000;
	d->columns.project = row * 4 / DOCS_MAX;
	d->columns.session = row * (SESSIONS + 1) / DOCS_MAX;
	d->columns.kind = (uint8_t)(row * kinds / DOCS_MAX);
	d->columns.type = (uint8_t)(row * MEMORY_TYPE_COUNT / DOCS_MAX);
	d->columns.status = (uint8_t)(row * MEMORY_STATUS_COUNT / DOCS_MAX / 2);
	d->columns.agent = (uint8_t)(row * 3 / DOCS_MAX);
	d->columns.branch = row < DOCS_MAX / 2 ? 0 : 0x80000000u + row * 4 / DOCS_MAX - 2;
}

static void put_some(struct index *ix, size_t n)
{
	static char texts[40][3][4000];
	struct doc docs[40];
	for (size_t i = 0; i < n; i++) {
		unsigned class = rnd(3);
		make_text(texts[i][0], rnd(6));
		make_text(texts[i][1], rnd(4) ? rnd(40) : rnd(120));
		make_text(texts[i][2], rnd(5));
		docs[i] = (struct doc){
			.id = DOC_ID(class, 1 + rnd(DOCS_MAX - 1)),
			.columns = { .at = 1 + (int64_t)rnd(100) * 86400000,
				.project = rnd(4),
				.session = rnd(SESSIONS + 1),
				.kind = (uint8_t)(class == DOC_MEMORY ? rnd(MEMORY_KIND_COUNT)
								      : rnd(EVENT_KIND_COUNT)),
				.type = (uint8_t)rnd(MEMORY_TYPE_COUNT),
				.status = rnd(5) ? 0 : (uint8_t)rnd(MEMORY_STATUS_COUNT),
				.origin = (uint8_t)rnd(4),
				.agent = (uint8_t)rnd(3),
				.confidence = (uint8_t)rnd(256),
				.flags = (uint8_t)(rnd(6) ? 0 : 1 + rnd(7)),
				.branch = rnd(3) ? 0 : 0x80000000u + rnd(2) },
			.title = str_of(texts[i][0]),
			.body = str_of(texts[i][1]),
			.rest = str_of(texts[i][2]),
		};
		if (is_in_order)
			put_in_order(&docs[i]);
	}
	struct err err;
	assert_int_equal(index_put(ix, docs, n, &err), 0);
	for (size_t i = 0; i < n; i++)
		twin_put(&docs[i]);
}

static void remove_some(struct index *ix, size_t n)
{
	doc_id ids[40];
	for (size_t i = 0; i < n; i++) {
		unsigned class = rnd(3), row = 1 + rnd(DOCS_MAX - 1);
		ids[i] = DOC_ID(class, row);
		twins[class * DOCS_MAX + row].is_alive = false;
	}
	assert_int_equal(index_remove(ix, ids, n, NULL), 0);
}

static void make_query(char *out)
{
	static const char *const extra[] = { "\"parser test\" ", "-cache ", "\"the cache\" ",
		"file:item.c ", "-\"flaky test\" ", "\"index store\" ", "\"is the\" " };
	make_text(out, rnd(8));
	if (rnd(3) == 0)
		strcat(out, extra[rnd(ARRAY_LEN(extra))]);
}

static void make_filter(struct search_filter *f)
{
	*f = (struct search_filter){ 0 };
	if (rnd(2))
		return;
	f->classes = rnd(3) ? 0 : rnd(8);
	f->project = rnd(3) ? 0 : rnd(4);
	f->session = rnd(5) ? 0 : rnd(SESSIONS);
	f->memory_kinds = rnd(5) ? 0 : rnd(64);
	f->event_kinds = rnd(5) ? 0 : rnd(64);
	f->types = rnd(6) ? 0 : rnd(1u << 18);
	f->statuses = rnd(4) ? 0 : rnd(16);
	f->agents = rnd(5) ? 0 : rnd(8);
	f->after = rnd(5) ? 0 : (int64_t)rnd(100) * 86400000;
	f->before = rnd(5) ? 0 : (int64_t)rnd(100) * 86400000;
	f->branch = rnd(6) ? 0 : 0x80000000u + rnd(2);
}

/* Order among scores that differ by rounding only is free. */
static void compare(const struct search_result *r, const struct search *s,
	const struct twin_hit *hits, size_t n, const char *text)
{
	size_t expected = n > s->offset ? MIN(s->limit, n - s->offset) : 0;
	if (r->n != expected || (r->total_is_exact ? r->total != n : r->total > n))
		fail_msg("%zu hits of %llu for '%s', should be %zu of %zu", r->n,
			(unsigned long long)r->total, text, expected, n);
	for (size_t i = 0; i < r->n; i++) {
		const struct twin_hit *want = &hits[s->offset + i];
		bool is_newest = query_is_empty(s->query);
		double score = is_newest ? (double)r->hits[i].columns.at : r->hits[i].score;
		if (fabs(score - want->score) > 1e-4 * MAX(1.0, fabs(want->score)))
			fail_msg("hit %zu for '%s' has score %f (own %f, session %f, pairs %f, "
				 "prior %f), should have %f",
				i, text, score, r->hits[i].own, r->hits[i].session,
				r->hits[i].pairs, r->hits[i].prior, want->score);
		bool is_there = r->hits[i].id == want->id;
		for (size_t k = 0; k < n && !is_there; k++)
			is_there = hits[k].id == r->hits[i].id &&
				   fabs(hits[k].score - score) <= 1e-4 * MAX(1.0, fabs(score));
		assert_true(is_there);
	}
}

static void check_query(struct index *ix)
{
	static struct twin_hit hits[3 * DOCS_MAX];
	char text[1000];
	AUTO(arena_done) struct arena a = { 0 };
	struct search_result r;
	enum match_rung match;
	make_query(text);
	struct search s = { .query = query_parse(&a, an, str_of(text), NULL),
		.limit = rnd(4) ? 1 + rnd(10) : rnd(HITS_MAX),
		.offset = rnd(4) ? 0 : rnd(30),
		.wants_total = rnd(2),
		.by_session = rnd(4) == 0,
		.now = rnd(2) ? 0 : (int64_t)100 * 86400000 };
	make_filter(&s.filter);
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	if (r.match == MATCH_SPELLING)
		return;
	size_t n = twin_search(&s, hits, &match);
	compare(&r, &s, hits, n, text);
	assert_int_equal(r.match, match);
}

static void check_stats(struct index *ix)
{
	struct index_stats st;
	uint64_t alive = 0;
	index_stats(ix, &st);
	for (int d = 0; d < 3 * DOCS_MAX; d++)
		alive += is_alive(d);
	assert_int_equal(st.docs, alive);
}

static void run(uint32_t first_seed, const char *dir)
{
	struct index *ix;
	bool needs_rebuild;
	struct err err;
	seed = first_seed;
	memset(twins, 0, 3 * DOCS_MAX * sizeof(*twins));
	file_remove_tree(dir, NULL);
	assert_int_equal(index_open(dir, &ix, &needs_rebuild, &err), 0);
	assert_true(needs_rebuild);
	for (int step = 0; step < 60; step++) {
		switch (rnd(8)) {
		case 0:
			assert_int_equal(index_flush(ix, false, &err), 0);
			break;
		case 1:
			remove_some(ix, 1 + rnd(20));
			break;
		case 2:
			if (rnd(3) == 0)
				assert_int_equal(index_flush(ix, true, &err), 0);
			break;
		case 3:
			index_set_seq(ix, (uint64_t)step + 1);
			assert_int_equal(index_flush(ix, false, &err), 0);
			index_close(ix);
			assert_int_equal(index_open(dir, &ix, &needs_rebuild, &err), 0);
			assert_false(needs_rebuild);
			assert_int_equal(index_seq(ix), step + 1);
			break;
		default:
			put_some(ix, 1 + rnd(rnd(3) ? 3 : 40));
			break;
		}
		check_stats(ix);
		for (int i = 0; i < 6; i++)
			check_query(ix);
	}
	index_close(ix);
	file_remove_tree(dir, NULL);
}

static void index_and_brute_force_agree(void **state)
{
	char dir[] = "/tmp/remanence-index-XXXXXX";
	const char *rounds = getenv("ORACLE_ROUNDS");
	assert_non_null(mkdtemp(dir));
	an = analyser_new();
	twins = mem_alloc(3 * DOCS_MAX * sizeof(*twins));
	static const uint32_t windows[] = { 16, 64, 512 }; /* small ones, so that some are passed over */
	score_parted = 20;
	session_list_min = 128;
	session_list_share = 1;
	index_weights.session_memory = 0.5;
	index_weights.session_title = 2;
	for (uint32_t i = 1; i <= (rounds ? (uint32_t)atoi(rounds) : 6); i++) {
		score_window = windows[i % ARRAY_LEN(windows)];
		is_in_order = i % 2;
		run(i * 2654435761u, dir);
	}
	free(twins);
	analyser_free(an);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(index_and_brute_force_agree) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
