/*
 * Synergy: the examples of its specification, what it promises, and the
 * optimum as a bound that is found by trying everything.
 */
#include <math.h>
#include <string.h>

#include "model/hosting.h"
#include "policy/policy.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

#define GB (1024.0 * 1024 * 1024)

/* A desk of equal servers, and models whose tables the test writes. */
struct bench {
	struct desk desk;
	struct names models;
	struct profile *profile;
	struct hosting *hosting;
};

static void bench_init(struct bench *b, const char *cluster, double cpus, double gb)
{
	*b = (struct bench){ 0 };
	desk_init(&b->desk, cluster);
	for (uint32_t i = 0; i < b->desk.cluster.nnodes; i++) {
		b->desk.cluster.nodes[i].cpus = cpus;
		b->desk.cluster.nodes[i].mem_bytes = (int64_t)(gb * GB);
	}
	plan_fini(&b->desk.plan); /* its ledger knows servers without CPUs */
	plan_init(&b->desk.plan, &b->desk.cluster, placer_find("first-fit", NULL), NULL, 1);
	b->profile = profile_create(&b->desk.cluster, &b->models);
	b->hosting = hosting_create();
	profile_set_hosting(b->profile, b->hosting);
	b->desk.belief.profile = b->profile;
}

static void bench_fini(struct bench *b)
{
	desk_fini(&b->desk);
	profile_destroy(b->profile);
	hosting_destroy(b->hosting);
	names_fini(&b->models);
}

/* A model of its own for a job, with speeds over CPUs. */
static uint32_t model_of(struct bench *b, const double *cpus, const double *speed, uint32_t n)
{
	struct host_table t = { .ncpus = n, .nmems = 1, .mem_bytes = { 1 } };
	char name[16];
	uint32_t model;

	for (uint32_t i = 0; i < n; i++) {
		t.cpus[i] = cpus[i];
		t.speed[i][0] = speed[i];
	}
	assert_true(host_table_settle(&t));
	snprintf(name, sizeof(name), "m%u", b->models.n);
	model = names_add(&b->models, name, strlen(name));
	hosting_add(b->hosting, model, 1, &t);
	return model;
}

#define MODEL(b, cpus, ...) \
	model_of(b, (double[])cpus, (double[]){ __VA_ARGS__ }, \
		sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))
#define AT(...) \
	{ \
		__VA_ARGS__ \
	}

static void add(struct bench *b, int gpus, uint32_t model)
{
	struct job *job = desk_job(&b->desk, (double)b->desk.jobs.n, gpus, 1000, 0);

	job->model = model;
	job->by_steps = true;
}

static double cpus_of(const struct bench *b, uint32_t job)
{
	const struct grant *grant = plan_grant(&b->desk.plan, job);

	return grant ? grant->cpus : -1;
}

/* ---- the examples of the specification */

/* a. J3 takes 8, J1 8, for J2 nothing is left: J1 is cut down to 4 and J2 gets 4. */
static void others_give_up_what_they_have_in_excess(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "1x4", 16, 0);
	add(&b, 1, MODEL(&b, AT(4, 8), 1, 2));
	add(&b, 1, MODEL(&b, AT(4, 8), 1, 2));
	add(&b, 2, MODEL(&b, AT(4), 1));
	desk_decide(&b.desk, "synergy", 0);
	assert_float_equal(cpus_of(&b, 2), 8, 0);
	assert_float_equal(cpus_of(&b, 0), 4, 0);
	assert_float_equal(cpus_of(&b, 1), 4, 0);
	bench_fini(&b);
}

