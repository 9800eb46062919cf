/* The tolerant reader of models' answers: any bytes, cut or not. What comes out is valid UTF-8 within its ceilings. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
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
	}
	return 0;
}
