/*
 * A daemon that is not one: a small table of verbs, a thread that answers, and
 * counters; with a server in front of it, and raw HTTP to talk to that.
 */
#ifndef TESTS_API_FAKE_H
#define TESTS_API_FAKE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/client.h"
#include "api/listen.h"
#include "api/problem.h"
#include "api/server.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "support/property.h"

static const struct param fake_id[] = {
	{ "id", PARAM_TEXT, true, true, "the job" },
	{ 0 },
};

static const struct param fake_echo[] = {
	{ "id", PARAM_INT, true, true, "a number" },
	{ "whole", PARAM_INT, false, false, "a whole number" },
	{ "number", PARAM_NUMBER, false, false, "a number" },
	{ "text", PARAM_TEXT, false, false, "a text" },
	{ "flag", PARAM_BOOL, false, false, "yes or no" },
	{ 0 },
};

static const struct param fake_change[] = {
	{ "id", PARAM_TEXT, true, true, "the job" },
	{ "reason", PARAM_TEXT, false, false, "why" },
	{ "weight", PARAM_NUMBER, false, false, "how much" },
	{ 0 },
};

static const struct param fake_quota[] = {
	{ "tenant", PARAM_TEXT, false, true, "whose" },
	{ "weight", PARAM_NUMBER, false, true, "how much" },
	{ 0 },
};

static const struct param fake_log[] = {
	{ "id", PARAM_INT, true, true, "the job" },
	{ "stream", PARAM_TEXT, false, false, "stdout or stderr" },
	{ "attempt", PARAM_INT, false, false, "which" },
	{ "offset", PARAM_INT, false, false, "bytes" },
	{ 0 },
};

static const struct verb fake_verbs[] = {
	{ "submit", "POST", "/v1/jobs", "submits", NEEDS_USER, NULL, "submitted/1", false },
	{ "jobs", "GET", "/v1/jobs", "lists", NEEDS_READ, NULL, "jobs/1", false },
	{ "job", "GET", "/v1/jobs/{id}", "shows", NEEDS_READ, fake_id, "job/1", false },
	{ "echo", "GET", "/v1/echo/{id}", "says it again", NEEDS_READ, fake_echo, "echo/1", false },
	{ "cancel", "POST", "/v1/jobs/{id}/cancel", "ends", NEEDS_OWNER, fake_change, "changed/1",
		false },
	{ "wait", "GET", "/v1/jobs/{id}/wait", "waits", NEEDS_READ, fake_id, "job/1", true },
	{ "log", "GET", "/v1/jobs/{id}/log", "where the log is", NEEDS_OWNER, fake_log, "log/1", false },
	{ "set_quota", "POST", "/v1/quota", "sets", NEEDS_ADMIN, fake_quota, "quota/1", false },
	{ "quota", "GET", "/v1/quota", "shows", NEEDS_READ, NULL, "quota/1", false },
	{ 0 },
};

struct fake_call {
	const struct verb *verb;
	struct caller caller;
	json_t *args;
	daemon_answer *answer;
	void *ctx;
};

struct fake {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	VEC(struct fake_call) calls;
	VEC(struct fake_call) held; /* waits, until let go */
	bool stop, at_once;         /* at_once: answers in the server's thread */
	uint64_t changes, asked, counted;
	struct buf audit; /* a line per entry */
	struct caller last_caller;
	/* the log */
	char *log_path;
	bool log_ended;
	int log_status;

	char dir[64], *socket;
	char token[TOKEN_DIGITS + 1];
	const struct verb *verbs; /* NULL: those above */
	struct stream *stream;
	struct server *server;
};

/* The one that runs.  A test that fails leaves its frame: fakes are static, and fake_teardown() stops what is left. */
static struct fake *fake_running;

static inline void fake_say(const struct fake_call *c, int status, json_t *body)
{
	struct buf text = { 0 };
	char *dumped = json_dumps(body, JSON_COMPACT);

	buf_str(&text, dumped);
	free(dumped);
	json_decref(body);
	c->answer(c->ctx, status, &text);
}

