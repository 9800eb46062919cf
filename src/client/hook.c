/*
 * The hot path: what runs here runs at every tool call of every session. No JSON is parsed, no
 * settings file is read unless the hook asks, nothing is waited for but standard input. The
 * deadline of asking counts from the start of the process.
 */
#include "client/hook.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/agent.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/start.h"
#include "conf/settings.h"
#include "wire/client.h"
#include "wire/spool.h"

#define CAPTURE_BUFFER (256u << 10)
#define RETRY_MS 3
#define HAND_OVER_MS 20
#define US_PER_MS 1000ull
#define ANSWER_MAX (1u << 20)
#define ASK_MS_DEFAULT 300
#define HTTP_OK 200

struct hook {
	struct paths paths;
	const char *home; /* --home, or NULL */
	const struct agent *agent;
	const struct agent_hook *row; /* NULL: an event that we do not know */
	struct hook_input in;
	char name[SPOOL_NAME_MAX];
	bool is_stored;
	uint64_t started_us;
	uint64_t deadline_us;
	struct arena arena;
};

/* Our own observer's traffic, or a run that wants to be left alone. */
static bool is_ignored(void)
{
	const char *ignore = getenv("REMANENCE_IGNORE"), *observer = getenv("REMANENCE_OBSERVER");

	return (ignore && *ignore && strcmp(ignore, "0") != 0) || (observer && *observer);
}

/*
 * "--home DIR" or "--home=DIR" may stand anywhere; the first two other words are agent and event.
 */
static void read_args(struct hook *h, int n, char **args)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(args[i], "--home") == 0 && i + 1 < n)
			h->home = args[++i];
		else if (str_starts(args[i], "--home="))
			h->home = args[i] + strlen("--home=");
		else if (args[i][0] == '-')
			continue;
		else if (!h->in.agent)
			h->in.agent = args[i];
		else if (!h->in.event)
			h->in.event = args[i];
	}
}

static void print_all(const char *data, size_t len)
{
	if (len)
		file_write_all(STDOUT_FILENO, data, len);
}

/* What this agent takes as "nothing": no bytes for most. */
static void print_nothing(const struct hook *h)
{
	AUTO(buf_done) struct buf out = { .max = ANSWER_MAX };

	if (!h->agent || !h->in.event || !h->agent->answer)
		return;
	h->agent->answer(h->in.event, NULL, &out);
	print_all(out.data, out.len);
}

static int64_t ask_ms(const struct hook *h)
{
	struct settings *s = NULL;
	int64_t ms = ASK_MS_DEFAULT;

	if (!getenv("REMANENCE_HOOK_ASK_MS") && access(h->paths.settings, R_OK) < 0)
		return ms;
	if (settings_load(h->paths.settings, &s, NULL, NULL) < 0)
		return ms;
	ms = settings_int(s, SET_HOOK_ASK_MS);
	settings_free(s);
	return ms;
}

static const char *const *ask_headers(struct hook *h)
{
	static char cwd[SPOOL_HEADER_MAX];
	static const char *list[6];
	struct arena *a = &h->arena;
	char *folder = getcwd(NULL, 0);

	spool_percent_encode(folder ? folder : "", cwd, sizeof cwd);
	free(folder);
	list[0] = arena_printf(a, "X-Remanence-Agent: %s", h->agent->name);
	list[1] = arena_printf(a, "X-Remanence-Event: %s", h->row->event);
	list[2] = arena_printf(a, "X-Remanence-At: %lld", (long long)h->in.at);
	list[3] = arena_printf(a, "X-Remanence-Cwd: %s", cwd);
	list[4] = h->is_stored ? arena_printf(a, "X-Remanence-Spool: %s", h->name) : NULL;
	return list;
}

/* Nobody listens: starts the daemon if it is time, and says whether to try again. */
static bool ask_again(struct hook *h, bool *was_started)
{
	enum start_result result = START_RECENT;
	struct err err = { 0 };

	if (!*was_started) {
		*was_started = true;
		if (start_gently(&h->paths, &result, &err) < 0) {
			hook_log(&h->paths, &h->in, err.text);
			return false;
		}
		if (result == START_TOO_SOON)
			return false;
		if (result == START_DONE)
			h->deadline_us =
				MAX(h->deadline_us, h->started_us + HOOK_START_ASK_MS * US_PER_MS);
	}
	clock_sleep_us(RETRY_MS * 1000);
	return clock_mono_us() < h->deadline_us;
}

