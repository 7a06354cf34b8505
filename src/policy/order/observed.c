/*
 * What another scheduler does: each job runs where that one runs it, and waits
 * as long as it waits there.
 *
 * It decides nothing, so it is in no list of policies; trials of what would
 * happen go by its stand-in.
 */
#include "policy/kit.h"

/* In two passes: who goes makes room for who comes. */
static int observed_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	(void)self;
	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !job->npins && job->grant)
			plan_stop(plan, job);
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job) || job->grant)
			continue;
		if (!job->npins ||
			!plan_run_at(plan, job, job->pins, job->npins, (struct want){ .there = true }))
			plan_why(plan, job->id,
				(struct reason){ .why = WHY_OUTSIDE, .other = JOB_NONE });
	}
	return 0;
}

const struct policy policy_observed = {
	.name = "observed",
	.summary = "as another scheduler decides",
	.family = "order",
	.traits = POLICY_PREEMPTS,
	.stand_in = "easy",
	.decide = observed_decide,
};
