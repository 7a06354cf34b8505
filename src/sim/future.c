/*
 * A world without a past: jobs that run are taken over, others come as their
 * gates open.
 */
#include "sim/future.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "engine/engine.h"
#include "engine/rules.h"
#include "model/elastic.h"

enum { IDLE_MAX = 64 };

static const double GRAIN_FROM_S = 10; /* nearer moments are as they are */

/* A job of the snapshot or an arrival, as the engine does not know it yet or knows it. */
struct entrant {
	uint32_t engine_id;  /* JOB_NONE: not yet */
	uint32_t waits_for;  /* jobs that have not ended yet */
	double limit_left_s; /* of its time limit, at the last moment it began or stopped to run */
	double ends_at_s; /* while it runs: the moment at which its time limit ends it; INFINITY: none does */
	double done; /* steps when it leaves `ends` */
	/* for spans, where they are wanted */
	struct grant *holds; /* a copy; NULL: nothing */
	double since_s;
};

struct future {
	const struct future_config *config;
	struct engine_config engine_config;
	struct engine *engine;
	struct rates belief; /* the snapshot's, with agents by the engine's numbers */
	struct agents *agents;
	struct tenants bound;
	uint32_t n;
	struct entrant *entrants;
	VEC(uint32_t) of_engine;  /* by the engine's number: which entrant */
	VEC(uint32_t) dependants; /* entrants that must wait for others, in order */
	VEC(struct later) later;  /* scratch: the same as policies see them */
	struct arena later_words;
	struct heap gates; /* entrants by when they come */
	struct heap ends;  /* entrants by when they are through */
	size_t next_down, next_drained;
	struct job coming;   /* as told to the engine */
	uint32_t alive;      /* jobs of the snapshot that run, or that a moment will open for */
	uint32_t on_devices; /* entrants that run */
	uint32_t expected;   /* of these, those who are not in the engine yet */
	uint32_t idle; /* times in a row that nobody ran, and of the snapshot nobody was to come */
	uint32_t waits;
	double now_s; /* of the last event or timer */
	bool enough;  /* it need not go further */
	struct future_job *out;
	struct observer *observers;
};

static const struct snapshot_job *listed(const struct future *f, uint32_t i)
{
	return i < f->config->from->jobs.n ? &f->config->from->jobs.at[i] : NULL;
}

static const struct job *job_of(const struct future *f, uint32_t i)
{
	const struct snapshot_job *one = listed(f, i);

	return one ? &one->job : &f->config->arrivals[i - f->config->from->jobs.n].job;
}

static double work_of(const struct future *f, uint32_t i)
{
	return listed(f, i) ? f->config->work[i]
			    : f->config->arrivals[i - f->config->from->jobs.n].work;
}

/* ---- who comes when */

/*
 * The nearest of the moments that count, which lie the wider apart the further they are: so that
 * what happens at about the same time is decided upon at once.
 */
static double rounded(const struct future *f, double at_s)
{
	double now_s = f->config->from->now_s, grain = f->config->grain;

	if (!(grain > 0) || !(at_s > now_s + GRAIN_FROM_S) || isinf(at_s))
		return at_s;
	return fmax(f->now_s,
		now_s + GRAIN_FROM_S * exp(round(log((at_s - now_s) / GRAIN_FROM_S) / grain) * grain));
}

/* Where nothing happens, the next of the moments that count is soon enough. */
static double put_off(void *ctx, double wake_s)
{
	const struct future *f = ctx;
	double now_s = f->config->from->now_s, grain = f->config->wake_grain;

	if (!(wake_s > now_s + GRAIN_FROM_S))
		return wake_s;
	return now_s + GRAIN_FROM_S * exp(ceil(log((wake_s - now_s) / GRAIN_FROM_S) / grain) * grain);
}

static void let_in(struct future *f, uint32_t i, double at_s)
{
	heap_put(&f->gates, i, rounded(f, at_s), i);
	f->alive += listed(f, i) != NULL;
	f->expected += listed(f, i) != NULL;
}

