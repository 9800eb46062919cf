#include "ops_fixture.h"

#include <dirent.h>

/* Keeping and forgetting, looking after the house. */

static char *ref_of(struct fixture *f, struct reply *r)
{
	if (r->failed)
		fail_msg("%s", r->err.text);
	char *ref = arena_str(&f->arena, json_str(r->json, "ref"));
	reply_done(r);
	return ref;
}

static bool finds(struct fixture *f, const char *query, const char *title)
{
	struct reply r = ask(f, "search", arena_printf(&f->arena, "{'query':'%s','project':'all'}", query));
	bool ret = has_title(list(&r, "hits"), title);
	reply_done(&r);
	return ret;
}

static void a_note_is_found_changed_pinned_and_forgotten(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "remember", "{'text':'Deploy only on Tuesdays, with the blue key.','files':['src/oauth.py']}");
	const char *ref = ref_of(f, &r);
	assert_true(finds(f, "tuesdays", "Deploy only on Tuesdays"));
	r = ask(f, "edit", arena_printf(&f->arena, "{'ref':'%s','text':'Deploy only at weekends.'}", ref));
	assert_string_equal(ref_of(f, &r), ref);
	assert_true(finds(f, "weekends", "Deploy only at weekends"));
	assert_false(finds(f, "tuesdays", "Deploy"));
	r = ask(f, "pin", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	assert_false(r.failed);
	reply_done(&r);
	r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	const json *m = json_at(list(&r, "records"), 0);
	assert_true(json_bool(m, "pinned", false));
	assert_string_equal(json_str(m, "kind"), "note");
	assert_string_equal(json_str(m, "trust"), "person");
	assert_string_equal(json_str(m, "project"), "app");
	assert_string_equal(json_str(json_at(json_get(m, "files"), 0), "path"), "src/oauth.py");
	reply_done(&r);
	r = ask(f, "forget", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	assert_string_equal(json_value_str(json_at(list(&r, "forgotten"), 0)), ref);
	assert_int_equal(json_len(list(&r, "forgotten")), 1);
	reply_done(&r);
	assert_int_equal(f->purges, 1);
	assert_int_equal(f->scrubs, 1);
	r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	reply_done(&r);
	assert_false(finds(f, "weekends", "Deploy"));
}

static void saying_it_again_gives_the_memory_that_is_there(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "remember", "{'text':'The staging host is read-only'}");
	const char *ref = ref_of(f, &r);
	r = ask(f, "remember", "{'text':'The staging host is read-only'}");
	assert_true(json_bool(r.json, "exists", false));
	assert_string_equal(ref_of(f, &r), ref);
	r = ask(f, "remember", "{'text':'The staging host is read-only','project':'other'}");
	assert_string_not_equal(ref_of(f, &r), ref);
}

static void a_category_makes_it_a_fact_and_an_agent_is_trusted_less(void **state)
{
	struct fixture *f = *state;
	f->is_agent = true;
	struct reply r = ask(f, "remember", "{'text':'We decided on tabs','category':'decision'}");
	const char *ref = ref_of(f, &r);
	r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	const json *m = json_at(list(&r, "records"), 0);
	assert_string_equal(json_str(m, "kind"), "fact");
	assert_string_equal(json_str(m, "type"), "decision");
	assert_string_equal(json_str(m, "origin"), "agent");
	assert_string_not_equal(json_str(m, "trust"), "person");
	reply_done(&r);
	r = ask(f, "remember", "{'text':'x y z','category':'bugfix'}");
	assert_int_equal(r.err.code, ERR_USAGE);
	reply_done(&r);
}

static void secrets_are_taken_out_and_a_secret_alone_is_refused(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "remember", "{'text':'the deploy key is AKIAIOSFODNN7EXAMPLQ and lies in the vault'}");
	assert_int_equal(json_int(r.json, "redacted", 0), 1);
	const char *ref = ref_of(f, &r);
	r = ask(f, "get", arena_printf(&f->arena, "{'refs':['%s']}", ref));
	assert_null(strstr(r.text, "AKIA"));
	assert_non_null(strstr(r.text, "[redacted:"));
	reply_done(&r);
	r = ask(f, "remember", "{'text':'AKIAIOSFODNN7EXAMPLQ'}");
	assert_true(r.failed && r.err.code == ERR_USAGE);
	assert_null(strstr(r.err.text, "AKIA"));
	reply_done(&r);
	r = ask(f, "remember", "{'text':'<private>all of it</private>'}");
	assert_true(r.failed);
	reply_done(&r);
}

