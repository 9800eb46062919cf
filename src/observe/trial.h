#ifndef OBSERVE_TRIAL_H
#define OBSERVE_TRIAL_H

#include "observe/ask.h"
#include "observe/quality.h"
#include "observe/unit.h"

/*
 * Trying a model on captured units: `observer test`, `observer eval` and the daily sample. Nothing is
 * stored. Every attempt counts, those that were given up too: times of finished ones alone would be
 * those of survivors.
 */

#define TRIAL_UNITS_MAX 1000

/* Of each attempt that has such a time. */
struct trial_times {
	int64_t *ms;
	size_t n, cap;
};

struct trial {
	/* Filled in by the caller. */
	const struct settings *settings;
	const char *prompts; /* folder, or NULL */
	const char *folder;  /* of llm_config, or NULL */
	const _Atomic bool *stop;
	/* Since trial_open. */
	struct arena *arena;
	struct mode mode;
	struct llm *llm;
	const char *model;
	size_t units, outcomes[CALL_OUTCOME_COUNT];
	struct quality quality;
	int64_t tokens_in, tokens_out;
	bool is_estimated; /* some tokens are told by bytes */
	double cost;
	const char *failure; /* what the last one came to of which nothing could be used; NULL: none was so */
	struct trial_times queue, first, total; /* queue wait, first byte, all of it */
};
/* model NULL: that of the settings. ERR_USAGE: there is none. */
int trial_open(struct trial *t, struct arena *a, const char *model, struct err *err);
void trial_close(struct trial *t);

struct trial_result {
	struct ask ask; /* ended by the caller */
	struct refine_output refined;
};
int trial_run(struct trial *t, const struct unit *u, struct trial_result *ret, struct err *err);
/* Counts it. */
void trial_add(struct trial *t, const struct unit *u, const struct trial_result *r);
/* The newest units that are worth asking about, at most max. */
int trial_units(struct store *s, struct arena *a, const struct settings *settings, size_t max,
	struct unit **ret, size_t *ret_n, struct err *err);

int64_t trial_time(const struct trial_times *t, double share); /* 0.5: the median; -1: none */
size_t trial_answered(const struct trial *t);
/* What is wrong with it, a sentence, or NULL. */
const char *trial_complaint(const struct trial *t);

#endif
