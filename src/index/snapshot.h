#ifndef INDEX_SNAPSHOT_H
#define INDEX_SNAPSHOT_H

#include <pthread.h>

#include "index/build.h"
#include "index/segment.h"

/*
 * What a search sees: the segments, which of their documents are removed, and the statistics of the
 * rest. A snapshot never changes; the writer makes a new one and puts it in the place of the old
 * under the lock. The last to leave frees.
 */

struct dead {          /* removed documents of one segment, copied to change */
	unsigned refs; /* guarded by the lock */
	uint32_t n;
	uint8_t bits[];
};

struct view {
	struct segment *seg;
	struct dead *dead; /* NULL: none */
};

struct class_totals {
	uint64_t docs, words;
};

struct snapshot {
	unsigned refs;      /* guarded by the lock */
	struct view *views; /* those of files first, then the tail, each by age */
	size_t n;
	struct class_totals classes[CLASS_COUNT];
	/* Sessions by slot; slot 0 takes what belongs to none. */
	uint32_t nslots;
	uint32_t *session_words, *session_docs; /* of documents that count for the session */
	uint32_t *session_memory_words;         /* memories' are counted apart, not in session_words */
	uint32_t sessions;                      /* with at least one such document */
	uint64_t session_words_total, session_memory_words_total;
	/* Last, since a copy stops before it: made by the first search that needs them (sessions.c). */
	struct session_norms *_Atomic norms;
};

/*
 * Memory that searches use one after the other, so that not each of them asks the system for new
 * pages.
 */
struct room {
	char *bytes;
	size_t size, used, missed; /* missed: what did not fit */
};
#define ROOMS 2
#define ROOM_MAX (2u << 20)

struct index {
	char *dir;
	pthread_mutex_t lock;
	pthread_cond_t left; /* a snapshot was freed */
	struct snapshot *current;
	unsigned snapshots; /* alive */
	uint64_t seq;
	struct room *rooms[ROOMS]; /* those nobody uses now */
	/* The writer's own. */
	struct builder *builder;
	uint64_t next_file;
	uint64_t flushed_seq;
	bool is_changed;                 /* removals since the last flush */
	uint32_t nslots, *slot_sessions; /* session of each slot */
	uint32_t *slot_table;            /* slot by hash of the session, open addressing */
	size_t slot_table_size, slot_sessions_cap;
};

struct room *room_take(struct index *ix);
void room_leave(struct index *ix, struct room *room);
void room_free(struct room *room);

struct snapshot *snapshot_take(struct index *ix);
void snapshot_leave(struct index *ix, struct snapshot *s);

/*
 * For the writer: a copy to change (with room for `more` segments), the change of a document's
 * state, and its publication.
 */
struct snapshot *snapshot_copy(struct index *ix, size_t more);
void snapshot_remove(struct index *ix, struct snapshot *s, doc_id id);
void snapshot_remove_at(struct index *ix, struct snapshot *s, size_t view, uint32_t doc);
void snapshot_add(struct index *ix, struct snapshot *s,
	struct segment *seg); /* takes the reference; its documents count */
/* Replaces the views marked in `gone` by one (or none) that holds the same live documents. */
void snapshot_replace(
	struct index *ix, struct snapshot *s, const bool *gone, struct segment *merged);
void snapshot_publish(struct index *ix, struct snapshot *s);
void index_fill_slots(struct index *ix, struct segment *seg);

static inline bool view_is_dead(const struct view *v, uint32_t doc)
{
	return v->dead && (v->dead->bits[doc >> 3] >> (doc & 7) & 1);
}

#endif
