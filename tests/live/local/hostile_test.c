/*
 * Jobs that mean harm, or are merely badly written.
 */
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "live/local/hands.h"
#include "live/local/hands_fixture.h"

/* A name for sleeping processes that nobody else uses. */
static char *unique_nap(const char *what)
{
	return mem_printf("1%s.%d", what, (int)getpid());
}

static void stop_and_see_nothing_left(struct fixture *f, uint32_t job, const char *nap)
{
	struct err err;

	hands_stop(f->hands, job, 1, false, &err);
	ending_of(f, job);
	assert_int_equal(processes_with(nap), 0);
}

static void what_daemonises_does_not_get_away(void **state)
{
	(void)state;
	for (int cgroups = 0; cgroups < 2; cgroups++) {
		struct fixture *f = fixture_create(cgroups);
		char *nap = unique_nap("001"),
		     *text = mem_printf(
			     "setsid sh -c \"setsid sleep %s & exit\" & "
			     "(trap '' HUP TERM INT; setsid setsid sleep %s) & sleep 0.2; exit 6",
			     nap, nap);

		launch_shell(f, 1, text);
		assert_int_equal(ending_of(f, 1)->code, 6);
		assert_int_equal(processes_with(nap), 0);
		free(text);
		free(nap);
		fixture_destroy(f);
	}
}

/* Everything ignores every signal that can be ignored. */
static void the_deaf_are_killed(void **state)
{
	struct fixture *f = fixture_create(true);
	char *nap = unique_nap("002"), *ready = path_in(f, "ready"),
	     *text = mem_printf("trap '' TERM HUP INT QUIT USR1 USR2; for i in 1 2 3; do "
				"setsid sleep %s & done; echo 1 >%s; sleep %s; sleep %s",
		     nap, ready, nap, nap);
	const char *argv[4];
	struct launch l = shell(1, text, argv);

	(void)state;
	l.grace_s = 0.05;
	launch(f, &l);
	wait_file(ready);
	stop_and_see_nothing_left(f, 1, nap);
	free(ready);
	free(text);
	free(nap);
	fixture_destroy(f);
}

/* It forks as fast as it can, in groups and sessions of its own; with control groups without a bound of its own. */
static void fork_bombs_go_off_and_are_gone(void **state)
{
	(void)state;
	for (int cgroups = 0; cgroups < 2; cgroups++) {
		struct fixture *f = fixture_create(cgroups);
		bool bounded = cgroups && geteuid() == 0 && strcmp(hands_kind(f->hands), "none");
		char *nap = unique_nap("003"), *ready = path_in(f, "ready");
		char *text = bounded
			? mem_printf("bomb() { bomb | bomb & echo 1 >>%s; : %s; }; bomb; sleep %s",
				  ready, nap, nap)
			: mem_printf("i=0; while [ $i -lt 60 ]; do i=$((i+1)); (trap '' TERM; setsid sh -c "
				     "'while :; do sleep %s & sleep 0.02; wait; done') & done; echo 1 >%s; "
				     "sleep %s",
				  nap, ready, nap);
		const char *argv[4];
		struct launch l = shell(1, text, argv);

		l.tasks_max = 100;
		l.grace_s = 0.2;
		launch(f, &l);
		wait_file(ready);
		pause_ms(100);
		stop_and_see_nothing_left(f, 1, nap);
		free(text);
		free(ready);
		free(nap);
		fixture_destroy(f);
	}
}

static void a_job_without_descriptors_ends_as_usual(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1,
		"i=0; while [ $i -lt 10 ]; do eval \"exec $i<&-\"; i=$((i+1)); done; exit 5", argv);

	(void)state;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 5);
	fixture_destroy(f);
}

/* No descriptor of the daemon or of the guard gets to the job. */
static void a_job_inherits_nothing(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[] = { "ls", "/proc/self/fd", NULL }, *unused[4];
	struct launch l = shell(1, "", unused);
	int leaks = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */

	(void)state;
	l.argv = argv;
	launch(f, &l);
	ending_of(f, 1);
	assert_output(f, 1, "0\n1\n2\n3\n"); /* 3: the directory it reads */
	close(leaks);
	fixture_destroy(f);
}

