/*
 * Random states of a scheduler to ask "why does it wait?" in: clusters of one or two
 * types with and without CPUs and memory, tenants by weight, admission, placers, jobs of a
 * fixed size, elastic ones with and without measurements, parts of devices, deadlines,
 * priorities, holds, begin times, dependencies, devices that are down.
 */
#ifndef TESTS_SIM_EXPLAIN_STATES_H
#define TESTS_SIM_EXPLAIN_STATES_H

#include <math.h>
#include <string.h>

#include "model/snapshot.h"
#include "support/property.h"
#include "support/scene.h"

struct state {
	struct cluster cluster;
	struct snapshot snapshot;
	uint32_t number;   /* of the state */
	uint32_t job;      /* that is asked about */
	uint64_t used[16]; /* by node */
	bool hosts;        /* nodes have CPUs and memory */
	bool listens;      /* elastic jobs have agents */
};

/* By each device of a node. */
#define STATE_CPUS 4
#define STATE_MEM INT64_C(16000000000)

static inline bool one_in(struct rng *rng, uint32_t n)
{
	return pick(rng, n) == 1;
}

/* ---- where */

static inline void draw_cluster(struct state *s, struct rng *rng)
{
	static const char *const clusters[] = { "2x4:v100", "3x2:v100,1x4:k80", "1x8:v100,2x2:k80" };
	struct err err = { 0 };

	if (cluster_parse(clusters[pick(rng, COUNT(clusters)) - 1], &s->cluster, &err) < 0)
		fail_msg("%s", err.text);
	s->hosts = one_in(rng, 3);
	for (uint32_t i = 0; i < s->cluster.nnodes && s->hosts; i++) {
		s->cluster.nodes[i].cpus = STATE_CPUS * s->cluster.nodes[i].devices;
		s->cluster.nodes[i].mem_bytes = STATE_MEM * s->cluster.nodes[i].devices;
	}
}

static inline void draw_tenants(struct state *s, struct rng *rng)
{
	static const char *const names[] = { "ann", "bob", "team" };
	struct tenants *tenants = &s->snapshot.tenants;

	if (!one_in(rng, 3))
		return;
	for (size_t i = 0; i < COUNT(names); i++) {
		uint32_t at = tenants_add(tenants, names[i], strlen(names[i]));

		tenants->at[at].weight = pick(rng, 4);
		tenants->at[at].within = one_in(rng, 2) ? WITHIN_FIFO : WITHIN_FAIR;
	}
	if (one_in(rng, 2))
		tenants->at[0].parent = 2;
	if (one_in(rng, 2))
		return;
	/* Quotas: of 8 devices or more at most 6. */
	free((char *)s->snapshot.admit);
	s->snapshot.admit = mem_strdup("quota");
	for (uint32_t i = 0; i < 2; i++) {
		if (!one_in(rng, 3))
			tenants_promise(tenants, i, pick(rng, 4) - 1);
		if (one_in(rng, 2))
			tenants->at[i].borrow = pick(rng, 5) - 1;
		if (one_in(rng, 3))
			tenants->at[i].lend = pick(rng, 3) - 1;
	}
}

static inline void take_names(struct state *s)
{
	static const char *const tenants[] = { "ann", "bob", "cyd" };
	static const char *const models[] = { "resnet50", "bert", "mine" };
	struct names who = { 0 }, what = { 0 };

	for (size_t i = 0; i < COUNT(tenants); i++) {
		names_add(&who, tenants[i], strlen(tenants[i]));
		names_add(&what, models[i], strlen(models[i]));
	}
	snapshot_take_names(&s->snapshot, &who, &what);
	names_fini(&who);
	names_fini(&what);
}

static inline void draw_rules(struct state *s, struct rng *rng, const char *policy)
{
	static const char *const rules[] = { "best-fit", "consolidate", "consolidate:strict=1",
		"spread", "skew" };
	static const char *const admits[] = { "load:limit=0.5", "load:limit=0.8", "load", "all" };
	struct snapshot *snapshot = &s->snapshot;

	snapshot->policy = mem_strdup(policy);
	snapshot->placer = mem_strdup(
		one_in(rng, 4) ? rules[pick(rng, COUNT(rules)) - 1] : "first-fit");
	snapshot->admit = mem_strdup(one_in(rng, 4) ? admits[pick(rng, COUNT(admits)) - 1] : "all");
	snapshot->seed = pick(rng, 100);
	take_names(s);
	draw_tenants(s, rng);
	s->listens = one_in(rng, 2);
	snapshot->speeds = profile_create(&snapshot->cluster, &snapshot->model_names);
	snapshot->agents = agents_create(s->cluster.ntypes,
		(struct agents_options){ .proportional = true });
	snapshot->belief = (struct rates){
		.cluster = &snapshot->cluster,
		.profile = one_in(rng, 2) ? snapshot->speeds : NULL,
		.agents = s->listens ? snapshot->agents : NULL,
		.cautious = s->listens,
	};
}

