/* Memories: written whole, replaced by turn, rule and slot, and told to the index. */
#include "store_fixture.h"

#include "store/query.h"
#include "store/stale.h"

#define T0 1795950000000

static int64_t make_turn(
	struct fixture *f, int64_t session, const char *text, int64_t at, struct turn *ret)
{
	int64_t event = put_prompt(f, session, text, text, at);

	*ret = turn_of(f, event);
	return event;
}

static struct memory observation(const char *slot, const char *title)
{
	return (struct memory){ .rule = "work",
		.slot = slot,
		.kind = KIND_OBSERVATION,
		.type = TYPE_BUGFIX,
		.title = title,
		.body = "The parser read past the end of the line.",
		.confidence = .8,
		.trust = TRUST_REPLY,
		.at = T0 };
}

static int64_t last_change(struct fixture *f)
{
	int64_t seq;

	ok(store_change_last(f->s, &seq, &f->err));
	return seq;
}

static void a_memory_comes_back_as_it_was_put(void **state)
{
	struct fixture *f = *state;
	struct memory_file files[] = {
		{ "src/a.c", ROLE_MODIFIED, "0123456789abcdef0123456789abcdef", 120 },
		{ "src/b.c", ROLE_READ, NULL, -1 },
		{ "src/c.c", ROLE_READ, "not hex", 0 },
	};
	int64_t project = make_project(f, "/src/app"), session = make_session(f, "a", project),
		event;
	struct turn t;
	event = make_turn(f, session, "fix it", T0, &t);
	struct evidence evidence[] = { { event, "prompt", "fix it" }, { 999999, "reply", NULL } };
	struct memory m = observation("1", "Parser stays in its line"), got;

	m.project = project;
	m.facts = "[\"lines end\"]";
	m.request = "fix it";
	m.branch = "main";
	m.commit = "0123456789012345678901234567890123456789";
	m.files = files;
	m.nfiles = 3;
	m.evidence = evidence;
	m.nevidence = 2;
	ok(store_memory_put(f->s, &m, &f->err));
	assert_true(m.id > 0);
	ok(store_memory_get(f->s, &f->arena, m.id, &got, &f->err));
	assert_string_equal(got.title, m.title);
	assert_string_equal(got.body, m.body);
	assert_string_equal(got.facts, m.facts);
	assert_string_equal(got.request, "fix it");
	assert_null(got.learned);
	assert_string_equal(got.branch, "main");
	assert_string_equal(got.commit, m.commit);
	assert_string_equal(got.rule, "work");
	assert_float_equal(got.confidence, .8, .0001);
	assert_int_equal(got.trust, TRUST_REPLY);
	assert_int_equal(got.at, T0);
	assert_int_equal(got.nfiles, 3);
	assert_string_equal(got.files[0].path, "src/a.c");
	assert_string_equal(got.files[0].hash, files[0].hash);
	assert_int_equal(got.files[0].size, 120);
	assert_null(got.files[1].hash);
	assert_int_equal(got.files[1].size, -1);
	assert_string_equal(got.files[2].hash, "not hex");
	assert_int_equal(got.nevidence, 2);
	assert_int_equal(got.evidence[0].event, event);
	assert_string_equal(got.evidence[0].role, "prompt");
	assert_string_equal(got.evidence[0].excerpt, "fix it");
	assert_int_equal(got.evidence[1].event, 0);
	assert_null(got.evidence[1].excerpt);
	assert_int_equal(store_memory_get(f->s, &f->arena, m.id + 1, &got, &f->err), -1);
	assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void the_rules_replace_what_they_made_of_a_turn(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app"));
	struct turn t;
	make_turn(f, session, "fix it", T0, &t);
	struct memory first[] = { observation("1", "One"), observation("2", "Two") };
	struct memory again[] = { observation("2", "Two"), observation("1", "One, better"),
		observation("3", "Three") };
	struct memory less[] = { observation("3", "Three") }, got;

	assert_true(t.is_dirty);
	ok(store_turn_memories(f->s, &t, first, 2, &f->err));
	ok(store_turn_get(f->s, &f->arena, t.id, &t, &f->err));
	assert_false(t.is_dirty);
	int64_t seq = last_change(f);
	ok(store_turn_memories(f->s, &t, again, 3, &f->err));
	assert_int_equal(again[0].id, first[1].id);
	assert_int_equal(again[1].id, first[0].id);
	/* Only what changed is told: one better, one new. */
	assert_int_equal(last_change(f), seq + 2);
	ok(store_turn_memories(f->s, &t, less, 1, &f->err));
	assert_int_equal(less[0].id, again[2].id);
	assert_int_equal(store_memory_get(f->s, &f->arena, first[0].id, &got, &f->err), -1);
}

static void what_a_person_decided_survives_the_rules(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "a", make_project(f, "/src/app"));
	struct turn t;
	make_turn(f, session, "fix it", T0, &t);
	struct memory made[] = { observation("1", "One"), observation("2", "Two"),
		observation("3", "Three"), observation("4", "Four") };
	struct memory again[] = { observation("1", "Other one"), observation("2", "Other two"),
		observation("3", "Other three") };
	struct memory m;

	ok(store_turn_memories(f->s, &t, made, 4, &f->err));
	ok(store_memory_get(f->s, &f->arena, made[0].id, &m, &f->err));
	m.title = "What I say";
	m.origin = ORIGIN_PERSON;
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_memory_get(f->s, &f->arena, made[1].id, &m, &f->err));
	m.is_pinned = true;
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_memory_get(f->s, &f->arena, made[2].id, &m, &f->err));
	m.status = MEMORY_REJECTED;
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_memory_get(f->s, &f->arena, made[3].id, &m, &f->err));
	m.is_pinned = true;
	ok(store_memory_put(f->s, &m, &f->err));

	ok(store_turn_memories(f->s, &t, again, 3, &f->err));
	ok(store_memory_get(f->s, &f->arena, made[0].id, &m, &f->err));
	assert_string_equal(m.title, "What I say");
	ok(store_memory_get(f->s, &f->arena, made[1].id, &m, &f->err));
	assert_string_equal(m.title, "Other two");
	assert_true(m.is_pinned);
	ok(store_memory_get(f->s, &f->arena, made[2].id, &m, &f->err));
	assert_int_equal(m.status, MEMORY_REJECTED);
	ok(store_memory_get(f->s, &f->arena, made[3].id, &m, &f->err));
	assert_string_equal(m.title, "Four");
}

