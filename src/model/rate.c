/*
 * The speed of a running job: type and count, locality, and company.
 */
#include "model/rate.h"

#include <math.h>

#include "base/names.h"
#include "model/coordinator.h"
#include "model/pooling.h"
#include "model/hosting.h"
#include "model/links.h"
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

/* The slowest ring of those inside its nodes, where their links are known. */
static double ring_Bps(const struct cluster *cluster, const struct grant *grant)
{
	double slowest = 0;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		const struct node *node = &cluster->nodes[grant->slots[i].node];
		double Bps;

		if (node->topology == TOPOLOGY_NONE)
			continue;
		Bps = topology_ring_Bps(&cluster->topologies[node->topology], grant->slots[i].devices);
		if (Bps > 0 && (slowest == 0 || Bps < slowest))
			slowest = Bps;
	}
	return slowest;
}

struct shape grant_shape(const struct cluster *cluster, const struct grant *grant)
{
	struct shape shape = { .gpus = grant->gpus, .nodes = grant->nslots, .racks = 1 };

	if (grant->nslots > 1 && cluster->nracks > 1)
		shape.racks = count_racks(cluster, grant);
	if (cluster->ntopologies > 0)
		shape.link_Bps = ring_Bps(cluster, grant);
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
		shape.racks == asked.racks &&
		(shape.link_Bps == 0 || shape.link_Bps == profile_link_Bps(rates->profile, type, asked)))
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

/* ---- what hosts do */

const struct host_table *rates_host_table(const struct rates *rates, const struct job *job, uint32_t gpus)
{
	const struct hosting *hosting = rates->profile ? profile_hosting(rates->profile) : NULL;
	uint32_t model = hosting ? job_model_now(job) : NAME_NONE;

	return model == NAME_NONE ? NULL : hosting_find(hosting, model, gpus);
}

/* What a device has of a host that is not divided otherwise. */
static struct host_share even_part(const struct node *node)
{
	return (struct host_share){ node->cpus / node->devices,
		(double)node->mem_bytes / node->devices };
}

/* As it asked for each device, where it did; else as `even` says. */
static struct host_share asked_share(const struct job *job, uint32_t gpus, struct host_share even)
{
	if (job->cpus > 0)
		even.cpus = job->cpus / gpus;
	if (job->mem_bytes > 0)
		even.mem_bytes = (double)job->mem_bytes / gpus;
	return even;
}

/* Speed there; of what nobody speaks of there is enough. */
static double hosted_speed(const struct host_table *table, struct host_share share)
{
	if (!(share.cpus > 0) && !(share.mem_bytes > 0))
		return 1;
	if (!(share.cpus > 0))
		share.cpus = INFINITY;
	if (!(share.mem_bytes > 0))
		share.mem_bytes = INFINITY;
	return host_table_speed(table, share);
}

static struct host_share even_share(const struct cluster *cluster, const struct grant *grant)
{
	struct host_share sum = { 0, 0 };

	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct host_share one = even_part(&cluster->nodes[grant->slots[i].node]);
		int n = __builtin_popcountll(grant->slots[i].devices);

		sum.cpus += one.cpus * n;
		sum.mem_bytes += one.mem_bytes * n;
	}
	return (struct host_share){ sum.cpus / grant->gpus, sum.mem_bytes / grant->gpus };
}

/* A run time was measured as asked; steps per second are those at speed 1 of the table. */
static double hosted(const struct host_table *table, const struct job *job, struct host_share has,
	struct host_share asked)
{
	double there = job->by_steps ? 1 : hosted_speed(table, asked);

	return there > 0 ? hosted_speed(table, has) / there : 1;
}

