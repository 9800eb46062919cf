#include "observe/fact_settle.h"

#include <string.h>

#include "base/mem.h"

static bool is_after(const struct fact_candidate *x, const struct fact_candidate *y)
{
	return x->at != y->at ? x->at > y->at : strcmp(x->key, y->key) > 0;
}

static void take_evidence(
	struct arena *a, struct fact_candidate *to, const struct fact_candidate *from)
{
	struct evidence *all = ARENA_ARRAY(a, struct evidence, to->nevidence + from->nevidence + 1);

	if (to->nevidence)
		memcpy(all, to->evidence, sizeof(*all) * to->nevidence);
	if (from->nevidence)
		memcpy(all + to->nevidence, from->evidence, sizeof(*all) * from->nevidence);
	to->evidence = all;
	to->nevidence += from->nevidence;
}

/* The failure's other half: the next pass of the same command in the session. */
static int join_half(struct store *s, struct arena *a, struct fact_candidate *c, struct err *err)
{
	struct fact_candidate *halves;
	size_t n;

	if (store_chain_candidates(s, a, c->session, c->chain, &halves, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (halves[i].part != PART_PASS || !is_after(&halves[i], c))
			continue;
		c->part = PART_WHOLE;
		c->body = halves[i].body;
		c->outcome = 1;
		c->strength = MIN(c->strength, halves[i].strength);
		c->files = halves[i].files;
		c->nfiles = halves[i].nfiles;
		take_evidence(a, c, &halves[i]);
		return 0;
	}
	return 0;
}

static int settle_topic(struct store *s, const struct fact_policy *policy,
	const struct fact_topic *t, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct fact_candidate *list;
	struct topic_facts facts;
	size_t n;

	if (store_topic_candidates(
		    s, &a, t->project, t->topic, TOPIC_CANDIDATES_MAX, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (list[i].part == PART_FAILURE && join_half(s, &a, &list[i], err))
			return -1;
	/* A topic of passes only joins others; it has no fact of its own. */
	fact_merge(&a, policy, list, n, &facts);
	return store_topic_facts(s, t, facts.items, facts.n, err);
}

/* Another threshold, or other rules of merging: all facts are due. */
static int policy_check(struct store *s, const struct fact_policy *policy, struct err *err)
{
	static const char name[] = "facts.policy";
	int64_t now = MERGE_VERSION * 10000 + (int64_t)(policy->threshold * 1000), then;

	if (store_counter_get(s, name, &then, err))
		return -1;
	if (now == then)
		return 0;
	return store_facts_all_due(s, err) || store_counter_add(s, name, now - then, err) ? -1 : 0;
}

int facts_settle(struct store *s, const struct fact_policy *policy, size_t *ret_n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct fact_topic *topics;
	size_t n;

	if (policy_check(s, policy, err) || store_facts_due(s, &a, SETTLE_MAX, &topics, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (settle_topic(s, policy, &topics[i], err))
			return -1;
	*ret_n = n;
	return 0;
}
