/*
 * One start of a job: the devices it has, and how far it has come.
 */
#ifndef LIVE_ATTEMPT_H
#define LIVE_ATTEMPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/cluster.h"
#include "model/grant.h"

enum phase {
	PHASE_WAITING,  /* its devices are still in use */
	PHASE_LAUNCHED, /* ordered to start; perhaps started */
	PHASE_RUNNING,  /* its command runs */
	PHASE_OVER,
};

/* Why it was asked to stop. */
enum stop {
	STOP_NONE,
	STOP_PREEMPT, /* others run instead */
	STOP_MOVE,    /* it goes on elsewhere or with another size */
	STOP_LOST,    /* its device is gone */
	STOP_CANCEL,
	STOP_HOLD,
	STOP_REQUEUE,
	STOP_IDLE, /* it held devices and did nothing */
};

const char *phase_name(enum phase phase);
const char *stop_name(enum stop stop);

struct attempt {
	uint32_t job, number;
	struct grant *grant; /* what it holds */
	struct grant *next;  /* what it is about to hold without a restart; NULL: nothing */
	bool next_told;      /* it has been told */
	struct grant *wish; /* what it shall hold after that, once it has answered; NULL: that is all */
	double told_s;      /* when; NAN before */
	enum phase phase;
	enum stop stop;
	double ordered_s, launched_s, begun_s, asked_s, over_s; /* NAN before */
	int code, signal;
	char *text; /* how it ended, or NULL */
};

struct attempt *attempt_create(uint32_t job, uint32_t number, const struct grant *grant, double now_s);
void attempt_destroy(struct attempt *attempt);
/* What it will hold in the end. */
const struct grant *attempt_claim(const struct attempt *attempt);

struct grant *grant_copy(const struct grant *grant);
/* {"type":"v100","gpus":2,"on":[[0,3]],…}: node numbers and devices as bits. */
void grant_to_json(const struct grant *grant, const struct cluster *cluster, struct buf *out);
/* ERR_FORMAT if the cluster has no such nodes, devices or type. */
int grant_from_json(const json_t *json, const struct cluster *cluster, struct grant **out,
	struct err *err);

void attempt_status(const struct attempt *attempt, const struct cluster *cluster, struct buf *out);
int attempt_from_status(const json_t *status, const struct cluster *cluster, struct attempt **out,
	struct err *err);

#endif
