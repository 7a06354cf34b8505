/*
 * What every policy keeps to with every placer, on small worlds of all kinds.
 *
 * Policies, their options and placers come from the tables: a new one is
 * tested by being registered.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "sim/loan.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"
#include "support/specs.h"

/* ---- worlds */

struct world_kind {
	const char *what;
	const char *cluster;
	struct draw draw;
	void (*dress)(struct scene *scene, struct rng *rng); /* NULL: as drawn */
	bool trained; /* models train as the catalogue says, by batch and epoch */
};

static void add_types(struct scene *s, struct rng *rng)
{
	static const char *const types[] = { "v100", "p100", "k80" };

	for (size_t i = 0; i < COUNT(types); i++)
		names_add(&s->trace.types, types[i], strlen(types[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++)
		s->trace.jobs[i].types = (uint32_t)rng_below(rng, 8);
}

/* Models that the catalogue knows, so that types and placements differ in speed. */
static void add_models(struct scene *s, struct rng *rng)
{
	static const char *const models[] = { "resnet50", "vgg16", "bert", "nobody-knows" };

	add_types(s, rng);
	for (size_t i = 0; i < COUNT(models); i++)
		names_add(&s->trace.models, models[i], strlen(models[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].model = (uint32_t)rng_below(rng, COUNT(models));
		s->trace.jobs[i].by_steps = rng_below(rng, 2);
	}
	s->cluster.net_Bps = 1e9;
	s->profile = profile_create(&s->cluster, &s->trace.models);
	s->config.truth = s->profile;
}

static void limit_nodes(struct scene *s, struct rng *rng)
{
	for (uint32_t i = 0; i < s->cluster.nnodes; i++) {
		s->cluster.nodes[i].cpus = 8;
		s->cluster.nodes[i].mem_bytes = i % 2 ? 0 : INT64_C(64) << 30;
	}
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].cpus = (double)rng_below(rng, 9) * s->trace.jobs[i].gpus / 2;
		s->trace.jobs[i].mem_bytes = (int64_t)rng_below(rng, 40) << 30;
	}
}

static void break_nodes(struct scene *s, struct rng *rng)
{
	s->config.failures.mtbf_s = 60;
	s->config.failures.repair_s = 15;
	for (uint32_t i = 0; i < s->trace.njobs; i++)
		s->trace.jobs[i].checkpoint_every_s = pick(rng, 4);
}

static void make_elastic(struct scene *s, struct rng *rng)
{
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		struct job *job = &s->trace.jobs[i];

		job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
		job->max_gpus = job->gpus + (int32_t)rng_below(rng, 5);
		job->batch = 32;
	}
}

static void make_elastic_of_types(struct scene *s, struct rng *rng)
{
	add_types(s, rng);
	make_elastic(s, rng);
}

static void make_elastic_and_break(struct scene *s, struct rng *rng)
{
	make_elastic(s, rng);
	break_nodes(s, rng);
}

/* Half of the trained jobs say their range and batch; the others are given one. */
static void make_trained(struct scene *s, struct rng *rng)
{
	add_models(s, rng);
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		struct job *job = &s->trace.jobs[i];

		if (rng_below(rng, 2))
			continue;
		job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
		job->max_gpus = job->gpus + (int32_t)rng_below(rng, 5);
		job->batch = 16 << rng_below(rng, 5);
	}
}

static void make_trained_and_break(struct scene *s, struct rng *rng)
{
	make_trained(s, rng);
	break_nodes(s, rng);
	s->config.costs = (struct costs){ .start_s = 1, .resume_s = 3, .resize_s = 2 };
}

