/*
 * Jobs of the daemon: from what was asked, to a status and back.
 */
#include "live/live_job.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

/* One that goes straight to the core is the one a replay makes from its row. */
static void assert_status_is_all_of(const struct live_job *job)
{
	struct buf text = { 0 };
	struct live_job *again;
	struct err err = { 0 };
	json_t *json;

	live_job_status(job, &text);
	json = json_loads(text.at, 0, NULL);
	assert_int_equal(live_job_from_status(json, &again, &err), 0);
	assert_memory_equal(&job->base, &again->base, sizeof(job->base));
	assert_memory_equal(&job->progress, &again->progress, sizeof(job->progress));
	json_decref(json);
	live_job_destroy(again);
	buf_fini(&text);
}

static void a_job_is_made_of_what_was_asked(void **state)
{
	const struct dependency after[] = { { AFTER_OK, 3 }, { AFTER_START, 4 } };
	struct submission what;
	struct live_job *job;

	(void)state;
	submission_init(&what);
	what.name = "train";
	what.gpus = what.min_gpus = 2;
	what.max_gpus = 4;
	what.time_s = 500;
	what.deadline_s = 1100;
	what.begin_s = 1050;
	what.share = 1;
	what.after = after;
	what.nafter = 2;
	job = live_job_create(7, &what, 1000, 25);
	assert_int_equal(job->id, 7);
	assert_true(job->arrival_s == 25 && job->base.arrival_s == 25 && job->base.wait_since_s == 25);
	assert_true(job->deadline_s == 100 && job->begin_s == 50);
	assert_true(job->base.work_est == 500 && job->base.nominal_rate == 1);
	assert_true(job->base.share == 0); /* whole devices */
	assert_int_equal(job->base.max_gpus, 4);
	assert_int_equal(job->nafter, 2);
	assert_int_equal(job->state, LIVE_PENDING);
	assert_false(job->cpu_only);
	assert_status_is_all_of(job);
	live_job_destroy(job);
	what.gpus = what.min_gpus = what.max_gpus = 0;
	what.cpus = 2.5;
	what.deadline_s = what.begin_s = 0;
	what.estimate_s = 60;
	job = live_job_create(8, &what, 1000, 25);
	assert_true(job->cpu_only && job->base.gpus == 3 && job->base.cpus == 0);
	assert_true(isinf(job->deadline_s) && job->begin_s == 0);
	assert_true(job->base.work_est == 60);
	assert_status_is_all_of(job);
	live_job_destroy(job);
	submission_fini(&what);
	live_job_destroy(NULL);
}

/* ---- there and back */

static double any_number(struct rng *rng)
{
	switch (rng_below(rng, 6)) {
	case 0:
		return (double)rng_below(rng, 100);
	case 1:
		return rng_uniform(rng);
	case 2:
		return rng_lognormal(rng, 0, 30);
	case 3:
		return -rng_exponential(rng, 1e-9);
	case 4:
		return 1e9 + rng_uniform(rng);
	default:
		return (double)rng_u64(rng);
	}
}

static char *any_text(struct rng *rng)
{
	static const char *const texts[] = { "", "x", "a b", "say \"so\"",
		"\xc3\xa9t\xc3\xa9 \\ \n", "\x01" };

	return rng_below(rng, 3) ? mem_strdup(texts[rng_below(rng, COUNT(texts))]) : NULL;
}

static void fill_texts(struct live_job *job, struct rng *rng)
{
	job->name = mem_strdup("n");
	job->user = any_text(rng);
	job->tenant = any_text(rng);
	job->model = any_text(rng);
	job->key = any_text(rng);
	job->types = any_text(rng);
	job->comment = any_text(rng);
	job->end_text = any_text(rng);
}

static void fill_numbers(struct live_job *job, struct rng *rng)
{
	double *const fields[] = { &job->time_s, &job->estimate_s, &job->deadline_s, &job->begin_s,
		&job->grace_s, &job->used_s, &job->begun_s, &job->first_begun_s, &job->end_s,
		&job->base.weight, &job->base.cpus, &job->base.share, &job->base.start_cost_s,
		&job->base.resume_cost_s, &job->base.work_est, &job->base.nominal_rate,
		&job->base.start_s, &job->base.held_s, &job->base.ready_s, &job->base.counted_s,
		&job->base.rate, &job->base.turn_end_s, &job->base.turn_steps, &job->base.wait_since_s,
		&job->base.done, &job->base.saved, &job->base.ran_s, &job->base.served_s,
		&job->base.waited_s, &job->base.overhead_s, &job->base.lost_s, &job->base.occupied_s,
		&job->base.eff_s, &job->base.worth_s, &job->base.lost_gpu_s, &job->base.lent_gpus,
		&job->progress.step, &job->progress.total, &job->progress.per_s, &job->progress.at_s,
		&job->progress.first_step, &job->progress.first_s, &job->progress.loss };

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (rng_below(rng, 3))
			*fields[i] = any_number(rng);
	}
	job->arrival_s = job->base.arrival_s = any_number(rng);
}

