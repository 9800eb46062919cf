#ifndef STORE_FACT_H
#define STORE_FACT_H

#include "model/fact.h"
#include "store/store.h"

/*
 * Candidates and the facts that they were merged into. Candidates are keyed (turn, rule, slot) and
 * replaced with their turn; each change makes its topic due. Facts are keyed (project, topic, slot)
 * and written anew from all candidates of their topic, so that neither order nor repetition of
 * imports matters. A person's word survives that: an approved fact is one of trust "person" (it
 * stays active), a rejected one stays rejected, an edited one (origin "person") is left alone.
 */

/* fact_candidate.c */
/* Replaces what the rules, or a model, made of this turn or part of it; the other's stays. */
int store_turn_candidates(struct store *s, const struct turn *t, const struct fact_candidate *list,
	size_t n, struct err *err);
int store_model_candidates(struct store *s, const struct turn *t, int part,
	const struct fact_candidate *list, size_t n, struct err *err);
/* Candidates of a topic in the order of (at, key); the latest `max` of them. */
int store_topic_candidates(struct store *s, struct arena *a, int64_t project, int64_t topic,
	size_t max, struct fact_candidate **ret, size_t *ret_n, struct err *err);
/* Halves of one session that belong together, in the order of (at, key). */
int store_chain_candidates(struct store *s, struct arena *a, int64_t session, int64_t chain,
	struct fact_candidate **ret, size_t *ret_n, struct err *err);
/* For what takes events or turns away: the turn's candidates go, their topics become due. */
int candidates_drop(struct store *s, int64_t turn, struct err *err);
/*
 * Schema 7: moves the rows of the table candidate_plain, whose packs were plain and unmarked, to
 * candidate, with packs like all others. Written anew instead of changed, so that their pages are
 * full; the old table goes.
 */
int candidates_pack(struct db *db, struct err *err);

/* fact.c */
struct fact_topic {
	int64_t project, topic;
};
int store_facts_due(struct store *s, struct arena *a, size_t max, struct fact_topic **ret,
	size_t *ret_n, struct err *err);
/* All topics become due: after the rules or the thresholds changed. */
int store_facts_all_due(struct store *s, struct err *err);
/* Replaces the facts of a topic; the topic is due no longer. */
int store_topic_facts(struct store *s, const struct fact_topic *t, struct topic_fact *facts,
	size_t n, struct err *err);

/* The other facts of this fact's topic. */
int store_fact_siblings(struct store *s, struct arena *a, int64_t memory, int64_t **ret,
	size_t *ret_n, struct err *err);

#define SIBLINGS_MAX 32
#define CHAIN_MAX 200 /* halves of one command in one session that are looked at */

#endif
