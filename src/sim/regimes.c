/*
 * Leading jobs through their regimes.
 */
#include "sim/regimes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "model/regime.h"

/* As published: what a pause costs, except in turns shorter than a round by this. */
#define PAUSE_S 20
#define SHORT_S 5
/* A job is ended when it has run so many times as long as profiled. */
#define OVERTIME 1.5
/* Turns without a step after which it is given up, which counts as its end. */
enum { IDLE_TURNS_MAX = 5 };

/* Steps / rate * rate shall be steps. */
#define SLACK (1 + 1e-9)

struct turn {
	double until_s; /* 0: it has none, or it is over */
	double steps;   /* that it will have made */
	double ran_s;   /* seconds that count */
};

/* Where a job stands. */
struct standing {
	uint32_t regime, wanted;
	struct tally tally;
	struct turn turn;
	double from_s, rate; /* of the stretch that goes on, without turns */
	double ran_s;        /* in turns */
	uint32_t idle_turns;
};

struct regimes {
	const struct rates *truth;
	enum compat compat;
	VEC(struct standing) standing; /* by job */
	uint32_t rounds;               /* so far, of turns */
	double round_s;                /* when the present one began */
	double start_s;   /* when the one before ended, long ago if nothing ran since */
	double end_s;     /* when the present one ends */
	double longest_s; /* turn so far: a round is as long, up to less than a step */
};

struct regimes *regimes_create(const struct rates *truth, enum compat compat)
{
	struct regimes *r = mem_alloc(sizeof(*r));

	*r = (struct regimes){ .truth = truth, .compat = compat };
	return r;
}

void regimes_destroy(struct regimes *r)
{
	if (!r)
		return;
	vec_fini(&r->standing);
	free(r);
}

static bool regimes_leads(void *self, const struct job *job)
{
	const struct regimes *r = self;

	if (!job->adapts || !job->by_steps || job_is_fraction(job))
		return false;
	return r->compat == COMPAT_SHOCKWAVE || job->adapts->nregimes > 1;
}

static double regimes_cost_s(void *self, const struct action *action)
{
	const struct regimes *r = self;

	(void)action;
	return r->compat == COMPAT_SHOCKWAVE ? 0 : NAN;
}

static struct standing *standing_of(struct regimes *r, const struct job *job)
{
	struct standing *s;

	if (job->id >= r->standing.n)
		vec_grow_zero(&r->standing, (size_t)job->id + 1);
	s = &r->standing.at[job->id];
	if (!(s->tally.work > 0))
		s->tally.work = job->work_est;
	return s;
}

/* Its speed on these devices in a regime. */
static double speed_in(const struct regimes *r, const struct job *job, const struct grant *grant,
	uint32_t regime)
{
	struct job there = *job;

	there.regime = regime;
	return rate(r->truth, &there, grant, NULL, 0);
}

/* ---- changes */

/* Counts in the new regime; a batch at which it cannot run is not turned to. */
static bool turn_to(struct regimes *r, struct standing *s, const struct job *job, uint32_t regime,
	struct stretch *out)
{
	double before, after;

	if (regime == s->regime)
		return false;
	before = speed_in(r, job, job->grant, s->regime);
	after = speed_in(r, job, job->grant, regime);
	if (!(after > 0 && before > 0))
		return false;
	s->tally = adaptation_recount(job->adapts, s->regime, regime, s->tally);
	s->regime = regime;
	out->work = s->tally.work;
	out->regime = regime;
	out->nominal_rate = job->nominal_rate * (after / before);
	return true;
}

/* ---- turns */

static void see_round(struct regimes *r, double now_s, double until_s)
{
	if (r->rounds == 0 || now_s != r->round_s) {
		r->rounds++;
		r->round_s = now_s;
		r->start_s = r->end_s;
		r->end_s = until_s;
	}
	r->end_s = fmax(r->end_s, until_s);
	r->longest_s = fmax(r->longest_s, until_s - now_s);
}

/* A job that was not there in the last round loses time, in full turns. */
static void charge_pause(const struct regimes *r, const struct action *a, struct turn *turn)
{
	if (a->act != ACT_START || r->rounds == 1 || !(turn->ran_s > r->longest_s - SHORT_S))
		return;
	turn->steps = floor(turn->steps * ((turn->ran_s - PAUSE_S) / turn->ran_s));
	turn->ran_s -= PAUSE_S;
}

static struct turn published_turn(struct regimes *r, const struct action *a, double speed)
{
	struct turn turn = { .until_s = a->grant->until_s, .steps = a->grant->steps };

	see_round(r, a->now_s, turn.until_s);
	turn.ran_s = turn.until_s - r->start_s;
	turn.steps = fmin(turn.steps, speed * (turn.until_s - a->now_s) * SLACK);
	charge_pause(r, a, &turn);
	return turn;
}

static struct turn plain_turn(const struct action *a, double speed)
{
	double span_s = fmax(0, a->grant->until_s - a->ready_s);

	return (struct turn){
		.until_s = a->grant->until_s,
		.steps = fmin(a->grant->steps, speed * span_s * SLACK),
		.ran_s = span_s,
	};
}

static bool ends(const struct regimes *r, const struct standing *s, const struct action *a)
{
	double profiled_s;

	if (r->compat != COMPAT_SHOCKWAVE)
		return s->tally.done + s->turn.steps >= s->tally.work;
	if (!(s->turn.steps > 0 || s->turn.ran_s > 0))
		return s->idle_turns + 1 >= IDLE_TURNS_MAX;
	profiled_s = floor(adaptation_run_s(r->truth, a->job, a->grant->type));
	return s->tally.done + s->turn.steps >= s->tally.work ||
		s->ran_s + s->turn.ran_s > floor(profiled_s * OVERTIME);
}

