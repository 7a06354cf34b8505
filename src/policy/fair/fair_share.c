/*
 * Tenants share the cluster by weight: whoever has used least of late goes next.
 *
 * The weight is the tenant's own where tenants were given, against the others below
 * the same parent: what a parent gets is shared by those below it and its own jobs,
 * which count with weight 1 (policy/fair/tenant_tree.h).  With flat=1 each stands against
 * all others, whatever its parent.  Without tenants it is the largest of its jobs so far.
 *
 * Use is GPU-seconds that fade with a half-life.  Devices handed out in this
 * decision count at once, as if held for a quantum, so that one tenant does not
 * take everything that is free because it was behind by a little.
 *
 * With priority=1 a tenant's own jobs go by their priority; between tenants it does not count.
 *
 * With preempt=1 jobs of tenants above their share give way to others, at the ends
 * of rounds or, where it decides at every event, when the last time is `patience_s`
 * ago.  Of a tenant's own jobs those with most work at stake stay.  With elastic=1
 * jobs that take a range of devices get as many as there are, and others when the
 * next such moment comes.
 *
 * With reserve_s above 0 devices are kept for the first job in this order that has waited so long
 * and finds too few (policy/fair/kept.h): others start only where they do not delay it.
 */
#include "policy/fair/kept.h"
#include "policy/fair/tenant_tree.h"

struct account {
	double used_s; /* faded GPU-seconds */
	double weight;
	struct tenant_queue queue;
};

struct fair_share {
	double half_life_s;
	double quantum_s;
	double round_s;
	bool preempt, elastic, flat, priority;
	double patience_s, reserve_s;
	int misfit;

	VEC(struct account) accounts; /* by tenant; jobs without one share the last */
	VEC(uint32_t) holders;        /* jobs that had devices when last looked at, ascending */
	double at_s;                  /* when use was last brought up to date */
	double stopped_s;             /* when jobs could last be stopped */
	bool stops;                   /* they can in this decision */
	struct kept kept;             /* of this decision */
	struct tenant_latest latest;  /* of this decision */
	struct tenant_latest prior;   /* likewise, by priority */
	double *stood; /* tenants' standing before it: what it hands out counts in advance */
};

static const struct option options[] = {
	OPT_DOUBLE(struct fair_share, half_life_s, 604800, 1, 1e12, "after this time use counts half"),
	OPT_DOUBLE(struct fair_share, quantum_s, 600, 1, 1e9,
		"seconds that devices just handed out count for"),
	OPT_DOUBLE(struct fair_share, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	OPT_BOOL(struct fair_share, preempt, 0, "stop jobs of tenants above their share"),
	OPT_DOUBLE(struct fair_share, patience_s, 300, 1, 1e9,
		"without rounds: seconds between two decisions that stop jobs"),
	OPT_BOOL(struct fair_share, elastic, 0,
		"jobs that take fewer or more devices get as many as there are"),
	OPT_BOOL(struct fair_share, flat, 0,
		"each tenant's weight counts against all others, whatever its parent"),
	OPT_BOOL(struct fair_share, priority, 0,
		"a tenant's jobs go by priority, the largest first; 0: in order of arrival"),
	OPT_DOUBLE(struct fair_share, reserve_s, 0, 0, 1e9,
		"keep devices for a job that has waited so long and needs more than are free; 0: never"),
	OPT_CHOICE(struct fair_share, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to its tenant's later jobs"),
	{ 0 },
};

/* GPU-seconds of the job that are in its tenant's account. */
struct memory {
	double counted_s;
	bool passed; /* it was told who passed it, or whom it would delay */
};

/* Jobs without a tenant form one of their own: number 0. */
static struct account *account_of(struct fair_share *f, const struct round *round, const struct job *job)
{
	size_t number = tenant_number(job);
	double weight = tenant_weight(round, job);

	while (f->accounts.n <= number)
		vec_push(&f->accounts, (struct account){ .weight = 0 });
	if (weight > f->accounts.at[number].weight)
		f->accounts.at[number].weight = weight;
	return &f->accounts.at[number];
}

static void charge(struct fair_share *f, const struct round *round, const struct job *job)
{
	struct memory *m = (struct memory *)round->job_state + job->id;
	double served_s = job_served_s(job, round->now_s);

	account_of(f, round, job)->used_s += served_s - m->counted_s;
	m->counted_s = served_s;
}

static void list_holder(struct fair_share *f, uint32_t job)
{
	size_t at = f->holders.n;

	while (at > 0 && f->holders.at[at - 1] > job)
		at--;
	if (at > 0 && f->holders.at[at - 1] == job)
		return;
	vec_push(&f->holders, job);
	memmove(&f->holders.at[at + 1], &f->holders.at[at], (f->holders.n - 1 - at) * sizeof(job));
	f->holders.at[at] = job;
}

/* Few of those who wait may run, so that only what changed and what runs is looked at. */
static void charge_holders(struct fair_share *f, const struct round *round)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];

		charge(f, round, job);
		if (job->grant)
			list_holder(f, job->id);
	}
	for (size_t i = 0; i < f->holders.n; i++) {
		const struct job *job = &round->jobs[f->holders.at[i]];

		if (!job->grant)
			continue;
		charge(f, round, job);
		f->holders.at[kept++] = job->id;
	}
	f->holders.n = kept;
}

