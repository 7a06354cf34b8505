/*
 * A Slurm that is looked at, with the core that follows: what is told, what the core
 * makes of it, and that nothing is ever ordered.
 */
#include "live/slurm/observer.h"

#include <unistd.h>

#include "../play.h"
#include "still_slurm.h"

struct news {
	const char *kind;
	uint32_t job, attempt;
	json_t *body;
};

struct came {
	char key[80];
	int gpus;
	bool answered;
	uint32_t job;
};

/* One run of the world below, as it was and as it was told. */
struct truth {
	double begun_s;
	bool seen;
	uint32_t begun, ended;
};

struct table {
	struct still slurm;
	struct play play;
	struct hands *hands;
	char dir[64];
	const char *partition;
	VEC(struct news) news;
	VEC(struct came) came;
	VEC(struct truth) runs;
	size_t carried; /* rows of the play that were carried out */
	struct buf log, said;
	bool refuses, silent; /* the daemon takes nothing in, or does not answer */
	bool busy;            /* it does not launch */
};

/* ---- the daemon */

static void on_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s)
{
	struct table *t = ctx;
	json_t *body = json_pack("{s:f,s:f}", "at", at_s, "at_s", at_s - 1e9);

	buf_printf(&t->log, "begun %u.%u at %g; ", job, attempt, at_s - 1e9);
	vec_push(&t->news, (struct news){ "begun", job, attempt, body });
}

static void on_ended(void *ctx, const struct ending *e)
{
	struct table *t = ctx;
	json_t *body = json_pack("{s:b,s:i,s:i,s:b,s:b,s:b,s:b,s:f,s:f}", "known", e->known, "code",
		e->code, "signal", e->signal, "asked", e->asked, "timed_out", e->timed_out,
		"bounced", e->bounced, "node_failed", e->node_failed, "begun", e->begun_s, "ran_s",
		e->begun_s > 0 ? e->ended_s - e->begun_s : 0);

	buf_printf(&t->log, "ended %u.%u%s%s%s%s%s", e->job, e->attempt, e->known ? "" : " unknown",
		e->bounced ? " bounced" : "", e->timed_out ? " timed out" : "",
		e->node_failed ? " node failed" : "", e->asked ? " asked" : "");
	if (e->known && !e->bounced)
		buf_printf(&t->log, " code %d signal %d at %g", e->code, e->signal, e->ended_s - 1e9);
	buf_str(&t->log, "; ");
	vec_push(&t->news, (struct news){ "exit", e->job, e->attempt, body });
}

static void on_told(void *ctx, const char *input, uint32_t job, json_t *body)
{
	struct table *t = ctx;
	char *text = json_dumps(body, JSON_COMPACT);

	buf_printf(&t->log, "%s %u %s; ", input, job, text);
	free(text);
	vec_push(&t->news, (struct news){ input, job, 0, body });
}

static void on_arrived(void *ctx, const struct arrival *a)
{
	struct table *t = ctx;
	struct came came = { 0 };
	struct submission what;
	struct err err = { 0 };

	assert_int_equal(submission_from_json(&what, a->submission, &err), 0);
	assert_int_equal(submission_check(&what, &err), 0);
	assert_true(what.requeue);
	snprintf(came.key, sizeof(came.key), "%s", a->key);
	came.gpus = what.gpus;
	buf_printf(&t->log, "arrived %s %d%s%s of %s; ", a->key, what.gpus, what.types ? " " : "",
		what.types ? what.types : "", a->tenant);
	submission_fini(&what);
	vec_push(&t->came, came);
}

static void on_say(void *ctx, int level, const char *text)
{
	struct table *t = ctx;

	(void)level;
	buf_printf(&t->said, "%s; ", text);
}

static void open_hands(struct table *t)
{
	struct hands_config config = {
		.state_dir = t->dir,
		.ctx = t,
		.begun = on_begun,
		.ended = on_ended,
		.arrived = on_arrived,
		.told = on_told,
		.say = on_say,
	};
	struct slurm_options options = {
		.partition = t->partition,
		.poll_s = 1,
		.patience_s = 600,
		.now_s = still_clock,
	};
	struct err err = { 0 };

	assert_int_equal(slurm_observer_open_on(&config, &options, &still_transport, &t->slurm,
				 &t->hands, &err),
		0);
}

