#include "observe/quality.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "observe/refine_text.h"
#include "observe/sentence.h"

void quality_begin(struct quality *q, struct arena *a, const struct mode *mode)
{
	*q = (struct quality){ .a = a, .mode = mode };
}

static bool begins_with_person(const char *body)
{
	static const char *const starts[] = { "the user", "user ", "the person", "the developer",
		"the human", "l'utilisateur", "der benutzer", "der nutzer", "el usuario" };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (strncasecmp(body, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static void add_title(struct quality *q, const char *title)
{
	struct sentence s;

	if (!title)
		return;
	s = sentence_judge(sentence_strip_reply(str_of(title)));
	q->generic_titles += !sentence_is_specific(&s);
	for (size_t i = 0; i < q->ntitles; i++)
		if (text_is_same(q->titles[i], title)) {
			q->duplicate_titles++;
			return;
		}
	if (q->ntitles < QUALITY_TITLES_MAX)
		ARENA_PUSH(q->a, q->titles, q->ntitles, q->titles_cap, arena_str(q->a, title));
}

struct told_texts {
	const char *title, *body, *prompt;
	size_t files;
	bool is_listed;
};

static void add_observation(struct quality *q, const struct told_texts *t)
{
	q->observations++;
	q->off_list += !t->is_listed;
	q->without_files += t->files == 0;
	add_title(q, t->title);
	if (!t->body)
		return;
	q->narratives++;
	q->narrative_bytes += strlen(t->body);
	q->user_first += begins_with_person(t->body);
	q->attribution += text_misattributed(str_of(t->body), t->prompt);
}

static void add_summary(struct quality *q, const char *const *parts, size_t n, const char *prompt)
{
	q->summaries++;
	for (size_t i = 0; i < n; i++)
		q->attribution += text_misattributed(str_of(parts[i]), prompt);
}

/* ---- replies ---- */

static void count_item(struct quality *q, const struct reply_item *i, const char *prompt)
{
	const char *parts[] = { i->learned, i->completed, i->investigated, i->notes };
	struct told_texts t = { i->title, i->body, prompt, i->nfiles + i->nread + i->nmodified,
		false };

	if (i->kind == KIND_FACT) {
		q->facts++;
		q->attribution += text_misattributed(str_of(i->title), prompt);
	} else if (i->kind == KIND_SUMMARY) {
		add_summary(q, parts, ARRAY_LEN(parts), prompt);
	} else {
		mode_type_of(q->mode, i->said_type, &t.is_listed);
		add_observation(q, &t);
	}
}

void quality_reply(struct quality *q, const struct reply *r, const char *prompt)
{
	q->classes[r->class]++;
	q->dropped += r->dropped;
	for (size_t i = 0; i < r->n; i++)
		count_item(q, &r->items[i], prompt);
}

void quality_refined(struct quality *q, const struct refine_output *out)
{
	q->claims += out->claims;
	q->unsupported += out->unsupported;
	q->dropped += out->dropped;
}
