/*
 * Fiduccia-Mattheyses with sizes that are kept: moves come in pairs, there and back.
 */
#include "solver/bisect.h"

#include <math.h>

enum { VERTICES_MAX = 64 };

static const double SLACK = 1e-9;

static uint64_t bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

static double weight_to(const double *w, uint32_t n, uint32_t v, uint64_t others)
{
	double sum = 0;

	for (others &= ~bit(v); others; others &= others - 1)
		sum += w[v * n + (uint32_t)__builtin_ctzll(others)];
	return sum;
}

double bisect_cut(const double *w, uint32_t n, uint64_t set, uint64_t side)
{
	double cut = 0;

	for (uint64_t i = side & set; i; i &= i - 1)
		cut += weight_to(w, n, (uint32_t)__builtin_ctzll(i), set & ~side);
	return cut;
}

/* The vertex of `from` that lessens the cut most by going over to `to`, the lowest of equals. */
static uint32_t best_mover(const double *w, uint32_t n, uint64_t from, uint64_t to,
	uint64_t movable, double *gain)
{
	uint32_t best = VERTICES_MAX;

	for (uint64_t i = from & movable; i; i &= i - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(i);
		double g = weight_to(w, n, v, to) - weight_to(w, n, v, from);

		if (best == VERTICES_MAX || g > *gain + SLACK) {
			best = v;
			*gain = g;
		}
	}
	return best;
}

/* Moves every vertex once at most; the side as it was when most had been gained. */
static uint64_t pass(const double *w, uint32_t n, uint64_t set, uint64_t side, double *gained)
{
	uint64_t movable = set, best_side = side;
	double sum = 0;

	*gained = 0;
	for (;;) {
		double out_gain = 0, in_gain = 0;
		uint32_t out = best_mover(w, n, side, set & ~side, movable, &out_gain), in;

		if (out == VERTICES_MAX)
			return best_side;
		side &= ~bit(out);
		movable &= ~bit(out);
		in = best_mover(w, n, set & ~side, side, movable, &in_gain);
		if (in == VERTICES_MAX)
			return best_side;
		side |= bit(in);
		movable &= ~bit(in);
		sum += out_gain + in_gain;
		if (sum > *gained + SLACK) {
			*gained = sum;
			best_side = side;
		}
	}
}

/* `size` vertices around one: again and again that with the heaviest edges to those there. */
static uint64_t grow(const double *w, uint32_t n, uint64_t set, uint32_t from, uint32_t size)
{
	uint64_t side = bit(from);

	while ((uint32_t)__builtin_popcountll(side) < size) {
		uint32_t best = VERTICES_MAX;
		double most = 0;

		for (uint64_t i = set & ~side; i; i &= i - 1) {
			uint32_t v = (uint32_t)__builtin_ctzll(i);
			double sum = weight_to(w, n, v, side);

			if (best == VERTICES_MAX || sum > most + SLACK) {
				best = v;
				most = sum;
			}
		}
		side |= bit(best);
	}
	return side;
}

/* Whether the lowest vertex in which they differ is of `a`. */
static int is_lower(uint64_t a, uint64_t b)
{
	return a != b && (a & ((a ^ b) & -(a ^ b)));
}

uint64_t bisect(const double *w, uint32_t n, uint64_t set, uint32_t size)
{
	double least = INFINITY;
	uint64_t best = 0;

	if (size == 0 || size >= (uint32_t)__builtin_popcountll(set))
		return size == 0 ? 0 : set;
	for (uint64_t i = set; i; i &= i - 1) {
		uint64_t side = grow(w, n, set, (uint32_t)__builtin_ctzll(i), size);
		double gained, cut;

		do
			side = pass(w, n, set, side, &gained);
		while (gained > 0);
		cut = bisect_cut(w, n, set, side);
		if (cut < least - SLACK || (cut < least + SLACK && is_lower(side, best))) {
			least = cut;
			best = side;
		}
	}
	return best;
}
