/*
 * Resource pooling: a job's process and its devices are chosen separately.
 *
 * Jobs start in order of arrival, later ones may pass.  Each goes where a step takes
 * least time: on devices of the node that has its CPUs and memory, else on devices of
 * another node of the rack, else of another rack, reached over the network
 * (model/pooling.h).  Gangs are gathered from as few servers as can be.  Remote devices
 * are taken if the tax is bearable or the wait has been long; between equals the node
 * that is left with the fewest free devices is taken, or the slice that leaves least of
 * its device.
 *
 * Everybody who is remote has a max-min fair share of the links, anew whenever anybody
 * comes or goes.  From time to time remote jobs move home if that pays.
 */
#include <math.h>

#include "model/pooling.h"
#include "policy/kit.h"
#include "policy/share/links.h"

struct pool {
	double tax_max, patience_s, fragmentation, rebalance_s;
	bool remote;

	double balanced_s;
	uint64_t started_remote, moved_home;
};

static const struct option options[] = {
	OPT_BOOL(struct pool, remote, 1,
		"use devices of other nodes; 0: jobs run where their devices are"),
	OPT_DOUBLE(struct pool, tax_max, 0.2, 0, 1e6,
		"how much longer a step may take on remote devices, as a part"),
	OPT_DOUBLE(struct pool, patience_s, 600, 0, 1e9,
		"after waiting this long a job accepts any slowdown by remote devices"),
	OPT_DOUBLE(struct pool, fragmentation, 0.1, 0, 1e3,
		"what the rest of a device that a slice leaves counts for"),
	OPT_DOUBLE(struct pool, rebalance_s, 600, 0, 1e9,
		"seconds between looks for remote jobs that could move home; 0: never"),
	{ 0 },
};

struct pool_round {
	struct pool *p;
	const struct round *round;
	struct plan *plan;
	struct links links;
};

enum tier { TIER_HOST, TIER_RACK, TIER_ELSEWHERE };

/* Somewhere to run. */
struct offer {
	double cost, tax;
	uint32_t rest; /* free devices left on the node */
	enum tier tier;
	uint32_t host; /* as in struct grant */
	uint32_t nslots;
	struct slot *slots;
};

static bool better(const struct offer *a, const struct offer *b)
{
	if (!b->nslots)
		return true;
	if (fabs(a->cost - b->cost) > 1e-12)
		return a->cost < b->cost;
	if (a->rest != b->rest)
		return a->rest < b->rest;
	return a->tier < b->tier;
}

/* ---- hosts */

static enum tier tier_of(const struct cluster *cluster, uint32_t host, uint32_t node)
{
	if (host == node)
		return TIER_HOST;
	return cluster->nodes[host].rack == cluster->nodes[node].rack ? TIER_RACK : TIER_ELSEWHERE;
}

static double cpus_left(const struct pool_round *d, uint32_t node)
{
	return d->round->cluster->nodes[node].cpus > 0 ? d->plan->space.nodes[node].cpus : INFINITY;
}

/* The worst of the links to all of these devices, each of which gets as much; and how far they are. */
static void rate_host(const struct pool_round *d, const struct job *job, uint32_t host,
	struct offer *offer)
{
	uint32_t gpus = 0;
	double least = INFINITY;

	offer->tier = TIER_HOST;
	for (uint32_t i = 0; i < offer->nslots; i++)
		gpus += (uint32_t)__builtin_popcountll(offer->slots[i].devices);
	for (uint32_t i = 0; i < offer->nslots; i++) {
		enum tier tier = tier_of(d->round->cluster, host, offer->slots[i].node);
		double Bps = links_offer(&d->links, host, offer->slots[i].node, gpus);

		offer->tier = tier > offer->tier ? tier : offer->tier;
		least = Bps > 0 ? fmin(least, Bps) : least;
	}
	offer->host = offer->tier == TIER_HOST ? 0 : host + 1;
	offer->tax = offer->tier == TIER_HOST
		? 0
		: fmax(0, pooling_tax_of(d->round->cluster, job, isinf(least) ? 0 : least));
}

