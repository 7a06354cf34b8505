/*
 * Several types under policies whose papers know one: nothing stays idle that
 * somebody could use, and nobody is worse off than under first come, first
 * served.
 */
#include <math.h>

#include "support/property.h"
#include "support/scene.h"

enum { JOBS = 8, DEVICES = 64 };

static const char *const policies_of_one_type[] = { "afs", "optimus", "lyra", "elasticflow" };

/* Devices that are held after the first decision. */
static void see_start(void *self, const struct event *event, const struct job *job)
{
	uint32_t *held = self;

	(void)job;
	if (event->kind == EV_START && event->at_s == 0)
		*held += event->grant->gpus;
}

static double mean_jct_s(const char *policy, double deadline_s, uint32_t *held)
{
	struct observer observer = { .self = held, .see = see_start };
	struct outcome out;
	struct scene s;
	double sum = 0;

	scene_init(&s, "2x8:a100,6x8:v100");
	for (int i = 0; i < JOBS; i++) {
		struct job *job = scene_job(&s, 0, 4, 3600);

		job->min_gpus = 1;
		job->max_gpus = 16;
		job->deadline_s = deadline_s;
	}
	s.config.policy = policy;
	s.config.observers = &observer;
	s.config.nobservers = 1;
	*held = 0;
	scene_run(&s, &out);
	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
		assert_true(out.jobs[i].finish_s <= deadline_s);
		sum += out.jobs[i].finish_s;
	}
	outcome_fini(&out);
	scene_fini(&s);
	return sum / JOBS;
}

static void all_types_are_used(void **state)
{
	static const double deadlines_s[] = { INFINITY, 9000 };
	uint32_t held;

	(void)state;
	for (size_t i = 0; i < COUNT(policies_of_one_type) * COUNT(deadlines_s); i++) {
		const char *policy = policies_of_one_type[i / COUNT(deadlines_s)];
		double deadline_s = deadlines_s[i % COUNT(deadlines_s)];
		double jct_s = mean_jct_s(policy, deadline_s, &held);

		if (held <= 0.9 * DEVICES)
			fail_msg("%s holds %u devices of %d", policy, held, DEVICES);
		if (jct_s > mean_jct_s("fifo", deadline_s, &held))
			fail_msg("%s needs %g s", policy, jct_s);
	}
}

static double makespan_s(const char *policy, const char *cluster, uint64_t seed)
{
	struct rng rng;
	struct outcome out;
	struct scene s;
	double last_s = 0;

	rng_init(&rng, seed, 0);
	scene_init(&s, cluster);
	scene_draw(&s, &rng, (struct draw){ 12, 100, 1000, 4 });
	for (uint32_t i = 0; i < s.trace.njobs; i++) {
		s.trace.jobs[i].min_gpus = 1;
		s.trace.jobs[i].max_gpus = 16;
	}
	s.config.policy = policy;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < s.trace.njobs; i++)
		last_s = fmax(last_s, out.jobs[i].finish_s);
	outcome_fini(&out);
	scene_fini(&s);
	return last_s;
}

/* A job has devices of one type only, so halves are worse than the whole; but they are both used. */
static void two_halves_are_about_the_whole(void **state)
{
	uint64_t first = property_seed();

	(void)state;
	for (uint64_t seed = first; seed < first + rounds(20); seed++) {
		for (size_t i = 0; i < COUNT(policies_of_one_type); i++) {
			const char *policy = policies_of_one_type[i];
			double halves_s = makespan_s(policy, "4x4:v100,4x4:a100", seed);
			double whole_s = makespan_s(policy, "8x4:v100", seed);

			if (halves_s > 1.5 * whole_s)
				fail_msg("%s, seed %llu: %g s against %g s", policy,
					(unsigned long long)seed, halves_s, whole_s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_types_are_used),
		cmocka_unit_test(two_halves_are_about_the_whole),
	};

	return cmocka_run_group_tests_name("policy/elastic/lanes", tests, NULL, NULL);
}
