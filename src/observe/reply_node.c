#include "observe/reply_node.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

struct node *node_new(struct node_reader *r, enum node_kind kind)
{
	struct node *n;

	if (r->nodes >= NODES_MAX)
		return NULL;
	r->nodes++;
	n = ARENA_NEW(r->a, struct node);
	n->kind = kind;
	n->text = (struct str){ "", 0 };
	return n;
}

void node_add(struct node *parent, struct node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

char *node_key(struct arena *a, struct str raw)
{
	char *key;

	raw = str_trim(raw);
	raw.n = MIN(raw.n, NODE_KEY_MAX);
	key = arena_dup(a, raw.p, raw.n);
	for (size_t i = 0; i < raw.n; i++) {
		/* "nextSteps" is "next_steps". */
		if (key[i] == '-' || key[i] == ' ')
			key[i] = '_';
	}
	for (size_t i = 1; i < raw.n; i++)
		if (isupper((unsigned char)key[i]) && islower((unsigned char)key[i - 1])) {
			char *wide = arena_alloc(a, raw.n + 2);

			memcpy(wide, key, i);
			wide[i] = '_';
			memcpy(wide + i + 1, key + i, raw.n - i);
			key = wide;
			raw.n++;
			i++;
		}
	for (size_t i = 0; i < raw.n; i++)
		key[i] = (char)tolower((unsigned char)key[i]);
	return key;
}

struct node *node_get(const struct node *object, const char *key)
{
	for (struct node *n = object ? object->first : NULL; n; n = n->next)
		if (n->key && strcmp(n->key, key) == 0)
			return n;
	return NULL;
}
