#include "api/page.h"

#include "api/fake.h"
#include "api/session.h"

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
	static struct fake f = { 0 };
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

/* ---- sessions, as the page does it */

static const char nonce[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

struct visit {
	char host[64], challenge[CHALLENGE_DIGITS + 1], key[SHA256_DIGITS + 1],
		id[SESSION_ID_DIGITS + 1];
};

static void copy_between(const struct buf *got, const char *from, char *out, size_t size)
{
	char *text = between(got, from, "\"");

	snprintf(out, size, "%s", text);
	free(text);
}

/* Asks for a challenge; `about` is "" or more members.  Whether the server knows the secret. */
static bool meet(const struct fake *f, const char *secret, const char *about, const char *member,
	struct visit *v, struct buf *got)
{
	struct login_talk talk = { v->host, nonce, v->challenge, "" };
	char body[256], want[SHA256_DIGITS + 1], proof[SHA256_DIGITS + 1];

	snprintf(v->host, sizeof(v->host), "127.0.0.1:%u", server_port(f->server));
	snprintf(body, sizeof(body), "{\"nonce\":\"%s\"%s}", nonce, about);
	if (ask(f, "POST", "/login", "", body, got) != 200)
		return false;
	copy_between(got, "\"challenge\":\"", v->challenge, sizeof(v->challenge));
	if (!strstr(got->at, member))
		return false;
	copy_between(got, member, proof, sizeof(proof));
	login_sign(secret, "stint server", &talk, want);
	return !strcmp(proof, want);
}

/* Answers the challenge; the status. */
static int answer(const struct fake *f, const char *secret, const char *about, struct visit *v,
	struct buf *got)
{
	struct login_talk talk = { v->host, nonce, v->challenge, "" };
	char body[512], sign[SHA256_DIGITS + 1];
	int status;

	login_sign(secret, "stint page", &talk, sign);
	login_sign(secret, "stint session", &talk, v->key);
	snprintf(body, sizeof(body), "{\"nonce\":\"%s\",\"challenge\":\"%s\",\"answer\":\"%s\"%s}",
		nonce, v->challenge, sign, about);
	status = ask(f, "POST", "/login", "", body, got);
	if (status == 200)
		copy_between(got, "\"session\":\"", v->id, sizeof(v->id));
	return status;
}

static int signed_ask(const struct fake *f, const struct visit *v, const char *method,
	const char *path, bool origin, struct buf *got)
{
	char header[400], sign[SHA256_DIGITS + 1];

	session_sign(v->key, method, path, sign);
	snprintf(header, sizeof(header), "X-Stint-Session: %s %s\r\n%s%s%s", v->id, sign,
		origin ? "Origin: http://" : "", origin ? v->host : "", origin ? "\r\n" : "");
	return ask(f, method, path, header, strcmp(method, "GET") != 0 ? "{}" : NULL, got);
}

static void a_session_asks_and_changes_from_its_own_page_only(void **state)
{
	static struct fake f = { 0 };
	struct buf got = { 0 };
	struct visit v;
	char other[512];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_true(meet(&f, f.token, "", "\"proof\":\"", &v, &got));
	assert_null(strstr(got.at, f.token));
	assert_int_equal(answer(&f, f.token, "", &v, &got), 200);
	assert_null(strstr(got.at, "Set-Cookie"));
	fake_until_audit(&f, "login by token from 127.0.0.1 verb login role admin");
	assert_null(strstr(got.at, v.key)); /* never sent by either side */
	assert_int_equal(signed_ask(&f, &v, "GET", "/v1/jobs", false, &got), 200);
	assert_true(f.last_caller.admin);
	assert_int_equal(signed_ask(&f, &v, "POST", "/v1/jobs", false, &got), 401);
	assert_int_equal(fake_changes(&f), 0);
	assert_int_equal(signed_ask(&f, &v, "POST", "/v1/jobs", true, &got), 201);
	/* A signature is for one method and one address. */
	session_sign(v.key, "GET", "/v1/jobs", other);
	snprintf(other + SHA256_DIGITS, sizeof(other) - SHA256_DIGITS, "\r\n");
	{
		char header[600];

		snprintf(header, sizeof(header), "X-Stint-Session: %s %s", v.id, other);
		assert_int_equal(ask(&f, "GET", "/v1/quota", header, NULL, &got), 401);
		assert_int_equal(ask(&f, "GET", "/v1/jobs", header, NULL, &got), 200);
	}
	/* The server proves itself again to a session that goes on. */
	snprintf(other, sizeof(other), ",\"session\":\"%s\"", v.id);
	{
		struct visit again = v;

		assert_true(meet(&f, v.key, other, "\"proof\":\"", &again, &got));
		assert_false(meet(&f, f.token, other, "\"proof\":\"", &again, &got));
	}
	assert_int_equal(signed_ask(&f, &v, "POST", "/logout", true, &got), 200);
	assert_int_equal(signed_ask(&f, &v, "GET", "/v1/jobs", false, &got), 401);
	buf_fini(&got);
	fake_stop(&f);
}

static void a_wrong_answer_begins_nothing(void **state)
{
	static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
	static struct fake f = { 0 };
	struct buf got = { 0 };
	struct visit v;

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_false(meet(&f, zeros, "", "\"proof\":\"", &v, &got));
	assert_int_equal(answer(&f, zeros, "", &v, &got), 401);
	memset(v.challenge, '0', CHALLENGE_DIGITS); /* one that the server did not make */
	assert_int_equal(answer(&f, f.token, "", &v, &got), 401);
	assert_int_equal(ask(&f, "POST", "/login", "", "{}", &got), 400);
	assert_int_equal(ask(&f, "POST", "/login", "", "{\"nonce\":\"x\"}", &got), 400);
	assert_int_equal(ask(&f, "POST", "/login", "", "{\"token\":\"x\"}", &got), 400);
	assert_int_equal(ask(&f, "POST", "/login", "Origin: http://evil.example\r\n", "{}", &got), 403);
	/* A program at another port that passes everything on: the page's host is another. */
	assert_true(meet(&f, f.token, "", "\"proof\":\"", &v, &got));
	strcpy(v.host, "127.0.0.1:1");
	assert_int_equal(answer(&f, f.token, "", &v, &got), 401);
	buf_fini(&got);
	fake_stop(&f);
}

static void sessions_end_with_the_daemon(void **state)
{
	static struct fake f = { 0 };
	struct buf got = { 0 };
	struct visit v;
	char about[100];

	(void)state;
	fake_start(&f, (struct server_config){ 0 });
	assert_true(meet(&f, f.token, "", "\"proof\":\"", &v, &got));
	assert_int_equal(answer(&f, f.token, "", &v, &got), 200);
	fake_stop_server(&f);
	fake_serve(&f, (struct server_config){ 0 });
	assert_int_equal(signed_ask(&f, &v, "GET", "/v1/jobs", false, &got), 401);
	snprintf(about, sizeof(about), ",\"session\":\"%s\"", v.id);
	assert_false(meet(&f, v.key, about, "\"proof\":\"", &v, &got));
	assert_int_equal(status_in(&got), 401);
	buf_fini(&got);
	fake_stop(&f);
}

static void the_token_to_read_with_begins_a_session_that_reads(void **state)
{
	static struct fake f = { 0 };
	struct buf got = { 0 };
	struct visit v;
	char token[TOKEN_DIGITS + 1];

	(void)state;
	fake_start(&f, (struct server_config){ .system = true });
	assert_int_equal(token_load_read(f.dir, false, token, NULL), 0);
	assert_true(meet(&f, token, "", "\"read_proof\":\"", &v, &got));
	assert_null(strstr(got.at, "\"proof\"")); /* there is no full token on such a port */
	assert_int_equal(answer(&f, token, "", &v, &got), 200);
	assert_non_null(strstr(got.at, "\"role\":\"read\""));
	assert_int_equal(signed_ask(&f, &v, "GET", "/v1/jobs", false, &got), 200);
	assert_int_equal(signed_ask(&f, &v, "POST", "/v1/jobs", true, &got), 403);
	buf_fini(&got);
	fake_stop(&f);
}

static bool some_user(int fd, struct caller *out)
{
	(void)fd;
	*out = (struct caller){ .uid = 4242, .gid = 4242 };
	return true;
}

/* Of a user of a daemon for all: the session is that user's. */
static void an_address_with_a_code_logs_in_once(void **state)
{
	static struct fake f = { 0 };
	struct client *client;
	struct buf got = { 0 };
	struct visit v;
	char about[64];
	json_t *reply;
	const char *code;

	(void)state;
	fake_start(&f, (struct server_config){ .who = some_user, .system = true });
	assert_int_equal(client_open(&(struct client_where){ .socket = f.socket }, &client, NULL), 0);
	assert_int_equal(client_do(client, "POST", "/v1/open", NULL, &reply, NULL), 0);
	code = strstr(json_string_value(json_object_get(reply, "url")), "#code=") + 6;
	assert_int_equal(strlen(code), TOKEN_DIGITS);
	snprintf(about, sizeof(about), ",\"code\":\"%.*s\"", CODE_ID_DIGITS, code);
	assert_true(meet(&f, code + CODE_ID_DIGITS, about, "\"proof\":\"", &v, &got));
	assert_int_equal(answer(&f, code + CODE_ID_DIGITS, about, &v, &got), 200);
	assert_int_equal(signed_ask(&f, &v, "GET", "/v1/jobs", false, &got), 200);
	assert_true(f.last_caller.uid == 4242 && !f.last_caller.admin);
	assert_int_equal(answer(&f, code + CODE_ID_DIGITS, about, &v, &got), 401);
	assert_false(meet(&f, code + CODE_ID_DIGITS, about, "\"proof\":\"", &v, &got));
	json_decref(reply);
	client_close(client);
	buf_fini(&got);
	fake_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_page_is_small_and_whole, fake_teardown),
		cmocka_unit_test_teardown(the_page_loads_nothing_from_elsewhere, fake_teardown),
		cmocka_unit_test_teardown(what_is_named_is_there, fake_teardown),
		cmocka_unit_test_teardown(files_have_types_tags_and_a_policy, fake_teardown),
		cmocka_unit_test_teardown(a_session_asks_and_changes_from_its_own_page_only,
			fake_teardown),
		cmocka_unit_test_teardown(a_wrong_answer_begins_nothing, fake_teardown),
		cmocka_unit_test_teardown(sessions_end_with_the_daemon, fake_teardown),
		cmocka_unit_test_teardown(the_token_to_read_with_begins_a_session_that_reads,
			fake_teardown),
		cmocka_unit_test_teardown(an_address_with_a_code_logs_in_once, fake_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
