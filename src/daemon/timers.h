#ifndef DAEMON_TIMERS_H
#define DAEMON_TIMERS_H

/*
 * What the daemon does by the clock: one table. Nothing runs more often than every
 * TIMERS_SHORTEST_MS, so that an idle daemon sleeps. Runs on the main thread; work on the store
 * goes through the writer's background lane.
 */

#define TIMERS_SHORTEST_MS 1000

struct daemon;
struct timers;
struct timers *timers_new(struct daemon *d);
void timers_free(struct timers *t); /* NULL is fine */
/* Runs what is due; returns the milliseconds until something is due again. */
int timers_run(struct timers *t);

#endif
