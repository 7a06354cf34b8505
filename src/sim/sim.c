/*
 * One simulation: rules chosen by name, the world, the engine.
 */
#include "sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "sim/belief.h"
#include "sim/world.h"

void sim_config_init(struct sim_config *config)
{
	*config = (struct sim_config){ .costs = { NAN, NAN, NAN } };
}

/* "name:options" taken apart; the options are inside `spec`. */
struct spec {
	char name[64];
	const char *options;
};

static struct spec spec_of(const char *text, const char *preset)
{
	const char *from = text ? text : preset;
	const char *colon = strchr(from, ':');
	size_t n = colon ? (size_t)(colon - from) : strlen(from);
	struct spec spec = { .options = colon ? colon + 1 : "" };

	if (n >= sizeof(spec.name))
		n = sizeof(spec.name) - 1;
	memcpy(spec.name, from, n);
	return spec;
}

static int read_options(const struct option *table, size_t size, const struct spec *spec,
	void **state, struct err *err)
{
	*state = mem_alloc(size);
	option_defaults(table, *state);
	return option_parse(table, *state, spec->name, spec->options, err);
}

static int choose_policy(const struct sim_config *c, struct chosen_policy *out, struct err *err)
{
	struct spec spec = spec_of(c->policy, "fifo");

	out->rule = policy_find(spec.name, err);
	if (!out->rule)
		return err->code;
	if (read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err) < 0)
		return err->code;
	if (out->rule->init && out->rule->init(out->state, err) < 0)
		return err_prefix(err, "policy %s", spec.name);
	return 0;
}

static int choose_placer(const struct sim_config *c, struct chosen_placer *out, struct err *err)
{
	struct spec spec = spec_of(c->placer, "first-fit");

	out->rule = placer_find(spec.name, err);
	if (!out->rule)
		return err->code;
	return read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err);
}

static int choose_admission(const struct sim_config *c, struct chosen_admission *out, struct err *err)
{
	struct spec spec = spec_of(c->admit, "all");

	out->rule = admission_find(spec.name, err);
	if (!out->rule)
		return err->code;
	return read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err);
}

static void rules_fini(struct engine_config *engine)
{
	if (engine->policy.rule && engine->policy.rule->fini && engine->policy.state)
		engine->policy.rule->fini(engine->policy.state);
	free(engine->policy.state);
	free(engine->placer.state);
	free(engine->admission.state);
}

static int run(const struct sim_config *config, struct outcome *out, struct err *err)
{
	struct rates belief = { config->cluster, config->belief ? config->belief : config->truth };
	struct tenants tenants = { 0 };
	struct world world = { 0 };
	struct engine_config engine = {
		.cluster = config->cluster,
		.belief = &belief,
		.tenants = config->tenants ? &tenants : NULL,
		.seed = config->seed,
		.deps = config->trace->deps,
		.want_spans = config->want_spans,
		.expected_jobs = config->trace->njobs,
		.observers = config->observers,
		.nobservers = config->nobservers,
		.until_s = config->until_s,
		.progress = config->progress,
		.progress_ctx = config->progress_ctx,
		.look = config->look,
		.look_ctx = config->look_ctx,
	};
	int rc;

	if (config->tenants)
		tenants_bind(config->tenants, &config->trace->tenants, &tenants);
	if (choose_policy(config, &engine.policy, err) < 0 ||
		choose_placer(config, &engine.placer, err) < 0 ||
		choose_admission(config, &engine.admission, err) < 0 ||
		world_init(&world, config, err) < 0)
		rc = err->code;
	else
		rc = engine_run(&engine, &sim_driver, &world, out, err);
	world_fini(&world);
	rules_fini(&engine);
	tenants_fini(&tenants);
	return rc;
}

/* The belief is told of every event last: it must not come between the record and what happens. */
static int run_believing(const struct sim_config *config, struct belief *belief,
	struct outcome *out, struct err *err)
{
	struct sim_config with = *config;
	struct observer *observers = mem_alloc(
		mem_array_size(config->nobservers + 1u, sizeof(*observers)));
	int rc;

	for (uint32_t i = 0; i < config->nobservers; i++)
		observers[i] = config->observers[i];
	observers[with.nobservers++] = belief_observer(belief);
	with.observers = observers;
	with.belief = belief_profile(belief);
	rc = run(&with, out, err);
	free(observers);
	if (rc < 0)
		return rc;
	out->speed_error_before = belief_error_before(belief).alone.asked;
	out->speed_error = belief_error_now(belief).alone.asked;
	return rc;
}

static int run_knowing(const struct sim_config *config, struct outcome *out, struct err *err)
{
	int rc = run(config, out, err);

	if (rc == 0)
		out->speed_error_before = out->speed_error = NAN;
	return rc;
}

int sim_run(const struct sim_config *config, struct outcome *out, struct err *err)
{
	struct belief_source source = {
		.cluster = config->cluster,
		.trace = config->trace,
		.truth = config->truth,
		.seed = config->seed,
	};
	struct belief *belief;
	int rc;

	if (!config->estimate || !config->truth)
		return run_knowing(config, out, err);
	rc = belief_create(config->estimate, &source, &belief, err);
	if (rc < 0)
		return rc;
	rc = run_believing(config, belief, out, err);
	belief_destroy(belief);
	return rc;
}
