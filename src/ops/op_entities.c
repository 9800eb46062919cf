#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/entity.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "store/entity.h"
#include "store/query.h"

/*
 * entities: what sessions deal with, by how often; of one: the memories that name it, what it is
 * mentioned together with, and its history by month.
 */

#define NEIGHBOURS_LOOK 300 /* by count, before those that come with everything are put behind */
#define NEIGHBOURS_SHOWN 12
#define MOMENTS_MAX 100000
#define MEMORIES_PAGE 500 /* candidates whose text is read at once */
#define MEMORIES_LOOK 2000 /* in one call; the cursor then stands where looking ended */
#define NEAR_LOOK 5000 /* names compared with one that is not known */
#define NEAR_SHOWN 5

static void count_write(struct jw *out, const struct entity_count *e)
{
	jw_object(out, NULL);
	jw_str(out, "name", e->name);
	jw_str(out, "kind", entity_kind_names[e->kind]);
	jw_int(out, "mentions", e->mentions);
	jw_int(out, "sessions", e->sessions);
	jw_int(out, "first_at", e->first_at);
	jw_int(out, "last_at", e->last_at);
	jw_end(out, '}');
}

static int query_from_params(struct op_call *call, struct entity_query *q, struct err *err)
{
	*q = (struct entity_query){ .skip = param_size(call, "offset", 0),
		.max = param_size(call, "limit", 30) };
	return call_project(call, &q->project, err) ||
			       param_span(call, &q->after, &q->before, err) ||
			       param_name(call, "kind", entity_kind_names, ENTITY_KIND_COUNT, err,
				       &q->kind)
		       ? -1
		       : 0;
}

static void counts_write(struct jw *out, const struct entity_count *list, size_t n, int64_t total)
{
	jw_array(out, "entities");
	for (size_t i = 0; i < n; i++)
		count_write(out, &list[i]);
	jw_end(out, ']');
	jw_int(out, "total", total);
}

/* --- One entity. --- */

/* What comes with everything says little: the share of the neighbour's own turns counts as well. */
static int by_closeness(const void *a, const void *b)
{
	const struct entity_neighbour *x = a, *y = b;
	double cx = (double)x->together * (double)x->together / (double)MAX(x->turns, 1);
	double cy = (double)y->together * (double)y->together / (double)MAX(y->turns, 1);
	return cx > cy ? -1 : cx < cy ? 1 : strcmp(x->name, y->name);
}

static int neighbours_write(
	struct op_call *call, struct jw *out, int64_t entity, int64_t project, struct err *err)
{
	struct entity_neighbour *list;
	size_t n;
	if (store_entity_neighbours(
		    call->store, call->arena, entity, project, NEIGHBOURS_LOOK, &list, &n, err))
		return -1;
	if (n)
		qsort(list, n, sizeof(*list), by_closeness);
	jw_array(out, "neighbours");
	for (size_t i = 0; i < MIN(n, (size_t)NEIGHBOURS_SHOWN); i++) {
		jw_object(out, NULL);
		jw_str(out, "name", list[i].name);
		jw_str(out, "kind", entity_kind_names[list[i].kind]);
		jw_int(out, "together", list[i].together);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static void month_write(struct jw *out, const char *day, const struct entity_moment *list, size_t n,
	int64_t *sessions)
{
	int64_t mentions = 0;
	size_t different = 0;
	for (size_t i = 0; i < n; i++) {
		mentions += list[i].n;
		sessions[i] = list[i].session;
	}
	qsort(sessions, n, sizeof(*sessions), by_number);
	for (size_t i = 0; i < n; i++)
		different += !i || sessions[i] != sessions[i - 1];
	jw_object(out, NULL);
	jw_slice(out, "month", (struct str){ day, strlen("2026-11") });
	jw_int(out, "mentions", mentions);
	jw_int(out, "sessions", (int64_t)different);
	jw_end(out, '}');
}

static int months_write(
	struct op_call *call, struct jw *out, int64_t entity, int64_t project, struct err *err)
{
	struct entity_moment *list;
	size_t n, from = 0;
	const char *month = NULL;
	if (store_entity_moments(
		    call->store, call->arena, entity, project, MOMENTS_MAX, &list, &n, err))
		return -1;
	int64_t *sessions = ARENA_ARRAY(call->arena, int64_t, n + 1);
	jw_array(out, "months");
	for (size_t i = 0; i <= n; i++) {
		const char *day = i < n ? clock_day(call->arena, list[i].at) : "";
		if (month && strncmp(day, month, strlen("2026-11")) != 0) {
			month_write(out, month, list + from, i - from, sessions);
			from = i;
		}
		month = day;
	}
	jw_end(out, ']');
	return 0;
}

static bool memory_names(const struct memory *m, const struct entity_count *e)
{
	const char *const texts[] = { m->title, m->subtitle, m->body, m->facts, m->concepts,
		m->commands, m->request, m->investigated, m->learned, m->completed, m->next_steps,
		m->notes };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i] && entity_is_named(str_of(texts[i]), e->name))
			return true;
	for (size_t i = 0; i < m->nfiles && e->kind == ENTITY_LANGUAGE; i++)
		if (entity_is_language_of(e->name, m->files[i].path))
			return true;
	return false;
}

