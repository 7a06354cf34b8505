/*
 * Which devices of a virtual cluster's cells, or of all cells for whoever has them on loan only.
 *
 * A pod goes to the node that its virtual cluster uses most of and that takes it, and there to
 * the smallest cell with room.  A gang that spans nodes goes to one cell, where one of its claims
 * takes it whole.  On loan, pods go where most is on loan already and least belongs to others.
 *
 * Claims are bound for trial as they are needed, pods after the first see what the earlier ones
 * marked, and all of it is undone in the end.
 */
#include <assert.h>

#include "placement/cell_parts.h"

void cell_answer_fini(struct cell_answer *answer)
{
	vec_fini(&answer->leaves);
	vec_fini(&answer->pods);
	vec_fini(&answer->bonds);
	vec_fini(&answer->victims);
}

struct choice {
	struct cells *cells;
	const struct cell_ask *ask;
	const struct cells_chain *chain;
	struct cell_answer *out;
	bool loose;    /* on loan: no claims */
	bool preempts; /* in this try */
	uint32_t only; /* claim that all pods shall lie in; CELL_NONE: any */
};

/* ---- room */

static bool open_to(const struct choice *ch, uint32_t leaf)
{
	const struct cell_leaf *l = &ch->cells->leaves[leaf];

	return !l->bad && !l->marked &&
		(!l->users || l->claim == CELL_NONE || l->priority < ch->ask->user.priority);
}

/* Devices of a cell that could be had. */
static uint32_t room(const struct choice *ch, uint32_t cell)
{
	const struct cell *c = &ch->cells->at[cell];
	uint32_t leaves = cells_level(ch->cells, cell)->leaves, first, n = 0;

	if (ch->loose)
		return leaves - c->taken;
	if (!ch->preempts)
		return leaves - c->shut;
	first = cells_first_leaf(ch->cells, cell);
	for (uint32_t i = first; i < first + leaves; i++)
		n += open_to(ch, i);
	return n;
}

/* ---- inside a node */

/* The child that takes `n` with least to spare, not one of `done`; CELL_NONE: none takes them. */
static uint32_t tightest(const struct choice *ch, uint32_t cell, uint32_t n, uint64_t done)
{
	const struct cell *c = &ch->cells->at[cell];
	uint32_t split = cells_level(ch->cells, cell)->split, best = CELL_NONE, best_room = 0;

	for (uint32_t i = 0; i < split; i++) {
		uint32_t at = c->child + i, r = done >> i & 1 ? 0 : room(ch, at);

		if (r < n)
			continue;
		if (best == CELL_NONE || r < best_room ||
			(r == best_room && ch->cells->at[at].lent < ch->cells->at[best].lent)) {
			best = at;
			best_room = r;
		}
	}
	return best;
}

/* The child with most room, not one of `done`. */
static uint32_t roomiest(const struct choice *ch, uint32_t cell, uint64_t done)
{
	const struct cell *c = &ch->cells->at[cell];
	uint32_t split = cells_level(ch->cells, cell)->split, best = CELL_NONE, best_room = 0;

	for (uint32_t i = 0; i < split; i++) {
		uint32_t at = c->child + i, r = done >> i & 1 ? 0 : room(ch, at);

		if (r > best_room ||
			(r && r == best_room && ch->cells->at[at].lent < ch->cells->at[best].lent)) {
			best = at;
			best_room = r;
		}
	}
	return best;
}

/* `n` devices of a cell that has room for them, as low in the tree as can be. */
static void descend(const struct choice *ch, uint32_t cell, uint32_t n)
{
	const struct cell *c = &ch->cells->at[cell];
	uint64_t done = 0;

	if (c->child == CELL_NONE) {
		vec_push(&ch->out->leaves, cell);
		return;
	}
	while (n > 0) {
		uint32_t child = tightest(ch, cell, n, done), take = n;

		if (child == CELL_NONE) {
			child = roomiest(ch, cell, done);
			take = room(ch, child);
		}
		descend(ch, child, take);
		done |= UINT64_C(1) << (child - c->child);
		n -= take;
	}
}

/* ---- nodes */

/* A node, or what of it is a claim's. */
struct spot {
	uint32_t cell;
	uint32_t used, room, lent;
};

static bool feeds(const struct choice *ch, uint32_t cell, uint32_t n)
{
	const struct cell_ask *ask = ch->ask;
	uint32_t node = cells_above(ch->cells, cell, ch->chain->kind->node_level);

	return !ask->feeds ||
		ask->feeds(ask->ctx, ask->chain,
			ch->chain->kind->first_host + cells_index(ch->cells, node), n);
}

