/*
 * Collecting the matrices.
 */
#include "policy/hetero/program.h"

#include <string.h>

#include "model/regime.h"

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

/* Whether both go at the same speeds by what the profile knows of their model. */
static bool alike(const struct job *a, const struct job *b)
{
	return a->by_steps && b->by_steps && job_model_now(a) == job_model_now(b) &&
		a->gpus == b->gpus && a->types == b->types && a->nominal_rate == b->nominal_rate &&
		!a->gpus_by_type && !b->gpus_by_type && a->units == b->units;
}

static uint32_t *seat_of(struct program *p, const struct job *job)
{
	return &p->seen[(job_model_now(job) * 7 + (uint32_t)job->gpus) % PROGRAM_SEEN];
}

/* Speeds on each type; false: it can run on none that is up.  Many jobs are alike: one look-up serves them. */
static bool take_speeds(struct program *p, const struct job *job, double *speeds)
{
	uint32_t seen = *seat_of(p, job);
	bool any = false;

	if (seen && alike(&p->round->jobs[p->id[seen - 1]], job)) {
		memcpy(speeds, &p->speed[(size_t)(seen - 1) * p->types], sizeof(double) * p->types);
		return true;
	}
	for (uint32_t w = 0; w < p->types; w++) {
		uint32_t gpus = job_gpus_on(job, p->type[w]);
		double speed = 0;

		if (job_may_use(job, p->type[w]) && gpus <= p->capacity[w])
			speed = rate_if(p->round->belief, job, p->type[w], gpus);
		speeds[w] = speed > 0 && isfinite(speed) ? speed : 0;
		any |= speeds[w] > 0;
	}
	return any;
}

/* Devices it takes at most where it can run. */
static double gang_of(const struct program *p, const struct job *job, const double *speeds)
{
	uint32_t most = 0;

	if (!job->gpus_by_type && !job->units)
		return job->gpus;
	for (uint32_t w = 0; w < p->types; w++) {
		uint32_t gpus = job_gpus_on(job, p->type[w]);

		if (speeds[w] > 0 && gpus > most)
			most = gpus;
	}
	return most;
}

static bool fits(const struct program *p, struct grant_part part)
{
	int w = program_column(p, part.type);

	return part.gpus == 0 || (w >= 0 && part.gpus <= p->capacity[w]);
}

/* Adds those of the row to be; returns whether it can run in one of them now. */
static bool take_configs(struct program *p, const struct job *job, const struct config_rules *rules,
	struct configs *configs)
{
	size_t start = configs->list.n;
	bool any = false;

	configs_add(configs, p->round, job, rules);
	for (size_t i = start; i < configs->list.n; i++) {
		struct config *c = &configs->list.at[i];

		if (!fits(p, c->part[0]) || !fits(p, c->part[1]))
			c->speed = 0;
		any |= c->speed > 0;
	}
	if (any)
		p->config_start[p->jobs + 1] = (uint32_t)configs->list.n;
	else
		configs->list.n = start;
	return any;
}

static void take_job(struct program *p, const struct job *job, const struct config_rules *rules,
	struct configs *configs)
{
	uint32_t row = p->jobs;
	double left = job->work_est - job_done(job, p->round->now_s);
	double *speeds = &p->speed[(size_t)row * p->types];
	bool runs_alone = take_speeds(p, job, speeds), runs = runs_alone;

	if (rules)
		runs = take_configs(p, job, rules, configs);
	if (!runs)
		return;
	p->jobs++;
	*seat_of(p, job) = runs_alone ? p->jobs : 0;
	p->id[row] = job->id;
	p->gang[row] = gang_of(p, job, speeds);
	p->weight[row] = job->weight;
	p->age_s[row] = p->round->now_s - job->arrival_s;
	p->left[row] = left > 0 ? left : 1; /* the belief has proved too short: about to end, then */
}

void program_pair_speed(const struct round *round, const struct job *job, const struct job *other,
	uint32_t type, double out[2])
{
	const struct profile *profile = round->belief->profile;
	uint32_t gpus = job_gpus_on(job, type);

	out[0] = out[1] = 0;
	if (job_is_fraction(job) || job_is_fraction(other))
		return;
	if (!job_may_use(job, type) || !job_may_use(other, type) || job_gpus_on(other, type) != gpus)
		return;
	out[0] = rate_if(round->belief, job, type, gpus);
	out[1] = rate_if(round->belief, other, type, gpus);
	if (!profile) {
		out[0] /= 2;
		out[1] /= 2;
		return;
	}
	out[0] *= profile_beside(profile, type, gpus, job_model_now(job), job_model_now(other));
	out[1] *= profile_beside(profile, type, gpus, job_model_now(other), job_model_now(job));
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

/* Jobs of equal size; fractions keep their part to themselves. */
static bool may_pair(const struct program *p, uint32_t a, uint32_t b)
{
	const struct job *jobs = p->round->jobs;

	return p->gang[a] == p->gang[b] && !job_is_fraction(&jobs[p->id[a]]) &&
		!job_is_fraction(&jobs[p->id[b]]);
}

static void take_pairs(struct program *p)
{
	size_t most = (size_t)p->jobs * (p->jobs - 1) / 2;

	p->pair = arena_array(p->round->scratch, struct program_pair, most);
	p->pair_speed = arena_array(p->round->scratch, double, most * p->types * 2);
	for (uint32_t a = 0; a < p->jobs; a++) {
		for (uint32_t b = a + 1; b < p->jobs; b++) {
			if (may_pair(p, a, b))
				take_pair(p, a, b);
		}
	}
}

void program_types(struct program *p, const struct round *round, const struct plan *plan)
{
	*p = (struct program){ .round = round };
	take_types(p, plan);
}

int program_column(const struct program *p, uint32_t type)
{
	for (uint32_t w = 0; w < p->types; w++) {
		if (p->type[w] == type)
			return (int)w;
	}
	return -1;
}

/* Whether columns are not all there is to say. */
static bool has_configs(const struct round *round, const struct config_rules *rules)
{
	if (!rules || config_rules_any(rules))
		return rules;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->gpus_by_type || job->units)
			return true;
	}
	return false;
}

