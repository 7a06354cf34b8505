/*
 * A small world written down as matrices, and the shares that a policy chooses
 * in it: for tests of policies that work by shares.
 */
#ifndef TESTS_POLICY_HETERO_SETTING_H
#define TESTS_POLICY_HETERO_SETTING_H

#include <float.h>
#include <math.h>
#include <string.h>
#include "policy/hetero/program.h"
#include "policy/policy.h"
#include "solver/lp.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- a setting, and the shares a policy chooses in it */

enum { JOBS_MAX = 12, TYPES = 3 };

struct setting {
	uint32_t jobs, types;
	double speed[JOBS_MAX][TYPES]; /* 0: cannot run there */
	int gang[JOBS_MAX];            /* 0: 1 */
	double weight[JOBS_MAX];       /* 0: 1 */
	double work[JOBS_MAX];         /* steps; 0: 1000 */
	double deadline_s[JOBS_MAX];   /* 0: none */
	uint32_t tenant[JOBS_MAX];     /* of `tenants` */
	const struct tenants *tenants; /* named a, b, …; NULL: none */
	uint32_t capacity[TYPES];
	double price_per_h[TYPES];
};

struct answer {
	double x[JOBS_MAX][TYPES];
	double value;
	double price[TYPES];
	double level[JOBS_MAX];
	bool has_price, has_level;
	char fallback[128];
	int rc;
	struct err err;
};

static inline double gang_of(const struct setting *s, uint32_t i)
{
	return s->gang[i] ? s->gang[i] : 1;
}

static inline double work_of(const struct setting *s, uint32_t i)
{
	return s->work[i] > 0 ? s->work[i] : 1000;
}

/* Columns are by name and so are the types here. */
static inline int take_answer(void *ctx, const struct chosen_policy *policy,
	const struct round *round, const struct plan *plan, struct err *err)
{
	struct answer *a = ctx;
	struct shares shares = { 0 };
	struct program p;
	int rc = policy->rule->shares(policy->state, round, plan, &p, &shares, err);

	if (rc < 0)
		return rc;
	a->value = shares.value;
	a->has_price = shares.price;
	a->has_level = shares.level;
	snprintf(a->fallback, sizeof(a->fallback), "%s", shares.fallback ? shares.fallback : "");
	for (uint32_t i = 0; i < p.jobs; i++) {
		if (shares.level)
			a->level[p.id[i]] = shares.level[i];
		for (uint32_t w = 0; w < p.types; w++)
			a->x[p.id[i]][p.type[w]] = shares.x[(size_t)i * p.types + w];
	}
	for (uint32_t w = 0; shares.price && w < p.types; w++)
		a->price[p.type[w]] = shares.price[w];
	return 0;
}

static inline void build_cluster(const struct setting *s, char text[64])
{
	size_t n = 0;

	for (uint32_t w = 0; w < s->types; w++)
		n += (size_t)snprintf(text + n, 64 - n, "%s1x%u:t%u", w ? "," : "", s->capacity[w], w);
}

static inline void build_jobs(const struct setting *s, struct scene *scene)
{
	for (uint32_t i = 0; i < s->jobs; i++)
		names_add(&scene->trace.models, (char[]){ (char)('a' + i), 0 }, 1);
	for (uint32_t k = 0; s->tenants && k < s->tenants->n; k++)
		names_add(&scene->trace.tenants, s->tenants->at[k].name,
			strlen(s->tenants->at[k].name));
	scene->profile = profile_create(&scene->cluster, &scene->trace.models);
	for (uint32_t i = 0; i < s->jobs; i++) {
		struct job *job = scene_job(scene, 0, (int)gang_of(s, i), work_of(s, i));

		job->model = i;
		job->by_steps = true;
		job->weight = s->weight[i] > 0 ? s->weight[i] : 1;
		if (s->deadline_s[i] > 0)
			job->deadline_s = s->deadline_s[i];
		if (s->tenants)
			job->tenant = s->tenant[i];
		for (uint32_t w = 0; w < s->types; w++)
			profile_add(scene->profile, i, w, (uint32_t)job->gpus, 0, s->speed[i][w]);
	}
}

/* What the policy would do when all jobs have just come. */
static inline struct answer ask(const struct setting *s, const char *policy)
{
	struct answer answer = { 0 };
	struct outcome out;
	struct scene scene;
	char cluster[64];

	build_cluster(s, cluster);
	scene_init(&scene, cluster);
	build_jobs(s, &scene);
	for (uint32_t w = 0; w < s->types; w++)
		scene.cluster.types[w].price_per_h = s->price_per_h[w];
	scene.config.truth = scene.profile;
	scene.config.tenants = s->tenants;
	scene.config.policy = policy;
	scene.config.until_s = DBL_MIN;
	scene.config.look = take_answer;
	scene.config.look_ctx = &answer;
	answer.rc = scene_try(&scene, &out, &answer.err);
	if (answer.rc == 0)
		outcome_fini(&out);
	scene_fini(&scene);
	return answer;
}

static inline double rate_of(const struct setting *s, const struct answer *a, uint32_t i)
{
	double sum = 0;

	for (uint32_t w = 0; w < s->types; w++)
		sum += s->speed[i][w] * a->x[i][w];
	return sum;
}

/* What it would go at if it had the devices of each type in proportion. */
static inline double proportional(const struct setting *s, uint32_t i)
{
	double sum = 0, devices = 0;

	for (uint32_t w = 0; w < s->types; w++) {
		sum += s->speed[i][w] * s->capacity[w];
		devices += s->capacity[w];
	}
	return sum / devices;
}

static inline double best_speed(const struct setting *s, uint32_t i)
{
	double best = 0;

	for (uint32_t w = 0; w < s->types; w++)
		best = fmax(best, s->speed[i][w]);
	return best;
}

/* What max-min compares. */
static inline double unit_of(const struct setting *s, uint32_t i)
{
	return gang_of(s, i) / ((s->weight[i] > 0 ? s->weight[i] : 1) * proportional(s, i));
}

#define assert_near(got, want, within) near_to(got, want, within, __LINE__)

static inline void near_to(double got, double want, double within, int line)
{
	if (!(fabs(got - want) <= within))
		fail_msg("line %d: %.12g, not %.12g", line, got, want);
}

static inline bool one_of_two(struct rng *rng)
{
	return rng_below(rng, 2);
}

static const char *const both[] = { "gavel:", "gavel:compat=gavel" };

#endif
