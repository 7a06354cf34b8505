/*
 * Dominant resource fairness: what progressive filling leaves behind.
 */
#include <math.h>
#include <string.h>

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

/* ---- many small tasks, against progressive filling by hand and the properties of the paper */

enum { USERS = 3, TASKS = 40, DEVICES = 60, KINDS = 3 };

struct fill {
	double total[KINDS];        /* devices, CPUs, GiB */
	double needs[USERS][KINDS]; /* of one task */
	uint32_t tasks[USERS];      /* that run */
};

static void draw_fill(struct rng *rng, struct fill *f)
{
	*f = (struct fill){ .total = { DEVICES, 60 + (double)rng_below(rng, 60),
				    60 + (double)rng_below(rng, 60) } };
	for (uint32_t u = 0; u < USERS; u++) {
		f->needs[u][0] = 1;
		f->needs[u][1] = pick(rng, 6);
		f->needs[u][2] = pick(rng, 6);
	}
}

/* Of a task. */
static double dominant(const struct fill *f, uint32_t user)
{
	double most = 0;

	for (int k = 0; k < KINDS; k++)
		most = fmax(most, f->needs[user][k] / f->total[k]);
	return most;
}

/* Of all that run, with ties as they are in whole numbers. */
static double share_of(const struct fill *f, uint32_t user)
{
	double most = 0;

	for (int k = 0; k < KINDS; k++)
		most = fmax(most, f->tasks[user] * f->needs[user][k] / f->total[k]);
	return most;
}

static bool one_more_fits(const struct fill *f, uint32_t user)
{
	for (int k = 0; k < KINDS; k++) {
		double used = f->needs[user][k];

		for (uint32_t u = 0; u < USERS; u++)
			used += f->tasks[u] * f->needs[u][k];
		if (used > f->total[k])
			return false;
	}
	return true;
}

/* The least dominant share gets one task more while it fits; of equals the one whose next task came first. */
static void fill_by_hand(struct fill *f)
{
	bool done[USERS] = { 0 };

	for (;;) {
		uint32_t best = USERS;

		for (uint32_t u = 0; u < USERS; u++) {
			double own = share_of(f, u), least;

			if (done[u] || f->tasks[u] == TASKS)
				continue;
			least = best == USERS ? INFINITY : share_of(f, best);
			if (own < least || (own == least && f->tasks[u] < f->tasks[best]))
				best = u;
		}
		if (best == USERS)
			return;
		if (one_more_fits(f, best))
			f->tasks[best]++;
		else
			done[best] = true;
	}
}

static void fill_by_policy(struct fill *f)
{
	struct desk desk;

	desk_init(&desk, "1x60");
	desk.cluster.nodes[0].cpus = desk.plan.space.nodes[0].cpus = f->total[1];
	desk.cluster.nodes[0].mem_bytes = (int64_t)f->total[2] << 30;
	desk.plan.space.nodes[0].mem_bytes = desk.cluster.nodes[0].mem_bytes;
	desk.plan.space.models_cpus = desk.plan.space.models_memory = true;
	for (uint32_t i = 0; i < USERS * TASKS; i++) {
		struct job *job = desk_job(&desk, 0, 1, 100, 0);

		job->tenant = i % USERS;
		job->cpus = f->needs[job->tenant][1];
		job->mem_bytes = (int64_t)f->needs[job->tenant][2] << 30;
	}
	desk_decide(&desk, "drf", 0);
	memset(f->tasks, 0, sizeof(f->tasks));
	for (uint32_t i = 0; i < USERS * TASKS; i++)
		f->tasks[i % USERS] += desk_runs(&desk, i);
	desk_fini(&desk);
}

/* Tasks of `user` that could be made of what another allocation gives to `of`. */
static double tasks_in(const struct fill *truth, uint32_t user, const struct fill *given, uint32_t of)
{
	double tasks = INFINITY;

	for (int k = 0; k < KINDS; k++)
		tasks = fmin(tasks, given->tasks[of] * given->needs[of][k] / truth->needs[user][k]);
	return floor(tasks + 1e-9);
}

/*
 * Tasks are whole, so that each holds but for one of them.  When i is turned away, s_j <= s_i + one task of j;
 * what others get after that is less than a task of i of the resource it lacks.
 */
static void check_properties(const struct fill *f)
{
	double largest = 0;

	for (uint32_t u = 0; u < USERS; u++)
		largest = fmax(largest, dominant(f, u));
	for (uint32_t i = 0; i < USERS; i++) {
		double own = f->tasks[i] * dominant(f, i);

		if (f->tasks[i] == TASKS)
			continue;
		assert_false(one_more_fits(f, i));                /* Pareto efficiency */
		assert_true(own >= 1.0 / USERS - largest - 1e-9); /* sharing incentive */
		for (uint32_t j = 0; j < USERS; j++)              /* nobody envies anybody */
			assert_true(tasks_in(f, i, f, j) * dominant(f, i) <=
				own + dominant(f, j) + dominant(f, i) + 1e-9);
	}
}

