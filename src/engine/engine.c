/*
 * The loop.
 */
#include "engine/engine.h"

#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "engine/rules.h"
#include "engine/state.h"

enum {
	IDLE_MAX = 10000, /* decisions in a row of which nothing came: what waits will never run */
	PROGRESS_EVERY = 4096, /* turns of the loop between two reports */
};

/* A policy without rounds that wants to be woken at once is woken a moment later: time must go on. */
#define WAKE_MIN_S 1e-6

static uint64_t hash_event(uint64_t hash, const struct event *event)
{
	hash = hash_double(hash, event->at_s);
	hash = hash_u64(hash, (uint64_t)event->kind);
	hash = hash_u64(hash, event->job);
	hash = hash_u64(hash, event->node);
	hash = hash_u64(hash, event->attempt);
	hash = hash_double(hash, event->value);
	if (event->devices)
		hash = hash_u64(hash, event->devices);
	hash = hash_u64(hash, (uint64_t)event->reason.why);
	for (uint32_t i = 0; event->grant && i < event->grant->nslots; i++) {
		hash = hash_u64(hash, event->grant->slots[i].node);
		hash = hash_u64(hash, event->grant->slots[i].devices);
	}
	return hash;
}

void engine_tell(struct engine *e, struct event event)
{
	const struct job *job = event.job == JOB_NONE ? NULL : &e->jobs.at[event.job];
	struct observer course = course_observer(&e->course);

	event.at_s = e->now_s;
	if (event.reason.why == WHY_NONE)
		event.reason.other = JOB_NONE;
	event.attempt = job ? job->attempts : 0;
	e->events++;
	e->event_hash = hash_event(e->event_hash, &event);
	course.see(course.self, &event, job);
	for (uint32_t i = 0; i < e->config->nobservers; i++)
		e->config->observers[i].see(e->config->observers[i].self, &event, job);
}

struct round engine_round(struct engine *e)
{
	size_t bytes = e->config->policy.rule->job_state_size * e->jobs.n;
	struct round round;

	vec_grow_zero(&e->job_state, bytes);
	round = (struct round){
		.now_s = e->now_s,
		.cluster = e->config->cluster,
		.belief = e->config->belief,
		.tenants = e->config->tenants,
		.quota = e->quota,
		.on_loan = engine_on_loan(e),
		.jobs = e->jobs.at,
		.njobs = (uint32_t)e->jobs.n,
		.active = e->active.at,
		.nactive = (uint32_t)e->active.n,
		.held = e->held.at,
		.nheld = (uint32_t)e->held.n,
		.deps = e->config->deps,
		.changed = e->changed.at,
		.nchanged = (uint32_t)e->changed.n,
		.capacity_changed = e->capacity_changed,
		.job_state = e->job_state.at,
		.scratch = &e->scratch,
		.rng = &e->rng,
		.seed = e->config->seed,
		.closed = e->driver->over(e->world),
	};
	for (uint32_t type = 0; type < e->config->cluster->ntypes; type++)
		round.up[type] = e->plan.space.types[type].up;
	return round;
}

void engine_mark(struct engine *e, uint32_t job)
{
	if (e->shadows.at[job].changed)
		return;
	e->shadows.at[job].changed = true;
	vec_push(&e->changed, job);
}

void engine_set_reason(struct engine *e, struct job *job, struct reason reason)
{
	struct shadow *shadow = &e->shadows.at[job->id];

	if (job->reason.why != WHY_NONE)
		e->waited_by_why_s[job->reason.why] += e->now_s - shadow->reason_since_s;
	shadow->reason_since_s = e->now_s;
	job->reason = reason;
}

/* The first multiple of the policy's period that is not before at_s and after its last decision. */
static double next_boundary(const struct engine *e, double at_s)
{
	double n = ceil(at_s / e->period_s - 1e-9); /* a multiple shall count as one in spite of rounding */

	return fmax(n, e->boundary + 1) * e->period_s;
}

/* Whether somebody waits beside devices that nobody uses. */
static bool in_a_hurry(const struct engine *e)
{
	return e->config->eager && e->dirty && e->running == 0 && e->alive > e->held.n;
}

static double next_wake_s(const struct engine *e)
{
	double at_s = fmax(e->plan.wake_s, nextafter(e->decided_s + WAKE_MIN_S, INFINITY));

	if (!e->config->put_off || e->period_s > 0 || isinf(at_s))
		return at_s;
	return fmax(at_s, e->config->put_off(e->config->put_off_ctx, at_s));
}

/* When the policy wants to decide next, if nothing happens before. */
static double next_decision_s(const struct engine *e)
{
	double at_s = e->dirty ? e->dirty_since_s : next_wake_s(e);

	if (isinf(at_s))
		return INFINITY;
	return e->period_s > 0 && !in_a_hurry(e) ? next_boundary(e, at_s) : at_s;
}

/* Jobs that are held move only when another ends: if there are no others, nothing will. */
static bool finished(const struct engine *e)
{
	return e->alive == e->held.n && e->driver->over(e->world);
}

