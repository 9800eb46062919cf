/* Periods that questions name, and days as words of documents. */

#include "analyser_fixture.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "index/dates.h"
#include "index/synonyms.h"

#define NOW "2026-11-29T15:30:00Z" /* a Sunday */

static int setup(void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return analyser_open(state);
}

static const struct {
	const char *question, *from, *to; /* days; NULL: no period */
} periods[] = {
	{ "what did we decide about caching last tuesday", "2026-11-24", "2026-11-25" },
	{ "la décision de mardi dernier", "2026-11-24", "2026-11-25" },
	{ "what broke on sunday", "2026-11-29", "2026-11-30" },
	{ "the crash yesterday", "2026-11-28", "2026-11-29" },
	{ "le plantage d'hier", "2026-11-28", "2026-11-29" },
	{ "what did we do today", "2026-11-29", "2026-11-30" },
	{ "three weeks ago we changed the parser", "2026-11-02", "2026-11-09" },
	{ "il y a trois semaines", "2026-11-02", "2026-11-09" },
	{ "2 days ago", "2026-11-27", "2026-11-28" },
	{ "la semaine dernière", "2026-11-16", "2026-11-23" },
	{ "work of last week", "2026-11-16", "2026-11-23" },
	{ "this month", "2026-11-01", "2026-12-01" },
	{ "the release in May", "2026-05-01", "2026-06-01" },
	{ "la version en mai", "2026-05-01", "2026-06-01" },
	{ "migrations of december", "2025-12-01", "2026-01-01" },
	{ "last month's bugs", "2026-10-01", "2026-11-01" },
	{ "this may be a bug", NULL, NULL },
	{ "the last commit", NULL, NULL },
	{ "week numbers in the calendar", NULL, NULL },
	{ "march of the parsers", NULL, NULL },
};

static void questions_name_periods_in_english_and_french(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
		int64_t from, to;
		struct query *q = query_parse(&a, an, str_of(periods[i].question), NULL);
		bool is_there = period_times(q, clock_parse_iso(NOW), &from, &to);
		if (is_there != (periods[i].from != NULL))
			fail_msg("'%s': %s", periods[i].question, is_there ? "a period" : "none");
		if (!is_there)
			continue;
		assert_string_equal(clock_day(&a, from), periods[i].from);
		assert_string_equal(clock_day(&a, to), periods[i].to);
	}
}

static void a_day_is_words_too(void **state)
{
	char words[DATE_WORDS_MAX];
	assert_true(str_is(date_words(clock_parse_iso(NOW), words), "2026-11-29 2026-11 sunday november"));
	assert_int_equal(date_words(0, words).n, 0);
}

/* Rows of the hits, best first. */
static const char *ask(struct index *ix, const char *text)
{
	struct search_result r;
	struct search s = { .query = query_parse(&a, an, str_of(text), NULL),
		.limit = 10,
		.now = clock_parse_iso(NOW) };
	char *out = arena_str(&a, "");
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	for (size_t i = 0; i < r.n; i++)
		out = arena_printf(&a, "%s%d", out, (int)DOC_ROW(r.hits[i].id));
	return r.did_you_mean ? arena_printf(&a, "%s (%s)", out, r.did_you_mean) : out;
}

static void what_was_then_comes_first_and_nothing_is_left_out(void **state)
{
	static const char *const days[] = { "2026-11-29T10:00:00Z", "2026-11-24T10:00:00Z",
		"2026-05-03T10:00:00Z" };
	char dir[] = "/tmp/remanence-dates-XXXXXX";
	struct index *ix;
	bool needs_rebuild;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(index_open(dir, &ix, &needs_rebuild, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		struct doc d = { .id = DOC_ID(DOC_MEMORY, i + 1),
			.columns = { .at = clock_parse_iso(days[i]) },
			.title = str_of("Caching of the repository's tokens was decided") };
		assert_int_equal(index_put(ix, &d, 1, NULL), 0);
	}
	assert_string_equal(ask(ix, "caching decided last tuesday"), "213");
	assert_string_equal(ask(ix, "caching in May"), "312");
	assert_string_equal(ask(ix, "tuesdays"), "2");
	assert_string_equal(ask(ix, "2026-05-03"), "3");
	assert_string_equal(ask(ix, "repo"), "123");
	assert_string_equal(ask(ix, "cacheing"), "123");
	assert_string_equal(ask(ix, "tokesn"), "123 (tokens)");
	assert_string_equal(ask(ix, "zokens"), "");
	index_close(ix);
	assert_int_equal(file_remove_tree(dir, NULL), 0);
}

static void short_forms_are_known(void **state)
{
	struct str others[SYNONYMS_MAX];
	assert_int_equal(synonyms_of(str_of("k8s"), others), 1);
	assert_true(str_is(others[0], "kubernetes"));
	assert_int_equal(synonyms_of(str_of("parser"), others), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_name_periods_in_english_and_french),
		cmocka_unit_test(a_day_is_words_too),
		cmocka_unit_test(what_was_then_comes_first_and_nothing_is_left_out),
		cmocka_unit_test(short_forms_are_known),
	};
	return cmocka_run_group_tests(tests, setup, analyser_close);
}
