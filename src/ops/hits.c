#include "ops/hits.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/suspects.h"
#include "store/query.h"
#include "store/query_chunk.h"

/* From index hits to rows to JSON. Memories are fetched in one go, events and sessions one by one: a page has few of them. */

const struct session *lookup_session(struct lookup *l, int64_t id)
{
	struct session s;
	struct err ignored;
	if (!id)
		return NULL;
	for (size_t i = 0; i < l->nsessions; i++)
		if (l->sessions[i].id == id)
			return &l->sessions[i];
	if (query_session_head(l->call->store, l->call->arena, id, &s, &ignored) || !s.id)
		return NULL;
	ARENA_PUSH(l->call->arena, l->sessions, l->nsessions, l->sessions_cap, s);
	return &l->sessions[l->nsessions - 1];
}

const char *lookup_project(struct lookup *l, int64_t id)
{
	struct project p = { .id = id };
	struct err ignored;
	if (!id)
		return NULL;
	for (size_t i = 0; i < l->nprojects; i++)
		if (l->projects[i].id == id)
			return l->projects[i].name;
	if (query_project_name(l->call->store, l->call->arena, id, &p.name, &ignored))
		return NULL;
	ARENA_PUSH(l->call->arena, l->projects, l->nprojects, l->projects_cap, p);
	return p.name;
}

struct found found_memory(struct lookup *l, const struct memory *m)
{
	struct found f = { .hit = { .id = DOC_ID(DOC_MEMORY, m->id) }, .memory = m };
	f.session = lookup_session(l, m->session);
	f.project = lookup_project(l, m->project);
	return f;
}

struct found found_event(struct lookup *l, const struct event *e)
{
	struct found f = { .hit = { .id = DOC_ID(DOC_EVENT, e->id) }, .event = e };
	f.session = lookup_session(l, e->session);
	f.project = lookup_project(l, e->project ? e->project : f.session ? f.session->project : 0);
	return f;
}

static int memories_of_hits(struct lookup *l, const struct hit *hits, size_t n, struct memory **ret, struct err *err)
{
	struct arena *a = l->call->arena;
	struct memory *memories = ARENA_ARRAY(a, struct memory, n + 1);
	int64_t *ids = ARENA_ARRAY(a, int64_t, n + 1);
	size_t nids = 0;
	for (size_t i = 0; i < n; i++)
		if (DOC_CLASS(hits[i].id) == DOC_MEMORY)
			ids[nids++] = DOC_ROW(hits[i].id);
	if (nids && store_memories(l->call->store, a, ids, nids, memories, err))
		return -1;
	/* A chunk's file is not among these: chunk_members tells it. */
	for (size_t i = 0; i < nids; i++) {
		struct files_seen seen = { .memory = memories[i].id };
		if (!memories[i].id)
			continue;
		if (memories[i].kind != KIND_CHUNK &&
			query_memory_files_seen(l->call->store, a, &memories[i], HIT_FILES_MAX, &seen, err))
			return -1;
		ARENA_PUSH(a, l->seen, l->nseen, l->seen_cap, seen);
	}
	*ret = memories;
	return 0;
}

/* A row that is gone is no error: the index follows a moment later. -1 only when the store fails. */
static int row_load(struct lookup *l, const struct hit *h, struct found *ret, struct err *err)
{
	struct err why = { 0 };
	if (DOC_CLASS(h->id) == DOC_SESSION) {
		*ret = (struct found){ .session = lookup_session(l, DOC_ROW(h->id)) };
		ret->project = ret->session ? lookup_project(l, ret->session->project) : NULL;
		return ret->session ? 1 : 0;
	}
	struct event *e = ARENA_NEW(l->call->arena, struct event);
	if (store_event_get(l->call->store, l->call->arena, DOC_ROW(h->id), e, &why)) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		if (err)
			*err = why;
		return -1;
	}
	*ret = found_event(l, e);
	return 1;
}

