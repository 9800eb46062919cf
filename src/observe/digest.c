/*
 * Room is given in this order: the lines of ours, the prompt, the least of every step, the final
 * reply whole where it fits, then more of the steps. A unit whose least does not fit is cut into
 * parts; when four parts are too few, the steps that tell least are left out, never silently.
 */
#include "observe/digest.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/digest_step.h"
#include "text/hash.h"

#define PROMPT_MAX 4000
#define PROMPT_LATER_MAX 600 /* in the parts after the first */
#define REPLY_MAX 12000
#define REPLY_LEAST 1200
#define HEADER_MAX 400
#define BODY_LEAST 80    /* bytes; a shorter piece of a text says nothing */
#define LAST_KEPT 4      /* steps that go last when there is no room */
#define STEP_OVERHEAD 4  /* "- ", newlines */
#define LINE_OVERHEAD 40 /* "(… steps that only look are left out)" */
#define SUMMARY_ALONE_MIN \
	600 /* bytes of account that make a turn without observation worth asking about */

struct plan {
	struct arena *a;
	struct turn_view v;
	struct steps steps;
	struct str prompt, reply; /* quoted */
	size_t max;
	size_t first[DIGEST_PARTS_MAX + 1]; /* of the steps, by part; then their number */
	int parts;
};

/* ---- how much there is ---- */

static size_t step_least(const struct step *s)
{
	return strlen(s->head) + STEP_OVERHEAD + MIN(s->body.n, step_infos[s->kind].least);
}

static size_t prompt_room(const struct plan *p, int part)
{
	size_t most = part ? PROMPT_LATER_MAX : PROMPT_MAX;

	return MIN(p->prompt.n, MIN(most, p->max / 5));
}

static size_t reply_least(const struct plan *p)
{
	return MIN(p->reply.n, MIN(REPLY_LEAST, p->max / 4));
}

/* For the least of the steps of a part. */
static size_t steps_room(const struct plan *p, int part)
{
	size_t taken = HEADER_MAX + prompt_room(p, part) + reply_least(p) + LINE_OVERHEAD;

	return p->max > taken + 100 ? p->max - taken : 100;
}

static size_t steps_least(const struct plan *p, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (p->steps.items[i].is_shown)
			n += step_least(&p->steps.items[i]);
	return n;
}

/* ---- parts ---- */

/* Cuts so that each part has about the same; false when they are more than there may be. */
static bool cut_parts(struct plan *p, int parts)
{
	size_t all = steps_least(p, 0, p->steps.n), at = 0, goal = all / (size_t)parts + 1;
	int part = 0;

	p->first[0] = 0;
	for (size_t i = 0; i < p->steps.n; i++) {
		size_t need = p->steps.items[i].is_shown ? step_least(&p->steps.items[i]) : 0;
		size_t room = steps_room(p, part);

		if (at && (at + need > room || at >= goal) && need) {
			if (part + 1 == parts)
				return false;
			p->first[++part] = i;
			at = 0;
		}
		at += need;
	}
	p->parts = part + 1;
	p->first[p->parts] = p->steps.n;
	return true;
}

static bool find_parts(struct plan *p)
{
	for (int parts = 1; parts <= DIGEST_PARTS_MAX; parts++)
		if (steps_least(p, 0, p->steps.n) <= steps_room(p, parts > 1) * (size_t)parts &&
			cut_parts(p, parts))
			return true;
	return false;
}

/* Of what is still too much every second step goes, but for the last few; then all. */
static void thin_out(struct plan *p)
{
	size_t seen = 0, gone = 0;

	for (size_t i = 0; i + LAST_KEPT < p->steps.n; i++)
		if (p->steps.items[i].is_shown && ++seen % 2 == 0) {
			p->steps.items[i].is_shown = false;
			gone++;
		}
	for (size_t i = 0; !gone && i < p->steps.n; i++)
		p->steps.items[i].is_shown = false;
}

static void hide_rank(struct plan *p, int rank)
{
	for (size_t i = 0; i < p->steps.n; i++)
		if (step_infos[p->steps.items[i].kind].rank == rank)
			p->steps.items[i].is_shown = false;
}

/* Another request is dearer than what mere looks tell: they go before a unit is cut. */
static void make_parts(struct plan *p)
{
	if (steps_least(p, 0, p->steps.n) <= steps_room(p, 0) && cut_parts(p, 1))
		return;
	for (int rank = 0;; rank++) {
		if (rank < STEP_RANKS)
			hide_rank(p, rank);
		else
			thin_out(p);
		if (find_parts(p))
			return;
	}
}

