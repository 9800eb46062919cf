/*
 * Transcripts to events, against listings in tests/data/agents: NAME.jsonl is read, NAME.events says what must come out, one
 * event a line. Each is read twice, the second time with the reader saved and made anew before every line. To accept a
 * changed listing: AGENTS_ACCEPT=1.
 */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent.h"
#include "agents/captures.h"
#include "agents/line_look.h"
#include "agents/pending.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

static const char *const status_words[] = { "unknown", "ok", "failed", "denied" };

static void show(struct buf *out, const char *name, struct str s)
{
	if (!s.n)
		return;
	buf_printf(out, " %s=\"", name);
	for (size_t i = 0; i < s.n; i++)
		buf_str(out, s.p[i] == '\n' ? "\\n" : (char[]){ s.p[i], 0 });
	buf_char(out, '"');
}

static void show_event(struct buf *out, uint64_t n, const struct captured_event *e)
{
	buf_printf(out, "%llu %s%s", (unsigned long long)n, event_kind_names[e->kind],
		e->is_meta ? " meta" : "");
	buf_printf(out, " at=%lld id=%s", (long long)(e->at % 1000000), e->id ? e->id : "-");
	if (e->turn)
		buf_printf(out, " turn=%s", e->turn + strlen(e->turn) - 2);
	if (e->subagent)
		buf_printf(out, " sub=%s", e->subagent);
	if (e->kind == EVENT_TOOL)
		buf_printf(out, " %s %s %s exit=%d", e->tool ? e->tool : "-", e->tool_use_id,
			status_words[e->status], e->exit_code);
	for (size_t i = 0; i < e->nfiles; i++)
		buf_printf(out, " %s:%s", e->writes_files ? "writes" : "reads", e->files[i]);
	show(out, "text", e->text);
	show(out, "input", e->input);
	show(out, "output", e->output);
	show(out, "diff", e->diff);
	if (e->usage_id)
		buf_printf(out, " tokens=%lld/%lld/%lld/%lld of %s", (long long)e->tokens.input,
			(long long)e->tokens.output, (long long)e->tokens.cache_read,
			(long long)e->tokens.cache_write, e->usage_id);
	buf_char(out, '\n');
}

static void show_session(struct buf *out, const struct captured_session *s, const char *title)
{
	buf_printf(out,
		"session %s %s cwd=%s branch=%s model=%s title=%s parent=%s headless=%d file=%s\n",
		agent_names[s->agent], s->agent_session, s->cwd ? s->cwd : "-",
		s->branch ? s->branch : "-", s->model ? s->model : "-", title,
		s->parent ? s->parent : "-", s->is_headless, s->transcript_path ? "yes" : "no");
}

/* Reads a whole transcript into a listing. */
static void list(const char *file, const char *path, bool is_resumed, struct buf *out)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	struct arena a = { 0 }, last = { 0 };
	char title[200] = "-";
	assert_int_equal(file_read(file, 1 << 20, &text, &err), 0);
	const struct agent *agent = agent_of_transcript(path, buf_cstr(&text), text.len);
	assert_non_null(agent);
	struct transcript_reader *r = agent->reader_new(path, NULL);
	struct str rest = { buf_cstr(&text), text.len }, line;
	struct capture c = { 0 };
	for (uint64_t n = 1; str_line(&rest, &line); n++) {
		json *j = NULL;
		if (!agent->line_is_wanted(line.p, line.n))
			continue;
		assert_int_equal(json_parse(line.p, line.n, &j, &err), 0);
		if (is_resumed) {
			AUTO(buf_done) struct buf state = { 0 };
			agent->reader_save(r, &state);
			agent->reader_free(r);
			r = agent->reader_new(path, buf_cstr(&state));
		}
		c = (struct capture){ 0 };
		assert_int_equal(agent->reader_line(r, &a, j, n, &c, &err), 0);
		json_free(j);
		if (c.session.title)
			snprintf(title, sizeof(title), "%s", c.session.title);
		for (size_t i = 0; i < c.nevents; i++)
			show_event(out, n, &c.events[i]);
	}
	show_session(out, &c.session, title);
	agent->reader_free(r);
	arena_done(&a);
	arena_done(&last);
	buf_done(&text);
}

