#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/plain.h"

static const char *const names[] = {
	[LEVEL_ERROR] = "error",
	[LEVEL_WARNING] = "warning",
	[LEVEL_NOTICE] = "notice",
	[LEVEL_INFO] = "info",
	[LEVEL_DEBUG] = "debug",
};

bool log_level_of(const char *word, enum log_level *out)
{
	for (int level = LEVEL_ERROR; level <= LEVEL_DEBUG; level++)
		if (!strcmp(names[level], word)) {
			*out = (enum log_level)level;
			return true;
		}
	return false;
}

const char *log_level_name(enum log_level level)
{
	return names[level];
}

/* ---- where it goes */

/* The variable is inherited by whoever redirects its output, so only the numbers tell. */
static bool is_journal(const struct stat *st)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
		device == (unsigned long long)st->st_dev && inode == (unsigned long long)st->st_ino;
}

/*
 * The same pipe or terminal opened once more, as O_NONBLOCK belongs to what was opened and not to the
 * descriptor: set on ours it would change standard error for whoever else has it.
 */
static int open_again(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void log_init(struct log *log, int fd, enum log_level level)
{
	struct stat st = { 0 };
	int again = -1;

	*log = (struct log){ .fd = fd };
	atomic_init(&log->level, (int)level);
	atomic_init(&log->lost, 0);
	if (fstat(fd, &st) < 0)
		return;
	log->socket = S_ISSOCK(st.st_mode);
	log->form = is_journal(&st) ? LOG_PREFIXED : LOG_STAMPED;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		again = open_again(fd);
	if (again >= 0) {
		log->fd = again;
		log->own_fd = true;
	}
}

void log_fini(struct log *log)
{
	if (log->own_fd)
		close(log->fd);
	*log = (struct log){ .fd = -1 };
}

void log_set_level(struct log *log, enum log_level level)
{
	atomic_store(&log->level, (int)level);
}

bool log_wants(const struct log *log, enum log_level level)
{
	return (int)level <= atomic_load(&log->level);
}

/* ---- one line */

static int add_stamp(char *out, size_t size, enum log_level level)
{
	struct timespec now;
	struct tm local;
	char date[32], zone[8];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local);
	strftime(zone, sizeof(zone), "%z", &local);
	return snprintf(out, size, "%s.%03ld%s %s: ", date, now.tv_nsec / 1000000, zone, names[level]);
}

/* Ends a line that was cut: not inside a character of several bytes. */
static size_t mark_cut(char *line, size_t n)
{
	n -= 3;
	while (n && ((unsigned char)line[n] & 0xc0) == 0x80)
		n--;
	memcpy(line + n, "...", 3);
	return n + 3;
}

/* Makes the text of a line plain, in place; returns its length. */
static size_t escape(char *text, size_t room)
{
	struct buf out = { 0 };
	size_t n;

	text_escape(&out, text);
	n = out.n;
	if (n >= room)
		n = mark_cut(out.at, room - 1);
	memcpy(text, out.at, n);
	buf_fini(&out);
	return n;
}

/* Fills `line` (LOG_LINE_MAX bytes) and returns its length, with the newline. */
static size_t compose(const struct log *log, enum log_level level, const char *fmt, va_list list,
	char *line)
{
	size_t room = LOG_LINE_MAX - 1; /* for the newline */
	size_t lead = (size_t)(log->form == LOG_PREFIXED ? snprintf(line, room, "<%d>", (int)level)
							 : add_stamp(line, room, level));
	int length = vsnprintf(line + lead, room - lead, fmt, list);
	size_t n = lead + (length < 0 ? 0 : (size_t)length);

	if (n >= room)
		n = mark_cut(line, room - 1);
	line[n] = '\0';
	if (!text_is_plain(line + lead))
		n = lead + escape(line + lead, room - lead);
	line[n] = '\n';
	return n + 1;
}

/* A reader that is gone must not end us: the signal is kept from this thread and taken back. */
static ssize_t write_quietly(int fd, const char *line, size_t n)
{
	struct timespec at_once = { 0 };
	sigset_t pipe, pending, before;
	bool was_pending;
	ssize_t wrote;
	int why;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	wrote = write(fd, line, n);
	why = errno;
	if (wrote < 0 && why == EPIPE && !was_pending)
		while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return wrote;
}

/* Where opening once more was not allowed: good enough while no other process writes there. */
static bool has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1;
}

static bool put(const struct log *log, const char *line, size_t n)
{
	ssize_t wrote;

	if (!log->own_fd && !log->socket && !has_room(log->fd))
		return false;
	do
		wrote = log->socket ? send(log->fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL)
				    : write_quietly(log->fd, line, n);
	while (wrote < 0 && errno == EINTR);
	return wrote >= 0;
}

static bool put_message(const struct log *log, enum log_level level, const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	va_list list;
	size_t n;

	va_start(list, fmt);
	n = compose(log, level, fmt, list, line);
	va_end(list);
	return put(log, line, n);
}

/* Says how many were lost before; false if there is still no room for that. */
static bool own_up(struct log *log)
{
	unsigned lost = atomic_exchange(&log->lost, 0);

	if (!lost ||
		put_message(log, LEVEL_WARNING,
			"%u messages before this one were lost: nobody read them", lost))
		return true;
	atomic_fetch_add(&log->lost, lost);
	return false;
}

void log_at(struct log *log, enum log_level level, const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	int before = errno;
	va_list list;
	size_t n;

	if (!log || !log_wants(log, level))
		return;
	va_start(list, fmt);
	n = compose(log, level, fmt, list, line);
	va_end(list);
	if (!own_up(log) || !put(log, line, n))
		atomic_fetch_add(&log->lost, 1);
	errno = before;
}
