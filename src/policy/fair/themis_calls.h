/*
 * Leases of Themis that end early.
 *
 * Whoever comes in the middle of a lease would wait for its end: nothing to a job
 * of days, and a hundred times its run time to a job of seconds.  So each app that
 * has nothing is compared with those that have something: how badly off would it be
 * if it got its devices when the next lease ends, and how badly off would they be if
 * they stood back until then?  Where the first is so many times worse, the best off of
 * the others give way, as few of them as it takes.
 */
#ifndef POLICY_FAIR_THEMIS_CALLS_H
#define POLICY_FAIR_THEMIS_CALLS_H

#include "policy/fair/themis_apps.h"

/* A job for which leases end: the devices are its own, not to be bid for. */
struct app_call {
	uint32_t job, type, gpus;
};

struct app_calls {
	struct app_call *at; /* the worst off first */
	uint32_t n;
	uint32_t ended; /* leases */
};

/*
 * Ends leases for apps that are not ranked yet and have been stopped where their leases are over.  Everything is the
 * round's scratch; if any leases ended, apps have to be gathered again.
 */
void apps_call(const struct apps *apps, double times, struct app_calls *out);

#endif
