/*
 * Genetic search: words of cells, fronts and crowding against plain versions,
 * small problems against all their matrices, and what every search keeps to.
 */
#include "solver/genetic.h"

#include <math.h>

#include "support/property.h"

/* ---- eight cells at once */

static void words_are_eight_cells(void **state)
{
	struct rng rng = property("sums, counts, least and first of words");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		uint8_t a[8], b[8], least[8], set[8];
		uint32_t sum = 0, count = 0, first = 8;
		uint64_t x, y, expected;

		for (int i = 0; i < 8; i++) {
			a[i] = rng_below(&rng, 2) ? (uint8_t)rng_below(&rng, 128) : 0;
			b[i] = rng_below(&rng, 4) ? (uint8_t)rng_below(&rng, 128) : a[i];
			least[i] = a[i] < b[i] ? a[i] : b[i];
			set[i] = a[i] ? 255 : 0;
			sum += a[i];
			count += a[i] > 0;
			if (a[i] && first == 8)
				first = (uint32_t)i;
		}
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		assert_int_equal(genetic_sum(x), sum);
		assert_int_equal(genetic_count(x), count);
		memcpy(&expected, least, 8);
		assert_true(genetic_least(x, y) == expected);
		memcpy(&expected, set, 8);
		assert_true(genetic_set(x) == expected);
		assert_true(genetic_flags(x) == (expected & GENETIC_HIGH));
		assert_true(genetic_less(x, y) == x - genetic_least(x, y));
		assert_true(genetic_fits(x, y) == (genetic_least(x, y) == x));
		if (!x)
			continue;
		assert_int_equal(genetic_first(x), first);
		expected = genetic_flags(x);
		assert_int_equal(genetic_next(&expected), first);
		assert_true(expected == genetic_flags(genetic_without(x, first)));
		a[first] = 0;
		memcpy(&expected, a, 8);
		assert_true(genetic_without(x, first) == expected);
	}
}

/* ---- a problem: cells up to `top`, each column at most `cap`, drawn values of rows */

struct toy {
	uint32_t rows, cols, top, cap;
	double worth[4][64], other[4][64]; /* by row and sum of its cells */
};

static void toy_mutate(void *ctx, struct rng *rng, struct genome *child)
{
	struct toy *t = ctx;

	for (uint32_t r = 0; r < t->rows; r++) {
		uint8_t *cells = genetic_cells(child->words + r * genetic_width(t->cols));

		for (uint32_t c = 0; c < t->cols; c++) {
			if (rng_below(rng, 2))
				continue;
			cells[c] = (uint8_t)rng_below(rng, t->top + 1);
			genetic_touch(child, r);
		}
	}
}

static void toy_repair(void *ctx, struct rng *rng, struct genome *child)
{
	struct toy *t = ctx;

	(void)rng;
	for (uint32_t c = 0; c < t->cols; c++) {
		uint32_t left = t->cap;

		for (uint32_t r = 0; r < t->rows; r++) {
			uint8_t *cell = genetic_cells(child->words + r * genetic_width(t->cols)) + c;

			if (*cell > left) {
				*cell = (uint8_t)left;
				genetic_touch(child, r);
			}
			left -= *cell;
		}
	}
}

static void toy_weigh(void *ctx, uint32_t row, const uint64_t *words, struct genome_row *kept)
{
	const struct toy *t = ctx;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < genetic_width(t->cols); i++)
		sum += genetic_sum(words[i]);
	kept->value[0] = t->worth[row][sum];
	kept->value[1] = t->other[row][sum];
}

static void toy_judge(void *ctx, const struct genome *genome, double objective[GENETIC_OBJECTIVES])
{
	const struct toy *t = ctx;

	objective[0] = objective[1] = 0;
	for (uint32_t r = 0; r < t->rows; r++) {
		assert_int_equal(genetic_changed(genome, r, t->rows), t->rows);
		objective[0] += genome->rows[r].value[0];
		objective[1] += genome->rows[r].value[1];
	}
}

static struct genetic_problem toy_problem(struct toy *t, uint32_t objectives)
{
	return (struct genetic_problem){
		.rows = t->rows,
		.cols = t->cols,
		.objectives = objectives,
		.ctx = t,
		.mutate = toy_mutate,
		.repair = toy_repair,
		.weigh = toy_weigh,
		.judge = toy_judge,
	};
}

