/*
 * Whether a gang should rather wait for fewer nodes than there is room on now.
 */
#ifndef PLACEMENT_CLOSER_H
#define PLACEMENT_CLOSER_H

#include "placement/placer.h"

/*
 * The part of its speed that the gang is believed to have on these nodes, against as few nodes as could ever
 * take it: 1 where it needs so many anyway, or where nothing is known of its model.
 */
double closer_speed(const struct placing *p, const struct slots *found);

/*
 * The rule refuses what it found, as something closer is worth waiting for until `until_s` (INFINITY: as long
 * as it takes), and says so.
 */
void closer_refuse(const struct placing *p, double until_s);

#endif
