#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/doctor.h"
#include "ops/hits.h"
#include "ops/model_state.h"
#include "ops/param.h"
#include "store/query.h"

/* doctor, the daemon's half: what only the process that holds the store can tell. The client adds hooks, trust and versions. */

#define DISK_FREE_MIN ((uint64_t)200 << 20)
#define INDEX_LAG_MAX 2000      /* changes */
#define SPOOL_WAIT_MAX_MS (5 * 60 * 1000)
#define DIRTY_TURNS_MAX 200
#define DIRTY_AFTER_MS (15 * 60 * 1000)
#define MB (1024.0 * 1024.0)

void doctor_say(struct doctor *d, const char *name, bool ok, const char *detail, const char *advice)
{
	d->is_ok = d->is_ok && ok;
	jw_object(d->out, NULL);
	jw_str(d->out, "name", name);
	jw_bool(d->out, "ok", ok);
	jw_str(d->out, "detail", detail);
	jw_str(d->out, "advice", advice);
	jw_end(d->out, '}');
}

#define SAY(d, name, ok, advice, ...) \
	doctor_say((d), (name), (ok), arena_printf((d)->call->arena, __VA_ARGS__), (ok) ? NULL : (advice))

static int check_store(struct doctor *d, struct err *err)
{
	AUTO(buf_done) struct buf report = { .max = 4096 };
	struct store_stats s;
	if (store_check(d->call->store, d->is_deep, &report, err) || store_stats(d->call->store, 0, &s, err))
		return -1;
	if (report.len && db_is_shared(store_db(d->call->store)))
		SAY(d, "store", false, "bring the database back from a backup of its server; `remanence import` brings back what came since",
			"damaged: %s", buf_cstr(&report));
	else if (report.len)
		SAY(d, "store", false, "stop the daemon, keep a copy of the folder, then `remanence restore` the latest backup; "
			"`remanence import` brings back what came since", "damaged: %s", buf_cstr(&report));
	else
		SAY(d, "store", true, NULL, "sound%s: %lld events, %.1f MB", d->is_deep ? "" : " (quick check)", (long long)s.events,
			(double)s.store_bytes / MB);
	return 0;
}

static int check_index(struct doctor *d, struct err *err)
{
	struct index_stats ix = { 0 };
	int64_t last;
	if (store_change_last(d->call->store, &last, err))
		return -1;
	index_stats(d->call->index, &ix);
	int64_t lag = last - (int64_t)index_seq(d->call->index);
	SAY(d, "index", lag >= 0 && lag < INDEX_LAG_MAX, "it catches up by itself; if this stays, run `remanence reindex`",
		"%llu documents in %llu segments, %.1f MB, %lld changes behind the store", (unsigned long long)ix.docs,
		(unsigned long long)ix.segments, (double)ix.bytes / MB, (long long)MAX(lag, 0));
	return d->is_deep ? doctor_index_deep(d, err) : 0;
}

/* How many files wait, and since when: spool names start with their time. */
static int64_t spool_look(struct doctor *d, const char *dir, size_t *ret_n)
{
	char **names;
	int64_t first = 0;
	struct err ignored;
	*ret_n = 0;
	if (!dir || file_list(d->call->arena, dir, &names, ret_n, &ignored) || !*ret_n)
		return 0;
	for (const char *p = names[0]; *p >= '0' && *p <= '9'; p++)
		first = first * 10 + (*p - '0');
	return first;
}

static int check_spool(struct doctor *d, struct err *err)
{
	struct arena *a = d->call->arena;
	size_t waiting, bad, spare = 0;
	int64_t now = clock_now();
	int64_t first = spool_look(d, path_join(a, d->call->paths->spool, "new"), &waiting);
	spool_look(d, path_join(a, d->call->paths->spool, "bad"), &bad);
	if (d->call->paths->spare)
		spool_look(d, path_join(a, d->call->paths->spare, "new"), &spare);
	(void)err;
	if (waiting)
		SAY(d, "spool", now - first < SPOOL_WAIT_MAX_MS,
			"the daemon takes them in by itself; its log in the data folder tells what holds it up",
			"%zu hook inputs wait, the oldest since %s", waiting, clock_ago(a, first, now));
	else
		SAY(d, "spool", true, NULL, "no hook input waits");
	if (bad)
		SAY(d, "spool_bad", false, arena_printf(a, "look at %s/bad, then delete what is there", d->call->paths->spool),
			"%zu hook inputs could not be read and were put aside", bad);
	else
		SAY(d, "spool_bad", true, NULL, "nothing was put aside");
	if (spare)
		SAY(d, "spool_spare", false, "make room on the disk; they are taken in then",
			"%zu hook inputs wait in %s because the disk was full", spare, d->call->paths->spare);
	return 0;
}

