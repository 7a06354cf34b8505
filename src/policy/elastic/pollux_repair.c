/*
 * Repair of Pollux' matrices: what is not allowed is cut, row by row.
 *
 * What a row has is counted when it changes and kept with it (genome_row.note).
 */
#include "policy/elastic/pollux_rows.h"

/* ---- rows by themselves */

/* Leaves the type it has most devices of, the first of equals, among those it may use. */
static void cut_types(const struct pollux_search *s, uint32_t job, uint64_t *row)
{
	uint32_t best = 0, most = 0;

	for (uint32_t t = 0; t < s->types; t++) {
		const uint64_t *mask = s->type_mask + (size_t)t * s->width;
		uint32_t gpus = 0;

		if (!(s->may_use[job] >> t & 1))
			continue;
		for (uint32_t i = 0; i < s->width; i++)
			gpus += genetic_sum(row[i] & mask[i]);
		if (gpus > most) {
			most = gpus;
			best = t;
		}
	}
	for (uint32_t i = 0; i < s->width; i++)
		row[i] &= most ? s->type_mask[(size_t)best * s->width + i] : 0;
}

/* Lists the nodes of a row in random order; returns how many. */
static uint32_t list_nodes(struct pollux_search *s, const uint64_t *row)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->width; i++) {
		for (uint64_t rest = genetic_flags(row[i]); rest;)
			s->order[n++] = 8 * i + genetic_next(&rest);
	}
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = pollux_roll_below(s, i), swap = s->order[i - 1];

		s->order[i - 1] = s->order[j];
		s->order[j] = swap;
	}
	return n;
}

/* At most so many devices and nodes, whichever of them. */
static void cut_row(struct pollux_search *s, uint64_t *row, uint32_t most)
{
	uint32_t n = list_nodes(s, row), gpus = 0, nodes = 0;
	uint8_t *cells = genetic_cells(row);

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *cell = &cells[s->order[i]];

		if (*cell > most - gpus)
			*cell = (uint8_t)(most - gpus);
		if (s->widest && nodes == s->widest)
			*cell = 0;
		gpus += *cell;
		nodes += *cell > 0;
	}
}

/* Takes off so many, whichever of them. */
static void trim_row(struct pollux_search *s, uint64_t *row, uint32_t off)
{
	uint32_t n = list_nodes(s, row);
	uint8_t *cells = genetic_cells(row);

	for (uint32_t i = 0; i < n && off > 0; i++) {
		uint8_t *cell = &cells[s->order[i]], less = *cell < off ? *cell : (uint8_t)off;

		*cell = (uint8_t)(*cell - less);
		off -= less;
	}
}

/* ---- repair of those that cannot do with a few */

/* The node with the least room of those that have enough; UINT32_MAX: none. */
static uint32_t snug_node(const struct pollux_search *s, uint32_t type, uint32_t gpus)
{
	const uint8_t *left = genetic_cells(s->left);
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0; n < s->nodes; n++) {
		if (s->node_type[n] == type && left[n] >= gpus &&
			(best == UINT32_MAX || left[n] < left[best]))
			best = n;
	}
	return best;
}

/* The node with the most room of those it may add. */
static uint32_t roomy_node(const struct pollux_search *s, uint32_t type, const uint8_t *cells)
{
	const uint8_t *left = genetic_cells(s->left), *taken = genetic_cells(s->taken);
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0; n < s->nodes; n++) {
		if (s->node_type[n] != type || left[n] == 0 || cells[n] || (s->avoid && taken[n]))
			continue;
		if (best == UINT32_MAX || left[n] > left[best])
			best = n;
	}
	return best;
}

static bool spread(struct pollux_search *s, uint64_t *row, uint32_t type, uint32_t gpus)
{
	uint8_t *cells = genetic_cells(row);
	uint32_t nodes = 0;

	while (gpus > 0) {
		uint32_t n = roomy_node(s, type, cells);

		if (n == UINT32_MAX || (s->widest && nodes == s->widest))
			return false;
		cells[n] = genetic_cells(s->left)[n];
		if (cells[n] > gpus)
			cells[n] = (uint8_t)gpus;
		gpus -= cells[n];
		nodes++;
	}
	return true;
}

/* A job with some devices but fewer than its least: as many as that on the type, or none. */
static void complete_row(struct pollux_search *s, uint32_t job, uint64_t *row, bool apart)
{
	uint32_t type = pollux_row_type(s, row);
	uint32_t least = s->least[(size_t)job * s->types + type];
	uint32_t n = snug_node(s, type, least);

	for (uint32_t i = 0; apart && i < s->width; i++)
		s->taken[i] &= ~s->mine[i];
	memset(row, 0, s->width * sizeof(*row));
	if (n != UINT32_MAX) {
		genetic_cells(row)[n] = (uint8_t)least;
		return;
	}
	if (!spread(s, row, type, least)) {
		memset(row, 0, s->width * sizeof(*row));
		return;
	}
	for (uint32_t i = 0; s->avoid && i < s->width; i++)
		s->taken[i] |= genetic_set(row[i]);
}

