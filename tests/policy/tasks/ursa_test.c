/*
 * Whose turn it is under srjf: what is left of a pipeline, also of its jobs that are still outside.
 */
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

enum { MOST = 6 };

/* Two jobs wait for the only device: A with 10 s, B with 12 s.  What follows is outside. */
struct follower {
	double work;
	uint32_t after[2]; /* 0: A, 1: B, 2 and more: a follower; ENDED: a job that has ended */
	uint32_t nafter;
};

#define ENDED 9

static char first_of(const struct follower *followers, uint32_t n)
{
	struct chosen_policy policy = scene_policy("ursa:order=srjf");
	struct later later[MOST] = { 0 };
	uint32_t after[MOST][2], active[2] = { 1, 2 };
	struct job jobs[MOST];
	struct err err = { 0 };
	struct round round;
	struct desk desk;
	char first;

	desk_init(&desk, "1x1");
	desk_job(&desk, 0, 1, 5, 0)->state = JOB_FINISHED;
	desk_job(&desk, 0, 1, 10, 0);
	desk_job(&desk, 0, 1, 12, 0);
	for (uint32_t i = 0; i < n; i++) {
		job_init(&jobs[i]);
		jobs[i].gpus = jobs[i].min_gpus = jobs[i].max_gpus = 1;
		jobs[i].work_est = followers[i].work;
		for (uint32_t k = 0; k < followers[i].nafter; k++)
			after[i][k] = followers[i].after[k] == ENDED ? 0 : followers[i].after[k] + 1;
		later[i] = (struct later){ &jobs[i], after[i], followers[i].nafter };
	}
	vec_grow_zero(&desk.job_state, policy.rule->job_state_size * desk.jobs.n);
	round = (struct round){
		.cluster = &desk.cluster,
		.belief = &desk.belief,
		.jobs = desk.jobs.at,
		.njobs = (uint32_t)desk.jobs.n,
		.active = active,
		.nactive = 2,
		.later = later,
		.nlater = n,
		.job_state = desk.job_state.at,
		.scratch = &desk.scratch,
		.rng = &desk.rng,
	};
	plan_begin(&desk.plan);
	assert_int_equal(policy.rule->decide(policy.state, &round, &desk.plan, &err), 0);
	assert_true(desk_runs(&desk, 1) != desk_runs(&desk, 2));
	first = desk_runs(&desk, 1) ? 'A' : 'B';
	scene_policy_fini(&policy);
	desk_fini(&desk);
	return first;
}

static void what_is_outside_counts_for_its_pipeline(void **state)
{
	static const struct {
		const char *what;
		struct follower followers[MOST];
		uint32_t n;
		char first;
	} rows[] = {
		{ "nobody follows: the shorter", { { 0, { 0 }, 0 } }, 0, 'A' },
		{ "what follows counts", { { 100, { 0 }, 1 } }, 1, 'B' },
		{ "and what follows that", { { 1, { 0 }, 1 }, { 100, { 2 }, 1 } }, 2, 'B' },
		{ "in whatever order they are told", { { 100, { 3 }, 1 }, { 1, { 0 }, 1 } }, 2, 'B' },
		{ "for the other it counts likewise", { { 1, { 1 }, 1 }, { 100, { 2 }, 1 } }, 2, 'A' },
		{ "what waits for nobody here is of no pipeline", { { 100, { ENDED }, 1 } }, 1, 'A' },
		{ "nor is what follows that", { { 100, { ENDED }, 1 }, { 100, { 2 }, 1 } }, 2, 'A' },
		{ "the first that is of one decides", { { 100, { ENDED, 0 }, 2 } }, 1, 'B' },
		{ "also behind one outside that is of none",
			{ { 1, { ENDED }, 1 }, { 100, { 2, 0 }, 2 } }, 2, 'B' },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (first_of(rows[i].followers, rows[i].n) != rows[i].first)
			fail_msg("%s", rows[i].what);
	}
}

/* r before x and y, and z behind y: x is of an earlier stage than z, though z is told first. */
static void stages_count_whatever_the_order_of_telling(void **state)
{
	static const double finish_s[] = { 20, 10, 15, 5 };
	struct scene s;
	struct outcome out;
	enum { Z, Y, X, R };

	(void)state;
	scene_init(&s, "1x1");
	for (int i = Z; i <= R; i++)
		scene_job(&s, 0, 1, 5);
	trace_add_dep(&s.trace, Z, Y);
	trace_add_dep(&s.trace, Y, R);
	trace_add_dep(&s.trace, X, R);
	s.config.policy = "ursa";
	scene_run(&s, &out);
	for (int i = Z; i <= R; i++)
		assert_float_equal(out.jobs[i].finish_s, finish_s[i], 1e-9);
	outcome_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_outside_counts_for_its_pipeline),
		cmocka_unit_test(stages_count_whatever_the_order_of_telling),
	};

	return cmocka_run_group_tests_name("policy/tasks/ursa", tests, NULL, NULL);
}
