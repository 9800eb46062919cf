/* Trying a model on captured units, and counting what comes of it. */
#include "observe/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LOOK_TURNS 40 /* turns looked at for each unit that is wanted */
#define LOOK_MAX 5000

int trial_open(struct trial *t, struct arena *a, const char *model, struct err *err)
{
	const char *language = settings_text(t->settings, SET_OBSERVER_LANGUAGE);
	struct llm_config c;

	if (!llm_config_fill(t->settings, &c)) {
		err_set(err, ERR_USAGE, "there is no model: observer.provider is none");
		return err_hint(err, "remanence config set observer.provider ollama");
	}
	if (model)
		c.model = model;
	c.folder = t->folder;
	t->arena = a;
	t->model = c.model ? c.model : "";
	if (mode_load(a, t->prompts, settings_text(t->settings, SET_OBSERVER_MODE), &t->mode, err))
		return -1;
	if (language && *language)
		t->mode.language = language;
	quality_begin(&t->quality, a, &t->mode);
	return llm_open(&c, &t->llm, err);
}

void trial_close(struct trial *t)
{
	llm_close(t->llm);
	t->llm = NULL;
}

int trial_run(struct trial *t, const struct unit *u, struct trial_result *ret, struct err *err)
{
	const struct prompt_unit p = {
		.digest = &u->digest, .similar = u->similar, .nsimilar = u->nsimilar
	};
	struct ask *k = &ret->ask;

	*ret = (struct trial_result){ .ask = { .settings = t->settings,
					      .llm = t->llm,
					      .model = t->model,
					      .kind = JOB_TRIAL,
					      .units = 1,
					      .stop = t->stop } };
	if (prompt_make(t->arena, t->prompts, &t->mode, &p, 1, false, &k->prompt, err))
		return -1;
	ask_begin(k);
	k->call.project = u->turn.project;
	ask_send(k, t->arena);
	const struct refine_input in = { .unit = &u->in,
		.made = &u->made,
		.digest = &u->digest,
		.reply = &k->reply,
		.mode = &t->mode,
		.similar = u->similar,
		.nsimilar = u->nsimilar,
		.number = 1,
		.is_only_unit = true,
		.model = k->call.model,
		.version = k->prompt.version,
		.threshold = settings_real(t->settings, SET_REVIEW_THRESHOLD) };
	refine_run(t->arena, &in, &ret->refined);
	return 0;
}

/* Most turns are not worth it: they are read where they can be let go. */
static int unit_try(struct store *s, struct arena *a, const struct unit_request *q,
	struct unit *ret, bool *ret_is_one, struct err *err)
{
	AUTO(arena_done) struct arena scratch = { 0 };
	struct unit look;

	*ret_is_one = false;
	if (unit_load(s, &scratch, q, &look, err))
		return -1;
	if (!look.digest.is_worth_it)
		return 0;
	*ret_is_one = true;
	return unit_load(s, a, q, ret, err) || unit_similar(s, a, ret, err) ? -1 : 0;
}

int trial_units(struct store *s, struct arena *a, const struct settings *settings, size_t max,
	struct unit **ret, size_t *ret_n, struct err *err)
{
	struct unit_request q = { .max_chars =
					  (size_t)settings_int(settings, SET_OBSERVER_MAX_CHARS),
		.off = settings_list(settings, SET_RULES_OFF) };
	int64_t *turns;
	size_t n;

	max = MIN(max, (size_t)TRIAL_UNITS_MAX);
	*ret = ARENA_ARRAY(a, struct unit, max + 1);
	*ret_n = 0;
	if (store_turns_newest(s, a, MIN(max * LOOK_TURNS, (size_t)LOOK_MAX), &turns, &n, err))
		return -1;
	for (size_t i = 0; i < n && *ret_n < max; i++) {
		bool is_one;
		q.turn = turns[i];
		if (unit_try(s, a, &q, &(*ret)[*ret_n], &is_one, err))
			return -1;
		*ret_n += is_one;
	}
	return 0;
}

/* ---- counting ---- */

static char *lower(struct arena *a, const char *text)
{
	char *to = arena_str(a, text);

	for (char *p = to; p && *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
	return to;
}

static const char *prompt_of(struct arena *a, const struct unit *u)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->events[i].kind == EVENT_PROMPT && u->events[i].text)
			return lower(a, u->events[i].text);
	return NULL;
}

static void time_add(struct arena *a, struct trial_times *t, int64_t ms)
{
	if (ms >= 0)
		ARENA_PUSH(a, t->ms, t->n, t->cap, ms);
}

void trial_add(struct trial *t, const struct unit *u, const struct trial_result *r)
{
	const struct model_call *c = &r->ask.call;

	t->units++;
	t->outcomes[r->ask.outcome]++;
	if (r->ask.reply.class != REPLY_NONE) {
		quality_reply(&t->quality, &r->ask.reply, prompt_of(t->arena, u));
		quality_refined(&t->quality, &r->refined);
	}
	t->is_estimated = t->is_estimated || c->tokens_in < 0 || c->tokens_out < 0;
	t->tokens_in += c->tokens_in < 0 ? c->bytes_in / BYTES_PER_TOKEN : c->tokens_in;
	t->tokens_out += c->tokens_out < 0 ? c->bytes_out / BYTES_PER_TOKEN : c->tokens_out;
	t->cost += c->cost;
	if (llm_next[r->ask.outcome] != LLM_KEEP && c->detail && *c->detail)
		t->failure = arena_str(t->arena, c->detail);
	time_add(t->arena, &t->queue, c->queue_ms);
	time_add(t->arena, &t->first, c->first_byte_ms);
	time_add(t->arena, &t->total, c->total_ms);
}

static int by_time(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

int64_t trial_time(const struct trial_times *t, double share)
{
	if (!t->n)
		return -1;
	qsort(t->ms, t->n, sizeof(*t->ms), by_time);
	return t->ms[MIN((size_t)(share * (double)t->n), t->n - 1)];
}

size_t trial_answered(const struct trial *t)
{
	return t->outcomes[CALL_OK] + t->outcomes[CALL_NOTHING] + t->outcomes[CALL_CUT];
}

const char *trial_complaint(const struct trial *t)
{
	const struct quality *q = &t->quality;
	size_t answered = trial_answered(t);

	if (!t->units)
		return NULL;
	if (!answered)
		return arena_printf(t->arena, "none of %zu answers could be used", t->units);
	if (answered * 3 < t->units * 2)
		return arena_printf(
			t->arena, "only %zu of %zu answers could be used", answered, t->units);
	if (q->observations >= 3 && q->off_list * 4 > q->observations)
		return arena_printf(t->arena,
			"%zu of %zu observations have a type outside the list", q->off_list,
			q->observations);
	if (q->claims >= 5 && q->unsupported * 3 > q->claims)
		return arena_printf(t->arena,
			"%zu of %zu files, names and numbers that it tells are not in what it was "
			"sent",
			q->unsupported, q->claims);
	if (q->narratives >= 3 && q->user_first * 2 > q->narratives)
		return arena_printf(t->arena,
			"%zu of %zu texts say that the person did what the assistant did",
			q->user_first, q->narratives);
	return NULL;
}
