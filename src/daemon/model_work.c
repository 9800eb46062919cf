#include "daemon/model_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/model_parts.h"
#include "text/hash.h"

/*
 * A hand does rounds: is the provider to be asked, is there budget, is there work; then one request.
 * Between rounds it sleeps until something can have changed. All waits are told in Unix ms; NEVER
 * means until somebody wakes it.
 */

#define NEVER INT64_MAX
#define AGAIN 0
#define SOON_MS 500   /* while transcripts are still read */
#define LOOK_MS 2000  /* for what is due and held up by something else */
#define STORE_MS 5000 /* after the store refused */
#define SLEEP_MAX_MS 3600000

double hand_chance(struct hand *h)
{
	return (double)rand_r(&h->seed) / RAND_MAX;
}

/* ---- the provider ---- */

static uint64_t identity_of(const struct llm_config *c)
{
	AUTO(buf_done) struct buf b = { 0 };
	const char *const parts[] = { c->provider, c->url, c->model, c->key, c->key_file,
		c->key_command };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		buf_printf(&b, "%s\n", parts[i] ? parts[i] : "");
	uint64_t hash = hash64(b.data, b.len);
	explicit_bzero(b.data, b.len);
	return hash;
}

/* Another provider, model or key: what is known of the old one is no longer true. */
static void meet(struct model_work *w, const struct llm_config *c)
{
	uint64_t identity = identity_of(c);
	pthread_mutex_lock(&w->mutex);
	if (identity != w->identity) {
		w->identity = identity;
		breaker_succeeded(&w->breaker);
		w->degraded[0] = '\0';
	}
	w->trouble[0] = w->budget[0] = '\0';
	w->budget_until = 0;
	pthread_mutex_unlock(&w->mutex);
}

/* Into one of the two texts that tell why nothing is sent; the same is said once. */
static void say(struct model_work *w, char to[ERR_TEXT_MAX], const char *text)
{
	pthread_mutex_lock(&w->mutex);
	bool is_news = *text && strcmp(to, text) != 0;
	snprintf(to, ERR_TEXT_MAX, "%s", text);
	pthread_mutex_unlock(&w->mutex);
	if (is_news)
		log_warn("the model observer sends nothing: %s", text);
}

static void say_trouble(struct model_work *w, const char *text)
{
	say(w, w->trouble, text);
}

static bool hand_open(struct hand *h)
{
	struct model_work *w = h->work;
	struct llm_config config;
	struct err err = { 0 };
	const struct settings *s = current_settings(w->setup.current);
	if (h->settings == s)
		return h->llm != NULL;
	llm_close(h->llm);
	h->llm = NULL;
	h->settings = s;
	if (!llm_config_fill(s, &config))
		return false;
	config.folder = w->setup.folder;
	meet(w, &config);
	if (llm_open(&config, &h->llm, &err)) {
		h->llm = NULL;
		say_trouble(w, err.text);
		return false;
	}
	return true;
}

/* Is the provider to be asked now? Else *ret_at tells when to look again. */
static bool is_permitted(struct hand *h, int64_t *ret_at)
{
	struct model_work *w = h->work;
	struct err err = { 0 };
	pthread_mutex_lock(&w->mutex);
	enum permit permit = breaker_ask(&w->breaker, clock_now(), ret_at);
	pthread_mutex_unlock(&w->mutex);
	h->is_probe = permit == PERMIT_PROBE;
	h->is_reachable = false;
	if (permit == PERMIT_NO && !*ret_at)
		*ret_at = NEVER;
	if (permit != PERMIT_PROBE)
		return permit == PERMIT_YES;
	h->is_reachable = llm_check(h->llm, &err) == 0;
	if (h->is_reachable)
		return true;
	pthread_mutex_lock(&w->mutex);
	if (w->breaker.is_pause)
		breaker_paused(&w->breaker, clock_now(), w->breaker.why, err.text);
	else
		breaker_failed(&w->breaker, clock_now(), hand_chance(h), CALL_NETWORK, err.text);
	*ret_at = w->breaker.until;
	pthread_mutex_unlock(&w->mutex);
	return false;
}

static void probe_undo(struct hand *h)
{
	pthread_mutex_lock(&h->work->mutex);
	if (h->is_probe)
		breaker_undo(&h->work->breaker);
	pthread_mutex_unlock(&h->work->mutex);
}

/* ---- the budget ---- */

