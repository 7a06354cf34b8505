/*
 * What there is to schedule on: nodes of devices of a type, in racks.
 *
 * A cluster is plain data and does not change during a run; which nodes are
 * up and which devices are free is the engine's business (placement/space.h).
 * A node has devices of one type; a machine with two kinds is two nodes with
 * one rack and host name.
 */
#ifndef MODEL_CLUSTER_H
#define MODEL_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

enum {
	NODE_DEVICES_MAX = 64, /* a node's devices are bits of one word */
	TYPES_MAX = 31,        /* types are bits of a job's mask; the last bit is no type */
	NODES_MAX = 1000000,
};

/* A kind of accelerator as this cluster has it; facts not given come from the catalogue. */
struct device_type {
	const char *name;
	int64_t mem_bytes;  /* 0: unknown */
	double flops;       /* peak half-precision (or best) operations per second, 0: unknown */
	double mem_Bps;     /* memory bandwidth, 0: unknown */
	double link_Bps;    /* between devices of a node, 0: unknown */
	double price_per_h; /* of one device, 0: unknown */
	uint32_t devices;   /* in the whole cluster */
	uint32_t nodes;
	uint32_t max_per_node;
};

/* Slots of CPUs: devices where there is nothing else. */
bool device_type_is_cpu(const struct device_type *type);

/* Links inside a node, by pair [i * devices + j] (model/links.h reads them).  Shared by the nodes that name it. */
struct topology {
	const char *name;
	uint32_t devices;
	double *Bps;    /* 0 on the diagonal */
	uint8_t *links; /* direct ones, 0: through the host; LINKS_UNSAID: by their speed */
	uint8_t *near;  /* enum nearness; only if it is grouped */
	bool grouped;   /* sockets and switches were said; else they are guessed from the links */
	/* By set of devices: the bits of what topology_ring_Bps() found, 0: not asked yet; NULL: there are too many sets. */
	_Atomic uint64_t *rings;
};

enum { LINKS_UNSAID = 255 };

#define TOPOLOGY_NONE UINT32_MAX

struct node {
	const char *name;
	uint32_t type;
	uint32_t devices;
	uint32_t rack;
	uint32_t topology; /* index, or TOPOLOGY_NONE: all links alike */
	double cpus;       /* 0: not modelled, any demand fits */
	int64_t mem_bytes; /* 0: not modelled */
	double price_per_h; /* of the whole node while it is up, 0: that of its devices (node_price_per_h()) */
	bool rentable; /* it is not there until somebody rents it */
	bool spot;     /* whoever lends it may want it back: for jobs that can be moved */
};

/* All devices of a node, as bits. */
static inline uint64_t node_all(const struct node *node)
{
	return node->devices < NODE_DEVICES_MAX ? (UINT64_C(1) << node->devices) - 1 : UINT64_MAX;
}

/* So many of the cells below make one of these. */
struct cell_rung {
	const char *name;
	uint32_t of;
};

/* How devices make up cells, from below (model/cell_design.h). */
struct cell_ladder {
	uint32_t type; /* of device; TYPES_MAX: all that it fits */
	const struct cell_rung *rungs;
	uint32_t nrungs;
};

struct rack {
	const char *name;
	double up_Bps; /* uplink, 0: unknown */
};

/* Using devices of another node over the network (model/pooling.h). */
struct pooling {
	double rtt_s;              /* a call that waits for its answer */
	double pcie_Bps;           /* between a host and its own devices; 0: unknown, no limit */
	double attach_s, detach_s; /* taking a remote device, and letting go of it */
};

/* Nodes that can be rented. */
struct renting {
	double boot_s;   /* from asking for a node until it is up */
	double period_s; /* paid for as a whole when begun; 0: by the second */
};

/* A zeroed cluster is valid and empty. */
struct cluster {
	struct arena memory; /* owns everything below */
	struct device_type *types;
	uint32_t ntypes;
	struct node *nodes;
	uint32_t nnodes;
	struct rack *racks;
	uint32_t nracks;
	struct topology *topologies;
	uint32_t ntopologies;
	struct cell_ladder *ladders; /* as somebody wrote them; what they do not speak of goes by racks and links */
	uint32_t nladders;
	double net_Bps;         /* a node's network link; 0: locality does not change speed */
	struct pooling pooling; /* what devices of other nodes cost */
	struct renting renting; /* what nodes that can be rented cost in time */
	bool even;              /* a job on several nodes gets as many devices on each of them */
	uint32_t devices;       /* in all */
	const char *spec;       /* how it was asked for: short form or file name */
};

/* Reads "16x8:v100,4x4:a100" (type "gpu" if none is named).  Release with cluster_fini(). */
int cluster_parse(const char *spec, struct cluster *out, struct err *err);
void cluster_fini(struct cluster *cluster);
/* A cluster of its own that is equal in everything. */
void cluster_copy(const struct cluster *from, struct cluster *out);

/* For whoever builds one piece by piece (the YAML reader, tests): the index of the new thing. */
uint32_t cluster_add_type(struct cluster *cluster,
	const char *name); /* or of the type of that name; facts from the catalogue */
uint32_t cluster_add_node(struct cluster *cluster, struct node node); /* copies the name; NULL: "n12" */
uint32_t cluster_add_rack(struct cluster *cluster, const char *name, double up_Bps);

/* What a node costs an hour: its own price, else that of its devices. */
double node_price_per_h(const struct cluster *cluster, uint32_t node);

uint32_t cluster_add_topology(struct cluster *cluster, const char *name, uint32_t devices); /* no links yet */
void cluster_add_ladder(struct cluster *cluster, const struct cell_ladder *ladder); /* copies it */

/* Letters, digits and . - _ +, so that the short form can be read back. */
bool cluster_is_type_name(struct slice name);

/* The index of a type by name (case aside), else of the only type that is the same accelerator by the catalogue, or -1. */
int cluster_find_type(const struct cluster *cluster, const char *name);

/* Short form when that says everything, for people and file names: "16x8:v100,4x4:a100"; else its file's name. */
void cluster_format(const struct cluster *cluster, struct buf *out);

/* Depends on everything that can change a decision. */
uint64_t cluster_hash(const struct cluster *cluster);

#endif
