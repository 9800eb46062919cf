/* What people ask and what they should get. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/query.h"
#include "model/names.h"

static char dir[] = "/tmp/remanence-search-XXXXXX";
static struct analyser *an;
static struct index *ix;
static struct arena a;

static const struct {
	const char *title, *body, *rest;
	struct doc_columns columns;
} docs[] = {
	[1] = { "Fixed the flaky parser test", "A timer raced with the reader.", "src/parser/lex.c",
		{ .at = 1000,
			.project = 1,
			.session = 1,
			.kind = KIND_OBSERVATION,
			.type = TYPE_BUGFIX } },
	[2] = { "Parsers were rewritten", "Connections stay open now, getUserName is gone.", "",
		{ .at = 2000, .project = 1, .session = 1, .kind = KIND_SUMMARY } },
	[3] = { "Migration", "数据库迁移 is done, the state of the art.", "",
		{ .at = 3000,
			.project = 2,
			.session = 2,
			.kind = KIND_NOTE,
			.status = MEMORY_PENDING } },
	[4] = { "La connexion tombe",
		"La session est utilisée au bout d'une heure et les erreurs sont dans le journal.",
		"", { .at = 4000, .project = 2, .session = 2, .kind = KIND_FACT } },
	[5] = { "Parser notes", "The test of the parser is slow.", "docs/parser.md",
		{ .at = 5000,
			.project = 1,
			.session = 3,
			.kind = KIND_NOTE,
			.flags = DOC_PINNED } },
	[6] = { "user name lookup", "Asked for the name of a user.", "",
		{ .at = 6000,
			.project = 3,
			.session = 3,
			.kind = KIND_NOTE,
			.agent = AGENT_CODEX } },
};

static int setup(void **state)
{
	bool needs_rebuild;
	an = analyser_new();
	if (!mkdtemp(dir) || index_open(dir, &ix, &needs_rebuild, NULL) != 0)
		return -1;
	for (size_t i = 1; i < ARRAY_LEN(docs); i++) {
		struct doc d = { .id = DOC_ID(DOC_MEMORY, i),
			.columns = docs[i].columns,
			.title = str_of(docs[i].title),
			.body = str_of(docs[i].body),
			.rest = str_of(docs[i].rest) };
		if (index_put(ix, &d, 1, NULL) != 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	index_close(ix);
	analyser_free(an);
	arena_done(&a);
	return file_remove_tree(dir, NULL);
}

static struct search_result ask_with(const char *text, struct search s)
{
	struct search_result r;
	struct query_filter filter;
	s.query = query_parse(&a, an, str_of(text), &filter);
	s.limit = s.limit ? s.limit : 10;
	s.wants_total = true;
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	return r;
}

/* Row ids of the hits, best first, as text. */
static const char *ask(const char *text)
{
	struct search_result r = ask_with(text, (struct search){ 0 });
	char *out = arena_str(&a, "");
	for (size_t i = 0; i < r.n; i++)
		out = arena_printf(&a, "%s%s%d", out, i ? " " : "", (int)DOC_ROW(r.hits[i].id));
	return out;
}

static enum match_rung rung(const char *text)
{
	return ask_with(text, (struct search){ 0 }).match;
}

static void the_best_match_comes_first(void **state)
{
	assert_string_equal(ask("flaky parser test"), "1 5 2");
	assert_string_equal(ask("what did we do about the flaky parser test?"), "1 5 2");
}

static void words_are_found_by_their_stem(void **state)
{
	assert_string_equal(ask("connection"), "2");
	assert_string_equal(ask("rewriting"), "");
	assert_string_equal(ask("utilise"), "4");
	assert_string_equal(ask("utilisee"), "4");
	assert_string_equal(ask("erreur journaux"), "4");
}

static void identifiers_are_found_in_any_spelling(void **state)
{
	assert_string_equal(ask("getUserName"), "2 6");
	assert_string_equal(ask("getusername"), "2");
	assert_string_equal(ask("user_name"), "6 2");
	assert_string_equal(ask("lex.c"), "1");
	assert_string_equal(ask("lex.c:214"), "1");
	assert_string_equal(ask("parser.md"), "5 1 2");
}

static void chinese_is_found_by_a_part(void **state)
{
	struct search s = { .filter = { .statuses = 1u << MEMORY_PENDING } };
	assert_int_equal(ask_with("数据库", s).n, 1);
	assert_int_equal(ask_with("迁移", s).n, 1);
	assert_int_equal(ask_with("据移", s).n, 0);
}

