/*
 * A cluster's YAML file as it is written: every value a text, NULL where it is
 * left out or empty.
 */
#ifndef IO_CLUSTER_TEXT_H
#define IO_CLUSTER_TEXT_H

#include <cyaml/cyaml.h>
#include <stdint.h>

struct type_text {
	char *name, *mem, *flops, *mem_bandwidth, *link_bandwidth, *price_per_h;
};

struct rack_text {
	char *name, *count, *uplink;
};

struct topology_text {
	char *name, *devices, *preset, *others;
	char **links;  /* "0-1 50GB/s" */
	char **groups; /* a socket each: "0-3", "0-1 | 2-3" */
	uint32_t nlinks, ngroups;
};

struct nodes_text {
	char *count, *name, *first, *type, *devices, *rack, *cpus, *mem, *topology;
	char *price_per_h, *rentable, *spot;
	char **racks;
	uint32_t nracks;
};

struct network_text {
	char *node_link, *rack_uplink;
};

struct level_text {
	char *name, *of;
};

struct cells_text {
	char *type;
	struct level_text *levels;
	uint32_t nlevels;
};

struct pooling_text {
	char *rtt, *pcie, *attach, *detach;
};

struct renting_text {
	char *boot, *period;
};

struct cluster_text {
	struct type_text *types;
	struct rack_text *racks;
	struct topology_text *topologies;
	struct nodes_text *nodes;
	struct cells_text *cells;
	struct network_text network;
	struct pooling_text pooling;
	struct renting_text renting;
	char *gangs;
	uint32_t ntypes, nracks, ntopologies, nnodes, ncells;
};

/* Of a pointer to a struct cluster_text. */
extern const cyaml_schema_value_t cluster_schema;

#endif
