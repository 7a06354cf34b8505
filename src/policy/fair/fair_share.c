/*
 * Tenants share the cluster by weight: whoever has used least of late goes next.
 *
 * The weight is the tenant's own where tenants were given, each against all others
 * whatever its parent; else the largest of its jobs so far.
 *
 * Use is GPU-seconds that fade with a half-life.  Devices handed out in this
 * decision count at once, as if held for a quantum, so that one tenant does not
 * take everything that is free because it was behind by a little.
 *
 * With preempt=1 jobs of tenants above their share give way to others, at the ends
 * of rounds or, where it decides at every event, when the last time is `patience_s`
 * ago.  Of a tenant's own jobs those with most work at stake stay.  With elastic=1
 * jobs that take a range of devices get as many as there are, and others when the
 * next such moment comes.
 */
#include "base/real.h"
#include "policy/fair/tenant_queues.h"

#define LN2 0.6931471805599453

struct account {
	double used_s; /* faded GPU-seconds */
	double weight;
	struct tenant_queue queue;
};

struct fair_share {
	double half_life_s;
	double quantum_s;
	double round_s;
	bool preempt, elastic;
	double patience_s;
	int misfit;

	VEC(struct account) accounts; /* by tenant; jobs without one share the last */
	VEC(uint32_t) holders;        /* jobs that had devices when last looked at, ascending */
	double at_s;                  /* when use was last brought up to date */
	double stopped_s;             /* when jobs could last be stopped */
	bool stops;                   /* they can in this decision */
};

static const struct option options[] = {
	OPT_DOUBLE(struct fair_share, half_life_s, 604800, 1, 1e12, "after this time use counts half"),
	OPT_DOUBLE(struct fair_share, quantum_s, 600, 1, 1e9,
		"seconds that devices just handed out count for"),
	OPT_DOUBLE(struct fair_share, round_s, 0, 0, 1e6,
		"decide every so many seconds only; 0: at every event"),
	OPT_BOOL(struct fair_share, preempt, 0, "stop jobs of tenants above their share"),
	OPT_DOUBLE(struct fair_share, patience_s, 300, 1, 1e9,
		"without rounds: seconds between two decisions that stop jobs"),
	OPT_BOOL(struct fair_share, elastic, 0,
		"jobs that take fewer or more devices get as many as there are"),
	OPT_CHOICE(struct fair_share, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to its tenant's later jobs"),
	{ 0 },
};

/* GPU-seconds of the job that are in its tenant's account. */
struct memory {
	double counted_s;
};

/* Jobs without a tenant form one of their own: number 0. */
static struct account *account_of(struct fair_share *f, const struct round *round, const struct job *job)
{
	size_t number = tenant_number(job);
	double weight = round->tenants ? tenants_of_job(round->tenants, job)->weight : job->weight;

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
	double fade = real_exp(-LN2 * (round->now_s - f->at_s) / f->half_life_s);

	for (size_t i = 0; i < f->accounts.n; i++)
		f->accounts.at[i].used_s *= fade;
	charge_holders(f, round);
	f->at_s = round->now_s;
}

/* The jobs that compete, each tenant's together in order of arrival; the accounts learn where theirs are. */
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
	if (f->stops)
		tenant_queues_keep(round, queue, n);
	for (uint32_t i = 0; i < n; i++)
		tenant_queue_add(&account_of(f, round, &round->jobs[queue[i]])->queue, i);
	return queue;
}

/* Whether `a` is further below its share than `b`; between equals the job that came first decides. */
static bool poorer(const struct account *a, const struct account *b, const uint32_t *queue)
{
	double x = a->used_s * b->weight, y = b->used_s * a->weight;

	return x < y || (x == y && queue[a->queue.next] < queue[b->queue.next]);
}

/* The tenant furthest below its share that still has a job to try. */
static struct account *poorest(struct fair_share *f, const uint32_t *queue)
{
	struct account *best = NULL;

	for (size_t i = 0; i < f->accounts.n; i++) {
		struct account *a = &f->accounts.at[i];

		if (a->queue.next < a->queue.end && (!best || poorer(a, best, queue)))
			best = a;
	}
	return best;
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
static bool give(const struct fair_share *f, const struct round *round, struct plan *plan,
	const struct job *job, struct tenant_gift *gift)
{
	*gift = (struct tenant_gift){ .job = job->id };
	if (!is_elastic(f, job))
		return kit_run(round, plan, job);
	for (int32_t gpus = job->max_gpus; gpus >= job->min_gpus; gpus--) {
		gift->gpus = (uint32_t)gpus;
		if (kit_run_on(round, plan, job, gift->gpus))
			return true;
	}
	return false;
}

/* Nobody else gets anything in this decision: those who wait go on waiting, however many they are. */
static bool all_gone(const struct fair_share *f, const struct round *round, const struct plan *plan)
{
	return !f->stops && f->misfit == MISFIT_SKIP && !kit_any_free(round, plan);
}

/* Hands out devices, one job at a time, to whoever is furthest below its share; returns how many jobs it ran. */
static uint32_t hand_out(struct fair_share *f, const struct round *round, struct plan *plan,
	const uint32_t *queue, struct tenant_gift *ran)
{
	double *advanced = arena_array(round->scratch, double, f->accounts.n);
	struct account *a;
	uint32_t n = 0;

	while (!all_gone(f, round, plan) && (a = poorest(f, queue))) {
		const struct job *job = &round->jobs[queue[a->queue.next++]];

		if (give(f, round, plan, job, &ran[n])) {
			uint32_t gpus = ran[n].gpus ? ran[n].gpus : (uint32_t)job->gpus;

			n++;
			a->used_s += advance(f, gpus);
			advanced[a - f->accounts.at] += advance(f, gpus);
		} else {
			tenant_left_out(round, plan, job);
			if (f->misfit == MISFIT_BLOCK)
				tenant_queue_block(&a->queue, queue, job->id, plan);
		}
	}
	for (size_t i = 0; i < f->accounts.n; i++)
		f->accounts.at[i].used_s -= advanced[i];
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

const struct policy policy_fair_share = {
	.name = "fair-share",
	.summary = "tenants share by weight; past use fades with a half-life",
	.family = "fair",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct fair_share),
	.job_state_size = sizeof(struct memory),
	.fini = fair_share_fini,
	.period_s = fair_share_period_s,
	.remember = fair_share_remember,
	.resume = fair_share_resume,
	.decide = fair_share_decide,
};
