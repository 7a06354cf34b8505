/*
 * The rules.
 */
#include "support/referee.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void referee_init(struct referee *r, const struct cluster *cluster, const struct trace *trace)
{
	*r = (struct referee){ .cluster = cluster, .trace = trace };
	r->taken = mem_alloc((cluster->nnodes + 1) * sizeof(*r->taken));
	r->twice = mem_alloc((cluster->nnodes + 1) * sizeof(*r->twice));
	r->down = mem_alloc((cluster->nnodes + 1) * sizeof(*r->down));
}

void referee_fini(struct referee *r)
{
	for (size_t i = 0; i < r->jobs.n; i++)
		free(r->jobs.at[i].grant);
	vec_fini(&r->jobs);
	free(r->taken);
	free(r->twice);
	free(r->down);
}

__attribute__((format(printf, 2, 3))) static void breach(struct referee *r, const char *fmt, ...)
{
	int n = snprintf(r->breach, r->breach[0] ? 0 : sizeof(r->breach), "at %g s: ", r->now_s);
	va_list ap;

	if ((size_t)n != strlen(r->breach))
		return; /* the first one stands */
	va_start(ap, fmt);
	vsnprintf(r->breach + n, sizeof(r->breach) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* ---- devices */

static bool may(const struct referee *r, enum policy_traits trait)
{
	return r->watched.rule && (r->watched.rule->traits & trait);
}

static void check_grant(struct referee *r, const struct job *job, const struct grant *g)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < g->nslots; i++) {
		const struct node *node = &r->cluster->nodes[g->slots[i].node];
		uint64_t all = node->devices == 64 ? UINT64_MAX : (UINT64_C(1) << node->devices) - 1;

		gpus += (uint32_t)__builtin_popcountll(g->slots[i].devices);
		if (g->slots[i].devices == 0 || g->slots[i].devices & ~all)
			breach(r, "job %u has devices that node %u does not", job->id,
				g->slots[i].node);
		if (node->type != g->type && !(g->mixed && may(r, POLICY_MIXES)))
			breach(r, "job %u has devices of two types", job->id);
		if (!job_may_use(job, node->type))
			breach(r, "job %u is on a type it may not use", job->id);
		if (r->down[g->slots[i].node])
			breach(r, "job %u is on node %u, which is down", job->id, g->slots[i].node);
		for (uint32_t j = 0; j < i; j++) {
			if (g->slots[j].node == g->slots[i].node)
				breach(r, "job %u names node %u twice", job->id, g->slots[i].node);
		}
	}
	if (gpus != g->gpus || gpus < job_least_on(job, g->type) || gpus > job_most_on(job, g->type))
		breach(r, "job %u, which asked for %u to %u, has %u devices and says %u", job->id,
			job_least_on(job, g->type), job_most_on(job, g->type), gpus, g->gpus);
}

/* CPUs and memory of a node: the parts of all jobs on it. */
static void check_node(struct referee *r, uint32_t node)
{
	double cpus = 0, mem = 0;

	for (uint32_t id = 0; id < r->jobs.n; id++) {
		const struct grant *g = r->jobs.at[id].grant;
		const struct job *job = &r->trace->jobs[id];

		if (g && g->host) {
			cpus += g->host - 1 == node ? job->cpus : 0;
			mem += g->host - 1 == node ? (double)job->mem_bytes : 0;
			continue;
		}
		for (uint32_t i = 0; g && i < g->nslots; i++) {
			double part = __builtin_popcountll(g->slots[i].devices) / (double)g->gpus;

			cpus += g->slots[i].node == node ? job->cpus * part : 0;
			mem += g->slots[i].node == node ? floor((double)job->mem_bytes * part) : 0;
		}
	}
	if (r->cluster->nodes[node].cpus > 0 && cpus > r->cluster->nodes[node].cpus + 1e-6)
		breach(r, "node %u gives %g CPUs", node, cpus);
	if (r->cluster->nodes[node].mem_bytes > 0 && mem > (double)r->cluster->nodes[node].mem_bytes)
		breach(r, "node %u gives %g bytes", node, mem);
}

static struct grant *copy_of(const struct grant *g)
{
	size_t size = sizeof(*g) + sizeof(struct slot) * g->nslots;
	struct grant *copy = mem_alloc(size);

	memcpy(copy, g, size);
	return copy;
}

static bool holds(const struct grant *g, uint32_t node, uint64_t device)
{
	for (uint32_t i = 0; g && i < g->nslots; i++) {
		if (g->slots[i].node == node && (g->slots[i].devices & device))
			return true;
	}
	return false;
}

