/*
 * Retention: what pruning deletes and what it leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "store/record_fixture.h"
#include "store/record_prune.h"

static struct record *record;

static void shorten(const char *status, struct buf *out)
{
	buf_printf(out, "%s ", status);
}

static void happened(double at_s, const char *kind)
{
	struct record_event event = { .at_s = at_s, .kind = kind, .body = "{}" };
	struct err err = { 0 };

	assert_int_equal(record_append(record, &event, NULL, NULL, &err), 0);
}

/* Behind the record's back. */
static void do_sql(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

struct story {
	uint32_t id;
	double at_s, end_s; /* end_s NAN: it lives */
	uint32_t array_id;
	uint32_t reports;
};

static void tell(struct story s)
{
	char status[64];
	struct record_job job = a_job(s.id);
	struct record_attempt attempt = { s.id, 1, !isnan(s.end_s), "{\"code\":0}" };
	struct record_event event = {
		.at_s = s.at_s,
		.kind = "submit",
		.job = s.id,
		.body = "{\"submission\":{}}",
	};
	struct err err = { 0 };

	snprintf(status, sizeof(status), "{\"gpus\":1,\"array_id\":%u}", s.array_id);
	job.status = status;
	job.arrival_s = s.at_s;
	assert_int_equal(record_append(record, &event, &job, NULL, &err), 0);
	for (uint32_t i = 0; i < s.reports; i++) {
		event.kind = "progress";
		event.attempt = 1;
		assert_int_equal(record_append(record, &event, NULL, NULL, &err), 0);
	}
	event.kind = isnan(s.end_s) ? "state" : "end";
	event.at_s = isnan(s.end_s) ? s.at_s : s.end_s;
	event.attempt = 1;
	job.live = isnan(s.end_s);
	job.end_s = s.end_s;
	job.state = job.live ? "RUNNING" : "COMPLETED";
	assert_int_equal(record_append(record, &event, &job, &attempt, &err), 0);
}

static void begin(void)
{
	struct err err = { 0 };

	assert_int_equal(record_open(place, false, &record, &err), 0);
	assert_int_equal(record_begin(record, &err), 0);
}

static void commit(void)
{
	struct err err = { 0 };

	assert_int_equal(record_commit(record, &err), 0);
}

static void expect_sound(void)
{
	struct buf out = { 0 };
	struct err err = { 0 };

	if (record_check(record, &out, &err) != 0)
		fail_msg("%s%s", out.n ? out.at : "", err.text);
	buf_fini(&out);
}

static struct record_pruned prune(double before_s, uint32_t jobs)
{
	struct prune *p;
	struct record_pruned pruned;
	struct err err = { 0 };

	assert_int_equal(prune_create(record, before_s, shorten, &p, &err), 0);
	expect_sound();
	while (prune_step(p, jobs, &err) > 0)
		expect_sound();
	assert_string_equal(err.text, "");
	prune_destroy(p);
	assert_true(record_pruned(record, &pruned));
	return pruned;
}

static int see_event(void *ctx, const struct record_event *event)
{
	struct buf *kinds = ctx;

	buf_printf(kinds, "%s%s", kinds->n ? " " : "", event->kind);
	if (event->job)
		buf_printf(kinds, "%u", event->job);
	return 0;
}

static void expect_events(const char *want)
{
	struct buf kinds = { 0 };
	struct err err = { 0 };

	assert_int_equal(record_events(record, 0, 0, 0, see_event, &kinds, &err), 0);
	assert_string_equal(kinds.at, want);
	buf_fini(&kinds);
}

static int see_job(void *ctx, const struct record_job *job)
{
	struct buf *out = ctx;

	buf_printf(out, "%s %s %s", job->state, job->name, job->submit_seq ? job->status : "summary");
	return 0;
}

static void expect_job(uint32_t id, const char *want)
{
	struct buf text = { 0 };
	struct err err = { 0 };

	assert_int_equal(record_job(record, id, see_job, &text, &err), 0);
	assert_string_equal(text.at, want);
	buf_fini(&text);
}

static void an_old_job_becomes_a_summary(void **state)
{
	struct record_pruned pruned;

	(void)state;
	begin();
	happened(0, "epoch");
	tell((struct story){ .id = 1, .at_s = 1, .end_s = 2 });
	tell((struct story){ .id = 2, .at_s = 3, .end_s = NAN, .reports = 2 });
	happened(4, "devices");
	happened(5, "epoch");
	tell((struct story){ .id = 3, .at_s = 10, .end_s = 11 });
	commit();
	pruned = prune(9, 1);
	assert_int_equal(pruned.jobs, 1);
	assert_int_equal(pruned.seq, 10);
	assert_int_equal(pruned.events, 6);
	expect_events("submit2 state2 epoch submit3 end3");
	expect_job(1, "COMPLETED train summary");
	expect_job(2, "RUNNING train {\"gpus\":1,\"array_id\":0}");
	record_close(record);
}

static void the_audit_stays(void **state)
{
	(void)state;
	begin();
	happened(0, "epoch");
	happened(1, "audit");
	tell((struct story){ .id = 1, .at_s = 2, .end_s = 3 });
	happened(4, "audit");
	happened(5, "epoch");
	happened(6, "devices");
	commit();
	assert_int_equal(prune(INFINITY, 10).jobs, 1);
	expect_events("audit audit epoch devices");
	record_close(record);
}

static void the_last_event_always_stays(void **state)
{
	struct err err = { 0 };

	(void)state;
	begin();
	happened(0, "epoch");
	tell((struct story){ .id = 1, .at_s = 1, .end_s = 2 });
	happened(3, "devices");
	commit();
	assert_int_equal(prune(INFINITY, 10).jobs, 1);
	expect_events("epoch devices");
	record_close(record);
	assert_int_equal(record_open(place, false, &record, &err), 0);
	assert_int_equal(record_last_seq(record), 4);
	assert_int_equal(record_last_job(record), 1);
	record_close(record);
}

static void the_submission_of_an_array_stays_with_its_elements(void **state)
{
	(void)state;
	begin();
	tell((struct story){ .id = 1, .at_s = 1, .end_s = 2, .array_id = 1 });
	tell((struct story){ .id = 2, .at_s = 1, .end_s = 3, .array_id = 1 });
	tell((struct story){ .id = 3, .at_s = 1, .end_s = NAN, .array_id = 1 });
	tell((struct story){ .id = 4, .at_s = 4, .end_s = 5, .array_id = 4 });
	tell((struct story){ .id = 5, .at_s = 4, .end_s = 6, .array_id = 4 });
	happened(9, "epoch");
	commit();
	assert_int_equal(prune(9, 1).jobs, 3);
	expect_events("submit1 end1 submit3 state3 epoch");
	record_close(record);
}

static void pruning_twice_counts_on(void **state)
{
	struct record_prune_plan plan;
	struct err err = { 0 };

	(void)state;
	begin();
	happened(0, "epoch");
	for (uint32_t id = 1; id <= 20; id++)
		tell((struct story){ .id = id, .at_s = id, .end_s = id + 0.5 });
	commit();
	assert_int_equal(record_prune_plan(record, 10, &plan, &err), 0);
	assert_int_equal(plan.jobs, 9);
	assert_int_equal(prune(10, 4).jobs, 9);
	assert_int_equal(prune(5, 4).jobs, 9); /* an earlier moment brings nothing back */
	assert_int_equal(prune(20, 4).jobs, 19);
	assert_int_equal(record_prune_plan(record, 20, &plan, &err), 0);
	assert_int_equal(plan.jobs, 0);
	record_close(record);
}

/* A job of which something happened since the cut stays, and is not planned either. */
static void a_plan_after_a_prune_has_what_would_go(void **state)
{
	struct record_event event = { .at_s = 21, .kind = "note", .job = 20, .body = "{}" };
	struct record_prune_plan plan;
	struct err err = { 0 };

	(void)state;
	begin();
	happened(0, "epoch");
	for (uint32_t id = 1; id <= 20; id++)
		tell((struct story){ .id = id, .at_s = id, .end_s = id + 0.5 });
	assert_int_equal(record_append(record, &event, NULL, NULL, &err), 0);
	commit();
	assert_int_equal(record_prune_plan(record, 30, &plan, &err), 0);
	assert_int_equal(plan.jobs, 19);
	assert_int_equal(prune(30, 4).jobs, 19);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(record_prune_plan(record, i ? 5 : 30, &plan, &err), 0);
		assert_int_equal(plan.jobs, 0);
		assert_int_equal(plan.events, 0);
	}
	record_close(record);
}

