/*
 * One device shared by a guaranteed job and guests: the control law of the
 * coordinator that AntMan keeps on every server (Xiao et al., OSDI 2020).
 *
 * The guaranteed job runs as if alone.  Guests have the memory it leaves, and
 * launch kernels at a rate r that grows while its mini-batches take no longer
 * than alone, and is halved when they do.  A scheduler asks where that settles.
 */
#ifndef MODEL_COORDINATOR_H
#define MODEL_COORDINATOR_H

#include <stdint.h>

/* ---- compute */

struct launch_law {
	double tolerance; /* how much longer a mini-batch of the guaranteed job may take, as a part of it */
	double step; /* by which r grows; below it r is 0 */
	double cap;  /* of r */
};

extern const struct launch_law launch_law_usual; /* 0.05, 0.05, 1 */

/* r after a mini-batch of the guaranteed job that took `took_s`, and takes `alone_s` alone. */
double launch_rate_next(const struct launch_law *law, double r, double took_s, double alone_s);

/* How much longer the guaranteed job takes, that keeps `guaranteed` of the device busy, beside guests at r. */
double guarantee_slowdown(double guaranteed, double r, double guests);

/* Where the law settles for jobs that keep so much of the device busy: means over its swings, the worst of them too. */
struct launch_settled {
	double r, slowdown, worst;
};
struct launch_settled launch_settle(const struct launch_law *law, double guaranteed, double guests);

/* Part of the time that guests need which there is. */
double guest_idle_share(double guaranteed, double guests);

/* ---- memory */

struct guest_memory {
	double need_bytes;
	double gain; /* speed that a byte more on the device is worth; where memory is scarce the largest come first */
	double limit_bytes; /* answered: at most its need */
};

struct device_memory {
	double bytes;       /* of the device */
	double limit_bytes; /* of the guaranteed job: 0 if there is none */
	double need_bytes;  /* that it has shown last */
	struct guest_memory *guests;
	uint32_t nguests;
};

/* The guaranteed job needs so much from now on: guests give way at once, what is over its limit is on the host so long. */
void memory_demand(struct device_memory *memory, double need_bytes);
/* Its mini-batch is over: its limit becomes what it needs, and guests have the rest. */
void memory_settle(struct device_memory *memory);
/* Of the guaranteed job, on the host until memory_settle(). */
double memory_spilled(const struct device_memory *memory);

/*
 * Part of its speed that a job keeps with `kept` of its memory on the device.  The rest, of `bytes`, crosses the link
 * to the host at each mini-batch of `step_s`; where that is not known, without any memory a quarter is left.
 */
double memory_speed(double kept, double bytes, double step_s);
/* What a byte on the device is worth to it, on average. */
double memory_gain(double bytes, double step_s);

#endif
