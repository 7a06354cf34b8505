#include "model/family.h"

#include <math.h>

/* Both lists are ascending; so is what they become. */
static void list_known(struct family *f, const struct round *r)
{
	uint32_t a = 0, h = 0;

	while (a < r->nactive || h < r->nheld) {
		bool from_active = h == r->nheld || (a < r->nactive && r->active[a] < r->held[h]);
		const struct job *job = &r->jobs[from_active ? r->active[a++] : r->held[h++]];

		if (!job_ended(job))
			f->jobs[f->nknown++] = job;
	}
}

uint32_t family_find(const struct family *f, uint32_t job)
{
	uint32_t lo = 0, hi = f->nknown;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->jobs[mid]->id < job)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->nknown && f->jobs[lo]->id == job ? lo : FAMILY_NONE;
}

static uint32_t place_of(const struct family *f, const struct round *r, uint32_t other)
{
	return other < r->njobs ? family_find(f, other) : f->nknown + (other - r->njobs);
}

void family_of(struct family *f, const struct round *r)
{
	struct dag_edge *edges;
	uint32_t nedges = 0;
	size_t most = 0;

	*f = (struct family){ .jobs = arena_array(r->scratch, const struct job *,
				      (size_t)r->nactive + r->nheld + r->nlater) };
	list_known(f, r);
	f->n = f->nknown + r->nlater;
	for (uint32_t i = 0; i < r->nlater; i++)
		f->jobs[f->nknown + i] = r->later[i].job;
	for (uint32_t i = 0; i < f->n; i++)
		most += i < f->nknown ? f->jobs[i]->ndeps : r->later[i - f->nknown].nafter;
	edges = arena_array(r->scratch, struct dag_edge, most);
	for (uint32_t i = 0; r->deps && i < f->nknown; i++)
		for (uint32_t k = 0; k < f->jobs[i]->ndeps; k++)
			edges[nedges++] = (struct dag_edge){
				family_find(f, r->deps[f->jobs[i]->first_dep + k]), i
			};
	for (uint32_t i = 0; i < r->nlater; i++)
		for (uint32_t k = 0; k < r->later[i].nafter; k++)
			edges[nedges++] = (struct dag_edge){ place_of(f, r, r->later[i].after[k]),
				f->nknown + i };
	dag_build(&f->dag, r->scratch, f->n, edges, nedges);
}

double *family_tails(const struct family *f, const struct round *r)
{
	double *time_s = arena_array(r->scratch, double, f->n);
	double *tail_s = arena_array(r->scratch, double, f->n);

	for (uint32_t i = 0; i < f->n; i++)
		time_s[i] = fmax(0, job_remaining_s(f->jobs[i], r->now_s));
	dag_bottom(&f->dag, time_s, tail_s);
	return tail_s;
}
