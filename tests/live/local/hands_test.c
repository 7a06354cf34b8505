#include "live/local/hands.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "live/local/hands_fixture.h"

static void exit_codes_and_signals(void **state)
{
	static const struct {
		const char *what, *command;
		int code, signal;
	} rows[] = {
		{ "success", "exit 0", 0, 0 },
		{ "failure", "exit 3", 3, 0 },
		{ "checkpointed, requeue me", "exit 85", 85, 0 },
		{ "the largest", "exit 255", 255, 0 },
		{ "killed", "kill -KILL $$", -1, SIGKILL },
		{ "a fault", "kill -SEGV $$", -1, SIGSEGV },
		{ "a shell's word for a killed child", "sh -c 'kill -TERM $$'; exit $?", 143, 0 },
	};
	struct fixture *f = fixture_create(true);

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++)
		launch_shell(f, i + 1, rows[i].command);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct ending *e = ending_of(f, i + 1);

		if (!e->known || e->code != rows[i].code || e->signal != rows[i].signal)
			fail_msg("%s: known %d code %d signal %d text '%s'", rows[i].what, e->known,
				e->code, e->signal, e->text);
		assert_false(e->asked || e->timed_out);
		assert_true(e->begun_s > 0 && e->ended_s >= e->begun_s && e->asked_s == 0);
		assert_true(has_begun(f, i + 1));
		assert_int_equal(e->attempt, 1);
		assert_string_equal(e->text, "");
	}
	assert_int_equal(hands_running(f->hands), 0);
	assert_int_equal(f->nendings, COUNT(rows));
	fixture_destroy(f);
}

static void output_environment_and_directory(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "echo $COLOUR $HOME$SHELL_NONE; pwd; umask; echo bad >&2; cat",
		argv);
	char *bad;

	(void)state;
	l.cwd = f->state;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	char *want = mem_printf("blue\n%s\n0022\n", f->state);

	assert_output(f, 1, want);
	bad = output_of(f, 1, true);
	assert_string_equal(bad, "bad\n");
	free(bad);
	free(want);
	fixture_destroy(f);
}

static void binary_output_and_the_jobs_own_paths(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "printf 'a\\0b\\377\\n'; echo two >&2", argv);
	char *path = path_in(f, "both"), bytes[64];
	FILE *in;

	(void)state;
	l.out = l.err_out = path;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	in = fopen(path, "re");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), in), 9);
	assert_memory_equal(bytes, "a\0b\377\ntwo\n", 9);
	fclose(in);
	l.job = 2; /* another job begins it anew, */
	launch(f, &l);
	ending_of(f, 2);
	in = fopen(path, "re");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), in), 9);
	fclose(in);
	l.job = 3; /* and a later attempt goes on in it */
	l.attempt = 2;
	launch(f, &l);
	ending_of(f, 3);
	in = fopen(path, "re");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), in), 18);
	fclose(in);
	free(path);
	fixture_destroy(f);
}

static void scripts(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "echo plain $1 $#\n", "plain one 2\n" },
		{ "#!/bin/sh\necho named $2\n", "named two words\n" },
		{ "#! /bin/sh -e \nfalse\necho not reached\n", "" },
		{ "#!/usr/bin/env sh\r\necho env\n", "env\n" },
		{ "", "" },
	};
	struct fixture *f = fixture_create(true);
	const char *unused[4], *argv[] = { "one", "two words", NULL };

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct launch l = shell(i + 1, "", unused);

		l.script = rows[i].text;
		l.argv = argv;
		launch(f, &l);
		ending_of(f, i + 1);
		assert_output(f, i + 1, rows[i].want);
	}
	fixture_destroy(f);
}

