#include "ops_fixture.h"

/* Finding on a real store and index: search, timeline, get, recall, files. */

static void search_answers_in_the_shape_of_the_contract(void **state)
{
	struct reply r = ask(*state, "search", "{'query':'refresh token rotation'}");
	static const char *const reply_keys[] = { "query", "mode", "total", "total_exact", "match", "next", "took_ms", "hits" };
	static const char *const hit_keys[] = { "ref", "kind", "type", "title", "snippet", "at", "score", "project", "branch", "agent",
		"session", "agent_session", "key", "files", "confidence", "status", "suspect", "tokens" };
	const json *hits = list(&r, "hits");
	assert_true(json_len(hits) > 0);
	for (size_t i = 0; i < ARRAY_LEN(reply_keys); i++)
		if (!strstr(r.text, reply_keys[i]))
			fail_msg("%s is missing", reply_keys[i]);
	for (size_t k = 0; k < json_len(hits); k++) {
		for (size_t i = 0; i < ARRAY_LEN(hit_keys); i++) {
			bool is_there = false;
			for (struct json_iter it = json_iter(json_at(hits, k)); json_next(&it);)
				is_there = is_there || !strcmp(it.key, hit_keys[i]);
			if (!is_there)
				fail_msg("hit %zu has no %s", k, hit_keys[i]);
		}
	}
	const json *first = json_at(hits, 0);
	assert_string_equal(json_str(first, "project"), "app");
	assert_string_equal(json_str(first, "agent_session"), "11111111-aaaa");
	assert_string_equal(json_str(r.json, "match"), "exact");
	assert_true(str_starts(json_value_str(json_at(json_get(r.json, "next"), 0)), "remanence get "));
	assert_null(strpbrk(json_str(first, "snippet"), "\x02\x03"));
	reply_done(&r);
}

static void marks_tell_where_the_wanted_words_stand(void **state)
{
	struct reply r = ask(*state, "search", "{'query':'seconds','kind':'observation'}");
	const json *hit = json_at(list(&r, "hits"), 0), *marks = json_get(hit, "marks");
	assert_true(json_len(marks) >= 1);
	int64_t from = json_value_int(json_at(json_at(marks, 0), 0), -1), to = json_value_int(json_at(json_at(marks, 0), 1), -1);
	assert_true(from >= 0 && to > from);
	assert_memory_equal(json_str(hit, "snippet") + from, "seconds", (size_t)(to - from));
	reply_done(&r);
}

static void a_search_stays_in_the_project_of_the_folder_unless_told_otherwise(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "search", "{'query':'scheduler'}");
	assert_int_equal(json_len(list(&r, "hits")), 0);
	assert_non_null(strstr(r.text, "--project all"));
	reply_done(&r);
	r = ask(f, "search", "{'query':'scheduler','project':'all'}");
	assert_true(has_title(list(&r, "hits"), "starves idle cores"));
	reply_done(&r);
	r = ask(f, "search", "{'query':'scheduler project:other'}");
	assert_true(has_title(list(&r, "hits"), "starves idle cores"));
	reply_done(&r);
	r = ask(f, "search", "{'query':'x','project':'aap'}");
	assert_true(r.failed && r.err.code == ERR_NOT_FOUND);
	assert_non_null(strstr(r.err.hint, "app"));
	reply_done(&r);
}

static void filters_narrow_a_search(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *params, *has, *lacks;
	} cases[] = {
		{ "{'query':'name','kind':'summary'}", "Profiles without a name", "getUserName falls back to the e-mail address" },
		{ "{'query':'name','type':'feature'}", "getUserName falls back", "Profiles without a name" },
		{ "{'query':'getUserName','file':'src/profile.py'}", "getUserName falls back", "Profiles without a name" },
		{ "{'query':'getUserName file:profile.py'}", "getUserName falls back", "Profiles without a name" },
		{ "{'query':'','scope':'memories'}", "Profiles without a name", "please make" },
		{ "{'query':'','scope':'messages'}", "please make getUserName", "Profiles without a name" },
		{ "{'query':'rotation name','after':'2h'}", "Profiles without a name", "Refresh token rotation used" },
		{ "{'query':'rotation name','before':'2h'}", "Refresh token rotation used", "Profiles without a name" },
		{ "{'query':'rotation','agent':'claude'}", "Refresh token rotation used", NULL },
		{ "{'query':'rotation','branch':'main','scope':'memories'}", "Refresh token rotation used", NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reply r = ask(f, "search", cases[i].params);
		if (!has_title(list(&r, "hits"), cases[i].has) || (cases[i].lacks && has_title(list(&r, "hits"), cases[i].lacks)))
			fail_msg("%s gave %s", cases[i].params, r.text);
		reply_done(&r);
	}
	static const char *const nothing[] = { "{'query':'rotation','before':'2001-01-01'}", "{'query':'rotation','agent':'codex'}",
		"{'query':'rotation','branch':'feature/x'}", "{'query':'rotation','file':'src/none.c'}" };
	for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
		struct reply r = ask(f, "search", nothing[i]);
		assert_int_equal(json_len(list(&r, "hits")), 0);
		reply_done(&r);
	}
}

