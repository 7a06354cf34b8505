/*
 * Discretised two-dimensional least attained service (Tiresias).
 *
 * A job's service is GPUs x seconds.  A job that passes a queue's limit drops
 * to the next queue and loses to every job above it.  Inside a queue, jobs that
 * have started go first, by first start, so that equals do not preempt each
 * other in turn.  With order=gittins the history of job sizes ranks them.
 *
 * compat=simulator keeps the published simulator's arithmetic: whole seconds,
 * one queue down per event, and demotion times that subtract seconds from a
 * limit in GPU-seconds.
 *
 * compat=osdi21 is the baseline of Pollux's evaluation: rounds of a minute, two
 * queues of which the second begins at 16 GPU-hours of holding devices, first
 * in first out in each; the first that fit by number run, and whoever starts
 * takes the nodes with most free devices.
 */
#include "policy/kit.h"

#include "policy/order/sizes.h"

enum { QUEUES_MAX = 16 };

enum order { ORDER_STARTED, ORDER_RUNNING, ORDER_ARRIVAL, ORDER_GITTINS };
static const char *const order_names[] = { "started", "running", "arrival", "gittins", NULL };

enum published { PUBLISHED_NONE, PUBLISHED_OWN, PUBLISHED_OSDI21 };
static const char *const published_names[] = { "none", "simulator", "osdi21", NULL };

/* Of the rules of OSDI'21. */
#define OSDI21_ROUND_S 60
#define OSDI21_LIMIT_S 57600

struct tiresias {
	int queues;
	double limit_s;
	double ratio;
	char limits[OPTION_TEXT_MAX];
	double promote;
	int order;
	struct sizes sizes;
	int misfit;
	double round_s;
	int compat;

	double limit[QUEUES_MAX]; /* service at which a job leaves each queue */
	struct ranking ranking;
};

static const struct option options[] = {
	OPT_INT(struct tiresias, queues, 2, 1, QUEUES_MAX, "number of queues"),
	OPT_DOUBLE(struct tiresias, limit_s, 3200, 1e-3, 1e12, "GPU-seconds allowed in the first queue"),
	OPT_DOUBLE(struct tiresias, ratio, 10, 1, 1e6, "factor from one queue's limit to the next"),
	OPT_TEXT(struct tiresias, limits, "",
		"the limits one by one instead, as 3250/7200, which also sets queues"),
	OPT_DOUBLE(struct tiresias, promote, 0, 0, 1e9,
		"promote a job to the first queue after waiting this many times its run time; 0: never"),
	OPT_CHOICE(struct tiresias, order, ORDER_STARTED, order_names, "who goes first inside a queue"),
	SIZES_OPTIONS(struct tiresias, sizes),
	OPT_CHOICE(struct tiresias, misfit, MISFIT_SKIP, misfit_names,
		"what a job that does not fit does to those behind it"),
	OPT_DOUBLE(struct tiresias, round_s, 0, 0, 1e6,
		"seconds between decisions; 0: decide at every event"),
	OPT_CHOICE(struct tiresias, compat, PUBLISHED_NONE, published_names,
		"arithmetic of a published simulator: Tiresias' own, or that of Pollux (osdi21), which sets queues, limit and rounds"),
	{ 0 },
};

/* What the policy remembers of a job. */
struct memory {
	int queue;
	double ran0_s, served0_s; /* totals at its last promotion */
	double waited0_s;         /* waiting that counts for promotion begins here */
	double demoted_s;         /* when it came to its queue */
	bool executed;            /* it ran since then */
};

static struct memory *memory_of(const struct round *round, const struct job *job)
{
	return (struct memory *)round->job_state + job->id;
}

static int read_limits(struct tiresias *t, struct err *err)
{
	struct slice rest = slice_of(t->limits);
	int n = 0;

	while (rest.n > 0) {
		double least = n > 0 ? t->limit[n - 1] : 0;

		if (n == QUEUES_MAX - 1)
			return err_set(err, ERR_USAGE, "limits '%s': there are at most %d",
				t->limits, QUEUES_MAX - 1);
		if (!slice_double(slice_cut(&rest, '/'), &t->limit[n]) || t->limit[n] <= least)
			return err_set(err, ERR_USAGE,
				"limits '%s': give growing GPU-seconds divided by '/', as in limits=3250/7200",
				t->limits);
		n++;
	}
	t->queues = n + 1;
	return 0;
}

