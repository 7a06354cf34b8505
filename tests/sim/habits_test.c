/*
 * What ended jobs tell of others: how long they take, and who comes.
 */
#include "sim/habits.h"

#include "sim/moment.h"

static const double NOW_S = 1e6;

static void likely(const struct moment *m, const struct snapshot_job *one, double out[HABITS_LIKELY])
{
	struct rng rng;

	rng_init(&rng, property_seed(), RNG_TEST);
	habits_likely_work(&m->habits, &m->s, one, &rng, out);
}

static double mean(const double *values)
{
	double sum = 0;

	for (int i = 0; i < HABITS_LIKELY; i++)
		sum += values[i];
	return sum / HABITS_LIKELY;
}

/* ---- how long */

static void work_rises_and_is_never_less_than_done(void **state)
{
	struct rng rng = property("likely work");
	double out[HABITS_LIKELY];

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct moment m;
		uint32_t past = (uint32_t)rng_below(&rng, 3) * 60;

		moment_init(&m, "1x8:v100", "fifo", NOW_S);
		for (uint32_t i = 0; i < past; i++)
			moment_past(&m, rng_below(&rng, 2) ? "a" : NULL, (double)i,
				rng_lognormal(&rng, 8, 1), rng_lognormal(&rng, 8, 2));
		habits_settle(&m.habits);
		for (int i = 0; i < 8; i++) {
			double est_s = rng_lognormal(&rng, 8, 2);
			struct snapshot_job *one = moment_runs(&m, 1ull << i, est_s,
				NOW_S - 3 * est_s * rng_uniform(&rng));

			one->job.tenant = (uint32_t)rng_below(&rng, 2);
			one->known = 0.5 * (double)rng_below(&rng, 3);
			likely(&m, one, out);
			assert_true(out[0] >= job_done(&one->job, NOW_S) &&
				isfinite(out[HABITS_LIKELY - 1]));
			for (int k = 1; k < HABITS_LIKELY; k++)
				assert_true(out[k] >= out[k - 1]);
		}
		moment_fini(&m);
	}
}

static void good_estimates_are_believed(void **state)
{
	double out[HABITS_LIKELY];
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	moment_all_known(&m);
	likely(&m, moment_waits(&m, 1, 3333), out);
	assert_float_equal(out[0], 3333, 1e-6);
	assert_float_equal(out[HABITS_LIKELY - 1], 3333, 1e-6);
	moment_fini(&m);
}

/* A tenant's own estimates count the more, the more there are. */
static void each_tenant_errs_in_its_own_way(void **state)
{
	double a[HABITS_LIKELY], b[HABITS_LIKELY], other[HABITS_LIKELY];
	struct snapshot_job *one;
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	for (int i = 0; i < 300; i++) {
		moment_past(&m, "a", i, 1000, 100);
		moment_past(&m, "b", i, 1000, 2000);
	}
	habits_settle(&m.habits);
	one = moment_waits(&m, 1, 1000);
	likely(&m, one, other);
	one->job.tenant = 0;
	likely(&m, one, a);
	one->job.tenant = 1;
	likely(&m, one, b);
	assert_true(mean(a) < 400 && mean(b) > 1700);
	assert_true(mean(other) > 700 && mean(other) < 1400);
	moment_fini(&m);
}

/* Short ones took twice, long ones half of what was said. */
static void estimates_err_by_their_length(void **state)
{
	double out[HABITS_LIKELY];
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	for (int i = 0; i < 400; i++) {
		moment_past(&m, NULL, i, 100 + i % 7, 2.0 * (100 + i % 7));
		moment_past(&m, NULL, i, 50000 + i, 0.5 * (50000 + i));
	}
	habits_settle(&m.habits);
	likely(&m, moment_waits(&m, 1, 103), out);
	assert_float_equal(mean(out), 206, 5);
	likely(&m, moment_waits(&m, 1, 50100), out);
	assert_float_equal(mean(out), 25050, 500);
	moment_fini(&m);
}

static void nothing_said_is_as_others_ran(void **state)
{
	double out[HABITS_LIKELY];
	struct snapshot_job *one;
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	one = moment_waits(&m, 1, 3600);
	one->known = 0;
	habits_settle(&m.habits);
	likely(&m, one, out); /* an hour, roughly */
	assert_true(out[0] > 0 && out[HABITS_LIKELY / 2] > 600 && out[HABITS_LIKELY / 2] < 20000);
	for (int i = 0; i < 100; i++)
		moment_past(&m, NULL, i, 1, 500 + i);
	habits_settle(&m.habits);
	likely(&m, one, out);
	assert_true(out[0] >= 500 && out[HABITS_LIKELY - 1] < 600);
	/* a job that has outrun them all goes on for a while */
	one->job.done = 5000;
	likely(&m, one, out);
	assert_true(out[0] >= 5000 && mean(out) > 5500 && mean(out) < 10000);
	moment_fini(&m);
}

