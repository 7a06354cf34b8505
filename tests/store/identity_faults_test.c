/*
 * Replacing a record, copying it and taking a claim over, in a process that dies or on a disk that fails.
 *
 * This program runs itself as a child under libfaults.so, on a state whose log is not empty.  Afterwards there is the
 * old record or the new one, or a daemon refuses with a sentence and the same command goes on; nothing is lost, and
 * no number of a job is given again.  With SOAK every call is tried, else a draw.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "live/local/attempt.h"
#include "store/record_copy.h"
#include "store/record_fixture.h"
#include "support/property.h"

enum { BACKED_UP = 6, JOBS = 9, KEPT = 4 };

static char *self, *library, *count_file, *off_file, *before, *backup, *copied;

static const struct lineage_point taken = { "0123456789abcdef0123456789abcdef", 3, 77 };

/* ---- the child */

static int stamp(struct err *err)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	rc = dir < 0 ? ERR_IO : claim_stamp(dir, &taken, 1000, err);
	close(dir);
	return rc;
}

static int operate(const char *what, struct err *err)
{
	struct record_floor floor = { 0 };
	struct record_copied c = { 0 };
	int rc = !strcmp(what, "restore") ? record_restore(backup, place, &floor, &c, err)
		: !strcmp(what, "again")  ? record_restore(place, place, &floor, &c, err)
		: !strcmp(what, "new")    ? record_begin_anew(place, &floor, &c, err)
		: !strcmp(what, "backup") ? record_backup(place, copied, &c, err)
					  : stamp(err);

	record_copied_fini(&c);
	return rc;
}

static void name_files(void)
{
	before = mem_printf("%s.before", folder);
	backup = path_join(before, "backup.db");
	copied = path_join(folder, "copied.db");
	count_file = mem_printf("%s.count", folder);
	off_file = mem_printf("%s.off", folder);
}

static int child_main(char **argv)
{
	struct err err = { 0 };

	folder = argv[0];
	place = path_join(folder, "stint.db");
	name_files();
	if (operate(argv[1], &err) == 0)
		return 0;
	dprintf(1, "%s", err.text);
	return 1;
}

/* ---- what it begins with */

static void write_jobs(struct record *r, uint32_t from, uint32_t to)
{
	struct err err = { 0 };

	for (uint32_t id = from; id <= to; id++)
		assert_true(record_begin(r, &err) == 0 && submit(r, a_job(id), "{}", &err) == 0 &&
			record_commit(r, &err) == 0);
}

/* Files as a daemon leaves them that was killed: the last jobs are in the log alone. */
static void make_before(void)
{
	struct claim_note note = { .guard = { .pid = 1, .start = 5, .boot = "boot" }, .uid = 7 };
	struct record_copied c = { 0 };
	struct record *r = NULL;
	struct err err = { 0 };
	int dir;

	run_shell("rm -rf '%s'; mkdir '%s'", before, before);
	forget_record();
	assert_int_equal(record_open(place, false, &r, &err), 0);
	write_jobs(r, 1, BACKED_UP);
	assert_int_equal(record_backup(place, backup, &c, &err), 0);
	record_copied_fini(&c);
	write_jobs(r, BACKED_UP + 1, JOBS);
	run_shell("cp '%s'/stint.db '%s'", folder, before);
	run_shell("cp '%s'/stint.db-wal '%s'", folder, before);
	run_shell("cp '%s'/record.id '%s'", folder, before);
	record_close(r);
	dir = open(before, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(claim_make(dir, &note, &err), 0);
	close(dir);
}

/* ---- one run */

struct ran {
	int status;
	char text[1024];
	uint64_t calls;
};

static void exec_child(const char *operation, const char *what, uint64_t at, int out)
{
	char at_text[32], *argv[] = { self, (char *)"child", folder, (char *)operation, NULL };

	snprintf(at_text, sizeof(at_text), "%llu", (unsigned long long)at);
	setenv("FAULTS_PROGRAM", path_base(self), 1);
	setenv("FAULTS_DIR", folder, 1);
	setenv("FAULTS_AT", at_text, 1);
	setenv("FAULTS_WHAT", what, 1);
	setenv("FAULTS_COUNT", count_file, 1);
	setenv("FAULTS_OFF", off_file, 1);
	setenv("FAULTS_NOSYNC", "1", 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	setenv("LD_PRELOAD", library, 1);
	dup2(out, 1);
	execv(self, argv);
	_exit(127);
}

static struct ran run_child(const char *operation, const char *what, uint64_t at)
{
	struct ran ran = { 0 };
	int ends[2];
	size_t got = 0;
	ssize_t n;
	pid_t child;
	FILE *in;
	unsigned long long calls = 0;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		exec_child(operation, what, at, ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], ran.text + got, sizeof(ran.text) - 1 - got)) > 0)
		got += (size_t)n;
	close(ends[0]);
	assert_int_equal(waitpid(child, &ran.status, 0), child);
	in = fopen(count_file, "r");
	assert_non_null(in);
	assert_int_equal(fscanf(in, "%llu", &calls), 1);
	fclose(in);
	ran.calls = calls;
	return ran;
}

