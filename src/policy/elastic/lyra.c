/*
 * Lyra: idle inference servers borrowed for training, and elastic jobs that
 * make use of them.
 *
 * First, jobs that are not elastic and the base (fewest devices) of those that
 * are, the shortest first; what runs keeps its base, what does not fit is
 * passed.  Then the devices that are left go to flexible workers, those beyond
 * the base: a knapsack in which every job has one item for each number of
 * them, worth the seconds it is over sooner.  On several types each job has its
 * lane (lanes.h).
 *
 * Base workers are put on nodes that stay, flexible ones on nodes on loan, so
 * that a node that is called back costs a smaller job and not a preempted one.
 * Back go nodes that are idle, then those with flexible workers only, then
 * those whose jobs are fewest, each counted in part if it is on several nodes.
 */
#include <math.h>
#include <stdlib.h>

#include "model/elastic.h"
#include "policy/elastic/lanes.h"
#include "policy/elastic/lyra_place.h"
#include "policy/elastic/rations.h"
#include "policy/kit.h"
#include "solver/knapsack.h"

enum {
	ITEMS_MAX = 64,      /* sizes of a job that are weighed */
	CELLS_MAX = 4000000, /* of the knapsack's table: beyond, devices are counted in larger units */
};

struct lyra {
	bool elastic, costs;
	uint32_t returned, shrunk; /* nodes given back, of these without preempting anybody */
};

static const struct option options[] = {
	OPT_BOOL(struct lyra, elastic, 1, "give elastic jobs more than the fewest devices they take"),
	OPT_BOOL(struct lyra, costs, 1, "count what a change of size costs against what it brings"),
	{ 0 },
};

/* A job that runs or shall run. */
struct entrant {
	const struct job *job;
	uint32_t lane; /* the type it is to be on if there is room; TYPES_MAX: any */
	uint32_t type, base, extra;
	double run_s; /* believed, on its base */
	bool taken;
};

struct entry {
	const struct lyra *lyra;
	const struct round *round;
	struct plan *plan;
	struct entrant *at;
	uint32_t n;
	uint32_t room[TYPES_MAX];
};

static double run_s(const struct entry *e, const struct job *job, uint32_t type, uint32_t gpus)
{
	double left = fmax(0, job->work_est - job_done(job, e->round->now_s));
	double speed = elastic_speed(e->round->belief, job,
		configuration_packed(e->round->cluster, type, gpus), BATCHING_FIXED, NULL);

	if (isnan(job->work_est) || !(speed > 0))
		return INFINITY;
	return left / speed;
}

/* ---- the first phase */

/* Devices of a type on nodes that stay. */
static uint32_t home_devices(const struct entry *e, uint32_t type)
{
	const struct space_type *t = &e->plan->space.types[type];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nnodes; i++)
		n += node_is_home(e->round, t->nodes[i]) ? e->round->cluster->nodes[t->nodes[i]].devices
							 : 0;
	return n;
}

static bool fits_on(const struct entry *e, struct entrant *x, uint32_t type)
{
	uint32_t least = job_least_on(x->job, type);

	if (least > e->room[type])
		return false;
	x->type = type;
	x->base = least;
	return true;
}

/* Its lane, or the fastest type with room, those with nodes that stay first.  False: none has. */
static bool find_type(const struct entry *e, struct entrant *x, const uint32_t *home)
{
	uint32_t types[TYPES_MAX], n = kit_types(e->round, x->job, types);

	if (x->lane != TYPES_MAX && fits_on(e, x, x->lane))
		return true;
	for (int borrowed = 0; borrowed < 2; borrowed++) {
		for (uint32_t i = 0; i < n; i++) {
			if ((home[types[i]] == 0) == borrowed && fits_on(e, x, types[i]))
				return true;
		}
	}
	return false;
}

static int by_length(const void *a, const void *b)
{
	const struct entrant *x = *(struct entrant *const *)a, *y = *(struct entrant *const *)b;

	if (x->run_s != y->run_s)
		return x->run_s < y->run_s ? -1 : 1;
	return x->job->id < y->job->id ? -1 : x->job->id > y->job->id;
}