static int check_disk(struct doctor *d, struct err *err)
{
	struct statvfs v;
	(void)err;
	if (statvfs(d->call->paths->home, &v)) {
		SAY(d, "disk", false, "check that the data folder exists", "the disk of %s cannot be asked", d->call->paths->home);
		return 0;
	}
	uint64_t available = (uint64_t)v.f_bavail * v.f_frsize;
	SAY(d, "disk", available >= DISK_FREE_MIN, "make room: on a full disk new events wait in memory-backed storage",
		"%.0f MB free at %s", (double)available / MB, d->call->paths->home);
	return 0;
}

/* Numbers of statfs(2) for file systems that are shared between machines. */
static const struct {
	unsigned long magic;
	const char *name;
} network_file_systems[] = { { 0x6969, "NFS" }, { 0x517b, "SMB" }, { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB2" },
	{ 0x01021997, "9p" }, { 0x5346414f, "AFS" }, { 0x00c36400, "Ceph" }, { 0x0bd00bd0, "Lustre" }, { 0x73757245, "Coda" } };

static int check_file_system(struct doctor *d, struct err *err)
{
	struct statfs s;
	const char *network = NULL;
	(void)err;
	if (statfs(d->call->paths->home, &s))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(network_file_systems); i++)
		if (((unsigned long)s.f_type & 0xffffffffu) == network_file_systems[i].magic)
			network = network_file_systems[i].name;
	SAY(d, "file_system", !network, "move the data folder to a local disk and set REMANENCE_HOME: locks do not hold here",
		"the data folder lies on %s", network ? network : "a local disk");
	return 0;
}

static int check_modes(struct doctor *d, struct err *err)
{
	const char *paths[] = { d->call->paths->home, d->call->paths->store };
	struct stat st;
	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		if (stat(paths[i], &st) || !(st.st_mode & 077))
			continue;
		SAY(d, "permissions", false, arena_printf(d->call->arena, "chmod go-rwx '%s'", paths[i]),
			"%s can be read by others (mode %o)", paths[i], (unsigned)st.st_mode & 0777);
		return 0;
	}
	SAY(d, "permissions", true, NULL, "only you can read the data folder");
	return 0;
}

/* Who can reach the HTTP door, and who can read the token that it asks for. */
static int check_http(struct doctor *d, struct err *err)
{
	const struct services *v = d->call->services;
	const char *token = d->call->paths->token;
	struct http_state h = { 0 };
	struct stat st;
	(void)err;
	if (!v || !v->http)
		return 0;
	v->http(v->daemon, &h);
	if (!h.address && h.why)
		SAY(d, "http", false, "change http.port or http.listen, then `remanence stop`; all else works without it",
			"nothing listens on TCP: %s", h.why);
	else if (!h.address)
		SAY(d, "http", true, NULL, "switched off");
	else if (lstat(token, &st) || !S_ISREG(st.st_mode) || st.st_mode & 077)
		SAY(d, "http", false, "run `remanence stop`; the next start makes a new token",
			"the token file %s is gone or others can read it", token);
	else
		SAY(d, "http", true, NULL, "listens on %s, %s; every request needs the token, which only you can read",
			h.address, h.is_loopback ? "for this machine only" : "also for other machines, unencrypted");
	return 0;
}

static int check_contract(struct doctor *d, struct err *err)
{
	const struct services *v = d->call->services;
	struct contract_report r = { 0 };
	(void)err;
	if (!v || !v->contract)
		return 0;
	v->contract(v->daemon, &r);
	if (r.is_wanted && *r.trouble)
		SAY(d, "sql", false, "it is tried again; see docs/postgresql.md", "the SQL functions are not up to date: %s", r.trouble);
	else if (r.is_wanted && !r.is_on)
		SAY(d, "sql", true, NULL, "the SQL functions are off: %s; %s", *r.why ? r.why : "nothing was looked at yet", r.hint);
	else if (r.is_wanted)
		SAY(d, "sql", true, NULL, "search() and stats() in schema " CONTRACT_SCHEMA ", for vectors of %u numbers", (unsigned)r.dims);
	return 0;
}

