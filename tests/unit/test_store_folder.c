/* Markdown folders in the store: chunks keep their ids as long as their texts stay. */
#include "store_fixture.h"

#include "store/folder.h"
#include "store/forget.h"
#include "store/query_chunk.h"

static struct folder folder_made(struct fixture *f, const char *namespace)
{
	struct folder d = { .namespace = namespace, .root = "/notes", .globs = "*.md" };

	ok(folder_put(f->s, &d, &f->err));
	assert_true(d.id > 0);
	return d;
}

static struct file_result put(
	struct fixture *f, const struct folder *d, const char *path, const char *const *bodies)
{
	struct chunk_text chunks[16];
	struct file_text t = {
		.path = path, .checksum = bodies[0], .stamp = 7, .at = 1000, .chunks = chunks
	};
	struct file_result r;

	for (; bodies[t.n]; t.n++)
		chunks[t.n] = (struct chunk_text){ "Sec", "Doc > Sec", bodies[t.n], (int64_t)t.n,
			(int64_t)t.n * 2 + 1, (int64_t)t.n * 2 + 2 };
	ok(folder_file_put(f->s, d, &t, &r, &f->err));
	return r;
}

static size_t ids_of(struct fixture *f, const char *file, int64_t **ret)
{
	size_t n;

	ok(query_chunks_of_file(f->s, &f->arena, file, 100, ret, &n, &f->err));
	return n;
}

static void an_edit_keeps_the_rows_of_what_stays(void **state)
{
	struct fixture *f = *state;
	struct folder d = folder_made(f, "a");
	int64_t *before, *after;
	struct chunk_place place;
	bool found;

	struct file_result r = put(f, &d, "x.md", (const char *[]){ "one", "two", "three", NULL });
	assert_int_equal(r.chunks, 3);
	assert_int_equal(r.written, 3);
	assert_int_equal(ids_of(f, "x.md", &before), 3);
	r = put(f, &d, "x.md", (const char *[]){ "zero", "one", "TWO", "three", NULL });
	assert_int_equal(r.chunks, 4);
	assert_int_equal(r.written, 2);
	assert_int_equal(ids_of(f, "x.md", &after), 4);
	ok(query_chunk(f->s, &f->arena, before[2], &place, &found, &f->err));
	assert_true(found);
	assert_int_equal(place.position, 3);
	assert_int_equal(place.first_line, 7);
	assert_string_equal(place.namespace, "a");
	r = put(f, &d, "x.md", (const char *[]){ "three", NULL });
	assert_int_equal(r.written, 0);
	assert_int_equal(ids_of(f, "/notes/x.md", &after), 1);
	assert_int_equal(after[0], before[2]);
}

static void files_of_one_name_stay_two(void **state)
{
	struct fixture *f = *state;
	struct folder a = folder_made(f, "a"), b = folder_made(f, "b");
	struct source_totals totals;
	int64_t *ids;

	put(f, &a, "x.md", (const char *[]){ "same", NULL });
	put(f, &a, "sub/x.md", (const char *[]){ "same", NULL });
	put(f, &b, "x.md", (const char *[]){ "same", NULL });
	ok(query_source_totals(f->s, &totals, &f->err));
	assert_int_equal(totals.files, 3);
	assert_int_equal(totals.chunks, 3);
	assert_int_equal(ids_of(f, "sub/x.md", &ids), 1);
	ok(folder_remove(f->s, a.id, &f->err));
	ok(query_source_totals(f->s, &totals, &f->err));
	assert_int_equal(totals.files, 1);
	assert_int_equal(totals.chunks, 1);
}

static void a_moved_file_keeps_its_chunks(void **state)
{
	struct fixture *f = *state;
	struct folder d = folder_made(f, "a");
	struct folder_file *files;
	int64_t *before, *after, seq, now;
	size_t n;

	put(f, &d, "x.md", (const char *[]){ "one", "two", NULL });
	ids_of(f, "x.md", &before);
	ok(folder_files(f->s, &f->arena, d.id, &files, &n, &f->err));
	assert_int_equal(n, 1);
	ok(store_change_last(f->s, &seq, &f->err));
	ok(folder_file_move(f->s, files[0].id, "new/y.md", 9, &f->err));
	ok(store_change_last(f->s, &now, &f->err));
	assert_int_equal(now, seq + 2);
	assert_int_equal(ids_of(f, "y.md", &after), 2);
	assert_memory_equal(before, after, 2 * sizeof(*before));
	assert_int_equal(ids_of(f, "x.md", &after), 0);
}

static void a_chunk_that_was_forgotten_does_not_come_back(void **state)
{
	struct fixture *f = *state;
	struct folder d = folder_made(f, "a");
	int64_t *ids;
	struct forget_plan plan;

	put(f, &d, "x.md", (const char *[]){ "one", "secret", NULL });
	ids_of(f, "x.md", &ids);
	struct forget_query q = { .memories = &ids[1], .nmemories = 1 };
	ok(store_forget_plan(f->s, &f->arena, &q, &plan, &f->err));
	ok(store_forget(f->s, &plan, &f->err));
	assert_int_equal(ids_of(f, "x.md", &ids), 1);
	struct file_result r =
		put(f, &d, "x.md", (const char *[]){ "one", "secret", "three", NULL });
	assert_int_equal(r.buried, 1);
	assert_int_equal(r.chunks, 2);
	assert_int_equal(ids_of(f, "x.md", &ids), 2);
}

static void what_cannot_be_read_is_named_and_keeps_or_loses_what_it_had(void **state)
{
	struct fixture *f = *state;
	struct folder d = folder_made(f, "a"), seen;
	int64_t *ids;

	put(f, &d, "x.md", (const char *[]){ "one", NULL });
	ok(folder_file_failed(f->s, &d, "x.md", "permission denied", false, &f->err));
	assert_int_equal(ids_of(f, "x.md", &ids), 1);
	ok(folder_file_failed(f->s, &d, "x.md", "too large", true, &f->err));
	assert_int_equal(ids_of(f, "x.md", &ids), 0);
	ok(folder_find(f->s, &f->arena, "a", &seen, &f->err));
	assert_int_equal(seen.failed, 1);
	assert_int_equal(seen.files, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define each(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
		each(an_edit_keeps_the_rows_of_what_stays),
		each(files_of_one_name_stay_two),
		each(a_moved_file_keeps_its_chunks),
		each(a_chunk_that_was_forgotten_does_not_come_back),
		each(what_cannot_be_read_is_named_and_keeps_or_loses_what_it_had),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
