#include "model/trace.h"

#include <string.h>

#include "base/property.h"

static void add(struct trace *trace, double arrival_s, double work)
{
	struct job *job = trace_add(trace);

	job->arrival_s = arrival_s;
	trace->work[trace->njobs - 1] = work;
}

static void test_empty(void **state)
{
	struct trace trace = { 0 };

	(void)state;
	trace_finish(&trace, 0);
	assert_int_equal(trace.njobs, 0);
	trace_fini(&trace);
	trace_fini(&trace);
}

static void test_order_is_arrival_then_position(void **state)
{
	static const double arrivals[] = { 5, 1, 3, 1, 9, 0 };
	static const char *const labels[] = { "5", "1", "3", "2", "0", "4" };
	struct trace trace = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(arrivals); i++)
		add(&trace, arrivals[i], 10.0 * (double)(i + 1));
	trace_measured(&trace, names_add(&trace.types, "v100", 4));
	trace_finish(&trace, NAN);
	for (uint32_t i = 0; i < trace.njobs; i++) {
		size_t was = (size_t)(labels[i][0] - '0');

		assert_string_equal(trace.jobs[i].label, labels[i]);
		assert_int_equal(trace.jobs[i].id, i);
		assert_true(trace.jobs[i].arrival_s == arrivals[was]);
		assert_true(trace.work[i] == 10.0 * (double)(was + 1));
		assert_int_equal(trace.measured_on[i], was == 5 ? 1 : 0);
	}
	trace_fini(&trace);
}

static void test_missing_things_are_filled(void **state)
{
	struct trace trace = { 0 };
	struct job *job;

	(void)state;
	add(&trace, 0, 40);
	trace.jobs[0].gpus = 4;
	trace.jobs[0].label = trace_text(&trace, "my-job rest", 6);
	add(&trace, 0, 50);
	job = &trace.jobs[1];
	job->gpus = 4;
	job->min_gpus = 1;
	job->max_gpus = 8;
	job->work_est = 70;
	job->nominal_rate = 2;
	add(&trace, 0, 60);
	trace.jobs[2].nominal_rate = NAN;
	trace_finish(&trace, NAN);

	assert_string_equal(trace.jobs[0].label, "my-job");
	assert_int_equal(trace.jobs[0].min_gpus, 4);
	assert_int_equal(trace.jobs[0].max_gpus, 4);
	assert_true(trace.jobs[0].work_est == 40 && trace.jobs[0].nominal_rate == 1);

	assert_string_equal(trace.jobs[1].label, "1");
	assert_int_equal(trace.jobs[1].min_gpus, 1);
	assert_int_equal(trace.jobs[1].max_gpus, 8);
	assert_true(trace.jobs[1].work_est == 70 && trace.jobs[1].nominal_rate == 2);
	assert_true(trace.jobs[2].nominal_rate == 1);
	trace_fini(&trace);
}

static void test_origin_moves_arrivals_and_deadlines(void **state)
{
	struct trace trace = { 0 };

	(void)state;
	add(&trace, 1000, 1);
	trace.jobs[0].deadline_s = 1100;
	add(&trace, 1500, 1);
	trace_finish(&trace, 10);
	assert_true(trace.jobs[0].arrival_s == 10 && trace.jobs[1].arrival_s == 510);
	assert_true(trace.jobs[0].deadline_s == 110);
	assert_true(isinf(trace.jobs[1].deadline_s));
	trace_fini(&trace);
}

static void test_an_origin_already_met_changes_nothing(void **state)
{
	struct trace trace = { 0 };

	(void)state;
	add(&trace, 0.1, 1);
	add(&trace, 0.3, 1);
	trace_finish(&trace, 0.1);
	assert_true(trace.jobs[1].arrival_s == 0.3);
	trace_fini(&trace);
}

/* Jobs "a" (at 9) needs "c" and "b"; "c" (at 0) needs nothing; order after: c, b, a. */
static void test_dependencies_follow_their_jobs(void **state)
{
	struct trace trace = { 0 };
	const struct job *a;

	(void)state;
	add(&trace, 9, 1);
	add(&trace, 5, 1);
	add(&trace, 0, 1);
	trace_add_dep(&trace, 0, 2);
	trace_add_dep(&trace, 0, 1);
	trace_add_dep(&trace, 1, 2);
	trace_finish(&trace, NAN);
	a = &trace.jobs[2];
	assert_string_equal(a->label, "0");
	assert_int_equal(a->ndeps, 2);
	assert_int_equal(trace.deps[a->first_dep], 0);
	assert_int_equal(trace.deps[a->first_dep + 1], 1);
	assert_int_equal(trace.jobs[1].ndeps, 1);
	assert_int_equal(trace.deps[trace.jobs[1].first_dep], 0);
	trace_fini(&trace);
}

static void test_measured_on_grows_with_the_trace(void **state)
{
	struct trace trace = { 0 };

	(void)state;
	add(&trace, 0, 1);
	trace_measured(&trace, 3);
	for (int i = 1; i < 1000; i++)
		add(&trace, i, 1);
	trace_measured(&trace, 0);
	trace_finish(&trace, NAN);
	assert_int_equal(trace.measured_on[0], 4);
	for (int i = 1; i < 999; i++)
		assert_int_equal(trace.measured_on[i], 0);
	assert_int_equal(trace.measured_on[999], 1);
	trace_fini(&trace);
}

/* A job carries its position in its work and weight, so that every parallel array can be checked. */
static void check_sorted(const struct trace *trace, const double *arrivals)
{
	for (uint32_t i = 0; i < trace->njobs; i++) {
		const struct job *job = &trace->jobs[i];
		uint32_t was = (uint32_t)trace->work[i];

		assert_int_equal(atoi(job->label), was);
		assert_true(job->weight == was && job->arrival_s == arrivals[was]);
		assert_int_equal(trace->measured_on[i], was % 7 + 1);
		if (i) {
			const struct job *last = job - 1;

			assert_true(last->arrival_s < job->arrival_s ||
				(last->arrival_s == job->arrival_s && last->weight < job->weight));
		}
		if (job->ndeps)
			assert_true(trace->work[trace->deps[job->first_dep]] == was / 2);
	}
}

static void test_sorting_property(void **state)
{
	struct rng rng = property("sorting is stable and keeps every array together");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 300);
		double *arrivals = mem_alloc(n * sizeof(*arrivals));
		struct trace trace = { 0 };

		for (uint32_t i = 0; i < n; i++) {
			arrivals[i] = (double)rng_below(&rng, 50);
			add(&trace, arrivals[i], i);
			trace.jobs[i].weight = i;
			trace_measured(&trace, i % 7);
			if (rng_below(&rng, 3) == 0)
				trace_add_dep(&trace, i, i / 2);
		}
		trace_finish(&trace, NAN);
		check_sorted(&trace, arrivals);
		trace_fini(&trace);
		free(arrivals);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_order_is_arrival_then_position),
		cmocka_unit_test(test_missing_things_are_filled),
		cmocka_unit_test(test_origin_moves_arrivals_and_deadlines),
		cmocka_unit_test(test_an_origin_already_met_changes_nothing),
		cmocka_unit_test(test_dependencies_follow_their_jobs),
		cmocka_unit_test(test_measured_on_grows_with_the_trace),
		cmocka_unit_test(test_sorting_property),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
