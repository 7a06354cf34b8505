/*
 * Speeds of jobs in configurations that nobody measured, from what other jobs
 * do there: scaling efficiency by job, type and count as a sum of products
 * (solver/tensor.h) fitted to a few measured entries of each job.
 *
 * Efficiency is the speed per device, relative to one device of the job's
 * first type.  Counts are powers of two; what lies between is interpolated.
 */
#ifndef POLICY_ELASTIC_HEET_SPEEDS_H
#define POLICY_ELASTIC_HEET_SPEEDS_H

#include "base/mem.h"
#include "model/cluster.h"

enum { HEET_COUNTS_MAX = 17 }; /* 1, 2, 4 … 65536 */

/* Where measurements come from. */
struct heet_source {
	/* Progress per second of the row; 0: it cannot run so, or nothing is known. */
	double (*speed)(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus);
	const void *ctx;
};

struct heet_row {
	uint32_t types;     /* bit per type it may use */
	uint32_t most;      /* devices at most */
	uint32_t tag;       /* says which entries it measures, so that together they cover all */
	uint32_t type, now; /* what it runs on, which is measured as well; now 0: it does not */
};

struct heet_options {
	uint32_t rank;
	double ridge;
	uint32_t sweeps;
	bool all; /* nothing is estimated: every entry is asked for */
};

struct heet_speeds {
	uint32_t rows, types, counts;
	double *single;     /* by row: speed of one device of its first type */
	double *efficiency; /* [row][type][count] */
};

/* Everything in the arena.  A row of which no single device's speed is known has efficiency 1 everywhere. */
void heet_speeds_fill(struct heet_speeds *speeds, const struct heet_row *rows, uint32_t nrows,
	uint32_t ntypes, const struct heet_options *options, struct heet_source source,
	struct arena *arena);
double heet_speed(const struct heet_speeds *speeds, uint32_t row, uint32_t type, uint32_t gpus);

/*
 * Believed efficiencies of one type, made such as they can be: none below a twentieth of that of a single
 * device or above 1.1 times that, none above the one before it or below what was measured of more devices.
 * What was measured stays.
 */
void heet_tidy(double *efficiency, const bool *measured, uint32_t counts);

#endif
