/*
 * Every job has its equal part of the cluster to itself.
 *
 * The baseline of finish-time fairness: m jobs, and each spends on a type the
 * m-th part of its devices, in gangs of its own size, as if nobody else were
 * there.
 */
#include "policy/hetero/turns.h"

struct isolated {
	struct share_turns turns;
};

static const struct option options[] = {
	SHARE_TURNS_OPTIONS(struct isolated),
	{ 0 },
};

static int isolated_shares(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < p->jobs; i++)
		program_isolated(p, i, p->jobs, &shares->x[i * (size_t)p->types]);
	return 0;
}

static int isolated_init(void *self, struct err *err)
{
	struct isolated *isolated = self;

	(void)err;
	isolated->turns.shuffle = true;
	return 0;
}

static void isolated_fini(void *self)
{
	share_turns_fini(&((struct isolated *)self)->turns);
}

static int isolated_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct isolated *isolated = self;

	return share_turns_decide(&isolated->turns, isolated_shares, self, round, plan, err);
}

static int isolated_show(void *self, const struct round *round, const struct plan *plan,
	struct program *program, struct shares *shares, struct err *err)
{
	struct isolated *isolated = self;

	return share_turns_show(&isolated->turns, isolated_shares, self, round, plan, program,
		shares, err);
}

static uint32_t isolated_figures(const void *self, struct figure out[FIGURES_MAX])
{
	return share_turns_figures(&((const struct isolated *)self)->turns, out);
}

static enum compat isolated_compat(const void *self)
{
	return share_turns_compat(&((const struct isolated *)self)->turns);
}

const struct policy policy_isolated = {
	.name = "isolated",
	.summary = "every job has an equal part of each type to itself",
	.origin = "the baseline of Gavel, Narayanan et al., OSDI 2020",
	.family = "hetero",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct isolated),
	.compat = isolated_compat,
	.init = isolated_init,
	.fini = isolated_fini,
	.decide = isolated_decide,
	.figures = isolated_figures,
	.shares = isolated_show,
};
