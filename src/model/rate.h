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

struct rates {
	const struct cluster *cluster;
	const struct profile *profile; /* NULL: every job runs at its nominal speed */
};

/* Nodes and racks of a grant. */
struct shape grant_shape(const struct cluster *cluster, const struct grant *grant);

/* Steps per second of `job` on `grant` beside `n` other jobs on the same devices. */
double rate(const struct rates *rates, const struct job *job, const struct grant *grant,
	const struct job *const *beside, uint32_t n);

/* The same for devices not chosen yet, packed as closely as the nodes of the type allow. */
double rate_if(const struct rates *rates, const struct job *job, uint32_t type, uint32_t gpus);

#endif
