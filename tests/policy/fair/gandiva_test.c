/*
 * Gandiva server by server: what is tried and stays, what is tried and undone,
 * and how even turns are.
 */
#include <math.h>
#include <string.h>

#include "policy/fair/gandiva_trials.h"
#include "sim/future.h"
#include "sim/moment.h"
#include "support/property.h"
#include "support/scene.h"

static double figure(const struct outcome *out, const char *name)
{
	for (uint32_t i = 0; i < out->nfigures; i++) {
		if (!strcmp(out->figures[i].name, name))
			return out->figures[i].value;
	}
	fail_msg("no figure %s", name);
	return 0;
}

/* ---- packing */

static void sums_above_one_pay(void **state)
{
	(void)state;
	assert_true(trial_pays(0.6, 1, 0.5, 1));
	assert_false(trial_pays(0.5, 1, 0.4, 1));
	assert_false(trial_pays(0.5, 1, 0.5, 1));
	assert_true(trial_pays(3, 5, 1, 2));
}

/* Two jobs of models a and b on one device; alone both make a step a second. */
static void two_on_one(struct scene *s, double a, double b)
{
	scene_init(s, "1x1:v100");
	names_add(&s->trace.models, "a", 1);
	names_add(&s->trace.models, "b", 1);
	s->profile = profile_create(&s->cluster, &s->trace.models);
	for (uint32_t i = 0; i < 2; i++) {
		struct job *job = scene_job(s, 0, 1, 6000);

		job->model = i;
		job->by_steps = true;
		profile_add(s->profile, i, 0, 1, 0, 1);
	}
	profile_add_pair(s->profile, 0, 1, 0, a, 1, b);
	s->config.truth = s->profile;
	s->config.policy = "gandiva";
}

static void packing_stays_if_it_pays(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	two_on_one(&s, 0.6, 0.5);
	scene_run(&s, &out);
	assert_true(figure(&out, "packed") == 1 && figure(&out, "unpacked") == 0);
	/* turns until 300, then together: 0.6 and 0.5 steps a second, and alone after that */
	assert_true(out.jobs[0].finish_s < 10500 && out.jobs[1].finish_s < 11500);
	outcome_fini(&out);
	scene_fini(&s);
}

static void packing_is_undone_if_it_does_not(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	two_on_one(&s, 0.5, 0.4);
	scene_run(&s, &out);
	assert_true(figure(&out, "packed") >= 1);
	assert_true(figure(&out, "unpacked") == figure(&out, "packed"));
	assert_true(figure(&out, "packed") <= 3);
	/* each trial costs a tenth of a window */
	assert_true(out.to_s <= 12000 + 3 * 0.1 * 400);
	outcome_fini(&out);
	scene_fini(&s);
}

static void memory_must_fit(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	two_on_one(&s, 0.9, 0.9);
	for (uint32_t i = 0; i < 2; i++)
		s.trace.jobs[i].gpu_mem_bytes = INT64_C(10) << 30; /* of 16 */
	scene_run(&s, &out);
	assert_true(figure(&out, "packed") == 0);
	outcome_fini(&out);
	scene_fini(&s);
}

