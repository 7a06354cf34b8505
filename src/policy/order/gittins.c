/*
 * Largest Gittins index first: the job that, given the sizes of past jobs, is
 * most likely to end per GPU-second spent on it.
 *
 * The index moves as a job is served, so decisions are made in rounds.
 */
#include "policy/kit.h"

#include "policy/order/sizes.h"

struct gittins {
	struct sizes sizes;
	int misfit;
	double round_s;
};

static const struct option options[] = {
	SIZES_OPTIONS(struct gittins, sizes),
	OPT_CHOICE(struct gittins, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	OPT_DOUBLE(struct gittins, round_s, 300, 0.001, 1e6, "seconds between decisions"),
	{ 0 },
};

static int gittins_init(void *self, struct err *err)
{
	return sizes_init(&((struct gittins *)self)->sizes, err);
}

static double by_index(const void *self, const struct round *round, const struct job *job)
{
	return -sizes_index(&((const struct gittins *)self)->sizes, job_served_s(job, round->now_s));
}

static int gittins_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct gittins *g = self;
	struct ordering ordering = { .key = by_index, .misfit = (enum misfit)g->misfit, .preempt = true };

	(void)err;
	sizes_learn(&g->sizes, round);
	kit_anew(&ordering, self, round, plan);
	kit_wake_while_waiting(round, plan);
	return 0;
}

static double gittins_period_s(const void *self)
{
	return ((const struct gittins *)self)->round_s;
}

static void gittins_fini(void *self)
{
	sizes_fini(&((struct gittins *)self)->sizes);
}

const struct policy policy_gittins = {
	.name = "gittins",
	.summary = "the job most likely to end per GPU-second first, from the sizes of past jobs",
	.origin = "two-dimensional Gittins as in Tiresias: Gu et al., NSDI 2019",
	.family = "order",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct gittins),
	.init = gittins_init,
	.fini = gittins_fini,
	.period_s = gittins_period_s,
	.decide = gittins_decide,
};
