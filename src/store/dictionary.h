#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/room.h"

/*
 * Pieces of text that the dictionaries hold, as hashes of windows of some bytes, and which of
 * them belong to what is being forgotten: load, mark the rows before they go, settle after.
 */

/* A dictionary on its way from whoever made it to the writer. */
struct dictionary_made {
	enum pack_class class;
	struct buf data; /* empty: none is wanted */
	bool is_tried;   /* it was wanted, whatever became of it */
	int64_t rows, graves, last_grave; /* as they were when its making began */
};
void dictionary_made_done(struct dictionary_made *d);
/*
 * Makes one when there are rows_min rows and none yet, or many times the rows that the last was made
 * of. Reads only. What was forgotten meanwhile must not come back in it: store_dictionary_put then
 * drops it.
 */
int store_dictionary_make(struct store *s, enum pack_class class, int64_t rows_min,
	struct dictionary_made *ret, struct err *err);
int store_dictionary_put(struct store *s, const struct dictionary_made *d, struct err *err);

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
