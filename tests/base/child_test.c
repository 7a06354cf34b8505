#include "base/child.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/property.h"

static int shell(const char *script, struct child_ask ask, struct child_end *end)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct err err = { 0 };

	ask.argv = argv;
	ask.out_max = ask.out_max ? ask.out_max : 4096;
	ask.timeout_s = ask.timeout_s > 0 ? ask.timeout_s : 60;
	return child_run(&ask, end, &err);
}

static void what_it_reads_writes_and_returns(void **state)
{
	struct child_end end;

	(void)state;
	assert_int_equal(shell("cat; echo oops >&2; exit 3",
				 (struct child_ask){ .input = "hello", .ninput = 5 }, &end),
		0);
	assert_string_equal(end.out.at, "hello");
	assert_string_equal(end.err.at, "oops\n");
	assert_int_equal(end.code, 3);
	assert_false(end.timed_out || end.stopped || end.out_cut);
	child_end_fini(&end);
}

static void nothing_to_read_is_an_end(void **state)
{
	struct child_end end;

	(void)state;
	assert_int_equal(shell("cat", (struct child_ask){ 0 }, &end), 0);
	assert_int_equal(end.code, 0);
	assert_int_equal(end.out.n, 0);
	child_end_fini(&end);
}

/* More than a pipe holds, both ways, to one that does not read at all or reads everything. */
static void large_input_does_not_block(void **state)
{
	static char large[1 << 20];
	struct child_ask ask = { .input = large, .ninput = sizeof(large), .out_max = 2 << 20 };
	struct child_end end;

	(void)state;
	memset(large, 'x', sizeof(large));
	assert_int_equal(shell("exit 0", ask, &end), 0);
	assert_int_equal(end.code, 0);
	child_end_fini(&end);
	assert_int_equal(shell("cat", ask, &end), 0);
	assert_int_equal(end.out.n, sizeof(large));
	child_end_fini(&end);
}

static void output_beyond_the_limit_is_cut(void **state)
{
	struct child_end end;

	(void)state;
	assert_int_equal(shell("head -c 100000 /dev/zero | tr '\\0' y",
				 (struct child_ask){ .out_max = 10 }, &end),
		0);
	assert_int_equal(end.code, 0);
	assert_string_equal(end.out.at, "yyyyyyyyyy");
	assert_true(end.out_cut);
	child_end_fini(&end);
}

/* With what it started; whoever it was would hold the pipes for an hour. */
static void time_is_limited(void **state)
{
	double began_s = clock_wall_s();
	struct buf text = { 0 };
	struct child_end end;

	(void)state;
	assert_int_equal(
		shell("sleep 3600 & sleep 3600", (struct child_ask){ .timeout_s = 0.2 }, &end), 0);
	assert_true(end.timed_out);
	assert_int_equal(end.signal, SIGKILL);
	assert_true(clock_wall_s() - began_s < 600);
	child_end_text(&end, 0.2, &text);
	assert_string_equal(text.at, "no end after 0.2 s: killed");
	buf_fini(&text);
	child_end_fini(&end);
}

static void what_stays_in_the_background_is_not_waited_for(void **state)
{
	struct child_end end;
	pid_t pid;

	(void)state;
	assert_int_equal(shell("sleep 3600 & echo $!", (struct child_ask){ 0 }, &end), 0);
	assert_int_equal(end.code, 0);
	pid = (pid_t)strtol(end.out.at, NULL, 10);
	assert_true(pid > 1 && kill(pid, SIGKILL) == 0);
	child_end_fini(&end);
}

static void *set(void *flag)
{
	usleep(100000);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

static void it_can_be_stopped(void **state)
{
	atomic_bool stop = false;
	struct child_end end;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, set, &stop), 0);
	assert_int_equal(
		shell("sleep 3600", (struct child_ask){ .stop = &stop, .timeout_s = 3000 }, &end), 0);
	assert_true(end.stopped);
	pthread_join(thread, NULL);
	child_end_fini(&end);
}

static void what_is_not_there_is_missing(void **state)
{
	const char *argv[] = { "no-such-program-here", NULL };
	struct child_ask ask = { .argv = argv, .timeout_s = 1 };
	struct err err = { 0 };
	struct child_end end;

	(void)state;
	assert_int_equal(child_run(&ask, &end, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "no-such-program-here"));
}

static void signals_are_not_blocked_in_it(void **state)
{
	sigset_t all, before;
	struct child_end end;

	(void)state;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	assert_int_equal(shell("kill -TERM $$; sleep 3600", (struct child_ask){ 0 }, &end), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(end.signal, SIGTERM);
	assert_int_equal(end.code, -1);
	child_end_fini(&end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_reads_writes_and_returns),
		cmocka_unit_test(nothing_to_read_is_an_end),
		cmocka_unit_test(large_input_does_not_block),
		cmocka_unit_test(output_beyond_the_limit_is_cut),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(what_stays_in_the_background_is_not_waited_for),
		cmocka_unit_test(it_can_be_stopped),
		cmocka_unit_test(what_is_not_there_is_missing),
		cmocka_unit_test(signals_are_not_blocked_in_it),
	};

	return cmocka_run_group_tests_name("base/child", tests, NULL, NULL);
}
