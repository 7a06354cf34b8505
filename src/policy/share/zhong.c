/*
 * Nodes by the hour: tasks packed tightly, nodes rented for those that wait and given
 * back when what runs there fits elsewhere.
 *
 * Waiting jobs go, the largest first, to the node where they leave least, those whose
 * nodes may be wanted back (spot) apart from the others.  Every period, if somebody has
 * waited too long, the flavour that is cheapest for what it takes of all who wait is
 * rented, beyond what is booting already.  In periods without that, nodes that are
 * little used are emptied, all their jobs moving to others, and go back, as idle ones do.
 * Nodes go at the end of the time that is paid for: before it nothing would be saved.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/share/zhong.h"

static const char *const packing_names[] = { "tight", "spread", NULL };

static const struct option options[] = {
	OPT_DOUBLE(struct zhong, round_s, 60, 1, 1e6,
		"seconds between looks at what to rent and give back"),
	OPT_DOUBLE(struct zhong, wait_s, 60, 0, 1e9, "rent nodes for a job that has waited this long"),
	OPT_DOUBLE(struct zhong, threshold, 0.3, 0, 1, "nodes that are less used are emptied"),
	OPT_DOUBLE(struct zhong, cool_down, 2, 0, 1e6, "periods after renting in which none is emptied"),
	OPT_CHOICE(struct zhong, pack, PACK_TIGHT, packing_names,
		"where jobs go: where they leave least, or where there is most room"),
	OPT_BOOL(struct zhong, reschedule, 1, "move jobs to empty nodes that are little used"),
	OPT_BOOL(struct zhong, apart, 1,
		"guaranteed jobs on nodes that stay, opportunistic ones on spot nodes"),
	{ 0 },
};

/* ---- giving back */

/* The largest part that anybody asks for of it counts. */
static double used_of(const struct zhong_round *d, uint32_t node)
{
	struct amount all = zhong_all_of(d->round->cluster, node), free = zhong_free_of(d->plan, node);
	double most = 0;

	for (int i = 0; i < RESOURCE_KINDS; i++)
		most = all.of[i] > 0 ? fmax(most, 1 - free.of[i] / all.of[i]) : most;
	return most;
}

/* The jobs of the node go elsewhere, all of them, or none moves. */
static bool empty_node(struct zhong_round *d, uint32_t node)
{
	const struct space_node *there = &d->plan->space.nodes[node];
	uint32_t n = (uint32_t)there->users.n, moved = 0;
	uint32_t *jobs = arena_array(d->round->scratch, uint32_t, n + 1);

	for (uint32_t i = 0; i < n; i++)
		jobs[i] = there->users.at[i].job;
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &d->round->jobs[jobs[i]];
		const struct grant *grant = plan_grant(d->plan, jobs[i]);

		if (job->stays || job_is_fraction(job) || grant->nslots > 1)
			return false;
	}
	for (; moved < n; moved++) {
		const struct job *job = &d->round->jobs[jobs[moved]];
		uint32_t to = zhong_best_node(d, job, node);

		if (to == UINT32_MAX || !zhong_put(d, job, to))
			break;
	}
	if (moved == n) {
		d->z->moved += n;
		return true;
	}
	while (moved-- > 0) { /* back to the very devices they hold */
		const struct job *job = &d->round->jobs[jobs[moved]];

		plan_run_upon(d->plan, job, job->grant->slots, job->grant->nslots,
			(struct want){ .share = job->grant->share });
	}
	return false;
}

/* Nodes stay while they are paid for, if another look comes before the end of that. */
static bool is_paid_on(const struct zhong_round *d, uint32_t node)
{
	double period_s = d->round->cluster->renting.period_s;
	double held_s = d->round->now_s - d->z->nodes.at[node].since_s;

	if (!(period_s > 0))
		return false;
	return ceil(held_s / period_s - 1e-9) * period_s - held_s >= d->z->round_s - 1e-9;
}

static void give_back(struct zhong_round *d, uint32_t node)
{
	plan_rent(d->plan, node, false);
	d->leaving[node] = true;
	d->z->nodes.at[node] = (struct tenure){ 0 };
	d->z->returned++;
}

struct use {
	double used;
	uint32_t node;
};

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The least used first. */
static void scale_in(struct zhong_round *d)
{
	uint32_t nnodes = d->round->cluster->nnodes, n = 0;
	struct use *uses = arena_array(d->round->scratch, struct use, nnodes + 1);
	bool calm = d->round->now_s - d->z->scaled_s > d->z->cool_down * d->z->round_s - 1e-9;

	for (uint32_t i = 0; i < nnodes; i++) {
		if (d->z->nodes.at[i].rented && d->plan->space.nodes[i].up)
			uses[n++] = (struct use){ used_of(d, i), i };
	}
	qsort(uses, n, sizeof(*uses), by_use);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = uses[i].node;
		bool idle = d->plan->space.nodes[node].users.n == 0;

		if (is_paid_on(d, node))
			continue;
		if (idle)
			give_back(d, node);
		if (idle || !calm || !d->z->reschedule || !(used_of(d, node) < d->z->threshold))
			continue;
		d->leaving[node] = true;
		if (empty_node(d, node))
			give_back(d, node);
		else
			d->leaving[node] = false;
	}
}

/* ---- */

static void begin(struct zhong_round *d)
{
	struct zhong *z = d->z;

	vec_grow_zero(&z->nodes, d->round->cluster->nnodes);
	if (!z->begun)
		z->looked_s = z->scaled_s = -INFINITY;
	z->begun = true;
	d->leaving = arena_array(d->round->scratch, bool, d->round->cluster->nnodes + 1);
	for (uint32_t i = 0; i < d->round->cluster->nnodes; i++) {
		z->nodes.at[i].booting &= !d->plan->space.nodes[i].up;
		d->spots |= z->apart && d->round->cluster->nodes[i].spot;
	}
}

static int zhong_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct zhong_round d = { .z = self, .round = round, .plan = plan };
	bool due;

	(void)err;
	begin(&d);
	zhong_pack(&d);
	due = round->now_s >= d.z->looked_s + d.z->round_s - 1e-9;
	if (due) {
		d.z->looked_s = round->now_s;
		if (!zhong_scale_out(&d))
			scale_in(&d);
	}
	if (round->nactive > 0)
		plan_wake(plan, d.z->looked_s + d.z->round_s);
	return 0;
}

static void zhong_fini(void *self)
{
	vec_fini(&((struct zhong *)self)->nodes);
}

static uint32_t zhong_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct zhong *z = self;

	out[0] = (struct figure){ "nodes_rented", (double)z->rented };
	out[1] = (struct figure){ "nodes_returned", (double)z->returned };
	out[2] = (struct figure){ "jobs_moved", (double)z->moved };
	return 3;
}

const struct policy policy_zhong = {
	.name = "zhong",
	.summary = "tight packing on nodes by the hour: rents the cheapest for who waits, empties and returns others",
	.origin = "Zhong and Buyya, TOIT 2020",
	.family = "share",
	.traits = POLICY_PREEMPTS | POLICY_RENTS,
	.options = options,
	.state_size = sizeof(struct zhong),
	.fini = zhong_fini,
	.figures = zhong_figures,
	.simulated_for = "a cloud to rent nodes from, which no driver of Stint speaks with",
	.decide = zhong_decide,
};
