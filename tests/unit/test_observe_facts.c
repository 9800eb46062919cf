/*
 * Rules for facts against tests/data/facts, the whole way: rules, candidates in a store, merging.
 * And the property that matters most: neither the order of turns, nor their repetition, nor looking
 * at them half done changes what is known in the end.
 */
#include "store_fixture.h"

#include "base/buf.h"
#include "base/json.h"
#include "observe/confidence.h"
#include "observe/fact_settle.h"
#include "observe/fact_table.h"
#include "observe/ground.h"
#include "observe/rules.h"
#include "store/stale.h"

#define FILE_MAX (1u << 20)
#define TURNS_MAX 8
#define EVENTS_MAX 40
#define WANTS_MAX 8
#define CASES_MAX 512
#define ROOT "/home/u/app"
#define ROUNDS 12

struct case_turn {
	struct event events[EVENTS_MAX];
	size_t n;
	int64_t session;
};

struct want {
	enum memory_status status;
	const char *title;
	const char *branch; /* that it must be bound to */
};

struct fact_case {
	const char *title;
	struct case_turn turns[TURNS_MAX];
	size_t nturns;
	struct want wants[WANTS_MAX];
	size_t nwants;
	const char *branch; /* of the events that follow */
};

struct case_file {
	const char *rule, *seen;
	bool is_reply;
	struct fact_case *items;
	size_t n, cap;
};

/* ---- reading cases ---- */

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
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	jw_object(&w, NULL);
	jw_str(&w, "command", command);
	jw_end(&w, '}');
	return arena_dup(a, buf_cstr(&out), out.len);
}

static struct event *add_event(struct arena *a, struct fact_case *c, enum event_kind kind)
{
	struct case_turn *t = &c->turns[c->nturns - 1];
	struct event *e = &t->events[t->n++];
	size_t all = 0;

	assert_true(t->n <= EVENTS_MAX);
	for (size_t i = 0; i < c->nturns; i++)
		all += c->turns[i].n;
	*e = (struct event){ .id = (int64_t)all,
		.kind = kind,
		.key = arena_printf(a, "k%03zu", all),
		.at = 1000000 + 1000 * (int64_t)all,
		.cwd = ROOT,
		.exit_code = -1,
		.branch = c->branch,
		.status = STATUS_OK };
	return e;
}

static void add_call(struct arena *a, struct fact_case *c, const char *word, char *text)
{
	struct event *e = add_event(a, c, EVENT_TOOL);
	char *arrow = strstr(text, " => ");

	if (arrow) {
		*arrow = '\0';
		e->output = arrow + 4;
	}
	if (strcmp(word, "read") == 0 || strcmp(word, "edit") == 0) {
		const char **files = ARENA_ARRAY(a, const char *, 1);

		files[0] = path_clean(a, ROOT, text);
		e->files = files;
		e->nfiles = 1;
		e->tool = word[0] == 'r' ? "Read" : "Edit";
		e->writes_files = word[0] == 'e';
		if (e->writes_files)
			e->diff = e->output;
	} else if (strcmp(word, "ask") == 0) {
		e->tool = "AskUserQuestion";
		e->output = arena_printf(a,
			"User has answered your questions: \"%s\"=\"%s\". You can now continue.",
			text, e->output);
	} else if (strcmp(word, "agent") == 0) {
		e->tool = "Task";
		e->text = text;
	} else {
		bool failed = strcmp(word, "fail") == 0;

		e->tool = "Bash";
		e->input = json_command(a, text);
		e->status = failed ? STATUS_FAILED : STATUS_OK;
		e->exit_code = failed;
	}
}

static struct case_turn *add_turn(struct fact_case *c, bool is_new_session)
{
	int64_t session = c->nturns ? c->turns[c->nturns - 1].session : 1;

	assert_true(c->nturns < TURNS_MAX);
	c->turns[c->nturns++].session = session + is_new_session;
	return &c->turns[c->nturns - 1];
}

