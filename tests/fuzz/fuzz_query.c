/* Questions: no punctuation is ever an error; spool headers and human times beside it. */
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mem.h"
#include "index/query.h"
#include "wire/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct analyser *an;
	AUTO(arena_done) struct arena a = { 0 };
	struct query_filter filter = { 0 };
	struct spool_header h;
	char *text = arena_dup(&a, data, size);
	int64_t at;

	if (!an)
		an = analyser_new();
	query_parse(&a, an, utf8_repair(&a, (struct str){ text, size }), &filter);
	spool_header_parse(text, size, &h);
	clock_parse_human(text, 1764436500000, false, &at);
	clock_parse_iso(text);
	str_glob(text, "src/a/b.c");
	return 0;
}
