#include "base/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* Ours if no process is named, or we are. */
static double read_watchdog(const char *usec, const char *pid)
{
	int64_t us, who;

	if (!usec || !slice_int(slice_of(usec), &us) || us <= 0)
		return 0;
	if (pid && (!slice_int(slice_of(pid), &who) || who != getpid()))
		return 0;
	return (double)us * 1e-6;
}

static int set_address(struct notify *n, const char *path, struct err *err)
{
	size_t size = strlen(path);

	if (path[0] != '/' && path[0] != '@')
		return err_set(err, ERR_FORMAT,
			"NOTIFY_SOCKET is '%s'; it must begin with '/' or '@'", path);
	if (size < 2 || size >= sizeof(n->to.sun_path))
		return err_set(err, ERR_FORMAT, "NOTIFY_SOCKET is %zu bytes long; it must be 2 to %zu",
			size, sizeof(n->to.sun_path) - 1);
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, path, size + 1);
	n->to_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
	/* An abstract name has a zero byte in front and none at its end. */
	if (path[0] == '@')
		n->to.sun_path[0] = '\0';
	else
		n->to_size++;
	return 0;
}

/* Whoever waits for the manager waits so long at most. */
static int open_socket(struct notify *n, struct err *err)
{
	struct timeval second = { .tv_sec = 1 };

	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (n->fd < 0)
		return err_set(err, ERR_IO,
			"cannot make a socket to notify the service manager: %s", strerror(errno));
	setsockopt(n->fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	return 0;
}

int notify_open(struct notify *out, struct err *err)
{
	struct notify n = { .fd = -1 };
	const char *path = getenv("NOTIFY_SOCKET");
	int rc = 0;

	if (path && *path) {
		rc = set_address(&n, path, err);
		if (!rc)
			rc = open_socket(&n, err);
	}
	if (n.fd >= 0)
		n.watchdog_s = read_watchdog(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	*out = n;
	return rc;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	*n = (struct notify){ .fd = -1 };
}

double notify_period_s(const struct notify *n)
{
	return n->watchdog_s / 2;
}

/* By address each time: the manager may have been started anew. */
static bool tell(const struct notify *n, const char *text, int flags)
{
	ssize_t sent;

	if (n->fd < 0)
		return false;
	do
		sent = sendto(n->fd, text, strlen(text), flags | MSG_NOSIGNAL,
			(const struct sockaddr *)&n->to, n->to_size);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

bool notify_ready(const struct notify *n)
{
	return tell(n, "READY=1", 0);
}

/* The manager tells an old notice of readiness from the one that ends this by the time. */
bool notify_reloading(const struct notify *n)
{
	struct timespec now;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return tell(n, text, 0);
}

bool notify_stopping(const struct notify *n)
{
	return tell(n, "STOPPING=1", 0);
}

bool notify_alive(const struct notify *n)
{
	return tell(n, "WATCHDOG=1", MSG_DONTWAIT);
}

/* A newline would begin another assignment. */
bool notify_status(const struct notify *n, const char *fmt, ...)
{
	char text[512] = "STATUS=";
	size_t lead = strlen(text);
	va_list list;

	va_start(list, fmt);
	vsnprintf(text + lead, sizeof(text) - lead, fmt, list);
	va_end(list);
	for (char *c = text + lead; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return tell(n, text, MSG_DONTWAIT);
}
