/*
 * Formats of clusters' logs: Philly, Helios, Alibaba, Slurm, SWF.
 */
#include "io/import_case.h"

#define PHILLY_CSV "timestamp,duration,num_gpus,gpu_time,cluster\n"

static const struct import_case philly_csv[] = {
	{ "dates become seconds from the first, in order of time; a last blank line is no row",
		PHILLY_CSV "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
			   "2017-10-09 07:00:55,2951.5,2,5903.0,6214e9\n\n",
		"id,tenant,gpus,arrival_s,duration_s\n1,6214e9,2,0,2951.5\n0,11cb48,1,60,66\n",
		"order of arrival" },
	{ "not a date", PHILLY_CSV "2017-13-09 07:01:55,66.0,1,66.0,x\n",
		"error: t:2: field 'timestamp': \"2017-13-09 07:01:55\" is not a time" },
};

#define ATTEMPT(start, end, detail) \
	"{\"start_time\": " start ", \"end_time\": " end ", \"detail\": [" detail "]}"
#define TWO_GPUS "{\"ip\": \"m1\", \"gpus\": [\"gpu0\", \"gpu1\"]}"
#define PHILLY_JOB(id, at, attempts) \
	"{\"status\": \"Pass\", \"vc\": \"ee9e8c\", \"jobid\": \"" id \
	"\", \"attempts\": [" attempts "],\n" \
	" \"submitted_time\": " at ", \"user\": \"u\"}"
#define AT0 "\"2017-10-09 00:00:00\""
#define AT1 "\"2017-10-09 00:01:00\""
#define AT2 "\"2017-10-09 00:03:00\""

static const struct import_case philly[] = {
	{ "attempts add up; GPUs are the most of any",
		"[" PHILLY_JOB("a", AT0,
			ATTEMPT(AT0, AT1, TWO_GPUS) "," ATTEMPT(AT1, AT2, TWO_GPUS "," TWO_GPUS)) "]",
		"id,tenant,gpus,arrival_s,duration_s\na,ee9e8c,4,0,180\n", "most GPUs" },
	{ "an attempt without an end does not count",
		"[" PHILLY_JOB("a", AT0,
			ATTEMPT(AT0, AT1, TWO_GPUS) "," ATTEMPT(AT1, "null", TWO_GPUS)) "]",
		"id,tenant,gpus,arrival_s,duration_s\na,ee9e8c,2,0,60\n" },
	{ "jobs without attempts never ran",
		"[" PHILLY_JOB("a", AT0, "") "," PHILLY_JOB("b", AT1, ATTEMPT(AT1, AT2, TWO_GPUS)) "]",
		"id,tenant,gpus,arrival_s,duration_s\nb,ee9e8c,2,0,120\n", "never ran" },
	{ "jobs without GPUs are left out",
		"[" PHILLY_JOB("a", AT0, ATTEMPT(AT0, AT1, "")) "," PHILLY_JOB("b", AT1,
			ATTEMPT(AT1, AT2, TWO_GPUS)) "]",
		"id,tenant,gpus,arrival_s,duration_s\nb,ee9e8c,2,0,120\n", "without GPUs" },
	{ "an attempt that ends before it starts fails, with the job's line",
		"[" PHILLY_JOB("b", AT1, ATTEMPT(AT1, AT2, TWO_GPUS)) ",\n" PHILLY_JOB("a", AT0,
			ATTEMPT(AT1, AT0, TWO_GPUS)) "]",
		"error: t:3: field 'attempts': \"2017-10-09 00:00:00\" is before start_time" },
	{ "no date", "[" PHILLY_JOB("a", "null", ATTEMPT(AT0, AT1, TWO_GPUS)) "]",
		"error: t:1: field 'submitted_time': is not a date" },
	{ "broken JSON", "[{\"jobid\": \"a\",\n", "error: t:2: not valid JSON" },
	{ "an object is not a log", "{\"jobid\": 1}", "error: t:1: not an array of jobs",
		.unrecognised = true },
	{ "a number is not a job", "[1, \"attempts\"]", "error: t: an item that is not an object" },
	{ "an array of nothing", "[]", "error: t: no jobs" },
};

