/*
 * Turns by credit: Stint's own way to realise shares.
 *
 * An entry earns its share of every second that passes on a type and pays for
 * the seconds it runs there.  At multiples of round_s whoever is owed most
 * runs, so that over time each has what it was promised, whatever came and
 * went in between.  Devices that nobody is owed are filled, and so is what
 * comes free between two rounds: a device is idle only if no job that waits
 * can use it.  Nobody is stopped between rounds.
 */
#include <math.h>

#include "policy/hetero/table.h"

/* Credit and debt beyond so many rounds are forgotten. */
#define MEMORY_ROUNDS 16

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
	uint32_t type;
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
	return x->type < y->type ? -1 : x->type > y->type;
}

static bool runs_on(const struct plan *plan, const struct share_entry *e, uint32_t type)
{
	const struct grant *a = plan_grant(plan, e->a);
	const struct grant *b = e->b == JOB_NONE ? a : plan_grant(plan, e->b);

	return a && b && a->type == type && grant_same_devices(a, b);
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

static struct candidate *list_owed(struct share_turns *turns, const struct round *round,
	const struct plan *plan, uint32_t *n)
{
	struct share_table *t = turns->table;
	struct candidate *list = arena_array(round->scratch, struct candidate, t->cells.n);

	*n = 0;
	for (size_t i = 0; i < t->entries.n; i++) {
		for (uint32_t type = 0; type < t->types; type++) {
			const struct share_cell *cell = table_cell(t, i, type);
			double owed_s = cell->deficit_s + cell->x * turns->round_s;

			if (cell->speed[0] > 0 && cell->x > 0 && owed_s > 0)
				list[(*n)++] = (struct candidate){ owed_s, cell->x, (uint32_t)i,
					type, runs_on(plan, &t->entries.at[i], type) };
		}
	}
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

static void take(struct choice *c, const struct share_entry *e, uint32_t entry, uint32_t type)
{
	table_mark(c->table, c->taken, e);
	c->room[type] -= e->gang;
	c->picks[c->n++] = (struct share_task){ .entry = entry, .a = e->a, .b = e->b, .type = type };
}

static void choose_owed(struct share_turns *turns, const struct round *round,
	const struct plan *plan, struct choice *c)
{
	uint32_t n;
	const struct candidate *list = list_owed(turns, round, plan, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct share_entry *e = &turns->table->entries.at[list[i].entry];

		if (e->gang <= c->room[list[i].type] && !table_marked(c->table, c->taken, e))
			take(c, e, list[i].entry, list[i].type);
	}
}

/* ---- who must not be disturbed yet */

/* Stopping a job sooner than so many times what it costs to resume it is a waste. */
#define STAY_COSTS 10

static bool settled(const struct job *job, double now_s)
{
	return now_s - fmax(job->held_s, job->ready_s) >= STAY_COSTS * job->resume_cost_s;
}

/* Whoever has only just begun keeps its devices, or costs would eat what it is given. */
static void choose_newly_begun(const struct share_turns *turns, const struct round *round,
	struct choice *c)
{
	const struct share_table *t = turns->table;

	for (size_t i = 0; i < t->tasks.n; i++) {
		const struct share_task *task = &t->tasks.at[i];

		if (!settled(&round->jobs[task->a], round->now_s) ||
			(task->b != JOB_NONE && !settled(&round->jobs[task->b], round->now_s)))
			take(c, &t->entries.at[task->entry], task->entry, task->type);
	}
}

/* ---- what is left over */

/* The type with room where the job goes fastest; -1: none. */
static int best_type(const struct share_table *t, size_t entry, const struct choice *c)
{
	int best = -1;

	for (uint32_t type = 0; type < t->types; type++) {
		double speed = table_cell(t, entry, type)->speed[0];

		if (speed > 0 && t->entries.at[entry].gang <= c->room[type] &&
			(best < 0 || speed > table_cell(t, entry, (uint32_t)best)->speed[0]))
			best = (int)type;
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
		int type = best_type(t, list[i].entry, c);

		if (type >= 0)
			take(c, &t->entries.at[list[i].entry], list[i].entry, (uint32_t)type);
	}
}

/* ---- carrying it out */

static void run(const struct round *round, struct plan *plan, const struct share_task *pick)
{
	const struct job *a = &round->jobs[pick->a];
	struct want want = { .type = (int)pick->type };

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

		if (runs_on(plan, e, c->picks[i].type))
			table_mark(t, stays, e);
	}
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !stays[i] && plan_grant(plan, e->a))
			plan_stop(plan, &round->jobs[e->a]);
	}
}

static void carry_out(const struct round *round, struct plan *plan, const struct choice *c)
{
	stop_leavers(round, plan, c);
	for (uint32_t i = 0; i < c->n; i++)
		run(round, plan, &c->picks[i]);
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
		const struct grant *grant = plan_grant(plan, e->a);

		if (!grant || !runs_on(plan, e, grant->type))
			continue;
		if (e->b == JOB_NONE && is_shared(plan, e->a, grant))
			continue;
		vec_push(&t->tasks,
			(struct share_task){ (uint32_t)i, e->a, e->b, grant->type, INFINITY });
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

	begin_choice(t, round, &c);
	for (uint32_t type = 0; type < t->types; type++)
		c.room[type] = plan->space.types[type].up;
	choose_newly_begun(turns, round, &c);
	choose_owed(turns, round, plan, &c);
	fill(turns, round, &c);
	carry_out(round, plan, &c);
}

/* Between rounds: what is free goes to those who wait. */
static void fill_gaps(struct share_turns *turns, const struct round *round, struct plan *plan)
{
	struct share_table *t = turns->table;
	struct choice c;

	begin_choice(t, round, &c);
	for (uint32_t type = 0; type < t->types; type++)
		c.room[type] = plan_free(plan, type);
	for (size_t i = 0; i < t->tasks.n; i++)
		table_mark(t, c.taken, &t->entries.at[t->tasks.at[i].entry]);
	choose_owed(turns, round, plan, &c);
	fill(turns, round, &c);
	for (uint32_t i = 0; i < c.n; i++)
		run(round, plan, &c.picks[i]);
}

/* Whether the next round might change anything. */
static bool anything_to_come(const struct share_table *t, const struct plan *plan)
{
	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_entry *e = &t->entries.at[i];

		if (e->b == JOB_NONE && !plan_grant(plan, e->a))
			return true;
		for (uint32_t type = 0; type < t->types; type++) {
			if (table_cell(t, i, type)->x > 0 && !runs_on(plan, e, type))
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

static bool round_begins(struct share_turns *turns, double now_s)
{
	double number = floor(now_s / turns->round_s + 1e-9);

	if (turns->table->end_s > number)
		return false;
	turns->table->end_s = number + 1;
	return true;
}

int credits_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err)
{
	struct share_table *t = turns->table;

	bring_up_to_date(turns, round->now_s);
	t->stale |= table_welcome(t, turns, round);
	t->stale |= table_forget(t, round);
	t->stale |= round->capacity_changed;
	if (round->nchanged > 0)
		list_tasks(t, plan);
	if (t->entries.n == 0)
		return 0;
	if (round_begins(turns, round->now_s)) {
		if (compute_shares(turns, compute, self, round, plan, err) < 0)
			return err->code;
		choose_anew(turns, round, plan);
	} else {
		fill_gaps(turns, round, plan);
	}
	list_tasks(t, plan);
	say_why(t, plan);
	if (anything_to_come(t, plan))
		plan_wake(plan, t->end_s * turns->round_s);
	return 0;
}
