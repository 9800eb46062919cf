#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/find.h"
#include "ops/param.h"
#include "store/query.h"

/*
 * timeline: level 2 of finding, what happened around something. Around a memory: the memories of its project before and after,
 * with the prompts that led to them. Around an event: the events of its session. A session: all of it, in order.
 */

#define AROUND 10            /* items on each side when nothing is said */
#define PROMPTS_MAX 200      /* of one window */
#define NO_LIMIT LIMIT_MAX
#define BEFORE_ALL_IDS (-1)

struct timeline {
	struct op_call *call;
	struct lookup l;
	int memory_kind;         /* -1: any */
	unsigned event_kinds;    /* bits; 0: any */
	bool wants_memories, wants_events;
	size_t before_n, after_n, limit;
	char *anchor;
	struct found *items;
	size_t n, cap;
	struct cursor c;         /* of a session's list; elsewhere there is none */
	int64_t total;           /* of a session */
	bool has_more;
};
enum key { KEY_AT, KEY_IS_MEMORY, KEY_ID, KEYS };

static int64_t item_at(const struct found *f)
{
	return f->memory ? f->memory->at : f->event->at;
}

/* In order of time; at the same moment what happened stands before what was made of it. */
static int item_order(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int64_t tx = item_at(x), ty = item_at(y);
	if (tx != ty)
		return tx < ty ? -1 : 1;
	if (!x->memory != !y->memory)
		return x->memory ? 1 : -1;
	int64_t ix = x->memory ? x->memory->id : x->event->id, iy = y->memory ? y->memory->id : y->event->id;
	return (ix > iy) - (ix < iy);
}

static void memory_add(struct timeline *t, const struct memory *m)
{
	struct found f = found_memory(&t->l, m);
	ARENA_PUSH(t->call->arena, t->items, t->n, t->cap, f);
}

