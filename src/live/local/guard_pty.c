#include "live/local/guard_pty.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/local/guard.h"

/* How long a client may take to connect, and once the command is over. */
static const double client_patience_s = 60, linger_s = 10;

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- making it */

static bool make_terminal(struct guard_pty *pty, const struct launch *l)
{
	struct winsize size = { .ws_row = (unsigned short)l->pty_rows,
		.ws_col = (unsigned short)l->pty_cols };

	pty->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	return pty->master >= 0 && grantpt(pty->master) == 0 && unlockpt(pty->master) == 0 &&
		ptsname_r(pty->master, pty->slave, sizeof(pty->slave)) == 0 &&
		(l->uid == geteuid() || chown(pty->slave, l->uid, (gid_t)-1) == 0) &&
		ioctl(pty->master, TIOCSWINSZ, &size) == 0;
}

/* By the descriptor of the directory: its path may be longer than a socket's can be. */
static bool make_listener(struct guard_pty *pty, int dir, const struct launch *l)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" HANDS_TERMINAL, dir);
	pty->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (pty->listener < 0 || bind(pty->listener, (struct sockaddr *)&at, sizeof(at)) < 0)
		return false;
	return fchmodat(dir, HANDS_TERMINAL, 0600, 0) == 0 &&
		(l->uid == geteuid() ||
			fchownat(dir, HANDS_TERMINAL, l->uid, l->gid, AT_SYMLINK_NOFOLLOW) == 0) &&
		listen(pty->listener, 8) == 0;
}

bool guard_pty_open(struct guard_pty *pty, int dir, const struct launch *launch)
{
	int why;

	if (make_terminal(pty, launch) && make_listener(pty, dir, launch)) {
		pty->until_s = proc_monotonic_s() + client_patience_s;
		return true;
	}
	why = errno;
	guard_pty_close(pty, dir);
	errno = why;
	return false;
}

/* ---- the command */

pid_t guard_pty_fork(void)
{
	int ready[2];
	pid_t child;
	char none;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child == 0)
		setsid();
	close(ready[1]);
	if (child > 0)
		(void)!read(ready[0], &none, 1); /* until the child has closed its end */
	close(ready[0]);
	return child;
}

/* ---- handing it out */

static bool may_have_it(int connection, uid_t uid)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
		(peer.uid == uid || peer.uid == 0);
}

static bool send_descriptor(int connection, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec word = { .iov_base = (char *)"T", .iov_len = 1 };
	struct msghdr message = { .msg_iov = &word,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };

	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
}

static void meet(struct guard_pty *pty, int dir, uid_t uid)
{
	int connection;

	while (pty->listener >= 0 &&
		(connection = accept4(pty->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (!may_have_it(connection, uid) || !send_descriptor(connection, pty->master)) {
			close(connection);
			continue;
		}
		pty->client = connection;
		shut(&pty->master);
		shut(&pty->listener);
		unlinkat(dir, HANDS_TERMINAL, 0);
	}
}

static bool is_gone(const struct guard_pty *pty)
{
	char ignored[64];
	ssize_t n = recv(pty->client, ignored, sizeof(ignored), MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

bool guard_pty_see(struct guard_pty *pty, int dir, uid_t uid)
{
	meet(pty, dir, uid);
	if (pty->client >= 0 && is_gone(pty))
		pty->hung_up = "its terminal went away";
	else if (pty->listener >= 0 && proc_monotonic_s() >= pty->until_s)
		pty->hung_up = "no client came for its terminal";
	else
		return false;
	guard_pty_close(pty, dir); /* where the kernel sends SIGHUP, if the client's end was not the last */
	return true;
}

/* ---- the end */

static bool asks_to_stop(int signals)
{
	struct signalfd_siginfo info;
	bool asks = false;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		asks |= (int)info.ssi_signo == GUARD_STOP || (int)info.ssi_signo == GUARD_KILL;
	return asks;
}

void guard_pty_linger(struct guard_pty *pty, int dir, uid_t uid, int signals)
{
	double until_s = proc_monotonic_s() + linger_s;

	while (pty->listener >= 0 && proc_monotonic_s() < until_s && !asks_to_stop(signals)) {
		struct pollfd on[] = { { pty->listener, POLLIN, 0 }, { signals, POLLIN, 0 } };

		poll(on, 2, (int)fmax(1, ceil((until_s - proc_monotonic_s()) * 1000)));
		meet(pty, dir, uid);
	}
}

void guard_pty_close(struct guard_pty *pty, int dir)
{
	if (pty->listener >= 0)
		unlinkat(dir, HANDS_TERMINAL, 0);
	shut(&pty->listener);
	shut(&pty->client);
	shut(&pty->master);
}
