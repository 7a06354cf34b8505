/*
 * Heet: elastic jobs on hosts of several types, by prices.
 *
 * What a job would do in a configuration it was never in is estimated from few
 * measurements of it and many of others (heet_speeds.h).  A configuration's
 * price is the time it takes, the dearer the more devices and the faster their
 * type, and a restart where it is another than the present one.  Jobs and hosts
 * are matched at least total price; while new jobs find room beside those that
 * run only they are, and all may grow and trade (heet_market.h).
 */
#include <math.h>

#include "model/elastic.h"
#include "policy/elastic/heet_market.h"
#include "policy/elastic/heet_speeds.h"
#include "policy/elastic/rations.h"
#include "solver/tensor.h"

#define WAITING_PENALTY 2
enum { SWEEPS = 50 };
enum estimate { ESTIMATE_FILTER, ESTIMATE_BELIEF };

static const char *const estimate_names[] = { "filter", "belief", NULL };

struct heet {
	double round_s, theta, lambda, restart_s;
	int rank, estimate, trades, spread;
};

static const struct option options[] = {
	OPT_DOUBLE(struct heet, round_s, 300, 1e-3, 1e6, "seconds between decisions"),
	OPT_DOUBLE(struct heet, theta, 0.5, 0, 4,
		"what resources count in prices: 0 the shortest time, 1 the least device-time"),
	OPT_CHOICE(struct heet, estimate, ESTIMATE_FILTER, estimate_names,
		"speeds by filtering from a few measured ones, or all as they are believed"),
	OPT_INT(struct heet, rank, 3, 1, TENSOR_RANK_MAX, "products that the estimate sums up"),
	OPT_DOUBLE(struct heet, lambda, 0.1, 1e-9, 100, "ridge of the estimate"),
	OPT_INT(struct heet, trades, 64, 0, 100000, "trades in one decision at most; 0: none"),
	OPT_DOUBLE(struct heet, restart_s, 30, 0, 1e6, "how much a trade must lower the sum of prices"),
	OPT_CHOICE(struct heet, spread, SPREAD_PLACER, spread_names,
		"evenly over the fewest nodes, or as the placer says"),
	{ 0 },
};

struct pricing {
	const struct heet *self;
	const struct rations *rations;
	const struct ration **row; /* of the market */
	struct heet_speeds speeds;
	double weight[TYPES_MAX]; /* speed of a type beside the slowest */
	double *cheapest;         /* by row: cost of its cheapest configuration */
	double *steps;
	price_fn *price;
};

/* ---- speeds and prices */

static double measured_speed(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus)
{
	const struct pricing *p = ctx;
	const struct round *round = p->rations->round;

	return elastic_speed(round->belief, p->row[row]->job,
		configuration_packed(round->cluster, type, gpus), BATCHING_FIXED, NULL);
}

static double cost_of(const struct pricing *p, uint32_t type, uint32_t gpus)
{
	return p->weight[type] * gpus;
}

static double price(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus)
{
	const struct pricing *p = ctx;
	const struct grant *has = p->row[row]->job->grant;
	double seconds;

	if (gpus == 0)
		return WAITING_PENALTY * p->steps[row] / p->speeds.single[row];
	seconds = p->steps[row] / heet_speed(&p->speeds, row, type, gpus);
	if (has && (has->type != type || has->gpus != gpus))
		seconds += elastic_change_s(p->rations->round->belief, p->row[row]->job, gpus);
	return p->price(seconds, cost_of(p, type, gpus) / p->cheapest[row], p->self->theta);
}

/* The mean over jobs of what one device does, the slowest type 1. */
static void weigh_types(struct pricing *p, const struct market *m)
{
	double least = INFINITY;

	for (uint32_t t = 0; t < m->types; t++) {
		double sum = 0;
		uint32_t n = 0;

		for (uint32_t row = 0; row < m->rows; row++) {
			if (m->at[row].most[t] == 0)
				continue;
			sum += heet_speed(&p->speeds, row, t, 1) / p->speeds.single[row];
			n++;
		}
		p->weight[t] = n ? sum / n : 1;
		least = fmin(least, p->weight[t]);
	}
	for (uint32_t t = 0; t < m->types; t++)
		p->weight[t] /= least;
}

