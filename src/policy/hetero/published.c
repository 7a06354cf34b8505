/*
 * Turns as the published simulator of Gavel gives them.
 *
 * A round lasts until the slowest of its micro-tasks has made the whole steps
 * that fit in round_s.  Shares are computed again at most every 1,920 s; a job
 * that came since may be picked, and then its devices idle.  Whoever can run
 * fills gaps, in an order that the dust of the solver decides.  None of this
 * is recommended; all of it is needed to compare figures.
 *
 * Shockwave's simulator is a fork: shares are computed at most every 1,000 s, a
 * job that was not there in the last round is credited 20 s less of a full one,
 * and turns in which nothing was left to do are failures (sim/regimes.c has the
 * rest of its rules).
 */
#include <math.h>

#include "policy/hetero/table.h"

/* Least time between two computations of shares. */
static const double reset_s[] = { [TURNS_GAVEL] = 1920, [TURNS_SHOCKWAVE] = 1000 };

/* Shockwave: what a start after a pause takes of a turn, unless that is shorter than a round by so much. */
#define PAUSE_S 20
#define SHORT_S 5

/* The order in which types are filled: by name, backwards. */
static uint32_t order_types(struct share_turns *turns, const struct program *p,
	uint32_t order[TYPES_MAX])
{
	for (uint32_t w = 0; w < p->types; w++)
		order[w] = p->type[p->types - 1 - w];
	if (turns->shuffle)
		twister_shuffle(&turns->table->types_rng, order, p->types);
	return p->types;
}

/* ---- the end of a round */

static int by_end(const void *a, const void *b)
{
	const struct share_task *x = a, *y = b;

	if (x->end_s != y->end_s)
		return x->end_s > y->end_s ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b > y->b ? -1 : x->b < y->b;
}

/* Credits the tasks of the round that has ended. */
static void retire(struct share_turns *turns)
{
	struct share_table *t = turns->table;

	if (t->tasks.n > 0)
		qsort(t->tasks.at, t->tasks.n, sizeof(*t->tasks.at), by_end);
	for (size_t i = 0; i < t->tasks.n; i++) {
		const struct share_task *task = &t->tasks.at[i];
		double ran_s = task->end_s - t->start_s;

		if (turns->compat == TURNS_SHOCKWAVE) {
			t->stale |= !(ran_s > 0);
			if (task->fresh && t->rounds > 1 && ran_s > turns->round_s - SHORT_S)
				ran_s -= PAUSE_S;
		}
		if (!(ran_s > 0))
			continue;
		table_cell(t, task->entry, task->type)->time_s += ran_s;
		t->type_time_s[task->type] += ran_s;
	}
}

/* ---- shares */

static void settle_deficits(struct share_turns *turns, double now_s)
{
	struct share_table *t = turns->table;
	double elapsed_s = now_s - t->computed_s, half_s = turns->round_s / 2;

	for (uint32_t type = 0; type < t->types; type++) {
		t->type_time_s[type] = 0;
		for (size_t i = 0; i < t->entries.n; i++) {
			struct share_cell *cell = table_cell(t, i, type);

			cell->deficit_s += cell->x * elapsed_s - (cell->time_s - half_s);
			cell->time_s = half_s;
			t->type_time_s[type] += half_s;
		}
	}
}

static int renew_shares(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, const struct plan *plan, struct err *err)
{
	struct share_table *t = turns->table;

	if (!t->stale ||
		!(round->now_s - t->computed_s >= reset_s[turns->compat] || t->computed_s == 0))
		return 0;
	settle_deficits(turns, round->now_s);
	t->computed_s = round->now_s;
	return table_compute(t, turns, compute, self, round, plan, err);
}

/* ---- the choice */

static void set_priorities(struct share_table *t, uint32_t type)
{
	double all_s = t->type_time_s[type];

	for (size_t i = 0; i < t->entries.n; i++) {
		struct share_cell *cell = table_cell(t, i, type);
		double part = all_s > 0 ? cell->time_s / all_s : 0;

		cell->priority = 0;
		if (t->entries.at[i].known && cell->x != 0 && cell->speed[0] > 0)
			cell->priority = part > 0 ? cell->x / part : cell->x * 1e9;
	}
}

/* An entry in the queue of a type. */
struct candidate {
	double priority, deficit_s, x;
	uint32_t entry;
};

static bool before(const struct candidate *a, const struct candidate *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->deficit_s != b->deficit_s)
		return a->deficit_s > b->deficit_s;
	if (a->x != b->x)
		return a->x > b->x;
	return a->entry < b->entry;
}

static void sift(struct candidate *heap, uint32_t n, uint32_t at)
{
	struct candidate moving = heap[at];

	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &moving))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moving;
}

