/* json_scan.c: against the input itself, and against json-c on what it gives. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/mem.h"

/* Feeds in pieces of random sizes up to `piece` (0: at once) and gives the bytes cut. */
static uint64_t scan(
	struct str text, size_t string_max, size_t piece, uint64_t *random, struct buf *out)
{
	struct json_scan *s = json_scan_new(out, string_max);
	uint64_t cut;

	for (size_t at = 0; at < text.n;) {
		size_t n = piece ? 1 + unit_below(random, piece) : text.n;

		n = MIN(n, text.n - at);
		json_scan_feed(s, text.p + at, n);
		at += n;
	}
	cut = json_scan_end(s);
	json_scan_free(s);
	return cut;
}

/* One character of a JSON string, in all the forms that a border could fall into. */
static void add_character(struct buf *b, uint64_t *random)
{
	static const char *const forms[] = { "a", " ", "é", "😀", "\\n", "\\\\", "\\\"", "\\u00e9",
		"\\ud83d\\ude00", "\\u0022", "\\u005c", "{", ":", "\\\\\\\\", "u", "\\/" };

	buf_str(b, forms[unit_below(random, ARRAY_LEN(forms))]);
}

static void make_value(struct buf *b, uint64_t *random, size_t string_len, int depth)
{
	size_t kind = unit_below(random, depth > 0 ? 4 : 2), n = unit_below(random, 5);

	if (kind == 0) {
		buf_printf(b, "%d", (int)n);
	} else if (kind == 1) {
		buf_char(b, '"');
		for (size_t i = unit_below(random, string_len + 1); i > 0; i--)
			add_character(b, random);
		buf_char(b, '"');
	} else {
		buf_char(b, kind == 2 ? '[' : '{');
		for (size_t i = 0; i < n; i++) {
			buf_str(b, i ? ", " : "");
			if (kind == 3)
				buf_printf(b, "\"\\\"k%zu\" : ", i);
			make_value(b, random, string_len, depth - 1);
		}
		buf_char(b, kind == 2 ? ']' : '}');
	}
}

static void what_has_no_long_string_comes_out_as_it_went_in(void **state)
{
	uint64_t random = 5;

	for (int i = 0; i < 3000; i++) {
		AUTO(buf_done) struct buf text = { 0 };
		AUTO(buf_done) struct buf out = { 0 };
		struct str s;

		make_value(&text, &random, 30, 4);
		s = (struct str){ text.data, text.len };
		for (size_t piece = 0; piece < 12; piece++) {
			buf_cut(&out, 0);
			assert_int_equal(scan(s, 1000, piece, &random, &out), 0);
			assert_string_equal(out.data, text.data);
		}
	}
}

static size_t longest_string(const json *j)
{
	size_t longest = json_slice(j).n;

	for (size_t i = 0; i < json_len(j); i++)
		longest = MAX(longest, longest_string(json_at(j, i)));
	for (struct json_iter it = json_iter(j); json_next(&it);)
		longest = MAX(longest, longest_string(it.value));
	return longest;
}

static void what_is_cut_still_parses_and_does_not_depend_on_the_pieces(void **state)
{
	uint64_t random = 11;
	int cuts = 0;

	for (int i = 0; i < 2000; i++) {
		AUTO(buf_done) struct buf text = { 0 };
		AUTO(buf_done) struct buf whole = { 0 };
		AUTO(json_free_ptr) json *j = NULL;
		struct err err = { 0 };
		size_t string_max = 8 + unit_below(&random, 300);
		struct str s;
		uint64_t cut;

		make_value(&text, &random, 400, 3);
		s = (struct str){ text.data, text.len };
		cut = scan(s, string_max, 0, &random, &whole);
		cuts += cut > 0;
		if (json_parse(whole.data, whole.len, &j, &err) < 0)
			fail_msg("%s: %s", err.text, whole.data);
		assert_true(longest_string(j) <= MAX(string_max, 2 * 48) + 48);
		assert_null(memmem(whole.data, whole.len, "\xEF\xBF\xBD", 3));
		for (size_t piece = 1; piece < 40; piece += 3) {
			AUTO(buf_done) struct buf out = { 0 };

			assert_int_equal(scan(s, string_max, piece, &random, &out), cut);
			if (strcmp(out.data, whole.data) != 0)
				fail_msg("pieces of %zu:\n%s\n%s\n%s", piece, text.data, whole.data,
					out.data);
		}
	}
	assert_true(cuts > 100);
}

