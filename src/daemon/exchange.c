#include "daemon/exchange.h"

#include <string.h>

#include "base/mem.h"
#include "daemon/injections.h"

struct exchange *exchange_new(
	struct http *http, struct MHD_Connection *connection, const char *path)
{
	struct exchange *x = mem_alloc(sizeof(*x));
	x->http = http;
	x->connection = connection;
	x->path = mem_strdup(path);
	pthread_mutex_init(&x->mutex, NULL);
	pthread_cond_init(&x->drained, NULL);
	return x;
}

static void exchange_free(struct exchange *x)
{
	free(x->path);
	free(x->cwd);
	buf_done(&x->body);
	buf_done(&x->reply);
	buf_done(&x->lines);
	injection_note_free(x->note);
	pthread_cond_destroy(&x->drained);
	pthread_mutex_destroy(&x->mutex);
	free(x);
}

void exchange_close(struct exchange *x)
{
	pthread_mutex_lock(&x->mutex);
	x->is_connection_over = true;
	bool is_last = !x->has_call || x->is_call_over;
	pthread_cond_signal(&x->drained);
	pthread_mutex_unlock(&x->mutex);
	if (is_last)
		exchange_free(x);
}

/* With the mutex held. */
static void wake_connection(struct exchange *x, void (*resume)(struct MHD_Connection *c))
{
	if (x->is_suspended && !x->is_connection_over)
		resume(x->connection);
	x->is_suspended = false;
}

int exchange_line(struct exchange *x, const char *line, void (*resume)(struct MHD_Connection *c))
{
	pthread_mutex_lock(&x->mutex);
	while (!x->is_connection_over && x->lines.len - x->given > EXCHANGE_UNREAD_MAX)
		pthread_cond_wait(&x->drained, &x->mutex);
	if (x->state == EXCHANGE_RUNNING)
		x->state = EXCHANGE_STREAMING;
	buf_str(&x->lines, line);
	buf_char(&x->lines, '\n');
	wake_connection(x, resume);
	bool is_gone = x->is_connection_over;
	pthread_mutex_unlock(&x->mutex);
	return is_gone;
}

void exchange_finish(
	struct exchange *x, struct buf *reply, int status, void (*resume)(struct MHD_Connection *c))
{
	pthread_mutex_lock(&x->mutex);
	if (x->state == EXCHANGE_STREAMING) {
		buf_add(&x->lines, buf_cstr(reply), reply->len);
		buf_char(&x->lines, '\n');
	} else {
		x->reply = *reply;
		*reply = (struct buf){ 0 };
		x->status = status;
		x->state = EXCHANGE_READY;
	}
	x->is_call_over = true;
	wake_connection(x, resume);
	bool is_last = x->is_connection_over;
	pthread_mutex_unlock(&x->mutex);
	if (is_last)
		exchange_free(x);
}

ssize_t exchange_take(
	struct exchange *x, char *to, size_t max, void (*suspend)(struct MHD_Connection *c))
{
	pthread_mutex_lock(&x->mutex);
	ssize_t n = (ssize_t)MIN(max, x->lines.len - x->given);
	if (n) {
		memcpy(to, x->lines.data + x->given, (size_t)n);
		x->given += (size_t)n;
	} else if (!x->is_call_over) {
		x->is_suspended = true;
		suspend(x->connection);
		n = -1;
	}
	if (x->given == x->lines.len) {
		buf_cut(&x->lines, 0);
		x->given = 0;
	}
	pthread_cond_signal(&x->drained);
	pthread_mutex_unlock(&x->mutex);
	return n;
}
