/*
 * Sia: the worked examples, sizes of types, the restart factor, and what holds
 * of every decision: whole nodes or parts of one, and only ratios count.
 */
#include <math.h>
#include <string.h>

#include "policy/elastic/sia.h"
#include "support/property.h"
#include "support/scene.h"

enum { JOBS_MAX = 12, SIZES_MAX = 8 };

/* ---- sizes */

static void expect_sizes(const char *cluster, uint32_t type, const uint32_t *want, uint32_t n)
{
	struct arena scratch = { 0 };
	struct sia_sizes sizes;
	struct cluster c;
	struct plan plan;
	struct err err;

	assert_int_equal(cluster_parse(cluster, &c, &err), 0);
	plan_init(&plan, &c, placer_find("first-fit", NULL), NULL, 1);
	sia_list_sizes(&plan, type, false, &scratch, &sizes);
	assert_int_equal(sizes.n, n);
	assert_memory_equal(sizes.gpus, want, n * sizeof(*want));
	plan_fini(&plan);
	cluster_fini(&c);
	arena_fini(&scratch);
}

static void powers_of_two_then_whole_nodes(void **state)
{
	(void)state;
	expect_sizes("3x4", 0, (uint32_t[]){ 1, 2, 4, 8, 12 }, 5);
	expect_sizes("1x2", 0, (uint32_t[]){ 1, 2 }, 2);
	expect_sizes("2x6", 0, (uint32_t[]){ 1, 2, 4, 6, 12 }, 5);
	expect_sizes("6x4:t4,2x8:a100", 1, (uint32_t[]){ 1, 2, 4, 8, 16 }, 5);
	expect_sizes("5x1", 0, (uint32_t[]){ 1, 2, 3, 4, 5 }, 5);
}

static void what_a_change_is_worth(void **state)
{
	(void)state;
	assert_float_equal(sia_restart_factor(300, 1, 30), 270.0 / 330, 1e-12);
	assert_float_equal(sia_restart_factor(30, 1, 30), 0, 1e-12);
	assert_float_equal(sia_restart_factor(10, 1, 30), 0, 1e-12);
	assert_float_equal(sia_restart_factor(0, 0, 0), 1, 1e-12);
}

/* ---- the first decision */

/* A job of so much work, and its speed on 1, 2, 4 … devices of the first type; 0 ends it. */
struct table {
	double speed[SIZES_MAX];
	int rigid; /* devices; 0: it is elastic */
};

static void stage(struct scene *s, const char *cluster, const struct table *tables, uint32_t n)
{
	char name[16];

	scene_init(s, cluster);
	for (uint32_t i = 0; i < n; i++) {
		struct job *job = scene_job(s, 0, tables[i].rigid ? tables[i].rigid : 1, 1000);

		snprintf(name, sizeof(name), "m%u", i);
		job->model = names_add(&s->trace.models, name, strlen(name));
		job->by_steps = true;
		if (tables[i].rigid)
			continue;
		job->min_gpus = job->max_gpus = 1;
		for (uint32_t k = 1; k < SIZES_MAX && tables[i].speed[k] > 0; k++)
			job->max_gpus *= 2;
	}
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < SIZES_MAX && tables[i].speed[k] > 0; k++)
			profile_add(s->profile, i, 0, 1U << k, 0, tables[i].speed[k]);
	}
	s->config.truth = s->profile;
}

struct first {
	uint32_t gpus[JOBS_MAX];
};

static void see_start(void *self, const struct event *event, const struct job *job)
{
	struct first *first = self;

	(void)job;
	if (event->kind == EV_START && event->at_s == 0)
		first->gpus[event->job] = event->grant->gpus;
}

static void first_of(const char *cluster, const char *policy, const struct table *tables,
	uint32_t n, struct first *first)
{
	struct observer observer = { .self = first, .see = see_start };
	struct outcome out;
	struct scene s;

	*first = (struct first){ { 0 } };
	stage(&s, cluster, tables, n);
	s.config.policy = policy;
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
	outcome_fini(&out);
	scene_fini(&s);
}

