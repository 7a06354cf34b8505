/*
 * Apathetic future share (AFS): one device after the other, each to the job
 * that does most for the mean completion time if shares stay as they are.
 *
 * Of two jobs, `a` which is over first and `b`, a further device is better
 * with `b` exactly if (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a, where p is a
 * job's speed now and p' that with the device: `a` gives it on to `b` when it
 * ends, so it must be worth more to `b` than that.  A scan of the jobs in
 * order of arrival finds who gets the next device; the relation is not
 * transitive, so the order is part of the rule.
 *
 * Where lengths are not known, who has had less service counts as shorter.
 *
 * A step is one device, beyond a node a whole node, and for a job that does
 * not run yet the fewest it takes; gains are compared per device of the step.
 * A step that does not make the job faster is joined with the next.  On
 * several types each job has its lane (lanes.h); who finds no room there takes
 * the fastest type that has any.
 */
#include <math.h>

#include "model/elastic.h"
#include "policy/elastic/lanes.h"
#include "policy/elastic/portion.h"
#include "policy/elastic/rations.h"
#include "policy/kit.h"

enum lengths { LENGTHS_KNOWN, LENGTHS_UNKNOWN };

static const char *const lengths_names[] = { "known", "unknown", NULL };

struct afs {
	int lengths;
	bool node_steps;
	double round_s, rotate_s;
};

static const struct option options[] = {
	OPT_CHOICE(struct afs, lengths, LENGTHS_KNOWN, lengths_names,
		"whether believed run times say who is shorter, or attained service does"),
	OPT_BOOL(struct afs, node_steps, 1, "beyond one node, give whole nodes only"),
	OPT_DOUBLE(struct afs, round_s, 0, 0, 1e6, "least time between decisions; 0: at every event"),
	OPT_DOUBLE(struct afs, rotate_s, 300, 1e-3, 1e6,
		"lengths unknown: of equals another is first after this time"),
	{ 0 },
};

/* A job in the scan. */
struct runner {
	const struct job *job;
	double left;     /* work */
	double attained; /* service */
	uint32_t lane;   /* the type it is to be on if there is room; TYPES_MAX: any */
	uint32_t type;
	uint32_t share, next; /* devices now and after its next step; next 0: it gains nothing more */
	double speed, faster; /* there */
	double order;         /* who is shorter has less: remaining time, or attained service */
	double gain_short, gain_long; /* of its next step per device, as `a` and as `b` */
};

struct scan {
	const struct afs *afs;
	const struct round *round;
	struct runner *at;
	uint32_t n;
	uint32_t room[TYPES_MAX];
};

/* ---- steps */

/* The number of devices after `n` that it could have; 0: none. */
static uint32_t level_after(const struct scan *s, const struct runner *r, uint32_t n, uint32_t most)
{
	uint32_t least = job_least_on(r->job, r->type), step = 1;
	uint32_t node = s->round->cluster->types[r->type].max_per_node;

	if (n < least)
		return least;
	if (n >= most)
		return 0;
	if (s->afs->node_steps && n >= node)
		step = node - n % node;
	step = job_rounded_on(r->job, r->type, n + step) - n;
	return n + step < most ? n + step : most;
}

static double speed_of(const struct scan *s, const struct runner *r, uint32_t gpus)
{
	return elastic_speed(s->round->belief, r->job,
		configuration_packed(s->round->cluster, r->type, gpus), BATCHING_FIXED, NULL);
}

/* How far ahead a step that brings more is looked for: a node boundary can be crossed, not a desert. */
static uint32_t horizon(const struct scan *s, const struct runner *r)
{
	uint32_t node = s->round->cluster->types[r->type].max_per_node;

	if (r->share == 0)
		return UINT32_MAX;
	return r->share + (r->share > node ? r->share : node);
}

/* Its next step that makes it faster, and what that is worth. */
static void find_step(const struct scan *s, struct runner *r)
{
	uint32_t most = rations_known(NULL, s->round, r->job, r->type), far = horizon(s, r);
	double k;

	r->next = level_after(s, r, r->share, most);
	for (; r->next && r->next <= far; r->next = level_after(s, r, r->next, most)) {
		r->faster = speed_of(s, r, r->next);
		if (r->faster > r->speed)
			break;
	}
	if (!r->next || !(r->faster > r->speed)) {
		r->next = 0;
		return;
	}
	k = r->next - r->share;
	r->gain_long = (r->faster - r->speed) / r->faster / k;
	r->gain_short = r->speed > 0 ? (r->faster - r->speed) / r->speed / k : INFINITY;
	if (s->afs->lengths == LENGTHS_UNKNOWN)
		r->order = r->attained;
	else
		r->order = r->left / (r->share ? r->speed : r->faster);
}

/* ---- types */

static bool step_fits(const struct scan *s, const struct runner *r)
{
	return r->next && r->next - r->share <= s->room[r->type];
}

