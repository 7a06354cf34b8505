/*
 * Who may have what, and who gives way to whom.
 */
#include <math.h>

#include "placement/plan_parts.h"
#include "placement/quota_parts.h"

/* How readily those within their right go: after everybody who has borrowed. */
#define LAST_RESORT (-1.0)

/* ---- who has a right */

uint32_t quota_right(const struct quota *q, const struct job *job, struct grant_part part)
{
	int64_t more = quota_width(job, part.gpus);
	uint32_t level = 1, from = TENANT_NONE;

	if (!quota_counts(q, part.type))
		return 0;
	for (uint32_t i = quota_leaf(q, job); q->at[i].parent != TENANT_NONE; i = q->at[i].parent) {
		if (q->at[i].total > 0 && quota_covers(q, i, from, part.type, more))
			return level;
		level++;
		from = i;
	}
	return 0;
}

static bool entitled(void *self, const struct plan *plan, const struct job *job, uint32_t gpus)
{
	struct quota *q = self;

	return quota_right(q, job, (struct grant_part){ plan->asked.type, gpus }) > 0 ||
		(q->under.entitled && q->under.entitled(q->under.self, plan, job, gpus));
}

/* Right below the lowest node above both leaves, on either side; equal if it is one leaf. */
static void part_ways(const struct quota *q, uint32_t *a, uint32_t *b)
{
	while (q->at[*a].depth > q->at[*b].depth)
		*a = q->at[*a].parent;
	while (q->at[*b].depth > q->at[*a].depth)
		*b = q->at[*b].parent;
	while (*a != *b && q->at[*a].parent != q->at[*b].parent) {
		*a = q->at[*a].parent;
		*b = q->at[*b].parent;
	}
}

/* How far above its guarantee the holder's side is, at its least from its tenant up; NAN: somewhere its devices are not borrowed. */
static double excess(const struct quota *q, uint32_t type, uint32_t leaf, uint32_t top)
{
	double least = INFINITY;

	for (uint32_t i = leaf;; i = q->at[i].parent) {
		struct quota_place place = quota_place(q, i, TENANT_NONE, type, 0);

		if (place.above <= 0 || place.of_type <= 0)
			return NAN;
		least = fmin(least, (double)place.above / q->at[i].weight);
		if (i == top)
			return least;
	}
}

/*
 * Whether so many more of the very type are promised, from the leaf up to `top`: to the highest of those that are
 * promised by type alone.  Devices of any type above it contain what it is promised, whoever has how many of these.
 */
static bool has_of_type(const struct quota *q, uint32_t type, uint32_t leaf, uint32_t top, int64_t more)
{
	uint32_t from = TENANT_NONE;
	bool has = false;

	for (uint32_t i = leaf;; i = q->at[i].parent) {
		if (q->at[i].any == 0 && q->at[i].total > 0)
			has = quota_place(q, i, from, type, more).of_type <= 0;
		if (i == top)
			return has;
		from = i;
	}
}

/* Whether so many more are the right of `top`, for a leaf below it. */
static bool has_right(const struct quota *q, uint32_t type, uint32_t leaf, uint32_t top, int64_t more)
{
	uint32_t from = TENANT_NONE;

	for (uint32_t i = leaf; i != top; i = q->at[i].parent)
		from = i;
	return quota_covers(q, top, from, type, more);
}

/*
 * Borrowers yield, those farthest above their guarantee first.  Who has a right to some of any type has it elsewhere,
 * too: for devices that are promised by type such go as well, when borrowers are not enough.
 */
