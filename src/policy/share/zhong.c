/*
 * Nodes by the hour: tasks packed tightly, nodes rented for those that wait and given
 * back when what runs there fits elsewhere.
 *
 * Waiting jobs go, the largest first, to the node where they leave least, those whose
 * nodes may be wanted back (spot) apart from the others.  Every period, if somebody has
 * waited too long, the flavour that is cheapest for what it takes of all who wait is
 * rented, beyond what is booting already.  In periods without that, nodes that are
 * little used are emptied, all their jobs moving to others, and go back; idle ones go at
 * the end of the time that is paid for.
 */
#include <math.h>
#include <stdlib.h>

#include "model/renting.h"
#include "policy/kit.h"

enum packing { PACK_TIGHT, PACK_SPREAD };
static const char *const packing_names[] = { "tight", "spread", NULL };

struct tenure {
	bool rented, booting;
	double since_s; /* when it was asked for */
};

struct zhong {
	double round_s, wait_s, threshold, cool_down;
	int pack;
	bool reschedule, apart;

	VEC(struct tenure) nodes;
	bool begun;
	double looked_s, scaled_s; /* when it was last looked at, and nodes were last rented */
	uint64_t rented, returned, moved;
};

static const struct option options[] = {
	OPT_DOUBLE(struct zhong, round_s, 60, 1, 1e6,
		"seconds between looks at what to rent and give back"),
	OPT_DOUBLE(struct zhong, wait_s, 60, 0, 1e9, "who has waited so long has nodes rented for it"),
	OPT_DOUBLE(struct zhong, threshold, 0.3, 0, 1, "nodes that are less used are emptied"),
	OPT_DOUBLE(struct zhong, cool_down, 2, 0, 1e6, "periods after renting in which none is emptied"),
	OPT_CHOICE(struct zhong, pack, PACK_TIGHT, packing_names,
		"where jobs go: where they leave least, or where there is most room"),
	OPT_BOOL(struct zhong, reschedule, 1, "move jobs to empty nodes that are little used"),
	OPT_BOOL(struct zhong, apart, 1,
		"guaranteed jobs on nodes that stay, opportunistic ones on spot nodes"),
	{ 0 },
};

struct zhong_round {
	struct zhong *z;
	const struct round *round;
	struct plan *plan;
	bool *leaving; /* by node: it goes back in this round */
	bool spots;    /* some nodes may be wanted back */
};

/* ---- amounts */

static struct amount all_of(const struct cluster *cluster, uint32_t node)
{
	const struct node *n = &cluster->nodes[node];

	return (struct amount){ { n->devices, n->cpus, (double)n->mem_bytes } };
}

static struct amount free_of(const struct plan *plan, uint32_t node)
{
	const struct space_node *n = &plan->space.nodes[node];

	return (struct amount){ { n->nfree, n->cpus, (double)n->mem_bytes } };
}

static struct amount wanted_by(const struct job *job, uint32_t type)
{
	return (struct amount){ { job_gpus_on(job, type), job->cpus, (double)job->mem_bytes } };
}

/* The largest part that anybody asks for of it counts. */
static double used_of(const struct zhong_round *d, uint32_t node)
{
	struct amount all = all_of(d->round->cluster, node), free = free_of(d->plan, node);
	double most = 0;

	for (int i = 0; i < RESOURCE_KINDS; i++)
		most = all.of[i] > 0 ? fmax(most, 1 - free.of[i] / all.of[i]) : most;
	return most;
}

/* ---- packing */

static bool is_kind(const struct zhong_round *d, const struct job *job, uint32_t node)
{
	bool spot = d->round->cluster->nodes[node].spot;

	return !d->spots || spot == (job->class_ == JOB_OPPORTUNISTIC);
}

/* Whether it may go there; one that no node of its kind could ever take goes anywhere. */
static bool suits(const struct zhong_round *d, const struct job *job, uint32_t node, bool any)
{
	return job_may_use(job, d->round->cluster->nodes[node].type) && (any || is_kind(d, job, node));
}

