#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/paths.h"
#include "daemon/catchup.h"
#include "daemon/contract_fill.h"
#include "daemon/current.h"
#include "daemon/drain.h"
#include "daemon/embedding.h"
#include "daemon/folders.h"
#include "daemon/follow.h"
#include "daemon/injections.h"
#include "daemon/journal.h"
#include "daemon/keeper.h"
#include "daemon/model_work.h"
#include "daemon/neighbours.h"
#include "daemon/observer.h"
#include "daemon/readers.h"
#include "daemon/transcript.h"
#include "daemon/writer.h"
#include "ops/ops.h"

/*
 * The daemon: the parts, in the order in which they are made and, backwards, ended. Threads: this
 * one (timers and signals), two that serve HTTP, one per call that waits or streams, the writer,
 * the drain, the catch-up, the observer and the follower.
 */

struct http;
struct tcp_door;
struct timers;

struct daemon {
	struct paths paths;
	struct arena arena;
	char *url; /* of the store */
	const char *author;
	int lock;  /* descriptor */
	struct current *current;
	struct writer *writer;
	struct readers *readers;
	struct follow *follow;
	struct neighbours *neighbours; /* NULL: nobody else can write to the store */
	struct contract_fill *contract_fill; /* the same */
	_Atomic bool has_workers; /* commits are told to the embedding and the keeper */
	struct embedding *embedding;
	struct observer *observer;
	struct model_work *model_work;
	struct keeper *keeper;
	struct transcripts *transcripts;
	struct catchup *catchup;
	struct drain *drain;
	struct folders *folders;
	struct journal *journal;
	struct injections *injections;
	struct http *http;
	struct http *tcp;        /* NULL: not listened on */
	struct tcp_door *tcp_door;
	char tcp_error[ERR_TEXT_MAX]; /* why it is not, or "" */
	struct timers *timers;
	struct services services;
	bool is_foreground;
	int64_t started_at;
	uint64_t started_us;
	int wake[2];             /* a pipe: a byte ends the main loop's wait */
	_Atomic bool is_leaving; /* calls that last end themselves */
	_Atomic uint64_t used_us;
	_Atomic uint64_t events; /* taken since the start, hooks and transcripts alike */
};

/* Everything up to serving. On failure nothing is left but the reason. */
int daemon_open(struct daemon *d, const char *home, bool is_foreground, struct err *err);
/* Serves until told to leave. */
void daemon_run(struct daemon *d);
void daemon_close(struct daemon *d);

void daemon_use(struct daemon *d); /* somebody uses it now: the idle time begins anew */
/* asks the main loop to end; safe in a signal handler and on any thread */
void daemon_leave(struct daemon *d);
/* Nothing waits to be done by any part. */
bool daemon_is_idle(struct daemon *d);

#endif
