#include "store/record.h"

#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/record_fixture.h"
#include "store/record_schema.h"
#include "support/property.h"

/* ---- shorthands */

static struct record *opened(void)
{
	struct record *r = NULL;
	struct err err = { 0 };

	if (record_open(place, false, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static struct record *reading(void)
{
	struct record *r = NULL;
	struct err err = { 0 };

	if (record_open(place, true, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void good(int rc, const struct err *err)
{
	if (rc)
		fail_msg("%d: %s", rc, err->text);
}

static void submit_alone(struct record *r, struct record_job job)
{
	struct err err = { 0 };

	good(record_begin(r, &err), &err);
	good(submit(r, job, "{\"argv\":[\"true\"]}", &err), &err);
	good(record_commit(r, &err), &err);
}

static void change_alone(struct record *r, uint32_t id, uint64_t submit_seq, const char *state, bool ends)
{
	struct err err = { 0 };

	good(record_begin(r, &err), &err);
	good(change(r, id, submit_seq, state, ends, &err), &err);
	good(record_commit(r, &err), &err);
}

static int differences(struct record *r, struct buf *out)
{
	struct err err = { 0 };
	int n = record_check(r, out, &err);

	if (n < 0)
		fail_msg("%s", err.text);
	return n;
}

static void expect_sound(struct record *r)
{
	struct buf out = { 0 };

	if (differences(r, &out) != 0)
		fail_msg("%s", out.at);
	buf_fini(&out);
}

/* The ids seen, as text. */
static int note_job(void *ctx, const struct record_job *job)
{
	buf_printf(ctx, " %u", job->id);
	return 0;
}

static int note_attempt(void *ctx, const struct record_attempt *attempt)
{
	buf_printf(ctx, " %u.%u", attempt->job, attempt->attempt);
	return 0;
}

static int note_event(void *ctx, const struct record_event *event)
{
	buf_printf(ctx, " %llu:%s", (unsigned long long)event->seq, event->kind);
	return 0;
}

static void expect_text(struct buf *got, const char *want)
{
	assert_string_equal(got->at ? got->at : "", want);
	buf_clear(got);
}

static void raw(const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	sqlite3_close(db);
}

/* ---- writing and reading */

static int is_the_job(void *ctx, const struct record_job *job)
{
	struct record_job want = a_job(7);

	assert_int_equal(job->id, 7);
	assert_int_equal(job->uid, want.uid);
	assert_string_equal(job->key, "key \"7\"");
	assert_string_equal(job->name, want.name);
	assert_string_equal(job->tenant, want.tenant);
	assert_string_equal(job->state, want.state);
	assert_string_equal(job->status, want.status);
	assert_true(job->live && isnan(job->end_s));
	assert_true(job->arrival_s == want.arrival_s);
	assert_int_equal(job->submit_seq, 1);
	return *(int *)ctx;
}

static int is_the_event(void *ctx, const struct record_event *event)
{
	assert_int_equal(event->seq, 1);
	assert_true(event->at_s == a_job(7).arrival_s);
	assert_string_equal(event->kind, "submit");
	assert_int_equal(event->job, 7);
	assert_int_equal(event->attempt, 0);
	assert_string_equal(event->body, "{\"argv\":[\"true\"]}");
	return *(int *)ctx;
}

static void what_was_written_is_read(void **state)
{
	struct record *r = opened();
	struct record_job job = a_job(7);
	struct err err = { 0 };
	int answer = 0;

	(void)state;
	assert_int_equal(record_last_job(r), 0);
	assert_int_equal(record_last_seq(r), 0);
	assert_true(record_last_s(r) == 0);
	job.key = "key \"7\"";
	submit_alone(r, job);
	record_close(r);
	r = opened();
	good(record_job(r, 7, is_the_job, &answer, &err), &err);
	good(record_event_at(r, 1, is_the_event, &answer, &err), &err);
	answer = 42; /* what see() returns ends the walk */
	assert_int_equal(record_live_jobs(r, is_the_job, &answer, &err), 42);
	assert_int_equal(record_events(r, 0, 0, 0, is_the_event, &answer, &err), 42);
	assert_int_equal(record_job(r, 8, is_the_job, &answer, &err), ERR_MISSING);
	assert_int_equal(record_event_at(r, 2, is_the_event, &answer, &err), ERR_MISSING);
	assert_int_equal(record_last_job(r), 7);
	assert_int_equal(record_last_seq(r), 1);
	assert_true(record_last_s(r) == job.arrival_s);
	expect_sound(r);
	record_close(r);
}

static void a_rollback_leaves_nothing(void **state)
{
	struct record *r = opened();
	struct record_event event = { .at_s = 1, .kind = "policy", .body = "{}" };
	struct err err = { 0 };

	(void)state;
	good(record_begin(r, &err), &err);
	good(submit(r, a_job(1), "{}", &err), &err);
	assert_int_equal(record_last_job(r), 1); /* seen inside */
	record_rollback(r);
	record_rollback(r);
	assert_int_equal(record_last_job(r), 0);
	assert_int_equal(record_append(r, &event, NULL, NULL, &err), ERR_BROKEN);
	assert_int_equal(record_commit(r, &err), ERR_BROKEN);
	good(record_begin(r, &err), &err);
	good(record_append(r, &event, NULL, NULL, &err), &err);
	assert_int_equal(event.seq, 1);
	record_close(r); /* without a commit */
	r = opened();
	assert_int_equal(record_last_seq(r), 0);
	record_close(r);
}

static void keys_are_unique_per_user(void **state)
{
	struct record *r = opened();
	struct record_job one = a_job(1), two = a_job(2), three = a_job(3);
	struct err err = { 0 };

	(void)state;
	one.key = two.key = three.key = "k";
	two.uid = 1001;
	submit_alone(r, one);
	submit_alone(r, two);
	assert_int_equal(record_find_key(r, 1000, "k"), 1);
	assert_int_equal(record_find_key(r, 1001, "k"), 2);
	assert_int_equal(record_find_key(r, 1002, "k"), 0);
	good(record_begin(r, &err), &err);
	good(submit(r, a_job(4), "{}", &err), &err);
	assert_int_equal(submit(r, three, "{}", &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "\"k\""));
	assert_int_equal(record_last_job(r), 2); /* the whole transaction is gone */
	expect_sound(r);
	record_close(r);
}

static void jobs_live_and_end(void **state)
{
	struct record *r = opened();
	struct record_filter any = { .uid = UINT32_MAX, .ended_since_s = NAN }, filter = any;
	struct buf seen = { 0 };
	struct err err = { 0 };

	(void)state;
	for (uint32_t id = 1; id <= 6; id++)
		submit_alone(r, a_job(id));
	change_alone(r, 2, 2, "RUNNING", false);
	change_alone(r, 2, 2, "COMPLETED", true);
	change_alone(r, 3, 3, "RUNNING", false);
	change_alone(r, 3, 3, "FAILED", true);
	change_alone(r, 4, 4, "RUNNING", false);
	change_alone(r, 5, 5, "COMPLETED", true);
	good(record_live_jobs(r, note_job, &seen, &err), &err);
	expect_text(&seen, " 1 4 6");
	good(record_ended_jobs(r, &any, note_job, &seen, &err), &err);
	expect_text(&seen, " 5 3 2");
	filter.limit = 2;
	filter.before_id = 5;
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, " 3 2");
	filter = any;
	filter.states = (const char *const[]){ "FAILED", "COMPLETED" };
	filter.nstates = 1;
	filter.limit = 1; /* of those that are wanted, not of those that are looked at */
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, " 3");
	filter.nstates = 2;
	filter.limit = 2;
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, " 5 3");
	filter.before_id = 3;
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, " 2");
	filter = any;
	filter.state = "COMPLETED";
	filter.tenant = "ana";
	filter.name = "train";
	filter.uid = 1000;
	filter.ended_since_s = a_job(5).arrival_s + 2;
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, " 5");
	filter.uid = 1;
	good(record_ended_jobs(r, &filter, note_job, &seen, &err), &err);
	expect_text(&seen, "");
	good(record_open_attempts(r, note_attempt, &seen, &err), &err);
	expect_text(&seen, " 4.1");
	good(record_attempts(r, 2, note_attempt, &seen, &err), &err);
	expect_text(&seen, " 2.1");
	good(record_events(r, 1, 2, 0, note_event, &seen, &err), &err);
	expect_text(&seen, " 2:submit 7:start 8:end");
	good(record_events(r, 6, 0, 3, note_event, &seen, &err), &err);
	expect_text(&seen, " 6:submit 7:start 8:end");
	assert_true(record_mean_run_s(r, 1000, "train", 10) == 1.5);
	assert_true(isnan(record_mean_run_s(r, 1000, "other", 10)));
	expect_sound(r);
	buf_fini(&seen);
	record_close(r);
}

static int is_of_event_one(void *ctx, const struct record_job *job)
{
	(void)ctx;
	assert_int_equal(job->submit_seq, 1);
	return 0;
}

static int is_the_end(void *ctx, const struct record_event *event)
{
	(void)ctx;
	assert_string_equal(event->job_after, "{\"gpus\":1,\"ran_s\":1.5}");
	assert_string_equal(event->attempt_after, "{\"code\":0}");
	assert_true(!event->job_live && event->attempt_over);
	return 0;
}

/* The event comes first, and what it makes of the job later. */
static void a_number_is_taken_once_an_event_has_it(void **state)
{
	struct record *r = opened();
	struct record_event event = { .at_s = 1, .kind = "submit", .job = 9, .body = "{}" };
	struct record_job job = a_job(9);
	struct err err = { 0 };

	(void)state;
	good(record_begin(r, &err), &err);
	good(record_append(r, &event, NULL, NULL, &err), &err);
	good(record_commit(r, &err), &err);
	assert_int_equal(record_last_job(r), 9);
	record_close(r);
	r = opened();
	assert_int_equal(record_last_job(r), 9);
	job.submit_seq = 1;
	submit_alone(r, job);
	change_alone(r, 9, 0, "RUNNING", false);
	change_alone(r, 9, 0, "COMPLETED", true);
	good(record_job(r, 9, is_of_event_one, NULL, &err), &err);
	good(record_event_at(r, 4, is_the_end, NULL, &err), &err);
	expect_sound(r);
	record_close(r);
}

/* Peaks of runs that went well, of that user and name, the newest first. */
static void peaks_of_a_name(void **state)
{
	static const char *const exits[] = {
		"{\"code\":0,\"rss_bytes\":100,\"ran_s\":1}",
		"{\"code\":1,\"rss_bytes\":900,\"ran_s\":1}",
		"{\"code\":0,\"rss_bytes\":300,\"ran_s\":3}",
		"{\"code\":0,\"rss_bytes\":0,\"ran_s\":4}",
	};
	struct record *r = opened();
	double bytes[8], ran_s[8];
	struct err err = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct record_job job = a_job(i + 1);
		struct record_event event = { .kind = "exit",
			.job = i + 1,
			.attempt = 1,
			.body = exits[i] };

		submit_alone(r, job);
		job.state = i == 1 ? "FAILED" : "COMPLETED";
		job.live = false;
		job.end_s = 9;
		good(record_begin(r, &err), &err);
		good(record_append(r, &event, &job, NULL, &err), &err);
		good(record_commit(r, &err), &err);
	}
	assert_int_equal(record_peaks(r, 1000, "train", 8, bytes, ran_s), 2);
	assert_true(bytes[0] == 300 && ran_s[0] == 3 && bytes[1] == 100 && ran_s[1] == 1);
	assert_int_equal(record_peaks(r, 1000, "train", 2, bytes, ran_s), 1);
	assert_int_equal(record_peaks(r, 1001, "train", 8, bytes, ran_s), 0);
	assert_int_equal(record_peaks(r, 1000, "eval", 8, bytes, ran_s), 0);
	record_close(r);
}