static void check(const char *name, const char *path)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	const char *file = arena_printf(&a, "tests/data/agents/%s.jsonl", name);
	const char *expected_path = arena_printf(&a, "tests/data/agents/%s.events", name);
	AUTO(buf_done) struct buf whole = { 0 };
	AUTO(buf_done) struct buf resumed = { 0 };
	AUTO(buf_done) struct buf expected = { 0 };
	list(file, path ? path : file, false, &whole);
	list(file, path ? path : file, true, &resumed);
	assert_string_equal(buf_cstr(&resumed), buf_cstr(&whole));
	if (getenv("AGENTS_ACCEPT"))
		assert_int_equal(file_write(expected_path, whole.data, whole.len, 0644, &err), 0);
	assert_int_equal(file_read(expected_path, 1 << 20, &expected, &err), 0);
	assert_string_equal(buf_cstr(&whole), buf_cstr(&expected));
	arena_done(&a);
}

static void claude_2_1_is_read(void **state)
{
	check("claude-2.1", NULL);
}

static void claude_1_0_with_side_chains_is_read(void **state)
{
	check("claude-1.0", NULL);
}

static void a_sub_agents_file_belongs_to_its_parents_session(void **state)
{
	check("claude-subagent",
		"/home/ann/.claude/projects/-home-ann-parser/11111111-2222-4333-8444-555555555555/"
		"subagents/agent-a59ae4151a95cdb6c.jsonl");
}

static void codex_0_171_is_read(void **state)
{
	check("codex-0.171", NULL);
}

static void a_sub_agents_rollout_belongs_to_its_parents_session_and_turn(void **state)
{
	check("codex-subagent", NULL);
}

static void codex_0_140_is_read(void **state)
{
	check("codex-0.140", NULL);
}

static void codex_0_2_is_read(void **state)
{
	check("rollout-codex-0.2", NULL);
}

static void factory_is_read(void **state)
{
	check("factory", NULL);
}

