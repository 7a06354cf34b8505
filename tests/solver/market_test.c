/*
 * The market for rounds: by hand, against the integer solver, and properties.
 */
#include "solver/market.h"

#include <math.h>

#include "support/property.h"

enum { JOBS = 6, FINE = 41 };

static const double coarse[] = { 0, 0.2, 0.4, 0.6, 0.8, 1 };

static struct market_job job_of(double gpus, double progress, double gain)
{
	return (struct market_job){
		.gpus = gpus,
		.progress = progress,
		.gain = gain,
		.left_s = (1 - progress) / gain * 120,
		.most_s = INFINITY,
		.weight = 1,
	};
}

static struct market market_of(const struct market_job *job, uint32_t jobs, uint32_t rounds, double gpus)
{
	return (struct market){ job, jobs, rounds, gpus, 120, 1e-3, coarse, COUNT(coarse) };
}

/* Pieces so short that the logarithm is nearly exact: 0.75 * 0.45 beats 0.5 * 0.65 and 1 * 0.25. */
static void one_round_each_has_the_largest_product(void **state)
{
	struct market_job job[] = { job_of(1, 0.5, 0.25), job_of(1, 0.25, 0.20) };
	struct market m = market_of(job, 2, 2, 1);
	struct arena arena = { 0 };
	struct market_answer a;
	double fine[FINE];

	(void)state;
	for (uint32_t i = 0; i < FINE; i++)
		fine[i] = i / (FINE - 1.0);
	m.bases = fine;
	m.nbases = FINE;
	m.k = 0;
	assert_true(market_solve(&m, &arena, &a));
	assert_int_equal(a.count[0], 1);
	assert_int_equal(a.count[1], 1);
	assert_float_equal(a.value, log(0.3375) / 4, 1e-3);
	arena_fini(&arena);
}

static void late_jobs_come_early(void **state)
{
	struct market_job job[] = { job_of(1, 0, 0.1), job_of(1, 0, 0.1) };
	struct market m = market_of(job, 2, 2, 1);
	const uint32_t count[] = { 1, 1 };
	const double weight[] = { 1, 4 }, alike[] = { 1, 1 };
	struct arena arena = { 0 };
	bool in[4];

	(void)state;
	assert_int_equal(market_place(&m, count, weight, &arena, in), 0);
	assert_true(in[1] && in[2] && !in[0] && !in[3]); /* B in round 0, A in round 1 */
	assert_int_equal(market_place(&m, count, alike, &arena, in), 0);
	assert_true(in[0] && in[3]);
	arena_fini(&arena);
}

static void a_job_alone_has_every_round(void **state)
{
	struct market_job job[] = { job_of(2, 0.1, 0.01) };
	struct market m = market_of(job, 1, 20, 4);
	struct arena arena = { 0 };
	struct market_answer a;

	(void)state;
	assert_true(market_solve(&m, &arena, &a));
	assert_int_equal(a.count[0], 20);
	arena_fini(&arena);
}

static void equals_have_equal_rounds(void **state)
{
	struct market_job job[] = { job_of(1, 0, 0.01), job_of(1, 0, 0.01), job_of(1, 0, 0.01) };
	struct market m = market_of(job, 3, 20, 2);
	struct arena arena = { 0 };
	struct market_answer a;

	(void)state;
	assert_true(market_solve(&m, &arena, &a));
	for (uint32_t i = 0; i < 3; i++)
		assert_true(a.count[i] >= 13 && a.count[i] <= 14);
	arena_fini(&arena);
}

static void more_than_there_is_cannot_be_had(void **state)
{
	struct market_job job[] = { job_of(1, 0, 0.01), job_of(1, 0, 0.01) };
	struct market m = market_of(job, 2, 4, 1);
	struct arena arena = { 0 };
	struct market_answer a;

	(void)state;
	job[0].least = 3;
	job[1].least = 1;
	assert_true(market_solve(&m, &arena, &a));
	assert_int_equal(a.count[0], 3);
	job[1].least = 2;
	assert_false(market_solve(&m, &arena, &a));
	arena_fini(&arena);
}

/* ---- drawn ones */

struct drawn {
	struct market_job job[JOBS];
	struct market m;
};

static void draw(struct rng *rng, struct drawn *d, uint32_t jobs, uint32_t rounds_)
{
	for (uint32_t i = 0; i < jobs; i++) {
		d->job[i] = job_of(1 + (double)rng_below(rng, 2), rng_uniform(rng) * 0.9,
			0.02 + 0.3 * rng_uniform(rng));
		d->job[i].most_s = d->job[i].left_s;
		d->job[i].left_s *= 0.5 + rng_uniform(rng);
		d->job[i].weight = rng_below(rng, 3) ? 1 : 1 + 9 * rng_uniform(rng);
		d->job[i].least = rng_below(rng, 4) == 0;
	}
	d->m = market_of(d->job, jobs, rounds_, 4);
	d->m.k = rng_below(rng, 2) ? 1e-3 : 1e-5;
}

