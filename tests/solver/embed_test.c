/*
 * Embeddings: the worth of all sets at once against trying every order of each.
 */
#include "solver/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

struct drawn {
	struct embed_graph g;
	double width[EMBED_MAX * EMBED_MAX];
	uint8_t kind[EMBED_MAX * EMBED_MAX];
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

/* ---- many vertices: too many orders to try */

/* Whether a path can have so many edges of kind 1, as bits, by how many it has of kind 2. */
struct mixes {
	uint32_t of[EMBED_MAX + 1];
};

static void add_edge(const struct mixes *from, uint8_t kind, struct mixes *to)
{
	for (uint32_t two = 0; two <= EMBED_MAX; two++) {
		if (kind == 2 && two < EMBED_MAX)
			to->of[two + 1] |= from->of[two];
		else if (kind != 2)
			to->of[two] |= from->of[two] << kind;
	}
}

static double sum_of(const uint32_t links[EMBED_KINDS])
{
	return 10.0 * links[0] + 25.0 * links[1] + 50.0 * links[2];
}

static double best_mix(const struct mixes *mixes, uint32_t edges, embed_value *value)
{
	double best = -INFINITY;

	for (uint32_t two = 0; two <= edges; two++) {
		for (uint32_t one = 0; one + two <= edges; one++) {
			uint32_t links[EMBED_KINDS] = { edges - one - two, one, two };

			if (mixes->of[two] >> one & 1)
				best = fmax(best, value(links));
		}
	}
	return best;
}

/* One set, by paths through all of its parts: a ring's from its first vertex, a chain's from each. */
static double by_parts(const struct embed_graph *g, uint64_t set, bool ring, embed_value *value)
{
	uint32_t k = (uint32_t)__builtin_popcountll(set), v[EMBED_MAX], n = 0;
	struct mixes *at = mem_alloc(sizeof(*at) * k << k), all = { { 0 } };
	double best;

	for (uint64_t left = set; left; left &= left - 1)
		v[n++] = (uint32_t)__builtin_ctzll(left);
	for (uint32_t i = 0; i < (ring ? 1 : k); i++)
		at[(k << i) + i].of[0] = 1;
	for (uint32_t part = 1; part < UINT32_C(1) << k; part++) {
		for (uint32_t i = 0; i < k; i++) {
			for (uint32_t j = 0; j < k; j++) {
				if (part >> i & 1 && !(part >> j & 1))
					add_edge(&at[part * k + i], g->kind[v[i] * g->n + v[j]],
						&at[(part | 1u << j) * k + j]);
			}
		}
	}
	for (uint32_t i = 0; i < k; i++) {
		const struct mixes *end = &at[((UINT32_C(1) << k) - 1) * k + i];

		add_edge(end, ring && i > 0 ? g->kind[v[i] * g->n + v[0]] : 0, &all);
	}
	best = best_mix(&all, ring ? k : k - 1, value);
	free(at);
	return best;
}

static uint64_t draw_set(struct rng *rng, uint32_t n, uint32_t k)
{
	uint64_t set = 0;

	while ((uint32_t)__builtin_popcountll(set) < k)
		set |= UINT64_C(1) << rng_below(rng, n);
	return set;
}

static void large_sets_are_worth_what_their_parts_allow(void **state)
{
	struct rng rng = property("the worth of sets of up to 16 vertices");
	double *values = mem_alloc(sizeof(*values) << EMBED_MAX);
	struct drawn d;

	(void)state;
	for (uint32_t k = 3; k <= EMBED_MAX; k++) {
		uint32_t n = k + (uint32_t)rng_below(&rng, EMBED_MAX - k + 1);
		bool ring = rng_below(&rng, 2);
		uint64_t set = draw_set(&rng, n, k);

		draw(&rng, &d, n);
		embed_values(&d.g, k, ring ? PATTERN_RING : PATTERN_CHAIN, crooked, values);
		assert_true(values[set] == by_parts(&d.g, set, ring, crooked));
		embed_values(&d.g, k, ring ? PATTERN_RING : PATTERN_CHAIN, NULL, values);
		assert_true(values[set] == by_parts(&d.g, set, ring, sum_of));
	}
	free(values);
}

static void a_pattern_has_its_edges(void **state)
{
	struct rng rng = property("edges of two to eight vertices");
	struct embedding e = { .at = { 4, 2, 0, 1, 3, 7, 5, 6 } };
	struct drawn d;

	(void)state;
	draw(&rng, &d, 8);
	for (e.n = 2; e.n <= 8; e.n++) {
		const uint32_t edges[PATTERN_COUNT] = { e.n, e.n - 1, e.n - 1, e.n * (e.n - 1) / 2 };

		for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
			embed_measure(&d.g, (enum pattern)pattern, &e);
			assert_int_equal(e.links[0] + e.links[1] + e.links[2], edges[pattern]);
		}
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
		cmocka_unit_test(large_sets_are_worth_what_their_parts_allow),
		cmocka_unit_test(a_pattern_has_its_edges),
		cmocka_unit_test(sets_come_in_the_order_of_the_dictionary),
	};

	return cmocka_run_group_tests_name("solver/embed", tests, NULL, NULL);
}
