#include "sim/monotasks.h"

#include <math.h>
#include <string.h>

#include "io/mono_io.h"
#include "support/property.h"
#include "support/scene.h"

/* What is watched while a run goes on. */
struct watch {
	const struct mono_config *config;
	struct mono_span *spans;
	size_t n, cap;
	double most_apt_s[MONO_RESOURCES];
};

static void see_span(void *ctx, const struct mono_span *span)
{
	struct watch *w = ctx;

	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->spans = mem_resize(w->spans, w->cap * sizeof(*w->spans));
	}
	w->spans[w->n++] = *span;
}

static void see_placed(void *ctx, uint32_t worker, const double apt_s[MONO_RESOURCES])
{
	struct watch *w = ctx;

	(void)worker;
	for (int r = 0; r < MONO_RESOURCES; r++)
		w->most_apt_s[r] = fmax(w->most_apt_s[r], apt_s[r]);
}

static struct mono_load read_load(const char *text)
{
	struct mono_load load = { 0 };
	struct err err = { 0 };

	if (mono_read_csv("test", text, strlen(text), &load, &err))
		fail_msg("%s", err.text);
	return load;
}

static struct mono_config small(const struct mono_load *load, uint32_t workers)
{
	return (struct mono_config){ .load = load,
		.workers = workers,
		.worker = { { 2, 1, 1, 1 }, 64e9 },
		.interval_s = 0.5,
		.ept_s = 0.6 };
}

static struct mono_result run(struct mono_config *config, struct watch *watch)
{
	struct mono_result result;
	struct err err = { 0 };

	if (watch) {
		watch->config = config;
		config->ctx = watch;
		config->tell = see_span;
		config->placed = see_placed;
	}
	if (mono_run(config, &result, &err))
		fail_msg("%s", err.text);
	return result;
}

/* ---- small worlds by hand */

/* The next task's disk goes on while the first one's CPU does: queues are per resource. */
static void test_steps_overlap(void **state)
{
	struct mono_load load = read_load("job,stage,tasks,run\na,s,3,disk 1 | cpu 1\n");
	struct mono_config config = small(&load, 1);
	struct mono_result result;

	(void)state;
	config.ept_s = 10;
	result = run(&config, NULL);
	assert_true(fabs(result.makespan_s - 4) < 1e-9);
	assert_true(fabs(result.utilisation[MONO_DISK] - 0.75) < 1e-9);
	assert_true(fabs(result.utilisation[MONO_CPU] - 3.0 / 8) < 1e-9);
	mono_result_fini(&result);
	/* A task that holds its disk until its end makes the next wait for it. */
	config.scheduler = MONO_TETRIS;
	result = run(&config, NULL);
	assert_true(fabs(result.makespan_s - 6) < 1e-9);
	mono_result_fini(&result);
	mono_load_fini(&load);
}

/* Training is loaded while the last epoch trains. */
static void test_loading_is_hidden(void **state)
{
	struct mono_load load = read_load("job,stage,run,after\n"
					  "t,load1,disk 1 | cpu 1,\n"
					  "t,train1,gpu 2,load1\n"
					  "t,load2,disk 1 | cpu 1,load1\n"
					  "t,train2,gpu 2,train1|load2\n");
	struct mono_config config = small(&load, 1);
	struct mono_result result = run(&config, NULL);

	(void)state;
	assert_true(fabs(result.makespan_s - 6) < 1e-9);
	assert_true(fabs(result.utilisation[MONO_GPU] - 4.0 / 6) < 1e-9);
	mono_result_fini(&result);
	mono_load_fini(&load);
}

/* X has 30 of CPU left, Y 20 of CPU and 20 of network: X is first. */
static void test_least_remaining_first(void **state)
{
	struct mono_load load = read_load("job,stage,tasks,run\n"
					  "y,s,20,cpu 1 | net 1\n"
					  "x,s,30,cpu 1\n");
	struct mono_config config = small(&load, 1);
	struct mono_result result;

	(void)state;
	memcpy(config.worker.slots, (uint32_t[]){ 10, 10, 10, 10 }, sizeof(config.worker.slots));
	config.order = MONO_SRJF;
	result = run(&config, NULL);
	assert_true(result.jct_s[1] < result.jct_s[0]);
	mono_result_fini(&result);
	config.order = MONO_EJF;
	result = run(&config, NULL);
	assert_true(result.jct_s[0] < result.jct_s[1]);
	mono_result_fini(&result);
	mono_load_fini(&load);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
		double ept_s;
	} rows[] = {
		{ "job,stage,run\na,s,gpu 1\n", "stage s of job a needs gpu and workers have none", 1 },
		{ "job,stage,run,mem\na,s,cpu 1,65G\n", "needs 65 GiB of memory", 1 },
		{ "job,stage,run\na,s,cpu 1\n", "must be more than --interval", 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mono_load load = read_load(rows[i].text);
		struct mono_config config = small(&load, 1);
		struct mono_result result;
		struct err err = { 0 };

		config.worker.slots[MONO_GPU] = 0;
		config.worker.mem_bytes = 64.0 * (1 << 30);
		config.ept_s = rows[i].ept_s;
		assert_int_equal(mono_run(&config, &result, &err), ERR_USAGE);
		if (!strstr(err.text, rows[i].says))
			fail_msg("it says: %s", err.text);
		mono_load_fini(&load);
	}
}

