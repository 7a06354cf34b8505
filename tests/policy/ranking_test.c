/*
 * Jobs kept in order between rounds give the schedule that sorting anew each
 * time gives.
 *
 * The real policies run against twins that share nothing with them but
 * kit_anew(): the keys are written down again here.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "policy/kit.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- keys */

enum { BLOCK = 1, PREEMPT = 2, ROUNDS = 4, FILL = 8 };

struct twin {
	const char *spec; /* the real one */
	key_fn *key;
	unsigned how;
	double round_s;
};

static double arrival(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->arrival_s;
}

static double run_time(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->work_est;
}

static double width(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->gpus;
}

static double area(const void *self, const struct round *round, const struct job *job)
{
	return run_time(self, round, job) * job->gpus;
}

static double left(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	return job->work_est - job_done(job, round->now_s);
}

static double area_left(const void *self, const struct round *round, const struct job *job)
{
	return left(self, round, job) * job->gpus;
}

static double had(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	return job_served_s(job, round->now_s);
}

static double had_time(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	return job_ran_s(job, round->now_s);
}

static double importance(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return -job->priority;
}

/* 3600 points an hour: a point a second. */
static double aged_importance(const void *self, const struct round *round, const struct job *job)
{
	(void)self;
	(void)round;
	return job->arrival_s - job->priority;
}

static const struct twin twins[] = {
	{ "fifo", arrival, BLOCK, 0 },
	{ "fifo:misfit=skip", arrival, 0, 0 },
	{ "sjf", run_time, 0, 0 },
	{ "sjf:misfit=block", run_time, BLOCK, 0 },
	{ "sjf:preempt=1", run_time, PREEMPT, 0 },
	{ "sjf:preempt=1,misfit=block", run_time, PREEMPT | BLOCK, 0 },
	{ "sjf:by=gpus,preempt=1", width, PREEMPT, 0 },
	{ "sjf:by=service", area, 0, 0 },
	{ "srtf", left, PREEMPT, 0 },
	{ "srtf:misfit=block", left, PREEMPT | BLOCK, 0 },
	{ "srtf:round_s=3", left, PREEMPT, 3 },
	{ "srsf", area_left, PREEMPT, 0 },
	{ "srsf:misfit=block", area_left, PREEMPT | BLOCK, 0 },
	{ "las:round_s=1", had, PREEMPT | FILL, 1 },
	{ "las:round_s=4", had, PREEMPT | FILL, 4 },
	{ "las:round_s=3,service=time", had_time, PREEMPT | FILL, 3 },
	{ "las:round_s=3,misfit=block", had, PREEMPT | BLOCK | FILL, 3 },
	{ "las:round_s=1,between=wait", had, PREEMPT | ROUNDS, 1 },
	{ "las:round_s=4,between=wait", had, PREEMPT | ROUNDS, 4 },
	{ "las:round_s=2,misfit=block,between=wait", had, PREEMPT | BLOCK | ROUNDS, 2 },
	{ "las:round_s=3,service=time,between=wait", had_time, PREEMPT | ROUNDS, 3 },
	{ "priority", importance, 0, 0 },
	{ "priority:preempt=1", importance, PREEMPT, 0 },
	{ "priority:preempt=1,misfit=block", importance, PREEMPT | BLOCK, 0 },
	{ "priority:ageing=3600", aged_importance, 0, 0 },
	{ "priority:ageing=3600,preempt=1", aged_importance, PREEMPT, 0 },
};

/* ---- a policy of the twin */

static int twin_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	const struct twin *t = self;
	struct ordering ordering = {
		.key = t->key,
		.misfit = t->how & BLOCK ? MISFIT_BLOCK : MISFIT_SKIP,
		.preempt = t->how & PREEMPT,
		.hold = t->how & FILL && fmod(round->now_s, t->round_s) != 0,
	};

	(void)err;
	kit_anew(&ordering, self, round, plan);
	if (t->how & ROUNDS)
		kit_wake_while_waiting(round, plan);
	else if (t->how & FILL)
		plan_wake(plan, (floor(round->now_s / t->round_s) + 1) * t->round_s); /* every turn */
	return 0;
}

static double twin_period_s(const void *self)
{
	const struct twin *t = self;

	return t->how & FILL ? 0 : t->round_s;
}

static const struct policy twin_policy = {
	.name = "twin",
	.period_s = twin_period_s,
	.decide = twin_decide,
};

/* ---- worlds with many ties */

