/*
 * ElasticFlow: deadlines are promised at submission, and kept.
 *
 * Every job with a deadline is planned in a table of future slots with the
 * fewest devices that keep it (elasticflow_plan.h), the earliest deadline
 * first.  A job is let in if it and all that were let in before can be planned
 * so; else it is refused with what would make it fit.
 *
 * At every event all are planned anew.  The smallest shares of today may be
 * too small for tomorrow, so a new plan counts only if it keeps all promises;
 * else the plan that was made before goes on.  Devices that are left speed up
 * jobs with deadlines, where that costs the least device-time; what they do
 * not want goes to jobs without one.
 *
 * Starts and changes of size cost what the job is believed to lose by them, in
 * the plan too: a job is only given more if it is over sooner in spite of it.
 *
 * Sizes are powers of two (and the fewest a job takes), so that nodes of a
 * power of two can always be packed; jobs move for that.  On several types
 * each job is planned on one: its lane (lanes.h), or else the fastest on which
 * it can be.
 */
#include <math.h>
#include <stdlib.h>

#include "model/elastic.h"
#include "policy/deadline/elasticflow_buddy.h"
#include "policy/deadline/elasticflow_plan.h"
#include "policy/elastic/lanes.h"
#include "policy/elastic/portion.h"
#include "policy/elastic/rations.h"
#include "policy/kit.h"

enum fill { FILL_FORWARD, FILL_BACKWARD };

static const char *const fill_names[] = { "forward", "backward", NULL };

/* What was promised to a job. */
struct promise {
	bool given;
	bool lost; /* it was once, and could not be kept */
	uint32_t type;
	struct flow_course course;
};

/* One in the line of those that are planned. */
struct urgency {
	double deadline_s;
	uint32_t id;
	bool goes_on; /* with the course that it has */
};

struct elasticflow {
	double slot_s, safety_s;
	int fill;
	bool costs, buddy;

	VEC(struct promise) promises; /* by job */
	struct flow_table table;
	VEC(struct urgency) queue;     /* scratch: jobs of one type by deadline */
	VEC(struct flow_course) fresh; /* scratch: their new courses */
	uint32_t replans, kept; /* plans made anew, and those that had to go on as they were */
	uint32_t lost;          /* jobs whose promise could not be kept */
};

static const struct option options[] = {
	OPT_DOUBLE(struct elasticflow, slot_s, 300, 1e-3, 1e6, "length of a slot of the plan"),
	OPT_DOUBLE(struct elasticflow, safety_s, 0, 0, 1e7,
		"safety margin: promise to end this long before the deadline"),
	OPT_CHOICE(struct elasticflow, fill, FILL_FORWARD, fill_names,
		"take the devices of the last level as early or as late as can be"),
	OPT_BOOL(struct elasticflow, costs, 1, "plan with the believed costs of starts and changes"),
	OPT_BOOL(struct elasticflow, buddy, 1, "pack nodes by powers of two, moving jobs if need be"),
	{ 0 },
};

static struct promise *promise_of(struct elasticflow *ef, uint32_t job)
{
	vec_grow_zero(&ef->promises, (size_t)job + 1);
	return &ef->promises.at[job];
}

/* ---- a job as the table sees it */

static double speed_of(const struct round *round, const struct job *job, uint32_t type, uint32_t gpus)
{
	return elastic_speed(round->belief, job, configuration_packed(round->cluster, type, gpus),
		BATCHING_FIXED, NULL);
}

static void add_level(const struct round *round, const struct job *job, uint32_t type,
	uint32_t gpus, struct flow_ask *ask)
{
	double speed = speed_of(round, job, type, gpus);

	if (!(speed > 0) || ask->nlevels == FLOW_LEVELS_MAX)
		return;
	ask->level[ask->nlevels] = gpus;
	ask->speed[ask->nlevels++] = speed;
}

