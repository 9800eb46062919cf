#ifndef OPS_HITS_H
#define OPS_HITS_H

#include "ops/branches.h"
#include "ops/ops.h"
#include "text/snippet.h"

/*
 * Hits and the rows behind them. What the index gives are numbers; here the rows are fetched (each session and project once
 * per call) and written as the contract's hit objects. Everything lives in the call's arena.
 */

#define HIT_SNIPPET_WIDTH 180
#define HIT_TITLE_WIDTH 100
#define HIT_FILES_MAX 8
#define HIT_SOURCE_MAX (32u << 10) /* bytes of a text that a snippet is looked for in */

struct found {
	struct hit hit;               /* score 0 when it was not searched for */
	const struct memory *memory;  /* one of the three, by class */
	const struct event *event;
	const struct session *session; /* of the memory or event, or the session found; NULL: none */
	const char *project;          /* name, or NULL */
};

/* A project's folder, NULL when unknown or gone; a file, and whether it looks different from when the keeper saw it. */
struct lookup_root {
	int64_t project;
	const char *root;
};
struct lookup_file {
	int64_t project;
	const char *path;
	bool has_changed;
};

/* Sessions, projects and files that were looked up already. */
struct lookup {
	struct op_call *call;
	struct session *sessions;
	size_t nsessions, sessions_cap;
	struct project *projects;
	size_t nprojects, projects_cap;
	struct lookup_root *roots;
	size_t nroots, roots_cap;
	struct files_seen *seen; /* of memories that were read with their files */
	size_t nseen, seen_cap;
	struct lookup_file *files;
	size_t nfiles, files_cap;
	bool has_told; /* the keeper was told that somebody looks */
};

/* Agent, ids, project, branch, title and times; not the rest. NULL when there is none. */
const struct session *lookup_session(struct lookup *l, int64_t id);
const char *lookup_project(struct lookup *l, int64_t id);

/* The rows of hits, in their order; hits whose row is gone are left out. */
int hits_load(struct lookup *l, const struct hit *hits, size_t n, struct found **ret, size_t *ret_n, struct err *err);
/* A row that was not searched for, as if found. Pointers are kept, not copied. */
struct found found_memory(struct lookup *l, const struct memory *m);
struct found found_event(struct lookup *l, const struct event *e);

struct hit_style {
	struct snippet_terms wanted; /* none: the snippet is the text's beginning */
	bool is_session;             /* the hit stands for its session */
	bool explains;
	struct lookup *lookup;       /* for seeing by stat what has changed; NULL: none beyond this hit */
	struct branches *branches;   /* for marking work of other branches; NULL: nothing is marked */
};
void found_write(struct op_call *call, struct jw *w, const struct found *f, const struct hit_style *style);

/* Whose a memory is, when it is a colleague's, and whether it is shared. */
void author_write(struct jw *w, const struct memory *m);

/* A whole record, as `get` gives it. ERR_NOT_FOUND: nothing was written. */
int record_write(struct lookup *l, struct jw *w, const struct ref *ref, struct err *err);

/* "12", "e345", "s7" */
char *ref_text(struct arena *a, enum ref_kind kind, int64_t id);
char *found_ref(struct arena *a, const struct found *f);
/* One line that names a record; never NULL or empty. */
char *memory_title(struct arena *a, const struct memory *m);
char *event_title(struct arena *a, const struct event *e);
/* The record's own text: body, or for summaries without one their parts by name, a line each. Never NULL. */
const char *memory_text(struct arena *a, const struct memory *m);
/* What a text says beyond its title: the title's sentence at its beginning is left out. */
const char *text_beyond(const char *text, const char *title);
/* Everything that an event says, for reading and for snippets; at most HIT_SOURCE_MAX bytes. */
const char *event_text(struct arena *a, const struct event *e);
size_t memory_tokens(const struct memory *m);

#endif
