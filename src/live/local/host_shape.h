/*
 * How this machine is built, as hwloc tells: sockets and cores, and on which socket a PCI device is.
 */
#ifndef LIVE_LOCAL_HOST_SHAPE_H
#define LIVE_LOCAL_HOST_SHAPE_H

#include <stdint.h>

struct host_shape {
	uint32_t sockets, numa_nodes, cores, threads; /* 0: unknown */
};

struct host_shape host_shape_read(void);

/* Where a device of the PCI bus is. */
struct pci_place {
	uint32_t domain, bus, device;
	int32_t socket; /* is filled in; -1: unknown */
};
void host_shape_sockets(struct pci_place *places, uint32_t n);

#endif
