/*
 * What the turn came to, in the parts that a next session wants: request, what was looked at,
 * learned and done, what is left.
 */

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/rule_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define LEAST_SCORE 1
#define PART_MAX 700
#define SHORT_PART_MAX 400
#define ANSWER_MAX 450 /* of an answer, which the finding holds at length */
#define DONE_MIN 120   /* a shorter section of changes gives way to the whole account */
/* Bytes of account that make a turn without observations worth a summary, when it ran something */
#define SPOKEN_MIN 24
#define SPOKEN_ALONE_MIN 90 /* the same when it only looked */
#define LOOKED_MAX 5
#define REQUEST_TITLE_MIN 20 /* bytes of a request that may name its turn when nothing else does */

static bool is_worth_it(const struct turn_view *v, const struct rules_output *out)
{
	bool ran = false;

	if (out->n)
		return true;
	for (size_t i = 0; i < v->ncommands && !ran; i++)
		ran = v->commands[i].is_telling;
	return v->tools > 0 && v->account.n >= (ran ? SPOKEN_MIN : SPOKEN_ALONE_MIN);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The files that were read, by name. */
static char *looked_at(struct turn_view *v)
{
	struct buf out = { 0 };
	size_t shown = 0, total = 0;
	char *ret;

	for (size_t i = 0; i < v->nfiles; i++) {
		if (v->files[i].is_modified)
			continue;
		total++;
		if (shown < LOOKED_MAX) {
			buf_printf(&out, "%s%s", shown ? ", " : "", base_name(v->files[i].path));
			shown++;
		}
	}
	if (total > shown)
		buf_printf(&out, " +%zu", total - shown);
	ret = out.len ? arena_dup(v->a, out.data, out.len) : NULL;
	buf_done(&out);
	return ret;
}

static char *either(char *first, char *second)
{
	return first ? first : second;
}

static void set_parts(struct draft *d)
{
	struct turn_view *v = d->v;
	const struct blocks *b = &v->blocks;
	bool did = turn_did_work(v);
	char *account = narrative(v, b, 0, b->n, did ? PART_MAX : ANSWER_MAX);
	char *done = section_text(v->a, b, SECTION_DONE, PART_MAX);

	d->m.request = v->request;
	d->m.investigated = looked_at(v);
	d->m.learned = either(section_text(v->a, b, SECTION_CAUSE, PART_MAX),
		section_text(v->a, b, SECTION_FOUND, PART_MAX));
	if (!d->m.learned)
		d->m.learned = did ? section_cues(v->a, b, SECTION_CAUSE, SHORT_PART_MAX) : account;
	d->m.completed =
		did ? (done && (!account || strlen(done) >= DONE_MIN) ? done : account) : NULL;
	if (did && v->ncommits && !d->m.completed)
		d->m.completed = v->commits[v->ncommits - 1].subject;
	d->m.next_steps = either(section_text(v->a, b, SECTION_NEXT, SHORT_PART_MAX),
		section_cues(v->a, b, SECTION_NEXT, SHORT_PART_MAX));
	d->m.notes = either(section_text(v->a, b, SECTION_NOTES, SHORT_PART_MAX),
		section_cues(v->a, b, SECTION_NOTES, SHORT_PART_MAX));
}

/* "Rename it too?" after "can you" was taken off asks nothing. */
static const char *title_of_request(struct turn_view *v)
{
	struct str s = sentence_strip_prompt(str_of(v->request)), rest = s, first = { 0 };

	word_next(&rest, &first);
	while (s.n && word_is_order(first) && (s.p[s.n - 1] == '?' || s.p[s.n - 1] == ' '))
		s.n--;
	return title_finish_request(v->a, s);
}

/* Nothing but the one observation names this turn: the file it is about makes the difference. */
static const char *title_with_file(struct turn_view *v, const char *title)
{
	/* It has files in front already: without them it is another. */
	const char *colon = strstr(title, ": ");

	if (colon && v->nfiles && memchr(title, '.', (size_t)(colon - title)) &&
		!memchr(title, '`', (size_t)(colon - title)))
		return strlen(colon + 2) >= REQUEST_TITLE_MIN
			       ? title_finish(v->a, str_of(colon + 2))
			       : NULL;
	for (size_t i = 0; i < v->nfiles; i++)
		if ((v->files[i].is_modified || !v->nmodified) &&
			!strstr(title, base_name(v->files[i].path)))
			return title_finish(v->a, str_of(arena_printf(v->a, "`%s`: %s",
							  base_name(v->files[i].path), title)));
	return NULL;
}

void rule_summary(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	struct candidates *titles;
	const char *title;
	struct draft d;

	if (!is_worth_it(v, out))
		return;
	titles = turn_titles(v, true);
	title = candidates_take(v->a, titles, LEAST_SCORE, v->given, v->ngiven);
	if (!title && v->ngiven)
		title = title_with_file(v, v->given[0]);
	if (!title && v->request && strlen(v->request) >= REQUEST_TITLE_MIN)
		title = title_of_request(v);
	if (!title)
		return;
	draft_begin(&d, v, rule, "main", KIND_SUMMARY);
	draft_title(&d, title);
	set_parts(&d);
	if (!d.m.completed && !d.m.learned && !v->nmodified && !out->n)
		return;
	d.m.commit = v->ncommits ? v->commits[v->ncommits - 1].hash : NULL;
	draft_files(&d, 0, v->in->n, NULL, 10);
	draft_commands(&d, 0, v->in->n);
	draft_evidence(&d, v->prompt, "prompt", str_of(v->request));
	draft_evidence(&d, v->reply, "reply", v->account);
	draft_end(&d, out);
}
