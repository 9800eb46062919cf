#ifndef TESTS_OPS_FIXTURE_H
#define TESTS_OPS_FIXTURE_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "conf/project.h"
#include "ops/ops.h"
#include "ops/param.h"
#include "text/snippet.h"
#include "text/hash.h"

/*
 * A data folder of its own with a real store and a real index, filled with two projects, and the daemon's services in their
 * simplest form: a write runs at once, then the index follows. One fixture per test.
 */

#define HOUR (3600 * 1000LL)
#define DAY (24 * HOUR)

struct fixture {
	struct arena arena;
	char root[256];            /* holds home/ and the projects' folders */
	const char *app, *other;   /* folders of the projects */
	struct paths paths;
	struct settings *settings;
	struct store *writer, *reader;
	struct index *index;
	struct analyser *analyser;
	struct services services;
	int64_t app_id, other_id, s1, s2, s3;
	int64_t now;
	int purges, scrubs, restores, settings_changes;
	bool is_agent;
	int64_t turn;
};

static inline void follow(struct fixture *f)
{
	struct change *changes;
	size_t n;
	do {
		AUTO(arena_done) struct arena a = { 0 };
		assert_int_equal(store_changes(f->reader, &a, (int64_t)index_seq(f->index), 500, &changes, &n, NULL), 0);
		struct index_row *rows = ARENA_ARRAY(&a, struct index_row, n + 1);
		struct doc *docs = ARENA_ARRAY(&a, struct doc, n + 1);
		size_t ndocs = 0;
		if (n)
			assert_int_equal(store_index_rows(f->reader, &a, changes, n, rows, NULL), 0);
		for (size_t i = 0; i < n; i++) {
			static const enum doc_class classes[] = { [CHANGE_EVENT] = DOC_EVENT, [CHANGE_MEMORY] = DOC_MEMORY,
				[CHANGE_SESSION] = DOC_SESSION };
			struct index_row *r = &rows[i];
			doc_id id = DOC_ID(classes[changes[i].kind], changes[i].id);
			if (changes[i].kind != CHANGE_SESSION && !r->doc_kind) {
				assert_int_equal(index_remove(f->index, &id, 1, NULL), 0);
				continue;
			}
			docs[ndocs++] = (struct doc){ .id = id,
				.columns = { .at = r->at, .project = (uint32_t)r->project, .session = (uint32_t)r->session,
					.kind = (uint8_t)r->doc_kind, .type = (uint8_t)r->type, .status = (uint8_t)r->status,
					.origin = (uint8_t)r->origin, .agent = (uint8_t)r->agent, .confidence = (uint8_t)(r->confidence * 255),
					.flags = (uint8_t)((r->is_pinned ? DOC_PINNED : 0) | (r->is_meta ? DOC_META : 0)),
					.branch = r->branch && *r->branch ? (uint32_t)hash64(r->branch, strlen(r->branch)) : 0 },
				.title = str_of(r->title), .body = str_of(r->body), .rest = str_of(r->rest) };
		}
		if (ndocs)
			assert_int_equal(index_put(f->index, docs, ndocs, NULL), 0);
		if (n)
			index_set_seq(f->index, (uint64_t)changes[n - 1].seq);
		if (index_wants_flush(f->index))
			assert_int_equal(index_flush(f->index, false, NULL), 0);
	} while (n);
}

static inline int fixture_write(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct fixture *f = daemon;
	if (store_begin(f->writer, err))
		return -1;
	if (fn(f->writer, ctx, err)) {
		store_rollback(f->writer);
		return -1;
	}
	if (store_commit(f->writer, err))
		return -1;
	follow(f);
	return 0;
}

static inline int fixture_maintain(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct fixture *f = daemon;
	f->scrubs++;
	return fn(f->writer, ctx, err);
}

static inline int fixture_purge(void *daemon, bool from_scratch, struct err *err)
{
	struct fixture *f = daemon;
	f->purges++;
	if (!from_scratch)
		return index_flush(f->index, true, err);
	if (index_clear(f->index, err))
		return -1;
	index_set_seq(f->index, 0);
	follow(f);
	return 0;
}

