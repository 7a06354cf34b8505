/*
 * Linear programs go to CLP's simplex methods; those with whole numbers are
 * searched in lp_whole.c.
 *
 * Neither is believed.  An answer is measured against rows and bounds, that of
 * a linear program also against its dual, and "there is none" against the ray
 * that proves it.  What fails is tried again with the other simplex method and
 * from no basis before the caller hears of it.
 *
 * Inside everything is minimised, and costs are scaled by a power of two: the
 * solvers' tolerances are absolute, and costs of 1e-9 would all look alike.
 */
#include "solver/lp.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "solver/lp_parts.h"

struct lp *lp_create(void)
{
	struct lp *lp = mem_alloc(sizeof(*lp));

	lp->shape_changed = true;
	return lp;
}

void lp_destroy(struct lp *lp)
{
	if (!lp)
		return;
	if (lp->clp)
		Clp_deleteModel(lp->clp);
	vec_fini(&lp->cost);
	vec_fini(&lp->whole);
	vec_fini(&lp->columns);
	vec_fini(&lp->rows);
	vec_fini(&lp->entries);
	vec_fini(&lp->start);
	vec_fini(&lp->index);
	vec_fini(&lp->value);
	vec_fini(&lp->scaled);
	vec_fini(&lp->column_least);
	vec_fini(&lp->column_most);
	vec_fini(&lp->row_least);
	vec_fini(&lp->row_most);
	vec_fini(&lp->answer);
	vec_fini(&lp->price);
	free(lp);
}

/* ---- building */

void lp_maximise(struct lp *lp, bool maximise)
{
	lp->maximise = maximise;
}

uint32_t lp_add_column(struct lp *lp, double cost, double least, double most, bool whole)
{
	assert(isfinite(cost) && !isnan(least) && !isnan(most));
	vec_push(&lp->cost, cost);
	vec_push(&lp->columns, (struct side){ least, most });
	vec_push(&lp->whole, whole);
	lp->shape_changed = true;
	return (uint32_t)(lp->columns.n - 1);
}

uint32_t lp_add_row(struct lp *lp, double least, double most)
{
	assert(!isnan(least) && !isnan(most));
	vec_push(&lp->rows, (struct side){ least, most });
	lp->shape_changed = true;
	return (uint32_t)(lp->rows.n - 1);
}

void lp_set(struct lp *lp, uint32_t row, uint32_t column, double value)
{
	assert(row < lp->rows.n && column < lp->columns.n && isfinite(value));
	if (value == 0)
		return;
	vec_push(&lp->entries, (struct entry){ row, column, value });
	lp->shape_changed = true;
}

void lp_set_cost(struct lp *lp, uint32_t column, double cost)
{
	assert(column < lp->columns.n && isfinite(cost));
	lp->cost.at[column] = cost;
}

static void set_side(struct lp *lp, struct side *side, double least, double most)
{
	assert(!isnan(least) && !isnan(most));
	if (side->least != least || side->most != most)
		lp->sides_changed = true;
	*side = (struct side){ least, most };
}

void lp_set_column(struct lp *lp, uint32_t column, double least, double most)
{
	assert(column < lp->columns.n);
	set_side(lp, &lp->columns.at[column], least, most);
}

void lp_set_row(struct lp *lp, uint32_t row, double least, double most)
{
	assert(row < lp->rows.n);
	set_side(lp, &lp->rows.at[row], least, most);
}

/* ---- into the solvers' form */

static void sort_entries_by_column(struct lp *lp)
{
	size_t n = lp->entries.n, columns = lp->columns.n;

	vec_grow_zero(&lp->start, columns + 2);
	vec_grow_zero(&lp->index, n);
	vec_grow_zero(&lp->value, n);
	memset(lp->start.at, 0, (columns + 2) * sizeof(*lp->start.at));
	for (size_t i = 0; i < n; i++)
		lp->start.at[lp->entries.at[i].column + 2]++;
	for (size_t c = 0; c < columns; c++)
		lp->start.at[c + 2] += lp->start.at[c + 1];
	/* start[c + 1] is where the next entry of c goes; in the end that is where c ends. */
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &lp->entries.at[i];
		CoinBigIndex to = lp->start.at[e->column + 1]++;

		lp->index.at[to] = (int)e->row;
		lp->value.at[to] = e->value;
	}
}

