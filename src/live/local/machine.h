/*
 * What this machine has: GPUs as NVML tells (loaded at run time, so that no
 * GPU library is needed), and CPU slots.
 *
 * A device is known by its UUID inside and shown by its index.  A GPU that is
 * split into MIG instances is not a device itself, its instances are.
 */
#ifndef LIVE_LOCAL_MACHINE_H
#define LIVE_LOCAL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/cluster.h"

struct nvml;

struct machine_device {
	char uuid[96];  /* "GPU-…", "MIG-…"; "cpu-3" for a slot */
	char type[48];  /* as a cluster names it: "a100-80g", "a100-40g.1g.5gb", "cpu" */
	char title[96]; /* as the vendor does */
	/*
	 * What CUDA_VISIBLE_DEVICES wants: a number in the order of the PCI bus, or the UUID where numbers
	 * mislead (some GPU is split or lost); "" for a slot.  machine_refresh() may change it.
	 */
	char visible[96];
	int index; /* as people know it: GPU or instance number, slot number; stays */
	int64_t mem_bytes;
	bool up;
};

struct machine {
	char host[256];
	uint32_t cpus;                  /* that this process may use */
	int64_t mem_bytes;              /* likewise, 0: unknown */
	struct machine_device *devices; /* GPUs, then slots */
	uint32_t ndevices;
	bool has_gpus;
	char driver[96];   /* "NVML 550.54", or why there is none */
	struct nvml *nvml; /* the library; NULL: not in use */
};

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
void machine_fini(struct machine *machine);

/*
 * Looks again.  Returns a bit mask of what changed: MACHINE_UP (some device's `up`) or 0.  Devices
 * keep their place in `devices` for ever; one that is new is not added (MACHINE_NEW says there is one:
 * a restart offers it).  Where NVML itself fails nothing is news, unless its driver is gone.
 */
enum { MACHINE_UP = 1, MACHINE_NEW = 2 };
int machine_refresh(struct machine *machine);

/* Per cent of the last moments in which a device, by its place, computed; -1: nobody can tell. */
int machine_busy(const struct machine *machine, uint32_t device);

/*
 * The same as a cluster: a node for each type with at most NODE_DEVICES_MAX devices, all with the
 * host's name and in one rack.  CPUs and memory are modelled where there is one node that they belong
 * to; slots are CPUs themselves.  `device_of` is filled with the index in `devices` of device d of node
 * n at [n * NODE_DEVICES_MAX + d]; malloc'ed.  ERR_USAGE: there is not a single device.
 */
int machine_cluster(const struct machine *machine, struct cluster *out, uint32_t **device_of,
	struct err *err);

#endif