/* What fractions have of a device, and whether anybody else has it. */
static void check_shared(struct referee *r, uint32_t node, uint64_t device)
{
	int64_t there = r->cluster->types[r->cluster->nodes[node].type].mem_bytes, mem_bytes = 0;
	double share = 0;
	bool whole = false;

	for (uint32_t id = 0; id < r->jobs.n; id++) {
		const struct job *job = &r->trace->jobs[id];

		if (!holds(r->jobs.at[id].grant, node, device))
			continue;
		whole |= !job_is_fraction(job);
		share += job->share;
		mem_bytes += job->gpu_mem_bytes;
		if (job_is_fraction(job) && r->jobs.at[id].grant->share != job->share)
			breach(r, "job %u asked for %g of a device and has %g", id, job->share,
				r->jobs.at[id].grant->share);
	}
	if (whole || share > 1 + 1e-9 || (there > 0 && mem_bytes > there))
		breach(r, "a device of node %u has shares of %g in all%s", node, share,
			whole ? " beside a whole job" : "");
}

static bool held_in_part(const struct referee *r, struct slot slot)
{
	for (uint32_t id = 0; id < r->jobs.n; id++) {
		if (job_is_fraction(&r->trace->jobs[id]) &&
			holds(r->jobs.at[id].grant, slot.node, slot.devices))
			return true;
	}
	return false;
}

static void take_in_part(struct referee *r, const struct grant *g)
{
	for (uint32_t i = 0; i < g->nslots; i++) {
		for (uint64_t left = g->slots[i].devices; left; left &= left - 1)
			check_shared(r, g->slots[i].node, left & -left);
		r->taken[g->slots[i].node] |= g->slots[i].devices;
	}
}

static void give_in_part(struct referee *r, const struct grant *g)
{
	for (uint32_t i = 0; i < g->nslots; i++) {
		for (uint64_t left = g->slots[i].devices; left; left &= left - 1) {
			if (!held_in_part(r, (struct slot){ g->slots[i].node, left & -left }))
				r->taken[g->slots[i].node] &= ~(left & -left);
		}
	}
}

/* Where there are guests a device has any number of them, and at most one other job. */
static void recount(struct referee *r, uint32_t node)
{
	uint64_t whole = 0;

	r->taken[node] = r->twice[node] = 0;
	for (uint32_t id = 0; id < r->jobs.n; id++) {
		const struct grant *g = r->jobs.at[id].grant;

		for (uint32_t i = 0; g && i < g->nslots; i++) {
			uint64_t devices = g->slots[i].node == node ? g->slots[i].devices : 0;

			r->twice[node] |= r->taken[node] & devices;
			r->taken[node] |= devices;
			if (g->guest || job_is_fraction(&r->trace->jobs[id]))
				continue;
			if (whole & devices)
				breach(r, "two jobs that are no guests share a device of node %u",
					node);
			whole |= devices;
		}
	}
}

static void take_among_guests(struct referee *r, const struct job *job, const struct grant *g)
{
	if (!may(r, POLICY_SHARES))
		breach(r, "job %u is a guest where nobody shares", job->id);
	for (uint32_t i = 0; i < g->nslots; i++) {
		if (held_in_part(r, g->slots[i]))
			breach(r, "job %u takes devices of node %u that fractions have", job->id,
				g->slots[i].node);
		recount(r, g->slots[i].node);
	}
}

static void take(struct referee *r, const struct job *job, const struct grant *g)
{
	struct ref_job *mine = &r->jobs.at[job->id];

	check_grant(r, job, g);
	mine->grant = copy_of(g);
	mine->since_s = r->now_s;
	if (job_is_fraction(job)) {
		take_in_part(r, g);
		return;
	}
	r->guests |= g->guest;
	if (r->guests) {
		take_among_guests(r, job, g);
		return;
	}
	for (uint32_t i = 0; i < g->nslots; i++) {
		struct slot slot = g->slots[i];
		uint64_t again = r->taken[slot.node] & slot.devices;

		/* Two jobs on one device, but never three. */
		if (again &&
			(!may(r, POLICY_SHARES) || again & r->twice[slot.node] || held_in_part(r, slot)))
			breach(r, "job %u takes devices of node %u that are held", job->id, slot.node);
		r->twice[slot.node] |= again;
		r->taken[slot.node] |= slot.devices;
	}
}

static void give(struct referee *r, uint32_t job)
{
	struct ref_job *mine = &r->jobs.at[job];

	if (!mine->grant) {
		breach(r, "job %u gives back what it has not", job);
		return;
	}
	if (job_is_fraction(&r->trace->jobs[job])) {
		struct grant *had = mine->grant;

		mine->grant = NULL;
		give_in_part(r, had);
		free(had);
		return;
	}
	if (r->guests) {
		struct grant *had = mine->grant;

		mine->grant = NULL;
		for (uint32_t i = 0; i < had->nslots; i++)
			recount(r, had->slots[i].node);
		free(had);
		return;
	}
	for (uint32_t i = 0; i < mine->grant->nslots; i++) {
		struct slot slot = mine->grant->slots[i];
		uint64_t alone = slot.devices & ~r->twice[slot.node];

		r->twice[slot.node] &= ~slot.devices;
		r->taken[slot.node] &= ~alone;
	}
	free(mine->grant);
	mine->grant = NULL;
}

