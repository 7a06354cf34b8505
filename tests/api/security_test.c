/*
 * Every route, every method, every way to come in that is not the right one:
 * refused, and nothing changes.
 */
#include "api/fake.h"
#include "api/port.h"

static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS",
	"TRACE", "BREW" };

struct attack {
	const char *what;
	const char *host;   /* %u: our port; NULL: none */
	const char *token;  /* the whole header line, %s: the token; NULL: none */
	const char *origin; /* %u likewise */
	const char *query;  /* %s: the token */
	const char *type;   /* NULL: application/json */
	size_t body_bytes;  /* 0: two */
	bool unix_too;
	bool only_post; /* a GET is fine with it */
	bool healthz;   /* which may be asked all the same, as may the page itself */
};

static const char good_host[] = "127.0.0.1:%u";
static const char good_token[] = "Authorization: Bearer %s\r\n";

static const struct attack attacks[] = {
	{ .what = "no token", .host = good_host, .healthz = true },
	{ .what = "an empty token", .host = good_host, .token = "Authorization: Bearer \r\n", .healthz = true },
	{ .what = "a wrong token",
		.host = good_host,
		.token = "Authorization: Bearer "
			 "0000000000000000000000000000000000000000000000000000000000000000\r\n",
		.healthz = true },
	{ .what = "the token and more",
		.host = good_host,
		.token = "Authorization: Bearer %s0\r\n",
		.healthz = true },
	{ .what = "the token in another scheme",
		.host = good_host,
		.token = "Authorization: Basic %s\r\n",
		.healthz = true },
	{ .what = "the token in a cookie",
		.host = good_host,
		.token = "Cookie: token=%s\r\n",
		.healthz = true },
	{ .what = "a session that is none",
		.host = good_host,
		.token = "X-Stint-Session: 0123456789abcdef0123456789abcdef %s\r\n",
		.healthz = true },
	{ .what = "the token twice",
		.host = good_host,
		.token = "Authorization: Bearer 00\r\nAuthorization: Bearer %s\r\n" },
	{ .what = "the token in the query", .host = good_host, .query = "?token=%s" },
	{ .what = "the token in the query, by its usual name",
		.host = good_host,
		.query = "?access_token=%s" },
	{ .what = "another host", .host = "evil.example:%u", .token = good_token },
	{ .what = "a host that begins like ours", .host = "localhost.evil.example:%u", .token = good_token },
	{ .what = "our address at another port", .host = "127.0.0.1:1", .token = good_token },
	{ .what = "our address without a port", .host = "127.0.0.1", .token = good_token },
	{ .what = "another address", .host = "10.0.0.1:%u", .token = good_token },
	{ .what = "two hosts", .host = "127.0.0.1:%u\r\nHost: evil.example", .token = good_token },
	{ .what = "no host", .token = good_token },
	{ .what = "another origin",
		.host = good_host,
		.token = good_token,
		.origin = "http://evil.example",
		.unix_too = true },
	{ .what = "no origin to speak of",
		.host = good_host,
		.token = good_token,
		.origin = "null",
		.unix_too = true },
	{ .what = "an origin at another port",
		.host = good_host,
		.token = good_token,
		.origin = "http://127.0.0.1:1",
		.unix_too = true },
	{ .what = "an origin with another scheme",
		.host = good_host,
		.token = good_token,
		.origin = "https://127.0.0.1:%u" },
	{ .what = "a form",
		.host = good_host,
		.token = good_token,
		.type = "application/x-www-form-urlencoded",
		.unix_too = true,
		.only_post = true },
	{ .what = "text",
		.host = good_host,
		.token = good_token,
		.type = "text/plain",
		.unix_too = true,
		.only_post = true },
	{ .what = "no type",
		.host = good_host,
		.token = good_token,
		.type = "",
		.unix_too = true,
		.only_post = true },
	{ .what = "a type that begins like JSON",
		.host = good_host,
		.token = good_token,
		.type = "application/jsonp",
		.unix_too = true,
		.only_post = true },
	{ .what = "a body too large",
		.host = good_host,
		.token = good_token,
		.body_bytes = (8u << 20) + 1,
		.unix_too = true },
};

static void add(struct buf *out, const char *format, const struct fake *f)
{
	for (; *format; format++) {
		if (format[0] == '%' && format[1] == 'u')
			buf_printf(out, "%u", server_port(f->server));
		else if (format[0] == '%' && format[1] == 's')
			buf_str(out, f->token);
		else
			buf_char(out, *format);
		format += format[0] == '%';
	}
}

