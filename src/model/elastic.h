/*
 * What a scheduler believes of a job in a configuration that it may never have
 * been in: the one question of every elastic policy.
 *
 * Answers come from the best source there is:
 *	the profile of its model itself, for who knows the truth (rates.oracle) and asks for a fixed batch,
 *	the job's own measurements on that type (model/agents.h),
 *	its measurements on another type, times how much faster one device is here,
 *	the speed of its model as measured or estimated (model/rate.h).
 * Speeds of one job compare with each other, and those of the last kind are its
 * steps per second; across jobs only ratios mean anything.
 */
#ifndef MODEL_ELASTIC_H
#define MODEL_ELASTIC_H

#include "model/rate.h"

/* One way a job can run. */
struct configuration {
	uint32_t type, gpus, nodes;
};

enum batching {
	BATCHING_FIXED, /* the batch that was asked for, whatever the devices */
	BATCHING_TUNED, /* what its agent finds best up to the model's limit */
	BATCHING_ASKED, /* what it finds best up to the batch that was asked for */
};

/* On as few nodes of the type as hold so many. */
struct configuration configuration_packed(const struct cluster *cluster, uint32_t type, uint32_t gpus);

/*
 * As its agent sees so many devices in units of `unit`: replicas, and the nodes that these are spread over
 * (a pipeline over several nodes is one replica, which has nobody to synchronise with).
 */
struct goodput_shape elastic_shape(uint32_t nodes, uint32_t gpus, uint32_t unit);

/*
 * Progress per second; 0: it cannot run so, as when its batch leaves a device less than the least that was
 * measured (but on the fewest devices it takes it always runs), or these are not whole units.  Where the truth
 * is known it is the mean over what is left once job->done is behind.  `batch`, where not NULL, receives the
 * total batch (0: the job's own).
 */
double elastic_speed(const struct rates *rates, const struct job *job, struct configuration c,
	enum batching batching, double *batch);

/* Whether it has shown on any type how fast it is; such that nothing shows (no agent) count too. */
bool elastic_is_measured(const struct rates *rates, const struct job *job);

/* Devices of as many nodes as anything was profiled on; UINT32_MAX: nothing says so. */
uint32_t elastic_widest(const struct rates *rates, const struct job *job, uint32_t type);
/*
 * Most devices it should get on the type now: what it may have, what its batch allows (at a fixed one also
 * not wider than anything that was profiled), and not more than
 * `growth` times the replicas it ever had on any type (1 at first; growth 0: no such limit).  Perhaps
 * fewer than the fewest it takes: these it may always have.
 */
uint32_t elastic_most(const struct rates *rates, const struct job *job, uint32_t type,
	enum batching batching, double growth);

/*
 * Seconds that it is believed to lose: by its next start, by going on with as many devices elsewhere (which
 * is also what a start after a pause costs), and by going on with more or fewer, wherever they are.
 */
double elastic_start_s(const struct rates *rates, const struct job *job);
double elastic_move_s(const struct rates *rates, const struct job *job);
double elastic_resize_s(const struct rates *rates, const struct job *job);
/* The one of these that so many devices would be, if they are not those that it has. */
double elastic_change_s(const struct rates *rates, const struct job *job, uint32_t gpus);
/* The dearer of a move and a resize: for who must not ask which it will be. */
double elastic_restart_s(const struct rates *rates, const struct job *job);

#endif