static double endless(double bound)
{
	return isinf(bound) ? copysign(DBL_MAX, bound) : bound;
}

static void scale_costs(struct lp *lp)
{
	double greatest = 0;
	int exponent = 0;

	for (size_t c = 0; c < lp->cost.n; c++)
		greatest = fmax(greatest, fabs(lp->cost.at[c]));
	frexp(greatest, &exponent);
	lp->scale = greatest > 0 ? ldexp(LP_MOST_COST, -exponent) : 1;
	if (lp->maximise)
		lp->scale = -lp->scale;
	vec_grow_zero(&lp->scaled, lp->cost.n + 1);
	for (size_t c = 0; c < lp->cost.n; c++)
		lp->scaled.at[c] = lp->cost.at[c] * lp->scale;
}

void lp_write_sides(struct lp *lp)
{
	size_t columns = lp->columns.n, rows = lp->rows.n;

	vec_grow_zero(&lp->column_least, columns);
	vec_grow_zero(&lp->column_most, columns);
	vec_grow_zero(&lp->row_least, rows);
	vec_grow_zero(&lp->row_most, rows);
	for (size_t c = 0; c < columns; c++) {
		struct side s = lp->columns.at[c];

		if (lp->whole.at[c])
			s = (struct side){ ceil(s.least - LP_TOLERANCE), floor(s.most + LP_TOLERANCE) };
		lp->column_least.at[c] = endless(s.least);
		lp->column_most.at[c] = endless(s.most);
	}
	for (size_t r = 0; r < rows; r++) {
		lp->row_least.at[r] = endless(lp->rows.at[r].least);
		lp->row_most.at[r] = endless(lp->rows.at[r].most);
	}
}

/* A side that no number satisfies is not for the solvers, which may take it for a small error. */
static bool sides_cross(const struct lp *lp)
{
	for (size_t c = 0; c < lp->columns.n; c++) {
		if (lp->column_least.at[c] > lp->column_most.at[c] ||
			lp->columns.at[c].least == INFINITY || lp->columns.at[c].most == -INFINITY)
			return true;
	}
	for (size_t r = 0; r < lp->rows.n; r++) {
		const struct side *s = &lp->rows.at[r];

		if (s->least > s->most || s->least == INFINITY || s->most == -INFINITY)
			return true;
	}
	return false;
}

/* The bounds as they are for the solver: rounded, and tighter inside a search. */
static struct side column_side(const struct lp *lp, size_t c)
{
	double least = lp->column_least.at[c], most = lp->column_most.at[c];

	return (struct side){ least == -DBL_MAX ? -INFINITY : least, most == DBL_MAX ? INFINITY : most };
}

enum { FREE, BASIC, AT_UPPER, AT_LOWER }; /* CLP's words for a basis */

static int resting_place(struct side s)
{
	if (isinf(s.least))
		return isinf(s.most) ? FREE : AT_UPPER;
	return AT_LOWER;
}

/* The place in the basis after a side has changed. */
static int place(int was, struct side s)
{
	if (was == BASIC || (was == AT_UPPER && !isinf(s.most)))
		return was;
	return resting_place(s);
}

/*
 * Writes the whole basis: CLP does not ask itself whether it still fits the
 * sides, and keeps marks of its last run beside it that mislead the next.
 */
static void mend_basis(struct lp *lp, bool forget)
{
	size_t columns = lp->columns.n, n = columns + lp->rows.n;
	unsigned char *basis = mem_alloc(n + 1);

	for (size_t i = 0; i < n; i++) {
		bool row = i >= columns;
		struct side s = row ? lp->rows.at[i - columns] : column_side(lp, i);

		if (forget)
			basis[i] = row ? BASIC : (unsigned char)resting_place(s);
		else if (row)
			basis[i] = (unsigned char)place(Clp_getRowStatus(lp->clp, (int)(i - columns)),
				s);
		else
			basis[i] = (unsigned char)place(Clp_getColumnStatus(lp->clp, (int)i), s);
	}
	Clp_copyinStatus(lp->clp, basis);
	free(basis);
}

static void load_new(struct lp *lp)
{
	lp->clp = Clp_newModel();
	Clp_setLogLevel(lp->clp, 0);
	Clp_loadProblem(lp->clp, (int)lp->columns.n, (int)lp->rows.n, lp->start.at, lp->index.at,
		lp->value.at, lp->column_least.at, lp->column_most.at, lp->scaled.at,
		lp->row_least.at, lp->row_most.at);
	mend_basis(lp, true);
	lp->loaded_columns = lp->columns.n;
	lp->loaded_rows = lp->rows.n;
}

