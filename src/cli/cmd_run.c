/*
 * stint run: submits a job and stays with it, as if it ran in the terminal.
 *
 * Four things wait at once, each in a thread of its own: for output, for
 * errors, for Ctrl-C, and for the end.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <unistd.h>

#include "cli/draft.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/log_follow.h"
#include "cli/run_pty.h"
#include "cli/run_wait.h"
#include "cli/ui.h"

struct stay {
	const struct args *args;
	char job[32];
	bool one_file; /* output and errors go to the same */
	struct run_pty pty;
	sigset_t signals;
	atomic_int interrupted; /* number of the signal the job was cancelled for; 0: none */
};

/* A signal that is ignored (nohup, a script's background) stays ignored. */
static void block_signals(struct stay *stay)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t others;
	size_t n = stay->args->pty ? 4 : 3; /* our terminal must be restored, whatever ends us */

	sigemptyset(&stay->signals);
	for (size_t i = 0; i < n; i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaddset(&stay->signals, numbers[i]);
	}
	pthread_sigmask(SIG_BLOCK, &stay->signals, NULL);
	if (!stay->args->pty)
		return;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&others);
	sigaddset(&others, SIGWINCH);
	sigaddset(&others, SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &others, NULL);
}

/* False: no daemon answers; `tell`: that is said. */
static bool cancel(const struct stay *stay, bool tell)
{
	char *path = live_job_path(stay->job, "cancel");
	struct err err = { 0 };
	json_t *reply = NULL;
	int rc = live_post(stay->args, path, json_pack("{s:s}", "reason", "Ctrl-C in stint run"),
		&reply, &err);
	bool away = rc == ERR_UNREACHABLE;

	if (rc && (tell || !away))
		ui_err("stint run: cannot cancel job %s%s: %s\n", stay->job,
			away ? " yet, trying again" : "", err.text);
	json_decref(reply);
	free(path);
	return !away;
}

noreturn static void leave(int number)
{
	run_pty_restore();
	fflush(NULL);
	_exit(EXIT_SIGNAL + number);
}

/* The first Ctrl-C cancels the job, the second leaves at once.  A terminal that is gone leaves the job alone. */
static void *on_signals(void *ctx)
{
	struct stay *stay = ctx;
	const char *line = isatty(STDERR_FILENO) ? "\n" : ""; /* after ^C, and what is drawn in place */
	const struct timespec pause = { .tv_sec = 1 };
	int number = 0, again = 0;
	bool cancelled;

	sigwait(&stay->signals, &number);
	if (number == SIGHUP && stay->args->pty)
		leave(number); /* and the job is hung up */
	if (number == SIGHUP) {
		ui_err("%sstint run: job %s goes on without us; follow it: stint logs -f %s\n",
			line, stay->job, stay->job);
		leave(number);
	}
	atomic_store(&stay->interrupted, number);
	if (!run_pty_is_raw())
		ui_err("%sstint run: cancelling job %s; Ctrl-C once more leaves at once\n", line,
			stay->job);
	cancelled = cancel(stay, true);
	while (!cancelled && (again = sigtimedwait(&stay->signals, NULL, &pause)) < 0)
		cancelled = cancel(stay, false);
	if (cancelled)
		sigwait(&stay->signals, &again);
	run_pty_restore();
	if (cancelled)
		ui_err("%sstint run: left; job %s stops by itself: stint show %s\n", line,
			stay->job, stay->job);
	else
		ui_err("%sstint run: left; job %s is not cancelled: stint cancel %s\n", line,
			stay->job, stay->job);
	leave(again);
}

static void *on_output(void *ctx)
{
	const struct log_follow *follow = ctx;
	struct err err = { 0 };

	if (log_follow(follow, &err))
		ui_err("stint run: %s of job %s: %s; to read it: stint logs %s\n",
			follow->errors ? "errors" : "output", follow->job, err.text, follow->job);
	return NULL;
}

static bool is_lost(int rc)
{
	return rc == ERR_IO || rc == ERR_UNREACHABLE;
}

/* live_wait() has patience once it was answered; that there is such a job we know before. */
static int wait_on(const struct stay *stay, json_t **job, struct err *err)
{
	const double pause_s = 0.5;
	double patience_s = LIVE_PATIENCE_S;
	int rc;

	for (;;) {
		rc = live_wait(stay->args, stay->job, INFINITY, job, err);
		if (!is_lost(rc) || patience_s <= 0)
			return rc;
		live_pause(pause_s);
		patience_s -= pause_s;
	}
}

/* On a terminal: what the job prints comes by it, and nothing is followed. */
static int stay_attached(struct stay *stay, json_t **job, struct err *err)
{
	pthread_t thread;
	int rc;

	if (pthread_create(&thread, NULL, on_signals, stay))
		return err_set(err, ERR_IO, "cannot start a thread");
	run_wait(stay->args, stay->job, &stay->interrupted);
	rc = run_pty_attach(&stay->pty, stay->args, stay->job, &stay->interrupted, err);
	if (rc < 0) {
		cancel(stay, true);
		return rc;
	}
	if (stay->pty.master >= 0 && !run_pty_copy(&stay->pty))
		leave(SIGHUP);
	rc = wait_on(stay, job, err);
	run_pty_close(&stay->pty);
	return rc;
}

