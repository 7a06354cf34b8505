/*
 * Everything about cells counted anew, for tests: what the increments say must be what is.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "placement/cell_parts.h"

struct audit {
	const struct cells *cells;
	struct buf *out;
	bool good;
};

static void complain(struct audit *a, const char *what, uint32_t cell, int64_t is, int64_t shall)
{
	if (a->good && a->out)
		buf_printf(a->out, "%s of cell %u (chain %u, level %u) is %lld and shall be %lld",
			what, cell, cell < a->cells->n ? a->cells->at[cell].chain : 0,
			cell < a->cells->n ? a->cells->at[cell].level : 0, (long long)is,
			(long long)shall);
	a->good = false;
}

static void expect(struct audit *a, const char *what, uint32_t cell, int64_t is, int64_t shall)
{
	if (is != shall)
		complain(a, what, cell, is, shall);
}

/* ---- counts */

static void check_leaf(struct audit *a, uint32_t cell)
{
	const struct cell_leaf *l = &a->cells->leaves[cell];
	const struct cell *c = &a->cells->at[cell];
	bool used = leaf_used(l), lent = leaf_lent(l);

	expect(a, "used", cell, c->used, used);
	expect(a, "shut", cell, c->shut, used || l->bad);
	expect(a, "taken", cell, c->taken, used || l->bad || lent);
	expect(a, "lent", cell, c->lent, lent);
	expect(a, "bad", cell, c->bad, l->bad);
	expect(a, "sound", cell, c->sound, l->bad ? -1 : 0);
}

static void check_sums(struct audit *a, uint32_t cell)
{
	const struct cell *c = &a->cells->at[cell];
	struct cell sum = { .sound = -1 };

	for (uint32_t i = c->child; i < c->child + cells_level(a->cells, cell)->split; i++) {
		const struct cell *k = &a->cells->at[i];

		sum.used += k->used;
		sum.shut += k->shut;
		sum.taken += k->taken;
		sum.lent += k->lent;
		sum.bad += k->bad;
		sum.sound = k->sound > sum.sound ? k->sound : sum.sound;
		expect(a, "parent", i, k->parent, cell);
	}
	expect(a, "used", cell, c->used, sum.used);
	expect(a, "shut", cell, c->shut, sum.shut);
	expect(a, "taken", cell, c->taken, sum.taken);
	expect(a, "lent", cell, c->lent, sum.lent);
	expect(a, "bad", cell, c->bad, sum.bad);
	expect(a, "sound", cell, c->sound, sum.bad ? sum.sound : c->level);
}

/* ---- a partition: on the way from any device to its tree's top lies exactly one listed or bound cell */

static void check_state(struct audit *a, uint32_t cell)
{
	const struct cell *c = &a->cells->at[cell];
	enum cell_state up = c->parent == CELL_NONE ? CELL_SPLIT : a->cells->at[c->parent].state;
	bool whole = c->state == CELL_LISTED || c->state == CELL_BOUND;

	/* Inside exactly where the cell above is inside or whole; a device is never split. */
	expect(a, "being inside", cell, c->state == CELL_INSIDE, up != CELL_SPLIT);
	if (c->level == 0 && c->state == CELL_SPLIT)
		complain(a, "state", cell, c->state, CELL_LISTED);
	expect(a, "being in a list", cell, rank_holder(&a->cells->pool, cell) != RANK_NONE,
		c->state == CELL_LISTED);
	if (c->state == CELL_BOUND)
		expect(a, "claim's cell", cell,
			c->claim < a->cells->nclaims ? a->cells->claims[c->claim].cell : CELL_NONE,
			cell);
	if (!whole && c->claim != CELL_NONE)
		complain(a, "claim", cell, c->claim, CELL_NONE);
	if (c->state == CELL_LISTED && c->used)
		complain(a, "used though listed", cell, c->used, 0);
}

/* ---- claims */

static void check_claim(struct audit *a, uint32_t i)
{
	const struct cell_claim *c = &a->cells->claims[i];
	uint32_t used = 0, first, n;

	if (c->cell == CELL_NONE) {
		expect(a, "used of an idle claim", CELL_NONE, c->used, 0);
		return;
	}
	expect(a, "bound to the claim", c->cell, a->cells->at[c->cell].claim, i);
	expect(a, "level", c->cell, a->cells->at[c->cell].level, c->level);
	expect(a, "state", c->cell, a->cells->at[c->cell].state, CELL_BOUND);
	first = cells_first_leaf(a->cells, c->cell);
	n = cells_level(a->cells, c->cell)->leaves;
	for (uint32_t k = first; k < first + n; k++)
		used += a->cells->leaves[k].users && a->cells->leaves[k].claim == i;
	expect(a, "devices in hands of the claim", c->cell, c->used, used);
	if (!used && c->pin == CELL_NONE)
		complain(a, "a bond without use", c->cell, 1, 0);
}

/* ---- the invariant */

/* At each level: listed cells there and above, in cells of the level, cover idle claims there and above. */
static void check_safety(struct audit *a, uint32_t chain)
{
	const struct cells *cells = a->cells;
	const struct cells_chain *ch = &cells->chains[chain];
	int64_t obtainable = 0, promised = 0;

	for (uint32_t level = ch->kind->nlevels; level-- > 0;) {
		int64_t here = 0;

		if (level + 1 < ch->kind->nlevels) {
			obtainable *= ch->kind->levels[level + 1].split;
			promised *= ch->kind->levels[level + 1].split;
		}
		for (uint32_t i = 0; i < ch->n[level]; i++)
			obtainable += cells->at[ch->base[level] + i].state == CELL_LISTED;
		for (uint32_t i = 0; i < cells->nclaims; i++)
			here += cells->claims[i].chain == chain && cells->claims[i].level == level &&
				cells->claims[i].cell == CELL_NONE;
		promised += here;
		if (obtainable < here || obtainable < promised)
			complain(a, "SAFETY: cells to be had", ch->base[level], obtainable, promised);
		expect(a, "slack", ch->base[level], ch->slack[level], obtainable - promised);
	}
}

bool cells_audit(const struct cells *cells, struct buf *out)
{
	struct audit a = { .cells = cells, .out = out, .good = true };

	for (uint32_t i = 0; i < cells->n && a.good; i++) {
		if (i < cells->nleaves)
			check_leaf(&a, i);
		else
			check_sums(&a, i);
		check_state(&a, i);
	}
	for (uint32_t i = 0; i < cells->nclaims && a.good; i++)
		check_claim(&a, i);
	for (uint32_t i = 0; i < cells->design->chains.n && a.good; i++)
		check_safety(&a, i);
	return a.good;
}
