/*
 * Dominant resource fairness among tenants.
 *
 * A tenant's dominant share is the largest of its parts of the cluster's
 * devices, CPUs and memory, over its weight.  Progressive filling: the tenant
 * with the least dominant share starts its next job, as long as one fits.
 *
 * Shares count what is held now and not what was used before, so nobody needs
 * to be stopped for them to even out as jobs end; with preempt they are made
 * even again at every turn.
 */
#include "policy/fair/tenant_queues.h"

enum resource { RESOURCE_GPUS, RESOURCE_CPUS, RESOURCE_MEMORY, RESOURCES };

struct account {
	double held[RESOURCES];
	double weight;
	struct tenant_queue queue;
};

struct drf {
	struct turns turns;
	bool preempt;
	int misfit;

	VEC(struct account) accounts; /* by tenant; jobs without one share the first */
	double total[RESOURCES];      /* of the cluster; 0: not modelled */
};

static const struct option options[] = {
	OPT_BOOL(struct drf, preempt, 0, "stop jobs of tenants above their share, in turns"),
	TURNS_OPTIONS(struct drf, turns),
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

static void hold(struct account *a, const struct job *job, double sign)
{
	a->held[RESOURCE_GPUS] += sign * job->gpus;
	a->held[RESOURCE_CPUS] += sign * job->cpus;
	a->held[RESOURCE_MEMORY] += sign * (double)job->mem_bytes;
}

static double dominant_share(const struct drf *d, const struct account *a)
{
	double most = 0;

	for (int i = 0; i < RESOURCES; i++) {
		if (d->total[i] > 0)
			most = fmax(most, a->held[i] / d->total[i]);
	}
	return most / a->weight;
}

static struct account *account_of(struct drf *d, const struct round *round, const struct job *job)
{
	size_t number = tenant_number(job);
	double weight = round->tenants ? tenants_of_job(round->tenants, job)->weight : job->weight;

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

	for (size_t i = 0; i < d->accounts.n; i++)
		d->accounts.at[i] = (struct account){ .weight = d->accounts.at[i].weight };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING || (all && job->state == JOB_RUNNING))
			queue[n++] = job->id;
		else if (job->state == JOB_RUNNING)
			hold(account_of(d, round, job), job, 1);
	}
	tenant_queues_sort(round, queue, n);
	for (uint32_t i = 0; i < n; i++)
		tenant_queue_add(&account_of(d, round, &round->jobs[queue[i]])->queue, i);
	return queue;
}

/* The tenant with the least dominant share that has a job to try; between equals the job that came first decides. */
static struct account *poorest(struct drf *d, const uint32_t *queue)
{
	struct account *best = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < d->accounts.n; i++) {
		struct account *a = &d->accounts.at[i];
		double share = dominant_share(d, a);

		if (a->queue.next >= a->queue.end)
			continue;
		if (!best || share < least ||
			(share == least && queue[a->queue.next] < queue[best->queue.next])) {
			best = a;
			least = share;
		}
	}
	return best;
}

/* ---- filling */

/* Returns how many jobs were found room for; they are listed in `ran`. */
static uint32_t fill(struct drf *d, const struct round *round, struct plan *plan,
	const uint32_t *queue, struct tenant_gift *ran)
{
	struct account *a;
	uint32_t n = 0;

	while ((a = poorest(d, queue))) {
		const struct job *job = &round->jobs[queue[a->queue.next++]];

		if (kit_run(round, plan, job)) {
			ran[n++] = (struct tenant_gift){ .job = job->id };
			hold(a, job, 1);
		} else {
			tenant_left_out(round, plan, job);
			if (d->misfit == MISFIT_BLOCK)
				tenant_queue_block(&a->queue, queue, job->id, plan);
		}
	}
	return n;
}

static int drf_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct drf *d = self;
	struct tenant_gift *ran = arena_array(round->scratch, struct tenant_gift, round->nactive);
	bool all = d->preempt && !turns_hold(&d->turns, round);
	uint32_t *queue, n;

	(void)err;
	if (d->total[RESOURCE_GPUS] == 0 || round->capacity_changed)
		count_resources(d, round, plan);
	queue = queue_up(d, round, all);
	if (all)
		plan_clear(plan, round->jobs, round->active, round->nactive);
	n = fill(d, round, plan, queue, ran);
	if (all)
		tenant_queues_settle(round, plan, ran, n);
	/* Shares change with jobs alone: after a turn there is nothing to do before something happens. */
	if (d->preempt && !all && kit_anybody_waits(round, plan))
		turns_wake(&d->turns, round, round->now_s, plan);
	return 0;
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
	.options = options,
	.state_size = sizeof(struct drf),
	.fini = drf_fini,
	.period_s = drf_period_s,
	.decide = drf_decide,
};
