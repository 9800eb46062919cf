#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/backups.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/query.h"

/*
 * forget: erase for good. Rows and tombstones in one transaction, then the index's segments, free pages and the log, then what
 * lies in quarantine. More than one thing needs a yes; what would go can be asked first (dry_run). Backups cannot be changed:
 * those that may still hold it are named.
 */

#define TITLES_SHOWN 3
#define PLAN_TITLES 50
#define EVENTS_LISTED 1000
#define QUARANTINE_FILE_MAX (16u << 20)

struct id_list {
	int64_t *p;
	size_t n, cap;
};

struct forgetting {
	struct op_call *call;
	struct forget_query *queries; /* one per session asked for, one for the rest */
	size_t n;
	struct id_list memories, events, sessions; /* what all plans come to */
	const char *match;
};

static bool has_id(const struct id_list *list, int64_t id)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->p[i] == id)
			return true;
	return false;
}

/* A plan holds each id once; several may overlap. */
static void ids_take(struct forgetting *f, struct id_list *list, const int64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (f->n == 1 || !has_id(list, from[i]))
			ARENA_PUSH(f->call->arena, list->p, list->n, list->cap, from[i]);
}

static int plans_make(struct forgetting *f, struct store *s, struct err *err)
{
	f->memories.n = f->events.n = f->sessions.n = 0;
	for (size_t i = 0; i < f->n; i++) {
		struct forget_plan plan = { 0 };
		if (store_forget_plan(s, f->call->arena, &f->queries[i], &plan, err))
			return -1;
		ids_take(f, &f->memories, plan.memories, plan.nmemories);
		ids_take(f, &f->events, plan.events, plan.nevents);
		ids_take(f, &f->sessions, plan.sessions, plan.nsessions);
	}
	return 0;
}

static int forget_write(struct store *s, void *ctx, struct err *err)
{
	struct forgetting *f = ctx;
	for (size_t i = 0; i < f->n; i++) {
		struct forget_plan plan = { 0 };
		if (store_forget_plan(s, f->call->arena, &f->queries[i], &plan, err) || store_forget(s, &plan, err))
			return -1;
	}
	return 0;
}

/* --- What is asked. --- */

static int refs_read(struct forgetting *f, struct forget_query *rest, struct err *err)
{
	const char **refs;
	size_t n = param_list(f->call, "refs", "ref", &refs);
	int64_t *memories = ARENA_ARRAY(f->call->arena, int64_t, n + 1), *events = ARENA_ARRAY(f->call->arena, int64_t, n + 1);
	f->queries = ARENA_ARRAY(f->call->arena, struct forget_query, n + 2);
	for (size_t i = 0; i < n; i++) {
		struct ref ref;
		if (ref_parse(refs[i], &ref, err))
			return -1;
		if (ref.kind == REF_SESSION)
			f->queries[f->n++] = (struct forget_query){ .session = ref.id };
		else if (ref.kind == REF_MEMORY)
			memories[rest->nmemories++] = ref.id;
		else
			events[rest->nevents++] = ref.id;
	}
	rest->memories = memories;
	rest->events = events;
	return 0;
}

static int query_read(struct forgetting *f, struct err *err)
{
	struct op_call *call = f->call;
	struct forget_query named = { 0 }, wide = { 0 };
	const char *session = param_text(call, "session", NULL);
	if (refs_read(f, &named, err) || call_project_named(call, &wide.project, err) ||
		param_time(call, "before", false, &wide.before, err))
		return -1;
	if (session && session_find(call, session, &wide.session, err))
		return -1;
	wide.match = f->match = param_text(call, "match", NULL);
	if (named.nmemories || named.nevents)
		f->queries[f->n++] = named;
	if (wide.session || wide.project || wide.before || wide.match)
		f->queries[f->n++] = wide;
	if (f->n)
		return 0;
	err_set(err, ERR_USAGE, "forget needs a reference, --session, --project, --before or --match");
	return err_hint(err, "for example: remanence forget 12");
}

static int missing_error(struct forgetting *f, struct err *err)
{
	const char **refs;
	if (param_list(f->call, "refs", "ref", &refs))
		return err_set(err, ERR_NOT_FOUND, "there is no record '%s'", refs[0]);
	return err_set(err, ERR_NOT_FOUND, "nothing that is stored fits this");
}

/* --- Asking first. --- */

static const char *memory_title_of(struct forgetting *f, int64_t id)
{
	struct memory m;
	struct err ignored;
	if (store_memories(f->call->store, f->call->arena, &id, 1, &m, &ignored) || !m.id)
		return NULL;
	return memory_title(f->call->arena, &m);
}

static void counts_say(const struct forgetting *f, struct buf *b)
{
	const struct {
		size_t n;
		const char *one, *many;
	} counts[] = { { f->memories.n, "memory", "memories" }, { f->events.n, "event", "events" },
		{ f->sessions.n, "session", "sessions" } };
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (counts[i].n)
			buf_printf(b, "%s%zu %s", b->len ? ", " : "", counts[i].n, counts[i].n == 1 ? counts[i].one : counts[i].many);
}

static int yes_needed(struct forgetting *f, struct err *err)
{
	AUTO(buf_done) struct buf counts = { 0 };
	AUTO(buf_done) struct buf titles = { .max = ERR_TEXT_MAX / 2 };
	counts_say(f, &counts);
	for (size_t i = 0; i < f->memories.n && i < TITLES_SHOWN; i++) {
		const char *title = memory_title_of(f, f->memories.p[i]);
		if (title)
			buf_printf(&titles, "%s%s", titles.len ? "; " : ": ", title);
	}
	err_set(err, ERR_USAGE, "nothing was forgotten: this would erase %s for good%s%s", buf_cstr(&counts), buf_cstr(&titles),
		f->memories.n > TITLES_SHOWN ? " …" : "");
	return err_hint(err, "repeat it with --yes; --dry-run shows what would go");
}