static void begin_turn(struct regimes *r, struct standing *s, const struct action *a,
	struct stretch *out)
{
	double speed = speed_in(r, a->job, a->grant, s->regime);
	double span_s = a->grant->until_s - a->ready_s;

	s->turn = r->compat == COMPAT_SHOCKWAVE ? published_turn(r, a, speed) : plain_turn(a, speed);
	s->turn.steps = fmin(fmax(0, s->turn.steps), fmax(0, s->tally.work - s->tally.done));
	*out = (struct stretch){
		.done = s->tally.done,
		.rate = span_s > 0 ? s->turn.steps / span_s : 0,
		.until_s = a->grant->until_s,
		.last = ends(r, s, a),
	};
}

/* Counts what it did, makes the change that was asked for, and asks for the next. */
static void end_turn(struct regimes *r, struct standing *s, const struct job *job, struct stretch *out)
{
	const struct adaptation *a = job->adapts;
	bool idle = !(s->turn.steps > 0 || s->turn.ran_s > 0);

	s->idle_turns = idle ? s->idle_turns + 1 : 0;
	s->tally.done += s->turn.steps;
	s->ran_s += s->turn.ran_s;
	s->turn = (struct turn){ 0 };
	if (r->compat == COMPAT_SHOCKWAVE) {
		turn_to(r, s, job, s->wanted, out);
		s->wanted = adaptation_turn(a, s->regime,
			adaptation_begun(a, s->regime, s->tally.done));
	} else {
		turn_to(r, s, job,
			adaptation_profiled(a, adaptation_ended(a, s->regime, s->tally.done)), out);
	}
}

/* ---- without turns */

/* Steps behind it where its batch changes next, or all of them. */
static double next_change(const struct adaptation *a, const struct standing *s)
{
	double steps = adaptation_steps(a, s->regime);
	uint32_t epoch = adaptation_ended(a, s->regime, s->tally.done) + 1;

	while (epoch * steps < s->tally.work && adaptation_profiled(a, epoch) == s->regime)
		epoch++;
	return fmin(s->tally.work, epoch * steps);
}

static void begin_stretch(struct regimes *r, struct standing *s, const struct job *job,
	const struct grant *grant, double from_s, struct stretch *out)
{
	double until = next_change(job->adapts, s);

	s->from_s = from_s;
	s->rate = speed_in(r, job, grant, s->regime);
	out->done = s->tally.done;
	out->rate = s->rate;
	out->until_s = from_s + (until - s->tally.done) / s->rate;
	out->last = until >= s->tally.work;
}

static double stretch_done(const struct standing *s, double now_s)
{
	return fmin(s->tally.work, s->tally.done + fmax(0, now_s - s->from_s) * s->rate);
}

/* ---- what the world asks */

static int regimes_begin(void *self, const struct action *a, struct stretch *out, struct err *err)
{
	struct regimes *r = self;
	struct standing *s = standing_of(r, a->job);

	if (!(speed_in(r, a->job, a->grant, s->regime) > 0))
		return err_set(err, ERR_BROKEN, "it cannot run at its batch of %u where it was placed",
			a->job->adapts->regime[s->regime].batch);
	s->tally.done = fmin(a->done, fmax(s->tally.work, s->tally.done));
	if (a->grant->until_s > 0)
		begin_turn(r, s, a, out);
	else
		begin_stretch(r, s, a->job, a->grant, a->ready_s, out);
	return 0;
}

static int regimes_next(void *self, const struct job *job, double now_s, struct stretch *out,
	struct err *err)
{
	struct regimes *r = self;
	struct standing *s = standing_of(r, job);
	const struct adaptation *a = job->adapts;

	(void)err;
	*out = (struct stretch){ .until_s = INFINITY };
	if (s->turn.until_s > 0) {
		end_turn(r, s, job, out); /* it makes no more steps until it gets another */
		out->done = s->tally.done;
		return 0;
	}
	s->tally.done = next_change(a, s);
	if (!turn_to(r, s, job,
		    adaptation_profiled(a, adaptation_ended(a, s->regime, s->tally.done)), out))
		s->tally.done = fmin(s->tally.work, s->tally.done);
	begin_stretch(r, s, job, job->grant, now_s, out);
	return 0;
}

/* A turn that is cut short counts as far as it went. */
static double regimes_stop(void *self, const struct job *job, double now_s)
{
	struct regimes *r = self;
	struct standing *s = standing_of(r, job);

	if (s->turn.until_s > 0) {
		double span_s = s->turn.until_s - job->ready_s;
		double part = span_s > 0 ? fmax(0, now_s - job->ready_s) / span_s : 1;

		s->tally.done += floor(s->turn.steps * fmin(1, part));
		s->ran_s += s->turn.ran_s * fmin(1, part);
		s->turn = (struct turn){ 0 };
	} else if (s->rate > 0) {
		s->tally.done = stretch_done(s, now_s);
	}
	s->rate = 0;
	return s->tally.done;
}

const struct pace regimes_pace = {
	.name = "regimes",
	.leads = regimes_leads,
	.cost_s = regimes_cost_s,
	.begin = regimes_begin,
	.next = regimes_next,
	.stop = regimes_stop,
};
