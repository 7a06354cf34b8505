/*
 * Whether promises can be kept, and the smallest set of them that cannot, against trying every set.
 */
#include "placement/cell_check.h"

#include <string.h>

#include "placement/cells.h"
#include "support/cell_ops.h"
#include "support/property.h"

/* ---- the worked example */

/* Two nodes of two pairs of two devices. */
static void two_nodes(struct cell_design *d)
{
	*d = (struct cell_design){ 0 };
	ops_chain(d, "gpu", (uint32_t[]){ 2, 2, 0 }, 2, 2);
}

static void the_example_fits_and_one_device_more_does_not(void **state)
{
	struct cell_design d;
	struct cell_conflict conflict;
	struct cell_figures figures;

	(void)state;
	two_nodes(&d);
	ops_promise(&d, "A", 0, 2, 1);
	ops_promise(&d, "A", 0, 1, 1);
	ops_promise(&d, "B", 0, 1, 1);
	assert_true(cell_check(&d, NULL));
	cell_figures(&d, 0, 2, &figures);
	assert_int_equal(figures.exist, 2);
	assert_int_equal(figures.promised, 1);
	assert_int_equal(figures.spare, 0); /* the other node is needed for pairs */
	cell_figures(&d, 0, 1, &figures);
	assert_int_equal(figures.promised, 2);
	assert_int_equal(figures.spare, 0);
	ops_promise(&d, "C", 0, 0, 1);
	assert_false(cell_check(&d, &conflict));
	assert_int_equal(conflict.promises.n, 4); /* any three of them fit */
	assert_int_equal(conflict.need, 9);
	assert_int_equal(conflict.have, 8);
	cell_conflict_fini(&conflict);
	cell_design_fini(&d);
}

static void the_smallest_set_is_named(void **state)
{
	struct cell_design d;
	struct err err = { 0 };

	(void)state;
	two_nodes(&d);
	ops_promise(&d, "small", 0, 0, 1);
	ops_promise(&d, "a", 0, 2, 1);
	ops_promise(&d, "pair", 0, 1, 1);
	ops_promise(&d, "b", 0, 2, 2);
	assert_int_equal(cell_check_err(&d, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"more cells are promised than can be kept: a (1 level-2) and b "
		"(2 level-2) need 3 level-2 of gpu, there are 2");
	cell_design_fini(&d);
}

static void pins_count_where_they_lie(void **state)
{
	struct cell_design d;
	struct cell_conflict conflict;

	(void)state;
	two_nodes(&d);
	ops_pin(&d, "p", 0, 0, 0);
	ops_promise(&d, "a", 0, 2, 1);
	assert_true(cell_check(&d, NULL));
	ops_pin(&d, "q", 0, 0, 7); /* in the other node: no whole one is left */
	assert_false(cell_check(&d, &conflict));
	assert_int_equal(conflict.promises.n, 3);
	cell_conflict_fini(&conflict);
	d.pins.at[1].index = 1; /* beside the first */
	assert_true(cell_check(&d, NULL));
	ops_pin(&d, "r", 0, 1, 0); /* the pair that both lie in */
	assert_false(cell_check(&d, &conflict));
	assert_int_equal(conflict.promises.n, 2);
	assert_int_equal(conflict.need, 0);
	cell_conflict_fini(&conflict);
	cell_design_fini(&d);
}

/* ---- against trying */

/* Whether these promises (bits) can be carved out, by doing it: pins, then the largest first. */
static bool carve_all(const struct cell_design *d, uint32_t set)
{
	struct cell_design bare = *d;
	struct cells *cells;
	uint32_t from;
	bool fits = true;

	memset(&bare.promises, 0, sizeof(bare.promises));
	cells = cells_create(&bare);
	for (uint32_t i = 0; i < d->promises.n && fits; i++) {
		const struct cell_promise *p = &d->promises.at[i];
		uint32_t cell;

		if (!(set >> i & 1) || p->pin == CELL_NONE)
			continue;
		cell = cells->chains[p->chain].base[p->level] + d->pins.at[p->pin].index;
		fits = cells->at[cell].state != CELL_SPLIT &&
			cells->at[cells_root(cells, cell)].state == CELL_LISTED;
		if (fits)
			cells_carve(cells, cell);
	}
	for (uint32_t level = CELL_LEVELS_MAX; level-- > 0 && fits;) {
		for (uint32_t i = 0; i < d->promises.n; i++) {
			const struct cell_promise *p = &d->promises.at[i];

			for (uint32_t k = 0; (set >> i & 1) && p->pin == CELL_NONE &&
				p->level == level && fits && k < p->count;
				k++)
				fits = cells_alloc(cells, p->chain, level, 0, &from) != CELL_NONE;
		}
	}
	cells_destroy(cells);
	return fits;
}

static uint32_t smallest_by_trying(const struct cell_design *d)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t set = 0; set < UINT32_C(1) << d->promises.n; set++) {
		uint32_t n = (uint32_t)__builtin_popcount(set);

		if (n < best && !carve_all(d, set))
			best = n;
	}
	return best;
}

