/*
 * AntMan: what guaranteed jobs can rely on, whatever comes.
 */
#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum { TENANTS = 3, JOBS = 40, NODES = 3, DEVICES = 4, QUOTA = 4 };

struct place {
	bool runs, guest;
	uint64_t on[NODES];
	double rate;
};

struct witness {
	const struct trace *trace;
	struct place places[JOBS];
	double now_s;
	double tolerance, step;
	uint32_t beside; /* instants at which somebody had guests */
};

/* What guests on a device keep busy in all. */
static double guests_on(const struct witness *w, uint32_t node, uint64_t device)
{
	double util = 0;

	for (uint32_t i = 0; i < w->trace->njobs; i++) {
		if (w->places[i].runs && w->places[i].guest && w->places[i].on[node] & device)
			util += w->trace->jobs[i].util;
	}
	return util;
}

/* As if alone: slower by no more than the tolerance and one step of the guests on its worst device. */
static void check_speed(struct witness *w, uint32_t id)
{
	double most = 0;

	for (uint32_t node = 0; node < NODES; node++) {
		for (uint64_t left = w->places[id].on[node]; left; left &= left - 1)
			most = fmax(most, guests_on(w, node, left & -left));
	}
	w->beside += most > 0;
	if (1 / w->places[id].rate > 1 + w->tolerance + w->step * most + 1e-9)
		fail_msg("job %u runs at %g beside guests that keep %g busy", id,
			w->places[id].rate, most);
}

static void check_instant(struct witness *w)
{
	double used[TENANTS] = { 0 };
	uint64_t held[NODES] = { 0 };

	for (uint32_t i = 0; i < w->trace->njobs; i++) {
		const struct place *p = &w->places[i];

		if (!p->runs || p->guest)
			continue;
		used[w->trace->jobs[i].tenant] += w->trace->jobs[i].gpus;
		for (uint32_t node = 0; node < NODES; node++) {
			assert_true((held[node] & p->on[node]) == 0);
			held[node] |= p->on[node];
		}
		check_speed(w, i);
	}
	for (uint32_t i = 0; i < TENANTS; i++)
		assert_true(used[i] <= QUOTA);
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct witness *w = self;
	struct place *p = job ? &w->places[job->id] : NULL;

	if (event->at_s > w->now_s)
		check_instant(w);
	w->now_s = event->at_s;
	switch (event->kind) {
	case EV_START:
	case EV_RENEW:
	case EV_MIGRATE:
		*p = (struct place){ .runs = true, .guest = event->grant->guest, .rate = job->rate };
		for (uint32_t i = 0; i < event->grant->nslots; i++)
			p->on[event->grant->slots[i].node] = event->grant->slots[i].devices;
		break;
	case EV_PREEMPT:
	case EV_FINISH:
		p->runs = false;
		break;
	default:
		break;
	}
}

static void draw(struct scene *s, struct rng *rng)
{
	static const char *const tenants[TENANTS] = { "ann", "bob", "cy" };

	scene_draw(s, rng, (struct draw){ JOBS, 60, 40, 8 });
	for (size_t i = 0; i < TENANTS; i++)
		names_add(&s->trace.tenants, tenants[i], strlen(tenants[i]));
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].tenant = (uint32_t)rng_below(rng, TENANTS);
		s->trace.jobs[i].class_ = (uint32_t)rng_below(rng, 2);
		s->trace.jobs[i].util = (1 + (double)rng_below(rng, 20)) / 20;
	}
}

