#ifndef DAEMON_FOLDERS_H
#define DAEMON_FOLDERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/current.h"
#include "daemon/follow.h"
#include "daemon/readers.h"
#include "daemon/writer.h"
#include "ops/ops.h"

/*
 * The markdown folders: a thread that brings each up to date when something in it changes (where
 * the system can tell, see folder_watch.h) and in a sweep every `sync.sweep_minutes`; and what operations ask of them.
 * The list of folders is in the store.
 */

#define FOLDERS_DEBOUNCE_MS 100 /* after a change, for the next one */
#define FOLDERS_LATEST_MS 500   /* however many changes follow */
#define FOLDERS_AGAIN_MS 400    /* while a file is being written */
#define FOLDERS_MISSING_MS 5000 /* a folder that is not there */

struct folders;
struct folders_setup {
	struct readers *readers;
	struct writer *writer;
	struct follow *follow;
	struct current *current;
	const char *user_home;
	const _Atomic bool *stop; /* of what operations asked for */
	const char *memory_dir; /* is followed as FOLDERS_DEFAULT; NULL: nothing is */
};
#define FOLDERS_DEFAULT "default" /* namespace */

struct folders *folders_new(const struct folders_setup *setup);
void folders_free(struct folders *f); /* ends what it reads; NULL is fine */
/* For an operation: on its own thread, with its progress. Returns when the result is searchable. */
int folders_sync(struct folders *f, struct op_call *call, const struct sync_request *q, struct sync_result *ret, struct err *err);
void folders_changed(struct folders *f); /* the list did */
bool folders_is_idle(struct folders *f);

#endif
