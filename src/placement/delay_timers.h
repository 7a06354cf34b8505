/*
 * How long it pays to wait for a closer place: timers learnt from how long those waited
 * who got one (Dally's auto-tuner).
 */
#ifndef PLACEMENT_DELAY_TIMERS_H
#define PLACEMENT_DELAY_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* How close devices lie together. */
enum tier { TIER_MACHINE, TIER_RACK, TIER_NETWORK, TIER_COUNT };

struct delay_rule {
	double most_s[TIER_NETWORK]; /* for a machine, for a rack: where nothing is known, and at most */
	bool tune;
	double window_s; /* what is older does not count */
	uint32_t window; /* nor what is not among the last so many */
};

/* An offer that was taken. */
struct delay_sample {
	uint32_t job;
	double at_s, wait_s;
};

/* Of jobs of one size. */
struct delay_class {
	uint32_t gpus;
	VEC(struct delay_sample) samples[TIER_COUNT];
};

struct delay_timers {
	VEC(struct delay_class) classes;
};

void delay_timers_fini(struct delay_timers *timers);
/* The same wait told again is counted once. */
void delay_timers_took(struct delay_timers *timers, const struct delay_rule *rule, uint32_t gpus,
	enum tier tier, struct delay_sample sample);
/* How long a job of the size waits for something as close as `tier`: not for a rack less long than for a machine. */
double delay_timers_s(const struct delay_timers *timers, const struct delay_rule *rule,
	uint32_t gpus, enum tier tier, double now_s);

#endif
