/*
 * A future is what the simulator would say: the same jobs from the same moment.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "policy/policy.h"
#include "sim/future.h"
#include "sim/moment.h"
#include "sim/sim.h"
#include "support/property.h"
#include "support/scene.h"

/* The scene at its beginning, with nobody running. */
static void take(const struct scene *s, struct snapshot *out)
{
	snapshot_init(out, &s->cluster, 0);
	out->policy = mem_strdup(s->config.policy);
	out->agents = agents_create(s->cluster.ntypes, (struct agents_options){ 0 });
	out->belief = (struct rates){ .cluster = &out->cluster };
	for (uint32_t i = 0; i < s->trace.njobs; i++)
		snapshot_add(out, &s->trace.jobs[i], NULL, i + 1)->opens_s = s->trace.jobs[i].arrival_s;
}

static void a_future_is_a_simulation(void **state)
{
	static const char *const rules[] = { "fifo", "srtf", "las:round_s=60", "easy", "tiresias" };
	struct rng rng = property("futures against simulations");

	(void)state;
	for (size_t round = 0; round < rounds(25); round++) {
		struct future_job *jobs;
		struct snapshot snapshot;
		struct outcome out;
		struct err err = { 0 };
		struct scene s;

		scene_init(&s, "2x4");
		scene_draw(&s, &rng, (struct draw){ 30, 2000, 300, 4 });
		s.config.policy = rules[round % COUNT(rules)];
		s.config.seed = 1;
		scene_run(&s, &out);
		take(&s, &snapshot);
		jobs = mem_alloc(mem_array_size(s.trace.njobs, sizeof(*jobs)));
		if (future_run(&(struct future_config){ .from = &snapshot,
				       .work = s.trace.work,
				       .until_s = 1e9,
				       .seed = 1 },
			    jobs, &err) < 0)
			fail_msg("%s", err.text);
		for (uint32_t i = 0; i < out.njobs; i++) {
			if (fabs(jobs[i].finish_s - out.jobs[i].finish_s) > 1e-6)
				fail_msg("%s, job %u: %g, simulated %g", s.config.policy, i,
					jobs[i].finish_s, out.jobs[i].finish_s);
			assert_true(fabs(jobs[i].start_s - out.jobs[i].start_s) < 1e-6);
		}
		free(jobs);
		snapshot_fini(&snapshot);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Two devices, of which job 1 has one until 60. */
static void take_two(struct cluster *cluster, struct snapshot *s)
{
	struct err err = { 0 };
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	struct job job;

	if (cluster_parse("1x2:v100", cluster, &err) < 0)
		fail_msg("%s", err.text);
	snapshot_init(s, cluster, 10);
	s->policy = mem_strdup("fifo");
	s->agents = agents_create(1, (struct agents_options){ 0 });
	s->belief = (struct rates){ .cluster = &s->cluster };
	grant->gpus = grant->nslots = 1;
	grant->share = 1;
	grant->slots[0] = (struct slot){ 0, 1 };
	job_init(&job);
	job.work_est = 100;
	job.rate = job.nominal_rate = 1;
	job.held_s = job.ready_s = job.counted_s = 0;
	job.attempts = 1;
	snapshot_add(s, &job, grant, 1);
	free(grant);
	job_init(&job);
	job.gpus = job.min_gpus = job.max_gpus = 2;
	job.work_est = 10;
	snapshot_add(s, &job, NULL, 7);
	job.gpus = job.min_gpus = job.max_gpus = 1;
	snapshot_add(s, &job, NULL, 8)->opens_s = 200;
}

static void who_runs_goes_on(void **state)
{
	const double work[] = { 60, 10, 5 };
	struct future_job out[3];
	struct cluster cluster;
	struct snapshot s;
	struct err err = { 0 };

	(void)state;
	take_two(&cluster, &s);
	assert_int_equal(snapshot_find(&s, 7), 1);
	assert_int_equal(snapshot_find(&s, 9), JOB_NONE);
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = 1e6 }, out,
		    &err) < 0)
		fail_msg("%s", err.text);
	assert_true(out[0].start_s == 10 && out[0].finish_s == 60);
	assert_true(out[1].start_s == 60 && out[1].finish_s == 70);
	assert_true(out[2].start_s == 200 && out[2].finish_s == 205);
	/* not further than asked */
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = 65 }, out, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(out[1].start_s == 60 && isinf(out[1].finish_s) && isinf(out[2].start_s));
	/* a device that is down stays so, and whoever needs both waits for good */
	vec_push(&s.down, ((struct snapshot_down){ 0, 2 }));
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = 1e6 }, out,
		    &err) < 0)
		fail_msg("%s", err.text);
	assert_true(isinf(out[1].start_s));
	snapshot_fini(&s);
	cluster_fini(&cluster);
}

