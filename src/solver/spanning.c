#include "solver/spanning.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

bool spanning_tree(const double *length, uint32_t n, uint32_t *parent)
{
	double *near = mem_alloc(mem_array_size(n, sizeof(*near)));
	bool *in = mem_alloc(mem_array_size(n, sizeof(*in)));
	bool whole = true;

	for (uint32_t i = 0; i < n; i++) {
		near[i] = i ? INFINITY : 0;
		parent[i] = 0;
	}
	for (uint32_t k = 0; k < n && whole; k++) {
		uint32_t best = n;

		for (uint32_t i = 0; i < n; i++) {
			if (!in[i] && isfinite(near[i]) && (best == n || near[i] < near[best]))
				best = i;
		}
		whole = best < n;
		if (!whole)
			break;
		in[best] = true;
		for (uint32_t i = 0; i < n; i++) {
			if (!in[i] && length[(size_t)best * n + i] < near[i]) {
				near[i] = length[(size_t)best * n + i];
				parent[i] = best;
			}
		}
	}
	free(near);
	free(in);
	return whole;
}
