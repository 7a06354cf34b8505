/*
 * E-LAS: attained service together with epoch progress.
 *
 * A job that has used little, or is far through its epochs, goes first.  The
 * paper's exact combination is not public, so it is an option.
 */
#include "policy/kit.h"

enum score { SCORE_LINEAR, SCORE_PRODUCT, SCORE_REMAINING };
static const char *const score_names[] = { "linear", "product", "remaining", NULL };

struct e_las {
	int score;
	double service_weight;
	double progress_weight;
	double hysteresis;
	struct turns turns;
	int misfit;
	double most_served_s; /* of the active jobs, for the linear score */
};

static const struct option options[] = {
	OPT_CHOICE(struct e_las, score, SCORE_LINEAR, score_names,
		"service minus progress, service x (1 - progress), or what is implied to be left"),
	OPT_DOUBLE(struct e_las, service_weight, 1, 0, 1e6, "weight of service in the linear score"),
	OPT_DOUBLE(struct e_las, progress_weight, 1, 0, 1e6, "weight of progress in the linear score"),
	OPT_DOUBLE(struct e_las, hysteresis, 0, 0, 1,
		"part of its score by which a running job is favoured, against oscillation"),
	TURNS_OPTIONS(struct e_las, turns),
	OPT_CHOICE(struct e_las, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

/* Part of its epochs that a job has reported; whole epochs only where their number is known. */
static double progress(const struct round *round, const struct job *job)
{
	double part = job->work_est > 0 ? fmin(1, job_done(job, round->now_s) / job->work_est) : 0;

	return job->epochs > 0 ? floor(part * job->epochs + 1e-9) / job->epochs : part;
}

static double score(const struct e_las *e, const struct round *round, const struct job *job)
{
	double served = job_served_s(job, round->now_s), done = progress(round, job);

	switch ((enum score)e->score) {
	case SCORE_PRODUCT:
		return served * (1 - done);
	case SCORE_REMAINING:
		if (served == 0)
			return 0;
		return done > 0 ? served * (1 - done) / done : 1e300;
	default:
		return (e->most_served_s > 0 ? e->service_weight * served / e->most_served_s : 0) -
			e->progress_weight * done;
	}
}

static double by_score(const void *self, const struct round *round, const struct job *job)
{
	const struct e_las *e = self;
	double s = score(e, round, job);

	return job->grant ? s - e->hysteresis * fabs(s) : s;
}

static double most_served_s(const struct round *round)
{
	double most = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job))
			most = fmax(most, job_served_s(job, round->now_s));
	}
	return most;
}

static int e_las_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct e_las *e = self;
	struct ordering ordering = {
		.key = by_score,
		.misfit = (enum misfit)e->misfit,
		.preempt = true,
		.hold = turns_hold(&e->turns, round),
	};

	(void)err;
	e->most_served_s = most_served_s(round);
	kit_anew(&ordering, self, round, plan);
	if (kit_anybody_waits(round, plan))
		turns_wake(&e->turns, round, round->now_s, plan);
	return 0;
}

static double e_las_period_s(const void *self)
{
	return turns_period_s(&((const struct e_las *)self)->turns);
}

const struct policy policy_e_las = {
	.name = "e-las",
	.summary = "least attained service, with epoch progress in the balance",
	.origin = "Sultana et al., ICPP 2020",
	.family = "order",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct e_las),
	.period_s = e_las_period_s,
	.decide = e_las_decide,
};