static void write_attack(struct buf *out, const struct fake *f, const struct attack *a,
	const char *method, const char *path)
{
	bool body = strcmp(method, "GET") != 0 || a->body_bytes;

	buf_printf(out, "%s ", method);
	for (; *path; path++) {
		if (*path != '{') {
			buf_char(out, *path);
			continue;
		}
		buf_char(out, '7');
		path = strchr(path, '}');
	}
	add(out, a->query ? a->query : "", f);
	buf_str(out, " HTTP/1.1\r\nConnection: close\r\n");
	if (a->host) {
		buf_str(out, "Host: ");
		add(out, a->host, f);
		buf_str(out, "\r\n");
	}
	if (a->token)
		add(out, a->token, f);
	if (a->origin) {
		buf_str(out, "Origin: ");
		add(out, a->origin, f);
		buf_str(out, "\r\n");
	}
	if (body && (!a->type || *a->type))
		buf_printf(out, "Content-Type: %s\r\n", a->type ? a->type : "application/json");
	if (body)
		buf_printf(out, "Content-Length: %zu\r\n", a->body_bytes ? a->body_bytes : 2);
	buf_str(out, "\r\n");
	if (body)
		buf_str(out, "{}");
	/* Of a body that is too large only the beginning is sent: the answer must not wait for it. */
}

static int try(const struct fake *f, bool tcp, const struct attack *a, const char *method,
	const char *path, struct buf *got)
{
	struct buf ask = { 0 };
	int fd = tcp ? dial_tcp(f) : dial_unix(f);

	write_attack(&ask, f, a, method, path);
	send_text(fd, ask.at, ask.n);
	buf_clear(got);
	read_to_end(fd, got);
	close(fd);
	buf_fini(&ask);
	return status_in(got);
}

static void check_refused(const struct fake *f, bool tcp, const struct attack *a,
	const char *method, const char *path)
{
	struct buf got = { 0 };
	int status = try(f, tcp, a, method, path, &got);
	bool fine = status >= 400 && status < 500;

	if (a->healthz && (!strcmp(path, "/healthz") || !strcmp(path, "/")) && !strcmp(method, "GET"))
		fine = status == 200;
	if (!fine)
		fail_msg("%s: %s %s: %s", a->what, method, path, got.at ? got.at : "nothing");
	if (status == 401)
		assert_non_null(strstr(got.at, "\r\nWWW-Authenticate: Bearer"));
	if (status == 405 && strcmp(method, "BREW") != 0)
		assert_non_null(strstr(got.at, "\r\nAllow: "));
	assert_null(strstr(got.at, "Access-Control"));
	assert_null(strstr(got.at, f->token));
	buf_fini(&got);
}

static void over_all_routes(struct fake *f, bool tcp, const struct attack *a)
{
	const struct verb *const tables[] = { verbs, server_routes };

	for (size_t t = 0; t < COUNT(tables); t++) {
		for (const struct verb *v = tables[t]; v->name; v++) {
			for (size_t m = 0; m < COUNT(methods); m++) {
				if (a->only_post && strcmp(methods[m], "GET") == 0)
					continue;
				check_refused(f, tcp, a, methods[m], v->path);
			}
		}
	}
}

static void nobody_comes_in_another_way(void **state)
{
	static struct fake f = { .verbs = verbs };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (size_t i = 0; i < COUNT(attacks); i++) {
		over_all_routes(&f, true, &attacks[i]);
		if (attacks[i].unix_too)
			over_all_routes(&f, false, &attacks[i]);
		assert_int_equal(fake_changes(&f), 0);
	}
	assert_int_equal(f.asked, 0);
	fake_stop(&f);
}

static bool stranger(int fd, struct caller *out)
{
	(void)fd;
	*out = (struct caller){ .uid = 4242, .gid = 4242 };
	return true;
}

static bool nobody(int fd, struct caller *out)
{
	(void)fd;
	(void)out;
	return false;
}

static const struct attack honest = { .what = "somebody else", .host = good_host, .token = good_token };

