/*
 * Keeping the table of shares in line with the jobs.
 */
#include "policy/hetero/table.h"

#include <assert.h>
#include <string.h>

const char *const compat_names[] = { "none", "gavel", "shockwave", NULL };

/* The stream of the published simulator that orders types. */
enum { TYPES_SEED = 5 };

struct share_table *table_create(const struct cluster *cluster, uint64_t seed)
{
	struct share_table *table = mem_alloc(sizeof(*table));

	table->types = cluster->ntypes;
	table->end_s = NAN;
	table->expect.memory_s = 86400;
	twister_init(&table->types_rng, seed + TYPES_SEED);
	return table;
}

void table_destroy(struct share_table *table)
{
	if (!table)
		return;
	share_log_fini(&table->log);
	expect_fini(&table->expect);
	vec_fini(&table->entries);
	vec_fini(&table->cells);
	vec_fini(&table->entry_of);
	vec_fini(&table->tasks);
	vec_fini(&table->configs.list);
	free(table);
}

static void add_cell(struct share_table *table, const struct config *config, double time_s)
{
	struct share_cell cell = { .time_s = time_s, .speed = { config->speed } };

	memcpy(cell.part, config->part, sizeof(cell.part));
	vec_push(&table->cells, cell);
}

static void set_pair_speed(struct share_cell *cell, const struct round *round,
	const struct share_entry *e)
{
	program_pair_speed(round, &round->jobs[e->a], &round->jobs[e->b], cell->part[0].type,
		cell->speed);
	if (!(cell->speed[0] > 0))
		cell->speed[0] = cell->speed[1] = 0;
}

/* Of two jobs at once, the devices that the first asks for. */
static void add_pair_cells(struct share_table *table, const struct round *round,
	const struct share_entry *e, double time_s)
{
	for (uint32_t type = 0; type < table->types; type++) {
		uint32_t gpus = job_gpus_on(&round->jobs[e->a], type);

		add_cell(table, &(struct config){ .part = { { type, gpus } } }, time_s);
		set_pair_speed(&table->cells.at[table->cells.n - 1], round, e);
	}
}

static void add_entry(struct share_table *table, const struct share_turns *turns,
	const struct round *round, uint32_t a, uint32_t b, double time_s)
{
	struct share_entry e = {
		.a = a,
		.b = b,
		.gang = (uint32_t)round->jobs[a].gpus,
		.columns = table->types,
		.first = table->cells.n,
	};

	if (b == JOB_NONE) {
		table->configs.list.n = 0;
		configs_add(&table->configs, round, &round->jobs[a], &turns->configs);
		e.columns = (uint32_t)table->configs.list.n;
		for (uint32_t i = 0; i < e.columns; i++)
			add_cell(table, &table->configs.list.at[i], time_s);
		table->entry_of.at[a] = (uint32_t)table->entries.n + 1;
	} else {
		add_pair_cells(table, round, &e, time_s);
	}
	vec_push(&table->entries, e);
}

static void refresh_single(struct share_table *table, const struct share_turns *turns,
	const struct round *round, size_t entry)
{
	const struct share_entry *e = &table->entries.at[entry];

	table->configs.list.n = 0;
	configs_add(&table->configs, round, &round->jobs[e->a], &turns->configs);
	assert(table->configs.list.n == e->columns);
	for (uint32_t i = 0; i < e->columns; i++)
		table_cell(table, entry, i)->speed[0] = table->configs.list.at[i].speed;
}

void table_refresh(struct share_table *table, const struct share_turns *turns, const struct round *round)
{
	for (size_t i = 0; i < table->entries.n; i++) {
		const struct share_entry *e = &table->entries.at[i];

		if (e->b == JOB_NONE)
			refresh_single(table, turns, round, i);
		for (uint32_t type = 0; e->b != JOB_NONE && type < table->types; type++)
			set_pair_speed(table_cell(table, i, type), round, e);
	}
	table->version = rates_version(round->belief);
}

