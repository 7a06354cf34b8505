/*
 * The matching as an assignment problem.
 */
#include "policy/hetero/allox_match.h"

#include <math.h>

#include "solver/assignment.h"

/* Of the costs of one job on one line, as they grow with the place. */
struct slope {
	double first_s; /* at the end */
	double more_s;  /* for each place before that */
};

double lineup_run_s(const struct program *p, uint32_t row, uint32_t w)
{
	const struct job *job = &p->round->jobs[p->id[row]];
	double speed = p->speed[(size_t)row * p->types + w];

	if (!(speed > 0))
		return INFINITY;
	if (job->grant && job->grant->type == p->type[w])
		return p->left[row] / speed + fmax(0, job->ready_s - p->round->now_s);
	return p->left[row] / speed + (job->attempts > 0 ? job->resume_cost_s : job->start_cost_s);
}

double lineup_shortest_s(const struct program *p, uint32_t row)
{
	double least = INFINITY;

	for (uint32_t w = 0; w < p->types; w++)
		least = fmin(least, lineup_run_s(p, row, w));
	return least;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void order_devices(struct lineup *m)
{
	for (uint32_t w = 0; w < m->program->types; w++)
		qsort(m->ready_s[w], m->devices[w], sizeof(double), ascending);
}

void lineup_init(struct lineup *m, const struct program *p)
{
	*m = (struct lineup){
		.program = p,
		.at = arena_array(p->round->scratch, struct place, p->jobs),
	};
	for (uint32_t w = 0; w < p->types; w++)
		m->ready_s[w] = arena_array(p->round->scratch, double, p->capacity[w]);
}

void lineup_add_devices(struct lineup *m, uint32_t w, uint32_t n, double ready_s)
{
	while (n-- > 0 && m->devices[w] < m->program->capacity[w])
		m->ready_s[w][m->devices[w]++] = ready_s;
}

static double mean_gang(const struct lineup *m)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		sum += m->program->gang[m->at[i].row];
	return sum / m->n;
}

static void add_slot(struct lineup *m, uint32_t w, double ready_s)
{
	struct line *last = m->nlines > 0 ? &m->lines[m->nlines - 1] : NULL;

	if (!last || last->column != w || last->ready_s != ready_s) {
		last = &m->lines[m->nlines++];
		*last = (struct line){ .column = w, .ready_s = ready_s, .first_slot = m->nslots };
	}
	last->slots++;
	m->nslots++;
}

static void make_lines(struct lineup *m)
{
	const struct program *p = m->program;
	uint32_t all = 0;

	m->slot_gpus = mean_gang(m);
	for (uint32_t w = 0; w < p->types; w++)
		all += m->devices[w];
	m->lines = arena_array(p->round->scratch, struct line, all);
	for (uint32_t w = 0; w < p->types; w++) {
		double last = fmin(m->slot_gpus, m->devices[w]);

		for (; m->devices[w] > 0 && ceil(last - 1e-9) <= m->devices[w]; last += m->slot_gpus)
			add_slot(m, w, m->ready_s[w][(uint32_t)ceil(last - 1e-9) - 1]);
	}
}

/* What it adds to the sum of completion times to run the job in a line, by its place there. */
static struct slope cost(const struct lineup *m, const struct place *at, uint32_t line)
{
	const struct line *l = &m->lines[line];
	double gang = m->program->gang[at->row], run_s, wait_s;

	if (gang > m->devices[l->column])
		return (struct slope){ INFINITY, 0 };
	run_s = lineup_run_s(m->program, at->row, l->column);
	wait_s = fmax(l->ready_s, m->ready_s[l->column][(uint32_t)gang - 1]);
	return (struct slope){ wait_s + run_s, run_s < INFINITY ? run_s * (gang / m->slot_gpus) : 0 };
}

/* Places in a line that may be needed: a job goes further from the end only when all behind it are taken. */
static uint32_t places(const struct lineup *m, uint32_t line, uint32_t most)
{
	uint32_t enough = (m->n + m->lines[line].slots - 1) / m->lines[line].slots;

	return enough < most ? enough : most;
}

