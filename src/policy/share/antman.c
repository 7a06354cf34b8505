/*
 * AntMan: guaranteed jobs run as if alone, opportunistic ones on what they leave of
 * the same devices.
 *
 * A tenant's guaranteed jobs start in order of arrival, as long as they stay within
 * its quota, on devices where no other guaranteed job is.  Guests that are there stay
 * and share.  A gang that finds no room keeps its devices from other guaranteed jobs,
 * and guests may use them so long.  Whoever is beyond the quota may run as a guest
 * (borrow=1) and becomes guaranteed when the quota has room again.
 *
 * Guests go to free devices, else to those that are busy for less than `util` of the
 * time and have the memory they need at least, those with the fewest guests first.  How
 * fast they may launch there is where the coordinator of each device settles
 * (model/coordinator.h): it is their share of the device.
 */
#include <stdlib.h>

#include "policy/share/antman.h"

static const struct option options[] = {
	OPT_DOUBLE(struct antman, util, 0.8, 0, 1, "guests go to devices that are less busy than this"),
	OPT_DOUBLE(struct antman, tolerance, 0.05, 0, 1,
		"how much longer guaranteed jobs may take beside guests"),
	OPT_DOUBLE(struct antman, step, 0.05, 0.001, 1, "by which the launch rate of guests grows"),
	OPT_DOUBLE(struct antman, memory, 0.5, 0, 1,
		"part of its memory that a guest must find on the device"),
	OPT_DOUBLE(struct antman, worth, 0.2, 0, 1,
		"part of its speed that a guest must find; one that has less moves to free devices"),
	OPT_DOUBLE(struct antman, quota, 0, 0, 1e9,
		"devices of each tenant that says nothing of them; 0: its part of all by weight"),
	OPT_BOOL(struct antman, borrow, 1,
		"guaranteed jobs beyond the quota may run as guests; 0: only those larger than all of it"),
	{ 0 },
};

/* ---- quotas */

static void look_up(struct account *account, const struct round *round, const struct job *job)
{
	const struct tenant *tenant = round->tenants ? tenants_of_job(round->tenants, job) : NULL;

	account->weight = tenant ? tenant->weight : 1;
	account->promised = tenant && tenant->promised ? tenant->guaranteed : NAN;
}

/*
 * What tenants are promised; whoever is promised nothing has as many devices as the option says, else its
 * part of all by weight, among all tenants that have had jobs so far.
 */
static void set_quotas(struct antman *a, const struct round *round)
{
	double weights = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		vec_grow_zero(&a->accounts, tenant_number(job) + 1);
		look_up(&a->accounts.at[tenant_number(job)], round, job);
	}
	for (size_t i = 0; i < a->accounts.n; i++)
		weights += a->accounts.at[i].weight;
	for (size_t i = 0; i < a->accounts.n; i++) {
		struct account *account = &a->accounts.at[i];

		account->used = 0;
		account->blocker = JOB_NONE;
		account->quota = account->promised >= 0 ? account->promised
			: a->quota > 0                  ? a->quota
				       : round->cluster->devices * account->weight /
				fmax(weights, TENANT_WEIGHT_MIN);
	}
}

static struct account *account_of(const struct antman_round *d, const struct job *job)
{
	return &d->a->accounts.at[tenant_number(job)];
}

static bool within_quota(const struct antman_round *d, const struct job *job)
{
	const struct account *account = account_of(d, job);

	return account->used + job_width(job) <= account->quota + 1e-9;
}

/* One larger than the whole quota could wait for ever. */
bool antman_may_be_guest(const struct antman_round *d, const struct job *job)
{
	return job->class_ == JOB_OPPORTUNISTIC || d->a->borrow ||
		job_width(job) > account_of(d, job)->quota + 1e-9;
}

static void count_used(struct antman_round *d)
{
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);

		if (grant && !is_guest(job, grant))
			account_of(d, job)->used += job_width(job);
	}
}

/* ---- guests that stand aside for a moment */

struct lifted {
	uint32_t job, nslots;
	struct slot *slots;
	struct want want;
};