static void a_daemon_of_mine_is_only_mine(void **state)
{
	bool (*const who[])(int fd, struct caller *out) = { stranger, nobody };
	static struct fake f;

	(void)state;
	for (size_t i = 0; i < COUNT(who); i++) {
		f = (struct fake){ .verbs = verbs };
		fake_start(&f, (struct server_config){ .who = who[i] });
		over_all_routes(&f, false, &honest);
		assert_int_equal(f.asked, 0);
		fake_stop(&f);
	}
}

static void a_daemon_for_all_keeps_what_is_its_own(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ .who = stranger, .system = true });
	assert_int_equal(try(&f, false, &honest, "POST", "/v1/quota", &got), 403);
	assert_int_equal(fake_changes(&f), 0);
	assert_int_equal(try(&f, false, &honest, "POST", "/v1/jobs", &got), 201);
	assert_true(f.last_caller.uid == 4242 && !f.last_caller.admin);
	buf_fini(&got);
	fake_stop(&f);
}

static void what_is_asked_with_get_changes_nothing(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (const struct verb *v = verbs; v->name; v++) {
		if (!v->waits)
			try(&f, true, &honest, "GET", v->path, &got);
	}
	assert_true(f.asked > 0);
	assert_int_equal(fake_changes(&f), 0);
	buf_fini(&got);
	fake_stop(&f);
}

static void a_body_without_a_length_is_limited_too(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf ask = { 0 }, got = { 0 };
	char *block = mem_alloc(65537);
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ .limits.body_bytes = 100000 });
	memset(block, ' ', 65536);
	add(&ask,
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n"
		"Connection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: "
		"chunked\r\n\r\n",
		&f);
	for (int i = 0; i < 3; i++)
		buf_printf(&ask, "10000\r\n%s\r\n", block);
	buf_str(&ask, "0\r\n\r\n");
	fd = dial_tcp(&f);
	send_text(fd, ask.at, ask.n);
	read_to_end(fd, &got);
	assert_int_equal(status_in(&got), 413);
	close(fd);
	/* One that never ends is cut off. */
	fd = dial_tcp(&f);
	ask.n -= strlen("0\r\n\r\n");
	for (int i = 0; i < 100; i++)
		send_text(fd, ask.at, i ? ask.n - 3 * 65545 : ask.n);
	buf_clear(&got);
	read_to_end(fd, &got);
	assert_int_equal(fake_changes(&f), 0);
	close(fd);
	free(block);
	buf_fini(&ask);
	buf_fini(&got);
	fake_stop(&f);
}

