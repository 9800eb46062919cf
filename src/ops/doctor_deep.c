#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/mem.h"
#include "base/str.h"
#include "index/query.h"
#include "observe/clean.h"
#include "ops/doctor.h"
#include "store/query.h"

/*
 * The slow checks: does the index hold what the store holds, and the store what the transcripts hold. Both sample or bound what
 * they read, and say how much it was.
 */

#define SAMPLE 200
#define SESSION_MEMORIES_MAX 100000
#define TRANSCRIPTS_MAX 20000
#define BYTES_MAX ((uint64_t)1 << 30)
#define MB (1024.0 * 1024.0)
#define MISSING_SHARE 200 /* one in so many may be missing: what was cleaned away counts here too */

#define SAY(d, name, ok, advice, ...) \
	doctor_say((d), (name), (ok), arena_printf((d)->call->arena, __VA_ARGS__), (ok) ? NULL : (advice))

/* --- Index against store. --- */

/* Is this memory among the index's documents of its session? */
static int is_indexed(struct doctor *d, struct arena *a, const struct memory *m, bool *ret, struct err *err)
{
	struct query_filter ignored = { 0 };
	struct search_result r;
	struct search q = { .query = query_parse(a, d->call->analyser, STR(""), &ignored), .limit = SESSION_MEMORIES_MAX,
		.filter = { .classes = 1u << DOC_MEMORY, .session = (uint32_t)m->session, .statuses = 1u << m->status } };
	*ret = false;
	if (index_search(d->call->index, a, &q, &r, err))
		return -1;
	for (size_t i = 0; i < r.n && !*ret; i++)
		*ret = DOC_ROW(r.hits[i].id) == m->id;
	return 0;
}

