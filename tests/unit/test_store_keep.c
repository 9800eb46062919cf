/* Forgetting for good, pauses, backups, retention, newer schemas: the store over the years. */
#include "store_fixture.h"

#include "base/clock.h"
#include "store/fact.h"
#include "store/pack.h"
#include "text/hash.h"

#define T0 1795950000000
#define SECRET "heron-blueprint-tangerine-1487"

static void fill(struct fixture *f, int64_t session, int from, int n)
{
	AUTO(arena_done) struct arena a = { 0 };
	bool is_own = store_begin(f->s, NULL) == 0; /* unless the caller has begun */

	for (int i = from; i < from + n; i++)
		put_prompt(f, session, arena_printf(&a, "u%d", i),
			arena_printf(&a,
				"Please look at file number %d of the parser and tell why test %d "
				"fails when the queue of the"
				" daemon is longer than %d entries and the index has been rebuilt "
				"meanwhile. %d",
				i, i * 7, i * 3, i * i),
			T0 + i * 1000);
	if (is_own)
		ok(store_commit(f->s, &f->err));
}

static bool excluded(struct fixture *f, int64_t at, const char *key, const char *text)
{
	const struct exclusion x = { .at = at,
		.agent_session = "a",
		.agent = AGENT_CLAUDE,
		.key = key,
		.text_hash = hash64(text, strlen(text)) };
	bool is_excluded;

	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	return is_excluded;
}

static void what_was_forgotten_is_in_no_file(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), session, event;
	struct captured_session c = {
		.agent = AGENT_CLAUDE, .agent_session = "a", .title = "About " SECRET
	};
	struct memory_file file = { "src/" SECRET ".c", ROLE_MODIFIED, NULL, -1 };
	struct forget_plan plan;
	struct event e;

	ok(store_begin(f->s, &f->err));
	ok(store_session_put(f->s, &c, project, &session, &f->err));
	fill(f, session, 0, 300);
	event = put_prompt(
		f, session, "secret", "The code name is " SECRET ", keep it.", T0 + 500000);
	fill(f, session, 300, 300);
	struct turn t = turn_of(f, event);
	struct evidence evidence = { event, "prompt", SECRET };
	struct memory m = { .rule = "work",
		.slot = "1",
		.kind = KIND_OBSERVATION,
		.title = SECRET,
		.body = "It is " SECRET,
		.at = T0,
		.files = &file,
		.nfiles = 1,
		.evidence = &evidence,
		.nevidence = 1 };
	ok(store_turn_memories(f->s, &t, &m, 1, &f->err));
	ok(store_commit(f->s, &f->err));
	assert_true(store_holds(f, SECRET));

	const struct forget_query q = { .memories = &m.id, .nmemories = 1 };
	ok(store_begin(f->s, &f->err));
	ok(store_forget_plan(f->s, &f->arena, &q, &plan, &f->err));
	assert_int_equal(plan.nmemories, 1);
	assert_int_equal(plan.nevents, 1);
	assert_int_equal(plan.events[0], event);
	ok(store_forget(f->s, &plan, &f->err));
	ok(store_commit(f->s, &f->err));
	ok(store_scrub(f->s, &f->err));
	assert_false(store_holds(f, SECRET));
	assert_int_equal(store_event_get(f->s, &f->arena, event, &e, &f->err), -1);

	/* No way brings it back, but what happens later is new. */
	assert_true(excluded(f, T0 + 500000, "secret", "x"));
	assert_true(excluded(f, T0 + 500001, "other", "The code name is " SECRET ", keep it."));
	assert_false(excluded(f, T0 + 500001, "other", "Something else"));
	assert_false(
		excluded(f, clock_now() + 60000, "later", "The code name is " SECRET ", keep it."));
	m.id = 0;
	ok(store_turn_memories(f->s, &t, &m, 1, &f->err));
	assert_int_equal(m.id, 0);
	AUTO(buf_done) struct buf report = { 0 };
	ok(store_check(f->s, true, &report, &f->err));
	assert_string_equal(buf_cstr(&report), "");
}

