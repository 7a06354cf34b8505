/*
 * sia WORKLOAD PROFILES [COPIES SCALE UNTIL_S]...: what a decision of Sia costs.
 *
 * A workload with each job issued COPIES times runs on SCALE times the cluster
 * of its publication (6x4 t4, 2x8 a100, 3x8 rtx) until then; without numbers, to
 * its busy round at 11,640 s for 1 to 32 copies, and 3,000 jobs on 10,000 GPUs.
 * Then the policy decides once more as it stands ("in the run": what jobs have
 * shown in the last round is new to it), and again with no memory ("anew").
 * CPU milliseconds of the whole decision: rows, program, placement.  The gap is
 * proved: the value is at least one less that of the best.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/trace_io.h"
#include "io/training_io.h"
#include "policy/policy.h"
#include "sim/sim.h"

enum { REPEATS = 5 };

static void die(const struct err *err)
{
	fprintf(stderr, "sia: %s\n", err->text);
	exit(1);
}

/* ---- a decision */

static double decide_ms(const struct policy *rule, void *state, const struct round *round,
	struct plan *plan)
{
	struct err err = { 0 };
	double before_s = clock_cpu_s();

	if (rule->decide(state, round, plan, &err) < 0)
		die(&err);
	return (clock_cpu_s() - before_s) * 1e3;
}

/* With a new state; its gap goes to *gap. */
static double anew_ms(const struct policy *rule, const struct round *round, struct plan *plan,
	double *gap)
{
	struct figure figures[FIGURES_MAX];
	void *state = mem_alloc(rule->state_size);
	struct err err = { 0 };
	double ms;
	uint32_t n;

	option_defaults(rule->options, state);
	if (rule->init(state, &err) < 0)
		die(&err);
	ms = decide_ms(rule, state, round, plan);
	n = rule->figures(state, figures);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(figures[i].name, "largest_gap") == 0)
			*gap = figures[i].value;
	}
	rule->fini(state);
	free(state);
	return ms;
}

/* The run is over after this: the plan may be spoilt. */
static int look(void *ctx, const struct chosen_policy *policy, const struct round *round,
	const struct plan *plan, struct err *err)
{
	struct plan *mine = (struct plan *)plan;
	double ms = decide_ms(policy->rule, policy->state, round, mine), least = INFINITY, gap = NAN;
	uint32_t jobs = 0;

	(void)ctx, (void)err;
	for (uint32_t i = 0; i < round->nactive; i++)
		jobs += job_active(&round->jobs[round->active[i]]);
	for (int i = 0; i < REPEATS; i++)
		least = fmin(least, anew_ms(policy->rule, round, mine, &gap));
	printf("%8u %8u %12.2f %12.2f %12.2e\n", round->cluster->devices, jobs, ms, least, gap);
	fflush(stdout);
	_exit(0);
}

/* ---- a run up to it */

static void add_copies(struct trace *to, const struct trace *from, uint32_t copies)
{
	for (uint32_t i = 0; i < from->models.n; i++)
		names_add(&to->models, from->models.at[i], strlen(from->models.at[i]));
	for (uint32_t i = 0; i < from->njobs; i++) {
		for (uint32_t k = 0; k < copies; k++) {
			const struct job *job = &from->jobs[i];
			struct job *copy = trace_add(to);

			copy->arrival_s = job->arrival_s;
			copy->model = job->model;
			copy->gpus = job->gpus;
			copy->min_gpus = job->min_gpus;
			copy->max_gpus = job->max_gpus;
			copy->batch = job->batch;
			copy->by_steps = true;
		}
	}
	trace_finish(to, NAN);
}

static void run(const struct trace *workload, const char *profiles, uint32_t copies, uint32_t scale,
	double until_s)
{
	struct sim_config config;
	struct trace trace = { 0 };
	struct cluster cluster;
	struct training *training;
	struct notes notes = { 0 };
	struct outcome out;
	struct err err = { 0 };
	char spec[64];
	uint64_t hash;

	add_copies(&trace, workload, copies);
	snprintf(spec, sizeof(spec), "%ux4:t4,%ux8:a100,%ux8:rtx", 6 * scale, 2 * scale, 3 * scale);
	if (cluster_parse(spec, &cluster, &err) < 0)
		die(&err);
	training = training_create(&cluster, &trace.models);
	if (training_read(profiles, &cluster, &trace.models, training, &notes, &hash, &err) < 0)
		die(&err);
	sim_config_init(&config);
	config.trace = &trace;
	config.cluster = &cluster;
	config.training = training;
	config.policy = "sia";
	config.until_s = until_s;
	config.look = look;
	if (sim_run(&config, &out, &err) < 0)
		die(&err);
}

/* In a process of its own, which ends with the measurement. */
static void measure(const struct trace *workload, const char *profiles, uint32_t copies,
	uint32_t scale, double until_s)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		run(workload, profiles, copies, scale, until_s);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t copies, scale;
		double until_s;
	} presets[] = { { 1, 1, 11640 }, { 2, 2, 11640 }, { 4, 4, 11640 }, { 8, 8, 11640 },
		{ 16, 16, 11640 }, { 32, 32, 11640 }, { 366, 156, 2400 } };
	struct notes notes = { 0 };
	struct trace workload;
	struct err err = { 0 };

	if (argc < 3 || argc % 3 != 0) {
		fprintf(stderr, "usage: sia WORKLOAD PROFILES [COPIES SCALE UNTIL_S]...\n");
		return 2;
	}
	if (trace_read(argv[1], &(struct import_options){ 0 }, NULL, &workload, &notes, &err) < 0)
		die(&err);
	printf("%8s %8s %12s %12s %12s\n", "GPUs", "jobs", "in the run", "anew", "gap");
	for (size_t i = 0; argc == 3 && i < sizeof(presets) / sizeof(*presets); i++)
		measure(&workload, argv[2], presets[i].copies, presets[i].scale, presets[i].until_s);
	for (int i = 3; i < argc; i += 3)
		measure(&workload, argv[2], (uint32_t)atoi(argv[i]), (uint32_t)atoi(argv[i + 1]),
			atof(argv[i + 2]));
	return 0;
}
