/*
 * Facts in what was done, whatever was said: errors that were solved, and commands that are used
 * here. A failure and the pass that ends it may lie in two turns of a session; each turn tells its
 * half, and the halves of one command are joined when facts are merged.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/error_form.h"
#include "observe/fact_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define COMMAND_SHOWN_MAX 70
#define COMMAND_KEY_MAX 90
#define ERROR_SHOWN_MAX 110
#define FIX_MAX 200
#define FIXES_MAX 6 /* of one turn */
#define FIXED_FILES_MAX 3

/* What a test that is being written says of its subject is no error of the environment. */
static bool is_assertion(const char *error)
{
	static const char *const marks[] = { "AssertionError", "assert ", " expected", "Expected ",
		"--- FAIL", "want ", "FAIL ", "failed,", "Error Trace", "should ", "got ", "toBe",
		"not equal" };

	return contains_any(error, marks, ARRAY_LEN(marks));
}

/* Is this word a path, a number, a hash or a time? Then what it says differs each time. */
static bool is_variable(struct str w)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < w.n; i++) {
		digits += isdigit((unsigned char)w.p[i]) != 0;
		hex += isxdigit((unsigned char)w.p[i]) != 0;
	}
	if (w.n >= 3 && (w.p[0] == 'E' || w.p[0] == 'T') && digits && digits + 2 >= w.n - 1)
		return false; /* E0502, TS2345 */
	return (digits && digits * 2 >= w.n) || (w.n >= 7 && hex == w.n && digits);
}

/* The signature of an error: what is the same when it comes again. */
static char *signature_of(struct arena *a, const char *error)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = str_of(error), w;

	while (str_split(&rest, ' ', &w) && out.len < FACT_SUBJECT_MAX) {
		const char *slash = NULL;

		while (w.n && strchr("'\"`()[],;:", w.p[w.n - 1]))
			w.n--;
		while (w.n && strchr("'\"`()[],;:", w.p[0]))
			w.p++, w.n--;
		for (size_t i = 0; i < w.n; i++)
			if (w.p[i] == '/')
				slash = w.p + i;
		if (slash)
			w = (struct str){ slash + 1, (size_t)(w.p + w.n - slash) - 1 };
		/* "parser.c:12:3" is another place each time. */
		const char *colon = w.n ? memchr(w.p, ':', w.n) : NULL;
		if (colon && colon + 1 < w.p + w.n && isdigit((unsigned char)colon[1]))
			continue;
		if (!w.n || is_variable(w))
			continue;
		buf_printf(&out, "%s%.*s", out.len ? " " : "", (int)w.n, w.p);
	}
	return text_lower(a, (struct str){ buf_cstr(&out), out.len });
}

/* ---- what was changed between ---- */

static bool writes(const struct event *e)
{
	return e->kind == EVENT_TOOL && e->writes_files && e->nfiles &&
	       e->status != STATUS_FAILED && e->status != STATUS_DENIED;
}

/* Words of a command line, as the shell parts them. */
static bool has_words(struct arena *a, const char *key, const char *const *words, size_t n)
{
	const char *padded = arena_printf(a, " %s ", key);

	for (size_t i = 0; i < n; i++)
		if (strstr(padded, arena_printf(a, " %s ", words[i])))
			return true;
	return false;
}

/* Commands between that change the world: installs, migrations, services. */
static const struct command *remedy_between(
	const struct turn_view *v, size_t from, size_t to, bool is_format)
{
	static const char *const remedies[] = { "install", "add", "go get", "go mod", "sync",
		"update", "upgrade", "docker compose", "docker start", "systemctl", "service",
		"migrate", "chmod", "git config", "git pull", "git stash", "git fetch",
		"git rebase", "init", "kill", "brew", "apt", "apt-get", "corepack", "nvm",
		"rm -rf node_modules", "git remote set-url", "generate", "restart", "up",
		"corepack enable" };
	static const char *const formatters[] = { "format", "fmt", "gofmt", "black", "--write",
		"--fix", "-w" };
	const struct command *best = NULL;

	for (size_t i = 0; i < v->ncommands; i++) {
		const struct command *c = &v->commands[i];

		bool is_one = is_format ? has_words(v->a, c->key, formatters, ARRAY_LEN(formatters))
					: has_words(v->a, c->key, remedies, ARRAY_LEN(remedies));

		if (c->order + 1 > from + 1 && c->order < to && !c->failed && c->is_telling &&
			is_one)
			best = c;
	}
	return best;
}

