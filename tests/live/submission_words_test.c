/*
 * The words people use: arrays, dependencies, signals, moments, and fields by
 * name.
 */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "live/submission.h"
#include "support/property.h"

/* ---- arrays */

static void arrays(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
		uint32_t n, limit;
	} rows[] = {
		{ "0-9", "0-9", 10, 0 },
		{ "5", "5", 1, 0 },
		{ "0-9%2", "0-9%2", 10, 2 },
		{ "1,3,5-7", "1-5:2,6,7", 5, 0 },
		{ "0-8:2", "0-8:2", 5, 0 },
		{ "0-9:4", "0-8:4", 3, 0 },
		{ "7,1,1,4", "1-7:3", 3, 0 },
		{ "3,2,1", "1-3", 3, 0 },
		{ "1,2", "1,2", 2, 0 },
		{ "0-9999", "0-9999", 10000, 0 },
		{ "0-10000", NULL, 0, 0 },
		{ "0-2000000000", NULL, 0, 0 },
		{ "", NULL, 0, 0 },
		{ "1,", NULL, 0, 0 },
		{ ",1", NULL, 0, 0 },
		{ "9-0", NULL, 0, 0 },
		{ "-1", NULL, 0, 0 },
		{ "1-", NULL, 0, 0 },
		{ "0-8:0", NULL, 0, 0 },
		{ "0-8:", NULL, 0, 0 },
		{ "0-9%0", NULL, 0, 0 },
		{ "0-9%", NULL, 0, 0 },
		{ "a", NULL, 0, 0 },
		{ "99999999999", NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };
		struct buf text = { 0 };
		int rc;

		submission_init(&s);
		rc = submission_set_array(&s, rows[i].text, &err);
		assert_int_equal(rc, rows[i].want ? 0 : ERR_USAGE);
		if (rows[i].want) {
			assert_int_equal(s.narray, rows[i].n);
			assert_int_equal(s.array_limit, rows[i].limit);
			submission_array_text(&s, &text);
			assert_string_equal(text.at, rows[i].want);
		}
		buf_fini(&text);
		submission_fini(&s);
	}
}

static void any_array_reads_back(void **state)
{
	struct rng rng = property("an array's text gives the same indices");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		struct submission a, b;
		struct buf text = { 0 };
		struct err err = { 0 };
		size_t n = 1 + rng_below(&rng, 30);

		for (size_t i = 0; i < n; i++) {
			uint64_t from = rng_below(&rng, 60), step = 1 + rng_below(&rng, 5);

			buf_printf(&text, "%s%llu-%llu:%llu", i ? "," : "", (unsigned long long)from,
				(unsigned long long)(from + rng_below(&rng, 20)),
				(unsigned long long)step);
		}
		submission_init(&a);
		submission_init(&b);
		assert_int_equal(submission_set_array(&a, text.at, &err), 0);
		buf_clear(&text);
		submission_array_text(&a, &text);
		assert_int_equal(submission_set_array(&b, text.at, &err), 0);
		assert_int_equal(a.narray, b.narray);
		assert_memory_equal(a.array, b.array, a.narray * sizeof(*a.array));
		for (uint32_t i = 1; i < a.narray; i++)
			assert_true(a.array[i - 1] < a.array[i]);
		buf_fini(&text);
		submission_fini(&a);
		submission_fini(&b);
	}
}

/* ---- dependencies */

static void dependencies(void **state)
{
	struct submission s;
	struct err err = { 0 };

	(void)state;
	submission_init(&s);
	assert_int_equal(
		submission_set_dependency(&s, "afterok:7:8,afterany:9,afternotok:1,after:2", &err), 0);
	assert_int_equal(s.nafter, 5);
	assert_int_equal(s.after[1].job, 8);
	assert_int_equal(s.after[1].kind, AFTER_OK);
	assert_int_equal(s.after[2].kind, AFTER_ANY);
	assert_int_equal(s.after[3].kind, AFTER_NOT_OK);
	assert_int_equal(s.after[4].kind, AFTER_START);
	submission_fini(&s);
}

static void wrong_dependencies_say_what_is_right(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "is empty" },
		{ "afterok", "of which job?" },
		{ "afterok:", "of which job?" },
		{ "afterok:0", "'0' is no job's number" },
		{ "afterok:x", "'x' is no job's number" },
		{ "afterok:7_3", "name an element of an array by its own number" },
		{ "after:7+5", "a delay after the start is not supported" },
		{ "afterko:7", "did you mean afterok:7?" },
		{ "singleton", "'singleton' is not supported" },
		{ "7", "says not what to wait for" },
		{ "afterok:7?afterok:8", "separate them by commas" },
		{ "afterok:99999999999", "is no job's number" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };

		submission_init(&s);
		assert_int_equal(submission_set_dependency(&s, rows[i].text, &err), ERR_USAGE);
		if (!strstr(err.text, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, err.text);
		submission_fini(&s);
	}
}

