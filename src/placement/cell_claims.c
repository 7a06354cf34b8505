/*
 * Claims: binding them to cells, and devices in hands.
 *
 * Binding a claim of level k out of a listed cell of level f breaks one cell at each level above k up
 * to f, and no promise below: slack falls by one on exactly these levels.  While the lists from k to f - 1
 * are empty, slack above 0 on all of them follows from the claim being one of those counted: that
 * is the theorem, and the assertion below.
 */
#include <assert.h>

#include "placement/cell_parts.h"

/* ---- binding */

static void pay(struct cells *cells, uint32_t chain, uint32_t level, uint32_t from)
{
	for (uint32_t j = level + 1; j <= from; j++) {
		cells->chains[chain].slack[j]--;
		assert(cells->chains[chain].slack[j] >= 0);
	}
}

/* The highest level whose cells may be split for one of `level` without anybody's promise suffering. */
static uint32_t spare_up_to(const struct cells *cells, uint32_t chain, uint32_t level)
{
	const struct cells_chain *ch = &cells->chains[chain];

	while (level + 1 < ch->kind->nlevels && ch->slack[level + 1] > 0)
		level++;
	return level;
}

uint32_t cells_bind(struct cells *cells, uint32_t claim)
{
	struct cell_claim *c = &cells->claims[claim];
	uint32_t from = 0;

	assert(c->cell == CELL_NONE);
	c->cell = cells_alloc(cells, c->chain, c->level, spare_up_to(cells, c->chain, c->level), &from);
	assert(c->cell != CELL_NONE);
	cells->at[c->cell].claim = claim;
	pay(cells, c->chain, c->level, from);
	return c->cell;
}

bool cells_bind_to(struct cells *cells, uint32_t claim, uint32_t cell)
{
	struct cell_claim *c = &cells->claims[claim];
	const struct cell *root = &cells->at[cells_root(cells, cell)];

	if (root->state != CELL_LISTED || cells->at[cell].state == CELL_SPLIT ||
		root->level > spare_up_to(cells, c->chain, c->level))
		return false;
	assert(c->cell == CELL_NONE && cells->at[cell].level == c->level);
	c->cell = cell;
	pay(cells, c->chain, c->level, cells_carve(cells, cell));
	cells->at[cell].claim = claim;
	return true;
}

void cells_unbind(struct cells *cells, uint32_t claim)
{
	struct cell_claim *c = &cells->claims[claim];
	uint32_t to;

	assert(c->cell != CELL_NONE && c->used == 0 && c->pin == CELL_NONE);
	cells->at[c->cell].claim = CELL_NONE;
	to = cells_free(cells, c->cell);
	c->cell = CELL_NONE;
	for (uint32_t j = c->level + 1; j <= to; j++)
		cells->chains[c->chain].slack[j]++;
}

/* ---- devices */

/* Counts anew what one device is to the cells above it, after `edit` has been done to it. */
struct leaf_was {
	bool used, lent, bad;
};

static struct leaf_was seen(const struct cell_leaf *leaf)
{
	return (struct leaf_was){ leaf_used(leaf), leaf_lent(leaf), leaf->bad };
}

static void changed(struct cells *cells, uint32_t leaf, struct leaf_was was)
{
	struct leaf_was is = seen(&cells->leaves[leaf]);
	struct cell_change change = {
		.used = is.used - was.used,
		.shut = (is.used || is.bad) - (was.used || was.bad),
		.taken = (is.used || is.bad || is.lent) - (was.used || was.bad || was.lent),
		.lent = is.lent - was.lent,
		.bad = is.bad - was.bad,
	};

	if (change.used || change.shut || change.taken || change.lent || change.bad)
		cells_recount(cells, leaf, &change);
}

void cells_set_bad(struct cells *cells, uint32_t leaf, bool bad)
{
	struct leaf_was was = seen(&cells->leaves[leaf]);

	cells->leaves[leaf].bad = bad;
	changed(cells, leaf, was);
}

void cells_mark(struct cells *cells, uint32_t leaf, bool marked)
{
	struct leaf_was was = seen(&cells->leaves[leaf]);

	cells->leaves[leaf].marked = marked;
	changed(cells, leaf, was);
}

/* One more user; through `claim` if that is not CELL_NONE, also if it was only lent before. */
static void hold(struct cells *cells, struct cell_user user, uint32_t leaf, uint32_t claim)
{
	struct cell_leaf *l = &cells->leaves[leaf];
	struct leaf_was was = seen(l);

	if (l->users++ == 0 || (l->claim == CELL_NONE && claim != CELL_NONE)) {
		l->job = user.job;
		l->priority = user.priority;
		l->claim = claim;
		if (claim != CELL_NONE)
			cells->claims[claim].used++;
	}
	changed(cells, leaf, was);
}

