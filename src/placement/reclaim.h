/*
 * Taking back: devices that somebody holds only until whoever they belong to wants them.
 *
 * A plan that finds no room for a job which is entitled to some stops jobs that have
 * theirs on loan, the most willing first and no more than are in the way.  Who is
 * entitled, and who yields, is said by a rule: placers that know classes
 * (placer.takes_back), or quotas.
 */
#ifndef PLACEMENT_RECLAIM_H
#define PLACEMENT_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"

struct grant;
struct grant_part;
struct plan;

struct reclaim {
	void *self;
	/* Whether `job` may have so many devices that others hold on loan.  NULL: nothing is ever taken back. */
	bool (*entitled)(void *self, const struct plan *plan, const struct job *job, uint32_t gpus);
	/*
	 * How readily `holder` is stopped for `job`: the largest first; NAN: not now.  Asked again as others give back;
	 * jobs of one tenant keep their order.
	 */
	double (*yields)(void *self, const struct plan *plan, const struct job *holder,
		const struct job *job);
	/*
	 * Whether `holder` has its devices by a right that `job` has not: a policy that stopped it for the sake of
	 * that one would see it take them back at once.  NULL: nobody has.
	 */
	bool (*keeps)(void *self, const struct plan *plan, const struct job *holder,
		const struct job *job);
	/*
	 * Whether `job` has a right to such devices now, free or lent, whatever the policy thinks of it: it then gets
	 * them after the decision.  NULL: nobody has.
	 */
	bool (*due)(void *self, const struct plan *plan, const struct job *job, struct grant_part part);
};

/* Opportunistic jobs yield to guaranteed ones, those that have done least first. */
extern const struct reclaim reclaim_by_class;

struct reclaim_holder {
	double readiness;
	uint32_t job;
	uint32_t tenant;
};

/* Holders of one tenant, the most ready first: what is left of them. */
struct reclaim_group {
	size_t next, end;
};

/*
 * Tries find() with more and more devices that are lent given back; where it answers true, whoever
 * is in the way of plan->found is stopped.  False: all is as it was.
 */
bool reclaim_try(struct plan *plan, const struct job *job, struct grant_part part,
	bool (*find)(struct plan *plan, const struct job *job, struct grant_part part, uint32_t rest));

#endif