static void add_people(struct scene *s, struct rng *rng)
{
	static const char *const tenants[] = { "ann", "bob", "cy" };

	for (size_t i = 0; i < COUNT(tenants); i++)
		names_add(&s->trace.tenants, tenants[i], strlen(tenants[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		struct job *job = &s->trace.jobs[i];

		job->tenant = rng_below(rng, 4) ? (uint32_t)rng_below(rng, 3) : NAME_NONE;
		job->weight = pick(rng, 3);
		job->priority = (int32_t)rng_below(rng, 5) - 2;
		job->epochs = (double)rng_below(rng, 4);
		job->deadline_s = job->arrival_s + 50;
		job->class_ = (uint32_t)rng_below(rng, 2);
	}
	s->config.error = 0.5;
}

static void add_costs(struct scene *s, struct rng *rng)
{
	(void)rng;
	s->config.costs = (struct costs){ .start_s = 3, .resume_s = 7, .resize_s = 2 };
}

static void add_deps(struct scene *s, struct rng *rng)
{
	s->config.admit = "load:limit=0.8";
	for (uint32_t i = 1; i < s->trace.njobs; i++) {
		for (uint32_t n = (uint32_t)rng_below(rng, 3); n > 0; n--)
			trace_add_dep(&s->trace, i, (uint32_t)rng_below(rng, i));
	}
}

static void use_fractions(struct scene *s, struct rng *rng)
{
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].arrival_s *= 1.1;
		s->trace.work[i] = rng_exponential(rng, 20);
	}
}

static void share_devices(struct scene *s, struct rng *rng)
{
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].share = (double)rng_below(rng, 5) / 4;
		s->trace.jobs[i].gpu_mem_bytes = (int64_t)rng_below(rng, 12) << 30;
	}
}

static void share_and_break(struct scene *s, struct rng *rng)
{
	share_devices(s, rng);
	break_nodes(s, rng);
	add_types(s, rng);
}

/* The last two of four nodes come and go, and stay in the end. */
static void borrow_nodes(struct scene *s, struct rng *rng)
{
	static bool pool[] = { false, false, true, true };
	static struct loan_step steps[] = { { 3, 2 }, { 9, 1 }, { 12, 0 }, { 15, 2 }, { 21, 1 },
		{ 30, 2 }, { 41, 0 }, { 60, 2 } };
	static const struct loan loan = { pool, 2, { steps, COUNT(steps), COUNT(steps) } };

	if (rng_below(rng, 2))
		make_elastic(s, rng);
	s->config.loan = &loan;
}

static void borrow_and_break(struct scene *s, struct rng *rng)
{
	borrow_nodes(s, rng);
	break_nodes(s, rng);
}

static const struct world_kind kinds[] = {
	{ "no jobs", "2x4", { 0, 0, 1, 1 }, NULL, false },
	{ "one job", "2x4", { 1, 0, 20, 8 }, NULL, false },
	{ "one node", "1x4", { 14, 30, 20, 4 }, NULL, false },
	{ "nodes of 4", "3x4", { 14, 20, 20, 8 }, NULL, false },
	{ "nodes of 1", "6x1", { 12, 20, 20, 4 }, NULL, false },
	{ "a node of 64", "1x64", { 12, 20, 20, 64 }, NULL, false },
	{ "seventy nodes", "70x1", { 20, 10, 20, 64 }, NULL, false },
	{ "uneven nodes", "1x8:v100,2x2:v100", { 14, 20, 20, 8 }, NULL, false },
	{ "all at once", "2x4", { 14, 0, 20, 8 }, NULL, false },
	{ "some too large", "2x2", { 14, 20, 20, 8 }, NULL, false },
	{ "types", "2x2:v100,1x4:p100,2x1:k80", { 14, 20, 20, 4 }, add_types, false },
	{ "models", "2x2:v100,1x4:p100,2x1:k80", { 14, 20, 20, 4 }, add_models, false },
	{ "CPUs and memory", "3x4", { 14, 20, 20, 8 }, limit_nodes, false },
	{ "failures", "3x2", { 12, 40, 20, 4 }, break_nodes, false },
	{ "elastic jobs", "2x4", { 12, 20, 20, 8 }, make_elastic, false },
	{ "tenants and bad estimates", "2x4", { 14, 20, 20, 8 }, add_people, false },
	{ "costs", "2x4", { 14, 60, 20, 8 }, add_costs, false },
	{ "dependencies", "2x2", { 12, 20, 20, 8 }, add_deps, false },
	{ "fractions of seconds", "2x4", { 14, 20, 20, 8 }, use_fractions, false },
	{ "fractions of devices", "3x2:v100", { 20, 20, 20, 4 }, share_devices, false },
	{ "fractions, types and failures", "2x2:v100,1x4:p100,2x1:k80", { 14, 40, 20, 4 },
		share_and_break, false },
	{ "borrowed nodes", "4x2", { 14, 40, 20, 4 }, borrow_nodes, false },
	{ "borrowed nodes of another type", "2x2:v100,2x2:t4", { 14, 40, 20, 2 }, borrow_nodes, false },
	{ "borrowed nodes that fail", "4x2", { 12, 40, 20, 4 }, borrow_and_break, false },
	{ "elastic jobs of several types", "2x2:v100,1x4:p100,2x1:k80", { 12, 20, 20, 4 },
		make_elastic_of_types, false },
	{ "elastic jobs on uneven nodes that fail", "1x4,2x2,2x1", { 12, 40, 20, 4 },
		make_elastic_and_break, false },
	{ "trained jobs", "2x4:v100", { 10, 60, 60, 4 }, make_trained, true },
	{ "trained jobs of several types", "2x2:v100,1x4:p100,2x1:k80", { 10, 60, 60, 4 },
		make_trained, true },
	{ "trained jobs on nodes that fail", "2x4:v100,2x2:k80", { 8, 60, 60, 8 },
		make_trained_and_break, true },
};