static inline int fixture_restore(void *daemon, struct op_call *call, const char *path, struct err *err)
{
	struct fixture *f = daemon;
	(void)call, (void)err;
	f->restores++;
	return file_exists(path) ? 0 : -1;
}

static inline int fixture_settings_changed(void *daemon, struct err *err)
{
	(void)err;
	((struct fixture *)daemon)->settings_changes++;
	return 0;
}

static inline void fixture_status(void *daemon, struct jw *w)
{
	(void)daemon;
	jw_bool(w, "running", true);
}

static inline int64_t event_add(struct fixture *f, int64_t session, struct captured_event e)
{
	enum put_result result;
	int64_t id;
	static int n;
	struct event_put p = { .session = session, .project = session == f->s3 ? f->other_id : f->app_id, .agent = AGENT_CLAUDE,
		.event = &e };
	e.source = SOURCE_TRANSCRIPT;
	if (e.kind == EVENT_TOOL && !e.tool_use_id)
		e.tool_use_id = arena_printf(&f->arena, "toolu_%d", ++n);
	e.id = arena_printf(&f->arena, "uuid-%d", ++n);
	if (!e.exit_code)
		e.exit_code = -1;
	assert_int_equal(store_event_put(f->writer, &p, &result, &id, NULL), 0);
	return id;
}

/* `m` needs kind, title, at and what else the test is about. */
static inline int64_t memory_add(struct fixture *f, struct memory m)
{
	if (!m.project)
		m.project = f->app_id;
	if (m.project < 0)
		m.project = 0;
	if (!m.trust)
		m.trust = TRUST_REPLY;
	if (!m.origin)
		m.origin = ORIGIN_RULES;
	if (!m.confidence)
		m.confidence = .8;
	struct err err = { 0 };
	assert_int_equal(store_memory_put(f->writer, &m, &err), 0);
	return m.id;
}

static inline int64_t session_add(struct fixture *f, const char *id, const char *cwd, int64_t project, int64_t at)
{
	int64_t ret;
	struct captured_session s = { .agent = AGENT_CLAUDE, .agent_session = id, .cwd = cwd, .branch = "main", .started_at = at,
		.title = arena_printf(&f->arena, "Session %s", id) };
	assert_int_equal(store_session_put(f->writer, &s, project, &ret, NULL), 0);
	return ret;
}

static inline int64_t project_add(struct fixture *f, const char *name, const char **ret_folder)
{
	struct project_identity p;
	int64_t id;
	const char *folder = path_join(&f->arena, f->root, name), *git = path_join(&f->arena, folder, ".git");
	assert_int_equal(file_mkdirs(git, 0700, NULL), 0);
	const char *head = "ref: refs/heads/main\n";
	assert_int_equal(file_write(path_join(&f->arena, git, "HEAD"), head, strlen(head), 0600, NULL), 0);
	assert_int_equal(file_mkdirs(path_join(&f->arena, git, "objects"), 0700, NULL), 0);
	assert_int_equal(file_mkdirs(path_join(&f->arena, git, "refs"), 0700, NULL), 0);
	project_identify(&f->arena, folder, &p);
	assert_int_equal(store_project_resolve(f->writer, &p, &id, NULL), 0);
	*ret_folder = folder;
	return id;
}

static inline struct memory_file *files_of(struct fixture *f, const char *a, const char *b)
{
	struct memory_file *files = ARENA_ARRAY(&f->arena, struct memory_file, 2);
	files[0] = (struct memory_file){ .path = a, .role = ROLE_MODIFIED, .size = -1 };
	files[1] = (struct memory_file){ .path = b ? b : a, .role = ROLE_READ, .size = -1 };
	return files;
}

