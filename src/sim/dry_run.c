#include "sim/dry_run.h"

#include <math.h>
#include <stdlib.h>

#include "sim/fate.h"
#include "sim/forecast.h"

enum { LEAST = 5 }; /* futures, whatever they take */

static const double WAKE_GRAIN = 0.02; /* of a long queue */

static const double NOW_S = 1;     /* no later is now */
static const double NOTHING_S = 1; /* less is no harm */

struct work {
	const struct dry_run_config *config;
	struct dry_run *out;
	struct snapshot without; /* a view of the same in which the new ones never come */
	struct snapshot_job *jobs;
	uint32_t old;   /* jobs that are there */
	uint32_t n;     /* futures so far */
	uint32_t never; /* of these, with one that does not start */
	uint32_t beyond; /* of these, in which jobs that are left out may come before the last of them */
	struct fate fate;
	struct future_job *with_jobs, *without_jobs;
	double *late;                   /* by old job and future */
	uint32_t *stopped;              /* by old job: futures */
	double *start, *finish, *gpu_s; /* by future */
	double held_s;                  /* of the new ones, in the present one */
	uint32_t room;
};

/* ---- one future, twice */

static void note_hold(void *ctx, uint32_t i, const struct grant *grant, double from_s, double to_s)
{
	struct work *w = ctx;

	if (i < w->old || i >= w->old + w->config->nnew)
		return;
	w->held_s += (to_s - from_s) * grant->gpus * (grant->share > 0 ? grant->share : 1);
	if (w->n == 0 && !w->out->gpus && i == w->old) {
		w->out->node = grant->slots[0].node;
		w->out->type = grant->type;
		w->out->gpus = grant->gpus;
		w->out->nodes = grant->nslots;
	}
}

static int run(struct work *w, const struct snapshot *from, struct future_job *out, double last_s,
	double *reached_s, struct err *err)
{
	bool with = from == w->config->from;
	struct future_config config = {
		.from = from,
		.work = w->fate.work,
		.arrivals = w->fate.arrivals,
		.narrivals = w->fate.narrivals,
		.until_s = from->now_s + FATE_HORIZON_S,
		.until_ended = true,
		.wake_grain = from->jobs.n > FORECAST_FEW ? WAKE_GRAIN : 0,
		.reached_s = reached_s,
		.wall_s = last_s,
		.stop = w->config->stop,
		.seed = w->config->seed,
		.span = with ? note_hold : NULL,
		.span_ctx = w,
	};

	return future_run(&config, out, err);
}

/* INFINITY against INFINITY is no difference. */
static double later(double with_s, double without_s)
{
	return isinf(with_s) && isinf(without_s) ? 0 : with_s - without_s;
}

static void note_future(struct work *w)
{
	double now_s = w->config->from->now_s, start_s = INFINITY, finish_s = now_s;
	double complete_s = future_complete_s(w->config->from, w->with_jobs);
	bool never = false, beyond = false;

	for (uint32_t i = 0; i < w->old; i++) {
		const struct future_job *a = &w->with_jobs[i], *b = &w->without_jobs[i];

		w->late[(size_t)i * w->room + w->n] = later(a->finish_s, b->finish_s);
		w->stopped[i] += a->stops > b->stops;
	}
	for (uint32_t i = w->old; i < w->old + w->config->nnew; i++) {
		const struct future_job *one = &w->with_jobs[i];

		start_s = fmin(start_s, one->start_s);
		finish_s = fmax(finish_s, one->finish_s);
		never |= isinf(one->start_s);
		beyond |= !future_is_exact(w->config->from, w->with_jobs, i, complete_s);
	}
	w->start[w->n] = start_s - now_s;
	w->finish[w->n] = finish_s - now_s;
	w->gpu_s[w->n] = w->held_s;
	w->never += never;
	w->beyond += beyond;
	w->n++;
}

/* The future without them was given up: their own moments are known, and nothing of others. */
static void note_alone(struct work *w)
{
	memcpy(w->without_jobs, w->with_jobs, w->config->from->jobs.n * sizeof(*w->without_jobs));
	note_future(w);
}

/* So was the one with them: those that did not start in it start later than it came. */
static void note_cut(struct work *w, double reached_s)
{
	for (uint32_t i = w->old; i < w->old + w->config->nnew; i++) {
		if (isinf(w->with_jobs[i].start_s)) {
			w->with_jobs[i].start_s = reached_s;
			w->beyond = 1;
		}
	}
	note_alone(w);
}

