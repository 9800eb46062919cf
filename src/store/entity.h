#ifndef STORE_ENTITY_H
#define STORE_ENTITY_H

#include "model/entity.h"
#include "store/store.h"

/*
 * Entities and their mentions. A mention is keyed (turn, entity) and replaced with its turn, as the
 * memories of the rules are: the same events give the same counts, however often and in whatever
 * order they are read. An entity that nothing mentions any more goes.
 */

/* Replaces the mentions of this turn; what is the same stays as it is. */
int store_turn_mentions(struct store *s, const struct turn *t, const struct mention *list, size_t n,
	struct err *err);
/* The turn is gone, or its events are no longer what they were. */
int mentions_drop(struct store *s, int64_t turn, struct err *err);

struct entity_count;
struct entity_query {
	int64_t project;       /* 0: any */
	int64_t after, before; /* 0: any */
	int kind;              /* -1: any */
	const char *name;      /* canonical; NULL: any */
	const struct entity_count *behind; /* those that come behind this one; NULL: from the first */
	size_t skip, max;
};
struct entity_count {
	int64_t id;
	enum entity_kind kind;
	const char *name;
	int64_t mentions, sessions, first_at, last_at;
};
/*
 * Most mentioned first. *ret_total: how many there are without skip and max; NULL when nobody wants
 * to know.
 */
int store_entity_list(struct store *s, struct arena *a, const struct entity_query *q,
	struct entity_count **ret, size_t *ret_n, int64_t *ret_total, struct err *err);

struct entity_neighbour {
	enum entity_kind kind;
	const char *name;
	int64_t together; /* turns that mention both */
	int64_t turns;    /* turns that mention this one, in all projects */
};
/* Those mentioned in the same turns; the `max` with the highest count. */
int store_entity_neighbours(struct store *s, struct arena *a, int64_t entity, int64_t project,
	size_t max, struct entity_neighbour **ret, size_t *ret_n, struct err *err);

struct entity_moment {
	int64_t at, session, n;
};
/* Its mentions turn by turn, oldest first; the latest `max`. */
int store_entity_moments(struct store *s, struct arena *a, int64_t entity, int64_t project,
	size_t max, struct entity_moment **ret, size_t *ret_n, struct err *err);
/*
 * Active memories made of turns that mention it, or resting on them, and notes of no turn; newest
 * first. Whether they name it is for the caller to see.
 */
struct entity_memories {
	int64_t entity, project;      /* project 0: any */
	int64_t behind_at, behind_id; /* those that come behind this one; id 0: from the first */
	size_t max;
};
int store_entity_memories(struct store *s, struct arena *a, const struct entity_memories *q,
	int64_t **ret, size_t *ret_n, struct err *err);

#endif
