/* get: whole records, each as a small page. */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define BODY_INDENT 2
#define OUTPUT_LINES_MAX 40 /* of a tool's output; `--json` has it all */
#define EVIDENCE_REF_WIDTH 8
#define EVIDENCE_ROLE_WIDTH 9

static void part(struct client *c, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	term_newline(&c->term);
	if (heading) {
		term_put(&c->term, NAME, heading);
		term_newline(&c->term);
	}
	term_wrap(&c->term, PLAIN, text, BODY_INDENT);
}

/* A long text's head; what is left out is counted. */
static void long_part(struct client *c, const char *heading, const char *text)
{
	struct str rest = str_of(text), line;
	size_t lines = 0, all = 0;

	if (!rest.n)
		return;
	const char *end = rest.p + rest.n;
	while (str_line(&rest, &line))
		if (++all == OUTPUT_LINES_MAX)
			end = line.p + line.n;
	lines = MIN(all, (size_t)OUTPUT_LINES_MAX);
	part(c, heading, arena_dup(&c->term.arena, text, (size_t)(end - text)));
	if (all > lines) {
		term_indent(&c->term, BODY_INDENT);
		term_printf(&c->term, DIM, "… %zu more lines (--json shows all)", all - lines);
		term_newline(&c->term);
	}
}

static void list_part(struct client *c, const char *heading, const json *array)
{
	size_t n = json_len(array);

	if (!n)
		return;
	term_newline(&c->term);
	term_put(&c->term, NAME, heading);
	term_newline(&c->term);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_value_str(json_at(array, i));
		term_wrap(&c->term, PLAIN, arena_printf(&c->term.arena, "• %s", text ? text : ""),
			BODY_INDENT);
	}
}

static void commands_part(struct client *c, const json *commands)
{
	struct term *t = &c->term;

	if (!json_len(commands))
		return;
	term_newline(t);
	term_put(t, NAME, "Commands");
	term_newline(t);
	for (size_t i = 0; i < json_len(commands); i++) {
		const json *one = json_at(commands, i);
		const char *status = json_str(one, "status");
		bool is_bad = status && strcmp(status, "failed") == 0;
		term_indent(t, BODY_INDENT);
		term_put(t, is_bad ? BAD : GOOD, is_bad ? "✗ " : "✓ ");
		const char *command = json_str(one, "command");
		struct str cut = { command, term_cut(str_of(command), t->width - BODY_INDENT - 2) };
		term_slice(t, PLAIN, cut);
		term_newline(t);
	}
}

static void files_part(struct client *c, const json *files)
{
	struct term *t = &c->term;

	if (!json_len(files))
		return;
	term_newline(t);
	term_put(t, NAME, "Files");
	term_newline(t);
	for (size_t i = 0; i < json_len(files); i++) {
		const json *file = json_at(files, i);
		bool is_object = json_type(file) == JSON_OBJECT;
		term_indent(t, BODY_INDENT);
		term_put(t, PLAIN, is_object ? json_str(file, "path") : json_value_str(file));
		if (is_object && json_str(file, "role"))
			term_printf(t, DIM, "  %s", json_str(file, "role"));
		term_newline(t);
	}
}

static void evidence_part(struct client *c, const json *evidence)
{
	struct term *t = &c->term;
	int indent = BODY_INDENT + EVIDENCE_REF_WIDTH + EVIDENCE_ROLE_WIDTH;

	if (!json_len(evidence))
		return;
	term_newline(t);
	term_put(t, NAME, "Evidence");
	term_newline(t);
	for (size_t i = 0; i < json_len(evidence); i++) {
		const json *one = json_at(evidence, i);
		term_indent(t, BODY_INDENT);
		term_cell(t, REF, json_str(one, "ref"), EVIDENCE_REF_WIDTH, false);
		term_cell(t, DIM, json_str(one, "role"), EVIDENCE_ROLE_WIDTH, false);
		term_cell(t, PLAIN, json_str(one, "excerpt"), t->width - indent, false);
		term_newline(t);
	}
}

