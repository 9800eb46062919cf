#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Files and paths. Everything is opened close-on-exec. Modes are exact (no umask surprises): callers say 0600 or 0700. */

/* Appends a regular file of at most max bytes to *ret (else ERR_TOO_LARGE; ERR_NOT_FOUND when absent); a directory, FIFO or device is refused, never waited on. */
int file_read(const char *path, size_t max, struct buf *ret, struct err *err);
/* Writes beside and renames; mode for a new file, an existing file keeps its own; symlinks are followed. */
int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *err);
/* The same, and on the disk when it returns (fsync): for what people own, such as settings of agents. */
int file_write_durable(const char *path, const void *data, size_t len, mode_t mode, struct err *err);
int file_append(const char *path, const void *data, size_t len, mode_t mode, struct err *err);
int file_mkdirs(const char *path, mode_t mode, struct err *err); /* like mkdir -p; mode for new folders */
bool file_exists(const char *path);
bool file_is_dir(const char *path);
int file_remove_tree(const char *path, struct err *err); /* does not follow symlinks; absent is fine */
uint64_t file_tree_bytes(const char *path);
/* Names of a folder's entries, sorted, without "." and ".."; absent folder gives 0 entries. */
int file_list(struct arena *a, const char *dir, char ***ret_names, size_t *ret_n, struct err *err);
int file_write_all(int fd, const void *data, size_t len); /* 0 or -1 with errno; retries short writes and EINTR */

char *path_join(struct arena *a, const char *dir, const char *name); /* an absolute name stays as it is */
char *path_parent(struct arena *a, const char *path);
const char *path_base(const char *path); /* what is behind the last slash */
/* Lexical: absolute (against cwd), "." and ".." and double slashes resolved, no trailing slash. Touches no file. */
char *path_clean(struct arena *a, const char *cwd, const char *path);
/* `path` as seen from `root` ("src/a.c"); "" for root itself; NULL when it is not inside. */
const char *path_below(const char *root, const char *path);

#endif