/* Its time on its base where it is fastest. */
static double shortest_s(const struct entry *e, const struct job *job)
{
	double best = INFINITY;

	for (uint32_t type = 0; type < e->round->cluster->ntypes; type++) {
		if (job_may_use(job, type))
			best = fmin(best, run_s(e, job, type, job_least_on(job, type)));
	}
	return best;
}

static void enter_all(struct entry *e)
{
	for (uint32_t i = 0; i < e->round->nactive; i++) {
		const struct job *job = &e->round->jobs[e->round->active[i]];
		struct entrant *x = &e->at[e->n];

		if (!job_active(job))
			continue;
		e->n++;
		x->job = job;
		x->lane = job->grant ? job->grant->type : TYPES_MAX;
	}
}

/* A gang that waits is better off where no node is called back; elastic jobs lose least by that. */
static bool shuns(const struct entrant *x, const uint32_t *home)
{
	return !x->job->grant && x->lane != TYPES_MAX && home[x->lane] == 0 &&
		job_least_on(x->job, x->lane) == job_most_on(x->job, x->lane);
}

static void find_lanes(struct entry *e, const uint32_t *home)
{
	struct lanes lanes = { .round = e->round, .room = e->room, .most = rations_known };
	const struct job **jobs = arena_array(e->round->scratch, const struct job *, e->n);
	uint32_t *types = arena_array(e->round->scratch, uint32_t, e->n);

	for (uint32_t i = 0; i < e->n; i++) {
		jobs[i] = e->at[i].job;
		types[i] = e->at[i].lane;
	}
	lanes_choose(&lanes, jobs, e->n, types);
	for (uint32_t i = 0; i < e->n; i++) {
		e->at[i].lane = types[i];
		if (shuns(&e->at[i], home))
			e->at[i].lane = TYPES_MAX;
	}
}

/* Whoever runs keeps its base; the others are lined up.  Returns how many. */
static uint32_t keep_bases(struct entry *e, struct entrant **queue)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		struct entrant *x = &e->at[i];

		if (!x->job->grant) {
			x->run_s = shortest_s(e, x->job);
			queue[n++] = x;
			continue;
		}
		x->taken = true;
		x->type = x->lane != TYPES_MAX ? x->lane : x->job->grant->type;
		x->base = job_least_on(x->job, x->type);
		e->room[x->type] -= e->room[x->type] < x->base ? e->room[x->type] : x->base;
	}
	return n;
}

static void take_bases(struct entry *e)
{
	struct entrant **queue = arena_array(e->round->scratch, struct entrant *, e->n);
	uint32_t home[TYPES_MAX], n;

	for (uint32_t type = 0; type < e->round->cluster->ntypes; type++)
		home[type] = home_devices(e, type);
	if (e->round->cluster->ntypes > 1)
		find_lanes(e, home);
	n = keep_bases(e, queue);
	qsort(queue, n, sizeof(*queue), by_length);
	for (uint32_t i = 0; i < n; i++) {
		if (!find_type(e, queue[i], home))
			continue;
		queue[i]->taken = true;
		e->room[queue[i]->type] -= queue[i]->base;
	}
}

/* ---- the second phase */

/* Flexible workers that it has now; UINT32_MAX: it does not run there. */
static uint32_t extra_now(const struct entrant *x)
{
	if (!x->job->grant || x->job->grant->type != x->type)
		return UINT32_MAX;
	return x->job->grant->gpus > x->base ? x->job->grant->gpus - x->base : 0;
}

/*
 * What `extra` workers are worth against none: seconds saved; whoever would have to be resized for none as
 * well saves that too if it stays as it is.
 */
static double worth(const struct entry *e, const struct entrant *x, uint32_t extra)
{
	double gain = run_s(e, x->job, x->type, x->base) - run_s(e, x->job, x->type, x->base + extra);
	double cost_s = e->lyra->costs ? elastic_resize_s(e->round->belief, x->job) : 0;
	uint32_t now = extra_now(x);

	if (isnan(gain))
		return 0;
	if (now == UINT32_MAX)
		return gain;
	if (now == 0)
		return gain - cost_s;
	return extra == now ? gain + cost_s : gain;
}