/* The fewest it takes, and the powers of two up to the most. */
static void list_levels(const struct round *round, const struct job *job, uint32_t type,
	struct flow_ask *ask)
{
	uint32_t least = job_least_on(job, type), most = rations_known(NULL, round, job, type);
	struct job now = *job; /* speeds may depend on how far it is */

	now.done = job_done(job, round->now_s);
	ask->nlevels = 0;
	add_level(round, &now, type, least, ask);
	for (uint64_t gpus = 1; gpus <= most; gpus *= 2) {
		if (gpus > least)
			add_level(round, &now, type, (uint32_t)gpus, ask);
	}
}

static void ask_of(const struct elasticflow *ef, const struct round *round, const struct job *job,
	uint32_t type, struct flow_ask *ask)
{
	double left = job->work_est - job_done(job, round->now_s);

	*ask = (struct flow_ask){
		.rounding = 1e-11 * fabs(job->work_est),
		.deadline_s = job->deadline_s - ef->safety_s,
		.ready_s = round->now_s,
		.backward = ef->fill == FILL_BACKWARD,
	};
	list_levels(round, job, type, ask);
	/* One that should be over by now is given a slot after the other. */
	ask->work = left > ask->rounding ? left : 0;
	if (ask->work == 0 && ask->nlevels > 0)
		ask->work = fmin(ef->slot_s, fmax(0, ask->deadline_s - round->now_s)) *
			ask->speed[0] / 2;
	if (job->grant && job->grant->type == type && !job->grant->mixed)
		ask->holds = job->grant->gpus;
	else if (job->grant)
		ask->holds = UINT32_MAX; /* elsewhere: any devices here are other ones */
	if (!ef->costs)
		return;
	ask->start_s = elastic_start_s(round->belief, job);
	ask->resume_s = elastic_move_s(round->belief, job);
	/* Where jobs change places one of them is stopped and started again, so that a resize costs it a resume. */
	ask->change_s = elastic_restart_s(round->belief, job);
	if (job->grant)
		ask->ready_s = fmax(round->now_s, job->ready_s);
}

/* ---- planning everybody */

static bool has_deadline(const struct job *job)
{
	return isfinite(job->deadline_s) && isfinite(job->work_est);
}

/* Whether a promise to it can still be kept at all. */
static bool is_due(const struct elasticflow *ef, const struct round *round, const struct job *job)
{
	return has_deadline(job) && round->now_s < job->deadline_s - ef->safety_s;
}

static bool is_promised(struct elasticflow *ef, const struct round *round, const struct job *job)
{
	return job_active(job) && is_due(ef, round, job) && promise_of(ef, job->id)->given;
}

static int by_deadline(const void *a, const void *b)
{
	const struct urgency *x = a, *y = b;

	if (x->deadline_s != y->deadline_s)
		return x->deadline_s < y->deadline_s ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Whether a job that is only asked about is to be planned on the type: on the fastest it may use. */
static bool is_asked_on(const struct round *round, const struct job *job, uint32_t type)
{
	uint32_t types[TYPES_MAX];

	return has_deadline(job) && kit_types(round, job, types) > 0 && types[0] == type;
}

/* By the number it has in ef->queue. */
static const struct job *job_in_line(const struct round *round, const struct job *extra, uint32_t id)
{
	if (extra && extra->id == id)
		return extra;
	return id < round->njobs ? &round->jobs[id] : &round->asked[id - round->njobs];
}

/* The promised jobs of a type (TYPES_MAX: of all), those asked about and `extra`, by deadline, into ef->queue. */
static void line_up(struct elasticflow *ef, const struct round *round, uint32_t type,
	const struct job *extra)
{
	ef->queue.n = 0;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (is_promised(ef, round, job) &&
			(type == TYPES_MAX || promise_of(ef, job->id)->type == type))
			vec_push(&ef->queue, (struct urgency){ job->deadline_s, job->id, false });
	}
	for (uint32_t i = 0; i < round->nasked; i++) {
		if (is_asked_on(round, &round->asked[i], type))
			vec_push(&ef->queue,
				((struct urgency){ round->asked[i].deadline_s, round->njobs + i,
					false }));
	}
	if (extra)
		vec_push(&ef->queue, (struct urgency){ extra->deadline_s, extra->id, false });
	if (ef->queue.n > 1)
		qsort(ef->queue.at, ef->queue.n, sizeof(*ef->queue.at), by_deadline);
}