static double readiness(const struct quota *q, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	uint32_t mine = quota_leaf(q, job), leaf = quota_leaf(q, holder), own = mine, theirs = leaf;
	uint32_t type = plan_grant(plan, holder->id)->type, wants = plan->asked.type;
	int64_t more = quota_width(job, plan->asked.gpus);
	bool of_type;
	double above;

	part_ways(q, &own, &theirs);
	if (own == theirs)
		return NAN;
	of_type = has_of_type(q, wants, mine, own, more);
	if (!of_type && !has_right(q, wants, mine, own, more))
		return NAN;
	above = excess(q, type, leaf, theirs);
	if (isnan(above) && of_type && type == wants && !has_of_type(q, type, leaf, theirs, 0))
		return LAST_RESORT;
	return above;
}

static double yields(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	struct quota *q = self;
	double ready = readiness(q, plan, holder, job);

	if (isnan(ready) && q->under.yields && q->under.entitled(q->under.self, plan, job, 1))
		ready = q->under.yields(q->under.self, plan, holder, job);
	return ready;
}

/* Whether the job would have some of the devices by right, at its tenant or above it up to `top`. */
static bool has_right_below(const struct quota *q, uint32_t leaf, uint32_t top, uint32_t type,
	int64_t more)
{
	uint32_t from = TENANT_NONE;

	for (uint32_t i = leaf;; i = q->at[i].parent) {
		if (quota_covers(q, i, from, type, more))
			return true;
		if (i == top)
			return false;
		from = i;
	}
}

/* The holder's side is within its guarantee, and the job's would be above with it: promises would undo the exchange. */
static bool keeps(void *self, const struct plan *plan, const struct job *holder, const struct job *job)
{
	struct quota *q = self;
	uint32_t type = plan_grant(plan, holder->id)->type;
	uint32_t leaf = quota_leaf(q, job), own = leaf, theirs = quota_leaf(q, holder);

	part_ways(q, &own, &theirs);
	if (own != theirs &&
		(quota_covers(q, theirs, TENANT_NONE, type, 0) ||
			has_of_type(q, type, quota_leaf(q, holder), theirs, 0)) &&
		!has_right_below(q, leaf, own, type, quota_width(job, job_gpus_on(job, type))))
		return true;
	return q->under.keeps && q->under.keeps(q->under.self, plan, holder, job);
}

struct reclaim quota_reclaim(struct quota *q, struct reclaim under)
{
	q->under = under;
	return (struct reclaim){ .self = q, .entitled = entitled, .yields = yields, .keeps = keeps };
}

void quota_prove(const struct quota *q, const struct job *job, struct reason *reason)
{
	const struct quota_node *node = &q->at[quota_leaf(q, job)];

	reason->share = (double)quota_held(q, node) / SHARE_WHOLE;
	reason->against = (double)node->total / SHARE_WHOLE;
}

/* ---- who may have what */

static double limit(const struct quota_node *node)
{
	return (double)(node->total + node->borrow) / SHARE_WHOLE;
}

/* Of the limits above the job the one that so many devices exceed, or TENANT_NONE. */
static uint32_t exceeded_by(const struct quota *q, const struct job *job,
	const struct grant_part *parts, uint32_t nparts)
{
	for (uint32_t i = quota_leaf(q, job); i != TENANT_NONE; i = q->at[i].parent) {
		const struct quota_node *node = &q->at[i];
		int64_t loose = node->loose;

		if (node->borrow == NO_LIMIT)
			continue;
		for (uint32_t k = 0; k < nparts; k++) {
			int64_t more = quota_width(job, parts[k].gpus);
			uint32_t type = parts[k].type;

			if (!quota_counts(q, type))
				continue;
			/* What one type adds, the others do not change. */
			loose += quota_above(&(struct quota_node){ .held = node->held,
						     .typed = node->typed,
						     .loose = node->loose },
					 type, more) -
				node->loose;
		}
		if (loose - node->any > node->borrow)
			return i;
	}
	return TENANT_NONE;
}

