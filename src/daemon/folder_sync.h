#ifndef DAEMON_FOLDER_SYNC_H
#define DAEMON_FOLDER_SYNC_H

#include <stdatomic.h>

#include "daemon/current.h"
#include "daemon/readers.h"
#include "daemon/writer.h"
#include "ops/ops.h"
#include "store/folder.h"
#include "text/document.h"

/*
 * One folder brought up to date: what lies there is compared with what the store knows, by stamp
 * or by checksum; changed files are cut into chunks and handed to the writer, a file a work, so that each
 * is there whole or not at all. On the caller's thread; one sync at a time.
 */

#define FOLDER_FILE_MAX DOCUMENT_MAX /* bytes; a larger file is named and left out */
#define FOLDER_WINDOW 64             /* files on their way to the writer */
#define FOLDER_SETTLED_MS 2000       /* a younger file's stamp does not say that it is the same */

struct sync_room {
	struct readers *readers;
	struct writer *writer;
	struct current *current;
	const _Atomic bool *stop;
};

enum sync_said { SYNC_SAID_SKIP, SYNC_SAID_SYNC, SYNC_SAID_MOVE, SYNC_SAID_GONE, SYNC_SAID_FAIL, SYNC_SAID_COUNT };

struct sync_call {
	const struct folder *folder;
	bool is_forced;  /* all files anew */
	bool is_quick;   /* a file whose stamp is the same is not read */
	/* What becomes of each file; n: its chunks. Non-zero: stop. */
	int (*said)(void *ctx, enum sync_said what, const char *path, int64_t n, const char *why);
	void (*total)(void *ctx, size_t files);
	void (*entered)(void *ctx, const char *path);
	void *ctx;
};

/* *ret grows. *ret_is_unsettled: a file is being written, look again. */
int folder_sync(const struct sync_room *room, struct arena *a, const struct sync_call *call, struct sync_result *ret,
	bool *ret_is_unsettled, struct err *err);

#endif
