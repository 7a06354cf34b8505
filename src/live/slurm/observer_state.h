/*
 * What the observer's two files share: the line to Slurm and what is told of it.
 */
#ifndef LIVE_SLURM_OBSERVER_STATE_H
#define LIVE_SLURM_OBSERVER_STATE_H

#include "live/slurm/bridge.h"
#include "live/slurm/nodes.h"
#include "live/slurm/observer.h"
#include "live/slurm/sight.h"

/* An attempt that was launched and has no run: it bounces. */
struct loose {
	uint32_t job, attempt;
};

struct slurm_observer {
	struct hands base;
	struct bridge bridge;
	char **command; /* the bridge's, ours */
	struct wire *wire;
	double (*now_s)(void);
	double poll_s, patience_s;
	char *partition; /* NULL: all */
	char cluster[64], version[64];

	bool helloed;
	bool refused; /* while it is opened: `trouble` says why */
	struct err trouble;
	bool away; /* people were told that nothing is heard */
	bool back; /* and are to be told that something is again */
	struct nodes nodes;
	json_t *members; /* names of the partition's nodes; NULL: all */
	bool members_known, nodes_answered, nodes_known, nodes_changed;
	int64_t nodes_stamp, jobs_stamp;
	bool asked_nodes, asked_jobs;
	double next_nodes_s, next_jobs_s, pause_s;
	bool expected_all;

	struct sights sights;
	struct buf say;      /* a sentence a line */
	uint32_t unanswered; /* arrivals */
	VEC(struct loose) loose;
};

/* Tells what there is to tell; true: there is more at once. */
bool observer_tell(struct slurm_observer *o);
/* There is something to tell: hands_poll() shall be called. */
void observer_wake(struct slurm_observer *o);

#endif
