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
 * each job is planned on one: the fastest on which it can be.
 */
#include <math.h>
#include <stdlib.h>

#include "model/elastic.h"
#include "model/training.h"
#include "policy/deadline/elasticflow_buddy.h"
#include "policy/deadline/elasticflow_plan.h"
#include "policy/elastic/portion.h"
#include "policy/kit.h"

enum fill { FILL_FORWARD, FILL_BACKWARD };

static const char *const fill_names[] = { "forward", "backward", NULL };

/* What was promised to a job. */
struct promise {
	bool given;
	uint32_t type;
	struct flow_course course;
};

struct elasticflow {
	double slot_s, safety_s;
	int fill;
	bool costs, buddy;

	VEC(struct promise) promises; /* by job */
	struct flow_table table;
	VEC(uint32_t) queue;           /* scratch: jobs of one type by deadline */
	VEC(struct flow_course) fresh; /* scratch: their new courses */
	uint32_t replans, kept; /* plans made anew, and those that had to go on as they were */
	uint32_t admitted, refused;
};

static const struct option options[] = {
	OPT_DOUBLE(struct elasticflow, slot_s, 300, 1e-3, 1e6, "length of a slot of the plan"),
	OPT_DOUBLE(struct elasticflow, safety_s, 0, 0, 1e7,
		"promise to be over so long before the deadline"),
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
	uint32_t least = job_least_on(job, type);
	uint32_t most = elastic_most(round->belief, job, type, BATCHING_FIXED, 0);

	ask->nlevels = 0;
	add_level(round, job, type, least, ask);
	for (uint64_t gpus = 1; gpus <= most; gpus *= 2) {
		if (gpus > least)
			add_level(round, job, type, (uint32_t)gpus, ask);
	}
}

static double first_cost_s(const struct round *round, const struct job *job)
{
	bool trained = round->belief->training && job->model != NAME_NONE &&
		training_of(round->belief->training, job->model);

	if (trained)
		return elastic_restart_s(round->belief, job);
	return job->attempts > 0 ? job->resume_cost_s : job->start_cost_s;
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
	ask->start_s = first_cost_s(round, job);
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

struct urgency {
	double deadline_s;
	uint32_t id;
};

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
	struct urgency *at = mem_alloc((round->nactive + round->nasked + 1u) * sizeof(*at));
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (is_promised(ef, round, job) &&
			(type == TYPES_MAX || promise_of(ef, job->id)->type == type))
			at[n++] = (struct urgency){ job->deadline_s, job->id };
	}
	for (uint32_t i = 0; i < round->nasked; i++) {
		if (is_asked_on(round, &round->asked[i], type))
			at[n++] = (struct urgency){ round->asked[i].deadline_s, round->njobs + i };
	}
	if (extra)
		at[n++] = (struct urgency){ extra->deadline_s, extra->id };
	qsort(at, n, sizeof(*at), by_deadline);
	ef->queue.n = 0;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&ef->queue, at[i].id);
	free(at);
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
		uint32_t id = ef->queue.at[i];
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
		flow_course_copy(&promise_of(ef, ef->queue.at[i])->course, &ef->fresh.at[i]);
}

