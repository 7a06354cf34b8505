/*
 * One connection and one request at a time.
 */
#include "api/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/listen.h"
#include "api/problem.h"
#include "base/clock.h"
#include "base/mem.h"

enum { ANSWER_MAX = 256 << 20, READ_BYTES = 64 * 1024 };
/* A daemon without room for a connection is asked again after 50 ms, 100 ms, ... 3.2 s: about 12 s in all. */
enum { FULL_TRIES = 9, FULL_PAUSE_MS = 50, FULL_DOUBLES = 6 };

static const double default_s = 30, connect_s = 10, silence_s = 45;

struct client {
	char *socket, *token;
	char *host; /* what the Host header says */
	char address[64];
	uint16_t port;
	int fd;     /* -1: not connected */
	bool used;  /* had an answer on this connection */
	char *read; /* READ_BYTES */
};

/* ---- where */

static int read_url(struct client *c, const char *url, struct err *err)
{
	static const char scheme[] = "http://";
	struct slice rest, host;
	const char *colon;
	int64_t port;

	if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
		return err_set(err, ERR_USAGE, "'%s' is no address such as http://127.0.0.1:4321", url);
	rest = slice_trim(slice_of(url + sizeof(scheme) - 1));
	while (rest.n && rest.at[rest.n - 1] == '/')
		rest.n--;
	colon = rest.n ? memrchr(rest.at, ':', rest.n) : NULL;
	if (!colon ||
		!slice_int((struct slice){ colon + 1, (size_t)(rest.at + rest.n - colon) - 1 }, &port) ||
		port < 1 || port > 65535)
		return err_set(err, ERR_USAGE, "'%s' has no port", url);
	host = (struct slice){ rest.at, (size_t)(colon - rest.at) };
	c->host = mem_strndup(rest.at, rest.n);
	c->port = (uint16_t)port;
	if (host.n > 2 && host.at[0] == '[' && host.at[host.n - 1] == ']')
		host = (struct slice){ host.at + 1, host.n - 2 };
	if (slice_is_nocase(host, "localhost"))
		host = slice_of("127.0.0.1");
	snprintf(c->address, sizeof(c->address), "%.*s", (int)host.n, host.at);
	return 0;
}

int client_open(const struct client_where *where, struct client **out, struct err *err)
{
	struct client *c = mem_alloc(sizeof(*c));
	int rc = 0;

	c->fd = -1;
	c->read = mem_alloc(READ_BYTES);
	c->token = where->token ? mem_strdup(where->token) : NULL;
	if (where->socket) {
		c->socket = mem_strdup(where->socket);
		c->host = mem_strdup("localhost");
	} else {
		rc = read_url(c, where->url ? where->url : "", err);
	}
	if (!rc && c->token && strpbrk(c->token, "\r\n"))
		rc = err_set(err, ERR_USAGE, "a token is one line");
	if (rc < 0) {
		client_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

static void hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->used = false;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	hang_up(c);
	free(c->socket);
	free(c->token);
	free(c->host);
	free(c->read);
	free(c);
}

/* ---- the connection */

/* 0 when ready; ERR_TIMEOUT. */
static int wait_for(int fd, short events, double seconds, struct err *err)
{
	double until = clock_wall_s() + seconds;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		double left = until - clock_wall_s();
		int ms = seconds < 0 ? -1
			: left <= 0  ? 0
			: left > 1e6 ? 1000000000
				     : (int)(left * 1000) + 1;
		int n = poll(&p, 1, ms);

		if (n > 0)
			return 0;
		if (n == 0 && left <= 0)
			return err_set(err, ERR_TIMEOUT, "the daemon did not answer within %g s",
				seconds);
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "cannot wait for the daemon: %s", strerror(errno));
	}
}

static int unreachable(const struct client *c, int why, struct err *err)
{
	const char *where = c->socket ? c->socket : c->host;

	if (why == EACCES || why == EPERM)
		return err_set(err, ERR_REFUSED, "not allowed to connect to %s", where);
	return err_set(err, ERR_UNREACHABLE, "no daemon answers at %s: %s", where, strerror(why));
}

static int try_connect(const struct client *c, int fd, const struct sockaddr *address, socklen_t n,
	struct err *err)
{
	socklen_t size = sizeof(int);
	int why = 0, rc;

	/* A unix socket whose queue is full says EAGAIN and gives nothing to wait for. */
	for (int i = 0; connect(fd, address, n) < 0; i++) {
		if (errno == EAGAIN && c->socket && i < 100) {
			poll(NULL, 0, 20);
			continue;
		}
		if (errno != EINPROGRESS)
			return unreachable(c, errno, err);
		rc = wait_for(fd, POLLOUT, connect_s, err);
		if (rc < 0)
			return rc;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) < 0 || why)
			return unreachable(c, why ? why : errno, err);
		break;
	}
	return 0;
}

