/*
 * Our entries in Codex's config.toml: the MCP server, and on request the trust entries of our
 * hooks. Whole tables are appended or taken out; whatever else stands there is never touched.
 */

#include <ctype.h>
#include <string.h>

#include "agents/json_tree.h"
#include "agents/sha256.h"
#include "agents/toml_scan.h"
#include "agents/wiring_text.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define SHORT_EVENT_MAX_S 3 /* Codex clamps the time-out of SessionEnd to this before it hashes */

static const char *const server_path[] = { "mcp_servers", "remanence", NULL };
static const char *const servers_path[] = { "mcp_servers", NULL };
static const char *const state_path[] = { "hooks", "state", NULL };

static const char *newline_of(struct str text)
{
	const char *line = text.n ? memchr(text.p, '\n', text.n) : NULL;
	return line && line > text.p && line[-1] == '\r' ? "\r\n" : "\n";
}

/* A table's text with the line ends of the file. */
struct table {
	struct buf b;
	const char *newline;
};

static void table_line(struct table *t, const char *line)
{
	buf_str(&t->b, line);
	buf_str(&t->b, t->newline);
}

static struct str append(struct arena *a, struct str text, const struct table *t)
{
	AUTO(buf_done) struct buf b = { 0 };
	buf_add(&b, text.n ? text.p : "", text.n);
	if (text.n && text.p[text.n - 1] != '\n')
		buf_str(&b, t->newline);
	if (text.n)
		buf_str(&b, t->newline);
	buf_add(&b, buf_cstr(&t->b), t->b.len);
	return (struct str){ arena_dup(a, buf_cstr(&b), b.len), b.len };
}

/* Takes a table out, with the empty line that append put before it. */
static struct str cut(struct arena *a, struct str text, const struct toml_doc *doc, size_t i)
{
	size_t from = doc->items[i].start, to = toml_table_end(doc, i);
	if (from >= 2 && text.p[from - 1] == '\n' && text.p[from - 2] == '\n')
		from--;
	else if (from >= 4 && !memcmp(text.p + from - 4, "\r\n\r\n", 4))
		from -= 2;
	AUTO(buf_done) struct buf b = { 0 };
	buf_add(&b, text.p, from);
	buf_add(&b, text.p + to, text.n - to);
	return (struct str){ arena_dup(a, buf_cstr(&b), b.len), b.len };
}

static struct str server_table(struct wire_text *w, const char *newline)
{
	struct table t = { .newline = newline };
	table_line(&t, "[mcp_servers.remanence]");
	table_line(&t, arena_printf(w->a, "command = %s", json_literal(w->a, w->c->executable)));
	table_line(&t, "args = [\"mcp\"]");
	if (w->c->data_home)
		table_line(&t, arena_printf(w->a, "env = { REMANENCE_HOME = %s }",
				       json_literal(w->a, w->c->data_home)));
	struct str ret = { arena_dup(w->a, t.b.data, t.b.len), t.b.len };
	buf_done(&t.b);
	return ret;
}

/* How a server of our name stands in the file. */
enum server_form { FORM_NONE, FORM_TABLE, FORM_OTHER, FORM_CLOSED };

static enum server_form server_form(const struct toml_doc *doc, size_t *ret_item)
{
	for (size_t i = 0; i < doc->n; i++) {
		const struct toml_item *item = &doc->items[i];
		*ret_item = i;
		if (item->is_table && !item->is_list && item->npath == 2 &&
			toml_item_is_below(item, server_path))
			return FORM_TABLE;
		if (!item->is_table && toml_item_is_below(item, server_path))
			return FORM_OTHER;
		if (!item->is_table && item->npath == 1 && toml_item_is_below(item, servers_path))
			return str_find(item->value, STR("remanence")) ? FORM_OTHER : FORM_CLOSED;
	}
	return FORM_NONE;
}