/* Whoever has most in excess gives first, and nobody more than is missing: 6 and 5 of 12, and the last wants 2. */
static void who_has_most_in_excess_gives_first(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "1x3", 12, 0);
	add(&b, 1, MODEL(&b, AT(4, 5), 1, 2));
	add(&b, 1, MODEL(&b, AT(4, 6), 1, 2));
	add(&b, 1, MODEL(&b, AT(2), 1));
	desk_decide(&b.desk, "synergy", 0);
	assert_float_equal(cpus_of(&b, 0), 5, 0);
	assert_float_equal(cpus_of(&b, 1), 4, 0);
	assert_float_equal(cpus_of(&b, 2), 2, 0);
	bench_fini(&b);
}

/* b. */
static void what_one_does_not_need_another_has(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "1x4", 16, 0);
	add(&b, 1, MODEL(&b, AT(4, 8), 1, 2));
	add(&b, 1, MODEL(&b, AT(2), 1));
	desk_decide(&b.desk, "synergy", 0);
	assert_float_equal(cpus_of(&b, 0), 8, 0);
	assert_float_equal(cpus_of(&b, 1), 2, 0);
	bench_fini(&b);
}

/* c. The fuller server is tried first, but has 8 CPUs left and not 12. */
static void the_fullest_server_that_holds_the_demand(void **state)
{
	struct bench b;
	struct job *job;

	(void)state;
	bench_init(&b, "2x4", 16, 0);
	job = desk_job(&b.desk, 0, 2, 1000, 0);
	job->cpus = 8;
	desk_run(&b.desk, 0, 0);
	add(&b, 2, MODEL(&b, AT(4, 6), 1, 1.5));
	desk_decide(&b.desk, "synergy", 0);
	assert_int_equal(plan_grant(&b.desk.plan, 0)->slots[0].node, 0);
	assert_float_equal(cpus_of(&b, 1), 12, 0);
	assert_int_equal(plan_grant(&b.desk.plan, 1)->nslots, 1);
	assert_int_equal(plan_grant(&b.desk.plan, 1)->slots[0].node, 1);
	bench_fini(&b);
}

/* d. W1 = {2: 1, 3: 1.8}, W2 = {1: .9, 2: 1}: the second must not fall below its 2. */
static void the_optimum_leaves_nobody_below_its_part(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "1x2", 4, 0);
	add(&b, 1, MODEL(&b, AT(2, 3), 1, 1.8));
	add(&b, 1, MODEL(&b, AT(1, 2), 0.9, 1));
	desk_decide(&b.desk, "synergy:allocate=opt", 0);
	assert_float_equal(cpus_of(&b, 0), 2, 0);
	assert_float_equal(cpus_of(&b, 1), 2, 0);
	bench_fini(&b);
}

/* ---- how it divides */

static void fair_and_greedy(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "1x2", 8, 0);
	add(&b, 1, MODEL(&b, AT(4, 6), 1, 2));
	add(&b, 1, MODEL(&b, AT(4, 6), 1, 2));
	desk_decide(&b.desk, "synergy:allocate=fair", 0);
	assert_float_equal(cpus_of(&b, 0), 4, 0);
	assert_float_equal(cpus_of(&b, 1), 4, 0);
	bench_fini(&b);
	/* Who cannot have its best waits. */
	bench_init(&b, "1x2", 8, 0);
	add(&b, 1, MODEL(&b, AT(4, 6), 1, 2));
	add(&b, 1, MODEL(&b, AT(4, 6), 1, 2));
	desk_decide(&b.desk, "synergy:allocate=greedy", 0);
	assert_float_equal(cpus_of(&b, 0), 6, 0);
	assert_float_equal(cpus_of(&b, 1), -1, 0);
	assert_int_equal(desk_reason(&b.desk, 1).why, WHY_FRAGMENTED);
	bench_fini(&b);
}

