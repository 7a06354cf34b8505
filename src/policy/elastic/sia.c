/*
 * Sia: each round one configuration for each job (type, devices, nodes), by a
 * small integer program on normalised goodput.
 *
 * Configurations are powers of two within a node and whole nodes beyond, so
 * that whatever the program chooses has a place.  A job's goodputs are divided
 * by its smallest; what is not its present configuration is worth less by the
 * restart factor (its age against what its restarts have cost it).  With p < 0
 * the program minimises the sum of goodput^p, and lambda for each job that does
 * not run.  A job begins with as little as it can and at most doubles.
 *
 * Published, lambda is a constant, and who is left out saves it each round: a
 * gang of one device that starts saves 0.1, another job's second device 0.29,
 * so that the gang waits as long as anybody can grow.  Here it grows with the
 * age of the job (patience_s).
 *
 * compat=sia decides as the published simulator does: goodput up to the batch
 * that the user asked for although the job tunes beyond it, the largest growth
 * of any type for all of them, entries in single precision, costs of two
 * decimals and at most 3000, so that many plans are equal and the solver's whim
 * decides (drawn here; its results differ by some per cent from draw to draw).
 * lambda_a does not enter there, as it does not in
 * the published program.
 */
#include <math.h>

#include "base/vec.h"
#include "policy/elastic/growth.h"
#include "policy/elastic/sia.h"
#include "policy/kit.h"
#include "solver/choice.h"

enum solver { SOLVER_AUTO, SOLVER_EXACT, SOLVER_PRICE };
static const char *const solver_names[] = { "auto", "exact", "price", NULL };

enum published { PUBLISHED_NONE, PUBLISHED_SIA };
static const char *const published_names[] = { "none", "sia", NULL };

/* Which of equals, where costs of two decimals make many. */
enum ties { TIES_AUTO, TIES_FIRST, TIES_STAY, TIES_DRAW };
static const char *const ties_names[] = { "auto", "first", "stay", "draw", NULL };

/* What breaks ties: less than two decimals show, more than the solver rounds off. */
#define TIE_STAY 1e-6
#define TIE_DRAW 1e-4

enum { JOBS_PROVED = 128 }; /* up to so many jobs auto proves its answer */

struct sia {
	double round_s, p, lambda, patience_s, lambda_a, growth;
	bool restart, round2;
	int solver, ties, compat;

	struct sia_terms terms;
	VEC(struct sia_memo) memos; /* by job */
	uint32_t decisions, unproved;
	double worst_gap;
};

static const struct option options[] = {
	OPT_DOUBLE(struct sia, round_s, 60, 1e-3, 1e6, "seconds between decisions"),
	OPT_DOUBLE(struct sia, p, -0.5, -100, 100,
		"exponent of goodput: below 0 it evens out, above 0 it favours whoever is fast; not 0"),
	OPT_DOUBLE(struct sia, lambda, 1.1, 0, 1e6,
		"cost of a job that does not run; a job at its slowest costs 1"),
	OPT_DOUBLE(struct sia, patience_s, 300, 0, 1e9,
		"that cost grows by 1 for each device in so long since arrival, so that nobody is left out for good; 0: it does not"),
	OPT_DOUBLE(struct sia, lambda_a, 0, 0, 1e6, "cost of changing or stopping what a job has"),
	OPT_DOUBLE(struct sia, growth, 2, 0, 1e6,
		"largest growth in one step, as a factor (1 or more) of the most devices the job ever had; 0: no limit"),
	OPT_BOOL(struct sia, restart, 1, "count what restarts have cost a job against changing it"),
	OPT_BOOL(struct sia, round2, 0, "costs of two decimals, as published"),
	OPT_CHOICE(struct sia, solver, SOLVER_AUTO, solver_names,
		"price: prices of types and a search, content within 0.01 % of the best; exact: the integer program, slow; auto: price, but up to 128 jobs it searches on for the best itself"),
	OPT_CHOICE(struct sia, ties, TIES_AUTO, ties_names,
		"of equals: the first job's smallest cost, whoever stays as it is, or a draw; auto: stay, and with compat=sia a draw"),
	OPT_CHOICE(struct sia, compat, PUBLISHED_NONE, published_names,
		"decide as the published simulator does, defects included"),
	{ 0 },
};