static struct str replaced(struct arena *a, struct str text, struct str old, const char *with)
{
	AUTO(buf_done) struct buf b = { 0 };
	size_t from = (size_t)(old.p - text.p);
	buf_add(&b, text.p, from);
	buf_str(&b, with);
	buf_add(&b, old.p + old.n, text.n - from - old.n);
	return (struct str){ arena_dup(a, buf_cstr(&b), b.len), b.len };
}

/* The table is there, with keys that a person may have added: only its command is set right. */
static int server_fix(struct wire_text *w, struct str *text, const struct toml_doc *doc, size_t at)
{
	const char *command = json_literal(w->a, w->c->executable);
	for (size_t i = at + 1; i < doc->n && !doc->items[i].is_table; i++) {
		const struct toml_item *item = &doc->items[i];
		if (item->npath != 3 || strcmp(item->path[2], "command"))
			continue;
		if (str_is(item->value, command))
			return 0;
		*text = replaced(w->a, *text, item->value, command);
		w->changes++;
		return 0;
	}
	struct str end = { text->p + doc->items[at].end, 0 };
	const char *newline = newline_of(*text);
	bool is_cut = text->p[doc->items[at].end - 1] != '\n';
	const char *line =
		arena_printf(w->a, "%scommand = %s%s", is_cut ? newline : "", command, newline);
	*text = replaced(w->a, *text, end, line);
	w->changes++;
	return 0;
}

static int server_in(struct wire_text *w, struct str *text, struct err *err)
{
	struct toml_doc doc;
	size_t at;
	if (toml_scan(w->a, *text, &doc, err))
		return -1;
	enum server_form form = server_form(&doc, &at);
	const char *word = form == FORM_OTHER ? json_literal(w->a, w->c->executable) : NULL;
	if (word && str_find(doc.items[at].value, str_of(word)))
		return 0;
	if (form == FORM_OTHER || form == FORM_CLOSED)
		return err_set(err, ERR_USAGE,
			"it writes its mcp_servers in one line, which is not edited: add remanence "
			"= { command = %s, args = [\"mcp\"] } there yourself",
			json_literal(w->a, w->c->executable));
	if (form == FORM_TABLE)
		return server_fix(w, text, &doc, at);
	struct str wanted = server_table(w, newline_of(*text));
	struct table t = { .newline = newline_of(*text) };
	buf_add(&t.b, wanted.p, wanted.n);
	*text = append(w->a, *text, &t);
	buf_done(&t.b);
	w->changes++;
	return 0;
}

/* "SessionStart" is "session_start" there. */
static const char *event_word(struct arena *a, const char *event)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (const char *p = event; *p; p++) {
		if (isupper((unsigned char)*p) && p > event)
			buf_char(&b, '_');
		buf_char(&b, (char)tolower((unsigned char)*p));
	}
	return arena_dup(a, buf_cstr(&b), b.len);
}

/* What Codex hashes of a hook: compact JSON with sorted keys. */
static const char *trust_hash(struct wire_text *w, const struct agent_hook *hook)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw j = { .out = &b };
	int timeout = !strcmp(hook->event, "SessionEnd") ? MIN(hook->timeout_s, SHORT_EVENT_MAX_S)
							 : hook->timeout_s;
	char hex[SHA256_HEX];
	jw_object(&j, NULL);
	jw_str(&j, "event_name", event_word(w->a, hook->event));
	jw_array(&j, "hooks");
	jw_object(&j, NULL);
	jw_bool(&j, "async", false);
	jw_str(&j, "command", wire_hook_command(w->a, w->c, w->agent->name, hook->event));
	jw_int(&j, "timeout", timeout);
	jw_str(&j, "type", "command");
	jw_end(&j, '}');
	jw_end(&j, ']');
	if (hook->matcher)
		jw_str(&j, "matcher", hook->matcher);
	jw_end(&j, '}');
	sha256_hex(b.data, b.len, hex);
	return arena_printf(w->a, "sha256:%s", hex);
}

/* The name of a trust entry of ours: path, event, number of group and handler in hooks.json. */
struct trust_entry {
	const char *key;
	const struct agent_hook *hook; /* NULL: of an event that we no longer have */
};

