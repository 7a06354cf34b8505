/*
 * What really happened, as the outcome of a run: so that the scheduler whose
 * history a trace was read from stands beside those that are simulated.
 */
#ifndef SIM_RECORDED_H
#define SIM_RECORDED_H

#include "engine/outcome.h"
#include "model/cluster.h"
#include "model/trace.h"

/*
 * By trace->past, of which there must be some.  Jobs without a run there count as not submitted.  A job
 * that was requeued lost its earlier runs.  Figures that need the speeds of others (fairness) are not
 * known.  Release with outcome_fini().
 */
void recorded_outcome(const struct trace *trace, const struct cluster *cluster, struct outcome *out);

/* The most GPUs that were in use at once. */
double past_most_gpus(const struct trace *trace);

#endif
