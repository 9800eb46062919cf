/* Event identity: each event once, with the best of both copies, in whatever order they come. */
#include "store_fixture.h"

#include "text/hash.h"

#define T0 1795950000000

static struct captured_event prompt(
	enum source source, const char *id, const char *text, int64_t at)
{
	struct captured_event e = event_of(EVENT_PROMPT, id, text, at);
	e.source = source;
	return e;
}

static struct captured_event reply(enum source source, const char *id, const char *text, int64_t at)
{
	struct captured_event e = prompt(source, id, text, at);
	e.kind = EVENT_REPLY;
	return e;
}

static struct captured_event tool(enum source source, const char *id, int64_t at)
{
	return (struct captured_event){ .kind = EVENT_TOOL,
		.source = source,
		.tool_use_id = id,
		.tool = "Bash",
		.at = at,
		.exit_code = -1,
		.input = STR("{\"command\":\"make\"}") };
}

static size_t count_events(struct fixture *f, int64_t session)
{
	struct event *list;
	size_t n;

	ok(store_events(f->s, &f->arena, session, 0, 0, 100000, &list, &n, &f->err));
	return n;
}

static struct event get(struct fixture *f, int64_t id)
{
	struct event e;

	ok(store_event_get(f->s, &f->arena, id, &e, &f->err));
	return e;
}

static void a_transcript_copy_takes_over_the_row_of_the_hook(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), hook, script;
	struct captured_event h = prompt(SOURCE_HOOK, NULL, "fix the parser", T0),
			      t = prompt(SOURCE_TRANSCRIPT, "u1", "fix the parser\n", T0 + 7);

	h.turn = "turn-1";
	assert_int_equal(put_event(f, s, &h, "0001-x", &hook), PUT_NEW);
	assert_string_equal(get(f, hook).key, "0001-x");
	assert_int_equal(put_event(f, s, &t, NULL, &script), PUT_MERGED);
	assert_int_equal(hook, script);
	assert_int_equal(count_events(f, s), 1);
	struct event e = get(f, hook);
	assert_string_equal(e.key, "u1");
	assert_int_equal(e.at, T0 + 7);
	assert_string_equal(e.agent_turn, "turn-1");
	/* Replays of both say nothing new. */
	assert_int_equal(put_event(f, s, &h, "0001-x", &hook), PUT_SAME);
	assert_int_equal(put_event(f, s, &t, NULL, &script), PUT_SAME);
	assert_int_equal(count_events(f, s), 1);
}

static void a_hook_copy_joins_the_row_of_the_transcript(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), hook, script;
	struct captured_event h = reply(SOURCE_HOOK, NULL, "Done.", T0 + 3),
			      t = reply(SOURCE_TRANSCRIPT, "u1", "Done.", T0);

	h.turn = "turn-1";
	assert_int_equal(put_event(f, s, &t, NULL, &script), PUT_NEW);
	assert_int_equal(put_event(f, s, &h, "0001-x", &hook), PUT_MERGED);
	assert_int_equal(hook, script);
	assert_string_equal(get(f, hook).agent_turn, "turn-1");
	assert_int_equal(put_event(f, s, &h, "0001-x", &hook), PUT_SAME);
	assert_int_equal(count_events(f, s), 1);
}

static void two_equal_prompts_are_two_events(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), id[4];
	struct captured_event h1 = prompt(SOURCE_HOOK, NULL, "yes", T0),
			      h2 = prompt(SOURCE_HOOK, NULL, "yes", T0 + 60000);
	struct captured_event t1 = prompt(SOURCE_TRANSCRIPT, "u1", "yes", T0 + 20),
			      t2 = prompt(SOURCE_TRANSCRIPT, "u2", "yes", T0 + 60020);

	put_event(f, s, &h2, "2", &id[0]);
	put_event(f, s, &t1, NULL, &id[1]);
	put_event(f, s, &h1, "1", &id[2]);
	assert_int_equal(count_events(f, s), 2);
	put_event(f, s, &t2, NULL, &id[3]);
	assert_int_equal(count_events(f, s), 2);
	put_event(f, s, &h1, "1", &id[2]);
	assert_int_equal(count_events(f, s), 2);
	assert_string_equal(get(f, id[1]).key, "u1");
	assert_string_equal(get(f, id[3]).key, "u2");
}

