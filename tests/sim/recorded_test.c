#include "sim/recorded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/trace_io.h"
#include "report/summary.h"

/* Two GPUs: one job waits 10 s and runs 20, another is requeued after 5 s and runs 15 more. */
static const char history[] = "JobID|State|Submit|Start|ElapsedRaw|NodeList|AllocTRES\n"
			      "1|COMPLETED|0|10|20|n1|gres/gpu=1\n"
			      "2|REQUEUED|0|0|5|n1|gres/gpu=1\n"
			      "2|COMPLETED|5|25|15|n1|gres/gpu=1\n";

static void what_slurm_did(void **state)
{
	struct cluster cluster = { 0 };
	struct outcome outcome;
	struct summary summary;
	struct trace trace = { 0 };
	struct err err = { 0 };
	double busy = 0;

	(void)state;
	assert_int_equal(trace_read_text("t", slice_of(history), NULL, &trace, NULL, &err), 0);
	assert_int_equal(cluster_parse("1x2:gpu", &cluster, &err), 0);
	assert_true(past_most_gpus(&trace) == 2);
	recorded_outcome(&trace, &cluster, &outcome);
	summary_of(&trace, &outcome, &summary);
	assert_int_equal(summary.jobs_finished, 2);
	assert_true(summary.jct_mean_s == (30 + 40) / 2.0);
	assert_true(summary.wait_mean_s == (10 + 20) / 2.0);
	assert_true(summary.makespan_s == 40);
	assert_true(fabs(summary.utilisation - 40 / 80.0) < 1e-12);
	assert_true(fabs(summary.useful - 35 / 80.0) < 1e-12);
	assert_true(summary.lost_gpu_s == 5);
	assert_int_equal(summary.preemptions, 1);
	assert_true(isnan(summary.ftf_mean));
	for (uint32_t i = 0; i < outcome.nsamples; i++)
		busy += outcome.samples[i].busy_gpus * outcome.step_s;
	assert_true(fabs(busy - 40) < 1e-6);
	summary_fini(&summary);
	outcome_fini(&outcome);
	cluster_fini(&cluster);
	trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_slurm_did) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
