/* Whether a session used what it was given: by files, commands and words, and by nothing else. */
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "observe/use.h"

#define GIVEN_AT 1000

static struct event tool(int64_t at, const char *file, bool writes, const char *input)
{
	static const char *files[8][1];
	static size_t n;
	struct event e = { .kind = EVENT_TOOL, .at = at, .input = input, .writes_files = writes };

	if (file) {
		files[n % 8][0] = file;
		e.files = files[n++ % 8];
		e.nfiles = 1;
	}
	return e;
}

static struct event said(enum event_kind kind, int64_t at, const char *text)
{
	return (struct event){ .kind = kind, .at = at, .text = text };
}

static unsigned uses(const struct event *events, size_t n, const struct memory *m, bool is_file)
{
	AUTO(arena_done) struct arena a = { 0 };

	return use_of(use_turn_make(&a, events, n), m, GIVEN_AT, is_file);
}

static void a_file_is_used_when_it_is_touched_after_the_giving(void **state)
{
	struct memory_file files[USE_FILES_MAX + 1] = { { .path = "src/parser.c" } };
	struct memory m = { .title = "x", .files = files, .nfiles = 1 };
	struct event before[] = { tool(GIVEN_AT - 1, "/home/u/app/src/parser.c", false, NULL) };
	struct event after[] = { tool(GIVEN_AT + 1, "/home/u/app/src/parser.c", false, NULL) };
	struct event written[] = { tool(GIVEN_AT + 1, "/home/u/app/src/parser.c", true, NULL) };
	struct event other[] = { tool(GIVEN_AT + 1, "/home/u/app/src/oldparser.c", true, NULL) };

	assert_int_equal(uses(before, 1, &m, false), 0);
	assert_int_equal(uses(after, 1, &m, false), USE_FILE);
	assert_int_equal(uses(other, 1, &m, false), 0);
	/* Given because the file is about to be read: reading it is no sign. */
	assert_int_equal(uses(after, 1, &m, true), 0);
	assert_int_equal(uses(written, 1, &m, true), USE_FILE);
	for (size_t i = 1; i <= USE_FILES_MAX; i++)
		files[i].path = "src/other.c";
	m.nfiles = USE_FILES_MAX + 1;
	assert_int_equal(uses(after, 1, &m, false), 0);
}

static void a_command_is_used_when_it_is_run(void **state)
{
	struct memory m = { .title = "`uv run pytest -q` runs the tests here" };
	struct memory brief = { .title = "`ls` shows `it all`" };
	struct event run[] = { tool(
		GIVEN_AT + 1, NULL, false, "{\"command\":\"cd x && uv run pytest -q tests\"}") };
	struct event other[] = { tool(
		GIVEN_AT + 1, NULL, false, "{\"command\":\"pytest -q; ls; it all\"}") };

	assert_int_equal(uses(run, 1, &m, false), USE_COMMAND);
	assert_int_equal(uses(other, 1, &m, false), 0);
	assert_int_equal(uses(other, 1, &(struct memory){ .title = "`ls`" }, false), 0);
	assert_int_equal(uses(run, 1, &brief, false), 0);
	assert_int_equal(uses(run, 1, &(struct memory){ .title = "an `open quote" }, false), 0);
}

static void words_are_used_when_a_reply_repeats_what_no_prompt_holds(void **state)
{
	struct memory m = { .title = "Sessions expire through RedisSweeper after rotation" };
	struct event repeated[] = { said(EVENT_PROMPT, GIVEN_AT, "why are people logged out"),
		said(EVENT_REPLY, GIVEN_AT + 1,
			"Sessions expire because RedisSweeper runs after each rotation.") };
	struct event asked[] = { said(EVENT_PROMPT, GIVEN_AT,
					 "does RedisSweeper make sessions expire after a rotation"),
		said(EVENT_REPLY, GIVEN_AT + 1,
			"Yes, RedisSweeper makes sessions expire after a rotation.") };
	struct event earlier[] = { said(EVENT_REPLY, GIVEN_AT - 1,
		"Sessions expire because RedisSweeper runs after rotation.") };
	struct event sub[] = { said(EVENT_REPLY, GIVEN_AT + 1,
		"Sessions expire because RedisSweeper runs after rotation.") };

	assert_int_equal(uses(repeated, 2, &m, false), USE_WORDS);
	assert_int_equal(uses(asked, 2, &m, false), 0);
	assert_int_equal(uses(earlier, 1, &m, false), 0);
	sub[0].subagent = "agent-1";
	assert_int_equal(uses(sub, 1, &m, false), 0);
}

static void nothing_is_used_of_nothing(void **state)
{
	struct memory m = { .title = NULL };

	assert_int_equal(uses(NULL, 0, &m, false), 0);
	assert_string_equal(use_names[0], "file");
}

/* However long a turn is, the tables of words neither fill up nor run over. */
static void a_turn_of_many_words_ends(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct event *events = mem_alloc(sizeof(*events) * 64);
	struct memory m = { .title = "wordaa1 wordab2 wordac3" };

	for (int i = 0; i < USE_TURN_WORDS; i++)
		buf_printf(&b, "word%c%c%d ", 'a' + i % 26, 'a' + i / 26 % 26, i);
	for (size_t i = 0; i < 64; i++)
		events[i] = said(i % 2 ? EVENT_REPLY : EVENT_PROMPT, GIVEN_AT + (int64_t)i,
			buf_cstr(&b) + i * (b.len / 70));
	(void)uses(events, 64, &m, false);
	free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_used_when_it_is_touched_after_the_giving),
		cmocka_unit_test(a_command_is_used_when_it_is_run),
		cmocka_unit_test(words_are_used_when_a_reply_repeats_what_no_prompt_holds),
		cmocka_unit_test(nothing_is_used_of_nothing),
		cmocka_unit_test(a_turn_of_many_words_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
