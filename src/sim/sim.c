/*
 * One simulation: rules chosen by name, the world, the engine.
 */
#include "sim/sim.h"

#include <math.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/rules.h"
#include "sim/belief.h"
#include "sim/loan.h"
#include "sim/school.h"

void sim_config_init(struct sim_config *config)
{
	*config = (struct sim_config){ .costs = { NAN, NAN, NAN }, .compat = -1 };
}

/* From visit to visit. */
static int run_visited(const struct engine_config *config, struct world *world,
	const struct sim_visitor *visitor, struct err *err)
{
	struct engine *engine = engine_create(config, &sim_driver, world, 0, err);
	double at_s = visitor->next_s(visitor->self);
	int rc = engine ? 0 : err->code;

	for (; rc == 0 && isfinite(at_s); at_s = visitor->next_s(visitor->self)) {
		rc = engine_turn(engine, at_s, err);
		if (rc == 0)
			rc = visitor->visit(visitor->self, engine, config, at_s, err);
	}
	engine_destroy(engine);
	return rc;
}

/* To its end, or for the visitor if there is one. */
static int run(const struct sim_config *config, const struct sim_visitor *visitor,
	struct outcome *out, struct err *err)
{
	struct school school = { 0 };
	struct rates belief = {
		.cluster = config->cluster,
		.profile = config->belief ? config->belief : config->truth,
		.training = config->training,
	};
	struct rule_specs specs = { config->policy, config->placer, config->admit };
	struct tenants tenants = { 0 };
	struct world world = { 0 };
	struct engine_config engine = {
		.cluster = config->cluster,
		.belief = &belief,
		.tenants = config->tenants ? &tenants : NULL,
		.pool = config->loan ? config->loan->pool : NULL,
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
	rc = rules_choose(&specs, &engine, err);
	if (rc == 0) {
		school_open(&school, config, &engine.policy);
		belief.agents = school.agents;
		belief.oracle = school.oracle;
		rc = world_init(&world, config, err);
	}
	if (rc == 0) {
		school_join(&school, &world, &engine.policy);
		rc = visitor ? run_visited(&engine, &world, visitor, err)
			     : engine_run(&engine, &sim_driver, &world, out, err);
		if (rc == 0 && out && school.trainer)
			out->beyond = *trainer_beyond(school.trainer);
	}
	world_fini(&world);
	school_close(&school);
	rules_release(&engine);
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
	rc = run(&with, NULL, out, err);
	free(observers);
	if (rc < 0)
		return rc;
	out->speed_error_before = belief_error_before(belief).alone.asked;
	out->speed_error = belief_error_now(belief).alone.asked;
	return rc;
}

static int run_knowing(const struct sim_config *config, struct outcome *out, struct err *err)
{
	int rc = run(config, NULL, out, err);

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

int sim_visit(const struct sim_config *config, const struct sim_visitor *visitor, struct err *err)
{
	return run(config, visitor, NULL, err);
}
