/*
 * What a failure means. Servers agree on few status codes and on no wording, so a table of words is
 * asked as well; its first row that fits decides. Only what the server says about the failure is
 * looked at, never a question that it repeats.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/problem.h"

#define PAGE_TITLE_MAX 120
#define ANY 0
#define CLIENT_ERROR 400
#define SERVER_ERROR 500

struct rule {
	long low, high;    /* status; ANY: whichever, also none */
	const char *words; /* one of them, separated by bars; NULL: none is needed */
	enum call_outcome outcome;
	bool is_too_long;
};

static const struct rule rules[] = {
	/* Google says "check your plan and billing" for a limit of a minute too. */
	{ ANY, ANY, "perminute|per minute|per-minute", CALL_RATE_LIMIT, false },
	{ ANY, ANY,
		"insufficient_quota|perday|credit balance|billing|plan and billing|usage limit|"
		"out of credits|insufficient credits|insufficient balance|insufficient_balance|"
		"spending limit|spend limit|hard limit|payment required|quota exceeded|"
		"exceeded your current quota|hit your limit|hour limit reached|(tpd)|(rpd)|per day|"
		"monthly limit|weekly limit|daily limit|not enough credits|purchase "
		"credits|prepaid",
		CALL_QUOTA, false },
	{ 402, 402, NULL, CALL_QUOTA, false },
	{ ANY, ANY,
		"invalid api key|invalid_api_key|api key not valid|api_key_invalid|incorrect api "
		"key|"
		"invalid x-api-key|authentication_error|authentication failed|not logged in|"
		"please run /login|unauthenticated|missing api key|no api key|invalid bearer token|"
		"oauth token|token has expired|unauthorized",
		CALL_AUTH, false },
	{ 401, 401, NULL, CALL_AUTH, false },
	{ 403, 403, "quota|rate limit|rate_limit", CALL_RATE_LIMIT, false },
	{ 403, 403, "web page", CALL_SERVER, false },
	{ 403, 403, NULL, CALL_AUTH, false },
	{ 407, 407, NULL, CALL_AUTH, false },
	{ ANY, ANY, "permission_error|permission_denied|permission denied", CALL_AUTH, false },
	{ 429, 429, NULL, CALL_RATE_LIMIT, false },
	{ 529, 529, NULL, CALL_RATE_LIMIT, false },
	{ ANY, ANY,
		"rate limit|rate_limit|ratelimit|too many requests|resource_exhausted|overloaded|"
		"server busy|at capacity|maximum pending requests|try again later",
		CALL_RATE_LIMIT, false },
	{ 413, 413, NULL, CALL_REQUEST, true },
	{ ANY, ANY,
		"context length|context_length|context window|context size|maximum context|"
		"too many tokens|input length|prompt is too long|too long|token limit|"
		"exceeds the available context|request_too_large|request too large|exceeds the "
		"maximum number",
		CALL_REQUEST, true },
	{ 500, 599, "error code: 1010|web page", CALL_SERVER, false },
	{ 400, 599,
		"model not found|model_not_found|no such model|unknown model|invalid model|"
		"invalid_model|model does not exist|does not exist|is not a valid model|"
		"model is not available|not found, try pulling|model not available|"
		"is not supported for generatecontent|no endpoints found|no model|unsupported "
		"model",
		CALL_SETUP, false },
	{ ANY, ANY, "model_not_found|command not found", CALL_SETUP, false },
	{ 404, 405, NULL, CALL_SETUP, false },
	{ 408, 408, NULL, CALL_SERVER, false },
	{ 425, 425, NULL, CALL_SERVER, false },
	{ CLIENT_ERROR, 499, NULL, CALL_REQUEST, false },
	{ ANY, ANY, "invalid_request|invalid_argument|bad request", CALL_REQUEST, false },
	{ ANY, ANY, NULL, CALL_SERVER, false },
};

static bool has_word(struct str text, const char *words)
{
	struct str rest = str_of(words), word;
	char copy[64];

	while (str_split(&rest, '|', &word)) {
		snprintf(copy, sizeof copy, "%.*s", (int)word.n, word.p);
		if (str_ifind(text, copy))
			return true;
	}
	return false;
}

enum call_outcome problem_class(long status, const char *text, bool *ret_is_too_long)
{
	const struct rule *r = rules;

	while ((r->low != ANY && (status < r->low || status > r->high)) ||
		(r->words && !has_word(str_of(text), r->words)))
		r++;
	*ret_is_too_long = r->is_too_long;
	return r->outcome;
}

static void classify(struct problem *p)
{
	char text[sizeof p->message + sizeof p->code + 2];

	snprintf(text, sizeof text, "%s %s", p->message, p->code);
	p->outcome = problem_class(p->status, text, &p->is_too_long);
}