/*
 * Plans the promised jobs of a type and `extra` (NULL: none), which may not be as it is in the round.  All or
 * nothing: true, and every course is in ef->fresh in the order of ef->queue.
 */
static bool plan_all(struct elasticflow *ef, const struct round *round, uint32_t type,
	const struct job *extra)
{
	line_up(ef, round, type, extra);
	vec_grow_zero(&ef->fresh, ef->queue.n);
	flow_table_init(&ef->table, round->now_s, ef->slot_s, round->up[type]);
	for (size_t i = 0; i < ef->queue.n; i++) {
		uint32_t id = ef->queue.at[i].id;
		struct flow_ask ask;

		ask_of(ef, round, job_in_line(round, extra, id), type, &ask);
		if (!flow_fill(&ef->table, &ask, &ef->fresh.at[i]))
			return false;
		flow_take(&ef->table, &ef->fresh.at[i]);
	}
	return true;
}

/* What was planned is promised from now on. */
static void adopt(struct elasticflow *ef)
{
	for (size_t i = 0; i < ef->queue.n; i++)
		flow_course_copy(&promise_of(ef, ef->queue.at[i].id)->course, &ef->fresh.at[i]);
}

/*
 * The lanes of the promised jobs and of `extra` (NULL: none), which comes last, beside each other; `jobs` and
 * `types` have room for one more than are active.  Returns how many they are.
 */
static uint32_t find_lanes(struct elasticflow *ef, const struct round *round,
	const struct job *extra, const struct job **jobs, uint32_t *types)
{
	struct lanes lanes = { .round = round, .room = round->up, .most = rations_known };
	uint32_t n = 0;

	line_up(ef, round, TYPES_MAX, NULL);
	for (size_t i = 0; i < ef->queue.n; i++) {
		jobs[n] = &round->jobs[ef->queue.at[i].id];
		types[n++] = promise_of(ef, ef->queue.at[i].id)->type;
	}
	if (extra) {
		jobs[n] = extra;
		types[n++] = extra->grant ? extra->grant->type : TYPES_MAX;
	}
	lanes_choose(&lanes, jobs, n, types);
	return n;
}

/* Promises a job its deadline on that type, if it can be kept. */
static bool promise_on(struct elasticflow *ef, const struct round *round, const struct job *job,
	uint32_t type)
{
	if (!plan_all(ef, round, type, job))
		return false;
	if (job->id == JOB_NONE)
		return true;
	promise_of(ef, job->id)->given = true;
	promise_of(ef, job->id)->type = type;
	adopt(ef);
	return true;
}

/* The same on its lane, or on the first type where it can be. */
static bool promise(struct elasticflow *ef, const struct round *round, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(round, job, types), lane = TYPES_MAX;

	if (n > 1) {
		const struct job **jobs = arena_array(round->scratch, const struct job *,
			round->nactive + 1);
		uint32_t *lanes = arena_array(round->scratch, uint32_t, round->nactive + 1);

		lane = lanes[find_lanes(ef, round, job, jobs, lanes) - 1];
	}
	if (lane != TYPES_MAX && promise_on(ef, round, job, lane))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (types[i] != lane && promise_on(ef, round, job, types[i]))
			return true;
	}
	return false;
}

/* Promised jobs change their type if that makes them faster and the promise can be kept there as well. */
static void change_lanes(struct elasticflow *ef, const struct round *round)
{
	const struct job **jobs = arena_array(round->scratch, const struct job *, round->nactive + 1);
	uint32_t *types = arena_array(round->scratch, uint32_t, round->nactive + 1);
	uint32_t n = round->cluster->ntypes > 1 ? find_lanes(ef, round, NULL, jobs, types) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (types[i] != TYPES_MAX && types[i] != promise_of(ef, jobs[i]->id)->type)
			promise_on(ef, round, jobs[i], types[i]);
	}
}