static void open_gate(struct future *f, uint32_t i)
{
	const struct snapshot_job *one = listed(f, i);
	double at_s = one ? fmax(one->opens_s, f->config->from->now_s) : job_of(f, i)->arrival_s;

	if (isfinite(at_s))
		let_in(f, i, fmax(at_s, f->config->from->now_s));
}

static void queue_entrants(struct future *f)
{
	for (uint32_t i = f->config->from->nrunning; i < f->n; i++) {
		const struct snapshot_job *one = listed(f, i);

		f->entrants[i] = (struct entrant){ .engine_id = JOB_NONE,
			.waits_for = one ? one->nafter : 0,
			.limit_left_s = one ? one->limit_s : INFINITY };
		if (f->entrants[i].waits_for)
			vec_push(&f->dependants, i);
		else
			open_gate(f, i);
	}
}

/* The engine numbers jobs as they come, which is not how the snapshot does where some come later. */
static void number(struct future *f, uint32_t i)
{
	f->entrants[i].engine_id = (uint32_t)f->of_engine.n;
	if (f->agents)
		agents_put(f->agents, f->entrants[i].engine_id, f->config->from->agents, i);
	vec_push(&f->of_engine, i);
}

/* Whoever waits for nobody any more is no dependant. */
static void release_dependants(struct future *f, uint32_t ended, double now_s)
{
	size_t kept = 0;

	if (listed(f, ended) && listed(f, ended)->keeps_followers)
		return;
	for (size_t d = 0; d < f->dependants.n; d++) {
		uint32_t i = f->dependants.at[d];
		const struct snapshot_job *one = &f->config->from->jobs.at[i];

		for (uint32_t k = 0; k < one->nafter && f->entrants[i].waits_for; k++)
			f->entrants[i].waits_for -= one->after[k] == ended;
		if (f->entrants[i].waits_for)
			f->dependants.at[kept++] = i;
		else if (isfinite(fmax(one->opens_s, now_s)))
			let_in(f, i, fmax(one->opens_s, now_s));
	}
	f->dependants.n = kept;
}

/* ---- speeds */

/* As the live core believes it: what the job showed of itself, else what is known of its model. */
static double speed_on(const struct future *f, const struct action *a)
{
	const struct rates *belief = &f->belief;
	double speed = 0;

	if (!a->grant->mixed && a->nbeside == 0 && belief->agents &&
		agents_limits(belief->agents, a->job->id, a->grant->type) &&
		elastic_is_measured(belief, a->job))
		speed = elastic_speed(belief, a->job,
			(struct configuration){ a->grant->type, a->grant->gpus, a->grant->nslots },
			BATCHING_TUNED, NULL);
	if (!(speed > 0))
		speed = rate(belief, a->job, a->grant, a->beside, a->nbeside);
	return speed > 0 ? speed : a->job->nominal_rate;
}

static double cost_of(const struct action *a)
{
	if (a->act == ACT_RENEW)
		return fmax(0, a->job->ready_s - a->now_s);
	if (a->act == ACT_CHANGE && a->job->grant->gpus != a->grant->gpus)
		return a->job->resize_cost_s;
	return a->act == ACT_START && a->job->attempts == 0 ? a->job->start_cost_s
							    : a->job->resume_cost_s;
}

/* ---- the driver */

static struct event tell_down(struct future *f)
{
	const struct snapshot_down *down = &f->config->from->down.at[f->next_down++];

	return (struct event){
		.kind = EV_DEVICES_DOWN,
		.at_s = f->config->from->now_s,
		.job = JOB_NONE,
		.node = down->node,
		.devices = down->devices,
	};
}

/* All of a node at once: what is told is what is drained there. */
static struct event tell_drained(struct future *f)
{
	const struct snapshot *s = f->config->from;
	uint32_t node = s->drained.at[f->next_drained++].node;
	uint64_t devices = 0;