/* Session 1 (yesterday) repairs the token rotation, session 2 (today) the profile; session 3 is of another project. */
static inline void fixture_fill(struct fixture *f)
{
	int64_t yesterday = f->now - DAY, today = f->now - HOUR;
	f->s1 = session_add(f, "11111111-aaaa", f->app, f->app_id, yesterday);
	f->s2 = session_add(f, "22222222-bbbb", f->app, f->app_id, today);
	f->s3 = session_add(f, "33333333-cccc", f->other, f->other_id, today);
	int64_t prompt = event_add(f, f->s1, (struct captured_event){ .kind = EVENT_PROMPT, .at = yesterday + 1000,
		.text = STR("why are users logged out after an hour?") });
	event_add(f, f->s1, (struct captured_event){ .kind = EVENT_TOOL, .at = yesterday + 2000, .tool = "Bash", .status = STATUS_FAILED,
		.input = STR("{\"command\":\"pytest tests/test_oauth.py\"}"), .output = STR("1 failed: rotation") });
	int64_t reply = event_add(f, f->s1, (struct captured_event){ .kind = EVENT_REPLY, .at = yesterday + 3000,
		.text = STR("The refresh token rotation used minutes as seconds.") });
	struct evidence *evidence = ARENA_ARRAY(&f->arena, struct evidence, 2);
	evidence[0] = (struct evidence){ prompt, "prompt", "why are users logged out after an hour?" };
	evidence[1] = (struct evidence){ reply, "reply", "The refresh token rotation used minutes as seconds." };
	memory_add(f, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_BUGFIX, .session = f->s1, .at = yesterday + 3000,
		.title = "Refresh token rotation used minutes as seconds", .branch = "main",
		.body = "Users were logged out after an hour: `ttl` in src/oauth.py was read as seconds.\nIt is 3600 now.",
		.files = files_of(f, "src/oauth.py", "tests/test_oauth.py"), .nfiles = 2, .evidence = evidence, .nevidence = 2 });
	memory_add(f, (struct memory){ .kind = KIND_SUMMARY, .session = f->s1, .at = yesterday + 4000, .branch = "main",
		.title = "Users logged out after an hour", .request = "why are users logged out after an hour?",
		.completed = "The rotation of refresh tokens counts in seconds now.", .next_steps = "Add a test for the rotation.",
		.evidence = evidence, .nevidence = 2 });
	event_add(f, f->s2, (struct captured_event){ .kind = EVENT_PROMPT, .at = today + 1000,
		.text = STR("please make getUserName tolerate a missing name in the profile") });
	event_add(f, f->s2, (struct captured_event){ .kind = EVENT_REPLY, .at = today + 3000,
		.text = STR("getUserName falls back to the e-mail address when the profile has no name.") });
	memory_add(f, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_FEATURE, .session = f->s2, .at = today + 3000,
		.title = "getUserName falls back to the e-mail address", .branch = "main",
		.body = "A profile without a name no longer raises; 4 tests pass.",
		.files = files_of(f, "src/profile.py", NULL), .nfiles = 1 });
	memory_add(f, (struct memory){ .kind = KIND_SUMMARY, .session = f->s2, .at = today + 4000, .branch = "main",
		.title = "Profiles without a name", .request = "please make getUserName tolerate a missing name in the profile",
		.completed = "getUserName in src/profile.py falls back to the e-mail address." });
	event_add(f, f->s3, (struct captured_event){ .kind = EVENT_PROMPT, .at = today + 1000, .text = STR("tune the kernel scheduler") });
	memory_add(f, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_DISCOVERY, .session = f->s3, .project = f->other_id,
		.at = today + 2000, .title = "The scheduler starves idle cores", .body = "Only on machines with many sockets." });
}