#define HELIOS \
	"job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"

static const struct import_case helios[] = {
	{ "tenants are virtual clusters",
		HELIOS "9,u1,vcA,8,48,1,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:01:20,60,10\n"
		       "10,u2,vcB,1,6,1,FAILED,2020-04-01 00:00:00,x,y,30,0\n",
		"id,tenant,gpus,arrival_s,duration_s,cpus\n10,vcB,1,0,30,6\n9,vcA,8,10,60,48\n",
		"virtual clusters" },
	{ "CPU jobs are left out",
		HELIOS "9,u1,vcA,0,48,1,COMPLETED,2020-04-01 00:00:10,,,60,10\n"
		       "10,u2,vcB,1,6,1,FAILED,2020-04-01 00:00:00,,,30,0\n",
		"id,tenant,gpus,arrival_s,duration_s,cpus\n10,vcB,1,0,30,6\n", "without GPUs" },
	{ "only CPU jobs", HELIOS "9,u1,vcA,0,48,1,COMPLETED,2020-04-01 00:00:10,,,60,10\n",
		"error: t: no job is left: the only row does not count (line 2: gpu_num: is 0: a job without GPUs)" },
};

#define PAI "job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user\n"

static const struct import_case pai[] = {
	{ "instances multiply, fractions are rounded up",
		PAI "1,4,1000,6,0.25,T4,60,a\n2,3,1001,6,0.5,MISC,70,b\n3,2,1002,4,8,V100,80,a\n",
		"id,tenant,gpus,types,arrival_s,duration_s,cpus,measured_on\n"
		"1,a,1,T4,0,60,24,T4\n2,b,2,,1,70,18,\n3,a,16,V100,2,80,8,V100\n",
		"counts as a whole one" },
	{ "CPU jobs are left out", PAI "1,1,5,6,0,CPU,60,a\n2,1,5,6,1,,70,b\n",
		"id,tenant,gpus,arrival_s,duration_s,cpus\n2,b,1,0,70,6\n", "without GPUs" },
	{ "an estimate's columns are not ours",
		"job_id,num_inst,submit_time,num_gpu,duration,group_dur\n1,1,0,1,5,7\n",
		"id,gpus,arrival_s,duration_s\n1,1,0,5\n", "a column that pai traces do not have" },
};

#define OPENB \
	"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

static const struct import_case openb[] = {
	{ "a pod runs from its scheduling to its deletion",
		OPENB "p0,12000,16384,1,1000,,LS,Running,0,12537496,5\n"
		      "p1,500,1,2,1000,V100M16|V100M32,BE,Running,10,40,20\n",
		"id,gpus,types,arrival_s,duration_s,class,cpus,mem\n"
		"p0,1,,0,12537491,,12,17179869184\n"
		"p1,2,V100M16|V100M32,10,20,opportunistic,0.5,1048576\n",
		"opportunistic" },
	{ "part of a GPU is a whole one", OPENB "p0,1,1,1,460,,LS,Running,0,9,0\n",
		"id,gpus,arrival_s,duration_s,cpus,mem\np0,1,0,9,0.001,1048576\n", "whole one" },
	{ "pods that never ran", OPENB "p0,1,1,1,460,,LS,Pending,0,9,\np1,1,0,1,1000,,LS,Failed,1,9,2\n",
		"id,gpus,arrival_s,duration_s,cpus\np1,1,0,7,0.001\n", "never scheduled" },
	{ "deleted before it was scheduled", OPENB "p0,1,1,1,1000,,LS,Failed,1,2,9\n",
		"error: t:2: field 'deletion_time': \"2\" is before scheduled_time" },
};

