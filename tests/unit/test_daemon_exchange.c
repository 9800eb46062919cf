#include "unit.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/exchange.h"

static int resumed, suspended;

static void resume(struct MHD_Connection *c)
{
	resumed++;
}

static void suspend(struct MHD_Connection *c)
{
	suspended++;
}

static struct exchange *running(void)
{
	struct exchange *x = exchange_new(NULL, NULL, "/api/import");
	resumed = suspended = 0;
	x->has_call = true;
	x->is_suspended = true;
	x->state = EXCHANGE_RUNNING;
	return x;
}

static void a_call_without_progress_gives_a_whole_reply(void **state)
{
	struct exchange *x = running();
	struct buf reply = { 0 };
	buf_str(&reply, "{}");
	exchange_finish(x, &reply, 200, resume);
	assert_int_equal(x->state, EXCHANGE_READY);
	assert_int_equal(resumed, 1);
	assert_string_equal(buf_cstr(&x->reply), "{}");
	assert_null(reply.data);
	exchange_close(x);
}

static void progress_makes_it_a_stream_that_sleeps_when_it_is_empty(void **state)
{
	struct exchange *x = running();
	struct buf reply = { 0 };
	char bytes[64] = "";
	assert_int_equal(exchange_line(x, "{\"progress\":1}", resume), 0);
	assert_int_equal(x->state, EXCHANGE_STREAMING);
	assert_int_equal(resumed, 1);
	assert_int_equal(exchange_take(x, bytes, 5, suspend), 5);
	assert_int_equal(exchange_take(x, bytes + 5, sizeof(bytes), suspend), 10);
	assert_memory_equal(bytes, "{\"progress\":1}\n", 15);
	assert_int_equal(exchange_take(x, bytes, sizeof(bytes), suspend), -1);
	assert_int_equal(suspended, 1);
	buf_str(&reply, "{\"files\":1}");
	exchange_finish(x, &reply, 200, resume);
	assert_int_equal(resumed, 2);
	assert_int_equal(exchange_take(x, bytes, sizeof(bytes), suspend), 12);
	assert_int_equal(exchange_take(x, bytes, sizeof(bytes), suspend), 0);
	buf_done(&reply);
	exchange_close(x);
}

static void a_call_hears_that_its_caller_went_away(void **state)
{
	struct exchange *x = running();
	struct buf reply = { 0 };
	assert_int_equal(exchange_line(x, "{}", resume), 0);
	exchange_close(x);
	assert_int_not_equal(exchange_line(x, "{}", resume), 0);
	exchange_finish(x, &reply, 200, resume);
	buf_done(&reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_without_progress_gives_a_whole_reply),
		cmocka_unit_test(progress_makes_it_a_stream_that_sleeps_when_it_is_empty),
		cmocka_unit_test(a_call_hears_that_its_caller_went_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
