/*
 * The throughput model of model/goodput.h from a few measurements.
 *
 * What cannot be seen yet is pinned so that the belief is optimistic: without
 * several devices they cost nothing, without several nodes these cost a tenth
 * more than one.  A job seen on one device is believed to scale perfectly with a
 * batch that grows with its devices; with one that does not, only if computing is
 * taken to be proportional to it.
 */
#ifndef MODEL_GOODPUT_FIT_H
#define MODEL_GOODPUT_FIT_H

#include <stdbool.h>

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
	/*
	 * Search from more places than the one that schedulers' agents start from, and keep the best: for
	 * people, who fit once.  An agent that did so would not believe what published ones do.
	 */
	bool thorough;
	/*
	 * Of one batch size seen, all computing is taken to depend on it, not half: a job that keeps its total
	 * batch is then believed to scale until it has shown otherwise.  Published agents change their batch and do
	 * not.
	 */
	bool proportional;
};

struct goodput_fit {
	struct goodput_params params;
	double objective; /* of these: root mean square errors of the logarithms, and the regularisers */
};

/* What samples tell; the rest is pinned. */
struct goodput_seen {
	bool sizes; /* more than one batch size; else half of computing (or none) is taken not to depend on it */
	bool nodes;    /* several nodes; else they cost a tenth more than one */
	bool replicas; /* several devices of one node; else they cost nothing */
	bool growth;   /* more than two devices; else more cost no more than two */
	double grad_s; /* mean time of computing */
};
struct goodput_seen goodput_seen(const struct goodput_sample *samples, uint32_t n);

/* ERR_FORMAT naming the sample (from 0) if one is not finite or not positive, or there is none. */
int goodput_fit(const struct goodput_sample *samples, uint32_t n,
	const struct goodput_fit_options *options, struct goodput_fit *out, struct err *err);

#endif
