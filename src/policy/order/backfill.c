/*
 * First come, first served with backfilling: a job may pass those ahead of it
 * if, by believed run times, it delays none that holds a reservation.
 *
 * Both policies walk the queue once over a picture of the future (policy/reservation.h):
 * how many devices of each type are free from when on.  EASY reserves for the first job
 * that does not fit, conservative backfilling for every one.
 */
#include "policy/reservation.h"

struct backfill {
	int reservations;
	double round_s;
};

static const struct option easy_options[] = {
	OPT_INT(struct backfill, reservations, 1, 1, 1000000,
		"jobs at the head of the queue that nobody may delay"),
	OPT_DOUBLE(struct backfill, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	{ 0 },
};

static const struct option conservative_options[] = {
	OPT_INT(struct backfill, reservations, 1000, 1, 1000000,
		"jobs at the head of the queue that nobody may delay; the rest wait behind them"),
	OPT_DOUBLE(struct backfill, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	{ 0 },
};

/* One walk over the queue. */
struct walk {
	const struct round *round;
	struct plan *plan;
	struct outlook outlook; /* not made while everybody so far could start */
	int reservations;       /* left to give */
	uint32_t holder;        /* of the first */
};

static bool enough_free(const struct walk *w, const struct job *job)
{
	for (uint32_t t = 0; t < w->round->cluster->ntypes; t++) {
		if (job_may_use(job, t) && plan_free(w->plan, t) >= job_gpus_on(job, t))
			return true;
	}
	return false;
}

/* Starts the job now if that delays nobody; else reserves for it while reservations are left. */
static void start_or_reserve(struct walk *w, const struct job *job)
{
	double at_s;
	uint32_t type;

	if (!w->outlook.types) {
		if (kit_run(w->round, w->plan, job))
			return;
		outlook_make(&w->outlook, w->round, w->plan, stays_by_belief);
	}
	if (w->reservations == 0 && !enough_free(w, job)) {
		kit_no_room(w->round, w->plan, job);
		return;
	}
	type = outlook_first(&w->outlook, job, &at_s);
	if (type != UINT32_MAX && at_s <= w->round->now_s &&
		plan_run(w->plan, job, (struct want){ .type = (int)type })) {
		outlook_take(&w->outlook, job, type, w->round->now_s);
		return;
	}
	if (type == UINT32_MAX || w->reservations == 0) {
		plan_why(w->plan, job->id,
			(struct reason){ .why = WHY_RESERVED, .need = job->gpus, .other = w->holder });
		return;
	}
	/* Where devices are free but scattered, nobody knows when they will lie together: none are kept for it. */
	if (at_s > w->round->now_s)
		outlook_take(&w->outlook, job, type, at_s);
	w->reservations--;
	if (w->holder == JOB_NONE)
		w->holder = job->id;
	kit_no_room(w->round, w->plan, job);
}

/* Newcomers behind the point where nothing was left to hand out. */
static void explain_newcomers(const struct walk *w)
{
	for (uint32_t i = 0; i < w->round->nchanged; i++) {
		const struct job *job = &w->round->jobs[w->round->changed[i]];

		if (job->state == JOB_PENDING && job->reason.why <= WHY_NEW &&
			!plan_grant(w->plan, job->id))
			kit_no_room(w->round, w->plan, job);
	}
}

static int backfill_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct backfill *b = self;
	struct walk w = {
		.round = round,
		.plan = plan,
		.reservations = b->reservations,
		.holder = JOB_NONE,
	};

	(void)err;
	for (uint32_t i = 0; i < round->nactive && kit_any_free(round, plan); i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job->state == JOB_PENDING)
			start_or_reserve(&w, job);
	}
	explain_newcomers(&w);
	return 0;
}

static double backfill_period_s(const void *self)
{
	return ((const struct backfill *)self)->round_s;
}

const struct policy policy_easy = {
	.name = "easy",
	.summary = "first come, first served; others fill gaps if they do not delay the first",
	.origin = "EASY backfilling: Lifka, JSSPP 1995",
	.family = "order",
	.traits = POLICY_ESTIMATES,
	.options = easy_options,
	.state_size = sizeof(struct backfill),
	.period_s = backfill_period_s,
	.decide = backfill_decide,
};

const struct policy policy_conservative = {
	.name = "conservative",
	.summary = "first come, first served; others fill gaps if they delay nobody ahead of them",
	.origin = "conservative backfilling: Feitelson and Weil, IPPS 1998",
	.family = "order",
	.traits = POLICY_ESTIMATES,
	.options = conservative_options,
	.state_size = sizeof(struct backfill),
	.period_s = backfill_period_s,
	.decide = backfill_decide,
};
