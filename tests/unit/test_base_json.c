/* json.c and json_write.c. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static json *parse(const char *text, size_t len)
{
	struct err err = { 0 };
	json *j = NULL;

	if (json_parse(text, len, &j, &err) < 0)
		fail_msg("%.*s: %s", (int)len, text, err.text);
	return j;
}

static void members_are_read_and_missing_ones_give_the_default(void **state)
{
	static const char text[] = "{\"a\":{\"b\":{\"n\":42}},\"s\":\"x\\u00e9\",\"t\":true,\"r\":"
				   "1.5,\"z\":null,\"w\":3.0,"
				   "\"big\":9007199254740993,\"l\":[1,\"two\"],\"d\":1,\"d\":2} \n";
	AUTO(json_free_ptr) json *j = parse(text, strlen(text));
	size_t n = 0;

	assert_int_equal(json_value_int(json_path(j, "a.b.n"), 0), 42);
	assert_null(json_path(j, "a.x.n"));
	assert_null(json_path(j, "s.x"));
	assert_string_equal(json_str(j, "s"), "xé");
	assert_null(json_str(j, "t"));
	assert_null(json_str(j, "none"));
	assert_null(json_str(NULL, "none"));
	assert_true(json_bool(j, "t", false));
	assert_true(json_bool(j, "s", true));
	assert_true(json_real(j, "r", 0) == 1.5);
	assert_true(json_real(j, "d", 0) == 2.0);
	assert_int_equal(json_int(j, "r", -1), -1);
	assert_int_equal(json_int(j, "w", -1), 3);
	assert_int_equal(json_int(j, "s", -1), -1);
	assert_true(json_int(j, "big", 0) == INT64_C(9007199254740993));
	assert_int_equal(json_int(j, "d", 0), 2);
	assert_int_equal(json_type(json_get(j, "z")), JSON_NULL);
	assert_int_equal(json_type(json_get(j, "l")), JSON_ARRAY);
	assert_int_equal(json_len(json_get(j, "l")), 2);
	assert_string_equal(json_value_str(json_at(json_get(j, "l"), 1)), "two");
	assert_null(json_at(json_get(j, "l"), 2));
	assert_int_equal(json_len(j), 0);
	for (struct json_iter it = json_iter(j); json_next(&it);)
		assert_string_equal(it.key,
			((const char *[]){ "a", "s", "t", "r", "z", "w", "big", "l", "d" })[n++]);
	assert_int_equal(n, 9);
}

static void broken_text_is_repaired_before_it_is_parsed(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *value;
	} rows[] = {
		{ "\"a\0b\"", 5,
			"a\xEF\xBF\xBD"
			"b" },
		{ "\"a\\u0000b\"", 10,
			"a\xEF\xBF\xBD"
			"b" },
		{ "\"\\\\u0000\"", 9, "\\u0000" },
		{ "\"\\\\\\u0000\"", 10, "\\\xEF\xBF\xBD" },
		{ "\"\\ud800\"", 8, "\xEF\xBF\xBD" },
		{ "\"\\ud800x\"", 9, "\xEF\xBF\xBDx" },
		{ "\"\\udc00\"", 8, "\xEF\xBF\xBD" },
		{ "\"\\ud83d\\ude00\"", 14, "😀" },
		{ "\"\xFF\xE2\x82\"", 5, "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "\"a\tb\nc\"", 7, "a\tb\nc" },
		{ "\"\\ud800\\u0000\"", 14, "\xEF\xBF\xBD\xEF\xBF\xBD" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(json_free_ptr) json *j = parse(rows[i].text, rows[i].len);
		struct str s = json_slice(j);

		if (!str_is(s, rows[i].value))
			fail_msg("row %zu gives '%.*s'", i, (int)s.n, s.p);
		assert_true(utf8_is_valid(s.p, s.n));
	}
}

static void what_is_not_one_value_is_an_error_with_its_place(void **state)
{
	static const char *const texts[] = { "", "  ", "{", "{\"a\":}", "[1,]", "{} {}", "12 3",
		"\"abc", "nope", "['a']", "[1 2]", "\\u0000", "{\"a\" 1}", "tru", "-" };
	char deep[401];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = { 0 };
		json *j = NULL;

		if (json_parse(texts[i], strlen(texts[i]), &j, &err) == 0)
			fail_msg("'%s' was taken", texts[i]);
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.text, "byte"));
	}
	memset(deep, '[', 200);
	memset(deep + 200, ']', 200);
	deep[400] = '\0';
	for (size_t n = 100; n <= 200; n += 100) {
		struct err err = { 0 };
		AUTO(json_free_ptr) json *j = NULL;

		assert_int_equal(json_parse(deep + 200 - n, 2 * n, &j, &err), n == 100 ? 0 : -1);
	}
}

static void scalars_stand_alone(void **state)
{
	AUTO(json_free_ptr) json *number = parse("12", 2);
	AUTO(json_free_ptr) json *word = parse(" true ", 6);
	AUTO(json_free_ptr) json *nothing = parse("null", 4);

	assert_int_equal(json_value_int(number, 0), 12);
	assert_true(json_value_bool(word, false));
	assert_null(nothing);
}

static void numbers_of_any_size_are_taken(void **state)
{
	static const char text[] =
		"[1e999,123456789012345678901234567890,-1e-999,0.1,18446744073709551615]";
	AUTO(json_free_ptr) json *j = parse(text, strlen(text));
	AUTO(buf_done) struct buf b = { 0 };

	assert_int_equal(json_len(j), 5);
	json_print(j, &b);
	assert_non_null(strstr(b.data, "null,"));
	assert_non_null(strstr(b.data, ",0.1,"));
	json_free(parse(b.data, b.len));
}

static void the_writer_places_commas_and_escapes(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };

	jw_object(&w, NULL);
	jw_str(&w, "a", "q\"\\\n\x01/é\xFF");
	jw_str(&w, "n", NULL);
	jw_array(&w, "l");
	jw_int(&w, NULL, INT64_MIN);
	jw_real(&w, NULL, 0.125, 2);
	jw_real(&w, NULL, (double)NAN, 2);
	jw_bool(&w, NULL, true);
	jw_object(&w, NULL);
	jw_end(&w, '}');
	jw_array(&w, NULL);
	jw_end(&w, ']');
	jw_end(&w, ']');
	jw_printf(&w, "p", "%d%%", 5);
	jw_raw(&w, "r", STR("[1]"));
	jw_null(&w, "z");
	jw_end(&w, '}');
	assert_string_equal(b.data, "{\"a\":\"q\\\"\\\\\\n\\u0001/"
				    "é\xEF\xBF\xBD\",\"n\":null,\"l\":[-9223372036854775808,"
				    "0.12,null,true,{},[]],\"p\":\"5%\",\"r\":[1],\"z\":null}");
	assert_int_equal(w.depth, 0);
}

/* Writes a random value whose strings hold all that strings can hold. */
static void write_random(struct jw *w, const char *key, uint64_t *random, int depth)
{
	char text[20];
	size_t n = unit_below(random, sizeof(text)), kind = unit_below(random, depth > 0 ? 7 : 5);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)unit_random(random);
	switch (kind) {
	case 0:
		jw_int(w, key, (int64_t)unit_random(random));
		break;
	case 1:
		jw_bool(w, key, n % 2);
		break;
	case 2:
		jw_null(w, key);
		break;
	case 3:
		jw_real(w, key, (double)unit_below(random, 100000) / 7, 3);
		break;
	case 4:
		jw_slice(w, key, (struct str){ text, n });
		break;
	default:
		if (kind == 5)
			jw_array(w, key);
		else
			jw_object(w, key);
		for (size_t i = 0; i < n % 6; i++) {
			char name[8];

			snprintf(name, sizeof(name), "\n\"%zu", i);
			write_random(w, kind == 5 ? NULL : name, random, depth - 1);
		}
		jw_end(w, kind == 5 ? ']' : '}');
	}
}