static int sample_missing(struct doctor *d, size_t *ret_seen, size_t *ret_missing, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	int64_t *ids;
	size_t n;
	*ret_seen = *ret_missing = 0;
	if (query_sample(d->call->store, d->call->arena, SAMPLE, &ids, &n, err))
		return -1;
	struct memory *list = ARENA_ARRAY(d->call->arena, struct memory, n + 1);
	if (n && store_memories(d->call->store, d->call->arena, ids, n, list, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool is_there;
		if (!list[i].id)
			continue;
		if (is_indexed(d, &a, &list[i], &is_there, err))
			return -1;
		++*ret_seen;
		*ret_missing += !is_there;
		arena_reset(&a);
	}
	return 0;
}

int doctor_index_deep(struct doctor *d, struct err *err)
{
	struct index_stats ix = { 0 };
	int64_t documents;
	size_t seen, missing;
	if (query_documents(d->call->store, &documents, err) || sample_missing(d, &seen, &missing, err))
		return -1;
	index_stats(d->call->index, &ix);
	int64_t apart = documents - (int64_t)ix.docs;
	SAY(d, "index_against_store", !missing && llabs(apart) <= 2, "run `remanence reindex`",
		"%lld documents are expected and %llu are there; of %zu memories looked up, %zu are missing", (long long)documents,
		(unsigned long long)ix.docs, seen, missing);
	return 0;
}

/* --- Store against transcripts. --- */

struct reading {
	struct doctor *d;
	struct redactor *redactor;
	struct arena line;
	uint64_t bytes;
	size_t files, gone, behind, events, missing, bad_lines;
	const char *example; /* of what is missing */
};

static bool is_skipped_tool(struct reading *r, const struct captured_event *e)
{
	if (e->kind != EVENT_TOOL || !e->tool)
		return false;
	if (strstr(e->tool, "remanence"))
		return true;
	const char *const *skip = settings_list(r->d->call->settings, SET_CAPTURE_SKIP_TOOLS);
	for (; skip && *skip; skip++)
		if (str_glob(*skip, e->tool))
			return true;
	return false;
}

/* Nothing of it was to be stored: only wrappers, private parts or no text at all. */
static bool is_cleaned_away(struct reading *r, const struct captured_event *e)
{
	uint64_t ignored = 0;
	if (e->is_meta || (e->kind != EVENT_PROMPT && e->kind != EVENT_REPLY && e->kind != EVENT_TOOL))
		return true;
	return e->kind != EVENT_TOOL && !str_trim(clean_text(&r->line, r->redactor, e->text, &ignored)).n;
}

static int event_check(struct reading *r, const struct captured_session *s, const struct captured_event *e, struct err *err)
{
	const char *key = e->tool_use_id ? e->tool_use_id : e->id;
	struct exclusion x = { .at = e->at, .agent_session = s->agent_session, .agent = s->agent, .key = key };
	bool is_there, is_excluded = false;
	if (!key || is_skipped_tool(r, e) || is_cleaned_away(r, e))
		return 0;
	if (query_event_exists(r->d->call->store, s->agent, key, &is_there, err))
		return -1;
	if (!is_there && store_is_excluded(r->d->call->store, &x, &is_excluded, err))
		return -1;
	if (is_excluded)
		return 0;
	r->events++;
	r->missing += !is_there;
	if (!is_there && !r->example)
		r->example = arena_printf(r->d->call->arena, "%s %s", event_kind_names[e->kind], key);
	return 0;
}

static int line_check(struct reading *r, const struct agent *agent, struct transcript_reader *reader, struct str line, uint64_t n,
	struct err *err)
{
	AUTO(buf_done) struct buf thin = { .max = JSON_PARSE_MAX };
	AUTO(json_free_ptr) json *parsed = NULL;
	struct capture c = { 0 };
	struct err ignored;
	if (!line.n || (agent->line_is_wanted && !agent->line_is_wanted(line.p, line.n)))
		return 0;
	struct json_scan *scan = json_scan_new(&thin, JSON_SCAN_STRING_MAX);
	json_scan_feed(scan, line.p, line.n);
	json_scan_end(scan);
	json_scan_free(scan);
	if (thin.is_full || json_parse(buf_cstr(&thin), thin.len, &parsed, &ignored) ||
		agent->reader_line(reader, &r->line, parsed, n, &c, &ignored)) {
		r->bad_lines++;
		return 0;
	}
	for (size_t i = 0; i < c.nevents && c.session.agent_session; i++)
		if (event_check(r, &c.session, &c.events[i], err))
			return -1;
	arena_reset(&r->line);
	return 0;
}

static int transcript_check(struct reading *r, const struct transcript *t, struct err *err)
{
	const struct agent *agent = agent_by_id(t->agent);
	char *text = NULL;
	size_t cap = 0;
	uint64_t at = 0, n = 0;
	ssize_t len;
	int failed = 0;
	FILE *f = agent && agent->reader_new && file_exists(t->path) ? fopen(t->path, "re") : NULL;
	if (!f) {
		r->gone++;
		return 0;
	}
	struct transcript_reader *reader = agent->reader_new(t->path, NULL);
	while (!failed && at < t->offset && (len = getline(&text, &cap, f)) > 0) {
		at += (uint64_t)len;
		failed = line_check(r, agent, reader, str_trim((struct str){ text, (size_t)len }), ++n, err);
	}
	agent->reader_free(reader);
	fseeko(f, 0, SEEK_END);
	r->behind += (uint64_t)ftello(f) > t->offset + JSON_SCAN_STRING_MAX;
	fclose(f);
	free(text);
	r->bytes += at;
	r->files++;
	return failed;
}

static int reading_run(struct reading *r, const struct transcript *list, size_t n, struct err *err)
{
	struct op_call *call = r->d->call;
	for (size_t i = 0; i < n && r->bytes < BYTES_MAX; i++) {
		if (transcript_check(r, &list[i], err))
			return -1;
		if (call->progress && call->progress(call, arena_printf(call->arena,
				"{\"progress\":{\"files_done\":%zu,\"files_total\":%zu}}", i + 1, n)))
			return err_set(err, ERR_IO, "whoever asked went away");
	}
	return 0;
}

int doctor_transcripts(struct doctor *d, struct err *err)
{
	struct reading r = { .d = d };
	struct transcript *list;
	size_t n;
	if (query_transcripts(d->call->store, d->call->arena, TRANSCRIPTS_MAX, &list, &n, err) ||
		redactor_new(settings_list(d->call->settings, SET_REDACT_PATTERNS), &r.redactor, err))
		return -1;
	int failed = reading_run(&r, list, n, err);
	redactor_free(r.redactor);
	arena_done(&r.line);
	if (failed)
		return -1;
	bool ok = r.missing * MISSING_SHARE <= r.events && !r.behind;
	SAY(d, "store_against_transcripts", ok, "run `remanence import`",
		"%zu transcripts (%.1f MB) hold %zu events, %zu of them are not stored%s%s%s; %zu files are gone, %zu grew since, "
		"%zu lines cannot be read",
		r.files, (double)r.bytes / MB, r.events, r.missing, r.example ? " (" : "", r.example ? r.example : "", r.example ? ")" : "",
		r.gone, r.behind, r.bad_lines);
	return 0;
}