static const struct {
	const char *what, *cluster, *policy;
	struct table jobs[3];
	uint32_t want[3];
} examples[] = {
	{ "a: all to one where two are worth half as much again", "1x2", "sia",
		{ { { 1, 1.5 }, 0 }, { { 1, 1.5 }, 0 } }, { 2, 0 } },
	{ "b: one each where they are not", "1x2", "sia", { { { 1, 1.2 }, 0 }, { { 1, 1.2 }, 0 } },
		{ 1, 1 } },
	{ "a steep exponent does not change that", "1x2", "sia:p=-100",
		{ { { 1, 1.5 }, 0 }, { { 1, 1.5 }, 0 } }, { 2, 0 } },
	{ "a large lambda serves as many as can be", "1x2", "sia:lambda=10",
		{ { { 1, 1.9 }, 0 }, { { 1, 1.9 }, 0 } }, { 1, 1 } },
	{ "above 0 the fastest has it all", "1x4", "sia:p=2,lambda=0",
		{ { { 1, 2, 4 }, 0 }, { { 1, 1.5, 2 }, 0 } }, { 4, 0 } },
	{ "however steep that is", "8x8", "sia:p=6,lambda=0", { { { 1, 2, 4, 8, 16, 32, 64 }, 0 } },
		{ 64 } },
	{ "and of equals as others do", "1x2", "sia:solver=exact,growth=0",
		{ { { 1, 1.5 }, 0 }, { { 1, 1.5 }, 0 } }, { 2, 0 } },
	{ "so does the search by prices alone", "1x2", "sia:solver=price,growth=0",
		{ { { 1, 1.5 }, 0 }, { { 1, 1.5 }, 0 } }, { 2, 0 } },
	{ "the integer program agrees", "1x2", "sia:solver=exact",
		{ { { 1, 1.2 }, 0 }, { { 1, 1.2 }, 0 } }, { 1, 1 } },
	{ "a rigid job beside an elastic one", "1x4", "sia",
		{ { { 1, 1.9, 3.5 }, 0 }, { { 1, 2, 3 }, 2 } }, { 2, 2 } },
	{ "no more devices where they bring nothing", "1x8", "sia",
		{ { { 1, 1, 1, 1 }, 0 }, { { 1, 2, 3, 4 }, 0 } }, { 1, 4 } },
};

static void worked_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct first first;
		uint32_t n = 0;

		while (n < COUNT(examples[i].jobs) && examples[i].jobs[n].speed[0] > 0)
			n++;
		first_of(examples[i].cluster, examples[i].policy, examples[i].jobs, n, &first);
		for (uint32_t k = 0; k < n; k++) {
			if (first.gpus[k] != examples[i].want[k])
				fail_msg("%s: job %u has %u instead of %u", examples[i].what, k,
					first.gpus[k], examples[i].want[k]);
		}
	}
}

/* ---- properties */

static void draw_table(struct table *t, struct rng *rng)
{
	double gain = rng_between(rng, 1.1, 2);

	*t = (struct table){ .speed = { rng_between(rng, 0.5, 2) } };
	for (uint32_t k = 1; k < 5; k++)
		t->speed[k] = t->speed[k - 1] * (1 + (gain - 1) * rng_between(rng, 0.5, 1));
}

static void only_ratios_count(void **state)
{
	struct rng rng = property("all speeds of one job times a constant change nothing");

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 4);
		struct table jobs[6];
		struct first before, after;

		for (uint32_t k = 0; k < n; k++)
			draw_table(&jobs[k], &rng);
		first_of("2x4", "sia", jobs, n, &before);
		for (uint32_t k = 0; k < 5; k++)
			jobs[0].speed[k] *= 8;
		first_of("2x4", "sia", jobs, n, &after);
		assert_memory_equal(&before, &after, sizeof(before));
	}
}

/* Every grant is a part of one node or whole nodes. */
static void see_shape(void *self, const struct event *event, const struct job *job)
{
	const struct cluster *cluster = self;

	if (event->kind != EV_START && event->kind != EV_MIGRATE && event->kind != EV_RESIZE)
		return;
	assert_false(event->grant->mixed);
	assert_true(event->grant->gpus >= (uint32_t)job->min_gpus);
	assert_true(event->grant->gpus <= (uint32_t)job->max_gpus);
	for (uint32_t i = 0; event->grant->nslots > 1 && i < event->grant->nslots; i++) {
		struct slot slot = event->grant->slots[i];

		assert_int_equal(__builtin_popcountll(slot.devices), cluster->nodes[slot.node].devices);
	}
}

