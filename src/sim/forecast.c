#include "sim/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sim/fate.h"

enum { SPANS_MAX = 20000 };                /* more than anybody can look at */
static const double SPANS_S = 7 * 86400.0; /* likewise */
static const double GRAIN = 0.02; /* so moments are right to 1 %: far less than what is not known */

/* What the futures said, by job and future: seconds from now. */
struct samples {
	float *start, *finish;
	uint32_t of_each; /* room */
	uint32_t n;       /* futures so far */
	uint32_t *beyond; /* by job: futures in which its start is but a bound */
	bool cut;         /* the only future was given up before its end */
};

struct work {
	const struct forecast_config *config;
	struct forecast *out;
	struct fate fate;
	struct samples samples;
	struct future_job *jobs; /* of the last future */
	struct fate_course course;
	double last_s; /* by the clock; 0: whenever */
};

/* ---- futures */

/* Of a long queue, decisions at which nothing has happened are most of the work. */
static double wake_grain(const struct work *w)
{
	return w->config->from->jobs.n > FORECAST_FEW ? GRAIN : 0;
}

static int run_fate(struct work *w, double wall_s, double *reached_s, struct err *err)
{
	struct future_config config = {
		.from = w->config->from,
		.work = w->fate.work,
		.arrivals = w->fate.arrivals,
		.narrivals = w->fate.narrivals,
		.until_s = w->course.until_s,
		.until_ended = true,
		.grain = GRAIN,
		.wake_grain = wake_grain(w),
		.reached_s = reached_s,
		.stop = w->config->stop,
		.wall_s = wall_s,
		.seed = w->config->seed,
	};

	return future_run(&config, w->jobs, err);
}

static void note_future(struct work *w)
{
	const struct snapshot *s = w->config->from;
	struct samples *samples = &w->samples;
	double complete_s = future_complete_s(s, w->jobs);

	for (size_t i = 0; i < s->jobs.n; i++) {
		size_t at = i * samples->of_each + samples->n;

		samples->start[at] = (float)(w->jobs[i].start_s - s->now_s);
		samples->finish[at] = (float)(w->jobs[i].finish_s - s->now_s);
		samples->beyond[i] += !future_is_exact(s, w->jobs, (uint32_t)i, complete_s);
	}
	samples->n++;
}

/* Not one future could be run to its end: what did not start in it starts later than it came. */
static void note_cut(struct work *w, double reached_s)
{
	const struct snapshot *s = w->config->from;

	for (size_t i = s->nrunning; i < s->jobs.n; i++) {
		if (!isinf(w->jobs[i].start_s))
			continue;
		w->jobs[i].start_s = reached_s;
		w->samples.beyond[i]++;
	}
	note_future(w);
	w->samples.cut = true;
}

static int run_one(void *ctx, double last_s, struct err *err)
{
	struct work *w = ctx;
	double reached_s = INFINITY;
	int rc = run_fate(w, last_s, &reached_s, err);

	if (rc == 0)
		note_future(w);
	else if (rc == ERR_TIMEOUT && w->samples.n == 0 && !fate_stopped(&w->course))
		note_cut(w, reached_s);
	return rc;
}

/* ---- what they say together */

static struct moments moments_in(const float *samples, uint32_t n, double *scratch)
{
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = (double)samples[i];
	return moments_of(scratch, n);
}

static double share_never(const float *starts, uint32_t n)
{
	uint32_t never = 0;

	for (uint32_t i = 0; i < n; i++)
		never += isinf(starts[i]);
	return n ? (double)never / n : 1;
}

static struct moments corrected(const struct correction *by, const struct moments *raw)
{
	return by ? correction_apply(by, raw) : *raw;
}

/* Nobody ends before they start, or starts before they may. */
static struct moments not_before(const struct moments *m, const struct moments *least)
{
	return (struct moments){
		fmax(m->p10, least->p10),
		fmax(m->p50, least->p50),
		fmax(m->p90, least->p90),
	};
}

static struct moments opening(const struct snapshot *s, const struct snapshot_job *one)
{
	double in_s = fmax(0, one->opens_s - s->now_s);

	return (struct moments){ in_s, in_s, in_s };
}

/* ---- a part of the queue */

/* Marks those that start, in one future of ten or more, when jobs that are left out may have started. */
static void mark_bounded(struct work *w)
{
	const struct snapshot *s = w->config->from;

	for (uint32_t i = s->nrunning; i < s->jobs.n; i++)
		w->out->jobs.at[i].bounded = w->samples.beyond[i] * 10 > w->samples.n;
}

