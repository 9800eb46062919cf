/*
 * Our entries in JSON configurations: hooks of Claude Code and Codex, and MCP servers of Claude
 * Code.
 */

#include <stdio.h>
#include <string.h>

#include "agents/json_tree.h"
#include "agents/wiring_text.h"
#include "base/buf.h"
#include "base/mem.h"

#define SERVER_NAME "remanence"

/* A text in the double quotes of a shell. */
static const char *shell_quote(struct arena *a, const char *s)
{
	AUTO(buf_done) struct buf b = { 0 };
	buf_char(&b, '"');
	for (; *s; s++) {
		if (strchr("\\\"$`", *s))
			buf_char(&b, '\\');
		buf_char(&b, *s);
	}
	buf_char(&b, '"');
	return arena_dup(a, b.data, b.len);
}

const char *wire_hook_command(
	struct arena *a, const struct wiring_context *c, const char *agent, const char *event)
{
	const char *home =
		c->data_home ? arena_printf(a, "REMANENCE_HOME=%s ", shell_quote(a, c->data_home))
			     : "";
	return arena_printf(
		a, "%s%s hook %s %s", home, shell_quote(a, c->executable), agent, event);
}

bool wire_is_our_command(const char *command)
{
	static const char name[] = "remanence";
	const char *at = command ? strstr(command, " hook ") : NULL;
	if (!at)
		return false;
	while (at > command && strchr(" \"'", at[-1]))
		at--;
	size_t n = sizeof(name) - 1;
	if ((size_t)(at - command) < n || memcmp(at - n, name, n))
		return false;
	return (size_t)(at - command) == n || strchr("/\\ \"'=", at[-n - 1]);
}

/* A document to edit: parsed anew after every change. */
struct doc {
	struct wire_text *w;
	struct str text;
	struct jnode *root;
};

static int doc_parse(struct doc *d, struct err *err)
{
	if (jnode_parse(d->w->a, d->text, &d->root, err))
		return -1;
	if (d->root->type != JNODE_OBJECT)
		return err_set(err, ERR_USAGE, "it holds no JSON object");
	return 0;
}

static int doc_open(struct doc *d, struct wire_text *w, struct str text, struct err *err)
{
	*d = (struct doc){ .w = w, .text = text };
	if (!str_trim(text).n)
		d->text = STR("{}\n");
	return doc_parse(d, err);
}

static int doc_insert(struct doc *d, const struct jnode *parent, const char *key, const char *value,
	struct err *err)
{
	d->text = jnode_insert(d->w->a, d->text, d->root, parent, key, value);
	return doc_parse(d, err);
}

static int doc_remove(
	struct doc *d, const struct jnode *parent, const struct jnode *child, struct err *err)
{
	d->text = jnode_remove(d->w->a, d->text, parent, child);
	return doc_parse(d, err);
}

/* The list of an event's groups; NULL when there is none. */
static struct jnode *event_list(const struct doc *d, const char *event)
{
	struct jnode *list = jnode_get(jnode_get(d->root, "hooks"), event);
	return list && list->type == JNODE_ARRAY ? list : NULL;
}

static const char *handler_command(const struct jnode *handler)
{
	const struct jnode *command = jnode_get(handler, "command");
	return command && command->type == JNODE_STRING ? command->value : NULL;
}

static bool is_wanted_handler(struct doc *d, const struct jnode *group, const struct jnode *handler,
	const struct agent_hook *hook)
{
	const struct jnode *timeout = jnode_get(handler, "timeout"),
			   *matcher = jnode_get(group, "matcher");
	const char *command = wire_hook_command(d->w->a, d->w->c, d->w->agent->name, hook->event);
	char number[24] = "";
	if (timeout)
		snprintf(number, sizeof(number), "%.*s", (int)(timeout->end - timeout->start),
			d->text.p + timeout->start);
	return !strcmp(handler_command(handler), command) && hook->timeout_s == atoi(number) &&
	       !jnode_get(handler, "async") &&
	       (hook->matcher ? matcher && matcher->value && !strcmp(matcher->value, hook->matcher)
			      : !matcher);
}

