#include "cli/run_pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/live.h"
#include "cli/live_print.h"

/* ---- our terminal */

static struct termios before;
static atomic_bool is_raw;

static bool make_raw(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return false;
	raw = before;
	cfmakeraw(&raw);
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return false;
	atomic_store(&is_raw, true);
	return true;
}

void run_pty_restore(void)
{
	if (atomic_exchange(&is_raw, false))
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

bool run_pty_is_raw(void)
{
	return atomic_load(&is_raw);
}

/* ---- asking for one */

static void set_variable(struct submission *s, const char *name, const char *value)
{
	size_t n = 0, length = strlen(name);
	const char **env;

	while (s->env && s->env[n])
		n++;
	env = arena_array(&s->memory, const char *, n + 2);
	n = 0;
	for (const char *const *pair = s->env; pair && *pair; pair++)
		if (strncmp(*pair, name, length) != 0 || (*pair)[length] != '=')
			env[n++] = *pair;
	env[n] = arena_printf(&s->memory, "%s=%s", name, value);
	s->env = env;
}

int run_pty_ask(struct submission *s, struct err *err)
{
	const char *term = getenv("TERM");
	struct winsize size = { 0 };

	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE,
			"--pty: standard input is no terminal; leave out --pty to run the job without one");
	(void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	s->pty_rows = size.ws_row ? size.ws_row : 24;
	s->pty_cols = size.ws_col ? size.ws_col : 80;
	if (term && *term && submission_travels(term))
		set_variable(s, "TERM", term);
	return submission_check(s, err);
}

/* ---- taking it */

/* Where the terminal of the attempt that is under way can be had, malloc'ed; NULL: nowhere yet. */
static char *socket_of(const json_t *job)
{
	const json_t *attempts = json_object_get(job, "attempts");
	size_t n = json_array_size(attempts);
	const char *path = n ? live_text(json_array_get(attempts, n - 1), "terminal") : NULL;

	return path ? mem_strdup(path) : NULL;
}

/* By a descriptor of its directory: the path may be longer than a socket's can be.  -1: errno says why. */
static int connect_to(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 30 };
	char *name = mem_strndup(path, (size_t)(path_base(path) - path));
	int dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1, why = errno;

	free(name);
	if (dir >= 0) {
		snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%.60s", dir,
			path_base(path));
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
			why = errno;
			close(fd);
			fd = -1;
		}
		close(dir);
	}
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	errno = why;
	return fd;
}

/* -1: the guard did not send one. */
static int receive_descriptor(int connection)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char word;
	struct iovec bytes = { .iov_base = &word, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *head;
	int fd = -1;

	if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
		head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static bool take(struct run_pty *pty, const char *path)
{
	sigset_t resized;

	pty->connection = connect_to(path);
	if (pty->connection < 0)
		return false;
	pty->master = receive_descriptor(pty->connection);
	if (pty->master < 0) {
		close(pty->connection);
		pty->connection = -1;
		errno = EPERM;
		return false;
	}
	fcntl(pty->master, F_SETFL, O_NONBLOCK);
	sigemptyset(&resized);
	sigaddset(&resized, SIGWINCH);
	pty->resized = signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK);
	return true;
}

static int cannot_reach(const char *job, const char *path, int why, struct err *err)
{
	if (why == EACCES)
		return err_set(err, ERR_IO,
			"cannot reach the terminal of job %s at %s: permission denied; you must be able to pass every directory "
			"of that path (chmod o+x)",
			job, path);
	return err_set(err, ERR_IO, "cannot reach the terminal of job %s at %s: %s", job, path,
		strerror(why));
}