/* ---- signals */

static void signals(void **state)
{
	static const struct {
		const char *text;
		int number;
		double grace_s;
	} rows[] = {
		{ "USR2@60", SIGUSR2, 60 },
		{ "SIGTERM", SIGTERM, 30 },
		{ "sigint", SIGINT, 30 },
		{ "10@30", SIGUSR1, 30 },
		{ "B:USR1@60", SIGUSR1, 60 },
		{ "R:TERM", SIGTERM, 30 },
		{ "TERM@2m", SIGTERM, 120 },
		{ "NOPE", 0, 0 },
		{ "USR1@", 0, 0 },
		{ "USR1@-5", 0, 0 },
		{ "0", 0, 0 },
		{ "99", 0, 0 },
		{ "", 0, 0 },
		{ "@60", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };
		int rc;

		submission_init(&s);
		rc = submission_set_signal(&s, rows[i].text, &err);
		assert_int_equal(rc, rows[i].number ? 0 : ERR_USAGE);
		if (rows[i].number) {
			assert_int_equal(s.stop_signal, rows[i].number);
			assert_true(s.grace_s == rows[i].grace_s);
		}
		submission_fini(&s);
	}
}

static void every_signal_has_its_name(void **state)
{
	(void)state;
	for (int i = 1; i < 65; i++)
		if (strcmp(signal_name(i), "?") != 0)
			assert_int_equal(signal_of_name(signal_name(i)), i);
	assert_string_equal(signal_name(0), "?");
	assert_string_equal(signal_name(-3), "?");
	assert_string_equal(signal_name(1000), "?");
}

/* ---- moments */

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

static void moments(void **state)
{
	static const double now_s = 1763366400; /* 2025-11-17 08:00:00 UTC */
	static const struct {
		const char *zone, *text;
		double want; /* NAN: refused */
	} rows[] = {
		{ "UTC0", "now", 1763366400 },
		{ "UTC0", "now+6h", 1763366400 + 21600 },
		{ "UTC0", "now+60", 1763366460 },
		{ "UTC0", "now + 1hour", 1763366400 + 3600 },
		{ "UTC0", "+90s", 1763366490 },
		{ "UTC0", "09:00", 1763366400 + 3600 },
		{ "UTC0", "9:00", 1763366400 + 3600 },
		{ "UTC0", "08:00", 1763366400 + 86400 },
		{ "UTC0", "07:59:59", 1763366400 + 86399 },
		{ "UTC0", "noon", 1763366400 + 14400 },
		{ "UTC0", "midnight", 1763366400 + 57600 },
		{ "UTC0", "tomorrow", 1763366400 + 86400 },
		{ "UTC0", "2025-11-17T09:00", 1763366400 + 3600 },
		{ "UTC0", "2025-11-17T09:00+01:00", 1763366400 },
		{ "UTC0", "1763366401", 1763366401 },
		{ "EST5", "2025-11-17T09:00", 1763366400 + 6 * 3600 },
		{ "EST5", "2025-11-17T09:00Z", 1763366400 + 3600 },
		{ "EST5", "04:00", 1763366400 + 3600 },
		{ "EST5", "02:00", 1763366400 + 23 * 3600 },
		{ "UTC0", "", NAN },
		{ "UTC0", "soon", NAN },
		{ "UTC0", "90", NAN },
		{ "UTC0", "25:00", NAN },
		{ "UTC0", "now-5", NAN },
		{ "UTC0", "2025-13-01", NAN },
		{ "UTC0", "now+1e300", NAN },
	};
	const char *before = getenv("TZ");
	char *kept = before ? mem_strdup(before) : NULL;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double at_s = -1;
		struct err err = { 0 };
		int rc;

		zone(rows[i].zone);
		rc = submission_moment(rows[i].text, now_s, &at_s, &err);
		if (rc != (isnan(rows[i].want) ? ERR_USAGE : 0) || (!rc && at_s != rows[i].want))
			fail_msg("%s in %s: %d, %.0f instead of %.0f %s", rows[i].text,
				rows[i].zone, rc, at_s, rows[i].want, err.text);
	}
	if (kept)
		zone(kept);
	free(kept);
}

/* ---- fields by name */

