#include "api/fake.h"

#include "daemon/metrics.h"

/* ---- verbs through the client */

static struct client *client_of(const struct fake *f, bool tcp)
{
	char url[64];
	struct client_where where = { .socket = f->socket };
	struct client *client;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server_port(f->server));
	if (tcp)
		where = (struct client_where){ .url = url, .token = f->token };
	assert_int_equal(client_open(&where, &client, NULL), 0);
	return client;
}

static void parameters_are_typed(void **state)
{
	static struct fake f = { 0 };
	struct client *client;
	struct err err = { 0 };
	json_t *got, *args;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f, false);
	assert_int_equal(client_do(client, "GET",
				 "/v1/echo/7?whole=-3&number=1.5&text=a%20b%2Fc+d&flag=1", NULL,
				 &got, &err),
		0);
	args = json_object_get(got, "args");
	assert_int_equal(json_integer_value(json_object_get(args, "id")), 7);
	assert_int_equal(json_integer_value(json_object_get(args, "whole")), -3);
	assert_true(json_real_value(json_object_get(args, "number")) == 1.5);
	assert_string_equal(json_string_value(json_object_get(args, "text")), "a b/c d");
	assert_true(json_is_true(json_object_get(args, "flag")));
	json_decref(got);
	client_close(client);
	fake_stop(&f);
}

static void bodies_become_arguments(void **state)
{
	static struct fake f = { .at_once = true };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (int tcp = 0; tcp < 2; tcp++) {
		struct client *client = client_of(&f, tcp);
		struct err err = { 0 };
		json_t *body = json_pack("{s:s}", "reason", "why not"), *got, *args;

		assert_int_equal(client_do(client, "POST", "/v1/jobs/7_3/cancel", body, &got, &err), 0);
		args = json_object_get(got, "args");
		assert_string_equal(json_string_value(json_object_get(args, "id")), "7_3");
		assert_string_equal(json_string_value(json_object_get(args, "reason")), "why not");
		assert_true(f.last_caller.uid == geteuid() && f.last_caller.admin);
		json_decref(got);
		json_decref(body);
		client_close(client);
	}
	assert_int_equal(fake_changes(&f), 2);
	fake_stop(&f);
}

static const struct {
	const char *what, *method, *path, *body;
	int code;
	const char *says;
} wrong[] = {
	{ "a slip in a parameter", "GET", "/v1/echo/7?txet=a", NULL, ERR_USAGE, "did you mean 'text'?" },
	{ "a parameter twice", "GET", "/v1/echo/7?text=a&text=b", NULL, ERR_USAGE, "twice" },
	{ "no number", "GET", "/v1/echo/7?whole=1.5", NULL, ERR_USAGE, "whole number" },
	{ "no number in the path", "GET", "/v1/echo/seven", NULL, ERR_USAGE, "whole number" },
	{ "a broken escape", "GET", "/v1/echo/7?text=%2", NULL, ERR_USAGE, "'text'" },
	{ "a NUL", "GET", "/v1/echo/7?text=a%00b", NULL, ERR_USAGE, "'text'" },
	{ "no UTF-8", "GET", "/v1/echo/7?text=%ff", NULL, ERR_USAGE, "'text'" },
	{ "no such route", "GET", "/v1/nothing", NULL, ERR_MISSING, "openapi" },
	{ "a slash too many", "GET", "/v1/jobs/", NULL, ERR_MISSING, "openapi" },
	{ "the wrong method", "POST", "/v1/echo/7", "{}", ERR_USAGE, "GET" },
	{ "a slip in a body", "POST", "/v1/jobs/7/cancel", "{\"reson\":\"x\"}", ERR_USAGE,
		"did you mean 'reason'?" },
	{ "a wrong type in a body", "POST", "/v1/jobs/7/cancel", "{\"reason\":7}", ERR_USAGE, "text" },
	{ "the path's in the body", "POST", "/v1/jobs/7/cancel", "{\"id\":8}", ERR_USAGE, "path" },
	{ "a query on a POST", "POST", "/v1/jobs/7/cancel?reason=x", "{}", ERR_USAGE, "body" },
	{ "something required is missing", "POST", "/v1/quota", "{\"tenant\":\"a\"}", ERR_USAGE,
		"'weight' is missing" },
};

static void what_is_wrong_is_said(void **state)
{
	static struct fake f = { 0 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f, false);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		json_t *body = wrong[i].body ? json_loads(wrong[i].body, 0, NULL) : NULL;
		struct err err = { 0 };
		int rc = client_do(client, wrong[i].method, wrong[i].path, body, NULL, &err);

		if (rc != wrong[i].code || !strstr(err.text, wrong[i].says))
			fail_msg("%s: %d %s", wrong[i].what, rc, err.text);
		json_decref(body);
	}
	assert_int_equal(f.asked, 0);
	client_close(client);
	fake_stop(&f);
}