static void two_lengths_are_none(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf ask = { 0 }, got = { 0 };
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	buf_str(&ask,
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"application/json\r\nContent-Length: 40\r\nTransfer-Encoding: "
		"chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
	fd = dial_unix(&f);
	send_text(fd, ask.at, ask.n);
	read_to_end(fd, &got);
	assert_int_equal(status_in(&got), 400);
	assert_int_equal(fake_changes(&f), 0);
	close(fd);
	buf_fini(&ask);
	buf_fini(&got);
	fake_stop(&f);
}

static void headers_have_an_end(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf ask = { 0 }, got = { 0 };
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	buf_str(&ask, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 10000; i++)
		buf_printf(&ask, "X-%d: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
	fd = dial_unix(&f);
	send_text(fd, ask.at, ask.n);
	read_to_end(fd, &got);
	assert_true(status_in(&got) == 0 || (status_in(&got) >= 400 && status_in(&got) < 500));
	close(fd);
	buf_fini(&ask);
	buf_fini(&got);
	fake_stop(&f);
}

/* ---- who takes too much */

/* On a busy machine the server may take a good request for one that dawdles, too. */
static int try_again(const struct fake *f, bool tcp, const char *path, struct buf *got)
{
	double until = clock_wall_s() + 60;
	int status;

	do
		status = try(f, tcp, &honest, "GET", path, got);
	while (!status && clock_wall_s() < until);
	return status;
}

static void who_dawdles_is_cut_off(void **state)
{
	enum { N = 12 };
	const char *slow = "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nX-A: ";
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };
	int fds[N];

	(void)state;
	fake_start(&f,
		(struct server_config){ .limits = { .connections = 8, .first_s = 0.3, .read_s = 0.3 } });
	for (int i = 0; i < N; i++) {
		fds[i] = dial_tcp(&f);
		send_text(fds[i], slow, i % 2 ? strlen(slow) : 10);
	}
	/* The other socket is free all the while, and this one again soon. */
	assert_int_equal(try_again(&f, false, "/v1/jobs", &got), 200);
	assert_int_equal(try_again(&f, true, "/v1/jobs", &got), 200);
	for (int i = 0; i < N; i++) {
		buf_clear(&got);
		read_to_end(fds[i], &got);
		assert_true(status_in(&got) == 0 || status_in(&got) >= 400);
		close(fds[i]);
	}
	buf_fini(&got);
	fake_stop(&f);
}

/* Until the server has closed so many; which ones is its business. */
static void until_closed(struct pollfd *fds, nfds_t n, int closed)
{
	int got = 0;

	while (got < closed) {
		got = poll(fds, n, 120000);
		assert_true(got > 0);
	}
	assert_int_equal(got, closed);
}

/* More than a user may have and more than are asked what they want: some are answered before they ask. */
static void one_user_cannot_take_every_connection(void **state)
{
	enum { N = 30, EACH = 4 };
	const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static struct fake f = { .verbs = verbs };
	struct buf health = { 0 };
	struct pollfd fds[N];
	int served = 0;

	(void)state;
	fake_start(&f,
		(struct server_config){ .who = stranger, .system = true, .limits.connections_each = EACH });
	for (int i = 0; i < N; i++)
		fds[i] = (struct pollfd){ .fd = dial_unix(&f), .events = POLLRDHUP };
	for (int i = 0; i < N; i++)
		send_text(fds[i].fd, ask, strlen(ask));
	fake_until_held(&f, EACH);
	until_closed(fds, N, N - EACH);
	assert_int_equal(try_again(&f, false, "/healthz", &health), 200);
	fake_let_go(&f);
	for (int i = 0; i < N; i++) {
		struct buf got = { 0 };

		read_to_end(fds[i].fd, &got);
		served += status_in(&got) == 200;
		if (status_in(&got) != 200) {
			assert_int_equal(status_in(&got), 503);
			assert_non_null(strstr(got.at, "\r\nRetry-After: 1\r\n"));
			assert_non_null(strstr(got.at, "you have 4 connections to the daemon"));
		}
		close(fds[i].fd);
		buf_fini(&got);
	}
	assert_int_equal(served, EACH);
	buf_fini(&health);
	fake_stop(&f);
}

static void *ask_once(void *ctx)
{
	const struct fake *f = ctx;
	struct client *client = NULL;
	struct err *err = mem_alloc(sizeof(*err));
	int rc = client_open(&(struct client_where){ .socket = f->socket }, &client, err);

	if (!rc)
		rc = client_do(client, "GET", "/v1/jobs", NULL, NULL, err);
	client_close(client);
	if (rc)
		return err;
	free(err);
	return NULL;
}

/* All places of the user are held while the burst begins: many of the clients are refused at first. */
static void a_burst_of_one_user_is_served_in_the_end(void **state)
{
	enum { N = 100, EACH = 16 };
	const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static struct fake f = { .verbs = verbs };
	pthread_t threads[N];
	struct err *errs[N];
	int fds[EACH];

	(void)state;
	fake_start(&f,
		(struct server_config){ .who = stranger, .system = true, .limits.connections_each = EACH });
	for (int i = 0; i < EACH; i++) {
		fds[i] = dial_unix(&f);
		send_text(fds[i], ask, strlen(ask));
	}
	fake_until_held(&f, EACH);
	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_once, &f), 0);
	fake_let_go(&f);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], (void **)&errs[i]);
	for (int i = 0; i < EACH; i++)
		close(fds[i]);
	for (int i = 0; i < N; i++) {
		if (errs[i])
			fail_msg("%s", errs[i]->text);
	}
	fake_stop(&f);
}

static void a_flood_without_the_token_does_not_stop_who_has_it(void **state)
{
	struct attack bad = attacks[0];
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };
	int refused = 0;

	(void)state;
	fake_start(&f, (struct server_config){ .limits = { .rate = 0.001, .burst = 5 } });
	for (int i = 0; i < 8; i++)
		refused += try(&f, true, &bad, "GET", "/v1/jobs", &got) == 429;
	assert_int_equal(refused, 3);
	for (int i = 0; i < 5; i++)
		assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 200);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 429);
	assert_non_null(strstr(got.at, "\r\nRetry-After: 1"));
	assert_int_equal(try(&f, false, &honest, "GET", "/v1/jobs", &got), 200);
	buf_fini(&got);
	fake_stop(&f);
}

