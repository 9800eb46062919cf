/*
 * From standard input into the spool: written in tmp/, renamed into new/. Most inputs fit the
 * buffer and cost one write; a longer one is streamed, its header corrected at the end. A file that
 * cannot be finished in the data folder is carried over to the spare one with what was written so
 * far, since standard input cannot be read twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "client/hook.h"
#include "wire/spool.h"

#define PIECE_SIZE (256u << 10)
#define HEADER_SMALL 256 /* a header without its folder is shorter */
#define ENCODED_MAX 3
#define FILE_MODE 0600
#define FOLDER_MODE 0700
#define LOG_MAX (1 << 20)
#define LOG_LINE_MAX 1024

/*
 * The header stands right before the payload, so that both go out in one write. Every page that is
 * touched costs a page fault, which is why there are no large arrays on the stack here: paths live
 * in the arena, the header is printed in place.
 */
static struct {
	struct spool_header header;
	char bytes[SPOOL_HEADER_MAX + HOOK_ASK_BODY_MAX + 1];
} buffer;
static char *const payload = buffer.bytes + SPOOL_HEADER_MAX;

struct spool_file {
	struct arena *arena;
	const char *root;  /* the folder that holds spool/ */
	const char *spare; /* another one to go to, or NULL */
	const char *name;
	int fd;
	uint64_t written;
	const char *tmp, *new;
};

/* Joins without stdio. */
static char *join(struct arena *a, const char *root, const char *folder, const char *name)
{
	size_t n = strlen(root), m = strlen(folder), k = strlen(name);
	char *path = arena_alloc(a, n + m + k + 1);

	memcpy(path, root, n);
	memcpy(path + n, folder, m);
	memcpy(path + n + m, name, k);
	return path;
}

