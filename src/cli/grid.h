/*
 * Several arms (a policy on a cluster, say) on the same workloads, each with
 * one or more seeds: the machinery of compare, whatif, capacity and advise.
 *
 * Every arm with every seed is a piece of work of its own.  Its results go to
 * a cell named by the piece, so that they are the same at any number of
 * threads.
 *
 *	grid_init(&grid, args, arms, n, cluster, vary);
 *	grid_open(&grid, err);                  if directories are wanted
 *	grid_run(&grid, 0, grid.nseeds, err);   all arms, or some seeds first
 *	grid_finish(&grid);                     intervals and tests in grid.result
 *	grid_keep(&grid, timings, err);
 *	grid_fini(&grid);                       always
 */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/setup.h"
#include "cli/ui.h"
#include "report/compare.h"
#include "store/run_dir.h"

/* What another seed changes. */
enum vary {
	VARY_CHANCE,   /* errors, failures, random choices */
	VARY_DRAW,     /* the generator draws another workload */
	VARY_RESAMPLE, /* the trace is resampled */
};

/* By --resample; where that leaves it open, by what is random in `setup`. */
int vary_choose(const struct setup *setup, enum vary *out, struct err *err);

/* One of those that compete.  All borrowed until grid_fini(). */
struct arm {
	const char *label;         /* for people, distinct */
	const struct setup *setup; /* its world and its base workload; arms may share one */
	const struct pairing *pair; /* NULL: nothing is simulated; what the trace's history says, of the first seed */
	bool left_out; /* grid_run() passes it by */
};

struct grid_piece;
struct seed_work;

struct grid {
	const struct args *args;
	struct arm *arms; /* a copy */
	uint32_t narms;
	enum vary vary;
	uint64_t *seeds;
	uint32_t nseeds;
	const char *what; /* for the progress bar */
	/*
	 * An arm that fails does not stop the others: it is left out of what follows, and its error is in
	 * `failed`.
	 */
	bool tolerant;
	/*
	 * What one policy does wrong (ERR_BROKEN) keeps nobody else from results: its arm is among the failed
	 * ones of `result`, and grid_verdict() names it.  Not if all do.
	 */
	bool keeps_others;
	/* Carries the queue of a grid_run() out; NULL: threads of this process do (cli/spread.h is another way). */
	int (*carry)(struct grid *grid, struct err *err);
	const char *command; /* as it was given, for who carries it out elsewhere; borrowed, may be NULL */
	struct err *failed; /* by arm; code 0: it has not */
	struct run_dir dir;
	struct comparison result;
	char *note; /* what the seeds change, for people; NULL: there is one */

	/* private */
	struct grid_piece *pieces; /* seed by seed, so that few workloads are alive at a time */
	size_t npieces;            /* arms x seeds */
	size_t *queue, nqueue;     /* those of the present grid_run() */
	struct seed_work *works;   /* by arm (of its setup, the first) and seed */
	atomic_bool stop;
	atomic_uint_fast64_t ended;
	double all_jobs; /* of the queue */
	pthread_mutex_t bar_lock;
	struct bar bar;
	struct names figures; /* of outcomes from elsewhere */
};

/*
 * Seeds are --seed and --seeds.  `cluster` is for the Gantt chart and may be NULL: there is none.
 * Keeps what the arms point to.
 */
void grid_init(struct grid *grid, const struct args *args, const struct arm *arms, uint32_t n,
	const struct cluster *cluster, enum vary vary);
void grid_fini(struct grid *grid);

/* Begins --out, with a directory for each run. */
int grid_open(struct grid *grid, struct err *err);
/*
 * Runs the arms that are not left out with seeds number `first` up to `end`, under a progress bar.
 * Ctrl-C is ERR_REFUSED; a failed run (unless tolerant) names itself.
 */
int grid_run(struct grid *grid, uint32_t first, uint32_t end, struct err *err);
/* After the last run. */
void grid_finish(struct grid *grid);
/* Writes compare.json and puts the directory in its place: everything appears at once, or not at all. */
int grid_keep(struct grid *grid, bool timings, struct err *err);
/*
 * ERR_NEVER with the arm's name if some job was refused, or is left though time was not up.
 * `hint` (may be NULL) says where to learn which.
 */
int grid_verdict(const struct grid *grid, const char *hint, struct err *err);
/* A note if runs went on where the profiles have no step time. */
void grid_tell_beyond(const struct grid *grid);
/* Most jobs that any run left unfinished. */
uint32_t grid_cut_short(const struct grid *grid);
/* The figures of one run, NULL where there was none. */
const struct summary *grid_summary(const struct grid *grid, uint32_t arm, uint32_t seed);

#endif
