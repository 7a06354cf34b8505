/*
 * A plan to edit: a cluster, jobs numbered from 0, and a placer without state.
 */
#ifndef TESTS_SUPPORT_PLANNING_H
#define TESTS_SUPPORT_PLANNING_H

#include "placement/plan.h"

enum { PLANNING_JOBS = 24 };

struct planning {
	struct cluster cluster;
	struct plan plan;
	struct job jobs[PLANNING_JOBS];
};

/* The cluster, and jobs that say nothing but who they are.  Must not move afterwards; a bad cluster fails the test. */
void planning_init(struct planning *p, const char *cluster);
/* The plan: nothing changes the cluster from here on.  Its first round begins. */
void planning_begin(struct planning *p, const char *placer);
void planning_fini(struct planning *p);

#endif