static void a_wrong_word_for_a_kind_says_which_there_are(void **state)
{
	static const char *const cases[] = { "{'query':'x','kind':'nonsense'}", "{'query':'x','type':'nonsense'}",
		"{'query':'x','scope':'nonsense'}", "{'query':'x','agent':'nonsense'}", "{'query':'x','after':'nonsense'}" };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reply r = ask(*state, "search", cases[i]);
		assert_true(r.failed && r.err.code == ERR_USAGE && r.err.hint[0]);
		reply_done(&r);
	}
}

static void punctuation_and_meaningless_filters_in_a_query_are_text(void **state)
{
	static const char *const cases[] = { "\\\"", "((", "a AND", "-", "file:", "kind:", "type:nothing", "project:nowhere", "after:never",
		"agent:smith kind:x type:y", "%s%n", "", "    " };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct reply r = ask(*state, "search", arena_printf(&a, "{'query':'%s'}", cases[i]));
		assert_false(r.failed);
		assert_int_equal(json_type(json_get(r.json, "hits")), JSON_ARRAY);
		reply_done(&r);
	}
	struct reply r = ask(*state, "search", "{'query':'type: rotation'}");
	assert_true(has_title(list(&r, "hits"), "Refresh token rotation"));
	reply_done(&r);
}

static void sessions_are_found_as_sessions(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "search", "{'query':'token rotation','scope':'sessions'}");
	const json *hits = list(&r, "hits");
	assert_true(json_len(hits) >= 1);
	assert_string_equal(json_str(json_at(hits, 0), "kind"), "session");
	assert_string_equal(json_str(json_at(hits, 0), "agent_session"), "11111111-aaaa");
	assert_int_equal(json_str(json_at(hits, 0), "ref")[0], 's');
	reply_done(&r);
}

static void a_search_as_of_a_time_shows_what_was_held_then(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_begin(f->writer, NULL), 0);
	memory_add(f, (struct memory){ .kind = KIND_FACT, .type = FACT_CONVENTION, .at = f->now - 9 * DAY, .valid_from = f->now - 9 * DAY,
		.valid_to = f->now - 3 * DAY, .status = MEMORY_SUPERSEDED, .title = "Quokkas are tabbed", .body = "Quokkas are tabbed" });
	memory_add(f, (struct memory){ .kind = KIND_FACT, .type = FACT_CONVENTION, .at = f->now - 3 * DAY, .valid_from = f->now - 3 * DAY,
		.title = "Quokkas are spaced", .body = "Quokkas are spaced" });
	assert_int_equal(store_commit(f->writer, NULL), 0);
	follow(f);
	struct reply r = ask(f, "search", "{'query':'quokkas','as_of':'5d'}");
	assert_true(has_title(list(&r, "hits"), "tabbed"));
	assert_false(has_title(list(&r, "hits"), "spaced"));
	reply_done(&r);
	r = ask(f, "search", "{'query':'quokkas'}");
	assert_true(has_title(list(&r, "hits"), "spaced"));
	assert_false(has_title(list(&r, "hits"), "tabbed"));
	reply_done(&r);
}

static char *first_ref(struct fixture *f, const char *params)
{
	struct reply r = ask(f, "search", params);
	assert_true(json_len(list(&r, "hits")) > 0);
	char *ref = arena_str(&f->arena, json_str(json_at(json_get(r.json, "hits"), 0), "ref"));
	reply_done(&r);
	return ref;
}

static void pages_do_not_overlap(void **state)
{
	struct fixture *f = *state;
	const char *one = first_ref(f, "{'query':'name rotation','limit':1}");
	const char *two = first_ref(f, "{'query':'name rotation','limit':1,'offset':1}");
	assert_string_not_equal(one, two);
	struct reply r = ask(f, "search", "{'query':'name rotation','limit':1,'count':true}");
	assert_true(json_int(r.json, "total", 0) >= 4);
	assert_true(json_bool(r.json, "total_exact", false));
	assert_non_null(strstr(r.text, "--offset 1"));
	reply_done(&r);
}

