#ifndef OBSERVE_UNIT_H
#define OBSERVE_UNIT_H

#include "observe/digest.h"
#include "store/job.h"

/*
 * A work unit read from the store: a turn with its events, what the rules make of it, and what a
 * model is shown of it. Loading stores nothing; everything lies in the arena.
 */

#define UNIT_EVENTS_MAX 4000 /* of a turn; later ones are not looked at */
#define UNIT_EVENTS_WHOLE (3u << 20) /* bytes of them; of later ones texts are cut */
#define UNIT_CHARS_LEAST DIGEST_CHARS_MIN /* of a digest that was made shorter */

struct unit {
	struct turn turn;
	struct session session;
	struct project project;
	struct event *events;
	size_t n;
	struct rules_input in;
	struct rules_output made;
	struct digest digest;
	const char **similar; /* titles of memories about the same files that exist already */
	size_t nsimilar;
};

struct unit_request {
	int64_t turn;
	int part;
	size_t max_chars;
	bool is_shorter;         /* half of it, for an answer that could not be used */
	const char *const *off;  /* rules that are switched off */
};

/* What the rules and a model are shown of a turn, sorted; in so much memory, whatever happened. */
int unit_events(struct store *s, struct arena *a, const struct turn *t, struct event **ret,
	size_t *ret_n, struct err *err);
/* ERR_NOT_FOUND: the turn is gone. */
int unit_load(struct store *s, struct arena *a, const struct unit_request *q, struct unit *ret,
	struct err *err);
/* Titles of active memories of the project, not of this turn. */
int unit_similar(struct store *s, struct arena *a, struct unit *u, struct err *err);

/* The jobs of a turn whose rules ran: one for each part, DONE where nothing need be sent. */
struct unit_jobs {
	struct job *jobs; /* in the arena */
	size_t n;
};
struct unit_jobs_input {
	const struct rules_input *in;
	const struct rules_output *made;
	size_t max_chars;
	int64_t run_after; /* of those that wait */
};
void unit_jobs_make(
	struct arena *a, const struct unit_jobs_input *in, struct unit_jobs *ret);

#endif
