#include "model/estimate.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "solver/completion.h"
#include "support/property.h"

enum { FAST, SLOW, OLD, TYPES, MODELS = 12 };

static const uint32_t sizes[] = { 1, 2, 4 };

/* Two nodes of four devices of each type, and models whose speeds are a factor of theirs times one of the place. */
struct world {
	struct cluster cluster;
	struct names models;
	struct profile *truth;
};

static double place_factor(uint32_t type, uint32_t gpus)
{
	static const double of_type[TYPES] = { 8, 3, 1 };

	return of_type[type] * (gpus == 1 ? 1 : gpus == 2 ? 1.9 : 3.2);
}

static double true_speed(uint32_t model, uint32_t type, uint32_t gpus)
{
	return (1 + model * model) * 0.1 * place_factor(type, gpus);
}

static double true_fraction(uint32_t a, uint32_t b, uint32_t type)
{
	return 0.95 / (1 + 0.05 * a) / (1 + 0.03 * b) / (1 + 0.2 * type);
}

static void measure(struct world *w)
{
	for (uint32_t m = 0; m < MODELS; m++) {
		for (uint32_t t = 0; t < TYPES; t++) {
			for (size_t i = 0; i < COUNT(sizes); i++)
				profile_add(w->truth, m, t, sizes[i], 0, true_speed(m, t, sizes[i]));
			for (uint32_t o = 0; o <= m; o++)
				profile_add_pair(w->truth, t, 1, m,
					true_fraction(m, o, t) * true_speed(m, t, 1), o,
					true_fraction(o, m, t) * true_speed(o, t, 1));
		}
	}
}

static struct world *world(void)
{
	static const char *const types[] = { "fast", "slow", "old" };
	struct world *w = mem_alloc(sizeof(*w));
	char name[16];

	cluster_add_rack(&w->cluster, "a", 0);
	for (uint32_t t = 0; t < TYPES; t++) {
		cluster_add_type(&w->cluster, types[t]);
		for (int i = 0; i < 2; i++)
			cluster_add_node(&w->cluster,
				(struct node){ .type = t, .devices = 4, .topology = TOPOLOGY_NONE });
	}
	for (int m = 0; m < MODELS; m++)
		names_add(&w->models, name, (size_t)snprintf(name, sizeof(name), "thing %d", m));
	w->truth = profile_create(&w->cluster, &w->models);
	return w;
}

static struct world *measured_world(void)
{
	struct world *w = world();

	measure(w);
	return w;
}

static void destroy(struct world *w)
{
	profile_destroy(w->truth);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
	free(w);
}

static bool by_effects(void *ctx, const double *known, uint32_t rows, uint32_t cols, double *out)
{
	(void)ctx;
	complete_two_way(&(struct holes){ known, rows, cols }, 0, out);
	return true;
}

static bool cannot(void *ctx, const double *known, uint32_t rows, uint32_t cols, double *out)
{
	(void)known;
	(void)rows;
	(void)cols;
	(void)out;
	++*(int *)ctx;
	return false;
}

static struct estimate_config config_for(const struct world *w, double known)
{
	struct estimate_config config;

	estimate_config_init(&config);
	config.cluster = &w->cluster;
	config.models = &w->models;
	config.truth = w->truth;
	config.known = known;
	config.fill = by_effects;
	return config;
}

static struct shape packed(uint32_t gpus)
{
	return (struct shape){ .gpus = gpus, .nodes = 1, .racks = 1 };
}

static double believed(const struct estimator *e, uint32_t model, uint32_t type, uint32_t gpus)
{
	return profile_rate(estimator_belief(e), model, type, packed(gpus));
}

static void see(struct estimator *e, double at_s, uint32_t model, uint32_t type, uint32_t gpus,
	double steps_per_s)
{
	estimator_observe(e,
		&(struct observation){
			.at_s = at_s,
			.model = model,
			.type = type,
			.shape = packed(gpus),
			.beside = NAME_NONE,
			.steps_per_s = steps_per_s,
		});
}

