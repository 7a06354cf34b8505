/*
 * Optimus as published: jobs of workers and parameter servers.  How many of
 * each, by the seconds that one more saves, and how they spread over servers.
 * Pure functions; the policy (optimus.c) has jobs without parameter servers.
 */
#ifndef POLICY_ELASTIC_OPTIMUS_TASKS_H
#define POLICY_ELASTIC_OPTIMUS_TASKS_H

#include "base/mem.h"
#include "model/optimus_fit.h"

enum { TASK_RESOURCES = 4 }; /* CPUs, memory, bandwidth, devices, in whatever units */

struct tasks {
	uint32_t servers, workers;
};

struct task_job {
	double remaining; /* steps */
	struct speed_curve speed;
	double server[TASK_RESOURCES], worker[TASK_RESOURCES]; /* what one takes */
};

struct task_rules {
	bool raw; /* gains are divided by the demand itself, not by its share of the cluster */
	bool stop_at_misfit; /* the first task that does not fit ends it all; else only its job grows no more */
};

/* Jobs in order of arrival; each gets one of each kind if there is room, then whoever gains most gets one more. */
void tasks_allocate(const struct task_job *jobs, uint32_t n, const double capacity[TASK_RESOURCES],
	struct task_rules rules, struct arena *arena, struct tasks *out);

/*
 * The fewest servers that hold the tasks evenly, 0 if none do: server i of k takes ceil((x - i) / k) of
 * each kind.  Room is in tasks of any kind, servers in the order of the most room.
 */
uint32_t tasks_spread(struct tasks tasks, const uint32_t *room, uint32_t nservers);

#endif