/* 1: not yet. */
static int try_once(struct run_pty *pty, const struct args *args, const char *job,
	double *patience_s, struct err *err)
{
	char *question = live_job_path(job, NULL), *path = NULL;
	json_t *answer = NULL;
	int rc = live_get(args, question, &answer, err);
	bool runs;

	free(question);
	if (rc && (rc == ERR_IO || rc == ERR_UNREACHABLE) && *patience_s > 0)
		return 1;
	if (rc)
		return rc;
	rc = 1;
	runs = live_text(answer, "state") && !strcmp(live_text(answer, "state"), "RUNNING");
	if (!runs)
		*patience_s = LIVE_PATIENCE_S;
	path = live_is_over(answer) ? NULL : socket_of(answer);
	if (live_is_over(answer) || (path && take(pty, path)))
		rc = 0;
	else if (path && runs && (errno == EACCES || *patience_s <= 0))
		rc = cannot_reach(job, path, errno, err);
	free(path);
	json_decref(answer);
	return rc;
}

int run_pty_attach(struct run_pty *pty, const struct args *args, const char *job,
	const atomic_int *stop, struct err *err)
{
	double pause_s = 0.02, patience_s = LIVE_PATIENCE_S;
	int rc = 1;

	while (rc == 1 && !atomic_load(stop)) {
		rc = try_once(pty, args, job, &patience_s, err);
		if (rc == 1)
			live_pause(pause_s);
		patience_s -= pause_s;
		pause_s = pause_s < 0.5 ? pause_s * 1.2 : pause_s;
	}
	return rc == 1 ? 0 : rc;
}

void run_pty_close(struct run_pty *pty)
{
	int *fds[] = { &pty->master, &pty->connection, &pty->resized };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* ---- copying */

/* What was typed and has not reached the job: one that does not read must still be able to write. */
struct typed {
	char bytes[4096];
	size_t n, at;
};

static void resize(const struct run_pty *pty)
{
	struct signalfd_siginfo ignored;
	struct winsize size;

	while (read(pty->resized, &ignored, sizeof(ignored)) > 0)
		;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		ioctl(pty->master, TIOCSWINSZ, &size);
}

static bool is_passing(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* False: our terminal is gone. */
static bool take_typed(struct typed *typed)
{
	ssize_t n = read(STDIN_FILENO, typed->bytes, sizeof(typed->bytes));

	if (n <= 0)
		return n < 0 && is_passing();
	typed->n = (size_t)n;
	typed->at = 0;
	return true;
}

static void pass_typed(const struct run_pty *pty, struct typed *typed)
{
	ssize_t n = write(pty->master, typed->bytes + typed->at, typed->n - typed->at);

	if (n > 0)
		typed->at += (size_t)n;
	else if (!is_passing())
		typed->at = typed->n;
	if (typed->at == typed->n)
		typed->n = typed->at = 0;
}

static bool show(const char *bytes, size_t n)
{
	while (n) {
		ssize_t wrote = write(STDOUT_FILENO, bytes, n);

		if (wrote < 0 && is_passing())
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		n -= (size_t)wrote;
	}
	return true;
}

enum flow { GOES_ON, JOB_CLOSED, GONE };

static enum flow pass_printed(const struct run_pty *pty)
{
	char bytes[16384];
	ssize_t n = read(pty->master, bytes, sizeof(bytes));

	if (n > 0)
		return show(bytes, (size_t)n) ? GOES_ON : GONE;
	return n < 0 && is_passing() ? GOES_ON : JOB_CLOSED;
}

bool run_pty_copy(struct run_pty *pty)
{
	enum flow flow = make_raw() ? GOES_ON : GONE;
	struct typed typed = { .n = 0 };

	resize(pty); /* it may have changed since the job was submitted */
	while (flow == GOES_ON) {
		struct pollfd on[] = { { pty->master, (short)(POLLIN | (typed.n ? POLLOUT : 0)), 0 },
			{ typed.n ? -1 : STDIN_FILENO, POLLIN, 0 }, { pty->resized, POLLIN, 0 } };

		if (poll(on, 3, -1) < 0)
			continue;
		if (on[2].revents)
			resize(pty);
		if (on[1].revents && !take_typed(&typed))
			flow = GONE;
		if (on[0].revents & POLLOUT)
			pass_typed(pty, &typed);
		if (flow == GOES_ON && on[0].revents & (POLLIN | POLLHUP | POLLERR))
			flow = pass_printed(pty);
	}
	run_pty_restore();
	return flow != GONE;
}
