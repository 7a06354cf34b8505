/*
 * A copy of what the core knows, for running it on elsewhere.
 *
 * A job that was asked to stop, or whose devices are still in others' hands,
 * stands in it as the engine has it: with the devices it was given.
 */
#include <math.h>
#include <string.h>

#include "live/core_part.h"

/* How sure its run time is, see model/snapshot.h. */
static double known_of(const struct live_job *job)
{
	if (job->progress.seen && job->base.by_steps)
		return 1;
	return job->estimate_s > 0 ? 0.5 : 0;
}

/* The number of a text, and of the one before: jobs of one user or one array stand side by side. */
struct recent {
	const char *text;
	uint32_t number;
};

static uint32_t number_of(struct names *names, const char *text, struct recent *recent)
{
	if (!text)
		return NAME_NONE;
	if (!recent->text || strcmp(recent->text, text) != 0)
		*recent = (struct recent){ text, names_add(names, text, strlen(text)) };
	return recent->number;
}

/* A copy in the making. */
struct copying {
	struct core *core;
	const struct snapshot_want *want;
	const struct job *seen; /* by the engine */
	uint32_t nseen;
	struct snapshot *out;
	struct recent tenant, model;
	VEC(const struct live_job *) followers; /* wait for others, by place */
};

/* As core_engine_job(), which this asks for every job. */
static const struct job *seen_of(const struct copying *c, const struct live_job *job)
{
	return job->engine_id < c->nseen ? &c->seen[job->engine_id] : &job->base;
}

/* One that is not in the engine may have no numbers of this epoch. */
static void name(struct copying *c, const struct live_job *job, struct job *to)
{
	struct snapshot *s = c->out;

	to->name = arena_strdup(&s->memory, job->name);
	to->tenant = number_of(&s->tenant_names, job->tenant, &c->tenant);
	to->model = number_of(&s->model_names, job->model, &c->model);
}

/* One that has passed its limit has what is left of its grace. */
static void take_limit(const struct live_job *job, double now_s, struct snapshot_job *one)
{
	double left_s = job->time_s - live_used_s(job, now_s), most_s = live_most_s(job, now_s);

	if (!(job->time_s > 0))
		return;
	one->limit_s = left_s > 0 ? left_s : most_s;
	one->grace_s = most_s - one->limit_s;
}

static struct snapshot_job *add(struct copying *c, const struct live_job *job, const struct grant *grant)
{
	struct snapshot *s = c->out;
	struct snapshot_job *one = snapshot_add(s, seen_of(c, job), grant, job->id);

	one->user = job->uid;
	one->array = job->array_id;
	one->index = job->array_index;
	job_take_belief(&one->job, &job->base);
	if (!grant)
		one->job.state = JOB_FUTURE;
	if (job->engine_id != JOB_NONE)
		agents_take(s->agents, one->job.id, c->core->agents, job->engine_id);
	else
		name(c, job, &one->job);
	take_limit(job, s->now_s, one);
	one->known = known_of(job);
	return one;
}

static bool runs(const struct job *seen)
{
	return seen->state == JOB_RUNNING && seen->grant;
}

/* In the engine's order, as the next one shall take them over. */
static void add_running(struct copying *c)
{
	for (uint32_t i = 0; i < c->nseen && i < c->core->of_engine.n; i++) {
		const struct live_job *job = runs(&c->seen[i]) ? c->core->of_engine.at[i] : NULL;

		if (job && !live_ended(job))
			add(c, job, c->seen[i].grant);
	}
}

/* When its gate opens, as far as that is known now.  One that was refused for its quota stands before it: with another it gets in. */
static double opens_s(const struct live_job *job)
{
	bool refused = job->gate == GATE_NEVER && !job->nafter && !job->held;

	if (job->engine_id != JOB_NONE || (refused && job->base.reason.why == WHY_QUOTA))
		return -INFINITY;
	if (job->held || job->gate == GATE_USER || job->gate == GATE_NEVER)
		return INFINITY;
	return job->begin_s > 0 ? job->begin_s : -INFINITY;
}

/* The job that its reason speaks of, by place: whoever runs has one already. */
static uint32_t place_of(const void *copying, uint32_t engine_id)
{
	const struct copying *c = copying;
	const struct live_job *job = engine_id < c->core->of_engine.n
		? c->core->of_engine.at[engine_id]
		: NULL;

	return job ? snapshot_find(c->out, job->id) : JOB_NONE;
}

