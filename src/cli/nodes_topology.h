/*
 * stint nodes --topology: links of the daemon's machine, of this one, or of a cluster in a file.
 */
#ifndef CLI_NODES_TOPOLOGY_H
#define CLI_NODES_TOPOLOGY_H

#include "base/err.h"
#include "cli/command.h"

int nodes_topology(const struct args *args, struct err *err);

#endif