static ssize_t read_some(char *to, size_t size)
{
	ssize_t n;

	do
		n = read(STDIN_FILENO, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * Fills the payload buffer up to `limit` bytes. Returns what came; *ret_more says that the input is
 * longer than that.
 */
static size_t read_payload(size_t limit, bool *ret_more)
{
	size_t len = 0;

	while (len <= limit) {
		ssize_t n = read_some(payload + len, limit + 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	*ret_more = len > limit;
	return len;
}

void hook_drain(void)
{
	while (read_some(payload, PIECE_SIZE) > 0)
		continue;
}

void hook_read(struct hook_input *in, size_t limit)
{
	bool has_more;

	in->payload_len = read_payload(limit, &has_more);
	in->payload = has_more ? NULL : payload;
	if (has_more)
		hook_drain();
}

static int make_folders(struct arena *a, const char *root)
{
	const char *const folders[] = { "/spool/tmp", "/spool/new", "/spool/bad" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (file_mkdirs(join(a, root, folders[i], ""), FOLDER_MODE, NULL) < 0)
			return -1;
	return 0;
}

static int file_begin(struct spool_file *f)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

	f->tmp = join(f->arena, f->root, "/spool/tmp/", f->name);
	f->new = join(f->arena, f->root, "/spool/new/", f->name);
	f->fd = open(f->tmp, flags, FILE_MODE);
	if (f->fd < 0 && errno == ENOENT && make_folders(f->arena, f->root) == 0)
		f->fd = open(f->tmp, flags, FILE_MODE);
	return f->fd < 0 ? -1 : 0;
}

static void file_abandon(struct spool_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	unlink(f->tmp);
	f->fd = -1;
}

/* Copies what the first file got to the second. */
static int carry_over(int from, int to, uint64_t len)
{
	char piece[8192];
	uint64_t at = 0;

	while (at < len) {
		ssize_t n = pread(from, piece, (size_t)MIN(sizeof piece, len - at), (off_t)at);
		if (n <= 0 || file_write_all(to, piece, (size_t)n) < 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/*
 * Goes on in the spare folder. -1 with the first folder's errno when there is none or it does no
 * better.
 */
static int file_move_to_spare(struct spool_file *f)
{
	struct spool_file to = { .arena = f->arena,
		.root = f->spare,
		.name = f->name,
		.fd = -1,
		.written = f->written };
	int why = errno;

	if (!f->spare || file_begin(&to) < 0 ||
		(f->fd >= 0 && carry_over(f->fd, to.fd, f->written) < 0)) {
		file_abandon(&to);
		errno = why;
		return -1;
	}
	file_abandon(f);
	*f = to;
	return 0;
}

static int file_put(struct spool_file *f, const char *data, size_t len)
{
	if (f->fd < 0 || file_write_all(f->fd, data, len) < 0)
		if (file_move_to_spare(f) < 0 || file_write_all(f->fd, data, len) < 0)
			return -1;
	f->written += len;
	return 0;
}

static int file_end(struct spool_file *f)
{
	int result = close(f->fd);

	f->fd = -1;
	if (result == 0)
		result = rename(f->tmp, f->new);
	if (result < 0 && errno == ENOENT && make_folders(f->arena, f->root) == 0)
		result = rename(f->tmp, f->new);
	return result;
}

/* Streams the rest of the input and then writes the true length over the header's. */
static int put_rest(struct spool_file *f, struct spool_header *h, size_t first)
{
	char line[SPOOL_HEADER_MAX];
	uint64_t total = first;
	ssize_t n;

	while ((n = read_some(payload, PIECE_SIZE)) > 0) {
		if (file_put(f, payload, (size_t)n) < 0)
			return -1;
		total += (uint64_t)n;
	}
	h->payload_len = total;
	size_t len = spool_header_print(h, line);
	return pwrite(f->fd, line, len, 0) == (ssize_t)len ? 0 : -1;
}

/*
 * A word for the header; it may be no name at all, since agents' configurations are edited by hand.
 */
static void copy_word(char to[SPOOL_WORD_MAX], const char *word)
{
	size_t n = strnlen(word, SPOOL_WORD_MAX - 1);

	memcpy(to, word, n);
	to[n] = '\0';
}

static int failed(const struct spool_file *f, struct err *err)
{
	return err_set(
		err, ERR_IO, "cannot store the input in '%s/spool': %s", f->root, strerror(errno));
}

/* Prints the header right before the payload. Returns its length. */
static size_t put_header(const struct spool_header *h)
{
	size_t most = HEADER_SMALL + ENCODED_MAX * strlen(h->cwd);
	char *start = most < SPOOL_HEADER_MAX ? payload - most : buffer.bytes;
	size_t len = spool_header_print(h, start);

	memmove(payload - len, start, len);
	return len;
}

int hook_store(const struct paths *p, struct hook_input *in, size_t limit, struct arena *a,
	struct err *err)
{
	struct spool_file f = {
		.arena = a, .root = p->home, .spare = p->spare, .name = in->name, .fd = -1
	};
	struct spool_header *h = &buffer.header;
	bool has_more;

	copy_word(h->agent, in->agent);
	copy_word(h->event, in->event);
	h->at = in->at;
	if (!getcwd(h->cwd, sizeof h->cwd))
		h->cwd[0] = '\0';
	size_t len = read_payload(limit, &has_more);
	h->payload_len = len;
	size_t head = put_header(h);
	in->payload_len = len;
	in->payload = has_more ? NULL : payload;

	/* A failure to begin is made good by the first put, in the spare folder. */
	file_begin(&f);
	int result = file_put(&f, payload - head, head + len);
	if (result == 0 && has_more)
		result = put_rest(&f, h, len);
	if (result < 0) {
		failed(&f, err);
		file_abandon(&f);
		hook_drain();
		return -1;
	}
	if (file_end(&f) == 0)
		return 0;
	failed(&f, err);
	unlink(f.tmp);
	return -1;
}

static bool log_append(const char *folder, const char *name, const char *line, size_t len)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct stat st;

	if (!folder)
		return false;
	const char *path = join(&a, folder, name, "");
	if (!file_is_dir(folder) && file_mkdirs(folder, FOLDER_MODE, NULL) < 0)
		return false;
	if (stat(path, &st) == 0 && st.st_size > LOG_MAX)
		rename(path, join(&a, folder, name, ".1"));
	return file_append(path, line, len, FILE_MODE, NULL) == 0;
}

void hook_log(const struct paths *p, const struct hook_input *in, const char *text)
{
	AUTO(arena_done) struct arena a = { 0 };
	char line[LOG_LINE_MAX];
	int n = snprintf(line, sizeof line, "%s %s %s: %s\n", clock_iso(&a, in->at),
		in->agent ? in->agent : "-", in->event ? in->event : "-", text);

	if (n < 0)
		return;
	if ((size_t)n >= sizeof line) {
		n = sizeof line - 1;
		line[n - 1] = '\n';
	}
	if (!log_append(p->log, "/hook.log", line, (size_t)n))
		log_append(p->spare, "/hook.log", line, (size_t)n);
}
