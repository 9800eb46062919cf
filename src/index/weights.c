/*
 * Looked at on 581 questions about 304 coding sessions of two repositories (subjects of commits,
 * whose session is to be found), in five folds: the smaller repository, and four parts of the larger
 * by time; checked on 26 questions about chats (no change). docs/benchmarks.md has the figures,
 * bench/fit finds them again. What tells: pairs in sessions (.035 of MRR), the best document beside
 * its session (.020), that a memory counts little for its session, which said it before (.011). All
 * else is flat there: a value halved or doubled moves less than .01. Set by hand, since those
 * questions do not test them: fields, priors, the period that a question names.
 */

#include "index/weights.h"

#include "base/mem.h"

struct weights index_weights = {
	.k1 = 1.2,
	.b = 0.6,
	.title = 2.5,
	.body = 1,
	.rest = 0.8,
	.form = 0.9,
	.session_k1 = 1.2,
	.session_b = 0.75,
	.session_memory = 0.05,
	.session_title = 1,
	.pair_apart = 3,
	.pair_window = 3,
	.pair_reads = 2500,
	.pair = 0.3,
	.session_pair = 0.8,
	.session = 0.4,
	.best = 1,
	.meaning = 0.4,
	.session_meaning = 0.35,
	.meaning_least = 0.15,
	.chunk_least = 0.08,
	.meaning_full = 0.3,
	.words_full = 1.25,
	.session_words_full = 1.25,
	.recency = 0.1,
	.recency_days = 30,
	.pinned = 0.1,
	.meta = -0.3,
	.suspect = -0.15,
	.confidence = 0.1,
	.period = 0.6,
	.kinds = { [KIND_OBSERVATION] = 0.05,
		[KIND_SUMMARY] = 0.05,
		[KIND_FACT] = 0.05,
		[KIND_NOTE] = 0.1 },
};

#define WEIGHT(field) { #field, &index_weights.field }

const struct weight_name weight_names[] = {
	WEIGHT(k1),
	WEIGHT(b),
	WEIGHT(title),
	WEIGHT(body),
	WEIGHT(rest),
	WEIGHT(form),
	WEIGHT(session_k1),
	WEIGHT(session_b),
	WEIGHT(session_memory),
	WEIGHT(session_title),
	WEIGHT(pair),
	WEIGHT(session_pair),
	WEIGHT(session),
	WEIGHT(best),
	WEIGHT(recency),
	WEIGHT(recency_days),
	WEIGHT(meta),
	WEIGHT(confidence),
	WEIGHT(period),
};
const size_t weight_count = ARRAY_LEN(weight_names);