static const char failure_lines[] = "5,0,down\n8,0,up\n20,0,down\n21,0,up\n33,0,down\n50,0,up\n";
static char *failures; /* a file with these */

static const char *const clusters[] = { "1x1", "1x4", "2x4", "4x1", "1x8:v100,2x2:v100",
	"2x2:v100,1x4:p100" };

/* All that take the same devices for the same question. */
static const char *const choosers[] = { "first-fit", "best-fit", "consolidate",
	"consolidate:strict=1", "spread" };

static void draw_scene(struct scene *s, struct rng *rng)
{
	const char *cluster = clusters[rng_below(rng, COUNT(clusters))];
	struct draw draw = {
		.jobs = pick(rng, 14),
		.last_arrival_s = (uint32_t)rng_below(rng, 20),
		.work_max = pick(rng, 12),
		.gpus_max = 4,
	};

	scene_init(s, cluster);
	s->config.placer = choosers[rng_below(rng, COUNT(choosers))];
	if (rng_below(rng, 3) == 0)
		s->config.costs = (struct costs){ .start_s = (double)rng_below(rng, 3),
			.resume_s = pick(rng, 4) };
	if (rng_below(rng, 4) == 0)
		s->config.failures.file = failures; /* at whole seconds, too */
	scene_draw(s, rng, draw);
	names_add(&s->trace.types, "v100", 4);
	names_add(&s->trace.types, "p100", 4);
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		struct job *job = &s->trace.jobs[i];

		job->priority = (int32_t)rng_below(rng, 4);
		if (rng_below(rng, 3) == 0)
			job->work_est = pick(rng, 12); /* and not what it really takes */
		job->checkpoint_every_s = (double)rng_below(rng, 4);
		if (rng_below(rng, 8) == 0)
			job->cpus = job->gpus;
		if (rng_below(rng, 4) == 0)
			job->share = (double)pick(rng, 4) / 4;
		if (s->cluster.ntypes > 1)
			job->types = (uint32_t)rng_below(rng, 4);
	}
	scene_ready(s);
}

static void run(struct scene *s, const struct twin *twin, bool anew, struct diary *diary)
{
	struct observer observer = diary_observer(diary);
	struct outcome out;

	s->config.policy = twin->spec;
	s->config.observers = &observer;
	s->config.nobservers = 1;
	if (anew)
		scene_run_policy(s, &twin_policy, (void *)twin, &out);
	else
		scene_run(s, &out);
	outcome_fini(&out);
}

static void compare(struct scene *s, const struct twin *twin, size_t number)
{
	struct diary kept = { 0 }, anew = { 0 };

	run(s, twin, false, &kept);
	run(s, twin, true, &anew);
	if (!diary_equal(&kept, &anew, s->trace.njobs)) {
		printf("%s with %s on %s, instance %zu:\n", twin->spec, s->config.placer,
			s->cluster.spec, number);
		for (uint32_t i = 0; i < s->trace.njobs; i++)
			printf("  %u: at %g, gpus %d, work %g, est %g, priority %d\n", i,
				s->trace.jobs[i].arrival_s, s->trace.jobs[i].gpus, s->trace.work[i],
				s->trace.jobs[i].work_est, s->trace.jobs[i].priority);
		printf("kept in order:\n");
		diary_print(&kept, s->trace.njobs);
		printf("sorted anew:\n");
		diary_print(&anew, s->trace.njobs);
		fail();
	}
	diary_fini(&kept);
	diary_fini(&anew);
}

static void keeping_order_equals_sorting_anew(void **state)
{
	const struct twin *twin = *state;
	struct rng rng = property(twin->spec);

	for (size_t i = 0; i < rounds(1000); i++) {
		struct scene s;

		draw_scene(&s, &rng);
		compare(&s, twin, i);
		scene_fini(&s);
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT(twins)];
	const char *dir = getenv("TMPDIR");
	struct err err = { 0 };
	int failed;

	failures = mem_printf("%s/stint-ranking-%ld.csv", dir ? dir : "/tmp", (long)getpid());
	if (file_write(failures, failure_lines, strlen(failure_lines), &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}

	for (size_t i = 0; i < COUNT(twins); i++)
		tests[i] = (struct CMUnitTest){
			.name = twins[i].spec,
			.test_func = keeping_order_equals_sorting_anew,
			.initial_state = (void *)&twins[i],
		};
	failed = _cmocka_run_group_tests("policy/ranking", tests, COUNT(twins), NULL, NULL);
	unlink(failures);
	free(failures);
	return failed;
}
