#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"

/* Time. Points are Unix milliseconds (int64_t), spans are milliseconds. */

int64_t clock_now(void);        /* wall clock */
uint64_t clock_mono_us(void);   /* monotonic, microseconds */
uint64_t clock_cpu_us(void);    /* processor time of this thread, microseconds; 0 where the system does not tell */
void clock_sleep_us(uint64_t us); /* less when a signal comes */
struct timespec clock_after_us(uint64_t us); /* the moment so long from now, as pthread_cond_timedwait takes it */
/* "2026-11-29T17:15:00.123Z", with any offset, fraction optional; 0 when it is not such a time. */
int64_t clock_parse_iso(const char *s);
/* What people type: ISO dates and times, "2026-11", "17:15", "today", "yesterday", "7d", "3 days ago", "now", local zone. `is_end` gives the end of a day or month. False when not understood. */
bool clock_parse_human(const char *s, int64_t now, bool is_end, int64_t *ret);
/* "2h", "30m", "7d", "90s", "1w", "500ms" to milliseconds. */
bool clock_parse_span(const char *s, int64_t *ret);
char *clock_iso(struct arena *a, int64_t at);      /* UTC, "…Z" */
char *clock_day(struct arena *a, int64_t at);      /* local, "2026-11-29" */
int64_t clock_day_start(int64_t at); /* of the local day that this time is in */
int64_t clock_day_next(int64_t at);  /* of the local day after it */
char *clock_minute(struct arena *a, int64_t at);   /* local, "2026-11-29 17:15" */
char *clock_ago(struct arena *a, int64_t at, int64_t now); /* "3 min ago", "2 days ago" */
char *clock_age(struct arena *a, int64_t at, int64_t now); /* for columns, at most 5 wide: "now", "3min", "2d", "9mo" */

#endif