/* Lone halves of a pair would be read as U+FFFD; there are none in the input of the test above. */
static void no_character_of_the_output_is_made_up(void **state)
{
	uint64_t random = 13;

	for (size_t n = 90; n < 130; n++) {
		AUTO(buf_done) struct buf text = { 0 };
		AUTO(buf_done) struct buf out = { 0 };
		AUTO(json_free_ptr) json *j = NULL;
		struct err err = { 0 };

		buf_str(&text, "\"");
		for (size_t i = 0; i < n % 13; i++)
			buf_char(&text, ' ');
		for (size_t i = 0; i < n; i++)
			buf_str(&text, "\\ud83d\\ude00");
		buf_str(&text, "\"");
		assert_true(
			scan((struct str){ text.data, text.len }, 200 + n, 7, &random, &out) > 0);
		assert_int_equal(json_parse(out.data, out.len, &j, &err), 0);
		assert_null(str_find(json_slice(j), STR("\xEF\xBF\xBD")));
	}
}

static void a_run_of_backslashes_longer_than_all_is_cut_in_pairs(void **state)
{
	uint64_t random = 17;

	for (size_t n = 400; n < 420; n += 2) {
		AUTO(buf_done) struct buf text = { 0 };
		AUTO(buf_done) struct buf out = { 0 };
		AUTO(json_free_ptr) json *j = NULL;
		struct err err = { 0 };

		buf_str(&text, "{\"k\":\"");
		for (size_t i = 0; i < n; i++)
			buf_char(&text, '\\');
		buf_str(&text, n % 4 ? "\",\"x\":1}" : "end\",\"x\":1}");
		assert_true(
			scan((struct str){ text.data, text.len }, 101, n % 9, &random, &out) > 0);
		if (json_parse(out.data, out.len, &j, &err) < 0)
			fail_msg("%s: %s", err.text, out.data);
		assert_int_equal(json_int(j, "x", 0), 1);
	}
}

static void the_mark_tells_the_true_size_between_head_and_tail(void **state)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(buf_done) struct buf out = { 0 };
	uint64_t random = 1, cut;

	buf_str(&text, "{\"a\":\"begin ");
	for (int i = 0; i < 100000; i++)
		buf_str(&text, "lorem ipsum ");
	buf_str(&text, "end\",\"b\":2}");
	cut = scan((struct str){ text.data, text.len }, 1000, 4096, &random, &out);
	assert_memory_equal(out.data, "{\"a\":\"begin lorem", 17);
	assert_non_null(strstr(out.data, "[cut from 1200009 bytes]"));
	assert_non_null(strstr(out.data, "ipsum end\",\"b\":2}"));
	assert_true(out.len < 1100);
	assert_true(cut > 1199000 && cut < 1200009);
}

static void base64_becomes_a_mark_and_a_prefix_stays(void **state)
{
	for (int with_prefix = 0; with_prefix < 2; with_prefix++) {
		for (size_t n = 5000; n < 500000; n *= 9) {
			AUTO(buf_done) struct buf text = { 0 };
			AUTO(buf_done) struct buf out = { 0 };
			AUTO(buf_done) struct buf expected = { 0 };
			const char *prefix = with_prefix ? "data:image/png;base64," : "";
			uint64_t random = n;

			buf_printf(&text, "{\"data\":\"%s", prefix);
			for (size_t i = 0; i < n; i++)
				buf_char(&text, "ABCxyz019+/"[unit_below(&random, 11)]);
			buf_str(&text, "\",\"b\":2}");
			buf_printf(&expected, "{\"data\":\"%s[base64 of %zu bytes]\",\"b\":2}",
				prefix, n);
			assert_int_equal(scan((struct str){ text.data, text.len },
						 JSON_SCAN_STRING_MAX, 3000, &random, &out),
				n);
			assert_string_equal(out.data, expected.data);
		}
	}
}

