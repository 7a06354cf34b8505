/*
 * Those who lead jobs.
 */
#include "sim/school.h"

#include <math.h>

static enum compat compat_of(const struct sim_config *config, const struct chosen_policy *policy)
{
	if (config->compat >= 0)
		return (enum compat)config->compat;
	return policy->rule->compat ? policy->rule->compat(policy->state) : COMPAT_NONE;
}

static double resize_s_of(const struct sim_config *config, const struct chosen_policy *policy)
{
	if (!isnan(config->costs.resize_s) || !policy->rule->resize_s)
		return config->costs.resize_s;
	return policy->rule->resize_s(policy->state);
}

void school_open(struct school *school, const struct sim_config *config,
	const struct chosen_policy *policy)
{
	enum compat compat = compat_of(config, policy);
	struct agents_options options = {
		.merged = policy->rule->typeless && policy->rule->typeless(policy->state),
		.fit_tolerance = compat == COMPAT_OSDI21 ? 2.2e-9 : 0, /* that of its fit */
	};

	*school = (struct school){ .oracle = config->oracle && compat == COMPAT_NONE };
	if (!config->training)
		return;
	school->agents = agents_create(config->cluster->ntypes, options);
	school->trainer = trainer_create(&(struct trainer_config){
		.training = config->training,
		.cluster = config->cluster,
		.agents = school->agents,
		.compat = compat,
		.round_s = policy->rule->period_s ? policy->rule->period_s(policy->state) : 0,
		.start_s = config->costs.start_s,
		.resume_s = config->costs.resume_s,
		.resize_s = resize_s_of(config, policy),
		.oracle = school->oracle,
	});
}

static bool adapts_any(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].adapts)
			return true;
	}
	return false;
}

void school_join(struct school *school, struct world *world, const struct chosen_policy *policy)
{
	if (school->trainer)
		world_add_pace(world, &trainer_pace, school->trainer);
	if (adapts_any(world->config->trace)) {
		school->regimes = regimes_create(&world->truth, compat_of(world->config, policy));
		world_add_pace(world, &regimes_pace, school->regimes);
	}
}

void school_close(struct school *school)
{
	regimes_destroy(school->regimes);
	trainer_destroy(school->trainer);
	agents_destroy(school->agents);
}
