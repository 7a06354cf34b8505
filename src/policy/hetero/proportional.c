/*
 * Every job has time in proportion to its weight, on every type alike.
 *
 * With one unit of weight the time on a type is its devices over the weighted
 * devices that all jobs ask for, so that everything is handed out.  A job
 * cannot have more than all of the time; what it leaves goes to whoever waits.
 */
#include "policy/hetero/turns.h"

struct proportional {
	struct share_turns turns;
};

static const struct option options[] = {
	SHARE_TURNS_OPTIONS(struct proportional),
	{ 0 },
};

static double weighted_devices(const struct program *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->jobs; i++)
		sum += p->weight[i] * p->gang[i];
	return sum;
}

static void share_out(const struct program *p, uint32_t row, double part, double *x)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		if (p->speed[row * (size_t)p->types + w] > 0)
			x[w] = p->capacity[w] * part;
		sum += x[w];
	}
	for (uint32_t w = 0; sum > 1 && w < p->types; w++)
		x[w] /= sum;
}

static int proportional_shares(void *self, const struct program *p, struct shares *shares,
	struct err *err)
{
	double all = weighted_devices(p);

	(void)self;
	(void)err;
	for (uint32_t i = 0; i < p->jobs; i++)
		share_out(p, i, p->weight[i] / all, &shares->x[i * (size_t)p->types]);
	return 0;
}

static void proportional_fini(void *self)
{
	share_turns_fini(&((struct proportional *)self)->turns);
}

static int proportional_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct proportional *s = self;

	return share_turns_decide(&s->turns, proportional_shares, self, round, plan, err);
}

static int proportional_show(void *self, const struct round *round, const struct plan *plan,
	struct program *program, struct shares *shares, struct err *err)
{
	struct proportional *s = self;

	return share_turns_show(&s->turns, proportional_shares, self, round, plan, program, shares,
		err);
}

static uint32_t proportional_figures(const void *self, struct figure out[FIGURES_MAX])
{
	return share_turns_figures(&((const struct proportional *)self)->turns, out);
}

const struct policy policy_proportional = {
	.name = "proportional",
	.summary = "every job has time on each type in proportion to its weight",
	.family = "hetero",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct proportional),
	.fini = proportional_fini,
	.decide = proportional_decide,
	.figures = proportional_figures,
	.shares = proportional_show,
};
