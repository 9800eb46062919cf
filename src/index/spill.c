#include "index/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"

/* As a segment is called, so that what a crash left is removed as an unlisted segment is. */
#define SPILL_NAME "segment-spilled-%d.tmp"

void spill_init(struct spill *s, const char *dir)
{
	*s = (struct spill){ .dir = dir, .held = { .max = SIZE_MAX / 2 } };
}

void spill_done(struct spill *s)
{
	if (s->is_open)
		close(s->fd);
	buf_done(&s->held);
	s->is_open = false;
}

uint64_t spill_len(const struct spill *s)
{
	return s->written + s->held.len;
}

static int spill_open(struct spill *s)
{
	AUTO(arena_done) struct arena a = { 0 };
	for (int i = 0; i < 100; i++) {
		const char *path = path_join(&a, s->dir, arena_printf(&a, SPILL_NAME, i));
		s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (s->fd >= 0) {
			unlink(path);
			s->is_open = true;
			return 0;
		}
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

void spill_settle(struct spill *s)
{
	if (!s->dir || s->held.len < SPILL_HELD_MAX)
		return;
	if (!s->error && ((!s->is_open && spill_open(s)) ||
				 file_write_all(s->fd, s->held.data, s->held.len)))
		s->error = errno;
	s->written += s->held.len;
	buf_cut(&s->held, 0);
}

void spill_take(struct spill *s, void (*piece)(void *ctx, const void *data, size_t len), void *ctx)
{
	char bytes[1 << 16];
	for (uint64_t at = 0; at < s->written && !s->error;) {
		ssize_t n = pread(s->fd, bytes, MIN(sizeof(bytes), s->written - at), (off_t)at);
		if (n <= 0) {
			s->error = n ? errno : EIO;
			break;
		}
		piece(ctx, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	if (s->held.len)
		piece(ctx, s->held.data, s->held.len);
	if (s->is_open && s->written && (ftruncate(s->fd, 0) || lseek(s->fd, 0, SEEK_SET)))
		s->error = s->error ? s->error : errno;
	s->written = 0;
	buf_cut(&s->held, 0);
}