/* ---- the token that may read */

/* What a file of the state directory says, without the end of its line. */
static void read_token_of(const struct fake *f, const char *name, char out[TOKEN_DIGITS + 1])
{
	char *path = path_join(f->dir, name);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(out, 1, TOKEN_DIGITS, file), TOKEN_DIGITS);
	out[TOKEN_DIGITS] = '\0';
	fclose(file);
	free(path);
}

static bool has_file(const struct fake *f, const char *name)
{
	char *path = path_join(f->dir, name);
	bool there = file_exists(path);

	free(path);
	return there;
}

static void the_token_to_read_with_changes_nothing(void **state)
{
	const struct verb *const tables[] = { verbs, server_routes };
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	read_token_of(&f, "token.read", f.token);
	for (size_t t = 0; t < COUNT(tables); t++) {
		for (const struct verb *v = tables[t]; v->name; v++) {
			if (!strcmp(v->method, "POST") && !strstr(v->path, "/log") &&
				try(&f, true, &honest, "POST", v->path, &got) != 403)
				fail_msg("POST %s: %s", v->path, got.at);
		}
	}
	assert_int_equal(f.asked, 0);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 200);
	assert_true(!f.last_caller.admin && f.last_caller.role == ROLE_READ);
	assert_true(f.last_caller.uid != geteuid());
	assert_int_equal(try(&f, true, &honest, "GET", "/metrics", &got), 200);
	buf_fini(&got);
	fake_stop(&f);
}

static void tokens_are_new_after_an_unclean_stop(void **state)
{
	static struct fake f = { .verbs = verbs };
	char first[TOKEN_DIGITS + 1], reads[TOKEN_DIGITS + 1], now[TOKEN_DIGITS + 1], *path;
	struct stat st;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	strcpy(first, f.token);
	read_token_of(&f, "token.read", reads);
	fake_stop_server(&f);
	path = path_join(f.dir, "token.read");
	assert_int_equal(chmod(path, 0640), 0);
	fake_serve(&f, (struct server_config){ 0 });
	assert_false(server_was_unclean(f.server));
	if (!server_lost_port(f.server)) {
		assert_string_equal(f.token, first);
		read_token_of(&f, "token.read", now);
		assert_string_equal(now, reads);
	}
	fake_stop_server(&f);
	free(path);
	/* A daemon that was killed leaves it. */
	path = path_join(f.dir, "address");
	assert_int_equal(file_write(path, "x\n", 2, NULL), 0);
	free(path);
	fake_serve(&f, (struct server_config){ 0 });
	assert_true(server_was_unclean(f.server));
	assert_string_not_equal(f.token, first);
	read_token_of(&f, "token.read", now);
	assert_string_not_equal(now, reads);
	path = path_join(f.dir, "token.read");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640); /* for a group, as before */
	free(path);
	fake_stop(&f);
}

/* Stops the server and has its port as another program could; false: another test was quicker. */
static bool take_port(struct fake *f, int *fd)
{
	uint16_t port = server_port(f->server), got;

	fake_stop_server(f);
	return tcp_listen("127.0.0.1", port, false, fd, &got, NULL) == 0;
}

static void a_restart_keeps_the_port_and_the_tokens(void **state)
{
	static struct fake f = { .verbs = verbs };
	char first[TOKEN_DIGITS + 1];
	uint16_t port;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	port = server_port(f.server);
	strcpy(first, f.token);
	fake_stop_server(&f);
	fake_serve(&f, (struct server_config){ 0 });
	if (server_lost_port(f.server)) { /* another test was quicker */
		assert_int_equal(server_lost_port(f.server), port);
		fake_stop(&f);
		skip();
	}
	assert_int_equal(server_port(f.server), port);
	assert_string_equal(f.token, first);
	fake_stop(&f);
}

static void a_port_that_was_taken_voids_the_tokens(void **state)
{
	static struct fake f = { .verbs = verbs };
	char first[TOKEN_DIGITS + 1];
	uint16_t port, next;
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	port = server_port(f.server);
	strcpy(first, f.token);
	if (!take_port(&f, &fd)) {
		fake_stop(&f);
		skip();
	}
	fake_serve(&f, (struct server_config){ 0 });
	next = server_port(f.server);
	assert_int_equal(server_lost_port(f.server), port);
	assert_int_not_equal(next, port);
	assert_string_not_equal(f.token, first);
	close(fd);
	assert_int_equal(port_recall(f.dir), next); /* from now on this one */
	fake_stop(&f);
}

