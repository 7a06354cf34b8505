/*
 * Links of the GPUs of this machine.
 */
#include "live/local/machine_links.h"

#include <stdlib.h>

#include "base/mem.h"
#include "live/local/host_shape.h"
#include "model/links.h"

/* By host, as measured for PCIe 3.0; each generation is twice as fast. */
static const double PCIE3_BPS = 10e9;

static bool any_split(const struct nvml_gpus *gpus)
{
	for (uint32_t i = 0; i < gpus->n; i++) {
		if (*gpus->at[i].profile)
			return true;
	}
	return false;
}

static struct pci_place *places_of(const struct nvml_gpus *gpus)
{
	struct pci_place *places = mem_alloc(sizeof(*places) * (gpus->n + 1));

	for (uint32_t i = 0; i < gpus->n; i++)
		places[i] = (struct pci_place){ gpus->at[i].domain, gpus->at[i].bus,
			gpus->at[i].device, -1 };
	host_shape_sockets(places, gpus->n);
	return places;
}

static enum nearness nearness_of(const struct nvml_pair *pair, int32_t a, int32_t b)
{
	if (pair->ancestor == NVML_UNKNOWN)
		return a == b ? NEAR_SOCKET : NEAR_NODE;
	if (pair->ancestor <= NVML_ONE_SWITCH)
		return NEAR_SWITCH;
	return pair->ancestor <= NVML_ONE_SOCKET ? NEAR_SOCKET : NEAR_NODE;
}

static double speed_of(const struct nvml_pair *pair)
{
	if (pair->links > 0)
		return pair->links * pair->link_Bps;
	return pair->pcie_generation > 3 ? PCIE3_BPS * (1u << (pair->pcie_generation - 3)) : PCIE3_BPS;
}

/* False: neither NVML nor hwloc know how the two are joined. */
static bool find_link(struct machine *m, const struct pci_place *places, uint32_t i, uint32_t j)
{
	struct nvml_pair pair = nvml_pair(m->nvml, m->devices[i].uuid, m->devices[j].uuid);
	struct machine_link link;

	if (pair.ancestor == NVML_UNKNOWN && pair.links == 0 &&
		(places[i].socket < 0 || places[j].socket < 0))
		return false;
	link = (struct machine_link){
		.links = pair.links,
		.near = (uint8_t)nearness_of(&pair, places[i].socket, places[j].socket),
		.Bps = speed_of(&pair),
	};
	m->links[i * m->nlinked + j] = m->links[j * m->nlinked + i] = link;
	return true;
}

void machine_find_links(struct machine *m, const struct nvml_gpus *gpus)
{
	struct pci_place *places;
	bool known = true;

	if (gpus->n < 2 || gpus->n > NODE_DEVICES_MAX || any_split(gpus))
		return;
	places = places_of(gpus);
	m->nlinked = gpus->n;
	m->links = mem_alloc(sizeof(*m->links) * gpus->n * gpus->n);
	for (uint32_t i = 0; i < gpus->n && known; i++) {
		for (uint32_t j = 0; j < i && known; j++)
			known = find_link(m, places, i, j);
	}
	free(places);
	for (uint32_t i = 0; i < gpus->n && known; i++)
		m->devices[i].linked = i + 1;
	if (known)
		return;
	free(m->links);
	m->links = NULL;
	m->nlinked = 0;
}
