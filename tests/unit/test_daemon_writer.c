#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "daemon/writer.h"
#include "observe/intake.h"

static char folder[64], url[96];
static struct writer *writer;
static _Atomic int commits;

static struct intake *no_intake(void *ctx)
{
	return NULL;
}

static void committed(void *ctx, int64_t seq)
{
	atomic_fetch_add(&commits, 1);
}

static char a_counter[] = "a", b_counter[] = "b", many[] = "many", theirs[] = "theirs";

static int set_up(void **state)
{
	struct err err = { 0 };
	strcpy(folder, "/tmp/remanence-writer-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(url, sizeof(url), "sqlite:%s/store.db", folder);
	struct writer_setup setup = {
		.url = url, .backup = folder, .intake_make = no_intake, .committed = committed
	};
	assert_int_equal(writer_open(&setup, &writer, &err), 0);
	atomic_store(&commits, 0);
	return 0;
}

static int tear_down(void **state)
{
	writer_close(writer);
	return file_remove_tree(folder, NULL);
}

static int count_up(struct desk *desk, void *ctx, struct err *err)
{
	return store_counter_add(desk->store, ctx, 1, err);
}

static int64_t counted(const char *name)
{
	struct store *s;
	struct err err = { 0 };
	int64_t n = -1;
	assert_int_equal(store_open(url, DB_READ, NULL, &s, &err), 0);
	assert_int_equal(store_counter_get(s, name, &n, &err), 0);
	store_close(s);
	return n;
}

static int count_and_fail(struct desk *desk, void *ctx, struct err *err)
{
	store_counter_add(desk->store, ctx, 1, NULL);
	return err_set(err, ERR_USAGE, "no");
}

static void what_returned_is_committed(void **state)
{
	struct err err = { 0 };
	assert_int_equal(writer_run(writer, LANE_REQUEST, count_up, a_counter, &err), 0);
	assert_int_equal(counted("a"), 1);
}

static void a_failed_work_leaves_nothing_and_takes_nobody_along(void **state)
{
	struct err err = { 0 };
	assert_int_equal(writer_run(writer, LANE_REQUEST, count_and_fail, a_counter, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(writer_run(writer, LANE_REQUEST, count_up, b_counter, &err), 0);
	assert_int_equal(counted("a"), 0);
	assert_int_equal(counted("b"), 1);
	struct writer_state now;
	writer_state(writer, &now);
	assert_int_equal(now.failures, 0);
}

/* Works that stop the writer until told, so that others pile up behind. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int wait_at_gate(struct desk *desk, struct work *work, struct err *err)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return 0;
}

static int order[16];
static _Atomic int norder, ndone;

struct numbered {
	struct work work;
	int number;
};

static int note_order(struct desk *desk, struct work *work, struct err *err)
{
	order[atomic_fetch_add(&norder, 1)] = ((struct numbered *)work)->number;
	return 0;
}

static void count_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	assert_int_equal(result, 0);
	atomic_fetch_add(&ndone, 1);
}

static void the_more_urgent_lane_goes_first(void **state)
{
	static const enum lane lanes[] = { LANE_BACKGROUND, LANE_IMPORT, LANE_REQUEST, LANE_HOOK };
	struct work first = {
		.lane = LANE_HOOK, .is_bare = true, .run = wait_at_gate, .done = count_done
	};
	struct numbered works[ARRAY_LEN(lanes)];
	struct err err = { 0 };
	atomic_store(&norder, 0);
	atomic_store(&ndone, 0);
	pthread_mutex_lock(&gate);
	assert_int_equal(writer_put(writer, &first, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(lanes); i++) {
		works[i] = (struct numbered){
			{ .lane = lanes[i], .run = note_order, .done = count_done }, (int)lanes[i]
		};
		assert_int_equal(writer_put(writer, &works[i].work, &err), 0);
	}
	pthread_mutex_unlock(&gate);
	while (atomic_load(&ndone) < 5)
		usleep(1000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(order[i], i);
	/* Background work begins a transaction of its own; the three before it shared one. */
	assert_int_equal(atomic_load(&commits), 2);
}

static void *add_many(void *ctx)
{
	struct err err = { 0 };
	for (int i = 0; i < 50; i++)
		if (writer_run(writer, LANE_REQUEST, count_up, many, &err))
			return many;
	return NULL;
}

static void many_threads_write_through_one(void **state)
{
	pthread_t threads[4];
	void *result;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		pthread_join(threads[i], &result);
		assert_null(result);
	}
	assert_int_equal(counted("many"), 200);
}

static void a_locked_store_is_waited_for(void **state)
{
	struct store *other;
	struct err err = { 0 };
	pthread_t thread;
	void *result;
	assert_int_equal(store_open(url, DB_WRITE, NULL, &other, &err), 0);
	assert_int_equal(store_begin(other, &err), 0);
	assert_int_equal(store_counter_add(other, theirs, 1, &err), 0);
	assert_int_equal(pthread_create(&thread, NULL, add_many, NULL), 0);
	usleep(50000);
	assert_int_equal(store_commit(other, &err), 0);
	pthread_join(thread, &result);
	assert_null(result);
	store_close(other);
	assert_int_equal(counted("many"), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_returned_is_committed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_failed_work_leaves_nothing_and_takes_nobody_along, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_more_urgent_lane_goes_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_threads_write_through_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_locked_store_is_waited_for, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
