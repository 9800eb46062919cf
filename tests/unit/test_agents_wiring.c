/* Installing into and uninstalling from the configurations of agents, in a home of its own. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/json_tree.h"
#include "agents/sha256.h"
#include "agents/toml_scan.h"
#include "agents/wiring.h"
#include "agents/wiring_text.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static char home[] = "/tmp/remanence-wiring-XXXXXX";
static struct arena a;
static uint64_t seed = 20261129;

static int make(void **state)
{
	unsetenv("CLAUDE_CONFIG_DIR");
	unsetenv("CODEX_HOME");
	return mkdtemp(home) ? 0 : -1;
}

static int clean(void **state)
{
	file_remove_tree(home, NULL);
	arena_done(&a);
	return 0;
}

static int empty(void **state)
{
	file_remove_tree(home, NULL);
	return mkdir(home, 0700);
}

static const char *in(const char *name)
{
	return path_join(&a, home, name);
}

static void put(const char *name, const char *text)
{
	struct err err = { 0 };
	assert_int_equal(file_mkdirs(path_parent(&a, in(name)), 0700, &err), 0);
	assert_int_equal(file_write(in(name), text, strlen(text), 0600, &err), 0);
}

static const char *get(const char *name)
{
	struct buf b = { 0 };
	if (file_read(in(name), 1 << 20, &b, NULL))
		return NULL;
	const char *ret = arena_dup(&a, buf_cstr(&b), b.len);
	buf_done(&b);
	return ret;
}

static struct wiring_context context(void)
{
	return (struct wiring_context){
		.arena = &a,
		.user_home = home,
		.executable = "/opt/my tools/bin/remanence",
		.manifest = in("data/manifest.json"),
	};
}

static struct wiring_plan run_as(
	struct wiring_context c, const char *agent, bool is_removal, int failed)
{
	struct wiring_plan plan;
	struct err err = { 0 };
	assert_int_equal(wiring_plan(&c, agent, is_removal, &plan, &err), 0);
	assert_int_equal(wiring_apply(&c, agent, is_removal, &plan, &err), failed);
	return plan;
}

static struct wiring_plan run(const char *agent, bool is_removal)
{
	return run_as(context(), agent, is_removal, 0);
}

static void assert_json(const char *text)
{
	struct jnode *root;
	struct err err = { 0 };
	if (jnode_parse(&a, str_of(text), &root, &err))
		fail_msg("%s in:\n%s", err.text, text);
	json *j = NULL;
	assert_int_equal(json_parse(text, strlen(text), &j, &err), 0);
	json_free(j);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
		n++;
	return n;
}

static void hooks_are_added_in_the_style_of_the_file(void **state)
{
	put(".claude/settings.json",
		"{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            "
		"{\"hooks\": []}\n        ]\n    }\n}\n");
	run("claude", false);
	const char *now = get(".claude/settings.json");
	assert_json(now);
	assert_int_equal(count(now, " hook claude "), 10);
	assert_non_null(strstr(now,
		"\n        \"SessionStart\": [\n            {\n                \"hooks\": [\n"));
	assert_non_null(strstr(
		now, "\"command\": \"\\\"/opt/my tools/bin/remanence\\\" hook claude Stop\""));
	assert_non_null(strstr(now, "{\"hooks\": []},\n            {\n"));
}

static void installing_twice_changes_nothing(void **state)
{
	put(".claude/settings.json", "{}");
	run("claude", false);
	const char *first = get(".claude/settings.json");
	struct wiring_plan again = run("claude", false);
	assert_true(again.edits[0].is_noop && again.edits[1].is_noop);
	assert_string_equal(get(".claude/settings.json"), first);
	run("claude", true);
	assert_string_equal(get(".claude/settings.json"), "{}");
}

static void files_that_we_made_go_again(void **state)
{
	put(".claude/x", "");
	run("claude", false);
	assert_json(get(".claude/settings.json"));
	assert_non_null(
		strstr(get(".claude.json"), "\"command\": \"/opt/my tools/bin/remanence\""));
	run("claude", true);
	assert_null(get(".claude/settings.json"));
	assert_null(get(".claude.json"));
	assert_null(get("data/manifest.json"));
}

static void a_file_that_we_made_and_somebody_filled_stays(void **state)
{
	put(".claude/x", "");
	run("claude", false);
	const char *now = get(".claude/settings.json");
	put(".claude/settings.json", arena_printf(&a, "{\n  \"model\": \"opus\",%s", now + 1));
	run("claude", true);
	assert_string_equal(get(".claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n");
}

static void an_older_path_is_replaced_and_nothing_is_left_of_it(void **state)
{
	put(".claude/settings.json", "{\n  \"a\": 1\n}\n");
	struct wiring_context old = context();
	old.executable = "/old/remanence";
	run_as(old, "claude", false, 0);
	run("claude", false);
	const char *now = get(".claude/settings.json");
	assert_null(strstr(now, "/old/"));
	assert_null(strstr(get(".claude.json"), "/old/"));
	assert_int_equal(count(now, " hook claude "), 10);
	run("claude", true);
	assert_string_equal(get(".claude/settings.json"), "{\n  \"a\": 1\n}\n");
	assert_null(get(".claude.json"));
}

static void without_a_manifest_our_entries_are_known_by_their_command(void **state)
{
	put(".claude/settings.json", "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", "
				     "\"command\": \"echo hook claude Stop\"}]}]}}");
	run("claude", false);
	assert_int_equal(unlink(in("data/manifest.json")), 0);
	run("claude", true);
	const char *now = get(".claude/settings.json");
	assert_json(now);
	assert_null(strstr(now, "remanence"));
	assert_non_null(strstr(now, "echo hook claude Stop"));
}

static void the_persons_own_hooks_in_our_group_stay(void **state)
{
	put(".claude/settings.json", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"true\"},{"
				     "\"command\":\"\\\"/x/remanence\\\" hook claude Stop\"}]}]}}");
	run("claude", true);
	assert_string_equal(get(".claude/settings.json"),
		"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"true\"}]}]}}");
}

static void configuration_that_is_no_json_is_left_alone(void **state)
{
	put(".claude/settings.json", "{ \"a\": 1,, }");
	struct wiring_plan plan = run_as(context(), "claude", false, 1);
	assert_non_null(strstr(plan.edits[0].problem, "line 1"));
	assert_string_equal(get(".claude/settings.json"), "{ \"a\": 1,, }");
	assert_non_null(get(".claude.json"));
	put(".claude/settings.json", "[1]");
	plan = run_as(context(), "claude", false, 1);
	assert_non_null(strstr(plan.edits[0].problem, "object"));
	put(".claude/settings.json", "{\"hooks\": []}");
	plan = run_as(context(), "claude", false, 1);
	assert_string_equal(get(".claude/settings.json"), "{\"hooks\": []}");
}

static void read_only_configuration_is_reported_in_a_sentence(void **state)
{
	put(".claude/settings.json", "{}");
	chmod(in(".claude/settings.json"), 0444);
	struct wiring_plan plan = run_as(context(), "claude", false, 1);
	assert_non_null(strstr(plan.edits[0].problem, "read-only"));
	assert_string_equal(get(".claude/settings.json"), "{}");
}

static void links_are_followed_and_kept(void **state)
{
	struct stat st;
	put("dotfiles/claude.json", "{\n\t\"x\": true\n}\n");
	put(".claude/y", "");
	assert_int_equal(symlink("../dotfiles/claude.json", in(".claude/settings.json")), 0);
	run("claude", false);
	assert_int_equal(lstat(in(".claude/settings.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_non_null(
		strstr(get("dotfiles/claude.json"), "\n\t\"hooks\": {\n\t\t\"SessionStart\""));
	run("claude", true);
	assert_string_equal(get("dotfiles/claude.json"), "{\n\t\"x\": true\n}\n");
	assert_int_equal(lstat(in(".claude/settings.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void a_folder_moved_by_the_variable_is_used(void **state)
{
	setenv("CLAUDE_CONFIG_DIR", in("elsewhere"), 1);
	run("claude", false);
	assert_non_null(get("elsewhere/settings.json"));
	assert_non_null(get("elsewhere/.claude.json"));
	run("claude", true);
	unsetenv("CLAUDE_CONFIG_DIR");
	assert_null(get("elsewhere/settings.json"));
}

static void a_change_between_plan_and_apply_is_noticed(void **state)
{
	struct wiring_context c = context();
	struct wiring_plan plan;
	struct err err = { 0 };
	put(".claude/settings.json", "{}");
	assert_int_equal(wiring_plan(&c, "claude", false, &plan, &err), 0);
	put(".claude/settings.json", "{\"b\":2}");
	assert_int_equal(wiring_apply(&c, "claude", false, &plan, &err), 1);
	assert_string_equal(get(".claude/settings.json"), "{\"b\":2}");
	run("claude", true);
	assert_string_equal(get(".claude/settings.json"), "{\"b\":2}");
}

static void commands_are_quoted_for_a_shell(void **state)
{
	struct wiring_context c = context();
	c.executable = "/a b/$x`y\"z\\/remanence";
	c.data_home = "/my data";
	const char *command = wire_hook_command(&a, &c, "claude", "Stop");
	assert_string_equal(command, "REMANENCE_HOME=\"/my data\" \"/a "
				     "b/\\$x\\`y\\\"z\\\\/remanence\" hook claude Stop");
	assert_true(wire_is_our_command(command));
	assert_true(wire_is_our_command("/usr/bin/remanence hook codex Stop"));
	assert_true(wire_is_our_command("remanence hook codex Stop"));
	assert_false(wire_is_our_command("/usr/bin/my-remanence hook codex Stop"));
	assert_false(wire_is_our_command("remanence-old hook claude Stop"));
	assert_false(wire_is_our_command("echo remanence"));
	assert_false(wire_is_our_command(NULL));
}

/* Codex. */