/* Flexible workers of an item: all sizes where there are few, else some in equal steps, and the most in any case. */
static uint32_t extra_of_item(const struct entry *e, const struct entrant *x, uint32_t item)
{
	uint32_t span = rations_known(NULL, e->round, x->job, x->type) - x->base,
		 step = (span + ITEMS_MAX - 1) / ITEMS_MAX;
	uint32_t extra = (item + 1) * (step < 1 ? 1 : step);

	return extra < span ? extra : span;
}

/* Items of one job, in units of devices; returns how many. */
static uint32_t list_items(const struct entry *e, const struct entrant *x, uint32_t unit,
	struct knapsack_item *items)
{
	for (uint32_t n = 0; n < ITEMS_MAX; n++) {
		uint32_t k = extra_of_item(e, x, n);

		if (k > e->room[x->type] || (n > 0 && k == extra_of_item(e, x, n - 1)))
			return n;
		items[n] = (struct knapsack_item){ (k + unit - 1) / unit, worth(e, x, k) };
	}
	return ITEMS_MAX;
}

static void share_type(struct entry *e, uint32_t type)
{
	struct arena *scratch = e->round->scratch;
	struct knapsack_group *groups = arena_array(scratch, struct knapsack_group, e->n);
	struct entrant **who = arena_array(scratch, struct entrant *, e->n);
	uint32_t *chosen = arena_array(scratch, uint32_t, e->n);
	uint64_t n = 0, unit;

	for (uint32_t i = 0; i < e->n; i++) {
		if (e->at[i].taken && e->at[i].type == type &&
			rations_known(NULL, e->round, e->at[i].job, type) > e->at[i].base)
			who[n++] = &e->at[i];
	}
	unit = 1 + n * e->room[type] / CELLS_MAX;
	for (uint32_t i = 0; i < n; i++) {
		struct knapsack_item *items = arena_array(scratch, struct knapsack_item, ITEMS_MAX);

		groups[i].n = list_items(e, who[i], (uint32_t)unit, items);
		groups[i].items = items;
	}
	knapsack_solve(groups, (uint32_t)n, e->room[type] / (uint32_t)unit, scratch, chosen);
	for (uint32_t i = 0; i < n; i++) {
		if (chosen[i] != KNAPSACK_NONE)
			who[i]->extra = extra_of_item(e, who[i], chosen[i]);
	}
}

/* ---- */

static int lyra_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct entry e = { .lyra = self, .round = round, .plan = plan };
	struct portion *portions = arena_array(round->scratch, struct portion, round->nactive);
	uint32_t *base = arena_array(round->scratch, uint32_t, round->nactive);

	(void)err;
	e.at = arena_array(round->scratch, struct entrant, round->nactive);
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		e.room[type] = round->up[type];
	enter_all(&e);
	take_bases(&e);
	for (uint32_t type = 0; type < round->cluster->ntypes && e.lyra->elastic; type++) {
		if (e.room[type] > 0)
			share_type(&e, type);
	}
	for (uint32_t i = 0; i < e.n; i++) {
		portions[i] = (struct portion){ .job = e.at[i].job,
			.type = e.at[i].type,
			.gpus = e.at[i].taken ? e.at[i].base + e.at[i].extra : 0 };
		base[i] = e.at[i].base;
	}
	portions_calm(round, plan, portions, e.n, e.lyra->costs);
	lyra_place(round, plan, portions, base, e.n);
	portions_run(round, plan, portions, e.n);
	return 0;
}

static void lyra_recall(void *self, const struct round *round, uint32_t n, uint32_t *nodes)
{
	struct lyra *lyra = self;

	lyra->returned += n;
	lyra->shrunk += lyra_choose_returns(round, n, nodes);
}

static uint32_t lyra_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct lyra *lyra = self;

	out[0] = (struct figure){ "nodes_returned", lyra->returned };
	out[1] = (struct figure){ "without_preempting", lyra->shrunk };
	return 2;
}

const struct policy policy_lyra = {
	.name = "lyra",
	.summary = "shortest base first, flexible workers by a knapsack, borrowed nodes given back with least harm",
	.origin = "Li et al., EuroSys 2023",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES, /* stops jobs only to move them to another type */
	.options = options,
	.uses = USES_RANGE,
	.state_size = sizeof(struct lyra),
	.figures = lyra_figures,
	.recall = lyra_recall,
	.decide = lyra_decide,
};
