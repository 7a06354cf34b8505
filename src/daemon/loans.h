/*
 * What jobs have on loan: devices that somebody with a better right may have back, or that they have
 * beside whoever has them.
 */
#ifndef DAEMON_LOANS_H
#define DAEMON_LOANS_H

#include "base/vec.h"
#include "live/core.h"

struct loans {
	bool cells;         /* tenants have cells: what a job has outside of these is on loan */
	bool guests;        /* the policy keeps quotas itself: so is what its guests have */
	VEC(uint32_t) lent; /* with cells: a job's number in the engine for each device, in order */
};

/* As it is now.  Release with loans_fini(). */
void loans_look(struct core *core, struct loans *out);
void loans_fini(struct loans *loans);
/* Devices that the job has so. */
uint32_t loans_of(const struct loans *loans, const struct core *core, const struct live_job *job);

#endif
