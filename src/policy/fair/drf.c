/*
 * Dominant resource fairness among tenants.
 *
 * A tenant's dominant share is the largest of its parts of the cluster's
 * devices, CPUs and memory, over its weight.  Progressive filling: the tenant
 * with the least dominant share starts its next job, as long as one fits.
 *
 * Where tenants stand below others, the least is looked for from the top down: a
 * parent's share is of what it and all below it hold, and what it gets goes to the
 * least of these, its own jobs being one of them (policy/fair/tenant_tree.h).
 *
 * Shares count what is held now and not what was used before, so nobody needs
 * to be stopped for them to even out as jobs end; with preempt they are made
 * even again at every turn.  Whole gangs may not divide evenly: then those who wait
 * are owed what others hold beyond their parts, and of equals whoever is owed
 * most goes first, so that they take turns.
 */
#include "policy/fair/server_turns.h"
#include "policy/fair/tenant_tree.h"

enum resource { RESOURCE_GPUS, RESOURCE_CPUS, RESOURCE_MEMORY, RESOURCES };

/* What is held is added up in the tree, and then what was had beyond one's part. */
enum { BEYOND = RESOURCES };

_Static_assert((int)BEYOND + 1 == (int)TREE_USES, "both fit into the tree");

/* Owed for less than this is owed nothing. */
#define OWED_MIN 1e-6
#define OWED_TURNS 10

struct account {
	double held[RESOURCES];
	double weight;
	struct tenant_queue queue;
	/* With preempt: seconds of the dominant resource. */
	double owed; /* by those who held more than their parts while it waited; below 0: it did */
	double share, part; /* since the last decision */
	bool waits;
};

struct drf {
	struct turns turns;
	bool preempt, flat;
	int misfit;

	VEC(struct account) accounts; /* by tenant; jobs without one share the first */
	double total[RESOURCES];      /* of the cluster; 0: not modelled */
	struct tenant_latest latest;  /* of this decision */
	double at_s;                  /* up to when it is known who is owed what */
};

static const struct option options[] = {
	OPT_BOOL(struct drf, preempt, 0, "stop jobs of tenants above their share, in turns"),
	TURNS_OPTIONS(struct drf, turns),
	OPT_BOOL(struct drf, flat, 0, "each tenant counts against all others, whatever its parent"),
	OPT_CHOICE(struct drf, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to its tenant's later jobs"),
	{ 0 },
};

/* ---- shares */

/* Nodes that say nothing of their CPUs or memory have as much as anybody wants. */
static void count_resources(struct drf *d, const struct round *round, const struct plan *plan)
{
	memset(d->total, 0, sizeof(d->total));
	for (uint32_t i = 0; i < round->cluster->nnodes; i++) {
		const struct node *node = &round->cluster->nodes[i];

		if (!plan->space.nodes[i].up)
			continue;
		d->total[RESOURCE_GPUS] += node->devices;
		d->total[RESOURCE_CPUS] += node->cpus;
		d->total[RESOURCE_MEMORY] += (double)node->mem_bytes;
	}
}

static void hold(struct account *a, const struct job *job)
{
	a->held[RESOURCE_GPUS] += job->gpus;
	a->held[RESOURCE_CPUS] += job->cpus;
	a->held[RESOURCE_MEMORY] += (double)job->mem_bytes;
}

static double dominant_share(const struct drf *d, const double held[RESOURCES])
{
	double most = 0;

	for (int i = 0; i < RESOURCES; i++) {
		if (d->total[i] > 0)
			most = fmax(most, held[i] / d->total[i]);
	}
	return most;
}

static struct account *account_of(struct drf *d, const struct round *round, const struct job *job)
{
	size_t number = tenant_number(job);
	double weight = tenant_weight(round, job);

	vec_grow_zero(&d->accounts, number + 1);
	if (weight > d->accounts.at[number].weight)
		d->accounts.at[number].weight = weight;
	return &d->accounts.at[number];
}

/* ---- queues */

/* The jobs that compete, each tenant's together in order of arrival.  The others are in the accounts. */
static uint32_t *queue_up(struct drf *d, const struct round *round, bool all)
{
	uint32_t *queue = arena_array(round->scratch, uint32_t, round->nactive);
	uint32_t n = 0;

	for (size_t i = 0; i < d->accounts.n; i++) {
		struct account *a = &d->accounts.at[i];

		memset(a->held, 0, sizeof(a->held));
		a->queue = (struct tenant_queue){ 0 };
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING || (all && job->state == JOB_RUNNING))
			queue[n++] = job->id;
		else if (job->state == JOB_RUNNING)
			hold(account_of(d, round, job), job);
	}
	tenant_queues_sort(round, queue, n);
	for (uint32_t i = 0; i < n; i++)
		tenant_queue_add(&account_of(d, round, &round->jobs[queue[i]])->queue, i);
	return queue;
}

