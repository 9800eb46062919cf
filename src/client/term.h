#ifndef CLIENT_TERM_H
#define CLIENT_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * Output for people: collected in `out`, written once at the end. Colours only on a terminal and
 * unless told otherwise; lines fit the terminal (TERM_WIDTH elsewhere). Text from the store is
 * shown with its control characters replaced, so that no recorded escape sequence reaches the
 * terminal.
 */

#define TERM_WIDTH 80 /* when nothing else is known */
#define TERM_WIDTH_MIN 40
#define TERM_WIDTH_MAX 120 /* longer lines are hard to read */

enum style { PLAIN, DIM, BOLD, REF, GOOD, WARN, BAD, MARK, NAME, STYLE_COUNT };

struct term {
	bool has_color, is_tty;
	int width;
	int64_t now;
	struct buf out;
	struct arena arena;
};

void term_init(struct term *t, bool no_color);
void term_done(struct term *t);
void term_flush(struct term *t); /* to standard output */

/* One line's worth: control characters and line ends become spaces. NULL prints nothing. */
void term_put(struct term *t, enum style style, const char *text);
void term_slice(struct term *t, enum style style, struct str text);
void term_printf(struct term *t, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void term_newline(struct term *t);
/*
 * Exactly `width` columns: cut with "…" or filled with spaces; `to_right` puts the spaces before.
 */
void term_cell(struct term *t, enum style style, const char *text, int width, bool to_right);
/* Paragraphs, wrapped at words; every line is indented. Leading spaces of a line are kept. */
void term_wrap(struct term *t, enum style style, const char *text, int indent);
void term_indent(struct term *t, int columns);

int term_columns(
	struct str text); /* East Asian wide characters and emoji count two, combining ones none */
size_t term_cut(struct str text, int columns);    /* bytes of the longest beginning that fits */
char *term_bytes(struct arena *a, int64_t bytes); /* "1.4 MB" */
char *term_count(struct arena *a, int64_t n);     /* "12,345" */
char *term_span(struct arena *a, int64_t ms);     /* "3 min", "2 h" */

#endif
