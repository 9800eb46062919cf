/* What a model waits for, costs and is worth. */
#include "client/render.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define COST_ROWS 14
#define NUMBER_WIDTH 12
#define METRIC_WIDTH 26
#define MODEL_WIDTH 22

/* ---- jobs ---- */

static const struct {
	const char *state;
	enum style style;
} state_styles[] = { { "running", GOOD }, { "dead", BAD }, { "done", DIM }, { "waiting", PLAIN } };

static enum style style_of(const char *state)
{
	for (size_t i = 0; state && i < ARRAY_LEN(state_styles); i++)
		if (!strcmp(state_styles[i].state, state))
			return state_styles[i].style;
	return PLAIN;
}

static void job_line(struct client *c, const json *j)
{
	struct term *t = &c->term;
	const char *error = json_str(j, "last_error"), *title = json_str(j, "title");
	int64_t after = json_int(j, "run_after", 0);

	term_cell(t, REF, json_str(j, "ref"), 8, false);
	term_cell(t, style_of(json_str(j, "state")), json_str(j, "state"), 9, false);
	term_cell(t, DIM, json_str(j, "kind"), 9, false);
	term_cell(t, PLAIN, title ? title : json_str(j, "key"), t->width - 34, false);
	term_cell(t, DIM, render_age(c, json_int(j, "at", 0)), 7, true);
	term_newline(t);
	if (error)
		term_wrap(t, DIM, error, 8);
	if (after > t->now)
		term_wrap(t, DIM,
			arena_printf(
				&t->arena, "again in %s", term_span(&t->arena, after - t->now)),
			8);
}

void render_jobs(struct client *c, const json *reply)
{
	const json *jobs = json_get(reply, "jobs"), *counts = json_get(reply, "counts");
	struct arena *a = &c->term.arena;

	if (json_get(reply, "dropped")) {
		term_printf(&c->term, PLAIN, "Dropped %s.", json_str(reply, "ref"));
		term_newline(&c->term);
		return;
	}
	if (json_get(reply, "waiting_again")) {
		int64_t n = json_int(reply, "waiting_again", 0);
		term_printf(&c->term, PLAIN, "%s.",
			n ? render_plural(c, n, "job waits again", "jobs wait again")
			  : "No job was given up, so none waits again");
		term_newline(&c->term);
		return;
	}
	if (!json_len(jobs)) {
		render_nothing(c, "No job waits.",
			arena_printf(a, "%s done so far; --state done lists them.",
				render_plural(
					c, json_int(counts, "done", 0), "job is", "jobs are")));
		return;
	}
	for (size_t i = 0; i < json_len(jobs); i++)
		job_line(c, json_at(jobs, i));
	render_footer(c, arena_printf(a, "%s waiting, %s running, %s done, %s given up",
				 term_count(a, json_int(counts, "waiting", 0)),
				 term_count(a, json_int(counts, "running", 0)),
				 term_count(a, json_int(counts, "done", 0)),
				 term_count(a, json_int(counts, "dead", 0))));
}

/* ---- cost ---- */

static void cost_row(struct client *c, const char *name, const json *row, bool has_prices)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;

	term_cell(t, PLAIN, name ? name : "(none)", MODEL_WIDTH + 4, false);
	term_cell(t, PLAIN, term_count(a, json_int(row, "calls", 0)), 9, true);
	term_cell(t, PLAIN, term_count(a, json_int(row, "tokens_in", 0)), NUMBER_WIDTH, true);
	term_cell(t, PLAIN, term_count(a, json_int(row, "tokens_out", 0)), NUMBER_WIDTH, true);
	int64_t failed = json_int(row, "failed", 0);
	term_cell(t, failed ? WARN : DIM, term_count(a, failed), 8, true);
	if (has_prices)
		term_cell(t, PLAIN, arena_printf(a, "%.2f", json_real(row, "cost", 0)), 9, true);
	term_newline(t);
}