static void lift_guests(struct antman_round *d)
{
	const struct round *round = d->round;

	if (d->lifted)
		return;
	d->lifted = arena_array(round->scratch, struct lifted, round->nactive + 1);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);
		struct lifted *l = &d->lifted[d->nlifted];

		if (!grant || !grant->guest)
			continue;
		*l = (struct lifted){ job->id, grant->nslots, NULL,
			{ .share = grant->share, .guest = true } };
		l->slots = arena_array(round->scratch, struct slot, grant->nslots);
		memcpy(l->slots, grant->slots, sizeof(*l->slots) * grant->nslots);
		plan_stop(d->plan, job);
		d->nlifted++;
	}
}

/* They return to where they were, beside whoever has come, unless CPUs or memory of the node do not suffice. */
static void put_back_guests(struct antman_round *d)
{
	for (uint32_t i = 0; i < d->nlifted; i++) {
		struct lifted *l = &d->lifted[i];
		const struct job *job = &d->round->jobs[l->job];

		if (plan_run_upon(d->plan, job, l->slots, l->nslots, l->want))
			continue;
		plan_why(d->plan, job->id,
			(struct reason){ .why = WHY_RECLAIMED, .need = job->gpus, .other = JOB_NONE });
		plan_wake(d->plan, d->round->now_s);
	}
	d->lifted = NULL;
	d->nlifted = 0;
}

/* ---- guaranteed jobs */

/* Devices of a type that no guaranteed job has, and no fraction. */
static uint32_t idle_of(const struct antman_round *d, uint32_t type)
{
	uint32_t idle = plan_free(d->plan, type);

	for (uint32_t node = 0; !d->lifted && node < d->round->cluster->nnodes; node++) {
		if (d->round->cluster->nodes[node].type != type || !d->plan->space.nodes[node].up)
			continue;
		for (uint64_t left = d->plan->space.nodes[node].whole; left; left &= left - 1)
			idle += load_of(&d->loads, node, (uint32_t)__builtin_ctzll(left))->holder ==
				JOB_NONE;
	}
	return idle;
}

/* As few nodes as the type allows. */
static bool is_compact(const struct antman_round *d, const struct grant *grant)
{
	uint32_t per = d->round->cluster->types[grant->type].max_per_node;

	return grant->nslots <= (grant->gpus + per - 1) / per;
}

/* On free devices if they lie together, else wherever no guaranteed job is. */
static bool run_guaranteed(struct antman_round *d, const struct job *job, uint32_t type)
{
	struct want want = { .type = (int)type, .gentle = true };

	if (idle_of(d, type) < job_gpus_on(job, type) + d->reserved[type])
		return false;
	if (plan_run(d->plan, job, want)) {
		if (d->lifted || is_compact(d, plan_grant(d->plan, job->id)))
			return true;
		plan_stop(d->plan, job);
	}
	lift_guests(d);
	return plan_run(d->plan, job, want);
}

/* What it waits for is kept from those behind it. */
static void reserve(struct antman_round *d, const struct job *job, uint32_t type)
{
	if (d->keeper == JOB_NONE)
		d->keeper = job->id;
	d->reserved[type] += job_gpus_on(job, type);
}

static bool start_guaranteed(struct antman_round *d, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(d->round, job, types);

	for (uint32_t i = 0; i < n; i++) {
		if (!run_guaranteed(d, job, types[i]))
			continue;
		account_of(d, job)->used += job_width(job);
		loads_add(&d->loads, job, plan_grant(d->plan, job->id));
		return true;
	}
	if (d->keeper != JOB_NONE)
		plan_why(d->plan, job->id,
			(struct reason){ .why = WHY_RESERVED, .need = job->gpus, .other = d->keeper });
	else
		kit_no_room(d->round, d->plan, job);
	if (n > 0)
		reserve(d, job, types[0]);
	return false;
}

