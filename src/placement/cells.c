/*
 * The trees of a design as numbers, and its claims.
 */
#include "placement/cells.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- numbers */

uint32_t cells_index(const struct cells *cells, uint32_t cell)
{
	const struct cell *c = &cells->at[cell];

	return cell - cells->chains[c->chain].base[c->level];
}

uint32_t cells_above(const struct cells *cells, uint32_t cell, uint32_t level)
{
	while (cells->at[cell].level < level)
		cell = cells->at[cell].parent;
	return cell;
}

uint32_t cells_first_leaf(const struct cells *cells, uint32_t cell)
{
	while (cells->at[cell].child != CELL_NONE)
		cell = cells->at[cell].child;
	return cell;
}

uint32_t cells_root(const struct cells *cells, uint32_t cell)
{
	while (cells->at[cell].state == CELL_INSIDE)
		cell = cells->at[cell].parent;
	return cell;
}

/* ---- trees */

static void add_level(struct cells *cells, uint32_t chain, uint32_t level, uint32_t base)
{
	struct cells_chain *ch = &cells->chains[chain];
	uint32_t split = ch->kind->levels[level].split;

	ch->base[level] = base;
	ch->n[level] = cell_count(ch->kind, level);
	for (uint32_t i = 0; i < ch->n[level]; i++) {
		struct cell *c = &cells->at[base + i];

		*c = (struct cell){ .chain = (uint8_t)chain,
			.level = (uint8_t)level,
			.sound = (int8_t)level,
			.parent = CELL_NONE,
			.child = CELL_NONE,
			.claim = CELL_NONE };
		if (level == 0)
			continue;
		c->child = ch->base[level - 1] + i * split;
		for (uint32_t k = 0; k < split; k++)
			cells->at[c->child + k].parent = base + i;
	}
}

static void add_trees(struct cells *cells)
{
	uint32_t next = 0;

	for (uint32_t level = 0; level < CELL_LEVELS_MAX; level++) {
		for (uint32_t i = 0; i < cells->design->chains.n; i++) {
			if (level >= cells->chains[i].kind->nlevels)
				continue;
			add_level(cells, i, level, next);
			next += cells->chains[i].n[level];
		}
		if (level == 0)
			cells->nleaves = next;
	}
	assert(next == cells->n);
}

static void list_tops(struct cells *cells, uint32_t chain)
{
	struct cells_chain *ch = &cells->chains[chain];
	uint32_t top = ch->kind->nlevels - 1;

	for (uint32_t level = 0; level <= top; level++) {
		for (uint32_t sound = 0; sound <= CELL_LEVELS_MAX; sound++)
			ch->lists[level][sound] = RANK_EMPTY(0);
	}
	for (uint32_t i = 0; i < ch->n[top]; i++)
		cells_free(cells, ch->base[top] + i);
}

/* ---- claims */

static int by_place(const void *a, const void *b)
{
	const struct cell_claim *x = a, *y = b;

	if (x->vc != y->vc)
		return x->vc < y->vc ? -1 : 1;
	if (x->chain != y->chain)
		return x->chain < y->chain ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	/* Pinned ones first, as they are always bound; pins in their order. */
	return x->pin < y->pin ? -1 : x->pin > y->pin;
}

static void add_claims(struct cells *cells)
{
	const struct cell_design *d = cells->design;
	uint32_t n = 0;

	for (size_t i = 0; i < d->promises.n; i++)
		cells->nclaims += d->promises.at[i].count;
	cells->claims = mem_alloc(mem_array_size(cells->nclaims + 1, sizeof(*cells->claims)));
	for (size_t i = 0; i < d->promises.n; i++) {
		const struct cell_promise *p = &d->promises.at[i];

		for (uint32_t k = 0; k < p->count; k++)
			cells->claims[n++] = (struct cell_claim){ .vc = p->vc,
				.chain = p->chain,
				.level = p->level,
				.pin = p->pin,
				.cell = CELL_NONE };
	}
	qsort(cells->claims, n, sizeof(*cells->claims), by_place);
	cells->ranges = mem_alloc(
		mem_array_size((size_t)d->vcs.n * d->chains.n + 1, sizeof(*cells->ranges)));
	for (uint32_t i = 0; i < n; i++) {
		struct cell_range *r =
			&cells->ranges[cells->claims[i].vc * d->chains.n + cells->claims[i].chain];

		if (r->n++ == 0)
			r->from = i;
	}
}

/* Pinned claims get their cells, for good. */
static void bind_pins(struct cells *cells)
{
	for (uint32_t i = 0; i < cells->nclaims; i++) {
		struct cell_claim *claim = &cells->claims[i];

		if (claim->pin == CELL_NONE)
			continue;
		claim->cell = cells->chains[claim->chain].base[claim->level] +
			cells->design->pins.at[claim->pin].index;
		cells_carve(cells, claim->cell);
		cells->at[claim->cell].claim = i;
	}
}

/* What would be left of each level if every claim were bound, after the pins. */
static void count_slack(struct cells *cells, uint32_t chain)
{
	struct cells_chain *ch = &cells->chains[chain];
	int64_t above = 0;

	for (uint32_t level = ch->kind->nlevels; level-- > 0;) {
		if (level + 1 < ch->kind->nlevels)
			above *= ch->kind->levels[level + 1].split;
		above += ch->listed[level];
		for (uint32_t i = 0; i < cells->nclaims; i++)
			above -= cells->claims[i].chain == chain &&
				cells->claims[i].level == level && cells->claims[i].pin == CELL_NONE;
		ch->slack[level] = (int32_t)above;
		assert(above >= 0); /* the promises can be kept: somebody has checked */
	}
}

struct cells *cells_create(const struct cell_design *design)
{
	struct cells *cells = mem_alloc(sizeof(*cells));

	cells->design = design;
	cells->chains = mem_alloc(mem_array_size(design->chains.n + 1, sizeof(*cells->chains)));
	for (uint32_t i = 0; i < design->chains.n; i++) {
		cells->chains[i].kind = &design->chains.at[i];
		for (uint32_t level = 0; level < design->chains.at[i].nlevels; level++)
			cells->n += cell_count(&design->chains.at[i], level);
	}
	cells->at = mem_alloc(mem_array_size(cells->n + 1, sizeof(*cells->at)));
	add_trees(cells);
	cells->leaves = mem_alloc(mem_array_size(cells->nleaves + 1, sizeof(*cells->leaves)));
	for (uint32_t i = 0; i < cells->nleaves; i++)
		cells->leaves[i].job = cells->leaves[i].claim = CELL_NONE;
	for (uint32_t i = 0; i < design->chains.n; i++)
		list_tops(cells, i);
	add_claims(cells);
	bind_pins(cells);
	for (uint32_t i = 0; i < design->chains.n; i++)
		count_slack(cells, i);
	return cells;
}

void cells_destroy(struct cells *cells)
{
	if (!cells)
		return;
	free(cells->chains);
	free(cells->at);
	free(cells->leaves);
	free(cells->claims);
	free(cells->ranges);
	rank_pool_fini(&cells->pool);
	vec_fini(&cells->tried);
	free(cells);
}
