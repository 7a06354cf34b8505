/*
 * Ursa: the pipeline whose turn it is first, and each of its jobs to the node
 * that lacks most of what the job brings.
 *
 * The jobs of a pipeline (a DAG) are Ursa's tasks, nodes its workers, devices,
 * CPUs and memory the resources.  A node's queue is what runs there: of each
 * job the part that falls into the next EPT counts, so that a long job fills the
 * devices it has and not the node.  model/ursa.h has the score.  Pipelines go
 * by their first arrival (ejf) or by what is left of all their jobs, those that
 * wait for others included (srjf); within one, the earlier stage goes first, so
 * that a stage is placed together.  sim/monotasks.h is the world that Ursa was
 * made for, with a queue for each resource.
 */
#include <math.h>
#include <stdlib.h>

#include "model/family.h"
#include "model/ursa.h"
#include "policy/kit.h"
#include "policy/tasks/kin.h"

enum order { ORDER_EJF, ORDER_SRJF };
static const char *const order_names[] = { "ejf", "srjf", NULL };

struct ursa {
	int order;
	double ept_s, interval_s, patience_s;
	bool strict;
};

static const struct option options[] = {
	OPT_CHOICE(struct ursa, order, ORDER_EJF, order_names,
		"which pipeline goes first: ejf: the earliest; srjf: the one with least left"),
	OPT_DOUBLE(struct ursa, ept_s, 60, 1e-3, 1e9, "how far ahead nodes are filled, seconds"),
	OPT_DOUBLE(struct ursa, interval_s, 0, 0, 1e6,
		"seconds between decisions, less than ept_s; 0: at every event"),
	OPT_DOUBLE(struct ursa, patience_s, 86400, 1, 1e12,
		"srjf: after waiting this long a job counts as having half as much left"),
	OPT_BOOL(struct ursa, strict, 0, "a job goes only where everything that it needs is lacking"),
	{ 0 },
};

enum { GPUS, CPUS, MEM };

/* A pipeline or part of one in this decision, and a job that may start. */
struct turn {
	const struct job *job;
	double key;
	uint32_t root, stage;
};

struct scene {
	const struct ursa *ursa;
	const struct round *round;
	struct plan *plan;
	struct kin *kin;
	struct ursa_worker *workers; /* by node */
	double rate[URSA_RESOURCES]; /* of all of them */
};

/* ---- pipelines */

static struct ursa_task task_of(const struct job *job, double seconds, double gpus)
{
	double part = gpus / fmax(1, job->gpus);

	return (struct ursa_task){ .size = {
					   [GPUS] = seconds * gpus,
					   [CPUS] = seconds * part * job->cpus,
					   [MEM] = seconds * part * (double)job->mem_bytes,
				   } };
}

/*
 * The pipeline of a job that is still outside: of the first that it waits for and that has one.  FAMILY_NONE:
 * nothing here is waited for any more, by it or by those before it that are outside, too.
 */
static uint32_t root_outside(const struct family *f, const uint32_t *root, uint32_t i)
{
	for (uint32_t k = f->dag.first_pred[i]; k < f->dag.first_pred[i + 1]; k++)
		if (root[f->dag.preds[k]] != FAMILY_NONE)
			return root[f->dag.preds[k]];
	return FAMILY_NONE;
}

/* By root, what is left of the pipeline in seconds of the whole cluster. */
static double *left_by_root(const struct scene *s)
{
	const struct round *r = s->round;
	double *left = arena_array(r->scratch, double, r->njobs);
	uint32_t *root;
	struct family f;

	family_of(&f, r);
	root = arena_array(r->scratch, uint32_t, f.n);
	for (uint32_t k = 0; k < f.dag.norder; k++) {
		uint32_t i = f.dag.order[k];
		struct ursa_task whole = task_of(f.jobs[i],
			fmax(0, job_remaining_s(f.jobs[i], r->now_s)), f.jobs[i]->gpus);

		root[i] = i < f.nknown ? kin_root(s->kin, f.jobs[i]->id) : root_outside(&f, root, i);
		if (root[i] != FAMILY_NONE)
			left[root[i]] += ursa_remaining(whole.size, s->rate);
	}
	return left;
}

static int by_turn(const void *a_, const void *b_)
{
	const struct turn *a = a_, *b = b_;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	if (a->stage != b->stage)
		return a->stage < b->stage ? -1 : 1;
	return a->job->id < b->job->id ? -1 : a->job->id > b->job->id;
}

/* Each behind what it waits for, which need not have come before it: stages are counted on the way. */
static void link_kin(const struct scene *s)
{
	const struct round *r = s->round;
	struct family f;
	bool all = true;

	for (uint32_t i = 0; i < r->nheld; i++)
		all &= s->kin[r->held[i]].linked;
	for (uint32_t i = 0; i < r->nactive; i++)
		all &= s->kin[r->active[i]].linked;
	if (all)
		return;
	family_of(&f, r);
	for (uint32_t k = 0; k < f.dag.norder; k++) {
		if (f.dag.order[k] < f.nknown)
			kin_link(r, s->kin, f.jobs[f.dag.order[k]]);
	}
}

