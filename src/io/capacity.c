/*
 * What an empty cluster can hold of one job.
 */
#include "io/capacity.h"

#include <stdlib.h>

#include "base/mem.h"

static int by_kind(const void *a_, const void *b_)
{
	const struct node_kind *a = a_, *b = b_;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->devices != b->devices)
		return a->devices < b->devices ? -1 : 1;
	if (a->cpus != b->cpus)
		return a->cpus < b->cpus ? -1 : 1;
	return a->mem_bytes < b->mem_bytes ? -1 : a->mem_bytes > b->mem_bytes;
}

void capacity_init(struct capacity *capacity, const struct cluster *cluster)
{
	struct node_kind *kinds = mem_alloc(
		mem_array_size((size_t)cluster->nnodes + 1, sizeof(*kinds)));
	uint32_t n = 0;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		kinds[i] = (struct node_kind){ node->type, node->devices, 1, node->cpus,
			node->mem_bytes };
	}
	qsort(kinds, cluster->nnodes, sizeof(*kinds), by_kind);
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (n && by_kind(&kinds[n - 1], &kinds[i]) == 0)
			kinds[n - 1].nodes++;
		else
			kinds[n++] = kinds[i];
	}
	*capacity = (struct capacity){ cluster, kinds, n };
}

void capacity_fini(struct capacity *capacity)
{
	free(capacity->kinds);
	*capacity = (struct capacity){ 0 };
}

uint32_t capacity_devices(const struct capacity *capacity, uint32_t types)
{
	const struct cluster *cluster = capacity->cluster;
	uint32_t most = 0;

	for (uint32_t t = 0; t < cluster->ntypes; t++)
		if ((types >> t & 1) && cluster->types[t].devices > most)
			most = cluster->types[t].devices;
	return most;
}

/* Devices of one node that it can feed if the job has `gpus` in all. */
static uint32_t fed(const struct node_kind *kind, const struct job *job, uint32_t gpus)
{
	const double slack = 1e-9; /* as in placement: parts that add up to a whole fit it */
	uint32_t n = kind->devices < gpus ? kind->devices : gpus;

	while (n && kind->cpus > 0 && job->cpus * n / gpus > kind->cpus + slack)
		n--;
	while (n && kind->mem_bytes > 0 && job->mem_bytes / gpus * n > kind->mem_bytes)
		n--;
	return n;
}

static bool holds(const struct capacity *capacity, const struct job *job, uint32_t type, uint32_t gpus)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < capacity->n && sum < gpus; i++)
		if (capacity->kinds[i].type == type)
			sum += (uint64_t)fed(&capacity->kinds[i], job, gpus) * capacity->kinds[i].nodes;
	return sum >= gpus;
}

uint32_t capacity_gpus(const struct capacity *capacity, const struct job *job, uint32_t types)
{
	uint32_t most = capacity_devices(capacity, types);
	uint32_t gpus = job->gpus < (int64_t)most ? (uint32_t)job->gpus : most;

	for (; gpus && gpus >= (uint32_t)job->min_gpus; gpus--)
		for (uint32_t t = 0; t < capacity->cluster->ntypes; t++)
			if ((types >> t & 1) && holds(capacity, job, t, gpus))
				return gpus;
	return 0;
}
