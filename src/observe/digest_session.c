/* A session for the model: the summaries of its units, which are all that it needs to know of them. */

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/digest.h"
#include "observe/digest_step.h"
#include "text/hash.h"

#define HEADER_MAX 300
#define UNIT_LEAST 200
#define PARTS 6

static const char *part_of(const struct memory *m, size_t i, const char **ret_name)
{
	const struct {
		const char *name, *text;
	} parts[PARTS] = { { "asked", m->request }, { "looked at", m->investigated },
		{ "learned", m->learned }, { "done", m->completed }, { "left", m->next_steps },
		{ "notes", m->notes } };

	*ret_name = parts[i].name;
	return parts[i].text;
}

static struct str unit_text(struct arena *a, const struct memory *m)
{
	AUTO(buf_done) struct buf out = { 0 };
	const char *name;

	buf_printf(&out, "%s\n", m->title ? m->title : "");
	for (size_t i = 0; i < PARTS; i++) {
		const char *text = part_of(m, i, &name);

		if (text && *text)
			buf_printf(&out, "%s: %s\n", name, text);
	}
	if (m->body && !m->completed && !m->learned)
		buf_printf(&out, "%s\n", m->body);
	return text_quote(a, (struct str){ buf_cstr(&out), out.len }, LINE_PROSE);
}

static void write_header(const struct digest_session_input *in, struct arena *a, struct buf *out)
{
	buf_printf(out, "Session in project %.100s",
		in->project && in->project->name ? in->project->name : "unknown");
	if (in->session && in->session->branch)
		buf_printf(out, ", branch %.80s", in->session->branch);
	if (in->n && in->summaries[0].at)
		buf_printf(out, ", %.10s", clock_iso(a, in->summaries[0].at));
	buf_str(out, "\nIts pieces of work, in order:\n");
}

/* Which are shown: the first, and as many of the newest as have room. */
static size_t first_shown(const struct digest_session_input *in, size_t max)
{
	size_t fit = MAX((max - HEADER_MAX) / UNIT_LEAST, 2u);

	fit = MIN(fit, DIGEST_SUMMARIES_MAX);
	return in->n > fit ? in->n - fit + 1 : 1;
}

void digest_session(struct arena *a, const struct digest_session_input *in, struct digest *ret)
{
	AUTO(buf_done) struct buf out = { 0 };
	size_t max = MAX(in->max_chars, DIGEST_CHARS_MIN), from = first_shown(in, max), shown, room;

	*ret = (struct digest){ .parts = 1, .is_worth_it = in->n >= 2 };
	shown = in->n ? in->n - MIN(from, in->n) + 1 : 0;
	room = shown ? (max - HEADER_MAX) / shown : 0;
	ret->evidence = ARENA_ARRAY(a, struct str, shown + 1);
	ret->events = ARENA_ARRAY(a, int64_t, shown + 1);
	write_header(in, a, &out);
	for (size_t i = 0; i < in->n; i = i ? i + 1 : from) {
		struct str text = unit_text(a, &in->summaries[i]),
			   cut = text_shorten(a, text, room > 4 ? room - 4 : 0);

		buf_str(&out, i == from && from > 1 ? "- (some left out)\n-\n" : "-\n");
		buf_add(&out, cut.p, cut.n);
		buf_char(&out, '\n');
		ret->evidence[ret->nevidence] = text;
		ret->events[ret->nevidence++] = in->summaries[i].id;
	}
	ret->n = utf8_cut(buf_cstr(&out), out.len, max);
	ret->text = arena_dup(a, buf_cstr(&out), ret->n);
	ret->evidence[ret->nevidence++] = (struct str){ ret->text, ret->n };
	ret->hash = hash64(ret->text, ret->n);
}
