/*
 * Shell commands of a turn: which are worth keeping, which failed and why, which commits they made,
 * which failures they mended.
 */

#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "observe/error_form.h"
#include "observe/turn_view.h"

#define COMMAND_TEXT_MAX 160
#define COMMANDS_MAX 400 /* kept per turn for judging */
#define ERROR_TEXT_MAX 200
#define OUTPUT_LOOK 16384 /* bytes of output searched for an error, from its end too */
#define MESSAGE_MAX 1200
#define FORM_RANK 4 /* a line that says what tool complains of what, before any other */

static const char *const shell_tools[] = { "Bash", "shell", "exec_command", "shell_command",
	"local_shell", "local_shell_call", "Execute", "run_shell_command", "bash",
	"container.exec" };

/* Commands that only look around, by their first word or two. */
static const char *const looking[] = { "ls", "cat", "grep", "rg", "find", "head", "tail", "wc",
	"sed", "echo", "pwd", "which", "cd", "sleep", "jq", "tree", "stat", "printf", "test",
	"true", "awk", "sort", "file", "du", "df", "ps", "env", "type", "date", "diff", "nl",
	"less", "more", "cut", "tr", "xargs", "for", "while", "if", "mkdir", "touch", "chmod",
	"export", "command", "realpath", "readlink", "basename", "git status", "git diff",
	"git log", "git show", "git branch", "git rev-parse", "git fetch", "git stash",
	"git remote", "git blame", "git ls-files", "git add", "git worktree", "git config",
	"git grep", "git ls-remote", "git merge-base", "git for-each-ref", "git rev-list",
	"git cat-file", "gh pr view", "gh pr diff", "gh pr checks", "gh pr list", "gh issue view",
	"gh issue list", "gh api", "gh run", "gh auth", "gh search", "bd show", "bd list",
	"bd ready", "tmux", "curl" };

/* Words of commands that check the work: what they say decides whether it is right. */
static const char *const checking[] = { "test", "pytest", "jest", "vitest", "check", "lint",
	"build", "tsc", "typecheck", "cargo", "clippy", "mypy", "ruff", "eslint", "make", "ninja",
	"gradle", "mvn", "ctest", "vet", "compile", "verify", "rspec", "phpunit", "swift",
	"xcodebuild", "dotnet", "tox", "biome", "golangci-lint" };

static const char *const failure_marks[] = { "--- FAIL", "\nFAIL", "FAILED",
	"error:", "Error:", "ERROR:", "error[", "panic:", "fatal:", "Traceback (most recent",
	"AssertionError", "npm ERR!", "ERR!", "✗", "✖", " failed", "undefined:", "cannot ",
	"xpected", "want ", "mismatch", "missing", "not found", "no such", "invalid", "should ",
	"denied", "unresolved", "undeclared", "undefined reference", "[rejected]", "[ERROR]",
	"is not ", "does not " };

/* ---- the command itself ---- */

static char *command_of(struct arena *a, const struct event *e)
{
	json *j = NULL, *c;
	char *ret = NULL;

	if (!e->input || json_parse(e->input, strlen(e->input), &j, NULL) < 0)
		return NULL;
	c = json_get(j, "command");
	c = c ? c : json_get(j, "cmd");
	if (json_type(c) == JSON_ARRAY && json_len(c))
		c = json_at(c, json_len(c) - 1);
	if (json_type(c) == JSON_STRING)
		ret = arena_str(a, json_value_str(c));
	json_free(j);
	return ret;
}

static struct str skip_word(struct str s)
{
	while (s.n && s.p[0] != ' ' && s.p[0] != '\n')
		s.p++, s.n--;
	return str_trim(s);
}

static bool starts_word(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && memcmp(s.p, word, n) == 0 &&
	       (s.n == n || s.p[n] == ' ' || s.p[n] == '\n' || s.p[n] == ';');
}