/* ---- rows beside those before them */

/* Nodes that a distributed job of an earlier row has are taken for this one; says whether it wanted none. */
POLLUX_INLINE bool keep_apart(struct pollux_search *s, uint64_t *row, uint32_t width)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < width; i++) {
		uint64_t mine = genetic_set(row[i]) & ~s->taken[i];

		lost |= row[i] & s->taken[i];
		row[i] &= ~s->taken[i];
		s->mine[i] = mine;
		s->taken[i] |= mine;
	}
	return lost == 0;
}

/* Nodes may have less left than it wants; says whether all had enough. */
POLLUX_INLINE bool fit_row(const struct pollux_search *s, uint64_t *row, uint32_t width)
{
	bool fits = true;

	for (uint32_t i = 0; i < width; i++)
		fits &= genetic_fits(row[i], s->left[i]);
	for (uint32_t i = 0; !fits && i < width; i++)
		row[i] = genetic_least(row[i], s->left[i]);
	return fits;
}

/* ---- */

/* It changed: counts it anew. */
POLLUX_INLINE void recount(struct genome *child, uint32_t job, uint32_t width)
{
	genetic_touch(child, job);
	pollux_count(child->words + (size_t)job * width, width, child->rows[job].note);
}

static bool is_too_large(const struct pollux_search *s, const uint32_t note[2], uint32_t most)
{
	return note[POLLUX_NOTE_GPUS] > most || (s->widest && note[POLLUX_NOTE_NODES] > s->widest);
}

POLLUX_INLINE void repair_row(struct pollux_search *s, struct genome *child, uint32_t job, uint32_t width)
{
	uint64_t *row = child->words + (size_t)job * width;
	const uint32_t *note = child->rows[job].note;
	bool apart = s->avoid && note[POLLUX_NOTE_NODES] > 1;
	size_t limit;
	bool whole;

	if (apart && !keep_apart(s, row, width))
		recount(child, job, width);
	limit = (size_t)job * s->types + pollux_row_type(s, row);
	whole = !is_too_large(s, note, s->most[limit]);
	if (!whole)
		cut_row(s, row, s->most[limit]);
	if (!fit_row(s, row, width) || !whole)
		recount(child, job, width);
	if (s->unit && note[POLLUX_NOTE_GPUS] % s->unit[limit]) {
		uint32_t off = note[POLLUX_NOTE_GPUS] % s->unit[limit];

		/* what is less than one unit is made one below */
		if (off < note[POLLUX_NOTE_GPUS])
			trim_row(s, row, off);
		recount(child, job, width);
	}
	if (note[POLLUX_NOTE_GPUS] > 0 && note[POLLUX_NOTE_GPUS] < s->least[limit]) {
		complete_row(s, job, row, apart);
		recount(child, job, width);
	}
	for (uint32_t i = 0; i < width; i++)
		s->left[i] -= row[i];
}

/* Devices of the nodes that somebody is on, for the second objective. */
static double in_use(const struct pollux_search *s)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < s->width; i++)
		gpus += genetic_sum(s->capacity[i] & genetic_set(s->capacity[i] - s->left[i]));
	return gpus;
}

/* Rows that changed, by themselves. */
POLLUX_INLINE void count_changed(struct pollux_search *s, struct genome *child, uint32_t width)
{
	for (uint32_t j = genetic_changed(child, 0, s->jobs); j < s->jobs;
		j = genetic_changed(child, j + 1, s->jobs)) {
		uint64_t *row = child->words + (size_t)j * width;

		if (s->types > 1 || !s->may_use[j])
			cut_types(s, j, row);
		pollux_count(row, width, child->rows[j].note);
	}
}

POLLUX_INLINE void repair_rows(struct pollux_search *s, struct genome *child, uint32_t width)
{
	count_changed(s, child, width);
	pollux_copy(s->left, s->capacity, width);
	for (uint32_t i = 0; i < width; i++)
		s->taken[i] = 0;
	for (uint32_t j = 0; j < s->jobs; j++) {
		if (child->rows[j].note[POLLUX_NOTE_GPUS] > 0)
			repair_row(s, child, j, width);
	}
	child->extra = in_use(s);
}

void pollux_repair(void *ctx, struct rng *rng, struct genome *child)
{
	struct pollux_search *s = ctx;

	s->dice = rng_u64(rng);
	if (s->width == POLLUX_NARROW)
		repair_rows(s, child, POLLUX_NARROW);
	else
		repair_rows(s, child, s->width);
}
