#include "ops/service.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "index/vectors.h"
#include "ops/find.h"
#include "ops/meaning.h"
#include "ops/question.h"
#include "ops/rarity.h"
#include "ops/searched.h"
#include "ops/similarity.h"
#include "store/query_chunk.h"

#define CANDIDATES_MIN 50  /* the index orders them; how similar they are decides */
#define CANDIDATES_TIMES 4 /* of the limit */
#define PAGE 128
#define LOOKED_AT_MAX 4096 /* chunks of all namespaces, for those of one */
#define NAMES_SHOWN 10
#define FIRST_SECTION "Introduction"
#define ISO_SECONDS 19 /* "2026-01-27T20:30:00" */

int service_health(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	(void)err;
	jw_object(out, NULL);
	jw_str(out, "status", "ok");
	jw_bool(out, "ollama", v && v->has_ollama && v->has_ollama(v->daemon));
	jw_end(out, '}');
	return 0;
}

int service_stats(struct op_call *call, struct jw *out, struct err *err)
{
	struct source_totals t;

	if (query_source_totals(call->store, &t, err))
		return -1;
	jw_object(out, NULL);
	jw_int(out, "total_chunks", t.chunks);
	jw_int(out, "total_files", t.files);
	if (t.synced_at)
		jw_printf(out, "last_sync", "%.*sZ", ISO_SECONDS,
			clock_iso(call->arena, t.synced_at));
	else
		jw_null(out, "last_sync");
	jw_end(out, '}');
	return 0;
}

/* --- What was asked for. --- */

struct wanted {
	const char *query, *namespace; /* namespace NULL: all */
	size_t limit;
	double threshold;
};

/* A value that has the wrong type, as it was sent. */
static int refuse(const char *name, const json *value, const char *takes, struct err *err)
{
	AUTO(buf_done) struct buf shown = { 0 };

	json_print(value, &shown);
	return err_set(err, ERR_USAGE, "%s is %.80s, but takes %s", name, buf_cstr(&shown), takes);
}

/* NULL when it is absent or null. */
static int text_read(const json *params, const char *name, const char **ret, struct err *err)
{
	const json *value = json_get(params, name);

	*ret = NULL;
	if (json_type(value) == JSON_NULL)
		return 0;
	*ret = json_value_str(value);
	return *ret ? 0 : refuse(name, value, "a text", err);
}

/* A number, or a text that is one. */
static int number_read(
	const json *params, const char *name, const char *takes, double *io, struct err *err)
{
	const json *value = json_get(params, name);
	double number;

	if (json_type(value) == JSON_NULL)
		return 0;
	if (json_type(value) == JSON_INT || json_type(value) == JSON_REAL)
		number = json_real(params, name, NAN);
	else if (!json_value_str(value) || !str_to_double(json_value_str(value), &number))
		number = NAN;
	if (!isfinite(number))
		return refuse(name, value, takes, err);
	*io = number;
	return 0;
}

static int numbers_read(const json *params, struct wanted *ret, struct err *err)
{
	static const char takes_limit[] = "a whole number from 1 to 100";
	static const char takes_threshold[] = "a number from 0 to 1";
	double limit = SERVICE_LIMIT;

	ret->threshold = SERVICE_THRESHOLD;
	if (number_read(params, "limit", takes_limit, &limit, err) ||
		number_read(params, "threshold", takes_threshold, &ret->threshold, err))
		return -1;
	if (limit < 1 || limit > SERVICE_LIMIT_MAX || limit != floor(limit))
		return refuse("limit", json_get(params, "limit"), takes_limit, err);
	if (ret->threshold < 0 || ret->threshold > 1)
		return refuse("threshold", json_get(params, "threshold"), takes_threshold, err);
	ret->limit = (size_t)limit;
	return 0;
}

