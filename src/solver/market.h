/*
 * Who shall run in which of the coming rounds: the window program of Shockwave
 * (NSDI 2023), a market for rounds in which everybody's progress counts by its
 * logarithm.
 *
 *	maximise    sum_j weight_j log(progress_j) / (jobs * rounds) - k max_j late_j
 *	subject to  the devices of each round, and at least least_j rounds for j
 *
 * where progress_j grows by `gain` a round up to 1, and late_j is what remains
 * of `left_s` after the rounds planned.  The logarithm is taken in pieces,
 * straight between `bases`.
 *
 * market_solve() decides how many rounds each has: for every value that the
 * greatest lateness can have, whoever needs rounds for that has them, and the
 * rest goes where a device is worth most.  That is optimal but for the few
 * devices at the end that no job fits; a bound says how near it is.  It counts
 * devices of the whole window: gangs nearly as large as the cluster may not go
 * together in each round, and then market_place() leaves some out.
 * market_exact() asks the integer solver and is slow.
 */
#ifndef SOLVER_MARKET_H
#define SOLVER_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum { MARKET_BASES_MAX = 64 };

struct market_job {
	double gpus;     /* in each of its rounds */
	double progress; /* so far, 0..1 */
	double gain;     /* progress in a round */
	double left_s;   /* predicted */
	double most_s;   /* of which rounds can take away at most so much; INFINITY: no limit */
	double weight;
	uint32_t least; /* rounds that it must have */
};

struct market {
	const struct market_job *job;
	uint32_t jobs, rounds;
	double gpus;
	double round_s;
	double k;
	const double *bases; /* of the logarithm's pieces, from 0 to 1, ascending; at 0 it is log(1e-6) */
	uint32_t nbases;
};

struct market_answer {
	uint32_t *count; /* [jobs] rounds */
	double value;    /* of the objective */
	double bound;    /* nothing is better than this */
};

/* log(progress) in pieces; progress above 1 counts as 1. */
double market_log(const struct market *market, double progress);
/* The objective of so many rounds each, whether they fit or not. */
double market_value(const struct market *market, const uint32_t *count);

/* False: `least` asks for more than there is.  The answer is in the arena. */
bool market_solve(const struct market *market, struct arena *arena, struct market_answer *out);
bool market_exact(const struct market *market, struct arena *arena, struct market_answer *out);

/*
 * Which rounds: those of large weight early, so that the sum of weight times mean round is small; ties by
 * number.  `in` is [rounds][jobs].  Rounds of a job for which there is no room (gangs that do not go
 * together) are left out; returns how many.
 */
uint32_t market_place(const struct market *market, const uint32_t *count, const double *weight,
	struct arena *arena, bool *in);

#endif