static void a_daemon_for_all_has_no_full_token_on_a_free_port(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };
	char old[TOKEN_DIGITS + 1];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	strcpy(old, f.token);
	fake_stop_server(&f);
	fake_serve(&f, (struct server_config){ .system = true });
	assert_false(server_takes_token(f.server));
	assert_false(has_file(&f, "token"));
	strcpy(f.token, old);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 401);
	assert_non_null(strstr(got.at, "token.read"));
	read_token_of(&f, "token.read", f.token);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 200);
	assert_int_equal(try(&f, true, &honest, "POST", "/v1/quota", &got), 403);
	assert_int_equal(fake_changes(&f), 0);
	buf_fini(&got);
	fake_stop(&f);
}

static void what_matters_is_audited(void **state)
{
	static const struct attack none = { .what = "no token", .host = good_host };
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ .who = stranger, .system = true });
	assert_int_equal(try(&f, false, &honest, "POST", "/v1/quota", &got), 403);
	fake_until_audit(&f, "denied by kernel from unix verb set_quota role user status 403");
	assert_int_equal(try(&f, true, &none, "GET", "/v1/jobs", &got), 401);
	fake_until_audit(&f, "denied by none from 127.0.0.1 verb other role none status 401");
	read_token_of(&f, "token.read", f.token);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 200);
	fake_until_audit(&f, "token by token.read from 127.0.0.1 verb - role read");
	fake_stop(&f);
	f = (struct fake){ .verbs = verbs };
	fake_start(&f, (struct server_config){ 0 });
	assert_int_equal(try(&f, true, &honest, "POST", "/v1/policy", &got), 200);
	fake_until_audit(&f,
		"change by token from 127.0.0.1 verb set_policy role admin status 200 detail /v1/policy {}");
	assert_int_equal(try(&f, true, &honest, "POST", "/v1/open", &got), 200);
	fake_until_audit(&f, "open by token from 127.0.0.1 verb open role admin");
	assert_null(strstr(f.audit.at, f.token));
	buf_fini(&got);
	fake_stop(&f);
}

/* ---- what comes before the token */

/* Only the head and a few bytes are sent: the answer must not wait for the rest. */
static int announce(const struct fake *f, const char *path, const char *token, size_t n, struct buf *got)
{
	struct buf ask = { 0 };
	int fd = dial_tcp(f);

	buf_printf(&ask,
		"POST %s HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n", path);
	buf_printf(&ask, "Host: 127.0.0.1:%u\r\nContent-Length: %zu\r\n", server_port(f->server), n);
	add(&ask, token, f);
	buf_str(&ask, "\r\n{");
	send_text(fd, ask.at, ask.n);
	buf_clear(got);
	read_to_end(fd, got);
	close(fd);
	buf_fini(&ask);
	return status_in(got);
}

static void a_stranger_sends_four_kib_at_most(void **state)
{
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_int_equal(announce(&f, "/login", "", 4097, &got), 413);
	assert_non_null(strstr(got.at, "larger than 4096 bytes"));
	assert_int_equal(announce(&f, "/v1/jobs", "", 4097, &got), 401);
	assert_int_equal(announce(&f, "/v1/jobs", good_token, (8u << 20) + 1, &got), 413);
	assert_int_equal(fake_changes(&f), 0);
	buf_fini(&got);
	fake_stop(&f);
}

static void silence_does_not_keep_health_from_answering(void **state)
{
	enum { N = 60 };
	static struct fake f = { .verbs = verbs };
	struct buf got = { 0 };
	int fds[N];

	(void)state;
	fake_start(&f,
		(struct server_config){ .limits = { .connections = 8, .first_s = 600, .read_s = 600 } });
	for (int i = 0; i < N; i++) {
		fds[i] = dial_tcp(&f);
		send_text(fds[i], "GET /heal", i % 2 ? 9 : 0);
	}
	assert_int_equal(try_again(&f, true, "/healthz", &got), 200);
	assert_int_equal(try_again(&f, true, "/v1/jobs", &got), 200);
	for (int i = 0; i < N; i++)
		close(fds[i]);
	buf_fini(&got);
	fake_stop(&f);
}

