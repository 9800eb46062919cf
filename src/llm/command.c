/*
 * Any program as a model: the question on its standard input, the answer on its standard output. It
 * is mostly a coding agent in its print mode, so its environment says that hooks are to be left out,
 * and hides from it that we may ourselves have been started by one.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/leash.h"
#include "base/mem.h"
#include "base/proc.h"
#include "llm/parts.h"

#define SHELL "/bin/sh"
#define CHECK_MS 5000
#define STATUS_NOT_FOUND 127
#define STATUS_NOT_RUNNABLE 126

/* Ends of "NAME=" that a child does not get; the last ones are set anew. */
static const char *const hidden[] = { "REMANENCE_OBSERVER_KEY",
	"CLAUDECODE=", "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CODE_SSE_PORT=", "CODEX_SANDBOX",
	"REMANENCE_IGNORE=", "REMANENCE_OBSERVER=" };

static bool is_hidden(const char *variable)
{
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (str_starts(variable, hidden[i]))
			return true;
	return false;
}

static const char *const *environment(struct arena *a)
{
	const char **list = NULL;
	size_t n = 0, cap = 0;

	for (char **e = environ; e && *e; e++)
		if (!is_hidden(*e))
			ARENA_PUSH(a, list, n, cap, *e);
	ARENA_PUSH(a, list, n, cap, "REMANENCE_IGNORE=1");
	ARENA_PUSH(a, list, n, cap, "REMANENCE_OBSERVER=1");
	ARENA_PUSH(a, list, n, cap, NULL);
	return list;
}

/* One text: a program has no system message. */
static void prompt(const struct llm_question *q, struct buf *out)
{
	question_in_words(q, out);
	buf_printf(out, "%s%s\n", out->len ? "\n\n" : "", q->user);
}

/* The end of what a program said, since the reason stands there. */
static const char *last_words(
	const struct buf *out, const struct buf *errors, char to[PROBLEM_TEXT_MAX])
{
	const struct buf *from = errors->len ? errors : out;
	struct str said = str_trim((struct str){ buf_cstr(from), from->len });
	size_t skip = said.n >= PROBLEM_TEXT_MAX ? said.n - PROBLEM_TEXT_MAX + 1 : 0;

	while (skip && skip < said.n && ((unsigned char)said.p[skip] & 0xC0) == 0x80)
		skip++;
	snprintf(to, PROBLEM_TEXT_MAX, "%.*s", (int)(said.n - skip), said.n ? said.p + skip : "");
	for (char *p = to; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return to;
}

static void take_failure(struct llm_answer *a, int status, const struct buf *errors)
{
	char words[PROBLEM_TEXT_MAX];
	bool is_too_long;

	last_words(&a->text, errors, words);
	a->outcome = status == STATUS_NOT_FOUND || status == STATUS_NOT_RUNNABLE
			     ? CALL_SETUP
			     : problem_class(0, words, &is_too_long);
	snprintf(a->detail, sizeof a->detail, "the command ended with status %d%s%s", status,
		*words ? ": " : "", words);
}

static void take_result(
	struct llm_answer *a, const struct leash_result *r, int total_ms, const struct buf *errors)
{
	a->first_byte_ms = r->first_byte_ms;
	a->total_ms = r->total_ms;
	if (r->end == LEASH_TIMEOUT) {
		a->outcome = CALL_TIMEOUT;
		snprintf(a->detail, sizeof a->detail, "the command did not end within %d ms",
			total_ms);
	} else if (r->end == LEASH_STOPPED) {
		a->outcome = CALL_ABORTED;
		snprintf(a->detail, sizeof a->detail, "the command was given up by us");
	} else if (r->end == LEASH_FULL) {
		a->outcome = CALL_CUT;
		a->is_cut = true;
		snprintf(a->detail, sizeof a->detail, "the command printed more than %u bytes",
			LLM_REPLY_MAX);
	} else if (r->status != 0) {
		take_failure(a, r->status, errors);
	} else if (!str_trim((struct str){ buf_cstr(&a->text), a->text.len }).n) {
		a->outcome = CALL_EMPTY;
		snprintf(a->detail, sizeof a->detail, "the command printed nothing");
	} else {
		a->outcome = CALL_OK;
	}
}

/* What a program prints may be cut inside a character, or be no text at all. */
static void repair(struct buf *text)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str had = { buf_cstr(text), text->len }, is;

	if (!text->len || utf8_is_valid(had.p, had.n))
		return;
	is = utf8_repair(&a, had);
	buf_cut(text, 0);
	buf_add(text, is.p, utf8_cut(is.p, is.n, LLM_REPLY_MAX));
}

void command_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf input = { 0 }, errors = { .max = 16 * PROBLEM_TEXT_MAX };
	const char *const argv[] = { SHELL, "-c", l->c.url, NULL };
	struct leash_result result;
	struct err err = { 0 };

	prompt(q, &input);
	ret->request_bytes = input.len;
	snprintf(ret->model, sizeof ret->model, "%s", *l->c.model ? l->c.model : "command");
	struct leash_run run = { .argv = argv,
		.cwd = l->c.folder ? l->c.folder : "/",
		.env = environment(&a),
		.input = buf_cstr(&input),
		.input_len = input.len,
		.total_ms = l->c.timeout_ms,
		.stop = q->stop };
	if (leash_run(&run, &ret->text, &errors, &result, &err) < 0) {
		ret->outcome = CALL_SETUP;
		snprintf(ret->detail, sizeof ret->detail, "%s", err.text);
		return;
	}
	take_result(ret, &result, l->c.timeout_ms, &errors);
	repair(&ret->text);
}

/* Nothing is run of it but the look for its first word. */
int command_check(struct llm *l, struct err *err)
{
	AUTO(buf_done) struct buf out = { .max = PROBLEM_TEXT_MAX };
	struct str rest = str_trim(str_of(l->c.url)), word;
	char name[PROBLEM_TEXT_MAX];
	int status = 0;

	str_split(&rest, ' ', &word);
	snprintf(name, sizeof name, "%.*s", (int)MIN(word.n, sizeof name), word.p);
	const char *const argv[] = { SHELL, "-c", "command -v -- \"$1\"", SHELL, name, NULL };
	struct proc_run run = { .argv = argv, .timeout_ms = CHECK_MS };
	/* A word with shell signs in it cannot be looked for. */
	if (strpbrk(name, "=$'\"(`;&|<>"))
		return 0;
	if (proc_run(&run, &out, NULL, &status, err) < 0)
		return -1;
	if (status != 0) {
		err_set(err, ERR_UPSTREAM, "there is no program '%s' for observer.url", name);
		return err_hint(err, "give its whole path: the daemon's PATH may not be yours");
	}
	return 0;
}
