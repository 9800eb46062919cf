#include "ops_fixture.h"

#include "store/entity.h"
#include "store/folder.h"
#include "store/job.h"
#include "store/stale.h"

/*
 * Every list is read in pages while rows come in front of what was read and others go: nothing comes twice, and what was
 * there throughout comes. How a row is made and taken away is all that the lists differ in.
 */

#define ROWS 1000
#define ROWS_SERVER 150 /* a server is asked over a socket: the statements are what is tested there */
#define PAGE 7
#define ADDED_MAX 400
#define NAME_MAX_TEST 40

struct walk;
struct list_case {
	const char *op, *params, *key, *id;
	/* A row of this list; is_front: it comes before all others. Writes its identity. */
	int64_t (*add)(struct walk *w, size_t i, bool is_front, char *ret_name);
	void (*remove)(struct walk *w, int64_t id, const char *name);
};

struct row {
	char name[NAME_MAX_TEST];
	int64_t id;
	bool is_gone;
	int seen;
};

struct walk {
	struct fixture *f;
	const struct list_case *c;
	struct row rows[ROWS + ADDED_MAX];
	size_t n, wanted;
	uint64_t random;
};

#define must(expression)                                                \
	do {                                                            \
		struct err err = { 0 };                                 \
		if ((expression) != 0)                                  \
			fail_msg("%s: %s", #expression, err.text);      \
	} while (0)

static void run_sql(struct walk *w, const char *sql, int64_t id)
{
	AUTO(db_end_ptr) struct db_rows *rows = NULL;
	int n = 0;
	must(db_query_once(store_db(w->f->writer), sql, DB_ARGS(db_i(id)), &rows, &err));
	must((n = db_next(rows, &err)) < 0);
	assert_int_equal(n, 0);
}

static int64_t time_of(struct walk *w, size_t i, bool is_front)
{
	/* Several rows share a moment. */
	return is_front ? w->f->now + (int64_t)i * 1000 : w->f->now - 40 * DAY + (int64_t)(i / 3) * 1000;
}

static int64_t memory_made(struct walk *w, struct memory m, char *ret_name)
{
	int64_t id = memory_add(w->f, m);
	snprintf(ret_name, NAME_MAX_TEST, "%lld", (long long)id);
	return id;
}

static void memory_rejected(struct walk *w, int64_t id, const char *name)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct memory m;
	must(store_memory_get(w->f->writer, &a, id, &m, &err));
	m.status = m.status == MEMORY_REJECTED ? MEMORY_ACTIVE : MEMORY_REJECTED;
	must(store_memory_put(w->f->writer, &m, &err));
}

static int64_t session_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	int64_t id = session_add(w->f, arena_printf(&w->f->arena, "session-%zu", i), w->f->app, w->f->app_id, time_of(w, i, is_front));
	snprintf(ret_name, NAME_MAX_TEST, "s%lld", (long long)id);
	return id;
}

static void session_gone(struct walk *w, int64_t id, const char *name)
{
	struct forget_plan plan;
	const struct forget_query q = { .session = id };
	must(store_forget_plan(w->f->writer, &w->f->arena, &q, &plan, &err));
	must(store_forget(w->f->writer, &plan, &err));
}

static int64_t project_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	int64_t id;
	snprintf(ret_name, NAME_MAX_TEST, "project-%zu", i);
	must(store_project_create(w->f->writer, ret_name, &id, &err));
	if (is_front || i % 2)
		session_add(w->f, arena_printf(&w->f->arena, "of-%zu", i), w->f->app, id, time_of(w, i, is_front));
	return id;
}

static void project_gone(struct walk *w, int64_t id, const char *name)
{
	run_sql(w, "DELETE FROM session WHERE project = ?1", id);
	run_sql(w, "DELETE FROM project_alias WHERE project = ?1", id);
	run_sql(w, "DELETE FROM project WHERE id = ?1", id);
}

static int64_t fact_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	static const enum memory_type types[] = { FACT_PREFERENCE, FACT_DECISION, FACT_TODO, FACT_ERROR_FIX };
	return memory_made(w, (struct memory){ .kind = KIND_FACT,
		.type = types[i % ARRAY_LEN(types)],
		.at = time_of(w, i, is_front),
		.title = arena_printf(&w->f->arena, "fact %zu", i),
		.confidence = .5 + (double)(i % 7) / 20,
		.status = i % 5 ? MEMORY_ACTIVE : MEMORY_PENDING,
		.is_pinned = is_front }, ret_name);
}

