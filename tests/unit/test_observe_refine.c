#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/fact_merge.h"
#include "observe/fact_table.h"
#include "observe/refine.h"
#include "observe/refine_text.h"

/* tests/data/refine.cases says how its lines are read. */
#define FILE_MAX (1u << 20)
#define EVENTS_MAX 16
#define WANTS_MAX 24
#define ROOT "/home/u/app"
#define THRESHOLD .4

struct want {
	char *word, *text;
};

struct refine_case {
	char *title, *reply;
	const char *similar[4];
	size_t nsimilar;
	struct want wants[WANTS_MAX];
	size_t nwants;
};

struct unit_case {
	struct event events[EVENTS_MAX];
	size_t n;
};

static char *unfold(struct arena *a, const char *s)
{
	char *out = arena_alloc(a, strlen(s) + 1);
	size_t n = 0;

	for (; *s; s++) {
		bool is_break = s[0] == '\\' && s[1] == 'n';

		out[n++] = is_break ? '\n' : *s;
		s += is_break;
	}
	return out;
}

static char *split_result(struct arena *a, char *text)
{
	char *arrow = strstr(text, " => ");

	if (!arrow)
		return NULL;
	*arrow = '\0';
	return unfold(a, arrow + 4);
}

static void set_file(struct arena *a, struct event *e, const char *path)
{
	const char **files = ARENA_ARRAY(a, const char *, 1);

	files[0] = path_clean(a, ROOT, path);
	e->files = files;
	e->nfiles = 1;
}

static char *command_json(struct arena *a, const char *command)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	jw_object(&w, NULL);
	jw_str(&w, "command", command);
	jw_end(&w, '}');
	return arena_dup(a, out.data, out.len);
}

static void add_event(struct arena *a, struct unit_case *u, const char *word, char *text)
{
	struct event *e = &u->events[u->n++];
	char *result = split_result(a, text);

	assert_true(u->n <= EVENTS_MAX);
	*e = (struct event){ .id = (int64_t)u->n,
		.key = arena_printf(a, "k%02zu", u->n),
		.at = 1000 * (int64_t)u->n,
		.cwd = ROOT,
		.kind = EVENT_TOOL,
		.status = STATUS_OK,
		.exit_code = -1 };
	if (strcmp(word, "prompt") == 0 || strcmp(word, "reply") == 0) {
		e->kind = word[0] == 'p' ? EVENT_PROMPT : EVENT_REPLY;
		e->text = text;
	} else if (strcmp(word, "read") == 0) {
		e->tool = "Read";
		set_file(a, e, text);
	} else if (strcmp(word, "edit") == 0) {
		e->tool = "Edit";
		e->diff = result;
		e->writes_files = true;
		set_file(a, e, text);
	} else {
		e->tool = "Bash";
		e->input = command_json(a, text);
		e->output = result;
		e->exit_code = word[0] == 'f';
		e->status = word[0] == 'f' ? STATUS_FAILED : STATUS_OK;
	}
}

struct made {
	struct rules_input unit;
	struct rules_output rules;
	struct digest digest;
	struct mode mode;
	struct reply reply;
	struct refine_output out;
};

static void run(
	struct arena *a, const struct unit_case *u, const struct refine_case *c, struct made *m)
{
	static const struct turn turn = { .id = 1 };
	static const struct session session = { .id = 2, .cwd = ROOT, .branch = "main" };
	static const struct project project = { .id = 3, .name = "app", .root = ROOT };
	struct refine_input in = { .number = 1,
		.is_only_unit = true,
		.model = "small",
		.version = "observe/1 code",
		.threshold = THRESHOLD };

	m->unit = (struct rules_input){ &turn, &session, &project, u->events, u->n, NULL };
	rules_run(a, &m->unit, &m->rules);
	digest_make(a, &(struct digest_input){ &m->unit, &m->rules, 24000, 0 }, &m->digest);
	assert_int_equal(mode_load(a, NULL, "code", &m->mode, NULL), 0);
	reply_read(a, str_of(c->reply), false, &m->reply);
	in.unit = &m->unit;
	in.made = &m->rules;
	in.digest = &m->digest;
	in.reply = &m->reply;
	in.mode = &m->mode;
	in.similar = c->similar;
	in.nsimilar = c->nsimilar;
	refine_run(a, &in, &m->out);
}

static const char *all_text(struct arena *a, const struct made *m)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (size_t i = 0; i < m->out.n; i++) {
		const struct memory *y = &m->out.items[i].m;
		const char *texts[] = { y->title, y->subtitle, y->body, y->facts, y->concepts,
			y->request, y->learned, y->completed, y->next_steps, y->tally };

		for (size_t t = 0; t < ARRAY_LEN(texts); t++)
			buf_printf(&out, "%s\n", texts[t] ? texts[t] : "");
		for (size_t f = 0; f < y->nfiles; f++)
			buf_printf(&out, "file %s %s\n", file_role_names[y->files[f].role],
				y->files[f].path);
	}
	return arena_dup(a, buf_cstr(&out), out.len);
}