static void facts_may_change(void **state)
{
	struct record *r = opened();
	struct record_job job = a_job(1);
	struct err err = { 0 };
	struct buf seen = { 0 };

	(void)state;
	submit_alone(r, job);
	job.name = "renamed";
	good(record_begin(r, &err), &err);
	good(submit(r, job, "{}", &err), &err);
	good(record_commit(r, &err), &err);
	job.state = "COMPLETED";
	job.live = false;
	job.end_s = 9;
	job.status = "{\"ran_s\":3}";
	good(record_begin(r, &err), &err);
	good(submit(r, job, "{}", &err), &err);
	good(record_commit(r, &err), &err);
	assert_true(record_mean_run_s(r, 1000, "renamed", 1) == 3);
	good(record_job(r, 1, is_of_event_one, NULL, &err), &err);
	good(record_live_jobs(r, note_job, &seen, &err), &err);
	expect_text(&seen, "");
	expect_sound(r);
	record_close(r);
}

struct nested {
	struct record *record;
	struct buf seen;
};

static int walk_again(void *ctx, const struct record_job *job)
{
	struct nested *n = ctx;

	buf_printf(&n->seen, " %u(", job->id);
	assert_int_equal(record_live_jobs(n->record, note_job, &n->seen, NULL), 0);
	buf_str(&n->seen, " )");
	return 0;
}

