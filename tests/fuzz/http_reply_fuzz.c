/*
 * Any bytes as an answer, whole and in pieces: the same comes out, and never
 * more than came in.  The same for server-sent events.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/reply.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct result {
	struct reply reply;
	struct buf body, events;
	int rc, sse_rc;
	size_t used;
};

static int collect(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct result *r = ctx;

	assert(n > 0 && reply->status >= 200 && reply->status <= 599);
	buf_add(&r->body, bytes, n);
	return 0;
}

static int see(void *ctx, uint64_t id, const char *kind, const char *data)
{
	struct result *r = ctx;

	buf_printf(&r->events, "%llu %s %s\n", (unsigned long long)id, kind, data);
	return 0;
}

/* Each piece is a copy of its own: nothing beyond it may be read. */
static void run(struct result *r, const char *bytes, size_t n, size_t step)
{
	struct sse sse = { 0 };
	struct err err = { 0 };

	for (size_t at = 0; at < n && !r->rc; at += step) {
		size_t piece = n - at < step ? n - at : step;
		char *copy = mem_alloc(piece);
		int stop = 0;
		ssize_t used;

		memcpy(copy, bytes + at, piece);
		if (!r->sse_rc)
			r->sse_rc = sse_feed(&sse, copy, piece, see, r);
		used = reply_feed(&r->reply, copy, piece, collect, r, &stop, &err);
		assert(!stop && (used >= 0 ? (size_t)used <= piece : used == ERR_FORMAT));
		if (used < 0)
			r->rc = (int)used;
		else
			r->used += (size_t)used;
		free(copy);
		if (r->reply.state == REPLY_DONE)
			break;
		assert(used < 0 || (size_t)used == piece);
	}
	if (!r->rc)
		r->rc = reply_end(&r->reply, &err);
	assert(!r->rc || (err.code == ERR_FORMAT && strlen(err.text) > 10));
	sse_fini(&sse);
}

static void fini(struct result *r)
{
	reply_fini(&r->reply);
	buf_fini(&r->body);
	buf_fini(&r->events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const size_t steps[] = { 1, 2, 7, 100 };
	struct result whole = { .reply.body_max = 1 << 16 };

	run(&whole, (const char *)bytes, n, n + !n);
	assert(whole.body.n <= n && whole.used <= n);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct result r = { .reply.body_max = 1 << 16 };

		run(&r, (const char *)bytes, n, steps[i]);
		assert((r.rc == 0) == (whole.rc == 0));
		if (!r.rc)
			assert(r.used == whole.used && r.reply.status == whole.reply.status &&
				r.body.n == whole.body.n &&
				(!r.body.n || !memcmp(r.body.at, whole.body.at, r.body.n)));
		fini(&r);
	}
	fini(&whole);
	return 0;
}