/* A server of 2 CPUs for each device and one of 8: what is proportional depends on where a job is. */
static void parts_are_by_type(void **state)
{
	static const char *const kinds_here[] = { "synergy:allocate=fair", "synergy" };

	(void)state;
	for (size_t i = 0; i < COUNT(kinds_here); i++) {
		struct bench b;

		bench_init(&b, "1x2:v100,1x2:k80", 4, 0);
		b.desk.cluster.nodes[1].cpus = b.desk.plan.space.nodes[1].cpus = 16;
		for (uint32_t k = 0; k < 4; k++) {
			add(&b, 1, MODEL(&b, AT(2, 8, 16), 1, 2, 3));
			b.desk.jobs.at[k].types = 1u << k / 2;
		}
		desk_decide(&b.desk, kinds_here[i], 0);
		for (uint32_t k = 0; k < 4; k++)
			assert_float_equal(cpus_of(&b, k), k < 2 ? 2 : 8, 0);
		bench_fini(&b);
	}
}

static void a_gang_is_split_only_if_no_server_holds_it(void **state)
{
	struct bench b;

	(void)state;
	/* As the code does: 1 device of the first server has 6 CPUs left, the second gives the other. */
	bench_init(&b, "2x4", 16, 0);
	add(&b, 1, MODEL(&b, AT(4, 10), 1, 3));
	add(&b, 2, MODEL(&b, AT(4, 6), 1, 2));
	desk_decide(&b.desk, "synergy:code_split=1,keep=0,allocate=greedy", 0);
	assert_int_equal(plan_grant(&b.desk.plan, 1)->nslots, 2);
	bench_fini(&b);
	bench_init(&b, "2x4", 16, 0);
	add(&b, 1, MODEL(&b, AT(4, 10), 1, 3));
	add(&b, 2, MODEL(&b, AT(4, 6), 1, 2));
	desk_decide(&b.desk, "synergy:keep=0,allocate=greedy", 0);
	assert_int_equal(plan_grant(&b.desk.plan, 1)->nslots, 1);
	assert_int_equal(plan_grant(&b.desk.plan, 1)->slots[0].node, 1);
	bench_fini(&b);
}

static void orders(void **state)
{
	static const struct {
		const char *policy, *who;
	} rows[] = {
		{ "synergy", "A" },              /* the first to come */
		{ "synergy:order=las", "B" },    /* never served */
		{ "synergy:order=srtf", "C" },   /* 60 s left */
		{ "synergy:order=srsf", "C" },   /* likewise */
		{ "synergy:order=tetris", "B" }, /* longer, but an eighth of the CPUs */
		{ "synergy:order=drf", "A" },    /* each wants the whole of the devices */
		{ "synergy:order=ftf", "B" },    /* waited longest for how long it is */
		{ "synergy:order=ftf,compat=synergy", "C" }, /* and as published who did so least */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench b;
		uint32_t model;

		bench_init(&b, "1x1", 8, 0);
		model = MODEL(&b, AT(4, 8), 0.5, 1);
		desk_job(&b.desk, 0, 1, 1000, 100)->model = model;
		desk_job(&b.desk, 1, 1, 100, 0)->model = MODEL(&b, AT(1), 1);
		desk_job(&b.desk, 2, 1, 600, 540)->model = model;
		desk_decide(&b.desk, rows[i].policy, 600);
		if (strcmp(desk_who(&b.desk), rows[i].who) != 0)
			fail_msg("%s runs %s, not %s", rows[i].policy, desk_who(&b.desk), rows[i].who);
		bench_fini(&b);
	}
}

