#include "daemon/injections.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

struct injections {
	struct writer *writer;
	pthread_mutex_t mutex;
	struct injection_note *notes[INJECTIONS_MAX];
	size_t n;
};

/* The notes of one flush. */
struct flush {
	struct work work;
	struct injections *owner;
	struct injection_note *notes[INJECTIONS_MAX];
	bool is_stored[INJECTIONS_MAX];
	size_t n;
};

void injection_note_free(struct injection_note *n)
{
	if (!n)
		return;
	free(n->agent_session);
	free(n->memories);
	free(n);
}

struct injections *injections_new(struct writer *writer)
{
	struct injections *i = mem_alloc(sizeof(*i));
	i->writer = writer;
	pthread_mutex_init(&i->mutex, NULL);
	return i;
}

void injections_free(struct injections *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->n; k++)
		injection_note_free(i->notes[k]);
	pthread_mutex_destroy(&i->mutex);
	free(i);
}

void injections_add(struct injections *i, struct injection_note *note)
{
	pthread_mutex_lock(&i->mutex);
	if (i->n < INJECTIONS_MAX) {
		i->notes[i->n++] = note;
		note = NULL;
	}
	pthread_mutex_unlock(&i->mutex);
	if (note)
		log_warn("an injection is not recorded: too many wait for their sessions");
	injection_note_free(note);
}

static int flush_run(struct desk *desk, struct work *work, struct err *err)
{
	struct flush *f = (struct flush *)work;
	for (size_t i = 0; i < f->n; i++) {
		const struct injection_note *note = f->notes[i];
		struct injection row = {
			.at = note->at,
			.where = note->where,
			.memories = note->memories,
			.n = note->n,
			.chars = note->chars,
		};
		f->is_stored[i] = false;
		if (store_session_find(
			    desk->store, note->agent, note->agent_session, &row.session, err))
			return -1;
		if (!row.session)
			continue;
		if (store_injection_put(desk->store, &row, err))
			return -1;
		f->is_stored[i] = true;
	}
	return 0;
}

static void flush_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct flush *f = (struct flush *)work;
	int64_t oldest = clock_now() - INJECTIONS_WAIT_MS;
	if (result)
		log_warn("injections cannot be recorded now: %s", err->text);
	for (size_t i = 0; i < f->n; i++) {
		if ((!result && f->is_stored[i]) || f->notes[i]->at < oldest)
			injection_note_free(f->notes[i]);
		else
			injections_add(f->owner, f->notes[i]);
	}
	free(f);
}

void injections_flush(struct injections *i)
{
	struct flush *f = NULL;
	pthread_mutex_lock(&i->mutex);
	if (i->n) {
		f = mem_alloc(sizeof(*f));
		f->work =
			(struct work){ .lane = LANE_REQUEST, .run = flush_run, .done = flush_done };
		f->owner = i;
		f->n = i->n;
		for (size_t k = 0; k < i->n; k++)
			f->notes[k] = i->notes[k];
		i->n = 0;
	}
	pthread_mutex_unlock(&i->mutex);
	struct err err = { 0 };
	if (f && writer_put(i->writer, &f->work, &err))
		flush_done(&f->work, -1, 0, &err);
}