static int tiresias_init(void *self, struct err *err)
{
	struct tiresias *t = self;

	t->limit[0] = t->limit_s;
	for (int q = 1; q < t->queues; q++)
		t->limit[q] = t->limit[q - 1] * t->ratio;
	if (*t->limits && read_limits(t, err) < 0)
		return err->code;
	return t->order == ORDER_GITTINS ? sizes_init(&t->sizes, err) : 0;
}

/* Run time and service since the last promotion. */
static double ran_s(const struct round *round, const struct job *job)
{
	return job_ran_s(job, round->now_s) - memory_of(round, job)->ran0_s;
}

static double served_s(const struct round *round, const struct job *job)
{
	return job_served_s(job, round->now_s) - memory_of(round, job)->served0_s;
}

static double waited_s(const struct round *round, const struct job *job)
{
	return job_waited_s(job, round->now_s) - memory_of(round, job)->waited0_s;
}

/* A crossing computed in seconds may fall short of the limit by rounding. */
static bool passed(double value, double limit)
{
	return value >= limit - 1e-9 * limit;
}

static void demote(const struct tiresias *t, const struct round *round, const struct job *job)
{
	struct memory *m = memory_of(round, job);

	while (m->queue < t->queues - 1 && passed(served_s(round, job), t->limit[m->queue])) {
		m->queue++;
		if (t->compat == PUBLISHED_OWN)
			return;
	}
}

/*
 * Whether waiting brings it back to the first queue.  One that is demoted and has waited enough before
 * comes back at once, rather than to lose its devices for a moment.
 */
static bool can_be_promoted(const struct tiresias *t, const struct round *round, const struct job *job)
{
	const struct memory *m = memory_of(round, job);

	return t->promote > 0 && m->queue > 0 && m->executed;
}

static void promote(const struct tiresias *t, const struct round *round, const struct job *job)
{
	struct memory *m = memory_of(round, job);

	if (!can_be_promoted(t, round, job) ||
		!passed(waited_s(round, job), t->promote * ran_s(round, job)))
		return;
	*m = (struct memory){
		.ran0_s = job_ran_s(job, round->now_s),
		.served0_s = job_served_s(job, round->now_s),
	};
}

/* Brings the memory of a job up to now; its key is asked whenever something about it has changed. */
static const struct memory *follow(const struct tiresias *t, const struct round *round,
	const struct job *job)
{
	struct memory *m = memory_of(round, job);

	if (!m->executed && job->attempts > 0 && ran_s(round, job) > 0) {
		m->executed = true;
		m->waited0_s = job_waited_s(job, job->grant ? round->now_s : job->wait_since_s);
	}
	demote(t, round, job);
	promote(t, round, job);
	return m;
}

static bool goes_first(const struct tiresias *t, const struct job *job)
{
	if (t->order == ORDER_STARTED)
		return !isnan(job->start_s);
	return t->order == ORDER_RUNNING && job->grant;
}

static double by_queue(const void *self, const struct round *round, const struct job *job)
{
	return 2 * follow(self, round, job)->queue + !goes_first(self, job);
}

static double in_queue(const void *self, const struct round *round, const struct job *job)
{
	const struct tiresias *t = self;

	if (t->order == ORDER_GITTINS)
		return -sizes_index(&t->sizes, served_s(round, job));
	if (goes_first(t, job))
		return t->order == ORDER_STARTED ? job->start_s : job->held_s;
	return job->arrival_s;
}

/* When a job that runs (or waits) from now on changes queue. */
static double next_queue_s(const void *self, const struct round *round, const struct job *job, bool runs)
{
	const struct tiresias *t = self;
	const struct memory *m = memory_of(round, job);
	double now_s = round->now_s;

	if (runs) {
		double from_s = job->grant ? fmax(now_s, job->ready_s) : now_s;
		double left_s = t->limit[m->queue] - served_s(round, job);

		return m->queue < t->queues - 1 ? from_s + left_s / job_width(job) : INFINITY;
	}
	if (!can_be_promoted(t, round, job))
		return INFINITY;
	return now_s + t->promote * ran_s(round, job) - waited_s(round, job);
}

/* As published: seconds are taken from a limit in GPU-seconds, so gangs are looked at late. */
static void wake_as_published(const struct tiresias *t, const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct memory *m = memory_of(round, job);

		if (!job_active(job) || m->queue >= t->queues - 1)
			continue;
		if (plan_grant(plan, job->id))
			plan_wake(plan,
				round->now_s +
					ceil((t->limit[m->queue] - ran_s(round, job)) / job->gpus));
		else
			plan_wake(plan, next_queue_s(t, round, job, false));
	}
}

/* ---- as in the simulator of Pollux */