static void what_cannot_start_says_why(void **state)
{
	static const struct {
		const char *command, *cwd, *out, *text;
		int code;
	} rows[] = {
		{ "no-such-command", "/", NULL, "no-such-command: not found", 127 },
		{ "/no/such/command", "/", NULL, "/no/such/command: not found", 127 },
		{ "/etc/passwd", "/", NULL, "/etc/passwd: Permission denied", 126 },
		{ "true", "/no/such/place", NULL,
			"cannot enter /no/such/place: No such file or directory", 126 },
		{ "true", "/", "/no/such/place/out",
			"cannot write /no/such/place/out: No such file or directory", 126 },
	};
	struct fixture *f = fixture_create(true);
	const char *unused[4];

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const char *argv[] = { rows[i].command, NULL };
		struct launch l = shell(i + 1, "", unused);

		l.argv = argv;
		l.cwd = rows[i].cwd;
		l.out = rows[i].out;
		launch(f, &l);
		assert_string_equal(ending_of(f, i + 1)->text, rows[i].text);
		assert_int_equal(ending_of(f, i + 1)->code, rows[i].code);
		assert_true(ending_of(f, i + 1)->begun_s == 0);
		assert_false(has_begun(f, i + 1));
	}
	fixture_destroy(f);
}

/* ---- stopping */

static void a_stop_is_a_signal_first(void **state)
{
	struct fixture *f = fixture_create(true);
	char *ready = path_in(f, "ready"),
	     *text = mem_printf(
		     "trap 'echo saved; exit 85' USR2; echo 1 >%s; while :; do sleep 0.01; done",
		     ready);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err;

	(void)state;
	l.stop_signal = SIGUSR2;
	launch(f, &l);
	wait_file(ready);
	assert_int_equal(hands_stop(f->hands, 1, 1, false, &err), 0);
	assert_int_equal(hands_stop(f->hands, 1, 1, false, &err), 0);
	assert_int_equal(ending_of(f, 1)->code, 85);
	assert_true(ending_of(f, 1)->asked && !ending_of(f, 1)->timed_out);
	assert_true(ending_of(f, 1)->asked_s >= ending_of(f, 1)->begun_s);
	assert_output(f, 1, "saved\n");
	assert_int_equal(hands_stop(f->hands, 1, 1, true, &err), 0); /* it is over: nothing */
	free(ready);
	free(text);
	fixture_destroy(f);
}

static void who_does_not_listen_is_killed_after_the_grace(void **state)
{
	struct fixture *f = fixture_create(true);
	char *ready = path_in(f, "ready"),
	     *text = mem_printf("trap '' TERM; echo 1 >%s; while :; do sleep 0.01; done", ready);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err;
	const struct ending *e;

	(void)state;
	l.grace_s = 0.2;
	launch(f, &l);
	wait_file(ready);
	hands_stop(f->hands, 1, 1, false, &err);
	e = ending_of(f, 1);
	assert_int_equal(e->signal, SIGKILL);
	assert_int_equal(e->code, -1);
	assert_true(e->asked && e->ended_s - e->asked_s >= 0.19);
	free(ready);
	free(text);
	fixture_destroy(f);
}

static void kill_now_does_not_wait(void **state)
{
	struct fixture *f = fixture_create(true);
	char *ready = path_in(f, "ready"),
	     *text = mem_printf("trap '' TERM; echo 1 >%s; sleep 1000", ready);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err;

	(void)state;
	l.grace_s = 1000;
	launch(f, &l);
	wait_file(ready);
	hands_stop(f->hands, 1, 1, false, &err);
	hands_stop(f->hands, 1, 1, true, &err); /* even within the grace */
	assert_int_equal(ending_of(f, 1)->signal, SIGKILL);
	free(ready);
	free(text);
	fixture_destroy(f);
}

/* Right after the launch, whatever the guard is doing then: it is not known whether it has claimed the attempt. */
static void an_early_stop_is_not_lost(void **state)
{
	struct fixture *f = fixture_create(false);
	struct err err;

	(void)state;
	for (uint32_t job = 1; job <= 20; job++) {
		const char *argv[4];
		struct launch l = shell(job, "sleep 1000", argv);

		assert_int_equal(hands_launch(f->hands, &l, &err), LAUNCH_PENDING);
		hands_stop(f->hands, job, 1, job % 2, &err);
	}
	for (uint32_t job = 1; job <= 20; job++) {
		const struct ending *e = ending_of(f, job);

		assert_int_equal(e->signal, job % 2 ? SIGKILL : SIGTERM);
		assert_true(e->asked);
		assert_int_equal(has_begun(f, job), e->begun_s > 0);
	}
	fixture_destroy(f);
}

