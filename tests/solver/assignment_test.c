#include "solver/assignment.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "solver/lp.h"
#include "support/property.h"

enum { ROWS = 6, COLUMNS = 7 };

/* ---- proofs */

static double greatest_cost(const struct assignment *a)
{
	double most = 1;

	for (size_t i = 0; i < (size_t)a->rows * a->columns; i++)
		most = isinf(a->cost[i]) ? most : fmax(most, fabs(a->cost[i]));
	return most;
}

/* Everyone placed within the capacities, and the prices prove that nothing is cheaper. */
static void assert_proved(const struct assignment *a, const uint32_t *column_of,
	const struct assignment_prices *p)
{
	double slack = 1e-9 * greatest_cost(a);
	uint32_t *taken = mem_alloc(a->columns * sizeof(*taken) + 1);

	for (uint32_t r = 0; r < a->rows; r++) {
		assert_true(column_of[r] < a->columns);
		taken[column_of[r]]++;
		for (uint32_t c = 0; c < a->columns; c++) {
			double left = a->cost[r * a->columns + c] - p->row[r] - p->column[c];

			if (!a->capacity || a->capacity[c])
				assert_true(left >= -slack);
			if (column_of[r] == c)
				assert_true(left <= slack);
		}
	}
	for (uint32_t c = 0; c < a->columns; c++) {
		uint32_t room = a->capacity ? a->capacity[c] : 1;

		assert_true(taken[c] <= room);
		assert_true(p->column[c] <= slack);
		if (taken[c] < room)
			assert_true(p->column[c] >= -slack);
	}
	free(taken);
}

/* ---- small ones, against all of them */

struct brute {
	const struct assignment *a;
	uint32_t taken[COLUMNS], now[ROWS], best[ROWS];
	double least;
};

/* Tries columns in order, so that the first of equals stays. */
static void try_all(struct brute *b, uint32_t row, double cost)
{
	if (row == b->a->rows) {
		if (cost < b->least) {
			b->least = cost;
			memcpy(b->best, b->now, sizeof(b->now));
		}
		return;
	}
	for (uint32_t c = 0; c < b->a->columns; c++) {
		double more = b->a->cost[row * b->a->columns + c];

		if (isinf(more) || b->taken[c] == (b->a->capacity ? b->a->capacity[c] : 1))
			continue;
		b->taken[c]++;
		b->now[row] = c;
		try_all(b, row + 1, cost + more);
		b->taken[c]--;
	}
}

struct small {
	struct assignment a;
	double cost[ROWS * COLUMNS];
	uint32_t capacity[COLUMNS];
};

static double draw_cost(struct rng *rng, uint64_t kind, double forbidden)
{
	if (rng_uniform(rng) < forbidden)
		return INFINITY;
	if (kind == 0)
		return rng_uniform(rng);
	if (kind == 1)
		return (double)rng_below(rng, 3);
	return (double)rng_below(rng, 20) - 10;
}

static uint64_t draw_small(struct small *s, struct rng *rng)
{
	static const double shares[] = { 0, 0, 0.2, 0.5 };
	uint64_t kind = rng_below(rng, 3);
	double forbidden = shares[rng_below(rng, COUNT(shares))];
	bool capacities = rng_below(rng, 2);

	s->a = (struct assignment){
		.rows = (uint32_t)rng_below(rng, ROWS + 1),
		.columns = 1 + (uint32_t)rng_below(rng, COLUMNS),
		.cost = s->cost,
		.capacity = capacities ? s->capacity : NULL,
	};
	for (uint32_t i = 0; i < s->a.rows * s->a.columns; i++)
		s->cost[i] = draw_cost(rng, kind, forbidden);
	for (uint32_t c = 0; c < s->a.columns; c++)
		s->capacity[c] = (uint32_t)rng_below(rng, 4);
	return kind;
}

static void small_ones_against_all(void **state)
{
	struct rng rng = property("small assignments against all of them");
	size_t n = rounds(6000), possible = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct small s;
		uint64_t kind = draw_small(&s, &rng);
		struct brute b = { .a = &s.a, .least = INFINITY };
		uint32_t column_of[ROWS];
		double row[ROWS], column[COLUMNS];
		struct assignment_prices prices = { row, column };

		try_all(&b, 0, 0);
		assert_int_equal(assignment_solve(&s.a, column_of, &prices), b.least < INFINITY);
		if (b.least == INFINITY)
			continue;
		possible++;
		assert_true(fabs(assignment_cost(&s.a, column_of) - b.least) < 1e-9);
		assert_proved(&s.a, column_of, &prices);
		/* Whole numbers: the very first of the cheapest. */
		for (uint32_t r = 0; kind && r < s.a.rows; r++)
			assert_int_equal(column_of[r], b.best[r]);
	}
	assert_true(possible > n / 4 && possible < n);
}

static void edges(void **state)
{
	uint32_t column_of[2] = { 7, 7 }, two[] = { 2, 0 };
	double cost[] = { 1, 0, 1, 0 };
	struct assignment a = { 0, 0, NULL, NULL };

	(void)state;
	assert_true(assignment_solve(&a, NULL, NULL));
	assert_true(assignment_cost(&a, NULL) == 0);
	a = (struct assignment){ 1, 0, cost, NULL };
	assert_false(assignment_solve(&a, column_of, NULL));
	a = (struct assignment){ 2, 1, cost, NULL };
	assert_false(assignment_solve(&a, column_of, NULL));
	assert_int_equal(column_of[0], 7);
	a = (struct assignment){ 2, 2, cost, two };
	assert_true(assignment_solve(&a, column_of, NULL));
	assert_int_equal(column_of[0], 0);
	assert_int_equal(column_of[1], 0);
}

