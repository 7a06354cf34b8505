/*
 * One loop: whatever happens to the command, to the clock or by the daemon's word
 * moves the guard one stage on, and it never goes back.
 */
#include "live/local/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/guard_pty.h"
#include "live/local/kept_output.h"

/* How long processes that we may not kill hold up the ending. */
static const double forbidden_patience_s = 2;
/* How long a command has to leave the opening of its files, working directory and program once it shall stop. */
static const double start_patience_s = 1;
/* How long a command has to leave by itself when its terminal goes away, before it is stopped. */
static const double hang_up_patience_s = 2;
/* How long after the kill one that still has not is waited for: it holds no device yet. */
static const double stuck_patience_s = 5;

enum { OOM_SCORE_OF_GUARDS = -900 };

enum stage {
	STARTING, /* the child has not become the command yet */
	RUNNING,
	CHECKPOINTING, /* the checkpoint command runs, until `until_s` */
	STOPPING,      /* the stop signal was sent, the grace lasts until `until_s` */
	KILLING,       /* all that is left is to make sure */
};

struct guard {
	struct order order;
	struct proc_id self;
	struct cgroup group;
	int dir;    /* of the attempt */
	int report; /* to the daemon that launched it, which may be gone; -1: nothing more to say */
	int signals; /* signalfd */
	int started; /* read end: closed by a successful exec */
	int oom_score;
	struct kept_output kept;
	struct guard_pty pty;
	enum stage stage;
	double until_s;    /* monotonic */
	double stop_s;     /* monotonic; when the stop signal was sent */
	double deadline_s; /* monotonic; when its time is over, counted from the claim */
	double hung_up_s;  /* monotonic; when its terminal went away; 0: it has not */
	double look_s;     /* monotonic; when memory is looked at next */
	double kept_s;     /* monotonic; when kept output is looked at next */
	pid_t command, checkpointer;
	bool over; /* the command was reaped */
	struct arena memory;
	struct ending ending;
};

static const double memory_period_s = 0.25;

/* ---- words to the daemon */

static void report(struct guard *g, char word, const void *rest, size_t n)
{
	char bytes[1 + sizeof(struct err)] = { word };

	if (g->report < 0)
		return;
	memcpy(bytes + 1, rest, n);
	(void)!write(g->report, bytes, n + 1);
}

static void report_no_more(struct guard *g)
{
	if (g->report >= 0)
		close(g->report);
	g->report = -1;
}

/* ---- the claim */

static void name_group(struct guard *g)
{
	const struct launch *l = &g->order.launch;
	struct cgroup_limits limits = { l->cpus, l->mem_bytes, l->tasks_max };
	char name[64];

	/* The guard's number, because two daemons may both have a job 1. */
	snprintf(name, sizeof(name), "%u.%u.%d", l->job, l->attempt, (int)getpid());
	cgroup_name(&g->group, &g->order.base, name, &limits);
}

/* The script is written under another name first: before the claim nothing here may be touched. */
static int prepare_script(struct guard *g, char name[32], struct err *err)
{
	const struct launch *l = &g->order.launch;

	snprintf(name, 32, "script.%d", (int)getpid());
	if (!l->script)
		return 0;
	if (attempt_put(g->dir, name, l->script, strlen(l->script), 0700, err) < 0)
		return err->code;
	if (l->uid != geteuid() && fchownat(g->dir, name, l->uid, l->gid, AT_SYMLINK_NOFOLLOW) < 0) {
		unlinkat(g->dir, name, 0);
		return err_set(err, ERR_IO, "cannot give the script to user %u: %s",
			(unsigned)l->uid, strerror(errno));
	}
	return 0;
}

