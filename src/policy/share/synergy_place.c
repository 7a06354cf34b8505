/*
 * Synergy's tuning: a job gets what is best for it where that is free, else its
 * proportional part, for which others give up what they have beyond theirs.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/share/synergy.h"

static const double slack = 1e-9; /* parts that add up to a whole shall fit it */

/* ---- what jobs need */

struct host_share node_fair(const struct node *node)
{
	return (struct host_share){ node->cpus / node->devices,
		floor((double)node->mem_bytes / node->devices) };
}

static double least_said(double a, double b)
{
	return a > 0 && (a < b || !(b > 0)) ? a : b;
}

static void cluster_fair(const struct cluster *cluster, struct host_share by_type[TYPES_MAX])
{
	memset(by_type, 0, sizeof(*by_type) * TYPES_MAX);
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		struct host_share fair = node_fair(&cluster->nodes[i]);
		struct host_share *least = &by_type[cluster->nodes[i].type];

		least->cpus = least_said(fair.cpus, least->cpus);
		least->mem_bytes = least_said(fair.mem_bytes, least->mem_bytes);
	}
}

void sharing_measure(struct sharing *s)
{
	const struct cluster *cluster = s->round->cluster;

	cluster_fair(cluster, s->fair);
	s->largest = arena_alloc(s->round->scratch, sizeof(*s->largest) * (cluster->ntypes + 1u));
	memset(s->largest, 0, sizeof(*s->largest) * (cluster->ntypes + 1u));
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		for (uint32_t gpus = 1; gpus <= node->devices; gpus++) {
			struct host_share *most = &s->largest[node->type][gpus];

			most->cpus = fmax(most->cpus, node->cpus);
			most->mem_bytes = fmax(most->mem_bytes, (double)node->mem_bytes);
		}
	}
}

/* What each device could have at most if the job had a server to itself. */
static struct host_share server_limit(const struct need *need, const struct sharing *s)
{
	struct host_share most = { 0, 0 };

	if (need->gpus <= NODE_DEVICES_MAX)
		most = s->largest[need->type][need->gpus];
	return (struct host_share){ most.cpus / need->gpus, most.mem_bytes / need->gpus };
}

/* Tables know no parts that nobody speaks of: there is enough of these. */
static struct host_share spoken(struct host_share share)
{
	return (struct host_share){ share.cpus > 0 ? share.cpus : INFINITY,
		share.mem_bytes > 0 ? share.mem_bytes : INFINITY };
}

double need_speed(const struct need *need, struct host_share share)
{
	if (!need->table || (!(share.cpus > 0) && !(share.mem_bytes > 0)))
		return 1;
	return host_table_speed(need->table, spoken(share));
}

void need_demand(struct need *need, const struct sharing *s)
{
	struct host_share fair = s->fair[need->type], most = server_limit(need, s);
	const struct job *job = need->job;

	need->best = fair;
	need->most = most.cpus > 0 || most.mem_bytes > 0 ? spoken(most) : fair;
	if (!need->table) {
		need->rigid = job->cpus > 0 || job->mem_bytes > 0;
		if (job->cpus > 0)
			need->best.cpus = job->cpus / need->gpus;
		if (job->mem_bytes > 0)
			need->best.mem_bytes = (double)(job->mem_bytes / need->gpus);
		return;
	}
	if (s->allocate == ALLOCATE_FAIR || (!(fair.cpus > 0) && !(fair.mem_bytes > 0)) ||
		(!(most.cpus > 0) && !(most.mem_bytes > 0)))
		return;
	need->best = host_table_best(need->table, spoken(fair), need->most, 0);
	if (!(fair.cpus > 0))
		need->best.cpus = 0;
	if (!(fair.mem_bytes > 0))
		need->best.mem_bytes = 0;
}

static bool exceeds(struct host_share a, struct host_share b)
{
	return (b.cpus > 0 && a.cpus > b.cpus + slack) ||
		(b.mem_bytes > 0 && a.mem_bytes > b.mem_bytes);
}