static void lists_filter_and_neighbours_surround(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), other = make_project(f, "/src/other");
	struct memory_query q = {
		.project = project, .kind = -1, .type = -1, .status = -1, .origin = -1, .max = 100
	};
	struct memory *list;
	size_t n;

	for (int i = 0; i < 20; i++) {
		char title[32];
		snprintf(title, sizeof(title), "Memory %d", i);
		struct memory_file file = { i % 2 ? "src/50%_a.c" : "src/xa.c", ROLE_MODIFIED, NULL,
			-1 };
		struct memory m = observation("1", title);
		m.rule = NULL;
		m.project = i < 15 ? project : other;
		m.at = T0 + i * 1000;
		m.kind = i % 5 ? KIND_OBSERVATION : KIND_NOTE;
		m.files = &file;
		m.nfiles = 1;
		ok(store_memory_put(f->s, &m, &f->err));
	}
	ok(store_memory_list(f->s, &f->arena, &q, &list, &n, &f->err));
	assert_int_equal(n, 15);
	assert_string_equal(list[0].title, "Memory 14");
	q.kind = KIND_NOTE;
	q.oldest_first = true;
	ok(store_memory_list(f->s, &f->arena, &q, &list, &n, &f->err));
	assert_int_equal(n, 3);
	assert_string_equal(list[1].title, "Memory 5");
	q.kind = -1;
	q.file = "50%_a.c";
	q.after = T0 + 4000;
	ok(store_memory_list(f->s, &f->arena, &q, &list, &n, &f->err));
	assert_int_equal(n, 5);
	assert_string_equal(list[0].files[0].path, "src/50%_a.c");
	q.file = "_a.c";
	ok(store_memory_list(f->s, &f->arena, &q, &list, &n, &f->err));
	assert_int_equal(n, 0);
	ok(store_memory_neighbours(
		f->s, &f->arena, project, T0 + 10000, 2, 3, 0, &list, &n, &f->err));
	assert_int_equal(n, 5);
	assert_string_equal(list[0].title, "Memory 8");
	assert_string_equal(list[4].title, "Memory 12");
}

