/*
 * Somebody who listens on this machine: keeps what it is sent and answers what
 * a test says.
 */
#ifndef TESTS_HOOK_RECEIVER_H
#define TESTS_HOOK_RECEIVER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "hook/hook.h"
#include "support/property.h"

enum { HEARD_MAX = 4096, HANGS = 0, DRIPS = -1 };

struct receiver {
	int fd;
	char port[8];
	pthread_t thread;
	const int *answers; /* one after the other; the last again and again */
	size_t nanswers;
	pthread_mutex_t lock;
	char *heard[HEARD_MAX];
	size_t nheard;
	int kept[64]; /* connections that hang */
	size_t nkept;
};

/* A whole request: until the bytes that its length says. */
static char *receiver_read(int fd)
{
	struct buf text = { 0 };
	char bytes[4096];
	const char *end, *length;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		buf_add(&text, bytes, (size_t)n);
		end = strstr(text.at, "\r\n\r\n");
		length = strstr(text.at, "Content-Length: ");
		if (end && length &&
			text.n >= (size_t)(end + 4 - text.at) + strtoul(length + 16, NULL, 10))
			break;
	}
	return text.at;
}

static void receiver_answer(struct receiver *r, int fd, int status)
{
	char text[128];

	if (status == HANGS) {
		r->kept[r->nkept++ % 64] = fd;
		return;
	}
	/* A byte now and then, for ever: it never comes to an end. */
	for (int i = 0; status == DRIPS && i < 6000 && send(fd, "H", 1, MSG_NOSIGNAL) == 1; i++)
		usleep(10000);
	snprintf(text, sizeof(text), "HTTP/1.1 %d X\r\nContent-Length: 3\r\n\r\nok\n", status);
	send(fd, text, strlen(text), MSG_NOSIGNAL);
	close(fd);
}

static void *receiver_run(void *self)
{
	struct receiver *r = self;
	int fd;

	while ((fd = accept(r->fd, NULL, NULL)) >= 0) {
		char *text = receiver_read(fd);
		size_t i;

		pthread_mutex_lock(&r->lock);
		i = r->nheard;
		r->heard[r->nheard++] = text;
		pthread_mutex_unlock(&r->lock);
		receiver_answer(r, fd, r->answers[i < r->nanswers ? i : r->nanswers - 1]);
	}
	return NULL;
}

static void receiver_start(struct receiver *r, const int *answers, size_t n)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);

	*r = (struct receiver){ .answers = answers, .nanswers = n };
	pthread_mutex_init(&r->lock, NULL);
	r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(r->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(r->fd, 64), 0);
	assert_int_equal(getsockname(r->fd, (struct sockaddr *)&at, &size), 0);
	snprintf(r->port, sizeof(r->port), "%u", ntohs(at.sin_port));
	assert_int_equal(pthread_create(&r->thread, NULL, receiver_run, r), 0);
}

static size_t receiver_heard(struct receiver *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->nheard;
	pthread_mutex_unlock(&r->lock);
	return n;
}

static void receiver_stop(struct receiver *r)
{
	shutdown(r->fd, SHUT_RDWR);
	pthread_join(r->thread, NULL);
	close(r->fd);
	for (size_t i = 0; i < r->nkept && i < 64; i++)
		close(r->kept[i]);
	for (size_t i = 0; i < r->nheard; i++)
		free(r->heard[i]);
	pthread_mutex_destroy(&r->lock);
}

/* A header of a request; copied into `out`. */
static inline const char *receiver_header(const char *request, const char *name, char out[128])
{
	const char *at = strstr(request, name);

	assert_non_null(at);
	at += strlen(name) + 2;
	snprintf(out, 128, "%.*s", (int)strcspn(at, "\r"), at);
	return out;
}

#endif
