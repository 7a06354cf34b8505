#include "model/watch.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/rate.h"
#include "support/property.h"

enum { FAST, SLOW };

/* Two nodes of four devices of two types; `a` and `b` were measured alone and together, but nobody told. */
struct scene {
	struct cluster cluster;
	struct names models;
	struct profile *truth;
	struct estimator *estimator;
	struct watch *watch;
	uint32_t a, b;
};

/* What is not known is believed to be 1. */
static bool fill_ones(void *ctx, const double *known, uint32_t rows, uint32_t cols, double *out)
{
	(void)ctx;
	for (size_t i = 0; i < (size_t)rows * cols; i++)
		out[i] = isnan(known[i]) ? 0 : known[i];
	return true;
}

static struct scene *scene(double after_s)
{
	struct scene *s = mem_alloc(sizeof(*s));
	struct estimate_config config;

	cluster_add_rack(&s->cluster, "r", 0);
	cluster_add_type(&s->cluster, "fast");
	cluster_add_type(&s->cluster, "slow");
	for (uint32_t t = 0; t < 2; t++)
		cluster_add_node(&s->cluster,
			(struct node){ .type = t, .devices = 4, .topology = TOPOLOGY_NONE });
	s->a = names_add(&s->models, "a", 1);
	s->b = names_add(&s->models, "b", 1);
	s->truth = profile_create(&s->cluster, &s->models);
	for (uint32_t t = 0; t < 2; t++) {
		profile_add(s->truth, s->a, t, 1, 0, 10 - 5 * t);
		profile_add(s->truth, s->b, t, 1, 0, 20 - 8 * t);
		profile_add_pair(s->truth, t, 1, s->a, 6 - 3 * t, s->b, 8);
	}
	estimate_config_init(&config);
	config.cluster = &s->cluster;
	config.models = &s->models;
	config.truth = s->truth;
	config.known = 0;
	config.weight = 1;
	config.fill = fill_ones;
	s->estimator = estimator_create(&config);
	s->watch = watch_create(s->estimator, &s->cluster, after_s);
	return s;
}

static void destroy(struct scene *s)
{
	watch_destroy(s->watch);
	watch_destroy(NULL);
	estimator_destroy(s->estimator);
	profile_destroy(s->truth);
	names_fini(&s->models);
	cluster_fini(&s->cluster);
	free(s);
}

/* A job that runs on one device. */
struct runner {
	struct job job;
	struct grant *grant;
};

static struct runner runner(uint32_t id, uint32_t model, uint32_t type)
{
	struct runner r;

	job_init(&r.job);
	r.job.id = id;
	r.job.model = model;
	r.job.by_steps = true;
	r.grant = mem_alloc(sizeof(*r.grant) + sizeof(struct slot));
	*r.grant = (struct grant){ .type = type, .gpus = 1, .nslots = 1, .share = 1 };
	r.grant->slots[0] = (struct slot){ .node = type, .devices = 1 };
	return r;
}

static void tell(struct scene *s, struct runner *r, enum event_kind kind, double at_s)
{
	if (kind == EV_START || kind == EV_MIGRATE || kind == EV_RENEW)
		r->job.ready_s = at_s;
	watch_see(s->watch,
		&(struct event){ .kind = kind, .at_s = at_s, .job = r->job.id, .grant = r->grant },
		&r->job);
}

static void tick(struct scene *s, double at_s)
{
	watch_see(s->watch, &(struct event){ .kind = EV_NODE_UP, .at_s = at_s, .job = JOB_NONE }, NULL);
}

static uint64_t seen(const struct scene *s)
{
	return estimator_counts(s->estimator).observations;
}

static double believed(const struct scene *s, uint32_t model, uint32_t type)
{
	return profile_rate(estimator_belief(s->estimator), model, type, (struct shape){ 1, 1, 1, 0 });
}

static void a_speed_counts_after_a_while(void **state)
{
	struct scene *s = scene(60);
	struct runner r = runner(7, s->a, SLOW);

	(void)state;
	r.job.rate = 3;
	tell(s, &r, EV_START, 100);
	tick(s, 159);
	assert_int_equal(seen(s), 0);
	tick(s, 160);
	assert_int_equal(seen(s), 1);
	assert_true(believed(s, s->a, SLOW) == 3);
	tick(s, 1000);
	tell(s, &r, EV_FINISH, 2000);
	assert_int_equal(seen(s), 1);
	free(r.grant);
	destroy(s);
}

static void who_stops_before_tells_nothing(void **state)
{
	static const enum event_kind ends[] = { EV_PREEMPT, EV_FINISH, EV_LOST };

	(void)state;
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct scene *s = scene(60);
		struct runner r = runner(0, s->a, SLOW);

		r.job.rate = 3;
		tell(s, &r, EV_START, 100);
		tell(s, &r, ends[i], 150);
		tick(s, 1000);
		assert_int_equal(seen(s), 0);
		free(r.grant);
		destroy(s);
	}
}

static void an_end_at_that_time_still_counts(void **state)
{
	struct scene *s = scene(60);
	struct runner r = runner(0, s->a, SLOW);

	(void)state;
	r.job.rate = 3;
	tell(s, &r, EV_START, 100);
	tell(s, &r, EV_FINISH, 500);
	assert_int_equal(seen(s), 1);
	free(r.grant);
	destroy(s);
}

