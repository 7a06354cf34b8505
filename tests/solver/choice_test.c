/*
 * One of several for each: against all possibilities, against the integer
 * program, and what it says of its own answers.
 */
#include "solver/choice.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

enum { ROWS_MAX = 200, COLUMNS_MAX = 30 };

struct instance {
	struct choice_column columns[ROWS_MAX * COLUMNS_MAX];
	struct choice_row rows[ROWS_MAX];
	uint32_t capacity[CHOICE_TYPES_MAX];
	struct choice_problem problem;
};

struct answer {
	uint32_t chosen[ROWS_MAX];
	struct choice_answer is;
};

static const struct choice_options priced = { .method = CHOICE_PRICE, .work = 20000000 };
static const struct choice_options exact = { .method = CHOICE_EXACT };

static void draw_rows(struct instance *in, struct rng *rng, uint32_t nrows, uint32_t ncolumns,
	double grain)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < nrows; r++) {
		in->rows[r] = (struct choice_row){ n, ncolumns, 1.1, CHOICE_NONE };
		for (uint32_t i = 0; i < ncolumns; i++) {
			uint32_t amount = 1U << rng_below(rng, 5);
			double cost = pow(amount, -0.5 * rng_between(rng, 0.3, 1.0));

			in->columns[n++] = (struct choice_column){
				.cost = grain > 0 ? round(cost / grain) * grain : cost,
				.type = (uint32_t)rng_below(rng, in->problem.ntypes),
				.amount = amount,
			};
		}
	}
}

/* `grain`: costs are multiples of it, so that there are ties; 0: they are not. */
static void draw(struct instance *in, struct rng *rng, uint32_t nrows, uint32_t ncolumns,
	uint32_t ntypes, double grain)
{
	memset(in, 0, sizeof(*in));
	in->problem = (struct choice_problem){ in->columns, in->rows, nrows, in->capacity, ntypes };
	for (uint32_t t = 0; t < ntypes; t++)
		in->capacity[t] = 1 + (uint32_t)rng_below(rng, 4 * nrows / ntypes + 2);
	draw_rows(in, rng, nrows, ncolumns, grain);
}

static double cost_of(const struct instance *in, uint32_t row, uint32_t chosen)
{
	return chosen == CHOICE_NONE ? in->rows[row].without
				     : in->columns[in->rows[row].first + chosen].cost;
}

static bool holds(const struct instance *in, const uint32_t *chosen)
{
	int64_t room[CHOICE_TYPES_MAX];

	for (uint32_t t = 0; t < in->problem.ntypes; t++)
		room[t] = in->capacity[t];
	for (uint32_t r = 0; r < in->problem.nrows; r++) {
		const struct choice_column *column;

		if (in->rows[r].forced != CHOICE_NONE && chosen[r] != in->rows[r].forced)
			return false;
		if (chosen[r] == CHOICE_NONE)
			continue;
		column = &in->columns[in->rows[r].first + chosen[r]];
		if ((room[column->type] -= column->amount) < 0)
			return false;
	}
	return true;
}

static double value_of(const struct instance *in, const uint32_t *chosen)
{
	double value = 0;

	for (uint32_t r = 0; r < in->problem.nrows; r++)
		value += cost_of(in, r, chosen[r]);
	return value;
}

static bool solve(const struct instance *in, const struct choice_options *options, struct answer *out)
{
	if (!choice_solve(&in->problem, options, out->chosen, &out->is))
		return false;
	assert_true(holds(in, out->chosen));
	assert_float_equal(out->is.value, value_of(in, out->chosen), 1e-6);
	assert_true(out->is.bound <= out->is.value + 1e-6);
	return true;
}

/* ---- against all possibilities */

/* Whether `a` comes before `b`: smaller costs of the first rows, then the first columns, none last. */
static bool comes_before(const struct instance *in, const uint32_t *a, const uint32_t *b)
{
	for (uint32_t r = 0; r < in->problem.nrows; r++) {
		int64_t x = llround(cost_of(in, r, a[r]) * 1e9),
			y = llround(cost_of(in, r, b[r]) * 1e9);

		if (x != y)
			return x < y;
		if (a[r] != b[r])
			return a[r] < b[r];
	}
	return false;
}