static void a_summary_that_is_lost_is_a_difference(void **state)
{
	struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	begin();
	happened(0, "epoch");
	tell((struct story){ .id = 1, .at_s = 1, .end_s = 2 });
	tell((struct story){ .id = 2, .at_s = 1, .end_s = 2 });
	happened(3, "epoch");
	commit();
	assert_int_equal(prune(3, 10).jobs, 2);
	record_close(record);
	do_sql("DELETE FROM job WHERE id = 1");
	assert_int_equal(record_open(place, false, &record, &err), 0);
	assert_true(record_check(record, &out, &err) > 0);
	assert_non_null(strstr(out.at, "jobs that were pruned should be 2 and are 1"));
	buf_fini(&out);
	record_close(record);
}

static void pages_are_given_back(void **state)
{
	struct record_size before, after;
	char *body = mem_alloc(20001);
	struct err err = { 0 };

	(void)state;
	memset(body, ' ', 20000);
	memcpy(body, "{}", 2);
	begin();
	for (uint32_t id = 1; id <= 200; id++) {
		assert_int_equal(submit(record, a_job(id), body, &err), 0);
		assert_int_equal(change(record, id, 0, "COMPLETED", true, &err), 0);
	}
	commit();
	assert_int_equal(record_size(record, &before, &err), 0);
	assert_true(before.gives_back);
	prune(INFINITY, 50);
	assert_int_equal(record_size(record, &after, &err), 0);
	assert_int_equal(after.free_bytes, 0);
	assert_true(after.bytes * 10 < before.bytes);
	record_close(record);
	free(body);
}

