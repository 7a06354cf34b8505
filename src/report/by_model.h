/*
 * The figures of a run by model: sums that several runs can be added up from.
 */
#ifndef REPORT_BY_MODEL_H
#define REPORT_BY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/outcome.h"
#include "model/trace.h"

/* Jobs of one model.  Sums over the jobs that finished, but for `jobs`. */
struct model_sums {
	char *name;
	uint32_t jobs, finished; /* submitted; of these, finished */
	double jct_s, wait_s;
	double held_s, held_gpu_s; /* seconds and GPU-seconds holding devices */
	double restarts;
	double served_s, eff_s; /* of measured training; 0 where there is none */
};

/* A zeroed list is valid and empty. */
struct by_model {
	struct model_sums *at; /* the models of some job, in the order of the trace's names */
	uint32_t n;
	uint32_t runs; /* how many were added up */
};

enum {
	MODELS_MAX = 24
}; /* those of most jobs; the others count together, as the last, under OTHER_MODELS */
#define OTHER_MODELS "others"

/* Jobs that do not say their model are in none of them.  Release with by_model_fini(). */
void by_model_of(const struct trace *trace, const struct outcome *outcome, struct by_model *out);
void by_model_add(struct by_model *sum, const struct by_model *run);
const struct model_sums *by_model_find(const struct by_model *list, const char *name); /* NULL: none */
void by_model_fini(struct by_model *list);

/* The figures, NAN where they are not known. */
enum model_figure {
	MODEL_JOBS, /* submitted, mean over the runs */
	MODEL_JCT,
	MODEL_WAIT,
	MODEL_GPUS, /* mean over the time it held some */
	MODEL_RESTARTS,
	MODEL_GPU_TIME, /* GPU-seconds held, mean over the runs */
	MODEL_EFFICIENCY,
	MODEL_FIGURES
};
double model_figure(const struct model_sums *sums, uint32_t runs, enum model_figure figure);

#endif
