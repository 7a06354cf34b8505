/*
 * What backfilling promises: with exact estimates the first job that waits is
 * never delayed (EASY), and nobody starts later than without backfilling
 * (conservative).
 */
#include <math.h>

#include "support/property.h"
#include "support/scene.h"

/* ---- a witness in front of the policy */

struct witness {
	struct chosen_policy easy;
	double promised_s[64]; /* by job: when it could start at the latest, as seen when it became first */
	uint32_t head;
};

/* When `gpus` devices are free if nothing else starts: running jobs end exactly as believed. */
static double earliest_s(const struct round *round, const struct plan *plan, uint32_t gpus)
{
	double at_s = round->now_s;
	uint32_t have = plan_free(plan, 0);

	while (have < gpus) {
		double next_s = INFINITY;

		for (uint32_t i = 0; i < round->nactive; i++) {
			const struct job *job = &round->jobs[round->active[i]];
			double end_s = job->grant ? round->now_s + job_remaining_s(job, round->now_s)
						  : INFINITY;

			if (job->grant && end_s > at_s && end_s < next_s)
				next_s = end_s;
		}
		for (uint32_t i = 0; i < round->nactive; i++) {
			const struct job *job = &round->jobs[round->active[i]];

			if (job->grant && round->now_s + job_remaining_s(job, round->now_s) == next_s)
				have += job->grant->gpus;
		}
		at_s = next_s;
	}
	return at_s;
}

/* The first job that still waits after the decision is promised the time it could start if nobody else came. */
static int witness_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct witness *w = self;
	uint32_t head = JOB_NONE;
	double promise_s = NAN;

	for (uint32_t i = 0; i < round->nactive && head == JOB_NONE; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING) {
			head = job->id;
			promise_s = earliest_s(round, plan, (uint32_t)job->gpus);
		}
	}
	if (head != w->head && head != JOB_NONE)
		w->promised_s[head] = promise_s;
	w->head = head;
	return w->easy.rule->decide(w->easy.state, round, plan, err);
}

static const struct policy witness_policy = { .name = "witness", .decide = witness_decide };

static void draw_scene(struct scene *s, struct rng *rng)
{
	scene_init(s, rng_below(rng, 2) ? "1x4" : "2x4");
	scene_draw(s, rng,
		(struct draw){ .jobs = 2 + pick(rng, 14),
			.last_arrival_s = 20,
			.work_max = 15,
			.gpus_max = 4 });
}

static void easy_never_delays_the_first(void **state)
{
	struct rng rng = property("EASY keeps its promise to the head of the queue");
	uint32_t promises = 0;

	(void)state;
	for (size_t i = 0; i < rounds(1500); i++) {
		struct witness w = { .easy = scene_policy("easy"), .head = JOB_NONE };
		struct outcome out;
		struct scene s;

		for (size_t k = 0; k < COUNT(w.promised_s); k++)
			w.promised_s[k] = NAN;
		draw_scene(&s, &rng);
		scene_run_policy(&s, &witness_policy, &w, &out);
		for (uint32_t k = 0; k < out.njobs; k++) {
			promises += !isnan(w.promised_s[k]);
			if (out.jobs[k].start_s > w.promised_s[k])
				fail_msg("instance %zu: job %u was promised %g and started at %g",
					i, k, w.promised_s[k], out.jobs[k].start_s);
		}
		outcome_fini(&out);
		scene_fini(&s);
		scene_policy_fini(&w.easy);
	}
	assert_true(promises > 1000);
}

/* Start times of every job under a policy. */
static void starts(struct scene *s, const char *policy, double *out)
{
	struct outcome outcome;

	s->config.policy = policy;
	scene_run(s, &outcome);
	for (uint32_t i = 0; i < outcome.njobs; i++)
		out[i] = outcome.jobs[i].start_s;
	outcome_fini(&outcome);
}

static void conservative_starts_nobody_later_than_fifo(void **state)
{
	struct rng rng = property("conservative backfilling against first in, first out");
	uint32_t earlier = 0;

	(void)state;
	for (size_t i = 0; i < rounds(1500); i++) {
		double fifo[64], filled[64];
		struct scene s;

		draw_scene(&s, &rng);
		starts(&s, "fifo", fifo);
		starts(&s, "conservative", filled);
		for (uint32_t k = 0; k < s.trace.njobs; k++) {
			earlier += filled[k] < fifo[k];
			if (filled[k] > fifo[k])
				fail_msg("instance %zu: job %u starts at %g, without backfilling at %g",
					i, k, filled[k], fifo[k]);
		}
		scene_fini(&s);
	}
	assert_true(earlier > rounds(1000)); /* else it would not be worth it */
}

/* With as many reservations as jobs, EASY is conservative. */
static void reservations_for_all_make_easy_conservative(void **state)
{
	struct rng rng = property("EASY with many reservations");

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		double easy[64], conservative[64];
		struct scene s;

		draw_scene(&s, &rng);
		starts(&s, "easy:reservations=64", easy);
		starts(&s, "conservative", conservative);
		for (uint32_t k = 0; k < s.trace.njobs; k++)
			assert_true(easy[k] == conservative[k]);
		scene_fini(&s);
	}
}

/* A hundred jobs that end one by one: the gang waits for the last it needs, and nobody takes that from it. */
static void a_long_future(void **state)
{
	double at[102];
	struct scene s;

	(void)state;
	scene_init(&s, "1x50,1x50");
	for (int i = 0; i < 100; i++)
		scene_job(&s, 0, 1, 10 + i);
	scene_job(&s, 1, 80, 5);
	scene_job(&s, 2, 1, 200); /* would delay it until the next one ends */
	starts(&s, "easy", at);
	assert_true(at[100] == 89); /* the eightieth has ended */
	assert_true(at[101] == 90);
	starts(&s, "conservative", at);
	assert_true(at[100] == 89 && at[101] == 90);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(easy_never_delays_the_first),
		cmocka_unit_test(conservative_starts_nobody_later_than_fifo),
		cmocka_unit_test(reservations_for_all_make_easy_conservative),
		cmocka_unit_test(a_long_future),
	};

	return cmocka_run_group_tests_name("policy/order/backfill", tests, NULL, NULL);
}
