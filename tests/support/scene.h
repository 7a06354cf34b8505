/*
 * A small world to run policies in: a cluster, jobs, and one call that runs
 * them, also under a policy that is in no table.
 */
#ifndef TESTS_SUPPORT_SCENE_H
#define TESTS_SUPPORT_SCENE_H

#include "base/rng.h"
#include "engine/engine.h"
#include "sim/sim.h"

struct scene {
	struct cluster cluster;
	struct trace trace;
	struct sim_config config;  /* of the cluster and the trace; change what matters */
	struct profile *profile;   /* for those who need one; goes with the scene */
	struct training *training; /* likewise */
	const struct admission *admission; /* a rule without state that is in no table; NULL: config.admit */
	const struct placer *placer; /* likewise; NULL: config.placer */
	bool ready;                  /* the trace is finished */
};

/* The scene must not move afterwards.  A bad cluster fails the test. */
void scene_init(struct scene *scene, const char *cluster);
void scene_fini(struct scene *scene);

/* Adds a job, valid until the next call.  Before the first run. */
struct job *scene_job(struct scene *scene, double at_s, int gpus, double work);

/* No more jobs: puts them in order.  The runs do so, too. */
void scene_ready(struct scene *scene);

int scene_try(struct scene *scene, struct outcome *out, struct err *err);
/* The same; an error fails the test. */
void scene_run(struct scene *scene, struct outcome *out);

/* The same under `policy` with `state`, which stays the caller's; placer and admission as the scene's. */
int scene_try_policy(struct scene *scene, const struct policy *policy, void *state,
	struct outcome *out, struct err *err);
void scene_run_policy(struct scene *scene, const struct policy *policy, void *state,
	struct outcome *out);

/* A policy of the table as "name:options", ready to use; a bad one fails the test. */
struct chosen_policy scene_policy(const char *spec);
void scene_policy_fini(struct chosen_policy *policy);

/* Jobs with whole numbers, so that arithmetic is exact and ties are many. */
struct draw {
	uint32_t jobs;
	uint32_t last_arrival_s, work_max;
	uint32_t gpus_max; /* counts are 1, 2, 4, … up to this */
};
void scene_draw(struct scene *scene, struct rng *rng, struct draw draw);

/* A random number from 1 to n. */
uint32_t pick(struct rng *rng, uint32_t n);

#endif
