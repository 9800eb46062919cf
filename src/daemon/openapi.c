#include "daemon/openapi.h"

#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "build_id.h"
#include "daemon/api.h"
#include "daemon/openapi_result.h"
#include "ops/ops.h"
#include "spec/spec.h"

#define ROUTE_MAX 64

/* --- Parameters. --- */

static const char *const type_names[] = {
	[PARAM_TEXT] = "string",
	[PARAM_INT] = "integer",
	[PARAM_REAL] = "number",
	[PARAM_BOOL] = "boolean",
	[PARAM_REF] = "string",
	[PARAM_TIME] = "string",
	[PARAM_RANGE] = "string",
	[PARAM_CHOICE] = "string",
	[PARAM_PATH] = "string",
};

static void choices_write(struct jw *w, const char *choices)
{
	struct str rest = str_of(choices), part;

	jw_array(w, "enum");
	while (str_split(&rest, '|', &part))
		jw_slice(w, NULL, part);
	jw_end(w, ']');
}

/* A default is a text in the table; numbers and truths are written as such. */
static void default_write(struct jw *w, const struct param *p)
{
	if (p->type == PARAM_INT || p->type == PARAM_REAL || p->type == PARAM_BOOL)
		jw_raw(w, "default", str_of(p->standard));
	else
		jw_str(w, "default", p->standard);
}

/* Members of the schema of one value. */
static void value_write(struct jw *w, const struct param *p)
{
	jw_str(w, "type", type_names[p->type]);
	if (p->type == PARAM_REF)
		jw_str(w, "pattern", "^[#]?[esES]?[0-9]+$");
	if (p->type == PARAM_CHOICE)
		choices_write(w, p->choices);
	if (p->type == PARAM_TEXT && p->max > 0)
		jw_int(w, "maxLength", (int64_t)p->max);
	if (p->type == PARAM_INT) {
		jw_int(w, "minimum", (int64_t)p->min);
		jw_int(w, "maximum", (int64_t)p->max);
	} else if (p->type == PARAM_REAL) {
		jw_real(w, "minimum", p->min, 3);
		jw_real(w, "maximum", p->max, 3);
	}
	if (p->standard && !(p->flags & PARAM_MANY))
		default_write(w, p);
}

static void schema_write(struct jw *w, const char *key, const struct param *p)
{
	bool is_many = p->flags & PARAM_MANY;

	jw_object(w, key);
	if (is_many) {
		jw_str(w, "type", "array");
		jw_object(w, "items");
	}
	value_write(w, p);
	if (is_many)
		jw_end(w, '}');
	jw_str(w, "description", p->help);
	jw_end(w, '}');
}

static void required_write(struct jw *w, const struct param *params)
{
	bool is_any = false;

	for (const struct param *p = params; p->name; p++)
		is_any = is_any || p->flags & PARAM_REQUIRED;
	if (!is_any)
		return;
	jw_array(w, "required");
	for (const struct param *p = params; p->name; p++)
		if (p->flags & PARAM_REQUIRED)
			jw_str(w, NULL, p->name);
	jw_end(w, ']');
}

static void body_write(struct jw *w, const struct param *params)
{
	jw_object(w, "requestBody");
	jw_object(w, "content");
	jw_object(w, "application/json");
	jw_object(w, "schema");
	jw_str(w, "type", "object");
	jw_object(w, "properties");
	for (const struct param *p = params; p->name; p++)
		schema_write(w, p->name, p);
	jw_end(w, '}');
	required_write(w, params);
	for (int i = 0; i < 4; i++)
		jw_end(w, '}');
}