/* Whoever asks for more than it needs gets no more done. */
static void check_that_lying_does_not_pay(const struct fill *truth, struct rng *rng)
{
	struct fill lie = *truth;
	double largest = 0;
	int kind = (int)pick(rng, 2);

	lie.needs[0][kind] += pick(rng, 4);
	fill_by_policy(&lie);
	for (uint32_t u = 0; u < USERS; u++)
		largest = fmax(largest, fmax(dominant(truth, u), dominant(&lie, u)));
	assert_true(tasks_in(truth, 0, &lie, 0) * dominant(truth, 0) <=
		truth->tasks[0] * dominant(truth, 0) + largest + dominant(truth, 0) + 1e-9);
}

static void progressive_filling_has_its_properties(void **state)
{
	struct rng rng = property("drf, many small tasks");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		struct fill by_hand, f;

		draw_fill(&rng, &f);
		by_hand = f;
		fill_by_hand(&by_hand);
		fill_by_policy(&f);
		for (uint32_t u = 0; u < USERS; u++)
			assert_int_equal(f.tasks[u], by_hand.tasks[u]);
		check_properties(&f);
		if (f.tasks[0] < TASKS)
			check_that_lying_does_not_pay(&f, &rng);
	}
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
	assert_int_equal(desk_reason(&desk, 1).why, WHY_SHARE);
	desk_fini(&desk);
}

/* ---- who is passed by is told by whom */

static void assert_passed(const struct desk *desk, uint32_t job, double share, uint32_t other,
	double against)
{
	struct reason r = desk_reason(desk, job);

	assert_int_equal(r.why, WHY_SHARE);
	assert_int_equal(r.other, other);
	assert_float_equal(r.share, share, 1e-9);
	assert_float_equal(r.against, against, 1e-9);
}

/* Two devices: the first tenant holds one, and the other goes to the second's job, which came last. */
static void who_is_passed_by_a_lower_tenant_is_told(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2:v100");
	desk_job(&desk, 0, 1, 100, 0)->tenant = 0;
	desk_job(&desk, 0, 1, 100, 0)->tenant = 0;
	desk_job(&desk, 1, 1, 100, 0)->tenant = 1;
	desk_run(&desk, 0, 0);
	desk_decide(&desk, "drf", 50);
	assert_string_equal(desk_who(&desk), "AC");
	assert_passed(&desk, 1, 2, 2, 1); /* both would be two of two; half is each one's part */
	desk_fini(&desk);

	/* By use: all 100 GPU-seconds so far are the first tenant's. */
	desk_init(&desk, "1x1:v100");
	desk_job(&desk, 0, 1, 200, 100)->tenant = 0;
	desk_job(&desk, 0, 1, 100, 0)->tenant = 0;
	desk_job(&desk, 1, 1, 100, 0)->tenant = 1;
	desk_decide(&desk, "fair-share", 100);
	assert_string_equal(desk_who(&desk), "C");
	assert_passed(&desk, 0, 2, 2, 0);
	assert_passed(&desk, 1, 2, 2, 0);
	desk_fini(&desk);
}

/* The one that runs came before, is of the same tenant, or has too little: it is no share that keeps them waiting. */
static void who_is_not_passed_by_keeps_the_plain_reason(void **state)
{
	static const char *const specs[] = { "drf", "fair-share" };

	(void)state;
	for (size_t i = 0; i < COUNT(specs); i++) {
		struct desk desk;

		desk_init(&desk, "1x4:v100");
		desk_job(&desk, 0, 4, 100, 50)->tenant = 1;
		desk_job(&desk, 0, 4, 100, 0)->tenant = 0;
		desk_run(&desk, 0, 0);
		desk_decide(&desk, specs[i], 50);
		assert_int_equal(desk_reason(&desk, 1).why, WHY_BUSY);
		desk_fini(&desk);

		desk_init(&desk, "1x4:v100");
		desk_job(&desk, 0, 3, 100, 50)->tenant = 0;
		desk_job(&desk, 0, 4, 100, 0)->tenant = 0;
		desk_job(&desk, 1, 1, 100, 0)->tenant = 1;
		desk_run(&desk, 0, 0);
		desk_decide(&desk, specs[i], 50);
		assert_string_equal(desk_who(&desk), "AC");
		assert_int_equal(desk_reason(&desk, 1).why, WHY_BUSY);
		desk_fini(&desk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_has_no_less_than_the_others_had_before_their_last),
		cmocka_unit_test(the_example_of_the_paper),
		cmocka_unit_test(progressive_filling_has_its_properties),
		cmocka_unit_test(what_is_not_modelled_is_not_counted),
		cmocka_unit_test(who_is_passed_by_a_lower_tenant_is_told),
		cmocka_unit_test(who_is_not_passed_by_keeps_the_plain_reason),
	};

	return cmocka_run_group_tests_name("policy/fair/drf", tests, NULL, NULL);
}
