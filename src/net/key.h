#ifndef NET_KEY_H
#define NET_KEY_H

#include "base/err.h"

/*
 * Where the key of a server comes from. It stands in memory and in a header, and nowhere else: it is
 * never logged and in nobody's arguments.
 */

/* The first that is set counts; all may be NULL. */
struct key_source {
	const char *room;            /* of the settings, for sentences: "observer", "embed" */
	const char *key, *file, *command;
};

/* *ret is on the heap, "" when there is none. ERR_USAGE with a sentence: a file that others can read, a command that fails … */
int key_read(const struct key_source *source, char **ret, struct err *err);
void key_free(char *key); /* wipes it; NULL is fine */
/* Stars in the place of the key, should a server repeat it. */
void key_hide(const char *key, char *text);

#endif
