#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

static double figure(const struct outcome *out, const char *name)
{
	for (uint32_t i = 0; i < out->nfigures; i++)
		if (!strcmp(out->figures[i].name, name))
			return out->figures[i].value;
	return NAN;
}

static double makespan(const struct outcome *out)
{
	double last_s = 0;

	for (uint32_t i = 0; i < out->njobs; i++)
		last_s = fmax(last_s, out->jobs[i].finish_s);
	return last_s;
}

/* All at once, each waits for some before it; elastic ones double up to four times what they ask for. */
static void draw_pipeline(struct scene *s, struct rng *rng, uint32_t njobs, bool feed)
{
	for (uint32_t i = 0; i < njobs; i++) {
		struct job *job = scene_job(s, 0, (int)pick(rng, 4), pick(rng, 1000));

		job->max_gpus = job->gpus * (int)pick(rng, 4);
		job->min_gpus = 1;
		if (feed) {
			job->cpus = job->gpus * (double)pick(rng, 4);
			job->mem_bytes = (int64_t)job->gpus << (30 + rng_below(rng, 4));
		}
		for (uint32_t k = 0; k < 2 && i && rng_uniform(rng) < 0.6; k++)
			trace_add_dep(&s->trace, i, (uint32_t)rng_below(rng, i));
	}
}

/* In a real run, on nodes, with the engine's rules: never beyond the bound, and the figures say the truth. */
static void test_bound_holds_in_runs(void **state)
{
	struct rng rng = property("makespan <= bound * least on every run that says it is proved");
	size_t proved = 0;
	double worst = 0;

	(void)state;
	for (size_t round = 0; round < rounds(400); round++) {
		struct scene scene;
		struct outcome out;
		double least_s;

		scene_init(&scene, round % 2 ? "4x4:gpu" : "1x8:gpu");
		scene.config.policy = "moldable";
		for (uint32_t i = 0; round % 3 == 0 && i < scene.cluster.nnodes; i++) {
			scene.cluster.nodes[i].cpus = 64;
			scene.cluster.nodes[i].mem_bytes = INT64_C(256) << 30;
		}
		draw_pipeline(&scene, &rng, pick(&rng, 30), round % 3 == 0);
		scene_run(&scene, &out);
		least_s = figure(&out, "least_makespan_s");
		assert_true(figure(&out, "size_plans") == 1);
		assert_true(fabs(figure(&out, "planned_makespan_s") - makespan(&out)) < 1e-3);
		assert_true(least_s <= makespan(&out) * (1 + 1e-6));
		if (figure(&out, "bound_proved")) {
			proved++;
			assert_true(makespan(&out) <=
				figure(&out, "ratio_bound") * least_s * (1 + 1e-6));
			worst = fmax(worst, makespan(&out) / least_s);
		}
		outcome_fini(&out);
		scene_fini(&scene);
	}
	printf("%zu runs proved, worst makespan / least %.2f\n", proved, worst);
	assert_true(proved > rounds(400) / 4);
}

/* Jobs that come later are another problem than the one that the bound is of. */
static void test_no_claim_for_arrivals(void **state)
{
	struct scene scene;
	struct outcome out;

	(void)state;
	scene_init(&scene, "2x4:gpu");
	scene.config.policy = "moldable";
	scene_job(&scene, 0, 1, 10);
	scene_job(&scene, 5, 1, 10);
	scene_run(&scene, &out);
	assert_true(figure(&out, "size_plans") == 2);
	assert_true(figure(&out, "bound_proved") == 0);
	outcome_fini(&out);
	scene_fini(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_holds_in_runs),
		cmocka_unit_test(test_no_claim_for_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
