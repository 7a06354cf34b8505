/*
 * What happens: the words between engine, drivers, observers and the record.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdint.h>

#include "model/grant.h"
#include "model/job.h"

enum event_kind {
	/* a driver tells the engine */
	EV_SUBMIT,    /* `job_spec` is asked for */
	EV_FINISH,    /* `job` made its last step */
	EV_NODE_DOWN, /* `node` */
	EV_NODE_UP,
	EV_TIMER, /* nothing before the time waited for */
	EV_END,   /* nothing will ever come again by itself */
	/* the engine adds to the record */
	EV_REJECT,
	EV_HOLD,
	EV_ADMIT,
	EV_START, /* first start or a later one: `attempt` tells */
	EV_PREEMPT,
	EV_MIGRATE,
	EV_RESIZE,
	EV_RENEW, /* the same devices, on other terms or in other company */
	EV_LOST,  /* the job's node failed under it */
	EV_WAIT,  /* the reason why it waits became `reason` */
	/* a driver tells the engine, of real jobs and devices */
	EV_WITHDRAW, /* whoever asked for `job` takes it back */
	EV_YIELD,    /* `job` gave its devices back by itself; `value` steps are safe */
	EV_BEGUN,    /* `job` makes its first step on its grant now */
	EV_PROGRESS, /* `job` has shown how far it is: `job_spec` has done, saved, work_est and speeds */
	EV_DEVICES_DOWN, /* `devices` of `node` */
	EV_DEVICES_UP,
	EV_DEVICES_DRAINED, /* exactly `devices` of `node` are drained: nobody new gets them */
	EV_LOAN, /* a driver tells the engine: `value` nodes of the pool are lent from now on */
	EV_KINDS
};

struct event {
	double at_s;
	enum event_kind kind;
	uint32_t job; /* JOB_NONE where none is concerned */
	uint32_t node;
	uint64_t devices; /* EV_DEVICES_DOWN, EV_DEVICES_UP, EV_DEVICES_DRAINED */
	uint32_t attempt;
	const struct job *job_spec; /* EV_SUBMIT from a driver */
	bool late; /* from a driver: it comes after the decision of this moment, so the next round is the first to see it */
	const struct grant *grant; /* EV_START, EV_MIGRATE, EV_RESIZE, EV_RENEW: the new one; EV_PREEMPT, EV_FINISH, EV_LOST, EV_WITHDRAW, EV_YIELD: the old one */
	struct reason reason;
	bool learnt; /* EV_PROGRESS from a driver: other speeds are believed of it from now on, which may change decisions */
	double value; /* EV_PROGRESS: steps made; EV_FINISH: steps made in all; EV_LOST, EV_YIELD: seconds of work lost (EV_YIELD from a driver: steps that are safe); EV_START: seconds until the first step; EV_MIGRATE, EV_RESIZE: devices it had; EV_RENEW: jobs beside it; EV_NODE_UP from a driver: 1 if it was rented */
};

const char *event_name(enum event_kind kind);

#endif