/* The columns of the assignment: the earlier in a line the lower, so that of equals the first comes first. */
static uint32_t list_places(const struct lineup *m, uint32_t most, struct place *place,
	uint32_t *capacity)
{
	uint32_t n = 0;

	for (uint32_t line = 0; line < m->nlines; line++) {
		for (uint32_t k = places(m, line, most); k > 0; k--) {
			capacity[n] = m->lines[line].slots;
			place[n++] = (struct place){ .line = line, .from_end = k };
		}
	}
	return n;
}

static void fill_costs(const struct lineup *m, uint32_t most, double *costs)
{
	for (uint32_t i = 0; i < m->n; i++) {
		for (uint32_t line = 0; line < m->nlines; line++) {
			struct slope slope = cost(m, &m->at[i], line);

			for (uint32_t k = places(m, line, most); k > 0; k--)
				*costs++ = slope.first_s + (k - 1) * slope.more_s;
		}
	}
}

/* With at most so many places in each line.  False: there must be more.  `*matched`: everybody has one. */
static bool match_within(struct lineup *m, uint32_t most, bool *matched)
{
	struct arena *arena = m->program->round->scratch;
	uint32_t *capacity = arena_array(arena, uint32_t, (size_t)m->nlines * most);
	struct place *place = arena_array(arena, struct place, (size_t)m->nlines * most);
	uint32_t columns = list_places(m, most, place, capacity);
	double *costs = arena_array(arena, double, (size_t)m->n *columns);
	uint32_t *column_of = arena_array(arena, uint32_t, m->n);
	bool enough = true;

	fill_costs(m, most, costs);
	*matched = assignment_solve(&(struct assignment){ m->n, columns, costs, capacity },
		column_of, NULL);
	if (!*matched)
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct place *got = &place[column_of[i]];

		m->at[i].line = got->line;
		m->at[i].from_end = got->from_end;
		m->at[i].run_s = lineup_run_s(m->program, m->at[i].row, m->lines[got->line].column);
		enough = enough && (got->from_end < most || places(m, got->line, most + 1) == most);
	}
	return enough;
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->from_end != y->from_end)
		return x->from_end > y->from_end ? -1 : 1;
	if (x->run_s != y->run_s)
		return x->run_s < y->run_s ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return by_place(a, b);
}

/* Lays the jobs of each line on its slots, and puts all in the order in which they start. */
static void believe_starts(struct lineup *m)
{
	double *free_s = arena_array(m->program->round->scratch, double, m->nslots);

	qsort(m->at, m->n, sizeof(*m->at), by_place);
	for (uint32_t line = 0; line < m->nlines; line++) {
		for (uint32_t s = 0; s < m->lines[line].slots; s++)
			free_s[m->lines[line].first_slot + s] = m->lines[line].ready_s;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		const struct line *line = &m->lines[m->at[i].line];
		double *slot = &free_s[line->first_slot];

		for (uint32_t s = 1; s < line->slots; s++) {
			if (free_s[line->first_slot + s] < *slot)
				slot = &free_s[line->first_slot + s];
		}
		m->at[i].start_s = *slot;
		*slot += m->at[i].run_s;
	}
	qsort(m->at, m->n, sizeof(*m->at), by_start);
}

/*
 * Few places per line are enough as a rule.  The answer is the best of all if no line is full: the
 * next place would cost more than the one that nobody took.
 */
void lineup_solve(struct lineup *m)
{
	bool matched;
	uint32_t most;

	if (m->n == 0)
		return;
	order_devices(m);
	make_lines(m);
	if (m->nlines == 0) {
		m->n = 0;
		return;
	}
	most = 2 + 6 * (m->n / m->nslots);
	while (!match_within(m, most < m->n ? most : m->n, &matched) && most < m->n)
		most *= 2;
	if (!matched) {
		m->n = 0; /* somebody fits nowhere now: nobody is matched before it does */
		return;
	}
	believe_starts(m);
}

void lineup_take_devices(const struct lineup *m, uint32_t w, uint32_t n, double run_s)
{
	for (uint32_t i = 0; i < n; i++)
		m->ready_s[w][i] = run_s;
	qsort(m->ready_s[w], m->devices[w], sizeof(double), ascending);
}
