/*
 * Synergy's upper bound: what each job should have as if the cluster were one
 * server (an integer program), and then where (a linear program).
 */
#include <math.h>
#include <stdlib.h>

#include "policy/share/synergy.h"
#include "solver/lp.h"

enum {
	EXACT_JOBS = 40, /* with a choice; beyond this the program knows no whole numbers, and is rounded */
	PROGRAM_JOBS = 1000, /* beyond this tuning takes its place: a decision is made within 50 ms */
	SPREAD_CELLS = 4096 /* jobs times nodes; beyond this jobs are placed one by one */
};

static const double near = 1e-6;

/* One way to feed a job, and its column. */
struct cell {
	struct host_share share;
	double speed;
	uint32_t column;
};

struct menu {
	struct need *need;
	struct cell *cells;
	uint32_t n;
};

/* Whether no cell with less of what is counted is as fast. */
static bool gains(const struct host_table *t, struct host_share fair, uint32_t c, uint32_t m)
{
	bool by_cpus = fair.cpus > 0, by_memory = fair.mem_bytes > 0;

	/* Of what is not counted there is enough. */
	if ((!by_cpus && c + 1 < t->ncpus) || (!by_memory && m + 1 < t->nmems))
		return false;
	return (!by_cpus || c == 0 || t->speed[c - 1][m] < t->speed[c][m]) &&
		(!by_memory || m == 0 || t->speed[c][m - 1] < t->speed[c][m]);
}

/* Only cells that are worth it, within one server, and no slower than the proportional part, which is the first. */
static void list_cells(const struct sharing *s, struct menu *menu)
{
	const struct need *need = menu->need;
	const struct host_table *t = need->rigid ? NULL : need->table;
	struct host_share fair = s->fair[need->type], most = need->most;
	struct host_share first = need_fallback(need, fair);
	double least = need_speed(need, fair) * (1 - 1e-12);

	menu->cells = arena_array(s->round->scratch, struct cell,
		t ? (size_t)t->ncpus * t->nmems + 1 : 1);
	menu->cells[menu->n++] = (struct cell){ first, need_speed(need, first), 0 };
	for (uint32_t c = 0; t && c < t->ncpus; c++) {
		for (uint32_t m = 0; m < t->nmems; m++) {
			struct cell one = { { fair.cpus > 0 ? t->cpus[c] : 0,
						    fair.mem_bytes > 0 ? t->mem_bytes[m] : 0 },
				t->speed[c][m], 0 };

			if (gains(t, fair, c, m) && one.speed >= least &&
				one.share.cpus <= most.cpus && one.share.mem_bytes <= most.mem_bytes)
				menu->cells[menu->n++] = one;
		}
	}
}

/* Rows of the sums of CPUs and memory of each type. */
struct sums {
	uint32_t cpus[TYPES_MAX], memory[TYPES_MAX];
};

static const double GB = 1024.0 * 1024 * 1024; /* numbers of one size please the solver */

static void add_sums(const struct sharing *s, struct lp *lp, struct sums *out)
{
	const struct cluster *cluster = s->round->cluster;
	double cpus[TYPES_MAX] = { 0 }, memory[TYPES_MAX] = { 0 };

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (!s->plan->space.nodes[i].up)
			continue;
		cpus[cluster->nodes[i].type] += cluster->nodes[i].cpus;
		memory[cluster->nodes[i].type] += (double)cluster->nodes[i].mem_bytes / GB;
	}
	for (uint32_t t = 0; t < cluster->ntypes; t++) {
		out->cpus[t] = lp_add_row(lp, -INFINITY, cpus[t] > 0 ? cpus[t] : INFINITY);
		out->memory[t] = lp_add_row(lp, -INFINITY, memory[t] > 0 ? memory[t] : INFINITY);
	}
}

static void add_menu(struct lp *lp, const struct sums *sums, struct menu *menu, bool whole)
{
	const struct need *need = menu->need;
	uint32_t row = lp_add_row(lp, 1, 1);

	for (uint32_t i = 0; i < menu->n; i++) {
		struct cell *cell = &menu->cells[i];

		cell->column = lp_add_column(lp, cell->speed, 0, 1, whole);
		lp_set(lp, row, cell->column, 1);
		if (cell->share.cpus > 0)
			lp_set(lp, sums->cpus[need->type], cell->column, cell->share.cpus * need->gpus);
		if (cell->share.mem_bytes > 0)
			lp_set(lp, sums->memory[need->type], cell->column,
				cell->share.mem_bytes * need->gpus / GB);
	}
}