/*
 * Finds one of our handlers that is not what it should be (`wanted` NULL: any), with its parents.
 */
struct found {
	struct jnode *list, *group, *handlers, *handler;
};

static bool find_in_list(
	struct doc *d, struct jnode *list, const struct agent_hook *hook, struct found *ret)
{
	bool has_wanted = false;
	for (struct jnode *group = list->first; group; group = group->next) {
		struct jnode *handlers = jnode_get(group, "hooks");
		for (struct jnode *h = handlers ? handlers->first : NULL; h; h = h->next) {
			if (!wire_is_our_command(handler_command(h)))
				continue;
			if (hook && !has_wanted && is_wanted_handler(d, group, h, hook)) {
				has_wanted = true;
				continue;
			}
			*ret = (struct found){ list, group, handlers, h };
			return true;
		}
	}
	return false;
}

static bool find_ours(struct doc *d, const struct agent *keep_for, struct found *ret)
{
	struct jnode *hooks = jnode_get(d->root, "hooks");
	for (struct jnode *list = hooks ? hooks->first : NULL; list; list = list->next) {
		const struct agent_hook *hook =
			keep_for ? agent_hook_find(keep_for, list->key) : NULL;
		if (list->type == JNODE_ARRAY && find_in_list(d, list, hook, ret))
			return true;
	}
	return false;
}

static bool was_created(const struct wire_text *w, const char *path)
{
	for (size_t i = 0; i < w->created.n; i++)
		if (!strcmp(w->created.paths[i], path))
			return true;
	return false;
}

/* Takes out our handlers, and the groups that held nothing else. */
static int take_out(struct doc *d, const struct agent *keep_for, struct err *err)
{
	struct found f;
	while (find_ours(d, keep_for, &f)) {
		bool is_alone = f.handlers->n == 1;
		d->w->changes++;
		if (is_alone ? doc_remove(d, f.list, f.group, err)
			     : doc_remove(d, f.handlers, f.handler, err))
			return -1;
	}
	return 0;
}

/* Lists that we made and that hold nothing any more go, then the object of hooks itself. */
static int drop_empty(struct doc *d, struct err *err)
{
	struct jnode *hooks = jnode_get(d->root, "hooks");
	for (struct jnode *list = hooks ? hooks->first : NULL; list;) {
		bool is_ours = was_created(d->w, arena_printf(d->w->a, "hooks/%s", list->key));
		if (list->n || list->type != JNODE_ARRAY || !is_ours) {
			list = list->next;
			continue;
		}
		if (doc_remove(d, hooks, list, err))
			return -1;
		hooks = jnode_get(d->root, "hooks");
		list = hooks->first;
	}
	if (hooks && !hooks->n && hooks->type == JNODE_OBJECT && was_created(d->w, "hooks"))
		return doc_remove(d, d->root, hooks, err);
	return 0;
}

static const char *group_text(struct arena *a, const struct agent_hook *hook, const char *command)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };
	jw_object(&w, NULL);
	if (hook->matcher)
		jw_str(&w, "matcher", hook->matcher);
	jw_array(&w, "hooks");
	jw_object(&w, NULL);
	jw_str(&w, "type", "command");
	jw_str(&w, "command", command);
	if (hook->timeout_s)
		jw_int(&w, "timeout", hook->timeout_s);
	jw_end(&w, '}');
	jw_end(&w, ']');
	jw_end(&w, '}');
	return arena_dup(a, b.data, b.len);
}

static bool has_ours(struct doc *d, struct jnode *list)
{
	struct found f;
	return list && find_in_list(d, list, NULL, &f);
}

