/*
 * Wiring and unwiring of agents for a person: what would change, what did, what could not. One
 * agent's failure never keeps another from being wired.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/wiring.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "client/client.h"
#include "client/render.h"
#include "client/start.h"
#include "client/wired.h"

#define MANIFEST "manifest.json"

/*
 * What the data folder holds of ours, by the beginning of the name: nothing else is ever removed.
 */
static const char *const owned[] = { "remanence.db", "index", "spool", "run", "log", "backup",
	MANIFEST };

struct work {
	struct client *c;
	struct wiring_context wiring;
	bool is_removal, is_dry;
	struct buf json;
	struct jw w;
	size_t failed, changed, wired; /* agents with problems; edits made; agents in order */
};

int wired_context(struct client *c, struct wiring_context *ret, struct err *err)
{
	AUTO(buf_done) struct buf self = { 0 };
	const char *home = getenv("REMANENCE_HOME");
	bool is_default = !c->home && !(home && *home);

	if (!c->paths.user_home) {
		err_set(err, ERR_USAGE, "cannot find the agents' configurations: HOME is not set");
		return err_hint(err, "set HOME to your home folder");
	}
	if (proc_self_path(&self) < 0)
		return err_set(err, ERR_IO,
			"cannot tell where this program is: /proc/self/exe cannot be read");
	*ret = (struct wiring_context){
		.arena = &c->arena,
		.user_home = c->paths.user_home,
		.executable = arena_str(&c->arena, self.data),
		.manifest = path_join(&c->arena, c->paths.home, MANIFEST),
		.data_home = is_default ? NULL : c->paths.home,
	};
	return 0;
}

/* A path as people write it: "~/.claude/settings.json". */
static const char *tidy(struct work *k, const char *path)
{
	const char *below = path_below(k->wiring.user_home, path);

	return below ? arena_printf(&k->c->arena, "~/%s", below) : path;
}

static void show_edit(struct work *k, const struct wiring_edit *e)
{
	struct term *t = &k->c->term;
	AUTO(buf_done) struct buf diff = { 0 };

	term_indent(t, 2);
	term_put(t,
		e->problem   ? BAD
		: e->is_noop ? DIM
			     : GOOD,
		e->problem   ? "✗ "
		: e->is_noop ? "· "
		: k->is_dry  ? "+ "
			     : "✓ ");
	term_put(t, PLAIN, tidy(k, e->path));
	term_printf(t, DIM, "  %s",
		e->problem   ? e->problem
		: e->is_noop ? "nothing to change"
			     : e->what);
	term_newline(t);
	if (!k->is_dry || e->is_noop || e->problem)
		return;
	wiring_show(e, &diff);
	struct str rest = { buf_cstr(&diff), diff.len }, line;
	while (str_line(&rest, &line)) {
		term_indent(t, 4);
		term_slice(t,
			line.n && *line.p == '+'   ? GOOD
			: line.n && *line.p == '-' ? BAD
						   : DIM,
			line);
		term_newline(t);
	}
}

static void write_edit(struct work *k, const struct wiring_edit *e)
{
	AUTO(buf_done) struct buf diff = { 0 };

	jw_object(&k->w, NULL);
	jw_str(&k->w, "path", e->path);
	jw_str(&k->w, "what", e->what);
	jw_bool(&k->w, "changed", !e->is_noop && !e->problem);
	jw_str(&k->w, "problem", e->problem);
	if (k->is_dry) {
		wiring_show(e, &diff);
		jw_slice(&k->w, "diff", (struct str){ buf_cstr(&diff), diff.len });
	}
	jw_end(&k->w, '}');
}