/* ---- refusing */

/*
 * A deadline that could be promised, found by halving between the one asked for and one after all others
 * (where the job takes what these leave).  INFINITY: it could not be in a hundred years either.
 */
static double feasible_deadline_s(struct elasticflow *ef, const struct round *round,
	const struct job *job, uint32_t type)
{
	struct job later = *job;
	double bad = fmax(job->deadline_s, round->now_s + ef->safety_s), good;
	double step = fmax(ef->slot_s, bad - round->now_s);

	for (good = bad + step;; good += step, step *= 2) {
		later.deadline_s = good;
		if (plan_all(ef, round, type, &later))
			break;
		bad = good;
		if (good - round->now_s > 100 * 365.25 * 86400)
			return INFINITY;
	}
	while (good - bad > ef->slot_s) {
		later.deadline_s = ceil((good + bad) / 2 / ef->slot_s) * ef->slot_s;
		if (!(later.deadline_s > bad && later.deadline_s < good))
			break;
		if (plan_all(ef, round, type, &later))
			good = later.deadline_s;
		else
			bad = later.deadline_s;
	}
	return good;
}

/* The fewest devices of those up that would keep the deadline if it had them throughout; 0: no number does. */
static uint32_t devices_needed(const struct flow_ask *ask, double now_s, uint32_t up)
{
	for (uint32_t i = 0; i < ask->nlevels && ask->level[i] <= up; i++) {
		if (ask->speed[i] * (ask->deadline_s - now_s - ask->start_s) >= ask->work - ask->rounding)
			return ask->level[i];
	}
	return 0;
}

/* Devices that would do, and how many of these are left; none: not even alone would it be in time. */
static struct reason refusal(struct elasticflow *ef, const struct round *round, const struct job *job)
{
	struct reason why = { .why = WHY_DEADLINE, .other = JOB_NONE, .at_s = INFINITY };
	uint32_t types[TYPES_MAX], n = kit_types(round, job, types);

	for (uint32_t i = 0; i < n; i++) {
		struct flow_ask ask;

		why.at_s = fmin(why.at_s, feasible_deadline_s(ef, round, job, types[i]));
		if (why.need > 0)
			continue;
		ask_of(ef, round, job, types[i], &ask);
		why.need = (int32_t)devices_needed(&ask, round->now_s, round->up[types[i]]);
		if (why.need > 0 && plan_all(ef, round, types[i], NULL))
			why.have = (int32_t)flow_left(&ef->table, ask.deadline_s);
	}
	return why;
}

/*
 * Whether a job would be promised if all nodes were up.  (Those that others may lend are not there to be
 * counted on, and cannot be told from ours here.)
 */
static bool only_nodes_are_missing(struct elasticflow *ef, const struct round *round,
	const struct job *job)
{
	struct round whole = *round;
	bool missing = false;

	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		whole.up[type] = round->cluster->types[type].devices;
		missing |= whole.up[type] > round->up[type];
	}
	for (uint32_t type = 0; type < round->cluster->ntypes && missing && !round->on_loan; type++) {
		if (job_may_use(job, type) && plan_all(ef, &whole, type, job))
			return true;
	}
	return false;
}

static bool elasticflow_welcome(void *self, const struct round *round, const struct job *job,
	struct reason *why)
{
	struct elasticflow *ef = self;

	if (!has_deadline(job))
		return true;
	if (is_due(ef, round, job) &&
		(promise(ef, round, job) || only_nodes_are_missing(ef, round, job)))
		return true;
	*why = refusal(ef, round, job);
	return false;
}

/* ---- what everybody gets now */

struct lot {
	const struct job *job;
	struct flow_ask ask;
	uint32_t type;
	uint32_t gpus;
	bool promised;
	/* of a promised job: the next level's */
	struct flow_course raised;
	double gain; /* device-seconds saved per device added; usually below 0 */
	bool rises;  /* whether that is known and worth while */
};

