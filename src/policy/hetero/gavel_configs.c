/*
 * Shares of configurations: how long each job has so many devices of one type,
 * or of two at once.
 *
 * One linear program for every objective: jobs that are alike are one with a
 * count, each spends at most all its time in its configurations, and no type
 * has more devices than are up.  Where the worst off decide, what they leave
 * over goes where it makes the most throughput, each job's in units of its best.
 */
#include <math.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/kinds.h"
#include "solver/lp.h"

/* The level is kept to this part while what it leaves over is spent: a program without any room is hard. */
#define MET (1 - 1e-6)
/* Of two that are worth the same, fewer devices for longer: such a job is stopped less.  In units of its best. */
#define LONGER 1e-3

/* A kind of jobs in one configuration. */
struct variable {
	double use[2]; /* devices of `column`s */
	int column[2];
	double speed;
};

struct configured {
	const struct program *p;
	struct kinds kinds;
	struct variable *variable; /* those of a kind follow each other */
	uint32_t *start;           /* [kinds + 1] */
	double *best;              /* by kind: the greatest speed */
	struct lp *lp;
	double *x; /* the answer */
};

/* ---- kinds */

static uint32_t count_of(const struct program *p, uint32_t row)
{
	return row < p->config_rows ? p->config_start[row + 1] - p->config_start[row] : p->types;
}

/* A configuration as one number. */
static double code_of(const struct config *c)
{
	double code = c->part[0].type;

	code = code * 65536 + c->part[0].gpus;
	code = code * 32 + c->part[1].type;
	return code * 65536 + c->part[1].gpus;
}

/* Rows with the same configurations, speeds and worth are alike. */
static void find_kinds(struct configured *k, const double *unit)
{
	const struct program *p = k->p;
	uint32_t most = 0, width;
	double *more;

	for (uint32_t i = 0; i < p->config_rows; i++)
		most = count_of(p, i) > most ? count_of(p, i) : most;
	width = 2 + 2 * most;
	more = arena_array(p->round->scratch, double, (size_t)p->jobs *width);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double *key = &more[(size_t)i * width];

		*key++ = unit[i];
		*key++ = i < p->config_rows;
		for (uint32_t c = 0; i < p->config_rows && c < count_of(p, i); c++) {
			const struct config *config = &p->config[p->config_start[i] + c];

			*key++ = code_of(config);
			*key++ = config->speed;
		}
	}
	kinds_find(&k->kinds, p, more, width);
}

/* ---- what a job may have */

/* Rows beyond those with configurations are jobs that may come: they have columns alone. */
static struct variable variable_of(const struct program *p, uint32_t row, uint32_t c)
{
	const struct config *config;

	if (row >= p->config_rows)
		return (struct variable){ { p->gang[row], 0 }, { (int)c, -1 },
			p->speed[(size_t)row * p->types + c] };
	config = &p->config[p->config_start[row] + c];
	return (struct variable){
		{ config->part[0].gpus, config->part[1].gpus },
		{ program_column(p, config->part[0].type),
			config_mixed(config->part) ? program_column(p, config->part[1].type) : -1 },
		config->speed,
	};
}

static void list_variables(struct configured *k)
{
	const struct program *p = k->p;
	struct arena *arena = p->round->scratch;
	uint32_t n = 0;

	k->start = arena_array(arena, uint32_t, k->kinds.n + 1);
	k->best = arena_array(arena, double, k->kinds.n);
	for (uint32_t i = 0; i < k->kinds.n; i++)
		k->start[i + 1] = n += count_of(p, k->kinds.first[i]);
	k->variable = arena_array(arena, struct variable, n);
	for (uint32_t i = 0; i < k->kinds.n; i++) {
		for (uint32_t v = k->start[i]; v < k->start[i + 1]; v++) {
			k->variable[v] = variable_of(p, k->kinds.first[i], v - k->start[i]);
			k->best[i] = fmax(k->best[i], k->variable[v].speed);
		}
	}
}

/* ---- the program */

/* Columns: the common level, then the variables. */
enum { LEVEL, VARIABLES };

static uint32_t level_row(const struct configured *k, uint32_t kind)
{
	return k->kinds.n + kind;
}

static uint32_t type_row(const struct configured *k, uint32_t w)
{
	return 2 * k->kinds.n + w;
}

static void add_rows(struct configured *k)
{
	for (uint32_t i = 0; i < k->kinds.n; i++)
		lp_add_row(k->lp, -INFINITY, 1);
	for (uint32_t i = 0; i < k->kinds.n; i++)
		lp_set(k->lp, lp_add_row(k->lp, 0, INFINITY), LEVEL, -1);
	for (uint32_t w = 0; w < k->p->types; w++)
		lp_add_row(k->lp, -INFINITY, k->p->capacity[w]);
}