static int events_add(struct timeline *t, const struct event_query *q, struct err *err)
{
	struct arena *a = t->call->arena;
	int64_t *ids;
	size_t n;
	if (query_events(t->call->store, a, q, &ids, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct event *e = ARENA_NEW(a, struct event);
		if (store_event_get(t->call->store, a, ids[i], e, err))
			return -1;
		struct found f = found_event(&t->l, e);
		ARENA_PUSH(a, t->items, t->n, t->cap, f);
	}
	return 0;
}

/* The prompts of the project between the first and the last memory shown. */
static int prompts_add(struct timeline *t, int64_t project, struct err *err)
{
	int64_t from = INT64_MAX, to = 0;
	for (size_t i = 0; i < t->n; i++) {
		from = MIN(from, item_at(&t->items[i]));
		to = MAX(to, item_at(&t->items[i]));
	}
	struct event_query q = { .project = project, .after = from, .before = to,
		.kinds = t->event_kinds ? t->event_kinds : 1u << EVENT_PROMPT, .newest_first = true, .max = PROMPTS_MAX };
	return t->n && project ? events_add(t, &q, err) : 0;
}

static int around_time(struct timeline *t, int64_t project, int64_t at, struct err *err)
{
	struct memory *list;
	size_t n;
	if (store_memory_neighbours(t->call->store, t->call->arena, project, at, t->before_n, t->after_n, t->memory_kind, &list,
		    &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		memory_add(t, &list[i]);
	return t->wants_events ? prompts_add(t, project, err) : 0;
}

static bool has_memory(const struct timeline *t, int64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].memory && t->items[i].memory->id == id)
			return true;
	return false;
}

static int around_memory(struct timeline *t, int64_t id, struct err *err)
{
	struct memory *m = ARENA_NEW(t->call->arena, struct memory);
	if (store_memory_get(t->call->store, t->call->arena, id, m, err))
		return -1;
	if (around_time(t, m->project, m->at, err))
		return -1;
	if (!has_memory(t, id))
		memory_add(t, m);
	return 0;
}

static int session_memories_add(struct timeline *t, struct memory_query *q, struct err *err)
{
	struct memory *list;
	size_t n;
	q->kind = t->memory_kind;
	q->type = q->origin = -1;
	q->status = MEMORY_ACTIVE;
	q->oldest_first = true;
	if (store_memory_list(t->call->store, t->call->arena, q, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		memory_add(t, &list[i]);
	return 0;
}

static int around_event(struct timeline *t, int64_t id, struct err *err)
{
	struct event e;
	if (store_event_get(t->call->store, t->call->arena, id, &e, err))
		return -1;
	struct event_query before = { .session = e.session, .before = e.at, .kinds = t->event_kinds, .newest_first = true,
		.max = t->before_n + 1 };
	struct event_query after = { .session = e.session, .after = e.at + 1, .kinds = t->event_kinds, .max = t->after_n };
	if (events_add(t, &before, err) || events_add(t, &after, err))
		return -1;
	int64_t from = e.at, to = e.at;
	for (size_t i = 0; i < t->n; i++) {
		from = MIN(from, item_at(&t->items[i]));
		to = MAX(to, item_at(&t->items[i]));
	}
	struct memory_query between = { .session = e.session, .after = from, .before = to + 1, .max = t->limit };
	return t->wants_memories ? session_memories_add(t, &between, err) : 0;
}

static int whole_session(struct timeline *t, int64_t id, struct err *err)
{
	struct session s;
	struct cursor *c = &t->c;
	struct event_query events = { .session = id, .kinds = t->event_kinds, .max = t->limit + 1 };
	struct memory_query memories = { .session = id, .max = t->limit + 1 };
	const struct session_count count = { id, t->wants_memories, t->wants_events, t->memory_kind, t->event_kinds };
	*c = (struct cursor){ .op = "timeline", .nkeys = KEYS };
	if (store_session_of(t->call->store, t->call->arena, id, &s, err) || cursor_read(t->call, c, err))
		return -1;
	if (c->is_given) {
		events.behind_at = memories.behind_at = c->keys[KEY_AT];
		events.behind_id = c->keys[KEY_IS_MEMORY] ? INT64_MAX : c->keys[KEY_ID];
		memories.behind_id = c->keys[KEY_IS_MEMORY] ? c->keys[KEY_ID] : BEFORE_ALL_IDS;
	}
	if ((t->wants_events && events_add(t, &events, err)) ||
		(t->wants_memories && session_memories_add(t, &memories, err)))
		return -1;
	t->has_more = t->n > t->limit;
	return query_session_items(t->call->store, &count, &t->total, err);
}

static void cursor_at(struct timeline *t, const struct found *f)
{
	t->c.keys[KEY_AT] = item_at(f);
	t->c.keys[KEY_IS_MEMORY] = f->memory != NULL;
	t->c.keys[KEY_ID] = f->memory ? f->memory->id : f->event->id;
}

static int (*const anchors[])(struct timeline *t, int64_t id, struct err *err) = {
	[REF_MEMORY] = around_memory, [REF_EVENT] = around_event, [REF_SESSION] = whole_session
};

static int around_query(struct timeline *t, const char *text, struct err *err)
{
	struct find f = { .text = text, .limit = 1 };
	struct find_result r;
	int64_t project;
	if (call_project(t->call, &project, err))
		return -1;
	f.filter.project = (uint32_t)project;
	if (find_run(&t->l, &f, &r, err))
		return -1;
	if (!r.n)
		return 0;
	t->anchor = found_ref(t->call->arena, &r.found[0]);
	return r.found[0].memory ? around_memory(t, r.found[0].memory->id, err) : around_event(t, r.found[0].event->id, err);
}

static int around_what(struct timeline *t, struct err *err)
{
	struct op_call *call = t->call;
	const char *text = param_text(call, "ref", "refs"), *query = param_joined(call, "query", NULL);
	int64_t at, project;
	struct ref ref;
	if (text) {
		if (ref_parse(text, &ref, err))
			return -1;
		t->anchor = ref_text(call->arena, ref.kind, ref.id);
		if (ref.kind == REF_SESSION && json_type(json_get(call->params, "limit")) == JSON_NULL)
			t->limit = NO_LIMIT;
		return anchors[ref.kind](t, ref.id, err);
	}
	if (query)
		return around_query(t, query, err);
	if (param_time(call, "at", false, &at, err))
		return -1;
	if (!at)
		return err_set(err, ERR_USAGE, "timeline needs a reference, --at TIME or --query TEXT");
	t->anchor = clock_iso(call->arena, at);
	return call_project(call, &project, err) || around_time(t, project, at, err) ? -1 : 0;
}

static int kind_from_params(struct timeline *t, struct err *err)
{
	const char *kind = param_text(t->call, "kind", NULL);
	t->memory_kind = -1;
	t->wants_memories = t->wants_events = true;
	if (!kind)
		return 0;
	int memory = name_find(memory_kind_names, MEMORY_KIND_COUNT, kind);
	int event = name_find(event_kind_names, EVENT_KIND_COUNT, kind);
	if (memory <= 0 && event <= 0) {
		err_set(err, ERR_USAGE, "there is no kind '%s'", kind);
		return err_hint(err, "one of: observation, summary, fact, note, prompt, reply, tool, compaction, start, end");
	}
	t->memory_kind = memory > 0 ? memory : -1;
	t->event_kinds = event > 0 ? 1u << event : 0;
	t->wants_memories = memory > 0;
	t->wants_events = event > 0;
	return 0;
}

static bool is_wanted(const struct timeline *t, const struct found *f)
{
	return f->memory ? t->wants_memories : t->wants_events;
}

/* More than the limit: what lies nearest to the anchor stays (a session's beginning when it is one). */
static void window_find(const struct timeline *t, size_t *ret_from, size_t *ret_to)
{
	size_t at = 0;
	*ret_from = 0;
	*ret_to = t->n;
	if (t->n <= t->limit)
		return;
	while (at < t->n && strcmp(found_ref(t->call->arena, &t->items[at]), t->anchor))
		at++;
	if (at < t->n)
		*ret_from = MIN(at > t->limit / 2 ? at - t->limit / 2 : 0, t->n - t->limit);
	*ret_to = *ret_from + t->limit;
}

static void timeline_write(struct timeline *t, struct jw *out)
{
	struct hit_style style = { .lookup = &t->l };
	size_t kept = 0, from, to;
	for (size_t i = 0; i < t->n; i++)
		if (is_wanted(t, &t->items[i]))
			t->items[kept++] = t->items[i];
	t->n = kept;
	if (t->n)
		qsort(t->items, t->n, sizeof(t->items[0]), item_order);
	window_find(t, &from, &to);
	jw_object(out, NULL);
	jw_str(out, "anchor", t->anchor);
	jw_int(out, "total", t->c.op ? t->total : (int64_t)t->n);
	jw_array(out, "items");
	for (size_t i = from; i < to; i++) {
		found_write(t->call, out, &t->items[i], &style);
		cursor_at(t, &t->items[i]);
	}
	jw_end(out, ']');
	cursor_write(t->call, out, &t->c, t->has_more);
	jw_real(out, "took_ms", (double)(clock_mono_us() - t->call->started_us) / 1000.0, 3);
	jw_end(out, '}');
}

int op_timeline(struct op_call *call, struct jw *out, struct err *err)
{
	struct timeline t = { .call = call, .l = { .call = call } };
	t.before_n = param_size(call, "before_n", AROUND);
	t.after_n = param_size(call, "after_n", AROUND);
	t.limit = MAX(param_size(call, "limit", NO_LIMIT), (size_t)1);
	if (kind_from_params(&t, err) || around_what(&t, err))
		return -1;
	if (!t.c.op && param_text(call, "cursor", NULL)) {
		err_set(err, ERR_USAGE, "only the timeline of a session has a cursor");
		return err_hint(err, "what lies further away is shown with --before-n, --after-n or --at");
	}
	timeline_write(&t, out);
	return 0;
}
