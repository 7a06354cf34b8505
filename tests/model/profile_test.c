#include "model/profile.h"

#include <math.h>
#include <string.h>

#include "base/property.h"
#include "model/catalogue.h"

/* Eight nodes of v100 in two racks, two of k80, a type without facts; with or without a network. */
struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	uint32_t vgg, resnet, odd;
};

enum { V100, K80, BARE };

static void add_nodes(struct cluster *c, uint32_t type, uint32_t n, uint32_t devices, uint32_t racks)
{
	for (uint32_t i = 0; i < n; i++)
		cluster_add_node(c,
			(struct node){ .type = type,
				.devices = devices,
				.rack = i * racks / n,
				.topology = TOPOLOGY_NONE });
}

static uint32_t name(struct names *names, const char *text)
{
	return names_add(names, text, strlen(text));
}

static struct world *world(double net_Bps)
{
	struct world *w = mem_alloc(sizeof(*w));

	cluster_add_type(&w->cluster, "v100");
	cluster_add_type(&w->cluster, "k80");
	cluster_add_type(&w->cluster, "bare");
	cluster_add_rack(&w->cluster, "a", 0);
	cluster_add_rack(&w->cluster, "b", 5e8);
	cluster_add_rack(&w->cluster, "c", 9e8);
	add_nodes(&w->cluster, V100, 8, 8, 2);
	add_nodes(&w->cluster, K80, 2, 4, 1);
	add_nodes(&w->cluster, BARE, 1, 4, 1);
	w->cluster.net_Bps = net_Bps;
	w->vgg = name(&w->models, "vgg16");
	w->resnet = name(&w->models, "ResNet-50 (batch size 32)");
	w->odd = name(&w->models, "nobody knows me");
	w->profile = profile_create(&w->cluster, &w->models);
	return w;
}

static void destroy(struct world *w)
{
	profile_destroy(w->profile);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
	free(w);
}

static struct shape shape(uint32_t gpus, uint32_t nodes, uint32_t racks)
{
	return (struct shape){ gpus, nodes, racks, 0 };
}

static const struct {
	uint32_t type, gpus;
	struct shape want;
} packs[] = {
	{ V100, 1, { 1, 1, 1, 0 } },
	{ V100, 8, { 8, 1, 1, 0 } },
	{ V100, 9, { 9, 2, 1, 0 } },
	{ V100, 32, { 32, 4, 1, 0 } },
	{ V100, 33, { 33, 5, 2, 0 } },
	{ V100, 640, { 640, 80, 20, 0 } }, /* more than there are: as if there were */
	{ K80, 8, { 8, 2, 1, 0 } },
};

static void test_packed(void **state)
{
	struct world *w = world(0);

	(void)state;
	for (size_t i = 0; i < COUNT(packs); i++) {
		struct shape s = profile_packed(w->profile, packs[i].type, packs[i].gpus);

		assert_int_equal(s.gpus, packs[i].want.gpus);
		assert_int_equal(s.nodes, packs[i].want.nodes);
		assert_int_equal(s.racks, packs[i].want.racks);
	}
	destroy(w);
}

static void test_packed_without_nodes(void **state)
{
	struct cluster c = { 0 };
	struct names models = { 0 };
	struct profile *p;

	(void)state;
	cluster_add_type(&c, "v100");
	p = profile_create(&c, &models);
	assert_int_equal(profile_packed(p, 0, 100).nodes, 1);
	assert_int_equal(profile_packed(p, 0, 100).racks, 1);
	profile_destroy(p);
	profile_destroy(NULL);
	cluster_fini(&c);
}

static void test_estimate_by_hand(void **state)
{
	struct world *w = world(0);
	int batch;
	const struct model *m = catalogue_model("ResNet-50 (batch size 32)", &batch);
	struct step_time t = catalogue_step(m, batch, (struct roof){ 125e12, 900e9 });
	double one = 1 / (t.device_s + t.overhead_s);
	double four = 4 / (t.device_s + t.overhead_s + catalogue_sync_s(m, t, 4, 150e9));

	(void)state;
	assert_int_equal(batch, 32);
	assert_true(profile_rate(w->profile, w->resnet, V100, shape(1, 1, 1)) == one);
	assert_true(profile_rate(w->profile, w->resnet, V100, shape(4, 1, 1)) == four);
	assert_true(profile_rate(w->profile, w->resnet, K80, shape(1, 1, 1)) < one);
	assert_true(isnan(profile_rate(w->profile, w->odd, V100, shape(1, 1, 1))));
	assert_true(isnan(profile_rate(w->profile, w->resnet, BARE, shape(1, 1, 1))));
	assert_true(isnan(profile_rate(w->profile, NAME_NONE, V100, shape(1, 1, 1))));
	destroy(w);
}

