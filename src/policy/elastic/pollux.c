/*
 * Pollux: devices and batch sizes together, for the most goodput of the
 * cluster with fairness built into the mean that is used.
 *
 * A job's speedup is its goodput on what it gets over that on its fair share
 * of the cluster.  The fitness of an allocation is a power mean of speedups
 * (p = -1: who has little counts most); jobs that would have to be restarted
 * for it count less, the more so the younger they are and the more often they
 * were.  Every round a genetic search (pollux_search.h) goes on from the
 * allocations that were best in the round before.  Jobs choose their batch
 * themselves (BATCH_TUNED), and nobody gets more than twice what it ever had.
 *
 * compat=osdi21 follows the published simulator: its scaling of speedups, its
 * limits, always all generations, and nothing that is not its own.  Else
 * a first start is not counted as a restart, the search ends when it finds
 * nothing better for a while, it is not made where nothing has changed, and
 * devices that it left idle go to jobs that it left out.
 *
 * Growing and shrinking the cluster itself is not part of this.
 */
#include <math.h>

#include "base/hash.h"
#include "base/vec.h"
#include "model/agents.h"
#include "model/elastic.h"
#include "model/training.h"
#include "policy/elastic/growth.h"
#include "policy/elastic/pollux_search.h"
#include "policy/kit.h"

enum fair { FAIR_SHARE, FAIR_ONE };
enum published { PUBLISHED_NONE, PUBLISHED_OSDI21 };

static const char *const fair_names[] = { "share", "one", NULL };
static const char *const objective_names[] = { "power", "sum", NULL };
static const char *const published_names[] = { "none", "osdi21", NULL };

enum {
	OSDI21_GPUS_MAX = 64,
	OSDI21_NODES_MAX = 16,
};

struct pollux {
	double round_s, p, restart_s, growth;
	int population, generations, patience, most_jobs;
	int fair, objective, compat;
	bool avoid, types;

	struct genetic genetic;
	/* the best allocations of the last round, and what their rows and columns were */
	VEC(uint32_t) jobs;
	VEC(uint32_t) nodes;
	VEC(uint64_t) front;
	uint32_t nfront;
	uint64_t seen, knew; /* who there was after the last decision, and what was known of them */
	double again_s;      /* then they are older, and a restart costs them less */
	double searches, generations_made;
};

/* GPU-seconds that it held devices, making steps or not. */
struct memory {
	double held_gpu_s, until_s;
	uint32_t gpus;
};

static const struct option options[] = {
	OPT_DOUBLE(struct pollux, round_s, 60, 1e-3, 1e6, "seconds between decisions"),
	OPT_DOUBLE(struct pollux, p, -1, -20, 1,
		"power of the mean of speedups: 1 counts all alike, less is fairer"),
	OPT_DOUBLE(struct pollux, restart_s, 30, 0, 1e6,
		"what a restart is believed to cost; 0: what is believed of each job"),
	OPT_DOUBLE(struct pollux, growth, 2, 0, 1e6,
		"largest growth in one step, as a factor (1 or more) of the most devices the job ever had; 0: no limit"),
	OPT_INT(struct pollux, population, 100, 4, 100000, "allocations that are kept in a search"),
	OPT_INT(struct pollux, generations, 100, 1, 1000000, "generations of a search"),
	OPT_INT(struct pollux, patience, 10, 0, 1000000,
		"end the search after this many generations without improvement; 0: never"),
	OPT_INT(struct pollux, most_jobs, 1024, 1, 60000,
		"search with no more jobs than this, those with the least service; others keep what they have"),
	OPT_CHOICE(struct pollux, fair, FAIR_SHARE, fair_names,
		"speedups are relative to an equal share of the cluster, or to one device"),
	OPT_CHOICE(struct pollux, objective, POLLUX_POWER, objective_names,
		"the power mean of speedups, or their sum with a tenth off for a restart"),
	OPT_BOOL(struct pollux, avoid, 1, "no two jobs that span nodes share one"),
	OPT_BOOL(struct pollux, types, 1,
		"tell types apart; else what a job shows on one counts for all, as for Pollux among others in Sia's paper"),
	OPT_CHOICE(struct pollux, compat, PUBLISHED_NONE, published_names,
		"follow the published simulator"),
	{ 0 },
};

