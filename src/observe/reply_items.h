#ifndef OBSERVE_REPLY_ITEMS_H
#define OBSERVE_REPLY_ITEMS_H

#include "observe/reply.h"
#include "observe/reply_node.h"

/* The memories in a tree, whatever its members are called and however deep they lie. */

struct items_found {
	struct arena *a;
	struct reply *reply;
	bool drops_open;    /* items without an end are halves */
	bool has_container; /* something that would hold memories was there, perhaps empty */
	bool has_error;     /* an error of the server instead of an answer */
	const char *nothing; /* why there are none, as the model says */
	/* Texts that may hold an answer themselves, of an envelope. */
	struct str inner;
};

void items_find(struct items_found *f, const struct node *root);

#endif
