#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/rule_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define FILES_MAX 40
#define EVIDENCE_MAX 12
#define COMMANDS_KEPT 8
#define FACT_MAX 240
#define FACT_MIN 12
#define PROSE_MIN 140   /* bytes of sentences that can stand without the items */
#define WORDS_LOOK 6000 /* bytes of a text that are searched for words */

void draft_begin(struct draft *d, struct turn_view *v, const struct rule *rule, const char *slot,
	enum memory_kind kind)
{
	const struct rules_input *in = v->in;
	const struct event *last = in->n ? &in->events[in->n - 1] : NULL;

	*d = (struct draft){ .v = v };
	d->m.rule = rule->name;
	d->m.slot = slot;
	d->m.kind = kind;
	d->m.project = in->project ? in->project->id : 0;
	d->m.session = in->session ? in->session->id : 0;
	d->m.turn = in->turn ? in->turn->id : 0;
	d->m.status = MEMORY_ACTIVE;
	d->m.origin = ORIGIN_RULES;
	d->m.trust = TRUST_REPLY;
	d->m.confidence = .6;
	d->m.branch = in->session ? in->session->branch : NULL;
	for (size_t i = in->n; last && i-- > 0;)
		if (in->events[i].branch) {
			d->m.branch = in->events[i].branch;
			break;
		}
}

void draft_title(struct draft *d, const char *title)
{
	struct turn_view *v = d->v;

	d->m.title = title;
	ARENA_PUSH(v->a, v->given, v->ngiven, v->given_cap, title);
}

/* ---- files ---- */

static bool file_is_mentioned(const char *path, const char *text)
{
	const char *base = path_base(path);

	return !text || strstr(text, base) != NULL;
}

static void add_file(struct draft *d, const struct touched_file *f)
{
	struct memory_file file = {
		.path = f->path, .role = f->is_modified ? ROLE_MODIFIED : ROLE_READ, .size = -1
	};

	if (d->m.nfiles < FILES_MAX)
		ARENA_PUSH(d->v->a, d->files, d->m.nfiles, d->files_cap, file);
}

void draft_files(struct draft *d, size_t from, size_t to, const char *mentioned, size_t reads_max)
{
	struct turn_view *v = d->v;
	bool any = false;

	for (size_t i = 0; i < v->nfiles && mentioned && !any; i++)
		any = v->files[i].is_modified && file_is_mentioned(v->files[i].path, mentioned);
	mentioned = any ? mentioned : NULL;
	for (size_t i = 0; i < v->nfiles; i++)
		if (v->files[i].is_modified && v->files[i].order >= from &&
			v->files[i].order <= to && file_is_mentioned(v->files[i].path, mentioned))
			add_file(d, &v->files[i]);
	for (size_t i = 0; i < v->nfiles && reads_max; i++)
		if (!v->files[i].is_modified && v->files[i].order >= from &&
			v->files[i].order <= to) {
			add_file(d, &v->files[i]);
			reads_max--;
		}
}

/* ---- commands ---- */

/* Is there a later run of the same command in the span? Only the last tells how it came out. */
static bool runs_again(const struct turn_view *v, size_t i, size_t to)
{
	for (size_t j = i + 1; j < v->ncommands && v->commands[j].order <= to; j++)
		if (strcmp(v->commands[j].key, v->commands[i].key) == 0)
			return true;
	return false;
}

void draft_commands(struct draft *d, size_t from, size_t to)
{
	struct turn_view *v = d->v;
	struct buf out = { 0 };
	struct jw w = { .out = &out };
	size_t n = 0;

	jw_array(&w, NULL);
	for (size_t i = 0; i < v->ncommands && n < COMMANDS_KEPT; i++) {
		const struct command *c = &v->commands[i];

		if (!c->is_telling || c->order < from || c->order > to || runs_again(v, i, to))
			continue;
		jw_object(&w, NULL);
		jw_str(&w, "command", c->text);
		jw_str(&w, "status",
			event_status_names[c->failed ? STATUS_FAILED : c->event->status]);
		if (c->event->exit_code >= 0)
			jw_int(&w, "exit", c->event->exit_code);
		jw_end(&w, '}');
		n++;
	}
	jw_end(&w, ']');
	d->m.commands = n ? arena_dup(v->a, out.data, out.len) : NULL;
	buf_done(&out);
}

/* ---- evidence, facts, concepts ---- */

