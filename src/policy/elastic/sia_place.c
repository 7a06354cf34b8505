/*
 * Where the chosen configurations go: who keeps its configuration keeps its
 * devices; the others, the largest first, take nodes that are free altogether
 * for whole nodes, and the fullest node that holds the rest.  If one finds no
 * place though there are devices enough, whoever holds parts of nodes of that
 * type is placed anew, too; then it goes another of its ways.  Nobody is spread
 * over parts of several nodes who could lie otherwise if they were free.
 *
 * The published simulator places everybody anew each round, and moves that do
 * not change the shape cost nothing there; shapes are the same either way.
 */
#include <stdlib.h>

#include "policy/elastic/sia.h"
#include "policy/kit.h"
#include "solver/choice.h"

struct placing_all {
	const struct round *round;
	struct plan *plan;
	struct sia_row **rows; /* to be placed, the largest first */
	uint32_t n;
	struct node_share *at; /* scratch */
	uint32_t anew;         /* bit per type: its parts have been placed anew */
};

static const struct configuration *wanted(const struct sia_row *row)
{
	return &row->ways[row->chosen].c;
}

static struct want want_of(const struct sia_row *row)
{
	return (struct want){
		.gpus = wanted(row)->gpus,
		.type = (int)wanted(row)->type,
		.batch = row->tuned ? BATCH_TUNED : 0,
	};
}

static int by_size(const void *a, const void *b)
{
	const struct sia_row *x = *(struct sia_row *const *)a, *y = *(struct sia_row *const *)b;

	if (wanted(x)->gpus != wanted(y)->gpus)
		return wanted(x)->gpus > wanted(y)->gpus ? -1 : 1;
	return x < y ? -1 : x > y; /* rows lie in order of arrival */
}

/* ---- one job */

static uint32_t per_node(const struct plan *plan, uint32_t type)
{
	return plan->space.types[type].max;
}

/* Nodes that are free altogether, as many as asked for; returns how many were found. */
static uint32_t find_whole(const struct plan *plan, uint32_t type, uint32_t nodes,
	struct node_share *out)
{
	uint32_t at = 0, n = 0, node, size = per_node(plan, type);

	while (n < nodes && (node = space_next(&plan->space, type, size, &at)) != UINT32_MAX)
		out[n++] = (struct node_share){ node, size };
	return n;
}

static bool named(const struct node_share *at, uint32_t n, uint32_t node)
{
	for (uint32_t i = 0; i < n; i++) {
		if (at[i].node == node)
			return true;
	}
	return false;
}

/* With the rest on the fullest node that takes it; `at` has the whole nodes. */
static bool run_with_rest(const struct placing_all *p, const struct sia_row *row, uint32_t whole,
	uint32_t rest)
{
	uint32_t type = wanted(row)->type;

	if (rest == 0)
		return plan_run_at(p->plan, row->job, p->at, whole, want_of(row));
	for (uint32_t free = rest; free <= per_node(p->plan, type); free++) {
		uint32_t at = 0, node;

		while ((node = space_next(&p->plan->space, type, free, &at)) != UINT32_MAX) {
			p->at[whole] = (struct node_share){ node, rest };
			if (!named(p->at, whole, node) &&
				plan_run_at(p->plan, row->job, p->at, whole + 1, want_of(row)))
				return true;
			if (p->plan->refused == row->job->id)
				return false; /* by the rule of placement or a quota: for any node */
		}
	}
	return false;
}

static bool place(const struct placing_all *p, const struct sia_row *row)
{
	uint32_t type = wanted(row)->type, size = per_node(p->plan, type);
	uint32_t whole = size ? wanted(row)->gpus / size : 0;

	if (job_is_fraction(row->job) || row->scattered)
		return plan_run(p->plan, row->job, want_of(row));
	return find_whole(p->plan, type, whole, p->at) == whole &&
		run_with_rest(p, row, whole, size ? wanted(row)->gpus % size : 0);
}

/* ---- when that fails */

static bool is_part(const struct plan *plan, const struct sia_row *row)
{
	uint32_t size = per_node(plan, wanted(row)->type);

	return size > 0 && wanted(row)->gpus % size != 0;
}

/*
 * Takes up everybody who has parts of nodes of the type and puts them down again, the largest first,
 * with `row` and whoever else of the type has no place yet.
 */