static void train(struct scene *s)
{
	struct training_bound bound;

	s->training = training_create(&s->cluster, &s->trace.models);
	training_synthesise(s->training);
	training_bind(s->training, s->profile, &s->trace, &bound);
	training_bound_fini(&bound);
	s->config.training = s->training;
}

static void build(struct scene *s, const struct world_kind *kind, uint64_t seed)
{
	struct rng rng;

	rng_for(&rng, seed, RNG_TEST, (uint64_t)(kind - kinds));
	scene_init(s, kind->cluster);
	scene_draw(s, &rng, kind->draw);
	if (kind->dress)
		kind->dress(s, &rng);
	s->config.seed = seed;
	scene_ready(s);
	if (kind->trained)
		train(s);
}

/* ---- bounds */

/* With every job at its nominal speed, each with all the devices it takes, no schedule is shorter than these. */
static void check_bounds(struct referee *r, const struct scene *s, const struct outcome *out)
{
	double gpu_s = 0, longest_s = 0;

	for (uint32_t i = 0; i < out->njobs; i++) {
		double alone_s = s->trace.work[i] / out->jobs[i].nominal_rate;

		if (out->jobs[i].state != JOB_FINISHED)
			continue;
		gpu_s += alone_s * out->jobs[i].gpus *
			(job_is_fraction(&out->jobs[i]) ? out->jobs[i].share : 1);
		alone_s *= (double)out->jobs[i].gpus / out->jobs[i].max_gpus;
		longest_s = fmax(longest_s, alone_s);
		if (out->jobs[i].finish_s - out->jobs[i].arrival_s < alone_s * (1 - 1e-9))
			snprintf(r->breach, sizeof(r->breach), "job %u was faster than alone", i);
	}
	if (r->guests) /* whoever leaves a device idle leaves it to them: it does more than one job alone */
		gpu_s = 0;
	if ((out->to_s - out->from_s) * (1 + 1e-9) < fmax(gpu_s / s->cluster.devices, longest_s))
		snprintf(r->breach, sizeof(r->breach), "all was over in %g s, faster than can be",
			out->to_s - out->from_s);
}

/* ---- one run */

/* By name through the front door; the hash of what happened. */
static uint64_t plain_hash(struct scene *s, const char *policy)
{
	struct outcome out;
	uint64_t hash;

	s->config.policy = policy;
	s->config.observers = NULL;
	s->config.nobservers = 0;
	scene_run(s, &out);
	hash = out.event_hash;
	outcome_fini(&out);
	return hash;
}