	for (size_t i = 0; i < s->drained.n; i++)
		devices |= s->drained.at[i].node == node ? s->drained.at[i].devices : 0;
	return (struct event){
		.kind = EV_DEVICES_DRAINED,
		.at_s = s->now_s,
		.job = JOB_NONE,
		.node = node,
		.devices = devices,
	};
}

static struct event tell_end(struct future *f)
{
	struct heap_item item = heap_pop(&f->ends);

	return (struct event){
		.kind = EV_FINISH,
		.at_s = item.key,
		.job = f->entrants[item.id].engine_id,
		.value = f->entrants[item.id].done,
	};
}

static struct event tell_arrival(struct future *f)
{
	struct heap_item item = heap_pop(&f->gates);

	f->expected -= listed(f, item.id) != NULL;
	f->coming = *job_of(f, item.id);
	f->coming.state = JOB_FUTURE;
	if (item.key > f->config->from->now_s)
		f->coming.wait_since_s = item.key;
	f->coming.grant = NULL;
	number(f, item.id);
	return (struct event){
		.kind = EV_SUBMIT,
		.at_s = item.key,
		.job = JOB_NONE,
		.job_spec = &f->coming,
	};
}

static double top_s(const struct heap *heap)
{
	const struct heap_item *top = heap_top(heap);

	return top ? top->key : INFINITY;
}

/* Nothing is left to find out, or nothing will change any more: free devices, and nobody gets them. */
static bool has_enough(const struct future *f)
{
	return f->config->until_ended && f->next_down == f->config->from->down.n &&
		f->next_drained == f->config->from->drained.n &&
		(f->alive == 0 || f->idle > IDLE_MAX);
}

static bool out_of_time(const struct future *f)
{
	if (f->config->stop && atomic_load(f->config->stop))
		return true;
	return f->config->wall_s > 0 && f->waits % 64 == 0 && clock_wall_s() > f->config->wall_s;
}

/* At one instant: devices that are down or drained, ends, then those who come. */
static int future_wait(void *self, double until_s, struct event *event, struct err *err)
{
	struct future *f = self;
	double end_s = top_s(&f->ends), gate_s = top_s(&f->gates);

	f->waits++;
	f->idle = f->on_devices || f->expected ? 0 : f->idle + 1;
	f->enough = has_enough(f);
	if (f->enough || out_of_time(f))
		return err_set(err, ERR_TIMEOUT, "the future took too long");
	if (f->next_down < f->config->from->down.n)
		*event = tell_down(f);
	else if (f->next_drained < f->config->from->drained.n)
		*event = tell_drained(f);
	else if (fmin(end_s, gate_s) > until_s || isinf(fmin(end_s, gate_s)))
		*event = (struct event){ .kind = EV_TIMER, .at_s = until_s };
	else if (end_s <= gate_s)
		*event = tell_end(f);
	else
		*event = tell_arrival(f);
	f->now_s = event->at_s; /* of a timer nobody is told */
	return 0;
}

/* At a speed and after `ready_s`: it is through then, or its time limit ends it. */
static void plan_end(struct future *f, uint32_t i, double done, double ready_s, double per_s)
{
	struct entrant *one = &f->entrants[i];
	double through_s = rounded(f, ready_s + fmax(0, work_of(f, i) - done) / per_s);
	bool limited = one->ends_at_s < through_s;

	one->done = limited ? fmin(work_of(f, i), done + fmax(0, one->ends_at_s - ready_s) * per_s)
			    : work_of(f, i);
	heap_put(&f->ends, i, limited ? one->ends_at_s : through_s, i);
}