static double poorer(const void *self, const struct tenant_branch *a, const struct tenant_branch *b)
{
	double x = dominant_share(self, a->used) / a->weight,
	       y = dominant_share(self, b->used) / b->weight;

	if (x != y)
		return x < y ? -1 : 1;
	return fabs(a->used[BEYOND] - b->used[BEYOND]) < OWED_MIN ? 0
								  : a->used[BEYOND] - b->used[BEYOND];
}

static void plant(struct drf *d, const struct round *round, struct tenant_tree *tree)
{
	tenant_tree_make(tree, round, d->accounts.n, d->flat);
	for (size_t i = 0; i < d->accounts.n; i++) {
		struct account *a = &d->accounts.at[i];
		bool any = a->queue.end > a->queue.next || a->held[RESOURCE_GPUS] > 0;
		double used[TREE_USES] = { 0 };

		a->owed = any ? a->owed : 0;
		memcpy(used, a->held, sizeof(a->held));
		used[BEYOND] = -a->owed;
		tenant_tree_put(tree, i, a->weight, used, &a->queue);
	}
}

/* ---- filling */

/* The dominant share of what the account holds over the part that weights give it. */
static double standing(const struct drf *d, const struct tenant_tree *tree, size_t account)
{
	return dominant_share(d, tree->at[tree->leaf_of[account]].used) /
		tenant_tree_part(tree, account);
}

/* Where the job's tenant would stand if it ran, too. */
static double standing_with(const struct drf *d, const struct tenant_tree *tree, const struct job *job)
{
	size_t own = tenant_number(job);
	struct account with_it = { 0 };

	for (int i = 0; i < RESOURCES; i++)
		with_it.held[i] = tree->at[tree->leaf_of[own]].used[i];
	hold(&with_it, job);
	return dominant_share(d, with_it.held) / tenant_tree_part(tree, own);
}

/* So far in this decision. */
struct filling {
	const struct drf *d;
	const struct tenant_tree *tree;
};

static double standing_so_far(const void *self, size_t account)
{
	const struct filling *f = self;

	return standing(f->d, f->tree, account);
}

/* Whether it was told who is owed more and has something that it could have. */
static bool tell_turn(const struct drf *d, struct plan *plan, const struct job *job)
{
	double own = d->accounts.at[tenant_number(job)].owed, most = own + OWED_MIN;
	uint32_t other = JOB_NONE;

	for (size_t i = 0; i < d->latest.n; i++) {
		const struct grant *grant = d->latest.job[i] == JOB_NONE
			? NULL
			: plan_grant(plan, d->latest.job[i]);

		if (grant && job_may_use(job, grant->type) && d->accounts.at[i].owed > most) {
			most = d->accounts.at[i].owed;
			other = d->latest.job[i];
		}
	}
	if (other != JOB_NONE)
		plan_why(plan, job->id,
			(struct reason){ .why = WHY_TURN, .other = other, .against = most - own });
	return other != JOB_NONE;
}

/* Whether it was told to wait for the next turn, at which somebody above its share gives way to those below theirs. */
static bool tell_next(const struct drf *d, const struct round *round, struct plan *plan,
	const struct tenant_tree *tree, const struct job *job)
{
	bool above = false;

	if (!d->preempt || !turns_hold(&d->turns, round) ||
		standing(d, tree, tenant_number(job)) > 1 - 1e-9)
		return false;
	for (size_t i = 0; i < d->latest.n && !above; i++)
		above = d->latest.job[i] != JOB_NONE && standing(d, tree, i) > 1 + 1e-9;
	if (above)
		plan_why(plan, job->id,
			(struct reason){ .why = WHY_ROUND,
				.other = JOB_NONE,
				.at_s = turn_next_s(round->now_s, d->turns.round_s) });
	return above;
}

static void leave_out(const struct drf *d, const struct round *round, struct plan *plan,
	const struct tenant_tree *tree, const struct job *job)
{
	struct filling f = { d, tree };

	if (plan_refuses(plan, job) ||
		!(tenant_tell_share(&d->latest, plan, job, standing_with(d, tree, job),
			  standing_so_far, &f) ||
			tell_turn(d, plan, job) || tell_next(d, round, plan, tree, job)))
		tenant_left_out(round, plan, job);
}

/* Those that go on running, whatever is decided. */
static void note_holders(struct drf *d, const struct round *round, const struct plan *plan)
{
	tenant_latest_make(&d->latest, round, d->accounts.n);
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (plan_grant(plan, round->active[i]))
			tenant_latest_note(&d->latest, &round->jobs[round->active[i]]);
	}
}

/* Returns how many jobs were found room for; they are listed in `ran`. */
static uint32_t fill(struct drf *d, const struct round *round, struct plan *plan,
	struct tenant_tree *tree, const uint32_t *queue, struct tenant_gift *ran)
{
	uint32_t n = 0;
	size_t at;

