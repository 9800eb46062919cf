/* What was forgotten in one store goes from a copy that takes its place, and nothing else does. */
#include "store_fixture.h"

#include "base/clock.h"

#define T0 1795950000000
#define SECRET "Quixotewindmill"

static int64_t prompt_put(
	struct fixture *f, struct store *s, int64_t session, const char *text, int64_t at)
{
	const struct captured_event e = event_of(EVENT_PROMPT, text, text, at);
	const struct event_put p = { .session = session, .agent = AGENT_CLAUDE, .event = &e };
	enum put_result result;
	int64_t id;

	ok(store_event_put(s, &p, &result, &id, &f->err));
	return id;
}

struct filled {
	int64_t old, new, memory, kept;
};

/* Two sessions and a memory of each. */
static struct filled fill(struct fixture *f)
{
	int64_t project = make_project(f, "/src/app");
	struct filled ret = { .old = make_session(f, "old", project),
		.new = make_session(f, "new", project) };
	struct memory m = { .kind = KIND_NOTE,
		.project = project,
		.at = T0,
		.title = "About " SECRET,
		.body = "it goes",
		.origin = ORIGIN_PERSON,
		.trust = TRUST_PERSON };
	struct memory kept = { .kind = KIND_NOTE,
		.project = project,
		.at = T0,
		.title = "About the weather",
		.body = "it stays",
		.origin = ORIGIN_PERSON,
		.trust = TRUST_PERSON };

	prompt_put(f, f->s, ret.old, "please mend " SECRET, T0);
	prompt_put(f, f->s, ret.new, "please mend the roof", T0 + 1000);
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_memory_put(f->s, &kept, &f->err));
	ret.memory = m.id;
	ret.kept = kept.id;
	return ret;
}

static struct store *copy_open(struct fixture *f)
{
	const char *path = arena_printf(&f->arena, "%s/copy.db", f->root);
	struct store *copy;

	ok(store_backup(f->s, path, &f->err));
	ok(store_open(arena_printf(&f->arena, "sqlite:%s", path), DB_WRITE, NULL, &copy, &f->err));
	return copy;
}

static void forget(struct fixture *f, const struct forget_query *q, bool whole_session)
{
	struct forget_plan p;

	ok(store_begin(f->s, &f->err));
	ok(store_forget_plan(f->s, &f->arena, q, &p, &f->err));
	assert_true(p.nevents + p.nmemories > 0);
	if (whole_session) {
		p.sessions = arena_dup(&f->arena, &q->session, sizeof(q->session));
		p.nsessions = 1;
	}
	ok(store_forget(f->s, &p, &f->err));
	ok(store_commit(f->s, &f->err));
}

static size_t events_of(struct fixture *f, struct store *s, int64_t session)
{
	struct event *events;
	size_t n;

	ok(store_events(s, &f->arena, session, 0, 0, 100, &events, &n, &f->err));
	return n;
}

static bool memory_is_in(struct fixture *f, struct store *s, int64_t id)
{
	struct memory m;
	struct err err = { 0 };

	return store_memory_get(s, &f->arena, id, &m, &err) == 0;
}

static void nothing_goes_where_nothing_was_forgotten(void **state)
{
	struct fixture *f = *state;
	struct filled x = fill(f);
	struct store *copy = copy_open(f);
	struct forget_plan p;

	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	assert_int_equal(p.nevents + p.nmemories + p.nsessions, 0);
	assert_int_equal(events_of(f, copy, x.old), 1);
	assert_true(memory_is_in(f, copy, x.memory));
	store_close(copy);
}

static void a_forgotten_session_goes_from_the_copy_too(void **state)
{
	struct fixture *f = *state;
	struct filled x = fill(f);
	struct store *copy = copy_open(f);
	struct forget_plan p;

	forget(f, &(struct forget_query){ .session = x.old }, true);
	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	assert_int_equal(p.nevents, 1);
	assert_int_equal(p.nsessions, 1);
	assert_int_equal(events_of(f, copy, x.old), 0);
	assert_int_equal(events_of(f, copy, x.new), 1);
	assert_true(memory_is_in(f, copy, x.kept));
	/* Carried once more, there is nothing left to do. */
	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	assert_int_equal(p.nevents + p.nsessions, 0);
	store_close(copy);
}

static void what_a_session_did_after_it_was_forgotten_stays(void **state)
{
	struct fixture *f = *state;
	struct filled x = fill(f);
	struct forget_plan p;
	struct store *copy;

	prompt_put(f, f->s, x.old, "and now the windows", clock_now() + 86400000);
	copy = copy_open(f);
	forget(f, &(struct forget_query){ .session = x.old, .before = clock_now() }, false);
	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	assert_int_equal(events_of(f, copy, x.old), 1);
	store_close(copy);
}

static void a_forgotten_memory_goes_by_its_words(void **state)
{
	struct fixture *f = *state;
	struct filled x = fill(f);
	struct store *copy = copy_open(f);
	struct forget_plan p;

	forget(f, &(struct forget_query){ .memories = &x.memory, .nmemories = 1 }, false);
	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	assert_int_equal(p.nmemories, 1);
	assert_false(memory_is_in(f, copy, x.memory));
	assert_true(memory_is_in(f, copy, x.kept));
	store_close(copy);
}

/* The words are gone from the copy's file, not only from its tables. */
static void the_copy_holds_no_byte_of_it(void **state)
{
	struct fixture *f = *state;
	struct filled x = fill(f);
	struct store *copy = copy_open(f);
	struct forget_plan p;

	assert_true(tree_holds(f->root, SECRET, strlen(SECRET)));
	forget(f, &(struct forget_query){ .session = x.old }, true);
	forget(f, &(struct forget_query){ .memories = &x.memory, .nmemories = 1 }, false);
	ok(store_scrub(f->s, &f->err));
	ok(store_graves_carry(f->s, copy, &f->arena, &p, &f->err));
	store_close(copy);
	assert_false(tree_holds(f->root, SECRET, strlen(SECRET)));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_goes_where_nothing_was_forgotten),
		CASE(a_forgotten_session_goes_from_the_copy_too),
		CASE(what_a_session_did_after_it_was_forgotten_stays),
		CASE(a_forgotten_memory_goes_by_its_words),
		CASE(the_copy_holds_no_byte_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
