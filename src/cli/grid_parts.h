/*
 * The pieces of a grid, for whoever carries them out (cli/grid.c in threads,
 * cli/spread.c elsewhere).
 */
#ifndef CLI_GRID_PARTS_H
#define CLI_GRID_PARTS_H

#include "cli/grid.h"
#include "cli/workload.h"
#include "engine/outcome.h"

/* The workload of one seed, made when the first of its runs begins and gone after the last. */
struct seed_work {
	pthread_mutex_t lock;
	const struct workload *workload; /* NULL: not made yet */
	struct workload own;             /* unless it is the base */
	uint32_t left;                   /* runs that have not ended */
};

struct grid_piece {
	struct grid *grid;
	uint32_t arm, seed;
	struct run_dir dir; /* inside that of the grid */
	uint32_t ended;     /* jobs, as last reported */
	struct beyond beyond;
	struct err err;
	int rc;
};

/* Runs it here, from its workload to its result. */
void grid_run_piece(struct grid_piece *piece);

/* Its steps.  Every begun seed is ended. */
int grid_begin_seed(struct grid_piece *piece, const struct workload **out, struct err *err);
/* Writes to piece->dir if that is open.  On success release `out`. */
int grid_simulate(struct grid_piece *piece, const struct workload *workload, struct outcome *out,
	struct err *err);
/* Puts the outcome where it belongs, and releases it. */
int grid_take(struct grid_piece *piece, const struct workload *workload, struct outcome *outcome,
	struct err *err);
void grid_end_seed(struct grid_piece *piece);
/* It failed as piece->err says. */
void grid_fail(struct grid_piece *piece, int rc);

/* What happened, not a run. */
bool grid_is_recorded(const struct grid_piece *piece);
bool grid_told_to_stop(struct grid *grid);

#endif