static void the_checkpoint_command_comes_before_the_signal(void **state)
{
	struct fixture *f = fixture_create(true);
	char *ready = path_in(f, "ready"),
	     *text = mem_printf(
		     "trap 'echo signal; exit 0' TERM; echo 1 >%s; while :; do sleep 0.01; done",
		     ready);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err;

	(void)state;
	l.checkpoint = "kill -0 $STINT_PID && echo checkpoint $COLOUR; pwd";
	launch(f, &l);
	wait_file(ready);
	hands_stop(f->hands, 1, 1, false, &err);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_output(f, 1, "checkpoint blue\n/\nsignal\n");
	l.job = 2;
	l.checkpoint = "echo begins; sleep 1000"; /* one that never ends has the grace, too */
	l.grace_s = 0.2;
	unlink(ready);
	launch(f, &l);
	wait_file(ready);
	hands_stop(f->hands, 2, 1, false, &err);
	assert_true(ending_of(f, 2)->code == 0 || ending_of(f, 2)->signal == SIGKILL);
	assert_output(f, 2, "begins\nsignal\n");
	free(ready);
	free(text);
	fixture_destroy(f);
}

static void time_is_counted(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "sleep 1000", argv);
	const struct ending *e;
	double from_s = proc_now_s();

	(void)state;
	l.time_s = 0.2;
	launch(f, &l);
	e = ending_of(f, 1);
	assert_true(e->timed_out && e->asked);
	assert_int_equal(e->signal, SIGTERM);
	assert_true(e->asked_s - from_s >= 0.19);
	l = shell(2, "exit 0", argv);
	l.time_s = 1000;
	launch(f, &l);
	assert_false(ending_of(f, 2)->timed_out);
	fixture_destroy(f);
}

static void any_signal_is_handed_on(void **state)
{
	struct fixture *f = fixture_create(true);
	char *ready = path_in(f, "ready"),
	     *text = mem_printf("trap 'echo usr1' USR1; trap 'echo urg; exit 4' URG; echo 1 >%s; "
				"while :; do sleep 0.01; done",
		     ready),
	     *out;
	struct err err;

	(void)state;
	launch_shell(f, 1, text);
	wait_file(ready);
	assert_int_equal(hands_signal(f->hands, 1, 1, SIGUSR1, &err), 0);
	out = hands_output(f->hands, 1, 1, false);
	wait_file(out);
	assert_int_equal(hands_signal(f->hands, 1, 1, SIGURG, &err), 0);
	assert_int_equal(ending_of(f, 1)->code, 4);
	assert_false(ending_of(f, 1)->asked);
	assert_output(f, 1, "usr1\nurg\n");
	assert_int_equal(hands_signal(f->hands, 1, 1, 0, &err), ERR_USAGE);
	free(out);
	free(ready);
	free(text);
	fixture_destroy(f);
}

/* ---- at most once */

static void an_attempt_starts_once(void **state)
{
	struct fixture *f = fixture_create(true);
	char *path = path_in(f, "starts"), *text = mem_printf("echo start >>%s; sleep 1000", path);
	char *got;
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err;

	(void)state;
	launch(f, &l);
	wait_file(path);
	assert_int_equal(try_launch(f, &l, &err), ERR_REFUSED);
	assert_int_equal(hands_running(f->hands), 1);
	hands_stop(f->hands, 1, 1, false, &err);
	ending_of(f, 1);
	assert_int_equal(try_launch(f, &l, &err), ERR_REFUSED);
	got = text_of(path);
	assert_string_equal(got, "start\n");
	l.attempt = 2;
	launch(f, &l);
	hands_stop(f->hands, 1, 2, true, &err);
	while (f->nendings < 2)
		poll_once(f);
	free(got);
	free(text);
	free(path);
	fixture_destroy(f);
}

static void what_is_void_never_starts(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	struct ending ending;
	enum claim claim;
	struct err err;

	(void)state;
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 1, .attempt = 1 }, false,
				 &claim, &ending, &err),
		0);
	assert_int_equal(claim, CLAIM_NEVER);
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 1, .attempt = 1 }, true,
				 &claim, &ending, &err),
		0);
	assert_int_equal(claim, CLAIM_NEVER);
	assert_int_equal(try_launch(f, &l, &err), ERR_REFUSED);
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 1, .attempt = 1 }, false,
				 &claim, &ending, &err),
		0);
	assert_int_equal(claim, CLAIM_NEVER);
	l.job = 2; /* asked about, and still to be launched */
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 2, .attempt = 1 }, false,
				 &claim, &ending, &err),
		0);
	launch(f, &l);
	assert_int_equal(ending_of(f, 2)->code, 0);
	fixture_destroy(f);
}

