/* Hook inputs of Claude Code and Codex to captures and questions, and the answers they are given. */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "agents/agent.h"
#include "base/file.h"
#include "base/mem.h"

static struct arena a;

static int clean(void **state)
{
	arena_done(&a);
	return 0;
}

static struct capture read_hook(const char *agent, const char *event, const char *input)
{
	struct spool_header h = { .at = 1000 };
	struct capture c = { 0 };
	struct err err = { 0 };
	json *j = NULL;
	snprintf(h.event, sizeof(h.event), "%s", event);
	assert_int_equal(json_parse(input, strlen(input), &j, &err), 0);
	assert_int_equal(agent_find(agent)->hook_read(&a, &h, j, &c, &err), 0);
	json_free(j);
	return c;
}

static struct ask asked; /* what was asked last */

static enum ask_kind ask(const char *agent, const char *event, const char *input)
{
	struct spool_header h = { .cwd = "/from/header" };
	json *j = NULL;
	snprintf(h.event, sizeof(h.event), "%s", event);
	assert_int_equal(json_parse(input, strlen(input), &j, NULL), 0);
	agent_find(agent)->ask_read(&a, &h, j, &asked);
	json_free(j);
	assert_true(asked.kind == ASK_NONE || asked.cwd);
	return asked.kind;
}

static const char *text_of(struct str s)
{
	return arena_dup(&a, s.n ? s.p : "", s.n);
}

static const struct captured_event *only(const struct capture *c, enum event_kind kind)
{
	assert_int_equal(c->nevents, 1);
	assert_int_equal(c->events[0].kind, kind);
	assert_int_equal(c->events[0].source, SOURCE_HOOK);
	assert_int_equal(c->events[0].at, 1000);
	return &c->events[0];
}

#define COMMON "\"session_id\":\"s1\",\"cwd\":\"/home/ann/app\",\"transcript_path\":\"/t.jsonl\""
#define CLAUDE "{" COMMON ",\"prompt_id\":\"p1\","
#define CODEX "{" COMMON ",\"turn_id\":\"q1\",\"model\":\"gpt-x\","

static void a_start_says_where_and_how(void **state)
{
	struct capture c = read_hook(
		"claude", "SessionStart", CLAUDE "\"source\":\"startup\",\"model\":\"m\"}");
	assert_string_equal(text_of(only(&c, EVENT_START)->text), "startup");
	assert_string_equal(c.session.agent_session, "s1");
	assert_string_equal(c.session.cwd, "/home/ann/app");
	assert_string_equal(c.session.model, "m");
	assert_int_equal(c.session.started_at, 1000);
	c = read_hook("claude", "SessionStart", CLAUDE "\"source\":\"resume\"}");
	assert_int_equal(c.session.started_at, 0);
}

static void a_prompt_has_its_turn(void **state)
{
	struct capture c =
		read_hook("claude", "UserPromptSubmit", CLAUDE "\"prompt\":\"fix it\\nplease\"}");
	const struct captured_event *e = only(&c, EVENT_PROMPT);
	assert_string_equal(e->turn, "p1");
	assert_string_equal(text_of(e->text), "fix it\nplease");
	assert_false(e->is_meta);
	c = read_hook("claude", "UserPromptSubmit", CLAUDE "\"prompt\":\"/review 158\"}");
	assert_true(only(&c, EVENT_PROMPT)->is_meta);
	c = read_hook("claude", "UserPromptSubmit", CLAUDE "\"prompt\":\"/tmp/x is full\"}");
	assert_false(only(&c, EVENT_PROMPT)->is_meta);
	c = read_hook("claude", "UserPromptSubmit",
		CLAUDE "\"prompt\":\"<system-reminder>x</system-reminder>\"}");
	assert_int_equal(c.nevents, 0);
	c = read_hook("codex", "UserPromptSubmit", CODEX "\"prompt\":\"fix it\"}");
	assert_string_equal(only(&c, EVENT_PROMPT)->turn, "q1");
	assert_string_equal(c.session.model, "gpt-x");
}