static void test_names_that_came_later_are_known(void **state)
{
	struct world *w = world(0);
	uint32_t late = name(&w->models, "resnet50 (batch size 32)");

	(void)state;
	assert_true(profile_rate(w->profile, late, V100, shape(1, 1, 1)) ==
		profile_rate(w->profile, w->resnet, V100, shape(1, 1, 1)));
	destroy(w);
}

static void test_measured_wins(void **state)
{
	struct world *w = world(1e9);
	struct profile *p = w->profile;
	double spread = profile_locality(p, w->vgg, V100, shape(8, 2, 1));

	(void)state;
	profile_add(p, w->vgg, V100, 8, 0, 40);
	profile_add(p, w->vgg, V100, 8, 4, 25);
	profile_add(p, w->vgg, V100, 2, 0, 0);
	assert_true(profile_rate(p, w->vgg, V100, shape(8, 1, 1)) == 40);
	assert_true(profile_rate(p, w->vgg, V100, shape(8, 4, 1)) == 25);
	/* measured for any placement: the estimate says what spreading costs */
	assert_true(spread > 0 && spread < 1);
	assert_true(profile_rate(p, w->vgg, V100, shape(8, 2, 1)) == 40 * spread);
	assert_true(profile_rate(p, w->vgg, V100, shape(2, 1, 1)) == 0); /* cannot run so */
	profile_add(p, w->vgg, V100, 8, 0, 41);
	assert_true(profile_rate(p, w->vgg, V100, shape(8, 1, 1)) == 41);
	destroy(w);
}

static void test_measurements_scale_the_estimate_elsewhere(void **state)
{
	struct world *w = world(1e9), *plain = world(1e9);
	struct shape two = shape(2, 1, 1), sixteen = shape(16, 2, 1), one = shape(1, 1, 1);
	double ratio, want;

	(void)state;
	profile_add(w->profile, w->vgg, V100, 2, 1, 7);
	ratio = profile_rate(plain->profile, w->vgg, V100, sixteen) /
		profile_rate(plain->profile, w->vgg, V100, two);
	assert_true(fabs(profile_rate(w->profile, w->vgg, V100, sixteen) - 7 * ratio) < 1e-12);
	/* another type: nothing measured there, but the model is known to be that much off */
	ratio = profile_rate(plain->profile, w->vgg, K80, one) /
		profile_rate(plain->profile, w->vgg, V100, two);
	assert_true(fabs(profile_rate(w->profile, w->vgg, K80, one) - 7 * ratio) < 1e-12);
	/* the same devices on more nodes than were measured */
	want = 7 * profile_rate(plain->profile, w->vgg, V100, shape(2, 2, 1)) /
		profile_rate(plain->profile, w->vgg, V100, two);
	assert_true(fabs(profile_rate(w->profile, w->vgg, V100, shape(2, 2, 1)) - want) < 1e-12);

	/* a model that the catalogue does not know: in proportion, on that type only */
	profile_add(w->profile, w->odd, V100, 2, 0, 6);
	assert_true(profile_rate(w->profile, w->odd, V100, shape(2, 2, 2)) == 6);
	assert_true(profile_rate(w->profile, w->odd, V100, shape(8, 1, 1)) == 24);
	assert_true(isnan(profile_rate(w->profile, w->odd, K80, one)));
	destroy(w);
	destroy(plain);
}

static const struct {
	const char *what;
	double net_Bps;
	struct shape shape;
	bool slower;
} localities[] = {
	{ "without a network speed nothing is known to be slower", 0, { 8, 8, 2, 0 }, false },
	{ "packed is the best there is", 1e9, { 8, 1, 1, 0 }, false },
	{ "two nodes use the network", 1e9, { 8, 2, 1, 0 }, true },
	{ "one device has nothing to exchange", 1e9, { 1, 1, 1, 0 }, false },
	{ "a network faster than the node's links costs nothing", 1e12, { 8, 2, 1, 0 }, false },
};

static void test_locality(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(localities); i++) {
		struct world *w = world(localities[i].net_Bps);
		double factor = profile_locality(w->profile, w->vgg, V100, localities[i].shape);

		print_message("%s: %g\n", localities[i].what, factor);
		assert_int_equal(factor < 1, localities[i].slower);
		assert_true(factor > 0 && factor <= 1);
		assert_true(profile_locality(w->profile, w->odd, V100, localities[i].shape) == 1);
		destroy(w);
	}
}

