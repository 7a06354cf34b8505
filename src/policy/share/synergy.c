/*
 * Synergy: CPUs and memory by what jobs make of them.
 *
 * An order (FIFO, least attained service, …) says who runs: as many jobs as
 * there are devices for.  Among these CPUs and memory are divided anew in every
 * round: a job whose input pipeline needs more than its proportional part of the
 * server gets it from those who need less, and nobody is slower than with
 * the proportional part.  TUNE (policy/share/synergy_place.c) looks for what is
 * best for each job, largest first, and takes back what others have in excess;
 * OPT (synergy_opt.c) is the bound that it is compared with; fair gives
 * everybody the proportional part, greedy lets a job wait that cannot have its best.
 *
 * Jobs stay on their devices from round to round unless keep=0.  compat=synergy
 * follows the published simulator (Mohan et al.): leases of round_s from
 * first_s on, whole iterations, ends at ends of rounds only, everything placed anew
 * device by device in the order of the policy, and the smallest finish-time ratio first.
 */
#include "policy/share/synergy.h"

#include <math.h>
#include <stdlib.h>

enum order { ORDER_FIFO, ORDER_LAS, ORDER_SRTF, ORDER_SRSF, ORDER_FTF, ORDER_TETRIS, ORDER_DRF };

static const char *const order_names[] = { "fifo", "las", "srtf", "srsf", "ftf", "tetris", "drf", NULL };
static const char *const allocate_names[] = { "fair", "greedy", "tune", "opt", NULL };
enum { PUBLISHED_NONE, PUBLISHED_SYNERGY };
static const char *const published_names[] = { "none", "synergy", NULL };

/* Of each job. */
struct memory {
	double speed;  /* relative, as given in the last round; 0: it did not run then */
	double left_s; /* of its best, for the order; set before jobs are put in line */
	struct host_share best;
	double step_s; /* seconds of a step at speed 1 */
};

struct synergy {
	int order, allocate;
	double round_s;
	bool keep, code_split;
	int compat;
	double first_s;

	bool begun;
	double next_s;              /* compat: when the next round begins */
	double total[3];            /* devices, CPUs and memory of all nodes */
	struct sharing sharing;     /* of this round */
	uint32_t at_best, below;    /* jobs of the last round by what they got */
	uint64_t given, given_best; /* the same summed over all rounds */
};

static const struct option options[] = {
	OPT_CHOICE(struct synergy, order, ORDER_FIFO, order_names, "who runs first"),
	OPT_CHOICE(struct synergy, allocate, ALLOCATE_TUNE, allocate_names,
		"how CPUs and memory are divided"),
	OPT_DOUBLE(struct synergy, round_s, 300, 1, 1e6, "seconds between decisions"),
	OPT_BOOL(struct synergy, keep, 1, "jobs that go on stay where they are"),
	OPT_BOOL(struct synergy, code_split, 0,
		"put gangs device by device, split or not, as the published code does"),
	OPT_CHOICE(struct synergy, compat, PUBLISHED_NONE, published_names,
		"follow the rules of the published simulator"),
	OPT_DOUBLE(struct synergy, first_s, 0, 0, 1e12,
		"compat: when the first round begins; 0: at the first multiple of round_s with a job"),
	{ 0 },
};

static bool published(const struct synergy *y)
{
	return y->compat == PUBLISHED_SYNERGY;
}

static struct memory *memory_of(const struct round *round, uint32_t job)
{
	return (struct memory *)round->job_state + job;
}

/* ---- order */

static double left_s(const struct synergy *y, const struct round *round, const struct job *job)
{
	const struct memory *m = memory_of(round, job->id);
	double steps = job->work_est - job_done(job, round->now_s);

	(void)y;
	return m->step_s * fmax(0, steps) / m->left_s;
}

/* Part of the cluster that its best takes, by resource: summed, or the greatest. */
static double size_of(const struct synergy *y, const struct round *round, const struct job *job,
	bool sum)
{
	const struct memory *m = memory_of(round, job->id);
	double parts[3] = { job->gpus, m->best.cpus * job->gpus, m->best.mem_bytes * job->gpus };
	double all = 0;

	for (int i = 0; i < 3; i++) {
		double part = y->total[i] > 0 ? parts[i] / y->total[i] : 0;

		all = sum ? all + part : fmax(all, part);
	}
	return all;
}