static uint32_t line_up(const struct scene *s, struct turn **out)
{
	const struct round *r = s->round;
	struct turn *line = arena_array(r->scratch, struct turn, r->nactive);
	double *left;
	uint32_t n = 0;

	link_kin(s);
	left = s->ursa->order == ORDER_SRJF ? left_by_root(s) : NULL;
	for (uint32_t i = 0; i < r->nactive; i++) {
		const struct job *job = &r->jobs[r->active[i]];
		struct turn turn = { .job = job };

		if (job->state != JOB_PENDING)
			continue;
		turn.root = kin_root(s->kin, job->id);
		turn.stage = s->kin[job->id].stage;
		turn.key = r->jobs[turn.root].arrival_s;
		if (left)
			turn.key = left[turn.root] /
				(1 + job_waited_s(job, r->now_s) / s->ursa->patience_s);
		line[n++] = turn;
	}
	qsort(line, n, sizeof(*line), by_turn);
	*out = line;
	return n;
}

/* ---- nodes */

static double ahead_s(const struct scene *s, const struct job *job)
{
	return fmin(s->ursa->ept_s, fmax(1e-3, job_remaining_s(job, s->round->now_s)));
}

static void put_on(struct scene *s, const struct job *job)
{
	const struct grant *grant = plan_grant(s->plan, job->id);

	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		double gpus = __builtin_popcountll(grant->slots[i].devices);
		struct ursa_task task = task_of(job, ahead_s(s, job), gpus);

		ursa_put(&s->workers[grant->slots[i].node], &task);
	}
}

/* What nodes do not say they have of CPUs or memory nobody lacks: it does not count. */
static void count_workers(struct scene *s)
{
	const struct cluster *c = s->round->cluster;

	s->workers = arena_array(s->round->scratch, struct ursa_worker, c->nnodes);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		double *rate = s->workers[i].rate;

		rate[GPUS] = c->nodes[i].devices;
		rate[CPUS] = c->nodes[i].cpus > 0 ? c->nodes[i].cpus : INFINITY;
		rate[MEM] = c->nodes[i].mem_bytes > 0 ? (double)c->nodes[i].mem_bytes : INFINITY;
		for (uint32_t k = 0; k < URSA_RESOURCES; k++)
			s->rate[k] += rate[k];
	}
	for (uint32_t i = 0; i < s->round->nactive; i++)
		if (s->round->jobs[s->round->active[i]].grant)
			put_on(s, &s->round->jobs[s->round->active[i]]);
}

/* The node of a type that lacks most of what the job brings and has room; UINT32_MAX: none. */
static uint32_t best_node(const struct scene *s, const struct job *job, uint32_t type, uint32_t gpus)
{
	const struct space_type *t = &s->plan->space.types[type];
	struct ursa_task task = task_of(job, ahead_s(s, job), gpus);
	uint32_t best = UINT32_MAX;
	double most = 0;

	for (uint32_t k = 0; k < t->nnodes; k++) {
		const struct space_node *node = &s->plan->space.nodes[t->nodes[k]];
		double score;

		if (!node->up || node->nfree < gpus)
			continue;
		score = ursa_score(&s->workers[t->nodes[k]], &task, s->ursa->ept_s, s->ursa->strict);
		if (score > most && space_feeds(&s->plan->space, job, gpus, t->nodes[k], gpus)) {
			most = score;
			best = t->nodes[k];
		}
	}
	return best;
}

/* Gangs that no node has room for, fractions, and jobs with wishes of their own go where the placer likes. */
static bool is_plain(const struct job *job)
{
	return !job_is_fraction(job) && job->nodes <= 1 && !job->navoid;
}

static bool place(struct scene *s, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(s->round, job, types);

	for (uint32_t i = 0; i < n && is_plain(job); i++) {
		uint32_t gpus = job_gpus_on(job, types[i]);
		uint32_t node = best_node(s, job, types[i], gpus);

		if (node != UINT32_MAX &&
			plan_run_at(s->plan, job, &(struct node_share){ node, gpus }, 1,
				(struct want){ 0 }))
			return true;
	}
	return kit_run(s->round, s->plan, job);
}

static int ursa_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct scene s = { .ursa = self, .round = round, .plan = plan, .kin = round->job_state };
	struct turn *line;
	uint32_t n;

	(void)err;
	count_workers(&s);
	n = line_up(&s, &line);
	for (uint32_t i = 0; i < n; i++) {
		if (place(&s, line[i].job))
			put_on(&s, line[i].job);
		else
			kit_no_room(round, plan, line[i].job);
	}
	return 0;
}

static int ursa_init(void *self, struct err *err)
{
	const struct ursa *u = self;

	if (u->interval_s >= u->ept_s)
		return err_set(err, ERR_USAGE,
			"ept_s=%g must be more than interval_s=%g: nodes would run empty between decisions",
			u->ept_s, u->interval_s);
	return 0;
}

static double ursa_period_s(const void *self)
{
	return ((const struct ursa *)self)->interval_s;
}

const struct policy policy_ursa = {
	.name = "ursa",
	.summary = "pipelines in order, each job to the node that lacks most of what it brings",
	.origin = "Jin et al., EuroSys 2020",
	.family = "tasks",
	.traits = POLICY_ESTIMATES | POLICY_AHEAD,
	.options = options,
	.state_size = sizeof(struct ursa),
	.job_state_size = sizeof(struct kin),
	.init = ursa_init,
	.period_s = ursa_period_s,
	.decide = ursa_decide,
};
