/*
 * Mutation of Pollux' matrices: rows lose cells or all that they gained, jobs
 * grow on nodes with free devices, others begin there.
 *
 * Draws that rarely come true are made for those that do, not for each cell.
 */
#include "policy/elastic/pollux_rows.h"

enum {
	TENTH = 6554, /* of 65536 */
	BOTH = 655,   /* a tenth of that */
};

/* ---- less */

static void reset_row(const struct pollux_search *s, struct genome *child, uint32_t job)
{
	uint64_t *row = pollux_row(s, child->words, job), *base = pollux_row(s, s->base, job);

	if (pollux_same(row, base, s->width))
		return;
	pollux_copy(row, base, s->width);
	genetic_touch(child, job);
}

static void clear_cells(struct pollux_search *s, struct genome *child, uint32_t job)
{
	uint64_t *row = pollux_row(s, child->words, job);

	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t rest = genetic_flags(row[i]); rest;) {
			uint32_t n = genetic_next(&rest);

			if (!pollux_happens(s, TENTH))
				continue;
			row[i] = genetic_without(row[i], n);
			genetic_touch(child, job);
		}
	}
}

static void shrink_row(struct pollux_search *s, struct genome *child, uint32_t job, uint32_t u)
{
	if (u < TENTH)
		reset_row(s, child, job);
	if (u < BOTH || u >= TENTH)
		clear_cells(s, child, job);
}

/* The highest bits of those of four 16-bit numbers that are less than a limit of at most 32768. */
static uint64_t lanes_below(uint64_t lanes, uint64_t limit)
{
	const uint64_t ones = UINT64_C(0x0001000100010001), high = ones << 15;

	return ~(lanes | ((lanes | high) - limit * ones)) & high;
}

/*
 * A tenth of the rows are reset to what is now, a tenth (of these, too) lose a tenth of their cells: 16 bits
 * for both, of four rows at once, so that there is no branch for each row.
 */
static void shrink_some(struct pollux_search *s, struct genome *child)
{
	for (uint32_t j = 0; j < s->jobs; j += 4) {
		uint64_t rolled = pollux_roll(s);

		for (uint64_t some = lanes_below(rolled, 2 * TENTH - BOTH); some; some &= some - 1) {
			uint32_t k = (uint32_t)__builtin_ctzll(some) / 16;

			if (j + k < s->jobs)
				shrink_row(s, child, j + k, rolled >> 16 * k & 0xffff);
		}
	}
}

/* ---- more */

/* What nodes have left into s->left, which of them have any into s->open, how many jobs they have into s->many. */
POLLUX_INLINE void count_left(struct pollux_search *s, const struct genome *child, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++) {
		const uint64_t *word = child->words + i;
		uint64_t left = s->capacity[i], many = 0;

		for (uint32_t j = 0; j < s->jobs; j++, word += width) {
			if (pollux_skip(*word, width))
				continue;
			left = genetic_less(left, *word);
			many += genetic_flags(*word) >> 7;
		}
		s->left[i] = left;
		s->open[i] = genetic_flags(left);
		s->many[i] = many;
	}
}

/* Anything from what it has up to the whole node. */
static void grow_cell(struct pollux_search *s, struct genome *child, uint32_t job, uint32_t node)
{
	uint8_t *cell = genetic_cells(pollux_row(s, child->words, job)) + node;
	uint32_t most = genetic_cells(s->capacity)[node];

	if (*cell < most) {
		uint32_t more = pollux_roll_below(s, most - *cell + 1);

		*cell = (uint8_t)(*cell + more);
		if (more)
			genetic_touch(child, job);
	}
}

/* Jobs that are on a node with free devices. */
POLLUX_INLINE void grow_some(struct pollux_search *s, struct genome *child, uint32_t width)
{
	const uint64_t *row = child->words;

	for (uint32_t j = 0; j < s->jobs; j++, row += width) {
		for (uint32_t i = 0; i < width; i++) {
			uint64_t open = genetic_flags(row[i]) & s->open[i];

			while (open) {
				uint32_t node = 8 * i + genetic_next(&open);

				if (pollux_happens(s, s->threshold[genetic_cells(s->many)[node]]))
					grow_cell(s, child, j, node);
			}
		}
	}
}

/* Jobs that are not yet on such a node: each with probability 1 / jobs, so about one for each node. */
static void begin_on(struct pollux_search *s, struct genome *child, uint32_t node)
{
	uint32_t births = 0, chosen[POLLUX_BIRTHS_MAX], u = pollux_roll(s) & 0xffff;

	while (births < POLLUX_BIRTHS_MAX && births < s->jobs && u >= s->birth[births])
		births++;
	for (uint32_t b = 0; b < births; b++) {
		bool again = false;

		chosen[b] = pollux_roll_below(s, s->jobs);
		for (uint32_t c = 0; c < b; c++)
			again |= chosen[c] == chosen[b];
		if (again)
			b--;
		else if (genetic_cells(pollux_row(s, child->words, chosen[b]))[node] == 0)
			grow_cell(s, child, chosen[b], node);
	}
}

static void begin_some(struct pollux_search *s, struct genome *child)
{
	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t open = s->open[i]; open;)
			begin_on(s, child, 8 * i + genetic_next(&open));
	}
}

/* ---- */

POLLUX_INLINE void mutate_rows(struct pollux_search *s, struct genome *child, uint32_t width)
{
	shrink_some(s, child);
	count_left(s, child, width);
	grow_some(s, child, width);
	begin_some(s, child);
}

void pollux_mutate(void *ctx, struct rng *rng, struct genome *child)
{
	struct pollux_search *s = ctx;

	s->dice = rng_u64(rng);
	if (s->width == POLLUX_NARROW)
		mutate_rows(s, child, POLLUX_NARROW);
	else
		mutate_rows(s, child, s->width);
}
