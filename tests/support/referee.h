/*
 * An observer that knows the rules: what must be true after every event,
 * whatever the policy.  It remembers the first breach.
 */
#ifndef TESTS_SUPPORT_REFEREE_H
#define TESTS_SUPPORT_REFEREE_H

#include "base/vec.h"
#include "engine/engine.h"
#include "engine/observer.h"
#include "engine/outcome.h"
#include "model/trace.h"

/* A job as the events tell it. */
struct ref_job {
	enum job_state state;
	struct grant *grant; /* what it holds, a copy */
	double since_s;
};

/* Watches the nodes of one cluster. */
struct referee {
	const struct cluster *cluster;
	const struct trace *trace;
	VEC(struct ref_job) jobs;
	uint64_t *twice; /* likewise: held by two jobs */
	uint64_t *taken; /* by node: devices held */
	bool *down;      /* by node */
	bool guests;     /* some job was a guest on its devices */
	double now_s;
	double held_gpu_s;
	uint64_t events;
	char breach[256]; /* "" as long as all is well */

	/* the policy it stands behind, see referee_policy() */
	struct chosen_policy watched;
	struct policy cover;
};

/* Keeps `cluster` and `trace`. */
void referee_init(struct referee *referee, const struct cluster *cluster, const struct trace *trace);
void referee_fini(struct referee *referee);
struct observer referee_observer(struct referee *referee);

/* A policy that decides as `policy` does and is watched while it does; its state is the referee. */
const struct policy *referee_policy(struct referee *referee, struct chosen_policy policy);

/* What must be true of the whole run.  All jobs that could run must have. */
void referee_end(struct referee *referee, const struct outcome *outcome);

#endif