/* As a crash of the machine may leave it: claimed by somebody, and it is not known by whom. */
static void a_claim_cut_short_is_never_started_again(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	struct ending ending;
	enum claim claim;
	struct err err;
	char *dir = hands_dir(f->hands, 1, 1), *path = mem_printf("%s/begun", dir);

	(void)state;
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 1, .attempt = 1 }, false,
				 &claim, &ending, &err),
		0);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(try_launch(f, &l, &err), ERR_REFUSED);
	assert_int_equal(hands_claim(f->hands, &(struct holding){ .job = 1, .attempt = 1 }, false,
				 &claim, &ending, &err),
		0);
	assert_int_equal(claim, CLAIM_ENDED);
	assert_true(!ending.known && ending.job == 1 && ending.code == -1);
	free(path);
	free(dir);
	fixture_destroy(f);
}

static void a_guard_that_cannot_be_started_is_told(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	struct err err;
	char *guard = f->guard;

	(void)state;
	hands_close(f->hands);
	f->guard = path_in(f, "guard");
	assert_int_equal(symlink(guard, f->guard), 0);
	open_hands(f, true);
	unlink(f->guard);
	assert_int_equal(try_launch(f, &l, &err), ERR_IO);
	assert_int_equal(symlink("/bin/false", f->guard), 0);
	assert_int_equal(try_launch(f, &l, &err), ERR_IO);
	unlink(f->guard);
	assert_int_equal(symlink(guard, f->guard), 0);
	launch(f, &l); /* nothing had started: the same attempt again */
	assert_int_equal(ending_of(f, 1)->code, 0);
	free(guard);
	fixture_destroy(f);
}

/* ---- the daemon goes and comes back */

/* Plays the daemon in a child that is killed: launches job 1 and then does `more`. */
static void killed_daemon(struct fixture *f, const struct launch *l, void (*more)(struct fixture *f))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct err err;

		if (l && try_launch(f, l, &err) < 0)
			_exit(1);
		if (more)
			more(f);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void wait_for_begun(struct fixture *f)
{
	wait_begun(f, 1);
}

static void wait_for_ended(struct fixture *f)
{
	char *dir = hands_dir(f->hands, 1, 1), *path = mem_printf("%s/ended", dir);

	wait_file(path);
}

static enum claim claim_of(struct fixture *f, uint32_t job, bool void_it, struct ending *ending)
{
	enum claim claim;
	struct err err;

	if (hands_claim(f->hands, &(struct holding){ .job = job, .attempt = 1 }, void_it, &claim,
		    ending, &err) < 0)
		fail_msg("%s", err.text);
	return claim;
}

static void a_job_outlives_its_daemon(void **state)
{
	static void (*const moments[])(struct fixture * f) = { NULL, wait_for_begun };

	(void)state;
	for (size_t i = 0; i < COUNT(moments); i++) {
		struct fixture *f = fixture_create(true);
		char *go = path_in(f, "go"),
		     *text = mem_printf("while [ ! -s %s ]; do sleep 0.01; done; echo done; exit 7",
			     go);
		const char *argv[4];
		struct launch l = shell(1, text, argv);
		struct ending ending;
		FILE *out;

		killed_daemon(f, &l, moments[i]);
		reopen_hands(f, true);
		assert_int_equal(claim_of(f, 1, true, &ending), CLAIM_RUNS);
		assert_int_equal(claim_of(f, 1, true, &ending), CLAIM_RUNS);
		assert_int_equal(hands_running(f->hands), 1);
		wait_begun(f, 1);
		assert_int_equal(f->nendings, 0);
		out = fopen(go, "we");
		fputs("go\n", out);
		fclose(out);
		assert_int_equal(ending_of(f, 1)->code, 7);
		assert_output(f, 1, "done\n");
		assert_int_equal(f->nbegun, 1);
		free(go);
		free(text);
		fixture_destroy(f);
	}
}