/* The bound of a kind: the last one of it that is here starts no sooner in nine futures of ten. */
static double rest_bound_s(const struct work *w, const struct snapshot_rest *rest)
{
	double horizon_s = w->course.until_s - w->config->from->now_s;

	if (rest->shut)
		return INFINITY;
	if (rest->last == JOB_NONE)
		return 0;
	return fmin(w->out->jobs.at[rest->last].start.p10, horizon_s);
}

/* Those that follow others that are left out start no sooner than any of these. */
static void bound_rest(struct work *w)
{
	const struct snapshot *s = w->config->from;
	struct forecast *out = w->out;
	double *bound_s = mem_alloc(mem_array_size(s->rest.n + 1, sizeof(*bound_s)));
	double least_s = INFINITY;

	for (size_t i = 0; i < s->rest.n; i++) {
		bound_s[i] = rest_bound_s(w, &s->rest.at[i]);
		if (s->rest.at[i].last != JOB_NONE)
			least_s = fmin(least_s, bound_s[i]);
	}
	for (size_t i = 0; i < s->rest.n; i++) {
		if (s->rest.at[i].last == JOB_NONE && !s->rest.at[i].shut)
			bound_s[i] = isfinite(least_s) ? least_s : 0;
	}
	out->rest_s = INFINITY;
	for (size_t i = 0; i < s->rest.n; i++)
		out->rest_s = fmin(out->rest_s, bound_s[i]);
	vec_reserve(&out->absent, s->absent.n);
	for (size_t i = 0; i < s->absent.n; i++)
		vec_push(&out->absent,
			((struct forecast_absent){ s->absent.at[i].number,
				bound_s[s->absent.at[i].rest] }));
	free(bound_s);
}

static void sum_up(struct work *w)
{
	const struct snapshot *s = w->config->from;
	struct samples *samples = &w->samples;
	double *scratch = mem_alloc(mem_array_size(samples->n + 1u, sizeof(*scratch)));

	vec_reserve(&w->out->jobs, s->jobs.n);
	for (uint32_t i = 0; i < s->jobs.n; i++) {
		const float *start = samples->start + (size_t)i * samples->of_each;
		const float *finish = samples->finish + (size_t)i * samples->of_each;
		struct moments opens = opening(s, &s->jobs.at[i]);
		struct forecast_job job = {
			.number = s->jobs.at[i].number,
			.waits = i >= s->nrunning,
			.raw_finish = moments_in(finish, samples->n, scratch),
			.plain_start_s = NAN,
			.plain_finish_s = NAN,
		};

		if (job.waits) {
			job.raw_start = moments_in(start, samples->n, scratch);
			job.start = corrected(w->config->start, &job.raw_start);
			job.start = not_before(&job.start, &opens);
			job.never = share_never(start, samples->n);
		}
		job.finish = corrected(w->config->finish, &job.raw_finish);
		job.finish = not_before(&job.finish, &job.start);
		job.finish = fate_within_limit(&job.finish, &job.raw_finish, &job.start,
			&s->jobs.at[i]);
		vec_push(&w->out->jobs, job);
	}
	free(scratch);
	mark_bounded(w);
	bound_rest(w);
}

static int run_plain(struct work *w, struct err *err)
{
	const struct snapshot *s = w->config->from;
	int rc;

	fate_as_said(&w->fate);
	rc = run_fate(w, w->last_s, NULL, err);
	for (size_t i = 0; rc == 0 && i < s->jobs.n; i++) {
		w->out->jobs.at[i].plain_start_s = w->jobs[i].start_s - s->now_s;
		w->out->jobs.at[i].plain_finish_s = w->jobs[i].finish_s - s->now_s;
	}
	return rc;
}

/* ---- the one to show */

/* The future whose starts are least far from the middle. */
static uint32_t nearest(const struct work *w)
{
	const struct samples *samples = &w->samples;
	double best = INFINITY;
	uint32_t at = 0;

	for (uint32_t k = 0; k < samples->n; k++) {
		double off = 0;

		for (size_t i = 0; i < w->out->jobs.n && off < best; i++) {
			const struct forecast_job *job = &w->out->jobs.at[i];
			double mine = (double)samples->finish[i * samples->of_each + k];

			off += fabs(log1p(fmin(mine, FATE_HORIZON_S)) -
				log1p(fmin(job->raw_finish.p50, FATE_HORIZON_S)));
		}
		if (off < best) {
			best = off;
			at = k;
		}
	}
	return at;
}

static double share_running(const struct work *w, uint32_t i, double at_s)
{
	const struct samples *samples = &w->samples;
	uint32_t there = 0;

	for (uint32_t k = 0; k < samples->n; k++) {
		size_t at = (size_t)i * samples->of_each + k;

		there += (double)samples->start[at] <= at_s && at_s < (double)samples->finish[at];
	}
	return samples->n ? (double)there / samples->n : 0;
}

