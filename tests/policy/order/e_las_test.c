/*
 * E-LAS: the scores of its specification decide who runs.
 */
#include <string.h>

#include "support/desk.h"
#include "support/property.h"

struct standing {
	int gpus;
	double served_s, done; /* part of its work */
};

/* A job with this service and progress. */
static void put(struct desk *desk, struct standing s)
{
	struct job *job = desk_job(desk, 0, s.gpus, 1000, s.served_s / s.gpus);

	job->done = s.done * job->work_est;
}

/* One device: whose score is smaller?  B arrives with A, so A wins ties. */
static const struct {
	const char *what;
	const char *options;
	struct standing a, b;
	const char *want;
} rows[] = {
	{ "a: equal service, more progress goes first", "score=linear", { 1, 100, 0.8 },
		{ 1, 100, 0.2 }, "A" },
	{ "a: the other way round", "score=linear", { 1, 100, 0.2 }, { 1, 100, 0.8 }, "B" },
	{ "b: 1 - 0.9 against 0.1 - 0.05", "score=linear", { 1, 1000, 0.9 }, { 1, 100, 0.05 }, "B" },
	{ "c: product 100 against 95", "score=product", { 1, 1000, 0.9 }, { 1, 100, 0.05 }, "B" },
	{ "c: remaining 111 against 1900", "score=remaining", { 1, 1000, 0.9 }, { 1, 100, 0.05 }, "A" },
	{ "service that led to nothing has for ever to go", "score=remaining", { 1, 10, 0 },
		{ 1, 1e6, 0.01 }, "B" },
	{ "a job that never ran has nothing to go", "score=remaining", { 1, 10, 0.99 }, { 1, 0, 0 },
		"B" },
	{ "nobody has run: arrival decides", "score=linear", { 1, 0, 0 }, { 1, 0, 0 }, "A" },
	{ "no weight on service: progress alone", "score=linear,service_weight=0", { 1, 1000, 0.3 },
		{ 1, 10, 0.2 }, "A" },
	{ "no weight on progress: service alone", "score=linear,progress_weight=0",
		{ 1, 1000, 0.9 }, { 1, 999, 0 }, "B" },
};

static void the_smaller_score_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char policy[96];
		struct desk desk;

		desk_init(&desk, "1x1");
		put(&desk, rows[i].a);
		put(&desk, rows[i].b);
		snprintf(policy, sizeof(policy), "e-las:%s", rows[i].options);
		desk_decide(&desk, policy, 6000);
		if (strcmp(desk_who(&desk), rows[i].want) != 0)
			fail_msg("%s: %s runs", rows[i].what, desk_who(&desk));
		desk_fini(&desk);
	}
}

/* d. Scores 0.3, 0.1, 0.2 on two devices. */
static void the_two_smallest_of_three_run(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2");
	put(&desk, (struct standing){ 1, 100, 0.7 });
	put(&desk, (struct standing){ 1, 100, 0.9 });
	put(&desk, (struct standing){ 1, 100, 0.8 });
	desk_decide(&desk, "e-las", 6000);
	assert_string_equal(desk_who(&desk), "BC");
	assert_int_equal(desk_reason(&desk, 0).why, WHY_BUSY);
	desk_fini(&desk);
}

/* Who runs under a policy, of three jobs with equal progress. */
static void who_of_three(const struct standing *s, const char *policy, char out[32])
{
	struct desk desk;

	desk_init(&desk, "1x2");
	for (int k = 0; k < 3; k++)
		put(&desk, s[k]);
	desk_decide(&desk, policy, 6000);
	strcpy(out, desk_who(&desk));
	desk_fini(&desk);
}

static void with_equal_progress_it_is_least_attained_service(void **state)
{
	struct rng rng = property("e-las with equal progress against las");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		double done = (double)rng_below(&rng, 10) / 10;
		struct standing s[3];
		char las[32], linear[32], product[32];

		for (int k = 0; k < 3; k++)
			s[k] = (struct standing){ 1, (double)rng_below(&rng, 5) * 100, done };
		who_of_three(s, "las", las);
		who_of_three(s, "e-las:score=linear", linear);
		who_of_three(s, "e-las:score=product", product);
		assert_string_equal(linear, las);
		assert_string_equal(product, las);
	}
}

static void progress_is_reported_in_whole_epochs(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1");
	put(&desk, (struct standing){ 1, 100, 0.49 });
	put(&desk, (struct standing){ 1, 100, 0.3 });
	desk.jobs.at[0].epochs = 2; /* 0.49 of two epochs: none is over */
	desk_decide(&desk, "e-las", 6000);
	assert_string_equal(desk_who(&desk), "B");
	desk_fini(&desk);
}

static void hysteresis_needs_a_gap(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x1");
	put(&desk, (struct standing){ 1, 100, 0.5 });
	put(&desk, (struct standing){ 1, 100, 0.5 });
	desk.jobs.at[1].done += 5; /* scores 0.5 and 0.495 */
	desk_run(&desk, 0, 6000);
	desk_decide(&desk, "e-las:hysteresis=0.02", 6000);
	assert_string_equal(desk_who(&desk), "A");
	desk_decide(&desk, "e-las:hysteresis=0.005", 6000);
	assert_string_equal(desk_who(&desk), "B");
	desk_fini(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smaller_score_runs),
		cmocka_unit_test(the_two_smallest_of_three_run),
		cmocka_unit_test(with_equal_progress_it_is_least_attained_service),
		cmocka_unit_test(progress_is_reported_in_whole_epochs),
		cmocka_unit_test(hysteresis_needs_a_gap),
	};

	return cmocka_run_group_tests_name("policy/order/e_las", tests, NULL, NULL);
}
