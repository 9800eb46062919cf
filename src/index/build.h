#ifndef INDEX_BUILD_H
#define INDEX_BUILD_H

#include "index/segment.h"
#include "text/terms.h"

/*
 * Makes a segment in memory out of documents: analyses their fields and turns the occurrences
 * around. One thread.
 */

#define BUILD_BYTES_MAX (2u << 20) /* text of one batch; callers cut larger ones */

struct builder; /* analyser and scratch memory, used again and again */
struct builder *builder_new(void);
void builder_free(struct builder *b);
/* Documents in any order; of several with the same id the last counts. */
struct segment *builder_run(struct builder *b, const struct doc *docs, size_t n);

#endif
