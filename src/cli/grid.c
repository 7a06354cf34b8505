#include "cli/grid_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/work.h"
#include "cli/record.h"
#include "cli/resample.h"
#include "sim/recorded.h"

/* ---- seeds */

static bool has_chance(const struct setup *setup)
{
	const struct args *args = setup->args;
	bool all_random = true;

	for (size_t i = 0; i < setup->npairings; i++)
		all_random &= setup->pairings[i].policy->random || setup->pairings[i].placer->random;
	return (args->error > 0 && !args->oracle) || args->estimate || args->mtbf > 0 || all_random;
}

int vary_choose(const struct setup *setup, enum vary *out, struct err *err)
{
	const char *when = setup->args->resample ? setup->args->resample : "auto";

	if (!strcmp(when, "yes"))
		*out = VARY_RESAMPLE;
	else if (!strcmp(when, "no"))
		*out = workload_is_drawn(setup->base.source) ? VARY_DRAW : VARY_CHANCE;
	else if (strcmp(when, "auto") != 0)
		return err_set(err, ERR_USAGE, "--resample is '%s', but must be auto, yes or no", when);
	else if (workload_is_drawn(setup->base.source))
		*out = VARY_DRAW;
	else
		*out = has_chance(setup) ? VARY_CHANCE : VARY_RESAMPLE;
	return 0;
}

static char *note_of(const struct grid *grid)
{
	unsigned long long first = grid->seeds[0], last = grid->seeds[grid->nseeds - 1];

	if (grid->nseeds == 1)
		return NULL;
	switch (grid->vary) {
	case VARY_DRAW:
		return mem_printf("seeds %llu to %llu draw %u workloads from the generator; "
				  "every policy runs the same ones",
			first, last, grid->nseeds);
	case VARY_RESAMPLE:
		return mem_printf("seed %llu is the trace itself; %u more resample it in blocks of %u jobs "
				  "(moving-block bootstrap); every policy runs the same workloads",
			first, grid->nseeds - 1, resample_block(&grid->arms[0].setup->base.trace));
	default:
		return mem_printf("seeds %llu to %llu change errors, failures and random choices; "
				  "the workload stays",
			first, last);
	}
}

/* Arms with one setup share workloads: those of the first of them. */
static struct seed_work *work_of(struct grid *grid, uint32_t arm, uint32_t seed)
{
	uint32_t first = 0;

	while (grid->arms[first].setup != grid->arms[arm].setup)
		first++;
	return &grid->works[(size_t)first * grid->nseeds + seed];
}

static int make_workload(const struct grid *grid, const struct grid_piece *piece,
	struct seed_work *work, struct err *err)
{
	const struct setup *setup = grid->arms[piece->arm].setup;
	uint32_t k = piece->seed;
	int rc = 0;

	if (!k || grid->vary == VARY_CHANCE) {
		work->workload = &setup->base;
		return 0;
	}
	if (grid->vary == VARY_RESAMPLE)
		workload_resample(&setup->base, grid->seeds[k], &work->own);
	else
		rc = workload_redraw(setup->args, &setup->base, k, &setup->cluster, &work->own, err);
	if (!rc)
		work->workload = &work->own;
	return rc;
}

int grid_begin_seed(struct grid_piece *piece, const struct workload **out, struct err *err)
{
	struct seed_work *work = work_of(piece->grid, piece->arm, piece->seed);
	int rc = 0;

	pthread_mutex_lock(&work->lock);
	if (!work->workload)
		rc = make_workload(piece->grid, piece, work, err);
	*out = work->workload;
	pthread_mutex_unlock(&work->lock);
	return rc;
}

void grid_end_seed(struct grid_piece *piece)
{
	struct seed_work *work = work_of(piece->grid, piece->arm, piece->seed);

	pthread_mutex_lock(&work->lock);
	if (--work->left == 0) {
		workload_fini(&work->own);
		work->workload = NULL;
	}
	pthread_mutex_unlock(&work->lock);
}

/* ---- one piece */

bool grid_told_to_stop(struct grid *grid)
{
	return ui_interrupted() || atomic_load(&grid->stop);
}

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct grid_piece *piece = ctx;
	struct grid *grid = piece->grid;

	(void)now_s;
	atomic_fetch_add(&grid->ended, ended - piece->ended);
	piece->ended = ended;
	if (pthread_mutex_trylock(&grid->bar_lock) == 0) {
		bar_move(&grid->bar, (double)atomic_load(&grid->ended) / grid->all_jobs);
		pthread_mutex_unlock(&grid->bar_lock);
	}
	return !grid_told_to_stop(grid);
}

