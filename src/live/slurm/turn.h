/*
 * Several daemons over the same nodes: each begins somewhere else (model/parsync.h).
 */
#ifndef LIVE_SLURM_TURN_H
#define LIVE_SLURM_TURN_H

#include "live/machine.h"

/*
 * Puts the devices in the order of scheduler `k` of `n`: of each type the nodes from its own part on, then the
 * others.  Whoever takes the first that are free meets the others only when its own part is full.
 */
void machine_turn(struct machine *machine, uint32_t k, uint32_t n);

#endif
