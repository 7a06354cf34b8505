/*
 * Links inside a node: how they are set, and published link graphs by name.
 */
#ifndef IO_TOPOLOGY_H
#define IO_TOPOLOGY_H

#include "model/cluster.h"

struct topology_preset {
	const char *name;
	uint32_t devices;
	const char *links;           /* by pair of devices: how many */
	double link_Bps, others_Bps; /* of one link; of pairs without one */
};

extern const struct topology_preset topology_presets[]; /* ends with a NULL name */

/* Case aside; NULL if there is none. */
const struct topology_preset *topology_preset_find(const char *name);
/* Adds the graph to a cluster as `name`; its index. */
uint32_t topology_preset_add(const struct topology_preset *preset, struct cluster *cluster,
	const char *name);

/* Both directions of a pair; and of all pairs. */
void topology_link(struct topology *topology, uint32_t i, uint32_t j, double Bps);
void topology_link_all(struct topology *topology, double Bps);

#endif
