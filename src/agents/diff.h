#ifndef AGENTS_DIFF_H
#define AGENTS_DIFF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "model/capture.h"

/*
 * Unified diffs out of what agents tell of an edit: Claude's structuredPatch, Codex's table of
 * changes, and the text of an apply_patch call. A diff stops at CAPTURE_DIFF_MAX on a line's end.
 * Pure.
 */

/* Claude: hunks {oldStart, oldLines, newStart, newLines, lines[]} of one file. */
struct str diff_of_hunks(struct arena *a, const char *path, const json *hunks);
/* A file made anew with this content. */
struct str diff_of_new_file(struct arena *a, const char *path, struct str content);
/* Codex: {"path": {"type": "add|update|delete", "unified_diff" | "content", "move_path"}}. */
struct str diff_of_changes(struct arena *a, const json *changes);
/* The text of an apply_patch call, "*** Begin Patch …". */
struct str diff_of_patch(struct arena *a, struct str patch);
/*
 * Adds the files that a patch's text names to the event, as written. False when the text holds no
 * patch.
 */
bool diff_patch_files(struct arena *a, struct str patch, struct captured_event *e);
/*
 * Unified diff between two texts with three lines of context, for showing edits of a configuration.
 */
void diff_texts(const char *path, struct str before, struct str after, struct buf *out);

#endif
