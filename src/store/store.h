#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "conf/project.h"
#include "model/capture.h"
#include "model/memory.h"
#include "store/db.h"
#include "store/pack.h"

/*
 * The store: every row that is kept. One `struct store` is one connection with its compression state; it belongs to one
 * thread. Exactly one may be a writer. Results live in the caller's arena. Writers record a row in `change` for everything that the index must
 * follow, in the same transaction. Texts of events and memories are kept compressed (zstd, with a dictionary trained on the store).
 */

struct store;

/* url: as in db.h. DB_CREATE migrates (backup first, each migration in its transaction). A newer schema: ERR_STORE "made by a newer version", opened by nobody. */
struct store_setup {
	const char *url;
	enum db_mode mode;
	const char *backup_dir;
	const char *author; /* for whom (author.h); NULL: the store's first */
	bool keeps_login;   /* PostgreSQL: for what only the login's own role may do; then nothing is kept from it but by the statements */
};
int store_open_as(const struct store_setup *setup, struct store **ret, struct err *err);
int store_open(const char *url, enum db_mode mode, const char *backup_dir, struct store **ret, struct err *err);
void store_close(struct store *s);
struct db *store_db(struct store *s);
int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);
/*
 * Around several reads of a reader: they see one state, and the store is asked for it once instead of at each of them. Kept short.
 */
int store_look_begin(struct store *s, struct err *err);
void store_look_end(struct store *s);

/* project.c — identities to projects (design, "Project"): first alias that matches decides; new aliases are added; two that turn out one are merged; a known path with another remote is a new project. */
int store_project_resolve(struct store *s, const struct project_identity *p, int64_t *ret, struct err *err);
/* By id text, name, path or alias; 0 when there is none (no error). */
int store_project_find(struct store *s, const char *name_or_path, int64_t *ret, struct err *err);
int store_project_create(struct store *s, const char *name, int64_t *ret, struct err *err);
int store_project_get(struct store *s, struct arena *a, int64_t id, struct project *ret, struct err *err);

/* session.c — (agent, agent_session) is unique; a later capture fills what was unknown, newest title wins; never to unknown. */
int store_session_put(struct store *s, const struct captured_session *c, int64_t project, int64_t *ret, struct err *err);
/* The title that a session has as long as its agent gives none. */
int store_session_made_title(struct store *s, int64_t session, const char *title, struct err *err);
int store_session_get(struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err); /* ERR_NOT_FOUND */
/* The same without counting its events and memories. */
int store_session_of(struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err);
int store_session_find(struct store *s, enum agent_id agent /* or NONE */, const char *agent_session, int64_t *ret, struct err *err); /* 0: none */

/*
 * event.c — the one insert path's last step. Rules of identity (design §1):
 * tool calls by tool_use_id; others by the transcript's id; a hook's copy under its spool name is adopted by the first transcript
 * event of same session, sub-agent, turn, kind and text hash, in time order (and the other way round); fields merge unknown < hook < transcript, never to unknown;
 * copied history (resume, fork) is recognised by uuid across the agent's sessions.
 */
/* Above these a text keeps its head and tail, and the event its true size. The caller may cut earlier. */
#define EVENT_TEXT_MAX (1u << 20)
#define EVENT_INPUT_MAX (256u << 10)
#define EVENT_OUTPUT_MAX (256u << 10)
#define EVENT_DIFF_MAX (256u << 10)
#define EVENT_FILES_MAX 256
#define EVENT_NAME_MAX 4096 /* key, tool, folder, branch, path */
enum put_result { PUT_NEW, PUT_MERGED, PUT_SAME, PUT_EXCLUDED };
struct event_put {
	int64_t session, project;
	enum agent_id agent;
	const struct captured_event *event; /* cleaned and redacted */
	const char *spool_name;             /* hooks only */
};
int store_event_put(struct store *s, const struct event_put *p, enum put_result *ret, int64_t *ret_id, struct err *err);
int store_event_get(struct store *s, struct arena *a, int64_t id, struct event *ret, struct err *err);
/* Events of a turn, or of a session (turn 0), sorted by (time, key); from the `skip`th, at most max. */
int store_events(struct store *s, struct arena *a, int64_t session, int64_t turn, size_t skip, size_t max, struct event **ret, size_t *ret_n, struct err *err);
/*
 * The same of a turn, for whoever has a bounded memory: texts of the first `whole` bytes of events as they are, of what follows
 * head and tail, of what follows after as much again very little.
 */
