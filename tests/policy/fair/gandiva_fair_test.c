/*
 * Gandiva_fair: no tenant ends below its share without trades, device-time
 * follows tickets, and nobody starves.
 */
#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

/* What a tenant is entitled to is never less; what it has of it is, by no more than this. */
#define WITHIN 0.98

enum { TENANTS = 4, MODELS = 4, GPUS = 16, UNTIL_S = 36000 };

/* Fast and slow devices alike; tenants with a model each, whose speed-up is drawn. */
struct market {
	struct scene scene;
	uint32_t tenants;
	double speedup[TENANTS];
	double weight[TENANTS];
};

static void add_names(struct scene *s)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	for (size_t i = 0; i < COUNT(names); i++) {
		names_add(&s->trace.tenants, names[i], 1);
		names_add(&s->trace.models, names[i], 1);
	}
}

/* Everybody has more to do than there is time for, in jobs of one device, so that parts are had as they are. */
static void open_market(struct market *m, struct rng *rng)
{
	struct scene *s = &m->scene;

	scene_init(s, "2x4:v100,2x4:k80");
	add_names(s);
	m->tenants = 2 + (uint32_t)rng_below(rng, TENANTS - 1);
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t i = 0; i < m->tenants; i++) {
		m->speedup[i] = 1 + rng_uniform(rng) * 5;
		m->weight[i] = pick(rng, 3);
		profile_add(s->profile, i, 0, 1, 0, m->speedup[i]);
		profile_add(s->profile, i, 1, 1, 0, 1);
		for (uint32_t k = 0; k < GPUS; k++) {
			struct job *job = scene_job(s, 0, 1, 1e9);

			job->tenant = job->model = i;
			job->weight = m->weight[i];
			job->by_steps = true;
		}
	}
	s->config.truth = s->profile;
	s->config.until_s = UNTIL_S;
	scene_ready(s);
}

/* What a tenant has done, in seconds of a slow device: its models make a step a second there. */
static void count(const struct outcome *out, double done[TENANTS])
{
	memset(done, 0, TENANTS * sizeof(*done));
	for (uint32_t i = 0; i < out->njobs; i++)
		done[out->jobs[i].tenant] += job_done(&out->jobs[i], UNTIL_S);
}

static double figure(const struct outcome *out, const char *name)
{
	for (uint32_t i = 0; i < out->nfigures; i++) {
		if (!strcmp(out->figures[i].name, name))
			return out->figures[i].value;
	}
	fail_msg("no figure %s", name);
	return 0;
}

static void no_tenant_ends_below_its_share_without_trades(void **state)
{
	struct rng rng = property("shares with and without trades");
	double least = INFINITY, all = 0, without_all = 0, trades = 0;

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		double done[TENANTS], plain[TENANTS], weights = 0;
		struct market m;
		struct outcome out;

		open_market(&m, &rng);
		m.scene.config.policy = "gandiva-fair";
		scene_run(&m.scene, &out);
		count(&out, done);
		assert_true(figure(&out, "least_gain") >= 1 - 1e-9);
		trades += figure(&out, "trades");
		outcome_fini(&out);
		m.scene.config.policy = "gandiva-fair:trade=0";
		scene_run(&m.scene, &out);
		count(&out, plain);
		assert_true(figure(&out, "trades") == 0);
		outcome_fini(&out);
		for (uint32_t i = 0; i < m.tenants; i++)
			weights += m.weight[i];
		for (uint32_t i = 0; i < m.tenants; i++) {
			double share = m.weight[i] / weights * GPUS / 2 * (m.speedup[i] + 1) * UNTIL_S;

			/* whole jobs on whole servers: tickets lie evenly as far as that goes */
			if (!(done[i] >= WITHIN * share) || !(plain[i] >= WITHIN * share))
				fail_msg("round %zu, tenant %u: %.4f of its share with trades, %.4f without",
					round, i, done[i] / share, plain[i] / share);
			least = fmin(least, done[i] / share);
			all += done[i];
			without_all += plain[i];
		}
		scene_fini(&m.scene);
	}
	printf("%.0f trades: least part of a no-trade share %.4f; work done in all %.3f of that without trades\n",
		trades, least, all / without_all);
	assert_true(trades > 0);
	assert_true(all > without_all);
}

/* Always busy, one gang at a time: device-time over tickets differs by no more than the larger stride. */
static void device_time_follows_tickets(void **state)
{
	struct rng rng = property("device-time over tickets");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, TENANTS - 1);
		struct scene s;
		struct outcome out;

		scene_init(&s, "1x8");
		add_names(&s);
		for (uint32_t i = 0; i < n; i++) {
			struct job *job = scene_job(&s, 0, 5 + (int)rng_below(&rng, 4), 1e6);

			job->tenant = i;
			job->weight = pick(&rng, 4);
		}
		s.config.policy = "gandiva-fair";
		s.config.until_s = 60 * (1 + (double)rng_below(&rng, 200));
		scene_run(&s, &out);
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t k = 0; k < n; k++) {
				const struct job *a = &out.jobs[i], *b = &out.jobs[k];
				double now_s = s.config.until_s;
				double gap = job_served_s(a, now_s) / a->weight -
					job_served_s(b, now_s) / b->weight;

				assert_true(fabs(gap) <=
					60 * fmax(a->gpus / a->weight, b->gpus / b->weight) + 1e-6);
			}
		}
		outcome_fini(&out);
		scene_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_tenant_ends_below_its_share_without_trades),
		cmocka_unit_test(device_time_follows_tickets),
	};

	return cmocka_run_group_tests_name("policy/fair/gandiva_fair", tests, NULL, NULL);
}