static void measure(const struct fixture *f, struct hands_use *of, size_t n)
{
	hands_find_guards(f->hands, of, n);
	hands_measure(of, n);
}

/* CPU time of all processes of an attempt, those that came and went too; nothing of others. */
static void use_is_measured(void **state)
{
	struct fixture *f = fixture_create(false);
	struct hands_use of[] = { { .job = 1, .attempt = 1 }, { .job = 2, .attempt = 1 },
		{ .job = 3, .attempt = 1 } };
	double first_s;

	(void)state;
	launch_shell(f, 1,
		"while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done");
	launch_shell(f, 2, "exec sleep 1000");
	wait_begun(f, 1);
	wait_begun(f, 2);
	measure(f, of, COUNT(of));
	first_s = of[0].cpu_s;
	for (int ms = 0; of[0].cpu_s < first_s + 0.2 && ms < PATIENCE_MS; ms += 50) {
		pause_ms(50);
		measure(f, of, COUNT(of));
		assert_true(of[0].known && of[1].known && !of[2].known);
	}
	assert_true(of[0].cpu_s >= first_s + 0.2);
	assert_true(of[1].cpu_s < 0.2);
	for (uint32_t job = 1; job <= 2; job++) {
		struct err err;

		hands_stop(f->hands, job, 1, true, &err);
		ending_of(f, job);
	}
	measure(f, of, COUNT(of));
	assert_false(of[0].known);
	fixture_destroy(f);
}

static void an_adopted_job_can_be_stopped(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "sleep 1000", argv);
	struct ending ending;
	struct err err;

	(void)state;
	killed_daemon(f, &l, NULL);
	reopen_hands(f, false); /* whatever the new one thinks of cgroups */
	assert_int_equal(claim_of(f, 1, true, &ending), CLAIM_RUNS);
	assert_int_equal(hands_stop(f->hands, 1, 1, false, &err), 0);
	assert_int_equal(ending_of(f, 1)->signal, SIGTERM);
	assert_true(ending_of(f, 1)->asked);
	reopen_hands(f, true);
	fixture_destroy(f);
}

static void what_ended_meanwhile_is_known(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1, "exit 9", argv);
	struct ending ending;

	(void)state;
	killed_daemon(f, &l, wait_for_ended);
	reopen_hands(f, true);
	/* The guard may be on its last instruction. */
	if (claim_of(f, 1, true, &ending) == CLAIM_RUNS)
		ending = *ending_of(f, 1);
	assert_true(ending.known && ending.code == 9 && ending.begun_s > 0);
	assert_int_equal(ending.job, 1);
	assert_int_equal(claim_of(f, 1, true, &ending), CLAIM_ENDED);
	assert_true(ending.known && ending.code == 9);
	fixture_destroy(f);
}

/* Killed at any moment of the launch: afterwards it runs, or never will, and it started at most once. */
static void killed_in_the_middle_of_a_launch(void **state)
{
	struct rng rng = property("a daemon killed while it launches");

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct fixture *f = fixture_create(false);
		char *path = path_in(f, "starts"),
		     *text = mem_printf("echo start >>%s; exit 5", path), *got;
		struct timespec moment = { 0,
			(long)rng_below(&rng, UINT64_C(1) << rng_below(&rng, 26)) };
		const char *argv[4];
		struct launch l = shell(1, text, argv);
		struct ending ending;
		enum claim claim;
		struct err err;
		pid_t child = fork();

		if (child == 0) {
			hands_launch(f->hands, &l, &err);
			pause();
		}
		nanosleep(&moment, NULL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		reopen_hands(f, false);
		claim = claim_of(f, 1, round % 2, &ending);
		if (claim == CLAIM_NEVER && round % 2 == 0) {
			/* May be launched again, unless the late guard is faster. */
			if (try_launch(f, &l, &err) < 0)
				assert_int_equal(err.code, ERR_REFUSED);
			claim = claim_of(f, 1, true, &ending);
			assert_int_not_equal(claim, CLAIM_NEVER);
		}
		if (claim == CLAIM_RUNS)
			ending = *ending_of(f, 1);
		if (claim == CLAIM_NEVER) {
			assert_int_equal(try_launch(f, &l, &err), ERR_REFUSED);
			pause_ms(20); /* what must not happen has time to */
		} else {
			assert_true(ending.known);
			assert_int_equal(ending.code, 5);
		}
		got = text_of(path);
		assert_string_equal(got, claim == CLAIM_NEVER ? "" : "start\n");
		free(got);
		free(text);
		free(path);
		fixture_destroy(f);
	}
}

