/* What is whose, and what colleagues see. Where the store is a file it is one person's, and there is nobody to keep it from. */
#include "store_fixture.h"

#include "store/author.h"
#include "store/entity.h"
#include "store/fact.h"
#include "store/folder.h"
#include "store/query.h"

static struct store *open_as(struct fixture *f, const char *author)
{
	const struct store_setup setup = { .url = f->url, .mode = DB_CREATE, .author = author };
	struct store *s = NULL;

	ok(store_open_as(&setup, &s, &f->err));
	return s;
}

static int64_t note_of(struct fixture *f, struct store *s, const char *title)
{
	struct memory m = { .kind = KIND_NOTE, .title = title, .project = 7, .at = 1000 };

	ok(store_memory_put(s, &m, &f->err));
	return m.id;
}

static bool sees(struct fixture *f, struct store *s, int64_t id, struct memory *ret)
{
	*ret = (struct memory){ 0 };
	return !store_memory_get(s, &f->arena, id, ret, &f->err);
}

/* The ids that an index of this store's author is told of, each with whether it is gone. */
static size_t told(struct fixture *f, struct store *s, int64_t after, int64_t *ids, bool *gone)
{
	struct change *changes;
	struct index_row rows[64];
	size_t n;

	ok(store_changes(s, &f->arena, after, 64, &changes, &n, &f->err));
	ok(store_index_rows(s, &f->arena, changes, n, rows, &f->err));
	for (size_t i = 0; i < n; i++) {
		ids[i] = changes[i].id;
		gone[i] = !rows[i].doc_kind;
	}
	return n;
}

static void the_first_who_comes_owns_what_was_there_before(void **state)
{
	struct fixture *f = *state;
	int64_t id = note_of(f, f->s, "from before there were authors");
	struct store *ada = open_as(f, "ada"), *again = open_as(f, "ada");
	struct memory m;

	assert_int_equal(store_me(ada), AUTHOR_FIRST);
	assert_int_equal(store_me(again), AUTHOR_FIRST);
	assert_string_equal(store_my_name(ada), "ada");
	assert_true(sees(f, ada, id, &m));
	assert_null(m.author);
	assert_false(m.is_team);
	store_close(ada);
	store_close(again);
}

static void a_file_is_its_owners_whatever_they_are_called(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada");
	int64_t n, id = note_of(f, ada, "mine");
	struct memory m;

	store_close(ada);
	if (!is_file(f))
		return;
	struct store *maiden = open_as(f, "ada lovelace");
	assert_true(sees(f, maiden, id, &m));
	assert_null(m.author);
	ok(store_authors(maiden, &n, &f->err));
	assert_int_equal(n, 1);
	store_close(maiden);
}