/* ---- jobs */

static inline void draw_size(struct job *job, struct rng *rng)
{
	job->gpus = job->min_gpus = job->max_gpus = 1 << (pick(rng, 3) - 1);
	if (!one_in(rng, 3))
		return;
	job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
	job->max_gpus = job->gpus + (int32_t)pick(rng, 5) - 1;
}

static inline struct job draw_job(const struct state *s, struct rng *rng)
{
	struct job job;

	job_init(&job);
	draw_size(&job, rng);
	job.work_est = pick(rng, 5000) + 5;
	job.nominal_rate = 1;
	job.batch = 64;
	job.tenant = pick(rng, 3) - 1;
	job.model = pick(rng, 3) - 1;
	job.priority = (int32_t)pick(rng, 4) - 1;
	job.arrival_s = pick(rng, 900);
	job.weight = one_in(rng, 4) ? 2 : 1;
	job.class_ = one_in(rng, 8) ? JOB_OPPORTUNISTIC : JOB_GUARANTEED;
	job.resume_cost_s = job.resize_cost_s = one_in(rng, 2) ? 10 : 0;
	if (one_in(rng, !strncmp(s->snapshot.policy, "elasticflow", 11) ? 2 : 4))
		job.deadline_s = 950 + pick(rng, one_in(rng, 2) ? 600 : 6000);
	if (s->hosts && !one_in(rng, 3)) {
		job.cpus = pick(rng, STATE_CPUS) * job.min_gpus;
		job.mem_bytes = pick(rng, 4) * STATE_MEM / 4 * job.min_gpus;
	}
	return job;
}

/* What it has shown of itself, if anybody listens. */
static inline void teach(struct state *s, struct rng *rng, const struct job *job, uint32_t place,
	uint32_t measured)
{
	struct batch_limits limits = { .initial = 64, .max = 512, .min_local = 8, .max_local = 128 };

	if (!s->listens || job->min_gpus == job->max_gpus)
		return;
	for (uint32_t type = 0; type < s->cluster.ntypes; type++)
		agents_limit(s->snapshot.agents, place, type, limits);
	agents_feel(s->snapshot.agents, place, (struct gradient){ 1, pick(rng, 10) });
	for (uint32_t gpus = 1; gpus <= measured; gpus *= 2) {
		struct goodput_sample sample = {
			.nodes = 1,
			.replicas = gpus,
			.atomic = 64.0 / gpus,
			.step_s = 0.2 + 0.8 / gpus,
			.sync_s = gpus > 1 ? 0.1 : 0,
		};

		agents_observe(s->snapshot.agents, place, 0, &sample);
	}
}

/* Some free devices of a node, and the node; 0: none. */
static inline uint64_t take_devices(struct state *s, struct rng *rng, uint32_t *node, uint32_t want)
{
	uint64_t got = 0;
	uint32_t n = 0;

	*node = pick(rng, s->cluster.nnodes) - 1;
	for (uint32_t i = 0; i < s->cluster.nodes[*node].devices && n < want; i++) {
		if (s->used[*node] >> i & 1)
			continue;
		got |= UINT64_C(1) << i;
		n++;
	}
	s->used[*node] |= got;
	return got;
}

/* As many as it was given: what it asks for on a host fits there. */
static inline void fit_to(struct job *job, int32_t gpus)
{
	if (gpus < job->min_gpus || gpus > job->max_gpus || job->min_gpus == job->max_gpus)
		job->min_gpus = job->max_gpus = gpus;
	job->cpus = fmin(job->cpus, STATE_CPUS * gpus);
	job->mem_bytes = job->mem_bytes < STATE_MEM * gpus ? job->mem_bytes : STATE_MEM * gpus;
	job->gpus = gpus;
}

