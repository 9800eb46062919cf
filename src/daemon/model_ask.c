/*
 * A batch's request: recorded before it is sent and again when it came to an end, so that those that
 * nobody lived to finish are counted too.
 */
#include "base/mem.h"
#include "daemon/model_parts.h"

static int record_run(struct desk *desk, void *ctx, struct err *err)
{
	return store_call_put(desk->store, ctx, err);
}

static void count_running(struct model_work *w, int by)
{
	pthread_mutex_lock(&w->mutex);
	w->running += by;
	pthread_mutex_unlock(&w->mutex);
}

int batch_ask(struct batch *b, struct err *err)
{
	struct model_work *w = b->hand->work;
	b->ask.settings = b->hand->settings;
	b->ask.llm = b->hand->llm;
	b->ask.model = settings_text(b->hand->settings, SET_OBSERVER_MODEL);
	b->ask.kind = b->kind;
	b->ask.units = b->n;
	b->ask.stop = &w->stop;
	ask_begin(&b->ask);
	b->ask.call.job = b->units[0].job.id;
	b->ask.call.project = b->units[0].job.project;
	if (writer_run(w->setup.writer, LANE_BACKGROUND, record_run, &b->ask.call, err))
		return -1;
	count_running(w, 1);
	ask_send(&b->ask, &b->arena);
	count_running(w, -1);
	b->is_sent = true;
	return 0;
}
