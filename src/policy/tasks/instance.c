#include "policy/tasks/instance.h"

#include <math.h>

#include "model/elastic.h"
#include "policy/kit.h"

enum { WHOLE_RANGE = 16 };

static uint32_t in_gib(int64_t bytes)
{
	return (uint32_t)ceil((double)bytes / (1 << 30));
}

/* Devices always; CPUs and memory if every node says how much it has. */
static void count_capacity(struct instance *in)
{
	const struct cluster *c = in->round->cluster;
	double cpus = 0;
	int64_t mem_bytes = 0;
	bool all = c->nnodes > 0;

	in->m.dims = 1;
	for (uint32_t type = 0; type < c->ntypes; type++)
		in->m.capacity[INSTANCE_GPUS] += in->round->up[type];
	for (uint32_t i = 0; i < c->nnodes; i++) {
		all &= c->nodes[i].cpus > 0 && c->nodes[i].mem_bytes > 0;
		cpus += c->nodes[i].cpus;
		mem_bytes += c->nodes[i].mem_bytes;
	}
	if (!all)
		return;
	in->m.dims = 3;
	in->m.capacity[INSTANCE_CPUS] = (uint32_t)fmax(1, floor(cpus));
	in->m.capacity[INSTANCE_GIB] = in_gib(mem_bytes);
}

static struct moldable_point point_of(const struct instance *in, const struct job *job,
	uint32_t gpus, double time_s)
{
	double part = (double)gpus / fmax(1, job->gpus);
	struct moldable_point p = { .time_s = fmax(1e-3, time_s) };

	p.need[INSTANCE_GPUS] = job_is_fraction(job) ? (uint32_t)ceil(job->share * gpus) : gpus;
	p.need[INSTANCE_CPUS] = (uint32_t)ceil(job->cpus * part);
	p.need[INSTANCE_GIB] = in_gib((int64_t)((double)job->mem_bytes * part));
	for (uint32_t d = 0; d < in->m.dims; d++)
		if (p.need[d] > in->m.capacity[d])
			p.need[d] = in->m.capacity[d]; /* asked for more than is up now */
	return p;
}

static double speed_on(const struct instance *in, const struct job *job, uint32_t type, uint32_t gpus)
{
	return elastic_speed(in->round->belief, job,
		configuration_packed(in->round->cluster, type, gpus), BATCHING_FIXED, NULL);
}

/* Every number of a small range; of a large one powers of two, the ends, and what nobody gets more of. */
static bool is_size(const struct instance *in, uint32_t gpus, uint32_t least, uint32_t most)
{
	return most - least <= WHOLE_RANGE || !(gpus & (gpus - 1)) || gpus == least ||
		gpus == most || gpus == moldable_cap(in->m.capacity[INSTANCE_GPUS]);
}

static void list_points(struct instance *in, const struct job *job, struct moldable_job *out)
{
	uint32_t types[TYPES_MAX], n = kit_types(in->round, job, types), type = n ? types[0] : 0;
	uint32_t least = job_least_on(job, type), most = job_most_on(job, type);
	uint32_t devices = in->round->cluster->types[type].devices;
	double left_s = job_remaining_s(job, in->round->now_s);
	double asked = speed_on(in, job, type, job_gpus_on(job, type));
	struct moldable_point *points;

	most = most > devices ? devices : most;
	if (job->grant || !n || least >= most || !(asked > 0)) {
		points = arena_new(in->round->scratch, struct moldable_point);
		points[0] = point_of(in, job,
			job->grant ? job->grant->gpus : job_gpus_on(job, type), left_s);
		*out = (struct moldable_job){ points, 1 };
		return;
	}
	points = arena_array(in->round->scratch, struct moldable_point, most - least + 1);
	*out = (struct moldable_job){ .points = points };
	for (uint32_t gpus = least; gpus <= most; gpus++) {
		double speed = 0;

		if (is_size(in, gpus, least, most) && job_rounded_on(job, type, gpus) == gpus)
			speed = speed_on(in, job, type, gpus);
		if (speed > 0)
			points[out->n++] = point_of(in, job, gpus, left_s * asked / speed);
	}
	if (!out->n)
		points[out->n++] = point_of(in, job, job_gpus_on(job, type), left_s);
}

void instance_of(struct instance *in, const struct round *round)
{
	*in = (struct instance){ .round = round };
	family_of(&in->family, round);
	count_capacity(in);
	in->jobs = arena_array(round->scratch, struct moldable_job, in->family.n);
	for (uint32_t i = 0; i < in->family.n; i++)
		list_points(in, in->family.jobs[i], &in->jobs[i]);
	in->m.njobs = in->family.n;
	in->m.jobs = in->jobs;
	in->m.dag = &in->family.dag;
}