	plant(d, round, tree);
	note_holders(d, round, plan);
	while ((at = tenant_tree_next(tree, queue, poorer, d)) != SIZE_MAX) {
		struct tenant_queue *own = &d->accounts.at[at].queue;
		const struct job *job = &round->jobs[queue[own->next++]];

		if (kit_run(round, plan, job)) {
			struct account more = { 0 };
			double used[TREE_USES] = { 0 };

			ran[n++] = (struct tenant_gift){ .job = job->id };
			hold(&more, job);
			memcpy(used, more.held, sizeof(more.held));
			tenant_latest_note(&d->latest, job);
			tenant_tree_use(tree, at, used);
		} else {
			leave_out(d, round, plan, tree, job);
			if (d->misfit == MISFIT_BLOCK && !plan_refuses(plan, job))
				tenant_queue_block(own, queue, job->id, plan);
		}
		tenant_tree_tried(tree, at);
	}
	return n;
}

/* ---- who is owed what */

/* Only who waits is owed anything; and no more than a few turns, in case that there are other reasons. */
static void bring_up_to_date(struct drf *d, double now_s)
{
	double all = 0, seconds = now_s - d->at_s, most = OWED_TURNS * d->turns.round_s;
	bool anybody = false;

	for (size_t i = 0; i < d->accounts.n; i++) {
		all += d->accounts.at[i].share;
		anybody |= d->accounts.at[i].waits;
	}
	for (size_t i = 0; i < d->accounts.n; i++) {
		struct account *a = &d->accounts.at[i];

		a->owed = anybody ? a->owed + (a->part * all - a->share) * seconds : 0;
		a->owed = fmax(-most, fmin(a->waits ? most : 0, a->owed));
	}
	d->at_s = now_s;
}

/* What tenants have until the next decision.  Says whether somebody who waits will be owed something. */
static bool note_shares(struct drf *d, const struct round *round, const struct plan *plan,
	const struct tenant_tree *tree)
{
	bool owed = false;
	double all = 0;

	for (size_t i = 0; i < d->accounts.n; i++) {
		struct account *a = &d->accounts.at[i];
		const struct tenant_branch *leaf = &tree->at[tree->leaf_of[i]];

		a->waits = false;
		a->share = dominant_share(d, leaf->used);
		a->part = leaf->alive ? tenant_tree_part(tree, i) : 0;
		all += a->share;
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id))
			d->accounts.at[tenant_number(job)].waits = true;
	}
	for (size_t i = 0; i < d->accounts.n; i++) {
		const struct account *a = &d->accounts.at[i];

		owed |= a->waits && (a->part * all - a->share > 1e-9 || a->owed > OWED_MIN);
	}
	return owed;
}

/* ---- */

static int drf_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct drf *d = self;
	struct tenant_gift *ran = arena_array(round->scratch, struct tenant_gift, round->nactive);
	bool all = d->preempt && !turns_hold(&d->turns, round);
	struct tenant_tree tree;
	uint32_t *queue, n;

	(void)err;
	if (d->preempt)
		bring_up_to_date(d, round->now_s);
	if (d->total[RESOURCE_GPUS] == 0 || round->capacity_changed)
		count_resources(d, round, plan);
	queue = queue_up(d, round, all);
	if (all)
		plan_clear(plan, round->jobs, round->active, round->nactive);
	n = fill(d, round, plan, &tree, queue, ran);
	if (all)
		tenant_queues_settle(round, plan, ran, n);
	/* After a turn there is nothing to do before something happens, unless somebody is owed more and more. */
	if (d->preempt && (note_shares(d, round, plan, &tree) || !all) && kit_anybody_waits(round, plan))
		turns_wake(&d->turns, round, round->now_s, plan);
	return 0;
}

/* Until when it is known who is owed what, then the accounts. */
static size_t drf_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct drf *d = self;
	size_t accounts = d->accounts.n * sizeof(*d->accounts.at);
	double *at_s;

	(void)jobs;
	(void)njobs;
	(void)memory;
	if (!d->preempt)
		return 0;
	at_s = mem_alloc(sizeof(*at_s) + accounts);
	*at_s = d->at_s;
	if (accounts)
		memcpy(at_s + 1, d->accounts.at, accounts);
	*out = at_s;
	return sizeof(*at_s) + accounts;
}

static void drf_resume(void *self, const void *bytes, size_t n)
{
	struct drf *d = self;
	const double *at_s = bytes;
	size_t accounts = n - sizeof(*at_s);

	d->at_s = *at_s;
	vec_grow_zero(&d->accounts, accounts / sizeof(*d->accounts.at));
	if (accounts)
		memcpy(d->accounts.at, at_s + 1, accounts);
}

static double drf_period_s(const void *self)
{
	const struct drf *d = self;

	return d->preempt ? turns_period_s(&d->turns) : 0;
}

static void drf_fini(void *self)
{
	vec_fini(&((struct drf *)self)->accounts);
}

const struct policy policy_drf = {
	.name = "drf",
	.summary = "the tenant with the least dominant share of devices, CPUs and memory goes next",
	.origin = "Ghodsi et al., NSDI 2011",
	.family = "fair",
	.traits = POLICY_PREEMPTS,
	.uses = USES_WEIGHT,
	.options = options,
	.state_size = sizeof(struct drf),
	.fini = drf_fini,
	.period_s = drf_period_s,
	.remember = drf_remember,
	.resume = drf_resume,
	.decide = drf_decide,
};