static void set_up(struct table *t)
{
	*t = (struct table){ 0 };
	still_now_s = 1e9;
	snprintf(t->dir, sizeof(t->dir), "/tmp/observer-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	still_init(&t->slurm);
	play_open(&t->play, "2x2", "observed");
	open_hands(t);
	hands_expected_all(t->hands);
}

static void remove_dir(const char *dir)
{
	char *command = mem_printf("rm -rf '%s'", dir);

	assert_int_equal(system(command), 0);
	free(command);
}

/* Whatever happened: Slurm was asked and never told. */
static void tear_down(struct table *t)
{
	static const char *const may[] = { "hello", "partitions", "nodes", "jobs" };

	for (size_t i = 0; i < t->slurm.nops; i++) {
		bool fine = false;

		for (size_t k = 0; k < COUNT(may); k++)
			fine |= !strcmp(t->slurm.ops[i], may[k]);
		assert_true(fine);
	}
	hands_close(t->hands);
	play_close(&t->play);
	still_fini(&t->slurm);
	for (size_t i = 0; i < t->news.n; i++)
		json_decref(t->news.at[i].body);
	vec_fini(&t->news);
	vec_fini(&t->came);
	vec_fini(&t->runs);
	buf_fini(&t->log);
	buf_fini(&t->said);
	remove_dir(t->dir);
}

static struct truth *truth_at(struct table *t, double begun_s)
{
	for (size_t i = 0; i < t->runs.n; i++) {
		if (t->runs.at[i].begun_s == begun_s)
			return &t->runs.at[i];
	}
	return NULL;
}

static void count(struct table *t, const struct news *news)
{
	struct truth *of;

	if (!strcmp(news->kind, "begun") && (of = truth_at(t, member_number(news->body, "at", 0))))
		of->begun++;
	if (!strcmp(news->kind, "exit") && !member_bool(news->body, "bounced", false) &&
		(of = truth_at(t, member_number(news->body, "begun", 0))))
		of->ended++;
}

/* No two cycles are of the same moment: the record could not tell them apart. */
static double next_moment(const struct table *t)
{
	return fmax(still_now_s - 1e9, t->play.now_s + 1e-3);
}

static void apply_news(struct table *t)
{
	play_begin(&t->play, next_moment(t));
	for (size_t i = 0; i < t->news.n; i++) {
		struct news *news = &t->news.at[i];
		char *text = json_dumps(news->body, JSON_COMPACT);

		if (play_try(&t->play, news->kind, news->job, news->attempt, text) == 0)
			count(t, news);
		free(text);
		json_decref(news->body);
	}
	t->news.n = 0;
	play_end(&t->play);
}

static uint32_t job_of_key(const struct table *t, const char *key)
{
	for (size_t i = 0; i < t->came.n; i++) {
		if (t->came.at[i].job && !strcmp(t->came.at[i].key, key))
			return t->came.at[i].job;
	}
	return 0;
}

static void answer_arrivals(struct table *t)
{
	for (size_t i = 0; i < t->came.n && !t->silent; i++) {
		struct came *came = &t->came.at[i];
		uint32_t known = job_of_key(t, came->key);

		if (came->answered)
			continue;
		came->answered = true;
		if (!t->refuses)
			came->job = known ? known
					  : play_submit(&t->play, next_moment(t),
						    (struct ask){ .gpus = came->gpus });
		hands_taken(t->hands, came->key, came->job, "no room");
	}
}

static void carry_out(struct table *t)
{
	struct err err = { 0 };

	for (; t->carried < t->play.rows.n && !t->busy; t->carried++) {
		const struct play_row *row = &t->play.rows.at[t->carried];
		struct launch launch = { .job = row->job, .attempt = row->attempt };

		if (!strcmp(row->kind, "launch")) {
			assert_int_equal(hands_make_dir(t->hands, row->job, row->attempt, &err), 0);
			assert_int_equal(hands_launch(t->hands, &launch, &err), 0);
		} else if (!strcmp(row->kind, "stop")) {
			assert_int_equal(hands_stop(t->hands, row->job, row->attempt, false, &err), 0);
		} else if (!strcmp(row->kind, "end")) {
			hands_forget(t->hands, row->job);
		}
	}
}

static void cycle(struct table *t)
{
	struct err err = { 0 };

	assert_int_equal(hands_poll(t->hands, &err), 0);
	answer_arrivals(t);
	apply_news(t);
	carry_out(t);
}

/* Seconds go by, and everybody hears of everything. */
static void pass(struct table *t, double seconds)
{
	still_now_s += seconds;
	for (int i = 0; i < 4; i++)
		cycle(t);
}

/* The log since the last time it was looked at. */
static void says(struct table *t, const char *want)
{
	assert_string_equal(t->log.n ? t->log.at : "", want);
	buf_clear(&t->log);
}

static void quiet(struct table *t)
{
	buf_clear(&t->log);
	buf_clear(&t->said);
}

/* ---- one job */

static void it_comes_waits_runs_and_completes(void **state)
{
	struct table t;
	char *text;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"gpus\":2,\"gpu_type\":\"v100\"}");
	still_job(&t.slurm, "8", "{\"gpus\":0}");
	pass(&t, 1);
	says(&t, "arrived slurm:7@1000000000 2 v100 of nlp; observed 1 {\"reason\":\"Priority\"}; ");
	play_state(&t.play, 1, "PENDING");
	pass(&t, 1);
	says(&t, "");
	still_change(&t.slurm, "7", "{\"reason\":\"Resources\"}");
	pass(&t, 1);
	says(&t, "observed 1 {\"reason\":\"Resources\"}; ");
	still_change(&t.slurm, "7", "{\"reason\":\"None\"}");
	pass(&t, 1);
	says(&t, "");
	still_change(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000004,\"on\":[[\"n1\",2]]}");
	pass(&t, 1);
	says(&t, "observed 1 {\"on\":[[\"n1\",2]],\"reason\":null}; begun 1.1 at 4; ");
	play_state(&t.play, 1, "RUNNING");
	assert_int_equal(hands_running(t.hands), 1);
	text = hands_alias(t.hands, 1);
	assert_string_equal(text, "7");
	free(text);
	text = hands_output(t.hands, 1, 1, false);
	assert_string_equal(text, "/home/ann/slurm.out");
	free(text);
	still_change(&t.slurm, "7", "{\"state\":\"COMPLETED\",\"completing\":true,\"end\":1000000006}");
	pass(&t, 2);
	says(&t, "");
	still_change(&t.slurm, "7", "{\"completing\":false,\"on\":[]}");
	pass(&t, 1);
	says(&t, "ended 1.1 code 0 signal 0 at 6; ");
	play_state(&t.play, 1, "COMPLETED");
	still_set(&t.slurm, "7", NULL);
	pass(&t, 1);
	says(&t, "");
	text = hands_output(t.hands, 1, 1, false);
	assert_string_equal(text, "/home/ann/slurm.out");
	free(text);
	assert_string_equal(t.said.n ? t.said.at : "", "");
	tear_down(&t);
}

