#include "report/timeline.h"

#include "report/fixture.h"

static void only_elastic_jobs_have_one(void **state)
{
	struct timelines lines;
	struct fixture f;
	struct outcome o;

	(void)state;
	fixture_init(&f, 5);
	o = fixture_run(&f, 20);
	timelines_of(&f.trace, &o, &lines);
	assert_int_equal(lines.n, 0);
	assert_int_equal(lines.elastic, 0);
	timelines_fini(&lines);
	o.jobs[1].max_gpus = 4;
	o.jobs[3].trained = true;
	o.jobs[3].resizes = 2;
	o.spans[4].job = 1; /* a second one */
	timelines_of(&f.trace, &o, &lines);
	assert_int_equal(lines.n, 2);
	assert_int_equal(lines.elastic, 2);
	assert_int_equal(lines.at[0].id, 1);
	assert_string_equal(lines.at[0].label, "j1");
	assert_string_equal(lines.at[0].model, "resnet50");
	assert_int_equal(lines.at[0].nspans, 2);
	assert_true(lines.at[0].spans[0].from_s < lines.at[0].spans[1].from_s);
	assert_int_equal(lines.at[1].id, 3);
	assert_int_equal(lines.at[1].resizes, 2);
	assert_int_equal(lines.at[1].nspans, 1);
	timelines_fini(&lines);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

/* Whatever a policy did with them, the same jobs are kept. */
static void the_longest_are_kept(void **state)
{
	struct timelines lines;
	struct fixture f;
	struct outcome o;

	(void)state;
	fixture_init(&f, 3 * TIMELINES_MAX);
	for (uint32_t i = 0; i < f.trace.njobs; i++)
		f.trace.work[i] = i % 3 == 1 ? 1000 + i : i;
	o = fixture_run(&f, 20);
	for (uint32_t i = 0; i < o.njobs; i++)
		o.jobs[i].max_gpus = 8;
	timelines_of(&f.trace, &o, &lines);
	assert_int_equal(lines.n, TIMELINES_MAX);
	assert_int_equal(lines.elastic, 3 * TIMELINES_MAX);
	for (uint32_t i = 0; i < lines.n; i++) {
		assert_int_equal(lines.at[i].id, 3 * i + 1);
		assert_int_equal(lines.at[i].nspans, 1);
		assert_int_equal(lines.at[i].spans[0].job, 3 * i + 1);
	}
	timelines_fini(&lines);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

static void nothing_recorded_is_an_empty_list(void **state)
{
	struct timelines lines;
	struct fixture f;
	struct outcome o;

	(void)state;
	fixture_init(&f, 3);
	o = fixture_run(&f, 20);
	o.jobs[0].max_gpus = 2;
	o.nspans = 0;
	timelines_of(&f.trace, &o, &lines);
	assert_int_equal(lines.n, 0);
	timelines_fini(&lines);
	o.nspans = 3;
	o.spans[1].job = 99; /* of nobody */
	o.spans_dropped = 1;
	timelines_of(&f.trace, &o, &lines);
	assert_int_equal(lines.n, 1);
	assert_true(lines.cut);
	timelines_fini(&lines);
	fixture_run_fini(&o);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_elastic_jobs_have_one),
		cmocka_unit_test(the_longest_are_kept),
		cmocka_unit_test(nothing_recorded_is_an_empty_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