static void walks_may_nest(void **state)
{
	struct nested n = { .record = opened() };

	(void)state;
	submit_alone(n.record, a_job(1));
	submit_alone(n.record, a_job(2));
	assert_int_equal(record_live_jobs(n.record, walk_again, &n, NULL), 0);
	expect_text(&n.seen, " 1( 1 2 ) 2( 1 2 )");
	buf_fini(&n.seen);
	record_close(n.record);
}

static void small_facts(void **state)
{
	struct record *r = opened();
	struct buf value = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_false(record_meta(r, "born", &value));
	good(record_set_meta(r, "born", "1", &err), &err);
	good(record_set_meta(r, "born", "1763366400.5", &err), &err);
	record_close(r);
	r = reading();
	assert_true(record_meta(r, "born", &value));
	expect_text(&value, "1763366400.5");
	buf_fini(&value);
	record_close(r);
}

static void a_reader_follows_a_writer(void **state)
{
	struct record *w = opened(), *r = reading();
	struct buf seen = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(record_last_seq(r), 0);
	submit_alone(w, a_job(1));
	assert_int_equal(record_last_seq(r), 1);
	good(record_begin(w, &err), &err);
	good(submit(w, a_job(2), "{}", &err), &err);
	good(record_live_jobs(r, note_job, &seen, &err), &err);
	expect_text(&seen, " 1"); /* nothing that is not committed */
	expect_sound(r);
	good(record_commit(w, &err), &err);
	assert_int_equal(record_last_job(r), 2);
	record_close(w);
	assert_int_equal(record_last_job(r), 2);
	buf_fini(&seen);
	record_close(r);
}