/* Promises a job its deadline on the first type where that can be done. */
static bool promise(struct elasticflow *ef, const struct round *round, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(round, job, types);

	for (uint32_t i = 0; i < n; i++) {
		if (!plan_all(ef, round, types[i], job))
			continue;
		if (job->id == JOB_NONE)
			return true;
		promise_of(ef, job->id)->given = true;
		promise_of(ef, job->id)->type = types[i];
		adopt(ef);
		return true;
	}
	return false;
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

/* The fewest devices that would keep the deadline if it had them throughout; 0: no number does. */
static uint32_t devices_needed(const struct flow_ask *ask, double now_s)
{
	for (uint32_t i = 0; i < ask->nlevels; i++) {
		if (ask->speed[i] * (ask->deadline_s - now_s - ask->start_s) >= ask->work - ask->rounding)
			return ask->level[i];
	}
	return 0;
}

static struct reason refusal(struct elasticflow *ef, const struct round *round, const struct job *job)
{
	struct reason why = { .why = WHY_DEADLINE, .other = JOB_NONE };
	uint32_t types[TYPES_MAX], n = kit_types(round, job, types);
	struct flow_ask ask;

	if (n == 0)
		return why;
	ask_of(ef, round, job, types[0], &ask);
	why.need = (int32_t)devices_needed(&ask, round->now_s);
	if (plan_all(ef, round, types[0], NULL))
		why.have = (int32_t)flow_left(&ef->table, ask.deadline_s);
	why.at_s = INFINITY;
	for (uint32_t i = 0; i < n; i++)
		why.at_s = fmin(why.at_s, feasible_deadline_s(ef, round, job, types[i]));
	return why;
}

static bool elasticflow_welcome(void *self, const struct round *round, const struct job *job,
	struct reason *why)
{
	struct elasticflow *ef = self;

	if (!has_deadline(job))
		return true;
	if (is_due(ef, round, job) && promise(ef, round, job))
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
		const struct job *job = &s->round->jobs[ef->queue.at[i]];
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

/* What the next level would bring a job; only what makes it end sooner does. */
static void weigh(struct sharing *s, struct lot *lot)
{
	struct flow_course *course = &promise_of(s->ef, lot->job->id)->course;
	uint32_t more = next_level(lot);
	double now_s = s->round->now_s, before_gpu_s, after_gpu_s, before_s, after_s;

	lot->rises = false;
	if (!more)
		return;
	flow_raise(&s->ef->table, course, more, s->hold_s, &lot->raised);
	before_s = flow_finish_s(&lot->ask, course, now_s, &before_gpu_s);
	after_s = flow_finish_s(&lot->ask, &lot->raised, now_s, &after_gpu_s);
	lot->gain = (before_gpu_s - after_gpu_s) / (more - lot->gpus);
	lot->rises = after_s < before_s && after_s <= lot->ask.deadline_s;
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

/* The type it is on if there is room, else the fastest that has. */
static bool find_type(const struct sharing *s, struct lot *lot)
{
	uint32_t types[TYPES_MAX], n = kit_types(s->round, lot->job, types);

	for (uint32_t i = 0; i < n; i++) {
		if (lot->job->grant && lot->job->grant->type == types[i] &&
			job_least_on(lot->job, types[i]) <= s->room[types[i]]) {
			lot->type = types[i];
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

/* In order of arrival, those that are late before all: each the fewest it takes. */
static void deal_rest(struct sharing *s, bool late)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		struct lot *lot = &s->at[s->n];

		if (!job_active(job) || is_promised(s->ef, s->round, job) || has_deadline(job) != late)
			continue;
		*lot = (struct lot){ .job = job };
		s->n++;
		if (!find_type(s, lot))
			continue;
		list_levels(s->round, job, lot->type, &lot->ask);
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

	if (!lot->promised || !s->ef->costs || !(lot->ask.change_s > 0))
		return false;
	moved.ready_s = fmax(moved.ready_s, s->round->now_s + moved.change_s);
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
		portions[n++] = (struct portion){ lot->job, lot->type, lot->gpus };
	}
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

static void replan(struct elasticflow *ef, const struct round *round)
{
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		bool kept = plan_all(ef, round, type, NULL);

		if (ef->queue.n == 0)
			continue;
		ef->replans++;
		if (kept)
			adopt(ef);
		else
			ef->kept++;
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
			flow_next_change_s(&promise_of(ef, ef->queue.at[i])->course, round->now_s));
	plan_wake(plan, next_s);
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
	replan(ef, round);
	s.hold_s = wake_at_changes(ef, round, plan);
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		s.room[type] = round->up[type];
	deal_promised(&s);
	deal_spare(&s);
	deal_rest(&s, true);
	deal_rest(&s, false);
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
	return 2;
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
	.options = options,
	.state_size = sizeof(struct elasticflow),
	.fini = elasticflow_fini,
	.figures = elasticflow_figures,
	.welcome = elasticflow_welcome,
	.decide = elasticflow_decide,
};
