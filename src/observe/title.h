#ifndef OBSERVE_TITLE_H
#define OBSERVE_TITLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Titles and sentences out of what agents write: filler stripped, markdown debris removed, one line, cut at a grapheme border. */

#define TITLE_MAX 90 /* characters */

/* The first sentence that says something; NULL when there is none ("Perfect!", "Done."). */
char *title_from_reply(struct arena *a, struct str reply);
/* A prompt as a title; NULL when it means nothing alone ("yes", "continue", "can you fix it?", a slash command). */
char *title_from_prompt(struct arena *a, struct str prompt);
/* Plain text of markdown: emphasis, headings, links, bullets reduced to sentences; code kept. */
char *plain_from_markdown(struct arena *a, struct str text);

#endif
