#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "store/query.h"

/*
 * export: all memories, as JSON lines (a record of `get` each) or as markdown. Where the door streams, each record goes out as it
 * is read; where it cannot, they come as one text.
 */

#define EXPORT_PAGE 200
#define EXPORT_TEXT_MAX ((size_t)200 << 20)

struct exporting {
	struct op_call *call;
	struct arena page; /* emptied after each page */
	bool is_markdown;
	int64_t project, after, before, written;
	char day[16];
	struct buf text;
};

static void markdown_section(struct buf *b, const char *name, const char *text)
{
	if (text && *text)
		buf_printf(b, "**%s:** %s\n\n", name, text);
}

static void markdown_write(struct exporting *e, struct lookup *l, const struct memory *m, struct buf *b)
{
	struct arena *a = l->call->arena;
	const char *day = clock_day(a, m->at), *project = lookup_project(l, m->project);
	if (strcmp(day, e->day)) {
		buf_printf(b, "## %s\n\n", day);
		memcpy(e->day, day, MIN(strlen(day) + 1, sizeof(e->day)));
		e->day[sizeof(e->day) - 1] = '\0';
	}
	buf_printf(b, "### %s\n\n*#%lld · %s", memory_title(a, m), (long long)m->id, memory_kind_names[m->kind]);
	if (m->type)
		buf_printf(b, " · %s", memory_type_names[m->type]);
	if (project)
		buf_printf(b, " · %s", project);
	if (m->author)
		buf_printf(b, " · by %s", m->author);
	buf_str(b, "*\n\n");
	if (m->kind == KIND_SUMMARY) {
		markdown_section(b, "Request", m->request);
		markdown_section(b, "Investigated", m->investigated);
		markdown_section(b, "Learned", m->learned);
		markdown_section(b, "Completed", m->completed);
		markdown_section(b, "Next steps", m->next_steps);
		markdown_section(b, "Notes", m->notes);
	}
	if (m->body && *m->body)
		buf_printf(b, "%s\n\n", m->body);
	for (size_t i = 0; i < m->nfiles; i++)
		buf_printf(b, "- `%s` (%s)\n", m->files[i].path, file_role_names[m->files[i].role]);
	if (m->nfiles)
		buf_char(b, '\n');
}

static int record_export(struct exporting *e, struct lookup *l, int64_t id, struct buf *b, struct err *err)
{
	struct memory m;
	struct ref ref = { REF_MEMORY, id };
	struct jw w = { .out = b };
	if (store_memory_get(l->call->store, l->call->arena, id, &m, err))
		return -1;
	if ((e->after && m.at < e->after) || (e->before && m.at >= e->before))
		return 0;
	e->written++;
	if (!e->is_markdown)
		return record_write(l, &w, &ref, err);
	markdown_write(e, l, &m, b);
	return 0;
}

static int record_send(struct exporting *e, const struct buf *b, struct err *err)
{
	if (!b->len)
		return 0;
	if (e->call->progress && !e->is_markdown)
		return e->call->progress(e->call, buf_cstr(b)) ? err_set(err, ERR_IO, "the reader of the export went away") : 0;
	buf_add(&e->text, b->data, b->len);
	if (!e->is_markdown)
		buf_char(&e->text, '\n');
	if (!e->text.is_full)
		return 0;
	err_set(err, ERR_TOO_LARGE, "the export is larger than %zu MB", EXPORT_TEXT_MAX >> 20);
	return err_hint(err, "export project by project, or a span of time with --after and --before");
}

static int page_export(struct exporting *e, struct lookup *l, const int64_t *ids, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		struct err why = { 0 };
		if (record_export(e, l, ids[i], &b, &why) == 0) {
			if (record_send(e, &b, err))
				return -1;
		} else if (why.code != ERR_NOT_FOUND) { /* forgotten in the meantime */
			if (err)
				*err = why;
			return -1;
		}
	}
	return 0;
}

static int export_run(struct exporting *e, struct err *err)
{
	struct op_call call = *e->call;
	int64_t last = 0, *ids;
	size_t n;
	call.arena = &e->page;
	do {
		struct lookup l = { .call = &call };
		if (query_page(call.store, call.arena, e->project, last, EXPORT_PAGE, &ids, &n, err) ||
			page_export(e, &l, ids, n, err))
			return -1;
		last = n ? ids[n - 1] : last;
		arena_reset(&e->page);
	} while (n == EXPORT_PAGE);
	return 0;
}

int op_export(struct op_call *call, struct jw *out, struct err *err)
{
	struct exporting e = { .call = call, .text = { .max = EXPORT_TEXT_MAX } };
	const char *format = param_text(call, "format", NULL);
	e.is_markdown = format && str_ieq(format, "markdown");
	if (call_project(call, &e.project, err) || param_span(call, &e.after, &e.before, err))
		return -1;
	int failed = export_run(&e, err);
	if (!failed) {
		jw_object(out, NULL);
		jw_str(out, "format", e.is_markdown ? "markdown" : "jsonl");
		jw_int(out, "memories", e.written);
		if (e.is_markdown || !call->progress)
			jw_str(out, "text", buf_cstr(&e.text));
		jw_end(out, '}');
	}
	buf_done(&e.text);
	arena_done(&e.page);
	return failed;
}
