/*
 * Programs with whole numbers: a plain search of our own, and CBC for what it
 * cannot finish.  Neither is believed: answers are measured as in lp.c.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "solver/lp_parts.h"

/* ---- answers */

/* Rounds the whole columns of x in place; false if one is not near a whole number. */
static bool round_whole(const struct lp *lp, double *x, double near)
{
	for (size_t c = 0; c < lp->columns.n; c++) {
		if (!lp->whole.at[c])
			continue;
		if (!(fabs(x[c] - nearbyint(x[c])) <= near))
			return false;
		x[c] = nearbyint(x[c]);
	}
	return true;
}

/* The best of the other columns, with the whole ones fixed where x has them. */
static bool polish(struct lp *lp, double *x, double until_s)
{
	enum lp_status status;

	for (size_t c = 0; c < lp->columns.n; c++) {
		if (lp->whole.at[c])
			lp->column_least.at[c] = lp->column_most.at[c] = x[c];
	}
	lp_refresh(lp);
	status = lp_solve_linear(lp, until_s);
	lp_write_sides(lp);
	if (status != LP_OPTIMAL)
		return false;
	memcpy(x, Clp_primalColumnSolution(lp->clp), lp->columns.n * sizeof(*x));
	return round_whole(lp, x, LP_TOLERANCE) && lp_violation(lp, x) <= LP_TOLERANCE;
}

/*
 * Takes an answer that is whole up to `near`, unless a better one is known.
 * Rounding can push a row out where coefficients are large; then the rest is
 * solved anew.  False if the answer is none.
 */
static bool take_whole(struct lp *lp, const double *answer, double near, double until_s)
{
	size_t bytes = lp->columns.n * sizeof(*answer);
	double *x = mem_alloc(bytes);
	bool good;

	memcpy(x, answer, bytes);
	good = round_whole(lp, x, near) &&
		(lp_violation(lp, x) <= LP_TOLERANCE || polish(lp, x, until_s));
	if (good && (!lp->answered || lp_objective_of(lp, x) < lp->objective * lp->scale))
		lp_take_answer(lp, x);
	free(x);
	return good;
}

/* ---- our own search */

/*
 * A plain search comes first, deepest node first.  It settles most of what is
 * small, and there CBC has been seen to be wrong.
 */
struct node {
	uint32_t parent; /* index into the tree; the root is its own */
	uint32_t column; /* the bounds that this node changes */
	double least, most;
	double bound;
};

struct tree {
	VEC(struct node) nodes;
	VEC(uint32_t) open;
	double gap, until_s;
	double work_left; /* iterations times size: the same on every machine, unlike seconds */
	double bound;     /* of what was pruned for being within the gap */
};

/* What a node must be below to be worth looking into. */
static double worthwhile(const struct lp *lp, double gap)
{
	double known = lp->objective * lp->scale;

	return lp->answered ? known - fmax(gap * fabs(known), 1e-10 * LP_MOST_COST) : INFINITY;
}

static void enter(struct lp *lp, const struct tree *tree, uint32_t node)
{
	lp_write_sides(lp);
	for (uint32_t i = node; i; i = tree->nodes.at[i].parent) {
		const struct node *n = &tree->nodes.at[i];

		lp->column_least.at[n->column] = fmax(lp->column_least.at[n->column], n->least);
		lp->column_most.at[n->column] = fmin(lp->column_most.at[n->column], n->most);
	}
	lp_refresh(lp);
}

/* The whole column that is farthest from a whole number; false if all are near one. */
static bool pick_column(const struct lp *lp, const double *x, uint32_t *column)
{
	double farthest = 1e-7;

	for (size_t c = 0; c < lp->columns.n; c++) {
		double away = fabs(x[c] - nearbyint(x[c]));

		if (lp->whole.at[c] && away > farthest) {
			farthest = away;
			*column = (uint32_t)c;
		}
	}
	return farthest > 1e-7;
}

