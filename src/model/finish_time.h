/*
 * Finish-time fairness: how long something takes among others, over how long it
 * would take with its part of the cluster to itself.  1 is its share; 2 is half
 * of it.
 */
#ifndef MODEL_FINISH_TIME_H
#define MODEL_FINISH_TIME_H

#include <stdint.h>

/* Whoever has nothing would never end; products need a number. */
#define FINISH_RHO_MAX 1e6

/* Seconds from its start to its end with so much of its work left (GPU-seconds) and `power` devices' worth on it. */
double finish_shared_s(double age_s, double left_gpu_s, double power);
/* The ratio of the two, at most FINISH_RHO_MAX. */
double finish_rho(double shared_s, double ideal_s);
/* How many of `n` see an offer that the worst-off 1 - f of them see: at least one. */
uint32_t finish_visible(double f, uint32_t n);

/* How crowded it was: the integral of a level over time.  Zeroed: nothing yet. */
struct crowd {
	double at_s, level, sum;
};

/* From now on the level is another. */
void crowd_set(struct crowd *crowd, double now_s, double level);
/* The mean since a moment at which the integral was `sum`; at once, the level. */
double crowd_mean(const struct crowd *crowd, double sum, double since_s, double now_s);

#endif
