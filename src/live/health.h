/*
 * What is known of devices beyond what they are: which are drained and why, and
 * which jobs failed on them of late.
 *
 * Devices are named by node and number of the epoch's cluster.  A device of which
 * there is nothing to say is not listed.
 */
#ifndef LIVE_HEALTH_H
#define LIVE_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/vec.h"
#include "model/cluster.h"

/* When failures count.  0: never. */
struct care {
	int32_t avoid_after; /* a job avoids a device on which it failed so often */
	int32_t drain_after; /* a device is drained on which so many different jobs failed in a row */
	int32_t drain_users; /* of at least so many users; 0: users are not told apart, as they once were */
};

/* A job that failed on a device.  Jobs of one user and name are one: a slip is often submitted again. */
struct health_failure {
	uint32_t job;
	uint64_t who; /* of its user and name */
	uint32_t uid; /* HEALTH_NOBODY: not known */
};

#define HEALTH_NOBODY UINT32_MAX

struct health_device {
	uint32_t node, device;
	char *drained;  /* why, "" where nobody said; NULL: it is not */
	bool by_itself; /* drained because of failures */
	double since_s; /* drained; in the core's time */
	VEC(struct health_failure)
	failed; /* different ones since somebody succeeded, the oldest first */
};

/* A zeroed one is empty. */
struct health {
	VEC(struct health_device) devices; /* by node and number */
};

void health_fini(struct health *health);
/* `to` is empty before. */
void health_copy(const struct health *from, struct health *to);

/* NULL: nothing is known of it. */
const struct health_device *health_find(const struct health *health, uint32_t node, uint32_t device);
/* The same to write to, listed from now on; gone with the next such call. */
struct health_device *health_at(struct health *health, uint32_t node, uint32_t device);
/* Drained devices of a node, as bits. */
uint64_t health_drained(const struct health *health, uint32_t node);
bool health_any_drained(const struct health *health);
/* Forgets devices of which nothing is left to say. */
void health_trim(struct health *health);

/* [{"node":0,"device":1,"drained":"fan","itself":true,"since_s":7,"failed":[[job,who,uid],…]},…] as a value. */
void health_to_json(const struct health *health, const char *key, struct json *j);
/* Leniently: devices that the cluster has not are left out. */
void health_from_json(const json_t *list, const struct cluster *cluster, struct health *out);

#endif