static void what_it_reports_counts_most(void **state)
{
	double out[HABITS_LIKELY];
	struct snapshot_job *one;
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	for (int i = 0; i < 100; i++)
		moment_past(&m, NULL, i, 1000, 10);
	habits_settle(&m.habits);
	one = moment_runs(&m, 1, 1000, NOW_S - 500);
	one->known = 1;
	likely(&m, one, out);
	assert_true(out[0] > 900 && out[HABITS_LIKELY - 1] < 1150);
	moment_fini(&m);
}

/* ---- who comes */

enum { MOST = 5000 };

static void nobody_comes_out_of_nothing(void **state)
{
	static struct future_arrival out[MOST];
	struct rng rng = property("no arrivals");
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	habits_settle(&m.habits);
	assert_int_equal(habits_draw_arrivals(&m.habits, &m.s, NOW_S + 1e6, &rng, out, MOST), 0);
	for (int i = 0; i < 9; i++)
		moment_past(&m, NULL, NOW_S - i, 1, 1);
	habits_settle(&m.habits);
	assert_int_equal(habits_draw_arrivals(&m.habits, &m.s, NOW_S + 1e6, &rng, out, MOST), 0);
	moment_fini(&m);
}

/* Ten at a time every 2,000 seconds, up to now. */
static void arrivals_are_like_the_past(void **state)
{
	static struct future_arrival out[MOST];
	struct rng rng = property("arrivals");
	double sum = 0, together = 0;

	(void)state;
	for (int spans = 0; spans < 2; spans++) {
		int bursts = spans ? 500 : 50; /* eleven days; one */
		struct moment m;

		moment_init(&m, "1x8:v100", "fifo", 2000.0 * bursts);
		for (int i = 0; i < bursts * 10; i++)
			moment_past(&m, i % 2 ? "a" : "b", i / 10 * 2000 + 1, 10, 10 + i % 10);
		habits_settle(&m.habits);
		sum = together = 0;
		for (int round = 0; round < 50; round++) {
			double until_s = m.s.now_s + 40000;
			uint32_t n = habits_draw_arrivals(&m.habits, &m.s, until_s, &rng, out, MOST);

			sum += n;
			for (uint32_t i = 0; i < n; i++) {
				assert_true(out[i].job.arrival_s >= m.s.now_s);
				assert_true(out[i].job.arrival_s <= until_s);
				assert_true(!i || out[i].job.arrival_s >= out[i - 1].job.arrival_s);
				assert_true(out[i].job.tenant < 2 && out[i].work >= 10);
				together += i && out[i].job.arrival_s - out[i - 1].job.arrival_s < 1;
			}
		}
		/* 200 in a stretch, nine of ten at the same time as the one before */
		if (sum / 50 < 150 || sum / 50 > 250)
			fail_msg("%g arrivals instead of 200", sum / 50);
		assert_true(together / sum > 0.85);
		assert_int_equal(
			habits_draw_arrivals(&m.habits, &m.s, m.s.now_s + 1e9, &rng, out, 17), 17);
		moment_fini(&m);
	}
}

static void the_oldest_are_forgotten(void **state)
{
	struct moment m;

	(void)state;
	moment_init(&m, "1x8:v100", "fifo", NOW_S);
	for (int i = 0; i < 2 * HABITS_MAX; i++) {
		moment_past(&m, "a", 2 * HABITS_MAX - i, 10, i);
		assert_true(m.habits.past.n < HABITS_MAX * 3 / 2);
	}
	habits_settle(&m.habits);
	assert_true(m.habits.past.n >= HABITS_MAX);
	for (size_t i = 0; i < m.habits.past.n; i++)
		assert_true(m.habits.past.at[i].work >= HABITS_MAX / 2.0);
	for (size_t i = 1; i < m.habits.past.n; i++)
		assert_true(m.habits.past.at[i].job.arrival_s >= m.habits.past.at[i - 1].job.arrival_s);
	moment_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_rises_and_is_never_less_than_done),
		cmocka_unit_test(good_estimates_are_believed),
		cmocka_unit_test(each_tenant_errs_in_its_own_way),
		cmocka_unit_test(estimates_err_by_their_length),
		cmocka_unit_test(nothing_said_is_as_others_ran),
		cmocka_unit_test(what_it_reports_counts_most),
		cmocka_unit_test(nobody_comes_out_of_nothing),
		cmocka_unit_test(arrivals_are_like_the_past),
		cmocka_unit_test(the_oldest_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