static int sia_init(void *self, struct err *err)
{
	struct sia *s = self;

	if (s->p == 0)
		return err_set(err, ERR_USAGE,
			"p=0 makes every configuration alike: choose p below 0 (-0.5) or above");
	if (s->p < 0 && s->lambda < 1.01)
		return err_set(err, ERR_USAGE,
			"lambda=%g: a job at its slowest costs 1, so with p below 0 some would never run; choose at least 1.01",
			s->lambda);
	if (s->ties == TIES_AUTO)
		s->ties = s->compat == PUBLISHED_SIA ? TIES_DRAW : TIES_STAY;
	s->terms = (struct sia_terms){
		.p = s->p,
		.lambda = s->lambda,
		.ageing = s->compat == PUBLISHED_SIA || s->patience_s == 0 ? 0 : 1 / s->patience_s,
		.lambda_a = s->compat == PUBLISHED_SIA ? 0 : s->lambda_a,
		.growth = s->growth,
		.restart = s->restart,
		.round2 = s->round2 || s->compat == PUBLISHED_SIA,
		.published = s->compat == PUBLISHED_SIA,
	};
	return growth_check(s->growth, err);
}

static void forget(struct sia_memo *memo)
{
	free(memo->at);
	*memo = (struct sia_memo){ 0 };
}

static void sia_fini(void *self)
{
	struct sia *s = self;

	for (size_t i = 0; i < s->memos.n; i++)
		forget(&s->memos.at[i]);
	vec_fini(&s->memos);
}

static void list_rows(struct sia *s, const struct round *round, const struct plan *plan,
	struct sia_rows *rows)
{
	uint32_t ntypes = round->cluster->ntypes;

	if (round->belief->agents)
		vec_grow_zero(&s->memos, round->njobs);
	for (uint32_t i = 0; i < round->nchanged; i++) {
		if (round->changed[i] < s->memos.n && job_ended(&round->jobs[round->changed[i]]))
			forget(&s->memos.at[round->changed[i]]);
	}
	*rows = (struct sia_rows){
		.round = round,
		.plan = plan,
		.terms = &s->terms,
		.sizes = arena_array(round->scratch, struct sia_sizes, ntypes),
		.memos = round->belief->agents ? s->memos.at : NULL,
	};
	for (uint32_t type = 0; type < ntypes; type++)
		sia_list_sizes(plan, type, s->terms.published, round->scratch, &rows->sizes[type]);
	sia_list_rows(rows);
}

/* ---- the program */

static double tie_of(const struct sia *s, const struct round *round, bool stays)
{
	if (s->ties == TIES_DRAW)
		return rng_between(round->rng, 0, TIE_DRAW);
	return s->ties == TIES_STAY && !stays ? TIE_STAY : 0;
}

static void build(const struct sia *s, const struct sia_rows *rows, struct choice_problem *problem)
{
	const struct round *round = rows->round;
	struct choice_row *out = arena_array(round->scratch, struct choice_row, rows->n);
	uint32_t *capacity = arena_array(round->scratch, uint32_t, round->cluster->ntypes);
	struct choice_column *columns;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		out[i] = (struct choice_row){ n, rows->at[i].n, rows->at[i].without,
			rows->at[i].forced };
		n += rows->at[i].n;
	}
	columns = arena_array(round->scratch, struct choice_column, n);
	for (uint32_t i = 0; i < rows->n; i++) {
		for (uint32_t k = 0; k < rows->at[i].n; k++) {
			const struct sia_way *way = &rows->at[i].ways[k];

			columns[out[i].first + k] = (struct choice_column){
				.cost = way->cost + tie_of(s, round, k == rows->at[i].now),
				.type = way->c.type,
				.amount = way->c.gpus,
			};
		}
	}
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		capacity[type] = rows->plan->space.types[type].up;
	*problem = (struct choice_problem){ columns, out, rows->n, capacity, round->cluster->ntypes };
}