/* Where in the memories of an entity a page stands: its cursor is at the last one looked at. */
struct naming {
	struct lookup l;
	struct jw *out;
	const struct entity_query *q;
	const struct entity_count *e;
	struct cursor *c;
	size_t skip, left;
	bool has_more;
};

static int naming_take(struct naming *g, struct memory *m, struct err *err)
{
	struct op_call *call = g->l.call;
	struct hit_style style = { 0 };
	bool is_in_time = (!g->q->after || m->at >= g->q->after) && (!g->q->before || m->at <= g->q->before);
	if (!m->id || !is_in_time)
		return 0;
	if (query_memory_files(call->store, call->arena, m, HIT_FILES_MAX, err))
		return -1;
	if (!memory_names(m, g->e))
		return 0;
	if (g->skip) {
		g->skip--;
		return 0;
	}
	if (!g->left) {
		g->has_more = true;
		return 0;
	}
	struct found f = found_memory(&g->l, m);
	found_write(call, g->out, &f, &style);
	g->left--;
	g->c->keys[0] = m->at;
	g->c->keys[1] = m->id;
	return 0;
}

/*
 * The memories that name the entity among those of the turns that mention it, newest first. One more
 * than is wanted is looked for, so that a cursor is given only when something is behind it.
 */
static int memories_write(struct naming *g, struct err *err)
{
	struct op_call *call = g->l.call;
	struct entity_memories q = { .entity = g->e->id, .project = g->q->project, .max = MEMORIES_PAGE };
	size_t n = MEMORIES_PAGE, looked = 0;
	if (g->c->is_given) {
		q.behind_at = g->c->keys[0];
		q.behind_id = g->c->keys[1];
	}
	for (; n == MEMORIES_PAGE && !g->has_more && looked < MEMORIES_LOOK; looked += n) {
		int64_t *ids;
		if (store_entity_memories(call->store, call->arena, &q, &ids, &n, err))
			return -1;
		struct memory *list = ARENA_ARRAY(call->arena, struct memory, n + 1);
		if (n && store_memories(call->store, call->arena, ids, n, list, err))
			return -1;
		for (size_t i = 0; i < n && !g->has_more; i++) {
			if (naming_take(g, &list[i], err))
				return -1;
			if (list[i].id) {
				q.behind_at = list[i].at;
				q.behind_id = list[i].id;
			}
		}
	}
	if (n == MEMORIES_PAGE && !g->has_more) {
		g->has_more = true;
		g->c->keys[0] = q.behind_at;
		g->c->keys[1] = q.behind_id;
	}
	return 0;
}

/* "go-git" for "github.com/go-git/go-git", when only one ends so. NULL when not. */
static const char *by_last_part(const struct entity_count *list, size_t n, const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);
	for (size_t i = 0; i < n; i++) {
		size_t have = strlen(list[i].name);
		if (have <= len || list[i].name[have - len - 1] != '/' ||
			strcmp(list[i].name + have - len, name) != 0)
			continue;
		if (found)
			return NULL;
		found = list[i].name;
	}
	return found;
}

