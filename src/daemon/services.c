#include "daemon/services.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/import.h"
#include "daemon/status.h"

/* A function of an operation, as the writer calls it. */
struct wish {
	int (*fn)(struct store *s, void *ctx, struct err *err);
	void *ctx;
};

static int wish_run(struct desk *desk, void *ctx, struct err *err)
{
	struct wish *w = ctx;
	return w->fn(desk->store, w->ctx, err);
}

static int service_write(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err),
	void *ctx, struct err *err)
{
	struct daemon *d = daemon;
	struct wish w = { fn, ctx };
	if (writer_run(d->writer, LANE_REQUEST, wish_run, &w, err))
		return -1;
	/* What was forgotten, moved or edited may have left turns and facts to look at again. */
	observer_poke(d->observer);
	follow_wait(d->follow, writer_seq(d->writer));
	return 0;
}

static int service_maintain(void *daemon, int (*fn)(struct store *s, void *ctx, struct err *err),
	void *ctx, struct err *err)
{
	struct daemon *d = daemon;
	struct wish w = { fn, ctx };
	return writer_run_bare(d->writer, wish_run, &w, err);
}

static int service_import(void *daemon, struct op_call *call, const struct import_request *q,
	struct import_result *ret, struct err *err)
{
	struct daemon *d = daemon;
	struct import_room room = {
		.transcripts = d->transcripts,
		.writer = d->writer,
		.observer = d->observer,
		.follow = d->follow,
		.catchup = d->catchup,
		.user_home = d->paths.user_home,
		.stop = &d->is_leaving,
	};
	/* What hooks said of these sessions comes first, so that the two meet in a known order. */
	drain_poke(d->drain);
	return import_run(&room, call, q, ret, err);
}

static int service_sync(void *daemon, struct op_call *call, const struct sync_request *q, struct sync_result *ret, struct err *err)
{
	return folders_sync(((struct daemon *)daemon)->folders, call, q, ret, err);
}

static void service_folders_changed(void *daemon)
{
	folders_changed(((struct daemon *)daemon)->folders);
}

static void service_searched(void *daemon, const struct search_record *r)
{
	journal_add(((struct daemon *)daemon)->journal, r);
}

static int service_index_purge(void *daemon, bool from_scratch, struct err *err)
{
	struct daemon *d = daemon;
	if (from_scratch)
		embedding_restart(d->embedding);
	if (follow_purge(d->follow, from_scratch, err))
		return -1;
	journal_forget(d->journal);
	return embedding_purge(d->embedding, err);
}

static void service_status(void *daemon, struct jw *w)
{
	status_write(daemon, w);
}

static int service_stop(void *daemon, struct err *err)
{
	log_info("leaving: it was asked to stop");
	daemon_leave(daemon);
	return 0;
}

static bool service_meaning(void *daemon, struct str text, struct vector_query *ret,
	struct vectors **ret_vectors, char *why)
{
	struct daemon *d = daemon;
	struct embedding_question q = { .query = ret };
	bool can = embedding_ask(d->embedding, text, &q, why);
	*ret_vectors = q.vectors;
	return can;
}

static void service_embedded(void *daemon, int64_t *ret_vectors, int64_t *ret_waiting)
{
	struct daemon *d = daemon;
	struct embedding_state state;
	struct vectors_stats stats;
	embedding_state(d->embedding, &state);
	embedding_vectors_stats(d->embedding, &stats);
	*ret_vectors = (int64_t)stats.vectors;
	*ret_waiting = state.waiting;
}

static bool service_has_ollama(void *daemon)
{
	struct daemon *d = daemon;
	struct embedding_state state;
	embedding_state(d->embedding, &state);
	return state.is_on && state.dims && str_starts(state.model, "ollama/") && !*state.trouble;
}

static int service_model(
	void *daemon, const char *action, const char *file, struct jw *out, struct err *err)
{
	struct daemon *d = daemon;
	if (!strcmp(action, "install") && embedding_install(d->embedding, file, err))
		return -1;
	if (!strcmp(action, "remove") && embedding_remove(d->embedding, err))
		return -1;
	embedder_write(d, out);
	return 0;
}

static void service_model_state(void *daemon, struct model_state *ret)
{
	model_work_state(((struct daemon *)daemon)->model_work, ret);
}

static void service_model_wake(void *daemon, bool is_well)
{
	struct daemon *d = daemon;
	if (is_well)
		model_work_well(d->model_work);
	else
		model_work_wake(d->model_work);
}

