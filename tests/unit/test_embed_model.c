/*
 * Which files are refused, and with what sentence. With the model file at hand (see
 * test_embed_texts.c) also real ones, damaged.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "embed/embedder.h"
#include "embed/model.h"
#include "embed/model_pin.h"

#define SECTIONS 22
#define HEAD_SIZE (64 + 24 * SECTIONS + 8)

static char folder[] = "/tmp/remanence-model-XXXXXX";
static char path[128];

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/" MODEL_FILE, folder);
	return 0;
}

static int remove_folder(void **state)
{
	return file_remove_tree(folder, NULL);
}

/* As in model.c and tools/model-convert. */
static uint64_t sum_of(const unsigned char *p, size_t size)
{
	uint64_t sum = 0, word;

	for (size_t i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		sum += word * (2 * (i / sizeof(word)) + 1);
	}
	return sum * UINT64_C(0x9e3779b97f4a7c15);
}

struct fake {
	unsigned char bytes[4096];
};

static void put(struct fake *f, size_t at, uint64_t value, size_t size)
{
	memcpy(f->bytes + at, &value, size);
}

static void seal(struct fake *f)
{
	put(f, HEAD_SIZE - 8, sum_of(f->bytes, HEAD_SIZE - 8), 8);
}

/* A head that claims to be all right, with nothing behind it. */
static struct fake fake_head(uint64_t size)
{
	struct fake f = { "RMNMODEL" };

	put(&f, 8, 1, 4);
	put(&f, 12, SECTIONS, 4);
	put(&f, 16, size, 8);
	memcpy(f.bytes + 24, MODEL_ID, sizeof(MODEL_ID));
	seal(&f);
	return f;
}

static void refuses(const struct fake *f, size_t size, const char *why)
{
	struct model m;
	struct err err = { 0 };

	assert_int_equal(file_write(path, f->bytes, size, 0600, &err), 0);
	assert_int_equal(model_open(path, &m, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	if (!strstr(err.text, why) || !strstr(err.text, path))
		fail_msg("wanted '%s' in '%s'", why, err.text);
}

static void what_is_not_a_model_file_is_refused(void **state)
{
	struct fake f = { "PK\003\004 something else" };

	refuses(&f, sizeof(f.bytes), "not a model file");
	refuses(&f, 0, "not a model file");
	refuses(&f, 100, "not a model file");
}

static void a_file_of_another_version_is_refused(void **state)
{
	struct fake f = fake_head(4096);

	put(&f, 8, 2, 4);
	seal(&f);
	refuses(&f, 4096, "of another version");
	f = fake_head(4096);
	memcpy(f.bytes + 24, "another-model/1", 16);
	seal(&f);
	refuses(&f, 4096, "of another version");
	f = fake_head(4096);
	put(&f, 12, SECTIONS + 1, 4);
	seal(&f);
	refuses(&f, 4096, "of another version");
}

static void a_cut_file_is_refused(void **state)
{
	struct fake f = fake_head(MODEL_BYTES);

	refuses(&f, sizeof(f.bytes), "cut");
}

static void a_damaged_head_is_refused(void **state)
{
	struct fake f = fake_head(4096);

	f.bytes[70] ^= 1;
	refuses(&f, 4096, "damaged");
	f = fake_head(4000);
	refuses(&f, 4096, "damaged");
}

/* Sections that point anywhere are never followed. */
static void sections_out_of_bounds_are_refused(void **state)
{
	uint64_t random = 5;

	for (int i = 0; i < 200; i++) {
		struct fake f = fake_head(4096);

		for (size_t at = 64; at < HEAD_SIZE - 8; at += 8)
			put(&f, at, unit_random(&random) >> unit_below(&random, 64), 8);
		seal(&f);
		refuses(&f, 4096, "model file");
	}
}

static void an_absent_file_means_that_vectors_are_off(void **state)
{
	struct embedder *e = NULL;
	struct err err = { 0 };

	unlink(path);
	assert_int_equal(embedder_open(path, &e, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "vectors: off (no model file)"));
	assert_int_equal(embedder_open_from(folder, "/nowhere/bin/remanenced", &e, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(embedder_open_from(NULL, NULL, &e, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_null(e);
}

static void a_folder_is_not_a_model_file(void **state)
{
	struct model m;
	struct err err = { 0 };

	assert_int_equal(model_open(folder, &m, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
}

static void places_are_the_data_folder_and_the_one_beside_the_program(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *places[MODEL_PLACES];

	assert_int_equal(model_places(&a, "/h/data", "/opt/r/bin/remanenced", places), 2);
	assert_string_equal(places[0], "/h/data/model/model.bin");
	assert_string_equal(places[1], "/opt/r/share/remanence/model.bin");
	assert_int_equal(model_places(&a, NULL, "/opt/r/bin/remanenced", places), 1);
	assert_string_equal(places[0], "/opt/r/share/remanence/model.bin");
	assert_null(model_find(places, 1));
	assert_int_equal(model_places(&a, NULL, NULL, places), 0);
}

static void the_real_file_is_installed_whole_and_refused_when_cut_or_damaged(void **state)
{
	AUTO(buf_done) struct buf file = { 0 };
	const char *model = getenv("REMANENCE_TEST_MODEL");
	char dir[64];
	struct stat st;
	struct model m;
	struct err err = { 0 };

	model = model ? model : "build-model/" MODEL_FILE;
	if (!file_exists(model))
		skip();
	snprintf(dir, sizeof(dir), "%s/new/model", folder);
	assert_int_equal(model_install(model, dir, &err), 0);
	snprintf(path, sizeof(path), "%s/" MODEL_FILE, dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, MODEL_BYTES);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(model_check(path, &err), 0);

	assert_int_equal(file_read(path, MODEL_BYTES, &file, &err), 0);
	for (size_t at = 100; at < 6000000; at = at * 3 + 1) {
		file.data[at] ^= 4;
		assert_int_equal(file_write(path, file.data, file.len, 0600, &err), 0);
		assert_int_equal(model_open(path, &m, &err), -1);
		file.data[at] ^= 4;
	}
	file.data[MODEL_BYTES - 1000] ^= 4; /* in the table: found by the pin only */
	assert_int_equal(file_write(path, file.data, file.len, 0600, &err), 0);
	assert_int_equal(model_check(path, &err), -1);
	assert_non_null(strstr(err.text, "sha256"));
	assert_int_equal(model_install(path, folder, &err), -1);
	assert_int_equal(truncate(path, MODEL_BYTES - 1), 0);
	assert_int_equal(model_open(path, &m, &err), -1);
	assert_non_null(strstr(err.text, "cut"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_a_model_file_is_refused),
		cmocka_unit_test(a_file_of_another_version_is_refused),
		cmocka_unit_test(a_cut_file_is_refused),
		cmocka_unit_test(a_damaged_head_is_refused),
		cmocka_unit_test(sections_out_of_bounds_are_refused),
		cmocka_unit_test(an_absent_file_means_that_vectors_are_off),
		cmocka_unit_test(a_folder_is_not_a_model_file),
		cmocka_unit_test(places_are_the_data_folder_and_the_one_beside_the_program),
		cmocka_unit_test(the_real_file_is_installed_whole_and_refused_when_cut_or_damaged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