static void note_span(void *ctx, uint32_t i, const struct grant *grant, double from_s, double to_s)
{
	struct work *w = ctx;
	const struct snapshot *s = w->config->from;

	if (i >= s->jobs.n || !(to_s > from_s) || w->out->spans.n >= SPANS_MAX ||
		from_s > s->now_s + SPANS_S)
		return;
	for (uint32_t k = 0; k < grant->nslots; k++)
		vec_push(&w->out->spans,
			((struct forecast_span){
				.job = i,
				.node = grant->slots[k].node,
				.devices = grant->slots[k].devices,
				.from_s = from_s,
				.to_s = to_s,
				.sure = share_running(w, i, (from_s + to_s) / 2 - s->now_s),
			}));
}

static int run_spans(struct work *w, struct err *err)
{
	struct future_config config = {
		.from = w->config->from,
		.work = w->fate.work,
		.arrivals = w->fate.arrivals,
		.until_s = w->course.until_s,
		.until_ended = true,
		.grain = GRAIN,
		.wake_grain = wake_grain(w),
		.stop = w->config->stop,
		.seed = w->config->seed,
		.wall_s = w->last_s > 0 ? clock_wall_s() + w->config->budget_s : 0,
		.span = note_span,
		.span_ctx = w,
	};

	fate_draw(&w->fate, w->course.until_s, w->config->seed, nearest(w));
	config.narrivals = w->fate.narrivals;
	return future_run(&config, w->jobs, err);
}

/* ---- all of it */

static int run_all(struct work *w, struct err *err)
{
	int rc = fate_run_all(&w->fate, &w->course, run_one, w, err);

	if (rc < 0 && !w->samples.cut)
		return rc;
	rc = 0;
	w->out->futures = w->samples.n;
	sum_up(w);
	if (w->samples.cut)
		return 0;
	if (w->config->plain)
		rc = run_plain(w, err);
	if (rc == 0 && w->config->want_spans)
		rc = run_spans(w, err);
	/* What is known already is worth having without these two. */
	return rc == ERR_TIMEOUT && !fate_stopped(&w->course) ? 0 : rc;
}

int forecast_run(const struct forecast_config *config, struct forecast *out, struct err *err)
{
	uint32_t n = (uint32_t)config->from->jobs.n;
	uint32_t wanted = config->futures ? config->futures : FORECAST_FUTURES;
	double before_s = clock_thread_cpu_s();
	struct work w = {
		.config = config,
		.out = out,
		.samples.of_each = wanted,
		.course = {
			.wanted = wanted,
			.least = FORECAST_LEAST,
			.budget_s = config->budget_s,
			.stop = config->stop,
			.seed = config->seed,
			.until_s = config->from->now_s +
				(config->horizon_s > 0 ? config->horizon_s : FATE_HORIZON_S),
		},
	};
	size_t room = mem_array_size((size_t)n * wanted + 1, sizeof(float));
	int rc;

	*out = (struct forecast){ .at_s = config->from->now_s, .wanted = wanted };
	fate_init(&w.fate, config->from, config->habits, config->seed);
	w.samples.start = mem_alloc(room);
	w.samples.finish = mem_alloc(room);
	w.samples.beyond = mem_alloc(mem_array_size(n + 1u, sizeof(*w.samples.beyond)));
	w.jobs = mem_alloc(mem_array_size((size_t)n + w.fate.most, sizeof(*w.jobs)));
	w.last_s = fate_last_s(&w.course);
	rc = run_all(&w, err);
	free(w.jobs);
	free(w.samples.start);
	free(w.samples.finish);
	free(w.samples.beyond);
	fate_fini(&w.fate);
	out->cpu_s = clock_thread_cpu_s() - before_s;
	return rc;
}

void forecast_fini(struct forecast *forecast)
{
	vec_fini(&forecast->jobs);
	vec_fini(&forecast->absent);
	vec_fini(&forecast->spans);
}

const struct forecast_job *forecast_find(const struct forecast *forecast, uint32_t number)
{
	for (size_t i = 0; i < forecast->jobs.n; i++) {
		if (forecast->jobs.at[i].number == number)
			return &forecast->jobs.at[i];
	}
	return NULL;
}

const struct forecast_absent *forecast_find_absent(const struct forecast *forecast, uint32_t number)
{
	size_t low = 0, high = forecast->absent.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (forecast->absent.at[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < forecast->absent.n && forecast->absent.at[low].number == number
		? &forecast->absent.at[low]
		: NULL;
}
