#include "daemon/stream.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

static void notices_are_events(void **state)
{
	struct stream *stream = stream_create(6);
	struct buf out = { 0 };
	uint64_t seq = 6;

	(void)state;
	assert_int_equal(stream_last(stream), 6);
	assert_false(stream_read(stream, &seq, 1000, &out));
	stream_push(stream, 7, "start", "{\"job\":1}");
	stream_push(stream, 9, "end", "{\"job\":\n1}");
	assert_int_equal(stream_last(stream), 9);
	assert_true(stream_read(stream, &seq, 1000, &out));
	assert_string_equal(out.at,
		"id: 7\nevent: start\ndata: {\"job\":1}\n\n"
		"id: 9\nevent: end\ndata: {\"job\": 1}\n\n");
	assert_int_equal(seq, 9);
	assert_false(stream_read(stream, &seq, 1000, &out));
	seq = 8; /* a number that was never given is fine */
	buf_clear(&out);
	assert_true(stream_read(stream, &seq, 1000, &out));
	assert_string_equal(out.at, "id: 9\nevent: end\ndata: {\"job\": 1}\n\n");
	buf_fini(&out);
	stream_destroy(stream);
}

static void a_reader_gets_as_much_as_it_wants_and_at_least_one(void **state)
{
	struct stream *stream = stream_create(0);
	uint64_t seq = 0;

	(void)state;
	for (uint64_t i = 1; i <= 9; i++)
		stream_push(stream, i, "x", "{}"); /* 26 bytes each */
	for (uint64_t i = 1; i <= 3; i++) {
		struct buf out = { 0 };

		assert_true(stream_read(stream, &seq, 1, &out));
		assert_int_equal(seq, i);
		buf_fini(&out);
	}
	for (uint64_t i = 6; i <= 9; i += 3) {
		struct buf out = { 0 };

		assert_true(stream_read(stream, &seq, 80, &out));
		assert_int_equal(seq, i);
		assert_true(out.n <= 80);
		buf_fini(&out);
	}
	stream_destroy(stream);
}

static void who_is_too_late_is_told(void **state)
{
	struct stream *stream = stream_create(10);
	struct buf out = { 0 };
	uint64_t seq = 3;

	(void)state;
	assert_true(stream_read(stream, &seq, 1000, &out)); /* before it began */
	assert_string_equal(out.at, "id: 10\nevent: lost\ndata: {\"from\":4,\"to\":10}\n\n");
	assert_int_equal(seq, 10);
	for (uint64_t i = 11; i <= 10 + STREAM_KEEPS + 5; i++)
		stream_push(stream, i, "x", "{}");
	buf_clear(&out);
	assert_true(stream_read(stream, &seq, 1, &out));
	assert_int_equal(seq, 15);
	assert_non_null(strstr(out.at, "{\"from\":11,\"to\":15}"));
	buf_clear(&out);
	assert_true(stream_read(stream, &seq, 1, &out));
	assert_int_equal(seq, 16);
	buf_fini(&out);
	stream_destroy(stream);
}

static void count(void *ctx)
{
	++*(int *)ctx;
}

static void followers_are_woken_until_they_leave(void **state)
{
	struct stream *stream = stream_create(0);
	int a = 0, b = 0;
	struct stream_follower one = { .wake = count, .ctx = &a }, two = { .wake = count, .ctx = &b };

	(void)state;
	stream_push(stream, 1, "x", "{}");
	stream_follow(stream, &one);
	stream_follow(stream, &two);
	stream_push(stream, 2, "x", "{}");
	stream_unfollow(stream, &one);
	stream_push(stream, 3, "x", "{}");
	stream_unfollow(stream, &two);
	stream_unfollow(stream, &two);
	stream_push(stream, 4, "x", "{}");
	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	stream_destroy(stream);
}

static bool is_set(void *ctx)
{
	return *(int *)ctx != 0;
}

static void only_followers_with_readers_count(void **state)
{
	struct stream *stream = stream_create(0);
	int woken = 0;
	struct stream_follower server = { .wake = count, .has_readers = is_set, .ctx = &woken };
	struct stream_follower notifier = { .wake = count, .ctx = &woken };

	(void)state;
	assert_false(stream_has_readers(stream));
	stream_follow(stream, &server);
	assert_false(stream_has_readers(stream));
	woken = 1;
	assert_true(stream_has_readers(stream));
	woken = 0;
	stream_follow(stream, &notifier);
	assert_true(stream_has_readers(stream));
	stream_destroy(stream);
}

static void what_is_skipped_is_told_as_lost(void **state)
{
	struct stream *stream = stream_create(0);
	struct buf out = { 0 };
	uint64_t seq = 2;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		stream_push(stream, i, "x", "{}");
	stream_skip(stream, 100);
	assert_int_equal(stream_last(stream), 100);
	stream_push(stream, 101, "x", "{}");
	assert_true(stream_read(stream, &seq, 1000, &out));
	assert_string_equal(out.at,
		"id: 100\nevent: lost\ndata: {\"from\":3,\"to\":100}\n\nid: 101\nevent: x\ndata: {}\n\n");
	assert_int_equal(seq, 101);
	buf_fini(&out);
	stream_destroy(stream);
}

enum { MANY = 20000 };

static void *push_many(void *ctx)
{
	for (uint64_t i = 1; i <= MANY; i++)
		stream_push(ctx, i, "x", "{}");
	return NULL;
}

static void reading_while_it_grows_sees_all_or_says_what_not(void **state)
{
	struct stream *stream = stream_create(0);
	struct buf out = { 0 };
	pthread_t thread;
	uint64_t seq = 0, seen = 0, lost = 0;

	(void)state;
	pthread_create(&thread, NULL, push_many, stream);
	while (seq < MANY) {
		uint64_t before = seq;

		buf_clear(&out);
		if (!stream_read(stream, &seq, 4096, &out))
			continue;
		for (const char *at = strstr(out.at, "event: x"); at; at = strstr(at + 1, "event: x"))
			seen++;
		for (const char *at = strstr(out.at, "\"to\":"); at; at = strstr(at + 1, "\"to\":"))
			lost += strtoull(at + 5, NULL, 10) - before;
	}
	pthread_join(thread, NULL);
	assert_int_equal(seen + lost, MANY);
	buf_fini(&out);
	stream_destroy(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notices_are_events),
		cmocka_unit_test(a_reader_gets_as_much_as_it_wants_and_at_least_one),
		cmocka_unit_test(who_is_too_late_is_told),
		cmocka_unit_test(followers_are_woken_until_they_leave),
		cmocka_unit_test(only_followers_with_readers_count),
		cmocka_unit_test(what_is_skipped_is_told_as_lost),
		cmocka_unit_test(reading_while_it_grows_sees_all_or_says_what_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