static int64_t entity_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	struct event e;
	AUTO(arena_done) struct arena a = { 0 };
	snprintf(ret_name, NAME_MAX_TEST, "tool%zu", i * 7919 % 10007);
	const struct mention m = { ENTITY_TOOL, ret_name, is_front ? 1000 + (int64_t)i : (int64_t)(i % 5) + 1, 1000, 2000 };
	int64_t event = event_add(w->f, w->f->s1, (struct captured_event){ .kind = EVENT_PROMPT,
		.at = time_of(w, i, is_front), .turn = arena_printf(&w->f->arena, "turn-%zu", i), .text = STR("a question") });
	must(store_event_get(w->f->writer, &a, event, &e, &err));
	must(store_turn_mentions(w->f->writer, &(struct turn){ .id = e.turn }, &m, 1, &err));
	return e.turn;
}

static void entity_gone(struct walk *w, int64_t id, const char *name)
{
	must(mentions_drop(w->f->writer, id, &err));
}

static int64_t note_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	const struct mention m = { ENTITY_TOOL, "pytest", 1, 1000, 2000 };
	if (!i) {
		AUTO(arena_done) struct arena a = { 0 };
		struct event e;
		int64_t event = event_add(w->f, w->f->s1, (struct captured_event){ .kind = EVENT_PROMPT, .at = 1000,
			.turn = "of-pytest", .text = STR("a question") });
		must(store_event_get(w->f->writer, &a, event, &e, &err));
		must(store_turn_mentions(w->f->writer, &(struct turn){ .id = e.turn }, &m, 1, &err));
	}
	return memory_made(w, (struct memory){ .kind = KIND_NOTE, .at = time_of(w, i, is_front),
		.title = "a note", .body = "run pytest before a release" }, ret_name);
}

static int64_t about_file_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	/* The oldest suspect is the first of all. */
	int64_t id = memory_made(w, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_CHANGE,
		.at = is_front ? w->f->now - 60 * DAY - (int64_t)i * 1000 : time_of(w, i, false),
		.title = "a change", .files = files_of(w->f, "lib/parser.c", NULL), .nfiles = 1 }, ret_name);
	if (is_front || i % 3 == 0)
		must(store_suspect_set(w->f->writer, id, "lib/parser.c", "changed", w->f->now, &err));
	return id;
}

static int64_t waiting_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	bool is_suspect = !is_front && i % 2;
	int64_t id = memory_made(w, (struct memory){ .kind = KIND_FACT, .type = FACT_DECISION,
		.at = time_of(w, i, is_front), .title = arena_printf(&w->f->arena, "decision %zu", i),
		.status = is_suspect ? MEMORY_ACTIVE : MEMORY_PENDING,
		.files = files_of(w->f, "lib/parser.c", NULL), .nfiles = 1 }, ret_name);
	if (is_suspect)
		must(store_suspect_set(w->f->writer, id, "lib/parser.c", "changed", w->f->now - (int64_t)(i / 4), &err));
	return id;
}

static int64_t item_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	int64_t at = is_front ? 1000 - (int64_t)i : 1000 + (int64_t)(i / 4) * 10;
	if (i % 2)
		return memory_made(w, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_CHANGE, .session = w->f->s3,
			.project = w->f->other_id, .at = at, .title = "a change" }, ret_name);
	int64_t id = event_add(w->f, w->f->s3, (struct captured_event){ .kind = EVENT_PROMPT, .at = at,
		.text = str_of(arena_printf(&w->f->arena, "question %zu", i)) });
	snprintf(ret_name, NAME_MAX_TEST, "e%lld", (long long)id);
	return id;
}

static void item_gone(struct walk *w, int64_t id, const char *name)
{
	if (*name != 'e')
		memory_rejected(w, id, name);
	else
		run_sql(w, "DELETE FROM event WHERE id = ?1", id);
}

