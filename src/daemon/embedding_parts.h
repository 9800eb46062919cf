#ifndef DAEMON_EMBEDDING_PARTS_H
#define DAEMON_EMBEDDING_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/embed_remote.h"
#include "daemon/embedding.h"
#include "daemon/embedding_text.h"
#include "daemon/questions.h"
#include "embed/embedder.h"

/*
 * The embedding from the inside: embedding.c is its thread and its doors, embedding_model.c finds
 * out what makes vectors, embedding_make.c has them made.
 */

/* A folder of vectors. It is kept open to the end: searches may be looking into it. */
struct room {
	char *dir;
	struct vectors *vectors;
	bool is_loaded;
};
#define ROOMS_MAX 16

/* What makes vectors, and those that it made. Neither builtin nor remote: nothing makes any. */
struct generation {
	struct embedder *builtin;
	struct embed_remote *remote;
	struct room *room;
	uint32_t dims; /* numbers of its vectors; 0: not known yet, nothing is loaded */
};

struct embedding {
	struct embedding_setup setup;
	pthread_rwlock_t model_lock;  /* changing a generation takes it for writing */
	struct generation now, old;   /* `old` answers as long as it is there: until `now` has everything */
	struct room rooms[ROOMS_MAX]; /* under choosing; the first is the builtin embedder's */
	size_t nrooms;
	pthread_mutex_t choosing;     /* one at a time looks for a model */
	uint64_t chosen;              /* under mutex: hash of what was wished for */
	struct questions *questions;
	pthread_t thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t wake;
	bool is_closing, is_poked;
	bool is_chosen;  /* it is known whether there is a model */
	bool is_settled; /* nothing is left to do, or nothing can be done for a while */
	int64_t waiting;
	char why[ERR_TEXT_MAX], hint[ERR_TEXT_MAX], file[1024], trouble[ERR_TEXT_MAX];
	pthread_mutex_t putting; /* around looking at the era and putting */
	uint64_t era;
	_Atomic bool has_called; /* requests were recorded */
	_Atomic bool stop; /* a request under way is given up */
	_Atomic bool is_paused; /* a server is not asked for a while, or nothing makes vectors */
	_Atomic uint64_t made, asked_us;
	/* The thread's own. */
	bool is_tidy; /* orphans were purged once */
	struct room *filled;
};

/* embedding_model.c */
const char *embedding_model_file(struct embedding *e, struct arena *a);
/* Opens what the settings ask for, or nothing, in the place of what is in use. */
void embedding_choose(struct embedding *e);
/* What is in use is what should be: nothing was installed, removed or switched meanwhile. */
bool embedding_is_right(struct embedding *e);
bool embedding_has_model(struct embedding *e);
/* A copy to look at: whoever uses what makes the vectors holds model_lock. */
struct generation embedding_now(struct embedding *e);
/* How long a server is to be left alone; 0: not, or there is none. */
int64_t embedding_remote_wait(struct embedding *e);
/* The files hold what was forgotten whether they were loaded or not. */
void embedding_load_first(struct embedding *e);
/* The server's vectors have so many numbers: takes in those that are of this kind. */
void embedding_load_remote(struct embedding *e, uint32_t dims);
/* What is of no use any more is erased, whether it was loaded or not. */
void embedding_purge_rooms(struct embedding *e);
/* This room, if it is that of `now`, has everything: what answered for it goes. */
void embedding_retire_old(struct embedding *e, const struct room *room);
/* Writes what is in memory only. */
void embedding_flush(struct embedding *e);
void embedding_models_close(struct embedding *e);

/* embedding_make.c */
struct page {
	struct arena arena;
	struct change *changes;
	struct index_row *rows;
	size_t n;
	uint64_t era;
	struct room *room; /* of the generation that it is for, and what else is to be known of it */
	uint32_t dims;
	bool is_remote;
};
/* Texts through the server of `now`; 1: it has none any more. */
int embedding_remote_make(struct embedding *e, const struct str *texts, size_t n, struct buf *vectors,
	uint32_t *ret_dims, struct err *err);
/* Makes the vectors of a page. -1: failed; 1: the page is out of date. */
int embedding_make_page(struct embedding *e, struct page *p, struct err *err);
bool embedding_is_closing(struct embedding *e);
/* To embed_remote_open: each request is recorded. */
void embedding_called(void *embedding, const struct embed_call *call);
/* Waits until all are: whoever follows the writer's commits may be ended then. */
void embedding_calls_end(struct embedding *e);

#endif
