/*
 * Reservations: devices that are kept for a job that waits, from the moment on at which
 * enough of them will have been given back.
 *
 * An outlook is a picture of the future: how many devices of each type are free from when
 * on, as jobs end and reservations begin.  Policies take from it what they start and what
 * they keep, and ask it whether a job that starts now would be in the way.
 */
#ifndef POLICY_RESERVATION_H
#define POLICY_RESERVATION_H

#include "policy/kit.h"

/* How long from now the job keeps its devices: those it has, or those of the type if it started now; INFINITY: nobody knows. */
typedef double stays_fn(const struct round *round, const struct job *job, uint32_t type);

/* By what is believed of its run time; one that should have ended is expected to in a moment. */
double stays_by_belief(const struct round *round, const struct job *job, uint32_t type);

/* By its time limit, which ends it; INFINITY without one. */
double stays_by_limit(const struct round *round, const struct job *job, uint32_t type);

/* From at_s on (until the next step), so many devices are free. */
struct step {
	double at_s;
	int64_t free;
};

/* The future of one type; the first step is now, the last one lasts for ever. */
struct type_outlook {
	struct step *steps;
	uint32_t n, cap;
};

struct outlook {
	const struct round *round;
	stays_fn *stays_s;
	struct type_outlook *types; /* by type; NULL before outlook_make() */
};

/* What is free now, and then what jobs that have devices in the plan give back, one after the other; in the round's scratch. */
void outlook_make(struct outlook *o, const struct round *round, const struct plan *plan,
	stays_fn *stays_s);
/* The type on which the job can start first, the one it is faster on if two are equal, and when; UINT32_MAX if none ever. */
uint32_t outlook_first(const struct outlook *o, const struct job *job, double *at_s);
/* The earliest time from which so many devices of a type are free for run_s; INFINITY: never. */
double outlook_when(const struct outlook *o, uint32_t type, uint32_t gpus, double run_s);
/* So many devices of a type are taken from at_s on, for run_s. */
void outlook_take_for(struct outlook *o, uint32_t type, uint32_t gpus, double at_s, double run_s);
/* The job has its devices of the type from at_s on, for as long as it would stay if it started now. */
void outlook_take(struct outlook *o, const struct job *job, uint32_t type, double at_s);

#endif
