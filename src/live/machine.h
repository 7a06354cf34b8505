/*
 * What a world has to run jobs on: the devices of this machine, or those of all
 * the nodes of a cluster.
 *
 * A device is known by its UUID inside and shown by its index.  A GPU that is
 * split into MIG instances is not a device itself, its instances are.
 */
#ifndef LIVE_MACHINE_H
#define LIVE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "live/local/host_shape.h"
#include "model/cluster.h"

struct nvml;

struct machine_device {
	char uuid[96];  /* "GPU-…", "MIG-…"; "cpu-3" for a slot; "node7/gpu/2" of a cluster */
	char whole[96]; /* of an instance, the UUID of the GPU that it is a part of; else "" */
	char host[64];  /* "": the machine's own */
	char type[48];  /* as a cluster names it: "a100-80g", "a100-40g.1g.5gb", "cpu" */
	char title[96]; /* as the vendor does */
	/*
	 * What CUDA_VISIBLE_DEVICES wants: a number in the order of the PCI bus, or the UUID where numbers
	 * mislead (some GPU is split or lost); "" for a slot.  machine_refresh() may change it.
	 */
	char visible[96];
	int index; /* as people know it: GPU or instance number, slot number; stays */
	int64_t mem_bytes;
	uint32_t linked; /* 1 + its row in `links` of the machine; 0: its links are not known */
	bool forgotten;  /* it is down, and the next daemon need not know of it */
	bool up;
	char why[96]; /* it is not up, where that is known; "" */
};

/* What one of several hosts has beside its devices. */
struct machine_host {
	char name[64];
	uint32_t cpus;
	int64_t mem_bytes;
};

/* How two of its GPUs are joined. */
struct machine_link {
	uint8_t links; /* direct ones; 0: by the host */
	uint8_t near;  /* enum nearness (model/links.h) */
	double Bps;
};

struct machine {
	char host[256];                 /* or the cluster's name */
	uint32_t cpus;                  /* that this process may use, or of the largest host */
	int64_t mem_bytes;              /* likewise, 0: unknown */
	struct host_shape shape;        /* of this machine; zeroed for a cluster */
	struct machine_host *hosts;     /* of a cluster */
	uint32_t nhosts;                /* 0: there is this one alone */
	struct machine_device *devices; /* GPUs, then slots */
	uint32_t ndevices;
	bool has_gpus;
	struct machine_link *links; /* [i * nlinked + j], by rows of devices; NULL: not known */
	uint32_t nlinked;
	bool even;           /* a job on several hosts gets as many devices on each */
	char driver[96];     /* "NVML 550.54", "Slurm 22.05.8", or why there is none */
	const char *library; /* of NVML, whoever's it is; NULL: GPUs are not to be used */
	struct nvml *nvml;   /* the same, open; NULL: it does not work, or nobody needs it */
};

void machine_fini(struct machine *machine);

bool machine_is_gpu(const struct machine_device *device);
const char *machine_host(const struct machine *machine, const struct machine_device *device);

/* What a later look found: some device's `up` changed; there is one that has no place yet (a restart offers it). */
enum { MACHINE_UP = 1, MACHINE_NEW = 2 };

/*
 * The same as a cluster: a node for each host and type with at most NODE_DEVICES_MAX devices, with the
 * host's name and in one rack.  CPUs and memory are modelled where there is one node that they belong
 * to; slots are CPUs themselves.  A node of several GPUs whose links are known has a topology.  `device_of` is filled with the index in `devices` of device d of node
 * n at [n * NODE_DEVICES_MAX + d]; malloc'ed.  ERR_USAGE: there is not a single device.
 */
int machine_cluster(const struct machine *machine, struct cluster *out, uint32_t **device_of,
	struct err *err);

#endif
