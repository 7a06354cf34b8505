/*
 * Configurations: the devices that a job may have at once, so many of one type
 * or of two, and how fast it is on them.
 *
 * Every job has one for each type of the cluster, with as many devices as it
 * asks for there.  A policy may allow more: an elastic job with other counts,
 * a job of several devices on two types at once.
 */
#ifndef POLICY_HETERO_CONFIGS_H
#define POLICY_HETERO_CONFIGS_H

#include "base/vec.h"
#include "model/round.h"

struct config {
	struct grant_part part[2]; /* by the cluster's types; the second has no devices unless it is mixed */
	double speed;              /* steps per second of the whole job; 0: it cannot run so */
};

/* Devices of two types at once: never; all do the same; each does what it can. */
enum across { ACROSS_NO, ACROSS_SLOWEST, ACROSS_BALANCED };
extern const char *const across_names[]; /* for OPT_CHOICE */

/* Which there are besides the plain ones; zeroed: none. */
struct config_rules {
	bool free_gangs; /* elastic jobs: powers of two that they take, the fewest and the most */
	int across;      /* enum across; gangs of two and more */
};

static inline bool config_rules_any(const struct config_rules *rules)
{
	return rules->free_gangs || rules->across != ACROSS_NO;
}

struct configs {
	VEC(struct config) list;
};

/*
 * Adds those of a job.  The first are the plain ones, number c on type c; which follow depends on the
 * cluster and on what was asked alone, so that a configuration keeps its number.
 */
void configs_add(struct configs *configs, const struct round *round, const struct job *job,
	const struct config_rules *rules);

static inline bool config_mixed(const struct grant_part part[2])
{
	return part[1].gpus > 0;
}

#endif
