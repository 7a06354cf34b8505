/*
 * The hands of a Slurm cluster.  Slurm launches, isolates and accounts; which job
 * runs where and when is ours to say.
 *
 * Everything goes through the bridge, a program of its own that links libslurm
 * (doc/slurm-protocol.md), and nothing here waits for it: orders are sent, and
 * what becomes of them shows in its answers and in what it tells of jobs.
 *
 *	expect   a job of ours is submitted to Slurm, held, under a key of ours
 *	launch   pinned to its nodes and released, marked with the attempt
 *	stop     requeued and held, after its signal and grace
 *	forget   cancelled where it still waits
 *
 * Exactly once: a submission whose answer did not come is looked up by its key
 * before it is sent again; a job is known by cluster, number and submit time;
 * a run by the attempt it was marked with.
 */
#ifndef LIVE_SLURM_HANDS_H
#define LIVE_SLURM_HANDS_H

#include "live/hands.h"

/* Which jobs that were submitted to Slurm itself are taken over. */
enum slurm_take {
	SLURM_TAKE_MARKED, /* those that the job_submit hook has held for us */
	SLURM_TAKE_ALL,    /* every batch job that waits in the partition and that we can run */
	SLURM_TAKE_NONE,
};

struct transport; /* live/slurm/wire.h */

struct slurm_options {
	const char *const *bridge; /* command of stint-slurm, NULL-terminated */
	const char *partition;     /* that is driven; NULL: all, to look at */
	const char *site;          /* a word of the record's own, in every key */
	enum slurm_take take;
	double poll_s;     /* so often jobs are looked at when nothing was ordered */
	double patience_s; /* a job that was released and does not start is taken back after so long */
	uint32_t scheduler, schedulers; /* this one of so many that share nodes, from 0 on; 0, 0: alone */
	double (*now_s)(void);          /* seconds since 1970; NULL: the clock */
	const struct transport *transport; /* in place of the bridge, with its self; NULL: the bridge */
	void *transport_self;
};

/* The word with which the hook marks jobs as ours to start. */
#define SLURM_MARK "stint:wanted"

/* Asks the cluster who it is before it says yes: at most some seconds.  ERR_MISSING, ERR_REFUSED, … with what to do. */
int slurm_hands_open(const struct hands_config *config, const struct slurm_options *options,
	struct hands **out, struct err *err);

#endif
