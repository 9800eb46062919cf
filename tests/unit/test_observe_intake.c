/* The one insert path, on a real store. */
#include "store_fixture.h"

#include "observe/intake.h"

#define T0 1795950000000

struct desk {
	struct settings *settings;
	struct redactor *redactor;
	struct intake *intake;
};

static void desk_open(struct fixture *f, struct desk *d, const char *settings_json)
{
	const char *path = path_join(&f->arena, f->root, "settings.json");

	ok(file_write(path, settings_json, strlen(settings_json), 0600, &f->err));
	ok(settings_load(path, &d->settings, NULL, &f->err));
	ok(redactor_new(NULL, &d->redactor, &f->err));
	d->intake = intake_new(d->settings, d->redactor);
}

static void desk_close(struct desk *d)
{
	intake_free(d->intake);
	redactor_free(d->redactor);
	settings_free(d->settings);
}

static struct captured_event tool_of(
	const char *id, const char *tool, const char *input, const char *output)
{
	struct captured_event e = event_of(EVENT_TOOL, NULL, NULL, T0);

	e.tool_use_id = id;
	e.tool = tool;
	e.input = str_of(input);
	e.output = str_of(output);
	return e;
}

static struct intake_result take(
	struct fixture *f, struct desk *d, struct captured_event *events, size_t n, const char *cwd)
{
	struct capture c = {
		.session = { .agent = AGENT_CLAUDE, .agent_session = "s1", .cwd = cwd },
		.events = events,
		.nevents = n
	};
	struct intake_result result = { 0 };

	ok(store_begin(f->s, &f->err));
	ok(intake_take(d->intake, f->s, &f->arena, &c, NULL, &result, &f->err));
	ok(store_commit(f->s, &f->err));
	return result;
}

static struct event *stored(struct fixture *f, int64_t session, size_t *n)
{
	struct event *list;

	ok(store_events(f->s, &f->arena, session, 0, 0, 1000, &list, n, &f->err));
	return list;
}

static void what_comes_in_is_cleaned_and_redacted(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event events[] = {
		event_of(EVENT_PROMPT, "u1", "deploy <private>code 4711</private> now", T0),
		tool_of("t1", "Bash", "{\"command\":\"curl -u bob:correct-horse https://x\"}",
			"\033[31mfine\033[0m"),
	};
	size_t n;

	desk_open(f, &d, "{}");
	struct intake_result r = take(f, &d, events, 2, f->root);
	assert_int_equal(r.new_events, 2);
	assert_int_equal(r.redactions, 1);
	struct event *list = stored(f, r.session, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		if (list[i].kind == EVENT_PROMPT)
			assert_string_equal(list[i].text, "deploy  now");
		else
			assert_string_equal(list[i].output, "fine");
	}
	assert_false(tree_holds(f->root, "correct-horse", 13));
	assert_false(tree_holds(f->root, "4711", 4));
	assert_int_equal(take(f, &d, events, 2, f->root).same_events, 2);
	desk_close(&d);
}

static void excluded_folders_and_tools_leave_nothing(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event events[] = { event_of(EVENT_PROMPT, "u1", "hello", T0),
		tool_of("t1", "mcp__bank__balance", "{}", "12") };

	desk_open(f, &d,
		"{\"capture.exclude\":[\"/srv/secret\",\"/home/*/"
		"private-*\"],\"capture.skip_tools\":[\"mcp__bank__*\"]}");
	assert_int_equal(take(f, &d, events, 2, "/srv/secret/deep/er").excluded_events, 2);
	assert_int_equal(take(f, &d, events, 2, "/home/u/private-diary/x").excluded_events, 2);
	struct intake_result r = take(f, &d, events, 2, "/srv/open");
	assert_int_equal(r.new_events, 1);
	assert_int_equal(r.excluded_events, 1);
	/* An event may stand elsewhere than its session. */
	struct captured_event moved = event_of(EVENT_REPLY, "u2", "the diary says so", T0);
	moved.cwd = "/srv/secret";
	assert_int_equal(take(f, &d, &moved, 1, "/srv/open").excluded_events, 1);
	desk_close(&d);
}

static void runs_without_a_person_are_left_out_when_told_so(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event e = event_of(EVENT_PROMPT, "u1", "hello", T0);
	struct capture c = { .session = { .agent = AGENT_CODEX,
				     .agent_session = "h",
				     .cwd = "/srv/x",
				     .is_headless = true },
		.events = &e,
		.nevents = 1 };
	struct intake_result r = { 0 };

	desk_open(f, &d, "{\"capture.headless\":false}");
	ok(intake_take(d.intake, f->s, &f->arena, &c, NULL, &r, &f->err));
	assert_int_equal(r.excluded_events, 1);
	assert_int_equal(r.session, 0);
	desk_close(&d);
}