/* ---- a decision under way */

struct row {
	const struct job *job;
	double attained; /* GPU-seconds */
	double fair_gpus, fair_speed;
	bool measured, runs;
	uint32_t part;
	uint32_t batch; /* to be wanted */
};

struct scheme {
	struct pollux *pollux;
	const struct round *round;
	struct plan *plan;
	struct row *rows;         /* those of the search first */
	uint32_t outside;         /* rows behind them, who are not part of it */
	uint32_t *nodes, *column; /* by column; by node: 1 + its column */
	uint32_t *least, *most, *unit, *may_use;
	bool units; /* of somebody are more than one device */
	struct pollux_search search;
	double devices;
};

static bool is_published(const struct scheme *s)
{
	return s->pollux->compat == PUBLISHED_OSDI21;
}

/* ---- rows */

/* What it held since the last time it was asked; grants change at decisions only. */
static double attained(const struct round *round, const struct job *job)
{
	struct memory *memory = (struct memory *)round->job_state + job->id;

	memory->held_gpu_s += memory->gpus * (round->now_s - memory->until_s);
	memory->until_s = round->now_s;
	memory->gpus = job->grant ? job->grant->gpus : 0;
	return memory->held_gpu_s;
}

static int by_service(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->attained != y->attained)
		return x->attained < y->attained ? -1 : 1;
	if (x->job->arrival_s != y->job->arrival_s)
		return x->job->arrival_s < y->job->arrival_s ? -1 : 1;
	return x->job->id < y->job->id ? -1 : x->job->id > y->job->id;
}

static void leave_out(struct scheme *s, const struct job *job, enum why why, uint32_t need, uint32_t have)
{
	plan_why(s->plan, job->id,
		(struct reason){
			.why = why,
			.need = (int32_t)need,
			.have = (int32_t)have,
			.other = JOB_NONE,
		});
}

/*
 * Who is searched for, first: all who wait, and all who run, if they are not too many.  Else those with the
 * least service of both, half and half where there are enough.  Fractions share devices, which a matrix of
 * whole ones cannot say.
 */
static int by_part(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->part != y->part ? (x->part < y->part ? -1 : 1) : by_service(a, b);
}

enum { PART_WAITS, PART_RUNS, PART_OUTSIDE };

static uint32_t count_part(const struct scheme *s, uint32_t n, uint32_t part)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += s->rows[i].part == part;
	return count;
}

/* Too many of a part are outside; rows are in order of parts. */
static void limit_parts(struct scheme *s, uint32_t n, uint32_t most)
{
	uint32_t waits = count_part(s, n, PART_WAITS), runs = count_part(s, n, PART_RUNS);
	uint32_t less_wait, less_run;

	if (waits + runs <= most)
		return;
	less_wait = most / 2 > most - (runs < most ? runs : most) ? most / 2 : most - runs;
	if (less_wait > waits)
		less_wait = waits;
	less_run = most - less_wait;
	for (uint32_t i = less_wait; i < waits; i++)
		s->rows[i].part = PART_OUTSIDE;
	for (uint32_t i = less_run; i < runs; i++)
		s->rows[waits + i].part = PART_OUTSIDE;
}

static void gather_rows(struct scheme *s)
{
	const struct round *round = s->round;
	uint32_t n = 0;

	s->rows = arena_array(round->scratch, struct row, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job))
			continue;
		s->rows[n++] = (struct row){
			.job = job,
			.attained = attained(round, job),
			.runs = job->grant != NULL,
			.part = job_is_fraction(job) && !is_published(s) ? PART_OUTSIDE
				: job->grant                             ? PART_RUNS
									 : PART_WAITS,
		};
	}
	qsort(s->rows, n, sizeof(*s->rows), by_part);
	limit_parts(s, n, (uint32_t)s->pollux->most_jobs);
	s->outside = count_part(s, n, PART_OUTSIDE);
	s->search.jobs = n - s->outside;
	/* Within the search the order is that of service alone. */
	for (uint32_t i = 0; i < n; i++)
		s->rows[i].part = s->rows[i].part == PART_OUTSIDE;
	qsort(s->rows, n, sizeof(*s->rows), by_part);
}

