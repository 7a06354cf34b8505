/*
 * One table of statuses.
 */
#include "api/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

static const struct {
	int status, exit;
	const char *title;
} statuses[] = {
	{ 400, 2, "Bad Request" },
	{ 401, 4, "Unauthorized" },
	{ 403, 4, "Forbidden" },
	{ 404, 3, "Not Found" },
	{ 405, 2, "Method Not Allowed" },
	{ 409, 4, "Conflict" },
	{ 413, 2, "Content Too Large" },
	{ 415, 2, "Unsupported Media Type" },
	{ 422, 5, "Unprocessable Content" },
	{ 429, 4, "Too Many Requests" },
	{ 500, 1, "Internal Server Error" },
	{ 502, 1, "Bad Gateway" },
	{ 503, 6, "Service Unavailable" },
	{ 504, 7, "Gateway Timeout" },
	{ 507, 1, "Insufficient Storage" },
};

static int row_of(int status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		if (statuses[i].status == status)
			return (int)i;
	}
	return -1;
}

const char *problem_title(int status)
{
	int row = row_of(status);

	return row >= 0 ? statuses[row].title : "Error";
}

int problem_exit(int status)
{
	int row = row_of(status);

	return row >= 0 ? statuses[row].exit : 1;
}

static void begin_problem(struct json *j, struct buf *out, int status, const char *fmt, va_list ap)
{
	char *detail = NULL;

	if (vasprintf(&detail, fmt, ap) < 0)
		abort();
	buf_clear(out);
	json_init(j, out, false);
	json_begin_object(j, NULL);
	json_str(j, "type", "about:blank");
	json_str(j, "title", problem_title(status));
	json_int(j, "status", status);
	json_str(j, "detail", detail);
	json_int(j, "exit", problem_exit(status));
	free(detail);
}

void problem_write(struct buf *out, int status, const char *fmt, ...)
{
	struct json j;
	va_list ap;

	va_start(ap, fmt);
	begin_problem(&j, out, status, fmt, ap);
	va_end(ap);
	json_end(&j, '}');
}

void problem_write_full(struct buf *out, const char *fmt, ...)
{
	struct json j;
	va_list ap;

	va_start(ap, fmt);
	begin_problem(&j, out, 503, fmt, ap);
	va_end(ap);
	json_str(&j, "limit", PROBLEM_CONNECTIONS);
	json_int(&j, "retry_after_s", 1);
	json_end(&j, '}');
}