struct sharing {
	struct elasticflow *ef;
	const struct round *round;
	struct plan *plan;
	struct lot *at;
	uint32_t n, npromised;
	uint32_t room[TYPES_MAX];
	double hold_s; /* what is given on top lasts until then if nothing happens */
};

static uint32_t next_level(const struct lot *lot)
{
	uint32_t level = lot->gpus ? flow_level_of(&lot->ask, lot->gpus) + 1 : 0;

	return level < lot->ask.nlevels ? lot->ask.level[level] : 0;
}

/* Those with a promise, by deadline, with what their course says. */
static void deal_promised(struct sharing *s)
{
	struct elasticflow *ef = s->ef;

	line_up(ef, s->round, TYPES_MAX, NULL);
	for (size_t i = 0; i < ef->queue.n; i++) {
		const struct job *job = &s->round->jobs[ef->queue.at[i].id];
		struct promise *promise = promise_of(ef, job->id);
		struct lot *lot = &s->at[s->n++];

		*lot = (struct lot){ .job = job, .type = promise->type, .promised = true };
		ask_of(ef, s->round, job, lot->type, &lot->ask);
		lot->gpus = flow_at(&promise->course, s->round->now_s);
		if (lot->gpus > s->room[lot->type])
			lot->gpus = 0; /* nodes are down */
		s->room[lot->type] -= lot->gpus;
	}
	s->npromised = s->n;
}

/*
 * What the next level would bring a job; only what makes it end sooner does, and in time even if the change
 * is as dear as can be.
 */
static void weigh(struct sharing *s, struct lot *lot)
{
	struct flow_course *course = &promise_of(s->ef, lot->job->id)->course;
	struct flow_ask likely = lot->ask;
	uint32_t more = next_level(lot);
	double now_s = s->round->now_s, before_gpu_s, after_gpu_s, before_s, after_s;

	lot->rises = false;
	if (!more)
		return;
	flow_raise(&s->ef->table, course, more, s->hold_s, &lot->raised);
	if (s->ef->costs && lot->ask.holds != UINT32_MAX)
		likely.change_s = elastic_resize_s(s->round->belief, lot->job);
	before_s = flow_finish_s(&likely, course, now_s, &before_gpu_s);
	after_s = flow_finish_s(&likely, &lot->raised, now_s, &after_gpu_s);
	lot->gain = (before_gpu_s - after_gpu_s) / (more - lot->gpus);
	lot->rises = after_s < before_s &&
		flow_finish_s(&lot->ask, &lot->raised, now_s, NULL) <= lot->ask.deadline_s;
}

/* Jobs without devices before others, then by gain; of equals the one that comes first. */
static bool worth_more(const struct lot *a, const struct lot *b)
{
	if ((a->gpus == 0) != (b->gpus == 0))
		return a->gpus == 0;
	return a->gain > b->gain;
}

static void deal_spare(struct sharing *s)
{
	for (uint32_t i = 0; i < s->npromised; i++)
		weigh(s, &s->at[i]);
	for (;;) {
		struct lot *best = NULL;
		uint32_t more;

		for (uint32_t i = 0; i < s->npromised; i++) {
			struct lot *lot = &s->at[i];

			if (lot->rises && next_level(lot) - lot->gpus <= s->room[lot->type] &&
				(!best || worth_more(lot, best)))
				best = lot;
		}
		if (!best)
			return;
		more = next_level(best);
		s->room[best->type] -= more - best->gpus;
		best->gpus = more;
		flow_course_copy(&promise_of(s->ef, best->job->id)->course, &best->raised);
		weigh(s, best);
	}
}

/* ---- those without a promise */