static void bring_up_to_date(struct fair_share *f, const struct round *round)
{
	double fade = tenant_fade(round->now_s - f->at_s, f->half_life_s);

	for (size_t i = 0; i < f->accounts.n; i++)
		f->accounts.at[i].used_s *= fade;
	charge_holders(f, round);
	f->at_s = round->now_s;
}

/* The jobs that compete, each tenant's together in its order; the accounts learn where theirs are. */
static uint32_t *queue_up(struct fair_share *f, const struct round *round)
{
	uint32_t *queue = arena_array(round->scratch, uint32_t, round->nactive);
	uint32_t n = 0;

	for (size_t i = 0; i < f->accounts.n; i++)
		f->accounts.at[i].queue = (struct tenant_queue){ 0 };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING || (f->stops && job->state == JOB_RUNNING))
			queue[n++] = job->id;
	}
	tenant_queues_sort(round, queue, n);
	if (f->priority)
		tenant_queues_by_priority(round, queue, n);
	if (f->stops)
		tenant_queues_keep(round, queue, n);
	for (uint32_t i = 0; i < n; i++)
		tenant_queue_add(&account_of(f, round, &round->jobs[queue[i]])->queue, i);
	return queue;
}

/* By use over weight, without a division. */
static double poorer(const void *self, const struct tenant_branch *a, const struct tenant_branch *b)
{
	double x = a->used[0] * b->weight, y = b->used[0] * a->weight;

	(void)self;
	return x < y ? -1 : x > y;
}

static void plant(struct fair_share *f, const struct round *round, struct tenant_tree *tree)
{
	tenant_tree_make(tree, round, f->accounts.n, f->flat);
	for (size_t i = 0; i < f->accounts.n; i++) {
		struct account *a = &f->accounts.at[i];

		tenant_tree_put(tree, i, a->weight, (double[TREE_USES]){ a->used_s }, &a->queue);
	}
}

/* Devices handed out count as held for a quantum; the account gets back what is not used of it. */
static double advance(const struct fair_share *f, uint32_t gpus)
{
	return f->quantum_s * gpus;
}

static bool is_elastic(const struct fair_share *f, const struct job *job)
{
	return f->elastic && job->min_gpus < job->max_gpus && !job->gpus_by_type;
}

/* As many devices as there are of those it takes; `gift.gpus` 0: what it asked for.  False: there is no room. */
static bool give(struct fair_share *f, struct plan *plan, const struct job *job,
	struct tenant_gift *gift)
{
	*gift = (struct tenant_gift){ .job = job->id };
	if (!is_elastic(f, job))
		return kept_run_on(&f->kept, plan, job, 0);
	for (int32_t gpus = job->max_gpus; gpus >= job->min_gpus; gpus--) {
		gift->gpus = (uint32_t)gpus;
		if (kept_run_on(&f->kept, plan, job, gift->gpus))
			return true;
	}
	return false;
}

/* Nobody else gets anything in this decision: those who wait go on waiting, however many they are. */
static bool all_gone(const struct fair_share *f, const struct round *round, const struct plan *plan)
{
	return !f->stops && f->misfit == MISFIT_SKIP && !kit_any_free(round, plan);
}

/* What the account has used of late over what it should have. */
static double standing(const struct fair_share *f, const struct tenant_tree *tree, size_t account)
{
	double all = tree->at[0].used[0];

	(void)f;
	return all > 0
		? tree->at[tree->leaf_of[account]].used[0] / all / tenant_tree_part(tree, account)
		: 0;
}

static double stood(const void *self, size_t account)
{
	return ((const struct fair_share *)self)->stood[account];
}

