/*
 * Looking at the core: nothing here changes anything.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "live/core_state.h"
#include "placement/hived.h"

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

/* What people call a job that may be over, and then has its number only. */
static const char *name_of(const struct core *c, uint32_t id, char out[LIVE_NAME_SIZE])
{
	const struct live_job *job = core_find(c, id);

	if (job)
		return live_name(job, out);
	snprintf(out, LIVE_NAME_SIZE, "%u", id);
	return out;
}

static const char *gate_reason(const struct core *c, const struct live_job *job, double now_s,
	struct buf *text, uint32_t *about)
{
	char name[LIVE_NAME_SIZE], other[LIVE_NAME_SIZE];

	switch (job->gate) {
	case GATE_USER:
		buf_printf(text, "%s; let it go with: stint release %s",
			job->reclaimed ? job->reclaimed : "held", live_name(job, name));
		return "held";
	case GATE_DEPENDENCY:
		*about = job->gate_job;
		buf_printf(text, "waits for job %s", name_of(c, job->gate_job, other));
		return "dependency";
	case GATE_BEGIN:
		buf_str(text, "its begin time has not come");
		return "begin-time";
	case GATE_ARRAY:
		buf_printf(text, "array limit: %u at a time (%%%u)", job->array_limit,
			job->array_limit);
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
			"job %s did not end as this one needs; cancel it with: stint cancel %s",
			name_of(c, job->gate_job, other), live_name(job, name));
		return "dependency-never";
	}
	reason_text_at(&job->base.reason, NULL, now_s, text);
	return why_name(job->base.reason.why);
}

/* The one that has to go before its newest can begin; NULL: none. */
static const struct attempt *last_before(const struct core *c, const struct attempt *newest)
{
	for (size_t i = c->attempts.n; i-- > 0;) {
		const struct attempt *a = c->attempts.at[i];

		if (a->job == newest->job && a->number < newest->number && a->phase != PHASE_OVER)
			return a;
	}
	return NULL;
}

/* Of one that has devices. */
static const char *size_reason(const struct core *c, const struct live_job *job, struct buf *text)
{
	const struct attempt *a = core_alive(c, job->id), *before = a ? last_before(c, a) : NULL;
	uint32_t from, to;

	if (!a || (job->state == LIVE_RUNNING && !a->next))
		return NULL;
	from = before ? before->grant->gpus : a->grant->gpus;
	to = attempt_claim(a)->gpus;
	if (job->state == LIVE_CONFIGURING && !before) {
		buf_str(text, "has its devices; starts when they are free");
		return "configuring";
	}
	if (from == to)
		buf_str(text, "changes to other devices");
	else
		buf_printf(text, "changes its size from %u to %u", from, to);
	if (before)
		buf_str(text, "; starts again when its last attempt has gone");
	return "resizing";
}

/* Policies do not tell those who wait anew that what they wait for will not come. */
static struct reason if_drained(const struct core *c, const struct job *seen, struct reason reason)
{
	int32_t most = -1, need = 0;

	for (uint32_t type = 0; type < c->cluster->ntypes; type++) {
		int32_t up = (int32_t)engine_up(c->engine, type);
		int32_t least = (int32_t)job_least_on(seen, type);

		if (!job_may_use(seen, type))
			continue;
		if (up >= least)
			return reason;
		if (up > most) {
			most = up;
			need = least;
		}
	}
	return (struct reason){ .why = WHY_DRAINED, .need = need, .have = most, .other = JOB_NONE };
}

/* As the engine has it, with what it does not know of time. */
static struct reason timed_reason(const struct core *c, const struct job *seen)
{
	struct reason reason = seen->reason;

	if (reason.why == WHY_ROUND && isfinite(engine_next_s(c->engine)))
		reason.at_s = engine_next_s(c->engine);
	if (reason.why == WHY_BUSY && health_any_drained(&c->health))
		reason = if_drained(c, seen, reason);
	return reason;
}