static int check_settings(struct doctor *d, struct err *err)
{
	AUTO(buf_done) struct buf warnings = { .max = 4096 };
	struct settings *s = NULL;
	struct err why = { 0 };
	(void)err;
	if (settings_load(d->call->paths->settings, &s, &warnings, &why))
		SAY(d, "settings", false, why.hint[0] ? why.hint : "correct the file", "%s", why.text);
	else if (warnings.len)
		SAY(d, "settings", false, "`remanence config` shows what holds",
			"%.*s", (int)str_trim((struct str){ warnings.data, warnings.len }).n, buf_cstr(&warnings));
	else
		SAY(d, "settings", true, NULL, "%s", file_exists(d->call->paths->settings) ? d->call->paths->settings : "all at their defaults");
	settings_free(s);
	return 0;
}

static int check_model(struct doctor *d)
{
	const struct services *v = d->call->services;
	struct model_state s = { 0 };
	if (v && v->model_state)
		v->model_state(v->daemon, &s);
	if (!s.is_on) {
		SAY(d, "model", true, NULL, "none is set; the rules make memories alone");
		return 0;
	}
	const char *name = arena_printf(d->call->arena, "%s%s%s", s.provider, *s.model ? " " : "", s.model);
	if (*s.trouble && !s.is_budget)
		SAY(d, "model", false, "`remanence observer test` tries it and says what to do; nothing is lost meanwhile",
			"%s: %s%s%s", name, *s.why ? s.why : "", *s.why ? ": " : "", s.trouble);
	else if (*s.degraded)
		SAY(d, "model", false, "`remanence observer eval` compares models on your own sessions", "%s got worse: %s", name,
			s.degraded);
	else
		SAY(d, "model", true, NULL, "%s%s%s", name, s.is_budget ? ": " : "", s.is_budget ? s.trouble : "");
	return 0;
}

static int check_work(struct doctor *d, struct err *err)
{
	struct store_stats s;
	struct turn *turns;
	size_t dirty;
	if (store_stats(d->call->store, 0, &s, err) ||
		store_turns_dirty(d->call->store, d->call->arena, clock_now() - DIRTY_AFTER_MS, 0, DIRTY_TURNS_MAX + 1, &turns, &dirty, err))
		return -1;
	SAY(d, "observer", dirty <= DIRTY_TURNS_MAX, "it works through them by itself; after an import this takes a while",
		"%s%zu turns wait to be made into memories", dirty > DIRTY_TURNS_MAX ? "more than " : "",
		MIN(dirty, (size_t)DIRTY_TURNS_MAX));
	SAY(d, "jobs", !s.jobs_dead, "`remanence jobs --dead` tells why; `remanence jobs retry all` tries them again",
		"%lld wait, %lld are dead", (long long)s.jobs_waiting, (long long)s.jobs_dead);
	return check_model(d);
}

static int check_capture(struct doctor *d, struct err *err)
{
	struct store_stats s;
	struct pause *pauses;
	size_t n;
	int64_t now = clock_now();
	if (store_stats(d->call->store, 0, &s, err) || query_pauses(d->call->store, d->call->arena, now, 100, &pauses, &n, err))
		return -1;
	const char *paused = n ? "; capturing is paused in part or whole (`remanence resume`)" : "";
	if (!s.events)
		SAY(d, "capture", false, "run `remanence install`, then `remanence import`", "nothing was captured yet%s", paused);
	else
		SAY(d, "capture", true, NULL, "%lld event%s of %lld session%s, the last %s%s", (long long)s.events,
			s.events == 1 ? "" : "s", (long long)s.sessions, s.sessions == 1 ? "" : "s",
			clock_ago(d->call->arena, s.last_event_at, now), paused);
	return 0;
}

static int check_transcripts(struct doctor *d, struct err *err)
{
	return d->is_deep ? doctor_transcripts(d, err) : 0;
}

static int (*const checks[])(struct doctor *d, struct err *err) = { check_store, check_index, check_spool, check_disk,
	check_file_system, check_modes, check_http, check_contract, check_settings, check_work, check_capture, check_transcripts };

int op_doctor(struct op_call *call, struct jw *out, struct err *err)
{
	struct doctor d = { .call = call, .out = out, .is_deep = param_bool(call, "deep"), .is_ok = true };
	jw_object(out, NULL);
	jw_array(out, "checks");
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (checks[i](&d, err))
			return -1;
	jw_end(out, ']');
	jw_bool(out, "ok", d.is_ok);
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
	jw_end(out, '}');
	return 0;
}
