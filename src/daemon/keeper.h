#ifndef DAEMON_KEEPER_H
#define DAEMON_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/readers.h"
#include "daemon/writer.h"

/*
 * The keeper: a thread of low priority that finds out whether memories still hold. It notes what
 * the files of new memories were, looks at files that may have changed since, and asks git where
 * the work of other branches has arrived. Every round is bounded by the limits below; without
 * anything to do it sleeps. Nobody waits for it: what it has not looked at yet counts as unknown.
 */

#define KEEPER_MEMORIES 256         /* new ones in one round */
#define KEEPER_FILES 256            /* looked at in one round */
#define KEEPER_SWEEP_FILES 2000     /* of a sweep */
#define KEEPER_GIT_CALLS 48         /* in one round */
#define KEEPER_HASH_MAX (4u << 20)  /* bytes of a file; larger ones are compared by size */
#define KEEPER_FILE_MEMORIES 2000   /* about one file; older ones are not judged */
#define KEEPER_BRANCH_MEMORIES 2000 /* of one project; older ones stay as they were judged last */
#define KEEPER_CHECKOUTS 32         /* work trees of one project, those looked from last */
#define KEEPER_HINTS \
	256 /* files and work trees that somebody pointed at; further ones wait for the sweep */
#define KEEPER_NOTE_AGE_MS 3600000 /* a work tree is noted again after this time */
#define KEEPER_SWEEP_AGE_MS 600000 /* files that were looked at since are left out of a sweep */

struct keeper;
struct keeper *keeper_new(struct readers *readers, struct writer *writer);
void keeper_leave(struct keeper *k); /* ends the thread after its round; NULL is fine */
void keeper_free(struct keeper *k);  /* once nobody pokes any more; NULL is fine */
/* Something was written. */
void keeper_poke(struct keeper *k);
/* A file of this project seems to have changed. */
void keeper_file(struct keeper *k, int64_t project, const char *path);
/* Somebody of this project stands in this work tree. */
void keeper_checkout(struct keeper *k, int64_t project, const char *root);
/* Looks at files that nobody looked at for long. */
void keeper_sweep(struct keeper *k);
bool keeper_is_idle(struct keeper *k);

#endif
