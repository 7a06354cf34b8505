/*
 * The market for rounds.
 */
#include "solver/market.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "solver/lp.h"

/* The logarithm of nothing. */
#define NOTHING 1e-6
/* Part of the value by which an answer may be worse than one not looked at; the bound knows. */
#define TOLERANCE 1e-5

static double log_at(const struct market *m, uint32_t i)
{
	return real_log(m->bases[i] > 0 ? m->bases[i] : NOTHING);
}

double market_log(const struct market *m, double progress)
{
	double x = fmin(fmax(progress, m->bases[0]), m->bases[m->nbases - 1]);
	uint32_t i = 1;
	double part;

	while (i + 1 < m->nbases && x > m->bases[i])
		i++;
	part = (x - m->bases[i - 1]) / (m->bases[i] - m->bases[i - 1]);
	return (1 - part) * log_at(m, i - 1) + part * log_at(m, i);
}

/* What a job's progress is worth after so many rounds. */
static double worth(const struct market *m, const struct market_job *job, uint32_t rounds)
{
	return job->weight * market_log(m, job->progress + rounds * job->gain) /
		((double)m->jobs * m->rounds);
}

static double late_s(const struct market *m, const struct market_job *job, uint32_t rounds)
{
	return fmax(0, job->left_s - fmin(rounds * m->round_s, job->most_s));
}

double market_value(const struct market *m, const uint32_t *count)
{
	double sum = 0, latest_s = 0;

	for (uint32_t i = 0; i < m->jobs; i++) {
		sum += worth(m, &m->job[i], count[i]);
		latest_s = fmax(latest_s, late_s(m, &m->job[i], count[i]));
	}
	return sum - m->k * latest_s;
}

/* ---- one more round of a job, in order of what a device is worth */

struct step {
	double density;
	double value;
	uint32_t job, rank; /* its rank-th round, from 0 */
};

static int by_density(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->density != y->density)
		return x->density > y->density ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

struct search {
	const struct market *m;
	struct step *step;
	uint32_t steps;
	uint32_t *need, *count; /* by job */
	double *level_s;        /* what the greatest lateness can be, ascending */
	uint32_t levels;
};

