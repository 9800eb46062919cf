#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/entity_find.h"

#define FILE_MAX (1u << 20)
#define EVENTS_MAX 16
#define WANTS_MAX 32
#define ROOT "/home/u/shop"

struct want {
	const char *kind,
		*name; /* kind "not": the name must be there under no kind; "nothing": no entity at all */
	int64_t n; /* 0: any */
};

struct entity_case {
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
		char next = s.p[i] == '\\' && i + 1 < s.n ? s.p[i + 1] : '\0';
		out[n++] = next == 'n' ? '\n' : next == 't' ? '\t' : s.p[i];
		i += next == 'n' || next == 't';
	}
	return out;
}

static const char *object_of(struct arena *a, const char *key, const char *value)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };

	jw_object(&w, NULL);
	jw_str(&w, key, value);
	jw_end(&w, '}');
	return arena_dup(a, b.data, b.len);
}

static void split_result(char *text, char **result)
{
	char *arrow = strstr(text, " => ");

	*result = NULL;
	if (arrow) {
		*arrow = '\0';
		*result = arrow + 4;
	}
}

static void set_file(struct arena *a, struct event *e, const char *path)
{
	const char **files = ARENA_ARRAY(a, const char *, 1);

	files[0] = path_clean(a, ROOT, path);
	e->files = files;
	e->nfiles = 1;
}

static void set_call(struct arena *a, struct event *e, const char *word, char *text)
{
	char *result;

	e->kind = EVENT_TOOL;
	e->status = STATUS_OK;
	split_result(text, &result);
	if (strcmp(word, "read") == 0) {
		e->tool = "Read";
		set_file(a, e, text);
		e->output = result;
	} else if (strcmp(word, "write") == 0) {
		e->tool = "Write";
		set_file(a, e, text);
		e->writes_files = true;
		e->input = object_of(a, "content", result);
	} else if (strcmp(word, "diff") == 0) {
		e->tool = "Edit";
		set_file(a, e, text);
		e->writes_files = true;
		e->diff = result;
	} else if (strcmp(word, "fetch") == 0) {
		e->tool = "WebFetch";
		e->input = object_of(a, "url", text);
	} else {
		e->tool = "Bash";
		e->input = object_of(a, "command", text);
		e->output = result;
		e->status = strcmp(word, "fail") == 0 ? STATUS_FAILED : STATUS_OK;
		e->exit_code = strcmp(word, "fail") == 0 ? 1 : 0;
	}
}

static void add_event(struct arena *a, struct entity_case *c, const char *word, char *text)
{
	struct event *e = &c->events[c->n++];

	assert_true(c->n <= EVENTS_MAX);
	*e = (struct event){
		.id = (int64_t)c->n, .at = 1000 * (int64_t)c->n, .cwd = ROOT, .exit_code = -1
	};
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

static void add_want(struct entity_case *c, const char *word, char *text)
{
	struct want *w = &c->wants[c->nwants++];

	assert_true(c->nwants <= WANTS_MAX);
	*w = (struct want){ .kind = word };
	if (strcmp(word, "want") == 0)
		w->kind = strsep(&text, " ");
	w->name = text ? strsep(&text, " ") : "";
	w->n = text ? text[0] - '0' : 0;
}

static void run(
	struct arena *a, const struct event *events, size_t n, struct mention **ret, size_t *ret_n)
{
	static const struct project project = { .id = 3, .root = ROOT, .name = "shop" };
	const struct rules_input in = { .project = &project, .events = events, .n = n };

	entities_run(a, &in, ret, ret_n);
}

static unsigned check(const struct entity_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct mention *list;
	size_t n, wanted = 0;
	unsigned wrong = 0;

	run(&a, c->events, c->n, &list, &n);
	for (size_t i = 0; i < c->nwants; i++) {
		const struct want *w = &c->wants[i];
		bool is_not = strcmp(w->kind, "not") == 0, is_found = false;
		for (size_t k = 0; k < n && strcmp(w->kind, "nothing") != 0; k++)
			is_found |=
				strcmp(list[k].name, w->name) == 0 &&
				(is_not || strcmp(entity_kind_names[list[k].kind], w->kind) == 0) &&
				(!w->n || w->n == list[k].n);
		wanted +=
			!is_not && strcmp(w->kind, "nothing") != 0 && strcmp(w->kind, "more") != 0;
		if (strcmp(w->kind, "more") == 0)
			wanted = n;
		else if (strcmp(w->kind, "nothing") == 0 ? n > 0 : is_found == is_not) {
			fprintf(stderr, "%s: %s %s\n", c->title, w->kind, w->name);
			wrong++;
		}
	}
	if (n != wanted || wrong) {
		fprintf(stderr, "%s: %zu wanted, %zu found:", c->title, wanted, n);
		for (size_t k = 0; k < n; k++)
			fprintf(stderr, " %s %s %lld,", entity_kind_names[list[k].kind],
				list[k].name, (long long)list[k].n);
		fprintf(stderr, "\n");
		wrong++;
	}
	return wrong;
}

typedef void case_fn(void *ctx, const struct entity_case *c);

static unsigned each_case(case_fn *each, void *ctx)
{
	static const char *const wants[] = { "want", "not", "nothing", "more" };
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf file = { 0 };
	struct entity_case c = { 0 };
	struct str rest, line;
	unsigned n = 0;

	assert_int_equal(file_read("tests/data/entity.cases", FILE_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		char *text = unfold(&a, line), *word = strsep(&text, " ");
		bool is_want = false;
		if (!*word || *word == '#')
			continue;
		for (size_t i = 0; i < ARRAY_LEN(wants); i++)
			is_want |= strcmp(word, wants[i]) == 0;
		if (strcmp(word, "case") == 0) {
			if (c.title)
				each(ctx, &c);
			c = (struct entity_case){ .title = text };
			n++;
		} else if (is_want) {
			add_want(&c, word, text);
		} else {
			add_event(&a, &c, word, text);
		}
	}
	each(ctx, &c);
	return n;
}

static void count_wrong(void *ctx, const struct entity_case *c)
{
	*(unsigned *)ctx += check(c);
}

static void every_turn_of_the_file_mentions_the_entities_it_says_and_no_others(void **state)
{
	unsigned wrong = 0;

	assert_true(each_case(count_wrong, &wrong) >= 40);
	assert_int_equal(wrong, 0);
}

static int64_t count_of(const struct mention *list, size_t n, const struct mention *m)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == m->kind && strcmp(list[i].name, m->name) == 0)
			return list[i].n;
	return 0;
}