static void who_follows_comes_after(void **state)
{
	const double work[] = { 60, 10, 5 };
	static const uint32_t first[] = { 1 };
	struct future_job out[3];
	struct cluster cluster;
	struct snapshot s;
	struct err err = { 0 };

	(void)state;
	take_two(&cluster, &s);
	s.jobs.at[2].opens_s = -INFINITY;
	s.jobs.at[2].after = first;
	s.jobs.at[2].nafter = 1;
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = 1e6 }, out,
		    &err) < 0)
		fail_msg("%s", err.text);
	assert_true(out[2].start_s == 70);
	snapshot_fini(&s);
	cluster_fini(&cluster);
}

/* Jobs as they stand in the snapshot have agents there; one before it that never comes changes no numbers. */
static void each_has_its_own_agent(void **state)
{
	const double work[] = { 60, 10, 100 };
	struct goodput_sample slow = { 1, 1, 8, 10, 0 }, quick = { 1, 1, 8, 2, 0 };
	struct batch_limits limits = { .initial = 8, .max = 8, .min_local = 8, .max_local = 8 };
	struct future_job out[3];
	struct cluster cluster;
	struct snapshot s;
	struct err err = { 0 };

	(void)state;
	take_two(&cluster, &s);
	s.belief.agents = s.agents;
	s.jobs.at[1].opens_s = INFINITY;
	for (uint32_t i = 1; i < 3; i++) {
		agents_limit(s.agents, i, 0, limits);
		agents_observe(s.agents, i, 0, i == 1 ? &slow : &quick);
		s.jobs.at[i].job.batch = 8;
		s.jobs.at[i].job.max_gpus = 2;
	}
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = 1e6 }, out,
		    &err) < 0)
		fail_msg("%s", err.text);
	assert_true(isinf(out[1].start_s));
	assert_float_equal(out[2].finish_s, 400, 1); /* 100 steps of 2 s */
	snapshot_fini(&s);
	cluster_fini(&cluster);
}

/* ---- time limits */

enum { LIMITED = 9 };

static void add_up(void *ctx, uint32_t i, const struct grant *grant, double from_s, double to_s)
{
	double *ran_s = ctx;

	(void)grant;
	ran_s[i] += to_s - from_s;
}

/* Three run and six wait; some have limits, which most of them run into: they do more than was said. */
static void draw_limited(struct moment *m, struct rng *rng, const char *policy, double *work)
{
	moment_init(m, "1x4:v100", policy, 1000);
	for (uint32_t i = 0; i < LIMITED; i++) {
		struct snapshot_job *one = i < 3
			? moment_runs(m, i == 2 ? 0xc : 1u << i, 100 + 1000 * rng_uniform(rng), 900)
			: moment_waits(m, 1 << rng_below(rng, 3), 100 + 1000 * rng_uniform(rng));

		one->job.tenant = (uint32_t)rng_below(rng, 2);
		one->job.start_cost_s = one->job.resume_cost_s = 5 * rng_uniform(rng);
		work[i] = 2000 * rng_uniform(rng) + 150;
		if (rng_below(rng, 4))
			one->limit_s = 600 * rng_uniform(rng);
	}
}

static void no_future_outlasts_a_time_limit(void **state)
{
	struct rng rng = property("time limits in futures");
	uint32_t cut = 0;

	(void)state;
	for (size_t round = 0, k = 0; round < rounds(300); round++, k++) {
		double work[LIMITED], ran_s[LIMITED] = { 0 };
		struct future_job out[LIMITED];
		struct err err = { 0 };
		struct moment m;

		k = policies[k] ? k : 0;
		if (policies[k]->simulated_for || policies[k]->stand_in)
			continue;
		draw_limited(&m, &rng, policies[k]->name, work);
		if (future_run(&(struct future_config){ .from = &m.s,
				       .work = work,
				       .until_s = 1e6,
				       .until_ended = true,
				       .grain = 0.02,
				       .span = add_up,
				       .span_ctx = ran_s },
			    out, &err) < 0)
			fail_msg("%s: %s", policies[k]->name, err.text);
		for (uint32_t i = 0; i < LIMITED; i++) {
			double most_s = m.s.jobs.at[i].limit_s;

			if (ran_s[i] > most_s + 1e-6)
				fail_msg("%s: job %u runs %g s, its limit leaves %g s",
					policies[k]->name, i + 1, ran_s[i], most_s);
			cut += isfinite(out[i].finish_s) && ran_s[i] > most_s - 1e-6;
		}
		moment_fini(&m);
	}
	assert_true(cut > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_future_is_a_simulation),
		cmocka_unit_test(who_runs_goes_on),
		cmocka_unit_test(who_follows_comes_after),
		cmocka_unit_test(each_has_its_own_agent),
		cmocka_unit_test(no_future_outlasts_a_time_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
