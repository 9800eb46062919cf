/*
 * What installing changes, as a plan, and the doing of it. The texts themselves are made in
 * wiring_json.c and wiring_toml.c; here are the agents' files, the manifest, and the care for what
 * can be in the way of writing.
 */

#include "agents/wiring.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/diff.h"
#include "agents/json_tree.h"
#include "agents/manifest.h"
#include "agents/rows.h"
#include "agents/sha256.h"
#include "agents/wiring_text.h"
#include "base/file.h"
#include "base/mem.h"

typedef int wire_function(struct wire_text *w, struct str text, struct str *ret, struct err *err);

/* One configuration file of an agent. */
struct target {
	const char *name;   /* below the agent's folder */
	const char *beside; /* below the home, when the folder was not moved; NULL: in the folder */
	wire_function *in, *out;
	const char *in_what, *out_what; /* %zu: how many entries */
	bool needs_hooks; /* Codex: looks at hooks.json, which is the target before it */
};

#define TARGETS_MAX 2
struct wired_agent {
	const struct agent *agent;
	const char *variable; /* that moves the folder */
	const char *folder;   /* below the user's home */
	const char *program;  /* on PATH */
	struct target targets[TARGETS_MAX];
	const char *note; /* for the person, after installing */
};

static const struct wired_agent wired_agents[] = {
	{
		.agent = &agent_claude,
		.variable = "CLAUDE_CONFIG_DIR",
		.folder = ".claude",
		.program = "claude",
		.targets = {
			{ "settings.json", NULL, wire_hooks_in, wire_hooks_out, "add %zu hooks",
				"take out %zu hooks", false },
			{ ".claude.json", ".claude.json", wire_servers_in, wire_servers_out,
				"register the MCP server", "take out the MCP server", false },
		},
		.note = "Sessions of Claude Code that are open now must be started again to be captured.",
	},
	{
		.agent = &agent_codex,
		.variable = "CODEX_HOME",
		.folder = ".codex",
		.program = "codex",
		.targets = {
			{ "hooks.json", NULL, wire_hooks_in, wire_hooks_out, "add %zu hooks",
				"take out %zu hooks", false },
			{ "config.toml", NULL, wire_toml_in, wire_toml_out, "register the MCP server",
				"take out the MCP server", true },
		},
		.note = "Codex skips new hooks until you review them once: open codex, type /hooks and "
		"trust those of remanence (`remanence install codex --trust` does it for you).",
	},
};

static const struct wired_agent *wired_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(wired_agents); i++)
		if (!strcmp(wired_agents[i].agent->name, name))
			return &wired_agents[i];
	return NULL;
}

static const char *agent_folder(struct wiring_context *c, const struct wired_agent *w)
{
	const char *moved = getenv(w->variable);
	if (moved && *moved)
		return path_clean(c->arena, c->user_home ? c->user_home : "/", moved);
	return c->user_home ? path_join(c->arena, c->user_home, w->folder) : NULL;
}

static const char *target_path(
	struct wiring_context *c, const struct wired_agent *w, const struct target *t)
{
	const char *moved = getenv(w->variable);
	bool is_moved = moved && *moved;
	if (t->beside && !is_moved)
		return path_join(c->arena, c->user_home, t->beside);
	return path_join(c->arena, agent_folder(c, w), t->name);
}

static bool is_on_path(struct arena *a, const char *program)
{
	struct str rest = str_of(getenv("PATH")), dir;
	while (str_split(&rest, ':', &dir))
		if (dir.n && !access(arena_printf(a, "%.*s/%s", (int)dir.n, dir.p, program), X_OK))
			return true;
	return false;
}

void wiring_find(struct wiring_context *c, struct wiring **ret, size_t *ret_n)
{
	struct wiring *list = ARENA_ARRAY(c->arena, struct wiring, ARRAY_LEN(wired_agents));
	for (size_t i = 0; i < ARRAY_LEN(wired_agents); i++) {
		const struct wired_agent *w = &wired_agents[i];
		const char *folder = agent_folder(c, w);
		list[i] = (struct wiring){ .agent = w->agent->name, .title = w->agent->title };
		list[i].is_found =
			(folder && file_is_dir(folder)) || is_on_path(c->arena, w->program);
		if (!list[i].is_found)
			list[i].why_not =
				arena_printf(c->arena, "there is no folder %s and no '%s' on PATH",
					folder ? folder : w->folder, w->program);
	}
	*ret = list;
	*ret_n = ARRAY_LEN(wired_agents);
}

