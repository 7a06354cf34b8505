/*
 * A driver that tells what is written down for it and notes what it is asked
 * to do.
 */
#ifndef TESTS_SUPPORT_SCRIPT_H
#define TESTS_SUPPORT_SCRIPT_H

#include "base/vec.h"
#include "engine/driver.h"
#include "engine/engine.h"

/* What was asked of the driver, in order. */
struct deed {
	enum act act;
	uint32_t job;
	double at_s;
	uint32_t node, gpus; /* of the new grant: its first node */
};

struct script {
	const struct event *events;
	size_t n, next;
	enum act fails; /* this action fails if `failing` */
	bool failing;
	bool wait_fails, lost_fails;
	void *policy_state;
	VEC(struct deed) deeds;
};

extern const struct driver script_driver;

/* Runs `policy` with the script's state of it on `cluster` with first fit and without admission. */
int script_run(struct script *script, const char *cluster, const struct policy *policy,
	struct outcome *out, struct err *err);

/* A job to submit: `gpus` devices, endless work. */
struct job script_job(const char *label, int gpus);

#endif