/* ---- raw */

static int ask_raw(int fd, const char *text, struct buf *out)
{
	send_text(fd, text, strlen(text));
	read_to_end(fd, out);
	close(fd);
	return status_in(out);
}

static const struct {
	const char *what, *text;
	int status;
	const char *has;
} raw_rows[] = {
	{ "no JSON object",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"application/json\r\nContent-Length: 2\r\n\r\n[]",
		400, "JSON object" },
	{ "no JSON",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"application/json\r\nContent-Length: 1\r\n\r\n{",
		400, "not JSON" },
	{ "a member twice",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"application/json\r\nContent-Length: 13\r\n\r\n{\"a\":1,\"a\":2}",
		400, "not JSON" },
	{ "no body is an empty object",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		"Content-Type: application/json; charset=utf-8\r\n\r\n",
		201, "\"args\":{}" },
	{ "chunks",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n",
		201, "\"args\":{\"a\":1}" },
	{ "another type",
		"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
		"text/plain\r\nContent-Length: 2\r\n\r\n{}",
		415, "\"exit\":2" },
	{ "a method that is not there",
		"DELETE /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405,
		"Allow: POST, GET\r\n" },
	{ "a GET with a body",
		"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		"Content-Length: 2\r\n\r\n{}",
		400, "no body" },
	{ "no Host", "GET /v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "HTTP" },
	{ "health", "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"{\"schema\":\"health/1\",\"status\":\"ok\"}" },
	{ "metrics", "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"Content-Type: " METRICS_CONTENT_TYPE "\r\n" },
	{ "headers", "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"X-Content-Type-Options: nosniff\r\n" },
	{ "nothing is kept", "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"Cache-Control: no-store\r\n" },
	{ "nothing is loaded", "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"Content-Security-Policy: default-src 'none'" },
};

static void raw_requests(void **state)
{
	static struct fake f = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (size_t i = 0; i < COUNT(raw_rows); i++) {
		struct buf got = { 0 };
		int status = ask_raw(dial_unix(&f), raw_rows[i].text, &got);

		if (status != raw_rows[i].status || !strstr(got.at, raw_rows[i].has))
			fail_msg("%s: %s", raw_rows[i].what, got.at);
		assert_null(strstr(got.at, "Access-Control"));
		buf_fini(&got);
	}
	fake_stop(&f);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	enum { N = 20 };
	static struct fake f = { 0 };
	struct buf ask = { 0 }, got = { 0 };
	const char *at;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (int i = 0; i < N; i++)
		buf_printf(&ask, "GET /v1/echo/%d HTTP/1.1\r\nHost: localhost\r\n%s\r\n", i,
			i == N - 1 ? "Connection: close\r\n" : "");
	ask_raw(dial_unix(&f), ask.at, &got);
	at = got.at;
	for (int i = 0; i < N; i++) {
		char want[32];

		snprintf(want, sizeof(want), "\"id\":%d}", i);
		at = strstr(at, want);
		assert_non_null(at);
	}
	assert_int_equal(count_in(&got, "HTTP/1.1 200"), N);
	buf_fini(&ask);
	buf_fini(&got);
	fake_stop(&f);
}

static void who_has_sent_all_may_close_its_half(void **state)
{
	static struct fake f = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (int tcp = 0; tcp < 2; tcp++) {
		struct buf got = { 0 }, ask = { 0 };
		int fd = tcp ? dial_tcp(&f) : dial_unix(&f);

		buf_printf(&ask,
			"GET /v1/jobs/1/wait HTTP/1.1\r\nHost: localhost:%u\r\n"
			"Authorization: Bearer %s\r\n\r\n",
			server_port(f.server), f.token);
		send_text(fd, ask.at, ask.n);
		fake_until_held(&f, 1);
		shutdown(fd, SHUT_WR);
		fake_let_go(&f);
		read_to_end(fd, &got);
		assert_int_equal(status_in(&got), 200);
		close(fd);
		buf_fini(&got);
		buf_fini(&ask);
	}
	fake_stop(&f);
}

/* ---- waiting */

static void a_long_poll_holds_no_thread(void **state)
{
	enum { N = 20 };
	static struct fake f = { 0 };
	struct client *client;
	int fds[N];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (int i = 0; i < N; i++) {
		const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

		fds[i] = dial_unix(&f);
		send_text(fds[i], ask, strlen(ask));
	}
	fake_until_held(&f, N);
	client = client_of(&f, false);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, NULL), 0);
	client_close(client);
	fake_let_go(&f);
	for (int i = 0; i < N; i++) {
		struct buf got = { 0 };

		read_to_end(fds[i], &got);
		assert_int_equal(status_in(&got), 200);
		close(fds[i]);
		buf_fini(&got);
	}
	fake_stop(&f);
}

static void who_goes_away_while_waiting_is_forgotten(void **state)
{
	static struct fake f = { 0 };

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	for (int i = 0; i < 20; i++) {
		const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\n\r\n";
		int fd = dial_unix(&f);

		send_text(fd, ask, strlen(ask));
		fake_until_held(&f, (size_t)i % 10 + 1);
		close(fd);
		/* Half of them are found out by looking, half when they are answered. */
		if (i == 9)
			fake_let_go(&f);
	}
	pthread_mutex_lock(&f.lock);
	while (f.counted < 20)
		pthread_cond_wait(&f.changed, &f.lock);
	pthread_mutex_unlock(&f.lock);
	fake_stop(&f);
}

static void a_server_that_stops_answers_who_waits(void **state)
{
	static struct fake f = { 0 };
	const char *ask = "GET /v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\n\r\n";
	struct buf got = { 0 };
	int fd;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	fd = dial_unix(&f);
	send_text(fd, ask, strlen(ask));
	fake_until_held(&f, 1);
	fake_stop_server(&f);
	read_to_end(fd, &got);
	assert_int_equal(status_in(&got), 503);
	assert_non_null(strstr(got.at, "\"exit\":6"));
	close(fd);
	buf_fini(&got);
	fake_stop(&f); /* and the daemon answers after that */
}

static void a_client_says_who_is_not_there(void **state)
{
	struct client *client;
	struct err err = { 0 };

	(void)state;
	client_open(&(struct client_where){ .socket = "/nonexistent/socket" }, &client, &err);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, &err), ERR_UNREACHABLE);
	client_close(client);
	client_open(&(struct client_where){ .url = "http://127.0.0.1:1" }, &client, &err);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, &err), ERR_UNREACHABLE);
	client_close(client);
	assert_int_equal(client_open(&(struct client_where){ .url = "ftp://x" }, &client, &err),
		ERR_USAGE);
}

