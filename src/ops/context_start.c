#include "ops/context_build.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/model_state.h"
#include "store/query.h"
#include "text/snippet.h"

/*
 * The session start: preferences and notes, where the last session stopped, facts, an index of recent work by day with the latest
 * in full. After a compaction the session's own story comes first, since the agent has just lost it. Each section may use a share of
 * what is left, so that no section starves those after it; a title is given once, whatever the section.
 */

#define KEPT_MAX 40
#define KEPT_WIDTH 400
#define FACTS_MAX 40
#define FACT_WIDTH 300
#define FACT_CONFIDENCE .6
#define SUMMARIES_SEEN 12
#define STORY_SUMMARIES 40
#define PART_CHARS 700
#define BODY_CHARS 450
#define TITLE_WIDTH 110
#define INDEX_SEEN_MAX 240

/* --- Preferences and notes. --- */

static const char *fact_text(struct context_build *b, const struct memory *m, size_t width)
{
	/* Of what was seen in sessions the title is the sentence; the body quotes it. */
	bool is_merged = m->kind == KIND_FACT && (m->origin == ORIGIN_RULES || m->origin == ORIGIN_MODEL);
	const char *text = m->body && *m->body && !(is_merged && m->title) ? m->body : m->title;
	return frame_line(b->call->arena, text, width);
}

