/*
 * As many devices on each node, for worlds that cannot do otherwise.
 */
#include "placement/even.h"

bool slots_are_even(const struct slots *slots)
{
	for (uint32_t i = 1; i < slots->n; i++) {
		if (__builtin_popcountll(slots->at[i].devices) !=
			__builtin_popcountll(slots->at[0].devices))
			return false;
	}
	return true;
}

/* `each` on `n` nodes, those with the fewest free devices first. */
static bool place_on(const struct placing *p, uint32_t n, uint32_t each, struct slots *out)
{
	uint32_t most = p->space->types[p->type].max;

	out->n = out->gpus = 0;
	for (uint32_t nfree = each; nfree <= most; nfree++) {
		uint32_t at = 0, node;

		while (out->n < n && (node = space_next(p->space, p->type, nfree, &at)) != UINT32_MAX)
			place_on_node(p, node, each, out);
	}
	return out->n == n && out->gpus == n * each;
}

bool place_over(const struct placing *p, uint32_t nodes, struct slots *out)
{
	return p->gpus % nodes == 0 && p->gpus / nodes <= p->space->types[p->type].max &&
		place_on(p, nodes, p->gpus / nodes, out);
}

bool place_even(const struct placing *p, struct slots *out)
{
	for (uint32_t n = 1; n <= p->gpus; n++) {
		if (place_over(p, n, out))
			return true;
	}
	return false;
}

/* `n` nodes with one device more on the first of them than on the others. */
static bool place_nearly(const struct placing *p, uint32_t n, struct slots *out)
{
	uint32_t each = p->gpus / n, more = p->gpus % n, most = p->space->types[p->type].max;

	out->n = out->gpus = 0;
	for (uint32_t nfree = most; nfree >= each && nfree > 0; nfree--) {
		uint32_t at = 0, node;

		while (out->n < n && (node = space_next(p->space, p->type, nfree, &at)) != UINT32_MAX)
			place_on_node(p, node, out->n < more ? each + 1 : each, out);
	}
	return out->n == n && out->gpus == p->gpus;
}

/* Optimus' spread: equal parts go at one pace; where there are none, parts that differ by one. */
static bool even_choose(void *self, const struct placing *p, struct slots *out)
{
	uint32_t most = p->space->types[p->type].max, n;

	(void)self;
	if (place_even(p, out))
		return true;
	for (n = most ? (p->gpus + most - 1) / most : 1; n <= p->gpus; n++) {
		if (place_nearly(p, n, out))
			return true;
	}
	out->n = out->gpus = 0;
	return place_emptiest(p, p->gpus, out) == p->gpus;
}

const struct placer placer_even = {
	.name = "even",
	.summary = "as many devices on each of as few nodes as can be",
	.origin = "the spread of Optimus: Peng et al., EuroSys 2018",
	.choose = even_choose,
};