/* Whether some node, of its kind unless `any`, could take it if it were empty. */
static bool has_node(const struct zhong_round *d, const struct job *job, bool any)
{
	const struct cluster *cluster = d->round->cluster;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		struct amount all = all_of(cluster, i), task = wanted_by(job, cluster->nodes[i].type);

		if (suits(d, job, i, any) && isfinite(renting_leftover(&all, &all, &task)))
			return true;
	}
	return false;
}

static bool homeless(const struct zhong_round *d, const struct job *job)
{
	return d->spots && !has_node(d, job, false);
}

/* Between equals the node that has been here longest. */
static bool older(const struct zhong *z, uint32_t a, uint32_t b)
{
	return z->nodes.at[a].since_s < z->nodes.at[b].since_s;
}

/* The node that the job leaves least of, or with spreading most; UINT32_MAX: none has room. */
static uint32_t best_node(const struct zhong_round *d, const struct job *job, uint32_t except)
{
	const struct cluster *cluster = d->round->cluster;
	uint32_t best = UINT32_MAX;
	double least = INFINITY;
	bool any = homeless(d, job);

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		struct amount all = all_of(cluster, i), free = free_of(d->plan, i),
			      task = wanted_by(job, cluster->nodes[i].type);
		double left;

		if (i == except || d->leaving[i] || !d->plan->space.nodes[i].up ||
			!suits(d, job, i, any))
			continue;
		left = renting_leftover(&free, &all, &task);
		if (isinf(left))
			continue;
		left = d->z->pack == PACK_SPREAD ? -left : left;
		if (best == UINT32_MAX || left < least - 1e-12 ||
			(left < least + 1e-12 && older(d->z, i, best))) {
			best = i;
			least = left;
		}
	}
	return best;
}

static bool put(struct zhong_round *d, const struct job *job, uint32_t node)
{
	uint32_t type = d->round->cluster->nodes[node].type;
	struct node_share at = { node, job_gpus_on(job, type) };

	return plan_run_at(d->plan, job, &at, 1, (struct want){ .move = true });
}

struct waiting {
	double size;
	uint32_t job;
};

static int by_size(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/* Those that wait, the largest first. */
static uint32_t line_up(const struct zhong_round *d, struct waiting **out)
{
	const struct round *round = d->round;
	struct waiting *line = arena_array(round->scratch, struct waiting, round->nactive + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		double size = 0;

		if (job->state != JOB_PENDING || plan_grant(d->plan, job->id))
			continue;
		for (uint32_t node = 0; node < round->cluster->nnodes; node++) {
			struct amount all = all_of(round->cluster, node),
				      task = wanted_by(job, round->cluster->nodes[node].type);

			if (node == 0 ||
				round->cluster->nodes[node].type != round->cluster->nodes[node - 1].type)
				size = fmax(size, renting_dominant(&all, &task));
		}
		line[n++] = (struct waiting){ size, job->id };
	}
	qsort(line, n, sizeof(*line), by_size);
	*out = line;
	return n;
}

/* Gangs that no node takes, and fractions, go where the placer finds room for them. */
static void pack(struct zhong_round *d)
{
	struct waiting *line;
	uint32_t n = line_up(d, &line);

	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &d->round->jobs[line[i].job];
		bool odd = job->nodes || job_is_fraction(job) || !has_node(d, job, true);
		uint32_t node = odd ? UINT32_MAX : best_node(d, job, UINT32_MAX);
		bool runs = odd ? kit_run(d->round, d->plan, job)
				: node != UINT32_MAX && put(d, job, node);

		if (!runs)
			kit_no_room(d->round, d->plan, job);
	}
}

/* ---- renting */

/* A kind of node that can be rented, and which of them are left. */
struct offer {
	struct flavour flavour;
	const struct node *like;
	uint32_t *nodes;
};

static bool alike(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->devices == b->devices && a->cpus == b->cpus &&
		a->mem_bytes == b->mem_bytes && a->price_per_h == b->price_per_h && a->spot == b->spot;
}

