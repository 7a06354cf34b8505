/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the controller may be called: at its pace, and not while it is away.
 *
 * libslurm tries a connection again each second until the time-out, and ends the program where
 * there is no configuration.  So the first is asked in a child that may end, and before a call
 * after some silence a ping, which does not wait, tells whether anybody is there.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"

#define PAUSE_FIRST_S 0.1
#define PAUSE_LAST_S 5.0
#define SILENCE_S 1.0 /* after which one asks first */
#define FATAL_MAX 300

static struct {
	double rate;
	int timeout_s;
	bool begun;      /* libslurm has read its configuration */
	double tokens;   /* calls that may be made now */
	double filled_s; /* when tokens were last counted */
	double pause_s;  /* 0 while all is well */
	double until_s;  /* end of the present pause */
	const char *why; /* the kind of failure it began with */
	double heard_s;  /* when it last answered */
} self;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void controller_init(double rate, int timeout_s)
{
	self.rate = rate;
	self.timeout_s = timeout_s;
	self.filled_s = now_s();
	self.heard_s = -1e9;
}

/* A tenth of a second's calls may be made at once; with what is refilled meanwhile no second has more
 * than the rate. */
static void take_turn(void)
{
	double most = self.rate / 10 > 1 ? self.rate / 10 : 1;
	double refill = self.rate > most ? self.rate - most : self.rate;
	double now = now_s();

	self.tokens += (now - self.filled_s) * refill;
	self.filled_s = now;
	if (self.tokens > most)
		self.tokens = most;
	self.tokens -= 1;
	if (self.tokens >= 0)
		return;
	double wait = -self.tokens / refill;
	struct timespec t = { (time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9) };
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void pause_more(const char *why)
{
	self.why = why;
	self.pause_s = self.pause_s > 0 ? self.pause_s * 2 : PAUSE_FIRST_S;
	if (self.pause_s > PAUSE_LAST_S)
		self.pause_s = PAUSE_LAST_S;
	self.until_s = now_s() + self.pause_s;
}

static void heard(void)
{
	self.pause_s = 0;
	self.heard_s = now_s();
}

static void end_well(int number)
{
	(void)number;
	_exit(0);
}

/* Reads the configuration, and uses it once; whether anybody answers is of no interest here. */
static void try_begin(int errors)
{
	dup2(errors, STDERR_FILENO);
	alarm((unsigned)self.timeout_s);
	slurm_init(NULL);
	signal(SIGALRM, end_well);
	alarm((unsigned)self.timeout_s);
	slurm_ping(0);
	_exit(0);
}

/* Reads to the end and keeps what fits, as text. */
static void read_all(int fd, char *text, size_t size)
{
	char part[256];
	size_t length = 0;
	ssize_t got;

	while ((got = read(fd, part, sizeof(part))) > 0) {
		size_t fits = (size_t)got < size - 1 - length ? (size_t)got : size - 1 - length;
		memcpy(text + length, part, fits);
		length += fits;
	}
	text[length] = 0;
}

/* Whether a child that begins does not end for it; `said` is what it complains of. */
static bool can_begin(char said[FATAL_MAX])
{
	int pipes[2], status = 0;

	if (pipe(pipes) < 0)
		return true;
	pid_t child = fork();
	if (child == 0) {
		close(pipes[0]);
		try_begin(pipes[1]);
	}
	close(pipes[1]);
	read_all(pipes[0], said, FATAL_MAX);
	close(pipes[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool begin(struct failure *f)
{
	const char *conf = getenv("SLURM_CONF");
	char said[FATAL_MAX] = "";

	if (self.begun)
		return true;
	/* libslurm would wait a minute for it. */
	if (conf && access(conf, R_OK) < 0) {
		pause_more("unreachable");
		return fail(f, "unreachable", errno, "cannot read %s, which SLURM_CONF names: %s",
			conf, strerror(errno));
	}
	if (!can_begin(said)) {
		said[strcspn(said, "\n")] = 0;
		pause_more("unreachable");
		return fail(f, "unreachable", 0,
			"libslurm cannot begin (%s): is there a slurm.conf? SLURM_CONF says where",
			said);
	}
	/* Lists of an array's tasks in full. */
	setenv("SLURM_BITSTR_LEN", "0", 1);
	slurm_init(NULL);
	unlisted_set_timeout(self.timeout_s);
	self.begun = true;
	return true;
}

/* To libslurm a request that munge did not sign is one that could not be sent. */
static void tell_munge(struct failure *f)
{
	char socket_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	unlisted_munge_socket(socket_path, sizeof(socket_path));
	memcpy(address.sun_path, socket_path, sizeof(socket_path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail(f, "auth", SLURM_PROTOCOL_AUTHENTICATION_ERROR,
			"munge does not answer at %s: %s", socket_path, strerror(errno));
	close(fd);
}

/* A failure that says the controller is away, or that nothing reaches it, begins a pause. */
static bool failed(int code, struct failure *f)
{
	fail_slurm(f, code);
	if (code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR || code == SLURM_COMMUNICATIONS_SEND_ERROR)
		tell_munge(f);
	if (!strcmp(f->kind, "auth"))
		pause_more("auth");
	else if (!strcmp(f->kind, "unreachable") || !strcmp(f->kind, "timeout"))
		pause_more("unreachable");
	else
		heard();
	return false;
}

/* It does not speak to those whose signature it cannot read. */
static bool refused_key(int code, struct failure *f)
{
	self.why = "auth";
	return fail(f, "auth", code,
		"the controller hangs up without a word: is munge's key here the same as there?");
}

bool controller_ping(struct failure *f)
{
	take_turn();
	if (slurm_ping(0) == SLURM_SUCCESS) {
		heard();
		return true;
	}
	int code = slurm_get_errno();
	failed(code, f);
	if (code == SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT ||
		code == SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH)
		return refused_key(code, f);
	/* Nothing was asked of it yet, so nothing can have been done. */
	if (!strcmp(f->kind, "timeout") || !strcmp(f->kind, "refused"))
		f->kind = "unreachable";
	return false;
}

bool controller_ready(struct failure *f)
{
	double now = now_s();

	if (self.pause_s > 0 && now < self.until_s)
		return fail(f, self.why, SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR,
			"the controller could not be reached a moment ago; it is asked again in %.1f s",
			self.until_s - now);
	if (!begin(f))
		return false;
	if (now - self.heard_s > SILENCE_S && !controller_ping(f))
		return false;
	take_turn();
	return true;
}

bool controller_result(int rc, struct failure *f)
{
	if (rc == SLURM_SUCCESS) {
		heard();
		return true;
	}
	return failed(rc > 0 ? rc : slurm_get_errno(), f);
}
