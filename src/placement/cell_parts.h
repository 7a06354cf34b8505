/*
 * What the files of placement/cells.h share among themselves.
 */
#ifndef PLACEMENT_CELL_PARTS_H
#define PLACEMENT_CELL_PARTS_H

#include "placement/cells.h"

/* What changes in the counts of all cells above a device. */
struct cell_change {
	int32_t used, shut, taken, lent, bad;
};

void cells_recount(struct cells *cells, uint32_t leaf, const struct cell_change *change);

static inline bool leaf_used(const struct cell_leaf *leaf)
{
	return leaf->marked || (leaf->users && leaf->claim != CELL_NONE);
}

static inline bool leaf_lent(const struct cell_leaf *leaf)
{
	return leaf->users && leaf->claim == CELL_NONE;
}

#endif
