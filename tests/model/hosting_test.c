/*
 * What hosts do to speeds: tables, what is best in them, and rate().
 */
#include "model/hosting.h"

#include <math.h>
#include <string.h>

#include "model/rate.h"
#include "support/property.h"

#define GB (1024.0 * 1024 * 1024)

/* Two CPUs by two memories. */
static struct host_table square(void)
{
	struct host_table t = {
		.ncpus = 2,
		.nmems = 2,
		.cpus = { 2, 4 },
		.mem_bytes = { 10 * GB, 30 * GB },
		.speed = { { 0.5, 1 }, { 1, 2 } },
	};

	assert_true(host_table_settle(&t));
	return t;
}

static void between_points_it_is_straight(void **state)
{
	static const struct {
		const char *what;
		double cpus, gb, speed;
	} rows[] = {
		{ "a point is as measured", 2, 10, 0.5 },
		{ "the last likewise", 4, 30, 2 },
		{ "half way along the CPUs", 3, 10, 0.75 },
		{ "half way along the memory", 2, 20, 0.75 },
		{ "the middle is the mean of all", 3, 20, 1.125 },
		{ "beyond the last nothing changes", 100, 1000, 2 },
		{ "fewer CPUs than measured: in proportion", 1, 30, 0.5 },
		{ "none: not at all", 0, 30, 0 },
		{ "less memory than measured counts as the least", 4, 1, 1 },
		{ "of what is not short there is enough", INFINITY, INFINITY, 2 },
	};
	struct host_table t = square();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double speed = host_table_speed(&t,
			(struct host_share){ rows[i].cpus, rows[i].gb * GB });

		if (fabs(speed - rows[i].speed) > 1e-12)
			fail_msg("%s: %g, not %g", rows[i].what, speed, rows[i].speed);
	}
}

static void what_was_not_measured_is_filled(void **state)
{
	struct host_table t = {
		.ncpus = 3,
		.nmems = 2,
		.cpus = { 1, 2, 3 },
		.mem_bytes = { GB, 2 * GB },
		.speed = { { NAN, 1 }, { 0.5, 0.8 }, { NAN, NAN } },
	};
	struct host_table empty = { 0 };

	(void)state;
	assert_true(host_table_settle(&t));
	assert_float_equal(t.speed[0][0], 0.5, 1e-12); /* no faster than those above and beside it */
	assert_float_equal(t.speed[1][1], 1, 1e-12);   /* not slower with more */
	assert_float_equal(t.speed[2][0], 0.5, 1e-12);
	assert_float_equal(t.speed[2][1], 1, 1e-12);
	assert_false(host_table_settle(&empty));
}

static struct host_table random_table(struct rng *rng)
{
	struct host_table t = { .ncpus = 1 + (uint32_t)rng_below(rng, 5),
		.nmems = 1 + (uint32_t)rng_below(rng, 4) };

	for (uint32_t c = 0; c < t.ncpus; c++)
		t.cpus[c] = (c ? t.cpus[c - 1] : 0) + 1 + (double)rng_below(rng, 3);
	for (uint32_t m = 0; m < t.nmems; m++)
		t.mem_bytes[m] = (m ? t.mem_bytes[m - 1] : 0) + (1 + (double)rng_below(rng, 3)) * GB;
	for (uint32_t c = 0; c < t.ncpus; c++) {
		for (uint32_t m = 0; m < t.nmems; m++)
			t.speed[c][m] = rng_below(rng, 5) ? 0.1 + (double)rng_below(rng, 30) / 10 : NAN;
	}
	t.speed[t.ncpus - 1][t.nmems - 1] = 3;
	assert_true(host_table_settle(&t));
	return t;
}

static void more_is_never_slower(void **state)
{
	struct rng rng = property("more is never slower");

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		struct host_table t = random_table(&rng);
		struct host_share a = { rng_uniform(&rng) * 20, rng_uniform(&rng) * 15 * GB };
		struct host_share b = { a.cpus + rng_uniform(&rng) * 5,
			a.mem_bytes + rng_uniform(&rng) * GB };

		assert_true(host_table_speed(&t, a) <= host_table_speed(&t, b) + 1e-12);
	}
}

