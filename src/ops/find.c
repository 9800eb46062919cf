#include "ops/find.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "index/query.h"
#include "ops/meaning.h"
#include "ops/param.h"
#include "store/folder.h"
#include "store/query.h"
#include "store/query_chunk.h"
#include "text/hash.h"

#define BIT(n) (1u << (n))
#define FIND_FILE_MEMORIES_MAX 20000
#define FIND_TEXT_ROUNDS 11 /* one more than there are filters of a question */

uint32_t find_branch_hash(const char *branch)
{
	return branch && *branch ? (uint32_t)hash64(branch, strlen(branch)) : 0;
}

uint32_t find_namespace_hash(const char *namespace)
{
	char marked[FOLDER_NAMESPACE_MAX + 2];
	int n = snprintf(marked, sizeof(marked), "\x01%s", namespace);
	uint32_t hash = (uint32_t)hash64(marked, MIN((size_t)n, sizeof(marked) - 1));
	return hash ? hash : 1;
}

/* --- Names to bits. A word may name a kind of memory and a kind of event at once. --- */

static bool kind_apply(struct find *f, const char *kind)
{
	int memory = name_find(memory_kind_names, MEMORY_KIND_COUNT, kind);
	int event = name_find(event_kind_names, EVENT_KIND_COUNT, kind);
	if (str_ieq(kind, "session")) {
		f->by_session = true;
		return true;
	}
	if (memory <= 0 && event <= 0)
		return false;
	f->filter.classes = 0;
	f->filter.memory_kinds = f->filter.event_kinds = 0;
	if (memory > 0) {
		f->filter.memory_kinds = BIT(memory);
		f->filter.classes |= BIT(DOC_MEMORY);
	}
	if (event > 0) {
		f->filter.event_kinds = BIT(event);
		f->filter.classes |= BIT(DOC_EVENT);
	}
	return true;
}

static bool type_apply(struct find *f, const char *type)
{
	uint32_t bits = 0;
	for (int i = 1; i < MEMORY_TYPE_COUNT; i++)
		if (str_ieq(memory_type_names[i], type))
			bits |= BIT(i);
	f->filter.types = bits;
	if (bits)
		f->filter.classes = BIT(DOC_MEMORY); /* events have no type */
	return bits != 0;
}

static bool agent_apply(struct find *f, const char *agent)
{
	int id = name_find(agent_names, AGENT_COUNT, agent);
	if (id > 0)
		f->filter.agents = BIT(id);
	return id > 0;
}

/* --- Filters inside the question. --- */

static bool project_apply(struct op_call *call, struct find *f, const char *name)
{
	int64_t id = 0;
	struct err ignored;
	if (str_ieq(name, "all")) {
		f->filter.project = 0;
		return true;
	}
	if (store_project_find(call->store, name, &id, &ignored) || !id)
		return false;
	f->filter.project = (uint32_t)id;
	return true;
}

static bool time_apply(struct op_call *call, struct find *f, const char *after, const char *before)
{
	struct err ignored;
	return span_parse(call->arena, after, before, &f->filter.after, &f->filter.before,
		       &ignored) == 0;
}

static bool namespace_apply(struct op_call *call, struct find *f, const char *namespace)
{
	const char **names;
	size_t n;
	struct err ignored;
	if (query_namespaces(call->store, call->arena, &names, &n, &ignored))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], namespace)) {
			f->namespace = names[i];
			return true;
		}
	return false;
}

/* The first filter of the question that means nothing, or NULL. */
static const char *filters_apply(struct op_call *call, struct find *f, const struct query_filter *q)
{
	if (q->kind && !kind_apply(f, q->kind))
		return "kind:";
	if (q->type && !type_apply(f, q->type))
		return "type:";
	if (q->agent && !agent_apply(f, q->agent))
		return "agent:";
	if (q->project && !project_apply(call, f, q->project))
		return "project:";
	if (q->after && !time_apply(call, f, q->after, NULL))
		return "after:";
	if (q->before && !time_apply(call, f, NULL, q->before))
		return "before:";
	if (q->namespace && !namespace_apply(call, f, q->namespace))
		return "namespace:";
	if (q->tag)
		f->tag = q->tag;
	if (q->file)
		f->file = q->file;
	if (q->branch)
		f->branch = q->branch;
	return NULL;
}

/* "type: string" becomes "type  string". True when something was changed. */
static bool colon_drop(char *text, const char *filter)
{
	bool changed = false;
	const char *found;
	while ((found = str_ifind(str_of(text), filter))) {
		text[(size_t)(found - text) + strlen(filter) - 1] = ' ';
		changed = true;
	}
	return changed;
}

