/*
 * One decision: what a policy may look at.
 */
#ifndef MODEL_ROUND_H
#define MODEL_ROUND_H

#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/rate.h"
#include "model/tenant.h"

struct round {
	double now_s;
	const struct cluster *cluster;
	const struct rates *belief;
	const struct tenants *tenants; /* bound to the jobs' tenants; NULL: nothing was said of any */
	const bool *on_loan; /* by node: it is borrowed now and may be called back; NULL: none ever is */
	const struct job *jobs; /* every job submitted so far, by id */
	uint32_t njobs;
	const uint32_t *active; /* ids in order of arrival; skip those that are not job_active() */
	uint32_t nactive;
	const uint32_t *changed; /* ids that came, started, moved, stopped or ended since the last round, each once */
	uint32_t nchanged;
	uint32_t up[TYPES_MAX]; /* devices by type that are up, on nodes that are */
	bool capacity_changed;  /* nodes went down or came up since the last round */
	void *job_state; /* policy.job_state_size bytes for each job, zeroed; the policy's to write */
	struct arena *scratch; /* gone when decide returns */
	struct rng *rng;
	uint64_t seed; /* of the run, for generators of a policy's own */
	bool closed;   /* no job will be submitted any more; false where nobody knows */
	/* In policy.welcome: jobs that are only asked about, and count as let in. */
	const struct job *asked;
	uint32_t nasked;
};

#endif
