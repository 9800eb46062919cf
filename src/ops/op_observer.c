#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/trial.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/model_state.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/job.h"

/*
 * observer test: one captured unit, sent to the model, with everything that came of it and what to
 * do about it. observer eval: several, with one or two models side by side. Nothing is stored of
 * them but that they were sent and what they cost.
 */

#define EVAL_UNITS 20
#define MODELS_MAX 2
#define BODY_MAX 600
#define SLOW_MS 30000
#define QUEUE_SHARE 2 /* one in so much of the total is waiting: say so */

static int record(struct store *s, void *ctx, struct err *err)
{
	return store_call_put(s, ctx, err);
}

static struct trial trial_of(const struct op_call *call)
{
	return (struct trial){ .settings = call->settings, .prompts = call->paths->prompts,
		.folder = call->paths->observer, .stop = call->services ? call->services->leaving : NULL };
}

static int try_one(struct op_call *call, struct trial *t, const struct unit *u, struct trial_result *r, struct err *err)
{
	return trial_run(t, u, r, err) || call_write(call, record, &r->ask.call, err) ? -1 : 0;
}

static bool is_leaving(const struct trial *t)
{
	return t->stop && atomic_load(t->stop);
}

/* The client asks the next daemon. */
static int left(struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, "the daemon left while the model was asked");
	return err_hint(err, "ask again: the next command starts a new one");
}

static int units_find(struct op_call *call, size_t max, struct unit **ret, size_t *ret_n, struct err *err)
{
	if (trial_units(call->store, call->arena, call->settings, max, ret, ret_n, err))
		return -1;
	if (*ret_n)
		return 0;
	err_set(err, ERR_NOT_FOUND, "nothing was captured yet that a model could be tried on");
	return err_hint(err, "work for a while with an agent, or `remanence import`");
}

/* ---- test ---- */

static void time_write(struct jw *w, const char *name, int64_t ms)
{
	if (ms >= 0)
		jw_int(w, name, ms);
	else
		jw_null(w, name);
}

static void call_write_json(struct jw *w, const struct model_call *c)
{
	jw_str(w, "provider", c->provider);
	jw_str(w, "model", c->model);
	jw_str(w, "outcome", call_outcome_names[c->outcome]);
	jw_str(w, "detail", c->detail);
	jw_int(w, "request_bytes", c->bytes_in);
	jw_int(w, "reply_bytes", c->bytes_out);
	time_write(w, "tokens_in", c->tokens_in);
	time_write(w, "tokens_out", c->tokens_out);
	jw_real(w, "cost", c->cost, 6);
	time_write(w, "queue_ms", c->queue_ms);
	time_write(w, "connect_ms", c->connect_ms);
	time_write(w, "first_byte_ms", c->first_byte_ms);
	time_write(w, "total_ms", c->total_ms);
}

static void memory_write_json(struct op_call *call, struct jw *w, const struct refined *r)
{
	const struct memory *m = &r->m;
	jw_object(w, NULL);
	jw_str(w, "kind", memory_kind_names[m->kind]);
	jw_str(w, "type", m->type ? memory_type_names[m->type] : NULL);
	jw_str(w, "title", m->title);
	const char *text = memory_text(call->arena, m);
	jw_slice(w, "text", (struct str){ text ? text : "", text ? utf8_cut(text, strlen(text), BODY_MAX) : 0 });
	jw_real(w, "confidence", m->confidence, 2);
	jw_str(w, "status", memory_status_names[m->status]);
	jw_str(w, "refines", r->refines);
	jw_int(w, "removed", (int64_t)r->removed);
	jw_end(w, '}');
}

