/*
 * Formats of published simulators: Muri, Lucid, Synergy, Sia.
 */
#include "io/import_case.h"

#define MURI \
	"job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"

static const struct import_case muri[] = {
	{ "times are milliseconds",
		MURI "0,1,0,5853661,dqn,128,2868294500,46122000,490,446,8,0,1\n"
		     "1,8,201694000,8787693,dqn,128,4472936000,201694000,509,435,8,0.5,0\n",
		"id,model,gpus,arrival_s,duration_s,priority,batch\n"
		"0,dqn,1,0,2868294.5,1,128\n1,dqn,8,201694,4472936,,128\n",
		"milliseconds" },
	{ "a priority is a whole number", MURI "0,1,0,5,dqn,128,28,4,4,4,8,0,1.5\n",
		"error: t:2: field 'priority': \"1.5\" is not a whole number" },
};

#define LUCID \
	"job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,amp,speed,gpu_util,gmem_util,gmem\n"

static const struct import_case lucid[] = {
	{ "a Helios row with its model",
		LUCID
		"5,u,vcA,\"train, again\",2,12,COMPLETED,2020-09-01 00:00:05,60,ImageNet,ResNet50,64,0,300,90,40,9000\n"
		"6,u,vcA,j,0,12,COMPLETED,2020-09-01 00:00:06,60,ImageNet,ResNet50,64,0,300,90,40,9000\n",
		"id,name,tenant,model,gpus,arrival_s,duration_s,cpus,batch\n"
		"5,\"train, again\",vcA,ResNet50,2,0,60,12,64\n",
		"utilisation and device memory are not used" },
};

static const struct import_case synergy[] = {
	{ "five columns without a header", "0,alexnet,.123,3349,4\n1,gnmt,.286,26435,1\n",
		"id,model,gpus,arrival_s,steps\n0,alexnet,4,0.123,3349\n1,gnmt,1,0.286,26435\n" },
	{ "one column too few", "0,alexnet,1,3349,4\n1,gnmt,2,26435\n",
		"error: t:2: 4 columns where synergy has 5" },
	{ "not a number", "0,alexnet,1,3349,4\n1,gnmt,2,nan,1\n",
		"error: t:2: field 'iterations': \"nan\" is not a finite number" },
};

static const struct import_case sia[] = {
	{ "run times are not known",
		"name,time,application,num_replicas,batch_size\nbert-0,9.5,bert,4,320\ncifar10-1,12,cifar10,1,128\n",
		"id,model,gpus,min_gpus,max_gpus,arrival_s,steps,batch\nbert-0,bert,4,1,64,9.5,?,320\n"
		"cifar10-1,cifar10,1,,64,12,?,128\n",
		"follows from profiles of the application" },
	{ "more than elastic jobs get",
		"name,time,application,num_replicas,batch_size,category\nbert-0,9,bert,128,320,scale-gpus\n",
		"id,model,gpus,min_gpus,arrival_s,steps,batch\nbert-0,bert,128,1,9,?,320\n",
		"may tune their batch" },
	{ "a category that is none",
		"name,time,application,num_replicas,batch_size,category\nbert-0,9,bert,4,320,stiff\n",
		"error: t:2: field 'category': \"stiff\" is no category" },
	{ "a rigid job keeps its GPUs",
		"name,time,application,num_replicas,batch_size,category\nbert-0,9,bert,4,320,rigid\n",
		"id,model,gpus,arrival_s,steps,batch\nbert-0,bert,4,9,?,320\n",
		"unless its category is rigid" },
};

#define SIMULATOR_TEST(name) \
	static void test_##name(void **state) \
	{ \
		(void)state; \
		run_import_cases(#name, name); \
	}

SIMULATOR_TEST(muri)
SIMULATOR_TEST(lucid)
SIMULATOR_TEST(synergy)
SIMULATOR_TEST(sia)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_muri),
		cmocka_unit_test(test_lucid),
		cmocka_unit_test(test_synergy),
		cmocka_unit_test(test_sia),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
