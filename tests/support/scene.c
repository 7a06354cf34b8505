/*
 * Scenes.
 */
#include "support/scene.h"

#include <math.h>
#include <string.h>

#include "sim/loan.h"
#include "sim/school.h"
#include "support/property.h"

void scene_init(struct scene *scene, const char *cluster)
{
	struct err err = { 0 };

	*scene = (struct scene){ 0 };
	if (cluster_parse(cluster, &scene->cluster, &err) < 0)
		fail_msg("%s", err.text);
	sim_config_init(&scene->config);
	scene->config.trace = &scene->trace;
	scene->config.cluster = &scene->cluster;
	scene->config.seed = 1;
}

void scene_fini(struct scene *scene)
{
	profile_destroy(scene->profile);
	training_destroy(scene->training);
	trace_fini(&scene->trace);
	cluster_fini(&scene->cluster);
}

struct job *scene_job(struct scene *scene, double at_s, int gpus, double work)
{
	struct job *job = trace_add(&scene->trace);

	job->arrival_s = at_s;
	job->gpus = gpus;
	scene->trace.work[scene->trace.njobs - 1] = work;
	return job;
}

void scene_ready(struct scene *scene)
{
	if (!scene->ready)
		trace_finish(&scene->trace, NAN);
	scene->ready = true;
}

int scene_try(struct scene *scene, struct outcome *out, struct err *err)
{
	scene_ready(scene);
	return sim_run(&scene->config, out, err);
}

void scene_run(struct scene *scene, struct outcome *out)
{
	struct err err = { 0 };

	if (scene_try(scene, out, &err) < 0)
		fail_msg("%s", err.text);
}

/* "name:options" of a table entry: its state with the options read. */
static void *state_of(const struct option *options, size_t size, const char *spec)
{
	const char *colon = strchr(spec, ':');
	void *state = mem_alloc(size + 1);
	struct err err = { 0 };

	option_defaults(options, state);
	if (colon && option_parse(options, state, spec, colon + 1, &err) < 0)
		fail_msg("%s", err.text);
	return state;
}

struct chosen_policy scene_policy(const char *spec)
{
	char name[64];
	struct err err = { 0 };
	struct chosen_policy chosen;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ":"), spec);
	chosen.rule = policy_find(name, &err);
	if (!chosen.rule)
		fail_msg("%s", err.text);
	chosen.state = state_of(chosen.rule->options, chosen.rule->state_size, spec);
	if (chosen.rule->init && chosen.rule->init(chosen.state, &err) < 0)
		fail_msg("%s", err.text);
	return chosen;
}

void scene_policy_fini(struct chosen_policy *policy)
{
	if (policy->rule->fini)
		policy->rule->fini(policy->state);
	free(policy->state);
	*policy = (struct chosen_policy){ 0 };
}

static struct chosen_placer placer_of(const char *spec)
{
	char name[64];
	struct err err = { 0 };
	const struct placer *rule;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ":"), spec);
	rule = placer_find(name, &err);
	if (!rule)
		fail_msg("%s", err.text);
	return (struct chosen_placer){ rule, state_of(rule->options, rule->state_size, spec) };
}

static struct chosen_admission admission_of(const char *spec)
{
	char name[64];
	struct err err = { 0 };
	const struct admission *rule;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ":"), spec);
	rule = admission_find(name, &err);
	if (!rule)
		fail_msg("%s", err.text);
	return (struct chosen_admission){ rule, state_of(rule->options, rule->state_size, spec) };
}

int scene_try_policy(struct scene *scene, const struct policy *policy, void *state,
	struct outcome *out, struct err *err)
{
	const struct sim_config *c = &scene->config;
	struct rates belief = {
		.cluster = &scene->cluster,
		.profile = c->belief ? c->belief : c->truth,
		.training = c->training,
	};
	struct engine_config engine = {
		.cluster = &scene->cluster,
		.belief = &belief,
		.policy = { policy, state },
		.placer = placer_of(c->placer ? c->placer : "first-fit"),
		.admission = admission_of(c->admit ? c->admit : "all"),
		.pool = c->loan ? c->loan->pool : NULL,
		.seed = c->seed,
		.want_spans = c->want_spans,
		.observers = c->observers,
		.nobservers = c->nobservers,
		.until_s = c->until_s,
		.progress = c->progress,
		.progress_ctx = c->progress_ctx,
	};
	struct tenants tenants = { 0 };
	struct school school;
	struct world world;
	int rc;

	scene_ready(scene);
	if (c->tenants) {
		tenants_bind(c->tenants, &scene->trace.tenants, &tenants);
		engine.tenants = &tenants;
	}
	school_open(&school, c, &engine.policy);
	belief.agents = school.agents;
	engine.deps = scene->trace.deps;
	if (scene->admission)
		engine.admission.rule = scene->admission;
	if (scene->placer)
		engine.placer.rule = scene->placer;
	rc = world_init(&world, c, err);
	if (rc == 0) {
		school_join(&school, &world, &engine.policy);
		rc = engine_run(&engine, &sim_driver, &world, out, err);
	}
	world_fini(&world);
	school_close(&school);
	if (engine.placer.rule->fini && engine.placer.state)
		engine.placer.rule->fini(engine.placer.state);
	free(engine.placer.state);
	free(engine.admission.state);
	tenants_fini(&tenants);
	return rc;
}

void scene_run_policy(struct scene *scene, const struct policy *policy, void *state, struct outcome *out)
{
	struct err err = { 0 };

	if (scene_try_policy(scene, policy, state, out, &err) < 0)
		fail_msg("%s", err.text);
}

uint32_t pick(struct rng *rng, uint32_t n)
{
	return 1 + (uint32_t)rng_below(rng, n);
}

static int draw_gpus(struct rng *rng, uint32_t max)
{
	uint32_t kinds = 1;

	while (UINT32_C(1) << kinds <= max)
		kinds++;
	return 1 << rng_below(rng, kinds);
}

void scene_draw(struct scene *scene, struct rng *rng, struct draw draw)
{
	for (uint32_t i = 0; i < draw.jobs; i++) {
		double at_s = (double)rng_below(rng, draw.last_arrival_s + 1);

		scene_job(scene, at_s, draw_gpus(rng, draw.gpus_max), pick(rng, draw.work_max));
	}
}
