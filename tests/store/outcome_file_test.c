#include "store/outcome_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/trace_io.h"

static struct trace two_jobs(void)
{
	struct trace trace = { 0 };
	struct err err = { 0 };

	assert_int_equal(trace_read_text("t",
				 slice_of("id,gpus,arrival_s,duration_s\na,1,0,5\nb,2,1,6\n"), NULL,
				 &trace, NULL, &err),
		0);
	return trace;
}

static void it_comes_back_and_nothing_less_does(void **state)
{
	struct trace trace = two_jobs();
	struct sample sample = { .busy_gpus = 3 };
	struct span span = { .to_s = 7, .job = 1 };
	struct outcome from = { .jobs = trace.jobs,
		.njobs = 2,
		.samples = &sample,
		.nsamples = 1,
		.spans = &span,
		.nspans = 1,
		.busy_gpu_s = 42,
		.figures = { { "solved", 9 } },
		.nfigures = 1 };
	struct names names = { 0 };
	struct outcome got;
	struct buf bytes = { 0 };
	struct err err = { 0 };

	(void)state;
	outcome_pack(&from, &bytes);
	assert_int_equal(
		outcome_unpack((struct slice){ bytes.at, bytes.n }, &trace, &names, &got, &err), 0);
	assert_string_equal(got.jobs[1].label, "b");
	assert_int_equal(got.jobs[1].gpus, 2);
	assert_true(got.samples[0].busy_gpus == 3 && got.spans[0].to_s == 7 && got.busy_gpu_s == 42);
	assert_string_equal(got.figures[0].name, "solved");
	outcome_fini(&got);
	for (size_t n = 0; n < bytes.n; n++)
		assert_int_equal(
			outcome_unpack((struct slice){ bytes.at, n }, &trace, &names, &got, &err),
			ERR_FORMAT);
	bytes.at[0] ^= 1;
	assert_int_equal(outcome_unpack((struct slice){ bytes.at, bytes.n }, &trace, &names, &got, &err),
		ERR_FORMAT);
	names_fini(&names);
	buf_fini(&bytes);
	trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(it_comes_back_and_nothing_less_does) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