static void a_killed_guard_leaves_nothing_running(void **state)
{
	(void)state;
	for (int cgroups = 0; cgroups < 2; cgroups++) {
		struct fixture *f = fixture_create(cgroups);
		char *ready = path_in(f, "ready"), *nap = mem_printf("1004.%d", (int)getpid()),
		     *text = mem_printf("(trap '' HUP TERM; exec sleep %s) & setsid setsid sleep %s & "
					"sleep 0.1; echo 1 >%s; wait",
			     nap, nap, ready),
		     *dir = hands_dir(f->hands, 1, 1), *mark = mem_printf("STINT_DIR=%s", dir);
		const char *argv[4], *env[] = { plain_env[0], mark, NULL };
		struct launch l = shell(1, text, argv);
		const struct ending *e;

		l.env = env;
		launch(f, &l);
		wait_file(ready);
		assert_true(processes_with(nap) >= 2);
		kill(guard_of(f, 1), SIGKILL);
		e = ending_of(f, 1);
		assert_false(e->known);
		assert_int_equal(e->code, -1);
		assert_true(e->begun_s > 0 && has_begun(f, 1));
		assert_int_equal(processes_with(nap), 0);
		free(mark);
		free(dir);
		free(text);
		free(nap);
		free(ready);
		fixture_destroy(f);
	}
}

/* Its guard holds the claim while the output cannot be opened: another process has a lease on it. */
static void adopted_before_it_began(void **state)
{
	struct fixture *f = fixture_create(true);
	char *path = path_in(f, "leased");
	const char *argv[4];
	struct launch l = shell(1, "exit 3", argv);
	struct ending ending;
	int leased = lease(path);

	(void)state;
	if (leased < 0) {
		free(path);
		fixture_destroy(f);
		return;
	}
	l.out = path;
	killed_daemon(f, &l, NULL);
	reopen_hands(f, true);
	assert_int_equal(claim_of(f, 1, true, &ending), CLAIM_RUNS);
	for (int i = 0; i < 3; i++)
		poll_once(f);
	assert_int_equal(f->nbegun, 0);
	assert_int_equal(fcntl(leased, F_SETLEASE, F_UNLCK), 0);
	wait_begun(f, 1);
	assert_int_equal(ending_of(f, 1)->code, 3);
	assert_int_equal(f->nbegun, 1);
	close(leased);
	free(path);
	fixture_destroy(f);
}

/* At any limit a launch works or has started nothing. */
static void without_descriptors_nothing_starts(void **state)
{
	struct fixture *f = fixture_create(true);
	int held[64], n = 0;
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	struct rlimit before, few;
	struct err err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)open_descriptors() + 16;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < 64 && (held[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	assert_int_equal(try_launch(f, &l, &err), ERR_IO);
	while (n > 0 && try_launch(f, &l, &err) < 0) {
		assert_int_equal(err.code, ERR_IO);
		assert_int_equal(hands_running(f->hands), 0);
		close(held[--n]);
	}
	while (n > 0)
		close(held[--n]);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	fixture_destroy(f);
}

/* ---- users */

static void runs_as_the_user_and_cannot_come_back(void **state)
{
	struct fixture *f;
	const char *argv[4];
	char *dir, *text;
	struct launch l;

	(void)state;
	if (geteuid() != 0) {
		printf("skip - only root can run jobs as other users\n");
		return;
	}
	f = fixture_create(true);
	dir = hands_dir(f->hands, 1, 1);
	text = mem_printf("id -u; id -g; id -G; cd %s; echo x >ended; echo x >begun; rm -f begun; "
			  "mv begun away; ln -s /x ended; kill -TERM $PPID; cat stdout | wc -l; true",
		dir);
	l = shell(1, text, argv);
	l.uid = l.gid = 65534;
	l.script = "#!/bin/sh\nexec \"$@\"\n";
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_false(ending_of(f, 1)->asked);
	assert_output(f, 1, "65534\n65534\n65534\n3\n");
	l = shell(2, "echo $(grep -E '^Cap(Eff|Prm):' /proc/self/status)", argv);
	l.uid = l.gid = 65534;
	launch(f, &l);
	ending_of(f, 2);
	assert_output(f, 2, "CapPrm: 0000000000000000 CapEff: 0000000000000000\n");
	free(text);
	free(dir);
	fixture_destroy(f);
}

/* Paths the user names are opened as the user. */
static void outputs_are_opened_as_the_user(void **state)
{
	struct fixture *f;
	const char *argv[4];
	struct launch l;
	char *path;

	(void)state;
	if (geteuid() != 0) {
		printf("skip - only root can run jobs as other users\n");
		return;
	}
	f = fixture_create(true);
	path = path_in(f, "roots-own");
	l = shell(1, "echo hello", argv);
	l.uid = l.gid = 65534;
	l.out = path;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 126);
	assert_non_null(strstr(ending_of(f, 1)->text, "Permission denied"));
	assert_int_not_equal(access(path, F_OK), 0);
	free(path);
	fixture_destroy(f);
}

