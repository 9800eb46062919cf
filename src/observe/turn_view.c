#include "observe/turn_view.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define REQUEST_MAX 400
#define ACCOUNT_MAX (32u << 10)
/* Bytes; a shorter account that says nothing is helped out by what was said on the way */
#define WEAK_ACCOUNT 120
#define TELLING_SCORE 2
#define TURN_FILES_MAX 2000 /* files told apart in one turn */
#define REPORT_MIN 400 /* bytes of a sub-agent's report worth a memory */

static const char *const book_tools[] = { "TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate",
	"TaskList", "TaskGet", "update_plan", "ToolSearch", "EnterPlanMode" };
static const char *const look_tools[] = { "Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch",
	"NotebookRead", "LSP", "view_image", "read_file", "list_dir", "grep_files" };
static const char *const agent_tools[] = { "Task", "Agent", "wait_agent", "wait" };

char *one_line(struct arena *a, struct str text, size_t max)
{
	char *out = arena_alloc(a, text.n + 4);
	size_t n = 0;

	text = str_trim(text);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((unsigned char)c <= ' ') {
			if (n && out[n - 1] != ' ')
				out[n++] = ' ';
		} else {
			out[n++] = c;
		}
		if (n > max + 8)
			break;
	}
	if (n > max) {
		size_t cut = utf8_cut(out, n, max);

		for (size_t back = cut; back > cut - MIN(cut, 30u); back--)
			if (out[back] == ' ') {
				cut = back;
				break;
			}
		memcpy(out + cut, "…", sizeof("…"));
		return out;
	}
	out[n] = '\0';
	return out;
}

/* ---- files ---- */

/*
 * Notes and plans that agents keep for themselves, and files of a moment, are no work on the
 * project.
 */
static bool is_scratch(const char *path)
{
	static const char *const parts[] = { "/tmp/", "/var/folders/", "/private/tmp/",
		"/.claude/plans/", "/.claude/projects/", "/.claude/todos/", "/scratchpad/",
		"/.codex/" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strncmp(path, parts[i], strlen(parts[i])) == 0 ||
			(i > 2 && strstr(path, parts[i])))
			return true;
	return false;
}

/*
 * In a linked worktree the same file has another path: what follows the worktree's folder is its
 * name in the project.
 */