static void add_fixed_files(struct turn_view *v, struct fact_candidate *c, size_t from, size_t to)
{
	for (size_t i = 0; i < v->nfiles; i++)
		for (size_t k = from + 1; k < to && v->files[i].is_modified; k++) {
			const struct event *e = &v->in->events[k];

			if (!writes(e) ||
				strcmp(path_base(e->files[0]), path_base(v->files[i].path)) != 0)
				continue;
			candidate_file(v, c, v->files[i].path, ROLE_MODIFIED);
			candidate_evidence(
				v, c, e, "fix", str_of(e->diff ? e->diff : v->files[i].path));
			break;
		}
}

/* Does the sentence speak of this error, by one of its own words? */
static bool speaks_of(struct turn_view *v, const struct told *t, const char *signature)
{
	struct str rest = str_of(signature), w;

	while (word_next(&rest, &w))
		if (w.n > 4 && !word_is_generic(w) && strstr(t->lower, arena_dup(v->a, w.p, w.n)))
			return true;
	return false;
}

static const char *fix_sentence(struct turn_view *v, const char *signature)
{
	struct told_list list;

	if (!*signature)
		return NULL;
	told_find(v, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct told *t = &list.items[i];
		struct sentence s;

		if (t->text.n > FIX_MAX || !speaks_of(v, t, signature))
			continue;
		s = sentence_judge(t->text);
		if (s.traits & (TRAIT_QUESTION | TRAIT_INTENT | TRAIT_LEAD_IN | TRAIT_STATUS |
				       TRAIT_POINTER))
			continue;
		if (s.traits & TRAIT_DEED || t->section == SECTION_CAUSE)
			return fact_title(v->a, t->text);
	}
	return NULL;
}

static char *files_text(struct turn_view *v, const struct fact_candidate *c)
{
	AUTO(buf_done) struct buf out = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < c->nfiles && n < FIXED_FILES_MAX; i++) {
		const char *base = path_base(c->files[i].path);

		if (out.len && strstr(buf_cstr(&out), base))
			continue;
		buf_printf(&out, "%s%s", n++ ? ", " : "", base);
	}
	return arena_dup(v->a, buf_cstr(&out), out.len);
}

/* Sets the fix, as body: NULL when nothing was changed between. */
static void set_fix(struct turn_view *v, struct fact_candidate *c, const struct seen_error *error,
	size_t from, size_t to)
{
	const struct error_form *form = error_form_of(str_of(error->line));
	const struct command *remedy =
		remedy_between(v, from, to, form && form->worth == WORTH_FORMAT);
	const char *said, *changed;
	bool is_fix;

	add_fixed_files(v, c, from, to);
	changed = change_text(v, from, to, error, &is_fix);
	said = c->nfiles ? fix_sentence(v, error->signature) : NULL;
	if (said)
		c->body = said;
	else if (remedy)
		c->body = arena_printf(v->a, "running `%s`",
			one_line(v->a, str_of(remedy->text), COMMAND_SHOWN_MAX));
	else if (is_fix)
		c->body = changed;
	else if (c->nfiles)
		c->body = arena_printf(v->a, "changing %s", files_text(v, c));
	if (remedy)
		candidate_evidence(v, c, remedy->event, "fix", str_of(remedy->text));
	/* Files changed on the way to a pass are a weak sign without a word about the error. */
	if (!said && !remedy && !is_fix)
		c->strength = 0;
}

static int64_t chain_of(const char *command_key)
{
	int64_t chain = fact_topic_of("chain", command_key);

	return chain ? chain : 1;
}

static const struct command *next_run(const struct turn_view *v, size_t i, bool wants_pass)
{
	for (size_t j = i + 1; j < v->ncommands; j++)
		if (strcmp(v->commands[j].key, v->commands[i].key) == 0 &&
			(!wants_pass || !v->commands[j].failed))
			return &v->commands[j];
	return NULL;
}

/* Without the place, which is another one each time: "[task] src/a.c:12:3: …", "a.ts(3,5): …". */
static struct str without_place(struct str error)
{
	const char *close = error.n && error.p[0] == '[' ? memchr(error.p, ']', error.n) : NULL;
	struct str rest = error;

