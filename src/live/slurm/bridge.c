/*
 * The bridge as a child process.
 */
#include "live/slurm/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"

extern char **environ;

static void hang_up(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Its signals are its own: a Ctrl-C at the daemon's terminal is the daemon's. */
static int spawn(struct bridge *b, int in, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, all;
	int why;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how,
		POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawn_file_actions_init(&files);
	why = posix_spawn_file_actions_adddup2(&files, in, 0) |
		posix_spawn_file_actions_adddup2(&files, out, 1) |
		posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (!why)
		why = posix_spawnp(&b->pid, b->command[0], &files, &how, (char *const *)b->command,
			environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return why;
}

/* Sockets where pipes would do: a write to a dead one can be told not to raise a signal. */
static int bridge_open(void *self, struct err *err)
{
	struct bridge *b = self;
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, why = 0;

	b->pid = -1;
	b->in = b->out = -1;
	if (!child_is_there(b->command[0]))
		return err_set(err, ERR_MISSING,
			"there is no %s: the bridge to Slurm is built where libslurm-dev is installed; "
			"install that and build again, or install the package with it",
			b->command[0]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) < 0)
		why = errno;
	if (!why)
		why = spawn(b, to[1], from[1]);
	hang_up(&to[1]);
	hang_up(&from[1]);
	if (why) {
		hang_up(&to[0]);
		hang_up(&from[0]);
		b->pid = -1;
		return err_set(err, ERR_IO, "cannot start %s: %s", b->command[0], strerror(why));
	}
	b->out = to[0];
	b->in = from[0];
	return 0;
}

/* It remembers nothing that matters: the kill is no loss. */
static void bridge_close(void *self)
{
	struct bridge *b = self;

	hang_up(&b->in);
	hang_up(&b->out);
	if (b->pid <= 0)
		return;
	kill(b->pid, SIGKILL);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	b->pid = -1;
}

static int bridge_read_fd(const void *self)
{
	return ((const struct bridge *)self)->in;
}

static int bridge_write_fd(const void *self)
{
	return ((const struct bridge *)self)->out;
}

static bool not_now(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static ssize_t bridge_read(void *self, char *to, size_t n)
{
	const struct bridge *b = self;
	ssize_t got = recv(b->in, to, n, MSG_DONTWAIT);

	if (got < 0 && not_now())
		return 0;
	return got > 0 ? got : -1;
}

static ssize_t bridge_write(void *self, const char *from, size_t n)
{
	const struct bridge *b = self;
	ssize_t put = send(b->out, from, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put < 0 && not_now())
		return 0;
	return put;
}

const struct transport bridge_transport = {
	.open = bridge_open,
	.close = bridge_close,
	.read_fd = bridge_read_fd,
	.write_fd = bridge_write_fd,
	.read = bridge_read,
	.write = bridge_write,
};

char **bridge_command(const char *const *from)
{
	size_t n = 0;
	char **words;

	while (from && from[n])
		n++;
	words = mem_alloc(mem_array_size(n + 1, sizeof(*words)));
	for (size_t i = 0; i < n; i++)
		words[i] = mem_strdup(from[i]);
	return words;
}
