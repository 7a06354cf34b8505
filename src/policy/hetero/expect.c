#include "policy/hetero/expect.h"

#include <math.h>
#include <string.h>

#include "base/real.h"

/* Fewer jobs than this are not worth a row. */
static const double least_jobs = 1e-3;

void expect_fini(struct expect *expect)
{
	vec_fini(&expect->met);
	vec_fini(&expect->kinds);
}

/* ---- what came */

static double fade(const struct expect *e, double seconds)
{
	return real_exp(-seconds / e->memory_s);
}

static struct expect_kind *kind_of(struct expect *e, const struct job *job)
{
	for (size_t i = 0; i < e->kinds.n; i++) {
		struct expect_kind *kind = &e->kinds.at[i];

		if (kind->model == job->model && kind->gpus == job->gpus && kind->weight == job->weight)
			return kind;
	}
	vec_push(&e->kinds,
		(struct expect_kind){ .model = job->model, .gpus = job->gpus, .weight = job->weight });
	return &e->kinds.at[e->kinds.n - 1];
}

static void take(struct expect *e, const struct job *job, double now_s)
{
	struct expect_kind *kind = kind_of(e, job);
	double old = fade(e, now_s - kind->seen_s);

	kind->mass = kind->mass * old + 1;
	kind->work = kind->work * old + fmax(job->work_est, 1);
	kind->seen_s = now_s;
	kind->example = job->id;
}

/* Who is held back is not here yet; who was refused never will be. */
static bool came(const struct job *job)
{
	return job->state != JOB_FUTURE && job->state != JOB_HELD && job->state != JOB_REJECTED;
}

void expect_see(struct expect *e, const struct round *round)
{
	bool first = !e->begun;

	if (first) {
		e->began_s = round->now_s;
		e->begun = true;
	}
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];

		if (!came(job))
			continue;
		vec_grow_zero(&e->met, (size_t)job->id + 1);
		if (!e->met.at[job->id] && !first)
			take(e, job, round->now_s);
		e->met.at[job->id] = true;
	}
}

/* ---- what is likely to come */

/* The mass that one arrival a second would have gathered since the first look. */
static double full_mass(const struct expect *e, double now_s)
{
	return e->memory_s * (1 - fade(e, now_s - e->began_s));
}

double expect_rate(const struct expect *e, size_t kind, double now_s)
{
	const struct expect_kind *k = &e->kinds.at[kind];
	double full = full_mass(e, now_s);

	return full > 0 ? k->mass * fade(e, now_s - k->seen_s) / full : 0;
}

/* Who comes u seconds from now is there for min(stay, horizon - u) of the horizon: the mean over all u. */
double expect_present(double rate, double stay_s, double horizon_s)
{
	if (!(horizon_s > 0 && stay_s > 0))
		return 0;
	if (stay_s >= horizon_s)
		return rate * horizon_s / 2;
	return rate * stay_s * (1 - stay_s / (2 * horizon_s));
}

static bool may_use(const struct job *job, uint32_t type)
{
	return job->types == 0 || (job->types >> type & 1);
}

/* Speeds of the row; returns the mean over all devices, 0: it can run on none. */
static double take_speeds(const struct program *p, const struct job *job, double *speeds)
{
	double sum = 0, devices = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		double speed = 0;

		if (may_use(job, p->type[w]) && job->gpus <= p->capacity[w])
			speed = rate_if(p->round->belief, job, p->type[w], (uint32_t)job->gpus);
		speeds[w] = speed > 0 && isfinite(speed) ? speed : 0;
		sum += speeds[w] * p->capacity[w];
		devices += p->capacity[w];
	}
	return devices > 0 ? sum / devices : 0;
}

static void add_row(const struct expect *e, size_t number, double horizon_s, struct program *p)
{
	const struct expect_kind *kind = &e->kinds.at[number];
	const struct job *example = &p->round->jobs[kind->example];
	uint32_t row = p->jobs;
	double rate = expect_rate(e, number, p->round->now_s), work, speed, jobs;

	if (!(rate > 0))
		return;
	work = kind->work / kind->mass;
	speed = take_speeds(p, example, &p->speed[(size_t)row * p->types]);
	jobs = speed > 0 ? expect_present(rate, work / speed, horizon_s) : 0;
	if (jobs < least_jobs)
		return;
	p->jobs++;
	p->id[row] = JOB_NONE;
	p->gang[row] = jobs * kind->gpus;
	p->weight[row] = jobs * kind->weight;
	p->left[row] = work;
	p->age_s[row] = 0;
}

static double *copy(struct arena *arena, const double *from, size_t n, size_t room)
{
	double *to = arena_array(arena, double, room);

	if (n > 0)
		memcpy(to, from, n * sizeof(*to));
	return to;
}

void expect_extend(const struct expect *e, const struct program *p, double horizon_s,
	struct program *longer)
{
	struct arena *arena = p->round->scratch;
	size_t most = p->jobs + e->kinds.n;

	*longer = *p;
	if (p->round->closed || e->kinds.n == 0)
		return;
	longer->id = arena_array(arena, uint32_t, most);
	if (p->jobs > 0)
		memcpy(longer->id, p->id, p->jobs * sizeof(*p->id));
	longer->speed = copy(arena, p->speed, (size_t)p->jobs * p->types, most * p->types);
	longer->gang = copy(arena, p->gang, p->jobs, most);
	longer->weight = copy(arena, p->weight, p->jobs, most);
	longer->left = copy(arena, p->left, p->jobs, most);
	longer->age_s = copy(arena, p->age_s, p->jobs, most);
	for (size_t i = 0; i < e->kinds.n; i++)
		add_row(e, i, horizon_s, longer);
}
