#include "cli/resample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOBS = 100 };

/* Arrivals at squares, so that each gap names its job; every fifth job waits for the one before it. */
static void make(struct trace *trace)
{
	*trace = (struct trace){ .source = mem_strdup("made"), .hash = 1 };
	names_add(&trace->tenants, "t", 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		struct job *job = trace_add(trace);

		job->arrival_s = 1000 + (double)i * i;
		job->deadline_s = job->arrival_s + 10;
		job->gpus = (int32_t)(i % 4) + 1;
		job->tenant = 0;
		trace->work[i] = i + 1;
		if (i % 5 == 4)
			trace_add_dep(trace, i, i - 1);
	}
	trace_finish(trace, NAN);
}

/* The job of the original that job i is a copy of: its work says so. */
static uint32_t origin(const struct trace *drawn, uint32_t i)
{
	return (uint32_t)drawn->work[i] - 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void it_has_as_many_jobs_from_the_same_time_on(void **state)
{
	struct trace trace, drawn;

	(void)state;
	make(&trace);
	trace_resample(&trace, 1, &drawn);
	assert_int_equal(drawn.njobs, JOBS);
	assert_true(drawn.jobs[0].arrival_s == trace.jobs[0].arrival_s);
	assert_int_equal(drawn.tenants.n, 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		const struct job *from = &trace.jobs[origin(&drawn, i)];

		assert_int_equal(drawn.jobs[i].id, i);
		assert_int_equal(drawn.jobs[i].gpus, from->gpus);
		assert_true(fabs(drawn.jobs[i].deadline_s - drawn.jobs[i].arrival_s - 10) < 1e-6);
	}
	trace_fini(&drawn);
	trace_fini(&trace);
}

static void blocks_keep_order_and_gaps(void **state)
{
	struct trace trace, drawn;
	uint32_t joints = 0;

	(void)state;
	make(&trace);
	trace_resample(&trace, 2, &drawn);
	for (uint32_t i = 1; i < JOBS; i++) {
		uint32_t from = origin(&drawn, i);
		double gap_s = drawn.jobs[i].arrival_s - drawn.jobs[i - 1].arrival_s;

		joints += from != origin(&drawn, i - 1) + 1;
		if (from)
			assert_true(gap_s ==
				trace.jobs[from].arrival_s - trace.jobs[from - 1].arrival_s);
	}
	assert_in_range(joints, 1, JOBS / resample_block(&trace) - 1);
	trace_fini(&drawn);
	trace_fini(&trace);
}

static void labels_differ(void **state)
{
	const char *labels[JOBS];
	struct trace trace, drawn;
	bool again = false;

	(void)state;
	make(&trace);
	trace_resample(&trace, 3, &drawn);
	for (uint32_t i = 0; i < JOBS; i++) {
		labels[i] = drawn.jobs[i].label;
		again |= strchr(labels[i], '#') != NULL;
	}
	assert_true(again);
	qsort(labels, JOBS, sizeof(labels[0]), by_text);
	for (uint32_t i = 1; i < JOBS; i++)
		assert_string_not_equal(labels[i - 1], labels[i]);
	trace_fini(&drawn);
	trace_fini(&trace);
}

static void dependencies_stay_inside_their_block(void **state)
{
	struct trace trace, drawn;
	uint32_t lost, want = 0;

	(void)state;
	make(&trace);
	lost = trace_resample(&trace, 4, &drawn);
	for (uint32_t i = 0; i < JOBS; i++) {
		const struct job *job = &drawn.jobs[i];

		want += origin(&drawn, i) % 5 == 4;
		if (!job->ndeps)
			continue;
		assert_int_equal(job->ndeps, 1);
		assert_int_equal(drawn.deps[job->first_dep], i - 1);
		assert_int_equal(origin(&drawn, i - 1), origin(&drawn, i) - 1);
	}
	assert_true(drawn.ndeps > 0);
	assert_int_equal(drawn.ndeps + lost, want);
	trace_fini(&drawn);
	trace_fini(&trace);
}

static bool same(const struct trace *a, const struct trace *b)
{
	for (uint32_t i = 0; i < JOBS; i++)
		if (a->work[i] != b->work[i] || a->jobs[i].arrival_s != b->jobs[i].arrival_s)
			return false;
	return a->hash == b->hash;
}

static void the_seed_decides(void **state)
{
	struct trace trace, one, again, other;

	(void)state;
	make(&trace);
	trace_resample(&trace, 5, &one);
	trace_resample(&trace, 5, &again);
	trace_resample(&trace, 6, &other);
	assert_true(same(&one, &again));
	assert_false(same(&one, &other));
	trace_fini(&one);
	trace_fini(&again);
	trace_fini(&other);
	trace_fini(&trace);
}

static void one_job_is_itself(void **state)
{
	struct trace trace = { .source = mem_strdup("one") }, drawn;

	(void)state;
	trace_add(&trace)->arrival_s = 5;
	trace.work[0] = 3;
	trace_finish(&trace, NAN);
	trace_resample(&trace, 1, &drawn);
	assert_int_equal(drawn.njobs, 1);
	assert_true(drawn.jobs[0].arrival_s == 5 && drawn.work[0] == 3);
	trace_fini(&drawn);
	trace_fini(&trace);
}

static void a_part_keeps_its_times(void **state)
{
	struct trace trace, part;

	(void)state;
	make(&trace);
	assert_int_equal(trace_take(&trace, &(struct trace_part){ .from_s = 1000 + 84 * 84 }, &part),
		84);
	assert_int_equal(part.njobs, 16);
	for (uint32_t i = 0; i < part.njobs; i++) {
		assert_true(part.jobs[i].arrival_s == trace.jobs[84 + i].arrival_s);
		assert_true(part.work[i] == trace.work[84 + i]);
		assert_string_equal(part.jobs[i].label, trace.jobs[84 + i].label);
	}
	assert_int_equal(part.jobs[0].ndeps, 0); /* what it waited for is left out */
	assert_int_equal(part.jobs[5].ndeps, 1);
	assert_int_equal(part.deps[part.jobs[5].first_dep], 4);
	trace_fini(&part);
	trace_fini(&trace);
}

static void a_part_may_say_where_it_was_measured(void **state)
{
	struct trace trace, part;

	(void)state;
	make(&trace);
	names_add(&trace.types, "cpu", 3);
	trace.jobs[3].types = 1; /* of CPUs only */
	trace_take(&trace, &(struct trace_part){ .from_s = -INFINITY, .measured_on = "v100" }, &part);
	assert_int_equal(part.njobs, JOBS);
	assert_string_equal(part.types.at[1], "v100");
	assert_int_equal(part.measured_on[0], 2);
	assert_int_equal(part.measured_on[3], 0);
	trace_fini(&part);
	trace_fini(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_as_many_jobs_from_the_same_time_on),
		cmocka_unit_test(blocks_keep_order_and_gaps),
		cmocka_unit_test(labels_differ),
		cmocka_unit_test(dependencies_stay_inside_their_block),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(one_job_is_itself),
		cmocka_unit_test(a_part_keeps_its_times),
		cmocka_unit_test(a_part_may_say_where_it_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