/* A guest that asked for a guarantee gets it where it is, if nobody else there has one. */
static void upgrade(struct antman_round *d, const struct job *job, const struct grant *grant)
{
	struct want want = { .share = 1 };
	bool upgraded;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1) {
			if (load_of(&d->loads, grant->slots[i].node, (uint32_t)__builtin_ctzll(left))
					->holder != JOB_NONE)
				return;
		}
	}
	loads_remove(&d->loads, job, grant);
	upgraded = plan_run_upon(d->plan, job, grant->slots, grant->nslots, want);
	loads_add(&d->loads, job, plan_grant(d->plan, job->id));
	if (!upgraded)
		return; /* it goes on as a guest, and its tenant's quota is left to others */
	account_of(d, job)->used += job_width(job);
	d->a->upgrades++;
}

/* Why it has no guarantee is of interest only if it is no guest either. */
static void wait_behind(struct antman_round *d, const struct job *job, uint32_t other)
{
	if (!antman_may_be_guest(d, job))
		plan_why(d->plan, job->id,
			(struct reason){ .why = WHY_BEHIND, .need = job->gpus, .other = other });
}

static void out_of_quota(struct antman_round *d, const struct job *job)
{
	const struct account *account = account_of(d, job);

	if (plan_grant(d->plan, job->id))
		return;
	plan_why(d->plan, job->id,
		(struct reason){
			.why = WHY_QUOTA,
			.need = job->gpus,
			.have = (int32_t)(account->quota - account->used + 1e-9),
			.other = JOB_NONE,
		});
}

/* Every tenant's in order of arrival; nobody passes an earlier one of the same tenant. */
static void run_guarantees(struct antman_round *d)
{
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);
		struct account *account = account_of(d, job);

		if (!job_active(job) || job->class_ != JOB_GUARANTEED || (grant && !grant->guest))
			continue;
		if (account->blocker != JOB_NONE) {
			wait_behind(d, job, account->blocker);
		} else if (!within_quota(d, job)) {
			out_of_quota(d, job);
			account->blocker = job_width(job) > account->quota ? JOB_NONE : job->id;
		} else if (grant) {
			upgrade(d, job, grant);
		} else if (!start_guaranteed(d, job)) {
			account->blocker = job->id;
		}
	}
	put_back_guests(d);
}

static int antman_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct antman *a = self;
	struct antman_round d = { .a = a, .round = round, .plan = plan, .keeper = JOB_NONE };

	(void)err;
	set_quotas(a, round);
	if (!a->settled)
		a->settled = mem_alloc(sizeof(*a->settled) * SETTLED_MAX);
	loads_make(&d.loads, round, plan, (struct launch_law){ a->tolerance, a->step, 1 }, a->settled);
	count_used(&d);
	run_guarantees(&d);
	antman_run_guests(&d);
	antman_set_rates(&d);
	return 0;
}

static uint32_t antman_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct antman *a = self;

	out[0] = (struct figure){ "upgrades", (double)a->upgrades };
	out[1] = (struct figure){ "guests_paused", (double)a->paused };
	out[2] = (struct figure){ "guests_moved", (double)a->moved };
	return 3;
}

/* Tenants that have had jobs count, also without any now: all else is looked up anew. */
static size_t antman_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct antman *a = self;
	size_t size = a->accounts.n * sizeof(*a->accounts.at);

	(void)jobs;
	(void)njobs;
	(void)memory;
	if (!size)
		return 0;
	*out = mem_alloc(size);
	memcpy(*out, a->accounts.at, size);
	return size;
}

static void antman_resume(void *self, const void *bytes, size_t n)
{
	struct antman *a = self;

	vec_grow_zero(&a->accounts, n / sizeof(*a->accounts.at));
	memcpy(a->accounts.at, bytes, n);
}

static void antman_fini(void *self)
{
	struct antman *a = self;

	vec_fini(&a->accounts);
	free(a->settled);
}

const struct policy policy_antman = {
	.name = "antman",
	.summary = "guaranteed jobs within their quota as if alone, others on what they leave of the same devices",
	.origin = "Xiao et al., OSDI 2020",
	.family = "share",
	.traits = POLICY_PREEMPTS | POLICY_SHARES | POLICY_QUOTAS,
	.options = options,
	.state_size = sizeof(struct antman),
	.fini = antman_fini,
	.remember = antman_remember,
	.resume = antman_resume,
	.figures = antman_figures,
	.decide = antman_decide,
};