static int connect_unix(struct client *c, struct err *err)
{
	struct sockaddr_un address;
	int dir, rc = unix_address(c->socket, &address, &dir, err);

	if (rc < 0)
		return rc == ERR_MISSING ? unreachable(c, ENOENT, err) : rc;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = c->fd < 0 ? err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno))
		       : try_connect(c, c->fd, (struct sockaddr *)&address, sizeof(address), err);
	if (dir >= 0)
		close(dir);
	return rc;
}

static int connect_tcp(struct client *c, struct err *err)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(c->port) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(c->port) };
	bool is_six = inet_pton(AF_INET6, c->address, &six.sin6_addr) == 1;
	int on = 1;

	if (!is_six && inet_pton(AF_INET, c->address, &four.sin_addr) != 1)
		return err_set(err, ERR_USAGE, "'%s' is no address such as 127.0.0.1", c->address);
	c->fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return is_six ? try_connect(c, c->fd, (struct sockaddr *)&six, sizeof(six), err)
		      : try_connect(c, c->fd, (struct sockaddr *)&four, sizeof(four), err);
}

/* A connection kept from before may have been closed meanwhile: then a new one, before anything is sent. */
static int connected(struct client *c, struct err *err)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN | POLLRDHUP };
	int rc;

	if (c->fd >= 0 && poll(&p, 1, 0) != 0)
		hang_up(c);
	if (c->fd >= 0)
		return 0;
	rc = c->socket ? connect_unix(c, err) : connect_tcp(c, err);
	if (rc < 0)
		hang_up(c);
	return rc;
}

/* ---- asking */

static void write_request(const struct client *c, const struct client_ask *ask, struct buf *out)
{
	char *body = NULL;

	buf_printf(out, "%s %s HTTP/1.1\r\nHost: %s\r\n", ask->method, ask->path, c->host);
	if (c->token)
		buf_printf(out, "Authorization: Bearer %s\r\n", c->token);
	if (strcmp(ask->method, "GET") != 0) {
		body = ask->body ? json_dumps(ask->body, JSON_COMPACT) : mem_strdup("{}");
		buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			body ? strlen(body) : 0);
	}
	buf_str(out, "\r\n");
	buf_str(out, body ? body : "");
	free(body);
}

