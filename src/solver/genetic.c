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
	free(g->keys);
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
	g->keys = mem_resize(g->keys, mem_array_size(2 * places, sizeof(*g->keys)));
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
	size_t cells, words;

	g->rows = rows;
	g->cols = cols;
	g->width = genetic_width(cols);
	g->population = population;
	g->n = 0;
	cells = (size_t)rows * g->width;
	words = cells + (rows + 63) / 64;
	reserve_members(g, places);
	reserve_cells(g, places * words, places * rows);
	for (size_t i = 0; i < places; i++)
		g->members[i] = (struct genome){
			.words = g->words + i * words,
			.rows = g->row_memory + i * rows,
			.changed = g->words + i * words + cells,
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

static uint32_t row_hash(uint32_t row, const uint64_t *words, uint32_t width)
{
	uint64_t hash = row;

	for (uint32_t i = 0; i < width; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
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

static void sign(const struct genetic *g, struct genome *genome)
{
	uint32_t n = g->rows;

	for (uint32_t row = genetic_changed(genome, 0, n); row < n;
		row = genetic_changed(genome, row + 1, n))
		genome->rows[row].hash = row_hash(row, genome->words + (size_t)row * g->width,
			g->width);
	genome->hash = 0;
	for (uint32_t row = 0; row < n; row++)
		genome->hash += genome->rows[row].hash;
}

/* ---- worth */

static void clear_changed(const struct genetic *g, struct genome *genome)
{
	for (uint32_t i = 0; i < (g->rows + 63) / 64; i++)
		genome->changed[i] = 0;
}

static void assess(struct genetic *g, const struct genetic_problem *p, struct genome *genome)
{
	uint32_t n = g->rows;

	for (uint32_t row = genetic_changed(genome, 0, n); row < n;
		row = genetic_changed(genome, row + 1, n)) {
		p->weigh(p->ctx, row, genome->words + (size_t)row * g->width, &genome->rows[row]);
		g->weighed++;
	}
	clear_changed(g, genome);
	genome->objective[1] = 0;
	p->judge(p->ctx, genome, genome->objective);
	if (p->objectives == 1)
		genome->objective[1] = 0;
}

static bool dominates(const double a[GENETIC_OBJECTIVES], const double b[GENETIC_OBJECTIVES])
{
	return (a[0] >= b[0]) & (a[1] >= b[1]) & ((a[0] > b[0]) | (a[1] > b[1]));
}

/* Whether `a` is not worse in the first objective or, where equal, in the second; without a branch, which would be a guess half the time. */
static bool in_order(const double a[GENETIC_OBJECTIVES], const double b[GENETIC_OBJECTIVES])
{
	return (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] >= b[1]));
}

/* Two sorted runs of keys, from[lo..mid) and from[mid..hi), into one. */
static void merge(const struct genetic_key *from, struct genetic_key *to, uint32_t lo, uint32_t mid,
	uint32_t hi)
{
	uint32_t a = lo, b = mid, i = lo;

	while (a < mid && b < hi) {
		bool left = in_order(from[a].objective, from[b].objective);

		to[i++] = from[left ? a : b];
		a += left;
		b += !left;
	}
	memcpy(to + i, from + a, (mid - a) * sizeof(*to));
	memcpy(to + i + (mid - a), from + b, (hi - b) * sizeof(*to));
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The keys of the first n members, the best first; equals stay as they were. */
static struct genetic_key *sort_keys(struct genetic *g, uint32_t n)
{
	struct genetic_key *from = g->keys, *to = g->keys + g->members_cap;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(from[i].objective, g->members[i].objective, sizeof(from[i].objective));
		from[i].member = i;
	}
	for (uint32_t run = 1; run < n; run *= 2) {
		struct genetic_key *swap = from;

		for (uint32_t lo = 0; lo < n; lo += 2 * run)
			merge(from, to, lo, lesser(lo + run, n), lesser(lo + 2 * run, n));
		from = to;
		to = swap;
	}
	return from;
}

/*
 * Fronts of sorted keys.  The last of a front is its best in the second objective: if that one does not
 * dominate the next, nobody in the front does.
 */
static void set_fronts(struct genetic_key *keys, uint32_t n, uint32_t *last)
{
	uint32_t fronts = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t lo = 0, hi = fronts;

		while (lo < hi) {
			uint32_t mid = (lo + hi) / 2;

			if (dominates(keys[last[mid]].objective, keys[i].objective))
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo == fronts)
			fronts++;
		last[lo] = i;
		keys[i].front = lo;
	}
}

/* Lists keys by front in `at`, those of a front as they are. */
static void list_by_front(const struct genetic_key *keys, uint32_t n, uint32_t *at, uint32_t *end)
{
	uint32_t sum = 0;

	memset(end, 0, n * sizeof(*end));
	for (uint32_t i = 0; i < n; i++)
		end[keys[i].front]++;
	for (uint32_t f = 0; f < n; f++) {
		sum += end[f];
		end[f] = sum - end[f];
	}
	for (uint32_t i = 0; i < n; i++)
		at[end[keys[i].front]++] = i;
}