static void our_own_answers_are_not_observed_again(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event events[] = {
		tool_of("t1", "mcp__remanence__recall", "{\"query\":\"parser\"}", "an old memory"),
		tool_of("t2", "Bash", "{\"command\":\"remanence search parser\"}", "an old memory"),
		tool_of("t3", "Bash", "{\"command\":\"make\"}", "built"),
	};
	size_t n;

	desk_open(f, &d, "{}");
	struct intake_result r = take(f, &d, events, 3, f->root);
	struct event *list = stored(f, r.session, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].tool_use_id, "t3") == 0)
			assert_string_equal(list[i].output, "built");
		else
			assert_null(list[i].output);
	}
	desk_close(&d);
}

static void long_output_keeps_head_and_tail(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	char *big = arena_alloc(&f->arena, 100001);
	size_t n;

	memset(big, 'x', 100000);
	for (size_t i = 0; i < 100000; i += 50)
		big[i] = '\n';
	memcpy(big, "HEAD", 4);
	memcpy(big + 99996, "TAIL", 4);
	struct captured_event e = tool_of("t1", "Bash", "{}", big);
	desk_open(f, &d, "{\"capture.max_output\":4096}");
	struct intake_result r = take(f, &d, &e, 1, f->root);
	struct event *list = stored(f, r.session, &n);
	assert_true(strlen(list[0].output) <= 4096);
	assert_true(str_starts(list[0].output, "HEAD") && str_ends(list[0].output, "TAIL"));
	assert_int_equal(list[0].true_size, 100000);
	desk_close(&d);
}

static void files_become_absolute_against_where_the_event_stood(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	const char *files[] = { "src/../a.c", "/etc/hosts", "http://x/y" };
	struct captured_event e = tool_of("t1", "Edit", "{}", "");
	size_t n;

	e.files = files;
	e.nfiles = 3;
	e.cwd = "/srv/app/sub";
	desk_open(f, &d, "{}");
	struct intake_result r = take(f, &d, &e, 1, "/srv/app");
	struct event *list = stored(f, r.session, &n);
	assert_int_equal(list[0].nfiles, 2);
	bool is_first = strcmp(list[0].files[0], "/srv/app/sub/a.c") == 0;
	assert_string_equal(list[0].files[!is_first], "/srv/app/sub/a.c");
	assert_string_equal(list[0].files[is_first], "/etc/hosts");
	desk_close(&d);
}

static void a_pause_holds_by_the_time_of_the_event(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event e = event_of(EVENT_PROMPT, "u1", "before", T0),
			      later = event_of(EVENT_PROMPT, "u2", "during", T0);
	int64_t pause;

	desk_open(f, &d, "{}");
	ok(store_pause(f->s, 0, 0, T0 + 5, T0 + 10, &pause, &f->err));
	later.at = T0 + 7;
	assert_int_equal(take(f, &d, &e, 1, f->root).new_events, 1);
	assert_int_equal(take(f, &d, &later, 1, f->root).excluded_events, 1);
	later.at = T0 + 11;
	assert_int_equal(take(f, &d, &later, 1, f->root).new_events, 1);
	desk_close(&d);
}

/* A call and its result, read together. */
static void two_tellings(struct captured_event *call, struct captured_event *result)
{
	*call = tool_of("t1", "Bash", "{\"command\":\"make\"}", NULL);
	*result = tool_of("t1", "Bash", NULL, "3 errors");
	result->status = STATUS_FAILED;
	result->exit_code = 2;
	result->at = T0 + 9;
	result->tokens.output = 7;
	call->later = result;
}

static void two_tellings_read_together_are_stored_as_one_after_the_other(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event call, result;
	size_t n;

	desk_open(f, &d, "{}");
	two_tellings(&call, &result);
	struct intake_result r = take(f, &d, &call, 1, f->root);
	assert_int_equal(r.new_events, 1);
	assert_int_equal(r.merged_events, 1);
	struct event *list = stored(f, r.session, &n);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].at, T0);
	assert_int_equal(list[0].exit_code, 2);
	assert_int_equal(list[0].status, STATUS_FAILED);
	assert_string_equal(list[0].input, "{\"command\":\"make\"}");
	assert_string_equal(list[0].output, "3 errors");
	/* Each by itself, later: nothing is new. */
	call.later = NULL;
	assert_int_equal(take(f, &d, &call, 1, f->root).same_events, 1);
	assert_int_equal(take(f, &d, &result, 1, f->root).same_events, 1);
	desk_close(&d);
}

