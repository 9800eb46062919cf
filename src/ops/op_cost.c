#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "store/job.h"

/* cost: what models were used for, by day, project and model; what is left of today's budget. */

#define DAYS_STANDARD 30
#define DAY_MS (24 * 3600000ll)

static void sums_write(struct jw *w, const struct cost_row *r)
{
	jw_int(w, "calls", r->calls);
	jw_int(w, "units", r->units);
	jw_int(w, "tokens_in", r->tokens_in);
	jw_int(w, "tokens_out", r->tokens_out);
	jw_real(w, "cost", r->cost, 4);
	jw_int(w, "ok", r->ok);
	jw_int(w, "failed", r->failed);
}

static const struct {
	enum cost_by by;
	const char *list, *name;
} tables[] = {
	{ COST_DAY, "days", "day" },
	{ COST_PROJECT, "projects", "project" },
	{ COST_MODEL, "models", "model" },
};

static int table_write(struct op_call *call, struct jw *w, size_t i, struct cost_query q, struct err *err)
{
	struct cost_row *rows;
	size_t n;
	q.by = tables[i].by;
	if (store_cost(call->store, call->arena, &q, &rows, &n, err))
		return -1;
	jw_array(w, tables[i].list);
	for (size_t k = 0; k < n; k++) {
		jw_object(w, NULL);
		jw_str(w, tables[i].name, rows[k].name && *rows[k].name ? rows[k].name : NULL);
		sums_write(w, &rows[k]);
		jw_end(w, '}');
	}
	jw_end(w, ']');
	return 0;
}

static int today_write(struct op_call *call, struct jw *w, struct err *err)
{
	struct cost_row spent;
	int64_t now = clock_now(), tokens = settings_int(call->settings, SET_OBSERVER_DAILY_TOKENS);
	double cost = settings_real(call->settings, SET_OBSERVER_DAILY_COST);
	if (store_cost_total(call->store, clock_day_start(now), 0, &spent, err))
		return -1;
	int64_t used = spent.tokens_in + spent.tokens_out;
	jw_object(w, "today");
	sums_write(w, &spent);
	jw_int(w, "tokens", used);
	if (tokens) {
		jw_int(w, "daily_tokens", tokens);
		jw_int(w, "tokens_left", MAX(tokens - used, (int64_t)0));
	}
	if (cost > 0) {
		jw_real(w, "daily_cost", cost, 4);
		jw_real(w, "cost_left", MAX(cost - spent.cost, 0.0), 4);
	}
	jw_bool(w, "is_used_up", (tokens && used >= tokens) || (cost > 0 && spent.cost >= cost));
	jw_int(w, "until", clock_day_next(now));
	jw_end(w, '}');
	return 0;
}

static int saved_write(struct op_call *call, struct jw *w, int64_t from, struct err *err)
{
	struct cost_saved saved;
	if (store_cost_saved(call->store, from, &saved, err))
		return -1;
	jw_object(w, "saved");
	jw_int(w, "requests", saved.requests);
	jw_int(w, "shared_tokens", saved.shared_tokens);
	jw_int(w, "skipped_units", saved.skipped);
	jw_int(w, "skipped_tokens", saved.skipped_tokens);
	jw_end(w, '}');
	return 0;
}

static int outcomes_write(struct op_call *call, struct jw *w, int64_t from, struct err *err)
{
	int64_t counts[CALL_OUTCOME_COUNT];
	if (store_call_outcomes(call->store, from, counts, err))
		return -1;
	jw_object(w, "outcomes");
	for (int i = 0; i < CALL_OUTCOME_COUNT; i++)
		if (counts[i])
			jw_int(w, i == CALL_NONE ? "under_way" : call_outcome_names[i], counts[i]);
	jw_end(w, '}');
	return 0;
}

int op_cost(struct op_call *call, struct jw *out, struct err *err)
{
	struct cost_query q = { 0 };
	struct cost_row all;
	if (call_project_named(call, &q.project, err) || param_time(call, "since", false, &q.from, err))
		return -1;
	if (!q.from)
		q.from = clock_day_start(clock_now() - DAYS_STANDARD * DAY_MS);
	if (store_cost_total(call->store, q.from, q.project, &all, err))
		return -1;
	jw_object(out, NULL);
	jw_int(out, "since", q.from);
	sums_write(out, &all);
	if (today_write(call, out, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (table_write(call, out, i, q, err))
			return -1;
	if (saved_write(call, out, q.from, err) || outcomes_write(call, out, q.from, err))
		return -1;
	jw_object(out, "prices");
	jw_real(out, "in", settings_real(call->settings, SET_OBSERVER_PRICE_IN), 4);
	jw_real(out, "out", settings_real(call->settings, SET_OBSERVER_PRICE_OUT), 4);
	jw_end(out, '}');
	jw_end(out, '}');
	return 0;
}
