#include "solver/pairs.h"

#include <math.h>

#include "support/property.h"
#include "solver/pair_instance.h"

static void assert_close(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

static double level_of(struct pair_instance *in)
{
	struct pair_answer best = pair_answer_for(in);

	pairs_solve_simplex(&in->program, &best);
	assert_int_equal(best.status, INTERIOR_OPTIMAL);
	return best.z;
}

/* The simplex method's objective, kept rows, and no x outside [0, 1]. */
static void compare(struct pair_instance *in)
{
	struct pair_answer got = pair_answer_for(in), want = pair_answer_for(in);

	pairs_solve(&in->program, &got);
	pairs_solve_simplex(&in->program, &want);
	assert_int_equal(got.status, want.status);
	if (want.status != INTERIOR_OPTIMAL)
		return;
	assert_close(got.objective, want.objective, 1e-6);
	assert_true(got.residual <= 1e-6);
	assert_true(pairs_violation(&in->program, got.x, got.z) <= 1e-6);
	for (uint32_t v = 0; v < in->program.entries * in->program.types; v++)
		assert_true(got.x[v] >= 0 && got.x[v] <= 1);
}

static void small_programs_of_all_kinds(void **state)
{
	struct rng rng = property("small programs against the simplex method");
	struct pair_instance in;

	(void)state;
	for (size_t i = 0; i < rounds(2400); i++) {
		pair_instance_init(&in, &rng, pair_wish_small(&rng));
		pair_instance_become(&in, &rng, (uint32_t)(i % 4), level_of(&in));
		compare(&in);
		pair_instance_fini(&in);
	}
}

static void medium_programs_of_all_kinds(void **state)
{
	struct rng rng = property("40 jobs against the simplex method");
	struct pair_instance in;

	(void)state;
	for (uint32_t i = 0; i < rounds(24); i++) {
		struct pair_wish wish = { .jobs = 40, .types = 3, .gangs = i & 4, .crowded = 1 + i % 7 };

		pair_instance_init(&in, &rng, wish);
		pair_instance_become(&in, &rng, i % 4, level_of(&in));
		compare(&in);
		pair_instance_fini(&in);
	}
}

/* Two equal jobs on one GPU: each keeps 0.8 of its speed beside the other, half of it in turns. */
static void two_jobs_share_a_gpu(void **state)
{
	const struct pair_entry entry[] = { { 0, PAIR_NONE }, { 1, PAIR_NONE }, { 0, 1 } };
	const double value[] = { 1, 0, 1, 0, 0.8, 0.8 }, gang[] = { 1, 1 }, one[] = { 1, 1 };
	const double g[] = { 1, 1 };
	struct pair_program program = { .jobs = 2, .types = 1, .entries = 3, .entry = entry, .value = value };
	double x[3];
	struct pair_answer answer = { .x = x };

	(void)state;
	program.gang = gang;
	program.capacity = one;
	program.rows = 1;
	program.g = g;
	program.z_cost = -1;
	pairs_solve(&program, &answer);
	assert_int_equal(answer.status, INTERIOR_OPTIMAL);
	assert_close(answer.z, 0.8, 1e-7);
	assert_close(x[2], 1, 1e-6);
	assert_true(x[0] > 0 && x[0] < 1e-6); /* the residue that such a method leaves */
}

/* The middle of the optimal face treats equals equally; a corner would not. */
static void equal_jobs_get_equal_shares(void **state)
{
	struct rng rng = property("equal jobs get equal shares");
	struct pair_instance in;
	struct pair_answer answer;

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		struct pair_wish wish = { .jobs = 6, .types = 2, .crowded = rng_between(&rng, 1, 4) };

		pair_instance_init(&in, &rng, wish);
		for (uint32_t c = 0; c < in.program.entries; c++) {
			for (uint32_t v = 2 * c; v < 2 * c + 2; v++) {
				in.value[2 * v] = v % 2 + 1;
				in.value[2 * v + 1] = in.entry[c].b == PAIR_NONE ? 0 : v % 2 + 1;
			}
		}
		for (uint32_t j = 0; j < 6; j++)
			in.scale[j] = 1;
		answer = pair_answer_for(&in);
		pairs_solve(&in.program, &answer);
		assert_int_equal(answer.status, INTERIOR_OPTIMAL);
		for (uint32_t c = 1; c < 6; c++) {
			assert_close(answer.x[2 * c], answer.x[0], 1e-5);
			assert_close(answer.x[2 * c + 1], answer.x[1], 1e-5);
		}
		pair_instance_fini(&in);
	}
}

