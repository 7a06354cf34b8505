/*
 * Random operations on cells: gangs of several priorities come and go in virtual
 * clusters, nodes fail and are repaired.  Also designs that are made up.
 *
 * Whoever is preempted goes whole; whoever stands on a node that fails, too.
 */
#ifndef TESTS_SUPPORT_CELL_OPS_H
#define TESTS_SUPPORT_CELL_OPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "placement/cell_check.h"
#include "placement/cells.h"

/* ---- designs */

/* A chain of trees: splits from the device up, ending with 0; `node` is the level of nodes. */
static inline uint32_t ops_chain(struct cell_design *d, const char *name, const uint32_t *splits,
	uint32_t node, uint32_t tops)
{
	struct cell_chain chain = { .name = arena_strdup(&d->memory, name),
		.type = names_add(&d->types, name, strlen(name)),
		.node_level = node,
		.ntops = tops,
		.first_host = (uint32_t)d->hosts.n };
	uint32_t leaves = 1;

	chain.levels[chain.nlevels++] = (struct cell_level){ "device", 0, 1 };
	for (; *splits; splits++) {
		leaves *= *splits;
		chain.levels[chain.nlevels] = (struct cell_level){
			arena_printf(&d->memory, "level-%u", chain.nlevels), *splits, leaves
		};
		chain.nlevels++;
	}
	vec_push(&d->chains, chain);
	for (uint32_t i = 0; i < cell_count(&chain, node); i++) {
		struct cell_host host = { .name = arena_printf(&d->memory, "%s-n%u", name, i),
			.node = (uint32_t)d->hosts.n };

		vec_push(&d->hosts, host);
	}
	return (uint32_t)d->chains.n - 1;
}

static inline void ops_promise(struct cell_design *d, const char *vc, uint32_t chain,
	uint32_t level, uint32_t count)
{
	struct cell_promise p = { names_add(&d->vcs, vc, strlen(vc)), chain, level, count,
		CELL_NONE, 0 };

	vec_push(&d->promises, p);
}

static inline void ops_pin(struct cell_design *d, const char *vc, uint32_t chain, uint32_t level,
	uint32_t index)
{
	struct cell_pin pin = { "pin", chain, level, index, (uint32_t)d->promises.n };

	vec_push(&d->pins, pin);
	ops_promise(d, vc, chain, level, 1);
	d->promises.at[d->promises.n - 1].pin = (uint32_t)d->pins.n - 1;
}

/* 256 nodes of 2 x 2 x 2 devices and four virtual clusters of 64 nodes: the published measurement. */
static inline void ops_published(struct cell_design *d)
{
	ops_chain(d, "V100-NODE", (uint32_t[]){ 2, 2, 2, 0 }, 3, 256);
	ops_promise(d, "VC0", 0, 3, 64);
	ops_promise(d, "VC1", 0, 3, 64);
	ops_promise(d, "VC2", 0, 3, 64);
	ops_promise(d, "VC3", 0, 3, 64);
}

/* ---- jobs */

struct ops_job {
	uint32_t leaves[64];
	uint32_t n; /* 0: it does not run */
	uint32_t pods[8], npods;
	uint32_t place; /* among those that run */
};

struct ops {
	struct cells *cells;
	struct rng rng;
	VEC(struct ops_job) jobs; /* by number; those that ended are used again */
	VEC(uint32_t) running, ended;
	struct cell_answer answer;
	uint32_t held, down; /* devices; nodes */
	double fill;         /* of devices that it keeps busy */
	double faults;       /* part of operations that are failures or repairs */
	uint32_t most_down;
	uint64_t scheduled, refused, deleted, preempted, failed;
};

static inline void ops_init(struct ops *ops, struct cells *cells, uint64_t seed)
{
	*ops = (struct ops){ .cells = cells, .fill = 0.83, .faults = 0.01 };
	ops->most_down = (uint32_t)cells->design->hosts.n / 10;
	rng_init(&ops->rng, seed, RNG_TEST);
}

static inline void ops_fini(struct ops *ops)
{
	vec_fini(&ops->jobs);
	vec_fini(&ops->running);
	vec_fini(&ops->ended);
	cell_answer_fini(&ops->answer);
}

static inline void ops_stop(struct ops *ops, uint32_t job)
{
	struct ops_job *j = &ops->jobs.at[job];
	uint32_t last = ops->running.at[--ops->running.n];

	cells_give(ops->cells, job, j->leaves, j->n);
	ops->held -= j->n;
	j->n = 0;
	ops->running.at[j->place] = last;
	ops->jobs.at[last].place = j->place;
	vec_push(&ops->ended, job);
}

static inline uint32_t ops_new(struct ops *ops)
{
	if (ops->ended.n)
		return ops->ended.at[--ops->ended.n];
	vec_grow_zero(&ops->jobs, ops->jobs.n + 1);
	return (uint32_t)ops->jobs.n - 1;
}