static void memories_write(struct op_call *call, struct jw *w, const struct refine_output *r)
{
	jw_array(w, "memories");
	for (size_t i = 0; i < r->n; i++)
		memory_write_json(call, w, &r->items[i]);
	for (size_t i = 0; i < r->ncandidates; i++) {
		const struct fact_candidate *c = &r->candidates[i];
		jw_object(w, NULL);
		jw_str(w, "kind", memory_kind_names[KIND_FACT]);
		jw_str(w, "type", c->category ? memory_type_names[c->category] : NULL);
		jw_str(w, "title", c->title);
		jw_str(w, "text", c->body);
		jw_end(w, '}');
	}
	jw_end(w, ']');
	jw_object(w, "grounding");
	jw_int(w, "claims", (int64_t)r->claims);
	jw_int(w, "unsupported", (int64_t)r->unsupported);
	jw_int(w, "dropped", (int64_t)r->dropped);
	jw_end(w, '}');
}

static const char *seconds(struct arena *a, int64_t ms)
{
	return arena_printf(a, "%.1f s", (double)ms / 1000);
}

/* Requests of the daemon's own that the server had at the same time. */
static int others_running(const struct op_call *call)
{
	const struct services *v = call->services;
	struct model_state s = { 0 };
	if (v && v->model_state)
		v->model_state(v->daemon, &s);
	return s.running;
}

/* The server does one thing after another, and ours was not the first. */
static const char *waited_for_others(struct op_call *call, const struct model_call *c, int others)
{
	bool is_waiting = c->queue_ms > 0 && c->queue_ms * QUEUE_SHARE > c->total_ms;
	if (!others || !(c->outcome == CALL_TIMEOUT || is_waiting))
		return NULL;
	return arena_printf(call->arena,
		"the daemon itself was asking the model at the same time, and a server with one slot answers one after another: "
		"try again when `remanence status` tells of no request under way%s",
		c->outcome == CALL_TIMEOUT ? ", or raise observer.stall_ms" : "");
}

/* What went wrong, or is slow, and what to do about it. NULL: nothing. */
static const char *advice_of(struct op_call *call, const struct ask *k, int others, const char **ret_verdict)
{
	struct arena *a = call->arena;
	const struct model_call *c = &k->call;
	static const char *const failures[CALL_OUTCOME_COUNT] = {
		[CALL_EMPTY] = "the answer holds no text: where the model thinks first, switch thinking off or take another model",
		[CALL_REFUSED] = "take another model, or word the prompt anew in the prompts folder",
		[CALL_UNREADABLE] = "the model does not keep to the form: take a larger one, or lower observer.max_chars",
		[CALL_CUT] = "it said more than it was asked for, or went round in circles: take a larger model, or lower observer.max_chars",
		[CALL_TIMEOUT] = "raise observer.timeout_ms and observer.stall_ms, lower observer.max_chars, or take a smaller model",
		[CALL_RATE_LIMIT] = "the provider allows fewer requests: leave observer.parallel at 1",
		[CALL_QUOTA] = "the account is used up or not paid; nothing is sent until that changes",
		[CALL_AUTH] = "check observer.key_file, observer.key_command or observer.key",
		[CALL_NETWORK] = "is the server running, and observer.url right?",
		[CALL_SERVER] = "look at the server's own log",
		[CALL_REQUEST] = "the request is too long for the model: lower observer.max_chars",
		[CALL_SETUP] = "check observer.model and observer.url",
	};
	*ret_verdict = c->outcome == CALL_OK ? "the model works" : c->outcome == CALL_NOTHING ?
		"the model works; it found nothing durable in this unit" : "the model cannot be used as it is";
	if (c->outcome == CALL_CUT)
		*ret_verdict = "the model works, but its answer was cut off";
	const char *waited = waited_for_others(call, c, others);
	if (waited)
		return waited;
	if (failures[c->outcome])
		return failures[c->outcome];
	if (c->queue_ms > 0 && c->queue_ms * QUEUE_SHARE > c->total_ms)
		return arena_printf(a, "%s of %s is queue wait: raise the server's parallel slots%s", seconds(a, c->queue_ms),
			seconds(a, c->total_ms),
			settings_int(call->settings, SET_OBSERVER_PARALLEL) > 1 ? ", or set observer.parallel 1" : "");
	if (c->total_ms > SLOW_MS)
		return arena_printf(a, "%s a unit is slow: a smaller model or a lower observer.max_chars helps", seconds(a, c->total_ms));
	return NULL;
}

