/*
 * Asking hwloc.
 */
#include "live/local/host_shape.h"

#include <hwloc.h>
#include <stdbool.h>

static bool look(hwloc_topology_t *out, bool devices)
{
	if (hwloc_topology_init(out) < 0)
		return false;
	if (devices)
		hwloc_topology_set_type_filter(*out, HWLOC_OBJ_PCI_DEVICE,
			HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_load(*out) == 0)
		return true;
	hwloc_topology_destroy(*out);
	return false;
}

static uint32_t count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology, type);

	return n > 0 ? (uint32_t)n : 0;
}

struct host_shape host_shape_read(void)
{
	struct host_shape shape = { 0 };
	hwloc_topology_t topology;

	if (!look(&topology, false))
		return shape;
	shape.sockets = count(topology, HWLOC_OBJ_PACKAGE);
	shape.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
	shape.cores = count(topology, HWLOC_OBJ_CORE);
	shape.threads = count(topology, HWLOC_OBJ_PU);
	hwloc_topology_destroy(topology);
	return shape;
}

static int32_t socket_of(hwloc_topology_t topology, const struct pci_place *place)
{
	hwloc_obj_t device = hwloc_get_pcidev_by_busid(topology, place->domain, place->bus,
		place->device, 0);
	hwloc_obj_t at = device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;

	while (at && at->type != HWLOC_OBJ_PACKAGE)
		at = at->parent;
	return at ? (int32_t)at->logical_index : -1;
}

void host_shape_sockets(struct pci_place *places, uint32_t n)
{
	hwloc_topology_t topology;
	bool there = look(&topology, true);

	for (uint32_t i = 0; i < n; i++)
		places[i].socket = there ? socket_of(topology, &places[i]) : -1;
	if (there)
		hwloc_topology_destroy(topology);
}
