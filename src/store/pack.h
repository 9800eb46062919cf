#ifndef STORE_PACK_H
#define STORE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "store/db.h"

/*
 * All texts of one row in one compressed piece, so that they compress each other. A pack is a
 * list of (field, text), each text followed by a NUL, hence usable in place once opened. Stored
 * form: one number that says how (0 plain, 1 zstd, N + 1 zstd with dictionary N), then the bytes.
 * A packer holds the compression state of one connection and belongs to its thread.
 */

#define PACK_PLAIN_MAX 48 /* bytes; shorter packs stay plain */
#define PACK_MAX ((size_t)64 << 20)

/* PACK_ALONE: never with a dictionary, for whoever may read the row. */
enum pack_class { PACK_ALONE, PACK_EVENT, PACK_MEMORY, PACK_CLASS_END };

struct packer;
struct packer *packer_new(struct db *db);
void packer_free(struct packer *p);
/* Looks again which dictionaries there are (after one was trained). */
void packer_reload(struct packer *p);
/* From now on, until the next reload, packs are closed without a dictionary. */
void packer_retire(struct packer *p);

void pack_add(struct buf *raw, unsigned field, struct str text);
void pack_add_text(struct buf *raw, unsigned field, const char *text); /* NULL adds nothing */
/* The next part of an opened pack; false at the end. The text is NUL-terminated. */
bool pack_next(struct str *rest, unsigned *ret_field, struct str *ret_text);

int packer_close(struct packer *p, enum pack_class class, const struct buf *raw, struct buf *ret,
	struct err *err);
int packer_open(struct packer *p, struct arena *a, const void *blob, size_t n, struct str *ret,
	struct err *err);
/* Makes a dictionary of this class from samples that lie one behind the other; empty: not worth it.
 * Takes some tenths of a second. */
void packer_teach(enum pack_class class, const struct buf *samples, const size_t *sizes, size_t n,
	struct buf *ret);
/* Stores a dictionary; packs are closed with it from now on. */
int packer_adopt(
	struct packer *p, enum pack_class class, const struct buf *dictionary, struct err *err);
int packer_dictionary(struct packer *p, enum pack_class class, int64_t *ret_id,
	struct err *err); /* 0: none yet */

/* Numbers in the pack's own coding: seven bits a byte, least first. */
void pack_number(struct buf *out, uint64_t n);
bool pack_read_number(struct str *rest, uint64_t *ret);

#endif
