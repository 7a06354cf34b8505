/*
 * Mutation, repair and worth of Pollux' matrices.
 *
 * Rows are words of eight cells (solver/genetic.h), most of them 0 on a large
 * cluster: every pass skips these.  Draws that rarely come true are made for
 * those that do, not for each cell.
 */
#include "policy/elastic/pollux_search.h"

#include <math.h>

#include "base/real.h"

enum {
	MEMO_BITS = 15,
	TENTH = 6554,    /* of 65536 */
	BOTH = 655,      /* a tenth of that */
	CROWD_MAX = 255, /* jobs on a node, before repair */
	BIRTHS_MAX = 12, /* more at once on a node do not happen */
};

/* ---- random numbers of 16 bits, four from one draw */

static uint32_t draw16(struct pollux_search *s, struct rng *rng)
{
	uint32_t bits;

	if (s->pool_left == 0) {
		s->pool = rng_u64(rng);
		s->pool_left = 4;
	}
	bits = s->pool & 0xffff;
	s->pool >>= 16;
	s->pool_left--;
	return bits;
}

/* 0..n-1, n at most a few hundred. */
static uint32_t draw_small(struct pollux_search *s, struct rng *rng, uint32_t n)
{
	return draw16(s, rng) * n >> 16;
}

static uint32_t draw_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)(((rng_u64(rng) >> 32) * n) >> 32);
}

/* ---- rows */

uint32_t pollux_row_gpus(const uint64_t *row, uint32_t width)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < width; i++)
		n += genetic_sum(row[i]);
	return n;
}

uint32_t pollux_row_nodes(const uint64_t *row, uint32_t width)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < width; i++)
		n += genetic_count(row[i]);
	return n;
}

/* Both in one pass. */
static void count_row(const uint64_t *row, uint32_t width, uint32_t *gpus, uint32_t *nodes)
{
	uint32_t g = 0, n = 0;

	for (uint32_t i = 0; i < width; i++) {
		if (!row[i])
			continue;
		g += genetic_sum(row[i]);
		n += genetic_count(row[i]);
	}
	*gpus = g;
	*nodes = n;
}

static bool same_row(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < width; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

static uint64_t *row_of(const struct pollux_search *s, uint64_t *words, uint32_t job)
{
	return words + (size_t)job * s->width;
}

static uint32_t type_of_row(const struct pollux_search *s, const uint64_t *row)
{
	for (uint32_t i = 0; s->types > 1 && i < s->width; i++) {
		if (row[i])
			return s->node_type[8 * i + genetic_first(row[i])];
	}
	return 0;
}

/* ---- mutation */

static void copy_row(uint64_t *to, const uint64_t *from, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++)
		to[i] = from[i];
}

static void reset_row(const struct pollux_search *s, struct genome *child, uint32_t job)
{
	uint64_t *row = row_of(s, child->words, job), *base = row_of(s, s->base, job);

	if (same_row(row, base, s->width))
		return;
	copy_row(row, base, s->width);
	genetic_touch(child, job);
}

static void clear_cells(struct pollux_search *s, struct rng *rng, struct genome *child, uint32_t job)
{
	uint64_t *row = row_of(s, child->words, job);

	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t rest = row[i]; rest;) {
			uint32_t n = genetic_first(rest);

			rest = genetic_without(rest, n);
			if (draw16(s, rng) >= TENTH)
				continue;
			row[i] = genetic_without(row[i], n);
			genetic_touch(child, job);
		}
	}
}

/* A tenth of the rows are reset to what is now, a tenth (of these, too) lose a tenth of their cells: one draw for both. */
static void shrink_some(struct pollux_search *s, struct rng *rng, struct genome *child)
{
	for (uint32_t j = 0; j < s->jobs; j++) {
		uint32_t u = draw16(s, rng);

		if (u >= 2 * TENTH - BOTH)
			continue;
		if (u < TENTH)
			reset_row(s, child, j);
		if (u < BOTH || u >= TENTH)
			clear_cells(s, rng, child, j);
	}
}

