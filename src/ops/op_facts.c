#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "observe/confidence.h"
#include "ops/all.h"
#include "ops/branches.h"
#include "ops/cursor.h"
#include "ops/find.h"
#include "ops/param.h"
#include "ops/suspects.h"
#include "store/query.h"
#include "store/stale.h"
#include "text/snippet.h"

/*
 * facts: durable sentences, by category, the surest first. With a query the ones that answer it.
 * Confidence is told as it is today: what has not been said for long is less sure. "As of" shows
 * what was held true then.
 */

#define FACTS_LIMIT 50
#define FACTS_PAGE 500        /* read at once */
#define FACTS_LOOKED_MAX 200000 /* facts sifted in one call */

struct facts {
	struct op_call *call;
	struct lookup l;
	struct branches branches;
	int category, status; /* -1: any */
	double min_confidence;
	int64_t as_of, project;
	const char **files;
	size_t nfiles;
	const char *query;
	struct memory *list; /* of the page */
	size_t n, cap, total;
	struct place *places;
	size_t nplaces, places_cap;
	struct cursor c;
	int64_t now; /* that confidence is told for: one for all pages, since it decides the order */
	bool has_more;
};

/* What a fact is ordered by. */
struct place {
	bool is_pinned, is_active;
	size_t rank; /* of its category */
	double confidence;
	int64_t at, id;
};
enum key { KEY_NOW, KEY_PINNED, KEY_ACTIVE, KEY_RANK, KEY_CONFIDENCE, KEY_AT, KEY_ID, KEYS };
_Static_assert(KEYS <= CURSOR_KEYS, "keys of facts");

/* The order in which categories are shown: what holds for all work first. */
static const enum memory_type category_order[] = { FACT_PREFERENCE, FACT_CONVENTION, FACT_DECISION,
	FACT_TOOL_PATTERN, FACT_ERROR_FIX, FACT_ARCHITECTURE, FACT_DEAD_END, FACT_TODO };

static size_t category_rank(enum memory_type type)
{
	size_t i = 0;

	while (i < ARRAY_LEN(category_order) && category_order[i] != type)
		i++;
	return i;
}

static bool file_matches(const char *path, const char *wanted)
{
	size_t n = strlen(path), w = strlen(wanted);

	return strcmp(path, wanted) == 0 ||
	       (n > w && path[n - w - 1] == '/' && strcmp(path + n - w, wanted) == 0);
}

static bool is_about(struct facts *f, struct memory *m)
{
	struct err ignored;

	if (!f->nfiles)
		return true;
	if (!m->nfiles &&
		query_memory_files(f->call->store, f->call->arena, m, MEMORY_FILES_MAX, &ignored))
		return false;
	for (size_t i = 0; i < m->nfiles; i++)
		for (size_t k = 0; k < f->nfiles; k++)
			if (file_matches(m->files[i].path, call_file(f->call, f->files[k])))
				return true;
	return false;
}

/* An agent is given what is decided or sure; what waits is a person's to look at. */
static bool is_status_wanted(const struct facts *f, enum memory_status status)
{
	if (f->as_of)
		return status != MEMORY_REJECTED && status != MEMORY_PENDING;
	if (f->status >= 0)
		return (int)status == f->status;
	return status == MEMORY_ACTIVE || (status == MEMORY_PENDING && !f->call->is_agent);
}

static bool is_wanted(struct facts *f, struct memory *m)
{
	int64_t from = m->valid_from ? m->valid_from : m->at;

	if (m->kind != KIND_FACT || (f->category >= 0 && (int)m->type != f->category))
		return false;
	if (!is_status_wanted(f, m->status) ||
		(f->as_of && (from > f->as_of || (m->valid_to && m->valid_to <= f->as_of))))
		return false;
	m->confidence = confidence_aged(m, f->now);
	return m->confidence + 1e-9 >= f->min_confidence && is_about(f, m);
}

static struct place place_of(const struct memory *m)
{
	return (struct place){ m->is_pinned, m->status == MEMORY_ACTIVE, category_rank(m->type),
		m->confidence, m->at, m->id };
}

static int by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->is_pinned != b->is_pinned)
		return a->is_pinned ? -1 : 1;
	if (a->is_active != b->is_active)
		return a->is_active ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->confidence != b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	if (a->at != b->at)
		return a->at > b->at ? -1 : 1;
	return (a->id < b->id) - (a->id > b->id);
}

