#include "sim/guesses.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	AROUND_LEAST = 15, /* guesses on either side that are about as long */
	AROUND_MOST = 100,
	FEW = 5, /* too few to draw from */
	DRAWN = 64,
	SMOOTH = 2, /* lengths on either side that a run counts for, the less the further */
};

static const double STEP = 0.25;  /* of lengths, in logarithms */
static const double UNSEEN = 0.3; /* runs of a length that none had */

void guesses_fini(struct guesses *g)
{
	vec_fini(&g->at);
	*g = (struct guesses){ 0 };
}

void guesses_add(struct guesses *g, double estimate_s, double run_s)
{
	vec_push(&g->at, ((struct guess){ estimate_s, run_s / estimate_s }));
}

static int by_estimate(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;

	if (x->estimate_s != y->estimate_s)
		return x->estimate_s < y->estimate_s ? -1 : 1;
	return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static int length_of(double run_s)
{
	return (int)fmin(log(fmax(run_s, 1)) / STEP, GUESS_LENGTHS - 1);
}

void guesses_settle(struct guesses *g)
{
	double seen[GUESS_LENGTHS] = { 0 };

	if (!g->at.n)
		return;
	qsort(g->at.at, g->at.n, sizeof(*g->at.at), by_estimate);
	for (size_t i = 0; i < g->at.n; i++)
		seen[length_of(g->at.at[i].ratio * g->at.at[i].estimate_s)]++;
	for (int i = 0; i < GUESS_LENGTHS; i++) {
		g->common[i] = UNSEEN;
		for (int k = -SMOOTH; k <= SMOOTH; k++) {
			if (i + k >= 0 && i + k < GUESS_LENGTHS)
				g->common[i] += seen[i + k] * exp(-k * k / 2.0);
		}
	}
}

/* ---- asking */

/* Some guesses, and how much each says of the one in question. */
struct found {
	double ratio[GUESSES_MOST], weight[GUESSES_MOST];
	double all, most; /* weights: of all, the largest */
	uint32_t n;
};

static void weigh(const struct guesses *g, const struct guess *one, double estimate_s, struct found *f)
{
	double weight = g->common[length_of(estimate_s * one->ratio)] /
		g->common[length_of(one->estimate_s * one->ratio)];

	f->ratio[f->n] = one->ratio;
	f->weight[f->n++] = weight;
	f->all += weight;
	f->most = fmax(f->most, weight);
}

/* Those about as long as this one that lasted longer than it has. */
static void gather(const struct guesses *g, double estimate_s, double floor, size_t around,
	struct found *f)
{
	size_t n = g->at.n, low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->at.at[mid].estimate_s < estimate_s)
			low = mid + 1;
		else
			high = mid;
	}
	high = low + around < n ? low + around : n;
	low = low > around ? low - around : 0;
	f->n = 0;
	f->all = f->most = 0;
	for (; low < high && f->n < GUESSES_MOST; low++) {
		if (g->at.at[low].ratio > floor)
			weigh(g, &g->at.at[low], estimate_s, f);
	}
}

/* At even steps through the weights. */
static uint32_t draw(const struct found *f, struct rng *rng, double *out)
{
	double step = f->all / DRAWN, next = step * rng_uniform(rng), sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		sum += f->weight[i];
		for (; n < DRAWN && sum > next; next += step)
			out[n++] = f->ratio[i];
	}
	return n;
}

static size_t usual_around(size_t n)
{
	size_t around = n / 20;

	return around < AROUND_LEAST ? AROUND_LEAST : around > AROUND_MOST ? AROUND_MOST : around;
}

/* One that outweighs all others is none to go by. */
static bool too_few(const struct found *f)
{
	return f->all < FEW * f->most || !f->n;
}

uint32_t guesses_ratios(const struct guesses *g, double estimate_s, double floor, bool widely,
	struct rng *rng, double *out)
{
	size_t around = usual_around(g->at.n);
	struct found found;

	gather(g, estimate_s, floor, around, &found);
	/* Few have lasted as long: those of other lengths are better than nothing. */
	for (; widely && too_few(&found) && around <= g->at.n; around *= 2)
		gather(g, estimate_s, floor, 2 * around, &found);
	return draw(&found, rng, out);
}
