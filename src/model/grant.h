/*
 * The devices a job holds.
 */
#ifndef MODEL_GRANT_H
#define MODEL_GRANT_H

#include <stdbool.h>
#include <stdint.h>

/* Devices of one node, as bits. */
struct slot {
	uint32_t node;
	uint64_t devices;
};

struct grant {
	uint32_t type;
	uint32_t gpus;   /* devices in all slots */
	uint32_t nslots; /* nodes */
	uint32_t batch;  /* total batch size, 0: the job's own */
	double share;    /* of each device's compute, 1: all of it */
	double until_s;  /* end of the turn it is given for; 0: as long as the plan keeps it */
	double steps;    /* that it makes in this turn at most; they count when the turn ends */
	struct slot slots[];
};

bool grant_same_devices(const struct grant *a, const struct grant *b);

#endif