static void signals_are_as_in_a_fresh_process(void **state)
{
	struct fixture *f = fixture_create(true);
	sigset_t some, before;
	char *text;

	(void)state;
	sigfillset(&some);
	sigprocmask(SIG_BLOCK, &some, &before);
	signal(SIGPIPE, SIG_IGN);
	launch_shell(f, 1, "exec cat /proc/self/status");
	ending_of(f, 1);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	text = output_of(f, 1, false);
	assert_non_null(strstr(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
	free(text);
	fixture_destroy(f);
}

static void a_symbolic_link_is_no_output(void **state)
{
	struct fixture *f = fixture_create(true);
	char *target = path_in(f, "precious"), *link_path = path_in(f, "out"), *text;
	const char *argv[4];
	struct launch l = shell(1, "echo overwritten", argv);
	FILE *out = fopen(target, "we");

	(void)state;
	fputs("precious", out);
	fclose(out);
	assert_int_equal(symlink(target, link_path), 0);
	l.out = link_path;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 126);
	assert_non_null(strstr(ending_of(f, 1)->text, "symbolic link"));
	assert_true(ending_of(f, 1)->begun_s == 0);
	text = text_of(target);
	assert_string_equal(text, "precious");
	free(text);
	free(link_path);
	free(target);
	fixture_destroy(f);
}

static void arguments_of_ten_megabytes(void **state)
{
	enum { EACH = 100000, COUNT_OF = 105 };
	struct fixture *f = fixture_create(true);
	const char *argv[COUNT_OF + 2] = { "true" }, *unused[4];
	struct launch l = shell(1, "", unused);
	char *one = mem_alloc(EACH + 1);

	(void)state;
	memset(one, 'x', EACH);
	for (int i = 1; i <= COUNT_OF; i++)
		argv[i] = one;
	l.argv = argv;
	launch(f, &l);
	assert_string_equal(ending_of(f, 1)->text, "argument list too long");
	assert_true(ending_of(f, 1)->begun_s == 0 && ending_of(f, 1)->known);
	free(one);
	fixture_destroy(f);
}

static void a_script_of_ten_megabytes(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *unused[4], *argv[] = { NULL };
	struct launch l = shell(1, "", unused);
	size_t n = 10 << 20;
	char *script = mem_alloc(n + 32);

	(void)state;
	memset(script, '#', n);
	strcpy(script + n, "\necho end\n");
	l.script = script;
	l.argv = argv;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_output(f, 1, "end\n");
	free(script);
	fixture_destroy(f);
}

/* ---- a full disk, in a mount that only this process and its children see */

static bool small_disk(const char *place)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	return mount("stint-test", place, "tmpfs", 0, "size=256k,mode=0711") == 0;
}

static bool fill(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	char zeros[4096] = { 0 };

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	return errno == ENOSPC;
}

/* In a child, because of the mount.  Exits with the line of what went wrong. */
#define NEED(what) \
	do { \
		if (!(what)) \
			_exit((__LINE__ - disk_begins) & 127); \
	} while (0)

enum { NO_MOUNT = 127 };
static const int disk_begins = __LINE__;

static void full_disk_child(struct fixture *f)
{
	const char *argv[4];
	char *ballast = path_in(f, "ballast"), *text, *dir, *ended;
	struct launch l;
	struct err err = { 0 };

	hands_close(f->hands);
	if (!small_disk(f->state))
		_exit(NO_MOUNT);
	open_hands(f, true);
	/* A job fills it and ends: its ending waits for room, and nothing of it is lost. */
	text = mem_printf("cat /dev/zero >>%s; exit 11", ballast);
	l = shell(1, text, argv);
	launch(f, &l);
	wait_begun(f, 1);
	dir = hands_dir(f->hands, 1, 1);
	ended = mem_printf("%s/ended", dir);
	while (processes_with(ballast))
		pause_ms(5);
	NEED(fill(ballast));
	pause_ms(100);
	if (access(ended, F_OK) < 0)
		NEED(alive(guard_of(f, 1)));
	/* Another cannot be launched meanwhile, and says so; it may be later. */
	l = shell(2, "exit 12", argv);
	NEED(try_launch(f, &l, &err) == ERR_IO);
	NEED(strstr(err.text, "No space left") != NULL);
	NEED(unlink(ballast) == 0);
	NEED(ending_of(f, 1)->known && ending_of(f, 1)->code == 11);
	NEED(try_launch(f, &l, &err) == 0);
	NEED(ending_of(f, 2)->known && ending_of(f, 2)->code == 12);
	NEED(hands_running(f->hands) == 0);
	hands_close(f->hands);
	_exit(0);
}

static void a_full_disk_is_waited_out(void **state)
{
	struct fixture *f = fixture_create(true);
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		full_disk_child(f);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_MOUNT)
		printf("skip - a small disk can be mounted by root only\n");
	else if (WEXITSTATUS(status))
		fail_msg("line %d", disk_begins + WEXITSTATUS(status));
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_daemonises_does_not_get_away),
		cmocka_unit_test(the_deaf_are_killed),
		cmocka_unit_test(fork_bombs_go_off_and_are_gone),
		cmocka_unit_test(a_job_without_descriptors_ends_as_usual),
		cmocka_unit_test(a_job_inherits_nothing),
		cmocka_unit_test(signals_are_as_in_a_fresh_process),
		cmocka_unit_test(a_symbolic_link_is_no_output),
		cmocka_unit_test(arguments_of_ten_megabytes),
		cmocka_unit_test(a_script_of_ten_megabytes),
		cmocka_unit_test(a_full_disk_is_waited_out),
	};

	return cmocka_run_group_tests_name("live/local/hostile", tests, NULL, NULL);
}
