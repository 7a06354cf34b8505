/*
 * Batch sizes that change while a job trains, and with them its speed.
 *
 * Accordion keeps the batch small in critical regimes (the start, and after
 * the learning rate decays) and makes it as large as can be elsewhere.  The
 * gradient noise scale lets it double at some epochs.  When that is depends on
 * the model, the first batch and the devices, as measured for Shockwave (NSDI
 * 2023).
 *
 * Steps are counted at the present batch.  What lasts when the batch changes is
 * epochs: passes over the data set.
 */
#ifndef MODEL_REGIME_H
#define MODEL_REGIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/job.h"
#include "model/rate.h"

enum adapting {
	ADAPTING_NOT,       /* one batch size from first to last */
	ADAPTING_ACCORDION, /* small in critical regimes, else the largest */
	ADAPTING_NOISE,     /* doubles as the gradient noise grows */
	ADAPTING_COUNT
};

enum { REGIMES_MAX = 5 };

struct regime {
	uint32_t batch;
	uint32_t model; /* of the trace's names: as its speed is known at this batch */
};

struct adaptation {
	enum adapting how;
	uint32_t family;  /* of its model; private */
	uint32_t gpus;    /* asked for */
	uint32_t samples; /* in an epoch */
	uint32_t epochs;  /* in all */
	uint32_t nregimes;
	struct regime regime[REGIMES_MAX]; /* batches in ascending order; the first is the one asked for */
};

/* "static", "accordion", "gns"; ADAPTING_COUNT: none of them. */
enum adapting adapting_of(struct slice word);

/*
 * For a model that is called like "ResNet-18 (batch size 32)", on so many devices, for so many steps.
 * False: nothing is known of how it adapts.  Models of regimes are left at NAME_NONE.
 */
bool adaptation_init(struct adaptation *a, struct slice model, uint32_t gpus, enum adapting how,
	double steps);
/* What the model is called at a regime's batch. */
void adaptation_name(const struct adaptation *a, struct slice model, uint32_t regime, struct buf *out);

/* Steps of an epoch in a regime. */
double adaptation_steps(const struct adaptation *a, uint32_t regime);
/* Epochs behind a job that has made so many steps, the one begun included. */
uint32_t adaptation_begun(const struct adaptation *a, uint32_t regime, double done);
/* Likewise, finished ones only. */
uint32_t adaptation_ended(const struct adaptation *a, uint32_t regime, double done);

/* The regime of an epoch (from 0) as profiled beforehand. */
uint32_t adaptation_profiled(const struct adaptation *a, uint32_t epoch);
/* What a job in `regime` turns to, of which so many epochs have begun: itself, or another. */
uint32_t adaptation_turn(const struct adaptation *a, uint32_t regime, uint32_t begun);

/* Steps in all and made, counted anew at another batch: epochs stay, the one begun counts as done. */
struct tally {
	double work, done;
};
struct tally adaptation_recount(const struct adaptation *a, uint32_t from, uint32_t to,
	struct tally tally);

/* Seconds of an epoch in a regime as asked on a type; 0: it cannot run there. */
double adaptation_epoch_s(const struct rates *rates, const struct job *job, uint32_t type,
	uint32_t regime);
/* Seconds of all epochs as profiled, alone on the type. */
double adaptation_run_s(const struct rates *rates, const struct job *job, uint32_t type);

/* The model whose speed is the job's now. */
static inline uint32_t job_model_now(const struct job *job)
{
	return job->adapts ? job->adapts->regime[job->regime].model : job->model;
}

#endif