/* The host with the least tax, then the nearest, then the one that fits best.  False: nobody has CPUs and memory. */
static bool find_host(const struct pool_round *d, const struct job *job, struct offer *offer)
{
	struct offer best = { 0 };
	uint32_t at = 0;

	for (uint32_t node = 0; node < d->round->cluster->nnodes; node++) {
		struct offer here = *offer;

		if (!space_can_host(&d->plan->space, job, node))
			continue;
		rate_host(d, job, node, &here);
		if (!best.nslots || here.tax < best.tax ||
			(here.tax == best.tax &&
				(here.tier < best.tier ||
					(here.tier == best.tier &&
						cpus_left(d, node) < cpus_left(d, at)))))
			best = here, at = node;
	}
	if (best.nslots)
		*offer = best;
	return best.nslots > 0;
}

/* ---- devices */

static bool in_rack(const struct pool_round *d, uint32_t node, uint32_t rack)
{
	return rack == UINT32_MAX || d->round->cluster->nodes[node].rack == rack;
}

/* The fullest node of the rack that has all of them; among those that feed the job too if `fed`. */
static uint32_t single_node(const struct pool_round *d, const struct job *job,
	struct grant_part part, uint32_t rack, bool fed)
{
	const struct space *space = &d->plan->space;

	for (uint32_t nfree = part.gpus; nfree <= space->types[part.type].max; nfree++) {
		uint32_t at = 0, node;

		while ((node = space_next(space, part.type, nfree, &at)) != UINT32_MAX) {
			if (in_rack(d, node, rack) &&
				(!fed || space_feeds(space, job, part.gpus, node, part.gpus)))
				return node;
		}
	}
	return UINT32_MAX;
}

/* The node of the rack with all of them whose link has the fewest users; the fullest of these. */
static uint32_t calmest_node(const struct pool_round *d, struct grant_part part, uint32_t rack)
{
	const struct space *space = &d->plan->space;
	uint32_t best = UINT32_MAX;

	for (uint32_t nfree = part.gpus; nfree <= space->types[part.type].max; nfree++) {
		uint32_t at = 0, node;

		while ((node = space_next(space, part.type, nfree, &at)) != UINT32_MAX) {
			if (in_rack(d, node, rack) &&
				(best == UINT32_MAX || d->links.users[node] < d->links.users[best]))
				best = node;
		}
	}
	return best;
}

/* From as few nodes of the rack as can be: the largest first. */
static uint32_t gather(const struct pool_round *d, struct grant_part part, uint32_t rack,
	struct slot *slots)
{
	const struct space *space = &d->plan->space;
	uint32_t n = 0, left = part.gpus;

	for (uint32_t nfree = space->types[part.type].max; nfree > 0 && left > 0; nfree--) {
		uint32_t at = 0, node;

		while (left > 0 && (node = space_next(space, part.type, nfree, &at)) != UINT32_MAX) {
			uint32_t take = nfree < left ? nfree : left;

			if (!in_rack(d, node, rack))
				continue;
			slots[n++] = (struct slot){ node, space_lowest(space->nodes[node].free, take) };
			left -= take;
		}
	}
	return left == 0 ? n : 0;
}

/* Steps take so much longer than on the job's own packed devices. */
static double step_cost(const struct pool_round *d, const struct job *job, uint32_t type,
	const struct offer *offer)
{
	struct shape shape = { .gpus = 0, .nodes = offer->nslots, .racks = 1 };
	double speed, packed;

	for (uint32_t i = 0; i < offer->nslots; i++)
		shape.gpus += (uint32_t)__builtin_popcountll(offer->slots[i].devices);
	speed = rate_in(d->round->belief, job, type, shape);
	packed = rate_if(d->round->belief, job, type, shape.gpus);
	return (1 + offer->tax) * (speed > 0 && packed > 0 ? packed / speed : 1);
}

static struct offer new_offer(const struct pool_round *d, uint32_t gpus)
{
	return (struct offer){ .slots = arena_array(d->round->scratch, struct slot, gpus) };
}

static void consider(const struct pool_round *d, const struct job *job, uint32_t type,
	struct offer *offer, struct offer *best)
{
	const struct slot *last = &offer->slots[offer->nslots - 1];

	offer->rest = d->plan->space.nodes[last->node].nfree -
		(uint32_t)__builtin_popcountll(last->devices);
	offer->cost = step_cost(d, job, type, offer);
	if (better(offer, best))
		*best = *offer;
}

/* On the node that has its CPUs and memory too. */
static void offer_home(const struct pool_round *d, const struct job *job, struct grant_part part,
	struct offer *best)
{
	uint32_t node = single_node(d, job, part, UINT32_MAX, true);
	struct offer offer = new_offer(d, 1);

