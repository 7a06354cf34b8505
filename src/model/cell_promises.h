/*
 * The promises of a design, from what its cluster's tenants say.
 */
#ifndef MODEL_CELL_PROMISES_H
#define MODEL_CELL_PROMISES_H

#include "model/cell_design.h"

/*
 * Adds the tenants as virtual clusters, in their order, and what they were promised, to a design whose chains are
 * there; `tenants` may be NULL.  ERR_FORMAT: a cell that no chain has, or a pin of nothing.
 */
int cell_promises_add(const struct cluster *cluster, const struct tenants *tenants,
	struct cell_design *design, struct err *err);

#endif