static void add_child(struct tree *tree, struct node node)
{
	vec_push(&tree->nodes, node);
	vec_push(&tree->open, (uint32_t)(tree->nodes.n - 1));
}

/* The nearer child is opened last, so that it is looked into first. */
static void branch(struct tree *tree, uint32_t parent, uint32_t column, double x, double bound)
{
	struct node down = { parent, column, -DBL_MAX, floor(x), bound };
	struct node up = { parent, column, floor(x) + 1, DBL_MAX, bound };
	bool down_first = x - floor(x) <= 0.5;

	add_child(tree, down_first ? up : down);
	add_child(tree, down_first ? down : up);
}

static bool look_into(struct lp *lp, struct tree *tree, uint32_t node)
{
	enum lp_status status;
	const double *x;
	uint32_t column = 0;
	double bound;

	enter(lp, tree, node);
	status = lp_solve_linear(lp, tree->until_s);
	lp->shape_changed = false;
	tree->work_left -= (Clp_numberIterations(lp->clp) + 10.0) *
		(double)(lp->rows.n + lp->columns.n + lp->entries.n);
	if (status != LP_OPTIMAL)
		return status == LP_INFEASIBLE;
	x = Clp_primalColumnSolution(lp->clp);
	bound = lp_objective_of(lp, x);
	if (bound >= worthwhile(lp, tree->gap))
		tree->bound = fmin(tree->bound, bound);
	else if (pick_column(lp, x, &column))
		branch(tree, node, column, x[column], bound);
	else
		return take_whole(lp, x, 1e-6, tree->until_s);
	return true;
}

/* True if the search came to its end; *bound is what it proves either way. */
static bool search_tree(struct lp *lp, struct tree *tree, double *bound)
{
	bool sound = true;

	add_child(tree, (struct node){ .bound = *bound });
	while (sound && tree->open.n && tree->work_left > 0) {
		uint32_t node = tree->open.at[--tree->open.n];

		if (tree->nodes.at[node].bound < worthwhile(lp, tree->gap))
			sound = look_into(lp, tree, node);
		else
			tree->bound = fmin(tree->bound, tree->nodes.at[node].bound);
		sound = sound && clock_cpu_s() < tree->until_s;
	}
	for (size_t i = 0; i < tree->open.n; i++)
		tree->bound = fmin(tree->bound, tree->nodes.at[tree->open.at[i]].bound);
	if (sound)
		*bound = fmax(*bound,
			fmin(tree->bound, lp->answered ? lp->objective * lp->scale : INFINITY));
	return sound && !tree->open.n;
}

static bool search_small(struct lp *lp, double gap, double until_s, double *bound)
{
	struct tree tree = { .gap = gap, .until_s = until_s, .work_left = 5e7, .bound = INFINITY };
	bool done = search_tree(lp, &tree, bound);

	vec_fini(&tree.nodes);
	vec_fini(&tree.open);
	lp_write_sides(lp);
	lp->sides_changed = true;
	return done;
}

/* ---- CBC */

/* CBC keeps some of its state in variables of the process. */
static pthread_mutex_t one_cbc_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void set_number(Cbc_Model *cbc, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	Cbc_setParameter(cbc, name, text);
}

static Cbc_Model *new_cbc(const struct lp *lp, double gap, double seconds)
{
	Cbc_Model *cbc = Cbc_newModel();

	Cbc_setLogLevel(cbc, 0);
	Cbc_setParameter(cbc, "log", "0");
	Cbc_setParameter(cbc, "slog", "0");
	Cbc_loadProblem(cbc, (int)lp->columns.n, (int)lp->rows.n, lp->start.at, lp->index.at,
		lp->value.at, lp->column_least.at, lp->column_most.at, lp->scaled.at,
		lp->row_least.at, lp->row_most.at);
	for (size_t c = 0; c < lp->columns.n; c++) {
		if (lp->whole.at[c])
			Cbc_setInteger(cbc, (int)c);
	}
	Cbc_setObjSense(cbc, 1);
	set_number(cbc, "ratioGap", gap);
	set_number(cbc, "allowableGap", 0);
	/* Without this an answer that is better by less than 1e-5 is thrown away. */
	set_number(cbc, "increment", 1e-9 * LP_MOST_COST);
	/* Both have cut off the best answer of programs with general whole columns. */
	Cbc_setParameter(cbc, "preprocess", "off");
	Cbc_setParameter(cbc, "probingCuts", "off");
	if (seconds < INFINITY)
		Cbc_setMaximumSeconds(cbc, seconds);
	return cbc;
}

