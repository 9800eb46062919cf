#ifndef OBSERVE_REPLY_NODE_H
#define OBSERVE_REPLY_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * What JSON and XML of models have in common: a tree of named values. Two readers make it, neither
 * of which can fail; one walker finds the memories in it. In the arena of the reply.
 */

#define NODE_DEPTH_MAX 32
#define NODES_MAX 20000 /* of one reply; what comes after is not read */
#define NODE_KEY_MAX 64

enum node_kind { NODE_TEXT, NODE_NUMBER, NODE_WORD /* true, null, NaN … */, NODE_LIST, NODE_OBJECT };

struct node {
	enum node_kind kind;
	const char *key;   /* in small letters, "-" and blanks as "_"; NULL in lists */
	struct str text;   /* of texts, numbers and words */
	struct node *first, *last, *next;
	bool is_open;      /* its end is missing */
};

struct node_reader {
	struct arena *a;
	const char *p, *end;
	size_t nodes;
	unsigned depth;
	bool is_loose;     /* something was not as the standard wants it */
	bool is_torn;      /* the text ended inside of a word or a quoted text */
};

struct node *node_new(struct node_reader *r, enum node_kind kind);
void node_add(struct node *parent, struct node *child);
/* The key as all are compared. */
char *node_key(struct arena *a, struct str raw);
struct node *node_get(const struct node *object, const char *key); /* NULL */

/*
 * reply_json.c: one value at r->p, which stands at "{" or "[" (else NULL); r->p is moved behind what
 * was read, at least by one. Comments, single and typographic quotes, bare keys, missing commas and
 * ends, trailing commas, Python's words: all are read.
 */
struct node *node_read_json(struct node_reader *r);
/*
 * reply_xml.c: all elements that are ours in the text from r->p on, as members of an object; NULL
 * when there is none. Tags that are not ours are text.
 */
struct node *node_read_xml(struct node_reader *r);

#endif
