/*
 * What the jobs of a plan make of each device: the part of its compute that
 * they keep busy and the memory they need, by the belief of the round.
 */
#ifndef POLICY_SHARE_LOADS_H
#define POLICY_SHARE_LOADS_H

#include "model/coordinator.h"
#include "policy/policy.h"

struct load {
	double guaranteed, guests; /* utilisation by the one, and by the others in all */
	double guaranteed_bytes, guests_bytes; /* memory that they need */
	uint32_t nguests;
	uint32_t holder; /* the guaranteed job, or JOB_NONE */
	double r;        /* launch rate of the guests; NAN: not asked for yet */
	bool parted;     /* fractions have it */
};

/* Where a law has settled before: the same two loads are asked about for many devices and jobs. */
enum { SETTLED_BITS = 13, SETTLED_MAX = 1 << SETTLED_BITS };
struct settled {
	double guaranteed, guests; /* both 0: nothing yet, guests that are there keep something busy */
	double r;
};

struct loads {
	const struct round *round;
	struct launch_law law;
	struct settled *settled; /* SETTLED_MAX of them, by a hash of the loads */
	uint32_t *first;         /* by node: index of its first device */
	struct load *at;         /* by device of all nodes */
};

/* Of the plan as it is, in the round's scratch.  `settled` is zeroed, or of earlier rounds under the same law. */
void loads_make(struct loads *loads, const struct round *round, const struct plan *plan,
	struct launch_law law, struct settled *settled);
void loads_add(struct loads *loads, const struct job *job, const struct grant *grant);
void loads_remove(struct loads *loads, const struct job *job, const struct grant *grant);

static inline struct load *load_of(const struct loads *loads, uint32_t node, uint32_t device)
{
	return &loads->at[loads->first[node] + device];
}

/* The launch rate that guests of the device come to. */
double load_rate(const struct loads *loads, struct load *load);
/* Part of their speed that the guests of the device keep, memory aside. */
double load_speed(const struct loads *loads, struct load *load);
/* Either of them for a guest on all of these devices: as slow as on the slowest. */
double loads_least(const struct loads *loads, const struct grant *grant,
	double (*of)(const struct loads *loads, struct load *load));
/* What of the device is busy, guests being held back; 0..1. */
double load_util(const struct loads *loads, struct load *load);

#endif