static void a_new_project_name_makes_the_project(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "remember", "{'text':'the brand new one','project':'brand-new'}");
	ref_of(f, &r);
	r = ask(f, "projects", "{}");
	assert_non_null(strstr(r.text, "brand-new"));
	reply_done(&r);
	r = ask(f, "search", "{'query':'brand','project':'brand-new'}");
	assert_int_equal(json_len(list(&r, "hits")), 1);
	reply_done(&r);
}

static void more_than_one_thing_is_forgotten_only_with_a_yes(void **state)
{
	struct fixture *f = *state;
	const char *params = arena_printf(&f->arena, "{'session':'s%lld'", (long long)f->s1);
	struct reply r = ask(f, "forget", arena_printf(&f->arena, "%s}", params));
	assert_int_equal(r.err.code, ERR_USAGE);
	assert_non_null(strstr(r.err.text, "2 memories, 3 events, 1 session"));
	assert_non_null(strstr(r.err.hint, "--yes"));
	reply_done(&r);
	r = ask(f, "forget", arena_printf(&f->arena, "%s,'dry_run':true}", params));
	assert_int_equal(json_len(list(&r, "forgotten")), 0);
	assert_int_equal(json_int(json_get(r.json, "plan"), "memories", 0), 2);
	assert_true(has_title(json_get(json_get(r.json, "plan"), "items"), "Refresh token"));
	reply_done(&r);
	assert_true(finds(f, "rotation", "Refresh token"));
	assert_int_equal(f->purges, 0);
}

static void a_forgotten_session_is_gone_from_everywhere(void **state)
{
	struct fixture *f = *state;
	const char *bad = path_join(&f->arena, f->paths.spool, "bad");
	assert_int_equal(file_mkdirs(bad, 0700, NULL), 0);
	const char *one = path_join(&f->arena, bad, "one"), *two = path_join(&f->arena, bad, "two");
	assert_int_equal(file_write(one, "x 11111111-aaaa y", 17, 0600, NULL), 0);
	assert_int_equal(file_write(two, "x 99999999-aaaa y", 17, 0600, NULL), 0);
	struct reply r = ask(f, "backup", "{}");
	const char *backup = arena_str(&f->arena, json_str(r.json, "file"));
	reply_done(&r);
	r = ask(f, "forget", "{'session':'11111111-aaaa','yes':true}");
	assert_true(json_len(list(&r, "forgotten")) >= 3);
	assert_string_equal(json_value_str(json_at(list(&r, "backups"), 0)), backup);
	reply_done(&r);
	assert_false(finds(f, "rotation", "Refresh token"));
	assert_false(finds(f, "rotation", "refresh token"));
	assert_false(file_exists(one));
	assert_true(file_exists(two));
	r = ask(f, "timeline", arena_printf(&f->arena, "{'ref':'s%lld'}", (long long)f->s1));
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	reply_done(&r);
	r = ask(f, "forget", "{'refs':['424242']}");
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	reply_done(&r);
	r = ask(f, "forget", "{}");
	assert_int_equal(r.err.code, ERR_USAGE);
	reply_done(&r);
}

static void a_text_can_be_forgotten_wherever_it_stands(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "forget", "{'match':'e-mail address','yes':true}");
	assert_false(r.failed);
	reply_done(&r);
	assert_false(finds(f, "address", "e-mail"));
	assert_true(finds(f, "rotation", "Refresh token"));
}

static void a_pause_holds_until_resumed(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "pause", "{'for':'2h','project':'app'}");
	assert_true(json_int(r.json, "until", 0) > f->now + HOUR);
	assert_int_equal(json_len(list(&r, "pauses")), 1);
	reply_done(&r);
	bool excluded;
	struct exclusion x = { .at = clock_now(), .agent = AGENT_CLAUDE, .agent_session = "new", .project = f->app_id };
	assert_int_equal(store_is_excluded(f->reader, &x, &excluded, NULL), 0);
	assert_true(excluded);
	r = ask(f, "status", "{}");
	assert_string_equal(json_str(json_at(list(&r, "paused"), 0), "project"), "app");
	reply_done(&r);
	r = ask(f, "resume", "{'project':'app'}");
	assert_int_equal(json_int(r.json, "ended", 0), 1);
	assert_int_equal(json_len(list(&r, "pauses")), 0);
	reply_done(&r);
	r = ask(f, "pause", "{'for':'soon'}");
	assert_int_equal(r.err.code, ERR_USAGE);
	reply_done(&r);
	r = ask(f, "pause", "{'session':'s4242'}");
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	reply_done(&r);
}