static unsigned complain(const struct refine_case *c, const struct want *w, const char *got)
{
	fprintf(stderr, "%s: %s %s: got '%s'\n", c->title, w->word, w->text, got);
	return 1;
}

static bool matches(char *pattern, const char *const *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *part = i + 1 < n ? strsep(&pattern, " ") : pattern;

		if (!part || (strcmp(part, "*") != 0 && strcmp(part, fields[i]) != 0))
			return false;
	}
	return true;
}

static unsigned check_memory(struct arena *a, const struct refine_case *c, const struct want *w,
	const struct made *m, size_t i)
{
	const struct refined *r = i < m->out.n ? &m->out.items[i] : NULL;
	const char *fields[4];

	if (!r)
		return complain(c, w, "nothing");
	fields[0] = r->refines ? r->refines : "-";
	fields[1] = memory_status_names[r->m.status];
	fields[2] = memory_type_names[r->m.type];
	fields[3] = r->m.title;
	if (matches(arena_str(a, w->text), fields, 4))
		return 0;
	return complain(
		c, w, arena_printf(a, "%s %s %s %s", fields[0], fields[1], fields[2], fields[3]));
}

static unsigned check_fact(struct arena *a, const struct refine_case *c, const struct want *w,
	const struct made *m, size_t i)
{
	const struct fact_candidate *f = i < m->out.ncandidates ? &m->out.candidates[i] : NULL;
	const char *fields[3];

	if (!f)
		return complain(c, w, "nothing");
	fields[0] = memory_type_names[f->category];
	fields[1] = trust_names[f->trust];
	fields[2] = f->title;
	if (matches(arena_str(a, w->text), fields, 3))
		return 0;
	return complain(c, w, arena_printf(a, "%s %s %s", fields[0], fields[1], fields[2]));
}

static unsigned check_count(
	struct arena *a, const struct refine_case *c, const struct want *w, const struct made *m)
{
	const struct refine_counts *n = &m->out.counts;
	const struct {
		const char *name;
		size_t value;
	} counts[] = { { "items", n->items }, { "claims", n->claims },
		{ "unsupported", n->unsupported }, { "removed", n->removed },
		{ "attribution", n->attribution }, { "off_list", n->off_list },
		{ "duplicates", n->duplicates }, { "about_us", n->about_us },
		{ "generic", n->generic }, { "unfounded", n->unfounded },
		{ "no_better", n->no_better } };
	char *text = arena_str(a, w->text), *name = strsep(&text, " ");

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (strcmp(counts[i].name, name) == 0)
			return strcmp(text, "*") == 0 || counts[i].value == (size_t)atol(text)
				       ? 0
				       : complain(c, w, arena_printf(a, "%zu", counts[i].value));
	fail_msg("no count '%s'", name);
	return 1;
}

static unsigned check(const struct unit_case *u, const struct refine_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct made m;
	size_t memories = 0, facts = 0;
	unsigned wrong = 0;
	const char *text;
	bool names_memories = false;
	char more[] = "nothing more";

	run(&a, u, c, &m);
	text = all_text(&a, &m);
	for (size_t i = 0; i < c->nwants; i++) {
		const struct want *w = &c->wants[i];

		if (strcmp(w->word, "want") == 0) {
			names_memories = true;
			wrong += check_memory(&a, c, w, &m, memories++);
		} else if (strcmp(w->word, "fact") == 0)
			wrong += check_fact(&a, c, w, &m, facts++);
		else if (strcmp(w->word, "count") == 0)
			wrong += check_count(&a, c, w, &m);
		else if ((strstr(text, w->text) != NULL) == (w->word[0] == 'l'))
			wrong += complain(c, w, text);
	}
	if ((names_memories && memories != m.out.n) || facts != m.out.ncandidates)
		wrong += complain(c, &(struct want){ more, more }, text);
	return wrong;
}

typedef void case_fn(void *ctx, const struct unit_case *u, const struct refine_case *c);

