/*
 * Packs: zstd with dictionaries that were trained on the store itself. A row names its
 * dictionary, so that rows written before or under another one stay readable. Contexts are made
 * when first needed and kept: one of each per connection.
 */
#include "store/pack.h"

#include <string.h>
#define ZDICT_STATIC_LINKING_ONLY /* for training with given parameters; any libzstd exports it */
#include <zdict.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/mem.h"

#define DICTIONARY_BYTES (96u << 10)
#define TRIAL_SHARE 4            /* one in so many samples tells what it gains */
#define DICTIONARY_GAIN_MIN 1.15 /* a dictionary that gains less than this is not kept */
#define HOW_PLAIN 0
#define HOW_ZSTD 1

/* With a dictionary a higher level takes ten times as long and gains 7 % (level 12). */
static const int levels[PACK_CLASS_END] = { [PACK_ALONE] = 3, [PACK_EVENT] = 3, [PACK_MEMORY] = 3 };

struct dictionary {
	int64_t id;
	int class;
	void *data;
	size_t n;
	ZSTD_DDict *reader;
	ZSTD_CDict *writer;
	struct dictionary *next;
};

struct packer {
	struct db *db;
	ZSTD_CCtx *compress;
	ZSTD_DCtx *expand;
	struct dictionary *dictionaries;
	struct dictionary *current[PACK_CLASS_END];
	bool is_current_known;
	uint64_t rollbacks; /* as the database counts them */
};

struct packer *packer_new(struct db *db)
{
	struct packer *p = mem_alloc(sizeof(*p));

	p->db = db;
	p->rollbacks = db_rollbacks(db);
	return p;
}

static void drop_dictionaries(struct packer *p)
{
	while (p->dictionaries) {
		struct dictionary *d = p->dictionaries;
		p->dictionaries = d->next;
		ZSTD_freeDDict(d->reader);
		ZSTD_freeCDict(d->writer);
		free(d->data);
		free(d);
	}
	memset(p->current, 0, sizeof(p->current));
	p->is_current_known = false;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	drop_dictionaries(p);
	ZSTD_freeCCtx(p->compress);
	ZSTD_freeDCtx(p->expand);
	free(p);
}

/* A dictionary that was trained in a transaction that did not last is no dictionary, and its
 * number will be another's. */
static void heed_rollbacks(struct packer *p)
{
	if (p->rollbacks == db_rollbacks(p->db))
		return;
	p->rollbacks = db_rollbacks(p->db);
	drop_dictionaries(p);
}

void packer_reload(struct packer *p)
{
	p->is_current_known = false;
}

void packer_retire(struct packer *p)
{
	memset(p->current, 0, sizeof(p->current));
	p->is_current_known = true;
}

void pack_number(struct buf *out, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		buf_char(out, (char)(n | 0x80));
	buf_char(out, (char)n);
}

bool pack_read_number(struct str *rest, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; rest->n && shift < 64; shift += 7) {
		unsigned char c = (unsigned char)*rest->p++;
		rest->n--;
		n |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = n;
			return true;
		}
	}
	return false;
}

void pack_add(struct buf *raw, unsigned field, struct str text)
{
	pack_number(raw, field);
	pack_number(raw, text.n);
	buf_add(raw, text.p, text.n);
	buf_char(raw, '\0');
}

void pack_add_text(struct buf *raw, unsigned field, const char *text)
{
	if (text)
		pack_add(raw, field, str_of(text));
}

bool pack_next(struct str *rest, unsigned *ret_field, struct str *ret_text)
{
	uint64_t field, n;

	if (!pack_read_number(rest, &field) || !pack_read_number(rest, &n) || n >= rest->n)
		return false;
	*ret_field = (unsigned)field;
	*ret_text = (struct str){ rest->p, (size_t)n };
	rest->p += n + 1;
	rest->n -= (size_t)n + 1;
	return true;
}

