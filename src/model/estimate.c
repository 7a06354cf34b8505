/*
 * Belief from few measurements.
 */
#include "model/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/real.h"
#include "base/rng.h"
#include "base/vec.h"

/* One entry of either matrix: a speed alone, or a fraction beside another. */
struct cell {
	uint32_t model, type, gpus, nodes;
	uint32_t beside; /* NAME_NONE: alone */
	uint32_t row, col;
	bool asked; /* it was named as one that matters */
	double truth;
	double value; /* as measured; NAN: it is not */
};

struct cells {
	struct cell *at;
	size_t n, cap;
};

struct grid {
	struct cells cells; /* in order of compare_cells() */
	uint32_t rows, cols;
};

struct estimator {
	struct estimate_config config;
	struct profile *belief;
	struct profile *bare; /* the catalogue alone */
	bool use_prior;
	struct grid alone, beside;
	double next_fill_s;
	bool news; /* since the holes were last filled */
	struct estimate_counts counts;
};

void estimate_config_init(struct estimate_config *config)
{
	*config = (struct estimate_config){ .known = 0.5, .weight = 0.5, .again_s = 600 };
}

/* ---- order, and numbers for rows and columns */

#define COMPARE(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)

static int compare_cells(const void *x, const void *y)
{
	const struct cell *a = x, *b = y;

	COMPARE(a->model, b->model);
	COMPARE(a->gpus, b->gpus);
	COMPARE(a->type, b->type);
	COMPARE(a->nodes, b->nodes);
	COMPARE(a->beside, b->beside);
	return 0;
}

/* Rows are models; beside others also device counts, which are columns when alone. */
static int compare_rows(const void *x, const void *y)
{
	const struct cell *a = x, *b = y;

	COMPARE(a->model, b->model);
	if (a->beside != NAME_NONE)
		COMPARE(a->gpus, b->gpus);
	return 0;
}

static int compare_cols(const void *x, const void *y)
{
	const struct cell *a = x, *b = y;

	COMPARE(a->type, b->type);
	if (a->beside == NAME_NONE)
		COMPARE(a->gpus, b->gpus);
	COMPARE(a->nodes, b->nodes);
	COMPARE(a->beside, b->beside);
	return 0;
}

static int by_col(const void *x, const void *y)
{
	int order = compare_cols(x, y);

	return order ? order : compare_cells(x, y);
}

static void drop_repeats(struct cells *cells)
{
	size_t kept = 0;

	for (size_t i = 0; i < cells->n; i++) {
		if (kept == 0 || compare_cells(&cells->at[kept - 1], &cells->at[i]))
			cells->at[kept++] = cells->at[i];
		else
			cells->at[kept - 1].asked |= cells->at[i].asked;
	}
	cells->n = kept;
}

static void number_cells(struct grid *grid)
{
	struct cells *cells = &grid->cells;

	if (cells->n == 0)
		return;
	qsort(cells->at, cells->n, sizeof(*cells->at), compare_cells);
	drop_repeats(cells);
	qsort(cells->at, cells->n, sizeof(*cells->at), by_col);
	for (size_t i = 1; i < cells->n; i++) {
		grid->cols += compare_cols(&cells->at[i - 1], &cells->at[i]) != 0;
		cells->at[i].col = grid->cols;
	}
	qsort(cells->at, cells->n, sizeof(*cells->at), compare_cells);
	for (size_t i = 1; i < cells->n; i++) {
		grid->rows += compare_rows(&cells->at[i - 1], &cells->at[i]) != 0;
		cells->at[i].row = grid->rows;
	}
	grid->cols++;
	grid->rows++;
}

static struct cell *find_cell(const struct grid *grid, struct cell key)
{
	if (grid->cells.n == 0)
		return NULL;
	return bsearch(&key, grid->cells.at, grid->cells.n, sizeof(key), compare_cells);
}

/* ---- which entries there are */

static struct shape shape_of(const struct profile *profile, const struct cell *cell)
{
	struct shape shape = profile_packed(profile, cell->type, cell->gpus);

