/*
 * Drained devices, devices that jobs fail on, and jobs that do nothing, in the core.
 */
#include "play.h"

/* Devices of node 0 that the job's newest attempt has. */
static uint64_t devices_of(const struct play *p, uint32_t job)
{
	const struct live_job *live = core_job(p->core, job);
	const struct attempt *a = live ? core_attempt(p->core, job, live->attempt) : NULL;

	return a && a->phase != PHASE_OVER ? a->grant->slots[0].devices : 0;
}

static uint64_t drained(const struct play *p)
{
	return health_drained(core_health(p->core), 0);
}

static void fails(struct play *p, double at_s, uint32_t job, uint32_t attempt)
{
	play_begun(p, at_s, job, attempt);
	play_do(p, at_s + 1, "exit", job, attempt, "{\"known\":true,\"code\":1,\"ran_s\":1}");
}

/* Jobs of a user and a name of their own, so that they count apart. */
static uint32_t submit_as(struct play *p, double at_s, struct ask ask, const char *name, int uid)
{
	uint32_t id;

	play_begin(p, at_s);
	id = play_write_submit(p, ask);
	for (size_t i = 0; i < p->cycle.n; i++) {
		json_t *body = json_loads(p->cycle.at[i].body, 0, NULL);

		if (p->cycle.at[i].job == id) {
			json_object_set_new(json_object_get(body, "job"), "name", json_string(name));
			json_object_set_new(json_object_get(body, "job"), "uid", json_integer(uid));
			free(p->cycle.at[i].body);
			free(p->cycle.at[i].job_after);
			p->cycle.at[i].body = json_dumps(body, JSON_COMPACT);
			p->cycle.at[i].job_after = json_dumps(json_object_get(body, "job"),
				JSON_COMPACT);
		}
		json_decref(body);
	}
	play_flush(p);
	play_give_submit(p, id);
	play_end(p);
	return id;
}

static uint32_t submit_named(struct play *p, double at_s, struct ask ask, const char *name)
{
	return submit_as(p, at_s, ask, name, 1000);
}

/* The job has the first device, and fails there. */
static void fails_as(struct play *p, uint32_t i, int uid)
{
	char name[16];

	snprintf(name, sizeof(name), "job%u", i);
	submit_as(p, 10 * i + 1, (struct ask){ .gpus = 1 }, name, uid);
	fails(p, 10 * i + 2, i + 1, 1);
}

/* ---- draining */

static void who_runs_goes_on_and_others_wait(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fair-share:preempt=1");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begun(&p, 2, 1, 1);
	play_do(&p, 3, "drain", 0, 0, "{\"node\":0,\"devices\":3,\"reason\":\"dust\"}");
	play_says(&p, "drained 0, health 0");
	play_state(&p, 1, "RUNNING");
	play_submit(&p, 4, (struct ask){ .gpus = 1 });
	play_state(&p, 2, "PENDING");
	play_reason(&p, 2, "busy");
	play_exit(&p, 5, 1, 1, 0);
	play_state(&p, 2, "PENDING");
	play_reason(&p, 2, "drained");
	play_do(&p, 6, "resume", 0, 0, "{\"node\":0,\"devices\":1}");
	play_says(&p, "resumed 0, health 0, start 2.1, launch 2.1");
	assert_int_equal(devices_of(&p, 2), 1);
	assert_int_equal(drained(&p), 2);
	play_close(&p);
}

static void it_survives_restarts_and_policies(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begun(&p, 2, 1, 1);
	play_do(&p, 3, "drain", 0, 0, "{\"node\":0,\"devices\":3,\"reason\":\"dust\"}");
	play_restart(&p, 4);
	assert_int_equal(drained(&p), 3);
	assert_string_equal(health_find(core_health(p.core), 0, 1)->drained, "dust");
	play_submit(&p, 5, (struct ask){ .gpus = 1 });
	play_says(&p, "");
	play_policy(&p, 6, "las");
	assert_int_equal(drained(&p), 3);
	play_pass(&p, 1000);
	play_state(&p, 1, "RUNNING");
	play_state(&p, 2, "PENDING");
	play_close(&p);
}