static void drop(struct cells *cells, uint32_t leaf)
{
	struct cell_leaf *l = &cells->leaves[leaf];
	struct leaf_was was = seen(l);
	uint32_t claim = l->claim;

	assert(l->users > 0);
	if (--l->users > 0)
		return;
	l->job = l->claim = CELL_NONE;
	changed(cells, leaf, was);
	if (claim != CELL_NONE && --cells->claims[claim].used == 0 &&
		cells->claims[claim].pin == CELL_NONE)
		cells_unbind(cells, claim);
}

/* ---- which claim devices are had through */

static bool inside(const struct cells *cells, uint32_t leaf, uint32_t cell)
{
	return cells_above(cells, leaf, cells->at[cell].level) == cell;
}

static uint32_t by_bond(struct cells *cells, uint32_t leaf, const struct cell_bond *bonds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (inside(cells, leaf, bonds[i].cell) &&
			cells->claims[bonds[i].claim].cell == CELL_NONE &&
			cells_bind_to(cells, bonds[i].claim, bonds[i].cell))
			return bonds[i].claim;
	}
	return CELL_NONE;
}

/* The level of the smallest cell that holds all of the devices. */
static uint32_t level_of(const struct cells *cells, const uint32_t *leaves, uint32_t n)
{
	uint32_t cell = leaves[0];

	for (uint32_t i = 1; i < n; i++) {
		while (!inside(cells, leaves[i], cell))
			cell = cells->at[cell].parent;
	}
	return cells->at[cell].level;
}

/*
 * An idle claim of the virtual cluster for a device that nobody has bound: the smallest that holds all
 * of the user's devices there, else the largest that does not.
 */
static uint32_t by_size(struct cells *cells, uint32_t vc, uint32_t leaf, uint32_t level)
{
	const struct cell_range *range =
		&cells->ranges[vc * cells->design->chains.n + cells->at[leaf].chain];
	uint32_t below = CELL_NONE;

	for (uint32_t i = range->from; i < range->from + range->n; i++) {
		const struct cell_claim *c = &cells->claims[i];

		if (c->cell != CELL_NONE)
			continue;
		if (c->level < level)
			below = i;
		else if (cells_bind_to(cells, i, cells_above(cells, leaf, c->level)))
			return i;
	}
	if (below != CELL_NONE &&
		cells_bind_to(cells, below, cells_above(cells, leaf, cells->claims[below].level)))
		return below;
	return CELL_NONE;
}

/* Through which claim the user may have a device now; binds one if need be.  CELL_NONE: through none. */
static uint32_t claim_for(struct cells *cells, uint32_t vc, uint32_t leaf, uint32_t level,
	const struct cell_bond *bonds, uint32_t nbonds)
{
	const struct cell *root = &cells->at[cells_root(cells, leaf)];
	uint32_t claim;

	if (vc == CELL_NONE)
		return CELL_NONE;
	if (root->state == CELL_BOUND)
		return cells->claims[root->claim].vc == vc ? root->claim : CELL_NONE;
	claim = by_bond(cells, leaf, bonds, nbonds);
	return claim != CELL_NONE ? claim : by_size(cells, vc, leaf, level);
}

void cells_take(struct cells *cells, struct cell_user user, const uint32_t *leaves, uint32_t n,
	const struct cell_bond *bonds, uint32_t nbonds)
{
	uint32_t level = user.vc == CELL_NONE || !n ? 0 : level_of(cells, leaves, n);

	for (uint32_t i = 0; i < n; i++)
		hold(cells, user, leaves[i],
			claim_for(cells, user.vc, leaves[i], level, bonds, nbonds));
}

/* Notes a claim that was bound for trial; how many devices it has, 0 if it is in use or noted. */
static uint32_t note_trial(struct cells *cells, uint32_t claim)
{
	const struct cell_claim *c = &cells->claims[claim];

	if (c->used || c->pin != CELL_NONE)
		return 0;
	for (size_t i = 0; i < cells->tried.n; i++) {
		if (cells->tried.at[i] == claim)
			return 0;
	}
	vec_push(&cells->tried, claim);
	return cells->chains[c->chain].kind->levels[c->level].leaves;
}

static bool is_open(const struct cell_leaf *leaf)
{
	return !leaf->bad && (!leaf->users || leaf->claim == CELL_NONE);
}

