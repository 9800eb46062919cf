/* The queue of prompts of one transcript, oldest first; see claude_queue.h. */

#include "agents/claude_queue.h"

#include <string.h>

#include "base/mem.h"

void claude_queue_drop(struct claude_queue *q, struct queued_prompt *item)
{
	size_t at = (size_t)(item - q->items);
	free(item->text);
	memmove(item, item + 1, (q->n - at - 1) * sizeof(*item));
	q->items[--q->n] = (struct queued_prompt){ 0 };
}

static struct queued_prompt *queue_first(struct claude_queue *q, enum queued_state state)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->items[i].state == state)
			return &q->items[i];
	return NULL;
}

static struct queued_prompt *queue_add(struct claude_queue *q, struct str text, int64_t at)
{
	if (q->n == CLAUDE_QUEUE_MAX)
		claude_queue_drop(q, &q->items[0]);
	struct queued_prompt *item = &q->items[q->n++];
	item->text = mem_dup(text.p, utf8_cut(text.p, text.n, CLAUDE_QUEUE_TEXT_MAX));
	item->at = at;
	return item;
}

void claude_queue_operation(
	struct claude_queue *q, const char *operation, struct str text, int64_t at, uint64_t line)
{
	struct queued_prompt *item;
	if (!operation)
		return;
	if (!strcmp(operation, "enqueue") && text.n) {
		queue_add(q, text, at);
	} else if (!strcmp(operation, "dequeue")) {
		if ((item = queue_first(q, QUEUED_WAITING)))
			claude_queue_drop(q, item);
	} else if (!strcmp(operation, "remove")) {
		if ((item = queue_first(q, QUEUED_WRITTEN))) {
			claude_queue_drop(q, item);
		} else if ((item = queue_first(q, QUEUED_WAITING))) {
			item->state = QUEUED_HANDED;
			item->line = line;
			item->at = at ? at : item->at;
		}
	} else if (!strcmp(operation, "popAll")) {
		while ((item = queue_first(q, QUEUED_WAITING)))
			claude_queue_drop(q, item);
	}
}

void claude_queue_written(struct claude_queue *q, struct str text, bool is_attachment)
{
	for (size_t i = 0; i < q->n; i++) {
		struct queued_prompt *item = &q->items[i];
		if (item->state == QUEUED_WRITTEN || !str_is(text, item->text))
			continue;
		if (is_attachment && item->state == QUEUED_WAITING)
			item->state = QUEUED_WRITTEN;
		else
			claude_queue_drop(q, item);
		return;
	}
}

struct queued_prompt *claude_queue_handed(struct claude_queue *q)
{
	return queue_first(q, QUEUED_HANDED);
}

void claude_queue_print(const struct claude_queue *q, struct jw *w, const char *key)
{
	jw_array(w, key);
	for (size_t i = 0; i < q->n; i++) {
		jw_object(w, NULL);
		jw_str(w, "text", q->items[i].text);
		jw_int(w, "at", q->items[i].at);
		jw_int(w, "line", (int64_t)q->items[i].line);
		jw_int(w, "state", q->items[i].state);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void claude_queue_load(struct claude_queue *q, const json *list)
{
	for (size_t i = 0; i < json_len(list); i++) {
		const json *j = json_at(list, i);
		int64_t state = json_int(j, "state", 0);
		struct queued_prompt *item =
			queue_add(q, json_slice(json_get(j, "text")), json_int(j, "at", 0));
		item->line = (uint64_t)json_int(j, "line", 0);
		item->state = state >= QUEUED_WAITING && state <= QUEUED_HANDED
				      ? (enum queued_state)state
				      : QUEUED_WAITING;
	}
}

void claude_queue_done(struct claude_queue *q)
{
	while (q->n)
		claude_queue_drop(q, &q->items[q->n - 1]);
}
