/* The vectors of the questions asked last. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/questions.h"
#include "unit.h"

#define DIMS 64u

static struct str text_of(size_t i, char room[32])
{
	snprintf(room, 32, "question %zu", i);
	return str_of(room);
}

static void keep(struct questions *q, uint64_t store, size_t i)
{
	char room[32];
	int8_t at[DIMS];
	struct question_key key = { store, text_of(i, room) };
	memset(at, (int)(i % 100), sizeof(at));
	questions_keep(q, &key, at, DIMS, (float)i);
}

static bool is_known(struct questions *q, uint64_t store, size_t i)
{
	char room[32];
	int8_t at[VECTOR_DIMS_MAX];
	float scale;
	struct question_key key = { store, text_of(i, room) };
	if (!questions_find(q, &key, at, &scale))
		return false;
	assert_int_equal(at[0], i % 100);
	assert_int_equal(at[DIMS - 1], i % 100);
	assert_true(scale == (float)i);
	return true;
}

static void a_question_is_known_until_others_take_its_place(void **unused)
{
	struct questions *q = questions_new();
	assert_false(is_known(q, 1, 0));
	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		keep(q, 1, i);
	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		assert_true(is_known(q, 1, i));
	assert_true(is_known(q, 1, 0)); /* asked again: now the next is the oldest */
	keep(q, 1, QUESTIONS_MAX);
	assert_true(is_known(q, 1, 0));
	assert_false(is_known(q, 1, 1));
	assert_true(is_known(q, 1, 2));
	assert_true(is_known(q, 1, QUESTIONS_MAX));
	questions_free(q);
}

static void a_question_to_other_vectors_is_another_one(void **unused)
{
	struct questions *q = questions_new();
	keep(q, 1, 7);
	assert_false(is_known(q, 2, 7));
	keep(q, 2, 7);
	assert_true(is_known(q, 1, 7));
	assert_true(is_known(q, 2, 7));
	questions_free(q);
}

static void what_is_forgotten_is_not_known(void **unused)
{
	struct questions *q = questions_new();
	for (size_t i = 0; i < 5; i++)
		keep(q, 1, i);
	questions_forget(q);
	for (size_t i = 0; i < 5; i++)
		assert_false(is_known(q, 1, i));
	keep(q, 1, 3);
	assert_true(is_known(q, 1, 3));
	questions_free(q);
	questions_free(NULL);
}

static void a_text_over_the_ceiling_is_not_kept(void **unused)
{
	struct questions *q = questions_new();
	static char text[QUESTIONS_TEXT_MAX + 1];
	int8_t at[VECTOR_DIMS_MAX] = { 0 };
	float scale;
	memset(text, 'a', sizeof(text));
	struct question_key most = { 1, { text, QUESTIONS_TEXT_MAX } },
			    more = { 1, { text, sizeof(text) } };
	questions_keep(q, &most, at, DIMS, 1);
	questions_keep(q, &more, at, DIMS, 1);
	assert_true(questions_find(q, &most, at, &scale));
	assert_false(questions_find(q, &more, at, &scale));
	questions_free(q);
}

static void *ask_on(void *q)
{
	for (size_t i = 0; i < 2000; i++) {
		if (!is_known(q, 1, i % 90))
			keep(q, 1, i % 90);
		if (i % 500 == 499)
			questions_forget(q);
	}
	return NULL;
}

static void any_number_of_threads_ask(void **unused)
{
	struct questions *q = questions_new();
	pthread_t threads[3];
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_on, q), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	questions_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_known_until_others_take_its_place),
		cmocka_unit_test(a_question_to_other_vectors_is_another_one),
		cmocka_unit_test(what_is_forgotten_is_not_known),
		cmocka_unit_test(a_text_over_the_ceiling_is_not_kept),
		cmocka_unit_test(any_number_of_threads_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
