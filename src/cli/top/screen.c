#include "cli/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"

/* An escape without anything after it for so long is the key. */
static const double ESCAPE_S = 0.05;

/* Second screen, no cursor, no wrapping: a line that a terminal finds longer than we do stays one line. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave_text[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

/* Signals that end the program, how it takes them, and those that stop it and let it go on. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static const int turns[] = { SIGTSTP, SIGCONT, SIGWINCH };

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static struct {
	volatile sig_atomic_t shown; /* the terminal shows our screen */
	volatile sig_atomic_t fresh; /* it shows something else than we drew */
	volatile sig_atomic_t over;  /* a signal has ended it: nothing brings it back */
	int in;                      /* where keys come from; -1: there are none */
	bool opened_in;
	bool entered;
	int pipe[2]; /* what wakes us; made once and kept, since other threads write to it */
	struct termios before, ours;
	bool has_before, has_atexit;
	struct sigaction was[NSIG];
	struct keys keys;
	double escape_s; /* when an escape came whose end has not; NAN: none */
} screen = { .in = -1, .pipe = { -1, -1 }, .escape_s = NAN };

/* ---- what signal handlers may do */

static void write_all(const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, text, n);

		if (done < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT }, 1, 1000);
		else if (done < 0 && errno != EINTR)
			return;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

static void take(void)
{
	if (screen.over)
		return;
	if (screen.has_before)
		tcsetattr(screen.in, TCSANOW, &screen.ours);
	write_all(enter_text, sizeof(enter_text) - 1);
	screen.shown = screen.fresh = 1;
}

static void give_back(void)
{
	if (!screen.shown)
		return;
	screen.shown = 0;
	write_all(leave_text, sizeof(leave_text) - 1);
	if (screen.has_before)
		tcsetattr(screen.in, TCSANOW, &screen.before);
}

static void wake(void)
{
	if (write(screen.pipe[1], "", 1) < 0)
		return; /* it is full: whoever reads it wakes anyway */
}

/* As it would have been without us: the handler there was, if any, or the default. */
static void on_end(int number)
{
	int was_errno = errno;
	void (*handler)(int) = screen.was[number].sa_handler;

	screen.over = 1;
	give_back();
	if (handler != SIG_DFL && handler != SIG_IGN) {
		handler(number);
	} else {
		sigaction(number, &screen.was[number], NULL);
		raise(number);
	}
	wake();
	errno = was_errno;
}

static void on_crash(int number)
{
	give_back();
	sigaction(number, &screen.was[number], NULL);
	raise(number);
}

static void on_turn(int number);

static void catch_one(int number, void (*handler)(int), struct sigaction *was)
{
	struct sigaction action = { .sa_handler = handler };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, was);
}

/* Stops here, and goes on here. */
static void stop(void)
{
	sigset_t only, was;

	give_back();
	sigemptyset(&only);
	sigaddset(&only, SIGTSTP);
	catch_one(SIGTSTP, SIG_DFL, NULL);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &only, &was);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	catch_one(SIGTSTP, on_turn, NULL);
	/* Where nobody could let us go on, the signal stopped nothing. */
	if (!screen.shown)
		take();
}

static void on_turn(int number)
{
	int was_errno = errno;

	if (number == SIGTSTP)
		stop();
	else if (number == SIGCONT)
		take();
	else
		screen.fresh = 1;
	wake();
	errno = was_errno;
}

/* ---- signals */

/* What is ignored (nohup) stays ignored. */
static void catch_unless_ignored(int number, void (*handler)(int))
{
	if (sigaction(number, NULL, &screen.was[number]) == 0 && screen.was[number].sa_handler != SIG_IGN)
		catch_one(number, handler, NULL);
}

static void catch_signals(void)
{
	for (size_t i = 0; i < COUNT(ends); i++)
		catch_unless_ignored(ends[i], on_end);
	for (size_t i = 0; i < COUNT(turns); i++)
		catch_unless_ignored(turns[i], on_turn);
	for (size_t i = 0; i < COUNT(crashes); i++)
		catch_one(crashes[i], on_crash, &screen.was[crashes[i]]);
}