static void assert_near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%.9g is not within %g of %.9g", got, within, want);
}

/* ---- what is known, and what is made of it */

static void all_known_is_the_truth(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 1);
	struct estimator *e = estimator_create(&config);
	struct estimate_error alone = estimator_error(e, false), beside = estimator_error(e, true);

	(void)state;
	assert_int_equal(alone.nall, MODELS * TYPES * COUNT(sizes));
	assert_int_equal(beside.nall, MODELS * MODELS * TYPES);
	assert_true(alone.all == 0 && alone.nestimated == 0 && isnan(alone.estimated));
	assert_true(beside.all < 1e-12 && beside.nestimated == 0);
	estimator_destroy(e);
	estimator_destroy(NULL);
	destroy(w);
}

static void what_was_asked_for_counts_apart(void **state)
{
	static const struct estimate_cell asked[] = { { 0, FAST, 1 }, { 1, OLD, 2 } };
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct estimator *e;
	struct estimate_error before, after;

	(void)state;
	config.fill = NULL;
	config.also = asked;
	config.nalso = COUNT(asked);
	e = estimator_create(&config);
	before = estimator_error(e, false);
	see(e, 0, 0, FAST, 1, true_speed(0, FAST, 1));
	see(e, 0, 1, OLD, 2, true_speed(1, OLD, 2));
	after = estimator_error(e, false);
	assert_int_equal(before.nasked + before.nunknown >= COUNT(asked), true);
	assert_int_equal(after.nasked, COUNT(asked));
	assert_true(after.asked == 0 && after.all > 0);
	assert_int_equal(estimator_error(e, true).nasked, 0);
	assert_true(isnan(estimator_error(e, true).asked));
	estimator_destroy(e);
	destroy(w);
}

static void completes_what_factors_explain(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0.5);
	struct estimator *e = estimator_create(&config);
	struct estimate_error alone = estimator_error(e, false), beside = estimator_error(e, true);

	(void)state;
	assert_true(alone.nestimated > 30 && alone.estimated < 1e-6);
	assert_true(beside.nestimated > 100 && beside.estimated < 1e-6);
	assert_true(alone.all < alone.estimated);
	estimator_destroy(e);
	destroy(w);
}

static void of_every_model_one_is_known(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct estimator *e = estimator_create(&config);
	struct estimate_error alone = estimator_error(e, false);

	(void)state;
	assert_int_equal(alone.nall - alone.nestimated, MODELS);
	assert_int_equal(estimator_error(e, true).nestimated, MODELS * MODELS * TYPES);
	estimator_destroy(e);
	destroy(w);
}

static void on_one_type_each(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 1);
	struct estimate_error alone;
	struct estimator *e;

	(void)state;
	config.types = 1;
	e = estimator_create(&config);
	alone = estimator_error(e, false);
	assert_int_equal(alone.nall - alone.nestimated, MODELS * COUNT(sizes));
	estimator_destroy(e);
	config.full = 1;
	e = estimator_create(&config);
	assert_int_equal(estimator_error(e, false).nestimated, 0);
	assert_int_equal(estimator_error(e, true).nestimated, 0);
	estimator_destroy(e);
	destroy(w);
}

static void what_cannot_run_is_known(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct estimator *e;

	(void)state;
	profile_add(w->truth, 3, OLD, 4, 0, 0);
	profile_add_pair(w->truth, OLD, 1, 3, 0, 5, 0);
	e = estimator_create(&config);
	assert_true(believed(e, 3, OLD, 4) == 0);
	assert_true(profile_beside(estimator_belief(e), OLD, 1, 3, 5) == 0);
	assert_true(profile_beside(estimator_belief(e), OLD, 1, 5, 3) == 0);
	assert_true(believed(e, 3, SLOW, 4) > 0);
	assert_int_equal(estimator_error(e, false).nall, MODELS * TYPES * COUNT(sizes) - 1);
	estimator_destroy(e);
	destroy(w);
}