static void find_cheapest(struct pricing *p, const struct market *m)
{
	for (uint32_t row = 0; row < m->rows; row++) {
		p->cheapest[row] = INFINITY;
		for (uint32_t t = 0; t < m->types; t++) {
			if (m->at[row].most[t] > 0)
				p->cheapest[row] = fmin(p->cheapest[row],
					cost_of(p, t, m->at[row].least[t]));
		}
	}
}

/* ---- the market */

static uint32_t types_of(const struct market *m, uint32_t row)
{
	uint32_t types = 0;

	for (uint32_t t = 0; t < m->types; t++)
		types |= (uint32_t)(m->at[row].most[t] > 0) << t;
	return types;
}

static uint32_t most_of(const struct market *m, uint32_t row)
{
	uint32_t most = 1;

	for (uint32_t t = 0; t < m->types; t++)
		most = m->at[row].most[t] > most ? m->at[row].most[t] : most;
	return most;
}

static void hold(const struct rations *rations, const struct ration *r, struct holding *out)
{
	const struct round *round = rations->round;

	*out = (struct holding){ .type = r->type, .gpus = r->gpus };
	out->home = r->job->grant ? 1 + r->job->grant->type : 0;
	for (uint32_t t = 0; t < round->cluster->ntypes; t++) {
		uint32_t up = rations->plan->space.types[t].up;

		if (!job_may_use(r->job, t) || job_least_on(r->job, t) > up)
			continue;
		/* Where it cannot run at all it shall not be put. */
		if (t != r->type && !(rate_if(round->belief, r->job, t, job_least_on(r->job, t)) > 0))
			continue;
		out->least[t] = job_least_on(r->job, t);
		out->most[t] = elastic_most(round->belief, r->job, t, BATCHING_FIXED, 0);
		if (out->most[t] < out->least[t])
			out->most[t] = out->least[t];
		if (out->most[t] > up)
			out->most[t] = up;
	}
}

/* One that is being started again stays as it is until it makes steps: else it might never. */
static bool is_pinned(struct rations *rations, struct ration *r)
{
	const struct grant *has = r->job->grant;

	return has && r->job->ready_s > rations->round->now_s && has->type == r->type &&
		ration_set(rations, r, has->gpus);
}

static void pin(const struct ration *r, uint32_t ntypes, struct holding *h)
{
	for (uint32_t t = 0; t < ntypes; t++)
		h->least[t] = h->most[t] = t == r->type ? r->gpus : 0;
}

/* Rows of the market: whoever was admitted; fractions share devices and stay where they are put. */
static void open_market(struct pricing *p, struct rations *rations, struct market *m)
{
	const struct round *round = rations->round;

	*m = (struct market){ .types = round->cluster->ntypes,
		.price = price,
		.ctx = p,
		.restart = p->self->restart_s,
		.trades_max = (uint32_t)p->self->trades,
		.arena = round->scratch };
	m->at = arena_array(round->scratch, struct holding, rations->n);
	p->row = arena_array(round->scratch, const struct ration *, rations->n);
	for (uint32_t i = 0; i < rations->n; i++) {
		struct ration *r = &rations->at[i];
		bool pinned;

		if (r->gpus == 0 || job_is_fraction(r->job))
			continue;
		p->row[m->rows] = r;
		pinned = is_pinned(rations, r);
		hold(rations, r, &m->at[m->rows]);
		if (pinned)
			pin(r, m->types, &m->at[m->rows]);
		m->rows++;
	}
	for (uint32_t t = 0; t < m->types; t++) {
		m->free[t] = floor(rations->free[t] + 1e-9);
		m->host[t] = round->cluster->types[t].max_per_node;
	}
}