void draft_evidence(struct draft *d, const struct event *e, const char *role, struct str excerpt)
{
	struct evidence item = { .role = role };

	if (!e || d->m.nevidence == EVIDENCE_MAX)
		return;
	item.event = e->id;
	if (excerpt.n)
		item.excerpt = one_line(d->v->a, excerpt, EVIDENCE_EXCERPT_MAX - 4);
	ARENA_PUSH(d->v->a, d->evidence, d->m.nevidence, d->evidence_cap, item);
	if (e->at > d->m.at)
		d->m.at = e->at;
}

void draft_fact(struct draft *d, struct str fact)
{
	if (d->nfacts < FACTS_MAX && fact.n >= FACT_MIN)
		d->facts[d->nfacts++] =
			one_line(d->v->a, str_of(inline_plain(d->v->a, fact, false)), FACT_MAX);
}

void draft_concept(struct draft *d, const char *concept)
{
	for (size_t i = 0; i < d->nconcepts; i++)
		if (strcmp(d->concepts[i], concept) == 0)
			return;
	if (d->nconcepts < ARRAY_LEN(d->concepts))
	d->concepts[d->nconcepts++] = concept;
}

void draft_end(struct draft *d, struct rules_output *out)
{
	struct turn_view *v = d->v;

	d->m.facts = json_list(v->a, d->facts, d->nfacts);
	d->m.concepts = json_list(v->a, d->concepts, d->nconcepts);
	d->m.files = d->files;
	d->m.evidence = d->evidence;
	if (!d->m.at && v->in->n)
		d->m.at = v->in->events[v->in->n - 1].at;
	d->m.valid_from = d->m.at;
	ARENA_PUSH(v->a, out->memories, out->n, out->cap, d->m);
}

/* ---- texts ---- */

static bool section_is_told(int section)
{
	return section != SECTION_CHECK && section != SECTION_NEXT && section != SECTION_FILES &&
	       section != SECTION_USAGE;
}

/* `has_list`: what a sentence with a colon leads into is told too. */
static void tell_sentences(struct buf *out, const char *text, size_t max, bool has_list)
{
	struct str rest = str_of(text), s;
	size_t start = out->len;

	while (sentence_next(&rest, &s)) {
		struct sentence judged = sentence_judge(sentence_strip_reply(s));

		if (!judged.text.n || judged.traits & (TRAIT_INTENT | TRAIT_QUESTION) ||
			(judged.names + judged.words < 2 && judged.length < 60))
			continue;
		if (judged.traits & TRAIT_LEAD_IN && (!has_list || judged.names + judged.words < 3))
			continue;
		if (out->len + judged.text.n + 2 > max)
			return;
		if (out->len > start)
			buf_char(out, ' ');
		/* The first letter of a sentence whose start was taken off. */
		buf_char(out, judged.text.p != s.p ? (char)toupper((unsigned char)judged.text.p[0])
						   : judged.text.p[0]);
		buf_add(out, judged.text.p + 1, judged.text.n - 1);
	}
}

/* A heading that says more than "Summary" or "Changes made" stays above what it heads. */
static bool heading_tells(const struct block *b)
{
	struct sentence s = sentence_judge(str_of(b->text));

	return s.names + s.words >= 1 && s.length < 100;
}

struct told {
	size_t from, to, max;
	bool without_items;
};

static char *tell(struct turn_view *v, const struct blocks *blocks, const struct told *t)
{
	size_t from = t->from, to = t->to, max = t->max;
	struct buf out = { 0 };
	const struct block *heading = NULL;
	char *ret;
	size_t n = 0;

	for (size_t i = from; i < to && i < blocks->n && out.len + 60 < max; i++) {
		const struct block *b = &blocks->items[i];
		size_t before = out.len;

		if (!section_is_told(b->section) || b->kind == BLOCK_CODE ||
			b->kind == BLOCK_TABLE || (b->kind == BLOCK_ITEM && t->without_items)) {
			heading = NULL;
			continue;
		}
		if (b->kind == BLOCK_HEADING) {
			heading = heading_tells(b) ? b : NULL;
			continue;
		}
		if (heading) {
			buf_printf(&out, "%s%s%s", out.len ? "\n" : "", heading->text,
				str_ends(heading->text, ":") ? "" : ":");
			heading = NULL;
		}
		if (out.len)
			buf_char(&out, '\n');
		if (b->kind == BLOCK_ITEM)
			buf_str(&out, "- ");
		n = out.len;
		tell_sentences(&out, b->text, max,
			!t->without_items && i + 1 < to && i + 1 < blocks->n &&
				blocks->items[i + 1].kind == BLOCK_ITEM);
		if (out.len == n)
			buf_cut(&out, before);
	}
	n = 0;
	for (size_t i = 0; i < out.len; i++)
		if (out.data[i] != '`')
			out.data[n++] = out.data[i];
	ret = n ? arena_dup(v->a, out.data, n) : NULL;
	buf_done(&out);
	return ret;
}

