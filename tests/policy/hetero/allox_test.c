/*
 * AlloX: the matching against every schedule there is, and what it costs.
 */
#include <math.h>

#include "base/clock.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

/* d. Tenants that have had 0.2 and 0.9 of their part; of the second one's jobs one is shorter. */
static void only_the_tenant_that_has_had_least_is_matched(void **state)
{
	static const struct {
		const char *policy, *who;
		enum why why;
	} rows[] = {
		{ "allox:alpha=0.5", "A", WHY_SHARE },
		{ "allox:alpha=1", "B", WHY_BUSY },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct desk desk;

		desk_init(&desk, "1x1");
		desk_job(&desk, 0, 1, 1000, 200)->tenant = 0;
		desk_job(&desk, 0, 1, 1000, 900)->tenant = 1;
		desk_decide(&desk, rows[i].policy, 1000);
		assert_string_equal(desk_who(&desk), rows[i].who);
		assert_int_equal(desk_reason(&desk, i == 0).why, rows[i].why);
		desk_fini(&desk);
	}
}

static void tenants_are_added_until_the_devices_are_used(void **state)
{
	struct desk desk;

	(void)state;
	desk_init(&desk, "1x2");
	desk_job(&desk, 0, 1, 1000, 200)->tenant = 0;
	desk_job(&desk, 0, 1, 1000, 900)->tenant = 1;
	desk_decide(&desk, "allox:alpha=0.5", 1000);
	assert_string_equal(desk_who(&desk), "AB");
	desk_fini(&desk);
}

/* ---- small worlds, all jobs at once, against every order on every machine */

enum { JOBS_MAX = 5, MODELS = 5 };

struct small {
	uint32_t jobs, machines;
	double run_s[JOBS_MAX][2];
};

/* Tries job `at` on each machine in each place from its end on. */
static double best_from(const struct small *s, uint32_t at, uint32_t used[2][JOBS_MAX])
{
	double best = INFINITY;

	if (at == s->jobs)
		return 0;
	for (uint32_t m = 0; m < s->machines; m++) {
		for (uint32_t k = 0; k < s->jobs; k++) {
			if (used[m][k])
				continue;
			used[m][k] = 1;
			best = fmin(best, (k + 1) * s->run_s[at][m] + best_from(s, at + 1, used));
			used[m][k] = 0;
		}
	}
	return best;
}

static double best_sum(const struct small *s)
{
	uint32_t used[2][JOBS_MAX] = { 0 };

	return best_from(s, 0, used);
}

static void build(struct scene *scene, struct small *s, struct rng *rng)
{
	s->jobs = pick(rng, JOBS_MAX);
	s->machines = pick(rng, 2);
	scene_init(scene, s->machines == 1 ? "1x1:aa" : "1x1:aa,1x1:bb");
	for (uint32_t i = 0; i < MODELS; i++)
		names_add(&scene->trace.models, (char[]){ (char)('a' + i), 0 }, 1);
	scene->profile = profile_create(&scene->cluster, &scene->trace.models);
	scene->config.truth = scene->profile;
	for (uint32_t i = 0; i < s->jobs; i++) {
		double work = pick(rng, 8) * 16;
		struct job *job = scene_job(scene, 0, 1, work);

		job->model = i;
		job->by_steps = true;
		for (uint32_t m = 0; m < s->machines; m++) {
			double speed = 1 << rng_below(rng, 4);

			profile_add(scene->profile, i, m, 1, 1, speed);
			s->run_s[i][m] = work / speed;
		}
	}
	scene->config.policy = "allox:alpha=1";
}

static double sum_of_completions(struct scene *scene)
{
	struct outcome out;
	double sum = 0;

	scene_run(scene, &out);
	for (uint32_t i = 0; i < out.njobs; i++)
		sum += out.jobs[i].finish_s - out.jobs[i].arrival_s;
	outcome_fini(&out);
	return sum;
}

static void no_schedule_has_a_smaller_sum(void **state)
{
	struct rng rng = property("allox against every schedule of up to 5 jobs on 2 types");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		struct scene scene;
		struct small s;

		build(&scene, &s, &rng);
		assert_true(fabs(sum_of_completions(&scene) - best_sum(&s)) <= 1e-9 * best_sum(&s));
		scene_fini(&scene);
	}
}

/* One type: the optimum is the shortest first, which is known. */
static double sum_under(struct scene *scene, const char *policy)
{
	scene->config.policy = policy;
	return sum_of_completions(scene);
}

static void on_one_type_it_is_shortest_first(void **state)
{
	static const char *const clusters[] = { "1x1", "1x3", "2x4" };
	struct rng rng = property("allox on one type against sjf");

	(void)state;
	for (size_t i = 0; i < rounds(100); i++) {
		struct scene scene;

		scene_init(&scene, clusters[i % COUNT(clusters)]);
		scene_draw(&scene, &rng, (struct draw){ 12, 0, 20, 1 });
		assert_true(sum_under(&scene, "allox") == sum_under(&scene, "sjf"));
		scene_fini(&scene);
	}
}

/* ---- cost */

/* 256 jobs that wait for 36 devices of 3 types, most of them busy for different times. */
static void build_large(struct desk *desk, struct profile *profile, struct rng *rng, uint32_t running)
{
	for (uint32_t i = 0; i < 256 + running; i++) {
		struct job *job = desk_job(desk, 0, 1, pick(rng, 10000), 0);

		job->model = i % MODELS;
		if (i < running)
			desk_run(desk, job->id, 0);
	}
	for (uint32_t model = 0; model < MODELS; model++) {
		for (uint32_t type = 0; type < 3; type++)
			profile_add(profile, model, type, 1, 1, pick(rng, 20));
	}
	desk->belief.profile = profile;
}

static double cpu_of_decision(uint32_t running, const char *policy)
{
	struct rng rng;
	struct desk desk;
	struct names models = { 0 };
	struct profile *profile;
	double before_s, took_s;

	rng_init(&rng, 1, RNG_TEST);
	desk_init(&desk, "12x1:v100,12x1:p100,12x1:k80");
	for (uint32_t i = 0; i < MODELS; i++)
		names_add(&models, (char[]){ (char)('a' + i), 0 }, 1);
	profile = profile_create(&desk.cluster, &models);
	build_large(&desk, profile, &rng, running);
	before_s = clock_thread_cpu_s();
	desk_decide(&desk, policy, 100);
	took_s = clock_thread_cpu_s() - before_s;
	desk_fini(&desk);
	profile_destroy(profile);
	names_fini(&models);
	return took_s;
}

/* The bar is 20 ms; sanitisers and machines under load take some times longer. */
static void a_decision_for_256_jobs_is_cheap(void **state)
{
	static const struct {
		uint32_t running;
		const char *policy;
	} rows[] = { { 0, "allox" }, { 24, "allox" }, { 35, "allox" }, { 36, "allox:preempt=1" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double took_s = cpu_of_decision(rows[i].running, rows[i].policy);

		printf("[   COST   ] %s, %u run: %.1f ms\n", rows[i].policy, rows[i].running,
			took_s * 1e3);
		assert_true(took_s < 0.5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_tenant_that_has_had_least_is_matched),
		cmocka_unit_test(tenants_are_added_until_the_devices_are_used),
		cmocka_unit_test(no_schedule_has_a_smaller_sum),
		cmocka_unit_test(on_one_type_it_is_shortest_first),
		cmocka_unit_test(a_decision_for_256_jobs_is_cheap),
	};

	return cmocka_run_group_tests_name("policy/hetero/allox", tests, NULL, NULL);
}