static void a_pair_is_measured_both_ways(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0.3);
	struct estimator *e;
	uint32_t exact = 0;

	(void)state;
	config.fill = NULL;
	e = estimator_create(&config);
	for (uint32_t a = 0; a < MODELS; a++) {
		for (uint32_t b = 0; b < a; b++) {
			double ab = profile_beside(estimator_belief(e), SLOW, 1, a, b);
			double ba = profile_beside(estimator_belief(e), SLOW, 1, b, a);

			/* The catalogue knows none of them: a half. */
			assert_int_equal(ab != 0.5, ba != 0.5);
			exact += ab != 0.5;
		}
	}
	assert_true(exact > 5 && exact < 45);
	estimator_destroy(e);
	destroy(w);
}

static void without_filling_the_profile_answers(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0.5);
	struct estimator *none, *failed;
	int calls = 0;

	(void)state;
	config.fill = NULL;
	none = estimator_create(&config);
	config.fill = cannot;
	config.ctx = &calls;
	failed = estimator_create(&config);
	assert_int_equal(calls, 2);
	for (uint32_t m = 0; m < MODELS; m++) {
		double a = believed(none, m, SLOW, 2), b = believed(failed, m, SLOW, 2);

		assert_true(a == b || (isnan(a) && isnan(b)));
	}
	estimator_destroy(none);
	estimator_destroy(failed);
	destroy(w);
}

static void draws_do_not_depend_on_others(void **state)
{
	struct world *w = measured_world();
	struct estimate_cell also[] = { { 2, SLOW, 3 }, { 2, OLD, 8 }, { 7, FAST, 1 } };
	struct estimate_config config = config_for(w, 0.4);
	struct estimator *plain, *more, *other;
	uint32_t same = 0;

	(void)state;
	config.fill = NULL;
	plain = estimator_create(&config);
	config.also = also;
	config.nalso = COUNT(also);
	more = estimator_create(&config);
	config.seed = 9;
	other = estimator_create(&config);
	for (uint32_t m = 0; m < MODELS; m++) {
		double a = believed(plain, m, SLOW, 4), b = believed(more, m, SLOW, 4);

		assert_true(m == 2 || a == b || (isnan(a) && isnan(b)));
		same += a == believed(other, m, SLOW, 4);
	}
	assert_true(same < MODELS);
	assert_int_equal(estimator_error(more, false).nall + estimator_error(more, false).nunknown,
		MODELS * TYPES * COUNT(sizes) + 2 /* one of the three is there already */);
	estimator_destroy(plain);
	estimator_destroy(more);
	estimator_destroy(other);
	destroy(w);
}

static void a_prior_tells_types_apart(void **state)
{
	struct world *w = world();
	uint32_t model = names_add(&w->models, "resnet50", 8),
		 other = names_add(&w->models, "vgg16", 5);
	struct estimate_cell also[] = { { model, 0, 1 }, { model, 1, 1 }, { other, 0, 1 },
		{ other, 1, 1 } };
	struct estimate_config config;
	struct estimator *e;

	(void)state;
	cluster_fini(&w->cluster);
	cluster_add_rack(&w->cluster, "a", 0);
	cluster_add_type(&w->cluster, "v100");
	cluster_add_type(&w->cluster, "k80");
	config = config_for(w, 1);
	config.types = 1;
	config.prior = true;
	config.also = also;
	config.nalso = COUNT(also);
	/* What no model was measured on together cannot be told from measurements; here the catalogue is the truth. */
	e = estimator_create(&config);
	assert_true(estimator_error(e, false).nestimated == 2);
	assert_true(estimator_error(e, false).estimated < 1e-9);
	estimator_destroy(e);
	destroy(w);
}

static void nothing_to_estimate(void **state)
{
	struct world *w = world();
	struct estimate_config config = config_for(w, 0.5);
	struct estimator *e = estimator_create(&config);

	(void)state;
	assert_int_equal(estimator_error(e, false).nall, 0);
	assert_true(isnan(estimator_error(e, true).all));
	assert_true(isnan(believed(e, 0, FAST, 1)));
	see(e, 0, 0, FAST, 1, 5);
	assert_true(believed(e, 0, FAST, 1) == 5);
	estimator_destroy(e);
	destroy(w);
}

