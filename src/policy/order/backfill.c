/*
 * First come, first served with backfilling: a job may pass those ahead of it
 * if, by believed run times, it delays none that holds a reservation.
 *
 * Both policies walk the queue once over a picture of the future: how many
 * devices of each type are free from when on.  EASY reserves for the first job
 * that does not fit, conservative backfilling for every one.
 */
#include "policy/kit.h"

struct backfill {
	int reservations;
	double round_s;
};

static const struct option easy_options[] = {
	OPT_INT(struct backfill, reservations, 1, 1, 1000000,
		"jobs at the head of the queue that nobody may delay"),
	OPT_DOUBLE(struct backfill, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	{ 0 },
};

static const struct option conservative_options[] = {
	OPT_INT(struct backfill, reservations, 1000, 1, 1000000,
		"jobs at the head of the queue that nobody may delay; the rest wait behind them"),
	OPT_DOUBLE(struct backfill, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	{ 0 },
};

/* From at_s on (until the next step), so many devices are free. */
struct step {
	double at_s;
	int64_t free;
};

/* The future of one type; the first step is now, the last one lasts for ever. */
struct future {
	struct step *steps;
	uint32_t n, cap;
};

static void future_push(struct future *f, struct arena *scratch, uint32_t at, struct step step)
{
	if (f->n == f->cap) {
		uint32_t cap = f->cap ? f->cap * 2 : 64;
		struct step *grown = arena_array(scratch, struct step, cap);

		if (f->n > 0)
			memcpy(grown, f->steps, sizeof(*grown) * f->n);
		f->steps = grown;
		f->cap = cap;
	}
	memmove(&f->steps[at + 1], &f->steps[at], sizeof(*f->steps) * (f->n - at));
	f->steps[at] = step;
	f->n++;
}

/* The step that begins at at_s, split off where there is none. */
static uint32_t future_split(struct future *f, struct arena *scratch, double at_s)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (f->steps[mid].at_s < at_s)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->n || f->steps[lo].at_s > at_s)
		future_push(f, scratch, lo, (struct step){ at_s, f->steps[lo - 1].free });
	return lo;
}

/* Takes devices from from_s to to_s. */
static void future_take(struct future *f, struct arena *scratch, double from_s, double to_s, int64_t gpus)
{
	uint32_t first = future_split(f, scratch, from_s);
	uint32_t last = isinf(to_s) ? f->n : future_split(f, scratch, to_s);

	for (uint32_t i = first; i < last; i++)
		f->steps[i].free -= gpus;
}

/* The earliest time from which `gpus` devices are free for run_s; INFINITY if that never comes. */
static double future_earliest(const struct future *f, int64_t gpus, double run_s)
{
	double from_s = NAN;

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->steps[i].free < gpus) {
			from_s = NAN;
			continue;
		}
		if (isnan(from_s))
			from_s = f->steps[i].at_s;
		if (i + 1 == f->n || f->steps[i + 1].at_s >= from_s + run_s)
			return from_s;
	}
	return INFINITY;
}

/* How long it will still hold the devices it has, as far as is believed; at least a moment. */
static double believed_left_s(const struct round *round, const struct job *job)
{
	double steps = job->work_est - job_done(job, round->now_s);

	return fmax(1, fmax(0, job->ready_s - round->now_s) + steps / job->rate);
}

/* How long it would hold devices of the type if it started now. */
static double believed_run_s(const struct round *round, const struct job *job, uint32_t type)
{
	double steps = job->work_est - job_done(job, round->now_s);
	double cost_s = job->attempts > 0 ? job->resume_cost_s : job->start_cost_s;

	return fmax(1, cost_s + steps / rate_if(round->belief, job, type, job_gpus_on(job, type)));
}

static double believed_s(const struct round *round, const struct job *job, const struct grant *grant)
{
	return job->grant ? believed_left_s(round, job) : believed_run_s(round, job, grant->type);
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* What is free now, and then what the jobs that run or were just started give back, one after the other. */
static struct future future_of(const struct round *round, const struct plan *plan, uint32_t type)
{
	struct arena *scratch = round->scratch;
	struct future f = { .steps = arena_array(scratch, struct step, round->nactive + 1) };
	uint32_t kept = 1;

	f.cap = round->nactive + 1;
	f.steps[f.n++] = (struct step){ round->now_s, plan_free(plan, type) };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *grant = plan_grant(plan, job->id);

		if (job_active(job) && grant && grant->type == type)
			f.steps[f.n++] = (struct step){ round->now_s + believed_s(round, job, grant),
				grant->gpus };
	}
	qsort(f.steps + 1, f.n - 1, sizeof(*f.steps), by_time);
	for (uint32_t i = 1; i < f.n; i++) {
		struct step step = { f.steps[i].at_s, f.steps[kept - 1].free + f.steps[i].free };

		if (step.at_s == f.steps[kept - 1].at_s)
			f.steps[kept - 1].free = step.free;
		else
			f.steps[kept++] = step;
	}
	f.n = kept;
	return f;
}