/* ---- columns */

/* Devices of each node that those outside of the search have. */
static uint64_t *taken_outside(const struct scheme *s)
{
	uint64_t *taken = arena_array(s->round->scratch, uint64_t, s->round->cluster->nnodes);

	for (uint32_t i = 0; i < s->outside; i++) {
		const struct grant *grant = plan_grant(s->plan, s->rows[s->search.jobs + i].job->id);

		for (uint32_t k = 0; grant && k < grant->nslots; k++)
			taken[grant->slots[k].node] |= grant->slots[k].devices;
	}
	return taken;
}

static void gather_columns(struct scheme *s)
{
	const struct cluster *cluster = s->round->cluster;
	struct arena *arena = s->round->scratch;
	uint8_t *types = arena_array(arena, uint8_t, cluster->nnodes + 8);
	const uint64_t *taken = taken_outside(s);
	uint32_t n = 0;

	s->nodes = arena_array(arena, uint32_t, cluster->nnodes);
	s->column = arena_array(arena, uint32_t, cluster->nnodes);
	s->search.capacity = arena_array(arena, uint64_t, genetic_width(cluster->nnodes));
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct space_node *there = &s->plan->space.nodes[node];
		uint32_t devices = cluster->nodes[node].devices;

		if (!there->up)
			continue;
		devices -= (uint32_t)__builtin_popcountll(space_gone(there) | taken[node]);
		if (devices == 0)
			continue;
		genetic_cells(s->search.capacity)[n] = (uint8_t)devices;
		types[n] = (uint8_t)cluster->nodes[node].type;
		s->nodes[n++] = node;
		s->column[node] = n;
		s->devices += devices;
	}
	s->search.nodes = n;
	s->search.node_type = types;
	s->search.types = cluster->ntypes;
}

static void write_row(const struct scheme *s, uint64_t *words, const struct grant *grant)
{
	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		uint32_t column = s->column[grant->slots[i].node];

		if (column > 0)
			genetic_cells(words)[column - 1] = (uint8_t)__builtin_popcountll(
				grant->slots[i].devices);
	}
}

/* ---- what jobs may have */

static const struct training_model *model_of(const struct scheme *s, const struct job *job)
{
	const struct training *training = s->round->belief->training;

	return training && job->model != NAME_NONE ? training_of(training, job->model) : NULL;
}

static bool has_agent(const struct scheme *s, const struct job *job, uint32_t type)
{
	const struct agents *agents = s->round->belief->agents;

	return agents && agents_limits(agents, job->id, type);
}

/* Those without an agent train at the batch they asked for. */
static enum batching batching_of(const struct scheme *s, const struct job *job, uint32_t type)
{
	return has_agent(s, job, type) || is_published(s) ? BATCHING_TUNED : BATCHING_FIXED;
}

static uint32_t most_of(const struct scheme *s, const struct job *job, uint32_t type)
{
	const struct training_model *model = model_of(s, job);
	uint32_t most = elastic_most(s->round->belief, job, type, batching_of(s, job, type),
		s->pollux->growth);

	if (is_published(s) && most > OSDI21_GPUS_MAX)
		most = OSDI21_GPUS_MAX;
	if (is_published(s) && model && model->osdi21_batch > 0)
		most = 1;
	return most;
}

static bool holds_memory(const struct cluster *cluster, const struct job *job, uint32_t type)
{
	return cluster->types[type].mem_bytes == 0 ||
		job->gpu_mem_bytes <= cluster->types[type].mem_bytes;
}

