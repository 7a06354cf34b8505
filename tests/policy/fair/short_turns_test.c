/*
 * The fair policies with leases, quanta and slices so short that little worlds
 * see thousands of them: the rules that every policy keeps to (support/referee.h).
 */
#include <string.h>

#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"

static const char *const specs[] = {
	"themis:lease_s=2",
	"themis:lease_s=3,app=tenant",
	"themis:lease_s=2,align=0,rounding=down",
	"themis:lease_s=2,starved=never,f=0.5",
	"themis:lease_s=20",
	"themis:lease_s=20,app=tenant,recall=1",
	"gandiva-fair:round_s=1,balance_s=2",
	"gandiva-fair:round_s=1,balance_s=2,trade=0,stay=2",
	"gandiva:slice_s=1,window_s=2",
	"gandiva:slice_s=1,window_s=3,stay=2",
};

static const char *const clusters[] = { "1x4", "3x4", "6x1", "1x8,2x2", "2x2:v100,1x4:p100,2x1:k80" };

static void dress(struct scene *s, struct rng *rng)
{
	static const char *const tenants[] = { "ann", "bob", "cy" };
	static const char *const models[] = { "resnet50", "vgg16", "bert", "nobody-knows" };

	for (size_t i = 0; i < COUNT(tenants); i++)
		names_add(&s->trace.tenants, tenants[i], strlen(tenants[i]));
	for (size_t i = 0; i < COUNT(models); i++)
		names_add(&s->trace.models, models[i], strlen(models[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		struct job *job = &s->trace.jobs[i];

		job->tenant = (uint32_t)rng_below(rng, COUNT(tenants));
		job->weight = pick(rng, 3);
		job->model = (uint32_t)rng_below(rng, COUNT(models));
		if (rng_below(rng, 3) == 0) {
			job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
			job->max_gpus = job->gpus + (int32_t)rng_below(rng, 5);
		}
	}
	if (rng_below(rng, 2)) {
		s->cluster.net_Bps = 1e9;
		s->profile = profile_create(&s->cluster, &s->trace.models);
		s->config.truth = s->profile;
	}
	if (rng_below(rng, 3) == 0)
		s->config.costs = (struct costs){ .start_s = 1, .resume_s = 3, .resize_s = 2 };
	if (rng_below(rng, 3) == 0) {
		s->config.failures.mtbf_s = 100;
		s->config.failures.repair_s = 15;
		for (uint32_t i = 0; i < s->trace.njobs; i++)
			s->trace.jobs[i].checkpoint_every_s = 2;
	}
}

static uint64_t play(struct scene *s, const char *spec, uint64_t seed)
{
	struct chosen_policy chosen = scene_policy(spec);
	struct outcome out = { 0 };
	struct observer observer;
	struct referee r;
	uint64_t hash;

	referee_init(&r, &s->cluster, &s->trace);
	observer = referee_observer(&r);
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run_policy(s, referee_policy(&r, chosen), &r, &out);
	referee_end(&r, &out);
	if (r.breach[0])
		fail_msg("%s, seed %llu: %s", spec, (unsigned long long)seed, r.breach);
	hash = out.event_hash;
	outcome_fini(&out);
	scene_policy_fini(&chosen);
	referee_fini(&r);
	return hash;
}

static void rules_are_kept(void **state)
{
	uint64_t first = property_seed();

	(void)state;
	printf("[   SEED   ] %llu: short turns\n", (unsigned long long)first);
	for (uint64_t seed = first; seed < first + rounds(40); seed++) {
		for (size_t i = 0; i < COUNT(specs); i++) {
			struct rng rng;
			struct scene s;

			rng_for(&rng, seed, RNG_TEST, 77);
			scene_init(&s, clusters[seed % COUNT(clusters)]);
			scene_draw(&s, &rng, (struct draw){ 16, 30, 30, 8 });
			dress(&s, &rng);
			s.config.seed = seed;
			scene_ready(&s);
			assert_true(play(&s, specs[i], seed) == play(&s, specs[i], seed));
			scene_fini(&s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rules_are_kept) };

	return cmocka_run_group_tests_name("policy/fair/short_turns", tests, NULL, NULL);
}
