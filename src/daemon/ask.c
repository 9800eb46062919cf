#include "daemon/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/problem.h"
#include "daemon/daemon.h"
#include "ops/ops.h"
#include "wire/spool.h"

#define STATUS_OK 200

static const char *const ask_places[] = {
	[ASK_START] = "start", [ASK_PROMPT] = "prompt", [ASK_FILE] = "file",
	[ASK_EDIT] = "edit", [ASK_COMMAND] = "command", [ASK_FAILURE] = "failure"
};

static void header_fill(const struct ask_request *q, struct spool_header *h)
{
	*h = (struct spool_header){ .payload_len = q->body_len };
	snprintf(h->agent, sizeof(h->agent), "%s", q->agent ? q->agent : "");
	snprintf(h->event, sizeof(h->event), "%s", q->event ? q->event : "");
	snprintf(h->cwd, sizeof(h->cwd), "%s", q->cwd ? q->cwd : "");
	h->at = q->at ? strtoll(q->at, NULL, 10) : 0;
	if (h->at <= 0)
		h->at = clock_now();
}

/* Who asks, by the header; ERR_USAGE. */
static int agent_of(const struct ask_request *q, const struct agent **ret, struct err *err)
{
	const struct agent *agent = agent_find(q->agent);
	if (!agent || !agent->ask_read || !agent->answer)
		return err_set(err, ERR_USAGE, "there is no agent '%.64s' that asks",
			q->agent ? q->agent : "");
	*ret = agent;
	return 0;
}

/* The text for this question; no text when there is nothing to say. */
static int context_find(struct op_call *call, const struct agent *agent, const struct ask *ask,
	struct context_result *ret, struct err *err)
{
	struct context_request r = {
		.cwd = call->cwd,
		.agent_session = ask->agent_session,
		.source = ask->source,
		.prompt = ask->prompt,
		.file = ask->file,
		.command = ask->command,
		.error = ask->error,
		.branch = ask->branch,
		.agent = agent->id,
		.ask = ask->kind,
	};
	if (call_project(call, &r.project, err))
		return -1;
	if (ask->agent_session &&
		store_session_find(call->store, agent->id, ask->agent_session, &r.session, err))
		return -1;
	return context_build(call, &r, ret, err);
}

static struct injection_note *note_make(const struct agent *agent, const struct ask *ask,
	const struct context_result *r, int64_t at)
{
	if (!r->n || !ask->agent_session)
		return NULL;
	struct injection_note *n = mem_alloc(sizeof(*n));
	n->agent = agent->id;
	n->agent_session = mem_strdup(ask->agent_session);
	n->where = ask_places[ask->kind];
	n->at = at;
	n->memories = mem_dup(r->memories, r->n * sizeof(*r->memories));
	n->n = r->n;
	n->chars = (int64_t)r->chars;
	return n;
}

static int answer(struct daemon *d, const struct ask_request *q, struct reader *reader,
	struct buf *out, struct injection_note **ret_note, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(json_free_ptr) json *payload = NULL;
	AUTO(mem_free_ptr) struct spool_header *h = mem_alloc(sizeof(*h));
	const struct agent *agent = NULL;
	struct ask ask = { 0 };
	struct context_result result = { 0 };
	if (agent_of(q, &agent, err) || json_parse(q->body, q->body_len, &payload, err))
		return -1;
	header_fill(q, h);
	agent->ask_read(&a, h, payload, &ask);
	if (ask.kind == ASK_NONE) {
		agent->answer(h->event, NULL, out);
		return 0;
	}
	struct op_call call = {
		.arena = &a,
		.store = reader->store,
		.index = follow_index(d->follow),
		.settings = current_settings(d->current),
		.paths = &d->paths,
		.services = &d->services,
		.analyser = reader->analyser,
		.cwd = ask.cwd && *ask.cwd ? ask.cwd : q->cwd,
		.started_us = q->started_us,
	};
	int failed = context_find(&call, agent, &ask, &result, err);
	if (!failed) {
		agent->answer(h->event, buf_cstr(&result.text), out);
		*ret_note = note_make(agent, &ask, &result, h->at);
	}
	buf_done(&result.text);
	return failed;
}

int ask_run(struct daemon *d, const struct ask_request *q, struct buf *out,
	struct injection_note **ret_note)
{
	struct err err = { 0 };
	struct reader *reader = NULL;
	*ret_note = NULL;
	int failed = readers_lend(d->readers, &reader, &err);
	if (!failed)
		failed = answer(d, q, reader, out, ret_note, &err);
	readers_return(d->readers, reader);
	if (!failed)
		return STATUS_OK;
	log_debug("a hook's question was not answered: %s", err.text);
	return error_write_plain(&err, 0, out);
}

void ask_answered(struct daemon *d, struct injection_note *note)
{
	int64_t waited = clock_now() - note->at;
	bool is_cold = clock_now() - d->started_at < ASK_COLD_MS;
	int64_t patience = settings_int(current_settings(d->current), SET_HOOK_ASK_MS);
	if (waited > (is_cold ? MAX(patience, ASK_COLD_MS) : patience)) {
		injection_note_free(note);
		return;
	}
	injections_add(d->injections, note);
	drain_poke(d->drain);
}
