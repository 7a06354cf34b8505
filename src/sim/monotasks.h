/*
 * Workers with a queue for each resource: the world of Ursa, and of schedulers
 * that hand out whole tasks instead.
 *
 * A task is placed on a worker and its monotasks pass through that worker's
 * queues one after the other; a resource is free again as soon as a monotask
 * ends.  How the worker runs them is the same for all: so many at once of each
 * resource, the job that is first first, then the earlier stage.  Schedulers
 * differ in what they place, and decide every interval:
 *
 *	ursa	tasks where queues lack what they bring, until queues are full for the next while
 *	slots	a task takes a core (and a device if it uses any) of its worker until it has ended, whatever it
 *		does: containers, as of YARN
 *	tetris	a task takes a slot of every resource it will ever use until it has ended, where that fits best
 *
 * The same configuration gives the same result.
 */
#ifndef SIM_MONOTASKS_H
#define SIM_MONOTASKS_H

#include "base/err.h"
#include "model/monotask.h"

enum mono_scheduler { MONO_URSA, MONO_SLOTS, MONO_TETRIS, MONO_SCHEDULERS };
extern const char *const mono_scheduler_names[MONO_SCHEDULERS + 1];

enum mono_order { MONO_EJF, MONO_SRJF }; /* earliest job first; least remaining first */

/* One monotask, as it ran. */
struct mono_span {
	uint32_t job, stage, task; /* task: of its stage, from 0 */
	uint32_t step, worker;
	enum mono_resource resource;
	double start_s, end_s;
};

struct mono_config {
	const struct mono_load *load;
	uint32_t workers;
	struct mono_worker worker; /* all alike */
	enum mono_scheduler scheduler;
	enum mono_order order;
	double interval_s;
	double ept_s; /* more than the interval */
	bool strict;
	double noise; /* of the rates that ursa measures: deviation of their logarithm */
	uint64_t seed;
	void (*tell)(void *ctx, const struct mono_span *span); /* at its end; NULL: nobody listens */
	/* After each decision of ursa: what a worker has in its queues, in seconds of all slots; NULL: nobody asks. */
	void (*placed)(void *ctx, uint32_t worker, const double apt_s[MONO_RESOURCES]);
	void *ctx;
};

struct mono_result {
	double makespan_s; /* from the first arrival */
	double *jct_s;     /* by job, owned */
	double mean_jct_s;
	double utilisation[MONO_RESOURCES]; /* of all slots until the last end; NAN: there are none */
	uint64_t monotasks, decisions;
};

/* ERR_USAGE: a task that no worker can ever run, an EPT that is not above the interval. */
int mono_run(const struct mono_config *config, struct mono_result *out, struct err *err);
void mono_result_fini(struct mono_result *result);

#endif
