#include "observe/fact_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conf/project.h"
#include "observe/confidence.h"
#include "observe/fact_table.h"
#include "store/store.h"

#define STRETCHES_MAX 16    /* the latest, of one subject */
#define USES_MIN 3          /* before a command counts as used here */
#define SESSIONS_SURE 3     /* after so many a rule that waits waits no longer */
#define OPEN_ENDS_MAX 40    /* the latest, of one project */
#define DONE_LOOKED_MAX 100 /* turns with work after it */
#define DONE_SHARE .7       /* of an open end's words in later work: it was done */
#define SAME_SHARE .8
#define EVIDENCE_FIRST 8 /* the earliest pieces are kept beside the latest */

struct merge {
	struct arena *a;
	const struct fact_policy *policy;
	const struct fact_candidate *list;
	size_t n;
	const char *home; /* the branch that the list is about; "" everywhere */
	struct topic_facts *out;
};

static int by_number(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

static int64_t distinct(
	struct arena *a, const struct fact_candidate *const *c, size_t n, bool turns)
{
	int64_t *ids = ARENA_ARRAY(a, int64_t, n + 1);
	int64_t count = 0;

	for (size_t i = 0; i < n; i++)
		ids[i] = turns ? c[i]->turn : c[i]->session;
	qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; i < n; i++)
		count += !i || ids[i] != ids[i - 1];
	return count;
}

/* ---- one fact out of the candidates that say the same ---- */

static void add_evidence(
	struct merge *g, struct memory *m, const struct fact_candidate *const *c, size_t n)
{
	size_t total = 0, at = 0, cap = 0;

	for (size_t i = 0; i < n; i++)
		total += c[i]->nevidence;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i]->nevidence; k++, at++) {
			bool is_kept = total <= MEMORY_EVIDENCE_MAX || at < EVIDENCE_FIRST ||
				       total - at <= MEMORY_EVIDENCE_MAX - EVIDENCE_FIRST;

			if (is_kept)
				ARENA_PUSH(g->a, m->evidence, m->nevidence, cap, c[i]->evidence[k]);
		}
}

/* The latest first: they are what the fact is about now. */
static void add_files(
	struct merge *g, struct memory *m, const struct fact_candidate *const *c, size_t n)
{
	size_t cap = 0;

	for (size_t i = n; i-- > 0;)
		for (size_t k = 0; k < c[i]->nfiles && m->nfiles < CANDIDATE_FILES_MAX * 2; k++) {
			bool is_there = false;

			for (size_t j = 0; j < m->nfiles && !is_there; j++)
				is_there = strcmp(m->files[j].path, c[i]->files[k].path) == 0;
			if (!is_there)
				ARENA_PUSH(g->a, m->files, m->nfiles, cap, c[i]->files[k]);
		}
}

static struct confidence confidence_in(
	struct merge *g, const struct fact_candidate *const *c, size_t n, size_t contradictions)
{
	struct confidence ret = { .contradictions = (int64_t)contradictions };

	for (size_t i = 0; i < n; i++) {
		ret.times += c[i]->times;
		ret.trust = MAX(ret.trust, c[i]->trust);
		ret.strength = MAX(ret.strength, c[i]->strength);
		ret.outcome = c[i]->outcome ? c[i]->outcome : ret.outcome;
	}
	ret.sessions = distinct(g->a, c, n, false);
	ret.turns = distinct(g->a, c, n, true);
	return ret;
}

/* Where it holds: on the branch that all say it on; told from several, everywhere (NULL). */
static const char *branch_in(const struct fact_candidate *const *c, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!c[i]->branch || !c[0]->branch || strcmp(c[i]->branch, c[0]->branch) != 0)
			return NULL;
	return c[0]->branch;
}

static bool is_of_model(const struct fact_candidate *c)
{
	return strcmp(c->rule, MODEL_RULE) == 0;
}

/* A model's word and that of some rules needs others beside it, unless it quotes the person. */
static bool waits(const struct fact_candidate *c, const struct confidence *sure)
{
	const struct fact_rule *rule = fact_rule_find(c->rule);

	if (sure->sessions >= SESSIONS_SURE)
		return false;
	return is_of_model(c) ? sure->trust < TRUST_PROMPT : rule && rule->waits;
}

