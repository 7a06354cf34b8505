/*
 * Gandiva: who is packed with whom, and what that is worth.
 */
#include <string.h>

#include "policy/hetero/program.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

/* Jobs of models a, b, … on a desk that knows their speeds. */
struct bench {
	struct desk desk;
	struct names models;
	struct profile *profile;
};

static void bench_init(struct bench *b, const char *cluster, uint32_t models)
{
	desk_init(&b->desk, cluster);
	b->models = (struct names){ 0 };
	for (uint32_t i = 0; i < models; i++)
		names_add(&b->models, (char[]){ (char)('a' + i), 0 }, 1);
	b->profile = profile_create(&b->desk.cluster, &b->models);
	b->desk.belief.profile = b->profile;
}

static void bench_fini(struct bench *b)
{
	desk_fini(&b->desk);
	profile_destroy(b->profile);
	names_fini(&b->models);
}

static struct job *bench_job(struct bench *b, int gpus, uint32_t model)
{
	struct job *job = desk_job(&b->desk, 0, gpus, 1000, 0);

	job->model = model;
	job->by_steps = true;
	return job;
}

/* Speeds of both alone are 1 on the type; beside each other as given. */
static void together(struct bench *b, uint32_t type, double x, double y)
{
	profile_add(b->profile, 0, type, 1, 1, 1);
	profile_add(b->profile, 1, type, 1, 1, 1);
	profile_add_pair(b->profile, type, 1, 0, x, 1, y);
}

/* The shares that the policy would choose now. */
static void show(struct bench *b, struct chosen_policy *policy, struct program *program,
	struct shares *shares)
{
	struct desk *d = &b->desk;
	struct err err = { 0 };
	/* Programs keep it. */
	struct round *round = arena_new(&d->scratch, struct round);

	*round = (struct round){
		.now_s = 1000,
		.cluster = &d->cluster,
		.belief = &d->belief,
		.jobs = d->jobs.at,
		.njobs = (uint32_t)d->jobs.n,
		.active = d->ids.at,
		.nactive = (uint32_t)d->ids.n,
		.scratch = &d->scratch,
		.rng = &d->rng,
	};
	if (policy->rule->shares(policy->state, round, &d->plan, program, shares, &err) < 0)
		fail_msg("%s", err.text);
}