/* 0 too if the daemon does not want to read all of it: it may have answered already. */
static int send_all(struct client *c, const struct buf *bytes, double timeout_s, struct err *err)
{
	size_t sent = 0;

	while (sent < bytes->n) {
		ssize_t n = send(c->fd, bytes->at + sent, bytes->n - sent, MSG_NOSIGNAL);
		int rc;

		if (n >= 0) {
			sent += (size_t)n;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return err_set(err, ERR_IO, "cannot send to the daemon: %s", strerror(errno));
		rc = wait_for(c->fd, POLLOUT, timeout_s, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

struct collect {
	const struct client_ask *ask;
	struct buf *body;
};

static int take_body(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct collect *to = ctx;

	if (to->ask->see && reply->status < 300)
		return to->ask->see(to->ask->ctx, reply, bytes, n);
	buf_add(to->body, bytes, n);
	return 0;
}

static ssize_t receive(struct client *c, double timeout_s, struct err *err)
{
	for (;;) {
		ssize_t n = recv(c->fd, c->read, READ_BYTES, 0);
		int rc;

		if (n >= 0)
			return n;
		if (errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return err_set(err, ERR_IO, "cannot read from the daemon: %s", strerror(errno));
		rc = wait_for(c->fd, POLLIN, timeout_s, err);
		if (rc < 0)
			return rc;
	}
}

static int read_answer(struct client *c, const struct client_ask *ask, double timeout_s,
	struct reply *reply, struct buf *body, struct err *err)
{
	struct collect to = { ask, body };
	int stop = 0;

	while (reply->state != REPLY_DONE) {
		ssize_t n = receive(c, timeout_s, err), used;

		if (n < 0)
			return (int)n;
		if (n == 0 && reply->state == REPLY_STATUS && !reply->line.n)
			return err_set(err, ERR_IO, "the daemon hung up without an answer");
		if (n == 0)
			return reply_end(reply, err) < 0
				? err_set(err, ERR_IO, "the daemon hung up in the middle of its answer")
				: 0;
		used = reply_feed(reply, c->read, (size_t)n, take_body, &to, &stop, err);
		if (used < 0)
			return (int)used;
		if (stop)
			return stop;
		if (used < n) /* more than was asked for */
			reply->keep = false;
	}
	return 0;
}

static void parse_body(const struct reply *reply, struct client_answer *answer)
{
	if (!strncmp(reply->content_type, "application/", 12) && strstr(reply->content_type, "json"))
		answer->json = json_loadb(answer->body.at, answer->body.n, 0, NULL);
}

static int exchange(struct client *c, const struct client_ask *ask, struct client_answer *out,
	struct err *err)
{
	double timeout_s = ask->timeout_s != 0 ? ask->timeout_s : default_s;
	struct reply reply = { .body_max = ask->see ? 0 : ANSWER_MAX };
	struct client_answer answer = { 0 };
	struct buf request = { 0 };
	int rc;

	write_request(c, ask, &request);
	rc = send_all(c, &request, timeout_s, err);
	buf_fini(&request);
	if (!rc)
		rc = read_answer(c, ask, timeout_s, &reply, &answer.body, err);
	if (rc || !reply.keep)
		hang_up(c);
	else
		c->used = true;
	if (!rc) {
		answer.status = reply.status;
		parse_body(&reply, &answer);
		*out = answer;
	} else {
		buf_fini(&answer.body);
	}
	reply_fini(&reply);
	return rc;
}

static int request_once(struct client *c, const struct client_ask *ask, struct client_answer *out,
	struct err *err)
{
	bool again, get = !strcmp(ask->method, "GET");
	int rc = connected(c, err);

	if (rc < 0)
		return rc;
	if (strpbrk(ask->path, " \r\n") || ask->path[0] != '/')
		return err_set(err, ERR_USAGE, "'%s' is no path", ask->path);
	/* A kept connection may be closed just as we use it; asking twice for something is harmless. */
	again = c->used && get && !ask->see;
	rc = exchange(c, ask, out, err);
	if (rc == ERR_IO && again) {
		rc = connected(c, err);
		if (!rc)
			rc = exchange(c, ask, out, err);
	}
	return rc;
}

/* The daemon had no room for the connection, and has not looked at the request. */
static bool is_full(const struct client_answer *answer)
{
	const char *limit = json_string_value(json_object_get(answer->json, "limit"));

	return answer->status == 503 && limit && !strcmp(limit, PROBLEM_CONNECTIONS);
}

int client_request(struct client *c, const struct client_ask *ask, struct client_answer *out,
	struct err *err)
{
	int rc = request_once(c, ask, out, err);

	for (int i = 0; i < FULL_TRIES && !rc && is_full(out); i++) {
		/* Three to five quarters of the pause, by process: those refused together come apart. */
		int pause_ms = FULL_PAUSE_MS << (i < FULL_DOUBLES ? i : FULL_DOUBLES);

		client_answer_fini(out);
		hang_up(c);
		poll(NULL, 0, pause_ms * 3 / 4 + pause_ms * (int)(getpid() % 64) / 128);
		rc = request_once(c, ask, out, err);
	}
	return rc;
}

void client_answer_fini(struct client_answer *answer)
{
	json_decref(answer->json);
	buf_fini(&answer->body);
	*answer = (struct client_answer){ 0 };
}

/* ---- problems */

static int code_of(int64_t exit)
{
	static const int codes[] = { ERR_IO, ERR_IO, ERR_USAGE, ERR_MISSING, ERR_REFUSED, ERR_NEVER,
		ERR_UNREACHABLE, ERR_TIMEOUT };

	return exit >= 0 && exit < (int64_t)(sizeof(codes) / sizeof(*codes)) ? codes[exit] : ERR_IO;
}

int client_check(const struct client_answer *answer, struct err *err)
{
	const char *detail = json_string_value(json_object_get(answer->json, "detail"));
	const json_t *exit = json_object_get(answer->json, "exit");

	if (answer->status < 400)
		return 0;
	if (!detail)
		return err_set(err, ERR_IO, "the daemon answered with status %d", answer->status);
	return err_set(err, code_of(json_integer_value(exit)), "%s", detail);
}

int client_do(struct client *c, const char *method, const char *path, const json_t *body,
	json_t **out, struct err *err)
{
	struct client_ask ask = { .method = method, .path = path, .body = body };
	struct client_answer answer = { 0 };
	int rc = client_request(c, &ask, &answer, err);

	if (!rc)
		rc = client_check(&answer, err);
	if (!rc && !answer.json)
		rc = err_set(err, ERR_FORMAT, "the daemon's answer is not JSON");
	if (!rc && out)
		*out = json_incref(answer.json);
	client_answer_fini(&answer);
	return rc;
}

/* ---- events */

struct events {
	struct sse sse;
	sse_event *see;
	void *ctx;
};

static int take_events(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct events *e = ctx;

	(void)reply;
	return sse_feed(&e->sse, bytes, n, e->see, e->ctx);
}

int client_events(struct client *c, uint64_t after, sse_event *see, void *ctx, struct err *err)
{
	struct events events = { .see = see, .ctx = ctx };
	struct client_ask ask = { .method = "GET",
		.timeout_s = silence_s,
		.see = take_events,
		.ctx = &events };
	struct client_answer answer = { 0 };
	char path[64] = "/v1/events";
	int rc;

	if (after != UINT64_MAX)
		snprintf(path, sizeof(path), "/v1/events?after=%llu", (unsigned long long)after);
	ask.path = path;
	rc = client_request(c, &ask, &answer, err);
	if (!rc)
		rc = client_check(&answer, err);
	if (!rc)
		rc = err_set(err, ERR_IO, "the daemon ended the events");
	client_answer_fini(&answer);
	sse_fini(&events.sse);
	return rc;
}
