#include "ops/hits.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/param.h"
#include "ops/suspects.h"
#include "store/author.h"
#include "store/query_chunk.h"

/* get: level 3 of finding, whole records. What is not there is listed; only when nothing is there is it an error. */

static void json_text_write(struct jw *w, const char *key, const char *json_text)
{
	if (json_text && *json_text)
		jw_raw(w, key, str_of(json_text));
	else
		jw_null(w, key);
}

static void memory_parts_write(struct jw *w, const struct memory *m)
{
	const struct {
		const char *name, *text;
	} parts[] = { { "title", m->title }, { "subtitle", m->subtitle }, { "body", m->body }, { "request", m->request },
		{ "investigated", m->investigated }, { "learned", m->learned }, { "completed", m->completed },
		{ "next_steps", m->next_steps }, { "notes", m->notes } };
	bool is_summary = m->kind == KIND_SUMMARY;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].text || i < 3 || is_summary)
			jw_str(w, parts[i].name, parts[i].text);
	json_text_write(w, "facts", m->facts);
	json_text_write(w, "concepts", m->concepts);
	json_text_write(w, "commands", m->commands);
}

static void time_write(struct jw *w, const char *key, int64_t at)
{
	if (at)
		jw_int(w, key, at);
	else
		jw_null(w, key);
}

static void memory_state_write(struct lookup *l, struct jw *w, const struct memory *m)
{
	const char *reason = suspect_reason(l, m);
	jw_str(w, "status", memory_status_names[m->status]);
	jw_str(w, "author", m->author ? m->author : store_my_name(l->call->store));
	jw_bool(w, "own", !m->author);
	jw_str(w, "visibility", m->is_team ? "team" : "private");
	jw_bool(w, "pinned", m->is_pinned);
	jw_real(w, "confidence", m->confidence, 2);
	if (m->tally)
		json_text_write(w, "confidence_parts", m->tally);
	jw_str(w, "trust", trust_names[m->trust]);
	jw_str(w, "origin", memory_origin_names[m->origin]);
	jw_str(w, "rule", m->rule);
	jw_str(w, "slot", m->slot);
	jw_str(w, "model", m->model);
	jw_str(w, "branch", m->branch);
	jw_str(w, "commit", m->commit);
	jw_int(w, "at", m->at);
	time_write(w, "valid_from", m->valid_from);
	time_write(w, "valid_to", m->valid_to);
	if (m->superseded_by)
		jw_printf(w, "superseded_by", "%lld", (long long)m->superseded_by);
	else
		jw_null(w, "superseded_by");
	jw_int(w, "created_at", m->created_at);
	jw_int(w, "updated_at", m->updated_at);
	jw_bool(w, "suspect", reason != NULL);
	jw_str(w, "suspect_reason", reason);
	jw_int(w, "tokens", (int64_t)memory_tokens(m));
}

