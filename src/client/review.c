/*
 * review on a terminal: a card, one key, the next card. The terminal gives single keys only while
 * one is waited for, and is put back on every way out, signals included; nothing else is asked of
 * it, so that any terminal will do, over any line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"
#include "client/render.h"

/* As bytes, since the terminal makes no signals of them while a key is waited for. */
#define KEY_INTERRUPT 3
#define KEY_END 4
#define KEY_ESCAPE 27
#define ESCAPE_REST_MS 30 /* the rest of an arrow key's bytes comes at once */
#define REVIEW_MAX 1000   /* in one sitting */
#define EDIT_MAX (64u << 10)
#define EDIT_MODE 0600

static struct termios cooked; /* what the terminal was before */

static void restore_and_die(int sig)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
	signal(sig, SIG_DFL);
	raise(sig);
}

static const int deadly[] = { SIGTERM, SIGHUP, SIGQUIT };

static bool keys_begin(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &cooked) < 0)
		return false;
	raw = cooked;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
		signal(deadly[i], restore_and_die);
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

static void keys_end(void)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
	for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
		signal(deadly[i], SIG_DFL);
}

/* What an arrow or function key sends after its escape is no answer. */
static void skip_sequence(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte = 0;

	for (int i = 0; poll(&in, 1, ESCAPE_REST_MS) > 0; i++) {
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return;
		bool is_opening = i == 0 && (byte == '[' || byte == 'O');
		if (!is_opening && byte >= '@' && byte <= '~')
			return;
	}
}

/* One key, lower case; 'q' when the person leaves or the terminal is gone. */
static char read_key(void)
{
	char key = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, &key, 1)) < 0 && errno == EINTR)
		;
	if (n == 1 && key == KEY_ESCAPE)
		skip_sequence();
	if (n <= 0 || key == KEY_INTERRUPT || key == KEY_END)
		return 'q';
	return key >= 'A' && key <= 'Z' ? (char)(key - 'A' + 'a') : key;
}

/* --- Editing: in the person's editor, or on a line where none is named. --- */

static int run_editor(const char *editor, const char *path)
{
	extern char **environ;
	AUTO(buf_done) struct buf command = { 0 };
	pid_t child;
	int status;

	buf_printf(&command, "exec %s \"$1\"", editor);
	const char *const words[] = { "sh", "-c", command.data, "sh", path, NULL };
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, (char *const *)words, environ) != 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int edit_in_editor(
	struct client *c, const char *editor, const char *old, struct buf *ret, struct err *err)
{
	const char *path = arena_printf(&c->arena, "%s/review-%d.md", c->paths.run, (int)getpid());

	unlink(path);
	if (file_write(path, old, strlen(old), EDIT_MODE, err) < 0)
		return -1;
	int result = run_editor(editor, path) < 0
			     ? err_set(err, ERR_INTERNAL, "the editor '%s' failed", editor)
			     : file_read(path, EDIT_MAX, ret, err);
	unlink(path);
	return result;
}

static void edit_on_a_line(struct buf *ret)
{
	char *line = NULL;
	size_t room = 0;

	fprintf(stderr, "New text (nothing keeps it): ");
	if (getline(&line, &room, stdin) > 0)
		buf_str(ret, line);
	free(line);
	clearerr(stdin);
}

/* The new text, or NULL when it stays. */
static const char *edit(struct client *c, const json *item)
{
	AUTO(buf_done) struct buf text = { .max = EDIT_MAX };
	const char *editor = getenv("VISUAL"), *old = json_str(item, "text");
	struct err err = { 0 };

	if (!old || !*old)
		old = json_str(item, "title");
	if (!editor || !*editor)
		editor = getenv("EDITOR");
	if (!editor || !*editor)
		edit_on_a_line(&text);
	else if (edit_in_editor(c, editor, old ? old : "", &text, &err) < 0)
		client_fail(c, &err);
	struct str new = str_trim((struct str){ buf_cstr(&text), text.len });
	if (!new.n || (old && str_eq(new, str_trim(str_of(old)))))
		return NULL;
	return arena_dup(&c->arena, new.p, new.n);
}

/* --- Deciding. --- */

static const struct answer {
	char key;
	const char *word, *action; /* NULL: nothing is decided */
	const char *said;
} answers[] = {
	{ 'a', "approve", "approve", "approved" },
	{ 'r', "reject", "reject", "rejected" },
	{ 'e', "edit", "edit", "changed" },
	{ 's', "skip", NULL, "skipped" },
	{ 'q', "quit", NULL, NULL },
};
enum { ANSWER_COUNT = ARRAY_LEN(answers) };