static void states_that_jobs_end_in(void **state)
{
	static const struct {
		const char *how, *ended, *want;
	} rows[] = {
		{ "\"state\":\"COMPLETED\"", "ended 1.1 code 0 signal 0 at 9; ", "COMPLETED" },
		{ "\"state\":\"FAILED\",\"exit\":3", "ended 1.1 code 3 signal 0 at 9; ", "FAILED" },
		{ "\"state\":\"FAILED\"", "ended 1.1 code -1 signal 0 at 9; ", "FAILED" },
		{ "\"state\":\"FAILED\",\"exit\":85",
			"observed 1 {\"on\":[],\"reason\":null}; ended 1.1 asked code 85 signal 0 at 9; "
			"outside 1 {\"state\":\"FAILED\",\"code\":85,\"text\":\"\"}; ",
			"FAILED" },
		{ "\"state\":\"TIMEOUT\"", "ended 1.1 timed out code -1 signal 15 at 9; ", "TIMEOUT" },
		{ "\"state\":\"OUT_OF_MEMORY\"", "ended 1.1 code -1 signal 9 at 9; ", "FAILED" },
		{ "\"state\":\"CANCELLED\"",
			"cancel 1 {}; ended 1.1 asked code -1 signal 15 at 9; ", "CANCELLED" },
		{ "\"state\":\"NODE_FAIL\"",
			"observed 1 {\"on\":[],\"reason\":null}; ended 1.1 node failed asked code -1 signal 9 at 9; "
			"outside 1 {\"state\":\"NODE_FAIL\",\"code\":0,\"text\":\"its node failed\"}; ",
			"NODE_FAIL" },
		{ "\"state\":\"PREEMPTED\"",
			"observed 1 {\"on\":[],\"reason\":null}; ended 1.1 asked code -1 signal 15 at 9; "
			"outside 1 {\"state\":\"PREEMPTED\",\"code\":0,\"text\":\"Slurm preempted it\"}; ",
			"PREEMPTED" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct table t;
		char change[160];

		set_up(&t);
		still_job(&t.slurm, "7",
			"{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
		pass(&t, 2);
		quiet(&t);
		snprintf(change, sizeof(change), "{%s,\"end\":1000000009,\"on\":[]}", rows[i].how);
		still_change(&t.slurm, "7", change);
		pass(&t, 10);
		says(&t, rows[i].ended);
		play_state(&t.play, 1, rows[i].want);
		pass(&t, 10);
		says(&t, "");
		tear_down(&t);
	}
}

static void it_ends_before_it_is_launched(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	t.busy = true;
	pass(&t, 2);
	quiet(&t);
	still_change(&t.slurm, "7", "{\"state\":\"FAILED\",\"exit\":2,\"end\":1000000003,\"on\":[]}");
	pass(&t, 2);
	says(&t, "");
	t.busy = false;
	pass(&t, 1);
	says(&t, "begun 1.1 at 1; ended 1.1 code 2 signal 0 at 3; ");
	play_state(&t.play, 1, "FAILED");
	tear_down(&t);
}

static void a_short_one_is_seen_only_ended(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "6", "{\"state\":\"COMPLETED\",\"start\":999999990,\"end\":999999999}");
	pass(&t, 1);
	says(&t, "");
	still_job(&t.slurm, "7",
		"{\"state\":\"FAILED\",\"exit\":4,\"start\":1000000002,\"end\":1000000003}");
	pass(&t, 3);
	says(&t,
		"arrived slurm:7@1000000000 1 of nlp; outside 1 "
		"{\"state\":\"FAILED\",\"code\":4,\"text\":\"\"}; ");
	play_state(&t.play, 1, "FAILED");
	/* Seen while it is cleared away it is a run like others. */
	still_job(&t.slurm, "8",
		"{\"state\":\"COMPLETED\",\"completing\":true,\"start\":1000000005,\"end\":1000000006,"
		"\"on\":[[\"n0\",1]]}");
	pass(&t, 3);
	still_change(&t.slurm, "8", "{\"completing\":false,\"on\":[]}");
	pass(&t, 1);
	says(&t,
		"arrived slurm:8@1000000000 1 of nlp; observed 2 {\"on\":[[\"n0\",1]],\"reason\":null}; "
		"begun 2.1 at 5; ended 2.1 code 0 signal 0 at 6; ");
	tear_down(&t);
}

static void it_is_put_back_and_runs_again(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	pass(&t, 2);
	quiet(&t);
	/* Slurm dates it anew. */
	still_change(&t.slurm, "7",
		"{\"state\":\"PENDING\",\"completing\":true,\"submit\":1000000003,\"restarts\":1}");
	pass(&t, 2);
	says(&t, "");
	still_change(&t.slurm, "7", "{\"completing\":false,\"on\":[],\"reason\":\"BeginTime\"}");
	pass(&t, 1);
	says(&t, "observed 1 {\"on\":[],\"reason\":\"BeginTime\"}; ended 1.1 asked code -1 signal 15 at 5; ");
	play_state(&t.play, 1, "PENDING");
	still_change(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000006,\"on\":[[\"n1\",1]]}");
	pass(&t, 2);
	says(&t, "observed 1 {\"on\":[[\"n1\",1]],\"reason\":null}; begun 1.2 at 6; ");
	/* And once more between two looks. */
	still_change(&t.slurm, "7",
		"{\"restarts\":2,\"submit\":1000000008,\"start\":1000000009,\"on\":[[\"n0\",1]]}");
	pass(&t, 3);
	says(&t,
		"observed 1 {\"on\":[],\"reason\":null}; ended 1.2 asked code -1 signal 15 at 8; "
		"observed 1 {\"on\":[[\"n0\",1]],\"reason\":null}; begun 1.3 at 9; ");
	play_state(&t.play, 1, "RUNNING");
	tear_down(&t);
}

static void it_is_cancelled_while_it_waits(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"reason\":\"JobHeldUser\",\"held\":true}");
	pass(&t, 1);
	says(&t, "arrived slurm:7@1000000000 1 of nlp; observed 1 {\"reason\":\"JobHeldUser\"}; ");
	still_change(&t.slurm, "7",
		"{\"state\":\"CANCELLED\",\"start\":1000000002,\"end\":1000000002,\"reason\":\"None\"}");
	pass(&t, 1);
	says(&t, "outside 1 {\"state\":\"CANCELLED\",\"code\":0,\"text\":\"it was cancelled in Slurm\"}; ");
	play_state(&t.play, 1, "CANCELLED");
	tear_down(&t);
}