static void limit_row(struct scheme *s, uint32_t row)
{
	const struct cluster *cluster = s->round->cluster;
	const struct job *job = s->rows[row].job;
	const struct training_model *model = model_of(s, job);

	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		uint32_t least = job_least_on(job, type), most = most_of(s, job, type);

		if (job_may_use(job, type) && least <= s->plan->space.types[type].up &&
			holds_memory(cluster, job, type))
			s->may_use[row] |= UINT32_C(1) << type;
		s->least[row * cluster->ntypes + type] = least;
		s->most[row * cluster->ntypes + type] = most > least ? most : least;
		s->unit[row * cluster->ntypes + type] = job_unit_on(job, type);
		s->units |= job_unit_on(job, type) > 1;
		if (has_agent(s, job, type))
			s->rows[row].batch = BATCH_TUNED;
	}
	if (is_published(s) && model && model->osdi21_batch > 0)
		s->rows[row].batch = (uint32_t)model->osdi21_batch;
	s->rows[row].measured = elastic_is_measured(s->round->belief, job);
}

/* ---- speedups */

static double speed_of(const struct scheme *s, uint32_t row, struct configuration c)
{
	double speed = elastic_speed(s->round->belief, s->rows[row].job, c,
		s->rows[row].batch == BATCH_TUNED || is_published(s) ? BATCHING_TUNED : BATCHING_FIXED,
		NULL);

	return speed > 0 && isfinite(speed) ? speed : 0;
}

/* The published simulator puts the fair share on one node, however large it is. */
static struct configuration fair_place(const struct scheme *s, uint32_t type, uint32_t gpus)
{
	if (is_published(s))
		return (struct configuration){ type, gpus, 1 };
	return configuration_packed(s->round->cluster, type, gpus);
}

/* On so many devices, the mean over types by how many there are; fewer where it cannot use so many. */
static double fair_speed(const struct scheme *s, uint32_t row, uint32_t gpus)
{
	double sum = 0, weight = 0;

	for (uint32_t type = 0; type < s->search.types; type++) {
		double up = s->plan->space.types[type].up, speed = 0;
		uint32_t unit = job_unit_on(s->rows[row].job, type);

		if (!(s->may_use[row] >> type & 1))
			continue;
		for (uint32_t n = gpus; n > 0 && speed == 0; n--)
			speed = speed_of(s, row, fair_place(s, type, n));
		/* Less than a unit does nothing by itself: its part of what one does. */
		if (gpus < unit)
			speed = speed_of(s, row, fair_place(s, type, unit)) * gpus / unit;
		sum += speed * up;
		weight += up;
	}
	return weight > 0 ? sum / weight : 0;
}

static void set_fair(struct scheme *s, uint32_t row)
{
	struct row *r = &s->rows[row];

	r->fair_gpus = s->pollux->fair == FAIR_ONE ? 1 : ceil(s->devices / s->search.jobs);
	if (r->measured)
		r->fair_speed = fair_speed(s, row, (uint32_t)r->fair_gpus);
}

static double speedup(void *ctx, uint32_t row, uint32_t type, uint32_t nodes, uint32_t gpus)
{
	const struct scheme *s = ctx;
	const struct row *r = &s->rows[row];

	if (!r->measured)
		return gpus / r->fair_gpus;
	if (!(r->fair_speed > 0))
		return 0;
	return speed_of(s, row, (struct configuration){ type, gpus, nodes }) / r->fair_speed;
}

/* What a job has of its speedup if it must be restarted for it. */
static double restart_factor(const struct scheme *s, const struct job *job)
{
	double delay_s = s->pollux->restart_s, age_s = s->round->now_s - job->arrival_s;
	double restarts = job->migrations + job->resizes + (job->attempts > 1 ? job->attempts - 1 : 0);

	if (!is_published(s) && !job->grant)
		return 1;
	if (s->pollux->objective == POLLUX_SUM)
		return 0.9;
	if (delay_s == 0)
		delay_s = elastic_restart_s(s->round->belief, job);
	return pollux_restart_factor(age_s, restarts, delay_s);
}

/* ---- the search */