/* Loads a program that has grown; what was there keeps its place in the basis. */
static void load_grown(struct lp *lp)
{
	size_t columns = lp->loaded_columns, rows = lp->loaded_rows;
	Clp_Simplex *old = lp->clp;

	sort_entries_by_column(lp);
	load_new(lp);
	if (!old)
		return;
	for (size_t c = 0; c < columns; c++)
		Clp_setColumnStatus(lp->clp, (int)c, Clp_getColumnStatus(old, (int)c));
	for (size_t r = 0; r < rows; r++)
		Clp_setRowStatus(lp->clp, (int)r, Clp_getRowStatus(old, (int)r));
	Clp_deleteModel(old);
}

/* Forgets everything that CLP may remember, not only the basis. */
static void load_again(struct lp *lp)
{
	Clp_deleteModel(lp->clp);
	load_new(lp);
}

static void refresh_costs(struct lp *lp)
{
	Clp_chgObjCoefficients(lp->clp, lp->scaled.at);
}

void lp_refresh(struct lp *lp)
{
	if (!lp->clp || lp->shape_changed)
		load_grown(lp);
	Clp_chgColumnLower(lp->clp, lp->column_least.at);
	Clp_chgColumnUpper(lp->clp, lp->column_most.at);
	Clp_chgRowLower(lp->clp, lp->row_least.at);
	Clp_chgRowUpper(lp->clp, lp->row_most.at);
	refresh_costs(lp);
	mend_basis(lp, false);
}

/* ---- checking answers */

/* How far v is outside, relative to `size`. */
static double outside(double v, struct side s, double size)
{
	return fmax(0, fmax(s.least - v, v - s.most)) / (1 + size);
}

/* The greatest relative violation of a row or bound; infinite for what is no number. */
double lp_violation(const struct lp *lp, const double *x)
{
	double *sum = mem_alloc(2 * lp->rows.n * sizeof(*sum) + 1), *size = sum + lp->rows.n;
	double worst = 0;

	for (size_t c = 0; c < lp->columns.n; c++) {
		if (!isfinite(x[c]))
			worst = INFINITY;
		worst = fmax(worst, outside(x[c], lp->columns.at[c], fabs(x[c])));
		for (CoinBigIndex i = lp->start.at[c]; i < lp->start.at[c + 1]; i++) {
			double term = lp->value.at[i] * x[c];

			sum[lp->index.at[i]] += term;
			size[lp->index.at[i]] = fmax(size[lp->index.at[i]], fabs(term));
		}
	}
	for (size_t r = 0; r < lp->rows.n; r++)
		worst = fmax(worst, outside(sum[r], lp->rows.at[r], size[r]));
	free(sum);
	return worst;
}

double lp_objective_of(const struct lp *lp, const double *x)
{
	double sum = 0;

	for (size_t c = 0; c < lp->columns.n; c++)
		sum += lp->scaled.at[c] * x[c];
	return sum;
}

/* What a price earns at the side it presses on.  Noise on an endless side earns nothing. */
static double earned(double price, struct side s, double noise)
{
	double at = price > 0 ? s.least : s.most;

	if (isfinite(at))
		return price * at;
	return fabs(price) <= noise ? 0 : -INFINITY;
}

/* The scaled objective that these row prices prove nobody can go below; cost NULL is no costs. */
static double dual_objective(const struct lp *lp, const double *cost, const double *price, double noise)
{
	double sum = 0;

	for (size_t r = 0; r < lp->rows.n; r++)
		sum += earned(price[r], lp->rows.at[r], noise);
	for (size_t c = 0; c < lp->columns.n; c++) {
		double reduced = cost ? cost[c] : 0;

		for (CoinBigIndex i = lp->start.at[c]; i < lp->start.at[c + 1]; i++)
			reduced -= price[lp->index.at[i]] * lp->value.at[i];
		sum += earned(reduced, column_side(lp, c), noise);
	}
	return sum;
}

