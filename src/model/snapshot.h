/*
 * What a scheduler knows at one moment: everything that is needed to go on from
 * there elsewhere, in another thread or many times over.
 *
 * It owns all it points to and shares nothing with where it was taken; it points
 * into itself, so it stays where it was filled.  Jobs
 * that run come first, in the order in which an engine shall take them over
 * (engine_adopt()); then those that wait, in order of arrival.  So the index of
 * a job here is its number in an engine that was made from it.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include "base/names.h"
#include "base/vec.h"
#include "model/agents.h"
#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"
#include "model/profile.h"
#include "model/rate.h"
#include "model/tenant.h"

struct snapshot_job {
	struct job job;            /* job.grant is NULL; totals up to counted_s if it runs */
	const struct grant *grant; /* what it holds; NULL: it waits */
	uint32_t number;           /* as people call it */
	double opens_s; /* it is not considered before; -INFINITY: it may run now, INFINITY: somebody must let it go */
	const uint32_t *after; /* jobs of the snapshot that must have ended, whatever came of them */
	uint32_t nafter;
	double limit_s; /* seconds of running after which it is ended; INFINITY: none */
	double known;   /* how sure its run time is: 1 as reported, 0.5 as estimated, 0 not known */
};

/* Devices of a node that are down. */
struct snapshot_down {
	uint32_t node;
	uint64_t devices;
};

/* Devices of a node that are drained, for one reason. */
struct snapshot_drained {
	uint32_t node;
	uint64_t devices;
	const char *why; /* NULL: nobody said */
};

struct snapshot {
	double now_s;
	char *policy, *placer, *admit;
	uint64_t seed;
	struct cluster cluster;
	struct names tenant_names, model_names;
	struct tenants tenants; /* as given, not bound; may be empty */
	struct profile *speeds;
	struct agents *agents;
	struct rates belief; /* of the above */
	VEC(struct snapshot_job) jobs;
	uint32_t nrunning; /* the first so many */
	VEC(struct snapshot_down) down;
	VEC(struct snapshot_drained) drained; /* no device twice */
	struct arena memory;                  /* text, grants, dependencies */
};

/* Prepares an empty one for this cluster, which is copied.  Fill in the rest; release with snapshot_fini(). */
void snapshot_init(struct snapshot *snapshot, const struct cluster *cluster, double now_s);
void snapshot_fini(struct snapshot *snapshot);

/* Names in the same order get the same numbers; speeds by these numbers. */
void snapshot_take_names(struct snapshot *snapshot, const struct names *tenants,
	const struct names *models);
void snapshot_take_speeds(struct snapshot *snapshot, const struct profile *speeds);

/* Devices are drained; the reason, which may be NULL, is copied. */
void snapshot_drain(struct snapshot *snapshot, uint32_t node, uint64_t devices, const char *why);
/* Adds a job; text, gangs, what it avoids and grant are copied.  All that run before all that wait. */
struct snapshot_job *snapshot_add(struct snapshot *snapshot, const struct job *job,
	const struct grant *grant, uint32_t number);
/* By number; JOB_NONE: it is not here. */
uint32_t snapshot_find(const struct snapshot *snapshot, uint32_t number);

#endif