char *narrative(
	struct turn_view *v, const struct blocks *blocks, size_t from, size_t to, size_t max)
{
	return tell(v, blocks, &(struct told){ from, to, max, false });
}

static bool below_item(const struct block *b, const struct block *item)
{
	return b->kind == BLOCK_CODE || (b->kind == BLOCK_ITEM && b->level > item->level);
}

static bool sentence_is_offer(const char *text)
{
	return (sentence_judge(str_of(text)).traits & (TRAIT_QUESTION | TRAIT_INTENT)) != 0;
}

static void draft_facts(struct draft *d, const struct blocks *blocks, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < blocks->n; i++) {
		const struct block *b = &blocks->items[i];
		AUTO(buf_done) struct buf fact = { 0 };

		if (b->kind != BLOCK_ITEM || !section_is_told(b->section))
			continue;
		buf_str(&fact, b->text);
		/* What hangs below an item belongs to it. */
		for (; i + 1 < to && i + 1 < blocks->n && below_item(&blocks->items[i + 1], b); i++)
			if (fact.len < FACT_MAX && blocks->items[i + 1].kind == BLOCK_ITEM)
				buf_printf(&fact, "%s%s",
					fact.data[fact.len - 1] == ':' ? " " : "; ",
					blocks->items[i + 1].text);
		if (!sentence_is_offer(b->text))
			draft_fact(d, (struct str){ fact.data, fact.len });
	}
}

/* Items are facts where prose tells the story, else they are the story: never both. */
void draft_body(struct draft *d, const struct blocks *blocks, size_t from, size_t to)
{
	char *prose = tell(d->v, blocks, &(struct told){ from, to, BODY_MAX, true });

	draft_facts(d, blocks, from, to);
	if (prose && strlen(prose) >= PROSE_MIN && d->nfacts >= 2) {
		d->m.body = prose;
		return;
	}
	d->nfacts = 0;
	d->m.body = narrative(d->v, blocks, from, to, BODY_MAX);
}

unsigned words_found(struct str text, const char *const *words, size_t n)
{
	char folded[WORDS_LOOK + 1];
	size_t len = MIN(text.n, (size_t)WORDS_LOOK);
	unsigned found = 0;

	for (size_t i = 0; i < len; i++)
		folded[i] = (char)tolower((unsigned char)text.p[i]);
	folded[len] = '\0';
	for (size_t i = 0; i < n; i++) {
		const char *at = folded;

		while ((at = strstr(at, words[i])) != NULL && at > folded &&
			isalpha((unsigned char)at[-1]))
			at++;
		found += at != NULL;
	}
	return found;
}

/* ---- titles of a turn ---- */

#define COMMIT_BONUS 8
#define PROMPT_BONUS 0
#define PROMPT_SUMMARY_BONUS 9
#define DETAIL_SUMMARY 10

static void add_commit_titles(struct turn_view *v, struct candidates *c)
{
	for (size_t i = 0; i < v->ncommits; i++)
		candidates_add(v->a, c, str_of(v->commits[i].subject), COMMIT_BONUS);
}

/* Replies and commits are judged once; each rule takes from a copy. */
struct candidates *turn_titles(struct turn_view *v, bool for_summary)
{
	struct candidates *c = arena_alloc(v->a, sizeof(*c));

	if (!v->titles) {
		v->titles = arena_alloc(v->a, sizeof(*v->titles));
		candidates_add_reply(v->a, v->titles, &v->blocks, 0);
		add_commit_titles(v, v->titles);
	}
	for (size_t i = 0; i < v->titles->n; i++)
		ARENA_PUSH(v->a, c->items, c->n, c->cap, v->titles->items[i]);
	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind == EVENT_PROMPT && !e->subagent && !e->is_meta && e->text)
			candidates_add_prompt(v->a, c, str_of(e->text),
				for_summary ? PROMPT_SUMMARY_BONUS : PROMPT_BONUS);
	}
	if (for_summary)
		candidates_lower_details(c, DETAIL_SUMMARY);
	return c;
}
