#include "io/synth_dags.h"

const char *const dag_form_names[] = { "layers", "chain", "fork", "tree", NULL };

enum { LAYER = 4, BEFORE_MAX = 3 };

/* Each waits for one to three of the layer before its own. */
static void add_layers(struct trace *trace, uint32_t first, uint32_t i, struct rng *rng)
{
	uint32_t above = (i / LAYER - 1) * LAYER, skip = (uint32_t)rng_below(rng, LAYER);
	uint32_t n = 1 + (uint32_t)rng_below(rng, BEFORE_MAX);

	for (uint32_t k = 0; k < n; k++)
		trace_add_dep(trace, first + i, first + above + (skip + k) % LAYER);
}

static void add_deps(struct trace *trace, uint32_t first, uint32_t size, uint32_t i,
	enum dag_form form, struct rng *rng)
{
	switch (form) {
	case DAG_LAYERS:
		if (i >= LAYER)
			add_layers(trace, first, i, rng);
		break;
	case DAG_CHAIN:
		if (i)
			trace_add_dep(trace, first + i, first + i - 1);
		break;
	case DAG_FORK: /* one before all, one after all */
		if (i && i + 1 < size)
			trace_add_dep(trace, first + i, first);
		for (uint32_t k = size > 2 ? 1 : 0; i && i + 1 == size && k < i; k++)
			trace_add_dep(trace, first + i, first + k);
		break;
	case DAG_TREE:
		if (i)
			trace_add_dep(trace, first + i, first + (i - 1) / 2);
		break;
	}
}

void synth_dags(struct trace *trace, double part, uint32_t size, enum dag_form form, struct rng *rng)
{
	uint32_t i = 0;

	while (i < trace->njobs) {
		uint32_t n = trace->njobs - i < size ? trace->njobs - i : size;

		/* Drawn for every possible pipeline, so that the part wanted moves no other draw. */
		if (rng_uniform(rng) >= part || n < 2) {
			i += n;
			continue;
		}
		for (uint32_t k = 0; k < n; k++) {
			trace->jobs[i + k].arrival_s = trace->jobs[i].arrival_s;
			trace->jobs[i + k].tenant = trace->jobs[i].tenant;
			add_deps(trace, i, n, k, form, rng);
		}
		i += n;
	}
}
