#ifndef OBSERVE_REPLY_PROSE_H
#define OBSERVE_REPLY_PROSE_H

#include "observe/reply.h"

/* What an answer is when it holds no memory: by its words, in English, French, German and Spanish. */

/* UTF-8 without byte order mark and NUL. */
struct str reply_clean(struct arena *a, struct str text);
/* Without thinking; *ret_had_some. What is left may be empty. */
struct str reply_unthink(struct str text, bool *ret_had_some);
bool reply_is_page(struct str text);
/* REPLY_NOTHING, QUOTA, REFUSAL, EMPTY or PROSE. */
enum reply_class reply_prose_class(struct arena *a, struct str text);
/* The first sentence, for people; NULL. */
const char *reply_first_sentence(struct arena *a, struct str text);

#endif
