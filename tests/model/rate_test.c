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
	w->rates = (struct rates){ .cluster = &w->cluster, .profile = w->profile };
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
	struct shape four = { 4, 1, 1, 0 };
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
			    profile_locality(w->profile, 0, V100, (struct shape){ 4, 2, 1, 0 })) <
		1e-12);
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
		profile_rate(w->profile, 0, V100, (struct shape){ 4, 1, 1, 0 }));
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
	const struct neighbour beside[] = { { &other, NULL }, { &other, NULL } };
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

	assert_true(rates_version(&w->rates) == profile_version(w->profile));
	d.grant.share = 0.5; /* the smaller of limit and burden */
	assert_true(rate(&w->rates, &w->job, &d.grant, NULL, 0) == 0.5);
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.5);
	d.grant.share = 0.9;
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.6);
	d.grant.share = 0; /* not set */
	assert_true(rate(&w->rates, &w->job, &d.grant, NULL, 0) == 1);
	w->rates.profile = NULL;
	assert_true(rate(&w->rates, &w->job, &d.grant, beside, 1) == 0.5); /* nothing is known: equal parts */
	assert_true(rates_version(&w->rates) == 0);
	destroy(w);
}

/* Two v100 on node 0 and one k80 on node 4. */
static struct grant *mixture(struct world *w, union devices *d)
{
	d->grant = (struct grant){ .gpus = 3, .nslots = 2, .share = 1 };
	d->grant.slots[0] = (struct slot){ 0, 3 };
	d->grant.slots[1] = (struct slot){ 4, 1 };
	grant_set_type(&d->grant, &w->cluster);
	return &d->grant;
}

static void test_a_mixture_is_as_fast_as_its_slowest(void **state)
{
	static const struct grant_part parts[] = { { V100, 2 }, { K80, 1 } };
	struct world *w = world(0);
	union devices d;
	struct grant *g = mixture(w, &d);

	(void)state;
	w->job.by_steps = true;
	profile_add(w->profile, 0, V100, 3, 0, 30);
	profile_add(w->profile, 0, K80, 3, 0, 6);
	assert_true(g->mixed && g->type == V100);
	assert_true(rate(&w->rates, &w->job, g, NULL, 0) == 6);
	assert_true(rate_if_mixed(&w->rates, &w->job, parts, 2, false) == 6);
	g->balanced = true; /* two at 10, one at 2 */
	assert_true(fabs(rate(&w->rates, &w->job, g, NULL, 0) - 22) < 1e-12);
	assert_true(fabs(rate_if_mixed(&w->rates, &w->job, parts, 2, true) - 22) < 1e-12);
	g->share = 0.5;
	assert_true(fabs(rate(&w->rates, &w->job, g, NULL, 0) - 11) < 1e-12);
	/* Spread over two nodes and measured so. */
	g->share = 1;
	profile_add(w->profile, 0, V100, 3, 2, 15);
	assert_true(fabs(rate(&w->rates, &w->job, g, NULL, 0) - 12) < 1e-12);
	destroy(w);
}

static void test_a_mixture_with_a_type_where_it_cannot_run(void **state)
{
	static const struct grant_part parts[] = { { V100, 2 }, { K80, 1 } };
	struct world *w = world(0);
	union devices d;
	struct grant *g = mixture(w, &d);

	(void)state;
	w->job.by_steps = true;
	profile_add(w->profile, 0, V100, 3, 0, 30);
	profile_add(w->profile, 0, K80, 3, 0, 0);
	for (int balanced = 0; balanced < 2; balanced++) {
		g->balanced = balanced;
		assert_true(rate(&w->rates, &w->job, g, NULL, 0) == 0);
		assert_true(rate_if_mixed(&w->rates, &w->job, parts, 2, balanced) == 0);
	}
	destroy(w);
}

static void test_a_mixture_nothing_is_known_of(void **state)
{
	static const struct grant_part parts[] = { { V100, 2 }, { K80, 1 } };
	struct world *w = world(1e9);
	union devices d;
	struct grant *g = mixture(w, &d);

	(void)state;
	w->rates.profile = NULL;
	w->job.gpus = 3;
	w->job.nominal_rate = 0.25;
	for (int balanced = 0; balanced < 2; balanced++) {
		g->balanced = balanced;
		assert_true(rate(&w->rates, &w->job, g, NULL, 0) == 0.25);
		assert_true(rate_if_mixed(&w->rates, &w->job, parts, 2, balanced) == 0.25);
	}
	destroy(w);
}

