#ifndef OPS_OPS_H
#define OPS_OPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "conf/paths.h"
#include "conf/settings.h"
#include "index/index.h"
#include "store/contract.h"
#include "store/store.h"

/*
 * What operations do, one file each, behind one signature. No operation knows which door called it: parameters come as a
 * checked JSON object (spec), the result is written as the one JSON object of the contract. Operations neither print nor exit.
 */

/* What an operation may ask of the daemon that it runs in. Filled in by the daemon (or by a test). */
struct op_call;
struct model_state;
struct import_request;
struct import_result;
struct sync_request;
struct sync_result;
struct search_record;
struct vector_query;
struct vectors;

/* The HTTP door on TCP. */
struct http_state {
	const char *address; /* "127.0.0.1:4321"; NULL: there is none */
	const char *why;     /* there is none; NULL: it is switched off */
	bool is_loopback;
};

struct services {
	void *daemon;
	const _Atomic bool *leaving; /* true: calls that last are to end themselves */
	/* Runs fn on the writer thread inside a transaction and waits for its commit; the index has followed when this returns 0. */
	int (*write)(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err);
	/* Reads these transcripts (paths or folders; none: the agents' own folders) to their end. Progress through call->progress. */
	int (*import)(void *daemon, struct op_call *call, const struct import_request *q, struct import_result *ret, struct err *err);
	/* Brings markdown folders up to date; the result is searchable when it returns. Progress through call->progress. */
	int (*sync)(void *daemon, struct op_call *call, const struct sync_request *q, struct sync_result *ret, struct err *err);
	/* The list of folders is another one now. NULL: nobody follows them. */
	void (*folders_changed)(void *daemon);
	/* For the search log; written later. NULL: there is none. */
	void (*searched)(void *daemon, const struct search_record *r);
	/* Rewrites the index without what was removed; rebuilds it from the store when `from_scratch`. */
	int (*index_purge)(void *daemon, bool from_scratch, struct err *err);
	void (*status)(void *daemon, struct jw *w); /* members of the status reply */
	void (*http)(void *daemon, struct http_state *ret); /* NULL: no daemon */
	void (*contract)(void *daemon, struct contract_report *ret); /* of the SQL functions; NULL: there are none */
	int (*stop)(void *daemon, struct err *err);
	int (*settings_changed)(void *daemon, struct err *err);
	/* Runs fn on the writer thread with no transaction open and no other write running (scrub, checkpoint). NULL: through write. */
	int (*maintain)(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err);
	/* Puts a checked copy of a store in the place of the running one: closes every connection, keeps what was there as
	 * backup/before-restore-<ms>.db, renames `path` (on the same file system) into place, opens and migrates it, rebuilds the
	 * index from it. The caller's own call->store is no longer usable when this returns 0. NULL: the door cannot. */
	int (*restore)(void *daemon, struct op_call *call, const char *path, struct err *err);
	/* The vector of a question and what to compare it with; false: there is nothing, and why (ERR_TEXT_MAX bytes). */
	bool (*meaning)(void *daemon, struct str text, struct vector_query *ret, struct vectors **ret_vectors, char *why);
	/* Vectors there are, and changes of the store that were not looked at yet (at most). */
	void (*embedded)(void *daemon, int64_t *ret_vectors, int64_t *ret_waiting);
	/* An Ollama, or an orchestrator before it, makes the vectors and does not fail. NULL: it is not known. */
	bool (*has_ollama)(void *daemon);
	/* "install" (file, or NULL: what is there), "status", "remove"; members of the reply. */
	int (*model)(void *daemon, const char *action, const char *file, struct jw *out, struct err *err);
	/* How the model observer stands. NULL: there is none. */
	void (*model_state)(void *daemon, struct model_state *ret);
	/* Jobs wait that did not; is_well: a request that a person made went well. NULL: nobody cares. */
	void (*model_wake)(void *daemon, bool is_well);
	/* Has the keeper look at a file that seems to have changed, or at a work tree that somebody stands in. Returns at once. NULL: nobody does. */
	void (*look)(void *daemon, int64_t project, const char *path);
	void (*stand)(void *daemon, int64_t project, const char *root);
};