static int64_t job_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	struct job j = { .kind = JOB_OBSERVE, .project = w->f->app_id, .session = w->f->s1, .at = time_of(w, i, is_front),
		.key = arena_printf(&w->f->arena, "t%zu.0", i), .input = i + 1 };
	bool is_new;
	must(store_job_put(w->f->writer, &j, &is_new, &err));
	snprintf(ret_name, NAME_MAX_TEST, "j%lld", (long long)j.id);
	return j.id;
}

static void job_gone(struct walk *w, int64_t id, const char *name)
{
	must(store_job_drop(w->f->writer, id, &err));
}

static int64_t folder_made(struct walk *w, size_t i, bool is_front, char *ret_name)
{
	snprintf(ret_name, NAME_MAX_TEST, "%s%zu", is_front ? "a" : "n", i);
	struct folder f = { .namespace = ret_name, .root = arena_printf(&w->f->arena, "/notes/%zu", i), .globs = "*.md" };
	must(folder_put(w->f->writer, &f, &err));
	return f.id;
}

static void folder_gone(struct walk *w, int64_t id, const char *name)
{
	must(folder_remove(w->f->writer, id, &err));
}

static const struct list_case cases[] = {
	{ "sessions", "'project':'all'", "sessions", "ref", session_made, session_gone },
	{ "projects", "", "projects", "name", project_made, project_gone },
	{ "facts", "'project':'all'", "facts", "ref", fact_made, memory_rejected },
	{ "entities", "'project':'all'", "entities", "name", entity_made, entity_gone },
	{ "entities", "'name':'pytest'", "memories", "ref", note_made, memory_rejected },
	{ "files", "'path':'lib/parser.c'", "memories", "ref", about_file_made, memory_rejected },
	{ "review", "", "review", "ref", waiting_made, memory_rejected },
	{ "timeline", "'ref':'s3'", "items", "ref", item_made, item_gone },
	{ "jobs", "", "jobs", "ref", job_made, job_gone },
	{ "sync", "'action':'list'", "folders", "namespace", folder_made, folder_gone },
};

/* --- The walk. --- */

static void add(struct walk *w, bool is_front)
{
	struct row *r = &w->rows[w->n];
	r->id = w->c->add(w, w->n, is_front, r->name);
	w->n++;
}

static void see(struct walk *w, const json *row)
{
	const char *name = json_str(row, w->c->id);
	assert_non_null(name);
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->rows[i].name, name))
			w->rows[i].seen++;
}

/* Something comes in front, something else goes, read or not. */
static void change(struct walk *w)
{
	must(store_begin(w->f->writer, &err));
	if (w->n < ROWS + ADDED_MAX)
		add(w, true);
	struct row *r = &w->rows[unit_below(&w->random, w->wanted)];
	if (!r->is_gone)
		w->c->remove(w, r->id, r->name);
	r->is_gone = true;
	must(store_commit(w->f->writer, &err));
}

static size_t pages_read(struct walk *w)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *cursor = "";
	size_t pages = 0;

	for (; cursor; pages++) {
		const char *params = arena_printf(&a, "{%s%s'limit':%d%s%s%s}", w->c->params, *w->c->params ? "," : "", PAGE,
			*cursor ? ",'cursor':'" : "", cursor, *cursor ? "'" : "");
		struct reply r = ask(w->f, w->c->op, params);
		const json *rows = list(&r, w->c->key);
		assert_true(json_len(rows) <= PAGE);
		for (size_t i = 0; i < json_len(rows); i++)
			see(w, json_at(rows, i));
		cursor = json_str(r.json, "next_cursor");
		cursor = cursor ? arena_str(&a, cursor) : NULL;
		reply_done(&r);
		change(w);
	}
	return pages;
}

static const struct list_case *current;

/* The list of the test, in an empty store; what the test writes need not survive a power cut. */
static int walk_setup(void **state)
{
	const char *database = getenv("REMANENCE_TEST_STORE");
	current = *state;
	if (fixture_setup(state))
		return -1;
	struct fixture *f = *state;
	if (!database || !*database)
		must(db_run(store_db(f->writer), "PRAGMA synchronous = OFF", NULL, 0, &err));
	return 0;
}