/* What nodes have left into s->left, how many jobs they have into s->many. */
static void count_left(struct pollux_search *s, struct genome *child)
{
	copy_row(s->left, s->capacity, s->width);
	for (uint32_t i = 0; i < s->width; i++)
		s->many[i] = 0;
	for (uint32_t j = 0; j < s->jobs; j++) {
		const uint64_t *row = row_of(s, child->words, j);

		for (uint32_t i = 0; i < s->width; i++) {
			if (!row[i])
				continue;
			s->left[i] -= genetic_least(row[i], s->left[i]);
			s->many[i] += genetic_set(row[i]) & GENETIC_ONES;
		}
	}
}

/* Anything from what it has up to the whole node. */
static void grow_cell(struct pollux_search *s, struct rng *rng, struct genome *child, uint32_t job,
	uint32_t node)
{
	uint8_t *cell = genetic_cells(row_of(s, child->words, job)) + node;
	uint32_t most = genetic_cells(s->capacity)[node];

	if (*cell < most) {
		uint32_t more = draw_small(s, rng, most - *cell + 1);

		*cell = (uint8_t)(*cell + more);
		if (more)
			genetic_touch(child, job);
	}
}

/* Jobs that are on a node with free devices. */
static void grow_some(struct pollux_search *s, struct rng *rng, struct genome *child)
{
	const uint8_t *many = genetic_cells(s->many);

	for (uint32_t j = 0; j < s->jobs; j++) {
		const uint64_t *row = row_of(s, child->words, j);

		for (uint32_t i = 0; i < s->width; i++) {
			uint64_t open = row[i] & genetic_set(s->left[i]);

			while (open) {
				uint32_t k = genetic_first(open), n = 8 * i + k;

				open = genetic_without(open, k);
				if (draw16(s, rng) < s->threshold[many[n]])
					grow_cell(s, rng, child, j, n);
			}
		}
	}
}

/* Jobs that are not yet on such a node: each with probability 1 / jobs, so about one for each node. */
static void begin_on(struct pollux_search *s, struct rng *rng, struct genome *child, uint32_t node)
{
	uint32_t births = 0, chosen[BIRTHS_MAX], u = draw16(s, rng);

	while (births < BIRTHS_MAX && births < s->jobs && u >= s->birth[births])
		births++;
	for (uint32_t b = 0; b < births; b++) {
		bool again = false;

		chosen[b] = s->jobs <= 256 ? draw_small(s, rng, s->jobs) : draw_below(rng, s->jobs);
		for (uint32_t c = 0; c < b; c++)
			again |= chosen[c] == chosen[b];
		if (again)
			b--;
		else if (genetic_cells(row_of(s, child->words, chosen[b]))[node] == 0)
			grow_cell(s, rng, child, chosen[b], node);
	}
}

static void begin_some(struct pollux_search *s, struct rng *rng, struct genome *child)
{
	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t open = s->left[i]; open;) {
			uint32_t k = genetic_first(open);

			open = genetic_without(open, k);
			begin_on(s, rng, child, 8 * i + k);
		}
	}
}

static void mutate(void *ctx, struct rng *rng, struct genome *child)
{
	struct pollux_search *s = ctx;

	shrink_some(s, rng, child);
	count_left(s, child);
	grow_some(s, rng, child);
	begin_some(s, rng, child);
}

/* ---- repair */

/* Leaves the type it has most devices of, the first of equals, among those it may use; says whether that was all. */
static bool cut_types(const struct pollux_search *s, uint32_t job, uint64_t *row)
{
	uint32_t best = 0, most = 0;
	uint64_t lost = 0;

	for (uint32_t t = 0; t < s->types; t++) {
		const uint64_t *mask = s->type_mask + (size_t)t * s->width;
		uint32_t gpus = 0;

		if (!(s->may_use[job] >> t & 1))
			continue;
		for (uint32_t i = 0; i < s->width; i++)
			gpus += genetic_sum(row[i] & mask[i]);
		if (gpus > most) {
			most = gpus;
			best = t;
		}
	}
	for (uint32_t i = 0; i < s->width; i++) {
		uint64_t had = row[i];

		row[i] &= most ? s->type_mask[(size_t)best * s->width + i] : 0;
		lost |= had ^ row[i];
	}
	return lost == 0;
}