static int claim(struct guard *g, struct err *err)
{
	struct claim_note note = { 0 };
	char script[32];
	int rc;

	g->dir = open(g->order.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir < 0)
		return err_set(err, ERR_IO, "cannot open %s: %s", g->order.dir, strerror(errno));
	if (faccessat(g->dir, "begun", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(err, ERR_REFUSED, "it was claimed before");
	if (proc_identify(getpid(), &g->self) < 0)
		return err_set(err, ERR_IO, "cannot read /proc");
	rc = prepare_script(g, script, err);
	if (rc < 0)
		return rc;
	name_group(g);
	note.guard = g->self;
	note.group = g->group;
	note.of = g->order.of;
	note.uid = g->order.launch.uid;
	rc = claim_make(g->dir, &note, err);
	if (rc == 0 && g->order.launch.script)
		renameat(g->dir, script, g->dir, "script");
	else if (g->order.launch.script)
		unlinkat(g->dir, script, 0);
	return rc;
}

/* ---- starting */

static bool open_kept(struct guard *g, int which, const char *name)
{
	const struct launch *l = &g->order.launch;

	if (kept_open(&g->kept, which, name, l->uid, l->gid))
		return true;
	g->over = true;
	g->ending.code = 126;
	snprintf(g->ending.text, sizeof(g->ending.text), "cannot write %s/%s: %s", g->order.dir,
		name, strerror(errno));
	return false;
}

/* False: the ending says why. */
static bool open_outputs(struct guard *g)
{
	const struct launch *l = &g->order.launch;

	g->kept.dir = g->dir;
	if ((!l->out && !open_kept(g, KEPT_OUT, "stdout")) ||
		(!l->err_out && !open_kept(g, KEPT_ERR, "stderr")))
		return false;
	kept_bound(&g->kept, l->attempt, l->out_cap, l->out_reserve);
	return true;
}

/* Likewise. */
static bool open_terminal(struct guard *g)
{
	if (g->order.launch.pty_rows <= 0 || guard_pty_open(&g->pty, g->dir, &g->order.launch))
		return true;
	g->over = true;
	g->ending.code = 126;
	snprintf(g->ending.text, sizeof(g->ending.text), "cannot make a terminal: %s", strerror(errno));
	return false;
}

/* The words of a script's #! line at `to`: the interpreter, and the rest as one word as the kernel has it. */
static size_t interpreter(struct arena *memory, const char *script, const char **to)
{
	char *line, *rest;

	to[0] = "/bin/sh";
	if (script[0] != '#' || script[1] != '!')
		return 1;
	line = arena_strndup(memory, script + 2, strcspn(script + 2, "\r\n"));
	for (size_t end = strlen(line); end && strchr(" \t", line[end - 1]);)
		line[--end] = '\0';
	line += strspn(line, " \t");
	rest = line + strcspn(line, " \t");
	if (*line)
		to[0] = line;
	if (!*rest)
		return 1;
	*rest++ = '\0';
	to[1] = rest + strspn(rest, " \t");
	return 2;
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

static const char *const *script_argv(struct guard *g)
{
	const struct launch *l = &g->order.launch;
	size_t n = count(l->argv), at;
	const char **argv = arena_array(&g->memory, const char *, n + 4);

	at = interpreter(&g->memory, l->script, argv);
	argv[at++] = arena_printf(&g->memory, "%s/script", g->order.dir);
	memcpy(argv + at, l->argv, n * sizeof(*argv));
	return argv;
}

/* Forks a child in a process group of its own that becomes `argv`; `tell` as command_become() has it. */
static pid_t start(struct guard *g, const char *const *argv, const char *const *env, int tell,
	bool is_checkpoint)
{
	struct command command = { .order = &g->order,
		.group = &g->group,
		.argv = argv,
		.env = env,
		.out = g->kept.files[KEPT_OUT].fd,
		.err_out = g->kept.files[KEPT_ERR].fd,
		.oom_score = g->oom_score,
		.terminal = *g->pty.slave && !is_checkpoint ? g->pty.slave : NULL,
		.is_checkpoint = is_checkpoint,
		.guard = g->self.pid };
	pid_t child = command.terminal ? guard_pty_fork() : fork();

	if (child == 0)
		command_become(&command, tell);
	if (child > 0)
		setpgid(child, child); /* here too: whoever is first */
	return child;
}

static void cannot_start(struct guard *g, int why)
{
	g->over = true;
	g->ending.code = 126;
	snprintf(g->ending.text, sizeof(g->ending.text), "cannot start a process: %s", strerror(why));
}

static void start_command(struct guard *g)
{
	const struct launch *l = &g->order.launch;
	struct cgroup_limits limits = { l->cpus, l->mem_bytes, l->tasks_max };
	int tell[2];

	if (!open_outputs(g) || !open_terminal(g))
		return;
	cgroup_make(&g->group, &limits);
	if (pipe2(tell, O_CLOEXEC | O_NONBLOCK) < 0) {
		cannot_start(g, errno);
		return;
	}
	g->started = tell[0];
	g->command = start(g, l->script ? script_argv(g) : l->argv, l->env, tell[1], false);
	if (g->command < 0)
		cannot_start(g, errno);
	close(tell[1]);
}

static void note_begun(struct guard *g)
{
	g->ending.begun_s = proc_now_s();
	claim_mark(g->dir, g->ending.begun_s);
	report(g, REPORT_BEGUN, &g->ending.begun_s, sizeof(g->ending.begun_s));
	if (g->stage == STARTING)
		g->stage = RUNNING;
}

static bool died_of_signal(const struct guard *g)
{
	siginfo_t dead = { 0 };

	if (g->over)
		return g->ending.signal != 0;
	return waitid(P_PID, (id_t)g->command, &dead, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		dead.si_pid && dead.si_code != CLD_EXITED;
}

/*
 * The pipe has something: why it failed, or its end because the command runs, or because our own
 * stop was faster.
 */
static void see_start(struct guard *g)
{
	struct failure failure;
	ssize_t n = read(g->started, &failure, sizeof(failure));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	close(g->started);
	g->started = -1;
	if (n == (ssize_t)sizeof(failure)) {
		failure.text[sizeof(failure.text) - 1] = '\0';
		g->ending.code = failure.code;
		memcpy(g->ending.text, failure.text, sizeof(g->ending.text));
	} else if (g->stage == STARTING || !died_of_signal(g)) {
		note_begun(g);
	}
	report_no_more(g);
}

/* ---- stopping */

static void signal_command(struct guard *g, pid_t whom, int number)
{
	if (g->command > 0 && !g->over)
		kill(whom, number);
}

static void send_stop(struct guard *g)
{
	int number = g->order.launch.stop_signal;

	if (g->checkpointer > 0)
		kill(-g->checkpointer, SIGKILL);
	signal_command(g, -g->command, number > 0 ? number : SIGTERM);
	signal_command(g, -g->command, SIGCONT); /* what is stopped cannot listen */
	g->stage = STOPPING;
	g->stop_s = proc_monotonic_s();
	g->until_s = g->stop_s + fmax(g->order.launch.grace_s, 0);
}

static const char *const *checkpoint_env(struct guard *g)
{
	const char *const *env = g->order.launch.env;
	size_t n = count(env);
	const char **more = arena_array(&g->memory, const char *, n + 2);

	memcpy(more, env, n * sizeof(*more));
	more[n] = arena_printf(&g->memory, "STINT_PID=%d", (int)g->command);
	return more;
}

static bool start_checkpoint(struct guard *g)
{
	const char *argv[] = { "/bin/sh", "-c", g->order.launch.checkpoint, NULL };

	if (!g->order.launch.checkpoint || g->stage != RUNNING)
		return false;
	g->checkpointer = start(g, argv, checkpoint_env(g), -1, true);
	if (g->checkpointer < 0)
		return false;
	g->stage = CHECKPOINTING;
	g->until_s = proc_monotonic_s() + fmax(g->order.launch.grace_s, 0);
	return true;
}

static void stop(struct guard *g, bool timed_out)
{
	if (g->stage > RUNNING)
		return;
	g->ending.asked = true;
	g->ending.asked_s = proc_now_s();
	g->ending.timed_out = timed_out;
	if (!start_checkpoint(g))
		send_stop(g);
}

static void kill_now(struct guard *g)
{
	if (!g->ending.asked) {
		g->ending.asked = true;
		g->ending.asked_s = proc_now_s();
	}
	g->stage = KILLING;
}

/* ---- what happens */

/* Takes every child that has ended.  False: there are no children, so no descendants either. */
static bool reap(struct guard *g)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == g->checkpointer) {
			g->checkpointer = 0;
			if (g->stage == CHECKPOINTING)
				send_stop(g);
		}
		if (pid != g->command)
			continue;
		g->over = true;
		if (!g->ending.text[0])
			g->ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		g->ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
	return pid == 0 || errno != ECHILD;
}

static void hold_output(struct guard *g, bool hold)
{
	kept_hold(&g->kept, hold);
	g->kept_s = 0; /* look at once */
}

static void hear(struct guard *g)
{
	struct signalfd_siginfo info;

	while (read(g->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (number == GUARD_STOP)
			stop(g, false);
		else if (number == GUARD_KILL)
			kill_now(g);
		else if (number == GUARD_PASS && g->started < 0)
			signal_command(g, g->command, info.ssi_int);
		else if (number == GUARD_HOLD)
			hold_output(g, info.ssi_int != 0);
	}
}

/* Where memory is watched: how much it has now, and whether that is too much. */
static void see_memory(struct guard *g)
{
	const struct launch *l = &g->order.launch;
	int64_t bytes;

	if (!l->mem_watch || g->stage != RUNNING || proc_monotonic_s() < g->look_s)
		return;
	bytes = proc_memory();
	g->look_s = proc_monotonic_s() + memory_period_s;
	if (bytes > g->ending.rss_bytes)
		g->ending.rss_bytes = bytes;
	if (l->mem_bytes <= 0 || bytes <= l->mem_bytes)
		return;
	g->ending.over_memory = true;
	snprintf(g->ending.text, sizeof(g->ending.text),
		ENDING_OUT_OF_MEMORY ": had %.2f GiB of memory and may have %.2f",
		(double)bytes / (1 << 30), (double)l->mem_bytes / (1 << 30));
	g->stage = KILLING;
}

/* A command that was not executed yet has nothing to save and hears nothing but the kill. */
static double stop_until_s(const struct guard *g)
{
	return g->started >= 0 ? fmin(g->until_s, g->stop_s + start_patience_s) : g->until_s;
}

static void see_output(struct guard *g)
{
	if (proc_monotonic_s() >= g->kept_s)
		g->kept_s = proc_monotonic_s() + kept_look(&g->kept);
}

static void see_terminal(struct guard *g)
{
	if (guard_pty_see(&g->pty, g->dir, g->order.launch.uid))
		g->hung_up_s = proc_monotonic_s();
	if (g->hung_up_s > 0 && proc_monotonic_s() >= g->hung_up_s + hang_up_patience_s)
		stop(g, false);
}

static void see_clock(struct guard *g)
{
	double now = proc_monotonic_s();

	if (g->stage <= RUNNING && g->deadline_s > 0 && now >= g->deadline_s)
		stop(g, true);
	else if (g->stage == CHECKPOINTING && now >= g->until_s)
		send_stop(g);
	else if (g->stage == STOPPING && now >= stop_until_s(g))
		g->stage = KILLING;
}

/* For poll: until the clock matters, -1 for ever. */
static int patience_ms(const struct guard *g)
{
	double until = g->stage <= RUNNING ? g->deadline_s
		: g->stage == STOPPING     ? stop_until_s(g)
					   : g->until_s;
	double ms;

	if (g->stage == RUNNING && g->order.launch.mem_watch && (until <= 0 || g->look_s < until))
		until = fmax(g->look_s, 1e-9);
	if (g->pty.listener >= 0 && (until <= 0 || g->pty.until_s < until))
		until = g->pty.until_s;
	if (g->stage <= RUNNING && g->hung_up_s > 0)
		until = until > 0 ? fmin(until, g->hung_up_s + hang_up_patience_s)
				  : g->hung_up_s + hang_up_patience_s;
	if (isfinite(g->kept_s) && (until <= 0 || g->kept_s < until))
		until = fmax(g->kept_s, 1e-9);
	if (until <= 0)
		return -1;
	ms = ceil((until - proc_monotonic_s()) * 1000);
	return ms < 0 ? 0 : ms > 1e9 ? 1000000000 : (int)ms;
}

/*
 * A shell that died of the stop may have left the program that saves: it has the rest of the grace.  A
 * command that ended by itself has said that it is done.
 */
static bool others_save(const struct guard *g, bool children)
{
	return g->over && children && g->stage == STOPPING && g->ending.signal;
}

static void watch(struct guard *g)
{
	bool children = true;

	while ((!g->over || others_save(g, children)) && g->stage != KILLING) {
		struct pollfd on[] = { { g->signals, POLLIN, 0 }, { g->started, POLLIN, 0 },
			{ g->pty.listener, POLLIN, 0 }, { g->pty.client, POLLIN, 0 } };

		poll(on, 4, patience_ms(g));
		if (on[1].revents)
			see_start(g);
		hear(g);
		children = reap(g);
		see_clock(g);
		see_terminal(g);
		see_output(g);
		if (!g->over)
			see_memory(g);
	}
}

/* ---- the end */

static void wait_for_child(double at_most_s)
{
	struct timespec t = { 0, (long)(at_most_s * 1e9) };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &t);
}

static void note_forbidden(struct guard *g, uint32_t n)
{
	if (!g->ending.text[0])
		snprintf(g->ending.text, sizeof(g->ending.text),
			"%u of its processes may not be killed by us and were left running", n);
}

/*
 * A command that waits in the kernel for a file system that does not answer cannot die.  It was never executed, so
 * it has no device, no children, and never will: the kill is all it wakes up to.
 */
static bool is_stuck(struct guard *g, double since_s)
{
	if (g->over || g->started < 0 || proc_monotonic_s() - since_s < stuck_patience_s)
		return false;
	see_start(g);
	if (g->started < 0)
		return false;
	snprintf(g->ending.text, sizeof(g->ending.text),
		"it never began: its files are on a file system that does not answer");
	return true;
}

/*
 * Until nothing of the attempt is alive, however long that takes: its devices are not free before.
 * Left to itself after a while are only what we have no right to kill (a sudo of the job's) and what never began.
 */
static void kill_everything(struct guard *g)
{
	double pause_s = 0.001, forbidden_since_s = 0, since_s = proc_monotonic_s();

	for (;;) {
		uint32_t grouped = cgroup_kill(&g->group);
		struct proc_left left = { 0 };

		if (reap(g))
			left = proc_kill_descendants();
		else if (!grouped)
			return;
		if (is_stuck(g, since_s))
			return;
		if (!left.alive || left.alive != left.forbidden)
			forbidden_since_s = 0;
		else if (!forbidden_since_s)
			forbidden_since_s = proc_monotonic_s();
		else if (proc_monotonic_s() - forbidden_since_s > forbidden_patience_s) {
			note_forbidden(g, left.forbidden);
			return;
		}
		wait_for_child(pause_s);
		pause_s = fmin(pause_s * 2, 0.05);
	}
}

static void sum_up(struct guard *g)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	g->ending.cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
	if ((int64_t)used.ru_maxrss * 1024 > g->ending.rss_bytes)
		g->ending.rss_bytes = (int64_t)used.ru_maxrss * 1024;
	g->ending.ended_s = proc_now_s();
}

static bool directory_is_gone(int dir)
{
	struct stat now;

	return fstat(dir, &now) < 0 || now.st_nlink == 0;
}

/* A full disk is waited out: the ending is nowhere else. */
static void write_down(struct guard *g)
{
	struct err err;
	double pause_s = 0.01;

	while (ending_write(g->dir, &g->ending, &err) < 0 && !directory_is_gone(g->dir)) {
		wait_for_child(pause_s);
		pause_s = fmin(pause_s * 2, 0.9);
	}
}

/*
 * The kernel may have been quicker than we.  A job whose memory is watched gets another try with more of it; any other
 * only hears why it ended.
 */
static void see_out_of_memory(struct guard *g)
{
	const struct launch *l = &g->order.launch;

	if (g->ending.over_memory || g->ending.asked || g->ending.text[0] || l->mem_bytes <= 0 ||
		!(g->ending.code || g->ending.signal) || !cgroup_ran_out(&g->group))
		return;
	g->ending.over_memory = l->mem_watch;
	snprintf(g->ending.text, sizeof(g->ending.text),
		ENDING_OUT_OF_MEMORY ": the kernel killed it at its limit of %.2f GiB",
		(double)l->mem_bytes / (1 << 30));
}

/* A child that was executed and ended before we saw the one is told of as begun all the same. */
static void finish(struct guard *g)
{
	if (g->started >= 0)
		see_start(g);
	report_no_more(g);
	kill_everything(g);
	if (!g->ending.asked &&
		!g->ending.text[0]) /* of a command that did not start there is nothing to see */
		guard_pty_linger(&g->pty, g->dir, g->order.launch.uid, g->signals);
	guard_pty_close(&g->pty, g->dir);
	if (g->pty.hung_up && !g->ending.text[0])
		snprintf(g->ending.text, sizeof(g->ending.text), "%s", g->pty.hung_up);
	kept_look(&g->kept);
	sum_up(g);
	see_out_of_memory(g);
	cgroup_remove(&g->group);
	write_down(g);
}

/* ---- the whole */

static void spare_from_oom(struct guard *g)
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		g->oom_score = atoi(text);
	if (geteuid() == 0 && g->oom_score > OOM_SCORE_OF_GUARDS)
		dprintf(fd, "%d", OOM_SCORE_OF_GUARDS);
	close(fd);
}

