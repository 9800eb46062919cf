#include "daemon/problem.h"

#include "base/json.h"
#include "base/mem.h"

/* The words of RFC 9110 for what is said here. */
static const struct {
	int status;
	const char *title;
} titles[] = {
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 413, "Content Too Large" },
	{ 500, "Internal Server Error" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
};

static const char *title_of(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

static const struct err_info *info_of(const struct err *err)
{
	return &err_codes[err->code < ERR_CODE_COUNT && err->code ? err->code : ERR_INTERNAL];
}

static void error_member(const struct err *err, struct jw *w)
{
	const struct err_info *info = info_of(err);

	jw_object(w, "error");
	jw_str(w, "code", info->name);
	jw_str(w, "message", err->text);
	jw_str(w, "hint", err->hint);
	jw_bool(w, "retryable", info->retryable);
	jw_end(w, '}');
}

static int begin(const struct err *err, int status, struct jw *w)
{
	buf_cut(w->out, 0);
	jw_object(w, NULL);
	return status ? status : info_of(err)->http_status;
}

int error_write_plain(const struct err *err, int status, struct buf *out)
{
	struct jw w = { .out = out };

	status = begin(err, status, &w);
	error_member(err, &w);
	jw_end(&w, '}');
	return status;
}

int error_write_problem(const struct err *err, int status, struct buf *out)
{
	struct jw w = { .out = out };

	status = begin(err, status, &w);
	jw_str(&w, "type", "about:blank");
	jw_str(&w, "title", title_of(status));
	jw_int(&w, "status", status);
	jw_str(&w, "detail", err->text);
	error_member(err, &w);
	jw_end(&w, '}');
	return status;
}

int error_write_detail(const struct err *err, int status, struct buf *out)
{
	struct jw w = { .out = out };

	status = begin(err, status, &w);
	jw_str(&w, "detail", err->text);
	jw_end(&w, '}');
	return status;
}