/* Nodes that a distributed job of an earlier row has are taken for this one; says whether it wanted none. */
static bool keep_apart(struct pollux_search *s, uint64_t *row)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < s->width; i++) {
		s->mine[i] = genetic_set(row[i]) & ~s->taken[i];
		lost |= row[i] & s->taken[i];
		row[i] &= ~s->taken[i];
		s->taken[i] |= s->mine[i];
	}
	return lost == 0;
}

/* Lists the nodes of a row in random order; returns how many. */
static uint32_t list_nodes(struct pollux_search *s, struct rng *rng, const uint64_t *row)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t rest = row[i]; rest;) {
			uint32_t k = genetic_first(rest);

			rest = genetic_without(rest, k);
			s->order[n++] = 8 * i + k;
		}
	}
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = draw_small(s, rng, i), swap = s->order[i - 1];

		s->order[i - 1] = s->order[j];
		s->order[j] = swap;
	}
	return n;
}

/* At most so many devices and nodes, whichever of them. */
static void cut_row(struct pollux_search *s, struct rng *rng, uint64_t *row, uint32_t most)
{
	uint32_t n = list_nodes(s, rng, row), gpus = 0, nodes = 0;
	uint8_t *cells = genetic_cells(row);

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *cell = &cells[s->order[i]];

		if (*cell > most - gpus)
			*cell = (uint8_t)(most - gpus);
		if (s->widest && nodes == s->widest)
			*cell = 0;
		gpus += *cell;
		nodes += *cell > 0;
	}
}

/* ---- repair of those that cannot do with a few */

/* The node with the least room of those that have enough; UINT32_MAX: none. */
static uint32_t snug_node(const struct pollux_search *s, uint32_t type, uint32_t gpus)
{
	const uint8_t *left = genetic_cells(s->left);
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0; n < s->nodes; n++) {
		if (s->node_type[n] == type && left[n] >= gpus &&
			(best == UINT32_MAX || left[n] < left[best]))
			best = n;
	}
	return best;
}

/* The node with the most room of those it may add. */
static uint32_t roomy_node(const struct pollux_search *s, uint32_t type, const uint8_t *cells)
{
	const uint8_t *left = genetic_cells(s->left), *taken = genetic_cells(s->taken);
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0; n < s->nodes; n++) {
		if (s->node_type[n] != type || left[n] == 0 || cells[n] || (s->avoid && taken[n]))
			continue;
		if (best == UINT32_MAX || left[n] > left[best])
			best = n;
	}
	return best;
}

static bool spread(struct pollux_search *s, uint64_t *row, uint32_t type, uint32_t gpus)
{
	uint8_t *cells = genetic_cells(row);
	uint32_t nodes = 0;

	while (gpus > 0) {
		uint32_t n = roomy_node(s, type, cells);

		if (n == UINT32_MAX || (s->widest && nodes == s->widest))
			return false;
		cells[n] = genetic_cells(s->left)[n];
		if (cells[n] > gpus)
			cells[n] = (uint8_t)gpus;
		gpus -= cells[n];
		nodes++;
	}
	return true;
}

/* A job with some devices but fewer than its least: as many as that on the type, or none. */
static void complete_row(struct pollux_search *s, uint32_t job, uint64_t *row, bool apart)
{
	uint32_t type = type_of_row(s, row);
	uint32_t least = s->least[(size_t)job * s->types + type];
	uint32_t n = snug_node(s, type, least);

	for (uint32_t i = 0; apart && i < s->width; i++)
		s->taken[i] &= ~s->mine[i];
	memset(row, 0, s->width * sizeof(*row));
	if (n != UINT32_MAX) {
		genetic_cells(row)[n] = (uint8_t)least;
		return;
	}
	if (!spread(s, row, type, least)) {
		memset(row, 0, s->width * sizeof(*row));
		return;
	}
	for (uint32_t i = 0; s->avoid && i < s->width; i++)
		s->taken[i] |= genetic_set(row[i]);
}

