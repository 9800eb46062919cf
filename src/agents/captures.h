#ifndef AGENTS_CAPTURES_H
#define AGENTS_CAPTURES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "model/capture.h"

/*
 * What all agents' files need to fill a capture: adding events, lists of files, and texts out of
 * JSON. Everything is copied into the arena, since the parsed line is freed before the capture is
 * used.
 */

/* tool input as JSON; above, long strings in it are cut */
#define CAPTURE_INPUT_MAX (64u << 10)
#define CAPTURE_INPUT_STRING (4u << 10) /* what a long string is cut to then */
#define CAPTURE_DIFF_MAX (256u << 10)   /* a diff; above, whole lines are left out at the end */
#define CAPTURE_FILES_MAX 200           /* files of one tool call */
#define CAPTURE_TITLE_MAX 300           /* bytes of a session's title */

/*
 * A new event at the end of the capture; valid until the next one is added. Exit code and status
 * start as unknown.
 */
struct captured_event *capture_add(
	struct arena *a, struct capture *c, enum event_kind kind, enum source source);

/*
 * Adds a file unless it is NULL, empty, there already or one too many; a relative one is taken
 * below e->cwd when that is known. `is_written` marks the whole call as writing.
 */
void capture_file(struct arena *a, struct captured_event *e, const char *path, bool is_written);

struct str capture_copy(struct arena *a, struct str s); /* a copy; empty stays empty */
/* the text of a JSON string, copied */
struct str capture_text(struct arena *a, const json *string);
/* NULL when absent or "" */
const char *capture_word(struct arena *a, const json *object, const char *key);

/*
 * The text of a message's content: a string, or blocks of which text blocks are joined by line
 * ends. Pictures and documents become "[image]" and "[document]" unless the text says so itself;
 * thinking and everything else is left out.
 */
struct str capture_content(struct arena *a, const json *content);

/*
 * JSON text of a tool's input, bounded by CAPTURE_INPUT_MAX and still valid JSON. *true_size is set
 * when it was cut.
 */
struct str capture_input(struct arena *a, const json *input, uint64_t *true_size);

/* One line of description out of a tool's input: description, query, pattern … or empty. */
struct str capture_description(struct arena *a, const json *input);

/*
 * Takes "Exit code N" at the head of *output: returns N and moves *output behind that line; -1 when
 * it is not there.
 */
int capture_exit_code(struct str *output);

#endif