/* As published, unless somebody asks for more devices than there are on so many nodes of one. */
static uint32_t widest_published(const struct scheme *s)
{
	uint32_t widest = OSDI21_NODES_MAX;

	for (uint32_t i = 0; i < s->search.jobs * s->search.types; i++)
		widest = s->least[i] > widest ? s->least[i] : widest;
	return widest;
}

static void prepare(struct scheme *s)
{
	struct arena *arena = s->round->scratch;
	struct pollux_search *search = &s->search;
	size_t places = (size_t)search->jobs * search->types;
	double *factor = arena_array(arena, double, search->jobs);

	s->least = arena_array(arena, uint32_t, places);
	s->most = arena_array(arena, uint32_t, places);
	s->unit = arena_array(arena, uint32_t, places);
	s->may_use = arena_array(arena, uint32_t, search->jobs);
	search->base = arena_array(arena, uint64_t,
		(size_t)search->jobs * genetic_width(search->nodes));
	for (uint32_t j = 0; j < search->jobs; j++) {
		limit_row(s, j);
		set_fair(s, j);
		factor[j] = restart_factor(s, s->rows[j].job);
		write_row(s, search->base + (size_t)j * genetic_width(search->nodes),
			s->rows[j].job->grant);
	}
	search->least = s->least;
	search->most = s->most;
	search->unit = s->units ? s->unit : NULL;
	search->may_use = s->may_use;
	search->factor = factor;
	search->avoid = s->pollux->avoid;
	search->objective = (enum pollux_objective)s->pollux->objective;
	search->p = s->pollux->p;
	search->scale = 1;
	search->floor = 1e-3;
	search->speedup = speedup;
	search->ctx = s;
	if (is_published(s)) {
		search->widest = widest_published(s);
		search->scale = search->nodes / s->devices;
		search->floor_adds = true;
	}
	pollux_search_prepare(search, arena);
}

/* By job: 1 + its row. */
static uint32_t *rows_by_job(const struct scheme *s)
{
	uint32_t *row = arena_array(s->round->scratch, uint32_t, s->round->njobs);

	for (uint32_t j = 0; j < s->search.jobs; j++)
		row[s->rows[j].job->id] = j + 1;
	return row;
}

/* The best of the last round, as far as its jobs and nodes are still there. */
static void recall(struct scheme *s)
{
	struct pollux *p = s->pollux;
	uint32_t *row = rows_by_job(s), width = genetic_width((uint32_t)p->nodes.n);
	uint64_t *from = p->front.at;

	for (uint32_t i = 0; i < p->nfront; i++) {
		struct genome *member = genetic_add(&p->genetic);

		for (size_t j = 0; member && j < p->jobs.n; j++, from += width) {
			uint32_t to = row[p->jobs.at[j]];

			for (size_t n = 0; to && n < p->nodes.n; n++) {
				uint32_t column = s->column[p->nodes.at[n]];

				if (column && genetic_cells(from)[n])
					genetic_cells(member->words +
						(size_t)(to - 1) * s->search.width)[column - 1] =
						genetic_cells(from)[n];
			}
		}
	}
}

static void remember(struct scheme *s)
{
	struct pollux *p = s->pollux;
	size_t words = (size_t)s->search.jobs * s->search.width;
	const struct genome *member;

	p->jobs.n = p->nodes.n = p->front.n = 0;
	for (uint32_t j = 0; j < s->search.jobs; j++)
		vec_push(&p->jobs, s->rows[j].job->id);
	for (uint32_t n = 0; n < s->search.nodes; n++)
		vec_push(&p->nodes, s->nodes[n]);
	for (p->nfront = 0; (member = genetic_front(&p->genetic, p->nfront)); p->nfront++) {
		vec_reserve(&p->front, p->front.n + words);
		memcpy(p->front.at + p->front.n, member->words, words * sizeof(*member->words));
		p->front.n += words;
	}
}