static bool report_progress(const struct engine *e, uint64_t turn)
{
	if (!e->config->progress || turn % PROGRESS_EVERY != 0)
		return true;
	return e->config->progress(e->config->progress_ctx, e->ended, e->now_s);
}

/* Waits for the next event and applies everything that happens at that instant.  1: go on, 0: nothing will come. */
static int advance(struct engine *e, double until_s, struct err *err)
{
	struct event event;
	bool first = true;

	for (;; first = false) {
		event = (struct event){ 0 };
		if (e->driver->wait(e->world, first ? until_s : e->now_s, &event, err) < 0)
			return err->code;
		if (event.kind == EV_END)
			return 0;
		if (event.at_s < e->now_s)
			return err_set(err, ERR_BROKEN, "driver %s went back in time from %g to %g s",
				e->driver->name, e->now_s, event.at_s);
		e->now_s = event.at_s;
		if (event.kind == EV_TIMER)
			return 1;
		if (engine_apply(e, &event, err) < 0)
			return err->code;
	}
}

static bool time_to_decide(const struct engine *e)
{
	return next_decision_s(e) <= e->now_s;
}

/* Between two rounds nothing but promises. */
static int keep_between(struct engine *e, struct err *err)
{
	return e->unkept ? engine_keep_between(e, err) : 0;
}

static int loop(struct engine *e, struct err *err)
{
	double end_s = e->config->until_s > 0 ? e->config->until_s : INFINITY;

	for (uint64_t turn = 1; !finished(e); turn++) {
		int rc = advance(e, fmin(next_decision_s(e), end_s), err);

		if (rc < 0)
			return rc;
		if (rc == 0 || e->now_s >= end_s)
			return 0;
		if (!report_progress(e, turn))
			return err_set(err, ERR_REFUSED, "stopped on request");
		if (!time_to_decide(e)) {
			if (keep_between(e, err) < 0)
				return err->code;
			continue;
		}
		if (++e->idle > IDLE_MAX)
			return 0;
		if (engine_decide(e, err) < 0)
			return err->code;
	}
	return 0;
}

/* The least that two readings of the clock are apart. */
static double clock_cost_s(void)
{
	double least_s = INFINITY;

	for (int i = 0; i < 16; i++) {
		double before_s = clock_thread_cpu_s();

		least_s = fmin(least_s, clock_thread_cpu_s() - before_s);
	}
	return least_s;
}

/* Rules that keep books begin them. */
static int begin_placer(const struct engine_config *config, struct err *err)
{
	const struct chosen_placer *placer = &config->placer;

	if (!placer->rule->begin ||
		placer->rule->begin(placer->state, config->cluster, config->tenants, err) == 0)
		return 0;
	return err_prefix(err, "placer %s", placer->rule->name);
}

static int engine_init(struct engine *e, const struct engine_config *config,
	const struct driver *driver, void *world, struct err *err)
{
	const struct policy *policy = config->policy.rule;

	struct quota *quota = NULL;

	if (begin_placer(config, err) < 0)
		return err->code;
	if (config->admission.rule->quotas &&
		quota_create(config->cluster, config->tenants, rules_cells(config), &quota, err) < 0)
		return err_prefix(err, "admission %s", config->admission.rule->name);
	*e = (struct engine){
		.config = config,
		.driver = driver,
		.world = world,
		.quota = quota,
		.decided_s = -INFINITY,
		.boundary = -INFINITY,
		.event_hash = HASH_START,
		.clock_cost_s = clock_cost_s(),
		.period_s = policy->period_s ? policy->period_s(config->policy.state) : 0,
	};
	vec_reserve(&e->jobs, config->expected_jobs);
	vec_reserve(&e->shadows, config->expected_jobs);
	plan_init(&e->plan, config->cluster, config->placer.rule, config->placer.state, config->seed);
	e->plan.belief = config->belief->profile;
	if (quota) /* whoever only follows another scheduler is counted, and not held back */
		plan_set_quota(&e->plan, quota, !policy->stand_in);
	course_init(&e->course, config->cluster, &e->plan.space.held, config->want_spans);
	rng_init(&e->rng, config->seed, RNG_POLICY);
	return 0;
}

static void engine_fini(struct engine *e)
{
	vec_fini(&e->jobs);
	vec_fini(&e->shadows);
	vec_fini(&e->job_state);
	vec_fini(&e->active);
	vec_fini(&e->held);
	vec_fini(&e->changed);
	vec_fini(&e->disturbed);
	vec_fini(&e->beside);
	vec_fini(&e->on_loan);
	vec_fini(&e->rented);
	vec_fini(&e->broken);
	plan_fini(&e->plan);
	quota_destroy(e->quota);
	course_fini(&e->course);
	arena_fini(&e->scratch);
}