/* Most used first, then least room; on loan: most lent, then least used. */
static bool better(const struct choice *ch, const struct spot *a, const struct spot *b)
{
	if (ch->loose) {
		if (a->lent != b->lent)
			return a->lent > b->lent;
		return a->used < b->used;
	}
	if (a->used != b->used)
		return a->used > b->used;
	return a->room < b->room;
}

/* Whether an earlier pod lies on the cell's node, though each shall have one of its own. */
static bool crowded(const struct choice *ch, uint32_t cell)
{
	uint32_t level = ch->chain->kind->node_level, node = cells_above(ch->cells, cell, level);

	for (size_t i = 0; ch->ask->apart && i < ch->out->leaves.n; i++) {
		if (cells_above(ch->cells, ch->out->leaves.at[i], level) == node)
			return true;
	}
	return false;
}

static void consider(const struct choice *ch, uint32_t cell, uint32_t n, struct spot *best)
{
	const struct cell *c = &ch->cells->at[cell];
	struct spot spot = { cell, c->used, room(ch, cell), c->lent };

	if (spot.room >= n && (best->cell == CELL_NONE || better(ch, &spot, best)) &&
		!crowded(ch, cell) && feeds(ch, cell, n))
		*best = spot;
}

/* The nodes of a cell, or the cell itself if it is less than one. */
static void consider_nodes(const struct choice *ch, uint32_t cell, uint32_t n, struct spot *best)
{
	const struct cell_chain *kind = ch->chain->kind;
	uint32_t level = ch->cells->at[cell].level, nodes, first;

	if (level <= kind->node_level) {
		consider(ch, cell, n, best);
		return;
	}
	nodes = kind->levels[level].leaves / kind->levels[kind->node_level].leaves;
	first = ch->chain->base[kind->node_level] + cells_index(ch->cells, cell) * nodes;
	for (uint32_t i = first; i < first + nodes; i++)
		consider(ch, i, n, best);
}

static bool eligible(const struct choice *ch, uint32_t claim)
{
	uint32_t pin = ch->cells->claims[claim].pin;

	if (ch->only != CELL_NONE)
		return claim == ch->only;
	if (ch->ask->pins == PINS_ALSO)
		return true;
	return pin == (ch->ask->pins == PINS_ONE ? ch->ask->pin : CELL_NONE);
}

static struct cell_range claims_of(const struct choice *ch)
{
	return ch->cells->ranges[ch->ask->user.vc * ch->cells->design->chains.n + ch->ask->chain];
}

/* Whether a node's part of the claim could ever take so many devices. */
static bool holds(const struct choice *ch, uint32_t claim, uint32_t n)
{
	const struct cell_chain *kind = ch->chain->kind;
	uint32_t level = ch->cells->claims[claim].level;

	return kind->levels[level < kind->node_level ? level : kind->node_level].leaves >= n;
}

static void bind(const struct choice *ch, uint32_t claim)
{
	struct cell_bond bond = { claim, cells_bind(ch->cells, claim) };

	vec_push(&ch->out->bonds, bond);
}

static uint32_t best_bound(const struct choice *ch, uint32_t n)
{
	struct cell_range range = claims_of(ch);
	struct spot best = { .cell = CELL_NONE };

	for (uint32_t i = range.from; i < range.from + range.n; i++) {
		if (ch->cells->claims[i].cell != CELL_NONE && holds(ch, i, n) && eligible(ch, i))
			consider_nodes(ch, ch->cells->claims[i].cell, n, &best);
	}
	return best.cell;
}

/* Binds idle claims, the smallest first, until one has room: what broke may be in the way. */
static uint32_t best_idle(const struct choice *ch, uint32_t n)
{
	struct cell_range range = claims_of(ch);
	struct spot best = { .cell = CELL_NONE };

	for (uint32_t i = range.from; i < range.from + range.n && best.cell == CELL_NONE; i++) {
		if (ch->cells->claims[i].cell != CELL_NONE || !holds(ch, i, n) || !eligible(ch, i))
			continue;
		bind(ch, i);
		consider_nodes(ch, ch->cells->claims[i].cell, n, &best);
	}
	return best.cell;
}

static uint32_t best_loose(const struct choice *ch, uint32_t n)
{
	const struct cells_chain *chain = ch->chain;
	uint32_t level = chain->kind->node_level;
	struct spot best = { .cell = CELL_NONE };

	for (uint32_t i = chain->base[level]; i < chain->base[level] + chain->n[level]; i++)
		consider(ch, i, n, &best);
	return best.cell;
}

