/*
 * Non-dominated sorting with crowding (Deb et al., 2002) for two objectives,
 * where fronts come from one sort, and for one, where a front is one value.
 */
#include "solver/genetic.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- memory: taken when a search is larger than all before */

void genetic_fini(struct genetic *g)
{
	free(g->members);
	free(g->order);
	free(g->words);
	free(g->row_memory);
	free(g->table);
	free(g->shuffled);
	free(g->ranks);
	*g = (struct genetic){ 0 };
}

static void reserve_members(struct genetic *g, size_t places)
{
	if (places <= g->members_cap)
		return;
	g->members_cap = places;
	g->members = mem_resize(g->members, mem_array_size(places, sizeof(*g->members)));
	g->order = mem_resize(g->order, mem_array_size(places, sizeof(*g->order)));
	g->shuffled = mem_resize(g->shuffled, mem_array_size(places, sizeof(*g->shuffled)));
	g->ranks = mem_resize(g->ranks, mem_array_size(places, sizeof(*g->ranks)));
	for (g->table_size = 64; g->table_size < 2 * places;)
		g->table_size *= 2;
	g->table = mem_resize(g->table, mem_array_size(g->table_size, sizeof(*g->table)));
}

static void reserve_cells(struct genetic *g, size_t nwords, size_t nrows)
{
	if (nwords > g->words_cap) {
		free(g->words);
		g->words = mem_alloc(mem_array_size(nwords, sizeof(*g->words)));
		g->words_cap = nwords;
	}
	if (nrows > g->rows_cap) {
		free(g->row_memory);
		g->row_memory = mem_alloc(mem_array_size(nrows, sizeof(*g->row_memory)));
		g->rows_cap = nrows;
	}
}

void genetic_begin(struct genetic *g, uint32_t rows, uint32_t cols, uint32_t population)
{
	size_t places = 2 * (size_t)population;
	size_t words;

	g->rows = rows;
	g->cols = cols;
	g->width = genetic_width(cols);
	g->population = population;
	g->n = 0;
	words = (size_t)rows * g->width;
	reserve_members(g, places);
	reserve_cells(g, places * words, places * rows);
	for (size_t i = 0; i < places; i++)
		g->members[i] = (struct genome){
			.words = g->words + i * words,
			.rows = g->row_memory + i * rows,
		};
}

struct genome *genetic_add(struct genetic *g)
{
	struct genome *member = &g->members[g->n];

	if (g->n == g->population)
		return NULL;
	g->n++;
	memset(member->words, 0, (size_t)g->rows * g->width * sizeof(*member->words));
	for (uint32_t row = 0; row < g->rows; row++)
		genetic_touch(member, row);
	return member;
}

/* ---- who is alike */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static uint64_t row_hash(uint32_t row, const uint64_t *words, uint32_t width)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < width; i++) {
		if (words[i])
			hash += mix(words[i] +
				(((uint64_t)row << 32) + i + 1) * UINT64_C(0x9e3779b97f4a7c15));
	}
	return hash;
}

/* Whether nobody like it is in the table; if so it is now, as number `i`. */
static bool enter(struct genetic *g, uint32_t i)
{
	const struct genome *new = &g->members[i];
	size_t bytes = (size_t)g->rows * g->width * sizeof(*new->words);
	uint32_t at = (uint32_t) new->hash &(g->table_size - 1);

	for (; g->table[at]; at = (at + 1) & (g->table_size - 1)) {
		const struct genome *old = &g->members[g->table[at] - 1];

		if (old->hash == new->hash && memcmp(old->words, new->words, bytes) == 0)
			return false;
	}
	g->table[at] = i + 1;
	return true;
}

/* ---- worth */

static void assess(struct genetic *g, const struct genetic_problem *p, struct genome *genome)
{
	genome->hash = 0;
	for (uint32_t row = 0; row < g->rows; row++) {
		struct genome_row *r = &genome->rows[row];
		const uint64_t *words = genome->words + (size_t)row * g->width;

		if (r->stale) {
			p->weigh(p->ctx, row, words, r->value);
			r->hash = row_hash(row, words, g->width);
			r->stale = false;
			g->weighed++;
		}
		genome->hash += r->hash;
	}
	genome->objective[1] = 0;
	p->judge(p->ctx, genome, genome->objective);
	if (p->objectives == 1)
		genome->objective[1] = 0;
}

static bool dominates(const struct genome *a, const struct genome *b)
{
	return a->objective[0] >= b->objective[0] && a->objective[1] >= b->objective[1] &&
		(a->objective[0] > b->objective[0] || a->objective[1] > b->objective[1]);
}

/* Below 0: `a` is better in the first objective, or there equal and in the second. */
static int by_objectives(const struct genome *a, const struct genome *b)
{
	for (int k = 0; k < GENETIC_OBJECTIVES; k++) {
		if (a->objective[k] != b->objective[k])
			return a->objective[k] > b->objective[k] ? -1 : 1;
	}
	return 0;
}