/* For a job without a share: the fastest type that has room, its lane before all. */
static void find_type(const struct scan *s, struct runner *r)
{
	struct runner best = { .next = 0 };

	for (uint32_t type = 0; type < s->round->cluster->ntypes; type++) {
		struct runner here = *r;

		if (!job_may_use(r->job, type) || s->room[type] < job_least_on(r->job, type))
			continue;
		here.type = type;
		find_step(s, &here);
		if (!step_fits(s, &here))
			continue;
		if (r->lane == type) {
			*r = here;
			return;
		}
		if (!best.next || here.faster > best.faster)
			best = here;
	}
	r->next = 0;
	if (best.next)
		*r = best;
}

/* ---- the rule */

/* Whether `x` is to have the next device rather than `best`, which comes before it. */
static bool beats(const struct scan *s, const struct runner *x, const struct runner *best)
{
	bool x_new = x->share == 0, best_new = best->share == 0;
	bool known = s->afs->lengths == LENGTHS_KNOWN;

	if (x_new && best_new)
		return x->order < best->order;
	/* One that has nothing is never over. */
	if (known && (x_new || best_new) ? best_new : x->order < best->order)
		return !(best->gain_long > x->gain_short);
	return x->gain_long > best->gain_short;
}

static struct runner *scan_once(struct scan *s, uint32_t first)
{
	struct runner *best = NULL;

	for (uint32_t i = 0; i < s->n; i++) {
		struct runner *r = &s->at[first + i < s->n ? first + i : first + i - s->n];

		if (!r->next)
			continue;
		if (!step_fits(s, r)) {
			if (r->share == 0)
				find_type(s, r);
			else
				r->next = 0; /* room only gets less */
			if (!r->next)
				continue;
		}
		if (!best || beats(s, r, best))
			best = r;
	}
	return best;
}

static void hand_out(struct scan *s)
{
	uint32_t first = 0;
	struct runner *r;

	if (s->afs->lengths == LENGTHS_UNKNOWN && s->n > 0)
		first = (uint32_t)fmod(floor(s->round->now_s / s->afs->rotate_s), s->n);
	while ((r = scan_once(s, first))) {
		s->room[r->type] -= r->next - r->share;
		r->share = r->next;
		r->speed = r->faster;
		find_step(s, r);
	}
}

static void enter(struct scan *s, const struct job *job)
{
	struct runner *r = &s->at[s->n++];

	r->job = job;
	r->left = fmax(0, job->work_est - job_done(job, s->round->now_s));
	r->attained = job_served_s(job, s->round->now_s);
	r->lane = job->grant ? job->grant->type : TYPES_MAX;
}

static void find_lanes(struct scan *s)
{
	struct lanes lanes = {
		.round = s->round,
		.room = s->room,
		.most = rations_known,
		.blind = s->afs->lengths == LENGTHS_UNKNOWN,
	};
	const struct job **jobs = arena_array(s->round->scratch, const struct job *, s->n);
	uint32_t *types = arena_array(s->round->scratch, uint32_t, s->n);

	for (uint32_t i = 0; i < s->n; i++) {
		jobs[i] = s->at[i].job;
		types[i] = s->at[i].lane;
	}
	if (s->round->cluster->ntypes > 1)
		lanes_choose(&lanes, jobs, s->n, types);
	for (uint32_t i = 0; i < s->n; i++) {
		s->at[i].lane = types[i];
		find_type(s, &s->at[i]);
	}
}

static int afs_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct afs *afs = self;
	struct scan s = { .afs = afs, .round = round };
	struct portion *portions = arena_array(round->scratch, struct portion, round->nactive);

	(void)err;
	s.at = arena_array(round->scratch, struct runner, round->nactive);
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		s.room[type] = plan->space.types[type].up;
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			enter(&s, &round->jobs[round->active[i]]);
	}
	find_lanes(&s);
	hand_out(&s);
	for (uint32_t i = 0; i < s.n; i++)
		portions[i] = (struct portion){ .job = s.at[i].job,
			.type = s.at[i].type,
			.gpus = s.at[i].share };
	portions_calm(round, plan, portions, s.n, true);
	portions_run(round, plan, portions, s.n);
	if (afs->lengths == LENGTHS_UNKNOWN && kit_anybody_waits(round, plan))
		plan_wake(plan, (floor(round->now_s / afs->rotate_s + 1e-9) + 1) * afs->rotate_s);
	return 0;
}

static double afs_period_s(const void *self)
{
	return ((const struct afs *)self)->round_s;
}

const struct policy policy_afs = {
	.name = "afs",
	.summary = "devices one by one to the job whose gain is worth most to the mean completion time",
	.origin = "Hwang et al., NSDI 2021",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct afs),
	.period_s = afs_period_s,
	.decide = afs_decide,
};
