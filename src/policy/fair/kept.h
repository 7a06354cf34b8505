/*
 * Devices kept for one job that has waited too long, so that wide jobs do not starve behind a
 * stream of small ones.
 *
 * Its turn comes when the time limits of jobs with devices say that enough will be free.  Others
 * start before that only if their own limit ends them in time, or if what is left then does
 * for both.  Where limits do not say when (jobs without one may run for ever), devices of the type that
 * come free are kept until there are enough.
 *
 * Nothing is remembered from one decision to the next: how long jobs have waited is theirs.
 */
#ifndef POLICY_FAIR_KEPT_H
#define POLICY_FAIR_KEPT_H

#include "policy/reservation.h"

struct kept {
	const struct round *round;
	uint32_t job;  /* that they are kept for; JOB_NONE: none */
	uint32_t type; /* of its devices */
	bool known;    /* when it can have them, by the outlook; else all that are free are kept */
	struct outlook outlook;
};

void kept_init(struct kept *kept, const struct round *round);
/*
 * Keeps devices for a job that has found no room, `least` of them where it takes fewer than it asks for (0: as asked), if that
 * helps: they are too few, and enough are up.  `looks`: the plan has all jobs that run, so that their limits can be looked at.
 */
void kept_for(struct kept *kept, const struct plan *plan, const struct job *job, uint32_t least,
	bool looks);
/* Runs a job where that is in nobody's way; as kit_run_on() while nothing is kept. */
bool kept_run_on(struct kept *kept, struct plan *plan, const struct job *job, uint32_t gpus);
/* Whether a job that did not run would have had enough devices if none were kept. */
bool kept_from(const struct kept *kept, const struct plan *plan, const struct job *job, uint32_t least);

#endif