static void forgetting_by_match_session_project_and_time(void **state)
{
	struct fixture *f = *state;
	int64_t p1 = make_project(f, "/src/app"), p2 = make_project(f, "/src/other"),
		a = make_session(f, "a", p1), b = make_session(f, "b", p2);
	struct memory note = { .project = p1,
		.kind = KIND_NOTE,
		.title = "Note of " SECRET,
		.origin = ORIGIN_PERSON };
	struct forget_plan plan;
	struct session s;

	fill(f, a, 0, 10);
	fill(f, b, 10, 10);
	put_prompt(f, b, "m", "about HERON-blueprint-tangerine-1487", T0 + 90000);
	ok(store_memory_put(f->s, &note, &f->err));
	const struct forget_query match = { .match = SECRET };
	ok(store_forget_plan(f->s, &f->arena, &match, &plan, &f->err));
	assert_int_equal(plan.nmemories, 1);
	assert_int_equal(plan.nevents, 1);
	assert_int_equal(plan.nsessions, 0);
	const struct forget_query before = { .session = a, .before = T0 + 5000 };
	ok(store_forget_plan(f->s, &f->arena, &before, &plan, &f->err));
	assert_int_equal(plan.nevents, 5);
	assert_int_equal(plan.nsessions, 0);
	const struct forget_query project = { .project = p2 };
	ok(store_forget_plan(f->s, &f->arena, &project, &plan, &f->err));
	assert_int_equal(plan.nevents, 11);
	assert_int_equal(plan.nsessions, 1);
	ok(store_forget(f->s, &plan, &f->err));
	assert_int_equal(store_session_get(f->s, &f->arena, b, &s, &f->err), -1);
	ok(store_session_get(f->s, &f->arena, a, &s, &f->err));
	assert_int_equal(s.events, 10);
	const struct exclusion x = {
		.at = T0, .agent_session = "b", .agent = AGENT_CLAUDE, .key = "new"
	};
	bool is_excluded;
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_true(is_excluded);
}

static void a_dictionary_that_holds_a_forgotten_piece_is_given_up(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app")), dictionaries;
	struct forget_plan plan;
	struct event *list;
	size_t n;

	ok(store_begin(f->s, &f->err));
	fill(f, session, 0, 3000);
	for (int i = 0; i < 400; i++) {
		AUTO(arena_done) struct arena a = { 0 };
		put_prompt(f, session, arena_printf(&a, "s%d", i),
			arena_printf(&a,
				"%d the code name of the project is " SECRET
				", as everybody in the team knows by now %d",
				i, i * i),
			T0 + 9000000 + i);
	}
	ok(store_train_dictionary(f->s, &f->err));
	ok(store_commit(f->s, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &dictionaries,
		&f->err));
	assert_int_equal(dictionaries, 1);
	fill(f, session, 3000, 10);
	/* What others hold as well keeps it. */
	const struct forget_query common = { .match = "parser and tell why test 140 fails" },
				  match = { .match = SECRET };
	ok(store_begin(f->s, &f->err));
	ok(store_forget_plan(f->s, &f->arena, &common, &plan, &f->err));
	assert_int_equal(plan.nevents, 1);
	ok(store_forget(f->s, &plan, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &dictionaries,
		&f->err));
	assert_int_equal(dictionaries, 1);
	ok(store_forget_plan(f->s, &f->arena, &match, &plan, &f->err));
	assert_int_equal(plan.nevents, 400);
	ok(store_forget(f->s, &plan, &f->err));
	ok(store_commit(f->s, &f->err));
	ok(store_scrub(f->s, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &dictionaries,
		&f->err));
	assert_int_equal(dictionaries, 0);
	assert_false(store_holds(f, SECRET));
	ok(store_events(f->s, &f->arena, session, 0, 0, 5000, &list, &n, &f->err));
	assert_int_equal(n, 3009);
	assert_non_null(strstr(list[3008].text, "file number 3009 "));
}

