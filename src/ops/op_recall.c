#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/feedback.h"
#include "ops/find.h"
#include "ops/meaning.h"
#include "ops/param.h"
#include "ops/question.h"
#include "ops/rarity.h"
#include "ops/suspects.h"
#include "store/query.h"

/*
 * recall: one call for an agent. The best memories for a question and files, whole while the budget lasts, then cut, then by
 * title; each thing once. Says so when nothing that is remembered answers the question: a wrong answer costs more than none.
 */

#define RECALL_BUDGET 2000 /* tokens */
#define RECALL_BUDGET_MAX 100000
#define RECALL_CANDIDATES 40
#define RECALL_FACTS 3 /* offered first */
#define RECALL_MESSAGES 20
#define RECALL_FILE_MEMORIES 20
#define RECALL_FULL_SHARE .5   /* of what is left, for one memory */
#define RECALL_TITLE_TOKENS 60 /* below this a text is not begun any more */
#define MESSAGE_EXCERPT 500    /* characters */
#define SAME_START_BYTES 80

struct recall {
	struct op_call *call;
	struct lookup l;
	struct question question;
	const char *text;
	const char **files;
	size_t nfiles;
	size_t budget, used; /* tokens */
	double min_confidence;
	struct buf out;
	struct titles *titles;
	struct found *chosen;
	size_t n, cap;
};

/*
 * What makes a hit an answer: the share of the question's weight that it holds, and how near it is
 * in meaning. Calibrated as docs/benchmarks.md says, on questions about other projects and about
 * things never discussed.
 */
#define ANSWER_BOTH .78    /* share and similarity together */
#define ANSWER_COVERAGE .5 /* the share alone, where there is no vector */
#define MESSAGE_COVERAGE \
	.6 /* messages say much in passing, and short ones mean a little of everything */
#define ANSWER_BESIDE .2          /* less is asked of what stands beside an answer */
#define MESSAGE_JUDGED_BYTES 2000 /* a long output holds any words somewhere */

static bool is_near(const struct found *f)
{
	return f->hit.similarity >= (f->memory ? MEANING_ANSWERS : MEANING_INTERRUPTS);
}

static double coverage_needed(const struct found *f)
{
	if (!f->memory)
		return MESSAGE_COVERAGE;
	return f->hit.similarity > 0 ? ANSWER_BOTH - (double)f->hit.similarity : ANSWER_COVERAGE;
}

/* How much of the question it answers; all of it when it is near enough in meaning. */
static double coverage_of(struct recall *r, const struct found *f)
{
	struct arena *a = r->call->arena;
	const struct memory *m = f->memory;
	const char *texts[4] = { 0 };
	if (!r->question.n || is_near(f))
		return 1;
	if (m) {
		texts[0] = m->title;
		texts[1] = memory_text(a, m);
		texts[2] = m->facts;
		texts[3] = m->commands;
	} else {
		struct str text = str_of(event_text(a, f->event));
		texts[0] = arena_dup(a, text.p, utf8_cut(text.p, text.n, MESSAGE_JUDGED_BYTES));
	}
	return question_match(&r->question, r->call->analyser, texts, ARRAY_LEN(texts)).coverage;
}

static bool is_chosen(const struct recall *r, int64_t memory)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->chosen[i].memory && r->chosen[i].memory->id == memory)
			return true;
	return false;
}

/* Cut at a border of characters so that about `tokens` remain. */
static char *cut_to_tokens(struct arena *a, const char *text, size_t tokens)
{
	struct str s = str_of(text);
	size_t all = text_tokens(s);
	if (all <= tokens)
		return arena_str(a, text);
	s.n = utf8_cut(s.p, s.n, s.n * tokens / (all + 1));
	return arena_printf(a, "%.*s …", (int)s.n, s.p);
}

