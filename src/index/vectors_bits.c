/*
 * The sign bits of a file's vectors, with the mean of that file taken off: a file beside it, made
 * when it is missing, for it says nothing that the vectors do not say. Its head holds the hash of the
 * vectors that it is of and one of all its bits; whatever does not match is unlinked and made anew.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "index/vectors_parts.h"
#include "text/hash.h"

#define BITS_MAGIC 0x3173746962726d72u
#define BITS_VERSION 1u
#define CHUNK_WORDS (32u << 10) /* those of whole vectors are hashed and written together */

struct head {
	uint64_t magic;
	uint32_t version, dims;
	uint64_t nvectors;
	uint64_t vectors; /* their file's hash */
	uint64_t bits;    /* the hash of the bits */
	uint8_t unused[24];
};
_Static_assert(sizeof(struct head) == 64, "what follows is aligned");

void vectors_bits_name(uint64_t number, char ret[VECTORS_NAME_MAX])
{
	snprintf(ret, VECTORS_NAME_MAX, "bits-%06" PRIu64, number);
}

static const char *bits_path(struct arena *a, const struct vectors *v, const struct vectors_part *p)
{
	char name[VECTORS_NAME_MAX];
	vectors_bits_name(p->number, name);
	return path_join(a, v->dir, name);
}

static size_t words_of(const struct vectors_part *p)
{
	return VECTOR_WORDS(p->dims) * p->nvectors;
}

static struct head head_of(const struct vectors_part *p, uint64_t bits)
{
	return (struct head){ .magic = BITS_MAGIC,
		.version = BITS_VERSION,
		.dims = (uint32_t)p->dims,
		.nvectors = p->nvectors,
		.vectors = p->hash,
		.bits = bits };
}

/* The hash of what came before and of these words. */
static uint64_t hash_on(uint64_t before, const uint64_t *words, size_t n)
{
	uint64_t both[2] = { before, hash64(words, n * sizeof(*words)) };
	return hash64(both, sizeof(both));
}

/* How many words of whole vectors a chunk holds. */
static size_t chunk_of(const struct vectors_part *p)
{
	size_t each = VECTOR_WORDS(p->dims);
	return CHUNK_WORDS / each * each;
}

static uint64_t hash_all(const struct vectors_part *p, const uint64_t *words)
{
	uint64_t hash = 0;
	size_t n = words_of(p), chunk = chunk_of(p);
	for (size_t i = 0; i < n; i += chunk)
		hash = hash_on(hash, words + i, MIN(chunk, n - i));
	return hash;
}

void vectors_part_mean(const struct vectors_part *p, float ret[VECTOR_DIMS_MAX])
{
	for (size_t i = 0; i < p->dims; i++)
		ret[i] = p->nvectors ? (float)(p->sum[i] / p->nvectors) : 0;
}

/* --- Reading. --- */

static bool bits_match(const struct vectors_part *p, const void *map)
{
	const uint64_t *words =
		(const uint64_t *)(const void *)((const uint8_t *)map + sizeof(struct head));
	struct head right = head_of(p, hash_all(p, words));
	return !memcmp(map, &right, sizeof(right));
}

/* False when there is no such file; one that does not match is unlinked. */
static bool bits_map(const char *path, const struct vectors_part *p, struct vectors_bits *ret)
{
	struct stat st;
	size_t len = sizeof(struct head) + words_of(p) * sizeof(uint64_t);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	void *map = MAP_FAILED;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size == len)
		map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED && bits_match(p, map)) {
		*ret = (struct vectors_bits){ (const uint64_t *)(const void *)((uint8_t *)map +
									       sizeof(struct head)),
			map, len };
		return true;
	}
	if (map != MAP_FAILED)
		munmap(map, len);
	log_warn("'%s' is cut or damaged: it is made anew", path);
	unlink(path);
	return false;
}

void vectors_bits_load(struct vectors *v, struct vectors_part *p)
{
	AUTO(arena_done) struct arena a = { 0 };
	bits_map(bits_path(&a, v, p), p, &p->bits);
}

void vectors_bits_free(struct vectors_part *p)
{
	if (p->bits.map)
		munmap(p->bits.map, p->bits.len);
	p->bits = (struct vectors_bits){ 0 };
}

/* --- Writing. --- */

/* 0 with the hash, or -1 with errno. */
static int write_bits(int fd, const struct vectors_part *p, uint64_t *ret_hash)
{
	AUTO(mem_free_ptr) uint64_t *words = mem_alloc(CHUNK_WORDS * sizeof(*words));
	float mean[VECTOR_DIMS_MAX];
	size_t each = VECTOR_WORDS(p->dims), whole = chunk_of(p), n = 0;
	vectors_part_mean(p, mean);
	*ret_hash = 0;
	for (uint32_t i = 0; i < p->nvectors; i++) {
		vector_signs(p->at + (size_t)i * p->dims, p->scales[i], mean, p->dims, words + n);
		n += each;
		if (n < whole && i + 1 < p->nvectors)
			continue;
		*ret_hash = hash_on(*ret_hash, words, n);
		if (file_write_all(fd, words, n * sizeof(*words)))
			return -1;
		n = 0;
	}
	return 0;
}

static int write_file(int fd, const struct vectors_part *p)
{
	struct head head = { 0 };
	uint64_t hash;
	if (file_write_all(fd, &head, sizeof(head)) || write_bits(fd, p, &hash))
		return -1;
	head = head_of(p, hash);
	return pwrite(fd, &head, sizeof(head), 0) == sizeof(head) ? fsync(fd) : -1;
}

int vectors_bits_make(struct vectors *v, struct vectors_part *p, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct vectors_bits made;
	const char *path = bits_path(&a, v, p);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(errno));
	int failed = write_file(fd, p), why = errno;
	close(fd);
	if (failed) {
		unlink(path);
		return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(why));
	}
	if (!bits_map(path, p, &made))
		return err_set(err, ERR_IO, "'%s' is not what was written", path);
	pthread_rwlock_wrlock(&v->lock);
	p->bits = made;
	pthread_rwlock_unlock(&v->lock);
	return 0;
}