struct turn_events { int64_t session, turn; size_t max, whole; };
int store_turn_events(struct store *s, struct arena *a, const struct turn_events *q, struct event **ret, size_t *ret_n, struct err *err);

/* pause.c, forget.c — what must not be stored. */
struct exclusion { int64_t at; const char *agent_session; enum agent_id agent; int64_t project; const char *key; uint64_t text_hash; };
int store_is_excluded(struct store *s, const struct exclusion *x, bool *ret, struct err *err);
int store_pause(struct store *s, int64_t session, int64_t project, int64_t from, int64_t until /* 0: open */, int64_t *ret, struct err *err);
int store_resume(struct store *s, int64_t session, int64_t project, int64_t at, int64_t *ret_ended, struct err *err);

/* turn.c — dirty turns, quiet first. */
struct turn { int64_t id, session, project, started_at, last_event_at; const char *agent_turn; int64_t ordinal, touched; bool is_dirty, is_stopped; };
/* Turns that changed since their rules ran and are quiet: stopped, followed by another prompt, ended, or without event since `quiet_before`. */
int store_turns_dirty(struct store *s, struct arena *a, int64_t quiet_before, int64_t after /* this turn */, size_t max, struct turn **ret, size_t *ret_n, struct err *err);
int store_turn_get(struct store *s, struct arena *a, int64_t id, struct turn *ret, struct err *err);
/* All turns whose events are still there become dirty, when the rules are not of this version. */
int store_turns_of_rules(struct store *s, int64_t version, struct err *err);
/* Where other daemons write too: is the turn as it was read, and still dirty? Else another one has seen more, or was faster. */
int store_turn_is_still(struct store *s, const struct turn *t, bool *ret, struct err *err);
int store_turn_stopped(struct store *s, int64_t session, const char *agent_turn /* NULL: latest */, struct err *err);
/* Replaces what the rules made of this turn: memories keyed (turn, rule, slot); same key and same content keeps id and row. Clears dirty. */
int store_turn_memories(struct store *s, const struct turn *t, struct memory *memories, size_t n, struct err *err);
/*
 * The same for what a model made of one part of a turn (rule MODEL_RULE; slots begin with "<part>."). What a memory refines
 * becomes superseded by it as long as it is active, and comes back with its end. part -1: all parts.
 */
#define MODEL_RULE "model"
int store_model_memories(struct store *s, const struct turn *t, int part, struct memory *memories, size_t n, struct err *err);
/* Replaces the memory of this rule and slot that belongs to the session and to no turn. */
int store_session_memory(struct store *s, struct memory *m, struct err *err);

/* memory.c */
#define MEMORY_TEXT_MAX (256u << 10) /* each text; longer ones are cut */
#define MEMORY_FILES_MAX 200         /* more are left out */
#define MEMORY_EVIDENCE_MAX 64
int store_memory_put(struct store *s, struct memory *m, struct err *err);    /* id 0: new (id is set); else changed */
int store_memory_get(struct store *s, struct arena *a, int64_t id, struct memory *ret, struct err *err); /* with files and evidence; ERR_NOT_FOUND */
/* Several at once without files, in the order asked; a missing one has id 0. Evidence is as stored: its events may be gone. */
int store_memories(struct store *s, struct arena *a, const int64_t *ids, size_t n, struct memory *ret, struct err *err);
struct memory_query {
	int64_t project, session, turn;      /* 0: any */
	int kind, type, status, origin;      /* -1: any */
	const char *file;                    /* path or ending of one; NULL: any */
	int64_t after, before;               /* 0: any; on `at` */
	bool pinned_only, oldest_first;
	int64_t behind_at, behind_id;        /* those that come behind this one; id 0: from the first */
	size_t skip, max;
};
int store_memory_list(struct store *s, struct arena *a, const struct memory_query *q, struct memory **ret, size_t *ret_n, struct err *err); /* newest first, with files */
int store_memory_neighbours(struct store *s, struct arena *a, int64_t project, int64_t at, size_t before, size_t after, int kind, struct memory **ret, size_t *ret_n, struct err *err);

