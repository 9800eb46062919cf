#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/room.h"

/*
 * Pieces of text that the dictionaries hold, as hashes of windows of some bytes, and which of
 * them belong to what is being forgotten: load, mark the rows before they go, settle after.
 */

struct window {
	uint64_t hash;
	bool is_forgotten;
};

struct windows {
	struct window *p; /* sorted by hash; none without a dictionary */
	size_t n, nforgotten;
};

int windows_load(struct store *s, struct windows *w, struct err *err);
void windows_done(struct windows *w);
/* `sql` gives the pack of the row ?1. */
int windows_mark(struct store *s, struct windows *w, const char *sql, const struct ids *ids,
	struct err *err);
/* Gives the dictionaries up when only what was forgotten held one of the pieces. */
int windows_settle(struct store *s, struct windows *w, struct err *err);

#endif