static uint32_t list_offers(const struct zhong_round *d, struct offer **out)
{
	const struct cluster *cluster = d->round->cluster;
	struct offer *offers = arena_array(d->round->scratch, struct offer, cluster->nnodes + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		uint32_t at = 0;

		if (!cluster->nodes[i].rentable || d->z->nodes.at[i].rented)
			continue;
		while (at < n && !alike(offers[at].like, &cluster->nodes[i]))
			at++;
		if (at == n)
			offers[n++] = (struct offer){
				{ all_of(cluster, i), node_price_per_h(cluster, i), 0 },
				&cluster->nodes[i],
				arena_array(d->round->scratch, uint32_t, cluster->nnodes),
			};
		offers[at].nodes[offers[at].flavour.count++] = i;
	}
	*out = offers;
	return n;
}

/* Jobs of one kind and type that wait and that nothing booting will take, the largest first. */
struct demand {
	struct amount *tasks;
	uint32_t n;
};

static struct demand demand_for(const struct zhong_round *d, const struct node *like,
	const struct waiting *line, uint32_t nline)
{
	const struct cluster *cluster = d->round->cluster;
	struct amount *tasks = arena_array(d->round->scratch, struct amount, nline + 1),
		      *free = arena_array(d->round->scratch, struct amount, cluster->nnodes + 1),
		      *all = arena_array(d->round->scratch, struct amount, cluster->nnodes + 1);
	bool *covered = arena_array(d->round->scratch, bool, nline + 1);
	uint32_t n = 0, booting = 0, left = 0;
	uint32_t sample = (uint32_t)(like - cluster->nodes);

	for (uint32_t i = 0; i < nline; i++) {
		const struct job *job = &d->round->jobs[line[i].job];

		if (!plan_grant(d->plan, job->id) && suits(d, job, sample, homeless(d, job)))
			tasks[n++] = wanted_by(job, like->type);
	}
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (d->z->nodes.at[i].booting && cluster->nodes[i].type == like->type &&
			cluster->nodes[i].spot == like->spot)
			free[booting] = all[booting] = all_of(cluster, i), booting++;
	}
	renting_first_fit(free, all, booting, tasks, n, covered);
	for (uint32_t i = 0; i < n; i++) {
		if (!covered[i])
			tasks[left++] = tasks[i];
	}
	return (struct demand){ tasks, left };
}

/* Whether somebody has waited longer than it should. */
static bool overdue(const struct zhong_round *d, const struct waiting *line, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &d->round->jobs[line[i].job];

		if (!plan_grant(d->plan, job->id) &&
			d->round->now_s - job->wait_since_s >= d->z->wait_s - 1e-9)
			return true;
	}
	return false;
}

static void rent(struct zhong_round *d, const struct offer *offer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		plan_rent(d->plan, offer->nodes[i], true);
		d->z->nodes.at[offer->nodes[i]] = (struct tenure){ true, true, d->round->now_s };
		d->z->rented++;
	}
	d->z->scaled_s = d->round->now_s;
}

/* The cheapest offer for what it takes of those who wait; true: something was rented. */
static bool scale_out(struct zhong_round *d)
{
	struct renting_choice best = { 0 };
	struct amount unit = { 0 };
	struct offer *offers;
	struct waiting *line;
	uint32_t n = line_up(d, &line), noffers = list_offers(d, &offers);

	if (!overdue(d, line, n))
		return false;
	for (uint32_t i = 0; i < noffers; i++)
		renting_most(&unit, &offers[i].flavour.all);
	for (uint32_t i = 0; i < noffers; i++) {
		struct demand demand = demand_for(d, offers[i].like, line, n);
		struct renting_choice c = renting_try(&offers[i].flavour, &unit, demand.tasks,
			demand.n, true);

		if (renting_cheaper(&c, &best)) {
			best = c;
			best.flavour = i;
		}
	}
	if (best.nodes)
		rent(d, &offers[best.flavour], best.nodes);
	return best.nodes > 0;
}

/* ---- giving back */

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
		uint32_t to = best_node(d, job, node);

		if (to == UINT32_MAX || !put(d, job, to))
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

/* Idle nodes stay while they are paid for, if another look comes before the end of that. */
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

		if (idle && !is_paid_on(d, node))
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
	pack(&d);
	due = round->now_s >= d.z->looked_s + d.z->round_s - 1e-9;
	if (due) {
		d.z->looked_s = round->now_s;
		if (!scale_out(&d))
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