static void used_resources_are_told(void **state)
{
	struct fixture *f = fixture_create(true);

	(void)state;
	launch_shell(f, 1, "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) & wait");
	assert_true(ending_of(f, 1)->cpu_s > 0.001);
	assert_true(ending_of(f, 1)->rss_bytes > 100000);
	fixture_destroy(f);
}

/* Guards of earlier tests that had told how their command ended may still have been about to end themselves. */
static void wait_for_children(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void nothing_piles_up(void **state)
{
	struct fixture *f;
	int before, n = 200;
	double began, launched;
	const char *argv[] = { "true", NULL }, *unused[4];
	struct launch l = shell(1, "", unused);

	(void)state;
	wait_for_children();
	f = fixture_create(true);
	before = open_descriptors();
	began = proc_monotonic_s();
	l.argv = argv;
	for (l.job = 1; l.job <= (uint32_t)n; l.job++)
		launch(f, &l);
	launched = proc_monotonic_s();
	while (f->nendings < (uint32_t)n)
		poll_once(f);
	printf("[ MEASURE  ] %.0f launches/s, %.0f to their end/s (cgroups %s)\n",
		n / (launched - began), n / (proc_monotonic_s() - began), hands_kind(f->hands));
	for (int i = 0; i < n; i++)
		assert_int_equal(f->endings[i].code, 0);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(hands_running(f->hands), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes_and_signals),
		cmocka_unit_test(output_environment_and_directory),
		cmocka_unit_test(binary_output_and_the_jobs_own_paths),
		cmocka_unit_test(scripts),
		cmocka_unit_test(what_cannot_start_says_why),
		cmocka_unit_test(a_stop_is_a_signal_first),
		cmocka_unit_test(who_does_not_listen_is_killed_after_the_grace),
		cmocka_unit_test(kill_now_does_not_wait),
		cmocka_unit_test(an_early_stop_is_not_lost),
		cmocka_unit_test(the_checkpoint_command_comes_before_the_signal),
		cmocka_unit_test(time_is_counted),
		cmocka_unit_test(any_signal_is_handed_on),
		cmocka_unit_test(an_attempt_starts_once),
		cmocka_unit_test(what_is_void_never_starts),
		cmocka_unit_test(a_claim_cut_short_is_never_started_again),
		cmocka_unit_test(a_guard_that_cannot_be_started_is_told),
		cmocka_unit_test(a_job_outlives_its_daemon),
		cmocka_unit_test(use_is_measured),
		cmocka_unit_test(an_adopted_job_can_be_stopped),
		cmocka_unit_test(what_ended_meanwhile_is_known),
		cmocka_unit_test(killed_in_the_middle_of_a_launch),
		cmocka_unit_test(adopted_before_it_began),
		cmocka_unit_test(a_killed_guard_leaves_nothing_running),
		cmocka_unit_test(without_descriptors_nothing_starts),
		cmocka_unit_test(runs_as_the_user_and_cannot_come_back),
		cmocka_unit_test(outputs_are_opened_as_the_user),
		cmocka_unit_test(used_resources_are_told),
		cmocka_unit_test(nothing_piles_up),
	};

	return cmocka_run_group_tests_name("live/local/hands", tests, NULL, NULL);
}
