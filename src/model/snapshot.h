/*
 * What a scheduler knows at one moment: everything that is needed to go on from
 * there elsewhere, in another thread or many times over.
 *
 * It owns all it points to and shares nothing with where it was taken; it points
 * into itself, so it stays where it was filled.  Jobs
 * that run come first, in the order in which an engine shall take them over
 * (engine_adopt()); then those that wait, as they came to the scheduler, and
 * those that will come to it when they may.
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

enum { SNAPSHOT_RUNS = 16 };

struct snapshot_job {
	struct job job;            /* job.grant is NULL; totals up to counted_s if it runs */
	const struct grant *grant; /* what it holds; NULL: it waits */
	uint32_t number;
	uint32_t array, index; /* of an array people call it by these, "7_3"; array 0: by its number */
	uint32_t user;         /* whose it is, by number; 0 where nobody said */
	double opens_s; /* it is not considered before; -INFINITY: it may run now, INFINITY: somebody must let it go */
	const uint32_t *after; /* jobs of the snapshot that must have ended, whatever came of them */
	uint32_t nafter;
	bool keeps_followers; /* when it ends those who wait for it still do: it was taken away */
	double limit_s; /* seconds of running from now on after which it is ended; INFINITY: none */
	double grace_s; /* it may take as long to go at its limit */
	double known;   /* how sure its run time is: 1 as reported, 0.5 as estimated, 0 not known */
	uint32_t rest; /* 1 + which of snapshot.rest is of its kind; 0: none, all of its kind are here */
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

/*
 * Jobs of one kind that wait and are not in the snapshot, because the queue is too long.  They start after those
 * of their kind that are (see live/core_part.h).
 */
struct snapshot_rest {
	uint32_t last;  /* of its kind, the last one that is here, by place; JOB_NONE: none is */
	uint32_t njobs; /* that are not */
	bool shut;      /* a person must let them go */
};

/* A job that waits and is not in the snapshot. */
struct snapshot_absent {
	uint32_t number;
	uint32_t rest; /* which of snapshot.rest */
};

/*
 * Memory of snapshots that are gone, for the next ones of the same scheduler: asking the kernel for pages takes longer than
 * filling them.  Any thread may release a snapshot.
 */
struct snapshot_store;

struct snapshot {
	double now_s;
	char *policy, *placer, *admit;
	uint64_t seed;
	void *memory_of_policy; /* what it remembers beyond jobs, as its `resume` takes it; NULL: nothing */
	size_t nmemory;         /* bytes of it */
	char *memory_of_jobs; /* what it keeps for each, by place; NULL: nothing */
	size_t memory_of_job; /* bytes for each */
	uint32_t nremembered; /* for the first so many */
	struct cluster cluster;
	struct names tenant_names, model_names;
	struct tenants tenants; /* as given, not bound; may be empty */
	struct profile *speeds;
	struct agents *agents;
	struct rates belief; /* of the above */
	VEC(struct snapshot_job) jobs;
	uint32_t nrunning; /* the first so many */
	/* Where runs of jobs with ascending numbers begin, for snapshot_find(). */
	uint32_t runs[SNAPSHOT_RUNS], nruns;
	VEC(struct snapshot_down) down;
	VEC(struct snapshot_drained) drained; /* no device twice */
	VEC(struct snapshot_rest) rest;       /* empty: all jobs are here */
	VEC(struct snapshot_absent) absent;   /* by number */
	struct arena memory;                  /* text, grants, dependencies */
	struct snapshot_store *store;         /* where memory goes back to; NULL: nowhere */
};

/* Prepares an empty one for this cluster, which is copied.  Fill in the rest; release with snapshot_fini(). */
void snapshot_init(struct snapshot *snapshot, const struct cluster *cluster, double now_s);
void snapshot_fini(struct snapshot *snapshot);

struct snapshot_store *snapshot_store_create(void);
/* Takes NULL.  Snapshots with memory of the store may outlive this. */
void snapshot_store_release(struct snapshot_store *store);
/* There will be snapshots of so many jobs: gets memory for one ready, a little with each call that asks for a little more. */
void snapshot_store_expect(struct snapshot_store *store, size_t njobs);
/* After snapshot_init(): takes what memory there is, agents without jobs among it, and gives it back with snapshot_fini(). */
void snapshot_take_memory(struct snapshot *snapshot, struct snapshot_store *store);
/* Part of snapshot_fini(). */
void snapshot_give_memory(struct snapshot *snapshot);

/* Names in the same order get the same numbers; speeds by these numbers. */
void snapshot_take_names(struct snapshot *snapshot, const struct names *tenants,
	const struct names *models);
void snapshot_take_speeds(struct snapshot *snapshot, const struct profile *speeds);

/* Devices are drained; the reason, which may be NULL, is copied. */
void snapshot_drain(struct snapshot *snapshot, uint32_t node, uint64_t devices, const char *why);
/* Adds a job; text, gangs, what it avoids and grant are copied.  All that run before all that wait. */
struct snapshot_job *snapshot_add(struct snapshot *snapshot, const struct job *job,
	const struct grant *grant, uint32_t number);
/* As people call it. */
void snapshot_call(const struct snapshot_job *one, char out[32]);
/* By number, in a few steps where most numbers ascend; JOB_NONE: it is not here. */
uint32_t snapshot_find(const struct snapshot *snapshot, uint32_t number);

#endif