/* Takes what was chosen, pod by pod, once the victims are gone. */
static inline void ops_take(struct ops *ops, struct cell_user user)
{
	struct ops_job *j = &ops->jobs.at[user.job];
	uint32_t at = 0;

	for (size_t i = 0; i < ops->answer.pods.n; i++) {
		cells_take(ops->cells, user, ops->answer.leaves.at + at, ops->answer.pods.at[i],
			ops->answer.bonds.at, (uint32_t)ops->answer.bonds.n);
		at += ops->answer.pods.at[i];
	}
	memcpy(j->leaves, ops->answer.leaves.at, at * sizeof(uint32_t));
	j->n = at;
	ops->held += at;
	j->place = (uint32_t)ops->running.n;
	vec_push(&ops->running, user.job);
}

/* Runs a gang, or says false. */
static inline bool ops_run(struct ops *ops, struct cell_ask *ask)
{
	uint32_t job = ops_new(ops);

	ask->user.job = job;
	if (!cells_choose(ops->cells, ask, &ops->answer)) {
		vec_push(&ops->ended, job);
		ops->refused++;
		return false;
	}
	for (size_t i = 0; i < ops->answer.victims.n; i++) {
		ops_stop(ops, ops->answer.victims.at[i]);
		ops->preempted++;
	}
	ops_take(ops, ask->user);
	ops->scheduled++;
	return true;
}

static inline bool ops_schedule(struct ops *ops)
{
	const struct cell_design *d = ops->cells->design;
	uint32_t chain = (uint32_t)rng_below(&ops->rng, d->chains.n);
	const struct cell_chain *kind = &d->chains.at[chain];
	uint32_t most = kind->levels[kind->node_level].leaves, pods[4], npods = 1;
	int32_t priority = (int32_t)rng_below(&ops->rng, 3) - 1;
	uint32_t vc = (uint32_t)rng_below(&ops->rng, d->vcs.n);
	uint32_t gpus = UINT32_C(1) << rng_below(&ops->rng, 4);

	if (rng_below(&ops->rng, 16) == 0)
		npods = 2 + (uint32_t)rng_below(&ops->rng, 3);
	for (uint32_t i = 0; i < npods; i++)
		pods[i] = gpus < most ? gpus : most;
	return ops_run(ops,
		&(struct cell_ask){ .user = { priority < 0 ? CELL_NONE : vc, 0, priority },
			.chain = chain,
			.pods = pods,
			.npods = npods,
			.preempts = true });
}

/* ---- nodes */

static inline void ops_turn(struct ops *ops, uint32_t cell, bool bad)
{
	uint32_t first = cells_first_leaf(ops->cells, cell);
	uint32_t n = cells_level(ops->cells, cell)->leaves;

	for (uint32_t i = first; i < first + n; i++) {
		while (bad && ops->cells->leaves[i].users)
			ops_stop(ops, ops->cells->leaves[i].job);
		cells_set_bad(ops->cells, i, bad);
	}
	ops->down += bad ? 1u : UINT32_MAX;
	ops->failed += bad;
}

/* A node fails, or one that has is repaired. */
static inline void ops_fault(struct ops *ops)
{
	const struct cells *cells = ops->cells;
	uint32_t chain = (uint32_t)rng_below(&ops->rng, cells->design->chains.n);
	const struct cells_chain *ch = &cells->chains[chain];
	uint32_t level = ch->kind->node_level;
	uint32_t from = (uint32_t)rng_below(&ops->rng, ch->n[level]);
	bool repair = ops->down >= ops->most_down || rng_below(&ops->rng, 2);

	for (uint32_t i = 0; i < ch->n[level]; i++) {
		uint32_t cell = ch->base[level] + (from + i) % ch->n[level];

		if ((cells->at[cell].bad > 0) == repair) {
			ops_turn(ops, cell, !repair);
			return;
		}
	}
}

/* One operation: mostly a gang comes or goes, so that about `fill` of all is held. */
static inline void ops_step(struct ops *ops)
{
	double busy = (double)ops->held / ops->cells->nleaves;

	if (rng_uniform(&ops->rng) < ops->faults) {
		ops_fault(ops);
	} else if (ops->running.n && rng_uniform(&ops->rng) * 2 * ops->fill < busy) {
		ops_stop(ops, ops->running.at[rng_below(&ops->rng, ops->running.n)]);
		ops->deleted++;
	} else {
		ops_schedule(ops);
	}
}

/* Whether the promises are safe, by the counts that are kept with every step. */
static inline bool ops_safe(const struct cells *cells)
{
	for (uint32_t i = 0; i < cells->design->chains.n; i++) {
		for (uint32_t level = 0; level < cells->chains[i].kind->nlevels; level++) {
			if (cells->chains[i].slack[level] < 0)
				return false;
		}
	}
	return true;
}

#endif