static const uint64_t *search_best(struct scheme *s)
{
	struct pollux *p = s->pollux;
	struct genetic_problem problem = pollux_search_problem(&s->search);
	struct genetic_options how = {
		.population = (uint32_t)p->population,
		.generations = (uint32_t)p->generations,
		.patience = is_published(s) && s->round->belief->training ? 0 : (uint32_t)p->patience,
		.crossover = 0.9,
	};
	const struct genome *best;
	struct genome *now;

	genetic_begin(&p->genetic, s->search.jobs, s->search.nodes, how.population);
	/* The published search begins with what is now in its first round only. */
	now = !is_published(s) || p->nfront == 0 ? genetic_add(&p->genetic) : NULL;
	if (now)
		memcpy(now->words, s->search.base,
			(size_t)s->search.jobs * s->search.width * sizeof(*now->words));
	recall(s);
	best = genetic_run(&p->genetic, &problem, &how, s->round->rng);
	remember(s);
	p->searches++;
	p->generations_made += p->genetic.generations;
	return best->words;
}

/* ---- carrying it out */

static bool is_same(const struct scheme *s, uint32_t row, const uint64_t *words)
{
	size_t at = (size_t)row * s->search.width;

	return memcmp(words + at, s->search.base + at, s->search.width * sizeof(*words)) == 0;
}

static bool run_row(struct scheme *s, uint32_t row, uint64_t *words)
{
	const uint8_t *cells = genetic_cells(words + (size_t)row * s->search.width);
	struct node_share *at = arena_array(s->round->scratch, struct node_share, s->search.nodes);
	uint32_t n = 0;

	for (uint32_t c = 0; c < s->search.nodes; c++) {
		if (cells[c])
			at[n++] = (struct node_share){ .node = s->nodes[c], .gpus = cells[c] };
	}
	return n > 0 &&
		plan_run_at(s->plan, s->rows[row].job, at, n,
			(struct want){ .type = TYPE_ANY, .batch = s->rows[row].batch });
}

/* Whether it would share a node with others that span nodes, as it does. */
static bool meddles(const struct scheme *s, const struct job *job)
{
	return s->pollux->avoid && plan_grant(s->plan, job->id)->nslots > 1;
}

/* The fewest devices it takes, wherever the placer finds them free. */
static bool run_least(struct scheme *s, uint32_t row, bool alone)
{
	const struct job *job = s->rows[row].job;
	uint32_t types[TYPES_MAX], n = kit_types(s->round, job, types);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t least = s->least[(size_t)row * s->search.types + types[i]];

		if (!plan_run(s->plan, job,
			    (struct want){ .gpus = job->gpus_by_type ? 0 : least,
				    .type = (int)types[i],
				    .batch = s->rows[row].batch }))
			continue;
		if (alone || !meddles(s, job))
			return true;
		plan_stop(s->plan, job);
	}
	return false;
}

static void turn_away(struct scheme *s, uint32_t row)
{
	const struct job *job = s->rows[row].job;
	uint32_t need = (uint32_t)job->min_gpus, have = 0;

	for (uint32_t type = 0; type < s->search.types; type++) {
		uint32_t room = job_may_use(job, type) ? plan_room(s->plan, job, type) : 0;

		if (room >= have) {
			have = room;
			need = s->least[(size_t)row * s->search.types + type];
		}
	}
	if (job->grant)
		leave_out(s, job, WHY_OUTRANKED, need, have);
	else if (s->may_use[row] == 0)
		kit_no_room(s->round, s->plan, job);
	else
		leave_out(s, job, have < need ? WHY_BUSY : WHY_FRAGMENTED, need, have);
}

