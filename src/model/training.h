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
#include "model/compat.h"
#include "model/goodput.h"
#include "model/grant.h"

/* What holds of a model whatever it runs on. */
struct training_model {
	double initial_batch, max_batch;
	uint32_t epochs;
	double restart_s;          /* really lost at a start, migration or resize */
	double restart_believed_s; /* what schedulers think it is */
	double slowdown;           /* calibration: real speed is the measured one divided by this */
	/*
	 * Jobs of it have work of their own: progress below is a curve that is stretched to it, so that the
	 * end of epoch e is at training_progress(e) / training_work() of the job's work.
	 */
	bool by_job;
	double osdi21_max_local; /* largest local batch by the rules of COMPAT_OSDI21; 0: as measured */
	double osdi21_batch; /* by these rules it has this batch and one device at most; 0: any */
	/*
	 * Hybrid-parallel models run in units of several devices, each one pipeline: for these a replica is
	 * such a unit, in batches as well as in training_pass() (whose lay stays one of devices).  0: each
	 * device is a replica.
	 */
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

/* Limits of one replica's batch on the type, and of the total.  All 0: nothing was measured there. */
struct batch_limits training_limits(const struct training *training, uint32_t model, uint32_t type);
/* The same by the rules of a published simulator. */
struct batch_limits training_limits_as(const struct training *training, uint32_t model,
	uint32_t type, enum compat compat);
/* The total batch that the model takes when it is asked for `batch`: not below the initial, not above the largest one; 0 stays. */
int32_t training_batch(const struct training *training, uint32_t model, int32_t batch);
/* Largest local batch measured for that very placement (else for larger ones). */
double training_max_local(const struct training *training, uint32_t model, uint32_t type,
	struct lay lay);
/* Largest local batch in the placements table for so many devices however they lie; 0: not there. */
double training_max_local_of(const struct training *training, uint32_t model, uint32_t type,
	uint32_t replicas);

/*
 * One pass at `atomic` samples a device.  Placements that were measured: linear between their batches;
 * others: piecewise linear over (nodes, devices, batch).  False: outside of what was measured.
 */
bool training_pass(const struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double atomic, struct pass *out);
/*
 * Where training_pass() says false: the nearest measurement, times what the goodput model fitted to all of
 * them says of the difference.  False: nothing was measured on the type, or nothing runs so (no samples).
 */
bool training_pass_beyond(const struct training *training, uint32_t model, uint32_t type,
	struct lay lay, double atomic, struct pass *out);
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

/* ---- for whoever fills it (io/training_io.c, training_synth.c) */

/* The facts of a model, to be filled in; from then on it is known.  Valid until the next call. */
struct training_model *training_add_model(struct training *training, uint32_t model);
/* A measured pass of devices that lie so; `batch` is of one device, a whole number up to TRAINING_LOCAL_MAX. */
void training_add_pass(struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double batch, struct pass pass);
/* One of larger jobs, known only by how many nodes and devices it was on. */
void training_add_scaled(struct training *training, uint32_t model, uint32_t type, uint32_t nodes,
	uint32_t replicas, double batch, struct pass pass);
/* No device takes more than so much, whatever was measured. */
void training_cap_local(struct training *training, uint32_t model, uint32_t type, double max_local);
/* What was profiled at most on the type, where that is known otherwise than from the measurements. */
void training_set_widest(struct training *training, uint32_t type, uint32_t nodes);

struct training_epoch {
	double progress, iteration; /* at its end */
	struct gradient gradient;
};

/* The next epoch at the total batch. */
void training_add_epoch(struct training *training, uint32_t model, double batch,
	struct training_epoch epoch);
/* What was added so far, for the one who checks it. */
const struct cluster *training_cluster(const struct training *training);
uint32_t training_epochs_read(const struct training *training, uint32_t model, double batch);
/* Whether some placement was measured at a single batch; its text ("1-2") and that batch. */
bool training_lone_batch(const struct training *training, uint32_t model, uint32_t type,
	char text[128], double *batch);
/* Call once, after the last of these and before the first question. */
void training_finish(struct training *training);

enum {
	TRAINING_LOCAL_MAX = 1 << 20,
	TRAINING_NODES_MAX = 65535,
	TRAINING_MICRO = 48, /* micro-batches that a unit of a hybrid-parallel model takes in one pass */
};

struct profile;
struct trace;

/* What training_bind() changed, for who tells people; release with training_bound_fini(). */
enum training_change {
	TRAINING_OVERRULED, /* its run time in the trace does not count: the profile says how long it trains */
	TRAINING_UNTIMED,   /* neither says it; the job is left as it was */
	TRAINING_REBATCHED, /* its batch is not one that the model takes; another one is taken */
};
struct training_changed {
	uint32_t job;
	enum training_change change;
	int32_t asked, taken; /* batches */
};
struct training_bound {
	uint32_t jobs; /* that train as the profiles say */
	uint32_t untimed;
	struct training_changed *at;
	size_t n, cap;
};

/*
 * Tells the jobs of known models how much work they are and how fast they go as asked (trace->work,
 * work_est, nominal_rate, by_steps).  Those whose model has no work of its own (by_job) keep their run
 * time, become elastic unless the trace says how, and are brought to a batch that the model takes (others
 * are when they are entered: published simulators take them as they are).
 */
void training_bind(const struct training *training, const struct profile *profile,
	struct trace *trace, struct training_bound *out);
void training_bound_fini(struct training_bound *bound);
/* Seconds of an iteration of a job packed on so many devices at about that batch (0: the initial one), which `total` receives as it really is; NAN: it cannot run so. */
double training_asked_s(const struct training *training, uint32_t model, uint32_t type,
	uint32_t gpus, double batch, double *total);

/* Profiles made from the catalogue, for every model of the list that it knows and the types of the cluster. */
void training_synthesise(struct training *training);

#endif
