/*
 * Finding out what this machine has: GPUs as NVML tells (loaded at run time, so
 * that no GPU library is needed), and CPU slots.
 */
#ifndef LIVE_LOCAL_DISCOVER_H
#define LIVE_LOCAL_DISCOVER_H

#include "live/machine.h"

struct machine_options {
	const char *nvml; /* library to load; NULL: $STINT_NVML, else libnvidia-ml.so.1 */
	bool no_gpus;     /* offer CPU slots whatever there is */
	int32_t slots;    /* CPU slots, beside GPUs too: for jobs that want none; -1: one per CPU */
};

/*
 * Absent or failing NVML and machines without GPUs are no errors: there are slots then, and `driver` says
 * why.  ERR_USAGE for options that make no sense.
 */
int machine_discover(const struct machine_options *options, struct machine *out, struct err *err);

/*
 * Looks again.  Returns a bit mask of what changed: MACHINE_UP (some device's `up`) or 0.  Devices
 * keep their place in `devices` for ever; one that is new is not added (MACHINE_NEW says there is one:
 * a restart offers it).  Where NVML itself fails nothing is news, unless its driver is gone; where it did
 * not work before it is tried again.
 */
int machine_refresh(struct machine *machine);

/* Per cent of the last moments in which a device, by its place, computed; -1: nobody can tell. */
int machine_busy(const struct machine *machine, uint32_t device);

#endif