/* Nodes may have less left than it wants; says whether all had enough. */
static bool fit_row(struct pollux_search *s, uint64_t *row, uint32_t *gpus)
{
	uint64_t lost = 0;

	*gpus = 0;
	for (uint32_t i = 0; i < s->width; i++) {
		uint64_t had = row[i];

		if (!had)
			continue;
		row[i] = genetic_least(had, s->left[i]);
		lost |= had ^ row[i];
		*gpus += genetic_sum(row[i]);
	}
	return lost == 0;
}

/* Says whether it is as it was. */
static bool repair_row(struct pollux_search *s, struct rng *rng, uint32_t job, uint64_t *row)
{
	bool whole = (s->types == 1 && s->may_use[job]) || cut_types(s, job, row);
	uint32_t gpus, nodes, type;
	bool apart;

	count_row(row, s->width, &gpus, &nodes);
	apart = s->avoid && nodes > 1;
	if (apart && !keep_apart(s, row)) {
		whole = false;
		count_row(row, s->width, &gpus, &nodes);
	}
	if (gpus == 0)
		return whole;
	type = type_of_row(s, row);
	if (gpus > s->most[(size_t)job * s->types + type] || (s->widest && nodes > s->widest)) {
		cut_row(s, rng, row, s->most[(size_t)job * s->types + type]);
		whole = false;
	}
	whole &= fit_row(s, row, &gpus);
	if (gpus > 0 && gpus < s->least[(size_t)job * s->types + type]) {
		complete_row(s, job, row, apart);
		whole = false;
	}
	for (uint32_t i = 0; i < s->width; i++)
		s->left[i] -= row[i];
	return whole;
}

static bool is_empty(const uint64_t *row, uint32_t width)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < width; i++)
		any |= row[i];
	return any == 0;
}

/* Devices of the nodes that somebody is on, for the second objective. */
static double in_use(const struct pollux_search *s)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < s->width; i++)
		gpus += genetic_sum(s->capacity[i] & genetic_set(s->capacity[i] - s->left[i]));
	return gpus;
}

static void repair(void *ctx, struct rng *rng, struct genome *child)
{
	struct pollux_search *s = ctx;

	copy_row(s->left, s->capacity, s->width);
	for (uint32_t i = 0; i < s->width; i++)
		s->taken[i] = 0;
	for (uint32_t j = 0; j < s->jobs; j++) {
		uint64_t *row = row_of(s, child->words, j);

		if (is_empty(row, s->width))
			continue;
		if (!repair_row(s, rng, j, row))
			genetic_touch(child, j);
	}
	child->extra = in_use(s);
}

/* ---- worth */

static double speedup_of(struct pollux_search *s, uint32_t job, uint32_t type, uint32_t nodes,
	uint32_t gpus)
{
	uint64_t key = (((uint64_t)job * s->types + type) << 40 | (uint64_t)nodes << 20 | gpus) + 1;
	struct pollux_memo *memo = &s->memo[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS)];

	if (memo->key != key) {
		memo->speedup = s->speedup(s->ctx, job, type, nodes, gpus);
		memo->key = key;
	}
	return memo->speedup;
}

static double to_power(double x, double p)
{
	return p == -1 ? 1 / x : p == 1 ? x : p == 0 ? real_log(x) : real_pow(x, p);
}

static double from_power(double x, double p)
{
	return p == -1 ? 1 / x : p == 1 ? x : p == 0 ? real_exp(x) : real_pow(x, 1 / p);
}

double pollux_mean(const double *values, uint32_t n, double p)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += to_power(values[i], p);
	return from_power(sum / n, p);
}

double pollux_restart_factor(double age_s, double restarts, double delay_s)
{
	if (age_s + delay_s <= 0)
		return 1;
	return fmax(age_s - restarts * delay_s, 0) / (age_s + delay_s);
}

static double worth(const struct pollux_search *s, double speedup, double factor)
{
	double x = speedup * s->scale * factor;

	if (s->objective == POLLUX_SUM)
		return x;
	return to_power(s->floor_adds ? x + s->floor : fmax(x, s->floor), s->p);
}

