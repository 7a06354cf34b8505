/*
 * A machine as the cluster that the engine knows.
 */
#include "live/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "live/local/machine_type.h"
#include "model/links.h"

bool machine_is_gpu(const struct machine_device *device)
{
	return strncmp(device->uuid, "cpu-", 4) != 0;
}

const char *machine_host(const struct machine *machine, const struct machine_device *device)
{
	return *device->host ? device->host : machine->host;
}

static bool beside(const struct machine_device *a, const struct machine_device *b)
{
	return !strcmp(a->host, b->host);
}

/* Whether all GPUs (or all slots) of its host are of one type and few enough for one node. */
static bool on_one_node(const struct machine *machine, const struct machine_device *device)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < machine->ndevices; i++) {
		const struct machine_device *other = &machine->devices[i];

		if (machine_is_gpu(other) != machine_is_gpu(device) || !beside(device, other))
			continue;
		if (strcmp(other->type, device->type) != 0)
			return false;
		n++;
	}
	return n <= NODE_DEVICES_MAX;
}

static struct machine_host host_of(const struct machine *machine, const struct machine_device *device)
{
	for (uint32_t i = 0; i < machine->nhosts; i++) {
		if (!strcmp(machine->hosts[i].name, machine_host(machine, device)))
			return machine->hosts[i];
	}
	return (struct machine_host){ .cpus = machine->cpus, .mem_bytes = machine->mem_bytes };
}

/* A node for devices such as this one: what the host can give belongs to one node or is not counted. */
static struct node node_for(const struct machine *machine, const struct machine_device *device,
	uint32_t type)
{
	struct machine_host host = host_of(machine, device);
	struct node node = {
		.name = machine_host(machine, device),
		.type = type,
		.topology = TOPOLOGY_NONE,
	};

	if (machine_is_gpu(device) == machine->has_gpus && on_one_node(machine, device)) {
		node.cpus = machine->has_gpus ? host.cpus : 0;
		node.mem_bytes = host.mem_bytes;
	}
	return node;
}

/* How many devices, from `first` on, go on one node with it; their places into `places`. */
static uint32_t gather(const struct machine *machine, uint32_t first, bool *taken, uint32_t *places)
{
	const struct machine_device *one = &machine->devices[first];
	uint32_t n = 0;

	for (uint32_t i = first; i < machine->ndevices && n < NODE_DEVICES_MAX; i++) {
		const struct machine_device *device = &machine->devices[i];

		if (taken[i] || strcmp(device->type, one->type) != 0 || !beside(device, one))
			continue;
		taken[i] = true;
		places[n++] = i;
	}
	return n;
}

static uint32_t add_type(struct cluster *cluster, const struct machine_device *device)
{
	uint32_t known = cluster->ntypes;
	uint32_t type = cluster_add_type(cluster, device->type);

	if (cluster->ntypes > known)
		machine_type_facts(&cluster->types[type],
			machine_is_gpu(device) ? device->mem_bytes : 0);
	return type;
}

/* The links among the devices of a node, which has them at `places`; TOPOLOGY_NONE where they are not known. */
static uint32_t add_links(struct cluster *cluster, const struct machine *machine,
	const uint32_t *places, uint32_t n)
{
	struct topology *t;
	uint32_t index;

	for (uint32_t i = 0; i < n; i++) {
		if (n < 2 || !machine->devices[places[i]].linked)
			return TOPOLOGY_NONE;
	}
	index = cluster_add_topology(cluster,
		arena_printf(&cluster->memory, "links%u", cluster->ntopologies), n);
	t = &cluster->topologies[index];
	topology_begin_groups(t);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++) {
			uint32_t row = machine->devices[places[i]].linked - 1;
			uint32_t column = machine->devices[places[j]].linked - 1;
			const struct machine_link *link =
				&machine->links[row * machine->nlinked + column];

			topology_link(t, i, j, link->Bps);
			topology_say_links(t, i, j, link->links);
			topology_group(t, UINT64_C(1) << i | UINT64_C(1) << j,
				(enum nearness)link->near);
		}
	}
	return index;
}

int machine_cluster(const struct machine *machine, struct cluster *out, uint32_t **device_of,
	struct err *err)
{
	struct cluster cluster = { 0 };
	uint32_t *places;
	bool *taken;

	if (machine->ndevices == 0)
		return err_set(err, ERR_USAGE,
			"this machine has no GPUs (%s) and no CPU slots were asked for",
			machine->driver);
	places = mem_alloc(sizeof(*places) * machine->ndevices * NODE_DEVICES_MAX);
	taken = mem_alloc(sizeof(*taken) * machine->ndevices);
	cluster_add_rack(&cluster, machine->host, 0);
	for (uint32_t i = 0; i < machine->ndevices; i++) {
		const struct machine_device *device = &machine->devices[i];
		struct node node;

		if (taken[i])
			continue;
		node = node_for(machine, device, add_type(&cluster, device));
		node.devices = gather(machine, i, taken,
			&places[(size_t)cluster.nnodes * NODE_DEVICES_MAX]);
		if (machine->links)
			node.topology = add_links(&cluster, machine,
				&places[(size_t)cluster.nnodes * NODE_DEVICES_MAX], node.devices);
		cluster_add_node(&cluster, node);
	}
	cluster.even = machine->even;
	cluster.spec = arena_strdup(&cluster.memory, machine->host);
	free(taken);
	*out = cluster;
	*device_of = places;
	return 0;
}