static void it_vanishes(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	still_job(&t.slurm, "8", "{}");
	pass(&t, 2);
	quiet(&t);
	still_set(&t.slurm, "7", NULL);
	still_set(&t.slurm, "8", NULL);
	pass(&t, 2);
	assert_non_null(strstr(t.log.at, "ended 1.1 unknown; "));
	play_state(&t.play, 1, "NODE_FAIL");
	play_state(&t.play, 2, "CANCELLED");
	/* The number is given to another. */
	quiet(&t);
	still_job(&t.slurm, "7", "{\"submit\":1000000500}");
	pass(&t, 500);
	says(&t, "arrived slurm:7@1000000500 1 of nlp; observed 3 {\"reason\":\"Priority\"}; ");
	tear_down(&t);
}

static void it_is_not_taken_in(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{}");
	t.silent = true;
	pass(&t, 1);
	pass(&t, 1);
	assert_int_equal(t.came.n, 1);
	pass(&t, 10);
	assert_int_equal(t.came.n, 2);
	t.silent = false;
	t.refuses = true;
	quiet(&t);
	pass(&t, 1);
	assert_non_null(strstr(t.said.at, "Slurm's job 7 is not shown: no room"));
	still_change(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	pass(&t, 20);
	says(&t, "");
	tear_down(&t);
}

/* ---- arrays */

static void tasks_of_an_array(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "40", "{\"array\":40,\"tasks\":\"0-2,4%2\",\"reason\":\"Resources\"}");
	pass(&t, 1);
	assert_int_equal(t.came.n, 4);
	assert_string_equal(t.came.at[3].key, "slurm:40_4@1000000000");
	quiet(&t);
	still_job(&t.slurm, "40_0",
		"{\"array\":40,\"task\":0,\"state\":\"RUNNING\",\"start\":1000000002,\"on\":[[\"n0\",1]]}");
	still_change(&t.slurm, "40", "{\"tasks\":\"1-2,4%2\"}");
	pass(&t, 2);
	says(&t, "observed 1 {\"on\":[[\"n0\",1]],\"reason\":null}; begun 1.1 at 2; ");
	/* The last one keeps the number of the whole. */
	still_set(&t.slurm, "40", NULL);
	still_job(&t.slurm, "40_1", "{\"array\":40,\"task\":1,\"reason\":\"Resources\"}");
	still_job(&t.slurm, "40_2",
		"{\"array\":40,\"task\":2,\"state\":\"CANCELLED\",\"end\":1000000004}");
	still_job(&t.slurm, "40_4", "{\"array\":40,\"task\":4,\"reason\":\"Resources\"}");
	pass(&t, 2);
	says(&t, "outside 3 {\"state\":\"CANCELLED\",\"code\":0,\"text\":\"it was cancelled in Slurm\"}; ");
	assert_int_equal(t.came.n, 4);
	tear_down(&t);
}

