/*
 * One simulation: rules by name, the truth and what is believed of it, and the
 * world's own events.
 */
#include "sim/sim.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "support/diary.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"

/* ---- rules by name */

static const struct {
	const char *what, *policy, *placer, *admit;
	int code;
	const char *text;
} rows[] = {
	{ "nothing said: fifo, first-fit, all", NULL, NULL, NULL, 0, NULL },
	{ "a policy with options", "tiresias:queues=3,limit_s=1h", NULL, NULL, 0, NULL },
	{ "an unknown policy", "tiresius", NULL, NULL, ERR_MISSING, "did you mean 'tiresias'" },
	{ "an unknown placer", NULL, "bestfit", NULL, ERR_MISSING, "did you mean 'best-fit'" },
	{ "an unknown admission rule", NULL, NULL, "loads", ERR_MISSING, "did you mean 'load'" },
	{ "an unknown option", "fifo:misfits=skip", NULL, NULL, ERR_USAGE, "misfit" },
	{ "a value out of range", "tiresias:queues=99", NULL, NULL, ERR_USAGE, "queues" },
	{ "an option of a placer", NULL, "consolidate:strict=2", NULL, ERR_USAGE, "strict" },
	{ "a placer without options", NULL, "random:x=1", NULL, ERR_USAGE, "x" },
	{ "options that do not go together", "tiresias:limits=9/1", NULL, NULL, ERR_USAGE,
		"policy tiresias: limits" },
	{ "a history that is not there", "gittins:history=/nowhere", NULL, NULL, ERR_MISSING,
		"policy gittins: history: " },
	{ "a name longer than any",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		NULL, NULL, ERR_MISSING, "there is no policy" },
};

static void rules_are_chosen_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome out = { .njobs = 77 };
		struct err err = { 0 };
		struct scene s;
		int rc;

		scene_init(&s, "1x1");
		scene_job(&s, 0, 1, 1);
		s.config.policy = rows[i].policy;
		s.config.placer = rows[i].placer;
		s.config.admit = rows[i].admit;
		rc = scene_try(&s, &out, &err);
		if (rc != rows[i].code || (rows[i].text && !strstr(err.text, rows[i].text)))
			fail_msg("%s: %d '%s'", rows[i].what, rc, err.text);
		if (rc == 0)
			outcome_fini(&out);
		else
			assert_int_equal(out.njobs, 77); /* untouched */
		scene_fini(&s);
	}
}

static void no_jobs_are_no_trouble(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "4x4");
	s.config.policy = "srtf";
	scene_run(&s, &out);
	assert_int_equal(out.njobs, 0);
	assert_int_equal(out.gpus, 16);
	assert_true(out.busy_gpu_s == 0);
	outcome_fini(&out);
	scene_fini(&s);
}

static void a_trace_without_run_times_is_refused(void **state)
{
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 1);
	scene_job(&s, 1, 1, NAN)->label = "seven";
	scene_job(&s, 2, 1, NAN);
	assert_int_equal(scene_try(&s, &out, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "2 of 3 jobs have no run time (the first is job seven)"));
	scene_fini(&s);
}

/* ---- truth and belief */

/* What was believed of each job's run time, from the outcome. */
static void believed(struct scene *s, double error, bool oracle, uint64_t seed, double *out)
{
	struct outcome outcome;

	s->config.error = error;
	s->config.oracle = oracle;
	s->config.seed = seed;
	s->config.policy = "fifo";
	scene_run(s, &outcome);
	for (uint32_t i = 0; i < outcome.njobs; i++) {
		out[i] = outcome.jobs[i].work_est;
		assert_true(outcome.jobs[i].finish_s - outcome.jobs[i].start_s == 10); /* the truth stands */
	}
	outcome_fini(&outcome);
}

enum { MANY = 4000 };

static void errors_are_noise_around_the_truth(void **state)
{
	static double a[MANY], b[MANY], c[MANY];
	double mean = 0, square = 0;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	for (int i = 0; i < MANY; i++)
		scene_job(&s, 10 * i, 1, 10);
	believed(&s, 0.3, false, 1, a);
	believed(&s, 0.3, false, 1, b);
	believed(&s, 0.3, false, 2, c);
	assert_memory_equal(a, b, sizeof(a)); /* the seed decides */
	assert_memory_not_equal(a, c, sizeof(a));
	for (int i = 0; i < MANY; i++) {
		assert_true(a[i] > 0);
		mean += a[i] / MANY;
	}
	for (int i = 0; i < MANY; i++)
		square += pow(log(a[i] / 10), 2) / MANY;
	assert_true(fabs(mean - 10) < 0.2);
	assert_true(fabs(sqrt(square) - 0.3) < 0.03);
	believed(&s, 0, false, 1, a);
	for (int i = 0; i < MANY; i++)
		assert_true(a[i] == 10);
	believed(&s, 0.3, true, 1, a); /* an oracle makes no errors */
	for (int i = 0; i < MANY; i++)
		assert_true(a[i] == 10);
	scene_fini(&s);
}

