/*
 * The speed of a running job: type and count, locality, and company.
 */
#include "model/rate.h"

#include <math.h>

#include "base/names.h"
#include "model/regime.h"

uint64_t rates_version(const struct rates *rates)
{
	return rates->profile ? profile_version(rates->profile) : 0;
}

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
static double nominal(const struct job *job, uint32_t type, uint32_t gpus)
{
	uint32_t asked = job_gpus_on(job, type);

	if (gpus == asked)
		return job->nominal_rate;
	return job->nominal_rate * gpus / asked;
}

/* Its nominal speed times how much faster its model is here than as it was asked for. */
static double relative(const struct rates *rates, const struct job *job, uint32_t type,
	struct shape shape)
{
	uint32_t asked_type = reference_type(rates->cluster, job);
	struct shape asked = profile_packed(rates->profile, asked_type, job_gpus_on(job, asked_type));
	double here, there;

	if (type == asked_type && shape.gpus == asked.gpus && shape.nodes == asked.nodes &&
		shape.racks == asked.racks)
		return job->nominal_rate;
	here = profile_rate(rates->profile, job_model_now(job), type, shape);
	there = profile_rate(rates->profile, job_model_now(job), asked_type, asked);
	if (!(here >= 0 && there > 0))
		return nominal(job, type, shape.gpus);
	return job->nominal_rate * (here / there);
}

/* Of the whole job if all its devices were of the type. */
static double alone(const struct rates *rates, const struct job *job, uint32_t type, struct shape shape)
{
	double steps_per_s;

	if (!rates->profile || job_model_now(job) == NAME_NONE)
		return nominal(job, type, shape.gpus);
	if (!job->by_steps)
		return relative(rates, job, type, shape);
	steps_per_s = profile_rate(rates->profile, job_model_now(job), type, shape);
	return steps_per_s >= 0 ? steps_per_s : nominal(job, type, shape.gpus);
}

/* What one question is about. */
struct setting {
	const struct rates *rates;
	const struct job *job;
	const struct grant *grant;
	const struct neighbour *beside;
	uint32_t n;
};

static uint32_t smaller_gang(uint32_t gpus, const struct grant *other)
{
	return other && other->gpus < gpus ? other->gpus : gpus;
}

/* What the grant leaves of the speed: that of a fraction is known on its share already. */
static double limit(const struct setting *s)
{
	double share = s->grant->share;

	if (!(share > 0))
		return 1;
	return job_is_fraction(s->job) ? share / s->job->share : share;
}

/*
 * What company leaves of the speed of some devices of one node, which have the same.  A share is a
 * limit and others are a burden: whichever leaves less counts, not both.  Fractions do not slow each
 * other.
 */
static double left_on(const struct setting *s, struct slot slot)
{
	const struct profile *profile = s->rates->profile;
	uint32_t type = s->rates->cluster->nodes[slot.node].type, others = 0;
	double left = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct neighbour *other = &s->beside[i];

		if (!(neighbour_devices(other, slot.node) & slot.devices) ||
			(job_is_fraction(s->job) && job_is_fraction(other->job)))
			continue;
		others++;
		if (profile)
			left *= profile_beside(profile, type,
				smaller_gang(s->grant->gpus, other->grant), job_model_now(s->job),
				job_model_now(other->job));
	}
	if (!profile)
		left = 1.0 / (others + 1);
	return limit(s) < left ? limit(s) : left;
}

/* What is left on the devices of one type: of the worst of them, and of all together. */
struct left {
	double least, sum;
};

static void add_slot(const struct setting *s, struct slot slot, struct left *left)
{
	while (slot.devices) {
		struct slot alike = { slot.node, slot_alike(slot, s->beside, s->n) };
		double x = left_on(s, alike);

		if (x < left->least)
			left->least = x;
		left->sum += x * __builtin_popcountll(alike.devices);
		slot.devices &= ~alike.devices;
	}
}

static struct left left_on_type(const struct setting *s, uint32_t type)
{
	struct left left = { .least = 1 };