static void a_sub_agents_task_is_no_prompt_of_a_person(void **state)
{
	struct capture c = read_hook(
		"codex", "UserPromptSubmit", CODEX "\"agent_id\":\"g1\",\"prompt\":\"look\"}");
	const struct captured_event *e = only(&c, EVENT_PROMPT);
	assert_true(e->is_meta);
	assert_string_equal(e->subagent, "g1");
	assert_null(e->turn);
}

static void tool_responses_are_read_in_every_shape(void **state)
{
	static const struct {
		const char *agent, *event, *input, *output, *file, *diff;
		enum event_status status;
		int exit_code;
		bool writes;
	} rows[] = {
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"tool_"
			"response\":{\"stdout\":\"a\",\"stderr\":\"b\",\"interrupted\":false}",
			"a\nb", NULL, "", STATUS_OK, 0, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"sed "
			"-i\"},\"tool_response\":{\"stdout\":\"\",\"bashEditDiff\":{\"files\":[{"
			"\"filePath\":\"/x.c\"}]}}",
			"", "/x.c", "", STATUS_OK, 0, true },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Bash\",\"tool_input\":{},\"tool_response\":{\"stdout\":"
			"\"half\",\"interrupted\":true}",
			"half", NULL, "", STATUS_FAILED, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Bash\",\"tool_input\":{},\"tool_response\":{\"stdout\":"
			"\"\",\"backgroundTaskId\":\"b1\"}",
			"", NULL, "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"n.txt\"},\"tool_"
			"response\":{\"type\":\"text\",\"file\":{\"filePath\":\"/home/ann/app/"
			"n.txt\",\"content\":\"one\"}}",
			"one", "/home/ann/app/n.txt", "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/"
			"p.png\"},\"tool_response\":{\"type\":\"image\",\"file\":{\"base64\":"
			"\"AAAA\"}}",
			"[image]", "/p.png", "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"/"
			"x.c\"},\"tool_response\":{\"filePath\":\"/"
			"x.c\",\"originalFile\":\"a\",\"structuredPatch\":[{\"oldStart\":1,"
			"\"oldLines\":1,\"newStart\":1,\"newLines\":1,\"lines\":[\"-a\",\"+b\"]}]}",
			"", "/x.c", "--- /x.c\n+++ /x.c\n@@ -1,1 +1,1 @@\n-a\n+b\n", STATUS_OK, -1,
			true },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"/"
			"n.c\",\"content\":\"x\\n\"},\"tool_response\":{\"type\":\"create\","
			"\"filePath\":\"/"
			"n.c\",\"content\":\"x\\n\",\"structuredPatch\":[],\"originalFile\":null}",
			"", "/n.c", "--- /dev/null\n+++ /n.c\n@@ -0,0 +1,1 @@\n+x\n", STATUS_OK, -1,
			true },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"mcp__m__t\",\"tool_input\":{},\"tool_response\":[{"
			"\"type\":\"text\",\"text\":\"r\"}]",
			"r", NULL, "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Agent\",\"tool_input\":{\"prompt\":\"p\"},\"tool_"
			"response\":{\"status\":\"completed\",\"content\":[{\"type\":\"text\","
			"\"text\":\"found\"}]}",
			"found", NULL, "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Skill\",\"tool_input\":{},\"tool_response\":{\"success\":"
			"true}",
			"{\"success\":true}", NULL, "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Grep\",\"tool_input\":{},\"tool_response\":{\"mode\":"
			"\"content\",\"filenames\":[],\"content\":\"a:1\"}",
			"a:1", NULL, "", STATUS_OK, -1, false },
		{ "claude", "PostToolUse",
			"\"tool_name\":\"Odd\",\"tool_input\":5,\"tool_response\":7", "", NULL, "",
			STATUS_OK, -1, false },
		{ "claude", "PostToolUseFailure",
			"\"tool_name\":\"Bash\",\"tool_input\":{},\"error\":\"Exit code "
			"3\\nto-out\"",
			"to-out", NULL, "", STATUS_FAILED, 3, false },
		{ "claude", "PostToolUseFailure",
			"\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/"
			"gone\"},\"error\":\"<tool_use_error>File does not "
			"exist.</tool_use_error>\"",
			"File does not exist.", "/gone", "", STATUS_FAILED, -1, false },
		{ "claude", "PostToolUseFailure",
			"\"tool_name\":\"Bash\",\"tool_input\":{},\"error\":\"The user doesn't "
			"want to proceed with this tool use. x\"",
			"The user doesn't want to proceed with this tool use. x", NULL, "",
			STATUS_DENIED, -1, false },
		{ "codex", "PostToolUse",
			"\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"tool_"
			"response\":\"a\\n\"",
			"a\n", NULL, "", STATUS_UNKNOWN, -1, false },
		{ "codex", "PostToolUse",
			"\"tool_name\":\"apply_patch\",\"tool_input\":{\"command\":\"*** Begin "
			"Patch\\n*** Update File: x.c\\n@@\\n-a\\n+b\\n*** End "
			"Patch\"},\"tool_response\":\"Exit code: 0\\nWall time: 0 "
			"seconds\\nOutput:\\nSuccess.\"",
			"Success.", "/home/ann/app/x.c", "--- x.c\n+++ x.c\n@@\n-a\n+b\n",
			STATUS_OK, 0, true },
		{ "codex", "PostToolUse",
			"\"tool_name\":\"mcp__m__t\",\"tool_input\":{},\"tool_response\":{"
			"\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}",
			"no", NULL, "", STATUS_FAILED, -1, false },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct capture c = read_hook(rows[i].agent, rows[i].event,
			arena_printf(&a, "{%s,\"tool_use_id\":\"t1\",%s}", COMMON, rows[i].input));
		const struct captured_event *e = only(&c, EVENT_TOOL);
		assert_string_equal(e->tool_use_id, "t1");
		assert_string_equal(text_of(e->output), rows[i].output);
		assert_string_equal(text_of(e->diff), rows[i].diff);
		assert_int_equal(e->status, rows[i].status);
		assert_int_equal(e->exit_code, rows[i].exit_code);
		assert_int_equal(e->nfiles, rows[i].file ? 1 : 0);
		assert_int_equal(e->writes_files, rows[i].writes);
		if (rows[i].file)
			assert_string_equal(e->files[0], rows[i].file);
	}
}

