/*
 * Network-sensitive preemption (Dally).
 *
 * Least attained GPU-time first, scaled by the part of its time that a job
 * could compute: one that communication has slowed counts as having had less, moves
 * forward, and may wait for a closer place.  Meant to go with --placer delay.
 */
#include "policy/locality/dally.h"

#include "policy/kit.h"

struct dally {
	struct turns turns;
	int misfit;
};

static const struct option options[] = {
	TURNS_OPTIONS(struct dally, turns),
	OPT_CHOICE(struct dally, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

double dally_sensitivity(double done, double ideal_per_s, double ran_s)
{
	double s = done / ideal_per_s / ran_s;

	return s > 0 && s < 1 ? s : 1;
}

/* Steps per second if communicating took no time. */
static double ideal_per_s(const struct round *round, const struct job *job)
{
	uint32_t types[TYPES_MAX];
	uint32_t n = kit_types(round, job, types);
	uint32_t type = job->grant ? job->grant->type : n ? types[0] : 0;
	uint32_t gpus = job_gpus_on(job, type);
	double traffic = NAN;

	if (round->belief->profile && job->model != NAME_NONE)
		traffic = profile_traffic(round->belief->profile, job->model, type,
			profile_packed(round->belief->profile, type, gpus));
	return rate_if(round->belief, job, type, gpus) / (traffic < 1 ? 1 - traffic : 1);
}

static double by_suffering(const void *self, const struct round *round, const struct job *job)
{
	double ran_s = job_ran_s(job, round->now_s);

	(void)self;
	if (!(ran_s > 0))
		return 0;
	return dally_sensitivity(job_done(job, round->now_s), ideal_per_s(round, job), ran_s) *
		job_served_s(job, round->now_s);
}

static int dally_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct dally *d = self;
	struct ordering ordering = {
		.key = by_suffering,
		.misfit = (enum misfit)d->misfit,
		.preempt = true,
		.hold = turns_hold(&d->turns, round),
	};

	(void)err;
	kit_anew(&ordering, self, round, plan);
	if (kit_anybody_waits(round, plan))
		turns_wake(&d->turns, round, round->now_s, plan);
	return 0;
}

static double dally_period_s(const void *self)
{
	return turns_period_s(&((const struct dally *)self)->turns);
}

const struct policy policy_dally = {
	.name = "dally",
	.summary = "least attained GPU-time first, less counted where communication slowed the job",
	.origin = "Sharma et al., 2024",
	.family = "locality",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct dally),
	.period_s = dally_period_s,
	.decide = dally_decide,
};
