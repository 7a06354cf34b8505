/*
 * What the files of quotas share: for nobody else.
 */
#ifndef PLACEMENT_QUOTA_PARTS_H
#define PLACEMENT_QUOTA_PARTS_H

#include "placement/plan.h"
#include "placement/quota.h"

/* Devices are counted in billionths, so that shares add up in any order. */
#define DEVICE ((int64_t)SHARE_WHOLE)
#define NO_LIMIT INT64_MAX

/*
 * A tenant, or the own jobs of one that has others below it, or (the last) the cluster.  Vectors by type
 * are in quota.vectors.
 */
struct quota_node {
	uint32_t parent; /* the cluster has TENANT_NONE */
	uint32_t depth;  /* of the cluster: 0 */
	uint32_t leaf;   /* where its own jobs are counted */
	double weight;
	int64_t any;   /* guaranteed of any type */
	int64_t total; /* guaranteed in all */
	int64_t borrow, lend;
	int64_t *typed, *lend_typed; /* guaranteed by type, and lent; NO_LIMIT: all of it */
	int64_t *held;               /* by type */
	int64_t loose;               /* held beyond what is guaranteed by type */
	int64_t asked;               /* by jobs that compete */
	uint32_t outside;            /* the first of its jobs that waits outside, or JOB_NONE */
	int64_t late;                /* of these, let in since the last decision */
	/* Idle devices that must stay free for it; of those below it, the sum. */
	int64_t keeps_any, *keeps, below_any, *below;
	/* The same while everybody idles, which is when most can be borrowed. */
	int64_t idle_keeps_any, *idle_keeps, idle_below_any, *idle_below;
	bool reserves; /* something is kept below it, at times */
};

struct quota {
	const struct cluster *cluster;
	const struct tenants *tenants; /* NULL: none */
	struct reclaim under;
	uint32_t n, ntypes; /* nodes; the last is the cluster */
	uint32_t counted;   /* types whose devices quotas are about, as bits */
	struct quota_node *at;
	int64_t *vectors;
	uint32_t exceeded; /* nodes that hold more than they may */
	bool settled;
};

static inline int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline bool quota_counts(const struct quota *quota, uint32_t type)
{
	return quota->counted >> type & 1;
}

/* Whether the job could use any device that counts. */
static inline bool quota_concerns(const struct quota *quota, const struct job *job)
{
	return job->types == 0 || (job->types & quota->counted);
}

/* The node that counts the job. */
uint32_t quota_leaf(const struct quota *quota, const struct job *job);
/* Devices of the type, in billionths, that the job holds. */
int64_t quota_width(const struct job *job, uint32_t gpus);
/* How far the node would be above its guarantee with so much more of a type; 0: it is within. */
int64_t quota_above(const struct quota_node *node, uint32_t type, int64_t more);
/*
 * Where a node would stand with so much more of a type, for `from` right below it (TENANT_NONE: itself).  What is
 * kept free for others below it is as good as held: their parent's other jobs have no right to it.
 */
struct quota_place {
	int64_t of_type; /* beyond what it is guaranteed of the type; at most 0: it is its by right */
	int64_t above;   /* beyond what it is guaranteed of any type as well; likewise */
};
struct quota_place quota_place(const struct quota *quota, uint32_t node, uint32_t from,
	uint32_t type, int64_t more);
/* Whether so much more of the type is the node's by right: guaranteed of that type, or of any. */
bool quota_covers(const struct quota *quota, uint32_t node, uint32_t from, uint32_t type, int64_t more);
/* Whether it holds more than guaranteed + borrow. */
bool quota_is_over(const struct quota_node *node);
int64_t quota_held(const struct quota *quota, const struct quota_node *node);

#endif