static void codex_gets_hooks_and_a_server_behind_everything_else(void **state)
{
	static const char config[] = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand "
				     "= \"y\"\nargs = [\n  \"a\", # b\n]\n";
	put(".codex/config.toml", config);
	struct wiring_plan plan = run("codex", false);
	assert_int_equal(plan.nnotes, 1);
	const char *now = get(".codex/config.toml");
	assert_string_equal(now, arena_printf(&a,
					 "%s\n[mcp_servers.remanence]\ncommand = \"/opt/my "
					 "tools/bin/remanence\"\nargs = [\"mcp\"]\n",
					 config));
	assert_int_equal(count(get(".codex/hooks.json"), " hook codex "), 9);
	assert_true(run("codex", false).edits[1].is_noop);
	run("codex", true);
	assert_string_equal(get(".codex/config.toml"), config);
	assert_null(get(".codex/hooks.json"));
}

static void what_was_added_behind_our_table_stays(void **state)
{
	put(".codex/config.toml", "a = 1\n");
	run("codex", false);
	put(".codex/config.toml",
		arena_printf(&a,
			"%s\n[mcp_servers.remanence.env]\nX = \"1\"\n\n# of b\n[b]\nc = 2\n",
			get(".codex/config.toml")));
	run("codex", true);
	assert_string_equal(get(".codex/config.toml"), "a = 1\n\n# of b\n[b]\nc = 2\n");
}