/* Puts members a, b, … of `at` in the places of the first n. */
static void arrange(struct genetic *g, const uint32_t *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g->order[i] = g->members[at[i]];
	memcpy(g->members, g->order, n * sizeof(*g->order));
}

/* The best first, by merging, which takes no memory; equals stay as they were. */
static void sort_members(struct genetic *g, uint32_t n)
{
	uint32_t *from = g->shuffled, *to = g->ranks;

	for (uint32_t i = 0; i < n; i++)
		from[i] = i;
	for (uint32_t run = 1; run < n; run *= 2) {
		uint32_t *swap = from;

		for (uint32_t lo = 0; lo < n; lo += 2 * run) {
			uint32_t mid = lo + run < n ? lo + run : n;
			uint32_t hi = lo + 2 * run < n ? lo + 2 * run : n;
			uint32_t a = lo, b = mid;

			for (uint32_t i = lo; i < hi; i++) {
				bool left = a < mid &&
					(b == hi ||
						by_objectives(&g->members[from[a]],
							&g->members[from[b]]) <= 0);

				to[i] = from[left ? a++ : b++];
			}
		}
		from = to;
		to = swap;
	}
	arrange(g, from, n);
}

/*
 * Fronts of the first n members, sorted.  The last of a front is its best in the second objective: if
 * that one does not dominate the next, nobody in the front does.
 */
static void set_fronts(struct genetic *g, uint32_t n)
{
	uint32_t fronts = 0, *last = g->ranks;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t lo = 0, hi = fronts;

		while (lo < hi) {
			uint32_t mid = (lo + hi) / 2;

			if (dominates(&g->members[last[mid]], &g->members[i]))
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo == fronts)
			fronts++;
		last[lo] = i;
		g->members[i].front = lo;
	}
}

static bool ties(const struct genome *a, const struct genome *b)
{
	return a->objective[0] == b->objective[0] && a->objective[1] == b->objective[1];
}

/* Lists a front without those like the one before, which have no room at all; returns how many it has in all. */
static uint32_t list_front(struct genetic *g, uint32_t n, uint32_t f, uint32_t *ndistinct)
{
	uint32_t k = 0, distinct = 0, *front = g->ranks;

	for (uint32_t i = 0; i < n; i++) {
		if (g->members[i].front != f)
			continue;
		g->members[i].crowding = 0;
		if (distinct == 0 || !ties(&g->members[i], &g->members[front[distinct - 1]]))
			front[distinct++] = i;
		k++;
	}
	*ndistinct = distinct;
	return k;
}

/* Between two of its front, in parts of the front's extent. */
static double distance(const struct genetic *g, uint32_t a, uint32_t b, uint32_t ndistinct)
{
	const struct genome *first = &g->members[g->ranks[0]];
	const struct genome *last = &g->members[g->ranks[ndistinct - 1]];
	double sum = 0;

	for (int o = 0; o < GENETIC_OBJECTIVES; o++) {
		double extent = fabs(first->objective[o] - last->objective[o]);

		if (extent > 0)
			sum += fabs(g->members[g->ranks[a]].objective[o] -
				       g->members[g->ranks[b]].objective[o]) /
				extent;
	}
	return sum;
}

/* How far the neighbours in its front are, of as many fronts as will be kept. */
static void set_crowding(struct genetic *g, uint32_t n)
{
	for (uint32_t f = 0, seen = 0; seen < n && seen < g->population; f++) {
		uint32_t distinct;

		seen += list_front(g, n, f, &distinct);
		for (uint32_t i = 0; i < distinct; i++)
			g->members[g->ranks[i]].crowding = i == 0 || i == distinct - 1
				? INFINITY
				: distance(g, i - 1, i + 1, distinct);
	}
}

/* Lists the members by front in `at`, those of a front as they are. */
static void list_by_front(const struct genetic *g, uint32_t n, uint32_t *at)
{
	uint32_t *end = g->ranks, sum = 0;

	memset(end, 0, n * sizeof(*end));
	for (uint32_t i = 0; i < n; i++)
		end[g->members[i].front]++;
	for (uint32_t f = 0; f < n; f++) {
		sum += end[f];
		end[f] = sum - end[f];
	}
	for (uint32_t i = 0; i < n; i++)
		at[end[g->members[i].front]++] = i;
}

/* Of the front that is kept in part the least crowded come first. */
static void sort_last_front(const struct genetic *g, uint32_t n, uint32_t *at)
{
	uint32_t front = g->members[at[g->population - 1]].front, lo = g->population - 1;

	while (lo > 0 && g->members[at[lo - 1]].front == front)
		lo--;
	for (uint32_t i = lo + 1; i < n && g->members[at[i]].front == front; i++) {
		uint32_t j = i, moved = at[i];

		for (; j > lo && g->members[at[j - 1]].crowding < g->members[moved].crowding; j--)
			at[j] = at[j - 1];
		at[j] = moved;
	}
}

/* Keeps the best of `n` members and children, the front ones first. */
static void select_best(struct genetic *g, uint32_t n)
{
	sort_members(g, n);
	set_fronts(g, n);
	set_crowding(g, n);
	list_by_front(g, n, g->shuffled);
	if (n > g->population)
		sort_last_front(g, n, g->shuffled);
	arrange(g, g->shuffled, n);
	g->n = n < g->population ? n : g->population;
}

