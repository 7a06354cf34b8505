/*
 * Watches jobs run and tells an estimator the speeds they show.
 *
 * A speed counts once a job has made steps on the same devices in the same
 * company for a while.  Jobs with a limited share, another batch size than
 * their own, or more than one neighbour tell nothing of a single entry.
 */
#ifndef MODEL_WATCH_H
#define MODEL_WATCH_H

#include "model/cluster.h"
#include "model/estimate.h"
#include "model/event.h"
#include "model/job.h"

struct watch;

/* Keeps both; `after_s`: for how long a job must run before its speed counts. */
struct watch *watch_create(struct estimator *estimator, const struct cluster *cluster, double after_s);
void watch_destroy(struct watch *watch);

/* An observer's function: `self` is the watch.  Reads the speed as the engine has it (job.rate). */
void watch_see(void *self, const struct event *event, const struct job *job);

#endif