static double finish_ratio(const struct synergy *y, const struct round *round, const struct job *job)
{
	double alone_s = memory_of(round, job->id)->step_s * job->work_est;
	double ratio = (round->now_s - job->arrival_s + left_s(y, round, job)) / fmax(alone_s, 1e-9);

	/* The published code runs the smallest first, which serves long jobs; whoever does worst should. */
	return published(y) ? ratio : -ratio;
}

static double by_order(const void *self, const struct round *round, const struct job *job)
{
	const struct synergy *y = self;

	switch ((enum order)y->order) {
	case ORDER_LAS:
		return job_served_s(job, round->now_s);
	case ORDER_SRTF:
		return left_s(y, round, job);
	case ORDER_SRSF:
		return left_s(y, round, job) * job->gpus;
	case ORDER_FTF:
		return finish_ratio(y, round, job);
	case ORDER_TETRIS:
		return left_s(y, round, job) * size_of(y, round, job, true);
	case ORDER_DRF:
		return size_of(y, round, job, false);
	case ORDER_FIFO:
		break;
	}
	return job->arrival_s;
}

/* ---- who runs */

/* The type it should run on: its present one if jobs stay, else the fastest, while there are devices left. */
static bool pick_type(const struct synergy *y, const struct round *round, const struct job *job,
	const double *left, uint32_t *out)
{
	uint32_t types[TYPES_MAX], n = kit_types(round, job, types);

	if (y->keep && job->grant && left[job->grant->type] >= job->grant->gpus) {
		*out = job->grant->type;
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (left[types[i]] >=
			job_gpus_on(job, types[i]) * (job_is_fraction(job) ? job->share : 1)) {
			*out = types[i];
			return true;
		}
	}
	return false;
}

static void fill_need(struct sharing *s, struct need *need, const struct job *job, uint32_t type)
{
	*need = (struct need){ .job = job, .type = type, .gpus = job_gpus_on(job, type) };
	need->table = rates_host_table(s->round->belief, job, need->gpus);
	need_demand(need, s);
}

/* What the order needs to know of every job: how fast it is at best (or was, as published), and a step. */
static void learn(struct synergy *y, struct sharing *s)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		struct memory *m = memory_of(s->round, job->id);
		uint32_t types[TYPES_MAX];
		struct need need;
		double fair, rate_s;

		if (!job_active(job))
			continue;
		fill_need(s, &need, job, kit_types(s->round, job, types) ? types[0] : 0);
		fair = need_speed(&need, s->fair[need.type]);
		rate_s = rate_if(s->round->belief, job, need.type, need.gpus);
		m->step_s = rate_s > 0 ? fair / rate_s : 1;
		if (job->by_steps && need.table && need.table->step_s > 0)
			m->step_s = need.table->step_s;
		m->best = need.best;
		m->left_s = published(y) && m->speed > 0 ? m->speed : need_speed(&need, need.best);
	}
}

static bool takes_part(const struct job *job)
{
	return !job_is_fraction(job) && !job->nodes && !job->units;
}

/* The first of the line as far as devices go become needs; the others are named in `out`, in order. */
static uint32_t choose(struct synergy *y, struct sharing *s, const uint32_t *line, uint32_t n,
	uint32_t *out)
{
	double left[TYPES_MAX] = { 0 };
	uint32_t others = 0, type = 0;

	for (uint32_t t = 0; t < s->round->cluster->ntypes; t++)
		left[t] = s->plan->space.types[t].up;
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &s->round->jobs[line[i]];

		if (!pick_type(y, s->round, job, left, &type)) {
			out[others++] = job->id;
			continue;
		}
		left[type] -= job_gpus_on(job, type) * (job_is_fraction(job) ? job->share : 1);
		if (!takes_part(job)) { /* the placer knows what to do with it, in its turn */
			out[others++] = job->id;
			continue;
		}
		fill_need(s, &s->needs[s->n], job, type);
		s->needs[s->n].rank = i;
		s->of_job[job->id] = &s->needs[s->n];
		s->n++;
	}
	return others;
}

