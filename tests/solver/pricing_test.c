#include "solver/pricing.h"

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

static void add_up(const struct pair_program *p, const double *x, double *limit, double *used)
{
	for (uint32_t v = 0; v < p->entries * p->types; v++) {
		struct pair_entry e = p->entry[v / p->types];

		limit[e.a] += x[v];
		if (e.b != PAIR_NONE)
			limit[e.b] += x[v];
		used[v % p->types] += p->gang[e.a] * x[v];
	}
}

/* Limits and capacities hold to rounding, not just to what a simplex method calls feasible. */
static void check_limits(struct pair_instance *in, const double *x)
{
	const struct pair_program *p = &in->program;
	double *limit = arena_array(&in->memory, double, p->jobs);
	double *used = arena_array(&in->memory, double, p->types);

	add_up(p, x, limit, used);
	for (uint32_t i = 0; i < p->jobs; i++)
		assert_true(limit[i] <= (p->count ? p->count[i] : 1) + 1e-9);
	for (uint32_t w = 0; w < p->types; w++)
		assert_true(used[w] <= p->capacity[w] * (1 + 1e-12) + 1e-9);
}

static void compare(struct pair_instance *in)
{
	struct pair_answer got = pair_answer_for(in), want = pair_answer_for(in);

	pricing_solve(&in->program, &got);
	pairs_solve_simplex(&in->program, &want);
	assert_int_equal(got.status, want.status);
	if (want.status != INTERIOR_OPTIMAL)
		return;
	assert_close(got.objective, want.objective, 1e-6);
	assert_true(got.residual <= 1e-6);
	assert_true(pairs_violation(&in->program, got.x, got.z) <= 1e-6);
	check_limits(in, got.x);
}

static void small_programs_of_all_kinds(void **state)
{
	struct rng rng = property("small programs against the simplex method");
	struct pair_instance in;

	(void)state;
	for (size_t i = 0; i < rounds(3000); i++) {
		struct pair_wish wish = pair_wish_small(&rng);

		wish.most_count = (uint32_t)rng_below(&rng, 4);
		pair_instance_init(&in, &rng, wish);
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

		wish.most_count = i & 8 ? 20 : 0;
		pair_instance_init(&in, &rng, wish);
		pair_instance_become(&in, &rng, i % 4, level_of(&in));
		compare(&in);
		pair_instance_fini(&in);
	}
}

static void agrees_with_the_interior_point(void **state)
{
	struct rng rng = property("100 jobs, by pricing and by the interior point");
	struct pair_instance in;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct pair_wish wish = { .jobs = 100, .types = 3, .gangs = i & 1, .crowded = 2 + i };
		struct pair_answer one, two;

		pair_instance_init(&in, &rng, wish);
		one = pair_answer_for(&in);
		two = pair_answer_for(&in);
		pricing_solve(&in.program, &one);
		pairs_solve(&in.program, &two);
		assert_int_equal(one.status, INTERIOR_OPTIMAL);
		assert_int_equal(two.status, INTERIOR_OPTIMAL);
		assert_close(one.objective, two.objective, 1e-6);
		check_limits(&in, one.x);
		pair_instance_fini(&in);
	}
}

static uint32_t entry_of(const struct pair_program *p, uint32_t a, uint32_t b)
{
	for (uint32_t c = 0; c < p->entries; c++) {
		struct pair_entry e = p->entry[c];

		if ((e.a == a && e.b == b) || (e.a == b && e.b == a))
			return c;
	}
	fail_msg("no entry for %u and %u", a, b);
	return 0;
}

