/*
 * What this machine has: GPUs as NVML tells (loaded at run time, so that no
 * GPU library is needed), or else CPU slots.
 *
 * A device is known by its UUID inside and shown by its index, which may change
 * when a GPU falls off the bus.
 */
#ifndef LIVE_LOCAL_MACHINE_H
#define LIVE_LOCAL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/cluster.h"

struct machine_device {
	char uuid[96];  /* "GPU-…", "MIG-…"; "cpu-3" for a slot */
	char type[48];  /* as a cluster names it: "a100-80g", "a100-40g.1g.5gb", "cpu" */
	char title[96]; /* as the vendor does */
	char visible[96]; /* what CUDA_VISIBLE_DEVICES wants: an index, for MIG the UUID; "" for a slot */
	int index;        /* as people know it: GPU number, slot number */
	int64_t mem_bytes;
	bool up;
};

struct machine {
	char host[256];
	uint32_t cpus;
	int64_t mem_bytes;
	struct machine_device *devices;
	uint32_t ndevices;
	bool has_gpus;
	char driver[96]; /* "NVML 550.54", or why there is none */
	void *nvml;      /* the library, while there are GPUs */
};

struct machine_options {
	const char *nvml; /* library to load; NULL: $STINT_NVML, else libnvidia-ml.so.1 */
	bool no_gpus;     /* offer CPU slots whatever there is */
	int32_t slots; /* CPU slots; -1: one per CPU this process may use (also with GPUs: for jobs that want none) */
};

int machine_discover(const struct machine_options *options, struct machine *out, struct err *err);
void machine_fini(struct machine *machine);

/*
 * Looks again.  Returns a bit mask of what changed: MACHINE_UP (some device's `up`) or 0.  Devices
 * keep their place in `devices` for ever; one that is new is not added (MACHINE_NEW says there is one:
 * a restart offers it).
 */
enum { MACHINE_UP = 1, MACHINE_NEW = 2 };
int machine_refresh(struct machine *machine);

/*
 * The same as a cluster: a node for each type with at most NODE_DEVICES_MAX devices.  `device_of` is
 * filled with the index in `devices` of device d of node n at [n * NODE_DEVICES_MAX + d]; malloc'ed.
 */
int machine_cluster(const struct machine *machine, struct cluster *out, uint32_t **device_of,
	struct err *err);

#endif