static double osdi21_queue(const void *self, const struct round *round, const struct job *job)
{
	struct memory *m = memory_of(round, job);

	(void)self;
	if (m->queue == 0 && job->grant && passed(job_occupied_s(job, round->now_s), OSDI21_LIMIT_S)) {
		m->queue = 1;
		m->demoted_s = round->now_s;
	}
	return m->queue;
}

static double osdi21_in_queue(const void *self, const struct round *round, const struct job *job)
{
	const struct memory *m = memory_of(round, job);

	(void)self;
	return m->queue > 0 ? m->demoted_s : job->arrival_s;
}

static uint32_t devices_up(const struct plan *plan)
{
	uint32_t up = 0;

	for (uint32_t type = 0; type < plan->space.cluster->ntypes; type++)
		up += plan->space.types[type].up;
	return up;
}

/* Stops whoever does not fit, by number; the others are first in `line`.  Returns how many these are. */
static uint32_t osdi21_select(const struct round *round, struct plan *plan, uint32_t *line, uint32_t n)
{
	uint32_t left = devices_up(plan), runs = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &round->jobs[line[i]];

		if ((uint32_t)job->gpus > left) {
			plan_stop(plan, job);
			plan_why(plan, job->id,
				(struct reason){ .why = WHY_BUSY,
					.need = job->gpus,
					.have = (int32_t)left,
					.other = JOB_NONE });
			continue;
		}
		left -= (uint32_t)job->gpus;
		line[runs++] = job->id;
	}
	return runs;
}

static void osdi21_decide(struct tiresias *t, const struct round *round, struct plan *plan)
{
	struct ordering ordering = { .key = osdi21_queue, .tie = osdi21_in_queue };
	uint32_t *line, n = kit_line(&ordering, t, round, &line);

	if (round->now_s <= 0) {
		plan_wake(plan, OSDI21_ROUND_S); /* it decides at the end of rounds only */
		return;
	}
	n = osdi21_select(round, plan, line, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &round->jobs[line[i]];
		double left_s = OSDI21_LIMIT_S - job_occupied_s(job, round->now_s);

		/* The emptiest nodes may lack CPUs or memory for so many of its devices. */
		if (!kit_run_emptiest(round, plan, job, (struct want){ .type = TYPE_ANY }) &&
			!plan_run(plan, job, (struct want){ .type = TYPE_ANY }))
			kit_no_room(round, plan, job);
		else if (memory_of(round, job)->queue == 0)
			plan_wake(plan, round->now_s + left_s / job->gpus);
	}
}

static int tiresias_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct tiresias *t = self;
	struct ordering ordering = {
		.key = by_queue,
		.tie = in_queue,
		.jump_s = next_queue_s,
		.misfit = (enum misfit)t->misfit,
		.preempt = true,
	};

	(void)err;
	if (t->compat == PUBLISHED_OSDI21) {
		osdi21_decide(t, round, plan);
		return 0;
	}
	if (t->order == ORDER_GITTINS)
		sizes_learn(&t->sizes, round);
	if (t->compat == PUBLISHED_NONE && t->order != ORDER_GITTINS) {
		kit_in_order(&t->ranking, &ordering, self, round, plan);
		return 0;
	}
	kit_anew(&ordering, self, round, plan);
	if (t->compat == PUBLISHED_OWN)
		wake_as_published(t, round, plan);
	else
		kit_wake_at_jumps(&ordering, self, round, plan);
	return 0;
}

static double tiresias_period_s(const void *self)
{
	const struct tiresias *t = self;

	return t->compat == PUBLISHED_OSDI21 ? OSDI21_ROUND_S : t->round_s;
}

static enum compat tiresias_compat(const void *self)
{
	const struct tiresias *t = self;

	return t->compat == PUBLISHED_OSDI21 ? COMPAT_OSDI21 : COMPAT_NONE;
}

static void tiresias_fini(void *self)
{
	struct tiresias *t = self;

	ranking_fini(&t->ranking);
	sizes_fini(&t->sizes);
}

const struct policy policy_tiresias = {
	.name = "tiresias",
	.summary = "least attained GPU-time first, in a few queues",
	.origin = "Gu et al., NSDI 2019",
	.family = "order",
	.traits = POLICY_PREEMPTS,
	.options = options,
	.state_size = sizeof(struct tiresias),
	.job_state_size = sizeof(struct memory),
	.carry = policy_carry,
	.init = tiresias_init,
	.fini = tiresias_fini,
	.period_s = tiresias_period_s,
	.compat = tiresias_compat,
	.decide = tiresias_decide,
};
