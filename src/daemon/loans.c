#include "daemon/loans.h"

#include <stdlib.h>

#include "placement/cells.h"

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void loans_look(struct core *core, struct loans *out)
{
	const struct cells *books = core_cells(core);

	*out = (struct loans){ .cells = books, .guests = core_traits(core) & POLICY_QUOTAS };
	for (uint32_t i = 0; books && i < books->nleaves; i++) {
		if (books->leaves[i].users && books->leaves[i].claim == CELL_NONE)
			vec_push(&out->lent, books->leaves[i].job);
	}
	if (out->lent.n)
		qsort(out->lent.at, out->lent.n, sizeof(*out->lent.at), by_number);
}

void loans_fini(struct loans *loans)
{
	vec_fini(&loans->lent);
}

static uint32_t lent_to(const struct loans *loans, uint32_t job)
{
	size_t low = 0, high = loans->lent.n;
	uint32_t n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (loans->lent.at[middle] < job)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < loans->lent.n && loans->lent.at[low + n] == job)
		n++;
	return n;
}

uint32_t loans_of(const struct loans *loans, const struct core *core, const struct live_job *job)
{
	const struct job *seen = core_engine_job(core, job);

	if (!seen->grant || job->engine_id == JOB_NONE)
		return 0;
	if (loans->guests && seen->grant->guest)
		return seen->grant->gpus;
	return loans->cells ? lent_to(loans, job->engine_id) : 0;
}
