/*
 * Shortest remaining time first (srtf) and shortest remaining service first
 * (srsf: time times GPUs), preemptive.
 *
 * What is left shrinks while a job runs, so a running job only ever gains on
 * those that wait: between events no order can change.
 */
#include "policy/kit.h"

struct srtf {
	int misfit;
	double round_s;
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_CHOICE(struct srtf, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	OPT_DOUBLE(struct srtf, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	{ 0 },
};

static double by_time(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	return job_remaining_s(job, round->now_s);
}

/* Seconds of belief that pass per second: 1 when it runs as believed, 0 while it restores. */
static double time_slope(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	if (job->state != JOB_RUNNING)
		return -1;
	return round->now_s < job->ready_s ? 0 : -job->rate / job->nominal_rate;
}

static double by_service(const void *self, const struct round *round, const struct job *job)
{
	return by_time(self, round, job) * job->gpus;
}

static double service_slope(const void *self, const struct round *round, const struct job *job)
{
	return time_slope(self, round, job) * job->gpus;
}

static void decide(struct srtf *s, key_fn *key, key_fn *slope, const struct round *round,
	struct plan *plan)
{
	struct ordering ordering = {
		.key = key,
		.slope = slope,
		.jump_s = kit_ready_s,
		.misfit = (enum misfit)s->misfit,
		.preempt = true,
	};

	kit_in_order(&s->ranking, &ordering, s, round, plan);
}

static int srtf_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)err;
	decide(self, by_time, time_slope, round, plan);
	return 0;
}

static int srsf_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)err;
	decide(self, by_service, service_slope, round, plan);
	return 0;
}

static double srtf_period_s(const void *self)
{
	return ((const struct srtf *)self)->round_s;
}

static void srtf_fini(void *self)
{
	ranking_fini(&((struct srtf *)self)->ranking);
}

const struct policy policy_srtf = {
	.name = "srtf",
	.summary = "shortest remaining time first, preemptive",
	.family = "order",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct srtf),
	.fini = srtf_fini,
	.period_s = srtf_period_s,
	.decide = srtf_decide,
};

const struct policy policy_srsf = {
	.name = "srsf",
	.summary = "shortest remaining service (time x GPUs) first, preemptive",
	.family = "order",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct srtf),
	.fini = srtf_fini,
	.period_s = srtf_period_s,
	.decide = srsf_decide,
};