static void fill_counts(struct live_job *job, struct rng *rng)
{
	uint32_t *const fields[] = { &job->uid, &job->gid, &job->array_id, &job->array_index,
		&job->array_limit, &job->attempt, &job->failed, &job->gate_job, &job->base.class_,
		&job->base.attempts, &job->base.preemptions, &job->base.migrations,
		&job->base.resizes, &job->base.failures, &job->base.company };

	for (size_t i = 0; i < COUNT(fields); i++)
		*fields[i] = (uint32_t)(rng_below(rng, 2) ? rng_u64(rng) : 0);
	job->submit_seq = rng_u64(rng) >> 1;
	job->base.mem_bytes = (int64_t)(rng_u64(rng) >> rng_below(rng, 63));
	job->base.gpu_mem_bytes = (int64_t)(rng_u64(rng) >> 1);
	job->base.priority = (int32_t)rng_u64(rng);
	job->base.gpus = 1 + (int32_t)rng_below(rng, 8);
	job->base.min_gpus = 1 + (int32_t)rng_below(rng, 8);
	job->base.max_gpus = 1 + (int32_t)rng_below(rng, 8);
	job->stop_signal = (int)rng_below(rng, 30);
	job->retries = (int32_t)rng_below(rng, 3);
	job->code = (int)rng_below(rng, 257) - 1;
	job->signal = (int)rng_below(rng, 30);
}

static void fill_flags(struct live_job *job, struct rng *rng)
{
	job->requeue = rng_below(rng, 2);
	job->held = rng_below(rng, 2);
	job->cpu_only = rng_below(rng, 2);
	job->base.by_steps = rng_below(rng, 2);
	job->progress.resizable = rng_below(rng, 2);
	job->unpromised = rng_below(rng, 2);
	job->state = (enum live_state)rng_below(rng, LIVE_STATES);
}

static struct live_job *any_job(struct rng *rng)
{
	struct submission what;
	struct live_job *job;
	uint32_t n = (uint32_t)rng_below(rng, 4);

	submission_init(&what);
	what.name = "n";
	what.gpus = what.min_gpus = what.max_gpus = 1;
	job = live_job_create(1 + (uint32_t)rng_below(rng, UINT32_MAX - 1), &what, 0, 0);
	submission_fini(&what);
	free(job->name);
	fill_texts(job, rng);
	fill_numbers(job, rng);
	fill_counts(job, rng);
	fill_flags(job, rng);
	free(job->after);
	job->after = mem_alloc((n + 1) * sizeof(*job->after));
	job->nafter = n;
	for (uint32_t i = 0; i < n; i++)
		job->after[i] = (struct dependency){ (enum dependency_kind)rng_below(rng, 4),
			(uint32_t)rng_u64(rng) };
	return job;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Beyond the text: fields that only the first half of a round trip would lose. */
static void assert_same(const struct live_job *a, const struct live_job *b)
{
	assert_int_equal(a->id, b->id);
	assert_true(same_number(a->base.done, b->base.done));
	assert_true(same_number(a->base.counted_s, b->base.counted_s));
	assert_true(same_number(a->base.turn_end_s, b->base.turn_end_s));
	assert_true(same_number(a->progress.first_s, b->progress.first_s));
	assert_true(same_number(a->base.arrival_s, b->base.arrival_s));
	assert_true(same_number(b->base.deadline_s, a->deadline_s));
	assert_int_equal(a->base.priority, b->base.priority);
	assert_int_equal(a->submit_seq, b->submit_seq);
	assert_int_equal(a->base.company, b->base.company);
	assert_int_equal(a->nafter, b->nafter);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->code, b->code);
	assert_int_equal(b->engine_id, JOB_NONE);
}

static void statuses_go_there_and_back(void **state)
{
	struct rng rng = property("a job made from a status is the same job");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct live_job *job = any_job(&rng), *again;
		struct buf text = { 0 }, second = { 0 };
		struct err err = { 0 };
		json_t *json;

		live_job_status(job, &text);
		json = json_loads(text.at, 0, NULL);
		if (!json)
			fail_msg("no JSON: %s", text.at);
		assert_int_equal(live_job_from_status(json, &again, &err), 0);
		live_job_status(again, &second);
		assert_string_equal(text.at, second.at);
		assert_same(job, again);
		json_decref(json);
		live_job_destroy(job);
		live_job_destroy(again);
		buf_fini(&text);
		buf_fini(&second);
	}
}

static void what_is_no_status_is_refused(void **state)
{
	static const char *const texts[] = { "{}", "{\"id\":1}", "{\"id\":1,\"state\":\"?\"}",
		"{\"id\":0,\"state\":\"PENDING\"}", "[]" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		json_t *json = json_loads(texts[i], 0, NULL);
		struct live_job *job;
		struct err err = { 0 };

		assert_int_equal(live_job_from_status(json, &job, &err), ERR_FORMAT);
		json_decref(json);
	}
	assert_int_equal(live_state_of("RUNNING"), LIVE_RUNNING);
	assert_int_equal(live_state_of("running"), -1);
	assert_string_equal(live_state_name(LIVE_STATES), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_made_of_what_was_asked),
		cmocka_unit_test(statuses_go_there_and_back),
		cmocka_unit_test(what_is_no_status_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
