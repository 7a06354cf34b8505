/*
 * What Pollux searches: a matrix of devices, a row for each job and a column
 * for each node, and how good it is.
 *
 * A matrix is allowed if no node has more devices handed out than it has, no
 * job has fewer than its least (except none), more than its most or a part of a
 * unit, all devices
 * of a job are of one type it may use, and, where interference is avoided, no
 * node has two jobs that also have devices elsewhere.
 */
#ifndef POLICY_ELASTIC_POLLUX_SEARCH_H
#define POLICY_ELASTIC_POLLUX_SEARCH_H

#include "base/mem.h"
#include "solver/genetic.h"

enum pollux_objective {
	POLLUX_POWER, /* the power mean of speedups */
	POLLUX_SUM,   /* their sum */
};

enum {
	POLLUX_BIRTHS_MAX = 12, /* more at once on a node do not happen */
};

struct pollux_memo {
	uint64_t key; /* 0: nothing */
	double speedup;
};

struct pollux_search {
	/* set by the caller */
	uint32_t jobs, nodes, types;
	uint64_t *capacity;           /* devices of each node, as a row */
	const uint8_t *node_type;     /* by node */
	const uint32_t *may_use;      /* by job: a bit for each type */
	const uint32_t *least, *most; /* by job and type, jobs x types */
	const uint32_t *unit; /* likewise: it has multiples of so many only; NULL: any number */
	uint64_t *base;       /* the matrix as it is now */
	const double *factor; /* by job: what it has of its speedup if its row is not that of the base */
	bool avoid;
	uint32_t widest; /* nodes of one job at most, 0: any number */
	enum pollux_objective objective;
	double p;
	double scale, floor; /* speedups count times `scale`, and at least `floor` */
	bool floor_adds;     /* the floor is added to all of them instead */
	/* Of job `row` on `nodes` nodes of a type, `gpus` in all; what it answers is kept for the search. */
	double (*speedup)(void *ctx, uint32_t row, uint32_t type, uint32_t nodes, uint32_t gpus);
	void *ctx;

	/* of the search; see pollux_search_prepare() */
	uint32_t width;
	uint64_t *type_mask;                         /* types x width */
	uint64_t *left, *open, *taken, *mine, *many; /* a row each */
	uint32_t *order;                             /* nodes */
	uint32_t *threshold; /* by jobs on a node: of 65536, how often one of them grows there */
	uint32_t *birth;     /* of 65536: no job begins there, at most one, two, … */
	struct pollux_memo *memo;
	uint64_t dice; /* of the child under way */
};

/* Completes what the caller has set with memory of the arena. */
void pollux_search_prepare(struct pollux_search *search, struct arena *arena);
/* For genetic_run(). */
struct genetic_problem pollux_search_problem(struct pollux_search *search);

/* How good a matrix is, all of it anew; the mean of speedups that it comes from. */
double pollux_search_fitness(struct pollux_search *search, const uint64_t *words);
double pollux_mean(const double *values, uint32_t n, double p);
/* What a job of that age has of its speedup if it has to be restarted once more. */
double pollux_restart_factor(double age_s, double restarts, double delay_s);

/* Devices and nodes of a row. */
uint32_t pollux_row_gpus(const uint64_t *row, uint32_t width);
uint32_t pollux_row_nodes(const uint64_t *row, uint32_t width);

#endif
