#include "solver/lp.h"

#include <math.h>

#include "base/clock.h"
#include "support/property.h"

static const struct lp_limits exact = { 0 };

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

static void assert_close(double a, double b)
{
	if (!close_to(a, b))
		fail_msg("%.12g is not %.12g", a, b);
}

static void assert_status(enum lp_status is, enum lp_status want)
{
	assert_string_equal(lp_status_name(is), lp_status_name(want));
}

/* ---- known programs */

/* Two products, three machines: 3 x + 5 y with x <= 4, 2 y <= 12, 3 x + 2 y <= 18. */
static struct lp *factory(double sign)
{
	struct lp *lp = lp_create();

	lp_add_column(lp, 3 * sign, 0, INFINITY, false);
	lp_add_column(lp, 5 * sign, 0, INFINITY, false);
	lp_add_row(lp, -INFINITY, 4);
	lp_add_row(lp, -INFINITY, 12);
	lp_add_row(lp, -INFINITY, 18);
	lp_set(lp, 0, 0, 1);
	lp_set(lp, 1, 1, 2);
	lp_set(lp, 2, 0, 3);
	lp_set(lp, 2, 1, 2);
	return lp;
}

static void a_textbook_program(void **state)
{
	struct lp *lp = factory(1);

	(void)state;
	lp_maximise(lp, true);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_true(lp_has_answer(lp));
	assert_close(lp_objective(lp), 36);
	assert_close(lp_bound(lp), 36);
	assert_close(lp_value(lp, 0), 2);
	assert_close(lp_value(lp, 1), 6);
	assert_close(lp_price(lp, 0), 0);
	assert_close(lp_price(lp, 1), 1.5);
	assert_close(lp_price(lp, 2), 1);
	lp_destroy(lp);
}

static void minimising_the_negative_is_the_same(void **state)
{
	struct lp *lp = factory(-1);

	(void)state;
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), -36);
	assert_close(lp_price(lp, 1), -1.5);
	assert_close(lp_price(lp, 2), -1);
	lp_destroy(lp);
}

static void a_price_is_what_a_unit_is_worth(void **state)
{
	struct lp *lp = factory(1);

	(void)state;
	lp_maximise(lp, true);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	lp_set_row(lp, 2, -INFINITY, 18.5);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 36.5);
	lp_set_row(lp, 1, -INFINITY, 11);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 35);
	lp_set_cost(lp, 1, 0);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 12);
	lp_destroy(lp);
}

static void a_program_may_grow(void **state)
{
	struct lp *lp = factory(1);
	uint32_t column, row;

	(void)state;
	lp_maximise(lp, true);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	column = lp_add_column(lp, 10, 0, 1, false);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 46);
	row = lp_add_row(lp, 0, 6.5);
	lp_set(lp, row, 1, 1);
	lp_set(lp, row, column, 1);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 10 + 5 * 5.5 + 3 * 7.0 / 3);
	lp_destroy(lp);
}

static void tiny_and_huge_costs(void **state)
{
	static const double sizes[] = { 1e-12, 1e-9, 1e-3, 1e6, 1e12 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct lp *lp = factory(sizes[i]);

		lp_maximise(lp, true);
		assert_status(lp_solve(lp, exact), LP_OPTIMAL);
		assert_close(lp_objective(lp) / sizes[i], 36);
		assert_close(lp_price(lp, 2) / sizes[i], 1);
		lp_destroy(lp);
	}
}

/* ---- no answer, or none needed */

static void nothing_is_feasible(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct lp *lp = lp_create();

		lp_add_column(lp, 1, 0, 1, whole);
		lp_add_column(lp, 1, 0, 1, whole);
		lp_add_row(lp, 3, INFINITY);
		lp_set(lp, 0, 0, 1);
		lp_set(lp, 0, 1, 1);
		assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
		assert_false(lp_has_answer(lp));
		lp_set_row(lp, 0, 2, INFINITY);
		assert_status(lp_solve(lp, exact), LP_OPTIMAL);
		assert_close(lp_objective(lp), 2);
		lp_set_column(lp, 0, 1, 0);
		assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
		assert_false(lp_has_answer(lp));
		lp_destroy(lp);
	}
}

