/*
 * Jobs led by the trainer: epochs, whole seconds, restarts, batches; and that
 * failures and dependencies are what they are for any other job.
 *
 * One model: one sample takes 0.1 s on a device, any number of devices as long;
 * initial batch 10, two epochs.
 */
#include "sim/trainer.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"
#include "support/scene.h"

enum { MODEL, JOB = 0 };

struct room {
	struct cluster cluster;
	struct names models;
	struct training *training;
	struct agents *agents;
	struct trainer *trainer;
	struct job job;
	struct action action;
};

static void add_passes(struct training *training)
{
	static const uint16_t lays[][2] = { { 1 }, { 2 }, { 1, 1 }, { 2, 2 }, { 4 } };
	static const uint32_t nodes[] = { 1, 1, 2, 2, 1 };

	for (size_t i = 0; i < COUNT(nodes); i++) {
		for (double batch = 5; batch <= 20; batch += 5)
			training_add_pass(training, MODEL, 0, (struct lay){ lays[i], nodes[i] }, batch,
				(struct pass){ .step_s = batch / 10 + (i > 0) * 0.1,
					.sync_s = (i > 0) * 0.1 });
	}
}

/* Two epochs of so much progress each; noise is the variance of its gradient. */
static struct training *train(const struct cluster *cluster, const struct names *models,
	double first, double second, double noise)
{
	struct training *training = training_create(cluster, models);
	struct training_model *model = training_add_model(training, MODEL);

	model->initial_batch = 10;
	model->max_batch = 80;
	model->epochs = 2;
	model->restart_s = 5;
	model->restart_believed_s = 7;
	model->slowdown = 2;
	add_passes(training);
	for (double batch = 10; batch <= 80; batch *= 2) {
		struct gradient gradient = { .sqr = 1, .var = noise };

		training_add_epoch(training, MODEL, batch,
			(struct training_epoch){ first, first, gradient });
		training_add_epoch(training, MODEL, batch,
			(struct training_epoch){ first + second, first + second, gradient });
	}
	training_finish(training);
	return training;
}

static void room_init_noisy(struct room *r, enum compat compat, double first, double second, double noise)
{
	struct err err = { 0 };

	*r = (struct room){ 0 };
	assert_int_equal(cluster_parse("3x4:t4", &r->cluster, &err), 0);
	names_add(&r->models, "thing", 5);
	r->training = train(&r->cluster, &r->models, first, second, noise);
	r->agents = agents_create(1, (struct agents_options){ 0 });
	r->trainer = trainer_create(&(struct trainer_config){
		.training = r->training,
		.cluster = &r->cluster,
		.agents = r->agents,
		.compat = compat,
		.round_s = 60,
		.start_s = NAN,
		.resume_s = NAN,
		.resize_s = NAN,
	});
	job_init(&r->job);
	r->job.id = JOB;
	r->job.label = "one";
	r->job.model = MODEL;
	r->job.gpus = r->job.min_gpus = r->job.max_gpus = 1;
	assert_true(trainer_pace.leads(r->trainer, &r->job));
	assert_true(trainer_pace.enter(r->trainer, &r->job) == first + second);
}

static void room_init(struct room *r, enum compat compat, double first, double second)
{
	room_init_noisy(r, compat, first, second, 1);
}

static void room_fini(struct room *r)
{
	free((void *)r->action.grant);
	trainer_destroy(r->trainer);
	agents_destroy(r->agents);
	training_destroy(r->training);
	names_fini(&r->models);
	cluster_fini(&r->cluster);
}

/* Devices 0.. of each node named: "0:2 1:1" is two of node 0 and one of node 1. */
static struct grant *devices(const char *text, uint32_t batch)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + 4 * sizeof(struct slot));
	unsigned node, n;
	int used;

	grant->batch = batch;
	for (; sscanf(text, "%u:%u%n", &node, &n, &used) == 2; text += used) {
		grant->slots[grant->nslots++] = (struct slot){ node, (UINT64_C(1) << n) - 1 };
		grant->gpus += n;
	}
	return grant;
}

/* Gives it devices at `now_s` as the world does; returns what it costs. */
static double give(struct room *r, enum act act, double now_s, const char *text, uint32_t batch,
	struct stretch *out)
{
	struct grant *before = (struct grant *)r->action.grant;
	struct err err = { 0 };
	double cost_s;

	r->job.grant = act == ACT_START ? NULL : before;
	if (r->job.grant)
		r->job.done = trainer_pace.stop(r->trainer, &r->job, now_s);
	r->action = (struct action){
		.act = act,
		.now_s = now_s,
		.job = &r->job,
		.grant = devices(text, batch),
	};
	cost_s = trainer_pace.cost_s(r->trainer, &r->action);
	r->action.ready_s = now_s + fmax(0, cost_s);
	if (trainer_pace.begin(r->trainer, &r->action, out, &err) < 0)
		fail_msg("%s", err.text);
	free(before);
	return cost_s;
}

