/*
 * Dominant resource fairness: what progressive filling leaves behind.
 */
#include <math.h>

#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

enum { TENANTS = 4 };

struct tally {
	double held[TENANTS], waiting[TENANTS], weight[TENANTS];
};

static void draw(struct desk *desk, struct rng *rng, struct tally *t)
{
	*t = (struct tally){ 0 };
	for (uint32_t i = 0; i < TENANTS; i++)
		t->weight[i] = pick(rng, 3);
	for (uint32_t n = pick(rng, 40); n > 0; n--) {
		struct job *job = desk_job(desk, 0, 1, 100, 0);

		job->tenant = (uint32_t)rng_below(rng, TENANTS);
		job->weight = t->weight[job->tenant];
	}
}

static void count(const struct desk *desk, struct tally *t)
{
	for (uint32_t i = 0; i < desk->jobs.n; i++) {
		uint32_t tenant = desk->jobs.at[i].tenant;

		if (desk_runs(desk, i))
			t->held[tenant]++;
		else
			t->waiting[tenant]++;
	}
}

/* Whoever has a device got the last one when nobody that still waits had less. */
static void who_waits_has_no_less_than_the_others_had_before_their_last(void **state)
{
	struct rng rng = property("drf, devices alone");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		struct desk desk;
		struct tally t;

		desk_init(&desk, "3x4");
		draw(&desk, &rng, &t);
		desk_decide(&desk, i % 2 ? "drf" : "drf:preempt=1,round_s=1", 100);
		count(&desk, &t);
		for (uint32_t a = 0; a < TENANTS; a++) {
			for (uint32_t b = 0; b < TENANTS; b++) {
				if (t.waiting[a] > 0 && t.held[b] > 0)
					assert_true((t.held[b] - 1) / t.weight[b] <=
						t.held[a] / t.weight[a] + 1e-9);
			}
		}
		desk_fini(&desk);
	}
}

/* Three jobs of 1 CPU and 4 GiB against two of 3 CPUs and 1 GiB: both hold two thirds of what they want most. */
static void the_example_of_the_paper(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x9");
	desk.cluster.nodes[0].cpus = desk.plan.space.nodes[0].cpus = 9;
	desk.cluster.nodes[0].mem_bytes = desk.plan.space.nodes[0].mem_bytes = INT64_C(18) << 30;
	desk.plan.space.models_cpus = desk.plan.space.models_memory = true;
	for (uint32_t i = 0; i < 8; i++) {
		struct job *job = desk_job(&desk, 0, 1, 100, 0);

		job->tenant = i % 2;
		job->cpus = i % 2 ? 3 : 1;
		job->mem_bytes = INT64_C(1) << (i % 2 ? 30 : 32);
	}
	desk_decide(&desk, "drf", 0);
	assert_string_equal(desk_who(&desk), "ABCDE");
	desk_fini(&desk);
}

/* Memory that no node models is no resource. */
static void what_is_not_modelled_is_not_counted(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2");
	for (uint32_t i = 0; i < 4; i++) {
		struct job *job = desk_job(&desk, 0, 1, 100, 0);

		job->tenant = i / 2;
		job->mem_bytes = i / 2 ? 0 : INT64_C(1) << 50;
	}
	desk_decide(&desk, "drf", 0);
	assert_string_equal(desk_who(&desk), "AC");
	assert_int_equal(desk_reason(&desk, 1).why, WHY_BUSY);
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_has_no_less_than_the_others_had_before_their_last),
		cmocka_unit_test(the_example_of_the_paper),
		cmocka_unit_test(what_is_not_modelled_is_not_counted),
	};

	return cmocka_run_group_tests_name("policy/fair/drf", tests, NULL, NULL);
}
