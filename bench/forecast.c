/*
 * What a forecast costs: 200 futures of 1,000 jobs on 256 devices.
 *
 *	build/bench/forecast [POLICY...]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "sim/forecast.h"

enum { NODES = 32, DEVICES = 8, RUNNING = 100, JOBS = 1000, PAST = 4000 };

static struct job draw_job(struct rng *rng, double now_s)
{
	static const int gangs[] = { 1, 1, 1, 2, 2, 4, 8 };
	struct job job;

	job_init(&job);
	job.gpus = job.min_gpus = job.max_gpus = gangs[rng_below(rng, 7)];
	job.work_est = rng_lognormal(rng, 8, 1.2);
	job.arrival_s = now_s - rng_uniform(rng) * 86400;
	job.tenant = (uint32_t)rng_below(rng, 10);
	return job;
}

static void add_habits(struct habits *habits, struct rng *rng, double now_s)
{
	static const char *const names[] = { "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8",
		"t9" };

	for (int i = 0; i < PAST; i++) {
		struct job job = draw_job(rng, now_s);

		job.arrival_s = now_s - 7 * 86400.0 * rng_uniform(rng);
		habits_add(habits, &job, names[job.tenant],
			job.work_est * rng_lognormal(rng, -0.2, 0.7), true);
	}
	habits_settle(habits);
}

/* Devices one after the other, until all are held. */
static void add_running(struct snapshot *s, struct rng *rng)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	uint32_t node = 0, used = 0, number = 1;

	while (node < NODES) {
		struct job job = draw_job(rng, s->now_s);

		if (used + (uint32_t)job.gpus > DEVICES) {
			node++;
			used = 0;
			continue;
		}
		*grant = (struct grant){ .gpus = (uint32_t)job.gpus, .nslots = 1, .share = 1 };
		grant->slots[0] = (struct slot){ node, ((UINT64_C(1) << job.gpus) - 1) << used };
		used += (uint32_t)job.gpus;
		job.state = JOB_RUNNING;
		job.rate = 1;
		job.attempts = 1;
		job.start_s = job.held_s = job.ready_s = job.counted_s = s->now_s -
			rng_uniform(rng) * job.work_est;
		snapshot_add(s, &job, grant, number++)->known = 0.5;
	}
	free(grant);
}

static void fill(struct snapshot *s, const struct cluster *cluster, const char *policy)
{
	struct rng rng;

	rng_init(&rng, 1, RNG_TEST);
	snapshot_init(s, cluster, 1e6);
	s->policy = mem_strdup(policy);
	s->agents = agents_create(cluster->ntypes, (struct agents_options){ 0 });
	s->belief = (struct rates){ .cluster = &s->cluster };
	add_running(s, &rng);
	while (s->jobs.n < JOBS) {
		struct job job = draw_job(&rng, s->now_s);
		struct snapshot_job *one;

		job.arrival_s = s->now_s - 86400 + (double)s->jobs.n * 80;
		one = snapshot_add(s, &job, NULL, (uint32_t)s->jobs.n + 1);
		one->known = 0.5;
		one->opens_s = -INFINITY;
	}
}

static int measure(const char *policy)
{
	struct err err = { 0 };
	struct habits habits = { 0 };
	struct forecast forecast;
	struct cluster cluster;
	struct snapshot s;
	struct rng rng;
	int rc;

	if (cluster_parse("32x8:v100", &cluster, &err) < 0)
		return -1;
	rng_init(&rng, 2, RNG_TEST);
	add_habits(&habits, &rng, 1e6);
	fill(&s, &cluster, policy);
	rc = forecast_run(&(struct forecast_config){ .from = &s,
				  .habits = &habits,
				  .futures = 200,
				  .want_spans = true },
		&forecast, &err);
	if (rc < 0)
		printf("%-12s %s\n", policy, err.text);
	else
		printf("%-12s %4u futures of %zu jobs (%u run) on %u devices: %.3f s of CPU\n", policy,
			forecast.futures, s.jobs.n, s.nrunning, cluster.devices, forecast.cpu_s);
	forecast_fini(&forecast);
	snapshot_fini(&s);
	habits_fini(&habits);
	cluster_fini(&cluster);
	return rc;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "fifo", "easy", "srtf", "las", "tiresias", "fair-share" };
	int rc = 0;

	for (int i = 1; i < argc; i++)
		rc |= measure(argv[i]);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		rc |= measure(usual[i]);
	return rc ? 1 : 0;
}