static void estimates_of_the_trace_are_believed(void **state)
{
	double est[2];
	struct scene s;

	(void)state;
	scene_init(&s, "1x2");
	scene_job(&s, 0, 1, 10)->work_est = 99;
	scene_job(&s, 0, 1, 10);
	believed(&s, 0, false, 1, est);
	assert_true(est[0] == 99 && est[1] == 10);
	believed(&s, 0, true, 1, est);
	assert_true(est[0] == 10 && est[1] == 10);
	scene_fini(&s);
}

/* A job in steps runs as fast as the profile says; what it takes as asked is believed likewise. */
static void steps_and_speeds(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2:v100,1x2:p100");
	scene_job(&s, 0, 2, 1000)->by_steps = true;
	s.trace.jobs[0].model = names_add(&s.trace.models, "m", 1);
	s.profile = profile_create(&s.cluster, &s.trace.models);
	profile_add(s.profile, 0, 0, 2, 0, 10); /* two v100: 10 steps a second */
	profile_add(s.profile, 0, 1, 2, 0, 4);
	s.config.truth = s.profile;
	s.config.policy = "fifo";
	scene_run(&s, &out);
	assert_true(out.jobs[0].nominal_rate == 10);
	assert_true(out.jobs[0].finish_s == 100);
	outcome_fini(&out);
	scene_fini(&s);
}

static void a_job_placed_where_it_cannot_run_is_an_error(void **state)
{
	struct profile *belief;
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x1:v100");
	scene_job(&s, 0, 1, 10)->by_steps = true;
	s.trace.jobs[0].model = names_add(&s.trace.models, "m", 1);
	s.profile = profile_create(&s.cluster, &s.trace.models);
	belief = profile_create(&s.cluster, &s.trace.models);
	profile_add(s.profile, 0, 0, 1, 0, 0);
	profile_add(belief, 0, 0, 1, 0, 5);
	s.config.truth = s.profile;
	s.config.belief = belief;
	assert_int_equal(scene_try(&s, &out, &err), ERR_BROKEN);
	assert_non_null(strstr(err.text, "job 0: it cannot run on 1 x v100"));
	profile_destroy(belief);
	scene_fini(&s);
}

/* Types are named in the trace and numbered in the cluster; as many as a job can name. */
static void many_types(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x1:t31,1x1:t3");
	for (int i = 0; i < 32; i++) {
		char name[8];
		int n = snprintf(name, sizeof(name), "t%d", i);

		names_add(&s.trace.types, name, (size_t)n);
		scene_job(&s, i, 1, 1)->types = UINT32_C(1) << i;
	}
	s.config.policy = "fifo";
	scene_run(&s, &out);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(out.jobs[i].state, i == 3 || i == 31 ? JOB_FINISHED : JOB_REJECTED);
	outcome_fini(&out);
	scene_fini(&s);
}

struct ends {
	uint32_t jobs[8], n;
};

static void see_end(void *self, const struct event *event, const struct job *job)
{
	struct ends *ends = self;

	(void)job;
	if (event->kind == EV_FINISH)
		ends->jobs[ends->n++] = event->job;
}

/* The first is stopped at 5 and back at 10; it ends with the second, which had its devices before. */
static void ends_at_one_instant_come_in_order_of_start(void **state)
{
	struct ends ends = { 0 };
	struct observer observer = { .self = &ends, .see = see_end };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x2");
	scene_job(&s, 0, 1, 20);
	scene_job(&s, 0, 1, 25)->priority = 1;
	scene_job(&s, 5, 1, 5)->priority = 2;
	s.config.policy = "priority:preempt=1";
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	assert_true(out.jobs[0].finish_s == 25 && out.jobs[1].finish_s == 25);
	assert_int_equal(ends.n, 3);
	assert_int_equal(ends.jobs[0], 2);
	assert_int_equal(ends.jobs[1], 1);
	assert_int_equal(ends.jobs[2], 0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- failures from a file */

static char *write_text(const char *text)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_printf("%s/stint-sim-%ld.csv", dir ? dir : "/tmp", (long)getpid());
	struct err err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	return path;
}

static const struct {
	const char *what, *text;
	uint32_t failures;
	double finish_s;
	const char *error;
} files[] = {
	{ "by number", "50,0,down\n80,0,up\n", 1, 180, NULL },
	{ "by name", "50,n0,down\n80,n0,up\n", 1, 180, NULL },
	{ "with a heading and comments",
		"time_s,node,what\n# a bad day\n\n 50 , n0 , down \n80,n0,up\n", 1, 180, NULL },
	{ "not in order", "80,0,up\n50,0,down\n", 1, 180, NULL },
	{ "with units", "1m,0,down\n2m,0,up\n", 1, 220, NULL },
	{ "down twice is down once", "50,0,down\n60,0,down\n80,0,up\n90,0,up\n", 1, 180, NULL },
	{ "two nodes at once", "50,1,down\n50,0,down\n80,0,up\n80,1,up\n", 2, 180, NULL },
	{ "nothing in it", "", 0, 100, NULL },
	{ "after the end", "500,0,down\n", 0, 100, NULL },
	{ "no such node", "50,n7,down\n", 0, 0, ":1: there is no node 'n7'" },
	{ "no such number", "50,0,down\n60,4,up\n", 0, 0, ":2: there is no node '4'" },
	{ "no time", "soon,0,down\n", 0, 0, ":1: 'soon' is not a time" },
	{ "before the beginning", "-5,0,down\n", 0, 0, ":1: '-5' is not a time" },
	{ "neither up nor down", "50,0,sideways\n", 0, 0, ":1: 'sideways' is neither up nor down" },
	{ "too few fields", "50,0\n", 0, 0, ":1: '' is neither up nor down" },
};

static void failures_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = write_text(files[i].text);
		struct outcome out;
		struct err err = { 0 };
		struct scene s;
		int rc;

		scene_init(&s, "2x1");
		scene_job(&s, 0, 2, 100);
		s.config.failures.file = path;
		rc = scene_try(&s, &out, &err);
		if (files[i].error) {
			if (rc != ERR_FORMAT || !strstr(err.text, files[i].error))
				fail_msg("%s: %s", files[i].what, err.text);
		} else {
			if (rc < 0 || out.node_failures != files[i].failures ||
				out.jobs[0].finish_s != files[i].finish_s)
				fail_msg("%s: %u failures, finished at %g", files[i].what,
					out.node_failures, out.jobs[0].finish_s);
			outcome_fini(&out);
		}
		scene_fini(&s);
		unlink(path);
		free(path);
	}
}