static int test_run(struct op_call *call, struct jw *out, struct err *err)
{
	struct trial t = trial_of(call);
	struct trial_result r = { 0 };
	struct unit *units;
	size_t n;
	const char *verdict;
	if (trial_open(&t, call->arena, param_text(call, "model", "models"), err))
		return -1;
	int others = others_running(call);
	int result = units_find(call, 1, &units, &n, err) || try_one(call, &t, &units[0], &r, err) ? -1 : 0;
	if (!result && is_leaving(&t))
		result = left(err);
	if (!result) {
		const struct services *v = call->services;
		const char *advice = advice_of(call, &r.ask, MAX(others, others_running(call)), &verdict);
		bool is_ok = llm_next[r.ask.outcome] == LLM_KEEP;
		if (is_ok && v && v->model_wake)
			v->model_wake(v->daemon, true);
		jw_object(out, NULL);
		jw_bool(out, "ok", is_ok);
		call_write_json(out, &r.ask.call);
		jw_str(out, "unit", arena_printf(call->arena, "s%lld", (long long)units[0].session.id));
		jw_int(out, "unit_at", units[0].turn.last_event_at);
		jw_int(out, "unit_bytes", (int64_t)units[0].digest.n);
		jw_int(out, "unit_parts", units[0].digest.parts);
		jw_str(out, "class", r.ask.reply.class ? reply_class_names[r.ask.reply.class] : NULL);
		memories_write(call, out, &r.refined);
		jw_str(out, "verdict", verdict);
		jw_str(out, "advice", advice);
		jw_end(out, '}');
	}
	ask_done(&r.ask);
	trial_close(&t);
	return result;
}

/* ---- eval ---- */

static int progress(struct op_call *call, size_t done, size_t total)
{
	if (!call->progress)
		return 0;
	return call->progress(call, arena_printf(call->arena, "{\"progress\":{\"units_done\":%zu,\"units_total\":%zu}}", done, total));
}

static void counts_write(struct jw *w, const char *name, const size_t *counts, const char *const *names, size_t n)
{
	jw_object(w, name);
	for (size_t i = 1; i < n; i++)
		if (counts[i])
			jw_int(w, names[i], (int64_t)counts[i]);
	jw_end(w, '}');
}

/* null: of nothing there is no share. */
static void share_write(struct jw *w, const char *name, size_t n, size_t of)
{
	if (of)
		jw_real(w, name, (double)n / (double)of, 3);
	else
		jw_null(w, name);
}

static void quality_write(struct jw *w, const struct quality *q)
{
	jw_int(w, "memories", (int64_t)(q->observations + q->facts + q->summaries));
	share_write(w, "types_outside", q->off_list, q->observations);
	share_write(w, "user_first", q->user_first, q->narratives);
	jw_int(w, "misattributed", (int64_t)q->attribution);
	share_write(w, "duplicate_titles", q->duplicate_titles, q->observations);
	share_write(w, "generic_titles", q->generic_titles, q->observations);
	time_write(w, "narrative_chars", q->narratives ? (int64_t)(q->narrative_bytes / q->narratives) : -1);
	share_write(w, "without_files", q->without_files, q->observations);
	share_write(w, "unsupported", q->unsupported, q->claims);
	jw_int(w, "claims", (int64_t)q->claims);
	jw_int(w, "dropped", (int64_t)q->dropped);
	counts_write(w, "classes", q->classes, reply_class_names, REPLY_CLASS_COUNT);
}

