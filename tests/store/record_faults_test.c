/*
 * The record on a disk that fails and in a process that dies.
 *
 * This program runs itself as a child under libfaults.so: the child commits batches and says
 * in a pipe what it was promised; we open what it left and hold it to that.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/record_fixture.h"
#include "store/record_prune.h"
#include "support/property.h"

/* A process with the address sanitizer takes long to begin: every so many calls are tried then. */
#if defined(__SANITIZE_ADDRESS__)
enum { STRIDE = 5 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { STRIDE = 5 };
#else
enum { STRIDE = 1 };
#endif
#else
enum { STRIDE = 1 };
#endif

/* ---- the child: BATCHES of EACH jobs with bodies of BYTES */

struct script {
	uint32_t batches, each, bytes;
	bool retries; /* goes on after a failure, else ends */
	bool prunes;  /* in the end, everything that has ended */
};

static char *make_body(uint32_t bytes)
{
	char *body = mem_alloc(bytes + 3);

	memset(body, ' ', bytes + 2);
	memcpy(body, "{}", 2);
	return body;
}

/* The disk is well again. */
static void mend(void)
{
	const char *off = getenv("FAULTS_OFF");
	int fd = off ? open(off, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
}

/* New jobs; the batch before this one starts, and the one before that ends. */
static int append_batch(struct record *r, const struct script *s, uint32_t batch, const char *body,
	struct err *err)
{
	/* Three events a job, less where there are no batches before. */
	uint64_t seq = record_last_seq(r);
	int rc = 0;

	for (uint32_t i = 1; !rc && i <= s->each; i++) {
		uint32_t id = batch * s->each + i;

		rc = submit(r, a_job(id), body, err);
		if (!rc && batch >= 1)
			rc = change(r, id - s->each, 0, "RUNNING", false, err);
		if (!rc && batch >= 2)
			rc = change(r, id - 2 * s->each, 0, "COMPLETED", true, err);
	}
	if (!rc && record_last_seq(r) != seq + s->each * (1 + (batch >= 1) + (batch >= 2)))
		rc = err_set(err, ERR_DIFFER, "events have other numbers than they should");
	return rc;
}

static int write_batch(struct record *r, const struct script *s, uint32_t batch, const char *body,
	struct err *err)
{
	int rc = record_begin(r, err);

	if (!rc)
		rc = append_batch(r, s, batch, body, err);
	return rc ? rc : record_commit(r, err);
}

static void summarise(const char *status, struct buf *out)
{
	(void)status;
	buf_str(out, "{}");
}

/* One job at a time, so that there are many steps to die in. */
static int prune_all(struct record *r, struct prune **prune, struct err *err)
{
	int rc = *prune ? 0 : prune_create(r, INFINITY, summarise, prune, err);

	while (rc >= 0 && (rc = prune_step(*prune, 1, err)) > 0)
		continue;
	return rc;
}

/* Tells a failure; true: it may be tried again. */
static bool may_retry(const struct script *s, const struct err *err, uint32_t tries)
{
	dprintf(1, "failed %s\n", err->text);
	mend();
	return s->retries && tries < 3;
}

static int child_main(char **argv)
{
	struct script s = { (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]),
		(uint32_t)atoi(argv[3]), atoi(argv[4]), atoi(argv[5]) };
	struct prune *prune = NULL;
	char *body = make_body(s.bytes);
	struct record *r = NULL;
	struct err err = { 0 };
	uint32_t tries = 0;

	while (record_open(argv[0], false, &r, &err) < 0) {
		if (!may_retry(&s, &err, tries++))
			return 1;
	}
	tries = 0;
	for (uint32_t b = 0; b < s.batches; tries = 0, b++) {
		while (write_batch(r, &s, b, body, &err) < 0) {
			if (!may_retry(&s, &err, tries++))
				return 1;
		}
		dprintf(1, "kept %u\n", (b + 1) * s.each);
	}
	while (s.prunes && prune_all(r, &prune, &err) < 0) {
		if (!may_retry(&s, &err, tries++))
			return 1;
	}
	prune_destroy(prune);
	record_close(r);
	free(body);
	return 0;
}

/* ---- the parent */

struct told {
	uint32_t kept;     /* jobs promised */
	uint32_t failures; /* told */
	char text[1024];   /* of the first */
	bool opening;      /* the first was before anything was kept */
	int status;        /* how the child ended */
	uint64_t calls;    /* counted */
};

static char *self, *library, *count_file, *off_file;

static void exec_child(const struct script *s, const char *what, uint64_t at, int out)
{
	char numbers[5][16], at_text[32];
	char *argv[] = { self, "child", place, numbers[0], numbers[1], numbers[2], numbers[3],
		numbers[4], NULL };

	snprintf(numbers[0], 16, "%u", s->batches);
	snprintf(numbers[1], 16, "%u", s->each);
	snprintf(numbers[2], 16, "%u", s->bytes);
	snprintf(numbers[3], 16, "%d", s->retries);
	snprintf(numbers[4], 16, "%d", s->prunes);
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

static void listen_to(int fd, struct told *told)
{
	FILE *in = fdopen(fd, "r");
	char line[1100];

	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "kept %u", &told->kept) == 1)
			continue;
		assert_int_equal(strncmp(line, "failed ", 7), 0);
		if (told->failures++ > 0)
			continue;
		snprintf(told->text, sizeof(told->text), "%.1000s", line + 7);
		told->opening = told->kept == 0;
	}
	fclose(in);
}

