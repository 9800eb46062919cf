#ifndef AGENTS_CLAUDE_TRANSCRIPT_H
#define AGENTS_CLAUDE_TRANSCRIPT_H

#include "agents/agent.h"

/*
 * Transcripts of Claude Code 1.0 to 2.1, for the row in claude.c; contracts as in agents/agent.h.
 */

int claude_transcript_recognise(const char *path, const char *head, size_t len);
bool claude_line_is_wanted(const char *line, size_t len);
struct transcript_reader *claude_reader_new(const char *path, const char *state);
int claude_reader_line(struct transcript_reader *r, struct arena *a, const json *line, uint64_t n,
	struct capture *ret, struct err *err);
void claude_reader_save(const struct transcript_reader *r, struct buf *out);
void claude_reader_free(struct transcript_reader *r);

#endif