static void phrases_are_exact(void **state)
{
	assert_string_equal(ask("\"parser test\""), "1");
	assert_string_equal(ask("\"test parser\""), "");
	assert_string_equal(ask("\"test of the parser\""), "5");
	assert_string_equal(ask("\"parsers test\""), "");
}

static void a_phrase_does_not_span_two_fields(void **state)
{
	assert_string_equal(ask("\"test A timer\""), "");
}

static void excluded_words_and_phrases_exclude(void **state)
{
	assert_string_equal(ask("parser -slow"), "1 2");
	assert_string_equal(ask("parser -\"flaky parser\""), "5 2");
	assert_string_equal(ask("parser -getUserName"), "5 1");
	assert_string_equal(ask("-parser"), "6 4 2");
}

static void a_file_filter_wants_its_name(void **state)
{
	assert_string_equal(ask("parser file:lex.c"), "1");
	assert_string_equal(ask("file:src/parser/lex.c"), "1");
	assert_string_equal(ask("file:parser.md"), "5");
}

static void filters_are_given_to_the_caller(void **state)
{
	struct query_filter f;
	struct query *q = query_parse(
		&a, an, STR("type:bugfix Project:\"my app\" after:7d agent: http://x foo"), &f);
	assert_string_equal(f.type, "bugfix");
	assert_string_equal(f.project, "my app");
	assert_string_equal(f.after, "7d");
	assert_null(f.agent);
	assert_null(f.before);
	assert_false(query_is_empty(q));
	assert_true(query_is_empty(query_parse(&a, an, STR("type:bugfix"), &f)));
	assert_true(query_is_empty(query_parse(&a, an, STR(" \n"), NULL)));
}

static void no_punctuation_is_an_error(void **state)
{
	static const char *const texts[] = { "\"", "-", "--", "\"\"", "a\"b", "file:", ":", "-\"",
		"((()", "AND OR NOT *", "\\", "\xff\xfe" };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		ask(texts[i]);
}

static void function_words_count_only_when_alone(void **state)
{
	assert_string_equal(ask("the of"), "5 6 1");
	assert_string_equal(ask("the slow"), "5");
}

static void columns_filter(void **state)
{
	assert_int_equal(ask_with("parser", (struct search){ .filter = { .project = 2 } }).n, 0);
	assert_int_equal(
		ask_with("parser", (struct search){ .filter = { .memory_kinds = 1u << KIND_NOTE } })
			.n,
		1);
	assert_int_equal(
		ask_with("parser", (struct search){ .filter = { .types = 1u << TYPE_BUGFIX } }).n,
		1);
	assert_int_equal(
		ask_with("parser", (struct search){ .filter = { .after = 2000, .before = 5000 } })
			.n,
		1);
	assert_int_equal(
		ask_with("user", (struct search){ .filter = { .agents = 1u << AGENT_CODEX } }).n,
		1);
	assert_int_equal(
		ask_with("parser", (struct search){ .filter = { .classes = 1u << DOC_EVENT } }).n,
		0);
	assert_int_equal(ask_with("migration", (struct search){ 0 }).n, 0);
}

static void an_empty_question_gives_the_newest_first(void **state)
{
	assert_string_equal(ask(""), "6 5 4 2 1");
	struct search_result r = ask_with("", (struct search){ .offset = 1, .limit = 2 });
	assert_int_equal(r.n, 2);
	assert_int_equal(DOC_ROW(r.hits[0].id), 5);
	assert_int_equal(r.total, 5);
}

static void sessions_are_ranked_with_their_best_document(void **state)
{
	struct search_result r = ask_with("flaky parser", (struct search){ .by_session = true });
	assert_int_equal(r.n, 2);
	assert_int_equal(r.total, 2);
	assert_int_equal(r.hits[0].columns.session, 1);
	assert_int_equal(DOC_ROW(r.hits[0].id), 1);
	assert_int_equal(r.hits[1].columns.session, 3);
}

static void the_rung_tells_how_well_it_matched(void **state)
{
	assert_int_equal(rung("flaky test"), MATCH_EXACT);
	assert_int_equal(rung("flaky tests"), MATCH_STEM);
	assert_int_equal(rung("flaky banana"), MATCH_NEAREST);
	assert_int_equal(rung("banana"), MATCH_NONE);
	assert_int_equal(rung("conection"), MATCH_SPELLING);
}

