/*
 * Turns by credit: Stint's own way to realise shares.
 *
 * An entry earns its share of every second that passes on a type and pays for
 * the seconds it runs there.  At multiples of round_s whoever is owed most
 * runs, so that over time each has what it was promised, whatever came and
 * went in between.  Devices that nobody is owed are filled, and so is what
 * comes free between two rounds: a device is idle only if no job that waits
 * can use it.  Nobody is stopped between rounds.
 *
 * Where jobs may have other devices than they ask for, all this is by
 * configuration instead of by type, and devices that would be idle go to jobs
 * that run faster with them.
 */
#include <math.h>

#include "policy/hetero/round_length.h"
#include "policy/hetero/table.h"

/* Credit and debt beyond so many rounds are forgotten. */
#define MEMORY_ROUNDS 16

/* A job keeps the configuration it runs in while it is owed that within so many rounds of another. */
#define STAY_ROUNDS 2

/* Less is what a solver leaves where it means nothing. */
#define SHARE_MIN 1e-6

/* ---- accounts */

static double within(double x, double limit)
{
	return x > limit ? limit : x < -limit ? -limit : x;
}

static void earn(struct share_turns *turns, double seconds)
{
	struct share_table *t = turns->table;
	double limit_s = MEMORY_ROUNDS * turns->round_s;

	for (size_t i = 0; i < t->tasks.n; i++)
		table_cell(t, t->tasks.at[i].entry, t->tasks.at[i].type)->deficit_s -= seconds;
	for (size_t i = 0; i < t->cells.n; i++) {
		struct share_cell *cell = &t->cells.at[i];

		cell->deficit_s = within(cell->deficit_s + cell->x * seconds, limit_s);
	}
}

static void bring_up_to_date(struct share_turns *turns, double now_s)
{
	if (now_s > turns->table->charged_s)
		earn(turns, now_s - turns->table->charged_s);
	turns->table->charged_s = now_s;
}

/* ---- the choice */

struct candidate {
	double owed_s; /* at the end of the coming round if it does not run */
	double x;
	uint32_t entry;
	uint32_t column;
	bool runs; /* there already */
};

static int by_debt(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->owed_s != y->owed_s)
		return x->owed_s > y->owed_s ? -1 : 1;
	if (x->runs != y->runs)
		return x->runs ? -1 : 1;
	if (x->x != y->x)
		return x->x > y->x ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static bool same_part(struct grant_part a, struct grant_part b)
{
	return a.type == b.type && a.gpus == b.gpus;
}

/* Whether a grant is the devices of a cell. */
static bool is_config(const struct plan *plan, const struct grant *grant,
	const struct grant_part part[2])
{
	struct grant_part has[TYPES_MAX];

	if (grant->mixed != config_mixed(part))
		return false;
	if (!grant->mixed)
		return same_part(part[0], (struct grant_part){ grant->type, grant->gpus });
	if (grant_parts(grant, plan->space.cluster, has) != 2)
		return false;
	return (same_part(has[0], part[0]) && same_part(has[1], part[1])) ||
		(same_part(has[0], part[1]) && same_part(has[1], part[0]));
}

static void note(void *ctx, uint32_t other)
{
	(void)other;
	*(bool *)ctx = true;
}

static bool is_shared(const struct plan *plan, uint32_t job, const struct grant *grant)
{
	bool shared = false;

	if (plan->space.overlaps > 0)
		space_each_beside(&plan->space, job, grant->slots[0], note, &shared);
	return shared;
}

/* What an entry has, a job for itself, both jobs of a pair the same; NULL: it does not run. */
static const struct grant *grant_of(const struct plan *plan, const struct share_entry *e)
{
	const struct grant *a = plan_grant(plan, e->a), *b;

	if (!a)
		return NULL;
	if (e->b == JOB_NONE)
		return is_shared(plan, e->a, a) ? NULL : a;
	b = plan_grant(plan, e->b);
	return b && grant_same_devices(a, b) ? a : NULL;
}

static bool runs_in(const struct share_table *t, const struct plan *plan, size_t entry, uint32_t column)
{
	const struct grant *grant = grant_of(plan, &t->entries.at[entry]);

	return grant && is_config(plan, grant, table_cell(t, entry, column)->part);
}

/* Where an entry runs; -1: it does not, or as it never could. */
static int column_of(const struct share_table *t, const struct plan *plan, size_t entry)
{
	const struct grant *grant = grant_of(plan, &t->entries.at[entry]);

	for (uint32_t i = 0; grant && i < t->entries.at[entry].columns; i++) {
		if (is_config(plan, grant, table_cell(t, entry, i)->part))
			return (int)i;
	}
	return -1;
}

