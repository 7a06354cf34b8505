/*
 * KungFu: every job says itself how many workers it can use, from the noise of
 * its gradients: the noisier, the larger the batch that still pays.
 *
 * Each period a running job asks for the workers that make its batch as large
 * as its noise scale (running means over periods), at half to twice of those it
 * has (model/noise.h).  Fewer
 * are taken at once.  More are granted in order of arrival from what is free,
 * in part if need be; new jobs ask for what they were submitted with.  Nobody
 * is stopped for another.  Jobs without gradient statistics stay as they are.
 */
#include <math.h>

#include "model/agents.h"
#include "model/elastic.h"
#include "model/noise.h"
#include "policy/kit.h"

enum adapt { ADAPT_WORKERS, ADAPT_BATCH };

static const char *const adapt_names[] = { "workers", "batch", NULL };

struct kungfu {
	double round_s, resize_s;
	int adapt, misfit;
};

static const struct option options[] = {
	OPT_DOUBLE(struct kungfu, round_s, 60, 1e-3, 1e6, "seconds between two requests of a job"),
	OPT_CHOICE(struct kungfu, adapt, ADAPT_WORKERS, adapt_names,
		"what follows the noise: the workers with their batches, or only the batch"),
	OPT_DOUBLE(struct kungfu, resize_s, 2, 0, 1e6,
		"seconds that a change of size costs a measured job: workers join and leave without a checkpoint"),
	OPT_CHOICE(struct kungfu, misfit, MISFIT_SKIP, misfit_names,
		"whether jobs may pass the first that does not fit"),
	{ 0 },
};

/* What its agent knows that matters here.  False: nothing. */
struct signs {
	double scale; /* noise, in samples */
	double each;  /* samples of one worker */
	double least_batch, most_batch;
	double least_each; /* of one worker in one pass */
};

static bool read_signs(const struct round *round, const struct job *job, uint32_t type,
	struct signs *out)
{
	const struct batch_limits *limits;
	double batch;

	if (!round->belief->agents)
		return false;
	limits = agents_limits(round->belief->agents, job->id, type);
	if (!limits || !(limits->initial > 0))
		return false;
	batch = job->batch > 0 ? job->batch : limits->initial;
	batch *= job_unit_on(job, type);
	out->each = fmax(1, fmax(limits->min_local, fmin(limits->max_local, batch / job->gpus)));
	out->least_batch = limits->initial;
	out->most_batch = limits->max;
	out->least_each = limits->min_local;
	out->scale = noise_scale((const struct noise *)round->job_state + job->id);
	return isfinite(out->scale);
}

/* What a period shows of its gradient. */
static void feel(const struct round *round, const struct job *job, uint32_t type)
{
	const struct agents *agents = round->belief->agents;
	const struct batch_limits *limits = agents ? agents_limits(agents, job->id, type) : NULL;

	if (limits && limits->initial > 0)
		noise_feel_gradient((struct noise *)round->job_state + job->id,
			agents_gradient(agents, job->id), limits->initial);
}

/* Devices that a running job asks for; a pipeline of several is one worker. */
static uint32_t request(const struct round *round, const struct job *job, const struct grant *grant,
	struct signs *signs)
{
	uint32_t unit = job_unit_on(job, grant->type), now = grant->gpus / unit, workers;
	struct noise_limits limits = { .least = job_least_on(job, grant->type) / unit,
		.most = job_most_on(job, grant->type) / unit };
	uint32_t widest = elastic_widest(round->belief, job, grant->type) / unit;

	if (limits.most > widest)
		limits.most = widest > now ? widest : now;
	if (limits.least == limits.most || !read_signs(round, job, grant->type, signs))
		return grant->gpus;
	limits.least_batch = signs->least_batch;
	limits.most_batch = signs->most_batch;
	workers = noise_workers(signs->scale, signs->each, now, &limits);
	if (workers < limits.least)
		workers = limits.least;
	return unit * (workers < limits.most ? workers : limits.most);
}

static uint32_t batch_of(const struct signs *signs, uint32_t workers)
{
	return (uint32_t)fmin(signs->most_batch, floor(signs->each * workers));
}

static bool resize(struct plan *plan, const struct job *job, uint32_t type, uint32_t gpus,
	const struct signs *signs)
{
	return plan_run(plan, job,
		(struct want){ .gpus = gpus,
			.type = (int)type,
			.batch = batch_of(signs, gpus / job_unit_on(job, type)) });
}

