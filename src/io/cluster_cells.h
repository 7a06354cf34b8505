/*
 * The cells of a cluster's YAML file: how devices make up pairs, sockets, nodes and racks.
 */
#ifndef IO_CLUSTER_CELLS_H
#define IO_CLUSTER_CELLS_H

#include "io/cluster_text.h"
#include "io/yaml.h"
#include "model/cluster.h"

/* After nodes and types have been read. */
int cluster_read_cells(struct yaml *yaml, const struct cluster_text *in, struct cluster *out,
	struct err *err);
void cluster_write_cells(const struct cluster *cluster, struct buf *out);

#endif
