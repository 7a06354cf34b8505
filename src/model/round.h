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

/* A job that will come once others have ended, where it is not submitted before. */
struct later {
	const struct job *job;
	const uint32_t *after; /* below round.njobs: a job; else round.later[after - njobs] */
	uint32_t nafter;
};
struct quota;

struct round {
	double now_s;
	const struct cluster *cluster;
	const struct rates *belief;
	const struct tenants *tenants; /* bound to the jobs' tenants; NULL: nothing was said of any */
	const struct quota *quota; /* what tenants hold, and may (placement/quota.h); NULL: quotas are not kept */
	const bool *on_loan; /* by node: it is borrowed now and may be called back; NULL: none ever is */
	const struct job *jobs; /* every job submitted so far, by id */
	uint32_t njobs;
	const uint32_t *active; /* ids in order of arrival; skip those that are not job_active() */
	uint32_t nactive;
	const uint32_t *held; /* ids that came and are held back, by admission or by others that must end first; in order of arrival */
	uint32_t nheld;
	const uint32_t *deps; /* what job.first_dep points into; NULL: nobody waits for others */
	/* Jobs that are still outside; for policies that say POLICY_AHEAD, where the world knows any. */
	const struct later *later;
	uint32_t nlater;
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
