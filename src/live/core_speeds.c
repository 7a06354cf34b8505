/*
 * What elastic jobs show of themselves, for the policies that size them: how fast
 * they are on how many devices, and what their reports say of batch and gradient.
 *
 * Speeds stay with the job (its status has them), and its agent is taught anew
 * whenever they change or the engine has another number for it.  A job that
 * reports no batch is taken to do the same work in every step, whatever it has.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "live/core_state.h"
#include "model/elastic.h"

#define STEPS_MIN 3    /* fewer show no speed */
#define TOOK_MIN_S 2.0 /* and neither do shorter times */
#define SAME 0.05      /* relative; what is closer to what was known is no news */
#define SILENCE_S 300  /* a job that has shown no speed for so long will not */
#define SYNC_MOST 0.99 /* of a step: something is computed in every one */
#define BATCH_MAX 1e9
#define GRAD_MAX 1e100   /* its square and its product with a batch are numbers, too */
#define WHOLE_BATCH 5040 /* of jobs that report none: most numbers of devices divide it */

static bool is_elastic(const struct live_job *job)
{
	return job->base.min_gpus < job->base.max_gpus && !job_is_fraction(&job->base);
}

static double batch_of(const struct live_speed *s)
{
	return s->batch > 0 ? s->batch : WHOLE_BATCH;
}

static double local_batch(const struct live_speed *s)
{
	return batch_of(s) / s->gpus;
}

/* Speeds from before it said its batch cannot be compared with later ones. */
static bool counts(const struct live_job *job, const struct live_speed *s)
{
	return s->batch > 0 || isnan(job->first_batch);
}

/* ---- what its agent is told */

static struct batch_limits limits_of(const struct live_job *job)
{
	double initial = isnan(job->first_batch) ? WHOLE_BATCH : job->first_batch, max = initial;

	max = fmax(max, fmax(job->progress.max_batch, 0));
	for (size_t i = 0; i < job->speeds.n; i++) {
		if (counts(job, &job->speeds.at[i]))
			max = fmax(max, batch_of(&job->speeds.at[i]));
	}
	/* Every device has a sample: it must at least be able to run on its fewest. */
	max = fmax(max, job->base.min_gpus);
	return (struct batch_limits){ .initial = initial, .max = max, .min_local = 1, .max_local = max };
}

/* Of those on the same type, the one on the fewest devices. */
static const struct live_speed *fewest(const struct live_job *job, const struct live_speed *like)
{
	const struct live_speed *best = like;

	for (size_t i = 0; i < job->speeds.n; i++) {
		const struct live_speed *s = &job->speeds.at[i];

		if (counts(job, s) && !strcmp(s->type, like->type) && s->gpus < best->gpus)
			best = s;
	}
	return best;
}

/*
 * As reported, or what is left of a step when the computing is taken off that the fewest devices showed, in
 * proportion to the batch of a device.
 */
static double sync_of(const struct live_job *job, const struct live_speed *s)
{
	const struct live_speed *few = fewest(job, s);
	double few_sync_s = few->gpus > 1 && !isnan(few->sync_s) ? few->sync_s : 0;
	double compute_s = (few->step_s - few_sync_s) * local_batch(s) / local_batch(few);
	double sync_s = isnan(s->sync_s) ? s->step_s - compute_s : s->sync_s;

	if (s->gpus <= 1)
		return 0;
	return fmax(0, fmin(sync_s, SYNC_MOST * s->step_s));
}

static void teach_speed(struct core *c, const struct live_job *job, const struct live_speed *s)
{
	int type = cluster_find_type(c->cluster, s->type);
	struct goodput_sample sample = {
		.nodes = s->nodes,
		.replicas = s->gpus,
		.atomic = local_batch(s),
		.step_s = s->step_s,
		.sync_s = sync_of(job, s),
	};

	if (type >= 0 && counts(job, s))
		agents_observe(c->agents, job->engine_id, (uint32_t)type, &sample);
}

static void teach_gradient(struct core *c, const struct live_job *job)
{
	const struct live_progress *p = &job->progress;

	if (p->grad_sqr >= 0 && p->grad_sqr <= GRAD_MAX && p->grad_var >= 0 && p->grad_var <= GRAD_MAX)
		agents_feel(c->agents, job->engine_id, (struct gradient){ p->grad_sqr, p->grad_var });
}

void core_teach(struct core *c, const struct live_job *job)
{
	struct batch_limits limits = limits_of(job);

	if (job->engine_id == JOB_NONE || !is_elastic(job))
		return;
	agents_forget(c->agents, job->engine_id);
	if (job->silent)
		return;
	for (uint32_t type = 0; type < c->cluster->ntypes; type++)
		agents_limit(c->agents, job->engine_id, type, limits);
	for (size_t i = 0; i < job->speeds.n; i++)
		teach_speed(c, job, &job->speeds.at[i]);
	teach_gradient(c, job);
}

double core_agent_speed(const struct core *c, const struct job *job, uint32_t type, uint32_t gpus,
	uint32_t nodes)
{
	double speed = 0;

	if (agents_limits(c->agents, job->id, type) && elastic_is_measured(&c->belief, job))
		speed = elastic_speed(&c->belief, job, (struct configuration){ type, gpus, nodes },
			BATCHING_TUNED, NULL);
	return isfinite(speed) ? speed : 0;
}