/* Without "cd somewhere &&", variables set for it, sudo, time and timeouts. */
static struct str strip_front(struct str s)
{
	for (unsigned round = 0; round < 6; round++) {
		const char *and_sign = starts_word(s, "cd") ? str_find(s, STR("&&")) : NULL;
		const char *eq = s.n ? memchr(s.p, '=', MIN(s.n, 40u)) : NULL;
		const char *line = starts_word(s, "cd") ? memchr(s.p, '\n', s.n) : NULL;
		size_t name = 0;

		while (eq && s.p + name < eq &&
			(isalnum((unsigned char)s.p[name]) || s.p[name] == '_'))
			name++;
		if (and_sign)
			s = str_trim(
				(struct str){ and_sign + 2, (size_t)(s.p + s.n - and_sign) - 2 });
		else if (line)
			s = str_trim((struct str){ line + 1, (size_t)(s.p + s.n - line) - 1 });
		else if (eq && s.p + name == eq && name)
			s = skip_word(s);
		else if (starts_word(s, "sudo") || starts_word(s, "time") || starts_word(s, "env"))
			s = skip_word(s);
		else if (starts_word(s, "timeout"))
			s = skip_word(skip_word(s));
		else if (s.n && s.p[0] == '#' && memchr(s.p, '\n', s.n))
			s = str_trim((struct str){ (const char *)memchr(s.p, '\n', s.n),
				s.n - (size_t)((const char *)memchr(s.p, '\n', s.n) - s.p) });
		else
			break;
	}
	return s;
}

/*
 * What is left of it when pipes into tail and redirections are taken off: equal for the same
 * command run again.
 */
static struct str strip_back(struct str s)
{
	static const char *const ends[] = { " 2>&1", " | ", " > ", " || ", " ;", "\n", " &&" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *at = str_find(s, str_of(ends[i]));

		if (at && at > s.p)
			s.n = (size_t)(at - s.p);
	}
	return str_trim(s);
}

/* "tool status", "tool list": the second word tells. */
static bool only_asks(struct str s)
{
	static const char *const words[] = { "status", "list", "show", "view", "help", "--help",
		"-h", "--version", "version", "log", "logs", "get", "info", "capture", "search" };
	struct str rest = skip_word(s);

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (starts_word(rest, words[i]))
			return true;
	return str_find(s, STR(" --help")) != NULL;
}

static bool only_looks(struct str s)
{
	if (only_asks(s))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(looking); i++)
		if (starts_word(s, looking[i]))
			return true;
	return s.n == 0 || s.p[0] == '[' || s.p[0] == '(';
}

/* The first line, without what only shortens its output. */
static struct str strip_shown(struct str s)
{
	static const char *const ends[] = { "\n", " 2>&1", " | tail", " | head" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *at = str_find(s, str_of(ends[i]));

		if (at && at > s.p)
			s.n = (size_t)(at - s.p);
	}
	return s;
}

static bool checks_work(struct str key)
{
	for (size_t i = 0; i < ARRAY_LEN(checking); i++) {
		const char *at = str_find(key, str_of(checking[i]));

		if (at && (at == key.p || !isalpha((unsigned char)at[-1])))
			return true;
	}
	return false;
}

/* ---- its failure ---- */

static bool output_tells_failure(struct str output)
{
	static const char *const failing[] = { "--- FAIL", "\nFAIL", "FAILED", "error[E",
		": error:", "npm ERR!", "Traceback (most recent", "panic: ", " failed, ",
		" failing", "Tests failed", "build failed", "compilation failed", "undefined: " };

	for (size_t i = 0; i < ARRAY_LEN(failing); i++)
		if (str_find(output, str_of(failing[i])))
			return true;
	return false;
}

static struct str look_window(const char *output)
{
	size_t n = strlen(output);

	return n > OUTPUT_LOOK ? (struct str){ output + n - OUTPUT_LOOK, OUTPUT_LOOK }
			       : (struct str){ output, n };
}

