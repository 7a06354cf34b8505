#include "report/compare_models.h"

#include <jansson.h>

#include "report/fixture.h"

static const uint64_t seeds[] = { 1, 2 };
static const struct contender contenders[] = { { .label = "slow" }, { .label = "fast" } };

/* Jobs of two models, the even ones "big" and held for longer; "fast" is without its second seed. */
static struct comparison compare(struct fixture *f, uint32_t njobs)
{
	struct comparison c;

	fixture_init(f, njobs);
	for (uint32_t i = 0; i < njobs; i++)
		f->trace.jobs[i].model = i % 2 ? names_add(&f->trace.models, "small", 5)
					       : names_add(&f->trace.models, "big", 3);
	comparison_init(&c, &f->cluster, contenders, 2, seeds, 2);
	for (uint32_t run = 0; run < 3; run++) {
		struct outcome o = fixture_run(f, run < 2 ? 100.0 * (run + 1) : 0);

		for (uint32_t i = 0; i < njobs; i++)
			o.jobs[i].occupied_s = i % 2 ? 100 : 7200;
		comparison_put(&c, run / 2, run % 2, &f->trace, &o);
		fixture_run_fini(&o);
	}
	comparison_finish(&c);
	return c;
}

static void seeds_are_pooled(void **state)
{
	const struct model_sums **models;
	struct fixture f;
	struct comparison c = compare(&f, 6);
	uint32_t n;

	(void)state;
	models = comparison_models(&c, &n);
	assert_int_equal(n, 2);
	assert_string_equal(models[0]->name, "big");
	assert_string_equal(models[1]->name, "small");
	assert_true(comparison_model(&c, 0, "big", MODEL_JOBS) == 3);
	assert_true(comparison_model(&c, 0, "big", MODEL_JCT) == 250); /* of 200 and 300 */
	assert_true(comparison_model(&c, 0, "big", MODEL_GPU_TIME) == 3 * 7200);
	assert_true(comparison_model(&c, 1, "small", MODEL_JCT) == 100);
	assert_true(isnan(comparison_model(&c, 1, "none", MODEL_JCT)));
	assert_true(comparison_model_shows(&c, MODEL_WAIT));
	assert_false(comparison_model_shows(&c, MODEL_RESTARTS));
	assert_false(comparison_model_shows(&c, MODEL_EFFICIENCY));
	free(models);
	comparison_fini(&c);
	fixture_fini(&f);
}

static void tables_have_a_row_for_each_model_and_policy(void **state)
{
	static const struct {
		const char *what;
		enum table_form form;
		const char *want;
	} rows[] = {
		{ "text", TABLE_TEXT,
			"model  policy  jobs  mean JCT  wait   GPUs  GPU-time\n"
			"                          min   min            GPU-h\n"
			"big    slow       3      4.17  2.50  72.00      6.00\n"
			"big    fast       3      1.67  0.00  72.00      6.00\n"
			"small  slow       3      4.17  2.50   1.00      0.08\n"
			"small  fast       3      1.67  0.00   1.00      0.08\n" },
		{ "CSV", TABLE_CSV,
			"model,policy,jobs,jct_mean_s,wait_mean_s,gpus_mean,restarts_mean,held_gpu_s,efficiency\n"
			"big,slow,3,250,150,72,0,21600,\n"
			"big,fast,3,100,0,72,0,21600,\n"
			"small,slow,3,250,150,1,0,300,\n"
			"small,fast,3,100,0,1,0,300,\n" },
	};
	struct fixture f;
	struct comparison c = compare(&f, 6);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct compare_style style = { .form = rows[i].form };
		struct buf out = { 0 };

		comparison_models_table(&c, &style, &(struct term){ .width = 120 }, &out);
		if (strcmp(out.at, rows[i].want))
			fail_msg("%s: got\n%s", rows[i].what, out.at);
		buf_fini(&out);
	}
	comparison_fini(&c);
	fixture_fini(&f);
}

static void without_models_it_says_so(void **state)
{
	struct compare_style style = { 0 };
	struct fixture f;
	struct comparison c = compare(&f, 0);
	struct buf out = { 0 };

	(void)state;
	comparison_models_table(&c, &style, &(struct term){ .width = 80 }, &out);
	assert_non_null(strstr(out.at, "no job says what model it trains"));
	buf_fini(&out);
	comparison_fini(&c);
	fixture_fini(&f);
}

static void json_has_them_by_policy(void **state)
{
	struct fixture f;
	struct comparison c = compare(&f, 4);
	struct buf out = { 0 };
	json_t *root, *models;

	(void)state;
	comparison_json(&c, false, &out);
	root = json_loads(out.at, 0, NULL);
	assert_non_null(root);
	models = json_object_get(json_array_get(json_object_get(root, "policies"), 0), "models");
	assert_int_equal(json_array_size(models), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(models, 0), "model")),
		"big");
	assert_true(json_number_value(json_object_get(json_array_get(models, 1), "jct_mean_s")) == 250);
	assert_true(json_is_null(json_object_get(json_array_get(models, 1), "efficiency")));
	json_decref(root);
	buf_fini(&out);
	comparison_fini(&c);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_are_pooled),
		cmocka_unit_test(tables_have_a_row_for_each_model_and_policy),
		cmocka_unit_test(without_models_it_says_so),
		cmocka_unit_test(json_has_them_by_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
