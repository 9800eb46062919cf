/* Hook input of every agent and event: any JSON gives a capture or an error, and an answer that fits. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agents/agent.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const events[] = { "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop",
	"PreCompact", "PostCompact", "SessionEnd", "PreToolUse" };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf out = { 0 };
	struct spool_header h = { .at = 1764436500000, .cwd = "/srv/app" };
	struct capture capture = { 0 };
	struct ask ask = { 0 };
	const struct agent *agent;
	size_t n = 0;
	json *payload = NULL;

	if (size < 2)
		return 0;
	while (agents[n])
		n++;
	agent = agents[data[0] % n];
	strcpy(h.agent, agent->name);
	strcpy(h.event, events[data[1] % ARRAY_LEN(events)]);
	if (json_parse((const char *)data + 2, size - 2, &payload, NULL))
		return 0;
	if (agent->hook_read)
		agent->hook_read(&a, &h, payload, &capture, NULL);
	if (agent->ask_read)
		agent->ask_read(&a, &h, payload, &ask);
	if (agent->answer)
		agent->answer(h.event, arena_dup(&a, data, size), &out);
	json_free(payload);
	return 0;
}