static void each_case(case_fn *each, void *ctx)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf file = { 0 };
	struct unit_case u = { 0 };
	struct refine_case c = { 0 };
	struct str rest, line;

	assert_int_equal(file_read("tests/data/refine.cases", FILE_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		char *text = arena_dup(&a, line.p, line.n), *word = strsep(&text, " ");

		if (!*word || *word == '#')
			continue;
		if (strcmp(word, "case") == 0 || strcmp(word, "unit") == 0) {
			if (c.title)
				each(ctx, &u, &c);
			c = (struct refine_case){ .title = word[0] == 'c' ? text : NULL };
			if (word[0] == 'u')
				u.n = 0;
		} else if (!c.title) {
			add_event(&a, &u, word, text);
		} else if (strcmp(word, "reply") == 0) {
			c.reply = text;
		} else if (strcmp(word, "similar") == 0) {
			c.similar[c.nsimilar++] = text;
		} else {
			assert_true(c.nwants < WANTS_MAX);
			c.wants[c.nwants++] = (struct want){ word, text };
		}
	}
	each(ctx, &u, &c);
}

static void count_wrong(void *ctx, const struct unit_case *u, const struct refine_case *c)
{
	*(unsigned *)ctx += check(u, c);
}

static void every_reply_of_the_file_becomes_the_memories_it_says(void **state)
{
	unsigned wrong = 0;

	each_case(count_wrong, &wrong);
	assert_int_equal(wrong, 0);
}

static const struct memory *rule_memory(const struct made *m, const char *refines)
{
	for (size_t i = 0; i < m->rules.n; i++) {
		const struct memory *r = &m->rules.memories[i];
		size_t n = strlen(r->rule);

		if (strncmp(refines, r->rule, n) == 0 && refines[n] == '/' &&
			strcmp(refines + n + 1, r->slot) == 0)
			return r;
	}
	fail_msg("'%s' names no memory of the rules", refines);
	return NULL;
}

static void check_sound(void *ctx, const struct unit_case *u, const struct refine_case *c)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct made m;

	run(&a, u, c, &m);
	for (size_t i = 0; i < m.out.n; i++) {
		const struct refined *r = &m.out.items[i];

		assert_string_equal(r->m.rule, REFINE_RULE);
		assert_true(str_starts(r->m.slot, "0."));
		assert_int_equal(r->m.origin, ORIGIN_MODEL);
		assert_string_equal(r->m.model, "small");
		assert_non_null(r->m.title);
		assert_true(r->m.turn == 1 && r->m.session == 2 && r->m.project == 3);
		assert_true(r->m.nevidence > 0 && r->m.at > 0);
		assert_true(r->m.confidence >= 0 && r->m.confidence <= 1);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(r->m.slot, m.out.items[k].m.slot);
			assert_false(r->refines && m.out.items[k].refines &&
				     strcmp(r->refines, m.out.items[k].refines) == 0);
		}
		if (r->refines) {
			const struct memory *rule = rule_memory(&m, r->refines);

			assert_int_equal(r->m.status, MEMORY_ACTIVE);
			assert_int_equal(r->m.kind, rule->kind);
			/* Files, commands and commit of the rule are facts and stay. */
			assert_true(r->m.nfiles >= rule->nfiles);
			assert_true(r->m.commands == rule->commands && r->m.commit == rule->commit);
			assert_true(!rule->body || r->m.body);
			assert_true(!rule->facts || r->m.facts);
		}
	}
	assert_int_equal(m.out.dropped + m.out.n + m.out.ncandidates, m.out.counts.items);
}

static void refined_memories_keep_what_the_rules_knew_and_rest_on_evidence(void **state)
{
	each_case(check_sound, NULL);
}

