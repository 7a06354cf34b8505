/*
 * A belief about speeds that starts from few measurements: what is unknown is
 * completed from models that are alike, and refined by what is seen.
 *
 * Two matrices of logarithms: speeds alone (a row for each model, a column for
 * each type and number of devices), and what company leaves of them (a row for
 * each model and number of devices, a column for each type and neighbour).
 * How holes are filled is the caller's choice; this file decides what is known
 * and turns the answer into a profile.
 *
 * That a model cannot run somewhere, or not beside another, is a fact that
 * shows at once (memory is full): it is always known and never estimated.
 */
#ifndef MODEL_ESTIMATE_H
#define MODEL_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "model/cluster.h"
#include "model/profile.h"

/* A configuration that matters beside those that were measured. */
struct estimate_cell {
	uint32_t model, type, gpus;
};

struct estimate_config {
	const struct cluster *cluster; /* this and the next two are kept */
	const struct names *models;
	const struct profile *truth; /* where measurements come from */
	const struct estimate_cell *also;
	uint32_t nalso;

	/* what is measured beforehand; of every model one speed at least is */
	double full;    /* share of models measured everywhere */
	double known;   /* of the others, share of entries */
	uint32_t types; /* and these on so many types only, drawn; 0: on any */
	uint64_t seed;  /* of the draws */

	/*
	 * Fills a rows x cols matrix of logarithms, NAN where unknown, into `out`; false: cannot.
	 * NULL, or when it cannot: what is unknown is left to the profile (the catalogue).
	 */
	bool (*fill)(void *ctx, const double *known, uint32_t rows, uint32_t cols, double *out);
	void *ctx;
	bool prior; /* fill by how much speeds differ from the catalogue's; only if it has all of them */

	double weight;  /* of a new observation of what is measured already, 0..1 */
	double again_s; /* estimates follow observations at most so often */
};

/* Half of the entries known, weight 0.5, every 10 minutes; the rest is 0. */
void estimate_config_init(struct estimate_config *config);

struct estimator;

struct estimator *estimator_create(const struct estimate_config *config);
void estimator_destroy(struct estimator *e);

/* What is believed now.  It stays where it is and changes with observations. */
const struct profile *estimator_belief(const struct estimator *e);

/* A speed that a job of `model` showed. */
struct observation {
	double at_s;
	uint32_t model, type;
	struct shape shape;
	uint32_t beside; /* NAME_NONE: alone */
	double steps_per_s;
};

/*
 * Replaces the estimate, or moves what was measured before; estimates elsewhere follow when it is time.
 * An observation beside another is one of the fraction: speed over what is believed of it alone.
 */
void estimator_observe(struct estimator *e, const struct observation *seen);

/* Mean |believed / true - 1| over what can run. */
struct estimate_error {
	double all, estimated; /* NAN where there are none */
	double asked;          /* of those named in `also` */
	uint32_t nall, nestimated, nasked;
	uint32_t nunknown; /* not even estimated, and in neither mean */
};

/* Of speeds alone, or of fractions beside another. */
struct estimate_error estimator_error(const struct estimator *e, bool beside);

/* How often holes were filled, and observations taken. */
struct estimate_counts {
	uint64_t fills, observations;
};
struct estimate_counts estimator_counts(const struct estimator *e);

#endif
