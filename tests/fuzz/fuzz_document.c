/* Markdown documents, their front matter, and .gitignore files. No byte that is not white space is lost or doubled. */
#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "text/document.h"
#include "text/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void white(const char *from, const char *to)
{
	for (; from < to; from++)
		assert(isspace((unsigned char)*from));
}

static void check(const struct document *d, struct str text)
{
	const char *at = NULL;

	for (size_t i = 0; i < d->n; i++) {
		const struct document_chunk *c = &d->chunks[i];
		assert(c->text.n && utf8_is_valid(c->text.p, c->text.n));
		assert(strlen(c->section) <= DOCUMENT_SECTION_MAX &&
			utf8_is_valid(c->path, strlen(c->path)));
		if (c->heading.n) {
			white(at ? at : c->heading.p, c->heading.p);
			at = c->heading.p + c->heading.n;
		}
		assert(!at || c->text.p >= at);
		white(at ? at : c->text.p, c->text.p);
		at = c->text.p + c->text.n;
		assert(at <= text.p + text.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str text = utf8_repair(&a, (struct str){ (const char *)data, size });
	struct document d;
	struct ignore ig = { .arena = &a };

	document_parse(&a, text, size ? data[0] * 4u : 500, &d);
	check(&d, text);
	front_matter_json(&a, &d.front);
	ignore_add(&ig, "/r", text);
	ignore_holds(&ig, "/r/a/b.md", false);
	char *copy = arena_dup(&a, text.p, text.n);
	document_blank_private(copy, text.n);
	return 0;
}