static void a_large_array(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	t.silent = true;
	still_job(&t.slurm, "40", "{\"array\":40,\"tasks\":\"0-9999\"}");
	pass(&t, 1);
	assert_int_equal(t.came.n, 256);
	t.silent = false;
	t.refuses = true;
	for (int i = 0; i < 10; i++)
		pass(&t, 1);
	assert_int_equal(t.came.n, 1000);
	assert_non_null(strstr(t.said.at, "array 40 has more than 1000 tasks"));
	quiet(&t);
	/* Slurm cuts long lists: what is behind the cut is still there. */
	still_change(&t.slurm, "40", "{\"tasks\":\"0-5,...\"}");
	pass(&t, 1);
	assert_int_equal(t.came.n, 1000);
	assert_int_equal(t.said.n, 0);
	tear_down(&t);
}

/* ---- the world around */

static void nodes_that_are_drained_or_down(void **state)
{
	struct machine machine;
	struct err err = { 0 };
	struct table t;

	(void)state;
	set_up(&t);
	still_node(&t.slurm, 0, "IDLE", true);
	assert_int_equal(hands_discover(t.hands, &machine, &err), 0);
	assert_int_equal(machine.ndevices, 4);
	assert_string_equal(machine.host, "vc");
	for (uint32_t i = 0; i < 4; i++)
		assert_true(machine.devices[i].up);
	still_node(&t.slurm, 1, "DOWN", false);
	pass(&t, 20);
	assert_int_equal(hands_refresh(t.hands, &machine), MACHINE_UP);
	assert_true(machine.devices[0].up && machine.devices[1].up);
	assert_false(machine.devices[2].up || machine.devices[3].up);
	assert_non_null(strstr(machine.devices[2].why, "DOWN"));
	assert_int_equal(hands_refresh(t.hands, &machine), 0);
	machine_fini(&machine);
	tear_down(&t);
}

static void one_partition(void **state)
{
	struct machine machine;
	struct err err = { 0 };
	struct table t;

	(void)state;
	set_up(&t);
	hands_close(t.hands);
	t.partition = "other";
	open_hands(&t);
	assert_int_equal(hands_discover(t.hands, &machine, &err), 0);
	assert_int_equal(machine.ndevices, 2);
	assert_string_equal(machine.devices[0].host, "n1");
	machine_fini(&machine);
	hands_close(t.hands);
	t.partition = "none";
	open_hands(&t);
	assert_int_equal(hands_discover(t.hands, &machine, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "no partition none"));
	tear_down(&t);
}

static void the_controller_is_away(void **state)
{
	struct table t;
	size_t before;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{}");
	pass(&t, 1);
	quiet(&t);
	t.slurm.away = true;
	before = t.slurm.asked_jobs;
	for (int i = 0; i < 100; i++)
		pass(&t, 2);
	assert_string_equal(t.said.at,
		"Slurm does not answer (Unable to contact slurm controller): nothing is heard of its jobs "
		"until it does; trying on; ");
	assert_int_equal(t.slurm.asked_jobs, before);
	t.slurm.away = false;
	quiet(&t);
	for (int i = 0; i < 40; i++)
		pass(&t, 2);
	assert_string_equal(t.said.at, "Slurm answers again; ");
	/* A bridge that dies is news of the same kind. */
	quiet(&t);
	t.slurm.dead = true;
	for (int i = 0; i < 10; i++)
		pass(&t, 2);
	assert_non_null(strstr(t.said.at, "Slurm does not answer (the bridge"));
	assert_non_null(strstr(t.said.at, "Slurm answers again; "));
	says(&t, "");
	play_state(&t.play, 1, "PENDING");
	tear_down(&t);
}

