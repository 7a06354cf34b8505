/*
 * A moment to look ahead from, made by hand: who runs where, who waits.
 */
#ifndef TESTS_SIM_MOMENT_H
#define TESTS_SIM_MOMENT_H

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sim/habits.h"
#include "support/property.h"

struct moment {
	struct cluster cluster;
	struct snapshot s;
	struct habits habits;
};

/* It must not move afterwards. */
static inline void moment_init(struct moment *m, const char *cluster, const char *policy, double now_s)
{
	struct err err = { 0 };

	memset(m, 0, sizeof(*m));
	if (cluster_parse(cluster, &m->cluster, &err) < 0)
		fail_msg("%s", err.text);
	snapshot_init(&m->s, &m->cluster, now_s);
	m->s.policy = mem_strdup(policy);
	m->s.agents = agents_create(m->cluster.ntypes, (struct agents_options){ 0 });
	m->s.belief = (struct rates){ .cluster = &m->s.cluster };
	names_add(&m->s.tenant_names, "a", 1);
	names_add(&m->s.tenant_names, "b", 1);
}

static inline void moment_fini(struct moment *m)
{
	snapshot_fini(&m->s);
	habits_fini(&m->habits);
	cluster_fini(&m->cluster);
}

static inline struct job moment_job(int gpus, double est_s)
{
	struct job job;

	job_init(&job);
	job.gpus = job.min_gpus = job.max_gpus = gpus;
	job.work_est = est_s;
	return job;
}

/* It has had these devices of node 0 since `since_s`.  Before all that wait. */
static inline struct snapshot_job *moment_runs(struct moment *m, uint64_t devices, double est_s,
	double since_s)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	struct job job = moment_job(__builtin_popcountll(devices), est_s);
	struct snapshot_job *one;

	grant->gpus = (uint32_t)job.gpus;
	grant->nslots = 1;
	grant->share = 1;
	grant->slots[0] = (struct slot){ 0, devices };
	job.state = JOB_RUNNING;
	job.rate = 1;
	job.attempts = 1;
	job.start_s = job.held_s = job.ready_s = job.counted_s = since_s;
	one = snapshot_add(&m->s, &job, grant, (uint32_t)m->s.jobs.n + 1);
	one->known = 0.5;
	free(grant);
	return one;
}

static inline struct snapshot_job *moment_waits(struct moment *m, int gpus, double est_s)
{
	struct job job = moment_job(gpus, est_s);
	struct snapshot_job *one;

	job.arrival_s = job.wait_since_s = m->s.now_s;
	one = snapshot_add(&m->s, &job, NULL, (uint32_t)m->s.jobs.n + 1);
	one->known = 0.5;
	return one;
}

/* One that has ended: what was said, what it was. */
static inline void moment_past(struct moment *m, const char *tenant, double arrival_s, double est_s,
	double run_s)
{
	struct job job = moment_job(1, est_s);

	job.arrival_s = arrival_s;
	habits_add(&m->habits, &job, tenant, run_s, true);
}

/* All estimates were right, and all came at once: so nobody comes, and nothing is left to chance. */
static inline void moment_all_known(struct moment *m)
{
	for (int i = 0; i < 200; i++)
		moment_past(m, NULL, 0, 10 + 50 * i, 10 + 50 * i);
	habits_settle(&m->habits);
}

#endif
