#include "api/fake.h"

/* ---- events */

struct seen {
	struct fake *fake;
	uint64_t last, until;
	char kinds[4096];
};

static int see(void *ctx, uint64_t id, const char *kind, const char *data)
{
	struct seen *seen = ctx;

	assert_true(id > seen->last);
	assert_true(data[0] == '{');
	seen->last = id;
	strcat(strcat(seen->kinds, kind), " ");
	return id >= seen->until;
}

static struct client *client_of(const struct fake *f)
{
	struct client *client;

	assert_int_equal(client_open(&(struct client_where){ .socket = f->socket }, &client, NULL), 0);
	return client;
}

static void events_come_in_order_and_can_be_resumed(void **state)
{
	static struct fake f = { 0 };
	struct seen seen = { .until = 3 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f);
	for (uint64_t i = 1; i <= 5; i++)
		stream_push(f.stream, i, i % 2 ? "odd" : "even", "{}");
	assert_int_equal(client_events(client, 0, see, &seen, NULL), 1);
	assert_string_equal(seen.kinds, "odd even odd ");
	seen.until = 5;
	assert_int_equal(client_events(client, 3, see, &seen, NULL), 1);
	assert_string_equal(seen.kinds, "odd even odd even odd ");
	client_close(client);
	fake_stop(&f);
}

static void *push_later(void *ctx)
{
	struct fake *f = ctx;

	for (uint64_t i = 1; i <= 2000; i++)
		stream_push(f->stream, i, "x", "{\"a\":1}");
	return NULL;
}

static int count_events(void *ctx, uint64_t id, const char *kind, const char *data)
{
	struct seen *seen = ctx;

	(void)kind;
	(void)data;
	assert_int_equal(id, seen->last + 1);
	seen->last = id;
	return id >= seen->until;
}

/* Whatever way pushing and sleeping meet: nothing is lost and nobody sleeps on. */
static void events_that_happen_meanwhile_are_seen(void **state)
{
	static struct fake f = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	{
		struct seen seen = { .until = 2000 };
		struct client *client = client_of(&f);
		pthread_t thread;

		pthread_create(&thread, NULL, push_later, &f);
		assert_int_equal(client_events(client, 0, count_events, &seen, NULL), 1);
		pthread_join(thread, NULL);
		client_close(client);
	}
	fake_stop(&f);
}

static void who_missed_too_much_is_told(void **state)
{
	static struct fake f = { 0 };
	struct seen seen = { .until = 1 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f);
	for (uint64_t i = 1; i <= STREAM_KEEPS + 10; i++)
		stream_push(f.stream, i, "x", "{}");
	assert_int_equal(client_events(client, 2, see, &seen, NULL), 1);
	assert_string_equal(seen.kinds, "lost ");
	assert_int_equal(seen.last, 10);
	client_close(client);
	fake_stop(&f);
}

static bool read_until(int fd, struct buf *got, const char *what)
{
	char bytes[4096];

	while (!got->n || !strstr(got->at, what)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n = poll(&p, 1, 120000) > 0 ? recv(fd, bytes, sizeof(bytes), 0) : 0;

		if (n <= 0)
			return false;
		buf_add(got, bytes, (size_t)n);
	}
	return true;
}

static void an_event_stream_beats_and_ends_with_the_server(void **state)
{
	const char *ask = "GET /v1/events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 4\r\n\r\n";
	static struct fake f = { 0 };
	struct buf got = { 0 };
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ .limits.beat_s = 0.05 });
	for (uint64_t i = 1; i <= 5; i++)
		stream_push(f.stream, i, "x", "{}");
	fd = dial_unix(&f);
	send_text(fd, ask, strlen(ask));
	assert_true(read_until(fd, &got, "id: 5\n"));
	assert_true(read_until(fd, &got, "\n:\n\n"));
	assert_null(strstr(got.at, "id: 4"));
	assert_non_null(strstr(got.at, "Content-Type: text/event-stream"));
	fake_stop_server(&f);
	buf_clear(&got);
	read_to_end(fd, &got);
	assert_non_null(strstr(got.at, "0\r\n\r\n"));
	close(fd);
	buf_fini(&got);
	fake_stop(&f);
}

