#include "sim/habits.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	ENOUGH = 20,       /* jobs of a tenant that count as much as all others together */
	AROUND_LEAST = 15, /* guesses on either side that are about as long */
	AROUND_MOST = 100,
	FEW = 5, /* too few to draw from */
	OUTLOOK_MAX = 512,
};

/* Sorted. */
struct habit_values {
	VEC(double) at;
};

/* An estimate, and what came of it. */
struct guess {
	double estimate; /* seconds */
	double ratio;    /* what it was, over that */
	uint32_t turn; /* among those of the same estimate: by chance, so that any part is like all */
};

struct habit_guesses {
	VEC(struct guess) at;
};

/*
 * Before anything was seen: users' estimates are mostly too long, now and then too short.
 * Guesses, which a few jobs of one's own outweigh.
 */
static const double usual_ratios[] = { 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1, 1, 1.2, 2 };

/* Of the believed run time, where nobody has said anything and nothing was seen. */
static const double UNKNOWN_SPREAD = 1.2;
/* A job that tells its steps may still go on a little longer or shorter than it said. */
static const double REPORTED_SPREAD = 0.05;

/* ---- collecting */

static void drop_values(struct habits *h)
{
	for (uint32_t i = 0; h->settled && i <= h->tenants.n; i++) {
		vec_fini(&h->runs[i].at);
		vec_fini(&h->guesses[i].at);
	}
	free(h->runs);
	free(h->guesses);
	h->runs = NULL;
	h->guesses = NULL;
	h->settled = false;
}

void habits_fini(struct habits *h)
{
	drop_values(h);
	vec_fini(&h->past);
	names_fini(&h->tenants);
	*h = (struct habits){ 0 };
}

static int by_sequence(const void *a, const void *b)
{
	uint32_t x = ((const struct habit *)a)->sequence, y = ((const struct habit *)b)->sequence;

	return (x > y) - (x < y);
}

static int by_arrival(const void *a, const void *b)
{
	double x = ((const struct habit *)a)->job.arrival_s,
	       y = ((const struct habit *)b)->job.arrival_s;

	return x != y ? (x > y) - (x < y) : by_sequence(a, b);
}

/* The older half goes at once, so that this is rare. */
static void forget_oldest(struct habits *h)
{
	size_t gone = h->past.n - HABITS_MAX;

	qsort(h->past.at, h->past.n, sizeof(*h->past.at), by_sequence);
	memmove(h->past.at, h->past.at + gone, HABITS_MAX * sizeof(*h->past.at));
	h->past.n = HABITS_MAX;
}

/* What it asked for, without what it points to and without where it stood. */
static struct job as_asked(const struct job *job)
{
	struct job asked;

	job_init(&asked);
	asked.arrival_s = job->arrival_s;
	asked.gpus = job->gpus;
	asked.min_gpus = job->min_gpus;
	asked.max_gpus = job->max_gpus;
	asked.types = job->types;
	asked.class_ = job->class_;
	asked.weight = job->weight;
	asked.priority = job->priority;
	asked.cpus = job->cpus;
	asked.mem_bytes = job->mem_bytes;
	asked.share = job->share;
	asked.gpu_mem_bytes = job->gpu_mem_bytes;
	asked.start_cost_s = job->start_cost_s;
	asked.resume_cost_s = job->resume_cost_s;
	asked.resize_cost_s = job->resize_cost_s;
	asked.by_steps = job->by_steps;
	asked.work_est = job->work_est;
	asked.nominal_rate = job->nominal_rate;
	return asked;
}

void habits_add(struct habits *h, const struct job *job, const char *tenant, double work, bool estimated)
{
	struct habit habit = {
		.job = as_asked(job),
		.work = work,
		.estimated = estimated && job->work_est > 0,
		.sequence = h->next++,
	};

	drop_values(h);
	habit.job.tenant = tenant ? names_add(&h->tenants, tenant, strlen(tenant)) : NAME_NONE;
	vec_push(&h->past, habit);
	if (h->past.n >= HABITS_MAX * 3 / 2)
		forget_oldest(h);
}

