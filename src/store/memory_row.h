#ifndef STORE_MEMORY_ROW_H
#define STORE_MEMORY_ROW_H

#include "store/room.h"

/* Writing of memories; shared by memory.c and turn_memory.c. */

/* Packs the texts into s->raw, fills in the times that are missing, and gives the content's
 * hash. */
int64_t memory_pack(struct store *s, struct memory *m);
/* Writes what memory_pack has packed just before: row (id 0: a new one), files, evidence,
 * change. */
int memory_write(struct store *s, struct memory *m, int64_t hash, struct err *err);

/* Its visibility has changed (m->is_team). The rest of a memory keeps the one it has, whoever writes it. */
int memory_write_shared(struct store *s, struct memory *m, struct err *err);

/* Another memory stands for this one (0: none any more, it holds again). */
int memory_supersede(struct store *s, int64_t id, int64_t by, struct err *err);
/* Which memories of a turn stand for which of its rules' is found anew. */
int turn_refine(struct store *s, int64_t turn, struct err *err);

/* Hashes are hex texts outside and half as long inside; anything else is kept as text. */
struct db_arg memory_text_arg(struct arena *a, const char *text, size_t n); /* what is kept as text */
struct db_arg memory_hash_arg(struct arena *a, const char *hash);
const char *memory_hash_read(struct arena *a, struct db_rows *r, int col);

#endif
