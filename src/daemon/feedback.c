#include "daemon/feedback.h"

#include <string.h>

#include "base/mem.h"
#include "observe/use.h"
#include "store/query.h"

static int memories_load(struct store *s, struct arena *a, const struct injected *given, size_t n, struct memory **ret, struct err *err)
{
	int64_t *ids = ARENA_ARRAY(a, int64_t, n);
	*ret = ARENA_ARRAY(a, struct memory, n);
	for (size_t i = 0; i < n; i++)
		ids[i] = given[i].memory;
	if (store_memories(s, a, ids, n, *ret, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if ((*ret)[i].id && query_memory_files(s, a, &(*ret)[i], USE_FILES_MAX + 1, err))
			return -1;
	return 0;
}

int feedback_read(struct store *s, struct arena *a, const struct turn *t, const struct event *events, size_t n,
	struct feedback *ret, struct err *err)
{
	struct memory *memories;
	int64_t last = n ? events[n - 1].at : t->last_event_at;
	*ret = (struct feedback){ 0 };
	if (store_injected_list(s, a, t->session, last, FEEDBACK_MEMORIES_MAX, &ret->given, &ret->n, err))
		return -1;
	if (!ret->n)
		return 0;
	if (memories_load(s, a, ret->given, ret->n, &memories, err))
		return -1;
	struct use_turn *turn = use_turn_make(a, events, n);
	for (size_t i = 0; i < ret->n; i++) {
		struct injected *g = &ret->given[i];
		bool is_file = g->where && !strcmp(g->where, "file");
		unsigned bits = memories[i].id ? use_of(turn, &memories[i], g->at, is_file) : 0;
		/* What is known already is not written again. */
		g->used = g->used >= 0 && !(bits & ~(unsigned)g->used) ? -1 : (int)bits;
	}
	return 0;
}

int feedback_write(struct store *s, const struct feedback *f, struct err *err)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->given[i].used >= 0 &&
			store_injected_used(s, f->given[i].injection, f->given[i].position, f->given[i].used, err))
			return -1;
	return 0;
}
