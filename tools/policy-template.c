/*
 * @NAME@: what it optimises, in a sentence.
 *
 * Who goes first and why, and what happens to a job that does not fit.
 */
#include "policy/policy.h"

struct @IDENT@ {
	double patience_s;
};

static const struct option options[] = {
	OPT_DOUBLE(struct @IDENT@, patience_s, 0, 0, 1e9, "an example option: say what it changes"),
	{ 0 }
};

/* Smaller goes first; ties break by arrival and id. */
static double by_arrival(const void *self, const struct round *r, const struct job *job)
{
	(void)self;
	(void)r;
	return job->arrival_s;
}

static int @IDENT@_decide(void *self, const struct round *r, struct plan *plan, struct err *err)
{
	(void)err;
	kit_in_order(plan, r, by_arrival, self, SKIP_MISFIT);
	return 0;
}

const struct policy policy_@IDENT@ = {
	.name = "@NAME@",
	.summary = "say in a few words who runs first",
	.origin = "your paper, venue and year",
	.options = options,
	.state_size = sizeof(struct @IDENT@),
	.decide = @IDENT@_decide,
};
