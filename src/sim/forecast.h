/*
 * When jobs start and end: the rules of a snapshot run forward over many
 * futures, in each of which jobs take as long, and others come, as their habits
 * have it.
 *
 * Of a snapshot that has but the first of a long queue, what becomes of those is exact as long as the jobs
 * that are left out would change nothing: until the last of some kind that is there has started.  Of what
 * comes after that moment there is a bound only: not before.
 */
#ifndef SIM_FORECAST_H
#define SIM_FORECAST_H

#include "model/calibration.h"
#include "sim/habits.h"

enum {
	FORECAST_FUTURES = 200,
	FORECAST_FEW = 200,  /* jobs: for more of them moments without events are rounded, too */
	FORECAST_LEAST = 20, /* futures, whatever they take, up to four times the budget */
};

struct forecast_config {
	const struct snapshot *from;
	const struct habits *habits;             /* settled */
	uint32_t futures;                        /* 0: FORECAST_FUTURES */
	double budget_s;                         /* of the clock; 0: as long as it takes */
	double horizon_s;                        /* no further; 0: 30 days */
	const struct correction *start, *finish; /* NULL: as the futures say */
	bool want_spans;
	const atomic_bool *stop; /* gives up when it is set; NULL: never */
	bool plain; /* also one in which all run as long as was said and nobody comes */
	uint64_t seed;
};

/* Seconds from the snapshot's now. */
struct forecast_job {
	uint32_t number;
	bool waits;
	struct moments start, raw_start; /* of one that waits */
	struct moments finish, raw_finish;
	double plain_start_s, plain_finish_s; /* NAN: not wanted */
	double never; /* share of futures in which it does not start within the horizon */
	bool bounded; /* jobs that are left out may come before it: it starts not before start.p10, and no more is known */
};

/* A job that is not in the snapshot. */
struct forecast_absent {
	uint32_t number;
	double not_before_s; /* INFINITY: a person must let it go */
};

/* Where a job is in the future that is nearest to all others, within a week, and not too many. */
struct forecast_span {
	uint32_t job; /* its place in the snapshot */
	uint32_t node;
	uint64_t devices;
	double from_s, to_s; /* the snapshot's time */
	double sure;         /* share of futures in which it runs in the middle of it */
};

struct forecast {
	double at_s;                        /* the snapshot's now */
	uint32_t futures;                   /* that were run */
	uint32_t wanted;                    /* that would have been with time enough */
	double cpu_s;                       /* of the thread, for all of it */
	VEC(struct forecast_job) jobs;      /* as in the snapshot */
	VEC(struct forecast_absent) absent; /* by number; empty: all are in it */
	double rest_s;                      /* none of these starts before; INFINITY: none will */
	VEC(struct forecast_span) spans;
};

/* Release with forecast_fini(), also after a failure. */
int forecast_run(const struct forecast_config *config, struct forecast *out, struct err *err);
void forecast_fini(struct forecast *forecast);
/* By number; NULL: it is not in it. */
const struct forecast_job *forecast_find(const struct forecast *forecast, uint32_t number);
const struct forecast_absent *forecast_find_absent(const struct forecast *forecast, uint32_t number);

#endif
