/*
 * The program grows by columns; rows are there from the start: limits,
 * capacities, and the rows about each job's value.
 *
 * Rows that must be kept whatever z is may need pairs that are not there yet.
 * A first phase lets them miss by a common amount, and minimises that.
 */
#include "solver/pricing.h"

#include <math.h>

#include "base/vec.h"
#include "solver/lp.h"

enum {
	PER_ROUND = 3, /* columns added for each job: more make programs larger, fewer make more of them */
	ROUNDS_MAX = 500,
	WHOLE_MAX = 200000, /* variables that the simplex method may be asked to take all at once */
};

static const double gap_wanted = 1e-7;
static const double good_enough = 1e-6; /* after rounding by the simplex method, too */

/* A column that is not in the program and would help. */
struct candidate {
	uint32_t variable; /* entry * types + type */
	double gain;       /* of the objective per share */
};

struct pricing {
	const struct pair_program *program;
	struct lp *lp;
	uint32_t z, missing; /* columns, or PAIR_NONE */
	bool first_phase;
	uint32_t *column;      /* [entries][types] + 1; 0: not in the program */
	double *limit, *value; /* [jobs] prices; those of value rows together */
	double *price;         /* [types] */
	double *help; /* [jobs] the most that a missing column would help, counted with its first job */
	struct candidate *best; /* [jobs][PER_ROUND], best first */
	double value_unit;      /* a thousandth of the most that a share is worth to a job */
	double unit;            /* the same in the objective: below this, a difference is small */
	double bound;           /* proved: the objective cannot be lower */
};

static double times_of(const struct pair_program *program, uint32_t job)
{
	return program->count ? program->count[job] : 1;
}

static double scale_of(const struct pair_program *program, uint32_t job, uint32_t r)
{
	return program->scale ? program->scale[job * program->rows + r] : 1;
}

static uint32_t value_row(const struct pair_program *program, uint32_t job, uint32_t r)
{
	return program->jobs + program->types + job * program->rows + r;
}

/* ---- the program's rows and columns */

static void add_rows(struct pricing *s)
{
	const struct pair_program *program = s->program;

	for (uint32_t i = 0; i < program->jobs; i++)
		lp_add_row(s->lp, -INFINITY, times_of(program, i));
	for (uint32_t w = 0; w < program->types; w++)
		lp_add_row(s->lp, -INFINITY, program->capacity[w]);
	for (uint32_t i = 0; i < program->jobs * program->rows; i++) {
		double least = program->least ? program->least[i] : 0;

		lp_add_row(s->lp, times_of(program, i / program->rows) * least, INFINITY);
	}
}

static void add_z(struct pricing *s)
{
	const struct pair_program *program = s->program;

	s->z = PAIR_NONE;
	if (!program->g || !program->rows)
		return;
	s->z = lp_add_column(s->lp, program->z_cost, -INFINITY, INFINITY, false);
	for (uint32_t i = 0; i < program->jobs * program->rows; i++)
		lp_set(s->lp, program->jobs + program->types + i, s->z,
			-times_of(program, i / program->rows) * program->g[i]);
}

/* Whether row i has to be kept without help from z. */
static bool is_firm(const struct pair_program *program, uint32_t i)
{
	return program->least && program->least[i] > 0 && !(program->g && program->g[i] != 0);
}

static void add_missing(struct pricing *s)
{
	const struct pair_program *program = s->program;

	s->missing = PAIR_NONE;
	for (uint32_t i = 0; i < program->jobs * program->rows; i++) {
		if (!is_firm(program, i))
			continue;
		if (s->missing == PAIR_NONE)
			s->missing = lp_add_column(s->lp, 1, 0, INFINITY, false);
		lp_set(s->lp, program->jobs + program->types + i, s->missing,
			times_of(program, i / program->rows) * fmax(program->least[i], s->value_unit));
	}
	s->first_phase = s->missing != PAIR_NONE;
}

static void set_job(struct pricing *s, uint32_t column, uint32_t job, double times, double value)
{
	lp_set(s->lp, job, column, times);
	for (uint32_t r = 0; r < s->program->rows; r++)
		lp_set(s->lp, value_row(s->program, job, r), column,
			scale_of(s->program, job, r) * value);
}