static void a_misspelt_word_is_corrected_when_nothing_is_found(void **state)
{
	assert_string_equal(ask("conections"), "2");
	assert_string_equal(ask("jornual"), "4");
	assert_string_equal(ask("zzzz"), "");
}

static void the_terms_looked_for_are_told(void **state)
{
	struct search_result r = ask_with("the connections -slow", (struct search){ 0 });
	assert_true(r.nterms >= 2);
	assert_true(str_is(r.terms[0], "connections"));
	for (size_t i = 0; i < r.nterms; i++)
		assert_false(str_is(r.terms[i], "slow") || str_is(r.terms[i], "the"));
}

static void the_parts_of_a_score_add_up(void **state)
{
	struct search_result r = ask_with("flaky parser test", (struct search){ .now = 6000 });
	for (size_t i = 0; i < r.n; i++) {
		const struct hit *h = &r.hits[i];
		double sum = h->own + h->session + h->pairs + h->prior;
		assert_true(h->score > 0 && sum - h->score < 1e-4 && h->score - sum < 1e-4);
	}
	assert_true(r.hits[0].pairs > 0);
}

static void a_prompt_has_no_syntax(void **state)
{
	struct search s = { .limit = 10 };
	struct search_result r;
	s.query = query_of_text(&a, an, STR("run \"no such phrase\" -parser file:x type:bugfix"));
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	assert_true(r.n >= 3);
}

static void very_long_questions_are_cut(void **state)
{
	char text[QUERY_TEXT_MAX * 2];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 5 ? (char)('a' + i % 7 + i / 5 % 19) : ' ';
	memcpy(text, "parser ", 7);
	struct query *q = query_parse(&a, an, (struct str){ text, sizeof(text) }, NULL);
	struct search s = { .query = q, .limit = 10 };
	struct search_result r;
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	assert_true(r.n >= 3);
}

/* The strong ones are read first, being of the best sessions; all others are passed over then. */
static void the_total_says_that_there_is_more_where_it_is_passed_over(void **state)
{
	enum { STRONG = 5, ALL = 5000 };
	struct search_result r;
	for (int i = 0; i < ALL; i++) {
		struct doc d = { .id = DOC_ID(DOC_EVENT, 1000 + i),
			.columns = { .at = 1, .session = 100 + (uint32_t)i, .kind = 1 },
			.body = str_of(i < STRONG ? "zebra zebra zebra zebra" :
						    "a zebra stands among many other words that say nothing of it at all here") };
		assert_int_equal(index_put(ix, &d, 1, NULL), 0);
	}
	assert_int_equal(index_flush(ix, false, NULL), 0);
	struct search s = { .query = query_parse(&a, an, str_of("zebra"), NULL), .limit = STRONG };
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	assert_int_equal(r.n, STRONG);
	for (size_t i = 0; i < r.n; i++)
		assert_true(DOC_ROW(r.hits[i].id) < 1000 + STRONG);
	assert_true(r.total > STRONG && !r.total_is_exact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_match_comes_first),
		cmocka_unit_test(words_are_found_by_their_stem),
		cmocka_unit_test(identifiers_are_found_in_any_spelling),
		cmocka_unit_test(chinese_is_found_by_a_part),
		cmocka_unit_test(phrases_are_exact),
		cmocka_unit_test(a_phrase_does_not_span_two_fields),
		cmocka_unit_test(excluded_words_and_phrases_exclude),
		cmocka_unit_test(a_file_filter_wants_its_name),
		cmocka_unit_test(filters_are_given_to_the_caller),
		cmocka_unit_test(no_punctuation_is_an_error),
		cmocka_unit_test(function_words_count_only_when_alone),
		cmocka_unit_test(columns_filter),
		cmocka_unit_test(an_empty_question_gives_the_newest_first),
		cmocka_unit_test(sessions_are_ranked_with_their_best_document),
		cmocka_unit_test(the_rung_tells_how_well_it_matched),
		cmocka_unit_test(a_misspelt_word_is_corrected_when_nothing_is_found),
		cmocka_unit_test(the_terms_looked_for_are_told),
		cmocka_unit_test(the_parts_of_a_score_add_up),
		cmocka_unit_test(a_prompt_has_no_syntax),
		cmocka_unit_test(very_long_questions_are_cut),
		cmocka_unit_test(the_total_says_that_there_is_more_where_it_is_passed_over),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