static void turns_that_go_on_count_together(void **state)
{
	struct scene *s = scene(60);
	struct runner r = runner(0, s->a, SLOW);

	(void)state;
	r.job.rate = 3;
	for (double at_s = 100; at_s < 400; at_s += 50)
		tell(s, &r, EV_RENEW, at_s);
	assert_int_equal(seen(s), 1);
	r.job.rate = 4; /* something is new */
	tell(s, &r, EV_RENEW, 450);
	tick(s, 600);
	assert_int_equal(seen(s), 2);
	assert_true(believed(s, s->a, SLOW) == 4);
	free(r.grant);
	destroy(s);
}

static void a_neighbour_is_found(void **state)
{
	struct scene *s = scene(60);
	struct runner a = runner(0, s->a, FAST), b = runner(1, s->b, FAST);
	struct runner apart = runner(2, s->b, FAST);

	(void)state;
	a.job.rate = 10;
	tell(s, &a, EV_START, 0);
	apart.grant->slots[0].devices = 8;
	apart.job.rate = 20;
	apart.job.company = 1; /* by somebody not seen here */
	tell(s, &apart, EV_START, 0);
	tick(s, 100);
	assert_true(believed(s, s->a, FAST) == 10);
	b.job.rate = 8;
	b.job.company = a.job.company = 1;
	a.job.rate = 6;
	tell(s, &b, EV_START, 200);
	tell(s, &a, EV_RENEW, 200);
	tick(s, 300);
	assert_true(fabs(profile_beside(estimator_belief(s->estimator), FAST, 1, s->a, s->b) - 0.6) <
		1e-12);
	assert_true(believed(s, s->a, FAST) == 10);
	assert_int_equal(seen(s), 3);
	/* Alone again. */
	a.job.rate = 10;
	a.job.company = 0;
	tell(s, &b, EV_FINISH, 400);
	tell(s, &a, EV_RENEW, 400);
	tick(s, 500);
	assert_int_equal(seen(s), 4);
	free(a.grant);
	free(b.grant);
	free(apart.grant);
	destroy(s);
}

static void a_neighbour_of_another_size_tells_nothing(void **state)
{
	struct scene *s = scene(60);
	struct runner a = runner(0, s->a, FAST), b = runner(1, s->b, FAST);

	(void)state;
	a.grant->slots[0].devices = 3;
	a.grant->gpus = 2;
	a.job.rate = 10;
	b.job.rate = 8;
	a.job.company = b.job.company = 1;
	tell(s, &a, EV_START, 0);
	tell(s, &b, EV_START, 0);
	tick(s, 100);
	assert_int_equal(seen(s), 0);
	free(a.grant);
	free(b.grant);
	destroy(s);
}

static const struct {
	const char *what;
	double share;
	uint32_t batch, company;
	bool nameless, mixed, balanced;
} silent[] = {
	{ "a limited share", 0.5, 0, 0, false, false, false },
	{ "another batch size", 1, 64, 0, false, false, false },
	{ "a crowd", 1, 0, 2, false, false, false },
	{ "no model", 1, 0, 0, true, false, false },
	{ "devices of several types", 1, 0, 0, false, true, false },
	{ "a balanced job in company", 1, 0, 1, false, false, true },
};

static void some_tell_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(silent); i++) {
		struct scene *s = scene(60);
		struct runner r = runner(0, silent[i].nameless ? NAME_NONE : s->a, SLOW);

		r.job.rate = 3;
		r.job.batch = 32;
		r.job.company = silent[i].company;
		r.grant->share = silent[i].share;
		r.grant->batch = silent[i].batch;
		r.grant->mixed = silent[i].mixed;
		r.grant->balanced = silent[i].balanced;
		tell(s, &r, EV_START, 0);
		tick(s, 1000);
		if (seen(s) != 0)
			fail_msg("%s tells a speed", silent[i].what);
		free(r.grant);
		destroy(s);
	}
}

static void jobs_known_by_run_time_tell_ratios(void **state)
{
	struct scene *s = scene(0);
	struct runner here = runner(0, s->b, FAST), there = runner(1, s->b, SLOW);
	struct runner known = runner(2, s->b, FAST);

	(void)state;
	/* The speed where they were asked for is told by one that counts steps. */
	known.job.rate = 20;
	tell(s, &known, EV_START, 0);
	tick(s, 1);
	here.job.by_steps = there.job.by_steps = false;
	here.job.measured_on = there.job.measured_on = FAST + 1;
	here.job.nominal_rate = here.job.rate = there.job.nominal_rate = 1;
	there.job.rate = 0.6;
	tell(s, &here, EV_START, 2);
	tick(s, 3);
	assert_int_equal(seen(s), 1);
	tell(s, &there, EV_START, 4);
	tick(s, 5);
	assert_int_equal(seen(s), 2);
	assert_true(fabs(believed(s, s->b, SLOW) - 0.6 * 20) < 1e-9);
	free(here.grant);
	free(there.grant);
	free(known.grant);
	destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_speed_counts_after_a_while),
		cmocka_unit_test(who_stops_before_tells_nothing),
		cmocka_unit_test(an_end_at_that_time_still_counts),
		cmocka_unit_test(turns_that_go_on_count_together),
		cmocka_unit_test(a_neighbour_is_found),
		cmocka_unit_test(a_neighbour_of_another_size_tells_nothing),
		cmocka_unit_test(some_tell_nothing),
		cmocka_unit_test(jobs_known_by_run_time_tell_ratios),
	};

	return cmocka_run_group_tests_name("model/watch", tests, NULL, NULL);
}
