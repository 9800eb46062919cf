/*
 * What makes vectors. Each kind of vectors has a folder: that of the builtin embedder is the one
 * that was always there, a server's model has one beside it. When another kind is wished for, the
 * one that was in use goes on answering until the new one has everything; then its vectors go.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proc.h"
#include "daemon/embedding_parts.h"
#include "embed/model.h"
#include "text/hash.h"

#define MODEL_NAME_MAX (REMOTE_ID_MAX + 16)

struct wish {
	struct remote_config remote;
	bool is_remote, is_off;
	const char *file; /* of the builtin model */
};

const char *embedding_model_file(struct embedding *e, struct arena *a)
{
	AUTO(buf_done) struct buf self = { 0 };
	const char *places[MODEL_PLACES];
	const char *program = proc_self_path(&self) ? NULL : self.data;
	size_t n = model_places(a, e->setup.home, program, places);
	return model_find(places, n);
}

static void say_why(struct embedding *e, const char *file, const struct err *err)
{
	pthread_mutex_lock(&e->mutex);
	bool is_news = strcmp(e->why, err->text) != 0;
	snprintf(e->why, sizeof(e->why), "%s", err->text);
	snprintf(e->hint, sizeof(e->hint), "%s", err->hint);
	snprintf(e->file, sizeof(e->file), "%s", file ? file : "");
	pthread_mutex_unlock(&e->mutex);
	if (is_news && *err->text)
		log_info("%s", err->text);
}

static void wish_make(struct embedding *e, struct arena *a, struct wish *ret)
{
	*ret = (struct wish){ 0 };
	ret->is_remote = remote_config_fill(current_settings(e->setup.current), &ret->remote);
	ret->is_off = !strcmp(ret->remote.provider, "none");
	if (!ret->is_remote && !ret->is_off)
		ret->file = embedding_model_file(e, a);
}

static uint64_t wish_hash(const struct wish *w)
{
	AUTO(buf_done) struct buf b = { 0 };
	const struct remote_config *c = &w->remote;
	const char *const texts[] = { c->provider, w->is_remote ? c->url : NULL,
		w->is_remote ? c->model : NULL, c->key, c->key_file, c->key_command, w->file };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		buf_printf(&b, "%s%c", texts[i] ? texts[i] : "", 0);
	buf_printf(&b, "%u %d", c->dims, c->timeout_ms);
	uint64_t hash = hash64(b.data, b.len);
	explicit_bzero(b.data, b.len);
	return hash;
}

bool embedding_is_right(struct embedding *e)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct wish w;
	wish_make(e, &a, &w);
	pthread_mutex_lock(&e->mutex);
	bool is_same = e->chosen == wish_hash(&w);
	pthread_mutex_unlock(&e->mutex);
	return is_same;
}

bool embedding_has_model(struct embedding *e)
{
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->now.builtin || e->now.remote;
	pthread_rwlock_unlock(&e->model_lock);
	return is_there;
}

struct generation embedding_now(struct embedding *e)
{
	pthread_rwlock_rdlock(&e->model_lock);
	struct generation now = e->now;
	pthread_rwlock_unlock(&e->model_lock);
	return now;
}

int64_t embedding_remote_wait(struct embedding *e)
{
	pthread_rwlock_rdlock(&e->model_lock);
	int64_t wait = e->now.remote ? embed_remote_wait(e->now.remote) : 0;
	pthread_rwlock_unlock(&e->model_lock);
	return wait;
}

/* --- Folders. --- */

static struct room *room_of(struct embedding *e, const char *dir)
{
	for (size_t i = 0; i < e->nrooms; i++)
		if (!strcmp(e->rooms[i].dir, dir))
			return &e->rooms[i];
	if (e->nrooms == ROOMS_MAX)
		return NULL;
	e->rooms[e->nrooms] = (struct room){ .dir = mem_strdup(dir), .vectors = vectors_new(dir) };
	return &e->rooms[e->nrooms++];
}

static const char *remote_dir(struct embedding *e, struct arena *a, const char *id)
{
	return arena_printf(a, "%s-%016" PRIx64, e->setup.dir, hash64(id, strlen(id)));
}

