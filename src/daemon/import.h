/*
 * What happened before there was a daemon: jobs that had ended, into the record, so
 * that reports, forecasts and trials know them.
 */
#ifndef DAEMON_IMPORT_H
#define DAEMON_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct daemon;

/* Times are seconds since 1970; text is borrowed. */
struct past_job {
	const char *key; /* by which the world knows it: "slurm:4711@1763366400" */
	const char *name, *tenant;
	double submitted_s, begun_s, ended_s;
	double limit_s; /* 0: none */
	double ran_s;   /* of the run that counted */
	uint32_t gpus;
	const char *type; /* NULL: not known */
};

/* Before daemon_run().  Those whose key is known are left out.  Returns how many were new, or ERR_*. */
int daemon_import(struct daemon *d, const struct past_job *jobs, size_t n, struct err *err);

#endif