static void write_agent(struct work *k, const struct wiring *agent, const struct wiring_plan *plan,
	const struct err *err)
{
	bool is_ok = err->code == ERR_NONE;

	jw_object(&k->w, NULL);
	jw_str(&k->w, "agent", agent->agent);
	jw_str(&k->w, "title", agent->title);
	jw_bool(&k->w, "found", agent->is_found);
	jw_array(&k->w, "edits");
	for (size_t i = 0; i < plan->n; i++) {
		write_edit(k, &plan->edits[i]);
		is_ok &= !plan->edits[i].problem;
	}
	jw_end(&k->w, ']');
	jw_array(&k->w, "notes");
	for (size_t i = 0; i < plan->nnotes; i++)
		jw_str(&k->w, NULL, plan->notes[i]);
	jw_end(&k->w, ']');
	jw_bool(&k->w, "ok", is_ok);
	if (err->code)
		jw_str(&k->w, "problem", err->text);
	jw_end(&k->w, '}');
}

static void show_agent(struct work *k, const struct wiring *agent, const struct wiring_plan *plan,
	const struct err *err)
{
	struct term *t = &k->c->term;

	render_title(k->c, agent->title);
	for (size_t i = 0; i < plan->n; i++)
		show_edit(k, &plan->edits[i]);
	if (err->code) {
		term_indent(t, 2);
		term_put(t, BAD, "✗ ");
		term_put(t, PLAIN, err->text);
		term_newline(t);
	}
	for (size_t i = 0; i < plan->nnotes && !k->c->is_quiet; i++)
		term_wrap(t, WARN, plan->notes[i], 2);
}

static void do_agent(struct work *k, const struct wiring *agent)
{
	struct wiring_plan plan = { 0 };
	struct err err = { 0 };
	bool has_problem = false;

	if (wiring_plan(&k->wiring, agent->agent, k->is_removal, &plan, &err) == 0 && !k->is_dry)
		wiring_apply(&k->wiring, agent->agent, k->is_removal, &plan, &err);
	for (size_t i = 0; i < plan.n; i++) {
		has_problem |= plan.edits[i].problem != NULL;
		k->changed += !plan.edits[i].is_noop && !plan.edits[i].problem;
	}
	has_problem |= err.code != ERR_NONE;
	k->failed += has_problem;
	k->wired += !has_problem;
	if (k->c->is_json)
		write_agent(k, agent, &plan, &err);
	else
		show_agent(k, agent, &plan, &err);
}

/* Was this agent named? All are when none was. */
static bool is_wanted(const json *agents, const char *name)
{
	for (size_t i = 0; i < json_len(agents); i++)
		if (strcmp(json_value_str(json_at(agents, i)), name) == 0)
			return true;
	return json_len(agents) == 0;
}

static void agent_missing(struct work *k, const struct wiring *agent)
{
	struct wiring_plan none = { 0 };
	struct err err = { 0 };

	err_set(&err, ERR_NOT_FOUND, "not found on this machine%s%s", agent->why_not ? ": " : "",
		agent->why_not ? agent->why_not : "");
	k->failed++;
	if (k->c->is_json)
		write_agent(k, agent, &none, &err);
	else
		show_agent(k, agent, &none, &err);
}

static void do_agents(struct work *k, const json *agents)
{
	struct wiring *list;
	size_t n;

	wiring_find(&k->wiring, &list, &n);
	for (size_t i = 0; i < n; i++) {
		/* Unwiring goes over all: an agent that is gone may have left its files. */
		if (!is_wanted(agents, list[i].agent))
			continue;
		if (list[i].is_found || k->is_removal)
			do_agent(k, &list[i]);
		else if (json_len(agents))
			agent_missing(k, &list[i]);
	}
}

static int finish(struct work *k)
{
	if (k->c->is_json) {
		jw_end(&k->w, ']');
		jw_bool(&k->w, "dry_run", k->is_dry);
		jw_bool(&k->w, "ok", k->failed == 0);
		jw_end(&k->w, '}');
		client_print_json(&k->json);
	}
	term_flush(&k->c->term);
	buf_done(&k->json);
	if (k->failed)
		k->c->status = err_codes[ERR_IO].exit_status;
	return 0;
}

