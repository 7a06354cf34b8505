/*
 * Histories from rows of a record.
 */
#include "daemon/history.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/property.h"

static char dir[] = "/tmp/stint-history.XXXXXX";

static void append(struct record *r, const char *kind, uint32_t job, uint32_t attempt, double at_s,
	const char *body)
{
	struct record_event event = { .at_s = at_s,
		.kind = kind,
		.job = job,
		.attempt = attempt,
		.body = body };
	struct err err = { 0 };

	if (record_begin(r, &err) < 0 || record_append(r, &event, NULL, NULL, &err) < 0 ||
		record_commit(r, &err) < 0)
		fail_msg("%s", err.text);
}

static struct record *open_record(void)
{
	char *path = mem_printf("%s/stint.db", mkdtemp(dir));
	struct record *r = NULL;
	struct err err = { 0 };

	if (record_open(path, false, &r, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	return r;
}

static void remove_dir(void)
{
	static const char *const files[] = { "stint.db", "stint.db-wal", "stint.db-shm" };

	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = mem_printf("%s/%s", dir, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(dir);
}

static void write_life(struct record *r)
{
	append(r, "epoch", 0, 0, 0, "{\"why\":\"start\",\"policy\":\"old\"}");
	append(r, "epoch", 0, 0, 1, "{\"why\":\"policy\",\"policy\":\"fifo\",\"cluster\":\"long\"}");
	append(r, "submit", 1, 0, 2,
		"{\"job\":{\"id\":1,\"user\":\"ann\",\"gpus\":2},\"submission\":{\"command\":[\"secret\"]}}");
	append(r, "start", 1, 1, 3, "{\"grant\":{\"type\":\"v100\",\"gpus\":2,\"on\":[[0,3]]}}");
	append(r, "launch", 1, 1, 3, "{}");
	append(r, "progress", 1, 1, 4, "{\"step\":10}");
	append(r, "state", 1, 1, 4, "{}");
	append(r, "progress", 1, 1, 5, "{\"step\":20}");
	append(r, "epoch", 0, 0, 6, "{\"why\":\"policy\",\"policy\":\"las\"}");
	append(r, "progress", 2, 1, 6, "{\"step\":99}");
	append(r, "stop", 1, 1, 7, "{\"why\":\"preempt\"}");
	append(r, "cancel", 1, 0, 8, "{\"by\":42,\"reason\":\"enough\"}");
	append(r, "end", 1, 0, 8, "{}");
}

static void rows_become_events(void **state)
{
	static const char *const expected[] = {
		"\"seq\":3,\"at\":102,\"kind\":\"submit\",\"who\":\"user ann\",\"rule\":\"submit\",\"text\":\"submitted\"",
		"\"kind\":\"start\",\"who\":\"policy\",\"rule\":\"fifo\",\"text\":\"given devices: 2 v100\"",
		"\"kind\":\"progress\",\"who\":\"job\",\"rule\":null,\"text\":\"reported progress, step 20 (2 times)\"",
		"\"kind\":\"rules\",\"who\":\"user\",\"rule\":\"las\",\"text\":\"decided by las from now on\"",
		"\"kind\":\"preempt\",\"who\":\"policy\",\"rule\":\"las\"",
		"\"kind\":\"cancel\",\"who\":\"uid 42\",\"rule\":\"cancel\",\"text\":\"cancelled: enough\"",
		"\"kind\":\"end\"",
	};
	static const char *const absent[] = { "secret", "launch", "\"state\"", "99", "old", "long" };
	struct record *r = open_record();
	struct buf text = { 0 };
	struct err err = { 0 };
	struct wallclock wall;
	struct json j;
	const char *at;

	(void)state;
	wallclock_init(&wall, 100);
	write_life(r);
	json_init(&j, &text, false);
	json_begin_object(&j, NULL);
	if (history_to_json(r, 1, &wall, HISTORY_ADMIN, &j, &err) < 0)
		fail_msg("%s", err.text);
	json_end(&j, '}');
	at = text.at;
	for (size_t i = 0; i < COUNT(expected); i++) {
		const char *found = strstr(at, expected[i]);

		if (!found)
			fail_msg("%s is not (or not there) in %s", expected[i], text.at);
		at = found;
	}
	for (size_t i = 0; i < COUNT(absent); i++) {
		if (strstr(text.at, absent[i]))
			fail_msg("%s is in %s", absent[i], text.at);
	}
	assert_int_equal(history_to_json(r, 3, &wall, HISTORY_ADMIN, &j, &err), ERR_MISSING);
	wallclock_fini(&wall);
	buf_fini(&text);
	record_close(r);
	remove_dir();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
