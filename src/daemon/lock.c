#include "daemon/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "wire/client.h"

#define LOCK_POLL_US 10000
#define LOCK_ASK_MS 1000

/*
 * Does a daemon answer a question? That a connection is taken says little: the system takes them for
 * a daemon that was killed as long as one of its threads has not ended, and for one that is stopped.
 */
static bool is_served(const struct paths *p)
{
	struct err err = { 0 };
	const struct wire_request q = { .method = "GET",
		.path = "/health",
		.deadline_us = clock_mono_us() + LOCK_ASK_MS * 1000ull };
	struct wire_reply reply;
	bool is_answered = wire_call(p->socket, &q, &reply, &err) == 0;

	wire_reply_done(&reply);
	return is_answered;
}

int lock_take(const struct paths *p, int *ret_fd, struct err *err)
{
	uint64_t start = clock_mono_us();
	int fd = open(p->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot open '%s': %s", p->lock, strerror(errno));
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		int why = errno;
		uint64_t waited = (clock_mono_us() - start) / 1000;
		bool is_held = why == EWOULDBLOCK || why == EINTR;
		if (is_held && waited < LOCK_WAIT_MS) {
			clock_sleep_us(LOCK_POLL_US);
			continue;
		}
		if (is_held && waited < LOCK_PATIENCE_MS && !is_served(p)) {
			clock_sleep_us(LOCK_POLL_US);
			continue;
		}
		close(fd);
		if (!is_held)
			return err_set(err, ERR_IO, "cannot lock '%s': %s", p->lock, strerror(why));
		err_set(err, ERR_BUSY, "another daemon serves '%s'", p->home);
		return err_hint(err, "`remanence stop` ends it");
	}
	*ret_fd = fd;
	return 0;
}

#ifdef __linux__
/* From statfs(2) and linux/magic.h. */
static const struct {
	uint32_t magic;
	const char *name;
} network_places[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xff534d42, "CIFS" },
	{ 0xfe534d42, "SMB2" },
	{ 0x5346414f, "AFS" },
	{ 0x6b414653, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x0bd00bd0, "Lustre" },
	{ 0x00c36400, "Ceph" },
	{ 0x47504653, "GPFS" },
	{ 0x01021997, "9P" },
};

int lock_check_place(const char *folder, struct err *err)
{
	struct statfs fs;
	if (statfs(folder, &fs))
		return err_set(err, ERR_IO, "cannot look at the file system of '%s': %s", folder,
			strerror(errno));
	for (size_t i = 0; i < ARRAY_LEN(network_places); i++) {
		if ((uint32_t)fs.f_type != network_places[i].magic)
			continue;
		err_set(err, ERR_USAGE,
			"'%s' lies on a network file system (%s), where locks and the write-ahead "
			"log do not hold",
			folder, network_places[i].name);
		return err_hint(err, "set REMANENCE_HOME to a folder on a local disk");
	}
	return 0;
}
#else
int lock_check_place(const char *folder, struct err *err)
{
	return 0;
}
#endif
