#ifndef OBSERVE_CLEAN_H
#define OBSERVE_CLEAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/capture.h"
#include "text/redact.h"

/*
 * Cleaning, before anything durable: our own injected blocks (CONTEXT_OPEN … CONTEXT_CLOSE) and banners, <private>…</private>
 * (unclosed: to the end; nested; escaped; split over fields), system reminders and the other wrappers that agents put around
 * text, binary and base64, then secrets. Also what must never become a prompt. Pure.
 */

#define CONTEXT_OPEN "<remanence-context>"
#define CONTEXT_CLOSE "</remanence-context>"
#define BANNER_PREFIX "[remanence]" /* begins each line by which we report our own state inside a session */

/*
 * Cleans all texts of an event in place (new strings in `a`). *redactions grows. False when nothing is left that is worth
 * storing: a prompt of wrappers only, a reply without words. A prompt that was private as a whole still begins a turn.
 */
bool clean_event(struct arena *a, const struct redactor *r, struct captured_event *e, uint64_t *redactions);
struct str clean_text(struct arena *a, const struct redactor *r, struct str text, uint64_t *redactions);

#endif
