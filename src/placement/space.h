/*
 * Which devices are free: the ledger behind a plan.
 *
 * Nodes are kept in buckets by (type, free devices), as bit sets, so that
 * "the fullest node that still takes 4" is a few words to look at.
 *
 * A fraction is a job that takes a part of each of its devices (job_is_fraction()).
 * A device that fractions hold is not free, but further ones may have what they
 * leave.  Shares are counted in whole billionths, so that they add up in any order.
 *
 * A device that is down is nobody's.  One that is drained goes to nobody new, but whoever
 * has it keeps it, also through rounds in which all is stopped and run again.
 */
#ifndef PLACEMENT_SPACE_H
#define PLACEMENT_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"

enum { SHARE_WHOLE = 1000000000 };

/* Devices of a node in one job's hands. */
struct space_user {
	uint32_t job;
	uint32_t share; /* of each, in billionths; 0: it is no fraction */
	uint64_t devices;
};

/* What fractions have of one device. */
struct space_part {
	uint32_t share;
	int64_t mem_bytes;
};

struct space_node {
	uint64_t free; /* devices nobody holds that are not down, drained or hidden themselves, whether the node is up or not */
	uint8_t nfree;
	bool up;
	uint64_t down;    /* devices that are, whether somebody holds them or not */
	uint64_t drained; /* likewise */
	uint64_t kept;    /* of these, those that had a holder when the plan was last carried out */
	uint64_t hidden;  /* devices that are left out for a moment */
	uint64_t whole, parted;   /* devices that others, that fractions hold */
	struct space_part *parts; /* by device; NULL: no fraction has been here */
	double cpus;              /* left */
	int64_t mem_bytes;        /* left */
	VEC(struct space_user) users;
	uint32_t hosted; /* jobs whose process is here and whose devices may be elsewhere */
	/* Users that are not alone on their devices, the first of them not counted; fractions among themselves do not count. */
	uint32_t overlaps;
};

/* Nodes of one type with a given number of free devices. */
struct space_bucket {
	uint64_t *words; /* bit per node of the type, in node order */
	uint32_t n;
};

struct space_type {
	uint32_t free, up; /* devices that are up, on nodes that are; drained ones only if they are kept */
	uint32_t nnodes, nwords;
	uint32_t max;                 /* devices of its largest node */
	uint32_t *nodes;              /* node numbers of this type, ascending */
	struct space_bucket *buckets; /* by free devices, 0..max; only nodes that are up */
	struct space_bucket parted;   /* nodes where a fraction is, whether up or not */
};

struct space {
	const struct cluster *cluster;
	struct space_node *nodes;
	bool models_cpus, models_memory; /* some node does */
	uint32_t *position;              /* of a node in its type's list */
	struct space_type *types;
	uint32_t held;     /* devices in somebody's hands, up or not */
	uint32_t draining; /* nodes with drained devices */
	uint32_t overlaps; /* of all nodes: 0 while no device is shared, except by fractions */
};

void space_init(struct space *space, const struct cluster *cluster); /* keeps `cluster`; all up and free */
void space_fini(struct space *space);

/* Devices of `slot` that `job` takes or gives back, with its part of CPUs and memory.  Others may hold them too. */
void space_take(struct space *space, const struct job *job, uint32_t gpus, struct slot slot);
void space_give(struct space *space, const struct job *job, uint32_t gpus, struct slot slot);

/*
 * Calls see() for every other job that holds one of the devices; more than once if on several nodes.
 * Fractions are nobody's company: each has its part to itself.
 */
void space_each_beside(const struct space *space, uint32_t job, struct slot slot,
	void (*see)(void *ctx, uint32_t other), void *ctx);

void space_set_up(struct space *space, uint32_t node, bool up);
/* The same for single devices of a node, up or not itself: those that are down are not free and do not count as up. */
void space_set_devices_up(struct space *space, uint32_t node, uint64_t devices, bool up);

/* Exactly these devices of a node are drained. */
void space_set_drained(struct space *space, uint32_t node, uint64_t devices);
/* Who holds drained devices now may keep them: after a plan has been carried out, or somebody has gone. */
void space_keep(struct space *space);
/* Exactly these devices of a node are not to be had, until it is said otherwise; they count as up all the same. */
void space_hide(struct space *space, uint32_t node, uint64_t devices);

/* Devices of a node that nobody can have: not even whoever had them. */
static inline uint64_t space_gone(const struct space_node *node)
{
	return node->down | (node->drained & ~node->kept);
}

/* Those of `devices` that are drained and that `job`, which has or had them, could have again all the same. */
uint64_t space_regains(const struct space *space, const struct job *job, uint32_t node,
	uint64_t devices);

/* Devices of a node that fractions hold and leave enough of for `job`, itself a fraction; 0 while the node is down. */
uint64_t space_room(const struct space *space, const struct job *job, uint32_t node);

/* Whether the node has CPUs and memory for `n` of the `gpus` devices of a job (devices aside). */
bool space_feeds(const struct space *space, const struct job *job, uint32_t gpus, uint32_t node,
	uint32_t n);

/* Whether the node, which is up, has all the CPUs and memory of a job; and the job takes or gives them back. */
bool space_can_host(const struct space *space, const struct job *job, uint32_t node);
void space_host(struct space *space, const struct job *job, uint32_t node);
void space_unhost(struct space *space, const struct job *job, uint32_t node);

/*
 * Walks nodes of a type with exactly `nfree` free devices, in node order: start with *at = 0;
 * returns the node, or UINT32_MAX when there are no more.
 */
uint32_t space_next(const struct space *space, uint32_t type, uint32_t nfree, uint32_t *at);

/* The same for nodes where a fraction is, up or not. */
uint32_t space_next_parted(const struct space *space, uint32_t type, uint32_t *at);

/* The n lowest set bits of a word that has at least n. */
uint64_t space_lowest(uint64_t devices, uint32_t n);

#endif