static void what_is_written_is_read_back_and_printed_the_same(void **state)
{
	uint64_t random = 3;

	for (int i = 0; i < 5000; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		AUTO(buf_done) struct buf again = { 0 };
		AUTO(json_free_ptr) json *j = NULL;
		struct jw w = { .out = &b };

		write_random(&w, NULL, &random, 5);
		assert_true(utf8_is_valid(b.data, b.len));
		j = parse(b.data, b.len);
		json_print(j, &again);
		assert_string_equal(b.data, again.data);
	}
}

static void a_value_deeper_than_the_writer_is_still_printed(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	AUTO(json_free_ptr) json *j = NULL;
	char deep[201];

	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	deep[200] = '\0';
	j = parse(deep, 200);
	json_print(j, &b);
	assert_string_equal(b.data, deep);
}

static void reals_are_written_as_a_format_writes_them(void **state)
{
	static const double values[] = { 0, -0.0, 0.5, 1.5, 0.125, -2.5, 99.995, 1e-9, -1e-9, 1e8,
		999999999.9999, 1e9, 1e15, -1e300, 123456.789 };
	uint64_t seed = 1;

	for (size_t i = 0; i < 20000; i++) {
		AUTO(buf_done) struct buf written = { 0 }, formatted = { 0 };
		struct jw w = { .out = &written };
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		double value = i < ARRAY_LEN(values) ? values[i]
						     : (double)(int64_t)seed / 1e12 / (double)(1 + i % 977);
		int decimals = (int)(i % 6);
		jw_real(&w, NULL, value, decimals);
		buf_printf(&formatted, "%.*f", decimals, value);
		assert_string_equal(buf_cstr(&written), buf_cstr(&formatted));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_read_and_missing_ones_give_the_default),
		cmocka_unit_test(broken_text_is_repaired_before_it_is_parsed),
		cmocka_unit_test(what_is_not_one_value_is_an_error_with_its_place),
		cmocka_unit_test(scalars_stand_alone),
		cmocka_unit_test(numbers_of_any_size_are_taken),
		cmocka_unit_test(the_writer_places_commas_and_escapes),
		cmocka_unit_test(what_is_written_is_read_back_and_printed_the_same),
		cmocka_unit_test(a_value_deeper_than_the_writer_is_still_printed),
		cmocka_unit_test(reals_are_written_as_a_format_writes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
