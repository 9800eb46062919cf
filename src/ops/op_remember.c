#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/project.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/query.h"
#include "text/snippet.h"

/* remember: a note, or a fact of a category. Saying the same again gives the memory that is there. */

#define TITLE_COLUMNS 90
#define SAME_SEEN_MAX 500 /* latest memories looked through for the same text */

struct remembering {
	struct op_call *call;
	const char *project;
	struct memory memory;
	bool exists;
};

static bool has_words(const char *text)
{
	/* "[redacted:aws-key]" is what is left of a secret. */
	bool in_mark = false;
	for (const char *p = text; *p; p++) {
		if (str_starts(p, "[redacted:"))
			in_mark = true;
		if (!in_mark && (isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80))
			return true;
		if (*p == ']')
			in_mark = false;
	}
	return false;
}

static int same_find(struct store *s, struct remembering *r, int64_t *ret, struct err *err)
{
	struct arena *a = r->call->arena;
	struct recent_query q = { .project = r->memory.project, .kind = r->memory.kind, .is_own = true, .max = SAME_SEEN_MAX };
	int64_t *ids;
	size_t n;
	*ret = 0;
	if (query_recent(s, a, &q, &ids, &n, err))
		return -1;
	struct memory *list = ARENA_ARRAY(a, struct memory, n + 1);
	if (n && store_memories(s, a, ids, n, list, err))
		return -1;
	for (size_t i = 0; i < n && !*ret; i++)
		if (list[i].body && !strcmp(list[i].body, r->memory.body) && list[i].type == r->memory.type)
			*ret = list[i].id;
	return 0;
}

static int remember_write(struct store *s, void *ctx, struct err *err)
{
	struct remembering *r = ctx;
	int64_t same;
	r->memory.id = 0;
	if (project_for_write(s, r->call->arena, r->project, r->call->cwd, &r->memory.project, err) || same_find(s, r, &same, err))
		return -1;
	r->exists = same != 0;
	if (same) {
		r->memory.id = same;
		return 0;
	}
	return store_memory_put(s, &r->memory, err);
}

static void files_take(struct op_call *call, struct memory *m)
{
	const char **files;
	m->nfiles = param_list(call, "files", "file", &files);
	m->files = ARENA_ARRAY(call->arena, struct memory_file, m->nfiles + 1);
	for (size_t i = 0; i < m->nfiles; i++)
		m->files[i] = (struct memory_file){ .path = call_file(call, files[i]), .role = ROLE_ABOUT, .size = -1 };
}

/* Facts' categories are the later half of the types; "decision" is in both. */
static int category_take(struct op_call *call, struct memory *m, struct err *err)
{
	const char *category = param_text(call, "category", "type");
	m->kind = KIND_NOTE;
	if (!category || str_ieq(category, "note"))
		return 0;
	m->kind = KIND_FACT;
	for (int i = FACT_PREFERENCE; i < MEMORY_TYPE_COUNT; i++)
		if (str_ieq(memory_type_names[i], category))
			m->type = (enum memory_type)i;
	if (m->type)
		return 0;
	err_set(err, ERR_USAGE, "there is no category '%s'", category);
	return err_hint(err, "one of: preference, decision, convention, architecture, error_fix, tool_pattern, dead_end, todo");
}

static void where_take(struct op_call *call, struct memory *m)
{
	struct project_identity p;
	if (!call->cwd || call->cwd[0] != '/')
		return;
	project_identify(call->arena, call->cwd, &p);
	m->branch = p.branch;
	m->commit = p.commit;
}

int op_remember(struct op_call *call, struct jw *out, struct err *err)
{
	struct remembering r = { .call = call, .project = param_text(call, "project", NULL) };
	struct memory *m = &r.memory;
	const char *text = param_joined(call, "text", NULL);
	uint64_t redactions = 0;
	if (!text)
		return err_set(err, ERR_USAGE, "remember needs a text");
	if (category_take(call, m, err) || text_for_write(call, text, &m->body, &redactions, err))
		return -1;
	if (!has_words(m->body)) {
		err_set(err, ERR_USAGE, "nothing was saved: the text is %s", redactions ? "a secret and nothing else" : "empty");
		return err_hint(err, "secrets and <private> parts are never stored");
	}
	m->title = text_one_line(call->arena, str_of(m->body), TITLE_COLUMNS);
	m->confidence = call->is_agent ? .9 : 1;
	m->trust = call->is_agent ? TRUST_REPLY : TRUST_PERSON;
	m->origin = call->is_agent ? ORIGIN_AGENT : ORIGIN_PERSON;
	m->at = clock_now();
	m->valid_from = m->kind == KIND_FACT ? m->at : 0;
	files_take(call, m);
	where_take(call, m);
	if (call_write(call, remember_write, &r, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "ref", ref_text(call->arena, REF_MEMORY, m->id));
	jw_str(out, "kind", memory_kind_names[m->kind]);
	jw_str(out, "title", m->title);
	author_write(out, m);
	jw_bool(out, "exists", r.exists);
	jw_int(out, "redacted", (int64_t)redactions);
	jw_end(out, '}');
	return 0;
}