static void a_dictionary_makes_texts_small_and_all_stay_readable(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app")), before, after;
	struct event *list;
	struct store *reader;
	size_t n;

	fill(f, session, 0, 2000);
	ok(store_train_dictionary(f->s, &f->err));
	ok(store_train_dictionary(f->s, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &before, &f->err));
	assert_int_equal(before, 1);
	fill(f, session, 2000, 1000);
	ok(db_one(store_db(f->s), "SELECT avg(length(pack)) FROM event WHERE id < 1000", NULL, 0, 0,
		&before, &f->err));
	ok(db_one(store_db(f->s), "SELECT avg(length(pack)) FROM event WHERE id > 2000", NULL, 0, 0,
		&after, &f->err));
	assert_true(after * 2 < before);
	ok(store_open(f->url, DB_READ, NULL, &reader, &f->err));
	ok(store_events(reader, &f->arena, session, 0, 0, 5000, &list, &n, &f->err));
	assert_int_equal(n, 3000);
	for (size_t i = 0; i < n; i++) {
		char part[40];
		snprintf(part, sizeof(part), "file number %zu of", i);
		assert_non_null(strstr(list[i].text, part));
	}
	store_close(reader);
}

static void a_dictionary_that_was_rolled_back_is_not_used(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app"));
	struct event *list;
	struct store *reader;
	size_t n;

	fill(f, session, 0, 2000);
	ok(store_begin(f->s, &f->err));
	ok(db_savepoint(store_db(f->s), &f->err));
	ok(store_train_dictionary(f->s, &f->err));
	fill(f, session, 2000, 5);
	db_rollback_to(store_db(f->s));
	fill(f, session, 2000, 5);
	ok(store_commit(f->s, &f->err));
	ok(store_open(f->url, DB_READ, NULL, &reader, &f->err));
	ok(store_events(reader, &f->arena, session, 0, 2000, 10, &list, &n, &f->err));
	assert_int_equal(n, 5);
	store_close(reader);
}

static void put_candidate(struct fixture *f, const struct turn *t, const char *body)
{
	struct evidence evidence = { .event = 7, .role = "done", .excerpt = "said so" };
	const struct fact_candidate c = { .rule = "todo",
		.slot = "done",
		.category = FACT_TODO,
		.part = PART_DONE,
		.topic = 11,
		.subject = "todo",
		.title = "done",
		.body = body,
		.at = T0,
		.key = "u1",
		.evidence = &evidence,
		.nevidence = 1 };

	ok(store_turn_candidates(f->s, t, &c, 1, &f->err));
}