static void spread_all(struct pair_instance *in, const double *x, const struct pair_instance *out,
	const uint32_t *first, double *shares)
{
	const struct pair_program *p = &in->program;

	for (uint32_t c = 0; c < p->entries; c++) {
		struct pair_entry e = p->entry[c];
		uint32_t many = p->count[e.a] + (e.b == PAIR_NONE ? 0 : p->count[e.b]);
		struct pair_part *parts = arena_array(&in->memory, struct pair_part, many);
		uint32_t n = pricing_spread(p, c, parts);

		assert_true(n <= many);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t b = e.b == PAIR_NONE ? PAIR_NONE : first[e.b] + parts[i].b;
			uint32_t to = entry_of(&out->program, first[e.a] + parts[i].a, b);

			for (uint32_t w = 0; w < p->types; w++)
				shares[to * p->types + w] += parts[i].part * x[c * p->types + w];
		}
	}
}

/* Kinds with counts reach what all jobs written out reach, and spread out they do it for each job. */
static void counts_lose_nothing(void **state)
{
	struct rng rng = property("kinds with counts against jobs written out");
	struct pair_instance in, out;
	uint32_t first[8];

	(void)state;
	for (size_t i = 0; i < rounds(300); i++) {
		struct pair_wish wish = pair_wish_small(&rng);
		struct pair_answer kinds, jobs;
		double *shares;

		wish.most_count = 4;
		pair_instance_init(&in, &rng, wish);
		pair_instance_write_out(&in, &out, first);
		kinds = pair_answer_for(&in);
		jobs = pair_answer_for(&out);
		pricing_solve(&in.program, &kinds);
		pairs_solve_simplex(&out.program, &jobs);
		assert_int_equal(kinds.status, INTERIOR_OPTIMAL);
		assert_close(kinds.z, jobs.z, 1e-6);
		shares = arena_array(&out.memory, double, out.program.entries *wish.types);
		spread_all(&in, kinds.x, &out, first, shares);
		assert_true(pairs_violation(&out.program, shares, kinds.z) < 1e-9);
		check_limits(&out, shares);
		pair_instance_fini(&in);
		pair_instance_fini(&out);
	}
}

static void spreading(void **state)
{
	static const struct {
		const char *what;
		uint32_t a, b;
		bool alike;
		uint32_t parts;
	} rows[] = {
		{ "one job alone", 1, 0, false, 1 },
		{ "five jobs alone", 5, 0, false, 5 },
		{ "one with one", 1, 1, false, 1 },
		{ "three with three", 3, 3, false, 3 },
		{ "four with six share a common part", 4, 6, false, 8 },
		{ "five with seven", 5, 7, false, 11 },
		{ "two alike", 2, 2, true, 1 },
		{ "five alike in a ring", 5, 5, true, 5 },
	};

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		uint32_t count[2] = { rows[r].a, rows[r].b };
		struct pair_entry entry = { 0, rows[r].alike ? 0 : rows[r].b ? 1 : PAIR_NONE };
		struct pair_program program = { .jobs = 2, .entries = 1, .entry = &entry, .count = count };
		struct pair_part parts[12];
		double of_a[8] = { 0 }, of_b[8] = { 0 };
		uint32_t n = pricing_spread(&program, 0, parts);

		print_message("%s\n", rows[r].what);
		assert_int_equal(n, rows[r].parts);
		for (uint32_t i = 0; i < n; i++) {
			of_a[parts[i].a] += parts[i].part;
			if (entry.b != PAIR_NONE)
				(rows[r].alike ? of_a : of_b)[parts[i].b] += parts[i].part;
		}
		for (uint32_t i = 0; i < rows[r].a; i++)
			assert_close(of_a[i], (rows[r].alike ? 2.0 : 1.0) / rows[r].a, 1e-15);
		for (uint32_t i = 0; !rows[r].alike && i < rows[r].b; i++)
			assert_close(of_b[i], 1.0 / rows[r].b, 1e-15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_programs_of_all_kinds),
		cmocka_unit_test(medium_programs_of_all_kinds),
		cmocka_unit_test(agrees_with_the_interior_point),
		cmocka_unit_test(counts_lose_nothing),
		cmocka_unit_test(spreading),
	};

	return cmocka_run_group_tests_name("solver/pricing", tests, NULL, NULL);
}
