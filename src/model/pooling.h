/*
 * Devices of other nodes: what using them over the network costs, after rCUDA,
 * Bitfusion and LegoOS.
 *
 * A job's process runs on its host (grant.host); each step it moves bytes
 * between host and device and makes calls that wait for an answer.  On a device
 * of the host that goes over PCIe, elsewhere over the network.  A job says how
 * much it moves (moves_Bps) and calls (calls_ps) in a second of running alone
 * beside its host, so that a step is a second here, whatever its real steps are.
 */
#ifndef MODEL_POOLING_H
#define MODEL_POOLING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"

/* What a job is assumed to move and call where it says nothing. */
#define POOLING_MOVES_BPS 200e6
#define POOLING_CALLS_PS 50.0

/* One step, or second, of a job on one device. */
struct pooled_step {
	double device_s; /* computing */
	double bytes;    /* moved to the device and back */
	double calls;    /* made of the device */
	double batched;  /* part of them that waits for nobody */
	bool overlaps;   /* moving and computing at once: the longer counts */
};

/* Seconds of it at so many bytes a second (0: no limit) and `rtt_s` for each call that waits. */
double pooled_step_s(const struct pooled_step *step, double Bps, double rtt_s);
/* How much longer it takes remotely, as a part: 0.1 is 10 %. */
double pooling_tax(const struct pooled_step *step, double pcie_Bps, double link_Bps, double rtt_s);

/* A second of the job beside its host. */
struct pooled_step pooled_step_of(const struct cluster *cluster, const struct job *job);
/* The tax of a job whose remote devices have `link_Bps` each (0: no limit). */
double pooling_tax_of(const struct cluster *cluster, const struct job *job, double link_Bps);

bool grant_is_remote(const struct grant *grant);
/* Devices of the grant that are not of its host. */
uint32_t grant_remote_gpus(const struct grant *grant);
/* Part of its speed that the grant leaves a job because of devices that are not of its host; 1: there are none. */
double pooling_speed(const struct cluster *cluster, const struct job *job, const struct grant *grant);
/* Seconds before the first step there, for the remote devices: attaching, and copying what the job keeps on them. */
double pooling_attach_s(const struct cluster *cluster, const struct job *job,
	const struct grant *grant);
/* The same for going from there to `next`. */
double pooling_move_s(const struct cluster *cluster, const struct job *job,
	const struct grant *from, const struct grant *next);

/* A memory access of a job whose working set is partly cached: LegoOS' split of compute and memory. */
double pooled_access_s(double hits, double local_s, double remote_s);

#endif
