/*
 * The cluster that a history ran on, as far as it can be seen in it: nodes
 * that jobs ran on, the types those jobs named, and as many devices as were in
 * use at once.
 */
#ifndef IO_PAST_CLUSTER_H
#define IO_PAST_CLUSTER_H

#include "base/err.h"
#include "base/text.h"
#include "model/cluster.h"
#include "model/trace.h"

/*
 * Nodes that share a type and a name but for its number are taken to be alike: as the busiest of them.
 * Where no node is named, nodes of up to 8 devices carry what ran at once.  Nodes come type by type, so
 * that `out->spec` (the short form) gives the same but for names.
 * ERR_FORMAT if nothing is told of when jobs ran.  Release with cluster_fini().
 */
int past_cluster(const struct trace *trace, struct cluster *out, struct err *err);

#endif