	if (close && close + 2 < error.p + error.n && close[1] == ' ' &&
		islower((unsigned char)error.p[1]))
		rest = str_trim((struct str){ close + 1, (size_t)(error.p + error.n - close) - 1 });
	const char *end = str_find(rest, STR(": "));
	bool has_digit = false, has_dot = false;
	for (const char *p = rest.p; end && p < end; p++) {
		if (*p == ' ')
			return rest;
		has_digit |= isdigit((unsigned char)*p) && p > rest.p && strchr(":(,", p[-1]);
		has_dot |= *p == '.';
	}
	if (end && has_digit && has_dot && end + 10 < rest.p + rest.n)
		rest = (struct str){ end + 2, (size_t)(rest.p + rest.n - end) - 2 };
	return rest;
}

/* It failed before in this turn, and fails still: what was done between did not help. */
static void set_attempt(
	struct turn_view *v, struct fact_candidate *c, const char *signature, size_t i)
{
	const struct seen_error error = { v->commands[i].error, signature };
	int strength = c->strength;

	for (size_t j = 0; j < i; j++)
		if (v->commands[j].failed && strcmp(v->commands[j].key, v->commands[i].key) == 0) {
			set_fix(v, c, &error, v->commands[j].order, v->commands[i].order);
			break;
		}
	c->strength = strength;
}

static void add_failure(
	struct turn_view *v, const struct fact_rule *rule, struct rules_output *out, size_t i)
{
	const struct command *failed = &v->commands[i], *passed = next_run(v, i, true);
	const struct error_form *form = error_form_of(str_of(failed->error));
	struct fact_candidate c;
	const char *signature;

	if (!form || is_assertion(failed->error))
		return;
	signature = signature_of(v->a, failed->error);
	if (strlen(signature) < 12)
		return;
	c = candidate_begin(rule, failed->event, failed->event->key, TRUST_TOOL);
	c.subject = arena_printf(v->a, "%s: %s", form->tool, signature);
	c.value = "";
	c.title = arena_printf(v->a, "`%s` (%s)",
		one_line(v->a, without_place(str_of(failed->error)), ERROR_SHOWN_MAX),
		one_line(v->a, str_of(failed->text), COMMAND_SHOWN_MAX));
	c.strength = form->worth == WORTH_ONCE ? 0 : 1;
	c.part = passed ? PART_WHOLE : PART_FAILURE;
	c.chain = chain_of(failed->key);
	candidate_evidence(v, &c, failed->event, "failure", str_of(failed->error));
	if (passed) {
		const struct seen_error error = { failed->error, signature };

		set_fix(v, &c, &error, failed->order, passed->order);
		c.strength = form->worth == WORTH_ONCE ? 0 : c.strength;
		c.outcome = 1;
		candidate_evidence(v, &c, passed->event, "pass", str_of(passed->text));
	}
	if (!passed)
		set_attempt(v, &c, signature, i);
	/* It passed with nothing changed: it was not solved, it went away. */
	if (!passed || c.body)
		candidate_add(v, out, &c);
}

/* The first run of a command in this turn passes, after something was changed: perhaps the end of
 * a failure of an earlier turn. */
static void add_pass(
	struct turn_view *v, const struct fact_rule *rule, struct rules_output *out, size_t i)
{
	const struct command *passed = &v->commands[i];
	struct fact_candidate c;

	for (size_t j = 0; j < i; j++)
		if (strcmp(v->commands[j].key, passed->key) == 0)
			return;
	c = candidate_begin(rule, passed->event, passed->event->key, TRUST_TOOL);
	const struct seen_error unknown = { "", "" };

	set_fix(v, &c, &unknown, (size_t)-1, passed->order);
	if (!c.body)
		return;
	c.part = PART_PASS;
	c.chain = chain_of(passed->key);
	c.subject = "pass";
	c.topic = c.chain;
	c.value = "";
	c.title = one_line(v->a, str_of(passed->text), COMMAND_SHOWN_MAX);
	c.outcome = 1;
	candidate_evidence(v, &c, passed->event, "pass", str_of(passed->text));
	candidate_add(v, out, &c);
}