static void settings_are_listed_and_changed(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "config", "{'action':'list'}");
	assert_int_equal(json_len(list(&r, "settings")), SETTING_COUNT);
	reply_done(&r);
	r = ask(f, "config", "{'action':'set','key':'context.max_chars','value':'8000'}");
	assert_false(r.failed);
	assert_int_equal(f->settings_changes, 1);
	reply_done(&r);
	struct settings *s;
	assert_int_equal(settings_load(f->paths.settings, &s, NULL, NULL), 0);
	assert_int_equal(settings_int(s, SET_CONTEXT_MAX_CHARS), 8000);
	settings_free(s);
	r = ask(f, "config", "{'action':'get','key':'hook.ask_ms'}");
	assert_string_equal(json_str(r.json, "value"), "300");
	reply_done(&r);
	r = ask(f, "config", "{'action':'get','key':'hook.ask_m'}");
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(r.err.hint, "hook.ask_ms"));
	reply_done(&r);
	r = ask(f, "config", "{'action':'set','key':'context.max_chars','value':'many'}");
	assert_true(r.failed);
	reply_done(&r);
}

static void lists_and_numbers_are_those_of_the_store(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "sessions", "{}");
	assert_int_equal(json_len(list(&r, "sessions")), 3);
	reply_done(&r);
	r = ask(f, "sessions", "{'project':'app','branch':'main','limit':1}");
	assert_int_equal(json_len(list(&r, "sessions")), 1);
	assert_string_equal(json_str(json_at(list(&r, "sessions"), 0), "agent_session"), "22222222-bbbb");
	reply_done(&r);
	r = ask(f, "sessions", "{'project':'app','branch':'main','limit':1,'offset':1}");
	assert_string_equal(json_str(json_at(list(&r, "sessions"), 0), "agent_session"), "11111111-aaaa");
	reply_done(&r);
	r = ask(f, "stats", "{}");
	assert_int_equal(json_int(r.json, "sessions", 0), 3);
	assert_int_equal(json_int(r.json, "events", 0), 6);
	assert_int_equal(json_int(json_get(r.json, "memories"), "observation", 0), 3);
	assert_int_equal(json_int(json_get(r.json, "memories"), "summary", 0), 2);
	assert_true(json_int(r.json, "index_documents", 0) > 0);
	reply_done(&r);
	r = ask(f, "stats", "{'project':'other'}");
	assert_int_equal(json_int(r.json, "sessions", 0), 1);
	reply_done(&r);
	r = ask(f, "projects", "{}");
	assert_int_equal(json_len(list(&r, "projects")), 2);
	reply_done(&r);
}

static void why_shows_what_was_given_to_the_last_session(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "why", "{}");
	assert_int_equal(json_len(list(&r, "injections")), 0);
	reply_done(&r);
	const int64_t memories[] = { 1, 2 };
	struct injection in = { .session = f->s2, .at = f->now, .where = "start", .memories = memories, .n = 2, .chars = 4000 };
	assert_int_equal(store_injection_put(f->writer, &in, NULL), 0);
	r = ask(f, "why", "{}");
	assert_string_equal(json_str(r.json, "agent_session"), "22222222-bbbb");
	const json *one = json_at(list(&r, "injections"), 0);
	assert_string_equal(json_str(one, "where"), "start");
	assert_int_equal(json_int(one, "tokens", 0), 1000);
	assert_true(has_title(json_get(one, "memories"), "Refresh token"));
	reply_done(&r);
	r = ask(f, "why", "{'session':'11111111-aaaa'}");
	assert_int_equal(json_len(list(&r, "injections")), 0);
	reply_done(&r);
}

static void a_sound_store_passes_the_doctor_and_a_quarantined_file_does_not(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "doctor", "{'deep':true}");
	for (size_t i = 0; i < json_len(list(&r, "checks")); i++) {
		const json *c = json_at(list(&r, "checks"), i);
		if (!json_bool(c, "ok", false))
			fail_msg("%s: %s", json_str(c, "name"), json_str(c, "detail"));
	}
	assert_true(json_bool(r.json, "ok", false));
	reply_done(&r);
	const char *bad = path_join(&f->arena, f->paths.spool, "bad");
	assert_int_equal(file_mkdirs(bad, 0700, NULL), 0);
	assert_int_equal(file_write(path_join(&f->arena, bad, "x"), "x", 1, 0600, NULL), 0);
	r = ask(f, "doctor", "{}");
	assert_false(json_bool(r.json, "ok", true));
	reply_done(&r);
	doc_id gone = DOC_ID(DOC_MEMORY, 1);
	assert_int_equal(index_remove(f->index, &gone, 1, NULL), 0);
	r = ask(f, "doctor", "{'deep':true}");
	assert_non_null(strstr(r.text, "remanence reindex"));
	reply_done(&r);
	r = ask(f, "reindex", "{}");
	assert_false(r.failed);
	reply_done(&r);
	assert_true(finds(f, "rotation", "Refresh token"));
}