static void a_pause_between_call_and_result_leaves_the_call(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event call, result;
	int64_t pause;
	size_t n;

	desk_open(f, &d, "{}");
	two_tellings(&call, &result);
	ok(store_pause(f->s, 0, 0, T0 + 5, T0 + 10, &pause, &f->err));
	struct intake_result r = take(f, &d, &call, 1, f->root);
	assert_int_equal(r.new_events, 1);
	assert_int_equal(r.excluded_events, 1);
	struct event *list = stored(f, r.session, &n);
	assert_null(list[0].output);
	desk_close(&d);
}

static void what_was_cleaned_before_is_stored_as_if_cleaned_here(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event e[] = { event_of(EVENT_PROMPT, "u1", "<private>x</private> do it", T0),
		event_of(EVENT_REPLY, "u2", " ", T0) };
	struct capture c = {
		.session = { .agent = AGENT_CLAUDE, .agent_session = "s1", .cwd = f->root },
		.events = e,
		.nevents = 2
	};
	struct intake_result r = { 0 };
	size_t n;

	desk_open(f, &d, "{}");
	intake_clean(d.settings, d.redactor, &f->arena, &c);
	assert_int_equal(c.nevents, 1);
	assert_int_equal(c.nempty, 1);
	ok(intake_take(d.intake, f->s, &f->arena, &c, NULL, &r, &f->err));
	assert_int_equal(r.new_events, 1);
	assert_int_equal(r.same_events, 1);
	assert_string_equal(stored(f, r.session, &n)[0].text, "do it");
	desk_close(&d);
}

static void wrappers_alone_are_no_prompt(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event events[] = {
		event_of(EVENT_PROMPT, "u1",
			"<environment_context>\n<cwd>/x</cwd>\n</environment_context>", T0),
		event_of(EVENT_PROMPT, "u2", "<system-reminder>x</system-reminder>", T0),
		event_of(EVENT_REPLY, "u3", "  ", T0),
	};
	struct captured_event hidden = event_of(EVENT_PROMPT, "u4", "<private>all of it</private>", T0);

	desk_open(f, &d, "{}");
	assert_int_equal(take(f, &d, events, 3, f->root).new_events, 0);
	/* What was private still happened. */
	assert_int_equal(take(f, &d, &hidden, 1, f->root).new_events, 1);
	desk_close(&d);
}

static void a_repository_made_later_is_seen(void **state)
{
	struct fixture *f = *state;
	struct desk d;
	struct captured_event e = event_of(EVENT_PROMPT, "u1", "one", T0),
			      again = event_of(EVENT_PROMPT, "u2", "two", T0);
	const char *git = path_join(&f->arena, f->root, "app/.git"),
		   *sub = path_join(&f->arena, f->root, "app/sub");

	desk_open(f, &d, "{}");
	ok(file_mkdirs(sub, 0755, &f->err));
	int64_t before = take(f, &d, &e, 1, sub).project;
	ok(file_mkdirs(path_join(&f->arena, git, "refs"), 0755, &f->err));
	ok(file_mkdirs(path_join(&f->arena, git, "objects"), 0755, &f->err));
	ok(file_write(
		path_join(&f->arena, git, "HEAD"), "ref: refs/heads/main\n", 21, 0644, &f->err));
	usleep(1100000); /* the longest that an old identity may hold */
	struct intake_result r = { 0 };
	struct capture c = {
		.session = { .agent = AGENT_CLAUDE, .agent_session = "s2", .cwd = sub },
		.events = &again,
		.nevents = 1
	};
	ok(intake_take(d.intake, f->s, &f->arena, &c, "0001-hook", &r, &f->err));
	struct session s;
	ok(store_session_get(f->s, &f->arena, r.session, &s, &f->err));
	assert_string_equal(s.branch, "main");
	assert_true(before > 0 && r.project > 0);
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_comes_in_is_cleaned_and_redacted, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			excluded_folders_and_tools_leave_nothing, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(runs_without_a_person_are_left_out_when_told_so,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			our_own_answers_are_not_observed_again, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			long_output_keeps_head_and_tail, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(files_become_absolute_against_where_the_event_stood,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_pause_holds_by_the_time_of_the_event, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			two_tellings_read_together_are_stored_as_one_after_the_other,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(a_pause_between_call_and_result_leaves_the_call,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			what_was_cleaned_before_is_stored_as_if_cleaned_here, fixture_open,
			fixture_close),
		cmocka_unit_test_setup_teardown(
			wrappers_alone_are_no_prompt, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_repository_made_later_is_seen, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
