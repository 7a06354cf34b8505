/*
 * Sockets that never block, and one moment by which all must be over.
 */
#include "hook/post.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/reply.h"
#include "base/clock.h"

#define STOP_EVERY_S 0.1 /* is looked whether to stop */

struct line {
	const struct post *post;
	int fd;
	double until_s;
};

/* 0 when ready. */
static int wait_for(const struct line *l, short events, struct err *err)
{
	for (;;) {
		struct pollfd p = { .fd = l->fd, .events = events };
		double left_s = l->until_s - clock_wall_s();
		int n;

		if (l->post->stop && atomic_load(l->post->stop))
			return err_set(err, ERR_TIMEOUT, "the daemon stops");
		if (left_s <= 0)
			return err_set(err, ERR_TIMEOUT, "no answer within %g s", l->post->timeout_s);
		n = poll(&p, 1, (int)(fmin(left_s, STOP_EVERY_S) * 1000) + 1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "poll: %s", strerror(errno));
	}
}

/* ---- connecting */

static int connect_to(struct line *l, const struct addrinfo *address, struct err *err)
{
	socklen_t size = sizeof(int);
	int why = 0, rc;

	l->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno));
	if (connect(l->fd, address->ai_addr, address->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return err_set(err, ERR_UNREACHABLE, "cannot connect: %s", strerror(errno));
	rc = wait_for(l, POLLOUT, err);
	if (rc == 0 && getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 && why)
		rc = err_set(err, ERR_UNREACHABLE, "cannot connect: %s", strerror(why));
	return rc;
}

static void hang_up(struct line *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* The first of its addresses that answers. */
static int connect_any(struct line *l, struct err *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *all;
	int why = getaddrinfo(l->post->host, l->post->port, &hints, &all);
	int rc = ERR_UNREACHABLE;

	if (why)
		return err_set(err, ERR_UNREACHABLE, "%s: %s", l->post->host, gai_strerror(why));
	for (const struct addrinfo *a = all; a && (rc == ERR_UNREACHABLE || rc == ERR_IO);
		a = a->ai_next) {
		hang_up(l);
		rc = connect_to(l, a, err);
	}
	freeaddrinfo(all);
	return rc;
}

/* ---- asking and hearing */

/* 0 too if the receiver does not want to read all of it: it may have answered already. */
static int send_all(const struct line *l, struct err *err)
{
	const struct buf *request = l->post->request;
	size_t sent = 0;

	while (sent < request->n) {
		ssize_t n = send(l->fd, request->at + sent, request->n - sent, MSG_NOSIGNAL);

		if (n >= 0)
			sent += (size_t)n;
		else if (errno == EPIPE || errno == ECONNRESET)
			return 0;
		else if (errno != EAGAIN && errno != EINTR)
			return err_set(err, ERR_IO, "cannot send: %s", strerror(errno));
		else if (wait_for(l, POLLOUT, err) < 0)
			return err->code;
	}
	return 0;
}

struct keeping {
	struct buf *to;
	size_t max;
};

static int keep_body(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct keeping *k = ctx;
	size_t room = k->max - k->to->n;

	(void)reply;
	buf_add(k->to, bytes, n < room ? n : room);
	return n > room; /* nonzero: enough of it */
}

static int hear(const struct line *l, struct reply *reply, struct buf *answer, struct err *err)
{
	struct keeping keeping = { answer, l->post->answer_max };
	char bytes[4096];
	int stop = 0;

	while (reply->state != REPLY_DONE && !stop) {
		ssize_t n = recv(l->fd, bytes, sizeof(bytes), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (wait_for(l, POLLIN, err) < 0)
				return err->code;
			continue;
		}
		if (n < 0 && errno != ECONNRESET)
			return err_set(err, ERR_IO, "cannot read the answer: %s", strerror(errno));
		if (n <= 0)
			return reply_end(reply, err) < 0
				? err_set(err, ERR_IO, "it hung up before it had answered")
				: 0;
		if (reply_feed(reply, bytes, (size_t)n, keep_body, &keeping, &stop, err) < 0)
			return err->code;
	}
	return 0;
}

int post_send(const struct post *post, int *status, struct buf *answer, struct err *err)
{
	struct line l = { .post = post, .fd = -1, .until_s = clock_wall_s() + post->timeout_s };
	struct reply reply = { 0 };
	int rc = connect_any(&l, err);

	if (rc == 0)
		rc = send_all(&l, err);
	if (rc == 0)
		rc = hear(&l, &reply, answer, err);
	if (rc == 0)
		*status = reply.status;
	hang_up(&l);
	reply_fini(&reply);
	return rc;
}