/* What the hosts of a grant make of the speed. */
static double host_factor(const struct rates *rates, const struct job *job, const struct grant *grant)
{
	const struct host_table *table = rates_host_table(rates, job, grant->gpus);
	struct host_share asked, has;
	double split;

	if (!table)
		return 1;
	has = asked = asked_share(job, grant->gpus, even_share(rates->cluster, grant));
	if (grant->cpus > 0)
		has.cpus = grant->cpus / grant->gpus;
	if (grant->mem_bytes > 0)
		has.mem_bytes = (double)grant->mem_bytes / grant->gpus;
	split = grant->nslots > 1 && table->split > 0 ? table->split : 1;
	return split * hosted(table, job, has, asked);
}

/* The same for devices not chosen yet, each with what it asked for or its part of a node of the type. */
static double host_factor_if(const struct rates *rates, const struct job *job, uint32_t type,
	struct shape shape)
{
	const struct host_table *table = rates_host_table(rates, job, shape.gpus);
	const struct cluster *cluster = rates->cluster;
	struct host_share asked;
	uint32_t node = 0;

	if (!table)
		return 1;
	while (node + 1 < cluster->nnodes && cluster->nodes[node].type != type)
		node++;
	asked = asked_share(job, shape.gpus, even_part(&cluster->nodes[node]));
	return hosted(table, job, asked, asked) *
		(shape.nodes > 1 && table->split > 0 ? table->split : 1);
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

/* ---- guests */

#define UTIL_UNKNOWN 0.5
#define IDLE_LEAST 0.01 /* a guest that the scheduler lets run gets a turn now and then */

double job_util(const struct rates *rates, const struct job *job, uint32_t type)
{
	double busy = NAN;

	if (job->util > 0)
		return job->util;
	if (rates->profile && job_model_now(job) != NAME_NONE)
		busy = profile_busy(rates->profile, type, job_gpus_on(job, type), job_model_now(job));
	return busy >= 0 ? busy : UTIL_UNKNOWN;
}

double job_gpu_bytes(const struct rates *rates, const struct job *job, uint32_t type)
{
	double there = (double)rates->cluster->types[type].mem_bytes, bytes = 0;

	if (job->gpu_mem_bytes > 0)
		bytes = (double)job->gpu_mem_bytes;
	else if (rates->profile && job_model_now(job) != NAME_NONE)
		bytes = profile_mem_bytes(rates->profile, job_model_now(job));
	/* Alone it runs there: it has found a way to. */
	return there > 0 && bytes > there ? there : bytes;
}

static bool is_guest(const struct neighbour *other)
{
	return other->grant && other->grant->guest;
}

/* What was measured of the job beside another, as a fraction of its speed; NAN: nothing. */
static double measured_with(const struct setting *s, const struct neighbour *other, uint32_t type)
{
	uint32_t gpus = smaller_gang(s->grant->gpus, other->grant);

	if (!s->rates->profile)
		return NAN;
	return profile_measured_beside(s->rates->profile, type, gpus, job_model_now(s->job),
		job_model_now(other->job));
}

static double step_of(const struct setting *s, const struct job *job, uint32_t type)
{
	double step_s = NAN;

	if (s->rates->profile && job_model_now(job) != NAME_NONE)
		step_s = profile_step_s(s->rates->profile, type, job_gpus_on(job, type),
			job_model_now(job));
	return step_s > 0 ? step_s : 0;
}

enum { GUESTS_MAX = 16 }; /* beside each other on one device; what more need is not counted */

struct crowd {
	double hosts, guests; /* what they keep busy in all, the job among the guests */
	double hosts_bytes;   /* that the hosts need */
	double measured; /* what was measured beside hosts leaves of the guest's speed; NAN: nothing was */
	struct guest_memory need[GUESTS_MAX]; /* of the guests, the job first */
	uint32_t n;
};

static void add_guest(struct crowd *c, const struct setting *s, const struct job *job, uint32_t type)
{
	double bytes = job_gpu_bytes(s->rates, job, type);

	c->guests += job_util(s->rates, job, type);
	if (c->n < GUESTS_MAX)
		c->need[c->n++] = (struct guest_memory){ .need_bytes = bytes,
			.gain = memory_gain(bytes, step_of(s, job, type)) };
}

static struct crowd crowd_on(const struct setting *s, struct slot slot, uint32_t type)
{
	struct crowd c = { .measured = NAN };

