/*
 * What a whole, empty cluster can hold of one job, CPUs and memory of the
 * nodes included, by the rules of placement: a job has devices of one type,
 * and its CPUs and memory are spread evenly over them.
 */
#ifndef IO_CAPACITY_H
#define IO_CAPACITY_H

#include <stdint.h>

#include "model/cluster.h"
#include "model/job.h"

/* Nodes that are alike. */
struct node_kind {
	uint32_t type, devices, nodes;
	double cpus;
	int64_t mem_bytes;
};

struct capacity {
	const struct cluster *cluster;
	struct node_kind *kinds;
	uint32_t n;
};

/* Keeps `cluster`.  Release with capacity_fini(). */
void capacity_init(struct capacity *capacity, const struct cluster *cluster);
void capacity_fini(struct capacity *capacity);

/* The most devices of one of `types` (bits). */
uint32_t capacity_devices(const struct capacity *capacity, uint32_t types);

/* The largest number of devices, from job->min_gpus to job->gpus, that it can run on; 0: none. */
uint32_t capacity_gpus(const struct capacity *capacity, const struct job *job, uint32_t types);

#endif