/* ---- sorting */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_estimate(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;

	if (x->estimate != y->estimate)
		return x->estimate < y->estimate ? -1 : 1;
	return (x->turn > y->turn) - (x->turn < y->turn);
}

static void note_guess(struct habits *h, const struct habit *one)
{
	struct guess guess = {
		.estimate = one->job.work_est / one->job.nominal_rate,
		.ratio = one->work / one->job.work_est,
		.turn = (uint32_t)h->guesses[0].at.n * UINT32_C(2654435761), /* each once */
	};

	vec_push(&h->guesses[0].at, guess);
	if (one->job.tenant != NAME_NONE)
		vec_push(&h->guesses[1 + one->job.tenant].at, guess);
}

static void note_value(struct habit_values *all, uint32_t tenant, double value)
{
	vec_push(&all[0].at, value);
	if (tenant != NAME_NONE)
		vec_push(&all[1 + tenant].at, value);
}

void habits_settle(struct habits *h)
{
	size_t groups = h->tenants.n + 1u;

	if (h->settled)
		return;
	h->runs = mem_alloc(mem_array_size(groups, sizeof(*h->runs)));
	h->guesses = mem_alloc(mem_array_size(groups, sizeof(*h->guesses)));
	h->settled = true;
	if (h->past.n)
		qsort(h->past.at, h->past.n, sizeof(*h->past.at), by_arrival);
	for (size_t i = 0; i < h->past.n; i++) {
		const struct habit *one = &h->past.at[i];

		if (one->estimated)
			note_guess(h, one);
		note_value(h->runs, one->job.tenant, one->work / one->job.nominal_rate);
	}
	for (size_t i = 0; i < groups; i++) {
		if (h->runs[i].at.n)
			qsort(h->runs[i].at.at, h->runs[i].at.n, sizeof(double), by_value);
		if (h->guesses[i].at.n)
			qsort(h->guesses[i].at.at, h->guesses[i].at.n, sizeof(struct guess),
				by_estimate);
	}
}

/* ---- how long */

/* Of those above `floor`; NAN: there is none. */
static double draw_above(const struct habit_values *values, double floor, struct rng *rng)
{
	size_t low = 0, high = values->at.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (values->at.at[mid] > floor)
			high = mid;
		else
			low = mid + 1;
	}
	return low < values->at.n ? values->at.at[low + rng_below(rng, values->at.n - low)] : NAN;
}

/* A tenant's own past counts the more, the more there is of it. */
static double draw_like(const struct habit_values *all, uint32_t tenant, double floor, struct rng *rng)
{
	double own = tenant == NAME_NONE ? 0 : (double)all[1 + tenant].at.n, value = NAN;

	if (rng_uniform(rng) < own / (own + ENOUGH))
		value = draw_above(&all[1 + tenant], floor, rng);
	return isnan(value) ? draw_above(&all[0], floor, rng) : value;
}

/* What may become of an estimate, given that it has not ended yet. */
struct outlook {
	double own[OUTLOOK_MAX], all[OUTLOOK_MAX]; /* ratios: of its tenant's, of everybody's */
	uint32_t nown, nall;
	double of_own; /* how likely its own count */
};

