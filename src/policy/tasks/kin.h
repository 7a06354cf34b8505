/*
 * Which pipeline a job is of, also after those before it have ended: kept with
 * each job, in policy.job_state.
 */
#ifndef POLICY_TASKS_KIN_H
#define POLICY_TASKS_KIN_H

#include "model/round.h"

/* Zeroed: not looked at yet. */
struct kin {
	uint32_t parent; /* 1 + a job of the same pipeline, towards its first; 0: not looked at yet */
	uint32_t stage; /* how many stand before it */
	bool linked;    /* to all it waits for */
};

/* The first job of the pipeline, which is alone in it where nobody waits for anybody. */
uint32_t kin_root(struct kin *kin, uint32_t job);
/* Looks at what the job waits for, which has been linked before; what has not come yet is linked at a later call. */
void kin_link(const struct round *round, struct kin *kin, const struct job *job);

#endif