static void a_client_waits_only_so_long(void **state)
{
	static struct fake f = { 0 };
	struct client_ask ask = { .method = "GET", .path = "/v1/jobs/1/wait", .timeout_s = 0.05 };
	struct client_answer answer = { 0 };
	struct client *client;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f, false);
	assert_int_equal(client_request(client, &ask, &answer, NULL), ERR_TIMEOUT);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, NULL), 0);
	client_close(client);
	fake_stop(&f);
}

static void a_client_comes_back_to_a_new_server(void **state)
{
	static struct fake f = { 0 };
	struct client *client;
	struct err err = { 0 };
	struct server_config config = { 0 };
	struct api_back back;

	(void)state;
	fake_start(&f, config);
	client = client_of(&f, false);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, NULL), 0);
	fake_stop_server(&f);
	assert_int_equal(client_do(client, "GET", "/v1/jobs", NULL, NULL, &err), ERR_UNREACHABLE);
	back = (struct api_back){ &f, fake_verbs, fake_call, f.stream, fake_metrics, fake_healthy,
		NULL, NULL, NULL };
	config.socket = f.socket;
	assert_int_equal(server_start(&config, &back, &f.server, &err), 0);
	assert_int_equal(client_do(client, "POST", "/v1/jobs", NULL, NULL, &err), 0);
	client_close(client);
	fake_stop(&f);
}

/* ---- the document */

static void check_operation(const char *path, const char *method, const json_t *op)
{
	const json_t *p;
	size_t i;

	assert_true(json_is_string(json_object_get(op, "operationId")));
	assert_true(json_is_string(json_object_get(op, "summary")));
	json_array_foreach(json_object_get(op, "parameters"), i, p)
	{
		const char *in = json_string_value(json_object_get(p, "in"));
		const char *name = json_string_value(json_object_get(p, "name"));
		char hole[64];

		snprintf(hole, sizeof(hole), "{%s}", name);
		assert_true(!strcmp(in, "query") || !strcmp(in, "path"));
		assert_int_equal(!strcmp(in, "path"), strstr(path, hole) != NULL);
		assert_true(strcmp(in, "path") != 0 || json_is_true(json_object_get(p, "required")));
		assert_true(json_is_object(json_object_get(p, "schema")));
	}
	assert_int_equal(json_object_get(op, "requestBody") != NULL, strcmp(method, "get") != 0);
	assert_true(json_is_object(json_object_get(json_object_get(op, "responses"), "default")));
}