/* Of a grant that lasts for a turn. */
static void plan_turn(struct future *f, uint32_t i, struct action *a)
{
	struct entrant *one = &f->entrants[i];
	double left = work_of(f, i) - a->done;

	a->turn_steps = fmin(fmin(a->grant->steps, left),
		a->rate * fmax(0, a->grant->until_s - a->ready_s));
	if (one->ends_at_s < a->grant->until_s) {
		one->done = a->done +
			fmin(a->turn_steps, a->rate * fmax(0, one->ends_at_s - a->ready_s));
		heap_put(&f->ends, i, one->ends_at_s, i);
	} else if (!(a->turn_steps < left)) { /* else it is not through at the end of its turn */
		one->done = work_of(f, i);
		heap_put(&f->ends, i, a->grant->until_s, i);
	}
}

static int future_act(void *self, struct action *a, struct err *err)
{
	struct future *f = self;
	uint32_t i = f->of_engine.at[a->job->id];

	(void)err;
	a->done = fmin(job_done(a->job, a->now_s), work_of(f, i));
	/* It has never shown that it saves what it did when it is told to go. */
	if (a->job->stop_loses && (a->act == ACT_STOP || a->act == ACT_CHANGE))
		a->done = fmin(a->done, a->job->saved);
	heap_remove(&f->ends, i);
	if (a->act == ACT_STOP)
		return 0;
	a->rate = speed_on(f, a);
	a->ready_s = a->now_s + cost_of(a);
	if (a->act == ACT_START)
		f->entrants[i].ends_at_s = a->now_s + f->entrants[i].limit_left_s;
	if (a->grant->until_s > 0)
		plan_turn(f, i, a);
	else
		plan_end(f, i, a->done, a->ready_s, a->rate);
	return 0;
}

static bool future_over(void *self)
{
	const struct future *f = self;

	return !heap_top(&f->gates);
}

static int future_lost(void *self, const struct job *job, double now_s, double *done, struct err *err)
{
	(void)err;
	heap_remove(&((struct future *)self)->ends, ((struct future *)self)->of_engine.at[job->id]);
	*done = job->stop_loses ? job->saved : job_done(job, now_s);
	return 0;
}

/* The place of an entrant among the dependants, which are in order; or how many there are. */
static uint32_t dependant_at(const struct future *f, uint32_t entrant)
{
	uint32_t lo = 0, hi = (uint32_t)f->dependants.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->dependants.at[mid] < entrant)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->dependants.n && f->dependants.at[lo] == entrant ? lo
								       : (uint32_t)f->dependants.n;
}

static uint32_t future_later(void *self, uint32_t njobs, const struct later **out)
{
	struct future *f = self;

	f->later.n = 0;
	arena_reset(&f->later_words);
	for (size_t d = 0; d < f->dependants.n; d++) {
		const struct snapshot_job *one = &f->config->from->jobs.at[f->dependants.at[d]];
		uint32_t *after = arena_array(&f->later_words, uint32_t, one->nafter), n = 0;

		for (uint32_t k = 0; k < one->nafter; k++) {
			uint32_t id = f->entrants[one->after[k]].engine_id;
			uint32_t at = id < njobs ? id : njobs + dependant_at(f, one->after[k]);

			if (at < njobs + f->dependants.n)
				after[n++] = at;
		}
		vec_push(&f->later, ((struct later){ &one->job, after, n }));
	}
	*out = f->later.at;
	return (uint32_t)f->later.n;
}

static const struct driver future_driver = {
	.name = "future",
	.wait = future_wait,
	.act = future_act,
	.over = future_over,
	.lost = future_lost,
	.later = future_later,
};

/* ---- what becomes of jobs */

/* With the other job by its place here. */
static struct reason said(const struct future *f, struct reason reason)
{
	reason.other = reason.other < f->of_engine.n ? f->of_engine.at[reason.other] : JOB_NONE;
	return reason;
}

static void end_span(struct future *f, uint32_t i, double now_s)
{
	struct entrant *one = &f->entrants[i];

	if (one->holds)
		f->config->span(f->config->span_ctx, i, one->holds, one->since_s, now_s);
	free(one->holds);
	one->holds = NULL;
}