	if (cell->nodes) {
		shape.racks = cell->nodes > shape.nodes ? cell->nodes : shape.racks;
		shape.nodes = cell->nodes;
	}
	return shape;
}

static double ask(const struct profile *profile, const struct cell *cell)
{
	if (cell->beside != NAME_NONE)
		return profile_beside(profile, cell->type, cell->gpus, cell->model, cell->beside);
	return profile_rate(profile, cell->model, cell->type, shape_of(profile, cell));
}

static void put(struct estimator *e, const struct cell *c, double value)
{
	if (c->beside == NAME_NONE)
		profile_add(e->belief, c->model, c->type, c->gpus, c->nodes, value);
	else
		profile_add_beside(e->belief, c->type, c->gpus, c->model, c->beside, value);
}

/* What cannot run is not a small speed but none, and no matter of estimation. */
static void add_cell(struct estimator *e, struct cell cell)
{
	struct grid *grid = cell.beside == NAME_NONE ? &e->alone : &e->beside;

	cell.value = NAN;
	cell.truth = ask(e->config.truth, &cell);
	if (cell.truth > 0)
		vec_push(&grid->cells, cell);
	else if (cell.truth == 0)
		put(e, &cell, 0);
}

static void add_measured(void *ctx, const struct measured *m)
{
	add_cell(ctx,
		(struct cell){
			.model = m->model,
			.type = m->type,
			.gpus = m->gpus,
			.nodes = m->nodes,
			.beside = m->beside,
		});
}

static void gather(struct estimator *e)
{
	profile_each(e->config.truth, add_measured, e);
	for (uint32_t i = 0; i < e->config.nalso; i++) {
		const struct estimate_cell *c = &e->config.also[i];

		add_cell(e,
			(struct cell){
				.model = c->model,
				.type = c->type,
				.gpus = c->gpus,
				.beside = NAME_NONE,
				.asked = true,
			});
	}
	number_cells(&e->alone);
	number_cells(&e->beside);
}

/* ---- which of them are known */

enum draw { DRAW_ENTRY, DRAW_MODEL, DRAW_TYPE };

/* A number in 0..1 that depends on the seed and the thing alone, not on what else there is. */
static double draw(const struct estimator *e, enum draw what, uint64_t x, uint64_t y)
{
	struct rng rng;

	rng_for(&rng, e->config.seed, RNG_ESTIMATE,
		hash_u64(hash_u64(hash_u64(HASH_START, (uint64_t)what), x), y));
	return rng_uniform(&rng);
}

static bool is_full(const struct estimator *e, uint32_t model)
{
	return draw(e, DRAW_MODEL, model, 0) < e->config.full;
}

/* Whether `type` is among those that the model was measured on. */
static bool on_type(const struct estimator *e, uint32_t model, uint32_t type)
{
	double own = draw(e, DRAW_TYPE, model, type);
	uint32_t before = 0;

	if (e->config.types == 0)
		return true;
	for (uint32_t t = 0; t < e->config.cluster->ntypes; t++)
		before += t != type && draw(e, DRAW_TYPE, model, t) < own;
	return before < e->config.types;
}

/* Of a pair both directions are measured at once. */
static double draw_cell(const struct estimator *e, const struct cell *c)
{
	uint32_t a = c->model, b = c->beside;

	if (b < a) {
		a = c->beside;
		b = c->model;
	}
	return draw(e, DRAW_ENTRY, (uint64_t)a << 32 | b,
		(uint64_t)c->type << 48 | (uint64_t)c->nodes << 24 | c->gpus);
}

static bool is_known(const struct estimator *e, const struct cell *c)
{
	bool pair = c->beside != NAME_NONE;

	if (is_full(e, c->model) && (!pair || is_full(e, c->beside)))
		return true;
	if (!on_type(e, c->model, c->type) || (pair && !on_type(e, c->beside, c->type)))
		return false;
	return draw_cell(e, c) < e->config.known;
}

static bool is_measured(const struct cell *c)
{
	return !isnan(c->value);
}