static void add_line(struct arena *a, struct fact_case *c, const char *word, char *text)
{
	static const char *const verdicts[] = { "want", "waits", "gone" };
	static const enum memory_status states[] = { MEMORY_ACTIVE, MEMORY_PENDING,
		MEMORY_SUPERSEDED };

	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		if (strcmp(word, verdicts[i]) == 0) {
			assert_true(c->nwants < WANTS_MAX);
			c->wants[c->nwants++] = (struct want){ states[i], text };
			return;
		}
	if (strcmp(word, "bound") == 0) {
		const char *branch = strsep(&text, " ");

		c->wants[c->nwants++] = (struct want){ MEMORY_ACTIVE, text, branch };
	} else if (strcmp(word, "branch") == 0) {
		c->branch = text;
	} else if (strcmp(word, "turn") == 0 || strcmp(word, "session") == 0) {
		add_turn(c, word[0] == 's');
	} else if (strcmp(word, "prompt") == 0 || strcmp(word, "meta") == 0) {
		struct event *e = add_event(a, c, EVENT_PROMPT);

		e->text = text;
		e->is_meta = word[0] == 'm';
	} else if (strcmp(word, "reply") == 0) {
		add_event(a, c, EVENT_REPLY)->text = text;
	} else {
		add_call(a, c, word, text);
	}
}

/* "+ TEXT => TITLE" */
static void add_single(struct arena *a, struct case_file *f, char sign, char *text)
{
	struct fact_case *c = &f->items[f->n - 1];
	char *arrow = strstr(text, " => ");

	c->title = text;
	add_turn(c, false);
	if (arrow && sign != '-') {
		*arrow = '\0';
		c->wants[c->nwants++] =
			(struct want){ sign == '+' ? MEMORY_ACTIVE : MEMORY_PENDING, arrow + 4 };
	}
	if (!f->is_reply) {
		add_event(a, c, EVENT_PROMPT)->text = text;
		return;
	}
	add_event(a, c, EVENT_PROMPT)->text = "how does it work";
	add_call(a, c, "read", arena_printf(a, "notes.md => %s", f->seen ? f->seen : ""));
	add_event(a, c, EVENT_REPLY)->text = text;
}

static void cases_read(struct arena *a, const char *rule, struct case_file *f)
{
	AUTO(buf_done) struct buf file = { 0 };
	struct err err = { 0 };
	char *path = arena_printf(a, "tests/data/facts/%s.txt", rule);
	struct str rest, line;

	*f = (struct case_file){ .rule = rule };
	if (file_read(path, FILE_MAX, &file, &err))
		fail_msg("%s", err.text);
	rest = (struct str){ arena_dup(a, file.data, file.len), file.len };
	f->items = ARENA_ARRAY(a, struct fact_case, CASES_MAX);
	while (str_line(&rest, &line)) {
		char *text = unfold(a, line), *word;

		if (!line.n)
			continue;
		if (strchr("+-~", text[0]) && text[1] == ' ') {
			assert_true(++f->n < CASES_MAX);
			add_single(a, f, text[0], text + 2);
			continue;
		}
		word = strsep(&text, " ");
		if (strcmp(word, "say") == 0) {
			f->is_reply = strcmp(text, "reply") == 0;
		} else if (strcmp(word, "seen") == 0) {
			f->seen = text;
		} else if (strcmp(word, "case") == 0) {
			assert_true(++f->n < CASES_MAX);
			f->items[f->n - 1].title = text;
			add_turn(&f->items[f->n - 1], false);
		} else {
			add_line(a, &f->items[f->n - 1], word, text);
		}
	}
}

/* ---- running them ---- */

static void observe(struct fixture *f, const struct fact_case *c, size_t i, int64_t project,
	int64_t base, size_t nevents)
{
	AUTO(arena_done) struct arena a = { 0 };
	const struct case_turn *t = &c->turns[i];
	struct session session = { .id = base + t->session, .cwd = ROOT, .branch = "main" };
	struct project p = { .id = project, .root = ROOT };
	struct turn turn = {
		.id = base + 100 + (int64_t)i, .session = session.id, .project = project
	};
	struct event *events = ARENA_ARRAY(&a, struct event, nevents + 1);
	struct rules_input in = { .turn = &turn, .session = &session, .project = &p };
	struct rules_output out;

	memcpy(events, t->events, sizeof(*events) * nevents);
	/* No two cases happen at the same time. */
	for (size_t k = 0; k < nevents; k++) {
		events[k].id += base * 1000;
		events[k].at += base * 1000;
		events[k].key = arena_printf(&a, "%lld-%s", (long long)base, events[k].key);
	}
	in.events = events;
	in.n = nevents;
	rules_run(&a, &in, &out);
	ok(store_turn_candidates(f->s, &turn, out.candidates, out.ncandidates, &f->err));
}

