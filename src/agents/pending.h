#ifndef AGENTS_PENDING_H
#define AGENTS_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "model/capture.h"

/*
 * Tool calls that a transcript has started and not answered yet. A call is told twice: when it is
 * made, with unknown status, and again with its result; this keeps what the second telling needs
 * from the first. At most PENDING_MAX calls are remembered; the oldest goes first, and its result
 * is then told without the call's name. Owned by one reader.
 */

#define PENDING_MAX 128
#define PENDING_FILES_MAX 20  /* files remembered per call */
#define PENDING_PATH_MAX 1024 /* longer paths are not remembered */

struct pending_call {
	char *id, *name, *uuid; /* heap; id is never NULL */
	char *files[PENDING_FILES_MAX];
	size_t nfiles;
	int64_t at;
	bool writes_files;
	bool is_told; /* the result was told already, by a better line */
	/*
	 * Codex: number of the process that runs on behind the call, or that the call waits for;
	 * else 0
	 */
	int64_t process;
	/* waits for a process that another call started; is no event of its own */
	bool is_poll;
};

struct pending {
	struct pending_call calls[PENDING_MAX];
	size_t n;
};

/* Remembers the call of an event just made (its tool_use_id, tool, id, files, time). */
void pending_add(struct pending *p, const struct captured_event *e);
struct pending_call *pending_find(struct pending *p, const char *id); /* NULL when unknown */
/* the call that started it */
struct pending_call *pending_of_process(struct pending *p, int64_t process);
/* Remembers a call that only waits for a process. */
void pending_poll(struct pending *p, const char *id, int64_t process);
/* Gives the event of a result what its call said. */
void pending_fill(const struct pending_call *call, struct arena *a, struct captured_event *e);
void pending_remove(struct pending *p, struct pending_call *call);
void pending_print(const struct pending *p, struct jw *w, const char *key);
void pending_load(struct pending *p, const json *list);
void pending_done(struct pending *p);

#endif
