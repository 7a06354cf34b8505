#include "policy/elastic/heet_speeds.h"

#include <math.h>

#include "support/property.h"

enum { ROWS = 24, TYPES = 3, SIZES = 4 };

/* Speeds that are products: of a job, a type and a count. */
struct truth {
	double job[ROWS], type[TYPES], count[SIZES];
	uint32_t asked;
};

static double speed(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus)
{
	struct truth *t = (struct truth *)ctx;
	uint32_t c = 31 - (uint32_t)__builtin_clz(gpus);

	t->asked++;
	return t->job[row] * t->type[type] * t->count[c] * gpus;
}

static void draw(struct truth *t, struct rng *rng)
{
	t->asked = 0;
	for (int i = 0; i < ROWS; i++)
		t->job[i] = rng_between(rng, 0.1, 100);
	for (int i = 0; i < TYPES; i++)
		t->type[i] = rng_between(rng, 0.5, 2);
	t->count[0] = 1;
	for (int i = 1; i < SIZES; i++)
		t->count[i] = t->count[i - 1] * rng_between(rng, 0.6, 1);
}

static double worst(struct truth *t, bool all)
{
	struct heet_options options = { .rank = 1, .ridge = 1e-6, .sweeps = 200, .all = all };
	struct heet_row rows[ROWS];
	struct heet_speeds speeds;
	struct arena arena = { 0 };
	double most = 0;

	for (uint32_t i = 0; i < ROWS; i++)
		rows[i] = (struct heet_row){ .types = (1u << TYPES) - 1, .most = 8, .tag = i };
	heet_speeds_fill(&speeds, rows, ROWS, TYPES, &options, (struct heet_source){ speed, t },
		&arena);
	for (uint32_t i = 0; i < ROWS; i++) {
		for (uint32_t type = 0; type < TYPES; type++) {
			for (uint32_t n = 1; n <= 8; n *= 2)
				most = fmax(most,
					fabs(heet_speed(&speeds, i, type, n) / speed(t, i, type, n) -
						1));
		}
	}
	arena_fini(&arena);
	return most;
}

static void a_few_entries_tell_the_rest(void **state)
{
	struct rng rng = property("speeds of rank one");

	(void)state;
	for (size_t round = 0; round < rounds(10); round++) {
		struct truth t;
		double error;

		draw(&t, &rng);
		error = worst(&t, false);
		/* The comparison with the truth asked for all of them once; the estimate for a part. */
		assert_true(t.asked - ROWS * TYPES * SIZES <= ROWS * TYPES * SIZES / 2);
		assert_true(error < 0.02);
		assert_true(worst(&t, true) < 1e-9);
	}
}

static void estimates_are_brought_in_line(void **state)
{
	double e[] = { 1, 1.5, 0.7, 0.8, -3 };
	static const double want[] = { 1, 1, 0.7, 0.7, 0.05 };

	static const bool none[COUNT(e)] = { false };

	(void)state;
	heet_tidy(e, none, COUNT(e));
	for (size_t i = 0; i < COUNT(e); i++)
		assert_true(fabs(e[i] - want[i]) < 1e-12);
}

static void what_was_measured_stays(void **state)
{
	double e[] = { 1, 0.4, 0.9, 0.3, 0.6 };
	static const bool measured[] = { true, false, true, false, true };
	static const double want[] = { 1, 0.9, 0.9, 0.6, 0.6 };

	(void)state;
	heet_tidy(e, measured, COUNT(e));
	for (size_t i = 0; i < COUNT(e); i++)
		assert_true(fabs(e[i] - want[i]) < 1e-12);
}

static double nothing_known(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus)
{
	(void)ctx;
	(void)row;
	(void)type;
	(void)gpus;
	return 0;
}

static void without_any_speed(void **state)
{
	struct heet_options options = { .rank = 3, .ridge = 0.1, .sweeps = 5 };
	struct heet_row row = { .types = 2, .most = 5 };
	struct heet_speeds speeds;
	struct arena arena = { 0 };

	(void)state;
	heet_speeds_fill(&speeds, &row, 1, 2, &options, (struct heet_source){ nothing_known, NULL },
		&arena);
	for (uint32_t n = 1; n <= 5; n++)
		assert_true(heet_speed(&speeds, 0, 1, n) > 0 && isfinite(heet_speed(&speeds, 0, 1, n)));
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_entries_tell_the_rest),
		cmocka_unit_test(estimates_are_brought_in_line),
		cmocka_unit_test(what_was_measured_stays),
		cmocka_unit_test(without_any_speed),
	};

	return cmocka_run_group_tests_name("policy/elastic/heet_speeds", tests, NULL, NULL);
}
