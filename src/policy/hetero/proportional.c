/*
 * Every job has time in proportion to its weight, on every type alike.
 *
 * With one unit of weight the time on a type is its devices over the weighted
 * devices that all jobs ask for, so that everything is handed out.  A job
 * cannot have more than all of the time; what it leaves goes to whoever waits.
 * With per=job the time is divided by the number of jobs, as Gandiva-fair is
 * simulated for Shockwave.
 */
#include "policy/hetero/turns.h"

/* What the time on a type is divided by: the devices that all ask for, or their number. */
enum per { PER_DEVICE, PER_JOB };
static const char *const per_names[] = { "device", "job", NULL };

struct proportional {
	struct share_turns turns;
	int per;
};

static const struct option options[] = {
	OPT_CHOICE(struct proportional, per, PER_DEVICE, per_names,
		"job: a large job has as much time as a small one, whatever it takes with it"),
	SHARE_TURNS_OPTIONS(struct proportional),
	{ 0 },
};

static int proportional_shares(void *self, const struct program *p, struct shares *shares,
	struct err *err)
{
	const struct proportional *s = self;

	(void)err;
	program_proportional(p, s->per == PER_JOB, shares);
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

static enum compat proportional_compat(const void *self)
{
	return share_turns_compat(&((const struct proportional *)self)->turns);
}

const struct policy policy_proportional = {
	.name = "proportional",
	.summary = "every job has time on each type in proportion to its weight",
	.family = "hetero",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_WEIGHT,
	.options = options,
	.state_size = sizeof(struct proportional),
	.compat = proportional_compat,
	.fini = proportional_fini,
	.decide = proportional_decide,
	.figures = proportional_figures,
	.shares = proportional_show,
};