	for (uint32_t i = 0; i < s->grant->nslots; i++) {
		if (!s->grant->mixed || s->rates->cluster->nodes[s->grant->slots[i].node].type == type)
			add_slot(s, s->grant->slots[i], &left);
	}
	return left;
}

/* The speeds on the types of a mixture put together, one by one. */
struct blend {
	bool balanced;
	double steps_per_s; /* of the whole job; INFINITY or 0 before the first */
};

static struct blend blend_start(bool balanced)
{
	return (struct blend){ balanced, balanced ? 0 : INFINITY };
}

/* All devices together would make `speed` if they were of this type; `weight` of them are. */
static void blend_add(struct blend *b, double speed, double least, double weight)
{
	if (!b->balanced) {
		if (!(speed * least >= b->steps_per_s))
			b->steps_per_s = speed * least;
	} else if (b->steps_per_s >= 0) {
		b->steps_per_s = speed * least > 0 ? b->steps_per_s + speed * weight : -1;
	}
}

/* Where it cannot run on one of its devices it cannot run. */
static double blend_end(const struct blend *b)
{
	return b->steps_per_s > 0 ? b->steps_per_s : 0;
}

double rate(const struct rates *rates, const struct job *job, const struct grant *grant,
	const struct neighbour *beside, uint32_t n)
{
	const struct setting s = { rates, job, grant, beside, n };
	struct shape shape = grant_shape(rates->cluster, grant);
	struct blend blend = blend_start(grant->balanced);
	struct grant_part parts[TYPES_MAX];
	uint32_t nparts = 1;

	parts[0] = (struct grant_part){ grant->type, grant->gpus };
	if (grant->mixed)
		nparts = grant_parts(grant, rates->cluster, parts);
	for (uint32_t i = 0; i < nparts; i++) {
		struct left left = left_on_type(&s, parts[i].type);

		blend_add(&blend, alone(rates, job, parts[i].type, shape), left.least,
			left.sum / grant->gpus);
	}
	return blend_end(&blend);
}

static struct shape packed(const struct rates *rates, uint32_t type, uint32_t gpus)
{
	if (rates->profile)
		return profile_packed(rates->profile, type, gpus);
	return (struct shape){ .gpus = gpus, .nodes = 1, .racks = 1 };
}

double rate_if(const struct rates *rates, const struct job *job, uint32_t type, uint32_t gpus)
{
	return alone(rates, job, type, packed(rates, type, gpus));
}

double rate_in(const struct rates *rates, const struct job *job, uint32_t type, struct shape shape)
{
	return alone(rates, job, type, shape);
}

/* Types never share a node; that they share a rack is assumed. */
static struct shape packed_parts(const struct rates *rates, const struct grant_part *parts, uint32_t n)
{
	struct shape all = { .racks = 1 };

	for (uint32_t i = 0; i < n; i++) {
		struct shape one = packed(rates, parts[i].type, parts[i].gpus);

		all.gpus += one.gpus;
		all.nodes += one.nodes;
		all.racks = one.racks > all.racks ? one.racks : all.racks;
	}
	return all;
}

double rate_if_mixed(const struct rates *rates, const struct job *job,
	const struct grant_part *parts, uint32_t nparts, bool balanced)
{
	struct shape shape = packed_parts(rates, parts, nparts);
	struct blend blend = blend_start(balanced);

	for (uint32_t i = 0; i < nparts; i++)
		blend_add(&blend, alone(rates, job, parts[i].type, shape), 1,
			(double)parts[i].gpus / shape.gpus);
	return blend_end(&blend);
}

double rate_if_beside(const struct rates *rates, const struct job *job, const struct job *other,
	uint32_t type)
{
	uint32_t gpus = job_gpus_on(job, type), others = job_gpus_on(other, type);
	double steps_per_s = rate_if(rates, job, type, gpus);

	if (job_is_fraction(job) || job_is_fraction(other))
		return 0;
	if (!rates->profile)
		return steps_per_s / 2;
	return steps_per_s *
		profile_beside(rates->profile, type, gpus < others ? gpus : others,
			job_model_now(job), job_model_now(other));
}