static struct candidate next_in_line(struct candidate *heap, uint32_t *n)
{
	struct candidate first = heap[0];

	heap[0] = heap[--*n];
	if (*n > 0)
		sift(heap, *n, 0);
	return first;
}

/* One that was picked. */
struct pick {
	uint32_t entry, type;
};

struct choice {
	struct pick *picks;
	uint32_t n;
	bool *taken; /* by entry of a job alone */
};

/* Only the front of the queue is looked at, so it is a heap. */
static uint32_t line_up(const struct share_turns *turns, uint32_t type, const struct choice *c,
	struct candidate *heap)
{
	const struct share_table *t = turns->table;
	uint32_t n = 0;

	for (size_t i = 0; i < t->entries.n; i++) {
		const struct share_cell *cell = table_cell(t, i, type);

		if (cell->speed[0] > 0 && !(turns->strict && cell->priority <= 0) &&
			!table_marked(t, c->taken, &t->entries.at[i]))
			heap[n++] = (struct candidate){ cell->priority, cell->deficit_s, cell->x,
				(uint32_t)i };
	}
	for (uint32_t at = n / 2; at-- > 0;)
		sift(heap, n, at);
	return n;
}

static void pick_for_type(struct share_turns *turns, uint32_t type, uint32_t devices,
	struct candidate *heap, struct choice *c)
{
	struct share_table *t = turns->table;
	uint32_t n = line_up(turns, type, c, heap);

	while (devices > 0 && n > 0) {
		struct candidate first = next_in_line(heap, &n);
		const struct share_entry *e = &t->entries.at[first.entry];

		uint32_t gang = table_cell(t, first.entry, type)->part[0].gpus;

		if (gang > devices || table_marked(t, c->taken, e))
			continue;
		devices -= gang;
		table_mark(t, c->taken, e);
		if (e->known)
			c->picks[c->n++] = (struct pick){ first.entry, type };
	}
}

static void pick(struct share_turns *turns, const struct round *round, const struct plan *plan,
	struct choice *c)
{
	struct share_table *t = turns->table;
	struct candidate *heap = arena_array(round->scratch, struct candidate, t->entries.n);
	struct program columns;
	uint32_t order[TYPES_MAX], n;

	c->picks = arena_array(round->scratch, struct pick, t->entries.n);
	c->taken = arena_array(round->scratch, bool, t->entries.n);
	program_types(&columns, round, plan);
	n = order_types(turns, &columns, order);
	for (uint32_t type = 0; type < t->types; type++)
		set_priorities(t, type);
	for (uint32_t i = 0; i < n; i++)
		pick_for_type(turns, order[i], plan->space.types[order[i]].up, heap, c);
}

/* ---- carrying it out */

/* Whole steps of a job in a round, and how long they take. */
static double turn_steps(const struct share_turns *turns, const struct round *round, uint32_t id,
	double speed)
{
	const struct job *job = &round->jobs[id];
	double left = job->work_est - job_done(job, round->now_s);
	double steps = fmax(1, floor(speed * turns->round_s));

	if (turns->compat == TURNS_SHOCKWAVE && job->adapts)
		return fmin(floor(speed * turns->round_s), fmax(0, left));
	return left > 0 ? fmin(steps, left) : steps;
}

/*
 * What is left of a step tells that the job goes slower than believed: turns that grew shorter with
 * what is left would never end it.
 */
static double turn_length_s(double steps, double speed)
{
	if (!(steps > 0))
		return 0;
	return steps < 1 ? fmax(1, steps / speed) : steps / speed;
}

struct turn {
	double end_s;
	double steps[2];
};

static struct turn turn_of(const struct share_turns *turns, const struct round *round,
	const struct pick *pick)
{
	const struct share_entry *e = &turns->table->entries.at[pick->entry];
	const struct share_cell *cell = table_cell(turns->table, pick->entry, pick->type);
	struct turn turn = { .steps = { turn_steps(turns, round, e->a, cell->speed[0]) } };

	turn.end_s = round->now_s + turn_length_s(turn.steps[0], cell->speed[0]);
	if (e->b != JOB_NONE) {
		turn.steps[1] = turn_steps(turns, round, e->b, cell->speed[1]);
		turn.end_s = fmax(turn.end_s,
			round->now_s + turn_length_s(turn.steps[1], cell->speed[1]));
	}
	return turn;
}

/* Seconds before a job makes its first step on what it shall have; the published simulator knows none. */
static double cost_of(const struct plan *plan, const struct job *job)
{
	const struct grant *next = plan_grant(plan, job->id);

	if (!next || (job->grant && grant_same_devices(job->grant, next)))
		return 0;
	return job->attempts == 0 ? job->start_cost_s : job->resume_cost_s;
}

