#include "api/reply.h"

#include <string.h>

#include "support/property.h"

static int collect(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	(void)reply;
	buf_add(ctx, bytes, n);
	return 0;
}

/* Feeds in pieces of `step`; 0 or the error; the rest of the text is not used. */
static int feed(struct reply *r, const char *text, size_t step, bool end, struct buf *body)
{
	size_t n = strlen(text), at = 0;
	struct err err = { 0 };
	int stop;

	while (at < n && r->state != REPLY_DONE) {
		size_t piece = n - at < step ? n - at : step;
		ssize_t used = reply_feed(r, text + at, piece, collect, body, &stop, &err);

		if (used < 0)
			return (int)used;
		at += (size_t)used;
	}
	return end ? reply_end(r, &err) : 0;
}

static const struct {
	const char *what, *text;
	int status; /* 0: refused */
	const char *body;
	bool keep;
} rows[] = {
	{ "a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true },
	{ "chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
		200, "hello", true },
	{ "trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n0\r\nX: y\r\n\r\n",
		200, "h", true },
	{ "until the end", "HTTP/1.0 200 OK\r\n\r\nhello", 200, "hello", false },
	{ "nothing", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true },
	{ "of no length", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404, "", true },
	{ "an interim answer",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
		201, "x", true },
	{ "a close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, "x",
		false },
	{ "no reason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", 200, "x", true },
	{ "no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", 0, NULL, false },
	{ "HTTP/2", "HTTP/2 200 OK\r\n\r\n", 0, NULL, false },
	{ "no status", "HTTP/1.1 20 OK\r\n\r\n", 0, NULL, false },
	{ "a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", 0, NULL, false },
	{ "another protocol", "HTTP/1.1 101 Switching\r\n\r\n", 0, NULL, false },
	{ "bare line ends", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 0, NULL, false },
	{ "a folded header", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", 0, NULL, false },
	{ "a header without a colon", "HTTP/1.1 200 OK\r\nX\r\n\r\n", 0, NULL, false },
	{ "a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx", 0, NULL, false },
	{ "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 0,
		NULL, false },
	{ "a length and chunks",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx", 0,
		NULL, false },
	{ "a length below zero", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx", 0, NULL, false },
	{ "a length beyond all", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
		0, NULL, false },
	{ "another encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", 0, NULL, false },
	{ "a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nx", 0,
		NULL, false },
	{ "a chunk beyond all", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\nx",
		0, NULL, false },
	{ "a chunk longer than it says",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", 0,
		NULL, false },
	{ "cut off in the head", "HTTP/1.1 200 OK\r\nContent-Le", 0, NULL, false },
	{ "cut off in the body", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhe", 0, NULL, false },
	{ "cut off between chunks",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", 0, NULL, false },
};

static void answers_are_read_in_pieces_of_any_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t step = 1; step <= strlen(rows[i].text); step++) {
			struct reply r = { 0 };
			struct buf body = { 0 };
			int rc = feed(&r, rows[i].text, step, true, &body);

			if ((rc == 0) != (rows[i].status != 0))
				fail_msg("%s: %d by %zu", rows[i].what, rc, step);
			if (!rc) {
				assert_int_equal(r.status, rows[i].status);
				assert_int_equal(r.keep, rows[i].keep);
				assert_string_equal(body.n ? body.at : "", rows[i].body);
			}
			reply_fini(&r);
			buf_fini(&body);
		}
	}
}

static void nothing_grows_for_ever(void **state)
{
	char *line = malloc(REPLY_LINE_MAX + 2);
	struct reply r = { 0 };
	struct buf body = { 0 };
	int rc = 0;

	(void)state;
	assert_int_equal(feed(&r, "HTTP/1.1 200 OK\r\n", 100, false, &body), 0);
	memset(line, 'a', REPLY_LINE_MAX + 1);
	line[REPLY_LINE_MAX + 1] = '\0';
	assert_int_equal(feed(&r, line, 1000, false, &body), ERR_FORMAT);
	reply_fini(&r);
	free(line);

	r = (struct reply){ 0 };
	assert_int_equal(feed(&r, "HTTP/1.1 200 OK\r\n", 100, false, &body), 0);
	for (int i = 0; i < 100000 && !rc; i++)
		rc = feed(&r, "X: y\r\n", 100, false, &body);
	assert_int_equal(rc, ERR_FORMAT);
	reply_fini(&r);

	r = (struct reply){ .body_max = 4 };
	assert_int_equal(feed(&r, "HTTP/1.1 200 OK\r\n\r\nhello", 1, false, &body), ERR_FORMAT);
	reply_fini(&r);
	r = (struct reply){ .body_max = 4 };
	assert_int_equal(feed(&r, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 100, false, &body),
		ERR_FORMAT);
	reply_fini(&r);
	buf_fini(&body);
}

static int see(void *ctx, uint64_t id, const char *kind, const char *data)
{
	buf_printf(ctx, "%llu|%s|%s;", (unsigned long long)id, kind, data);
	return strcmp(data, "stop") ? 0 : 7;
}

static void events_are_read_in_pieces_of_any_size(void **state)
{
	const char *text = "retry: 2000\n\n:\n\nid: 7\nevent: start\ndata: {\"a\":1}\n\n"
			   "data: one\r\ndata: two\r\n\r\nid: 9\nevent: x\n\ndata:stop\n\ndata: no\n\n";

	(void)state;
	for (size_t step = 1; step <= strlen(text); step++) {
		struct buf got = { 0 };
		struct sse sse = { 0 };
		int rc = 0;

		for (size_t at = 0; at < strlen(text) && !rc; at += step) {
			size_t left = strlen(text) - at;

			rc = sse_feed(&sse, text + at, left < step ? left : step, see, &got);
		}
		assert_int_equal(rc, 7);
		assert_string_equal(got.at, "7|start|{\"a\":1};7|message|one\ntwo;9|message|stop;");
		buf_fini(&got);
		sse_fini(&sse);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read_in_pieces_of_any_size),
		cmocka_unit_test(nothing_grows_for_ever),
		cmocka_unit_test(events_are_read_in_pieces_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