static void lines_that_nobody_needs_are_told_by_their_first_bytes(void **state)
{
	static const struct {
		const char *agent, *line;
		bool is_wanted;
	} rows[] = {
		{ "claude", "{\"type\":\"file-history-snapshot\",\"x\":", false },
		{ "claude",
			"{\"parentUuid\":null,\"a\":{\"type\":\"user\",\"b\":[\"]\\\"\"]},\"type\":"
			"\"progress\"",
			false },
		{ "claude", "{ \"type\" : \"api-request-blob\"", false },
		{ "claude", "{\"attachment\":{\"type\":\"prompt_snapshot\",\"type2\":1", false },
		{ "claude",
			"{\"attachment\":{\"type\":\"queued_command\"},\"type\":\"attachment\"}",
			true },
		{ "claude", "{\"type\":\"something-new\"}", true },
		{ "claude", "{\"message\":{\"type\":\"progress\"},\"type\":\"assistant\"", true },
		{ "claude", "{\"message\":\"cut off", true },
		{ "claude", "garbage", true },
		{ "claude", "", true },
		{ "codex",
			"{\"timestamp\":\"x\",\"type\":\"response_item\",\"payload\":{\"type\":"
			"\"reasoning\",",
			false },
		{ "codex", "{\"timestamp\":\"x\",\"type\":\"world_state\",\"payload\":{\"full\"",
			false },
		{ "codex",
			"{\"timestamp\":\"x\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_"
			"message\"",
			true },
		{ "factory", "{\"type\":\"todo_state\"", false },
		{ "factory", "{\"type\":\"message\"", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct agent *agent = agent_find(rows[i].agent);
		if (agent->line_is_wanted(rows[i].line, strlen(rows[i].line)) != rows[i].is_wanted)
			fail_msg("%s: %s", rows[i].agent, rows[i].line);
	}
}

static void a_file_of_nobody_is_recognised_by_nobody(void **state)
{
	static const char *const heads[] = { "", "hello", "{}", "[1]", "{\"a\":\"payload\"}" };
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		assert_null(agent_of_transcript("/x/notes.jsonl", heads[i], strlen(heads[i])));
	assert_null(agent_of_transcript("/x/.claude/a.txt", "{\"sessionId\":1,\"type\"", 20));
}

/* Any JSON at all may stand on a line: random values where members are read never crash a reader. */
static void random_value(struct buf *b, uint64_t *seed, int depth)
{
	static const char *const keys[] = { "type", "message", "content", "payload", "item", "id",
		"call_id", "output", "role", "tool_use_id", "toolUseResult", "attachment", "usage",
		"arguments", "name", "text", "uuid", "sessionId", "changes", "timestamp",
		"isSidechain", "parentUuid", "prompt", "structuredPatch", "lines", "info",
		"last_token_usage", "command", "input", "status", "exit_code", "result", "file",
		"stdout" };
	static const char *const atoms[] = { "1", "-9223372036854775808", "1e999", "true", "null",
		"\"\"", "\"user\"", "\"assistant\"", "\"tool_result\"", "\"tool_use\"",
		"\"response_item\"", "\"event_msg\"", "\"item_completed\"", "\"function_call\"",
		"\"function_call_output\"", "\"message\"", "\"t1\"", "\"apply_patch\"",
		"\"write_stdin\"", "\"Edit\"", "\"Bash\"",
		"\"*** Begin Patch\\n*** Add File: x\\n\"", "\"{\\\"session_id\\\":5}\"",
		"\"Exit code 99999999999\"", "\"\\u0000\"", "{}", "[]" };
	size_t what = unit_below(seed, depth > 5 ? 1 : 4);
	if (what < 1) {
		buf_str(b, atoms[unit_below(seed, ARRAY_LEN(atoms))]);
		return;
	}
	size_t n = unit_below(seed, 5);
	buf_char(b, what < 3 ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		buf_str(b, i ? "," : "");
		if (what < 3)
			buf_printf(b, "\"%s\":", keys[unit_below(seed, ARRAY_LEN(keys))]);
		random_value(b, seed, depth + 1);
	}
	buf_char(b, what < 3 ? '}' : ']');
}

static void any_json_is_survived(void **state)
{
	uint64_t seed = 7;
	for (size_t k = 0; agents[k]; k++) {
		struct transcript_reader *r = agents[k]->reader_new(
			"/x/y.jsonl", "{\"pending\":[{}],\"chains\":5,\"queue\":[{}]}");
		for (uint64_t n = 1; n < 4000; n++) {
			AUTO(buf_done) struct buf b = { 0 };
			struct arena a = { 0 };
			struct capture c = { 0 };
			struct ask ask;
			struct err err = { 0 };
			json *j = NULL;
			random_value(&b, &seed, 0);
			assert_int_equal(json_parse(buf_cstr(&b), b.len, &j, &err), 0);
			agents[k]->reader_line(r, &a, j, n, &c, &err);
			struct spool_header h = { .at = 5 };
			const struct agent_hook *hooks =
				agents[k]->hooks ? agents[k]->hooks : agents[0]->hooks;
			snprintf(h.event, sizeof(h.event), "%s", hooks[n % 8].event);
			c = (struct capture){ 0 };
			agents[k]->hook_read(&a, &h, j, &c, &err);
			agents[k]->ask_read(&a, &h, j, &ask);
			json_free(j);
			arena_done(&a);
		}
		agents[k]->reader_free(r);
	}
}

static void at_most_so_many_unanswered_calls_are_remembered(void **state)
{
	struct pending p = { 0 };
	for (int i = 0; i < PENDING_MAX + 10; i++) {
		char id[20];
		snprintf(id, sizeof(id), "t%d", i);
		struct captured_event e = { .tool_use_id = id, .tool = "Bash" };
		pending_add(&p, &e);
	}
	assert_int_equal(p.n, PENDING_MAX);
	assert_null(pending_find(&p, "t9"));
	assert_non_null(pending_find(&p, "t10"));
	pending_done(&p);
}

static void a_huge_input_is_cut_and_stays_json(void **state)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	json *j = NULL, *again = NULL;
	uint64_t size = 0;
	buf_str(&b, "{\"file_path\":\"/x\",\"content\":\"");
	for (int i = 0; i < 100000; i++)
		buf_str(&b, "\\n\xC3\xA9");
	buf_str(&b, "\",\"tail\":true}");
	assert_int_equal(json_parse(b.data, b.len, &j, &err), 0);
	struct str s = capture_input(&a, j, &size);
	assert_true(s.n <= CAPTURE_INPUT_MAX);
	assert_true(size > 200000);
	assert_int_equal(json_parse(s.p, s.n, &again, &err), 0);
	assert_true(json_bool(again, "tail", false));
	json_free(j);
	json_free(again);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claude_2_1_is_read),
		cmocka_unit_test(claude_1_0_with_side_chains_is_read),
		cmocka_unit_test(a_sub_agents_file_belongs_to_its_parents_session),
		cmocka_unit_test(codex_0_171_is_read),
		cmocka_unit_test(a_sub_agents_rollout_belongs_to_its_parents_session_and_turn),
		cmocka_unit_test(codex_0_140_is_read),
		cmocka_unit_test(codex_0_2_is_read),
		cmocka_unit_test(factory_is_read),
		cmocka_unit_test(lines_that_nobody_needs_are_told_by_their_first_bytes),
		cmocka_unit_test(a_file_of_nobody_is_recognised_by_nobody),
		cmocka_unit_test(any_json_is_survived),
		cmocka_unit_test(at_most_so_many_unanswered_calls_are_remembered),
		cmocka_unit_test(a_huge_input_is_cut_and_stays_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
