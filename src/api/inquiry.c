/*
 * Calls of the daemon outlive whoever asked: they are counted references.
 */
#include <stdlib.h>

#include "api/problem.h"
#include "api/server_parts.h"
#include "base/mem.h"

struct inquiry *inquiry_create(void (*then)(void *to, int status, struct buf *body), void *to)
{
	struct inquiry *inquiry = mem_alloc(sizeof(*inquiry));

	pthread_mutex_init(&inquiry->lock, NULL);
	inquiry->refs = 1;
	inquiry->then = then;
	inquiry->to = to;
	return inquiry;
}

/* With the lock held, which is let go. */
static void unref(struct inquiry *inquiry)
{
	bool last = --inquiry->refs == 0;

	pthread_mutex_unlock(&inquiry->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&inquiry->lock);
	free(inquiry);
}

static void deliver(struct inquiry *inquiry, int status, struct buf *body)
{
	if (inquiry->to)
		inquiry->then(inquiry->to, status, body);
	inquiry->to = NULL;
	buf_fini(body);
}

static void answered(void *ctx, int status, struct buf *body)
{
	struct inquiry *inquiry = ctx;

	pthread_mutex_lock(&inquiry->lock);
	deliver(inquiry, status, body);
	unref(inquiry);
}

void inquiry_ask(struct inquiry *inquiry, const struct api_back *back, const struct verb *verb,
	const struct caller *caller, json_t *args)
{
	pthread_mutex_lock(&inquiry->lock);
	inquiry->refs++;
	pthread_mutex_unlock(&inquiry->lock);
	back->call(back->self, verb, caller, args, answered, inquiry);
}

void inquiry_cancel(struct inquiry *inquiry, int status, const char *why)
{
	struct buf body = { 0 };

	problem_write(&body, status, "%s", why);
	pthread_mutex_lock(&inquiry->lock);
	deliver(inquiry, status, &body);
	pthread_mutex_unlock(&inquiry->lock);
}

bool inquiry_is_over(struct inquiry *inquiry)
{
	bool over;

	pthread_mutex_lock(&inquiry->lock);
	over = !inquiry->to;
	pthread_mutex_unlock(&inquiry->lock);
	return over;
}

void inquiry_leave(struct inquiry *inquiry)
{
	if (!inquiry)
		return;
	pthread_mutex_lock(&inquiry->lock);
	inquiry->to = NULL;
	unref(inquiry);
}