bool cells_cover(struct cells *cells, uint32_t vc, const uint32_t *leaves, const uint32_t *pods,
	uint32_t npods, uint32_t *fresh)
{
	bool covered = vc != CELL_NONE;

	cells->tried.n = 0;
	*fresh = 0;
	for (uint32_t i = 0; i < npods && covered; leaves += pods[i++]) {
		uint32_t level = level_of(cells, leaves, pods[i]);

		for (uint32_t k = 0; k < pods[i] && covered; k++) {
			uint32_t claim = is_open(&cells->leaves[leaves[k]])
				? claim_for(cells, vc, leaves[k], level, NULL, 0)
				: CELL_NONE;

			covered = claim != CELL_NONE;
			*fresh += covered ? note_trial(cells, claim) : 0;
		}
	}
	for (size_t i = cells->tried.n; i-- > 0;)
		cells_unbind(cells, cells->tried.at[i]);
	return covered;
}

void cells_raise(struct cells *cells, struct cell_user user, const uint32_t *leaves, uint32_t n)
{
	uint32_t level = user.vc == CELL_NONE || !n ? 0 : level_of(cells, leaves, n);

	for (uint32_t i = 0; i < n && user.vc != CELL_NONE; i++) {
		struct cell_leaf *l = &cells->leaves[leaves[i]];
		struct leaf_was was = seen(l);

		if (l->job != user.job || l->claim != CELL_NONE)
			continue;
		l->claim = claim_for(cells, user.vc, leaves[i], level, NULL, 0);
		if (l->claim != CELL_NONE)
			cells->claims[l->claim].used++;
		changed(cells, leaves[i], was);
	}
}

void cells_give(struct cells *cells, uint32_t job, const uint32_t *leaves, uint32_t n)
{
	(void)job;
	for (uint32_t i = 0; i < n; i++)
		drop(cells, leaves[i]);
}

void cells_lower(struct cells *cells, uint32_t job, uint32_t chain)
{
	const struct cells_chain *ch = &cells->chains[chain];

	for (uint32_t leaf = ch->base[0]; leaf < ch->base[0] + ch->n[0]; leaf++) {
		struct cell_leaf *l = &cells->leaves[leaf];
		struct leaf_was was = seen(l);
		uint32_t claim = l->claim;

		if (l->job != job || claim == CELL_NONE)
			continue;
		l->claim = CELL_NONE;
		changed(cells, leaf, was);
		if (--cells->claims[claim].used == 0 && cells->claims[claim].pin == CELL_NONE)
			cells_unbind(cells, claim);
	}
}

/* ---- what is left */

uint32_t cells_left(const struct cells *cells, uint32_t vc, uint32_t chain)
{
	const struct cell_range *range = &cells->ranges[vc * cells->design->chains.n + chain];
	uint32_t left = 0;

	for (uint32_t i = range->from; i < range->from + range->n; i++)
		left += cells->chains[chain].kind->levels[cells->claims[i].level].leaves -
			cells->claims[i].used;
	return left;
}

/* Sound cells of a level in a cell that is listed. */
static uint32_t sound_in(const struct cells *cells, uint32_t cell, uint32_t level)
{
	const struct cell *c = &cells->at[cell];
	const struct cell_chain *kind = cells->chains[c->chain].kind;
	uint32_t n = 0;

	if (c->sound < (int)level)
		return 0;
	if (c->bad == 0)
		return kind->levels[c->level].leaves / kind->levels[level].leaves;
	for (uint32_t i = c->child; i < c->child + kind->levels[c->level].split; i++)
		n += sound_in(cells, i, level);
	return n;
}

uint32_t cells_doomed(const struct cells *cells, uint32_t vc, uint32_t chain, uint32_t level)
{
	const struct cells_chain *ch = &cells->chains[chain];
	const struct cell_range *range = &cells->ranges[vc * cells->design->chains.n + chain];
	uint32_t idle = 0, sound = 0;

	for (uint32_t i = range->from; i < range->from + range->n; i++)
		idle += cells->claims[i].level == level && cells->claims[i].cell == CELL_NONE;
	for (uint32_t l = level; l < ch->kind->nlevels && sound < idle; l++) {
		for (uint32_t i = 0; i < ch->n[l] && sound < idle; i++) {
			if (cells->at[ch->base[l] + i].state == CELL_LISTED)
				sound += sound_in(cells, ch->base[l] + i, level);
		}
	}
	return idle > sound ? idle - sound : 0;
}