/* The bits of a number that is not negative are in its order. */
static void place_to_keys(const struct place *p, int64_t now, int64_t keys[KEYS])
{
	keys[KEY_NOW] = now;
	keys[KEY_PINNED] = p->is_pinned;
	keys[KEY_ACTIVE] = p->is_active;
	keys[KEY_RANK] = (int64_t)p->rank;
	memcpy(&keys[KEY_CONFIDENCE], &p->confidence, sizeof(p->confidence));
	keys[KEY_AT] = p->at;
	keys[KEY_ID] = p->id;
}

static struct place place_from_keys(const int64_t keys[KEYS])
{
	struct place p = { keys[KEY_PINNED] != 0, keys[KEY_ACTIVE] != 0, (size_t)keys[KEY_RANK], 0,
		keys[KEY_AT], keys[KEY_ID] };

	memcpy(&p.confidence, &keys[KEY_CONFIDENCE], sizeof(p.confidence));
	return p;
}

/* All facts are gone through, a page at a time; only their places are kept. */
static int places_find(struct facts *f, struct err *err)
{
	struct place last = place_from_keys(f->c.keys);
	struct memory_query q = { .project = f->project,
		.kind = KIND_FACT,
		.type = f->category,
		.status = f->as_of ? -1 : f->status,
		.origin = -1,
		.max = FACTS_PAGE };
	AUTO(arena_done) struct arena a = { 0 };
	size_t n = FACTS_PAGE;

	for (size_t seen = 0; n == FACTS_PAGE && seen < FACTS_LOOKED_MAX; seen += n) {
		struct memory *list;
		arena_done(&a);
		if (store_memory_list(f->call->store, &a, &q, &list, &n, err))
			return -1;
		for (size_t i = 0; i < n; i++) {
			q.behind_at = list[i].at;
			q.behind_id = list[i].id;
			if (!is_wanted(f, &list[i]))
				continue;
			struct place p = place_of(&list[i]);
			f->total++;
			if (!f->c.is_given || by_place(&p, &last) > 0)
				ARENA_PUSH(f->call->arena, f->places, f->nplaces, f->places_cap, p);
		}
	}
	return 0;
}

static int list_page(struct facts *f, size_t from, size_t limit, struct err *err)
{
	struct arena *a = f->call->arena;

	if (places_find(f, err))
		return -1;
	if (f->nplaces)
		qsort(f->places, f->nplaces, sizeof(*f->places), by_place);
	size_t begin = MIN(from, f->nplaces), n = MIN(limit, f->nplaces - begin);
	int64_t *ids = ARENA_ARRAY(a, int64_t, n + 1);
	f->has_more = begin + n < f->nplaces;
	f->list = ARENA_ARRAY(a, struct memory, n + 1);
	f->n = n;
	for (size_t i = 0; i < n; i++)
		ids[i] = f->places[begin + i].id;
	if (n && store_memories(f->call->store, a, ids, n, f->list, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		f->list[i].confidence = f->places[begin + i].confidence;
		place_to_keys(&f->places[begin + i], f->now, f->c.keys);
	}
	return 0;
}

/* The order of the index is kept: it is by how well a fact answers. */
static int search_page(struct facts *f, size_t from, size_t limit, struct err *err)
{
	struct find q = { .text = f->query,
		.filter = { .project = (uint32_t)f->project,
			.classes = 1u << DOC_MEMORY,
			.memory_kinds = 1u << KIND_FACT,
			.statuses = f->status >= 0 ? 1u << f->status
						   : 1u << MEMORY_ACTIVE | 1u << MEMORY_PENDING },
		.as_of = f->as_of,
		.limit = FIND_SIFT_PAGE };
	struct find_result r;

	if (f->category >= 0)
		q.filter.types = 1u << f->category;
	if (find_run(&f->l, &q, &r, err))
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		if (!r.found[i].memory)
			continue;
		struct memory m = *r.found[i].memory;
		if (is_wanted(f, &m) && f->total++ >= from && f->n < limit)
			ARENA_PUSH(f->call->arena, f->list, f->n, f->cap, m);
	}
	return 0;
}

/* ---- writing ---- */

/* How often and since when, out of the tally. */
static void tally_write(struct jw *w, const struct memory *m)
{
	AUTO(json_free_ptr) json *tally = NULL;
	struct err ignored;

	if (!m->tally || json_parse(m->tally, strlen(m->tally), &tally, &ignored))
		return;
	jw_int(w, "times", json_int(tally, "times", 1));
	jw_int(w, "sessions", json_int(tally, "sessions", 1));
	jw_int(w, "first_at", json_int(tally, "first", m->at));
	jw_str(w, "said_by", json_str(tally, "said_by"));
}