/* A variable is the share of each job of the kind; what cannot be is held at 0. */
static void add_variable(struct configured *k, uint32_t kind, const struct variable *one, double unit)
{
	bool can = one->speed > 0;
	uint32_t column = lp_add_column(k->lp, 0, 0, can ? 1 : 0, false);

	lp_set(k->lp, kind, column, 1);
	if (!can)
		return;
	if (unit > 0)
		lp_set(k->lp, level_row(k, kind), column, one->speed * unit);
	for (int part = 0; part < 2 && one->column[part] >= 0; part++)
		lp_set(k->lp, type_row(k, (uint32_t)one->column[part]), column,
			k->kinds.count[kind] * one->use[part]);
}

/* Rows: the time of each kind, its level in its own `unit` (NULL: there are no levels), devices of each type. */
static void build(struct configured *k, const double *unit)
{
	k->lp = lp_create();
	lp_maximise(k->lp, true);
	lp_add_column(k->lp, unit != NULL, 0, unit ? INFINITY : 0, false);
	add_rows(k);
	for (uint32_t i = 0; i < k->kinds.n; i++) {
		for (uint32_t v = k->start[i]; v < k->start[i + 1]; v++)
			add_variable(k, i, &k->variable[v], unit ? unit[k->kinds.first[i]] : 0);
	}
}

/* The throughput is what counts from now on, each kind's as `worth` says. */
static void set_worth(struct configured *k, const double *worth)
{
	lp_set_cost(k->lp, LEVEL, 0);
	for (uint32_t i = 0; i < k->kinds.n; i++) {
		double each = k->kinds.count[i] * worth[i];

		for (uint32_t v = k->start[i]; v < k->start[i + 1]; v++) {
			double speed = k->variable[v].speed;

			lp_set_cost(k->lp, VARIABLES + v,
				speed > 0 ? each * (speed + LONGER * k->best[i]) : 0);
		}
	}
}

static bool solve(struct configured *k)
{
	if (lp_solve(k->lp, (struct lp_limits){ 0 }) != LP_OPTIMAL)
		return false;
	for (uint32_t v = 0; v < k->start[k->kinds.n]; v++)
		k->x[v] = fmax(0, lp_value(k->lp, VARIABLES + v));
	return true;
}

static double *prices(const struct configured *k)
{
	double *price = arena_array(k->p->round->scratch, double, k->p->types);

	for (uint32_t w = 0; w < k->p->types; w++)
		price[w] = fabs(lp_price(k->lp, type_row(k, w)));
	return price;
}

/* ---- back to jobs */

/* For display, time on a type is what a configuration has of it. */
static void add_to_types(const struct program *p, const struct config *c, double x, double *by_type)
{
	uint32_t gpus = c->part[0].gpus + c->part[1].gpus;

	for (uint32_t i = 0; x > 0 && i < 2 && c->part[i].gpus > 0; i++)
		by_type[program_column(p, c->part[i].type)] += x * c->part[i].gpus / gpus;
}

static void spread(const struct configured *k, struct shares *shares)
{
	const struct program *p = k->p;

	shares->config_x = arena_array(p->round->scratch, double, p->config_start[p->config_rows]);
	for (uint32_t row = 0; row < p->jobs; row++) {
		double *by_type = &shares->x[(size_t)row * p->types];

		for (uint32_t c = 0; c < count_of(p, row); c++) {
			double x = k->x[k->start[k->kinds.of[row]] + c];

			if (row >= p->config_rows) {
				by_type[c] = x;
				continue;
			}
			shares->config_x[p->config_start[row] + c] = x;
			add_to_types(p, &p->config[p->config_start[row] + c], x, by_type);
		}
	}
}

/* Something for everybody where the solver gave up. */
static void fall_back(const struct program *p, struct shares *shares)
{
	shares->fallback = "no shares of configurations were found: each job has its equal part";
	for (uint32_t i = 0; i < p->jobs; i++)
		program_isolated(p, i, p->jobs, &shares->x[(size_t)i * p->types]);
}

static void begin(struct configured *k, const struct program *p, const double *unit)
{
	*k = (struct configured){ .p = p };
	find_kinds(k, unit);
	list_variables(k);
	k->x = arena_array(p->round->scratch, double, k->start[k->kinds.n]);
}

static bool end(struct configured *k, bool solved, struct shares *shares)
{
	lp_destroy(k->lp);
	if (solved)
		spread(k, shares);
	else
		fall_back(k->p, shares);
	return solved;
}