/* ---- what it must have left */

/* Jobs in a file and its log, looked at in a copy; 0: it cannot be read, or is not sound. */
static uint32_t jobs_in(const char *name)
{
	char *look = mem_printf("%s.look", folder), *db = mem_printf("%s/stint.db", look);
	char *command = mem_printf("rm -rf '%s'; mkdir '%s'; cp '%s' '%s' 2>/dev/null; cp '%s-wal' '%s-wal' "
				   "2>/dev/null; true",
		look, look, name, db, name, db);
	struct record *r = NULL;
	struct buf lines = { 0 };
	struct err err = { 0 };
	uint32_t jobs = 0;

	assert_int_equal(system(command), 0);
	if (record_open(db, true, &r, &err) == 0 && record_check(r, &lines, &err) == 0)
		jobs = record_last_job(r);
	record_close(r);
	run_shell("rm -rf '%s'%s", look, "");
	buf_fini(&lines);
	free(command);
	free(look);
	free(db);
	return jobs;
}

static bool old_is_kept(void)
{
	bool kept = false;

	for (int i = 1; !kept && i <= KEPT; i++) {
		char *name = mem_printf("%s.kept-%d", place, i);

		kept = file_exists(name) && jobs_in(name) == JOBS;
		free(name);
	}
	return kept;
}

/* What is wrong with a record that a daemon would go on with; NULL: nothing. */
static const char *judge_open(struct record *r, const char *operation)
{
	bool is_new = !strcmp(operation, "new");
	uint32_t jobs = record_last_job(r);
	bool old = jobs == JOBS && record_identity(r)->generation == 1;
	bool fresh = is_new ? jobs == 0 && record_identity(r)->generation == 1
			    : jobs == (strcmp(operation, "again") ? BACKED_UP : JOBS) &&
			record_identity(r)->generation >= 2;
	struct buf lines = { 0 };
	struct err err = { 0 };
	bool sound = record_check(r, &lines, &err) == 0;

	buf_fini(&lines);
	if (!sound)
		return "the record is not sound";
	if (!old && !fresh)
		return "it is neither the old record nor the new one";
	if (record_given(r) < JOBS)
		return "a number of a job would be given again";
	return !old && !old_is_kept() ? "the old record is lost" : NULL;
}

/* True: a daemon starts. */
static bool judge(const char *operation, const char *what, uint64_t at)
{
	struct record *r = NULL;
	struct err err = { 0 };
	int rc = record_open(place, false, &r, &err);
	const char *wrong = rc == 0 ? judge_open(r, operation)
		: rc != ERR_REFUSED || !strstr(err.text, "stint db")
		? "a daemon neither starts nor says what to do"
		: NULL;

	record_close(r);
	if (wrong)
		fail_msg("%s, %s at %llu: %s: %s", operation, what, (unsigned long long)at, wrong,
			err.text);
	return rc == 0;
}

/* The same again, without faults. */
static void expect_goes_on(const char *operation, const char *what, uint64_t at)
{
	/* Of what is there now a part may be aside: its own file is not what it was. */
	const char *again = strcmp(operation, "again") ? operation : "restore";
	struct err err = { 0 };

	if (operate(again, &err) < 0)
		fail_msg("%s, %s at %llu, and again: %s", operation, what, (unsigned long long)at,
			err.text);
	if (!judge(again, what, at))
		fail_msg("%s, %s at %llu, and again: it does not start", operation, what,
			(unsigned long long)at);
	assert_true(old_is_kept());
}

static uint32_t refusals, starts;

static void see_replaced(const char *operation, const char *what, uint64_t at)
{
	bool starts_now = judge(operation, what, at);

	starts += starts_now;
	refusals += !starts_now;
	if (!starts_now)
		expect_goes_on(operation, what, at);
}

static void see_backup(const char *operation, const char *what, uint64_t at)
{
	struct err err = { 0 };

	assert_true(judge(operation, what, at));
	if (file_exists(copied)) {
		if (jobs_in(copied) != JOBS)
			fail_msg("%s, %s at %llu: the backup is not whole", operation, what,
				(unsigned long long)at);
		assert_int_equal(unlink(copied), 0);
	}
	if (operate(operation, &err) < 0 || jobs_in(copied) != JOBS)
		fail_msg("%s, %s at %llu, and again: %s", operation, what, (unsigned long long)at,
			err.text);
}

static void see_claim(const char *operation, const char *what, uint64_t at)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct claim_note note = { 0 };
	struct err err = { 0 };
	bool is_new;

	if (claim_read(dir, &note, &err) < 0)
		fail_msg("%s, %s at %llu: %s", operation, what, (unsigned long long)at, err.text);
	is_new = !strcmp(note.of.id, taken.id) && note.of.generation == 3 && note.of.seq == 77;
	assert_true(note.guard.pid == 1 && note.guard.start == 5);
	assert_true(is_new ? note.uid == 1000 : !note.of.id[0]);
	claim_fini(&note);
	assert_int_equal(operate(operation, &err), 0);
	assert_int_equal(claim_read(dir, &note, &err), 0);
	assert_string_equal(note.of.id, taken.id);
	claim_fini(&note);
	close(dir);
}