/* What was read of the store for the vectors as they were before is out of date then. */
static void load(struct embedding *e, struct room *room, const char *model, size_t dims)
{
	struct err err;
	pthread_mutex_lock(&e->putting);
	e->era++;
	if ((room->is_loaded && vectors_flush(room->vectors, &err)) ||
		vectors_load(room->vectors, model, dims, &err))
		log_error("vectors cannot be kept: %s", err.text);
	room->is_loaded = true;
	pthread_mutex_unlock(&e->putting);
}

/* Folders of kinds that are no longer in use go, and what is in them. */
static void rooms_tidy(struct embedding *e)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *parent = path_parent(&a, e->setup.dir), *base = path_base(e->setup.dir);
	char **names;
	size_t n;
	for (size_t i = 0; i < e->nrooms; i++) {
		struct room *room = &e->rooms[i];
		if (room == e->now.room || room == e->old.room || !room->is_loaded)
			continue;
		vectors_clear(room->vectors, NULL);
		room->is_loaded = false;
	}
	if (file_list(&a, parent, &names, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = path_join(&a, parent, names[i]);
		bool is_used = (e->now.room && !strcmp(e->now.room->dir, path)) ||
			       (e->old.room && !strcmp(e->old.room->dir, path));
		if (!is_used && str_starts(names[i], base) && names[i][strlen(base)] == '-')
			file_remove_tree(path, NULL);
	}
}

/* --- Generations. --- */

static void maker_close(struct generation *g)
{
	embedder_close(g->builtin);
	embed_remote_close(g->remote);
	g->builtin = NULL;
	g->remote = NULL;
}

static bool has_maker(const struct generation *g)
{
	return g->builtin || g->remote;
}

static uint64_t count(const struct generation *g)
{
	struct vectors_stats stats = { 0 };
	if (g->room)
		vectors_stats(g->room->vectors, &stats);
	return stats.docs;
}

static int open_remote(
	struct embedding *e, const struct wish *w, struct generation *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	if (embed_remote_open(&w->remote, embedding_called, e, &ret->remote, err)) {
		err_prefix(err, "vectors: off");
		return -1;
	}
	const char *id = embed_remote_id(ret->remote), *dir = remote_dir(e, &a, id);
	struct room *room = room_of(e, dir);
	if (!room) {
		maker_close(ret);
		return err_set(err, ERR_TOO_LARGE,
			"vectors: off (too many models were tried since the daemon started)");
	}
	ret->room = room;
	ret->dims = 0;
	/* The folder may know already how many numbers they have. */
	const char *model = vectors_model_of(&a, dir);
	size_t n = strlen(id);
	unsigned dims = 0;
	if (model && !strncmp(model, id, n) && sscanf(model + n, "@%u", &dims) == 1 &&
		dims <= REMOTE_DIMS_MAX) {
		load(e, ret->room, model, VECTOR_ROUND(dims));
		ret->dims = dims;
	}
	return 0;
}

static int open_builtin(
	struct embedding *e, const struct wish *w, struct generation *ret, struct err *err)
{
	if (w->is_off) {
		err_set(err, ERR_NOT_FOUND, "vectors: off (the setting embed.provider is 'none')");
		return err_hint(err, "remanence config set embed.provider builtin");
	}
	if (!w->file) {
		err_set(err, ERR_NOT_FOUND, "vectors: off (no model file)");
		return err_hint(
			err, "get it with tools/model-get, then: remanence model install FILE");
	}
	if (embedder_open(w->file, &ret->builtin, err))
		return -1;
	load(e, ret->room, embedder_id(ret->builtin), VECTOR_DIMS);
	return 0;
}

/* A server's vectors are not all there after a start: the builtin ones may still be. */
static void open_leftover(struct embedding *e, struct generation *ret)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *model = vectors_model_of(&a, e->setup.dir), *file = embedding_model_file(e, &a);
	struct generation g = { .room = &e->rooms[0], .dims = VECTOR_DIMS };
	if (!model || !file || embedder_open(file, &g.builtin, NULL))
		return;
	if (strcmp(embedder_id(g.builtin), model)) {
		maker_close(&g);
		return;
	}
	load(e, g.room, model, VECTOR_DIMS);
	*ret = g;
}