/* Another configuration is a resize and costs time: where it runs counts as much as where it is owed most. */
static void prefer_present(struct candidate *own, uint32_t n, double slack_s)
{
	struct candidate *present = NULL;
	double most_s = 0;

	for (uint32_t i = 0; i < n; i++) {
		most_s = fmax(most_s, own[i].owed_s);
		if (own[i].runs)
			present = &own[i];
	}
	if (present && present->owed_s + slack_s >= most_s)
		present->owed_s = most_s;
}

static void list_cells(struct share_turns *turns, const struct plan *plan, uint32_t entry,
	struct candidate *list, uint32_t *n)
{
	struct share_table *t = turns->table;
	uint32_t from = *n, columns = t->entries.at[entry].columns;

	for (uint32_t column = 0; column < columns; column++) {
		const struct share_cell *cell = table_cell(t, entry, column);
		double owed_s = cell->deficit_s + cell->x * turns->round_s;

		if (cell->speed[0] > 0 && cell->x > 0 && owed_s > 0)
			list[(*n)++] = (struct candidate){ owed_s, cell->x, entry, column,
				runs_in(t, plan, entry, column) };
	}
	if (columns > t->types)
		prefer_present(&list[from], *n - from, STAY_ROUNDS * turns->round_s);
}

static struct candidate *list_owed(struct share_turns *turns, const struct round *round,
	const struct plan *plan, uint32_t *n)
{
	struct share_table *t = turns->table;
	struct candidate *list = arena_array(round->scratch, struct candidate, t->cells.n);

	*n = 0;
	for (size_t i = 0; i < t->entries.n; i++)
		list_cells(turns, plan, (uint32_t)i, list, n);
	qsort(list, *n, sizeof(*list), by_debt);
	return list;
}

/* What is still to be had while choosing. */
struct choice {
	uint32_t room[TYPES_MAX];
	const struct share_table *table;
	bool *taken; /* by entry of a job alone */
	struct share_task *picks;
	uint32_t n;
};

static bool has_room(const struct choice *c, const struct share_cell *cell)
{
	const struct grant_part *part = cell->part;

	return part[0].gpus <= c->room[part[0].type] &&
		(!config_mixed(part) || part[1].gpus <= c->room[part[1].type]);
}

static void occupy(struct choice *c, const struct grant_part part[2])
{
	c->room[part[0].type] -= part[0].gpus;
	if (config_mixed(part))
		c->room[part[1].type] -= part[1].gpus;
}

static void vacate(struct choice *c, const struct grant_part part[2])
{
	c->room[part[0].type] += part[0].gpus;
	if (config_mixed(part))
		c->room[part[1].type] += part[1].gpus;
}

static void take(struct choice *c, uint32_t entry, uint32_t column)
{
	const struct share_entry *e = &c->table->entries.at[entry];

	table_mark(c->table, c->taken, e);
	occupy(c, table_cell(c->table, entry, column)->part);
	c->picks[c->n++] = (struct share_task){ .entry = entry, .a = e->a, .b = e->b, .type = column };
}

static void choose_owed(struct share_turns *turns, const struct round *round,
	const struct plan *plan, struct choice *c)
{
	uint32_t n;
	const struct candidate *list = list_owed(turns, round, plan, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct share_entry *e = &turns->table->entries.at[list[i].entry];

		if (has_room(c, table_cell(turns->table, list[i].entry, list[i].column)) &&
			!table_marked(c->table, c->taken, e))
			take(c, list[i].entry, list[i].column);
	}
}

/* ---- who must not be disturbed yet */

/* Stopping a job sooner than so many times what it costs to resume it is a waste; so is resizing it. */
#define STAY_COSTS 10

static bool settled(const struct job *job, double now_s, bool resizes)
{
	double cost_s = resizes ? fmax(job->resume_cost_s, job->resize_cost_s) : job->resume_cost_s;

	return now_s - fmax(job->held_s, job->ready_s) >= STAY_COSTS * cost_s;
}

/* Whoever has only just begun keeps its devices, or costs would eat what it is given. */
static void choose_newly_begun(const struct share_turns *turns, const struct round *round,
	struct choice *c)
{
	const struct share_table *t = turns->table;

	for (size_t i = 0; i < t->tasks.n; i++) {
		const struct share_task *task = &t->tasks.at[i];
		bool resizes = t->entries.at[task->entry].columns > t->types;

		if (!settled(&round->jobs[task->a], round->now_s, resizes) ||
			(task->b != JOB_NONE && !settled(&round->jobs[task->b], round->now_s, resizes)))
			take(c, task->entry, task->type);
	}
}

