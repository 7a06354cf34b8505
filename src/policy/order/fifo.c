/*
 * First in, first out.
 *
 * The queue keeps its order: a job that does not fit blocks those behind it,
 * or lets them pass (misfit=skip), which is first fit in arrival order.
 */
#include "policy/kit.h"

struct fifo {
	int misfit;
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_CHOICE(struct fifo, misfit, MISFIT_BLOCK, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

static double by_arrival(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->arrival_s;
}

static int fifo_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct fifo *f = self;
	struct ordering ordering = { .key = by_arrival, .misfit = (enum misfit)f->misfit };

	(void)err;
	kit_in_order(&f->ranking, &ordering, self, round, plan);
	return 0;
}

static void fifo_fini(void *self)
{
	ranking_fini(&((struct fifo *)self)->ranking);
}

const struct policy policy_fifo = {
	.name = "fifo",
	.summary = "first come, first served",
	.family = "order",
	.options = options,
	.state_size = sizeof(struct fifo),
	.fini = fifo_fini,
	.decide = fifo_decide,
};
