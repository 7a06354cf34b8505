/*
 * The throughput model of model/goodput.h from a few measurements.
 *
 * What cannot be seen yet is pinned so that the belief is optimistic: without
 * several devices they cost nothing, without several nodes these cost a tenth
 * more than one.  A job seen on one device is believed to scale perfectly.
 */
#ifndef MODEL_GOODPUT_FIT_H
#define MODEL_GOODPUT_FIT_H

#include "base/err.h"
#include "model/goodput.h"

/* One measured configuration. */
struct goodput_sample {
	double nodes, replicas, atomic;
	double step_s; /* a pass that synchronises */
	double sync_s; /* the part of it that is synchronisation; step_s - sync_s is computing */
};

struct goodput_fit_options {
	double tolerance; /* relative change of the objective at which the search ends; 0: 1e-5 */
};

struct goodput_fit {
	struct goodput_params params;
	double objective; /* root mean square errors of the logarithms, and the regularisers */
};

/* ERR_FORMAT naming the sample (from 0) if one is not finite or not positive, or there is none. */
int goodput_fit(const struct goodput_sample *samples, uint32_t n,
	const struct goodput_fit_options *options, struct goodput_fit *out, struct err *err);

#endif
