/*
 * How good it is for a job to have certain devices of a machine (Amaral et al.), and which are best.
 *
 * Utility is of three parts, each from 0 to 1: how near the devices are to each other,
 * how little the job and its neighbours disturb each other, and how full the
 * sockets are that it uses.
 */
#ifndef PLACEMENT_TOPO_UTILITY_H
#define PLACEMENT_TOPO_UTILITY_H

#include "model/links.h"

enum { UTILITY_NEAR, UTILITY_QUIET, UTILITY_FULL, UTILITY_PARTS };

struct utility {
	double part[UTILITY_PARTS];
	double all;
};

/* One machine, and what is asked. */
struct topo_machine {
	uint32_t devices;
	uint64_t free;
	uint64_t socket[NODE_DEVICES_MAX];                    /* of each device */
	double distance[NODE_DEVICES_MAX * NODE_DEVICES_MAX]; /* [i * devices + j] */
	double weight[UTILITY_PARTS];
	double nearest; /* the smallest sum of distances there can be on the idle machine */
	/* What neighbours leave of the speed if the job has these, 0..1; NULL: all of it. */
	double (*quiet)(const void *ctx, uint64_t devices);
	const void *ctx;
};

/* Distances and sockets; the links of a machine without a topology (NULL) are all alike. */
void topo_machine_init(struct topo_machine *m, const struct topology *t, uint32_t devices,
	const struct distances *distances);

/* The sum of distances among devices. */
double topo_distance(const struct topo_machine *m, uint64_t devices);
struct utility topo_utility(const struct topo_machine *m, uint64_t devices);

/* n free devices of the largest utility, the lowest of equals; 0: too few are free. */
uint64_t topo_exact(const struct topo_machine *m, uint32_t n);
/* The same by dual recursive bipartitioning: halves of the machine that are little connected, and of the job. */
uint64_t topo_bipartition(const struct topo_machine *m, uint32_t n);
/* The smallest sum of distances of n devices of the idle machine; exact up to 8 devices. */
double topo_nearest(const struct topo_machine *m, uint32_t n);

#endif