static void measure_known(struct estimator *e, struct grid *grid)
{
	for (size_t i = 0; i < grid->cells.n; i++) {
		struct cell *c = &grid->cells.at[i];

		if (is_known(e, c))
			c->value = c->truth;
	}
}

/* Cells from..to-1 are of one model: where none is known, the first drawn is (on its types, if it has any). */
static void measure_one(struct estimator *e, size_t from, size_t to)
{
	struct cell *best = &e->alone.cells.at[from];
	double least = INFINITY;

	for (size_t i = from; i < to; i++) {
		struct cell *c = &e->alone.cells.at[i];
		double at = draw_cell(e, c) + !on_type(e, c->model, c->type);

		if (is_measured(c))
			return;
		if (at < least) {
			least = at;
			best = c;
		}
	}
	best->value = best->truth;
}

static void measure_at_least_one(struct estimator *e)
{
	const struct cells *cells = &e->alone.cells;
	size_t from = 0;

	for (size_t i = 1; i <= cells->n; i++) {
		if (i == cells->n || cells->at[i].model != cells->at[from].model) {
			measure_one(e, from, i);
			from = i;
		}
	}
}

/* ---- filling */

static void put_measured(struct estimator *e, const struct grid *grid)
{
	for (size_t i = 0; i < grid->cells.n; i++) {
		if (is_measured(&grid->cells.at[i]))
			put(e, &grid->cells.at[i], grid->cells.at[i].value);
	}
}

/* The logarithm of what the catalogue says of a speed; 0 where it is not asked. */
static double prior_of(const struct estimator *e, const struct cell *c)
{
	return e->use_prior && c->beside == NAME_NONE ? real_log(ask(e->bare, c)) : 0;
}

/* A model of which the catalogue says nothing would stand out by the scale of its speeds. */
static bool catalogue_has_all(const struct estimator *e)
{
	for (size_t i = 0; i < e->alone.cells.n; i++) {
		if (!(ask(e->bare, &e->alone.cells.at[i]) > 0))
			return false;
	}
	return true;
}

static void write_matrix(const struct estimator *e, const struct grid *grid, double *known)
{
	for (size_t i = 0; i < (size_t)grid->rows * grid->cols; i++)
		known[i] = NAN;
	for (size_t i = 0; i < grid->cells.n; i++) {
		const struct cell *c = &grid->cells.at[i];

		if (is_measured(c))
			known[(size_t)c->row * grid->cols + c->col] = real_log(c->value) -
				prior_of(e, c);
	}
}

static void read_matrix(struct estimator *e, const struct grid *grid, const double *filled)
{
	for (size_t i = 0; i < grid->cells.n; i++) {
		const struct cell *c = &grid->cells.at[i];
		double x = filled[(size_t)c->row * grid->cols + c->col];

		if (is_measured(c) || !isfinite(x))
			continue;
		x = real_exp(x + prior_of(e, c));
		put(e, c, c->beside == NAME_NONE ? x : fmin(x, 1));
	}
}

static void fill(struct estimator *e, const struct grid *grid)
{
	size_t bytes = mem_array_size((size_t)grid->rows * grid->cols, sizeof(double));
	double *known, *filled;

	if (!e->config.fill || grid->cells.n == 0)
		return;
	known = mem_alloc(bytes);
	filled = mem_alloc(bytes);
	write_matrix(e, grid, known);
	if (e->config.fill(e->config.ctx, known, grid->rows, grid->cols, filled))
		read_matrix(e, grid, filled);
	free(known);
	free(filled);
}

static void fill_both(struct estimator *e)
{
	fill(e, &e->alone);
	fill(e, &e->beside);
	e->counts.fills++;
	e->news = false;
}

struct estimator *estimator_create(const struct estimate_config *config)
{
	struct estimator *e = mem_alloc(sizeof(*e));