static void try_all(const struct instance *in, uint32_t row, uint32_t *chosen, struct answer *best)
{
	if (row < in->problem.nrows) {
		for (uint32_t i = 0; i <= in->rows[row].n; i++) {
			chosen[row] = i < in->rows[row].n ? i : CHOICE_NONE;
			try_all(in, row + 1, chosen, best);
		}
		return;
	}
	if (!holds(in, chosen))
		return;
	if (value_of(in, chosen) > best->is.value + 1e-8)
		return;
	if (value_of(in, chosen) < best->is.value - 1e-8 || comes_before(in, chosen, best->chosen)) {
		best->is.value = value_of(in, chosen);
		memcpy(best->chosen, chosen, in->problem.nrows * sizeof(*chosen));
	}
}

static void check_all(struct instance *in)
{
	struct answer own = { 0 }, best = { .is.value = INFINITY };
	uint32_t chosen[ROWS_MAX];

	try_all(in, 0, chosen, &best);
	if (best.is.value == INFINITY) {
		assert_false(solve(in, &priced, &own));
		return;
	}
	assert_true(solve(in, &priced, &own));
	assert_true(own.is.optimal);
	assert_float_equal(own.is.value, best.is.value, 1e-6);
	assert_memory_equal(own.chosen, best.chosen, in->problem.nrows * sizeof(*chosen));
}

static void the_best_of_all_and_of_equals_the_first(void **state)
{
	struct instance *in = test_malloc(sizeof(*in));
	struct rng rng = property("the best of all possibilities, and of equals the first");

	(void)state;
	for (size_t i = 0; i < rounds(600); i++) {
		draw(in, &rng, 1 + (uint32_t)rng_below(&rng, 4), 1 + (uint32_t)rng_below(&rng, 4),
			1 + (uint32_t)rng_below(&rng, 3), i % 2 ? 0.25 : 0);
		if (i % 3 == 0)
			in->rows[0].forced = 0;
		check_all(in);
	}
	test_free(in);
}

/* ---- against the integer program */

static void as_good_as_the_integer_program(void **state)
{
	struct instance *in = test_malloc(sizeof(*in));
	struct rng rng = property("as good as the integer program");

	(void)state;
	for (size_t i = 0; i < rounds(8); i++) {
		struct answer own = { 0 }, other = { 0 };

		draw(in, &rng, 5 + (uint32_t)rng_below(&rng, 25), 2 + (uint32_t)rng_below(&rng, 12),
			1 + (uint32_t)rng_below(&rng, 4), i % 2 ? 0.01 : 0);
		assert_true(solve(in, &priced, &own));
		assert_true(solve(in, &exact, &other));
		assert_true(own.is.optimal && other.is.optimal);
		assert_float_equal(own.is.value, other.is.value, 1e-6);
		/* and of equals both take the same */
		assert_memory_equal(own.chosen, other.chosen, in->problem.nrows * sizeof(*own.chosen));
	}
	test_free(in);
}

/* Where it cannot prove the optimum its bound must still be one. */
static void the_bound_holds_without_a_search(void **state)
{
	struct instance *in = test_malloc(sizeof(*in));
	struct choice_options hasty = { .method = CHOICE_PRICE };
	struct rng rng = property("bounds hold, answers are near them");

	(void)state;
	for (size_t i = 0; i < rounds(4); i++) {
		struct answer own = { 0 }, best = { 0 };

		draw(in, &rng, 100 + (uint32_t)rng_below(&rng, 100), 12, 3, 0);
		assert_true(solve(in, &hasty, &own));
		assert_true(solve(in, &priced, &best));
		assert_true(own.is.bound <= best.is.value + 1e-6);
		assert_true(own.is.value >= best.is.value - 1e-6);
		assert_true(choice_gap(&own.is) < 0.02);
	}
	test_free(in);
}

/* ---- by hand */

/* Micro tests a and b of Sia's specification: the break-even is at a goodput of 1/0.81. */
static void two_jobs_and_a_node_of_two(void **state)
{
	static const struct {
		double goodput, value;
		uint32_t expect[2];
	} rows[] = {
		{ 1.5, 1.9165, { 1, CHOICE_NONE } },
		{ 1.2, 2.0, { 0, 0 } }, /* the other would cost 2.0129 */
		{ 1.2347, 2.0, { 1, CHOICE_NONE } },
		{ 1.2345, 2.0, { 0, 0 } },
	};
	struct instance *in = test_malloc(sizeof(*in));
	struct answer own = { 0 };

	(void)state;
	assert_float_equal(pow(1.2, -0.5) + 1.1, 2.0129, 5e-5);
	assert_float_equal(1 / (0.9 * 0.9), 1.2346, 5e-5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		double pair = pow(rows[i].goodput, -0.5);
		struct choice_column two[] = { { 1, 0, 1 }, { pair, 0, 2 }, { 1, 0, 1 },
			{ pair, 0, 2 } };

		*in = (struct instance){ .capacity = { 2 } };
		memcpy(in->columns, two, sizeof(two));
		in->rows[0] = (struct choice_row){ 0, 2, 1.1, CHOICE_NONE };
		in->rows[1] = (struct choice_row){ 2, 2, 1.1, CHOICE_NONE };
		in->problem = (struct choice_problem){ in->columns, in->rows, 2, in->capacity, 1 };
		for (int way = 0; way < 2; way++) {
			assert_true(solve(in, way ? &exact : &priced, &own));
			assert_true(own.is.optimal);
			assert_float_equal(own.is.value, rows[i].value, 5e-5);
			assert_memory_equal(own.chosen, rows[i].expect, sizeof(rows[i].expect));
		}
	}
	test_free(in);
}

