/*
 * Launches whose guard takes its time: they hold up nothing, and each attempt starts at most once.
 */
#include "live/local/hands_fixture.h"

/* Longer than any of these tests takes. */
static const double forever_s = 3600;

/*
 * The first guard that is started waits for the file "go" before it does anything, its number is in "waits".  All others
 * are as usual.
 */
static struct fixture *with_slow_guard(double claim_timeout_s)
{
	struct fixture *f = fixture_create(false);
	char *path = path_in(f, "guard"), *real = f->guard;
	FILE *script = fopen(path, "we");

	assert_non_null(script);
	fprintf(script,
		"#!/bin/sh\n"
		"if mkdir %s/slow 2>/dev/null; then\n"
		"	echo $$ >%s/waits\n"
		"	while [ ! -e %s/go ]; do sleep 0.02; done\n"
		"fi\n"
		"exec %s\n",
		f->state, f->state, f->state, real);
	fclose(script);
	assert_int_equal(chmod(path, 0700), 0);
	free(real);
	f->guard = path;
	f->claim_timeout_s = claim_timeout_s;
	reopen_hands(f, false);
	return f;
}

static void let_go(const struct fixture *f)
{
	char *path = path_in(f, "go");

	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	free(path);
}

static pid_t slow_guard(const struct fixture *f)
{
	char *path = path_in(f, "waits"), *text;
	pid_t pid;

	wait_file(path);
	text = text_of(path);
	pid = atoi(text);
	free(text);
	free(path);
	assert_true(pid > 0);
	return pid;
}

/* Launches job 1: each start of its command leaves a line in "starts". */
static int launch_slow(struct fixture *f, const char *then, struct err *err)
{
	char *text = mem_printf("echo start >>%s/starts; %s", f->state, then);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	int rc = hands_launch(f->hands, &l, err);

	free(text);
	return rc;
}

static void assert_started(struct fixture *f, const char *want)
{
	char *path = path_in(f, "starts"), *text = text_of(path);

	assert_string_equal(text, want);
	free(text);
	free(path);
}

static void wait_launched(struct fixture *f, uint32_t n)
{
	while (f->nlaunched < n)
		poll_once(f);
}

static void a_slow_guard_holds_up_nothing(void **state)
{
	struct fixture *f = with_slow_guard(forever_s);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
	slow_guard(f);
	launch_shell(f, 2, "exit 4");
	assert_int_equal(ending_of(f, 2)->code, 4);
	assert_false(has_begun(f, 1));
	assert_int_equal(f->nlaunched, 1);
	assert_int_equal(hands_running(f->hands), 1);
	/* While it is pending it is not launched again. */
	assert_int_equal(launch_slow(f, "exit 3", &err), ERR_REFUSED);
	let_go(f);
	assert_int_equal(ending_of(f, 1)->code, 3);
	assert_true(has_begun(f, 1));
	assert_int_equal(f->nlaunched, 2);
	assert_int_equal(f->last_launch.code, 0);
	assert_started(f, "start\n");
	fixture_destroy(f);
}

/* A stopped process does not answer either, and is killed all the same. */
static void a_guard_that_does_not_answer_is_ended(void **state)
{
	(void)state;
	for (int stopped = 0; stopped < 2; stopped++) {
		struct fixture *f = with_slow_guard(2);
		struct err err = { 0 };
		pid_t guard;

		assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
		if (stopped) {
			guard = slow_guard(f);
			kill(guard, SIGSTOP);
		}
		wait_launched(f, 1);
		assert_int_equal(f->last_launch.code, ERR_IO);
		assert_non_null(strstr(f->last_launch.text, "did not answer"));
		assert_int_equal(hands_running(f->hands), 0);
		/* Nothing had started: the same attempt may be launched again. */
		f->claim_timeout_s = forever_s;
		reopen_hands(f, false);
		let_go(f);
		assert_int_equal(launch_slow(f, "exit 5", &err), LAUNCH_PENDING);
		assert_int_equal(ending_of(f, 1)->code, 5);
		assert_started(f, "start\n");
		fixture_destroy(f);
	}
}

static void a_killed_guard_has_started_nothing(void **state)
{
	struct fixture *f = with_slow_guard(forever_s);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
	kill(slow_guard(f), SIGKILL);
	wait_launched(f, 1);
	assert_int_equal(f->last_launch.code, ERR_IO);
	assert_int_equal(hands_running(f->hands), 0);
	assert_int_equal(f->nendings, 0);
	assert_started(f, "");
	fixture_destroy(f);
}

/* It had claimed the attempt before it was killed: that has started, and it is not known how it ended. */
static void a_claim_counts_before_it_is_heard_of(void **state)
{
	struct fixture *f = with_slow_guard(forever_s);
	char *starts = path_in(f, "starts");
	struct err err = { 0 };

	(void)state;
	let_go(f);
	assert_int_equal(launch_slow(f, "sleep 1000", &err), LAUNCH_PENDING);
	wait_file(starts);
	kill(slow_guard(f), SIGKILL);
	assert_false(ending_of(f, 1)->known);
	assert_int_equal(f->nlaunched, 1);
	assert_int_equal(f->last_launch.code, 0);
	assert_started(f, "start\n");
	free(starts);
	fixture_destroy(f);
}

/* The daemon is gone before the guard has claimed: the next launches again, and one of the two guards starts it. */
static void two_guards_start_it_once(void **state)
{
	struct fixture *f = with_slow_guard(forever_s);
	struct err err = { 0 };
	pid_t slow;

	(void)state;
	assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
	slow = slow_guard(f);
	reopen_hands(f, false);
	assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
	assert_int_equal(ending_of(f, 1)->code, 3);
	let_go(f);
	waitpid(slow, NULL, 0);
	assert_started(f, "start\n");
	/* The same with the late one as the first: its launch is refused. */
	assert_int_equal(launch_slow(f, "exit 3", &err), LAUNCH_PENDING);
	wait_launched(f, 2);
	assert_int_equal(f->last_launch.code, ERR_REFUSED);
	assert_int_equal(hands_running(f->hands), 0);
	assert_started(f, "start\n");
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_guard_holds_up_nothing),
		cmocka_unit_test(a_guard_that_does_not_answer_is_ended),
		cmocka_unit_test(a_killed_guard_has_started_nothing),
		cmocka_unit_test(a_claim_counts_before_it_is_heard_of),
		cmocka_unit_test(two_guards_start_it_once),
	};

	return cmocka_run_group_tests_name("live/local/start", tests, NULL, NULL);
}
