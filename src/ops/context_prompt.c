#include "ops/context_build.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/feedback.h"
#include "ops/find.h"
#include "ops/meaning.h"
#include "ops/rarity.h"
#include "store/query.h"

/*
 * With a prompt: what bears on it and was not given in this session yet. Wrong context costs an agent more than none, so that a
 * memory must share enough of what the prompt is about: rare words weigh more, and a single common word is never enough.
 */

#define PROMPT_CHARS_MIN 12
#define PROMPT_CANDIDATES 12
#define PROMPT_GIVEN_MAX 3
#define PROMPT_BODY_CHARS 320
#define PROMPT_TITLE_WIDTH 110
#define FACT_TITLE_WIDTH 360
#define SEARCHED_WORDS_MAX 24 /* of a long prompt: names first, then in order */

/* Share of the prompt's weight that a memory must hold, by number of meaningful words: short prompts must be met nearly whole. */
static const struct {
	size_t words;
	double coverage;
	size_t matched;
} prompt_needs[] = { { 2, 1.0, 2 }, { 4, .7, 2 }, { 8, .5, 3 }, { 16, .4, 4 }, { 32, .3, 6 }, { QUESTION_WORDS_MAX, .25, 8 } };

/* What was matched must be worth this many words that only one memory holds: "is it ready to merge" is met by many. */
#define WORTH_RARE_WORDS 2.0
#define LIKELY_COVERAGE .2 /* by plain words; below it rarity would not make a memory near either, and is not asked for */
#define BESIDE_BEST .75 /* further memories must be about as near as the first */

static bool is_near(const struct question *q, const struct answer *a, uint64_t all)
{
	if (a->weight < WORTH_RARE_WORDS * rarity_of(all, 1))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(prompt_needs); i++)
		if (q->n <= prompt_needs[i].words)
			return a->coverage >= prompt_needs[i].coverage && a->words + a->names >= prompt_needs[i].matched;
	return false;
}

/* Is the time of the last compaction needed at all? Finding it means walking over the session's events. */
static bool needs_compaction(const struct memory *list, const bool *given, size_t n, int64_t session)
{
	for (size_t i = 0; i < n; i++)
		if (given[i] || list[i].session == session)
			return true;
	return false;
}

/* Not of this session (unless it was compacted away), not given since the last compaction. */
int context_sift(struct context_build *b, struct memory *list, size_t *n, struct err *err)
{
	int64_t since = 0, session = b->q->session;
	int64_t *ids = ARENA_ARRAY(b->call->arena, int64_t, *n + 1);
	bool *given = ARENA_ARRAY(b->call->arena, bool, *n + 1);
	size_t kept = 0;
	if (!session || !*n)
		return 0;
	for (size_t i = 0; i < *n; i++)
		ids[i] = list[i].id;
	if (store_injected(b->call->store, session, 0, ids, *n, given, err))
		return -1;
	if (!needs_compaction(list, given, *n, session))
		return 0;
	if (query_compacted_at(b->call->store, session, &since, err) ||
		store_injected(b->call->store, session, since, ids, *n, given, err))
		return -1;
	for (size_t i = 0; i < *n; i++)
		if (!given[i] && (list[i].session != session || list[i].at < since))
			list[kept++] = list[i];
	*n = kept;
	return 0;
}

bool context_give(struct context_build *b, struct memory *m)
{
	struct arena *a = b->call->arena;
	/* A fact is its sentence: what solved an error stands at its end. */
	const char *title = m->kind == KIND_FACT && m->title ? frame_line(a, m->title, FACT_TITLE_WIDTH)
							     : frame_line(a, memory_title(a, m), PROMPT_TITLE_WIDTH);
	if (!titles_add(b->titles, b->call->analyser, title))
		return false;
	const char *line = arena_printf(a, "- #%lld %s %s %s%s%s%s%s\n", (long long)m->id, clock_day(a, m->at), context_label(m), title,
		context_files(b, m), context_author(b, m), context_branch(b, m), context_suspect(b, m));
	const char *body = m->trust > TRUST_TOOL ? frame_block(a, text_beyond(memory_text(a, m), memory_title(a, m)), PROMPT_BODY_CHARS, "  ") : "";
	if (!frame_add(b->frame, arena_printf(a, "%s%s", line, body)) && !frame_add(b->frame, line))
		return false;
	frame_gave(b->frame, m->id);
	return true;
}

/* How near the candidates are in meaning, by id. */
struct nearness {
	int64_t ids[PROMPT_CANDIDATES];
	float similarity[PROMPT_CANDIDATES];
	size_t n;
};

static bool means_the_same(const struct nearness *near, int64_t id)
{
	for (size_t i = 0; i < near->n; i++)
		if (near->ids[i] == id)
			return near->similarity[i] >= MEANING_INTERRUPTS;
	return false;
}

struct candidates {
	struct nearness near;
	struct memory *list;
	size_t n;
};

