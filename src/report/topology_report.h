/*
 * A cluster's links for people and programs: racks and nodes as a tree, and for every kind of node its sockets
 * and switches, a matrix of its links, and how fast rings go.
 */
#ifndef REPORT_TOPOLOGY_REPORT_H
#define REPORT_TOPOLOGY_REPORT_H

#include "base/text.h"
#include "model/cluster.h"
#include "report/term.h"

/* What is known of the machine beside its devices; may be empty. */
struct topology_host {
	const char *name; /* NULL: there is none */
	uint32_t sockets, numa_nodes, cores, threads;
};

void topology_text(const struct cluster *cluster, const struct topology_host *host,
	const struct term *term, struct buf *out);
/* "topology/1" */
void topology_json(const struct cluster *cluster, const struct topology_host *host, struct buf *out);
/* A picture that stands alone; colours suit light and dark. */
void topology_svg(const struct cluster *cluster, struct buf *out);

/* The nodes from `node` on that differ in nothing but their name. */
uint32_t topology_alike(const struct cluster *cluster, uint32_t node);

#endif
