#ifndef DAEMON_EMBEDDING_H
#define DAEMON_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "daemon/current.h"
#include "daemon/follow.h"
#include "daemon/readers.h"
#include "daemon/writer.h"
#include "embed/vector.h"
#include "index/vectors.h"

/*
 * The embedding: one thread of the lowest priority that makes a vector of what the index holds and
 * vectors are made of (embedding_text.h), the newest first, while words alone answer. It stands
 * back while there is other work, in the daemon or on the machine, goes on where it was after a restart, and makes anew what was
 * lost. Without a model file, or switched off by `embed.provider`, it waits for one. A server that
 * `embed.provider` names makes them instead: many texts in a request, with a breaker.
 */

#define EMBEDDING_PAGE 64            /* changes looked at together */
#define EMBEDDING_BATCH 2            /* vectors made between two looks at what else there is to do */
#define EMBEDDING_STAND_BACK_MS 50   /* longest wait for others in this daemon before one batch */
#define EMBEDDING_GIVE_BACK_MS 100   /* longest rest after one batch, where others want the processor */
#define EMBEDDING_FLUSH_MS 15000     /* an idle tail is written after this time, the model's pages given back */
#define EMBEDDING_LOOK_MS 60000      /* between two looks for a model file */
#define EMBEDDING_QUESTION_MAX 2000  /* bytes of a question that are embedded */

struct embedding_setup {
	const char *dir;  /* of the vectors */
	const char *home; /* data folder: its model/ is looked into first */
	struct readers *readers;
	struct writer *writer;
	struct follow *follow;
	struct current *current;
	bool (*is_busy)(void *ctx); /* others work now */
	void *ctx;
};

struct embedding;
struct embedding *embedding_new(const struct embedding_setup *setup);
void embedding_free(struct embedding *e); /* writes the tail; NULL is fine */
/* Something changed: the store, the index, the settings or the model file. */
void embedding_wake(struct embedding *e);
/* A question's vector, and what it may be compared with. */
struct embedding_question {
	struct vector_query *query;
	struct vectors *vectors;
};
/*
 * The question's vector against the store's mean. False when there is nothing to compare with now;
 * why: a sentence, ERR_TEXT_MAX bytes, may be NULL. About a millisecond with the builtin embedder,
 * up to embed.ask_ms with a server; any thread.
 */
bool embedding_ask(struct embedding *e, struct str text, struct embedding_question *ret, char *why);
/*
 * The vector of a memory whose text has this hash (embedding_text.h), as so many numbers, by this model and no other; false:
 * it has none now. Any thread.
 */
struct embedding_wanted {
	const char *model;
	uint32_t dims;
	int64_t memory;
	uint32_t hash;
};
bool embedding_find(struct embedding *e, const struct embedding_wanted *w, float *ret);
/* Of those that are made now. */
void embedding_vectors_stats(struct embedding *e, struct vectors_stats *ret);

/* What the index no longer holds is erased here too; nothing that is under way brings it back. */
int embedding_purge(struct embedding *e, struct err *err);
/* Everything is looked at again; what has its vector keeps it. For an index that is filled anew. */
void embedding_restart(struct embedding *e);

/* Takes in the file after checking it, or what stands at the usual places when NULL; uses it from now on. */
int embedding_install(struct embedding *e, const char *file, struct err *err);
/* Removes the file in the data folder. ERR_NOT_FOUND when there is none. */
int embedding_remove(struct embedding *e, struct err *err);

struct embedding_state {
	bool is_on;
	char why[ERR_TEXT_MAX];  /* not */
	char hint[ERR_TEXT_MAX]; /* what to do about it */
	char model[128], kernel[32], file[1024];
	uint32_t dims; /* numbers of a vector; 0: not known yet */
	bool has_old;  /* vectors of the model before answer meanwhile */
	int64_t waiting;         /* changes not looked at yet, at most */
	uint64_t made;           /* since the start */
	char trouble[ERR_TEXT_MAX];
};
void embedding_state(struct embedding *e, struct embedding_state *ret);
bool embedding_is_idle(struct embedding *e);

#endif