/* Pairs with those that came before, in the order in which they came. */
static void add_pairs(struct share_table *table, const struct share_turns *turns,
	const struct round *round, uint32_t job)
{
	size_t before = table->entries.n - 1;

	for (size_t i = 0; i < before; i++) {
		const struct share_entry *e = &table->entries.at[i];

		if (e->b == JOB_NONE && e->gang == (uint32_t)round->jobs[job].gpus)
			add_entry(table, turns, round, e->a < job ? e->a : job,
				e->a < job ? job : e->a, 0); /* admission may let in a lower number later */
	}
}

static bool gone(const struct round *round, uint32_t job)
{
	return job != JOB_NONE && !job_active(&round->jobs[job]);
}

/* Entries up to `from` are moved together: `kept` of them, with `cells`. */
struct kept {
	size_t entries, cells;
};

static void keep_entry(struct share_table *table, size_t from, struct kept *kept)
{
	size_t to = kept->entries++;
	struct share_entry *e = &table->entries.at[to];

	if (from != to) {
		*e = table->entries.at[from];
		if (e->b == JOB_NONE)
			table->entry_of.at[e->a] = (uint32_t)to + 1;
		memmove(&table->cells.at[kept->cells], &table->cells.at[e->first],
			sizeof(struct share_cell) * e->columns);
		e->first = kept->cells;
	}
	kept->cells += e->columns;
}

static void drop_others(struct share_table *table, const struct kept *kept)
{
	table->entries.n = kept->entries;
	table->cells.n = kept->cells;
}

bool table_forget(struct share_table *table, const struct round *round)
{
	size_t before = table->entries.n;
	struct kept kept = { 0 };

	for (size_t i = 0; i < before; i++) {
		const struct share_entry *e = &table->entries.at[i];

		if (!gone(round, e->a) && !gone(round, e->b))
			keep_entry(table, i, &kept);
	}
	drop_others(table, &kept);
	return kept.entries < before;
}

/* Jobs that admission let in late have numbers below those already seen. */
static bool has_entry(const struct share_table *table, uint32_t job)
{
	return job < table->entry_of.n && table->entry_of.at[job];
}

bool table_welcome(struct share_table *table, const struct share_turns *turns, const struct round *round)
{
	bool any = false;

	for (uint32_t i = 0; i < round->nchanged; i++) {
		uint32_t job = round->changed[i];

		if (!job_active(&round->jobs[job]) || has_entry(table, job))
			continue;
		vec_grow_zero(&table->entry_of, (size_t)job + 1);
		add_entry(table, turns, round, job, JOB_NONE,
			turns->compat != TURNS_OWN ? turns->round_s / 2 : 0);
		if (turns->pack)
			add_pairs(table, turns, round, job);
		any = true;
	}
	return any;
}

