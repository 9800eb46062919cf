/*
 * The client's half of the self-check: what must hold for the daemon to be reached at all, and what
 * stands in the agents' configurations. The daemon's half is appended; a daemon that cannot start
 * is one more finding.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "build_id.h"
#include "client/client.h"
#include "client/start.h"
#include "client/wired.h"
#include "conf/settings.h"

#define DAY_MS 86400000ll
#define WAITING_OLD_MS 120000
#define LOG_TAIL 2048
#define HOOK_LOG_MAX (4u << 20)
#define PRIVATE_BITS 077

struct checks {
	struct client *c;
	struct buf json;
	struct jw w;
	bool is_ok;
	const char *names[32];
	size_t n;
};

static void add(
	struct checks *k, const char *name, bool is_ok, const char *detail, const char *advice)
{
	jw_object(&k->w, NULL);
	jw_str(&k->w, "name", name);
	jw_bool(&k->w, "ok", is_ok);
	jw_str(&k->w, "detail", detail ? detail : "");
	jw_str(&k->w, "advice", is_ok || !advice ? "" : advice);
	jw_end(&k->w, '}');
	k->is_ok &= is_ok;
	if (k->n < ARRAY_LEN(k->names))
		k->names[k->n++] = name;
}

#define TEXT(k, ...) arena_printf(&(k)->c->arena, __VA_ARGS__)

static void check_programs(struct checks *k)
{
	AUTO(buf_done) struct buf daemon = { 0 };
	struct err err = { 0 };

	if (start_find(&daemon, &err) < 0)
		add(k, "programs", false, err.text, err.hint);
	else
		add(k, "programs", true,
			TEXT(k, "remanence %s, daemon at %s", REMANENCE_BUILD_ID, daemon.data),
			NULL);
}

/* File systems on which locks and the write-ahead log do not hold (linux/magic.h). */
static const struct {
	unsigned long magic;
	const char *name;
} network_systems[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xfe534d42, "SMB" },
	{ 0xff534d42, "CIFS" },
	{ 0x01021997, "9P" },
	{ 0x5346414f, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x00c36400, "Ceph" },
};

static const char *network_system(const char *path)
{
	struct statfs s;

	if (statfs(path, &s) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(network_systems); i++)
		if (((unsigned long)s.f_type & 0xffffffff) == network_systems[i].magic)
			return network_systems[i].name;
	return NULL;
}

static void check_folder(struct checks *k)
{
	const char *home = k->c->paths.home, *network;
	struct stat st;
	struct err err = { 0 };

	if (paths_create(&k->c->paths, &err) < 0 || stat(home, &st) < 0) {
		add(k, "data_folder", false, err.text,
			"Make it a folder of your own that can be written, or set REMANENCE_HOME.");
		return;
	}
	bool is_private = !(st.st_mode & PRIVATE_BITS) && st.st_uid == geteuid();
	bool is_writable = access(home, W_OK) == 0;
	add(k, "data_folder", is_private && is_writable, home,
		is_writable ? TEXT(k, "Others can read it: chmod 700 '%s'", home)
			    : "It cannot be written; free it, or set REMANENCE_HOME.");
	network = network_system(home);
	add(k, "file_system", !network, network ? TEXT(k, "%s is on %s", home, network) : "local",
		"Locks do not hold on a network file system: set REMANENCE_HOME to a local "
		"folder.");
}

static void check_settings(struct checks *k)
{
	AUTO(buf_done) struct buf warnings = { 0 };
	struct settings *s = NULL;
	struct err err = { 0 };

	if (settings_load(k->c->paths.settings, &s, &warnings, &err) < 0)
		add(k, "settings", false, err.text, err.hint);
	else
		add(k, "settings", !warnings.len,
			warnings.len ? TEXT(k, "%.*s", (int)warnings.len - 1, warnings.data)
				     : k->c->paths.settings,
			"`remanence config` shows each setting with its values.");
	settings_free(s);
}

/* The age of the oldest file, by the time in its name. */
static int64_t oldest_age(struct checks *k, const char *folder, size_t *ret_n)
{
	char **names;
	int64_t at = 0;

	if (file_list(&k->c->arena, folder, &names, ret_n, NULL) < 0)
		*ret_n = 0;
	if (*ret_n)
		sscanf(names[0], "%lld", (long long *)&at);
	return at > 0 ? clock_now() - at : 0;
}

static void check_spool(struct checks *k)
{
	size_t waiting, bad;
	int64_t age = oldest_age(k, path_join(&k->c->arena, k->c->paths.spool, "new"), &waiting);

	oldest_age(k, path_join(&k->c->arena, k->c->paths.spool, "bad"), &bad);
	add(k, "spool", age < WAITING_OLD_MS, TEXT(k, "%zu hook inputs wait", waiting),
		TEXT(k, "They wait for %lld s: see '%s/daemon.log'.", (long long)(age / 1000),
			k->c->paths.log));
	add(k, "spool_bad", bad == 0, TEXT(k, "%zu in spool/bad", bad),
		TEXT(k,
			"Each has a reason beside it in '%s/bad'; what transcripts hold is made "
			"good from there.",
			k->c->paths.spool));
}