static void test_racks_and_skewed_models_suffer_more(void **state)
{
	struct world *w = world(1e9);
	double near = profile_locality(w->profile, w->vgg, V100, shape(8, 2, 1));
	double far = profile_locality(w->profile, w->vgg, V100, shape(8, 2, 2));
	double small = profile_locality(w->profile, w->resnet, V100, shape(8, 2, 1));

	(void)state;
	assert_true(far < near);   /* the slowest uplink is half of the node's link */
	assert_true(near < small); /* 553 MB of gradients against 102 MB */
	destroy(w);
}

static void test_measured_locality(void **state)
{
	struct world *w = world(0);

	(void)state;
	profile_add(w->profile, w->odd, V100, 8, 1, 40);
	profile_add(w->profile, w->odd, V100, 8, 2, 30);
	profile_add(w->profile, w->odd, V100, 8, 4, 44);
	assert_true(profile_locality(w->profile, w->odd, V100, shape(8, 2, 1)) == 0.75);
	assert_true(profile_locality(w->profile, w->odd, V100, shape(8, 4, 1)) == 1);
	assert_true(profile_locality(w->profile, w->odd, V100, shape(8, 8, 1)) == 1);
	destroy(w);
}

static void test_without_a_network_every_placement_is_equal(void **state)
{
	struct world *w = world(0);

	(void)state;
	for (uint32_t nodes = 1; nodes <= 8; nodes++)
		assert_true(profile_rate(w->profile, w->vgg, V100, shape(8, nodes, nodes > 4 ? 2 : 1)) ==
			profile_rate(w->profile, w->vgg, V100, shape(8, 1, 1)));
	destroy(w);
}

static void test_beside(void **state)
{
	struct world *w = world(0);
	struct profile *p = w->profile;
	uint32_t dqn = name(&w->models, "dqn"), llama = name(&w->models, "llama-7b");
	double hard, soft;

	(void)state;
	hard = profile_beside(p, V100, 1, dqn, w->resnet);
	soft = profile_beside(p, V100, 1, w->resnet, dqn);
	assert_true(hard > 0.5 && hard < 1 && soft > hard && soft <= 1);
	assert_true(profile_beside(p, V100, 1, llama, dqn) == 0); /* 16 GB do not hold both */
	assert_true(profile_beside(p, V100, 1, w->odd, dqn) == 0.5);
	assert_true(profile_beside(p, V100, 1, dqn, w->odd) == 0.5);
	assert_true(profile_beside(p, BARE, 1, dqn, dqn) == 0.5);

	profile_add(p, w->resnet, V100, 1, 0, 10);
	profile_add_pair(p, V100, 1, w->resnet, 7, w->odd, 3);
	assert_true(profile_beside(p, V100, 1, w->resnet, w->odd) == 0.7);
	assert_true(profile_beside(p, V100, 1, w->odd, w->resnet) == 0.5); /* alone is not known */
	profile_add_pair(p, V100, 1, w->resnet, 0, dqn, 0);
	assert_true(profile_beside(p, V100, 1, w->resnet, dqn) == 0);
	profile_add_pair(p, V100, 1, w->resnet, 6, w->resnet, 6);
	assert_true(profile_beside(p, V100, 1, w->resnet, w->resnet) == 0.6);
	destroy(w);
}

static void test_replaced(void **state)
{
	struct world *w = world(0);
	struct profile *p = w->profile;

	(void)state;
	/* What is carried over to other counts follows, however often it is said. */
	for (int i = 1; i <= 100; i++)
		profile_add(p, w->odd, V100, 1, 0, i);
	assert_true(profile_rate(p, w->odd, V100, shape(1, 1, 1)) == 100);
	assert_true(profile_rate(p, w->odd, V100, shape(2, 1, 1)) == 200);
	/* A fraction wins over the speeds of a pair, and stays when the speed alone changes. */
	profile_add_pair(p, V100, 1, w->odd, 70, w->vgg, 3);
	assert_true(profile_beside(p, V100, 1, w->odd, w->vgg) == 0.7);
	profile_add_beside(p, V100, 1, w->odd, w->vgg, 0.25);
	profile_add(p, w->odd, V100, 1, 0, 10);
	assert_true(profile_beside(p, V100, 1, w->odd, w->vgg) == 0.25);
	destroy(w);
}

struct told {
	double alone, beside;
	int n;
};

static void note_told(void *ctx, const struct measured *one)
{
	struct told *told = ctx;

	told->n++;
	if (one->beside == NAME_NONE)
		told->alone += one->steps_per_s * one->gpus * (one->nodes + 1);
	else
		told->beside += one->steps_per_s * one->gpus;
}