/* Its lane if there is room, else the fastest type that has. */
static bool find_type(const struct sharing *s, struct lot *lot, uint32_t lane)
{
	uint32_t types[TYPES_MAX], n = kit_types(s->round, lot->job, types);

	for (uint32_t i = 0; i < n; i++) {
		if (types[i] == lane && job_least_on(lot->job, lane) <= s->room[lane]) {
			lot->type = lane;
			return true;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (job_least_on(lot->job, types[i]) <= s->room[types[i]]) {
			lot->type = types[i];
			return true;
		}
	}
	return false;
}

/* In order of arrival, those that are late, or those that are not; returns how many. */
static uint32_t list_rest(const struct sharing *s, bool late, const struct job **jobs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];

		if (job_active(job) && !is_promised(s->ef, s->round, job) && has_deadline(job) == late)
			jobs[n++] = job;
	}
	return n;
}

/* Those that are late before all: each the fewest it takes. */
static void deal_rest(struct sharing *s)
{
	const struct round *round = s->round;
	const struct job **jobs = arena_array(round->scratch, const struct job *, round->nactive);
	uint32_t *lanes = arena_array(round->scratch, uint32_t, round->nactive);
	uint32_t n = list_rest(s, true, jobs);

	n += list_rest(s, false, jobs + n);
	for (uint32_t i = 0; i < n; i++)
		lanes[i] = jobs[i]->grant ? jobs[i]->grant->type : TYPES_MAX;
	if (round->cluster->ntypes > 1)
		lanes_choose(&(struct lanes){ .round = round, .room = s->room, .most = rations_known },
			jobs, n, lanes);
	for (uint32_t i = 0; i < n; i++) {
		struct lot *lot = &s->at[s->n++];

		*lot = (struct lot){ .job = jobs[i] };
		if (!find_type(s, lot, lanes[i]))
			continue;
		list_levels(round, jobs[i], lot->type, &lot->ask);
		if (lot->ask.nlevels == 0 || lot->ask.level[0] > s->room[lot->type])
			continue;
		lot->gpus = lot->ask.level[0];
		s->room[lot->type] -= lot->gpus;
	}
}

/* Speed gained per device, as a part of the speed on the fewest. */
static double growth(const struct lot *lot)
{
	uint32_t level = flow_level_of(&lot->ask, lot->gpus);

	if (lot->gpus == 0 || level + 1 >= lot->ask.nlevels)
		return 0;
	return (lot->ask.speed[level + 1] - lot->ask.speed[level]) / lot->ask.speed[0] /
		(lot->ask.level[level + 1] - lot->gpus);
}

static void grow_rest(struct sharing *s)
{
	for (;;) {
		struct lot *best = NULL;

		for (uint32_t i = s->npromised; i < s->n; i++) {
			struct lot *lot = &s->at[i];

			if (growth(lot) > (best ? growth(best) : 0) &&
				next_level(lot) - lot->gpus <= s->room[lot->type])
				best = lot;
		}
		if (!best)
			return;
		s->room[best->type] -= next_level(best) - best->gpus;
		best->gpus = next_level(best);
	}
}

/* ---- placing */

/* Whether a move would cost it its promise. */
static bool is_tight(const struct sharing *s, const struct lot *lot)
{
	struct flow_ask moved = lot->ask;

	if (!lot->promised || !s->ef->costs || !(moved.resume_s > 0))
		return false;
	moved.ready_s = fmax(moved.ready_s, s->round->now_s + moved.resume_s);
	return flow_finish_s(&moved, &promise_of(s->ef, lot->job->id)->course, s->round->now_s,
		       NULL) > lot->ask.deadline_s;
}

static void pack(const struct sharing *s, const struct portion *portions, const bool *tight, uint32_t n)
{
	for (uint32_t type = 0; type < s->round->cluster->ntypes && s->ef->buddy; type++)
		buddy_run(s->round, s->plan, type, portions, tight, n);
	portions_run(s->round, s->plan, portions, n);
}