/* As the store's fixture has it (store_fixture.h). */
static inline const char *ops_url(struct fixture *f)
{
	static unsigned made;
	const char *database = getenv("REMANENCE_TEST_STORE");

	if (!database || !*database)
		return arena_printf(&f->arena, "sqlite:%s", f->paths.store);
	return arena_printf(&f->arena, "%s%cschema=ops_%d_%u", database, strchr(database, '?') ? '&' : '?', (int)getpid(), ++made);
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	struct err err = { 0 };
	bool rebuild;
	const char *base = getenv("TMPDIR");
	snprintf(f->root, sizeof(f->root), "%s/remanence-ops-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(f->root));
	setenv("XDG_CONFIG_HOME", path_join(&f->arena, f->root, "config"), 1);
	setenv("TZ", "UTC", 1);
	assert_int_equal(paths_init(&f->paths, path_join(&f->arena, f->root, "home"), &f->arena, &err), 0);
	assert_int_equal(paths_create(&f->paths, &err), 0);
	assert_int_equal(settings_load(f->paths.settings, &f->settings, NULL, &err), 0);
	const char *url = ops_url(f);
	assert_int_equal(store_open(url, DB_CREATE, f->paths.backup, &f->writer, &err), 0);
	assert_int_equal(store_open(url, DB_READ, NULL, &f->reader, &err), 0);
	assert_int_equal(index_open(f->paths.index, &f->index, &rebuild, &err), 0);
	f->analyser = analyser_new();
	f->now = clock_now();
	f->services = (struct services){ .daemon = f, .write = fixture_write, .index_purge = fixture_purge, .maintain = fixture_maintain,
		.restore = fixture_restore, .settings_changed = fixture_settings_changed, .status = fixture_status };
	assert_int_equal(store_begin(f->writer, &err), 0);
	f->app_id = project_add(f, "app", &f->app);
	f->other_id = project_add(f, "other", &f->other);
	fixture_fill(f);
	assert_int_equal(store_commit(f->writer, &err), 0);
	follow(f);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	index_close(f->index);
	store_close(f->reader);
	store_close(f->writer);
	settings_free(f->settings);
	analyser_free(f->analyser);
	file_remove_tree(f->root, NULL);
	arena_done(&f->arena);
	free(f);
	return 0;
}

struct reply {
	json *json;
	int failed;
	struct err err;
	char *text;
};

static inline void reply_done(struct reply *r)
{
	json_free(r->json);
	free(r->text);
	*r = (struct reply){ 0 };
}

static inline struct op_call call_make(struct fixture *f, struct arena *a, const json *params, const char *cwd)
{
	return (struct op_call){ .arena = a, .store = f->reader, .index = f->index, .settings = f->settings, .paths = &f->paths,
		.services = &f->services, .analyser = f->analyser, .params = params, .cwd = cwd, .is_agent = f->is_agent,
		.started_us = clock_mono_us() };
}

/* Runs an operation as a door would; params are JSON with ' for ". */
static inline struct reply ask_in(struct fixture *f, const char *cwd, const char *op, const char *params)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(json_free_ptr) json *given = NULL;
	AUTO(buf_done) struct buf out = { 0 };
	struct reply r = { 0 };
	struct jw w = { .out = &out };
	char *text = arena_str(&a, params);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_int_equal(json_parse(text, strlen(text), &given, &r.err), 0);
	struct op_call call = call_make(f, &a, given, cwd);
	op_fn *fn = op_find(op);
	assert_non_null(fn);
	r.failed = fn(&call, &w, &r.err);
	if (r.failed) {
		assert_true(r.err.code != ERR_NONE && r.err.text[0]);
		return r;
	}
	r.text = mem_strdup(buf_cstr(&out));
	if (json_parse(out.data, out.len, &r.json, &r.err))
		fail_msg("%s gave no JSON: %s", op, r.text);
	return r;
}

static inline struct reply ask(struct fixture *f, const char *op, const char *params)
{
	return ask_in(f, f->app, op, params);
}

static inline const json *list(const struct reply *r, const char *key)
{
	if (r->failed)
		fail_msg("the operation failed: %s", r->err.text);
	return json_get(r->json, key);
}

/* Does a hit with this title stand in a list? */
static inline bool has_title(const json *hits, const char *part)
{
	for (size_t i = 0; i < json_len(hits); i++)
		if (json_str(json_at(hits, i), "title") && strstr(json_str(json_at(hits, i), "title"), part))
			return true;
	return false;
}

#endif
