/*
 * The tools: schemas from the table of operations, results in two forms, short text and a slim
 * object without what no agent needs. Descriptions are in the tools, not in each parameter, so that
 * the whole list stays under 1,000 tokens.
 */
#include "client/mcp.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/names.h"

static const char *tool_name(const struct op_spec *op)
{
	return op->mcp_name ? op->mcp_name : op->name;
}

const struct op_spec *mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < op_specs_n; i++)
		if ((op_specs[i].flags & OP_MCP) && strcmp(tool_name(&op_specs[i]), name) == 0)
			return &op_specs[i];
	return NULL;
}

static const char *const json_types[] = { [PARAM_TEXT] = "string",
	[PARAM_INT] = "integer",
	[PARAM_REAL] = "number",
	[PARAM_BOOL] = "boolean",
	[PARAM_REF] = "string",
	[PARAM_TIME] = "string",
	[PARAM_RANGE] = "string",
	[PARAM_CHOICE] = "string",
	[PARAM_PATH] = "string" };

static void write_property(struct jw *w, const struct param *p)
{
	struct str rest = str_of(p->choices), word;

	jw_object(w, p->name);
	if (p->flags & PARAM_MANY) {
		jw_str(w, "type", "array");
		jw_object(w, "items");
		jw_str(w, "type", json_types[p->type]);
		jw_end(w, '}');
	} else {
		jw_str(w, "type", json_types[p->type]);
	}
	if (p->choices) {
		jw_array(w, "enum");
		while (str_split(&rest, '|', &word))
			jw_slice(w, NULL, word);
		jw_end(w, ']');
	}
	jw_end(w, '}');
}

static void write_schema(struct jw *w, const struct op_spec *op)
{
	jw_object(w, "inputSchema");
	jw_str(w, "type", "object");
	jw_object(w, "properties");
	for (const struct param *p = op->params; p->name; p++)
		if (!(p->flags & PARAM_NO_MCP))
			write_property(w, p);
	jw_end(w, '}');
	for (const struct param *p = op->params; p->name; p++)
		if (p->flags & PARAM_REQUIRED) {
			jw_array(w, "required");
			jw_str(w, NULL, p->name);
			jw_end(w, ']');
			break;
		}
	jw_end(w, '}');
}

void mcp_tools_list(struct jw *w)
{
	jw_array(w, "tools");
	for (size_t i = 0; i < op_specs_n; i++) {
		const struct op_spec *op = &op_specs[i];
		if (!(op->flags & OP_MCP))
			continue;
		jw_object(w, NULL);
		jw_str(w, "name", tool_name(op));
		jw_str(w, "description", op->mcp_help ? op->mcp_help : op->summary);
		write_schema(w, op);
		jw_object(w, "annotations");
		jw_bool(w, op->flags & OP_WRITES ? "destructiveHint" : "readOnlyHint",
			!(op->flags & OP_WRITES) || (op->flags & OP_SLOW));
		jw_end(w, '}');
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* Members that cost an agent tokens and tell it nothing. */
static const char *const dull[] = { "score", "took_ms", "marks", "tokens", "key", "agent_session",
	"total_exact", "explain", "rule", "slot", "trust", "hash", "created_at", "updated_at",
	"valid_from", "turn", "agent_turn", "tool_use_id", "true_size", "meta", "writes_files",
	"headless", "query", "mode", "transcript", "quarantined", "next", "record" };
static const char *const moments[] = { "at", "started_at", "last_event_at", "ended_at",
	"valid_to" };

static bool is_dull(const char *key, const json *value)
{
	const char *text = json_value_str(value);
	enum json_type type = json_type(value);

	if (type == JSON_NULL || (text && !*text) ||
		(type == JSON_BOOL && !json_value_bool(value, true)))
		return true;
	if (type == JSON_ARRAY && !json_len(value))
		return true;
	if (text && strcmp(key, "status") == 0 &&
		(strcmp(text, "active") == 0 || strcmp(text, "ok") == 0 ||
			strcmp(text, "unknown") == 0))
		return true;
	return name_is_any(key, dull, ARRAY_LEN(dull));
}

/* A copy without the dull members, times as dates. */
static void write_slim(struct jw *w, const char *key, const json *value)
{
	AUTO(arena_done) struct arena a = { 0 };

	if (json_type(value) == JSON_OBJECT) {
		jw_object(w, key);
		for (struct json_iter it = json_iter(value); json_next(&it);)
			if (!is_dull(it.key, it.value))
				write_slim(w, it.key, it.value);
		jw_end(w, '}');
	} else if (json_type(value) == JSON_ARRAY) {
		jw_array(w, key);
		for (size_t i = 0; i < json_len(value); i++)
			write_slim(w, NULL, json_at(value, i));
		jw_end(w, ']');
	} else if (key && json_type(value) == JSON_INT &&
		   name_is_any(key, moments, ARRAY_LEN(moments))) {
		jw_str(w, key, clock_minute(&a, json_value_int(value, 0)));
	} else if (json_type(value) == JSON_STRING) {
		jw_slice(w, key, utf8_head_tail(&a, json_slice(value), MCP_STRING_MAX));
	} else {
		jw_json(w, key, value);
	}
}

static void write_text(struct jw *w, const char *text, bool is_error)
{
	jw_array(w, "content");
	jw_object(w, NULL);
	jw_str(w, "type", "text");
	jw_str(w, "text", text);
	jw_end(w, '}');
	jw_end(w, ']');
	if (is_error)
		jw_bool(w, "isError", true);
}

static void write_error(struct jw *w, const struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	buf_printf(&text, "%s%s%s", err->text, err->hint[0] ? ". " : "", err->hint);
	write_text(w, text.data, true);
}

/* An agent names each thing it wants forgotten; only a whole session takes more than is named. */
static bool names_each(const json *params)
{
	const json *refs = json_get(params, "refs");

	for (size_t i = 0; i < json_len(refs); i++)
		if (*json_value_str(json_at(refs, i)) == 's')
			return false;
	return json_len(refs) > 0;
}

static int checked_params(
	const struct op_spec *op, const json *arguments, struct buf *ret, struct err *err)
{
	AUTO(json_free_ptr) json *params = NULL;

	if (op_params_check(op, arguments, ret, err) < 0)
		return -1;
	if (strcmp(op->name, "forget") != 0)
		return 0;
	if (json_parse(ret->data, ret->len, &params, err) < 0)
		return -1;
	if (!names_each(params))
		return json_len(json_get(params, "refs"))
			       ? 0
			       : err_set(err, ERR_USAGE, "forget needs refs");
	buf_cut(ret, ret->len - 1);
	buf_str(ret, ",\"yes\":true}");
	return 0;
}

void mcp_tool_call(struct client *c, const struct op_spec *op, const json *arguments, struct jw *w)
{
	AUTO(buf_done) struct buf params = { 0 }, text = { 0 };
	AUTO(json_free_ptr) json *reply = NULL;
	struct err err = { 0 };

	if (checked_params(op, arguments, &params, &err) < 0 ||
		client_ask(c, op->name, params.data, &reply, &err) < 0) {
		write_error(w, &err);
		return;
	}
	mcp_text(op, reply, &text);
	write_text(w, buf_cstr(&text), false);
	write_slim(w, "structuredContent", reply);
}