static int spent_today(struct hand *h, struct cost_row *ret, struct err *err)
{
	struct reader *reader;
	if (readers_lend(h->work->setup.readers, &reader, err))
		return -1;
	int result = store_cost_total(reader->store, clock_day_start(clock_now()), 0, ret, err);
	readers_return(h->work->setup.readers, reader);
	return result;
}

static bool has_budget(struct hand *h, int64_t *ret_at)
{
	struct model_work *w = h->work;
	struct cost_row spent;
	struct err err = { 0 };
	char why[ERR_TEXT_MAX] = "";
	int64_t tokens = settings_int(h->settings, SET_OBSERVER_DAILY_TOKENS);
	double cost = settings_real(h->settings, SET_OBSERVER_DAILY_COST);
	*ret_at = clock_now() + STORE_MS;
	if (spent_today(h, &spent, &err)) {
		log_warn("what the model cost today cannot be told: %s", err.text);
		return false;
	}
	pthread_mutex_lock(&w->mutex);
	int64_t used = spent.tokens_in + spent.tokens_out;
	if (tokens && used >= tokens)
		snprintf(why, sizeof(why),
			"today's %lld tokens (observer.daily_tokens) are used up; "
			"it goes on tomorrow",
			(long long)tokens);
	else if (cost > 0 && spent.cost >= cost)
		snprintf(why, sizeof(why),
			"today's %.2f (observer.daily_cost) are spent; it goes on "
			"tomorrow",
			cost);
	w->budget_until = *why ? clock_day_next(clock_now()) : 0;
	*ret_at = w->budget_until;
	pthread_mutex_unlock(&w->mutex);
	say(w, w->budget, why);
	return !*why;
}

/* ---- one request ---- */

static int64_t later(struct hand *h, const struct err *err)
{
	if (err->code != ERR_BUSY)
		log_warn("the model observer: %s", err->text);
	return clock_now() + STORE_MS;
}

/* What cannot be loaded: gone is gone; a file of the person's that is wrong is theirs to mend. */
static int64_t load_failed(struct batch *b, struct err *err)
{
	struct err other = { 0 };
	const char *why = arena_str(&b->arena, err->text);
	if (err->code == ERR_NOT_FOUND && b->n == 1 && b->units[0].job.turn &&
		!b->units[0].unit.turn.id) {
		b->units[0].end = JOB_STATE_DEAD;
		b->units[0].error = "its turn is gone";
		return batch_store(b, &other) ? later(b->hand, &other) : AGAIN;
	}
	if (err->code == ERR_USAGE || err->code == ERR_NOT_FOUND)
		say_trouble(b->hand->work, why);
	if (batch_return(b, clock_now() + STORE_MS * 2, why, &other))
		return later(b->hand, &other);
	return clock_now() + STORE_MS * 2;
}

/* The shorter and stricter question, once. */
static int ask_again(struct batch *b, struct err *err)
{
	struct batch first = { .hand = b->hand, .is_sent = true, .ask.call = b->ask.call };
	if (batch_store(&first, err))
		return -1;
	b->is_again = true;
	b->is_lost = false;
	return batch_load(b, err) || batch_ask(b, err) ? -1 : 0;
}

static int64_t batch_run(struct batch *b)
{
	struct err err = { 0 };
	if (batch_load(b, &err))
		return load_failed(b, &err);
	say_trouble(b->hand->work, "");
	if (b->is_lost) {
		/* Nothing to say of a session; or the jobs of its turn were made anew, and wait. */
		b->units[0].end = b->kind == JOB_SUMMARY ? JOB_STATE_DONE : JOB_STATE_WAITING;
		if (b->kind == JOB_OBSERVE)
			return batch_return(b, 0, NULL, &err) ? later(b->hand, &err) : AGAIN;
		return batch_store(b, &err) ? later(b->hand, &err) : AGAIN;
	}
	if (batch_ask(b, &err))
		return load_failed(b, &err);
	if (llm_next[b->ask.outcome] == LLM_SHORTER && b->n == 1 && ask_again(b, &err))
		return load_failed(b, &err);
	batch_judge(b);
	if (batch_store(b, &err))
		return later(b->hand, &err);
	observer_poke(b->hand->work->setup.observer);
	return AGAIN;
}

/* ---- a round ---- */

struct backlog {
	int64_t waiting, marked;
};

