/*
 * What a screen keeps of a simulation, against what the run itself says.
 */
#include "cli/top/sim_seen.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/scene.h"

struct looker {
	struct sim_seen seen;
	struct view view;
	struct letters letters;
	double now_s;
	bool fractions; /* of which a part is held */
	uint32_t views, most_held, most_down, most_shared;
};

/* Counts agree with what is listed, and devices with who says to have them. */
static void check_view(struct looker *l)
{
	struct view *v = &l->view;
	uint32_t parts[PARTS] = { 0 }, shared = 0;
	double listed = 0, held = 0;

	view_clear(v);
	sim_seen_view(&l->seen, l->now_s, v);
	view_finish(v, &l->letters);
	for (uint32_t i = 0; i < v->njobs; i++) {
		parts[v->jobs[i].part]++;
		if (v->jobs[i].part == PART_RUNNING)
			listed += v->jobs[i].devices;
		assert_non_null(v->jobs[i].label);
		assert_true((v->jobs[i].where != NULL) == (v->jobs[i].part == PART_RUNNING));
	}
	for (uint32_t i = 0; i < v->ndevices; i++) {
		held += v->devices[i].holders;
		shared += v->devices[i].holders > 1;
		assert_false(v->devices[i].down && v->devices[i].holders);
	}
	for (int part = 0; part < PARTS; part++)
		assert_int_equal(parts[part], v->count[part]);
	assert_true(listed == held);
	assert_true(l->fractions || fabs(l->seen.held - v->held) < 1e-9);
	l->views++;
	l->most_held = v->held > l->most_held ? v->held : l->most_held;
	l->most_down = v->down > l->most_down ? v->down : l->most_down;
	l->most_shared = shared > l->most_shared ? shared : l->most_shared;
}

/* As the screen does: a moment is looked at when it is over. */
static void see(void *self, const struct event *event, const struct job *job)
{
	struct looker *l = self;

	if (event->at_s > l->now_s)
		check_view(l);
	l->now_s = event->at_s;
	sim_seen_event(&l->seen, event, job);
}

static struct looker look_at(struct scene *s, const char *policy)
{
	struct looker l = { .fractions = job_is_fraction(&s->trace.jobs[0]) };
	struct observer observer = { &l, see };
	struct outcome with, without;

	scene_ready(s);
	s->config.policy = policy;
	scene_run(s, &without);
	sim_seen_init(&l.seen, &s->cluster, &s->trace, NULL);
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run(s, &with);
	check_view(&l);
	assert_true(with.event_hash == without.event_hash);
	assert_int_equal(l.seen.ended, s->trace.njobs);
	assert_int_equal(l.view.njobs, 0);
	sim_seen_fini(&l.seen);
	view_fini(&l.view);
	outcome_fini(&with);
	outcome_fini(&without);
	return l;
}

static void a_run_is_seen_as_it_is(void **state)
{
	static const char *const specs[] = { "fifo", "srtf", "tiresias:limit_s=50", "gandiva" };
	struct rng rng;

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct scene s;
		struct looker l;

		rng_init(&rng, 7, 1);
		scene_init(&s, "3x4:v100,1x2:k80");
		scene_draw(&s, &rng, (struct draw){ 60, 400, 100, 4 });
		s.config.failures = (struct failures){ .mtbf_s = 500, .repair_s = 50 };
		l = look_at(&s, specs[i]);
		assert_true(l.views > 50 && l.most_held > 8 && l.most_down > 0);
		scene_fini(&s);
	}
}

static void fractions_share_a_device(void **state)
{
	struct scene s;
	struct looker l;

	(void)state;
	scene_init(&s, "1x2");
	for (int i = 0; i < 3; i++)
		scene_job(&s, i, 1, 50)->share = 0.5;
	l = look_at(&s, "fifo");
	assert_int_equal(l.most_shared, 1);
	scene_fini(&s);
}

static void a_job_is_told_in_full(void **state)
{
	struct scene s;
	struct sim_seen seen;
	struct buf out = { 0 };

	(void)state;
	scene_init(&s, "1x2");
	scene_job(&s, 0, 1, 50);
	scene_ready(&s);
	sim_seen_init(&seen, &s.cluster, &s.trace, NULL);
	sim_seen_event(&seen, &(struct event){ .kind = EV_SUBMIT, .job = 0 }, &s.trace.jobs[0]);
	sim_seen_details(&seen, 0, 5, &out);
	assert_non_null(strstr(out.at, "gpus          1\n"));
	assert_non_null(strstr(out.at, "progress      0%"));
	buf_clear(&out);
	sim_seen_event(&seen, &(struct event){ .kind = EV_REJECT, .job = 0 }, &s.trace.jobs[0]);
	sim_seen_details(&seen, 0, 5, &out);
	assert_string_equal(out.at, "it has ended\n");
	sim_seen_fini(&seen);
	buf_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_seen_as_it_is),
		cmocka_unit_test(fractions_share_a_device),
		cmocka_unit_test(a_job_is_told_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