/* ---- room in one part ---- */

static size_t body_wish(const struct step *s, size_t times)
{
	return MIN(s->body.n, step_infos[s->kind].wish * times);
}

/* What all bodies of the part want beyond their least. */
static size_t wish_beyond(const struct plan *p, size_t from, size_t to, size_t times)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct step *s = &p->steps.items[i];
		size_t least = MIN(s->body.n, step_infos[s->kind].least);

		if (s->is_shown)
			n += body_wish(s, times) - MIN(least, body_wish(s, times));
	}
	return n;
}

static void give_room(struct plan *p, int part, size_t room)
{
	size_t from = p->first[part], to = p->first[part + 1];
	size_t times = wish_beyond(p, from, to, 2) <= room ? 2 : 1;
	size_t wish = wish_beyond(p, from, to, times);

	for (size_t i = from; i < to; i++) {
		struct step *s = &p->steps.items[i];
		size_t least = MIN(s->body.n, step_infos[s->kind].least);
		size_t more = body_wish(s, times) - MIN(least, body_wish(s, times));

		s->room = least +
			  (wish <= room ? more
					: (size_t)((double)more * (double)room / (double)wish));
	}
}

/* ---- writing ---- */

static void write_header(const struct plan *p, int part, struct buf *out)
{
	const struct rules_input *in = p->v.in;
	const char *branch = in->session ? in->session->branch : NULL;
	int64_t at = in->n ? in->events[0].at : 0;

	if (in->project && in->project->name)
		buf_printf(out, "Project %.100s", in->project->name);
	else
		buf_str(out, "Project unknown");
	if (branch && *branch)
		buf_printf(out, ", branch %.80s", branch);
	if (at)
		buf_printf(out, ", %.10s", clock_iso(p->a, at));
	if (p->parts > 1)
		buf_printf(out, ", part %d of %d of one long piece of work", part + 1, p->parts);
	buf_str(out, "\n");
}

static void write_prompt(const struct plan *p, int part, struct buf *out)
{
	struct str text = text_shorten(p->a, p->prompt, prompt_room(p, part));

	if (!text.n) {
		buf_str(out, "Nothing was asked in this piece of work.\n");
		return;
	}
	buf_str(out, "The person asked:\n");
	buf_add(out, text.p, text.n);
	buf_char(out, '\n');
}

static void write_step(const struct plan *p, const struct step *s, struct buf *out)
{
	bool is_scrap = s->room < s->body.n && s->room < BODY_LEAST;
	struct str body = text_shorten(p->a, s->body, is_scrap ? 0 : s->room);
	size_t n = strlen(s->head);
	/* A colon leads to nothing when nothing of the text is shown. */
	bool is_colon = n && s->head[n - 1] == ':';

	/* That something was said, and not what, tells nothing. */
	if (!body.n && is_colon && (s->kind == STEP_SAID || s->kind == STEP_OTHER))
		return;
	buf_str(out, "- ");
	buf_add(out, s->head, is_colon && !body.n ? n - 1 : n);
	if (body.n && !is_colon)
		buf_char(out, ':');
	buf_char(out, '\n');
	if (body.n) {
		buf_add(out, body.p, body.n);
		buf_char(out, '\n');
	}
}

static void write_steps(const struct plan *p, int part, struct buf *out)
{
	size_t left_out = 0, to = p->first[part + 1];

	if (p->first[part] == to)
		return;
	buf_str(out, "What happened then, in order:\n");
	for (size_t i = p->first[part]; i < to; i++) {
		if (!p->steps.items[i].is_shown) {
			left_out++;
			continue;
		}
		write_step(p, &p->steps.items[i], out);
	}
	if (left_out)
		buf_str(out, "(Further steps that tell little are left out.)\n");
}

static void write_reply(const struct plan *p, int part, struct buf *out, size_t room)
{
	struct str text = text_shorten(p->a, p->reply, room);

	if (!text.n)
		return;
	buf_str(out, part + 1 == p->parts ? "The assistant's final reply to the person:\n"
					  : "The assistant's final reply, after all parts:\n");
	buf_add(out, text.p, text.n);
	buf_char(out, '\n');
}