static void a_missing_file_of_failures(void **state)
{
	struct outcome out;
	struct err err = { 0 };
	struct scene s;

	(void)state;
	scene_init(&s, "1x1");
	s.config.failures.file = "/nowhere/failures.csv";
	assert_int_equal(scene_try(&s, &out, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "/nowhere/failures.csv"));
	scene_fini(&s);
}

/* ---- failures drawn */

static uint32_t count_failures(uint64_t seed, double *up_gpu_s, uint64_t *hash)
{
	struct outcome out;
	uint32_t failures;
	struct scene s;

	scene_init(&s, "20x1");
	scene_job(&s, 0, 1, 1e5)->checkpoint_every_s = 10;
	s.config.policy = "fifo";
	s.config.seed = seed;
	s.config.failures = (struct failures){ .mtbf_s = 900, .repair_s = 100 };
	s.config.until_s = 1e5;
	scene_run(&s, &out);
	failures = out.node_failures;
	*up_gpu_s = out.up_gpu_s;
	*hash = out.event_hash;
	outcome_fini(&out);
	scene_fini(&s);
	return failures;
}

/* 20 nodes for 1e5 s, up 900 and down 100 s on average: 2000 failures, up nine tenths of the time. */
static void drawn_failures_come_as_often_as_told(void **state)
{
	double up, again;
	uint64_t a, b, c;
	uint32_t failures = count_failures(1, &up, &a);

	(void)state;
	assert_in_range(failures, 1850, 2150);
	assert_true(up > 0.88 * 20 * 1e5 && up < 0.92 * 20 * 1e5);
	assert_int_equal(count_failures(1, &again, &b), failures);
	assert_true(a == b && up == again);
	count_failures(2, &again, &c);
	assert_true(a != c);
}

/* A file counts alone: a node must not fail by both. */
static void a_file_and_a_rate_do_not_mix(void **state)
{
	char *path = write_text("50,0,down\n80,0,up\n");
	struct observer observer;
	struct referee referee;
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x1");
	scene_job(&s, 0, 1, 1000)->checkpoint_every_s = 1;
	scene_job(&s, 0, 1, 1000)->checkpoint_every_s = 1;
	scene_ready(&s);
	referee_init(&referee, &s.cluster, &s.trace);
	observer = referee_observer(&referee);
	s.config.policy = "fifo";
	s.config.observers = &observer;
	s.config.nobservers = 1;
	s.config.failures = (struct failures){ .mtbf_s = 60, .repair_s = 30, .file = path };
	scene_run(&s, &out);
	referee_end(&referee, &out);
	if (referee.breach[0])
		fail_msg("%s", referee.breach);
	assert_int_equal(out.node_failures, 1);
	referee_fini(&referee);
	outcome_fini(&out);
	scene_fini(&s);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_chosen_by_name),
		cmocka_unit_test(no_jobs_are_no_trouble),
		cmocka_unit_test(a_trace_without_run_times_is_refused),
		cmocka_unit_test(errors_are_noise_around_the_truth),
		cmocka_unit_test(estimates_of_the_trace_are_believed),
		cmocka_unit_test(steps_and_speeds),
		cmocka_unit_test(a_job_placed_where_it_cannot_run_is_an_error),
		cmocka_unit_test(many_types),
		cmocka_unit_test(ends_at_one_instant_come_in_order_of_start),
		cmocka_unit_test(failures_are_read),
		cmocka_unit_test(a_missing_file_of_failures),
		cmocka_unit_test(drawn_failures_come_as_often_as_told),
		cmocka_unit_test(a_file_and_a_rate_do_not_mix),
	};

	return cmocka_run_group_tests_name("sim/sim", tests, NULL, NULL);
}