static void weigh(void *ctx, uint32_t job, const uint64_t *row, double value[2])
{
	struct pollux_search *s = ctx;
	uint32_t gpus, nodes;
	double factor = 1;

	count_row(row, s->width, &gpus, &nodes);
	if (!same_row(row, row_of(s, s->base, job), s->width))
		factor = s->factor[job];
	value[1] = gpus ? speedup_of(s, job, type_of_row(s, row), nodes, gpus) : 0;
	value[0] = worth(s, value[1], factor);
}

static void judge(void *ctx, const struct genome *genome, double objective[GENETIC_OBJECTIVES])
{
	const struct pollux_search *s = ctx;
	double sum = 0, speedups = 0;

	for (uint32_t j = 0; j < s->jobs; j++) {
		sum += genome->rows[j].value[0];
		speedups += genome->rows[j].value[1];
	}
	objective[0] = s->objective == POLLUX_SUM ? sum : from_power(sum / s->jobs, s->p);
	objective[1] = genome->extra > 0 ? speedups / genome->extra : 0;
}

double pollux_search_fitness(struct pollux_search *s, const uint64_t *words)
{
	double sum = 0;

	for (uint32_t j = 0; j < s->jobs; j++) {
		double value[2];

		weigh(s, j, words + (size_t)j * s->width, value);
		sum += value[0];
	}
	return s->objective == POLLUX_SUM ? sum : from_power(sum / s->jobs, s->p);
}

/* ---- preparation */

static void set_masks(struct pollux_search *s, struct arena *arena)
{
	s->type_mask = arena_array(arena, uint64_t, (size_t)s->types * s->width);
	for (uint32_t n = 0; n < s->nodes; n++)
		genetic_cells(s->type_mask + (size_t)s->node_type[n] * s->width)[n] = 255;
}

/* A job on a node of c jobs grows there with 1/jobs + 1/c - 1/(jobs c). */
static void set_thresholds(struct pollux_search *s, struct arena *arena)
{
	double p1 = 1.0 / s->jobs;

	s->threshold = arena_array(arena, uint32_t, CROWD_MAX + 1);
	for (uint32_t c = 1; c <= CROWD_MAX; c++)
		s->threshold[c] = (uint32_t)lrint(65536 * (p1 + 1.0 / c - p1 / c));
}

/* The binomial distribution of as many tries as jobs. */
static void set_births(struct pollux_search *s, struct arena *arena)
{
	double p = 1.0 / s->jobs, odds = s->jobs > 1 ? p / (1 - p) : 0;
	double mass = s->jobs > 1 ? real_pow(1 - p, s->jobs) : 0, sum = 0;

	s->birth = arena_array(arena, uint32_t, BIRTHS_MAX + 1);
	for (uint32_t k = 0; k <= BIRTHS_MAX; k++) {
		sum += mass;
		s->birth[k] = (uint32_t)lrint(65536 * fmin(sum, 1));
		mass *= k < s->jobs ? (s->jobs - k) * odds / (k + 1) : 0;
	}
}

void pollux_search_prepare(struct pollux_search *s, struct arena *arena)
{
	s->width = genetic_width(s->nodes);
	s->left = arena_array(arena, uint64_t, s->width);
	s->taken = arena_array(arena, uint64_t, s->width);
	s->mine = arena_array(arena, uint64_t, s->width);
	s->many = arena_array(arena, uint64_t, s->width);
	s->order = arena_array(arena, uint32_t, (size_t)s->width * 8);
	s->memo = arena_array(arena, struct pollux_memo, (size_t)1 << MEMO_BITS);
	s->pool_left = 0;
	set_masks(s, arena);
	set_thresholds(s, arena);
	set_births(s, arena);
}

struct genetic_problem pollux_search_problem(struct pollux_search *s)
{
	return (struct genetic_problem){
		.rows = s->jobs,
		.cols = s->nodes,
		.objectives = 2,
		.ctx = s,
		.mutate = mutate,
		.repair = repair,
		.weigh = weigh,
		.judge = judge,
	};
}
