/*
 * How a job of a profiled model runs at a batch that stays as it is, by the
 * simulator's own rules (sim/trainer.c): for whoever may know the truth.
 */
#ifndef MODEL_TRAINING_RUN_H
#define MODEL_TRAINING_RUN_H

#include "model/training.h"

/* The batch asked for, spread over so many; an uneven rest is rounded up on every one. */
struct batch_split training_spread(const struct batch_limits *limits, uint32_t replicas, double batch);
/* No more in all than the model takes. */
struct batch_split training_cut(struct batch_split split, const struct batch_limits *limits,
	uint32_t replicas);

/* On so many devices of a type, on so many nodes, which are full but the last as far as that can be. */
struct training_place {
	uint32_t type, gpus, nodes;
};

/*
 * Progress per second at that total batch (0: the initial one), the mean over what is left of training once
 * `done` of it (as training_progress()) is behind.  So much progress takes so many iterations however
 * devices change on the way, as long as the batch can be the same on all.  0: it cannot run so.
 */
double training_speed(const struct training *training, uint32_t model, struct training_place place,
	double batch, double done);

#endif