/* ---- properties */

/* Not more at once than there are slots: counted where one starts. */
static void assert_slots(const struct watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct mono_span *s = &w->spans[i];
		uint32_t at_once = 0;

		for (size_t k = 0; k < w->n; k++)
			at_once += w->spans[k].worker == s->worker &&
				w->spans[k].resource == s->resource &&
				w->spans[k].start_s <= s->start_s && s->start_s < w->spans[k].end_s;
		assert_true(at_once <= w->config->worker.slots[s->resource]);
	}
}

/* Steps of a task in order and on one worker; stages behind what they wait for; nothing before its job came. */
static void assert_order(const struct watch *w)
{
	const struct mono_load *load = w->config->load;
	double *first = mem_alloc(load->nstages * sizeof(double));
	double *last = mem_alloc(load->nstages * sizeof(double));

	for (uint32_t i = 0; i < load->nstages; i++)
		first[i] = INFINITY;
	for (size_t i = 0; i < w->n; i++) {
		const struct mono_span *s = &w->spans[i];

		first[s->stage] = fmin(first[s->stage], s->start_s);
		last[s->stage] = fmax(last[s->stage], s->end_s);
		assert_true(s->start_s >= load->jobs[s->job].arrival_s);
		for (size_t k = 0; k < w->n && s->step; k++) {
			const struct mono_span *before = &w->spans[k];

			if (before->stage != s->stage || before->task != s->task ||
				before->step + 1 != s->step)
				continue;
			assert_true(before->end_s <= s->start_s);
			assert_int_equal(before->worker, s->worker);
		}
	}
	for (uint32_t i = 0; i < load->nstages; i++)
		for (uint32_t k = load->dag.first_pred[i]; k < load->dag.first_pred[i + 1]; k++)
			assert_true(last[load->dag.preds[k]] <= first[i]);
	free(first);
	free(last);
}

/* Memory of tasks that are there, from their first step's start at the latest. */
static void assert_memory(const struct watch *w)
{
	const struct mono_load *load = w->config->load;

	for (size_t i = 0; i < w->n; i++) {
		double used = 0;

		for (size_t k = 0; k < w->n; k++)
			if (w->spans[k].worker == w->spans[i].worker &&
				w->spans[k].start_s <= w->spans[i].start_s &&
				w->spans[i].start_s < w->spans[k].end_s)
				used += load->stages[w->spans[k].stage].mem_bytes;
		assert_true(used <= w->config->worker.mem_bytes);
	}
}

static void assert_not_overfilled(const struct watch *w)
{
	const struct mono_load *load = w->config->load;
	double largest[MONO_RESOURCES] = { 0 };

	for (uint32_t i = 0; i < load->nstages; i++) {
		double sum[MONO_RESOURCES] = { 0 };

		for (uint32_t k = 0; k < load->stages[i].nsteps; k++)
			sum[load->stages[i].steps[k].resource] += load->stages[i].steps[k].size_s;
		for (int r = 0; r < MONO_RESOURCES; r++)
			largest[r] = fmax(largest[r], sum[r] / w->config->worker.slots[r]);
	}
	for (int r = 0; r < MONO_RESOURCES; r++)
		assert_true(w->most_apt_s[r] <= w->config->ept_s + largest[r] + 1e-9);
}