/* B wants a quarter of the devices and an eighth of the CPUs; the others all CPUs. */
static void the_least_dominant_share_first(void **state)
{
	static const struct {
		const char *policy, *who;
	} rows[] = { { "synergy:allocate=greedy", "A" }, { "synergy:allocate=greedy,order=drf", "B" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench b;
		uint32_t model;

		bench_init(&b, "1x4", 8, 0);
		model = MODEL(&b, AT(2, 8), 1, 2);
		add(&b, 1, model);
		add(&b, 1, MODEL(&b, AT(1), 1));
		add(&b, 1, model);
		desk_decide(&b.desk, rows[i].policy, 0);
		assert_string_equal(desk_who(&b.desk), rows[i].who);
		bench_fini(&b);
	}
}

/* ---- what it promises */

static uint32_t random_model(struct bench *b, struct rng *rng, bool flat)
{
	static const double cpus[] = { 1, 2, 3, 4, 6, 9, 12 }, gb[] = { 5, 10, 20, 40 };
	struct host_table t = { .ncpus = COUNT(cpus), .nmems = COUNT(gb) };
	char name[16];
	uint32_t model;

	snprintf(name, sizeof(name), "x%u", b->models.n);
	model = names_add(&b->models, name, strlen(name));
	for (uint32_t c = 0; c < COUNT(cpus); c++) {
		t.cpus[c] = cpus[c];
		for (uint32_t m = 0; m < COUNT(gb); m++) {
			t.mem_bytes[m] = gb[m] * GB;
			t.speed[c][m] = flat ? 1
				: rng_below(rng, 3)
				? 0.2 + 0.1 * (double)rng_below(rng, 4 * (c + 1)) * (1 + m) / 2
				: NAN;
		}
	}
	t.speed[0][0] = flat ? 1 : 0.1;
	assert_true(host_table_settle(&t));
	hosting_add(b->hosting, model, 1, &t);
	return model;
}

static struct host_share share_of(const struct grant *grant)
{
	return (struct host_share){ grant->cpus / grant->gpus, (double)grant->mem_bytes / grant->gpus };
}

static double speed_of(const struct bench *b, uint32_t job, struct host_share share)
{
	return host_table_speed(hosting_find(b->hosting, b->desk.jobs.at[job].model, 1), share);
}

/* Sums of each server within what it has, and nobody slower than with its part. */
static double check_promises(const struct bench *b, const char *policy)
{
	const struct cluster *cluster = &b->desk.cluster;
	struct host_share fair = { cluster->nodes[0].cpus / cluster->nodes[0].devices,
		(double)cluster->nodes[0].mem_bytes / cluster->nodes[0].devices };
	double cpus[16] = { 0 }, memory[16] = { 0 }, sum = 0;

	for (uint32_t j = 0; j < b->desk.jobs.n; j++) {
		const struct grant *grant = plan_grant(&b->desk.plan, j);

		if (!grant)
			continue;
		for (uint32_t i = 0; i < grant->nslots; i++) {
			int n = __builtin_popcountll(grant->slots[i].devices);

			cpus[grant->slots[i].node] += share_of(grant).cpus * n;
			memory[grant->slots[i].node] += share_of(grant).mem_bytes * n;
		}
		sum += speed_of(b, j, share_of(grant));
		if (speed_of(b, j, share_of(grant)) < speed_of(b, j, fair) * (1 - 1e-6))
			fail_msg("%s: job %u is slower than with its part", policy, j);
	}
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		assert_true(cpus[i] <= cluster->nodes[i].cpus + 1e-6);
		assert_true(memory[i] <= (double)cluster->nodes[i].mem_bytes + 1);
	}
	return sum;
}

static void check_no_idle(const struct bench *b, const char *policy)
{
	for (uint32_t j = 0; j < b->desk.jobs.n; j++) {
		if (!plan_grant(&b->desk.plan, j) &&
			plan_free(&b->desk.plan, 0) >= (uint32_t)b->desk.jobs.at[j].gpus)
			fail_msg("%s: devices are idle though job %u waits for %d", policy, j,
				b->desk.jobs.at[j].gpus);
	}
}

static const char *const kinds[] = { "synergy", "synergy:keep=0", "synergy:code_split=1,keep=0",
	"synergy:allocate=opt", "synergy:allocate=opt,keep=0", "synergy:allocate=fair",
	"synergy:order=srtf", "synergy:compat=synergy" };

