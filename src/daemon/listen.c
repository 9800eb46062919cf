#include "daemon/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Binds; a long path by way of a descriptor of its folder, since sun_path holds 108 bytes. */
static int bind_at(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		return bind(fd, (struct sockaddr *)&address, sizeof(address));
	}
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	int n = snprintf(
		address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d%s", dir, slash);
	int result = -1;
	if (n > 0 && (size_t)n < sizeof(address.sun_path))
		result = bind(fd, (struct sockaddr *)&address, sizeof(address));
	else
		errno = ENAMETOOLONG;
	int why = errno;
	close(dir);
	errno = why;
	return result;
}

int listen_open(const char *path, int *ret_fd, struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno));
	if (unlink(path) && errno != ENOENT) {
		err_set(err, ERR_IO, "cannot replace the socket '%s': %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	mode_t mask = umask(0177);
	int failed = bind_at(fd, path) || listen(fd, LISTEN_BACKLOG);
	int why = errno;
	umask(mask);
	if (failed) {
		close(fd);
		return err_set(err, ERR_IO, "cannot listen at '%s': %s", path, strerror(why));
	}
	*ret_fd = fd;
	return 0;
}