static void cost_table(struct client *c, const json *rows, const char *key, bool has_prices)
{
	struct term *t = &c->term;

	term_cell(t, DIM, key, MODEL_WIDTH + 4, false);
	term_cell(t, DIM, "requests", 9, true);
	term_cell(t, DIM, "tokens in", NUMBER_WIDTH, true);
	term_cell(t, DIM, "out", NUMBER_WIDTH, true);
	term_cell(t, DIM, "failed", 8, true);
	if (has_prices)
		term_cell(t, DIM, "cost", 9, true);
	term_newline(t);
	for (size_t i = 0; i < json_len(rows) && i < COST_ROWS; i++)
		cost_row(c, json_str(json_at(rows, i), key), json_at(rows, i), has_prices);
	term_newline(t);
}

static void budget(struct client *c, const json *today)
{
	struct arena *a = &c->term.arena;

	if (json_get(today, "daily_tokens"))
		render_field(c, "left today",
			arena_printf(a, "%s of %s tokens",
				term_count(a, json_int(today, "tokens_left", 0)),
				term_count(a, json_int(today, "daily_tokens", 0))));
	if (json_get(today, "daily_cost"))
		render_field(c, "",
			arena_printf(a, "%.2f of %.2f", json_real(today, "cost_left", 0),
				json_real(today, "daily_cost", 0)));
	if (json_bool(today, "is_used_up", false))
		render_field(c, "", "nothing is sent until tomorrow");
}

void render_cost(struct client *c, const json *reply)
{
	struct arena *a = &c->term.arena;
	const json *prices = json_get(reply, "prices"), *saved = json_get(reply, "saved");
	bool has_prices = json_real(prices, "in", 0) > 0 || json_real(prices, "out", 0) > 0 ||
			  json_real(reply, "cost", 0) > 0;

	if (!json_int(reply, "calls", 0))
		render_nothing(c, "No model was asked in this time.",
			"`remanence config set observer.provider` switches one on.");
	else {
		cost_table(c, json_get(reply, "days"), "day", has_prices);
		cost_table(c, json_get(reply, "projects"), "project", has_prices);
		cost_table(c, json_get(reply, "models"), "model", has_prices);
	}
	budget(c, json_get(reply, "today"));
	if (json_int(saved, "requests", 0))
		render_field(c, "saved",
			arena_printf(a, "%s and %s tokens by sending small units together",
				render_plural(
					c, json_int(saved, "requests", 0), "request", "requests"),
				term_count(a, json_int(saved, "shared_tokens", 0))));
	if (json_int(saved, "skipped_units", 0))
		render_field(c, json_int(saved, "requests", 0) ? "" : "saved",
			arena_printf(a, "about %s tokens by not sending %s",
				term_count(a, json_int(saved, "skipped_tokens", 0)),
				render_plural(
					c, json_int(saved, "skipped_units", 0), "unit", "units")));
}

/* ---- observer test ---- */

static const char *ms(struct client *c, const json *reply, const char *name)
{
	const json *value = json_get(reply, name);

	if (json_type(value) != JSON_INT)
		return "unknown";
	return arena_printf(&c->term.arena, "%.1f s", (double)json_value_int(value, 0) / 1000);
}

static void tried_memory(struct client *c, const json *m)
{
	struct term *t = &c->term;
	const char *type = json_str(m, "type"), *title = json_str(m, "title");
	int64_t removed = json_int(m, "removed", 0);

	term_cell(t, render_type_style(type), type ? type : json_str(m, "kind"), 14, false);
	term_put(t, BOLD, title);
	term_newline(t);
	if (json_str(m, "text") && strcmp(json_str(m, "text"), title ? title : "") != 0)
		term_wrap(t, PLAIN, json_str(m, "text"), 4);
	if (removed)
		term_wrap(t, WARN,
			arena_printf(&t->arena, "%s taken out: not in what was sent",
				render_plural(c, removed, "claim was", "claims were")),
			4);
}

