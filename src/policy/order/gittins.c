/*
 * Largest Gittins index first: the job that, given the sizes of past jobs, is
 * most likely to end per GPU-second spent on it.
 *
 * The index moves as a job is served; so that equals do not take each other's
 * place at every event, they take turns.
 */
#include "policy/kit.h"

#include "policy/order/sizes.h"

struct gittins {
	struct sizes sizes;
	int misfit;
	struct turns turns;
};

static const struct option options[] = {
	SIZES_OPTIONS(struct gittins, sizes),
	OPT_CHOICE(struct gittins, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	TURNS_OPTIONS(struct gittins, turns),
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
	struct ordering ordering = {
		.key = by_index,
		.misfit = (enum misfit)g->misfit,
		.preempt = true,
		.hold = turns_hold(&g->turns, round),
	};

	(void)err;
	sizes_learn(&g->sizes, round);
	kit_anew(&ordering, self, round, plan);
	if (kit_anybody_waits(round, plan))
		turns_wake(&g->turns, round, round->now_s, plan);
	return 0;
}

static double gittins_period_s(const void *self)
{
	return turns_period_s(&((const struct gittins *)self)->turns);
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