static void test_a_mixture_of_a_run_time(void **state)
{
	struct world *w = world(0);
	union devices d;
	struct grant *g = mixture(w, &d);
	double ratio;

	(void)state;
	w->job.gpus = 3;
	ratio = rate_if(&w->rates, &w->job, K80, 3); /* of the same on v100, where it is 1 */
	assert_true(ratio < 0.5);
	assert_true(rate(&w->rates, &w->job, g, NULL, 0) == ratio);
	g->balanced = true;
	assert_true(fabs(rate(&w->rates, &w->job, g, NULL, 0) - (2 + ratio) / 3) < 1e-12);
	destroy(w);
}

/* Job 0 (the world's) on four devices of node 0, `other` on the `mask` of them. */
static double beside_on(struct world *w, uint64_t mask, bool balanced, bool guest)
{
	static const uint32_t first[] = { 0 };
	union devices mine, theirs;
	struct job other = w->job;
	struct neighbour neighbour;

	grant(&mine, V100, 4, 1, first);
	grant(&theirs, V100, 4, 1, first);
	theirs.grant.slots[0].devices = mask;
	theirs.grant.gpus = (uint32_t)__builtin_popcountll(mask);
	other.model = w->odd;
	mine.grant.balanced = theirs.grant.balanced = balanced;
	if (guest) {
		neighbour = (struct neighbour){ &w->job, &mine.grant };
		return rate(&w->rates, &other, &theirs.grant, &neighbour, 1);
	}
	neighbour = (struct neighbour){ &other, &theirs.grant };
	return rate(&w->rates, &w->job, &mine.grant, &neighbour, 1);
}

static void test_one_worker_in_company(void **state)
{
	struct world *w = world(0);

	(void)state;
	w->job.by_steps = true;
	for (uint32_t gpus = 1; gpus <= 4; gpus++) {
		profile_add(w->profile, 0, V100, gpus, 0, 10 * gpus);
		profile_add(w->profile, w->odd, V100, gpus, 0, 2 * gpus);
		/* Fractions tell by which size they were looked up. */
		profile_add_beside(w->profile, V100, gpus, 0, w->odd, 1 - 0.125 * gpus);
		profile_add_beside(w->profile, V100, gpus, w->odd, 0, 0.125 * gpus);
	}
	assert_true(beside_on(w, 8, false, false) == 40 * 0.875); /* the slowed worker holds all up */
	assert_true(beside_on(w, 8, false, true) == 2 * 0.125);
	assert_true(beside_on(w, 6, false, false) == 40 * 0.75);
	assert_true(beside_on(w, 6, false, true) == 4 * 0.25);
	assert_true(beside_on(w, 15, false, false) == 40 * 0.5);
	assert_true(beside_on(w, 8, true, false) == 40 * (3 + 0.875) / 4); /* the others do more */
	assert_true(beside_on(w, 16, false, false) == 40); /* not one of its devices */
	w->rates.profile = NULL;
	w->job.nominal_rate = 3;
	assert_true(beside_on(w, 8, false, false) == 1.5);
	assert_true(beside_on(w, 8, true, false) == 3 * 3.5 / 4);
	destroy(w);
}

static void test_each_worker_with_another(void **state)
{
	struct world *w = world(0);
	struct job other = w->job;
	union devices mine, a, b;
	struct neighbour beside[] = { { &other, &a.grant }, { &other, &b.grant } };

	(void)state;
	w->job.by_steps = true;
	profile_add(w->profile, 0, V100, 4, 0, 40);
	profile_add_beside(w->profile, V100, 1, 0, 0, 0.5);
	grant(&mine, V100, 4, 1, near);
	grant(&a, V100, 1, 1, near);
	grant(&b, V100, 1, 1, near);
	assert_true(rate(&w->rates, &w->job, &mine.grant, beside, 2) == 10); /* both on one device */
	b.grant.slots[0].devices = 2;
	assert_true(rate(&w->rates, &w->job, &mine.grant, beside, 2) == 20);
	destroy(w);
}

static void test_company_in_a_mixture(void **state)
{
	struct world *w = world(0);
	struct job other = w->job;
	union devices d, theirs;
	struct grant *g = mixture(w, &d);
	struct neighbour beside = { &other, &theirs.grant };

	(void)state;
	w->job.by_steps = true;
	profile_add(w->profile, 0, V100, 3, 0, 30);
	profile_add(w->profile, 0, K80, 3, 0, 6);
	profile_add_beside(w->profile, V100, 1, 0, 0, 0.5);
	profile_add_beside(w->profile, K80, 1, 0, 0, 0.25);
	grant(&theirs, V100, 1, 1, near);
	assert_true(rate(&w->rates, &w->job, g, &beside, 1) == 6); /* v100 is still faster */
	g->balanced = true;
	assert_true(fabs(rate(&w->rates, &w->job, g, &beside, 1) - (10 + 5 + 2)) < 1e-12);
	grant(&theirs, K80, 1, 1, old);
	assert_true(fabs(rate(&w->rates, &w->job, g, &beside, 1) - (10 + 10 + 0.5)) < 1e-12);
	g->balanced = false;
	assert_true(rate(&w->rates, &w->job, g, &beside, 1) == 1.5);
	destroy(w);
}