/* How many are shorter, or, with `equal`, not longer. */
static size_t count_shorter(const struct habit_guesses *guesses, double estimate, bool equal)
{
	size_t low = 0, high = guesses->at.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		double there = guesses->at.at[mid].estimate;

		if (equal ? there <= estimate : there < estimate)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Of the guesses about as long as this one those that lasted longer than it has: very long ones are
 * more often too long, very short ones too short.  People like round numbers, so many may be equal.
 */
static uint32_t gather(const struct habit_guesses *guesses, double estimate, double floor,
	size_t around, double *out)
{
	size_t n = guesses->at.n;
	size_t middle =
		(count_shorter(guesses, estimate, false) + count_shorter(guesses, estimate, true)) / 2;
	size_t high = middle + around < n ? middle + around : n;
	uint32_t found = 0;

	for (size_t i = middle > around ? middle - around : 0; i < high && found < OUTLOOK_MAX; i++) {
		if (guesses->at.at[i].ratio > floor)
			out[found++] = guesses->at.at[i].ratio;
	}
	return found;
}

static size_t usual_around(size_t n)
{
	size_t around = n / 20;

	return around < AROUND_LEAST ? AROUND_LEAST : around > AROUND_MOST ? AROUND_MOST : around;
}

static void look_out(const struct habits *h, uint32_t tenant, double estimate, double floor,
	struct outlook *out)
{
	const struct habit_guesses *own = tenant == NAME_NONE ? NULL : &h->guesses[1 + tenant];
	const struct habit_guesses *all = &h->guesses[0];
	size_t around = usual_around(all->at.n);

	*out = (struct outlook){ 0 };
	if (own) {
		out->nown = gather(own, estimate, floor, usual_around(own->at.n), out->own);
		out->of_own = (double)own->at.n / (double)(own->at.n + ENOUGH);
	}
	/* Few have lasted as long: those of other lengths are better than nothing. */
	do {
		out->nall = gather(all, estimate, floor, around, out->all);
		around *= 2;
	} while (out->nall < FEW && around <= 2 * all->at.n);
	for (size_t i = 0; all->at.n < ENOUGH && i < sizeof(usual_ratios) / sizeof(usual_ratios[0]);
		i++) {
		if (usual_ratios[i] > floor)
			out->all[out->nall++] = usual_ratios[i];
	}
}

/* NAN: none has lasted as long. */
static double draw_ratio(const struct outlook *o, struct rng *rng)
{
	if (o->nown && rng_uniform(rng) < o->of_own)
		return o->own[rng_below(rng, o->nown)];
	return o->nall ? o->all[rng_below(rng, o->nall)] : NAN;
}

/* Nobody ever took so long: the longer it has run already, the longer it may. */
static double draw_beyond(double done, struct rng *rng)
{
	return done / pow(1 - rng_uniform(rng), 0.25);
}

uint32_t habits_tenant(const struct habits *h, const struct snapshot *s, const struct job *job)
{
	const char *name = job->tenant < s->tenant_names.n ? s->tenant_names.at[job->tenant] : NULL;

	return name ? names_find(&h->tenants, name, strlen(name)) : NAME_NONE;
}

static double draw_unknown(const struct habits *h, const struct job *job, uint32_t tenant,
	double done, struct rng *rng)
{
	double per_s = job->nominal_rate > 0 ? job->nominal_rate : 1, run_s;

	if (h->runs[0].at.n < ENOUGH)
		return fmax(done, 1) +
			fmax(job->work_est - done, job->work_est / 10) *
			rng_lognormal(rng, 0, UNKNOWN_SPREAD);
	run_s = draw_like(h->runs, tenant, done / per_s, rng);
	return isnan(run_s) ? draw_beyond(fmax(done, per_s), rng) : run_s * per_s;
}

static double draw_work(const struct habits *h, const struct snapshot_job *one, uint32_t tenant,
	const struct outlook *outlook, double done, struct rng *rng)
{
	const struct job *job = &one->job;
	double ratio;

	if (one->known >= 1)
		return done + fmax(job->work_est - done, 0) * rng_lognormal(rng, 0, REPORTED_SPREAD);
	if (!(one->known > 0 && job->work_est > 0))
		return draw_unknown(h, job, tenant, done, rng);
	ratio = draw_ratio(outlook, rng);
	return isnan(ratio) ? draw_beyond(done, rng) : ratio * job->work_est;
}

void habits_likely_work(const struct habits *h, const struct snapshot *s,
	const struct snapshot_job *one, struct rng *rng, double out[HABITS_LIKELY])
{
	const struct job *job = &one->job;
	double per_s = job->nominal_rate > 0 ? job->nominal_rate : 1;
	double done = job_done(job, s->now_s);
	uint32_t tenant = habits_tenant(h, s, job);
	struct outlook outlook;

	look_out(h, tenant, job->work_est / per_s, done / job->work_est, &outlook);
	for (int i = 0; i < HABITS_LIKELY; i++)
		out[i] = fmax(draw_work(h, one, tenant, &outlook, done, rng), done);
	qsort(out, HABITS_LIKELY, sizeof(*out), by_value);
}