static void draw(struct bench *b, struct rng *rng, bool flat, uint32_t jobs, int gpus_max)
{
	for (uint32_t i = 0; i < jobs; i++)
		add(b, 1 + (int)rng_below(rng, (uint64_t)gpus_max), random_model(b, rng, flat));
}

static void nobody_falls_below_its_part(void **state)
{
	struct rng rng = property("nobody below its part, sums within servers, no device idle");

	(void)state;
	for (size_t i = 0; i < rounds(1500); i++) {
		const char *policy = kinds[i % COUNT(kinds)];
		uint32_t devices = 2 + (uint32_t)rng_below(&rng, 4);
		char cluster[16];
		struct bench b;

		snprintf(cluster, sizeof(cluster), "%ux%u", 1 + (uint32_t)rng_below(&rng, 4), devices);
		bench_init(&b, cluster, devices * (1 + (double)rng_below(&rng, 4)),
			devices * (5 + (double)rng_below(&rng, 16)));
		draw(&b, &rng, false, 1 + (uint32_t)rng_below(&rng, 14), (int)devices + 1);
		/* A second round finds some of them where the first has put them. */
		if (rng_below(&rng, 2) && b.desk.jobs.at[0].gpus <= (int)b.desk.cluster.devices)
			desk_run(&b.desk, 0, 0);
		desk_decide(&b.desk, policy, 300);
		check_promises(&b, policy);
		check_no_idle(&b, policy);
		bench_fini(&b);
	}
}

static void who_gains_nothing_has_its_part_or_less(void **state)
{
	struct rng rng = property("insensitive jobs: as with the proportional part");

	(void)state;
	for (size_t i = 0; i < rounds(200); i++) {
		struct bench b;
		double sum;
		uint32_t n = 0;

		bench_init(&b, "2x4", 12, 80);
		draw(&b, &rng, true, 6, 3);
		desk_decide(&b.desk, kinds[i % COUNT(kinds)], 300);
		sum = check_promises(&b, kinds[i % COUNT(kinds)]);
		for (uint32_t j = 0; j < 6; j++)
			n += desk_runs(&b.desk, j);
		assert_float_equal(sum, n, 1e-9);
		bench_fini(&b);
	}
}

/* ---- the optimum, by trying everything */

struct search {
	const struct bench *b;
	struct host_share fair;
	double cpus, memory;
};

static double best_from(const struct search *s, uint32_t job, double cpus, double memory)
{
	const struct host_table *t;
	double best = -INFINITY, least;

	if (job == s->b->desk.jobs.n)
		return 0;
	t = hosting_find(s->b->hosting, s->b->desk.jobs.at[job].model, 1);
	least = host_table_speed(t, s->fair);
	for (uint32_t c = 0; c <= t->ncpus; c++) {
		for (uint32_t m = 0; m <= t->nmems; m++) {
			struct host_share share = { c < t->ncpus ? t->cpus[c] : s->fair.cpus,
				m < t->nmems ? t->mem_bytes[m] : s->fair.mem_bytes };
			double speed = host_table_speed(t, share), rest;

			if (speed < least || cpus + share.cpus > s->cpus + 1e-9 ||
				memory + share.mem_bytes > s->memory + 1)
				continue;
			rest = best_from(s, job + 1, cpus + share.cpus, memory + share.mem_bytes);
			best = fmax(best, speed + rest);
		}
	}
	return best;
}

static double decided(struct rng rng, const char *policy, uint32_t jobs, double *all)
{
	struct search s;
	struct bench b;
	double sum;

	bench_init(&b, "1x3", 9, 60);
	draw(&b, &rng, false, jobs, 1);
	desk_decide(&b.desk, policy, 300);
	sum = check_promises(&b, policy);
	s = (struct search){ &b, { 3, 20 * GB }, 9, 60 * GB };
	*all = best_from(&s, 0, 0, 0);
	bench_fini(&b);
	return sum;
}