static void nonsense_is_refused(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_begin(&p, 1);
	assert_int_equal(play_try(&p, "drain", 0, 0, "{\"node\":1,\"devices\":1}"), ERR_FORMAT);
	assert_int_equal(play_try(&p, "drain", 0, 0, "{\"node\":0,\"devices\":4}"), ERR_FORMAT);
	assert_int_equal(play_try(&p, "resume", 0, 0, "{\"node\":-1,\"devices\":1}"), ERR_FORMAT);
	play_end(&p);
	play_close(&p);
}

/* ---- failures */

static void a_job_goes_elsewhere(void **state)
{
	struct play p;
	struct snapshot s;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1, .retries = 5 });
	fails(&p, 2, 1, 1);
	assert_int_equal(devices_of(&p, 1), 1); /* once is chance */
	fails(&p, 4, 1, 2);
	assert_int_equal(devices_of(&p, 1), 2);
	core_snapshot(p.core, 6, &s);
	assert_int_equal(s.jobs.at[0].job.navoid, 1);
	assert_int_equal(s.jobs.at[0].job.avoid[0].devices, 1);
	assert_ptr_not_equal(s.jobs.at[0].job.avoid, core_job(p.core, 1)->avoid);
	snapshot_fini(&s);
	play_restart(&p, 7);
	fails(&p, 8, 1, 3);
	assert_int_equal(devices_of(&p, 1), 2);
	fails(&p, 10, 1, 4); /* there is nothing else any more */
	assert_int_equal(core_job(p.core, 1)->base.navoid, 1);
	assert_int_equal(core_job(p.core, 1)->base.avoid[0].devices, 3);
	assert_int_not_equal(devices_of(&p, 1), 0);
	play_close(&p);
}

static void it_waits_for_others_and_is_forgiven(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo:misfit=skip");
	play_submit(&p, 1, (struct ask){ .gpus = 1, .retries = 5 });
	play_submit(&p, 1, (struct ask){ .gpus = 1 }); /* has the other one */
	fails(&p, 2, 1, 1);
	fails(&p, 4, 1, 2);
	play_state(&p, 1, "PENDING");
	play_reason(&p, 1, "avoids");
	play_submit(&p, 6, (struct ask){ .gpus = 1 }); /* others may go there */
	assert_int_equal(devices_of(&p, 3), 1);
	play_exit(&p, 7, 3, 1, 0);
	play_state(&p, 1, "PENDING");
	play_do(&p, 8, "resume", 0, 0, "{\"node\":0,\"devices\":1}");
	assert_int_equal(devices_of(&p, 1), 1);
	play_close(&p);
}

static void different_jobs_drain_a_device(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "fifo");
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const names[] = { "a", "b", "c" };

		submit_named(&p, 10 * i + 1, (struct ask){ .gpus = 1 }, names[i]);
		assert_int_equal(drained(&p), 0);
		fails(&p, 10 * i + 2, i + 1, 1);
	}
	assert_int_equal(drained(&p), 1);
	assert_string_equal(health_find(core_health(p.core), 0, 0)->drained,
		"3 different jobs failed here in a row");
	play_submit(&p, 50, (struct ask){ .gpus = 1 });
	assert_int_equal(devices_of(&p, 4), 2);
	play_do(&p, 51, "resume", 0, 0, "{\"node\":0,\"devices\":1}");
	assert_int_equal(drained(&p), 0);
	assert_null(health_find(core_health(p.core), 0, 0));
	play_close(&p);
}