bool grid_is_recorded(const struct grid_piece *piece)
{
	return !piece->grid->arms[piece->arm].pair;
}

/* What happened needs no run. */
static void put_recorded(struct grid_piece *piece, const struct workload *workload)
{
	struct grid *grid = piece->grid;
	struct outcome outcome;

	recorded_outcome(&workload->trace, &grid->arms[piece->arm].setup->cluster, &outcome);
	comparison_put(&grid->result, piece->arm, piece->seed, &workload->trace, &outcome);
	outcome_fini(&outcome);
	moved(piece, workload->trace.njobs, 0);
}

int grid_simulate(struct grid_piece *piece, const struct workload *workload, struct outcome *out,
	struct err *err)
{
	struct grid *grid = piece->grid;
	const struct arm *arm = &grid->arms[piece->arm];
	struct run run = {
		.setup = arm->setup,
		.workload = workload,
		.pair = arm->pair,
		.seed = grid->seeds[piece->seed],
		.want_spans = grid->args->html && !piece->seed,
		.dir = piece->dir.building ? &piece->dir : NULL,
		.progress = moved,
		.progress_ctx = piece,
	};

	return run_carry_out(&run, out, err);
}

int grid_take(struct grid_piece *piece, const struct workload *workload, struct outcome *outcome,
	struct err *err)
{
	struct grid *grid = piece->grid;
	struct run run = { .dir = &piece->dir };

	comparison_put(&grid->result, piece->arm, piece->seed, &workload->trace, outcome);
	piece->beyond = outcome->beyond;
	outcome_fini(outcome);
	moved(piece, workload->trace.njobs, 0);
	if (!piece->dir.building)
		return 0;
	return run_record(&run, &grid->result.policies[piece->arm].cells[piece->seed].summary, err);
}

static int run_piece_on(struct grid_piece *piece, const struct workload *workload, struct err *err)
{
	struct outcome outcome = { 0 };
	int rc = grid_simulate(piece, workload, &outcome, err);

	return rc ? rc : grid_take(piece, workload, &outcome, err);
}

/* A run that was told to stop has not failed; who told it has. */
void grid_fail(struct grid_piece *piece, int rc)
{
	struct grid *grid = piece->grid;

	if (rc == ERR_REFUSED && grid_told_to_stop(grid))
		return;
	piece->rc = rc;
	if (grid->keeps_others && rc == ERR_BROKEN)
		run_dir_drop_part(&piece->dir);
	else if (!grid->tolerant)
		atomic_store(&grid->stop, true);
}

void grid_run_piece(struct grid_piece *piece)
{
	const struct workload *workload;
	int rc = grid_begin_seed(piece, &workload, &piece->err);

	if (!rc) {
		if (grid_is_recorded(piece))
			put_recorded(piece, workload);
		else
			rc = run_piece_on(piece, workload, &piece->err);
		grid_end_seed(piece);
	}
	if (rc)
		grid_fail(piece, rc);
}

static void run_next(void *ctx, size_t number)
{
	struct grid *grid = ctx;

	if (!grid_told_to_stop(grid))
		grid_run_piece(&grid->pieces[grid->queue[number]]);
}

/* ---- directories */

/* "tiresias+queues=2", "srtf-consolidate": what every file system takes. */
static void add_name(struct buf *out, const char *label)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=.,";

	for (const char *c = label; *c; c++) {
		/* "srtf / consolidate" is a policy with a placer. */
		if (!strncmp(c, " / ", 3)) {
			buf_char(out, '_');
			c += 2;
			continue;
		}
		buf_char(out, *c == ':' ? '+' : strchr(plain, *c) ? *c : '-');
	}
}

static void piece_name(const struct grid *grid, const struct grid_piece *piece, struct buf *out)
{
	add_name(out, grid->arms[piece->arm].label);
	if (grid->nseeds > 1)
		buf_printf(out, "-seed%llu", (unsigned long long)grid->seeds[piece->seed]);
}

int grid_open(struct grid *grid, struct err *err)
{
	struct buf name = { 0 };
	int rc = run_dir_open(&grid->dir, DIR_COMPARE, grid->args->out, true, err);

	for (size_t i = 0; i < grid->npieces && !rc; i++) {
		if (grid_is_recorded(&grid->pieces[i]))
			continue;
		buf_clear(&name);
		piece_name(grid, &grid->pieces[i], &name);
		rc = run_dir_open_part(&grid->pieces[i].dir, &grid->dir, name.at, err);
	}
	buf_fini(&name);
	return rc;
}