static void tuning_lies_between_fair_and_the_optimum(void **state)
{
	struct rng rng = property("fair <= tune <= opt, which is what trying everything finds");
	double tuned = 0, best = 0;

	(void)state;
	for (size_t i = 0; i < rounds(150); i++) {
		uint32_t jobs = 1 + (uint32_t)(i % 3);
		double all, fair = decided(rng, "synergy:allocate=fair", jobs, &all);
		double tune = decided(rng, "synergy", jobs, &all);
		double opt = decided(rng, "synergy:allocate=opt", jobs, &all);

		if (fabs(opt - all) > 1e-6 * all)
			fail_msg("round %zu: the program says %.9g, trying everything %.9g", i, opt,
				all);
		assert_true(fair <= tune * (1 + 1e-9));
		assert_true(tune <= all * (1 + 1e-6));
		tuned += tune;
		best += all;
		rng_u64(&rng);
	}
	printf("tune reaches %.1f %% of the optimum\n", 100 * tuned / best);
}

/* ---- from round to round */

/* Two jobs with 2 CPUs each, until one has ended: the other goes on with 3, where it is. */
static void more_comes_without_a_restart(void **state)
{
	struct host_table t = { .ncpus = 2,
		.nmems = 1,
		.cpus = { 2, 3 },
		.mem_bytes = { 1 },
		.speed = { { 1 }, { 1.5 } } };
	struct hosting *hosting = hosting_create();
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2");
	s.cluster.nodes[0].cpus = 4;
	names_add(&s.trace.models, "m", 1);
	assert_true(host_table_settle(&t));
	hosting_add(hosting, 0, 1, &t);
	for (int i = 0; i < 2; i++) {
		struct job *job = scene_job(&s, 0, 1, i ? 900 : 300);

		job->model = 0;
		job->by_steps = true;
		job->resume_cost_s = 1000; /* would be seen */
	}
	s.profile = profile_create(&s.cluster, &s.trace.models);
	profile_set_hosting(s.profile, hosting);
	s.config.truth = s.profile;
	s.config.policy = "synergy";
	scene_run(&s, &out);
	assert_float_equal(out.jobs[0].finish_s, 300, 1e-9);
	assert_float_equal(out.jobs[1].finish_s, 300 + 600 / 1.5, 1e-9);
	assert_int_equal(out.jobs[1].restarts, 0);
	assert_int_equal(out.jobs[1].migrations, 0);
	outcome_fini(&out);
	scene_fini(&s);
	hosting_destroy(hosting);
}

/* Everything that jobs hold, as the record tells it; checked whenever time has gone on. */
struct ward {
	const struct cluster *cluster;
	const struct hosting *hosting;
	struct {
		bool runs;
		uint32_t model;
		double cpus[4], memory[4];
		struct host_share share;
	} job[64];
	double at_s;
	uint32_t checks;
};

static void check_ward(struct ward *w)
{
	struct host_share fair = { w->cluster->nodes[0].cpus / w->cluster->nodes[0].devices,
		(double)w->cluster->nodes[0].mem_bytes / w->cluster->nodes[0].devices };

	for (uint32_t node = 0; node < w->cluster->nnodes; node++) {
		double cpus = 0, memory = 0;

		for (uint32_t i = 0; i < COUNT(w->job); i++) {
			cpus += w->job[i].runs ? w->job[i].cpus[node] : 0;
			memory += w->job[i].runs ? w->job[i].memory[node] : 0;
		}
		assert_true(cpus <= w->cluster->nodes[node].cpus + 1e-6);
		assert_true(memory <= (double)w->cluster->nodes[node].mem_bytes + 64);
	}
	for (uint32_t i = 0; i < COUNT(w->job); i++) {
		const struct host_table *t = hosting_find(w->hosting, w->job[i].model, 1);

		if (w->job[i].runs)
			assert_true(host_table_speed(t, w->job[i].share) >=
				host_table_speed(t, fair) * (1 - 1e-6));
	}
	w->checks++;
}