/* ---- learning */

static void a_speed_seen_replaces_the_estimate(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct estimator *e = estimator_create(&config);
	uint32_t before = estimator_error(e, false).nestimated;

	(void)state;
	/* Whichever one is known of model 4, two types are not measured. */
	see(e, 0, 4, SLOW, 1, 100);
	see(e, 1, 4, OLD, 1, 10);
	assert_true(believed(e, 4, SLOW, 1) == 100 || believed(e, 4, OLD, 1) == 10);
	assert_true(estimator_error(e, false).nestimated <= before - 1);
	see(e, 2, 4, OLD, 1, 10);
	see(e, 3, 4, OLD, 1, believed(e, 4, OLD, 1) + 2);
	see(e, 3, 4, OLD, 1, NAN);
	see(e, 3, 4, OLD, 1, 0);
	assert_int_equal(estimator_counts(e).observations, 4);
	estimator_destroy(e);
	destroy(w);
}

static void a_second_sight_counts_by_weight(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 1);
	struct estimator *e;
	double was = true_speed(4, SLOW, 1);

	(void)state;
	config.weight = 0.25;
	e = estimator_create(&config);
	see(e, 0, 4, SLOW, 1, was + 4);
	assert_near(believed(e, 4, SLOW, 1), was + 1, 1e-12);
	estimator_destroy(e);
	destroy(w);
}

static void neighbours_follow_when_it_is_time(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct estimator *e;
	double before;

	(void)state;
	config.again_s = 100;
	config.seed = 2; /* knows something in the column of (2, OLD, 4), but not that */
	e = estimator_create(&config);
	see(e, 0, 1, FAST, 1, true_speed(1, FAST, 1)); /* fills at once, and then not before 100 */
	assert_true(estimator_counts(e).fills <= 2);
	before = believed(e, 2, OLD, 4);
	for (uint32_t t = 0; t < TYPES; t++) {
		for (uint32_t m = 0; m < 8; m++)
			see(e, 50, m, t, 1, true_speed(m, t, 1));
	}
	assert_true(believed(e, 2, OLD, 4) == before);
	see(e, 100, 2, FAST, 4, true_speed(2, FAST, 4));
	assert_true(believed(e, 2, OLD, 4) != before);
	assert_near(believed(e, 2, OLD, 4), true_speed(2, OLD, 4), 1e-6);
	estimator_destroy(e);
	destroy(w);
}

static void what_is_no_news_fills_nothing(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 1);
	struct estimator *e = estimator_create(&config);

	(void)state;
	for (int i = 0; i < 100; i++)
		see(e, i * 1e4, 4, SLOW, 1, true_speed(4, SLOW, 1));
	assert_int_equal(estimator_counts(e).fills, 1);
	see(e, 2e6, 4, SLOW, 1, 2 * true_speed(4, SLOW, 1));
	assert_int_equal(estimator_counts(e).fills, 2);
	estimator_destroy(e);
	destroy(w);
}

static void beside_another_a_fraction_is_learnt(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 0);
	struct observation seen = { .type = SLOW, .shape = { 1, 1, 1 }, .model = 3, .beside = 5 };
	struct estimator *e;

	(void)state;
	config.full = 0;
	e = estimator_create(&config);
	seen.steps_per_s = 0.3 * believed(e, 3, SLOW, 1);
	estimator_observe(e, &seen);
	assert_near(profile_beside(estimator_belief(e), SLOW, 1, 3, 5), 0.3, 1e-12);
	/* The speed alone may turn out otherwise: the fraction stays. */
	see(e, 0, 3, SLOW, 1, 2 * believed(e, 3, SLOW, 1));
	assert_near(profile_beside(estimator_belief(e), SLOW, 1, 3, 5), 0.3, 1e-12);
	/* What nobody ever paired is not asked about. */
	seen.shape.gpus = 4;
	estimator_observe(e, &seen);
	estimator_destroy(e);
	destroy(w);
}

