#include "index/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/codec.h"
#include "text/hash.h"

#define MANIFEST_MAGIC 0x316d656d6572u /* "remem1" */
#define HEAD_BYTES 40u
#define ENTRY_BYTES 28u

void segment_name(uint64_t number, char ret[SEGMENT_NAME_MAX])
{
	snprintf(ret, SEGMENT_NAME_MAX, "segment-%06" PRIu64, number);
}

struct reader {
	const uint8_t *p, *end;
	bool is_short;
};

static uint64_t take(struct reader *r, unsigned bytes)
{
	if ((size_t)(r->end - r->p) < bytes) {
		r->is_short = true;
		return 0;
	}
	uint64_t v = fixed_get(r->p, bytes);
	r->p += bytes;
	return v;
}

static void take_entry(struct reader *r, struct arena *a, struct manifest_entry *e)
{
	e->number = take(r, 8);
	e->len = take(r, 8);
	e->hash = take(r, 8);
	e->ndead = (uint32_t)take(r, 4);
	if (r->is_short || (size_t)(r->end - r->p) / 4 < e->ndead) {
		r->is_short = true;
		return;
	}
	e->dead = ARENA_ARRAY(a, uint32_t, e->ndead);
	for (uint32_t i = 0; i < e->ndead; i++)
		e->dead[i] = (uint32_t)take(r, 4);
}

int index_manifest_read(struct arena *a, const char *dir, struct manifest *ret, struct err *err)
{
	AUTO(buf_done) struct buf b = { .max = MANIFEST_MAX };
	const char *path = path_join(a, dir, MANIFEST_NAME);
	if (file_read(path, MANIFEST_MAX, &b, err) != 0)
		return -1;
	if (b.len < HEAD_BYTES + 8 ||
		fixed_get((uint8_t *)b.data + b.len - 8, 8) != hash64(b.data, b.len - 8))
		return err_set(err, ERR_IO, "'%s' is damaged", path);
	struct reader r = { (uint8_t *)b.data, (uint8_t *)b.data + b.len - 8, false };
	uint64_t magic = take(&r, 8), version = take(&r, 8);
	if (magic != MANIFEST_MAGIC || version != format_version())
		return err_set(err, ERR_IO, "'%s' is of another version", path);
	struct manifest m = { .seq = take(&r, 8), .next_file = take(&r, 8), .n = take(&r, 8) };
	if (m.n > SEGMENTS_MAX)
		return err_set(err, ERR_IO, "'%s' is damaged", path);
	m.entries = ARENA_ARRAY(a, struct manifest_entry, m.n);
	for (size_t i = 0; i < m.n && !r.is_short; i++)
		take_entry(&r, a, &m.entries[i]);
	if (r.is_short)
		return err_set(err, ERR_IO, "'%s' is damaged", path);
	*ret = m;
	return 0;
}

static void put_view(struct buf *b, const struct view *v)
{
	fixed_put(b, strtoull(v->seg->name + strlen("segment-"), NULL, 10), 8);
	fixed_put(b, v->seg->len, 8);
	fixed_put(b, v->seg->hash, 8);
	fixed_put(b, v->dead ? v->dead->n : 0, 4);
	for (uint32_t d = 0; v->dead && d < v->seg->t.docs; d++)
		if (view_is_dead(v, d))
			fixed_put(b, d, 4);
}

int dir_sync(const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) != 0) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return err_set(err, ERR_IO, "cannot synchronise '%s': %s", dir, strerror(error));
	}
	close(fd);
	return 0;
}

static int write_synced(const char *path, const struct buf *b, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(errno));
	int failed = file_write_all(fd, b->data, b->len) != 0 || fsync(fd) != 0;
	int error = errno;
	close(fd);
	return failed ? err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(error)) : 0;
}

int index_manifest_write(const char *dir, const struct snapshot *s, uint64_t seq,
	uint64_t next_file, struct err *err)
{
	AUTO(buf_done) struct buf b = { 0 };
	AUTO(arena_done) struct arena a = { 0 };
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->views[i].seg->name != NULL;
	const uint64_t head[] = { MANIFEST_MAGIC, format_version(), seq, next_file, n };
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		fixed_put(&b, head[i], 8);
	for (size_t i = 0; i < s->n; i++)
		if (s->views[i].seg->name)
			put_view(&b, &s->views[i]);
	fixed_put(&b, hash64(b.data, b.len), 8);
	const char *path = path_join(&a, dir, MANIFEST_NAME),
		   *beside = path_join(&a, dir, MANIFEST_NAME ".tmp");
	if (write_synced(beside, &b, err) != 0)
		return -1;
	if (rename(beside, path) != 0)
		return err_set(err, ERR_IO, "cannot rename '%s': %s", beside, strerror(errno));
	return dir_sync(dir, err);
}