static void see_grant(void *self, const struct event *event, const struct job *job)
{
	struct ward *w = self;
	const struct grant *grant = event->grant;

	if (event->at_s > w->at_s)
		check_ward(w);
	w->at_s = event->at_s;
	if (!job || job->id >= COUNT(w->job) || !grant)
		return;
	memset(&w->job[job->id], 0, sizeof(w->job[0]));
	w->job[job->id].runs = event->kind == EV_START || event->kind == EV_RENEW ||
		event->kind == EV_MIGRATE || event->kind == EV_RESIZE;
	w->job[job->id].model = job->model;
	w->job[job->id].share = share_of(grant);
	for (uint32_t i = 0; i < grant->nslots; i++) {
		int n = __builtin_popcountll(grant->slots[i].devices);

		w->job[job->id].cpus[grant->slots[i].node] = share_of(grant).cpus * n;
		w->job[job->id].memory[grant->slots[i].node] = share_of(grant).mem_bytes * n;
	}
}

static void promises_hold_from_round_to_round(void **state)
{
	struct rng rng = property("sums and parts hold in every round of whole runs");
	uint32_t checks = 0;

	(void)state;
	for (size_t i = 0; i < rounds(120); i++) {
		struct bench tables = { 0 }; /* its hosting only */
		struct ward ward = { 0 };
		struct observer observer = { &ward, see_grant };
		struct outcome out;
		struct scene s;

		scene_init(&s, "3x4");
		for (uint32_t n = 0; n < 3; n++) {
			s.cluster.nodes[n].cpus = 12;
			s.cluster.nodes[n].mem_bytes = (int64_t)(60 * GB);
		}
		tables.hosting = hosting_create();
		for (int m = 0; m < 6; m++)
			random_model(&tables, &rng, false);
		scene_draw(&s, &rng, (struct draw){ 40, 3000, 2000, 4 });
		for (uint32_t m = 0; m < tables.models.n; m++)
			names_add(&s.trace.models, tables.models.at[m], strlen(tables.models.at[m]));
		for (uint32_t j = 0; j < s.trace.njobs; j++)
			s.trace.jobs[j].model = (uint32_t)rng_below(&rng, 6);
		s.profile = profile_create(&s.cluster, &s.trace.models);
		profile_set_hosting(s.profile, tables.hosting);
		ward.cluster = &s.cluster;
		ward.hosting = tables.hosting;
		s.config.truth = s.profile;
		s.config.policy = kinds[i % COUNT(kinds)];
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		for (uint32_t j = 0; j < out.njobs; j++)
			assert_int_equal(out.jobs[j].state, JOB_FINISHED);
		checks += ward.checks;
		outcome_fini(&out);
		scene_fini(&s);
		hosting_destroy(tables.hosting);
		names_fini(&tables.models);
	}
	assert_true(checks > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_give_up_what_they_have_in_excess),
		cmocka_unit_test(who_has_most_in_excess_gives_first),
		cmocka_unit_test(what_one_does_not_need_another_has),
		cmocka_unit_test(the_fullest_server_that_holds_the_demand),
		cmocka_unit_test(the_optimum_leaves_nobody_below_its_part),
		cmocka_unit_test(fair_and_greedy),
		cmocka_unit_test(parts_are_by_type),
		cmocka_unit_test(a_gang_is_split_only_if_no_server_holds_it),
		cmocka_unit_test(orders),
		cmocka_unit_test(the_least_dominant_share_first),
		cmocka_unit_test(nobody_falls_below_its_part),
		cmocka_unit_test(who_gains_nothing_has_its_part_or_less),
		cmocka_unit_test(tuning_lies_between_fair_and_the_optimum),
		cmocka_unit_test(more_comes_without_a_restart),
		cmocka_unit_test(promises_hold_from_round_to_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
