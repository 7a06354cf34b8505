#include "io/import_case.h"

#define HEAD "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"

static const struct import_case rows[] = {
	{ "run times are seconds, the rest follows",
		HEAD "0,1,0,606,vgg19,164,30\n1,8,30,133,vgg11,147,23\n",
		"id,model,gpus,arrival_s,duration_s\n0,vgg19,1,0,164\n1,vgg11,8,30,147\n" },
	{ "times stay relative: the first arrival need not be 0", HEAD "7,1,100,1,a,5,0\n",
		"id,model,gpus,arrival_s,duration_s\n7,a,1,100,5\n" },
	{ "columns may come in another order, and some may be missing",
		"duration,num_gpu,job_id,iterations,submit_time\n9,2,x,1,3\n",
		"id,gpus,arrival_s,duration_s\nx,2,3,9\n" },
	{ "a job without GPUs is left out", HEAD "0,0,0,1,a,5,0\n1,1,0,1,a,5,0\n",
		"id,model,gpus,arrival_s,duration_s\n1,a,1,0,5\n", "without GPUs" },
	{ "a job without work is left out", HEAD "0,1,0,1,a,0,0\n1,1,0,1,a,5,0\n",
		"id,model,gpus,arrival_s,duration_s\n1,a,1,0,5\n", "without work" },
	{ "a negative run time fails", HEAD "0,1,0,1,a,-5,0\n",
		"error: t:2: field 'duration': \"-5\" is negative" },
	{ "half a GPU fails", HEAD "0,0.5,0,1,a,5,0\n",
		"error: t:2: field 'num_gpu': \"0.5\" is not a number of GPUs" },
	{ "no run time fails", HEAD "0,1,0,1,a,,0\n", "error: t:2: field 'duration': is missing" },
	{ "arrivals out of order are sorted and said", HEAD "0,1,9,1,a,5,0\n1,1,3,1,a,6,0\n",
		"id,model,gpus,arrival_s,duration_s\n1,a,1,3,6\n0,a,1,9,5\n", "order of arrival" },
};

static void tiresias(void **state)
{
	(void)state;
	run_import_cases("tiresias", rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tiresias) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