/* ---- every call, or a draw of them */

typedef void see_fn(const char *operation, const char *what, uint64_t at);

static void begin(void)
{
	char *command = mem_printf("rm -rf '%s'; cp -a '%s' '%s'", folder, before, folder);

	unlink(off_file);
	assert_int_equal(system(command), 0);
	free(command);
}

static void die_at(const char *operation, const char *what, uint64_t at, see_fn *see)
{
	struct ran ran;

	begin();
	ran = run_child(operation, what, at);
	if (!WIFSIGNALED(ran.status) || WTERMSIG(ran.status) != SIGKILL)
		fail_msg("%s, %s at %llu did not kill: %d %s", operation, what,
			(unsigned long long)at, ran.status, ran.text);
	see(operation, what, at);
}

static void fail_at(const char *operation, const char *what, uint64_t at, see_fn *see)
{
	struct ran ran;

	begin();
	ran = run_child(operation, what, at);
	if (!WIFEXITED(ran.status) || WEXITSTATUS(ran.status) > 1 ||
		(WEXITSTATUS(ran.status) == 1 && !ran.text[0]))
		fail_msg("%s, %s at %llu ended %d without a sentence", operation, what,
			(unsigned long long)at, ran.status);
	see(operation, what, at);
}

static void sweep(const char *operation, uint64_t least, see_fn *see)
{
	static const char *const deaths[] = { "kill", "kill-after", "torn" };
	static const char *const failures[] = { "eio", "enospc", "eio-from", "enospc-from", "short" };
	uint64_t stride = getenv("SOAK") ? 1 : 7, runs = 0, calls;

	make_before();
	begin();
	calls = run_child(operation, "", 0).calls;
	assert_true(calls >= least);
	starts = refusals = 0;
	for (size_t i = 0; i < COUNT(deaths); i++) {
		for (uint64_t at = getenv("SOAK") ? 1 : 1 + i * 2; at <= calls; at += stride, runs++)
			die_at(operation, deaths[i], at, see);
	}
	for (size_t i = 0; i < COUNT(failures); i++) {
		for (uint64_t at = getenv("SOAK") ? 1 : 1 + i; at <= calls;
			at += getenv("SOAK") ? 1 : stride * 2, runs++)
			fail_at(operation, failures[i], at, see);
	}
	printf("%s: %llu calls, %llu runs", operation, (unsigned long long)calls,
		(unsigned long long)runs);
	if (starts + refusals)
		printf(": a daemon starts after %u, refuses after %u", starts, refusals);
	puts("");
}

static void a_restore_leaves_the_old_or_the_new(void **state)
{
	(void)state;
	sweep("restore", 20, see_replaced);
}

static void going_on_with_what_is_there_loses_nothing(void **state)
{
	(void)state;
	sweep("again", 20, see_replaced);
}

static void a_new_record_keeps_the_old(void **state)
{
	(void)state;
	sweep("new", 20, see_replaced);
}

static void a_backup_is_whole_or_not_there(void **state)
{
	(void)state;
	sweep("backup", 5, see_backup);
}

static void a_claim_is_taken_over_or_as_it_was(void **state)
{
	(void)state;
	sweep("stamp", 2, see_claim);
}

/* ---- */

static int find_parts(void **state)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	(void)state;
	assert_true(n > 0);
	exe[n] = '\0';
	self = mem_strdup(exe);
	library = mem_printf("%.*s/../fake/libfaults.so", (int)(path_base(exe) - exe - 1), exe);
	return file_exists(library) ? 0 : -1;
}

static int set_up_here(void **state)
{
	int rc = set_up(state);

	name_files();
	return rc;
}

static int tear_down_here(void **state)
{
	run_shell("rm -rf '%s'%s", before, "");
	unlink(count_file);
	unlink(off_file);
	free(count_file);
	free(off_file);
	free(before);
	free(backup);
	free(copied);
	return tear_down(state);
}

/* Begins once more under libfaults.so: nothing here is about a machine that loses power. */
static int wait_for_no_disk(char **argv)
{
	const char *tmp = getenv("TMPDIR");

	if (find_parts(NULL) < 0)
		return 1;
	setenv("FAULTS_PROGRAM", path_base(self), 1);
	setenv("FAULTS_DIR", tmp ? tmp : "/tmp", 1);
	setenv("FAULTS_NOSYNC", "1", 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
	setenv("LD_PRELOAD", library, 1);
	execv(self, argv);
	return 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_here, tear_down_here)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_restore_leaves_the_old_or_the_new),
		TEST(going_on_with_what_is_there_loses_nothing),
		TEST(a_new_record_keeps_the_old),
		TEST(a_backup_is_whole_or_not_there),
		TEST(a_claim_is_taken_over_or_as_it_was),
	};

	if (argc == 4 && !strcmp(argv[1], "child"))
		return child_main(argv + 2);
	if (!getenv("FAULTS_NOSYNC"))
		return wait_for_no_disk(argv);
	return cmocka_run_group_tests_name("store/identity_faults", tests, find_parts, NULL);
}
