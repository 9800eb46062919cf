/* What a model's memory rests on: the events that hold what it names, the prompt and the reply. */

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/ground.h"
#include "observe/refine_work.h"

#define EVIDENCE_MAX 12
#define FILES_MAX 40
#define UNSUPPORTED_COST .05 /* what was not there is taken out; that it was said makes the rest less sure */
#define UNSUPPORTED_COST_MAX .3

const struct event *refine_event(const struct refine_work *w, int64_t id)
{
	for (size_t i = 0; i < w->in->unit->n; i++)
		if (w->in->unit->events[i].id == id)
			return &w->in->unit->events[i];
	return NULL;
}

/* ---- evidence ---- */

static const char *role_of(const struct event *e)
{
	if (e->kind == EVENT_PROMPT)
		return "prompt";
	if (e->kind == EVENT_REPLY)
		return "reply";
	if (e->status == STATUS_FAILED || e->exit_code > 0)
		return "failure";
	return e->writes_files ? "edit" : "command";
}

struct evidence_made {
	struct evidence *items;
	size_t n, cap;
};

static void add(
	struct refine_work *w, struct evidence_made *made, struct memory *m, const struct event *e)
{
	struct evidence item = { 0 };
	const char *text;

	if (!e || made->n == EVIDENCE_MAX)
		return;
	for (size_t i = 0; i < made->n; i++)
		if (made->items[i].event == e->id)
			return;
	text = e->text ? e->text : e->diff ? e->diff : e->output;
	item.event = e->id;
	item.role = role_of(e);
	if (text && *text)
		item.excerpt = one_line(w->a, str_of(text), EVIDENCE_EXCERPT_MAX - 4);
	ARENA_PUSH(w->a, made->items, made->n, made->cap, item);
	m->at = MAX(m->at, e->at);
}

static bool holds(struct str text, const struct claim *c)
{
	struct str want = str_of(c->kind == CLAIM_FILE ? path_base(c->text) : c->text);

	return str_find(text, want) != NULL;
}

/* Edits tell more than what was read on the way. */
static void add_for_claim(
	struct refine_work *w, struct evidence_made *made, struct memory *m, const struct claim *c)
{
	const struct digest *d = w->in->digest;
	const struct event *found = NULL;

	for (size_t i = 0; i < d->nevidence; i++) {
		const struct event *e;

		if (!d->events[i] || !holds(d->evidence[i], c))
			continue;
		e = refine_event(w, d->events[i]);
		if (!found || (e && e->writes_files && !found->writes_files))
			found = e;
		if (found && found->writes_files)
			break;
	}
	add(w, made, m, found);
}

void refine_evidence(struct refine_work *w, struct memory *m)
{
	struct evidence_made made = { 0 };
	struct grounding named;
	const char *text =
		arena_printf(w->a, "%s %s", m->title ? m->title : "", m->body ? m->body : "");

	/* What the rule's memory rests on stays. */
	for (size_t i = 0; i < m->nevidence && i < EVIDENCE_MAX; i++)
		ARENA_PUSH(w->a, made.items, made.n, made.cap, m->evidence[i]);
	add(w, &made, m, w->v.prompt);
	add(w, &made, m, w->v.reply);
	ground_claims(w->a, str_of(text), &named);
	for (size_t i = 0; i < named.n; i++)
		add_for_claim(w, &made, m, &named.claims[i]);
	m->evidence = made.items;
	m->nevidence = made.n;
	if (!m->at && w->in->unit->n)
		m->at = w->in->unit->events[w->in->unit->n - 1].at;
}

/* ---- files ---- */

static bool is_path_end(const char *path, const char *end)
{
	size_t n = strlen(path), e = strlen(end);

	return n >= e && strcmp(path + n - e, end) == 0 && (n == e || path[n - e - 1] == '/');
}

static const struct touched_file *touched(const struct refine_work *w, const char *name)
{
	for (size_t i = 0; i < w->v.nfiles; i++)
		if (is_path_end(w->v.files[i].path, name) || is_path_end(name, w->v.files[i].path))
			return &w->v.files[i];
	return NULL;
}

static void add_file(
	struct refine_work *w, struct memory *m, size_t *cap, const char *name, size_t *removed)
{
	struct memory_file f = { .path = name, .role = ROLE_ABOUT, .size = -1 };
	const struct touched_file *t;

	while (str_starts(name, "./"))
		name += 2;
	t = touched(w, name);
	w->out->counts.claims++;
	if (!t && !evidence_has(&w->g, str_of(name))) {
		w->out->counts.unsupported++;
		(*removed)++;
		return;
	}
	f.path = t ? t->path : name;
	if (t)
		f.role = t->is_modified ? ROLE_MODIFIED : ROLE_READ;
	for (size_t i = 0; i < m->nfiles; i++)
		if (strcmp(m->files[i].path, f.path) == 0)
			return;
	if (m->nfiles < FILES_MAX)
		ARENA_PUSH(w->a, m->files, m->nfiles, *cap, f);
}

void refine_files(
	struct refine_work *w, const struct reply_item *item, struct memory *m, size_t *removed)
{
	const struct {
		const char **list;
		size_t n;
	} lists[] = { { item->files_modified, item->nmodified }, { item->files, item->nfiles },
		{ item->files_read, item->nread } };
	size_t cap = 0;
	struct memory_file *had = m->files;
	size_t nhad = m->nfiles;

	m->files = NULL;
	m->nfiles = 0;
	for (size_t i = 0; i < nhad; i++)
		ARENA_PUSH(w->a, m->files, m->nfiles, cap, had[i]);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i].n; k++)
			add_file(w, m, &cap, lists[i].list[k], removed);
}

/* ---- how sure ---- */

char *refine_tally(
	struct arena *a, const char *version, size_t claims, size_t unsupported, size_t removed)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	jw_object(&w, NULL);
	jw_str(&w, "prompt", version);
	jw_int(&w, "claims", (int64_t)claims);
	jw_int(&w, "unsupported", (int64_t)unsupported);
	jw_int(&w, "removed", (int64_t)removed);
	jw_end(&w, '}');
	return arena_dup(a, out.data, out.len);
}

void refine_finish(struct refine_work *w, struct memory *m, double base, size_t removed)
{
	size_t claims = w->out->counts.claims - w->claims;
	size_t unsupported = w->out->counts.unsupported - w->unsupported;
	double cost = MIN(UNSUPPORTED_COST_MAX, UNSUPPORTED_COST * (double)unsupported);

	m->confidence = MAX(0, base - cost);
	/* Most of what it named was not there: whatever is left may be luck. */
	if (unsupported >= 2 && unsupported * 2 > claims)
		m->confidence = MIN(m->confidence, MAX(0, w->in->threshold - .05));
	m->status = m->confidence < w->in->threshold ? MEMORY_PENDING : MEMORY_ACTIVE;
	m->rule = REFINE_RULE;
	m->origin = ORIGIN_MODEL;
	m->model = w->in->model;
	m->tally = refine_tally(w->a, w->in->version, claims, unsupported, removed);
	refine_evidence(w, m);
	m->valid_from = m->valid_from ? m->valid_from : m->at;
	w->out->counts.removed += removed;
}
