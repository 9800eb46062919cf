#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "text/redact.h"

#define LINE 8192

/* Takes "{}" out and turns "\n" into a line break. */
static void unfold(const char *in, char *out)
{
	for (; *in && *in != '\n'; in++) {
		if (in[0] == '{' && in[1] == '}')
			in++;
		else if (in[0] == '\\' && in[1] == '\\')
			*out++ = *in++;
		else if (in[0] == '\\' && in[1] == 'n')
			*out++ = '\n', in++;
		else
			*out++ = *in;
	}
	*out = '\0';
}

/* False, and a line on standard error, when the result is another. */
static bool check_case(const struct redactor *r, const char *in, const char *want, unsigned line)
{
	AUTO(arena_done) struct arena a = { 0 };
	uint64_t count = 0;
	struct str got = redact(r, &a, str_of(in), &count);

	if (!str_is(got, want)) {
		fprintf(stderr, "redact.cases:%u: got  %.*s\n%*swant %s\n", line, (int)got.n, got.p,
			17, "", want);
		return false;
	}
	if (strcmp(in, want) == 0)
		return got.p == in && count == 0;
	return count > 0;
}

static void every_case_of_the_file_is_redacted_as_it_says(void **state)
{
	FILE *f = fopen("tests/data/redact.cases", "r");
	static char line[LINE], in[LINE], want[LINE];
	struct redactor *r;
	unsigned n = 0, cases = 0, wrong = 0;

	assert_non_null(f);
	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (strncmp(line, "in ", 3) == 0)
			unfold(line + 3, in);
		if (strncmp(line, "out ", 4) != 0)
			continue;
		unfold(line + 4, want);
		wrong += !check_case(r, in, strcmp(want, "=") == 0 ? in : want, n);
		cases++;
	}
	assert_int_equal(wrong, 0);
	assert_true(cases > 50);
	redactor_free(r);
	fclose(f);
}

static void the_persons_own_patterns_are_used(void **state)
{
	static const char *const extra[] = { "ACME-\\d{6}", "employee=(\\w+)", NULL };
	AUTO(arena_done) struct arena a = { 0 };
	struct redactor *r;
	uint64_t count = 0;
	struct str got;

	assert_int_equal(redactor_new(extra, &r, NULL), 0);
	got = redact(r, &a, str_of("id ACME-123456 employee=jo, ACME-654321"), &count);
	assert_true(
		str_is(got, "id [redacted:custom] employee=[redacted:custom], [redacted:custom]"));
	assert_int_equal(count, 3);
	redactor_free(r);
}

static void a_bad_pattern_is_refused_by_name(void **state)
{
	static const char *const extra[] = { "ok", "a(b", NULL };
	struct redactor *r;
	struct err err;

	assert_int_equal(redactor_new(extra, &r, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, "a(b"));
}

static void a_pattern_that_matches_nothing_ends(void **state)
{
	static const char *const extra[] = { "x*", "(?=a)", NULL };
	AUTO(arena_done) struct arena a = { 0 };
	struct redactor *r;
	uint64_t count = 0;

	assert_int_equal(redactor_new(extra, &r, NULL), 0);
	redact(r, &a, str_of("aaa bbb xxx"), &count);
	assert_int_equal(count, 1);
	redactor_free(r);
}

static void repetition_of_names_does_not_deepen_the_stack(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct redactor *r;
	uint64_t count = 0;

	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	for (int i = 0; i < 50000; i++)
		buf_str(&b, "token=");
	redact(r, &a, (struct str){ b.data, b.len }, &count);
	redact(r, &a, (struct str){ b.data, 2 }, &count);
	redact(r, &a, (struct str){ NULL, 0 }, &count);
	redactor_free(r);
}

static void a_long_key_goes_whole(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct redactor *r;
	uint64_t count = 0;
	struct str got;

	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	buf_str(&b, "a -----BEGIN RSA PRIVATE KEY-----\n");
	for (int i = 0; i < 250; i++)
		buf_str(&b, "MIIEpAIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL\n");
	buf_str(&b, "-----END RSA PRIVATE KEY----- z");
	got = redact(r, &a, (struct str){ b.data, b.len }, &count);
	assert_true(str_is(got, "a [redacted:private-key] z"));
	/* Cut before its end it goes as far as it looks like a key. */
	got = redact(r, &a, (struct str){ b.data, b.len - 40 }, &count);
	assert_true(str_is(got, "a [redacted:private-key]"));
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_of_the_file_is_redacted_as_it_says),
		cmocka_unit_test(the_persons_own_patterns_are_used),
		cmocka_unit_test(a_bad_pattern_is_refused_by_name),
		cmocka_unit_test(a_pattern_that_matches_nothing_ends),
		cmocka_unit_test(a_long_key_goes_whole),
		cmocka_unit_test(repetition_of_names_does_not_deepen_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
