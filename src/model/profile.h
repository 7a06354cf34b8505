/*
 * How fast a model trains in a configuration: measured where known, else a
 * roofline estimate from the catalogue (model/catalogue.h), else unknown.
 *
 * A profile answers for one cluster and one table of model names.  Truth and
 * belief are two profiles, or one profile twice.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "model/cluster.h"

/* How devices lie: on how many nodes and racks, and how fast a ring through those of a node is. */
struct shape {
	uint32_t gpus, nodes, racks;
	double link_Bps; /* on the node where it is slowest; 0: as fast as so many devices of the type can be */
};

struct profile;

/* Keeps `cluster` and `models`. */
struct profile *profile_create(const struct cluster *cluster, const struct names *models);
void profile_destroy(struct profile *profile);
/* One that knows the same, for a cluster and names that are equal to those of `from`; keeps both. */
struct profile *profile_copy(const struct profile *from, const struct cluster *cluster,
	const struct names *models);

struct hosting;
/*
 * What CPUs and memory of hosts do to the speeds (model/hosting.h), by the same model names.  Keeps
 * `hosting`, which must outlive it (copies have their own); NULL: nothing.
 */
void profile_set_hosting(struct profile *profile, const struct hosting *hosting);
const struct hosting *profile_hosting(const struct profile *profile);

/* Looks up what the catalogue says of names that have come since, so that nobody has to at every question. */
void profile_learn_names(struct profile *profile);

/*
 * A measured speed of the whole job alone; nodes 0: any placement.  0 means it cannot run so.
 * What was known of the same configuration is replaced.
 */
void profile_add(struct profile *profile, uint32_t model, uint32_t type, uint32_t gpus,
	uint32_t nodes, double steps_per_s);
/* Speeds of `a` and `b` when both share the same devices. */
void profile_add_pair(struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	double a_steps_per_s, uint32_t b, double b_steps_per_s);

/* A fraction for profile_beside(), said directly; wins over the speeds of a pair, and is replaced likewise. */
void profile_add_beside(struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	uint32_t b, double fraction);

/*
 * Grows whenever something is added or becomes another value: answers kept from the same version
 * still hold.  A speed that is added again as it was changes nothing.
 */
uint64_t profile_version(const struct profile *profile);

/* A speed as it was added. */
struct measured {
	uint32_t model, type, gpus, nodes;
	uint32_t beside; /* NAME_NONE: alone; else nodes is 0 */
	double steps_per_s;
};

/* Every speed added (not fractions), in an order that depends on nothing but what was added. */
void profile_each(const struct profile *profile, void (*see)(void *ctx, const struct measured *one),
	void *ctx);

/* Devices on as few nodes and racks as those of the type allow. */
struct shape profile_packed(const struct profile *profile, uint32_t type, uint32_t gpus);

/*
 * Steps per second; a step is one batch on one device, so that twice the devices make up to twice as
 * many.  Measured for (type, gpus, nodes), else measured for any nodes times the estimated locality
 * factor, each times what slower links than the best leave of it, else the roofline estimate (scaled to what was measured of the model elsewhere, if
 * anything was); NAN when the model is not in the catalogue either.
 */
double profile_rate(const struct profile *profile, uint32_t model, uint32_t type, struct shape shape);

/* How fast the ring inside a node is for this shape: its own, else the best there can be; 0: unknown. */
double profile_link_Bps(const struct profile *profile, uint32_t type, struct shape shape);
/* What is left of the speed because the links among these very devices are not the best ones: 0..1. */
double profile_link_locality(const struct profile *profile, uint32_t model, uint32_t type,
	struct shape shape);
/* Part of a step that goes by in exchanging gradients, by the estimate: 0..1; NAN if the model is unknown. */
double profile_traffic(const struct profile *profile, uint32_t model, uint32_t type,
	struct shape shape);

/* How much slower `shape` is than the same devices on as few nodes as can be: 0..1; 1 where nothing is known. */
double profile_locality(const struct profile *profile, uint32_t model, uint32_t type,
	struct shape shape);

/*
 * Speed of `a` relative to alone when `b` shares its devices: measured, else by the roofline's busy
 * fractions, else a half; 0: both do not fit.
 */
double profile_beside(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	uint32_t b);

/* The same where it was measured or said, else NAN. */
double profile_measured_beside(const struct profile *profile, uint32_t type, uint32_t gpus,
	uint32_t a, uint32_t b);

/* Of one device: what the model is estimated to keep busy of it, and how long a step takes; NAN: not known. */
double profile_busy(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t model);
double profile_step_s(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t model);
/* Bytes of device memory that it is estimated to train in; 0: not known. */
double profile_mem_bytes(const struct profile *profile, uint32_t model);

/* Largest tensor of the model over all its parameters (Tiresias' skew); NAN if unknown. */
double profile_skew(const struct profile *profile, uint32_t model);

#endif
