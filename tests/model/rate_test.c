#include "model/rate.h"

#include <math.h>

#include "base/names.h"
#include "base/property.h"

enum { V100, K80 };

/* Four nodes of four v100 in two racks, two of four k80 in the first. */
struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct rates rates;
	struct job job; /* a run time of vgg16 on four devices */
	uint32_t odd;
};

static struct world *world(double net_Bps)
{
	struct world *w = mem_alloc(sizeof(*w));

	cluster_add_type(&w->cluster, "v100");
	cluster_add_type(&w->cluster, "k80");
	cluster_add_rack(&w->cluster, NULL, 0);
	cluster_add_rack(&w->cluster, NULL, 0);
	for (uint32_t i = 0; i < 6; i++)
		cluster_add_node(&w->cluster,
			(struct node){ .type = i < 4 ? V100 : K80,
				.devices = 4,
				.rack = i == 2 || i == 3,
				.topology = TOPOLOGY_NONE });
	w->cluster.net_Bps = net_Bps;
	names_add(&w->models, "vgg16", 5);
	w->odd = names_add(&w->models, "odd", 3);
	w->profile = profile_create(&w->cluster, &w->models);
	w->rates = (struct rates){ &w->cluster, w->profile };
	job_init(&w->job);
	w->job.model = 0;
	w->job.gpus = 4;
	w->job.nominal_rate = 1;
	return w;
}

static void destroy(struct world *w)
{
	profile_destroy(w->profile);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
	free(w);
}

union devices {
	struct grant grant;
	char room[sizeof(struct grant) + 4 * sizeof(struct slot)];
};

/* `each` devices on each of the first `n` of `nodes`. */
static const struct grant *grant(union devices *d, uint32_t type, uint32_t each, uint32_t n,
	const uint32_t *nodes)
{
	d->grant = (struct grant){ .type = type, .gpus = each * n, .nslots = n, .share = 1 };
	for (uint32_t i = 0; i < n; i++)
		d->grant.slots[i] = (struct slot){ nodes[i], (UINT64_C(1) << each) - 1 };
	return &d->grant;
}

static double alone(struct world *w, uint32_t type, uint32_t each, uint32_t n, const uint32_t *nodes)
{
	union devices d;

	return rate(&w->rates, &w->job, grant(&d, type, each, n, nodes), NULL, 0);
}

static const uint32_t near[] = { 0, 1, 2, 3 }, across[] = { 0, 2, 1, 3 }, old[] = { 4, 5 };

static void test_shape(void **state)
{
	struct world *w = world(0);
	union devices d;
	struct shape s;

	(void)state;
	s = grant_shape(&w->cluster, grant(&d, V100, 2, 2, near));
	assert_int_equal(s.gpus, 4);
	assert_int_equal(s.nodes, 2);
	assert_int_equal(s.racks, 1);
	s = grant_shape(&w->cluster, grant(&d, V100, 2, 2, across));
	assert_int_equal(s.racks, 2);
	s = grant_shape(&w->cluster, grant(&d, V100, 1, 4, across));
	assert_int_equal(s.racks, 2);
	s = grant_shape(&w->cluster, grant(&d, V100, 1, 4, near));
	assert_int_equal(s.racks, 2);
	destroy(w);
}

static void test_nothing_known_is_nominal(void **state)
{
	struct world *w = world(1e9);

	(void)state;
	w->job.nominal_rate = 0.3;
	w->rates.profile = NULL;
	assert_true(alone(w, V100, 4, 1, near) == 0.3);
	assert_true(alone(w, V100, 1, 4, across) == 0.3);
	assert_true(alone(w, K80, 4, 1, old) == 0.3);
	assert_true(rate_if(&w->rates, &w->job, K80, 4) == 0.3);
	assert_true(rate_if(&w->rates, &w->job, K80, 8) == 0.6);
	assert_true(alone(w, V100, 1, 1, near) == 0.3 / 4);
	w->rates.profile = w->profile;
	w->job.model = NAME_NONE;
	assert_true(alone(w, V100, 1, 4, across) == 0.3);
	assert_true(rate_if(&w->rates, &w->job, K80, 4) == 0.3);
	w->job.model = w->odd;
	assert_true(alone(w, V100, 1, 4, across) == 0.3);
	assert_true(alone(w, K80, 4, 1, old) == 0.3);
	w->job.by_steps = true;
	assert_true(alone(w, K80, 4, 1, old) == 0.3);
	assert_true(rate_if(&w->rates, &w->job, K80, 2) == 0.15);
	destroy(w);
}

static void test_as_asked_is_nominal_to_the_bit(void **state)
{
	struct world *w = world(0);

	(void)state;
	w->job.nominal_rate = 0.1;
	assert_true(alone(w, V100, 4, 1, near) == 0.1);
	assert_true(alone(w, V100, 1, 4, across) == 0.1); /* no network speed: placement is free */
	assert_true(rate_if(&w->rates, &w->job, V100, 4) == 0.1);
	destroy(w);
}