/* A text that is no query: nothing in it excludes, quotes or filters. */
static void plain_make(char *text)
{
	for (char *p = text; *p; p++) {
		bool starts_word = p == text || strchr(" \t\n\r", p[-1]);
		if (*p == '"' || (*p == ':' && (p[1] == ' ' || p > text)) ||
			(*p == '-' && starts_word))
			*p = ' ';
	}
}

static struct query *question_parse(struct op_call *call, struct find *f)
{
	char *text = arena_str(call->arena, f->text ? f->text : "");
	struct query_filter own = { 0 };
	const struct find before = *f;
	if (f->is_plain)
		plain_make(text);
	for (int i = 0; i < FIND_TEXT_ROUNDS; i++) {
		own = (struct query_filter){ 0 };
		struct query *q = query_parse(call->arena, call->analyser, str_of(text), &own);
		const char *bad = filters_apply(call, f, &own);
		if (!bad)
			return q;
		*f = before;
		if (!colon_drop(text, bad))
			break;
	}
	return query_parse(call->arena, call->analyser, str_of(text), &own);
}

/* --- Sifting: what the index has no column for. --- */

struct sift {
	const struct find *f;
	int64_t *memories; /* about the file, ascending */
	size_t n;
};

static int id_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static bool path_matches(const char *path, const char *wanted)
{
	const char *base = wanted[0] == '/' ? wanted + 1 : wanted;
	return !strcmp(path, wanted) ||
	       (str_ends(path, base) && path[strlen(path) - strlen(base) - 1] == '/');
}

static bool event_touches(const struct event *e, const char *file)
{
	for (size_t i = 0; i < e->nfiles; i++)
		if (path_matches(e->files[i], file))
			return true;
	return false;
}

static bool memory_held_at(const struct memory *m, int64_t at)
{
	int64_t from = m->valid_from ? m->valid_from : m->at;
	return from <= at && (!m->valid_to || m->valid_to > at);
}

static bool has_tag(const struct memory *m, const char *tag)
{
	AUTO(json_free_ptr) json *tags = NULL;
	if (!m->concepts || json_parse(m->concepts, strlen(m->concepts), &tags, NULL))
		return false;
	for (size_t i = 0; i < json_len(tags); i++) {
		const char *one = json_value_str(json_at(tags, i));
		if (one && str_ieq(one, tag))
			return true;
	}
	return false;
}

static bool sift_keeps(const struct sift *s, const struct found *f)
{
	if (s->f->file && f->memory &&
		!bsearch(&f->memory->id, s->memories, s->n, sizeof(s->memories[0]), id_order))
		return false;
	if (s->f->tag && (!f->memory || !has_tag(f->memory, s->f->tag)))
		return false;
	if (s->f->file && f->event && !event_touches(f->event, s->f->file))
		return false;
	if (s->f->file && !f->memory && !f->event)
		return false;
	return !s->f->as_of || !f->memory || memory_held_at(f->memory, s->f->as_of);
}

static int sift_init(struct lookup *l, const struct find *f, struct sift *s, struct err *err)
{
	*s = (struct sift){ .f = f };
	if (!f->file)
		return 0;
	if (query_memories_of_file(l->call->store, l->call->arena, f->filter.project, f->file,
		    FIND_FILE_MEMORIES_MAX, &s->memories, &s->n, err))
		return -1;
	int64_t *chunks;
	size_t nchunks;
	if (query_chunks_of_file(l->call->store, l->call->arena, f->file, FIND_FILE_MEMORIES_MAX,
		    &chunks, &nchunks, err))
		return -1;
	if (nchunks) {
		int64_t *all = ARENA_ARRAY(l->call->arena, int64_t, s->n + nchunks);
		memcpy(all, s->memories, s->n * sizeof(*all));
		memcpy(all + s->n, chunks, nchunks * sizeof(*all));
		s->memories = all;
		s->n += nchunks;
	}
	if (s->n)
		qsort(s->memories, s->n, sizeof(s->memories[0]), id_order);
	return 0;
}

/* What was kept so far, and what was looked at when meaning took part. */
struct sifting {
	struct lookup *l;
	const struct find *f;
	struct sift sift;
	struct found *kept;
	size_t n, cap;
	uint64_t *seen; /* ascending */
	size_t nseen;
};

