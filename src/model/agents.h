/*
 * What jobs have shown of themselves: each job's agent keeps its measured
 * steps and gradient statistics, fits the goodput model to them and chooses
 * the batch.  Schedulers ask it what the job would do elsewhere.
 *
 * In the simulator the world tells it (sim/trainer.c); live, the progress
 * reports of the job do.  The fit is made when somebody asks after news.
 */
#ifndef MODEL_AGENTS_H
#define MODEL_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/goodput.h"
#include "model/goodput_fit.h"

struct agents;

struct agents_options {
	bool merged; /* one set of measurements for all types (Pollux knows none); else one for each */
	double fit_tolerance;
	bool proportional; /* of jobs that keep their batch; see struct goodput_fit_options */
};

struct agents *agents_create(uint32_t ntypes, struct agents_options options);
void agents_destroy(struct agents *agents);
/* Forgets every job; what was worked out once from measurements alone stays, and so does memory. */
void agents_clear(struct agents *agents);

/* What the job may do with its batch on a type; for each type before anything else of the job. */
void agents_limit(struct agents *agents, uint32_t job, uint32_t type, struct batch_limits limits);
const struct batch_limits *agents_limits(const struct agents *agents, uint32_t job, uint32_t type);

/* A measured step.  What was seen of the same (nodes, replicas, atomic) stays.  True: it was new. */
bool agents_observe(struct agents *agents, uint32_t job, uint32_t type,
	const struct goodput_sample *sample);
/* Nothing is known of the job any more, as before its limits were told. */
void agents_forget(struct agents *agents, uint32_t job);
/* `job` shall know what `other` of `from` knows, of as many types and with the same options; nothing if it has no agent. */
void agents_take(struct agents *agents, uint32_t job, const struct agents *from, uint32_t other);
/*
 * The very agents of `from` under other numbers, none at first; keeps `from`.  agents_put(): `job` is who is
 * `other` there, or nobody if there is no such agent.  They are for asking, not for teaching.
 */
struct agents *agents_renumbered(const struct agents *from);
void agents_put(struct agents *agents, uint32_t job, const struct agents *from, uint32_t other);
/* How it was made. */
struct agents_options agents_options_of(const struct agents *agents);
/* The latest gradient statistics. */
void agents_feel(struct agents *agents, uint32_t job, struct gradient gradient);
struct gradient agents_gradient(const struct agents *agents, uint32_t job);

/* Whether it has run on the type; most devices it ever had there (0: never). */
uint32_t agents_most(const struct agents *agents, uint32_t job, uint32_t type);
/* Its fit there, NULL without measurements (or a failed fit).  Grows by version whenever it changes. */
const struct goodput_params *agents_fit(const struct agents *agents, uint32_t job, uint32_t type);
/* Changes whenever anything known of the job does: what was computed from the same value still holds. */
uint32_t agents_version(const struct agents *agents, uint32_t job);

/*
 * Best goodput of the job there, as it is believed; false and 0: it cannot run so, or nothing is known.
 * `cap` and `fixed` as in goodput_best().
 */
bool agents_goodput(const struct agents *agents, uint32_t job, uint32_t type,
	struct goodput_shape shape, double cap, double fixed, struct goodput_choice *out);

#endif