/* lists.c */
struct session_query {
	int64_t project;
	enum agent_id agent;
	int64_t after, before;
	const char *branch;           /* NULL: any */
	int64_t behind_at, behind_id; /* those that come behind this one; id 0: from the first */
	size_t skip, max;
};
int store_session_list(struct store *s, struct arena *a, const struct session_query *q, struct session **ret, size_t *ret_n, struct err *err);
/* By the last event, newest first. */
struct project_query {
	int64_t behind_at, behind_id; /* those that come behind this one; id 0: from the first */
	size_t skip, max;
};
int store_project_list(struct store *s, struct arena *a, const struct project_query *q, struct project **ret, size_t *ret_n, struct err *err);
struct store_stats {
	int64_t projects, sessions, events, turns, memories[MEMORY_KIND_COUNT], pending, entities, vectors, redactions, last_event_at, store_bytes, jobs_waiting, jobs_dead;
};
int store_stats(struct store *s, int64_t project, struct store_stats *ret, struct err *err);
int store_counter_add(struct store *s, const char *name, int64_t by, struct err *err); /* redactions, skipped lines … */
int store_counter_get(struct store *s, const char *name, int64_t *ret, struct err *err);

/* transcript.c — how far each transcript was read. */
struct transcript { int64_t id; const char *path; enum agent_id agent; uint64_t offset, lines; int64_t size, mtime, inode; const char *state; const char *head_hash; int64_t bad_lines; };
int store_transcript_get(struct store *s, struct arena *a, const char *path, struct transcript *ret, struct err *err); /* id 0 when unknown */
int store_transcript_put(struct store *s, const struct transcript *t, struct err *err);

/* change.c — what the index follows. */
enum change_kind { CHANGE_EVENT, CHANGE_MEMORY, CHANGE_SESSION, CHANGE_KIND_COUNT };
struct change { int64_t seq; enum change_kind kind; int64_t id; bool is_others; /* a colleague's; absent: it was forgotten, or taken back */ };
int store_changes(struct store *s, struct arena *a, int64_t after, size_t max, struct change **ret, size_t *ret_n, struct err *err);
/* The same from the newest down: above `after`, up to `up_to`. */
struct change_range { int64_t after, up_to; size_t max; };
int store_changes_down(struct store *s, struct arena *a, const struct change_range *range, struct change **ret, size_t *ret_n, struct err *err);
int store_change_last(struct store *s, int64_t *ret, struct err *err);
/* Drops rows that everyone has followed (only the last per (kind, id) is ever needed). */
int store_change_prune(struct store *s, int64_t up_to, struct err *err);
/* Everything an index document needs, for events, memories and sessions alike; absent rows have kind 0 (deleted). */
struct index_row {
	enum change_kind kind; int64_t id, project, session, at; enum agent_id agent;
	int doc_kind; /* memory_kind or event_kind */ int type, status, origin; double confidence; bool is_pinned, is_meta, is_suspect; const char *branch; const char *namespace; /* chunks only */
	const char *title, *body, *rest; /* rest: files, commands, tool, concepts */
};
int store_index_rows(struct store *s, struct arena *a, const struct change *changes, size_t n, struct index_row *ret, struct err *err);

/* injection.c */
struct injection { int64_t id, session, at; const char *where; const int64_t *memories; const int *used /* as in injected; NULL: unknown */; size_t n; int64_t chars; };
int store_injection_put(struct store *s, const struct injection *i, struct err *err);
int store_injection_list(struct store *s, struct arena *a, int64_t session, size_t max, struct injection **ret, size_t *ret_n, struct err *err);
/*
 * Which of what was given the session then used. One row per memory and injection; `used` is what was seen of it (bits of the
 * caller's choice), -1 as long as nobody looked. Marks are added to, never taken away.
 */
