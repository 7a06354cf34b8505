#include "report/by_model.h"

#include "report/fixture.h"

static void near(const char *what, double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))) && !(isnan(got) && isnan(want)))
		fail_msg("%s: got %.10g, want %.10g", what, got, want);
}

static void name_models(struct fixture *f, uint32_t n)
{
	for (uint32_t i = 0; i < f->trace.njobs; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%u", (unsigned)(i % n));
		f->trace.jobs[i].model = names_add(&f->trace.models, name, strlen(name));
	}
}

static void jobs_add_up_by_model(void **state)
{
	struct by_model list, sum = { 0 };
	const struct model_sums *m;
	struct fixture f;
	struct outcome o;

	(void)state;
	fixture_init(&f, 6);
	name_models(&f, 2);
	o = fixture_run(&f, 20); /* 120 s each, of which 100 with a device */
	o.jobs[0].occupied_s = 300;
	o.jobs[0].restarts = 3;
	o.jobs[2].occupied_s = 100;
	o.jobs[2].trained = true;
	o.jobs[2].served_s = 80;
	o.jobs[2].eff_s = 20;
	o.jobs[4].state = JOB_UNFINISHED;
	o.jobs[4].occupied_s = 1e9;
	o.jobs[1].state = JOB_FUTURE;
	o.jobs[3].model = NAME_NONE;
	by_model_of(&f.trace, &o, &list);
	assert_int_equal(list.n, 2);
	m = by_model_find(&list, "m0");
	assert_non_null(m);
	near("jobs", model_figure(m, list.runs, MODEL_JOBS), 3);
	near("JCT", model_figure(m, list.runs, MODEL_JCT), 120);
	near("wait", model_figure(m, list.runs, MODEL_WAIT), 20);
	near("GPUs", model_figure(m, list.runs, MODEL_GPUS), 2);
	near("restarts", model_figure(m, list.runs, MODEL_RESTARTS), 1.5);
	near("GPU-time", model_figure(m, list.runs, MODEL_GPU_TIME), 400);
	near("efficiency", model_figure(m, list.runs, MODEL_EFFICIENCY), 0.25);
	m = by_model_find(&list, "m1");
	near("jobs of the other", model_figure(m, list.runs, MODEL_JOBS), 1);
	near("no efficiency", model_figure(m, list.runs, MODEL_EFFICIENCY), NAN);
	assert_null(by_model_find(&list, "resnet50"));
	by_model_add(&sum, &list);
	by_model_add(&sum, &list);
	m = by_model_find(&sum, "m0");
	near("jobs of two runs", model_figure(m, sum.runs, MODEL_JOBS), 3);
	near("JCT of two runs", model_figure(m, sum.runs, MODEL_JCT), 120);
	near("GPU-time of two runs", model_figure(m, sum.runs, MODEL_GPU_TIME), 400);
	by_model_fini(&sum);
	by_model_fini(&list);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void rare_models_count_together(void **state)
{
	struct by_model list;
	struct fixture f;
	struct outcome o;
	uint32_t jobs = 0;

	(void)state;
	fixture_init(&f, 3 * MODELS_MAX);
	name_models(&f, 2 * MODELS_MAX); /* every other one once, the first half twice */
	o = fixture_run(&f, 0);
	by_model_of(&f.trace, &o, &list);
	assert_int_equal(list.n, MODELS_MAX + 1);
	assert_string_equal(list.at[MODELS_MAX].name, OTHER_MODELS);
	assert_int_equal(list.at[MODELS_MAX].jobs, MODELS_MAX);
	for (uint32_t i = 0; i < list.n; i++)
		jobs += list.at[i].jobs;
	assert_int_equal(jobs, 3 * MODELS_MAX);
	by_model_fini(&list);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void nothing_is_an_empty_list(void **state)
{
	struct by_model list;
	struct fixture f;
	struct outcome o;

	(void)state;
	fixture_init(&f, 0);
	o = fixture_run(&f, 0);
	by_model_of(&f.trace, &o, &list);
	assert_int_equal(list.n, 0);
	by_model_fini(&list);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_add_up_by_model),
		cmocka_unit_test(rare_models_count_together),
		cmocka_unit_test(nothing_is_an_empty_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
