#ifndef OBSERVE_RULES_H
#define OBSERVE_RULES_H

#include "base/arena.h"
#include "model/fact.h"
#include "model/memory.h"
#include "store/store.h"

/*
 * The rules: what can be known of a turn without a model. A pure function of the turn's events sorted by (time, key): the same
 * events give the same memories whatever the order they came in. Deterministic; no clock, no file system, no store.
 */

struct rules_input {
	const struct turn *turn;
	const struct session *session;
	const struct project *project;
	const struct event *events; /* sorted by (time, key), main thread and sub-agents */
	size_t n;
	const char *const *off; /* names of rules that are switched off, NULL-terminated; NULL: none */
};

struct rules_output { /* in the arena */
	struct memory *memories; /* rule, slot, kind, type, title, body …, files, evidence are set; ids are not */
	size_t n, cap;
	struct fact_candidate *candidates; /* of facts; merged with those of other turns (fact_merge.h) */
	size_t ncandidates, candidates_cap;
};

#define RULES_VERSION 2 /* raised when the same events give something else: then all turns are looked at again */

void rules_run(struct arena *a, const struct rules_input *in, struct rules_output *ret);

#endif
