#include "api/page.h"

#include "api/fake.h"

static void the_page_is_small_and_whole(void **state)
{
	size_t bytes = 0;

	(void)state;
	for (const struct page_file *file = page_all(); file->name; file++) {
		bytes += file->n;
		assert_int_equal(strlen(file->bytes), file->n);
		assert_true(file->n > 0 && file->bytes[file->n - 1] == '\n');
		assert_true(file->tag[0] == '"');
		assert_string_not_equal(page_type(file), "application/octet-stream");
		assert_ptr_equal(page_find(file->name), file);
	}
	assert_true(bytes > 10000 && bytes <= 300000);
	assert_null(page_find("nothing.js"));
	assert_null(page_find("../index.html"));
}

/* Nothing inline, nothing from elsewhere, nothing that makes markup of text. */
static void the_page_loads_nothing_from_elsewhere(void **state)
{
	static const char *const never[] = { "https://", "//cdn", "innerHTML", "outerHTML",
		"insertAdjacentHTML", "document.write", "eval(", "new Function",
		"javascript:", "onclick=", "onload=", "style=\"" };

	(void)state;
	for (const struct page_file *file = page_all(); file->name; file++) {
		for (size_t i = 0; i < COUNT(never); i++) {
			if (strstr(file->bytes, never[i]))
				fail_msg("%s has %s", file->name, never[i]);
		}
	}
}

/* What index.html and the scripts name is there. */
static void what_is_named_is_there(void **state)
{
	(void)state;
	for (const struct page_file *file = page_all(); file->name; file++) {
		for (const char *at = strstr(file->bytes, "/assets/"); at;
			at = strstr(at + 1, "/assets/")) {
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 8, "\"'"), at + 8);
			if (!page_find(name))
				fail_msg("%s names %s", file->name, name);
		}
		for (const char *at = strstr(file->bytes, "'./"); at; at = strstr(at + 1, "'./")) {
			char name[64];

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 3, "'"), at + 3);
			if (!page_find(name))
				fail_msg("%s imports %s", file->name, name);
		}
	}
}

/* ---- over TCP */

static int ask(const struct fake *f, const char *method, const char *path, const char *headers,
	const char *body, struct buf *got)
{
	struct buf text = { 0 };
	int fd = dial_tcp(f);

	buf_printf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s", method,
		path, server_port(f->server), headers);
	if (body)
		buf_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			strlen(body));
	buf_printf(&text, "\r\n%s", body ? body : "");
	send_text(fd, text.at, text.n);
	buf_clear(got);
	read_to_end(fd, got);
	close(fd);
	buf_fini(&text);
	return status_in(got);
}

/* The text between two marks; malloc'ed. */
static char *between(const struct buf *text, const char *from, const char *to)
{
	const char *at = strstr(text->at, from);

	assert_non_null(at);
	at += strlen(from);
	return mem_strndup(at, (size_t)(strstr(at, to) - at));
}

