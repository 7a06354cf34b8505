/*
 * Where each job is asked for, trying one of many alike gives the schedule that trying all of them gives.
 *
 * Every world is run twice: as drawn, and with jobs that differ in something which decides nothing (a few
 * bytes of device memory), so that none is like another.
 */
#include "policy/tried.h"

#include <string.h>

#include "support/diary.h"
#include "support/property.h"
#include "support/scene.h"

static const char *const rules[] = { "fifo:misfit=skip", "srtf", "srtf:misfit=block", "srsf",
	"las:round_s=3", "tiresias", "sjf:preempt=1", "priority:preempt=1", "fair-share:preempt=1" };

static const char *const names[] = { "labs", "vision", "speech", "guests" };

/* vision and speech below labs; each may be promised devices, or cells of one node. */
static void draw_tenants(struct rng *rng, bool cells, struct tenants *t)
{
	for (size_t i = 0; i < COUNT(names); i++)
		tenants_add(t, names[i], strlen(names[i]));
	t->at[1].parent = t->at[2].parent = 0;
	for (uint32_t i = 1; i < 4; i++) {
		if (cells && i < 3)
			tenants_set_cells(t, i, &(struct tenant_cell){ .cell = "node", .count = 1 }, 1);
		if (cells)
			continue;
		tenants_promise(t, i, pick(rng, 4) - 1);
		if (pick(rng, 3) == 1)
			t->at[i].borrow = pick(rng, 6) - 1;
		if (pick(rng, 3) == 1)
			t->at[i].lend = pick(rng, 4) - 1;
	}
}

static void draw_scene(struct scene *s, struct rng *rng, bool cells, struct tenants *t)
{
	struct draw draw = {
		.jobs = 10 + pick(rng, 30),
		.last_arrival_s = (uint32_t)rng_below(rng, 20),
		.work_max = 5 + pick(rng, 20),
		.gpus_max = 4,
	};

	scene_init(s, "3x4");
	scene_draw(s, rng, draw);
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		const char *name = names[rng_below(rng, COUNT(names))];
		struct job *job = &s->trace.jobs[i];

		job->tenant = names_add(&s->trace.tenants, name, strlen(name));
		job->priority = (int32_t)rng_below(rng, 4);
		if (rng_below(rng, 5) == 0)
			job->class_ = JOB_OPPORTUNISTIC;
	}
	scene_ready(s);
	draw_tenants(rng, cells, t);
	s->config.tenants = t;
	s->config.placer = cells    ? "hived"
		: rng_below(rng, 2) ? "first-fit"
				    : "consolidate:strict=1";
	s->config.admit = cells ? "all" : "quota";
}

static void run(struct scene *s, struct diary *diary)
{
	struct observer observer = diary_observer(diary);
	struct outcome out;

	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run(s, &out);
	outcome_fini(&out);
}

static void compare(struct scene *s, size_t number)
{
	struct diary one = { 0 }, each = { 0 };

	run(s, &one);
	for (uint32_t i = 0; i < s->trace.njobs; i++)
		s->trace.jobs[i].gpu_mem_bytes = i + 1;
	run(s, &each);
	if (!diary_equal(&one, &each, s->trace.njobs)) {
		printf("%s with %s, instance %zu\none for all:\n", s->config.policy,
			s->config.placer, number);
		diary_print(&one, s->trace.njobs);
		printf("each tried:\n");
		diary_print(&each, s->trace.njobs);
		fail();
	}
	diary_fini(&one);
	diary_fini(&each);
}

static void play(const char *what, bool cells)
{
	struct rng rng = property(what);

	for (size_t i = 0; i < rounds(200); i++) {
		struct tenants tenants = { 0 };
		struct scene s;

		draw_scene(&s, &rng, cells, &tenants);
		s.config.policy = rules[i % COUNT(rules)];
		compare(&s, i);
		scene_fini(&s);
		tenants_fini(&tenants);
	}
}

static void with_quotas(void **state)
{
	(void)state;
	play("tried with quotas", false);
}

static void with_cells(void **state)
{
	(void)state;
	play("tried with cells", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_quotas),
		cmocka_unit_test(with_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