/* What must stay free for others if the job's tenant gets devices: by type, and of any. */
static int64_t kept_from(const struct quota *q, uint32_t leaf, int64_t keeps[TYPES_MAX])
{
	int64_t any = q->at[leaf].below_any;

	memcpy(keeps, q->at[leaf].below, q->ntypes * sizeof(*keeps));
	for (uint32_t i = leaf; q->at[i].parent != TENANT_NONE; i = q->at[i].parent) {
		const struct quota_node *above = &q->at[q->at[i].parent];

		any += above->below_any - q->at[i].keeps_any;
		for (uint32_t k = 0; k < q->ntypes; k++)
			keeps[k] += above->below[k] - q->at[i].keeps[k];
	}
	return any;
}

/* Whether enough is left of what is free. */
static bool leaves_enough(const struct quota *q, const struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, uint32_t fresh)
{
	int64_t keeps[TYPES_MAX], spare = 0;
	int64_t any = kept_from(q, quota_leaf(q, job), keeps);

	for (uint32_t k = 0; k < q->ntypes; k++) {
		int64_t left = (int64_t)plan->space.types[k].free * DEVICE;
		bool takes = false;

		if (!quota_counts(q, k))
			continue;
		for (uint32_t i = 0; i < nparts && fresh; i++) {
			takes |= parts[i].type == k;
			if (parts[i].type == k)
				left -= (nparts == 1 ? fresh : parts[i].gpus) * DEVICE;
		}
		if (left < 0)
			return true; /* there is no room for it, whoever keeps what */
		if (takes && left < keeps[k])
			return false;
		spare += most_of(0, left - keeps[k]);
	}
	return !fresh || spare >= any;
}

/* While too many devices are down for all that is promised, whoever has a right and asks first gets them: nothing is kept. */
static bool is_short(const struct quota *q, const struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts)
{
	const struct quota_node *all = &q->at[q->n - 1];
	int64_t up = 0;
	bool lacks = false;

	for (uint32_t k = 0; k < q->ntypes; k++) {
		int64_t here = (int64_t)plan->space.types[k].up * DEVICE;

		if (!quota_counts(q, k))
			continue;
		up += here;
		lacks |= here < all->typed[k];
	}
	return nparts == 1 && (lacks || up < all->total) && quota_right(q, job, parts[0]) > 0;
}

static bool may_have(const struct quota *q, const struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, uint32_t fresh)
{
	if (nparts == 1 && !quota_counts(q, parts[0].type))
		return true;
	return exceeded_by(q, job, parts, nparts) == TENANT_NONE &&
		(leaves_enough(q, plan, job, parts, nparts, fresh) ||
			is_short(q, plan, job, parts, nparts));
}

/* The most devices of one type that it may have now. */
static uint32_t room_for(const struct quota *q, const struct plan *plan, const struct job *job,
	struct grant_part part)
{
	uint32_t low = 0, high = part.gpus;

	while (high - low > 1) {
		struct grant_part trial = { part.type, low + (high - low) / 2 };

		if (may_have(q, plan, job, &trial, 1, trial.gpus))
			low = trial.gpus;
		else
			high = trial.gpus;
	}
	return low;
}

void quota_prove_limit(const struct quota *q, const struct job *job, uint32_t gpus, struct reason *reason)
{
	uint32_t i = quota_leaf(q, job);
	const struct quota_node *node;
	int64_t rest;

	while (q->at[i].parent != TENANT_NONE && !quota_is_over(&q->at[i]))
		i = q->at[i].parent;
	node = &q->at[i];
	rest = quota_held(q, node) - quota_width(job, gpus);
	reason->need = (int32_t)gpus;
	reason->have = (int32_t)(most_of(0, node->total + node->borrow - rest) / DEVICE);
	reason->share = (double)quota_held(q, node) / SHARE_WHOLE;
	reason->against = limit(node) > 0 ? limit(node) : -1;
}