static const struct answer *find_answer(char key)
{
	for (size_t i = 0; i < ANSWER_COUNT; i++)
		if (answers[i].key == key)
			return &answers[i];
	return NULL;
}

static int decide(struct client *c, const json *item, const char *action, const char *text,
	struct err *err)
{
	AUTO(buf_done) struct buf params = { 0 };
	AUTO(json_free_ptr) json *reply = NULL;
	struct jw w = { .out = &params };

	jw_object(&w, NULL);
	jw_str(&w, "ref", json_str(item, "ref"));
	jw_str(&w, "action", action);
	if (text)
		jw_str(&w, "text", text);
	jw_end(&w, '}');
	return client_ask(c, "review", buf_cstr(&params), &reply, err);
}

static void show_keys(struct client *c)
{
	struct term *t = &c->term;

	for (size_t i = 0; i < ANSWER_COUNT; i++) {
		term_printf(t, MARK, "%c", answers[i].key);
		term_printf(t, DIM, " %s%s", answers[i].word, i + 1 < ANSWER_COUNT ? "   " : " ");
	}
	term_flush(t);
}

static const struct answer *ask(struct client *c)
{
	const struct answer *answer;

	/* Before the keys are shown, so that nothing typed at their sight is lost or a signal. */
	bool has_keys = keys_begin();
	show_keys(c);
	while (!(answer = find_answer(has_keys ? read_key() : 'q')))
		;
	keys_end();
	term_put(&c->term, DIM, "→ ");
	term_put(&c->term, GOOD, answer->said && answer->key != 'e' ? answer->said : answer->word);
	term_newline(&c->term);
	term_flush(&c->term);
	return answer;
}

/* False when the person leaves. */
static bool review_one(
	struct client *c, const json *item, const char *progress, size_t counts[ANSWER_COUNT])
{
	struct err err = { 0 };

	render_review_card(c, item, progress);
	for (;;) {
		const struct answer *answer = ask(c);
		const char *text = answer->key == 'e' ? edit(c, item) : NULL;
		if (answer->key == 'q')
			return false;
		if (answer->key == 'e' && !text) {
			term_put(&c->term, DIM, "Nothing was changed.");
			term_newline(&c->term);
			continue;
		}
		if (answer->action && decide(c, item, answer->action, text, &err) < 0)
			client_fail(c, &err);
		else
			counts[answer - answers]++;
		return true;
	}
}

static void say_what_was_done(struct client *c, const size_t counts[ANSWER_COUNT], int64_t left)
{
	struct term *t = &c->term;

	for (size_t i = 0; i < ANSWER_COUNT; i++)
		if (counts[i])
			term_printf(t, PLAIN, "%zu %s, ", counts[i], answers[i].said);
	if (left > 0)
		term_printf(t, PLAIN, "%s waiting.", term_count(&t->arena, left));
	else
		term_put(t, PLAIN, "nothing waits any more.");
	term_newline(t);
	term_flush(t);
}

static int review_all(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(json_free_ptr) json *reply = NULL;
	struct call call = { .op = c->op, .params = buf_cstr(&c->params) };
	size_t counts[ANSWER_COUNT] = { 0 }, i = 0;

	if (client_call(c, &call, &text, err) < 0 ||
		json_parse(text.data, text.len, &reply, err) < 0)
		return -1;
	const json *list = json_get(reply, "review");
	size_t n = MIN(json_len(list), (size_t)REVIEW_MAX);
	if (!n)
		return client_show(c, &text, err);
	bool goes_on = true;
	for (; i < n && goes_on; i++) {
		const char *progress = arena_printf(&c->arena, "%zu of %zu", i + 1, n);
		goes_on = review_one(c, json_at(list, i), progress, counts);
		if (goes_on)
			term_newline(&c->term);
	}
	int64_t decided = (int64_t)(counts[0] + counts[1] + counts[2]);
	say_what_was_done(c, counts, json_int(reply, "total", (int64_t)n) - decided);
	return 0;
}

static bool is_interactive(const struct client *c)
{
	return !c->is_json && !c->is_quiet && !json_str(c->given, "ref") &&
	       !json_bool(c->given, "rejected", false) && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

int local_review(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct call call = { .op = c->op, .params = buf_cstr(&c->params) };

	if (is_interactive(c))
		return review_all(c, err);
	return client_call(c, &call, &text, err) < 0 ? -1 : client_show(c, &text, err);
}