static void nothing_comes_twice_and_nothing_is_missed(void **state)
{
	static struct walk w;
	memset(&w, 0, sizeof(w));
	w.f = *state;
	w.c = current;
	w.random = 4711;
	must(store_begin(w.f->writer, &err));
	w.wanted = getenv("REMANENCE_TEST_STORE") ? ROWS_SERVER : ROWS;
	while (w.n < w.wanted)
		add(&w, false);
	must(store_commit(w.f->writer, &err));
	size_t pages = pages_read(&w);
	assert_true(pages > w.wanted / PAGE / 2);
	for (size_t i = 0; i < w.n; i++) {
		if (w.rows[i].seen > 1)
			fail_msg("%s gave %s %d times", w.c->op, w.rows[i].name, w.rows[i].seen);
		if (i < w.wanted && !w.rows[i].is_gone && !w.rows[i].seen)
			fail_msg("%s missed %s", w.c->op, w.rows[i].name);
	}
}

/* --- Cursors that are none. --- */

static char *first_cursor(struct fixture *f, const char *op, const char *params)
{
	struct reply r = ask(f, op, params);
	if (r.failed)
		fail_msg("%s", r.err.text);
	char *ret = arena_str(&f->arena, json_str(r.json, "next_cursor"));
	reply_done(&r);
	return ret;
}

static void is_refused(struct fixture *f, const char *op, const char *params, const char *cursor, const char *words)
{
	struct reply r = ask(f, op, arena_printf(&f->arena, "{%s'cursor':'%s'}", params, cursor));
	assert_true(r.failed);
	assert_int_equal(r.err.code, ERR_USAGE);
	if (!strstr(r.err.text, words))
		fail_msg("'%s' was refused with: %s", cursor, r.err.text);
	assert_null(strchr(r.err.text, '\n'));
	reply_done(&r);
}

static void a_cursor_that_is_none_of_this_question_is_refused(void **state)
{
	struct fixture *f = *state;
	char *cursor = first_cursor(f, "sessions", "{'project':'app','limit':1}");
	struct reply r = ask(f, "sessions", arena_printf(&f->arena, "{'project':'app','limit':5,'cursor':'%s'}", cursor));
	assert_int_equal(json_len(list(&r, "sessions")), 1);
	assert_int_equal(json_type(json_get(r.json, "next_cursor")), JSON_NULL);
	reply_done(&r);
	is_refused(f, "sessions", "'project':'other',", cursor, "other filters");
	is_refused(f, "sessions", "'project':'app','agent':'claude',", cursor, "other filters");
	is_refused(f, "sessions", "'project':'app','branch':'main',", cursor, "other filters");
	is_refused(f, "projects", "", cursor, "another list");
	is_refused(f, "facts", "'project':'app',", cursor, "another list");
	is_refused(f, "jobs", "", cursor, "another list");
	is_refused(f, "sync", "'action':'list',", cursor, "another list");
	is_refused(f, "sessions", "'project':'app','offset':1,", cursor, "offset");
	is_refused(f, "facts", "'query':'tabs',", cursor, "ranked");
	is_refused(f, "timeline", "'ref':'1',", cursor, "session");
	is_refused(f, "sessions", "", "1.2", "damaged");
	is_refused(f, "sessions", "", "AAAA", "damaged");
	is_refused(f, "sessions", "", "é", "damaged");
	is_refused(f, "sessions", "", arena_printf(&f->arena, "%01000d", 0), "damaged");
	is_refused(f, "sessions", "'project':'app',", arena_printf(&f->arena, "%sA", cursor), "damaged");
	for (size_t n = strlen(cursor) - 1; n > 0; n--)
		is_refused(f, "sessions", "'project':'app',", arena_printf(&f->arena, "%.*s", (int)n, cursor), "damaged");
	for (char *p = cursor; *p; p++) {
		char had = *p;
		*p = had == 'A' ? 'B' : 'A';
		is_refused(f, "sessions", "'project':'app',", cursor, "damaged");
		*p = had;
	}
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(cases) + 1] = { cmocka_unit_test_setup_teardown(
		a_cursor_that_is_none_of_this_question_is_refused, fixture_setup, fixture_teardown) };
	char names[ARRAY_LEN(cases)][NAME_MAX_TEST];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(names[i], sizeof(names[i]), "pages_of_%s_%s", cases[i].op, cases[i].key);
		tests[i + 1] = (struct CMUnitTest){ names[i], nothing_comes_twice_and_nothing_is_missed, walk_setup,
			fixture_teardown, (void *)&cases[i] };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