static void memory_base_write(struct op_call *call, struct jw *w, const struct memory *m)
{
	jw_array(w, "files");
	for (size_t i = 0; i < m->nfiles; i++) {
		jw_object(w, NULL);
		jw_str(w, "path", m->files[i].path);
		jw_str(w, "role", file_role_names[m->files[i].role]);
		jw_str(w, "hash", m->files[i].hash);
		jw_end(w, '}');
	}
	jw_end(w, ']');
	jw_array(w, "evidence");
	for (size_t i = 0; i < m->nevidence; i++) {
		jw_object(w, NULL);
		jw_str(w, "ref", m->evidence[i].event ? ref_text(call->arena, REF_EVENT, m->evidence[i].event) : NULL);
		jw_str(w, "role", m->evidence[i].role);
		jw_str(w, "excerpt", m->evidence[i].excerpt);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

static void where_write(struct lookup *l, struct jw *w, int64_t project, const struct session *s)
{
	jw_str(w, "project", lookup_project(l, project));
	jw_str(w, "session", s ? ref_text(l->call->arena, REF_SESSION, s->id) : NULL);
	jw_str(w, "agent", s ? agent_names[s->agent] : NULL);
	jw_str(w, "agent_session", s ? s->agent_session : NULL);
}

/* Where a chunk stands, and what its file says of itself. */
static int place_write(struct op_call *call, struct jw *w, const struct memory *m, struct err *err)
{
	struct chunk_place p;
	bool is_there;
	if (m->kind != KIND_CHUNK)
		return 0;
	if (query_chunk(call->store, call->arena, m->id, &p, &is_there, err))
		return -1;
	if (!is_there)
		return 0;
	jw_str(w, "namespace", p.namespace);
	jw_str(w, "file", path_join(call->arena, p.root, p.path));
	jw_str(w, "file_source", p.path);
	jw_str(w, "section", p.section);
	jw_int(w, "chunk_index", p.index);
	jw_int(w, "position", p.position);
	jw_int(w, "line", p.first_line);
	jw_int(w, "end_line", p.last_line);
	jw_str(w, "checksum", p.checksum);
	if (p.metadata)
		jw_raw(w, "metadata", str_of(p.metadata));
	else
		jw_null(w, "metadata");
	return 0;
}

static int memory_record(struct lookup *l, struct jw *w, int64_t id, struct err *err)
{
	struct memory m;
	if (store_memory_get(l->call->store, l->call->arena, id, &m, err))
		return -1;
	jw_object(w, NULL);
	jw_str(w, "record", "memory");
	jw_str(w, "ref", ref_text(l->call->arena, REF_MEMORY, id));
	jw_str(w, "kind", memory_kind_names[m.kind]);
	jw_str(w, "type", m.type ? memory_type_names[m.type] : NULL);
	where_write(l, w, m.project, lookup_session(l, m.session));
	if (m.turn)
		jw_int(w, "turn", m.turn);
	memory_parts_write(w, &m);
	memory_state_write(l, w, &m);
	memory_base_write(l->call, w, &m);
	int rc = place_write(l->call, w, &m, err);
	jw_end(w, '}');
	return rc;
}

static int event_record(struct lookup *l, struct jw *w, int64_t id, struct err *err)
{
	struct event e;
	if (store_event_get(l->call->store, l->call->arena, id, &e, err))
		return -1;
	const struct session *s = lookup_session(l, e.session);
	jw_object(w, NULL);
	jw_str(w, "record", "event");
	jw_str(w, "ref", ref_text(l->call->arena, REF_EVENT, id));
	jw_str(w, "kind", event_kind_names[e.kind]);
	jw_str(w, "type", e.tool);
	jw_str(w, "title", event_title(l->call->arena, &e));
	where_write(l, w, e.project ? e.project : s ? s->project : 0, s);
	jw_int(w, "at", e.at);
	jw_str(w, "key", e.key);
	jw_str(w, "agent_turn", e.agent_turn);
	jw_str(w, "subagent", e.subagent);
	jw_str(w, "tool", e.tool);
	jw_str(w, "tool_use_id", e.tool_use_id);
	jw_str(w, "status", event_status_names[e.status]);
	if (e.exit_code >= 0)
		jw_int(w, "exit_code", e.exit_code);
	else
		jw_null(w, "exit_code");
	jw_str(w, "cwd", e.cwd);
	jw_str(w, "branch", e.branch);
	jw_str(w, "text", e.text);
	jw_str(w, "input", e.input);
	jw_str(w, "output", e.output);
	jw_str(w, "diff", e.diff);
	jw_array(w, "files");
	for (size_t i = 0; i < e.nfiles; i++)
		jw_str(w, NULL, e.files[i]);
	jw_end(w, ']');
	jw_bool(w, "writes_files", e.writes_files);
	jw_bool(w, "meta", e.is_meta);
	jw_int(w, "true_size", (int64_t)e.true_size);
	jw_bool(w, "suspect", false);
	jw_array(w, "evidence");
	jw_end(w, ']');
	jw_end(w, '}');
	return 0;
}

#define SESSION_SUMMARIES_MAX 50

static int session_memories(struct lookup *l, struct jw *w, int64_t id, struct err *err)
{
	struct memory_query q = { .session = id, .kind = KIND_SUMMARY, .type = -1, .status = MEMORY_ACTIVE, .origin = -1,
		.oldest_first = true, .max = SESSION_SUMMARIES_MAX };
	struct memory *list;
	size_t n;
	if (store_memory_list(l->call->store, l->call->arena, &q, &list, &n, err))
		return -1;
	jw_array(w, "summaries");
	for (size_t i = 0; i < n; i++) {
		jw_object(w, NULL);
		jw_str(w, "ref", ref_text(l->call->arena, REF_MEMORY, list[i].id));
		jw_int(w, "at", list[i].at);
		jw_str(w, "title", memory_title(l->call->arena, &list[i]));
		jw_end(w, '}');
	}
	jw_end(w, ']');
	return 0;
}

static int session_record(struct lookup *l, struct jw *w, int64_t id, struct err *err)
{
	struct session s;
	if (store_session_get(l->call->store, l->call->arena, id, &s, err))
		return -1;
	jw_object(w, NULL);
	jw_str(w, "record", "session");
	jw_str(w, "ref", ref_text(l->call->arena, REF_SESSION, id));
	jw_str(w, "kind", "session");
	where_write(l, w, s.project, &s);
	jw_str(w, "title", s.title);
	jw_str(w, "branch", s.branch);
	jw_str(w, "cwd", s.cwd);
	jw_str(w, "model", s.model);
	jw_str(w, "transcript", s.transcript_path);
	jw_str(w, "parent", s.parent ? ref_text(l->call->arena, REF_SESSION, s.parent) : NULL);
	time_write(w, "started_at", s.started_at);
	time_write(w, "last_event_at", s.last_event_at);
	time_write(w, "ended_at", s.ended_at);
	jw_str(w, "end_reason", s.end_reason);
	jw_bool(w, "headless", s.is_headless);
	jw_int(w, "events", s.events);
	jw_int(w, "memories", s.memories);
	jw_int(w, "tokens_in", s.tokens_in);
	jw_int(w, "tokens_out", s.tokens_out);
	jw_bool(w, "suspect", false);
	int failed = session_memories(l, w, id, err);
	jw_end(w, '}');
	return failed;
}

static int (*const record_writers[])(struct lookup *l, struct jw *w, int64_t id, struct err *err) = {
	[REF_MEMORY] = memory_record, [REF_EVENT] = event_record, [REF_SESSION] = session_record
};

int record_write(struct lookup *l, struct jw *w, const struct ref *ref, struct err *err)
{
	return record_writers[ref->kind](l, w, ref->id, err);
}

static int missing_error(size_t n, const char **refs, struct err *err)
{
	if (n == 1)
		err_set(err, ERR_NOT_FOUND, "there is no record '%s'", refs[0]);
	else
		err_set(err, ERR_NOT_FOUND, "none of the %zu records asked for exists ('%s' …)", n, refs[0]);
	return err_hint(err, "it may have been forgotten; `remanence search` finds what is there");
}

int op_get(struct op_call *call, struct jw *out, struct err *err)
{
	struct lookup l = { .call = call };
	const char **refs;
	size_t n = param_list(call, "refs", "ref", &refs), nmissing = 0;
	if (!n)
		n = param_list(call, "ids", "id", &refs);
	if (!n)
		return err_set(err, ERR_USAGE, "get needs at least one reference");
	const char **missing = ARENA_ARRAY(call->arena, const char *, n);
	jw_object(out, NULL);
	jw_array(out, "records");
	for (size_t i = 0; i < n; i++) {
		struct ref ref;
		struct err why = { 0 };
		if (ref_parse(refs[i], &ref, err))
			return -1;
		if (record_write(&l, out, &ref, &why) == 0)
			continue;
		if (why.code != ERR_NOT_FOUND) {
			if (err)
				*err = why;
			return -1;
		}
		missing[nmissing++] = refs[i];
	}
	jw_end(out, ']');
	jw_array(out, "missing");
	for (size_t i = 0; i < nmissing; i++)
		jw_str(out, NULL, missing[i]);
	jw_end(out, ']');
	jw_end(out, '}');
	return nmissing == n ? missing_error(n, refs, err) : 0;
}
