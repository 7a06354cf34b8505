#include "policy/hetero/expect.h"

#include <math.h>

#include "solver/maxmin.h"
#include "support/desk.h"
#include "support/property.h"

enum { KINDS = 3 };

/* Jobs that come when a test says so. */
struct watch {
	struct desk desk;
	struct expect expect;
	struct round round;
	uint32_t news[64];
};

static void watch_init(struct watch *w, double memory_s)
{
	*w = (struct watch){ .expect = { .memory_s = memory_s } };
	desk_init(&w->desk, "1x4:k80,1x4:v100");
}

static void watch_fini(struct watch *w)
{
	expect_fini(&w->expect);
	desk_fini(&w->desk);
}

/* A job of one of the kinds arrives; to be seen at the next look. */
static struct job *arrive(struct watch *w, double now_s, uint32_t kind)
{
	struct job *job = desk_job(&w->desk, now_s, 1 + (int)kind % 2, 100 * (1 + (double)kind), 0);

	job->model = kind;
	job->weight = kind == 2 ? 2 : 1;
	w->news[w->round.nchanged++] = job->id;
	return job;
}

static void look(struct watch *w, double now_s)
{
	uint32_t news = w->round.nchanged;

	w->round = (struct round){
		.now_s = now_s,
		.cluster = &w->desk.cluster,
		.belief = &w->desk.belief,
		.jobs = w->desk.jobs.at,
		.njobs = (uint32_t)w->desk.jobs.n,
		.active = w->desk.ids.at,
		.nactive = (uint32_t)w->desk.ids.n,
		.changed = w->news,
		.nchanged = news,
		.scratch = &w->desk.scratch,
	};
	expect_see(&w->expect, &w->round);
	w->round.nchanged = 0;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
		fail_msg("%.12g, not %.12g", got, want);
}

static void who_was_there_first_says_nothing(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 1000);
	for (int i = 0; i < 20; i++)
		arrive(&w, 0, 0);
	look(&w, 0);
	assert_int_equal(w.expect.kinds.n, 0);
	/* Nor is a job news when it starts or stops. */
	w.news[0] = 3;
	w.round.nchanged = 1;
	look(&w, 10);
	assert_int_equal(w.expect.kinds.n, 0);
	watch_fini(&w);
}

static void who_is_held_back_comes_later(void **state)
{
	struct watch w;
	uint32_t id;

	(void)state;
	watch_init(&w, 1000);
	look(&w, 0);
	arrive(&w, 10, 0)->state = JOB_REJECTED;
	arrive(&w, 10, 0)->state = JOB_HELD;
	id = (uint32_t)w.desk.jobs.n - 1;
	look(&w, 10);
	assert_int_equal(w.expect.kinds.n, 0);
	w.desk.jobs.at[id].state = JOB_PENDING;
	w.news[w.round.nchanged++] = id;
	look(&w, 20);
	assert_int_equal(w.expect.kinds.n, 1);
	assert_true(w.expect.kinds.at[0].mass == 1);
	w.news[w.round.nchanged++] = id;
	look(&w, 30);
	assert_true(w.expect.kinds.at[0].mass == 1); /* once is enough */
	watch_fini(&w);
}

static void a_steady_stream_has_its_rate(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 5000);
	look(&w, 0);
	for (int i = 1; i <= 3000; i++) {
		double now_s = i * 10;

		arrive(&w, now_s, (uint32_t)i % 3 == 0 ? 1 : 0);
		look(&w, now_s);
	}
	assert_int_equal(w.expect.kinds.n, 2);
	assert_true(fabs(expect_rate(&w.expect, 0, 30000) - 2 / 30.0) < 1e-3 * 2 / 30.0 * 2);
	assert_true(fabs(expect_rate(&w.expect, 1, 30000) - 1 / 30.0) < 5e-3 * 1 / 30.0);
	/* When they stop coming it falls to a third or so in the time of the memory. */
	near(expect_rate(&w.expect, 0, 35000) / expect_rate(&w.expect, 0, 30000),
		exp(-1) * (1 - exp(-6)) / (1 - exp(-7)));
	watch_fini(&w);
}

static void rates_are_fair_from_the_start(void **state)
{
	struct rng rng = property("the mean of early rates is the true one");
	double sum = 0;
	size_t n = rounds(400);

	(void)state;
	for (size_t k = 0; k < n; k++) {
		struct watch w;

		watch_init(&w, 1000);
		look(&w, 0);
		for (double t = 1; t <= 300; t++) {
			if (rng_uniform(&rng) >= 0.1)
				continue;
			arrive(&w, t, 0);
			look(&w, t);
		}
		sum += w.expect.kinds.n ? expect_rate(&w.expect, 0, 300) : 0;
		watch_fini(&w);
	}
	assert_true(fabs(sum / (double)n - 0.1) < 0.005);
}