/* One walk over the queue. */
struct walk {
	const struct round *round;
	struct plan *plan;
	struct future *futures; /* by type; NULL while everybody so far could start */
	int reservations;       /* left to give */
	uint32_t holder;        /* of the first */
};

/* The type on which the job can start first, the one it is faster on if two are equal; UINT32_MAX if none ever. */
static uint32_t first_type(const struct walk *w, const struct job *job, double *at_s)
{
	uint32_t types[TYPES_MAX], best = UINT32_MAX;
	uint32_t n = kit_types(w->round, job, types);

	*at_s = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		double run_s = believed_run_s(w->round, job, types[i]);
		double from_s = future_earliest(&w->futures[types[i]], job_gpus_on(job, types[i]),
			run_s);

		if (from_s < *at_s) {
			*at_s = from_s;
			best = types[i];
		}
	}
	return best;
}

static void reserve(struct walk *w, const struct job *job, uint32_t type, double at_s)
{
	future_take(&w->futures[type], w->round->scratch, at_s,
		at_s + believed_run_s(w->round, job, type), job_gpus_on(job, type));
}

static bool enough_free(const struct walk *w, const struct job *job)
{
	for (uint32_t t = 0; t < w->round->cluster->ntypes; t++) {
		if (job_may_use(job, t) && plan_free(w->plan, t) >= job_gpus_on(job, t))
			return true;
	}
	return false;
}

static void look_ahead(struct walk *w)
{
	uint32_t ntypes = w->round->cluster->ntypes;

	w->futures = arena_array(w->round->scratch, struct future, ntypes);
	for (uint32_t t = 0; t < ntypes; t++)
		w->futures[t] = future_of(w->round, w->plan, t);
}

/* Starts the job now if that delays nobody; else reserves for it while reservations are left. */
static void start_or_reserve(struct walk *w, const struct job *job)
{
	double at_s;
	uint32_t type;

	if (!w->futures) {
		if (kit_run(w->round, w->plan, job))
			return;
		look_ahead(w);
	}
	if (w->reservations == 0 && !enough_free(w, job)) {
		kit_no_room(w->round, w->plan, job);
		return;
	}
	type = first_type(w, job, &at_s);
	if (type != UINT32_MAX && at_s <= w->round->now_s &&
		plan_run(w->plan, job, (struct want){ .type = (int)type })) {
		reserve(w, job, type, w->round->now_s);
		return;
	}
	if (type == UINT32_MAX || w->reservations == 0) {
		plan_why(w->plan, job->id,
			(struct reason){ .why = WHY_RESERVED, .need = job->gpus, .other = w->holder });
		return;
	}
	/* Where devices are free but scattered, nobody knows when they will lie together: none are kept for it. */
	if (at_s > w->round->now_s)
		reserve(w, job, type, at_s);
	w->reservations--;
	if (w->holder == JOB_NONE)
		w->holder = job->id;
	kit_no_room(w->round, w->plan, job);
}

/* Newcomers behind the point where nothing was left to hand out. */
static void explain_newcomers(const struct walk *w)
{
	for (uint32_t i = 0; i < w->round->nchanged; i++) {
		const struct job *job = &w->round->jobs[w->round->changed[i]];

		if (job->state == JOB_PENDING && job->reason.why <= WHY_NEW &&
			!plan_grant(w->plan, job->id))
			kit_no_room(w->round, w->plan, job);
	}
}

static int backfill_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct backfill *b = self;
	struct walk w = {
		.round = round,
		.plan = plan,
		.reservations = b->reservations,
		.holder = JOB_NONE,
	};

	(void)err;
	for (uint32_t i = 0; i < round->nactive && kit_any_free(round, plan); i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING)
			start_or_reserve(&w, job);
	}
	explain_newcomers(&w);
	return 0;
}

static double backfill_period_s(const void *self)
{
	return ((const struct backfill *)self)->round_s;
}

const struct policy policy_easy = {
	.name = "easy",
	.summary = "first come, first served; others fill gaps if they do not delay the first",
	.origin = "EASY backfilling: Lifka, JSSPP 1995",
	.family = "order",
	.traits = POLICY_ESTIMATES,
	.options = easy_options,
	.state_size = sizeof(struct backfill),
	.period_s = backfill_period_s,
	.decide = backfill_decide,
};

const struct policy policy_conservative = {
	.name = "conservative",
	.summary = "first come, first served; others fill gaps if they delay nobody ahead of them",
	.origin = "conservative backfilling: Feitelson and Weil, IPPS 1998",
	.family = "order",
	.traits = POLICY_ESTIMATES,
	.options = conservative_options,
	.state_size = sizeof(struct backfill),
	.period_s = backfill_period_s,
	.decide = backfill_decide,
};