/* ---- what reports say */

/* What is not in its range was not said. */
static void take_metric(const json_t *metrics, const char *name, double least, double most, double *value)
{
	double said = member_number(metrics, name, NAN);

	if (said >= least && said <= most)
		*value = said;
}

void core_listen(struct core *c, struct live_job *job, const json_t *metrics)
{
	struct live_progress *p = &job->progress, before = *p;

	take_metric(metrics, "batch", 1, BATCH_MAX, &p->batch);
	take_metric(metrics, "max_batch", 1, BATCH_MAX, &p->max_batch);
	take_metric(metrics, "sync_s", 0, DBL_MAX, &p->sync_s);
	take_metric(metrics, "grad_sqr", 0, GRAD_MAX, &p->grad_sqr);
	take_metric(metrics, "grad_var", 0, GRAD_MAX, &p->grad_var);
	if (isnan(job->first_batch))
		job->first_batch = p->batch;
	/* Speed at one batch is not that at another. */
	if (p->batch != before.batch && !isnan(before.batch))
		p->first_step = p->first_s = NAN;
	if (job->speeds.n == 0 || job->silent || !is_elastic(job) || job->engine_id == JOB_NONE)
		return;
	if (p->max_batch != before.max_batch && !isnan(p->max_batch))
		core_teach(c, job);
	else
		teach_gradient(c, job);
}

/*
 * Seconds of a step as it really is: progress is counted in steps at the first batch, of which one at a
 * larger batch makes several.
 */
static double step_seconds(const struct live_job *job, double per_s)
{
	const struct live_progress *p = &job->progress;
	struct gradient g = { .sqr = fmax(0, p->grad_sqr), .var = fmax(0, p->grad_var) };

	if (isnan(p->batch) || p->batch == job->first_batch)
		return 1 / per_s;
	return goodput_gain(g, p->batch, job->first_batch) / per_s;
}

static struct live_speed *find_speed(struct live_job *job, const struct live_speed *like)
{
	for (size_t i = 0; i < job->speeds.n; i++) {
		struct live_speed *s = &job->speeds.at[i];

		if (!strcmp(s->type, like->type) && s->nodes == like->nodes &&
			s->gpus == like->gpus && s->batch == like->batch)
			return s;
	}
	return NULL;
}

static bool is_news(const struct live_speed *before, const struct live_speed *now)
{
	return isnan(before->sync_s) != isnan(now->sync_s) ||
		fabs(now->step_s - before->step_s) > SAME * before->step_s ||
		fabs(now->sync_s - before->sync_s) > SAME * before->step_s;
}

/* Returns whether that is news. */
static bool keep_speed(struct live_job *job, const struct live_speed *now)
{
	struct live_speed *before = find_speed(job, now);

	if (before && !is_news(before, now))
		return false;
	if (before) {
		*before = *now;
		return true;
	}
	if (job->speeds.n == LIVE_SPEEDS_MAX)
		memmove(&job->speeds.at[0], &job->speeds.at[1],
			--job->speeds.n * sizeof(job->speeds.at[0]));
	vec_push(&job->speeds, *now);
	return true;
}

void core_measure(struct core *c, struct live_job *job, const struct attempt *a, double per_s,
	double made, double took_s)
{
	struct live_speed now = {
		.nodes = a->grant->nslots,
		.gpus = a->grant->gpus,
		.batch = isnan(job->progress.batch) ? 0 : job->progress.batch,
		.step_s = step_seconds(job, per_s),
		.sync_s = job->progress.sync_s,
	};

	if (!is_elastic(job) || !job->base.by_steps || a->stop || a->grant->mixed ||
		core_engine_job(c, job)->company || made < STEPS_MIN || took_s < TOOK_MIN_S ||
		!(now.step_s > 0 && isfinite(now.step_s)))
		return;
	snprintf(now.type, sizeof(now.type), "%s", c->cluster->types[a->grant->type].name);
	if (!keep_speed(job, &now))
		return;
	job->silent = false;
	job->learnt = true;
	core_teach(c, job);
}

/* ---- those that say nothing */

static void give_up(struct core *c, struct live_job *job)
{
	job->silent = job->learnt = true;
	core_teach(c, job);
	core_tell_progress(c, job, job_done(core_engine_job(c, job), c->now_s));
	core_note(c, NOTE_STATE, job->id, 0, NULL);
}

void core_end_silence(struct core *c)
{
	for (size_t i = 0; i < c->attempts.n; i++) {
		const struct attempt *a = c->attempts.at[i];
		struct live_job *job = core_find(c, a->job);
		double due_s = a->begun_s + SILENCE_S;

		if (a->phase != PHASE_RUNNING || a->stop || !job || job->silent || job->speeds.n ||
			job->engine_id == JOB_NONE || !is_elastic(job))
			continue;
		if (c->now_s >= due_s)
			give_up(c, job);
		else
			c->next_gate_s = fmin(c->next_gate_s, due_s);
	}
}