/* Jobs that did not end: brought up to now, with the reason they had. */
static void leave_unfinished(struct engine *e)
{
	for (size_t i = 0; i < e->jobs.n; i++) {
		struct job *job = &e->jobs.at[i];

		if (job_ended(job))
			continue;
		if (job->grant)
			engine_settle(e, job);
		else
			job->waited_s += e->now_s - job->wait_since_s;
		engine_set_reason(e, job, job->reason);
		job->grant = NULL;
		job->state = JOB_UNFINISHED;
	}
}

static void write_outcome(struct engine *e, double cpu_s, struct outcome *out)
{
	*out = (struct outcome){ .gpus = e->config->cluster->devices };
	leave_unfinished(e);
	course_finish(&e->course, e->now_s, out);
	for (size_t i = 0; i < e->jobs.n; i++) {
		out->useful_gpu_s += e->jobs.at[i].served_s - e->jobs.at[i].lost_gpu_s;
		e->jobs.at[i].gpus_by_type = NULL; /* the world's, which ends */
		e->jobs.at[i].units = NULL;
	}
	out->jobs = e->jobs.at;
	out->njobs = (uint32_t)e->jobs.n;
	e->jobs.at = NULL;
	e->jobs.n = 0;
	out->events = e->events;
	out->event_hash = e->event_hash;
	out->decisions = e->decisions;
	if (e->timed_decisions > 0)
		out->decision_cpu_s = fmin(cpu_s,
			e->timed_cpu_s * (double)e->decisions / (double)e->timed_decisions);
	out->cpu_s = cpu_s;
	if (e->config->policy.rule->figures)
		out->nfigures = e->config->policy.rule->figures(e->config->policy.state, out->figures);
	out->nfigures = engine_cost(e, out->figures, out->nfigures);
	out->node_failures = e->node_failures;
	memcpy(out->waited_by_why_s, e->waited_by_why_s, sizeof(out->waited_by_why_s));
}

static int take_a_look(struct engine *e, struct err *err)
{
	struct round round = engine_round(e);

	return e->config->look(e->config->look_ctx, &e->config->policy, &round, &e->plan, err);
}

struct engine *engine_create(const struct engine_config *config, const struct driver *driver,
	void *world, double now_s, struct err *err)
{
	struct engine *e = mem_alloc(sizeof(*e));

	if (engine_init(e, config, driver, world, err) < 0) {
		free(e);
		return NULL;
	}
	e->now_s = now_s;
	return e;
}

void engine_destroy(struct engine *e)
{
	if (!e)
		return;
	engine_fini(e);
	free(e);
}

double engine_next_s(const struct engine *e)
{
	return next_decision_s(e);
}

int engine_turn(struct engine *e, double now_s, struct err *err)
{
	do {
		double next_s = fmax(e->now_s, fmin(next_decision_s(e), now_s));

		if (advance(e, next_s, err) < 0)
			return err->code;
		if ((time_to_decide(e) ? engine_decide : keep_between)(e, err) < 0)
			return err->code;
	} while (e->now_s < now_s || time_to_decide(e));
	return 0;
}

const struct job *engine_jobs(const struct engine *e, uint32_t *n)
{
	*n = (uint32_t)e->jobs.n;
	return e->jobs.at;
}

uint64_t engine_decisions(const struct engine *e)
{
	return e->decisions + e->between;
}

size_t engine_remember(const struct engine *e, void **out)
{
	const struct chosen_policy *policy = &e->config->policy;

	*out = NULL;
	if (!policy->rule->remember)
		return 0;
	return policy->rule->remember(policy->state, e->jobs.at, (uint32_t)e->jobs.n,
		e->job_state.at, out);
}

void *engine_memory_of(struct engine *e, uint32_t job)
{
	size_t size = e->config->policy.rule->job_state_size;

	vec_grow_zero(&e->job_state, size * e->jobs.n);
	return size ? e->job_state.at + size * job : NULL;
}

uint64_t engine_down(const struct engine *e, uint32_t node)
{
	uint64_t all = node_all(&e->config->cluster->nodes[node]);

	return e->plan.space.nodes[node].up ? e->plan.space.nodes[node].down & all : all;
}

const struct quota *engine_quota(const struct engine *e)
{
	return e->quota;
}

uint32_t engine_up(const struct engine *e, uint32_t type)
{
	return e->plan.space.types[type].up;
}

int engine_run(const struct engine_config *config, const struct driver *driver, void *world,
	struct outcome *out, struct err *err)
{
	double before_s = clock_thread_cpu_s();
	struct engine e;
	int rc;

	rc = engine_init(&e, config, driver, world, err);
	if (rc < 0)
		return rc;
	rc = loop(&e, err);
	if (rc == 0 && config->look)
		rc = take_a_look(&e, err);
	if (rc == 0)
		write_outcome(&e, clock_thread_cpu_s() - before_s, out);
	engine_fini(&e);
	return rc;
}

void outcome_fini(struct outcome *outcome)
{
	free(outcome->jobs);
	free(outcome->samples);
	free(outcome->spans);
	*outcome = (struct outcome){ 0 };
}