static void files_have_types_tags_and_a_policy(void **state)
{
	struct fake f = { 0 };
	struct buf got = { 0 };
	char *tag, header[128];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_int_equal(ask(&f, "GET", "/", "", NULL, &got), 200);
	assert_non_null(strstr(got.at, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
	assert_non_null(strstr(got.at, "\r\nContent-Security-Policy: " PAGE_POLICY "\r\n"));
	assert_non_null(strstr(got.at, "\r\nCache-Control: no-cache\r\n"));
	tag = between(&got, "\r\nETag: ", "\r\n");
	snprintf(header, sizeof(header), "If-None-Match: %s\r\n", tag);
	assert_int_equal(ask(&f, "GET", "/", header, NULL, &got), 304);
	assert_string_equal(body_in(&got), "");
	assert_int_equal(ask(&f, "GET", "/assets/app.js", header, NULL, &got), 200);
	assert_non_null(strstr(got.at, "\r\nContent-Type: text/javascript; charset=utf-8\r\n"));
	assert_int_equal(ask(&f, "GET", "/assets/style.css", "", NULL, &got), 200);
	assert_int_equal(ask(&f, "GET", "/assets/nothing", "", NULL, &got), 404);
	assert_int_equal(ask(&f, "GET", "/assets/..%2Ftoken", "", NULL, &got), 404);
	assert_int_equal(ask(&f, "GET", "/assets/", "", NULL, &got), 401);
	free(tag);
	buf_fini(&got);
	fake_stop(&f);
}

struct halves {
	char *cookie, *key;
};

static struct halves log_in(const struct fake *f)
{
	struct buf got = { 0 };
	char body[128];
	struct halves h;

	snprintf(body, sizeof(body), "{\"token\":\"%s\"}", f->token);
	assert_int_equal(ask(f, "POST", "/login", "", body, &got), 200);
	assert_non_null(strstr(got.at, "; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict\r\n"));
	h.cookie = between(&got, "\r\nSet-Cookie: ", ";");
	h.key = between(&got, "\"key\":\"", "\"");
	assert_null(strstr(got.at, f->token));
	buf_fini(&got);
	return h;
}

static void a_session_asks_and_changes_from_its_own_page_only(void **state)
{
	struct fake f = { 0 };
	struct buf got = { 0 };
	struct halves h;
	char both[400], own[500];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	h = log_in(&f);
	snprintf(both, sizeof(both), "Cookie: a=b; %s; c=d\r\nX-Stint-Key: %s\r\n", h.cookie, h.key);
	snprintf(own, sizeof(own), "%sOrigin: http://127.0.0.1:%u\r\n", both, server_port(f.server));
	assert_int_equal(ask(&f, "GET", "/v1/jobs", both, NULL, &got), 200);
	assert_true(f.last_caller.admin);
	assert_int_equal(ask(&f, "POST", "/v1/jobs", both, "{}", &got), 401);
	assert_int_equal(fake_changes(&f), 0);
	assert_int_equal(ask(&f, "POST", "/v1/jobs", own, "{}", &got), 201);
	assert_int_equal(ask(&f, "POST", "/logout", own, "{}", &got), 200);
	assert_non_null(strstr(got.at, "Max-Age=0;"));
	assert_int_equal(ask(&f, "GET", "/v1/jobs", both, NULL, &got), 401);
	assert_int_equal(ask(&f, "POST", "/login", "", "{\"token\":\"x\"}", &got), 401);
	assert_int_equal(ask(&f, "POST", "/login", "", "{}", &got), 400);
	assert_int_equal(ask(&f, "POST", "/login", "", "{\"token\":\"x\",\"code\":\"y\"}", &got), 400);
	assert_int_equal(ask(&f, "POST", "/login", "Origin: http://evil.example\r\n", "{}", &got), 403);
	fake_remove(f.dir, "sessions");
	free(h.cookie);
	free(h.key);
	buf_fini(&got);
	fake_stop(&f);
}

static void an_address_with_a_code_logs_in_once(void **state)
{
	struct fake f = { 0 };
	struct client *client;
	struct buf got = { 0 };
	char body[128];
	json_t *reply;
	const char *code;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_int_equal(client_open(&(struct client_where){ .socket = f.socket }, &client, NULL), 0);
	assert_int_equal(client_do(client, "POST", "/v1/open", NULL, &reply, NULL), 0);
	code = strstr(json_string_value(json_object_get(reply, "url")), "#code=") + 6;
	snprintf(body, sizeof(body), "{\"code\":\"%s\"}", code);
	assert_int_equal(ask(&f, "POST", "/login", "", body, &got), 200);
	assert_int_equal(ask(&f, "POST", "/login", "", body, &got), 401);
	json_decref(reply);
	client_close(client);
	fake_remove(f.dir, "sessions");
	buf_fini(&got);
	fake_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_small_and_whole),
		cmocka_unit_test(the_page_loads_nothing_from_elsewhere),
		cmocka_unit_test(what_is_named_is_there),
		cmocka_unit_test(files_have_types_tags_and_a_policy),
		cmocka_unit_test(a_session_asks_and_changes_from_its_own_page_only),
		cmocka_unit_test(an_address_with_a_code_logs_in_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