static inline void fake_problem(const struct fake_call *c, int status, const char *what)
{
	struct buf text = { 0 };

	problem_write(&text, status, "%s", what);
	c->answer(c->ctx, status, &text);
}

static inline void fake_answer(struct fake *f, const struct fake_call *c)
{
	if (!strcmp(c->verb->name, "log")) {
		json_t *body;
		int status;

		pthread_mutex_lock(&f->lock);
		status = f->log_status;
		body = json_pack("{s:s, s:s?, s:i, s:b}", "schema", "log/1", "path", f->log_path,
			"attempt", 2, "ended", f->log_ended);
		pthread_mutex_unlock(&f->lock);
		if (status) {
			json_decref(body);
			fake_problem(c, status, "the log is not for you");
		} else {
			fake_say(c, 200, body);
		}
	} else {
		fake_say(c, !strcmp(c->verb->name, "submit") ? 201 : 200,
			json_pack("{s:s, s:s, s:O}", "schema", c->verb->schema, "verb",
				c->verb->name, "args", c->args));
	}
	json_decref(c->args);
}

static inline void *fake_run(void *ctx)
{
	struct fake *f = ctx;

	pthread_mutex_lock(&f->lock);
	while (!f->stop) {
		struct fake_call c;

		if (!f->calls.n) {
			pthread_cond_wait(&f->changed, &f->lock);
			continue;
		}
		c = f->calls.at[0];
		memmove(f->calls.at, f->calls.at + 1, --f->calls.n * sizeof(c));
		pthread_mutex_unlock(&f->lock);
		fake_answer(f, &c);
		pthread_mutex_lock(&f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static inline void fake_call(void *self, const struct verb *verb, const struct caller *caller,
	json_t *args, daemon_answer *answer, void *ctx)
{
	struct fake *f = self;
	struct fake_call c = { verb, *caller, args, answer, ctx };
	bool now = false;

	pthread_mutex_lock(&f->lock);
	f->asked++;
	f->changes += strcmp(verb->method, "GET") != 0;
	f->last_caller = *caller;
	if (!strcmp(verb->name, "wait"))
		vec_push(&f->held, c);
	else if (f->at_once)
		now = true;
	else
		vec_push(&f->calls, c);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	if (now)
		fake_answer(f, &c);
}

static inline void fake_let_go(struct fake *f)
{
	pthread_mutex_lock(&f->lock);
	while (f->held.n) {
		f->held.n--;
		vec_push(&f->calls, f->held.at[f->held.n]);
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* Until so many calls of "wait" are held. */
static inline void fake_until_held(struct fake *f, size_t n)
{
	pthread_mutex_lock(&f->lock);
	while (f->held.n < n)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

static inline void fake_until_asked(struct fake *f, uint64_t n)
{
	pthread_mutex_lock(&f->lock);
	while (f->asked < n)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

static inline uint64_t fake_changes(struct fake *f)
{
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	n = f->changes;
	pthread_mutex_unlock(&f->lock);
	return n;
}

static inline void fake_metrics(void *self, struct buf *out)
{
	(void)self;
	buf_str(out, "# EOF\n");
}

static inline bool fake_healthy(void *self, struct buf *out)
{
	(void)self;
	buf_str(out, "ok");
	return true;
}

static inline void fake_count(void *self, const char *route, int status)
{
	struct fake *f = self;

	(void)route;
	(void)status;
	pthread_mutex_lock(&f->lock);
	f->counted++;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* The last of each kind that the tests ask for. */
static inline void fake_audit(void *self, const struct audit_entry *entry)
{
	struct fake *f = self;

	pthread_mutex_lock(&f->lock);
	buf_printf(&f->audit, "%s by %s from %s verb %s role %s status %d detail %s\n", entry->what,
		entry->by, entry->from, entry->verb ? entry->verb : "-",
		caller_role(&entry->caller), entry->status, entry->detail ? entry->detail : "-");
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* Until the audit says so, at most a minute. */
static inline void fake_until_audit(struct fake *f, const char *line)
{
	bool found = false;

	for (int i = 0; i < 6000 && !found; i++) {
		pthread_mutex_lock(&f->lock);
		found = f->audit.n && strstr(f->audit.at, line);
		pthread_mutex_unlock(&f->lock);
		if (!found)
			poll(NULL, 0, 10);
	}
	if (!found)
		fail_msg("the audit has no '%s': %s", line, f->audit.n ? f->audit.at : "nothing");
}

/* A server in the directory there is, also again. */
static inline void fake_serve(struct fake *f, struct server_config config)
{
	struct api_back back = { f, f->verbs ? f->verbs : fake_verbs, fake_call, f->stream,
		fake_metrics, fake_healthy, fake_count, fake_audit, NULL };
	struct err err = { 0 };

	config.socket = f->socket;
	config.state_dir = f->dir;
	config.address = "127.0.0.1";
	if (server_start(&config, &back, &f->server, &err) < 0)
		fail_msg("%s", err.text);
	if (!config.system)
		assert_int_equal(token_read(f->dir, f->token, &err), 0);
}

/* What is not set in the config is: both sockets, in a directory of its own. */
static inline void fake_start(struct fake *f, struct server_config config)
{
	const char *tmp = getenv("TMPDIR");

	fake_running = f;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	pthread_create(&f->thread, NULL, fake_run, f);
	snprintf(f->dir, sizeof(f->dir), "%s/stint-api-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	f->socket = path_join(f->dir, "socket");
	f->stream = stream_create(0);
	fake_serve(f, config);
}

static inline void fake_stop_server(struct fake *f)
{
	server_stop(f->server);
	f->server = NULL;
}

static inline void fake_remove(const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	unlink(path);
	free(path);
}

/* False: files that do not belong there are left in its directory. */
static inline bool fake_end(struct fake *f)
{
	bool empty;

	fake_running = NULL;
	fake_stop_server(f);
	fake_let_go(f);
	pthread_mutex_lock(&f->lock);
	while (f->calls.n) {
		pthread_mutex_unlock(&f->lock);
		poll(NULL, 0, 1);
		pthread_mutex_lock(&f->lock);
	}
	f->stop = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	stream_destroy(f->stream);
	fake_remove(f->dir, "token");
	fake_remove(f->dir, "token.read");
	fake_remove(f->dir, "port");
	fake_remove(f->dir, "log");
	empty = rmdir(f->dir) == 0; /* the socket and the address are gone */
	vec_fini(&f->calls);
	vec_fini(&f->held);
	free(f->socket);
	free(f->log_path);
	buf_fini(&f->audit);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->changed);
	return empty;
}

static inline void fake_stop(struct fake *f)
{
	assert_true(fake_end(f));
}

/* Of every test that has a fake: does nothing after one that passed. */
static inline int fake_teardown(void **state)
{
	(void)state;
	if (fake_running)
		fake_end(fake_running);
	return 0;
}

/* ---- raw HTTP */

static inline int dial_unix(const struct fake *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, f->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static inline int dial_tcp(const struct fake *f)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(server_port(f->server)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static inline void send_text(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* the server does not want it; what it says is read all the same */
		text += sent;
		n -= (size_t)sent;
	}
}

/* Everything until the end of the connection, at most 20 s. */
static inline void read_to_end(int fd, struct buf *out)
{
	char bytes[4096];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, 120000) == 0)
			fail_msg("no end of the answer: %s", out->at ? out->at : "");
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n <= 0)
			return;
		buf_add(out, bytes, (size_t)n);
	}
}

/* One answer's status from text; 0: none. */
static inline int status_in(const struct buf *text)
{
	return text->n > 12 && !strncmp(text->at, "HTTP/1.1 ", 9) ? atoi(text->at + 9) : 0;
}

static inline const char *body_in(const struct buf *text)
{
	const char *end = text->n ? strstr(text->at, "\r\n\r\n") : NULL;

	return end ? end + 4 : "";
}

static inline size_t count_in(const struct buf *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text->n ? strstr(text->at, what) : NULL; at; at = strstr(at + 1, what))
		n++;
	return n;
}

#endif