static void query_write(struct jw *w, const struct param *params)
{
	jw_array(w, "parameters");
	for (const struct param *p = params; p->name; p++) {
		jw_object(w, NULL);
		jw_str(w, "name", p->name);
		jw_str(w, "in", "query");
		jw_bool(w, "required", p->flags & PARAM_REQUIRED);
		schema_write(w, "schema", p);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* --- Replies. --- */

static void reply_begin(struct jw *w, const char *status, const char *description, const char *type)
{
	jw_object(w, status);
	jw_str(w, "description", description);
	jw_object(w, "content");
	jw_object(w, type);
}

static void reply_end(struct jw *w)
{
	for (int i = 0; i < 3; i++)
		jw_end(w, '}');
}

static void replies_write(struct jw *w, const struct op_spec *op)
{
	bool is_stream = op->flags & OP_STREAMS;

	jw_object(w, "responses");
	reply_begin(w, "200", is_stream ? "Lines of progress or records; the last one is the result" : "The result",
		is_stream ? "application/jsonl" : "application/json");
	openapi_result_write(w, op->name);
	reply_end(w);
	reply_begin(w, "default", "What went wrong", "application/problem+json");
	jw_raw(w, "schema", STR("{\"$ref\":\"#/components/schemas/problem\"}"));
	reply_end(w);
	jw_end(w, '}');
}

/* --- Operations. --- */

static void method_write(struct jw *w, const struct op_spec *op, bool is_get)
{
	jw_object(w, is_get ? "get" : "post");
	jw_printf(w, "operationId", is_get ? "%s_get" : "%s", op->name);
	jw_str(w, "summary", op->summary);
	if (op->help)
		jw_str(w, "description", op->help);
	jw_array(w, "tags");
	jw_str(w, NULL, op->group);
	jw_end(w, ']');
	if (is_get)
		query_write(w, op->params);
	else
		body_write(w, op->params);
	replies_write(w, op);
	jw_end(w, '}');
}

static void operations_write(struct jw *w)
{
	char path[ROUTE_MAX];

	for (size_t i = 0; i < op_specs_n; i++) {
		const struct op_spec *op = &op_specs[i];
		if (op->flags & (OP_LOCAL | OP_HIDDEN) || !op_find(op->name))
			continue;
		snprintf(path, sizeof(path), "/api/%s", op->name);
		jw_object(w, path);
		method_write(w, op, false);
		if (!api_changes(op->name))
			method_write(w, op, true);
		jw_end(w, '}');
	}
}

/* --- The routes of the markdown service, and what all share. --- */

#define DETAIL_REPLY                                                                         \
	"\"default\":{\"description\":\"What went wrong\",\"content\":{"                     \
	"\"application/json\":{\"schema\":{\"type\":\"object\",\"properties\":{\"detail\":{" \
	"\"type\":\"string\"}}}}}}"
#define OBJECT_REPLY                                            \
	"\"200\":{\"description\":\"The result\",\"content\":{" \
	"\"application/json\":{\"schema\":{\"type\":\"object\"}}}},"
#define TEXT_PROPERTY(name) "\"" name "\":{\"type\":\"string\"}"

static const char health[] =
	"{\"get\":{\"operationId\":\"service_health\",\"summary\":\"Is it up?\","
	"\"tags\":[\"Markdown service\"],\"responses\":{" OBJECT_REPLY DETAIL_REPLY "}}}";
static const char stats[] =
	"{\"get\":{\"operationId\":\"service_stats\",\"summary\":\"Count the indexed markdown "
	"files\",\"tags\":[\"Markdown service\"],\"responses\":{" OBJECT_REPLY DETAIL_REPLY "}}}";
static const char search[] =
	"{\"post\":{\"operationId\":\"service_search\",\"summary\":\"Find sections of markdown "
	"files\",\"tags\":[\"Markdown service\"],\"requestBody\":{\"required\":true,\"content\":{"
	"\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"query\"],"
	"\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1},\"namespace\":{\"type\":["
	"\"string\",\"null\"]},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,"
	"\"default\":5},\"threshold\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1,"
	"\"default\":0.7}}}}}},\"responses\":{\"200\":{\"description\":\"The sections, best "
	"first\",\"content\":{\"application/json\":{\"schema\":{\"type\":\"array\",\"items\":{"
	"\"type\":\"object\",\"properties\":{" TEXT_PROPERTY("content") "," TEXT_PROPERTY(
		"namespace") "," TEXT_PROPERTY("file_source") "," TEXT_PROPERTY("section") ","
											   "\"simil"
											   "arity\""
											   ":{"
											   "\"type"
											   "\":"
											   "\"numbe"
											   "r\"}}}}"
											   "}}}"
											   "," DETAIL_REPLY
											   "}}}";
static const char components[] =
	"{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},\"schemas\":{"
	"\"problem\":{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\","
	"\"detail\",\"error\"],\"properties\":{" TEXT_PROPERTY("type") "," TEXT_PROPERTY("title") ",\"status\":{\"type\":\"integer\"}," TEXT_PROPERTY(
		"detail") ","
			  "\"error\":{\"type\":\"object\",\"required\":[\"code\",\"message\","
			  "\"hint\",\"retryable\"],"
			  "\"properties\":{" TEXT_PROPERTY("code") "," TEXT_PROPERTY(
				  "message") "," TEXT_PROPERTY("hint") ",\"retryable\":{\"type\":"
								       "\"boolean\"}}}}}}}";

void openapi_write(struct buf *out)
{
	struct jw w = { .out = out };

	jw_object(&w, NULL);
	jw_str(&w, "openapi", "3.1.0");
	jw_object(&w, "info");
	jw_str(&w, "title", "Remanence");
	jw_str(&w, "version", REMANENCE_VERSION);
	jw_str(&w, "summary", "Persistent memory for AI coding agents");
	jw_end(&w, '}');
	jw_raw(&w, "security", STR("[{\"token\":[]}]"));
	jw_object(&w, "paths");
	operations_write(&w);
	jw_raw(&w, "/health", STR(health));
	jw_raw(&w, "/stats", STR(stats));
	jw_raw(&w, "/search", STR(search));
	jw_end(&w, '}');
	jw_raw(&w, "components", STR(components));
	jw_end(&w, '}');
}