static bool linear_answer_holds(const struct lp *lp)
{
	const double *x = Clp_primalColumnSolution(lp->clp);
	double primal, dual;

	if (!(lp_violation(lp, x) <= LP_TOLERANCE))
		return false;
	primal = lp_objective_of(lp, x);
	dual = dual_objective(lp, lp->scaled.at, Clp_dualRowSolution(lp->clp),
		LP_TOLERANCE * LP_MOST_COST);
	return primal - dual <= LP_TOLERANCE * (LP_MOST_COST + fabs(primal));
}

/*
 * Prices at which rows and bounds alone promise a gain that no answer can have
 * (Farkas).  CLP gives them with either sign.
 */
static bool proves_infeasible(const struct lp *lp, const double *ray)
{
	double *price = mem_alloc(lp->rows.n * sizeof(*price) + 1), greatest = 0;
	bool good = false;

	for (size_t r = 0; r < lp->rows.n; r++)
		greatest = fmax(greatest, fabs(ray[r]));
	for (int sign = -1; sign <= 1 && !good; sign += 2) {
		for (size_t r = 0; r < lp->rows.n; r++)
			price[r] = sign * ray[r];
		good = dual_objective(lp, NULL, price, 1e-9 * greatest) > LP_TOLERANCE * greatest;
	}
	free(price);
	return good;
}

/* Whether one may go this way for ever. */
static bool stays_inside(double step, struct side s, double noise)
{
	return fabs(step) <= noise || isinf(step > 0 ? s.most : s.least);
}

/* A way that leaves no row or bound and lowers the cost with every step. */
static bool proves_unbounded(const struct lp *lp, const double *step)
{
	double *sum = mem_alloc(lp->rows.n * sizeof(*sum) + 1), greatest = 0;
	bool good = true;

	for (size_t c = 0; c < lp->columns.n; c++)
		greatest = fmax(greatest, fabs(step[c]));
	for (size_t c = 0; c < lp->columns.n; c++) {
		good = good && stays_inside(step[c], column_side(lp, c), 1e-9 * greatest);
		for (CoinBigIndex i = lp->start.at[c]; i < lp->start.at[c + 1]; i++)
			sum[lp->index.at[i]] += lp->value.at[i] * step[c];
	}
	for (size_t r = 0; r < lp->rows.n; r++)
		good = good && stays_inside(sum[r], lp->rows.at[r], 1e-9 * greatest);
	free(sum);
	return good && lp_objective_of(lp, step) < -LP_TOLERANCE * greatest;
}

/* ---- linear programs */

enum method { DUAL, PRIMAL };

/* What one run says, and whether it brings the proof. */
struct verdict {
	enum lp_status status;
	bool proved;
};

static bool ray_proves(const struct lp *lp, double *ray,
	bool (*proves)(const struct lp *lp, const double *ray))
{
	bool good = ray && proves(lp, ray);

	if (ray)
		Clp_freeRay(lp->clp, ray);
	return good;
}

static struct verdict verdict_of(const struct lp *lp)
{
	bool feasible;

	switch (Clp_status(lp->clp)) {
	case 0:
		if (linear_answer_holds(lp))
			return (struct verdict){ LP_OPTIMAL, true };
		return (struct verdict){ LP_FAILED, false };
	case 1:
		return (struct verdict){ LP_INFEASIBLE,
			ray_proves(lp, Clp_infeasibilityRay(lp->clp), proves_infeasible) };
	case 2:
		feasible = lp_violation(lp, Clp_primalColumnSolution(lp->clp)) <= LP_TOLERANCE;
		return (struct verdict){ LP_UNBOUNDED,
			feasible && ray_proves(lp, Clp_unboundedRay(lp->clp), proves_unbounded) };
	case 3:
		return (struct verdict){ LP_TIME, true };
	default:
		return (struct verdict){ LP_FAILED, false };
	}
}

static struct verdict simplex(struct lp *lp, enum method method, double until_s)
{
	Clp_setMaximumSeconds(lp->clp, until_s == INFINITY ? -1 : fmax(until_s - clock_cpu_s(), 0));
	if (method == DUAL)
		Clp_dual(lp->clp, 0);
	else
		Clp_primal(lp->clp, 0);
	return verdict_of(lp);
}

/*
 * Whether the program has any answer: without costs CLP cannot run off to
 * infinity before it is feasible, which it may report as infeasible.  Leaves a
 * feasible basis.  LP_OPTIMAL, LP_INFEASIBLE when proved or when both methods
 * say so, or what went wrong.
 */