/*
 * An older daemon is asked to leave; nobody waits for that, and the next hook starts its successor.
 */
static void hand_over(struct hook *h)
{
	struct wire_request q = { .method = "POST",
		.path = "/api/stop",
		.body = "{}",
		.body_len = 2,
		.deadline_us = clock_mono_us() + HAND_OVER_MS * US_PER_MS };
	struct wire_reply reply;

	wire_call(h->paths.socket, &q, &reply, NULL);
	wire_reply_done(&reply);
}

/* Asks the daemon and prints its answer. False when there was none to print. */
static bool ask(struct hook *h)
{
	struct wire_request q = { .method = "POST",
		.path = "/ask",
		.body = h->in.payload,
		.body_len = h->in.payload_len,
		.headers = ask_headers(h) };
	bool was_started = false, is_answered = false;

	h->deadline_us = h->started_us + (uint64_t)ask_ms(h) * US_PER_MS;
	for (;;) {
		struct wire_reply reply;
		struct err err = { 0 };
		q.deadline_us = h->deadline_us;
		int result = wire_call(h->paths.socket, &q, &reply, &err);
		is_answered = result == 0 && reply.is_whole && reply.status == HTTP_OK &&
			      reply.body.len > 0;
		if (is_answered && clock_mono_us() < h->deadline_us)
			print_all(reply.body.data, reply.body.len);
		else
			is_answered = false;
		if (result == 0 && start_should_replace(&h->paths, reply.build))
			hand_over(h);
		wire_reply_done(&reply);
		if (result == 0 && was_started)
			start_succeeded(&h->paths);
		if (result == 0 || err.code != ERR_UNAVAILABLE || !ask_again(h, &was_started))
			return is_answered;
	}
}

/* Tells the daemon that the spool holds something; starts it when nobody listens. */
static void knock(struct hook *h)
{
	enum start_result result;
	struct err err = { 0 };
	int why = 0, fd = wire_connect(h->paths.socket, true, &why);

	if (fd >= 0)
		close(fd);
	else if ((why == ECONNREFUSED || why == ENOENT) &&
		 start_gently(&h->paths, &result, &err) < 0)
		hook_log(&h->paths, &h->in, err.text);
}

/* The hook of every tool call must not wait for an answer that only a failure could have. */
static bool is_worth_asking(const struct hook *h)
{
	if (!h->in.payload || !h->in.payload_len)
		return false;
	for (const char *const *m = h->row->marks; m && *m; m++)
		if (memmem(h->in.payload, h->in.payload_len, *m, strlen(*m)))
			return true;
	return !h->row->marks;
}

static void run(struct hook *h)
{
	bool asks = h->row && h->row->ask != ASK_NONE;
	bool captures = !h->row || h->row->captures;
	size_t limit = asks ? HOOK_ASK_BODY_MAX : CAPTURE_BUFFER;
	struct err err = { 0 };

	spool_name(h->in.at, h->name);
	h->in.name = h->name;
	if (!captures)
		hook_read(&h->in, limit);
	else if (hook_store(&h->paths, &h->in, limit, &h->arena, &err) == 0)
		h->is_stored = true;
	else
		hook_log(&h->paths, &h->in, err.text);
	if (!asks || !is_worth_asking(h) || !ask(h))
		print_nothing(h);
	if (h->is_stored)
		knock(h);
}

int hook_main(int n, char **args, const char *home)
{
	struct hook h = { .started_us = clock_mono_us(), .home = home };
	struct err err = { 0 };

	h.in.at = clock_now();
	signal(SIGPIPE, SIG_IGN);
	read_args(&h, n, args);
	if (h.in.agent)
		h.agent = agent_find(h.in.agent);
	if (h.agent && h.in.event)
		h.row = agent_hook_find(h.agent, h.in.event);
	if (is_ignored() || paths_init(&h.paths, h.home, &h.arena, &err) < 0) {
		hook_drain();
		print_nothing(&h);
	} else if (!h.agent || !h.in.event) {
		hook_drain();
		hook_log(
			&h.paths, &h.in, h.agent ? "no event was named" : "there is no such agent");
		print_nothing(&h);
	} else {
		run(&h);
	}
	arena_done(&h.arena);
	return 0;
}
