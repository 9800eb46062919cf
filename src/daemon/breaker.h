#ifndef DAEMON_BREAKER_H
#define DAEMON_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/job.h"

/*
 * The breaker of a provider: after BREAKER_FAILURES failures in a row nothing is sent for a while
 * that doubles each time; then one probe goes out, whose result closes or opens it again. Rate
 * limits make everybody wait as long as the server said and count against nobody. Trouble that waiting does not
 * mend (authentication, quota, setup) pauses it; a probe goes out once in a long while. Pure: time
 * and chance are given. Whoever shares one guards it.
 */

#define BREAKER_FAILURES 3
#define BREAKER_OPEN_MS 5000 /* the first time; doubles */
#define BREAKER_OPEN_MAX_MS 600000
#define BREAKER_PAUSE_MS 1800000 /* until a probe, after quota or authentication; doubles */
#define BREAKER_PAUSE_MAX_MS (6 * 3600000)
#define BREAKER_HOLD_MS 15000 /* after a rate limit that says nothing; doubles */
#define BREAKER_HOLD_MAX_MS 3600000
#define RETRY_MS 5000 /* of one job, after a failure; doubles */
#define RETRY_MAX_MS 3600000

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_PROBING, BREAKER_PAUSED, BREAKER_STATE_COUNT };
extern const char *const breaker_names[BREAKER_STATE_COUNT];

struct breaker {
	enum breaker_state state;
	bool is_pause;   /* what a probe returns to when it fails without a word */
	int failures;    /* in a row */
	int opened, held; /* in a row: for the doubling */
	int64_t until;   /* open or paused: when a probe may go; 0 */
	int64_t hold;    /* nothing is sent before, whatever the state */
	enum call_outcome why;
	char text[ERR_TEXT_MAX]; /* of the last failure, or "" */
};

enum permit { PERMIT_NO, PERMIT_YES, PERMIT_PROBE };
/* May a request be sent? A probe must be followed by one of the four below. *ret_at: ask again then. */
enum permit breaker_ask(struct breaker *b, int64_t now, int64_t *ret_at);
void breaker_succeeded(struct breaker *b);
/* chance: 0 to 1. True when it opened just now. */
bool breaker_failed(struct breaker *b, int64_t now, double chance, enum call_outcome why, const char *text);
/* after_ms: what the server said, -1: nothing. */
void breaker_limited(struct breaker *b, int64_t now, double chance, int64_t after_ms);
/* True when it was not paused for this before: the time to say so. */
bool breaker_paused(struct breaker *b, int64_t now, enum call_outcome why, const char *text);
/* A probe came to nothing (given up by us). */
void breaker_undo(struct breaker *b);
/* Does it let requests through, now or as soon as a rate limit is over? */
bool breaker_is_usable(const struct breaker *b);

/* base doubled `times` times, at most max, of it half to the whole by chance. */
int64_t backoff(int64_t base, int64_t max, int64_t times, double chance);

#endif