static void let_go(const int *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sigaction(numbers[i], &screen.was[numbers[i]], NULL);
}

/* ---- entering and leaving */

bool screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* Where standard input is something else, the terminal itself is asked. */
static void open_keys(void)
{
	screen.opened_in = !isatty(STDIN_FILENO);
	screen.in = screen.opened_in ? open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
	screen.has_before = screen.in >= 0 && tcgetattr(screen.in, &screen.before) == 0;
	if (!screen.has_before)
		return;
	screen.ours = screen.before;
	/* Keys one by one and unseen; Ctrl-C and Ctrl-Z remain signals. */
	screen.ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	screen.ours.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
	screen.ours.c_cc[VMIN] = 1;
	screen.ours.c_cc[VTIME] = 0;
}

int screen_enter(struct err *err)
{
	if (screen.pipe[0] < 0 && pipe2(screen.pipe, O_CLOEXEC | O_NONBLOCK))
		return err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	if (!screen.has_atexit)
		atexit(screen_leave);
	screen.has_atexit = screen.entered = true;
	screen.over = 0;
	screen.keys = (struct keys){ 0 };
	screen.escape_s = NAN;
	open_keys();
	take();
	catch_signals();
	return 0;
}

void screen_leave(void)
{
	if (!screen.entered)
		return;
	screen.entered = false;
	give_back();
	let_go(ends, COUNT(ends));
	let_go(crashes, COUNT(crashes));
	let_go(turns, COUNT(turns));
	if (screen.opened_in && screen.in >= 0)
		close(screen.in);
	screen.in = -1;
}

/* ---- size and drawing */

void screen_size(int *columns, int *lines)
{
	enum { COLUMNS_MAX = 1000, LINES_MAX = 500 };
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		size = (struct winsize){ 0 };
	*columns = size.ws_col ? size.ws_col : 80;
	*lines = size.ws_row ? size.ws_row : 24;
	*columns = *columns < COLUMNS_MAX ? *columns : COLUMNS_MAX;
	*lines = *lines < LINES_MAX ? *lines : LINES_MAX;
}

void screen_write(const struct buf *text)
{
	if (screen.shown && text->n)
		write_all(text->at, text->n);
}

/* ---- waiting */

void screen_wake(void)
{
	wake();
}

/* 0: the terminal is gone. */
static ssize_t read_keys(void)
{
	char bytes[KEYS_BYTES];
	size_t room = KEYS_BYTES - screen.keys.n;
	ssize_t n = read(screen.in, bytes, room);

	if (n > 0)
		keys_feed(&screen.keys, bytes, (size_t)n);
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? 1 : n;
}

static uint32_t next_key(void)
{
	double now_s = clock_wall_s();
	uint32_t key = keys_next(&screen.keys, now_s - screen.escape_s > ESCAPE_S);

	if (!screen.keys.n || key != KEY_NONE)
		screen.escape_s = NAN;
	else if (isnan(screen.escape_s))
		screen.escape_s = now_s;
	return key;
}

static void drain_pipe(void)
{
	char bytes[64];

	while (read(screen.pipe[0], bytes, sizeof(bytes)) > 0)
		continue;
}

static bool poll_once(double seconds)
{
	struct pollfd fds[] = { { .fd = screen.in, .events = POLLIN },
		{ .fd = screen.pipe[0], .events = POLLIN } };
	int timeout_ms = (int)ceil(fmin(fmax(seconds, 0), 3600) * 1000);

	if (poll(fds, 2, timeout_ms) <= 0)
		return true;
	if (fds[1].revents)
		drain_pipe();
	if (fds[0].revents & POLLIN)
		return read_keys() > 0;
	return !fds[0].revents;
}

struct screen_news screen_wait(double seconds)
{
	struct screen_news news = { .key = next_key() };

	if (news.key == KEY_NONE) {
		news.gone = !poll_once(isnan(screen.escape_s) ? seconds : fmin(seconds, ESCAPE_S));
		news.key = next_key();
	}
	/* Only what was seen is cleared: a signal that comes from here on is for the next call. */
	if (screen.fresh) {
		screen.fresh = 0;
		news.fresh = true;
	}
	return news;
}
