#ifndef OPS_DOCTOR_H
#define OPS_DOCTOR_H

#include "ops/ops.h"

/* Self-check: one function per check, each writes one object of the contract (doctor.c holds the table). */

struct doctor {
	struct op_call *call;
	struct jw *out;
	bool is_deep;
	bool is_ok; /* so far */
};

/* One finding. advice NULL when there is nothing to do; detail and advice in plain sentences. */
void doctor_say(struct doctor *d, const char *name, bool ok, const char *detail, const char *advice);

/* doctor_deep.c */
int doctor_index_deep(struct doctor *d, struct err *err);
int doctor_transcripts(struct doctor *d, struct err *err);

#endif