static void add_column(struct pricing *s, uint32_t variable)
{
	const struct pair_program *program = s->program;
	struct pair_entry e = program->entry[variable / program->types];
	const double *value = program->value + 2 * (size_t)variable;
	double cost = program->cost && !s->first_phase ? program->cost[variable] : 0;
	uint32_t column = lp_add_column(s->lp, cost, 0, INFINITY, false);

	s->column[variable] = column + 1;
	lp_set(s->lp, program->jobs + variable % program->types, column, program->gang[e.a]);
	if (e.b == e.a) {
		set_job(s, column, e.a, 2, value[0] + value[1]);
		return;
	}
	set_job(s, column, e.a, 1, value[0]);
	if (e.b != PAIR_NONE)
		set_job(s, column, e.b, 1, value[1]);
}

/* ---- units, for what is zero but for rounding */

/* The most that a share is worth to each job. */
static double *best_values(const struct pair_program *program)
{
	uint32_t n = program->entries * program->types;
	double *best = mem_alloc(program->jobs * sizeof(*best) + 1);

	for (uint32_t v = 0; v < n; v++) {
		struct pair_entry e = program->entry[v / program->types];

		best[e.a] = fmax(best[e.a], program->value[2 * (size_t)v]);
		if (e.b != PAIR_NONE)
			best[e.b] = fmax(best[e.b], program->value[2 * (size_t)v + 1]);
	}
	return best;
}

static void find_units(struct pricing *s)
{
	const struct pair_program *program = s->program;
	double *best = best_values(program), value = 0, objective = 0;
	uint32_t n = program->entries * program->types;

	for (uint32_t i = 0; i < program->jobs * program->rows; i++) {
		uint32_t job = i / program->rows;
		double most = best[job] * scale_of(program, job, i % program->rows);

		value = fmax(value, most);
		if (program->g && program->g[i] > 0)
			objective = fmax(objective, fabs(program->z_cost) * most / program->g[i]);
	}
	for (uint32_t v = 0; program->cost && v < n; v++)
		objective = fmax(objective, fabs(program->cost[v]));
	s->value_unit = value > 0 ? value / 1000 : 1;
	s->unit = objective > 0 ? objective / 1000 : 1;
	free(best);
}

/* ---- candidates: the best few of each job */

static void offer(struct candidate *best, uint32_t keep, uint32_t variable, double gain)
{
	uint32_t at = keep;

	if (gain <= best[keep - 1].gain)
		return;
	while (at > 0 && best[at - 1].gain < gain) {
		if (at < keep)
			best[at] = best[at - 1];
		at--;
	}
	best[at] = (struct candidate){ variable, gain };
}

static void forget_candidates(struct pricing *s, double least_gain)
{
	for (uint32_t i = 0; i < s->program->jobs * PER_ROUND; i++)
		s->best[i] = (struct candidate){ PAIR_NONE, least_gain };
}

static uint32_t add_candidates(struct pricing *s)
{
	uint32_t added = 0;

	for (uint32_t i = 0; i < s->program->jobs * PER_ROUND; i++) {
		uint32_t variable = s->best[i].variable;

		if (variable == PAIR_NONE || s->column[variable])
			continue;
		add_column(s, variable);
		added++;
	}
	return added;
}

/* ---- pricing */

static void read_prices(struct pricing *s)
{
	const struct pair_program *program = s->program;

	for (uint32_t i = 0; i < program->jobs; i++) {
		s->limit[i] = lp_price(s->lp, i);
		s->value[i] = s->help[i] = 0;
		for (uint32_t r = 0; r < program->rows; r++)
			s->value[i] += scale_of(program, i, r) *
				lp_price(s->lp, value_row(program, i, r));
	}
	for (uint32_t w = 0; w < program->types; w++)
		s->price[w] = lp_price(s->lp, program->jobs + w);
}