static size_t trust_keys(struct wire_text *w, struct trust_entry *ret, size_t max)
{
	struct jnode *root = NULL;
	size_t n = 0;
	if (!w->config || !w->hooks.n || jnode_parse(w->a, w->hooks, &root, NULL))
		return 0;
	struct jnode *hooks = jnode_get(root, "hooks");
	for (struct jnode *list = hooks ? hooks->first : NULL; list; list = list->next) {
		size_t g = 0;
		for (struct jnode *group = list->first; group; group = group->next, g++) {
			struct jnode *handlers = jnode_get(group, "hooks");
			size_t k = 0;
			for (struct jnode *h = handlers ? handlers->first : NULL; h;
				h = h->next, k++) {
				struct jnode *command = jnode_get(h, "command");
				if (!command || !wire_is_our_command(command->value) || n == max)
					continue;
				ret[n++] = (struct trust_entry){
					arena_printf(w->a, "%s:%s:%zu:%zu", w->config,
						event_word(w->a, list->key), g, k),
					agent_hook_find(w->agent, list->key)
				};
			}
		}
	}
	return n;
}

#define TRUST_MAX 64

static bool trust_find(const struct toml_doc *doc, const char *key, size_t *ret)
{
	for (size_t i = 0; i < doc->n; i++)
		if (doc->items[i].is_table && doc->items[i].npath == 3 &&
			toml_item_is_below(&doc->items[i], state_path) &&
			!strcmp(doc->items[i].path[2], key)) {
			*ret = i;
			return true;
		}
	return false;
}

/* One entry: taken out when it is there and differs, then appended. */
static int trust_put(
	struct wire_text *w, struct str *text, const struct trust_entry *entry, struct err *err)
{
	struct toml_doc doc;
	size_t at;
	if (toml_scan(w->a, *text, &doc, err))
		return -1;
	const char *hash = trust_hash(w, entry->hook);
	if (trust_find(&doc, entry->key, &at)) {
		struct str old = { text->p + doc.items[at].start,
			toml_table_end(&doc, at) - doc.items[at].start };
		if (str_find(old, str_of(hash)))
			return 0;
		*text = cut(w->a, *text, &doc, at);
	}
	struct table t = { .newline = newline_of(*text) };
	table_line(&t, arena_printf(w->a, "[hooks.state.%s]", json_literal(w->a, entry->key)));
	table_line(&t, arena_printf(w->a, "trusted_hash = \"%s\"", hash));
	*text = append(w->a, *text, &t);
	buf_done(&t.b);
	w->changes++;
	return 0;
}

int wire_toml_in(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct trust_entry entries[TRUST_MAX];
	if (server_in(w, &text, err))
		return -1;
	size_t n = w->c->trust ? trust_keys(w, entries, TRUST_MAX) : 0;
	for (size_t i = 0; i < n; i++)
		if (entries[i].hook && trust_put(w, &text, &entries[i], err))
			return -1;
	*ret = text;
	return 0;
}

/* The server's table or one below it, which would be worth nothing without it. */
static bool server_table_find(const struct toml_doc *doc, size_t *ret)
{
	for (size_t i = 0; i < doc->n; i++)
		if (doc->items[i].is_table && toml_item_is_below(&doc->items[i], server_path)) {
			*ret = i;
			return true;
		}
	return false;
}

int wire_toml_out(struct wire_text *w, struct str text, struct str *ret, struct err *err)
{
	struct trust_entry entries[TRUST_MAX];
	struct toml_doc doc;
	size_t n = trust_keys(w, entries, TRUST_MAX), at;
	if (toml_scan(w->a, text, &doc, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!trust_find(&doc, entries[i].key, &at))
			continue;
		text = cut(w->a, text, &doc, at);
		w->changes++;
		if (toml_scan(w->a, text, &doc, err))
			return -1;
	}
	while (server_table_find(&doc, &at)) {
		text = cut(w->a, text, &doc, at);
		w->changes++;
		if (toml_scan(w->a, text, &doc, err))
			return -1;
	}
	*ret = text;
	return 0;
}