static void render_test(struct client *c, const json *r)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;
	const json *memories = json_get(r, "memories"), *grounding = json_get(r, "grounding");
	bool is_ok = json_bool(r, "ok", false);
	int64_t dropped = json_int(grounding, "dropped", 0);

	render_field(c, "model",
		arena_printf(a, "%s %s", json_str(r, "provider"), json_str(r, "model")));
	render_field(c, "unit",
		arena_printf(a, "of session %s, %s", json_str(r, "unit"),
			render_ago(c, json_int(r, "unit_at", 0))));
	render_field(c, "sent", term_bytes(a, json_int(r, "request_bytes", 0)));
	if (json_type(json_get(r, "tokens_in")) == JSON_INT)
		render_field(c, "tokens",
			arena_printf(a, "%s in, %s out", term_count(a, json_int(r, "tokens_in", 0)),
				term_count(a, json_int(r, "tokens_out", 0))));
	render_field(c, "queue wait", ms(c, r, "queue_ms"));
	render_field(c, "first byte", ms(c, r, "first_byte_ms"));
	render_field(c, "total", ms(c, r, "total_ms"));
	render_field(c, "answer",
		arena_printf(a, "%s%s%s", json_str(r, "outcome"),
			json_str(r, "class") ? ", read as " : "",
			json_str(r, "class") ? json_str(r, "class") : ""));
	render_field(c, "", json_str(r, "detail"));
	if (json_int(grounding, "claims", 0))
		render_field(c, "grounding",
			arena_printf(a,
				"%s of %s files, names and numbers are in what was sent%s%s%s",
				term_count(a, json_int(grounding, "claims", 0) -
						      json_int(grounding, "unsupported", 0)),
				term_count(a, json_int(grounding, "claims", 0)),
				dropped ? "; " : "",
				dropped ? render_plural(c, dropped, "memory", "memories") : "",
				dropped ? " dropped" : ""));
	if (json_len(memories))
		term_newline(t);
	for (size_t i = 0; i < json_len(memories); i++)
		tried_memory(c, json_at(memories, i));
	term_newline(t);
	term_put(t, is_ok ? GOOD : BAD, is_ok ? "✓ " : "✗ ");
	term_put(t, BOLD, json_str(r, "verdict"));
	term_newline(t);
	term_wrap(t, PLAIN, json_str(r, "advice"), 2);
}

/* ---- observer eval ---- */

enum metric_form { AS_COUNT, AS_TOKENS, AS_SHARE, AS_SECONDS, AS_MONEY };

static const struct {
	const char *member, *name;
	enum metric_form form;
} metrics[] = {
	{ "units", "units", AS_COUNT },
	{ "answered", "answers that could be used", AS_COUNT },
	{ "nothing", "of them nothing durable", AS_COUNT },
	{ "memories", "memories and summaries told", AS_COUNT },
	{ "types_outside", "types outside the list", AS_SHARE },
	{ "user_first", "texts that begin \"The user\"", AS_SHARE },
	{ "misattributed", "said of the wrong person", AS_COUNT },
	{ "duplicate_titles", "duplicate titles", AS_SHARE },
	{ "narrative_chars", "characters of a text, mean", AS_COUNT },
	{ "generic_titles", "titles that say nothing", AS_SHARE },
	{ "without_files", "without files", AS_SHARE },
	{ "unsupported", "unsupported claims", AS_SHARE },
	{ "dropped", "dropped or cut off", AS_COUNT },
	{ "queue_p50_ms", "queue wait, median", AS_SECONDS },
	{ "first_byte_p50_ms", "first byte, median", AS_SECONDS },
	{ "p50_ms", "total, median", AS_SECONDS },
	{ "p90_ms", "total, 9 of 10 within", AS_SECONDS },
	{ "max_ms", "total, longest", AS_SECONDS },
	{ "tokens_in", "tokens in", AS_TOKENS },
	{ "tokens_out", "tokens out", AS_TOKENS },
	{ "cost", "cost", AS_MONEY },
};