static void the_index_is_told_everything_that_exists_once(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), session = make_session(f, "a", project), id;
	struct change *changes;
	struct index_row rows[16];
	struct turn t;
	size_t n;
	struct captured_event call = { .kind = EVENT_TOOL,
		.source = SOURCE_TRANSCRIPT,
		.tool_use_id = "call-1",
		.tool = "Bash",
		.at = T0 + 5,
		.exit_code = 1,
		.input = STR("{\"command\":\"make check\",\"description\":\"Run the tests\"}"),
		.output = STR("line\nerror: parser.c:12 went wrong\n") };

	make_turn(f, session, "fix it", T0, &t);
	put_event(f, session, &call, NULL, &id);
	call.status = STATUS_FAILED;
	put_event(f, session, &call, NULL, &id);
	struct memory made[] = { observation("1", "One") };
	ok(store_turn_memories(f->s, &t, made, 1, &f->err));
	ok(store_changes(f->s, &f->arena, 0, 100, &changes, &n, &f->err));
	assert_int_equal(n, 4);
	ok(store_index_rows(f->s, &f->arena, changes, n, rows, &f->err));
	assert_int_equal(rows[0].kind, CHANGE_SESSION);
	assert_int_equal(rows[1].doc_kind, EVENT_PROMPT);
	assert_string_equal(rows[1].body, "fix it");
	assert_int_equal(rows[2].doc_kind, EVENT_TOOL);
	assert_string_equal(rows[2].body,
		"Bash\nRun the tests\nmake check\nline\nerror: parser.c:12 went wrong\n");
	assert_string_equal(rows[3].title, "One");
	assert_int_equal(rows[3].project, project);
	assert_int_equal(rows[3].agent, AGENT_CLAUDE);

	/* What is gone is told until it is pruned; the numbers go on. */
	ok(store_turn_memories(f->s, &t, NULL, 0, &f->err));
	int64_t last = last_change(f);
	ok(store_changes(f->s, &f->arena, changes[3].seq, 100, &changes, &n, &f->err));
	assert_int_equal(n, 1);
	ok(store_index_rows(f->s, &f->arena, changes, n, rows, &f->err));
	assert_int_equal(rows[0].doc_kind, 0);
	assert_int_equal(rows[0].kind, 0);
	ok(store_change_prune(f->s, last, &f->err));
	ok(store_changes(f->s, &f->arena, 0, 100, &changes, &n, &f->err));
	assert_int_equal(n, 3);
	assert_int_equal(last_change(f), last);
}

static const struct file_state *state_of(const struct files_seen *seen, const char *path)
{
	for (size_t i = 0; i < seen->n; i++)
		if (!strcmp(seen->states[i].path, path))
			return &seen->states[i];
	return NULL;
}

static void files_read_with_how_they_were_seen_are_those_read_apart(void **state)
{
	struct fixture *f = *state;
	const int64_t project = make_project(f, "/src/seen");
	struct memory_file files[] = { { "src/a.c", ROLE_READ, NULL, 7 },
		{ "src/a.c", ROLE_MODIFIED, NULL, 8 }, { "src/b.c", ROLE_READ, NULL, -1 },
		{ "src/c.c", ROLE_MODIFIED, "abcd", 9 } };
	struct memory m = { .project = project,
		.kind = KIND_OBSERVATION,
		.title = "Seen",
		.at = 1,
		.files = files,
		.nfiles = ARRAY_LEN(files) };
	const struct file_state a = { project, "src/a.c", 5, 6, "beef", 7 },
				c = { project, "src/c.c", -1, 0, NULL, 8 };
	struct memory apart, together;
	struct files_seen seen;
	struct file_state *states;
	size_t n;

	ok(store_begin(f->s, &f->err));
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_file_state_put(f->s, &a, &f->err));
	ok(store_file_state_put(f->s, &c, &f->err));
	ok(store_commit(f->s, &f->err));
	apart = together = (struct memory){ .id = m.id, .project = project };
	ok(query_memory_files(f->s, &f->arena, &apart, 10, &f->err));
	ok(query_memory_files_seen(f->s, &f->arena, &together, 10, &seen, &f->err));
	ok(store_memory_states(f->s, &f->arena, m.id, 10, &states, &n, &f->err));
	assert_int_equal(together.nfiles, apart.nfiles);
	for (size_t i = 0; i < apart.nfiles; i++) {
		assert_string_equal(together.files[i].path, apart.files[i].path);
		assert_int_equal(together.files[i].role, apart.files[i].role);
		assert_int_equal(together.files[i].size, apart.files[i].size);
	}
	assert_int_equal(seen.memory, m.id);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct file_state *one = state_of(&seen, states[i].path);
		assert_non_null(one);
		assert_int_equal(one->project, states[i].project);
		assert_int_equal(one->size, states[i].size);
		assert_int_equal(one->mtime, states[i].mtime);
		assert_int_equal(one->seen_at, states[i].seen_at);
		assert_int_equal(one->hash != NULL, states[i].hash != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_memory_comes_back_as_it_was_put, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			the_rules_replace_what_they_made_of_a_turn, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			what_a_person_decided_survives_the_rules, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			lists_filter_and_neighbours_surround, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			the_index_is_told_everything_that_exists_once, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			files_read_with_how_they_were_seen_are_those_read_apart, fixture_open,
			fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