static enum lp_status cbc_status(Cbc_Model *cbc)
{
	if (Cbc_isProvenInfeasible(cbc))
		return LP_INFEASIBLE;
	if (Cbc_isProvenOptimal(cbc))
		return LP_OPTIMAL;
	return Cbc_status(cbc) == 1 ? LP_TIME : LP_FAILED;
}

/* Reads CBC's answer.  What contradicts what is known already makes it a failure. */
static enum lp_status read_cbc(struct lp *lp, Cbc_Model *cbc, double until_s, double *bound)
{
	const double near = 1e-5; /* ten times CBC's own measure of a whole number */
	const double *x = Cbc_bestSolution(cbc);
	enum lp_status status = cbc_status(cbc);
	double slack, proved = Cbc_getBestPossibleObjValue(cbc);

	if (x && !take_whole(lp, x, near, until_s) && status == LP_OPTIMAL)
		return LP_FAILED;
	if (status == LP_OPTIMAL && !lp->answered)
		return LP_FAILED;
	if (status == LP_INFEASIBLE || status == LP_FAILED)
		return lp->answered ? LP_FAILED : status;
	slack = lp->answered ? lp->objective * lp->scale - proved : 0;
	if (slack < -LP_TOLERANCE * (LP_MOST_COST + fabs(proved)))
		return LP_FAILED;
	*bound = fmax(*bound, proved);
	return status;
}

static enum lp_status search_large(struct lp *lp, double gap, double until_s, double *bound)
{
	double seconds = until_s - clock_cpu_s();
	enum lp_status status;
	Cbc_Model *cbc;

	if (seconds <= 0)
		return LP_TIME;
	pthread_mutex_lock(&one_cbc_at_a_time);
	cbc = new_cbc(lp, gap, seconds);
	Cbc_solve(cbc);
	status = read_cbc(lp, cbc, until_s, bound);
	Cbc_deleteModel(cbc);
	pthread_mutex_unlock(&one_cbc_at_a_time);
	return status;
}

static enum lp_status search(struct lp *lp, double gap, double until_s, double *bound)
{
	if (search_small(lp, gap, until_s, bound))
		return lp->answered ? LP_OPTIMAL : LP_INFEASIBLE;
	return search_large(lp, gap, until_s, bound);
}

/* A program whose relaxation is unbounded is so itself if it has any answer. */
static enum lp_status settle_unbounded(struct lp *lp, double until_s)
{
	double bound = -INFINITY;
	enum lp_status status;

	memset(lp->scaled.at, 0, lp->scaled.n * sizeof(*lp->scaled.at));
	status = search(lp, 0, until_s, &bound);
	lp->answered = false;
	return status == LP_OPTIMAL ? LP_UNBOUNDED : status;
}

enum lp_status lp_solve_whole(struct lp *lp, double gap, double until_s)
{
	enum lp_status status = lp_solve_linear(lp, until_s);
	double bound = -INFINITY;

	lp->shape_changed = false;
	if (status == LP_UNBOUNDED)
		return settle_unbounded(lp, until_s);
	if (status == LP_INFEASIBLE || status == LP_TIME)
		return status;
	if (status == LP_OPTIMAL)
		bound = lp_objective_of(lp, Clp_primalColumnSolution(lp->clp));
	status = search(lp, gap, until_s, &bound);
	if (lp->answered)
		bound = fmin(bound, lp->objective * lp->scale);
	lp->bound = bound / lp->scale;
	return status;
}
