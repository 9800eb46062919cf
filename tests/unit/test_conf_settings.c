/* Settings: where values come from, how bad ones are told, how the file is changed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "conf/paths.h"
#include "conf/settings.h"

static char folder[] = "/tmp/test-settings-XXXXXX";
static char path[64];

static void put(const char *text)
{
	struct err err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), 0600, &err), 0);
}

static struct settings *load(struct buf *warnings)
{
	struct settings *s = NULL;
	struct err err = { 0 };

	assert_int_equal(settings_load(path, &s, warnings, &err), 0);
	return s;
}

static void assert_file(const char *expected)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct err err = { 0 };

	assert_int_equal(file_read(path, 1 << 20, &text, &err), 0);
	assert_string_equal(buf_cstr(&text), expected);
}

static void every_default_is_valid_and_every_row_is_filled(void **state)
{
	unlink(path);
	struct settings *s = load(NULL);

	for (int i = 0; i < SETTING_COUNT; i++) {
		assert_non_null(settings_table[i].key);
		assert_non_null(settings_table[i].help);
		assert_string_equal(settings_origin(s, (enum setting_id)i), "default");
		assert_int_equal(setting_find(settings_table[i].key), i);
	}
	assert_int_equal(settings_int(s, SET_HOOK_ASK_MS), 300);
	assert_true(settings_bool(s, SET_CAPTURE_HEADLESS));
	assert_null(settings_list(s, SET_CAPTURE_EXCLUDE)[0]);
	settings_free(s);
}

static void keys_may_be_nested_or_dotted(void **state)
{
	put("{\"context\": {\"full\": 7, \"max_chars\": \"800\"}, \"hook.ask_ms\": 50, "
	    "\"capture\": {\"exclude\": [\"/a,b\", \"/c\"]}}");
	struct settings *s = load(NULL);

	assert_int_equal(settings_int(s, SET_CONTEXT_FULL), 7);
	assert_int_equal(settings_int(s, SET_CONTEXT_MAX_CHARS), 800);
	assert_int_equal(settings_int(s, SET_HOOK_ASK_MS), 50);
	assert_string_equal(settings_list(s, SET_CAPTURE_EXCLUDE)[0], "/a,b");
	assert_string_equal(settings_list(s, SET_CAPTURE_EXCLUDE)[1], "/c");
	assert_null(settings_list(s, SET_CAPTURE_EXCLUDE)[2]);
	assert_string_equal(settings_origin(s, SET_CONTEXT_FULL), "file");
	settings_free(s);
}

static void the_environment_comes_before_the_file(void **state)
{
	put("{\"hook.ask_ms\": 50}");
	setenv("REMANENCE_HOOK_ASK_MS", "70", 1);
	setenv("REMANENCE_CAPTURE_SKIP_TOOLS", "TodoWrite, Glob*", 1);
	struct settings *s = load(NULL);

	assert_int_equal(settings_int(s, SET_HOOK_ASK_MS), 70);
	assert_string_equal(settings_origin(s, SET_HOOK_ASK_MS), "environment");
	assert_string_equal(settings_list(s, SET_CAPTURE_SKIP_TOOLS)[1], "Glob*");
	settings_free(s);
	unsetenv("REMANENCE_HOOK_ASK_MS");
	unsetenv("REMANENCE_CAPTURE_SKIP_TOOLS");
}

static void bad_values_and_unknown_keys_are_said_and_the_default_holds(void **state)
{
	AUTO(buf_done) struct buf warnings = { 0 };

	put("{\"hook.ask_ms\": \"soon\", \"context\": {\"ful\": 3}, \"review.threshold\": 7, "
	    "\"log.level\": \"loud\"}");
	struct settings *s = load(&warnings);

	assert_int_equal(settings_int(s, SET_HOOK_ASK_MS), 300);
	assert_non_null(strstr(warnings.data,
		"hook.ask_ms is 'soon', but takes a number from 10 to 10000; 300 holds"));
	assert_non_null(strstr(
		warnings.data, "there is no setting 'context.ful'; is 'context.full' meant?"));
	assert_non_null(strstr(warnings.data, "review.threshold is '7'"));
	assert_non_null(strstr(warnings.data, "takes one of error|warn|info|debug"));
	settings_free(s);
}

static void a_secret_in_a_file_that_others_can_read_is_said_and_never_shown(void **state)
{
	AUTO(buf_done) struct buf quiet = { 0 }, warnings = { 0 };

	put("{\"observer.key\": \"sk-one\"}");
	settings_free(load(&quiet));
	assert_int_equal(quiet.len, 0);
	assert_int_equal(chmod(path, 0644), 0);
	struct settings *s = load(&warnings);
	assert_string_equal(settings_text(s, SET_OBSERVER_KEY), "sk-one");
	assert_non_null(strstr(warnings.data, "others can read this file, and observer.key in it is a secret"));
	assert_null(strstr(warnings.data, "sk-one"));
	assert_int_equal(chmod(path, 0600), 0);
	settings_free(s);
}

static void a_file_that_is_not_json_is_an_error_that_names_it(void **state)
{
	struct settings *s = NULL;
	struct err err = { 0 };

	put("{\"hook.ask_ms\": ");
	assert_int_equal(settings_load(path, &s, NULL, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, path));
	put("  \n");
	settings_free(load(NULL));
}

static void a_change_keeps_everything_else_in_order(void **state)
{
	struct err err = { 0 };

	put("{\"zeta\": [1, 2.50], \"context\": {\"full\": 7, \"other\": null}, \"hook.ask_ms\": "
	    "50}");
	assert_int_equal(settings_change(path, "context.full", "9", &err), 0);
	assert_int_equal(settings_change(path, "hook.ask_ms", "60", &err), 0);
	assert_int_equal(settings_change(path, "capture.exclude", "/a, /b", &err), 0);
	assert_file("{\n  \"zeta\": [1,2.50],\n  \"context\": {\n    \"full\": 9,\n    \"other\": "
		    "null\n  },\n"
		    "  \"hook.ask_ms\": 60,\n  \"capture.exclude\": [\"/a\",\"/b\"]\n}\n");
	assert_int_equal(settings_change(path, "context.full", NULL, &err), 0);
	assert_int_equal(settings_change(path, "hook.ask_ms", NULL, &err), 0);
	assert_file("{\n  \"zeta\": [1,2.50],\n  \"context\": {\n    \"other\": null\n  },\n"
		    "  \"capture.exclude\": [\"/a\",\"/b\"]\n}\n");
}

static void a_change_makes_the_file_and_refuses_bad_values(void **state)
{
	struct err err = { 0 };

	unlink(path);
	assert_int_equal(settings_change(path, "context.full", "many", &err), -1);
	assert_int_equal(settings_change(path, "context.fuul", "3", &err), -1);
	assert_string_equal(err.hint, "is 'context.full' meant?");
	assert_int_equal(settings_change(path, "capture.headless", "off", &err), 0);
	assert_file("{\n  \"capture.headless\": false\n}\n");
	assert_int_equal(settings_change(path, "capture.headless", NULL, &err), 0);
	assert_file("{}\n");
}

static void a_text_has_no_white_space_around_it_and_no_control_characters(void **state)
{
	struct err err = { 0 };

	unlink(path);
	assert_int_equal(settings_change(path, "author", " Ada Byron\n", &err), 0);
	assert_file("{\n  \"author\": \"Ada Byron\"\n}\n");
	assert_int_equal(settings_change(path, "author", "Ada\tByron", &err), -1);
	assert_string_equal(err.text, "author holds a control character");
}

static void paths_follow_the_variables(void **state)
{
	struct arena a = { 0 };
	struct paths p;
	struct err err = { 0 };

	setenv("HOME", "/h", 1);
	unsetenv("REMANENCE_HOME");
	unsetenv("XDG_DATA_HOME");
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	assert_int_equal(paths_init(&p, NULL, &a, &err), 0);
	assert_string_equal(p.home, "/h/.local/share/remanence");
	assert_null(p.spare);
	setenv("REMANENCE_HOME", "/x/../y/", 1);
	assert_int_equal(paths_init(&p, NULL, &a, &err), 0);
	assert_string_equal(p.socket, "/y/run/socket");
	assert_int_equal(paths_init(&p, "/given", &a, &err), 0);
	assert_string_equal(p.home, "/given");
	unsetenv("REMANENCE_HOME");
	unsetenv("HOME");
	assert_int_equal(paths_init(&p, NULL, &a, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	arena_done(&a);
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	strcat(strcpy(path, folder), "/settings.json");
	return 0;
}

static int remove_folder(void **state)
{
	return file_remove_tree(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_default_is_valid_and_every_row_is_filled),
		cmocka_unit_test(keys_may_be_nested_or_dotted),
		cmocka_unit_test(the_environment_comes_before_the_file),
		cmocka_unit_test(bad_values_and_unknown_keys_are_said_and_the_default_holds),
		cmocka_unit_test(
			a_secret_in_a_file_that_others_can_read_is_said_and_never_shown),
		cmocka_unit_test(a_file_that_is_not_json_is_an_error_that_names_it),
		cmocka_unit_test(a_change_keeps_everything_else_in_order),
		cmocka_unit_test(a_change_makes_the_file_and_refuses_bad_values),
		cmocka_unit_test(a_text_has_no_white_space_around_it_and_no_control_characters),
		cmocka_unit_test(paths_follow_the_variables),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
