/*
 * What a submission would change, on moments made by hand.
 */
#include "sim/dry_run.h"

#include "sim/moment.h"

static const double NOW_S = 1000;

static void try_out(struct moment *m, uint32_t nnew, struct dry_run *out)
{
	struct err err = { 0 };

	if (dry_run(&(struct dry_run_config){ .from = &m->s, .nnew = nnew, .habits = &m->habits, .futures = 10 },
		    out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(out->futures, 10);
}

static void open_moment(struct moment *m, const char *cluster, const char *policy)
{
	moment_init(m, cluster, policy, NOW_S);
	moment_all_known(m);
}

static void what_fits_starts_now_and_harms_nobody(void **state)
{
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x4:v100", "fifo");
	moment_runs(&m, 0x3, 3600, NOW_S - 10);
	moment_waits(&m, 2, 500);
	try_out(&m, 1, &r);
	assert_true(r.starts_now && r.start.p90 <= 1 && r.never == 0);
	assert_float_equal(r.finish.p50, 500, 1e-6);
	assert_float_equal(r.gpu_s, 1000, 1e-6);
	assert_int_equal(r.gpus, 2);
	assert_int_equal(r.nodes, 1);
	assert_int_equal(r.harms.n, 0);
	dry_run_fini(&r);
	moment_fini(&m);
}

static void in_a_row_nobody_earlier_is_delayed(void **state)
{
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x1:v100", "fifo");
	moment_runs(&m, 0x1, 600, NOW_S - 100);
	moment_waits(&m, 1, 2000);
	moment_waits(&m, 1, 100);
	moment_waits(&m, 1, 50);
	try_out(&m, 2, &r);
	assert_false(r.starts_now);
	assert_float_equal(r.start.p50, 2500, 1e-6);
	assert_float_equal(r.finish.p50, 2650, 1e-6);
	assert_int_equal(r.harms.n, 0);
	dry_run_fini(&r);
	moment_fini(&m);
}

/* The shortest first: the new one goes before the one that waits, which ends as much later as a future says. */
static void delays_are_the_difference_of_two_futures(void **state)
{
	const double with[] = { 600, 2000, 100 };
	struct future_job a[3], b[3];
	struct err err = { 0 };
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x1:v100", "sjf");
	moment_runs(&m, 0x1, 600, NOW_S - 100);
	moment_waits(&m, 1, 2000);
	moment_waits(&m, 1, 100);
	try_out(&m, 1, &r);
	assert_int_equal(future_run(&(struct future_config){ .from = &m.s, .work = with, .until_s = 1e6 },
				 a, &err),
		0);
	m.s.jobs.at[2].opens_s = INFINITY;
	assert_int_equal(future_run(&(struct future_config){ .from = &m.s, .work = with, .until_s = 1e6 },
				 b, &err),
		0);
	assert_int_equal(r.harms.n, 1);
	assert_int_equal(r.harms.at[0].number, 2);
	assert_float_equal(a[1].finish_s - b[1].finish_s, 100, 1e-6);
	assert_float_equal(r.harms.at[0].late.p10, 100, 1e-6);
	assert_float_equal(r.harms.at[0].late.p90, 100, 1e-6);
	assert_true(r.harms.at[0].stopped == 0);
	dry_run_fini(&r);
	moment_fini(&m);
}

static void the_least_important_is_stopped(void **state)
{
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x2:v100", "priority:preempt=1");
	moment_runs(&m, 0x1, 5000, NOW_S - 100)->job.priority = 3;
	moment_runs(&m, 0x2, 5000, NOW_S - 100)->job.priority = 1;
	moment_waits(&m, 1, 700)->job.priority = 9;
	try_out(&m, 1, &r);
	assert_true(r.starts_now);
	assert_int_equal(r.harms.n, 1);
	assert_int_equal(r.harms.at[0].number, 2);
	assert_true(r.harms.at[0].stopped == 1 && r.harms.at[0].late.p50 >= 700);
	dry_run_fini(&r);
	moment_fini(&m);
}

static void what_can_never_run_says_so(void **state)
{
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x2:v100", "easy");
	moment_runs(&m, 0x1, 600, NOW_S - 100);
	moment_waits(&m, 5, 100);
	try_out(&m, 1, &r);
	assert_true(r.never == 1 && !r.starts_now && r.gpus == 0 && r.gpu_s == 0);
	assert_true(isinf(r.start.p10) && isinf(r.finish.p10));
	assert_int_equal(r.harms.n, 0);
	dry_run_fini(&r);
	moment_fini(&m);
}

static void it_can_be_stopped(void **state)
{
	atomic_bool stop = true;
	struct err err = { 0 };
	struct dry_run r;
	struct moment m;

	(void)state;
	open_moment(&m, "1x2:v100", "fifo");
	moment_waits(&m, 1, 100);
	assert_int_equal(dry_run(&(struct dry_run_config){ .from = &m.s,
					 .nnew = 1,
					 .habits = &m.habits,
					 .stop = &stop },
				 &r, &err),
		ERR_TIMEOUT);
	dry_run_fini(&r);
	moment_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_starts_now_and_harms_nobody),
		cmocka_unit_test(in_a_row_nobody_earlier_is_delayed),
		cmocka_unit_test(delays_are_the_difference_of_two_futures),
		cmocka_unit_test(the_least_important_is_stopped),
		cmocka_unit_test(what_can_never_run_says_so),
		cmocka_unit_test(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