static void some_say_nothing_of_a_device(void **state)
{
	static const struct {
		const char *what, *exit;
		size_t failed; /* jobs that count after it */
	} rows[] = {
		{ "one that fails soon", "{\"known\":true,\"code\":1,\"ran_s\":1}", 2 },
		{ "one that worked for long", "{\"known\":true,\"code\":1,\"ran_s\":900}", 1 },
		{ "one whose command is not there", "{\"known\":true,\"code\":127,\"ran_s\":0}", 1 },
		{ "one whose guard is lost", "{\"known\":false}", 1 },
		{ "one whose time is over",
			"{\"known\":true,\"code\":-1,\"signal\":9,\"timed_out\":true,\"ran_s\":5}", 1 },
		{ "one that ends well", "{\"known\":true,\"code\":0,\"ran_s\":1}", 0 },
		{ "one that saved", "{\"known\":true,\"code\":85,\"ran_s\":1}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct health_device *d;
		struct play p;

		play_open(&p, "1x4", "fifo");
		submit_named(&p, 1, (struct ask){ .gpus = 1 }, "first");
		fails(&p, 2, 1, 1);
		submit_named(&p, 4, (struct ask){ .gpus = 1, .no_requeue = true }, "second");
		play_begun(&p, 5, 2, 1);
		play_do(&p, 6, "exit", 2, 1, rows[i].exit);
		d = health_find(core_health(p.core), 0, 0);
		if ((d ? d->failed.n : 0) != rows[i].failed)
			fail_msg("%s", rows[i].what);
		play_close(&p);
	}
}

/* A slip that is submitted again and again, a job that fails everywhere, and half of what there is. */
static void devices_are_not_blamed_for_jobs(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	for (uint32_t i = 0; i < 5; i++) {
		play_submit(&p, 10 * i + 1, (struct ask){ .gpus = 1 });
		fails(&p, 10 * i + 2, i + 1, 1);
	}
	assert_int_equal(drained(&p), 0);
	submit_named(&p, 100, (struct ask){ .gpus = 1, .retries = 3 }, "everywhere");
	fails(&p, 101, 6, 1);
	fails(&p, 103, 6, 2);
	assert_int_equal(health_find(core_health(p.core), 0, 0)->failed.n, 2);
	fails(&p, 105, 6, 3);
	assert_int_equal(health_find(core_health(p.core), 0, 0)->failed.n, 1);
	assert_null(health_find(core_health(p.core), 0, 1));
	play_close(&p);
}

static void the_last_half_stays(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	for (uint32_t i = 0; i < 5; i++)
		fails_as(&p, i, 1000);
	assert_int_equal(drained(&p), 0);
	/* The last ones are enough to remember. */
	assert_int_equal(health_find(core_health(p.core), 0, 0)->failed.n, 3);
	assert_int_equal(health_find(core_health(p.core), 0, 0)->failed.at[2].job, 5);
	play_close(&p);
}

static void one_of_many_users_drains_nothing(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "fifo");
	p.epoch.care.drain_users = 2;
	play_restart(&p, 0.5);
	for (uint32_t i = 0; i < 8; i++)
		fails_as(&p, i, 1000);
	assert_int_equal(drained(&p), 0);
	fails_as(&p, 8, 1001);
	assert_int_equal(drained(&p), 1);
	play_close(&p);
}

/* Eight names of one command that fails wherever it runs. */
static void who_fails_everywhere_drains_nothing(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "fifo");
	for (uint32_t i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "bad%u", i);
		submit_named(&p, 1 + 0.1 * i, (struct ask){ .gpus = 1 }, name);
	}
	for (uint32_t i = 0; i < 8; i++)
		fails(&p, 10 * i + 2, i + 1, 1);
	assert_int_equal(drained(&p), 0);
	play_close(&p);
}

/* After one device is drained so, the next is not: by then it looks as if it was the jobs. */
static void one_user_drains_one_device(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x4", "fifo");
	for (uint32_t i = 0; i < 8; i++)
		fails_as(&p, i, 1000);
	assert_int_equal(drained(&p), 1);
	play_close(&p);
}

/* ---- idle ones */

static const char warned[] = "{\"since_s\":2,\"for_s\":3,\"text\":\"it has held 1 device for 3 s\"}";

static void a_warning_is_kept(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begun(&p, 2, 1, 1);
	play_do(&p, 5, "idle_warned", 1, 1, warned);
	assert_true(play_number(&p, 1, "idle_since_s") == 2);
	play_restart(&p, 6);
	assert_true(core_job(p.core, 1)->idle_since_s == 2);
	play_do(&p, 7, "active", 1, 1, "{}");
	assert_true(isnan(core_job(p.core, 1)->idle_since_s));
	play_do(&p, 8, "idle_warned", 1, 1, warned);
	play_do(&p, 9, "progress", 1, 1, "{\"step\":5}");
	assert_true(isnan(core_job(p.core, 1)->idle_since_s));
	play_state(&p, 1, "RUNNING");
	play_close(&p);
}

