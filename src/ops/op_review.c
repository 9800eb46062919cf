#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "ops/suspects.h"
#include "store/author.h"
#include "store/query_review.h"
#include "store/stale.h"
#include "text/snippet.h"

/*
 * review: what waits for a person, and the person's word on it. Approved is active and trusted as the person's own; rejected stays
 * in the store as what must not come again, so that the rules and another import find it decided. An agent may look, not decide.
 */

#define REVIEW_LIMIT 50
#define TITLE_COLUMNS 90
#define FILES_MAX 64

/* --- What waits. --- */

/* Why the memory waits; what a person should look at first. */
static const char *reason_of(struct op_call *call, const struct memory *m)
{
	double threshold = settings_real(call->settings, SET_REVIEW_THRESHOLD);
	if (m->status == MEMORY_REJECTED)
		return "rejected";
	if (m->trust <= TRUST_TOOL)
		return "rests only on tool output or outside content";
	if (m->confidence < threshold)
		return arena_printf(call->arena, "confidence %.2f is below review.threshold %.2f", m->confidence, threshold);
	return "waits for a person's word";
}

static void evidence_write(struct op_call *call, struct jw *w, const struct memory *m)
{
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

static void item_write(struct lookup *l, struct jw *w, const struct memory *m)
{
	struct arena *a = l->call->arena;
	const struct session *s = lookup_session(l, m->session);
	jw_object(w, NULL);
	jw_str(w, "ref", ref_text(a, REF_MEMORY, m->id));
	jw_str(w, "kind", memory_kind_names[m->kind]);
	jw_str(w, "category", m->type ? memory_type_names[m->type] : NULL);
	jw_str(w, "title", memory_title(a, m));
	jw_str(w, "text", memory_text(a, m));
	jw_str(w, "status", memory_status_names[m->status]);
	const char *suspect = suspect_reason(l, m);
	jw_bool(w, "suspect", suspect != NULL);
	jw_str(w, "suspect_reason", suspect);
	jw_str(w, "reason", m->status == MEMORY_ACTIVE && suspect ? suspect : reason_of(l->call, m));
	jw_real(w, "confidence", m->confidence, 2);
	jw_str(w, "trust", trust_names[m->trust]);
	jw_str(w, "origin", memory_origin_names[m->origin]);
	jw_str(w, "rule", m->rule);
	jw_str(w, "project", lookup_project(l, m->project));
	jw_str(w, "session", s ? ref_text(a, REF_SESSION, s->id) : NULL);
	jw_int(w, "at", m->at);
	author_write(w, m);
	jw_array(w, "files");
	for (size_t i = 0; i < m->nfiles && i < HIT_FILES_MAX; i++)
		jw_str(w, NULL, m->files[i].path);
	jw_end(w, ']');
	evidence_write(l->call, w, m);
	jw_end(w, '}');
}

/* Two lists, one behind the other: what waits, newest first, then what may no longer hold, the longest suspected first. */
enum part { PART_WAITING, PART_SUSPECT };
enum key { KEY_PART, KEY_AT, KEY_ID, KEYS };
struct review {
	struct lookup l;
	struct jw *out;
	struct cursor c;
	size_t skip, left;
	bool has_more;
};

static int item_put(struct review *r, enum part part, int64_t at, int64_t id, struct err *err)
{
	struct memory m;
	if (r->has_more || !r->left) {
		r->has_more = true;
		return 0;
	}
	if (store_memory_get(r->l.call->store, r->l.call->arena, id, &m, err))
		return -1;
	item_write(&r->l, r->out, &m);
	r->left--;
	r->c.keys[KEY_PART] = part;
	r->c.keys[KEY_AT] = part == PART_WAITING ? m.at : at;
	r->c.keys[KEY_ID] = id;
	return 0;
}

static int waiting_put(struct review *r, enum memory_status status, int64_t *ret_total, struct err *err)
{
	struct review_query q = { .project = r->c.project, .status = status, .skip = r->skip, .max = r->left + 1 };
	int64_t *ids;
	size_t n;
	bool is_behind = r->c.is_given && r->c.keys[KEY_PART] == PART_SUSPECT;
	if (r->c.is_given) {
		q.behind_at = r->c.keys[KEY_AT];
		q.behind_id = r->c.keys[KEY_ID];
	}
	if (query_review(r->l.call->store, r->l.call->arena, &q, &ids, &n, ret_total, err))
		return -1;
	for (size_t i = 0; i < n && !is_behind; i++)
		if (item_put(r, PART_WAITING, 0, ids[i], err))
			return -1;
	r->skip = r->skip > (size_t)*ret_total ? r->skip - (size_t)*ret_total : 0;
	return 0;
}

static int suspects_put(struct review *r, const struct cursor *from, int64_t *io_total, struct err *err)
{
	struct suspect_query q = { .project = r->c.project, .skip = r->skip, .max = r->left + 1 };
	struct suspect_row *rows;
	int64_t total;
	size_t n;
	if (from->is_given && from->keys[KEY_PART] == PART_SUSPECT) {
		q.behind_since = from->keys[KEY_AT];
		q.behind_id = from->keys[KEY_ID];
	}
	if (query_suspects(r->l.call->store, r->l.call->arena, &q, &rows, &n, &total, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (item_put(r, PART_SUSPECT, rows[i].since, rows[i].memory, err))
			return -1;
	*io_total += total;
	return 0;
}

static int list_write(struct op_call *call, struct jw *out, struct err *err)
{
	enum memory_status status = param_bool(call, "rejected") ? MEMORY_REJECTED : MEMORY_PENDING;
	struct review r = { .l = { .call = call }, .out = out, .c = { .op = "review", .nkeys = KEYS },
		.skip = param_size(call, "offset", 0), .left = param_size(call, "limit", REVIEW_LIMIT) };
	int64_t total;
	if (call_project(call, &r.c.project, err) || cursor_read(call, &r.c, err))
		return -1;
	const struct cursor from = r.c;
	jw_object(out, NULL);
	jw_array(out, "review");
	if (waiting_put(&r, status, &total, err) ||
		(status == MEMORY_PENDING && suspects_put(&r, &from, &total, err)))
		return -1;
	jw_end(out, ']');
	jw_int(out, "total", total);
	cursor_write(call, out, &r.c, r.has_more);
	jw_end(out, '}');
	return 0;
}

/* --- The person's word. --- */

struct word {
	struct op_call *call;
	const struct verdict *verdict;
	int64_t id;
	const char *text; /* edit: cleaned */
	uint64_t redactions;
	struct memory after;
};

static void approve(struct word *w, struct memory *m)
{
	m->status = MEMORY_ACTIVE;
	m->trust = TRUST_PERSON;
	m->confidence = 1;
}

static void reject(struct word *w, struct memory *m)
{
	m->status = MEMORY_REJECTED;
	m->is_pinned = false;
}

/* Rules and models leave alone what a person worded. */
static void edit(struct word *w, struct memory *m)
{
	approve(w, m);
	m->origin = ORIGIN_PERSON;
	m->body = w->text;
	m->title = text_one_line(w->call->arena, str_of(w->text), TITLE_COLUMNS);
}

static const struct verdict {
	const char *name, *done;
	bool needs_text;
	void (*apply)(struct word *w, struct memory *m);
} verdicts[] = {
	{ "approve", "approved", false, approve },
	{ "reject", "rejected", false, reject },
	{ "edit", "edited", true, edit },
};

/* A person who approves a suspect says that it holds for its files as they are now. */
static int still_holds(struct store *s, struct arena *a, int64_t memory, struct err *err)
{
	struct file_state *states;
	size_t n;
	if (store_memory_states(s, a, memory, FILES_MAX, &states, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (store_file_base_set(s, memory, states[i].path, states[i].hash, states[i].size, err) ||
			store_suspect_set(s, memory, states[i].path, NULL, clock_now(), err))
			return -1;
	return 0;
}

/* Among colleagues what a person has looked at is there for all of them. Sections of files follow their folder. */
static int approve_shares(struct store *s, struct memory *m, struct err *err)
{
	size_t changed;
	if (!db_is_shared(store_db(s)) || m->is_team || m->kind == KIND_CHUNK)
		return 0;
	m->is_team = true;
	return store_share(s, &m->id, 1, true, &changed, err);
}

static int word_write(struct store *s, void *ctx, struct err *err)
{
	struct word *w = ctx;
	struct memory m;
	if (store_memory_get(s, w->call->arena, w->id, &m, err))
		return -1;
	if (m.status == MEMORY_SUPERSEDED) {
		err_set(err, ERR_USAGE, "memory %lld was superseded and waits for nobody", (long long)m.id);
		return err_hint(err, "`remanence get %lld` shows by what", (long long)m.id);
	}
	w->verdict->apply(w, &m);
	w->after = m;
	if (memory_must_be_mine(&m, "review it", err))
		return -1;
	if (store_memory_put(s, &w->after, err))
		return -1;
	if (m.status == MEMORY_ACTIVE && approve_shares(s, &w->after, err))
		return -1;
	return m.status == MEMORY_ACTIVE ? still_holds(s, w->call->arena, m.id, err) : 0;
}

static int verdict_find(struct word *w, const char *action, struct err *err)
{
	for (size_t i = 0; action && i < ARRAY_LEN(verdicts); i++)
		if (str_ieq(verdicts[i].name, action))
			w->verdict = &verdicts[i];
	if (w->verdict)
		return 0;
	if (action)
		err_set(err, ERR_USAGE, "review cannot '%.40s' a memory", action);
	else
		err_set(err, ERR_USAGE, "review needs to know what to do with memory %lld", (long long)w->id);
	return err_hint(err, "remanence review %lld approve|reject|edit TEXT", (long long)w->id);
}

static int word_read(struct word *w, const char *text, struct err *err)
{
	struct ref ref;
	if (ref_parse(text, &ref, err))
		return -1;
	if (ref.kind != REF_MEMORY)
		return err_set(err, ERR_USAGE, "only memories are reviewed, '%s' is none", text);
	w->id = ref.id;
	if (verdict_find(w, param_text(w->call, "action", NULL), err))
		return -1;
	const char *given = param_joined(w->call, "text", NULL);
	if (!w->verdict->needs_text)
		return given ? err_set(err, ERR_USAGE, "review %s takes no text: '%.60s'", w->verdict->name, given) : 0;
	if (given && text_for_write(w->call, given, &w->text, &w->redactions, err))
		return -1;
	if (w->text && *w->text)
		return 0;
	if (given)
		err_set(err, ERR_USAGE, "nothing was changed: the text is empty or private");
	else
		err_set(err, ERR_USAGE, "review edit needs the new text");
	return err_hint(err, "remanence review %lld edit 'use tabs in Makefiles only'", (long long)w->id);
}

static int word_say(struct op_call *call, const char *ref, struct jw *out, struct err *err)
{
	struct word w = { .call = call };
	if (word_read(&w, ref, err))
		return -1;
	if (call->is_agent) {
		err_set(err, ERR_USAGE, "only a person reviews memories; an agent may look at what waits");
		return err_hint(err, "ask the user to run `remanence review`");
	}
	if (call_write(call, word_write, &w, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "ref", ref_text(call->arena, REF_MEMORY, w.id));
	jw_str(out, "action", w.verdict->done);
	jw_str(out, "status", memory_status_names[w.after.status]);
	jw_str(out, "title", memory_title(call->arena, &w.after));
	author_write(out, &w.after);
	jw_int(out, "redacted", (int64_t)w.redactions);
	jw_end(out, '}');
	return 0;
}

int op_review(struct op_call *call, struct jw *out, struct err *err)
{
	const char *ref = param_text(call, "ref", "refs");
	return ref ? word_say(call, ref, out, err) : list_write(call, out, err);
}