static struct dictionary *keep_dictionary(struct packer *p, struct db_rows *r)
{
	struct dictionary *d = mem_alloc(sizeof(*d));
	const void *data = db_blob(r, 2, &d->n);

	d->id = db_int(r, 0);
	d->class = (int)db_int(r, 1);
	d->data = mem_dup(data, d->n);
	d->next = p->dictionaries;
	p->dictionaries = d;
	return d;
}

static int load_dictionary(struct packer *p, int64_t id, struct dictionary **ret, struct err *err)
{
	heed_rollbacks(p);
	for (struct dictionary *d = p->dictionaries; d; d = d->next) {
		if (d->id == id) {
			*ret = d;
			return 0;
		}
	}
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	if (db_query(p->db, "SELECT id, class, data FROM dictionary WHERE id = ?1",
		    DB_ARGS(db_i(id)), &r, err))
		return -1;
	int rc = db_next(r, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_STORE,
			"a row needs compression dictionary %lld, which is gone", (long long)id);
	*ret = keep_dictionary(p, r);
	return 0;
}

int packer_dictionary(struct packer *p, enum pack_class class, int64_t *ret_id, struct err *err)
{
	return db_one(p->db, "SELECT max(id) FROM dictionary WHERE class = ?1",
		DB_ARGS(db_i(class)), 0, ret_id, err);
}

static int load_current(struct packer *p, struct err *err)
{
	heed_rollbacks(p);
	if (p->is_current_known)
		return 0;
	for (int class = PACK_EVENT; class < PACK_CLASS_END; class ++) {
		int64_t id;
		p->current[class] = NULL;
		if (packer_dictionary(p, class, &id, err))
			return -1;
		if (id && load_dictionary(p, id, &p->current[class], err))
			return -1;
	}
	p->is_current_known = true;
	return 0;
}

static size_t compress_raw(
	struct packer *p, enum pack_class class, const struct buf *raw, char *to, size_t room)
{
	struct dictionary *d = p->current[class];

	if (!p->compress && !(p->compress = ZSTD_createCCtx()))
		die("out of memory");
	if (!d)
		return ZSTD_compressCCtx(p->compress, to, room, raw->data, raw->len, levels[class]);
	if (!d->writer && !(d->writer = ZSTD_createCDict(d->data, d->n, levels[class])))
		die("out of memory");
	return ZSTD_compress_usingCDict(p->compress, to, room, raw->data, raw->len, d->writer);
}

int packer_close(struct packer *p, enum pack_class class, const struct buf *raw, struct buf *ret,
	struct err *err)
{
	if (load_current(p, err))
		return -1;
	buf_cut(ret, 0);
	if (raw->len > PACK_PLAIN_MAX) {
		pack_number(ret,
			p->current[class] ? (uint64_t)p->current[class]->id + HOW_ZSTD : HOW_ZSTD);
		size_t room = ZSTD_compressBound(raw->len);
		if (!buf_reserve(ret, room))
			return err_set(err, ERR_TOO_LARGE,
				"a text of %zu bytes is too large to be stored", raw->len);
		size_t n = compress_raw(p, class, raw, ret->data + ret->len, room);
		if (ZSTD_isError(n))
			return err_set(err, ERR_INTERNAL, "cannot compress %zu bytes: %s", raw->len,
				ZSTD_getErrorName(n));
		if (n < raw->len) {
			ret->len += n;
			return 0;
		}
		buf_cut(ret, 0);
	}
	pack_number(ret, HOW_PLAIN);
	buf_add(ret, raw->data, raw->len);
	return 0;
}