/* ---- states */

/* What a job must have been before an event, as bits, and what it is after. */
static const struct {
	unsigned before;
	enum job_state after;
} moves[EV_KINDS] = {
	[EV_SUBMIT] = { 1 << JOB_FUTURE, JOB_PENDING },
	[EV_HOLD] = { 1 << JOB_PENDING, JOB_HELD },
	[EV_ADMIT] = { 1 << JOB_HELD, JOB_PENDING },
	[EV_REJECT] = { 1 << JOB_PENDING | 1 << JOB_HELD, JOB_REJECTED },
	[EV_START] = { 1 << JOB_PENDING, JOB_RUNNING },
	[EV_WAIT] = { 1 << JOB_PENDING, JOB_PENDING },
	[EV_PREEMPT] = { 1 << JOB_RUNNING, JOB_PENDING },
	[EV_LOST] = { 1 << JOB_RUNNING, JOB_PENDING },
	[EV_MIGRATE] = { 1 << JOB_RUNNING, JOB_RUNNING },
	[EV_RENEW] = { 1 << JOB_RUNNING, JOB_RUNNING },
	[EV_RESIZE] = { 1 << JOB_RUNNING, JOB_RUNNING },
	[EV_PROGRESS] = { 1 << JOB_RUNNING, JOB_RUNNING },
	[EV_FINISH] = { 1 << JOB_RUNNING, JOB_FINISHED },
};

static void move(struct referee *r, const struct event *event, const struct job *job)
{
	struct ref_job *mine;

	if (event->kind == EV_SUBMIT) {
		if (event->job != r->jobs.n)
			breach(r, "job %u comes out of turn", event->job);
		vec_push(&r->jobs, (struct ref_job){ .state = JOB_FUTURE });
	}
	mine = &r->jobs.at[event->job];
	if (!(moves[event->kind].before >> mine->state & 1))
		breach(r, "%s of job %u, which is %s", event_name(event->kind), event->job,
			job_state_name(mine->state));
	mine->state = moves[event->kind].after;
	if (job->done > r->trace->work[event->job] * (1 + 1e-9) + 1e-6)
		breach(r, "job %u has done %g of %g steps", event->job, job->done,
			r->trace->work[event->job]);
	if (event->kind == EV_FINISH && job->done != r->trace->work[event->job])
		breach(r, "job %u ended after %g of %g steps", event->job, job->done,
			r->trace->work[event->job]);
	if (event->kind == EV_WAIT && event->reason.why <= WHY_NEW)
		breach(r, "job %u waits for no reason", event->job);
}

static void turn_node(struct referee *r, const struct event *event)
{
	bool down = event->kind == EV_NODE_DOWN;

	if (r->down[event->node] == down)
		breach(r, "node %u is told to be %s twice", event->node, down ? "down" : "up");
	r->down[event->node] = down;
}

/*
 * Time goes on, and what need not be so between the events of an instant must be so at its end: jobs on
 * failed nodes have lost their devices, and no node gives more CPUs and memory than it has.
 */
static void pass(struct referee *r, double now_s)
{
	for (uint32_t i = 0; now_s > r->now_s && i < r->cluster->nnodes; i++) {
		r->held_gpu_s += __builtin_popcountll(r->taken[i]) * (now_s - r->now_s);
		if (r->down[i] && r->taken[i])
			breach(r, "a job runs on node %u, which is down", i);
		check_node(r, i);
	}
	r->now_s = now_s;
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct referee *r = self;

	if (event->at_s < r->now_s)
		breach(r, "%s at %g s", event_name(event->kind), event->at_s);
	pass(r, event->at_s);
	r->events++;
	if (event->kind == EV_NODE_DOWN || event->kind == EV_NODE_UP) {
		turn_node(r, event);
		return;
	}
	move(r, event, job);
	if (event->kind == EV_PREEMPT || event->kind == EV_LOST || event->kind == EV_FINISH ||
		event->kind == EV_MIGRATE || event->kind == EV_RESIZE)
		give(r, event->job);
	if (event->kind == EV_RENEW && r->guests && !job_is_fraction(job)) {
		give(r, event->job); /* a guest may have become none */
		take(r, job, event->grant);
	}
	if (event->kind == EV_START || event->kind == EV_MIGRATE || event->kind == EV_RESIZE)
		take(r, job, event->grant);
}

struct observer referee_observer(struct referee *r)
{
	return (struct observer){ .self = r, .see = see };
}

/* ---- decisions */

