#ifndef OPS_CURSOR_H
#define OPS_CURSOR_H

#include "ops/ops.h"

/*
 * Where a page of a list ended, as a text to ask for the next one with. A list has one order, by keys that no two rows share;
 * a page begins behind the keys of the last row of the page before, so that rows which come or go meanwhile neither repeat nor
 * hide others. The text is base64url of: version, hash of the question (operation, project, filters), keys, name, checksum.
 * It gives no rights: keys are only compared with.
 */

#define CURSOR_KEYS 8
#define CURSOR_NAME_MAX 255 /* bytes of a name among the keys */
#define CURSOR_TEXT_MAX 600 /* of the longest cursor; longer texts are none (spec's CURSOR) */

struct cursor {
	const char *op;   /* whose list */
	int64_t project;  /* as resolved: a working folder may have decided it */
	size_t nkeys;     /* of this list */
	bool is_given;    /* the call goes on behind these: */
	int64_t keys[CURSOR_KEYS];
	const char *name; /* lists that are ordered by a name too; never NULL when given */
};

/*
 * Reads the call's cursor into a struct whose op, project and nkeys are set. ERR_USAGE: it is damaged, of another question, or
 * came with an offset.
 */
int cursor_read(struct op_call *call, struct cursor *io_c, struct err *err);
/* The member next_cursor: the text of c's keys when there is more, else null. */
void cursor_write(struct op_call *call, struct jw *out, const struct cursor *c, bool has_more);

#endif