static void settle(struct fixture *f)
{
	const struct fact_policy policy = { .threshold = .4 };
	size_t n;

	do
		ok(facts_settle(f->s, &policy, &n, &f->err));
	while (n);
}

static void list_facts(
	struct fixture *f, struct arena *a, int64_t project, struct memory **ret, size_t *ret_n)
{
	struct memory_query q = { .project = project,
		.kind = KIND_FACT,
		.type = -1,
		.status = -1,
		.origin = -1,
		.max = 10000 };

	ok(store_memory_list(f->s, a, &q, ret, ret_n, &f->err));
}

static bool title_fits(const char *want, const char *got)
{
	size_t n = strlen(want);

	if (n > 3 && strcmp(want + n - 3, "…") == 0)
		return strncmp(want, got, n - 3) == 0;
	return strcmp(want, got) == 0;
}

static bool fits(const struct want *want, const struct memory *m)
{
	bool is_bound = memory_is_bound_to_branch(m) && strcmp(m->branch, "main") != 0;

	return want->status == m->status && title_fits(want->title, m->title) &&
	       (want->branch ? is_bound && strcmp(want->branch, m->branch) == 0
			     : !is_bound || m->status == MEMORY_SUPERSEDED);
}

static unsigned check(struct fixture *f, const struct case_file *file, size_t number)
{
	AUTO(arena_done) struct arena a = { 0 };
	const struct fact_case *c = &file->items[number];
	int64_t project = (int64_t)number + 1;
	struct memory *list;
	bool used[WANTS_MAX] = { false };
	unsigned wrong = 0;
	size_t n;

	for (size_t i = 0; i < c->nturns; i++)
		observe(f, c, i, project, project * 1000, c->turns[i].n);
	settle(f);
	list_facts(f, &a, project, &list, &n);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		if (strcmp(list[i].rule, file->rule) != 0)
			continue;
		while (k < c->nwants && (used[k] || !fits(&c->wants[k], &list[i])))
			k++;
		if (k < c->nwants) {
			used[k] = true;
			continue;
		}
		fprintf(stderr, "%s: %s: not wanted: %s '%s' (%.2f)\n", file->rule, c->title,
			memory_status_names[list[i].status], list[i].title, list[i].confidence);
		wrong++;
	}
	for (size_t k = 0; k < c->nwants; k++)
		if (!used[k]) {
			fprintf(stderr, "%s: %s: missing '%s'\n", file->rule, c->title,
				c->wants[k].title);
			wrong++;
		}
	return wrong;
}

static void each_rule_gives_what_its_cases_say(void **state)
{
	struct fixture *f = *state;
	AUTO(arena_done) struct arena a = { 0 };
	unsigned wrong = 0;

	for (const struct fact_rule *r = fact_rules; r->name; r++) {
		struct case_file file;
		size_t negatives = 0;

		ok(store_begin(f->s, &f->err));
		cases_read(&a, r->name, &file);
		for (size_t i = 0; i < file.n; i++) {
			wrong += check(f, &file, i);
			negatives += !file.items[i].nwants;
		}
		store_rollback(f->s);
		/* Half of the cases must show what is none; and there are enough of them. */
		assert_true(file.n >= 25);
		assert_true(negatives * 5 >= file.n * 2);
	}
	assert_int_equal(wrong, 0);
}

/* ---- order, repetition, halves ---- */

struct step {
	size_t c, turn;
};

static void shuffle(struct step *steps, size_t n, uint64_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = unit_below(seed, i);
		struct step s = steps[i - 1];

		steps[i - 1] = steps[k];
		steps[k] = s;
	}
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Everything that is known, whatever the row numbers are. */
static char *facts_text(struct fixture *f, struct arena *a)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct memory *list;
	char **lines;
	size_t n;

	list_facts(f, a, 1, &list, &n);
	lines = ARENA_ARRAY(a, char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		struct memory m, next = { 0 };

		ok(store_memory_get(f->s, a, list[i].id, &m, &f->err));
		if (m.superseded_by)
			ok(store_memory_get(f->s, a, m.superseded_by, &next, &f->err));
		lines[i] = arena_printf(a,
			"%s %s %s %s %.3f %s %lld-%lld > %s; %zu files %zu evidence %s\n", m.rule,
			m.slot, m.title, m.branch ? m.branch : "", m.confidence, memory_status_names[m.status],
			(long long)m.valid_from, (long long)m.valid_to,
			next.title ? next.title : "", m.nfiles, m.nevidence, m.tally);
	}
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		buf_str(&out, lines[i]);
	return arena_dup(a, buf_cstr(&out), out.len);
}