/* All of them have the token and wait for an answer. */
static void health_answers_while_all_connections_are_busy(void **state)
{
	enum { N = 8 };
	static struct fake f = { 0 };
	struct buf ask = { 0 }, got = { 0 };
	int fds[N];

	(void)state;
	fake_start(&f, (struct server_config){ .limits.connections = N });
	add(&ask,
		"GET /v1/jobs/1/wait HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
		"Connection: close\r\n\r\n",
		&f);
	for (int i = 0; i < N; i++) {
		fds[i] = dial_tcp(&f);
		send_text(fds[i], ask.at, ask.n);
	}
	fake_until_held(&f, N);
	assert_int_equal(try(&f, true, &honest, "GET", "/healthz", &got), 200);
	assert_int_equal(try(&f, true, &honest, "GET", "/v1/jobs", &got), 503);
	assert_non_null(strstr(got.at, "as many connections as it takes"));
	fake_let_go(&f);
	for (int i = 0; i < N; i++) {
		buf_clear(&got);
		read_to_end(fds[i], &got);
		assert_int_equal(status_in(&got), 200);
		close(fds[i]);
	}
	buf_fini(&ask);
	buf_fini(&got);
	fake_stop(&f);
}

static uint32_t arrivals; /* of many_users() */

static bool many_users(int fd, struct caller *out)
{
	(void)fd;
	*out = (struct caller){ .uid = 5000 + __atomic_fetch_add(&arrivals, 1, __ATOMIC_RELAXED) / 4 };
	out->gid = out->uid;
	return true;
}

static void many_users_do_not_keep_health_from_answering(void **state)
{
	enum { N = 24 };
	const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static struct fake f = { 0 };
	struct buf got = { 0 };
	int fds[N];

	(void)state;
	fake_start(&f,
		(struct server_config){ .who = many_users,
			.system = true,
			.limits = { .connections = 8, .connections_each = 4, .first_s = 600 } });
	for (int i = 0; i < N; i++) {
		fds[i] = dial_unix(&f);
		send_text(fds[i], ask, strlen(ask));
	}
	assert_int_equal(try_again(&f, false, "/healthz", &got), 200);
	for (int i = 0; i < N; i++)
		close(fds[i]);
	buf_fini(&got);
	fake_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nobody_comes_in_another_way, fake_teardown),
		cmocka_unit_test_teardown(a_daemon_of_mine_is_only_mine, fake_teardown),
		cmocka_unit_test_teardown(a_daemon_for_all_keeps_what_is_its_own, fake_teardown),
		cmocka_unit_test_teardown(what_is_asked_with_get_changes_nothing, fake_teardown),
		cmocka_unit_test_teardown(a_body_without_a_length_is_limited_too, fake_teardown),
		cmocka_unit_test_teardown(two_lengths_are_none, fake_teardown),
		cmocka_unit_test_teardown(headers_have_an_end, fake_teardown),
		cmocka_unit_test_teardown(who_dawdles_is_cut_off, fake_teardown),
		cmocka_unit_test_teardown(one_user_cannot_take_every_connection, fake_teardown),
		cmocka_unit_test_teardown(a_burst_of_one_user_is_served_in_the_end, fake_teardown),
		cmocka_unit_test_teardown(a_flood_without_the_token_does_not_stop_who_has_it,
			fake_teardown),
		cmocka_unit_test_teardown(the_token_to_read_with_changes_nothing, fake_teardown),
		cmocka_unit_test_teardown(tokens_are_new_after_an_unclean_stop, fake_teardown),
		cmocka_unit_test_teardown(a_restart_keeps_the_port_and_the_tokens, fake_teardown),
		cmocka_unit_test_teardown(a_port_that_was_taken_voids_the_tokens, fake_teardown),
		cmocka_unit_test_teardown(a_daemon_for_all_has_no_full_token_on_a_free_port,
			fake_teardown),
		cmocka_unit_test_teardown(what_matters_is_audited, fake_teardown),
		cmocka_unit_test_teardown(a_stranger_sends_four_kib_at_most, fake_teardown),
		cmocka_unit_test_teardown(silence_does_not_keep_health_from_answering, fake_teardown),
		cmocka_unit_test_teardown(health_answers_while_all_connections_are_busy, fake_teardown),
		cmocka_unit_test_teardown(many_users_do_not_keep_health_from_answering, fake_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
