#include "store/run_dir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char header[] =
	"id,name,tenant,model,gpus,arrival_s,start_s,finish_s,jct_s,wait_s,run_s,preemptions,state,"
	"migrations,resizes,failures,overhead_s,lost_s,ftf,deadline_s,why,reason,"
	"deadline_met,restarts,held_gpu_s,efficiency\n";

static void check(const struct trace *trace, struct job *job, const char *want)
{
	struct outcome outcome = { .jobs = job, .njobs = 1 };
	struct buf out = { 0 };

	jobs_csv(trace, &outcome, &out);
	assert_memory_equal(out.at, header, sizeof(header) - 1);
	assert_string_equal(out.at + sizeof(header) - 1, want);
	buf_fini(&out);
}

static void a_finished_job_has_its_times(void **state)
{
	struct trace trace = { 0 };
	struct job job;

	(void)state;
	job_init(&job);
	job.label = "7";
	job.name = "train, \"big\"";
	job.tenant = names_add(&trace.tenants, "vision", 6);
	job.model = names_add(&trace.models, "resnet50", 8);
	job.gpus = 4;
	job.arrival_s = 10;
	job.start_s = 15;
	job.finish_s = 110.5;
	job.waited_s = 20;
	job.ran_s = 80;
	job.preemptions = 1;
	job.overhead_s = 0.5;
	job.fair_s = 67;
	job.deadline_s = 200;
	job.restarts = 2;
	job.occupied_s = 322;
	job.served_s = 320;
	job.eff_s = 240;
	job.trained = true;
	job.state = JOB_FINISHED;
	check(&trace, &job,
		"7,\"train, \"\"big\"\"\",vision,resnet50,4,10,15,110.5,100.5,20,80,1,finished,0,0,0,0.5,0,"
		"1.5,200,,,yes,2,322,0.75\n");
	trace_fini(&trace);
}

static void what_is_not_known_is_empty(void **state)
{
	struct trace trace = { 0 };
	struct job job;

	(void)state;
	job_init(&job);
	job.label = "x";
	job.state = JOB_REJECTED;
	job.gpus = 64;
	job.reason = (struct reason){ .why = WHY_TOO_LARGE, .need = 64, .have = 32, .other = JOB_NONE };
	check(&trace, &job,
		"x,,,,64,0,,,,0,0,0,rejected,0,0,0,0,0,,,too-large,"
		"it needs 64 devices and the cluster can never give more than 32,,0,0,\n");
	trace_fini(&trace);
}

static void a_reason_names_the_other_job(void **state)
{
	struct trace trace = { 0 };
	struct job jobs[2];
	struct outcome outcome = { .jobs = jobs, .njobs = 2 };
	struct buf out = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		job_init(&jobs[i]);
		jobs[i].label = i ? "late" : "early";
		jobs[i].state = JOB_UNFINISHED;
	}
	jobs[1].reason = (struct reason){ .why = WHY_BEHIND, .need = 1 };
	jobs_csv(&trace, &outcome, &out);
	assert_non_null(strstr(out.at, ",unfinished,0,0,0,0,0,,,behind,"));
	assert_non_null(strstr(out.at, "early"));
	assert_non_null(strstr(strstr(out.at, "\nlate,"), "early is ahead"));
	buf_fini(&out);
	trace_fini(&trace);
}

static void no_jobs_is_a_header(void **state)
{
	struct trace trace = { 0 };
	struct outcome outcome = { 0 };
	struct buf out = { 0 };

	(void)state;
	jobs_csv(&trace, &outcome, &out);
	assert_string_equal(out.at, header);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finished_job_has_its_times),
		cmocka_unit_test(what_is_not_known_is_empty),
		cmocka_unit_test(a_reason_names_the_other_job),
		cmocka_unit_test(no_jobs_is_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
