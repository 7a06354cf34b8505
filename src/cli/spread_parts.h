/*
 * What both sides of --on slurm know: the directory they share.
 *
 *	DIR/plan          how many tasks there are, and what is wanted of a run
 *	DIR/result-7      run 7 of the queue: an outcome, or why there is none
 *	DIR/run-7/        its files, where --out wants them
 *	DIR/log-3         what task 3 said
 */
#ifndef CLI_SPREAD_PARTS_H
#define CLI_SPREAD_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/grid_parts.h"

struct spread_plan {
	size_t tasks, runs;
	bool record, spans;
};

/* "DIR/result-7", malloc'ed. */
char *spread_path(const char *dir, const char *what, size_t number);

int spread_plan_write(const char *dir, const struct spread_plan *plan, struct err *err);
int spread_plan_read(const char *dir, struct spread_plan *out, struct err *err);

/* Does run `number` of the queue and writes its result.  An error is one of writing. */
int spread_result_make(struct grid_piece *piece, const struct spread_plan *plan, const char *dir,
	size_t number, struct err *err);
/* Takes it, or fails the piece. */
void spread_result_take(struct grid_piece *piece, const char *dir, size_t number);

#endif