static uint32_t best_for(const struct choice *ch, uint32_t n)
{
	uint32_t cell;

	if (ch->loose)
		return best_loose(ch, n);
	cell = best_bound(ch, n);
	return cell != CELL_NONE ? cell : best_idle(ch, n);
}

/* ---- gangs */

/* Takes back marks and bonds from the last to the first, down to so many. */
static void undo(const struct choice *ch, size_t bonds)
{
	struct cell_answer *out = ch->out;

	if (ch->ask->npods > 1) {
		for (size_t i = 0; i < out->leaves.n; i++) {
			if (ch->cells->leaves[out->leaves.at[i]].marked)
				cells_mark(ch->cells, out->leaves.at[i], false);
		}
	}
	for (size_t i = out->bonds.n; i-- > bonds;)
		cells_unbind(ch->cells, out->bonds.at[i].claim);
}

static bool place_pods(const struct choice *ch)
{
	const struct cell_ask *ask = ch->ask;

	for (uint32_t i = 0; i < ask->npods; i++) {
		size_t from = ch->out->leaves.n;
		uint32_t cell = best_for(ch, ask->pods[i]);

		if (cell == CELL_NONE)
			return false;
		descend(ch, cell, ask->pods[i]);
		vec_push(&ch->out->pods, ask->pods[i]);
		for (size_t k = from; ask->npods > 1 && k < ch->out->leaves.n; k++)
			cells_mark(ch->cells, ch->out->leaves.at[k], true);
	}
	return true;
}

/* All or none; none leaves no trace, all leaves the answer and nothing else. */
static bool attempt(const struct choice *ch)
{
	bool fits;

	ch->out->leaves.n = ch->out->pods.n = ch->out->bonds.n = 0;
	fits = place_pods(ch);
	undo(ch, 0);
	return fits;
}

static uint32_t devices_of(const struct cell_ask *ask)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ask->npods; i++)
		n += ask->pods[i];
	return n;
}

/* In one claim that is larger than a node: those in use first, then the smallest. */
static bool attempt_in_one(struct choice *ch)
{
	struct cell_range range = claims_of(ch);
	uint32_t devices = devices_of(ch->ask);

	for (int idle = 0; idle < 2; idle++) {
		for (uint32_t i = range.from; i < range.from + range.n; i++) {
			const struct cell_claim *c = &ch->cells->claims[i];

			ch->only = CELL_NONE;
			if ((c->cell == CELL_NONE) != idle || c->level <= ch->chain->kind->node_level ||
				ch->chain->kind->levels[c->level].leaves - c->used < devices ||
				!eligible(ch, i))
				continue;
			ch->only = i;
			if (attempt(ch))
				return true;
		}
	}
	ch->only = CELL_NONE;
	return false;
}

/* Bonds of claims that no device was chosen in were trials only. */
static void drop_idle_bonds(struct choice *ch)
{
	struct cell_answer *out = ch->out;
	size_t kept = 0;

	for (size_t i = 0; i < out->bonds.n; i++) {
		bool needed = false;

		for (size_t k = 0; k < out->leaves.n && !needed; k++)
			needed = cells_above(ch->cells, out->leaves.at[k],
					 ch->cells->at[out->bonds.at[i].cell].level) ==
				out->bonds.at[i].cell;
		if (needed)
			out->bonds.at[kept++] = out->bonds.at[i];
	}
	out->bonds.n = kept;
}

static void name_victims(struct choice *ch)
{
	struct cell_answer *out = ch->out;

	out->victims.n = 0;
	for (size_t i = 0; i < out->leaves.n; i++) {
		const struct cell_leaf *l = &ch->cells->leaves[out->leaves.at[i]];
		bool known = l->users == 0;

		for (size_t k = 0; k < out->victims.n && !known; k++)
			known = out->victims.at[k] == l->job;
		if (!known)
			vec_push(&out->victims, l->job);
	}
}

bool cells_choose(struct cells *cells, const struct cell_ask *ask, struct cell_answer *out)
{
	struct choice ch = {
		.cells = cells,
		.ask = ask,
		.chain = &cells->chains[ask->chain],
		.out = out,
		.loose = ask->user.vc == CELL_NONE,
		.only = CELL_NONE,
	};
	int most = ask->preempts && !ch.loose ? 1 : 0;
	bool fits = false;

	for (int preempts = 0; preempts <= most && !fits; preempts++) {
		ch.preempts = preempts;
		if (ask->npods > 1 && !ch.loose)
			fits = attempt_in_one(&ch);
		if (!fits)
			fits = attempt(&ch);
	}
	if (!fits)
		return false;
	drop_idle_bonds(&ch);
	name_victims(&ch);
	return true;
}