/* A file as it stands, or why it cannot be edited. */
struct config_file {
	bool exists;
	struct str text;
	const char *problem;
};

static void config_read(struct arena *a, const char *path, struct config_file *ret)
{
	struct err err = { 0 };
	struct stat st;
	struct buf b = { .max = CONFIG_MAX };
	*ret = (struct config_file){ .text = { "", 0 } };
	if (stat(path, &st)) {
		if (errno != ENOENT)
			ret->problem =
				arena_printf(a, "%s cannot be read: %s", path, strerror(errno));
		return;
	}
	ret->exists = true;
	if (file_read(path, CONFIG_MAX, &b, &err))
		ret->problem = arena_printf(a, "%s is left alone: %s", path, err.text);
	else if (!utf8_is_valid(buf_cstr(&b), b.len))
		ret->problem = arena_printf(a, "%s is left alone: it is not valid UTF-8", path);
	else
		ret->text = (struct str){ arena_dup(a, buf_cstr(&b), b.len), b.len };
	buf_done(&b);
}

/*
 * Why a changed text could not be written there; NULL when it can. Mode bits count even for root,
 * who has set them for a reason.
 */
static const char *config_blocked(struct arena *a, const char *path)
{
	struct stat st;
	const char *dir = path_parent(a, path);
	if (!stat(path, &st) && (!(st.st_mode & 0222) || access(path, W_OK)))
		return arena_printf(a,
			"%s is read-only: make it writable, or add by hand what `remanence install "
			"--dry-run` shows",
			path);
	while (!file_exists(dir) && strcmp(dir, "/"))
		dir = path_parent(a, dir);
	if (!file_is_dir(dir))
		return arena_printf(a, "%s is no folder", dir);
	if (access(dir, W_OK))
		return arena_printf(a, "the folder %s cannot be written: %s", dir, strerror(errno));
	return NULL;
}

static const char *text_hash(struct arena *a, struct str text)
{
	char hex[SHA256_HEX];
	sha256_hex(text.p, text.n, hex);
	return arena_str(a, hex);
}

/* One target's edit being planned. */
struct planning {
	struct wiring_context *c;
	const struct wired_agent *w;
	const struct target *t;
	struct manifest *manifest;
	struct config_file file;
	struct str
		hooks; /* text of the target before this one: after installing, or before taking out */
	const char *hooks_path;
};

static struct wire_text wire_of(const struct planning *p, const struct manifest_entry *e)
{
	struct wire_text w = { .a = p->c->arena, .c = p->c, .agent = p->w->agent };
	for (size_t i = 0; e && i < e->ncreated && i < CREATED_MAX; i++)
		w.created.paths[w.created.n++] = e->created[i];
	if (p->t->needs_hooks) {
		w.config = p->hooks_path;
		w.hooks = p->hooks;
	}
	return w;
}

static void edit_set(
	struct wiring_edit *e, const struct config_file *file, struct str after, bool is_gone)
{
	e->before = file->exists ? file->text.p : NULL;
	e->before_len = file->exists ? file->text.n : 0;
	e->after = is_gone ? NULL : after.p;
	e->after_len = is_gone ? 0 : after.n;
	e->is_noop = is_gone ? !file->exists : file->exists && str_eq(file->text, after);
}

static void plan_in(struct planning *p, struct wiring_edit *e)
{
	struct err err = { 0 };
	struct str after = p->file.text;
	struct wire_text w = wire_of(p, NULL);
	if (p->t->in(&w, p->file.text, &after, &err)) {
		e->problem = arena_printf(p->c->arena, "%s is left alone: %s", e->path, err.text);
		return;
	}
	edit_set(e, &p->file, after, false);
	e->what = strstr(p->t->in_what, "%zu")
			  ? arena_printf(p->c->arena, "add %zu hooks", w.changes)
			  : p->t->in_what;
	if (p->t->needs_hooks && p->c->trust && w.changes > 1)
		e->what = arena_printf(p->c->arena, "register the MCP server, trust our hooks");
}

static bool is_nothing(const struct planning *p, struct str text)
{
	struct str s = str_trim(text);
	return !s.n || (s.n == 2 && s.p[0] == '{' && !p->t->needs_hooks);
}