static int backlog_run(struct desk *desk, void *ctx, struct err *err)
{
	struct backlog *b = ctx;
	int64_t counts[JOB_STATE_COUNT];
	if (store_job_counts(desk->store, JOB_OBSERVE, counts, err))
		return -1;
	b->waiting = counts[JOB_STATE_WAITING];
	return b->waiting < MODEL_BACKLOG_LOW
		       ? store_turns_without_job(desk->store, MODEL_BACKLOG_STEP, &b->marked, err)
		       : 0;
}

/* Turns from before there was a model are looked at by and by, the newest first. */
static int backlog_fill(struct hand *h, struct err *err)
{
	struct model_work *w = h->work;
	struct backlog b = { 0 };
	pthread_mutex_lock(&w->mutex);
	bool is_done = w->is_backlog_done;
	pthread_mutex_unlock(&w->mutex);
	if (is_done)
		return 0;
	if (writer_run(w->setup.writer, LANE_BACKGROUND, backlog_run, &b, err))
		return -1;
	if (b.marked)
		observer_poke(w->setup.observer);
	pthread_mutex_lock(&w->mutex);
	w->is_backlog_done = b.waiting < MODEL_BACKLOG_LOW && !b.marked;
	pthread_mutex_unlock(&w->mutex);
	return 0;
}

static int next_due(struct hand *h, int64_t *ret, struct err *err)
{
	static const enum job_kind kinds[] = { JOB_OBSERVE, JOB_SUMMARY };
	struct reader *reader;
	int result = 0;
	if (readers_lend(h->work->setup.readers, &reader, err))
		return -1;
	*ret = NEVER;
	for (size_t i = 0; i < ARRAY_LEN(kinds) && !result; i++) {
		int64_t at = 0;
		result = store_job_next_at(reader->store, kinds[i], &at, err);
		if (at)
			*ret = MIN(*ret, MAX(at, clock_now() + LOOK_MS));
	}
	readers_return(h->work->setup.readers, reader);
	return result;
}

/* Nothing could be leased. */
static int64_t rest(struct hand *h, uint64_t pokes)
{
	struct model_work *w = h->work;
	struct err err = { 0 };
	int64_t next = NEVER, canary = NEVER;
	probe_undo(h);
	if (next_due(h, &next, &err) || canary_run(h, &canary, &err))
		return later(h, &err);
	pthread_mutex_lock(&w->mutex);
	if (w->pokes == pokes)
		w->has_work = false;
	pthread_mutex_unlock(&w->mutex);
	return MIN(next, canary);
}

static int64_t hand_round(struct hand *h, uint64_t pokes)
{
	int64_t at = NEVER;
	struct err err = { 0 };
	struct batch b = { .hand = h };
	if (!hand_open(h))
		return NEVER;
	if (!has_budget(h, &at) || !is_permitted(h, &at))
		return at;
	if (h->work->setup.is_settled && !h->work->setup.is_settled(h->work->setup.ctx)) {
		probe_undo(h);
		return clock_now() + SOON_MS;
	}
	if (backlog_fill(h, &err) || batch_lease(&b, &err)) {
		probe_undo(h);
		arena_done(&b.arena);
		return later(h, &err);
	}
	int64_t next = b.n ? batch_run(&b) : rest(h, pokes);
	if (b.n && !b.is_sent)
		probe_undo(h);
	ask_done(&b.ask);
	arena_done(&b.arena);
	return next;
}

/* ---- threads ---- */

static void sleep_until(struct model_work *w, int64_t at, uint64_t pokes)
{
	while (!w->is_closing && w->pokes == pokes) {
		int64_t now = clock_now();
		if (at == NEVER) {
			pthread_cond_wait(&w->wake, &w->mutex);
			continue;
		}
		if (now >= at)
			return;
		struct timespec end = clock_after_us((uint64_t)MIN(at - now, SLEEP_MAX_MS) * 1000);
		pthread_cond_timedwait(&w->wake, &w->mutex, &end);
	}
}

static size_t wanted(struct model_work *w)
{
	const struct settings *s = current_settings(w->setup.current);
	struct llm_config config;
	return llm_config_fill(s, &config) ? (size_t)settings_int(s, SET_OBSERVER_PARALLEL) : 0;
}