static struct stretch next(struct room *r, double now_s)
{
	struct job job = r->job;
	struct stretch out = { 0 };
	struct err err = { 0 };

	job.grant = r->action.grant;
	if (trainer_pace.next(r->trainer, &job, now_s, &out, &err) < 0)
		fail_msg("%s", err.text);
	return out;
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void epochs_follow_each_other(void **state)
{
	struct room r;
	struct stretch s;

	(void)state;
	room_init(&r, COMPAT_NONE, 100, 50.5);
	assert_near(r.job.nominal_rate, 0.5); /* a step a second, slowed down to half */
	assert_near(r.job.resume_cost_s, 7);
	assert_near(give(&r, ACT_START, 3, "0:1", 10, &s), 5);
	assert_true(s.rate == 0 && s.until_s == 8 && !s.last);
	s = next(&r, 8);
	assert_near(s.rate, 0.5);
	assert_near(s.until_s, 208);
	assert_near(s.efficiency, 1);
	assert_false(s.last);
	s = next(&r, 208);
	assert_near(s.done, 100);
	assert_near(s.until_s, 309);
	assert_true(s.last && !s.late);
	room_fini(&r);
}

/* Twice the batch on two devices: 4/3 of the progress of a step that takes 1.1 s. */
static void a_larger_batch_is_worth_less(void **state)
{
	struct room r;
	struct stretch s;

	(void)state;
	room_init(&r, COMPAT_OSDI21, 100, 100);
	give(&r, ACT_START, 60, "0:2", 20, &s);
	s = next(&r, 90);
	assert_near(s.rate, 4.0 / 3 / 1.1);
	assert_near(s.efficiency, 2.0 / 3);
	room_fini(&r);
}

/* An epoch that ends with a round is seen by its decision only if it is over before it is rounded. */
static void whole_seconds(void **state)
{
	static const struct {
		double epoch, until_s;
		bool late;
	} rows[] = {
		{ 89.6, 180, false },
		{ 90.4, 180, true },
		{ 100.5, 190, false }, /* half to even */
		{ 101.5, 192, false },
	};
	struct room r;
	struct stretch s;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		room_init(&r, COMPAT_OSDI21, rows[i].epoch, 10);
		assert_near(give(&r, ACT_START, 60, "0:1", 10, &s), 30);
		s = next(&r, 90);
		assert_true(s.until_s == rows[i].until_s && s.late == rows[i].late);
		s = next(&r, s.until_s);
		assert_true(s.done == rows[i].epoch);
		if (rows[i].until_s == 180 && !rows[i].late) {
			assert_true(s.until_s == 180 && s.late && !s.last); /* waits for the decision */
			s = next(&r, 180);
		}
		assert_true(s.last && s.until_s == rows[i].until_s + 10);
		room_fini(&r);
	}
}

/* A decision between: what is not over yet is not lost, nor finished. */
static void stopped_at_the_end_of_a_round(void **state)
{
	struct room r;
	struct stretch s;

	(void)state;
	room_init(&r, COMPAT_OSDI21, 90.4, 10);
	give(&r, ACT_START, 60, "0:1", 10, &s);
	next(&r, 90);
	assert_near(give(&r, ACT_CHANGE, 180, "1:1", 10, &s), 30);
	assert_near(s.done, 90);
	s = next(&r, 210);
	assert_true(s.until_s == 210 && !s.last); /* the rest of the epoch is rounded to nothing */
	s = next(&r, 210);
	assert_true(s.until_s == 220 && s.last);
	room_fini(&r);
}

static void restarts(void **state)
{
	static const struct {
		const char *what;
		enum compat compat;
		const char *from, *to;
		double cost_s; /* -1: it does not notice */
	} rows[] = {
		{ "another node", COMPAT_OSDI21, "0:1", "1:1", 30 },
		{ "the same nodes", COMPAT_OSDI21, "0:2", "0:2", -1 },
		{ "the same nodes in another order", COMPAT_OSDI21, "0:1 1:1", "1:1 0:1", 30 },
		{ "equal shape elsewhere", COMPAT_SIA, "0:2", "1:2", -1 },
		{ "more of them", COMPAT_SIA, "0:1", "0:2", 5 },
		{ "as many, apart", COMPAT_SIA, "0:2", "0:1 1:1", 5 },
		{ "equal shape elsewhere", COMPAT_NONE, "0:2", "1:2", 5 },
	};
	struct room r;
	struct stretch s;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		room_init(&r, rows[i].compat, 1000, 1000);
		give(&r, ACT_START, 60, rows[i].from, 20, &s);
		if (give(&r, ACT_CHANGE, 240, rows[i].to, 20, &s) != rows[i].cost_s)
			fail_msg("%s", rows[i].what);
		room_fini(&r);
	}
}

