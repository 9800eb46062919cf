#ifndef AGENTS_ROWS_H
#define AGENTS_ROWS_H

#include "agents/agent.h"

/* The rows of the table in agents.c, one per agent, each defined in the agent's own file. */

extern const struct agent agent_claude;
extern const struct agent agent_codex;
extern const struct agent agent_factory;

#endif
