#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/store.h"

/*
 * Questions that operations ask of the store beyond the lists of store.h. All read only, all bounded by `max`; most give row
 * ids, which store_memories and store_event_get turn into rows.
 */

/* query_memory.c */
/*
 * Between the two, all questions see the store as it was at the first, and none takes locks of its own. False: there is a
 * transaction already, or none could be had; then there is nothing to end.
 */
bool query_begin(struct store *s);
void query_end(struct store *s, bool has_begun);
/* Fills m->files: modified before read, by path. */
int query_memory_files(struct store *s, struct arena *a, struct memory *m, size_t max, struct err *err);
/* The same and, in one statement, how the keeper saw them: what store_memory_states gives. */
struct file_state;
struct files_seen {
	int64_t memory;
	struct file_state *states;
	size_t n;
};
int query_memory_files_seen(struct store *s, struct arena *a, struct memory *m, size_t max, struct files_seen *ret, struct err *err);
/* Memories about a file, newest first: `path` as stored, or the ending of one after a slash. project 0: any. */
int query_memories_of_file(struct store *s, struct arena *a, int64_t project, const char *path, size_t max, int64_t **ret, size_t *ret_n,
	struct err *err);
/* Active memories that a session start gives whatever their age: pinned ones, notes, preferences and conventions of this
 * project and of no project; pinned first, then newest. Of no project only the author's own: how a colleague wants things everywhere
 * is the colleague's. */
int query_kept(struct store *s, struct arena *a, int64_t project, size_t max, int64_t **ret, size_t *ret_n, struct err *err);
/* Active memories of one kind, newest first. */
struct recent_query {
	int64_t project;     /* 0: those of no project */
	int64_t session;     /* 0: any; else of this one, whatever the project */
	int64_t not_session; /* 0: none left out */
	bool is_own;         /* none of colleagues */
	enum memory_kind kind;
	size_t max;
};
int query_recent(struct store *s, struct arena *a, const struct recent_query *q, int64_t **ret, size_t *ret_n, struct err *err);
/* Memory ids above `after`, ascending (keyset paging). project 0: any. */
int query_page(struct store *s, struct arena *a, int64_t project, int64_t after, size_t max, int64_t **ret, size_t *ret_n, struct err *err);
/* Up to `max` ids of memories that belong to sessions, spread over all of them. */
int query_sample(struct store *s, struct arena *a, size_t max, int64_t **ret, size_t *ret_n, struct err *err);

/* query_file.c */
/* Files that are this one, end in it after a slash, or lie below it as a folder; latest first. */
struct file_count {
	const char *path;
	int64_t memories, last_at;
};
int query_files(struct store *s, struct arena *a, int64_t project, const char *path, size_t max, struct file_count **ret, size_t *ret_n,
	struct err *err);
/* Active memories about those files, newest first. */
int query_memories_below(struct store *s, struct arena *a, int64_t project, const char *path, size_t skip, size_t max, int64_t **ret,
	size_t *ret_n, struct err *err);

/* query_event.c */
/* Events between two times (inclusive, 0: open), in order of time, or newest first. */
struct event_query {
	int64_t session;
	int64_t project;     /* when session is 0 */
	int64_t after, before;
	unsigned kinds;      /* bit per event_kind; 0: any */
	bool newest_first;
	int64_t behind_at, behind_id; /* of a session, in order of time: those behind this one; id 0: from the first */
	size_t max;
};
/* How many memories (of this kind, -1: any) and events (of these kinds) of a session are there? None of a class that is not wanted. */
struct session_count {
	int64_t session;
	bool memories, events;
	int memory_kind;
	unsigned event_kinds;
};
int query_session_items(struct store *s, const struct session_count *q, int64_t *ret, struct err *err);
int query_events(struct store *s, struct arena *a, const struct event_query *q, int64_t **ret, size_t *ret_n, struct err *err);
/* Time of the session's last compaction, 0 when there was none. */
int query_compacted_at(struct store *s, int64_t session, int64_t *ret, struct err *err);
/* Is there an event that this agent knows by this key (tool call id, line uuid), in whatever session? */
int query_event_exists(struct store *s, enum agent_id agent, const char *key, bool *ret, struct err *err);
/* Time of the earliest of these events; 0 when there is none. */
int query_events_first_at(struct store *s, const int64_t *ids, size_t n, int64_t *ret, struct err *err);

/* query_session.c */
/* A project's name, without the counts that store_project_get makes; NULL when there is none. */
int query_project_name(struct store *s, struct arena *a, int64_t id, const char **ret, struct err *err);
/* A session without the counts that store_session_get makes; id 0 when there is none. */
int query_session_head(struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err);
/* The latest session that something was injected into. project 0: any. 0 when there is none. */
int query_injected_session(struct store *s, int64_t project, int64_t *ret, struct err *err);
/* Has any of these memories been given in this session, at this place ("file"), since then? */
int query_injected_at(struct store *s, int64_t session, const char *place, const int64_t *memories, size_t n, int64_t since, bool *ret,
	struct err *err);
/* Transcripts on record, last read first. */
int query_transcripts(struct store *s, struct arena *a, size_t max, struct transcript **ret, size_t *ret_n, struct err *err);
/* Pauses that hold at `at`. session and project 0: everything. until 0: open. */
struct pause {
	int64_t id, session, project, from, until;
};
int query_pauses(struct store *s, struct arena *a, int64_t at, size_t max, struct pause **ret, size_t *ret_n, struct err *err);
/* How many documents the index should hold: things that changed and are not gone. */
int query_documents(struct store *s, int64_t *ret, struct err *err);

#endif