static void a_tool_call_is_merged_by_field(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), id;
	const char *files[] = { "b.c", "/src/app/a.c" }, *more[] = { "/src/app/c.c" };
	struct captured_event h = tool(SOURCE_HOOK, "call-1", T0 + 900),
			      call = tool(SOURCE_TRANSCRIPT, "call-1", T0), result = call;

	h.status = STATUS_OK;
	h.output = STR("hook output");
	h.cwd = "/src/app";
	h.files = files;
	h.nfiles = 2;
	result.tool = NULL;
	result.input = (struct str){ 0 };
	result.at = T0 + 1000;
	result.status = STATUS_FAILED;
	result.exit_code = 2;
	result.output = STR("transcript output");
	result.diff = STR("-a\n+b");
	result.files = more;
	result.nfiles = 1;
	assert_int_equal(put_event(f, s, &call, NULL, &id), PUT_NEW);
	assert_int_equal(put_event(f, s, &h, "1", &id), PUT_MERGED);
	assert_int_equal(put_event(f, s, &result, NULL, &id), PUT_MERGED);
	assert_int_equal(put_event(f, s, &h, "1", &id), PUT_SAME);
	assert_int_equal(put_event(f, s, &call, NULL, &id), PUT_SAME);
	assert_int_equal(put_event(f, s, &result, NULL, &id), PUT_SAME);
	struct event e = get(f, id);
	assert_int_equal(e.status, STATUS_FAILED);
	assert_int_equal(e.exit_code, 2);
	assert_string_equal(e.output, "transcript output");
	assert_string_equal(e.diff, "-a\n+b");
	assert_string_equal(e.tool_use_id, "call-1");
	assert_int_equal(e.at, T0);
	assert_int_equal(e.nfiles, 3);
	assert_string_equal(e.files[0], "/src/app/a.c");
	assert_string_equal(e.files[1], "/src/app/b.c");
	assert_int_equal(count_events(f, s), 1);
}

static void copied_history_is_not_stored_twice(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), a = make_session(f, "a", p),
		b = make_session(f, "b", p), id, copy;
	struct captured_event t = prompt(SOURCE_TRANSCRIPT, "u1", "hello", T0),
			      call = tool(SOURCE_TRANSCRIPT, "call-1", T0 + 10), result = call;

	result.tool = NULL;
	result.input = (struct str){ 0 };
	result.at = T0 + 500;
	result.output = STR("made");
	put_event(f, a, &t, NULL, &id);
	put_event(f, a, &call, NULL, &id);
	put_event(f, a, &result, NULL, &id);
	assert_int_equal(put_event(f, b, &t, NULL, &copy), PUT_SAME);
	assert_int_equal(put_event(f, b, &call, NULL, &copy), PUT_SAME);
	assert_int_equal(put_event(f, b, &result, NULL, &copy), PUT_SAME);
	assert_int_equal(copy, id);
	assert_int_equal(count_events(f, b), 0);
	/* The same ids at another time are other events: test servers number them from one. */
	t.at = call.at = T0 + 5000;
	assert_int_equal(put_event(f, b, &t, NULL, &copy), PUT_NEW);
	assert_int_equal(put_event(f, b, &call, NULL, &copy), PUT_NEW);
	assert_int_equal(put_event(f, b, &result, NULL, &copy), PUT_MERGED);
	assert_int_equal(count_events(f, a), 2);
	assert_int_equal(count_events(f, b), 2);
}

static void history_read_from_the_fork_first_comes_home(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), parent, fork, id;
	struct captured_session c = {
		.agent = AGENT_CLAUDE, .agent_session = "fork", .parent = "parent"
	};
	struct captured_event t = prompt(SOURCE_TRANSCRIPT, "u1", "hello", T0),
			      call = tool(SOURCE_TRANSCRIPT, "call-1", T0 + 10);
	struct captured_event own = prompt(SOURCE_TRANSCRIPT, "u2", "go on", T0 + 5000),
			      h = prompt(SOURCE_HOOK, NULL, "hello", T0 + 1);

	ok(store_session_put(f->s, &c, p, &fork, &f->err));
	put_event(f, fork, &t, NULL, &id);
	put_event(f, fork, &call, NULL, &id);
	put_event(f, fork, &own, NULL, &id);
	parent = make_session(f, "parent", p);
	put_event(f, parent, &h, "1", &id);
	assert_int_equal(put_event(f, parent, &t, NULL, &id), PUT_MERGED);
	put_event(f, parent, &call, NULL, &id);
	assert_int_equal(count_events(f, parent), 2);
	assert_int_equal(count_events(f, fork), 1);
	assert_int_equal(put_event(f, fork, &t, NULL, &id), PUT_SAME);
	assert_int_equal(count_events(f, fork), 1);
}