static bool line_tells_error(struct str line)
{
	for (size_t i = 0; i < ARRAY_LEN(failure_marks); i++) {
		struct str mark = str_of(
			failure_marks[i][0] == '\n' ? failure_marks[i] + 1 : failure_marks[i]);

		if (str_find(line, mark))
			return line.n > mark.n + 4;
	}
	return false;
}

/* "src/a.c:12:3: …": a compiler's way to say it. */
static bool line_has_place(struct str line)
{
	const char *colon = line.n ? memchr(line.p, ':', MIN(line.n, 120u)) : NULL;

	return colon && colon > line.p + 2 && colon + 2 < line.p + line.n &&
	       isdigit((unsigned char)colon[1]) && memchr(line.p, '.', (size_t)(colon - line.p)) &&
	       !memchr(line.p, ' ', (size_t)(colon - line.p));
}

static bool line_tells_success(struct str line)
{
	static const char *const starts[] = { "(pass)", "✓", "✔", "ok ", "PASS", "--- PASS",
		"=== RUN", "Compiling", "Downloading" };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (line.n > strlen(starts[i]) && memcmp(line.p, starts[i], strlen(starts[i])) == 0)
			return true;
	return str_find(line, STR(" INFO ")) || str_find(line, STR(" DEBUG "));
}

/* "× text ━━━━━━": what terminals draw around it says nothing. */
static struct str without_frame(struct str line)
{
	const char *rule = str_find(line, STR("━━"));

	if (rule && rule > line.p + 8)
		line = str_trim((struct str){ line.p, (size_t)(rule - line.p) });
	while (line.n && ((unsigned char)line.p[0] >= 0x80 || line.p[0] == ' '))
		line.p++, line.n--;
	if (line.n > 8 && memcmp(line.p + line.n - 7, "FIXABLE", 7) == 0)
		line = str_trim((struct str){ line.p, line.n - 7 });
	return line;
}

static const char *error_line(struct arena *a, const char *output)
{
	struct str rest, line, best = { 0 };
	const struct error_form *form;
	int rank, best_rank = 0;

	if (!output)
		return NULL;
	rest = look_window(output);
	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n < 8 || str_find(line, STR("Exit code")) == line.p)
			continue;
		if (line_tells_success(line))
			continue;
		form = error_form_of(line);
		rank = (line_has_place(line) && line.n > 24) + 2 * line_tells_error(line) +
		       (form ? FORM_RANK * (form->worth != WORTH_ONCE) : 0);
		if (rank > best_rank) {
			best = line;
			best_rank = rank;
		}
	}
	return best.n ? one_line(a, without_frame(best), ERROR_TEXT_MAX) : NULL;
}

/* ---- commits ---- */

/* "[main 1a2b3c4] Subject" or "[branch (root-commit) 1a2b3c4] Subject" in git's answer. */
static bool parse_commit_line(struct arena *a, struct str line, struct commit *ret)
{
	const char *close = line.n > 10 && line.p[0] == '[' ? memchr(line.p, ']', line.n) : NULL;
	const char *hash = close;

	if (!close || close + 2 >= line.p + line.n || close[1] != ' ')
		return false;
	while (hash > line.p && isxdigit((unsigned char)hash[-1]))
		hash--;
	if (close - hash < 7 || close - hash > 40 || hash[-1] != ' ')
		return false;
	ret->hash = arena_dup(a, hash, (size_t)(close - hash));
	ret->subject =
		one_line(a, (struct str){ close + 2, (size_t)(line.p + line.n - close) - 2 }, 200);
	return true;
}

static bool is_trailer(struct str line)
{
	return str_find(line, STR("Co-Authored-By")) || str_find(line, STR("Co-authored-by")) ||
	       str_find(line, STR("Generated with")) || str_find(line, STR("Signed-off-by"));
}