static void list_steps(struct search *s, struct arena *arena)
{
	const struct market *m = s->m;

	s->step = arena_array(arena, struct step, (size_t)m->jobs * m->rounds);
	for (uint32_t i = 0; i < m->jobs; i++) {
		double density = INFINITY; /* must not rise by rounding: a job's rounds come one by one */

		for (uint32_t n = 0; n < m->rounds; n++) {
			double value = worth(m, &m->job[i], n + 1) - worth(m, &m->job[i], n);

			if (!(value > 0))
				break;
			density = fmin(density, value / m->job[i].gpus);
			s->step[s->steps++] = (struct step){ density, value, i, n };
		}
	}
	if (s->steps > 0)
		qsort(s->step, s->steps, sizeof(*s->step), by_density);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Where somebody needs one round less. */
static void list_levels(struct search *s, struct arena *arena)
{
	const struct market *m = s->m;

	s->level_s = arena_array(arena, double, (size_t)m->jobs *(m->rounds + 2) + 1);
	s->level_s[s->levels++] = 0;
	for (uint32_t i = 0; i < m->jobs; i++) {
		for (uint32_t n = 0; n <= m->rounds; n++) {
			double level_s = late_s(m, &m->job[i], n);

			if (level_s > 0)
				s->level_s[s->levels++] = level_s;
		}
	}
	qsort(s->level_s, s->levels, sizeof(*s->level_s), by_number);
}

/* Rounds that everybody needs so that nobody is later; false: there are not so many. */
static bool set_needs(struct search *s, double level_s)
{
	const struct market *m = s->m;
	double all = 0;

	for (uint32_t i = 0; i < m->jobs; i++) {
		const struct market_job *job = &m->job[i];
		double over_s = job->left_s - level_s;
		double need = over_s > 0 ? ceil(over_s / m->round_s - 1e-9) : 0;

		s->need[i] = need > job->least ? need > m->rounds ? m->rounds + 1 : (uint32_t)need
					       : job->least;
		if (s->need[i] > m->rounds || late_s(m, job, s->need[i]) > level_s + 1e-6)
			return false;
		all += s->need[i] * job->gpus;
	}
	return all <= m->gpus * m->rounds + 1e-9;
}

/* What is worth most after the needs; `bound` as if devices could be cut. */
static void fill(struct search *s, double *bound)
{
	const struct market *m = s->m;
	double free = m->gpus * m->rounds, cut = -1;

	*bound = 0;
	for (uint32_t i = 0; i < m->jobs; i++) {
		s->count[i] = s->need[i];
		free -= s->need[i] * m->job[i].gpus;
		*bound += worth(m, &m->job[i], s->need[i]);
	}
	cut = free;
	for (uint32_t i = 0; i < s->steps && (free > 0 || cut > 0); i++) {
		const struct step *step = &s->step[i];
		double gpus = m->job[step->job].gpus;

		if (step->rank < s->need[step->job])
			continue;
		if (cut > 0)
			*bound += step->value * fmin(1, cut / gpus);
		cut -= gpus;
		if (gpus <= free && step->rank == s->count[step->job]) {
			free -= gpus;
			s->count[step->job]++;
		}
	}
}

/* Returns what progress can be worth there at most: the more, the later the last may be. */
static double try_level(struct search *s, uint32_t at, struct market_answer *out)
{
	double bound, value;

	set_needs(s, s->level_s[at]);
	fill(s, &bound);
	value = market_value(s->m, s->count);
	if (value > out->value) {
		out->value = value;
		memcpy(out->count, s->count, sizeof(*s->count) * s->m->jobs);
	}
	out->bound = fmax(out->bound, bound - s->m->k * s->level_s[at]);
	return bound;
}

/* The levels between two, none of which lets progress be worth more than `most`; those that cannot win are passed over. */
static void try_between(struct search *s, uint32_t low, uint32_t high, double most,
	struct market_answer *out)
{
	uint32_t middle = low + (high - low) / 2;
	double reach, there;

	if (high - low < 2)
		return;
	reach = most - s->m->k * s->level_s[low + 1];
	if (reach <= out->value + TOLERANCE * fabs(out->value)) {
		out->bound = fmax(out->bound, reach);
		return;
	}
	there = try_level(s, middle, out);
	try_between(s, low, middle, there, out);
	try_between(s, middle, high, most, out);
}

/* The first level at which there are enough rounds; needs shrink as it rises. */
static uint32_t first_level(struct search *s)
{
	uint32_t low = 0, high = s->levels;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (set_needs(s, s->level_s[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool market_solve(const struct market *m, struct arena *arena, struct market_answer *out)
{
	struct search s = { .m = m };
	uint32_t first;

	s.need = arena_array(arena, uint32_t, m->jobs);
	s.count = arena_array(arena, uint32_t, m->jobs);
	*out = (struct market_answer){ arena_array(arena, uint32_t, m->jobs), -INFINITY, -INFINITY };
	list_steps(&s, arena);
	list_levels(&s, arena);
	first = first_level(&s);
	if (first == s.levels)
		return false;
	try_level(&s, first, out);
	try_between(&s, first, s.levels - 1, try_level(&s, s.levels - 1, out), out);
	return true;
}

/* ---- exactly */

/* Columns of the integer program. */
struct columns {
	uint32_t round0, progress0, late;
};

static void add_capacity(struct lp *lp, const struct market *m, const struct columns *c)
{
	for (uint32_t t = 0; t < m->rounds; t++) {
		uint32_t row = lp_add_row(lp, -INFINITY, m->gpus);

		for (uint32_t i = 0; i < m->jobs; i++)
			lp_set(lp, row, c->round0 + i * m->rounds + t, m->job[i].gpus);
	}
}

static void add_rounds(struct lp *lp, uint32_t row, const struct market *m, const struct columns *c,
	uint32_t job, double each)
{
	for (uint32_t t = 0; t < m->rounds; t++)
		lp_set(lp, row, c->round0 + job * m->rounds + t, each);
}

/* Progress is made of pieces, the steepest first of themselves. */
static void add_job(struct lp *lp, const struct market *m, const struct columns *c, uint32_t i)
{
	const struct market_job *job = &m->job[i];
	uint32_t pieces = m->nbases - 1, row;

	row = lp_add_row(lp, -job->progress, INFINITY);
	add_rounds(lp, row, m, c, i, job->gain);
	for (uint32_t p = 0; p < pieces; p++)
		lp_set(lp, row, c->progress0 + i * pieces + p, -1);
	row = lp_add_row(lp, job->left_s, INFINITY);
	lp_set(lp, row, c->late, 1);
	add_rounds(lp, row, m, c, i, m->round_s);
	row = lp_add_row(lp, job->least, INFINITY);
	add_rounds(lp, row, m, c, i, 1);
}

static double least_late_s(const struct market *m)
{
	double latest_s = 0;

	for (uint32_t i = 0; i < m->jobs; i++)
		latest_s = fmax(latest_s, m->job[i].left_s - m->job[i].most_s);
	return latest_s;
}

static struct columns add_columns(struct lp *lp, const struct market *m)
{
	struct columns c = { .progress0 = m->jobs * m->rounds };

	for (uint32_t i = 0; i < m->jobs * m->rounds; i++)
		lp_add_column(lp, 0, 0, 1, true);
	for (uint32_t i = 0; i < m->jobs; i++) {
		for (uint32_t p = 1; p < m->nbases; p++) {
			double width = m->bases[p] - m->bases[p - 1];

			lp_add_column(lp,
				m->job[i].weight * (log_at(m, p) - log_at(m, p - 1)) / width /
					((double)m->jobs * m->rounds),
				0, width, false);
		}
	}
	c.late = lp_add_column(lp, -m->k, least_late_s(m), INFINITY, false);
	return c;
}

bool market_exact(const struct market *m, struct arena *arena, struct market_answer *out)
{
	struct lp *lp = lp_create();
	struct columns c = add_columns(lp, m);
	bool found;

	*out = (struct market_answer){ .count = arena_array(arena, uint32_t, m->jobs) };
	lp_maximise(lp, true);
	add_capacity(lp, m, &c);
	for (uint32_t i = 0; i < m->jobs; i++)
		add_job(lp, m, &c, i);
	found = lp_solve(lp, (struct lp_limits){ .gap = 0 }) == LP_OPTIMAL;
	for (uint32_t i = 0; found && i < m->jobs * m->rounds; i++)
		out->count[i / m->rounds] += lp_value(lp, c.round0 + i) > 0.5;
	if (found)
		out->value = out->bound = market_value(m, out->count);
	lp_destroy(lp);
	return found;
}

/* ---- which rounds */

struct turn {
	double urgency; /* of one device of it in one round */
	double gpus;
	uint32_t job, rounds;
};

static int by_urgency(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->urgency != y->urgency)
		return x->urgency > y->urgency ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/* Those that must be in every round left, then the others, as far as there is room. */
static void fill_round(struct turn *turn, uint32_t n, uint32_t left, double free, bool *in)
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			struct turn *t = &turn[i];

			if (t->rounds == 0 || in[t->job] || t->gpus > free + 1e-9 ||
				(pass == 0 && t->rounds < left))
				continue;
			in[t->job] = true;
			free -= t->gpus;
			t->rounds--;
		}
	}
}

uint32_t market_place(const struct market *m, const uint32_t *count, const double *weight,
	struct arena *arena, bool *in)
{
	struct turn *turn = arena_array(arena, struct turn, m->jobs);
	uint32_t n = 0, unplaced = 0;

	memset(in, 0, sizeof(*in) * m->rounds * m->jobs);
	for (uint32_t i = 0; i < m->jobs; i++) {
		double gpus = m->job[i].gpus;

		if (count[i] > 0)
			turn[n++] = (struct turn){ weight[i] / (count[i] * gpus), gpus, i, count[i] };
	}
	if (n > 0)
		qsort(turn, n, sizeof(*turn), by_urgency);
	for (uint32_t t = 0; t < m->rounds; t++)
		fill_round(turn, n, m->rounds - t, m->gpus, &in[(size_t)t * m->jobs]);
	for (uint32_t i = 0; i < n; i++)
		unplaced += turn[i].rounds;
	return unplaced;
}
