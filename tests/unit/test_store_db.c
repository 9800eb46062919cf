/* Transactions as every driver must keep them, however late it hears of what failed. */
#include "store_fixture.h"

#include "store/db.h"

#define MANY 1000 /* more writes than a driver leaves waiting */

static const char insert[] = "INSERT INTO thing (name, n) VALUES (?1, ?2)";
static const char merge[] =
	"INSERT INTO thing (name, n) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET n = "
	"excluded.n";
static const char raise_all[] = "UPDATE thing SET n = n + ?1";

static int things_open(void **state)
{
	if (fixture_open(state))
		return -1;
	struct fixture *f = *state;
	reopen_as_owner(f);
	ok(db_script(store_db(f->s),
		"CREATE TABLE thing (id {key}, name TEXT NOT NULL UNIQUE, n BIGINT NOT NULL)",
		&f->err));
	return 0;
}

static int put(struct fixture *f, const char *name, int64_t n)
{
	f->err = (struct err){ 0 };
	return db_run(store_db(f->s), insert, DB_ARGS(db_t(name), db_i(n)), &f->err);
}

static int64_t number(struct fixture *f, const char *sql)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	ok(db_query_once(store_db(f->s), sql, NULL, 0, &r, &f->err));
	assert_int_equal(db_next(r, &f->err), 1);
	return db_int(r, 0);
}

/* The statement that cannot be kept, told now or by what waits for it. */
static void assert_named(struct fixture *f)
{
	if (!is_file(f))
		assert_non_null(strstr(f->err.text, "INSERT INTO thing"));
	assert_int_equal(f->err.code, ERR_STORE);
}

static void what_fails_within_a_savepoint_is_undone_with_it_alone(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);

	ok(db_begin(db, &f->err));
	ok(db_savepoint(db, &f->err));
	ok(put(f, "before", 1));
	ok(db_release(db, &f->err));
	ok(db_savepoint(db, &f->err));
	ok(put(f, "within", 1));
	int failed = put(f, "before", 2);
	if (!failed)
		failed = db_run(db, raise_all, DB_ARGS(db_i(100)), &f->err) ||
			 db_release(db, &f->err);
	assert_true(failed);
	assert_named(f);
	assert_true(db_is_in_transaction(db));
	db_rollback_to(db);
	ok(db_savepoint(db, &f->err));
	ok(put(f, "after", 1));
	ok(db_release(db, &f->err));
	ok(db_commit(db, &f->err));
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 2);
	assert_int_equal(number(f, "SELECT sum(n) FROM thing"), 2);
	assert_int_equal(number(f, "SELECT count(*) FROM thing WHERE name = 'within'"), 0);
}

static void a_commit_stores_nothing_of_what_failed(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);

	ok(db_begin(db, &f->err));
	ok(put(f, "one", 1));
	if (!put(f, "one", 2))
		assert_int_equal(db_commit(db, &f->err), -1);
	assert_named(f);
	db_rollback(db);
	assert_false(db_is_in_transaction(db));
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 0);
	ok(put(f, "one", 3));
	assert_int_equal(number(f, "SELECT n FROM thing"), 3);
}

static void a_question_behind_a_write_that_failed_tells_of_the_write(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);
	int64_t n;

	ok(db_begin(db, &f->err));
	ok(put(f, "one", 1));
	if (!put(f, "one", 2)) {
		assert_int_equal(
			db_one(db, "SELECT count(*) FROM thing", NULL, 0, 0, &n, &f->err), -1);
		assert_named(f);
		assert_int_equal(db_changes(db), 0);
		assert_int_equal(
			db_one(db, "SELECT count(*) FROM thing", NULL, 0, 0, &n, &f->err), -1);
	}
	assert_named(f);
	db_rollback(db);
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 0);
}

static void many_writes_are_stored_in_their_order(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);
	int64_t last = 0;
	char name[16];

	ok(db_begin(db, &f->err));
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		ok(put(f, name, i));
		int64_t id = db_last_id(db);
		assert_true(id > last);
		last = id;
		if (i % 3 == 0)
			ok(db_run(db, merge, DB_ARGS(db_t("t0"), db_i(i)), &f->err));
	}
	ok(db_run(db, raise_all, DB_ARGS(db_i(1)), &f->err));
	assert_int_equal(db_changes(db), MANY);
	ok(db_commit(db, &f->err));
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), MANY);
	assert_int_equal(number(f, "SELECT n FROM thing WHERE name = 't0'"), MANY);
	assert_int_equal(number(f, "SELECT id FROM thing WHERE name = 't999'"), last);
	assert_int_equal(number(f, "SELECT max(id) FROM thing"), last);
	assert_int_equal(number(f, "SELECT count(*) FROM thing a JOIN thing b ON a.id > b.id AND "
				   "a.n < b.n AND b.name <> 't0'"),
		0);
}

static void the_number_of_a_row_is_its_own_whichever_statement_made_it(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);

	ok(db_begin(db, &f->err));
	ok(db_run(db, merge, DB_ARGS(db_t("a"), db_i(1)), &f->err));
	int64_t a = db_last_id(db);
	ok(db_run(db, merge, DB_ARGS(db_t("b"), db_i(1)), &f->err));
	ok(put(f, "c", 1));
	ok(db_run(db, raise_all, DB_ARGS(db_i(1)), &f->err));
	int64_t c = db_last_id(db);
	ok(put(f, "d", 1));
	ok(db_run(db, merge, DB_ARGS(db_t("e"), db_i(1)), &f->err));
	ok(db_run(db, raise_all, DB_ARGS(db_i(1)), &f->err));
	int64_t e = db_last_id(db);
	ok(db_commit(db, &f->err));
	assert_int_equal(number(f, "SELECT id FROM thing WHERE name = 'a'"), a);
	assert_int_equal(number(f, "SELECT id FROM thing WHERE name = 'c'"), c);
	assert_int_equal(number(f, "SELECT id FROM thing WHERE name = 'e'"), e);
}