struct injected { int64_t injection, position, memory, at; const char *where; int used; };
int store_injected_list(struct store *s, struct arena *a, int64_t session, int64_t before, size_t max, struct injected **ret, size_t *ret_n, struct err *err); /* latest first */
int store_injected_used(struct store *s, int64_t injection, int64_t position, int used, struct err *err);
/* How often each memory was given where somebody looked, and how often it was used then. */
struct injected_count { int64_t given, used; };
int store_injected_counts(struct store *s, const int64_t *memories, size_t n, struct injected_count *ret, struct err *err);
/* Has any of these been given in this session since `since`? Sets ret[i]. */
int store_injected(struct store *s, int64_t session, int64_t since, const int64_t *memories, size_t n, bool *ret, struct err *err);

/* forget.c — erases for good: rows, derived rows, tombstones; then free pages overwritten and the log truncated by store_scrub. */
struct forget_query { const int64_t *memories; size_t nmemories; const int64_t *events; size_t nevents; int64_t session, project, before; const char *match; };
struct forget_plan { int64_t *memories; size_t nmemories; int64_t *events; size_t nevents; int64_t *sessions; size_t nsessions;
	int64_t *named; size_t nnamed; /* of the memories: meant themselves, not only derived from what goes */ };
int store_forget_plan(struct store *s, struct arena *a, const struct forget_query *q, struct forget_plan *ret, struct err *err);
int store_forget(struct store *s, const struct forget_plan *p, struct err *err);
int store_scrub(struct store *s, struct err *err);
/* graves.c — what was forgotten in one store goes from another one too (a backup that takes its place); in a transaction of its own. */
int store_graves_carry(struct store *from, struct store *to, struct arena *a, struct forget_plan *ret, struct err *err);

/* tombstone.c — changes whenever something is forgotten: what was read before and is written after may hold a piece of it. */
struct graves {
	int64_t n, last;
};
int store_graves(struct store *s, struct graves *ret, struct err *err);
bool graves_same(const struct graves *a, const struct graves *b);

/* dictionary.c — A dictionary on its way from whoever made it to the writer. */
struct dictionary_made {
	enum pack_class class;
	struct buf data; /* empty: none is wanted */
	bool is_tried;   /* it was wanted, whatever became of it */
	int64_t rows;         /* as they were when its making began */
	struct graves graves; /* and these */
};
void dictionary_made_done(struct dictionary_made *d);
/*
 * Makes one when there are rows_min rows and none yet, or many times the rows that the last was made
 * of. Reads only. What was forgotten meanwhile must not come back in it: store_dictionary_put then
 * drops it.
 */
int store_dictionary_make(struct store *s, enum pack_class class, int64_t rows_min,
	struct dictionary_made *ret, struct err *err);
int store_dictionary_put(struct store *s, const struct dictionary_made *d, struct err *err);
/*
 * copy.c — all rows of one store into another, which must be empty (ERR_USAGE) and is brought up to date first. What the
 * source holds at one moment; numbers stay, and numbers that were used before are not used again.
 */
/* `author` NULL: the first; is_all: what everybody keeps to themselves too, for which the login must be let past row-level security. */
struct copy_wish { const char *from, *to, *author; bool is_all; };
struct copy_counts { int64_t tables, rows, sessions, events, memories; };
int store_copy(const struct copy_wish *w, struct copy_counts *ret, struct err *err);

/* keep.c — housekeeping. */
int store_check(struct store *s, bool is_deep, struct buf *report, struct err *err);
int store_backup(struct store *s, const char *path, struct err *err); /* an SQLite file, whatever the store is */
int store_retention(struct store *s, int64_t events_before, int64_t max_bytes, int64_t *ret_removed, struct err *err);
int store_train_dictionary(struct store *s, struct err *err); /* when there is enough text and none yet; background */
/* Gives free pages back to the file system; rewrites the file, outside a transaction. */
int store_compact(struct store *s, struct err *err);
int store_checkpoint(struct store *s, bool truncate, struct err *err);

#endif
