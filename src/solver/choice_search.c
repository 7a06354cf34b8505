/*
 * Every answer that costs little more than the bound, at once.
 *
 * At the prices an answer costs the bound, the excess of each row's way over
 * its cheapest, and the worth of what is left of each type.  So of answers
 * within a given sum most rows have one way only; the others are gone through
 * from the last to the first, keeping for each use of the types the least
 * excess.  Afterwards they are gone through from the first, to find of all the
 * best answers the one that gives row 0 the smallest cost, then row 1.
 */
#include <string.h>

#include "base/vec.h"
#include "solver/choice_parts.h"

/* So much used (in mixed radix), and the least excess for it. */
struct state {
	uint64_t key;
	int64_t excess;
};

struct search {
	struct choosing *c;
	int64_t within;
	uint64_t *work;
	uint32_t *rows; /* that have several ways, in order */
	uint32_t nrows;
	int64_t room[CHOICE_TYPES_MAX];    /* beside the rows that have one way */
	uint64_t stride[CHOICE_TYPES_MAX]; /* of a unit in a key; 0: there is enough of the type */
	int64_t (*more)[CHOICE_TYPES_MAX]; /* by number of rows: what the first so many can use */
	VEC(struct state) states;
	size_t *start; /* of the states of each level; level i: rows i and later have been decided */
	uint32_t *table; /* hash of the level at hand: 1 + index into states */
	size_t mask;
};

/* ---- which rows, which types */

static bool worth_a_look(const struct search *s, const struct offer *offer)
{
	return offer->excess <= s->within;
}

static uint32_t count_ways(const struct search *s, uint32_t row, uint32_t *only)
{
	const struct choosing *c = s->c;
	uint32_t n = 0;

	for (uint32_t o = c->first[row]; o < c->first[row + 1]; o++) {
		if (worth_a_look(s, &c->offers[o])) {
			n++;
			*only = o;
		}
	}
	return n;
}

static void split_rows(struct search *s)
{
	const struct choosing *c = s->c;

	memcpy(s->room, c->capacity, sizeof(s->room));
	for (uint32_t row = 0; row < c->nrows; row++) {
		uint32_t only = 0;

		if (count_ways(s, row, &only) > 1)
			s->rows[s->nrows++] = row;
		else
			s->room[c->offers[only].type] -= c->offers[only].amount;
	}
}

/* What the rows 0 to i - 1 can use of each type, for every i. */
static void add_up_uses(struct search *s)
{
	const struct choosing *c = s->c;

	for (uint32_t i = 0; i < s->nrows; i++) {
		uint32_t most[CHOICE_TYPES_MAX] = { 0 };

		for (uint32_t o = c->first[s->rows[i]]; o < c->first[s->rows[i] + 1]; o++) {
			const struct offer *offer = &c->offers[o];

			if (worth_a_look(s, offer) && offer->amount > most[offer->type])
				most[offer->type] = offer->amount;
		}
		for (uint32_t t = 0; t < c->ntypes; t++)
			s->more[i + 1][t] = s->more[i][t] + most[t];
	}
}

/* A key has a digit for each type that can run out or has a price; false: it does not fit into a word. */
static bool lay_out_keys(struct search *s)
{
	double all = 1;
	uint64_t stride = 1;

	for (uint32_t t = 0; t < s->c->ntypes; t++) {
		if (s->more[s->nrows][t] <= s->room[t] && s->c->price[t] == 0)
			continue;
		s->stride[t] = stride;
		all *= (double)s->room[t] + 1;
		if (all > 9e18)
			return false;
		stride *= (uint64_t)s->room[t] + 1;
	}
	return true;
}

static int64_t used_of(const struct search *s, uint64_t key, uint32_t type)
{
	return s->stride[type] ? (int64_t)(key / s->stride[type] % ((uint64_t)s->room[type] + 1)) : 0;
}

/* What must be left of the types at least if `first` more rows are to come. */
static int64_t worth_left(const struct search *s, uint64_t key, uint32_t first)
{
	int64_t worth = 0;

	for (uint32_t t = 0; t < s->c->ntypes; t++) {
		int64_t left;

		if (s->c->price[t] == 0)
			continue;
		left = s->room[t] - used_of(s, key, t) - s->more[first][t];
		if (left > 0)
			worth += left * s->c->price[t];
	}
	return worth;
}

/* ---- states of a level */

static size_t slot_of(const struct search *s, uint64_t key)
{
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & s->mask;

	while (s->table[at] && s->states.at[s->table[at] - 1].key != key)
		at = (at + 1) & s->mask;
	return at;
}

static void index_states(struct search *s, size_t from, size_t size)
{
	if (size != s->mask + 1 || !s->table) {
		s->table = mem_resize(s->table, size * sizeof(*s->table));
		s->mask = size - 1;
	}
	memset(s->table, 0, size * sizeof(*s->table));
	for (size_t i = from; i < s->states.n; i++)
		s->table[slot_of(s, s->states.at[i].key)] = (uint32_t)i + 1;
}

static void note_state(struct search *s, size_t level_start, struct state state)
{
	size_t at = slot_of(s, state.key);

	if (s->table[at]) {
		struct state *known = &s->states.at[s->table[at] - 1];

		known->excess = state.excess < known->excess ? state.excess : known->excess;
		return;
	}
	vec_push(&s->states, state);
	s->table[at] = (uint32_t)s->states.n;
	if ((s->states.n - level_start) * 2 > s->mask)
		index_states(s, level_start, (s->mask + 1) * 2);
}

