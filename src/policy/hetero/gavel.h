/*
 * Gavel's objectives: each turns a program into shares.
 */
#ifndef POLICY_HETERO_GAVEL_H
#define POLICY_HETERO_GAVEL_H

#include "policy/hetero/turns.h"

enum objective {
	OBJECTIVE_MAX_MIN,
	OBJECTIVE_FINISH_TIME,
	OBJECTIVE_MAKESPAN,
	OBJECTIVE_FIFO,
	OBJECTIVE_SJF,
	OBJECTIVE_THROUGHPUT,
	OBJECTIVE_COST,
	OBJECTIVE_SLO_COST,
};

/* How many devices an elastic job may have: what it asks for, or any it takes. */
enum gangs { GANGS_ASKED, GANGS_FREE };

struct gavel {
	struct share_turns turns;
	int objective;
	bool hetero;
	bool water_filling;
	bool packing;
	bool tenants;
	bool normalise;
	int gangs; /* enum gangs */
	int across;

	/* finish-time fairness: what each job has had in its equal part, by job */
	VEC(struct finish_memory) memory;
};

/* Of a job at the last computation. */
struct finish_memory {
	double isolated_s; /* what it has done so far would have taken that long on its equal part */
	double left;       /* steps; 0: not seen yet */
	double rate;       /* on its equal part */
};

/* What a job would go at if it had the devices of each type in proportion, all the time. */
double gavel_proportional(const struct program *program, uint32_t row);

/* Steps per second on its fastest type. */
double gavel_best_speed(const struct program *program, uint32_t row);

/*
 * Of all shares that give each job `need` steps per second, those with the most throughput; leaves
 * the shares as they are where it finds none, or where there is hardly anything left to give.
 */
void gavel_spend_rest(const struct program *program, const double *need, struct shares *shares);
/*
 * The least of all jobs' speeds times `unit` as large as can be (`value`), by prices, and the rest spent.
 * False: there is no answer.
 */
bool gavel_level(const struct program *program, const double *unit, struct shares *shares);

/*
 * With pairs: the least value of all jobs, or their sum, as large as can be; a step per second is worth
 * `unit`.  False: no answer was found, `fallback` says so and the caller does without pairs.
 */
bool gavel_packed_levels(const struct gavel *g, const struct program *program, const double *unit,
	struct shares *shares);
bool gavel_packed_sum(const struct gavel *g, const struct program *program, const double *unit,
	struct shares *shares);

static inline bool gavel_published(const struct gavel *g)
{
	return g->turns.compat != TURNS_OWN;
}

/* Whether shares of configurations can be computed for these options, and computing them. */
bool gavel_takes_configs(const struct gavel *g);
shares_fn gavel_configs;

shares_fn gavel_cost;
shares_fn gavel_fifo;
shares_fn gavel_max_min;
shares_fn gavel_queue; /* fifo as the paper has it: the earlier a job came, the more it counts */
shares_fn gavel_sjf;
shares_fn gavel_slo_cost;
shares_fn gavel_water_filling;
shares_fn gavel_finish_time;
shares_fn gavel_makespan;
shares_fn gavel_throughput;

#endif
