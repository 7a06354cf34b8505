#include "policy/elastic/rations.h"

#include <math.h>
#include <stdlib.h>

#include "model/elastic.h"
#include "policy/elastic/lanes.h"
#include "policy/kit.h"

const char *const spread_names[] = { "even", "placer", NULL };

void rations_init(struct rations *rations, const struct round *round, struct plan *plan)
{
	*rations = (struct rations){ .round = round, .plan = plan };
	rations->at = arena_array(round->scratch, struct ration, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job))
			rations->at[rations->n++].job = job;
	}
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		rations->free[type] = plan->space.types[type].up;
}

/* ---- who is served */

double ration_weight(const struct ration *ration, uint32_t gpus)
{
	return job_is_fraction(ration->job) ? gpus * ration->job->share : gpus;
}

bool ration_set(struct rations *rations, struct ration *ration, uint32_t gpus)
{
	double more = ration_weight(ration, gpus) - ration_weight(ration, ration->gpus);

	if (more > rations->free[ration->type] + 1e-9)
		return false;
	rations->free[ration->type] -= more;
	ration->gpus = gpus;
	return true;
}

double ration_steps_left(const struct rations *rations, const struct ration *ration)
{
	double done = job_done(ration->job, rations->round->now_s);
	double left = ration->job->work_est - done;

	return fmax(left, fmax(done / 20, 1e-9));
}

static bool admit_on(struct rations *rations, struct ration *ration, uint32_t type)
{
	ration->type = type;
	ration->least = ration->most = job_least_on(ration->job, type);
	return ration_set(rations, ration, ration->least);
}

void rations_spread(struct rations *rations,
	uint32_t (*most)(const void *self, const struct round *round, const struct job *job,
		uint32_t type),
	const void *self)
{
	const struct round *round = rations->round;
	struct lanes lanes = { .round = round, .room = round->up, .most = most, .self = self };
	const struct job **jobs = arena_array(round->scratch, const struct job *, rations->n);

	if (round->cluster->ntypes == 1)
		return;
	rations->lanes = arena_array(round->scratch, uint32_t, rations->n);
	for (uint32_t i = 0; i < rations->n; i++) {
		jobs[i] = rations->at[i].job;
		rations->lanes[i] = jobs[i]->grant ? jobs[i]->grant->type : TYPES_MAX;
	}
	lanes_choose(&lanes, jobs, rations->n, rations->lanes);
}

static bool admit(struct rations *rations, struct ration *ration)
{
	const struct grant *held = plan_grant(rations->plan, ration->job->id);
	uint32_t types[TYPES_MAX], n, lane = TYPES_MAX;

	if (rations->lanes)
		lane = rations->lanes[ration - rations->at];
	if (lane != TYPES_MAX && admit_on(rations, ration, lane))
		return true;
	/* A running job stays on its type: going elsewhere costs a migration. */
	if (held && admit_on(rations, ration, held->type))
		return true;
	n = kit_types(rations->round, ration->job, types);
	for (uint32_t i = 0; i < n; i++) {
		if (admit_on(rations, ration, types[i]))
			return true;
	}
	return false;
}

void rations_admit(struct rations *rations,
	uint32_t (*most)(const void *self, const struct round *round, const struct job *job,
		uint32_t type),
	const void *self)
{
	for (uint32_t i = 0; i < rations->n; i++) {
		struct ration *r = &rations->at[i];
		uint32_t limit;

		if (!admit(rations, r) || job_is_fraction(r->job))
			continue;
		limit = job_most_on(r->job, r->type);
		if (most)
			limit = most(self, rations->round, r->job, r->type);
		if (limit > r->least)
			r->most = limit;
	}
}

uint32_t rations_known(const void *self, const struct round *round, const struct job *job, uint32_t type)
{
	uint32_t least = job_least_on(job, type);
	uint32_t most = elastic_most(round->belief, job, type, BATCHING_FIXED, 0);

	(void)self;
	return most < least ? least : most;
}

/* ---- where */

/* Nodes of a type that have free devices, most first; equals in order of number. */
struct freest {
	struct node_share *at;
	uint32_t n;
};

/* As many of them as `gpus` devices could use: that many nodes, or those that have so many together if `fill`. */
static void find_freest(const struct rations *rations, uint32_t type, uint32_t gpus, bool fill,
	struct freest *out)
{
	const struct space *space = &rations->plan->space;
	uint32_t sum = 0;

	out->n = 0;
	for (uint32_t nfree = space->types[type].max; nfree > 0; nfree--) {
		uint32_t at = 0, node;

		while ((node = space_next(space, type, nfree, &at)) != UINT32_MAX) {
			if (fill ? sum >= gpus : out->n >= gpus)
				return;
			out->at[out->n++] = (struct node_share){ node, nfree };
			sum += nfree;
		}
	}
}

/* Node i of k gets the larger half of what does not divide: ceil((gpus - i) / k). */
static uint32_t even_part(uint32_t gpus, uint32_t i, uint32_t k)
{
	return (gpus - i + k - 1) / k;
}

/* The fewest nodes, the freest, that hold an even spread; 0: none do. */
static uint32_t fewest_even(const struct freest *nodes, uint32_t gpus)
{
	for (uint32_t k = 1; k <= nodes->n && k <= gpus; k++) {
		uint32_t larger = gpus % k ? gpus % k : k;

		if (nodes->at[larger - 1].gpus >= even_part(gpus, 0, k) &&
			nodes->at[k - 1].gpus >= even_part(gpus, k - 1, k))
			return k;
	}
	return 0;
}

