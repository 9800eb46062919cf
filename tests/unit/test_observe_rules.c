#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/rules.h"
#include "text/snippet.h"

#define FILE_MAX (1u << 20)
#define EVENTS_MAX 32
#define WANTS_MAX 32
#define ROOT "/home/u/app"

struct want {
	bool is_field, must_lack;
	char *rule, *what, *text;
};

struct rules_case {
	char *title;
	struct event events[EVENTS_MAX];
	size_t n;
	struct want wants[WANTS_MAX];
	size_t nwants;
};

static char *unfold(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool is_break = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n';

		out[n++] = is_break ? '\n' : s.p[i];
		i += is_break;
	}
	return out;
}

static char *json_command(struct arena *a, const char *command)
{
	char *out = arena_alloc(a, strlen(command) * 2 + 20), *p = out;

	p = stpcpy(p, "{\"command\":\"");
	for (; *command; command++) {
		if (*command == '"' || *command == '\\')
			*p++ = '\\';
		*p++ = *command;
	}
	strcpy(p, "\"}");
	return out;
}

/* "WHAT => RESULT" */
static void split_result(char *text, char **result)
{
	char *arrow = strstr(text, " => ");

	*result = NULL;
	if (arrow) {
		*arrow = '\0';
		*result = arrow + 4;
	}
}

static void set_file(struct arena *a, struct event *e, const char *path, const char *tool)
{
	const char **files = ARENA_ARRAY(a, const char *, 1);

	files[0] = path_clean(a, ROOT, path);
	e->files = files;
	e->nfiles = 1;
	e->tool = tool;
}

static void set_call(struct arena *a, struct event *e, const char *word, char *text)
{
	char *result;

	e->kind = EVENT_TOOL;
	split_result(text, &result);
	e->output = result;
	if (strcmp(word, "read") == 0) {
		set_file(a, e, text, "Read");
	} else if (strcmp(word, "edit") == 0 || strcmp(word, "deny") == 0) {
		set_file(a, e, text, "Edit");
		e->writes_files = true;
	} else if (strcmp(word, "new") == 0) {
		set_file(a, e, text, "Write");
		e->writes_files = true;
		e->output = "File created";
	} else if (strcmp(word, "run") == 0 || strcmp(word, "fail") == 0) {
		e->tool = "Bash";
		e->input = json_command(a, text);
	} else if (strcmp(word, "ask") == 0) {
		e->tool = "AskUserQuestion";
		e->output = arena_printf(a,
			"User has answered your questions: \"%s\"=\"%s\". You can now continue.",
			text, result);
	} else {
		e->tool = "Task";
		e->text = text;
	}
	e->status = strcmp(word, "fail") == 0   ? STATUS_FAILED
		    : strcmp(word, "deny") == 0 ? STATUS_DENIED
						: STATUS_OK;
	e->exit_code = strcmp(word, "fail") == 0 ? 1 : 0;
	if (e->status == STATUS_DENIED)
		e->output = arena_printf(a,
			"The tool use was rejected. To tell you how to proceed, the user said:\n%s",
			result);
}

static void add_event(struct arena *a, struct rules_case *c, const char *word, char *text)
{
	struct event *e = &c->events[c->n++];

	assert_true(c->n <= EVENTS_MAX);
	*e = (struct event){ .id = (int64_t)c->n,
		.key = arena_printf(a, "k%02zu", c->n),
		.at = 1000 * (int64_t)c->n,
		.cwd = ROOT,
		.exit_code = -1 };
	if (strcmp(word, "prompt") == 0 || strcmp(word, "meta") == 0) {
		e->kind = EVENT_PROMPT;
		e->text = text;
		e->is_meta = word[0] == 'm';
	} else if (strcmp(word, "reply") == 0) {
		e->kind = EVENT_REPLY;
		e->text = text;
	} else {
		set_call(a, e, word, text);
	}
}

