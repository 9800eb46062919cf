/*
 * Files are read and written whole. Everything that could block (a FIFO in place of a settings file,
 * a terminal) is refused: the hook and the daemon never wait on somebody else's file.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

#define READ_STEP ((size_t)64 << 10)
#define LINKS_MAX 40
#define TREE_DEPTH_MAX 200
#define TEMP_NAME ".remanence-XXXXXX"

static void close_ptr(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* An error about a path, with its errno: what is not there has a code of its own. */
static int io_error(struct err *err, const char *what, const char *path)
{
	int why = errno;

	return err_set(err, why == ENOENT || why == ENOTDIR ? ERR_NOT_FOUND : ERR_IO,
		"cannot %s '%s': %s", what, path, strerror(why));
}

static int check_regular(int fd, const char *path, struct stat *st, struct err *err)
{
	if (fstat(fd, st) < 0)
		return io_error(err, "examine", path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_IO, "'%s' is not a regular file", path);
	return 0;
}

int file_read(const char *path, size_t max, struct buf *ret, struct err *err)
{
	AUTO(close_ptr) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	AUTO(buf_done) struct buf b = { .max = MIN(max, BUF_MAX - READ_STEP) + READ_STEP };
	struct stat st;

	if (fd < 0)
		return io_error(err, "open", path);
	if (check_regular(fd, path, &st, err) < 0)
		return -1;
	/* The size is a hint only: /proc says 0, and a file may grow while it is read. */
	if (st.st_size > 0 && (size_t)st.st_size <= max && !buf_reserve(&b, (size_t)st.st_size + 1))
		return err_set(err, ERR_TOO_LARGE, "'%s' is too large", path);
	while (b.len <= max && (size_t)MAX(st.st_size, 0) <= max) {
		size_t step = b.cap > b.len + 1 ? b.cap - b.len - 1 : READ_STEP;
		ssize_t n;

		if (!buf_reserve(&b, step))
			break;
		n = read(fd, b.data + b.len, step);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return io_error(err, "read", path);
		if (n == 0) {
			buf_add(ret, b.data, b.len);
			return ret->is_full ? err_set(err, ERR_TOO_LARGE, "'%s' is too large", path)
					    : 0;
		}
		b.len += (size_t)n;
	}
	return err_set(err, ERR_TOO_LARGE, "'%s' is larger than %zu bytes", path, max);
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* What is to be replaced at the end of a chain of symlinks, which may end where nothing is yet. */
static int follow_links(struct arena *a, const char **path, struct err *err)
{
	char target[PATH_MAX];

	for (int i = 0; i < LINKS_MAX; i++) {
		ssize_t n = readlink(*path, target, sizeof(target) - 1);

		if (n < 0 && (errno == EINVAL || errno == ENOENT))
			return 0;
		if (n < 0)
			return io_error(err, "follow", *path);
		target[n] = '\0';
		*path = path_join(a, path_parent(a, *path), target);
	}
	return err_set(err, ERR_IO, "cannot follow '%s': too many symbolic links", *path);
}

static int sync_folder(const char *dir)
{
	AUTO(close_ptr) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

/* Fills the temporary file and gives it the mode and owner that the real one has or shall have. */
static int fill_temp(int fd, const void *data, size_t len, const struct stat *old, mode_t mode)
{
	if (fchmod(fd, old ? old->st_mode & 07777 : mode) < 0)
		return -1;
	/* Fails for other people's files, which then become ours: better than not to be written. */
	if (old && fchown(fd, old->st_uid, old->st_gid) == 0 &&
		fchmod(fd, old->st_mode & 07777) < 0)
		return -1;
	return file_write_all(fd, data, len);
}

static int write_beside(const char *path, const void *data, size_t len, mode_t mode,
	bool is_durable, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *real = path, *dir;
	struct stat st;
	bool is_old;
	char *temp;
	int fd;

	if (follow_links(&a, &real, err) < 0)
		return -1;
	is_old = stat(real, &st) == 0;
	if (is_old && !S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "'%s' is not a regular file", path);
	dir = path_parent(&a, real);
	temp = path_join(&a, dir, TEMP_NAME);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return io_error(err, "write", path);
	if (fill_temp(fd, data, len, is_old ? &st : NULL, mode) < 0 ||
		(is_durable && fsync(fd) < 0)) {
		io_error(err, "write", path);
		close(fd);
		unlink(temp);
		return -1;
	}
	if (close(fd) < 0 || rename(temp, real) < 0 || (is_durable && sync_folder(dir) < 0)) {
		io_error(err, "write", path);
		unlink(temp);
		return -1;
	}
	return 0;
}

int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	return write_beside(path, data, len, mode, false, err);
}

int file_write_durable(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	return write_beside(path, data, len, mode, true, err);
}

int file_append(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	AUTO(close_ptr) int fd = open(path, flags | O_CREAT | O_EXCL, mode);
	struct stat st;

	if (fd >= 0) {
		if (fchmod(fd, mode) < 0)
			return io_error(err, "set the mode of", path);
	} else if (errno == EEXIST) {
		/* O_CREAT again: a dangling link is EEXIST too. */
		fd = open(path, flags | O_CREAT, mode);
	}
	if (fd < 0)
		return io_error(err, "open", path);
	if (check_regular(fd, path, &st, err) < 0)
		return -1;
	return file_write_all(fd, data, len) < 0 ? io_error(err, "append to", path) : 0;
}

/* One folder. Its mode is set again, since mkdir obeys the umask. */
static int make_dir(const char *path, mode_t mode, struct err *err)
{
	if (mkdir(path, mode) == 0)
		return chmod(path, mode) < 0 ? io_error(err, "set the mode of", path) : 0;
	if (errno == EEXIST && file_is_dir(path))
		return 0;
	return io_error(err, "make the folder", path);
}

int file_mkdirs(const char *path, mode_t mode, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	char *copy = arena_str(&a, path);

	if (file_is_dir(path))
		return 0;
	for (char *p = copy + 1; *copy && *p; p++) {
		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		if (!file_is_dir(copy) && make_dir(copy, mode, err) < 0)
			return -1;
		*p = '/';
	}
	return make_dir(copy, mode, err);
}

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void closedir_ptr(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* NULL with errno. A symlink in the place of the folder is refused. */
static DIR *open_dir_at(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Removes what is in the folder, then the folder. 0, or -1 with errno. */
static int remove_dir_at(int at, const char *name, int depth)
{
	AUTO(closedir_ptr) DIR *dir = NULL;
	struct dirent *e;

	if (depth > TREE_DEPTH_MAX) {
		errno = ELOOP;
		return -1;
	}
	dir = open_dir_at(at, name);
	if (!dir)
		return -1;
	while ((e = readdir(dir))) {
		if (is_dots(e->d_name))
			continue;
		if (unlinkat(dirfd(dir), e->d_name, 0) == 0 || errno == ENOENT)
			continue;
		if (errno != EISDIR && errno != EPERM)
			return -1;
		if (remove_dir_at(dirfd(dir), e->d_name, depth + 1) < 0)
			return -1;
	}
	return unlinkat(at, name, AT_REMOVEDIR);
}

int file_remove_tree(const char *path, struct err *err)
{
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : io_error(err, "examine", path);
	rc = S_ISDIR(st.st_mode) ? remove_dir_at(AT_FDCWD, path, 0) : unlink(path);
	return rc < 0 && errno != ENOENT ? io_error(err, "remove", path) : 0;
}

static uint64_t dir_bytes_at(int at, const char *name, int depth)
{
	AUTO(closedir_ptr) DIR *dir = depth > TREE_DEPTH_MAX ? NULL : open_dir_at(at, name);
	struct dirent *e;
	struct stat st;
	uint64_t sum = 0;

	while (dir && (e = readdir(dir))) {
		if (is_dots(e->d_name) ||
			fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			sum += dir_bytes_at(dirfd(dir), e->d_name, depth + 1);
		else if (S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	}
	return sum;
}

uint64_t file_tree_bytes(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	return S_ISDIR(st.st_mode) ? dir_bytes_at(AT_FDCWD, path, 0) : 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list(struct arena *a, const char *path, char ***ret_names, size_t *ret_n, struct err *err)
{
	AUTO(closedir_ptr) DIR *dir = opendir(path);
	char **names = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	if (!dir && errno != ENOENT)
		return io_error(err, "list", path);
	while (dir && (errno = 0, e = readdir(dir))) {
		if (!is_dots(e->d_name))
			ARENA_PUSH(a, names, n, cap, arena_str(a, e->d_name));
	}
	if (dir && errno)
		return io_error(err, "list", path);
	if (n > 1)
		qsort(names, n, sizeof(*names), compare_names);
	*ret_names = names;
	*ret_n = n;
	return 0;
}
