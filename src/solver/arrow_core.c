#include "solver/arrow_core.h"

#include <math.h>

void arrow_core_init(struct arrow_core *core, uint32_t jobs, uint32_t types, uint32_t rows,
	bool has_z, struct arena *work)
{
	uint32_t blocks = jobs / 2 + jobs % 2;

	*core = (struct arrow_core){
		.jobs = jobs,
		.types = types,
		.rows = rows,
		.blocks = blocks,
		.has_z = has_z,
	};
	core->matrix = arena_array(work, two, (size_t)blocks * arrow_matrix_size(types, rows));
	core->factor = arena_array(work, two, (size_t)blocks * arrow_factor_size(types, rows));
	core->p = arena_array(work, double, (size_t)types *types);
	core->q = arena_array(work, double, types);
	core->p_inverse_q = arena_array(work, double, types);
}

void arrow_sums_clear(struct arrow_sums *sums, uint32_t types)
{
	memset(sums->p, 0, types * (types + 1) / 2 * sizeof(two));
	memset(sums->q, 0, types * sizeof(two));
	sums->rho = (two){ 0 };
}

void arrow_sums_add_tail(struct arrow_sums *sums, const struct arrow_sums *tail, uint32_t types)
{
	for (uint32_t i = 0; i < types * (types + 1) / 2; i++)
		sums->p[i][0] += tail->p[i][0];
	for (uint32_t w = 0; w < types; w++)
		sums->q[w][0] += tail->q[w][0];
	sums->rho[0] += tail->rho[0];
}

void arrow_core_pad(struct arrow_core *core)
{
	uint32_t slots = arrow_matrix_size(core->types, core->rows);
	two *last = core->matrix + (size_t)(core->blocks - 1) * slots;

	for (uint32_t i = 0; core->jobs % 2 && i < slots; i++)
		last[i] = (two){ last[i][0], last[i][0] };
}

/*
 * Cholesky, in place.  What is factored is `least` on the diagonal plus something
 * positive semidefinite: a smaller pivot is rounding.
 */
static bool decompose(double *p, uint32_t n, const double *least, double delta)
{
	for (uint32_t j = 0; j < n; j++) {
		for (uint32_t i = j; i < n; i++) {
			double sum = p[i * n + j];

			for (uint32_t k = 0; k < j; k++)
				sum -= p[i * n + k] * p[j * n + k];
			if (i > j)
				p[i * n + j] = sum / p[j * n + j];
			else
				p[j * n + j] = sqrt(fmax(sum, least[j] + delta));
		}
		if (!isfinite(p[j * n + j]))
			return false;
	}
	return true;
}

static void substitute(const double *p, uint32_t n, double *y)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++)
			y[i] -= p[i * n + k] * y[k];
		y[i] /= p[i * n + i];
	}
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t k = i + 1; k < n; k++)
			y[i] -= p[k * n + i] * y[k];
		y[i] /= p[i * n + i];
	}
}

bool arrow_core_close(struct arrow_core *core, const struct arrow_sums *sums, const double *d,
	double delta, double extra)
{
	uint32_t n = core->types;
	const two *p = sums->p;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j <= i; j++, p++)
			core->p[i * n + j] = (*p)[0] + (*p)[1];
		core->p[i * n + i] += d[i] + delta;
		core->q[i] = core->p_inverse_q[i] = sums->q[i][0] + sums->q[i][1];
	}
	if (!decompose(core->p, n, d, delta))
		return false;
	substitute(core->p, n, core->p_inverse_q);
	core->pivot = delta + extra + (sums->rho[0] + sums->rho[1]);
	for (uint32_t i = 0; i < n; i++)
		core->pivot += core->q[i] * core->p_inverse_q[i];
	return core->pivot > 0 && isfinite(core->pivot);
}

void arrow_middle_clear(struct arrow_middle *mid, uint32_t types)
{
	for (int i = 0; i < 2; i++) {
		memset(mid->side[i], 0, types * sizeof(two));
		mid->z_side[i] = (two){ 0 };
	}
}

void arrow_core_middle(const struct arrow_core *core, const double *side, double z_side, uint32_t i,
	struct arrow_middle *mid, const struct arrow_middle *tail)
{
	uint32_t n = core->types;
	double *y = mid->y[i];

	for (uint32_t w = 0; w < n; w++)
		y[w] = mid->side[i][w][0] + mid->side[i][w][1] + tail->side[i][w][0] - side[w];
	substitute(core->p, n, y);
	mid->z[i] = 0;
	if (!core->has_z)
		return;
	z_side += mid->z_side[i][0] + mid->z_side[i][1] + tail->z_side[i][0];
	for (uint32_t w = 0; w < n; w++)
		z_side += core->q[w] * y[w];
	mid->z[i] = z_side / core->pivot;
	for (uint32_t w = 0; w < n; w++)
		y[w] -= core->p_inverse_q[w] * mid->z[i];
}