struct host_share need_fallback(const struct need *need, struct host_share fair)
{
	return !need->rigid && exceeds(need->best, fair) ? fair : need->best;
}

/* ---- places */

/* How many devices of a node can be had with so much for each, up to `want`. */
static uint32_t room_on(const struct sharing *s, uint32_t node, uint32_t want, struct host_share share)
{
	const struct space_node *n = &s->plan->space.nodes[node];
	const struct node *facts = &s->round->cluster->nodes[node];
	uint32_t room = n->nfree < want ? n->nfree : want;

	if (!n->up)
		return 0;
	if (facts->cpus > 0 && share.cpus > 0)
		room = (uint32_t)fmin(room, floor(fmax(0, n->cpus + slack) / share.cpus));
	if (facts->mem_bytes > 0 && share.mem_bytes > 0)
		room = (uint32_t)fmin(room, floor(fmax(0, (double)n->mem_bytes) / share.mem_bytes));
	return room;
}

/* Steps that it is believed to make in the turn, whole ones if there are any. */
static double turn_steps(const struct sharing *s, const struct need *need, struct host_share share)
{
	const struct rates *belief = s->round->belief;
	double fair_speed = need_speed(need, s->fair[need->type]);
	double step_s = need->table && need->job->by_steps && need->table->step_s > 0
		? need->table->step_s
		: fair_speed / rate_if(belief, need->job, need->type, need->gpus);
	double steps = s->round_s / (step_s / need_speed(need, share));

	return steps >= 1 ? floor(steps) : steps;
}

static bool run_at(struct sharing *s, struct need *need, const struct node_share *at, uint32_t n,
	struct host_share share, bool move)
{
	struct want want = {
		.type = (int)need->type,
		.cpus = share.cpus * need->gpus,
		.mem_bytes = (int64_t)share.mem_bytes * need->gpus,
		.move = move,
	};

	/* The published simulator knows no failures: whoever met one need not last for a whole turn. */
	if (s->turns && need->job->failures == 0) {
		want.until_s = s->round->now_s + s->round_s;
		want.steps = turn_steps(s, need, share);
	}
	if (!plan_run_at(s->plan, need->job, at, n, want))
		return false;
	need->placed = ++s->placings;
	need->at_best = share.cpus == need->best.cpus && share.mem_bytes == need->best.mem_bytes;
	return true;
}

static bool put(struct sharing *s, struct need *need, struct host_share share)
{
	return run_at(s, need, s->where, s->nwhere, share, false);
}

/* What it gets of a node: its best, or what it falls back to there. */
static struct host_share share_on(const struct sharing *s, const struct need *need, uint32_t node,
	bool fallback)
{
	return fallback ? need_fallback(need, node_fair(&s->round->cluster->nodes[node])) : need->best;
}

/* All of it on one node, those with the fewest free devices first. */
static bool place_on_one(struct sharing *s, struct need *need, bool fallback)
{
	const struct space *space = &s->plan->space;

	for (uint32_t f = need->gpus; f <= space->types[need->type].max; f++) {
		uint32_t at = 0, node;

		while ((node = space_next(space, need->type, f, &at)) != UINT32_MAX) {
			struct host_share share = share_on(s, need, node, fallback);

			if (room_on(s, node, need->gpus, share) < need->gpus)
				continue;
			s->where[0] = (struct node_share){ node, need->gpus };
			s->nwhere = 1;
			if (put(s, need, share))
				return true;
			if (s->plan->refused == need->job->id)
				return false; /* by the rule of placement or a quota: for any node */
		}
	}
	return false;
}

/* Takes what can be had of a node; returns what is left to be found. */
static uint32_t add_node(struct sharing *s, uint32_t node, uint32_t left, struct host_share share)
{
	uint32_t room = room_on(s, node, left, share);

	if (room > 0)
		s->where[s->nwhere++] = (struct node_share){ node, room };
	return left - room;
}

