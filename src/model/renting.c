/*
 * Packing tasks into nodes, by number.
 */
#include "model/renting.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static bool fits(const struct amount *free, const struct amount *all, const struct amount *task)
{
	for (int i = 0; i < RESOURCE_KINDS; i++) {
		if (all->of[i] > 0 && task->of[i] > free->of[i] + 1e-9)
			return false;
	}
	return !(task->of[RESOURCE_DEVICES] > 0) || all->of[RESOURCE_DEVICES] > 0;
}

double renting_leftover(const struct amount *free, const struct amount *all, const struct amount *task)
{
	double left = 0;

	if (!fits(free, all, task))
		return INFINITY;
	for (int i = 0; i < RESOURCE_KINDS; i++)
		left += all->of[i] > 0 ? (free->of[i] - task->of[i]) / all->of[i] : 0;
	return left;
}

double renting_dominant(const struct amount *all, const struct amount *task)
{
	double most = 0;

	for (int i = 0; i < RESOURCE_KINDS; i++)
		most = all->of[i] > 0 ? fmax(most, task->of[i] / all->of[i]) : most;
	return most;
}

static void take(struct amount *free, const struct amount *task)
{
	for (int i = 0; i < RESOURCE_KINDS; i++)
		free->of[i] -= task->of[i];
}

uint32_t renting_first_fit(struct amount *free, const struct amount *all, uint32_t nodes,
	const struct amount *tasks, uint32_t ntasks, bool *found)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < ntasks; t++) {
		uint32_t node = 0;

		while (node < nodes && !fits(&free[node], &all[node], &tasks[t]))
			node++;
		found[t] = node < nodes;
		if (!found[t])
			continue;
		take(&free[node], &tasks[t]);
		n++;
	}
	return n;
}

/* ---- one flavour */

struct bins {
	const struct flavour *flavour;
	struct amount *free;
	uint32_t n; /* opened */
};

static bool pack_whole(struct bins *b, const struct amount *task)
{
	uint32_t i = 0;

	while (i < b->n && !fits(&b->free[i], &b->flavour->all, task))
		i++;
	if (i == b->n) {
		if (b->n == b->flavour->count || !fits(&b->flavour->all, &b->flavour->all, task))
			return false;
		b->free[b->n++] = b->flavour->all;
	}
	take(&b->free[i], task);
	return true;
}

/* A gang over several nodes: whole nodes of its own, as many as its devices need. */
static bool pack_cut(struct bins *b, const struct amount *task)
{
	double devices = b->flavour->all.of[RESOURCE_DEVICES];
	double pieces = devices > 0 ? ceil(task->of[RESOURCE_DEVICES] / devices) : 0;
	struct amount piece = *task;

	if (pieces < 2 || pieces > b->flavour->count - b->n)
		return false;
	piece.of[RESOURCE_DEVICES] = devices;
	piece.of[RESOURCE_CPU] = task->of[RESOURCE_CPU] * devices / task->of[RESOURCE_DEVICES];
	piece.of[RESOURCE_MEM] = task->of[RESOURCE_MEM] * devices / task->of[RESOURCE_DEVICES];
	if (!fits(&b->flavour->all, &b->flavour->all, &piece))
		return false;
	for (; pieces > 0; pieces--) {
		b->free[b->n] = b->flavour->all;
		take(&b->free[b->n++], &piece);
	}
	return true;
}

struct renting_choice renting_try(const struct flavour *flavour, const struct amount *unit,
	const struct amount *tasks, uint32_t ntasks, bool cut)
{
	struct bins b = { .flavour = flavour,
		.free = mem_alloc(sizeof(*b.free) * (flavour->count + 1)) };
	struct renting_choice c = { 0 };

	for (uint32_t t = 0; t < ntasks; t++) {
		if (pack_whole(&b, &tasks[t]) || (cut && pack_cut(&b, &tasks[t])))
			c.packed += renting_dominant(unit, &tasks[t]);
	}
	c.nodes = b.n;
	c.cost = b.n * flavour->price;
	free(b.free);
	return c;
}

void renting_most(struct amount *most, const struct amount *other)
{
	for (int i = 0; i < RESOURCE_KINDS; i++)
		most->of[i] = fmax(most->of[i], other->of[i]);
}

bool renting_cheaper(const struct renting_choice *a, const struct renting_choice *b)
{
	double x = a->cost * b->packed, y = b->cost * a->packed;

	if (!a->nodes || !(a->packed > 0))
		return false;
	if (!b->nodes)
		return true;
	if (fabs(x - y) > 1e-9 * fmax(x, y))
		return x < y;
	return a->nodes < b->nodes;
}

struct renting_choice renting_choose(const struct flavour *flavours, uint32_t nflavours,
	const struct amount *tasks, uint32_t ntasks, bool cut)
{
	struct renting_choice best = { 0 };
	struct amount unit = { 0 };

	for (uint32_t f = 0; f < nflavours; f++)
		renting_most(&unit, &flavours[f].all);
	for (uint32_t f = 0; f < nflavours; f++) {
		struct renting_choice c = renting_try(&flavours[f], &unit, tasks, ntasks, cut);

		c.flavour = f;
		if (renting_cheaper(&c, &best))
			best = c;
	}
	return best;
}