static void a_server_in_one_line_is_known_and_not_edited(void **state)
{
	static const char *const forms[] = {
		"mcp_servers = { other = { command = \"x\" } }\n",
		"mcp_servers.remanence.command = \"/elsewhere/remanence\"\n",
		"[mcp_servers]\nremanence = { command = \"/elsewhere/remanence\" }\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		put(".codex/config.toml", forms[i]);
		struct wiring_plan plan = run_as(context(), "codex", false, 1);
		assert_non_null(strstr(plan.edits[1].problem, "one line"));
		assert_string_equal(get(".codex/config.toml"), forms[i]);
	}
	put(".codex/config.toml", "[mcp_servers]\nremanence = { command = \"/opt/my "
				  "tools/bin/remanence\", args = [\"mcp\"] }\n");
	assert_true(run("codex", false).edits[1].is_noop);
}

static void only_the_command_of_our_table_is_set_right(void **state)
{
	put(".codex/config.toml", "[ mcp_servers . \"remanence\" ]\r\ncommand = '/old/remanence' # "
				  "c\r\nargs = [\"mcp\"]\r\nstartup_timeout_sec = 5\r\n");
	run("codex", false);
	assert_string_equal(get(".codex/config.toml"),
		"[ mcp_servers . \"remanence\" ]\r\ncommand = \"/opt/my tools/bin/remanence\" # "
		"c\r\nargs = [\"mcp\"]\r\nstartup_timeout_sec = 5\r\n");
}

