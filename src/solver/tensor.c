/*
 * With two kinds of factors held, the third has a small least-squares system
 * for each of its members, over the entries known of that member.
 */
#include "solver/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#define RANK TENSOR_RANK_MAX

/* One member's system: gram x = rhs. */
struct small {
	double gram[RANK][RANK], rhs[RANK];
};

double cp_at(const struct cp *cp, uint32_t i, uint32_t j, uint32_t k)
{
	double sum = 0;

	for (uint32_t r = 0; r < cp->rank; r++)
		sum += cp->factor[0][i * cp->rank + r] * cp->factor[1][j * cp->rank + r] *
			cp->factor[2][k * cp->rank + r];
	return sum;
}

/* What the entry sees of the two kinds that are held. */
static void pair_product(const struct cp *cp, const struct tensor_entry *e, uint32_t mode, double *out)
{
	uint32_t a = (mode + 1) % 3, b = (mode + 2) % 3;

	for (uint32_t r = 0; r < cp->rank; r++)
		out[r] = cp->factor[a][e->at[a] * cp->rank + r] *
			cp->factor[b][e->at[b] * cp->rank + r];
}

static void add_entry(struct small *s, uint32_t rank, const double *x, double value)
{
	for (uint32_t i = 0; i < rank; i++) {
		for (uint32_t j = 0; j <= i; j++)
			s->gram[i][j] += x[i] * x[j];
		s->rhs[i] += x[i] * value;
	}
}

/* Cholesky in place; a ridge above 0 makes the system positive definite. */
static void solve_small(struct small *s, uint32_t rank, double ridge, double *x)
{
	for (uint32_t i = 0; i < rank; i++) {
		s->gram[i][i] += ridge;
		for (uint32_t j = 0; j <= i; j++) {
			double sum = s->gram[i][j];

			for (uint32_t k = 0; k < j; k++)
				sum -= s->gram[i][k] * s->gram[j][k];
			s->gram[i][j] = i == j ? sqrt(fmax(sum, ridge * 1e-9)) : sum / s->gram[j][j];
		}
	}
	for (uint32_t i = 0; i < rank; i++) {
		x[i] = s->rhs[i];
		for (uint32_t k = 0; k < i; k++)
			x[i] -= s->gram[i][k] * x[k];
		x[i] /= s->gram[i][i];
	}
	for (uint32_t i = rank; i-- > 0;) {
		for (uint32_t k = i + 1; k < rank; k++)
			x[i] -= s->gram[k][i] * x[k];
		x[i] /= s->gram[i][i];
	}
}

static void improve(const struct tensor *t, double ridge, uint32_t mode, struct small *systems,
	struct cp *cp)
{
	memset(systems, 0, t->size[mode] * sizeof(*systems));
	for (uint32_t i = 0; i < t->nknown; i++) {
		double x[RANK];

		pair_product(cp, &t->known[i], mode, x);
		add_entry(&systems[t->known[i].at[mode]], cp->rank, x, t->known[i].value);
	}
	for (uint32_t i = 0; i < t->size[mode]; i++)
		solve_small(&systems[i], cp->rank, ridge, &cp->factor[mode][i * cp->rank]);
}

void cp_fit(const struct tensor *tensor, const struct cp_options *options, struct cp *out)
{
	uint32_t largest = 0;
	struct small *systems;
	struct rng rng;

	rng_for(&rng, options->seed, RNG_ESTIMATE, 0);
	out->rank = options->rank;
	for (int m = 0; m < 3; m++) {
		size_t n = (size_t)tensor->size[m] * options->rank;

		out->factor[m] = mem_alloc(mem_array_size(n, sizeof(double)));
		/* Positive, since what is completed here is; unequal, so that ranks part. */
		for (size_t i = 0; i < n; i++)
			out->factor[m][i] = 0.5 + rng_uniform(&rng);
		largest = tensor->size[m] > largest ? tensor->size[m] : largest;
	}
	systems = mem_alloc(mem_array_size(largest, sizeof(*systems)));
	for (uint32_t s = 0; s < options->sweeps; s++) {
		for (uint32_t m = 0; m < 3; m++)
			improve(tensor, options->ridge, m, systems, out);
	}
	free(systems);
}

void cp_fini(struct cp *cp)
{
	for (int m = 0; m < 3; m++) {
		free(cp->factor[m]);
		cp->factor[m] = NULL;
	}
}
