#include "hook/deliver.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "hook/receiver.h"

static char event[] = "failed", body[] = "{\"text\":\"it failed\"}";
static const struct delivery sample = { .id = "0123456789abcdef0123456789abcdef",
	.event = event,
	.body = body };

static void post(const struct receiver *r, const char *secret, double timeout_s, struct reception *out)
{
	struct hook hook = {
		.webhook = "http://127.0.0.1/",
		.host = "127.0.0.1",
		.port = r->port,
		.path = "/in?x=1",
		.secret = secret,
		.timeout_s = timeout_s,
	};

	deliver(&hook, &sample, NULL, out);
}

static void what_is_sent(void **state)
{
	static const int answers[] = { 200 };
	char text[128], signature[SIGNATURE_SIZE];
	struct reception got;
	struct receiver r;
	const char *request;

	(void)state;
	receiver_start(&r, answers, 1);
	post(&r, "swordfish", 60, &got);
	assert_int_equal(got.verdict, DELIVERED);
	assert_int_equal(got.status, 200);
	assert_string_equal(got.answer.at, "ok\n");
	reception_fini(&got);
	assert_int_equal(receiver_heard(&r), 1);
	request = r.heard[0];
	assert_memory_equal(request, "POST /in?x=1 HTTP/1.1\r\n", 23);
	assert_string_equal(strstr(request, "\r\n\r\n") + 4, body);
	assert_string_equal(receiver_header(request, "X-Stint-Event", text), "failed");
	assert_string_equal(receiver_header(request, "X-Stint-Delivery", text), sample.id);
	assert_string_equal(receiver_header(request, "Content-Type", text), "application/json");
	delivery_sign("swordfish",
		strtol(receiver_header(request, "X-Stint-Timestamp", text), NULL, 10), body,
		signature);
	assert_string_equal(receiver_header(request, "X-Stint-Signature", text), signature);
	receiver_stop(&r);
}

/* Computed with: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac swordfish */
static void signatures_are_those_of_other_programs(void **state)
{
	char signature[SIGNATURE_SIZE];

	(void)state;
	delivery_sign("swordfish", 1700000000, "{\"a\":1}", signature);
	assert_string_equal(signature,
		"sha256=8f1701c54ae5132691656d186f95251b9ae92f79d732c3a8d1037301c9d4513c");
}

static void without_a_secret_nothing_is_signed(void **state)
{
	static const int answers[] = { 204 };
	struct reception got;
	struct receiver r;

	(void)state;
	receiver_start(&r, answers, 1);
	post(&r, NULL, 60, &got);
	assert_int_equal(got.verdict, DELIVERED);
	reception_fini(&got);
	assert_null(strstr(r.heard[0], "X-Stint-Signature"));
	receiver_stop(&r);
}

static void answers_are_judged(void **state)
{
	static const struct {
		int status;
		enum verdict want;
	} rows[] = { { 200, DELIVERED }, { 202, DELIVERED }, { 302, NEVER }, { 400, NEVER },
		{ 404, NEVER }, { 408, NOT_NOW }, { 410, NEVER }, { 429, NOT_NOW },
		{ 500, NOT_NOW }, { 503, NOT_NOW } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reception got;
		struct receiver r;

		receiver_start(&r, &rows[i].status, 1);
		post(&r, NULL, 60, &got);
		assert_int_equal(got.status, rows[i].status);
		assert_int_equal(got.verdict, rows[i].want);
		assert_int_equal(got.why.n > 0, rows[i].want != DELIVERED);
		reception_fini(&got);
		receiver_stop(&r);
	}
}

static void who_hangs_or_drips_is_given_up(void **state)
{
	static const int hangs[] = { HANGS }, drips[] = { DRIPS };
	const int *const rows[] = { hangs, drips };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double began_s = clock_wall_s();
		struct reception got;
		struct receiver r;

		receiver_start(&r, rows[i], 1);
		post(&r, NULL, 0.2, &got);
		assert_int_equal(got.verdict, NOT_NOW);
		assert_non_null(strstr(got.why.at, "no answer within 0.2 s"));
		assert_true(clock_wall_s() - began_s < 50);
		reception_fini(&got);
		receiver_stop(&r);
	}
}

static void nobody_there(void **state)
{
	static const int answers[] = { 200 };
	struct reception got;
	struct receiver r;

	(void)state;
	receiver_start(&r, answers, 1);
	receiver_stop(&r);
	post(&r, NULL, 60, &got);
	assert_int_equal(got.verdict, NOT_NOW);
	assert_non_null(strstr(got.why.at, "cannot connect"));
	reception_fini(&got);
}