static void candidates_of_an_older_store_are_packed_without_loss(void **state)
{
	struct fixture *f = *state;
	reopen_as_owner(f);
	struct db *db = store_db(f->s);
	const struct turn t = { .id = 3, .session = 2, .project = 5 };
	struct packer *p = packer_new(db);
	struct fact_candidate *list;
	struct db_rows *r;
	struct str raw;
	size_t n;
	const char *body = "the parser of the parser of the parser reads the file and then the file";

	put_candidate(f, &t, body);
	ok(db_query(db, "SELECT pack FROM candidate", NULL, 0, &r, &f->err));
	assert_int_equal(db_next(r, &f->err), 1);
	const void *blob = db_blob(r, 0, &n);
	ok(packer_open(p, &f->arena, blob, n, &raw, &f->err));
	db_end(r);
	assert_true(n < raw.n);
	/* As it was stored before schema 7. */
	ok(db_script(db, "CREATE TABLE candidate_plain AS SELECT * FROM candidate;", &f->err));
	ok(db_run(db, "DELETE FROM candidate", NULL, 0, &f->err));
	ok(db_run(db, "UPDATE candidate_plain SET pack = ?1", DB_ARGS(db_b(raw.p, raw.n)),
		&f->err));
	ok(candidates_pack(db, &f->err));
	ok(store_topic_candidates(f->s, &f->arena, 5, 11, 10, &list, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(list[0].body, body);
	assert_string_equal(list[0].key, "u1");
	assert_int_equal(list[0].part, PART_DONE);
	assert_int_equal(list[0].nevidence, 1);
	assert_string_equal(list[0].evidence[0].excerpt, "said so");
	packer_free(p);
}

/* One that could bring a piece of what was forgotten back is not kept. */
static void a_dictionary_made_while_something_was_forgotten_is_dropped(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app")), n;
	AUTO(dictionary_made_done) struct dictionary_made d = { 0 };
	AUTO(dictionary_made_done) struct dictionary_made again = { 0 };
	const struct forget_query match = { .match = "parser and tell why test 140 fails" };
	struct forget_plan plan;

	fill(f, session, 0, 2000);
	ok(store_dictionary_make(f->s, PACK_EVENT, 3000, &d, &f->err));
	assert_false(d.is_tried);
	ok(store_dictionary_make(f->s, PACK_EVENT, 1000, &d, &f->err));
	assert_true(d.is_tried && d.data.len);
	ok(store_begin(f->s, &f->err));
	ok(store_forget_plan(f->s, &f->arena, &match, &plan, &f->err));
	ok(store_forget(f->s, &plan, &f->err));
	ok(store_commit(f->s, &f->err));
	ok(store_dictionary_put(f->s, &d, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, 0);
	ok(store_dictionary_make(f->s, PACK_EVENT, 1000, &again, &f->err));
	ok(store_dictionary_put(f->s, &again, &f->err));
	ok(db_one(store_db(f->s), "SELECT count(*) FROM dictionary", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, 1);
}

static void a_pause_holds_for_its_time_and_place(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), a = make_session(f, "a", p), ended;
	struct exclusion x = {
		.at = T0 + 50, .agent_session = "a", .agent = AGENT_CLAUDE, .project = p, .key = "k"
	};
	bool is_excluded;

	ok(store_pause(f->s, a, 0, T0, 0, NULL, &f->err));
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_true(is_excluded);
	x.agent_session = "other";
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_false(is_excluded);
	x.agent_session = "a";
	ok(store_resume(f->s, a, 0, T0 + 100, &ended, &f->err));
	assert_int_equal(ended, 1);
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_true(is_excluded);
	x.at = T0 + 100;
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_false(is_excluded);
	ok(store_pause(f->s, 0, p, T0 + 200, T0 + 300, NULL, &f->err));
	x.at = T0 + 250;
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_true(is_excluded);
	x.project = p + 1;
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_false(is_excluded);
	ok(store_pause(f->s, 0, 0, T0 + 200, 0, NULL, &f->err));
	ok(store_is_excluded(f->s, &x, &is_excluded, &f->err));
	assert_true(is_excluded);
}

static void memories_outlive_their_events(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), s = make_session(f, "a", p),
		event = put_prompt(f, s, "u", "why it was so", T0), removed;
	struct memory got;

	put_prompt(f, s, "later", "and now", T0 + 50000);
	struct turn t = turn_of(f, event);
	struct evidence evidence = { event, "prompt", "why it was so" };
	struct memory m = { .rule = "work",
		.slot = "1",
		.kind = KIND_OBSERVATION,
		.title = "T",
		.body = "B",
		.at = T0,
		.evidence = &evidence,
		.nevidence = 1 };
	/* Not before the rules have seen it. */
	ok(store_retention(f->s, T0 + 20000, 0, &removed, &f->err));
	assert_int_equal(removed, 0);
	ok(store_turn_memories(f->s, &t, &m, 1, &f->err));
	ok(store_retention(f->s, T0 + 20000, 0, &removed, &f->err));
	assert_int_equal(removed, 1);
	ok(store_memory_get(f->s, &f->arena, m.id, &got, &f->err));
	assert_int_equal(got.evidence[0].event, 0);
	assert_string_equal(got.evidence[0].excerpt, "why it was so");
}

static void a_backup_is_a_whole_store(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app"));
	struct store *copy;
	struct store_stats stats;
	struct stat st;
	AUTO(buf_done) struct buf report = { 0 };
	const char *path = path_join(&f->arena, f->root, "backup.db");

	fill(f, session, 0, 100);
	ok(store_backup(f->s, path, &f->err));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	ok(store_open(arena_printf(&f->arena, "sqlite:%s", path), DB_READ, NULL, &copy, &f->err));
	ok(store_stats(copy, 0, &stats, &f->err));
	assert_int_equal(stats.events, 100);
	assert_int_equal(stats.sessions, 1);
	ok(store_check(copy, true, &report, &f->err));
	assert_string_equal(buf_cstr(&report), "");
	store_close(copy);
}

static void a_copy_of_a_copy_is_the_same_store(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), session = make_session(f, "a", project);
	struct memory_file file = { .path = "src/a.c", .role = ROLE_MODIFIED, .hash = "no hexadecimal number", .size = 3 };
	struct memory m = { .project = project, .kind = KIND_NOTE, .title = "Née à Orléans", .files = &file, .nfiles = 1 };
	const char *there = arena_printf(&f->arena, "sqlite:%s/copy.db", f->root);
	struct copy_counts counts, again;
	struct store *s;
	struct memory got;
	AUTO(buf_done) struct buf report = { 0 };

	fill(f, session, 0, 500);
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_train_dictionary(f->s, &f->err));
	ok(store_copy(&(const struct copy_wish){ f->url, there, NULL, false }, &counts, &f->err));
	assert_int_equal(counts.events, 500);
	assert_int_equal(counts.memories, 1);
	assert_int_equal(store_copy(&(const struct copy_wish){ f->url, there, NULL, false }, &again, &f->err), -1);
	assert_int_equal(f->err.code, ERR_USAGE);
	fixture_url(f);
	snprintf(f->path, sizeof(f->path), "%s/back.db", f->root);
	if (is_file(f))
		fixture_url(f);
	ok(store_copy(&(const struct copy_wish){ there, f->url, NULL, false }, &again, &f->err));
	assert_memory_equal(&counts, &again, sizeof(counts));
	store_close(f->s);
	f->s = NULL;
	ok(store_open(f->url, DB_WRITE, NULL, &s, &f->err));
	ok(store_memory_get(s, &f->arena, m.id, &got, &f->err));
	assert_string_equal(got.title, m.title);
	assert_string_equal(got.files[0].hash, file.hash);
	ok(store_check(s, true, &report, &f->err));
	assert_string_equal(buf_cstr(&report), "");
	/* Numbers go on where they were. */
	struct memory next = { .project = project, .kind = KIND_NOTE, .title = "next" };
	ok(store_memory_put(s, &next, &f->err));
	assert_true(next.id > m.id);
	store_close(s);
}