static int namespace_check(struct op_call *call, const char *name, struct err *err)
{
	AUTO(buf_done) struct buf known = { .max = ERR_TEXT_MAX / 2 };
	const char **names;
	size_t n;

	if (query_namespaces(call->store, call->arena, &names, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return 0;
		if (i < NAMES_SHOWN)
			buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
	}
	return err_set(err, ERR_NOT_FOUND, "there is no namespace '%.100s'%s%s", name,
		n ? "; there is " : ", since no folder is indexed", buf_cstr(&known));
}

static int wanted_read(struct op_call *call, struct wanted *ret, struct err *err)
{
	if (text_read(call->params, "query", &ret->query, err) ||
		text_read(call->params, "namespace", &ret->namespace, err))
		return -1;
	if (!ret->query || !str_trim(str_of(ret->query)).n)
		return err_set(err, ERR_USAGE, "Query cannot be empty");
	if (strlen(ret->query) > SERVICE_QUERY_MAX)
		return err_set(err, ERR_TOO_LARGE, "the query is longer than %u KB",
			SERVICE_QUERY_MAX >> 10);
	if (numbers_read(call->params, ret, err))
		return -1;
	if (ret->namespace && !*ret->namespace)
		ret->namespace = NULL;
	return ret->namespace ? namespace_check(call, ret->namespace, err) : 0;
}

/* --- What is found. --- */

struct candidate {
	const struct memory *memory;
	struct chunk_place place;
	double cosine; /* of the vectors; 0: not known */
	double similarity;
	size_t rank; /* by the index */
};

struct candidates {
	struct op_call *call;
	struct lookup l;
	struct question question;
	struct candidate *list;
	size_t n, cap, max;
	const char *text; /* the question */
	struct similarity scale;
	bool has_scale;
};

static const struct search_filter all_chunks = {
	.classes = 1u << DOC_MEMORY,
	.memory_kinds = 1u << KIND_CHUNK,
};

/* Only what was found by vectors needs one; the question's vector is known by then. */
static void scale_make(struct candidates *c)
{
	struct op_call *call = c->call;
	float cosines[VECTORS_SAMPLE_MAX];
	char why[ERR_TEXT_MAX];

	c->has_scale = true;
	c->scale = similarity_for(settings_text(call->settings, SET_EMBED_PROVIDER),
		settings_text(call->settings, SET_EMBED_MODEL));
	if (!similarity_is_open(&c->scale))
		return;
	struct meaning *m = arena_alloc(call->arena, sizeof(*m));
	if (meaning_ask(call, c->text, m, why))
		similarity_learn(&c->scale, cosines,
			vectors_sample(
				m->vectors, &m->query, &all_chunks, ARRAY_LEN(cosines), cosines));
}

/*
 * How well the chunk answers the question, from 0 to 1: by its meaning, where vectors tell, or by
 * the share of the question's words that it has, rare ones counting more.
 */
static double similarity_of(struct candidates *c, const struct candidate *of)
{
	const char *const texts[] = { of->place.section, of->memory->title, of->memory->body };
	double words =
		question_match(&c->question, c->call->analyser, texts, ARRAY_LEN(texts)).coverage;

	if (of->cosine != 0 && !c->has_scale)
		scale_make(c);
	double meaning = of->cosine != 0 ? similarity_of_cosine(&c->scale, of->cosine) : 0;
	return MIN(MAX(words, meaning), 1);
}

static void candidate_add(struct candidates *c, const struct found *f,
	const struct chunk_place *place, const char *namespace)
{
	struct candidate new = {
		.memory = f->memory, .place = *place, .cosine = f->hit.similarity, .rank = c->n
	};

	if (!place->memory || c->n == c->max || (namespace && strcmp(namespace, place->namespace)))
		return;
	new.similarity = similarity_of(c, &new);
	ARENA_PUSH(c->call->arena, c->list, c->n, c->cap, new);
}

static int candidates_add(
	struct candidates *c, const struct find_result *r, const char *namespace, struct err *err)
{
	int64_t ids[PAGE];
	struct chunk_place *places = ARENA_ARRAY(c->call->arena, struct chunk_place, PAGE);

	for (size_t i = 0; i < r->n; i++)
		ids[i] = r->found[i].memory ? r->found[i].memory->id : 0;
	if (query_chunks(c->call->store, c->call->arena, ids, r->n, places, err))
		return -1;
	for (size_t i = 0; i < r->n; i++)
		candidate_add(c, &r->found[i], &places[i], namespace);
	return 0;
}

/* The index's hits, page by page. */
static int candidates_find(struct candidates *c, const struct wanted *w, struct err *err)
{
	struct find f = {
		.text = w->query,
		.is_plain = true,
		.takes_far = true,
		.filter = all_chunks,
		.namespace = w->namespace,
		.limit = MIN(c->max, PAGE),
	};
	struct find_result r = { .n = f.limit };

	for (; c->n < c->max && r.n == f.limit && f.offset < LOOKED_AT_MAX; f.offset += f.limit) {
		if (find_run(&c->l, &f, &r, err) || candidates_add(c, &r, w->namespace, err))
			return -1;
	}
	return 0;
}

static int best_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->similarity != y->similarity)
		return x->similarity < y->similarity ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void candidate_write(struct op_call *call, struct jw *out, const struct candidate *c)
{
	jw_object(out, NULL);
	jw_str(out, "content", memory_text(call->arena, c->memory));
	jw_str(out, "namespace", c->place.namespace);
	jw_str(out, "file_source", c->place.path);
	jw_str(out, "section", c->place.section ? c->place.section : FIRST_SECTION);
	jw_real(out, "similarity", c->similarity, 4);
	jw_end(out, '}');
}

int service_search(struct op_call *call, struct jw *out, struct err *err)
{
	struct wanted w;

	if (wanted_read(call, &w, err))
		return -1;
	struct candidates *c = arena_alloc(call->arena, sizeof(*c));
	*c = (struct candidates){
		.call = call,
		.l = { .call = call },
		.text = w.query,
		.max = MAX(w.limit * CANDIDATES_TIMES, (size_t)CANDIDATES_MIN),
	};
	struct rarity rarity = { .words = ~0ull, .absent_is_rare = true };
	question_make(&c->question, call->analyser, str_of(w.query));
	if (rarity_weigh(&c->l, &rarity, &c->question, err) || candidates_find(c, &w, err))
		return -1;
	if (c->n)
		qsort(c->list, c->n, sizeof(c->list[0]), best_first);
	size_t n = 0;
	jw_array(out, NULL);
	for (; n < c->n && n < w.limit && c->list[n].similarity >= w.threshold; n++)
		candidate_write(call, out, &c->list[n]);
	jw_end(out, ']');
	searched(call, "chunks", w.namespace, w.query, n, n ? c->list[0].similarity : 0);
	return 0;
}
