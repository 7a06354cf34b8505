/*
 * Small instances against the optimum found by trying everything.
 */
#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { JOBS_MAX = 6, WORK_MAX = 4 };

struct instance {
	int n;
	int at[JOBS_MAX], work[JOBS_MAX];
};

/* ---- one machine, preemption free, whole seconds */

/*
 * The least sum of completion times of what is left, from `now` on.  Idling while somebody waits never
 * helps, so `now` follows from what is left, and answers can be kept by that.
 */
static int least_sum(const struct instance *in, int now, int *left, int *known)
{
	int code = 0, best = -1, next = -1, done = 1;

	for (int i = 0; i < in->n; i++) {
		code = code * (WORK_MAX + 1) + left[i];
		done &= left[i] == 0;
		if (left[i] > 0 && in->at[i] > now && (next < 0 || in->at[i] < next))
			next = in->at[i];
	}
	if (done)
		return 0;
	if (known[code] >= 0)
		return known[code];
	for (int i = 0; i < in->n; i++) {
		int sum;

		if (left[i] == 0 || in->at[i] > now)
			continue;
		left[i]--;
		sum = least_sum(in, now + 1, left, known) + (left[i] == 0 ? now + 1 : 0);
		left[i]++;
		if (best < 0 || sum < best)
			best = sum;
	}
	if (best < 0)
		best = least_sum(in, next, left, known);
	known[code] = best;
	return best;
}

static int preemptive_optimum(const struct instance *in)
{
	static int known[15625]; /* (WORK_MAX + 1) to the JOBS_MAX */
	int left[JOBS_MAX];

	memset(known, -1, sizeof(known));
	memcpy(left, in->work, sizeof(left));
	return least_sum(in, 0, left, known);
}

/* ---- m machines, all jobs there from the start, no preemption */

static int list_schedule(const struct instance *in, const int *order, int machines)
{
	int free_at[JOBS_MAX] = { 0 }, sum = 0;

	for (int i = 0; i < in->n; i++) {
		int first = 0;

		for (int m = 1; m < machines; m++) {
			if (free_at[m] < free_at[first])
				first = m;
		}
		free_at[first] += in->work[order[i]];
		sum += free_at[first];
	}
	return sum;
}

/* Every order of the jobs from position `at` on. */
static int best_order(const struct instance *in, int *order, int at, int machines)
{
	int best = -1;

	if (at == in->n)
		return list_schedule(in, order, machines);
	for (int i = at; i < in->n; i++) {
		int kept = order[at], sum;

		order[at] = order[i];
		order[i] = kept;
		sum = best_order(in, order, at + 1, machines);
		order[i] = order[at];
		order[at] = kept;
		if (best < 0 || sum < best)
			best = sum;
	}
	return best;
}

/* ---- the policies */

static int sum_of_ends(const struct instance *in, const char *policy, int machines)
{
	struct scene s;
	struct outcome out;
	char cluster[16];
	double sum = 0;

	snprintf(cluster, sizeof(cluster), "1x%d", machines);
	scene_init(&s, cluster);
	for (int i = 0; i < in->n; i++)
		scene_job(&s, in->at[i], 1, in->work[i]);
	s.config.policy = policy;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < out.njobs; i++)
		sum += out.jobs[i].finish_s;
	outcome_fini(&out);
	scene_fini(&s);
	return (int)lround(sum);
}

static struct instance draw(struct rng *rng, int last_arrival)
{
	struct instance in = { .n = (int)pick(rng, JOBS_MAX) };

	for (int i = 0; i < in.n; i++) {
		in.at[i] = (int)rng_below(rng, (uint64_t)last_arrival + 1);
		in.work[i] = (int)pick(rng, WORK_MAX);
	}
	return in;
}

static void srtf_is_optimal_on_one_device(void **state)
{
	static const char *const policies_[] = { "srtf", "srsf" };
	struct rng rng = property("srtf against every preemptive schedule");

	(void)state;
	for (size_t i = 0; i < rounds(1500); i++) {
		struct instance in = draw(&rng, 8);
		int best = preemptive_optimum(&in);

		for (size_t k = 0; k < COUNT(policies_); k++) {
			int got = sum_of_ends(&in, policies_[k], 1);

			if (got != best)
				fail_msg("instance %zu: the optimum is %d, %s comes to %d", i, best,
					policies_[k], got);
		}
	}
}

static void sjf_is_optimal_when_all_are_there(void **state)
{
	struct rng rng = property("sjf against every order on several devices");

	(void)state;
	for (size_t i = 0; i < rounds(600); i++) {
		struct instance in = draw(&rng, 0);
		int machines = (int)pick(&rng, 3), order[JOBS_MAX] = { 0, 1, 2, 3, 4, 5 };
		int best = best_order(&in, order, 0, machines);
		int got = sum_of_ends(&in, "sjf", machines);

		if (got != best)
			fail_msg("instance %zu on %d devices: the optimum is %d, sjf comes to %d",
				i, machines, best, got);
	}
}

/* The oracle itself: nobody beats it, and it is reached by hand where that is easy. */
static void the_oracle_is_right(void **state)
{
	static const struct instance two = { 2, { 0, 1 }, { 4, 1 } };
	struct rng rng = property("no policy beats the optimum");

	(void)state;
	assert_int_equal(preemptive_optimum(&two), 2 + 5);
	for (size_t i = 0; i < rounds(300); i++) {
		struct instance in = draw(&rng, 8);
		int best = preemptive_optimum(&in);

		assert_true(sum_of_ends(&in, "fifo", 1) >= best);
		assert_true(sum_of_ends(&in, "sjf", 1) >= best);
		assert_true(sum_of_ends(&in, "las:round_s=1", 1) >= best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oracle_is_right),
		cmocka_unit_test(srtf_is_optimal_on_one_device),
		cmocka_unit_test(sjf_is_optimal_when_all_are_there),
	};

	return cmocka_run_group_tests_name("policy/order/optimum", tests, NULL, NULL);
}