/* All that comes of a state if the row goes each of its ways. */
static void spread(struct search *s, uint32_t row, struct state from, size_t level_start)
{
	const struct choosing *c = s->c;

	for (uint32_t o = c->first[s->rows[row]]; o < c->first[s->rows[row] + 1]; o++) {
		const struct offer *offer = &c->offers[o];
		struct state to = { from.key + s->stride[offer->type] * offer->amount,
			from.excess + offer->excess };

		if (to.excess > s->within ||
			(s->stride[offer->type] &&
				used_of(s, from.key, offer->type) + offer->amount >
					s->room[offer->type]) ||
			to.excess + worth_left(s, to.key, row) > s->within)
			continue;
		note_state(s, level_start, to);
	}
}

/* From the last row to the first; false: out of work. */
static bool go_through(struct search *s)
{
	vec_push(&s->states, (struct state){ 0 });
	s->start[s->nrows] = 0;
	for (uint32_t row = s->nrows; row-- > 0;) {
		size_t from = s->start[row + 1], end = s->states.n;
		uint64_t cost = (end - from) *
			(s->c->first[s->rows[row] + 1] - s->c->first[s->rows[row]]);

		if (cost > *s->work || end > UINT32_MAX / 4) {
			*s->work = 0;
			return false;
		}
		*s->work -= cost;
		s->start[row] = end;
		index_states(s, end, 64);
		for (size_t i = from; i < end; i++)
			spread(s, row, s->states.at[i], end);
	}
	return true;
}

/* ---- the best of them */

struct trail {
	VEC(uint32_t) at; /* states from which the best value can still be reached */
	VEC(uint32_t) next;
};

/* The states of level 0 with the least cost; false: there is none. */
static bool find_best(const struct search *s, struct trail *trail, int64_t *best)
{
	*best = s->within + 1;
	for (size_t i = s->start[0]; i < s->states.n; i++) {
		const struct state *state = &s->states.at[i];
		int64_t excess = state->excess + worth_left(s, state->key, 0);

		if (excess > *best || excess > s->within)
			continue;
		if (excess < *best)
			trail->at.n = 0;
		*best = excess;
		vec_push(&trail->at, (uint32_t)i);
	}
	return trail->at.n > 0;
}

/* The states of the next level that those of the trail come from if the row goes this way; each from another. */
static bool follow(const struct search *s, struct trail *trail, const struct offer *offer)
{
	trail->next.n = 0;
	for (size_t i = 0; i < trail->at.n; i++) {
		const struct state *to = &s->states.at[trail->at.at[i]];
		uint64_t used = s->stride[offer->type] * offer->amount;
		uint32_t from;

		if (s->stride[offer->type] && used_of(s, to->key, offer->type) < offer->amount)
			continue;
		from = s->table[slot_of(s, to->key - used)];
		if (from && s->states.at[from - 1].excess + offer->excess == to->excess)
			vec_push(&trail->next, from - 1);
	}
	return trail->next.n > 0;
}

/* Indexes the states of a level only. */
static void index_level(struct search *s, uint32_t level)
{
	size_t from = s->start[level], n = s->states.n;
	size_t end = level > 0 ? s->start[level - 1] : n, size = 64;

	while (size < (end - from) * 2)
		size *= 2;
	s->states.n = end;
	index_states(s, from, size);
	s->states.n = n;
}

static void walk(struct search *s, struct trail *trail)
{
	const struct choosing *c = s->c;

	for (uint32_t row = 0; row < s->nrows; row++) {
		uint32_t o = c->first[s->rows[row]];

		index_level(s, row + 1);
		while (!worth_a_look(s, &c->offers[o]) || !follow(s, trail, &c->offers[o]))
			o++;
		c->pick[s->rows[row]] = o;
		memcpy(trail->at.at, trail->next.at, trail->next.n * sizeof(uint32_t));
		trail->at.n = trail->next.n;
	}
}

static void take_best(struct search *s)
{
	struct choosing *c = s->c;
	struct trail trail = { 0 };
	uint32_t only = 0;
	int64_t best;

	if (find_best(s, &trail, &best)) {
		for (uint32_t row = 0; row < c->nrows; row++) {
			if (count_ways(s, row, &only) == 1)
				c->pick[row] = only;
		}
		walk(s, &trail);
		c->value = 0;
		for (uint32_t row = 0; row < c->nrows; row++)
			c->value += c->offers[c->pick[row]].cost;
	}
	vec_fini(&trail.at);
	vec_fini(&trail.next);
}

/* Whether the rows that have one way fit; if not, there is no answer within. */
static bool rest_fits(const struct search *s)
{
	for (uint32_t t = 0; t < s->c->ntypes; t++) {
		if (s->room[t] < 0)
			return false;
	}
	return true;
}

bool choice_search(struct choosing *c, int64_t within, uint64_t *work)
{
	struct search s = { .c = c, .within = within, .work = work };
	bool done = true;

	s.rows = mem_alloc(c->nrows * sizeof(*s.rows));
	split_rows(&s);
	s.more = mem_alloc((s.nrows + 1) * sizeof(*s.more));
	s.start = mem_alloc((s.nrows + 1) * sizeof(*s.start));
	add_up_uses(&s);
	if (rest_fits(&s)) {
		done = lay_out_keys(&s) && go_through(&s);
		if (done)
			take_best(&s);
	}
	free(s.rows);
	free(s.more);
	free(s.start);
	free(s.table);
	vec_fini(&s.states);
	return done;
}
