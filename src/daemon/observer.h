#ifndef DAEMON_OBSERVER_H
#define DAEMON_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/current.h"
#include "daemon/readers.h"
#include "daemon/writer.h"
#include "observe/unit.h"

/*
 * The observer: a thread that runs the rules over turns that are quiet and dirty. It reads with a
 * reader and hands the memories to the writer's background lane; one round is written while the next
 * is read. A turn whose session got another
 * event between reading and writing is left dirty and comes again.
 */

#define OBSERVER_TURNS 64        /* in one round */
#define OBSERVER_DICTIONARY_ROWS 1000 /* enough to learn a first dictionary from */
#define OBSERVER_QUIET_MS 120000 /* without an event: quiet */

struct observer;
/* current: whose settings hold; NULL: as they come. */
struct observer *observer_new(
	struct readers *readers, struct writer *writer, struct current *current);
void observer_free(struct observer *o); /* ends the thread after its round; NULL is fine */
/* Whom to tell that jobs wait for a model, on the observer's thread; NULL: nobody any more. */
void observer_tell(struct observer *o, void (*jobs_wait)(void *ctx), void *ctx);
/* A turn may be quiet now. */
void observer_poke(struct observer *o);
/*
 * Events of this session have been committed: on the writer thread, from `done`. Sets the quiet
 * timer.
 */
void observer_touch(struct observer *o, int64_t session);
/* Waits until no turn is quiet and dirty, or *stop. */
void observer_wait(struct observer *o, const _Atomic bool *stop);
/* turns that are only not quiet yet do not count: the next start observes them */
bool observer_is_idle(struct observer *o);
/* Memories made since the daemon started. */
uint64_t observer_made(struct observer *o);

#endif