static const char *below_worktree(const char *path)
{
	const char *at = strstr(path, "worktrees/"), *slash;
	bool is_hidden = at && ((at > path && at[-1] == '.') ||
				       (at >= path + 8 && memcmp(at - 8, ".claude/", 8) == 0));

	if (!at || !(path[0] == '/' || is_hidden))
		return path;
	slash = strchr(at + sizeof("worktrees/") - 1, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *turn_path(const struct turn_view *v, const struct event *e, const char *path)
{
	const char *roots[] = { v->in->project ? v->in->project->root : NULL, e->cwd,
		v->in->session ? v->in->session->cwd : NULL };

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		const char *below = roots[i] && roots[i][0] && strcmp(roots[i], "/") != 0
					    ? path_below(roots[i], path)
					    : NULL;

		if (below && *below)
			return below_worktree(below);
	}
	return below_worktree(path);
}

static struct touched_file *file_find(struct turn_view *v, const char *path)
{
	for (size_t i = 0; i < v->nfiles; i++)
		if (strcmp(v->files[i].path, path) == 0)
			return &v->files[i];
	return NULL;
}

static void add_files(struct turn_view *v, const struct event *e, size_t order)
{
	bool modifies = e->writes_files && e->status != STATUS_FAILED && e->status != STATUS_DENIED;

	for (size_t i = 0; i < e->nfiles; i++) {
		const char *path = e->files[i];
		struct touched_file *f, fresh = { 0 };

		if (is_scratch(path) || (e->writes_files && !modifies))
			continue;
		path = turn_path(v, e, path);
		f = file_find(v, path);
		if (!f && v->nfiles == TURN_FILES_MAX)
			return;
		if (!f) {
			fresh.path = path;
			ARENA_PUSH(v->a, v->files, v->nfiles, v->files_cap, fresh);
			f = &v->files[v->nfiles - 1];
			f->is_new = e->tool && strcmp(e->tool, "Write") == 0 && e->output &&
				    strstr(e->output, "created") != NULL;
		}
		if (modifies && !f->is_modified) {
			f->is_modified = true;
			v->nmodified++;
		}
		if (modifies || !f->is_modified) {
			f->event = e;
			f->order = order;
		}
	}
}

/* ---- sub-agents ---- */

static void add_report(struct turn_view *v, const struct event *e)
{
	struct report r = { .event = e, .task = e->text };
	struct str text = str_trim(str_of(e->output));

	if (text.n < REPORT_MIN || e->status == STATUS_FAILED ||
		str_find(text, STR("Async agent launched")))
		return;
	/* Some agents wrap the report in tags and counts. */
	const char *open = str_find(text, STR("<result>")),
		   *close = str_find(text, STR("</result>"));
	if (open && close > open)
		text = (struct str){ open + 8, (size_t)(close - open) - 8 };
	close = str_find(text, STR("\nagentId:"));
	text = close ? str_trim((struct str){ text.p, (size_t)(close - text.p) }) : text;
	if (text.p[0] == '<' || text.p[0] == '{')
		return;
	r.text = text;
	ARENA_PUSH(v->a, v->reports, v->nreports, v->reports_cap, r);
}

/* ---- texts ---- */

static void add_tool(struct turn_view *v, const struct event *e, size_t order)
{
	if (name_is_any(e->tool, book_tools, ARRAY_LEN(book_tools)))
		return;
	v->tools++;
	v->looks += name_is_any(e->tool, look_tools, ARRAY_LEN(look_tools));
	add_files(v, e, order);
	turn_command_add(v, e, order);
	if (e->subagent)
		return;
	turn_choice_add(v, e);
	if (name_is_any(e->tool, agent_tools, ARRAY_LEN(agent_tools)))
		add_report(v, e);
}

static bool is_book_event(const struct event *e)
{
	return e->kind == EVENT_TOOL && name_is_any(e->tool, book_tools, ARRAY_LEN(book_tools));
}

/* What was said on the way: sentences that tell something and announce nothing. */
static void add_telling(struct turn_view *v, struct buf *out, const struct event *e)
{
	struct blocks blocks;

	blocks_parse(v->a, str_of(e->text), &blocks);
	for (size_t i = 0; i < blocks.n; i++) {
		struct str rest = str_of(blocks.items[i].text), s;

		if (blocks.items[i].kind == BLOCK_CODE || blocks.items[i].kind == BLOCK_TABLE)
			continue;
		while (sentence_next(&rest, &s)) {
			struct sentence judged = sentence_judge(sentence_strip_reply(s));

			if (sentence_score(&judged) < TELLING_SCORE ||
				judged.traits & (TRAIT_LEAD_IN | TRAIT_INTENT) ||
				out->len + s.n > ACCOUNT_MAX)
				continue;
			buf_add(out, judged.text.p, judged.text.n);
			buf_str(out, "\n\n");
		}
	}
}

static bool says_something(struct turn_view *v, struct str account)
{
	struct candidates c = { 0 };
	struct blocks blocks;

	blocks_parse(v->a, account, &blocks);
	sections_mark(&blocks);
	candidates_add_reply(v->a, &c, &blocks, 0);
	for (size_t i = 0; i < c.n; i++)
		if (c.items[i].score >= TELLING_SCORE)
			return true;
	return false;
}

/* The replies of the main thread after its last step, as one text. */
static void make_account(struct turn_view *v)
{
	struct buf out = { .max = ACCOUNT_MAX };
	size_t from = 0;

	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (!e->subagent && e->kind == EVENT_TOOL && !is_book_event(e))
			from = i + 1;
	}
	for (size_t i = from; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind == EVENT_REPLY && !e->subagent && e->text) {
			buf_str(&out, e->text);
			buf_str(&out, "\n\n");
		}
	}
	if (out.len < WEAK_ACCOUNT && !says_something(v, (struct str){ buf_cstr(&out), out.len })) {
		for (size_t i = 0; i < from; i++)
			if (v->in->events[i].kind == EVENT_REPLY && !v->in->events[i].subagent &&
				v->in->events[i].text)
				add_telling(v, &out, &v->in->events[i]);
	}
	v->account = (struct str){ arena_dup(v->a, buf_cstr(&out), out.len), out.len };
	buf_done(&out);
	blocks_parse(v->a, v->account, &v->blocks);
	sections_mark(&v->blocks);
}

static void add_prompt(struct turn_view *v, struct buf *request, const struct event *e)
{
	if (e->is_meta || !e->text || !*e->text)
		return;
	if (!v->prompt)
		v->prompt = e;
	if (request->len)
		buf_str(request, " / ");
	if (request->len < REQUEST_MAX)
		buf_str(request, one_line(v->a, str_of(e->text), REQUEST_MAX));
}

void turn_view_make(struct turn_view *v, struct arena *a, const struct rules_input *in)
{
	AUTO(buf_done) struct buf request = { 0 };

	*v = (struct turn_view){ .a = a, .in = in };
	for (size_t i = 0; i < in->n; i++) {
		const struct event *e = &in->events[i];

		if (e->kind == EVENT_TOOL)
			add_tool(v, e, i);
		else if (e->kind == EVENT_PROMPT && !e->subagent)
			add_prompt(v, &request, e);
		else if (e->kind == EVENT_REPLY && !e->subagent && e->text)
			v->reply = e;
	}
	if (request.len)
		v->request = one_line(a, (struct str){ request.data, request.len }, REQUEST_MAX);
	make_account(v);
	turn_repairs_find(v);
}
