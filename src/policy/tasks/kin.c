#include "policy/tasks/kin.h"

uint32_t kin_root(struct kin *kin, uint32_t job)
{
	while (kin[job].parent && kin[job].parent != job + 1) {
		uint32_t up = kin[job].parent - 1;

		if (kin[up].parent)
			kin[job].parent = kin[up].parent;
		job = up;
	}
	kin[job].parent = job + 1;
	return job;
}

void kin_link(const struct round *r, struct kin *kin, const struct job *job)
{
	bool all = true;

	if (kin[job->id].linked)
		return;
	for (uint32_t k = 0; k < job->ndeps && r->deps; k++) {
		uint32_t other = r->deps[job->first_dep + k], a, b;

		all &= other < r->njobs;
		if (other >= r->njobs)
			continue;
		a = kin_root(kin, job->id);
		b = kin_root(kin, other);
		kin[a < b ? b : a].parent = (a < b ? a : b) + 1;
		if (kin[other].stage + 1 > kin[job->id].stage)
			kin[job->id].stage = kin[other].stage + 1;
	}
	kin[job->id].linked = all;
}