static void trial_write(struct jw *w, const struct trial *t)
{
	jw_object(w, NULL);
	jw_str(w, "model", t->model);
	jw_int(w, "units", (int64_t)t->units);
	jw_int(w, "answered", (int64_t)trial_answered(t));
	jw_int(w, "nothing", (int64_t)t->outcomes[CALL_NOTHING]);
	jw_int(w, "empty", (int64_t)t->outcomes[CALL_EMPTY]);
	quality_write(w, &t->quality);
	counts_write(w, "outcomes", t->outcomes, call_outcome_names, CALL_OUTCOME_COUNT);
	time_write(w, "queue_p50_ms", trial_time(&t->queue, .5));
	time_write(w, "first_byte_p50_ms", trial_time(&t->first, .5));
	time_write(w, "p50_ms", trial_time(&t->total, .5));
	time_write(w, "p90_ms", trial_time(&t->total, .9));
	time_write(w, "max_ms", trial_time(&t->total, 1));
	jw_int(w, "tokens_in", t->tokens_in);
	jw_int(w, "tokens_out", t->tokens_out);
	jw_bool(w, "tokens_estimated", t->is_estimated);
	jw_real(w, "cost", t->cost, 6);
	jw_str(w, "failure", t->failure);
	jw_str(w, "complaint", trial_complaint(t));
	jw_end(w, '}');
}

struct eval {
	struct op_call *call;
	struct unit *units;
	size_t n, done, total;
	bool is_stopped; /* the daemon leaves: what was found so far is told */
};

static int eval_model(struct eval *e, const char *model, struct trial *t, struct err *err)
{
	*t = trial_of(e->call);
	int result = trial_open(t, e->call->arena, model, err);
	for (size_t i = 0; i < e->n && !result && !e->is_stopped; i++) {
		struct trial_result r = { 0 };
		result = try_one(e->call, t, &e->units[i], &r, err);
		e->is_stopped = is_leaving(t);
		/* The last one was given up because of us. */
		bool is_tried = !result && !e->is_stopped;
		if (is_tried)
			trial_add(t, &e->units[i], &r);
		ask_done(&r.ask);
		if (is_tried && progress(e->call, ++e->done, e->total))
			result = err_set(err, ERR_UNAVAILABLE, "whoever asked went away");
	}
	trial_close(t);
	return result;
}

static int eval_run(struct op_call *call, struct jw *out, struct err *err)
{
	struct eval e = { .call = call };
	struct trial *t = ARENA_ARRAY(call->arena, struct trial, MODELS_MAX);
	const char *models[MODELS_MAX] = { NULL, NULL }, **given;
	size_t ngiven = param_list(call, "models", "model", &given), n = ngiven ? MODELS_MAX : 1;
	if (ngiven > MODELS_MAX)
		return err_set(err, ERR_USAGE, "observer eval compares at most %d models", MODELS_MAX);
	/* One given stands beside that of the settings. */
	for (size_t i = 0; i < ngiven; i++)
		models[ngiven == 1 ? 1 : i] = given[i];
	if (units_find(call, param_size(call, "units", EVAL_UNITS), &e.units, &e.n, err))
		return -1;
	e.total = e.n * n;
	for (size_t i = 0; i < n; i++)
		if (eval_model(&e, models[i], &t[i], err))
			return -1;
	if (e.is_stopped && !t[0].units)
		return left(err);
	jw_object(out, NULL);
	jw_int(out, "units", (int64_t)e.n);
	jw_bool(out, "stopped", e.is_stopped);
	jw_array(out, "models");
	for (size_t i = 0; i < n && t[i].units; i++)
		trial_write(out, &t[i]);
	jw_end(out, ']');
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
	jw_end(out, '}');
	return 0;
}

int op_observer(struct op_call *call, struct jw *out, struct err *err)
{
	const char *action = param_text(call, "action", NULL);
	return action && !strcmp(action, "eval") ? eval_run(call, out, err) : test_run(call, out, err);
}
