/*
 * A question to `codex app-server`: JSON-RPC lines on its standard input and output. It is killed
 * as soon as it has answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "build_id.h"
#include "client/wired.h"

#define REPLY_MAX (4u << 20)
#define LIST_ID 2
#define DEPTH_MAX 12

static bool is_on_path(const char *name)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str rest = str_of(getenv("PATH")), folder;

	while (str_split(&rest, ':', &folder))
		if (folder.n && access(arena_printf(&a, "%.*s/%s", (int)folder.n, folder.p, name),
					X_OK) == 0)
			return true;
	return false;
}

/* Starts it with pipes at both ends; *ret_in is where we write. */
static pid_t spawn(int *ret_in, int *ret_out)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("codex", "codex", "app-server", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	if (pid < 0) {
		close(in[1]);
		close(out[0]);
	}
	*ret_in = in[1];
	*ret_out = out[0];
	return pid;
}

static void questions(const char *cwd, struct buf *out)
{
	struct jw w = { .out = out };

	buf_str(out,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"clientInfo\":"
		"{\"name\":\"remanence\",\"title\":\"Remanence\",\"version\":\"" REMANENCE_VERSION
		"\"}}}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hooks/list\",\"params\":{\"cwds\":[");
	jw_str(&w, NULL, cwd);
	buf_str(out, "]}}\n");
}

/* Counts the objects that are hooks of ours, wherever they stand in the answer. */
static void count_hooks(
	const json *j, const char *executable, int depth, size_t *hooks, size_t *trusted)
{
	const char *command = json_str(j, "command"), *trust = json_str(j, "trustStatus");

	if (depth > DEPTH_MAX)
		return;
	if (command && trust && strstr(command, executable)) {
		(*hooks)++;
		*trusted += strcmp(trust, "trusted") == 0 || strcmp(trust, "managed") == 0;
		return;
	}
	for (size_t i = 0; i < json_len(j); i++)
		count_hooks(json_at(j, i), executable, depth + 1, hooks, trusted);
	if (json_type(j) == JSON_OBJECT)
		for (struct json_iter it = json_iter(j); json_next(&it);)
			count_hooks(it.value, executable, depth + 1, hooks, trusted);
}

/* Reads lines until the answer to LIST_ID has come. NULL at the deadline or the end. */
static json *read_answer(int fd, uint64_t deadline_us)
{
	AUTO(buf_done) struct buf text = { .max = REPLY_MAX };
	char piece[4096];

	for (;;) {
		uint64_t now = clock_mono_us();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (now >= deadline_us || poll(&p, 1, (int)((deadline_us - now) / 1000) + 1) <= 0)
			return NULL;
		ssize_t n = read(fd, piece, sizeof piece);
		if (n <= 0 || text.is_full)
			return NULL;
		buf_add(&text, piece, (size_t)n);
		const char *end;
		while (text.len && (end = memchr(text.data, '\n', text.len))) {
			size_t used = (size_t)(end - text.data) + 1;
			json *line = NULL;
			if (json_parse(text.data, used, &line, NULL) == 0 &&
				json_int(line, "id", 0) == LIST_ID && !json_str(line, "method"))
				return line;
			json_free(line);
			memmove(text.data, text.data + used, text.len - used);
			buf_cut(&text, text.len - used);
		}
	}
}

int codex_hooks_trusted(
	struct client *c, const char *executable, size_t *ret_hooks, size_t *ret_trusted)
{
	AUTO(buf_done) struct buf input = { 0 };
	int in, out;

	if (!is_on_path("codex"))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	pid_t pid = spawn(&in, &out);
	if (pid < 0)
		return -1;
	questions(c->cwd, &input);
	json *answer = file_write_all(in, input.data, input.len) == 0
			       ? read_answer(out, clock_mono_us() + CODEX_ASK_MS * 1000ull)
			       : NULL;
	close(in);
	close(out);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	bool is_told = json_type(json_get(answer, "result")) == JSON_OBJECT;
	*ret_hooks = *ret_trusted = 0;
	count_hooks(json_get(answer, "result"), executable, 0, ret_hooks, ret_trusted);
	json_free(answer);
	return is_told ? 0 : -1;
}
