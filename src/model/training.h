/*
 * How models really train: measured step times by placement and batch, gradient
 * statistics by epoch.  Read from the published profile folders
 * (io/training_io.h) or made from the catalogue (training_synthesise()).
 *
 * This is truth (or what was profiled before); what a running job has shown of
 * itself is in model/agents.h.  Progress is counted in iterations at the
 * initial batch size.  One table serves one cluster and one list of models.
 */
#ifndef MODEL_TRAINING_H
#define MODEL_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "model/cluster.h"
#include "model/goodput.h"
#include "model/grant.h"

/* What holds of a model whatever it runs on. */
struct training_model {
	double initial_batch, max_batch;
	uint32_t epochs;
	double restart_s;          /* really lost at a start, migration or resize */
	double restart_believed_s; /* what schedulers think it is */
	double slowdown;           /* calibration: real speed is the measured one divided by this */
	/* Hybrid-parallel models run in units of several devices; 0: each device is a replica. */
	uint32_t unit[TYPES_MAX];
};

/* How devices lie: how many on each node, in order of nodes. */
struct lay {
	const uint16_t *on_node;
	uint32_t nodes;
};

struct pass {
	double step_s, sync_s; /* as in struct goodput_sample */
};

struct training;

/* Keeps `cluster` and `models`. */
struct training *training_create(const struct cluster *cluster, const struct names *models);
void training_destroy(struct training *training);

/* NULL: nothing is known of the model; such a job trains at the speed of its profile (model/rate.h). */
const struct training_model *training_of(const struct training *training, uint32_t model);
/* Whether anything was measured of the model on the type. */
bool training_knows(const struct training *training, uint32_t model, uint32_t type);

/* Limits of one device's batch on the type, and of the total. */
struct batch_limits training_limits(const struct training *training, uint32_t model, uint32_t type);
/* Largest local batch measured for that very placement (else for larger ones). */
double training_max_local(const struct training *training, uint32_t model, uint32_t type, struct lay lay);
/* Largest local batch in the placements table for so many devices however they lie; 0: not there. */
double training_max_local_of(const struct training *training, uint32_t model, uint32_t type,
	uint32_t replicas);

/*
 * One pass at `atomic` samples a device.  Placements that were measured: linear between their batches;
 * others: piecewise linear over (nodes, devices, batch).  False: outside of what was measured.
 */
bool training_pass(const struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double atomic, struct pass *out);
/* Samples per second of one device at its largest batch, for comparing types; 0: not known. */
double training_single(const struct training *training, uint32_t model, uint32_t type);
/* Nodes of the type that were really profiled at most; wider grants are read as chunks over so many. */
uint32_t training_widest(const struct training *training, uint32_t type);

/* In epoch `epoch` (from 0), at that total batch. */
struct gradient training_gradient(const struct training *training, uint32_t model, double batch,
	uint32_t epoch);
/* Progress at the end of that many epochs; 0 for none. */
double training_progress(const struct training *training, uint32_t model, uint32_t epochs);
/* Real iterations at the fixed batch up to the end of that many epochs. */
double training_iterations(const struct training *training, uint32_t model, double batch,
	uint32_t epochs);
/* All of it: the progress at the last epoch's end. */
double training_work(const struct training *training, uint32_t model);

/* Profiles made from the catalogue, for every model of the list that it knows and the types of the cluster. */
void training_synthesise(struct training *training);

#endif