static uint64_t counted(void)
{
	FILE *in = fopen(count_file, "r");
	unsigned long long n = 0;

	assert_non_null(in);
	assert_int_equal(fscanf(in, "%llu", &n), 1);
	fclose(in);
	return n;
}

/* A record, written on by a child whose call number `at` goes wrong. */
static struct told go_on(const struct script *s, const char *what, uint64_t at)
{
	struct told told = { 0 };
	int ends[2];
	pid_t child;

	unlink(off_file);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		exec_child(s, what, at, ends[1]);
	close(ends[1]);
	listen_to(ends[0], &told);
	assert_int_equal(waitpid(child, &told.status, 0), child);
	told.calls = counted();
	return told;
}

/* The same with a fresh one. */
static struct told run_child(const struct script *s, const char *what, uint64_t at)
{
	forget_record();
	return go_on(s, what, at);
}

/* What a job must look like when `jobs` are there. */
struct expectation {
	const struct script *s;
	uint32_t jobs, seen;
};

static const char *state_of(const struct expectation *e, uint32_t id)
{
	static const char *const by_age[] = { "PENDING", "RUNNING", "COMPLETED" };
	uint32_t age = (e->jobs - id) / e->s->each;

	return by_age[age < 2 ? age : 2];
}

static int see_job(void *ctx, const struct record_job *job)
{
	struct expectation *e = ctx;

	e->seen++;
	return strcmp(job->state, state_of(e, job->id)) ? -100 : 0;
}

static int see_event(void *ctx, const struct record_event *event)
{
	uint32_t *bytes = ctx;

	return event->kind[0] == 's' && event->kind[1] == 'u' && strlen(event->body) != *bytes + 2
		? -100
		: 0;
}

/* Everything promised is there, nothing is there in part, and all of it fits together. */
static const char *judge(struct record *r, const struct script *s, const struct told *told)
{
	struct expectation e = { .s = s, .jobs = record_last_job(r) };
	static struct buf out;
	struct err err = { 0 };
	uint32_t bytes = s->bytes;

	buf_clear(&out);
	if (e.jobs < told->kept)
		return "a job that was promised is lost";
	if (e.jobs % s->each || e.jobs > told->kept + s->each)
		return "there are jobs of a transaction in part";
	for (uint32_t id = 1; id <= e.jobs; id++) {
		if (record_job(r, id, see_job, &e, &err) < 0)
			return "a job is not as it should be";
	}
	if (record_events(r, 0, 0, 0, see_event, &bytes, &err) < 0)
		return "a submission is not as it was";
	return record_check(r, &out, &err) == 0 ? NULL
		: out.n                         ? out.at
		: err.text[0]                   ? "cannot check"
						: "differs";
}

