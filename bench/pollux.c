/*
 * pollux [ROUNDS [JOBS]]: what one decision of Pollux costs, beside the bars it should
 * meet and what the published one needs.
 *
 * Jobs of drawn goodput models, each with a few measurements, compete for
 * nodes of four devices; a decision is carried out, time passes, all show a new
 * gradient, and the next is made.  All generations are made (patience=0).  CPU
 * time of decide() alone, the median of ROUNDS (10), without the first; the
 * least is what it takes where nothing else runs beside it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "model/agents.h"
#include "policy/policy.h"

static const struct size {
	uint32_t jobs, nodes;
	double bar_s, published_s; /* 0: none */
} sizes[] = {
	{ 19, 16, 0.02, 1.01 },
	{ 38, 32, 0, 3.07 },
	{ 76, 64, 0, 10.6 },
	{ 150, 128, 0, 0 },
	{ 300, 256, 5, 0 },
};

struct world {
	struct cluster cluster;
	struct agents *agents;
	struct rates belief;
	struct plan plan;
	struct job *jobs;
	uint32_t *ids;
	char *job_state;
	struct arena scratch;
	struct rng rng;
};

static void fail(const struct err *err)
{
	fprintf(stderr, "pollux: %s\n", err->text);
	exit(1);
}

static void feel(struct world *w, uint32_t job, double round)
{
	agents_feel(w->agents, job,
		(struct gradient){ .sqr = 1, .var = 5 + job % 17 + round * (1 + job % 3) });
}

/* Measurements on one to eight devices, so that it may grow to sixteen. */
static void show(struct world *w, uint32_t job)
{
	double grad_s = rng_between(&w->rng, 0.05, 0.5), sync_s = rng_between(&w->rng, 0.01, 0.2);

	agents_limit(w->agents, job, 0,
		(struct batch_limits){ .initial = 128, .max = 4096, .min_local = 32, .max_local = 512 });
	for (uint32_t gpus = 1; gpus <= 8; gpus *= 2) {
		double sync = gpus == 1 ? 0 : sync_s * (gpus > 4 ? 2 : 1) * (1 + 0.05 * gpus);
		struct goodput_sample sample = {
			.nodes = gpus > 4 ? 2 : 1,
			.replicas = gpus,
			.atomic = 128,
			.step_s = grad_s + sync,
			.sync_s = sync,
		};

		agents_observe(w->agents, job, 0, &sample);
	}
	feel(w, job, 0);
}

static void world_init(struct world *w, const struct size *size)
{
	char spec[64];
	struct err err = { 0 };

	*w = (struct world){ 0 };
	rng_init(&w->rng, 1, RNG_TEST);
	snprintf(spec, sizeof(spec), "%ux4:t4", size->nodes);
	if (cluster_parse(spec, &w->cluster, &err) < 0)
		fail(&err);
	w->agents = agents_create(1, (struct agents_options){ 0 });
	w->belief = (struct rates){ .cluster = &w->cluster, .agents = w->agents };
	plan_init(&w->plan, &w->cluster, placer_find("first-fit", &err), NULL, 1);
	w->jobs = mem_alloc(size->jobs * sizeof(*w->jobs));
	w->ids = mem_alloc(size->jobs * sizeof(*w->ids));
	for (uint32_t i = 0; i < size->jobs; i++) {
		struct job *job = &w->jobs[i];

		job_init(job);
		job->id = w->ids[i] = i;
		job->label = "job";
		job->arrival_s = -rng_between(&w->rng, 0, 36000);
		job->min_gpus = 1;
		job->max_gpus = 64;
		job->state = JOB_PENDING;
		show(w, i);
	}
}

static void world_fini(struct world *w)
{
	plan_fini(&w->plan);
	agents_destroy(w->agents);
	cluster_fini(&w->cluster);
	arena_fini(&w->scratch);
	free(w->jobs);
	free(w->ids);
	free(w->job_state);
}

static void carry_out(struct world *w, uint32_t njobs, double round)
{
	plan_commit(&w->plan);
	for (uint32_t i = 0; i < njobs; i++) {
		struct job *job = &w->jobs[i];
		const struct grant *grant = plan_grant(&w->plan, i);

		job->attempts += grant && grant != job->grant;
		job->grant = grant;
		job->state = grant ? JOB_RUNNING : JOB_PENDING;
		feel(w, i, round);
	}
}

static double decide_s(struct world *w, const struct policy *policy, void *state, uint32_t njobs,
	double now_s)
{
	struct round round = {
		.now_s = now_s,
		.cluster = &w->cluster,
		.belief = &w->belief,
		.jobs = w->jobs,
		.njobs = njobs,
		.active = w->ids,
		.nactive = njobs,
		.changed = w->ids,
		.nchanged = njobs,
		.job_state = w->job_state,
		.scratch = &w->scratch,
		.rng = &w->rng,
		.seed = 1,
	};
	double before_s = clock_thread_cpu_s();
	struct err err = { 0 };

	plan_begin(&w->plan);
	if (policy->decide(state, &round, &w->plan, &err) < 0)
		fail(&err);
	arena_reset(&w->scratch);
	return clock_thread_cpu_s() - before_s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct size *size, uint32_t rounds)
{
	struct err err = { 0 };
	const struct policy *policy = policy_find("pollux", &err);
	char *state = mem_alloc(policy->state_size);
	double *took = mem_alloc((rounds + 1) * sizeof(*took));
	struct world w;

	world_init(&w, size);
	w.job_state = mem_alloc(policy->job_state_size * size->jobs);
	option_defaults(policy->options, state);
	if (option_parse(policy->options, state, "pollux", "patience=0", &err) < 0)
		fail(&err);
	for (uint32_t i = 0; i <= rounds; i++) {
		took[i] = decide_s(&w, policy, state, size->jobs, 60.0 * (i + 1));
		carry_out(&w, size->jobs, i + 1);
	}
	qsort(took + 1, rounds, sizeof(*took), by_value);
	printf("%4u jobs x %3u nodes: %8.4f s", size->jobs, size->nodes, took[1 + rounds / 2]);
	if (size->bar_s > 0)
		printf("  bar %g s: %s", size->bar_s,
			took[1 + rounds / 2] <= size->bar_s ? "met" : "MISSED");
	if (size->published_s > 0)
		printf("  %.0f times less than published (%g s)",
			size->published_s / took[1 + rounds / 2], size->published_s);
	printf("  (first %.4f s, least %.4f s)\n", took[0], took[1]);
	policy->fini(state);
	free(state);
	free(took);
	world_fini(&w);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 10;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (argc > 2 && (uint32_t)atoi(argv[2]) != sizes[i].jobs)
			continue;
		measure(&sizes[i], rounds > 0 ? rounds : 1);
	}
	return 0;
}
