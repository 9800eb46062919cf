/* Transcripts of every agent: any lines, read at once or resumed in the middle from what the reader saved. */
#include <stddef.h>
#include <stdint.h>

#include "agents/agent.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = "/srv/u/.claude/projects/-srv-app/6f0e2c1a-0000-4000-8000-000000000001.jsonl";
	AUTO(arena_done) struct arena a = { 0 };
	struct transcript_reader *r;
	const struct agent *agent;
	struct str rest, line;
	size_t n = 0;

	if (!size)
		return 0;
	while (agents[n])
		n++;
	agent = agents[data[0] % n];
	if (!agent->reader_new)
		return 0;
	rest = (struct str){ (const char *)data + 1, size - 1 };
	agent->transcript_recognise(path, rest.p, rest.n);
	r = agent->reader_new(path, NULL);
	for (n = 1; str_line(&rest, &line); n++) {
		struct capture capture = { 0 };
		json *parsed = NULL;

		agent->line_is_wanted(line.p, line.n);
		if (!json_parse(line.p, line.n, &parsed, NULL))
			agent->reader_line(r, &a, parsed, n, &capture, NULL);
		json_free(parsed);
		if (n % 3 == 0) {
			AUTO(buf_done) struct buf state = { 0 };

			agent->reader_save(r, &state);
			agent->reader_free(r);
			r = agent->reader_new(path, buf_cstr(&state));
		}
	}
	agent->reader_free(r);
	return 0;
}