/* Whoever has seen a number sees no lower one later. */
static void numbers_grow_over_transactions_and_connections(void **state)
{
	struct fixture *f = *state;
	struct store *other;
	int64_t last = 0;
	char name[16];

	ok(store_open(f->url, DB_WRITE, NULL, &other, &f->err));
	for (int i = 0; i < 60; i++) {
		struct db *db = store_db(i % 2 ? other : f->s);
		ok(db_begin(db, &f->err));
		for (int k = 0; k < i % 7; k++) {
			snprintf(name, sizeof(name), "t%d.%d", i, k);
			ok(db_run(db, insert, DB_ARGS(db_t(name), db_i(k)), &f->err));
			int64_t id = db_last_id(db);
			assert_true(id > last);
			last = id;
		}
		ok(db_commit(db, &f->err));
	}
	store_close(other);
}

static void a_connection_that_ends_takes_what_waited_with_it(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);
	struct store *other;
	int64_t backend;

	if (is_file(f))
		return;
	const struct store_setup owner = { .url = f->url, .mode = DB_WRITE, .keeps_login = true };
	ok(store_open_as(&owner, &other, &f->err));
	ok(db_one(db, "SELECT pg_backend_pid()", NULL, 0, 0, &backend, &f->err));
	ok(db_begin(db, &f->err));
	for (int i = 0; i < 3; i++)
		ok(put(f, (const char *[]){ "a", "b", "c" }[i], i));
	ok(db_one(store_db(other), "SELECT pg_terminate_backend(CAST(?1 AS int), 5000)",
		DB_ARGS(db_i(backend)), 0, &backend, &f->err));
	assert_int_equal(db_commit(db, &f->err), -1);
	assert_int_equal(f->err.code, ERR_BUSY);
	assert_int_equal(put(f, "d", 1), -1);
	db_rollback(db);
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 0);
	ok(put(f, "a", 1));
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 1);
	store_close(other);
}

/* Missing ones give no row; the answer is that of asking one by one, writes that wait included. */
static void one_question_about_many_rows_gives_them_in_the_order_asked(void **state)
{
	static const char by_id[] = "SELECT id, n, name FROM thing WHERE id = ?1";
	struct fixture *f = *state;
	struct db *db = store_db(f->s);
	static int64_t ids[MANY];
	uint64_t seed = 5;
	char name[16];

	ok(db_begin(db, &f->err));
	for (int i = 1; i <= MANY / 2; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		ok(put(f, name, i));
		ids[i - 1] = db_last_id(db);
	}
	for (size_t i = MANY / 2; i < MANY; i++)
		ids[i] = i % 3 ? ids[unit_below(&seed, MANY / 2)] : INT64_MAX - (int64_t)i;
	for (int round = 0; round < 3; round++) {
		AUTO(db_end_ptr) struct db_rows *r = NULL;
		ok(db_query_each(db, by_id, ids, MANY, &r, &f->err));
		for (size_t i = 0; i < MANY; i++) {
			if (ids[i] > INT32_MAX)
				continue;
			assert_int_equal(db_next(r, &f->err), 1);
			assert_int_equal(db_int(r, 0), ids[i]);
			snprintf(name, sizeof(name), "t%d", (int)db_int(r, 1));
			assert_string_equal(db_text(r, 2), name);
		}
		assert_int_equal(db_next(r, &f->err), 0);
		if (round == 1)
			ok(db_commit(db, &f->err));
	}
	struct db_rows *none = NULL;
	ok(db_query_each(db, by_id, ids, 0, &none, &f->err));
	assert_int_equal(db_next(none, &f->err), 0);
	db_end(none);
}

static void one_question_about_many_rows_fails_as_one_about_one_does(void **state)
{
	struct fixture *f = *state;
	struct db *db = store_db(f->s);
	const int64_t ids[] = { 1, 0, 2 };
	struct db_rows *r = NULL;

	ok(put(f, "one", 1));
	ok(put(f, "two", 2));
	int failed = db_query_each(
		db, "SELECT id FROM nothing WHERE id = ?1", ids, ARRAY_LEN(ids), &r, &f->err);
	if (!failed)
		failed = db_next(r, &f->err);
	db_end(r);
	assert_int_equal(failed, -1);
	assert_int_equal(f->err.code, ERR_STORE);
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 2);
	if (is_file(f))
		return;
	failed = db_query_each(db, "SELECT 1 / ?1", ids, ARRAY_LEN(ids), &r, &f->err);
	assert_int_equal(failed, -1);
	assert_int_equal(number(f, "SELECT count(*) FROM thing"), 2);
}

#define on_store(test) cmocka_unit_test_setup_teardown(test, things_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_store(what_fails_within_a_savepoint_is_undone_with_it_alone),
		on_store(a_commit_stores_nothing_of_what_failed),
		on_store(a_question_behind_a_write_that_failed_tells_of_the_write),
		on_store(many_writes_are_stored_in_their_order),
		on_store(the_number_of_a_row_is_its_own_whichever_statement_made_it),
		on_store(numbers_grow_over_transactions_and_connections),
		on_store(one_question_about_many_rows_gives_them_in_the_order_asked),
		on_store(one_question_about_many_rows_fails_as_one_about_one_does),
		on_store(a_connection_that_ends_takes_what_waited_with_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