static int begin(struct work *k, struct client *c, bool is_removal, struct err *err)
{
	*k = (struct work){
		.c = c, .is_removal = is_removal, .is_dry = json_bool(c->given, "dry_run", false)
	};
	if (wired_context(c, &k->wiring, err) < 0)
		return -1;
	k->wiring.trust = json_bool(c->given, "trust", false);
	k->w.out = &k->json;
	jw_object(&k->w, NULL);
	jw_array(&k->w, "agents");
	return 0;
}

int local_install(struct client *c, struct err *err)
{
	struct work k;

	if (begin(&k, c, false, err) < 0)
		return -1;
	if (!k.is_dry && file_mkdirs(c->paths.home, 0700, err) < 0)
		return -1;
	do_agents(&k, json_get(c->given, "agents"));
	if (!k.wired && !k.failed)
		render_nothing(c, "No agent was found on this machine (Claude Code, Codex).",
			"Install one and run `remanence install` again. To try it without: "
			"`remanence import TRANSCRIPT`, then "
			"`remanence search …`.");
	else if (k.is_dry)
		render_footer(c, "Nothing was changed: this was a dry run.");
	else if (k.changed)
		render_footer(c, "From the next session on everything is captured. `remanence "
				 "import` reads earlier ones.");
	if (c->is_json)
		buf_cut(&c->term.out, 0);
	return finish(&k);
}

/* --purge. */

static bool is_owned(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		if (str_starts(name, owned[i]))
			return true;
	return false;
}

/* Removes what is ours in a folder, and the folder when nothing else is in it. */
static int remove_owned(struct client *c, const char *folder, struct err *err)
{
	char **names;
	size_t n;

	if (!file_is_dir(folder))
		return 0;
	if (file_list(&c->arena, folder, &names, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is_owned(names[i]) &&
			file_remove_tree(path_join(&c->arena, folder, names[i]), err) < 0)
			return -1;
	rmdir(folder);
	return 0;
}

static int purge(struct client *c, struct err *err)
{
	const char *question =
		arena_printf(&c->arena, "Remove all memories in '%s' for good?", c->paths.home);

	if (!json_bool(c->given, "yes", false)) {
		if (c->is_json || !client_can_ask()) {
			err_set(err, ERR_USAGE,
				"the memories in '%s' were not removed: that needs a yes",
				c->paths.home);
			return err_hint(err, "repeat it with --yes");
		}
		if (!client_confirm(question))
			return err_set(err, ERR_USAGE, "the memories in '%s' were not removed",
				c->paths.home);
	}
	if (start_stop(&c->paths, err) < 0)
		return err_prefix(err, "the memories were not removed: the daemon does not leave");
	if (remove_owned(c, c->paths.home, err) < 0 ||
		(c->paths.spare && remove_owned(c, c->paths.spare, err) < 0))
		return -1;
	unlink(c->paths.settings);
	rmdir(path_parent(&c->arena, c->paths.settings));
	return 0;
}

int local_uninstall(struct client *c, struct err *err)
{
	struct work k;
	bool purges = json_bool(c->given, "purge", false);
	int result = 0;

	if (begin(&k, c, true, err) < 0)
		return -1;
	do_agents(&k, json_get(c->given, "agents"));
	if (!purges || k.is_dry)
		render_footer(
			c, arena_printf(&c->arena, "%s stay in '%s'%s", "Memories", c->paths.home,
				   purges ? ": this was a dry run."
					  : "; `remanence uninstall --purge` removes them."));
	if (c->is_json)
		buf_cut(&c->term.out, 0);
	term_flush(&c->term);
	if (purges && !k.is_dry && !k.failed)
		result = purge(c, err);
	if (result == 0 && purges && !k.is_dry && !k.failed && !c->is_json)
		render_footer(c, arena_printf(&c->arena, "The memories in '%s' are removed.",
					 c->paths.home));
	if (result < 0 && c->is_json) {
		buf_done(&k.json);
		return -1;
	}
	finish(&k);
	return result;
}