static void *hand_main(void *arg)
{
	struct hand h = *(struct hand *)arg;
	struct model_work *w = h.work;
	free(arg);
	pthread_mutex_lock(&w->mutex);
	while (!w->is_closing) {
		uint64_t pokes = w->pokes;
		int64_t next = NEVER;
		if (h.index < wanted(w)) {
			w->busy++;
			pthread_mutex_unlock(&w->mutex);
			next = hand_round(&h, pokes);
			pthread_mutex_lock(&w->mutex);
			w->busy--;
		} else if (h.llm) {
			llm_close(h.llm);
			h.llm = NULL;
			h.settings = NULL;
		}
		if (next != AGAIN)
			sleep_until(w, next, pokes);
	}
	pthread_mutex_unlock(&w->mutex);
	llm_close(h.llm);
	return NULL;
}

/* As many as the settings want; those that are too many sleep. Under the mutex. */
static void threads_start(struct model_work *w)
{
	size_t n = MIN(wanted(w), (size_t)MODEL_PARALLEL_MAX);
	while (w->nthreads < n && !w->is_closing) {
		struct hand *h = mem_alloc(sizeof(*h));
		*h = (struct hand){ .work = w,
			.index = w->nthreads,
			.seed = (unsigned)clock_mono_us() + (unsigned)w->nthreads };
		if (pthread_create(&w->threads[w->nthreads], NULL, hand_main, h)) {
			free(h);
			log_error("cannot start a thread for the model observer");
			return;
		}
		w->nthreads++;
	}
}

static int release_run(struct desk *desk, void *ctx, struct err *err)
{
	return store_jobs_release(desk->store, clock_now(), err);
}

struct model_work *model_work_new(const struct model_work_setup *setup)
{
	struct model_work *w = mem_alloc(sizeof(*w));
	struct err err = { 0 };
	w->setup = *setup;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->wake, NULL);
	if (!setup->is_shared &&
		writer_run(setup->writer, LANE_BACKGROUND, release_run, NULL, &err))
		log_warn("jobs of the daemon before cannot be released: %s", err.text);
	model_work_wake(w);
	return w;
}

void model_work_leave(struct model_work *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	pthread_mutex_lock(&w->mutex);
	w->is_closing = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->mutex);
	for (size_t i = 0; i < w->nthreads; i++)
		pthread_join(w->threads[i], NULL);
	w->nthreads = 0;
}

void model_work_free(struct model_work *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

void model_work_wake(struct model_work *w)
{
	pthread_mutex_lock(&w->mutex);
	w->pokes++;
	w->has_work = true;
	threads_start(w);
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->mutex);
}

bool model_work_is_idle(struct model_work *w)
{
	pthread_mutex_lock(&w->mutex);
	bool can_work = breaker_is_usable(&w->breaker) && !*w->trouble && !*w->budget && wanted(w);
	bool is_idle = !w->busy && (!can_work || !w->has_work);
	pthread_mutex_unlock(&w->mutex);
	return is_idle;
}

void model_work_well(struct model_work *w)
{
	pthread_mutex_lock(&w->mutex);
	breaker_succeeded(&w->breaker);
	pthread_mutex_unlock(&w->mutex);
	model_work_wake(w);
}

void model_work_state(struct model_work *w, struct model_state *ret)
{
	const struct settings *s = current_settings(w->setup.current);
	struct llm_config config;
	*ret = (struct model_state){
		.is_on = llm_config_fill(s, &config), .waiting = -1, .dead = -1
	};
	snprintf(ret->provider, sizeof(ret->provider), "%s", config.provider);
	snprintf(ret->model, sizeof(ret->model), "%s", config.model ? config.model : "");
	pthread_mutex_lock(&w->mutex);
	const struct breaker *b = &w->breaker;
	snprintf(ret->breaker, sizeof(ret->breaker), "%s", breaker_names[b->state]);
	if (b->state != BREAKER_CLOSED)
		snprintf(ret->why, sizeof(ret->why), "%s", call_outcome_names[b->why]);
	ret->until = MAX(w->budget_until, MAX(b->hold, b->state == BREAKER_CLOSED ? 0 : b->until));
	ret->running = w->running;
	ret->is_budget = w->budget_until != 0;
	if (ret->is_on && (*w->trouble || *w->budget))
		snprintf(ret->trouble, sizeof(ret->trouble), "%s",
			*w->trouble ? w->trouble : w->budget);
	else if (ret->is_on && b->state != BREAKER_CLOSED)
		snprintf(ret->trouble, sizeof(ret->trouble), "%s", b->text);
	if (ret->is_on)
		snprintf(ret->degraded, sizeof(ret->degraded), "%s", w->degraded);
	pthread_mutex_unlock(&w->mutex);
}