static bool run_evenly(struct rations *rations, const struct ration *r, uint32_t gpus,
	struct freest *nodes)
{
	uint32_t k;

	find_freest(rations, r->type, gpus, false, nodes);
	k = fewest_even(nodes, gpus);
	for (uint32_t i = 0; i < k; i++)
		nodes->at[i].gpus = even_part(gpus, i, k);
	return k && plan_run_at(rations->plan, r->job, nodes->at, k, (struct want){ 0 });
}

static bool run_on_freest(struct rations *rations, const struct ration *r, uint32_t gpus,
	struct freest *nodes)
{
	uint32_t left = gpus, k = 0;

	find_freest(rations, r->type, gpus, true, nodes);
	for (; k < nodes->n && left > 0; k++) {
		nodes->at[k].gpus = nodes->at[k].gpus < left ? nodes->at[k].gpus : left;
		left -= nodes->at[k].gpus;
	}
	return left == 0 && plan_run_at(rations->plan, r->job, nodes->at, k, (struct want){ 0 });
}

static bool run_placed(struct rations *rations, const struct ration *r, uint32_t gpus)
{
	return plan_run(rations->plan, r->job, (struct want){ .gpus = gpus, .type = (int)r->type });
}

static bool run_spread(struct rations *rations, const struct ration *r, uint32_t gpus,
	enum spread spread, struct freest *nodes)
{
	if (job_is_fraction(r->job) || spread == SPREAD_PLACER)
		return run_placed(rations, r, gpus);
	if (spread == SPREAD_EVEN && run_evenly(rations, r, gpus, nodes))
		return true;
	return run_on_freest(rations, r, gpus, nodes) || run_placed(rations, r, gpus);
}

/* Cuts it down until it fits; a fixed gang fits or does not. */
static bool settle_one(struct rations *rations, struct ration *r, enum spread spread,
	struct freest *nodes)
{
	uint32_t room = plan_room(rations->plan, r->job, r->type);

	for (uint32_t gpus = r->gpus < room ? r->gpus : room; gpus >= r->least && gpus > 0; gpus--) {
		if (run_spread(rations, r, gpus, spread, nodes)) {
			ration_set(rations, r, gpus);
			return true;
		}
	}
	ration_set(rations, r, 0);
	return false;
}

static bool keeps(const struct rations *rations, const struct ration *r)
{
	const struct grant *grant = plan_grant(rations->plan, r->job->id);

	return grant && r->gpus > 0 && grant->gpus == r->gpus && grant->type == r->type &&
		!grant->mixed;
}

struct turn {
	double weight;
	uint32_t row;
};

static int by_weight(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void tell(struct rations *rations, const struct ration *r)
{
	const struct job *job = r->job;
	struct reason reason = { .why = WHY_BUSY, .need = job->min_gpus, .other = JOB_NONE };
	int32_t up = 0;

	for (uint32_t type = 0; type < rations->round->cluster->ntypes; type++) {
		int32_t need = (int32_t)job_least_on(job, type);
		int32_t have = (int32_t)plan_room(rations->plan, job, type);

		if (!job_may_use(job, type))
			continue;
		if ((int32_t)rations->plan->space.types[type].up - need >= up - reason.need)
			up = (int32_t)rations->plan->space.types[type].up;
		if (have - need > reason.have - reason.need) {
			reason.have = have;
			reason.need = need;
		}
	}
	if (reason.have >= reason.need)
		reason.why = WHY_FRAGMENTED;
	if (up < reason.need) {
		reason.why = WHY_DOWN;
		reason.have = up;
	}
	plan_why(rations->plan, job->id, reason);
}

/* Those who were left out take what nobody could use. */
static void fill_up(struct rations *rations)
{
	for (uint32_t i = 0; i < rations->n; i++) {
		const struct job *job = rations->at[i].job;

		if (!kit_any_free(rations->round, rations->plan))
			return;
		if (plan_grant(rations->plan, job->id))
			continue;
		if (job->gpus_by_type || job_is_fraction(job))
			kit_run(rations->round, rations->plan, job);
		else
			kit_run_on(rations->round, rations->plan, job, (uint32_t)job->min_gpus);
	}
}

void rations_settle(struct rations *rations, enum spread spread, bool strict)
{
	const struct round *round = rations->round;
	struct turn *turns = arena_array(round->scratch, struct turn, rations->n);
	struct freest nodes = { .at = arena_array(round->scratch, struct node_share,
					round->cluster->nnodes) };
	uint32_t n = 0;

	for (uint32_t i = 0; i < rations->n; i++) {
		struct ration *r = &rations->at[i];

		if (keeps(rations, r))
			continue;
		plan_stop(rations->plan, r->job);
		if (r->gpus > 0)
			turns[n++] = (struct turn){ ration_weight(r, r->gpus), i };
	}
	qsort(turns, n, sizeof(*turns), by_weight);
	for (uint32_t i = 0; i < n; i++)
		settle_one(rations, &rations->at[turns[i].row], spread, &nodes);
	if (!strict)
		fill_up(rations);
	for (uint32_t i = 0; i < rations->n; i++) {
		if (!plan_grant(rations->plan, rations->at[i].job->id))
			tell(rations, &rations->at[i]);
	}
}