/* What an entry's shares would take off the objective, one unit of each. */
static void price_entry(struct pricing *s, uint32_t c)
{
	const struct pair_program *program = s->program;
	struct pair_entry e = program->entry[c];
	uint32_t types = program->types, b = e.b == PAIR_NONE ? e.a : e.b;
	bool single = e.b == PAIR_NONE;
	double limits = s->limit[e.a] + (single ? 0 : s->limit[b]);
	double of_a = s->value[e.a], of_b = single ? 0 : s->value[b];

	for (uint32_t w = 0, v = c * types; w < types; w++, v++) {
		double gain = limits + program->gang[e.a] * s->price[w] +
			of_a * program->value[2 * (size_t)v] +
			of_b * program->value[2 * (size_t)v + 1];

		if (program->cost && !s->first_phase)
			gain -= program->cost[v];
		if (gain <= 0)
			continue;
		if (s->help[e.a] < gain)
			s->help[e.a] = gain;
		if (s->column[v])
			continue;
		offer(s->best + (size_t)e.a * PER_ROUND, PER_ROUND, v, gain);
		if (b != e.a)
			offer(s->best + (size_t)b * PER_ROUND, PER_ROUND, v, gain);
	}
}

/*
 * Prices every column.  Raising the price of a job's limit by what its columns
 * would help at most makes all prices right, which proves a bound.
 */
static void price_all(struct pricing *s)
{
	double loss = 0;

	read_prices(s);
	forget_candidates(s, 0);
	for (uint32_t c = 0; c < s->program->entries; c++)
		price_entry(s, c);
	for (uint32_t i = 0; i < s->program->jobs; i++)
		loss += times_of(s->program, i) * s->help[i];
	s->bound = fmax(s->bound, lp_objective(s->lp) - loss);
}

/* ---- the first columns: all singles, and pairs whose speeds together are most of those alone */

static double *speeds_alone(const struct pair_program *program)
{
	uint32_t types = program->types;
	double *alone = mem_alloc((size_t)program->jobs * types * sizeof(*alone) + 1);

	for (uint32_t c = 0; c < program->entries; c++) {
		if (program->entry[c].b != PAIR_NONE)
			continue;
		for (uint32_t w = 0; w < types; w++)
			alone[program->entry[c].a * types + w] =
				program->value[2 * ((size_t)c * types + w)];
	}
	return alone;
}

static double kept(double packed, double alone)
{
	return alone > 0 ? packed / alone : 0;
}

static void add_first_columns(struct pricing *s)
{
	const struct pair_program *program = s->program;
	uint32_t types = program->types, n = program->entries * types;
	double *alone = speeds_alone(program);

	forget_candidates(s, 1);
	for (uint32_t v = 0; v < n; v++) {
		struct pair_entry e = program->entry[v / types];
		const double *value = program->value + 2 * (size_t)v;
		double sum;

		if (e.b == PAIR_NONE) {
			add_column(s, v);
			continue;
		}
		sum = kept(value[0], alone[e.a * types + v % types]) +
			kept(value[1], alone[e.b * types + v % types]);
		/* One for each job: prices find better ones. */
		offer(s->best + (size_t)e.a * PER_ROUND, 1, v, sum);
		offer(s->best + (size_t)e.b * PER_ROUND, 1, v, sum);
	}
	add_candidates(s);
	free(alone);
}

/* ---- rounds */

static void start_second_phase(struct pricing *s)
{
	const struct pair_program *program = s->program;
	uint32_t n = program->entries * program->types;

	s->first_phase = false;
	s->bound = -INFINITY;
	lp_set_cost(s->lp, s->missing, 0);
	lp_set_column(s->lp, s->missing, 0, 0);
	if (s->z != PAIR_NONE)
		lp_set_cost(s->lp, s->z, program->z_cost);
	for (uint32_t v = 0; program->cost && v < n; v++) {
		if (s->column[v])
			lp_set_cost(s->lp, s->column[v] - 1, program->cost[v]);
	}
}

static double gap_to(const struct pricing *s, double objective)
{
	return fmax(0, objective - s->bound) / fmax(fabs(objective), s->unit);
}

