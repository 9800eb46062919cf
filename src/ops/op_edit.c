#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/author.h"
#include "text/snippet.h"

/* edit: a person changes a memory. From then on it is the person's: rules and models leave it alone. */

#define TITLE_COLUMNS 90

static const struct {
	const char *param;
	size_t offset;
} edit_texts[] = {
	{ "title", offsetof(struct memory, title) },
	{ "subtitle", offsetof(struct memory, subtitle) },
	{ "text", offsetof(struct memory, body) },
	{ "body", offsetof(struct memory, body) },
	{ "request", offsetof(struct memory, request) },
	{ "investigated", offsetof(struct memory, investigated) },
	{ "learned", offsetof(struct memory, learned) },
	{ "completed", offsetof(struct memory, completed) },
	{ "next_steps", offsetof(struct memory, next_steps) },
	{ "notes", offsetof(struct memory, notes) },
};

struct edit {
	struct op_call *call;
	int64_t id;
	const char *texts[ARRAY_LEN(edit_texts)]; /* cleaned; NULL: stays */
	const char **files;
	size_t nfiles;
	const char *type, *project;
	uint64_t redactions;
	struct memory after;
};

static int type_of(const struct memory *m, const char *name, struct err *err)
{
	bool is_fact = m->kind == KIND_FACT;
	for (int i = is_fact ? FACT_PREFERENCE : TYPE_BUGFIX; i < (is_fact ? MEMORY_TYPE_COUNT : FACT_PREFERENCE); i++)
		if (str_ieq(memory_type_names[i], name))
			return i;
	return err_set(err, ERR_USAGE, "a %s cannot be of type '%s'", memory_kind_names[m->kind], name);
}

/* A title that was only the text's beginning follows the text. */
static void title_follow(struct edit *e, struct memory *m, const char *old_body, bool has_title)
{
	if (has_title || !m->body)
		return;
	const char *derived = old_body ? text_one_line(e->call->arena, str_of(old_body), TITLE_COLUMNS) : NULL;
	if (!m->title || (derived && !strcmp(derived, m->title)))
		m->title = text_one_line(e->call->arena, str_of(m->body), TITLE_COLUMNS);
}

static void files_replace(struct edit *e, struct memory *m)
{
	if (!e->nfiles)
		return;
	m->files = ARENA_ARRAY(e->call->arena, struct memory_file, e->nfiles);
	m->nfiles = e->nfiles;
	for (size_t i = 0; i < e->nfiles; i++)
		m->files[i] = (struct memory_file){ .path = call_file(e->call, e->files[i]), .role = ROLE_ABOUT, .size = -1 };
}

static int edit_write(struct store *s, void *ctx, struct err *err)
{
	struct edit *e = ctx;
	struct memory m;
	if (store_memory_get(s, e->call->arena, e->id, &m, err))
		return -1;
	if (memory_must_be_mine(&m, "change it", err))
		return -1;
	if (m.kind == KIND_CHUNK) {
		err_set(err, ERR_USAGE, "memory %lld is a part of a markdown file and follows it", (long long)e->id);
		return err_hint(err, "change the file: `remanence get %lld` says where it is", (long long)e->id);
	}
	const char *old_body = m.body;
	if (e->project && project_for_write(s, e->call->arena, e->project, e->call->cwd, &m.project, err))
		return -1;
	if (e->type) {
		int found = type_of(&m, e->type, err);
		if (found < 0)
			return -1;
		m.type = (enum memory_type)found;
	}
	for (size_t i = 0; i < ARRAY_LEN(edit_texts); i++)
		if (e->texts[i])
			memcpy((char *)&m + edit_texts[i].offset, &e->texts[i], sizeof(e->texts[i]));
	title_follow(e, &m, old_body, e->texts[0] != NULL);
	files_replace(e, &m);
	m.origin = ORIGIN_PERSON;
	m.trust = TRUST_PERSON;
	m.confidence = 1;
	e->after = m;
	return store_memory_put(s, &e->after, err);
}

static int edit_read(struct edit *e, struct err *err)
{
	struct op_call *call = e->call;
	const char *text = param_text(call, "ref", "refs");
	struct ref ref;
	size_t changes = 0;
	if (ref_parse(text, &ref, err))
		return -1;
	if (ref.kind != REF_MEMORY)
		return err_set(err, ERR_USAGE, "only memories can be changed, '%s' is none", text);
	e->id = ref.id;
	for (size_t i = 0; i < ARRAY_LEN(edit_texts); i++) {
		const char *value = param_joined(call, edit_texts[i].param, NULL);
		if (value && text_for_write(call, value, &e->texts[i], &e->redactions, err))
			return -1;
		changes += value != NULL;
	}
	e->nfiles = param_list(call, "files", "file", &e->files);
	e->type = param_text(call, "type", "category");
	e->project = param_text(call, "project", NULL);
	if (changes || e->nfiles || e->type || e->project)
		return 0;
	err_set(err, ERR_USAGE, "nothing to change was given");
	return err_hint(err, "for example: remanence edit %lld --title 'A better title'", (long long)e->id);
}

int op_edit(struct op_call *call, struct jw *out, struct err *err)
{
	struct edit e = { .call = call };
	if (edit_read(&e, err) || call_write(call, edit_write, &e, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "ref", ref_text(call->arena, REF_MEMORY, e.id));
	jw_str(out, "title", memory_title(call->arena, &e.after));
	jw_int(out, "redacted", (int64_t)e.redactions);
	jw_end(out, '}');
	return 0;
}
