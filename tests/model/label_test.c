#include "model/label.h"

#include <math.h>

#include "support/property.h"

enum { MOST = 12 };

/* The spec's small examples, all of one second. */
static void test_first(void **state)
{
	static const struct {
		const char *what;
		double peaks[MOST];
		uint32_t n;
		double most, first, waste; /* of the first, mean */
	} rows[] = {
		{ "one of four needs more", { 1, 1, 1, 4 }, 4, 4, 1, .25 },
		{ "all alike: the smallest", { 1, 2, 3, 4 }, 4, 4, 1, 1.5 },
		{ "nine and one", { 2, 2, 2, 2, 2, 2, 2, 2, 2, 10 }, 10, 10, 2, .2 },
		{ "three and one", { 2, 2, 2, 10 }, 4, 10, 2, 2.0 / 4 },
		{ "two and two", { 2, 2, 9, 10 }, 4, 10, 2, 5.0 / 4 },
		{ "a single one", { 7 }, 1, 10, 7, 0 },
		{ "always the same", { 3, 3, 3 }, 3, 8, 3, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct label_sample s[MOST];

		for (uint32_t k = 0; k < rows[i].n; k++)
			s[k] = (struct label_sample){ rows[i].peaks[k], 1 };
		for (int rule = LABEL_WASTE; rule <= LABEL_THROUGHPUT; rule++)
			if (label_first(s, rows[i].n, rows[i].most, (enum label_rule)rule, 0) !=
				rows[i].first)
				fail_msg("%s", rows[i].what);
		assert_true(fabs(label_waste(s, rows[i].n, rows[i].first, rows[i].most) -
				    rows[i].waste) < 1e-12);
	}
}

static void test_wastes(void **state)
{
	struct label_sample a[] = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 4, 1 } };
	struct label_sample b[] = { { 2, 1 }, { 2, 1 }, { 9, 1 }, { 10, 1 } };

	(void)state;
	assert_true(label_waste(a, 4, 4, 4) == 2.25);
	assert_true(label_taken(a, 4, 1, 4) == 2 && label_taken(a, 4, 4, 4) == 4);
	assert_true(4 * label_waste(b, 4, 9, 10) == 23 && 4 * label_waste(b, 4, 10, 10) == 17);
	assert_true(label_retries(b, 4, 2) == .5);
}

static void test_quantile(void **state)
{
	struct label_sample s[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		s[i] = (struct label_sample){ i + 1, 1 };
	assert_true(label_first(s, 20, 100, LABEL_QUANTILE, .95) == 19);
	assert_true(label_first(s, 20, 100, LABEL_QUANTILE, 1) == 20);
	assert_true(label_first(s, 20, 100, LABEL_QUANTILE, .01) == 1);
	assert_true(label_first(s, 20, 10, LABEL_QUANTILE, .95) == 10);
}

/* A worker of 16 GB and 8 cores, functions of 2 GB and one core: 8 at a time. */
static void test_pack(void **state)
{
	(void)state;
	assert_int_equal(label_pack((double[]){ 2, 1 }, (double[]){ 16, 8 }, 2), 8);
	assert_int_equal(label_pack((double[]){ 4, 1 }, (double[]){ 16, 8 }, 2), 4);
	assert_int_equal(label_pack((double[]){ 0, 3 }, (double[]){ 16, 8 }, 2), 2);
}

static void test_properties(void **state)
{
	struct rng rng = property(
		"a1 is a peak and the least wasteful one; both forms agree; W(max) is what is left over");

	(void)state;
	for (size_t round = 0; round < rounds(3000); round++) {
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 40);
		double most = 0, first, left = 0;
		struct label_sample s[40];
		bool among = false;

		for (uint32_t i = 0; i < n; i++) {
			s[i] = (struct label_sample){ 1 + (double)rng_below(&rng, 20),
				1 + (double)rng_below(&rng, 9) };
			most = fmax(most, s[i].peak);
		}
		for (uint32_t i = 0; i < n; i++)
			left += (most - s[i].peak) * s[i].time_s / n;
		assert_true(fabs(label_waste(s, n, most, most) - left) < 1e-9);
		most += (double)rng_below(&rng, 3) * 5;
		label_sort(s, n);
		first = label_first(s, n, most, LABEL_WASTE, 0);
		assert_true(first == label_first(s, n, most, LABEL_THROUGHPUT, 0));
		for (uint32_t i = 0; i < n; i++) {
			among |= s[i].peak == first;
			assert_true(label_waste(s, n, first, most) <=
				label_waste(s, n, s[i].peak, most) + 1e-9);
			assert_true(label_taken(s, n, first, most) <=
				label_taken(s, n, s[i].peak, most) + 1e-9);
		}
		assert_true(among && first <= most);
	}
}

/* As many as fit, and not one more. */
static void test_pack_properties(void **state)
{
	struct rng rng = property("labels on a worker are at most its size, and another would not fit");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		double each[3], size[3];
		bool another = true;
		uint32_t n;

		for (int r = 0; r < 3; r++) {
			each[r] = 0.1 * (double)(1 + rng_below(&rng, 40));
			size[r] = 0.1 * (double)rng_below(&rng, 400);
		}
		n = label_pack(each, size, 3);
		for (int r = 0; r < 3; r++) {
			assert_true(n * each[r] <= size[r] * (1 + 1e-9));
			another &= (n + 1) * each[r] <= size[r];
		}
		assert_false(another);
	}
}

/* Between the oracle and the whole worker; constant peaks are never retried, and cost nothing once known. */
static void test_replay(void **state)
{
	struct rng rng = property("labels learnt on the way cost less than whole workers");
	struct label_sample s[500];
	struct label_course c;

	(void)state;
	for (int i = 0; i < 500; i++)
		s[i] = (struct label_sample){ rng_uniform(&rng) < .95 ? 2 + rng_uniform(&rng) : 10, 1 };
	c = label_replay(s, 500, 16, LABEL_WASTE, 0, LABEL_SAMPLES);
	assert_int_equal(c.learning, 10);
	assert_true(c.taken >= c.used && c.taken < 500 * 16 / 2);
	assert_in_range(c.retries, 5, 60);
	for (int i = 0; i < 500; i++)
		s[i] = (struct label_sample){ 3, 1 };
	c = label_replay(s, 500, 16, LABEL_WASTE, 0, LABEL_SAMPLES);
	assert_int_equal(c.retries, 0);
	assert_true(c.taken == 10 * 16 + 490 * 3 && c.last == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_wastes),
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_pack_properties),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