int grid_keep(struct grid *grid, bool timings, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (!grid->dir.building)
		return 0;
	comparison_json(&grid->result, timings, &text);
	rc = run_dir_write(&grid->dir, COMPARE_FIGURES, &text, err);
	buf_fini(&text);
	return rc ? rc : run_dir_commit(&grid->dir, err);
}

/* ---- the whole */

static void init_result(struct grid *grid, const struct cluster *cluster)
{
	uint32_t n = grid->narms;
	struct contender *contenders = mem_alloc(mem_array_size(n, sizeof(*contenders)));

	for (uint32_t i = 0; i < n; i++) {
		const struct pairing *pair = grid->arms[i].pair;

		contenders[i] = (struct contender){ grid->arms[i].label,
			pair ? pair->policy->full : NULL, pair ? pair->placer->full : NULL };
	}
	comparison_init(&grid->result, cluster, contenders, n, grid->seeds, grid->nseeds);
	free(contenders);
}

static void init_pieces(struct grid *grid)
{
	uint32_t n = grid->narms;

	grid->npieces = (size_t)n * grid->nseeds;
	grid->pieces = mem_alloc(mem_array_size(grid->npieces, sizeof(*grid->pieces)));
	grid->queue = mem_alloc(mem_array_size(grid->npieces, sizeof(*grid->queue)));
	grid->works = mem_alloc(mem_array_size(grid->npieces, sizeof(*grid->works)));
	for (size_t i = 0; i < grid->npieces; i++) {
		pthread_mutex_init(&grid->works[i].lock, NULL);
		grid->pieces[i] = (struct grid_piece){
			.grid = grid,
			.seed = (uint32_t)(i / n),
			.arm = (uint32_t)(i % n),
		};
	}
}

void grid_init(struct grid *grid, const struct args *args, const struct arm *arms, uint32_t n,
	const struct cluster *cluster, enum vary vary)
{
	*grid = (struct grid){ .args = args, .narms = n, .vary = vary, .what = "comparing" };
	grid->nseeds = (uint32_t)args->seeds;
	pthread_mutex_init(&grid->bar_lock, NULL);
	grid->arms = mem_alloc(mem_array_size(n, sizeof(*arms)));
	memcpy(grid->arms, arms, mem_array_size(n, sizeof(*arms)));
	grid->failed = mem_alloc(mem_array_size(n, sizeof(*grid->failed)));
	grid->seeds = mem_alloc(mem_array_size(grid->nseeds, sizeof(*grid->seeds)));
	for (uint32_t k = 0; k < grid->nseeds; k++)
		grid->seeds[k] = (uint64_t)args->seed + k;
	init_result(grid, cluster);
	init_pieces(grid);
	grid->note = note_of(grid);
}

/* Seed by seed, those that are wanted. */
static void fill_queue(struct grid *grid, uint32_t first, uint32_t end)
{
	grid->nqueue = 0;
	grid->all_jobs = 0;
	atomic_store(&grid->ended, 0);
	for (size_t i = 0; i < grid->npieces; i++) {
		const struct grid_piece *piece = &grid->pieces[i];
		const struct arm *arm = &grid->arms[piece->arm];

		if (grid_is_recorded(piece) && piece->seed > 0)
			continue; /* the past has no seeds */
		if (arm->left_out || piece->seed < first || piece->seed >= end)
			continue;
		grid->queue[grid->nqueue++] = i;
		grid->all_jobs += arm->setup->base.trace.njobs;
		work_of(grid, piece->arm, piece->seed)->left++;
	}
}

static bool is_fatal(const struct grid *grid, const struct grid_piece *piece)
{
	return piece->rc && !grid->tolerant && !(grid->keeps_others && piece->rc == ERR_BROKEN);
}

/* The arm's first error, with its name and seed where it is the end of it all. */
static void note_failure(struct grid *grid, const struct grid_piece *piece)
{
	struct err *failed = &grid->failed[piece->arm];
	struct buf why = { 0 };

	if (grid->keeps_others) {
		if (grid->nseeds > 1)
			buf_printf(&why, "seed %llu: ", (unsigned long long)grid->seeds[piece->seed]);
		buf_str(&why, piece->err.text);
		comparison_fail(&grid->result, piece->arm, why.at);
		buf_fini(&why);
	}
	if (failed->code)
		return;
	*failed = piece->err;
	if (!grid->tolerant)
		err_prefix(failed, "%s, seed %llu", grid->arms[piece->arm].label,
			(unsigned long long)grid->seeds[piece->seed]);
}