static inline void add_running(struct state *s, struct rng *rng)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	struct job job = draw_job(s, rng);
	uint32_t node;
	uint64_t devices = take_devices(s, rng, &node, (uint32_t)job.gpus);

	if (devices) {
		fit_to(&job, __builtin_popcountll(devices));
		grant->gpus = (uint32_t)job.gpus;
		grant->type = s->cluster.nodes[node].type;
		grant->nslots = 1;
		grant->share = 1;
		grant->slots[0] = (struct slot){ node, devices };
		job.rate = 1;
		job.start_s = job.held_s = job.counted_s = 900 + pick(rng, 100);
		job.ready_s = job.start_s + (one_in(rng, 4) ? pick(rng, 200) : 0);
		job.attempts = 1;
		teach(s, rng, &job, (uint32_t)s->snapshot.jobs.n, grant->gpus);
		snapshot_add(&s->snapshot, &job, grant, (uint32_t)s->snapshot.jobs.n + 1);
	}
	free(grant);
}

static inline void draw_gate(struct state *s, struct rng *rng, struct snapshot_job *one)
{
	uint32_t luck = pick(rng, 12), before = one->job.id;

	if (luck == 1)
		one->opens_s = INFINITY;
	else if (luck == 2)
		one->opens_s = 1000000;
	else if (luck == 3 && before) {
		uint32_t *after = arena_array(&s->snapshot.memory, uint32_t, 1);

		after[0] = pick(rng, before) - 1;
		one->after = after;
		one->nafter = 1;
	}
}

static inline void add_waiting(struct state *s, struct rng *rng, double arrival_s)
{
	struct job job = draw_job(s, rng);
	uint32_t place = (uint32_t)s->snapshot.jobs.n;

	job.arrival_s = job.wait_since_s = arrival_s;
	job.types = one_in(rng, 3) ? pick(rng, (1u << s->cluster.ntypes) - 1) : 0;
	if (s->hosts && one_in(rng, 3)) /* more than stands beside its devices */
		job.cpus = 2.0 * STATE_CPUS * job.min_gpus;
	else if (s->hosts && one_in(rng, 3))
		job.mem_bytes = 2 * STATE_MEM * job.min_gpus;
	if (job.min_gpus == job.max_gpus && one_in(rng, 8))
		job.share = 0.5;
	if (one_in(rng, 4)) { /* it ran before */
		job.done = pick(rng, (uint32_t)job.work_est) - 1;
		job.attempts = 1;
		job.served_s = job.done * job.gpus;
	}
	teach(s, rng, &job, place, job.attempts ? (uint32_t)job.gpus : 0);
	draw_gate(s, rng, snapshot_add(&s->snapshot, &job, NULL, place + 1));
}

/* ---- the whole */

static inline void break_device(struct state *s, struct rng *rng)
{
	uint32_t node = pick(rng, s->cluster.nnodes) - 1;
	uint64_t last = UINT64_C(1) << (s->cluster.nodes[node].devices - 1);

	if (!(s->used[node] & last))
		vec_push(&s->snapshot.down, ((struct snapshot_down){ node, last }));
}

/* Devices that are drained, held or not, and some that the job avoids. */
static inline void draw_care(struct state *s, struct rng *rng)
{
	uint32_t node = pick(rng, s->cluster.nnodes) - 1;
	struct slot *avoid = arena_array(&s->snapshot.memory, struct slot, 1);

	if (one_in(rng, 3))
		snapshot_drain(&s->snapshot, node, pick(rng, 3), one_in(rng, 2) ? "dust" : NULL);
	if (!one_in(rng, 4))
		return;
	*avoid = (struct slot){ pick(rng, s->cluster.nnodes) - 1, pick(rng, 3) };
	s->snapshot.jobs.at[s->job].job.avoid = avoid;
	s->snapshot.jobs.at[s->job].job.navoid = 1;
}

/* Release with drop_state(); it must not move. */
static inline void draw_state(struct state *s, struct rng *rng, const char *policy)
{
	uint32_t nrunning = pick(rng, 6), nwaiting = pick(rng, 7);

	*s = (struct state){ 0 };
	draw_cluster(s, rng);
	snapshot_init(&s->snapshot, &s->cluster, 1000 + pick(rng, 100));
	draw_rules(s, rng, policy);
	for (uint32_t i = 0; i < nrunning; i++)
		add_running(s, rng);
	for (uint32_t i = 0; i < nwaiting; i++)
		add_waiting(s, rng, 900 + 10 * i);
	s->job = s->snapshot.nrunning + pick(rng, nwaiting) - 1;
	if (one_in(rng, 4))
		break_device(s, rng);
	draw_care(s, rng);
}

static inline void drop_state(struct state *s)
{
	snapshot_fini(&s->snapshot);
	cluster_fini(&s->cluster);
}

#endif