static void a_name_that_cannot_be_shown_is_refused(void **state)
{
	static const char *const bad[] = { "", " ada", "ada ", "a\nda", "a\tb", "\xff", "\x7f",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	static const char *const good[] = { "a", "Ada Lovelace", "ada@example.org", "Žofie" };
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(author_check(bad[i], &err), -1);
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_int_equal(author_check(good[i], &err), 0);
}

static void what_is_private_is_nobody_elses_until_it_is_shared(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	int64_t id = note_of(f, ada, "the word is xylophone"), ids[64], before, after, changed_at;
	bool gone[64];
	size_t changed;
	struct memory m;

	if (is_file(f)) { /* the second name was the same person's */
		assert_true(sees(f, bob, id, &m));
		store_close(ada);
		store_close(bob);
		return;
	}
	assert_false(sees(f, bob, id, &m));
	assert_int_equal(f->err.code, ERR_NOT_FOUND);
	assert_int_equal(told(f, bob, 0, ids, gone), 0);
	ok(query_documents(bob, &before, &f->err));
	assert_int_equal(before, 0);

	ok(store_share(ada, &id, 1, true, &changed, &f->err));
	assert_int_equal(changed, 1);
	assert_true(sees(f, bob, id, &m));
	assert_string_equal(m.title, "the word is xylophone");
	assert_string_equal(m.author, "ada");
	assert_true(m.is_team);
	assert_int_equal(told(f, bob, 0, ids, gone), 1);
	assert_int_equal(ids[0], id);
	assert_false(gone[0]);
	ok(query_documents(bob, &before, &f->err));
	assert_int_equal(before, 1);
	ok(store_change_last(bob, &after, &f->err));

	/* Nobody but the author changes it, in whatever way. */
	m.title = "another word";
	assert_int_equal(store_memory_put(bob, &m, &f->err), -1);
	assert_non_null(strstr(f->err.text, "is ada's"));
	assert_int_equal(store_share(bob, &id, 1, false, &changed, &f->err), -1);
	assert_non_null(strstr(f->err.text, "only its author may take it back"));
	const struct forget_plan plan = { .memories = &id, .nmemories = 1 };
	assert_int_equal(store_forget(bob, &plan, &f->err), -1);
	struct forget_plan all;
	const struct forget_query everything = { .project = 7 };
	ok(store_forget_plan(bob, &f->arena, &everything, &all, &f->err));
	assert_int_equal(all.nmemories, 0);

	ok(store_share(ada, &id, 1, false, &changed, &f->err));
	assert_false(sees(f, bob, id, &m));
	assert_int_equal(told(f, bob, after, ids, gone), 1);
	assert_int_equal(ids[0], id);
	assert_true(gone[0]);
	ok(store_change_last(bob, &changed_at, &f->err));
	assert_true(changed_at > after);
	assert_true(sees(f, ada, id, &m));
	assert_string_equal(m.title, "the word is xylophone");
	store_close(ada);
	store_close(bob);
}

static void a_shared_project_shares_what_comes_and_no_colleagues_memory(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	bool is_shared;
	struct memory m;
	int64_t before = note_of(f, ada, "before"), *ids;
	size_t n, changed;

	ok(store_project_shared(ada, 7, &is_shared, &f->err));
	assert_false(is_shared);
	ok(store_project_share(ada, 7, true, &f->err));
	ok(store_project_share(ada, 7, true, &f->err));
	ok(store_project_shared(ada, 7, &is_shared, &f->err));
	assert_true(is_shared);
	ok(store_unshared(ada, &f->arena, 7, true, 0, &ids, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(ids[0], before);
	ok(store_share(ada, ids, n, true, &changed, &f->err));
	int64_t later = note_of(f, ada, "later");
	assert_true(sees(f, bob, before, &m) && m.is_team);
	assert_true(sees(f, bob, later, &m) && m.is_team);
	if (!is_file(f)) {
		int64_t bobs = note_of(f, bob, "bob's own");
		assert_false(sees(f, ada, bobs, &m));
		ok(store_project_shared(bob, 7, &is_shared, &f->err));
		assert_false(is_shared);
	}
	ok(store_project_share(ada, 7, false, &f->err));
	int64_t last = note_of(f, ada, "last");
	assert_true(sees(f, ada, last, &m) && !m.is_team);
	store_close(ada);
	store_close(bob);
}

/* The texts of shared rows need no dictionary, which would hold pieces of others. */
static void what_is_shared_can_be_read_without_its_authors_dictionary(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	char body[600];
	struct memory m;
	int64_t id = 0, n;
	size_t changed;

	for (int i = 0; i < 900; i++) {
		snprintf(body, sizeof(body), "%d: when the parser of module %d reads line %d it fails because the table of symbols "
			"was made before its names were known, so the maker of tables has to run before; see part %d of "
			"the notes on parsers, and the list of names of module %d that came with it, %d lines of it, "
			"and what was said of it by those who had written %d other tables", i, i % 17, i * 7, i % 31, i % 13, i * 3, i % 5);
		struct memory note = { .kind = KIND_NOTE, .title = "parser", .body = body, .project = 7 };
		ok(store_memory_put(ada, &note, &f->err));
		id = note.id;
	}
	ok(store_begin(ada, &f->err));
	ok(store_train_dictionary(ada, &f->err));
	ok(store_commit(ada, &f->err));
	struct memory note = { .kind = KIND_NOTE, .title = "parser", .body = body, .project = 7 };
	ok(store_memory_put(ada, &note, &f->err));
	id = note.id;
	ok(db_one(store_db(ada), "SELECT count(*) FROM dictionary WHERE class = 2", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, 1);
	ok(db_one(store_db(bob), "SELECT count(*) FROM dictionary", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, is_file(f) ? 1 : 0);
	ok(store_share(ada, &id, 1, true, &changed, &f->err));
	assert_true(sees(f, bob, id, &m));
	assert_string_equal(m.body, body);
	store_close(ada);
	store_close(bob);
}

static void everything_else_of_a_session_is_its_authors(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	const struct captured_session c = { .agent = AGENT_CLAUDE, .agent_session = "same", .cwd = "/home/dev/app", .title = "ada's" };
	const struct project_identity app = { .root = "/home/dev/app", .path = "/home/dev/app", .name = "app" };
	struct captured_event e = event_of(EVENT_PROMPT, "u1", "find the xylophone", 1000);
	const char *tables[] = { "session", "turn", "event", "memory", "project", "evidence", "memory_file", "project_alias" };
	int64_t project, session, others, event, n;
	enum put_result put;
	struct session got;

	if (is_file(f))
		goto end;
	ok(store_project_resolve(ada, &app, &project, &f->err));
	ok(store_session_put(ada, &c, project, &session, &f->err));
	const struct event_put p = { .session = session, .agent = AGENT_CLAUDE, .event = &e };
	ok(store_event_put(ada, &p, &put, &event, &f->err));
	struct memory_file file = { .path = "a.c", .role = ROLE_MODIFIED, .size = -1 };
	struct evidence seen = { .event = event, .role = "prompt", .excerpt = "find the xylophone" };
	struct memory m = { .kind = KIND_OBSERVATION, .title = "found", .project = project, .session = session,
		.files = &file, .nfiles = 1, .evidence = &seen, .nevidence = 1 };
	ok(store_memory_put(ada, &m, &f->err));
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		const char *sql = arena_printf(&f->arena, "SELECT count(*) FROM %s", tables[i]);
		struct db_rows *r;
		ok(db_query_once(store_db(bob), sql, NULL, 0, &r, &f->err));
		assert_int_equal(db_next(r, &f->err), 1);
		assert_int_equal(db_int(r, 0), 0);
		db_end(r);
	}
	assert_int_equal(store_session_get(bob, &f->arena, session, &got, &f->err), -1);
	/* The same folder and the same session on another machine are others. */
	ok(store_project_resolve(bob, &app, &others, &f->err));
	assert_int_not_equal(others, project);
	ok(store_session_put(bob, &c, others, &n, &f->err));
	assert_int_not_equal(n, session);
	/* What it was made of is not shared with it. */
	size_t changed;
	ok(store_share(ada, &m.id, 1, true, &changed, &f->err));
	struct memory shared;
	assert_true(sees(f, bob, m.id, &shared));
	assert_int_equal(shared.nfiles, 1);
	assert_int_equal(shared.nevidence, 0);
	assert_int_equal(shared.session, 0);
	ok(store_project_get(bob, &f->arena, project, &(struct project){ 0 }, &f->err));
	ok(store_event_get(ada, &f->arena, event, &(struct event){ 0 }, &f->err));
	assert_int_equal(store_event_get(bob, &f->arena, event, &(struct event){ 0 }, &f->err), -1);
	struct memory own;
	assert_true(sees(f, ada, m.id, &own));
	assert_int_equal(own.nevidence, 1);
	assert_int_equal(own.session, session);
end:
	store_close(ada);
	store_close(bob);
}

static void a_remote_makes_one_project_of_what_colleagues_work_on(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	const struct project_identity hers = { .root = "/home/ada/app", .path = "/home/ada/app", .name = "app", .remote = "example.org/app" };
	const struct project_identity his = { .root = "/src/app", .path = "/src/app", .name = "app", .remote = "example.org/app" };
	const struct project_identity bare = { .root = "/src/other", .path = "/src/other", .name = "other" };
	const struct project_identity found = { .root = "/src/other", .path = "/src/other", .name = "other", .remote = "example.org/app" };
	int64_t a, b, c, d;
	struct project got;

	ok(store_project_resolve(ada, &hers, &a, &f->err));
	ok(store_project_resolve(bob, &his, &b, &f->err));
	assert_int_equal(a, b);
	ok(store_project_get(bob, &f->arena, b, &got, &f->err));
	assert_string_equal(got.name, "app");
	/* A folder that turns out to be the same takes along what is Bob's alone. */
	ok(store_project_resolve(bob, &bare, &c, &f->err));
	assert_int_not_equal(c, a);
	int64_t id;
	struct memory m = { .kind = KIND_NOTE, .title = "n", .project = c };
	ok(store_memory_put(bob, &m, &f->err));
	id = m.id;
	ok(store_project_resolve(bob, &found, &d, &f->err));
	assert_int_equal(d, a);
	assert_true(sees(f, bob, id, &m));
	assert_int_equal(m.project, a);
	assert_int_equal(store_project_get(bob, &f->arena, c, &got, &f->err), -1);
	store_close(ada);
	store_close(bob);
}

static void facts_of_two_people_never_merge(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	const struct fact_topic topic = { 7, 42 };
	struct topic_fact hers = { .m = { .kind = KIND_FACT, .rule = "fact", .slot = "one", .title = "use tabs", .origin = ORIGIN_RULES, .at = 5 }, .successor = -1 };
	struct topic_fact his = { .m = { .kind = KIND_FACT, .rule = "fact", .slot = "one", .title = "use spaces", .origin = ORIGIN_RULES, .at = 6 }, .successor = -1 };
	struct memory m;
	size_t changed;

	if (is_file(f))
		goto end;
	ok(store_topic_facts(ada, &topic, &hers, 1, &f->err));
	ok(store_share(ada, &hers.m.id, 1, true, &changed, &f->err));
	ok(store_topic_facts(bob, &topic, &his, 1, &f->err));
	assert_int_not_equal(hers.m.id, his.m.id);
	assert_true(sees(f, ada, hers.m.id, &m));
	assert_string_equal(m.title, "use tabs");
	assert_int_equal(m.status, MEMORY_ACTIVE);
	assert_false(sees(f, ada, his.m.id, &m));
	/* Bob's topic says nothing any more: only his goes. */
	ok(store_topic_facts(bob, &topic, NULL, 0, &f->err));
	assert_false(sees(f, bob, his.m.id, &m));
	assert_true(sees(f, ada, hers.m.id, &m));
end:
	store_close(ada);
	store_close(bob);
}

static void a_folder_is_followed_by_its_author_and_its_sections_follow_it(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	struct folder a = { .namespace = "notes", .root = "/home/ada/notes", .globs = "*.md" }, b = a, *list;
	const struct chunk_text chunk = { "One", "notes / One", "where the xylophone is", 0, 1, 3 };
	const struct file_text text = { .path = "a.md", .checksum = "c", .at = 5, .chunks = &chunk, .n = 1 };
	struct file_result r;
	const char **names;
	struct memory m;
	size_t n;

	if (is_file(f))
		goto end;
	ok(folder_put(ada, &a, &f->err));
	ok(folder_file_put(ada, &a, &text, &r, &f->err));
	ok(folder_list(bob, &f->arena, &list, &n, &f->err));
	assert_int_equal(n, 0);
	ok(folder_put(bob, &b, &f->err)); /* the same name is another's */
	int64_t id;
	ok(db_one(store_db(ada), "SELECT memory FROM chunk", NULL, 0, 0, &id, &f->err));
	assert_false(sees(f, bob, id, &m));
	a.is_team = true;
	ok(folder_put(ada, &a, &f->err));
	assert_true(sees(f, bob, id, &m));
	assert_string_equal(m.author, "ada");
	ok(folder_list(bob, &f->arena, &list, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(list[0].root, "/home/ada/notes");
	assert_int_equal(list[0].id, b.id);
	size_t changed;
	assert_int_equal(store_share(ada, &id, 1, false, &changed, &f->err), -1);
	assert_non_null(strstr(f->err.hint, "sync add"));
	a.is_team = false;
	ok(folder_put(ada, &a, &f->err));
	assert_false(sees(f, bob, id, &m));
	(void)names;
end:
	store_close(ada);
	store_close(bob);
}

/* Forgetting takes names of files that nobody needs, and only those. */
static void forgetting_leaves_the_names_of_a_colleagues_files(void **state)
{
	struct fixture *f = *state;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	struct memory_file both = { .path = "both.c", .role = ROLE_MODIFIED, .size = -1 };
	struct memory_file hers[] = { both, { .path = "hers.c", .role = ROLE_READ, .size = -1 } };
	struct memory a = { .kind = KIND_NOTE, .title = "a", .files = hers, .nfiles = 2 };
	struct memory b = { .kind = KIND_NOTE, .title = "b", .files = &both, .nfiles = 1 };
	int64_t n;

	if (is_file(f)) /* one writer */
		goto end;
	ok(store_memory_put(ada, &a, &f->err));
	ok(store_memory_put(bob, &b, &f->err));
	const struct forget_plan plan = { .memories = &a.id, .nmemories = 1 };
	ok(store_begin(ada, &f->err));
	ok(store_forget(ada, &plan, &f->err));
	ok(store_commit(ada, &f->err));
	ok(db_one(store_db(ada), "SELECT count(*) FROM file", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, 0);
	ok(db_one(store_db(bob), "SELECT count(*) FROM file", NULL, 0, 0, &n, &f->err));
	assert_int_equal(n, 1);
	struct memory m;
	assert_true(sees(f, bob, b.id, &m));
	assert_int_equal(m.nfiles, 1);
end:
	store_close(ada);
	store_close(bob);
}

/* A copy knows who is who; a file is then the one's who opens it. */
static void a_copy_keeps_authors_and_what_is_shared(void **state)
{
	struct fixture *f = *state;
	if (is_file(f))
		return;
	struct store *ada = open_as(f, "ada"), *bob = open_as(f, "bob");
	int64_t hers = note_of(f, ada, "hers"), shared = note_of(f, ada, "shared"), his = note_of(f, bob, "his");
	const char *there = arena_printf(&f->arena, "sqlite:%s/copy.db", f->root);
	const char *whole = arena_printf(&f->arena, "sqlite:%s/whole.db", f->root);
	struct copy_counts counts;
	struct memory m;
	size_t changed;

	ok(store_share(ada, &shared, 1, true, &changed, &f->err));
	store_close(ada);
	store_close(bob);
	ok(store_copy(&(const struct copy_wish){ f->url, there, "bob", false }, &counts, &f->err));
	assert_int_equal(counts.memories, 2);
	ok(store_copy(&(const struct copy_wish){ f->url, whole, "bob", true }, &counts, &f->err));
	assert_int_equal(counts.memories, 3);
	const struct store_setup setup = { .url = there, .mode = DB_CREATE, .author = "bob" };
	ok(store_open_as(&setup, &bob, &f->err));
	assert_int_equal(store_me(bob), AUTHOR_FIRST);
	assert_true(sees(f, bob, his, &m) && !m.author && !m.is_team);
	assert_true(sees(f, bob, shared, &m) && m.author && m.is_team);
	assert_string_equal(m.author, "ada");
	assert_false(sees(f, bob, hers, &m));
	store_close(bob);
	fixture_url(f);
	ok(store_copy(&(const struct copy_wish){ whole, f->url, NULL, false }, &counts, &f->err));
	assert_int_equal(counts.memories, 3);
	ada = open_as(f, "ada");
	bob = open_as(f, "bob");
	assert_true(sees(f, ada, hers, &m) && !m.author);
	assert_false(sees(f, bob, hers, &m));
	assert_true(sees(f, bob, shared, &m) && m.author);
	assert_true(sees(f, bob, his, &m) && !m.author);
	assert_false(sees(f, ada, his, &m));
	store_close(ada);
	store_close(bob);
}

/* Statements do not name the author: were it first in a key, each of these would read the whole table. */
static void rows_are_found_by_their_key_without_naming_the_author(void **state)
{
	static const char *const lookups[] = {
		"session WHERE agent_session = 'x'", "entity WHERE name = 'x' AND kind = 1",
		"source_file WHERE folder = 1 AND path = 'x'", "counter WHERE name = 'x'",
		"project_alias WHERE kind = 1 AND value = 'x'", "token_use WHERE ident = 1",
		"fact_due WHERE project = 1 AND topic = 1", "tombstone WHERE kind = 1 AND hash = 1",
		"file_base WHERE file = 1 AND role = 1", "file_state WHERE project = 1 AND file = 1",
		"transcript WHERE path = 'x'", "file WHERE path = 'x'", "checkout WHERE root = 'x'",
		"folder WHERE namespace = 'x'",
	};
	struct fixture *f = *state;

	if (!is_file(f))
		skip(); /* there a plan depends on how many rows there are */
	for (size_t i = 0; i < ARRAY_LEN(lookups); i++) {
		struct db_rows *r;
		const char *sql = arena_printf(&f->arena, "EXPLAIN QUERY PLAN SELECT 1 FROM %s", lookups[i]);

		ok(db_query_once(store_db(f->s), sql, NULL, 0, &r, &f->err));
		assert_int_equal(db_next(r, &f->err), 1);
		if (!str_starts(db_text(r, 3), "SEARCH"))
			fail_msg("%s: %s", lookups[i], db_text(r, 3));
		db_end(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ONE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
		ONE(the_first_who_comes_owns_what_was_there_before),
		ONE(rows_are_found_by_their_key_without_naming_the_author),
		ONE(a_file_is_its_owners_whatever_they_are_called),
		ONE(a_name_that_cannot_be_shown_is_refused),
		ONE(what_is_private_is_nobody_elses_until_it_is_shared),
		ONE(a_shared_project_shares_what_comes_and_no_colleagues_memory),
		ONE(what_is_shared_can_be_read_without_its_authors_dictionary),
		ONE(everything_else_of_a_session_is_its_authors),
		ONE(a_remote_makes_one_project_of_what_colleagues_work_on),
		ONE(facts_of_two_people_never_merge),
		ONE(a_folder_is_followed_by_its_author_and_its_sections_follow_it),
		ONE(forgetting_leaves_the_names_of_a_colleagues_files),
		ONE(a_copy_keeps_authors_and_what_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