/* Everybody who runs, and of those who wait such as may take what is left over. */
static void carry_out(const struct sharing *s)
{
	struct portion *portions = arena_array(s->round->scratch, struct portion, s->n);
	bool *tight = arena_array(s->round->scratch, bool, s->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct lot *lot = &s->at[i];

		if (lot->gpus == 0 && lot->promised) {
			plan_stop(s->plan, lot->job);
			plan_why(s->plan, lot->job->id,
				(struct reason){ .why = WHY_TURN,
					.need = lot->job->min_gpus,
					.other = JOB_NONE });
			continue;
		}
		tight[n] = is_tight(s, lot);
		portions[n++] = (struct portion){ .job = lot->job,
			.type = lot->type,
			.gpus = lot->gpus,
			.firm = lot->promised };
	}
	portions_calm(s->round, s->plan, portions, n, s->ef->costs);
	pack(s, portions, tight, n);
}

/* ---- */

/* Courses of jobs that have ended are forgotten; jobs that nobody asked about (they ran before) are promised what can be. */
static void bring_up_to_date(struct elasticflow *ef, const struct round *round)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];
		struct promise *p = promise_of(ef, job->id);

		if (job_ended(job)) {
			flow_course_fini(&p->course);
			p->given = false;
		} else if (job_active(job) && !p->given && is_due(ef, round, job)) {
			promise(ef, round, job);
		}
	}
}

/* Whether the course that a job has is still left for it, and still keeps its deadline. */
static bool goes_on(const struct elasticflow *ef, const struct round *round,
	const struct flow_ask *ask, const struct flow_course *course)
{
	struct flow_ask rounded = *ask;

	rounded.rounding *= 100; /* it has been followed for long */
	return flow_fits(&ef->table, course) &&
		flow_finish_s(&rounded, course, round->now_s, NULL) <= ask->deadline_s;
}

/* Another course for one that cannot go on with its own, beside those that can; else its promise is lost. */
static void help(struct elasticflow *ef, const struct flow_ask *ask, struct promise *promise)
{
	if (flow_fill(&ef->table, ask, &promise->course)) {
		flow_take(&ef->table, &promise->course);
		return;
	}
	ef->lost += !promise->lost;
	promise->lost = true;
	promise->given = false;
}

/*
 * Everybody goes on with the plan made before.  Where that cannot be (devices or time were lost), who still
 * can does so, and the others are planned beside them: one promise is not broken for another.  Says whether
 * all did go on.
 */
static bool keep_plan(struct elasticflow *ef, const struct round *round, uint32_t type)
{
	struct flow_ask ask;
	bool all = true;

	line_up(ef, round, type, NULL);
	flow_table_init(&ef->table, round->now_s, ef->slot_s, round->up[type]);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < ef->queue.n; i++) {
			struct urgency *u = &ef->queue.at[i];
			struct promise *promise = promise_of(ef, u->id);

			if (u->goes_on)
				continue;
			ask_of(ef, round, &round->jobs[u->id], type, &ask);
			if (again) {
				help(ef, &ask, promise);
				continue;
			}
			u->goes_on = goes_on(ef, round, &ask, &promise->course);
			if (u->goes_on)
				flow_take(&ef->table, &promise->course);
			all = all && u->goes_on;
		}
	}
	return all;
}

/* Jobs whose promise was lost, or that came when too little was up, are promised what is left. */
static void promise_more(struct elasticflow *ef, const struct round *round, uint32_t type)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct promise *promise = promise_of(ef, job->id);
		struct flow_ask ask;

		if (!job_active(job) || promise->given || !is_due(ef, round, job) ||
			!job_may_use(job, type))
			continue;
		ask_of(ef, round, job, type, &ask);
		if (!flow_fill(&ef->table, &ask, &promise->course))
			continue;
		flow_take(&ef->table, &promise->course);
		promise->given = true;
		promise->type = type;
	}
}

static void replan(struct elasticflow *ef, const struct round *round)
{
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		bool anew = plan_all(ef, round, type, NULL);

		ef->replans += ef->queue.n > 0;
		if (anew)
			adopt(ef);
		else
			ef->kept += keep_plan(ef, round, type);
		promise_more(ef, round, type);
	}
}