static void it_cannot_be_opened(void **state)
{
	struct hands_config config = { .state_dir = "/tmp" };
	struct slurm_options options = { .now_s = still_clock };
	struct hands *hands = NULL;
	struct err err = { 0 };
	struct still slurm;

	(void)state;
	still_init(&slurm);
	slurm.hello_kind = "auth";
	config.state_dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	assert_int_equal(
		slurm_observer_open_on(&config, &options, &still_transport, &slurm, &hands, &err),
		ERR_REFUSED);
	assert_null(hands);
	still_fini(&slurm);
}

static void what_it_does_not_do(void **state)
{
	struct launch launch = { .job = 1, .attempt = 2 };
	struct err err = { 0 };
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	pass(&t, 2);
	quiet(&t);
	assert_int_equal(hands_signal(t.hands, 1, 1, 15, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "only looks on"));
	/* People cancel it here: it goes on until Slurm ends it. */
	play_do(&t.play, next_moment(&t), "cancel", 1, 0, "{}");
	pass(&t, 5);
	says(&t, "");
	play_state(&t.play, 1, "COMPLETING");
	still_change(&t.slurm, "7", "{\"state\":\"COMPLETED\",\"end\":1000000009,\"on\":[]}");
	pass(&t, 5);
	says(&t, "ended 1.1 asked code 0 signal 0 at 9; ");
	play_state(&t.play, 1, "CANCELLED");
	/* Nobody runs that. */
	assert_int_equal(hands_launch(t.hands, &launch, &err), 0);
	assert_int_equal(hands_poll(t.hands, &err), 0);
	says(&t, "ended 1.2 bounced; ");
	tear_down(&t);
}

/* ---- restarts */

/* As the daemon does: who is alive is announced, and attempts that were ordered are claimed. */
static void restart(struct table *t)
{
	struct err err = { 0 };

	hands_close(t->hands);
	open_hands(t);
	play_restart(&t->play, next_moment(t));
	t->carried = t->play.rows.n;
	for (size_t i = 0; i < t->came.n; i++) {
		struct launch launch = { .job = t->came.at[i].job, .key = t->came.at[i].key };

		if (launch.job && core_job(t->play.core, launch.job))
			assert_int_equal(hands_expect(t->hands, &launch, &err), 0);
	}
	hands_expected_all(t->hands);
	for (size_t i = 0; i < t->play.procs.n; i++) {
		const struct proc *proc = &t->play.procs.at[i];
		struct holding of = { .job = proc->job, .attempt = proc->attempt };
		struct ending ending;
		enum claim claim;

		if (proc->over || !proc->launched)
			continue;
		assert_int_equal(hands_claim(t->hands, &of, false, &claim, &ending, &err), 0);
		assert_int_equal(claim, CLAIM_RUNS);
	}
}

static void jobs_are_known_after_a_restart(void **state)
{
	struct table t;

	(void)state;
	set_up(&t);
	still_job(&t.slurm, "7", "{\"state\":\"RUNNING\",\"start\":1000000001,\"on\":[[\"n0\",1]]}");
	still_job(&t.slurm, "8", "{\"state\":\"RUNNING\",\"start\":1000000002,\"on\":[[\"n0\",1]]}");
	still_job(&t.slurm, "9", "{\"state\":\"RUNNING\",\"start\":1000000003,\"on\":[[\"n1\",1]]}");
	still_job(&t.slurm, "10", "{}");
	still_job(&t.slurm, "11", "{\"state\":\"RUNNING\",\"start\":1000000003,\"on\":[[\"n1\",1]]}");
	pass(&t, 4);
	/* While nobody looks. */
	still_change(&t.slurm, "8", "{\"state\":\"COMPLETED\",\"end\":1000000006,\"on\":[]}");
	still_change(&t.slurm, "9",
		"{\"restarts\":1,\"submit\":1000000006,\"start\":1000000007,\"on\":[[\"n0\",1]]}");
	still_change(&t.slurm, "10",
		"{\"state\":\"RUNNING\",\"start\":1000000008,\"on\":[[\"n1\",1]]}");
	still_set(&t.slurm, "11", NULL);
	still_now_s += 5;
	quiet(&t);
	restart(&t);
	pass(&t, 1);
	assert_int_equal(t.came.n, 5);
	assert_non_null(strstr(t.log.at, "begun 1.1 at 1; "));
	assert_non_null(strstr(t.log.at, "ended 2.1 code 0 signal 0 at 6; "));
	assert_non_null(strstr(t.log.at, "ended 3.1 asked code -1 signal 15 at 6; "));
	assert_non_null(strstr(t.log.at, "begun 3.2 at 7; "));
	assert_non_null(strstr(t.log.at, "begun 4.1 at 8; "));
	assert_non_null(strstr(t.log.at, "ended 5.1 unknown; "));
	assert_null(strstr(t.log.at, "ended 1.1"));
	play_state(&t.play, 1, "RUNNING");
	play_state(&t.play, 2, "COMPLETED");
	play_state(&t.play, 3, "RUNNING");
	play_state(&t.play, 4, "RUNNING");
	play_state(&t.play, 5, "NODE_FAIL");
	tear_down(&t);
}