static void head(struct client *c, const json *r)
{
	struct term *t = &c->term;
	const char *type = json_str(r, "type"), *kind = json_str(r, "kind"),
		   *title = json_str(r, "title");

	term_put(t, REF, json_str(r, "ref"));
	term_indent(t, 2);
	term_put(t, render_type_style(type && *type ? type : kind), type && *type ? type : kind);
	if (type && *type && kind && strcmp(type, kind) != 0)
		term_printf(t, DIM, " %s", kind);
	if (json_bool(r, "pinned", false))
		term_put(t, GOOD, "  pinned");
	if (json_bool(r, "suspect", false))
		term_printf(t, WARN, "  suspect: %s",
			json_str(r, "suspect_reason") ? json_str(r, "suspect_reason")
						      : "its files changed since");
	term_newline(t);
	term_wrap(t, BOLD, title, 0);
	term_wrap(t, DIM, json_str(r, "subtitle"), 0);
}

/* "2026-11-29 17:15 (2 days ago)" */
static const char *moment(struct client *c, int64_t at)
{
	struct arena *a = &c->term.arena;

	return at > 0 ? arena_printf(a, "%s (%s)", clock_minute(a, at), render_ago(c, at)) : NULL;
}

static const char *place(struct client *c, const json *r)
{
	struct arena *a = &c->term.arena;
	const char *project = json_str(r, "project"), *branch = json_str(r, "branch");

	if (!project)
		return branch;
	return branch && *branch ? arena_printf(a, "%s, branch %s", project, branch) : project;
}

static const char *session(struct client *c, const json *r)
{
	struct arena *a = &c->term.arena;
	const char *ref = json_str(r, "session"), *agent = json_str(r, "agent"),
		   *id = json_str(r, "agent_session");

	return ref ? arena_printf(a, "%s %s %s", ref, agent ? agent : "", id ? id : "") : NULL;
}

/* Only where it tells something: a colleague's, or one's own that is shared. */
static const char *author(struct client *c, const json *r)
{
	const char *name = json_str(r, "author"), *visibility = json_str(r, "visibility");
	bool is_own = json_bool(r, "own", true), is_team = visibility && strcmp(visibility, "team") == 0;

	if (!is_own)
		return name;
	return is_team ? arena_printf(&c->term.arena, "%s, shared with the team", name && *name ? name : "you") : NULL;
}

static const char *certainty(struct client *c, const json *r)
{
	struct arena *a = &c->term.arena;
	const char *status = json_str(r, "status"), *origin = json_str(r, "origin"),
		   *model = json_str(r, "model");

	if (json_type(json_get(r, "confidence")) == JSON_NULL)
		return NULL;
	return arena_printf(a, "%.0f %%%s%s%s%s%s%s", 100 * json_real(r, "confidence", 0),
		origin ? ", by " : "", origin ? origin : "", model ? " " : "", model ? model : "",
		status && strcmp(status, "active") != 0 ? ", " : "",
		status && strcmp(status, "active") != 0 ? status : "");
}

/* "said by prompt .55, repetition +.14, said 3 times in 2 sessions": what the number is made of. */
static const char *reckoning(struct client *c, const json *parts)
{
	static const char *const names[] = { "words", "outcome", "repetition", "contradiction",
		"ungrounded" };
	AUTO(buf_done) struct buf out = { 0 };
	int64_t times = json_int(parts, "times", 0), sessions = json_int(parts, "sessions", 0);

	if (!parts || json_type(parts) != JSON_OBJECT)
		return NULL;
	buf_printf(&out, "%s %.2f", json_str(parts, "said_by") ? json_str(parts, "said_by") : "?",
		json_real(parts, "who", 0));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_get(parts, names[i]))
			buf_printf(&out, ", %s %+.2f", names[i], json_real(parts, names[i], 0));
	buf_printf(&out, "; %s in %s", render_plural(c, times, "time", "times"),
		render_plural(c, sessions, "session", "sessions"));
	return arena_str(&c->term.arena, buf_cstr(&out));
}