/* A reader recovers as a writer does; a writer now and then, because it waits for the disk. */
static void expect_kept(const struct script *s, const struct told *told, const char *what, uint64_t at)
{
	struct record *r = NULL;
	struct err err = { 0 };
	const char *wrong;
	int rc = record_open(place, at % 8 != 0, &r, &err);

	/* It died before there was one, or between two schemas of a new one. */
	if ((rc == ERR_MISSING || rc == ERR_REFUSED) && told->kept == 0)
		rc = record_open(place, false, &r, &err);
	if (rc < 0)
		fail_msg("%s at %llu: %s", what, (unsigned long long)at, err.text);
	wrong = judge(r, s, told);
	if (wrong)
		fail_msg("%s at %llu, %u promised: %s", what, (unsigned long long)at, told->kept,
			wrong);
	record_close(r);
}

static uint64_t calls_of(const struct script *s)
{
	struct told told = run_child(s, "", 0);

	assert_int_equal(told.status, 0);
	assert_int_equal(told.failures, 0);
	assert_int_equal(told.kept, s->batches * s->each);
	expect_kept(s, &told, "nothing", 0);
	return told.calls;
}

static void die_at(const struct script *s, const char *what, uint64_t at)
{
	struct told told = run_child(s, what, at);

	if (!WIFSIGNALED(told.status) || WTERMSIG(told.status) != SIGKILL)
		fail_msg("%s at %llu did not kill: %d %s", what, (unsigned long long)at,
			told.status, told.text);
	expect_kept(s, &told, what, at);
}

static const struct script small = { .batches = 4, .each = 3, .bytes = 100 };
/* Enough to empty the log on the way. */
static const struct script large = { .batches = 6, .each = 100, .bytes = 20000 };
static const char *const deaths[] = { "kill", "kill-after", "torn" };

static void a_death_at_any_call_loses_nothing(void **state)
{
	uint64_t calls = calls_of(&small);

	(void)state;
	printf("%llu calls\n", (unsigned long long)calls);
	assert_true(calls > 50);
	for (size_t d = 0; d < COUNT(deaths); d++) {
		for (uint64_t at = 1 + d % STRIDE; at <= calls; at += STRIDE)
			die_at(&small, deaths[d], at);
	}
}

/* Bodies of several pages, so that pages become free and are given back. */
static const struct script pruning = { .batches = 4, .each = 3, .bytes = 9000, .prunes = true };

static void a_death_while_pruning_leaves_a_sound_record(void **state)
{
	struct script without = pruning;
	uint64_t calls = calls_of(&pruning), first;

	(void)state;
	without.prunes = false;
	first = calls_of(&without) * 3 / 4; /* closing has calls, too */
	printf("%llu calls, of which pruning makes %llu\n", (unsigned long long)calls,
		(unsigned long long)(calls - first));
	assert_true(calls > first + 50);
	/* One of the deaths at each call; with SOAK every one. */
	for (size_t d = 0; d < COUNT(deaths); d++) {
		for (uint64_t at = first + d; at <= calls;
			at += getenv("SOAK") ? 1 : COUNT(deaths) * STRIDE)
			die_at(&pruning, deaths[d], at);
	}
}

/* The thread that empties the log makes the order of calls a little different each time. */
static void a_death_while_the_log_is_emptied_loses_nothing(void **state)
{
	struct rng rng = property("calls of a child with much to write");
	uint64_t calls = calls_of(&large);

	(void)state;
	printf("%llu calls\n", (unsigned long long)calls);
	for (size_t i = 0; i < rounds(30) / STRIDE; i++)
		die_at(&large, deaths[i % COUNT(deaths)], 1 + rng_below(&rng, calls - calls / 20));
}