static const char *metric_text(struct client *c, const json *m, size_t i)
{
	struct arena *a = &c->term.arena;
	const char *member = metrics[i].member;

	if (json_type(json_get(m, member)) == JSON_NULL)
		return "-";
	switch (metrics[i].form) {
	case AS_SHARE:
		return arena_printf(a, "%.1f %%", json_real(m, member, 0) * 100);
	case AS_SECONDS:
		return ms(c, m, member);
	case AS_MONEY:
		return arena_printf(a, "%.4f", json_real(m, member, 0));
	case AS_TOKENS:
		/* Some were not counted by the server. */
		return arena_printf(a, "%s%s", json_bool(m, "tokens_estimated", false) ? "~" : "",
			term_count(a, json_int(m, member, 0)));
	case AS_COUNT:
		break;
	}
	return term_count(a, json_int(m, member, 0));
}

/* What nobody has a figure of is left out: the price of a local model, the queue of a server that does not tell. */
static bool has_metric(const json *models, size_t i)
{
	if (metrics[i].form != AS_MONEY && strcmp(metrics[i].member, "queue_p50_ms") != 0)
		return true;
	for (size_t k = 0; k < json_len(models); k++) {
		double value = json_real(json_at(models, k), metrics[i].member, -1);
		if (metrics[i].form == AS_MONEY ? value > 0 : value >= 0)
			return true;
	}
	return false;
}

/* "ok 17, timeout 2" */
static const char *counts_text(struct client *c, const json *counts)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (struct json_iter it = json_iter(counts); json_next(&it);)
		buf_printf(&out, "%s%s %lld", out.len ? ", " : "", it.key,
			(long long)json_value_int(it.value, 0));
	return arena_dup(&c->term.arena, buf_cstr(&out), out.len);
}

static void eval_table(struct client *c, const json *models)
{
	struct term *t = &c->term;

	term_cell(t, DIM, "", METRIC_WIDTH + 2, false);
	for (size_t k = 0; k < json_len(models); k++)
		term_cell(t, BOLD, json_str(json_at(models, k), "model"), MODEL_WIDTH, true);
	term_newline(t);
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
		if (!has_metric(models, i))
			continue;
		term_cell(t, DIM, metrics[i].name, METRIC_WIDTH + 2, false);
		for (size_t k = 0; k < json_len(models); k++)
			term_cell(
				t, PLAIN, metric_text(c, json_at(models, k), i), MODEL_WIDTH, true);
		term_newline(t);
	}
}

static void eval_counts(struct client *c, const char *what, const json *counts)
{
	struct term *t = &c->term;
	const char *text = counts_text(c, counts);

	if (*text)
		term_wrap(t, PLAIN, arena_printf(&t->arena, "%s %s", what, text), 2);
}

static void render_eval(struct client *c, const json *reply)
{
	struct term *t = &c->term;
	const json *models = json_get(reply, "models");

	eval_table(c, models);
	for (size_t k = 0; k < json_len(models); k++) {
		const json *m = json_at(models, k);
		const char *failure = json_str(m, "failure");
		term_newline(t);
		term_put(t, BOLD, json_str(m, "model"));
		term_newline(t);
		eval_counts(c, "ended", json_get(m, "outcomes"));
		eval_counts(c, "read as", json_get(m, "classes"));
		if (failure)
			term_wrap(t, PLAIN,
				arena_printf(&t->arena, "the last that failed: %s", failure), 2);
		term_wrap(t, WARN, json_str(m, "complaint"), 2);
	}
	if (json_bool(reply, "stopped", false))
		term_wrap(t, WARN,
			arena_printf(&t->arena,
				"The daemon was told to leave before all %lld units were tried.",
				(long long)json_int(reply, "units", 0)),
			0);
}

void render_observer(struct client *c, const json *reply)
{
	const json *models = json_get(reply, "models");

	if (models)
		render_eval(c, reply);
	else
		render_test(c, reply);
}