/* First everybody who changes leaves, so that the others find their places. */
static void carry_out(struct scheme *s, const uint64_t *best)
{
	uint64_t *words = arena_array(s->round->scratch, uint64_t,
		s->search.jobs * s->search.width + 1);
	uint32_t running = 0;

	memcpy(words, best, (size_t)s->search.jobs * s->search.width * sizeof(*words));
	for (uint32_t j = 0; j < s->search.jobs; j++) {
		if (s->rows[j].runs && !is_same(s, j, words))
			plan_stop(s->plan, s->rows[j].job);
	}
	for (uint32_t j = 0; j < s->search.jobs; j++) {
		if (run_row(s, j, words))
			running++;
		else if (plan_grant(s->plan, s->rows[j].job->id))
			plan_stop(s->plan, s->rows[j].job);
	}
	for (uint32_t j = 0; j < s->search.jobs; j++) {
		if (plan_grant(s->plan, s->rows[j].job->id))
			continue;
		if ((!is_published(s) || running == 0) && run_least(s, j, running == 0))
			running++;
		else
			turn_away(s, j);
	}
}

/* ---- those outside of the search */

/* Fractions begin before it, where something is free or has room beside others. */
static void start_fractions(struct scheme *s)
{
	for (uint32_t i = 0; i < s->outside; i++) {
		const struct job *job = s->rows[s->search.jobs + i].job;

		if (job_is_fraction(job) && !plan_grant(s->plan, job->id))
			kit_run(s->round, s->plan, job);
	}
}

/* Devices that fractions have not begun yet are owed: as many as their part of all jobs, if they ask for so many. */
static uint32_t owed_to_fractions(const struct scheme *s)
{
	double ask = 0, have = 0, devices = s->devices, fractions = 0;

	for (uint32_t i = 0; i < s->outside; i++) {
		const struct job *job = s->rows[s->search.jobs + i].job;

		if (!job_is_fraction(job))
			continue;
		fractions++;
		if (plan_grant(s->plan, job->id))
			have += job_width(job);
		else
			ask += job_width(job);
	}
	devices = floor((devices + have) * fractions / (fractions + s->search.jobs));
	if (have == 0 && ask > 0)
		devices = fmax(1, devices);
	return (uint32_t)fmax(0, fmin(ceil(ask), devices - ceil(have)));
}

/* The search does without them, those of the largest nodes, so that they are free afterwards. */
static void set_aside(struct scheme *s, uint32_t devices)
{
	uint8_t *cells = genetic_cells(s->search.capacity);

	for (; devices > 0; devices--) {
		uint32_t most = 0;

		for (uint32_t n = 1; n < s->search.nodes; n++)
			most = cells[n] >= cells[most] ? n : most;
		if (s->search.nodes == 0 || cells[most] == 0)
			return;
		cells[most]--;
		s->devices--;
	}
}

static bool run_outside(struct scheme *s, const struct job *job)
{
	uint32_t types[TYPES_MAX], n;

	if (job_is_fraction(job))
		return kit_run(s->round, s->plan, job);
	n = kit_types(s->round, job, types);
	for (uint32_t i = 0; i < n; i++) {
		if (plan_run(s->plan, job,
			    (struct want){ .gpus = job_least_on(job, types[i]),
				    .type = (int)types[i],
				    .batch = has_agent(s, job, types[i]) ? BATCH_TUNED : 0 }))
			return true;
	}
	return false;
}

/* Who has no devices takes what the search left, the fewest it can use. */
static void fill_outside(struct scheme *s)
{
	for (uint32_t i = 0; i < s->outside; i++) {
		const struct job *job = s->rows[s->search.jobs + i].job;

		if (plan_grant(s->plan, job->id) ||
			(kit_any_free(s->round, s->plan) && run_outside(s, job)))
			continue;
		if (job_is_fraction(job))
			kit_no_room(s->round, s->plan, job);
		else
			leave_out(s, job, WHY_TURN, (uint32_t)job->gpus, 0);
	}
}

/* ---- */

/* A number for who there is and who of them runs; by the plan it is the one to be expected next time. */
static uint64_t sign(const struct scheme *s, bool planned)
{
	uint64_t sum = 1;

	for (uint32_t j = 0; j < s->search.jobs + s->outside; j++) {
		const struct job *job = s->rows[j].job;
		bool runs = planned ? plan_grant(s->plan, job->id) != NULL : job->grant != NULL;

		sum += hash_u64(HASH_START, 2 * (uint64_t)job->id + runs);
	}
	return sum;
}

