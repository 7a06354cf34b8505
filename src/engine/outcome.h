/*
 * What came out of a run: every job as it ended, totals, and enough of the
 * course to draw it.
 */
#ifndef ENGINE_OUTCOME_H
#define ENGINE_OUTCOME_H

#include <stdint.h>

#include "model/cluster.h"
#include "model/figure.h"
#include "model/job.h"

/* The state over [from_s, from_s + step_s), as means. */
struct sample {
	double busy_gpus; /* held by jobs */
	double up_gpus;
	double running; /* jobs */
	double pending;
	double useful_gpus; /* making steps */
	double good_gpus;   /* the same, each times what its samples are worth there */
	double worth_gpus;  /* as many would do the same work if every job ran as it asked */
};

/* One job on some devices of one node. */
struct span {
	double from_s, to_s;
	uint64_t devices;
	uint32_t node;
	uint32_t job;
	uint32_t attempt;
};

/* Jobs that ran where nobody measured their model; their speed there is extrapolated. */
enum { BEYOND_TEXT = 128 };
struct beyond {
	uint32_t jobs;
	uint32_t first;          /* job; of no meaning where there are none */
	char where[BEYOND_TEXT]; /* "16 x t4 on 4 nodes with 1 sample a device" */
};

struct outcome {
	struct job *jobs; /* as they ended; labels and names belong to the trace, gpus_by_type is gone */
	uint32_t njobs;

	/* the course */
	double from_s, to_s;    /* first submission, last event */
	struct sample *samples; /* equal steps from from_s */
	uint32_t nsamples;
	double step_s;
	struct span *spans; /* by start; the first SPANS_MAX of them unless the run asked for none */
	uint32_t nspans;
	uint64_t spans_dropped;

	/* totals */
	uint64_t events;
	uint64_t event_hash;
	uint64_t decisions;
	double decision_cpu_s; /* inside policy and placer, from every 16th decision */
	double cpu_s;          /* of the whole run, this thread */
	double busy_gpu_s, useful_gpu_s, up_gpu_s;
	uint32_t gpus;
	uint32_t node_failures;
	struct figure figures[FIGURES_MAX]; /* what the policy says of itself */
	uint32_t nfigures;
	double waited_by_why_s[WHY_COUNT]; /* job-seconds of waiting by stated reason */
	/* mean |believed / true - 1| of speeds as the run began and ended; NAN where they are not estimated */
	double speed_error_before, speed_error;
	struct beyond beyond;
};

enum { SPANS_MAX = 60000, SAMPLES_MAX = 1024 };

void outcome_fini(struct outcome *outcome);

#endif
