#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "ops/similarity.h"

#define RELEVANT .7
#define COSINES_MAX 64
#define FILE_MAX (1u << 20)

/* What makes vectors, and what is asked of the threshold that scripts send. */
static const struct row {
	const char *provider, *model;
	int kept_least;       /* of 40 right sections */
	double dropped_least; /* of all others */
} rows[] = {
	{ "builtin", "", 31, .92 },
	{ "ollama", "all-minilm", 35, .81 },
	/* As if nothing was known of them: the unit is learned. */
	{ "openai", "of builtin", 30, .92 },
	{ "openai", "of ollama", 34, .78 },
};

static void it_grows_with_the_cosine_and_stays_between_0_and_1(void **state)
{
	static const char *const providers[] = { "builtin", "openai", "ollama", "none", NULL };

	for (size_t p = 0; p < ARRAY_LEN(providers); p++) {
		struct similarity s = similarity_for(providers[p], p % 2 ? "all-minilm" : NULL);
		double last = 0;
		for (int i = -100; i <= 100; i++) {
			double at = similarity_of_cosine(&s, i / 100.);
			assert_true(at >= last && at >= 0 && at <= 1);
			last = at;
		}
		assert_true(last == 1);
	}
}

static void an_embedder_is_known_by_its_provider_or_the_name_of_its_model(void **state)
{
	static const struct {
		const char *provider, *model;
		bool is_open;
	} cases[] = {
		{ "builtin", NULL, false },
		{ "builtin", "anything", false },
		{ "ollama", "all-minilm", false },
		{ "openai", "sentence-transformers/all-MiniLM-L6-v2", false },
		{ "ollama", "nomic-embed-text", true },
		{ NULL, NULL, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct similarity s = similarity_for(cases[i].provider, cases[i].model);
		assert_int_equal(similarity_is_open(&s), cases[i].is_open);
	}
}

/* However wide an embedder's cosines lie. */
static void what_is_relevant_is_learned_from_what_chance_gives(void **state)
{
	float cosines[256];

	for (double width = .06; width < .5; width += .02) {
		struct similarity s = similarity_for("ollama", "nomic-embed-text");
		for (size_t i = 0; i < ARRAY_LEN(cosines); i++)
			cosines[i] = (float)(i % 2 ? width : -width);
		similarity_learn(&s, cosines, ARRAY_LEN(cosines));
		assert_true(similarity_of_cosine(&s, width) < .66);
		assert_true(similarity_of_cosine(&s, 1.4 * width) > .69);
	}
}

static void few_texts_teach_little_and_none_are_near_nothing(void **state)
{
	struct similarity before = similarity_for(NULL, NULL), s = before;
	float zero[256] = { 0 }, one = .9f;

	similarity_learn(&s, &one, 0);
	assert_true(similarity_of_cosine(&s, .2) == similarity_of_cosine(&before, .2));
	similarity_learn(&s, &one, 1);
	assert_true(similarity_of_cosine(&s, .9) > .9);
	similarity_learn(&s, zero, ARRAY_LEN(zero));
	assert_true(similarity_of_cosine(&s, SIMILARITY_CHANCE_MIN) < .7);
}

/* --- The 40 pairs. --- */

static size_t take_numbers(const char *text, float *ret)
{
	size_t n = 0;
	char *end;

	for (;; text = end) {
		float f = strtof(text, &end);
		if (end == text || n == COSINES_MAX)
			return n;
		ret[n++] = f;
	}
}

struct outcome {
	int questions, kept;
	size_t others, dropped;
};

/*
 * "PROVIDER MODEL LANGUAGE | cosines of right sections | of others", as bench/markdown/sections --dump told them when the map was
 * (1 + cosine) / 2.
 */
static void judge_line(const struct row *row, const char *line, struct outcome *out)
{
	struct similarity s = similarity_for(row->provider, row->model);
	float all[2 * COSINES_MAX];
	const char *bar = strchr(line, '|');

	assert_non_null(bar);
	size_t nright = take_numbers(bar + 1, all);
	assert_non_null(bar = strchr(bar + 1, '|'));
	size_t n = nright + take_numbers(bar + 1, all + nright);
	assert_true(nright > 0 && n == 40);
	similarity_learn(&s, all, n);
	bool is_kept = false;
	for (size_t i = 0; i < n; i++) {
		bool is_shown = similarity_of_cosine(&s, (double)all[i]) >= RELEVANT;
		is_kept |= i < nright && is_shown;
		out->others += i >= nright;
		out->dropped += i >= nright && !is_shown;
	}
	out->kept += is_kept;
	out->questions++;
}

static void seven_tenths_keeps_the_right_section_and_drops_most_others(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct outcome out = { 0 };
		char line[1024];
		const char *made_by =
			rows[i].model[0] == 'o' ? rows[i].model + strlen("of ") : rows[i].provider;
		FILE *f = fopen("tests/data/sections/cosines.txt", "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f))
			if (!strncmp(line, made_by, strlen(made_by)))
				judge_line(&rows[i], line, &out);
		fclose(f);
		print_message("%s %s: %d of %d kept, %.3f dropped\n", rows[i].provider,
			rows[i].model, out.kept, out.questions,
			(double)out.dropped / (double)out.others);
		assert_int_equal(out.questions, 40);
		assert_true(out.kept >= rows[i].kept_least);
		assert_true((double)out.dropped >= rows[i].dropped_least * (double)out.others);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_grows_with_the_cosine_and_stays_between_0_and_1),
		cmocka_unit_test(an_embedder_is_known_by_its_provider_or_the_name_of_its_model),
		cmocka_unit_test(what_is_relevant_is_learned_from_what_chance_gives),
		cmocka_unit_test(few_texts_teach_little_and_none_are_near_nothing),
		cmocka_unit_test(seven_tenths_keeps_the_right_section_and_drops_most_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