static size_t all_steps(struct arena *a, const struct case_file *file, struct step **ret)
{
	size_t n = 0, cap = 0;

	*ret = NULL;
	for (size_t c = 0; c < file->n; c++)
		for (size_t t = 0; t < file->items[c].nturns; t++) {
			struct step s = { c, t };

			ARENA_PUSH(a, *ret, n, cap, s);
		}
	return n;
}

static void take_step(
	struct fixture *f, const struct case_file *file, struct step s, uint64_t *seed)
{
	const struct fact_case *c = &file->items[s.c];
	int64_t base = ((int64_t)s.c + 1) * 1000;
	size_t n = c->turns[s.turn].n;

	if (seed && unit_below(seed, 2))
		observe(f, c, s.turn, 1, base, unit_below(seed, n + 1));
	if (seed && unit_below(seed, 3) == 0)
		settle(f);
	observe(f, c, s.turn, 1, base, n);
	if (seed && unit_below(seed, 4) == 0)
		observe(f, c, s.turn, 1, base, n);
}

static void order_and_repetition_change_nothing(void **state)
{
	struct fixture *f = *state;
	AUTO(arena_done) struct arena a = { 0 };
	uint64_t seed = 88172645463325252u;

	for (const struct fact_rule *r = fact_rules; r->name; r++) {
		struct case_file file;
		struct step *steps;
		char *first = NULL;
		size_t n;

		cases_read(&a, r->name, &file);
		n = all_steps(&a, &file, &steps);
		for (unsigned round = 0; round < ROUNDS; round++) {
			char *text;

			ok(store_begin(f->s, &f->err));
			for (size_t i = 0; i < n; i++)
				take_step(f, &file, steps[i], round ? &seed : NULL);
			settle(f);
			text = facts_text(f, &a);
			if (!first)
				first = text;
			assert_string_equal(first, text);
			store_rollback(f->s);
			shuffle(steps, n, &seed);
		}
		assert_true(*first);
	}
}

static const struct fact_case *case_named(const struct case_file *file, const char *title)
{
	for (size_t i = 0; i < file->n; i++)
		if (strcmp(file->items[i].title, title) == 0)
			return &file->items[i];
	fail_msg("no case '%s'", title);
	return NULL;
}

static void what_a_person_decided_survives(void **state)
{
	struct fixture *f = *state;
	AUTO(arena_done) struct arena a = { 0 };
	struct case_file file;
	const struct fact_case *c;
	struct memory *list, m;
	size_t n;

	ok(store_begin(f->s, &f->err));
	cases_read(&a, "preference", &file);
	c = case_named(&file, "Said in two sessions it does not wait");
	observe(f, c, 0, 1, 1000, c->turns[0].n);
	settle(f);
	list_facts(f, &a, 1, &list, &n);
	assert_int_equal(n, 1);
	ok(store_memory_get(f->s, &a, list[0].id, &m, &f->err));
	assert_int_equal(m.status, MEMORY_PENDING);
	m.status = MEMORY_REJECTED;
	ok(store_memory_put(f->s, &m, &f->err));
	for (size_t i = 1; i < c->nturns; i++)
		observe(f, c, i, 1, 1000, c->turns[i].n);
	settle(f);
	ok(store_memory_get(f->s, &a, m.id, &m, &f->err));
	assert_int_equal(m.status, MEMORY_REJECTED);
	m.status = MEMORY_ACTIVE;
	m.trust = TRUST_PERSON;
	m.is_pinned = true;
	ok(store_memory_put(f->s, &m, &f->err));
	observe(f, c, 0, 1, 7000, c->turns[0].n);
	settle(f);
	ok(store_memory_get(f->s, &a, m.id, &m, &f->err));
	assert_int_equal(m.trust, TRUST_PERSON);
	assert_int_equal(m.status, MEMORY_ACTIVE);
	assert_true(m.is_pinned);
	assert_non_null(strstr(m.tally, "\"times\":5"));
	store_rollback(f->s);
}

