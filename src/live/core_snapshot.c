/*
 * A copy of what the core knows, for running it on elsewhere.
 *
 * A job that was asked to stop, or whose devices are still in others' hands,
 * stands in it as the engine has it: with the devices it was given.
 */
#include <math.h>
#include <string.h>

#include "live/core_state.h"

static const struct live_job *inside(const struct live_job *job)
{
	return job->engine_id != JOB_NONE && !live_ended(job) ? job : NULL;
}

/* How sure its run time is, see model/snapshot.h. */
static double known_of(const struct live_job *job)
{
	if (job->progress.seen && job->base.by_steps)
		return 1;
	return job->estimate_s > 0 ? 0.5 : 0;
}

static struct snapshot_job *add(struct core *c, const struct live_job *job,
	const struct grant *grant, struct snapshot *s)
{
	const struct job *seen = core_engine_job(c, job);
	struct job copy = *seen;
	struct snapshot_job *one;

	job_take_belief(&copy, &job->base);
	copy.name = job->name;
	copy.tenant = job->tenant ? names_find(&c->tenant_names, job->tenant, strlen(job->tenant))
				  : NAME_NONE;
	copy.model = job->model ? names_find(&c->model_names, job->model, strlen(job->model))
				: NAME_NONE;
	if (!grant)
		copy.state = JOB_FUTURE;
	one = snapshot_add(s, &copy, grant, job->id);
	if (job->engine_id != JOB_NONE)
		agents_take(s->agents, one->job.id, c->agents, job->engine_id);
	if (job->time_s > 0)
		one->limit_s = fmax(0, job->time_s - job->used_s);
	one->known = known_of(job);
	return one;
}

static void add_running(struct core *c, struct snapshot *s)
{
	for (size_t i = 0; i < c->jobs.n; i++) {
		const struct live_job *job = inside(c->jobs.at[i]);
		const struct job *seen = job ? core_engine_job(c, job) : NULL;

		if (seen && seen->state == JOB_RUNNING && seen->grant)
			add(c, job, seen->grant, s);
	}
}

/* When its gate opens, as far as that is known now. */
static double opens_s(const struct live_job *job)
{
	if (job->engine_id != JOB_NONE)
		return -INFINITY;
	if (job->held || job->gate == GATE_USER || job->gate == GATE_NEVER)
		return INFINITY;
	return job->begin_s > 0 ? job->begin_s : -INFINITY;
}

static void add_waiting(struct core *c, struct snapshot *s)
{
	for (size_t i = 0; i < c->jobs.n; i++) {
		const struct live_job *job = c->jobs.at[i];
		const struct job *seen = core_engine_job(c, job);

		if (live_ended(job) || (inside(job) && seen->state == JOB_RUNNING && seen->grant))
			continue;
		add(c, job, NULL, s)->opens_s = opens_s(job);
	}
}

/* Dependencies, once everybody has a place. */
static void link_jobs(const struct core *c, struct snapshot *s)
{
	for (size_t i = s->nrunning; i < s->jobs.n; i++) {
		struct snapshot_job *one = &s->jobs.at[i];
		const struct live_job *job = core_find(c, one->number);
		uint32_t *after;

		if (!job || !job->nafter)
			continue;
		after = arena_array(&s->memory, uint32_t, job->nafter);
		for (uint32_t k = 0; k < job->nafter; k++) {
			uint32_t other = snapshot_find(s, job->after[k].job);

			if (other != JOB_NONE && other != (uint32_t)i)
				after[one->nafter++] = other;
		}
		one->after = after;
	}
}

static void add_down(const struct core *c, struct snapshot *s)
{
	for (uint32_t node = 0; node < c->cluster->nnodes; node++) {
		uint64_t devices = engine_down(c->engine, node);

		if (devices)
			vec_push(&s->down, ((struct snapshot_down){ node, devices }));
	}
}

/* Those of one reason together. */
static void add_drained(const struct core *c, struct snapshot *s)
{
	const struct health *h = &c->health;

	for (size_t i = 0; i < h->devices.n; i++) {
		const struct health_device *d = &h->devices.at[i];
		struct snapshot_drained *last = s->drained.n ? &s->drained.at[s->drained.n - 1] : NULL;
		const char *why = d->drained && d->drained[0] ? d->drained : NULL;

		if (!d->drained)
			continue;
		if (last && last->node == d->node && !strcmp(last->why ? last->why : "", d->drained))
			last->devices |= UINT64_C(1) << d->device;
		else
			snapshot_drain(s, d->node, UINT64_C(1) << d->device, why);
	}
}

void core_snapshot(struct core *c, double now_s, struct snapshot *out)
{
	core_engine(c);
	snapshot_init(out, c->cluster, now_s);
	out->policy = mem_strdup(c->policy);
	out->placer = mem_strdup(c->placer);
	out->admit = mem_strdup(c->admit);
	out->seed = c->engine_config.seed;
	snapshot_take_names(out, &c->tenant_names, &c->model_names);
	snapshot_take_speeds(out, c->speeds);
	tenants_copy(&c->tenants, &out->tenants);
	out->agents = agents_create(c->cluster->ntypes, agents_options_of(c->agents));
	out->belief = (struct rates){
		.cluster = &out->cluster,
		.profile = out->speeds,
		.agents = out->agents,
		.cautious = c->belief.cautious,
	};
	vec_reserve(&out->jobs, c->jobs.n);
	add_running(c, out);
	add_waiting(c, out);
	link_jobs(c, out);
	add_down(c, out);
	add_drained(c, out);
}
