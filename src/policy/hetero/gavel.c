/*
 * Gavel: policies as optimisation problems over the share of time that each
 * job spends on each type, realised by turns.
 *
 * The objectives are in gavel_*.c, the turns in turns.h; this file ties them
 * together and has the options.
 */
#include "policy/hetero/gavel.h"

static const char *const objective_names[] = { "max-min", "finish-time", "makespan", "fifo", "sjf",
	"throughput", "cost", "slo-cost", NULL };

static const char *const gangs_names[] = { "asked", "free", NULL };

static shares_fn *const objectives[] = {
	[OBJECTIVE_MAX_MIN] = gavel_max_min,
	[OBJECTIVE_FINISH_TIME] = gavel_finish_time,
	[OBJECTIVE_MAKESPAN] = gavel_makespan,
	[OBJECTIVE_FIFO] = gavel_fifo,
	[OBJECTIVE_SJF] = gavel_sjf,
	[OBJECTIVE_THROUGHPUT] = gavel_throughput,
	[OBJECTIVE_COST] = gavel_cost,
	[OBJECTIVE_SLO_COST] = gavel_slo_cost,
};

static const struct option options[] = {
	OPT_CHOICE(struct gavel, objective, OBJECTIVE_MAX_MIN, objective_names,
		"what the shares shall be best for"),
	OPT_BOOL(struct gavel, hetero, 1, "look at the speed of each job on each type"),
	OPT_BOOL(struct gavel, water_filling, 0,
		"max-min: raise whoever can still be raised, until nobody can"),
	OPT_BOOL(struct gavel, tenants, 0,
		"max-min: fair between tenants by weight, within each as it says, by water filling"),
	OPT_BOOL(struct gavel, normalise, 0,
		"throughput: count each job in units of its best speed, not in steps"),
	OPT_BOOL(struct gavel, packing, 0, "let two jobs share devices where that pays"),
	OPT_CHOICE(struct gavel, gangs, GANGS_ASKED, gangs_names,
		"free: elastic jobs have as many devices as is best for all"),
	OPT_CHOICE(struct gavel, across, ACROSS_NO, across_names,
		"let a gang have devices of two types: all as fast as the slowest, or each as it can"),
	{ .name = "expect_s",
		.kind = OPTION_DOUBLE,
		.offset = offsetof(struct gavel, turns.expect_s),
		.max = 1e9,
		.help = "max-min, makespan: leave room for jobs likely to come within this; 0: none" },
	SHARE_TURNS_OPTIONS(struct gavel),
	{ 0 },
};

/* Objectives that know pairs; fifo as published only. */
static bool can_pack(const struct gavel *g)
{
	return g->objective == OBJECTIVE_MAX_MIN || g->objective == OBJECTIVE_THROUGHPUT ||
		g->objective == OBJECTIVE_MAKESPAN ||
		(g->objective == OBJECTIVE_FIFO && gavel_published(g));
}

/* What jobs may have besides what they ask for. */
static int allow_configs(struct gavel *g, struct err *err)
{
	const char *option = g->gangs == GANGS_FREE ? "gangs" : "across";

	g->turns.configs = (struct config_rules){
		.free_gangs = g->gangs == GANGS_FREE,
		.across = g->across,
	};
	if (!config_rules_any(&g->turns.configs) || gavel_takes_configs(g))
		return 0;
	if (gavel_published(g) || !g->hetero || g->packing || g->water_filling)
		return err_set(err, ERR_USAGE,
			"%s=%s does not go together with compat=gavel, hetero=0, packing=1, "
			"water_filling=1 or tenants=1",
			option,
			g->gangs == GANGS_FREE ? gangs_names[g->gangs] : across_names[g->across]);
	return err_set(err, ERR_USAGE,
		"%s=%s goes with objective=max-min, makespan or throughput, not with %s", option,
		g->gangs == GANGS_FREE ? gangs_names[g->gangs] : across_names[g->across],
		objective_names[g->objective]);
}