	if (node == UINT32_MAX)
		return;
	offer.slots[offer.nslots++] = (struct slot){ node,
		space_lowest(d->plan->space.nodes[node].free, part.gpus) };
	consider(d, job, part.type, &offer, best);
}

static void offer_server(const struct pool_round *d, const struct job *job, struct grant_part part,
	uint32_t node, struct offer *best)
{
	struct offer offer = new_offer(d, 1);

	offer.slots[offer.nslots++] = (struct slot){ node,
		space_lowest(d->plan->space.nodes[node].free, part.gpus) };
	if (find_host(d, job, &offer))
		consider(d, job, part.type, &offer, best);
}

/* On devices of one rack, or of any (UINT32_MAX), wherever there is a host. */
static void offer_remote(const struct pool_round *d, const struct job *job, struct grant_part part,
	uint32_t rack, struct offer *best)
{
	uint32_t node = single_node(d, job, part, rack, false), calm;
	struct offer offer = { 0 };

	if (node != UINT32_MAX) {
		offer_server(d, job, part, node, best);
		calm = calmest_node(d, part, rack);
		if (calm != node)
			offer_server(d, job, part, calm, best);
		return;
	}
	offer = new_offer(d, part.gpus);
	offer.nslots = gather(d, part, rack, offer.slots);
	if (offer.nslots && find_host(d, job, &offer))
		consider(d, job, part.type, &offer, best);
}

/* ---- who runs */

/* Whether the tax is bearable, or it has waited long enough; else it waits for something closer. */
static bool accepts(const struct pool_round *d, const struct job *job, const struct offer *offer)
{
	double until_s = job->wait_since_s + d->p->patience_s;

	if (offer->tax <= d->p->tax_max + 1e-9 || d->round->now_s >= until_s)
		return true;
	plan_wake(d->plan, until_s);
	plan_why(d->plan, job->id,
		(struct reason){ .why = WHY_CLOSER, .need = job->gpus, .other = JOB_NONE, .at_s = until_s });
	return false;
}

static bool take_offer(struct pool_round *d, const struct job *job, const struct offer *offer)
{
	struct want want = { .share = 1, .host = offer->host };

	if (!accepts(d, job, offer) || !plan_run_upon(d->plan, job, offer->slots, offer->nslots, want))
		return false;
	links_count(&d->links, plan_grant(d->plan, job->id), 1);
	d->p->started_remote += offer->tier > TIER_HOST;
	return true;
}

/* Whole devices of one type. */
static bool run_whole(struct pool_round *d, const struct job *job, uint32_t type)
{
	struct grant_part part = { type, job_gpus_on(job, type) };
	struct offer best = { 0 };

	if (plan_free(d->plan, type) < part.gpus)
		return false;
	offer_home(d, job, part, &best);
	for (uint32_t rack = 0; rack < d->round->cluster->nracks; rack++)
		offer_remote(d, job, part, rack, &best);
	if (!best.nslots || best.tier == TIER_ELSEWHERE)
		offer_remote(d, job, part, UINT32_MAX, &best);
	/* With a part of it on each node the network carries gradients only. */
	if ((!best.nslots || best.nslots > 1) &&
		plan_run(d->plan, job, (struct want){ .type = (int)type }))
		return true;
	return best.nslots && take_offer(d, job, &best);
}

/* What a slice leaves of its devices, on average. */
static double left_over(const struct pool_round *d, const struct grant *grant)
{
	double left = 0;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		const struct space_node *node = &d->plan->space.nodes[grant->slots[i].node];

		for (uint64_t on = grant->slots[i].devices; on; on &= on - 1)
			left += 1 - (double)node->parts[__builtin_ctzll(on)].share / SHARE_WHOLE;
	}
	return left / grant->gpus;
}

