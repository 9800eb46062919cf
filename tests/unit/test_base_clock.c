/* clock.c, in a zone with summer time. */
#include "unit.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

#define NOW INT64_C(1795972500123) /* 2026-11-29T17:15:00.123Z, in Paris 18:15 */
#define HOUR INT64_C(3600000)

static int use_paris(void **state)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

static void iso_times_are_read_with_any_offset(void **state)
{
	static const struct {
		const char *text;
		int64_t at;
	} rows[] = {
		{ "2026-11-29T17:15:00.123Z", NOW },
		{ "2026-11-29T18:15:00.123+01:00", NOW },
		{ "2026-11-29T18:15:00.123456789+0100", NOW },
		{ "2026-11-29T12:15:00,123-05", NOW },
		{ "2026-11-29 17:15Z", NOW - 123 },
		{ "1970-01-01T00:00:01Z", 1000 },
		{ "1969-12-31T23:59:59Z", -1000 },
		{ "2024-02-29T00:00:00Z", INT64_C(1709164800000) },
		{ "2023-02-29T00:00:00Z", 0 },
		{ "2026-13-01T00:00:00Z", 0 },
		{ "2026-11-29T25:00:00Z", 0 },
		{ "2026-11-29", 0 },
		{ "2026-11-29T17:15:00", 0 },
		{ "2026-11-29T17:15:00Zx", 0 },
		{ "", 0 },
		{ NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(clock_parse_iso(rows[i].text), rows[i].at);
}

static void a_time_written_is_the_time_read(void **state)
{
	uint64_t random = 9;

	for (int i = 0; i < 100000; i++) {
		AUTO(arena_done) struct arena a = { 0 };
		int64_t at = (int64_t)unit_below(&random, (size_t)INT64_C(8000000000000)) -
			     INT64_C(2000000000000);

		at += at == 0;
		assert_int_equal(clock_parse_iso(clock_iso(&a, at)), at);
	}
}

static void what_people_type_is_understood(void **state)
{
	static const struct {
		const char *text;
		bool is_end;
		const char *iso; /* NULL: not understood */
	} rows[] = {
		{ "now", false, "2026-11-29T17:15:00.123Z" },
		{ "today", false, "2026-11-28T23:00:00.000Z" },
		{ " Today ", true, "2026-11-29T22:59:59.999Z" },
		{ "yesterday", false, "2026-11-27T23:00:00.000Z" },
		{ "yesterday", true, "2026-11-28T22:59:59.999Z" },
		{ "tomorrow", false, "2026-11-29T23:00:00.000Z" },
		{ "2h", false, "2026-11-29T15:15:00.123Z" },
		{ "7d", true, "2026-11-22T17:15:00.123Z" },
		{ "3 days ago", false, "2026-11-26T17:15:00.123Z" },
		{ "1 week", false, "2026-11-22T17:15:00.123Z" },
		{ "10min ago", false, "2026-11-29T17:05:00.123Z" },
		{ "2026-11-29", false, "2026-11-28T23:00:00.000Z" },
		{ "2026-11-29", true, "2026-11-29T22:59:59.999Z" },
		{ "2026-02-28", true, "2026-02-28T22:59:59.999Z" },
		{ "2026-07", false, "2026-06-30T22:00:00.000Z" },
		{ "2026-12", true, "2026-12-31T22:59:59.999Z" },
		{ "2026-10-25", true, "2026-10-25T22:59:59.999Z" },
		{ "2026-07-01 12:00", false, "2026-07-01T10:00:00.000Z" },
		{ "2026-07-01T12:00:00Z", true, "2026-07-01T12:00:00.000Z" },
		{ "17:30", false, "2026-11-29T16:30:00.000Z" },
		{ "soon", false, NULL },
		{ "", false, NULL },
		{ "7", false, NULL },
		{ "7 parsecs", false, NULL },
		{ "2026-02-30", false, NULL },
		{ "999999999999999999999d", false, NULL },
		{ "9999999999999 years", false, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		int64_t at = 0;

		if (clock_parse_human(rows[i].text, NOW, rows[i].is_end, &at) !=
			(rows[i].iso != NULL))
			fail_msg("'%s'", rows[i].text);
		if (rows[i].iso)
			assert_string_equal(clock_iso(&a, at), rows[i].iso);
	}
}

static void spans_have_one_number_and_one_unit(void **state)
{
	int64_t span = 0;

	assert_true(clock_parse_span("2h", &span) && span == 2 * HOUR);
	assert_true(clock_parse_span("90s", &span) && span == 90000);
	assert_true(clock_parse_span("500ms", &span) && span == 500);
	assert_true(clock_parse_span("1w", &span) && span == 7 * 24 * HOUR);
	assert_false(clock_parse_span("2", &span));
	assert_false(clock_parse_span("h", &span));
	assert_false(clock_parse_span("2 hours", &span));
	assert_false(clock_parse_span("-1h", &span));
	assert_false(clock_parse_span("9223372036854775807w", &span));
	assert_false(clock_parse_span(NULL, &span));
}

static void times_are_told_as_people_tell_them(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };

	assert_string_equal(clock_day(&a, NOW + 6 * HOUR), "2026-11-30");
	assert_string_equal(clock_minute(&a, NOW), "2026-11-29 18:15");
	assert_string_equal(clock_ago(&a, NOW - 5000, NOW), "just now");
	assert_string_equal(clock_ago(&a, NOW - 180000, NOW), "3 min ago");
	assert_string_equal(clock_ago(&a, NOW - HOUR, NOW), "1 hour ago");
	assert_string_equal(clock_ago(&a, NOW - 50 * HOUR, NOW), "2 days ago");
	assert_string_equal(clock_ago(&a, NOW - 500 * 24 * HOUR, NOW), "1 year ago");
	assert_string_equal(clock_age(&a, NOW - 1000, NOW), "now");
	assert_string_equal(clock_age(&a, NOW - 180000, NOW), "3min");
	assert_string_equal(clock_age(&a, NOW - 50 * HOUR, NOW), "2d");
	assert_string_equal(clock_age(&a, NOW - 280 * 24 * HOUR, NOW), "9mo");
	assert_string_equal(clock_ago(&a, NOW + 2 * HOUR, NOW), "in 2 hours");
	assert_string_equal(clock_ago(&a, 0, INT64_MAX), "292471208 years ago");
}

static void the_clock_goes_forward(void **state)
{
	uint64_t before = clock_mono_us();

	assert_true(clock_now() > INT64_C(1700000000000));
	assert_true(clock_mono_us() >= before);
}

static void a_moment_from_now_is_valid_and_so_far_away(void **state)
{
	static const uint64_t spans[] = { 0, 1, 999999, 1000000, 1500000, 3600000000ull };

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		int64_t before = clock_now();
		struct timespec t = clock_after_us(spans[i]);
		int64_t at = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;

		assert_true(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
		assert_true(at >= before + (int64_t)(spans[i] / 1000));
		assert_true(at <= clock_now() + (int64_t)(spans[i] / 1000) + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(iso_times_are_read_with_any_offset),
		cmocka_unit_test(a_time_written_is_the_time_read),
		cmocka_unit_test(what_people_type_is_understood),
		cmocka_unit_test(spans_have_one_number_and_one_unit),
		cmocka_unit_test(times_are_told_as_people_tell_them),
		cmocka_unit_test(the_clock_goes_forward),
		cmocka_unit_test(a_moment_from_now_is_valid_and_so_far_away),
	};

	return cmocka_run_group_tests(tests, use_paris, NULL);
}