static void whole_nodes_or_parts_of_one(void **state)
{
	struct rng rng = property("grants are whole nodes or parts of one, between min and max");

	(void)state;
	for (size_t i = 0; i < rounds(25); i++) {
		struct observer observer = { .see = see_shape };
		struct outcome out;
		struct scene s;

		scene_init(&s, "3x4:v100,2x8:k80");
		for (uint32_t k = 0; k < JOBS_MAX; k++) {
			struct job *job = scene_job(&s, (double)rng_below(&rng, 2000), 1,
				(double)(60 + rng_below(&rng, 4000)));

			job->max_gpus = 1 << rng_below(&rng, 5);
			job->min_gpus = rng_below(&rng, 3) ? 1 : job->max_gpus;
			job->gpus = job->min_gpus;
			job->resize_cost_s = job->resume_cost_s = (double)rng_below(&rng, 100);
		}
		observer.self = &s.cluster;
		s.config.policy = "sia";
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		for (uint32_t k = 0; k < JOBS_MAX; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Nodes of six: what powers of two leave is not put together over nodes. */
static void parts_of_uneven_nodes(void **state)
{
	struct rng rng = property("parts are of one node, also of nodes that are no power of two");

	(void)state;
	for (size_t i = 0; i < rounds(25); i++) {
		struct observer observer = { .see = see_shape };
		struct outcome out;
		struct scene s;

		scene_init(&s, rng_below(&rng, 2) ? "2x6" : "3x5:v100,2x3:k80");
		for (uint32_t k = 0; k < (i ? JOBS_MAX : 3); k++) {
			struct job *job = scene_job(&s, 0, i ? 1 << rng_below(&rng, 2) : 4, 600);

			job->max_gpus = i ? 4 : job->gpus;
			job->min_gpus = i && rng_below(&rng, 2) ? 1 : job->gpus;
		}
		observer.self = &s.cluster;
		s.config.policy = i % 2 ? "sia" : "sia:growth=0";
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		for (uint32_t k = 0; k < out.njobs; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- nodes without the CPUs or memory */

struct hosted {
	const char *what, *cluster;
	double cpus[2]; /* of nodes of each type */
	int64_t mem_bytes[2];
	int gpus;
	double job_cpus;
	int64_t job_mem_bytes;
};

static void where_it_can_be_fed(void **state)
{
	static const struct hosted rows[] = {
		{ "the faster type lacks CPUs", "1x4:v100,1x4:k80", { 4, 64 }, { 0 }, 1, 8, 0 },
		{ "or memory", "1x4:v100,1x4:k80", { 0 }, { 10, 100 }, 1, 0, 50 },
		{ "both do for a node, two together have them", "2x4:v100,2x4:k80", { 4, 8 }, { 0 },
			4, 14, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome out;
		struct scene s;

		scene_init(&s, rows[i].cluster);
		for (uint32_t n = 0; n < s.cluster.nnodes; n++) {
			s.cluster.nodes[n].cpus = rows[i].cpus[s.cluster.nodes[n].type];
			s.cluster.nodes[n].mem_bytes = rows[i].mem_bytes[s.cluster.nodes[n].type];
		}
		for (uint32_t k = 0; k < 3; k++) {
			struct job *job = scene_job(&s, 0, rows[i].gpus, 100);

			job->cpus = rows[i].job_cpus;
			job->mem_bytes = rows[i].job_mem_bytes;
		}
		s.config.policy = "sia";
		scene_run(&s, &out);
		for (uint32_t k = 0; k < out.njobs; k++) {
			if (out.jobs[k].state != JOB_FINISHED)
				fail_msg("%s: job %u did not finish", rows[i].what, k);
		}
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* What cannot be had is no measure of what can: 2 devices of a type that has one. */
static void only_what_there_is_counts(void **state)
{
	struct first first = { { 0 } };
	struct observer observer = { .self = &first, .see = see_start };
	struct outcome out;
	struct scene s;
	struct job *job;

	(void)state;
	scene_init(&s, "1x1:k80,1x2:v100");
	for (uint32_t k = 0; k < 2; k++) {
		job = scene_job(&s, 0, 1, 100);
		job->model = names_add(&s.trace.models, k ? "b" : "a", 1);
		job->by_steps = true;
		job->min_gpus = job->gpus = k ? 1 : 2;
		job->max_gpus = k ? 2 : 4;
		job->types = k ? 2 : 0;
	}
	names_add(&s.trace.types, "k80", 3);
	names_add(&s.trace.types, "v100", 4);
	s.profile = profile_create(&s.cluster, &s.trace.models);
	profile_add(s.profile, 0, 0, 2, 0, 0.1);
	profile_add(s.profile, 0, 1, 2, 0, 1);
	profile_add(s.profile, 1, 1, 1, 0, 1);
	profile_add(s.profile, 1, 1, 2, 0, 1.5);
	s.config.truth = s.profile;
	s.config.policy = "sia";
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	assert_int_equal(first.gpus[0], 0);
	assert_int_equal(first.gpus[1], 2);
	outcome_fini(&out);
	scene_fini(&s);
}

static void no_exponent_of_nothing(void **state)
{
	struct outcome out;
	struct scene s;
	struct err err;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 10);
	s.config.policy = "sia:p=0";
	assert_true(scene_try(&s, &out, &err) < 0);
	assert_non_null(strstr(err.text, "p=0"));
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_two_then_whole_nodes),
		cmocka_unit_test(what_a_change_is_worth),
		cmocka_unit_test(worked_examples),
		cmocka_unit_test(only_ratios_count),
		cmocka_unit_test(whole_nodes_or_parts_of_one),
		cmocka_unit_test(parts_of_uneven_nodes),
		cmocka_unit_test(where_it_can_be_fed),
		cmocka_unit_test(only_what_there_is_counts),
		cmocka_unit_test(no_exponent_of_nothing),
	};

	return cmocka_run_group_tests_name("policy/sia", tests, NULL, NULL);
}
