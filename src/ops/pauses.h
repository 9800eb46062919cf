#ifndef OPS_PAUSES_H
#define OPS_PAUSES_H

#include "ops/ops.h"

/* The pauses that hold now, as an array of {"session","project","from","until"}: null where everything is meant, until null while open. */
int pauses_write(struct op_call *call, struct jw *out, const char *key, struct err *err);

#endif