static uint64_t sift_key(const struct sifting *s, const struct hit *h)
{
	return s->f->by_session ? h->columns.session : h->id;
}

static int key_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static bool is_enough(const struct sifting *s)
{
	return s->n >= s->f->offset + s->f->limit + 1;
}

/* One page of the index's answer. */
static int sift_page(
	struct sifting *s, const struct search *q, struct find_result *ret, struct err *err)
{
	struct found *page;
	size_t npage;
	if (index_search(s->l->call->index, s->l->call->arena, q, &ret->r, err) ||
		hits_load(s->l, ret->r.hits, ret->r.n, &page, &npage, err))
		return -1;
	for (size_t i = 0; i < npage; i++) {
		uint64_t key = sift_key(s, &page[i].hit);
		bool is_new =
			!s->nseen || !bsearch(&key, s->seen, s->nseen, sizeof(key), key_order);
		if (is_new && sift_keeps(&s->sift, &page[i]))
			ARENA_PUSH(s->l->call->arena, s->kept, s->n, s->cap, page[i]);
	}
	return 0;
}

/* The best by both words and meaning come first. What is further down is left to words. */
static int sift_meant(struct sifting *s, struct search *q, struct find_result *ret, struct err *err)
{
	if (!q->meaning)
		return 0;
	q->offset = 0;
	q->limit = FIND_SIFT_MEANT;
	if (sift_page(s, q, ret, err))
		return -1;
	s->seen = ARENA_ARRAY(s->l->call->arena, uint64_t, ret->r.n + 1);
	for (size_t i = 0; i < ret->r.n; i++)
		s->seen[i] = sift_key(s, &ret->r.hits[i]);
	s->nseen = ret->r.n;
	if (s->nseen)
		qsort(s->seen, s->nseen, sizeof(*s->seen), key_order);
	return 0;
}

/* Goes through the index's answer page by page, until enough was kept. */
static int sift_run(struct lookup *l, const struct find *f, struct search *q,
	struct find_result *ret, struct err *err)
{
	struct sifting s = { .l = l, .f = f };
	struct search words = *q;
	bool is_done = q->is_semantic;
	size_t seen = 0;
	if (sift_init(l, f, &s.sift, err) || sift_meant(&s, q, ret, err))
		return -1;
	words.meaning = NULL;
	words.limit = FIND_SIFT_PAGE;
	while (!is_done && seen < FIND_SIFT_MAX && !is_enough(&s)) {
		struct find_result more = { 0 };
		words.offset = seen;
		if (sift_page(&s, &words, &more, err))
			return -1;
		if (!q->meaning)
			ret->r = more.r;
		is_done = more.r.n < FIND_SIFT_PAGE;
		seen += more.r.n;
	}
	size_t from = MIN(f->offset, s.n);
	ret->found = s.kept ? s.kept + from : s.kept;
	ret->n = MIN(s.n - from, f->limit);
	ret->total = s.n;
	ret->total_is_exact = is_done && !q->is_semantic;
	return 0;
}

static int plain_run(struct lookup *l, struct search *q, struct find_result *ret, struct err *err)
{
	if (index_search(l->call->index, l->call->arena, q, &ret->r, err) ||
		hits_load(l, ret->r.hits, ret->r.n, &ret->found, &ret->n, err))
		return -1;
	ret->total = ret->r.total;
	ret->total_is_exact = ret->r.total_is_exact;
	return 0;
}

/* Lists and counts are about words. */
static void meaning_add(struct lookup *l, const struct find *f, struct meaning *m, struct search *q,
	struct find_result *ret)
{
	ret->mode = "lexical";
	if (f->mode == FIND_LEXICAL || !f->limit || query_is_empty(q->query) ||
		!meaning_ask(l->call, f->meant ? f->meant : f->text, m, ret->why))
		return;
	q->vectors = m->vectors;
	q->meaning = &m->query;
	q->is_semantic = f->mode == FIND_SEMANTIC;
	q->takes_far = f->takes_far;
	ret->mode = q->is_semantic ? "semantic" : "hybrid";
}

