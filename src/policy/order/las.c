/*
 * Least attained service first.
 *
 * Service is GPUs x seconds, or seconds alone.  Keys of running jobs grow, so
 * equals would take each other's place at every instant; they take turns.
 */
#include "policy/kit.h"

enum service { SERVICE_GPU, SERVICE_TIME };

static const char *const service_names[] = { "gpu", "time", NULL };

struct las {
	struct turns turns;
	int service;
	int misfit;
	struct ranking ranking;
};

static const struct option options[] = {
	TURNS_OPTIONS(struct las, turns),
	OPT_CHOICE(struct las, service, SERVICE_GPU, service_names, "count GPU-seconds or seconds"),
	OPT_CHOICE(struct las, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

static double by_service(const void *self, const struct round *round, const struct job *job)
{
	const struct las *l = self;

	return l->service == SERVICE_GPU ? job_served_s(job, round->now_s)
					 : job_ran_s(job, round->now_s);
}

static double slope(const void *self, const struct round *round, const struct job *job)
{
	const struct las *l = self;

	if (job->state == JOB_RUNNING && round->now_s < job->ready_s)
		return 0;
	return l->service == SERVICE_GPU ? job_width(job) : 1;
}

static int las_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct las *l = self;
	struct ordering ordering = {
		.key = by_service,
		.slope = slope,
		.jump_s = kit_ready_s,
		.misfit = (enum misfit)l->misfit,
		.preempt = true,
		.hold = turns_hold(&l->turns, round),
	};

	(void)err;
	kit_in_order(&l->ranking, &ordering, self, round, plan);
	turns_wake(&l->turns, round, ranking_crossing_s(&l->ranking), plan);
	return 0;
}

static double las_period_s(const void *self)
{
	return turns_period_s(&((const struct las *)self)->turns);
}

static void las_fini(void *self)
{
	ranking_fini(&((struct las *)self)->ranking);
}

const struct policy policy_las = {
	.name = "las",
	.summary = "least attained service first, in turns",
	.origin = "two-dimensional LAS as in Tiresias: Gu et al., NSDI 2019",
	.family = "order",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct las),
	.fini = las_fini,
	.period_s = las_period_s,
	.decide = las_decide,
};
