#ifndef OPS_FRAME_H
#define OPS_FRAME_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "ops/ops.h"

/*
 * The frame around what is given to an agent, and the counting of what fits. Text from the store goes through frame_escape:
 * nothing in it can end the frame, start another of the agents' own blocks, or pose as a heading. Sizes are in UTF-16 units, as
 * Claude Code counts, and in bytes for Codex.
 */

#define FRAME_SECTIONS_MAX 8
#define FRAME_MEMORIES_MAX 256

struct frame {
	struct arena *arena;
	struct buf out;
	size_t used, max;        /* in the agent's units; max without what `reserved` holds */
	size_t reserved;         /* for the closing lines */
	size_t ceiling;          /* of the section that is open */
	bool counts_bytes;
	const char *heading;     /* written before the section's first line */
	struct context_section sections[FRAME_SECTIONS_MAX];
	size_t nsections;
	int64_t memories[FRAME_MEMORIES_MAX];
	size_t nmemories;
};

/* `closing` is what frame_close will add: its room is kept. */
void frame_open(struct frame *f, const char *opening, const char *closing);
void frame_close(struct frame *f, const char *closing);
/* Starts a section that may use `share` (0 to 1) of what is left. Nothing is written before its first line. */
void frame_section(struct frame *f, const char *name, const char *heading, double share);
/* Adds whole lines or nothing. False when they do not fit. */
bool frame_add(struct frame *f, const char *lines);
/* Records that this memory was given. */
void frame_gave(struct frame *f, int64_t memory);
bool frame_has(const struct frame *f, int64_t memory);
bool frame_is_empty(const struct frame *f); /* no section has a line */
size_t frame_measure(const struct frame *f, struct str text);

/* A copy that is safe inside the frame. */
char *frame_escape(struct arena *a, const char *text);
/* One line of at most `width` columns, safe. */
char *frame_line(struct arena *a, const char *text, size_t width);
/* Several lines of together at most `chars` characters, safe, each indented by `indent`, blank ones dropped; ends with a newline. "" for nothing. */
char *frame_block(struct arena *a, const char *text, size_t chars, const char *indent);

#endif