static int not_known(const char *name, const struct entity_count *list, size_t n, struct err *err)
{
	size_t shown = 0;
	AUTO(buf_done) struct buf near = { 0 };
	for (size_t i = 0; i < n && shown < NEAR_SHOWN; i++) {
		if (!strstr(list[i].name, name) && str_distance(list[i].name, name) > 2)
			continue;
		buf_printf(&near, "%s%s", shown++ ? ", " : "", list[i].name);
	}
	err_set(err, ERR_NOT_FOUND, "nothing here mentions '%s'", name);
	if (near.len)
		return err_hint(err, "near: %s", near.data);
	return err_hint(err,
		"`remanence entities` lists what is mentioned, `--project all` asks everywhere");
}

/*
 * The entities of that name: as it is kept, as it was said (classes of errors keep their capitals),
 * by its last part.
 */
static int one_find(struct op_call *call, const char *said, const struct entity_query *q,
	struct entity_count **ret, size_t *ret_n, struct err *err)
{
	struct entity_query named = {
		.project = q->project, .kind = q->kind, .max = ENTITY_KIND_COUNT
	};
	struct entity_query all = { .project = q->project, .kind = q->kind, .max = NEAR_LOOK };
	const char *kept = entity_name(call->arena, said);
	const char *names[] = { kept, said, NULL };
	struct entity_count *list;
	size_t n;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!names[i]) {
			if (store_entity_list(call->store, call->arena, &all, &list, &n, NULL, err))
				return -1;
			names[i] = by_last_part(list, n, kept);
			if (!names[i])
				return not_known(kept, list, n, err);
		}
		named.name = names[i];
		if (store_entity_list(call->store, call->arena, &named, ret, ret_n, NULL, err))
			return -1;
		if (*ret_n)
			return 0;
	}
	return not_known(kept, NULL, 0, err);
}

static int one_write(struct op_call *call, struct jw *out, const char *said, struct entity_query *q,
	struct err *err)
{
	struct cursor c = { .op = "entities", .project = q->project, .nkeys = 2 };
	struct entity_count *list;
	size_t n;
	if (cursor_read(call, &c, err) || one_find(call, said, q, &list, &n, err))
		return -1;
	struct naming g = { .l = { .call = call }, .out = out, .q = q, .e = &list[0], .c = &c,
		.skip = q->skip, .left = q->max };
	jw_object(out, NULL);
	jw_str(out, "name", list[0].name);
	counts_write(out, list, n, (int64_t)n);
	jw_array(out, "memories");
	if (memories_write(&g, err))
		return -1;
	jw_end(out, ']');
	cursor_write(call, out, &c, g.has_more);
	if (neighbours_write(call, out, list[0].id, q->project, err) ||
		months_write(call, out, list[0].id, q->project, err))
		return -1;
	jw_end(out, '}');
	return 0;
}

enum key { KEY_MENTIONS, KEY_SESSIONS, KEY_KIND, KEYS }; /* and the name */

static int all_write(struct op_call *call, struct jw *out, struct entity_query *q, struct err *err)
{
	struct cursor c = { .op = "entities", .project = q->project, .nkeys = KEYS };
	struct entity_count *list, behind;
	size_t n, limit = q->max;
	int64_t total;
	if (cursor_read(call, &c, err))
		return -1;
	if (c.is_given) {
		behind = (struct entity_count){ .kind = (enum entity_kind)c.keys[KEY_KIND],
			.name = c.name,
			.mentions = c.keys[KEY_MENTIONS],
			.sessions = c.keys[KEY_SESSIONS] };
		q->behind = &behind;
	}
	q->max = limit + 1;
	if (store_entity_list(call->store, call->arena, q, &list, &n, &total, err))
		return -1;
	bool has_more = n > limit;
	n = MIN(n, limit);
	jw_object(out, NULL);
	counts_write(out, list, n, total);
	if (n) {
		c.keys[KEY_MENTIONS] = list[n - 1].mentions;
		c.keys[KEY_SESSIONS] = list[n - 1].sessions;
		c.keys[KEY_KIND] = list[n - 1].kind;
		c.name = list[n - 1].name;
	}
	cursor_write(call, out, &c, has_more);
	jw_end(out, '}');
	return 0;
}

int op_entities(struct op_call *call, struct jw *out, struct err *err)
{
	const char *name = param_joined(call, "name", "entity");
	struct entity_query q;
	if (query_from_params(call, &q, err))
		return -1;
	return name ? one_write(call, out, name, &q, err) : all_write(call, out, &q, err);
}