static int put_in(struct doc *d, const struct agent_hook *hook, struct err *err)
{
	struct wire_text *w = d->w;
	struct jnode *hooks = jnode_get(d->root, "hooks"), *list = event_list(d, hook->event);
	const char *command = wire_hook_command(w->a, w->c, w->agent->name, hook->event);
	const char *group = group_text(w->a, hook, command);
	if (has_ours(d, list))
		return 0;
	w->changes++;
	if (list)
		return doc_insert(d, list, NULL, group, err);
	if (hooks && jnode_get(hooks, hook->event))
		return err_set(err, ERR_USAGE, "its hooks.%s is no list", hook->event);
	const char *array = arena_printf(w->a, "[%s]", group);
	if (hooks && hooks->type == JNODE_OBJECT)
		return doc_insert(d, hooks, hook->event, array, err);
	if (hooks)
		return err_set(err, ERR_USAGE, "its \"hooks\" is no object");
	return doc_insert(d, d->root, "hooks",
		arena_printf(w->a, "{%s:%s}", json_literal(w->a, hook->event), array), err);
}

int wire_hooks_in(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct doc d;
	if (doc_open(&d, w, text, err) || take_out(&d, w->agent, err))
		return -1;
	size_t replaced = w->changes;
	w->changes = 0;
	for (const struct agent_hook *h = w->agent->hooks; h->event; h++)
		if (put_in(&d, h, err))
			return -1;
	w->changes = MAX(w->changes, replaced);
	*ret = w->changes ? d.text : text;
	return 0;
}

int wire_hooks_out(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct doc d;
	if (doc_open(&d, w, text, err) || take_out(&d, NULL, err))
		return -1;
	*ret = text;
	if (!w->changes)
		return 0;
	if (drop_empty(&d, err))
		return -1;
	*ret = d.text;
	return 0;
}

static const char *server_text(struct wire_text *w)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw j = { .out = &b };
	jw_object(&j, NULL);
	jw_str(&j, "type", "stdio");
	jw_str(&j, "command", w->c->executable);
	jw_array(&j, "args");
	jw_str(&j, NULL, "mcp");
	jw_end(&j, ']');
	jw_object(&j, "env");
	if (w->c->data_home)
		jw_str(&j, "REMANENCE_HOME", w->c->data_home);
	jw_end(&j, '}');
	jw_end(&j, '}');
	return arena_dup(w->a, b.data, b.len);
}

static bool is_string(const struct jnode *node, const char *value)
{
	return node && node->type == JNODE_STRING && !strcmp(node->value, value);
}

/* Runs what it should; further members are the person's. */
static bool is_wanted_server(const struct wire_text *w, const struct jnode *server)
{
	const struct jnode *args = jnode_get(server, "args");
	const struct jnode *home = jnode_get(jnode_get(server, "env"), "REMANENCE_HOME");
	return is_string(jnode_get(server, "command"), w->c->executable) && args && args->n == 1 &&
	       is_string(args->first, "mcp") &&
	       (w->c->data_home ? is_string(home, w->c->data_home) : !home);
}

int wire_servers_in(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct doc d;
	*ret = text;
	if (doc_open(&d, w, text, err))
		return -1;
	struct jnode *servers = jnode_get(d.root, "mcpServers");
	struct jnode *ours = jnode_get(servers, SERVER_NAME);
	const char *value = server_text(w);
	if (ours && is_wanted_server(w, ours))
		return 0;
	if (servers && servers->type != JNODE_OBJECT)
		return err_set(err, ERR_USAGE, "its \"mcpServers\" is no object");
	w->changes = 1;
	if (ours && doc_remove(&d, servers, ours, err))
		return -1;
	servers = jnode_get(d.root, "mcpServers");
	const char *whole = arena_printf(w->a, "{\"%s\":%s}", SERVER_NAME, value);
	if (servers ? doc_insert(&d, servers, SERVER_NAME, value, err)
		    : doc_insert(&d, d.root, "mcpServers", whole, err))
		return -1;
	*ret = d.text;
	return 0;
}

int wire_servers_out(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct doc d;
	*ret = text;
	if (doc_open(&d, w, text, err))
		return -1;
	struct jnode *servers = jnode_get(d.root, "mcpServers"),
		     *ours = jnode_get(servers, SERVER_NAME);
	if (!ours)
		return 0;
	w->changes = 1;
	if (doc_remove(&d, servers, ours, err))
		return -1;
	servers = jnode_get(d.root, "mcpServers");
	if (!servers->n && was_created(w, "mcpServers") && doc_remove(&d, d.root, servers, err))
		return -1;
	*ret = d.text;
	return 0;
}
