#ifndef AGENTS_CLAUDE_QUEUE_H
#define AGENTS_CLAUDE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

/*
 * Prompts typed while Claude Code works. They are queued; then they become a user line of their own
 * (dequeue), or are handed to the running turn (remove), which newer versions also write down as an
 * attachment and older ones do not. A prompt that was removed and not written down by the next
 * message is told from here. At most CLAUDE_QUEUE_MAX are remembered. Owned by one reader.
 */

#define CLAUDE_QUEUE_MAX 16
#define CLAUDE_QUEUE_TEXT_MAX (64u << 10)

enum queued_state { QUEUED_WAITING, QUEUED_WRITTEN /* by an attachment */, QUEUED_HANDED };

struct queued_prompt {
	char *text; /* heap */
	int64_t at;
	uint64_t line; /* of the removal, for an id */
	enum queued_state state;
};

struct claude_queue {
	struct queued_prompt items[CLAUDE_QUEUE_MAX];
	size_t n;
};

/* operation: "enqueue", "dequeue", "remove", "popAll"; others change nothing. */
void claude_queue_operation(
	struct claude_queue *q, const char *operation, struct str text, int64_t at, uint64_t line);
/*
 * A prompt with this text was written down: as an attachment (before or after its removal), or as a
 * user line.
 */
void claude_queue_written(struct claude_queue *q, struct str text, bool is_attachment);
/*
 * The next handed prompt that was not written down; false when there is none. It stays until
 * claude_queue_drop.
 */
struct queued_prompt *claude_queue_handed(struct claude_queue *q);
void claude_queue_drop(struct claude_queue *q, struct queued_prompt *item);
void claude_queue_print(const struct claude_queue *q, struct jw *w, const char *key);
void claude_queue_load(struct claude_queue *q, const json *list);
void claude_queue_done(struct claude_queue *q);

#endif