static void readers_that_do_not_read_cost_nothing(void **state)
{
	enum { N = 8 };
	const char *ask = "GET /v1/events?after=0 HTTP/1.1\r\nHost: x\r\n\r\n";
	char *large = mem_alloc(20001);
	static struct fake f = { 0 };
	struct buf end = { 0 };
	int fds[N];

	(void)state;
	fake_start(&f, (struct server_config){ .limits.idle_s = 0.5 });
	for (int i = 0; i < N; i++) {
		fds[i] = dial_unix(&f);
		send_text(fds[i], ask, strlen(ask));
	}
	memset(large, 'x', 20000);
	for (uint64_t i = 1; i <= 500; i++)
		stream_push(f.stream, i, "x", large);
	/* They are dropped: the connection ends before all of the 10 MB were sent. */
	for (int i = 0; i < N; i++) {
		struct pollfd p = { .fd = fds[i], .events = POLLRDHUP };

		assert_int_equal(poll(&p, 1, 120000), 1);
		close(fds[i]);
	}
	free(large);
	buf_fini(&end);
	fake_stop(&f);
}

/* ---- logs */

static void log_write(struct fake *f, const char *text)
{
	int fd = open(f->log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void log_end(struct fake *f)
{
	pthread_mutex_lock(&f->lock);
	f->log_ended = true;
	pthread_mutex_unlock(&f->lock);
}

static int get(struct client *client, const char *path, struct client_answer *answer)
{
	struct client_ask ask = { .method = "GET", .path = path };

	client_answer_fini(answer);
	assert_int_equal(client_request(client, &ask, answer, NULL), 0);
	return answer->status;
}

static void a_log_is_served_from_any_place(void **state)
{
	static struct fake f = { 0 };
	struct client_answer got = { 0 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f);
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404); /* the daemon knows no path */
	f.log_path = path_join(f.dir, "log");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404); /* not there yet */
	log_write(&f, "hello\nworld\n");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw?stream=stdout&attempt=2", &got), 200);
	assert_string_equal(got.body.at, "hello\nworld\n");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw?offset=6", &got), 200);
	assert_string_equal(got.body.at, "world\n");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw?offset=-6", &got), 200);
	assert_string_equal(got.body.at, "world\n");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw?offset=100", &got), 200);
	assert_int_equal(got.body.n, 0);
	assert_int_equal(get(client, "/v1/jobs/seven/log/raw", &got), 400);
	f.log_status = 403;
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 403);
	f.log_status = 404;
	assert_int_equal(get(client, "/v1/jobs/7/log/raw?follow=1", &got), 404);
	client_answer_fini(&got);
	client_close(client);
	fake_stop(&f);
}

static void links_and_devices_are_no_logs(void **state)
{
	static struct fake f = { 0 };
	struct client_answer got = { 0 };
	struct client *client;
	char *link;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f);
	link = path_join(f.dir, "log");
	assert_int_equal(symlink("/etc/passwd", link), 0);
	f.log_path = link;
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404);
	unlink(link);
	assert_int_equal(mkfifo(link, 0600), 0);
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404);
	f.log_path = mem_strdup("/dev/zero");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404);
	fake_remove(f.dir, "log");
	free(link);
	client_answer_fini(&got);
	client_close(client);
	fake_stop(&f);
}

static bool a_stranger(int fd, struct caller *out)
{
	(void)fd;
	*out = (struct caller){ .uid = 4242, .gid = 4242 };
	return true;
}

