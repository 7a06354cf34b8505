/*
 * Apathetic future share: the worked examples with their speed tables, and
 * that of two jobs the better one gets the next device.
 */
#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { GPUS_MAX = 6 };

/* A job whose speed on 1.. devices is as given. */
struct table {
	double work;
	double speed[GPUS_MAX + 1]; /* of 1, 2, …; 0 ends it */
};

static uint32_t table_length(const struct table *t)
{
	uint32_t n = 0;

	while (n < GPUS_MAX && t->speed[n] > 0)
		n++;
	return n;
}

static void stage(struct scene *s, const char *cluster, const struct table *tables, uint32_t n)
{
	char name[16];

	scene_init(s, cluster);
	for (uint32_t i = 0; i < n; i++) {
		struct job *job = scene_job(s, 0, 1, tables[i].work);

		snprintf(name, sizeof(name), "m%u", i);
		job->model = names_add(&s->trace.models, name, strlen(name));
		job->by_steps = true;
		job->min_gpus = 1;
		job->max_gpus = (int32_t)table_length(&tables[i]);
	}
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t g = 0; g < table_length(&tables[i]); g++)
			profile_add(s->profile, i, 0, g + 1, 0, tables[i].speed[g]);
	}
	s->config.truth = s->profile;
	s->config.oracle = true;
}

/* Devices of each job at the first decision. */
struct first {
	uint32_t gpus[8];
};

static void see_start(void *self, const struct event *event, const struct job *job)
{
	struct first *first = self;

	(void)job;
	if (event->kind == EV_START && event->at_s == 0)
		first->gpus[event->job] = event->grant->gpus;
}

static void shares_of(const char *cluster, const char *policy, const struct table *tables,
	uint32_t n, struct first *first)
{
	struct observer observer = { .self = first, .see = see_start };
	struct outcome out;
	struct scene s;

	*first = (struct first){ { 0 } };
	stage(&s, cluster, tables, n);
	s.config.policy = policy;
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
	outcome_fini(&out);
	scene_fini(&s);
}

static const struct {
	const char *what, *cluster;
	struct table jobs[2];
	uint32_t want[2];
} examples[] = {
	{ "a: the third device is worth more to the longer job", "1x3",
		{ { 10, { 1, 1.2, 1.3 } }, { 20, { 1, 1.8, 2.4 } } }, { 1, 2 } },
	{ "b: the shorter one scales better", "1x4",
		{ { 10, { 1, 1.8, 2.4, 2.8 } }, { 20, { 1, 1.4, 1.6, 1.7 } } }, { 3, 1 } },
	{ "c: linear jobs", "1x3", { { 10, { 1, 2, 3 } }, { 20, { 1, 2, 3 } } }, { 2, 1 } },
	{ "c: linear jobs of one length", "1x4", { { 10, { 1, 2, 3, 4 } }, { 10, { 1, 2, 3, 4 } } },
		{ 3, 1 } },
	{ "d: one device", "1x1", { { 20, { 1 } }, { 10, { 1 } } }, { 0, 1 } },
	{ "no device where it brings nothing", "1x4", { { 10, { 1, 1, 1, 1 } }, { 20, { 1, 1 } } },
		{ 1, 1 } },
	{ "nor where it slows the job down", "1x4", { { 10, { 2, 1 } }, { 20, { 1, .5 } } }, { 1, 1 } },
	{ "a dip is crossed where it pays", "1x6", { { 10, { 1, 1.9, 1.5, 3 } }, { 20, { 1 } } },
		{ 4, 1 } },
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct first first;

		shares_of(examples[i].cluster, "afs", examples[i].jobs, 2, &first);
		if (first.gpus[0] != examples[i].want[0] || first.gpus[1] != examples[i].want[1])
			fail_msg("%s: shares are %u and %u", examples[i].what, first.gpus[0],
				first.gpus[1]);
	}
}

/* ---- the rule is what it stands for */

/* Sum of completion times if the spare device goes to the first to end and then to the other. */
static double with_shorter(double wa, double pa1, double wb, double pb, double pb1)
{
	double end = wa / pa1;

	return 2 * end + (wb - pb * end) / pb1;
}

static double with_longer(double wa, double pa, double wb, double pb1)
{
	return wa / pa + wb / pb1;
}

static double speed_at(const struct table *t, uint32_t gpus)
{
	return gpus ? t->speed[gpus - 1] : 0;
}