int find_run(struct lookup *l, const struct find *wanted, struct find_result *ret, struct err *err)
{
	struct find f = *wanted;
	*ret = (struct find_result){ .mode = "lexical" };
	struct search q = { .query = question_parse(l->call, &f),
		.now = f.as_of ? f.as_of : clock_now() };
	if (f.as_of) {
		f.filter.before = f.filter.before ? MIN(f.filter.before, f.as_of + 1) : f.as_of + 1;
		f.filter.statuses = BIT(MEMORY_ACTIVE) | BIT(MEMORY_SUPERSEDED);
	}
	if (!f.filter.classes)
		f.filter.classes = BIT(DOC_MEMORY) | BIT(DOC_EVENT);
	f.filter.branch = find_branch_hash(f.branch);
	if (f.namespace || f.tag) {
		f.filter.classes = BIT(DOC_MEMORY);
		f.filter.memory_kinds = BIT(KIND_CHUNK);
		f.filter.event_kinds = 0;
		f.by_session = false;
	}
	if (f.namespace) {
		f.filter.branch = find_namespace_hash(f.namespace);
		f.filter.project = 0;
	}
	q.filter = f.filter;
	q.by_session = f.by_session;
	q.wants_total = f.wants_total;
	struct meaning *meaning = ARENA_NEW(l->call->arena, struct meaning);
	meaning_add(l, &f, meaning, &q, ret);
	if (f.file || f.as_of || f.tag)
		return sift_run(l, &f, &q, ret, err);
	q.offset = f.offset;
	q.limit = f.limit;
	return plain_run(l, &q, ret, err);
}

static const struct {
	const char *name;
	uint32_t classes;
	bool by_session;
} scopes[] = {
	{ "all", BIT(DOC_MEMORY) | BIT(DOC_EVENT), false },
	{ "memories", BIT(DOC_MEMORY), false },
	{ "messages", BIT(DOC_EVENT), false },
	{ "sessions", 0, true },
};

static int scope_from_params(struct op_call *call, struct find *f, struct err *err)
{
	const char *scope = param_text(call, "scope", NULL);
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		if (!str_ieq(scope ? scope : "all", scopes[i].name))
			continue;
		f->filter.classes = scopes[i].classes;
		f->by_session = scopes[i].by_session;
		return 0;
	}
	err_set(err, ERR_USAGE, "there is no scope '%s'", scope);
	return err_hint(err, "one of: memories, messages, sessions, all");
}

static enum find_mode mode_from_params(struct op_call *call)
{
	static const char *const modes[] = { [FIND_AUTO] = "auto",
		[FIND_LEXICAL] = "lexical",
		[FIND_SEMANTIC] = "semantic",
		[FIND_HYBRID] = "hybrid" };
	int mode = name_find(modes, ARRAY_LEN(modes), param_text(call, "mode", NULL));
	return mode > 0 ? (enum find_mode)mode : FIND_AUTO;
}

static int kinds_from_params(struct op_call *call, struct find *f, struct err *err)
{
	const char *kind = param_text(call, "kind", NULL), *type = param_text(call, "type", NULL);
	const char *agent = param_text(call, "agent", NULL);
	if (kind && !kind_apply(f, kind)) {
		err_set(err, ERR_USAGE, "there is no kind '%s'", kind);
		return err_hint(err, "one of: observation, summary, fact, note, chunk, prompt, "
				     "reply, tool, session");
	}
	if (type && !type_apply(f, type))
		return name_parse("type", type, memory_type_names, MEMORY_TYPE_COUNT, err) < 0 ? -1
											       : 0;
	if (agent && !agent_apply(f, agent))
		return name_parse("agent", agent, agent_names, AGENT_COUNT, err) < 0 ? -1 : 0;
	return 0;
}

int find_from_params(struct op_call *call, struct find *ret, struct err *err)
{
	struct find f = { .text = param_joined(call, "query", "question") };
	int64_t project;
	if (call_project(call, &project, err) || scope_from_params(call, &f, err) ||
		kinds_from_params(call, &f, err) ||
		param_span(call, &f.filter.after, &f.filter.before, err) ||
		param_time(call, "as_of", true, &f.as_of, err))
		return -1;
	f.filter.project = (uint32_t)project;
	f.file = call_file(call, param_text(call, "file", "files"));
	f.branch = param_text(call, "branch", NULL);
	const char *namespace = param_text(call, "namespace", NULL);
	f.tag = param_text(call, "tag", NULL);
	if (namespace && !namespace_apply(call, &f, namespace)) {
		err_set(err, ERR_NOT_FOUND, "there is no namespace '%.100s'", namespace);
		return err_hint(err, "`remanence sync list` shows them");
	}
	f.mode = mode_from_params(call);
	f.offset = param_size(call, "offset", 0);
	f.limit = param_size(call, "limit", 20);
	f.wants_total = param_bool(call, "count");
	*ret = f;
	return 0;
}