static void text_with_one_other_letter_is_not_base64(void **state)
{
	for (size_t at = 0; at < 6000; at += 577) {
		AUTO(buf_done) struct buf text = { 0 };
		AUTO(buf_done) struct buf out = { 0 };
		uint64_t random = 1;

		buf_char(&text, '"');
		for (size_t i = 0; i < 6000; i++)
			buf_char(&text, i == at ? ' ' : 'A');
		buf_char(&text, '"');
		assert_int_equal(
			scan((struct str){ text.data, text.len }, 10000, 1000, &random, &out), 0);
		assert_string_equal(out.data, text.data);
	}
}

static void output_above_its_ceiling_is_marked_and_memory_stays_small(void **state)
{
	AUTO(buf_done) struct buf out = { .max = 100 };
	struct json_scan *s = json_scan_new(&out, 50);

	json_scan_feed(s, "[", 1);
	for (int i = 0; i < 1000; i++)
		json_scan_feed(
			s, "\"0123456789 123456789 123456789 123456789 123456789 123456789\",", 63);
	json_scan_end(s);
	assert_true(out.is_full);
	assert_true(out.len <= 100);
	buf_cut(&out, 0);
	json_scan_feed(s, "{\"a\":1}", 7);
	assert_int_equal(json_scan_end(s), 0);
	assert_string_equal(out.data, "{\"a\":1}");
	json_scan_free(s);
}

static void a_value_that_ends_within_a_string_leaves_no_trace_in_the_next(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct json_scan *s = json_scan_new(&out, 50);

	json_scan_feed(s, "{\"a\":\"x\\", 8);
	json_scan_end(s);
	assert_string_equal(out.data, "{\"a\":\"x\\");
	buf_cut(&out, 0);
	json_scan_feed(s, "\"b\"", 3);
	json_scan_end(s);
	assert_string_equal(out.data, "\"b\"");
	json_scan_free(s);
}

/* Run with REMANENCE_BENCH set: prints gigabytes a second for lines such as transcripts hold. */
static void the_scan_is_measured_when_asked(void **state)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(buf_done) struct buf out = { 0 };
	uint64_t random = 1, start, used;
	struct json_scan *s;

	if (!getenv("REMANENCE_BENCH"))
		skip();
	for (size_t longest = 20; longest <= 200000; longest *= 100) {
		buf_cut(&text, 0);
		while (text.len < (64u << 20)) {
			buf_str(&text, "{\"type\":\"user\",\"uuid\":\"0f8b3c1e-77aa-4b6e-9d5e-"
				       "0123456789ab\",\"text\":\"");
			for (size_t i = unit_below(&random, longest); i > 0; i -= MIN(i, 8))
				buf_str(&text, i % 64 < 8 ? "x \\\"y\\\"\\n" : "int main");
			buf_str(&text, "\",\"n\":12}\n");
		}
		buf_cut(&out, 0);
		assert_true(buf_reserve(&out, text.len));
		s = json_scan_new(&out, JSON_SCAN_STRING_MAX);
		start = clock_mono_us();
		for (size_t at = 0; at < text.len; at += 65536)
			json_scan_feed(s, text.data + at, MIN(65536, text.len - at));
		json_scan_free(s);
		used = clock_mono_us() - start;
		print_message("strings up to %zu: %.2f GB/s\n", longest,
			(double)text.len / 1e3 / (double)used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_long_string_comes_out_as_it_went_in),
		cmocka_unit_test(what_is_cut_still_parses_and_does_not_depend_on_the_pieces),
		cmocka_unit_test(no_character_of_the_output_is_made_up),
		cmocka_unit_test(a_run_of_backslashes_longer_than_all_is_cut_in_pairs),
		cmocka_unit_test(the_mark_tells_the_true_size_between_head_and_tail),
		cmocka_unit_test(base64_becomes_a_mark_and_a_prefix_stays),
		cmocka_unit_test(text_with_one_other_letter_is_not_base64),
		cmocka_unit_test(output_above_its_ceiling_is_marked_and_memory_stays_small),
		cmocka_unit_test(a_value_that_ends_within_a_string_leaves_no_trace_in_the_next),
		cmocka_unit_test(the_scan_is_measured_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