static int settle(struct guard *g)
{
	sigset_t all, heard;

	umask(077);
	(void)!chdir("/");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&heard);
	sigaddset(&heard, SIGCHLD);
	sigaddset(&heard, GUARD_STOP);
	sigaddset(&heard, GUARD_KILL);
	sigaddset(&heard, GUARD_PASS);
	sigaddset(&heard, GUARD_HOLD);
	g->signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
	spare_from_oom(g);
	return g->signals < 0 ? -1 : prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int begin(struct guard *g, int order_fd, struct err *err)
{
	int rc;

	if (settle(g) < 0)
		return err_set(err, ERR_IO, "cannot prepare a guard: %s", strerror(errno));
	rc = order_receive(order_fd, &g->order, err);
	close(order_fd);
	return rc < 0 ? rc : claim(g, err);
}

static void release(struct guard *g)
{
	order_fini(&g->order);
	cgroup_fini(&g->group);
	arena_fini(&g->memory);
}

int guard_run(int order_fd, int report_fd)
{
	struct guard g = { .dir = -1,
		.report = report_fd,
		.signals = -1,
		.started = -1,
		.pty = GUARD_PTY_NONE,
		.kept = { .files = { { .fd = -1, .reader = -1 }, { .fd = -1, .reader = -1 } } } };
	struct err err = { 0 };
	int rc;

	fcntl(order_fd, F_SETFD, FD_CLOEXEC);
	fcntl(report_fd, F_SETFD, FD_CLOEXEC);
	rc = begin(&g, order_fd, &err);
	if (rc < 0) {
		report(&g, rc == ERR_REFUSED ? REPORT_REFUSED : REPORT_FAILED, err.text,
			strlen(err.text));
		release(&g);
		return 1;
	}
	report(&g, REPORT_CLAIMED, "", 0);
	if (g.order.launch.time_s > 0)
		g.deadline_s = proc_monotonic_s() + g.order.launch.time_s;
	g.ending = (struct ending){ .job = g.order.launch.job,
		.attempt = g.order.launch.attempt,
		.known = true,
		.code = -1 };
	start_command(&g);
	watch(&g);
	finish(&g);
	release(&g);
	return 0;
}