static void memory_page(struct client *c, const json *r)
{
	render_field(c, "when", moment(c, json_int(r, "at", 0)));
	render_field(c, "project", place(c, r));
	render_field(c, "session", session(c, r));
	if (json_str(r, "namespace")) {
		render_field(c, "namespace", json_str(r, "namespace"));
		render_field(c, "file", arena_printf(&c->term.arena, "%s:%lld", json_str(r, "file"), (long long)json_int(r, "line", 0)));
		render_field(c, "section", json_str(r, "section"));
	}
	render_field(c, "author", author(c, r));
	render_field(c, "confidence", certainty(c, r));
	render_field(c, "reckoned as", reckoning(c, json_get(r, "confidence_parts")));
	render_field(c, "concepts", render_join(c, json_get(r, "concepts"), NULL, 20));
	if (json_str(r, "superseded_by"))
		render_field(c, "superseded by", json_str(r, "superseded_by"));
	if (json_str(r, "body") &&
		!(json_str(r, "title") && strcmp(json_str(r, "title"), json_str(r, "body")) == 0))
		part(c, NULL, json_str(r, "body"));
	part(c, "Request", json_str(r, "request"));
	part(c, "Investigated", json_str(r, "investigated"));
	part(c, "Learned", json_str(r, "learned"));
	part(c, "Completed", json_str(r, "completed"));
	part(c, "Next steps", json_str(r, "next_steps"));
	part(c, "Notes", json_str(r, "notes"));
	list_part(c, "Facts", json_get(r, "facts"));
	commands_part(c, json_get(r, "commands"));
	files_part(c, json_get(r, "files"));
	evidence_part(c, json_get(r, "evidence"));
}

static void event_page(struct client *c, const json *r)
{
	struct arena *a = &c->term.arena;
	const char *status = json_str(r, "status");
	int64_t exit_code = json_int(r, "exit_code", -1);

	render_field(c, "when", moment(c, json_int(r, "at", 0)));
	render_field(c, "project", place(c, r));
	render_field(c, "session", session(c, r));
	render_field(c, "folder", json_str(r, "cwd"));
	if (status && strcmp(status, "unknown") != 0)
		render_field(c, "status",
			exit_code >= 0 ? arena_printf(a, "%s, exit status %lld", status,
						 (long long)exit_code)
				       : status);
	render_field(c, "key", json_str(r, "key"));
	long_part(c, NULL, json_str(r, "text"));
	long_part(c, "Input", json_str(r, "input"));
	long_part(c, "Diff", json_str(r, "diff"));
	long_part(c, "Output", json_str(r, "output"));
	files_part(c, json_get(r, "files"));
}

static void session_page(struct client *c, const json *r)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;
	const json *summaries = json_get(r, "summaries");

	render_field(c, "agent",
		arena_printf(a, "%s %s", json_str(r, "agent") ? json_str(r, "agent") : "",
			json_str(r, "agent_session") ? json_str(r, "agent_session") : ""));
	render_field(c, "project", place(c, r));
	render_field(c, "folder", json_str(r, "cwd"));
	render_field(c, "model", json_str(r, "model"));
	render_field(c, "started", moment(c, json_int(r, "started_at", 0)));
	render_field(c, "last event", moment(c, json_int(r, "last_event_at", 0)));
	render_field(c, "ended", moment(c, json_int(r, "ended_at", 0)));
	render_field(c, "transcript", json_str(r, "transcript"));
	render_field(c, "holds",
		arena_printf(a, "%s events, %s memories", term_count(a, json_int(r, "events", 0)),
			term_count(a, json_int(r, "memories", 0))));
	if (json_int(r, "tokens_out", 0))
		render_field(c, "tokens",
			arena_printf(a, "%s in, %s out", term_count(a, json_int(r, "tokens_in", 0)),
				term_count(a, json_int(r, "tokens_out", 0))));
	if (json_len(summaries))
		term_newline(t);
	for (size_t i = 0; i < json_len(summaries); i++) {
		const json *s = json_at(summaries, i);
		term_indent(t, BODY_INDENT);
		term_cell(t, REF, json_str(s, "ref"), EVIDENCE_REF_WIDTH, false);
		term_cell(t, PLAIN, json_str(s, "title"),
			t->width - BODY_INDENT - EVIDENCE_REF_WIDTH, false);
		term_newline(t);
	}
}

void render_get(struct client *c, const json *reply)
{
	const json *records = json_get(reply, "records"), *missing = json_get(reply, "missing");

	for (size_t i = 0; i < json_len(records); i++) {
		const json *r = json_at(records, i);
		const char *ref = json_str(r, "ref");
		if (i)
			buf_str(&c->term.out, "\n");
		head(c, r);
		if (ref && *ref == 'e')
			event_page(c, r);
		else if (ref && *ref == 's')
			session_page(c, r);
		else
			memory_page(c, r);
	}
	if (json_len(missing))
		render_footer(c, arena_printf(&c->term.arena, "Not there: %s",
					 render_join(c, missing, "ref", 20)));
}
