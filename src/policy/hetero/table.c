/*
 * Keeping the table of shares in line with the jobs.
 */
#include "policy/hetero/table.h"

#include <string.h>

const char *const compat_names[] = { "none", "gavel", NULL };

/* The stream of the published simulator that orders types. */
enum { TYPES_SEED = 5 };

struct share_table *table_create(const struct cluster *cluster, uint64_t seed)
{
	struct share_table *table = mem_alloc(sizeof(*table));

	table->types = cluster->ntypes;
	table->end_s = NAN;
	twister_init(&table->types_rng, seed + TYPES_SEED);
	return table;
}

void table_destroy(struct share_table *table)
{
	if (!table)
		return;
	share_log_fini(&table->log);
	vec_fini(&table->entries);
	vec_fini(&table->cells);
	vec_fini(&table->entry_of);
	vec_fini(&table->tasks);
	free(table);
}

static void fill_cells(struct share_table *table, const struct round *round, size_t entry, double time_s)
{
	const struct share_entry *e = &table->entries.at[entry];
	const struct job *a = &round->jobs[e->a];

	for (uint32_t type = 0; type < table->types; type++) {
		struct share_cell *cell = table_cell(table, entry, type);

		cell->time_s = time_s;
		if (e->b != JOB_NONE)
			program_pair_speed(round, a, &round->jobs[e->b], type, cell->speed);
		else if (a->types == 0 || a->types >> type & 1)
			cell->speed[0] = rate_if(round->belief, a, type, (uint32_t)a->gpus);
		if (!(cell->speed[0] > 0))
			cell->speed[0] = cell->speed[1] = 0;
	}
}

static void add_entry(struct share_table *table, const struct round *round, uint32_t a, uint32_t b,
	double time_s)
{
	vec_push(&table->entries,
		(struct share_entry){ .a = a, .b = b, .gang = (uint32_t)round->jobs[a].gpus });
	if (b == JOB_NONE)
		table->entry_of.at[a] = (uint32_t)table->entries.n;
	vec_grow_zero(&table->cells, table->entries.n * table->types);
	fill_cells(table, round, table->entries.n - 1, time_s);
}

/* Pairs with those that came before, in the order in which they came. */
static void add_pairs(struct share_table *table, const struct round *round, uint32_t job)
{
	size_t before = table->entries.n - 1;

	for (size_t i = 0; i < before; i++) {
		const struct share_entry *e = &table->entries.at[i];

		if (e->b == JOB_NONE && e->gang == (uint32_t)round->jobs[job].gpus)
			add_entry(table, round, e->a, job, 0);
	}
}

static bool gone(const struct round *round, uint32_t job)
{
	return job != JOB_NONE && !job_active(&round->jobs[job]);
}

static void move_entry(struct share_table *table, size_t from, size_t to)
{
	size_t stride = table->types;

	if (from == to)
		return;
	table->entries.at[to] = table->entries.at[from];
	if (table->entries.at[to].b == JOB_NONE)
		table->entry_of.at[table->entries.at[to].a] = (uint32_t)to + 1;
	memcpy(&table->cells.at[to * stride], &table->cells.at[from * stride],
		sizeof(struct share_cell) * stride);
}

bool table_forget(struct share_table *table, const struct round *round)
{
	size_t kept = 0, before = table->entries.n;

	for (size_t i = 0; i < before; i++) {
		const struct share_entry *e = &table->entries.at[i];

		if (!gone(round, e->a) && !gone(round, e->b))
			move_entry(table, i, kept++);
	}
	table->entries.n = kept;
	table->cells.n = kept * table->types;
	return kept < before;
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
		add_entry(table, round, job, JOB_NONE,
			turns->compat == COMPAT_GAVEL ? turns->round_s / 2 : 0);
		if (turns->pack)
			add_pairs(table, round, job);
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
	for (uint32_t type = 0; type < table->types; type++)
		table_cell(table, entry, type)->x = 0;
	for (uint32_t w = 0; x && w < p->types; w++)
		table_cell(table, entry, p->type[w])->x = x[w];
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
static void enter_named_pairs(struct share_table *table, const struct program *p,
	const struct shares *shares)
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
		add_entry(table, p->round, p->id[new[i].a], p->id[new[i].b], 0);
}

/* Pairs that were left out are forgotten. */
static void drop_idle_pairs(struct share_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->entries.n; i++) {
		if (table->entries.at[i].b == JOB_NONE || table->entries.at[i].known)
			move_entry(table, i, kept++);
	}
	table->entries.n = kept;
	table->cells.n = kept * table->types;
}

static void take_named_pairs(struct share_table *table, const struct program *p,
	const struct shares *shares)
{
	const struct share_entry **pairs;
	size_t n;

	for (size_t i = 0; i < table->entries.n; i++) {
		if (table->entries.at[i].b != JOB_NONE)
			table->entries.at[i].known = false;
	}
	enter_named_pairs(table, p, shares);
	pairs = sorted_pairs(table, p->round->scratch, &n);
	for (uint32_t i = 0; i < shares->pairs; i++) {
		const struct share_entry *e = find_pair(pairs, n, p, shares->pair[i]);

		take_row(table, p, (size_t)(e - table->entries.at),
			&shares->pair_x[(size_t)i * p->types]);
	}
	drop_idle_pairs(table);
}

void table_take_shares(struct share_table *table, const struct program *p, const struct shares *shares)
{
	const uint32_t *number = p->pairs > 0 ? number_pairs(p) : NULL;

	for (size_t i = 0; i < table->entries.n; i++) {
		const struct share_entry *e = &table->entries.at[i];
		int a = find_row(p, e->a), b = e->b == JOB_NONE ? -1 : find_row(p, e->b);
		const double *x = NULL;

		if (e->b == JOB_NONE && a >= 0)
			x = &shares->x[(size_t)a * p->types];
		else if (a >= 0 && b >= 0 && number && number[(size_t)a * p->jobs + b])
			x = &shares->pair_x[(number[(size_t)a * p->jobs + b] - 1) * (size_t)p->types];
		take_row(table, p, i, x);
	}
	if (shares->pair)
		take_named_pairs(table, p, shares);
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

int table_compute(struct share_table *table, const struct share_turns *turns, shares_fn *compute,
	void *self, const struct round *round, const struct plan *plan, struct err *err)
{
	struct program program;
	struct shares shares;

	program_init(&program, round, plan, turns->pack);
	shares_init(&shares, &program);
	if (table->log.allocs.n > 0)
		take_from_log(&table->log, &program, &shares);
	else if (program.jobs > 0 && compute(self, &program, &shares, err) < 0)
		return err->code;
	table_take_shares(table, &program, &shares);
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
	if (turns->compat == COMPAT_GAVEL)
		return published_decide(turns, compute, self, round, plan, err);
	return credits_decide(turns, compute, self, round, plan, err);
}

int share_turns_show(const struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, const struct plan *plan, struct program *program,
	struct shares *shares, struct err *err)
{
	program_init(program, round, plan, turns->pack);
	shares_init(shares, program);
	return program->jobs > 0 ? compute(self, program, shares, err) : 0;
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