static int run_pair(void *ctx, double last_s, struct err *err)
{
	struct work *w = ctx;
	double reached_s;
	int rc;

	w->held_s = 0;
	rc = run(w, w->config->from, w->with_jobs, last_s, &reached_s, err);
	if (rc == ERR_TIMEOUT && w->n == 0 && !(w->config->stop && atomic_load(w->config->stop)))
		note_cut(w, reached_s);
	if (rc == 0)
		rc = run(w, &w->without, w->without_jobs, last_s, NULL, err);
	if (rc == ERR_TIMEOUT && w->n == 0 && !(w->config->stop && atomic_load(w->config->stop)))
		note_alone(w);
	if (rc == 0)
		note_future(w);
	return rc;
}

/* ---- summing up */

static int by_harm(const void *a, const void *b)
{
	const struct dry_run_harm *x = a, *y = b;

	if (x->late.p50 != y->late.p50)
		return x->late.p50 < y->late.p50 ? 1 : -1;
	if (x->late.p90 != y->late.p90)
		return x->late.p90 < y->late.p90 ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static void sum_up(struct work *w)
{
	struct dry_run *out = w->out;
	struct moments start = moments_of(w->start, w->n), finish = moments_of(w->finish, w->n);

	out->futures = w->n;
	out->starts_now = start.p50 <= NOW_S;
	out->start = w->config->start && !out->starts_now ? correction_apply(w->config->start, &start)
							  : start;
	out->finish = w->config->finish ? correction_apply(w->config->finish, &finish) : finish;
	if (w->config->nnew == 1)
		out->finish = fate_within_limit(&out->finish, &finish, &out->start,
			&w->config->from->jobs.at[w->old]);
	out->never = (double)w->never / w->n;
	out->bounded = w->beyond * 10 > w->n;
	out->gpu_s = moments_of(w->gpu_s, w->n).p50;
	for (uint32_t i = 0; i < w->old; i++) {
		struct dry_run_harm harm = {
			.number = w->config->from->jobs.at[i].number,
			.stopped = (double)w->stopped[i] / w->n,
			.late = moments_of(w->late + (size_t)i * w->room, w->n),
		};

		if (harm.late.p90 > NOTHING_S || harm.stopped >= 0.5)
			vec_push(&out->harms, harm);
	}
	if (out->harms.n)
		qsort(out->harms.at, out->harms.n, sizeof(*out->harms.at), by_harm);
}

/* ---- all of it */

/* The same snapshot, but a gate that nobody opens before the new ones. */
static void take_away(struct work *w)
{
	const struct snapshot *s = w->config->from;
	size_t size = mem_array_size(s->jobs.n + 1, sizeof(*w->jobs));

	w->jobs = mem_alloc(size);
	memcpy(w->jobs, s->jobs.at, s->jobs.n * sizeof(*w->jobs));
	for (uint32_t i = w->old; i < s->jobs.n; i++)
		w->jobs[i].opens_s = INFINITY;
	w->without = *s;
	w->without.jobs.at = w->jobs;
}

int dry_run(const struct dry_run_config *config, struct dry_run *out, struct err *err)
{
	uint32_t n = (uint32_t)config->from->jobs.n;
	struct work w = {
		.config = config,
		.out = out,
		.old = n - config->nnew,
		.room = config->futures ? config->futures : DRY_RUN_FUTURES,
	};
	struct fate_course course = {
		.wanted = w.room,
		.least = LEAST,
		.budget_s = config->budget_s,
		.stop = config->stop,
		.seed = config->seed,
		.until_s = config->from->now_s + FATE_HORIZON_S,
	};
	size_t all;
	int rc;

	*out = (struct dry_run){ .wanted = w.room };
	fate_init(&w.fate, config->from, config->habits, config->seed);
	all = (size_t)n + w.fate.most;
	w.with_jobs = mem_alloc(mem_array_size(all, sizeof(*w.with_jobs)));
	w.without_jobs = mem_alloc(mem_array_size(all, sizeof(*w.without_jobs)));
	w.late = mem_alloc(mem_array_size((size_t)w.old * w.room + 1, sizeof(*w.late)));
	w.stopped = mem_alloc(mem_array_size(w.old + 1u, sizeof(*w.stopped)));
	w.start = mem_alloc(mem_array_size(w.room, sizeof(*w.start)));
	w.finish = mem_alloc(mem_array_size(w.room, sizeof(*w.finish)));
	w.gpu_s = mem_alloc(mem_array_size(w.room, sizeof(*w.gpu_s)));
	take_away(&w);
	rc = fate_run_all(&w.fate, &course, run_pair, &w, err);
	if (rc > 0 || (rc == ERR_TIMEOUT && w.n > 0)) {
		sum_up(&w);
		rc = 0;
	}
	fate_fini(&w.fate);
	free(w.jobs);
	free(w.with_jobs);
	free(w.without_jobs);
	free(w.late);
	free(w.stopped);
	free(w.start);
	free(w.finish);
	free(w.gpu_s);
	return rc < 0 ? rc : 0;
}

void dry_run_fini(struct dry_run *dry_run)
{
	vec_fini(&dry_run->harms);
}