/* The least of all jobs' speeds in units of their own as large as can be; then the sum, each in parts of its best. */
static bool raise_least(const struct program *p, const double *unit, struct shares *shares)
{
	struct configured k;
	double *worth;
	bool solved;

	begin(&k, p, unit);
	worth = arena_array(p->round->scratch, double, k.kinds.n);
	for (uint32_t i = 0; i < k.kinds.n; i++)
		worth[i] = 1 / k.best[i];
	build(&k, unit);
	solved = solve(&k);
	if (solved) {
		shares->value = lp_value(k.lp, LEVEL);
		shares->price = prices(&k);
		lp_set_column(k.lp, LEVEL, shares->value * MET, INFINITY);
		set_worth(&k, worth);
		solve(&k);
	}
	return end(&k, solved, shares);
}

static bool raise_sum(const struct program *p, const double *unit, struct shares *shares)
{
	struct configured k;
	double *worth;
	bool solved;

	begin(&k, p, unit);
	worth = arena_array(p->round->scratch, double, k.kinds.n);
	for (uint32_t i = 0; i < k.kinds.n; i++)
		worth[i] = unit[k.kinds.first[i]];
	build(&k, NULL);
	set_worth(&k, worth);
	solved = solve(&k);
	if (solved)
		shares->price = prices(&k);
	return end(&k, solved, shares);
}

/* ---- objectives */

/* Steps per second and device as asked, on average over all devices; where it cannot run so, at its best. */
static double fair_speed(const struct program *p, uint32_t row)
{
	double sum = 0, devices = 0, best = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		double gang = row < p->config_rows
			? p->config[p->config_start[row] + p->type[w]].part[0].gpus
			: p->gang[row];

		sum += p->capacity[w] * p->speed[(size_t)row * p->types + w] / gang;
		devices += p->capacity[w];
	}
	if (sum > 0)
		return sum / devices;
	for (uint32_t c = 0; c < count_of(p, row); c++) {
		struct variable one = variable_of(p, row, c);

		best = fmax(best, one.speed / (one.use[0] + one.use[1]));
	}
	return best;
}

static void max_min(const struct program *p, struct shares *shares)
{
	double *unit = arena_array(p->round->scratch, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		unit[i] = 1 / (p->weight[i] * fair_speed(p, i));
	if (!raise_least(p, unit, shares))
		return;
	shares->level = arena_array(p->round->scratch, double, p->jobs);
	shares->tight = arena_array(p->round->scratch, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		shares->level[i] = unit[i] * program_rate(p, shares, i);
		shares->tight[i] = shares->level[i] <= shares->value * (1 + 1e-6);
	}
}

static double best_speed(const struct program *p, uint32_t row)
{
	double best = 0;

	for (uint32_t c = 0; c < count_of(p, row); c++)
		best = fmax(best, variable_of(p, row, c).speed);
	return best;
}

/* Rates by the time that the longest would take alone; who is about to end needs next to nothing either way. */
static void makespan(const struct program *p, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	double *unit = arena_array(arena, double, p->jobs);
	double longest_s = 0;

	for (uint32_t i = 0; i < p->jobs; i++)
		longest_s = fmax(longest_s, p->left[i] / best_speed(p, i));
	for (uint32_t i = 0; i < p->jobs; i++) {
		double best = best_speed(p, i);

		unit[i] = longest_s / (fmax(p->left[i] / best, 1e-4 * longest_s) * best);
	}
	if (!raise_least(p, unit, shares))
		return;
	shares->value = longest_s / shares->value;
	shares->level = arena_array(arena, double, p->jobs);
	shares->tight = arena_array(arena, bool, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		shares->level[i] = p->left[i] / program_rate(p, shares, i);
		shares->tight[i] = shares->level[i] >= shares->value * (1 - 1e-5);
	}
}

static void throughput(const struct gavel *g, const struct program *p, struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	double *unit = arena_array(arena, double, p->jobs);

	for (uint32_t i = 0; i < p->jobs; i++)
		unit[i] = g->normalise ? 1 / best_speed(p, i) : 1;
	if (!raise_sum(p, unit, shares))
		return;
	shares->level = arena_array(arena, double, p->jobs);
	for (uint32_t i = 0; i < p->jobs; i++) {
		double rate = program_rate(p, shares, i);

		shares->level[i] = rate / best_speed(p, i);
		shares->value += unit[i] * rate;
	}
}

bool gavel_takes_configs(const struct gavel *g)
{
	return g->hetero && !g->packing && !g->water_filling && !gavel_published(g) &&
		(g->objective == OBJECTIVE_MAX_MIN || g->objective == OBJECTIVE_MAKESPAN ||
			g->objective == OBJECTIVE_THROUGHPUT);
}

int gavel_configs(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	const struct gavel *g = self;

	(void)err;
	if (g->objective == OBJECTIVE_MAKESPAN)
		makespan(p, shares);
	else if (g->objective == OBJECTIVE_THROUGHPUT)
		throughput(g, p, shares);
	else
		max_min(p, shares);
	return 0;
}