static void a_stop_brings_the_reply_and_asks_for_the_transcript(void **state)
{
	static const char *const agents_here[] = { "claude", "codex" };
	for (size_t i = 0; i < ARRAY_LEN(agents_here); i++) {
		struct capture c = read_hook(agents_here[i], "Stop",
			CLAUDE "\"turn_id\":\"p1\",\"stop_hook_active\":true,\"last_assistant_"
			       "message\":\"Done.\"}");
		assert_string_equal(text_of(only(&c, EVENT_REPLY)->text), "Done.");
		assert_string_equal(c.events[0].turn, "p1");
		assert_true(c.stops_turn && c.wants_transcript && !c.ends_session);
		c = read_hook(agents_here[i], "SessionEnd", CLAUDE "\"reason\":\"clear\"}");
		assert_string_equal(text_of(only(&c, EVENT_END)->text), "clear");
		assert_true(c.ends_session && c.wants_transcript);
		assert_string_equal(c.session.end_reason, "clear");
		assert_int_equal(c.session.ended_at, 1000);
	}
}

static void the_stop_of_the_compacting_agent_is_ignored(void **state)
{
	struct capture c = read_hook("claude", "SubagentStop",
		CLAUDE "\"agent_id\":\"c1\",\"agent_type\":\"\",\"last_assistant_message\":\"<"
		       "summary>\"}");
	assert_int_equal(c.nevents, 0);
	assert_false(c.wants_transcript);
	c = read_hook("claude", "SubagentStop",
		CLAUDE "\"agent_id\":\"c1\",\"agent_type\":\"general\",\"agent_transcript_path\":"
		       "\"/s.jsonl\",\"last_assistant_message\":\"Found.\"}");
	assert_string_equal(only(&c, EVENT_REPLY)->subagent, "c1");
	assert_string_equal(c.subagent_transcript, "/s.jsonl");
}

