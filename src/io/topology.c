/*
 * Links inside a node.
 */
#include "io/topology.h"

#include <stddef.h>
#include <strings.h>

/* A pair of devices (0-1, 0-2, …, 1-2, …) has so many links; "0" goes through the host. */
const struct topology_preset topology_presets[] = {
	{ "nvlink-dgx1", 8,
		"1122000"
		"210200"
		"20010"
		"0001"
		"112"
		"21"
		"2",
		25e9, 10e9 },
	{ "nvlink-dgx1-p100", 8,
		"1111000"
		"110100"
		"10010"
		"0001"
		"111"
		"11"
		"1",
		20e9, 10e9 },
	{ "nvlink-summit", 6,
		"22000"
		"2000"
		"000"
		"22"
		"2",
		25e9, 10e9 },
	{ "nvlink-pairs-4", 4,
		"100"
		"00"
		"1",
		50e9, 10e9 },
	{ "nvlink-pairs-8", 8,
		"1000000"
		"000000"
		"10000"
		"0000"
		"100"
		"00"
		"1",
		50e9, 10e9 },
	{ 0 },
};
const struct topology_preset *topology_preset_find(const char *name)
{
	for (const struct topology_preset *p = topology_presets; p->name; p++)
		if (!strcasecmp(p->name, name))
			return p;
	return NULL;
}

void topology_link(struct topology *t, uint32_t i, uint32_t j, double Bps)
{
	t->Bps[i * t->devices + j] = Bps;
	t->Bps[j * t->devices + i] = Bps;
}

void topology_link_all(struct topology *t, double Bps)
{
	for (uint32_t i = 0; i < t->devices; i++)
		for (uint32_t j = i + 1; j < t->devices; j++)
			topology_link(t, i, j, Bps);
}

uint32_t topology_preset_add(const struct topology_preset *preset, struct cluster *cluster,
	const char *name)
{
	uint32_t index = cluster_add_topology(cluster, name, preset->devices);
	struct topology *t = &cluster->topologies[index];
	const char *links = preset->links;

	for (uint32_t i = 0; i < t->devices; i++)
		for (uint32_t j = i + 1; j < t->devices; j++, links++)
			topology_link(t, i, j,
				*links == '0' ? preset->others_Bps : (*links - '0') * preset->link_Bps);
	return index;
}