static void random_promises(struct rng *rng, struct cell_design *d)
{
	uint32_t splits[4] = { 0 }, n = 1 + (uint32_t)rng_below(rng, 6);

	for (uint32_t i = 0; i < 1 + rng_below(rng, 3); i++)
		splits[i] = 1 + (uint32_t)rng_below(rng, 3);
	ops_chain(d, "x", splits, 1, 1 + (uint32_t)rng_below(rng, 3));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t level = (uint32_t)rng_below(rng, d->chains.at[0].nlevels);
		char name[2] = { (char)('a' + i), 0 };

		if (rng_below(rng, 4) == 0)
			ops_pin(d, name, 0, level,
				(uint32_t)rng_below(rng, cell_count(&d->chains.at[0], level)));
		else
			ops_promise(d, name, 0, level, 1 + (uint32_t)rng_below(rng, 3));
	}
}

static void the_set_is_as_small_as_by_trying(void **state)
{
	struct rng rng = property("the smallest set of promises that cannot be kept");
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct cell_design d = { 0 };
		struct cell_conflict conflict;
		uint32_t best, set = 0;

		random_promises(&rng, &d);
		best = smallest_by_trying(&d);
		assert_int_equal(cell_check(&d, &conflict), best == UINT32_MAX);
		if (best != UINT32_MAX) {
			assert_int_equal(conflict.promises.n, best);
			for (size_t k = 0; k < conflict.promises.n; k++)
				set |= UINT32_C(1) << conflict.promises.at[k];
			assert_false(carve_all(&d, set));
			bad++;
		}
		cell_conflict_fini(&conflict);
		cell_design_fini(&d);
	}
	assert_true(bad > rounds(2000) / 10 && bad < rounds(2000) * 9 / 10);
}

/* More pins than are tried in every set: what is named is minimal all the same. */
static void of_many_pins_those_in_the_way_are_named(void **state)
{
	struct cell_design d = { 0 };
	struct cell_conflict conflict;

	(void)state;
	ops_chain(&d, "x", (uint32_t[]){ 4, 0 }, 1, 20);
	for (uint32_t i = 0; i < 18; i++)
		ops_pin(&d, "p", 0, 0, i * 4);
	ops_promise(&d, "a", 0, 1, 2);
	assert_true(cell_check(&d, NULL));
	ops_promise(&d, "b", 0, 1, 1);
	assert_false(cell_check(&d, &conflict));
	assert_int_equal(conflict.promises.n, 18 + 2);
	cell_conflict_fini(&conflict);
	cell_design_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_fits_and_one_device_more_does_not),
		cmocka_unit_test(the_smallest_set_is_named),
		cmocka_unit_test(pins_count_where_they_lie),
		cmocka_unit_test(the_set_is_as_small_as_by_trying),
		cmocka_unit_test(of_many_pins_those_in_the_way_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
