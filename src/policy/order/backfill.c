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
		"decide every so many seconds only; 0: at every event"),
	{ 0 },
};

static const struct option conservative_options[] = {
	OPT_INT(struct backfill, reservations, 1000, 1, 1000000,
		"jobs at the head of the queue that nobody may delay; the rest wait behind them"),
	OPT_DOUBLE(struct backfill, round_s, 0, 0, 1e6,
		"decide every so many seconds only; 0: at every event"),
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

/* How long it will still run, as far as is believed; at least a moment. */
static double believed_s(const struct round *round, const struct job *job)
{
	return fmax(1, job_remaining_s(job, round->now_s));
}

static struct future *futures_of(const struct round *round, const struct plan *plan)
{
	struct future *futures = arena_array(round->scratch, struct future, round->cluster->ntypes);

	for (uint32_t t = 0; t < round->cluster->ntypes; t++)
		future_push(&futures[t], round->scratch, 0,
			(struct step){ round->now_s, plan_free(plan, t) });
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct future *f;
		uint32_t from;

		if (!job_active(job) || !job->grant)
			continue;
		f = &futures[job->grant->type];
		from = future_split(f, round->scratch, round->now_s + believed_s(round, job));
		for (; from < f->n; from++)
			f->steps[from].free += job->grant->gpus;
	}
	return futures;
}

/* The type on which the job can start first, the one it is faster on if two are equal; UINT32_MAX if none ever. */
static uint32_t first_type(const struct round *round, const struct future *futures,
	const struct job *job, double *at_s)
{
	uint32_t types[TYPES_MAX], best = UINT32_MAX;
	uint32_t n = kit_types(round, job, types);

	*at_s = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		double from_s = future_earliest(&futures[types[i]], job->gpus, believed_s(round, job));

		if (from_s < *at_s) {
			*at_s = from_s;
			best = types[i];
		}
	}
	return best;
}

static bool any_free(const struct round *round, const struct plan *plan)
{
	for (uint32_t t = 0; t < round->cluster->ntypes; t++) {
		if (plan_free(plan, t) > 0)
			return true;
	}
	return false;
}

static bool enough_free(const struct round *round, const struct plan *plan, const struct job *job)
{
	for (uint32_t t = 0; t < round->cluster->ntypes; t++) {
		if ((job->types == 0 || job->types >> t & 1) && plan_free(plan, t) >= (uint32_t)job->gpus)
			return true;
	}
	return false;
}

/* Starts the job now if that delays nobody; else reserves for it while reservations are left. */
static void start_or_reserve(const struct round *round, struct plan *plan, struct future *futures,
	const struct job *job, int *reservations, uint32_t *holder)
{
	double at_s;
	uint32_t type;

	if (*reservations == 0 && !enough_free(round, plan, job)) {
		kit_no_room(round, plan, job);
		return;
	}
	type = first_type(round, futures, job, &at_s);
	if (type != UINT32_MAX && at_s <= round->now_s &&
		plan_run(plan, job, (struct want){ .type = (int)type })) {
		future_take(&futures[type], round->scratch, round->now_s,
			round->now_s + believed_s(round, job), job->gpus);
		return;
	}
	if (type != UINT32_MAX && *reservations > 0) {
		at_s = fmax(at_s, round->now_s);
		future_take(&futures[type], round->scratch, at_s, at_s + believed_s(round, job),
			job->gpus);
		(*reservations)--;
		*holder = *holder == JOB_NONE ? job->id : *holder;
		kit_no_room(round, plan, job);
		return;
	}
	plan_why(plan, job->id,
		(struct reason){ .why = WHY_RESERVED, .need = job->gpus, .other = *holder });
}

/* Jobs that came when nothing was left to look at; the first reason of a round stands. */
static void explain_newcomers(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];

		if (job->state == JOB_PENDING && !plan_grant(plan, job->id))
			kit_no_room(round, plan, job);
	}
}

static int backfill_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct backfill *b = self;
	struct future *futures = futures_of(round, plan);
	int reservations = b->reservations;
	uint32_t holder = JOB_NONE;

	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state != JOB_PENDING)
			continue;
		if (reservations == 0 && !any_free(round, plan))
			break;
		start_or_reserve(round, plan, futures, job, &reservations, &holder);
	}
	explain_newcomers(round, plan);
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
