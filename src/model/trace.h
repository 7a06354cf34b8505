/*
 * A workload: jobs in order of arrival, and the truth about them.
 *
 * A trace is read once and shared by every run of a comparison; runs copy the
 * jobs they schedule and never write here.
 */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "model/job.h"

/* When and where a job ran in the history that a trace was read from. */
struct past_run {
	uint32_t job;
	double start_s, end_s;
	int32_t gpus;
	uint32_t type;     /* index in the trace's types; NAME_NONE: not said */
	const char *nodes; /* as Slurm lists hosts, "a[1-3],b"; NULL: not said */
};

/* A zeroed trace is valid and empty. */
struct trace {
	struct arena text; /* owns labels and names */
	struct job *jobs;  /* by (arrival, line); id is the index */
	double *work;      /* the truth: steps of each job */
	uint32_t njobs, cap;
	uint32_t *deps; /* indices of jobs; see job.first_dep */
	uint32_t ndeps, deps_cap;
	struct names tenants;
	struct names models;
	struct names types; /* device types that jobs name; bit i of job.types and number i of job.gpus_by_type are of types.at[i] until they are submitted */
	uint8_t *measured_on; /* by job: 1 + index in `types` where its run time was measured; NULL or 0: everywhere alike */
	struct past_run *past; /* what really happened, where that was told; several of a job that was requeued */
	uint32_t npast, past_cap;
	double began_s;     /* its first arrival as it was written, before times were shifted */
	char *source;       /* file or generator, for messages and manifests */
	const char *format; /* importer's name */
	uint64_t hash;      /* of what was read */
};

void trace_fini(struct trace *trace);

/* Room for so many jobs, where their number is known. */
void trace_reserve(struct trace *trace, uint32_t cap);

/* Adds a job (fields as job_init() leaves them), its work NAN; valid until the next call. */
struct job *trace_add(struct trace *trace);

/* Says that `job` must wait until `other` has finished (positions so far).  All of a job's in one go. */
void trace_add_dep(struct trace *trace, uint32_t job, uint32_t other);

/* Says on which of `types` the run time of the job added last was measured. */
void trace_measured(struct trace *trace, uint32_t type);

/* Says when and where a job (its position so far) ran.  Keeps run.nodes, which must live as long as the trace. */
void trace_add_past(struct trace *trace, struct past_run run);

/* A copy that lives as long as the trace, for job.gpus_by_type; NULL gives NULL. */
const uint16_t *trace_gangs(struct trace *trace, const uint16_t *by_type);

/* Text that lives as long as the trace. */
const char *trace_text(struct trace *trace, const char *text, size_t n);

/*
 * Puts jobs in order of (arrival, position), numbers them, shifts time so that the
 * first arrival is `origin_s` if that is not NAN, fills min/max GPUs, beliefs equal to the truth, and missing labels.
 * Call once, after the last job was added.
 */
void trace_finish(struct trace *trace, double origin_s);

#endif