static void begin_span(struct future *f, uint32_t i, const struct grant *grant, double now_s)
{
	size_t size = sizeof(*grant) + mem_array_size(grant->nslots, sizeof(grant->slots[0]));

	if (!f->config->span)
		return;
	end_span(f, i, now_s);
	f->entrants[i].holds = mem_alloc(size);
	memcpy(f->entrants[i].holds, grant, size);
	f->entrants[i].since_s = now_s;
}

static void end_spans(struct future *f, double now_s)
{
	for (uint32_t i = 0; i < f->n; i++)
		end_span(f, i, now_s);
}

static void leave(struct future *f, uint32_t i)
{
	f->alive -= listed(f, i) != NULL;
}

static uint32_t number_of(const void *ctx, uint32_t place)
{
	const struct future *f = ctx;

	return place < f->n ? f->entrants[place].engine_id : JOB_NONE;
}

/* What the policy kept for it, with those who have come by now. */
static void remind_of(const struct future *f, uint32_t i)
{
	const struct snapshot *s = f->config->from;
	const struct policy *policy = f->engine_config.policy.rule;
	void *memory;

	if (i >= s->nremembered || f->config->policy || !policy->carry)
		return;
	memory = engine_memory_of(f->engine, f->entrants[i].engine_id);
	memcpy(memory, s->memory_of_jobs + i * s->memory_of_job, s->memory_of_job);
	policy->carry(memory, &(struct renumbering){ number_of, f });
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct future *f = self;
	struct future_job *one;
	uint32_t i;

	f->now_s = event->at_s;
	if (!job || job->id >= f->of_engine.n)
		return;
	i = f->of_engine.at[job->id];
	one = &f->out[i];
	if (event->reason.why != WHY_NONE)
		one->reason = said(f, event->reason);
	switch (event->kind) {
	case EV_SUBMIT:
		if (i >= f->config->from->nrunning)
			remind_of(f, i);
		break;
	case EV_START:
		one->start_s = fmin(one->start_s, event->at_s);
		f->on_devices++;
		begin_span(f, i, event->grant, event->at_s);
		break;
	case EV_MIGRATE:
	case EV_RESIZE:
		begin_span(f, i, event->grant, event->at_s);
		break;
	case EV_PREEMPT:
	case EV_LOST:
		one->stops++;
		f->on_devices--;
		f->entrants[i].limit_left_s = fmax(0, f->entrants[i].ends_at_s - event->at_s);
		end_span(f, i, event->at_s);
		break;
	case EV_FINISH:
		one->finish_s = event->at_s;
		f->on_devices--;
		end_span(f, i, event->at_s);
		release_dependants(f, i, event->at_s);
		leave(f, i);
		break;
	case EV_REJECT:
		one->refused = true;
		release_dependants(f, i, event->at_s);
		leave(f, i);
		break;
	default:
		break;
	}
}

/* ---- a run */

static void adopt_running(struct future *f)
{
	const struct snapshot *s = f->config->from;

	for (uint32_t i = 0; i < s->nrunning; i++) {
		struct job job = s->jobs.at[i].job;
		double per_s = job.rate > 0 ? job.rate : job.nominal_rate;

		if (isnan(job.counted_s))
			job.counted_s = s->now_s;
		number(f, i);
		engine_adopt(f->engine, &job, s->jobs.at[i].grant);
		job.grant = s->jobs.at[i].grant; /* what it has done meanwhile counts */
		job.state = JOB_RUNNING;
		f->out[i].start_s = s->now_s;
		f->alive++;
		f->entrants[i].ends_at_s = s->now_s + s->jobs.at[i].limit_s;
		plan_end(f, i, job_done(&job, s->now_s), fmax(s->now_s, job.ready_s), per_s);
	}
}