	add_guest(&c, s, s->job, type);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct neighbour *other = &s->beside[i];
		double measured;

		if (!(neighbour_devices(other, slot.node) & slot.devices))
			continue;
		if (is_guest(other)) {
			add_guest(&c, s, other->job, type);
			continue;
		}
		measured = measured_with(s, other, type);
		if (!isnan(measured))
			c.measured = isnan(c.measured) ? measured : fmin(c.measured, measured);
		c.hosts += job_util(s->rates, other->job, type);
		c.hosts_bytes += job_gpu_bytes(s->rates, other->job, type);
	}
	return c;
}

/* What is left to a guest on devices of one node that have the same company. */
static double left_to_guest(const struct setting *s, struct slot slot)
{
	uint32_t type = s->rates->cluster->nodes[slot.node].type;
	struct crowd c = crowd_on(s, slot, type);
	struct device_memory memory = {
		.bytes = (double)s->rates->cluster->types[type].mem_bytes,
		.need_bytes = c.hosts_bytes,
		.guests = c.need,
		.nguests = c.n,
	};
	double left = isnan(c.measured) ? guest_idle_share(c.hosts, c.guests) : c.measured;

	left = s->grant->share * fmax(left, IDLE_LEAST);
	if (!(memory.bytes > 0) || !(c.need[0].need_bytes > 0))
		return left;
	memory_demand(&memory, c.hosts_bytes);
	memory_settle(&memory);
	return left *
		memory_speed(c.need[0].limit_bytes / c.need[0].need_bytes, c.need[0].need_bytes,
			step_of(s, s->job, type));
}

/* What a guest leaves of a job's speed, if that was measured; else it adds to the load of all such guests. */
static double left_by_guest(const struct setting *s, const struct neighbour *guest, uint32_t type,
	double *load)
{
	double measured = measured_with(s, guest, type), r = guest->grant->share;

	if (!isnan(measured))
		return 1 - r * (1 - measured);
	*load += r * job_util(s->rates, guest->job, type);
	return 1;
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
	double left = 1, by_guests = 1, load = 0;

	if (s->grant->guest)
		return left_to_guest(s, slot);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct neighbour *other = &s->beside[i];

		if (!(neighbour_devices(other, slot.node) & slot.devices) ||
			(job_is_fraction(s->job) && job_is_fraction(other->job)))
			continue;
		if (is_guest(other)) {
			by_guests *= left_by_guest(s, other, type, &load);
			continue;
		}
		others++;
		if (profile)
			left *= profile_beside(profile, type,
				smaller_gang(s->grant->gpus, other->grant), job_model_now(s->job),
				job_model_now(other->job));
	}
	if (!profile)
		left = 1.0 / (others + 1);
	if (load > 0)
		by_guests /= guarantee_slowdown(job_util(s->rates, s->job, type), 1, load);
	return (limit(s) < left ? limit(s) : left) * by_guests;
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
	return blend_end(&blend) * host_factor(rates, job, grant) *
		pooling_speed(rates->cluster, job, grant);
}

static struct shape packed(const struct rates *rates, uint32_t type, uint32_t gpus)
{
	if (rates->profile)
		return profile_packed(rates->profile, type, gpus);
	return (struct shape){ .gpus = gpus, .nodes = 1, .racks = 1 };
}

double rate_if(const struct rates *rates, const struct job *job, uint32_t type, uint32_t gpus)
{
	return rate_in(rates, job, type, packed(rates, type, gpus));
}

double rate_in(const struct rates *rates, const struct job *job, uint32_t type, struct shape shape)
{
	return alone(rates, job, type, shape) * host_factor_if(rates, job, type, shape);
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