/* The daemon may read everything: it must not lend that to whoever names a file. */
static void a_file_of_somebody_else_is_no_log_of_mine(void **state)
{
	static struct fake f = { 0 };
	struct client_answer got = { 0 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ .system = true, .who = a_stranger });
	client = client_of(&f);
	f.log_path = path_join(f.dir, "log"); /* ours, and not below STATE/jobs */
	log_write(&f, "secret\n");
	assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 404);
	if (geteuid() == 0) {
		assert_int_equal(chown(f.log_path, 4242, 4242), 0);
		assert_int_equal(get(client, "/v1/jobs/7/log/raw", &got), 200);
	} else {
		printf("skip - a file that is the caller's: needs root\n");
	}
	client_answer_fini(&got);
	client_close(client);
	fake_stop(&f);
}

struct follower {
	struct fake *fake;
	struct buf got;
	int64_t attempt;
};

static int see_log(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct follower *to = ctx;

	to->attempt = reply->attempt;
	buf_add(&to->got, bytes, n);
	if (strstr(to->got.at, "one\n") && !strstr(to->got.at, "two\n")) {
		log_write(to->fake, "two\n"); /* seen without the stream's help */
	} else if (strstr(to->got.at, "two\n") && !strstr(to->got.at, "three\n")) {
		log_write(to->fake, "three\n");
		log_end(to->fake);
		stream_push(to->fake->stream, 1, "end", "{}");
	}
	return 0;
}

static void a_log_is_followed_to_its_end(void **state)
{
	static struct fake f = { 0 };
	struct follower to = { .fake = &f };
	struct client_ask ask = { .method = "GET",
		.path = "/v1/jobs/7/log/raw?follow=1",
		.see = see_log,
		.ctx = &to,
		.timeout_s = 600 };
	struct client_answer got = { 0 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f);
	f.log_path = path_join(f.dir, "log");
	log_write(&f, "one\n");
	assert_int_equal(client_request(client, &ask, &got, NULL), 0);
	assert_int_equal(got.status, 200);
	assert_string_equal(to.got.at, "one\ntwo\nthree\n");
	assert_int_equal(to.attempt, 2);
	buf_fini(&to.got);
	client_answer_fini(&got);
	client_close(client);
	fake_stop(&f);
}

static void followers_that_leave_are_forgotten(void **state)
{
	static struct fake f = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	f.log_path = path_join(f.dir, "log");
	log_write(&f, "one\n");
	for (int i = 0; i < 10; i++) {
		struct buf got = { 0 }, ask = { 0 };
		int fd = i % 2 ? dial_tcp(&f) : dial_unix(&f);

		buf_printf(&ask,
			"GET /v1/jobs/7/log/raw?follow=1 HTTP/1.1\r\nHost: localhost:%u\r\n"
			"Authorization: Bearer %s\r\n\r\n",
			server_port(f.server), f.token);
		send_text(fd, ask.at, ask.n);
		assert_true(read_until(fd, &got, "one\n"));
		close(fd);
		buf_fini(&got);
		buf_fini(&ask);
		if (i % 3)
			stream_push(f.stream, (uint64_t)i + 1, "x", "{}");
	}
	/* Although nothing is written any more. */
	pthread_mutex_lock(&f.lock);
	while (f.counted < 10)
		pthread_cond_wait(&f.changed, &f.lock);
	pthread_mutex_unlock(&f.lock);
	fake_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(events_come_in_order_and_can_be_resumed, fake_teardown),
		cmocka_unit_test_teardown(events_that_happen_meanwhile_are_seen, fake_teardown),
		cmocka_unit_test_teardown(who_missed_too_much_is_told, fake_teardown),
		cmocka_unit_test_teardown(an_event_stream_beats_and_ends_with_the_server, fake_teardown),
		cmocka_unit_test_teardown(readers_that_do_not_read_cost_nothing, fake_teardown),
		cmocka_unit_test_teardown(a_log_is_served_from_any_place, fake_teardown),
		cmocka_unit_test_teardown(links_and_devices_are_no_logs, fake_teardown),
		cmocka_unit_test_teardown(a_file_of_somebody_else_is_no_log_of_mine, fake_teardown),
		cmocka_unit_test_teardown(a_log_is_followed_to_its_end, fake_teardown),
		cmocka_unit_test_teardown(followers_that_leave_are_forgotten, fake_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