/* So many so dear rows that billionths of all of them together would not be a whole number. */
static void many_dear_rows(void **state)
{
	enum { MANY = 12000, ROOM = 1000 };
	struct choice_column *columns = test_malloc(2 * MANY * sizeof(*columns));
	struct choice_row *rows = test_malloc(MANY * sizeof(*rows));
	uint32_t *chosen = test_malloc(MANY * sizeof(*chosen));
	struct choice_problem problem = { columns, rows, MANY, (uint32_t[]){ ROOM }, 1 };
	struct choice_options hasty = { .method = CHOICE_PRICE, .gap = 1e-4, .work = 100000 };
	struct choice_answer answer;
	uint32_t run = 0;

	(void)state;
	for (uint32_t r = 0; r < MANY; r++) {
		columns[2 * r] = (struct choice_column){ 1, 0, 1 };
		columns[2 * r + 1] = (struct choice_column){ 0.7, 0, 2 };
		rows[r] = (struct choice_row){ 2 * r, 2, 1e6, CHOICE_NONE };
	}
	assert_true(choice_solve(&problem, &hasty, chosen, &answer));
	for (uint32_t r = 0; r < MANY; r++)
		run += chosen[r] == 0;
	assert_int_equal(run, ROOM);
	assert_float_equal(answer.value, ROOM + 1e6 * (MANY - ROOM), 1);
	assert_true(answer.bound <= answer.value && choice_gap(&answer) < 1e-4);
	test_free(columns);
	test_free(rows);
	test_free(chosen);
}

static void who_is_forced_keeps_it(void **state)
{
	struct instance *in = test_malloc(sizeof(*in));
	struct choice_column columns[] = { { 3000, 0, 2 }, { 0.5, 0, 1 }, { 0.1, 0, 2 } };
	struct answer own = { 0 };

	(void)state;
	*in = (struct instance){ .capacity = { 2 } };
	memcpy(in->columns, columns, sizeof(columns));
	in->rows[0] = (struct choice_row){ 0, 2, 1.1, 0 };
	in->rows[1] = (struct choice_row){ 2, 1, 1.1, CHOICE_NONE };
	in->problem = (struct choice_problem){ in->columns, in->rows, 2, in->capacity, 1 };
	for (int i = 0; i < 2; i++) {
		assert_true(solve(in, i ? &exact : &priced, &own));
		assert_int_equal(own.chosen[0], 0);
		assert_int_equal(own.chosen[1], CHOICE_NONE);
	}
	in->rows[1].forced = 0;
	assert_false(solve(in, &priced, &own));
	assert_false(solve(in, &exact, &own));
	test_free(in);
}

static void nobody_and_nothing(void **state)
{
	struct instance *in = test_malloc(sizeof(*in));
	struct answer own = { 0 };

	(void)state;
	*in = (struct instance){ .capacity = { 0 } };
	in->problem = (struct choice_problem){ in->columns, in->rows, 0, in->capacity, 1 };
	assert_true(solve(in, &priced, &own));
	assert_true(own.is.optimal);
	in->rows[0] = (struct choice_row){ 0, 1, 1.1, CHOICE_NONE };
	in->columns[0] = (struct choice_column){ 0.5, 0, 1 };
	in->problem.nrows = 1;
	assert_true(solve(in, &priced, &own));
	assert_int_equal(own.chosen[0], CHOICE_NONE);
	test_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_and_of_equals_the_first),
		cmocka_unit_test(as_good_as_the_integer_program),
		cmocka_unit_test(the_bound_holds_without_a_search),
		cmocka_unit_test(two_jobs_and_a_node_of_two),
		cmocka_unit_test(many_dear_rows),
		cmocka_unit_test(who_is_forced_keeps_it),
		cmocka_unit_test(nobody_and_nothing),
	};

	return cmocka_run_group_tests_name("solver/choice", tests, NULL, NULL);
}