static struct choice_options solver_options(const struct sia *s, uint32_t n)
{
	bool proves = s->solver == SOLVER_AUTO && n <= JOBS_PROVED;

	return (struct choice_options){
		.method = s->solver == SOLVER_EXACT ? CHOICE_EXACT : CHOICE_PRICE,
		.gap = proves ? 0 : 1e-4,
		.work = proves ? 20000000 : 100000,
	};
}

static bool lost_devices(const struct plan *plan, const struct job *job)
{
	const struct grant *grant = job->grant;

	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		const struct space_node *node = &plan->space.nodes[grant->slots[i].node];

		if (!node->up || (space_gone(node) & grant->slots[i].devices))
			return true;
	}
	return false;
}

/*
 * What must be kept does not fit: devices have gone.  Who has lost some may change, and where that is not enough
 * whoever is on the type.
 */
static void release_forced(struct choice_problem *problem, struct sia_rows *rows)
{
	struct choice_row *out = arena_array(rows->round->scratch, struct choice_row, problem->nrows);
	uint64_t kept[TYPES_MAX] = { 0 };

	for (uint32_t i = 0; i < problem->nrows; i++) {
		struct sia_row *row = &rows->at[i];

		if (row->forced != CHOICE_NONE && lost_devices(rows->plan, row->job))
			row->forced = CHOICE_NONE;
		if (row->forced != CHOICE_NONE)
			kept[row->ways[row->forced].c.type] += row->ways[row->forced].c.gpus;
	}
	for (uint32_t i = 0; i < problem->nrows; i++) {
		struct sia_row *row = &rows->at[i];
		uint32_t type = row->forced != CHOICE_NONE ? row->ways[row->forced].c.type : 0;

		if (row->forced != CHOICE_NONE && kept[type] > problem->capacity[type])
			row->forced = CHOICE_NONE;
		out[i] = problem->rows[i];
		out[i].forced = row->forced;
	}
	problem->rows = out;
}

static void solve(struct sia *s, struct sia_rows *rows)
{
	struct choice_options how = solver_options(s, rows->n);
	uint32_t *chosen = arena_array(rows->round->scratch, uint32_t, rows->n);
	struct choice_problem problem;
	struct choice_answer answer;

	build(s, rows, &problem);
	if (!choice_solve(&problem, &how, chosen, &answer)) {
		release_forced(&problem, rows);
		how.method = CHOICE_PRICE;
		choice_solve(&problem, &how, chosen, &answer);
	}
	for (uint32_t i = 0; i < rows->n; i++)
		rows->at[i].chosen = chosen[i];
	s->decisions++;
	s->unproved += !answer.optimal;
	s->worst_gap = fmax(s->worst_gap, choice_gap(&answer));
}

/* ---- */

static int sia_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct sia *s = self;
	struct sia_rows rows;

	(void)err;
	list_rows(s, round, plan, &rows);
	if (rows.n == 0)
		return 0;
	solve(s, &rows);
	sia_place(round, plan, rows.at, rows.n, s->compat == PUBLISHED_SIA);
	plan_wake(plan, round->now_s + s->round_s);
	return 0;
}

static double sia_period_s(const void *self)
{
	return ((const struct sia *)self)->round_s;
}

static enum compat sia_compat(const void *self)
{
	return ((const struct sia *)self)->compat == PUBLISHED_SIA ? COMPAT_SIA : COMPAT_NONE;
}

static uint32_t sia_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct sia *s = self;

	out[0] = (struct figure){ .name = "decisions", .value = s->decisions };
	out[1] = (struct figure){ .name = "unproved", .value = s->unproved };
	out[2] = (struct figure){ .name = "largest_gap", .value = s->worst_gap };
	return 3;
}

const struct policy policy_sia = {
	.name = "sia",
	.summary = "one configuration of devices for each job, by goodput on every type",
	.origin = "Jayaram Subramanya et al., SOSP 2023",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_RANDOM,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct sia),
	.init = sia_init,
	.fini = sia_fini,
	.period_s = sia_period_s,
	.compat = sia_compat,
	.figures = sia_figures,
	.decide = sia_decide,
};
