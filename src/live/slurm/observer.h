/*
 * A Slurm cluster that is looked at: what Slurm does with its GPU jobs is told as
 * if it were ours, and nothing of it is changed.
 *
 * Every job with GPUs that waits or runs arrives, under "slurm:4711_3@SUBMITTED".  A
 * run of it is told as "observed" with its nodes; the core follows and launches
 * an attempt, which begins and ends as Slurm says.  Stopping does nothing: the
 * attempt is over when Slurm shows that it is.
 *
 * Runs are told one after the other: what comes next waits until the one before
 * was launched and has ended, so that none is left out.  One that is over and was
 * not launched within the options' patience is (its nodes are not known here).
 */
#ifndef LIVE_SLURM_OBSERVER_H
#define LIVE_SLURM_OBSERVER_H

#include "live/slurm/hands.h"
#include "live/slurm/wire.h"

/* Only bridge, partition, poll_s, patience_s and now_s of the options count.  As slurm_hands_open(). */
int slurm_observer_open(const struct hands_config *config, const struct slurm_options *options,
	struct hands **out, struct err *err);

/* The same over any line; `transport` and `self` must stay until it is closed. */
int slurm_observer_open_on(const struct hands_config *config, const struct slurm_options *options,
	const struct transport *transport, void *self, struct hands **out, struct err *err);

#endif
