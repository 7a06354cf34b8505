#include "hook/notifier.h"

#include <math.h>

#include "base/clock.h"
#include "hook/receiver.h"

struct counts {
	atomic_uint delivered, failed, dropped;
};

static void count(void *ctx, const char *result)
{
	struct counts *c = ctx;

	atomic_fetch_add(!strcmp(result, "delivered") ? &c->delivered
			: !strcmp(result, "failed")   ? &c->failed
						      : &c->dropped,
		1);
}

/* Rules by text, with %s for the receivers' ports. */
static struct notifier *start(struct stream *stream, struct counts *counts, const char *rules,
	double linger_s)
{
	struct notifier_config config = {
		.stream = stream,
		.count = count,
		.ctx = counts,
		.linger_s = linger_s,
	};
	struct notifier *n;
	struct hooks hooks;
	struct err err = { 0 };

	if (hooks_read_yaml("rules", rules, strlen(rules), &hooks, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(notifier_start(&config, &hooks, &n, &err), 0);
	return n;
}

static void push(struct stream *stream, uint64_t seq, const char *kind, const char *state)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"seq\":%llu,\"kind\":\"%s\",\"job\":1,\"state\":\"%s\"}",
		(unsigned long long)seq, kind, state);
	stream_push(stream, seq, kind, text);
}

static bool becomes(atomic_uint *counter, unsigned want)
{
	for (int i = 0; i < 24000 && atomic_load(counter) < want; i++)
		usleep(10000);
	return atomic_load(counter) == want;
}

static bool hears(struct receiver *r, size_t want)
{
	for (int i = 0; i < 24000 && receiver_heard(r) < want; i++)
		usleep(10000);
	return receiver_heard(r) == want;
}

/* Refused twice: the third time it is the same delivery, signed at another time perhaps. */
static void what_was_refused_is_sent_again(void **state)
{
	static const int answers[] = { 500, 503, 200 };
	struct stream *stream = stream_create(4);
	struct counts counts = { 0 };
	char rules[256], first[128], again[128];
	struct notifier *n;
	struct receiver r;

	(void)state;
	receiver_start(&r, answers, COUNT(answers));
	snprintf(rules, sizeof(rules), "rules: [{on: [failed], webhook: 'http://127.0.0.1:%s/'}]",
		r.port);
	n = start(stream, &counts, rules, 0);
	push(stream, 5, "end", "COMPLETED");
	push(stream, 6, "end", "FAILED");
	assert_true(becomes(&counts.delivered, 1));
	assert_int_equal(receiver_heard(&r), 3);
	for (int i = 1; i < 3; i++) {
		assert_string_equal(receiver_header(r.heard[0], "X-Stint-Delivery", first),
			receiver_header(r.heard[i], "X-Stint-Delivery", again));
		assert_string_equal(strstr(r.heard[0], "\r\n\r\n"), strstr(r.heard[i], "\r\n\r\n"));
	}
	notifier_stop(n);
	receiver_stop(&r);
	stream_destroy(stream);
}

static void who_says_never_is_not_asked_again(void **state)
{
	static const int answers[] = { 404, 200 };
	struct stream *stream = stream_create(0);
	struct counts counts = { 0 };
	char rules[256];
	struct notifier *n;
	struct receiver r;

	(void)state;
	receiver_start(&r, answers, COUNT(answers));
	snprintf(rules, sizeof(rules), "rules: [{on: [ended], webhook: 'http://127.0.0.1:%s/'}]",
		r.port);
	n = start(stream, &counts, rules, 60);
	push(stream, 1, "end", "FAILED");
	push(stream, 2, "end", "FAILED");
	assert_true(becomes(&counts.failed, 1));
	assert_true(becomes(&counts.delivered, 1));
	assert_int_equal(receiver_heard(&r), 2);
	notifier_stop(n);
	receiver_stop(&r);
	stream_destroy(stream);
}