/* The cell it is given; where that is several in part, the one with the greatest part. */
static const struct cell *chosen(const struct lp *lp, const struct menu *menu)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < menu->n; i++) {
		if (lp_value(lp, menu->cells[i].column) > lp_value(lp, menu->cells[best].column) + near)
			best = i;
	}
	/* In parts: at most two jobs for each type, which have their proportional part. */
	return lp_value(lp, menu->cells[best].column) >= 1 - near ? &menu->cells[best]
								  : &menu->cells[0];
}

bool sharing_optimise(struct sharing *s)
{
	struct menu *menus = arena_array(s->round->scratch, struct menu, s->n + 1);
	struct lp *lp = lp_create();
	struct sums sums;
	uint32_t open = 0;
	bool solved;

	lp_maximise(lp, true);
	add_sums(s, lp, &sums);
	for (uint32_t i = 0; i < s->n; i++) {
		menus[i].need = &s->needs[i];
		list_cells(s, &menus[i]);
		open += menus[i].n > 1;
	}
	for (uint32_t i = 0; open <= PROGRAM_JOBS && i < s->n; i++)
		add_menu(lp, &sums, &menus[i], open <= EXACT_JOBS);
	solved = s->n > 0 && open <= PROGRAM_JOBS &&
		lp_solve(lp, (struct lp_limits){ .gap = near }) == LP_OPTIMAL;
	for (uint32_t i = 0; solved && i < s->n; i++)
		s->needs[i].best = chosen(lp, &menus[i])->share;
	lp_destroy(lp);
	return solved;
}

/* ---- where */

static void add_node(const struct sharing *s, struct lp *lp, uint32_t node, const uint32_t *first,
	uint32_t position)
{
	const struct node *facts = &s->round->cluster->nodes[node];
	const struct space_node *n = &s->plan->space.nodes[node];
	uint32_t gpus = lp_add_row(lp, -INFINITY, n->nfree);
	uint32_t cpus = lp_add_row(lp, -INFINITY, facts->cpus > 0 ? n->cpus : INFINITY);
	uint32_t memory = lp_add_row(lp, -INFINITY,
		facts->mem_bytes > 0 ? (double)n->mem_bytes / GB : INFINITY);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct need *need = &s->needs[i];
		uint32_t column = first[i] + position;

		if (need->type != facts->type)
			continue;
		lp_set(lp, gpus, column, need->gpus);
		if (need->best.cpus > 0)
			lp_set(lp, cpus, column, need->best.cpus * need->gpus);
		if (need->best.mem_bytes > 0)
			lp_set(lp, memory, column, need->best.mem_bytes * need->gpus / GB);
	}
}

/* Nodes are filled from the first on, so that as many as can be stay whole. */
static void add_jobs(const struct sharing *s, struct lp *lp, uint32_t *first)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct space_type *type = &s->plan->space.types[s->needs[i].type];
		uint32_t row = lp_add_row(lp, 1, 1);

		for (uint32_t p = 0; p < type->nnodes; p++) {
			bool up = s->plan->space.nodes[type->nodes[p]].up;
			uint32_t column = lp_add_column(lp, p * s->needs[i].gpus, 0, up ? 1 : 0, false);

			lp_set(lp, row, column, 1);
			first[i] = p == 0 ? column : first[i];
		}
	}
}

void sharing_spread(struct sharing *s)
{
	const struct space *space = &s->plan->space;
	uint32_t *first = arena_array(s->round->scratch, uint32_t, s->n + 1);
	struct lp *lp;

	if (s->n == 0 || (uint64_t)s->n * s->round->cluster->nnodes > SPREAD_CELLS)
		return;
	lp = lp_create();
	add_jobs(s, lp, first);
	for (uint32_t node = 0; node < s->round->cluster->nnodes; node++)
		add_node(s, lp, node, first, space->position[node]);
	if (lp_solve(lp, (struct lp_limits){ 0 }) == LP_OPTIMAL) {
		for (uint32_t i = 0; i < s->n; i++) {
			const struct space_type *type = &space->types[s->needs[i].type];

			for (uint32_t p = 0; p < type->nnodes; p++) {
				if (lp_value(lp, first[i] + p) >= 1 - near)
					sharing_put_on(s, &s->needs[i], type->nodes[p]);
			}
		}
	}
	lp_destroy(lp);
}