static void set_prices(struct pricing *p, const struct market *m)
{
	const struct heet *h = p->self;
	struct arena *arena = m->arena;
	struct heet_row *rows = arena_array(arena, struct heet_row, m->rows);
	struct heet_options how = { .rank = (uint32_t)h->rank,
		.ridge = h->lambda,
		.sweeps = SWEEPS,
		.all = h->estimate == ESTIMATE_BELIEF };

	p->steps = arena_array(arena, double, m->rows);
	p->cheapest = arena_array(arena, double, m->rows);
	for (uint32_t row = 0; row < m->rows; row++) {
		const struct job *job = p->row[row]->job;

		p->steps[row] = ration_steps_left(p->rations, p->row[row]);
		rows[row] = (struct heet_row){ .types = types_of(m, row),
			.most = most_of(m, row),
			.tag = job->id };
		if (job->grant && m->at[row].most[job->grant->type] > 0) {
			rows[row].type = job->grant->type;
			rows[row].now = job->grant->gpus;
		}
	}
	heet_speeds_fill(&p->speeds, rows, m->rows, m->types, &how,
		(struct heet_source){ measured_speed, p }, arena);
	weigh_types(p, m);
	find_cheapest(p, m);
}

/* ---- decisions */

/* Whether all who run can go on as they do beside the least of the others. */
static bool can_resume(const struct pricing *p, const struct market *m)
{
	double more[TYPES_MAX] = { 0 };

	for (uint32_t row = 0; row < m->rows; row++) {
		const struct grant *has = p->row[row]->job->grant;

		if (has && (has->type != m->at[row].type || has->gpus > m->at[row].most[has->type]))
			return false;
		if (has)
			more[has->type] += (double)has->gpus - m->at[row].gpus;
	}
	for (uint32_t t = 0; t < m->types; t++) {
		if (more[t] > m->free[t])
			return false;
	}
	return true;
}

/* Those who run as they do; only the others are matched. */
static void resume(const struct pricing *p, struct market *m)
{
	for (uint32_t row = 0; row < m->rows; row++) {
		const struct grant *has = p->row[row]->job->grant;

		if (!has)
			continue;
		m->free[has->type] -= (double)has->gpus - m->at[row].gpus;
		m->at[row].gpus = has->gpus;
		m->at[row].stays = true;
	}
}

static void close_market(const struct pricing *p, const struct market *m, struct rations *rations)
{
	for (uint32_t row = 0; row < m->rows; row++) {
		struct ration *r = &rations->at[p->row[row] - rations->at];

		ration_set(rations, r, 0);
	}
	for (uint32_t row = 0; row < m->rows; row++) {
		struct ration *r = &rations->at[p->row[row] - rations->at];

		r->type = m->at[row].type;
		r->least = m->at[row].least[r->type];
		r->most = m->at[row].most[r->type];
		ration_set(rations, r, m->at[row].gpus);
	}
}

static bool may_change(const struct market *m)
{
	for (uint32_t row = 0; row < m->rows; row++) {
		const struct holding *h = &m->at[row];

		if (h->least[h->type] < h->most[h->type])
			return true;
	}
	return false;
}

static int heet_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct heet *h = self;
	struct rations rations;
	struct pricing p = { .self = h, .rations = &rations, .price = price_default };
	struct market m;

	(void)err;
	rations_init(&rations, round, plan);
	rations_admit(&rations, NULL, NULL);
	open_market(&p, &rations, &m);
	if (m.rows > 0) {
		set_prices(&p, &m);
		if (can_resume(&p, &m))
			resume(&p, &m);
		market_match(&m);
		market_grow(&m);
		market_trade(&m);
		close_market(&p, &m, &rations);
	}
	rations_settle(&rations, (enum spread)h->spread, false);
	if (may_change(&m))
		plan_wake(plan, round->now_s);
	return 0;
}

static double heet_period_s(const void *self)
{
	return ((const struct heet *)self)->round_s;
}

const struct policy policy_heet = {
	.name = "heet",
	.summary = "jobs and hosts of several types matched by price, then traded",
	.origin = "Mo et al., ASPLOS 2024",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct heet),
	.period_s = heet_period_s,
	.decide = heet_decide,
};
