/*
 * The runs of a comparison as a job array of Slurm (--on slurm).
 *
 * This process makes a directory that all nodes share, and each task is this
 * program again with the same flags and --part-of DIR: it carries out some of
 * the runs and writes their outcomes there.  Results are put together here
 * exactly as those of threads are, so that they are the same.
 */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/grid.h"

extern const struct flag_group flags_spread;

/* Whether --on is understood and fits the workload; `source` names it. */
int spread_check(const struct args *args, const char *source, struct err *err);

/* Lets the grid be carried out by Slurm, if --on says so. */
void spread_ready(struct grid *grid);

/* --part-of: what this process was started for.  Before grid_init(): what the whole wants of a run. */
int spread_part_plan(struct args *args, struct err *err);
int spread_part_run(struct grid *grid, struct err *err);

#endif