/* Nothing with fewer CPUs, or as many and less memory, does as well; and the proportional part does no better. */
static void the_best_is_the_least_that_is_enough(void **state)
{
	struct rng rng = property("the best is the least that is enough");

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		struct host_table t = random_table(&rng);
		struct host_share fair = { 1 + (double)rng_below(&rng, 6),
			(1 + (double)rng_below(&rng, 6)) * GB };
		struct host_share most = { fair.cpus * (1 + (double)rng_below(&rng, 3)),
			fair.mem_bytes * (1 + (double)rng_below(&rng, 3)) };
		double tolerance = rng_below(&rng, 2) ? 0 : 0.1;
		struct host_share best = host_table_best(&t, fair, most, tolerance);
		double top = host_table_speed(&t, most), speed = host_table_speed(&t, best);

		assert_true(best.cpus <= most.cpus && best.mem_bytes <= most.mem_bytes);
		assert_true(speed >= (1 - tolerance) * top * (1 - 1e-9));
		assert_true(speed >= host_table_speed(&t, fair) * (1 - 1e-9));
		for (uint32_t c = 0; c < t.ncpus && t.cpus[c] < best.cpus; c++)
			assert_true(host_table_speed(&t,
					    (struct host_share){ t.cpus[c], most.mem_bytes }) <
				fmax((1 - tolerance) * top, host_table_speed(&t, fair)));
	}
}

static void what_the_profile_says_is_best_is_taken(void **state)
{
	struct host_table t = square();
	struct host_share fair = { 2, 10 * GB }, most = { 4, 30 * GB };

	(void)state;
	t.best = (struct host_share){ 4, 30 * GB };
	assert_float_equal(host_table_best(&t, fair, most, 0).cpus, 4, 0);
	t.best = (struct host_share){ 3, 30 * GB }; /* but not if it is not */
	assert_float_equal(host_table_best(&t, fair, most, 0).cpus, 4, 0);
	most.cpus = 3; /* and not beyond the server */
	assert_float_equal(host_table_best(&t, fair, most, 0).cpus, 3, 0);
}

/* 100 GB at 100 MB/s; an epoch computes for 500 s: half the data set in memory is just enough. */
static void a_cache_is_worth_what_need_not_be_fetched(void **state)
{
	struct host_table t = { .ncpus = 2,
		.nmems = 1,
		.cpus = { 1, 4 },
		.mem_bytes = { INFINITY },
		.speed = { { 0.5 }, { 1 } } };
	double dataset = 100e9;

	(void)state;
	host_table_fill_memory(&t, 1, 500, dataset, 100e6);
	assert_true(host_table_settle(&t));
	assert_float_equal(host_table_speed(&t, (struct host_share){ 4, dataset }), 1, 1e-9);
	assert_float_equal(host_table_speed(&t, (struct host_share){ 4, dataset / 2 }), 1, 1e-9);
	assert_float_equal(host_table_speed(&t, (struct host_share){ 4, dataset / 4 }), 500 / 750.0,
		1e-9);
	assert_float_equal(host_table_speed(&t, (struct host_share){ 1, dataset / 4 }), 0.5, 1e-9);
	/* On two devices each needs but half of it. */
	t = (struct host_table){ .ncpus = 1,
		.nmems = 1,
		.cpus = { 4 },
		.mem_bytes = { INFINITY },
		.speed = { { 1 } } };
	host_table_fill_memory(&t, 2, 500, dataset, 100e6);
	assert_float_equal(host_table_speed(&t, (struct host_share){ 4, dataset / 8 }), 500 / 750.0,
		1e-9);
}

static void tables_are_found_by_model_and_devices(void **state)
{
	struct hosting *h = hosting_create();
	struct host_table t = square();

	(void)state;
	t.split = 0.2;
	hosting_add(h, 3, 2, &t);
	t.split = 0.4;
	hosting_add(h, 3, 8, &t);
	t.split = 0.1;
	hosting_add(h, 3, 1, &t);
	assert_null(hosting_find(NULL, 3, 1));
	assert_null(hosting_find(h, 0, 1));
	assert_null(hosting_find(h, 99, 1));
	assert_float_equal(hosting_find(h, 3, 1)->split, 0.1, 0);
	assert_float_equal(hosting_find(h, 3, 2)->split, 0.2, 0);
	assert_float_equal(hosting_find(h, 3, 7)->split, 0.2, 0);
	assert_float_equal(hosting_find(h, 3, 64)->split, 0.4, 0);
	t.split = 0.3;
	hosting_add(h, 3, 2, &t);
	assert_float_equal(hosting_find(h, 3, 2)->split, 0.3, 0);
	hosting_destroy(h);
	hosting_destroy(NULL);
}