/* 2 x + 2 y = 3 has fractions only. */
static void no_whole_answer(void **state)
{
	struct lp *lp = lp_create();

	(void)state;
	lp_add_column(lp, 1, 0, 10, true);
	lp_add_column(lp, 2, 0, 10, true);
	lp_add_row(lp, 3, 3);
	lp_set(lp, 0, 0, 2);
	lp_set(lp, 0, 1, 2);
	assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
	assert_false(lp_has_answer(lp));
	lp_destroy(lp);
}

static void bounds_without_a_whole_number(void **state)
{
	struct lp *lp = lp_create();

	(void)state;
	lp_add_column(lp, 1, 0.25, 0.75, true);
	assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
	lp_set_column(lp, 0, 0.25, 1.75);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_value(lp, 0), 1);
	lp_destroy(lp);
}

static void unbounded_programs(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct lp *lp = lp_create();

		lp_add_column(lp, -1, 0, INFINITY, whole);
		lp_add_column(lp, 1, 0, INFINITY, whole);
		lp_add_row(lp, -INFINITY, 2.5);
		lp_set(lp, 0, 0, 1);
		lp_set(lp, 0, 1, -1);
		lp_set_cost(lp, 0, -2);
		assert_status(lp_solve(lp, exact), LP_UNBOUNDED);
		assert_false(lp_has_answer(lp));
		lp_set_cost(lp, 0, -0.5);
		assert_status(lp_solve(lp, exact), LP_OPTIMAL);
		assert_close(lp_objective(lp), whole ? -1 : -1.25);
		lp_destroy(lp);
	}
}

/* Infeasible, and its dual as well. */
static void neither_has_an_answer(void **state)
{
	struct lp *lp = lp_create();

	(void)state;
	lp_add_column(lp, -1, 0, INFINITY, false);
	lp_add_column(lp, -1, 0, INFINITY, false);
	lp_add_row(lp, 1, 1);
	lp_add_row(lp, 2, 2);
	for (uint32_t r = 0; r < 2; r++) {
		lp_set(lp, r, 0, 1);
		lp_set(lp, r, 1, -1);
	}
	assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
	lp_destroy(lp);
}

static void empty_programs(void **state)
{
	struct lp *lp = lp_create();

	(void)state;
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), 0);
	lp_add_row(lp, -1, 1);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_price(lp, 0), 0);
	lp_add_row(lp, 1, 2);
	assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
	lp_destroy(lp);
	lp_destroy(NULL);

	lp = lp_create();
	lp_add_column(lp, -1, 0, 7, false);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	assert_close(lp_objective(lp), -7);
	lp_add_column(lp, 1, -INFINITY, 3, false);
	assert_status(lp_solve(lp, exact), LP_UNBOUNDED);
	lp_set_cost(lp, 1, 0);
	assert_status(lp_solve(lp, exact), LP_OPTIMAL);
	lp_destroy(lp);
}

/* ---- random linear programs */

enum { MOST = 12 };

struct program {
	uint32_t rows, columns;
	bool maximise;
	double cost[MOST], least[MOST], most[MOST], row_least[MOST], row_most[MOST], at[MOST][MOST];
};

static double small_number(struct rng *rng)
{
	return (double)rng_below(rng, 21) - 10;
}

static void draw_sides(struct rng *rng, double *least, double *most)
{
	uint64_t kind = rng_below(rng, 6);
	double a = small_number(rng), b = small_number(rng);

	*least = kind == 0 || kind == 1 ? -INFINITY : fmin(a, b);
	*most = kind == 1 || kind == 2 ? INFINITY : fmax(a, b);
	if (kind == 5)
		*most = *least;
}

static void change_program(struct program *p, struct rng *rng)
{
	uint32_t c = (uint32_t)rng_below(rng, p->columns), r = (uint32_t)rng_below(rng, p->rows);
	uint64_t what = rng_below(rng, 7);

	if (what & 1 || what == 6)
		p->cost[c] = small_number(rng);
	if (what & 2)
		draw_sides(rng, &p->row_least[r], &p->row_most[r]);
	if (what & 4)
		draw_sides(rng, &p->least[c], &p->most[c]);
}

