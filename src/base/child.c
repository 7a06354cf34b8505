/*
 * A process group of its own, two pipes, and one loop that watches them, the
 * process and the clock.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define STOP_EVERY_S 0.1 /* is looked whether to stop */

enum { PIPE_OUT, PIPE_ERR, PIPES };
enum { READS_MAX = 64 }; /* at a time: who writes without end must not keep us from the clock */

struct child {
	const struct child_ask *ask;
	struct child_end *end;
	int in;
	int from[PIPES], to[PIPES]; /* -1: closed */
	pid_t pid;
	int pidfd;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_all(struct child *c)
{
	close_fd(&c->in);
	close_fd(&c->pidfd);
	for (int i = 0; i < PIPES; i++) {
		close_fd(&c->from[i]);
		close_fd(&c->to[i]);
	}
}

/* A file in memory rather than a pipe: nobody waits for a program that does not read. */
static int open_input(const struct child_ask *ask)
{
	int fd = ask->ninput ? memfd_create("input", MFD_CLOEXEC)
			     : open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < ask->ninput) {
		ssize_t n = write(fd, ask->input + done, ask->ninput - done);

		if (n < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && ask->ninput)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static bool open_pipes(struct child *c)
{
	for (int i = 0; i < PIPES; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return false;
		c->from[i] = ends[0];
		c->to[i] = ends[1];
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
	}
	return true;
}

/* Threads of ours block signals; a program expects none to be. */
static int describe(const struct child *c, posix_spawn_file_actions_t *files, posix_spawnattr_t *how)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(how);
	posix_spawn_file_actions_init(files);
	posix_spawnattr_setflags(how,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(how, &none);
	posix_spawnattr_setsigdefault(how, &all);
	posix_spawnattr_setpgroup(how, 0);
	return posix_spawn_file_actions_adddup2(files, c->in, 0) |
		posix_spawn_file_actions_adddup2(files, c->to[PIPE_OUT], 1) |
		posix_spawn_file_actions_adddup2(files, c->to[PIPE_ERR], 2) |
		posix_spawn_file_actions_addclosefrom_np(files, 3);
}

static int spawn(struct child *c, struct err *err)
{
	char *const *argv = (char *const *)(void *)c->ask->argv;
	char *const *env = c->ask->env ? (char *const *)(void *)c->ask->env : environ;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int why = describe(c, &files, &how);

	if (!why)
		why = posix_spawnp(&c->pid, argv[0], &files, &how, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (why)
		return err_set(err, why == ENOENT ? ERR_MISSING : ERR_IO, "cannot run %s: %s",
			argv[0], strerror(why));
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	close_fd(&c->in);
	close_fd(&c->to[PIPE_OUT]);
	close_fd(&c->to[PIPE_ERR]);
	return 0;
}

static int start(struct child *c, struct err *err)
{
	c->in = open_input(c->ask);
	if (c->in < 0 || !open_pipes(c))
		return err_set(err, ERR_IO, "cannot run %s: %s", c->ask->argv[0], strerror(errno));
	return spawn(c, err);
}

/* ---- while it runs */

static void keep(struct child *c, int which, const char *bytes, size_t n)
{
	struct buf *to = which == PIPE_OUT ? &c->end->out : &c->end->err;
	size_t room = c->ask->out_max - to->n;

	if (n > room && which == PIPE_OUT)
		c->end->out_cut = true;
	buf_add(to, bytes, n < room ? n : room);
}

/* What is there now. */
static void drain(struct child *c, int which)
{
	char bytes[16384];

	for (int i = 0; i < READS_MAX && c->from[which] >= 0; i++) {
		ssize_t n = read(c->from[which], bytes, sizeof(bytes));
		if (n > 0)
			keep(c, which, bytes, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			close_fd(&c->from[which]);
		else if (errno == EAGAIN)
			return;
	}
}

/* Its number cannot be another's: nobody but us can reap it. */
static bool reap(struct child *c)
{
	int status;
	pid_t got = waitpid(c->pid, &status, WNOHANG);

	if (got == 0 || (got < 0 && errno == EINTR))
		return false;
	c->end->code = got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	c->end->signal = got > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

static bool must_die(struct child *c, double until_s)
{
	if (c->end->timed_out || c->end->stopped)
		return false;
	if (c->ask->stop && atomic_load(c->ask->stop))
		c->end->stopped = true;
	else if (clock_wall_s() >= until_s)
		c->end->timed_out = true;
	return c->end->timed_out || c->end->stopped;
}

static void watch(struct child *c)
{
	double until_s = clock_wall_s() + c->ask->timeout_s;
	bool over = false;

	while (!over) {
		struct pollfd p[PIPES + 1] = {
			{ .fd = c->from[PIPE_OUT], .events = POLLIN },
			{ .fd = c->from[PIPE_ERR], .events = POLLIN },
			{ .fd = c->pidfd, .events = POLLIN },
		};
		double left_s = fmax(0.001, fmin(until_s - clock_wall_s(), STOP_EVERY_S));

		poll(p, PIPES + 1, (int)(left_s * 1000) + 1);
		over = reap(c);
		if (!over && must_die(c, until_s))
			kill(-c->pid, SIGKILL);
		drain(c, PIPE_OUT);
		drain(c, PIPE_ERR);
	}
}

int child_run(const struct child_ask *ask, struct child_end *end, struct err *err)
{
	struct child_end fresh = { 0 };
	struct child c = { .ask = ask, .end = &fresh, .in = -1, .pidfd = -1 };
	int rc;

	for (int i = 0; i < PIPES; i++)
		c.from[i] = c.to[i] = -1;
	rc = start(&c, err);
	if (rc == 0) {
		watch(&c);
		*end = fresh;
	}
	close_all(&c);
	return rc;
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool child_is_there(const char *program)
{
	const char *path = getenv("PATH");
	struct slice rest = slice_of(path ? path : "/usr/bin:/bin");
	bool found = false;

	if (strchr(program, '/'))
		return is_program(program);
	while (*program && rest.n && !found) {
		struct slice dir = slice_cut(&rest, ':');
		char *whole = mem_printf("%.*s/%s", (int)dir.n, dir.at, program);

		found = dir.n && is_program(whole);
		free(whole);
	}
	return found;
}

void child_end_fini(struct child_end *end)
{
	buf_fini(&end->out);
	buf_fini(&end->err);
}

void child_end_text(const struct child_end *end, double timeout_s, struct buf *out)
{
	if (end->timed_out)
		buf_printf(out, "no end after %g s: killed", timeout_s);
	else if (end->stopped)
		buf_str(out, "killed, because we stop");
	else if (end->signal)
		buf_printf(out, "signal %d (%s)", end->signal, strsignal(end->signal));
	else
		buf_printf(out, "exit code %d", end->code);
}
