#ifndef EMBED_TRIE_H
#define EMBED_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "embed/model.h"

/*
 * A walk down a double array as darts-clone (https://github.com/s-yata/darts-clone) lays it out:
 * the child for byte c of the node at `at` is at `at ^ c`, if the unit there says that it is
 * reached by c. Units out of bounds are no children.
 */

struct trie_walk {
	const struct trie *trie;
	size_t at; /* where the children of the present node begin */
};

static inline size_t trie_offset(uint32_t unit)
{
	return (size_t)(unit >> 10) << ((unit & 0x200) >> 6);
}

static inline struct trie_walk trie_start(const struct trie *t)
{
	return (struct trie_walk){ t, trie_offset(t->units[0]) };
}

/* False when no key goes on with c. *ret_value is set to the value of the key that ends here, or to -1. */
static inline bool trie_step(struct trie_walk *w, unsigned char c, int64_t *ret_value)
{
	size_t at = w->at ^ c;
	uint32_t unit;

	if (c == 0 || at >= w->trie->n)
		return false;
	unit = w->trie->units[at];
	if ((unit & 0x800000ffu) != c)
		return false;
	w->at = at ^ trie_offset(unit);
	*ret_value = -1;
	if (unit & 0x100 && w->at < w->trie->n)
		*ret_value = w->trie->units[w->at] & 0x7fffffffu;
	return true;
}

#endif