static void check_hook_log(struct checks *k)
{
	const char *path = path_join(&k->c->arena, k->c->paths.log, "hook.log");
	AUTO(buf_done) struct buf text = { 0 };
	struct stat st;

	if (stat(path, &st) < 0 || clock_now() - (int64_t)st.st_mtime * 1000 > DAY_MS ||
		file_read(path, HOOK_LOG_MAX, &text, NULL) < 0 || !text.len) {
		add(k, "hooks", true, "no trouble in the last day", NULL);
		return;
	}
	buf_cut(&text, text.len - (text.data[text.len - 1] == '\n'));
	const char *last = strrchr(text.data, '\n');
	add(k, "hooks", false, TEXT(k, "%.400s", last ? last + 1 : text.data),
		TEXT(k, "See '%s'.", path));
}

static void check_wiring_of(struct checks *k, struct wiring_context *w, const struct wiring *agent)
{
	struct wiring_plan plan = { 0 };
	struct err err = { 0 };
	const char *name = TEXT(k, "%s_wired", agent->agent),
		   *advice = TEXT(k, "`remanence install %s` does it.", agent->agent);

	if (!agent->is_found)
		return;
	if (wiring_plan(w, agent->agent, false, &plan, &err) < 0) {
		add(k, name, false, err.text, err.hint);
		return;
	}
	for (size_t i = 0; i < plan.n; i++) {
		if (!plan.edits[i].is_noop || plan.edits[i].problem) {
			add(k, name, false,
				TEXT(k, "%s: %s", plan.edits[i].path,
					plan.edits[i].problem ? plan.edits[i].problem
							      : plan.edits[i].what),
				plan.edits[i].problem ? NULL : advice);
			return;
		}
	}
	add(k, name, true, TEXT(k, "hooks and MCP call %s", w->executable), NULL);
}

static void check_codex_trust(struct checks *k, struct wiring_context *w)
{
	size_t hooks, trusted;

	if (codex_hooks_trusted(k->c, w->executable, &hooks, &trusted) < 0 || !hooks)
		return;
	add(k, "codex_hook_trust", trusted == hooks,
		TEXT(k, "%zu of %zu hooks are trusted", trusted, hooks),
		"Codex skips hooks until they are reviewed: open /hooks in Codex, or run "
		"`remanence install codex --trust`.");
}

static void check_wiring(struct checks *k)
{
	struct wiring_context w;
	struct wiring *list;
	struct err err = { 0 };
	size_t n, found = 0;

	if (wired_context(k->c, &w, &err) < 0) {
		add(k, "agents", false, err.text, err.hint);
		return;
	}
	wiring_find(&w, &list, &n);
	for (size_t i = 0; i < n; i++) {
		check_wiring_of(k, &w, &list[i]);
		found += list[i].is_found;
		if (list[i].is_found && strcmp(list[i].agent, "codex") == 0)
			check_codex_trust(k, &w);
	}
	add(k, "agents", found > 0, TEXT(k, "%zu found", found),
		"None was found on this machine; `remanence import FILE` reads a transcript.");
}

static bool is_known(const struct checks *k, const char *name)
{
	for (size_t i = 0; i < k->n; i++)
		if (name && strcmp(k->names[i], name) == 0)
			return true;
	return false;
}

/* The daemon's own checks, those that we have not made ourselves. */
static void check_daemon(struct checks *k)
{
	json *reply = NULL;
	struct err err = { 0 };

	if (client_ask(k->c, "doctor", buf_cstr(&k->c->params), &reply, &err) < 0) {
		add(k, "daemon", false, err.text,
			err.hint[0] ? err.hint : "`remanenced --foreground` shows what it does.");
		return;
	}
	add(k, "daemon", true, TEXT(k, "answers at %s", k->c->paths.socket), NULL);
	const json *checks = json_get(reply, "checks");
	for (size_t i = 0; i < json_len(checks); i++) {
		const json *one = json_at(checks, i);
		if (is_known(k, json_str(one, "name")))
			continue;
		jw_json(&k->w, NULL, one);
		k->is_ok &= json_bool(one, "ok", false);
	}
	json_free(reply);
}

int local_doctor(struct client *c, struct err *err)
{
	struct checks k = { .c = c, .is_ok = true };
	static void (*const all[])(struct checks *) = { check_programs, check_folder,
		check_settings, check_spool, check_hook_log, check_wiring, check_daemon };

	k.w.out = &k.json;
	jw_object(&k.w, NULL);
	jw_array(&k.w, "checks");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i](&k);
	jw_end(&k.w, ']');
	jw_bool(&k.w, "ok", k.is_ok);
	jw_end(&k.w, '}');
	int result = client_show(c, &k.json, err);
	buf_done(&k.json);
	return result;
}
