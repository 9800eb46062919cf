/*
 * One file of vectors: head, sum of its vectors, rows ascending by id, scales, vectors. In the byte
 * order of the machine: the magic of another one does not match, and what does not match is made
 * anew. The bytes are trusted once their hash is that of the manifest.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "index/vectors_parts.h"
#include "text/hash.h"

#define FILE_MAGIC 0x3163657662726d72u
#define FILE_VERSION 1u
#define FILE_ALIGN 64u
#define WRITE_BYTES (256u << 10) /* gathered before they are written */
#define WIPE_BYTES (64u << 10)

struct head {
	uint64_t magic;
	uint32_t version, dims;
	uint64_t ndocs, nvectors;
	uint8_t unused[32];
};
_Static_assert(sizeof(struct head) % FILE_ALIGN == 0, "what follows is aligned");

struct layout {
	size_t sum, rows, scales, vectors, end;
};

static struct layout layout_of(uint64_t ndocs, uint64_t nvectors, size_t dims)
{
	struct layout l = { .sum = sizeof(struct head) };
	l.rows = l.sum + dims * sizeof(double);
	l.scales = l.rows + ndocs * sizeof(struct vectors_row);
	l.vectors = (l.scales + nvectors * sizeof(float) + FILE_ALIGN - 1) / FILE_ALIGN * FILE_ALIGN;
	l.end = l.vectors + nvectors * dims;
	return l;
}

void vectors_file_name(uint64_t number, char ret[VECTORS_NAME_MAX])
{
	snprintf(ret, VECTORS_NAME_MAX, "vectors-%06" PRIu64, number);
}

/* --- Reading. --- */

static int map_whole(const char *path, void **ret, size_t *ret_len, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot read '%s': %s", path, strerror(errno));
	*ret = MAP_FAILED;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(struct head))
		*ret = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (*ret == MAP_FAILED)
		return err_set(err, ERR_IO, "'%s' is no file of vectors", path);
	*ret_len = (size_t)st.st_size;
	return 0;
}

static bool dims_are_right(uint32_t dims, size_t wanted)
{
	return dims && dims <= VECTOR_DIMS_MAX && dims % VECTOR_STEP == 0 && (!wanted || dims == wanted);
}

int vectors_file_map(const struct vectors_file *f, struct vectors_part **ret, struct err *err)
{
	void *map;
	size_t len = 0;
	if (map_whole(f->path, &map, &len, err))
		return -1;
	const struct head *h = map;
	uint64_t is = hash64(map, len);
	bool fits = h->magic == FILE_MAGIC && h->version == FILE_VERSION && dims_are_right(h->dims, f->dims) &&
		    h->nvectors < UINT32_MAX && h->ndocs <= h->nvectors &&
		    layout_of(h->ndocs, h->nvectors, h->dims).end == len && (!f->hash || *f->hash == is);
	if (!fits) {
		munmap(map, len);
		return err_set(err, ERR_IO, "'%s' is cut or damaged", f->path);
	}
	struct layout l = layout_of(h->ndocs, h->nvectors, h->dims);
	struct vectors_part *p = mem_alloc(sizeof(*p));
	*p = (struct vectors_part){ .map = map, .len = len, .number = f->number, .hash = is, .dims = h->dims,
		.ndocs = (uint32_t)h->ndocs, .nvectors = (uint32_t)h->nvectors };
	const uint8_t *base = map;
	p->sum = (const double *)(const void *)(base + l.sum);
	p->rows = (const struct vectors_row *)(const void *)(base + l.rows);
	p->scales = (const float *)(const void *)(base + l.scales);
	p->at = (const int8_t *)(base + l.vectors);
	p->dead = mem_alloc(p->ndocs / 8 + 1);
	*ret = p;
	return 0;
}

void vectors_part_free(struct vectors_part *p)
{
	if (!p)
		return;
	vectors_bits_free(p);
	munmap(p->map, p->len);
	free(p->dead);
	free(p);
}

/* --- Writing. --- */

struct out {
	int fd;
	struct buf b;
	bool has_failed;
};

static void out_flush(struct out *o)
{
	if (o->b.len && file_write_all(o->fd, o->b.data, o->b.len))
		o->has_failed = true;
	buf_cut(&o->b, 0);
}

static void out_add(struct out *o, const void *data, size_t len)
{
	if (len)
		buf_add(&o->b, data, len);
	if (o->b.len >= WRITE_BYTES)
		out_flush(o);
}