static void test_gangs_by_type(void **state)
{
	static const uint16_t gangs[TYPES_MAX] = { [V100] = 1, [K80] = 4 };
	struct world *w = world(0);

	(void)state;
	w->job.gpus_by_type = gangs;
	w->job.gpus = 4;
	w->job.nominal_rate = 0.5;
	assert_int_equal(job_gpus_on(&w->job, V100), 1);
	/* As asked is nominal on its reference type, with as many as it takes there. */
	assert_true(rate_if(&w->rates, &w->job, V100, 1) == 0.5);
	w->job.measured_on = 1 + K80;
	assert_true(rate_if(&w->rates, &w->job, K80, 4) == 0.5);
	profile_add(w->profile, 0, V100, 1, 0, 8);
	profile_add(w->profile, 0, K80, 4, 0, 2);
	assert_true(rate_if(&w->rates, &w->job, V100, 1) == 2);
	w->rates.profile = NULL; /* nothing is known: as asked on every type */
	assert_true(rate_if(&w->rates, &w->job, V100, 1) == 0.5);
	assert_true(rate_if(&w->rates, &w->job, K80, 4) == 0.5);
	destroy(w);
}

static void test_if_beside(void **state)
{
	static const uint16_t gangs[TYPES_MAX] = { [V100] = 2 };
	struct world *w = world(0);
	struct job other = w->job;

	(void)state;
	w->job.by_steps = other.by_steps = true;
	other.gpus_by_type = gangs;
	profile_add(w->profile, 0, V100, 4, 0, 40);
	profile_add(w->profile, 0, V100, 2, 0, 20);
	profile_add_beside(w->profile, V100, 2, 0, 0, 0.5);
	profile_add_beside(w->profile, V100, 4, 0, 0, 0.25);
	assert_true(rate_if_beside(&w->rates, &w->job, &other, V100) == 20);
	assert_true(rate_if_beside(&w->rates, &other, &w->job, V100) == 10);
	assert_true(rate_if_beside(&w->rates, &w->job, &w->job, V100) == 10);
	w->rates.profile = NULL;
	assert_true(rate_if_beside(&w->rates, &w->job, &other, V100) == 0.5);
	destroy(w);
}

static void test_fractions(void **state)
{
	struct world *w = world(0);
	struct job other = w->job, whole = w->job;
	const struct neighbour beside = { &other, NULL }, crowd = { &whole, NULL };
	union devices d;

	(void)state;
	profile_add(w->profile, 0, V100, 4, 0, 10);
	profile_add_pair(w->profile, V100, 4, 0, 6, 0, 6);
	grant(&d, V100, 4, 1, near);
	w->job.share = d.grant.share = 0.25;
	other.share = 0.5;
	assert_true(rate(&w->rates, &w->job, &d.grant, NULL, 0) == 1); /* as known on its share */
	assert_true(rate(&w->rates, &w->job, &d.grant, &beside, 1) == 1);
	assert_true(rate(&w->rates, &w->job, &d.grant, &crowd, 1) == 0.6);
	d.grant.share = 0.125;
	assert_true(rate(&w->rates, &w->job, &d.grant, &beside, 1) == 0.5);
	assert_true(rate_if_beside(&w->rates, &w->job, &other, V100) == 0);
	assert_true(rate_if_beside(&w->rates, &whole, &other, V100) == 0);
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
		cmocka_unit_test(test_a_mixture_is_as_fast_as_its_slowest),
		cmocka_unit_test(test_a_mixture_with_a_type_where_it_cannot_run),
		cmocka_unit_test(test_a_mixture_nothing_is_known_of),
		cmocka_unit_test(test_a_mixture_of_a_run_time),
		cmocka_unit_test(test_one_worker_in_company),
		cmocka_unit_test(test_each_worker_with_another),
		cmocka_unit_test(test_company_in_a_mixture),
		cmocka_unit_test(test_gangs_by_type),
		cmocka_unit_test(test_if_beside),
		cmocka_unit_test(test_fractions),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
