#include "daemon/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/agent.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/mem.h"

/*
 * A payload without a string longer than JSON_SCAN_STRING_MAX passes the scan unchanged, so that
 * everything may go through it; short ones are parsed as they are, for speed.
 */

struct payload {
	int fd;
	uint64_t at, end;
	char *piece;
};

/* The file, opened without ever waiting for a FIFO. */
static enum spool_verdict file_open(
	const char *path, int *ret_fd, uint64_t *ret_size, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0) {
		int why = errno;
		err_set(err, ERR_IO, "it cannot be opened: %s", strerror(why));
		if (why == ENOENT)
			return SPOOL_GONE;
		return why == EMFILE || why == ENFILE || why == ENOMEM || why == EIO ? SPOOL_LATER
										     : SPOOL_BAD;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > SPOOL_FILE_MAX) {
		close(fd);
		err_set(err, ERR_USAGE, "it is no regular file of at most %llu GB",
			(unsigned long long)SPOOL_FILE_MAX >> 30);
		return SPOOL_BAD;
	}
	*ret_fd = fd;
	*ret_size = (uint64_t)st.st_size;
	return SPOOL_TAKEN;
}

static int payload_pull(void *ctx, const char **ret_data, size_t *ret_len, struct err *err)
{
	struct payload *p = ctx;
	size_t want = (size_t)MIN(p->end - p->at, (uint64_t)SPOOL_PIECE);
	ssize_t n = 0;
	if (want) {
		do
			n = pread(p->fd, p->piece, want, (off_t)p->at);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
		if (n == 0)
			return err_set(err, ERR_USAGE, "it became shorter while it was read");
	}
	p->at += (uint64_t)n;
	*ret_data = p->piece;
	*ret_len = (size_t)n;
	return 0;
}

/* The whole text with its long strings cut, then parsed. */
static int thin_parse(struct payload *p, json **ret, uint64_t *ret_cut, struct err *err)
{
	AUTO(buf_done) struct buf out = { .max = JSON_PARSE_MAX };
	struct json_scan *scan = json_scan_new(&out, JSON_SCAN_STRING_MAX);
	const char *data;
	size_t len;
	int result;
	while (!(result = payload_pull(p, &data, &len, err)) && len && !out.is_full)
		json_scan_feed(scan, data, len);
	*ret_cut = json_scan_end(scan);
	json_scan_free(scan);
	if (result)
		return -1;
	if (out.is_full)
		return err_set(err, ERR_TOO_LARGE,
			"it holds more than %u MB even without its long texts",
			JSON_PARSE_MAX >> 20);
	return json_parse(buf_cstr(&out), out.len, ret, err);
}

static int payload_parse(struct payload *p, json **ret, uint64_t *ret_cut, struct err *err)
{
	const char *data;
	size_t len;
	if (p->end - p->at > JSON_SCAN_STRING_MAX)
		return thin_parse(p, ret, ret_cut, err);
	size_t all = (size_t)(p->end - p->at), got = 0;
	AUTO(buf_done) struct buf text = { .max = JSON_SCAN_STRING_MAX };
	while (got < all) {
		if (payload_pull(p, &data, &len, err))
			return -1;
		buf_add(&text, data, len);
		got += len;
	}
	return json_parse(buf_cstr(&text), text.len, ret, err);
}

static int header_read(int fd, char *piece, uint64_t size, struct spool_header *ret,
	struct payload *p, struct err *err)
{
	ssize_t n = pread(fd, piece, SPOOL_HEADER_MAX, 0);
	if (n < 0)
		return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	size_t len = spool_header_parse(piece, (size_t)n, ret);
	if (!len)
		return err_set(err, ERR_USAGE, "it has no header");
	if (size - len < ret->payload_len)
		return err_set(err, ERR_USAGE,
			"it is shorter than its header says: %llu of %llu bytes",
			(unsigned long long)(size - len), (unsigned long long)ret->payload_len);
	*p = (struct payload){ .fd = fd, .at = len, .end = len + ret->payload_len, .piece = piece };
	return 0;
}

void capture_note_cut(struct capture *c, uint64_t cut)
{
	struct captured_event *longest = NULL;
	size_t most = 0;
	for (size_t i = 0; cut && i < c->nevents; i++) {
		struct captured_event *e = &c->events[i];
		size_t n = e->text.n + e->input.n + e->output.n + e->diff.n;
		if (!longest || n > most) {
			longest = e;
			most = n;
		}
	}
	if (longest && longest->true_size < cut)
		longest->true_size = most + cut;
}

static int capture_make(struct arena *a, const struct spool_header *h, struct payload *p,
	struct capture *ret, struct err *err)
{
	AUTO(json_free_ptr) json *payload = NULL;
	const struct agent *agent = agent_find(h->agent);
	if (!agent || !agent->hook_read)
		return err_set(err, ERR_USAGE, "there is no agent '%s' with hooks", h->agent);
	uint64_t cut = 0;
	if (payload_parse(p, &payload, &cut, err))
		return err_prefix(err, "its payload cannot be read");
	if (agent->hook_read(a, h, payload, ret, err))
		return -1;
	capture_note_cut(ret, cut);
	return 0;
}

enum spool_verdict spool_file_read(
	const char *path, struct arena *a, struct capture *ret, struct err *err)
{
	int fd;
	uint64_t size;
	struct payload p;
	enum spool_verdict verdict = file_open(path, &fd, &size, err);
	if (verdict != SPOOL_TAKEN)
		return verdict;
	AUTO(mem_free_ptr) struct spool_header *h = mem_alloc(sizeof(*h));
	AUTO(mem_free_ptr) char *piece = mem_alloc(SPOOL_PIECE);
	*ret = (struct capture){ 0 };
	if (header_read(fd, piece, size, h, &p, err) || capture_make(a, h, &p, ret, err))
		verdict = err->code == ERR_IO ? SPOOL_LATER : SPOOL_BAD;
	close(fd);
	return verdict;
}
