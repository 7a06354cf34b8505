/*
 * Embeddings: the worth of all sets at once against trying every order of each.
 */
#include "solver/embed.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

struct drawn {
	struct embed_graph g;
	double width[64];
	uint8_t kind[64];
};

static void draw(struct rng *rng, struct drawn *d, uint32_t n)
{
	static const double widths[] = { 10, 25, 50 };

	d->g = (struct embed_graph){ n, d->width, d->kind };
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++) {
			uint8_t kind = (uint8_t)rng_below(rng, EMBED_KINDS);

			d->kind[i * n + j] = d->kind[j * n + i] = kind;
			d->width[i * n + j] = d->width[j * n + i] = widths[kind];
		}
	}
}

/* Neither grows nor falls with any of them. */
static double crooked(const uint32_t links[EMBED_KINDS])
{
	return 7.0 * links[1] * links[0] - 3.0 * links[2] * links[2] + 11.0 * links[2];
}

static void swap(uint8_t *a, uint8_t *b)
{
	uint8_t kept = *a;

	*a = *b;
	*b = kept;
}

static bool next_order(uint8_t *at, uint32_t n)
{
	uint32_t i = n - 1, j = n - 1;

	while (i > 0 && at[i - 1] > at[i])
		i--;
	if (i == 0)
		return false;
	while (at[j] < at[i - 1])
		j--;
	swap(&at[i - 1], &at[j]);
	for (j = n - 1; i < j; i++, j--)
		swap(&at[i], &at[j]);
	return true;
}

/* The first order in the dictionary of those that are worth most. */
static struct embedding try_all(const struct embed_graph *g, uint64_t set, enum pattern pattern,
	embed_value *value)
{
	struct embedding e = { 0 }, best = { .value = -INFINITY };

	for (uint64_t left = set; left; left &= left - 1)
		e.at[e.n++] = (uint8_t)__builtin_ctzll(left);
	do {
		embed_measure(g, pattern, &e);
		e.value = value ? value(e.links) : e.sum;
		if (e.value > best.value + 1e-9)
			best = e;
	} while (next_order(e.at, e.n));
	return best;
}

static void finds_the_first_of_the_best(void **state)
{
	struct rng rng = property("the best embedding, by trying all");

	(void)state;
	for (size_t round = 0; round < rounds(12); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 5);
		embed_value *value = rng_below(&rng, 2) ? crooked : NULL;
		double values[64];
		struct drawn d;

		draw(&rng, &d, n);
		for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
			for (uint32_t k = 1; k <= n; k++)
				embed_values(&d.g, k, (enum pattern)pattern, value, values);
			for (uint64_t set = 1; set < UINT64_C(1) << n; set++) {
				struct embedding want = try_all(&d.g, set, (enum pattern)pattern,
					value);
				struct embedding got = { .value = -INFINITY };

				assert_true(embed_order(&d.g, set, (enum pattern)pattern, value, &got));
				assert_true(fabs(got.value - want.value) < 1e-9);
				assert_memory_equal(got.at, want.at, want.n);
				assert_true(fabs(values[set] - want.value) < 1e-9);
			}
		}
	}
}

static void a_pattern_has_its_edges(void **state)
{
	static const uint32_t edges[PATTERN_COUNT] = { 5, 4, 4, 10 };
	struct rng rng = property("edges of five vertices");
	struct embedding e = { .n = 5, .at = { 4, 2, 0, 1, 3 } };
	struct drawn d;

	(void)state;
	draw(&rng, &d, 6);
	for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
		embed_measure(&d.g, (enum pattern)pattern, &e);
		assert_int_equal(e.links[0] + e.links[1] + e.links[2], edges[pattern]);
	}
}

/* {0, 1, 2}, {0, 1, 4}, {0, 1, 5}, {0, 2, 4} and so on: ten sets of {0, 1, 2, 4, 5}. */
static void sets_come_in_the_order_of_the_dictionary(void **state)
{
	static const uint64_t want[] = { 0x07, 0x13, 0x23, 0x15, 0x25, 0x31, 0x16, 0x26, 0x32, 0x34, 0 };
	uint64_t set = want[0];

	(void)state;
	for (size_t i = 1; i < COUNT(want); i++) {
		set = embed_next_set(0x37, set);
		assert_int_equal(set, want[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_first_of_the_best),
		cmocka_unit_test(a_pattern_has_its_edges),
		cmocka_unit_test(sets_come_in_the_order_of_the_dictionary),
	};

	return cmocka_run_group_tests_name("solver/embed", tests, NULL, NULL);
}