	e->config = *config;
	e->next_fill_s = -INFINITY;
	e->belief = profile_create(config->cluster, config->models);
	e->bare = profile_create(config->cluster, config->models);
	if (config->truth) /* what hosts do to a model is told, not estimated */
		profile_set_hosting(e->belief, profile_hosting(config->truth));
	gather(e);
	e->config.also = NULL;
	e->use_prior = config->prior && catalogue_has_all(e);
	measure_known(e, &e->alone);
	measure_known(e, &e->beside);
	measure_at_least_one(e);
	/* Before the estimates: the profile carries the first it hears over to what nobody asks about here. */
	put_measured(e, &e->alone);
	put_measured(e, &e->beside);
	fill_both(e);
	return e;
}

void estimator_destroy(struct estimator *e)
{
	if (!e)
		return;
	profile_destroy(e->belief);
	profile_destroy(e->bare);
	vec_fini(&e->alone.cells);
	vec_fini(&e->beside.cells);
	free(e);
}

const struct profile *estimator_belief(const struct estimator *e)
{
	return e->belief;
}

/* ---- learning */

/* Changes smaller than this are noise to everybody else. */
#define NEWS 0.01

static void learn(struct estimator *e, struct cell *c, double value)
{
	double before = c->value;

	c->value = is_measured(c) ? before + e->config.weight * (value - before) : value;
	put(e, c, c->value);
	if (!(fabs(c->value - before) <= NEWS * before))
		e->news = true;
}

/* Where the entry does not say on how many nodes, its speed is that of devices packed closely. */
static void learn_alone(struct estimator *e, const struct observation *o)
{
	struct cell key = {
		.model = o->model,
		.type = o->type,
		.gpus = o->shape.gpus,
		.nodes = o->shape.nodes,
		.beside = NAME_NONE,
	};
	struct cell *c = find_cell(&e->alone, key);
	double locality = profile_link_locality(e->belief, o->model, o->type, o->shape);

	if (!c) {
		key.nodes = 0;
		c = find_cell(&e->alone, key);
		locality = profile_locality(e->belief, o->model, o->type, o->shape);
	}
	if (c && locality > 0)
		learn(e, c, o->steps_per_s / locality);
	else if (!c)
		profile_add(e->belief, o->model, o->type, o->shape.gpus, o->shape.nodes,
			o->steps_per_s / profile_link_locality(e->belief, o->model, o->type, o->shape));
}

static void learn_beside(struct estimator *e, const struct observation *o)
{
	struct cell *c = find_cell(&e->beside,
		(struct cell){
			.model = o->model,
			.type = o->type,
			.gpus = o->shape.gpus,
			.beside = o->beside,
		});
	double alone = profile_rate(e->belief, o->model, o->type, o->shape);

	if (c && alone > 0)
		learn(e, c, o->steps_per_s / alone);
}

void estimator_observe(struct estimator *e, const struct observation *seen)
{
	if (!(seen->steps_per_s > 0 && isfinite(seen->steps_per_s)) || seen->model == NAME_NONE)
		return;
	if (seen->beside == NAME_NONE)
		learn_alone(e, seen);
	else
		learn_beside(e, seen);
	e->counts.observations++;
	if (e->news && seen->at_s >= e->next_fill_s) {
		fill_both(e);
		e->next_fill_s = seen->at_s + e->config.again_s;
	}
}

/* ---- how good it is */

struct estimate_error estimator_error(const struct estimator *e, bool beside)
{
	const struct cells *cells = beside ? &e->beside.cells : &e->alone.cells;
	struct estimate_error error = { 0 };

	for (size_t i = 0; i < cells->n; i++) {
		const struct cell *c = &cells->at[i];
		double off = fabs(ask(e->belief, c) / c->truth - 1);

		if (isnan(off)) {
			error.nunknown++;
			continue;
		}
		error.all += off;
		error.nall++;
		if (c->asked) {
			error.asked += off;
			error.nasked++;
		}
		if (!is_measured(c)) {
			error.estimated += off;
			error.nestimated++;
		}
	}
	error.all = error.nall ? error.all / error.nall : NAN;
	error.asked = error.nasked ? error.asked / error.nasked : NAN;
	error.estimated = error.nestimated ? error.estimated / error.nestimated : NAN;
	return error;
}

struct estimate_counts estimator_counts(const struct estimator *e)
{
	return e->counts;
}