/* Puts what was made in the place of `now`; what answers meanwhile becomes or stays `old`. */
static void generation_put(struct embedding *e, const struct generation *made)
{
	struct generation before = e->now, old = e->old, gone[2] = { { 0 } };
	bool is_same = before.room == made->room;
	/* Nobody adds to it any more. */
	if (before.room && before.room->is_loaded)
		vectors_flush(before.room->vectors, NULL);
	if (!has_maker(&before) && !has_maker(&old) && made->remote)
		open_leftover(e, &old);
	pthread_rwlock_wrlock(&e->model_lock);
	if (is_same || !has_maker(&before) || !has_maker(made) || !count(&before)) {
		gone[0] = before;
	} else {
		gone[0] = old;
		old = before;
	}
	if (old.room == made->room || !has_maker(made)) {
		gone[1] = old;
		old = (struct generation){ 0 };
	}
	e->now = *made;
	e->old = old;
	pthread_rwlock_unlock(&e->model_lock);
	maker_close(&gone[0]);
	maker_close(&gone[1]);
}

void embedding_choose(struct embedding *e)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct err err = { 0 };
	struct wish w;
	atomic_store(&e->stop, true);
	pthread_mutex_lock(&e->choosing);
	wish_make(e, &a, &w);
	struct generation made = { .room = room_of(e, e->setup.dir), .dims = VECTOR_DIMS };
	int failed =
		w.is_remote ? open_remote(e, &w, &made, &err) : open_builtin(e, &w, &made, &err);
	if (failed && !made.room->is_loaded)
		load(e, made.room, NULL, 0);
	say_why(e, w.file, &err);
	generation_put(e, &made);
	if (has_maker(&made))
		rooms_tidy(e);
	pthread_mutex_lock(&e->mutex);
	atomic_store(&e->stop, e->is_closing);
	e->is_chosen = true;
	e->chosen = wish_hash(&w);
	*e->trouble = '\0';
	pthread_mutex_unlock(&e->mutex);
	pthread_mutex_unlock(&e->choosing);
}

void embedding_load_first(struct embedding *e)
{
	pthread_mutex_lock(&e->choosing);
	struct room *room = room_of(e, e->setup.dir);
	if (!room->is_loaded && !e->now.room)
		load(e, room, NULL, 0);
	pthread_mutex_unlock(&e->choosing);
}

void embedding_load_remote(struct embedding *e, uint32_t dims)
{
	char model[MODEL_NAME_MAX];
	pthread_mutex_lock(&e->choosing);
	if (e->now.remote && e->now.dims != dims) {
		snprintf(model, sizeof(model), "%s@%u", embed_remote_id(e->now.remote), dims);
		load(e, e->now.room, model, VECTOR_ROUND((size_t)dims));
		pthread_rwlock_wrlock(&e->model_lock);
		e->now.dims = dims;
		pthread_rwlock_unlock(&e->model_lock);
	}
	pthread_mutex_unlock(&e->choosing);
}

void embedding_purge_rooms(struct embedding *e)
{
	pthread_mutex_lock(&e->choosing);
	rooms_tidy(e);
	pthread_mutex_unlock(&e->choosing);
}

void embedding_retire_old(struct embedding *e, const struct room *room)
{
	struct generation gone = { 0 };
	pthread_mutex_lock(&e->choosing);
	if (e->old.room && e->now.room == room) {
		pthread_rwlock_wrlock(&e->model_lock);
		gone = e->old;
		e->old = (struct generation){ 0 };
		pthread_rwlock_unlock(&e->model_lock);
	}
	maker_close(&gone);
	if (gone.room) {
		log_info("everything is embedded with the new model: the vectors of the one before "
			 "go");
		rooms_tidy(e);
	}
	pthread_mutex_unlock(&e->choosing);
}

void embedding_flush(struct embedding *e)
{
	struct err err;
	pthread_mutex_lock(&e->choosing);
	for (size_t i = 0; i < e->nrooms; i++)
		if (e->rooms[i].is_loaded && vectors_flush(e->rooms[i].vectors, &err))
			log_warn("vectors cannot be written: %s", err.text);
	pthread_mutex_unlock(&e->choosing);
}

void embedding_models_close(struct embedding *e)
{
	maker_close(&e->now);
	maker_close(&e->old);
	for (size_t i = 0; i < e->nrooms; i++) {
		vectors_free(e->rooms[i].vectors);
		free(e->rooms[i].dir);
	}
}
