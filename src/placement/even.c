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