static int service_settings_changed(void *daemon, struct err *err)
{
	struct daemon *d = daemon;
	if (current_refresh(d->current, true))
		writer_refresh(d->writer);
	model_work_wake(d->model_work);
	embedding_wake(d->embedding);
	return 0;
}

/* --- Another store in the place of this one. --- */

struct swap {
	struct daemon *daemon;
	const char *path;
	const char *db; /* the file that the store's url names */
};

static void remove_beside(struct arena *a, const char *db, const char *ending)
{
	const char *path = arena_printf(a, "%s%s", db, ending);
	if (unlink(path) && errno != ENOENT)
		log_warn("cannot remove '%s': %s", path, strerror(errno));
}

/* Nothing has the store open here. */
static int swap_files(void *ctx, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct swap *s = ctx;
	const char *name = arena_printf(&a, "before-restore-%lld.db", (long long)clock_now());
	const char *kept = path_join(&a, s->daemon->paths.backup, name);
	if (file_mkdirs(s->daemon->paths.backup, 0700, err))
		return -1;
	remove_beside(&a, s->db, "-wal");
	remove_beside(&a, s->db, "-shm");
	if (rename(s->db, kept))
		return err_set(
			err, ERR_IO, "cannot keep '%s' as '%s': %s", s->db, kept, strerror(errno));
	if (!rename(s->path, s->db)) {
		chmod(s->db, 0600);
		return 0;
	}
	err_set(err, ERR_IO, "cannot put '%s' in the place of '%s': %s", s->path, s->db,
		strerror(errno));
	if (rename(kept, s->db))
		log_error("'%s' could not be put back from '%s': %s", s->db, kept, strerror(errno));
	return -1;
}

static int swap_run(struct desk *desk, void *ctx, struct err *err)
{
	struct swap *s = ctx;
	if (store_checkpoint(desk->store, true, err))
		return -1;
	return writer_reopen(s->daemon->writer, swap_files, s, err);
}

static int service_restore(void *daemon, struct op_call *call, const char *path, struct err *err)
{
	struct daemon *d = daemon;
	const char *file = str_starts(d->url, "sqlite:") ? d->url + strlen("sqlite:") : NULL;
	struct swap s = { .daemon = d, .path = path, .db = file };
	if (!file)
		return err_set(err, ERR_USAGE, "only an SQLite store can be restored from a file");
	if (readers_recall(d->readers, call->store, err))
		return -1;
	int failed = writer_run_bare(d->writer, swap_run, &s, err);
	readers_resume(d->readers);
	if (failed)
		return -1;
	follow_reset(d->follow, writer_seq(d->writer));
	embedding_restart(d->embedding);
	if (follow_purge(d->follow, true, err))
		return -1;
	return embedding_purge(d->embedding, err);
}

static void service_look(void *daemon, int64_t project, const char *path)
{
	keeper_file(((struct daemon *)daemon)->keeper, project, path);
}

static void service_stand(void *daemon, int64_t project, const char *root)
{
	keeper_checkout(((struct daemon *)daemon)->keeper, project, root);
}

static void service_http(void *daemon, struct http_state *ret)
{
	struct daemon *d = daemon;
	*ret = (struct http_state){
		.address = d->tcp ? d->tcp_door->address.name : NULL,
		.why = *d->tcp_error ? d->tcp_error : NULL,
		.is_loopback = d->tcp && d->tcp_door->address.is_loopback,
	};
}

static void service_contract(void *daemon, struct contract_report *ret)
{
	contract_fill_report(((struct daemon *)daemon)->contract_fill, ret);
}

void services_fill(struct daemon *d, struct services *s)
{
	*s = (struct services){
		.daemon = d,
		.leaving = &d->is_leaving,
		.write = service_write,
		.import = service_import,
		.sync = service_sync,
		.folders_changed = service_folders_changed,
		.searched = service_searched,
		.index_purge = service_index_purge,
		.status = service_status,
		.http = service_http,
		.contract = service_contract,
		.stop = service_stop,
		.settings_changed = service_settings_changed,
		.meaning = service_meaning,
		.embedded = service_embedded,
		.has_ollama = service_has_ollama,
		.model = service_model,
		.model_state = service_model_state,
		.model_wake = service_model_wake,
		.maintain = service_maintain,
		.restore = service_restore,
		.look = service_look,
		.stand = service_stand,
	};
}
