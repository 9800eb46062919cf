#ifndef BASE_BLOB_ID_H
#define BASE_BLOB_ID_H

#include <stddef.h>

#include "base/err.h"

/*
 * A content's name as git gives it: SHA-1 of "blob LENGTH\0" and the bytes. So what lies on the
 * disk can be compared with what any commit holds. It names contents; nothing rests on it being
 * hard to forge.
 */

#define BLOB_ID_SIZE 41 /* 40 hex digits and a NUL */

void blob_id(const void *data, size_t len, char out[BLOB_ID_SIZE]);
/* Of a regular file of at most max bytes; errors as file_read. */
int blob_id_file(const char *path, size_t max, char out[BLOB_ID_SIZE], struct err *err);

#endif