/* Of a front of n the distinct ones: those like the one before have no room at all. */
static uint32_t list_distinct(struct genetic_key *keys, const uint32_t *front, uint32_t n,
	uint32_t *distinct)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct genetic_key *key = &keys[front[i]];
		const double *before = k > 0 ? keys[distinct[k - 1]].objective : NULL;

		key->crowding = 0;
		if (!before || key->objective[0] != before[0] || key->objective[1] != before[1])
			distinct[k++] = front[i];
	}
	return k;
}

/* Between two of a front, in parts of the front's extent. */
static double distance(const struct genetic_key *a, const struct genetic_key *b,
	const double extent[GENETIC_OBJECTIVES])
{
	double sum = 0;

	for (int o = 0; o < GENETIC_OBJECTIVES; o++) {
		if (extent[o] > 0)
			sum += fabs(a->objective[o] - b->objective[o]) / extent[o];
	}
	return sum;
}

/* How far the neighbours in a front of n are. */
static void crowd_front(struct genetic_key *keys, const uint32_t *front, uint32_t n, uint32_t *distinct)
{
	uint32_t k = list_distinct(keys, front, n, distinct);
	const struct genetic_key *first = &keys[distinct[0]], *last = &keys[distinct[k - 1]];
	double extent[GENETIC_OBJECTIVES];

	for (int o = 0; o < GENETIC_OBJECTIVES; o++)
		extent[o] = fabs(first->objective[o] - last->objective[o]);
	for (uint32_t i = 0; i < k; i++)
		keys[distinct[i]].crowding = i == 0 || i == k - 1
			? INFINITY
			: distance(&keys[distinct[i - 1]], &keys[distinct[i + 1]], extent);
}

/* Of as many fronts as will be kept. */
static void set_crowding(struct genetic_key *keys, const uint32_t *at, uint32_t n, uint32_t kept,
	uint32_t *distinct)
{
	for (uint32_t lo = 0, hi = 0; lo < n && lo < kept; lo = hi) {
		while (hi < n && keys[at[hi]].front == keys[at[lo]].front)
			hi++;
		crowd_front(keys, at + lo, hi - lo, distinct);
	}
}

/* Of the front that is kept in part the least crowded come first. */
static void sort_last_front(const struct genetic_key *keys, uint32_t n, uint32_t kept, uint32_t *at)
{
	uint32_t front = keys[at[kept - 1]].front, lo = kept - 1;

	while (lo > 0 && keys[at[lo - 1]].front == front)
		lo--;
	for (uint32_t i = lo + 1; i < n && keys[at[i]].front == front; i++) {
		uint32_t j = i, moved = at[i];

		for (; j > lo && keys[at[j - 1]].crowding < keys[moved].crowding; j--)
			at[j] = at[j - 1];
		at[j] = moved;
	}
}

/* Puts members in the order of their keys that `at` lists. */
static void arrange(struct genetic *g, const struct genetic_key *keys, const uint32_t *at, uint32_t n)
{
	struct genome *ordered = g->order;

	for (uint32_t i = 0; i < n; i++) {
		const struct genetic_key *key = &keys[at[i]];

		ordered[i] = g->members[key->member];
		ordered[i].front = key->front;
		ordered[i].crowding = key->crowding;
	}
	memcpy(g->order + n, g->members + n, (2 * (size_t)g->population - n) * sizeof(*g->order));
	g->order = g->members;
	g->members = ordered;
}

/* Keeps the best of `n` members and children, the front ones first. */
static void select_best(struct genetic *g, uint32_t n)
{
	struct genetic_key *keys = sort_keys(g, n);
	uint32_t *at = g->shuffled;

	set_fronts(keys, n, g->ranks);
	list_by_front(keys, n, at, g->ranks);
	set_crowding(keys, at, n, g->population, g->ranks);
	if (n > g->population)
		sort_last_front(keys, n, g->population, at);
	arrange(g, keys, at, n);
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
	if (a->front != b->front && dominates(a->objective, b->objective))
		return a;
	if (a->front != b->front && dominates(b->objective, a->objective))
		return b;
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

	clear_changed(g, child);
	copy_rows(g, child, a, 0, cut);
	copy_rows(g, child, b, cut, g->rows);
	p->mutate(p->ctx, rng, child);
	p->repair(p->ctx, rng, child);
	sign(g, child);
	if (!enter(g, n))
		return false;
	assess(g, p, child);
	return true;
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
		sign(g, &g->members[n]);
		if (!enter(g, n))
			continue;
		assess(g, p, &g->members[n]);
		n++;
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
		if (!in_order(best->objective, g->members[i].objective))
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