static void a_compaction_tells_its_summary_without_its_frame(void **state)
{
	struct capture c = read_hook("claude", "PostCompact",
		CLAUDE "\"trigger\":\"auto\",\"compact_summary\":\"<analysis>a</"
		       "analysis>\\n<summary>\\nThe parser.\\n</summary>\"}");
	assert_string_equal(text_of(only(&c, EVENT_COMPACTION)->text), "The parser.");
	assert_true(c.wants_transcript);
	c = read_hook("codex", "PostCompact", CODEX "\"trigger\":\"auto\"}");
	assert_int_equal(c.nevents, 0);
	assert_true(c.wants_transcript);
}

static void other_events_and_odd_inputs_give_nothing(void **state)
{
	struct spool_header h = { .event = "Stop" };
	struct capture c = read_hook("claude", "Notification", CLAUDE "\"message\":\"x\"}");
	assert_int_equal(c.nevents, 0);
	c = read_hook("claude", "Stop", "{\"last_assistant_message\":\"x\"}");
	assert_int_equal(c.nevents, 0);
	c = read_hook("codex", "UserPromptSubmit", CODEX "\"prompt\":7}");
	assert_int_equal(c.nevents, 0);
	json *j = NULL;
	struct err err = { 0 };
	assert_int_equal(json_parse("[1]", 3, &j, NULL), 0);
	assert_int_equal(agent_find("claude")->hook_read(&a, &h, j, &c, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	json_free(j);
}

static void questions_are_asked_at_start_and_prompt_of_a_person_only(void **state)
{
	assert_int_equal(
		ask("claude", "SessionStart", CLAUDE "\"source\":\"compact\"}"), ASK_START);
	assert_int_equal(ask("codex", "SessionStart", CODEX "\"source\":\"startup\"}"), ASK_START);
	assert_int_equal(
		ask("claude", "UserPromptSubmit", CLAUDE "\"prompt\":\"why?\"}"), ASK_PROMPT);
	assert_int_equal(
		ask("claude", "UserPromptSubmit", CLAUDE "\"prompt\":\"/clear\"}"), ASK_NONE);
	assert_int_equal(
		ask("codex", "UserPromptSubmit", CODEX "\"agent_id\":\"g\",\"prompt\":\"x\"}"),
		ASK_NONE);
	assert_int_equal(ask("claude", "SessionStart", "{\"session_id\":\"s\"}"), ASK_START);
	assert_int_equal(ask("claude", "SessionStart", "{}"), ASK_NONE);
	assert_int_equal(ask("claude", "Stop", CLAUDE "\"x\":1}"), ASK_NONE);
}

struct tool_case {
	const char *event, *input;
	enum ask_kind kind;
	const char *file;
};

static void check_tools(
	const char *agent, const char *common, const struct tool_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *input = NULL;
		assert_true(asprintf(&input, "%s%s", common, cases[i].input) > 0);
		if (ask(agent, cases[i].event, input) != cases[i].kind)
			fail_msg("%s %s", cases[i].event, cases[i].input);
		if (cases[i].file)
			assert_string_equal(asked.file, cases[i].file);
		free(input);
	}
}

static void tools_ask_by_what_they_are_about_to_do(void **state)
{
	static const struct tool_case cases[] = {
		{ "PreToolUse", "\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/a.c\"}}", ASK_FILE, "/a.c" },
		{ "PreToolUse", "\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"/a.c\"}}", ASK_EDIT, "/a.c" },
		{ "PreToolUse", "\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"/a.c\"}}", ASK_EDIT, "/a.c" },
		{ "PreToolUse", "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make\"}}", ASK_COMMAND, NULL },
		{ "PreToolUse", "\"tool_name\":\"Glob\",\"tool_input\":{\"pattern\":\"*\"}}", ASK_NONE, NULL },
		{ "PreToolUse", "\"tool_name\":\"Read\",\"tool_input\":{}}", ASK_NONE, NULL },
		{ "PreToolUse", "\"tool_name\":\"Read\",\"tool_input\":7}", ASK_NONE, NULL },
		{ "PreToolUse", "\"x\":1}", ASK_NONE, NULL },
		{ "PostToolUseFailure",
			"\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make\"},\"error\":\"Exit code 2\"}",
			ASK_FAILURE, NULL },
		{ "PostToolUseFailure", "\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/a\"},\"error\":\"x\"}",
			ASK_NONE, NULL },
	};

	check_tools("claude", CLAUDE, cases, ARRAY_LEN(cases));
}

#define SHELL(command) "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"" command "\"}"
#define PATCH(file) \
	"\"tool_name\":\"apply_patch\",\"tool_input\":{\"command\":\"*** Begin Patch\\n*** Update File: " file \
	"\\n@@\\n-a\\n+b\\n*** End Patch\\n\"}}"

static void codex_asks_with_shell_commands_and_patches(void **state)
{
	static const struct tool_case cases[] = {
		{ "PreToolUse", PATCH("src/a.c"), ASK_EDIT, "/home/ann/app/src/a.c" },
		{ "PreToolUse", "\"tool_name\":\"apply_patch\",\"tool_input\":{\"command\":\"nothing\"}}", ASK_NONE, NULL },
		{ "PreToolUse", SHELL("cat notes.txt") "}", ASK_FILE, "/home/ann/app/notes.txt" },
		{ "PreToolUse", SHELL("sed -n 1,200p src/a.c") "}", ASK_FILE, "/home/ann/app/src/a.c" },
		{ "PreToolUse", SHELL("nl -ba '/x/b.py'") "}", ASK_FILE, "/x/b.py" },
		{ "PreToolUse", SHELL("sed -i s/a/b/ src/a.c") "}", ASK_COMMAND, NULL },
		{ "PreToolUse", SHELL("cat a.txt | sort") "}", ASK_COMMAND, NULL },
		{ "PreToolUse", SHELL("cat > a.txt") "}", ASK_COMMAND, NULL },
		{ "PreToolUse", SHELL("head -20") "}", ASK_COMMAND, NULL },
		{ "PreToolUse", SHELL("make check") "}", ASK_COMMAND, NULL },
		{ "PreToolUse", "\"agent_id\":\"g\"," SHELL("make check") "}", ASK_NONE, NULL },
		{ "PreToolUse", "\"tool_name\":\"spawn_agent\",\"tool_input\":{\"message\":\"x\"}}", ASK_NONE, NULL },
		{ "PreToolUse", "\"tool_name\":\"Bash\",\"tool_input\":7}", ASK_NONE, NULL },
		{ "PostToolUse", SHELL("make check") ",\"tool_response\":\"a.c:1: error: x\"}", ASK_FAILURE, NULL },
		{ "PostToolUse", SHELL("make check") ",\"tool_response\":\"\"}", ASK_NONE, NULL },
		{ "PostToolUse", SHELL("cat log.txt") ",\"tool_response\":\"error: x\"}", ASK_NONE, NULL },
		{ "PostToolUse", "\"tool_name\":\"mcp__m__x\",\"tool_input\":{},\"tool_response\":{\"content\":[]}}", ASK_NONE, NULL },
	};

	check_tools("codex", CODEX, cases, ARRAY_LEN(cases));
}

/* What the real Codex gave its hooks. */
static void recorded_calls_ask_what_they_are_about(void **state)
{
	AUTO(buf_done) struct buf file = { 0 };
	struct str rest, line;
	size_t n[ASK_KIND_COUNT] = { 0 };

	assert_int_equal(file_read("tests/data/recorded/codex-c1/hooks.jsonl", 1 << 20, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		json *j = NULL;
		struct spool_header h = { 0 };
		if (!line.n)
			continue;
		assert_int_equal(json_parse(line.p, line.n, &j, NULL), 0);
		snprintf(h.event, sizeof(h.event), "%s", json_str(j, "event"));
		agent_find("codex")->ask_read(&a, &h, json_get(j, "payload"), &asked);
		n[asked.kind]++;
		if (asked.kind == ASK_FILE)
			assert_true(str_ends(asked.file, "/repo/notes.txt"));
		json_free(j);
	}
	assert_true(n[ASK_FILE] >= 1 && n[ASK_COMMAND] >= 1 && n[ASK_FAILURE] >= 1 && n[ASK_START] >= 1);
}

static const char *answer(const char *agent, const char *event, const char *text)
{
	AUTO(buf_done) struct buf b = { 0 };
	agent_find(agent)->answer(event, text, &b);
	return arena_str(&a, buf_cstr(&b));
}

static void an_answer_has_exactly_the_keys_that_agents_know(void **state)
{
	assert_string_equal(answer("claude", "SessionStart", "a \"b\"\n"),
		"{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":"
		"\"a \\\"b\\\"\\n\"}}\n");
	assert_string_equal(answer("codex", "UserPromptSubmit", "x"),
		"{\"hookSpecificOutput\":{\"hookEventName\":\"UserPromptSubmit\","
		"\"additionalContext\":\"x\"}}\n");
	assert_string_equal(answer("claude", "Stop", "x"), "");
	assert_string_equal(answer("codex", "Stop", "x"), "");
	assert_string_equal(answer("claude", "SessionStart", ""), "");
	assert_string_equal(answer("codex", "SessionStart", NULL), "");
}

static void an_answer_is_cut_at_what_the_agent_takes(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (int i = 0; i < 6000; i++)
		buf_str(&b, "\xF0\x9F\x98\x80"); /* two UTF-16 units, four bytes */
	const char *claude = strstr(answer("claude", "SessionStart", b.data), "\xF0");
	const char *codex = strstr(answer("codex", "SessionStart", b.data), "\xF0");
	assert_int_equal(strchr(claude, '"') - claude, 4 * 5000);
	assert_int_equal(strchr(codex, '"') - codex, 10000);
}

static void agents_are_found_by_name(void **state)
{
	assert_null(agent_find("nobody"));
	assert_null(agent_find(NULL));
	assert_ptr_equal(agent_by_id(AGENT_CODEX), agent_find("codex"));
	assert_null(agent_by_id(AGENT_NONE));
	for (size_t i = 0; agents[i]; i++)
		assert_string_equal(agents[i]->name, agent_names[agents[i]->id]);
	assert_null(agent_hook_find(agent_find("codex"), "PostToolUseFailure"));
	assert_int_equal(agent_hook_find(agent_find("codex"), "SessionEnd")->timeout_s, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_says_where_and_how),
		cmocka_unit_test(a_prompt_has_its_turn),
		cmocka_unit_test(a_sub_agents_task_is_no_prompt_of_a_person),
		cmocka_unit_test(tool_responses_are_read_in_every_shape),
		cmocka_unit_test(a_stop_brings_the_reply_and_asks_for_the_transcript),
		cmocka_unit_test(the_stop_of_the_compacting_agent_is_ignored),
		cmocka_unit_test(a_compaction_tells_its_summary_without_its_frame),
		cmocka_unit_test(other_events_and_odd_inputs_give_nothing),
		cmocka_unit_test(questions_are_asked_at_start_and_prompt_of_a_person_only),
		cmocka_unit_test(tools_ask_by_what_they_are_about_to_do),
		cmocka_unit_test(codex_asks_with_shell_commands_and_patches),
		cmocka_unit_test(recorded_calls_ask_what_they_are_about),
		cmocka_unit_test(an_answer_has_exactly_the_keys_that_agents_know),
		cmocka_unit_test(an_answer_is_cut_at_what_the_agent_takes),
		cmocka_unit_test(agents_are_found_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, clean);
}
