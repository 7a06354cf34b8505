/*
 * Which of the jobs that wait a copy of the core has, where the queue is too long to copy all of it.
 *
 * Jobs of one kind (same tenant, user, size, priority, estimate, …) start in the order in which they
 * came, whatever the policy.  So of every kind the first ones are taken, of all kinds the same number as
 * far as they have it.  Until the last one of a kind that is there has started, the jobs that are left out
 * change nothing for those that are in.
 */
#ifndef LIVE_CORE_PART_H
#define LIVE_CORE_PART_H

#include "live/core_state.h"

/* Kinds that are none of the queue's. */
enum {
	PART_SHUT = UINT32_MAX,        /* a person must let the job go */
	PART_FOLLOWS = UINT32_MAX - 1, /* it waits for a job that is left out */
};

struct core_part {
	size_t n;       /* jobs that wait */
	bool *in;       /* by place in the queue: the job is taken */
	uint32_t *kind; /* likewise */
	uint32_t nkinds;
	size_t *last; /* by kind: place in the queue of the last of the first ones; SIZE_MAX: none is taken */
};

/*
 * Of these jobs, in the queue's order, about `most`; job `keep` (0: none) and the jobs it follows are always taken.
 * Release with core_part_fini().
 */
void core_part_choose(struct core *core, const struct live_job *const *queue, size_t n, size_t most,
	uint32_t keep, struct core_part *out);
void core_part_fini(struct core_part *part);

#endif
