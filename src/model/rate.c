/*
 * The speed of a running job: type and count, locality, and company.
 */
#include "model/rate.h"

#include "base/names.h"

static uint32_t count_racks(const struct cluster *cluster, const struct grant *grant)
{
	uint32_t racks = 0;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		uint32_t rack = cluster->nodes[grant->slots[i].node].rack;
		uint32_t j = i;

		/* Backwards: the node before is most often in the same rack. */
		while (j > 0 && cluster->nodes[grant->slots[j - 1].node].rack != rack)
			j--;
		racks += j == 0;
	}
	return racks;
}

struct shape grant_shape(const struct cluster *cluster, const struct grant *grant)
{
	struct shape shape = { .gpus = grant->gpus, .nodes = grant->nslots, .racks = 1 };

	if (grant->nslots > 1 && cluster->nracks > 1)
		shape.racks = count_racks(cluster, grant);
	return shape;
}

/* A run time stands for the type where it was measured, else the first the job may use. */
static uint32_t reference_type(const struct cluster *cluster, const struct job *job)
{
	uint32_t type = job->types ? (uint32_t)__builtin_ctz(job->types) : 0;

	if (job->measured_on)
		type = job->measured_on - 1u;
	return type < cluster->ntypes ? type : 0;
}

/* As asked, and in proportion to the devices: what is assumed where nothing is known. */
static double nominal(const struct job *job, uint32_t gpus)
{
	if (gpus == (uint32_t)job->gpus)
		return job->nominal_rate;
	return job->nominal_rate * gpus / job->gpus;
}

/* Its nominal speed times how much faster its model is here than as it was asked for. */
static double relative(const struct rates *rates, const struct job *job, uint32_t type,
	struct shape shape)
{
	uint32_t asked_type = reference_type(rates->cluster, job);
	struct shape asked = profile_packed(rates->profile, asked_type, (uint32_t)job->gpus);
	double here, there;

	if (type == asked_type && shape.gpus == asked.gpus && shape.nodes == asked.nodes &&
		shape.racks == asked.racks)
		return job->nominal_rate;
	here = profile_rate(rates->profile, job->model, type, shape);
	there = profile_rate(rates->profile, job->model, asked_type, asked);
	if (!(here >= 0 && there > 0))
		return nominal(job, shape.gpus);
	return job->nominal_rate * (here / there);
}

static double alone(const struct rates *rates, const struct job *job, uint32_t type, struct shape shape)
{
	double steps_per_s;

	if (!rates->profile || job->model == NAME_NONE)
		return nominal(job, shape.gpus);
	if (!job->by_steps)
		return relative(rates, job, type, shape);
	steps_per_s = profile_rate(rates->profile, job->model, type, shape);
	return steps_per_s >= 0 ? steps_per_s : nominal(job, shape.gpus);
}

/*
 * What company leaves of the speed.  A share is a limit and others are a burden: whichever leaves
 * less counts, not both.
 */
static double left_by(const struct rates *rates, const struct job *job, const struct grant *grant,
	const struct job *const *beside, uint32_t n)
{
	double left = rates->profile ? 1 : 1.0 / (n + 1);

	for (uint32_t i = 0; rates->profile && i < n; i++)
		left *= profile_beside(rates->profile, grant->type, grant->gpus, job->model,
			beside[i]->model);
	if (grant->share > 0 && grant->share < left)
		left = grant->share;
	return left;
}

double rate(const struct rates *rates, const struct job *job, const struct grant *grant,
	const struct job *const *beside, uint32_t n)
{
	double steps_per_s = alone(rates, job, grant->type, grant_shape(rates->cluster, grant));

	return steps_per_s * left_by(rates, job, grant, beside, n);
}

double rate_if(const struct rates *rates, const struct job *job, uint32_t type, uint32_t gpus)
{
	struct shape shape = { .gpus = gpus, .nodes = 1, .racks = 1 };

	if (rates->profile)
		shape = profile_packed(rates->profile, type, gpus);
	return alone(rates, job, type, shape);
}
