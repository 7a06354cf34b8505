/*
 * The simulated world: a driver whose clock jumps, and one call that runs a
 * whole workload under a policy.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/engine.h"
#include "engine/observer.h"
#include "engine/outcome.h"
#include "model/cluster.h"
#include "model/profile.h"
#include "model/tenant.h"
#include "model/training.h"
#include "model/trace.h"

/* Seconds a job holds its devices without making steps; NAN: what the trace says of the job. */
struct costs {
	double start_s;  /* first start */
	double resume_s; /* after a preemption, failure or migration */
	double resize_s;
};

/* Node failures: times drawn per node (exponential), or read from `file`. */
struct failures {
	double mtbf_s;    /* mean time between failures of one node; 0: none */
	double repair_s;  /* mean time to repair */
	const char *file; /* CSV "time_s,node,up|down"; NULL: drawn */
};

struct sim_config {
	const struct trace *trace;
	const struct cluster *cluster;
	const struct profile *truth;  /* NULL: every job at nominal speed */
	const struct profile *belief; /* NULL: the truth, or what `estimate` makes of it */
	const struct training *training; /* how models really train; NULL: all go at the speed of their profile */
	int compat; /* enum compat: whose rules the world follows; -1: as the policy asks */
	const char *estimate; /* options of sim/belief.h: speeds are estimated; NULL: they are known */
	const struct tenants *tenants; /* not bound: each run binds a copy; NULL: none were given */
	const char *policy;            /* "tiresias:queues=3,limit_s=3600" */
	const char *placer;            /* likewise; NULL: first-fit */
	const char *admit;             /* likewise; NULL: all */
	uint64_t seed;
	double error; /* believed run time = true one times lognormal noise of this deviation, mean 1; ignored if oracle */
	bool oracle;  /* policies believe the truth, even where the trace has estimates */
	struct costs costs;
	struct failures failures;
	const struct loan *loan; /* nodes that are borrowed (sim/loan.h); NULL: none */
	double until_s;          /* stop there; 0: when all is done */
	bool want_spans;         /* record who held which device when */
	const struct observer *observers;
	uint32_t nobservers;
	/* Called now and then with the jobs ended so far; NULL: nobody asks.  False stops the run with ERR_REFUSED. */
	bool (*progress)(void *ctx, uint32_t ended, double now_s);
	void *progress_ctx;
	/* As in struct engine_config. */
	int (*look)(void *ctx, const struct chosen_policy *policy, const struct round *round,
		const struct plan *plan, struct err *err);
	void *look_ctx;
};

/*
 * Somebody who comes by while it goes on, at moments of their own, each time after everything up to
 * then has happened and was decided.
 */
struct sim_visitor {
	void *self;
	/* The next moment, later than the last; INFINITY: no more, and the run is over. */
	double (*next_s)(void *self);
	/* Borrowed for the call; `rules` has the engine's cluster and belief. */
	int (*visit)(void *self, const struct engine *engine, const struct engine_config *rules,
		double now_s, struct err *err);
};

/* Defaults: costs from the trace, no error, no failures. */
void sim_config_init(struct sim_config *config);

/*
 * Runs the workload.  On success `out` holds every job as it ended: release it with outcome_fini().
 * Jobs that could not end are JOB_UNFINISHED with the reason, never silently missing.
 */
int sim_run(const struct sim_config *config, struct outcome *out, struct err *err);

/* Runs it for the visitor alone; speeds that are to be estimated are not. */
int sim_visit(const struct sim_config *config, const struct sim_visitor *visitor, struct err *err);

#endif
