/*
 * The tolerant reader of models' answers, and what is made of them: any bytes, cut or not. What comes
 * out is valid UTF-8 within its ceilings, and memories that can be stored.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "observe/refine.h"
#include "observe/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *s)
{
	assert(!s || (*s && strlen(s) <= REPLY_FIELD_MAX + 8 && utf8_is_valid(s, strlen(s))));
}

static void check_list(const char **list, size_t n)
{
	assert(n <= REPLY_LIST_MAX);
	for (size_t i = 0; i < n; i++) {
		assert(list[i]);
		check_text(list[i]);
	}
}

static void check_item(const struct reply_item *i)
{
	const char *texts[] = { i->said_type, i->title, i->subtitle, i->body, i->request,
		i->investigated, i->learned, i->completed, i->next_steps, i->notes, i->subject,
		i->value, i->quote };

	assert(i->kind == KIND_OBSERVATION || i->kind == KIND_SUMMARY || i->kind == KIND_FACT);
	assert(i->confidence <= 1 && i->unit >= 0);
	for (size_t t = 0; t < ARRAY_LEN(texts); t++)
		check_text(texts[t]);
	check_list(i->facts, i->nfacts);
	check_list(i->concepts, i->nconcepts);
	check_list(i->files, i->nfiles);
	check_list(i->files_read, i->nread);
	check_list(i->files_modified, i->nmodified);
}

/* ---- a unit that the answers are about ---- */

static const char *const files[] = { "/home/u/app/net/retry.c" };
static const struct event events[] = {
	{ .id = 1,
		.key = "a",
		.at = 1,
		.kind = EVENT_PROMPT,
		.text = "Fix the retry client.",
		.exit_code = -1 },
	{ .id = 2,
		.key = "b",
		.at = 2,
		.kind = EVENT_TOOL,
		.tool = "Edit",
		.files = files,
		.nfiles = 1,
		.writes_files = true,
		.status = STATUS_OK,
		.exit_code = -1,
		.diff = "@@ -1 +1 @@\n-sleep(1);\n+retry_wait(header);\n" },
	{ .id = 3,
		.key = "c",
		.at = 3,
		.kind = EVENT_TOOL,
		.tool = "Bash",
		.status = STATUS_OK,
		.input = "{\"command\":\"make test\"}",
		.output = "ok, 42 tests in 3 s" },
	{ .id = 4,
		.key = "d",
		.at = 4,
		.kind = EVENT_REPLY,
		.exit_code = -1,
		.text = "Retry waits for Retry-After; the header is read in net/retry.c." },
};

static void check_memory(const struct memory *m)
{
	const char *texts[] = { m->title, m->subtitle, m->body, m->request, m->investigated,
		m->learned, m->completed, m->next_steps, m->notes, m->facts, m->concepts };

	assert(m->title && *m->title && m->slot && m->nevidence);
	assert(m->confidence >= 0 && m->confidence <= 1);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert(!texts[i] || utf8_is_valid(texts[i], strlen(texts[i])));
}

static void refine(struct arena *a, const struct reply *r)
{
	const struct rules_input unit = { .events = events, .n = ARRAY_LEN(events) };
	struct rules_output made;
	struct digest d;
	struct refine_output out;
	struct refine_input in = { .unit = &unit,
		.made = &made,
		.digest = &d,
		.reply = r,
		.number = 1,
		.is_only_unit = true,
		.model = "m",
		.version = "v",
		.threshold = .4 };

	rules_run(a, &unit, &made);
	digest_make(a, &(struct digest_input){ &unit, &made, 6000, 0 }, &d);
	refine_run(a, &in, &out);
	for (size_t i = 0; i < out.n; i++)
		check_memory(&out.items[i].m);
	for (size_t i = 0; i < out.ncandidates; i++) {
		const struct fact_candidate *c = &out.candidates[i];

		assert(c->title && *c->title && c->subject && *c->subject && c->slot && c->key);
		assert(utf8_is_valid(c->title, strlen(c->title)));
	}
	assert(out.n + out.ncandidates + out.dropped == out.counts.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct reply r;

		reply_read(&a, (struct str){ (const char *)data, size }, is_cut != 0, &r);
		assert(r.class > REPLY_NONE && r.class < REPLY_CLASS_COUNT);
		assert(r.n <= REPLY_ITEMS_MAX);
		assert(r.n == 0 || r.class == REPLY_JSON || r.class == REPLY_JSON_LOOSE ||
			r.class == REPLY_XML || r.class == REPLY_CUT);
		for (size_t i = 0; i < r.n; i++)
			check_item(&r.items[i]);
		check_text(r.why);
		refine(&a, &r);
	}
	return 0;
}