/* c. 0.6 + 0.5 is worth it, 0.5 + 0.4 is not, and just as much is not either. */
static void a_pair_stays_if_it_beats_taking_turns(void **state)
{
	static const struct {
		double a, b, pair_x, x;
	} rows[] = { { 0.6, 0.5, 1, 0 }, { 0.5, 0.4, 0, 0.5 }, { 0.5, 0.5, 0, 0.5 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct chosen_policy policy = scene_policy("gandiva:mode=random-pairs");
		struct program p;
		struct shares s;
		struct bench b;

		bench_init(&b, "1x1", 2);
		together(&b, 0, rows[i].a, rows[i].b);
		bench_job(&b, 1, 0);
		bench_job(&b, 1, 1);
		show(&b, &policy, &p, &s);
		assert_int_equal(p.pairs, 1);
		assert_true(s.pair_x[0] == rows[i].pair_x);
		assert_true(s.x[0] == rows[i].x && s.x[1] == rows[i].x);
		bench_fini(&b);
		scene_policy_fini(&policy);
	}
}

static void where_sharing_does_not_pay_the_pair_takes_turns(void **state)
{
	struct chosen_policy policy = scene_policy("gandiva:mode=random-pairs");
	struct program p;
	struct shares s;
	struct bench b;

	(void)state;
	bench_init(&b, "1x2:aa,1x2:bb", 3);
	together(&b, 0, 0.7, 0.7);
	together(&b, 1, 0.3, 0.3);
	bench_job(&b, 1, 0);
	bench_job(&b, 1, 1);
	for (uint32_t i = 0; i < 2; i++) { /* these gain nothing by sharing */
		profile_add(b.profile, 2, i, 2, 1, 1);
		bench_job(&b, 2, 2);
	}
	show(&b, &policy, &p, &s);
	assert_int_equal(p.pairs, 2);
	assert_true(s.pair_x[0] == 0.5 && s.pair_x[1] == 0);
	assert_true(s.x[0] == 0 && s.x[1] == 0.25 && s.x[2] == 0 && s.x[3] == 0.25);
	bench_fini(&b);
	scene_policy_fini(&policy);
}

static void no_more_are_paired_than_have_to(void **state)
{
	struct chosen_policy policy = scene_policy("gandiva:mode=random-pairs");
	double pairs = 0, alone = 0;
	struct program p;
	struct shares s;
	struct bench b;

	(void)state;
	bench_init(&b, "1x4", 1);
	profile_add(b.profile, 0, 0, 1, 1, 1);
	profile_add_pair(b.profile, 0, 1, 0, 0.6, 0, 0.6);
	for (uint32_t i = 0; i < 6; i++)
		bench_job(&b, 1, 0);
	show(&b, &policy, &p, &s);
	for (uint32_t i = 0; i < p.pairs; i++)
		pairs += s.pair_x[i];
	for (uint32_t i = 0; i < p.jobs; i++)
		alone += s.x[i];
	assert_true(pairs == 2 && alone == 2);
	bench_fini(&b);
	scene_policy_fini(&policy);
}

static void jobs_that_fit_run_alone_on_the_fastest_type_with_room(void **state)
{
	struct chosen_policy policy = scene_policy("gandiva:mode=random-pairs");
	struct program p;
	struct shares s;
	struct bench b;

	(void)state;
	bench_init(&b, "1x1:aa,1x1:bb", 2);
	for (uint32_t model = 0; model < 2; model++) {
		profile_add(b.profile, model, 0, 1, 1, 1);
		profile_add(b.profile, model, 1, 1, 1, 2);
		bench_job(&b, 1, model);
	}
	show(&b, &policy, &p, &s);
	assert_true(s.x[0] == 0 && s.x[1] == 1 && s.x[2] == 1 && s.x[3] == 0);
	assert_true(s.pair_x[0] == 0 && s.pair_x[1] == 0);
	bench_fini(&b);
	scene_policy_fini(&policy);
}

/* The first computation of the published simulator on a trace of its own, with seed 0. */
static void the_published_draws_are_followed(void **state)
{
	static const int gangs[] = { 4, 2, 1, 1, 4, 1, 4, 4, 2, 2, 1, 4, 1, 2, 2, 4, 4, 2, 4, 1, 1,
		2, 1, 1, 2, 4, 1, 1, 4, 1, 2, 1, 1, 1, 1, 1 };
	static const struct program_pair want[] = { { 3, 10 }, { 9, 30 }, { 12, 20 }, { 22, 27 },
		{ 31, 32 } };
	struct chosen_policy policy = scene_policy("gandiva:compat=gavel");
	struct program p;
	struct shares s;
	struct bench b;
	uint32_t n = 0;

	(void)state;
	bench_init(&b, "8x1:v100,16x1:p100,24x1:k80", 1);
	for (size_t i = 0; i < COUNT(gangs); i++)
		bench_job(&b, gangs[i], 0);
	show(&b, &policy, &p, &s);
	for (uint32_t i = 0; i < p.pairs; i++) {
		if (s.pair_x[i * 3] == 0)
			continue;
		assert_true(n < COUNT(want));
		assert_int_equal(p.pair[i].a, want[n].a);
		assert_int_equal(p.pair[i].b, want[n].b);
		n++;
	}
	assert_int_equal(n, COUNT(want));
	bench_fini(&b);
	scene_policy_fini(&policy);
}

static void looking_changes_nothing(void **state)
{
	struct chosen_policy policy = scene_policy("gandiva:mode=random-pairs");
	struct program p;
	struct shares first, second;
	struct bench b;

	(void)state;
	bench_init(&b, "1x2", 1);
	profile_add(b.profile, 0, 0, 1, 1, 1);
	profile_add_pair(b.profile, 0, 1, 0, 0.6, 0, 0.6);
	for (uint32_t i = 0; i < 12; i++)
		bench_job(&b, 1, 0);
	show(&b, &policy, &p, &first);
	show(&b, &policy, &p, &second);
	assert_memory_equal(first.pair_x, second.pair_x, sizeof(double) * p.pairs);
	assert_memory_equal(first.x, second.x, sizeof(double) * p.jobs);
	bench_fini(&b);
	scene_policy_fini(&policy);
}

/* Whatever is drawn: nobody is promised more than all the time, nor a type more than it has. */
static void shares_are_within_bounds(void **state)
{
	struct rng rng = property("gandiva's shares");

	(void)state;
	for (size_t i = 0; i < rounds(100); i++) {
		struct chosen_policy policy = scene_policy(
			i % 2 ? "gandiva:mode=random-pairs" : "gandiva:compat=gavel");
		double used[2] = { 0 };
		struct program p;
		struct shares s;
		struct bench b;

		bench_init(&b, "2x2:aa,1x4:bb", 2);
		together(&b, 0, 0.1 * pick(&rng, 9), 0.1 * pick(&rng, 9));
		together(&b, 1, 0.1 * pick(&rng, 9), 0.1 * pick(&rng, 9));
		for (uint32_t n = pick(&rng, 20); n > 0; n--)
			bench_job(&b, 1 << rng_below(&rng, 2), (uint32_t)rng_below(&rng, 2));
		show(&b, &policy, &p, &s);
		for (uint32_t w = 0; w < 2; w++) {
			for (uint32_t row = 0; row < p.jobs; row++)
				used[w] += p.gang[row] * s.x[row * 2 + w];
			for (uint32_t pair = 0; pair < p.pairs; pair++)
				used[w] += p.gang[p.pair[pair].a] * s.pair_x[pair * 2 + w];
			assert_true(used[w] <= p.capacity[w] * (1 + 1e-9));
		}
		bench_fini(&b);
		scene_policy_fini(&policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_stays_if_it_beats_taking_turns),
		cmocka_unit_test(where_sharing_does_not_pay_the_pair_takes_turns),
		cmocka_unit_test(no_more_are_paired_than_have_to),
		cmocka_unit_test(jobs_that_fit_run_alone_on_the_fastest_type_with_room),
		cmocka_unit_test(the_published_draws_are_followed),
		cmocka_unit_test(looking_changes_nothing),
		cmocka_unit_test(shares_are_within_bounds),
	};

	return cmocka_run_group_tests_name("policy/hetero/gandiva", tests, NULL, NULL);
}
