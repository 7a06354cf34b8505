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
	char **links; /* "0-1 50GB/s" */
	uint32_t nlinks;
};

struct nodes_text {
	char *count, *name, *first, *type, *devices, *rack, *cpus, *mem, *topology;
	char **racks;
	uint32_t nracks;
};

struct network_text {
	char *node_link, *rack_uplink;
};

struct cluster_text {
	struct type_text *types;
	struct rack_text *racks;
	struct topology_text *topologies;
	struct nodes_text *nodes;
	struct network_text network;
	char *gangs;
	uint32_t ntypes, nracks, ntopologies, nnodes;
};

/* Of a pointer to a struct cluster_text. */
extern const cyaml_schema_value_t cluster_schema;

#endif
