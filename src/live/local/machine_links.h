/*
 * How the GPUs of this machine are joined: direct links and switches as NVML tells, sockets by hwloc where
 * it does not.
 */
#ifndef LIVE_LOCAL_MACHINE_LINKS_H
#define LIVE_LOCAL_MACHINE_LINKS_H

#include "live/local/nvml.h"
#include "live/machine.h"

/* Fills in machine->links for its GPUs, which are those of `gpus`; leaves it NULL where too little is known. */
void machine_find_links(struct machine *machine, const struct nvml_gpus *gpus);

#endif
