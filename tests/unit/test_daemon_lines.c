#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "daemon/lines.h"

/* A file that holds these bytes; open for reading and writing, and already nameless. */
static int file_of(const void *data, size_t len)
{
	char path[] = "/tmp/remanence-lines-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	return fd;
}

static bool begins_with_wanted(const char *line, size_t len)
{
	return len >= 3 && !memcmp(line, "{\"w", 3);
}

static void lines_come_with_their_numbers_and_ends(void **state)
{
	static const char text[] = "one\n\ntwo\r\nthree";
	int fd = file_of(text, strlen(text));
	struct lines l;
	struct line line;
	struct err err = { 0 };
	lines_init(&l, fd, 0, 0);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_memory_equal(line.data, "one", 3);
	assert_int_equal(line.number, 1);
	assert_int_equal(line.end, 4);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_int_equal(line.number, 3);
	assert_false(line.is_torn);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_true(line.is_torn);
	assert_memory_equal(line.data, "three", 5);
	/* A torn line is given, but not passed: the next reading begins with it. */
	assert_int_equal(l.offset, 10);
	assert_int_equal(lines_next(&l, &line, &err), 0);
	lines_done(&l);
	close(fd);
}

static void a_reading_goes_on_where_the_last_one_ended(void **state)
{
	static const char text[] = "aa\nbb\ncc\n";
	int fd = file_of(text, strlen(text));
	struct lines l;
	struct line line;
	struct err err = { 0 };
	lines_init(&l, fd, 3, 1);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_memory_equal(line.data, "bb", 2);
	assert_int_equal(line.number, 2);
	lines_done(&l);
	close(fd);
}

static void unwanted_lines_are_counted_and_passed_over(void **state)
{
	struct buf b = { 0 };
	buf_str(&b, "{\"x\":1}\n{\"w\":2}\n{\"x\":\"");
	for (size_t i = 0; i < 3 * LINES_PIECE; i++)
		buf_char(&b, 'x');
	buf_str(&b, "\"}\n{\"w\":4}\n");
	int fd = file_of(b.data, b.len);
	struct lines l;
	struct line line;
	struct err err = { 0 };
	lines_init(&l, fd, 0, 0);
	l.is_wanted = begins_with_wanted;
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_int_equal(line.number, 2);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_int_equal(line.number, 4);
	assert_memory_equal(line.data, "{\"w\":4}", line.len);
	assert_int_equal(lines_next(&l, &line, &err), 0);
	assert_int_equal(l.offset, b.len);
	assert_int_equal(l.number, 4);
	lines_done(&l);
	buf_done(&b);
	close(fd);
}

static void a_line_of_many_pieces_is_thinned_to_head_and_tail(void **state)
{
	static const size_t letters = 5 * LINES_PIECE + 77;
	struct buf b = { 0 };
	buf_str(&b, "{\"w\":\"BEGIN ");
	for (size_t i = 0; i < letters; i++)
		buf_char(&b, i % 7 ? 'y' : ' ');
	buf_str(&b, " END\"}\n{\"w\":2}\n");
	int fd = file_of(b.data, b.len);
	struct lines l;
	struct line line;
	struct err err = { 0 };
	lines_init(&l, fd, 0, 0);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_true(line.len < 2 * JSON_SCAN_STRING_MAX);
	assert_true(line.cut > letters - 2 * JSON_SCAN_STRING_MAX);
	assert_memory_equal(line.data, "{\"w\":\"BEGIN ", 12);
	assert_memory_equal(line.data + line.len - 5, "END\"}", 5);
	assert_int_equal(lines_next(&l, &line, &err), 1);
	assert_int_equal(line.number, 2);
	assert_int_equal(line.cut, 0);
	lines_done(&l);
	buf_done(&b);
	close(fd);
}

/*
 * Against a plain split of the same bytes, with lines of all lengths around the borders of pieces.
 */
static void random_files_split_as_a_plain_loop_splits_them(void **state)
{
	static const size_t lengths[] = { 0, 1, 80, 5000, LINES_THIN - 1, LINES_THIN,
		LINES_THIN + 1, LINES_PIECE };
	uint64_t seed = 7;
	for (int round = 0; round < 12; round++) {
		struct buf b = { 0 };
		size_t wanted[40], n = 0, count = 1 + unit_below(&seed, ARRAY_LEN(wanted) - 1);
		for (size_t i = 0; i < count; i++) {
			size_t len = lengths[unit_below(&seed, ARRAY_LEN(lengths))] +
				     unit_below(&seed, 3);
			for (size_t k = 0; k < len; k++)
				buf_char(&b, (char)('a' + (k + i) % 26));
			buf_char(&b, '\n');
			if (len)
				wanted[n++] = b.len;
		}
		int fd = file_of(b.data, b.len);
		struct lines l;
		struct line line;
		struct err err = { 0 };
		lines_init(&l, fd, 0, 0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(lines_next(&l, &line, &err), 1);
			assert_int_equal(line.end, wanted[i]);
			assert_false(line.is_torn);
		}
		assert_int_equal(lines_next(&l, &line, &err), 0);
		assert_int_equal(l.number, count);
		lines_done(&l);
		buf_done(&b);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_with_their_numbers_and_ends),
		cmocka_unit_test(a_reading_goes_on_where_the_last_one_ended),
		cmocka_unit_test(unwanted_lines_are_counted_and_passed_over),
		cmocka_unit_test(a_line_of_many_pieces_is_thinned_to_head_and_tail),
		cmocka_unit_test(random_files_split_as_a_plain_loop_splits_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
