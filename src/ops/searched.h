#ifndef OPS_SEARCHED_H
#define OPS_SEARCHED_H

#include "ops/ops.h"

/* For the search log, as `search.log` wants it. scope, namespace: NULL for none; top: the best hit's score or similarity. */
void searched(struct op_call *call, const char *scope, const char *namespace, const char *query, size_t results, double top);

#endif