/* When the youngest who might change is half as old again: what a restart is worth has changed by then. */
static double look_again_s(const struct scheme *s)
{
	double youngest_s = INFINITY;

	for (uint32_t j = 0; j < s->search.jobs; j++) {
		const struct job *job = s->rows[j].job;

		if (plan_grant(s->plan, job->id) && job->min_gpus < job->max_gpus)
			youngest_s = fmin(youngest_s, s->round->now_s - job->arrival_s);
	}
	return s->round->now_s + fmax(s->pollux->round_s, youngest_s / 2);
}

/* Whether nothing that the last search went by has changed. */
static bool is_settled(struct scheme *s)
{
	const struct agents *agents = s->round->belief->agents;
	uint64_t knows = 0;
	bool same;

	for (uint32_t j = 0; agents && j < s->search.jobs; j++)
		knows += agents_version(agents, s->rows[j].job->id);
	same = s->pollux->knew == knows && s->pollux->seen == sign(s, false) &&
		s->round->now_s < s->pollux->again_s;
	s->pollux->knew = knows;
	return same && !s->round->capacity_changed && !is_published(s);
}

/* Its first decision is at the end of its first round. */
static bool is_too_early(struct scheme *s)
{
	if (!is_published(s) || s->round->now_s > 0)
		return false;
	for (uint32_t j = 0; j < s->search.jobs; j++)
		leave_out(s, s->rows[j].job, WHY_ROUND, s->rows[j].job->min_gpus, 0);
	return true;
}

static void decide_anew(struct scheme *s)
{
	start_fractions(s);
	gather_columns(s);
	if (s->outside > 0)
		set_aside(s, owed_to_fractions(s));
	if (s->search.jobs > 0)
		prepare(s);
	if (s->search.jobs > 0 && s->search.nodes > 0) {
		carry_out(s, search_best(s));
	} else {
		for (uint32_t j = 0; j < s->search.jobs; j++)
			turn_away(s, j);
	}
	fill_outside(s);
	s->pollux->seen = sign(s, true);
	s->pollux->again_s = look_again_s(s);
}

static int pollux_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct scheme s = { .pollux = self, .round = round, .plan = plan };

	(void)err;
	gather_rows(&s);
	if (s.search.jobs + s.outside == 0)
		return 0;
	if (round->belief->agents || is_published(&s))
		plan_wake(plan, round->now_s + s.pollux->round_s);
	if (!is_too_early(&s) && !is_settled(&s))
		decide_anew(&s);
	return 0;
}

static double pollux_period_s(const void *self)
{
	return ((const struct pollux *)self)->round_s;
}

static enum compat pollux_compat(const void *self)
{
	return ((const struct pollux *)self)->compat == PUBLISHED_OSDI21 ? COMPAT_OSDI21 : COMPAT_NONE;
}

static bool pollux_typeless(const void *self)
{
	return !((const struct pollux *)self)->types;
}

static uint32_t pollux_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct pollux *p = self;

	out[0] = (struct figure){ "searches", p->searches };
	out[1] = (struct figure){ "generations", p->generations_made };
	return 2;
}

static int pollux_init(void *self, struct err *err)
{
	return growth_check(((const struct pollux *)self)->growth, err);
}

static void pollux_fini(void *self)
{
	struct pollux *p = self;

	genetic_fini(&p->genetic);
	vec_fini(&p->jobs);
	vec_fini(&p->nodes);
	vec_fini(&p->front);
}

const struct policy policy_pollux = {
	.name = "pollux",
	.summary = "the most goodput by a power mean of speedups, found by a genetic search",
	.origin = "Qiao et al., OSDI 2021",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_RANDOM,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct pollux),
	.job_state_size = sizeof(struct memory),
	.init = pollux_init,
	.fini = pollux_fini,
	.period_s = pollux_period_s,
	.figures = pollux_figures,
	.compat = pollux_compat,
	.typeless = pollux_typeless,
	.decide = pollux_decide,
};