static void the_same_text_is_judged_by_its_names_and_numbers(void **state)
{
	static const struct {
		const char *x, *y;
		bool is_same;
	} rows[] = {
		{ "The server listens on port 8080", "Server listens on port 8080", true },
		{ "The server listens on port 8080", "The server listens on port 8081", false },
		{ "Tests are in tests/unit", "Tests are in tests/cli", false },
		{ "parseHeader drops empty values", "parse_header drops empty values", false },
		{ "Fixed the retry header", "Fixed the retry header", true },
		{ "Version 1.2.3 of the parser", "Version 1.2.4 of the parser", false },
		{ "Retry waits for the header", "Scheduler picks the oldest queue", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(text_is_same(rows[i].x, rows[i].y) == rows[i].is_same);
		assert_true(text_is_same(rows[i].y, rows[i].x) == rows[i].is_same);
	}
}

static void people_ask_and_assistants_act(void **state)
{
	static const struct {
		const char *text, *prompt;
		size_t wrong;
	} rows[] = {
		{ "The user ran the tests.", NULL, 1 },
		{ "The user successfully executed make.", NULL, 1 },
		{ "User edited a.c. The user then committed it.", NULL, 2 },
		{ "- The user fixed it\n- The user asked for it", NULL, 1 },
		{ "The user asked for a fix and wanted it quickly.", NULL, 0 },
		{ "The user decided on pnpm.", NULL, 0 },
		{ "Users run the tests.", NULL, 0 },
		{ "The assistant ran the tests.", NULL, 0 },
		{ "The user ran the tests.", "i ran the tests and they fail", 0 },
		{ "The user table has an index.", NULL, 0 },
		{ "L'utilisateur a lancé les tests.", NULL, 1 },
		{ "L'utilisateur a demandé une correction.", NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(
			text_misattributed(str_of(rows[i].text), rows[i].prompt), rows[i].wrong);
}

static void a_session_summary_is_grounded_in_the_summaries_of_its_units(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct evidence seen = { .event = 7, .role = "prompt" };
	struct memory units[] = {
		{ .id = 1,
			.kind = KIND_SUMMARY,
			.title = "Retry honours Retry-After",
			.at = 10,
			.request = "Fix the retry client",
			.completed = "retry_wait reads the header",
			.next_steps = "Document it",
			.evidence = &seen,
			.nevidence = 1 },
		{ .id = 2,
			.kind = KIND_SUMMARY,
			.title = "Documented retry_wait",
			.at = 20,
			.request = "Document it",
			.completed = "docs/retry.md tells of retry_wait" },
	};
	struct session session = { .id = 4, .project = 5, .branch = "main" };
	struct refine_session_input in = { .session = &session,
		.summaries = units,
		.n = 2,
		.model = "small",
		.version = "summary/1 code",
		.threshold = THRESHOLD };
	struct digest digest;
	struct reply reply;
	struct memory m;

	digest_session(
		&a, &(struct digest_session_input){ &session, NULL, units, 2, 4000 }, &digest);
	assert_true(digest.is_worth_it && digest.parts == 1);
	assert_non_null(strstr(digest.text, "docs/retry.md tells of retry_wait"));
	reply_read(&a,
		STR("{\"title\":\"Retry client honours Retry-After\",\"request\":\"Fix and "
		    "document the retry client\","
		    "\"learned\":\"It took 45 minutes.\",\"completed\":\"The user fixed "
		    "retry_wait. It is told in docs/retry.md.\",\"next_steps\":\"\"}"),
		false, &reply);
	in.digest = &digest;
	in.reply = &reply;
	assert_true(refine_session(&a, &in, &m));
	assert_string_equal(m.title, "Retry client honours Retry-After");
	assert_null(m.learned);
	assert_null(m.next_steps);
	assert_string_equal(
		m.completed, "The assistant fixed retry_wait. It is told in docs/retry.md.");
	assert_true(m.session == 4 && m.project == 5 && m.turn == 0 && m.at == 20);
	assert_int_equal(m.nevidence, 1);
	assert_string_equal(m.slot, REFINE_SESSION_SLOT);
	reply_read(&a, STR("{}"), false, &reply);
	assert_false(refine_session(&a, &in, &m));
}

static void facts_of_a_model_wait_until_they_come_up_again_unless_the_person_said_them(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	const struct fact_policy policy = { .threshold = THRESHOLD };
	struct fact_candidate c = { .rule = REFINE_RULE,
		.slot = "0.0",
		.category = FACT_ARCHITECTURE,
		.part = PART_WHOLE,
		.subject = "header read retry_wait",
		.value = "",
		.title = "retry_wait reads the header",
		.trust = TRUST_REPLY,
		.strength = 1,
		.times = 1,
		.at = 5,
		.key = "k" };
	struct topic_facts facts;

	fact_merge(&a, &policy, &c, 1, &facts);
	assert_int_equal(facts.n, 1);
	assert_int_equal(facts.items[0].m.status, MEMORY_PENDING);
	assert_int_equal(facts.items[0].m.origin, ORIGIN_MODEL);
	c.trust = TRUST_PROMPT;
	fact_merge(&a, &policy, &c, 1, &facts);
	assert_int_equal(facts.items[0].m.status, MEMORY_ACTIVE);
	/* Whatever its category, it is one sentence that stands for itself. */
	c.category = FACT_ERROR_FIX;
	fact_merge(&a, &policy, &c, 1, &facts);
	assert_int_equal(facts.n, 1);
	assert_string_equal(facts.items[0].m.title, "retry_wait reads the header");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reply_of_the_file_becomes_the_memories_it_says),
		cmocka_unit_test(refined_memories_keep_what_the_rules_knew_and_rest_on_evidence),
		cmocka_unit_test(the_same_text_is_judged_by_its_names_and_numbers),
		cmocka_unit_test(people_ask_and_assistants_act),
		cmocka_unit_test(a_session_summary_is_grounded_in_the_summaries_of_its_units),
		cmocka_unit_test(
			facts_of_a_model_wait_until_they_come_up_again_unless_the_person_said_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