static void draw_program(struct program *p, struct rng *rng)
{
	p->columns = 1 + (uint32_t)rng_below(rng, MOST);
	p->rows = 1 + (uint32_t)rng_below(rng, MOST);
	p->maximise = rng_below(rng, 2);
	for (uint32_t c = 0; c < p->columns; c++) {
		p->cost[c] = small_number(rng);
		p->least[c] = 0;
		p->most[c] = rng_below(rng, 2) ? INFINITY : 10;
		for (uint32_t r = 0; r < p->rows; r++)
			p->at[r][c] = rng_below(rng, 2) ? small_number(rng) : 0;
	}
	for (uint32_t r = 0; r < p->rows; r++)
		draw_sides(rng, &p->row_least[r], &p->row_most[r]);
}

static struct lp *build(const struct program *p, bool whole)
{
	struct lp *lp = lp_create();

	lp_maximise(lp, p->maximise);
	for (uint32_t c = 0; c < p->columns; c++)
		lp_add_column(lp, p->cost[c], p->least[c], p->most[c], whole);
	for (uint32_t r = 0; r < p->rows; r++) {
		lp_add_row(lp, p->row_least[r], p->row_most[r]);
		for (uint32_t c = 0; c < p->columns; c++)
			lp_set(lp, r, c, p->at[r][c]);
	}
	return lp;
}

static void update(struct lp *lp, const struct program *p)
{
	for (uint32_t c = 0; c < p->columns; c++) {
		lp_set_cost(lp, c, p->cost[c]);
		lp_set_column(lp, c, p->least[c], p->most[c]);
	}
	for (uint32_t r = 0; r < p->rows; r++)
		lp_set_row(lp, r, p->row_least[r], p->row_most[r]);
}

/* Prices prove the objective: none goes the wrong way, and together they earn as much. */
static void assert_prices_prove(const struct lp *lp, const struct program *p)
{
	double sign = p->maximise ? -1 : 1, earned = 0;

	for (uint32_t i = 0; i < p->rows + p->columns; i++) {
		bool row = i < p->rows;
		uint32_t c = i - p->rows;
		double price = row ? sign * lp_price(lp, i) : sign * p->cost[c], side;

		for (uint32_t r = 0; !row && r < p->rows; r++)
			price -= sign * lp_price(lp, r) * p->at[r][c];
		if (row)
			side = price > 0 ? p->row_least[i] : p->row_most[i];
		else
			side = price > 0 ? p->least[c] : p->most[c];
		if (fabs(price) > 1e-6)
			earned += price * side;
	}
	assert_close(earned, sign * lp_objective(lp));
}

static void warm_starts_answer_as_cold_ones(void **state)
{
	struct rng rng = property("warm starts answer as cold ones");
	size_t count[5] = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(250); i++) {
		struct program p;
		struct lp *warm;

		draw_program(&p, &rng);
		warm = build(&p, false);
		for (int step = 0; step < 12; step++) {
			struct lp *cold = build(&p, false);
			enum lp_status status = lp_solve(warm, exact);

			count[status]++;
			assert_status(status, lp_solve(cold, exact));
			assert_true(status != LP_FAILED && status != LP_TIME);
			if (status == LP_OPTIMAL) {
				assert_close(lp_objective(warm), lp_objective(cold));
				assert_prices_prove(warm, &p);
				assert_prices_prove(cold, &p);
			}
			lp_destroy(cold);
			change_program(&p, &rng);
			update(warm, &p);
		}
		lp_destroy(warm);
	}
	assert_true(count[LP_OPTIMAL] > 100 && count[LP_INFEASIBLE] > 100 && count[LP_UNBOUNDED] > 100);
}

/* ---- random integer programs */

/* The best over every whole point of a box of side 4; false if there is none. */
static bool best_of_all(const struct program *p, double *best)
{
	uint32_t points = 1;
	bool any = false;

	for (uint32_t c = 0; c < p->columns; c++)
		points *= 4;
	for (uint32_t point = 0; point < points; point++) {
		double sum[MOST] = { 0 }, cost = 0;
		bool good = true;

		for (uint32_t c = 0; c < p->columns; c++) {
			double x = p->least[c] + (point >> (2 * c) & 3);

			cost += p->cost[c] * x;
			for (uint32_t r = 0; r < p->rows; r++)
				sum[r] += p->at[r][c] * x;
		}
		for (uint32_t r = 0; r < p->rows; r++)
			good &= sum[r] >= p->row_least[r] && sum[r] <= p->row_most[r];
		if (good && (!any || (p->maximise ? cost > *best : cost < *best)))
			*best = cost;
		any |= good;
	}
	return any;
}