static void add_want(struct rules_case *c, const char *word, char *text)
{
	struct want *w = &c->wants[c->nwants++];

	assert_true(c->nwants <= WANTS_MAX);
	*w = (struct want){ .is_field = strcmp(word, "want") != 0,
		.must_lack = strcmp(word, "lacks") == 0 };
	w->rule = strsep(&text, " ");
	w->what = strsep(&text, " ");
	w->text = text;
}

static struct rules_output run(struct arena *a, const struct rules_case *c)
{
	static const struct turn turn = { .id = 1 };
	static const struct session session = { .id = 2, .cwd = ROOT, .branch = "main" };
	static const struct project project = { .id = 3, .root = ROOT };
	struct rules_input in = { &turn, &session, &project, c->events, c->n };
	struct rules_output out;

	rules_run(a, &in, &out);
	return out;
}

static const char *files_text(struct arena *a, const struct memory *m)
{
	const char *text = "";

	for (size_t i = 0; i < m->nfiles; i++)
		text = arena_printf(a, "%s %s%s", text,
			m->files[i].role == ROLE_MODIFIED ? "*" : "", m->files[i].path);
	return text;
}

static const char *field_of(struct arena *a, const struct memory *m, const char *name)
{
	const struct {
		const char *name, *value;
	} fields[] = {
		{ "title", m->title },
		{ "subtitle", m->subtitle },
		{ "body", m->body },
		{ "facts", m->facts },
		{ "concepts", m->concepts },
		{ "request", m->request },
		{ "investigated", m->investigated },
		{ "learned", m->learned },
		{ "completed", m->completed },
		{ "next_steps", m->next_steps },
		{ "notes", m->notes },
		{ "commands", m->commands },
		{ "commit", m->commit },
		{ "files", files_text(a, m) },
		{ "trust", trust_names[m->trust] },
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value ? fields[i].value : "";
	fail_msg("no field '%s'", name);
	return NULL;
}

static unsigned complain(const struct rules_case *c, const struct want *w, const char *got)
{
	fprintf(stderr, "%s: %s%s %s %s: got '%s'\n", c->title, w->must_lack ? "not " : "", w->rule,
		w->what, w->text, got);
	return 1;
}

static unsigned check_want(
	struct arena *a, const struct rules_case *c, const struct want *w, const struct memory *m)
{
	if (strcmp(m->rule, w->rule) != 0 ||
		(strcmp(w->what, "*") != 0 && strcmp(memory_type_names[m->type], w->what) != 0) ||
		(strcmp(w->text, "*") != 0 && strcmp(m->title, w->text) != 0))
		return complain(c, w,
			arena_printf(a, "%s %s %s", m->rule, memory_type_names[m->type], m->title));
	return 0;
}

static unsigned check_field(struct arena *a, const struct rules_case *c, const struct want *w,
	const struct rules_output *out)
{
	for (size_t i = 0; i < out->n; i++) {
		const char *value;

		if (strcmp(out->memories[i].rule, w->rule) != 0)
			continue;
		value = field_of(a, &out->memories[i], w->what);
		return (strstr(value, w->text) != NULL) == w->must_lack ? complain(c, w, value) : 0;
	}
	return complain(c, w, "no such memory");
}

static unsigned check(const struct rules_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct rules_output out = run(&a, c);
	size_t seen = 0;
	unsigned wrong = 0;

	for (size_t i = 0; i < c->nwants; i++) {
		const struct want *w = &c->wants[i];

		if (w->is_field)
			wrong += check_field(&a, c, w, &out);
		else if (seen < out.n)
			wrong += check_want(&a, c, w, &out.memories[seen++]);
		else
			wrong += complain(c, w, "nothing");
	}
	for (; seen < out.n; seen++, wrong++)
		fprintf(stderr, "%s: too many: %s '%s'\n", c->title, out.memories[seen].rule,
			out.memories[seen].title);
	return wrong;
}

static bool is_want(const char *word)
{
	return strcmp(word, "want") == 0 || strcmp(word, "has") == 0 || strcmp(word, "lacks") == 0;
}

typedef void case_fn(void *ctx, const struct rules_case *c);

static void each_case(case_fn *each, void *ctx)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf file = { 0 };
	struct rules_case c = { 0 };
	struct str rest, line;

	assert_int_equal(file_read("tests/data/rules.cases", FILE_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		char *text = unfold(&a, line), *word = strsep(&text, " ");

		if (!*word || *word == '#')
			continue;
		if (strcmp(word, "case") == 0) {
			if (c.title)
				each(ctx, &c);
			c = (struct rules_case){ .title = text };
		} else if (is_want(word)) {
			add_want(&c, word, text);
		} else {
			add_event(&a, &c, word, text);
		}
	}
	each(ctx, &c);
}

static void count_wrong(void *ctx, const struct rules_case *c)
{
	*(unsigned *)ctx += check(c);
}

static void every_turn_of_the_file_gives_the_memories_it_says(void **state)
{
	unsigned wrong = 0;

	each_case(count_wrong, &wrong);
	assert_int_equal(wrong, 0);
}

static void check_sound(void *ctx, const struct rules_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct rules_output out = run(&a, c), again = run(&a, c);

	assert_int_equal(out.n, again.n);
	for (size_t i = 0; i < out.n; i++) {
		const struct memory *m = &out.memories[i];

		assert_non_null(m->title);
		assert_non_null(m->slot);
		assert_string_equal(m->title, again.memories[i].title);
		assert_int_equal(m->origin, ORIGIN_RULES);
		assert_true(m->nevidence > 0 && m->at > 0);
		assert_int_equal(grapheme_cut(str_of(m->title), 90), strlen(m->title));
		for (size_t e = 0; e < m->nevidence; e++)
			assert_true(!m->evidence[e].excerpt ||
				    strlen(m->evidence[e].excerpt) <= EVIDENCE_EXCERPT_MAX);
		for (size_t j = 0; j < i; j++)
			assert_false(strcmp(m->rule, out.memories[j].rule) == 0 &&
				     strcmp(m->slot, out.memories[j].slot) == 0);
	}
}

static void memories_are_the_same_each_time_and_rest_on_evidence(void **state)
{
	each_case(check_sound, NULL);
}

static void no_events_give_no_memories(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct rules_input in = { 0 };
	struct rules_output out;

	rules_run(&a, &in, &out);
	assert_int_equal(out.n, 0);
}

static void broken_events_are_survived(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *const files[] = { "/", "" };
	const struct event events[] = {
		{ .id = 1, .kind = EVENT_TOOL },
		{ .id = 2,
			.kind = EVENT_TOOL,
			.tool = "Bash",
			.input = "{\"command\":",
			.exit_code = 2 },
		{ .id = 3,
			.kind = EVENT_TOOL,
			.tool = "shell",
			.input = "{\"command\":[\"bash\",\"-lc\",\"\"]}",
			.output = "[x 1234567] y" },
		{ .id = 4,
			.kind = EVENT_TOOL,
			.tool = "Edit",
			.files = files,
			.nfiles = 2,
			.writes_files = true,
			.status = STATUS_OK },
		{ .id = 5,
			.kind = EVENT_TOOL,
			.tool = "Bash",
			.input = "{\"command\":\"git commit -m x\"}",
			.output = "[] \n[a]\n[main 1234567] \n" },
		{ .id = 6, .kind = EVENT_TOOL, .tool = "AskUserQuestion", .output = "\"=\"" },
		{ .id = 7, .kind = EVENT_REPLY, .text = "" },
		{ .id = 8, .kind = EVENT_REPLY, .text = "```" },
		{ .id = 9, .kind = EVENT_PROMPT, .text = "/" },
		{ .id = 10, .kind = EVENT_COMPACTION },
	};
	struct rules_input in = { .events = events, .n = ARRAY_LEN(events) };
	struct rules_output out;

	rules_run(&a, &in, &out);
	for (size_t i = 0; i < out.n; i++)
		assert_non_null(out.memories[i].title);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_turn_of_the_file_gives_the_memories_it_says),
		cmocka_unit_test(memories_are_the_same_each_time_and_rest_on_evidence),
		cmocka_unit_test(no_events_give_no_memories),
		cmocka_unit_test(broken_events_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
