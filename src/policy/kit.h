/*
 * Parts that policies share.
 *
 * kit_in_order() serves every policy that is "the job with the smallest key
 * first".  It keeps the jobs ranked between rounds, so that an event costs
 * O(log n) and not a sort; keys that move while a job runs are given by their
 * slope.  kit_anew() sorts each time, for keys that move in their own way.
 * Both give the same plan where both apply: greedy in (key, arrival, id).
 */
#ifndef POLICY_KIT_H
#define POLICY_KIT_H

#include "base/heap.h"
#include "base/rank.h"
#include "policy/policy.h"

enum misfit {
	MISFIT_BLOCK, /* the first job that does not fit ends the walk */
	MISFIT_SKIP,  /* later jobs may pass it */
};

extern const char *const misfit_names[]; /* for OPT_CHOICE */

typedef double key_fn(const void *self, const struct round *round, const struct job *job);

struct ordering {
	key_fn *key;      /* smaller runs first; must be finite */
	key_fn *slope;    /* change of the key per second while the job runs; NULL: none */
	key_fn *jump_s;   /* when its key next changes by a jump, INFINITY never; NULL: never */
	enum misfit misfit;
	bool preempt;     /* a job may take the devices of one with a larger key */
};

/* Jobs of one shape (gang size, types, CPUs, memory): if the first does not fit, none does. */
struct rank_class {
	struct rank waiting;
	uint32_t types;
	int32_t gpus;
	double cpus;
	int64_t mem_bytes;
	bool shut; /* did not fit in this round */
};

/* Running jobs of one type whose keys move alike: their order does not change. */
struct rank_lane {
	struct rank running;
	uint32_t type;
	double slope;
};

/* A zeroed ranking is valid and empty. */
struct ranking {
	struct rank_pool pool;
	VEC(struct rank_class) classes;
	VEC(struct rank_lane) lanes;
	VEC(uint32_t) class_of; /* by job */
	struct heap jumps;
	VEC(uint32_t) evicted;
};

void ranking_fini(struct ranking *ranking);

void kit_in_order(struct ranking *ranking, const struct ordering *ordering, const void *self, const struct round *round, struct plan *plan);
void kit_anew(const struct ordering *ordering, const void *self, const struct round *round, struct plan *plan);

/* The type on which `job` is believed to run fastest among those with room for it in the plan; runs it there.  False: no room. */
bool kit_run(const struct round *round, struct plan *plan, const struct job *job);

#endif