static void toy_draw(struct toy *t, struct rng *rng)
{
	*t = (struct toy){ .rows = 1 + (uint32_t)rng_below(rng, 3), .top = 2, .cap = 2 };
	t->cols = 1 + (uint32_t)rng_below(rng, 6 / t->rows);
	for (uint32_t r = 0; r < 4; r++) {
		for (uint32_t i = 1; i < 64; i++) {
			t->worth[r][i] = rng_uniform(rng);
			t->other[r][i] = rng_uniform(rng);
		}
	}
}

/* ---- all matrices of a toy */

struct point {
	double objective[2];
};

static uint32_t all_points(const struct toy *t, struct point *out)
{
	uint32_t cells = t->rows * t->cols, total = 1, n = 0;

	for (uint32_t i = 0; i < cells; i++)
		total *= t->top + 1;
	for (uint32_t code = 0; code < total; code++) {
		uint32_t sum[4] = { 0 }, column[8] = { 0 }, rest = code;
		bool fits = true;

		for (uint32_t i = 0; i < cells; i++, rest /= t->top + 1) {
			sum[i / t->cols] += rest % (t->top + 1);
			column[i % t->cols] += rest % (t->top + 1);
		}
		for (uint32_t c = 0; c < t->cols; c++)
			fits &= column[c] <= t->cap;
		if (!fits)
			continue;
		out[n] = (struct point){ { 0, 0 } };
		for (uint32_t r = 0; r < t->rows; r++) {
			out[n].objective[0] += t->worth[r][sum[r]];
			out[n].objective[1] += t->other[r][sum[r]];
		}
		n++;
	}
	return n;
}

static bool beats(const double *a, const double *b)
{
	return a[0] >= b[0] && a[1] >= b[1] && (a[0] > b[0] || a[1] > b[1]);
}

/* By more than rounding. */
static bool clearly_beats(const double *a, const double *b)
{
	return a[0] > b[0] + 1e-9 && a[1] > b[1] + 1e-9;
}

static void small_ones_are_solved(void **state)
{
	struct rng rng = property("the best of all matrices is found, with one objective and with two");
	struct point *points = malloc(sizeof(*points) * 1000);
	struct genetic g = { 0 };
	struct genetic_options how = { .population = 40, .generations = 60, .crossover = 0.9 };

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		uint32_t objectives = 1 + (uint32_t)(round % 2), n;
		struct toy t;
		struct genetic_problem p;
		const struct genome *best;
		double most = 0;

		toy_draw(&t, &rng);
		p = toy_problem(&t, objectives);
		n = all_points(&t, points);
		for (uint32_t i = 0; i < n; i++)
			most = fmax(most, points[i].objective[0]);
		genetic_begin(&g, t.rows, t.cols, how.population);
		best = genetic_run(&g, &p, &how, &rng);
		assert_true(fabs(best->objective[0] - most) < 1e-12);
		for (uint32_t i = 0; objectives == 2 && genetic_front(&g, i); i++) {
			for (uint32_t k = 0; k < n; k++)
				assert_false(clearly_beats(points[k].objective,
					genetic_front(&g, i)->objective));
		}
	}
	genetic_fini(&g);
	free(points);
}

/* ---- what every search keeps to */

/* Fronts by their definition: behind somebody of the front before, and nobody better behind. */
static void fronts_are_what_they_should(void **state)
{
	struct rng rng = property(
		"nobody in the front is dominated, everybody behind it is; no two alike");
	struct genetic g = { 0 };
	struct genetic_options how = { .population = 30, .generations = 8, .crossover = 0.9 };

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct toy t;
		struct genetic_problem p;
		size_t bytes;

		toy_draw(&t, &rng);
		p = toy_problem(&t, 2);
		genetic_begin(&g, t.rows, t.cols, how.population);
		genetic_run(&g, &p, &how, &rng);
		bytes = t.rows * genetic_width(t.cols) * sizeof(uint64_t);
		for (uint32_t i = 0; i < g.n; i++) {
			const struct genome *a = &g.members[i];
			bool ahead = a->front == 0;

			for (uint32_t k = 0; k < g.n; k++) {
				const struct genome *b = &g.members[k];

				assert_true(i == k || memcmp(a->words, b->words, bytes) != 0);
				if (beats(b->objective, a->objective))
					assert_true(b->front < a->front);
				ahead |= b->front + 1 == a->front && beats(b->objective, a->objective);
			}
			assert_true(ahead);
		}
	}
	genetic_fini(&g);
}

