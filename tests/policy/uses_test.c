/*
 * What policies say they go by of what submissions may say: who says no decides
 * the same whatever jobs say, who says yes decides otherwise in some world.
 */
#include "policy/policy.h"

#include <string.h>

#include "support/property.h"
#include "support/scene.h"
#include "support/specs.h"

static void draw_priority(struct job *job, struct rng *rng)
{
	job->priority = (int32_t)rng_below(rng, 9) - 4;
}

static void draw_weight(struct job *job, struct rng *rng)
{
	job->weight = pick(rng, 6);
}

static void draw_deadline(struct job *job, struct rng *rng)
{
	job->deadline_s = job->arrival_s + 20 + pick(rng, rng_below(rng, 2) ? 100 : 10000);
}

static void draw_range(struct job *job, struct rng *rng)
{
	job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
	job->max_gpus = job->gpus + (int32_t)rng_below(rng, 5);
}

static const struct use {
	const char *flag;
	unsigned bit;
	void (*draw)(struct job *job, struct rng *rng);
} uses[] = {
	{ "--priority", USES_PRIORITY, draw_priority },
	{ "--weight", USES_WEIGHT, draw_weight },
	{ "--deadline", USES_DEADLINE, draw_deadline },
	{ "--min-gpus, --max-gpus", USES_RANGE, draw_range },
};

static const char *const clusters[] = { "1x4:v100", "2x4:v100", "2x2:v100,1x4:p100" };

/* Jobs of three tenants that want more than there is: of seconds, and of many rounds. */
static void build(struct scene *s, uint64_t seed, const struct use *use)
{
	static const char *const tenants[] = { "ann", "bob", "cy" };
	struct rng rng;

	rng_for(&rng, seed, RNG_TEST, 0);
	scene_init(s, clusters[seed % COUNT(clusters)]);
	scene_draw(s, &rng, (struct draw){ 16, seed % 2 ? 30 : 3000, seed % 2 ? 20 : 3000, 4 });
	for (size_t i = 0; i < COUNT(tenants); i++)
		names_add(&s->trace.tenants, tenants[i], strlen(tenants[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++)
		s->trace.jobs[i].tenant = (uint32_t)rng_below(&rng, COUNT(tenants));
	for (uint32_t i = 0; use && i < s->trace.njobs; i++)
		use->draw(&s->trace.jobs[i], &rng);
	s->config.seed = seed;
	scene_ready(s);
}

/* The hash of all that happened; `use` NULL: no job says anything. */
static uint64_t hash_of(const char *policy, uint64_t seed, const struct use *use)
{
	struct outcome out;
	struct scene s;
	uint64_t hash;

	build(&s, seed, use);
	s.config.policy = policy;
	scene_run(&s, &out);
	hash = out.event_hash;
	outcome_fini(&out);
	scene_fini(&s);
	return hash;
}

static unsigned declared(const char *policy)
{
	struct chosen_policy chosen = scene_policy(policy);
	unsigned all = policy_uses(chosen.rule, chosen.state);

	scene_policy_fini(&chosen);
	return all;
}

/* The first of `n` seeds whose world differs; 0: none does. */
static uint64_t first_difference(const char *policy, const struct use *use, uint64_t first, size_t n)
{
	for (uint64_t seed = first; seed < first + n; seed++) {
		if (hash_of(policy, seed, use) != hash_of(policy, seed, NULL))
			return seed;
	}
	return 0;
}

static void goes_by_what_it_says(void **state)
{
	enum { ENOUGH = 100 }; /* some differ in one of ten */
	const char *policy = *state;
	uint64_t first = property_seed();
	unsigned says = declared(policy);

	printf("[   SEED   ] %llu: %s\n", (unsigned long long)first, policy);
	for (size_t i = 0; i < COUNT(uses); i++) {
		bool yes = says & uses[i].bit;
		uint64_t seed = first_difference(policy, &uses[i], first, yes ? ENOUGH : rounds(12));

		if (yes && !seed)
			fail_msg("%s says that it goes by %s, and does not in any world from seed %llu",
				policy, uses[i].flag, (unsigned long long)first);
		if (!yes && seed)
			fail_msg("%s goes by %s (seed %llu) and says that it does not", policy,
				uses[i].flag, (unsigned long long)seed);
	}
}

int main(void)
{
	VEC(struct CMUnitTest) tests = { 0 };
	struct specs specs = { 0 };
	int failed;

	specs_of_policies(&specs);
	for (size_t i = 0; i < specs.n; i++)
		vec_push(&tests,
			(struct CMUnitTest){
				.name = specs.at[i],
				.test_func = goes_by_what_it_says,
				.initial_state = specs.at[i],
			});
	failed = _cmocka_run_group_tests("policy/uses", tests.at, tests.n, NULL, NULL);
	vec_fini(&tests);
	specs_fini(&specs);
	return failed;
}