/* Seconds until a running job is over, if that is but a rounding error away; else 0. */
static double last_moment_s(const struct round *round, const struct job *job)
{
	double left = job->work_est - job_done(job, round->now_s);

	if (!job->grant || job->ready_s > round->now_s || !(job->rate > 0) ||
		!(fabs(left) <= 1e-10 * job->work_est))
		return 0;
	return 2e-10 * job->work_est / job->rate;
}

/*
 * A course ends when its job does, and rounding may put the one before the other.  Nothing is decided then:
 * it would take the devices of a job that is over in a moment.
 */
static bool wait_for_ends(const struct round *round, struct plan *plan)
{
	double wait_s = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			wait_s = fmax(wait_s, last_moment_s(round, &round->jobs[round->active[i]]));
	}
	if (wait_s == 0)
		return false;
	plan_wake(plan, round->now_s + wait_s);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING && job->reason.why <= WHY_NEW)
			plan_why(plan, job->id, (struct reason){ .why = WHY_ROUND, .other = JOB_NONE });
	}
	return true;
}

/* The next time at which somebody's devices change by plan, an end of a slot; the end of this one if none do. */
static double wake_at_changes(struct elasticflow *ef, const struct round *round, struct plan *plan)
{
	double next_s = INFINITY;

	line_up(ef, round, TYPES_MAX, NULL);
	for (size_t i = 0; i < ef->queue.n; i++)
		next_s = fmin(next_s,
			flow_next_change_s(&promise_of(ef, ef->queue.at[i].id)->course, round->now_s));
	plan_wake(plan, next_s);
	for (size_t i = 0; i < ef->queue.n; i++)
		plan_wake(plan, ef->queue.at[i].deadline_s - ef->safety_s); /* from then on it is late */
	return isfinite(next_s) ? next_s : flow_slot_end_s(&ef->table, round->now_s);
}

static int elasticflow_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct elasticflow *ef = self;
	struct sharing s = { .ef = ef, .round = round, .plan = plan };

	(void)err;
	if (wait_for_ends(round, plan))
		return 0;
	s.at = arena_array(round->scratch, struct lot, round->nactive);
	bring_up_to_date(ef, round);
	change_lanes(ef, round);
	replan(ef, round);
	s.hold_s = wake_at_changes(ef, round, plan);
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		s.room[type] = round->up[type];
	deal_promised(&s);
	deal_spare(&s);
	deal_rest(&s);
	grow_rest(&s);
	carry_out(&s);
	for (uint32_t i = 0; i < s.n; i++)
		flow_course_fini(&s.at[i].raised);
	return 0;
}

static uint32_t elasticflow_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct elasticflow *ef = self;

	out[0] = (struct figure){ "plans_made", ef->replans };
	out[1] = (struct figure){ "plans_kept", ef->kept };
	out[2] = (struct figure){ "promises_lost", ef->lost };
	return 3;
}

static void elasticflow_fini(void *self)
{
	struct elasticflow *ef = self;

	for (size_t i = 0; i < ef->promises.n; i++)
		flow_course_fini(&ef->promises.at[i].course);
	for (size_t i = 0; i < ef->fresh.n; i++)
		flow_course_fini(&ef->fresh.at[i]);
	vec_fini(&ef->promises);
	vec_fini(&ef->queue);
	vec_fini(&ef->fresh);
	flow_table_fini(&ef->table);
}

const struct policy policy_elasticflow = {
	.name = "elasticflow",
	.summary = "deadlines promised at submission and kept; the rest of the devices speeds jobs up",
	.origin = "Gu et al., ASPLOS 2023",
	.family = "deadline",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_DEADLINE | USES_RANGE,
	.options = options,
	.state_size = sizeof(struct elasticflow),
	.fini = elasticflow_fini,
	.figures = elasticflow_figures,
	.welcome = elasticflow_welcome,
	.decide = elasticflow_decide,
};
