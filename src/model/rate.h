/*
 * The speed of a running job: the one place where type, locality and sharing
 * multiply.  The simulator asks with the truth, policies with their belief.
 */
#ifndef MODEL_RATE_H
#define MODEL_RATE_H

#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"
#include "model/profile.h"

struct agents;
struct training;

struct rates {
	const struct cluster *cluster;
	const struct profile *profile; /* NULL: every job runs at its nominal speed */
	const struct training *training; /* how models were profiled (model/training.h); NULL: not at all */
	bool oracle; /* what jobs of these models do at a fixed batch is known, not measured (model/elastic.h) */
	bool cautious; /* elastic jobs that are listened to have their fewest devices until they have shown how fast they are */
	const struct agents *agents; /* what jobs have shown of themselves (model/agents.h); NULL: nobody listens */
};

/* Speeds asked for at the same version are the same; 0 where all are nominal. */
uint64_t rates_version(const struct rates *rates);

struct host_table;
/* What hosts do to the speed of `job` on so many devices (model/hosting.h); NULL: nothing is known. */
const struct host_table *rates_host_table(const struct rates *rates, const struct job *job,
	uint32_t gpus);

/* Nodes and racks of a grant, and the links among its very devices where the cluster knows them. */
struct shape grant_shape(const struct cluster *cluster, const struct grant *grant);

/*
 * Steps per second of `job` on `grant` beside `n` other jobs.
 *
 * Training is synchronous: as fast as it would be if all its devices were as slow as the slowest,
 * whether that is of a slower type or has company.  A balanced grant gives each device as much as it
 * can do, so that their speeds add up.  What company costs is measured for gangs of equal size; where
 * sizes differ the smaller one counts, for both.  The speed of a fraction is that on its share, and
 * other fractions do not change it.  What the grant has of its hosts counts where the model's need of
 * them is known; where neither the grant nor the job says, each device has its part of its node.
 *
 * A guest has what others leave: its launch rate times the part of the device that is idle, in the memory
 * that is left (model/coordinator.h).  Those it is beside are slowed by no more than its launch rate allows.
 */
double rate(const struct rates *rates, const struct job *job, const struct grant *grant,
	const struct neighbour *beside, uint32_t n);

/*
 * Of a device of the type: what the job keeps busy of it when it is alone there, 0..1, and the bytes it needs there.
 * Said by the job, else estimated from its model; a half, and none, where nothing is known.
 */
double job_util(const struct rates *rates, const struct job *job, uint32_t type);
double job_gpu_bytes(const struct rates *rates, const struct job *job, uint32_t type);

/* The same for devices not chosen yet, packed as closely as the nodes of the type allow. */
double rate_if(const struct rates *rates, const struct job *job, uint32_t type, uint32_t gpus);
/* The same for devices that lie so. */
double rate_in(const struct rates *rates, const struct job *job, uint32_t type, struct shape shape);
/* The same for a mixture. */
double rate_if_mixed(const struct rates *rates, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, bool balanced);
/* The same for its gang on one type, some or all of it beside `other`'s; 0 where either is a fraction, which nobody joins. */
double rate_if_beside(const struct rates *rates, const struct job *job, const struct job *other,
	uint32_t type);

#endif