const char *core_reason(const struct core *c, const struct live_job *job, double now_s,
	struct buf *text, uint32_t *about)
{
	const struct job *seen = core_engine_job(c, job);
	uint32_t other = seen->reason.other;
	struct reason reason;
	char name[LIVE_NAME_SIZE + sizeof("job ")], called[LIVE_NAME_SIZE];

	*about = 0;
	if (live_ended(job))
		return NULL;
	if (job->state == LIVE_RUNNING || job->state == LIVE_CONFIGURING)
		return size_reason(c, job, text);
	if (job->held)
		return gate_reason(c, job, now_s, text, about);
	if (job->state == LIVE_COMPLETING &&
		(job->engine_id == JOB_NONE || seen->state == JOB_RUNNING)) {
		buf_str(text, "was asked to stop");
		return "stopping";
	}
	if (job->engine_id == JOB_NONE && job->gate != GATE_OPEN)
		return gate_reason(c, job, now_s, text, about);
	if (seen->reason.why == WHY_NONE)
		return NULL;
	if (other < c->of_engine.n && c->of_engine.at[other]) {
		*about = c->of_engine.at[other]->id;
		snprintf(name, sizeof(name), "job %s", live_name(c->of_engine.at[other], called));
	}
	if (job->outside_reason && seen->reason.why == WHY_OUTSIDE) {
		buf_printf(text, "Slurm: %s", job->outside_reason);
		return why_name(WHY_OUTSIDE);
	}
	reason = timed_reason(c, seen);
	reason_text_at(&reason, *about ? name : NULL, now_s, text);
	return why_name(reason.why);
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
	return fmin(fmax(0, left / speed), live_most_s(job, now_s));
}

/* The job as the engine would see it.  Names are not added: what is refused must leave no trace. */
static struct job trial_of(struct core *core, const struct live_job *job)
{
	struct job trial = job->base;

