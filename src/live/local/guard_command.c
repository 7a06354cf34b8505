/*
 * From a fresh child of the guard to the user's command.
 *
 * The order matters: the control group while we may still write to it, then the
 * user's ids, and only then anything that the user has named.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/local/guard.h"
#include "live/local/output.h"

enum { CANNOT = 126, NOT_FOUND = 127 };

noreturn static void fail(int tell, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

noreturn static void fail(int tell, int code, const char *fmt, ...)
{
	struct failure failure = { .code = code };
	va_list args;

	va_start(args, fmt);
	vsnprintf(failure.text, sizeof(failure.text), fmt, args);
	va_end(args);
	(void)!write(tell, &failure, sizeof(failure));
	_exit(code);
}

/* ---- who */

static int take_groups(uid_t uid, gid_t gid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? initgroups(user->pw_name, gid) : setgroups(1, &gid);
}

/* Nothing of what we were can be had again. */
static bool has_become(uid_t uid, gid_t gid)
{
	uid_t real, effective, saved;
	gid_t real_gid, effective_gid, saved_gid;

	if (getresuid(&real, &effective, &saved) < 0 ||
		getresgid(&real_gid, &effective_gid, &saved_gid) < 0)
		return false;
	if (real != uid || effective != uid || saved != uid || real_gid != gid ||
		effective_gid != gid || saved_gid != gid)
		return false;
	if (uid != 0 && (setresuid((uid_t)-1, 0, (uid_t)-1) == 0 || setuid(0) == 0))
		return false;
	return uid == 0 || gid == 0 || setresgid((gid_t)-1, 0, (gid_t)-1) < 0;
}

static void become_user(uid_t uid, gid_t gid, int tell)
{
	if (uid == geteuid() && gid == getegid())
		return;
	if (geteuid() != 0) {
		if (uid != geteuid())
			fail(tell, CANNOT, "only root can run it as user %u", (unsigned)uid);
		if (setresgid(gid, gid, gid) < 0)
			fail(tell, CANNOT, "cannot run it as group %u: %s", (unsigned)gid,
				strerror(errno));
		return;
	}
	if (take_groups(uid, gid) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		fail(tell, CANNOT, "cannot run it as user %u: %s", (unsigned)uid, strerror(errno));
	if (!has_become(uid, gid))
		fail(tell, CANNOT, "cannot run it as user %u for good", (unsigned)uid);
}

/* ---- where to */

/*
 * The command of the first attempt begins the file anew; all others go on in it.  A checkpoint command whose
 * output cannot be opened runs without: saving matters more.
 */
static int open_output(const struct command *c, const char *path, int tell)
{
	const struct launch *l = &c->order->launch;
	bool anew = l->attempt == 1 && !l->out_append && !c->is_checkpoint;
	char why[sizeof(((struct failure *)0)->text)];
	int fd = output_open(path, anew, why, sizeof(why));

	if (fd < 0 && c->is_checkpoint)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fail(tell, CANNOT, "%s", why);
	return fd;
}

/* One file for both is opened once. */
static int open_errors(const struct command *c, int out, int tell)
{
	const struct launch *l = &c->order->launch;

	if (c->err_out >= 0)
		return c->err_out;
	return l->out && !strcmp(l->out, l->err_out) ? out : open_output(c, l->err_out, tell);
}

/* The leader of a session gets the first terminal it opens as its own. */
static void connect_terminal(const struct command *c, int tell)
{
	int fd = open(c->terminal, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 ||
		dup2(fd, 2) < 0)
		fail(tell, CANNOT, "cannot open its terminal %s: %s", c->terminal, strerror(errno));
}

static void connect_output(const struct command *c, int tell)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = c->out >= 0 ? c->out : open_output(c, c->order->launch.out, tell);
	int err_out = open_errors(c, out, tell);

	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err_out, 2) < 0)
		fail(tell, CANNOT, "cannot connect its output: %s", strerror(errno));
}

/* ---- as what */

/* By the kernel's own call: the C library keeps two signals to itself, which may have come ignored. */
static void reset_signals(void)
{
	static const unsigned char as_new[128]; /* all zero: default action, no flags */
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, as_new, NULL, (size_t)(NSIG - 1) / 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void restore_oom_score(int score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		dprintf(fd, "%d", score);
		close(fd);
	}
}

/* A command without its guard would be nobody's: it goes with it. */
static void follow_guard(pid_t guard, int tell)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != guard)
		fail(tell, CANNOT, "its guard is gone");
}

noreturn static void execute(const char *const *argv, const char *const *env, int tell)
{
	const char *name = argv[0];

	environ = (char **)env;
	reset_signals();
	execvp(name, (char **)argv);
	if (errno == E2BIG)
		fail(tell, CANNOT, "argument list too long");
	if (errno == ENOENT && strchr(name, '/') && access(name, F_OK) == 0)
		fail(tell, NOT_FOUND, "%.200s: its interpreter was not found", name);
	if (errno == ENOENT || errno == ENOTDIR)
		fail(tell, NOT_FOUND, "%.200s: not found", name);
	fail(tell, CANNOT, "%.200s: %s", name, strerror(errno));
}

noreturn void command_become(const struct command *c, int tell)
{
	const struct launch *l = &c->order->launch;

	setpgid(0, 0);
	restore_oom_score(c->oom_score);
	cgroup_join(c->group);
	become_user(l->uid, l->gid, tell);
	follow_guard(c->guard, tell); /* after the ids: changing them would undo it */
	umask(022);
	if (c->terminal)
		connect_terminal(c, tell);
	else
		connect_output(c, tell);
	if (l->cwd && chdir(l->cwd) < 0)
		fail(tell, CANNOT, "cannot enter %s: %s", l->cwd, strerror(errno));
	if (!c->argv[0])
		fail(tell, CANNOT, "there is no command");
	execute(c->argv, c->env, tell);
}