static void test_types_differ_by_their_estimates(void **state)
{
	struct world *w = world(0);
	struct shape four = { 4, 1, 1 };
	double ratio = profile_rate(w->profile, 0, K80, four) / profile_rate(w->profile, 0, V100, four);

	(void)state;
	assert_true(ratio < 0.5);
	assert_true(alone(w, K80, 4, 1, old) == ratio);
	assert_true(rate_if(&w->rates, &w->job, K80, 4) == ratio);
	w->job.types = 1u << K80; /* then the run time is one on k80 */
	assert_true(alone(w, K80, 4, 1, old) == 1);
	assert_true(fabs(alone(w, V100, 4, 1, near) * ratio - 1) < 1e-12);
	w->job.types = 0;
	w->job.measured_on = 1 + K80; /* said outright */
	assert_true(alone(w, K80, 4, 1, old) == 1);
	w->job.measured_on = 0;
	w->job.types = 1u << 9; /* not a type of this cluster: its first stands in */
	assert_true(alone(w, V100, 4, 1, near) == 1);
	destroy(w);
}

static void test_spreading_costs(void **state)
{
	struct world *w = world(1e9);

	(void)state;
	assert_true(alone(w, V100, 4, 1, near) == 1);
	assert_true(alone(w, V100, 2, 2, near) < 1);
	assert_true(fabs(alone(w, V100, 2, 2, near) -
			    profile_locality(w->profile, 0, V100, (struct shape){ 4, 2, 1 })) < 1e-12);
	destroy(w);
}

static void test_more_devices_are_faster_but_not_more_than_in_proportion(void **state)
{
	struct world *w = world(1e9);
	double eight = rate_if(&w->rates, &w->job, V100, 8),
	       two = rate_if(&w->rates, &w->job, V100, 2);

	(void)state;
	assert_true(two > 0.5 && two < 1); /* less to exchange */
	assert_true(eight < 2);
	w->cluster.net_Bps = 0;
	assert_true(rate_if(&w->rates, &w->job, V100, 8) > 1.8);
	destroy(w);
}

static void test_steps_are_absolute(void **state)
{
	struct world *w = world(0);

	(void)state;
	w->job.by_steps = true;
	w->job.nominal_rate = 123;
	assert_true(alone(w, V100, 4, 1, near) ==
		profile_rate(w->profile, 0, V100, (struct shape){ 4, 1, 1 }));
	profile_add(w->profile, 0, V100, 4, 0, 17);
	assert_true(alone(w, V100, 4, 1, near) == 17);
	profile_add(w->profile, 0, K80, 4, 0, 0);
	assert_true(alone(w, K80, 4, 1, old) == 0); /* it cannot run there */
	destroy(w);
}

static void test_a_run_time_where_it_cannot_run(void **state)
{
	struct world *w = world(0);

	(void)state;
	profile_add(w->profile, 0, V100, 4, 0, 10);
	profile_add(w->profile, 0, K80, 4, 0, 0);
	assert_true(alone(w, K80, 4, 1, old) == 0);
	w->job.types = 1u << K80; /* measured where it cannot run: that tells nothing */
	assert_true(alone(w, V100, 4, 1, near) == 1);
	destroy(w);
}

static void test_company(void **state)
{
	struct world *w = world(0);
	struct job other = w->job;
	const struct job *beside[] = { &other, &other };
	union devices d;
	double one, two;

	(void)state;
	profile_add(w->profile, 0, V100, 4, 0, 10);
	profile_add_pair(w->profile, V100, 4, 0, 6, 0, 6);
	grant(&d, V100, 4, 1, near);
	one = rate(&w->rates, &w->job, &d.grant, beside, 1);
	two = rate(&w->rates, &w->job, &d.grant, beside, 2);
	assert_true(one == 0.6);
	assert_true(fabs(two - 0.36) < 1e-12);

	d.grant.share = 0.5; /* the smaller of limit and burden */
	assert_true(rate(&w->rates, &w->job, &d.grant, NULL, 0) == 0.5);
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.5);
	d.grant.share = 0.9;
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.6);
	d.grant.share = 0; /* not set */
	assert_true(rate(&w->rates, &w->job, &d.grant, NULL, 0) == 1);
	w->rates.profile = NULL;
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.5); /* nothing is known: equal parts */
	destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_nothing_known_is_nominal),
		cmocka_unit_test(test_as_asked_is_nominal_to_the_bit),
		cmocka_unit_test(test_types_differ_by_their_estimates),
		cmocka_unit_test(test_spreading_costs),
		cmocka_unit_test(test_more_devices_are_faster_but_not_more_than_in_proportion),
		cmocka_unit_test(test_steps_are_absolute),
		cmocka_unit_test(test_a_run_time_where_it_cannot_run),
		cmocka_unit_test(test_company),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