/* Whether it was told who has what it could have: a tenant that stood lower, or a job of its own with a larger priority. */
static bool passed_by(const struct fair_share *f, const struct round *round, struct plan *plan,
	const struct job *job)
{
	bool passed = tenant_tell_share(&f->latest, plan, job, f->stood[tenant_number(job)], stood, f) ||
		(f->priority && tenant_tell_priority(&f->prior, round, plan, job));

	((struct memory *)round->job_state + job->id)->passed = passed;
	return passed;
}

static uint32_t least_of(const struct fair_share *f, const struct job *job)
{
	return is_elastic(f, job) ? (uint32_t)job->min_gpus : 0;
}

/* It has waited long enough, and found too few devices: they are kept for it, if for none so far. */
static void keep_for(struct fair_share *f, const struct round *round, struct plan *plan,
	const struct job *job)
{
	if (f->reserve_s > 0 && f->kept.job == JOB_NONE && !job->grant &&
		job_waited_s(job, round->now_s) >= f->reserve_s && !plan_refuses(plan, job))
		kept_for(&f->kept, plan, job, least_of(f, job), !f->stops);
}

static void leave_out(const struct fair_share *f, const struct round *round, struct plan *plan,
	const struct job *job)
{
	if (!plan_refuses(plan, job) && kept_from(&f->kept, plan, job, least_of(f, job))) {
		plan_why(plan, job->id,
			(struct reason){ .why = WHY_RESERVED, .need = job->gpus, .other = f->kept.job });
		((struct memory *)round->job_state + job->id)->passed = true;
		return;
	}
	if (plan_refuses(plan, job) || !passed_by(f, round, plan, job))
		tenant_left_out(round, plan, job);
}

static void note_holder(struct fair_share *f, const struct round *round, const struct job *job)
{
	tenant_latest_note(&f->latest, job);
	if (f->priority)
		tenant_latest_note_prior(&f->prior, round, job);
}

static void note_holders(struct fair_share *f, const struct round *round, const struct plan *plan,
	const struct tenant_tree *tree)
{
	f->stood = arena_array(round->scratch, double, f->accounts.n + 1);
	for (size_t i = 0; i < f->accounts.n; i++)
		f->stood[i] = standing(f, tree, i);
	tenant_latest_make(&f->latest, round, f->accounts.n);
	tenant_latest_make(&f->prior, round, f->accounts.n);
	for (size_t i = 0; i < f->holders.n; i++) {
		if (plan_grant(plan, f->holders.at[i]))
			note_holder(f, round, &round->jobs[f->holders.at[i]]);
	}
}

/* All is gone before everybody was tried: who was passed learns by whom, and who no longer is, that it is not so. */
static void tell_the_rest(const struct fair_share *f, const struct round *round, struct plan *plan,
	const uint32_t *queue)
{
	for (size_t i = 0; i < f->accounts.n; i++) {
		const struct tenant_queue *own = &f->accounts.at[i].queue;

		for (uint32_t k = own->next; k < own->end; k++) {
			const struct job *job = &round->jobs[queue[k]];
			bool before = ((struct memory *)round->job_state + job->id)->passed;

			if (!passed_by(f, round, plan, job) && before)
				kit_no_room(round, plan, job);
		}
	}
}

/* Hands out devices, one job at a time, to whoever is furthest below its share; returns how many jobs it ran. */
static uint32_t hand_out(struct fair_share *f, const struct round *round, struct plan *plan,
	const uint32_t *queue, struct tenant_gift *ran)
{
	struct tenant_tree tree;
	uint32_t n = 0;
	size_t at;

	kept_init(&f->kept, round);
	plant(f, round, &tree);
	note_holders(f, round, plan, &tree);
	while (!all_gone(f, round, plan) &&
		(at = tenant_tree_next(&tree, queue, poorer, NULL)) != SIZE_MAX) {
		struct tenant_queue *own = &f->accounts.at[at].queue;
		const struct job *job = &round->jobs[queue[own->next++]];

		if (give(f, plan, job, &ran[n])) {
			uint32_t gpus = ran[n].gpus ? ran[n].gpus : (uint32_t)job->gpus;

			n++;
			note_holder(f, round, job);
			tenant_tree_use(&tree, at, (double[TREE_USES]){ advance(f, gpus) });
		} else {
			leave_out(f, round, plan, job);
			keep_for(f, round, plan, job);
			if (f->misfit == MISFIT_BLOCK && !plan_refuses(plan, job))
				tenant_queue_block(own, queue, job->id, plan);
		}
		tenant_tree_tried(&tree, at);
	}
	if (!f->stops && n > 0)
		tell_the_rest(f, round, plan, queue);
	return n;
}