static int rows_load(struct lookup *l, const struct hit *hits, size_t n, struct found **ret, size_t *ret_n, struct err *err)
{
	struct found *list = ARENA_ARRAY(l->call->arena, struct found, n + 1);
	struct memory *memories;
	size_t kept = 0;
	if (memories_of_hits(l, hits, n, &memories, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct found *f = &list[kept];
		int is_there = 1;
		if (DOC_CLASS(hits[i].id) != DOC_MEMORY)
			is_there = row_load(l, &hits[i], f, err);
		else if (memories->id)
			*f = found_memory(l, memories++);
		else
			memories++, is_there = 0;
		if (is_there < 0)
			return -1;
		f->hit = hits[i];
		kept += (size_t)is_there;
	}
	*ret = list;
	*ret_n = kept;
	return 0;
}

int hits_load(struct lookup *l, const struct hit *hits, size_t n, struct found **ret, size_t *ret_n, struct err *err)
{
	bool has_begun = query_begin(l->call->store);
	int result = rows_load(l, hits, n, ret, ret_n, err);
	query_end(l->call->store, has_begun);
	return result;
}

char *found_ref(struct arena *a, const struct found *f)
{
	if (f->memory)
		return ref_text(a, REF_MEMORY, f->memory->id);
	if (f->event)
		return ref_text(a, REF_EVENT, f->event->id);
	return ref_text(a, REF_SESSION, f->session->id);
}

/* A snippet with its marks as [start, end) in characters (code points). */
static void snippet_write(struct jw *w, const char *marked)
{
	AUTO(buf_done) struct buf plain = { 0 };
	int64_t at = 0;
	for (const char *p = marked, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, SNIPPET_ON SNIPPET_OFF);
		buf_add(&plain, p, (size_t)(end - p));
	}
	jw_str(w, "snippet", buf_cstr(&plain));
	if (!strchr(marked, SNIPPET_ON[0]))
		return;
	jw_array(w, "marks");
	for (const char *p = marked; *p; p++) {
		if (*p == SNIPPET_ON[0]) {
			jw_array(w, NULL);
			jw_int(w, NULL, at);
		} else if (*p == SNIPPET_OFF[0]) {
			jw_int(w, NULL, at);
			jw_end(w, ']');
		} else if (((unsigned char)*p & 0xc0) != 0x80) {
			at++;
		}
	}
	jw_end(w, ']');
}

static void snippet_of(struct op_call *call, struct jw *w, const struct found *f, const struct hit_style *style)
{
	const char *text = f->memory ? memory_text(call->arena, f->memory) : f->event ? event_text(call->arena, f->event) : "";
	struct str source = str_of(text);
	source.n = utf8_cut(source.p, source.n, style->wanted.n ? HIT_SOURCE_MAX : HIT_SNIPPET_WIDTH * 8);
	const char *made = !style->wanted.n ? text_one_line(call->arena, source, HIT_SNIPPET_WIDTH) : snippet_make(call->arena, call->analyser, source, &style->wanted, HIT_SNIPPET_WIDTH);
	snippet_write(w, made ? made : "");
}

/* Whether it may no longer hold, and why. */
static void suspect_members(struct op_call *call, struct jw *w, const struct memory *m, struct lookup *l)
{
	struct lookup own = { .call = call };
	const char *reason = suspect_reason(l ? l : &own, m);
	jw_bool(w, "suspect", reason != NULL);
	if (reason)
		jw_str(w, "suspect_reason", reason);
}

/* Where a chunk stands: its file, to be opened, and the lines. */
static void chunk_members(struct op_call *call, struct jw *w, const struct memory *m)
{
	struct chunk_place place;
	struct err ignored;
	bool is_there;
	if (query_chunk(call->store, call->arena, m->id, &place, &is_there, &ignored) || !is_there)
		return;
	jw_array(w, "files");
	jw_str(w, NULL, path_join(call->arena, place.root, place.path));
	jw_end(w, ']');
	jw_str(w, "namespace", place.namespace);
	jw_str(w, "file_source", place.path);
	jw_str(w, "section", place.section);
	jw_int(w, "line", place.first_line);
	jw_int(w, "end_line", place.last_line);
}

static void files_members(struct jw *w, const struct memory *m)
{
	jw_array(w, "files");
	for (size_t i = 0; i < m->nfiles && i < HIT_FILES_MAX; i++)
		jw_str(w, NULL, m->files[i].path);
	jw_end(w, ']');
}

void author_write(struct jw *w, const struct memory *m)
{
	if (m->author)
		jw_str(w, "author", m->author);
	if (m->is_team)
		jw_str(w, "visibility", "team");
}

static void memory_members(struct op_call *call, struct jw *w, const struct memory *m, struct lookup *l)
{
	if (m->kind == KIND_CHUNK)
		chunk_members(call, w, m);
	else
		files_members(w, m);
	jw_real(w, "confidence", m->confidence, 2);
	jw_str(w, "status", memory_status_names[m->status]);
	suspect_members(call, w, m, l);
	author_write(w, m);
	jw_null(w, "key");
	if (m->is_pinned)
		jw_bool(w, "pinned", true);
	jw_int(w, "tokens", (int64_t)memory_tokens(m));
}