static void trust_entries_carry_the_hash_that_codex_computes(void **state)
{
	struct wiring_context c = context();
	c.executable = "/r/remanence";
	c.trust = true;
	put(".codex/config.toml", "a = 1\n");
	put(".codex/hooks.json", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
				 "\"command\":\"true\"}]}]}}");
	struct wiring_plan plan = run_as(c, "codex", false, 0);
	assert_int_equal(plan.nnotes, 0);
	const char *now = get(".codex/config.toml");
	assert_int_equal(count(now, "trusted_hash = \"sha256:"), 9);
	assert_non_null(strstr(
		now, arena_printf(&a, "[hooks.state.\"%s:stop:1:0\"]\n", in(".codex/hooks.json"))));
	/* sha256 of {"event_name":"session_end","hooks":[{"async":false,"command":"\"/r/remanence\" hook codex SessionEnd","timeout":3,"type":"command"}]} */
	char hex[SHA256_HEX];
	static const char text[] =
		"{\"event_name\":\"session_end\",\"hooks\":[{\"async\":false,\"command\":\"\\\"/r/"
		"remanence\\\" hook codex SessionEnd\",\"timeout\":3,\"type\":\"command\"}]}";
	sha256_hex(text, sizeof(text) - 1, hex);
	assert_non_null(strstr(
		now, arena_printf(&a, ":session_end:0:0\"]\ntrusted_hash = \"sha256:%s\"\n", hex)));
	assert_true(run_as(c, "codex", false, 0).edits[1].is_noop);
	put(".codex/config.toml", arena_printf(&a, "%s[b]\n", now));
	run_as(c, "codex", true, 0);
	assert_string_equal(get(".codex/config.toml"), "a = 1\n[b]\n");
}