static uint64_t watched_hash(struct scene *s, const char *policy, struct referee *r)
{
	struct chosen_policy chosen = scene_policy(policy);
	struct observer observer = referee_observer(r);
	struct outcome out = { 0 };
	uint64_t hash;

	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run_policy(s, referee_policy(r, chosen), r, &out);
	referee_end(r, &out);
	if (!s->config.truth)
		check_bounds(r, s, &out);
	hash = out.event_hash;
	outcome_fini(&out);
	scene_policy_fini(&chosen);
	return hash;
}

/* Who does not say that it looks at believed run times decides the same whatever they are. */
static void check_blind(struct scene *s, const char *policy, uint64_t hash)
{
	struct chosen_policy chosen = scene_policy(policy);
	bool looks = chosen.rule->traits & POLICY_ESTIMATES;
	double error = s->config.error;

	scene_policy_fini(&chosen);
	if (looks)
		return;
	s->config.error = 1;
	if (plain_hash(s, policy) != hash)
		fail_msg("%s looks at estimated run times, but its traits do not say so", policy);
	s->config.error = error;
}

static void run_once(const char *policy, const char *placer, const struct world_kind *kind, uint64_t seed)
{
	struct referee r;
	struct scene s;
	uint64_t hash;

	build(&s, kind, seed);
	s.config.placer = placer;
	referee_init(&r, &s.cluster, &s.trace);
	hash = watched_hash(&s, policy, &r);
	if (r.breach[0])
		fail_msg("%s with %s, %s, seed %llu: %s", policy, placer, kind->what,
			(unsigned long long)seed, r.breach);
	if (plain_hash(&s, policy) != hash)
		fail_msg("%s with %s, %s, seed %llu: a second run differs", policy, placer,
			kind->what, (unsigned long long)seed);
	if (!strchr(policy, ':'))
		check_blind(&s, policy, hash);
	referee_fini(&r);
	scene_fini(&s);
}

/* ---- every policy, every option, every placer */

static struct specs placer_specs;

/* An option of a placer is turned in a quarter of the worlds: there are many of them. */
static bool is_variant(const char *placer)
{
	return strchr(placer, ':') != NULL;
}

static void conforms(void **state)
{
	const char *policy = *state;
	bool plain = !strchr(policy, ':'), scaled = rounds(4) < 4;
	uint64_t first = property_seed();

	printf("[   SEED   ] %llu: %s\n", (unsigned long long)first, policy);
	for (uint64_t seed = first; seed < first + rounds(2); seed++) {
		for (size_t p = 0; p < placer_specs.n; p++) {
			for (size_t k = 0; k < COUNT(kinds); k++) {
				/* Variants meet the other placers in the first round, each in other worlds. */
				if (is_variant(placer_specs.at[p]) && (seed > first || (k + p) % 4))
					continue;
				if (!plain && p > 0 &&
					(seed > first || k % (placer_specs.n - 1) != p - 1))
					continue;
				if (scaled && p > 0 && (k + p) % 3)
					continue; /* with sanitizers: a third of the worlds for each */
				run_once(policy, placer_specs.at[p], &kinds[k], seed);
			}
		}
	}
}

int main(void)
{
	VEC(struct CMUnitTest) tests = { 0 };
	struct specs specs = { 0 };
	int failed;

	/* ONLY=gavel runs the policies with that in their name, PLACER=hived with such placers. */
	for (size_t i = 0; placers[i]; i++) {
		if (!getenv("PLACER") || strstr(placers[i]->name, getenv("PLACER")))
			specs_add(&placer_specs, placers[i]->name, placers[i]->options);
	}
	specs_of_policies(&specs);
	for (size_t i = 0; i < specs.n; i++) {
		vec_push(&tests,
			(struct CMUnitTest){
				.name = specs.at[i],
				.test_func = conforms,
				.initial_state = specs.at[i],
			});
	}
	failed = _cmocka_run_group_tests("policy/conformance", tests.at, tests.n, NULL, NULL);
	vec_fini(&tests);
	specs_fini(&specs);
	specs_fini(&placer_specs);
	return failed;
}