static void plan_out(struct planning *p, struct wiring_edit *e)
{
	struct err err = { 0 };
	struct arena *a = p->c->arena;
	struct manifest_entry *m = manifest_find(p->manifest, p->w->agent->name, e->path);
	struct wire_text w = wire_of(p, m);
	struct str after = p->file.text;
	if (p->t->out(&w, p->file.text, &after, &err)) {
		e->problem = arena_printf(a, "%s is left alone: %s", e->path, err.text);
		return;
	}
	bool is_unchanged = m && p->file.exists && !strcmp(m->after, text_hash(a, p->file.text));
	bool is_gone = m && !m->existed && (is_unchanged || is_nothing(p, after));
	if (is_unchanged && m->existed && m->before.p)
		after = m->before;
	edit_set(e, &p->file, after, is_gone || !p->file.exists);
	e->what = strstr(p->t->out_what, "%zu") ? arena_printf(a, "take out %zu hooks", w.changes)
						: p->t->out_what;
	if (is_gone)
		e->what = "remove the file, which we had made";
}

static void plan_target(struct planning *p, bool is_removal, struct wiring_edit *e)
{
	config_read(p->c->arena, e->path, &p->file);
	e->problem = p->file.problem;
	if (!e->problem && is_removal)
		plan_out(p, e);
	else if (!e->problem)
		plan_in(p, e);
	if (!e->problem && !e->is_noop)
		e->problem = config_blocked(p->c->arena, e->path);
	bool shows_after = !is_removal && !e->problem;
	p->hooks = shows_after ? (struct str){ e->after, e->after_len } : p->file.text;
	p->hooks_path = e->path;
}

int wiring_plan(struct wiring_context *c, const char *agent, bool is_removal,
	struct wiring_plan *ret, struct err *err)
{
	const struct wired_agent *w = wired_find(agent);
	struct manifest manifest;
	if (!w)
		return err_set(err, ERR_NOT_FOUND, "'%s' is no agent that can be wired",
			agent ? agent : "");
	if (!c->user_home || c->user_home[0] != '/')
		return err_set(err, ERR_USAGE,
			"HOME is not set, so the configuration of %s cannot be found",
			w->agent->title);
	if (!is_removal && (!c->executable || c->executable[0] != '/'))
		return err_set(err, ERR_USAGE,
			"the path of remanence must be absolute to be written into hooks");
	manifest_read(c->arena, c->manifest, &manifest);
	struct planning p = { .c = c, .w = w, .manifest = &manifest };
	*ret = (struct wiring_plan){ .edits = ARENA_ARRAY(
					     c->arena, struct wiring_edit, TARGETS_MAX) };
	bool is_changing = false;
	for (size_t i = 0; i < TARGETS_MAX && w->targets[i].name; i++) {
		struct wiring_edit *e = &ret->edits[ret->n++];
		p.t = &w->targets[i];
		e->path = target_path(c, w, p.t);
		e->what = is_removal ? p.t->out_what : p.t->in_what;
		plan_target(&p, is_removal, e);
		if (e->problem && strstr(e->what, "%zu"))
			e->what = is_removal ? "take out the hooks" : "add the hooks";
		is_changing |= !e->is_noop && !e->problem;
	}
	if (w->note && !is_removal && is_changing && !(w->targets[1].needs_hooks && c->trust)) {
		ret->notes = ARENA_ARRAY(c->arena, const char *, 1);
		ret->notes[ret->nnotes++] = w->note;
	}
	return 0;
}

/* Members that an edit makes: those that the text after has and the one before had not. */
static void created_by(struct arena *a, const struct wiring_edit *e, struct manifest_entry *m)
{
	static const char *const tops[] = { "hooks", "mcpServers" };
	struct jnode *before = NULL, *after = NULL;
	struct str old = { e->before ? e->before : "", e->before_len };
	const char **list = ARENA_ARRAY(a, const char *, m->ncreated + CREATED_MAX);
	size_t n = 0;
	for (; n < m->ncreated; n++)
		list[n] = m->created[n];
	if (!str_ends(e->path, ".json") ||
		jnode_parse(a, (struct str){ e->after, e->after_len }, &after, NULL))
		return;
	if (str_trim(old).n)
		jnode_parse(a, old, &before, NULL);
	for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
		struct jnode *now = jnode_get(after, tops[i]), *then = jnode_get(before, tops[i]);
		if (now && !then)
			list[n++] = tops[i];
		if (i)
			continue;
		for (struct jnode *c = now ? now->first : NULL; c && n < CREATED_MAX; c = c->next)
			if (c->key && !jnode_get(then, c->key))
				list[n++] = arena_printf(a, "%s/%s", tops[i], c->key);
	}
	m->created = list;
	m->ncreated = n;
}