static bool is_changed(const struct round *round, uint32_t job)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		if (round->changed[i] == job)
			return true;
	}
	return false;
}

/* A round must be as its header says, and who was passed over before must know why. */
static void check_round(struct referee *r, const struct round *round)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (i > 0 && round->active[i - 1] >= round->active[i])
			breach(r, "job %u is listed out of order", job->id);
		if (job->state == JOB_PENDING && job->reason.why <= WHY_NEW &&
			!is_changed(round, job->id))
			breach(r, "job %u was passed over without a reason", job->id);
		if ((job->grant != NULL) != (job->state == JOB_RUNNING))
			breach(r, "job %u is %s and has%s devices", job->id,
				job_state_name(job->state), job->grant ? "" : " no");
	}
}

static int watched_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct referee *r = self;

	pass(r, round->now_s);
	check_round(r, round);
	return r->watched.rule->decide(r->watched.state, round, plan, err);
}

static double watched_period_s(const void *self)
{
	const struct referee *r = self;

	return r->watched.rule->period_s ? r->watched.rule->period_s(r->watched.state) : 0;
}

static bool watched_welcome(void *self, const struct round *round, const struct job *job,
	struct reason *why)
{
	struct referee *r = self;

	return !r->watched.rule->welcome ||
		r->watched.rule->welcome(r->watched.state, round, job, why);
}

static void watched_recall(void *self, const struct round *round, uint32_t n, uint32_t *nodes)
{
	struct referee *r = self;

	r->watched.rule->recall(r->watched.state, round, n, nodes);
}

static bool watched_typeless(const void *self)
{
	const struct referee *r = self;

	return r->watched.rule->typeless(r->watched.state);
}

static double watched_resize_s(const void *self)
{
	const struct referee *r = self;

	return r->watched.rule->resize_s(r->watched.state);
}

static enum compat watched_compat(const void *self)
{
	const struct referee *r = self;

	return r->watched.rule->compat(r->watched.state);
}

const struct policy *referee_policy(struct referee *r, struct chosen_policy policy)
{
	r->watched = policy;
	r->cover = *policy.rule;
	r->cover.decide = watched_decide;
	r->cover.period_s = watched_period_s;
	r->cover.welcome = watched_welcome;
	if (policy.rule->recall)
		r->cover.recall = watched_recall;
	r->cover.figures = NULL; /* these would be asked with the referee for a state */
	if (policy.rule->compat)
		r->cover.compat = watched_compat;
	if (policy.rule->typeless)
		r->cover.typeless = watched_typeless;
	if (policy.rule->resize_s)
		r->cover.resize_s = watched_resize_s;
	r->cover.shares = NULL;
	r->cover.init = NULL;
	r->cover.fini = NULL;
	return &r->cover;
}

/* ---- the whole run */

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static void check_end_of(struct referee *r, const struct job *job)
{
	if (job->state != r->jobs.at[job->id].state)
		breach(r, "job %u ended %s, but %s was told", job->id, job_state_name(job->state),
			job_state_name(r->jobs.at[job->id].state));
	if (job->state != JOB_FINISHED && job->state != JOB_REJECTED)
		breach(r, "job %u is left %s (%s)", job->id, job_state_name(job->state),
			why_name(job->reason.why));
	if (job->state == JOB_REJECTED && job->reason.why <= WHY_NEW)
		breach(r, "job %u was rejected without a reason", job->id);
	if (job->state == JOB_FINISHED &&
		!near(job->finish_s - job->arrival_s, job->ran_s + job->overhead_s + job->waited_s))
		breach(r, "job %u lived %g s: ran %g, paid %g, waited %g", job->id,
			job->finish_s - job->arrival_s, job->ran_s, job->overhead_s, job->waited_s);
}

void referee_end(struct referee *r, const struct outcome *out)
{
	if (out->njobs != r->trace->njobs || out->njobs != r->jobs.n)
		breach(r, "%u of %u jobs came out", out->njobs, r->trace->njobs);
	for (uint32_t i = 0; i < out->njobs && i < r->jobs.n; i++)
		check_end_of(r, &out->jobs[i]);
	if (!near(out->busy_gpu_s, r->held_gpu_s))
		breach(r, "busy %.17g GPU-seconds, held %.17g", out->busy_gpu_s, r->held_gpu_s);
	if (out->busy_gpu_s > out->up_gpu_s * (1 + 1e-9) ||
		out->useful_gpu_s > out->busy_gpu_s * (1 + 1e-9))
		breach(r, "useful %g, busy %g, up %g GPU-seconds", out->useful_gpu_s,
			out->busy_gpu_s, out->up_gpu_s);
	if (out->events != r->events)
		breach(r, "%llu events were counted, %llu seen", (unsigned long long)out->events,
			(unsigned long long)r->events);
}
