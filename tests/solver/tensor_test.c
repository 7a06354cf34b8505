#include "solver/tensor.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

enum { A = 8, B = 3, C = 4 };

/* One layer: rows (1, .8), (.5, .4), (1, ?). */
static double completed(double ridge)
{
	static const struct tensor_entry known[] = {
		{ { 0, 0, 0 }, 1 },
		{ { 0, 0, 1 }, 0.8 },
		{ { 1, 0, 0 }, 0.5 },
		{ { 1, 0, 1 }, 0.4 },
		{ { 2, 0, 0 }, 1 },
	};
	struct tensor tensor = { { 3, 1, 2 }, known, COUNT(known) };
	struct cp_options options = { .rank = 1, .ridge = ridge, .sweeps = 50, .seed = 1 };
	struct cp cp;
	double value;

	cp_fit(&tensor, &options, &cp);
	value = cp_at(&cp, 2, 0, 1);
	cp_fini(&cp);
	return value;
}

static void a_hole_in_rank_one(void **state)
{
	(void)state;
	assert_near(completed(1e-6), 0.8, 0.01);
	/* A ridge shrinks. */
	assert_near(completed(0.1), 0.71, 0.03);
}

static double worst(const struct tensor *t, const double *truth, uint32_t rank)
{
	struct cp_options options = { .rank = rank, .ridge = 1e-7, .sweeps = 400, .seed = 3 };
	struct cp cp;
	double error = 0;

	cp_fit(t, &options, &cp);
	for (uint32_t i = 0; i < A; i++) {
		for (uint32_t j = 0; j < B; j++) {
			for (uint32_t k = 0; k < C; k++)
				error = fmax(error,
					fabs(cp_at(&cp, i, j, k) - truth[(i * B + j) * C + k]));
		}
	}
	cp_fini(&cp);
	return error;
}

static void positive_products_come_back(void **state)
{
	struct rng rng = property("a table of rank one with most entries missing");

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		double a[A], b[B], c[C], truth[A * B * C];
		struct tensor_entry known[A * B * C];
		struct tensor t = { { A, B, C }, known, 0 };

		for (int i = 0; i < A; i++)
			a[i] = rng_between(&rng, 0.3, 1);
		for (int i = 0; i < B; i++)
			b[i] = rng_between(&rng, 0.3, 1);
		for (int i = 0; i < C; i++)
			c[i] = rng_between(&rng, 0.3, 1);
		for (uint32_t i = 0; i < A * B * C; i++) {
			uint32_t at[3] = { i / (B * C), i / C % B, i % C };

			truth[i] = a[at[0]] * b[at[1]] * c[at[2]];
			/* One line along each side and a few more. */
			if (at[1] + at[2] == 0 || at[0] + at[2] == 0 || at[0] + at[1] == 0 ||
				rng_below(&rng, 5) == 0)
				known[t.nknown++] = (struct tensor_entry){ { at[0], at[1], at[2] },
					truth[i] };
		}
		assert_true(worst(&t, truth, 1) < 0.01);
	}
}

static void the_unknown_is_zero_and_finite(void **state)
{
	static const struct tensor_entry known[] = { { { 0, 0, 0 }, 1 } };
	struct tensor tensor = { { 2, 2, 2 }, known, 1 };
	struct cp_options options = { .rank = 3, .ridge = 0.1, .sweeps = 50, .seed = 1 };
	struct cp cp;

	(void)state;
	cp_fit(&tensor, &options, &cp);
	assert_true(cp_at(&cp, 1, 1, 1) == 0);
	assert_true(isfinite(cp_at(&cp, 0, 0, 0)));
	cp_fini(&cp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_in_rank_one),
		cmocka_unit_test(positive_products_come_back),
		cmocka_unit_test(the_unknown_is_zero_and_finite),
	};

	return cmocka_run_group_tests_name("solver/tensor", tests, NULL, NULL);
}