/* ---- children */

static void shuffle(uint32_t *at, uint32_t n, struct rng *rng)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)rng_below(rng, i), swap = at[i - 1];

		at[i - 1] = at[j];
		at[j] = swap;
	}
}

/* Everybody meets somebody as often as everybody else. */
static void draw_rivals(struct genetic *g, struct rng *rng)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->shuffled[i] = g->shuffled[g->n + i] = i;
	shuffle(g->shuffled, g->n, rng);
	shuffle(g->shuffled + g->n, g->n, rng);
}

static const struct genome *parent(struct genetic *g, uint32_t *turn, struct rng *rng)
{
	const struct genome *a, *b;

	if (*turn + 2 > 2 * g->n) {
		draw_rivals(g, rng);
		*turn = 0;
	}
	a = &g->members[g->shuffled[*turn]];
	b = &g->members[g->shuffled[*turn + 1]];
	*turn += 2;
	if (a->front != b->front && (dominates(a, b) || dominates(b, a)))
		return dominates(a, b) ? a : b;
	if (a->crowding != b->crowding)
		return a->crowding > b->crowding ? a : b;
	return rng_u64(rng) & 1 ? a : b;
}

static void copy_rows(const struct genetic *g, struct genome *to, const struct genome *from,
	uint32_t first, uint32_t end)
{
	size_t at = (size_t)first * g->width, n = (size_t)(end - first) * g->width;

	memcpy(to->words + at, from->words + at, n * sizeof(*to->words));
	memcpy(to->rows + first, from->rows + first, (end - first) * sizeof(*to->rows));
}

/* Makes member `n` of two parents; false: it is like another. */
static bool bear(struct genetic *g, const struct genetic_problem *p, const struct genome *a,
	const struct genome *b, uint32_t cut, uint32_t n, struct rng *rng)
{
	struct genome *child = &g->members[n];

	copy_rows(g, child, a, 0, cut);
	copy_rows(g, child, b, cut, g->rows);
	p->mutate(p->ctx, rng, child);
	p->repair(p->ctx, rng, child);
	assess(g, p, child);
	return enter(g, n);
}

/* Up to `population` children behind the members; fewer where nearly all are alike. */
static uint32_t breed(struct genetic *g, const struct genetic_problem *p,
	const struct genetic_options *o, struct rng *rng)
{
	uint32_t n = g->n, most = g->n + g->population, tries = 2 * g->population;
	uint32_t turn = UINT32_MAX / 2;

	for (; n < most && tries > 0; tries--) {
		const struct genome *a = parent(g, &turn, rng), *b = parent(g, &turn, rng);
		uint32_t cut = rng_uniform(rng) < o->crossover ? (uint32_t)rng_below(rng, g->rows) : 0;

		n += bear(g, p, b, a, cut, n, rng);
		if (n < most)
			n += bear(g, p, a, b, cut, n, rng);
	}
	return n;
}

/* ---- the search */

/* The first members, repaired, each once. */
static void found(struct genetic *g, const struct genetic_problem *p, struct rng *rng)
{
	uint32_t n = 0;

	if (g->n == 0)
		genetic_add(g);
	memset(g->table, 0, g->table_size * sizeof(*g->table));
	for (uint32_t i = 0; i < g->n; i++) {
		struct genome swap = g->members[n];

		g->members[n] = g->members[i];
		g->members[i] = swap;
		p->repair(p->ctx, rng, &g->members[n]);
		assess(g, p, &g->members[n]);
		n += enter(g, n);
	}
	select_best(g, n);
}

static void list_members(struct genetic *g)
{
	memset(g->table, 0, g->table_size * sizeof(*g->table));
	for (uint32_t i = 0; i < g->n; i++)
		enter(g, i);
}

static const struct genome *best(const struct genetic *g)
{
	const struct genome *best = &g->members[0];

	for (uint32_t i = 1; i < g->n; i++) {
		if (by_objectives(&g->members[i], best) < 0)
			best = &g->members[i];
	}
	return best;
}

const struct genome *genetic_run(struct genetic *g, const struct genetic_problem *p,
	const struct genetic_options *o, struct rng *rng)
{
	uint32_t idle = 0;
	double reached;

	found(g, p, rng);
	reached = best(g)->objective[0];
	for (g->generations = 1; g->generations < o->generations; g->generations++) {
		uint32_t n;

		list_members(g);
		n = breed(g, p, o, rng);
		if (n == g->n)
			break; /* it seems that there are no others */
		select_best(g, n);
		idle = best(g)->objective[0] > reached ? 0 : idle + 1;
		reached = best(g)->objective[0];
		if (o->patience > 0 && idle >= o->patience)
			break;
	}
	return best(g);
}

const struct genome *genetic_front(const struct genetic *g, uint32_t i)
{
	return i < g->n && g->members[i].front == 0 ? &g->members[i] : NULL;
}