/* ---- rate() */

struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct hosting *hosting;
	struct rates rates;
	struct job job;
	union {
		struct grant grant;
		char room[sizeof(struct grant) + 4 * sizeof(struct slot)];
	};
};

/* Two nodes with two devices, 4 CPUs and 20 GB each: 2 and 10 GB for a device. */
static void world_init(struct world *w)
{
	struct host_table t = square();
	struct err err;

	*w = (struct world){ 0 };
	assert_int_equal(cluster_parse("2x2", &w->cluster, &err), 0);
	for (int i = 0; i < 2; i++) {
		w->cluster.nodes[i].cpus = 4;
		w->cluster.nodes[i].mem_bytes = (int64_t)(20 * GB);
	}
	names_add(&w->models, "m", 1);
	w->profile = profile_create(&w->cluster, &w->models);
	w->hosting = hosting_create();
	t.split = 0.8;
	hosting_add(w->hosting, 0, 1, &t);
	w->rates = (struct rates){ .cluster = &w->cluster, .profile = w->profile };
	job_init(&w->job);
	w->job.model = 0;
	w->job.by_steps = true;
	w->job.nominal_rate = 10;
	w->grant = (struct grant){ .gpus = 1, .nslots = 1, .share = 1 };
	w->grant.slots[0] = (struct slot){ 0, 1 };
}

static void world_fini(struct world *w)
{
	profile_destroy(w->profile);
	hosting_destroy(w->hosting);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
}

static double speed(const struct world *w)
{
	return rate(&w->rates, &w->job, &w->grant, NULL, 0);
}

static void rates_follow_the_host(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_float_equal(speed(&w), 10, 1e-12); /* nobody spoke of hosts */
	profile_set_hosting(w.profile, w.hosting);
	assert_float_equal(speed(&w), 5, 1e-12); /* its part of the node: 2 CPUs and 10 GB */
	w.grant.cpus = 4;
	assert_float_equal(speed(&w), 10, 1e-12);
	w.grant.mem_bytes = (int64_t)(30 * GB);
	assert_float_equal(speed(&w), 20, 1e-12);
	w.grant.cpus = 0;
	w.job.cpus = 4; /* as it asked */
	assert_float_equal(speed(&w), 20, 1e-12);
	assert_float_equal(rate_if(&w.rates, &w.job, 0, 1), 10, 1e-12); /* 4 CPUs, and 10 GB */
	w.grant.nslots = 2;
	w.grant.gpus = 2;
	w.grant.slots[1] = (struct slot){ 1, 1 };
	w.job.gpus = 2;
	w.grant.cpus = 8;
	w.grant.mem_bytes = (int64_t)(60 * GB);
	assert_float_equal(speed(&w), 20 * 0.8, 1e-12);
	world_fini(&w);
}

/* A run time was measured as asked, so that as asked is its nominal speed whatever the table says. */
static void run_times_are_relative_to_what_was_asked(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	profile_set_hosting(w.profile, w.hosting);
	w.job.by_steps = false;
	assert_float_equal(speed(&w), 10, 1e-12);
	w.grant.cpus = 4;
	assert_float_equal(speed(&w), 20, 1e-12);
	w.job.cpus = 4;
	assert_float_equal(speed(&w), 10, 1e-12);
	w.grant.cpus = 2;
	assert_float_equal(speed(&w), 5, 1e-12);
	world_fini(&w);
}

static void nodes_that_say_nothing_have_enough(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	profile_set_hosting(w.profile, w.hosting);
	w.cluster.nodes[0].cpus = 0;
	assert_float_equal(speed(&w), 10, 1e-12); /* enough CPUs, 10 GB */
	w.cluster.nodes[0].mem_bytes = 0;
	assert_float_equal(speed(&w), 10, 1e-12); /* nothing is known: as profiled */
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_points_it_is_straight),
		cmocka_unit_test(what_was_not_measured_is_filled),
		cmocka_unit_test(more_is_never_slower),
		cmocka_unit_test(the_best_is_the_least_that_is_enough),
		cmocka_unit_test(what_the_profile_says_is_best_is_taken),
		cmocka_unit_test(a_cache_is_worth_what_need_not_be_fetched),
		cmocka_unit_test(tables_are_found_by_model_and_devices),
		cmocka_unit_test(rates_follow_the_host),
		cmocka_unit_test(run_times_are_relative_to_what_was_asked),
		cmocka_unit_test(nodes_that_say_nothing_have_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