/* A job that came a moment ago takes what is free; for what is not it has to be patient. */
static bool may_stop(struct fair_share *f, const struct round *round)
{
	if (!f->preempt || (f->round_s == 0 && round->now_s < f->stopped_s + f->patience_s))
		return false;
	f->stopped_s = round->now_s;
	return true;
}

static bool could_use_more(const struct fair_share *f, const struct plan *plan, const struct job *job)
{
	const struct grant *grant = plan_grant(plan, job->id);

	return !grant || (is_elastic(f, job) && grant->gpus < (uint32_t)job->max_gpus);
}

static void wake_for_those_who_wait(const struct fair_share *f, const struct round *round,
	struct plan *plan)
{
	if (f->round_s > 0) {
		kit_wake_while_waiting(round, plan);
		return;
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && could_use_more(f, plan, job)) {
			plan_wake(plan, f->stopped_s + f->patience_s);
			return;
		}
	}
}

static int fair_share_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct fair_share *f = self;
	struct tenant_gift *ran;
	uint32_t *queue, n;

	(void)err;
	bring_up_to_date(f, round);
	f->stops = may_stop(f, round);
	if (!all_gone(f, round, plan)) {
		ran = arena_array(round->scratch, struct tenant_gift, round->nactive);
		queue = queue_up(f, round);
		if (f->stops)
			plan_clear(plan, round->jobs, round->active, round->nactive);
		n = hand_out(f, round, plan, queue, ran);
		if (f->stops)
			tenant_queues_settle(round, plan, ran, n);
	}
	if (all_gone(f, round, plan))
		kit_turn_newcomers_away(round, plan);
	if (f->preempt)
		wake_for_those_who_wait(f, round, plan);
	return 0;
}

/* What is kept for trials: moments, then an account for each tenant. */
struct kept_moments {
	double at_s, stopped_s;
};

struct kept_account {
	double used_s, weight;
};

/* What jobs that go on have had comes to the account again with them, so it is taken off here. */
static size_t fair_share_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct fair_share *f = self;
	const struct memory *counted = memory;
	size_t size = sizeof(struct kept_moments) + f->accounts.n * sizeof(struct kept_account);
	struct kept_moments *moments = mem_alloc(size);
	struct kept_account *accounts = (struct kept_account *)(moments + 1);

	*moments = (struct kept_moments){ f->at_s, f->stopped_s };
	for (size_t i = 0; i < f->accounts.n; i++)
		accounts[i] = (struct kept_account){ f->accounts.at[i].used_s,
			f->accounts.at[i].weight };
	for (uint32_t i = 0; i < njobs; i++) {
		if (!job_ended(&jobs[i]) && tenant_number(&jobs[i]) < f->accounts.n)
			accounts[tenant_number(&jobs[i])].used_s -= counted[i].counted_s;
	}
	*out = moments;
	return size;
}

static void fair_share_resume(void *self, const void *bytes, size_t n)
{
	struct fair_share *f = self;
	const struct kept_moments *moments = bytes;
	const struct kept_account *accounts = (const struct kept_account *)(moments + 1);

	f->at_s = moments->at_s;
	f->stopped_s = moments->stopped_s;
	for (size_t i = 0; i < (n - sizeof(*moments)) / sizeof(*accounts); i++)
		vec_push(&f->accounts,
			(struct account){ .used_s = accounts[i].used_s, .weight = accounts[i].weight });
}

static double fair_share_period_s(const void *self)
{
	return ((const struct fair_share *)self)->round_s;
}

static void fair_share_fini(void *self)
{
	struct fair_share *f = self;

	vec_fini(&f->accounts);
	vec_fini(&f->holders);
}

static unsigned fair_share_uses_now(const void *self)
{
	const struct fair_share *f = self;

	return USES_WEIGHT | (f->priority ? USES_PRIORITY : 0) | (f->elastic ? USES_RANGE : 0);
}

const struct policy policy_fair_share = {
	.name = "fair-share",
	.summary = "tenants share by weight; past use fades with a half-life",
	.family = "fair",
	.traits = POLICY_PREEMPTS,
	.uses = USES_PRIORITY | USES_WEIGHT | USES_RANGE,
	.options = options,
	.state_size = sizeof(struct fair_share),
	.job_state_size = sizeof(struct memory),
	.fini = fair_share_fini,
	.period_s = fair_share_period_s,
	.remember = fair_share_remember,
	.resume = fair_share_resume,
	.uses_now = fair_share_uses_now,
	.decide = fair_share_decide,
};