static bool all_failed(const struct grid *grid)
{
	for (uint32_t i = 0; i < grid->narms; i++) {
		if (!grid->failed[i].code)
			return false;
	}
	return true;
}

/* Whoever failed takes no further part; what is fatal is told. */
static int settle(struct grid *grid, struct err *err)
{
	for (size_t i = 0; i < grid->nqueue; i++) {
		const struct grid_piece *piece = &grid->pieces[grid->queue[i]];

		if (!piece->rc)
			continue;
		note_failure(grid, piece);
		grid->arms[piece->arm].left_out = true;
	}
	for (size_t i = 0; i < grid->nqueue; i++) {
		const struct grid_piece *piece = &grid->pieces[grid->queue[i]];

		if (is_fatal(grid, piece)) {
			*err = piece->err;
			return err_prefix(err, "%s, seed %llu", grid->arms[piece->arm].label,
				(unsigned long long)grid->seeds[piece->seed]);
		}
	}
	if (grid->keeps_others && all_failed(grid)) {
		*err = grid->failed[0];
		return err->code;
	}
	return 0;
}

int grid_run(struct grid *grid, uint32_t first, uint32_t end, struct err *err)
{
	int rc = 0;

	fill_queue(grid, first, end);
	bar_begin(&grid->bar, grid->args, grid->what);
	if (grid->carry)
		rc = grid->carry(grid, err);
	else
		work_each(grid->nqueue, (int)grid->args->threads, run_next, grid);
	bar_end(&grid->bar);
	if (ui_interrupted())
		return err_set(err, ERR_REFUSED, "interrupted");
	return rc ? rc : settle(grid, err);
}

void grid_finish(struct grid *grid)
{
	comparison_finish(&grid->result);
}

const struct summary *grid_summary(const struct grid *grid, uint32_t arm, uint32_t seed)
{
	const struct compare_cell *cell = &grid->result.policies[arm].cells[seed];

	return cell->there ? &cell->summary : NULL;
}

int grid_verdict(const struct grid *grid, const char *hint, struct err *err)
{
	for (uint32_t i = 0; grid->keeps_others && i < grid->narms; i++) {
		if (grid->failed[i].code) {
			*err = grid->failed[i];
			return err->code;
		}
	}
	for (size_t i = 0; i < grid->npieces; i++) {
		const struct grid_piece *piece = &grid->pieces[i];
		const struct arm *arm = &grid->arms[piece->arm];
		const struct summary *summary = grid_summary(grid, piece->arm, piece->seed);
		int rc = summary ? run_verdict(arm->setup->args, summary, hint, err) : 0;

		if (rc)
			return err_prefix(err, "%s", arm->label);
	}
	return 0;
}

uint32_t grid_cut_short(const struct grid *grid)
{
	const struct comparison *c = &grid->result;
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->npolicies; i++) {
		for (uint32_t k = 0; k < c->nseeds; k++) {
			const struct compare_cell *cell = &c->policies[i].cells[k];

			if (cell->there && cell->summary.jobs_unfinished > most)
				most = cell->summary.jobs_unfinished;
		}
	}
	return most;
}

void grid_tell_beyond(const struct grid *grid)
{
	const struct grid_piece *first = NULL;
	uint32_t runs = 0;

	for (size_t i = 0; i < grid->npieces; i++) {
		if (!grid->pieces[i].beyond.jobs)
			continue;
		if (runs++ == 0)
			first = &grid->pieces[i];
	}
	if (first)
		run_tell_beyond(grid->args, &first->beyond, grid->arms[first->arm].label, runs);
}

void grid_fini(struct grid *grid)
{
	for (size_t i = 0; i < grid->npieces; i++) {
		run_dir_abandon(&grid->pieces[i].dir);
		workload_fini(&grid->works[i].own);
		pthread_mutex_destroy(&grid->works[i].lock);
	}
	run_dir_abandon(&grid->dir);
	comparison_fini(&grid->result);
	if (grid->args)
		pthread_mutex_destroy(&grid->bar_lock);
	names_fini(&grid->figures);
	free(grid->works);
	free(grid->pieces);
	free(grid->queue);
	free(grid->arms);
	free(grid->failed);
	free(grid->seeds);
	free(grid->note);
	*grid = (struct grid){ 0 };
}
