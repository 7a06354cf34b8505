/*
 * Pipelines in a drawn workload: jobs that come together and wait for each other.
 */
#ifndef IO_SYNTH_DAGS_H
#define IO_SYNTH_DAGS_H

#include "base/rng.h"
#include "model/trace.h"

enum dag_form { DAG_LAYERS, DAG_CHAIN, DAG_FORK, DAG_TREE };
extern const char *const dag_form_names[]; /* for OPT_CHOICE */

/*
 * Makes pipelines of `size` jobs each, which arrive with their first and are of one tenant, until about
 * `part` of all jobs are in one.  The jobs must be in order of arrival and not finished.
 */
void synth_dags(struct trace *trace, double part, uint32_t size, enum dag_form form, struct rng *rng);

#endif
