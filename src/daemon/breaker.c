/* When a provider is asked, and when it is left alone. */
#include "daemon/breaker.h"

#include <stdio.h>

#include "base/mem.h"

#define DOUBLINGS_MAX 30
#define PAUSE_DOUBLINGS_MAX 4

const char *const breaker_names[BREAKER_STATE_COUNT] = {
	[BREAKER_CLOSED] = "closed",
	[BREAKER_OPEN] = "open",
	[BREAKER_PROBING] = "half-open",
	[BREAKER_PAUSED] = "paused",
};

int64_t backoff(int64_t base, int64_t max, int64_t times, double chance)
{
	int64_t wait = base;

	for (int64_t i = 0; i < MIN(times, (int64_t)DOUBLINGS_MAX) && wait < max; i++)
		wait *= 2;
	wait = MIN(wait, max);
	return wait / 2 + (int64_t)((double)(wait - wait / 2) * chance);
}

enum permit breaker_ask(struct breaker *b, int64_t now, int64_t *ret_at)
{
	*ret_at = b->hold > now ? b->hold : 0;
	if (*ret_at)
		return PERMIT_NO;
	if (b->state == BREAKER_CLOSED)
		return PERMIT_YES;
	if (b->state == BREAKER_PROBING)
		return PERMIT_NO; /* whoever probes tells how it went */
	*ret_at = b->until;
	if (now < b->until)
		return PERMIT_NO;
	b->is_pause = b->state == BREAKER_PAUSED;
	b->state = BREAKER_PROBING;
	return PERMIT_PROBE;
}

void breaker_succeeded(struct breaker *b)
{
	*b = (struct breaker){ 0 };
}

static void remember(struct breaker *b, enum call_outcome why, const char *text)
{
	b->why = why;
	snprintf(b->text, sizeof(b->text), "%s", text ? text : "");
}

bool breaker_failed(
	struct breaker *b, int64_t now, double chance, enum call_outcome why, const char *text)
{
	bool was_closed = b->state == BREAKER_CLOSED;

	b->failures++;
	if (b->state == BREAKER_PAUSED)
		return false;
	remember(b, why, text);
	if (was_closed && b->failures < BREAKER_FAILURES)
		return false;
	if (b->state != BREAKER_OPEN)
		b->until = now + backoff(BREAKER_OPEN_MS, BREAKER_OPEN_MAX_MS, b->opened++, chance);
	b->state = BREAKER_OPEN;
	return was_closed;
}

void breaker_limited(struct breaker *b, int64_t now, double chance, int64_t after_ms)
{
	int64_t wait = after_ms >= 0
			       ? MIN(after_ms, (int64_t)BREAKER_HOLD_MAX_MS)
			       : backoff(BREAKER_HOLD_MS, BREAKER_HOLD_MAX_MS, b->held, chance);

	b->held++;
	b->hold = MAX(b->hold, now + wait);
	/* It answers: that is all that a probe asks. */
	if (b->state == BREAKER_PROBING && !b->is_pause)
		b->state = BREAKER_CLOSED;
	else
		breaker_undo(b);
}

bool breaker_paused(struct breaker *b, int64_t now, enum call_outcome why, const char *text)
{
	bool is_news = why != b->why || (b->state != BREAKER_PAUSED && !b->is_pause);

	if (b->state != BREAKER_PAUSED) {
		int64_t wait = (int64_t)BREAKER_PAUSE_MS << MIN(b->opened, PAUSE_DOUBLINGS_MAX);
		b->until = now + MIN(wait, (int64_t)BREAKER_PAUSE_MAX_MS);
		b->opened++;
	}
	b->state = BREAKER_PAUSED;
	b->is_pause = true;
	remember(b, why, text);
	return is_news;
}

void breaker_undo(struct breaker *b)
{
	if (b->state == BREAKER_PROBING)
		b->state = b->is_pause ? BREAKER_PAUSED : BREAKER_OPEN;
}

bool breaker_is_usable(const struct breaker *b)
{
	return b->state == BREAKER_CLOSED || b->state == BREAKER_PROBING;
}