static void place_type_anew(const struct placing_all *p, struct sia_row *rows, uint32_t n,
	uint32_t type, bool published)
{
	struct sia_row **again = arena_array(p->round->scratch, struct sia_row *, n);
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct sia_row *row = &rows[i];

		if (row->chosen == CHOICE_NONE || wanted(row)->type != type)
			continue;
		if (plan_grant(p->plan, row->job->id)) {
			if (!is_part(p->plan, row) || (row->forced != CHOICE_NONE && !published))
				continue;
			plan_stop(p->plan, row->job);
		}
		again[count++] = row;
	}
	qsort(again, count, sizeof(*again), by_size);
	for (uint32_t i = 0; i < count; i++)
		place(p, again[i]);
}

/* ---- everybody */

static void turn_away(const struct placing_all *p, const struct sia_row *row)
{
	const struct job *job = row->job;
	struct reason reason = { .why = WHY_OUTRANKED, .need = job->min_gpus, .other = JOB_NONE };

	if (row->chosen != CHOICE_NONE) {
		reason.why = WHY_FRAGMENTED;
		reason.need = (int32_t)wanted(row)->gpus;
		reason.have = (int32_t)plan_free(p->plan, wanted(row)->type);
	}
	if (job->grant || row->chosen != CHOICE_NONE)
		plan_why(p->plan, job->id, reason);
	else
		kit_no_room(p->round, p->plan, job);
}

static void stop_changed(struct placing_all *p, struct sia_row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct sia_row *row = &rows[i];

		if (row->chosen != CHOICE_NONE && row->chosen == row->now &&
			plan_run(p->plan, row->job, want_of(row)))
			continue;
		plan_stop(p->plan, row->job);
		if (row->chosen != CHOICE_NONE)
			p->rows[p->n++] = row;
	}
}

struct other {
	double value;
	uint32_t way;
};

static int by_value(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->way < y->way ? -1 : x->way > y->way;
}

/* Its other ways that take no more devices, the best first: nodes may lack CPUs, or have too little left each. */
static bool place_otherwise(const struct placing_all *p, struct sia_row *row)
{
	struct other *others = arena_array(p->round->scratch, struct other, row->n);
	uint32_t chosen = row->chosen, n = 0;

	for (uint32_t k = 0; k < row->n; k++) {
		if (k != chosen && row->ways[k].c.gpus <= wanted(row)->gpus)
			others[n++] = (struct other){ row->ways[k].value, k };
	}
	qsort(others, n, sizeof(*others), by_value);
	for (uint32_t k = 0; k < n; k++) {
		row->chosen = others[k].way;
		if (wanted(row)->gpus <= plan_free(p->plan, wanted(row)->type) && place(p, row))
			return true;
	}
	row->chosen = chosen;
	return false;
}

/* Who has no place as chosen may have another way, by the published rule what is left as the placer sees fit. */
static void place_leftover(const struct placing_all *p, struct sia_row *row, bool published)
{
	bool placed = false;

	if (row->chosen != CHOICE_NONE)
		placed = published ? plan_run(p->plan, row->job, want_of(row))
				   : place(p, row) || place_otherwise(p, row);
	if (!placed && job_is_fraction(row->job))
		placed = kit_run(p->round, p->plan, row->job);
	if (!placed)
		turn_away(p, row);
}

void sia_place(const struct round *round, struct plan *plan, struct sia_row *rows, uint32_t n,
	bool published)
{
	struct placing_all p = {
		.round = round,
		.plan = plan,
		.rows = arena_array(round->scratch, struct sia_row *, n),
		.at = arena_array(round->scratch, struct node_share, round->cluster->nnodes + 1),
	};

	stop_changed(&p, rows, n);
	qsort(p.rows, p.n, sizeof(*p.rows), by_size);
	for (uint32_t i = 0; i < p.n; i++) {
		uint32_t type = wanted(p.rows[i])->type;

		if (plan_grant(plan, p.rows[i]->job->id) || place(&p, p.rows[i]) || p.anew >> type & 1)
			continue;
		p.anew |= UINT32_C(1) << type;
		place_type_anew(&p, rows, n, type, published);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!plan_grant(plan, rows[i].job->id))
			place_leftover(&p, &rows[i], published);
	}
}
