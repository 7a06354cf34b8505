/*
 * Who gives way: whoever has devices on loan where a tenant claims its cells.
 */
#include <math.h>

#include "placement/hived_parts.h"

static bool entitled(void *self, const struct plan *plan, const struct job *job, uint32_t gpus)
{
	const struct hived *h = self;

	(void)plan;
	for (uint32_t i = 0; i < h->cluster->ntypes; i++) {
		if (h->promises[i].job == job->id && h->promises[i].back && h->promises[i].gpus == gpus)
			return true;
	}
	return false;
}

/* Whether the grant has devices of a node where the job shall go. */
static bool in_the_way(const struct hived *h, const struct grant *grant, const struct job *job)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		const struct promise *p = &h->promises[h->cluster->nodes[grant->slots[i].node].type];

		for (uint32_t k = 0; p->job == job->id && k < p->slots.n; k++) {
			if (p->slots.at[k].node == grant->slots[i].node)
				return true;
		}
	}
	return false;
}

static bool is_lent(struct hived *h, struct slot slot)
{
	uint32_t leaves[NODE_DEVICES_MAX], n = hived_leaves(h, slot, leaves);

	for (uint32_t i = 0; i < n; i++) {
		if (h->books->leaves[leaves[i]].claim == CELL_NONE)
			return true;
	}
	return false;
}

/* Whoever has devices on loan and no claim for them by now; those that have done least first. */
static double yields(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	struct hived *h = self;
	const struct grant *grant = plan_grant(plan, holder->id);
	bool lent = false;

	if (!in_the_way(h, grant, job))
		return NAN;
	for (uint32_t i = 0; i < grant->nslots && !lent; i++) {
		uint32_t leaves[NODE_DEVICES_MAX], n = hived_leaves(h, grant->slots[i], leaves);

		lent = is_lent(h, grant->slots[i]);
		if (!lent)
			continue;
		h->changes++;
		cells_raise(h->books, hived_user(h, holder), leaves, n);
		lent = is_lent(h, grant->slots[i]);
	}
	return lent ? -job_served_s(holder, plan->now_s) : NAN;
}

/*
 * A job with claims gains only by the going of others with the same: what is lent it gets without a policy's
 * stopping anybody.  One without gains nothing by the going of those who have theirs through claims.
 */
static bool keeps(void *self, const struct plan *plan, const struct job *holder, const struct job *job)
{
	struct hived *h = self;
	uint32_t vc = hived_user(h, holder).vc, other = hived_user(h, job).vc;
	const struct grant *grant;

	if (other != CELL_NONE || vc == CELL_NONE)
		return vc != other;
	grant = plan_grant(plan, holder->id);
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (is_lent(h, grant->slots[i]))
			return false;
	}
	return true;
}

/* Whether its tenant's cells have room for it, though others may stand there on loan. */
static bool due(void *self, const struct plan *plan, const struct job *job, struct grant_part part)
{
	struct placing_note note = { .why = { .other = JOB_NONE }, .wake_s = INFINITY };
	struct placing p = {
		.space = &plan->space,
		.job = job,
		.gpus = part.gpus,
		.type = part.type,
		.nodes = job->nodes,
		.now_s = plan->now_s,
		.note = &note,
	};

	return hived_has_place(self, &p);
}

const struct reclaim hived_reclaim = {
	.entitled = entitled,
	.yields = yields,
	.keeps = keeps,
	.due = due,
};
