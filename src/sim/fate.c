#include "sim/fate.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

enum {
	ARRIVALS_LEAST = 200,
	PATIENCE = 4, /* budgets, for the least number of futures */
};

/* Of how far off a job is, the part that it has in common with its tenant's others. */
static const double IN_COMMON = 0.4;

void fate_init(struct fate *fate, const struct snapshot *from, const struct habits *habits, uint64_t seed)
{
	uint32_t n = (uint32_t)from->jobs.n;

	*fate = (struct fate){
		.from = from,
		.habits = habits,
		.most = n > ARRIVALS_LEAST ? n : ARRIVALS_LEAST,
	};
	fate->work = mem_alloc(mem_array_size(n + 1u, sizeof(*fate->work)));
	fate->tenant = mem_alloc(mem_array_size(n + 1u, sizeof(*fate->tenant)));
	fate->likely = mem_alloc(mem_array_size((size_t)n * HABITS_LIKELY + 1, sizeof(*fate->likely)));
	fate->arrivals = mem_alloc(mem_array_size(fate->most, sizeof(*fate->arrivals)));
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_job *one = &from->jobs.at[i];
		struct rng rng;

		rng_for(&rng, seed, RNG_ERROR, one->number);
		fate->tenant[i] = one->job.tenant;
		habits_likely_work(habits, from, one, &rng, fate->likely + (size_t)i * HABITS_LIKELY);
	}
}

void fate_fini(struct fate *fate)
{
	free(fate->likely);
	free(fate->tenant);
	free(fate->work);
	free(fate->arrivals);
}

/* The part of a bell curve that lies below z. */
static double below(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

static double draw_one(const struct fate *fate, uint32_t i, uint64_t stream)
{
	const double *likely = fate->likely + (size_t)i * HABITS_LIKELY;
	struct rng rng, common;
	double z, at, part;
	uint32_t k;

	rng_for(&rng, stream, RNG_SAMPLE, fate->from->jobs.at[i].number);
	z = rng_normal(&rng);
	if (fate->tenant[i] != NAME_NONE) {
		rng_for(&common, stream, RNG_ERROR, fate->tenant[i]);
		z = sqrt(IN_COMMON) * rng_normal(&common) + sqrt(1 - IN_COMMON) * z;
	}
	at = below(z) * (HABITS_LIKELY - 1);
	k = (uint32_t)at;
	part = at - k;
	return k + 1 < HABITS_LIKELY ? likely[k] + part * (likely[k + 1] - likely[k]) : likely[k];
}

/* Draws of a job depend on nothing but the job, so that one more job changes no other's. */
void fate_draw(struct fate *fate, double until_s, uint64_t seed, uint32_t number)
{
	const struct snapshot *s = fate->from;
	uint64_t stream = seed ^ (UINT64_C(0x9e3779b97f4a7c15) * (number + 1u));
	struct rng rng;

	for (uint32_t i = 0; i < s->jobs.n; i++)
		fate->work[i] = draw_one(fate, i, stream);
	rng_for(&rng, stream, RNG_TRACE, 0);
	fate->narrivals = habits_draw_arrivals(fate->habits, s, until_s, &rng, fate->arrivals,
		fate->most);
}

void fate_as_said(struct fate *fate)
{
	const struct snapshot *s = fate->from;

	for (size_t i = 0; i < s->jobs.n; i++)
		fate->work[i] = fmax(s->jobs.at[i].job.work_est,
			job_done(&s->jobs.at[i].job, s->now_s));
	fate->narrivals = 0;
}

struct moments fate_within_limit(const struct moments *said, const struct moments *raw,
	const struct moments *start, const struct snapshot_job *one)
{
	double most_s = one->limit_s + one->grace_s;

	return (struct moments){
		fmin(said->p10, fmax(raw->p10, start->p10 + most_s)),
		fmin(said->p50, fmax(raw->p50, start->p50 + most_s)),
		fmin(said->p90, fmax(raw->p90, start->p90 + most_s)),
	};
}

/* ---- many of them */

double fate_last_s(const struct fate_course *course)
{
	return course->budget_s > 0 ? clock_wall_s() + PATIENCE * course->budget_s : 0;
}

bool fate_stopped(const struct fate_course *course)
{
	return course->stop && atomic_load(course->stop);
}

int fate_run_all(struct fate *fate, const struct fate_course *course, fate_run *run, void *ctx,
	struct err *err)
{
	double began_s = clock_wall_s(), last_s = fate_last_s(course);
	uint32_t i = 0;

	for (; i < course->wanted; i++) {
		int rc;

		if (fate_stopped(course))
			return err_set(err, ERR_TIMEOUT, "it was given up");
		if (course->budget_s > 0 && i >= course->least &&
			clock_wall_s() > began_s + course->budget_s)
			break;
		fate_draw(fate, course->until_s, course->seed, i);
		rc = run(ctx, last_s, err);
		if (rc == ERR_TIMEOUT && i > 0 && !fate_stopped(course))
			break;
		if (rc < 0)
			return rc;
	}
	return (int)i;
}