/* ---- a disk that fails */

static const struct script stubborn = { .batches = 4, .each = 3, .bytes = 100, .retries = true };

/* While it is made, why a file beside it failed is not always known. */
static void expect_told(const struct told *told, const char *what, uint64_t at)
{
	const char *word = strstr(what, "enospc") ? "disk full: " : "disk failing: ";

	if (told->failures &&
		(!strstr(told->text, folder) ||
			(!told->opening && strncmp(told->text, word, strlen(word)) != 0)))
		fail_msg("%s at %llu says: %s", what, (unsigned long long)at, told->text);
}

static uint32_t fail_at(const struct script *s, const char *what, uint64_t at)
{
	struct told told = run_child(s, what, at);

	if (told.status != 0 || told.kept != s->batches * s->each)
		fail_msg("%s at %llu: ended %d after %u jobs: %s", what, (unsigned long long)at,
			told.status, told.kept, told.text);
	expect_told(&told, what, at);
	expect_kept(s, &told, what, at);
	return told.failures;
}

static void what_failed_can_be_tried_again(void **state)
{
	static const struct {
		const char *what;
		uint64_t every; /* so many calls one is tried */
		bool fails;
	} rows[] = {
		{ "eio", 1, true },
		{ "enospc", 2, true },
		{ "eio-from", 3, true },
		{ "enospc-from", 3, true },
		{ "short", 4, false },
	};
	uint64_t calls = calls_of(&stubborn);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t every = getenv("SOAK") ? 1 : rows[i].every * STRIDE;
		uint32_t failures = 0;

		for (uint64_t at = 1; at <= calls; at += every)
			failures += fail_at(&stubborn, rows[i].what, at);
		assert_true(rows[i].fails ? failures > calls / every / 2 : failures == 0);
	}
}

static void a_step_of_pruning_that_failed_can_be_tried_again(void **state)
{
	static const char *const whats[] = { "eio", "enospc", "eio-from", "enospc-from" };
	struct script s = pruning;
	uint64_t calls;
	uint32_t failures = 0;

	(void)state;
	s.retries = true;
	calls = calls_of(&s);
	for (size_t i = 0; i < COUNT(whats); i++) {
		for (uint64_t at = calls / 4 + i; at <= calls; at += getenv("SOAK") ? 1 : 11 * STRIDE)
			failures += fail_at(&s, whats[i], at);
	}
	assert_true(failures > 0);
}

static bool mount_disk(const char *size)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("none", folder, "tmpfs", 0, size) == 0;
}

