/*
 * Widest rings: of the widths there are, the largest at which a ring is left.
 *
 * Whether there is one is tried out, with a look ahead for vertices that cannot
 * be passed any more.  Link graphs are small and either sparse or dense, where
 * that ends at once; a search that does not within its budget counts as failed, so that
 * the answer may then be too small, but is always the same.
 */
#include "solver/ring.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

enum { VERTICES_MAX = 64, BUDGET = 400000 };

struct search {
	uint64_t adjacent[VERTICES_MAX]; /* by edges that are wide enough */
	uint32_t start, budget;
};

static uint64_t bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

static uint32_t count(uint64_t set)
{
	return (uint32_t)__builtin_popcountll(set);
}

/* Whether every vertex that is left can still be entered and left again. */
static bool all_passable(const struct search *s, uint32_t at, uint64_t left)
{
	uint64_t open = left | bit(at) | bit(s->start);

	if (count(open) == 2)
		return true; /* there and back on one edge */
	for (uint64_t rest = left; rest; rest &= rest - 1) {
		if (count(s->adjacent[__builtin_ctzll(rest)] & open) < 2)
			return false;
	}
	return true;
}

/* Whether the path that is `at` can go on through `more` of `left` and home; all of them, or any. */
static bool closes(struct search *s, uint32_t at, uint64_t left, uint32_t more)
{
	bool all = count(left) == more;

	if (more == 0)
		return s->adjacent[at] & bit(s->start);
	if (s->budget == 0 || (all && !all_passable(s, at, left)))
		return false;
	s->budget--;
	for (uint64_t next = s->adjacent[at] & left; next; next &= next - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(next);

		if (closes(s, v, left & ~bit(v), more - 1))
			return true;
	}
	return false;
}

static bool any_ring(struct search *s, uint64_t set, uint32_t k)
{
	s->budget = BUDGET;
	for (uint64_t rest = set; count(rest) >= k; rest &= rest - 1) {
		s->start = (uint32_t)__builtin_ctzll(rest);
		if (closes(s, s->start, rest & (rest - 1), k - 1))
			return true;
	}
	return false;
}

static int wider_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

static void connect(struct search *s, const double *w, uint32_t n, uint64_t set, double least)
{
	for (uint64_t i = set; i; i &= i - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(i);

		s->adjacent[v] = 0;
		for (uint64_t j = set & ~bit(v); j; j &= j - 1) {
			if (w[v * n + (uint32_t)__builtin_ctzll(j)] >= least)
				s->adjacent[v] |= j & -j;
		}
	}
}

static double widest(const double *w, uint32_t n, uint64_t set, uint32_t k)
{
	uint32_t most = count(set), found = 0;
	double *widths = mem_alloc(sizeof(*widths) * most * most), best = 0;
	struct search s;

	for (uint64_t i = set; i; i &= i - 1) {
		for (uint64_t j = i & (i - 1); j; j &= j - 1)
			widths[found++] =
				w[(uint32_t)__builtin_ctzll(i) * n + (uint32_t)__builtin_ctzll(j)];
	}
	qsort(widths, found, sizeof(*widths), wider_first);
	for (uint32_t i = 0; i < found && best == 0; i++) {
		if (i > 0 && widths[i] == widths[i - 1])
			continue;
		connect(&s, w, n, set, widths[i]);
		if (any_ring(&s, set, k))
			best = widths[i];
	}
	free(widths);
	return best;
}

double ring_widest(const double *w, uint32_t n, uint64_t set)
{
	return count(set) < 2 ? 0 : widest(w, n, set, count(set));
}

double ring_widest_of(const double *w, uint32_t n, uint32_t k)
{
	uint64_t all = n < VERTICES_MAX ? bit(n) - 1 : UINT64_MAX;

	return k < 2 || k > n ? 0 : widest(w, n, all, k);
}