static void run(const char *script, double timeout_s, struct reception *out)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct hook hook = { .command = argv, .timeout_s = timeout_s };

	deliver(&hook, &sample, NULL, out);
}

static void commands_read_it(void **state)
{
	struct reception got;

	(void)state;
	run("cat; echo \" $STINT_EVENT $STINT_DELIVERY\"", 60, &got);
	assert_int_equal(got.verdict, DELIVERED);
	assert_string_equal(got.answer.at,
		"{\"text\":\"it failed\"} failed 0123456789abcdef0123456789abcdef\n");
	reception_fini(&got);
	run("echo no room >&2; exit 4", 60, &got);
	assert_int_equal(got.verdict, NOT_NOW);
	assert_string_equal(got.why.at, "exit code 4; it said: no room\n");
	reception_fini(&got);
	run("sleep 3600", 0.2, &got);
	assert_int_equal(got.verdict, NOT_NOW);
	assert_string_equal(got.why.at, "no end after 0.2 s: killed");
	reception_fini(&got);
}

/* A curl that keeps what it reads and what it is called with, and says what its file says. */
static void write_curl(const char *dir)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/curl", dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out,
		"#!/bin/sh\ncat >%s/config\necho \"$@\" >%s/args\ncat %s/says\n"
		"[ -s %s/says ] || { echo 'curl: (7) nobody there' >&2; exit 7; }\n",
		dir, dir, dir, dir);
	fclose(out);
	assert_int_equal(chmod(path, 0700), 0);
}

static void curl_says(const char *dir, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/says", dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void https(const char *url, struct reception *out)
{
	struct hook hook = { .webhook = url, .https = true, .secret = "swordfish", .timeout_s = 60 };

	deliver(&hook, &sample, NULL, out);
}

static void has_line(const char *dir, const char *name, const char *line)
{
	char command[512];

	snprintf(command, sizeof(command), "grep -qxF -- '%s' %s/%s", line, dir, name);
	assert_int_equal(system(command), 0);
}

static void https_is_curls(void **state)
{
	char dir[] = "/tmp/stint-curl.XXXXXX", path[4096], command[128];
	const char *before = getenv("PATH");
	struct reception got;

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_curl(dir);
	snprintf(path, sizeof(path), "%s:%s", dir, before ? before : "/usr/bin:/bin");
	setenv("PATH", path, 1);
	curl_says(dir, "204");
	https("https://h/key-in-path", &got);
	assert_int_equal(got.verdict, DELIVERED);
	assert_int_equal(got.status, 204);
	reception_fini(&got);
	has_line(dir, "config", "url = \"https://h/key-in-path\"");
	has_line(dir, "config", "header = \"X-Stint-Delivery: 0123456789abcdef0123456789abcdef\"");
	has_line(dir, "config", "data-binary = \"{\\\"text\\\":\\\"it failed\\\"}\"");
	/* Everybody sees a program's arguments. */
	has_line(dir, "args",
		"-q --config - --silent --show-error --globoff --proto =https --output /dev/null --write-out %{http_code} --max-time 60.000");
	curl_says(dir, "503");
	https("https://h/", &got);
	assert_int_equal(got.verdict, NOT_NOW);
	reception_fini(&got);
	curl_says(dir, "");
	https("https://h/", &got);
	assert_int_equal(got.verdict, NOT_NOW);
	assert_string_equal(got.why.at, "curl: (7) nobody there");
	reception_fini(&got);
	setenv("PATH", path + strlen(dir) + 1, 1);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void numbers_are_not_used_twice(void **state)
{
	char a[DELIVERY_DIGITS + 1], b[DELIVERY_DIGITS + 1];

	(void)state;
	delivery_number(a);
	delivery_number(b);
	assert_int_equal(strlen(a), DELIVERY_DIGITS);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent),
		cmocka_unit_test(signatures_are_those_of_other_programs),
		cmocka_unit_test(without_a_secret_nothing_is_signed),
		cmocka_unit_test(answers_are_judged),
		cmocka_unit_test(who_hangs_or_drips_is_given_up),
		cmocka_unit_test(nobody_there),
		cmocka_unit_test(commands_read_it),
		cmocka_unit_test(https_is_curls),
		cmocka_unit_test(numbers_are_not_used_twice),
	};

	return cmocka_run_group_tests_name("hook/deliver", tests, NULL, NULL);
}