static void small_integer_programs_by_trying_all(void **state)
{
	struct rng rng = property("integer programs against every point");
	size_t good = 0, n = rounds(250);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct program p;
		double best;
		struct lp *lp;

		draw_program(&p, &rng);
		p.columns = p.columns > 6 ? 6 : p.columns;
		p.rows = p.rows > 5 ? 5 : p.rows;
		for (uint32_t c = 0; c < p.columns; c++) {
			p.least[c] = small_number(&rng) / 2;
			p.least[c] = ceil(p.least[c]);
			p.most[c] = p.least[c] + 3;
			p.cost[c] += rng_below(&rng, 2) ? rng_uniform(&rng) * 1e-4 : 0;
		}
		lp = build(&p, true);
		if (best_of_all(&p, &best)) {
			assert_status(lp_solve(lp, exact), LP_OPTIMAL);
			if (fabs(lp_objective(lp) - best) > 1e-7)
				fail_msg("%.12g is not the best, %.12g", lp_objective(lp), best);
			assert_close(lp_bound(lp), best);
			for (uint32_t c = 0; c < p.columns; c++)
				assert_true(lp_value(lp, c) == nearbyint(lp_value(lp, c)));
			good++;
		} else {
			assert_status(lp_solve(lp, exact), LP_INFEASIBLE);
		}
		lp_destroy(lp);
	}
	assert_true(good > n / 10 && good < n);
}

/* ---- limits */

/* A multidimensional knapsack, correlated to be hard. */
static struct lp *hard_knapsack(struct rng *rng, uint32_t columns, uint32_t rows)
{
	struct lp *lp = lp_create();

	lp_maximise(lp, true);
	for (uint32_t c = 0; c < columns; c++)
		lp_add_column(lp, 0, 0, 1, true);
	for (uint32_t r = 0; r < rows; r++)
		lp_add_row(lp, -INFINITY, 250.0 * columns);
	for (uint32_t c = 0; c < columns; c++) {
		double sum = 0;

		for (uint32_t r = 0; r < rows; r++) {
			double weight = 1 + (double)rng_below(rng, 1000);

			lp_set(lp, r, c, weight);
			sum += weight;
		}
		lp_set_cost(lp, c, sum / rows + (double)rng_below(rng, 500));
	}
	return lp;
}

static void time_is_limited(void **state)
{
	struct rng rng = property("time limit");
	struct lp *lp = hard_knapsack(&rng, 150, 20);
	double began = clock_cpu_s();

	(void)state;
	assert_status(lp_solve(lp, (struct lp_limits){ .seconds = 0.5 }), LP_TIME);
	assert_true(clock_cpu_s() - began < 3);
	assert_true(lp_has_answer(lp));
	assert_true(lp_bound(lp) >= lp_objective(lp) && lp_bound(lp) < 1.2 * lp_objective(lp));
	lp_destroy(lp);
}

static void a_gap_is_enough(void **state)
{
	struct rng rng = property("gap");
	struct lp *lp = hard_knapsack(&rng, 150, 20);

	(void)state;
	assert_status(lp_solve(lp, (struct lp_limits){ .gap = 0.03 }), LP_OPTIMAL);
	assert_true(lp_bound(lp) >= lp_objective(lp));
	assert_true(lp_bound(lp) <= lp_objective(lp) * 1.031);
	lp_destroy(lp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_textbook_program),
		cmocka_unit_test(minimising_the_negative_is_the_same),
		cmocka_unit_test(a_price_is_what_a_unit_is_worth),
		cmocka_unit_test(a_program_may_grow),
		cmocka_unit_test(tiny_and_huge_costs),
		cmocka_unit_test(nothing_is_feasible),
		cmocka_unit_test(no_whole_answer),
		cmocka_unit_test(bounds_without_a_whole_number),
		cmocka_unit_test(unbounded_programs),
		cmocka_unit_test(neither_has_an_answer),
		cmocka_unit_test(empty_programs),
		cmocka_unit_test(warm_starts_answer_as_cold_ones),
		cmocka_unit_test(small_integer_programs_by_trying_all),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(a_gap_is_enough),
	};

	return cmocka_run_group_tests_name("solver/lp", tests, NULL, NULL);
}
