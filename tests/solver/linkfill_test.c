/*
 * Shares of links: examples, and what max-min fairness is.
 */
#include "solver/linkfill.h"

#include <math.h>
#include <stdbool.h>

#include "support/property.h"

static void one_link_is_shared_alike(void **state)
{
	static const double capacity[] = { 10 };
	static const uint32_t first[] = { 0, 1, 2, 3 }, path[] = { 0, 0, 0 };
	static const double weight[] = { 1, 1, 3 };
	double share[3];

	(void)state;
	linkfill_solve(&(struct linkfill){ 3, 1, capacity, first, path, NULL }, share);
	for (int i = 0; i < 3; i++)
		assert_float_equal(share[i], 10.0 / 3, 1e-12);
	linkfill_solve(&(struct linkfill){ 3, 1, capacity, first, path, weight }, share);
	for (int i = 0; i < 3; i++)
		assert_float_equal(share[i], 2, 1e-12);
}

static void who_is_held_up_elsewhere_leaves_the_rest(void **state)
{
	/* Flow 0 crosses both links, 1 the narrow one, 2 the wide one; 3 none. */
	static const double capacity[] = { 4, 10 };
	static const uint32_t first[] = { 0, 2, 3, 4, 4 }, path[] = { 0, 1, 0, 1 };
	double share[4];

	(void)state;
	linkfill_solve(&(struct linkfill){ 4, 2, capacity, first, path, NULL }, share);
	assert_float_equal(share[0], 2, 1e-12);
	assert_float_equal(share[1], 2, 1e-12);
	assert_float_equal(share[2], 8, 1e-12);
	assert_true(isinf(share[3]));
}

enum { FLOWS = 12, LINKS = 5 };

struct net {
	double capacity[LINKS], share[FLOWS];
	uint32_t first[FLOWS + 1], path[FLOWS * LINKS];
	struct linkfill p;
};

static void draw(struct net *n, struct rng *rng, uint32_t links)
{
	n->p = (struct linkfill){ 1 + (uint32_t)rng_below(rng, FLOWS), links, n->capacity, n->first,
		n->path, NULL };
	for (uint32_t i = 0; i < links; i++)
		n->capacity[i] = rng_uniform(rng) * 10;
	n->first[0] = 0;
	for (uint32_t f = 0; f < n->p.flows; f++) {
		uint32_t at = n->first[f];

		for (uint32_t i = 0; i < links; i++) {
			if (links == 1 || rng_below(rng, 2))
				n->path[at++] = i;
		}
		n->first[f + 1] = at;
	}
	linkfill_solve(&n->p, n->share);
}

/* No link gives more than it has; every flow crosses a full link where nobody has more. */
static void check(const struct net *n)
{
	double used[LINKS] = { 0 }, most[LINKS] = { 0 };

	for (uint32_t f = 0; f < n->p.flows; f++) {
		for (uint32_t i = n->first[f]; i < n->first[f + 1]; i++) {
			used[n->path[i]] += n->share[f];
			most[n->path[i]] = fmax(most[n->path[i]], n->share[f]);
		}
	}
	for (uint32_t i = 0; i < n->p.links; i++)
		assert_true(used[i] <= n->capacity[i] + 1e-9);
	for (uint32_t f = 0; f < n->p.flows; f++) {
		bool held = n->first[f] == n->first[f + 1];

		for (uint32_t i = n->first[f]; i < n->first[f + 1]; i++)
			held |= used[n->path[i]] >= n->capacity[n->path[i]] - 1e-9 &&
				n->share[f] >= most[n->path[i]] - 1e-9;
		assert_true(held);
	}
}

static void shares_are_fair_and_fit(void **state)
{
	struct rng rng = property("no link above its capacity, everybody held up by a full one");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct net n;

		draw(&n, &rng, 1 + (uint32_t)rng_below(&rng, LINKS));
		check(&n);
	}
}

/* On one link; over several that is not so. */
static void who_leaves_slows_nobody(void **state)
{
	struct rng rng = property("removing a flow of one link slows no other");

	(void)state;
	for (size_t i = 0; i < rounds(500); i++) {
		double before;
		struct net n;

		draw(&n, &rng, 1);
		before = n.share[0];
		if (n.p.flows < 2)
			continue;
		n.p.flows--;
		linkfill_solve(&n.p, n.share);
		for (uint32_t f = 0; f < n.p.flows; f++)
			assert_true(n.share[f] >= before - 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_link_is_shared_alike),
		cmocka_unit_test(who_is_held_up_elsewhere_leaves_the_rest),
		cmocka_unit_test(shares_are_fair_and_fit),
		cmocka_unit_test(who_leaves_slows_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
