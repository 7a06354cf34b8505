/*
 * Curves from rows of a record.
 */
#include "daemon/series.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/property.h"

static char dir[] = "/tmp/stint-series.XXXXXX";

static struct record *open_record(void)
{
	char *path;
	struct record *r = NULL;
	struct err err = { 0 };

	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	path = mem_printf("%s/stint.db", mkdtemp(dir));
	if (record_open(path, false, &r, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	return r;
}

static void close_record(struct record *r)
{
	static const char *const files[] = { "stint.db", "stint.db-wal", "stint.db-shm" };

	record_close(r);
	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = mem_printf("%s/%s", dir, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(dir);
}

static void append(struct record *r, const char *kind, uint32_t job, uint32_t attempt, double at_s,
	const char *body)
{
	struct record_event event = { .at_s = at_s,
		.kind = kind,
		.job = job,
		.attempt = attempt,
		.body = body };
	struct err err = { 0 };

	if (record_append(r, &event, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void begin(struct record *r)
{
	struct err err = { 0 };

	if (record_begin(r, &err) < 0)
		fail_msg("%s", err.text);
}

/* What is said of job 1; the clock began at 100. */
static json_t *series_of(struct record *r)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	struct wallclock wall;
	struct json j;
	json_t *said;

	if (record_commit(r, &err) < 0)
		fail_msg("%s", err.text);
	wallclock_init(&wall, 100);
	json_init(&j, &text, false);
	json_begin_object(&j, NULL);
	if (series_to_json(r, 1, &wall, &j, &err) < 0)
		fail_msg("%s", err.text);
	json_end(&j, '}');
	said = json_loads(text.at, 0, NULL);
	assert_non_null(said);
	wallclock_fini(&wall);
	buf_fini(&text);
	return said;
}

static double number_at(const json_t *list, size_t i)
{
	const json_t *value = json_array_get(list, i);

	return json_is_null(value) ? -1 : json_number_value(value);
}

static void reports_become_columns(void **state)
{
	struct record *r = open_record();
	json_t *said, *loss, *rate;

	(void)state;
	begin(r);
	append(r, "submit", 1, 0, 1, "{}");
	append(r, "progress", 1, 1, 2,
		"{\"step\":10,\"total\":100,\"metrics\":{\"loss\":3.5,\"note\":\"x\"}}");
	append(r, "checkpointed", 1, 1, 3, "{\"step\":10}");
	append(r, "progress", 2, 1, 3, "{\"step\":77}");
	append(r, "progress", 1, 2, 4, "{\"step\":20,\"metrics\":{\"rate\":8,\"loss\":2}}");
	append(r, "progress", 1, 2, 5, "{\"step\":30}");
	said = series_of(r);
	assert_int_equal(json_integer_value(json_object_get(said, "reports")), 3);
	assert_true(json_number_value(json_object_get(said, "total")) == 100);
	assert_int_equal(json_array_size(json_object_get(said, "step")), 3);
	assert_true(number_at(json_object_get(said, "at"), 0) == 102);
	assert_true(number_at(json_object_get(said, "attempt"), 1) == 2);
	assert_true(number_at(json_object_get(said, "step"), 2) == 30);
	assert_int_equal(json_array_size(json_object_get(said, "metrics")), 2);
	loss = json_object_get(json_array_get(json_object_get(said, "metrics"), 0), "values");
	rate = json_object_get(json_array_get(json_object_get(said, "metrics"), 1), "values");
	assert_true(number_at(loss, 0) == 3.5 && number_at(loss, 1) == 2 && number_at(loss, 2) == -1);
	assert_true(number_at(rate, 0) == -1 && number_at(rate, 1) == 8);
	assert_false(json_is_true(json_object_get(said, "more")));
	json_decref(said);
	close_record(r);
}

static void nothing_was_reported(void **state)
{
	struct record *r = open_record();
	json_t *said;

	(void)state;
	begin(r);
	append(r, "submit", 1, 0, 1, "{}");
	said = series_of(r);
	assert_int_equal(json_array_size(json_object_get(said, "at")), 0);
	assert_int_equal(json_array_size(json_object_get(said, "metrics")), 0);
	assert_true(json_is_null(json_object_get(said, "total")));
	json_decref(said);
	close_record(r);
}

/* However many there are: few points, in order, evenly, with the first and the last. */
static void many_reports_are_thinned(void **state)
{
	static const int counts[] = { SERIES_POINTS - 1, SERIES_POINTS, SERIES_POINTS + 1, 1997, 7000 };

	(void)state;
	for (size_t c = 0; c < COUNT(counts); c++) {
		struct record *r = open_record();
		json_t *said, *step;
		size_t n;
		double gap;

		begin(r);
		for (int i = 0; i < counts[c]; i++) {
			char body[64];

			snprintf(body, sizeof(body), "{\"step\":%d,\"metrics\":{\"loss\":%d}}", i, i);
			append(r, "progress", 1, 1, i, body);
		}
		said = series_of(r);
		step = json_object_get(said, "step");
		n = json_array_size(step);
		assert_int_equal(json_integer_value(json_object_get(said, "reports")), counts[c]);
		assert_in_range(n, SERIES_POINTS / 2, SERIES_POINTS);
		assert_true(number_at(step, 0) == 0);
		assert_true(number_at(step, n - 1) == counts[c] - 1);
		gap = number_at(step, 1);
		for (size_t i = 1; i + 1 < n; i++)
			assert_true(number_at(step, i) - number_at(step, i - 1) == gap);
		assert_true(number_at(step, n - 1) - number_at(step, n - 2) <= gap);
		json_decref(said);
		close_record(r);
	}
}

static void metrics_are_bounded(void **state)
{
	struct record *r = open_record();
	json_t *said, *body = json_object(), *metrics = json_object();
	char *text;

	(void)state;
	for (int i = 0; i < SERIES_METRICS + 1; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%d", i);
		json_object_set_new(metrics, name, json_integer(i));
	}
	json_object_set_new(body, "step", json_integer(1));
	json_object_set_new(body, "metrics", metrics);
	text = json_dumps(body, JSON_COMPACT);
	begin(r);
	append(r, "progress", 1, 1, 1, text);
	said = series_of(r);
	assert_int_equal(json_array_size(json_object_get(said, "metrics")), SERIES_METRICS);
	assert_true(json_is_true(json_object_get(said, "more")));
	free(text);
	json_decref(body);
	json_decref(said);
	close_record(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_become_columns),
		cmocka_unit_test(nothing_was_reported),
		cmocka_unit_test(many_reports_are_thinned),
		cmocka_unit_test(metrics_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