static int find_row(const struct program *p, uint32_t job)
{
	uint32_t low = 0, high = p->jobs;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (p->id[middle] < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->jobs && p->id[low] == job ? (int)low : -1;
}

/* By pair of rows: 1 + its number. */
static uint32_t *number_pairs(const struct program *p)
{
	uint32_t *number = arena_array(p->round->scratch, uint32_t, (size_t)p->jobs * p->jobs);

	for (uint32_t i = 0; i < p->pairs; i++)
		number[(size_t)p->pair[i].a * p->jobs + p->pair[i].b] = i + 1;
	return number;
}

static void take_row(struct share_table *table, const struct program *p, size_t entry, const double *x)
{
	for (uint32_t column = 0; column < table->entries.at[entry].columns; column++)
		table_cell(table, entry, column)->x = 0;
	for (uint32_t w = 0; x && w < p->types; w++)
		table_cell(table, entry, p->type[w])->x = x[w];
	table->entries.at[entry].known = true;
}

/* By configuration: those of the program are those of the table, in the same order. */
static void take_configs(struct share_table *table, const struct program *p, size_t entry,
	const double *config_x, uint32_t row)
{
	uint32_t n = p->config_start[row + 1] - p->config_start[row];

	assert(n == table->entries.at[entry].columns);
	for (uint32_t column = 0; column < n; column++)
		table_cell(table, entry, column)->x = config_x[p->config_start[row] + column];
	table->entries.at[entry].known = true;
}

/* ---- pairs that the answer names, instead of all there are */

static int by_jobs(const void *a, const void *b)
{
	const struct share_entry *x = *(const struct share_entry *const *)a;
	const struct share_entry *y = *(const struct share_entry *const *)b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* The pairs of the table, sorted; `n` of them. */
static const struct share_entry **sorted_pairs(const struct share_table *table, struct arena *arena,
	size_t *n)
{
	const struct share_entry **pairs = arena_array(arena, const struct share_entry *,
		table->entries.n);

	*n = 0;
	for (size_t i = 0; i < table->entries.n; i++) {
		if (table->entries.at[i].b != JOB_NONE)
			pairs[(*n)++] = &table->entries.at[i];
	}
	if (*n > 0)
		qsort(pairs, *n, sizeof(*pairs), by_jobs);
	return pairs;
}

/* Where a pair of rows stands among them; NULL: nowhere. */
static const struct share_entry *find_pair(const struct share_entry **pairs, size_t n,
	const struct program *p, struct program_pair rows)
{
	const struct share_entry key = { .a = p->id[rows.a], .b = p->id[rows.b] }, *at = &key;
	const struct share_entry **found = n > 0 ? bsearch(&at, pairs, n, sizeof(*pairs), by_jobs)
						 : NULL;

	return found ? *found : NULL;
}

/* Enters those that are new; what a pair is owed lasts as long as it is named. */
static void enter_named_pairs(struct share_table *table, const struct share_turns *turns,
	const struct program *p, const struct shares *shares)
{
	struct arena *arena = p->round->scratch;
	size_t had, n = 0;
	const struct share_entry **pairs = sorted_pairs(table, arena, &had);
	struct program_pair *new = arena_array(arena, struct program_pair, shares->pairs);

	for (uint32_t i = 0; i < shares->pairs; i++) {
		if (!find_pair(pairs, had, p, shares->pair[i]))
			new[n++] = shares->pair[i];
	}
	for (size_t i = 0; i < n; i++)
		add_entry(table, turns, p->round, p->id[new[i].a], p->id[new[i].b], 0);
}

/* Pairs that were left out are forgotten. */
static void drop_idle_pairs(struct share_table *table)
{
	struct kept kept = { 0 };

	for (size_t i = 0; i < table->entries.n; i++) {
		if (table->entries.at[i].b == JOB_NONE || table->entries.at[i].known)
			keep_entry(table, i, &kept);
	}
	drop_others(table, &kept);
}

static void take_named_pairs(struct share_table *table, const struct share_turns *turns,
	const struct program *p, const struct shares *shares)
{
	const struct share_entry **pairs;
	size_t n;

	for (size_t i = 0; i < table->entries.n; i++) {
		if (table->entries.at[i].b != JOB_NONE)
			table->entries.at[i].known = false;
	}
	enter_named_pairs(table, turns, p, shares);
	pairs = sorted_pairs(table, p->round->scratch, &n);
	for (uint32_t i = 0; i < shares->pairs; i++) {
		const struct share_entry *e = find_pair(pairs, n, p, shares->pair[i]);

		take_row(table, p, (size_t)(e - table->entries.at),
			&shares->pair_x[(size_t)i * p->types]);
	}
	drop_idle_pairs(table);
}

void table_take_shares(struct share_table *table, const struct share_turns *turns,
	const struct program *p, const struct shares *shares)
{
	const uint32_t *number = p->pairs > 0 ? number_pairs(p) : NULL;

	for (size_t i = 0; i < table->entries.n; i++) {
		const struct share_entry *e = &table->entries.at[i];
		int a = find_row(p, e->a), b = e->b == JOB_NONE ? -1 : find_row(p, e->b);
		const double *x = NULL;

		if (e->b == JOB_NONE && a >= 0 && shares->config_x) {
			take_configs(table, p, i, shares->config_x, (uint32_t)a);
			continue;
		}
		if (e->b == JOB_NONE && a >= 0)
			x = &shares->x[(size_t)a * p->types];
		else if (a >= 0 && b >= 0 && number && number[(size_t)a * p->jobs + b])
			x = &shares->pair_x[(number[(size_t)a * p->jobs + b] - 1) * (size_t)p->types];
		take_row(table, p, i, x);
	}
	if (shares->pair)
		take_named_pairs(table, turns, p, shares);
}

/* A job that the log does not speak of has no share. */
static void take_from_log(const struct share_log *log, const struct program *p, struct shares *shares)
{
	const struct share_alloc *alloc = share_log_at(log, p->round->now_s);

	for (uint32_t i = 0; alloc && i < p->jobs + p->pairs; i++) {
		const struct program_pair *pair = i < p->jobs ? NULL : &p->pair[i - p->jobs];
		const struct share_row *row = share_log_row(log, alloc, p->id[pair ? pair->a : i],
			pair ? p->id[pair->b] : JOB_NONE);
		double *x = pair ? &shares->pair_x[(i - p->jobs) * (size_t)p->types]
				 : &shares->x[i * (size_t)p->types];

		for (uint32_t w = 0; row && w < p->types; w++)
			x[w] = row->x[p->type[w]];
	}
}

/* Everybody there must have a row: a log of another trace, or one that ends early, is no help. */
static int check_log(const struct share_log *log, const struct program *p, struct err *err)
{
	const struct share_alloc *alloc = share_log_at(log, p->round->now_s);

	for (uint32_t i = 0; i < p->jobs; i++) {
		if (!alloc || !share_log_row(log, alloc, p->id[i], JOB_NONE))
			return err_set(err, ERR_FORMAT,
				"the log has no shares of job %s at %g s: it is of another trace or cluster, "
				"or ends too early",
				p->round->jobs[p->id[i]].label, p->round->now_s);
	}
	return 0;
}

/* Shares for the jobs there are: from the log, or computed with room for those expected. */
static int find_shares(const struct share_turns *turns, shares_fn *compute, void *self,
	const struct program *p, struct shares *shares, struct err *err)
{
	const struct share_table *table = turns->table;
	struct program longer = *p;

	if (table && table->log.allocs.n > 0) {
		shares_init(shares, p);
		take_from_log(&table->log, p, shares);
		return check_log(&table->log, p, err);
	}
	if (turns->expect_s > 0 && table)
		expect_extend(&table->expect, p, turns->expect_s, &longer);
	shares_init(shares, &longer);
	return p->jobs > 0 ? compute(self, &longer, shares, err) : 0;
}

int table_compute(struct share_table *table, const struct share_turns *turns, shares_fn *compute,
	void *self, const struct round *round, const struct plan *plan, struct err *err)
{
	struct program program;
	struct shares shares;

	program_init_configs(&program, round, plan, turns->pack, &turns->configs);
	if (find_shares(turns, compute, self, &program, &shares, err) < 0)
		return err->code;
	table_take_shares(table, turns, &program, &shares);
	table->stale = false;
	table->solves++;
	return 0;
}

int share_turns_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err)
{
	if (!turns->table) {
		turns->table = table_create(round->cluster, round->seed);
		if (turns->replay[0] &&
			share_log_read(turns->replay, round->cluster, &turns->table->log, err) < 0)
			return err->code;
	}
	if (turns->expect_s > 0)
		expect_see(&turns->table->expect, round);
	if (turns->compat != TURNS_OWN)
		return published_decide(turns, compute, self, round, plan, err);
	return credits_decide(turns, compute, self, round, plan, err);
}

int share_turns_show(const struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, const struct plan *plan, struct program *program,
	struct shares *shares, struct err *err)
{
	program_init_configs(program, round, plan, turns->pack, &turns->configs);
	return find_shares(turns, compute, self, program, shares, err);
}

uint32_t share_turns_figures(const struct share_turns *turns, struct figure out[FIGURES_MAX])
{
	const struct share_table *table = turns->table;

	if (!table)
		return 0;
	out[0] = (struct figure){ "share_computations", (double)table->solves };
	if (table->might_keep == 0)
		return 1;
	out[1] = (struct figure){ "leases_kept", (double)table->kept / (double)table->might_keep };
	return 2;
}

void share_turns_fini(struct share_turns *turns)
{
	table_destroy(turns->table);
	turns->table = NULL;
}

enum compat share_turns_compat(const struct share_turns *turns)
{
	static const enum compat compat[] = {
		[TURNS_OWN] = COMPAT_NONE,
		[TURNS_GAVEL] = COMPAT_GAVEL,
		[TURNS_SHOCKWAVE] = COMPAT_SHOCKWAVE,
	};

	return compat[turns->compat];
}