static void tokens_of_one_message_count_once(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), id;
	struct session session;
	struct captured_event one = reply(SOURCE_TRANSCRIPT, "u1", "first block", T0),
			      two = tool(SOURCE_TRANSCRIPT, "call-1", T0 + 1);

	one.tokens = (struct token_use){ 100, 5, 0, 0 };
	two.tokens = (struct token_use){ 100, 40, 0, 0 };
	one.usage_id = two.usage_id = "msg-1";
	put_event(f, s, &one, NULL, &id);
	put_event(f, s, &two, NULL, &id);
	put_event(f, s, &one, NULL, &id);
	ok(store_session_get(f->s, &f->arena, s, &session, &f->err));
	assert_int_equal(session.tokens_in, 100);
	assert_int_equal(session.tokens_out, 40);
	assert_int_equal(session.events, 2);
}

static void one_spool_file_may_give_two_events(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), one, two;
	struct captured_event start = {
		.kind = EVENT_START, .source = SOURCE_HOOK, .at = T0, .exit_code = -1
	};
	struct captured_event compaction = {
		.kind = EVENT_COMPACTION, .source = SOURCE_HOOK, .at = T0, .exit_code = -1
	};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(put_event(f, s, &start, "1", &one), i ? PUT_SAME : PUT_NEW);
		assert_int_equal(put_event(f, s, &compaction, "1", &two), i ? PUT_SAME : PUT_NEW);
	}
	assert_int_not_equal(one, two);
	assert_int_equal(count_events(f, s), 2);
}

static void huge_and_broken_texts_are_kept_in_part(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), id;
	struct captured_event t = tool(SOURCE_TRANSCRIPT, "call-1", T0);
	size_t n = 5u << 20;
	char *big = malloc(n);

	memset(big, 'x', n);
	memcpy(big, "\xff\0head", 6);
	memcpy(big + n - 4, "tail", 4);
	t.output = (struct str){ big, n };
	put_event(f, s, &t, NULL, &id);
	struct event e = get(f, id);
	assert_true(strlen(e.output) <= EVENT_OUTPUT_MAX + 100);
	assert_true(e.true_size >= n);
	assert_non_null(strstr(e.output, "head"));
	assert_non_null(strstr(e.output, "tail"));
	assert_true(utf8_is_valid(e.output, strlen(e.output)));
	free(big);
}