/* Of a kind's x, what each entry it stands for has. */
static double share_of_each(const struct pair_program *p, const double *x, uint32_t c, uint32_t w)
{
	struct pair_entry e = p->entry[c];
	double many = p->count[e.a];

	if (e.b != PAIR_NONE)
		many *= e.a == e.b ? (many - 1) / 2 : p->count[e.b];
	return x[c * p->types + w] / many;
}

/* The same steps to the same point, residues and all, as with every job written
 * out. */
static void counts_end_where_jobs_written_out_end(void **state)
{
	struct rng rng = property("kinds with counts against jobs written out");
	struct pair_instance in, out;
	uint32_t first[8];

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		struct pair_wish wish = pair_wish_small(&rng);
		struct pair_answer kinds, jobs;

		wish.most_count = 4;
		pair_instance_init(&in, &rng, wish);
		pair_instance_write_out(&in, &out, first);
		kinds = pair_answer_for(&in);
		jobs = pair_answer_for(&out);
		pairs_solve(&in.program, &kinds);
		pairs_solve(&out.program, &jobs);
		assert_int_equal(kinds.status, INTERIOR_OPTIMAL);
		assert_int_equal(kinds.iterations, jobs.iterations);
		assert_close(kinds.z, jobs.z, 1e-9);
		for (uint32_t c = 0, to = 0; c < in.program.entries; c++) {
			struct pair_entry e = in.entry[c];
			uint32_t a = in.count[e.a], b = e.b == PAIR_NONE ? 1 : in.count[e.b];

			for (uint32_t w = 0; w < wish.types; w++)
				assert_close(jobs.x[to * wish.types + w],
					share_of_each(&in.program, kinds.x, c, w), 1e-7);
			to += e.a == e.b ? a * (a - 1) / 2 : a * b;
		}
		pair_instance_fini(&in);
		pair_instance_fini(&out);
	}
}

static void says_when_a_level_cannot_be_reached(void **state)
{
	struct rng rng = property("levels out of reach");
	struct pair_instance in;
	struct pair_answer answer;

	(void)state;
	for (size_t i = 0; i < rounds(100); i++) {
		pair_instance_init(&in, &rng, pair_wish_small(&rng));
		pair_instance_reach(&in, level_of(&in) * 1.01 + 1e-3);
		answer = pair_answer_for(&in);
		pairs_solve(&in.program, &answer);
		assert_int_equal(answer.status, INTERIOR_INFEASIBLE);
		pair_instance_fini(&in);
	}
}

static void violations_are_seen(void **state)
{
	struct rng rng = property("violations");
	struct pair_instance in;
	struct pair_answer answer;

	(void)state;
	pair_instance_init(&in, &rng, (struct pair_wish){ .jobs = 4, .types = 2, .crowded = 2 });
	answer = pair_answer_for(&in);
	pairs_solve(&in.program, &answer);
	assert_true(pairs_violation(&in.program, answer.x, answer.z * 1.5) > 1e-3);
	answer.x[0] += 1.1;
	assert_true(pairs_violation(&in.program, answer.x, answer.z) > 1e-2);
	answer.x[0] = -0.1;
	assert_true(pairs_violation(&in.program, answer.x, 0) > 0.09);
	answer.x[0] = NAN;
	assert_true(pairs_violation(&in.program, answer.x, 0) > 1);
	pair_instance_fini(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_programs_of_all_kinds),
		cmocka_unit_test(medium_programs_of_all_kinds),
		cmocka_unit_test(two_jobs_share_a_gpu),
		cmocka_unit_test(equal_jobs_get_equal_shares),
		cmocka_unit_test(counts_end_where_jobs_written_out_end),
		cmocka_unit_test(says_when_a_level_cannot_be_reached),
		cmocka_unit_test(violations_are_seen),
	};

	return cmocka_run_group_tests_name("solver/pairs", tests, NULL, NULL);
}
