#include "policy/elastic/optimus_tasks.h"

#include <math.h>

#include "support/property.h"

static struct task_job job_of(double steps, const double theta[SPEED_THETAS])
{
	struct task_job job = { .remaining = steps,
		.speed = { .kind = SPEED_SYNC, .batch = 100 },
		.server = { 1, 0, 0, 0 },
		.worker = { 1, 0, 0, 0 } };

	for (int i = 0; i < SPEED_THETAS; i++)
		job.speed.theta[i] = theta[i];
	return job;
}

static const double thetas[SPEED_THETAS] = { 0.01, 0.1, 0.2, 0, 0 };

static struct tasks one_job(double room)
{
	struct task_job job = job_of(100, thetas);
	double capacity[TASK_RESOURCES] = { room };
	struct arena arena = { 0 };
	struct tasks out;

	tasks_allocate(&job, 1, capacity, (struct task_rules){ .raw = true }, &arena, &out);
	arena_fini(&arena);
	return out;
}

/* Seconds that 100 steps take: the numbers of micro test b. */
static void seconds_and_gains(void **state)
{
	static const struct {
		uint32_t servers, workers;
		double s;
	} rows[] = { { 1, 1, 130 }, { 1, 2, 100 }, { 2, 1, 120 }, { 2, 2, 80 }, { 1, 3, 103.3 },
		{ 2, 3, 73.3 }, { 3, 2, 73.3 } };
	struct task_job job = job_of(100, thetas);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_float_equal(100 / speed_at(&job.speed, rows[i].servers, rows[i].workers),
			rows[i].s, 0.05);
	assert_float_equal(100 / speed_at(&job.speed, 2, 2) - 100 / speed_at(&job.speed, 3, 2),
		6.67, 0.005);
	assert_float_equal(speed_at(&job.speed, 3, 2), speed_at(&job.speed, 2, 3), 1e-12);
}

/* A worker saves 30 s and a server 10; then the server 20 and a worker nothing; then both 6.67. */
static void one_task_after_the_other(void **state)
{
	static const struct tasks steps[] = { { 1, 1 }, { 1, 2 }, { 2, 2 }, { 3, 2 } };

	(void)state;
	assert_int_equal(one_job(1).workers, 0);
	for (uint32_t i = 0; i < COUNT(steps); i++) {
		struct tasks got = one_job(2 + i);

		assert_int_equal(got.servers, steps[i].servers);
		assert_int_equal(got.workers, steps[i].workers);
	}
}

static void everybody_gets_one_of_each_first(void **state)
{
	struct task_job jobs[] = { job_of(1e9, thetas), job_of(1, thetas) };
	double capacity[TASK_RESOURCES] = { 4 };
	struct arena arena = { 0 };
	struct tasks out[2];

	(void)state;
	tasks_allocate(jobs, 2, capacity, (struct task_rules){ 0 }, &arena, out);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(out[i].servers, 1);
		assert_int_equal(out[i].workers, 1);
	}
	arena_fini(&arena);
}

static double used(const struct task_job *jobs, const struct tasks *out, uint32_t n, int resource)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += out[i].servers * jobs[i].server[resource] +
			out[i].workers * jobs[i].worker[resource];
	return sum;
}

static void never_more_than_there_is(void **state)
{
	struct rng rng = property("demands of two resources");
	struct arena arena = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(200); round++) {
		struct task_job jobs[6];
		struct tasks out[6];
		double capacity[TASK_RESOURCES] = { rng_between(&rng, 1, 40),
			rng_between(&rng, 1, 40) };

		for (int i = 0; i < 6; i++) {
			double theta[SPEED_THETAS];

			for (int k = 0; k < SPEED_THETAS; k++)
				theta[k] = rng_between(&rng, 0.001, 1);
			jobs[i] = job_of(rng_between(&rng, 1, 1000), theta);
			for (int k = 0; k < 2; k++) {
				jobs[i].server[k] = rng_between(&rng, 0.1, 3);
				jobs[i].worker[k] = rng_between(&rng, 0.1, 3);
			}
		}
		tasks_allocate(jobs, 6, capacity,
			(struct task_rules){ .raw = round % 2, .stop_at_misfit = round % 3 == 0 },
			&arena, out);
		for (int k = 0; k < 2; k++)
			assert_true(used(jobs, out, 6, k) <= capacity[k] * (1 + 1e-9));
		for (int i = 0; i < 6; i++)
			assert_true((out[i].servers == 0) == (out[i].workers == 0));
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

static void equal_jobs_get_nearly_the_same(void **state)
{
	struct task_job jobs[4];
	struct arena arena = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		jobs[i] = job_of(100, thetas);
	for (double room = 8; room < 40; room++) {
		double capacity[TASK_RESOURCES] = { room };
		struct tasks out[4];

		tasks_allocate(jobs, 4, capacity, (struct task_rules){ 0 }, &arena, out);
		for (int i = 1; i < 4; i++) {
			assert_true(fabs((double)out[i].servers - out[0].servers) <= 1);
			assert_true(fabs((double)out[i].workers - out[0].workers) <= 1);
		}
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

static void evenly_over_the_fewest(void **state)
{
	static const uint32_t room[] = { 3, 3, 3 }, uneven[] = { 8, 4, 4, 1 };

	(void)state;
	assert_int_equal(tasks_spread((struct tasks){ 2, 4 }, room, 3), 2);
	assert_int_equal(tasks_spread((struct tasks){ 1, 2 }, room, 3), 1);
	assert_int_equal(tasks_spread((struct tasks){ 4, 6 }, room, 3), 0);
	assert_int_equal(tasks_spread((struct tasks){ 0, 12 }, uneven, 4), 3);
	assert_int_equal(tasks_spread((struct tasks){ 0, 14 }, uneven, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_and_gains),
		cmocka_unit_test(one_task_after_the_other),
		cmocka_unit_test(everybody_gets_one_of_each_first),
		cmocka_unit_test(never_more_than_there_is),
		cmocka_unit_test(equal_jobs_get_nearly_the_same),
		cmocka_unit_test(evenly_over_the_fewest),
	};

	return cmocka_run_group_tests_name("policy/elastic/optimus_tasks", tests, NULL, NULL);
}
