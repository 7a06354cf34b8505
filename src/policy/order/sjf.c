/*
 * Shortest job first: by believed run time, by gang size, or by their product.
 *
 * The key is fixed when the job comes, so it is not preemptive unless asked
 * to be; srtf and srsf look at what is left instead.
 */
#include "policy/kit.h"

enum by { BY_TIME, BY_GPUS, BY_SERVICE };

static const char *const by_names[] = { "time", "gpus", "service", NULL };

struct sjf {
	int by;
	int misfit;
	bool preempt;
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_CHOICE(struct sjf, by, BY_TIME, by_names,
		"what is short: run time, number of GPUs, or GPU-time"),
	OPT_CHOICE(struct sjf, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	OPT_BOOL(struct sjf, preempt, 0, "stop longer jobs for a shorter one"),
	{ 0 },
};

static double by_size(const void *self, const struct round *round, const struct job *job)
{
	const struct sjf *s = self;

	(void)round;
	switch ((enum by)s->by) {
	case BY_GPUS:
		return job->gpus;
	case BY_SERVICE:
		return job_run_s(job) * job->gpus;
	default:
		return job_run_s(job);
	}
}

static int sjf_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct sjf *s = self;
	struct ordering ordering = {
		.key = by_size,
		.misfit = (enum misfit)s->misfit,
		.preempt = s->preempt,
	};

	(void)err;
	kit_in_order(&s->ranking, &ordering, self, round, plan);
	return 0;
}

static void sjf_fini(void *self)
{
	ranking_fini(&((struct sjf *)self)->ranking);
}

const struct policy policy_sjf = {
	.name = "sjf",
	.summary = "shortest job first, run to the end unless preempt=1",
	.family = "order",
	.traits = POLICY_ESTIMATES | POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct sjf),
	.fini = sjf_fini,
	.decide = sjf_decide,
};