static void write_part(struct plan *p, int part, struct digest *ret)
{
	AUTO(buf_done) struct buf out = { 0 };
	size_t taken = HEADER_MAX + prompt_room(p, part) +
		       steps_least(p, p->first[part], p->first[part + 1]);
	size_t left = p->max > taken ? p->max - taken : 0, reply;

	/* The last part holds the reply whole where that leaves the steps half of the room. */
	reply = part + 1 < p->parts ? reply_least(p)
				    : MIN(p->reply.n, MAX(reply_least(p), MIN(REPLY_MAX, left)));
	reply = MIN(reply, left);
	give_room(p, part, left - reply);
	write_header(p, part, &out);
	write_prompt(p, part, &out);
	write_steps(p, part, &out);
	write_reply(p, part, &out, reply);
	ret->n = out.len > p->max ? utf8_cut(out.data, out.len, p->max) : out.len;
	ret->text = arena_dup(p->a, out.data, ret->n);
	ret->hash = hash64(ret->text, ret->n);
}

/* ---- what it rests on ---- */

struct evidence_list {
	struct str *texts;
	int64_t *events;
	size_t n, cap, events_n, events_cap;
};

static void add_text(struct arena *a, struct evidence_list *l, int64_t event, struct str text)
{
	if (!text.n)
		return;
	ARENA_PUSH(a, l->texts, l->n, l->cap, text);
	ARENA_PUSH(a, l->events, l->events_n, l->events_cap, event);
}

static void add_event(struct arena *a, struct evidence_list *l, const struct event *e)
{
	add_text(a, l, e->id, str_of(e->text));
	add_text(a, l, e->id, str_of(e->input));
	add_text(a, l, e->id, str_of(e->output));
	add_text(a, l, e->id, str_of(e->diff));
	for (size_t i = 0; i < e->nfiles; i++)
		add_text(a, l, e->id, str_of(e->files[i]));
}

/* The prompt and the reply belong to every part; of the steps those between the borders. */
static void make_evidence(struct plan *p, int part, struct digest *ret)
{
	const struct rules_input *in = p->v.in;
	struct evidence_list l = { 0 };
	size_t from = part ? p->steps.items[p->first[part]].order : 0;
	size_t to = part + 1 < p->parts ? p->steps.items[p->first[part + 1]].order : in->n;

	for (size_t i = 0; i < in->n; i++) {
		const struct event *e = &in->events[i];

		if ((i >= from && i < to) || e == p->v.prompt || e == p->v.reply)
			add_event(p->a, &l, e);
	}
	add_text(p->a, &l, 0, (struct str){ ret->text, ret->n });
	ret->evidence = l.texts;
	ret->events = l.events;
	ret->nevidence = l.n;
}

/* ---- is it worth it ---- */

static bool is_worth_it(const struct plan *p, const struct rules_output *made)
{
	for (size_t i = 0; made && i < made->n; i++)
		if (made->memories[i].kind == KIND_OBSERVATION)
			return true;
	for (size_t i = 0; made && i < made->ncandidates; i++)
		if (made->candidates[i].part == PART_WHOLE &&
			made->candidates[i].category != FACT_TOOL_PATTERN)
			return true;
	return p->v.tools && p->v.account.n >= SUMMARY_ALONE_MIN;
}

/* A reply that steps followed ends nothing. */
static const struct event *final_reply(const struct turn_view *v)
{
	const struct event *found = NULL;

	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e == v->reply)
			found = e;
		else if (e->kind == EVENT_TOOL && !e->subagent)
			found = NULL;
	}
	return found;
}

void digest_make(struct arena *a, const struct digest_input *in, struct digest *ret)
{
	struct plan p = { .a = a, .max = MAX(in->max_chars, DIGEST_CHARS_MIN) };
	int part;

	*ret = (struct digest){ 0 };
	turn_view_make(&p.v, a, in->unit);
	p.v.reply = final_reply(&p.v);
	p.prompt = text_quote(a, str_of(p.v.prompt ? p.v.prompt->text : NULL), LINE_PROSE);
	p.reply = text_quote(a, str_of(p.v.reply ? p.v.reply->text : NULL), LINE_PROSE);
	steps_make(&p.v, &p.steps);
	make_parts(&p);
	part = MIN(MAX(in->part, 0), p.parts - 1);
	write_part(&p, part, ret);
	make_evidence(&p, part, ret);
	ret->parts = p.parts;
	ret->is_worth_it = is_worth_it(&p, in->made);
}
