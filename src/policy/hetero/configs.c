/*
 * Listing configurations.
 */
#include "policy/hetero/configs.h"

#include <math.h>

const char *const across_names[] = { "no", "slowest", "balanced", NULL };

static double known(double speed)
{
	return speed > 0 && isfinite(speed) ? speed : 0;
}

static void add_count(struct configs *c, const struct round *round, const struct job *job,
	uint32_t type, uint32_t gpus)
{
	struct config one = { .part = { { type, gpus } } };

	if (job_may_use(job, type))
		one.speed = known(rate_if(round->belief, job, type, gpus));
	vec_push(&c->list, one);
}

/* Powers of two between the fewest and the most, and these; what it asks for is there already. */
static void add_counts(struct configs *c, const struct round *round, const struct job *job, uint32_t type)
{
	uint32_t least = job_least_on(job, type), most = job_most_on(job, type);
	uint32_t asked = job_gpus_on(job, type), devices = round->cluster->types[type].devices;
	uint32_t power = 1;

	for (uint32_t gpus = least; gpus <= most && gpus <= devices;) {
		if (gpus != asked && gpus % job_unit_on(job, type) == 0)
			add_count(c, round, job, type, gpus);
		while (power <= gpus)
			power *= 2;
		gpus = gpus < most && power > most ? most : power;
	}
}

static void add_mix(struct configs *c, const struct round *round, const struct job *job,
	struct grant_part a, struct grant_part b, bool balanced)
{
	struct config one = { .part = { a, b } };
	const struct device_type *types = round->cluster->types;

	if (a.gpus > types[a.type].devices || b.gpus > types[b.type].devices)
		return;
	one.speed = known(rate_if_mixed(round->belief, job, one.part, 2, balanced));
	vec_push(&c->list, one);
}

/* All but one, three quarters, a half, a quarter and one device of the first type. */
static void add_mixes(struct configs *c, const struct round *round, const struct job *job,
	uint32_t first, uint32_t second, bool balanced)
{
	uint32_t gang = (uint32_t)job->gpus, last = gang;
	const uint32_t split[] = { gang - 1, gang * 3 / 4, gang / 2, gang / 4, 1 };

	for (uint32_t i = 0; i < sizeof(split) / sizeof(*split); i++) {
		if (split[i] >= last || split[i] == 0)
			continue;
		last = split[i];
		add_mix(c, round, job, (struct grant_part){ first, last },
			(struct grant_part){ second, gang - last }, balanced);
	}
}

static void add_all_mixes(struct configs *c, const struct round *round, const struct job *job,
	bool balanced)
{
	uint32_t types = round->cluster->ntypes;

	for (uint32_t a = 0; a < types; a++) {
		for (uint32_t b = a + 1; b < types; b++) {
			if (job_may_use(job, a) && job_may_use(job, b))
				add_mixes(c, round, job, a, b, balanced);
		}
	}
}

void configs_add(struct configs *c, const struct round *round, const struct job *job,
	const struct config_rules *rules)
{
	uint32_t types = round->cluster->ntypes;

	for (uint32_t type = 0; type < types; type++)
		add_count(c, round, job, type, job_gpus_on(job, type));
	if (job->gpus_by_type)
		return;
	for (uint32_t type = 0; rules->free_gangs && type < types; type++) {
		if (job_may_use(job, type))
			add_counts(c, round, job, type);
	}
	if (rules->across != ACROSS_NO && job->gpus > 1 && !job->units)
		add_all_mixes(c, round, job, rules->across == ACROSS_BALANCED);
}
