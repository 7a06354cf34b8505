/*
 * ParSync: several schedulers over one cluster, each with a view of its own
 * that is refreshed a part at a time (Feng et al., ATC 2021).
 *
 * The machines are split into partitions.  In every step of period / partitions
 * seconds each scheduler refreshes one partition, and no two of them the same:
 * whatever partition there is, somebody has seen it lately, and a scheduler that
 * takes machines from what it has seen last rarely meets another one there.
 * Everybody has refreshed everything after a period, as without partitions.
 *
 * All of it is arithmetic on numbers of steps: whoever has a clock, simulated or
 * not, may follow the plan.
 */
#ifndef MODEL_PARSYNC_H
#define MODEL_PARSYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { PARSYNC_KINDS_MAX = 64 };

/* ---- who refreshes what */

struct parsync_plan {
	uint32_t schedulers;
	uint32_t partitions; /* at least as many */
	double period_s;     /* in which a scheduler refreshes all of them */
};

/* ERR_USAGE where no such plan keeps schedulers apart. */
int parsync_check(const struct parsync_plan *plan, struct err *err);
/* How far ahead of the first scheduler this one is, in partitions; differs between schedulers. */
uint32_t parsync_offset(const struct parsync_plan *plan, uint32_t scheduler);
/* The partition that the scheduler refreshes at step 0, 1, 2, … */
uint32_t parsync_partition(const struct parsync_plan *plan, uint32_t scheduler, uint64_t step);
/* When a step is. */
double parsync_step_s(const struct parsync_plan *plan, uint64_t step);
/* How old the view of the partition is right after the step; it was full at some time before. */
double parsync_staleness_s(const struct parsync_plan *plan, uint32_t scheduler, uint64_t step,
	uint32_t partition);
/* The first of `items` machines in a partition; the next partition's first is its end.  Sizes differ by one at most. */
uint32_t parsync_first(uint32_t items, uint32_t partitions, uint32_t partition);

/* ---- conflicts */

/* Of `requests` that each take one of `slots` at random at once, how many are in vain, expected. */
double parsync_expected_rejections(double slots, double requests);

/* ---- which machine */

enum parsync_rule {
	PARSYNC_QUALITY, /* the best there is; of equals what was seen last */
	PARSYNC_LATENCY, /* the best of what was seen last */
};

/*
 * Where free machines are, as a scheduler believes: by partition and kind.
 * Machines of a kind are equally good for a task, and different kinds are not.
 */
struct parsync_sight {
	uint32_t partitions, kinds;
	uint32_t words;     /* of a set of partitions */
	uint64_t *of_kind;  /* [kinds][words] partitions that have one */
	uint64_t *of_any;   /* [words] partitions that have any */
	uint64_t *kinds_in; /* by partition: kinds that it has */
	uint32_t *spread;   /* by kind: how many partitions have one */
};

struct parsync_pick {
	uint32_t partition, kind;
};

/* Nothing is free.  Release it with parsync_sight_fini(). */
void parsync_sight_init(struct parsync_sight *sight, uint32_t partitions, uint32_t kinds);
void parsync_sight_fini(struct parsync_sight *sight);
void parsync_sight_set(struct parsync_sight *sight, uint32_t partition, uint32_t kind, bool there);

/*
 * Where to take a machine for a task that likes the kinds in this order, the best first.  `freshest` is
 * the partition refreshed last; the one before it was refreshed before, and so on around, as the plan has it.
 * false: nothing is free.  Takes a look at each kind and at a word for 64 partitions at most.
 */
bool parsync_choose(const struct parsync_sight *sight, enum parsync_rule rule, const uint8_t *order,
	uint32_t freshest, struct parsync_pick *out);

/* ---- quality while that is quick */

struct parsync_limits {
	double window_s; /* over which delays are looked at */
	double leave;    /* above so many times the usual delay quality is given up, */
	double back;     /* below so many it is sought again */
};

extern const struct parsync_limits parsync_limits_usual;

int parsync_limits_check(const struct parsync_limits *limits, struct err *err);
/* The rule for the next window.  `usual_s` is the delay of a task that meets nobody. */
enum parsync_rule parsync_adapt(enum parsync_rule now, double delay_s, double usual_s,
	const struct parsync_limits *limits);

#endif
