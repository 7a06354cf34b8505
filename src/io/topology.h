/*
 * Links inside a node: published link graphs by name.
 */
#ifndef IO_TOPOLOGY_H
#define IO_TOPOLOGY_H

#include "base/text.h"
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

/*
 * As people write them: "0-1 50GB/s", "0-1 50GB/s x2" for so many links.  `seen` has, by device, whom links read before
 * join it to.  False, and `why`: it is not that, or joins two that are joined.
 */
bool topology_read_link(struct topology *topology, struct slice text,
	uint64_t seen[NODE_DEVICES_MAX], struct buf *why);
/*
 * The devices of one socket: "0-3", "0,2", or with its switches "0-1 | 2-3".  `seen` are those of the sockets before.
 * False with the reason: no device has two places.
 */
bool topology_read_group(struct topology *topology, struct slice text, uint64_t *seen, struct buf *why);
/* Written so that they are read back; topology_write_groups() writes nothing where none were said. */
void topology_write_link(const struct topology *topology, uint32_t i, uint32_t j, struct buf *out);
void topology_write_groups(const struct topology *topology, struct buf *out);

#endif