static void spread_devices_tell_of_packed_ones(void **state)
{
	struct world *w = measured_world();
	struct estimate_config config = config_for(w, 1);
	uint32_t vgg = names_add(&w->models, "vgg16", 5), v100;
	struct shape apart = { .gpus = 4, .nodes = 4, .racks = 1 };
	struct estimator *e;
	double locality;

	(void)state;
	v100 = (uint32_t)cluster_add_type(&w->cluster, "v100");
	cluster_add_node(&w->cluster,
		(struct node){ .type = v100, .devices = 4, .topology = TOPOLOGY_NONE });
	w->cluster.net_Bps = 1e9;
	profile_destroy(w->truth);
	config.truth = w->truth = profile_create(&w->cluster, &w->models);
	profile_add(w->truth, vgg, v100, 4, 0, 10);
	config.weight = 1;
	e = estimator_create(&config);
	locality = profile_locality(estimator_belief(e), vgg, v100, apart);
	assert_true(locality < 0.9);
	estimator_observe(e,
		&(struct observation){ .model = vgg,
			.type = v100,
			.shape = apart,
			.beside = NAME_NONE,
			.steps_per_s = 6 });
	assert_near(profile_rate(estimator_belief(e), vgg, v100, apart), 6, 1e-9);
	assert_near(believed(e, vgg, v100, 4), 6 / locality, 1e-9);
	estimator_destroy(e);
	destroy(w);
}

static void seeing_all_is_knowing_all(void **state)
{
	struct rng rng = property("who has seen everything knows everything");
	struct world *w = measured_world();

	(void)state;
	for (size_t n = 0; n < rounds(20); n++) {
		struct estimate_config config = config_for(w, rng_uniform(&rng));
		struct estimator *e;

		config.seed = n;
		config.full = rng_below(&rng, 2) ? rng_uniform(&rng) : 0;
		config.types = (uint32_t)rng_below(&rng, 4);
		config.weight = 1;
		e = estimator_create(&config);
		assert_true(estimator_error(e, false).all >= 0 && estimator_error(e, true).all >= 0);
		for (uint32_t m = 0; m < MODELS; m++) {
			for (uint32_t t = 0; t < TYPES; t++) {
				for (size_t i = 0; i < COUNT(sizes); i++)
					see(e, 0, m, t, sizes[i], true_speed(m, t, sizes[i]));
			}
		}
		assert_true(estimator_error(e, false).all < 1e-12);
		assert_int_equal(estimator_error(e, false).nestimated, 0);
		estimator_destroy(e);
	}
	destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_known_is_the_truth),
		cmocka_unit_test(what_was_asked_for_counts_apart),
		cmocka_unit_test(completes_what_factors_explain),
		cmocka_unit_test(of_every_model_one_is_known),
		cmocka_unit_test(on_one_type_each),
		cmocka_unit_test(what_cannot_run_is_known),
		cmocka_unit_test(a_pair_is_measured_both_ways),
		cmocka_unit_test(without_filling_the_profile_answers),
		cmocka_unit_test(draws_do_not_depend_on_others),
		cmocka_unit_test(a_prior_tells_types_apart),
		cmocka_unit_test(nothing_to_estimate),
		cmocka_unit_test(a_speed_seen_replaces_the_estimate),
		cmocka_unit_test(a_second_sight_counts_by_weight),
		cmocka_unit_test(neighbours_follow_when_it_is_time),
		cmocka_unit_test(what_is_no_news_fills_nothing),
		cmocka_unit_test(beside_another_a_fraction_is_learnt),
		cmocka_unit_test(spread_devices_tell_of_packed_ones),
		cmocka_unit_test(seeing_all_is_knowing_all),
	};

	return cmocka_run_group_tests_name("model/estimate", tests, NULL, NULL);
}
