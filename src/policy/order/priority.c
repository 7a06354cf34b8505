/*
 * Largest priority first, with optional ageing and weights.
 *
 * A job gains `ageing` points per hour since its submission whether it waits
 * or runs, so the difference of two jobs never changes: the order is fixed.
 */
#include "policy/kit.h"

struct priority {
	double ageing;
	double weights;
	bool preempt;
	int misfit;
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_DOUBLE(struct priority, ageing, 0, 0, 1e6, "points a job gains per hour since submission"),
	OPT_DOUBLE(struct priority, weights, 0, -1e6, 1e6, "points per unit of the job's weight"),
	OPT_BOOL(struct priority, preempt, 0, "stop jobs of smaller priority"),
	OPT_CHOICE(struct priority, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

static double by_points(const void *self, const struct round *round, const struct job *job)
{
	const struct priority *p = self;

	(void)round;
	return p->ageing * job->arrival_s / 3600 - job->priority - p->weights * job->weight;
}

static int priority_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct priority *p = self;
	struct ordering ordering = {
		.key = by_points,
		.misfit = (enum misfit)p->misfit,
		.preempt = p->preempt,
	};

	(void)err;
	kit_in_order(&p->ranking, &ordering, self, round, plan);
	return 0;
}

static void priority_fini(void *self)
{
	ranking_fini(&((struct priority *)self)->ranking);
}

static unsigned priority_uses_now(const void *self)
{
	return USES_PRIORITY | (((const struct priority *)self)->weights != 0 ? USES_WEIGHT : 0);
}

const struct policy policy_priority = {
	.name = "priority",
	.summary = "largest priority first, with ageing and weights",
	.family = "order",
	.traits = POLICY_PREEMPTS,
	.uses = USES_PRIORITY | USES_WEIGHT,
	.options = options,
	.state_size = sizeof(struct priority),
	.fini = priority_fini,
	.uses_now = priority_uses_now,
	.decide = priority_decide,
};
