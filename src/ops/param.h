#ifndef OPS_PARAM_H
#define OPS_PARAM_H

#include "ops/ops.h"

/*
 * Reading the parameters of a call. They have been checked against the spec; these readers stay forgiving all the same (a
 * single value for a list, a number for a text, singular and plural names), since a test or a door may skip the check.
 */

#define PARAM_LIST_MAX 10000 /* values of one parameter; further ones are ignored */
#define LIMIT_MAX 100000     /* ceiling of every limit of the contract */

/* `other` is a second name that is accepted, or NULL. NULL when absent or empty; numbers are given as text. */
const char *param_text(const struct op_call *call, const char *name, const char *other);
/* Values of a list parameter, in the call's arena; 0 when absent. Empty texts are left out. */
size_t param_list(const struct op_call *call, const char *name, const char *other, const char ***ret);
/* The words of a text that may come as a list, joined by spaces; NULL when there is nothing. */
const char *param_joined(const struct op_call *call, const char *name, const char *other);
/* Clamped to 0 … LIMIT_MAX. */
size_t param_size(const struct op_call *call, const char *name, size_t otherwise);
bool param_bool(const struct op_call *call, const char *name);
/* A point in time: Unix milliseconds, or what people type. 0 when absent. */
int param_time(const struct op_call *call, const char *name, bool is_end, int64_t *ret, struct err *err);
/* `after` and `before` of the call; either may hold a range "A..B" that sets both. */
int param_span(const struct op_call *call, int64_t *ret_after, int64_t *ret_before, struct err *err);
/* The same for texts from elsewhere (a query's own after: and before:). NULL leaves things as they are. */
int span_parse(struct arena *a, const char *after, const char *before, int64_t *io_after, int64_t *io_before, struct err *err);
/* Index of a word in a table of names, -1 when the parameter is absent. An unknown word: ERR_USAGE that lists the words. */
int param_name(const struct op_call *call, const char *param, const char *const *names, size_t n, struct err *err, int *ret);
int name_parse(const char *what, const char *value, const char *const *names, size_t n, struct err *err);

#endif