/* Seats as the plan finds them: the fullest devices with room for compute and memory of the slice. */
static bool run_slice(struct pool_round *d, const struct job *job, uint32_t type)
{
	struct want want = { .type = (int)type };
	double home = INFINITY;
	struct offer offer = { 0 };
	const struct grant *grant;

	if (plan_run(d->plan, job, want)) {
		home = 1 + d->p->fragmentation * left_over(d, plan_grant(d->plan, job->id));
		plan_stop(d->plan, job);
	}
	for (uint32_t node = 0; d->p->remote && node < d->round->cluster->nnodes && !want.host; node++)
		want.host = space_can_host(&d->plan->space, job, node) ? node + 1 : 0;
	if (want.host && plan_run(d->plan, job, want)) {
		grant = plan_grant(d->plan, job->id);
		offer.nslots = grant->nslots;
		offer.slots = arena_array(d->round->scratch, struct slot, grant->nslots);
		memcpy(offer.slots, grant->slots, sizeof(*offer.slots) * grant->nslots);
		offer.cost = 1 + d->p->fragmentation * left_over(d, grant);
		plan_stop(d->plan, job);
		if (find_host(d, job, &offer) && offer.cost * (1 + offer.tax) < home - 1e-12 &&
			take_offer(d, job, &offer))
			return true;
	}
	want.host = 0;
	return isfinite(home) && plan_run(d->plan, job, want);
}

/* Gangs that must lie in a way of their own stay with their processes. */
static bool is_plain(const struct round *round, const struct job *job)
{
	return !job->nodes && !job->units && !round->cluster->even;
}

static bool start(struct pool_round *d, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(d->round, job, types);

	if (!is_plain(d->round, job) || (!d->p->remote && !job_is_fraction(job)))
		return kit_run(d->round, d->plan, job);
	for (uint32_t i = 0; i < n; i++) {
		int64_t there = d->round->cluster->types[types[i]].mem_bytes;

		if (there > 0 && job->gpu_mem_bytes > there)
			continue;
		if (job_is_fraction(job) ? run_slice(d, job, types[i]) : run_whole(d, job, types[i]))
			return true;
	}
	return false;
}

static void run_waiting(struct pool_round *d)
{
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];

		if (job->state == JOB_PENDING && !plan_grant(d->plan, job->id) && !start(d, job))
			kit_no_room(d->round, d->plan, job);
	}
}

/* ---- moving home */

/* Seconds that a remote job would gain by going on beside its host, less what the move costs. */
static double gain_s(const struct pool_round *d, const struct job *job, const struct grant *grant)
{
	double tax = fmax(0, pooling_tax_of(d->round->cluster, job, grant->link_Bps));
	double left_s = fmax(0, job_remaining_s(job, d->round->now_s));

	return left_s * tax - job->resume_cost_s - d->round->cluster->pooling.detach_s;
}

static void rebalance(struct pool_round *d)
{
	double next_s = d->p->balanced_s + d->p->rebalance_s;
	bool remote = false;

	if (!(d->p->rebalance_s > 0))
		return;
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);
		struct offer home = { 0 };

		if (job->state != JOB_RUNNING || !grant || !grant_is_remote(grant) ||
			job_is_fraction(job))
			continue;
		remote = true;
		if (d->round->now_s < next_s || !(gain_s(d, job, grant) > 0))
			continue;
		offer_home(d, job, (struct grant_part){ grant->type, grant->gpus }, &home);
		if (!home.nslots)
			continue;
		links_count(&d->links, grant, -1);
		d->p->moved_home += plan_run_upon(d->plan, job, home.slots, home.nslots,
			(struct want){ .share = 1 });
		links_count(&d->links, plan_grant(d->plan, job->id), 1);
	}
	if (d->round->now_s >= next_s)
		d->p->balanced_s = d->round->now_s;
	if (remote)
		plan_wake(d->plan, d->p->balanced_s + d->p->rebalance_s);
}

static int pool_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct pool_round d = { .p = self, .round = round, .plan = plan };

	(void)err;
	links_make(&d.links, round, plan);
	rebalance(&d);
	run_waiting(&d);
	links_share(&d.links, plan);
	return 0;
}

static uint32_t pool_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct pool *p = self;

	out[0] = (struct figure){ "started_remote", (double)p->started_remote };
	out[1] = (struct figure){ "moved_home", (double)p->moved_home };
	return 2;
}

const struct policy policy_pool = {
	.name = "pool",
	.summary = "processes and devices chosen separately: devices of other nodes where their tax is bearable",
	.origin = "after LegoOS, OSDI 2018, rCUDA and Bitfusion",
	.family = "share",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES | POLICY_POOLS,
	.options = options,
	.state_size = sizeof(struct pool),
	.simulated_for = "devices of other machines over the network, which no driver of Stint attaches",
	.figures = pool_figures,
	.decide = pool_decide,
};