/* ---- what is left over */

/* The devices there is room for where the job goes fastest; -1: none. */
static int best_column(const struct share_table *t, size_t entry, const struct choice *c)
{
	double most = 0;
	int best = -1;

	for (uint32_t column = 0; column < t->entries.at[entry].columns; column++) {
		const struct share_cell *cell = table_cell(t, entry, column);

		if (cell->speed[0] > most && has_room(c, cell)) {
			most = cell->speed[0];
			best = (int)column;
		}
	}
	return best;
}

/* Jobs that nothing was chosen for, those with least time left first: the sooner one ends, the more is free. */
static struct candidate *list_left_over(const struct share_table *t, const struct round *round,
	const struct choice *c, uint32_t *n)
{
	struct candidate *list = arena_array(round->scratch, struct candidate, t->entries.n);

	*n = 0;
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !c->taken[i])
			list[(*n)++] = (struct candidate){
				.owed_s = -job_remaining_s(&round->jobs[e->a], round->now_s),
				.entry = (uint32_t)i,
				.runs = round->jobs[e->a].grant != NULL,
			};
	}
	qsort(list, *n, sizeof(*list), by_debt);
	return list;
}

static void fill(const struct share_turns *turns, const struct round *round, struct choice *c)
{
	const struct share_table *t = turns->table;
	uint32_t n;
	const struct candidate *list = list_left_over(t, round, c, &n);

	for (uint32_t i = 0; i < n; i++) {
		int column = best_column(t, list[i].entry, c);

		if (column >= 0)
			take(c, list[i].entry, (uint32_t)column);
	}
}

/* What nobody can use makes those faster that may have other devices; the first `begun` picks stay as they are. */
static void grow(struct choice *c, uint32_t begun)
{
	const struct share_table *t = c->table;

	for (uint32_t i = begun; i < c->n; i++) {
		struct share_task *pick = &c->picks[i];
		const struct share_cell *cell = table_cell(t, pick->entry, pick->type);
		int column;

		if (t->entries.at[pick->entry].columns == t->types)
			continue;
		vacate(c, cell->part);
		column = best_column(t, pick->entry, c);
		if (column >= 0 &&
			table_cell(t, pick->entry, (uint32_t)column)->speed[0] > cell->speed[0])
			pick->type = (uint32_t)column;
		occupy(c, table_cell(t, pick->entry, pick->type)->part);
	}
}

/* ---- carrying it out */

static void run(const struct share_turns *turns, const struct round *round, struct plan *plan,
	const struct share_task *pick)
{
	const struct grant_part *part = table_cell(turns->table, pick->entry, pick->type)->part;
	const struct job *a = &round->jobs[pick->a];
	struct want want = { .gpus = part[0].gpus, .type = (int)part[0].type };

	if (config_mixed(part)) {
		want.balance = turns->configs.across == ACROSS_BALANCED;
		plan_run_parts(plan, a, part, 2, want);
		return;
	}
	if (!plan_run(plan, a, want))
		return;
	if (pick->b != JOB_NONE && !plan_run_beside(plan, &round->jobs[pick->b], a, want))
		plan_stop(plan, a);
}

/* Whoever does not stay where it is leaves first, so that stayers keep their devices and movers find some. */
static void stop_leavers(const struct round *round, struct plan *plan, const struct choice *c)
{
	const struct share_table *t = c->table;
	bool *stays = arena_array(round->scratch, bool, t->entries.n);

	for (uint32_t i = 0; i < c->n; i++) {
		const struct share_entry *e = &t->entries.at[c->picks[i].entry];

		if (runs_in(t, plan, c->picks[i].entry, c->picks[i].type))
			table_mark(t, stays, e);
	}
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !stays[i] && plan_grant(plan, e->a))
			plan_stop(plan, &round->jobs[e->a]);
	}
}

static void carry_out(const struct share_turns *turns, const struct round *round, struct plan *plan,
	const struct choice *c)
{
	stop_leavers(round, plan, c);
	for (uint32_t i = 0; i < c->n; i++)
		run(turns, round, plan, &c->picks[i]);
}

/*
 * What runs after jobs came and went.  Whoever lost its devices or its partner's company is another
 * entry now: the survivor of a pair runs on alone.
 */
