/*
 * A round made by hand: jobs that stand where a test puts them, one decision,
 * and who would run.
 */
#ifndef TESTS_SUPPORT_DESK_H
#define TESTS_SUPPORT_DESK_H

#include "base/vec.h"
#include "engine/engine.h"

struct desk {
	struct cluster cluster;
	struct rates belief;
	struct plan plan;
	VEC(struct job) jobs;
	VEC(uint32_t) ids;
	VEC(char) job_state;
	struct arena scratch;
	struct rng rng;
};

/* The desk must not move afterwards. */
void desk_init(struct desk *desk, const char *cluster);
void desk_fini(struct desk *desk);

/* Adds a waiting job that has run for `ran_s` with all its GPUs; returns it until the next call. */
struct job *desk_job(struct desk *desk, double arrival_s, int gpus, double work, double ran_s);
/* It runs since `since_s`; there must be room. */
void desk_run(struct desk *desk, uint32_t job, double since_s);

/* Asks the policy "name:options"; all jobs are news to it. */
void desk_decide(struct desk *desk, const char *policy, double now_s);

bool desk_runs(const struct desk *desk, uint32_t job);
/* The reason given to a job that shall not run; WHY_NONE: none. */
struct reason desk_reason(const struct desk *desk, uint32_t job);
/* Letters of the jobs that would run: job 0 is A. */
const char *desk_who(const struct desk *desk);

#endif