/* ---- the file */

static void only_its_owner_reads_it(void **state)
{
	mode_t before = umask(0);
	struct record *r = opened();
	struct stat st;
	char *log = mem_printf("%s-wal", place);

	(void)state;
	submit_alone(r, a_job(1));
	assert_int_equal(stat(place, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	umask(before);
	record_close(r);
	assert_false(file_exists(log));
	free(log);
}

static void expect_refused(bool readonly, const char *word)
{
	struct record *r = NULL;
	struct err err = { 0 };
	struct file before, after;

	assert_int_equal(file_read(place, &before, NULL), 0);
	assert_int_equal(record_open(place, readonly, &r, &err), ERR_REFUSED);
	assert_null(r);
	if (!strstr(err.text, word) || !strstr(err.text, place))
		fail_msg("%s", err.text);
	assert_int_equal(file_read(place, &after, NULL), 0);
	assert_int_equal(before.n, after.n);
	assert_memory_equal(before.at, after.at, after.n);
	file_fini(&before);
	file_fini(&after);
}

static void what_is_not_ours_is_left_alone(void **state)
{
	static const char text[] = "a letter to my aunt, long enough to look like something: "
				   "dear aunt, how are you, I am well, the weather is fine here\n";

	(void)state;
	file_write(place, text, strlen(text), NULL);
	expect_refused(false, "not a record");
	expect_refused(true, "not a record");
	unlink(place);
	raw("CREATE TABLE t(a)");
	expect_refused(false, "not a record");
	expect_refused(true, "not a record");
}

static void an_empty_database_is_a_new_record(void **state)
{
	struct record *r;

	(void)state;
	assert_int_equal(record_open(place, true, &r, NULL), ERR_MISSING);
	file_write(place, "", 0, NULL);
	assert_int_equal(record_open(place, true, &r, NULL), ERR_MISSING);
	raw("PRAGMA journal_mode = WAL"); /* as a crash before the first step leaves it */
	r = opened();
	submit_alone(r, a_job(1));
	expect_sound(r);
	record_close(r);
}

static void a_step_makes_the_next_schema(void **state)
{
	const char *steps[RECORD_SCHEMA + 2];
	enum { NEXT = RECORD_SCHEMA + 1, BROKEN = RECORD_SCHEMA + 2 };
	char broken[32];
	struct err err = { 0 };
	struct record *r = opened();
	sqlite3 *db;
	int schema;

	(void)state;
	memcpy(steps, record_steps, sizeof(record_steps));
	steps[NEXT - 1] = "ALTER TABLE job ADD COLUMN mood TEXT; UPDATE job SET mood = 'fine';";
	steps[BROKEN - 1] = "CREATE TABLE x(a); SELECT nonsense;";
	snprintf(broken, sizeof(broken), "schema %d", BROKEN);
	submit_alone(r, a_job(1));
	record_close(r);
	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	good(record_schema_of(db, place, NEXT, &schema, &err), &err);
	assert_int_equal(schema, RECORD_SCHEMA);
	good(record_schema_raise(db, place, steps, NEXT, &err), &err);
	good(record_schema_raise(db, place, steps, NEXT, &err), &err); /* nothing to do */
	good(record_schema_of(db, place, NEXT, &schema, &err), &err);
	assert_int_equal(schema, NEXT);
	assert_true(record_schema_raise(db, place, steps, BROKEN, &err) < 0); /* all or nothing */
	assert_non_null(strstr(err.text, broken));
	good(record_schema_of(db, place, BROKEN, &schema, &err), &err);
	assert_int_equal(schema, NEXT);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM x", NULL, NULL, NULL), SQLITE_ERROR);
	assert_int_equal(sqlite3_exec(db, "SELECT mood FROM job", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	expect_refused(false, "newer Stint");
	expect_refused(true, "newer Stint");
}

/* Makes the folder a place where nothing can be written, in this process; false: we may not. */
static bool seal(void)
{
	if (geteuid() != 0)
		return chmod(folder, 0555) == 0;
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount(folder, folder, NULL, MS_BIND, NULL) == 0 &&
		mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static int read_sealed(int want)
{
	struct record *r = NULL;
	struct err err = { 0 };
	struct buf out = { 0 };
	int rc;

	if (!seal())
		return 77;
	rc = record_open(place, true, &r, &err);
	if (rc != want)
		return fprintf(stderr, "%d, not %d: %s\n", rc, want, err.text), 1;
	if (!rc && (record_check(r, &out, &err) != 0 || record_last_job(r) != 1))
		return fprintf(stderr, "%s %s\n", err.text, out.at), 1;
	record_close(r);
	return 0;
}

/* False: it cannot be tried here. */
static bool expect_sealed(int want)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(read_sealed(want));
	assert_int_equal(waitpid(child, &status, 0), child);
	chmod(folder, 0700);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		puts("skip - mounting is not allowed here");
		return false;
	}
	assert_int_equal(status, 0);
	return true;
}

static void a_copy_that_cannot_be_written_is_read(void **state)
{
	char *live = mem_printf("%s/live.db", folder);
	struct record *r = opened();

	(void)state;
	submit_alone(r, a_job(1));
	run_shell("cp '%s' '%s'", place, live);
	run_shell("cp '%s-wal' '%s-wal'", place, live);
	record_close(r);
	if (!expect_sealed(0)) {
		free(live);
		skip();
	}
	free(place);
	place = live;
	expect_sealed(ERR_REFUSED); /* with a log beside it that cannot be taken in */
	r = reading();
	assert_int_equal(record_last_job(r), 1);
	record_close(r);
}

/* ---- checking */

static void a_record_of_each_kind(void)
{
	struct record *r = opened();

	for (uint32_t id = 1; id <= 3; id++)
		submit_alone(r, a_job(id));
	change_alone(r, 1, 1, "RUNNING", false);
	change_alone(r, 2, 2, "RUNNING", false);
	change_alone(r, 2, 2, "COMPLETED", true);
	expect_sound(r);
	record_close(r);
}

static void check_finds_what_does_not_follow(void **state)
{
	static const struct {
		const char *sql, *says;
	} rows[] = {
		{ "UPDATE job SET state = 'RUNNING' WHERE id = 3",
			"job 3: state is RUNNING, its events say PENDING\n" },
		{ "UPDATE job SET end_s = 5 WHERE id = 1",
			"job 1: end_s is 5.0, its events say nothing\n" },
		{ "DELETE FROM job WHERE id = 3", "job 3: is missing, its events say it is there\n" },
		{ "INSERT INTO attempt VALUES(3, 1, 0, '{}')", "attempt 3.1: no event says so\n" },
		{ "UPDATE attempt SET status = '{\"a\":1}' WHERE job = 2",
			"attempt 2.1: status is {\"a\":1}, its events say {\"code\":0}\n" },
		{ "DELETE FROM attempt WHERE job = 1",
			"attempt 1.1: is missing, its events say it is there\n" },
		{ "DELETE FROM event WHERE seq = 4",
			"events 1 to 6 should be 6 and are 5\n"
			"job 1: state is RUNNING, its events say PENDING\n"
			"job 1: status is {\"gpus\":1,\"attempt\":1}, its events say {\"gpus\":1}\n"
			"attempt 1.1: no event says so\n" },
		{ "UPDATE job SET submit_seq = 99 WHERE id = 3",
			"job 3: event 99, which has its submission, is not there\n"
			"job 3: submit_seq is 99, its events say 3\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out = { 0 };
		struct record *r;

		forget_record();
		a_record_of_each_kind();
		raw(rows[i].sql);
		r = reading();
		assert_true(differences(r, &out) > 0);
		expect_text(&out, rows[i].says);
		buf_fini(&out);
		record_close(r);
	}
}

/* Bytes in the middle that turned to something else. */
static void check_finds_damage(void **state)
{
	struct rng rng = property("a damaged page");
	struct stat st;
	uint32_t seen = 0;

	(void)state;
	a_record_of_each_kind();
	assert_int_equal(stat(place, &st), 0);
	for (off_t page = 1; page < st.st_size / 4096; page++) {
		char *copy = mem_printf("%s/copy.db", folder), *whole = place;
		unsigned char noise[4096];
		struct buf out = { 0 };
		struct record *r = NULL;
		int fd;

		run_shell("cp '%s' '%s'", place, copy);
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)rng_below(&rng, 256);
		fd = open(copy, O_WRONLY);
		assert_int_equal(pwrite(fd, noise, sizeof(noise), page * 4096), 4096);
		close(fd);
		place = copy;
		if (record_open(place, true, &r, NULL) == 0)
			seen += differences(r, &out) > 0;
		record_close(r);
		place = whole;
		buf_fini(&out);
		unlink(copy);
		free(copy);
	}
	assert_int_equal(seen, st.st_size / 4096 - 1);
}

/* ---- properties */

enum { JOBS = 40 };

/* How far each job is: 0 none, 1 submitted, 2 running, 3 ended. */
struct naive {
	int at[JOBS + 1];
	uint64_t submit_seq[JOBS + 1];
	uint32_t jobs;
};

static void one_event(struct record *r, struct naive *n, struct rng *rng)
{
	static const char *const ends[] = { "COMPLETED", "FAILED", "CANCELLED" };
	uint32_t id = 1 + (uint32_t)rng_below(rng, JOBS);
	struct err err = { 0 };

	if (id > n->jobs) {
		if (n->jobs == JOBS)
			return;
		id = ++n->jobs;
		good(submit(r, a_job(id), "{}", &err), &err);
		n->submit_seq[id] = record_last_seq(r);
	} else if (n->at[id] < 3) {
		bool end = n->at[id] == 2;

		good(change(r, id, n->submit_seq[id], end ? ends[rng_below(rng, 3)] : "RUNNING",
			     end, &err),
			&err);
	} else {
		return;
	}
	n->at[id]++;
}

static int compare_live(void *ctx, const struct record_job *job)
{
	struct naive *n = ctx;

	assert_true(n->at[job->id] == 1 || n->at[job->id] == 2);
	assert_string_equal(job->state, n->at[job->id] == 1 ? "PENDING" : "RUNNING");
	assert_int_equal(job->submit_seq, n->submit_seq[job->id]);
	n->at[0]++;
	return 0;
}

static void expect_as(struct record *r, struct naive *n)
{
	int live = 0;

	n->at[0] = 0;
	for (uint32_t id = 1; id <= n->jobs; id++)
		live += n->at[id] == 1 || n->at[id] == 2;
	assert_int_equal(record_live_jobs(r, compare_live, n, NULL), 0);
	assert_int_equal(n->at[0], live);
	assert_int_equal(record_last_job(r), n->jobs);
}

static void behaves_like_a_naive_one(void **state)
{
	struct rng rng = property("a record against a naive one");
	struct record *r = opened();
	struct naive n = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(100); i++) {
		struct naive before = n;
		struct err err = { 0 };

		good(record_begin(r, &err), &err);
		for (uint64_t k = rng_below(&rng, 8); k > 0; k--)
			one_event(r, &n, &rng);
		if (rng_below(&rng, 4) == 0) {
			record_rollback(r);
			n = before;
		} else {
			good(record_commit(r, &err), &err);
		}
		if (rng_below(&rng, 10) == 0) {
			record_close(r);
			r = opened();
		}
		expect_as(r, &n);
		if (n.jobs == JOBS && rng_below(&rng, 10) == 0) {
			record_close(r);
			forget_record();
			n = (struct naive){ 0 };
			r = opened();
		}
	}
	expect_sound(r);
	record_close(r);
}

enum { BATCHES = 12, EACH = 5 };

/* Whatever part of the log a crash has left, whole transactions come back: the first so many. */
static void a_torn_log_gives_whole_transactions(void **state)
{
	struct rng rng = property("a log cut anywhere");
	char *copy = mem_printf("%s/copy.db", folder), *log = mem_printf("%s-wal", copy),
	     *whole = place;
	struct record *r = opened();
	struct stat st;

	(void)state;
	for (uint32_t b = 0; b < BATCHES; b++) {
		struct err err = { 0 };

		good(record_begin(r, &err), &err);
		for (uint32_t i = 1; i <= EACH; i++)
			good(submit(r, a_job(b * EACH + i), "{}", &err), &err);
		good(record_commit(r, &err), &err);
	}
	for (size_t i = 0; i < rounds(40); i++) {
		struct record *back;

		place = copy;
		forget_record(); /* with record.id it would be refused: tests/store/identity_test.c */
		run_shell("cp '%s' '%s'", whole, copy);
		run_shell("cp '%s-wal' '%s'", whole, log);
		assert_int_equal(stat(log, &st), 0);
		assert_int_equal(truncate(log, (off_t)rng_below(&rng, (uint64_t)st.st_size + 1)), 0);
		back = opened();
		assert_int_equal(record_last_job(back) % EACH, 0);
		assert_int_equal(record_last_seq(back), record_last_job(back));
		expect_sound(back);
		record_close(back);
		place = whole;
	}
	record_close(r);
	free(copy);
	free(log);
}

/* A writer that never pauses leaves the thread no moment to find the log empty. */
static void the_log_does_not_grow_for_ever(void **state)
{
	char *log = mem_printf("%s-wal", place), *body = mem_alloc(20001);
	struct record *r = opened();
	struct err err = { 0 };
	struct stat st;

	(void)state;
	memset(body, ' ', 20000);
	memcpy(body, "{}", 2);
	for (uint32_t id = 1; id <= 8000; id++) {
		if (id % 50 == 1)
			good(record_begin(r, &err), &err);
		good(submit(r, a_job(id), body, &err), &err);
		if (id % 50 == 0)
			good(record_commit(r, &err), &err);
	}
	assert_int_equal(stat(log, &st), 0);
	assert_true(st.st_size < 72 << 20); /* of 160 MB written */
	expect_sound(r);
	record_close(r);
	free(log);
	free(body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_written_is_read),
		TEST(a_rollback_leaves_nothing),
		TEST(keys_are_unique_per_user),
		TEST(jobs_live_and_end),
		TEST(peaks_of_a_name),
		TEST(facts_may_change),
		TEST(a_number_is_taken_once_an_event_has_it),
		TEST(walks_may_nest),
		TEST(small_facts),
		TEST(a_reader_follows_a_writer),
		TEST(only_its_owner_reads_it),
		TEST(what_is_not_ours_is_left_alone),
		TEST(an_empty_database_is_a_new_record),
		TEST(a_step_makes_the_next_schema),
		TEST(a_copy_that_cannot_be_written_is_read),
		TEST(check_finds_what_does_not_follow),
		TEST(check_finds_damage),
		TEST(behaves_like_a_naive_one),
		TEST(a_torn_log_gives_whole_transactions),
		TEST(the_log_does_not_grow_for_ever),
	};

	return cmocka_run_group_tests_name("store/record", tests, NULL, NULL);
}
