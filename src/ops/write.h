#ifndef OPS_WRITE_H
#define OPS_WRITE_H

#include "ops/ops.h"
#include "text/redact.h"

/* What operations that change the store share. */

/* Runs fn on the writer and waits; ERR_INTERNAL when the door has no writer. */
int call_write(struct op_call *call, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err);
/* On the writer: the project that a change is for. `name` NULL: that of the folder; "all": none; a new name makes the project. */
int project_for_write(struct store *s, struct arena *a, const char *name, const char *cwd, int64_t *ret, struct err *err);
/* A person's text, cleaned as everything is that gets stored. *redactions is added to. */
int text_for_write(struct op_call *call, const char *text, const char **ret, uint64_t *redactions, struct err *err);
/* Session by reference or by the agent's own id. ERR_NOT_FOUND. */
int session_find(struct op_call *call, const char *text, int64_t *ret, struct err *err);

#endif