/* In a child: a disk of 512 KiB that gets full, and room again. */
static int fill_the_disk(void)
{
	struct script s = { .each = 3 };
	char *body = make_body(10000), *ballast = path_join(folder, "ballast");
	struct told told = { 0 };
	struct record *r = NULL;
	struct err err = { 0 };
	const char *wrong;

	if (!mount_disk("size=512k"))
		return 77;
	s.bytes = 10000;
	run_shell("head -c 200000 /dev/zero >'%s'%s", ballast, "");
	if (record_open(place, false, &r, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	while (write_batch(r, &s, s.batches, body, &err) == 0)
		told.kept = ++s.batches * s.each;
	if (strncmp(err.text, "disk full", 9) != 0 || !told.kept)
		return fprintf(stderr, "after %u: %s\n", told.kept, err.text), 1;
	unlink(ballast);
	if (write_batch(r, &s, s.batches, body, &err) < 0)
		return fprintf(stderr, "again: %s\n", err.text), 1;
	told.kept = ++s.batches * s.each;
	wrong = judge(r, &s, &told);
	record_close(r);
	if (!wrong && record_open(place, false, &r, &err) == 0)
		wrong = judge(r, &s, &told);
	return wrong ? fprintf(stderr, "%s\n", wrong), 1 : 0;
}

/* ---- a disk that is full before the record is opened */

static void fill(const char *ballast)
{
	run_shell("dd if=/dev/zero of='%s' bs=4k 2>/dev/null; %s", ballast, "true");
}

/* The record of `kept` on a full disk, pruned by a child that dies at a call; with room it is as it was. */
static int prune_when_full(const char *kept, const char *what, uint64_t at, uint64_t *calls)
{
	const struct script nothing = { .each = 3, .bytes = 9000, .prunes = true };
	char *ballast = path_join(folder, "ballast");
	struct record *r = NULL;
	struct err err = { 0 };
	struct told told;
	const char *wrong;

	forget_record();
	unlink(ballast);
	run_shell("cp --sparse=never '%s'/* '%s'", kept, folder);
	fill(ballast);
	told = go_on(&nothing, what, at);
	*calls = told.calls;
	if (at ? !WIFSIGNALED(told.status) : told.status != 0)
		return fprintf(stderr, "%s at %llu: ended %d: %s\n", what, (unsigned long long)at,
			       told.status, told.text),
		       1;
	told.kept = pruning.batches * pruning.each;
	if (record_open(place, true, &r, &err) < 0)
		return fprintf(stderr, "%s at %llu: full: %s\n", what, (unsigned long long)at,
			       err.text),
		       1;
	record_close(r);
	unlink(ballast);
	if (record_open(place, false, &r, &err) < 0)
		return fprintf(stderr, "%s at %llu: %s\n", what, (unsigned long long)at, err.text), 1;
	wrong = judge(r, &nothing, &told);
	record_close(r);
	free(ballast);
	return wrong ? fprintf(stderr, "%s at %llu: %s\n", what, (unsigned long long)at, wrong), 1 : 0;
}

/* In a child: with room kept beside it, a record on a full disk is opened and pruned, whenever that is cut off. */
static int open_when_full(void)
{
	char *kept = mem_printf("%s.kept", folder);
	struct script before = pruning;
	uint64_t calls = 0, ignored;
	int rc;

	if (!mount_disk("size=24m"))
		return 77;
	before.prunes = false;
	if (run_child(&before, "", 0).status != 0)
		return 1;
	run_shell("cp -r --sparse=never '%s' '%s'", folder, kept);
	rc = prune_when_full(kept, "", 0, &calls);
	for (size_t d = 0; d < COUNT(deaths); d++) {
		for (uint64_t at = 1 + d; !rc && at <= calls; at += COUNT(deaths) * STRIDE)
			rc = prune_when_full(kept, deaths[d], at, &ignored);
	}
	printf("%llu calls\n", (unsigned long long)calls);
	fflush(stdout);
	run_shell("rm -r '%s'%s", kept, "");
	free(kept);
	return rc || calls < 50;
}

static void in_a_child(int (*run)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(run());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		puts("skip - mounting is not allowed here");
		skip();
	}
	assert_int_equal(status, 0);
}

static void a_full_disk_is_survived(void **state)
{
	(void)state;
	in_a_child(fill_the_disk);
}

static void a_record_on_a_full_disk_is_opened_and_pruned(void **state)
{
	(void)state;
	in_a_child(open_when_full);
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

	count_file = mem_printf("%s.count", folder);
	off_file = mem_printf("%s.off", folder);
	return rc;
}

static int tear_down_here(void **state)
{
	unlink(count_file);
	unlink(off_file);
	free(count_file);
	free(off_file);
	return tear_down(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_here, tear_down_here)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_death_at_any_call_loses_nothing),
		TEST(a_death_while_pruning_leaves_a_sound_record),
		TEST(a_death_while_the_log_is_emptied_loses_nothing),
		TEST(what_failed_can_be_tried_again),
		TEST(a_step_of_pruning_that_failed_can_be_tried_again),
		TEST(a_full_disk_is_survived),
		TEST(a_record_on_a_full_disk_is_opened_and_pruned),
	};

	if (argc == 8 && !strcmp(argv[1], "child"))
		return child_main(argv + 2);
	return cmocka_run_group_tests_name("store/record_faults", tests, find_parts, NULL);
}