static int open_rules(struct future *f, struct err *err)
{
	const struct snapshot *s = f->config->from;
	struct rule_specs rules = { f->config->policy ? f->config->policy : s->policy, s->placer,
		s->admit };
	uint32_t n = f->config->nobservers;

	f->observers = mem_alloc(mem_array_size(n + 1u, sizeof(*f->observers)));
	f->observers[0] = (struct observer){ .self = f, .see = see };
	for (uint32_t i = 0; i < n; i++)
		f->observers[i + 1] = f->config->observers[i];
	f->engine_config = (struct engine_config){
		.cluster = &s->cluster,
		.belief = &f->belief,
		.seed = f->config->seed,
		.expected_jobs = f->n,
		.observers = f->observers,
		.nobservers = n + 1,
		/* As the live core has it. */
		.eager = true,
		.takes_all = true,
		.keeps_waits = true,
		.put_off = f->config->wake_grain > 0 ? put_off : NULL,
		.put_off_ctx = f,
	};
	f->belief = s->belief;
	if (s->belief.agents)
		f->belief.agents = f->agents = agents_renumbered(s->agents);
	if (s->tenants.n) {
		tenants_bind(&s->tenants, &s->tenant_names, &f->bound);
		f->engine_config.tenants = &f->bound;
	}
	return rules_choose(&rules, &f->engine_config, err);
}

/* Another policy than the snapshot's knows nothing of the past. */
static void remind(struct future *f)
{
	const struct snapshot *s = f->config->from;
	const struct chosen_policy *policy = &f->engine_config.policy;

	if (s->nmemory && !f->config->policy && policy->rule->resume)
		policy->rule->resume(policy->state, s->memory_of_policy, s->nmemory);
}

static void close_future(struct future *f)
{
	rules_release(&f->engine_config);
	agents_destroy(f->agents);
	tenants_fini(&f->bound);
	heap_fini(&f->gates);
	heap_fini(&f->ends);
	vec_fini(&f->of_engine);
	vec_fini(&f->dependants);
	vec_fini(&f->later);
	arena_fini(&f->later_words);
	free(f->entrants);
	free(f->observers);
}

int future_run(const struct future_config *config, struct future_job *out, struct err *err)
{
	struct future f = {
		.config = config,
		.n = (uint32_t)config->from->jobs.n + config->narrivals,
		.out = out,
		.now_s = config->from->now_s,
	};
	int rc;

	f.entrants = mem_alloc(mem_array_size(f.n + 1u, sizeof(*f.entrants)));
	for (uint32_t i = 0; i < f.n; i++)
		out[i] = (struct future_job){ .start_s = INFINITY, .finish_s = INFINITY };
	rc = open_rules(&f, err);
	if (rc == 0) {
		remind(&f);
		f.engine = engine_create(&f.engine_config, &future_driver, &f, config->from->now_s,
			err);
		rc = f.engine ? 0 : err->code;
	}
	if (rc == 0) {
		adopt_running(&f);
		queue_entrants(&f);
		for (uint32_t i = 0; i < config->from->nrunning; i++)
			remind_of(&f, i);
		rc = engine_turn(f.engine, config->until_s, err);
		if (rc == ERR_TIMEOUT && f.enough)
			rc = 0;
		if (config->reached_s)
			*config->reached_s = rc < 0 ? f.now_s : INFINITY;
		end_spans(&f, f.now_s);
	}
	engine_destroy(f.engine);
	close_future(&f);
	return rc;
}

/* ---- a part of the queue */

double future_complete_s(const struct snapshot *s, const struct future_job *jobs)
{
	double until_s = INFINITY;

	for (size_t i = 0; i < s->rest.n; i++) {
		if (s->rest.at[i].last != JOB_NONE)
			until_s = fmin(until_s, jobs[s->rest.at[i].last].start_s);
	}
	return until_s;
}

bool future_is_exact(const struct snapshot *s, const struct future_job *jobs, uint32_t place,
	double complete_s)
{
	uint32_t rest = s->jobs.at[place].rest;

	if (jobs[place].start_s != complete_s || isinf(complete_s))
		return jobs[place].start_s < complete_s || isinf(complete_s);
	return rest && place <= s->rest.at[rest - 1].last &&
		jobs[s->rest.at[rest - 1].last].start_s == complete_s;
}
