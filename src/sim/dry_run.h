/*
 * What would become of jobs that nobody has submitted yet, and of the others
 * because of them: the same futures twice, with them and without.
 */
#ifndef SIM_DRY_RUN_H
#define SIM_DRY_RUN_H

#include "model/calibration.h"
#include "sim/habits.h"

enum { DRY_RUN_FUTURES = 60 };

struct dry_run_config {
	const struct snapshot *from; /* the new ones are its last */
	uint32_t nnew;
	const struct habits *habits;             /* settled */
	uint32_t futures;                        /* 0: DRY_RUN_FUTURES */
	double budget_s;                         /* of the clock; 0: as long as it takes */
	const struct correction *start, *finish; /* NULL: as the futures say */
	const atomic_bool *stop;                 /* gives up when it is set; NULL: never */
	uint64_t seed;
};

/* Another job that fares worse with them. */
struct dry_run_harm {
	uint32_t number;
	double stopped;      /* share of futures in which it loses its devices more often */
	struct moments late; /* seconds that it ends later */
};

struct dry_run {
	uint32_t futures; /* that were run */
	uint32_t wanted;  /* that would have been with time enough */
	bool starts_now;  /* the first of them, with the next decision */
	/* Seconds from now: the first of them starts, the last ends. */
	struct moments start, finish;
	double never; /* share of futures in which one does not start */
	bool bounded; /* jobs that the snapshot leaves out may come before them: start.p10 is a bound, and no more is known */
	double gpu_s; /* GPU-seconds they hold, the median */
	/* Where the first of them goes in the first future; gpus 0: nowhere. */
	uint32_t node, type, gpus, nodes;
	VEC(struct dry_run_harm) harms; /* the worst first */
};

/* Release with dry_run_fini(), also after a failure. */
int dry_run(const struct dry_run_config *config, struct dry_run *out, struct err *err);
void dry_run_fini(struct dry_run *dry_run);

#endif
