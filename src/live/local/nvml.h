/*
 * What NVIDIA's management library tells of the GPUs: loaded at run time, so
 * that Stint neither needs it nor a GPU to build and run.
 *
 * A GPU that is split into instances (MIG) is listed as its instances; one that
 * has fallen off the bus is not listed, though it may be counted as lost.
 */
#ifndef LIVE_LOCAL_NVML_H
#define LIVE_LOCAL_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { NVML_TEXT_MAX = 96 };

struct nvml;

struct nvml_gpu {
	char uuid[NVML_TEXT_MAX];    /* "GPU-…" or "MIG-…" */
	char name[NVML_TEXT_MAX];    /* of the product, for an instance that of its GPU */
	char profile[NVML_TEXT_MAX]; /* of an instance: "1g.5gb"; else "" */
	char whole[NVML_TEXT_MAX];   /* of an instance: its GPU's UUID; else "" */
	int64_t mem_bytes;
	uint32_t domain, bus, device; /* on the PCI bus */
};

/* GPUs and instances in order of the PCI bus, instances as the GPU numbers them. */
struct nvml_gpus {
	struct nvml_gpu *at;
	uint32_t n, cap;
	uint32_t lost; /* counted, but they do not answer */
};

/*
 * ERR_MISSING: there is no such library or no driver; ERR_IO: it does not work.  On success close it with
 * nvml_close().
 */
int nvml_open(const char *library, struct nvml **out, struct err *err);
void nvml_close(struct nvml *nvml);

/* "550.54.15", "" where it does not say. */
const char *nvml_version(const struct nvml *nvml);

/*
 * Who answers now; free out->at.  With `anew` the library is started again first: only so does it find a
 * GPU that has come back.  ERR_MISSING: the driver is gone; ERR_IO: no news.
 */
int nvml_list(struct nvml *nvml, bool anew, struct nvml_gpus *out, struct err *err);

/* The nearest thing that two GPUs have in common, as NVML numbers it. */
enum { NVML_UNKNOWN = -1, NVML_ONE_SWITCH = 10, NVML_ONE_SOCKET = 40, NVML_ONE_MACHINE = 50 };

struct nvml_pair {
	int ancestor;    /* as above, or between */
	uint8_t links;   /* NVLinks between them, straight or over switches that both have */
	double link_Bps; /* of one, in one direction */
	unsigned int pcie_generation; /* of the slower of them; 0: unknown */
};

struct nvml_pair nvml_pair(struct nvml *nvml, const char *a, const char *b);

/* Per cent of the last moments in which the GPU computed; -1: it does not say (instances do not). */
int nvml_busy(struct nvml *nvml, const char *uuid);

#endif