static struct want want_for(const struct pick *pick, const struct turn *turn, double steps)
{
	return (struct want){ .type = (int)pick->type, .until_s = turn->end_s, .steps = steps };
}

static bool run_turn(const struct round *round, struct plan *plan, const struct share_entry *e,
	const struct pick *pick, const struct turn *turn)
{
	const struct job *a = &round->jobs[e->a];

	if (!plan_run(plan, a, want_for(pick, turn, turn->steps[0])))
		return false;
	if (e->b == JOB_NONE ||
		plan_run_beside(plan, &round->jobs[e->b], a, want_for(pick, turn, turn->steps[1])))
		return true;
	plan_stop(plan, a);
	return false;
}

/* A turn is as much longer as it costs to begin it. */
static bool run_pick(struct share_turns *turns, const struct round *round, struct plan *plan,
	const struct pick *pick)
{
	struct share_table *t = turns->table;
	const struct share_entry *e = &t->entries.at[pick->entry];
	struct turn turn = turn_of(turns, round, pick);
	double cost_s;

	if (!run_turn(round, plan, e, pick, &turn))
		return false;
	cost_s = cost_of(plan, &round->jobs[e->a]);
	if (e->b != JOB_NONE)
		cost_s = fmax(cost_s, cost_of(plan, &round->jobs[e->b]));
	turn.end_s += cost_s;
	if (cost_s > 0) {
		plan_stop(plan, &round->jobs[e->a]);
		if (e->b != JOB_NONE)
			plan_stop(plan, &round->jobs[e->b]);
		if (!run_turn(round, plan, e, pick, &turn))
			return false;
	}
	vec_push(&t->tasks,
		(struct share_task){ pick->entry, e->a, e->b, pick->type, turn.end_s,
			!round->jobs[e->a].grant });
	t->end_s = t->tasks.n == 1 ? turn.end_s : fmax(t->end_s, turn.end_s);
	return true;
}

/* Whether the entry held devices of this type in the last round: it takes its pick before others. */
static bool was_there(const struct share_turns *turns, const struct round *round,
	const struct pick *pick)
{
	const struct grant *grant = round->jobs[turns->table->entries.at[pick->entry].a].grant;

	return grant && grant->type == pick->type;
}

static void run_picks(struct share_turns *turns, const struct round *round, struct plan *plan,
	const struct choice *c)
{
	struct share_table *t = turns->table;

	plan_clear(plan, round->jobs, round->active, round->nactive);
	t->tasks.n = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < c->n; i++) {
			if (was_there(turns, round, &c->picks[i]) == (pass == 0))
				run_pick(turns, round, plan, &c->picks[i]);
		}
	}
}

static void count_leases(struct share_table *t, const struct round *round, const struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *next = plan_grant(plan, job->id);

		if (!job->grant)
			continue;
		t->might_keep++;
		t->kept += next && grant_same_devices(job->grant, next);
	}
}

static void say_why(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id))
			plan_why(plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	}
}

/* One round: shares if it is time, then turns.  Returns whether anything runs. */
static int schedule(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err)
{
	struct choice choice = { 0 };

	if (renew_shares(turns, compute, self, round, plan, err) < 0)
		return err->code;
	pick(turns, round, plan, &choice);
	run_picks(turns, round, plan, &choice);
	return turns->table->tasks.n > 0;
}

/* The round that began when the last one ended, or long before now if nothing ran in between. */
static void end_round(struct share_turns *turns)
{
	struct share_table *t = turns->table;

	if (!t->in_round)
		return;
	t->in_round = false;
	t->rounds++;
	retire(turns);
	t->start_s = t->end_s;
	t->tasks.n = 0;
}

int published_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err)
{
	struct share_table *t = turns->table;
	int rc;

	if (table_welcome(t, turns, round) || round->capacity_changed)
		t->stale = true;
	if (t->in_round && round->now_s < t->end_s) {
		say_why(round, plan);
		plan_wake(plan, t->end_s);
		return 0;
	}
	end_round(turns);
	if (table_forget(t, round))
		t->stale = true;
	if (t->entries.n == 0)
		return 0;
	if (turns->compat == TURNS_SHOCKWAVE)
		table_refresh(t, turns, round); /* batches change between rounds */
	rc = schedule(turns, compute, self, round, plan, err);
	if (rc == 0 && round->closed) {
		t->computed_s = 0;
		rc = schedule(turns, compute, self, round, plan, err);
	}
	if (rc < 0)
		return rc;
	count_leases(t, round, plan);
	say_why(round, plan);
	t->in_round = rc > 0;
	if (t->in_round)
		plan_wake(plan, t->end_s);
	return 0;
}