static void gangs_of_other_sizes_are_no_pair(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x2:v100");
	scene_job(&s, 0, 1, 3000);
	scene_job(&s, 0, 2, 3000);
	s.config.policy = "gandiva";
	scene_run(&s, &out);
	assert_true(figure(&out, "packed") == 0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- moving */

/*
 * While four small jobs are on the large server, a job of four lies on the two others, at `apart` steps a second; when they
 * have gone, it comes together if that makes it faster.
 */
static void a_job_that_lies_apart_comes_together(void **state)
{
	static const struct {
		double apart, moves, finish_s;
	} rows[] = { { 0.5, 1, 100 + 950.5 }, { 1, 0, 1001 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome out;
		struct scene s;
		struct job *job;

		scene_init(&s, "1x4:v100,2x2:v100");
		names_add(&s.trace.models, "a", 1);
		s.profile = profile_create(&s.cluster, &s.trace.models);
		profile_add(s.profile, 0, 0, 4, 1, 1);
		profile_add(s.profile, 0, 0, 4, 2, rows[i].apart);
		for (int k = 0; k < 4; k++)
			scene_job(&s, 0, 1, 100);
		job = scene_job(&s, 1, 4, 1000);
		job->model = 0;
		job->by_steps = true;
		s.config.truth = s.profile;
		s.config.policy = "gandiva";
		scene_run(&s, &out);
		assert_float_equal(out.jobs[4].start_s, 1, 1e-9);
		assert_true(figure(&out, "moved") == rows[i].moves);
		assert_float_equal(out.jobs[4].finish_s, rows[i].finish_s, 1e-6);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- growing */

/* A model that is slower on more devices: growing is tried once and undone. */
static void growing_is_undone_if_it_does_not_pay(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x4:v100");
	names_add(&s.trace.models, "a", 1);
	s.profile = profile_create(&s.cluster, &s.trace.models);
	profile_add(s.profile, 0, 0, 2, 0, 1);
	profile_add(s.profile, 0, 0, 4, 0, 0.5);
	scene_job(&s, 0, 2, 3000);
	s.trace.jobs[0].model = 0;
	s.trace.jobs[0].by_steps = true;
	s.trace.jobs[0].min_gpus = 2;
	s.trace.jobs[0].max_gpus = 4;
	s.config.truth = s.profile;
	s.config.policy = "gandiva";
	scene_run(&s, &out);
	assert_true(figure(&out, "grown") == 1 && figure(&out, "shrunk") == 1);
	assert_int_equal(out.jobs[0].resizes, 2);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- turns */

/* Always there and of one size: nobody is more than a slice ahead. */
static void turns_are_even(void **state)
{
	struct rng rng = property("turns of a slice");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 9), gpus = 1 << rng_below(&rng, 3);
		double least = INFINITY, most = 0;
		struct scene s;
		struct outcome out;

		scene_init(&s, "1x4");
		for (uint32_t i = 0; i < n; i++)
			scene_job(&s, 0, (int)gpus, 1e6);
		s.config.policy = "gandiva:pack=0";
		s.config.until_s = 60 * (1 + (double)rng_below(&rng, 100));
		scene_run(&s, &out);
		for (uint32_t i = 0; i < n; i++) {
			least = fmin(least, job_ran_s(&out.jobs[i], s.config.until_s));
			most = fmax(most, job_ran_s(&out.jobs[i], s.config.until_s));
		}
		assert_true(most - least <= 60 + 1e-9);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- over whole runs */

enum { JOBS = 48, NODES = 3, WINDOW_S = 60 };

struct watch {
	const struct trace *trace;
	double now_s;
	struct {
		uint64_t on[NODES];
		uint32_t node; /* where it was last; UINT32_MAX: nowhere yet */
		double moved_s;
	} job[JOBS];
	uint32_t pairs, moves;
};

/* Those who share devices have them all in common, are as large, and have the memory. */
static void check_sharing(struct watch *w)
{
	for (uint32_t i = 0; i < w->trace->njobs; i++) {
		for (uint32_t k = 0; k < i; k++) {
			const struct job *a = &w->trace->jobs[i], *b = &w->trace->jobs[k];

			for (uint32_t node = 0; node < NODES; node++) {
				if ((w->job[i].on[node] & w->job[k].on[node]) == 0)
					continue;
				assert_true(w->job[i].on[node] == w->job[k].on[node]);
				assert_int_equal(a->gpus, b->gpus);
				assert_true(a->gpu_mem_bytes + b->gpu_mem_bytes <= INT64_C(16) << 30);
				w->pairs++;
			}
		}
	}
}

/* Nobody is moved twice within a window; who has no server of its own yet takes what is free. */
static void note_place(struct watch *w, uint32_t job, const struct grant *grant)
{
	uint32_t node = grant->nslots == 1 ? grant->slots[0].node : UINT32_MAX;

	memset(w->job[job].on, 0, sizeof(w->job[job].on));
	for (uint32_t i = 0; i < grant->nslots; i++)
		w->job[job].on[grant->slots[i].node] = grant->slots[i].devices;
	if (w->job[job].node != UINT32_MAX && w->job[job].node != node) {
		assert_true(w->job[job].moved_s == 0 || w->now_s - w->job[job].moved_s >= WINDOW_S);
		w->job[job].moved_s = w->now_s;
		w->moves++;
	}
	w->job[job].node = node;
}

static void watch(void *self, const struct event *event, const struct job *job)
{
	struct watch *w = self;

	if (event->at_s > w->now_s)
		check_sharing(w);
	w->now_s = event->at_s;
	switch (event->kind) {
	case EV_START:
	case EV_RENEW:
	case EV_MIGRATE:
		note_place(w, job->id, event->grant);
		break;
	case EV_PREEMPT:
	case EV_FINISH:
		memset(w->job[job->id].on, 0, sizeof(w->job[job->id].on));
		break;
	default:
		break;
	}
}

static void pairs_fit_and_nobody_is_moved_in_haste(void **state)
{
	struct rng rng = property("pairs of one size with memory for both; one move a window");
	uint32_t pairs = 0, moves = 0;

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct watch w = { 0 };
		struct observer observer = { &w, watch };
		struct outcome out;
		struct scene s;

		scene_init(&s, round % 2 ? "3x2:v100" : "3x4:v100");
		names_add(&s.trace.models, "a", 1);
		s.profile = profile_create(&s.cluster, &s.trace.models);
		for (uint32_t gpus = 1; gpus <= 2; gpus++) {
			profile_add(s.profile, 0, 0, gpus, 0, 1);
			profile_add_pair(s.profile, 0, gpus, 0, 0.7, 0, 0.7);
		}
		scene_draw(&s, &rng, (struct draw){ JOBS, round % 2 ? 500 : 1500, 400, 2 });
		for (uint32_t i = 0; i < s.trace.njobs; i++) {
			s.trace.jobs[i].model = 0;
			s.trace.jobs[i].gpu_mem_bytes = (int64_t)pick(&rng, 12) << 30;
			w.job[i].node = UINT32_MAX;
		}
		scene_ready(&s);
		w.trace = &s.trace;
		s.config.truth = s.profile;
		s.config.policy = "gandiva:slice_s=5,window_s=60";
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		pairs += w.pairs;
		moves += w.moves;
		outcome_fini(&out);
		scene_fini(&s);
	}
	printf("%u pairs seen, %u moves\n", pairs, moves);
	assert_true(pairs > 0 && moves > 0);
}

/* ---- nobody waits for ever */

/* Company renews grants slice by slice: that is no reason to stay beyond them. */
static void a_pair_gives_way(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	two_on_one(&s, 0.6, 0.5);
	scene_job(&s, 400, 1, 600);
	s.config.costs = (struct costs){ .resume_s = 30 };
	scene_run(&s, &out);
	assert_true(figure(&out, "packed") >= 1);
	/* turns of three slices: to stay for four times what resuming costs */
	assert_true(out.jobs[2].start_s < 1200 && out.jobs[2].finish_s < 4000);
	outcome_fini(&out);
	scene_fini(&s);
}

/* Small ones that came one after the other are never all through with what they stay for. */
static void small_ones_make_room_for_a_gang(void **state)
{
	struct scene s;
	struct outcome out;

	(void)state;
	scene_init(&s, "1x4:v100");
	for (int i = 0; i < 9; i++)
		scene_job(&s, 60 * i, i == 1 ? 4 : 1, i == 1 ? 600 : 20000);
	s.config.policy = "gandiva:pack=0";
	s.config.costs = (struct costs){ .resume_s = 30 };
	scene_run(&s, &out);
	assert_int_equal(s.trace.jobs[1].gpus, 4);
	assert_true(out.jobs[1].start_s < 1200 && out.jobs[1].finish_s < 4000);
	outcome_fini(&out);
	scene_fini(&s);
}

/* A daemon that comes back, or a look ahead, finds jobs that run and nothing that was remembered of them. */
static void who_was_there_before_takes_turns(void **state)
{
	const double work[] = { 3600, 3600, 3600 };
	struct future_job out[3];
	struct err err = { 0 };
	struct moment m;

	(void)state;
	moment_init(&m, "1x4:v100", "gandiva", 33);
	moment_runs(&m, 0x3, 3600, 0);
	moment_runs(&m, 0xc, 3600, 0);
	moment_waits(&m, 2, 3600);
	if (future_run(&(struct future_config){ .from = &m.s, .work = work, .until_s = 1e5 }, out,
		    &err) < 0)
		fail_msg("%s", err.text);
	assert_true(out[2].start_s == 60 && out[0].stops > 0);
	moment_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_above_one_pay),
		cmocka_unit_test(packing_stays_if_it_pays),
		cmocka_unit_test(packing_is_undone_if_it_does_not),
		cmocka_unit_test(memory_must_fit),
		cmocka_unit_test(gangs_of_other_sizes_are_no_pair),
		cmocka_unit_test(a_job_that_lies_apart_comes_together),
		cmocka_unit_test(growing_is_undone_if_it_does_not_pay),
		cmocka_unit_test(turns_are_even),
		cmocka_unit_test(pairs_fit_and_nobody_is_moved_in_haste),
		cmocka_unit_test(a_pair_gives_way),
		cmocka_unit_test(small_ones_make_room_for_a_gang),
		cmocka_unit_test(who_was_there_before_takes_turns),
	};

	return cmocka_run_group_tests_name("policy/fair/gandiva", tests, NULL, NULL);
}
