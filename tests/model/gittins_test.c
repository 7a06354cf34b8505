/*
 * Gittins indices: the worked examples, and the definition word for word.
 */
#include "model/gittins.h"

#include <math.h>

#include "support/property.h"

static void fill(struct history *history, const double *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		history_add(history, sizes[i]);
	history_sort(history, true);
}

static const double three[] = { 12, 2, 4 };

static const struct {
	const char *what;
	double served, quantum, want;
} rows[] = {
	{ "a new job: best is to look 4 ahead", 0, 0, 0.2 },
	{ "2 served: the next ends soon", 2, 0, 0.25 },
	{ "4 served: 8 to go for sure", 4, 0, 0.125 },
	{ "just before the end", 11, 0, 1 },
	{ "nobody was ever larger", 12, 0, 0 },
	{ "nor this large", 1e9, 0, 0 },
	{ "a quantum of 2: one of three ends, 2 spent each", 0, 2, (1.0 / 3) / 2 },
	{ "a quantum of 4: two of three end", 0, 4, (2.0 / 3) / (10.0 / 3) },
	{ "a quantum of 12: all end", 0, 12, 1 / 6.0 },
	{ "a quantum in which nobody ends", 4, 7.9, 0 },
	{ "between sizes", 3, 1, 0.5 / 1 },
};

static void worked_examples(void **state)
{
	struct history history = { 0 };

	(void)state;
	fill(&history, three, COUNT(three));
	for (size_t i = 0; i < COUNT(rows); i++) {
		double got = gittins_index(&history, rows[i].served, rows[i].quantum);

		if (fabs(got - rows[i].want) > 1e-12)
			fail_msg("%s: %.17g", rows[i].what, got);
	}
	history_fini(&history);
}

static void an_empty_history_knows_nothing(void **state)
{
	struct history history = { 0 };

	(void)state;
	history_sort(&history, true);
	history_sort(&history, false);
	assert_true(gittins_index(&history, 0, 0) == 0);
	assert_true(gittins_index(&history, 0, 10) == 0);
	assert_true(gittins_index_published(&history, 0, 10) == 0);
	history_fini(&history);
	history_fini(&history);
}

/* P(S - a <= D | S > a) / E[min(S - a, D) | S > a], counted. */
static double by_definition(const double *sizes, size_t n, double a, double quantum)
{
	double alive = 0, ending = 0, spent = 0;

	for (size_t i = 0; i < n; i++) {
		if (sizes[i] <= a)
			continue;
		alive++;
		ending += sizes[i] <= a + quantum;
		spent += fmin(sizes[i] - a, quantum);
	}
	return alive > 0 && spent > 0 ? ending / spent : 0;
}

static double best_by_definition(const double *sizes, size_t n, double a)
{
	double best = 0;

	for (size_t i = 0; i < n; i++) {
		if (sizes[i] > a)
			best = fmax(best, by_definition(sizes, n, a, sizes[i] - a));
	}
	return best;
}

static void equals_its_definition(void **state)
{
	struct rng rng = property("Gittins index against its definition");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct history history = { 0 };
		double sizes[20], served = (double)rng_below(&rng, 60),
				  quantum = 1 + (double)rng_below(&rng, 60);
		size_t n = 1 + rng_below(&rng, COUNT(sizes));

		for (size_t k = 0; k < n; k++)
			sizes[k] = (double)rng_below(&rng, 50);
		fill(&history, sizes, n);
		assert_true(fabs(gittins_index(&history, served, quantum) -
				    by_definition(sizes, n, served, quantum)) < 1e-12);
		assert_true(fabs(gittins_index(&history, served, 0) -
				    best_by_definition(sizes, n, served)) < 1e-12);
		/* No quantum beats the best. */
		assert_true(gittins_index(&history, served, quantum) <=
			gittins_index(&history, served, 0) + 1e-12);
		history_fini(&history);
	}
}

/* Sizes 100, 200, 300 and a quantum of 150, as the published tables have them. */
static const struct {
	const char *what;
	double served, want;
} tables[] = {
	{ "before the first: 2 of 3, (100 + 200 + 150) / 3", 0, 4444.4667 },
	{ "the index is that of the size, not of the service", 50, 4444.4667 },
	{ "after the first: 1 of 2, the largest never counts as ending", 150, 2857.1429 },
	{ "after the second: nobody ends", 250, 0 },
	{ "after the last", 300, 0 },
};

static void published_tables(void **state)
{
	static const double sizes[] = { 100, 200, 300 };
	struct history history = { 0 };

	(void)state;
	fill(&history, sizes, COUNT(sizes));
	for (size_t i = 0; i < COUNT(tables); i++) {
		double got = gittins_index_published(&history, tables[i].served, 150);

		if (fabs(got - tables[i].want) > 1e-6)
			fail_msg("%s: %.17g", tables[i].what, got);
	}
	history_fini(&history);
}

/* Whatever the history, an index is a number: keys must be. */
static void indices_are_finite(void **state)
{
	static const double quanta[] = { 0, 1, 3250, 1e12 };
	struct rng rng = property("indices of odd histories");

	(void)state;
	for (size_t i = 0; i < rounds(1000); i++) {
		struct history history = { 0 };
		double served = rng_uniform(&rng) * 4;

		for (size_t k = rng_below(&rng, 6); k > 0; k--)
			history_add(&history, rng_below(&rng, 3) ? rng_uniform(&rng) * 4 : 0);
		history_sort(&history, true);
		for (size_t q = 0; q < COUNT(quanta); q++) {
			assert_true(isfinite(gittins_index(&history, served, quanta[q])));
			assert_true(isfinite(gittins_index_published(&history, served, quanta[q])));
		}
		history_fini(&history);
	}
}

/* Sorting in bulk may lag, but by little, and not at all when asked. */
static void learning_one_by_one(void **state)
{
	struct rng rng = property("adding one by one");
	struct history history = { 0 };

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		history_add(&history, rng_uniform(&rng));
		history_sort(&history, false);
		assert_int_equal(history.sizes.n + history.fresh.n, i + 1);
		assert_true(history.fresh.n <= 1 + history.sizes.n / 100);
	}
	history_sort(&history, true);
	assert_int_equal(history.sizes.n, 2000);
	for (size_t i = 1; i < history.sizes.n; i++)
		assert_true(history.sizes.at[i - 1] <= history.sizes.at[i]);
	history_fini(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_examples),
		cmocka_unit_test(an_empty_history_knows_nothing),
		cmocka_unit_test(equals_its_definition),
		cmocka_unit_test(published_tables),
		cmocka_unit_test(indices_are_finite),
		cmocka_unit_test(learning_one_by_one),
	};

	return cmocka_run_group_tests_name("model/gittins", tests, NULL, NULL);
}