/* The message after its subject, from the command that made it. */
static const char *commit_body(struct arena *a, const char *command, const char *subject)
{
	const char *at = strstr(command, subject), *end;
	struct str rest, line;
	char *out;
	size_t n = 0;

	if (!at)
		return NULL;
	at += strlen(subject);
	end = strstr(at, "\nEOF");
	if (!end)
		end = strstr(at, "\"");
	if (!end || end <= at || end - at > MESSAGE_MAX)
		return NULL;
	out = arena_alloc(a, (size_t)(end - at) + 1);
	rest = (struct str){ at, (size_t)(end - at) };
	while (str_line(&rest, &line)) {
		if (is_trailer(line))
			continue;
		memcpy(out + n, line.p, line.n);
		n += line.n;
		out[n++] = '\n';
	}
	line = str_trim((struct str){ out, n });
	return line.n > 20 ? arena_dup(a, line.p, line.n) : NULL;
}

static void add_commits(
	struct turn_view *v, const struct event *e, size_t order, const char *command)
{
	struct str rest = str_of(e->output), line;

	while (str_line(&rest, &line)) {
		struct commit c = { .event = e, .order = order };

		if (!parse_commit_line(v->a, line, &c) || str_starts(c.subject, "Merge "))
			continue;
		c.body = commit_body(v->a, command, c.subject);
		ARENA_PUSH(v->a, v->commits, v->ncommits, v->commits_cap, c);
	}
}

/* ---- the turn ---- */

void turn_command_add(struct turn_view *v, const struct event *e, size_t order)
{
	struct command c = { .event = e, .order = order };
	struct str all, front;
	char *command;

	if (!name_is_any(e->tool, shell_tools, ARRAY_LEN(shell_tools)) ||
		v->ncommands >= COMMANDS_MAX)
		return;
	command = command_of(v->a, e);
	if (!command)
		return;
	all = str_trim(str_of(command));
	front = strip_front(all);
	c.key = arena_dup(v->a, front.p, strip_back(front).n);
	c.text = one_line(v->a, strip_shown(front), COMMAND_TEXT_MAX);
	c.is_telling = !only_looks(front);
	c.moves_files = starts_word(front, "git mv") || starts_word(front, "git rm") ||
			starts_word(front, "mv") || starts_word(front, "git revert") ||
			starts_word(front, "git cherry-pick");
	c.is_check = c.is_telling && checks_work(str_of(c.key));
	c.failed = e->status == STATUS_FAILED || e->exit_code > 0;
	if (e->output && c.is_check && !c.failed && output_tells_failure(look_window(e->output)))
		c.failed = true;
	if (c.failed && c.is_telling)
		c.error = error_line(v->a, e->output);
	if (strstr(command, "git ") && strstr(command, "commit") && e->output)
		add_commits(v, e, order, command);
	ARENA_PUSH(v->a, v->commands, v->ncommands, v->commands_cap, c);
}

bool turn_did_work(const struct turn_view *v)
{
	for (size_t i = 0; i < v->ncommands; i++)
		if (v->commands[i].moves_files && !v->commands[i].failed)
			return true;
	return v->nmodified || v->ncommits;
}

static bool edited_between(const struct turn_view *v, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind == EVENT_TOOL && e->writes_files && e->nfiles &&
			e->status != STATUS_FAILED && e->status != STATUS_DENIED)
			return true;
	}
	return false;
}

/* The last failure of a check before it first passed again, with edits between. */
void turn_repairs_find(struct turn_view *v)
{
	for (size_t i = 0; i < v->ncommands; i++) {
		const struct command *failed = &v->commands[i];

		if (!failed->failed || !failed->is_check || !failed->error)
			continue;
		for (size_t j = i + 1; j < v->ncommands; j++) {
			const struct command *later = &v->commands[j];

			if (strcmp(later->key, failed->key) != 0)
				continue;
			if (!later->failed && edited_between(v, failed->order, later->order)) {
				struct repair r = { failed, later };

				ARENA_PUSH(v->a, v->repairs, v->nrepairs, v->repairs_cap, r);
			}
			break;
		}
	}
}