static void late_prompts_take_the_events_that_are_theirs(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app")), call, answer, first, second;
	struct captured_event t = tool(SOURCE_HOOK, "call-1", T0 + 100),
			      r = reply(SOURCE_TRANSCRIPT, "r1", "Both done.", T0 + 200);
	struct captured_event p1 = prompt(SOURCE_TRANSCRIPT, "u1", "do it", T0),
			      p2 = prompt(SOURCE_TRANSCRIPT, "u2", "and that", T0 + 150);
	struct turn *turns;
	size_t n;

	put_event(f, s, &t, "1", &call);
	put_event(f, s, &r, NULL, &answer);
	assert_true(get(f, call).turn != 0);
	put_event(f, s, &p1, NULL, &first);
	assert_int_equal(get(f, call).turn, get(f, first).turn);
	assert_int_equal(get(f, answer).turn, get(f, first).turn);
	put_event(f, s, &p2, NULL, &second);
	assert_int_equal(get(f, call).turn, get(f, first).turn);
	assert_int_equal(get(f, answer).turn, get(f, second).turn);
	ok(store_turns_dirty(f->s, &f->arena, 0, 0, 10, &turns, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(turns[0].id, get(f, first).turn);
	assert_int_equal(turns[0].ordinal, 1);
	ok(store_turn_stopped(f->s, s, NULL, &f->err));
	ok(store_turns_dirty(f->s, &f->arena, 0, 0, 10, &turns, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(turns[1].ordinal, 2);
	assert_int_equal(turns[1].started_at, T0 + 150);
	assert_int_equal(turns[1].last_event_at, T0 + 200);
}

/* --- Any order gives the same. --- */

struct piece {
	struct captured_event e;
	const char *spool_name;
};

struct session_made {
	struct piece pieces[256];
	size_t n, truth;
	bool loses_hooks; /* else it is the transcript that misses some */
	int64_t at;
	uint64_t seed;
	struct arena *a;
};

enum mode { MODE_MODERN, MODE_OLD, MODE_HOOK_LABELS, MODE_CODEX, MODE_COUNT };

static struct captured_event *add(struct session_made *m, enum source source)
{
	struct piece *p = &m->pieces[m->n++];

	assert_true(m->n < ARRAY_LEN(m->pieces));
	*p = (struct piece){
		.e = { .source = source, .exit_code = -1, .at = m->at, .cwd = "/src/app" }
	};
	if (source == SOURCE_HOOK)
		p->spool_name = arena_printf(m->a, "spool-%03zu", m->n);
	return &p->e;
}

static bool chance(struct session_made *m, unsigned percent)
{
	return unit_below(&m->seed, 100) < percent;
}

/* A prompt, reply or compaction by hook, by transcript, or both. */
static void add_message(struct session_made *m, enum event_kind kind, const char *text,
	const char *hook_turn, const char *script_turn)
{
	bool is_lost = chance(m, 15);

	m->at += 1000 + (int64_t)unit_below(&m->seed, 5000);
	m->truth++;
	if (!is_lost || m->loses_hooks) {
		struct captured_event *e = add(m, SOURCE_TRANSCRIPT);
		e->kind = kind;
		e->text = str_of(text);
		e->turn = script_turn;
		e->id = arena_printf(m->a, "uuid-%03zu", m->truth);
		e->at += (int64_t)unit_below(&m->seed, 300);
	}
	if (!is_lost || !m->loses_hooks) {
		struct captured_event *e = add(m, SOURCE_HOOK);
		e->kind = kind;
		e->text = str_of(text);
		e->turn = hook_turn;
	}
}

static void add_tool(
	struct session_made *m, const char *turn, const char *result_turn, const char *subagent)
{
	const char *id = arena_printf(m->a, "call-%03zu", ++m->truth);
	bool fails = chance(m, 30);

	m->at += 500 + (int64_t)unit_below(&m->seed, 5000);
	struct captured_event *e = add(m, SOURCE_TRANSCRIPT);
	*e = (struct captured_event){ .kind = EVENT_TOOL,
		.source = SOURCE_TRANSCRIPT,
		.tool_use_id = id,
		.tool = "Bash",
		.at = m->at,
		.exit_code = -1,
		.input = STR("{\"command\":\"make check\"}"),
		.cwd = "/src/app",
		.subagent = subagent };
	e = add(m, SOURCE_TRANSCRIPT);
	*e = (struct captured_event){ .kind = EVENT_TOOL,
		.source = SOURCE_TRANSCRIPT,
		.tool_use_id = id,
		.at = m->at + 400,
		.status = fails ? STATUS_FAILED : STATUS_OK,
		.exit_code = fails ? 2 : 0,
		.output = STR("transcript output"),
		.turn = result_turn,
		.subagent = subagent,
		.cwd = "/src/app" };
	if (chance(m, 80)) {
		e = add(m, SOURCE_HOOK);
		*e = (struct captured_event){ .kind = EVENT_TOOL,
			.source = SOURCE_HOOK,
			.tool_use_id = id,
			.tool = "Bash",
			.at = m->at + 450,
			.exit_code = -1,
			.status = STATUS_OK,
			.input = STR("{\"command\":\"make check\"}"),
			.output = STR("hook output"),
			.turn = turn,
			.subagent = subagent,
			.cwd = "/src/app" };
	}
}

static void make_session_pieces(struct session_made *m, enum mode mode)
{
	static const char *const prompts[] = { "yes", "yes", "continue", "fix the flaky test" };
	static const char *const replies[] = { "Done.", "All tests pass now.", "Done." };
	size_t turns = 1 + unit_below(&m->seed, 5);

	m->at = T0;
	m->loses_hooks = chance(m, 50);
	for (size_t i = 0; i < turns; i++) {
		const char *name = arena_printf(m->a, "turn-%zu", i);
		const char *hook_turn = mode == MODE_OLD ? NULL : name;
		const char *script_turn = mode == MODE_MODERN || mode == MODE_CODEX ? name : NULL;
		const char *reply_turn = mode == MODE_CODEX ? name : NULL;
		size_t steers = mode == MODE_CODEX ? 1 + unit_below(&m->seed, 3) : 1;
		for (size_t k = 0; k < steers; k++) {
			add_message(m, EVENT_PROMPT, prompts[unit_below(&m->seed, 4)], hook_turn,
				script_turn);
			for (size_t j = unit_below(&m->seed, 3); j; j--)
				add_tool(m, hook_turn, script_turn,
					chance(m, 20) ? "agent-1" : NULL);
			if (chance(m, 15))
				add_message(m, EVENT_COMPACTION, "summary of it all", hook_turn,
					reply_turn);
		}
		add_message(
			m, EVENT_REPLY, replies[unit_below(&m->seed, 3)], hook_turn, reply_turn);
	}
}

/* The events without their row ids; a turn is named by the least key of its events. */
static char *dump(struct fixture *f, struct arena *a, int64_t session)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct event *list;
	size_t n;

	ok(store_events(f->s, a, session, 0, 0, 1000, &list, &n, &f->err));
	for (size_t i = 0; i < n; i++) {
		struct event *e = &list[i];
		const char *turn = e->key;
		for (size_t j = 0; j < n; j++)
			if (list[j].turn == e->turn && strcmp(list[j].key, turn) < 0)
				turn = list[j].key;
		buf_printf(&b,
			"%lld %s %s %s st=%s exit=%d turn=%s/%s in=%s out=%s text=%s src=%d\n",
			(long long)(e->at - T0), e->key, event_kind_names[e->kind],
			e->subagent ? e->subagent : "-", event_status_names[e->status],
			e->exit_code, turn, e->agent_turn ? e->agent_turn : "-",
			e->input ? e->input : "", e->output ? e->output : "",
			e->text ? e->text : "", e->source);
	}
	return arena_str(a, buf_cstr(&b));
}

static char *put_in_order(
	struct fixture *f, struct arena *a, struct session_made *m, const size_t *order, size_t n)
{
	ok(store_begin(f->s, &f->err));
	int64_t project = make_project(f, "/src/app"), s = make_session(f, "s", project), id;
	for (size_t i = 0; i < n; i++)
		put_event(f, s, &m->pieces[order[i]].e, m->pieces[order[i]].spool_name, &id);
	char *text = dump(f, a, s);
	/* No dirty turn without events, no turn that spans more or less than its events. */
	int64_t wrong;
	ok(db_one(store_db(f->s),
		"SELECT count(*) FROM turn t WHERE t.is_dirty = 1 AND (t.started_at <> (SELECT "
		"min(at) FROM event WHERE turn = t.id)"
		" OR t.last_event_at <> (SELECT max(at) FROM event WHERE turn = t.id) OR NOT "
		"EXISTS (SELECT 1 FROM event WHERE turn = t.id))",
		NULL, 0, 0, &wrong, &f->err));
	assert_int_equal(wrong, 0);
	store_rollback(f->s);
	return text;
}

static void any_order_of_arrival_gives_the_same_events(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 20261129;

	for (int round = 0; round < 160; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct session_made m = { .seed = unit_random(&seed) | 1, .a = &a };
		size_t order[512], n;
		make_session_pieces(&m, (enum mode)(round % MODE_COUNT));
		for (n = 0; n < m.n; n++)
			order[n] = n;
		char *want = put_in_order(f, &a, &m, order, n);
		size_t lines = 0;
		for (const char *p = want; *p; p++)
			lines += *p == '\n';
		if (lines != m.truth)
			fail_msg("round %d: %zu events instead of %zu:\n%s", round, lines, m.truth,
				want);
		for (int shuffle = 0; shuffle < 8; shuffle++) {
			for (n = 0; n < m.n; n++)
				order[n] = n;
			for (size_t extra = unit_below(&m.seed, m.n); extra; extra--)
				order[n++] = unit_below(&m.seed, m.n);
			for (size_t i = n - 1; i > 0; i--) {
				size_t j = unit_below(&m.seed, i + 1), t = order[i];
				order[i] = order[j];
				order[j] = t;
			}
			char *got = put_in_order(f, &a, &m, order, n);
			if (strcmp(got, want) != 0)
				fail_msg("round %d, shuffle %d:\n%s\ninstead of\n%s", round,
					shuffle, got, want);
		}
	}
}

static void a_turn_of_which_another_daemon_saw_more_is_not_as_it_was_read(void **state)
{
	struct fixture *f = *state;
	int64_t s = make_session(f, "a", make_project(f, "/src/app"));
	struct captured_event p = prompt(SOURCE_TRANSCRIPT, "u1", "do it", T0),
			      r = reply(SOURCE_TRANSCRIPT, "r1", "Done.", T0 + 200);
	struct turn *turns;
	struct store *other;
	size_t n;
	bool is_still;

	put_event(f, s, &p, NULL, NULL);
	ok(store_turn_stopped(f->s, s, NULL, &f->err));
	ok(store_turns_dirty(f->s, &f->arena, 0, 0, 10, &turns, &n, &f->err));
	assert_int_equal(n, 1);
	ok(store_turn_is_still(f->s, &turns[0], &is_still, &f->err));
	assert_true(is_still);
	ok(store_open(f->url, DB_WRITE, NULL, &other, &f->err));
	const struct event_put put = { .session = s, .agent = AGENT_CLAUDE, .event = &r };
	enum put_result result;
	ok(store_event_put(other, &put, &result, NULL, &f->err));
	store_close(other);
	/* One file has one daemon, which counts for itself. */
	ok(store_turn_is_still(f->s, &turns[0], &is_still, &f->err));
	assert_int_equal(is_still, is_file(f));
	ok(store_turns_dirty(f->s, &f->arena, 0, 0, 10, &turns, &n, &f->err));
	ok(store_turn_is_still(f->s, &turns[0], &is_still, &f->err));
	assert_true(is_still);
	ok(store_turn_memories(f->s, &turns[0], NULL, 0, &f->err));
	ok(store_turn_is_still(f->s, &turns[0], &is_still, &f->err));
	assert_int_equal(is_still, is_file(f));
}

/* Calls with long outputs, then a reply: what a reader of so many bytes sees of their turn. */
static size_t read_turn(struct fixture *f, int64_t session, size_t calls, size_t whole)
{
	int64_t last;
	static const size_t long_output = 40000;
	const char *end = arena_printf(&f->arena, "r%lld", (long long)session);
	char *output = arena_alloc(&f->arena, long_output + 1);
	struct captured_event p = prompt(SOURCE_TRANSCRIPT, end + 1, "fix the parser", T0);
	struct captured_event r = reply(SOURCE_TRANSCRIPT, end, "All of it is done.", T0 + 9999);

	memset(output, 'x', long_output);
	p.turn = r.turn = "t";
	put_event(f, session, &p, NULL, NULL);
	for (size_t i = 0; i < calls; i++) {
		const char *id = arena_printf(&f->arena, "%s-%04zu", end, i);
		struct captured_event c = tool(SOURCE_TRANSCRIPT, id, T0 + 1 + (int64_t)i);
		c.turn = "t";
		c.output = (struct str){ output, long_output };
		put_event(f, session, &c, NULL, NULL);
	}
	put_event(f, session, &r, NULL, &last);

	AUTO(arena_done) struct arena a = { 0 };
	struct event *list;
	size_t n;
	const struct turn_events q = { session, get(f, last).turn, 1000, whole };
	ok(store_turn_events(f->s, &a, &q, &list, &n, &f->err));
	assert_int_equal(n, calls + 2);
	assert_string_equal(list[1].output, output);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || list[i - 1].at <= list[i].at);
		assert_true(list[i].kind != EVENT_TOOL || list[i].input);
		assert_true(list[i].kind != EVENT_TOOL || strlen(list[i].output) >= 200);
	}
	assert_string_equal(list[n - 1].text, "All of it is done.");
	return a.used;
}

static void a_turn_is_read_into_a_bounded_memory(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app");
	static const size_t whole = 400000, event_at_most = 50000, cut_event = 2500;

	assert_true(read_turn(f, make_session(f, "a", p), 300, SIZE_MAX) > 300 * 40000);
	assert_true(read_turn(f, make_session(f, "b", p), 300, whole) <
		    whole + event_at_most + 300 * cut_event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_turn_of_which_another_daemon_saw_more_is_not_as_it_was_read, fixture_open,
			fixture_close),
		cmocka_unit_test_setup_teardown(a_transcript_copy_takes_over_the_row_of_the_hook,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_hook_copy_joins_the_row_of_the_transcript, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			two_equal_prompts_are_two_events, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_tool_call_is_merged_by_field, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			copied_history_is_not_stored_twice, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			history_read_from_the_fork_first_comes_home, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			tokens_of_one_message_count_once, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			one_spool_file_may_give_two_events, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			huge_and_broken_texts_are_kept_in_part, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			late_prompts_take_the_events_that_are_theirs, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			any_order_of_arrival_gives_the_same_events, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_turn_is_read_into_a_bounded_memory, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