static void head_write(struct recall *r, struct buf *b, const struct found *f)
{
	struct arena *a = r->call->arena;
	const struct memory *m = f->memory;
	const struct event *e = f->event;
	buf_printf(b, "[%s] %s", found_ref(a, f), clock_day(a, m ? m->at : e->at));
	if (m)
		buf_printf(b, " %s",
			m->type ? memory_type_names[m->type] : memory_kind_names[m->kind]);
	else
		buf_printf(b, " %s", event_kind_names[e->kind]);
	if (f->project)
		buf_printf(b, " · %s", f->project);
	const char *branch = m ? m->branch : e->branch;
	if (branch)
		buf_printf(b, " · %s", branch);
	if (m && m->author)
		buf_printf(b, " · by %s", m->author);
	if (m && m->trust <= TRUST_TOOL)
		buf_str(b, " · seen in tool output only");
	const char *suspect = m ? suspect_reason(&r->l, m) : NULL;
	if (suspect)
		buf_printf(b, " · suspect: %s", suspect);
	buf_printf(b, "\n%s\n", m ? memory_title(a, m) : event_title(a, e));
}

static void files_write(struct buf *b, const struct memory *m)
{
	if (!m->nfiles)
		return;
	buf_str(b, "Files: ");
	for (size_t i = 0; i < m->nfiles && i < HIT_FILES_MAX; i++)
		buf_printf(b, "%s%s", i ? ", " : "", m->files[i].path);
	buf_char(b, '\n');
}

/* False when the budget has no room for even its title. */
static bool entry_write(struct recall *r, const struct found *f)
{
	struct arena *a = r->call->arena;
	AUTO(buf_done) struct buf b = { 0 };
	size_t left = r->budget - r->used;
	if (r->n)
		buf_char(&b, '\n');
	head_write(r, &b, f);
	size_t head = text_tokens((struct str){ b.data, b.len });
	if (head > left)
		return false;
	left -= head;
	const char *text =
		f->memory ? text_beyond(memory_text(a, f->memory), memory_title(a, f->memory))
			  : text_one_line(a, str_of(event_text(a, f->event)), MESSAGE_EXCERPT);
	size_t share = r->n ? (size_t)((double)left * RECALL_FULL_SHARE) : left;
	if (*text && share >= RECALL_TITLE_TOKENS) {
		buf_printf(&b, "%s\n", cut_to_tokens(a, text, share - RECALL_TITLE_TOKENS / 2));
		if (f->memory)
			files_write(&b, f->memory);
	}
	size_t tokens = text_tokens((struct str){ b.data, b.len });
	if (tokens > r->budget - r->used)
		return false;
	buf_add(&r->out, b.data, b.len);
	r->used += tokens;
	ARENA_PUSH(a, r->chosen, r->n, r->cap, *f);
	return true;
}

/* The summary of a turn often holds what its observation says, word for word. */
static bool is_told(struct recall *r, const struct memory *m)
{
	const char *text = memory_text(r->call->arena, m);
	struct str start = { text, utf8_cut(text, strlen(text), SAME_START_BYTES) };
	for (size_t i = 0; i < r->n; i++)
		if (m->turn && r->chosen[i].memory && r->chosen[i].memory->turn == m->turn)
			return !start.n || str_find((struct str){ r->out.data, r->out.len }, start);
	return false;
}

static void entry_offer(struct recall *r, const struct found *f)
{
	struct arena *a = r->call->arena;
	const struct memory *m = f->memory;
	if (m && (is_chosen(r, m->id) || m->confidence < r->min_confidence || is_told(r, m)))
		return;
	if (!titles_add(r->titles, r->call->analyser,
		    f->memory ? memory_title(a, f->memory) : event_title(a, f->event)))
		return;
	entry_write(r, f);
}

static bool is_there(const struct found *f)
{
	return f->memory || f->event;
}

static int offer_search(struct recall *r, struct find *f, struct err *err)
{
	struct find_result result;
	if (find_run(&r->l, f, &result, err) ||
		feedback_order(r->call, result.found, result.n, err))
		return -1;
	bool is_answered = r->n > 0;
	double *covered = ARENA_ARRAY(r->call->arena, double, result.n + 1);
	for (size_t i = 0; i < result.n; i++) {
		const struct found *one = &result.found[i];
		covered[i] = is_there(one) ? coverage_of(r, one) : -1;
		is_answered |= covered[i] >= coverage_needed(one);
	}
	for (size_t i = 0; i < result.n && is_answered; i++)
		if (covered[i] >= coverage_needed(&result.found[i]) - ANSWER_BESIDE)
			entry_offer(r, &result.found[i]);
	return 0;
}