static void list_tasks(struct share_table *t, const struct plan *plan)
{
	t->tasks.n = 0;
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];
		int column = column_of(t, plan, i);

		if (column < 0)
			continue;
		if (e->b == JOB_NONE && is_shared(plan, e->a, plan_grant(plan, e->a)))
			continue;
		vec_push(&t->tasks,
			(struct share_task){ .entry = (uint32_t)i,
				.a = e->a,
				.b = e->b,
				.type = (uint32_t)column,
				.end_s = INFINITY });
	}
}

/* ---- rounds */

static void drop_dust(struct share_table *t)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		if (t->cells.at[i].x < SHARE_MIN)
			t->cells.at[i].x = 0;
	}
}

static int compute_shares(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, const struct plan *plan, struct err *err)
{
	if (!turns->table->stale)
		return 0;
	if (rates_version(round->belief) != turns->table->version)
		table_refresh(turns->table, turns, round);
	if (table_compute(turns->table, turns, compute, self, round, plan, err) < 0)
		return err->code;
	drop_dust(turns->table);
	list_tasks(turns->table, plan); /* entries may have changed places */
	return 0;
}

static void begin_choice(const struct share_table *t, const struct round *round, struct choice *c)
{
	*c = (struct choice){
		.table = t,
		.taken = arena_array(round->scratch, bool, t->entries.n),
		.picks = arena_array(round->scratch, struct share_task, t->entries.n),
	};
}

static void choose_anew(struct share_turns *turns, const struct round *round, struct plan *plan)
{
	struct share_table *t = turns->table;
	struct choice c;
	uint32_t begun;

	begin_choice(t, round, &c);
	for (uint32_t type = 0; type < t->types; type++)
		c.room[type] = plan->space.types[type].up;
	choose_newly_begun(turns, round, &c);
	begun = c.n;
	choose_owed(turns, round, plan, &c);
	fill(turns, round, &c);
	grow(&c, begun);
	carry_out(turns, round, plan, &c);
}

/* Between rounds: what is free goes to those who wait. */
static void fill_gaps(struct share_turns *turns, const struct round *round, struct plan *plan)
{
	struct share_table *t = turns->table;
	struct choice c;

	begin_choice(t, round, &c);
	for (uint32_t type = 0; type < t->types; type++)
		c.room[type] = plan_free(plan, type);
	for (size_t i = 0; i < t->entries.n; i++)
		c.taken[i] = t->entries.at[i].b == JOB_NONE && plan_grant(plan, t->entries.at[i].a);
	choose_owed(turns, round, plan, &c);
	fill(turns, round, &c);
	for (uint32_t i = 0; i < c.n; i++)
		run(turns, round, plan, &c.picks[i]);
}

/* Whether the next round might change anything. */
static bool anything_to_come(const struct share_table *t, const struct plan *plan)
{
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !plan_grant(plan, e->a))
			return true;
		for (uint32_t column = 0; column < e->columns; column++) {
			if (table_cell(t, i, column)->x > 0 && !runs_in(t, plan, i, column))
				return true;
		}
	}
	return t->stale;
}

static void say_why(const struct share_table *t, struct plan *plan)
{
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !plan_grant(plan, e->a))
			plan_why(plan, e->a, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	}
}

/* Rounds end at multiples of their length, whatever the last one's was. */
static bool round_begins(struct share_turns *turns, const struct round *round)
{
	struct round_stats stats;

	if (turns->table->end_s > round->now_s * (1 + 1e-12))
		return false;
	if (turns->round_auto) {
		round_stats_of(&stats, round);
		turns->round_s = round_length(&stats);
	}
	turns->table->end_s = (floor(round->now_s / turns->round_s + 1e-9) + 1) * turns->round_s;
	return true;
}

int credits_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err)
{
	struct share_table *t = turns->table;

	bring_up_to_date(turns, round->now_s);
	t->stale |= table_welcome(t, turns, round);
	t->stale |= table_forget(t, round);
	t->stale |= round->capacity_changed || rates_version(round->belief) != t->version;
	if (round->nchanged > 0)
		list_tasks(t, plan);
	if (t->entries.n == 0)
		return 0;
	if (round_begins(turns, round)) {
		if (compute_shares(turns, compute, self, round, plan, err) < 0)
			return err->code;
		choose_anew(turns, round, plan);
	} else {
		fill_gaps(turns, round, plan);
	}
	list_tasks(t, plan);
	say_why(t, plan);
	/* Where nothing runs though jobs wait, time alone changes nothing: only an event will. */
	if (t->tasks.n > 0 && anything_to_come(t, plan))
		plan_wake(plan, t->end_s);
	return 0;
}
