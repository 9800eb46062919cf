#include "daemon/status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "build_id.h"
#include "daemon/daemon.h"
#include "daemon/http.h"

#define LINE_SIZE 256
#define KB 1024

/* "VmRSS" and "RssAnon" of /proc/self/status, in bytes; -1 where there is none. */
static void memory_read(int64_t *ret_resident, int64_t *ret_anonymous)
{
	char line[LINE_SIZE];
	long long kb;
	FILE *f = fopen("/proc/self/status", "re");
	*ret_resident = *ret_anonymous = -1;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmRSS: %lld", &kb) == 1)
			*ret_resident = kb * KB;
		else if (sscanf(line, "RssAnon: %lld", &kb) == 1)
			*ret_anonymous = kb * KB;
	}
	if (f)
		fclose(f);
}

static void process_write(struct daemon *d, struct jw *w)
{
	int64_t resident, anonymous;
	memory_read(&resident, &anonymous);
	jw_bool(w, "running", true);
	jw_int(w, "pid", getpid());
	jw_int(w, "uptime_ms", (int64_t)((clock_mono_us() - d->started_us) / 1000));
	jw_str(w, "version", REMANENCE_VERSION);
	jw_str(w, "build", REMANENCE_BUILD_ID);
	jw_int(w, "rss_bytes", resident);
	jw_int(w, "rss_anon_bytes", anonymous);
	jw_str(w, "home", d->paths.home);
	AUTO(arena_done) struct arena a = { 0 };
	jw_str(w, "store", db_url_shown(&a, d->url));
	jw_str(w, "author", d->author);
	jw_str(w, "socket", d->paths.socket);
	jw_str(w, "http", d->tcp ? d->tcp_door->address.name : NULL);
	jw_str(w, "http_trouble", *d->tcp_error ? d->tcp_error : NULL);
}

static void queue_write(struct daemon *d, struct jw *w)
{
	struct writer_state state;
	int64_t files = 0, bad = 0;
	writer_state(d->writer, &state);
	drain_count(&d->paths, &files, &bad);
	jw_object(w, "queue");
	for (int i = 0; i < LANE_COUNT; i++)
		jw_int(w, lane_names[i], (int64_t)state.waiting[i]);
	jw_int(w, "spool", files);
	jw_int(w, "spool_bad", bad);
	jw_int(w, "transcripts", (int64_t)catchup_waiting(d->catchup));
	jw_int(w, "calls", (int64_t)(http_calls(d->http) + http_calls(d->tcp)));
	jw_bool(w, "stuck", state.is_stuck);
	jw_str(w, "trouble", state.is_stuck ? state.trouble : NULL);
	jw_end(w, '}');
}

static void taken_write(struct daemon *d, struct jw *w)
{
	struct writer_state writer;
	struct drain_state drain;
	writer_state(d->writer, &writer);
	drain_state(d->drain, &drain);
	jw_object(w, "since_start");
	jw_int(w, "hooks", (int64_t)drain.taken);
	jw_int(w, "put_aside", (int64_t)drain.put_aside);
	jw_int(w, "transactions", (int64_t)writer.batches);
	jw_int(w, "works", (int64_t)writer.works);
	jw_int(w, "failures", (int64_t)writer.failures);
	jw_end(w, '}');
}

static void index_write(struct daemon *d, struct jw *w)
{
	struct follow_state state;
	struct index_stats stats;
	follow_state(d->follow, &state);
	index_stats(follow_index(d->follow), &stats);
	jw_object(w, "index");
	jw_int(w, "docs", (int64_t)stats.docs);
	jw_int(w, "segments", (int64_t)stats.segments);
	jw_int(w, "bytes", (int64_t)stats.bytes);
	jw_int(w, "behind", MAX(state.last - state.seq, (int64_t)0));
	jw_bool(w, "degraded", state.is_filling || state.is_stuck);
	jw_str(w, "trouble", state.is_stuck ? state.trouble : NULL);
	jw_end(w, '}');
}

void embedder_write(struct daemon *d, struct jw *w)
{
	struct embedding_state state;
	struct vectors_stats stats;
	embedding_state(d->embedding, &state);
	embedding_vectors_stats(d->embedding, &stats);
	jw_str(w, "provider", settings_text(current_settings(d->current), SET_EMBED_PROVIDER));
	jw_bool(w, "on", state.is_on);
	jw_str(w, "why", state.is_on ? NULL : state.why);
	jw_str(w, "hint", state.is_on || !*state.hint ? NULL : state.hint);
	jw_str(w, "file", *state.file ? state.file : NULL);
	jw_str(w, "model", state.is_on ? state.model : NULL);
	jw_str(w, "kernel", *state.kernel ? state.kernel : NULL);
	jw_int(w, "dimension", state.dims);
	jw_bool(w, "old_answers", state.has_old);
	jw_int(w, "vectors", (int64_t)stats.vectors);
	jw_int(w, "documents", (int64_t)stats.docs);
	jw_int(w, "bytes", (int64_t)(stats.bytes + stats.bits));
	jw_int(w, "files", (int64_t)stats.files);
	jw_int(w, "waiting", state.waiting);
	jw_int(w, "made", (int64_t)state.made);
	jw_str(w, "trouble", *state.trouble ? state.trouble : NULL);
}

static void observer_write(struct daemon *d, struct jw *w)
{
	struct model_state s;
	model_work_state(d->model_work, &s);
	jw_object(w, "observer");
	jw_str(w, "provider", s.is_on ? s.provider : "rules");
	jw_int(w, "memories", (int64_t)observer_made(d->observer));
	jw_bool(w, "idle", observer_is_idle(d->observer) && model_work_is_idle(d->model_work));
	if (s.is_on) {
		jw_str(w, "model", *s.model ? s.model : NULL);
		jw_str(w, "state", s.breaker);
		jw_int(w, "running", s.running);
		jw_str(w, "why", *s.why ? s.why : NULL);
		jw_str(w, "trouble", *s.trouble ? s.trouble : NULL);
		jw_bool(w, "is_budget", s.is_budget);
		jw_str(w, "degraded", *s.degraded ? s.degraded : NULL);
		if (s.until)
			jw_int(w, "until", s.until);
	}
	jw_end(w, '}');
}

static void sql_write(struct daemon *d, struct jw *w)
{
	struct contract_report r;
	contract_fill_report(d->contract_fill, &r);
	if (!r.is_wanted)
		return;
	jw_object(w, "sql");
	jw_bool(w, "on", r.is_on);
	jw_str(w, "why", r.is_on ? NULL : r.why);
	jw_str(w, "hint", r.is_on ? NULL : r.hint);
	jw_int(w, "dimension", r.dims);
	jw_str(w, "trouble", *r.trouble ? r.trouble : NULL);
	jw_end(w, '}');
}

void status_write(struct daemon *d, struct jw *w)
{
	process_write(d, w);
	queue_write(d, w);
	taken_write(d, w);
	index_write(d, w);
	observer_write(d, w);
	jw_object(w, "embedder");
	embedder_write(d, w);
	jw_end(w, '}');
	sql_write(d, w);
}
