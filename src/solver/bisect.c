/*
 * Fiduccia-Mattheyses with sizes that are kept: moves come in pairs, there and back.
 */
#include "solver/bisect.h"

#include <math.h>

enum {
	VERTICES_MAX = 64,
	STARTS_MAX = 16, /* vertices to begin around: more seldom find anything better */
};

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

/* A side, and of each vertex the weight of its edges to that and to the whole set: a move changes each by one edge. */
struct cut {
	const double *w;
	uint32_t n;
	uint64_t set, side;
	double all[VERTICES_MAX], to[VERTICES_MAX];
};

static void begin(struct cut *c, const double *w, uint32_t n, uint64_t set)
{
	*c = (struct cut){ .w = w, .n = n, .set = set };
	for (uint64_t i = set; i; i &= i - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(i);

		c->all[v] = weight_to(w, n, v, set);
	}
}

static void move(struct cut *c, uint32_t v)
{
	double sign = c->side & bit(v) ? -1 : 1, own = c->to[v];
	const double *w = &c->w[v * c->n];

	/* All of them, also who is not in the set: that is quicker than to ask. */
	for (uint32_t i = 0; i < c->n; i++)
		c->to[i] += sign * w[i];
	c->to[v] = own;
	c->side ^= bit(v);
}

/* The vertex of `from` (the side or the rest) that lessens the cut most by going over, the lowest of equals. */
static uint32_t best_mover(const struct cut *c, uint64_t from, uint64_t movable, double *gain)
{
	double sign = from == c->side ? 1 : -1;
	uint32_t best = VERTICES_MAX;

	for (uint64_t i = from & movable; i; i &= i - 1) {
		uint32_t v = (uint32_t)__builtin_ctzll(i);
		double g = sign * (c->all[v] - 2 * c->to[v]);

		if (best == VERTICES_MAX || g > *gain + SLACK) {
			best = v;
			*gain = g;
		}
	}
	return best;
}

/* Back to a side seen before. */
static void go_back(struct cut *c, uint64_t side)
{
	for (uint64_t i = c->side ^ side; i; i &= i - 1)
		move(c, (uint32_t)__builtin_ctzll(i));
}

/* Moves every vertex once at most, and goes back to when most had been gained. */
static double pass(struct cut *c)
{
	uint64_t movable = c->set, best_side = c->side;
	double sum = 0, gained = 0;

	for (;;) {
		double out_gain = 0, in_gain = 0;
		uint32_t out = best_mover(c, c->side, movable, &out_gain), in;

		if (out == VERTICES_MAX)
			break;
		move(c, out);
		movable &= ~bit(out);
		in = best_mover(c, c->set & ~c->side, movable, &in_gain);
		if (in == VERTICES_MAX)
			break;
		move(c, in);
		movable &= ~bit(in);
		sum += out_gain + in_gain;
		if (sum > gained + SLACK) {
			gained = sum;
			best_side = c->side;
		}
	}
	go_back(c, best_side);
	return gained;
}

/* `size` vertices around one: again and again that with the heaviest edges to those there. */
static void grow(struct cut *c, uint32_t from, uint32_t size)
{
	go_back(c, bit(from));
	while ((uint32_t)__builtin_popcountll(c->side) < size) {
		uint32_t best = VERTICES_MAX;

		for (uint64_t i = c->set & ~c->side; i; i &= i - 1) {
			uint32_t v = (uint32_t)__builtin_ctzll(i);

			if (best == VERTICES_MAX || c->to[v] > c->to[best] + SLACK)
				best = v;
		}
		move(c, best);
	}
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
	uint32_t every = ((uint32_t)__builtin_popcountll(set) + STARTS_MAX - 1) / STARTS_MAX, k = 0;
	struct cut c;

	if (size == 0 || size >= (uint32_t)__builtin_popcountll(set))
		return size == 0 ? 0 : set;
	begin(&c, w, n, set);
	for (uint64_t i = set; i; i &= i - 1) {
		double cut;

		if (k++ % every)
			continue;
		grow(&c, (uint32_t)__builtin_ctzll(i), size);
		while (pass(&c) > 0)
			;
		cut = bisect_cut(w, n, set, c.side);
		if (cut < least - SLACK || (cut < least + SLACK && is_lower(c.side, best))) {
			least = cut;
			best = c.side;
		}
	}
	return best;
}
