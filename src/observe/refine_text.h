#ifndef OBSERVE_REFINE_TEXT_H
#define OBSERVE_REFINE_TEXT_H

#include "base/arena.h"
#include "base/str.h"
#include "observe/refine.h"

/* Texts of models held against what happened, sentence by sentence. Pure. */

struct grounds {
	struct arena *a;
	const struct str *evidence;
	const int64_t *events; /* 0: of the digest itself */
	size_t n;
	const char *prompt;    /* in small letters; what the person says that they did is theirs */
	struct refine_counts *counts;
};

/* Does the evidence have all that the text names? Counts claims and those without support. */
bool text_is_supported(struct grounds *g, struct str text);
/* What is left when sentences without support are taken out; NULL when nothing is. *removed grows. */
char *text_supported(struct grounds *g, const char *text, size_t *removed);
/* "The user ran …" becomes "The assistant ran …", unless the person says so. The input when all is well. */
const char *text_attribute(struct grounds *g, const char *text);
/* Sentences that say of the person what an assistant does; `prompt` may be NULL. */
size_t text_misattributed(struct str text, const char *prompt);
/* About the recorder, not the work: names us, where the work does not. */
bool text_is_about_us(const struct grounds *g, const char *text);
/* The same said: alike, and with the same names and numbers. */
bool text_is_same(const char *x, const char *y);
/* ASCII case ignored. */
bool evidence_has(const struct grounds *g, struct str what);

#endif