static void guaranteed_jobs_run_as_if_alone_and_within_quotas(void **state)
{
	struct rng rng = property("one guaranteed job a device, within quotas, hardly slowed");
	uint32_t beside = 0;

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct witness w = { .tolerance = 0.05, .step = 0.05 };
		struct observer observer = { &w, see };
		struct outcome out;
		struct scene s;

		scene_init(&s, "3x4");
		draw(&s, &rng);
		scene_ready(&s);
		w.trace = &s.trace;
		s.config.policy = i % 2 ? "antman:quota=4" : "antman:quota=4,borrow=0";
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		for (uint32_t k = 0; k < out.njobs; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		beside += w.beside;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(beside > 100); /* else nothing was tested */
}

/* Two models on one device of 16 GB: what the guest does not find there it keeps on the host. */
static void a_guest_is_slower_where_memory_is_short(void **state)
{
	double finish_s[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct outcome out;
		struct scene s;
		struct job *job;

		scene_init(&s, "1x1:v100");
		s.cluster.types[0].mem_bytes = INT64_C(16) << 30;
		job = scene_job(&s, 0, 1, 100);
		job->util = 0.4;
		job->gpu_mem_bytes = INT64_C(10) << 30;
		job = scene_job(&s, 0, 1, 40);
		job->util = 0.4;
		job->gpu_mem_bytes = (int64_t)(6 + 4 * i) << 30;
		job->class_ = JOB_OPPORTUNISTIC;
		s.config.policy = "antman";
		scene_run(&s, &out);
		assert_float_equal(out.jobs[0].finish_s, 100, 1e-9);
		finish_s[i] = out.jobs[1].finish_s;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_float_equal(finish_s[0], 40, 1e-9);
	/* 4 of its 10 GB are on the host: a fraction of 0.4, which costs 0.75 x 0.4. */
	assert_float_equal(finish_s[1], 40 / 0.7, 1e-6);
}

/*
 * Beside a job that keeps 0.7 busy, a guest that keeps all busy launches at less than half and then finds 0.3 of
 * its time: below 0.2 of its speed it rather waits.
 */
static void a_guest_waits_where_it_would_hardly_run(void **state)
{
	static const char *const specs[] = { "antman", "antman:worth=0.01" };
	double start_s[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct outcome out;
		struct scene s;
		struct job *job;

		scene_init(&s, "1x1:v100");
		scene_job(&s, 0, 1, 100)->util = 0.7;
		job = scene_job(&s, 0, 1, 40);
		job->util = 1;
		job->class_ = JOB_OPPORTUNISTIC;
		s.config.policy = specs[i];
		scene_run(&s, &out);
		start_s[i] = out.jobs[1].start_s;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_float_equal(start_s[0], 100, 1e-9);
	assert_float_equal(start_s[1], 0, 1e-9);
}

/* Beside jobs that keep 0.3 and 0.7 busy, a gang of guests goes as fast as on two that keep 0.7 busy: by the slower one. */
static void a_gang_of_guests_goes_with_its_slowest_device(void **state)
{
	static const double busy[][2] = { { 0.3, 0.7 }, { 0.7, 0.7 }, { 0.3, 0.3 } };
	double finish_s[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct outcome out;
		struct scene s;
		struct job *job;

		scene_init(&s, "1x2:v100");
		for (int k = 0; k < 2; k++)
			scene_job(&s, 0, 1, 1000)->util = busy[i][k];
		job = scene_job(&s, 1, 2, 40);
		job->util = 0.5;
		job->class_ = JOB_OPPORTUNISTIC;
		s.config.policy = "antman";
		scene_run(&s, &out);
		finish_s[i] = out.jobs[2].finish_s;
		assert_float_equal(out.jobs[2].start_s, 1, 1e-9);
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_float_equal(finish_s[0], finish_s[1], 1e-9);
	assert_float_equal(finish_s[2], 41, 1e-9); /* room for all of it on both */
	assert_true(finish_s[0] > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guaranteed_jobs_run_as_if_alone_and_within_quotas),
		cmocka_unit_test(a_guest_is_slower_where_memory_is_short),
		cmocka_unit_test(a_guest_waits_where_it_would_hardly_run),
		cmocka_unit_test(a_gang_of_guests_goes_with_its_slowest_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
