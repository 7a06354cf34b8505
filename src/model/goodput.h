/*
 * Goodput: how fast a data-parallel job really learns.  Throughput (steps per
 * second on so many devices at such a batch) times statistical efficiency
 * (what a sample of a larger batch is worth), after Pollux and Sia.
 *
 * The unit of progress is one iteration at the model's initial batch size, so
 * that speeds at different batch sizes compare.  doc/goodput.md has the model.
 */
#ifndef MODEL_GOODPUT_H
#define MODEL_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds of one step; see goodput_grad_s(), goodput_sync_s(). */
struct goodput_params {
	double alpha_c, beta_c; /* computing: once, and per sample of a device's batch */
	double alpha_n, beta_n; /* synchronising over nodes: once, and per device beyond two */
	double alpha_r, beta_r; /* the same within a node */
	double gamma;           /* overlap of the two: 1 none, 10 nearly all */
};

/* Squared norm of the true gradient, and its variance at the initial batch size. */
struct gradient {
	double sqr, var;
};

struct batch_limits {
	double initial, max;         /* total batch */
	double min_local, max_local; /* of one device in one pass */
	/* Devices of a replica that is a pipeline: it takes max_local in a pass and never accumulates; 0: none. */
	double unit;
};

/* A total batch on `replicas` devices: replicas * atomic * (accum + 1). */
struct batch_split {
	uint32_t atomic; /* samples of one device in one pass */
	uint32_t accum;  /* passes before the one that synchronises */
};

struct goodput_choice {
	double goodput; /* iterations at the initial batch per second; 0: it cannot run so */
	double batch;   /* total, as it really is after rounding */
	struct batch_split split;
};

/* Total batches to choose from, and how each is spread; padded with copies of the first. */
enum { GOODPUT_BATCHES = 52 };
struct goodput_batches {
	uint32_t n;
	double most; /* that was asked for: what is above it came by rounding */
	double total[GOODPUT_BATCHES], atomic[GOODPUT_BATCHES], accum[GOODPUT_BATCHES];
};

/* What is asked: `nodes` nodes, `replicas` devices. */
struct goodput_shape {
	double nodes, replicas;
};

double goodput_grad_s(const struct goodput_params *p, double atomic);
double goodput_sync_s(const struct goodput_params *p, struct goodput_shape shape);
/* Of the pass that synchronises: between the larger of both and their sum. */
double goodput_step_s(const struct goodput_params *p, struct goodput_shape shape, double atomic);
/* Of a whole iteration, accumulation included. */
double goodput_iter_s(const struct goodput_params *p, struct goodput_shape shape,
	struct batch_split split);

/* How many iterations at the initial batch one at `batch` is worth: 1 at the initial batch, growing. */
double goodput_gain(struct gradient g, double batch, double initial);
/* The same per sample: 1 at the initial batch, falling, above 0. */
double goodput_efficiency(struct gradient g, double batch, double initial);

/* How a total batch is spread; rounds up, so the real batch may be a little larger. */
struct batch_split goodput_split(const struct batch_limits *limits, double replicas, double batch);

/*
 * The best of 50 total batches in geometric progression up to `cap` (the first of equals), or just
 * `fixed` where that is above 0.  The smallest batch of so many devices is tried even above `cap`, not
 * above limits->max.  False, and a goodput of 0: no batch fits the limits.
 */
bool goodput_best(const struct goodput_params *p, struct gradient g, const struct batch_limits *limits,
	struct goodput_shape shape, double cap, double fixed, struct goodput_choice *out);

/* The same in two steps: the batches depend on neither speeds nor gradient, and may be kept. */
bool goodput_list(const struct batch_limits *limits, double replicas, double cap, double fixed,
	struct goodput_batches *out);
void goodput_choose(const struct goodput_params *p, struct gradient g,
	const struct batch_limits *limits, struct goodput_shape shape,
	const struct goodput_batches *batches, struct goodput_choice *out);

#endif
