/* arena.c, buf.c, mem.c and err.c. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

static void arena_memory_is_zeroed_aligned_and_stays_put(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	unsigned char *pieces[500];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
			size_t size = i % 50 == 49 ? 100000 : i;

			pieces[i] = arena_alloc(&a, size);
			assert_int_equal((uintptr_t)pieces[i] % 16, 0);
			for (size_t j = 0; j < size; j++)
				assert_int_equal(pieces[i][j], 0);
			memset(pieces[i], (int)i & 0xFF, size);
		}
		for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
			size_t size = i % 50 == 49 ? 100000 : i;

			for (size_t j = 0; j < size; j++)
				assert_int_equal(pieces[i][j], i & 0xFF);
		}
		arena_reset(&a);
		assert_int_equal(a.used, 0);
	}
}

static void arena_strings_are_copies_of_any_length(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	char *longer;

	assert_null(arena_str(&a, NULL));
	assert_string_equal(arena_str(&a, "x"), "x");
	assert_string_equal(arena_printf(&a, "%d-%s", 7, "y"), "7-y");
	longer = arena_printf(&a, "%1000d", 1);
	assert_int_equal(strlen(longer), 1000);
	assert_memory_equal(arena_dup(&a, "a\0b", 3), "a\0b\0", 4);
}

static void an_arena_list_keeps_all_its_items(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	int *list = NULL;
	size_t n = 0, cap = 0;

	for (int i = 0; i < 1000; i++)
		ARENA_PUSH(&a, list, n, cap, i);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
}

static void a_buffer_takes_pieces_whole_or_not_at_all(void **state)
{
	AUTO(buf_done) struct buf b = { .max = 5 };

	assert_string_equal(buf_cstr(&b), "");
	buf_str(&b, "abc");
	buf_str(&b, "def");
	assert_true(b.is_full);
	assert_string_equal(b.data, "abc");
	buf_char(&b, 'x');
	assert_string_equal(b.data, "abc");
	buf_cut(&b, 2);
	assert_false(b.is_full);
	buf_printf(&b, "%d", 123);
	assert_string_equal(b.data, "ab123");
	assert_false(b.is_full);
	buf_printf(&b, "%d", 4);
	assert_true(b.is_full);
	assert_string_equal(b.data, "ab123");
}

static void a_buffer_grows_and_is_stolen(void **state)
{
	struct buf b = { 0 };
	char *text;

	for (int i = 0; i < 10000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(b.len, 48890);
	assert_int_equal(b.data[b.len], 0);
	text = buf_steal(&b);
	assert_null(b.data);
	assert_memory_equal(text, "0,1,2,", 6);
	free(text);
	text = buf_steal(&b);
	assert_string_equal(text, "");
	free(text);
}

static void a_buffer_refuses_room_above_its_ceiling(void **state)
{
	AUTO(buf_done) struct buf b = { .max = 100 };

	assert_true(buf_reserve(&b, 100));
	assert_true(b.cap >= 101);
	assert_false(buf_reserve(&b, SIZE_MAX));
	assert_true(b.is_full);
}

static void an_error_is_cut_at_a_code_point_border(void **state)
{
	struct err err = { 0 };
	char text[2000] = "";

	for (int i = 0; i < 600; i++)
		strcat(text, "é");
	assert_int_equal(err_set(&err, ERR_IO, "x%s", text), -1);
	assert_true(strlen(err.text) >= ERR_TEXT_MAX - 3);
	assert_true(utf8_is_valid(err.text, strlen(err.text)));
	err_prefix(&err, "y%s", "é");
	assert_true(utf8_is_valid(err.text, strlen(err.text)));
	assert_memory_equal(err.text, "yé: xé", strlen("yé: xé"));
}

static void an_error_may_quote_itself(void **state)
{
	struct err err = { 0 };

	err_set(&err, ERR_STORE, "inner");
	err_hint(&err, "do %s", "this");
	err_prefix(&err, "outer %d", 1);
	assert_string_equal(err.text, "outer 1: inner");
	assert_string_equal(err.hint, "do this");
	err_set(&err, ERR_IO, "again: %s", err.text);
	assert_string_equal(err.text, "again: outer 1: inner");
	assert_string_equal(err.hint, "");
	assert_int_equal(err_set(NULL, ERR_IO, "x"), -1);
}

static void every_error_code_has_a_row_and_is_found_by_its_name(void **state)
{
	for (int i = 0; i < ERR_CODE_COUNT; i++) {
		assert_non_null(err_codes[i].name);
		assert_true(err_codes[i].http_status >= 200);
		assert_int_equal(err_code_of(err_codes[i].name), i);
	}
	assert_int_equal(err_code_of("nonsense"), ERR_INTERNAL);
	assert_int_equal(err_code_of(NULL), ERR_INTERNAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_memory_is_zeroed_aligned_and_stays_put),
		cmocka_unit_test(arena_strings_are_copies_of_any_length),
		cmocka_unit_test(an_arena_list_keeps_all_its_items),
		cmocka_unit_test(a_buffer_takes_pieces_whole_or_not_at_all),
		cmocka_unit_test(a_buffer_grows_and_is_stolen),
		cmocka_unit_test(a_buffer_refuses_room_above_its_ceiling),
		cmocka_unit_test(an_error_is_cut_at_a_code_point_border),
		cmocka_unit_test(an_error_may_quote_itself),
		cmocka_unit_test(every_error_code_has_a_row_and_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
