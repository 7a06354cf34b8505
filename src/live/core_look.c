/*
 * Looking at the core: nothing here changes anything.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "live/core_state.h"

const struct live_job *core_job(const struct core *c, uint32_t id)
{
	return core_find(c, id);
}

const struct live_job *const *core_jobs(const struct core *c, size_t *n)
{
	*n = c->jobs.n;
	return (const struct live_job *const *)c->jobs.at;
}

const struct job *core_engine_job(const struct core *c, const struct live_job *job)
{
	uint32_t n = 0;
	const struct job *all = c->engine ? engine_jobs(c->engine, &n) : NULL;

	return job->engine_id < n ? &all[job->engine_id] : &job->base;
}

const struct attempt *const *core_attempts(const struct core *c, size_t *n)
{
	*n = c->attempts.n;
	return (const struct attempt *const *)c->attempts.at;
}

const struct attempt *core_attempt(const struct core *c, uint32_t job, uint32_t number)
{
	return core_find_attempt(c, job, number);
}

static const char *gate_reason(const struct live_job *job, struct buf *text, uint32_t *about)
{
	switch (job->gate) {
	case GATE_USER:
		buf_printf(text, "held; let it go with: stint release %u", job->id);
		return "held";
	case GATE_DEPENDENCY:
		*about = job->gate_job;
		buf_printf(text, "waits for job %u", job->gate_job);
		return "dependency";
	case GATE_BEGIN:
		buf_str(text, "its begin time has not come");
		return "begin-time";
	case GATE_ARRAY:
		buf_printf(text, "%u of its array may run at once", job->array_limit);
		return "array-limit";
	case GATE_STOPPING:
		buf_str(text, "its last attempt is still stopping");
		return "stopping";
	default:
		break;
	}
	if (job->nafter) {
		*about = job->gate_job;
		buf_printf(text,
			"job %u did not end as this one needs; cancel it with: stint cancel %u",
			job->gate_job, job->id);
		return "dependency-never";
	}
	reason_text(&job->base.reason, NULL, text);
	return why_name(job->base.reason.why);
}

const char *core_reason(const struct core *c, const struct live_job *job, struct buf *text,
	uint32_t *about)
{
	const struct job *seen = core_engine_job(c, job);
	uint32_t other = seen->reason.other;
	char name[32];

	*about = 0;
	if (live_ended(job) || job->state == LIVE_RUNNING)
		return NULL;
	if (job->state == LIVE_CONFIGURING) {
		buf_str(text, "has its devices; starts when they are free");
		return "configuring";
	}
	if (job->held)
		return gate_reason(job, text, about);
	if (job->state == LIVE_COMPLETING &&
		(job->engine_id == JOB_NONE || seen->state == JOB_RUNNING)) {
		buf_str(text, "was asked to stop");
		return "stopping";
	}
	if (job->engine_id == JOB_NONE && job->gate != GATE_OPEN)
		return gate_reason(job, text, about);
	if (seen->reason.why == WHY_NONE)
		return NULL;
	if (other < c->of_engine.n && c->of_engine.at[other]) {
		*about = c->of_engine.at[other]->id;
		snprintf(name, sizeof(name), "job %u", *about);
	}
	reason_text(&seen->reason, *about ? name : NULL, text);
	return why_name(seen->reason.why);
}

double core_left_s(const struct core *c, const struct live_job *job, double now_s)
{
	const struct job *seen = core_engine_job(c, job);
	double left = job->base.work_est - job_done(seen, now_s);
	double speed = seen->grant ? seen->rate : job->base.nominal_rate;
	bool told = job->progress.seen || job->estimate_s > 0;

	/* Of one that waits nobody knows; one that outlives its estimate has shown that it was none. */
	if (live_ended(job) || !told || !(speed > 0) || !seen->grant)
		return NAN;
	if (!job->progress.seen && !(left > 0))
		return NAN;
	return fmax(0, left / speed);
}

/* The job as the engine would see it.  Names are not added: what is refused must leave no trace. */
static struct job trial_of(struct core *core, const struct live_job *job)
{
	struct job trial = job->base;

	trial.label = "it";
	trial.types = live_job_types(job, core->cluster);
	trial.model = job->model ? names_find(&core->model_names, job->model, strlen(job->model))
				 : NAME_NONE;
	return trial;
}

bool core_could_run(struct core *core, const struct live_job *job, struct buf *why)
{
	struct job trial = trial_of(core, job);
	struct reason reason;
	bool could = engine_could_run(core_engine(core), &trial, &reason);

	if (!could)
		reason_text(&reason, NULL, why);
	return could;
}

bool core_is_welcome(struct core *core, const struct live_job *job, double now_s, struct buf *why)
{
	struct job trial = trial_of(core, job);
	struct reason reason = { 0 };
	bool welcome = engine_is_welcome(core_engine(core), &trial, &reason);
	double later_s = reason.at_s - now_s;
	char text[32];

	if (welcome)
		return true;
	reason.at_s = 0; /* the core's time means nothing to people */
	reason_text(&reason, NULL, why);
	if (reason.why == WHY_DEADLINE && isfinite(later_s) && later_s > 0)
		buf_printf(why, "; one %s from now could be", text_duration(later_s, text));
	return false;
}

size_t core_forgotten(const struct core *c)
{
	return c->of_engine.n > c->jobs.n ? c->of_engine.n - c->jobs.n : 0;
}

uint64_t core_decisions(const struct core *c)
{
	return c->engine ? engine_decisions(c->engine) : 0;
}

const struct rule_specs *core_rules(const struct core *c)
{
	return &c->rules;
}

const struct tenants *core_tenants(const struct core *c)
{
	return &c->tenants;
}

const struct cluster *core_cluster(const struct core *c)
{
	return c->cluster;
}