static void reclaim(struct play *p, double at_s, const char *then)
{
	char body[128];

	snprintf(body, sizeof(body),
		"{\"text\":\"reclaimed: held 1 device for 9 s\",\"then\":\"%s\"}", then);
	play_do(p, at_s, "reclaim", 1, 1, body);
}

static void reclaimed_is_held(void **state)
{
	struct play p;
	struct buf text = { 0 };
	uint32_t about;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begun(&p, 2, 1, 1);
	reclaim(&p, 11, "hold");
	play_says(&p, "stop 1.1, state 1.1");
	play_do(&p, 12, "exit", 1, 1, "{\"known\":true,\"code\":-1,\"signal\":15}");
	play_state(&p, 1, "PENDING");
	play_state(&p, 2, "CONFIGURING");
	play_reason(&p, 1, "held");
	core_reason(p.core, core_job(p.core, 1), 12, &text, &about);
	assert_non_null(strstr(text.at, "reclaimed: held 1 device for 9 s; let it go with"));
	buf_fini(&text);
	play_restart(&p, 13);
	assert_non_null(core_job(p.core, 1)->reclaimed);
	play_change(&p, 14, "release", 1);
	assert_null(core_job(p.core, 1)->reclaimed);
	play_close(&p);
}

static void reclaimed_waits_or_ends(void **state)
{
	static const struct {
		const char *then;
		bool no_requeue;
		const char *state, *why;
	} rows[] = {
		{ "requeue", false, "PENDING", "busy" },
		{ "requeue", true, "PENDING", "held" },
		{ "cancel", false, "CANCELLED", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct play p;

		play_open(&p, "1x1", "sjf");
		play_submit(&p, 1,
			(struct ask){ .gpus = 1, .estimate_s = 500, .no_requeue = rows[i].no_requeue });
		play_begun(&p, 2, 1, 1);
		play_submit(&p, 3, (struct ask){ .gpus = 1, .estimate_s = 5 });
		reclaim(&p, 11, rows[i].then);
		play_do(&p, 12, "exit", 1, 1, "{\"known\":true,\"code\":-1,\"signal\":15}");
		play_state(&p, 1, rows[i].state);
		if (rows[i].why)
			play_reason(&p, 1, rows[i].why);
		play_close(&p);
	}
}

static void only_what_runs_is_reclaimed(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_begin(&p, 2);
	assert_int_equal(play_try(&p, "reclaim", 1, 1, "{}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "idle_warned", 1, 1, "{}"), ERR_MISSING);
	assert_int_equal(play_try(&p, "active", 7, 1, "{}"), ERR_MISSING);
	play_end(&p);
	play_begun(&p, 3, 1, 1);
	play_change(&p, 4, "cancel", 1);
	play_begin(&p, 5);
	assert_int_equal(play_try(&p, "reclaim", 1, 1, "{}"), ERR_REFUSED);
	play_end(&p);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_runs_goes_on_and_others_wait),
		cmocka_unit_test(it_survives_restarts_and_policies),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(a_job_goes_elsewhere),
		cmocka_unit_test(it_waits_for_others_and_is_forgiven),
		cmocka_unit_test(different_jobs_drain_a_device),
		cmocka_unit_test(some_say_nothing_of_a_device),
		cmocka_unit_test(devices_are_not_blamed_for_jobs),
		cmocka_unit_test(the_last_half_stays),
		cmocka_unit_test(one_of_many_users_drains_nothing),
		cmocka_unit_test(who_fails_everywhere_drains_nothing),
		cmocka_unit_test(one_user_drains_one_device),
		cmocka_unit_test(a_warning_is_kept),
		cmocka_unit_test(reclaimed_is_held),
		cmocka_unit_test(reclaimed_waits_or_ends),
		cmocka_unit_test(only_what_runs_is_reclaimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
