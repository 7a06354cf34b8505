/*
 * Gates: what keeps a job from the engine, and who gets in now.
 */
#include <math.h>
#include <string.h>

#include "live/core_state.h"

/* Whether a job that is not here any more, or is, meets the condition; `never`: it cannot any more. */
static bool met(const struct core *c, const struct dependency *d, bool *never)
{
	const struct live_job *other = core_find(c, d->job);

	/* Of jobs that had ended before, what can never be met has the number 0, and the rest was left out. */
	*never = d->job == 0;
	if (!other)
		return !*never;
	switch (d->kind) {
	case AFTER_START:
		return !isnan(other->first_begun_s) || live_ended(other);
	case AFTER_ANY:
		return live_ended(other);
	case AFTER_NOT_OK:
		*never = other->state == LIVE_COMPLETED;
		return live_ended(other) && !*never;
	default:
		*never = live_ended(other) && other->state != LIVE_COMPLETED;
		return other->state == LIVE_COMPLETED;
	}
}

/* Forgets dependencies that are met, so that they stay met when the other job is gone. */
static enum gate dependency_gate(const struct core *c, struct live_job *job)
{
	enum gate gate = GATE_OPEN;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->nafter; i++) {
		bool never = false;

		if (met(c, &job->after[i], &never)) {
			job->changed = true;
			continue;
		}
		if (gate == GATE_OPEN || never) {
			gate = never ? GATE_NEVER : GATE_DEPENDENCY;
			job->gate_job = job->after[i].job ? job->after[i].job : job->gate_job;
		}
		/* The other one will be forgotten. */
		if (never)
			job->after[i].job = 0;
		job->after[kept++] = job->after[i];
	}
	job->nafter = kept;
	return gate;
}

/* How many of the array that was asked about last are inside. */
struct crowd_of_array {
	uint32_t array_id, inside;
};

/* One that was taken back counts until its last attempt is gone. */
static bool at_once(const struct live_job *job)
{
	return job->engine_id != JOB_NONE || (!live_ended(job) && job->state != LIVE_PENDING);
}

/* Elements of an array have numbers that follow each other, so it is counted once for all of them. */
static void count_array(const struct core *c, uint32_t array_id, struct crowd_of_array *out)
{
	*out = (struct crowd_of_array){ .array_id = array_id };
	for (size_t i = core_index(c, array_id); i < c->jobs.n; i++) {
		if (c->jobs.at[i]->array_id != array_id)
			break;
		out->inside += at_once(c->jobs.at[i]);
	}
}

static bool array_full(const struct core *c, const struct live_job *job, struct crowd_of_array *array)
{
	if (!job->array_limit)
		return false;
	if (array->array_id != job->array_id)
		count_array(c, job->array_id, array);
	return array->inside >= job->array_limit;
}

static enum gate gate_of(struct core *c, struct live_job *job, struct crowd_of_array *array)
{
	enum gate gate = dependency_gate(c, job);

	if (job->held)
		return GATE_USER;
	if (core_alive(c, job->id))
		return GATE_STOPPING;
	if (gate != GATE_OPEN)
		return gate;
	if (job->begin_s > c->now_s) {
		c->next_gate_s = fmin(c->next_gate_s, job->begin_s);
		return GATE_BEGIN;
	}
	return array_full(c, job, array) ? GATE_ARRAY : GATE_OPEN;
}

static uint32_t number_of(struct names *names, const char *text)
{
	return text ? names_add(names, text, strlen(text)) : NAME_NONE;
}

void core_bind(struct core *c, struct live_job *job)
{
	struct job *base = &job->base;

	if (!base->label)
		base->label = mem_printf("%u", job->id);
	base->name = job->name;
	base->tenant = number_of(&c->tenant_names, job->tenant);
	base->model = number_of(&c->model_names, job->model);
	profile_learn_names(c->speeds);
	base->types = live_job_types(job, c->cluster);
	base->reason = (struct reason){ .other = JOB_NONE };
	base->grant = NULL;
	live_job_avoid(job, c->cluster, c->care.avoid_after);
	if (base->start_cost_s == 0 && !isnan(c->start_cost_s))
		base->start_cost_s = base->resume_cost_s = c->start_cost_s;
}

static void enter_engine(struct core *c, struct live_job *job)
{
	core_bind(c, job);
	job->base.state = JOB_FUTURE;
	job->unpromised = false;
	/* The engine counts from now on. */
	job->base.waited_s += fmax(0, c->now_s - job->base.wait_since_s);
	job->base.wait_since_s = c->now_s;
	job->engine_id = (uint32_t)c->of_engine.n;
	vec_push(&c->of_engine, job);
	core_teach(c, job);
	core_tell(c, (struct event){ .kind = EV_SUBMIT, .job = JOB_NONE }, &job->base);
}

/* Those the engine refused wait for another machine, that is the next epoch. */
static bool refused(const struct live_job *job)
{
	return job->gate == GATE_NEVER && job->nafter == 0;
}

/* Returns whether it still waits outside. */
static bool try_gate(struct core *c, struct live_job *job, struct crowd_of_array *array)
{
	if (job->engine_id != JOB_NONE || live_ended(job))
		return false;
	if (refused(job))
		return true;
	job->gate = gate_of(c, job, array);
	if (job->gate != GATE_OPEN)
		return true;
	enter_engine(c, job);
	array->inside += job->array_id == array->array_id;
	return false;
}

void core_wait_outside(struct core *c, struct live_job *job)
{
	c->gates_moved = true;
	if (job->outside)
		return;
	job->outside = true;
	job->base.types = live_job_types(job, c->cluster); /* for whoever asks before it is bound */
	vec_push(&c->outside, job);
}

void core_wait_in_order(struct core *c, struct live_job *job)
{
	bool was_outside = job->outside;
	size_t at;

	core_wait_outside(c, job);
	if (was_outside)
		return;
	for (at = c->outside.n - 1; at > 0 && c->outside.at[at - 1]->id > job->id; at--)
		c->outside.at[at] = c->outside.at[at - 1];
	c->outside.at[at] = job;
}

void core_open_gates(struct core *c)
{
	struct crowd_of_array array = { 0 };
	size_t kept = 0;

	if (!c->gates_moved && c->now_s < c->next_gate_s)
		return;
	c->gates_moved = false;
	c->next_gate_s = INFINITY;
	for (size_t i = 0; i < c->outside.n; i++) {
		struct live_job *job = c->outside.at[i];

		job->outside = try_gate(c, job, &array);
		/* A dependency that is met stays met, also for the next daemon. */
		if (job->changed)
			core_note(c, NOTE_STATE, job->id, 0, NULL);
		job->changed = false;
		if (job->outside)
			c->outside.at[kept++] = job;
	}
	c->outside.n = kept;
	core_end_patience(c);
	core_end_silence(c);
}
