/* What is done to any text on its way in and out: repair, terms, snippets, redaction, cleaning, titles. Out comes valid UTF-8. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "observe/clean.h"
#include "observe/title.h"
#include "text/redact.h"
#include "text/snippet.h"
#include "text/terms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void each(void *ctx, const struct term *t)
{
	size_t *n = ctx;

	assert(t->len > 0 && t->len <= TERM_MAX && t->start <= t->end && t->end <= *n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct analyser *an;
	static struct redactor *redactor;
	AUTO(arena_done) struct arena a = { 0 };
	struct str wanted[] = { STR("parser"), STR("a") };
	struct snippet_terms terms = { wanted, ARRAY_LEN(wanted) };
	struct str text = utf8_repair(&a, (struct str){ (const char *)data, size });
	uint64_t count = 0;
	char *s;

	if (!an) {
		an = analyser_new();
		assert(!redactor_new(NULL, &redactor, NULL));
	}
	assert(utf8_is_valid(text.p, text.n));
	analyser_run(an, text, each, &text.n);
	s = snippet_make(&a, an, text, &terms, 120);
	assert(!s || utf8_is_valid(s, strlen(s)));
	s = text_one_line(&a, text, 60);
	assert(!s || utf8_is_valid(s, strlen(s)));
	text = clean_text(&a, redactor, text, &count);
	assert(utf8_is_valid(text.p, text.n));
	s = title_from_reply(&a, text);
	assert(!s || (utf8_is_valid(s, strlen(s)) && !strchr(s, '\n')));
	s = title_from_prompt(&a, text);
	assert(!s || (utf8_is_valid(s, strlen(s)) && !strchr(s, '\n')));
	return 0;
}
