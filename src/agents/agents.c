/* The table of agents and how to find one. */

#include <string.h>

#include "agents/rows.h"
#include "base/mem.h"

const struct agent *const agents[] = { &agent_claude, &agent_codex, &agent_factory, NULL };

/* Below this nobody is sure enough to read a file as a transcript. */
#define AGENT_CONFIDENCE_MIN 20

const struct agent *agent_find(const char *name)
{
	for (size_t i = 0; name && agents[i]; i++)
		if (!strcmp(agents[i]->name, name))
			return agents[i];
	return NULL;
}

const struct agent *agent_by_id(enum agent_id id)
{
	for (size_t i = 0; agents[i]; i++)
		if (agents[i]->id == id)
			return agents[i];
	return NULL;
}

const struct agent_hook *agent_hook_find(const struct agent *agent, const char *event)
{
	for (const struct agent_hook *h = agent->hooks; h && event && h->event; h++)
		if (!strcmp(h->event, event))
			return h;
	return NULL;
}

const struct agent *agent_of_transcript(const char *path, const char *head, size_t len)
{
	const struct agent *best = NULL;
	int sure = AGENT_CONFIDENCE_MIN - 1;
	for (size_t i = 0; agents[i]; i++) {
		int n = agents[i]->transcript_recognise(path, head, len);
		if (n > sure) {
			sure = n;
			best = agents[i];
		}
	}
	return best;
}
