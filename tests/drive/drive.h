#ifndef TESTS_DRIVE_H
#define TESTS_DRIVE_H

/* What the programs of this folder share: options as NAME=VALUE, the whole of standard input, and lines of JSON. */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* An option and where its value goes: one of the three. A text stays the argument's own. */
struct drive_option {
	const char *name;
	const char **text;
	int *number;
	int64_t *wide;
};

/* Dies when none of the n rows has the name in `arg`, or `arg` has no value. */
void drive_take_option(const struct drive_option *rows, size_t n, const char *arg);

/* Adds all of standard input. */
void drive_read_input(struct buf *to);

/* As a line that whoever reads sees at once. */
void drive_print(struct buf *line);

/* Prints {"error", "detail", "hint"} and gives the exit status for it. */
int drive_print_error(const struct err *err);

#endif
