#ifndef OBSERVE_ERROR_FORM_H
#define OBSERVE_ERROR_FORM_H

#include <stdbool.h>

#include "base/str.h"

/* Which tool says an error, and whether knowing what solved it is worth anything later. Pure. */

enum error_worth {
	WORTH_ONCE, /* the daily slips of writing code: worth it when they come again */
	WORTH_FORMAT, /* how it is written: running the formatter is what solves it */
	WORTH_KEEPING
};

struct error_form {
	const char *tool, *mark; /* mark: what stands in the line */
	enum error_worth worth;
	bool begins; /* the line begins with it: elsewhere it is a quotation */
};

/* NULL: an error of no known form. */
const struct error_form *error_form_of(struct str line);

#endif
