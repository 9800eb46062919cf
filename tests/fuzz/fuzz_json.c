/* Thinning and parsing: any bytes in any pieces; what the scanner puts out of valid JSON is valid JSON. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/json_scan.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_done) struct buf thin = { .max = 1u << 20 };
	struct json_scan *scan = json_scan_new(&thin, 64);
	json *whole = NULL, *cut = NULL;
	size_t step = size ? 1 + data[0] % 17u : 1;

	for (size_t at = 0; at < size; at += step)
		json_scan_feed(scan, (const char *)data + at, size - at < step ? size - at : step);
	json_scan_end(scan);
	json_scan_free(scan);
	if (!json_parse((const char *)data, size, &whole, NULL)) {
		if (!thin.is_full)
			assert(!json_parse(buf_cstr(&thin), thin.len, &cut, NULL));
		AUTO(buf_done) struct buf text = { 0 };
		json *again = NULL;

		json_print(whole, &text);
		assert(!json_parse(buf_cstr(&text), text.len, &again, NULL));
		json_free(again);
	}
	json_free(whole);
	json_free(cut);
	return 0;
}
