/*
 * Forecasts of moments made by hand: exact where nothing is left to chance.
 */
#include "sim/forecast.h"

#include "policy/policy.h"
#include "sim/moment.h"

static const double NOW_S = 1000;

static void look_ahead(struct moment *m, struct forecast_config config, struct forecast *out)
{
	struct err err = { 0 };

	config.from = &m->s;
	config.habits = &m->habits;
	habits_settle(&m->habits);
	if (forecast_run(&config, out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(out->jobs.n, m->s.jobs.n);
}

static void assert_moment(const struct moments *m, double at_s)
{
	if (fabs(m->p10 - at_s) > 0.03 * at_s + 0.1 || fabs(m->p90 - at_s) > 0.03 * at_s + 0.1)
		fail_msg("%g, %g, %g instead of %g", m->p10, m->p50, m->p90, at_s);
}

/* Two that run until 1,500 and 3,500, one that needs all after them, and one behind it. */
static void fill(struct moment *m, const char *policy)
{
	moment_init(m, "1x4:v100", policy, NOW_S);
	moment_runs(m, 0x3, 600, 900);
	moment_runs(m, 0xc, 3000, 500);
	moment_waits(m, 4, 1000);
	moment_waits(m, 1, 100);
}

static void what_is_known_is_told(void **state)
{
	struct forecast f;
	struct moment m;

	(void)state;
	fill(&m, "fifo");
	moment_all_known(&m);
	look_ahead(&m, (struct forecast_config){ .futures = 20, .plain = true }, &f);
	assert_int_equal(f.futures, 20);
	assert_true(f.at_s == NOW_S);
	assert_false(f.jobs.at[0].waits);
	assert_moment(&f.jobs.at[0].finish, 500);
	assert_moment(&f.jobs.at[1].finish, 2500);
	assert_true(f.jobs.at[2].waits && f.jobs.at[3].waits);
	assert_moment(&f.jobs.at[2].start, 2500);
	assert_moment(&f.jobs.at[2].finish, 3500);
	assert_moment(&f.jobs.at[3].start, 3500);
	assert_moment(&f.jobs.at[3].finish, 3600);
	assert_float_equal(f.jobs.at[3].plain_start_s, 3500, 110);
	assert_true(f.jobs.at[3].never == 0);
	assert_ptr_equal(forecast_find(&f, 3), &f.jobs.at[2]);
	assert_null(forecast_find(&f, 9));
	forecast_fini(&f);
	moment_fini(&m);
}

/* Each of many moments against one exact future with the same work. */
static void a_known_forecast_is_a_future(void **state)
{
	static const char *const rules[] = { "fifo", "easy", "sjf" };
	struct rng rng = property("forecasts against futures");

	(void)state;
	for (size_t round = 0; round < rounds(15); round++) {
		double work[12];
		struct future_job exact[12];
		struct err err = { 0 };
		struct forecast f;
		struct moment m;

		moment_init(&m, "1x4:v100", rules[round % COUNT(rules)], NOW_S);
		moment_all_known(&m);
		for (int i = 0; i < 12; i++) {
			work[i] = 100 + (double)rng_below(&rng, 5000);
			if (i < 4)
				moment_runs(&m, 1ull << i, work[i], NOW_S - 50);
			else
				moment_waits(&m, 1, work[i]);
		}
		look_ahead(&m, (struct forecast_config){ .futures = 1 }, &f);
		if (future_run(&(struct future_config){ .from = &m.s, .work = work, .until_s = 1e9 },
			    exact, &err) < 0)
			fail_msg("%s", err.text);
		/* Under sjf who goes first may hang on the grain: the last end does not. */
		for (int i = 0; i < 8; i++)
			assert_float_equal(f.jobs.at[i].finish.p50, exact[i].finish_s - NOW_S,
				0.05 * (exact[i].finish_s - NOW_S) + 1);
		forecast_fini(&f);
		moment_fini(&m);
	}
}

static void who_cannot_start_never_does(void **state)
{
	static const uint32_t first[] = { 0 };
	struct forecast f;
	struct moment m;

	(void)state;
	moment_init(&m, "1x4:v100", "easy", NOW_S);
	moment_all_known(&m);
	moment_runs(&m, 0x1, 600, NOW_S - 100);
	moment_waits(&m, 8, 100);                     /* more than there are */
	moment_waits(&m, 1, 100)->opens_s = INFINITY; /* held */
	moment_waits(&m, 1, 100)->opens_s = NOW_S + 5000;
	moment_waits(&m, 1, 100);
	m.s.jobs.at[4].after = first;
	m.s.jobs.at[4].nafter = 1;
	look_ahead(&m, (struct forecast_config){ .futures = 20 }, &f);
	for (int i = 1; i < 3; i++) {
		assert_true(f.jobs.at[i].never == 1);
		assert_true(isinf(f.jobs.at[i].start.p10) && isinf(f.jobs.at[i].finish.p10));
	}
	assert_moment(&f.jobs.at[3].start, 5000);
	assert_moment(&f.jobs.at[4].start, 500);
	assert_true(f.jobs.at[3].never == 0 && f.jobs.at[4].never == 0);
	forecast_fini(&f);
	moment_fini(&m);
}

/* Estimates that say little, and others who come. */
static void fill_uncertain(struct moment *m, struct rng *rng, const char *policy)
{
	moment_init(m, "1x4:v100", policy, NOW_S);
	for (int i = 0; i < 100; i++)
		moment_past(m, "a", 10 * i, 1000, rng_lognormal(rng, 6.5, 1));
	for (int i = 0; i < 4; i++)
		moment_runs(m, 1ull << i, 1000, NOW_S - 100 * i);
	for (int i = 0; i < 10; i++)
		moment_waits(m, 1 << rng_below(rng, 3), 1000)->job.tenant = 0;
}

static void moments_are_in_order_and_the_same_for_a_seed(void **state)
{
	static const char *const rules[] = { "fifo", "easy", "srtf", "las", "priority" };
	struct rng rng = property("order and seeds");

	(void)state;
	for (size_t k = 0; k < COUNT(rules); k++) {
		struct correction wide = { 3 };
		struct forecast_config config = { .futures = 40, .start = &wide, .seed = 5 };
		struct forecast a, b, c;
		struct moment m;
		int differ = 0;

		fill_uncertain(&m, &rng, rules[k]);
		look_ahead(&m, config, &a);
		look_ahead(&m, config, &b);
		config.seed = 6;
		look_ahead(&m, config, &c);
		for (size_t i = 0; i < a.jobs.n; i++) {
			const struct forecast_job *job = &a.jobs.at[i];

			assert_true(job->finish.p10 <= job->finish.p50 &&
				job->finish.p50 <= job->finish.p90);
			assert_true(job->start.p10 <= job->start.p50 &&
				job->start.p50 <= job->start.p90);
			assert_true(job->raw_start.p10 <= job->raw_finish.p10);
			assert_true(!job->waits || job->start.p90 >= job->raw_start.p90);
			assert_memory_equal(job, &b.jobs.at[i], sizeof(*job));
			differ += job->finish.p50 != c.jobs.at[i].finish.p50;
		}
		assert_true(differ > 0);
		forecast_fini(&a);
		forecast_fini(&b);
		forecast_fini(&c);
		moment_fini(&m);
	}
}

static void spans_are_a_timetable(void **state)
{
	struct rng rng = property("spans");
	struct forecast f;
	struct moment m;
	uint32_t from_now = 0;

	(void)state;
	fill_uncertain(&m, &rng, "easy");
	look_ahead(&m, (struct forecast_config){ .futures = 30, .want_spans = true }, &f);
	assert_true(f.spans.n >= m.s.jobs.n);
	for (size_t i = 0; i < f.spans.n; i++) {
		const struct forecast_span *a = &f.spans.at[i];

		assert_true(a->node == 0 && a->devices && !(a->devices & ~0xfull));
		assert_true(a->from_s >= NOW_S && a->to_s > a->from_s && a->sure >= 0 && a->sure <= 1);
		assert_true(a->job < m.s.jobs.n);
		from_now += a->job < m.s.nrunning && a->from_s == NOW_S;
		for (size_t k = 0; k < i; k++) {
			const struct forecast_span *b = &f.spans.at[k];

			assert_false((a->devices & b->devices) && a->from_s < b->to_s &&
				b->from_s < a->to_s);
		}
	}
	assert_int_equal(from_now, m.s.nrunning);
	forecast_fini(&f);
	moment_fini(&m);
}

static void there_is_an_end_to_it(void **state)
{
	struct rng rng = property("budget");
	atomic_bool stop = true;
	struct err err = { 0 };
	struct forecast f;
	struct moment m;

	(void)state;
	fill(&m, "fifo");
	look_ahead(&m, (struct forecast_config){ .budget_s = 1e-9 }, &f);
	assert_int_equal(f.futures, FORECAST_LEAST); /* too small for a look at the clock within one */
	assert_int_equal(f.wanted, FORECAST_FUTURES);
	forecast_fini(&f);
	moment_fini(&m);
	fill_uncertain(&m, &rng, "fifo");
	look_ahead(&m, (struct forecast_config){ .futures = 5, .horizon_s = 10 }, &f);
	assert_true(f.jobs.at[f.jobs.n - 1].never == 1);
	forecast_fini(&f);
	assert_int_equal(
		forecast_run(&(struct forecast_config){ .from = &m.s, .habits = &m.habits, .stop = &stop },
			&f, &err),
		ERR_TIMEOUT);
	forecast_fini(&f);
	moment_fini(&m);
}

static void of_nobody_there_is_nothing_to_say(void **state)
{
	struct forecast f;
	struct moment m;

	(void)state;
	moment_init(&m, "1x4:v100", "fifo", NOW_S);
	look_ahead(&m, (struct forecast_config){ .futures = 3, .plain = true, .want_spans = true }, &f);
	assert_int_equal(f.jobs.n + f.spans.n, 0);
	forecast_fini(&f);
	moment_fini(&m);
}

/* Gangs that take turns end at about the same time as turns do: whatever is rounded, no end is before now. */
static void every_policy_looks_ahead(void **state)
{
	(void)state;
	for (size_t i = 0; policies[i]; i++) {
		struct err err = { 0 };
		struct forecast f;
		struct moment m;

		if (policies[i]->simulated_for || policies[i]->stand_in)
			continue;
		moment_init(&m, "1x4:v100", policies[i]->name, 33.83);
		moment_runs(&m, 0x3, 3600, 3);
		moment_runs(&m, 0xc, 3600, 3.5);
		moment_waits(&m, 2, 3600)->job.resume_cost_s = 1;
		moment_waits(&m, 4, 1800)->job.tenant = 1;
		habits_settle(&m.habits);
		if (forecast_run(&(struct forecast_config){ .from = &m.s,
					 .habits = &m.habits,
					 .futures = 20,
					 .plain = true },
			    &f, &err) < 0)
			fail_msg("%s: %s", policies[i]->name, err.text);
		for (size_t k = 0; k < f.jobs.n; k++) {
			if (f.jobs.at[k].never > 0)
				fail_msg("%s: job %u never starts", policies[i]->name,
					f.jobs.at[k].number);
		}
		forecast_fini(&f);
		moment_fini(&m);
	}
}

/* Nothing is preempted here, so that a job ends within its limit and its grace after it starts. */
static void no_forecast_outlasts_a_time_limit(void **state)
{
	static const char *const rules[] = { "fifo", "easy", "sjf", "priority" };
	struct rng rng = property("time limits in forecasts");
	struct correction wide = { 5 };

	(void)state;
	for (size_t k = 0; k < COUNT(rules); k++) {
		struct forecast_config config = { .futures = 40,
			.start = &wide,
			.finish = &wide,
			.plain = true,
			.seed = 5 };
		struct forecast f;
		struct moment m;

		fill_uncertain(&m, &rng, rules[k]);
		for (size_t i = 0; i < m.s.jobs.n; i++) {
			m.s.jobs.at[i].limit_s = 50 + 1000 * rng_uniform(&rng);
			m.s.jobs.at[i].grace_s = 30 * rng_uniform(&rng);
		}
		look_ahead(&m, config, &f);
		for (size_t i = 0; i < f.jobs.n; i++) {
			const struct forecast_job *job = &f.jobs.at[i];
			double limit_s = m.s.jobs.at[i].limit_s,
			       most_s = limit_s + m.s.jobs.at[i].grace_s;

			assert_true(job->raw_finish.p90 <= job->raw_start.p90 + limit_s + 0.1);
			assert_true(job->finish.p50 <= job->start.p50 + most_s + 0.1);
			assert_true(job->finish.p90 <= job->start.p90 + most_s + 0.1);
			assert_true(job->waits || job->plain_finish_s <= limit_s + 0.1);
		}
		forecast_fini(&f);
		moment_fini(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_told),
		cmocka_unit_test(a_known_forecast_is_a_future),
		cmocka_unit_test(who_cannot_start_never_does),
		cmocka_unit_test(moments_are_in_order_and_the_same_for_a_seed),
		cmocka_unit_test(no_forecast_outlasts_a_time_limit),
		cmocka_unit_test(spans_are_a_timetable),
		cmocka_unit_test(there_is_an_end_to_it),
		cmocka_unit_test(every_policy_looks_ahead),
		cmocka_unit_test(of_nobody_there_is_nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