static double devices_of(const struct market *m, const uint32_t *count)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->jobs; i++)
		sum += count[i] * m->job[i].gpus;
	return sum;
}

/* Rounds that found a place. */
static void place(const struct market *m, struct arena *arena, const struct market_answer *a,
	uint32_t placed[JOBS])
{
	bool *in = arena_array(arena, bool, (size_t)m->jobs * m->rounds);
	double weight[JOBS];

	for (uint32_t i = 0; i < m->jobs; i++) {
		weight[i] = m->job[i].weight;
		placed[i] = 0;
	}
	market_place(m, a->count, weight, arena, in);
	for (uint32_t i = 0; i < m->jobs * m->rounds; i++)
		placed[i % m->jobs] += in[i];
}

/* What was placed is never better than the integer solver's, on average near it; the bound holds for that, too. */
static void agrees_with_the_integer_solver(void **state)
{
	struct rng rng = property("the market against CBC");
	double sum = 0;
	uint32_t compared = 0;

	(void)state;
	for (size_t n = 0; n < rounds(25); n++) {
		struct market_answer fast, exact;
		struct arena arena = { 0 };
		uint32_t placed[JOBS];
		struct drawn d;

		draw(&rng, &d, 2 + (uint32_t)rng_below(&rng, 3), 2 + (uint32_t)rng_below(&rng, 2));
		for (uint32_t i = 0; i < d.m.jobs; i++)
			d.job[i].least = 0; /* gangs that do not go together are not told apart by it */
		assert_true(market_solve(&d.m, &arena, &fast));
		assert_true(market_exact(&d.m, &arena, &exact));
		place(&d.m, &arena, &fast, placed);
		assert_true(market_value(&d.m, placed) <= exact.value + 1e-6);
		assert_true(exact.value <= fast.bound + 1e-6);
		sum += (exact.value - market_value(&d.m, placed)) / fabs(exact.value);
		compared++;
		arena_fini(&arena);
	}
	printf("mean difference %.4f of the value, of a handful of devices\n", sum / compared);
	assert_true(sum / compared < 0.1);
}

static void plans_fit(void **state)
{
	struct rng rng = property("plans fit in their rounds");

	(void)state;
	for (size_t n = 0; n < rounds(300); n++) {
		struct market_answer a;
		struct arena arena = { 0 };
		struct drawn d;
		double weight[JOBS];
		uint32_t unplaced;
		bool *in;

		draw(&rng, &d, 1 + (uint32_t)rng_below(&rng, JOBS), 1 + (uint32_t)rng_below(&rng, 10));
		if (market_solve(&d.m, &arena, &a)) {
			assert_true(devices_of(&d.m, a.count) <= d.m.gpus * d.m.rounds);
			assert_true(a.value <= a.bound + 1e-9);
			in = arena_array(&arena, bool, (size_t)d.m.jobs *d.m.rounds);
			for (uint32_t i = 0; i < d.m.jobs; i++)
				weight[i] = d.job[i].weight;
			unplaced = market_place(&d.m, a.count, weight, &arena, in);
			for (uint32_t i = 0; i < d.m.jobs; i++)
				unplaced -= a.count[i];
			for (uint32_t t = 0; t < d.m.rounds; t++) {
				double used = 0;

				for (uint32_t i = 0; i < d.m.jobs; i++) {
					used += in[t * d.m.jobs + i] ? d.job[i].gpus : 0;
					unplaced += in[t * d.m.jobs + i];
				}
				assert_true(used <= d.m.gpus);
			}
			assert_int_equal(unplaced, 0); /* every round is placed or left out, once */
		}
		arena_fini(&arena);
	}
}

/* Without the guard nothing is worse, weights being equal. */
static void dropping_the_guard_never_hurts(void **state)
{
	struct rng rng = property("the guard costs");

	(void)state;
	for (size_t n = 0; n < rounds(200); n++) {
		struct market_answer with, without;
		struct arena arena = { 0 };
		struct drawn d;

		draw(&rng, &d, 1 + (uint32_t)rng_below(&rng, JOBS), 1 + (uint32_t)rng_below(&rng, 10));
		if (market_solve(&d.m, &arena, &with)) {
			for (uint32_t i = 0; i < d.m.jobs; i++)
				d.job[i].least = 0;
			assert_true(market_solve(&d.m, &arena, &without));
			assert_true(without.bound >= with.value - 1e-9);
		}
		arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_round_each_has_the_largest_product),
		cmocka_unit_test(late_jobs_come_early),
		cmocka_unit_test(a_job_alone_has_every_round),
		cmocka_unit_test(equals_have_equal_rounds),
		cmocka_unit_test(more_than_there_is_cannot_be_had),
		cmocka_unit_test(agrees_with_the_integer_solver),
		cmocka_unit_test(plans_fit),
		cmocka_unit_test(dropping_the_guard_never_hurts),
	};

	return cmocka_run_group_tests_name("solver/market", tests, NULL, NULL);
}