static void add_waiter(struct copying *c, const struct live_job *job)
{
	struct snapshot_job *one = add(c, job, NULL);

	one->opens_s = opens_s(job);
	one->job.reason.other = place_of(c, one->job.reason.other);
	if (job->nafter)
		vec_push(&c->followers, job);
}

typedef VEC(const struct live_job *) waiters;

/*
 * Those in the engine as they came to it, which is how it ranks them; then those outside, which come to it later,
 * whatever their numbers.
 */
static void list_waiting(const struct copying *c, waiters *out)
{
	const struct core *core = c->core;

	vec_reserve(out, core->jobs.n);
	for (uint32_t i = 0; i < core->of_engine.n; i++) {
		const struct live_job *job = core->of_engine.at[i];

		if (job && !live_ended(job) && !(i < c->nseen && runs(&c->seen[i])))
			vec_push(out, job);
	}
	for (size_t i = 0; i < core->outside.n; i++) {
		const struct live_job *job = core->outside.at[i];

		if (!live_ended(job) && job->engine_id == JOB_NONE)
			vec_push(out, job);
	}
}

/* Which of the snapshot's rests a kind has, made with its first job that is left out. */
static uint32_t rest_of(struct snapshot *s, uint32_t kind, const struct core_part *part,
	const uint32_t *places, uint32_t *rests)
{
	uint32_t at = kind == PART_SHUT ? part->nkinds
		: kind == PART_FOLLOWS  ? part->nkinds + 1
					: kind;

	if (!rests[at]) {
		struct snapshot_rest rest = { .last = JOB_NONE, .shut = kind == PART_SHUT };

		if (kind < part->nkinds && part->last[kind] != SIZE_MAX)
			rest.last = places[part->last[kind]];
		vec_push(&s->rest, rest);
		rests[at] = (uint32_t)s->rest.n;
	}
	return rests[at] - 1;
}

