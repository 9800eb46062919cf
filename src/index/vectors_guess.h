#ifndef INDEX_VECTORS_GUESS_H
#define INDEX_VECTORS_GUESS_H

#include "index/vectors_parts.h"

/*
 * Which rows of files with sign bits may be among the nearest. A row's nearness is guessed from how
 * many bits differ from the question's; the best guesses of all files together are likely. By
 * session the sessions are chosen by the guesses of their three nearest, and rows of them that are
 * about as near as the third are likely. Of one scan, under the lock; one thread.
 */

struct guess;

/* Makes the guesses of all files with bits; NULL when there are none. */
struct guess *guess_new(struct vectors *v, const struct vectors_scan *scan);
void guess_free(struct guess *g); /* leaves its memory to the next scan */
/* Gives that memory back. */
void guess_drop_spare(struct vectors *v);
/* By session: a row of another part, with its score. */
void guess_add(struct guess *g, uint32_t session, float score);
/* After the last guess_add, before what follows. */
void guess_choose(struct guess *g);
/* The first likely row from this one on; the number of the file's rows when there is none. */
uint32_t guess_next(const struct guess *g, size_t file, uint32_t row);
/* Sessions that are not chosen were not compared whole. */
bool guess_is_chosen(const struct guess *g, uint32_t session);

#endif