bool quota_allows(const struct quota *q, const struct plan *plan, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, uint32_t fresh, struct reason *why)
{
	uint32_t by;

	if (may_have(q, plan, job, parts, nparts, fresh))
		return true;
	by = exceeded_by(q, job, parts, nparts);
	*why = (struct reason){ .why = WHY_QUOTA, .other = JOB_NONE };
	for (uint32_t i = 0; i < nparts; i++)
		why->need += (int32_t)parts[i].gpus;
	why->have = nparts == 1 ? (int32_t)room_for(q, plan, job, parts[0]) : 0;
	if (by != TENANT_NONE) {
		why->share = (double)quota_held(q, &q->at[by]) / SHARE_WHOLE;
		why->against = limit(&q->at[by]) > 0 ? limit(&q->at[by]) : -1;
	}
	return false;
}

/* ---- admission */

/* What others keep of what is theirs while all of it idles: by type, and of any. */
static int64_t kept_at_most(const struct quota *q, uint32_t leaf, int64_t keeps[TYPES_MAX])
{
	int64_t any = q->at[leaf].idle_below_any;

	memcpy(keeps, q->at[leaf].idle_below, q->ntypes * sizeof(*keeps));
	for (uint32_t i = leaf; q->at[i].parent != TENANT_NONE; i = q->at[i].parent) {
		const struct quota_node *above = &q->at[q->at[i].parent];

		any += above->idle_below_any - q->at[i].idle_keeps_any;
		for (uint32_t k = 0; k < q->ntypes; k++)
			keeps[k] += above->idle_below[k] - q->at[i].idle_keeps[k];
	}
	return any;
}

uint32_t quota_most(const struct quota *q, const struct job *job, uint32_t type)
{
	uint32_t leaf = quota_leaf(q, job);
	int64_t keeps[TYPES_MAX], spare[TYPES_MAX], most = -kept_at_most(q, leaf, keeps);

	if (!quota_counts(q, type))
		return q->cluster->types[type].devices;
	for (uint32_t k = 0; k < q->ntypes; k++) {
		spare[k] = most_of(0, (int64_t)q->cluster->types[k].devices * DEVICE - keeps[k]);
		most += quota_counts(q, k) ? spare[k] : 0;
	}
	most = least_of(spare[type], most_of(0, most));
	for (uint32_t i = leaf; i != TENANT_NONE; i = q->at[i].parent) {
		const struct quota_node *node = &q->at[i];

		if (node->borrow != NO_LIMIT)
			most = least_of(most, node->typed[type] + node->any + node->borrow);
	}
	return (uint32_t)(most / DEVICE);
}

uint32_t quota_need(const struct job *job, uint32_t gpus)
{
	return (uint32_t)((quota_width(job, gpus) + DEVICE - 1) / DEVICE);
}

bool quota_is_full(const struct quota *q, const struct job *job, struct reason *why)
{
	int64_t more = quota_width(job, (uint32_t)job->gpus);

	for (uint32_t i = quota_leaf(q, job); i != TENANT_NONE && quota_concerns(q, job);
		i = q->at[i].parent) {
		const struct quota_node *node = &q->at[i];

		if (node->borrow == NO_LIMIT || node->asked == 0 ||
			node->asked + more <= node->total + node->borrow)
			continue;
		*why = (struct reason){
			.why = WHY_QUOTA,
			.need = job->gpus,
			.have = (int32_t)(most_of(0, node->total + node->borrow - node->asked) / DEVICE),
			.other = JOB_NONE,
			.share = (double)node->asked / SHARE_WHOLE,
			.against = limit(node),
		};
		return true;
	}
	return false;
}

bool quota_idles_for(const struct quota *q, const struct job *job)
{
	uint32_t leaf = quota_leaf(q, job);

	for (uint32_t k = 0; q->settled && k < q->ntypes; k++) {
		int64_t more = quota_width(job, job_gpus_on(job, k)) + q->at[leaf].late;

		if (job_may_use(job, k) && quota_covers(q, leaf, TENANT_NONE, k, more))
			return true;
	}
	return false;
}