/* One receiver hangs with its queue full; the other hears everything, in order. */
static void one_that_hangs_keeps_nobody_else(void **state)
{
	enum { EVENTS = NOTIFIER_QUEUE + 200 };
	static const int hangs[] = { HANGS }, well[] = { 200 };
	struct stream *stream = stream_create(0);
	struct counts counts = { 0 };
	struct receiver bad, good;
	struct notifier *n;
	char rules[512];
	double began_s;

	(void)state;
	receiver_start(&bad, hangs, 1);
	receiver_start(&good, well, 1);
	snprintf(rules, sizeof(rules),
		"rules:\n- {on: [ended], webhook: 'http://127.0.0.1:%s/', timeout_s: 300}\n"
		"- {on: [ended], webhook: 'http://127.0.0.1:%s/'}\n",
		bad.port, good.port);
	n = start(stream, &counts, rules, 0);
	push(stream, 1, "end", "COMPLETED");
	assert_true(hears(&bad, 1));
	for (uint64_t i = 2; i <= EVENTS; i++) {
		push(stream, i, "end", "COMPLETED");
		/* The good one must not be overrun. */
		if (i % 500 == 0)
			assert_true(hears(&good, i));
	}
	assert_true(hears(&good, EVENTS));
	assert_true(becomes(&counts.dropped, EVENTS - 1 - NOTIFIER_QUEUE));
	for (size_t i = 0; i < EVENTS; i++) {
		char want[32];

		snprintf(want, sizeof(want), "\"seq\":%zu,", i + 1);
		assert_non_null(strstr(good.heard[i], want));
	}
	began_s = clock_wall_s();
	notifier_stop(n);
	assert_true(clock_wall_s() - began_s < 200); /* not the 300 s of the rule */
	assert_int_equal(receiver_heard(&bad), 1);
	receiver_stop(&bad);
	receiver_stop(&good);
	stream_destroy(stream);
}

/* What was pushed just before the end is still sent, if that goes. */
static void what_waits_at_the_end_is_sent(void **state)
{
	static const int well[] = { 200 };
	struct stream *stream = stream_create(0);
	struct counts counts = { 0 };
	struct notifier *n;
	struct receiver r;
	char rules[256];

	(void)state;
	receiver_start(&r, well, 1);
	snprintf(rules, sizeof(rules), "rules: [{on: [ended], webhook: 'http://127.0.0.1:%s/'}]",
		r.port);
	n = start(stream, &counts, rules, 600);
	for (uint64_t i = 1; i <= 20; i++)
		push(stream, i, "end", "COMPLETED");
	notifier_stop(n);
	assert_int_equal(receiver_heard(&r), 20);
	assert_int_equal(atomic_load(&counts.delivered), 20);
	receiver_stop(&r);
	stream_destroy(stream);
}

static void a_command_that_hangs_is_killed(void **state)
{
	struct stream *stream = stream_create(0);
	struct counts counts = { 0 };
	struct notifier *n = start(stream, &counts,
		"rules: [{on: [ended], command: [sleep, '3600'], timeout_s: 0.2}]", 0);

	(void)state;
	push(stream, 1, "end", "FAILED");
	assert_true(becomes(&counts.failed, 1));
	notifier_stop(n);
	stream_destroy(stream);
}

static void pauses_grow(void **state)
{
	(void)state;
	assert_true(notifier_pause_s(1, 0) == 1);
	assert_true(notifier_pause_s(2, 0) == 2);
	assert_true(notifier_pause_s(5, 0) == 16);
	assert_true(notifier_pause_s(20, 0) == 300);
	assert_true(notifier_pause_s(2, 1) == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_refused_is_sent_again),
		cmocka_unit_test(who_says_never_is_not_asked_again),
		cmocka_unit_test(one_that_hangs_keeps_nobody_else),
		cmocka_unit_test(what_waits_at_the_end_is_sent),
		cmocka_unit_test(a_command_that_hangs_is_killed),
		cmocka_unit_test(pauses_grow),
	};

	return cmocka_run_group_tests_name("hook/notifier", tests, NULL, NULL);
}