static const struct import_case swf[] = {
	{ "processors are GPUs; -1 is unknown",
		"; Version: 2.2\n;\n"
		"  1  0 5 100 4 -1 1024 4 200 2048 1 3 1 7 1 1 -1 -1\n"
		"2 10 -1 50 -1 -1 -1 2 -1 -1 1 -1 1 -1 1 1 1 -1\n",
		"id,tenant,gpus,arrival_s,duration_s,est_s,mem\n1,3,4,0,100,200,8388608\n2,,2,10,50,,\n",
		"each processor counts as one GPU" },
	{ "cancelled jobs never ran",
		"1 0 5 -1 4 -1 -1 4 200 -1 5 3 1 7 1 1 -1 -1\n2 0 5 9 4 -1 -1 4 20 -1 1 3 1 7 1 1 -1 -1\n",
		"id,tenant,gpus,arrival_s,duration_s,est_s\n2,3,4,0,9,20\n", "is not known" },
	{ "17 numbers", "1 0 5 100 4 -1 1024 4 200 2048 1 3 1 7 1 1 -1\n",
		"error: t:1: 17 columns where swf has 18", .unrecognised = true },
	{ "a comment is not a job", "; nothing\n", "error: t: no jobs" },
	{ "-2 is not unknown", "1 0 5 -2 4 -1 -1 4 200 -1 5 3 1 7 1 1 -1 -1\n",
		"error: t:1: field 'run time': \"-2\" is too small" },
};

#define SACCT \
	"JobID|JobName|User|Account|State|Submit|Start|End|ElapsedRaw|Timelimit|AllocTRES|ReqTRES\n"
#define WHEN "2024-05-01T00:00:00|2024-05-01T00:00:10|2024-05-01T00:01:10"

