/*
 * Taking back what is lent: who is stopped, for whom, and that nothing else changes.
 */
#include "placement/reclaim.h"

#include <math.h>

#include "placement/plan.h"
#include "support/planning.h"
#include "support/property.h"
#include "support/scene.h"

enum { JOBS = 8 };

static void setup(struct planning *p, const char *cluster)
{
	planning_init(p, cluster);
	for (uint32_t i = 0; i < JOBS; i++)
		p->jobs[i].class_ = JOB_OPPORTUNISTIC;
	planning_begin(p, "first-fit");
	p->plan.jobs = p->jobs;
	p->plan.reclaim = reclaim_by_class;
}

static bool run(struct planning *f, uint32_t job, int gpus, enum job_class class)
{
	f->jobs[job].gpus = f->jobs[job].min_gpus = f->jobs[job].max_gpus = gpus;
	f->jobs[job].class_ = class;
	return plan_run(&f->plan, &f->jobs[job], (struct want){ .type = TYPE_ANY });
}

static void only_who_is_in_the_way_is_stopped(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2");
	assert_true(run(&f, 0, 2, JOB_OPPORTUNISTIC));
	assert_true(run(&f, 1, 1, JOB_OPPORTUNISTIC));
	assert_true(run(&f, 2, 1, JOB_OPPORTUNISTIC));
	f.jobs[0].served_s = 1000;                /* has done most: it goes last */
	f.jobs[2].grant = plan_grant(&f.plan, 2); /* it really runs */
	assert_true(run(&f, 3, 1, JOB_GUARANTEED));
	assert_null(plan_grant(&f.plan, 2)); /* of equals whoever came last */
	assert_non_null(plan_grant(&f.plan, 1));
	assert_int_equal(f.plan.reasons.n, 1);
	assert_int_equal(f.plan.reasons.at[0].reason.why, WHY_RECLAIMED);
	assert_int_equal(f.plan.reasons.at[0].reason.other, 3);
	assert_true(run(&f, 4, 2, JOB_GUARANTEED));
	assert_null(plan_grant(&f.plan, 0)); /* a single node cannot be had otherwise */
	assert_non_null(plan_grant(&f.plan, 1));
	planning_fini(&f);
}

static void in_vain_nothing_changes(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2");
	assert_true(run(&f, 0, 3, JOB_GUARANTEED));
	assert_true(run(&f, 1, 1, JOB_OPPORTUNISTIC));
	assert_false(run(&f, 2, 2, JOB_GUARANTEED));    /* guaranteed jobs keep theirs */
	assert_false(run(&f, 3, 1, JOB_OPPORTUNISTIC)); /* equals do not stop each other */
	assert_non_null(plan_grant(&f.plan, 1));
	assert_int_equal(f.plan.reasons.n, 0);
	assert_int_equal(f.plan.space.held, 4);
	planning_fini(&f);
}

static void gently_it_waits(void **state)
{
	struct want want = { .type = TYPE_ANY, .gentle = true };
	struct planning f;

	(void)state;
	setup(&f, "1x2");
	assert_true(run(&f, 0, 2, JOB_OPPORTUNISTIC));
	f.jobs[1].class_ = JOB_GUARANTEED;
	assert_false(plan_run(&f.plan, &f.jobs[1], want));
	assert_non_null(plan_grant(&f.plan, 0));
	planning_fini(&f);
}

/* Whatever is asked for, the ledger and the grants of the plan say the same, and no guaranteed job loses anything. */
static void books_balance(void **state)
{
	struct rng rng;

	(void)state;
	for (uint32_t seed = 1; seed <= rounds(200); seed++) {
		struct planning f;

		setup(&f, "3x4:a,2x2:b");
		rng_init(&rng, seed, RNG_TEST);
		for (int step = 0; step < 60; step++) {
			uint32_t job = (uint32_t)rng_below(&rng, JOBS), held = 0;
			bool sure[JOBS];

			for (uint32_t i = 0; i < JOBS; i++)
				sure[i] = plan_grant(&f.plan, i) && f.jobs[i].class_ == JOB_GUARANTEED;
			if (plan_grant(&f.plan, job)) {
				plan_stop(&f.plan, &f.jobs[job]);
				sure[job] = false;
			} else {
				run(&f, job, 1 + (int)rng_below(&rng, 6),
					(enum job_class)rng_below(&rng, 2));
			}
			for (uint32_t i = 0; i < JOBS; i++) {
				const struct grant *grant = plan_grant(&f.plan, i);

				held += grant ? grant->gpus : 0;
				if (sure[i] && !grant)
					fail_msg("seed %u: job %u lost its devices", seed, i);
			}
			if (held != f.plan.space.held)
				fail_msg("seed %u: %u held, the ledger says %u", seed, held,
					f.plan.space.held);
		}
		planning_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_is_in_the_way_is_stopped),
		cmocka_unit_test(in_vain_nothing_changes),
		cmocka_unit_test(gently_it_waits),
		cmocka_unit_test(books_balance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