static void test_each(void **state)
{
	struct world *w = world(0);
	struct told told = { 0 };

	(void)state;
	profile_each(w->profile, note_told, &told);
	assert_int_equal(told.n, 0);
	profile_add(w->profile, w->vgg, V100, 2, 3, 10);
	profile_add(w->profile, w->vgg, K80, 1, 0, 5);
	profile_add_pair(w->profile, K80, 1, w->vgg, 4, w->resnet, 3);
	profile_add_beside(w->profile, K80, 1, w->vgg, w->odd, 1);
	profile_each(w->profile, note_told, &told);
	assert_int_equal(told.n, 4);
	assert_true(told.alone == 85 && told.beside == 7);
	destroy(w);
}

static void test_version(void **state)
{
	struct world *w = world(0);
	uint64_t last = profile_version(w->profile);

	(void)state;
#define NEWS(what, news) \
	do { \
		what; \
		assert_int_equal(profile_version(w->profile) > last, news); \
		last = profile_version(w->profile); \
	} while (0)
	NEWS(profile_add(w->profile, w->odd, BARE, 1, 0, 3), true);
	NEWS(profile_add(w->profile, w->odd, BARE, 1, 0, 3), false);
	NEWS(profile_add(w->profile, w->odd, BARE, 1, 0, 4), true);
	/* The one before is as it was, but what is carried over from it to others is not. */
	NEWS(profile_add(w->profile, w->odd, BARE, 1, 1, 5), true);
	NEWS(profile_add(w->profile, w->odd, BARE, 1, 0, 4), true);
	NEWS(profile_add(w->profile, w->odd, BARE, 2, 0, 0), true);
	NEWS(profile_add_pair(w->profile, BARE, 1, w->odd, 2, w->vgg, 1), true);
	NEWS(profile_add_pair(w->profile, BARE, 1, w->odd, 2, w->vgg, 1), false);
	NEWS(profile_add_pair(w->profile, BARE, 1, w->odd, 2, w->vgg, 0.5), true);
	NEWS(profile_add_beside(w->profile, BARE, 1, w->odd, w->vgg, 0.5), true);
	NEWS(profile_add_beside(w->profile, BARE, 1, w->odd, w->vgg, 0.5), false);
	NEWS(profile_rate(w->profile, w->odd, BARE, shape(1, 1, 1)), false);
#undef NEWS
	destroy(w);
}

static void test_skew(void **state)
{
	struct world *w = world(0);

	(void)state;
	assert_true(profile_skew(w->profile, w->vgg) == 0.74);
	assert_true(isnan(profile_skew(w->profile, w->odd)));
	assert_true(isnan(profile_skew(w->profile, NAME_NONE)));
	destroy(w);
}

/* Against a list: the last value added for a key is the one that is found. */
static void test_table_property(void **state)
{
	enum { N = 3000 };
	struct {
		uint32_t model, gpus, nodes;
		double speed;
	} list[N];
	struct rng rng = property("every measurement is found again");
	struct world *w = world(0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		char text[32];

		snprintf(text, sizeof(text), "model %d", i);
		name(&w->models, text);
	}
	for (int i = 0; i < N; i++) {
		list[i].model = 3 + (uint32_t)rng_below(&rng, 40);
		list[i].gpus = 1 + (uint32_t)rng_below(&rng, 20);
		list[i].nodes = 1 + (uint32_t)rng_below(&rng, 4);
		list[i].speed = rng_uniform(&rng);
		profile_add(w->profile, list[i].model, BARE, list[i].gpus, list[i].nodes,
			list[i].speed);
	}
	for (int i = 0; i < N; i++) {
		double want = list[i].speed;

		for (int j = i + 1; j < N; j++) {
			if (list[j].model == list[i].model && list[j].gpus == list[i].gpus &&
				list[j].nodes == list[i].nodes)
				want = list[j].speed;
		}
		assert_true(profile_rate(w->profile, list[i].model, BARE,
				    shape(list[i].gpus, list[i].nodes, 1)) == want);
	}
	destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_packed_without_nodes),
		cmocka_unit_test(test_estimate_by_hand),
		cmocka_unit_test(test_names_that_came_later_are_known),
		cmocka_unit_test(test_measured_wins),
		cmocka_unit_test(test_measurements_scale_the_estimate_elsewhere),
		cmocka_unit_test(test_locality),
		cmocka_unit_test(test_racks_and_skewed_models_suffer_more),
		cmocka_unit_test(test_measured_locality),
		cmocka_unit_test(test_without_a_network_every_placement_is_equal),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_skew),
		cmocka_unit_test(test_table_property),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