/* ---- a round */

static int by_demand(const void *a, const void *b)
{
	const struct need *x = *(struct need *const *)a, *y = *(struct need *const *)b;

	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	if (x->best.cpus * x->gpus != y->best.cpus * y->gpus)
		return x->best.cpus * x->gpus > y->best.cpus * y->gpus ? -1 : 1;
	if (x->best.mem_bytes != y->best.mem_bytes)
		return x->best.mem_bytes > y->best.mem_bytes ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* As published only least attained service sorts, by devices. */
static int by_devices(const void *a, const void *b)
{
	const struct need *x = *(struct need *const *)a, *y = *(struct need *const *)b;

	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static struct need **sort_needs(const struct synergy *y, struct sharing *s)
{
	struct need **sorted = arena_array(s->round->scratch, struct need *, s->n + 1);

	for (uint32_t i = 0; i < s->n; i++)
		sorted[i] = &s->needs[i];
	if (!published(y) && y->allocate != ALLOCATE_GREEDY)
		qsort(sorted, s->n, sizeof(*sorted), by_demand);
	else if (published(y) && y->order == ORDER_LAS && y->allocate == ALLOCATE_TUNE)
		qsort(sorted, s->n, sizeof(*sorted), by_devices);
	return sorted;
}

static void place_all(struct synergy *y, struct sharing *s)
{
	struct need **sorted = sort_needs(y, s);

	for (uint32_t i = 0; y->keep && i < s->n; i++)
		sharing_keep(s, sorted[i]);
	if (!y->keep && y->allocate == ALLOCATE_OPT)
		sharing_spread(s);
	for (uint32_t i = 0; i < s->n; i++) {
		if (!plan_grant(s->plan, sorted[i]->job->id))
			sharing_place(s, sorted[i]);
		else if (y->keep)
			sharing_raise(s, sorted[i]);
	}
}

/* Those that were not chosen, or found no place, in order: what is left is theirs. */
static void place_others(struct sharing *s, const uint32_t *others, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &s->round->jobs[others[i]];
		uint32_t types[TYPES_MAX], ntypes = kit_types(s->round, job, types);
		bool runs = !takes_part(job) && kit_run(s->round, s->plan, job);

		for (uint32_t t = 0; takes_part(job) && !runs && t < ntypes; t++) {
			if (plan_free(s->plan, types[t]) < job_gpus_on(job, types[t]))
				continue;
			fill_need(s, &s->needs[s->n], job, types[t]);
			s->of_job[job->id] = &s->needs[s->n++];
			runs = sharing_place(s, s->of_job[job->id]);
			s->n -= !runs;
			s->of_job[job->id] = runs ? s->of_job[job->id] : NULL;
		}
	}
}

/* Whoever runs got its best or less; whoever does not is told why. */
static void conclude(struct synergy *y, struct sharing *s, const uint32_t *line, uint32_t n)
{
	const struct job *last = NULL;

	y->at_best = y->below = 0;
	for (uint32_t i = 0; i < n; i++)
		memory_of(s->round, line[i])->speed = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct grant *grant = plan_grant(s->plan, s->needs[i].job->id);
		struct host_share has;
		double speed;

		if (!grant)
			continue;
		has = (struct host_share){ grant->cpus / grant->gpus,
			(double)grant->mem_bytes / grant->gpus };
		speed = need_speed(&s->needs[i], has);
		memory_of(s->round, s->needs[i].job->id)->speed = speed;
		/* By speed: what was asked for may be less than the best, as it is where all have the same. */
		if (speed >= need_speed(&s->needs[i], s->needs[i].most) - 1e-9)
			y->at_best++;
		else
			y->below++;
	}
	y->given += y->at_best + y->below;
	y->given_best += y->at_best;
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &s->round->jobs[line[i]];

		if (plan_grant(s->plan, job->id))
			last = job;
		else if (job->grant && last)
			kit_outranked(s->plan, job, last);
		else
			kit_no_room(s->round, s->plan, job);
	}
}

