/*
 * The first look after an installation: takes in the history for at most FIRST_RESULT (the rest goes on in the background), then
 * shows that it works, in three lines: what was found, a question out of the person's own history with its answer, what to do next.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"
#include "client/render.h"

#define IMPORT_PARAMS "{\"patience\":\"50s\"}"
#define NEWEST_SUMMARIES "{\"query\":\"\",\"kind\":\"summary\",\"project\":\"all\",\"limit\":60}"
#define QUESTION_MIN 20 /* bytes: shorter prompts say little alone */
#define QUESTION_MAX 120
#define ANSWER_COLUMNS 200

static void say(struct client *c, const char *name, const char *text)
{
	term_printf(&c->term, BOLD, "%-10s", name);
	term_put(&c->term, PLAIN, text);
	term_newline(&c->term);
}

static int import(struct client *c, json **ret, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct call call = { .op = op_spec_find("import"),
		.params = IMPORT_PARAMS,
		.on_progress = render_progress };

	int failed = client_call(c, &call, &text, err);
	render_progress_end();
	return failed < 0 ? -1 : json_parse(text.data, text.len, ret, err);
}

static void say_counts(struct client *c, const json *found, const json *stats)
{
	struct arena *a = &c->term.arena;
	AUTO(buf_done) struct buf line = { 0 };

	for (struct json_iter it = json_iter(json_get(found, "agents")); json_next(&it);)
		buf_printf(&line, "%s%s of %s", line.len ? ", " : "",
			render_plural(c, json_value_int(it.value, 0), "session", "sessions"),
			it.key);
	buf_printf(
		&line, "; %s", render_plural(c, json_int(stats, "events", 0), "event", "events"));
	int64_t memories = 0;
	for (struct json_iter it = json_iter(json_get(stats, "memories")); json_next(&it);)
		memories += json_value_int(it.value, 0);
	buf_printf(&line, ", %s", render_plural(c, memories, "memory", "memories"));
	if (json_int(found, "files_left", 0))
		buf_printf(&line, "; %s more are read in the background",
			term_count(a, json_int(found, "files_left", 0)));
	say(c, "Found", buf_cstr(&line));
}

/* A prompt that can stand alone: one line, neither too short nor too long; a question is best. */
static int question_worth(const char *request)
{
	size_t n = request ? strlen(request) : 0;

	if (n < QUESTION_MIN || n > QUESTION_MAX || strchr(request, '\n') || strchr(request, '"'))
		return 0;
	return request[n - 1] == '?' ? 2 : 1;
}

static char *find_question(struct client *c, struct err *err)
{
	AUTO(json_free_ptr) json *newest = NULL;
	char *best = NULL;
	int best_worth = 0;

	if (client_ask(c, "search", NEWEST_SUMMARIES, &newest, err))
		return NULL;
	const json *hits = json_get(newest, "hits");
	for (size_t i = 0; i < json_len(hits) && best_worth < 2; i++) {
		AUTO(json_free_ptr) json *got = NULL;
		AUTO(buf_done) struct buf params = { 0 };

		buf_printf(&params, "{\"refs\":[\"%s\"]}", json_str(json_at(hits, i), "ref"));
		if (client_ask(c, "get", buf_cstr(&params), &got, err))
			continue;
		const char *request = json_str(json_at(json_get(got, "records"), 0), "request");
		if (question_worth(request) > best_worth) {
			best_worth = question_worth(request);
			best = arena_str(&c->arena, request);
		}
	}
	return best;
}

static void say_question(struct client *c, struct err *err)
{
	AUTO(json_free_ptr) json *reply = NULL;
	AUTO(buf_done) struct buf params = { 0 };
	struct jw w = { .out = &params };
	char *question = find_question(c, err);

	if (!question)
		return;
	jw_object(&w, NULL);
	jw_str(&w, "query", question);
	jw_str(&w, "project", "all");
	jw_str(&w, "scope", "memories");
	jw_int(&w, "limit", 1);
	jw_end(&w, '}');
	if (client_ask(c, "search", buf_cstr(&params), &reply, err))
		return;
	const json *hit = json_at(json_get(reply, "hits"), 0);
	if (!hit)
		return;
	struct arena *a = &c->term.arena;
	say(c, "Try", arena_printf(a, "remanence recall --project all \"%s\"", question));
	size_t n = utf8_cut(json_str(hit, "title"), strlen(json_str(hit, "title")), ANSWER_COLUMNS);
	say(c, "",
		arena_printf(
			a, "→ #%s %.*s", json_str(hit, "ref"), (int)n, json_str(hit, "title")));
}

int local_welcome(struct client *c, struct err *err)
{
	AUTO(json_free_ptr) json *found = NULL, *stats = NULL;

	if (import(c, &found, err))
		return -1;
	if (client_ask(c, "stats", "{\"project\":\"all\"}", &stats, err))
		return -1;
	if (json_int(stats, "sessions", 0)) {
		say_counts(c, found, stats);
		say_question(c, err);
	} else {
		say(c, "Found", "no sessions of an agent on this machine yet");
		say(c, "Try", "remanence import TRANSCRIPT.jsonl, then remanence search WORDS");
	}
	say(c, "Next",
		"work with your agent as before; `remanence status` and `remanence sessions` show "
		"what is captured");
	term_flush(&c->term);
	return 0;
}