/* What the jobs and types take, of x. */
static void add_up(const struct pair_program *program, const double *x, double *sum, double *used)
{
	size_t v = 0;

	for (uint32_t c = 0; c < program->entries; c++) {
		struct pair_entry e = program->entry[c];

		for (uint32_t w = 0; w < program->types; w++, v++) {
			sum[e.a] += x[v];
			if (e.b != PAIR_NONE)
				sum[e.b] += x[v];
			used[w] += program->gang[e.a] * x[v];
		}
	}
}

/* The simplex method keeps rows to 1e-7 only: cuts what is too large, so that limits and capacities hold. */
static void cut_to_limits(const struct pair_program *program, double *x)
{
	uint32_t types = program->types;
	double *sum = mem_alloc(((size_t)program->jobs + types) * sizeof(*sum) + 1);
	double *used = sum + program->jobs;

	add_up(program, x, sum, used);
	for (uint32_t i = 0; i < program->jobs; i++)
		sum[i] = fmax(1, sum[i] / times_of(program, i));
	for (uint32_t w = 0; w < types; w++)
		used[w] = used[w] > program->capacity[w] ? used[w] / program->capacity[w] : 1;
	for (size_t v = 0; v < (size_t)program->entries * types; v++) {
		struct pair_entry e = program->entry[v / types];
		double over = fmax(sum[e.a], used[v % types]);

		if (x[v] > 0)
			x[v] /= e.b == PAIR_NONE ? over : fmax(over, sum[e.b]);
	}
	free(sum);
}

static double *values_of(const struct pair_program *program, const double *x)
{
	double *value = mem_alloc(program->jobs * sizeof(*value) + 1);
	size_t v = 0;

	for (uint32_t c = 0; c < program->entries; c++) {
		struct pair_entry e = program->entry[c];

		for (uint32_t w = 0; w < program->types; w++, v++) {
			value[e.a] += program->value[2 * v] * x[v];
			if (e.b != PAIR_NONE)
				value[e.b] += program->value[2 * v + 1] * x[v];
		}
	}
	return value;
}

/* The z that x really reaches, where more is better; `z` where that is not the question. */
static double level_of(const struct pair_program *program, const double *x, double z)
{
	double *value = values_of(program, x), level = INFINITY;
	bool rising = program->z_cost < 0;

	for (uint32_t i = 0; i < program->jobs * program->rows; i++) {
		uint32_t job = i / program->rows;
		double got = scale_of(program, job, i % program->rows) * value[job] /
			times_of(program, job);

		rising = rising && program->g[i] >= 0;
		if (program->g[i] > 0)
			level = fmin(level,
				(got - (program->least ? program->least[i] : 0)) / program->g[i]);
	}
	free(value);
	return rising && isfinite(level) ? level : z;
}

static void keep_answer(struct pricing *s, struct pair_answer *answer)
{
	const struct pair_program *program = s->program;
	uint32_t n = program->entries * program->types;

	for (uint32_t v = 0; v < n; v++)
		answer->x[v] = s->column[v] ? fmax(lp_value(s->lp, s->column[v] - 1), 0) : 0;
	cut_to_limits(program, answer->x);
	answer->objective = answer->z = 0;
	for (uint32_t v = 0; program->cost && v < n; v++)
		answer->objective += program->cost[v] * answer->x[v];
	if (s->z != PAIR_NONE) {
		answer->z = level_of(program, answer->x, lp_value(s->lp, s->z));
		answer->objective += program->z_cost * answer->z;
	}
	answer->residual = fmax(pairs_violation(program, answer->x, answer->z),
		gap_to(s, answer->objective));
	if (answer->residual > good_enough)
		answer->status = INTERIOR_STALLED;
}

/* True: another round. */
static bool next_round(struct pricing *s, struct pair_answer *answer)
{
	if (s->first_phase && lp_objective(s->lp) <= gap_wanted) {
		start_second_phase(s);
		return true;
	}
	price_all(s);
	if (s->first_phase && s->bound > gap_wanted)
		answer->status = INTERIOR_INFEASIBLE;
	else if (!s->first_phase && gap_to(s, lp_objective(s->lp)) <= gap_wanted)
		answer->status = INTERIOR_OPTIMAL;
	else if (add_candidates(s))
		return true;
	else
		answer->status = s->first_phase ? INTERIOR_INFEASIBLE : INTERIOR_OPTIMAL;
	return false;
}