struct import_request {
	const char *const *paths; size_t n;
	enum agent_id agent; int64_t since; bool is_dry;
	int64_t patience_ms; /* 0: none; after it what was not begun is left to the background */
};
struct import_skip { const char *path; const char *reason; };
struct import_result {
	int64_t files, sessions, events, new_events, memories; uint64_t bytes;
	struct import_skip *skipped; size_t nskipped;
	/* per agent: */ int64_t agent_sessions[AGENT_COUNT];
	int64_t files_left;          /* to the background */
};

#define SYNC_FAILED_MAX 200 /* named; all are counted */
struct sync_request {
	const char *namespace; /* NULL: all folders */
	bool is_forced;        /* all files anew, changed or not */
};
struct sync_failed { const char *path, *reason; };
struct sync_result {
	int64_t files, synced, skipped, renamed, removed, failures, chunks /* there are now */, written /* of these, new or changed */;
	struct sync_failed *failed; size_t nfailed;
};

struct op_call {
	struct arena *arena;
	struct store *store;            /* a reader */
	struct index *index;
	const struct settings *settings;
	const struct paths *paths;
	const struct services *services;
	struct analyser *analyser;
	const json *params;             /* checked against the spec, defaults filled in */
	const char *cwd;                /* working folder of whoever asks, or NULL */
	bool is_agent;                  /* an agent asks (MCP), not a person: what it saves is trusted less */
	uint64_t started_us;            /* clock_mono_us when the request was read */
	/* Streams a progress record; NULL when the door cannot. Non-zero: the caller went away, stop. */
	int (*progress)(struct op_call *call, const char *json_line);
	void *door;
};

typedef int op_fn(struct op_call *call, struct jw *out, struct err *err);
struct op {
	const char *name; /* as in spec */
	op_fn *run;
};
extern const struct op ops[];
extern const size_t ops_n;
op_fn *op_find(const char *name);

/* Context for the ask path (hooks): text to inject, empty when there is nothing. Stores nothing; *ret_memories for the record. */
struct context_request {
	int64_t project, session; /* session 0: not known yet */
	const char *cwd, *agent_session, *source, *prompt, *file, *branch, *commit, *command, *error;
	enum agent_id agent;
	int ask; /* enum ask_kind */
};
struct context_section { const char *name; size_t chars; };
struct context_result {
	struct buf text;      /* the caller ends it with buf_done */
	size_t chars;         /* as the agent counts: UTF-16 units, bytes for Codex; never above the setting */
	int64_t *memories; size_t n;
	struct context_section *sections; size_t nsections;
};
int context_build(struct op_call *call, const struct context_request *q, struct context_result *ret, struct err *err);

/* ops_ref.c — references: "12", "e345", "s7". */
enum ref_kind { REF_MEMORY, REF_EVENT, REF_SESSION };
struct ref { enum ref_kind kind; int64_t id; };
int ref_parse(const char *text, struct ref *ret, struct err *err);
/* The project that a call speaks of: parameter `project` (name, path, "all" = 0), else that of call->cwd, else 0. ERR_NOT_FOUND names near ones. */
int call_project(struct op_call *call, int64_t *ret, struct err *err);
/* As call_project, but a working folder does not count: the whole store unless the parameter says otherwise. */
int call_project_named(struct op_call *call, int64_t *ret, struct err *err);
/* A file as people name it (absolute, or relative to call->cwd) as memories name it: relative to its project's root. NULL stays NULL. */
const char *call_file(struct op_call *call, const char *path);
/* One memory or event as a hit object of the contract. */
void hit_write(struct op_call *call, struct jw *w, const struct hit *h, const struct search_result *r, const struct memory *m, const struct event *e);

#endif
