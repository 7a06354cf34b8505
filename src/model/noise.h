/*
 * The gradient noise scale: the batch size up to which larger batches pay.
 * Estimated from the gradients of one worker and of all together (McCandlish
 * et al. 2018), and what KungFu makes of it (Mai et al., OSDI 2020): how many
 * workers a job should have.
 */
#ifndef MODEL_NOISE_H
#define MODEL_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/goodput.h"

/* Running means; zeroed: nothing seen yet. */
struct noise {
	double sqr, var; /* squared length of the true gradient; its variance for one sample */
	bool seen;
};

/*
 * One step: squared lengths of the gradient of a batch of `small` samples and of that of `big`.  The
 * latest counts 0.6.  False, and nothing changes: the batches are equal or the estimate is negative.
 */
bool noise_feel(struct noise *noise, double small, double small_sqr, double big, double big_sqr);
/* In samples; NAN before anything was seen. */
double noise_scale(const struct noise *noise);
/* A step of a job whose gradient statistics at the batch `initial` are known, as one worker and two would see it. */
bool noise_feel_gradient(struct noise *noise, struct gradient gradient, double initial);

struct noise_limits {
	double least_batch, most_batch; /* of all workers; 0: none */
	uint32_t least, most;           /* workers */
};

/* How many workers of `each` samples a job that has `now` should have: half or twice of them at most. */
uint32_t noise_workers(double scale, double each, uint32_t now, const struct noise_limits *limits);

#endif