/* ---- whatever happens */

/* A small cluster that does as it likes. */
struct wild_job {
	char name[16];
	int gpus, restarts;
	int on[2]; /* GPUs it holds */
	double submit_s, start_s, end_s;
	enum { WILD_PENDING, WILD_RUNNING, WILD_CLEARING, WILD_OVER, WILD_GONE } at;
	const char *state;
	bool back;   /* to the queue, once it is cleared away */
	bool looked; /* somebody saw that it is over */
};

struct wild {
	struct table *t;
	VEC(struct wild_job) jobs;
	int free[2];
};

static void wild_show(struct wild *w, const struct wild_job *j)
{
	static const char *const base[] = { "PENDING", "RUNNING", "", "", "" };
	json_t *on, *shown;

	if (j->at == WILD_GONE) {
		still_set(&w->t->slurm, j->name, NULL);
		return;
	}
	on = json_array();
	for (int i = 0; i < 2; i++) {
		if (j->on[i])
			json_array_append_new(on, json_pack("[s,i]", i ? "n1" : "n0", j->on[i]));
	}
	still_job(&w->t->slurm, j->name, "{}");
	shown = json_deep_copy(still_find(&w->t->slurm, j->name)->shown);
	json_object_set_new(shown, "state",
		json_string(j->back            ? "PENDING"
				: *base[j->at] ? base[j->at]
					       : j->state));
	json_object_set_new(shown, "completing", json_boolean(j->at == WILD_CLEARING));
	json_object_set_new(shown, "gpus", json_integer(j->gpus));
	json_object_set_new(shown, "restarts", json_integer(j->restarts));
	json_object_set_new(shown, "submit", json_integer((json_int_t)j->submit_s));
	json_object_set_new(shown, "on", on);
	json_object_set_new(shown, "exit",
		json_integer(j->state && !strcmp(j->state, "FAILED") ? 1 : 0));
	if (j->start_s > 0)
		json_object_set_new(shown, "start", json_integer((json_int_t)j->start_s));
	if (j->end_s > 0)
		json_object_set_new(shown, "end", json_integer((json_int_t)j->end_s));
	still_set(&w->t->slurm, j->name, shown);
}

/* Jobs were told: which runs are seen now. */
static void wild_told(void *ctx)
{
	struct wild *w = ctx;

	for (size_t i = 0; i < w->jobs.n; i++) {
		struct wild_job *j = &w->jobs.at[i];
		struct truth *of = j->start_s > 0 ? truth_at(w->t, j->start_s) : NULL;

		j->looked |= j->at == WILD_OVER;
		if (of && (j->at == WILD_RUNNING || (j->at == WILD_CLEARING && !j->back)))
			of->seen = true;
	}
}

static void wild_submit(struct wild *w, struct rng *rng)
{
	struct wild_job j = { .gpus = 1 + (int)rng_below(rng, 3), .submit_s = still_now_s };

	snprintf(j.name, sizeof(j.name), "%zu", 100 + w->jobs.n);
	vec_push(&w->jobs, j);
}

static void wild_start(struct wild *w, struct wild_job *j)
{
	int left = j->gpus;

	if (w->free[0] + w->free[1] < left)
		return;
	for (int i = 0; i < 2; i++) {
		j->on[i] = left < w->free[i] ? left : w->free[i];
		w->free[i] -= j->on[i];
		left -= j->on[i];
	}
	j->at = WILD_RUNNING;
	j->start_s = still_now_s;
	j->end_s = 0;
	vec_push(&w->t->runs, (struct truth){ .begun_s = still_now_s });
}

static void wild_clear(struct wild *w, struct wild_job *j)
{
	for (int i = 0; i < 2; i++) {
		w->free[i] += j->on[i];
		j->on[i] = 0;
	}
	j->at = j->back ? WILD_PENDING : WILD_OVER;
	if (j->back) {
		j->submit_s = still_now_s;
		j->restarts++;
		j->start_s = j->end_s = 0;
	}
	j->back = false;
}

static void wild_end(struct wild *w, struct wild_job *j, struct rng *rng)
{
	static const char *const states[] = { "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED",
		"NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY" };

	j->back = rng_below(rng, 3) == 0;
	j->state = states[rng_below(rng, COUNT(states))];
	j->end_s = still_now_s;
	j->at = WILD_CLEARING;
	if (rng_below(rng, 2))
		wild_clear(w, j);
}