static void an_old_file_gives_pages_back_after_a_vacuum(void **state)
{
	struct record_size size;
	struct err err = { 0 };

	(void)state;
	do_sql("PRAGMA auto_vacuum = NONE; CREATE TABLE x(y); DROP TABLE x");
	begin();
	for (uint32_t id = 1; id <= 200; id++) {
		assert_int_equal(submit(record, a_job(id), "{\"submission\":{}}", &err), 0);
		assert_int_equal(change(record, id, 0, "COMPLETED", true, &err), 0);
	}
	commit();
	prune(INFINITY, 50);
	assert_int_equal(record_size(record, &size, &err), 0);
	assert_false(size.gives_back);
	assert_true(size.free_bytes > 0);
	assert_int_equal(record_vacuum(record, &err), 0);
	assert_int_equal(record_size(record, &size, &err), 0);
	assert_true(size.gives_back);
	assert_int_equal(size.free_bytes, 0);
	expect_sound();
	record_close(record);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_old_job_becomes_a_summary),
		TEST(the_audit_stays),
		TEST(the_last_event_always_stays),
		TEST(the_submission_of_an_array_stays_with_its_elements),
		TEST(pruning_twice_counts_on),
		TEST(a_plan_after_a_prune_has_what_would_go),
		TEST(a_summary_that_is_lost_is_a_difference),
		TEST(pages_are_given_back),
		TEST(an_old_file_gives_pages_back_after_a_vacuum),
	};

	return cmocka_run_group_tests_name("store/record_prune", tests, NULL, NULL);
}
