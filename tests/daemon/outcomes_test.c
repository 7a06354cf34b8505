/*
 * What was said of jobs, what came, and what is left of it after a restart.
 */
#include "daemon/outcomes.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"

static char dir[] = "/tmp/stint-outcomes.XXXXXX";
static char *path;

static void say(struct outcomes *o, double at_s, const struct forecast_job *jobs, size_t n)
{
	struct forecast f = { .at_s = at_s };

	for (size_t i = 0; i < n; i++)
		vec_push(&f.jobs, jobs[i]);
	outcomes_take(o, &f);
	forecast_fini(&f);
}

static struct forecast_job waits(uint32_t number, double start_s)
{
	struct moments start = { start_s / 2, start_s, start_s * 2 };
	struct moments finish = { start_s, start_s + 100, start_s * 3 + 100 };

	return (struct forecast_job){
		.number = number,
		.waits = true,
		.start = start,
		.raw_start = start,
		.finish = finish,
		.raw_finish = finish,
		.plain_start_s = start_s + 50,
		.plain_finish_s = NAN,
	};
}

static struct forecast_job runs(uint32_t number)
{
	struct forecast_job job = waits(number, 100);

	job.waits = false;
	return job;
}

static void starts_and_ends_are_scored_once(void **state)
{
	struct outcomes o = { 0 };
	/* Not in order: those that run come first. */
	const struct forecast_job jobs[] = { runs(5), waits(2, 100), waits(3, 100) };

	(void)state;
	say(&o, 1000, jobs, 3);
	outcomes_started(&o, 2, 1100);
	outcomes_started(&o, 2, 1700); /* an attempt later */
	outcomes_started(&o, 5, 1100); /* it ran already */
	outcomes_started(&o, 77, 1100);
	assert_int_equal(o.start.n, 1);
	assert_true(o.start.at[0].covered && o.start.at[0].error_s == 0 && o.start.at[0].plain_s == 50);
	outcomes_ended(&o, 2, 1200);
	outcomes_ended(&o, 2, 9999);
	outcomes_ended(&o, 5, 9000);
	assert_int_equal(o.finish.n, 2);
	assert_true(o.finish.at[0].covered && !o.finish.at[1].covered);
	assert_int_equal(o.changes, 3);
	/* What was taken away tells nothing. */
	outcomes_drop(&o, 3);
	outcomes_ended(&o, 3, 1200);
	assert_int_equal(o.changes, 3);
	say(&o, 2000, NULL, 0);
	assert_int_equal(o.said.n, 0);
	outcomes_fini(&o);
}

static void the_first_word_counts(void **state)
{
	struct outcomes o = { 0 };
	struct forecast_job first = waits(1, 100), second = waits(1, 5000), never = waits(4, 100);

	(void)state;
	say(&o, 0, &first, 1);
	say(&o, 10, &second, 1);
	assert_int_equal(o.said.n, 1);
	outcomes_started(&o, 1, 100);
	assert_true(o.start.at[0].error_s == 0);
	/* One without a future is not spoken of, and what was said of it is void. */
	say(&o, 20, &never, 1);
	never.raw_start.p50 = INFINITY;
	say(&o, 30, &never, 1);
	outcomes_started(&o, 4, 120);
	assert_int_equal(o.start.n, 1);
	outcomes_fini(&o);
}

static void write_text(const char *text)
{
	struct err err = { 0 };

	if (file_write(path, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
}

static void what_came_is_kept(void **state)
{
	struct outcomes o = { 0 }, again = { 0 };
	struct buf text = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(outcomes_read(path, &again, &err), 0); /* there is none yet */
	for (int i = 0; i < CALIBRATION_MAX + 3; i++)
		calibration_add(&o.start, &(struct score){ i / 7.0, i, i % 2 ? NAN : i, i % 3 == 0 });
	calibration_add(&o.finish, &(struct score){ -1.5, 3, 4, true });
	outcomes_write(&o.start, &o.finish, &text);
	write_text(text.at);
	if (outcomes_read(path, &again, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(again.start.n, CALIBRATION_MAX);
	assert_int_equal(again.finish.n, 1);
	for (uint32_t i = 0; i < CALIBRATION_MAX; i++) {
		/* the oldest comes first in the file */
		const struct score *a = &o.start.at[(3 + i) % CALIBRATION_MAX],
				   *b = &again.start.at[i];

		assert_float_equal(a->place, b->place, 1e-9);
		assert_true(a->error_s == b->error_s && a->covered == b->covered);
		assert_true(isnan(a->plain_s) ? isnan(b->plain_s) : a->plain_s == b->plain_s);
	}
	buf_fini(&text);
}

static void what_is_broken_is_told(void **state)
{
	static const char *const broken[] = { "", "{", "[]", "7", "{\"schema\":\"forecasts/2\"}",
		"{\"schema\":7,\"start\":[[1,2,3,true]]}", "{\"start\":[]}" };

	(void)state;
	for (size_t i = 0; i < COUNT(broken); i++) {
		struct outcomes o = { 0 };
		struct err err = { 0 };

		write_text(broken[i]);
		if (outcomes_read(path, &o, &err) != ERR_FORMAT)
			fail_msg("read: %s", broken[i]);
		assert_non_null(strstr(err.text, "forecasts.json"));
		assert_int_equal(o.start.n + o.finish.n, 0);
	}
}

static void what_is_no_outcome_is_passed_over(void **state)
{
	struct outcomes o = { 0 };
	struct err err = { 0 };

	(void)state;
	write_text("{\"schema\":\"forecasts/1\",\"start\":[[1,2,3,true],[1,2],7,\"x\",[null,2,3,true],"
		   "{},[1,2,null,false],[1e300,2,3,true]],\"finish\":{\"a\":1}}");
	assert_int_equal(outcomes_read(path, &o, &err), 0);
	assert_int_equal(o.start.n, 3);
	assert_int_equal(o.finish.n, 0);
	assert_true(calibration_correction(&o.start).wider <= 5);
}

static int open_dir(void **state)
{
	(void)state;
	path = mem_printf("%s/forecasts.json", mkdtemp(dir));
	return 0;
}

static int close_dir(void **state)
{
	(void)state;
	unlink(path);
	free(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_and_ends_are_scored_once),
		cmocka_unit_test(the_first_word_counts),
		cmocka_unit_test(what_came_is_kept),
		cmocka_unit_test(what_is_broken_is_told),
		cmocka_unit_test(what_is_no_outcome_is_passed_over),
	};

	return cmocka_run_group_tests(tests, open_dir, close_dir);
}