/* `c`: all that say it, in order; its stretch begins with `first`. */
static struct topic_fact *add_fact(struct merge *g, const struct fact_candidate *const *c, size_t n,
	const struct fact_candidate *first, struct confidence sure)
{
	const struct fact_candidate *last = c[n - 1];
	struct topic_fact f = { .successor = -1 };
	struct memory *m = &f.m;

	m->kind = KIND_FACT;
	m->origin = is_of_model(last) ? ORIGIN_MODEL : ORIGIN_RULES;
	m->rule = last->rule;
	m->type = last->category;
	m->title = last->title;
	m->body = last->body ? last->body : last->title;
	m->trust = sure.trust;
	m->branch = branch_in(c, n);
	m->at = last->at;
	m->valid_from = first->at;
	m->confidence = confidence_of(&sure);
	m->tally = confidence_parts(g->a, &sure, c[0]->at, last->at);
	m->status = m->confidence < g->policy->threshold || waits(last, &sure) ? MEMORY_PENDING
									       : MEMORY_ACTIVE;
	add_evidence(g, m, c, n);
	add_files(g, m, c, n);
	ARENA_PUSH(g->a, g->out->items, g->out->n, g->out->cap, f);
	return &g->out->items[g->out->n - 1];
}

/* ---- by what is said of the subject ---- */

static const char *value_of(const struct fact_candidate *c)
{
	return c->value ? c->value : "";
}

static void add_stretch(struct merge *g, size_t from, size_t to, size_t before)
{
	const struct fact_candidate **same =
		ARENA_ARRAY(g->a, const struct fact_candidate *, to + 1);
	const char *value = value_of(&g->list[from]);
	size_t n = 0, ordinal = 0;
	struct topic_fact *f;

	for (size_t i = 0; i < to; i++) {
		if (strcmp(value_of(&g->list[i]), value) != 0)
			continue;
		same[n++] = &g->list[i];
		/* How many stretches of this value there were before. */
		ordinal += i < from &&
			   (i + 1 == g->n || strcmp(value_of(&g->list[i + 1]), value) != 0);
	}
	f = add_fact(g, same, n, &g->list[from], confidence_in(g, same, n, before));
	f->m.slot = *g->home ? arena_printf(g->a, "%s\n%s#%zu", g->home, value, ordinal)
			     : arena_printf(g->a, "%s#%zu", value, ordinal);
	if (to < g->n) {
		f->m.valid_to = g->list[to].at;
		f->m.status = MEMORY_SUPERSEDED;
		f->successor = (int)g->out->n;
	}
}

static void merge_stretches(struct merge *g)
{
	size_t starts[STRETCHES_MAX + 1], n = 0, dropped = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (i && strcmp(value_of(&g->list[i]), value_of(&g->list[i - 1])) == 0)
			continue;
		if (n == STRETCHES_MAX) {
			memmove(starts, starts + 1, sizeof(*starts) * (STRETCHES_MAX - 1));
			n--;
			dropped++;
		}
		starts[n++] = i;
	}
	starts[n] = g->n;
	for (size_t i = 0; i < n; i++)
		add_stretch(g, starts[i], starts[i + 1], i + dropped);
}

/*
 * The branch that a candidate speaks of alone; "" when it holds everywhere: on a default branch, or
 * when it is said from elsewhere too.
 */
static const char *home_of(struct merge *g, const struct fact_candidate *c)
{
	const char *value = value_of(c);

	if (!c->branch || project_branch_is_default(g->a, NULL, c->branch))
		return "";
	for (size_t i = 0; i < g->n; i++) {
		const struct fact_candidate *other = &g->list[i];
		bool is_there = other->branch && strcmp(other->branch, c->branch) == 0;

		if (!is_there && strcmp(value_of(other), value) == 0)
			return "";
	}
	return c->branch;
}

/* What a branch says does not end what holds elsewhere: each home has stretches of its own. */
static void merge_values(struct merge *g)
{
	const char **homes = ARENA_ARRAY(g->a, const char *, g->n + 1);
	struct fact_candidate *own = ARENA_ARRAY(g->a, struct fact_candidate, g->n + 1);
	struct merge one = *g;

	for (size_t i = 0; i < g->n; i++)
		homes[i] = home_of(g, &g->list[i]);
	for (size_t i = 0; i < g->n; i++) {
		if (!homes[i])
			continue;
		one.home = homes[i];
		one.n = 0;
		for (size_t k = i; k < g->n; k++)
			if (homes[k] && strcmp(homes[k], one.home) == 0) {
				own[one.n++] = g->list[k];
				homes[k] = k > i ? NULL : homes[k];
			}
		one.list = arena_dup(g->a, own, sizeof(*own) * one.n);
		merge_stretches(&one);
	}
}

/* ---- commands ---- */

static void merge_uses(struct merge *g)
{
	const struct fact_candidate **all =
		ARENA_ARRAY(g->a, const struct fact_candidate *, g->n + 1);
	struct confidence sure;
	int64_t fails = 0;

	for (size_t i = 0; i < g->n; i++) {
		all[i] = &g->list[i];
		fails += strtoll(value_of(&g->list[i]), NULL, 10);
	}
	sure = confidence_in(g, all, g->n, 0);
	if (sure.times < USES_MIN || sure.turns < 2 || fails > sure.times)
		return;
	sure.outcome = 1;
	add_fact(g, all, g->n, &g->list[0], sure)->m.slot = "use";
}