static void fact_write(struct facts *f, struct jw *w, struct memory *m)
{
	struct arena *a = f->call->arena;
	const char *reason = suspect_reason(&f->l, m);
	struct err ignored;

	if (!m->nfiles)
		(void)query_memory_files(f->call->store, a, m, HIT_FILES_MAX, &ignored);
	jw_object(w, NULL);
	jw_str(w, "ref", ref_text(a, REF_MEMORY, m->id));
	jw_str(w, "category", memory_type_names[m->type]);
	jw_str(w, "title", memory_title(a, m));
	jw_str(w, "text", m->title ? m->title : m->body);
	jw_str(w, "body", m->body && (!m->title || strcmp(m->body, m->title)) ? m->body : NULL);
	jw_str(w, "status", memory_status_names[m->status]);
	author_write(w, m);
	jw_bool(w, "pinned", m->is_pinned);
	jw_real(w, "confidence", m->confidence, 2);
	jw_str(w, "trust", trust_names[m->trust]);
	jw_int(w, "at", m->at);
	jw_int(w, "evidence", (int64_t)m->nevidence);
	tally_write(w, m);
	jw_str(w, "project", f->project ? NULL : lookup_project(&f->l, m->project));
	if (m->valid_to)
		jw_int(w, "valid_to", m->valid_to);
	if (m->superseded_by)
		jw_str(w, "superseded_by", ref_text(a, REF_MEMORY, m->superseded_by));
	if (memory_is_bound_to_branch(m) && !branch_is_default(m->branch)) {
		jw_str(w, "branch", m->branch);
		jw_bool(w, "other_branch", memory_is_elsewhere(&f->branches, m));
	}
	jw_bool(w, "revised", fact_is_revised(&f->branches, m));
	jw_bool(w, "suspect", reason != NULL);
	if (reason)
		jw_str(w, "suspect_reason", reason);
	jw_array(w, "files");
	for (size_t i = 0; i < m->nfiles && i < HIT_FILES_MAX; i++)
		jw_str(w, NULL, m->files[i].path);
	jw_end(w, ']');
	jw_end(w, '}');
}

static int read_params(struct facts *f, struct err *err)
{
	struct op_call *call = f->call;

	if (call_project(call, &f->project, err) ||
		param_name(call, "category", memory_type_names + FACT_PREFERENCE,
			MEMORY_TYPE_COUNT - FACT_PREFERENCE, err, &f->category) ||
		param_name(call, "status", memory_status_names, MEMORY_STATUS_COUNT, err,
			&f->status) ||
		param_time(call, "as_of", true, &f->as_of, err))
		return -1;
	if (f->category >= 0)
		f->category += FACT_PREFERENCE;
	f->query = param_joined(call, "query", "question");
	f->min_confidence = json_real(call->params, "min_confidence", 0);
	f->nfiles = param_list(call, "files", "file", &f->files);
	return 0;
}

/* A list that answers a query is ranked: what stands behind a fact is another at each question. */
static int cursor_take(struct facts *f, struct err *err)
{
	f->c = (struct cursor){ .op = "facts", .project = f->project, .nkeys = KEYS };
	if (f->query && *f->query && param_text(f->call, "cursor", NULL)) {
		err_set(err, ERR_USAGE, "facts that answer a query are ranked and have no cursor");
		return err_hint(err, "go on with --offset");
	}
	if (cursor_read(f->call, &f->c, err))
		return -1;
	f->now = f->c.is_given ? f->c.keys[KEY_NOW] : f->as_of ? f->as_of : clock_now();
	return 0;
}

int op_facts(struct op_call *call, struct jw *out, struct err *err)
{
	struct facts f = { .call = call, .l = { .call = call } };
	size_t from = param_size(call, "offset", 0), limit = param_size(call, "limit", FACTS_LIMIT);

	if (read_params(&f, err) || cursor_take(&f, err) ||
		(f.query && *f.query ? search_page(&f, from, limit, err)
				     : list_page(&f, from, limit, err)))
		return -1;
	branches_init(&f.branches, call, f.project, call->cwd, NULL);
	jw_object(out, NULL);
	jw_int(out, "total", (int64_t)f.total);
	jw_array(out, "facts");
	for (size_t i = 0; i < f.n; i++)
		if (f.list[i].id)
			fact_write(&f, out, &f.list[i]);
	jw_end(out, ']');
	cursor_write(call, out, &f.c, f.has_more);
	jw_end(out, '}');
	return 0;
}