/* Asks for it with every hole filled; a stream is only begun. */
static int status_of(const struct fake *f, const char *path, const char *method)
{
	bool get = !strcmp(method, "get");
	struct buf ask = { 0 }, got = { 0 };
	int fd = dial_unix(f), status;
	char bytes[512];

	buf_str(&ask, get ? "GET " : "POST ");
	for (; *path; path++) {
		if (*path != '{') {
			buf_char(&ask, *path);
			continue;
		}
		buf_char(&ask, '7');
		path = strchr(path, '}');
	}
	buf_str(&ask, " HTTP/1.1\r\nHost: x\r\n");
	if (get) {
		buf_str(&ask, "\r\n");
	} else {
		const char *body = strstr(ask.at, "quota") ? "{\"tenant\":\"a\",\"weight\":2}"
							   : "{\"reason\":\"a\",\"weight\":2}";

		buf_printf(&ask, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(body), body);
	}
	send_text(fd, ask.at, ask.n);
	status = (int)recv(fd, bytes, sizeof(bytes), 0);
	buf_add(&got, bytes, status > 0 ? (size_t)status : 0);
	status = status_in(&got);
	close(fd);
	buf_fini(&ask);
	buf_fini(&got);
	return status;
}

/* Of the daemon's own table the fake knows no good arguments: that the route is there is enough. */
static bool is_there(const struct fake *f, const char *path, int status)
{
	if (strstr(path, "/raw"))
		return status == 404; /* there is no log */
	if (strstr(path, "/assets/"))
		return status == 404; /* no file has that name */
	if (!strcmp(path, "/login") || !strcmp(path, "/logout"))
		return status == 400 || status == 409; /* not over the unix socket */
	return f->verbs ? status && status != 404 && status != 405 : status == 200 || status == 201;
}

static size_t table_size(const struct verb *v)
{
	size_t n = 0;

	while (v[n].name)
		n++;
	return n;
}

static void check_document(const struct verb *table)
{
	static struct fake f;
	struct client *client;
	const char *path, *method;
	json_t *doc, *methods, *op;
	size_t n = 0;

	f = (struct fake){ .verbs = table };
	fake_start(&f, (struct server_config){ 0 });
	client = client_of(&f, false);
	assert_int_equal(client_do(client, "GET", "/v1/openapi.json", NULL, &doc, NULL), 0);
	assert_string_equal(json_string_value(json_object_get(doc, "openapi")), "3.0.3");
	assert_true(json_is_string(json_object_get(json_object_get(doc, "info"), "version")));
	json_object_foreach(json_object_get(doc, "paths"), path, methods)
	{
		json_object_foreach(methods, method, op)
		{
			int status;

			check_operation(path, method, op);
			n++;
			if (strstr(path, "/wait"))
				continue;
			status = status_of(&f, path, method);
			if (!is_there(&f, path, status))
				fail_msg("%s %s: %d", method, path, status);
		}
	}
	assert_int_equal(n, table_size(table ? table : fake_verbs) + table_size(server_routes));
	json_decref(doc);
	client_close(client);
	fake_stop(&f);
}

static void the_document_says_what_there_is(void **state)
{
	(void)state;
	check_document(NULL);
	check_document(verbs);
}

static void a_test_that_fails_leaves_no_server(void **state)
{
	static struct fake f = { 0 };

	fake_start(&f, (struct server_config){ 0 });
	assert_int_equal(fake_teardown(state), 0); /* as if the test had ended here */
	assert_null(fake_running);
	assert_null(f.server);
	assert_false(file_exists(f.dir)); /* with the socket */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(parameters_are_typed, fake_teardown),
		cmocka_unit_test_teardown(bodies_become_arguments, fake_teardown),
		cmocka_unit_test_teardown(what_is_wrong_is_said, fake_teardown),
		cmocka_unit_test_teardown(raw_requests, fake_teardown),
		cmocka_unit_test_teardown(pipelined_requests_are_answered_in_order, fake_teardown),
		cmocka_unit_test_teardown(who_has_sent_all_may_close_its_half, fake_teardown),
		cmocka_unit_test_teardown(a_long_poll_holds_no_thread, fake_teardown),
		cmocka_unit_test_teardown(who_goes_away_while_waiting_is_forgotten, fake_teardown),
		cmocka_unit_test_teardown(a_server_that_stops_answers_who_waits, fake_teardown),
		cmocka_unit_test_teardown(a_client_says_who_is_not_there, fake_teardown),
		cmocka_unit_test_teardown(a_client_waits_only_so_long, fake_teardown),
		cmocka_unit_test_teardown(a_client_comes_back_to_a_new_server, fake_teardown),
		cmocka_unit_test_teardown(a_test_that_fails_leaves_no_server, fake_teardown),
		cmocka_unit_test_teardown(the_document_says_what_there_is, fake_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
