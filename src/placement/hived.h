/*
 * The books of the placer `hived`, for those who look on.
 */
#ifndef PLACEMENT_HIVED_H
#define PLACEMENT_HIVED_H

#include "placement/cells.h"

/* As the plan is now; NULL before begin(). */
const struct cells *hived_books(const void *placer_state);

#endif