static void event_members(struct op_call *call, struct jw *w, const struct event *e)
{
	const char *texts[] = { e->text, e->input, e->output, e->diff };
	size_t bytes = 0;
	jw_array(w, "files");
	for (size_t i = 0; i < e->nfiles && i < HIT_FILES_MAX; i++)
		jw_str(w, NULL, e->files[i]);
	jw_end(w, ']');
	jw_null(w, "confidence");
	jw_str(w, "status", e->kind == EVENT_TOOL ? event_status_names[e->status] : NULL);
	jw_bool(w, "suspect", false);
	jw_str(w, "key", e->key);
	if (e->subagent)
		jw_str(w, "subagent", e->subagent);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		bytes += texts[i] ? strlen(texts[i]) : 0;
	jw_int(w, "tokens", (int64_t)(bytes / 4 + 1));
}

static void session_members(struct op_call *call, struct jw *w, const struct found *f)
{
	const char *ref = f->memory || f->event ? found_ref(call->arena, f) : NULL;
	jw_str(w, "best", ref);
	jw_array(w, "files");
	jw_end(w, ']');
	jw_null(w, "confidence");
	jw_null(w, "status");
	jw_bool(w, "suspect", false);
	jw_null(w, "key");
	jw_int(w, "tokens", 0);
}

static void explain_write(struct jw *w, const struct hit *h)
{
	jw_object(w, "explain");
	jw_real(w, "own", h->own, 4);
	jw_real(w, "session", h->session, 4);
	jw_real(w, "prior", h->prior, 4);
	jw_real(w, "pairs", h->pairs, 4);
	jw_real(w, "meaning", h->meaning, 4);
	jw_real(w, "similarity", h->similarity, 4);
	jw_end(w, '}');
}

static const char *found_title(struct op_call *call, const struct found *f, bool is_session)
{
	if (is_session && f->session && f->session->title && *f->session->title)
		return text_one_line(call->arena, str_of(f->session->title), HIT_TITLE_WIDTH);
	if (f->memory)
		return memory_title(call->arena, f->memory);
	if (f->event)
		return event_title(call->arena, f->event);
	return arena_printf(call->arena, "session %lld", (long long)f->session->id);
}

static const char *found_kind(const struct found *f, bool is_session)
{
	if (is_session)
		return "session";
	return f->memory ? memory_kind_names[f->memory->kind] : event_kind_names[f->event->kind];
}

static const char *found_type(const struct found *f)
{
	if (f->memory)
		return f->memory->type ? memory_type_names[f->memory->type] : NULL;
	return f->event && f->event->kind == EVENT_TOOL ? f->event->tool : NULL;
}

static int64_t found_at(const struct found *f, bool is_session)
{
	if (is_session)
		return f->session->last_event_at ? f->session->last_event_at : f->session->started_at;
	return f->memory ? f->memory->at : f->event->at;
}

void found_write(struct op_call *call, struct jw *w, const struct found *f, const struct hit_style *style)
{
	const struct session *s = f->session;
	bool is_session = s && (style->is_session || (!f->memory && !f->event));
	const char *branch = f->memory && f->memory->branch ? f->memory->branch :
			     f->event && f->event->branch ? f->event->branch :
			     s			     ? s->branch : NULL;
	jw_object(w, NULL);
	jw_str(w, "ref", is_session ? ref_text(call->arena, REF_SESSION, s->id) : found_ref(call->arena, f));
	jw_str(w, "kind", found_kind(f, is_session));
	jw_str(w, "type", is_session ? NULL : found_type(f));
	jw_str(w, "title", found_title(call, f, is_session));
	snippet_of(call, w, f, style);
	jw_int(w, "at", found_at(f, is_session));
	jw_real(w, "score", f->hit.score, 4);
	jw_str(w, "project", f->project);
	jw_str(w, "branch", branch);
	jw_str(w, "agent", s ? agent_names[s->agent] : NULL);
	jw_str(w, "session", s ? ref_text(call->arena, REF_SESSION, s->id) : NULL);
	jw_str(w, "agent_session", s ? s->agent_session : NULL);
	if (is_session)
		session_members(call, w, f);
	else if (f->memory)
		memory_members(call, w, f->memory, style->lookup);
	else
		event_members(call, w, f->event);
	if (style->branches && f->memory && memory_is_elsewhere(style->branches, f->memory))
		jw_bool(w, "other_branch", true);
	if (f->hit.by_meaning)
		jw_str(w, "match", match_names[MATCH_MEANING]);
	if (style->explains)
		explain_write(w, &f->hit);
	jw_end(w, '}');
}

void hit_write(struct op_call *call, struct jw *w, const struct hit *h, const struct search_result *r, const struct memory *m,
	const struct event *e)
{
	struct lookup l = { .call = call };
	struct hit_style style = { 0 };
	struct found f = m ? found_memory(&l, m) : found_event(&l, e);
	if (h)
		f.hit = *h;
	if (r)
		style.wanted = (struct snippet_terms){ r->terms, r->nterms };
	found_write(call, w, &f, &style);
}
