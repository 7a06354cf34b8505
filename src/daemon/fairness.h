/*
 * Shares of a time that is cut into steps of equal length: what each tenant used
 * and waited for, what it deserved, and who had what the others waited for.
 *
 * Deserved is weighted max-min: nobody more than they asked for, and what one
 * leaves over is shared by the others by their weights.
 */
#ifndef DAEMON_FAIRNESS_H
#define DAEMON_FAIRNESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct fair_tenant {
	char *name;
	double weight;
	double *used, *waiting, *deserved; /* by step: devices on average */
	double *queued;                    /* jobs that waited, on average */
};

/* Zeroed but for the first four. */
struct fairness {
	double from_s, step_s;
	uint32_t steps;
	double devices; /* there are so many */
	VEC(struct fair_tenant) tenants;
	double *because; /* [i * n + j]: seconds that jobs of i waited while j had more than it deserved */
};

/* The tenant of that name; a new one has weight 1. */
size_t fairness_tenant(struct fairness *f, const char *name);
/* So many devices held, or asked for by one job that waits, from when to when. */
void fairness_use(struct fairness *f, size_t tenant, double devices, double from_s, double to_s);
void fairness_wait(struct fairness *f, size_t tenant, double devices, double from_s, double to_s);
/* Fills deserved and because. */
void fairness_finish(struct fairness *f);
void fairness_fini(struct fairness *f);

#endif