/* Device by device: nodes in order of number, or those with the fewest free devices first. */
static bool place_split(struct sharing *s, struct need *need, bool fallback)
{
	const struct space *space = &s->plan->space;
	const struct space_type *type = &space->types[need->type];
	struct host_share share = need->best;
	uint32_t left = need->gpus;

	if (fallback)
		share = need_fallback(need, s->fair[need->type]);
	s->nwhere = 0;
	for (uint32_t i = 0; s->code_split && left > 0 && i < type->nnodes; i++)
		left = add_node(s, type->nodes[i], left, share);
	for (uint32_t f = 1; !s->code_split && left > 0 && f <= type->max; f++) {
		uint32_t at = 0, node;

		while (left > 0 && (node = space_next(space, need->type, f, &at)) != UINT32_MAX)
			left = add_node(s, node, left, share);
	}
	return left == 0 && put(s, need, share);
}

static bool place_with(struct sharing *s, struct need *need, bool fallback)
{
	if (!s->code_split && place_on_one(s, need, fallback))
		return true;
	return place_split(s, need, fallback);
}

/* ---- taking back */

/* Nodes with enough free devices: one if there is such, else those with the fewest first. */
static bool choose_nodes(struct sharing *s, const struct need *need)
{
	const struct space *space = &s->plan->space;
	const struct space_type *type = &space->types[need->type];
	uint32_t left = need->gpus;

	s->nwhere = 0;
	/* The published code takes the first of those, not the fullest, for a gang. */
	for (uint32_t i = 0; s->code_split && need->gpus > 1 && i < type->nnodes; i++) {
		if (room_on(s, type->nodes[i], left, (struct host_share){ 0, 0 }) == left) {
			s->where[s->nwhere++] = (struct node_share){ type->nodes[i], left };
			return true;
		}
	}
	for (uint32_t f = need->gpus; f <= type->max; f++) {
		uint32_t at = 0, node = space_next(space, need->type, f, &at);

		if (node != UINT32_MAX) {
			s->where[s->nwhere++] = (struct node_share){ node, left };
			return true;
		}
	}
	for (uint32_t f = 1; left > 0 && f <= type->max; f++) {
		uint32_t at = 0, node;

		while (left > 0 && (node = space_next(space, need->type, f, &at)) != UINT32_MAX)
			left = add_node(s, node, left, (struct host_share){ 0, 0 });
	}
	return left == 0;
}

/* Who gives up first: jobs on one node, then those with most CPUs, then with most memory for each device. */
static int by_excess(const void *a, const void *b)
{
	const struct need *x = *(struct need *const *)a, *y = *(struct need *const *)b;
	struct host_share p = x->best, q = y->best; /* only those who have their best are asked */

	if (p.cpus != q.cpus)
		return p.cpus > q.cpus ? -1 : 1;
	if (p.mem_bytes != q.mem_bytes)
		return p.mem_bytes > q.mem_bytes ? -1 : 1;
	return x->placed < y->placed ? -1 : x->placed > y->placed;
}

/* Those on a node who have more of something than their part; returns how many, single-node jobs first. */
static uint32_t list_rich(struct sharing *s, uint32_t node, struct need ***out)
{
	const struct space_node *n = &s->plan->space.nodes[node];
	struct host_share fair = node_fair(&s->round->cluster->nodes[node]);
	struct need **list = arena_array(s->round->scratch, struct need *, n->users.n + 1);
	uint32_t single = 0, all = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n->users.n; i++) {
			struct need *peer = s->of_job[n->users.at[i].job];
			bool split = peer && plan_grant(s->plan, peer->job->id)->nslots > 1;

			if (peer && split == (pass == 1) && peer->at_best && !peer->rigid &&
				exceeds(peer->best, fair))
				list[all++] = peer;
		}
		single = pass == 0 ? all : single;
	}
	qsort(list, single, sizeof(*list), by_excess);
	qsort(list + single, all - single, sizeof(*list), by_excess);
	*out = list;
	return all;
}

