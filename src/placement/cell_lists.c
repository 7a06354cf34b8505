/*
 * Buddy lists: free cells by chain and level.
 *
 * What is broken is handed out last.  A cell of level k is taken, in this order: sound, from
 * the list of k; out of a larger cell that has something broken elsewhere, so that whole ones stay
 * whole; out of a larger sound one; and with something broken in it.
 */
#include <assert.h>

#include "placement/cell_parts.h"

static struct rank *list_of(struct cells *cells, uint32_t cell)
{
	const struct cell *c = &cells->at[cell];

	return &cells->chains[c->chain].lists[c->level][c->sound + 1];
}

static void enlist(struct cells *cells, uint32_t cell)
{
	struct cell *c = &cells->at[cell];

	c->state = CELL_LISTED;
	rank_insert(&cells->pool, list_of(cells, cell), cell, c->lent, 0);
	cells->chains[c->chain].listed[c->level]++;
	if (c->parent != CELL_NONE)
		cells->at[c->parent].listed++;
}

static void delist(struct cells *cells, uint32_t cell)
{
	struct cell *c = &cells->at[cell];

	rank_remove(&cells->pool, list_of(cells, cell), cell);
	cells->chains[c->chain].listed[c->level]--;
	if (c->parent != CELL_NONE)
		cells->at[c->parent].listed--;
}

/* ---- which */

static uint32_t first_of(const struct cells *cells, const struct cells_chain *chain, uint32_t level,
	int sound)
{
	const struct rank *list = &chain->lists[level][sound + 1];

	return list->n ? rank_first(&cells->pool, list) : CELL_NONE;
}

/* The best listed cell of level `at` to have a sound one of `level` from. */
static uint32_t best_sound(const struct cells *cells, const struct cells_chain *chain, uint32_t at,
	uint32_t level)
{
	uint32_t found = CELL_NONE;

	for (uint32_t sound = level; sound <= at && found == CELL_NONE; sound++)
		found = first_of(cells, chain, at, (int)sound);
	return found;
}

static uint32_t pick(const struct cells *cells, const struct cells_chain *chain, uint32_t level,
	uint32_t up_to)
{
	uint32_t lowest = level, found = CELL_NONE;

	while (lowest < chain->kind->nlevels && !chain->listed[lowest])
		lowest++;
	if (lowest == chain->kind->nlevels)
		return CELL_NONE;
	for (uint32_t at = lowest; found == CELL_NONE && at < chain->kind->nlevels; at++) {
		if (at == lowest || (at <= up_to && chain->listed[at]))
			found = best_sound(cells, chain, at, level);
	}
	for (int sound = (int)level - 1; found == CELL_NONE; sound--)
		found = first_of(cells, chain, lowest, sound);
	return found;
}

/* Smaller is better: 0 has a sound cell of `level` and something broken, then all sound, then the least broken. */
static uint32_t merit(const struct cell *c, uint32_t level)
{
	if (c->sound >= (int)level)
		return (uint32_t)c->sound - level;
	return CELL_LEVELS_MAX + c->bad;
}

static uint32_t best_child(const struct cells *cells, uint32_t cell, uint32_t split, uint32_t level)
{
	uint32_t best = cells->at[cell].child;

	for (uint32_t i = best + 1; i < cells->at[cell].child + split; i++) {
		uint32_t a = merit(&cells->at[i], level), b = merit(&cells->at[best], level);

		if (a < b || (a == b && cells->at[i].lent < cells->at[best].lent))
			best = i;
	}
	return best;
}

/* ---- taking and putting back */

/* Splits a cell and lists its children but one. */
static void split(struct cells *cells, uint32_t cell, uint32_t but)
{
	uint32_t n = cells_level(cells, cell)->split, first = cells->at[cell].child;

	cells->at[cell].state = CELL_SPLIT;
	cells->at[cell].listed = 0;
	for (uint32_t i = first; i < first + n; i++) {
		if (i != but)
			enlist(cells, i);
	}
}

uint32_t cells_alloc(struct cells *cells, uint32_t chain, uint32_t level, uint32_t up_to, uint32_t *from)
{
	uint32_t cell = pick(cells, &cells->chains[chain], level, up_to);

	if (cell == CELL_NONE)
		return cell;
	*from = cells->at[cell].level;
	delist(cells, cell);
	while (cells->at[cell].level > level) {
		uint32_t child = best_child(cells, cell, cells_level(cells, cell)->split, level);

		split(cells, cell, child);
		cell = child;
	}
	cells->at[cell].state = CELL_BOUND;
	return cell;
}

uint32_t cells_carve(struct cells *cells, uint32_t cell)
{
	uint32_t at = cells_root(cells, cell);
	uint32_t from = cells->at[at].level;

	assert(cells->at[at].state == CELL_LISTED);
	delist(cells, at);
	while (at != cell) {
		uint32_t child = cells_above(cells, cell, cells->at[at].level - 1u);

		split(cells, at, child);
		at = child;
	}
	cells->at[cell].state = CELL_BOUND;
	return from;
}

/* Its buddies are all listed: they are one again. */
static uint32_t merge(struct cells *cells, uint32_t parent)
{
	uint32_t n = cells_level(cells, parent)->split, first = cells->at[parent].child;

	for (uint32_t i = first; i < first + n; i++) {
		delist(cells, i);
		cells->at[i].state = CELL_INSIDE;
	}
	return parent;
}

uint32_t cells_free(struct cells *cells, uint32_t cell)
{
	enlist(cells, cell);
	for (uint32_t up = cells->at[cell].parent;
		up != CELL_NONE && cells->at[up].listed == cells_level(cells, up)->split;
		up = cells->at[up].parent) {
		cell = merge(cells, up);
		enlist(cells, cell);
	}
	return cells->at[cell].level;
}

/* ---- devices that break or are lent while their cell is listed */

/* The highest sound level of a cell, from its children. */
static int8_t sound_of(const struct cells *cells, uint32_t cell)
{
	const struct cell *c = &cells->at[cell];
	int8_t best = -1;

	if (c->bad == 0)
		return (int8_t)c->level;
	if (c->child == CELL_NONE)
		return -1;
	for (uint32_t i = c->child; i < c->child + cells_level(cells, cell)->split; i++) {
		if (cells->at[i].sound > best)
			best = cells->at[i].sound;
	}
	return best;
}

void cells_recount(struct cells *cells, uint32_t leaf, const struct cell_change *change)
{
	uint32_t root = cells_root(cells, leaf);
	bool refile = (change->lent || change->bad) && cells->at[root].state == CELL_LISTED;

	if (refile)
		delist(cells, root);
	for (uint32_t c = leaf; c != CELL_NONE; c = cells->at[c].parent) {
		cells->at[c].used += (uint32_t)change->used;
		cells->at[c].shut += (uint32_t)change->shut;
		cells->at[c].taken += (uint32_t)change->taken;
		cells->at[c].lent += (uint32_t)change->lent;
		cells->at[c].bad += (uint32_t)change->bad;
		if (change->bad)
			cells->at[c].sound = sound_of(cells, c);
	}
	if (refile)
		enlist(cells, root);
}
