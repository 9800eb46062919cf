#ifndef AGENTS_CODEX_ROLLOUT_H
#define AGENTS_CODEX_ROLLOUT_H

#include "agents/agent.h"

/* Rollouts of Codex CLI, for the row in codex.c; contracts as in agents/agent.h. */

int codex_transcript_recognise(const char *path, const char *head, size_t len);
bool codex_line_is_wanted(const char *line, size_t len);
struct transcript_reader *codex_reader_new(const char *path, const char *state);
int codex_reader_line(struct transcript_reader *r, struct arena *a, const json *line, uint64_t n,
	struct capture *ret, struct err *err);
void codex_reader_save(const struct transcript_reader *r, struct buf *out);
void codex_reader_free(struct transcript_reader *r);

#endif
