#include "ops/context_build.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ops/suspects.h"
#include "store/fact.h"
#include "store/query.h"
#include "store/stale.h"

/*
 * Before a file is read: its past, once a session. What went wrong with it and what was decided
 * comes first, then the latest work. Before it is changed: its last decision and what was tried
 * and given up.
 */

#define FILE_CANDIDATES 24
#define FILE_GIVEN_MAX 4
#define FILE_WORK_MAX 2 /* of them plain work */
#define FILE_NAMES 4
#define EDIT_GIVEN_MAX 3
#define EARLIER_WIDTH 160

#define TYPES(...) types_of((const enum memory_type[]){ __VA_ARGS__, TYPE_NONE })
static unsigned types_of(const enum memory_type *list)
{
	unsigned types = 0;
	for (; *list; list++)
		types |= 1u << *list;
	return types;
}

static bool is_of(const struct memory *m, unsigned types)
{
	return m->type && (types >> m->type & 1);
}

static bool is_warning(const struct memory *m)
{
	return m->is_pinned || m->kind == KIND_NOTE ||
	       is_of(m, TYPES(TYPE_BUGFIX, TYPE_DECISION, TYPE_SECURITY_ALERT, TYPE_SECURITY_NOTE,
				FACT_DECISION, FACT_CONVENTION, FACT_ERROR_FIX, FACT_DEAD_END));
}

/* Memories about the file by all of its names, newest first for each. */
static int past_load(struct context_build *b, struct memory **ret, size_t *ret_n, struct err *err)
{
	const char *names[FILE_NAMES] = { call_file(b->call, b->q->file) };
	int64_t *all = ARENA_ARRAY(b->call->arena, int64_t, FILE_NAMES * FILE_CANDIDATES);
	size_t n = 0, nnames = 1;

	if (store_older_names(
		    b->call->store, b->call->arena, b->q->project, names, FILE_NAMES, &nnames, err))
		return -1;
	for (size_t i = 0; i < nnames; i++) {
		int64_t *ids;
		size_t found;
		if (query_memories_of_file(b->call->store, b->call->arena, b->q->project, names[i],
			    FILE_CANDIDATES, &ids, &found, err))
			return -1;
		memcpy(all + n, ids, sizeof(*ids) * found);
		n += found;
	}
	return context_load(b, all, n, ret, ret_n, err);
}

/* Has this file's past been told in this session, and not been compacted away since? */
static int was_told(struct context_build *b, const char *where, const struct memory *list, size_t n,
	bool *ret, struct err *err)
{
	int64_t *ids = ARENA_ARRAY(b->call->arena, int64_t, n + 1);
	int64_t since = 0;

	*ret = false;
	for (size_t i = 0; i < n; i++)
		ids[i] = list[i].id;
	if (!b->q->session || !n)
		return 0;
	if (query_injected_at(b->call->store, b->q->session, where, ids, n, 0, ret, err))
		return -1;
	/*
	 * Finding the last compaction means walking over the session's events: only when it
	 * matters.
	 */
	if (!*ret)
		return 0;
	if (query_compacted_at(b->call->store, b->q->session, &since, err))
		return -1;
	return since ? query_injected_at(
			       b->call->store, b->q->session, where, ids, n, since, ret, err)
		     : 0;
}

static size_t give_where(
	struct context_build *b, struct memory *list, size_t n, bool warnings, size_t max)
{
	size_t given = 0;

	for (size_t i = 0; i < n && given < max; i++) {
		struct memory *m = &list[i];
		if (is_warning(m) == warnings && context_is_trusted(m) &&
			!frame_has(b->frame, m->id))
			given += context_give(b, m);
	}
	return given;
}

int context_file(struct context_build *b, struct err *err)
{
	struct memory *list;
	size_t n;
	bool is_told;

	if (!b->q->project || !b->q->file)
		return 0;
	if (past_load(b, &list, &n, err) || was_told(b, "file", list, n, &is_told, err))
		return -1;
	if (!n || is_told)
		return 0;
	if (context_sift(b, list, &n, err))
		return -1;
	frame_section(b->frame, "file", NULL, 1);
	size_t given = give_where(b, list, n, true, FILE_GIVEN_MAX);
	give_where(b, list, n, false, MIN(FILE_GIVEN_MAX - given, (size_t)FILE_WORK_MAX));
	return 0;
}

/* What this fact took the place of: so that nobody goes back to it unknowingly. */
static void give_earlier(struct context_build *b, const struct memory *m)
{
	struct arena *a = b->call->arena;
	struct memory *list = NULL;
	int64_t *ids;
	size_t n;
	struct err ignored;

	if (m->kind != KIND_FACT ||
		store_fact_siblings(b->call->store, a, m->id, &ids, &n, &ignored))
		return;
	list = ARENA_ARRAY(a, struct memory, n + 1);
	if (n && store_memories(b->call->store, a, ids, n, list, &ignored))
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].id && list[i].superseded_by == m->id)
			frame_add(b->frame,
				arena_printf(a, "  Until %s: %s\n", clock_day(a, list[i].valid_to),
					frame_line(a, memory_title(a, &list[i]), EARLIER_WIDTH)));
}

int context_edit(struct context_build *b, struct err *err)
{
	struct memory *list;
	size_t n, given = 0;

	if (!b->q->project || !b->q->file)
		return 0;
	if (past_load(b, &list, &n, err) || context_sift(b, list, &n, err))
		return -1;
	frame_section(b->frame, "edit", NULL, 1);
	for (size_t i = 0; i < n && given < EDIT_GIVEN_MAX; i++)
		if (is_of(&list[i],
			    TYPES(TYPE_DECISION, FACT_DECISION, FACT_CONVENTION, FACT_DEAD_END)) &&
			context_is_trusted(&list[i]) && !suspect_reason(&b->l, &list[i]) &&
			!fact_is_revised(&b->branches, &list[i]) && context_give(b, &list[i])) {
			give_earlier(b, &list[i]);
			given++;
		}
	return 0;
}
