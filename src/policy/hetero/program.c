/*
 * Collecting the matrices.
 */
#include "policy/hetero/program.h"

#include <string.h>

static int by_name(const struct cluster *cluster, uint32_t a, uint32_t b)
{
	return strcmp(cluster->types[a].name, cluster->types[b].name);
}

static void take_types(struct program *p, const struct plan *plan)
{
	const struct cluster *cluster = p->round->cluster;

	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		uint32_t up = plan->space.types[type].up, i = p->types;

		if (up == 0)
			continue;
		for (; i > 0 && by_name(cluster, p->type[i - 1], type) > 0; i--)
			p->type[i] = p->type[i - 1];
		p->type[i] = type;
		p->types++;
	}
	for (uint32_t w = 0; w < p->types; w++)
		p->capacity[w] = plan->space.types[p->type[w]].up;
}

static bool may_use(const struct job *job, uint32_t type)
{
	return job->types == 0 || (job->types >> type & 1);
}

/* Speeds on each type; false: it can run on none that is up. */
static bool take_speeds(struct program *p, const struct job *job, double *speeds)
{
	bool any = false;

	for (uint32_t w = 0; w < p->types; w++) {
		double speed = 0;

		if (may_use(job, p->type[w]) && job->gpus <= p->capacity[w])
			speed = rate_if(p->round->belief, job, p->type[w], (uint32_t)job->gpus);
		speeds[w] = speed > 0 && isfinite(speed) ? speed : 0;
		any |= speeds[w] > 0;
	}
	return any;
}

static void take_job(struct program *p, const struct job *job)
{
	uint32_t row = p->jobs;
	double left = job->work_est - job_done(job, p->round->now_s);

	if (!take_speeds(p, job, &p->speed[(size_t)row * p->types]))
		return;
	p->jobs++;
	p->id[row] = job->id;
	p->gang[row] = job->gpus;
	p->weight[row] = job->weight;
	p->age_s[row] = p->round->now_s - job->arrival_s;
	p->left[row] = left > 0 ? left : 1; /* the belief has proved too short: about to end, then */
}

void program_pair_speed(const struct round *round, const struct job *job, const struct job *other,
	uint32_t type, double out[2])
{
	const struct profile *profile = round->belief->profile;
	uint32_t gpus = (uint32_t)job->gpus;

	out[0] = out[1] = 0;
	if (!may_use(job, type) || !may_use(other, type))
		return;
	out[0] = rate_if(round->belief, job, type, gpus);
	out[1] = rate_if(round->belief, other, type, gpus);
	if (!profile) {
		out[0] /= 2;
		out[1] /= 2;
		return;
	}
	out[0] *= profile_beside(profile, type, gpus, job->model, other->model);
	out[1] *= profile_beside(profile, type, gpus, other->model, job->model);
	if (!(out[0] > 0 && out[1] > 0))
		out[0] = out[1] = 0;
}

static void take_pair(struct program *p, uint32_t a, uint32_t b)
{
	const struct job *jobs = p->round->jobs;
	uint32_t at = p->pairs++;

	p->pair[at] = (struct program_pair){ a, b };
	for (uint32_t w = 0; w < p->types; w++)
		program_pair_speed(p->round, &jobs[p->id[a]], &jobs[p->id[b]], p->type[w],
			&p->pair_speed[(at * p->types + w) * 2]);
}

static void take_pairs(struct program *p)
{
	size_t most = (size_t)p->jobs * (p->jobs - 1) / 2;

	p->pair = arena_array(p->round->scratch, struct program_pair, most);
	p->pair_speed = arena_array(p->round->scratch, double, most * p->types * 2);
	for (uint32_t a = 0; a < p->jobs; a++) {
		for (uint32_t b = a + 1; b < p->jobs; b++) {
			if (p->gang[a] == p->gang[b])
				take_pair(p, a, b);
		}
	}
}

void program_types(struct program *p, const struct round *round, const struct plan *plan)
{
	*p = (struct program){ .round = round };
	take_types(p, plan);
}

void program_init(struct program *p, const struct round *round, const struct plan *plan, bool pack)
{
	struct arena *arena = round->scratch;

	program_types(p, round, plan);
	p->id = arena_array(arena, uint32_t, round->nactive);
	p->speed = arena_array(arena, double, (size_t)round->nactive * p->types);
	p->gang = arena_array(arena, double, round->nactive);
	p->weight = arena_array(arena, double, round->nactive);
	p->left = arena_array(arena, double, round->nactive);
	p->age_s = arena_array(arena, double, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			take_job(p, &round->jobs[round->active[i]]);
	}
	if (pack && p->jobs > 1)
		take_pairs(p);
}

void shares_init(struct shares *shares, const struct program *p)
{
	struct arena *arena = p->round->scratch;

	*shares = (struct shares){ .x = arena_array(arena, double, (size_t)p->jobs * p->types) };
	if (p->pairs > 0)
		shares->pair_x = arena_array(arena, double, (size_t)p->pairs * p->types);
}

uint32_t shares_pairs(const struct program *p, const struct shares *shares)
{
	return shares->pair ? shares->pairs : p->pairs;
}

struct program_pair shares_pair(const struct program *p, const struct shares *shares, uint32_t i)
{
	return shares->pair ? shares->pair[i] : p->pair[i];
}

/* What pair `i` gives its first or second job. */
static double pair_rate(const struct program *p, const struct shares *shares, uint32_t i, bool second)
{
	struct program_pair pair = shares_pair(p, shares, i);
	const struct job *jobs = p->round->jobs;
	double rate = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		double x = shares->pair_x[(size_t)i * p->types + w], speed[2];

		if (!(x > 0))
			continue;
		program_pair_speed(p->round, &jobs[p->id[pair.a]], &jobs[p->id[pair.b]], p->type[w],
			speed);
		rate += x * speed[second];
	}
	return rate;
}

double program_rate(const struct program *p, const struct shares *shares, uint32_t row)
{
	double rate = 0;

	for (uint32_t w = 0; w < p->types; w++)
		rate += p->speed[row * p->types + w] * shares->x[row * p->types + w];
	for (uint32_t i = 0; shares->pair_x && i < shares_pairs(p, shares); i++) {
		struct program_pair pair = shares_pair(p, shares, i);

		if (pair.a == row || pair.b == row)
			rate += pair_rate(p, shares, i, pair.b == row);
	}
	return rate;
}

void program_isolated(const struct program *p, uint32_t row, uint32_t m, double *x)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		x[w] = p->capacity[w] / (m * p->gang[row]);
		sum += x[w];
	}
	for (uint32_t w = 0; sum > 1 && w < p->types; w++)
		x[w] /= sum;
}