static enum lp_status settle_feasibility(struct lp *lp, double until_s)
{
	double *none = mem_alloc(lp->columns.n * sizeof(*none) + 1), *scaled = lp->scaled.at;
	struct verdict one, two = { 0 };

	lp->scaled.at = none;
	load_again(lp);
	one = simplex(lp, DUAL, until_s);
	if (!one.proved)
		two = simplex(lp, PRIMAL, until_s);
	lp->scaled.at = scaled;
	free(none);
	refresh_costs(lp);
	if (one.proved || two.proved)
		return one.proved ? one.status : two.status;
	return one.status == two.status ? one.status : LP_FAILED;
}

/*
 * Both methods from the basis at hand, until one brings a proof; then step by
 * step from none.
 */
enum lp_status lp_solve_linear(struct lp *lp, double until_s)
{
	enum method first = lp->shape_changed || lp->sides_changed ? DUAL : PRIMAL;
	struct verdict v = simplex(lp, first, until_s);
	enum lp_status status;

	if (!v.proved)
		v = simplex(lp, first == DUAL ? PRIMAL : DUAL, until_s);
	if (v.proved)
		return v.status;
	status = settle_feasibility(lp, until_s);
	if (status != LP_OPTIMAL)
		return status == LP_UNBOUNDED ? LP_FAILED : status;
	v = simplex(lp, PRIMAL, until_s);
	if (!v.proved)
		v = simplex(lp, DUAL, until_s);
	return v.proved ? v.status : LP_FAILED;
}

void lp_take_answer(struct lp *lp, const double *x)
{
	lp->answered = true;
	vec_grow_zero(&lp->answer, lp->columns.n);
	for (size_t c = 0; c < lp->columns.n; c++)
		lp->answer.at[c] = fmin(fmax(x[c], lp->columns.at[c].least), lp->columns.at[c].most);
	lp->objective = lp_objective_of(lp, lp->answer.at) / lp->scale;
	lp->bound = lp->objective;
}

static void take_linear(struct lp *lp)
{
	const double *price = Clp_dualRowSolution(lp->clp);

	lp_take_answer(lp, Clp_primalColumnSolution(lp->clp));
	vec_grow_zero(&lp->price, lp->rows.n);
	for (size_t r = 0; r < lp->rows.n; r++)
		lp->price.at[r] = price[r] / lp->scale;
}

/* ---- solving and asking */

enum lp_status lp_solve(struct lp *lp, struct lp_limits limits)
{
	double until_s = limits.seconds > 0 ? clock_cpu_s() + limits.seconds : INFINITY;
	enum lp_status status;
	bool whole = false;

	for (size_t c = 0; c < lp->whole.n; c++)
		whole |= lp->whole.at[c];
	lp->answered = false;
	lp->price.n = 0;
	scale_costs(lp);
	lp->objective = lp->bound = NAN;
	lp_write_sides(lp);
	if (sides_cross(lp))
		return LP_INFEASIBLE;
	lp_refresh(lp);
	status = whole ? lp_solve_whole(lp, limits.gap, until_s) : lp_solve_linear(lp, until_s);
	lp->shape_changed = lp->sides_changed = false;
	if (!whole && status == LP_OPTIMAL)
		take_linear(lp);
	if (!whole && status == LP_TIME &&
		lp_violation(lp, Clp_primalColumnSolution(lp->clp)) <= LP_TOLERANCE) {
		lp_take_answer(lp, Clp_primalColumnSolution(lp->clp));
		lp->bound = -INFINITY / lp->scale;
	}
	return status;
}

bool lp_has_answer(const struct lp *lp)
{
	return lp->answered;
}

double lp_objective(const struct lp *lp)
{
	return lp->objective;
}

double lp_bound(const struct lp *lp)
{
	return lp->bound;
}

double lp_value(const struct lp *lp, uint32_t column)
{
	assert(lp->answered && column < lp->answer.n);
	return lp->answer.at[column];
}

double lp_price(const struct lp *lp, uint32_t row)
{
	assert(lp->answered && row < lp->price.n);
	return lp->price.at[row];
}

const char *lp_status_name(enum lp_status status)
{
	static const char *const names[] = {
		[LP_OPTIMAL] = "optimal",
		[LP_INFEASIBLE] = "infeasible",
		[LP_UNBOUNDED] = "unbounded",
		[LP_TIME] = "out of time",
		[LP_FAILED] = "failed",
	};

	return names[status];
}
