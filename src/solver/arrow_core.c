#include "solver/arrow_core.h"

#include <assert.h>
#include <math.h>

void arrow_core_init(struct arrow_core *core, uint32_t jobs, uint32_t types, uint32_t rows,
	bool has_z, struct arena *work)
{
	uint32_t blocks = jobs / 4 + (jobs % 4 != 0);

	*core = (struct arrow_core){
		.jobs = jobs,
		.types = types,
		.rows = rows,
		.blocks = blocks,
		.has_z = has_z,
	};
	core->matrix = arena_array(work, four, (size_t)blocks * arrow_matrix_size(types, rows));
	core->factor = arena_array(work, four, (size_t)blocks * arrow_factor_size(types, rows));
	core->p = arena_array(work, double, (size_t)types *types);
	core->q = arena_array(work, double, types);
	core->p_inverse_q = arena_array(work, double, types);
}

double arrow_root(const uint32_t *count, uint32_t job)
{
	return count ? sqrt(count[job]) : 1;
}

void arrow_core_count(struct arrow_core *core, const uint32_t *count, struct arena *work)
{
	if (!count)
		return;
	core->inverse_root = arena_array(work, four, core->blocks);
	for (uint32_t b = 0; b < core->blocks; b++) {
		for (uint32_t lane = 0; lane < 4; lane++) {
			uint32_t job = 4 * b + lane < core->jobs ? 4 * b + lane : 4 * b;

			assert(count[job]);
			core->inverse_root[b][lane] = 1 / arrow_root(count, job);
		}
	}
}

double arrow_jobs(const uint32_t *count, uint32_t jobs)
{
	double sum = 0;

	for (uint32_t i = 0; i < jobs; i++)
		sum += count ? count[i] : 1;
	return sum;
}

void arrow_core_pad(struct arrow_core *core)
{
	uint32_t slots = arrow_matrix_size(core->types, core->rows);
	four *last = core->matrix + (size_t)(core->blocks - 1) * slots;

	for (uint32_t i = 0; core->jobs % 4 && i < slots; i++)
		last[i] = four_load((const double *)&last[i], core->jobs % 4);
}