/*
 * What the manifest must say once this edit is done. Installing over our own untouched installation
 * keeps the first bytes; over one that was edited since, the bytes to give back are the present
 * ones without our entries.
 */
static int manifest_note(struct wiring_context *c, const struct wired_agent *w, size_t nth,
	const struct wiring_edit *e, struct manifest *m)
{
	struct arena *a = c->arena;
	struct str before = { e->before, e->before_len };
	struct manifest_entry *old = manifest_find(m, w->agent->name, e->path);
	bool is_ours = old && e->before && !strcmp(old->after, text_hash(a, before));
	bool existed = e->before != NULL;
	if (!is_ours && existed) {
		struct planning p = { .c = c, .w = w, .t = &w->targets[nth] };
		struct wire_text wire = wire_of(&p, old);
		struct str without = before;
		if (!p.t->out(&wire, before, &without, NULL))
			before = without;
	}
	struct manifest_entry *entry = manifest_add(m, w->agent->name, e->path);
	if (!entry)
		return -1;
	created_by(a, e, entry);
	if (!is_ours) {
		entry->existed = existed;
		entry->before = existed && before.n <= MANIFEST_BEFORE_MAX
					? (struct str){ before.n ? before.p : "", before.n }
					: (struct str){ 0 };
	}
	entry->after = text_hash(a, (struct str){ e->after, e->after_len });
	return 0;
}

static int write_edit(struct wiring_context *c, struct wiring_edit *e, struct err *err)
{
	struct config_file now;
	config_read(c->arena, e->path, &now);
	struct str before = { e->before ? e->before : "", e->before_len };
	if (now.exists != (e->before != NULL) || !str_eq(now.text, before))
		return err_set(err, ERR_BUSY, "%s was changed meanwhile: run it again", e->path);
	if (!e->after)
		return unlink(e->path) ? err_set(err, ERR_IO, "cannot remove %s: %s", e->path,
						 strerror(errno))
				       : 0;
	if (!e->before && file_mkdirs(path_parent(c->arena, e->path), 0700, err))
		return -1;
	return file_write(e->path, e->after, e->after_len, 0600, err);
}

static int apply_edits(struct wiring_context *c, struct wiring_plan *plan)
{
	int failed = 0;
	for (size_t i = 0; i < plan->n; i++) {
		struct wiring_edit *e = &plan->edits[i];
		struct err err = { 0 };
		if (!e->problem && !e->is_noop && write_edit(c, e, &err))
			e->problem = arena_str(c->arena, err.text);
		failed += e->problem != NULL;
	}
	return failed;
}

int wiring_apply(struct wiring_context *c, const char *agent, bool is_removal,
	struct wiring_plan *plan, struct err *err)
{
	const struct wired_agent *w = wired_find(agent);
	struct manifest manifest;
	if (!w)
		return err_set(err, ERR_NOT_FOUND, "'%s' is no agent that can be wired",
			agent ? agent : "");
	manifest_read(c->arena, c->manifest, &manifest);
	for (size_t i = 0; i < plan->n && !is_removal; i++)
		if (!plan->edits[i].problem && !plan->edits[i].is_noop)
			manifest_note(c, w, i, &plan->edits[i], &manifest);
	if (!is_removal && manifest_write(&manifest, c->manifest, err))
		return -1;
	int failed = apply_edits(c, plan);
	for (size_t i = 0; i < plan->n && is_removal; i++) {
		struct manifest_entry *e = manifest_find(&manifest, agent, plan->edits[i].path);
		if (e && !plan->edits[i].problem)
			manifest_remove(&manifest, e);
	}
	if (is_removal && manifest_write(&manifest, c->manifest, err))
		return -1;
	return failed;
}

void wiring_show(const struct wiring_edit *e, struct buf *out)
{
	struct str before = { e->before ? e->before : "", e->before_len };
	struct str after = { e->after ? e->after : "", e->after_len };
	if (!e->is_noop && !e->problem)
		diff_texts(e->path, before, after, out);
}