static const struct import_case sacct[] = {
	{ "steps are left out; the limit is the estimate; types are read",
		SACCT "7|train|u|lab|COMPLETED|" WHEN
		      "|60|01:00:00|billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|cpu=8,gres/gpu:a100=4,mem=64G\n"
		      "7.batch|batch||lab|COMPLETED|" WHEN "|60||cpu=8,gres/gpu=4|\n"
		      "7.0|x||lab|COMPLETED|" WHEN "|60||cpu=8,gres/gpu=4|\n",
		"id,name,tenant,gpus,types,arrival_s,duration_s,est_s,cpus,mem,measured_on\n"
		"7,train,lab,4,a100,0,60,3600,8,68719476736,a100\n",
		"a step of a job" },
	{ "GPUs without a type, no limit, no account",
		SACCT "8_3|a b|u||CANCELLED by 5|" WHEN "|60|UNLIMITED|cpu=2,gres/gpu=2|\n",
		"id,name,tenant,gpus,arrival_s,duration_s,cpus\n8_3,a b,u,2,0,60,2\n" },
	{ "typed GPUs without a sum",
		SACCT "9|n|u|l|FAILED|" WHEN "|60||gres/gpu:v100=1,gres/gpu:a100=2|\n",
		"id,name,tenant,gpus,arrival_s,duration_s,measured_on\n9,n,l,3,0,60,a100\n" },
	{ "jobs that still run or never ran are left out",
		SACCT
		"1|n|u|l|RUNNING|" WHEN "|60||gres/gpu=2|\n2|n|u|l|CANCELLED|" WHEN "|0||gres/gpu=2|\n"
		"3|n|u|l|TIMEOUT|" WHEN "|60||gres/gpu=2|\n4|n|u|l|COMPLETED|" WHEN "|60||cpu=1|\n",
		"id,name,tenant,gpus,arrival_s,duration_s\n3,n,l,2,0,60\n", "has not ended" },
	{ "Elapsed, or End - Start, where there is no ElapsedRaw; other columns are nobody's business",
		"JobID|Submit|Elapsed|Start|End|AllocTRES|NodeList|\n"
		"1|2024-05-01T00:00:00|1-00:00:01|||gres/gpu=1|n1|\n"
		"2|2024-05-01T00:00:00||2024-05-01T00:00:00|2024-05-01T00:00:07|gres/gpu=1|n1|\n",
		"id,gpus,arrival_s,duration_s\n1,1,0,86401\n2,1,0,7\n" },
	{ "without resources nobody knows the GPUs", "JobID|Submit|Elapsed\n1|2024-05-01T00:00:00|7\n",
		"error: t:1: field 'AllocTRES': not in the header" },
	{ "without times nobody knows the run time", "JobID|Submit|AllocTRES\n1|2024-05-01T00:00:00|\n",
		"error: t:1: field 'ElapsedRaw': not in the header" },
	{ "the runs of a job that was requeued are one job, which arrived with the first",
		SACCT
		"7|n|u|l|REQUEUED|2024-05-01T00:00:00|2024-05-01T00:00:10|2024-05-01T00:00:40|30||gres/gpu=2|\n"
		"8|n|u|l|COMPLETED|2024-05-01T00:00:05|2024-05-01T00:00:10|2024-05-01T00:01:10|60||gres/gpu=1|\n"
		"7|n|u|l|COMPLETED|2024-05-01T00:00:40|2024-05-01T00:01:00|2024-05-01T00:02:00|60||gres/gpu=2|\n",
		"id,name,tenant,gpus,arrival_s,duration_s\n7,n,l,2,0,60\n8,n,l,1,5,60\n",
		"a further run of a job that was requeued" },
	{ "a name may hold the separator", SACCT "7|a|b|u|l|COMPLETED|" WHEN "|60||gres/gpu=2|\n",
		"id,name,tenant,gpus,arrival_s,duration_s\n7,a|b,l,2,0,60\n" },
	{ "older versions count GPUs of a node; JobIDRaw alone will do",
		"JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|AllocGRES|NNodes\n"
		"1|2024-05-01T00:00:00|60|10|gpu:v100:2|3\n2|2024-05-01T00:00:00|60|UNLIMITED|gres:gpu:1|1\n",
		"id,gpus,arrival_s,duration_s,est_s,measured_on\n1,6,0,60,600,v100\n2,1,0,60,,\n" },
	{ "seconds since 1970 are times, too",
		"JobID|Submit|Start|ElapsedRaw|AllocTRES\n1|1700000000|1700000005|60|gres/gpu=1\n",
		"id,gpus,arrival_s,duration_s\n1,1,0,60\n" },
	{ "no accounting", "Slurm accounting storage is disabled\n",
		"error: t:1: this is not a history but sacct saying that Slurm keeps none",
		.unrecognised = true },
	{ "no header", "7|n|COMPLETED\n", "error: t:1: no header; let sacct write one",
		.unrecognised = true },
	{ "a table for people", "JobID    JobName\n------- -------\n",
		"error: t:1: a table for people; let sacct write it with --parsable2",
		.unrecognised = true },
	{ "an error of sacct", "sacct: error: slurm_persist_conn_open: no\n",
		"error: t:1: this is an error of sacct, not a history: sacct: error",
		.unrecognised = true },
	{ "nobody used a GPU", SACCT "4|n|u|l|COMPLETED|" WHEN "|60||cpu=1|\n",
		"error: AccountingStorageTRES in slurm.conf has gres/gpu" },
	{ "a time that is none", SACCT "1|n|u|l|FAILED|Unknown|||60||gres/gpu=2|\n",
		"error: t:2: field 'Submit': \"Unknown\" is not a time" },
};

#define DONE(id, name, state, times, nodes, tres) \
	"JobId=" id " UserId=ann(1000) GroupId=ml(100) Name=" name " JobState=" state \
	" Partition=gpu TimeLimit=30 " times " NodeList=" nodes \
	" NodeCnt=1 ProcCnt=4 WorkDir=/home/ann/a b ReservationName= Tres=cpu=4,node=1" tres \
	" Account= QOS= WcKey= Cluster=unknown SubmitTime=2026-11-17T04:18:06" \
	" EligibleTime=2026-11-17T04:18:06 DerivedExitCode=0:0 ExitCode=0:0 \n"
#define RAN_4 "StartTime=2026-11-17T04:18:08 EndTime=2026-11-17T04:18:12"
#define RAN_6 "StartTime=2026-11-17T04:18:12 EndTime=2026-11-17T04:18:18"
#define RAN_0 "StartTime=2026-11-17T04:18:08 EndTime=2026-11-17T04:18:08"