/* What a server says, as one line of bounded length. */
static void keep_line(char *to, struct str said)
{
	size_t n = 0;
	bool was_space = true;

	for (size_t i = 0; i < said.n && n + 1 < PROBLEM_TEXT_MAX; i++) {
		bool is_space = (unsigned char)said.p[i] <= ' ';
		if (!is_space || !was_space)
			to[n++] = is_space ? ' ' : said.p[i];
		was_space = is_space;
	}
	while (n && to[n - 1] == ' ')
		n--;
	to[utf8_cut(to, n, n)] = '\0';
}

static void add_code(struct problem *p, const char *code)
{
	size_t n = strlen(p->code);

	if (code && *code)
		snprintf(p->code + n, sizeof p->code - n, "%s%s", n ? " " : "", code);
}

static void add_codes(struct problem *p, const json *error)
{
	static const char *const names[] = { "type", "code", "status", "reason", "param" };
	json *details = json_get(error, "details");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		add_code(p, json_str(error, names[i]));
	for (size_t i = 0; i < json_len(details); i++) {
		json *detail = json_at(details, i), *broken = json_get(detail, "violations");
		add_code(p, json_str(detail, "reason"));
		for (size_t k = 0; k < json_len(broken); k++)
			add_code(p, json_str(json_at(broken, k), "quotaId"));
	}
}

/* The sentence of an error, whichever member it stands in. */
static const char *message_of(const json *error)
{
	static const char *const names[] = { "message", "detail", "error", "msg",
		"error_description", "title" };
	const char *said = json_value_str(error);

	for (size_t i = 0; i < ARRAY_LEN(names) && !said; i++) {
		json *member = json_get(error, names[i]);
		said = json_value_str(member);
		if (!said && json_type(member) == JSON_OBJECT)
			said = json_str(member, "message");
		if (!said && json_type(member) == JSON_ARRAY)
			said = json_str(json_at(member, 0), "msg");
	}
	return said;
}

bool problem_of_json(struct problem *p, long status, const json *reply)
{
	json *error = json_get(reply, "error");
	enum json_type type = json_type(error);

	if (type != JSON_STRING && type != JSON_OBJECT)
		return false;
	const char *said = message_of(error);
	int64_t code = json_int(error, "code", 0);
	/* Servers that began to stream can only tell the status inside. */
	if (status < CLIENT_ERROR && code >= CLIENT_ERROR && code < 600)
		status = (long)code;
	p->status = status;
	keep_line(p->message, str_of(said ? said : "it says that something went wrong"));
	add_codes(p, error);
	classify(p);
	return true;
}

/* A page for people: its title is the most that can be said of it. */
static bool problem_of_page(struct problem *p, const char *content_type, struct str body)
{
	struct str start = str_trim(body);
	const char *title = str_ifind(body, "<title>"), *end = NULL;

	if (!str_istarts(content_type, "text/html") && !(start.n && *start.p == '<'))
		return false;
	if (title) {
		title += strlen("<title>");
		end = str_ifind((struct str){ title, (size_t)(body.p + body.n - title) }, "</");
	}
	char name[PROBLEM_TEXT_MAX] = "";
	if (end)
		keep_line(name, (struct str){ title, MIN((size_t)(end - title), PAGE_TITLE_MAX) });
	snprintf(p->message, sizeof p->message, "a web page%s%.150s%s came instead of an answer",
		*name ? " '" : "", name, *name ? "'" : "");
	return true;
}

void problem_of_body(struct problem *p, long status, const char *content_type, struct str body)
{
	AUTO(json_free_ptr) json *reply = NULL;

	p->status = status;
	if (problem_of_page(p, content_type, body)) {
		classify(p);
		return;
	}
	if (json_parse(body.p ? body.p : "", body.n, &reply, NULL) == 0) {
		const json *object = json_type(reply) == JSON_ARRAY ? json_at(reply, 0) : reply;
		if (problem_of_json(p, status, object))
			return;
		const char *said = message_of(object);
		keep_line(p->message, str_of(said ? said : ""));
		add_codes(p, object);
	} else {
		keep_line(p->message, body);
	}
	classify(p);
}

enum call_outcome problem_of_end(enum net_end end)
{
	static const enum call_outcome outcomes[] = {
		[NET_DONE] = CALL_OK,
		[NET_ENOUGH] = CALL_OK,
		[NET_TIMEOUT] = CALL_TIMEOUT,
		[NET_STALLED] = CALL_TIMEOUT,
		[NET_REFUSED] = CALL_NETWORK,
		[NET_BROKEN] = CALL_NETWORK,
		[NET_TOO_LONG] = CALL_SERVER,
		[NET_ABORTED] = CALL_ABORTED,
	};

	return outcomes[end];
}
