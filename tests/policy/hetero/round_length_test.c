#include "policy/hetero/round_length.h"

#include "support/desk.h"
#include "support/property.h"

static void lengths(void **state)
{
	static const struct {
		const char *what;
		struct round_stats stats;
		double want;
	} rows[] = {
		{ "nobody is there", { 0, 0, 0, 0 }, ROUND_LEAST_S },
		{ "moving costs nothing", { 48, 100, 0, 20000 }, ROUND_LEAST_S },
		{ "nobody has anything left to do", { 48, 100, 2, 0 }, ROUND_LEAST_S },
		{ "sqrt(2 * 1/2 * 30 * 20000 * 2 / 0.125) = 3098 is nearest to 3600",
			{ 48, 48, 30, 20000 }, 3600 },
		{ "sqrt(2 * 1/4 * 5 * 12000 * 4/3 / 0.125) = 566 is nearest to 480",
			{ 36, 12, 5, 12000 }, 480 },
		{ "nobody waits, types are changed in turn: sqrt(2 * 0.015 * 30 * 40000 / 0.125) = 537",
			{ 36, 0, 30, 40000 }, 480 },
		{ "short jobs, but not shorter than ten costs", { 36, 0, 90, 1 }, 960 },
		{ "all wait and nobody runs", { 0, 10, 30, 1e6 }, ROUND_MOST_S },
		{ "costs beyond all measure", { 36, 36, 1e9, 1e9 }, ROUND_MOST_S },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double got = round_length(&rows[i].stats);

		if (got != rows[i].want)
			fail_msg("%s: %g, not %g", rows[i].what, got, rows[i].want);
	}
}

/* What rounds of `length_s` cost a job, as the header has it. */
static double cost(const struct round_stats *s, double length_s)
{
	double crowd = (s->running + s->waiting) / s->running;

	return round_turnover(s) * s->resume_s * crowd * s->left_s / length_s + 0.125 * length_s / 2;
}

static void the_length_costs_least_of_its_neighbours(void **state)
{
	struct rng rng = property("twice or half the length is no better");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct round_stats s = { 1 + (double)rng_below(&rng, 100),
			(double)rng_below(&rng, 200), rng_uniform(&rng) * 10,
			1000 + rng_uniform(&rng) * 1e5 };
		double length_s = round_length(&s);

		assert_true(length_s >= ROUND_LEAST_S && length_s <= ROUND_MOST_S);
		if (length_s < ROUND_MOST_S)
			assert_true(cost(&s, length_s) <= cost(&s, length_s * 2) * (1 + 1e-9));
		/* Below the rest of the steps is the floor of ten costs. */
		if (length_s > ROUND_LEAST_S && length_s < ROUND_MOST_S && length_s / 2 > 20 * s.resume_s)
			assert_true(cost(&s, length_s) <= cost(&s, length_s / 2) * (1 + 1e-9));
	}
}

static void more_of_anything_is_never_shorter(void **state)
{
	struct rng rng = property("longer with costs, work and crowds");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct round_stats s = { 1 + (double)rng_below(&rng, 100),
			(double)rng_below(&rng, 200), rng_uniform(&rng) * 100,
			rng_uniform(&rng) * 1e5 };
		struct round_stats dearer = s, longer = s, fuller = s;

		dearer.resume_s *= 2;
		longer.left_s *= 2;
		fuller.waiting += 10;
		assert_true(round_length(&dearer) >= round_length(&s));
		assert_true(round_length(&longer) >= round_length(&s));
		assert_true(round_length(&fuller) >= round_length(&s));
	}
}

static void statistics_are_of_active_jobs(void **state)
{
	struct desk desk;
	struct round round;
	struct round_stats stats;

	(void)state;
	desk_init(&desk, "1x4:v100");
	desk_job(&desk, 0, 2, 1000, 0)->resume_cost_s = 30;
	desk_job(&desk, 0, 4, 500, 200)->resume_cost_s = 60;
	desk_job(&desk, 0, 1, 9000, 0)->state = JOB_FINISHED;
	desk_job(&desk, 0, 1, 100, 150)->resume_cost_s = 0; /* believed too short: nothing is left */
	desk_run(&desk, 0, 0);
	round = (struct round){
		.now_s = 100,
		.jobs = desk.jobs.at,
		.njobs = (uint32_t)desk.jobs.n,
		.active = desk.ids.at,
		.nactive = (uint32_t)desk.ids.n,
	};
	round_stats_of(&stats, &round);
	assert_true(stats.running == 2 && stats.waiting == 5);
	assert_true(stats.resume_s == 30);
	assert_true(stats.left_s == (900 + 300 + 0) / 3.0);
	assert_true(round_turnover(&stats) == 5 / 7.0);
	round.nactive = 0;
	round_stats_of(&stats, &round);
	assert_true(stats.running == 0 && stats.left_s == 0 && round_turnover(&stats) == 0);
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(the_length_costs_least_of_its_neighbours),
		cmocka_unit_test(more_of_anything_is_never_shorter),
		cmocka_unit_test(statistics_are_of_active_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