static void a_password_in_an_url_is_not_shown(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(db_url_shown(&f->arena, "postgres://me:s3cret@host:5432/db?x=1"), "postgres://me:***@host:5432/db?x=1");
	assert_string_equal(db_url_shown(&f->arena, "postgres://me@host/db?password=s3cret&x=1"), "postgres://me@host/db?password=***&x=1");
	assert_string_equal(db_url_shown(&f->arena, "postgres://me:a@b@host/db"), "postgres://me:***@host/db");
	assert_string_equal(db_url_shown(&f->arena, "sqlite:/a/b:c@d"), "sqlite:/a/b:c@d");
}

static void a_newer_schema_is_opened_by_nobody(void **state)
{
	struct fixture *f = *state;
	struct store *s;

	reopen_as_owner(f);
	ok(db_set_version(store_db(f->s), 999, &f->err));
	assert_int_equal(store_open(f->url, DB_READ, NULL, &s, &f->err), -1);
	assert_int_equal(f->err.code, ERR_STORE);
	assert_non_null(strstr(f->err.text, "newer version"));
	assert_int_equal(store_open(f->url, DB_CREATE, NULL, &s, &f->err), -1);
	assert_non_null(strstr(f->err.text, "newer version"));
}

static void what_is_no_store_is_refused_with_a_sentence(void **state)
{
	struct fixture *f = *state;
	struct store *s;
	const char *path = path_join(&f->arena, f->root, "noise.db");

	assert_int_equal(store_open("mysql://x", DB_READ, NULL, &s, &f->err), -1);
	assert_int_equal(f->err.code, ERR_USAGE);
	assert_int_equal(store_open(arena_printf(&f->arena, "sqlite:%s/none.db", f->root), DB_READ,
				 NULL, &s, &f->err),
		-1);
	assert_non_null(strstr(f->err.text, "there is no store"));
	ok(file_write(path,
		"this is not a database, however long one looks at it, and never will be one", 75,
		0600, &f->err));
	assert_int_equal(store_open(arena_printf(&f->arena, "sqlite:%s", path), DB_CREATE, NULL, &s,
				 &f->err),
		-1);
	assert_int_equal(f->err.code, ERR_STORE);
	struct stat st;
	if (is_file(f)) {
		assert_int_equal(stat(f->path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

static void a_rolled_back_write_leaves_no_change(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app")), before, after;

	ok(store_change_last(f->s, &before, &f->err));
	ok(store_begin(f->s, &f->err));
	fill(f, session, 0, 10);
	store_rollback(f->s);
	fill(f, session, 0, 1);
	ok(store_change_last(f->s, &after, &f->err));
	assert_int_equal(after, before + 1);
}

static void transcripts_injections_and_counters_are_kept(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app")), n;
	struct transcript t = { .path = "/t.jsonl",
		.agent = AGENT_CLAUDE,
		.offset = 100,
		.lines = 3,
		.state = "{}",
		.head_hash = "x" },
			  got;
	const int64_t memories[] = { 5, 7 }, asked[] = { 7, 8 };
	const struct injection i = { .session = session,
		.at = T0,
		.where = "start",
		.memories = memories,
		.n = 2,
		.chars = 900 };
	struct injection *list;
	bool given[2];
	size_t count;

	ok(store_transcript_get(f->s, &f->arena, "/t.jsonl", &got, &f->err));
	assert_int_equal(got.id, 0);
	ok(store_transcript_put(f->s, &t, &f->err));
	t.offset = 200;
	ok(store_transcript_put(f->s, &t, &f->err));
	ok(store_transcript_get(f->s, &f->arena, "/t.jsonl", &got, &f->err));
	assert_int_equal(got.offset, 200);
	assert_string_equal(got.state, "{}");
	ok(store_injection_put(f->s, &i, &f->err));
	ok(store_injection_list(f->s, &f->arena, session, 10, &list, &count, &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(list[0].n, 2);
	assert_int_equal(list[0].memories[1], 7);
	ok(store_injected(f->s, session, T0, asked, 2, given, &f->err));
	assert_true(given[0]);
	assert_false(given[1]);
	ok(store_counter_add(f->s, "redactions", 2, &f->err));
	ok(store_counter_add(f->s, "redactions", 3, &f->err));
	ok(store_counter_get(f->s, "redactions", &n, &f->err));
	assert_int_equal(n, 5);
}

#define each(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(what_was_forgotten_is_in_no_file),
		each(forgetting_by_match_session_project_and_time),
		each(a_dictionary_that_holds_a_forgotten_piece_is_given_up),
		each(a_dictionary_makes_texts_small_and_all_stay_readable),
		each(a_dictionary_that_was_rolled_back_is_not_used),
		each(candidates_of_an_older_store_are_packed_without_loss),
		each(a_dictionary_made_while_something_was_forgotten_is_dropped),
		each(a_pause_holds_for_its_time_and_place),
		each(memories_outlive_their_events),
		each(a_backup_is_a_whole_store),
		each(a_copy_of_a_copy_is_the_same_store),
		each(a_password_in_an_url_is_not_shown),
		each(a_newer_schema_is_opened_by_nobody),
		each(what_is_no_store_is_refused_with_a_sentence),
		each(a_rolled_back_write_leaves_no_change),
		each(transcripts_injections_and_counters_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