void fact_error_fix(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	size_t n = 0;

	for (size_t i = 0; i < v->ncommands && n < FIXES_MAX; i++) {
		const struct command *c = &v->commands[i];

		if (!c->is_telling || c->event->subagent)
			continue;
		if (c->failed && c->error && c->event->status != STATUS_DENIED) {
			const struct command *again = next_run(v, i, false);

			/* The last failure before it passes tells what was still wrong. */
			if (!again || !again->failed)
				add_failure(v, rule, out, i), n++;
		} else if (!c->failed && c->is_check && v->nmodified) {
			add_pass(v, rule, out, i);
		}
	}
}

/* ---- commands that are used here ---- */

static const struct {
	const char *words[12];
	const char *does;
} purposes[] = {
	{ { "test", "tests", "pytest", "jest", "vitest", "ctest", "rspec", "make check", "phpunit",
		  "tox", "tests/run" },
		"runs the tests" },
	{ { "lint", "clippy", "eslint", "ruff", "vet", "golangci-lint", "pylint", "shellcheck" },
		"checks the style" },
	{ { "fmt", "format", "prettier", "gofmt", "black", "gofumpt" }, "formats the code" },
	{ { "typecheck", "tsc", "mypy", "type-check", "pyright" }, "checks the types" },
	{ { "build", "compile", "package", "assemble", "make", "ninja", "cmake" }, "builds it" },
	{ { "install", "ci", "sync" }, "installs what it needs" },
	{ { "check", "verify" }, "checks it" },
	{ { "generate", "codegen" }, "generates code" },
	{ { "migrate" }, "migrates the database" },
	{ { "deploy" }, "deploys it" },
	{ { "dev", "serve", "start", "up" }, "starts it" },
};

static bool has_part(const char *key, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(key, word); at; at = strstr(at + 1, word)) {
		bool begins = at == key || !isalnum((unsigned char)at[-1]);
		bool ends = !isalnum((unsigned char)at[n]) || at[n] == '\0';

		if (begins && ends && (at == key || (at[-1] != '/' && at[-1] != '.')))
			return true;
	}
	return false;
}

static const char *purpose_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(purposes); i++)
		for (size_t k = 0; k < ARRAY_LEN(purposes[i].words) && purposes[i].words[k]; k++)
			if (has_part(key, purposes[i].words[k]))
				return purposes[i].does;
	return NULL;
}

/* A command that others can use again: one line, no text of the moment, nothing of this machine. */
static bool is_reusable(const char *key)
{
	static const char *const momentary[] = { "git commit", "/tmp/", "/home/", "/Users/", "<<",
		"$(", "gh pr", "gh issue", "git push", "git checkout", "git switch", "git merge",
		"git rebase", "sleep ", "kill", "rm ", "python -c", "python3 -c", "node -e",
		"bash -c", "C:\\", "\"", "'", "`", "git worktree", "git " };
	size_t n = strlen(key);

	return n >= 4 && n <= COMMAND_KEY_MAX && !strchr(key, '\n') && !strchr(key, '(') &&
	       !contains_any(key, momentary, ARRAY_LEN(momentary));
}

void fact_tool_pattern(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	for (size_t i = 0; i < v->ncommands; i++) {
		const struct command *first = &v->commands[i];
		const char *does;
		struct fact_candidate c;
		int64_t passes = 0, fails = 0;
		bool is_counted = false;

		if (!first->is_telling || !is_reusable(first->key))
			continue;
		for (size_t j = 0; j < i && !is_counted; j++)
			is_counted = strcmp(v->commands[j].key, first->key) == 0;
		does = is_counted ? NULL : purpose_of(first->key);
		if (!does)
			continue;
		for (size_t j = i; j < v->ncommands; j++)
			if (strcmp(v->commands[j].key, first->key) == 0) {
				passes += !v->commands[j].failed;
				fails += v->commands[j].failed;
			}
		c = candidate_begin(rule, first->event, first->key, TRUST_REPLY);
		c.subject = first->key;
		c.value = arena_printf(v->a, "%lld", (long long)fails);
		c.times = passes;
		c.outcome = passes > 0;
		c.title = arena_printf(v->a, "`%s` %s here", first->key, does);
		candidate_evidence(v, &c, first->event, "command", str_of(first->text));
		candidate_add(v, out, &c);
	}
}