static void an_export_holds_every_memory(void **state)
{
	struct fixture *f = *state;
	struct reply r = ask(f, "export", "{'format':'jsonl','project':'all'}");
	assert_int_equal(json_int(r.json, "memories", 0), 5);
	struct str rest = str_of(json_str(r.json, "text")), line;
	size_t n = 0;
	while (str_line(&rest, &line)) {
		AUTO(json_free_ptr) json *record = NULL;
		assert_int_equal(json_parse(line.p, line.n, &record, NULL), 0);
		assert_string_equal(json_str(record, "record"), "memory");
		assert_non_null(json_str(record, "title"));
		n++;
	}
	assert_int_equal(n, 5);
	reply_done(&r);
	r = ask(f, "export", "{'format':'markdown'}");
	assert_int_equal(json_int(r.json, "memories", 0), 4);
	assert_non_null(strstr(json_str(r.json, "text"), "### Refresh token rotation used minutes as seconds"));
	assert_null(strstr(json_str(r.json, "text"), "scheduler"));
	reply_done(&r);
}

static void a_backup_is_a_store_that_can_be_restored(void **state)
{
	struct fixture *f = *state;
	const char *file = path_join(&f->arena, f->root, "copy.db");
	struct reply r = ask(f, "backup", arena_printf(&f->arena, "{'file':'%s'}", file));
	assert_string_equal(json_str(r.json, "file"), file);
	assert_true(json_int(r.json, "bytes", 0) > 0);
	reply_done(&r);
	r = ask(f, "restore", arena_printf(&f->arena, "{'file':'%s'}", file));
	assert_int_equal(r.err.code, ERR_USAGE);
	assert_int_equal(f->restores, 0);
	reply_done(&r);
	r = ask(f, "restore", arena_printf(&f->arena, "{'file':'%s','yes':true}", file));
	assert_int_equal(json_int(r.json, "events", 0), 6);
	assert_int_equal(f->restores, 1);
	reply_done(&r);
	assert_int_equal(file_write(file, "no store at all", 15, 0600, NULL), 0);
	r = ask(f, "restore", arena_printf(&f->arena, "{'file':'%s','yes':true}", file));
	assert_true(r.failed);
	assert_int_equal(f->restores, 1);
	reply_done(&r);
	r = ask(f, "restore", "{'file':'/nowhere/x.db','yes':true}");
	assert_int_equal(r.err.code, ERR_NOT_FOUND);
	reply_done(&r);
}

static int import_stub(void *daemon, struct op_call *call, const struct import_request *q, struct import_result *ret, struct err *err)
{
	(void)daemon, (void)call, (void)err;
	assert_int_equal(q->n, 1);
	assert_int_equal(q->paths[0][0], '/');
	assert_int_equal(q->agent, AGENT_CODEX);
	assert_true(q->is_dry && q->since > 0);
	static struct import_skip skipped = { "/x", "not JSON" };
	*ret = (struct import_result){ .files = 3, .sessions = 2, .events = 40, .new_events = 4, .skipped = &skipped, .nskipped = 1 };
	ret->agent_sessions[AGENT_CODEX] = 2;
	return 0;
}

static void import_passes_on_what_was_asked_and_tells_what_came(void **state)
{
	struct fixture *f = *state;
	f->services.import = import_stub;
	struct reply r = ask(f, "import", "{'paths':['some/where'],'agent':'codex','since':'7d','dry_run':true}");
	assert_int_equal(json_int(r.json, "files", 0), 3);
	assert_int_equal(json_int(json_get(r.json, "agents"), "codex", 0), 2);
	assert_string_equal(json_str(json_at(list(&r, "skipped"), 0), "reason"), "not JSON");
	reply_done(&r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_note_is_found_changed_pinned_and_forgotten),
		CASE(saying_it_again_gives_the_memory_that_is_there),
		CASE(a_category_makes_it_a_fact_and_an_agent_is_trusted_less),
		CASE(secrets_are_taken_out_and_a_secret_alone_is_refused),
		CASE(a_new_project_name_makes_the_project),
		CASE(more_than_one_thing_is_forgotten_only_with_a_yes),
		CASE(a_forgotten_session_is_gone_from_everywhere),
		CASE(a_text_can_be_forgotten_wherever_it_stands),
		CASE(a_pause_holds_until_resumed),
		CASE(settings_are_listed_and_changed),
		CASE(lists_and_numbers_are_those_of_the_store),
		CASE(why_shows_what_was_given_to_the_last_session),
		CASE(a_sound_store_passes_the_doctor_and_a_quarantined_file_does_not),
		CASE(an_export_holds_every_memory),
		CASE(a_backup_is_a_store_that_can_be_restored),
		CASE(import_passes_on_what_was_asked_and_tells_what_came),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