static void thrown_back(void **state)
{
	struct room r;
	struct stretch s;

	(void)state;
	room_init(&r, COMPAT_NONE, 10, 10);
	give(&r, ACT_START, 0, "0:1", 10, &s);
	next(&r, 5);
	s = next(&r, 25);
	assert_near(s.done, 10);
	assert_near(trainer_pace.stop(r.trainer, &r.job, 27), 11);
	r.job.done = 4; /* a node failed, and that was all it had saved */
	r.job.failures = 1;
	give(&r, ACT_START, 27, "0:1", 10, &s);
	s = next(&r, 32);
	assert_near(s.done, 4);
	assert_near(s.until_s, 32 + 12);
	assert_false(s.last);
	room_fini(&r);
}

/* Its agent chooses as soon as it has seen a step; what it chose counts from the next round on. */
static void tuned_batches(void **state)
{
	struct room r;
	struct stretch first, s;

	(void)state;
	room_init_noisy(&r, COMPAT_OSDI21, 1000, 1000, 100);
	give(&r, ACT_START, 60, "0:4", BATCH_TUNED, &s);
	assert_int_equal(agents_most(r.agents, JOB, 0), 0); /* nothing is seen while it is restored */
	first = next(&r, 90);
	assert_int_equal(agents_most(r.agents, JOB, 0), 4);
	assert_near(first.efficiency, 101.0 / (50 + 1) / 2); /* 20: at least five for each */
	assert_true(first.until_s == 120 && first.late);
	s = next(&r, 120);
	assert_true(s.efficiency < first.efficiency && s.rate > first.rate);
	room_fini(&r);
}

/* ---- in a whole run */

static void scene_train(struct scene *s, struct training **training)
{
	names_add(&s->trace.models, "thing", 5);
	for (int i = 0; i < 2; i++) {
		struct job *job = scene_job(s, 0, 1, NAN);

		job->model = MODEL;
		job->batch = 10;
		job->by_steps = true;
	}
	trace_add_dep(&s->trace, 1, 0);
	scene_ready(s);
	*training = train(&s->cluster, &s->trace.models, 100, 100, 1);
	s->config.training = *training;
}

static void failures_and_dependencies(void **state)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_printf("%s/stint-trainer-%ld.csv", dir ? dir : "/tmp", (long)getpid());
	FILE *file = fopen(path, "w");
	struct training *training;
	struct scene s;
	struct outcome out;

	(void)state;
	assert_non_null(file);
	fputs("305,0,down\n310,0,up\n", file);
	fclose(file);
	scene_init(&s, "1x1:t4");
	scene_train(&s, &training);
	s.config.failures.file = path;
	scene_run(&s, &out);
	/* 5 s to start, 300 s of 400 lost with the node; the other begins when it has ended. */
	assert_near(out.jobs[0].finish_s, 310 + 5 + 400);
	assert_near(out.jobs[0].lost_s, 300);
	assert_near(out.jobs[0].done, 200);
	assert_int_equal(out.jobs[0].restarts, 1);
	assert_near(out.jobs[0].eff_s, 700);
	assert_near(out.jobs[0].occupied_s, 305 + 405);
	assert_near(out.jobs[1].start_s, 715);
	assert_near(out.jobs[1].finish_s, 715 + 405);
	outcome_fini(&out);
	training_destroy(training);
	scene_fini(&s);
	remove(path);
	free(path);
}

static void work_of_unknown_models_is_missing(void **state)
{
	struct training *training;
	struct scene s;
	struct outcome out;
	struct err err = { 0 };

	(void)state;
	scene_init(&s, "1x1:t4");
	scene_train(&s, &training);
	s.trace.jobs[1].model = NAME_NONE;
	assert_true(scene_try(&s, &out, &err) < 0);
	assert_non_null(strstr(err.text, "1 of 2 jobs have no run time"));
	assert_non_null(strstr(err.text, "--profiles"));
	training_destroy(training);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epochs_follow_each_other),
		cmocka_unit_test(a_larger_batch_is_worth_less),
		cmocka_unit_test(whole_seconds),
		cmocka_unit_test(stopped_at_the_end_of_a_round),
		cmocka_unit_test(restarts),
		cmocka_unit_test(thrown_back),
		cmocka_unit_test(tuned_batches),
		cmocka_unit_test(failures_and_dependencies),
		cmocka_unit_test(work_of_unknown_models_is_missing),
	};

	return cmocka_run_group_tests_name("sim/trainer", tests, NULL, NULL);
}