static void what_is_taken_away_takes_its_facts_along(void **state)
{
	struct fixture *f = *state;
	AUTO(arena_done) struct arena a = { 0 };
	struct case_file file;
	const struct fact_case *c;
	struct memory *list;
	size_t n;

	ok(store_begin(f->s, &f->err));
	cases_read(&a, "preference", &file);
	c = case_named(&file, "The opposite takes its place");
	for (size_t i = 0; i < c->nturns; i++)
		observe(f, c, i, 1, 1000, c->turns[i].n);
	settle(f);
	ok(candidates_drop(f->s, 1101, &f->err));
	settle(f);
	list_facts(f, &a, 1, &list, &n);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].title, "You prefer npm over pnpm");
	assert_int_equal(list[0].status, MEMORY_ACTIVE);
	assert_int_equal(list[0].valid_to, 0);
	ok(candidates_drop(f->s, 1100, &f->err));
	settle(f);
	list_facts(f, &a, 1, &list, &n);
	assert_int_equal(n, 0);
	store_rollback(f->s);
}

/* ---- grounding and confidence ---- */

static void what_the_evidence_lacks_is_listed(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	const struct str evidence[] = {
		STR("edited /home/u/app/src/parser.c: line_next() now takes 4096 bytes"),
		STR("commit 1a2b3c4d\nthe words stand\n  in two lines")
	};
	struct grounding g;

	(void)state;
	ground_check(&a,
		STR("`line_next()` in src/parser.c and lexer.c reads 4096, not 8192 bytes; "
		    "1a2b3c4d and "
		    "9f8e7d6c; \"the words stand in two lines\", \"these words do not\""),
		evidence, ARRAY_LEN(evidence), &g);
	assert_int_equal(g.unsupported, 4);
	for (size_t i = 0; i < g.n; i++) {
		const char *text = g.claims[i].text;
		bool is_missing = strcmp(text, "lexer.c") == 0 || strcmp(text, "8192") == 0 ||
				  strcmp(text, "9f8e7d6c") == 0 ||
				  strcmp(text, "these words do not") == 0;

		assert_int_equal(g.claims[i].is_supported, !is_missing);
	}
	/* Port 8080 is not in 18080. */
	ground_check(&a, STR("port 8080"), (const struct str[]){ STR("port 18080") }, 1, &g);
	assert_int_equal(g.unsupported, 1);
}

static void confidence_follows_its_formula(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct confidence once = {
		.trust = TRUST_PROMPT, .strength = 1, .times = 1, .sessions = 1
	};
	struct confidence often = {
		.trust = TRUST_PROMPT, .strength = 1, .times = 8, .sessions = 4
	};
	struct memory m = { .trust = TRUST_PROMPT, .confidence = .8, .at = 1 };
	int64_t year = 365LL * 86400000;

	(void)state;
	assert_true(confidence_of(&once) > .549 && confidence_of(&once) < .551);
	assert_true(confidence_of(&often) > .849 && confidence_of(&often) < .851);
	often.contradictions = 5;
	assert_true(confidence_of(&often) < .651);
	often.trust = TRUST_PERSON;
	assert_true(confidence_of(&often) >= 1);
	once.unsupported = 9;
	assert_true(confidence_of(&once) < .16);
	assert_non_null(strstr(confidence_parts(&a, &once, 1, 2), "\"ungrounded\":-0.4"));
	assert_true(confidence_aged(&m, 1 + year) < .71);
	assert_true(confidence_aged(&m, 1 + 20 * year) > .59);
	m.trust = TRUST_PERSON;
	assert_true(confidence_aged(&m, 1 + year) > .79);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_rule_gives_what_its_cases_say, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			order_and_repetition_change_nothing, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			what_a_person_decided_survives, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			what_is_taken_away_takes_its_facts_along, fixture_open, fixture_close),
		cmocka_unit_test(what_the_evidence_lacks_is_listed),
		cmocka_unit_test(confidence_follows_its_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