static void nothing_is_known_at_the_first_look(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 1000);
	look(&w, 50);
	arrive(&w, 50, 0);
	look(&w, 50);
	near(expect_rate(&w.expect, 0, 50), 0);
	watch_fini(&w);
}

static void present(void **state)
{
	static const struct {
		const char *what;
		double rate, stay_s, horizon_s, want;
	} rows[] = {
		{ "whoever comes stays to the end: half of them on average", 0.1, 1e9, 100, 5 },
		{ "just as long as the horizon", 0.1, 100, 100, 5 },
		{ "short ones: nearly Little's law", 0.1, 10, 1000, 0.995 },
		{ "no horizon", 0.1, 10, 0, 0 },
		{ "no work", 0.1, 0, 100, 0 },
		{ "none come", 0, 10, 100, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (fabs(expect_present(rows[i].rate, rows[i].stay_s, rows[i].horizon_s) -
			    rows[i].want) > 1e-12)
			fail_msg("%s", rows[i].what);
}

/* Some of each kind, and the program of now. */
static void busy_day(struct watch *w, struct program *p)
{
	watch_init(w, 1000);
	arrive(w, 0, 0);
	arrive(w, 0, 1);
	look(w, 0);
	for (uint32_t i = 0; i < 30; i++) {
		arrive(w, 10 * (i + 1), i % KINDS);
		look(w, 10 * (i + 1));
		w->desk.jobs.at[i].state = JOB_FINISHED;
	}
	program_init(p, &w->round, &w->desk.plan, false);
}

static void rows_follow_those_there_are(void **state)
{
	struct watch w;
	struct program p, longer;

	(void)state;
	busy_day(&w, &p);
	assert_int_equal(p.jobs, 2);
	expect_extend(&w.expect, &p, 3600, &longer);
	assert_int_equal(longer.jobs, 2 + KINDS);
	for (uint32_t i = 0; i < p.jobs; i++) {
		assert_int_equal(longer.id[i], p.id[i]);
		assert_true(longer.gang[i] == p.gang[i] && longer.left[i] == p.left[i]);
		assert_memory_equal(&longer.speed[i * p.types], &p.speed[i * p.types],
			sizeof(double) * p.types);
	}
	for (uint32_t i = 0; i < KINDS; i++) {
		const struct expect_kind *kind = &w.expect.kinds.at[i];
		double rate = expect_rate(&w.expect, i, w.round.now_s), work = 100 * (1 + kind->model);
		double jobs = expect_present(rate, work, 3600); /* speeds are nominal: 1 */

		assert_int_equal(longer.id[2 + i], JOB_NONE);
		near(longer.left[2 + i], work);
		near(longer.gang[2 + i], jobs * kind->gpus);
		near(longer.weight[2 + i], jobs * kind->weight);
		near(longer.speed[(2 + i) * longer.types], 1);
	}
	watch_fini(&w);
}

static void nobody_is_expected(void **state)
{
	struct watch w;
	struct program p, longer;

	(void)state;
	busy_day(&w, &p);
	expect_extend(&w.expect, &p, 0, &longer);
	assert_int_equal(longer.jobs, p.jobs);
	w.round.closed = true;
	expect_extend(&w.expect, &p, 3600, &longer);
	assert_int_equal(longer.jobs, p.jobs);
	watch_fini(&w);
}

/* The least level of two rows of which the second stands for m jobs. */
static double level_of_two(double m)
{
	double rate[] = { 2, 1, 1.0, 1.0 }, gang[] = { 1, m }, capacity[] = { 1, 1 }, x[4], prices[2];
	struct maxmin_answer answer = { .x = x, .prices = prices };
	struct maxmin maxmin = { .jobs = 2, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };

	assert_true(maxmin_solve(&maxmin, &answer));
	return answer.z;
}

static void one_row_stands_for_many(void **state)
{
	double rate[] = { 2, 1, 1, 1, 1, 1, 1, 1 }, gang[] = { 1, 1, 1, 1 }, capacity[] = { 1, 1 };
	double x[8], prices[2];
	struct maxmin_answer answer = { .x = x, .prices = prices };
	struct maxmin maxmin = { .jobs = 4, .types = 2, .rate = rate, .gang = gang, .capacity = capacity };

	(void)state;
	assert_true(maxmin_solve(&maxmin, &answer));
	assert_true(fabs(level_of_two(3) - answer.z) < 1e-6);
	assert_true(level_of_two(2.5) > answer.z); /* the fewer come, the more there is for all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_there_first_says_nothing),
		cmocka_unit_test(who_is_held_back_comes_later),
		cmocka_unit_test(a_steady_stream_has_its_rate),
		cmocka_unit_test(rates_are_fair_from_the_start),
		cmocka_unit_test(nothing_is_known_at_the_first_look),
		cmocka_unit_test(present),
		cmocka_unit_test(rows_follow_those_there_are),
		cmocka_unit_test(nobody_is_expected),
		cmocka_unit_test(one_row_stands_for_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