static void sha256_gives_the_published_values(void **state)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256_HEX];
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sha256_hex(rows[i].text, strlen(rows[i].text), hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

static void toml_is_scanned_over_strings_arrays_and_comments(void **state)
{
	static const char text[] = "a = \"\"\"\n[not.a.table]\n\"\"\" # c\n'b.c' = [\n 1, # ]\n "
				   "[2],\n]\n[[x.y]]\nk.l = { m = '}' }\n";
	struct toml_doc doc;
	struct err err = { 0 };
	assert_int_equal(toml_scan(&a, str_of(text), &doc, &err), 0);
	assert_int_equal(doc.n, 4);
	assert_string_equal(doc.items[1].path[0], "b.c");
	assert_true(doc.items[2].is_list);
	assert_int_equal(doc.items[3].npath, 4);
	assert_string_equal(doc.items[3].path[3], "l");
	static const char *const bad[] = { "a", "a = ", "[a", "a = \"x", "a = [1", "a = 1 ]",
		"[a] b", "= 1" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(toml_scan(&a, str_of(bad[i]), &doc, &err), -1);
}

/* Random documents: install and uninstall give back the bytes, and an edit between them stays. */

static void gap(struct buf *b, const char *style)
{
	static const char *const spaces[] = { "", " ", "\n", "\t", "\r\n", "  ", "\n\n   " };
	buf_str(b, *style == 'r'   ? spaces[unit_below(&seed, ARRAY_LEN(spaces))]
		   : *style == 's' ? " "
				   : "");
}

static void line(struct buf *b, const char *style, int depth)
{
	if (*style != 'n' && *style != 'w')
		return;
	buf_str(b, *style == 'w' ? "\r\n" : "\n");
	for (int i = 0; i < depth; i++)
		buf_str(b, style + 1);
}

static void value(struct buf *b, const char *style, int depth);

static void members(struct buf *b, const char *style, int depth, const char *const *keys, size_t n)
{
	buf_char(b, '{');
	gap(b, style);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_char(b, ',');
		gap(b, style);
		line(b, style, depth + 1);
		buf_printf(b, "\"%s\"", keys[i]);
		gap(b, style);
		buf_char(b, ':');
		gap(b, style);
		value(b, style, depth + 1);
		gap(b, style);
	}
	if (n)
		line(b, style, depth);
	buf_char(b, '}');
}

static void value(struct buf *b, const char *style, int depth)
{
	static const char *const atoms[] = { "1", "-2.5e3", "true", "null", "\"\"",
		"\"a\\\"b\\\\\"", "\"{}[],:\"", "\"é\\u00e9\"", "{}", "[]" };
	static const char *const keys[] = { "k", "long key", "hooks", "mcpServers", "\\n" };
	size_t what = unit_below(&seed, 6);
	if (depth > 4 || what < 3) {
		buf_str(b, atoms[unit_below(&seed, ARRAY_LEN(atoms))]);
	} else if (what < 5) {
		members(b, style, depth, keys, 1 + unit_below(&seed, ARRAY_LEN(keys)));
	} else {
		size_t n = 1 + unit_below(&seed, 3);
		buf_char(b, '[');
		for (size_t i = 0; i < n; i++) {
			buf_str(b, i ? "," : "");
			line(b, style, depth + 1);
			gap(b, style);
			value(b, style, depth + 1);
		}
		line(b, style, depth);
		buf_char(b, ']');
	}
}

static void hooks_value(struct buf *b, const char *style, int depth)
{
	static const char *const lists[] = { "[]", "[ ]",
		"[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]",
		("[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"a\","
		 "\"timeout\":5},{\"type\":\"command\",\"command\":\"b\"}]}]") };
	static const char *const events[] = { "Stop", "PreToolUse", "SessionStart" };
	size_t n = unit_below(&seed, 4);
	buf_char(b, '{');
	for (size_t i = 0; i < n; i++) {
		buf_str(b, i ? "," : "");
		line(b, style, depth + 1);
		buf_printf(b, "\"%s\":%s", events[i], lists[unit_below(&seed, ARRAY_LEN(lists))]);
	}
	line(b, style, depth);
	buf_char(b, '}');
}

static const char *document(void)
{
	static const char *const styles[] = { "c", "s", "r", "n  ", "n    ", "n\t", "w  " };
	const char *style = styles[unit_below(&seed, ARRAY_LEN(styles))];
	AUTO(buf_done) struct buf b = { 0 };
	size_t before = unit_below(&seed, 3), after = unit_below(&seed, 3),
	       has_hooks = unit_below(&seed, 3);
	if (*style == 'r')
		gap(&b, style);
	buf_char(&b, '{');
	bool is_first = true;
	for (size_t i = 0; i < before + after + 1; i++) {
		if (i == before && !has_hooks)
			continue;
		buf_str(&b, is_first ? "" : ",");
		is_first = false;
		line(&b, style, 1);
		gap(&b, style);
		buf_printf(&b, "\"%s%zu\":", i == before ? "" : "key", i);
		if (i == before) {
			buf_cut(&b, b.len - 4 - (i > 9));
			buf_str(&b, "\"hooks\":");
			hooks_value(&b, style, 1);
		} else {
			gap(&b, style);
			value(&b, style, 1);
		}
	}
	line(&b, style, 0);
	buf_char(&b, '}');
	buf_str(&b, unit_below(&seed, 2) ? "\n" : "");
	return arena_dup(&a, buf_cstr(&b), b.len);
}

static bool has_member(const char *text, const char *key)
{
	struct jnode *root;
	return !jnode_parse(&a, str_of(text), &root, NULL) && jnode_get(root, key);
}

static const char *with_member(const char *text)
{
	struct jnode *root;
	assert_int_equal(jnode_parse(&a, str_of(text), &root, NULL), 0);
	return jnode_insert(&a, str_of(text), root, root, "added later", "[1,{\"x\":true}]").p;
}

static const char *plain(const char *text)
{
	json *j = NULL;
	AUTO(buf_done) struct buf b = { 0 };
	assert_int_equal(json_parse(text, strlen(text), &j, NULL), 0);
	json_print(j, &b);
	json_free(j);
	return arena_dup(&a, buf_cstr(&b), b.len);
}

static void random_configurations_come_back_byte_for_byte(void **state)
{
	for (int i = 0; i < 400; i++) {
		const char *before = document();
		assert_json(before);
		put(".claude/settings.json", before);
		put(".claude.json", before);
		run("claude", false);
		const char *now = get(".claude/settings.json");
		assert_json(now);
		assert_json(get(".claude.json"));
		assert_int_equal(count(now, " hook claude "), 10);
		run("claude", true);
		assert_string_equal(get(".claude/settings.json"), before);
		assert_string_equal(get(".claude.json"), before);
		arena_reset(&a);
	}
}

static void an_edit_after_installing_stays_and_only_ours_goes(void **state)
{
	for (int i = 0; i < 400; i++) {
		const char *before = document();
		put(".claude/settings.json", before);
		run("claude", false);
		const char *edited = with_member(get(".claude/settings.json"));
		put(".claude/settings.json", edited);
		if (i % 3 == 0)
			run("claude", false);
		run("claude", true);
		const char *now = get(".claude/settings.json");
		assert_true(has_member(now, "added later"));
		assert_null(strstr(now, "remanence"));
		assert_string_equal(plain(now), plain(with_member(before)));
		arena_reset(&a);
	}
}

/* Inside an empty list or object white space is not kept; everywhere else taking out is the exact inverse of putting in. */
static void after_an_edit_at_the_end_all_other_bytes_are_as_before(void **state)
{
	int done = 0;
	for (int i = 0; i < 400; i++) {
		const char *before = document();
		struct jnode *root;
		assert_int_equal(jnode_parse(&a, str_of(before), &root, NULL), 0);
		struct jnode *hooks = jnode_get(root, "hooks");
		if (strstr(before, "[ ]") || !root->first || (hooks && !hooks->first))
			continue;
		put(".claude/settings.json", before);
		run("claude", false);
		put(".claude/settings.json",
			arena_printf(&a, "%s\n\n", get(".claude/settings.json")));
		run("claude", true);
		assert_string_equal(
			get(".claude/settings.json"), arena_printf(&a, "%s\n\n", before));
		arena_reset(&a);
		done++;
	}
	assert_true(done > 200);
}

static void what_changes_is_shown_as_a_diff(void **state)
{
	struct wiring_context c = context();
	struct wiring_plan plan;
	AUTO(buf_done) struct buf b = { 0 };
	put(".claude/settings.json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
	assert_int_equal(wiring_plan(&c, "claude", false, &plan, NULL), 0);
	wiring_show(&plan.edits[0], &b);
	assert_int_equal(count(buf_cstr(&b), "\n-"), 1);
	assert_non_null(strstr(buf_cstr(&b), "\n-  \"b\": 2\n+  \"b\": 2,\n+  \"hooks\": {\n"));
	assert_null(get("data/manifest.json"));
}

static void agents_that_are_not_there_are_said_not_to_be(void **state)
{
	struct wiring_context c = context();
	struct wiring *list;
	size_t n;
	setenv("PATH", "/nonexistent", 1);
	put(".codex/z", "");
	wiring_find(&c, &list, &n);
	assert_int_equal(n, 2);
	assert_false(list[0].is_found);
	assert_non_null(strstr(list[0].why_not, ".claude"));
	assert_true(list[1].is_found);
	assert_int_equal(wiring_plan(&c, "nobody", false, &(struct wiring_plan){ 0 }, NULL), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, empty)
	const struct CMUnitTest tests[] = {
		T(hooks_are_added_in_the_style_of_the_file),
		T(installing_twice_changes_nothing),
		T(files_that_we_made_go_again),
		T(a_file_that_we_made_and_somebody_filled_stays),
		T(an_older_path_is_replaced_and_nothing_is_left_of_it),
		T(without_a_manifest_our_entries_are_known_by_their_command),
		T(the_persons_own_hooks_in_our_group_stay),
		T(configuration_that_is_no_json_is_left_alone),
		T(read_only_configuration_is_reported_in_a_sentence),
		T(links_are_followed_and_kept),
		T(a_folder_moved_by_the_variable_is_used),
		T(a_change_between_plan_and_apply_is_noticed),
		T(commands_are_quoted_for_a_shell),
		T(codex_gets_hooks_and_a_server_behind_everything_else),
		T(what_was_added_behind_our_table_stays),
		T(a_server_in_one_line_is_known_and_not_edited),
		T(only_the_command_of_our_table_is_set_right),
		T(trust_entries_carry_the_hash_that_codex_computes),
		T(sha256_gives_the_published_values),
		T(toml_is_scanned_over_strings_arrays_and_comments),
		T(random_configurations_come_back_byte_for_byte),
		T(an_edit_after_installing_stays_and_only_ours_goes),
		T(after_an_edit_at_the_end_all_other_bytes_are_as_before),
		T(what_changes_is_shown_as_a_diff),
		T(agents_that_are_not_there_are_said_not_to_be),
	};
	return cmocka_run_group_tests(tests, make, clean);
}