static int by_number(const void *a, const void *b)
{
	const struct snapshot_absent *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void sort_absent(struct snapshot *s)
{
	for (size_t i = 1; i < s->absent.n; i++) {
		if (s->absent.at[i].number < s->absent.at[i - 1].number) {
			qsort(s->absent.at, s->absent.n, sizeof(*s->absent.at), by_number);
			return;
		}
	}
}

static void leave_out(struct snapshot *s, const waiters *queue, const struct core_part *part,
	const uint32_t *places)
{
	uint32_t *rests = mem_alloc(mem_array_size(part->nkinds + 2u, sizeof(*rests)));

	for (size_t i = 0; i < queue->n; i++) {
		uint32_t rest;

		if (part->in[i])
			continue;
		rest = rest_of(s, part->kind[i], part, places, rests);
		s->rest.at[rest].njobs++;
		vec_push(&s->absent, (struct snapshot_absent){ queue->at[i]->id, rest });
	}
	sort_absent(s);
	for (size_t i = 0; i < queue->n; i++) {
		if (part->in[i] && part->kind[i] < part->nkinds)
			s->jobs.at[places[i]].rest = rests[part->kind[i]];
	}
	free(rests);
}

static void add_part(struct copying *c, const waiters *queue)
{
	uint32_t *places = mem_alloc(mem_array_size(queue->n + 1, sizeof(*places)));
	struct core_part part;

	core_part_choose(c->core, queue->at, queue->n, c->want->most, c->want->keep, &part);
	for (size_t i = 0; i < queue->n; i++) {
		places[i] = (uint32_t)c->out->jobs.n;
		if (part.in[i])
			add_waiter(c, queue->at[i]);
	}
	leave_out(c->out, queue, &part, places);
	core_part_fini(&part);
	free(places);
}

static void add_waiting(struct copying *c)
{
	waiters queue = { 0 };

	list_waiting(c, &queue);
	if (c->want->most && queue.n > c->want->most) {
		add_part(c, &queue);
	} else {
		for (size_t i = 0; i < queue.n; i++)
			add_waiter(c, queue.at[i]);
	}
	vec_fini(&queue);
}

/* Dependencies, once everybody has a place. */
static void link_jobs(struct copying *c)
{
	struct snapshot *s = c->out;

	for (size_t i = 0; i < c->followers.n; i++) {
		const struct live_job *job = c->followers.at[i];
		uint32_t place = snapshot_find(s, job->id);
		uint32_t *after = arena_array(&s->memory, uint32_t, job->nafter), n = 0;

		for (uint32_t k = 0; k < job->nafter; k++) {
			uint32_t other = snapshot_find(s, job->after[k].job);

			if (other != JOB_NONE && other != place)
				after[n++] = other;
			if (other == JOB_NONE && s->absent.n && core_find(c->core, job->after[k].job))
				s->jobs.at[place].opens_s = INFINITY;
		}
		s->jobs.at[place].after = after;
		s->jobs.at[place].nafter = n;
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

static void add_jobs(struct core *c, const struct snapshot_want *want, struct snapshot *out)
{
	struct copying copying = { .core = c, .want = want, .out = out };

	copying.seen = engine_jobs(core_engine(c), &copying.nseen);
	if (!want->most || c->jobs.n <= want->most)
		vec_reserve(&out->jobs, c->jobs.n);
	add_running(&copying);
	add_waiting(&copying);
	link_jobs(&copying);
	vec_fini(&copying.followers);
}

/* What the policy keeps for jobs, with others by place. */
static void add_memory(struct core *c, struct snapshot *out)
{
	const struct policy *policy = c->engine_config.policy.rule;
	struct copying copying = { .core = c, .out = out };
	struct renumbering by_place = { place_of, &copying };
	uint32_t n;

	if (!policy->carry || policy->stand_in)
		return;
	engine_jobs(c->engine, &n);
	out->memory_of_job = policy->job_state_size;
	out->nremembered = (uint32_t)out->jobs.n;
	out->memory_of_jobs = mem_alloc(mem_array_size(out->jobs.n + 1, policy->job_state_size));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = place_of(&copying, i);
		char *memory;

		if (place == JOB_NONE)
			continue;
		memory = out->memory_of_jobs + place * out->memory_of_job;
		memcpy(memory, engine_memory_of(c->engine, i), out->memory_of_job);
		policy->carry(memory, &by_place);
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

static void copy(struct core *c, double now_s, const struct snapshot_want *want, struct snapshot *out)
{
	core_engine(c);
	snapshot_init(out, c->cluster, now_s);
	snapshot_take_memory(out, c->copies);
	out->policy = mem_strdup(c->engine_config.policy.rule->stand_in
			? c->engine_config.policy.rule->stand_in
			: c->policy);
	out->placer = mem_strdup(c->placer);
	out->admit = mem_strdup(c->admit);
	out->seed = c->engine_config.seed;
	out->nmemory = engine_remember(c->engine, &out->memory_of_policy);
	snapshot_take_names(out, &c->tenant_names, &c->model_names);
	snapshot_take_speeds(out, c->speeds);
	tenants_copy(&c->tenants, &out->tenants);
	if (!out->agents)
		out->agents = agents_create(c->cluster->ntypes, agents_options_of(c->agents));
	out->belief = (struct rates){
		.cluster = &out->cluster,
		.profile = out->speeds,
		.agents = out->agents,
		.cautious = c->belief.cautious,
	};
	add_jobs(c, want, out);
	add_memory(c, out);
	add_down(c, out);
	add_drained(c, out);
}

static void add_new(struct copying *c, const struct live_job *job)
{
	struct snapshot_job *one = add(c, job, NULL);

	one->job.types = live_job_types(job, c->core->cluster);
	one->opens_s = opens_s(job);
	if (job->nafter)
		vec_push(&c->followers, job);
}

void core_snapshot_of(struct core *core, double now_s, const struct snapshot_want *want,
	struct snapshot *out)
{
	struct copying c = { .core = core, .want = want, .out = out };

	copy(core, now_s, want, out);
	for (size_t i = 0; i < want->nadded; i++)
		add_new(&c, want->added[i]);
	link_jobs(&c);
	vec_fini(&c.followers);
}

void core_snapshot(struct core *core, double now_s, struct snapshot *out)
{
	core_snapshot_of(core, now_s, &(struct snapshot_want){ 0 }, out);
}