static void the_best_is_never_lost(void **state)
{
	struct rng rng = property("more generations of the same search are never worse");

	(void)state;
	for (size_t round = 0; round < rounds(20); round++) {
		double before = -1;
		struct toy t;

		toy_draw(&t, &rng);
		for (uint32_t generations = 1; generations < 12; generations++) {
			struct genetic_options how = { .population = 6,
				.generations = generations,
				.crossover = 0.9 };
			struct genetic_problem p = toy_problem(&t, 2);
			struct genetic g = { 0 };
			const struct genome *best;
			struct rng same;

			rng_init(&same, round, RNG_TEST);
			genetic_begin(&g, t.rows, t.cols, how.population);
			best = genetic_run(&g, &p, &how, &same);
			assert_true(best->objective[0] >= before);
			before = best->objective[0];
			genetic_fini(&g);
		}
	}
}

static void same_seed_same_bytes(void **state)
{
	struct rng rng = property(
		"the same generator gives the same members, whatever was searched before");
	struct genetic used = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(20); round++) {
		struct genetic_options how = { .population = 20, .generations = 15, .crossover = 0.9 };
		struct toy t;
		struct genetic_problem p;
		struct genetic fresh = { 0 };
		struct rng one, two;

		toy_draw(&t, &rng);
		p = toy_problem(&t, 2);
		rng_init(&one, round, RNG_TEST);
		two = one;
		genetic_begin(&fresh, t.rows, t.cols, how.population);
		genetic_run(&fresh, &p, &how, &one);
		genetic_begin(&used, t.rows, t.cols, how.population);
		genetic_run(&used, &p, &how, &two);
		assert_int_equal(fresh.n, used.n);
		for (uint32_t i = 0; i < fresh.n; i++)
			assert_memory_equal(fresh.members[i].words, used.members[i].words,
				t.rows * genetic_width(t.cols) * sizeof(uint64_t));
		genetic_fini(&fresh);
	}
	genetic_fini(&used);
}

static void it_begins_where_it_is_told(void **state)
{
	struct toy t = { .rows = 1, .cols = 1, .top = 2, .cap = 2 };
	struct genetic_problem p = toy_problem(&t, 1);
	struct genetic_options how = { .population = 4, .generations = 1, .crossover = 0.9 };
	struct genetic g = { 0 };
	struct rng rng;

	(void)state;
	t.worth[0][1] = 5;
	t.worth[0][2] = 1;
	rng_init(&rng, 1, RNG_TEST);
	genetic_begin(&g, 1, 1, 4);
	for (int i = 0; i < 4; i++)
		genetic_cells(genetic_add(&g)->words)[0] = i == 3 ? 9 : 1;
	assert_null(genetic_add(&g));
	/* Alike ones count once, and 9 is repaired to 2. */
	assert_int_equal(genetic_cells(genetic_run(&g, &p, &how, &rng)->words)[0], 1);
	assert_int_equal(g.n, 2);
	genetic_begin(&g, 1, 1, 4);
	assert_int_equal(genetic_cells(genetic_run(&g, &p, &how, &rng)->words)[0], 0);
	genetic_fini(&g);
}

static void patience_ends_it(void **state)
{
	struct toy t = { .rows = 1, .cols = 1, .top = 2, .cap = 2 };
	struct genetic_problem p = toy_problem(&t, 1);
	struct genetic_options how = { .population = 4, .generations = 1000, .patience = 3 };
	struct genetic g = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, RNG_TEST);
	genetic_begin(&g, 1, 1, 4);
	genetic_run(&g, &p, &how, &rng);
	assert_true(g.generations <= 4);
	genetic_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_eight_cells),
		cmocka_unit_test(small_ones_are_solved),
		cmocka_unit_test(fronts_are_what_they_should),
		cmocka_unit_test(the_best_is_never_lost),
		cmocka_unit_test(same_seed_same_bytes),
		cmocka_unit_test(it_begins_where_it_is_told),
		cmocka_unit_test(patience_ends_it),
	};

	return cmocka_run_group_tests_name("solver/genetic", tests, NULL, NULL);
}
