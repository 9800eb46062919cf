/*
 * See chains.h. A line whose parent is unknown is taken to the newest chain: dropped lines in
 * between are common.
 */

#include "agents/chains.h"

#include <stdio.h>
#include <string.h>

static void chain_push(struct chain *c, const char *uuid)
{
	snprintf(c->tail[c->at++ % CHAIN_TAIL], CHAIN_ID_MAX, "%s", uuid);
}

static struct chain *chain_of(struct chains *c, const char *parent)
{
	for (size_t i = c->n; i-- > 0;)
		for (size_t j = 0; j < CHAIN_TAIL; j++)
			if (!strcmp(c->items[i].tail[j], parent))
				return &c->items[i];
	return c->n ? &c->items[c->n - 1] : NULL;
}

static struct chain *chain_new(struct chains *c, const char *root)
{
	if (c->n == CHAINS_MAX) {
		memmove(c->items, c->items + 1, sizeof(c->items[0]) * (CHAINS_MAX - 1));
		c->n--;
	}
	struct chain *chain = &c->items[c->n++];
	*chain = (struct chain){ 0 };
	snprintf(chain->root, sizeof(chain->root), "%s", root);
	return chain;
}

const char *chains_follow(struct chains *c, const char *uuid, const char *parent)
{
	struct chain *chain = parent && *parent ? chain_of(c, parent) : NULL;
	if (!chain)
		chain = chain_new(c, uuid && *uuid ? uuid : "sidechain");
	if (uuid && *uuid)
		chain_push(chain, uuid);
	return chain->root;
}

void chains_print(const struct chains *c, struct jw *w, const char *key)
{
	jw_array(w, key);
	for (size_t i = 0; i < c->n; i++) {
		const struct chain *chain = &c->items[i];
		jw_object(w, NULL);
		jw_str(w, "root", chain->root);
		jw_array(w, "tail");
		size_t from = chain->at > CHAIN_TAIL ? chain->at - CHAIN_TAIL : 0;
		for (size_t j = from; j < chain->at; j++)
			jw_str(w, NULL, chain->tail[j % CHAIN_TAIL]);
		jw_end(w, ']');
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void chains_load(struct chains *c, const json *list)
{
	for (size_t i = 0; i < json_len(list); i++) {
		const char *root = json_str(json_at(list, i), "root");
		const json *tail = json_get(json_at(list, i), "tail");
		if (!root)
			continue;
		struct chain *chain = chain_new(c, root);
		for (size_t j = 0; j < json_len(tail); j++) {
			const char *uuid = json_value_str(json_at(tail, j));
			if (uuid)
				chain_push(chain, uuid);
		}
	}
}
