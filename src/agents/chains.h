#ifndef AGENTS_CHAINS_H
#define AGENTS_CHAINS_H

#include <stddef.h>

#include "base/json.h"

/*
 * Side chains of old Claude Code transcripts, whose lines say only that they are one: which
 * sub-agent a line belongs to is found by following parentUuid. A chain is named by the uuid of its
 * first line. Several chains run at once; the oldest of more than CHAINS_MAX is forgotten. Owned by
 * one reader.
 */

#define CHAINS_MAX 16
#define CHAIN_TAIL 8 /* last lines of a chain that a next line may hang on */
#define CHAIN_ID_MAX 48

struct chain {
	char root[CHAIN_ID_MAX];
	char tail[CHAIN_TAIL][CHAIN_ID_MAX];
	size_t at;
};

struct chains {
	struct chain items[CHAINS_MAX];
	size_t n;
};

/* The name of the chain that this line belongs to, valid until the next call. */
const char *chains_follow(struct chains *c, const char *uuid, const char *parent);
void chains_print(const struct chains *c, struct jw *w, const char *key);
void chains_load(struct chains *c, const json *list);

#endif