static void keep_configs(struct program *p, const struct configs *configs)
{
	size_t n = configs->list.n;

	p->config_rows = p->jobs;
	p->config = arena_array(p->round->scratch, struct config, n);
	if (n > 0)
		memcpy(p->config, configs->list.at, n * sizeof(*p->config));
}

void program_init(struct program *p, const struct round *round, const struct plan *plan, bool pack)
{
	program_init_configs(p, round, plan, pack, NULL);
}

void program_init_configs(struct program *p, const struct round *round, const struct plan *plan,
	bool pack, const struct config_rules *rules)
{
	struct arena *arena = round->scratch;
	struct configs configs = { 0 };

	program_types(p, round, plan);
	if (!has_configs(round, rules))
		rules = NULL;
	if (rules)
		p->config_start = arena_array(arena, uint32_t, round->nactive + 1);
	p->id = arena_array(arena, uint32_t, round->nactive);
	p->speed = arena_array(arena, double, (size_t)round->nactive * p->types);
	p->gang = arena_array(arena, double, round->nactive);
	p->weight = arena_array(arena, double, round->nactive);
	p->left = arena_array(arena, double, round->nactive);
	p->age_s = arena_array(arena, double, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			take_job(p, &round->jobs[round->active[i]], rules, &configs);
	}
	if (rules)
		keep_configs(p, &configs);
	vec_fini(&configs.list);
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

static double config_rate(const struct program *p, const struct shares *shares, uint32_t row)
{
	double rate = 0;

	for (uint32_t i = p->config_start[row]; i < p->config_start[row + 1]; i++)
		rate += p->config[i].speed * shares->config_x[i];
	return rate;
}

double program_rate(const struct program *p, const struct shares *shares, uint32_t row)
{
	double rate = 0;

	if (shares->config_x && row < p->config_rows)
		return config_rate(p, shares, row);
	for (uint32_t w = 0; w < p->types; w++)
		rate += p->speed[row * p->types + w] * shares->x[row * p->types + w];
	for (uint32_t i = 0; shares->pair_x && i < shares_pairs(p, shares); i++) {
		struct program_pair pair = shares_pair(p, shares, i);

		if (pair.a == row || pair.b == row)
			rate += pair_rate(p, shares, i, pair.b == row);
	}
	return rate;
}

static double gang_on(const struct program *p, uint32_t row, uint32_t w)
{
	if (row >= p->config_rows)
		return p->gang[row];
	return p->config[p->config_start[row] + p->type[w]].part[0].gpus;
}

double program_used(const struct program *p, const struct shares *shares, uint32_t row, uint32_t column)
{
	double used = 0;

	if (!shares->config_x || row >= p->config_rows)
		return gang_on(p, row, column) * shares->x[(size_t)row * p->types + column];
	for (uint32_t i = p->config_start[row]; i < p->config_start[row + 1]; i++) {
		const struct grant_part *part = p->config[i].part;

		if (part[0].type == p->type[column])
			used += part[0].gpus * shares->config_x[i];
		if (config_mixed(part) && part[1].type == p->type[column])
			used += part[1].gpus * shares->config_x[i];
	}
	return used;
}

void program_isolated(const struct program *p, uint32_t row, uint32_t m, double *x)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		x[w] = p->capacity[w] / (m * gang_on(p, row, w));
		sum += x[w];
	}
	for (uint32_t w = 0; sum > 1 && w < p->types; w++)
		x[w] /= sum;
}

/* ---- in proportion */

static double weighted_sum(const struct program *p, bool per_job)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->jobs; i++)
		sum += p->weight[i] * (per_job ? 1 : p->gang[i]);
	return sum;
}

static void share_in_proportion(const struct program *p, uint32_t row, double all, double *x)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		if (p->speed[row * (size_t)p->types + w] > 0)
			x[w] = p->capacity[w] * p->weight[row] / all;
		sum += x[w];
	}
	for (uint32_t w = 0; sum > 1 && w < p->types; w++)
		x[w] /= sum;
}

void program_proportional(const struct program *p, bool per_job, struct shares *shares)
{
	double all = weighted_sum(p, per_job);

	for (uint32_t i = 0; i < p->jobs; i++)
		share_in_proportion(p, i, all, &shares->x[i * (size_t)p->types]);
}
