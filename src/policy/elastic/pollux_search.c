/*
 * What Pollux' matrices are worth, and what a search is prepared with.
 */
#include "policy/elastic/pollux_search.h"

#include <math.h>

#include "base/real.h"
#include "policy/elastic/pollux_rows.h"

enum {
	MEMO_EACH = 64,  /* answers that are kept for each row and type */
	CROWD_MAX = 255, /* jobs on a node, before repair */
};

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

/* ---- worth */

/* Neighbours lie side by side, since searches ask for few others. */
static struct pollux_memo *memo_of(const struct pollux_search *s, uint32_t job, uint32_t type,
	uint32_t nodes, uint32_t gpus)
{
	return s->memo + ((size_t)job * s->types + type) * MEMO_EACH +
		(13 * (nodes - 1) + gpus) % MEMO_EACH;
}

static double speedup_of(struct pollux_search *s, uint32_t job, uint32_t type, uint32_t nodes,
	uint32_t gpus)
{
	struct pollux_memo *memo = memo_of(s, job, type, nodes, gpus);
	uint64_t key = (uint64_t)nodes << 32 | gpus;

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

/* A row that was counted already. */
static void weigh(void *ctx, uint32_t job, const uint64_t *words, struct genome_row *row)
{
	struct pollux_search *s = ctx;
	uint32_t gpus = row->note[POLLUX_NOTE_GPUS], nodes = row->note[POLLUX_NOTE_NODES];
	double factor = 1;

	if (!pollux_same(words, pollux_row(s, s->base, job), s->width))
		factor = s->factor[job];
	row->value[1] = gpus ? speedup_of(s, job, pollux_row_type(s, words), nodes, gpus) : 0;
	row->value[0] = worth(s, row->value[1], factor);
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
		const uint64_t *row_words = words + (size_t)j * s->width;
		struct genome_row row = { 0 };

		pollux_count(row_words, s->width, row.note);
		weigh(s, j, row_words, &row);
		sum += row.value[0];
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

	s->birth = arena_array(arena, uint32_t, POLLUX_BIRTHS_MAX + 1);
	for (uint32_t k = 0; k <= POLLUX_BIRTHS_MAX; k++) {
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
	s->open = arena_array(arena, uint64_t, s->width);
	s->many = arena_array(arena, uint64_t, s->width);
	s->order = arena_array(arena, uint32_t, (size_t)s->width * 8);
	s->memo = arena_array(arena, struct pollux_memo, (size_t)s->jobs * s->types * MEMO_EACH);
	s->dice = 0;
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
		.mutate = pollux_mutate,
		.repair = pollux_repair,
		.weigh = weigh,
		.judge = judge,
	};
}