/* False: the simplex method did not get through; nothing is known. */
static bool run(struct pricing *s, struct pair_answer *answer)
{
	bool more = true;

	answer->status = INTERIOR_STALLED;
	for (answer->iterations = 0; more && answer->iterations < ROUNDS_MAX;) {
		enum lp_status status = lp_solve(s->lp, (struct lp_limits){ 0 });

		answer->iterations++;
		if (status == LP_UNBOUNDED && !s->first_phase) {
			answer->status = INTERIOR_UNBOUNDED;
			return true;
		}
		if (status != LP_OPTIMAL)
			return false;
		more = next_round(s, answer);
	}
	if (answer->status == INTERIOR_OPTIMAL || (more && !s->first_phase))
		keep_answer(s, answer);
	return true;
}

static void pricing_init(struct pricing *s, const struct pair_program *program, struct arena *arena)
{
	*s = (struct pricing){ .program = program, .lp = lp_create(), .bound = -INFINITY };
	s->column = arena_array(arena, uint32_t, (size_t)program->entries * program->types);
	s->limit = arena_array(arena, double, program->jobs);
	s->value = arena_array(arena, double, program->jobs);
	s->help = arena_array(arena, double, program->jobs);
	s->price = arena_array(arena, double, program->types);
	s->best = arena_array(arena, struct candidate, (size_t)program->jobs * PER_ROUND);
	find_units(s);
	add_rows(s);
	add_z(s);
	add_missing(s);
	if (s->first_phase && s->z != PAIR_NONE)
		lp_set_cost(s->lp, s->z, 0);
	add_first_columns(s);
}

void pricing_solve(const struct pair_program *program, struct pair_answer *answer)
{
	struct arena arena = { 0 };
	struct pricing s;
	bool known;

	answer->residual = INFINITY;
	pricing_init(&s, program, &arena);
	known = run(&s, answer);
	lp_destroy(s.lp);
	arena_fini(&arena);
	if (!known && program->entries * program->types <= WHOLE_MAX)
		pairs_solve_simplex(program, answer);
}

/* ---- spreading */

static uint32_t spread_single(uint32_t count, struct pair_part *parts)
{
	for (uint32_t i = 0; i < count; i++)
		parts[i] = (struct pair_part){ i, PAIR_NONE, 1.0 / count };
	return count;
}

/* A ring, in which everybody has two neighbours; of two, each other. */
static uint32_t spread_alike(uint32_t count, struct pair_part *parts)
{
	uint32_t n = count == 2 ? 1 : count;

	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct pair_part){ i, (i + 1) % count, 1.0 / n };
	return n;
}

/*
 * Two rulers of equal length side by side, one cut into `a` pieces and one into
 * `b`: pieces that lie next to each other pair up, as long as they do.
 */
static uint32_t spread_pair(uint32_t a, uint32_t b, struct pair_part *parts)
{
	uint64_t at = 0, end = (uint64_t)a * b;
	uint32_t n = 0;

	while (at < end) {
		uint32_t i = (uint32_t)(at / b), k = (uint32_t)(at / a);
		uint64_t to_a = (uint64_t)(i + 1) * b, to_b = (uint64_t)(k + 1) * a;
		uint64_t to = to_a < to_b ? to_a : to_b;

		parts[n++] = (struct pair_part){ i, k, (double)(to - at) / (double)end };
		at = to;
	}
	return n;
}

uint32_t pricing_spread(const struct pair_program *program, uint32_t entry, struct pair_part *parts)
{
	struct pair_entry e = program->entry[entry];
	uint32_t a = program->count ? program->count[e.a] : 1;

	if (e.b == PAIR_NONE)
		return spread_single(a, parts);
	if (e.a == e.b)
		return spread_alike(a, parts);
	return spread_pair(a, program->count ? program->count[e.b] : 1, parts);
}