	trial.label = "it";
	trial.types = live_job_types(job, core->cluster);
	trial.tenant = job->tenant ? names_find(&core->tenant_names, job->tenant, strlen(job->tenant))
				   : NAME_NONE;
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

double core_believed_per_s(const struct core *c, const struct live_job *job, uint32_t type, uint32_t gpus)
{
	if (job->engine_id == JOB_NONE || !job->speeds.n)
		return 0;
	return core_agent_speed(c, core_engine_job(c, job), type, gpus, 1);
}

/* ---- promises */

/* Whether other elements of its array come first. */
static bool waits_in_array(const struct live_job *job)
{
	return job->array_limit && job->id - job->array_id >= job->array_limit;
}

/* Whether the policy is asked about it as soon as it begins. */
static bool is_asked(const struct live_job *job)
{
	return isfinite(job->deadline_s) && !job->held && !job->nafter && !waits_in_array(job);
}

/* New jobs that begin at the same time. */
struct starters {
	double at_s;
	VEC(struct job) trials;
	VEC(size_t) places; /* in the list */
};

static void find_starters(struct core *c, const struct live_job *const *jobs, size_t n, double at_s,
	double now_s, struct starters *out)
{
	out->at_s = at_s;
	for (size_t i = 0; i < n; i++) {
		if (!is_asked(jobs[i]) || fmax(jobs[i]->begin_s, now_s) != at_s)
			continue;
		vec_push(&out->trials, trial_of(c, jobs[i]));
		vec_push(&out->places, i);
	}
}

/* The first that is not welcome beside those before it, found by halving; trials.n: all are. */
static size_t first_unwelcome(struct core *c, const struct starters *s, struct reason *why)
{
	struct engine *e = core_engine(c);
	size_t good = 0, bad = s->trials.n;

	if (engine_is_welcome(e, s->trials.at, (uint32_t)bad, s->at_s, why))
		return bad;
	while (bad - good > 1) {
		size_t mid = good + (bad - good) / 2;
		struct reason reason = { 0 };

		if (engine_is_welcome(e, s->trials.at, (uint32_t)mid, s->at_s, &reason)) {
			good = mid;
		} else {
			bad = mid;
			*why = reason;
		}
	}
	return bad - 1;
}

/* Of those that begin when jobs[which] does. */
static size_t ask_starters(struct core *c, const struct live_job *const *jobs, size_t n,
	size_t which, double now_s, struct buf *why)
{
	struct starters s = { 0 };
	struct reason reason = { 0 };
	size_t refused;

	find_starters(c, jobs, n, fmax(jobs[which]->begin_s, now_s), now_s, &s);
	refused = first_unwelcome(c, &s, &reason);
	if (refused < s.trials.n)
		reason_text_at(&reason, NULL, now_s, why);
	refused = refused < s.trials.n ? s.places.at[refused] : n;
	vec_fini(&s.trials);
	vec_fini(&s.places);
	return refused;
}

/* Whether one before it begins when it does. */
static bool is_seen(const struct live_job *const *jobs, size_t which, double now_s)
{
	for (size_t i = 0; i < which; i++) {
		if (is_asked(jobs[i]) &&
			fmax(jobs[i]->begin_s, now_s) == fmax(jobs[which]->begin_s, now_s))
			return true;
	}
	return false;
}

size_t core_welcome(struct core *c, const struct live_job *const *jobs, size_t n, double now_s,
	struct buf *why)
{
	if (!engine_is_choosy(core_engine(c)))
		return n;
	for (size_t i = 0; i < n; i++) {
		size_t refused = n;

		if (is_asked(jobs[i]) && !is_seen(jobs, i, now_s))
			refused = ask_starters(c, jobs, n, i, now_s, why);
		if (refused < n)
			return refused;
	}
	return n;
}

unsigned core_unused(struct core *c, const struct live_job *job)
{
	unsigned said = (job->base.priority != 0 ? USES_PRIORITY : 0) |
		(job->base.weight != 1 ? USES_WEIGHT : 0) |
		(isfinite(job->deadline_s) ? USES_DEADLINE : 0) |
		(job->base.min_gpus < job->base.max_gpus ? USES_RANGE : 0);

	return said & ~engine_uses(core_engine(c));
}

void core_promise(struct core *c, const struct live_job *job, double now_s, struct buf *out)
{
	char time[32];

	if (live_ended(job) || isinf(job->deadline_s) || !engine_is_choosy(core_engine(c)))
		return;
	if (job->unpromised)
		buf_str(out,
			"its deadline could not be promised when it came; it gets what others leave");
	else if (job->engine_id == JOB_NONE && job->held)
		buf_str(out, "nothing is promised before it is released");
	else if (job->engine_id == JOB_NONE && job->nafter)
		buf_str(out, "nothing is promised before those have ended that it waits for");
	else if (job->engine_id == JOB_NONE && job->begin_s > now_s)
		buf_str(out, "nothing is promised before its begin time");
	else if (job->engine_id == JOB_NONE && waits_in_array(job))
		buf_str(out, "nothing is promised before others of its array have ended");
	else if (!(job->estimate_s > 0) && !job->base.by_steps)
		buf_printf(out,
			"nobody said how long it runs: its deadline is promised only if that is %s (say it with --estimate)",
			text_duration(job->base.work_est, time));
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

const struct quota *core_quota(struct core *c)
{
	return engine_quota(core_engine(c));
}

const struct cells *core_cells(struct core *c)
{
	core_engine(c);
	if (!placer_keeps_cells(c->engine_config.placer.rule))
		return NULL;
	return hived_books(c->engine_config.placer.state);
}

unsigned core_traits(const struct core *c)
{
	return c->engine_config.policy.rule->traits;
}

void core_take_over(struct core *c)
{
	core_engine(c);
}

const struct tenants *core_tenants(const struct core *c)
{
	return &c->tenants;
}

const struct cluster *core_cluster(const struct core *c)
{
	return c->cluster;
}
