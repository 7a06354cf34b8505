#include "io/mono_io.h"

#include <string.h>

#include "support/property.h"

static void test_reads(void **state)
{
	static const char plain[] = "job,stage,arrival_s,tasks,run,mem,after\n"
				    "q1,map,1m,16,disk 2 | cpu 0.5|cpu 5s,2G,\n"
				    "q1,reduce,,8,net 1,,map\n"
				    "q2,only,90,,gpu 1h,,\n";
	struct mono_load load = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(mono_read_csv("f", plain, strlen(plain), &load, &err), 0);
	assert_int_equal(load.njobs, 2);
	assert_int_equal(load.nstages, 3);
	assert_int_equal(load.ntasks, 25);
	assert_true(load.jobs[0].arrival_s == 60 && load.jobs[1].arrival_s == 90);
	assert_int_equal(load.stages[0].nsteps, 3);
	assert_true(load.stages[0].steps[1].size_s == 0.5);
	assert_true(load.stages[0].mem_bytes == 2147483648.0);
	assert_true(load.stages[2].steps[0].size_s == 3600);
	assert_int_equal(load.dag.preds[load.dag.first_pred[1]], 0);
	mono_load_fini(&load);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "f:1: the file is empty" },
		{ "job,stage\n", "f:1: there is no column run" },
		{ "job,stage,run,run\n", "column run is there twice" },
		{ "job,stage,run\n", "there is no stage below" },
		{ "job,stage,run\na,s,\n", "f:2: run is empty" },
		{ "job,stage,run\na,s,ram 5\n",
			"f:2: run: there is no resource 'ram'; there are cpu, net, disk, gpu" },
		{ "job,stage,run\na,s,cpu 0\n", "is not resources with seconds" },
		{ "job,stage,run\na,s,cpu\n", "is not resources with seconds" },
		{ "job,stage,run,tasks\na,s,cpu 1,0\n", "tasks '0' is not a number of tasks" },
		{ "job,stage,run,tasks\na,s,cpu 1,99999999\n", "more than 10000000 tasks" },
		{ "job,stage,run,mem\na,s,cpu 1,much\n", "mem 'much' is not a size" },
		{ "job,stage,run,arrival_s\na,s,cpu 1,soon\n", "arrival_s 'soon' is not a time" },
		{ "job,stage,run\na,s,cpu 1\na,s,cpu 1\n",
			"f:3: stage 's' of job 'a' is there twice; keep one" },
		{ "job,stage,run\na,s,cpu 1\nb,s,cpu 1\na,t,cpu 1\n", "f:4: the rows of job 'a' do not" },
		{ "job,stage,run,after\na,s,cpu 1,t\n", "f:2: after 't' is no stage of job 'a'" },
		{ "job,stage,run,after\na,s,cpu 1,s\n",
			"f:2: stage 's' of job 'a' waits for itself; remove" },
		{ "job,stage,run,after\na,p,cpu 1,r\na,q,cpu 1,p|r\na,r,cpu 1,q\na,s,cpu 1,p\n",
			"f:3: stages of job 'a' wait for each other in a circle: 'q' (line 3) waits for 'r' (line 4), which waits for 'q'" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mono_load load = { 0 };
		struct err err = { 0 };

		assert_int_equal(mono_read_csv("f", rows[i].text, strlen(rows[i].text), &load, &err),
			ERR_FORMAT);
		if (!strstr(err.text, rows[i].says))
			fail_msg("row %zu: %s", i, err.text);
	}
}

static void test_draws(void **state)
{
	struct mono_load a = { 0 }, b = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(mono_synth("jobs=8,seed=3", &a, &err), 0);
	assert_int_equal(mono_synth("jobs=8,seed=4", &b, &err), 0);
	assert_int_equal(a.njobs, 8);
	assert_true(dag_is_acyclic(&a.dag));
	assert_int_not_equal(a.ntasks, b.ntasks);
	mono_load_fini(&a);
	mono_load_fini(&b);
	assert_int_equal(mono_synth("jbos=8", &a, &err), ERR_USAGE);
	assert_int_equal(mono_synth("jobs=10000,tasks=10000", &a, &err), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_draws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