/* Stays where the plan has it, with its proportional part. */
static bool cut_down(struct sharing *s, struct need *peer)
{
	const struct grant *grant = plan_grant(s->plan, peer->job->id);
	struct node_share *at = arena_array(s->round->scratch, struct node_share, grant->nslots);
	struct host_share fair = s->fair[peer->type];
	uint32_t n = grant->nslots, placed = peer->placed;
	bool done;

	for (uint32_t i = 0; i < n; i++)
		at[i] = (struct node_share){ grant->slots[i].node,
			(uint32_t)__builtin_popcountll(grant->slots[i].devices) };
	if (n == 1)
		fair = node_fair(&s->round->cluster->nodes[at[0].node]);
	done = run_at(s, peer, at, n, need_fallback(peer, fair), false);
	peer->placed = placed;
	return done;
}

/* Makes room on a node for devices with so much for each. */
static bool make_room(struct sharing *s, struct node_share where, struct host_share share)
{
	struct need **rich;
	uint32_t n = list_rich(s, where.node, &rich), i = 0;

	while (room_on(s, where.node, where.gpus, share) < where.gpus) {
		if (i == n)
			return false;
		cut_down(s, rich[i++]);
	}
	return true;
}

static bool place_by_cutting(struct sharing *s, struct need *need)
{
	struct host_share share;
	struct node_share *where;
	uint32_t n;

	if (!choose_nodes(s, need))
		return false;
	n = s->nwhere;
	where = arena_array(s->round->scratch, struct node_share, n);
	memcpy(where, s->where, n * sizeof(*where));
	share = need_fallback(need,
		n == 1 ? node_fair(&s->round->cluster->nodes[where[0].node]) : s->fair[need->type]);
	for (uint32_t i = 0; i < n; i++) {
		if (!make_room(s, where[i], share))
			return false;
	}
	/* What was taken back may also lie elsewhere than where it was looked for. */
	return s->code_split ? place_with(s, need, true) : run_at(s, need, where, n, share, false);
}

/* ---- for the policy */

bool sharing_place(struct sharing *s, struct need *need)
{
	bool tunes = s->allocate != ALLOCATE_GREEDY && !need->rigid;

	if (place_with(s, need, false))
		return true;
	if (s->allocate == ALLOCATE_GREEDY)
		return false;
	return (tunes && place_with(s, need, true)) || place_by_cutting(s, need);
}

void sharing_put_on(struct sharing *s, struct need *need, uint32_t node)
{
	s->where[0] = (struct node_share){ node, need->gpus };
	s->nwhere = 1;
	if (room_on(s, node, need->gpus, need->best) == need->gpus)
		put(s, need, need->best);
}

/* The nodes it runs on now into s->where. */
static bool find_held(struct sharing *s, const struct need *need)
{
	const struct grant *held = need->job->grant;

	if (!held || held->mixed || held->gpus != need->gpus || held->type != need->type)
		return false;
	s->nwhere = held->nslots;
	for (uint32_t i = 0; i < held->nslots; i++)
		s->where[i] = (struct node_share){ held->slots[i].node,
			(uint32_t)__builtin_popcountll(held->slots[i].devices) };
	return true;
}

bool sharing_keep(struct sharing *s, struct need *need)
{
	struct host_share fair;

	if (!find_held(s, need))
		return false;
	fair = s->nwhere == 1 ? node_fair(&s->round->cluster->nodes[s->where[0].node])
			      : s->fair[need->type];
	return put(s, need, s->allocate == ALLOCATE_GREEDY ? need->best : need_fallback(need, fair));
}

void sharing_raise(struct sharing *s, struct need *need)
{
	if (!need->at_best && find_held(s, need))
		put(s, need, need->best);
}