static void plan_write(struct forgetting *f, struct jw *out)
{
	struct arena *a = f->call->arena;
	jw_object(out, "plan");
	jw_int(out, "memories", (int64_t)f->memories.n);
	jw_int(out, "events", (int64_t)f->events.n);
	jw_int(out, "sessions", (int64_t)f->sessions.n);
	jw_array(out, "items");
	for (size_t i = 0; i < f->memories.n && i < PLAN_TITLES; i++) {
		jw_object(out, NULL);
		jw_str(out, "ref", ref_text(a, REF_MEMORY, f->memories.p[i]));
		jw_str(out, "title", memory_title_of(f, f->memories.p[i]));
		jw_end(out, '}');
	}
	jw_end(out, ']');
	jw_end(out, '}');
}

/* --- Erasing. --- */

static int scrub(struct store *s, void *ctx, struct err *err)
{
	(void)ctx;
	return store_scrub(s, err);
}

/* Spool files that were put aside as unreadable may hold what is forgotten. */
static size_t quarantine_purge(struct forgetting *f, const char *const *needles, size_t n)
{
	const char *dir = path_join(f->call->arena, f->call->paths->spool, "bad");
	char **names;
	size_t nnames, removed = 0;
	struct err ignored;
	if (!n || file_list(f->call->arena, dir, &names, &nnames, &ignored))
		return 0;
	for (size_t i = 0; i < nnames; i++) {
		AUTO(buf_done) struct buf data = { 0 };
		const char *path = path_join(f->call->arena, dir, names[i]);
		if (file_read(path, QUARANTINE_FILE_MAX, &data, &ignored))
			continue;
		for (size_t k = 0; k < n; k++) {
			if (!str_find((struct str){ data.data, data.len }, str_of(needles[k])))
				continue;
			removed += unlink(path) == 0;
			break;
		}
	}
	return removed;
}

static size_t needles_make(struct forgetting *f, const char ***ret)
{
	struct lookup l = { .call = f->call };
	size_t n = 0;
	const char **needles = ARENA_ARRAY(f->call->arena, const char *, f->sessions.n + 1);
	for (size_t i = 0; i < f->sessions.n; i++) {
		const struct session *s = lookup_session(&l, f->sessions.p[i]);
		if (s && s->agent_session)
			needles[n++] = s->agent_session;
	}
	if (f->match)
		needles[n++] = f->match;
	*ret = needles;
	return n;
}

/* When the earliest of what goes came to be: older backups cannot hold it. */
static int64_t first_at(struct forgetting *f)
{
	struct err ignored;
	struct memory m;
	int64_t first = 0, at;
	if (!query_events_first_at(f->call->store, f->events.p, f->events.n, &at, &ignored))
		first = at;
	for (size_t i = 0; i < f->memories.n; i++)
		if (!store_memories(f->call->store, f->call->arena, &f->memories.p[i], 1, &m, &ignored) && m.id &&
			(!first || m.created_at < first))
			first = m.created_at;
	return first;
}

static int erase(struct forgetting *f, struct err *err)
{
	const struct services *v = f->call->services;
	if (call_write(f->call, forget_write, f, err))
		return -1;
	if (v->index_purge && v->index_purge(v->daemon, false, err))
		return err_prefix(err, "it is forgotten, but the index could not be rewritten");
	int failed = v->maintain ? v->maintain(v->daemon, scrub, NULL, err) : call_write(f->call, scrub, NULL, err);
	return failed ? err_prefix(err, "it is forgotten, but free pages could not be overwritten") : 0;
}

static void forgotten_write(struct forgetting *f, struct jw *out)
{
	struct arena *a = f->call->arena;
	jw_array(out, "forgotten");
	for (size_t i = 0; i < f->memories.n; i++)
		jw_str(out, NULL, ref_text(a, REF_MEMORY, f->memories.p[i]));
	for (size_t i = 0; i < f->sessions.n; i++)
		jw_str(out, NULL, ref_text(a, REF_SESSION, f->sessions.p[i]));
	for (size_t i = 0; f->events.n <= EVENTS_LISTED && i < f->events.n; i++)
		jw_str(out, NULL, ref_text(a, REF_EVENT, f->events.p[i]));
	jw_end(out, ']');
	jw_int(out, "memories", (int64_t)f->memories.n);
	jw_int(out, "events", (int64_t)f->events.n);
	jw_int(out, "sessions", (int64_t)f->sessions.n);
}

int op_forget(struct op_call *call, struct jw *out, struct err *err)
{
	struct forgetting f = { .call = call };
	bool is_dry = param_bool(call, "dry_run");
	if (query_read(&f, err) || plans_make(&f, call->store, err))
		return -1;
	size_t things = f.memories.n + f.events.n + f.sessions.n;
	if (!things)
		return missing_error(&f, err);
	if (!is_dry && things > 1 && !param_bool(call, "yes"))
		return yes_needed(&f, err);
	if (is_dry) {
		jw_object(out, NULL);
		jw_array(out, "forgotten");
		jw_end(out, ']');
		plan_write(&f, out);
		jw_end(out, '}');
		return 0;
	}
	const char **needles;
	size_t nneedles = needles_make(&f, &needles);
	int64_t since = first_at(&f);
	if (erase(&f, err))
		return -1;
	size_t quarantined = quarantine_purge(&f, needles, nneedles);
	jw_object(out, NULL);
	forgotten_write(&f, out);
	jw_int(out, "quarantined", (int64_t)quarantined);
	backups_write(call, out, "backups", since);
	jw_end(out, '}');
	return 0;
}
