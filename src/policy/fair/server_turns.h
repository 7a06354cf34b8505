/*
 * What policies have in common that give turns on servers, each to the jobs that
 * are at home there (gandiva, gandiva-fair).
 */
#ifndef POLICY_FAIR_SERVER_TURNS_H
#define POLICY_FAIR_SERVER_TURNS_H

#include <math.h>

#include "policy/kit.h"

/* Turns begin at multiples of `every_s`. */
static inline bool turn_begins(double now_s, double every_s)
{
	return rint(now_s / every_s) * every_s == now_s;
}

static inline double turn_next_s(double now_s, double every_s)
{
	return (floor(now_s / every_s + 1e-9) + 1) * every_s;
}

/* It has run for so many times what it costs to resume it: before, costs would eat what it is given. */
static inline bool turn_was_worth_it(const struct round *round, const struct job *job, double times)
{
	return round->now_s - fmax(job->held_s, job->ready_s) >= times * job->resume_cost_s;
}

/* All its devices are of that node. */
static inline bool job_is_at(const struct job *job, uint32_t node)
{
	return job->grant && job->grant->nslots == 1 && job->grant->slots[0].node == node;
}

/* Devices of a node that work. */
static inline uint32_t server_devices_up(const struct plan *plan, uint32_t node)
{
	const struct space_node *n = &plan->space.nodes[node];
	uint64_t all = node_all(&plan->space.cluster->nodes[node]);

	return n->up ? (uint32_t)__builtin_popcountll(all & ~n->down) : 0;
}

/* Whether a node of which so many devices can be had could hold the job if nobody else were there. */
static inline bool server_can_host(const struct cluster *cluster, const struct job *job,
	uint32_t node, uint32_t devices)
{
	const struct node *n = &cluster->nodes[node];

	if (!job_may_use(job, n->type) || job_is_fraction(job) || job->nodes > 1)
		return false;
	return devices >= job_gpus_on(job, n->type) && (n->cpus == 0 || job->cpus <= n->cpus) &&
		(n->mem_bytes == 0 || job->mem_bytes <= n->mem_bytes);
}

#endif