static int candidates_find(struct context_build *b, const char *words, struct candidates *ret, struct err *err)
{
	struct find f = { .text = words, .meant = b->q->prompt, .is_plain = true, .limit = PROMPT_CANDIDATES,
		.filter = { .project = (uint32_t)b->q->project, .classes = 1u << DOC_MEMORY,
			.memory_kinds = ((1u << MEMORY_KIND_COUNT) - 1) & ~(1u << KIND_CHUNK) } };
	struct find_result r;
	ret->n = 0;
	if (find_run(&b->l, &f, &r, err) || feedback_order(b->call, r.found, r.n, err))
		return -1;
	/* Misspelt words are no reason to interrupt; that not all words are met is normal for a prompt. */
	if (r.r.match == MATCH_NONE || r.r.match == MATCH_SPELLING)
		return 0;
	int64_t *ids = ARENA_ARRAY(b->call->arena, int64_t, r.n + 1);
	for (size_t i = 0; i < r.n; i++) {
		ids[i] = DOC_ROW(r.found[i].hit.id);
		ret->near.ids[i] = ids[i];
		ret->near.similarity[i] = r.found[i].hit.similarity;
	}
	ret->near.n = r.n;
	return context_load(b, ids, r.n, &ret->list, &ret->n, err);
}

/* What of a prompt is searched for: the words that mean something, as they were written. */
static const char *prompt_words(struct context_build *b, const struct question *q, const char *prompt)
{
	AUTO(buf_done) struct buf text = { 0 };
	size_t n = 0;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < q->n && n < SEARCHED_WORDS_MAX; i++) {
			const struct question_word *w = &q->words[i];
			if (w->is_name != (round == 0))
				continue;
			buf_printf(&text, "%.*s ", (int)(w->end - w->start), prompt + w->start);
			n++;
		}
	}
	return arena_dup(b->call->arena, buf_cstr(&text), text.len);
}

static bool is_question(const char *prompt)
{
	struct str s = str_trim(str_of(prompt));
	return s.n >= PROMPT_CHARS_MIN && s.p[0] != '/' && s.p[0] != '!' && s.p[0] != '<';
}

static struct answer answer_of(struct context_build *b, const struct question *q, const struct memory *m)
{
	const char *texts[] = { m->title, memory_text(b->call->arena, m), m->facts, m->commands };
	return question_match(q, b->call->analyser, texts, ARRAY_LEN(texts));
}

/* The same piece of work is told once: its summary or its observation. */
static bool turn_was_given(const struct memory *list, const bool *given, size_t n, int64_t turn)
{
	for (size_t i = 0; i < n; i++)
		if (given[i] && turn && list[i].turn == turn)
			return true;
	return false;
}

/* Worth its place by words, beside what was given already. */
static bool says_enough(struct context_build *b, const struct question *q, const struct memory *m, uint64_t all, double *best)
{
	struct answer answer = answer_of(b, q, m);
	if (!is_near(q, &answer, all) || answer.weight < BESIDE_BEST * *best)
		return false;
	*best = MAX(*best, answer.weight);
	return true;
}

static int candidates_give(struct context_build *b, struct question *q, const struct candidates *c, struct err *err)
{
	bool *given = ARENA_ARRAY(b->call->arena, bool, c->n), is_any_near = false;
	struct rarity r = { .project = b->q->project };
	double best = 0;
	size_t count = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct answer answer = answer_of(b, q, &c->list[i]);
		if (answer.coverage >= LIKELY_COVERAGE)
			r.words |= answer.matched;
		is_any_near |= means_the_same(&c->near, c->list[i].id);
	}
	if (!r.words && !is_any_near)
		return 0;
	/*
	 * Only words that some candidate holds are looked up. The others say little about which memory is meant: as an average
	 * word they keep a prompt about something else uncovered, without one odd word drowning a good match.
	 */
	if (r.words && rarity_weigh(&b->l, &r, q, err))
		return -1;
	for (size_t i = 0; i < c->n && count < PROMPT_GIVEN_MAX; i++) {
		struct memory *m = &c->list[i];
		if (frame_has(b->frame, m->id) || turn_was_given(c->list, given, i, m->turn))
			continue;
		if (!(r.words && says_enough(b, q, m, r.all, &best)) && !means_the_same(&c->near, m->id))
			continue;
		given[i] = context_give(b, m);
		count += given[i];
	}
	return 0;
}

int context_prompt(struct context_build *b, struct err *err)
{
	struct question *q = ARENA_NEW(b->call->arena, struct question);
	struct candidates *c = ARENA_NEW(b->call->arena, struct candidates);
	if (!b->q->project || !b->q->prompt)
		return 0;
	frame_section(b->frame, "prompt", NULL, 1);
	if (context_errors(b, b->q->prompt, err))
		return -1;
	if (!is_question(b->q->prompt))
		return 0;
	question_make(q, b->call->analyser, str_of(b->q->prompt));
	if (q->n < 2)
		return 0;
	if (candidates_find(b, prompt_words(b, q, b->q->prompt), c, err) || context_sift(b, c->list, &c->n, err))
		return -1;
	return c->n ? candidates_give(b, q, c, err) : 0;
}
