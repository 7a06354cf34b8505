/*
 * Progressive filling: at most as many stages as links, each looks at all flows.
 */
#include "solver/linkfill.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct filling {
	const struct linkfill *p;
	double *left;   /* by link: capacity that flows which stay have not taken */
	double *weight; /* by link: of flows that still grow */
	bool *stays;    /* by flow */
};

static double weight_of(const struct linkfill *p, uint32_t flow)
{
	return p->weight ? p->weight[flow] : 1;
}

static void begin(struct filling *f)
{
	const struct linkfill *p = f->p;

	for (uint32_t i = 0; i < p->links; i++)
		f->left[i] = p->capacity[i];
	for (uint32_t flow = 0; flow < p->flows; flow++) {
		for (uint32_t i = p->first[flow]; i < p->first[flow + 1]; i++)
			f->weight[p->path[i]] += weight_of(p, flow);
	}
}

/* What every flow that grows has when the next link is full; INFINITY: none will be. */
static double next_level(const struct filling *f, uint32_t *full)
{
	double level = INFINITY;

	for (uint32_t i = 0; i < f->p->links; i++) {
		double here = f->weight[i] > 0 ? fmax(0, f->left[i]) / f->weight[i] : INFINITY;

		if (here < level) {
			level = here;
			*full = i;
		}
	}
	return level;
}

static bool crosses(const struct linkfill *p, uint32_t flow, uint32_t link)
{
	for (uint32_t i = p->first[flow]; i < p->first[flow + 1]; i++) {
		if (p->path[i] == link)
			return true;
	}
	return false;
}

static void stay(struct filling *f, uint32_t flow, double level)
{
	const struct linkfill *p = f->p;

	f->stays[flow] = true;
	for (uint32_t i = p->first[flow]; i < p->first[flow + 1]; i++) {
		f->left[p->path[i]] -= level * weight_of(p, flow);
		f->weight[p->path[i]] -= weight_of(p, flow);
	}
}

void linkfill_solve(const struct linkfill *p, double *share)
{
	struct filling f = {
		.p = p,
		.left = mem_alloc(sizeof(double) * (p->links + 1)),
		.weight = mem_alloc(sizeof(double) * (p->links + 1)),
		.stays = mem_alloc(sizeof(bool) * (p->flows + 1)),
	};
	uint32_t full = 0;
	double level;

	begin(&f);
	for (uint32_t flow = 0; flow < p->flows; flow++)
		share[flow] = INFINITY;
	while ((level = next_level(&f, &full)) < INFINITY) {
		for (uint32_t flow = 0; flow < p->flows; flow++) {
			if (f.stays[flow] || !crosses(p, flow, full))
				continue;
			share[flow] = level;
			stay(&f, flow, level);
		}
		f.weight[full] = 0; /* sums of differences leave dust behind */
	}
	free(f.left);
	free(f.weight);
	free(f.stays);
}
