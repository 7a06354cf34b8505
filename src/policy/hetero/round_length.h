/*
 * How long a round should be, from what is going on.
 *
 * Short rounds stop and resume jobs often; in long ones jobs that came or
 * are owed a better type wait for their turn.  For a job with T seconds still
 * to run, among n that run and w that wait, rounds of R seconds cost
 *
 *	p C (n + w) / n  T / R  +  k R / 2
 *
 * seconds: at the end of each of its T / R rounds it is moved with chance p,
 * which loses C seconds of a device, and what a device loses is lost by all
 * (n + w) / n jobs that live on it; and once in its life, when it comes, it
 * is half a round behind its shares.  Others use the devices meanwhile, so
 * that only a part k of this is lost to the mean.  The least sum is at
 *
 *	R = sqrt(2 p C T (n + w) / (k n)),
 *
 * the shape of Young's rule for the time between checkpoints.
 */
#ifndef POLICY_HETERO_ROUND_LENGTH_H
#define POLICY_HETERO_ROUND_LENGTH_H

#include "model/round.h"

enum { ROUND_LEAST_S = 30, ROUND_MOST_S = 3600 };

/* What a decision knows.  Zeroed: nobody is there. */
struct round_stats {
	double running, waiting; /* devices held by active jobs, and wanted by those without any */
	double resume_s;         /* mean cost of stopping and resuming an active job */
	double left_s;           /* mean believed time that an active job has still to run */
};

void round_stats_of(struct round_stats *stats, const struct round *round);

/* The chance p that a job which runs is moved at the end of a round. */
double round_turnover(const struct round_stats *stats);

/*
 * Seconds, from ROUND_LEAST_S to ROUND_MOST_S; one of few values, each about twice the last, so that
 * small changes of the workload change nothing.  Without costs, or without anybody to wait: the least.
 */
double round_length(const struct round_stats *stats);

#endif