/* Who gets the first device, the second, …: shares of clusters that are larger by one each. */
static void test_orders(void **state)
{
	static const struct {
		uint32_t example;
		const char *order;
	} rows[] = { { 0, "abb" }, { 1, "abaa" }, { 2, "aab" }, { 3, "aaba" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t want[2] = { 0 };

		for (uint32_t n = 0; rows[i].order[n]; n++) {
			struct first first;
			char cluster[16];

			want[rows[i].order[n] - 'a']++;
			snprintf(cluster, sizeof(cluster), "1x%u", n + 1);
			shares_of(cluster, "afs", examples[rows[i].example].jobs, 2, &first);
			if (first.gpus[0] != want[0] || first.gpus[1] != want[1])
				fail_msg("%s: with %u devices shares are %u and %u",
					examples[rows[i].example].what, n + 1, first.gpus[0],
					first.gpus[1]);
		}
	}
}

/* Micro test a: the third device with either. */
static void test_sums(void **state)
{
	(void)state;
	assert_float_equal(with_shorter(10, 1.2, 20, 1, 1.8), 23.15, 0.005);
	assert_float_equal(with_longer(10, 1, 20, 1.8), 21.11, 0.005);
}

static void draw_table(struct table *t, struct rng *rng)
{
	double step = 1;

	*t = (struct table){ .work = 20 + (double)rng_below(rng, 80) };
	for (int i = 0; i < GPUS_MAX; i++) {
		t->speed[i] = (i ? t->speed[i - 1] : 0) + step;
		step *= .4 + .6 * rng_uniform(rng);
	}
}

/* Two jobs with `n` devices and with one more: who got it, and was it right? */
static void check_pair(const struct table *jobs, uint32_t n, uint64_t round)
{
	struct first before, after;
	char cluster[16];
	uint32_t a, b;
	double sum_a, sum_b;

	snprintf(cluster, sizeof(cluster), "1x%u", n);
	shares_of(cluster, "afs", jobs, 2, &before);
	snprintf(cluster, sizeof(cluster), "1x%u", n + 1);
	shares_of(cluster, "afs", jobs, 2, &after);
	assert_int_equal(before.gpus[0] + before.gpus[1], n);
	assert_int_equal(after.gpus[0] + after.gpus[1], n + 1);
	if (!before.gpus[0] || !before.gpus[1])
		return;
	a = jobs[1].work / speed_at(&jobs[1], before.gpus[1]) <
		jobs[0].work / speed_at(&jobs[0], before.gpus[0]);
	b = !a;
	sum_a = with_shorter(jobs[a].work, speed_at(&jobs[a], before.gpus[a] + 1), jobs[b].work,
		speed_at(&jobs[b], before.gpus[b]), speed_at(&jobs[b], before.gpus[b] + 1));
	sum_b = with_longer(jobs[a].work, speed_at(&jobs[a], before.gpus[a]), jobs[b].work,
		speed_at(&jobs[b], before.gpus[b] + 1));
	if (after.gpus[a] > before.gpus[a] ? sum_a > sum_b + 1e-9 : sum_b > sum_a + 1e-9)
		fail_msg("round %llu: %u+%u to %u+%u, but the sums are %g and %g",
			(unsigned long long)round, before.gpus[0], before.gpus[1], after.gpus[0],
			after.gpus[1], sum_a, sum_b);
}

static void test_pairs(void **state)
{
	struct rng rng = property("of two jobs the next device goes where the sum is smaller");

	(void)state;
	for (size_t i = 0; i < rounds(150); i++) {
		struct table jobs[2];

		draw_table(&jobs[0], &rng);
		draw_table(&jobs[1], &rng);
		check_pair(jobs, 2 + (uint32_t)rng_below(&rng, 4), i);
	}
}

static void test_equals_share_evenly(void **state)
{
	struct rng rng = property("shares of equal jobs of concave speed differ by one at most");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 4), gpus = n + (uint32_t)rng_below(&rng, 8);
		double power = rng_below(&rng, 2) ? .5 : .8;
		uint32_t least = UINT32_MAX, most = 0;
		struct table jobs[8];
		struct first first;
		char cluster[16];

		for (uint32_t k = 0; k < n; k++) {
			jobs[k] = (struct table){ .work = 50 };
			for (int g = 0; g < GPUS_MAX; g++)
				jobs[k].speed[g] = pow(g + 1, power);
		}
		snprintf(cluster, sizeof(cluster), "1x%u", gpus);
		shares_of(cluster, "afs", jobs, n, &first);
		for (uint32_t k = 0; k < n; k++) {
			least = first.gpus[k] < least ? first.gpus[k] : least;
			most = first.gpus[k] > most ? first.gpus[k] : most;
		}
		assert_true(most - least <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_equals_share_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