static int kept_section(struct context_build *b, struct err *err)
{
	int64_t *ids;
	struct memory *list;
	size_t n;
	frame_section(b->frame, "preferences", "\n## Preferences and notes\n", .3);
	if (query_kept(b->call->store, b->call->arena, b->q->project, KEPT_MAX, &ids, &n, err) ||
		context_load(b, ids, n, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *text = fact_text(b, &list[i], KEPT_WIDTH);
		/* What reads like an instruction must be a person's word; the rest comes as a fact below. */
		if (list[i].kind == KIND_FACT && (list[i].trust < TRUST_PROMPT || fact_is_revised(&b->branches, &list[i])))
			continue;
		if (!context_is_trusted(&list[i]) || (list[i].kind == KIND_FACT && *context_suspect(b, &list[i])) ||
			!titles_add(b->titles, b->call->analyser, text))
			continue;
		if (frame_add(b->frame, arena_printf(b->call->arena, "- [%lld] %s%s\n", (long long)list[i].id, text, context_author(b, &list[i]))))
			frame_gave(b->frame, list[i].id);
	}
	return 0;
}

/* --- Where the last session stopped, and the story of this one. --- */

static const char *part(struct context_build *b, const char *name, const char *text, size_t chars)
{
	const char *block = frame_block(b->call->arena, text, chars, "  ");
	if (!*block)
		return "";
	/* The first line stands beside the name. */
	return arena_printf(b->call->arena, "%s: %s", name, str_trim(str_of(block)).p);
}

static const char *summary_text(struct context_build *b, const struct memory *m, size_t chars)
{
	struct arena *a = b->call->arena;
	const char *request = m->request ? m->request : m->title;
	const char *done = m->completed ? m->completed : m->learned ? m->learned : m->body;
	return arena_printf(a, "%s%s%s%s", part(b, "Request", request, chars / 2), part(b, "Done", done, chars),
		m->completed && m->learned ? part(b, "Learned", m->learned, chars / 2) : "",
		part(b, "Next", m->next_steps, chars / 2));
}

static void summary_line(struct context_build *b, struct memory *m)
{
	struct arena *a = b->call->arena;
	const char *title = frame_line(a, memory_title(a, m), TITLE_WIDTH);
	if (!titles_add(b->titles, b->call->analyser, title))
		return;
	if (frame_add(b->frame, arena_printf(a, "- #%lld %s %s%s%s%s\n", (long long)m->id, clock_minute(a, m->at) + 11, title,
		    context_files(b, m), context_branch(b, m), context_suspect(b, m))))
		frame_gave(b->frame, m->id);
}

static bool summary_whole(struct context_build *b, const struct memory *m)
{
	struct arena *a = b->call->arena;
	const struct session *s = lookup_session(&b->l, m->session);
	const char *branch = m->branch && *m->branch ? arena_printf(a, ", branch %s", frame_line(a, m->branch, 60)) : "";
	const char *head = arena_printf(a, "[%lld] %s%s%s%s\n", (long long)m->id, clock_minute(a, m->at), branch,
		s ? arena_printf(a, ", session s%lld%s%s", (long long)s->id, s->title ? ": " : "",
			    s->title ? frame_line(a, s->title, TITLE_WIDTH) : "")
		  : "",
		context_suspect(b, m));
	for (size_t chars = PART_CHARS; chars >= PART_CHARS / 4; chars /= 2) {
		if (!frame_add(b->frame, arena_printf(a, "%s%s", head, summary_text(b, m, chars))))
			continue;
		titles_add(b->titles, b->call->analyser, memory_title(a, m));
		frame_gave(b->frame, m->id);
		return true;
	}
	return false;
}

static int last_section(struct context_build *b, struct err *err)
{
	struct recent_query q = { .project = b->q->project, .not_session = b->q->session, .kind = KIND_SUMMARY, .is_own = true,
		.max = SUMMARIES_SEEN };
	int64_t *ids;
	struct memory *list;
	size_t n;
	frame_section(b->frame, "last_session", "\n## Where the last session stopped\n", .35);
	if (!q.project)
		return 0;
	if (query_recent(b->call->store, b->call->arena, &q, &ids, &n, err) || context_load(b, ids, n, &list, &n, err))
		return -1;
	if (!n || !summary_whole(b, &list[0]))
		return 0;
	size_t earlier = 0;
	for (size_t i = 1; i < n && earlier < 2; i++) {
		if (!list[0].session || list[i].session != list[0].session)
			continue;
		if (!earlier++)
			frame_add(b->frame, "Before that, in the same session:\n");
		summary_line(b, &list[i]);
	}
	return 0;
}

static int story_section(struct context_build *b, struct err *err)
{
	struct recent_query q = { .project = b->q->project, .session = b->q->session, .kind = KIND_SUMMARY,
		.max = STORY_SUMMARIES };
	int64_t *ids;
	struct memory *list;
	size_t n;
	if (query_recent(b->call->store, b->call->arena, &q, &ids, &n, err) || context_load(b, ids, n, &list, &n, err))
		return -1;
	frame_section(b->frame, "this_session", "\n## This session before the compaction\n", .6);
	for (size_t i = 0; i < n; i++) {
		if (i < 2)
			summary_whole(b, &list[i]);
		else
			summary_line(b, &list[i]);
	}
	return 0;
}

/* --- Facts. --- */

static int facts_section(struct context_build *b, struct err *err)
{
	struct recent_query q = { .project = b->q->project, .kind = KIND_FACT, .max = FACTS_MAX };
	int64_t *ids;
	struct memory *list;
	size_t n;
	frame_section(b->frame, "facts", "\n## Facts\n", .3);
	if (!q.project)
		return 0;
	if (query_recent(b->call->store, b->call->arena, &q, &ids, &n, err) || context_load(b, ids, n, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct memory *m = &list[i];
		if (m->confidence < FACT_CONFIDENCE || !context_is_trusted(m) || m->valid_to || frame_has(b->frame, m->id) || *context_suspect(b, m) ||
			fact_is_revised(&b->branches, m))
			continue;
		const char *text = fact_text(b, m, FACT_WIDTH);
		if (!titles_add(b->titles, b->call->analyser, text))
			continue;
		if (frame_add(b->frame, arena_printf(b->call->arena, "- [%lld] %s: %s%s\n", (long long)m->id, context_label(m), text, context_author(b, m))))
			frame_gave(b->frame, m->id);
	}
	return 0;
}

/* --- Recent work. --- */

static int newest_first(const void *a, const void *b)
{
	const struct memory *x = a, *y = b;
	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return (x->id < y->id) - (x->id > y->id);
}

/* Observations, and the summaries of turns that left none. */
static int recent_load(struct context_build *b, size_t wanted, struct memory **ret, size_t *ret_n, struct err *err)
{
	struct recent_query q = { .project = b->q->project, .kind = KIND_OBSERVATION,
		.max = MIN(wanted * 2, (size_t)INDEX_SEEN_MAX) };
	int64_t *ids[2];
	size_t n[2], kept;
	if (query_recent(b->call->store, b->call->arena, &q, &ids[0], &n[0], err))
		return -1;
	q.kind = KIND_SUMMARY;
	q.max = MIN(wanted, (size_t)INDEX_SEEN_MAX);
	if (query_recent(b->call->store, b->call->arena, &q, &ids[1], &n[1], err))
		return -1;
	int64_t *all = ARENA_ARRAY(b->call->arena, int64_t, n[0] + n[1] + 1);
	memcpy(all, ids[0], sizeof(*all) * n[0]);
	memcpy(all + n[0], ids[1], sizeof(*all) * n[1]);
	if (context_load(b, all, n[0] + n[1], ret, &kept, err))
		return -1;
	if (kept)
		qsort(*ret, kept, sizeof(**ret), newest_first);
	*ret_n = kept;
	return 0;
}

static bool is_repeated(struct context_build *b, const struct memory *m, const struct memory *list, size_t n)
{
	if (frame_has(b->frame, m->id))
		return true;
	if (m->kind != KIND_SUMMARY)
		return false;
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == KIND_OBSERVATION && list[i].turn == m->turn && m->turn)
			return true;
	return false;
}

static int recent_section(struct context_build *b, struct err *err)
{
	struct arena *a = b->call->arena;
	size_t wanted = (size_t)settings_int(b->call->settings, SET_CONTEXT_OBSERVATIONS);
	size_t full = (size_t)settings_int(b->call->settings, SET_CONTEXT_FULL), shown = 0, n;
	struct memory *list;
	const char *day = "";
	frame_section(b->frame, "recent", "\n## Recent work, newest first\n", 1);
	if (!b->q->project || !wanted)
		return 0;
	if (recent_load(b, wanted, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n && shown < wanted; i++) {
		struct memory *m = &list[i];
		const char *title = frame_line(a, memory_title(a, m), TITLE_WIDTH);
		if (is_repeated(b, m, list, n) || !titles_add(b->titles, b->call->analyser, title))
			continue;
		const char *minute = clock_minute(a, m->at), *this_day = clock_day(a, m->at);
		const char *body = shown < full && m->trust > TRUST_OUTSIDE ? frame_block(a, text_beyond(memory_text(a, m), memory_title(a, m)), BODY_CHARS, "  ") : "";
		const char *line = arena_printf(a, "%s%s- #%lld %s %s %s%s%s%s%s\n", strcmp(day, this_day) ? this_day : "",
			strcmp(day, this_day) ? "\n" : "", (long long)m->id, minute + 11, context_label(m), title,
			context_files(b, m), context_author(b, m), context_branch(b, m), context_suspect(b, m));
		if (!frame_add(b->frame, arena_printf(a, "%s%s", line, body)) && !frame_add(b->frame, line))
			break;
		day = this_day;
		frame_gave(b->frame, m->id);
		shown++;
	}
	return 0;
}

/*
 * What a person should know of the model observer, in our own words: a server's text has no business
 * here. Once, when a session begins.
 */
static void health_section(struct context_build *b)
{
	const struct services *v = b->call->services;
	struct model_state s = { 0 };
	const char *line = NULL;
	if (!v || !v->model_state || !b->q->source || strcmp(b->q->source, "startup"))
		return;
	v->model_state(v->daemon, &s);
	if (!strcmp(s.breaker, "paused"))
		line = arena_printf(b->call->arena, "The model observer is paused (%s); `remanence status` tells more.\n", s.why);
	else if (*s.degraded)
		line = "The model observer got worse; `remanence status` tells more.\n";
	if (!line)
		return;
	frame_section(b->frame, "health", "", 1);
	frame_add(b->frame, line);
}

int context_start(struct context_build *b, struct err *err)
{
	bool is_compacted = b->q->source && !strcmp(b->q->source, "compact") && b->q->session;
	health_section(b);
	if (is_compacted && story_section(b, err))
		return -1;
	if (kept_section(b, err) || last_section(b, err) || facts_section(b, err) || recent_section(b, err))
		return -1;
	return 0;
}
