/*
 * @NAME@: what it is good at, in a sentence.
 *
 * Who goes first and why; what becomes of a job that does not fit; when a
 * running job is stopped for another.
 */
#include "policy/kit.h"

struct @IDENT@ {
	int misfit;
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_CHOICE(struct @IDENT@, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	{ 0 },
};

/* Smaller runs first; ties break by arrival and id. */
static double by_arrival(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->arrival_s;
}

static int decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct @IDENT@ *p = self;
	struct ordering ordering = {
		.key = by_arrival,
		.misfit = (enum misfit)p->misfit,
		.preempt = false,
	};

	(void)err;
	kit_in_order(&p->ranking, &ordering, self, round, plan);
	return 0;
}

static void fini(void *self)
{
	ranking_fini(&((struct @IDENT@ *)self)->ranking);
}

const struct policy policy_@IDENT@ = {
	.name = "@NAME@",
	.summary = "who runs first, in a few words",
	.origin = NULL, /* the paper: "Author et al., VENUE 2026" */
	.family = "@FAMILY@",
	.traits = 0, /* POLICY_PREEMPTS, POLICY_ESTIMATES, POLICY_RANDOM */
	.options = options,
	.state_size = sizeof(struct @IDENT@),
	.fini = fini,
	.decide = decide,
};