static void test_properties(void **state)
{
	struct rng rng = property(
		"order, slots, memory, every task once; strict queues are never overfilled");

	(void)state;
	for (size_t round = 0; round < rounds(150); round++) {
		struct watch watch = { 0 };
		struct mono_load load = { 0 };
		struct mono_config config;
		struct mono_result result;
		struct err err = { 0 };
		size_t steps = 0;
		char text[120];

		snprintf(text, sizeof(text), "jobs=%d,tasks=%d,rounds=%d,training=%g,seed=%d,gap_s=%d",
			1 + (int)rng_below(&rng, 4), 1 + (int)rng_below(&rng, 6),
			1 + (int)rng_below(&rng, 3), rng_uniform(&rng), (int)round,
			(int)rng_below(&rng, 3));
		assert_int_equal(mono_synth(text, &load, &err), 0);
		config = small(&load, 1 + (uint32_t)rng_below(&rng, 4));
		config.scheduler = (enum mono_scheduler)rng_below(&rng, MONO_SCHEDULERS);
		config.order = (enum mono_order)rng_below(&rng, 2);
		config.strict = rng_below(&rng, 2);
		config.worker.mem_bytes = 4.0 * (1 << 30);
		config.ept_s = config.interval_s * rng_between(&rng, 1.01, 4);
		result = run(&config, &watch);
		for (uint32_t i = 0; i < load.nstages; i++)
			steps += (size_t)load.stages[i].tasks * load.stages[i].nsteps;
		assert_int_equal(watch.n, steps);
		assert_int_equal(result.monotasks, steps);
		assert_slots(&watch);
		assert_order(&watch);
		assert_memory(&watch);
		if (config.scheduler == MONO_URSA && config.strict)
			assert_not_overfilled(&watch);
		for (int r = 0; r < MONO_RESOURCES; r++)
			assert_true(result.utilisation[r] <= 1 + 1e-9);
		mono_result_fini(&result);
		mono_load_fini(&load);
		free(watch.spans);
	}
}

/* Without strict, tasks of a little network and much CPU fill the CPU queue far beyond (spec, section 7). */
static void test_overfilled_unless_strict(void **state)
{
	struct mono_load load = read_load("job,stage,tasks,run\na,s,200,cpu 0.9 | net 0.01\n");
	struct mono_config config = small(&load, 1);
	struct watch loose = { 0 }, strict = { 0 };
	struct mono_result result;

	(void)state;
	config.ept_s = 1;
	result = run(&config, &loose);
	mono_result_fini(&result);
	config.strict = true;
	result = run(&config, &strict);
	mono_result_fini(&result);
	assert_true(loose.most_apt_s[MONO_CPU] > 10);
	assert_true(strict.most_apt_s[MONO_CPU] <= 1 + 0.45);
	free(loose.spans);
	free(strict.spans);
	mono_load_fini(&load);
}

/* The least that any worker had after each decision. */
struct least {
	uint32_t workers, told;
	double apt_s[64];
};

static void see_least(void *ctx, uint32_t worker, const double apt_s[MONO_RESOURCES])
{
	struct least *l = ctx;
	uint32_t decision = l->told++ / l->workers;

	if (decision < COUNT(l->apt_s))
		l->apt_s[decision] = worker ? fmin(l->apt_s[decision], apt_s[MONO_CPU])
					    : apt_s[MONO_CPU];
}

/* While tasks wait, no worker lacks anything: at each decision all are filled up to the EPT. */
static void test_work_conserving(void **state)
{
	struct rng rng = property("tasks wait only where every worker is filled up to the EPT");

	(void)state;
	for (size_t round = 0; round < rounds(100); round++) {
		struct least least = { .workers = pick(&rng, 5) };
		double size_s = 0.1 * pick(&rng, 20);
		uint32_t tasks = 50 + pick(&rng, 100);
		struct mono_load load;
		struct mono_config config;
		struct mono_result result;
		struct err err = { 0 };
		char text[100];

		snprintf(text, sizeof(text), "job,stage,tasks,run\na,s,%u,cpu %g\n", tasks, size_s);
		load = read_load(text);
		config = small(&load, least.workers);
		config.ept_s = config.interval_s * rng_between(&rng, 1.01, 4);
		config.ctx = &least;
		config.placed = see_least;
		assert_int_equal(mono_run(&config, &result, &err), 0);
		for (uint32_t i = 0; i < COUNT(least.apt_s) && i < result.decisions; i++) {
			/* All that can have been placed by then. */
			double most_s = i * config.interval_s + config.ept_s + size_s;

			if (least.workers * config.worker.slots[MONO_CPU] * most_s >= tasks * size_s)
				break;
			assert_true(least.apt_s[i] >= config.ept_s - 1e-9);
		}
		mono_result_fini(&result);
		mono_load_fini(&load);
	}
}

/* The same draw gives the same run; noise gives another. */
static void test_deterministic(void **state)
{
	struct mono_load load = { 0 };
	struct mono_config config;
	struct mono_result a, b, c;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(mono_synth("jobs=5,tasks=20", &load, &err), 0);
	config = small(&load, 3);
	a = run(&config, NULL);
	b = run(&config, NULL);
	config.noise = 1;
	c = run(&config, NULL);
	assert_memory_equal(a.jct_s, b.jct_s, load.njobs * sizeof(double));
	assert_true(a.mean_jct_s != c.mean_jct_s);
	mono_result_fini(&a);
	mono_result_fini(&b);
	mono_result_fini(&c);
	mono_load_fini(&load);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_overlap),
		cmocka_unit_test(test_loading_is_hidden),
		cmocka_unit_test(test_least_remaining_first),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_overfilled_unless_strict),
		cmocka_unit_test(test_work_conserving),
		cmocka_unit_test(test_deterministic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
