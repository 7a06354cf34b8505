/*
 * Training as it was measured: a pace (sim/pace.h) that leads jobs of known
 * models epoch by epoch, at the goodput of their devices and batch, and tells
 * their agents what they see.
 *
 * Progress is counted in iterations at the model's initial batch.  What a
 * restart costs, whether time is continuous and which batches a device takes
 * follow the rules of a published simulator where one is asked for.
 */
#ifndef SIM_TRAINER_H
#define SIM_TRAINER_H

#include "engine/outcome.h"
#include "model/agents.h"
#include "model/compat.h"
#include "model/training.h"
#include "sim/pace.h"

struct trainer_config {
	const struct training *training;
	const struct cluster *cluster;
	struct agents *agents; /* who is told of every step; NULL: nobody */
	enum compat compat;    /* COMPAT_OSDI21 and COMPAT_SIA have rules of their own */
	double round_s;        /* between decisions, by these rules; 0: 60 */
	/* Seconds of a start, a resume and a resize where they were set by hand; NAN: the model's. */
	double start_s, resume_s, resize_s;
	bool oracle; /* jobs are told what a restart really costs them */
};

struct trainer;

/* Keeps what the configuration points to. */
struct trainer *trainer_create(const struct trainer_config *config);
void trainer_destroy(struct trainer *trainer);

extern const struct pace trainer_pace;

/* What was run where nobody measured it, and is therefore extrapolated. */
const struct beyond *trainer_beyond(const struct trainer *trainer);

/* Whether its profile says how long the job trains, whatever the trace says; `training` may be NULL. */
bool trainer_times(const struct training *training, const struct cluster *cluster,
	const struct job *job);

#endif