static int stay_with(struct stay *stay, json_t **job, struct err *err)
{
	struct log_sink sinks[] = { { .to = STDOUT_FILENO }, { .to = STDERR_FILENO } };
	struct log_follow out = { .args = stay->args,
		.job = stay->job,
		.sink = &sinks[0],
		.tail = -1,
		.past = true };
	struct log_follow errors = out;
	pthread_t threads[3];
	int rc;

	errors.errors = true;
	errors.sink = &sinks[1];
	if (pthread_create(&threads[0], NULL, on_output, &out) ||
		(!stay->one_file && pthread_create(&threads[1], NULL, on_output, &errors)) ||
		pthread_create(&threads[2], NULL, on_signals, stay))
		return err_set(err, ERR_IO, "cannot start a thread; job %s runs: stint logs -f %s",
			stay->job, stay->job);
	run_wait(stay->args, stay->job, &stay->interrupted);
	rc = wait_on(stay, job, err);
	if (!rc) {
		pthread_join(threads[0], NULL);
		if (!stay->one_file)
			pthread_join(threads[1], NULL);
	}
	return rc;
}

/* How it ended, if that is not seen in its output. */
static void tell_end(const struct args *args, const json_t *job)
{
	const char *state = live_text(job, "state"), *text = live_ending(job);
	char run[DURATION_SIZE];

	if (state && strcmp(state, "COMPLETED") != 0)
		ui_say(args, "stint run: job %.0f: %s after %s%s%s", live_number(job, "id"), state,
			live_duration(live_number(job, "run_s"), run), text && *text ? ": " : "",
			text ? text : "");
}

static int submit(const struct args *args, struct stay *stay, struct err *err)
{
	struct submission s;
	const json_t *first;
	json_t *reply;
	int rc = draft_read(args, &s, err);

	if (rc)
		return rc;
	if (s.array) {
		submission_fini(&s);
		return err_set(err, ERR_USAGE,
			"--array: one job runs here; submit arrays with stint submit");
	}
	rc = args->pty ? run_pty_ask(&s, err) : 0;
	if (rc) {
		submission_fini(&s);
		return rc;
	}
	/* From here on a signal must find its thread: the job must not be forgotten. */
	block_signals(stay);
	stay->one_file = s.out && (!s.err_out || !strcmp(s.out, s.err_out));
	rc = live_post(args, "/v1/jobs", submission_to_json(&s), &reply, err);
	submission_fini(&s);
	if (rc)
		return rc;
	first = json_array_get(json_object_get(reply, "jobs"), 0);
	snprintf(stay->job, sizeof(stay->job), "%.0f", live_number(first, "id"));
	ui_say(args, "stint run: job %s", stay->job);
	live_say_notes(args, reply);
	json_decref(reply);
	return 0;
}

static int run(const struct args *args, struct err *err)
{
	struct stay stay = { .args = args, .pty = RUN_PTY_NONE };
	json_t *job = NULL;
	int rc = submit(args, &stay, err);

	if (!rc)
		rc = args->pty ? stay_attached(&stay, &job, err) : stay_with(&stay, &job, err);
	if (rc)
		return rc;
	rc = args->json ? live_print_json(job, err) : 0;
	if (!args->json)
		tell_end(args, job);
	if (!rc)
		rc = stay.interrupted ? EXIT_SIGNAL + stay.interrupted : live_exit_code(job);
	json_decref(job);
	return rc;
}

static const struct flag flags[] = {
	SWITCH(pty, "run the job on a terminal: this one; it runs once and ends with it"),
	SWITCH(quiet, "only what the job prints"),
	SWITCH(json, "print the job as JSON after its output"),
	{ 0 },
};

static const struct flag_group flags_run = { .title = "running", .flags = flags };

static const char *const examples[] = {
	"stint run --gpus 1 -- nvidia-smi",
	"stint run --gpus 2 --time 10m -- python train.py",
	"stint run script.sh",
	"stint run --gpus 1 --pty bash",
	NULL,
};

const struct command command_run = {
	.name = "run",
	.summary = "submit a job and stay with it",
	.operands = "[--] COMMAND [ARG...]",
	.max_operands = 1 << 20,
	.takes_rest = draft_takes_rest,
	.live = true,
	.groups = { &flags_job, &flags_run, &flags_daemon },
	.about = "The command is written as for 'stint submit': a command, a script or a job file, after the flags.\n"
		 "Prints what the job prints and returns its exit code (128+n if signal n killed it).\n"
		 "While the job waits, it says why, and when it is expected to start.  Ctrl-C cancels the job,\n"
		 "waits for its end and returns 130 (SIGTERM: 143); a second one leaves at once.\n"
		 "\n"
		 "With --pty the job has a terminal, whose keys, Ctrl-C among them, go to the job.  It is never\n"
		 "requeued, retried or restarted: if it is preempted, it ends.  If this terminal or stint run goes\n"
		 "away, the job is hung up (SIGHUP) and stopped.  Its output is not kept.",
	.examples = examples,
	.run = run,
};