static void sharing_begin(struct synergy *y, const struct round *round, struct plan *plan)
{
	struct sharing *s = &y->sharing;

	*s = (struct sharing){
		.round = round,
		.plan = plan,
		.allocate = (enum synergy_allocate)y->allocate,
		.code_split = y->code_split || published(y),
		.turns = published(y),
		.round_s = y->round_s,
		.needs = arena_array(round->scratch, struct need, round->nactive + 1),
		.of_job = arena_array(round->scratch, struct need *, round->njobs + 1),
		.where = arena_array(round->scratch, struct node_share, round->cluster->nnodes + 1),
	};
	memset(y->total, 0, sizeof(y->total));
	sharing_measure(s);
	for (uint32_t i = 0; i < round->cluster->nnodes; i++) {
		y->total[0] += round->cluster->nodes[i].devices;
		y->total[1] += round->cluster->nodes[i].cpus;
		y->total[2] += (double)round->cluster->nodes[i].mem_bytes;
	}
}

static void run_round(struct synergy *y, const struct round *round, struct plan *plan)
{
	struct ordering ordering = { .key = by_order };
	struct sharing *s = &y->sharing;
	uint32_t *line, *others, n, nothers;

	sharing_begin(y, round, plan);
	learn(y, s);
	n = kit_line(&ordering, y, round, &line);
	others = arena_array(round->scratch, uint32_t, n + 1);
	nothers = choose(y, s, line, n, others);
	if (y->allocate == ALLOCATE_OPT)
		sharing_optimise(s);
	plan_clear(plan, round->jobs, round->active, round->nactive);
	place_all(y, s);
	if (!published(y) || y->order != ORDER_LAS)
		place_others(s, others, nothers);
	conclude(y, s, line, n);
}

/* ---- rounds */

/* As published: at first_s, or the first multiple with a job, and every round_s from there. */
static bool round_is_due(struct synergy *y, const struct round *round)
{
	if (!y->begun) {
		y->begun = true;
		y->next_s = y->first_s > 0 ? y->first_s : ceil(round->now_s / y->round_s) * y->round_s;
	}
	while (round->nactive > 0 && y->next_s + y->round_s <= round->now_s)
		y->next_s += y->round_s; /* nobody was there */
	return round->now_s >= y->next_s;
}

static void wait_for_round(const struct synergy *y, const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id))
			plan_why(plan, job->id,
				(struct reason){ .why = WHY_ROUND, .other = JOB_NONE, .at_s = y->next_s });
	}
}

static bool anybody(const struct round *round)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			return true;
	}
	return false;
}

static int synergy_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct synergy *y = self;

	(void)err;
	if (!published(y)) {
		run_round(y, round, plan);
		kit_wake_while_waiting(round, plan);
		return 0;
	}
	if (!anybody(round))
		return 0;
	if (round_is_due(y, round)) {
		run_round(y, round, plan);
		y->next_s += y->round_s;
	} else {
		wait_for_round(y, round, plan);
	}
	plan_wake(plan, y->next_s);
	return 0;
}

static int synergy_init(void *self, struct err *err)
{
	struct synergy *y = self;

	(void)err;
	if (published(y))
		y->keep = false;
	return 0;
}

static double synergy_period_s(const void *self)
{
	const struct synergy *y = self;

	return published(y) ? 0 : y->round_s;
}

static uint32_t synergy_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct synergy *y = self;

	out[0] = (struct figure){ .name = "best_share",
		.value = y->given ? (double)y->given_best / (double)y->given : 0 };
	return 1;
}

const struct policy policy_synergy = {
	.name = "synergy",
	.summary = "CPUs and memory go to jobs that gain by them, nobody below the proportional part",
	.origin = "Mohan et al., OSDI 2022",
	.family = "share",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct synergy),
	.job_state_size = sizeof(struct memory),
	.init = synergy_init,
	.period_s = synergy_period_s,
	.figures = synergy_figures,
	.decide = synergy_decide,
};
