/*
 * One future: the rules of a snapshot run forward from it, in a world where
 * every job takes as long as somebody says.
 *
 * The policy decides as it would live.  What it believes of jobs is what the
 * snapshot believes; how long they really take is `work`.
 */
#ifndef SIM_FUTURE_H
#define SIM_FUTURE_H

#include <stdatomic.h>

#include "engine/observer.h"
#include "model/snapshot.h"

/* Somebody who comes later. */
struct future_arrival {
	struct job job; /* arrival_s, gpus, …; names by the numbers of the snapshot */
	double work;    /* the truth: steps */
};

struct future_config {
	const struct snapshot *from;
	const char *policy; /* another one than the snapshot's; NULL: the same */
	const double *work; /* by job of the snapshot: steps in all, as this future has it */
	const struct future_arrival *arrivals; /* by arrival_s */
	uint32_t narrivals;
	double until_s; /* not further than this */
	bool until_ended; /* nor further than until every job of the snapshot has ended that ever will */
	double grain; /* ends and arrivals within this part of their distance from now are one; 0: exact */
	double wake_grain; /* the same of moments when the policy decides again though nothing happened */
	double *reached_s; /* where it gave up: how far it came; else INFINITY.  May be NULL */
	double wall_s;     /* gives up then, by clock_wall_s(); 0: never */
	const atomic_bool *stop; /* likewise when it is set; NULL: never */
	uint64_t seed;
	const struct observer *observers; /* may be NULL */
	uint32_t nobservers;
	/* Told of each time an entrant held devices, in the order these end; NULL: nobody is. */
	void (*span)(void *ctx, uint32_t entrant, const struct grant *grant, double from_s,
		double to_s);
	void *span_ctx;
};

/* What became of a job: INFINITY for what did not happen by until_s. */
struct future_job {
	double start_s; /* it next has devices; now_s if it has some */
	double finish_s;
	uint32_t stops;       /* times it lost its devices */
	bool refused;         /* it could not be let in */
	struct reason reason; /* why it waits, as last said; `other` is a job here, snapshot first */
};

/* `out` has a place for each job of the snapshot, then for each arrival.  ERR_TIMEOUT: it gave up, and `out` has what came
 * to pass so far. */
int future_run(const struct future_config *config, struct future_job *out, struct err *err);

/*
 * Of a snapshot with a part of the queue: up to this moment the jobs that are left out would have changed
 * nothing, for none of them could have started.  INFINITY: all jobs are there.
 */
double future_complete_s(const struct snapshot *from, const struct future_job *jobs);
/* Whether a job starts when it would with all others: before that moment, or then and before the jobs left out. */
bool future_is_exact(const struct snapshot *from, const struct future_job *jobs, uint32_t place,
	double complete_s);

#endif
