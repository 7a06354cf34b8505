/*
 * The devices a job holds.
 */
#ifndef MODEL_GRANT_H
#define MODEL_GRANT_H

#include <stdbool.h>
#include <stdint.h>

struct cluster;
struct job;

#define BATCH_TUNED UINT32_MAX

/* Devices of one node, as bits. */
struct slot {
	uint32_t node;
	uint64_t devices;
};

/* So many devices of one node. */
struct node_share {
	uint32_t node, gpus;
};

/* So many devices of one type. */
struct grant_part {
	uint32_t type, gpus;
};

struct grant {
	uint32_t type;   /* of its devices; of most of them if it is mixed, the first of equals */
	uint32_t gpus;   /* devices in all slots */
	uint32_t nslots; /* nodes */
	uint32_t batch;  /* total batch size, 0: the job's own; BATCH_TUNED: its agent chooses */
	bool mixed;      /* its devices are of several types */
	bool balanced; /* a faster device gets more of each batch, so that all are busy; else all get the same */
	double share; /* of each device's compute, 1: all of it */
	bool guest; /* it has only what others on these devices leave; share is its launch rate (model/coordinator.h) */
	/*
	 * 1 + the node where its process runs, with all its CPUs and memory; devices elsewhere are remote
	 * (model/pooling.h).  0: there is a part of it on each node where it has devices.
	 */
	uint32_t host;
	double link_Bps; /* of the network for each remote device; 0: as much as it likes */
	double until_s;  /* end of the turn it is given for; 0: as long as the plan keeps it */
	double steps;    /* that it makes in this turn at most; they count when the turn ends */
	/* What it has of its hosts in all, the same for each device; 0: as the job asked. */
	double cpus;
	int64_t mem_bytes;
	struct slot slots[];
};

bool grant_same_devices(const struct grant *a, const struct grant *b);
/* Whether all devices of `a` are of those of `b`. */
bool grant_within(const struct grant *a, const struct grant *b);

/* Sets type and mixed from the slots. */
void grant_set_type(struct grant *grant, const struct cluster *cluster);
/* Its devices by type, types in the order of its slots; `out` has TYPES_MAX places.  Returns how many. */
uint32_t grant_parts(const struct grant *grant, const struct cluster *cluster, struct grant_part *out);

/* Another job on some of the same devices. */
struct neighbour {
	const struct job *job;
	const struct grant *grant; /* NULL: the very same devices */
};

/* Devices of `node` that the neighbour has. */
uint64_t neighbour_devices(const struct neighbour *neighbour, uint32_t node);
/*
 * Splits devices by their company: those of `slot` that have the same neighbours as its lowest one.
 * Take them off and go on until none is left.
 */
uint64_t slot_alike(struct slot slot, const struct neighbour *beside, uint32_t n);
/*
 * How many of its devices belong to others: all but its share, else of one that k jobs hold all but a k-th.  Guests
 * take nothing of a device that somebody else has.
 */
double grant_lent(const struct grant *grant, const struct neighbour *beside, uint32_t n);

#endif