static int gavel_init(void *self, struct err *err)
{
	struct gavel *g = self;

	if (g->water_filling && g->objective != OBJECTIVE_MAX_MIN)
		return err_set(err, ERR_USAGE,
			"water_filling=1 goes with objective=max-min, not with %s",
			objective_names[g->objective]);
	if (g->tenants && g->objective != OBJECTIVE_MAX_MIN)
		return err_set(err, ERR_USAGE, "tenants=1 goes with objective=max-min, not with %s",
			objective_names[g->objective]);
	if (g->tenants && g->packing)
		return err_set(err, ERR_USAGE, "packing=1 and tenants=1 do not go together");
	if (g->normalise && g->objective != OBJECTIVE_THROUGHPUT)
		return err_set(err, ERR_USAGE,
			"normalise=1 goes with objective=throughput, not with %s",
			objective_names[g->objective]);
	if (gavel_published(g) && (g->turns.round_auto || g->turns.expect_s > 0))
		return err_set(err, ERR_USAGE,
			"round_auto and expect_s are Stint's own: they do not go with compat=gavel");
	if (g->packing && !g->hetero && !g->turns.replay[0])
		return err_set(err, ERR_USAGE,
			"packing=1 looks at speeds: it does not go with hetero=0");
	g->water_filling |= g->tenants;
	if (g->packing && !can_pack(g))
		return err_set(err, ERR_USAGE,
			"packing=1 goes with objective=max-min, makespan or throughput (and fifo with "
			"compat=gavel), not with %s",
			objective_names[g->objective]);
	if (g->packing && g->water_filling)
		return err_set(err, ERR_USAGE, "packing=1 and water_filling=1 do not go together");
	if (g->turns.expect_s > 0 &&
		((g->objective != OBJECTIVE_MAX_MIN && g->objective != OBJECTIVE_MAKESPAN) ||
			g->packing || g->tenants))
		return err_set(err, ERR_USAGE,
			"expect_s goes with objective=max-min or makespan, without packing and tenants");
	g->turns.pack = g->packing && (gavel_published(g) || g->turns.replay[0]);
	g->turns.shuffle = !g->hetero && !g->packing;
	g->turns.strict = g->objective == OBJECTIVE_FIFO;
	return allow_configs(g, err);
}

static void gavel_fini(void *self)
{
	struct gavel *g = self;

	share_turns_fini(&g->turns);
	vec_fini(&g->memory);
}

/* Where rows have configurations, shares are of these if they can be. */
/* Where a job cannot run a share is worth nothing to it; blind objectives may have given it some. */
static void drop_useless(const struct program *p, struct shares *shares)
{
	for (size_t i = 0; i < (size_t)p->jobs * p->types; i++) {
		if (!(p->speed[i] > 0))
			shares->x[i] = 0;
	}
}

static int compute(void *self, const struct program *program, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;

	if (program->config_rows > 0 && gavel_takes_configs(g))
		return gavel_configs(self, program, shares, err);
	if (program->config_rows > 0)
		shares->fallback = "gangs that depend on the type count as the largest";
	if (objectives[g->objective](self, program, shares, err) < 0)
		return err->code;
	if (!gavel_published(g))
		drop_useless(program, shares);
	return 0;
}

static int gavel_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct gavel *g = self;

	return share_turns_decide(&g->turns, compute, g, round, plan, err);
}

static int gavel_show(void *self, const struct round *round, const struct plan *plan,
	struct program *program, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;
	struct gavel copy = *g;
	int rc;

	/* What finish-time fairness remembers must not change by being looked at. */
	copy.memory.at = NULL;
	copy.memory.n = copy.memory.cap = 0;
	for (size_t i = 0; i < g->memory.n; i++)
		vec_push(&copy.memory, g->memory.at[i]);
	rc = share_turns_show(&copy.turns, compute, &copy, round, plan, program, shares, err);
	vec_fini(&copy.memory);
	return rc;
}

static uint32_t gavel_figures(const void *self, struct figure out[FIGURES_MAX])
{
	return share_turns_figures(&((const struct gavel *)self)->turns, out);
}

static enum compat gavel_compat(const void *self)
{
	return share_turns_compat(&((const struct gavel *)self)->turns);
}

static unsigned gavel_uses_now(const void *self)
{
	const struct gavel *g = self;

	return (g->objective == OBJECTIVE_MAX_MIN ? USES_WEIGHT : 0) |
		(g->objective == OBJECTIVE_SLO_COST ? USES_DEADLINE : 0) |
		(g->gangs == GANGS_FREE ? USES_RANGE : 0);
}

const struct policy policy_gavel = {
	.name = "gavel",
	.summary = "shares of time on each type by an optimisation problem, realised by turns",
	.origin = "Narayanan et al., OSDI 2020",
	.family = "hetero",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES | POLICY_SHARES | POLICY_MIXES,
	.uses = USES_WEIGHT | USES_DEADLINE | USES_RANGE,
	.options = options,
	.state_size = sizeof(struct gavel),
	.compat = gavel_compat,
	.init = gavel_init,
	.fini = gavel_fini,
	.uses_now = gavel_uses_now,
	.decide = gavel_decide,
	.figures = gavel_figures,
	.shares = gavel_show,
};