static void fields(void **state)
{
	static const struct {
		const char *name, *text, *says; /* NULL: it is fine */
	} rows[] = {
		{ "gpus", "4", NULL },
		{ "min-gpus", "1", NULL },
		{ "min_gpus", "1", NULL },
		{ "gpus", "-1", "gpus: '-1' is not understood" },
		{ "gpus", "two", "gpus: 'two' is not understood" },
		{ "time", "2h", NULL },
		{ "time", "1-12:00:00", NULL },
		{ "time", "UNLIMITED", NULL },
		{ "time", "0", NULL },
		{ "time", "60", "time: '60' of what? write 60s, 60m or 60h" },
		{ "time", "-2h", "time: '-2h'" },
		{ "mem", "64G", NULL },
		{ "mem", "auto", NULL },
		{ "mem", "auto:3", NULL },
		{ "mem", "auto:0", "auto, or auto:N" },
		{ "mem", "automatic", "mem: " },
		{ "mem", "4000", "mem: '4000' of what? write 4000G" },
		{ "gpu_mem", "lots", "gpu_mem: 'lots'" },
		{ "grace", "90", NULL },
		{ "grace", "5m", NULL },
		{ "hold", "", NULL },
		{ "hold", "false", NULL },
		{ "requeue", "maybe", "requeue: 'maybe'" },
		{ "share", "half", "share: 'half'" },
		{ "priority", "-5", NULL },
		{ "array", "x", "array: 'x' is no list" },
		{ "signal", "x", "signal: there is no signal 'x'" },
		{ "nodes", "1", NULL },
		{ "nodes", "2", "nodes: '2': a job runs on one machine" },
		{ "ntasks", "4", "ntasks: '4': a job is one command" },
		{ "partition", "gpu", NULL },
		{ "gpuz", "1", "did you mean gpus?" },
		{ "chdir", "", "chdir: " },
	};
	const struct submission_context context = { .now_s = 1.7e9, .cwd = "/w" };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };
		int rc;

		submission_init(&s);
		rc = submission_set(&s, rows[i].name, rows[i].text, &context, &err);
		if (rc != (rows[i].says ? ERR_USAGE : 0) || (rc && !strstr(err.text, rows[i].says)))
			fail_msg("%s %s: %d %s", rows[i].name, rows[i].text, rc, err.text);
		submission_fini(&s);
	}
}

static void fields_say_what_they_mean(void **state)
{
	const struct submission_context context = { .now_s = 1e9, .cwd = "/w" };
	static const char *const said[][2] = {
		{ "gpus", "4" },
		{ "min_gpus", "2" },
		{ "type", "a100" },
		{ "time", "1:30:00" },
		{ "mem", "2G" },
		{ "begin", "now+1h" },
		{ "signal", "USR1@60" },
		{ "grace", "2m" },
		{ "no_requeue", "" },
		{ "chdir", "sub" },
		{ "output", "o" },
		{ "error", "e" },
		{ "cpus_per_task", "8" },
	};
	struct submission s;
	struct err err = { 0 };

	(void)state;
	submission_init(&s);
	for (size_t i = 0; i < COUNT(said); i++)
		assert_int_equal(submission_set(&s, said[i][0], said[i][1], &context, &err), 0);
	assert_int_equal(s.gpus, 4);
	assert_int_equal(s.min_gpus, 2);
	assert_string_equal(s.types, "a100");
	assert_true(s.time_s == 5400 && s.mem_bytes == 2147483648 && s.begin_s == 1e9 + 3600);
	assert_true(s.stop_signal == SIGUSR1 && s.grace_s == 120 && !s.requeue && s.cpus == 8);
	assert_string_equal(s.cwd, "/w/sub");
	assert_string_equal(s.out, "o");
	assert_string_equal(s.err_out, "e");
	submission_fini(&s);
}

/* The later word wins, both ways. */
static void memory_is_said_or_learnt(void **state)
{
	const struct submission_context context = { .now_s = 1e9, .cwd = "/w" };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	submission_init(&s);
	assert_int_equal(s.mem_auto, 0);
	assert_int_equal(submission_set(&s, "mem", "2G", &context, &err), 0);
	assert_int_equal(submission_set(&s, "mem", "auto", &context, &err), 0);
	assert_true(s.mem_auto == 10 && s.mem_bytes == 0);
	assert_int_equal(submission_set(&s, "mem", "2G", &context, &err), 0);
	assert_true(s.mem_auto == 0 && s.mem_bytes == 2147483648);
	submission_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays),
		cmocka_unit_test(any_array_reads_back),
		cmocka_unit_test(dependencies),
		cmocka_unit_test(wrong_dependencies_say_what_is_right),
		cmocka_unit_test(signals),
		cmocka_unit_test(every_signal_has_its_name),
		cmocka_unit_test(moments),
		cmocka_unit_test(fields),
		cmocka_unit_test(fields_say_what_they_mean),
		cmocka_unit_test(memory_is_said_or_learnt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
