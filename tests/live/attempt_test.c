/*
 * Attempts and grants as JSON and back.
 */
#include "live/attempt.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

static void open_cluster(struct cluster *cluster)
{
	struct err err = { 0 };

	assert_int_equal(cluster_parse("2x4:v100,1x64:a100", cluster, &err), 0);
}

static double any_time(struct rng *rng)
{
	return rng_below(rng, 3) ? rng_lognormal(rng, 0, 10) : NAN;
}

static struct grant *any_grant(struct rng *rng, const struct cluster *cluster)
{
	uint32_t n = 1 + (uint32_t)rng_below(rng, 3);
	struct grant *g = mem_alloc(sizeof(*g) + n * sizeof(g->slots[0]));

	g->nslots = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t all = cluster->nodes[i].devices == 64 ? UINT64_MAX : 15;

		g->slots[i].node = i;
		g->slots[i].devices = rng_u64(rng) & all;
		g->slots[i].devices |= i == 2 ? UINT64_C(1) << 63 : 1;
		g->gpus += (uint32_t)__builtin_popcountll(g->slots[i].devices);
	}
	grant_set_type(g, cluster);
	g->balanced = rng_below(rng, 2);
	g->batch = (uint32_t)rng_below(rng, 3);
	g->share = rng_below(rng, 2) ? 1 : rng_uniform(rng);
	if (rng_below(rng, 2)) {
		g->until_s = 1 + rng_uniform(rng);
		g->steps = rng_uniform(rng);
	}
	return g;
}

static struct attempt *any_attempt(struct rng *rng, const struct cluster *cluster)
{
	struct grant *grant = any_grant(rng, cluster);
	struct attempt *a = attempt_create(1 + (uint32_t)rng_below(rng, 100),
		1 + (uint32_t)rng_below(rng, 100), grant, rng_uniform(rng));

	free(grant);
	if (rng_below(rng, 2))
		a->next = any_grant(rng, cluster);
	a->next_told = rng_below(rng, 2);
	if (rng_below(rng, 3) == 0)
		a->wish = any_grant(rng, cluster);
	a->phase = (enum phase)rng_below(rng, PHASE_OVER + 1);
	a->stop = (enum stop)rng_below(rng, STOP_REQUEUE + 1);
	a->launched_s = any_time(rng);
	a->begun_s = any_time(rng);
	a->asked_s = any_time(rng);
	a->over_s = any_time(rng);
	a->code = (int)rng_below(rng, 257) - 1;
	a->signal = (int)rng_below(rng, 30);
	a->text = rng_below(rng, 2) ? mem_strdup("it \"fell\"\n") : NULL;
	return a;
}

static void same_grant(const struct grant *a, const struct grant *b)
{
	assert_int_equal(a->gpus, b->gpus);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->mixed, b->mixed);
	assert_true(grant_same_devices(a, b));
	assert_true(a->share == b->share && a->until_s == b->until_s && a->steps == b->steps);
}

static void attempts_go_there_and_back(void **state)
{
	struct rng rng = property("an attempt made from a status is the same attempt");
	struct cluster cluster;

	(void)state;
	open_cluster(&cluster);
	for (size_t i = 0; i < rounds(1000); i++) {
		struct attempt *a = any_attempt(&rng, &cluster), *again;
		struct buf text = { 0 }, second = { 0 };
		struct err err = { 0 };
		json_t *json;

		attempt_status(a, &cluster, &text);
		json = json_loads(text.at, 0, NULL);
		assert_non_null(json);
		assert_int_equal(attempt_from_status(json, &cluster, &again, &err), 0);
		attempt_status(again, &cluster, &second);
		assert_string_equal(text.at, second.at);
		same_grant(a->grant, again->grant);
		assert_int_equal(a->phase, again->phase);
		assert_int_equal(a->stop, again->stop);
		assert_int_equal(a->code, again->code);
		json_decref(json);
		attempt_destroy(a);
		attempt_destroy(again);
		buf_fini(&text);
		buf_fini(&second);
	}
	cluster_fini(&cluster);
	attempt_destroy(NULL);
}

static const char *const foreign[] = {
	"{\"phase\":\"running\"}",
	"{\"phase\":\"?\",\"grant\":{\"type\":\"v100\",\"on\":[[0,1]]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"h100\",\"on\":[[0,1]]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"v100\",\"on\":[]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"v100\",\"on\":[[0,16]]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"v100\",\"on\":[[0,0]]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"v100\",\"on\":[[3,1]]}}",
	"{\"phase\":\"running\",\"grant\":{\"type\":\"v100\",\"on\":[[0,1]]},\"next\":{\"type\":\"v100\",\"on\":[[9,1]]}}",
};

static void devices_that_are_not_here_are_refused(void **state)
{
	struct cluster cluster;

	(void)state;
	open_cluster(&cluster);
	for (size_t i = 0; i < COUNT(foreign); i++) {
		json_t *json = json_loads(foreign[i], 0, NULL);
		struct attempt *a;
		struct err err = { 0 };

		assert_non_null(json);
		assert_int_equal(attempt_from_status(json, &cluster, &a, &err), ERR_FORMAT);
		json_decref(json);
	}
	cluster_fini(&cluster);
	assert_string_equal(phase_name(PHASE_WAITING), "waiting");
	assert_string_equal(stop_name(STOP_CANCEL), "cancel");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attempts_go_there_and_back),
		cmocka_unit_test(devices_that_are_not_here_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