static void get_gives_whole_records_with_their_evidence(void **state)
{
	struct fixture *f = *state;
	const char *ref = first_ref(f, "{'query':'rotation','kind':'observation'}");
	struct reply r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	const json *m = json_at(list(&r, "records"), 0), *evidence = json_get(m, "evidence");
	assert_string_equal(json_str(m, "title"), "Refresh token rotation used minutes as seconds");
	assert_string_equal(json_str(m, "type"), "bugfix");
	assert_non_null(strstr(json_str(m, "body"), "3600"));
	assert_int_equal(json_len(evidence), 2);
	assert_int_equal(json_len(json_get(m, "files")), 2);
	const char *event = arena_str(&f->arena, json_str(json_at(evidence, 0), "ref"));
	const char *session = arena_str(&f->arena, json_str(m, "session"));
	reply_done(&r);
	r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s','%s']}", event, session));
	assert_string_equal(json_str(json_at(list(&r, "records"), 0), "kind"), "prompt");
	assert_non_null(strstr(json_str(json_at(list(&r, "records"), 0), "text"), "logged out"));
	assert_string_equal(json_str(json_at(list(&r, "records"), 1), "agent_session"), "11111111-aaaa");
	reply_done(&r);
}

static void get_lists_what_is_missing_and_fails_only_when_all_is(void **state)
{
	struct reply r = ask(*state, "get", "{'refs':['1','999999']}");
	assert_int_equal(json_len(list(&r, "records")), 1);
	assert_string_equal(json_value_str(json_at(list(&r, "missing"), 0)), "999999");
	reply_done(&r);
	static const char *const missing[] = { "{'refs':['999999']}", "{'refs':['e999999']}", "{'refs':['s999999','77777']}" };
	for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
		r = ask(*state, "get", missing[i]);
		assert_true(r.failed && r.err.code == ERR_NOT_FOUND);
		reply_done(&r);
	}
	r = ask(*state, "get", "{'refs':['xyz']}");
	assert_true(r.failed && r.err.code == ERR_USAGE);
	reply_done(&r);
}

static bool is_in_order(const json *items)
{
	for (size_t i = 1; i < json_len(items); i++)
		if (json_int(json_at(items, i - 1), "at", 0) > json_int(json_at(items, i), "at", 0))
			return false;
	return true;
}

static bool has_kind(const json *items, const char *kind)
{
	for (size_t i = 0; i < json_len(items); i++)
		if (!strcmp(json_str(json_at(items, i), "kind"), kind))
			return true;
	return false;
}

static void a_timeline_shows_what_happened_around_something(void **state)
{
	struct fixture *f = *state;
	const char *memory = first_ref(f, "{'query':'rotation','kind':'observation'}");
	const char *event = first_ref(f, "{'query':'rotation','kind':'reply'}");
	const char *const params[] = { arena_printf(&f->arena, "{'ref':'%s'}", memory), arena_printf(&f->arena, "{'ref':'%s'}", event),
		"{'query':'token rotation'}", "{'at':'25h'}" };
	for (size_t i = 0; i < ARRAY_LEN(params); i++) {
		struct reply r = ask(f, "timeline", params[i]);
		const json *items = list(&r, "items");
		assert_true(json_len(items) >= 2);
		assert_true(is_in_order(items));
		assert_true(has_kind(items, "prompt") && has_kind(items, "observation"));
		assert_false(has_title(items, "scheduler"));
		reply_done(&r);
	}
	struct reply r = ask(f, "timeline", arena_printf(&f->arena, "{'ref':'%s','kind':'observation'}", memory));
	assert_false(has_kind(list(&r, "items"), "prompt"));
	reply_done(&r);
	r = ask(f, "timeline", arena_printf(&f->arena, "{'ref':'%s','limit':1}", event));
	assert_int_equal(json_len(list(&r, "items")), 1);
	assert_string_equal(json_str(json_at(list(&r, "items"), 0), "ref"), event);
	reply_done(&r);
}

static void the_timeline_of_a_session_is_all_of_it_in_order(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "timeline", arena_printf(&f->arena, "{'ref':'s%lld'}", (long long)f->s1));
	const json *items = list(&r, "items");
	static const char *const kinds[] = { "prompt", "tool", "reply", "observation", "summary" };
	assert_int_equal(json_len(items), ARRAY_LEN(kinds));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		assert_string_equal(json_str(json_at(items, i), "kind"), kinds[i]);
	assert_string_equal(json_str(json_at(items, 1), "title"), "Bash: pytest tests/test_oauth.py");
	reply_done(&r);
	r = ask(f, "timeline", "{'ref':'s99999'}");
	assert_true(r.failed && r.err.code == ERR_NOT_FOUND);
	reply_done(&r);
	r = ask(f, "timeline", "{}");
	assert_true(r.failed && r.err.code == ERR_USAGE);
	reply_done(&r);
}