/* Gives back what it does not want; returns what it wants. */
static uint32_t shrink(const struct round *round, struct plan *plan, const struct job *job)
{
	const struct grant *grant = plan_grant(plan, job->id);
	struct signs signs;
	uint32_t wanted = request(round, job, grant, &signs);

	if (wanted < grant->gpus)
		resize(plan, job, grant->type, wanted, &signs);
	return wanted;
}

/* As many more as there are. */
static bool grow(const struct round *round, struct plan *plan, const struct job *job, uint32_t wanted)
{
	const struct grant *grant = plan_grant(plan, job->id);
	uint32_t has = grant->gpus, type = grant->type, free = plan_free(plan, type);
	struct signs signs;

	request(round, job, grant, &signs);
	for (uint32_t gpus = wanted - has > free ? has + free : wanted; gpus > has; gpus--) {
		if (resize(plan, job, type, gpus, &signs))
			return gpus == wanted;
	}
	return false;
}

/* A new job gets what it was submitted with, or as much of that as there is. */
static bool start(const struct round *round, struct plan *plan, const struct job *job)
{
	uint32_t types[TYPES_MAX], n;

	if (job->min_gpus >= job->gpus || job->gpus_by_type || job_is_fraction(job))
		return kit_run(round, plan, job);
	n = kit_types(round, job, types);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t room = plan_room(plan, job, types[i]), gpus = job_gpus_on(job, types[i]);
		uint32_t least = job_least_on(job, types[i]);

		for (gpus = gpus < room ? gpus : room; gpus >= least && gpus > 0; gpus--) {
			if (plan_run(plan, job, (struct want){ .gpus = gpus, .type = (int)types[i] }))
				return true;
		}
	}
	return false;
}

/* Only the batch follows: as large as the noise, in steps of a quarter so that it does not flutter. */
static void retune(const struct round *round, struct plan *plan, const struct job *job)
{
	const struct grant *grant = plan_grant(plan, job->id);
	struct signs signs;
	double batch, has;

	if (job->units || !read_signs(round, job, grant->type, &signs))
		return; /* pipelines have one batch */
	/* As few as so many workers can share, whatever the noise says. */
	batch = fmin(signs.most_batch,
		fmax(fmax(signs.least_batch, signs.least_each * grant->gpus), signs.scale));
	has = grant->batch > 0 ? (double)grant->batch : job->batch;
	if (fabs(batch - has) < has / 4)
		return;
	plan_run(plan, job,
		(struct want){ .gpus = grant->gpus, .type = (int)grant->type, .batch = (uint32_t)batch });
}

static void serve(const struct kungfu *k, const struct round *round, struct plan *plan,
	const uint32_t *wanted)
{
	const struct job *first = NULL; /* that did not get what it asked for */

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *grant = plan_grant(plan, job->id);
		bool blocked = first && k->misfit == MISFIT_BLOCK;

		if (!job_active(job))
			continue;
		if (grant && wanted[i] > grant->gpus && !blocked) {
			grow(round, plan, job, wanted[i]);
		} else if (!grant && blocked) {
			plan_why(plan, job->id,
				(struct reason){ .why = WHY_BEHIND, .other = first->id });
		} else if (!grant && !start(round, plan, job)) {
			kit_no_room(round, plan, job);
			first = first ? first : job;
		}
	}
}

static bool anybody_is_here(const struct round *round)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			return true;
	}
	return false;
}

static int kungfu_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct kungfu *k = self;
	uint32_t *wanted = arena_array(round->scratch, uint32_t, round->nactive);

	(void)err;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job) || !plan_grant(plan, job->id))
			continue;
		feel(round, job, plan_grant(plan, job->id)->type);
		if (k->adapt == ADAPT_WORKERS)
			wanted[i] = shrink(round, plan, job);
		else
			retune(round, plan, job);
	}
	serve(k, round, plan, wanted);
	/* Noise changes though nothing happens. */
	if (round->belief->agents && anybody_is_here(round))
		plan_wake(plan, round->now_s);
	return 0;
}

static double kungfu_period_s(const void *self)
{
	return ((const struct kungfu *)self)->round_s;
}

static double kungfu_resize_s(const void *self)
{
	return ((const struct kungfu *)self)->resize_s;
}

const struct policy policy_kungfu = {
	.name = "kungfu",
	.summary = "jobs ask for workers by their gradient noise, granted in order of arrival",
	.origin = "Mai et al., OSDI 2020",
	.family = "elastic",
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct kungfu),
	.job_state_size = sizeof(struct noise),
	.period_s = kungfu_period_s,
	.resize_s = kungfu_resize_s,
	.decide = kungfu_decide,
};
