/*
 * As many devices on each node, for worlds that cannot do otherwise (cluster.even).
 */
#ifndef PLACEMENT_EVEN_H
#define PLACEMENT_EVEN_H

#include "placement/placer.h"

bool slots_are_even(const struct slots *slots);
/* On exactly so many. */
bool place_over(const struct placing *p, uint32_t nodes, struct slots *out);
/* On as few nodes as can be, the fullest first; false: there is no room so. */
bool place_even(const struct placing *p, struct slots *out);

#endif