static void equal_costs_keep_the_order(void **state)
{
	static double cost[50 * 80];
	uint32_t column_of[50];
	struct assignment a = { 50, 80, cost, NULL };

	(void)state;
	assert_true(assignment_solve(&a, column_of, NULL));
	for (uint32_t r = 0; r < 50; r++)
		assert_int_equal(column_of[r], r);
}

/* ---- larger ones */

struct large {
	struct assignment a;
	double *cost;
	uint32_t *capacity, *column_of;
	struct assignment_prices prices;
};

static void large_init(struct large *l, uint32_t rows, uint32_t columns)
{
	l->cost = mem_alloc(mem_array_size((size_t)rows * columns, sizeof(*l->cost)));
	l->capacity = mem_alloc(mem_array_size(columns, sizeof(*l->capacity)));
	l->column_of = mem_alloc(mem_array_size(rows, sizeof(*l->column_of)));
	l->prices.row = mem_alloc(mem_array_size(rows, sizeof(double)));
	l->prices.column = mem_alloc(mem_array_size(columns, sizeof(double)));
	l->a = (struct assignment){ rows, columns, l->cost, l->capacity };
}

static void large_fini(struct large *l)
{
	free(l->cost);
	free(l->capacity);
	free(l->column_of);
	free(l->prices.row);
	free(l->prices.column);
}

static double by_lp(const struct assignment *a)
{
	struct lp *lp = lp_create();
	double objective;

	for (uint32_t c = 0; c < a->columns; c++)
		lp_add_row(lp, -INFINITY, a->capacity[c]);
	for (uint32_t r = 0; r < a->rows; r++) {
		uint32_t once = lp_add_row(lp, 1, 1);

		for (uint32_t c = 0; c < a->columns; c++) {
			double cost = a->cost[r * a->columns + c];
			uint32_t x = isinf(cost) ? 0 : lp_add_column(lp, cost, 0, INFINITY, false);

			if (isinf(cost))
				continue;
			lp_set(lp, c, x, 1);
			lp_set(lp, once, x, 1);
		}
	}
	objective = lp_solve(lp, (struct lp_limits){ 0 }) == LP_OPTIMAL ? lp_objective(lp) : INFINITY;
	lp_destroy(lp);
	return objective;
}

static void medium_ones_against_linear_programs(void **state)
{
	struct rng rng = property("assignments against linear programs");

	(void)state;
	for (size_t i = 0; i < rounds(20); i++) {
		struct large l;
		bool placed;
		double want;

		large_init(&l, 20 + (uint32_t)rng_below(&rng, 40), 10 + (uint32_t)rng_below(&rng, 60));
		for (uint32_t k = 0; k < l.a.rows * l.a.columns; k++)
			l.cost[k] = draw_cost(&rng, i % 3, 0.3);
		for (uint32_t c = 0; c < l.a.columns; c++)
			l.capacity[c] = (uint32_t)rng_below(&rng, 5);
		placed = assignment_solve(&l.a, l.column_of, &l.prices);
		want = by_lp(&l.a);
		assert_int_equal(placed, want < INFINITY);
		if (placed) {
			assert_proved(&l.a, l.column_of, &l.prices);
			assert_true(fabs(assignment_cost(&l.a, l.column_of) - want) <
				1e-6 * (1 + fabs(want)));
		}
		large_fini(&l);
	}
}

/*
 * Jobs on machines of three types, in order: cost is the job's time there
 * times its position from the end, the matrix of minimum total completion
 * time on unrelated machines.
 */
static void draw_sequencing(struct large *l, struct rng *rng, uint32_t jobs, uint32_t machines)
{
	large_init(l, jobs, 3 * jobs);
	for (uint32_t r = 0; r < jobs; r++) {
		double length = rng_lognormal(rng, 5, 2);

		for (uint32_t type = 0; type < 3; type++) {
			double time = length * rng_between(rng, 0.5, 1.5) * (1 + type);

			for (uint32_t k = 0; k < jobs; k++)
				l->cost[(size_t)r * 3 * jobs + type * jobs + k] = time * (k + 1);
		}
	}
	for (uint32_t c = 0; c < 3 * jobs; c++)
		l->capacity[c] = machines;
}

static void a_large_one_is_fast_and_right(void **state)
{
	static const uint32_t machines[] = { 1, 4, 16, 64 };
	struct rng rng = property("256 jobs, 3 types, 256 positions");

	(void)state;
	for (size_t i = 0; i < COUNT(machines); i++) {
		struct large l;
		double began;

		draw_sequencing(&l, &rng, 256, machines[i]);
		began = clock_cpu_s();
		assert_true(assignment_solve(&l.a, l.column_of, &l.prices));
		printf("[   TIME   ] %u machines a type: %.1f ms\n", machines[i],
			(clock_cpu_s() - began) * 1e3);
		assert_proved(&l.a, l.column_of, &l.prices);
		large_fini(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones_against_all),
		cmocka_unit_test(edges),
		cmocka_unit_test(equal_costs_keep_the_order),
		cmocka_unit_test(medium_ones_against_linear_programs),
		cmocka_unit_test(a_large_one_is_fast_and_right),
	};

	return cmocka_run_group_tests_name("solver/assignment", tests, NULL, NULL);
}