static int expand(struct packer *p, struct arena *a, struct str data, int64_t dictionary,
	struct str *ret, struct err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(data.p, data.n);
	struct dictionary *d = NULL;

	if (size > PACK_MAX)
		return err_set(
			err, ERR_STORE, "a compressed text is damaged: its size is not known");
	if (!p->expand && !(p->expand = ZSTD_createDCtx()))
		die("out of memory");
	if (dictionary && load_dictionary(p, dictionary, &d, err))
		return -1;
	if (d && !d->reader && !(d->reader = ZSTD_createDDict(d->data, d->n)))
		die("out of memory");
	char *to = arena_alloc(a, (size_t)size + 1);
	size_t n = d ? ZSTD_decompress_usingDDict(
			       p->expand, to, (size_t)size, data.p, data.n, d->reader)
		     : ZSTD_decompressDCtx(p->expand, to, (size_t)size, data.p, data.n);
	if (ZSTD_isError(n))
		return err_set(
			err, ERR_STORE, "a compressed text is damaged: %s", ZSTD_getErrorName(n));
	*ret = (struct str){ to, n };
	return 0;
}

int packer_open(struct packer *p, struct arena *a, const void *blob, size_t n, struct str *ret,
	struct err *err)
{
	struct str rest = { blob, n };
	uint64_t how;

	if (!n) {
		*ret = (struct str){ "", 0 };
		return 0;
	}
	if (!pack_read_number(&rest, &how))
		return err_set(err, ERR_STORE, "a stored text is damaged");
	if (how != HOW_PLAIN)
		return expand(p, a, rest, (int64_t)how - HOW_ZSTD, ret, err);
	*ret = (struct str){ arena_dup(a, rest.p, rest.n), rest.n };
	return 0;
}

/* Compressed size of all samples, one by one. */
static size_t size_with(const struct buf *samples, const size_t *sizes, size_t n,
	const ZSTD_CDict *dictionary, int level)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	AUTO(buf_done) struct buf out = { 0 };
	const char *at = samples->data;
	size_t sum = 0;

	for (size_t i = 0; c && i < n; at += sizes[i++]) {
		size_t room = ZSTD_compressBound(sizes[i]);
		buf_cut(&out, 0);
		if (!buf_reserve(&out, room))
			break;
		size_t got = dictionary ? ZSTD_compress_usingCDict(
						  c, out.data, room, at, sizes[i], dictionary)
					: ZSTD_compressCCtx(c, out.data, room, at, sizes[i], level);
		sum += ZSTD_isError(got) ? sizes[i] : got;
	}
	ZSTD_freeCCtx(c);
	return sum;
}

void packer_teach(enum pack_class class, const struct buf *samples, const size_t *sizes, size_t n,
	struct buf *ret)
{
	buf_cut(ret, 0);
	if (!buf_reserve(ret, DICTIONARY_BYTES))
		return;
	/*
	 * The library's own search for parameters takes ten times as long, 8 MB more, and finds
	 * none that pack better: measured with a quarter of the samples held out.
	 */
	const ZDICT_fastCover_params_t how = {
		.k = 800, .d = 8, .f = 17, .accel = 1, .zParams.compressionLevel = levels[class]
	};
	size_t got = ZDICT_trainFromBuffer_fastCover(
		ret->data, DICTIONARY_BYTES, samples->data, sizes, (unsigned)n, how);
	if (ZDICT_isError(got))
		return; /* too few or too equal samples: plain zstd stays */
	ZSTD_CDict *trial = ZSTD_createCDict(ret->data, got, levels[class]);
	n = MAX(n / TRIAL_SHARE, (size_t)1);
	double without = (double)size_with(samples, sizes, n, NULL, levels[class]);
	double with = (double)size_with(samples, sizes, n, trial, levels[class]);
	ZSTD_freeCDict(trial);
	if (without >= with * DICTIONARY_GAIN_MIN)
		ret->len = got;
}

int packer_adopt(
	struct packer *p, enum pack_class class, const struct buf *dictionary, struct err *err)
{
	if (db_run(p->db, "INSERT INTO dictionary (class, at, data) VALUES (?1, ?2, ?3)",
		    DB_ARGS(db_i(class), db_i(clock_now()),
			    db_b(dictionary->data, dictionary->len)),
		    err))
		return -1;
	packer_reload(p);
	return 0;
}