static void recall_gives_a_text_within_its_budget(void **state)
{
	struct fixture *f = *state;
	static const int budgets[] = { 60, 100, 200, 2000 };
	for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
		struct reply r = ask(f, "recall", arena_printf(&f->arena, "{'question':'why were users logged out','budget':%d}", budgets[i]));
		const char *text = json_str(r.json, "text");
		assert_true(json_int(r.json, "tokens", -1) <= budgets[i]);
		assert_true((int)text_tokens(str_of(text)) <= budgets[i] + 1);
		assert_true(json_len(list(&r, "memories")) >= 1);
		assert_non_null(strstr(text, "logged out"));
		reply_done(&r);
	}
}

static void recall_says_when_nothing_relevant_is_remembered(void **state)
{
	struct reply r = ask(*state, "recall", "{'question':'quantum chromodynamics of tulips'}");
	assert_int_equal(json_len(list(&r, "memories")), 0);
	assert_non_null(strstr(json_str(r.json, "text"), "othing relevant"));
	reply_done(&r);
	r = ask(*state, "recall", "{'question':'how are the users of the kubernetes ingress throttled by default?'}");
	assert_int_equal(json_len(list(&r, "memories")), 0);
	reply_done(&r);
	r = ask(*state, "recall", "{}");
	assert_true(r.failed && r.err.code == ERR_USAGE);
	reply_done(&r);
}

static void recall_falls_back_to_messages(void **state)
{
	struct reply r = ask(*state, "recall", "{'question':'pytest test_oauth.py failed'}");
	assert_true(json_len(list(&r, "memories")) >= 1);
	assert_string_equal(json_str(json_at(json_get(r.json, "memories"), 0), "kind"), "tool");
	reply_done(&r);
}

static void recall_knows_files_without_a_question(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "recall", "{'files':['src/profile.py']}");
	assert_true(has_title(list(&r, "memories"), "getUserName"));
	reply_done(&r);
	r = ask(f, "recall", arena_printf(&f->arena, "{'question':'rotation','files':['%s/src/profile.py'],'min_confidence':0.99}", f->app));
	assert_int_equal(json_len(list(&r, "memories")), 0);
	reply_done(&r);
}

static void recall_does_not_say_the_same_twice(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_begin(f->writer, NULL), 0);
	for (int i = 0; i < 5; i++)
		memory_add(f, (struct memory){ .kind = KIND_OBSERVATION, .type = TYPE_BUGFIX, .session = f->s2, .at = f->now - i * 1000,
			.title = "The wombat cache is cleared at start", .body = arena_printf(&f->arena, "Run %d of the wombat cache.", i) });
	assert_int_equal(store_commit(f->writer, NULL), 0);
	follow(f);
	struct reply r = ask(f, "recall", "{'question':'wombat cache'}");
	assert_int_equal(json_len(list(&r, "memories")), 1);
	reply_done(&r);
}

static void files_lists_a_file_and_a_folder(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "files", "{'path':'src/oauth.py'}");
	assert_true(has_title(list(&r, "memories"), "Refresh token"));
	assert_int_equal(json_len(list(&r, "files")), 1);
	reply_done(&r);
	r = ask(f, "files", "{'path':'src'}");
	assert_int_equal(json_len(list(&r, "files")), 2);
	assert_int_equal(json_len(list(&r, "memories")), 2);
	reply_done(&r);
	r = ask(f, "files", "{'path':'oauth.py','limit':1}");
	assert_int_equal(json_len(list(&r, "memories")), 1);
	reply_done(&r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(search_answers_in_the_shape_of_the_contract),
		CASE(marks_tell_where_the_wanted_words_stand),
		CASE(a_search_stays_in_the_project_of_the_folder_unless_told_otherwise),
		CASE(filters_narrow_a_search),
		CASE(a_wrong_word_for_a_kind_says_which_there_are),
		CASE(punctuation_and_meaningless_filters_in_a_query_are_text),
		CASE(sessions_are_found_as_sessions),
		CASE(a_search_as_of_a_time_shows_what_was_held_then),
		CASE(pages_do_not_overlap),
		CASE(get_gives_whole_records_with_their_evidence),
		CASE(get_lists_what_is_missing_and_fails_only_when_all_is),
		CASE(a_timeline_shows_what_happened_around_something),
		CASE(the_timeline_of_a_session_is_all_of_it_in_order),
		CASE(recall_gives_a_text_within_its_budget),
		CASE(recall_says_when_nothing_relevant_is_remembered),
		CASE(recall_falls_back_to_messages),
		CASE(recall_knows_files_without_a_question),
		CASE(recall_does_not_say_the_same_twice),
		CASE(files_lists_a_file_and_a_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