static const struct import_case jobcomp[] = {
	{ "a job, its user and its type",
		DONE("1", "train", "COMPLETED", RAN_4, "v1", ",gres/gpu:v100=2"),
		"id,name,tenant,gpus,types,arrival_s,duration_s,est_s,cpus,measured_on\n"
		"1,train,ann,2,v100,0,4,1800,4,v100\n" },
	{ "a name with blanks that looks like fields",
		DONE("2", "a JobState=X b=c", "FAILED", RAN_4, "v1", ",gres/gpu=2"),
		"id,name,tenant,gpus,arrival_s,duration_s,est_s,cpus\n"
		"2,a JobState=X b=c,ann,2,0,4,1800,4\n",
		"ended as FAILED" },
	{ "a run that was requeued is PENDING, and the next one counts",
		DONE("4", "n", "PENDING", RAN_4, "v1", ",gres/gpu=2")
			DONE("4", "n", "COMPLETED", RAN_6, "v1", ",gres/gpu=2"),
		"id,name,tenant,gpus,arrival_s,duration_s,est_s,cpus\n4,n,ann,2,0,6,1800,4\n",
		"a further run of a job" },
	{ "who was cancelled while waiting never ran",
		DONE("7", "n", "CANCELLED", RAN_0, "(null)", ",gres/gpu=2")
			DONE("8", "n", "COMPLETED", RAN_4, "v1", ",gres/gpu=2"),
		"id,name,tenant,gpus,arrival_s,duration_s,est_s,cpus\n8,n,ann,2,0,4,1800,4\n",
		"never ran" },
	{ "without slurmdbd Slurm logs no GPUs", DONE("1", "n", "COMPLETED", RAN_4, "v1", ""),
		"error: --assume-gpus node=4" },
	{ "another line", DONE("1", "n", "COMPLETED", RAN_4, "v1", ",gres/gpu=2") "hello\n",
		"error: t:2: not a line of jobcomp/filetxt" },
};

#define LOG_TEST(name, format) \
	static void test_##name(void **state) \
	{ \
		(void)state; \
		run_import_cases(format, name); \
	}

LOG_TEST(philly_csv, "philly-csv")
LOG_TEST(philly, "philly")
LOG_TEST(helios, "helios")
LOG_TEST(pai, "pai")
LOG_TEST(openb, "openb")
LOG_TEST(swf, "swf")
LOG_TEST(sacct, "sacct")
LOG_TEST(jobcomp, "jobcomp")

static void gpus_may_be_assumed(void **state)
{
	const char *text = DONE("1", "n", "COMPLETED", RAN_4, "v1", "");
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(trace_read_text("t", slice_of(text),
				 &(struct import_options){ .gpus_per_node = 4 }, &trace, NULL, &err),
		0);
	assert_int_equal(trace.jobs[0].gpus, 4);
	trace_fini(&trace);
	assert_int_equal(trace_read_text("t", slice_of(text),
				 &(struct import_options){ .cpus_per_gpu = 2 }, &trace, NULL, &err),
		0);
	assert_int_equal(trace.jobs[0].gpus, 2);
	trace_fini(&trace);
}

/* What happened is kept: of every run, in the time of the trace. */
static void runs_are_kept(void **state)
{
	const char *text = DONE("4", "n", "PENDING", RAN_4, "v1", ",gres/gpu:v100=2")
		DONE("4", "n", "COMPLETED", RAN_6, "v2", ",gres/gpu:v100=2");
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(trace_read_text("t", slice_of(text), NULL, &trace, NULL, &err), 0);
	assert_int_equal(trace.npast, 2);
	assert_true(trace.past[0].start_s == 2 && trace.past[0].end_s == 6);
	assert_true(trace.past[1].start_s == 6 && trace.past[1].end_s == 12);
	assert_string_equal(trace.past[1].nodes, "v2");
	assert_int_equal(trace.past[1].gpus, 2);
	trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_philly_csv),
		cmocka_unit_test(test_philly),
		cmocka_unit_test(test_helios),
		cmocka_unit_test(test_pai),
		cmocka_unit_test(test_openb),
		cmocka_unit_test(test_swf),
		cmocka_unit_test(test_sacct),
		cmocka_unit_test(test_jobcomp),
		cmocka_unit_test(gpus_may_be_assumed),
		cmocka_unit_test(runs_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
