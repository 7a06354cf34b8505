/*
 * What Optimus learns of a job (Peng et al., EuroSys 2018): how its loss falls,
 * hence how long it will train, and how fast it is with so many workers and
 * parameter servers.  Both are linear after an inversion and are fitted by
 * least squares that cannot become negative.
 */
#ifndef MODEL_OPTIMUS_FIT_H
#define MODEL_OPTIMUS_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* ---- loss: 1 / (b0 k + b1) + b2 after k epochs (or steps) */

struct loss_point {
	double k, loss;
};

struct loss_curve {
	double b0, b1, b2; /* none is negative */
	double error;      /* root mean square of the points used, in units of the loss */
	uint32_t used;     /* points that are no outliers */
};

struct loss_fit_options {
	uint32_t grid; /* values of b2 tried between 0 and the least loss; 0: 1000 */
	bool recent;   /* later points count more: 4 and 16 times in the second and last third */
	bool raw;      /* outliers stay */
};

/* Points by k, ascending.  ERR_FORMAT naming the point (from 0) that is no finite, positive loss; two are needed. */
int loss_fit(const struct loss_point *points, uint32_t n, const struct loss_fit_options *options,
	struct loss_curve *out, struct err *err);
double loss_at(const struct loss_curve *curve, double k);
/* The first whole k after which `window` more lower the loss by less than `delta`; `horizon` if that comes first. */
double loss_converged(const struct loss_curve *curve, double delta, double window, double horizon);

/* ---- speed, in steps per second */

enum speed_kind {
	SPEED_SYNC,  /* 1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p) */
	SPEED_ASYNC, /* w / (t0 + t1 w/p + t2 w + t3 p) */
	SPEED_RING,  /* no servers: 1 / (t0 M/w + t1 + t2 w) */
};

extern const char *const speed_kind_names[];

#define SPEED_THETAS 5

struct speed_point {
	double servers, workers; /* servers do not count with SPEED_RING */
	double speed;
};

struct speed_curve {
	enum speed_kind kind;
	double batch; /* M, the global one */
	double theta[SPEED_THETAS];
	double error; /* root mean square relative error of the speeds */
};

/* Fewest points to fit that kind from. */
uint32_t speed_points_needed(enum speed_kind kind);
/* ERR_FORMAT where a point is not finite and positive; any number of points, few leave thetas at 0. */
int speed_fit(enum speed_kind kind, double batch, const struct speed_point *points, uint32_t n,
	struct speed_curve *out, struct err *err);
/* INFINITY where no time is known to pass. */
double speed_at(const struct speed_curve *curve, double servers, double workers);

#endif