/* Each event in a turn of its own, in reverse: the counts add up to those of the whole. */
static void check_split(void *ctx, const struct entity_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct mention *whole, *part;
	size_t n, m;
	int64_t sum = 0, all = 0;

	run(&a, c->events, c->n, &whole, &n);
	for (size_t i = 0; i < n; i++)
		all += whole[i].n;
	for (size_t i = c->n; i-- > 0;) {
		run(&a, &c->events[i], 1, &part, &m);
		for (size_t k = 0; k < m; k++) {
			assert_int_equal(part[k].n, 1);
			assert_true(count_of(whole, n, &part[k]) > 0);
		}
		sum += (int64_t)m;
	}
	assert_int_equal(sum, all);
}

static void counts_do_not_depend_on_how_events_are_dealt_to_turns(void **state)
{
	each_case(check_split, NULL);
}

static void names_are_sorted_and_their_other_spellings_lead_to_names_of_their_own(void **state)
{
	for (size_t i = 1; i < known_names_n; i++)
		assert_true(strcmp(known_names[i - 1].name, known_names[i].name) < 0);
	for (size_t i = 1; i < extension_languages_n; i++)
		assert_true(
			strcmp(extension_languages[i - 1].name, extension_languages[i].name) < 0);
	for (size_t i = 0; i < name_aliases_n; i++) {
		assert_true(!i || strcmp(name_aliases[i - 1].name, name_aliases[i].name) < 0);
		assert_string_equal(name_canonical(name_aliases[i].value), name_aliases[i].value);
		assert_null(name_known(name_aliases[i].name));
	}
	for (size_t k = 0; k < WORD_LIST_COUNT; k++)
		for (size_t i = 1; i < word_lists[k].n; i++)
			assert_true(strcmp(word_lists[k].words[i - 1], word_lists[k].words[i]) < 0);
}

static void a_text_names_an_entity_by_whole_words_and_other_spellings(void **state)
{
	assert_true(entity_is_named(STR("Moved to Postgres 16"), "postgresql"));
	assert_true(entity_is_named(STR("run pytest, then mypy"), "pytest"));
	assert_false(entity_is_named(STR("forgotten"), "go"));
	assert_false(entity_is_named(STR("go_test"), "go"));
	assert_true(entity_is_named(STR("in Go."), "go"));
	assert_true(entity_is_named(STR("run `go vet ./...`"), "go"));
	assert_true(entity_is_named(STR("[{\"command\":\"go test\"}]"), "go"));
	assert_false(entity_is_named(STR("He said \"go ahead\" and:\n- Go to the page"), "go"));
	assert_false(entity_is_named(STR(""), "go"));
}

static void broken_events_are_survived(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	static const char *const files[] = { "/", "", "x." };
	const struct event events[] = {
		{ .kind = EVENT_TOOL },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\"cat <<\"}" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\"sudo -u\"}" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\"npm install -r\"}" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\"docker run -e\"}" },
		{ .kind = EVENT_TOOL,
			.tool = "Bash",
			.input = "{\"command\":\"bash -c \\\"bash -c 'a\"}" },
		{ .kind = EVENT_TOOL,
			.tool = "Bash",
			.input = "{\"command\":\"a 'b \\\\\"}",
			.output = "x" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\")) ( <( \\\\\"}" },
		{ .kind = EVENT_TOOL, .tool = "Bash", .input = "{\"command\":\"python -m\"}" },
		{ .kind = EVENT_TOOL,
			.tool = "Edit",
			.files = files,
			.nfiles = 3,
			.writes_files = true,
			.diff = "+++ b/\n+import x\n+++ \n+" },
		{ .kind = EVENT_TOOL,
			.tool = "Read",
			.files = files + 1,
			.nfiles = 1,
			.output = "" },
		{ .kind = EVENT_PROMPT, .text = "``` http:// localhost: ://x" },
		{ .kind = EVENT_REPLY, .text = "" },
	};
	struct mention *list;
	size_t n;

	run(&a, events, ARRAY_LEN(events), &list, &n);
	for (size_t i = 0; i < n; i++)
		assert_true(list[i].name[0] != '\0');
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		run(&a, &events[i], 1, &list, &n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_turn_of_the_file_mentions_the_entities_it_says_and_no_others),
		cmocka_unit_test(counts_do_not_depend_on_how_events_are_dealt_to_turns),
		cmocka_unit_test(
			names_are_sorted_and_their_other_spellings_lead_to_names_of_their_own),
		cmocka_unit_test(a_text_names_an_entity_by_whole_words_and_other_spellings),
		cmocka_unit_test(broken_events_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