/* Without a question: what is known of the files, newest first. With one: only what the words did not bring. */
static int offer_files(struct recall *r, int64_t project, struct err *err)
{
	struct arena *a = r->call->arena;
	for (size_t i = 0; i < r->nfiles; i++) {
		int64_t *ids;
		size_t n;
		struct memory *list;
		if (query_memories_of_file(r->call->store, a, project,
			    call_file(r->call, r->files[i]), RECALL_FILE_MEMORIES, &ids, &n, err))
			return -1;
		list = ARENA_ARRAY(a, struct memory, n + 1);
		if (n && store_memories(r->call->store, a, ids, n, list, err))
			return -1;
		for (size_t k = 0; k < n; k++) {
			if (!list[k].id || list[k].status != MEMORY_ACTIVE)
				continue;
			if (query_memory_files(r->call->store, a, &list[k], HIT_FILES_MAX, err))
				return -1;
			struct found f = found_memory(&r->l, &list[k]);
			entry_offer(r, &f);
		}
	}
	return 0;
}

static int recall_run(struct recall *r, int64_t project, struct err *err)
{
	struct find f = { .text = r->text,
		.filter = { .project = (uint32_t)project, .classes = 1u << DOC_MEMORY },
		.limit = RECALL_CANDIDATES };
	bool asks = r->text && *r->text;
	/* What is known for good comes before what happened once. */
	struct find facts = f;
	facts.filter.memory_kinds = 1u << KIND_FACT;
	facts.limit = RECALL_FACTS;
	if (asks && (offer_search(r, &facts, err) || offer_search(r, &f, err)))
		return -1;
	if (r->nfiles && offer_files(r, project, err))
		return -1;
	if (r->n || !asks || r->min_confidence > 0)
		return 0;
	f.filter.classes = 1u << DOC_EVENT;
	f.limit = RECALL_MESSAGES;
	return offer_search(r, &f, err);
}

static void recall_write(struct recall *r, struct jw *out)
{
	struct hit_style style = { .lookup = &r->l };
	bool is_messages = r->n && r->chosen[0].event;
	jw_object(out, NULL);
	jw_str(out, "query", r->text ? r->text : "");
	if (!r->n)
		jw_str(out, "text", "Nothing relevant is remembered.");
	else if (is_messages)
		jw_printf(out, "text",
			"No memory answers this; these messages of earlier sessions may.\n\n%s",
			buf_cstr(&r->out));
	else
		jw_str(out, "text", buf_cstr(&r->out));
	jw_bool(out, "found", r->n > 0);
	jw_array(out, "memories");
	for (size_t i = 0; i < r->n; i++)
		found_write(r->call, out, &r->chosen[i], &style);
	jw_end(out, ']');
	jw_int(out, "tokens", (int64_t)r->used);
	jw_array(out, "next");
	if (r->n)
		jw_printf(out, NULL, "remanence get %s", found_ref(r->call->arena, &r->chosen[0]));
	jw_end(out, ']');
	jw_real(out, "took_ms", (double)(clock_mono_us() - r->call->started_us) / 1000.0, 3);
	jw_end(out, '}');
}

int op_recall(struct op_call *call, struct jw *out, struct err *err)
{
	struct recall r = { .call = call, .l = { .call = call } };
	int64_t project;
	r.text = param_joined(call, "question", "query");
	r.nfiles = param_list(call, "files", "file", &r.files);
	r.budget = MIN(param_size(call, "budget", RECALL_BUDGET), (size_t)RECALL_BUDGET_MAX);
	r.min_confidence = json_real(call->params, "min_confidence", 0);
	r.titles = ARENA_NEW(call->arena, struct titles);
	if (!r.text && !r.nfiles)
		return err_set(err, ERR_USAGE, "recall needs a question or a file");
	if (call_project(call, &project, err))
		return -1;
	question_make(&r.question, call->analyser, str_of(r.text));
	struct rarity rarity = { .project = project, .words = UINT64_MAX, .absent_is_rare = true };
	int failed = rarity_weigh(&r.l, &rarity, &r.question, err) || recall_run(&r, project, err)
			     ? -1
			     : 0;
	if (!failed)
		recall_write(&r, out);
	buf_done(&r.out);
	return failed;
}