static void out_pad(struct out *o, size_t from, size_t to)
{
	static const char zeros[FILE_ALIGN];
	out_add(o, zeros, to - from);
}

static void sum_picks(const struct vectors_pick *picks, size_t n, double *sum)
{
	uint64_t count = 0;
	for (size_t i = 0; i < n; i++) {
		const struct vectors_part *p = picks[i].part;
		uint32_t first = p->rows[picks[i].row].first;
		struct vector_set set = { .at = p->at + (size_t)first * p->dims,
			.dims = p->dims,
			.scales = p->scales + first,
			.n = vectors_part_end(p, picks[i].row) - first };
		vector_add(&set, sum, &count);
	}
}

static void write_all(struct out *o, const struct vectors_pick *picks, size_t n, uint64_t nvectors)
{
	size_t dims = picks[0].part->dims;
	struct layout l = layout_of(n, nvectors, dims);
	struct head head = { .magic = FILE_MAGIC, .version = FILE_VERSION, .dims = (uint32_t)dims,
		.ndocs = n, .nvectors = nvectors };
	double sum[VECTOR_DIMS_MAX] = { 0 };
	uint32_t first = 0;
	sum_picks(picks, n, sum);
	out_add(o, &head, sizeof(head));
	out_add(o, sum, dims * sizeof(*sum));
	for (size_t i = 0; i < n; i++) {
		struct vectors_row row = picks[i].part->rows[picks[i].row];
		uint32_t count = vectors_part_end(picks[i].part, picks[i].row) - row.first;
		row.first = first;
		first += count;
		out_add(o, &row, sizeof(row));
	}
	for (size_t i = 0; i < n; i++) {
		const struct vectors_part *p = picks[i].part;
		uint32_t at = p->rows[picks[i].row].first;
		out_add(o, p->scales + at, (vectors_part_end(p, picks[i].row) - at) * sizeof(float));
	}
	out_pad(o, l.scales + nvectors * sizeof(float), l.vectors);
	for (size_t i = 0; i < n; i++) {
		const struct vectors_part *p = picks[i].part;
		uint32_t at = p->rows[picks[i].row].first;
		out_add(o, p->at + (size_t)at * dims,
			(size_t)(vectors_part_end(p, picks[i].row) - at) * dims);
	}
	out_flush(o);
}

int vectors_file_write(struct vectors *v, const struct vectors_pick *picks, size_t n,
	struct vectors_part **ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	char name[VECTORS_NAME_MAX];
	uint64_t nvectors = 0;
	for (size_t i = 0; i < n; i++)
		nvectors += vectors_part_end(picks[i].part, picks[i].row) -
			    picks[i].part->rows[picks[i].row].first;
	vectors_file_name(v->next_file, name);
	const char *path = path_join(&a, v->dir, name);
	struct out o = { .fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) };
	if (o.fd < 0)
		return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(errno));
	write_all(&o, picks, n, nvectors);
	bool has_failed = o.has_failed || fsync(o.fd) != 0;
	int why = errno;
	close(o.fd);
	buf_done(&o.b);
	if (has_failed)
		err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(why));
	if (has_failed || vectors_file_map(&(struct vectors_file){ path, v->next_file, NULL, v->dims }, ret, err)) {
		unlink(path);
		return -1;
	}
	v->next_file++;
	return 0;
}

static void wipe(const char *path, size_t len)
{
	static const char zeros[WIPE_BYTES];
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	bool has_failed = fd < 0;
	for (size_t at = 0; at < len && !has_failed; at += WIPE_BYTES)
		has_failed = file_write_all(fd, zeros, MIN((size_t)WIPE_BYTES, len - at)) != 0;
	if (has_failed || fsync(fd))
		log_warn("'%s' could not be overwritten: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void vectors_file_remove(struct vectors *v, struct vectors_part *p, bool is_secret)
{
	AUTO(arena_done) struct arena a = { 0 };
	char name[VECTORS_NAME_MAX];
	size_t len = p->len, bits_len = p->bits.len;
	vectors_file_name(p->number, name);
	const char *path = path_join(&a, v->dir, name);
	vectors_bits_name(p->number, name);
	const char *bits = path_join(&a, v->dir, name);
	vectors_part_free(p);
	if (is_secret)
		wipe(path, len);
	if (is_secret && bits_len)
		wipe(bits, bits_len);
	unlink(path);
	unlink(bits);
}