/* ---- errors ---- */

/*
 * Of each session the last word counts: a fix after which the error came back was none, and a
 * failure that never passed has no fix.
 */
static void merge_fixes(struct merge *g)
{
	const struct fact_candidate **good =
		ARENA_ARRAY(g->a, const struct fact_candidate *, g->n + 1);
	struct topic_fact *f;
	struct confidence sure;
	size_t n = 0, unsolved = 0; /* sessions in which the same was tried and did not help */

	for (size_t i = 0; i < g->n; i++) {
		bool is_last = true;

		for (size_t j = i + 1; j < g->n && is_last; j++)
			is_last = g->list[j].session != g->list[i].session;
		if (is_last && g->list[i].part == PART_WHOLE && g->list[i].body)
			good[n++] = &g->list[i];
		else if (is_last && n && g->list[i].body &&
			 strcmp(g->list[i].body, good[n - 1]->body) == 0)
			unsolved++;
	}
	if (!n)
		return;
	sure = confidence_in(g, good, n, 2 * unsolved);
	/* A slip of the pen, or files that were changed on the way: nothing to know until it comes
	 * again. */
	if (!sure.strength && sure.sessions < 2)
		return;
	f = add_fact(g, good, n, good[0], sure);
	f->m.slot = "fix";
	f->m.title = arena_printf(g->a, "%s was solved by: %s", f->m.title, f->m.body);
	f->m.body = f->m.title;
}

/* ---- open ends ---- */

struct open_end {
	const struct fact_candidate *c;
	size_t at; /* in the list */
	int64_t done_at;
	bool is_repeated; /* a later one says the same */
};

/* `lower`: bodies of the work done, in small letters, by position in the list. */
static void close_end(struct merge *g, struct open_end *o, const char *const *lower)
{
	size_t looked = 0;

	for (size_t i = o->at + 1; i < g->n && looked < DONE_LOOKED_MAX; i++) {
		const struct fact_candidate *d = &g->list[i];

		if (!lower[i] || d->turn == o->c->turn)
			continue;
		looked++;
		if (subject_within(o->c->subject, lower[i]) >= DONE_SHARE) {
			o->done_at = d->at;
			return;
		}
	}
}

static void merge_ends(struct merge *g)
{
	const char **lower = ARENA_ARRAY(g->a, const char *, g->n + 1);
	struct open_end ends[OPEN_ENDS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->list[i].part == PART_DONE && g->list[i].body)
			lower[i] = text_lower(g->a, str_of(g->list[i].body));

	for (size_t i = g->n; i-- > 0 && n < OPEN_ENDS_MAX;)
		if (g->list[i].part == PART_WHOLE)
			ends[n++] = (struct open_end){ .c = &g->list[i], .at = i };
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i && !ends[i].is_repeated; k++)
			ends[i].is_repeated =
				subject_share(ends[i].c->subject, ends[k].c->subject) >= SAME_SHARE;
		if (!ends[i].is_repeated)
			close_end(g, &ends[i], lower);
	}
	for (size_t i = n; i-- > 0;) {
		const struct fact_candidate *one = ends[i].c;
		struct topic_fact *f;

		if (ends[i].is_repeated)
			continue;
		f = add_fact(g, &one, 1, one, confidence_in(g, &one, 1, 0));
		f->m.slot = arena_printf(g->a, "%s#%s", one->subject, one->key ? one->key : "");
		if (ends[i].done_at) {
			f->m.valid_to = ends[i].done_at;
			f->m.status = MEMORY_SUPERSEDED;
		}
	}
}

/* ---- */

static const struct {
	enum memory_type category;
	void (*run)(struct merge *g);
} ways[] = {
	{ FACT_TOOL_PATTERN, merge_uses },
	{ FACT_ERROR_FIX, merge_fixes },
	{ FACT_TODO, merge_ends },
};

void fact_merge(struct arena *a, const struct fact_policy *policy,
	const struct fact_candidate *list, size_t n, struct topic_facts *ret)
{
	struct merge g = { .a = a, .policy = policy, .list = list, .n = n, .home = "", .out = ret };
	void (*run)(struct merge * g) = merge_values;

	*ret = (struct topic_facts){ 0 };
	if (!n)
		return;
	/* A model's sentence is whole in itself, but for open ends, which later work closes. */
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (ways[i].category == list[0].category &&
			(!is_of_model(&list[0]) || list[0].category == FACT_TODO))
			run = ways[i].run;
	run(&g);
}