static void wild_step(struct wild *w, struct wild_job *j, struct rng *rng)
{
	switch (j->at) {
	case WILD_PENDING:
		if (rng_below(rng, 8) == 0) {
			j->at = WILD_OVER;
			j->state = "CANCELLED";
			j->end_s = still_now_s;
		} else {
			wild_start(w, j);
		}
		break;
	case WILD_RUNNING:
		wild_end(w, j, rng);
		break;
	case WILD_CLEARING:
		wild_clear(w, j);
		break;
	case WILD_OVER:
		/* Slurm keeps it for minutes; who is away for longer is another test's. */
		if (j->looked)
			j->at = WILD_GONE;
		break;
	case WILD_GONE:
		break;
	}
}

static void wild_world(struct wild *w, struct rng *rng)
{
	still_now_s += 1 + (double)rng_below(rng, 3);
	if (w->jobs.n < 25 && rng_below(rng, 4) == 0)
		wild_submit(w, rng);
	for (size_t i = 0; i < w->jobs.n; i++) {
		if (rng_below(rng, 5) == 0) {
			wild_step(w, &w->jobs.at[i], rng);
			still_now_s += 1; /* every run begins at a time of its own */
		}
		wild_show(w, &w->jobs.at[i]);
	}
	if (rng_below(rng, 20) == 0)
		w->t->slurm.away = !w->t->slurm.away && rng_below(rng, 2);
	if (rng_below(rng, 40) == 0)
		w->t->slurm.dead = true;
	w->t->busy = rng_below(rng, 3) == 0;
}

static const char *wild_want(const struct wild_job *j)
{
	return strcmp(j->state, "OUT_OF_MEMORY") ? j->state : "FAILED";
}

/* All that still lives comes to its end, and is looked at. */
static void wild_finish(struct wild *w, struct rng *rng)
{
	w->t->slurm.away = w->t->busy = false;
	for (int round = 0; round < 400; round++) {
		bool alive = false;

		for (size_t i = 0; i < w->jobs.n; i++) {
			struct wild_job *j = &w->jobs.at[i];

			alive |= j->at < WILD_OVER;
			if (j->at < WILD_OVER)
				wild_step(w, j, rng);
			still_now_s += 1;
			wild_show(w, j);
		}
		pass(w->t, 1);
		if (!alive && round > 5)
			return;
	}
	fail_msg("it does not come to an end");
}

static void wild_check(const struct wild *w)
{
	for (size_t i = 0; i < w->t->runs.n; i++) {
		const struct truth *of = &w->t->runs.at[i];

		if (of->begun != of->seen || of->ended != of->seen)
			fail_msg("the run that began at %g was %s, told %u times to begin and %u to end",
				of->begun_s - 1e9, of->seen ? "seen" : "not seen", of->begun,
				of->ended);
	}
	for (size_t i = 0; i < w->t->came.n; i++) {
		const struct came *came = &w->t->came.at[i];
		const struct wild_job *j = &w->jobs.at[strtol(came->key + 6, NULL, 10) - 100];

		play_state(&w->t->play, came->job, wild_want(j));
	}
}

static void each_run_is_told_once(void **state)
{
	struct rng rng = property("runs of a Slurm that does as it likes");

	(void)state;
	for (size_t round = 0; round < rounds(40); round++) {
		struct table t;
		struct wild w = { .t = &t, .free = { 2, 2 } };

		set_up(&t);
		t.slurm.told = wild_told;
		t.slurm.ctx = &w;
		for (int i = 0; i < 150; i++) {
			wild_world(&w, &rng);
			if (rng_below(&rng, 3))
				cycle(&t);
			if (rng_below(&rng, 60) == 0) {
				t.busy = false;
				pass(&t, 0);
				restart(&t);
			}
		}
		wild_finish(&w, &rng);
		wild_check(&w);
		vec_fini(&w.jobs);
		tear_down(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_waits_runs_and_completes),
		cmocka_unit_test(states_that_jobs_end_in),
		cmocka_unit_test(it_ends_before_it_is_launched),
		cmocka_unit_test(a_short_one_is_seen_only_ended),
		cmocka_unit_test(it_is_put_back_and_runs_again),
		cmocka_unit_test(it_is_cancelled_while_it_waits),
		cmocka_unit_test(it_vanishes),
		cmocka_unit_test(it_is_not_taken_in),
		cmocka_unit_test(tasks_of_an_array),
		cmocka_unit_test(a_large_array),
		cmocka_unit_test(nodes_that_are_drained_or_down),
		cmocka_unit_test(one_partition),
		cmocka_unit_test(the_controller_is_away),
		cmocka_unit_test(it_cannot_be_opened),
		cmocka_unit_test(what_it_does_not_do),
		cmocka_unit_test(jobs_are_known_after_a_restart),
		cmocka_unit_test(each_run_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
